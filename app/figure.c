// figure.c - axes with round ticks, a grid, legends and lines.
#include "figure.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// [points] margins of the figure, heights of a panel's head and of a line of its legend, gap between panels
enum {
    LEFT = 52,
    RIGHT = 14,
    TOP = 26,
    HEAD_HEIGHT = 20,
    PANEL_GAP = 24,
    BOTTOM = 34,
    LEGEND_LINE_HEIGHT = 13
};
#define SMALL_SIZE  9.0
#define NORMAL_SIZE 10.5

// The page's colours: Okabe and Ito's, which colour-blind readers can distinguish, too. See
// web/src/ui/theme.ts.
typedef struct theme {
    uint32_t lines[8], text, muted, grid, background;
} theme;
static const theme themes[2] = {
    {{0xd55e00, 0x009e73, 0x0072b2, 0xcc79a7, 0xb07d00, 0x3a9bd9, 0x555555, 0x8a6d3b},
     0x1c2733,
     0x5c6873,
     0xe3e8ec,
     0xffffff},
    {{0xff8b3d, 0x35c79a, 0x5db4f0, 0xe59bc4, 0xe6b32e, 0x8fd3ff, 0xb4bdc6, 0xc9a66b},
     0xdfe6ec,
     0x93a0ab,
     0x26303a,
     0x141b21},
};

static const theme *theme_of(const figure *f) { return &themes[f->dark ? 1 : 0]; }

// Width of a legend's entry: a dash, a space, the label, a gap.
static double entry_width(canvas *c, const figure_line *line)
{
    return 24.0 + vy_canvas_text_width(c, SMALL_SIZE, 0, line->label) + 12.0;
}

static double title_width(canvas *c, const figure_panel *p)
{
    return vy_canvas_text_width(c, NORMAL_SIZE, 1, p->title) +
           (p->unit[0] != '\0' ? 8.0 + vy_canvas_text_width(c, SMALL_SIZE, 0, p->unit) : 0.0) + 18.0;
}

// Lines that the legend takes beside and below the title.
static int legend_rows(const figure *f, canvas *c, const figure_panel *p)
{
    double x = title_width(c, p);
    int rows = 1;
    for (int i = 0; i < p->line_count; ++i) {
        const double width = entry_width(c, &p->lines[i]);
        if (x + width > f->width - LEFT - RIGHT && x > 0.0) {
            rows += 1;
            x = 0.0;
        }
        x += width;
    }
    return rows;
}

static double head_height(const figure *f, canvas *c, const figure_panel *p)
{
    return HEAD_HEIGHT + LEGEND_LINE_HEIGHT * (legend_rows(f, c, p) - 1);
}

static double figure_height(const figure *f, canvas *c)
{
    double height = TOP + BOTTOM;
    for (int i = 0; i < f->panel_count; ++i)
        height +=
            head_height(f, c, &f->panels[i]) + f->panel_height + (i + 1 < f->panel_count ? PANEL_GAP : 0);
    return height;
}

static double round_step(double span, int steps)
{
    const double rough_step = span / steps, power = pow(10.0, floor(log10(rough_step)));
    const double mantissa = rough_step / power;
    return power * (mantissa <= 1.0 ? 1.0 : mantissa <= 2.0 ? 2.0 : mantissa <= 5.0 ? 5.0 : 10.0);
}

typedef struct axes {
    double left, top, width, height; // [points]
    double time_start, time_end, low, high;
} axes;

static canvas_point to_canvas(const axes *a, double time, double value)
{
    return (canvas_point){a->left + (time - a->time_start) / (a->time_end - a->time_start) * a->width,
                          a->top + (a->high - value) / (a->high - a->low) * a->height};
}

