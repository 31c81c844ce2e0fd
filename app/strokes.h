// strokes.h - letters as strokes of a pen, for pictures. Characters beyond ASCII are shown as a box.
#pragma once
#include "canvas.h"

/// Width of a text of that size (of its line, as in SVG), in the same unit.
double vy_strokes_width(double size, const char *text);

typedef void stroke_fn(void *self, canvas_point a, canvas_point b);

/// Each stroke of the text whose baseline begins at (x, y), y downwards.
void vy_strokes_draw(double x, double y, double size, const char *text, stroke_fn *draw, void *self);
