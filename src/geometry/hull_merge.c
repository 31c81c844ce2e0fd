// hull_merge.c - face loops: closed? one face per plane, corners only, canonical order.
#include "base/fail.h"
#include "geometry/accurate.h"
#include "geometry/hull_parts.h"
#include <stdlib.h>

void vy_sort_indices(int *index, int count, int *scratch, vy_before before, const void *context)
{
    for (int width = 1; width < count; width *= 2) {
        for (int start = 0; start < count; start += 2 * width) {
            const int middle = start + width < count ? start + width : count;
            const int end = middle + width < count ? middle + width : count;
            int left = start, right = middle;
            for (int k = start; k < end; ++k) {
                const int take_right =
                    left == middle || (right < end && before(context, index[right], index[left]));
                scratch[k] = take_right ? index[right++] : index[left++];
            }
        }
        memcpy(index, scratch, (size_t)count * sizeof *index);
    }
}

vy_status vy_loops_alloc(int face_count, int half_count, vy_loops *loops, vy_error *err)
{
    *loops = (vy_loops){.face_count = face_count, .half_count = half_count};
    loops->first = malloc(((size_t)face_count + 1) * sizeof *loops->first);
    loops->vertex = malloc(((size_t)half_count + 1) * sizeof *loops->vertex);
    if (loops->first == NULL || loops->vertex == NULL) {
        vy_loops_free(loops);
        return vy_fail(err, VY_NO_MEMORY, "hull: no memory for %d faces", face_count);
    }
    return VY_OK;
}

void vy_loops_free(vy_loops *loops)
{
    free(loops->first);
    free(loops->vertex);
    *loops = (vy_loops){0};
}

static int loop_before(const void *context, int a, int b)
{
    const vy_loops *loops = context;
    const int *la = loops->vertex + loops->first[a], *lb = loops->vertex + loops->first[b];
    const int na = loops->first[a + 1] - loops->first[a], nb = loops->first[b + 1] - loops->first[b];
    for (int k = 0; k < na && k < nb; ++k) {
        if (la[k] != lb[k]) return la[k] < lb[k];
    }
    return na < nb;
}

void vy_loops_canonical(vy_loops *loops, int *scratch)
{
    int *order = scratch, *merge = scratch + loops->face_count, *copy = merge + loops->face_count;
    for (int f = 0; f < loops->face_count; ++f) {
        int *loop = loops->vertex + loops->first[f];
        const int count = loops->first[f + 1] - loops->first[f];
        int low = 0;
        for (int k = 1; k < count; ++k) low = loop[k] < loop[low] ? k : low;
        for (int k = 0; k < count; ++k) copy[k] = loop[(k + low) % count];
        memcpy(loop, copy, (size_t)count * sizeof *loop);
        order[f] = f;
    }
    vy_sort_indices(order, loops->face_count, merge, loop_before, loops);

    int used = 0;
    for (int f = 0; f < loops->face_count; ++f) {
        const int from = loops->first[order[f]], count = loops->first[order[f] + 1] - from;
        memcpy(copy + used, loops->vertex + from, (size_t)count * sizeof *copy);
        merge[f] = count;
        used += count;
    }
    memcpy(loops->vertex, copy, (size_t)used * sizeof *copy);
    for (int f = 0; f < loops->face_count; ++f) loops->first[f + 1] = loops->first[f] + merge[f];
}

// Directed edges for sorting: by the unordered pair of ends, then by the start.
typedef struct directed_edges {
    const int *start;
    int *end;
} directed_edges;

static int edge_before(const void *context, int a, int b)
{
    const directed_edges *e = context;
    const int a_low = e->start[a] < e->end[a] ? e->start[a] : e->end[a];
    const int b_low = e->start[b] < e->end[b] ? e->start[b] : e->end[b];
    if (a_low != b_low) return a_low < b_low;
    const int a_high = e->start[a] ^ e->end[a] ^ a_low, b_high = e->start[b] ^ e->end[b] ^ b_low;
    if (a_high != b_high) return a_high < b_high;
    return e->start[a] < e->start[b];
}

