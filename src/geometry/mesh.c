// mesh.c - points from STL and OBJ files. Files are untrusted: every byte is checked, memory is bounded
// by the limits in mesh.h, and an error says where.
#include "volery/mesh.h"
#include "base/assert.h"
#include "base/real.h"
#include "base/decimal.h"
#include "base/fail.h"
#include "base/read_file.h"
#include "base/vec.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct reader {
    const unsigned char *at, *end; // the next byte, and the end of the data
    int line;                      // 1-based; 0 for what has none
    double scale;                  // [m] per unit of the file
    const char *name;              // of the file, for messages
    vy_error *err;
    // The different points so far, and an open-addressed table of their numbers plus one; 0 is free.
    vy_vec3 *points;
    int count, capacity;
    uint32_t *table;
    size_t table_size; // a power of two, more than twice count
} reader;

static vy_status parse_error(reader *r, vy_status status, const char *format, ...) VY_PRINTF(3, 4);

static vy_status parse_error(reader *r, vy_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vy_fail_at(r->err, r->name, r->line, 0, status, format, args);
    va_end(args);
    return status;
}

// ---- the set of points ----

static size_t slot_of(const reader *r, vy_vec3 p)
{
    VY_ASSERT(r->table_size > 0 && (r->table_size & (r->table_size - 1)) == 0);
    uint64_t h = bits_of(p.x) * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 29) ^ bits_of(p.y)) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 32) ^ bits_of(p.z)) * 0x94d049bb133111ebu;
    return (size_t)(h ^ (h >> 31)) & (r->table_size - 1);
}

/// The slot of an equal point, or the free one where it belongs.
static size_t find_slot(const reader *r, vy_vec3 p)
{
    size_t slot = slot_of(r, p);
    for (; r->table[slot] != 0; slot = (slot + 1) & (r->table_size - 1)) {
        const vy_vec3 q = r->points[r->table[slot] - 1];
        VY_ASSERT(r->table[slot] <= (uint32_t)r->count || r->count == 0);
        if (p.x == q.x && p.y == q.y && p.z == q.z) break;
    }
    return slot;
}

static vy_status grow(reader *r)
{
    VY_ASSERT(r->count == r->capacity);
    const int capacity = r->capacity == 0 ? 64 : 2 * r->capacity;
    vy_vec3 *points = realloc(r->points, (size_t)capacity * sizeof *points);
    if (points == NULL) return parse_error(r, VY_NO_MEMORY, "no memory for %d points", capacity);
    r->points = points;
    r->capacity = capacity;
    const size_t size = 4 * (size_t)capacity;
    uint32_t *table = calloc(size, sizeof *table);
    if (table == NULL) return parse_error(r, VY_NO_MEMORY, "no memory for %d points", capacity);
    free(r->table);
    r->table = table;
    r->table_size = size;
    for (int i = 0; i < r->count; ++i) r->table[find_slot(r, r->points[i])] = (uint32_t)i + 1;
    return VY_OK;
}

// A point from coordinates in units of the file.
static vy_status scaled_point(reader *r, const double raw[3], vy_vec3 *out)
{
    double c[3];
    for (int k = 0; k < 3; ++k) {
        c[k] = raw[k] * r->scale + 0.0; // -0.0 becomes +0.0: equal points are equal in every bit
        if (!real_is_finite(c[k]))
            return parse_error(r, VY_HULL_NOT_FINITE, "a vertex has %c = %g", "xyz"[k], c[k]);
        if (real_abs(c[k]) > VY_HULL_LIMIT) {
            return parse_error(r, VY_HULL_HUGE, "a vertex has %c = %g m, the limit is 1e9 m", "xyz"[k], c[k]);
        }
    }
    *out = vec3_make(c[0], c[1], c[2]);
    return VY_OK;
}

static vy_status add_point(reader *r, vy_vec3 p)
{
    if (r->count == r->capacity) {
        const vy_status status = grow(r);
        if (status != VY_OK) return status;
    }
    const size_t slot = find_slot(r, p);
    if (r->table[slot] != 0) return VY_OK;
    if (r->count == VY_MESH_POINTS_MAX) {
        return parse_error(r, VY_FULL, "more than %d different points", VY_MESH_POINTS_MAX);
    }
    VY_ASSERT(r->count < r->capacity && 2 * (size_t)r->count < r->table_size);
    r->points[r->count++] = p;
    r->table[slot] = (uint32_t)r->count;
    return VY_OK;
}

// ---- words and numbers ----

typedef struct word {
    const unsigned char *text;
    int length; // 0: none left
} word;

