// canvas_svg.c - a canvas that is an SVG file: text stays text.
#include "canvas_impl.h"
#include "strokes.h"
#include <stdlib.h>

typedef struct svg {
    canvas base;
    int clips; // so far
    int open;  // a clip is in force
} svg;

static void put_escaped(FILE *out, const char *text)
{
    if (text[0] == '-' && text[1] >= '0' && text[1] <= '9') {
        fputs("\xe2\x88\x92", out); // a minus as long as a plus
        ++text;
    }
    for (; *text != '\0'; ++text) {
        switch (*text) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        default:
            if ((unsigned char)*text >= 0x20) fputc(*text, out);
        }
    }
}

static void svg_clip(canvas *c, double x, double y, double width, double height)
{
    svg *s = (svg *)c;
    if (s->open) fputs("</g>\n", c->out);
    s->open = width > 0.0;
    if (!s->open) return;
    s->clips += 1;
    fprintf(c->out,
            "<clipPath id=\"c%d\"><rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/></clipPath>\n",
            s->clips, x, y, width, height);
    fprintf(c->out, "<g clip-path=\"url(#c%d)\">\n", s->clips);
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
                vy_strokes_width(size, text));
    fputc('>', c->out);
    put_escaped(c->out, text);
    fputs("</text>\n", c->out);
}

static int svg_close(canvas *c)
{
    svg_clip(c, 0.0, 0.0, 0.0, 0.0);
    fputs("</svg>\n", c->out);
    free(c);
    return 1;
}

canvas *vy_canvas_svg(FILE *out, double width, double height, uint32_t background)
{
    svg *s = calloc(1, sizeof *s);
    if (s == NULL) return NULL;
    s->base = (canvas){out, width, height, svg_clip, svg_line, svg_text, svg_close};
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%gpt\" height=\"%gpt\" viewBox=\"0 0 %g %g\" "
            "font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\n",
            width, height, width, height);
    fprintf(out, "<rect width=\"%g\" height=\"%g\" fill=\"#%06x\"/>\n", width, height, (unsigned)background);
    return &s->base;
}
