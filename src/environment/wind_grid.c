// wind_grid.c - a gridded wind field from a text file. Files are untrusted: every byte is checked, and
// memory is bounded by the size of the file. The text is read twice: first the axes, then the samples.
#include "environment/wind_grid.h"
#include "base/assert.h"
#include "base/decimal.h"
#include "base/fail.h"
#include <stdlib.h>

enum { FIELDS = 7, AXES = 4 }; // t,x,y,z then u,v,w
static const char field_names[] = "txyzuvw";

/// The different values of one column, sorted, each with the line where it was seen first.
typedef struct axis {
    double *values;
    int *lines;
    int count;
    double spacing; // from one value to the next
} axis;

typedef struct reader {
    const char *text, *end;
    const char *at;         // where the next line starts
    const char *line_start; // of the current line
    int line;               // number of the current line
    const char *name;
    vy_error *err;
    axis axes[AXES]; // t, x, y, z
    size_t rows;     // read so far
} reader;

static vy_status fail_at(reader *r, const char *where, vy_status status, const char *format, ...)
    VY_PRINTF(4, 5);

/// An error on the current line, at `where` in it; NULL: about the line as a whole.
static vy_status fail_at(reader *r, const char *where, vy_status status, const char *format, ...)
{
    const int column = where != NULL ? (int)(where - r->line_start) + 1 : 0;
    va_list args;
    va_start(args, format);
    vy_fail_at(r->err, r->name, r->line, column, status, format, args);
    va_end(args);
    return status;
}

// ---- words and numbers ----

/// A piece of the text; not terminated.
typedef struct span {
    const char *text;
    size_t size;
} span;

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static span trimmed(const char *from, const char *to)
{
    while (from < to && is_blank(*from)) ++from;
    while (from < to && is_blank(to[-1])) --to;
    return (span){from, (size_t)(to - from)};
}

/// The first bytes of a field, made printable for a message.
static const char *printable(span s, char text[24])
{
    size_t k = 0;
    for (; k < s.size && k < 20; ++k) text[k] = s.text[k] >= 32 && s.text[k] < 127 ? s.text[k] : '?';
    text[k] = '\0';
    return text;
}

// ---- rows ----

/// The next line that is not empty without its remark. 0 at the end of the text.
static int next_line(reader *r, span *out)
{
    while (r->at < r->end) {
        const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
        const char *line_end = stop != NULL ? stop : r->end;
        const char *comment = memchr(r->at, '#', (size_t)(line_end - r->at));
        r->line_start = r->at;
        r->at = stop != NULL ? stop + 1 : r->end;
        r->line++;
        const span s = trimmed(r->line_start, comment != NULL ? comment : line_end);
        if (s.size > 0) {
            *out = s;
            return 1;
        }
    }
    return 0;
}

/// Field `k` of a line, which begins at *at; leaves *at behind its comma.
static vy_status next_field(reader *r, const char **at, const char *end, int k, span *out)
{
    if (*at == NULL) {
        return fail_at(r, end, VY_BAD_SYNTAX, "%d fields, expected %d: t,x,y,z,u,v,w", k, FIELDS);
    }
    const char *comma = memchr(*at, ',', (size_t)(end - *at));
    *out = trimmed(*at, comma != NULL ? comma : end);
    *at = comma != NULL ? comma + 1 : NULL;
    return VY_OK;
}

static vy_status field_value(reader *r, span s, int k, double *out)
{
    char text[24];
    if (vy_decimal_is_not_finite(s.text, s.size)) {
        return fail_at(r, s.text, VY_BAD_VALUE, "%c = %s is not a finite number", field_names[k],
                       printable(s, text));
    }
    if (!vy_decimal_parse(s.text, s.size, out)) {
        return fail_at(r, s.text, VY_BAD_SYNTAX, "%c: expected a number, found '%s'", field_names[k],
                       printable(s, text));
    }
    const double maximum = k < AXES ? VY_WIND_GRID_COORDINATE_MAX : VY_WIND_GRID_SPEED_MAX;
    if (!(real_abs(*out) <= maximum)) {
        return fail_at(r, s.text, VY_BAD_VALUE, "%c = %s is beyond the limit of %g %s", field_names[k],
                       printable(s, text), maximum,
                       k == 0     ? "s"
                       : k < AXES ? "m"
                                  : "m/s");
    }
    *out += 0.0; // -0.0 becomes +0.0
    return VY_OK;
}

/// The fields of a line. Not one more than seven.
static vy_status split_line(reader *r, span line, span out[FIELDS])
{
    const char *at = line.text, *const end = line.text + line.size;
    for (int k = 0; k < FIELDS; ++k) {
        const vy_status status = next_field(r, &at, end, k, &out[k]);
        if (status != VY_OK) return status;
    }
    if (at != NULL) {
        return fail_at(r, at, VY_BAD_SYNTAX, "more than %d fields, expected t,x,y,z,u,v,w", FIELDS);
    }
    return VY_OK;
}