static int is_blank(int c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

static int lower(int c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; }

/// The next word on this line; none at its end.
static word next_word(reader *r)
{
    while (r->at < r->end && is_blank(*r->at)) r->at++;
    word w = {r->at, 0};
    while (r->at < r->end && !is_blank(*r->at) && *r->at != '\n') r->at++;
    const ptrdiff_t length = r->at - w.text;
    w.length = length > 1000 ? 1000 : (int)length; // no word of these formats is that long
    return w;
}

/// Go to the start of the next line. 0 at the end of the data.
static int next_line(reader *r)
{
    while (r->at < r->end && *r->at != '\n') r->at++;
    if (r->at == r->end) return 0;
    r->at++;
    r->line++;
    return 1;
}

static int word_is(word w, const char *expected)
{
    int k = 0;
    for (; k < w.length && expected[k] != '\0'; ++k) {
        if (lower(w.text[k]) != expected[k]) return 0;
    }
    return k == w.length && expected[k] == '\0';
}

/// The first bytes of a word, made printable for a message.
static const char *printable(word w, char text[24])
{
    int k = 0;
    for (; k < w.length && k < 20; ++k) text[k] = w.text[k] > 32 && w.text[k] < 127 ? (char)w.text[k] : '?';
    text[k] = '\0';
    return text;
}

static int is_not_finite_word(word w)
{
    return vy_decimal_is_not_finite((const char *)w.text, (size_t)w.length);
}

static int parse_number(word w, double *out)
{
    return vy_decimal_parse((const char *)w.text, (size_t)w.length, out);
}

static vy_status read_coordinates(reader *r, vy_vec3 *out)
{
    double raw[3];
    char text[24];
    for (int k = 0; k < 3; ++k) {
        const word w = next_word(r);
        if (w.length == 0) return parse_error(r, VY_BAD_SYNTAX, "a vertex needs three numbers, found %d", k);
        if (is_not_finite_word(w)) {
            return parse_error(r, VY_HULL_NOT_FINITE, "a vertex has %c = %s", "xyz"[k], printable(w, text));
        }
        if (!parse_number(w, &raw[k])) {
            return parse_error(r, VY_BAD_SYNTAX, "expected a number, found '%s'", printable(w, text));
        }
    }
    return scaled_point(r, raw, out);
}

// ---- STL ----

static uint32_t u32_at(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

// 80 bytes of header, the number of triangles, then 50 bytes each: normal, three corners, two bytes unused.
enum { STL_HEADER = 84, STL_TRIANGLE = 50 };

static vy_status read_binary_stl(reader *r)
{
    const unsigned char *base = r->at;
    r->line = 0;
    const uint32_t triangles = u32_at(base + 80);
    VY_ASSERT((uint64_t)(r->end - base) >= STL_HEADER + (uint64_t)STL_TRIANGLE * triangles);
    const unsigned char *triangle = base + STL_HEADER;
    for (uint32_t t = 0; t < triangles; ++t, triangle += STL_TRIANGLE) {
        for (int corner = 0; corner < 3; ++corner) {
            const unsigned char *bytes = triangle + 12 + 12 * corner;
            double raw[3];
            for (int k = 0; k < 3; ++k) {
                const uint32_t word_bits = u32_at(bytes + 4 * k);
                float value;
                memcpy(&value, &word_bits, sizeof value);
                raw[k] = (double)value;
                if (!real_is_finite(raw[k])) {
                    return parse_error(r, VY_HULL_NOT_FINITE,
                                       "triangle %lu, byte %zu: %c is not a finite number", (unsigned long)t,
                                       (size_t)(bytes - base) + 4 * (size_t)k, "xyz"[k]);
                }
            }
            vy_vec3 p;
            vy_status status = scaled_point(r, raw, &p);
            if (status == VY_OK) status = add_point(r, p);
            if (status != VY_OK) return status;
        }
    }
    return VY_OK;
}

/// Words of an ASCII STL file may stand on any line: skip to the next one. Its length is 0 at the end.
static word next_word_anywhere(reader *r)
{
    word w = next_word(r);
    while (w.length == 0 && next_line(r)) w = next_word(r);
    return w;
}

static vy_status expect(reader *r, const char *first, const char *second)
{
    const char *const expected[2] = {first, second};
    char text[24];
    for (int k = 0; k < 2 && expected[k] != NULL; ++k) {
        const word w = next_word_anywhere(r);
        if (!word_is(w, expected[k])) {
            return parse_error(r, VY_BAD_SYNTAX, "expected '%s', found '%s'", expected[k],
                               w.length == 0 ? "the end of the file" : printable(w, text));
        }
    }
    return VY_OK;
}

/// After the word "facet": its normal, which is not used and often wrong, and its corners.
static vy_status read_ascii_facet(reader *r)
{
    vy_status status = expect(r, "normal", NULL);
    if (status != VY_OK) return status;
    char text[24];
    for (int k = 0; k < 3; ++k) {
        const word w = next_word(r);
        double unused;
        if (!is_not_finite_word(w) && !parse_number(w, &unused)) {
            return parse_error(r, VY_BAD_SYNTAX, "expected a number of the normal, found '%s'",
                               printable(w, text));
        }
    }
    status = expect(r, "outer", "loop");
    for (int corner = 0; corner < 3 && status == VY_OK; ++corner) {
        vy_vec3 p;
        status = expect(r, "vertex", NULL);
        if (status == VY_OK) status = read_coordinates(r, &p);
        if (status == VY_OK) status = add_point(r, p);
    }
    if (status == VY_OK) status = expect(r, "endloop", "endfacet");
    return status;
}

static vy_status read_ascii_stl(reader *r)
{
    char text[24];
    word w = next_word_anywhere(r);
    while (w.length > 0) {
        if (!word_is(w, "solid"))
            return parse_error(r, VY_BAD_SYNTAX, "expected 'solid', found '%s'", printable(w, text));
        next_line(r); // the rest of the line is the solid's name
        for (w = next_word_anywhere(r); word_is(w, "facet"); w = next_word_anywhere(r)) {
            const vy_status status = read_ascii_facet(r);
            if (status != VY_OK) return status;
        }
        if (!word_is(w, "endsolid")) {
            return parse_error(r, VY_BAD_SYNTAX, "expected 'facet' or 'endsolid', found '%s'",
                               w.length == 0 ? "the end of the file" : printable(w, text));
        }
        next_line(r);
        w = next_word_anywhere(r);
    }
    return VY_OK;
}

// ---- OBJ ----

typedef struct obj_vertices {
    vy_vec3 *points;
    unsigned char *is_used; // [count] by a face
    int count, capacity;
    int any_is_used; // 1: the file has faces
} obj_vertices;

static vy_status add_obj_vertex(reader *r, obj_vertices *v)
{
    vy_vec3 p;
    const vy_status status = read_coordinates(r, &p);
    if (status != VY_OK) return status;
    if (v->count == VY_MESH_POINTS_MAX)
        return parse_error(r, VY_FULL, "more than %d vertices", VY_MESH_POINTS_MAX);
    if (v->count == v->capacity) {
        const int capacity = v->capacity == 0 ? 64 : 2 * v->capacity;
        vy_vec3 *points = realloc(v->points, (size_t)capacity * sizeof *points);
        if (points != NULL) v->points = points;
        unsigned char *is_used = realloc(v->is_used, (size_t)capacity);
        if (is_used != NULL) v->is_used = is_used;
        if (points == NULL || is_used == NULL)
            return parse_error(r, VY_NO_MEMORY, "no memory for %d vertices", capacity);
        v->capacity = capacity;
    }
    v->is_used[v->count] = 0;
    v->points[v->count++] = p;
    return VY_OK;
}

/// One corner of a face: the vertex's number, counted from 1 or back from the last, up to a '/' or the end.
static vy_status use_obj_vertex(reader *r, obj_vertices *v, word w)
{
    VY_ASSERT(w.length > 0);
    char text[24];
    const int is_negative = w.text[0] == '-';
    long number = 0;
    int k = is_negative;
    for (; k < w.length && w.text[k] >= '0' && w.text[k] <= '9'; ++k) {
        number = number > 99999999 ? number : 10 * number + (w.text[k] - '0');
    }
    if (k == is_negative || (k < w.length && w.text[k] != '/')) {
        return parse_error(r, VY_BAD_SYNTAX, "expected a vertex number, found '%s'", printable(w, text));
    }
    const long index = is_negative ? v->count - number : number - 1;
    if (index < 0 || index >= v->count) {
        return parse_error(r, VY_BAD_SYNTAX, "a face names vertex '%s', there are %d so far",
                           printable(w, text), v->count);
    }
    VY_ASSERT(v->count <= v->capacity);
    v->is_used[index] = 1;
    v->any_is_used = 1;
    return VY_OK;
}

static vy_status read_obj_face(reader *r, obj_vertices *v)
{
    int corners = 0;
    for (;;) {
        const word w = next_word(r);
        if (w.length == 0 || w.text[0] == '#') break;
        if (word_is(w, "\\")) { // the line continues
            if (!next_line(r)) break;
            continue;
        }
        const vy_status status = use_obj_vertex(r, v, w);
        if (status != VY_OK) return status;
        corners += 1;
    }
    if (corners >= 3) return VY_OK;
    return parse_error(r, VY_BAD_SYNTAX, "a face needs three vertices, found %d", corners);
}

/// Statements of the format that say nothing about points.
static int is_ignored_statement(word w)
{
    static const char *const ignored[] = {"vt",       "vn",       "vp",         "l",        "p",
                                          "o",        "g",        "s",          "mg",       "usemtl",
                                          "mtllib",   "usemap",   "maplib",     "bevel",    "lod",
                                          "c_interp", "d_interp", "shadow_obj", "trace_obj"};
    for (size_t k = 0; k < sizeof ignored / sizeof ignored[0]; ++k) {
        if (word_is(w, ignored[k])) return 1;
    }
    return w.text[0] == '#';
}

static vy_status read_obj_lines(reader *r, obj_vertices *v)
{
    char text[24];
    do {
        const word w = next_word(r);
        vy_status status = VY_OK;
        if (w.length == 0) continue;
        if (word_is(w, "v")) {
            status = add_obj_vertex(r, v);
        } else if (word_is(w, "f") || word_is(w, "fo")) {
            status = read_obj_face(r, v);
        } else if (!is_ignored_statement(w)) {
            status = parse_error(r, VY_BAD_SYNTAX, "neither STL nor OBJ: unknown statement '%s'",
                                 printable(w, text));
        }
        if (status != VY_OK) return status;
    } while (next_line(r));
    return VY_OK;
}

static vy_status read_obj(reader *r)
{
    obj_vertices v = {0};
    vy_status status = read_obj_lines(r, &v);
    for (int i = 0; i < v.count && status == VY_OK; ++i) {
        if (v.is_used[i] || !v.any_is_used) status = add_point(r, v.points[i]);
    }
    free(v.points);
    free(v.is_used);
    return status;
}

// ---- any of them ----

static vy_status read_by_format(reader *r)
{
    const size_t size = (size_t)(r->end - r->at);
    if (size >= STL_HEADER) {
        // The count must fit the size to the byte; many binary files start with "solid", too.
        const uint64_t expected = STL_HEADER + (uint64_t)STL_TRIANGLE * u32_at(r->at + 80);
        if (expected == size) return read_binary_stl(r);
        if (memchr(r->at, '\0', STL_HEADER) != NULL) {
            r->line = 0;
            return parse_error(r, VY_DAMAGED,
                               "a binary STL file of %lu triangles has %llu bytes, this has %zu",
                               (unsigned long)u32_at(r->at + 80), (unsigned long long)expected, size);
        }
    }
    reader lookahead = *r;
    if (word_is(next_word_anywhere(&lookahead), "solid")) return read_ascii_stl(r);
    return read_obj(r);
}

vy_status vy_mesh_read(const void *data, size_t size, double scale, const char *name, vy_mesh_points *out,
                       vy_error *err)
{
    FPU_SCOPE;
    static const unsigned char empty_file[1] = {0};
    const unsigned char *bytes = data != NULL ? data : empty_file;
    reader r = {.at = bytes, .end = bytes + size, .line = 1, .scale = scale, .name = name, .err = err};
    *out = (vy_mesh_points){0};
    if (!(real_is_finite(scale) && scale > 0.0)) {
        return vy_fail(err, VY_BAD_VALUE, "mesh: scale must be > 0 m per unit, got %g", scale);
    }
    if (data == NULL || size == 0) return parse_error(&r, VY_HULL_EMPTY, "the file is empty");
    if (size > VY_MESH_BYTES_MAX) {
        return parse_error(&r, VY_FULL, "%zu bytes, the limit is %zu", size, VY_MESH_BYTES_MAX);
    }
    vy_status status = read_by_format(&r);
    if (status == VY_OK && r.count == 0) {
        r.line = 0;
        status = parse_error(&r, VY_HULL_EMPTY, "the file has no vertices");
    }
    free(r.table);
    if (status != VY_OK) {
        free(r.points);
        return status;
    }
    *out = (vy_mesh_points){r.points, r.count};
    return VY_OK;
}

void vy_mesh_points_free(vy_mesh_points *points)
{
    free(points->points);
    *points = (vy_mesh_points){0};
}

vy_status vy_hull_from_file(const char *path, double scale, double tolerance, vy_hull **out, vy_error *err)
{
    FPU_SCOPE;
    *out = NULL;
    char *data = NULL;
    size_t size = 0;
    vy_mesh_points points = {0};
    vy_status status = vy_read_file_or_fail(path, VY_MESH_BYTES_MAX, &data, &size, err);
    if (status == VY_OK) status = vy_mesh_read(data, size, scale, path, &points, err);
    free(data);
    if (status == VY_OK) status = vy_hull_create(points.points, points.count, tolerance, out, err);
    vy_mesh_points_free(&points);
    if (status != VY_OK && err != NULL) snprintf(err->file, sizeof err->file, "%s", path);
    return status;
}
