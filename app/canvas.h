// canvas.h - what a figure is drawn on: an SVG file, or a PNG picture. Units are points, y downwards.
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

typedef struct canvas canvas;

/// A canvas of `width` by `height` points, filled with `background` (0xrrggbb). NULL when memory is out.
/// @param scale pixels per point, of a PNG
canvas *vy_canvas_svg(FILE *out, double width, double height, uint32_t background);
canvas *vy_canvas_png(FILE *out, double width, double height, uint32_t background, double scale);

/// Only what lies inside is drawn, until the next call; a width of 0 ends it.
void vy_canvas_clip(canvas *c, double x, double y, double width, double height);

void vy_canvas_line(canvas *c, const canvas_point *points, size_t count, uint32_t color, double width,
                    line_dash dash);

/// A line of text with its baseline at `y`. `bold` is for headings.
void vy_canvas_text(canvas *c, double x, double y, double size, text_anchor anchor, uint32_t color, int bold,
                    const char *text);

/// Room the text takes, about.
double vy_canvas_text_width(double size, const char *text);

/// Finish and free it. Returns 0 when memory was out; failed writes are seen on the file.
int vy_canvas_close(canvas *c);
