// canvas_none.c - in the place of canvas_cairo.c, where the command is built without cairo.
#include "canvas.h"

int vy_canvas_has_cairo(void) { return 0; }

canvas *vy_canvas_png(FILE *out, double width, double scale)
{
    (void)out, (void)width, (void)scale;
    return NULL;
}

canvas *vy_canvas_pdf(FILE *out, double width)
{
    (void)out, (void)width;
    return NULL;
}