vy_status vy_loops_twins(const vy_loops *loops, int *twin, int *scratch, vy_error *err)
{
    const int count = loops->half_count;
    int *order = scratch, *end = scratch + count;
    for (int f = 0; f < loops->face_count; ++f) {
        for (int h = loops->first[f]; h < loops->first[f + 1]; ++h) {
            end[h] = loops->vertex[h + 1 < loops->first[f + 1] ? h + 1 : loops->first[f]];
            order[h] = h;
        }
    }
    const directed_edges edges = {loops->vertex, end};
    vy_sort_indices(order, count, twin, edge_before, &edges); // twin serves as the sort's scratch

    for (int k = 0; k < count; k += 2) {
        const int a = order[k], b = k + 1 < count ? order[k + 1] : a;
        const int matched = loops->vertex[a] == end[b] && loops->vertex[b] == end[a] && a != b;
        const int third =
            k + 2 < count && loops->vertex[order[k + 2]] == loops->vertex[a] && end[order[k + 2]] == end[a];
        if (!matched || third || loops->vertex[a] == end[a]) {
            return vy_fail(err, VY_BAD_HULL, "hull: the edge from vertex %d to %d is not shared by two faces",
                           loops->vertex[a], end[a]);
        }
    }
    for (int k = 0; k < count; k += 2) {
        twin[order[k]] = order[k + 1];
        twin[order[k + 1]] = order[k];
    }
    return VY_OK;
}

vy_vec3 vy_loop_area_vector(const vy_vec3 *points, const int *loop, int count)
{
    vy_vec3 sum = vec3_zero();
    const vy_vec3 a = points[loop[0]];
    vy_vec3 previous = vec3_sub(points[loop[1]], a);
    for (int k = 2; k < count; ++k) {
        const vy_vec3 d = vec3_sub(points[loop[k]], a);
        sum = vec3_add(sum, vec3_cross_accurate(previous, d));
        previous = d;
    }
    return sum;
}

// ---- one face per plane ----

typedef struct merge_work {
    const vy_vec3 *points;
    vy_loops *loops;
    double length;    // [m] zero's size
    int *twin;        // [half]
    int *next, *prev; // [half] within a face; after merging, within a merged face
    int *face;        // [half]
    int *kept;        // [half] still an edge after merging
    int *group;       // [face] the merged face, named by its largest member; -1 while open
    int *order;       // [face] by area, largest first
    int *stack;       // [face]
    double *area;     // [face]
    int *out;         // [point] a kept half-edge from it, -1 for none
    int *degree;      // [point] how many kept half-edges start here
    int *scratch;     // [2 face + 2 half]
} merge_work;

static vy_status take_work(merge_work *w, int point_count, void **block, vy_error *err)
{
    const size_t faces = (size_t)w->loops->face_count, halves = (size_t)w->loops->half_count;
    const size_t points = (size_t)point_count;
    const size_t ints = 5 * halves + 3 * faces + 2 * points + 2 * (faces + halves);
    const size_t bytes = ints * sizeof(int) + faces * sizeof(double) + 16 * 64;
    vy_arena arena = {aligned_alloc(64, (bytes + 63u) & ~(size_t)63u), bytes, 0, 0};
    if (arena.base == NULL) return vy_fail(err, VY_NO_MEMORY, "hull: no memory for %zu faces", faces);
    w->twin = vy_arena_take(&arena, halves * sizeof(int));
    w->next = vy_arena_take(&arena, halves * sizeof(int));
    w->prev = vy_arena_take(&arena, halves * sizeof(int));
    w->face = vy_arena_take(&arena, halves * sizeof(int));
    w->kept = vy_arena_take(&arena, halves * sizeof(int));
    w->group = vy_arena_take(&arena, faces * sizeof(int));
    w->order = vy_arena_take(&arena, faces * sizeof(int));
    w->stack = vy_arena_take(&arena, faces * sizeof(int));
    w->area = vy_arena_take(&arena, faces * sizeof(double));
    w->out = vy_arena_take(&arena, points * sizeof(int));
    w->degree = vy_arena_take(&arena, points * sizeof(int));
    w->scratch = vy_arena_take(&arena, 2 * (faces + halves) * sizeof(int));
    *block = arena.base;
    return VY_OK;
}