/// Go to the first row: behind the line that names the columns.
static vy_status read_header(reader *r)
{
    r->at = r->text;
    r->line = 0;
    span line = {r->text, 0}, fields[FIELDS];
    r->line_start = r->text;
    if (!next_line(r, &line)) return fail_at(r, NULL, VY_BAD_SYNTAX, "expected the header t,x,y,z,u,v,w");
    const vy_status status = split_line(r, line, fields);
    if (status != VY_OK) return status;
    for (int k = 0; k < FIELDS; ++k) {
        if (fields[k].size != 1 || *fields[k].text != field_names[k]) {
            char text[24];
            return fail_at(r, fields[k].text, VY_BAD_SYNTAX,
                           "expected column '%c' of the header t,x,y,z,u,v,w, found '%s'", field_names[k],
                           printable(fields[k], text));
        }
    }
    return VY_OK;
}

/// The next row; *has_row is 0 when there is none.
static vy_status next_row(reader *r, double row[FIELDS], int *has_row)
{
    span line, fields[FIELDS];
    *has_row = next_line(r, &line);
    if (!*has_row) return VY_OK;
    vy_status status = split_line(r, line, fields);
    for (int k = 0; k < FIELDS && status == VY_OK; ++k) status = field_value(r, fields[k], k, &row[k]);
    return status;
}

// ---- axes ----

