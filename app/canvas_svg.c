// canvas_svg.c - a canvas that is an SVG file: text stays text.
#include "base/assert.h"
#include "canvas_impl.h"
#include <stdlib.h>

typedef struct svg {
    canvas base;
    int clip_count; // so far
    int is_clipped; // a clip is in force
} svg;

// Widths of Helvetica's characters from ' ' to '~', in thousandths of its size; Arial and Liberation Sans are
// made to the same.
static const short advance_widths[95] = {
    278,  278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, //  !"#$%&'()*+,-./
    556,  556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, // 0123456789:;<=>?
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, // @ABCDEFGHIJKLMNO
    667,  778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, // PQRSTUVWXYZ[ ]^_
    333,  556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, // `abcdefghijklmno
    556,  556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,      // pqrstuvwxyz{|}~
};

static double svg_measure(canvas *c, double size, int bold, const char *text)
{
    (void)c;
    double sum = 0.0;
    for (; *text != '\0'; ++text) {
        const unsigned char byte = (unsigned char)*text;
        if ((byte & 0xc0) == 0x80) continue; // inside a character
        VY_ASSERT(byte >= ' ');              // canvas.c has cleaned it
        sum += byte <= '~' ? advance_widths[byte - ' '] : 584;
    }
    return sum * (bold ? 1.07 : 1.0) * size / 1000.0;
}

static void put_escaped(FILE *out, const char *text)
{
    for (; *text != '\0'; ++text) {
        switch (*text) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        default: fputc(*text, out);
        }
    }
}

static void svg_clip(canvas *c, double x, double y, double width, double height)
{
    svg *s = (svg *)c;
    if (s->is_clipped) fputs("</g>\n", c->out);
    s->is_clipped = width > 0.0;
    if (!s->is_clipped) return;
    s->clip_count += 1;
    fprintf(c->out,
            "<clipPath id=\"c%d\"><rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/></clipPath>\n",
            s->clip_count, x, y, width, height);
    fprintf(c->out, "<g clip-path=\"url(#c%d)\">\n", s->clip_count);
}

static void svg_line(canvas *c, const canvas_point *points, size_t count, uint32_t color, double width,
                     line_dash dash)
{
    fprintf(c->out, "<path fill=\"none\" stroke=\"#%06x\" stroke-width=\"%g\" stroke-linejoin=\"round\"",
            (unsigned)color, width);
    if (dash != DASH_SOLID)
        fprintf(c->out, " stroke-dasharray=\"%g %g\"", vy_dash_lengths[dash][0], vy_dash_lengths[dash][1]);
    fputs(" d=\"", c->out);
    for (size_t i = 0; i < count; ++i)
        fprintf(c->out, "%s%.2f %.2f", i == 0 ? "M" : i == 1 ? "L" : " ", points[i].x, points[i].y);
    fputs("\"/>\n", c->out);
}

static void svg_text(canvas *c, double x, double y, double size, text_anchor anchor, uint32_t color, int bold,
                     const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    fprintf(c->out, "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%g\" text-anchor=\"%s\" fill=\"#%06x\"%s", x, y,
            size, anchors[anchor], (unsigned)color, bold ? " font-weight=\"600\"" : "");
    // Fonts differ in width; what stands beside others is given the room that was left for it.
    if (anchor == TEXT_LEFT)
        fprintf(c->out, " textLength=\"%.1f\" lengthAdjust=\"spacingAndGlyphs\"",
                svg_measure(c, size, bold, text));
    fputc('>', c->out);
    put_escaped(c->out, text);
    fputs("</text>\n", c->out);
}

static void svg_begin(canvas *c, double height, uint32_t background)
{
    fprintf(c->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%gpt\" height=\"%gpt\" viewBox=\"0 0 %g %g\" "
            "font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\n",
            c->width, height, c->width, height);
    fprintf(c->out, "<rect width=\"%g\" height=\"%g\" fill=\"#%06x\"/>\n", c->width, height,
            (unsigned)background);
}

static canvas_status svg_close(canvas *c)
{
    svg_clip(c, 0.0, 0.0, 0.0, 0.0);
    fputs("</svg>\n", c->out);
    free(c);
    return CANVAS_DONE;
}

canvas *vy_canvas_svg(FILE *out, double width)
{
    svg *s = calloc(1, sizeof *s);
    if (s == NULL) return NULL;
    s->base = (canvas){out, width, svg_begin, svg_measure, svg_clip, svg_line, svg_text, svg_close};
    return &s->base;
}