static void find_range(const figure_panel *p, double from, double to, double *low, double *high)
{
    *low = DBL_MAX;
    *high = -DBL_MAX;
    for (int i = 0; i < p->line_count; ++i) {
        const figure_line *line = &p->lines[i];
        for (size_t k = 0; k < line->count; ++k) {
            if (line->time[k] < from || line->time[k] > to || !isfinite(line->values[k])) continue;
            *low = fmin(*low, line->values[k]);
            *high = fmax(*high, line->values[k]);
        }
    }
    if (*low > *high) *low = *high = 0.0;
    const double min_span =
        fmax(fabs(*low), fabs(*high)) * 1e-6 + 1e-12; // a line that does not move is drawn flat
    if (*high - *low < min_span) {
        const double middle = 0.5 * (*low + *high), half_span = fmax(0.1 * fabs(middle), min_span);
        *low = middle - half_span;
        *high = middle + half_span;
    }
    const double margin = 0.06 * (*high - *low);
    *low -= margin;
    *high += margin;
}

static void draw_ticks(const figure *f, canvas *c, const axes *a, int is_last)
{
    const theme *colours = theme_of(f);
    char text[32];
    const double value_step = round_step(a->high - a->low, a->height > 90.0 ? 5 : 3);
    const int value_steps =
        (int)floor((a->high - ceil(a->low / value_step) * value_step) / value_step + 1e-9);
    for (int i = 0; i <= value_steps; ++i) {
        const double v = (ceil(a->low / value_step) + i) * value_step;
        const canvas_point at = to_canvas(a, a->time_start, v), ends[2] = {at, {a->left + a->width, at.y}};
        vy_canvas_line(c, ends, 2, colours->grid, 0.6, DASH_SOLID);
        snprintf(text, sizeof text, "%.6g", fabs(v) < 1e-9 * value_step ? 0.0 : v);
        vy_canvas_text(c, a->left - 5.0, at.y + 3.2, SMALL_SIZE, TEXT_RIGHT, colours->muted, 0, text);
    }
    const double time_step = round_step(a->time_end - a->time_start, a->width > 300.0 ? 10 : 5);
    const double first_tick = ceil(a->time_start / time_step - 1e-9);
    const int time_steps = (int)floor(a->time_end / time_step - first_tick + 1e-9);
    for (int i = 0; i <= time_steps; ++i) {
        const double t = (first_tick + i) * time_step;
        const canvas_point at = to_canvas(a, t, a->low), ends[2] = {{at.x, a->top}, at};
        vy_canvas_line(c, ends, 2, colours->grid, 0.6, DASH_SOLID);
        snprintf(text, sizeof text, "%.6g", fabs(t) < 1e-9 * time_step ? 0.0 : t);
        vy_canvas_text(c, at.x, a->top + a->height + 12.0, SMALL_SIZE, TEXT_MIDDLE, colours->muted, 0, text);
    }
    const canvas_point frame[3] = {
        {a->left, a->top}, {a->left, a->top + a->height}, {a->left + a->width, a->top + a->height}};
    vy_canvas_line(c, frame, 3, colours->muted, 0.8, DASH_SOLID);
    if (is_last)
        vy_canvas_text(c, a->left + 0.5 * a->width, a->top + a->height + 27.0, SMALL_SIZE, TEXT_MIDDLE,
                       colours->muted, 0, "time [s]");
}

// Leave out points that lie on the straight line between those kept, within drawing accuracy.
static size_t drop_collinear(canvas_point *points, size_t count)
{
    const double tolerance = 0.04;
    size_t kept_count = count > 0 ? 1 : 0,
           kept_index = 0; // the last one kept is points[kept_count - 1], which was number `kept_index`
    for (size_t end_index = 2; end_index < count; ++end_index) {
        const canvas_point a = points[kept_count - 1], b = points[end_index];
        const double dx = b.x - a.x, dy = b.y - a.y, length = sqrt(dx * dx + dy * dy);
        int is_straight = length > 0.0 && end_index - kept_index < 64;
        for (size_t i = kept_index + 1; i < end_index && is_straight; ++i)
            is_straight = fabs(dx * (points[i].y - a.y) - dy * (points[i].x - a.x)) <= tolerance * length;
        if (is_straight) continue;
        kept_index = end_index - 1;
        points[kept_count++] = points[kept_index];
    }
    if (count > 1) points[kept_count++] = points[count - 1];
    return kept_count;
}