/// The number of values below `value`: where it is, or would be.
static int axis_index(const axis *a, double value)
{
    int low = 0, high = a->count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (a->values[middle] < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static vy_status axis_add(reader *r, int k, double value)
{
    VY_ASSERT(k >= 0 && k < AXES && real_is_finite(value));
    axis *a = &r->axes[k];
    const int index = axis_index(a, value);
    if (index < a->count && a->values[index] == value) return VY_OK;
    if (a->count == VY_WIND_GRID_AXIS_MAX) {
        return fail_at(r, NULL, VY_FULL, "more than %d different values of %c", VY_WIND_GRID_AXIS_MAX,
                       field_names[k]);
    }
    const size_t count_after = (size_t)(a->count - index);
    memmove(a->values + index + 1, a->values + index, count_after * sizeof *a->values);
    memmove(a->lines + index + 1, a->lines + index, count_after * sizeof *a->lines);
    a->values[index] = value;
    a->lines[index] = r->line;
    a->count++;
    return VY_OK;
}

static vy_status axis_finish(reader *r, int k)
{
    axis *a = &r->axes[k];
    VY_ASSERT(a->count > 0 && a->count <= VY_WIND_GRID_AXIS_MAX);
    const double first = a->values[0];
    a->spacing = a->count > 1 ? (a->values[a->count - 1] - first) / (double)(a->count - 1) : 1.0;
    for (int i = 1; i < a->count; ++i) {
        VY_ASSERT(a->values[i - 1] < a->values[i]);
        const double expected = first + (double)i * a->spacing;
        if (real_abs(a->values[i] - expected) > VY_WIND_GRID_SPACING_TOLERANCE * a->spacing) {
            r->line = a->lines[i];
            return fail_at(
                r, NULL, VY_BAD_VALUE,
                "uneven distances along %c: node %d of %d is at %.9g, equal spacing would be at %.9g",
                field_names[k], i + 1, a->count, a->values[i], expected);
        }
    }
    return VY_OK;
}

static vy_status read_axes(reader *r)
{
    vy_status status = read_header(r);
    for (int k = 0; k < AXES && status == VY_OK; ++k) {
        r->axes[k].values = malloc(VY_WIND_GRID_AXIS_MAX * sizeof *r->axes[k].values);
        r->axes[k].lines = malloc(VY_WIND_GRID_AXIS_MAX * sizeof *r->axes[k].lines);
        if (r->axes[k].values == NULL || r->axes[k].lines == NULL) {
            return fail_at(r, NULL, VY_NO_MEMORY, "no memory for the axes of a wind grid");
        }
    }
    double row[FIELDS];
    int has_row = 1;
    while (status == VY_OK) {
        status = next_row(r, row, &has_row);
        if (status != VY_OK || !has_row) break;
        for (int k = 0; k < AXES && status == VY_OK; ++k) status = axis_add(r, k, row[k]);
        if (++r->rows > VY_WIND_GRID_NODES_MAX && status == VY_OK) {
            status = fail_at(r, NULL, VY_FULL, "more than %d rows", VY_WIND_GRID_NODES_MAX);
        }
    }
    if (status == VY_OK && r->rows == 0) status = fail_at(r, NULL, VY_BAD_VALUE, "a wind grid of no rows");
    for (int k = 0; k < AXES && status == VY_OK; ++k) status = axis_finish(r, k);
    return status;
}

// ---- samples ----

static vy_status fail_missing(reader *r, size_t node)
{
    const axis *a = r->axes;
    const size_t nx = (size_t)a[1].count, ny = (size_t)a[2].count, nz = (size_t)a[3].count;
    r->line = 0;
    return fail_at(r, NULL, VY_BAD_VALUE,
                   "the wind grid has a hole: no row for t = %.9g, x = %.9g, y = %.9g, z = %.9g",
                   a[0].values[node / (nx * ny * nz)], a[1].values[node % nx], a[2].values[node / nx % ny],
                   a[3].values[node / (nx * ny) % nz]);
}

/// Put every row where it belongs. `lines` has one entry for each of `kept_nodes`: the line that gave it.
static vy_status read_samples(reader *r, size_t kept_nodes, int *lines, double *velocity, double *speed2_max)
{
    vy_status status = read_header(r);
    double row[FIELDS];
    int has_row = 1;
    while (status == VY_OK) {
        status = next_row(r, row, &has_row);
        if (status != VY_OK || !has_row) break;
        size_t node = 0;
        static const int order[AXES] = {0, 3, 2, 1}; // slowest first
        for (int k = 0; k < AXES; ++k) {
            const axis *a = &r->axes[order[k]];
            const int index = axis_index(a, row[order[k]]);
            VY_ASSERT(index < a->count && a->values[index] == row[order[k]]); // read_axes() has seen it
            node = node * (size_t)a->count + (size_t)index;
        }
        if (node >= kept_nodes) continue;
        if (lines[node] != 0) {
            return fail_at(r, NULL, VY_BAD_VALUE, "this node of the wind grid was given before, on line %d",
                           lines[node]);
        }
        lines[node] = r->line;
        for (int k = 0; k < 3; ++k) velocity[3 * node + (size_t)k] = row[AXES + k];
        const double speed2 = (row[4] * row[4] + row[5] * row[5]) + row[6] * row[6];
        if (speed2 > *speed2_max) *speed2_max = speed2;
    }
    return status;
}

static void set_field(const reader *r, double speed2_max, vy_wind_grid *g)
{
    const axis *t = &r->axes[0], *x = &r->axes[1], *y = &r->axes[2], *z = &r->axes[3];
    g->field = (wind_grid){
        .velocity = g->velocity,
        .nx = x->count,
        .ny = y->count,
        .nz = z->count,
        .nt = t->count,
        .x0 = x->values[0],
        .y0 = y->values[0],
        .z0 = z->values[0],
        .t0 = t->values[0],
        .dx = x->spacing,
        .dy = y->spacing,
        .dz = z->spacing,
        .dt = t->spacing,
        .speed_max = real_sqrt(speed2_max) * (1.0 + 0x1p-50), // an upper bound in spite of rounding
    };
}

static vy_status read_grid(reader *r, vy_wind_grid **out)
{
    vy_status status = read_axes(r);
    if (status != VY_OK) return status;
    // With fewer rows than nodes one of the first rows + 1 nodes is missing: no need to keep more than those.
    // Four axes of at most 2^12 values: the product fits.
    uint64_t nodes = 1;
    for (int k = 0; k < AXES; ++k) nodes *= (uint64_t)r->axes[k].count;
    const size_t kept_nodes = nodes > r->rows ? r->rows + 1 : (size_t)nodes;
    int *lines = calloc(kept_nodes, sizeof *lines);
    vy_wind_grid *grid = malloc(sizeof *grid + 3 * kept_nodes * sizeof *grid->velocity);
    double speed2_max = 0.0;
    if (lines == NULL || grid == NULL) {
        status = fail_at(r, NULL, VY_NO_MEMORY, "no memory for a wind grid of %zu nodes", kept_nodes);
    } else {
        status = read_samples(r, kept_nodes, lines, grid->velocity, &speed2_max);
    }
    for (size_t node = 0; status == VY_OK && node < kept_nodes; ++node) {
        if (lines[node] == 0) status = fail_missing(r, node);
    }
    free(lines);
    if (status != VY_OK) {
        free(grid);
        return status;
    }
    set_field(r, speed2_max, grid);
    *out = grid;
    return VY_OK;
}

vy_status vy_wind_grid_read(const void *data, size_t size, const char *name, vy_wind_grid **out,
                            vy_error *err)
{
    *out = NULL;
    const char *text = size > 0 ? data : "";
    reader r = {.text = text, .end = text + size, .line_start = text, .name = name, .err = err};
    vy_status status;
    if (size > VY_WIND_GRID_BYTES_MAX) {
        status = fail_at(&r, NULL, VY_FULL, "larger than %zu bytes", VY_WIND_GRID_BYTES_MAX);
    } else {
        status = read_grid(&r, out);
    }
    for (int k = 0; k < AXES; ++k) {
        free(r.axes[k].values);
        free(r.axes[k].lines);
    }
    return status;
}

void vy_wind_grid_destroy(vy_wind_grid *grid) { free(grid); }