static void link_faces(merge_work *w)
{
    const vy_loops *loops = w->loops;
    for (int f = 0; f < loops->face_count; ++f) {
        const int first = loops->first[f], last = loops->first[f + 1] - 1;
        for (int h = first; h <= last; ++h) {
            w->next[h] = h == last ? first : h + 1;
            w->prev[h] = h == first ? last : h - 1;
            w->face[h] = f;
        }
        w->area[f] =
            0.5 * vec3_length(vy_loop_area_vector(w->points, loops->vertex + first, last - first + 1));
        w->group[f] = -1;
        w->order[f] = f;
    }
}

static int larger_before(const void *context, int a, int b)
{
    const double *area = context;
    return area[a] > area[b];
}

/// Whether face f lies in the plane through `origin` and looks the same way.
static int lies_in(const merge_work *w, int f, vy_vec3 origin, vy_vec3 normal)
{
    const int first = w->loops->first[f], count = w->loops->first[f + 1] - first;
    for (int k = 0; k < count; ++k) {
        const vy_vec3 p = w->points[w->loops->vertex[first + k]];
        if (real_abs(vec3_dot(normal, vec3_sub(p, origin))) > w->length) return 0;
    }
    // The normal of a sliver is noise: it goes with whichever plane it lies in.
    const vy_vec3 own = vy_loop_area_vector(w->points, w->loops->vertex + first, count);
    return vec3_dot(own, normal) >= 0.0 || w->area[f] <= w->length * w->length;
}

// Every member is measured against the largest face's plane, never against its neighbour's: flatness cannot
// drift around a curve of many small facets.
static void group_faces(merge_work *w)
{
    vy_sort_indices(w->order, w->loops->face_count, w->scratch, larger_before, w->area);
    for (int k = 0; k < w->loops->face_count; ++k) {
        const int seed = w->order[k];
        if (w->group[seed] >= 0) continue;
        w->group[seed] = seed;
        const int first = w->loops->first[seed];
        vy_vec3 normal =
            vy_loop_area_vector(w->points, w->loops->vertex + first, w->loops->first[seed + 1] - first);
        const double twice = vec3_length(normal);
        if (!(twice > 0.0)) continue; // no plane of its own: refused later, if it is still there
        normal = vec3_scale(1.0 / twice, normal);
        const vy_vec3 origin = w->points[w->loops->vertex[first]];

        int top = 0;
        w->stack[top++] = seed;
        while (top > 0) {
            const int f = w->stack[--top];
            for (int h = w->loops->first[f]; h < w->loops->first[f + 1]; ++h) {
                const int g = w->face[w->twin[h]];
                if (w->group[g] < 0 && lies_in(w, g, origin, normal)) {
                    w->group[g] = seed;
                    w->stack[top++] = g;
                }
            }
        }
    }
}

// Keep the half-edges between different groups, and link them around each group's border.
static void join_borders(merge_work *w, int point_count)
{
    const int halves = w->loops->half_count;
    for (int v = 0; v < point_count; ++v) {
        w->out[v] = -1;
        w->degree[v] = 0;
    }
    for (int h = 0; h < halves; ++h) {
        w->kept[h] = w->group[w->face[h]] != w->group[w->face[w->twin[h]]];
        if (!w->kept[h]) continue;
        w->out[w->loops->vertex[h]] = h;
        w->degree[w->loops->vertex[h]] += 1;
    }
    int *border = w->scratch; // the links of the faces are needed until all are found
    for (int h = 0; h < halves; ++h) {
        if (!w->kept[h]) continue;
        int n = w->next[h];
        while (!w->kept[n]) n = w->next[w->twin[n]];
        border[h] = n;
    }
    for (int h = 0; h < halves; ++h) {
        if (!w->kept[h]) continue;
        w->next[h] = border[h];
        w->prev[border[h]] = h;
    }
}

