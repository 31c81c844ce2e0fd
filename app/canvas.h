// canvas.h - what a figure is drawn on: an SVG file, or by cairo a PNG or PDF file. Units are points, y
// downwards.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum text_anchor { TEXT_LEFT, TEXT_MIDDLE, TEXT_RIGHT } text_anchor;

/// How a line is broken: as in the page.
typedef enum line_dash { DASH_SOLID, DASH_DASHED, DASH_DOTTED } line_dash;

typedef struct canvas_point {
    double x, y;
} canvas_point;

typedef enum canvas_status { CANVAS_DONE, CANVAS_NO_MEMORY, CANVAS_TOO_LARGE } canvas_status;

typedef struct canvas canvas;

/// A canvas `width` points wide. NULL when memory is out.
/// @param scale pixels per point
canvas *vy_canvas_svg(FILE *out, double width);
canvas *vy_canvas_png(FILE *out, double width, double scale);
canvas *vy_canvas_pdf(FILE *out, double width);

/// Was the command built with cairo? If not, there is no PNG and no PDF.
int vy_canvas_has_cairo(void);

/// Give it its height and fill it with `background` (0xrrggbb). Text may be measured before; it is drawn on
/// only after.
void vy_canvas_begin(canvas *c, double height, uint32_t background);

/// Room the text takes, in the canvas's font.
double vy_canvas_text_width(canvas *c, double size, int bold, const char *text);

/// Only what lies inside is drawn, until the next call; a width of 0 ends it.
void vy_canvas_clip(canvas *c, double x, double y, double width, double height);

void vy_canvas_line(canvas *c, const canvas_point *points, size_t count, uint32_t color, double width,
                    line_dash dash);

/// A line of text with its baseline at `y`. `bold` is for headings.
void vy_canvas_text(canvas *c, double x, double y, double size, text_anchor anchor, uint32_t color, int bold,
                    const char *text);

/// Finish and free it. Failed writes are seen on the file.
canvas_status vy_canvas_close(canvas *c);
