// canvas.c - calls of a canvas, whatever its kind.
#include "canvas_impl.h"
#include "scenario/text.h"
#include <string.h>

enum { TEXT_ROOM = 256 }; // for the longest text of a figure, its title

// Names of files and of drones may hold any bytes, and may have been cut inside a character: SVG and cairo
// take UTF-8 alone. A number's minus becomes as long as a plus.
static const char *make_printable(const char *text, char out[TEXT_ROOM])
{
    size_t bytes_left = strlen(text), used = 0;
    if (text[0] == '-' && text[1] >= '0' && text[1] <= '9') {
        memcpy(out, "\xe2\x88\x92", 3);
        used = 3;
        ++text;
        --bytes_left;
    }
    while (bytes_left > 0) {
        const size_t size = vy_character_size(text, bytes_left), byte_count = size > 0 ? size : 1;
        if (used + byte_count >= TEXT_ROOM) break;
        memcpy(out + used, text, byte_count);
        if (size == 0 || (unsigned char)*text < ' ') out[used] = '?';
        used += byte_count;
        text += byte_count;
        bytes_left -= byte_count;
    }
    out[used] = '\0';
    return out;
}

void vy_canvas_begin(canvas *c, double height, uint32_t background) { c->begin(c, height, background); }

double vy_canvas_text_width(canvas *c, double size, int bold, const char *text)
{
    char cleaned[TEXT_ROOM];
    return c->measure(c, size, bold, make_printable(text, cleaned));
}

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
    char cleaned[TEXT_ROOM];
    c->text(c, x, y, size, anchor, color, bold, make_printable(text, cleaned));
}

canvas_status vy_canvas_close(canvas *c) { return c->close(c); }
