// canvas_png.c - a canvas that is a PNG picture: lines with smooth edges, text as strokes.
#include "canvas_impl.h"
#include "strokes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct box {
    int left, top, right, bottom; // pixels [left, right) by [top, bottom)
} box;

typedef struct png {
    canvas base;
    double scale;
    int columns, rows;
    unsigned char *pixels; // red, green, blue
    float *cover;          // of what is being drawn, 0 to 1
    box touched;           // where cover is not 0
    box clip;
} png;

static int clamp(double value, int low, int high)
{
    return value <= low ? low : value >= high ? high : (int)value;
}

// A segment with round ends, from a to b in pixels: a pixel is covered by how far it lies inside.
static void cover_segment(png *p, canvas_point a, canvas_point b, double half)
{
    const double reach = half + 1.0;
    const int left = clamp(floor(fmin(a.x, b.x) - reach), p->clip.left, p->clip.right);
    const int right = clamp(ceil(fmax(a.x, b.x) + reach), p->clip.left, p->clip.right);
    const int top = clamp(floor(fmin(a.y, b.y) - reach), p->clip.top, p->clip.bottom);
    const int bottom = clamp(ceil(fmax(a.y, b.y) + reach), p->clip.top, p->clip.bottom);
    const double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
    for (int y = top; y < bottom; ++y) {
        for (int x = left; x < right; ++x) {
            const double px = x + 0.5 - a.x, py = y + 0.5 - a.y;
            const double t = square > 0.0 ? fmin(fmax((px * dx + py * dy) / square, 0.0), 1.0) : 0.0;
            const double away = hypot(px - t * dx, py - t * dy);
            const float inside = (float)fmin(fmax(half + 0.5 - away, 0.0), 1.0);
            float *at = &p->cover[(size_t)y * (size_t)p->columns + (size_t)x];
            if (inside > *at) *at = inside;
        }
    }
    p->touched.left = left < p->touched.left ? left : p->touched.left;
    p->touched.top = top < p->touched.top ? top : p->touched.top;
    p->touched.right = right > p->touched.right ? right : p->touched.right;
    p->touched.bottom = bottom > p->touched.bottom ? bottom : p->touched.bottom;
}

// Put the colour where something was covered, and clear the cover.
static void paint(png *p, uint32_t color)
{
    const double ink[3] = {(double)(color >> 16 & 255), (double)(color >> 8 & 255), (double)(color & 255)};
    for (int y = p->touched.top; y < p->touched.bottom; ++y) {
        for (int x = p->touched.left; x < p->touched.right; ++x) {
            const size_t at = (size_t)y * (size_t)p->columns + (size_t)x;
            const double a = (double)p->cover[at];
            p->cover[at] = 0.0F;
            for (int k = 0; k < 3 && a > 0.0; ++k) {
                unsigned char *channel = &p->pixels[3 * at + (size_t)k];
                *channel = (unsigned char)lround(*channel + a * (ink[k] - *channel));
            }
        }
    }
    p->touched = (box){p->columns, p->rows, 0, 0};
}

// A segment in dashes: `done` is the length gone so far.
static void cover_dashed(png *p, canvas_point a, canvas_point b, double half, const double *dash,
                         double *done)
{
    const double length = hypot(b.x - a.x, b.y - a.y), period = dash[0] + dash[1];
    for (double at = 0.0; at < length;) {
        const double phase = fmod(*done, period);
        const int on = phase < dash[0];
        const double step = fmin(length - at, (on ? dash[0] : period) - phase + 1e-6);
        const double s = at / length, e = (at + step) / length;
        if (on) {
            cover_segment(p, (canvas_point){a.x + s * (b.x - a.x), a.y + s * (b.y - a.y)},
                          (canvas_point){a.x + e * (b.x - a.x), a.y + e * (b.y - a.y)}, half);
        }
        at += step;
        *done += step;
    }
}

static void png_clip(canvas *c, double x, double y, double width, double height)
{
    png *p = (png *)c;
    p->clip = (box){0, 0, p->columns, p->rows};
    if (width <= 0.0) return;
    p->clip = (box){clamp(x * p->scale, 0, p->columns), clamp(y * p->scale, 0, p->rows),
                    clamp(ceil((x + width) * p->scale), 0, p->columns),
                    clamp(ceil((y + height) * p->scale), 0, p->rows)};
}

static void png_line(canvas *c, const canvas_point *points, size_t count, uint32_t color, double width,
                     line_dash dash)
{
    png *p = (png *)c;
    const double lengths[2] = {vy_dash_lengths[dash][0] * p->scale, vy_dash_lengths[dash][1] * p->scale};
    const double half = 0.5 * width * p->scale;
    double done = 0.0;
    for (size_t i = 1; i < count; ++i) {
        const canvas_point a = {points[i - 1].x * p->scale, points[i - 1].y * p->scale};
        const canvas_point b = {points[i].x * p->scale, points[i].y * p->scale};
        if (dash == DASH_SOLID) cover_segment(p, a, b, half);
        if (dash != DASH_SOLID) cover_dashed(p, a, b, half, lengths, &done);
    }
    paint(p, color);
}