// No more than the smallest and the largest value of every half point: more cannot be seen. 0: memory is out.
static int draw_line(const figure *f, canvas *c, const axes *a, const figure_line *line)
{
    canvas_point *points = malloc((line->count + 1) * sizeof *points);
    if (points == NULL) return 0;
    const double bucket_width = 0.5;
    size_t n = 0, bucket_start = 0;
    for (size_t i = 0; i < line->count; ++i) {
        const double t = line->time[i];
        if (!isfinite(line->values[i]) || (i + 1 < line->count && line->time[i + 1] < f->from) ||
            (i > 0 && line->time[i - 1] > f->to))
            continue;
        const canvas_point at = to_canvas(a, t, line->values[i]);
        if (n - bucket_start >= 4 && fabs(at.x - points[bucket_start].x) < bucket_width) {
            // The bucket has its first, its lowest, its highest and its last point, in some order.
            canvas_point *bucket = points + bucket_start;
            if (at.y < fmin(bucket[1].y, bucket[2].y)) bucket[bucket[1].y < bucket[2].y ? 1 : 2].y = at.y;
            if (at.y > fmax(bucket[1].y, bucket[2].y)) bucket[bucket[1].y > bucket[2].y ? 1 : 2].y = at.y;
            bucket[3] = at;
        } else {
            if (n > 0 && fabs(at.x - points[bucket_start].x) >= bucket_width) bucket_start = n;
            points[n++] = at;
        }
    }
    n = drop_collinear(points, n);
    vy_canvas_line(c, points, n, theme_of(f)->lines[line->color % 8], 1.2, line->dash);
    free(points);
    return 1;
}

static void draw_head(const figure *f, canvas *c, const figure_panel *p, double y)
{
    const theme *colours = theme_of(f);
    vy_canvas_text(c, LEFT, y, NORMAL_SIZE, TEXT_LEFT, colours->text, 1, p->title);
    if (p->unit[0] != '\0') {
        char unit[24];
        snprintf(unit, sizeof unit, "[%s]", p->unit);
        vy_canvas_text(c, LEFT + vy_canvas_text_width(c, NORMAL_SIZE, 1, p->title) + 5.0, y, SMALL_SIZE,
                       TEXT_LEFT, colours->muted, 0, unit);
    }
    double x = title_width(c, p);
    for (int i = 0; i < p->line_count; ++i) {
        const figure_line *line = &p->lines[i];
        const double width = entry_width(c, line);
        if (x + width > f->width - LEFT - RIGHT && x > 0.0) {
            x = 0.0;
            y += LEGEND_LINE_HEIGHT;
        }
        const canvas_point dash[2] = {{LEFT + x, y - 3.0}, {LEFT + x + 18.0, y - 3.0}};
        vy_canvas_line(c, dash, 2, colours->lines[line->color % 8], 1.6, line->dash);
        vy_canvas_text(c, LEFT + x + 22.0, y, SMALL_SIZE, TEXT_LEFT, colours->text, 0, line->label);
        x += width;
    }
}

int vy_figure_draw(const figure *f, canvas *c)
{
    int is_drawn = 1;
    vy_canvas_begin(c, figure_height(f, c), theme_of(f)->background);
    vy_canvas_text(c, LEFT, 15.0, NORMAL_SIZE, TEXT_LEFT, theme_of(f)->text, 0, f->title);
    double y = TOP;
    for (int i = 0; i < f->panel_count; ++i) {
        const figure_panel *p = &f->panels[i];
        const double head = head_height(f, c, p);
        axes a = {LEFT, y + head, f->width - LEFT - RIGHT, f->panel_height, f->from, f->to, 0.0, 0.0};
        find_range(p, f->from, f->to, &a.low, &a.high);
        draw_head(f, c, p, y + 11.0);
        draw_ticks(f, c, &a, i + 1 == f->panel_count);
        vy_canvas_clip(c, a.left, a.top, a.width, a.height);
        for (int k = 0; k < p->line_count; ++k) is_drawn &= draw_line(f, c, &a, &p->lines[k]);
        vy_canvas_clip(c, 0.0, 0.0, 0.0, 0.0);
        y += head + f->panel_height + PANEL_GAP;
    }
    return is_drawn;
}
