// canvas_cairo.c - a canvas that is a PNG or PDF file, drawn by cairo.
#include "canvas_impl.h"
#include <cairo-pdf.h>
#include <math.h>
#include <stdlib.h>

typedef struct drawing {
    canvas base;
    double scale; // pixels per point; 0: a PDF
    cairo_t *cr;
} drawing;

int vy_canvas_has_cairo(void) { return 1; }

// The file keeps its first error, which vy_output_commit() prints.
static cairo_status_t write_bytes(void *out, const unsigned char *data, unsigned int size)
{
    (void)fwrite(data, 1, size, out);
    return CAIRO_STATUS_SUCCESS;
}

static void set_color(cairo_t *cr, uint32_t color)
{
    cairo_set_source_rgb(cr, (double)(color >> 16 & 255) / 255.0, (double)(color >> 8 & 255) / 255.0,
                         (double)(color & 255) / 255.0);
}

// Draw on `surface` from now on; it is the canvas's.
static void draw_on(drawing *d, cairo_surface_t *surface)
{
    if (d->cr != NULL) cairo_destroy(d->cr);
    d->cr = cairo_create(surface);
    cairo_surface_destroy(surface);
    cairo_set_line_join(d->cr, CAIRO_LINE_JOIN_ROUND);
    // Letters as wide whatever the scale, so that what was measured fits.
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_set_font_options(d->cr, options);
    cairo_font_options_destroy(options);
}

static void begin(canvas *c, double height, uint32_t background)
{
    drawing *d = (drawing *)c;
    if (d->scale > 0.0) {
        // The cast is safe: a figure has a dozen panels at most, each of limited size.
        draw_on(d, cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(c->width * d->scale),
                                              (int)ceil(height * d->scale)));
        cairo_scale(d->cr, d->scale, d->scale);
    } else {
        cairo_surface_t *pdf = cairo_pdf_surface_create_for_stream(write_bytes, c->out, c->width, height);
        // The same log gives the same file: it has no time of creation.
        cairo_pdf_surface_set_metadata(pdf, CAIRO_PDF_METADATA_CREATE_DATE, NULL);
        draw_on(d, pdf);
    }
    set_color(d->cr, background);
    cairo_paint(d->cr);
}

static double measure(canvas *c, double size, int bold, const char *text)
{
    cairo_t *cr = ((drawing *)c)->cr;
    cairo_text_extents_t extents = {.x_advance = 0.0};
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, size);
    cairo_text_extents(cr, text, &extents);
    return extents.x_advance;
}

static void clip(canvas *c, double x, double y, double width, double height)
{
    cairo_t *cr = ((drawing *)c)->cr;
    cairo_reset_clip(cr);
    if (width <= 0.0) return;
    cairo_rectangle(cr, x, y, width, height);
    cairo_clip(cr);
}

static void line(canvas *c, const canvas_point *points, size_t count, uint32_t color, double width,
                 line_dash dash)
{
    cairo_t *cr = ((drawing *)c)->cr;
    set_color(cr, color);
    cairo_set_line_width(cr, width);
    cairo_set_dash(cr, vy_dash_lengths[dash], dash == DASH_SOLID ? 0 : 2, 0.0);
    cairo_new_path(cr); // text leaves a point behind
    for (size_t i = 0; i < count; ++i) cairo_line_to(cr, points[i].x, points[i].y);
    cairo_stroke(cr);
}

static void text(canvas *c, double x, double y, double size, text_anchor anchor, uint32_t color, int bold,
                 const char *string)
{
    cairo_t *cr = ((drawing *)c)->cr;
    const double width = measure(c, size, bold, string); // selects the font, too
    set_color(cr, color);
    cairo_move_to(cr, anchor == TEXT_LEFT ? x : anchor == TEXT_MIDDLE ? x - 0.5 * width : x - width, y);
    cairo_show_text(cr, string);
}

static canvas_status finish(canvas *c)
{
    drawing *d = (drawing *)c;
    cairo_surface_t *surface = cairo_get_target(d->cr);
    cairo_status_t status = cairo_status(d->cr);
    if (status == CAIRO_STATUS_SUCCESS && d->scale > 0.0)
        status = cairo_surface_write_to_png_stream(surface, write_bytes, c->out);
    cairo_surface_finish(surface); // a PDF is written here
    if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface);
    cairo_destroy(d->cr);
    free(d);
    return status == CAIRO_STATUS_SUCCESS        ? CANVAS_DONE
           : status == CAIRO_STATUS_INVALID_SIZE ? CANVAS_TOO_LARGE
                                                 : CANVAS_NO_MEMORY;
}

static canvas *create(FILE *out, double width, double scale)
{
    drawing *d = calloc(1, sizeof *d);
    if (d == NULL) return NULL;
    d->base = (canvas){out, width, begin, measure, clip, line, text, finish};
    d->scale = scale;
    draw_on(d, cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1)); // to measure text on
    return &d->base;
}

canvas *vy_canvas_png(FILE *out, double width, double scale) { return create(out, width, scale); }

canvas *vy_canvas_pdf(FILE *out, double width) { return create(out, width, 0.0); }