typedef struct pen {
    png *p;
    double half;
} pen;

static void draw_stroke(void *self, canvas_point a, canvas_point b)
{
    const pen *at = self;
    const double s = at->p->scale;
    cover_segment(at->p, (canvas_point){a.x * s, a.y * s}, (canvas_point){b.x * s, b.y * s}, at->half);
}

static void png_text(canvas *c, double x, double y, double size, text_anchor anchor, uint32_t color, int bold,
                     const char *text)
{
    png *p = (png *)c;
    const double width = vy_strokes_width(size, text);
    const double left = anchor == TEXT_LEFT ? x : anchor == TEXT_MIDDLE ? x - 0.5 * width : x - width;
    pen with = {p, 0.5 * size * (bold ? 0.125 : 0.085) * p->scale};
    vy_strokes_draw(left, y, size, text, draw_stroke, &with);
    paint(p, color);
}

static void put_chunk(FILE *out, const char *type, const unsigned char *data, size_t size)
{
    const uint32_t length = (uint32_t)size;
    const unsigned char head[8] = {(unsigned char)(length >> 24), (unsigned char)(length >> 16),
                                   (unsigned char)(length >> 8),  (unsigned char)length,
                                   (unsigned char)type[0],        (unsigned char)type[1],
                                   (unsigned char)type[2],        (unsigned char)type[3]};
    uLong crc = crc32_z(crc32(0, NULL, 0), head + 4, 4);
    if (size > 0) crc = crc32_z(crc, data, size);
    const unsigned char tail[4] = {(unsigned char)(crc >> 24), (unsigned char)(crc >> 16),
                                   (unsigned char)(crc >> 8), (unsigned char)crc};
    fwrite(head, 1, sizeof head, out);
    if (size > 0) fwrite(data, 1, size, out);
    fwrite(tail, 1, sizeof tail, out);
}

// Rows with the filter byte 0 before each, packed.
static int put_pixels(const png *p)
{
    const size_t row = 3 * (size_t)p->columns, size = (size_t)p->rows * (row + 1);
    unsigned char *plain = malloc(size + 1);
    uLongf packed_size = compressBound((uLong)size);
    unsigned char *packed = malloc(packed_size);
    const int whole = plain != NULL && packed != NULL;
    for (int y = 0; y < p->rows && whole; ++y) {
        plain[(size_t)y * (row + 1)] = 0;
        memcpy(plain + (size_t)y * (row + 1) + 1, p->pixels + (size_t)y * row, row);
    }
    const int done = whole && compress2(packed, &packed_size, plain, (uLong)size, 9) == Z_OK;
    if (done) put_chunk(p->base.out, "IDAT", packed, packed_size);
    free(plain);
    free(packed);
    return done;
}

static void destroy(png *p)
{
    free(p->pixels);
    free(p->cover);
    free(p);
}

static int png_close(canvas *c)
{
    enum { DEPTH = 8, TRUE_COLOR = 2 };
    png *p = (png *)c;
    const uint32_t w = (uint32_t)p->columns, h = (uint32_t)p->rows;
    const unsigned char head[13] = {(unsigned char)(w >> 24),
                                    (unsigned char)(w >> 16),
                                    (unsigned char)(w >> 8),
                                    (unsigned char)w,
                                    (unsigned char)(h >> 24),
                                    (unsigned char)(h >> 16),
                                    (unsigned char)(h >> 8),
                                    (unsigned char)h,
                                    DEPTH,
                                    TRUE_COLOR,
                                    0,
                                    0,
                                    0};
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, c->out);
    put_chunk(c->out, "IHDR", head, sizeof head);
    const int done = put_pixels(p);
    put_chunk(c->out, "IEND", NULL, 0);
    destroy(p);
    return done;
}

canvas *vy_canvas_png(FILE *out, double width, double height, uint32_t background, double scale)
{
    png *p = calloc(1, sizeof *p);
    if (p == NULL) return NULL;
    p->base = (canvas){out, width, height, png_clip, png_line, png_text, png_close};
    p->scale = scale;
    p->columns = (int)ceil(width * scale);
    p->rows = (int)ceil(height * scale);
    const size_t count = (size_t)p->columns * (size_t)p->rows;
    p->pixels = malloc(3 * count + 1);
    p->cover = calloc(count + 1, sizeof *p->cover);
    if (p->pixels == NULL || p->cover == NULL) {
        destroy(p);
        return NULL;
    }
    for (size_t i = 0; i < count; ++i) {
        p->pixels[3 * i] = (unsigned char)(background >> 16);
        p->pixels[3 * i + 1] = (unsigned char)(background >> 8);
        p->pixels[3 * i + 2] = (unsigned char)background;
    }
    p->touched = (box){p->columns, p->rows, 0, 0};
    p->clip = (box){0, 0, p->columns, p->rows};
    return &p->base;
}
