// figure.h - lines over time in panels, one below the other, as in a paper.
#pragma once
#include "canvas.h"

enum { FIGURE_PANELS = 12, FIGURE_LINES = 24 };

typedef struct figure_line {
    char label[64];
    double *time, *values; ///< owned by the caller that filled it
    size_t count;
    int color; ///< index into the palette of the page
    line_dash dash;
} figure_line;

typedef struct figure_panel {
    char title[96];
    char unit[16]; ///< empty for none
    figure_line lines[FIGURE_LINES];
    int line_count;
} figure_panel;

typedef struct figure {
    char title[160];
    double from, to;     ///< [s] what is shown
    double width;        ///< [points]
    double panel_height; ///< [points] height of a panel's axes
    int dark;
    figure_panel panels[FIGURE_PANELS];
    int panel_count;
} figure;

/// On a canvas as wide as the figure.
int vy_figure_draw(const figure *f, canvas *c); ///< 0: memory is out
