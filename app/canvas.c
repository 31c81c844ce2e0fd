// canvas.c - calls of a canvas, whatever its kind.
#include "canvas_impl.h"
#include "strokes.h"

void vy_canvas_clip(canvas *c, double x, double y, double width, double height)
{
    c->clip(c, x, y, width, height);
}

void vy_canvas_line(canvas *c, const canvas_point *points, size_t count, uint32_t color, double width,
                    line_dash dash)
{
    if (count > 1) c->line(c, points, count, color, width, dash);
}

void vy_canvas_text(canvas *c, double x, double y, double size, text_anchor anchor, uint32_t color, int bold,
                    const char *text)
{
    c->text(c, x, y, size, anchor, color, bold, text);
}

double vy_canvas_text_width(double size, const char *text) { return vy_strokes_width(size, text); }

int vy_canvas_close(canvas *c) { return c->close(c); }