static double distance_to_segment(vy_vec3 p, vy_vec3 a, vy_vec3 b)
{
    const vy_vec3 ab = vec3_sub(b, a), ap = vec3_sub(p, a);
    const double squared = vec3_dot(ab, ab);
    const double t = squared > 0.0 ? real_clamp(vec3_dot(ap, ab) / squared, 0.0, 1.0) : 0.0;
    return vec3_length(vec3_add_scaled(ap, -t, ab));
}

static int in_triangle(const merge_work *w, int h) { return w->next[w->next[w->next[h]]] == h; }

// A vertex between two faces only, on the straight line between its neighbours, is no corner.
static void drop_vertices_on_edges(merge_work *w, int point_count)
{
    for (int v = 0; v < point_count; ++v) {
        if (w->degree[v] != 2) continue;
        const int to_b = w->out[v], from_a = w->prev[to_b];
        const int to_a = w->twin[from_a], from_b = w->twin[to_b];
        const int a = w->loops->vertex[from_a], b = w->loops->vertex[from_b];
        if (w->prev[to_a] != from_b || in_triangle(w, to_b) || in_triangle(w, to_a)) continue;
        if (distance_to_segment(w->points[v], w->points[a], w->points[b]) > w->length) continue;
        w->kept[to_a] = w->kept[to_b] = 0;
        w->next[from_a] = w->next[to_b];
        w->prev[w->next[to_b]] = from_a;
        w->next[from_b] = w->next[to_a];
        w->prev[w->next[to_a]] = from_b;
        w->twin[from_a] = from_b;
        w->twin[from_b] = from_a;
        w->degree[v] = 0;
    }
}

// Write the merged loops over the old ones: no more of them than before, none longer than the space before
// it.
static vy_status collect_loops(merge_work *w, int point_count, vy_error *err)
{
    vy_loops *loops = w->loops;
    int *start = w->scratch, *vertex = w->scratch + loops->half_count;
    int *seen = w->degree; // the last face that used the vertex
    for (int v = 0; v < point_count; ++v) seen[v] = -1;
    for (int f = 0; f < loops->face_count; ++f) w->stack[f] = 0; // loops of each group

    int faces = 0, used = 0;
    for (int h = 0; h < loops->half_count; ++h) {
        if (!w->kept[h]) continue;
        if (++w->stack[w->group[w->face[h]]] > 1) {
            return vy_fail(err, VY_BAD_HULL, "hull: a face near vertex %d has a hole", loops->vertex[h]);
        }
        start[faces] = used;
        int e = h;
        do {
            const int v = loops->vertex[e];
            if (seen[v] == faces)
                return vy_fail(err, VY_BAD_HULL, "hull: a face meets itself at vertex %d", v);
            seen[v] = faces;
            vertex[used++] = v;
            w->kept[e] = 0;
            e = w->next[e];
        } while (e != h);
        if (used - start[faces] < 3) {
            return vy_fail(err, VY_BAD_HULL, "hull: the face at vertex %d has no area", loops->vertex[h]);
        }
        faces += 1;
    }
    memcpy(loops->first, start, (size_t)faces * sizeof *start);
    memcpy(loops->vertex, vertex, (size_t)used * sizeof *vertex);
    loops->first[faces] = used;
    loops->face_count = faces;
    loops->half_count = used;
    return VY_OK;
}

vy_status vy_loops_merge(const vy_vec3 *points, int point_count, double length, vy_loops *loops,
                         vy_error *err)
{
    merge_work w = {.points = points, .loops = loops, .length = length};
    void *block = NULL;
    vy_status status = take_work(&w, point_count, &block, err);
    if (status != VY_OK) return status;

    vy_loops_canonical(loops, w.scratch); // so that faces of equal area meet in an order of ours
    status = vy_loops_twins(loops, w.twin, w.scratch, err);
    if (status == VY_OK) {
        link_faces(&w);
        group_faces(&w);
        join_borders(&w, point_count);
        drop_vertices_on_edges(&w, point_count);
        status = collect_loops(&w, point_count, err);
    }
    if (status == VY_OK) vy_loops_canonical(loops, w.scratch);
    free(block);
    return status;
}
