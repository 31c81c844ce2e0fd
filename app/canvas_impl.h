// canvas_impl.h - what each kind of canvas provides.
#pragma once
#include "canvas.h"

struct canvas {
    FILE *out;
    double width;
    void (*begin)(canvas *c, double height, uint32_t background);
    double (*measure)(canvas *c, double size, int bold, const char *text);
    void (*clip)(canvas *c, double x, double y, double width, double height);
    void (*line)(canvas *c, const canvas_point *points, size_t count, uint32_t color, double width,
                 line_dash dash);
    void (*text)(canvas *c, double x, double y, double size, text_anchor anchor, uint32_t color, int bold,
                 const char *text);
    canvas_status (*close)(canvas *c);
};

/// Lengths of a dash and of the gap after it; 0: none.
static const double vy_dash_lengths[3][2] = {{0.0, 0.0}, {6.0, 3.5}, {1.5, 2.5}};
