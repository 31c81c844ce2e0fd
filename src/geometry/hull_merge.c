// hull_merge.c - merge coplanar faces, drop vertices on edges, bring face loops to canonical order.
#include "base/assert.h"
#include "base/fail.h"
#include "geometry/compensated.h"
#include "geometry/hull_internal.h"
#include "geometry/support.h"
#include <stdlib.h>

void vy_sort_indices(int *index, int count, int *scratch, vy_less_fn before, const void *context)
{
    VY_ASSERT(count >= 0 && index != scratch);
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

vy_status vy_loops_alloc(int face_count, int half_edge_count, vy_loops *loops, vy_error *err)
{
    VY_ASSERT(face_count >= 0 && half_edge_count >= 3 * face_count);
    *loops = (vy_loops){.face_count = face_count, .half_edge_count = half_edge_count};
    loops->first = malloc(((size_t)face_count + 1) * sizeof *loops->first);
    loops->vertex = malloc(((size_t)half_edge_count + 1) * sizeof *loops->vertex);
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

static int loop_less(const void *context, int a, int b)
{
    const vy_loops *loops = context;
    const int *loop_a = loops->vertex + loops->first[a], *loop_b = loops->vertex + loops->first[b];
    const int count_a = loops->first[a + 1] - loops->first[a],
              count_b = loops->first[b + 1] - loops->first[b];
    for (int k = 0; k < count_a && k < count_b; ++k) {
        if (loop_a[k] != loop_b[k]) return loop_a[k] < loop_b[k];
    }
    return count_a < count_b;
}

void vy_loops_canonical(vy_loops *loops, int *scratch)
{
    int *order = scratch, *counts = scratch + loops->face_count, *copy = counts + loops->face_count;
    for (int f = 0; f < loops->face_count; ++f) {
        int *loop = loops->vertex + loops->first[f];
        const int count = loops->first[f + 1] - loops->first[f];
        VY_ASSERT(count >= 3);
        int smallest = 0;
        for (int k = 1; k < count; ++k) smallest = loop[k] < loop[smallest] ? k : smallest;
        for (int k = 0; k < count; ++k) copy[k] = loop[(k + smallest) % count];
        memcpy(loop, copy, (size_t)count * sizeof *loop);
        order[f] = f;
    }
    vy_sort_indices(order, loops->face_count, counts, loop_less, loops);

    int copied = 0;
    for (int f = 0; f < loops->face_count; ++f) {
        const int from = loops->first[order[f]], count = loops->first[order[f] + 1] - from;
        memcpy(copy + copied, loops->vertex + from, (size_t)count * sizeof *copy);
        counts[f] = count;
        copied += count;
    }
    VY_ASSERT(copied == loops->half_edge_count);
    memcpy(loops->vertex, copy, (size_t)copied * sizeof *copy);
    for (int f = 0; f < loops->face_count; ++f) loops->first[f + 1] = loops->first[f] + counts[f];
}

// Directed edges for sorting: by the unordered pair of ends, then by the start.
typedef struct directed_edges {
    const int *start;
    int *end;
} directed_edges;

static int edge_less(const void *context, int a, int b)
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
    VY_ASSERT(twin != scratch && loops->half_edge_count >= 0);
    const int count = loops->half_edge_count;
    int *order = scratch, *end = scratch + count;
    for (int f = 0; f < loops->face_count; ++f) {
        for (int h = loops->first[f]; h < loops->first[f + 1]; ++h) {
            end[h] = loops->vertex[h + 1 < loops->first[f + 1] ? h + 1 : loops->first[f]];
            order[h] = h;
        }
    }
    const directed_edges edges = {loops->vertex, end};
    vy_sort_indices(order, count, twin, edge_less, &edges); // twin serves as the sort's scratch

    for (int k = 0; k < count; k += 2) {
        const int a = order[k], b = k + 1 < count ? order[k + 1] : a;
        const int is_matched = loops->vertex[a] == end[b] && loops->vertex[b] == end[a] && a != b;
        const int has_third =
            k + 2 < count && loops->vertex[order[k + 2]] == loops->vertex[a] && end[order[k + 2]] == end[a];
        if (!is_matched || has_third || loops->vertex[a] == end[a]) {
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

static vy_vec3 area_vector_of_needle(const vy_vec3 *points, const int *loop, int count)
{
    real_dd sum[3] = {{0}}, previous[3], d[3];
    for (int k = 1; k < count; ++k) {
        const vy_vec3 a = points[loop[0]], p = points[loop[k]];
        d[0] = real_dd_two_diff(p.x, a.x);
        d[1] = real_dd_two_diff(p.y, a.y);
        d[2] = real_dd_two_diff(p.z, a.z);
        for (int i = 0; k > 1 && i < 3; ++i) { // sum + previous x d = sum - d x previous
            const int u = (i + 1) % 3, v = (i + 2) % 3;
            sum[i] = real_dd_sub(sum[i],
                                 real_dd_sub(real_dd_mul(d[u], previous[v]), real_dd_mul(d[v], previous[u])));
        }
        memcpy(previous, d, sizeof d);
    }
    return vec3_make(sum[0].high, sum[1].high, sum[2].high);
}

// Narrower than this part of its length, a loop's normal suffers from the rounding of the differences, too.
#define NEEDLE_RATIO 1e-3

vy_vec3 vy_loop_area_vector(const vy_vec3 *points, const int *loop, int count)
{
    VY_ASSERT(count >= 3);
    vy_vec3 sum = vec3_zero();
    const vy_vec3 a = points[loop[0]];
    vy_vec3 previous = vec3_sub(points[loop[1]], a);
    double longest2 = vec3_dot(previous, previous);
    for (int k = 2; k < count; ++k) {
        const vy_vec3 d = vec3_sub(points[loop[k]], a);
        sum = vec3_add(sum, vec3_cross_accurate(previous, d));
        longest2 = real_max(longest2, vec3_dot(d, d));
        previous = d;
    }
    if (vec3_length(sum) >= NEEDLE_RATIO * longest2) return sum;
    return area_vector_of_needle(points, loop, count);
}

/// Whether every turn is to the left and the loop winds about once: then it is convex.
static int turns_left_once(const vy_vec3 *points, const int *loop, int count, vy_vec3 normal)
{
    vy_vec3 previous = vec3_sub(points[loop[0]], points[loop[count - 1]]);
    const vy_vec3 axis = previous; // a convex loop runs along it and against it once each
    int is_along = 1, sign_changes = 0;
    for (int k = 0; k < count; ++k) {
        const vy_vec3 side = vec3_sub(points[loop[k + 1 < count ? k + 1 : 0]], points[loop[k]]);
        if (!(vec3_dot(normal, vec3_cross(previous, side)) > 0.0)) return 0;
        const int is_along_now = vec3_dot(axis, side) > 0.0;
        sign_changes += is_along_now != is_along;
        is_along = is_along_now;
        previous = side;
    }
    return sign_changes == 2;
}

int vy_loop_is_convex(const vy_vec3 *points, const int *loop, int count, vy_vec3 normal, double tolerance)
{
    VY_ASSERT(count >= 3 && vec3_is_unit(normal) && tolerance >= 0.0);
    if (turns_left_once(points, loop, count, normal)) return 1;
    for (int k = 0; k < count; ++k) {
        const vy_vec3 a = points[loop[k]];
        const vy_vec3 side = vec3_sub(points[loop[k + 1 < count ? k + 1 : 0]], a);
        const double length = vec3_length(side);
        if (!(length > 0.0)) return 0;
        const vy_vec3 outward = vec3_scale(1.0 / length, vec3_cross(side, normal));
        for (int j = 0; j < count; ++j) {
            if (!(vec3_dot(outward, vec3_sub(points[loop[j]], a)) <= tolerance)) return 0;
        }
    }
    return 1;
}

// ---- one face per plane ----

typedef struct merge_work {
    const vy_vec3 *points;
    vy_loops *loops;
    double epsilon;     // [m] distances up to this count as zero
    int point_count;    // of `points`
    int used_count;     // of those in loops, rounded up to a multiple of 8
    int *original_twin; // [half] before merging
    int *twin;          // [half]
    int *next, *prev;   // [half] within a face; after merging, within a merged face
    int *face;          // [half]
    int *is_kept;       // [half] still an edge after merging
    int *group;         // [face] the merged face, named by its largest member; -1 while open
    int *members;       // [face] how many faces are in the group of this name
    int *order;         // [face] by area, largest first
    int *stack;         // [face]
    double *area;       // [face]
    double *
        plane_tolerance; // [face] [m] how far off a plane it may be and still be merged; negative: not at all
    double *used_coordinates[3]; // [used_count] [m] x, y, z of the points in loops, relative to points[0]
    int *outgoing;               // [point] a kept half-edge from it, -1 for none
    int *degree;                 // [point] how many kept half-edges start here
    int *is_corner;              // [point] not to be dropped from an edge
    int *scratch;                // [2 face + 2 half]
} merge_work;

static vy_status allocate_work(merge_work *w, void **block, vy_error *err)
{
    const size_t faces = (size_t)w->loops->face_count, halves = (size_t)w->loops->half_edge_count;
    const size_t points = (size_t)w->point_count, padded = points + 8;
    const size_t ints = 6 * halves + 4 * faces + 3 * points + 2 * (faces + halves);
    const size_t bytes = ints * sizeof(int) + (2 * faces + 3 * padded) * sizeof(double) + 24 * 64;
    vy_arena arena = {aligned_alloc(64, (bytes + 63u) & ~(size_t)63u), bytes, 0};
    if (arena.base == NULL) return vy_fail(err, VY_NO_MEMORY, "hull: no memory for %zu faces", faces);
    w->original_twin = vy_arena_alloc(&arena, halves * sizeof(int));
    w->twin = vy_arena_alloc(&arena, halves * sizeof(int));
    w->next = vy_arena_alloc(&arena, halves * sizeof(int));
    w->prev = vy_arena_alloc(&arena, halves * sizeof(int));
    w->face = vy_arena_alloc(&arena, halves * sizeof(int));
    w->is_kept = vy_arena_alloc(&arena, halves * sizeof(int));
    w->group = vy_arena_alloc(&arena, faces * sizeof(int));
    w->members = vy_arena_alloc(&arena, faces * sizeof(int));
    w->order = vy_arena_alloc(&arena, faces * sizeof(int));
    w->stack = vy_arena_alloc(&arena, faces * sizeof(int));
    w->area = vy_arena_alloc(&arena, faces * sizeof(double));
    w->plane_tolerance = vy_arena_alloc(&arena, faces * sizeof(double));
    for (int k = 0; k < 3; ++k) w->used_coordinates[k] = vy_arena_alloc(&arena, padded * sizeof(double));
    w->outgoing = vy_arena_alloc(&arena, points * sizeof(int));
    w->degree = vy_arena_alloc(&arena, points * sizeof(int));
    w->is_corner = vy_arena_alloc(&arena, points * sizeof(int));
    w->scratch = vy_arena_alloc(&arena, 2 * (faces + halves) * sizeof(int));
    VY_ASSERT(w->scratch != NULL);
    *block = arena.base;
    return VY_OK;
}

static int area_greater(const void *context, int a, int b)
{
    const double *area = context;
    return area[a] > area[b];
}

static void measure_faces(merge_work *w)
{
    const vy_loops *loops = w->loops;
    for (int f = 0; f < loops->face_count; ++f) {
        const int first = loops->first[f], count = loops->first[f + 1] - first;
        w->area[f] = 0.5 * vec3_length(vy_loop_area_vector(w->points, loops->vertex + first, count));
        w->plane_tolerance[f] = w->epsilon;
        w->order[f] = f;
    }
    vy_sort_indices(w->order, loops->face_count, w->scratch, area_greater, w->area);
}

// The points in loops side by side, for vector units; the tail repeats the last.
static void list_used_points(merge_work *w)
{
    int count = 0;
    int *in_loop = w->degree;
    for (int v = 0; v < w->point_count; ++v) in_loop[v] = w->is_corner[v] = 0;
    for (int h = 0; h < w->loops->half_edge_count; ++h) in_loop[w->loops->vertex[h]] = 1;
    for (int v = 0; v < w->point_count; ++v) {
        if (!in_loop[v]) continue;
        const vy_vec3 p = vec3_sub(w->points[v], w->points[0]);
        w->used_coordinates[0][count] = p.x;
        w->used_coordinates[1][count] = p.y;
        w->used_coordinates[2][count++] = p.z;
    }
    for (; count % 8 != 0; ++count) {
        for (int k = 0; k < 3; ++k) w->used_coordinates[k][count] = w->used_coordinates[k][count - 1];
    }
    VY_ASSERT(count >= 8 && count <= w->point_count + 7);
    w->used_count = count;
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
        w->group[f] = -1;
        w->members[f] = 0;
    }
    memcpy(w->twin, w->original_twin, (size_t)loops->half_edge_count * sizeof *w->twin);
}

/// Whether face f lies within `plane_tolerance` of the plane through `origin` and faces the same way.
static int is_coplanar(const merge_work *w, int f, vy_vec3 origin, vy_vec3 normal, double plane_tolerance)
{
    const int first = w->loops->first[f], count = w->loops->first[f + 1] - first;
    for (int k = 0; k < count; ++k) {
        const vy_vec3 p = w->points[w->loops->vertex[first + k]];
        if (real_abs(vec3_dot(normal, vec3_sub(p, origin))) > plane_tolerance) return 0;
    }
    // The normal of a sliver is noise: it is merged into any plane it lies in.
    const vy_vec3 own_area_vector = vy_loop_area_vector(w->points, w->loops->vertex + first, count);
    return vec3_dot(own_area_vector, normal) >= 0.0 || w->area[f] <= w->epsilon * w->epsilon;
}

// Every member is measured against the largest face's plane, never against its neighbour's: flatness cannot
// drift around a curve of many small facets.
static void gather_group(merge_work *w, int seed)
{
    VY_ASSERT(w->group[seed] < 0);
    w->group[seed] = seed;
    w->members[seed] = 1;
    const int first = w->loops->first[seed];
    const vy_vec3 area_vector =
        vy_loop_area_vector(w->points, w->loops->vertex + first, w->loops->first[seed + 1] - first);
    const double length = vec3_length(area_vector);
    if (!(length > 0.0)) return; // no plane of its own: refused later, if it is still there
    const vy_vec3 normal = vec3_scale(1.0 / length, area_vector);
    const vy_vec3 origin = w->points[w->loops->vertex[first]];

    int top = 0;
    w->stack[top++] = seed;
    while (top > 0) {
        const int f = w->stack[--top];
        for (int h = w->loops->first[f]; h < w->loops->first[f + 1]; ++h) {
            const int g = w->face[w->twin[h]];
            if (w->group[g] >= 0 ||
                !is_coplanar(w, g, origin, normal, real_min(w->plane_tolerance[seed], w->plane_tolerance[g])))
                continue;
            VY_ASSERT(top < w->loops->face_count);
            w->group[g] = seed;
            w->members[seed] += 1;
            w->stack[top++] = g;
        }
    }
}

static void group_faces(merge_work *w)
{
    for (int k = 0; k < w->loops->face_count; ++k) {
        if (w->group[w->order[k]] < 0) gather_group(w, w->order[k]);
    }
}

// Keep the half-edges between different groups, and link them around each group's border.
static void join_borders(merge_work *w)
{
    const int halves = w->loops->half_edge_count;
    for (int v = 0; v < w->point_count; ++v) {
        w->outgoing[v] = -1;
        w->degree[v] = 0;
    }
    for (int h = 0; h < halves; ++h) {
        w->is_kept[h] = w->group[w->face[h]] != w->group[w->face[w->twin[h]]];
        if (!w->is_kept[h]) continue;
        w->outgoing[w->loops->vertex[h]] = h;
        w->degree[w->loops->vertex[h]] += 1;
    }
    int *next_on_border = w->scratch; // the links of the faces are needed until all are found
    for (int h = 0; h < halves; ++h) {
        if (!w->is_kept[h]) continue;
        int next = w->next[h];
        while (!w->is_kept[next]) next = w->next[w->twin[next]];
        next_on_border[h] = next;
    }
    for (int h = 0; h < halves; ++h) {
        if (!w->is_kept[h]) continue;
        w->next[h] = next_on_border[h];
        w->prev[next_on_border[h]] = h;
    }
}

static double distance_to_segment(vy_vec3 p, vy_vec3 a, vy_vec3 b)
{
    const vy_vec3 ab = vec3_sub(b, a), ap = vec3_sub(p, a);
    const double length2 = vec3_dot(ab, ab);
    const double t = length2 > 0.0 ? real_clamp(vec3_dot(ap, ab) / length2, 0.0, 1.0) : 0.0;
    return vec3_length(vec3_add_scaled(ap, -t, ab));
}

static int is_in_triangle(const merge_work *w, int h) { return w->next[w->next[w->next[h]]] == h; }

// A vertex between two faces only, on the straight line between its neighbours, is no corner.
static void drop_vertices_on_edges(merge_work *w)
{
    for (int v = 0; v < w->point_count; ++v) {
        if (w->degree[v] != 2 || w->is_corner[v]) continue;
        const int to_b = w->outgoing[v], from_a = w->prev[to_b];
        const int to_a = w->twin[from_a], from_b = w->twin[to_b];
        const int a = w->loops->vertex[from_a], b = w->loops->vertex[from_b];
        if (w->prev[to_a] != from_b || is_in_triangle(w, to_b) || is_in_triangle(w, to_a)) continue;
        if (distance_to_segment(w->points[v], w->points[a], w->points[b]) > w->epsilon) continue;
        w->is_kept[to_a] = w->is_kept[to_b] = 0;
        w->next[from_a] = w->next[to_b];
        w->prev[w->next[to_b]] = from_a;
        w->next[from_b] = w->next[to_a];
        w->prev[w->next[to_a]] = from_b;
        w->twin[from_a] = from_b;
        w->twin[from_b] = from_a;
        w->degree[v] = 0;
    }
}

/// Whether a merged loop is a face: its corners in one plane, in convex order, and no point beyond that
/// plane.
static int is_face(const merge_work *w, const int *loop, int count)
{
    if (count < 3) return 0;
    vy_vec3 normal = vy_loop_area_vector(w->points, loop, count);
    const double length = vec3_length(normal);
    if (!(length > 0.0)) return 0;
    normal = vec3_scale(1.0 / length, normal);

    double low = DBL_MAX, high = -DBL_MAX;
    for (int k = 0; k < count; ++k) {
        const double height = vec3_dot(normal, vec3_sub(w->points[loop[k]], w->points[0]));
        low = real_min(low, height);
        high = real_max(high, height);
    }
    const int i = vy_support()->extreme(w->used_coordinates[0], w->used_coordinates[1],
                                        w->used_coordinates[2], w->used_count, normal);
    const vy_vec3 top =
        vec3_make(w->used_coordinates[0][i], w->used_coordinates[1][i], w->used_coordinates[2][i]);
    return high - low <= 2.0 * w->epsilon && vec3_dot(normal, top) - high <= w->epsilon &&
           vy_loop_is_convex(w->points, loop, count, normal, w->epsilon);
}

/// Tighten the tolerance of this group's faces so that it is not formed again; in the end they stay single.
/// A single face keeps its corners. Returns whether that changed anything.
static int split_group(merge_work *w, int group)
{
    int changed = 0;
    for (int f = 0; f < w->loops->face_count; ++f) {
        if (w->group[f] != group) continue;
        if (w->members[group] > 1) {
            w->plane_tolerance[f] =
                w->plane_tolerance[f] > 1e-3 * w->epsilon ? 0.125 * w->plane_tolerance[f] : -1.0;
            changed = 1;
            continue;
        }
        for (int h = w->loops->first[f]; h < w->loops->first[f + 1]; ++h) {
            changed |= !w->is_corner[w->loops->vertex[h]];
            w->is_corner[w->loops->vertex[h]] = 1;
        }
    }
    return changed;
}

/// The merged loops; w->stack has the loop of each group. Returns how many groups were split: they have no
/// border, a hole, meet themselves, or make no face.
static int collect_loops(merge_work *w, int *first, int *vertex, int *face_count)
{
    const vy_loops *loops = w->loops;
    int *last_face_at = w->degree; // the last face that used the vertex
    for (int v = 0; v < w->point_count; ++v) last_face_at[v] = -1;
    for (int f = 0; f < loops->face_count; ++f) w->stack[f] = -1;

    int loop_count = 0, vertex_count = 0, split_groups = 0;
    for (int h = 0; h < loops->half_edge_count; ++h) {
        if (!w->is_kept[h]) continue;
        const int group = w->group[w->face[h]];
        int is_simple = w->stack[group] < 0, half_edge = h; // a second loop is a hole
        w->stack[group] = loop_count;
        VY_ASSERT(loop_count < loops->face_count && vertex_count < loops->half_edge_count);
        first[loop_count] = vertex_count;
        do {
            const int v = loops->vertex[half_edge];
            VY_ASSERT(vertex_count < loops->half_edge_count && w->is_kept[half_edge]);
            is_simple &= last_face_at[v] != loop_count;
            last_face_at[v] = loop_count;
            vertex[vertex_count++] = v;
            w->is_kept[half_edge] = 0;
            half_edge = w->next[half_edge];
        } while (half_edge != h);
        const int count = vertex_count - first[loop_count];
        const int is_unmerged =
            w->members[group] == 1 && count == loops->first[group + 1] - loops->first[group];
        if (!is_unmerged && !(is_simple && is_face(w, vertex + first[loop_count], count)))
            split_groups += split_group(w, group);
        loop_count += 1;
    }
    first[loop_count] = vertex_count;
    *face_count = loop_count;
    for (int f = 0; f < loops->face_count; ++f) {
        // A group of all or nearly all faces: top and bottom of a thin plate taken for one face.
        const int has_no_border = w->members[f] > 1 && (loop_count < 4 || w->stack[f] < 0);
        if (has_no_border) split_groups += split_group(w, f);
    }
    return split_groups;
}

static int is_outside_polygon(const merge_work *w, const int *loop, int count, vy_vec3 point)
{
    const vy_vec3 normal = vy_loop_area_vector(w->points, loop, count);
    for (int k = 0; k < count; ++k) {
        const vy_vec3 a = w->points[loop[k]];
        const vy_vec3 outward = vec3_cross(vec3_sub(w->points[loop[k + 1 < count ? k + 1 : 0]], a), normal);
        if (vec3_dot(outward, vec3_sub(point, a)) > w->epsilon * vec3_length(outward)) return 1;
    }
    return 0;
}

/// A vertex that is no corner of any face must lie within each of the faces it was merged into: at the rim of
/// a thin plate it may be near their planes and yet far outside. Returns how many groups were split.
static int check_dropped_vertices(merge_work *w, const int *first, const int *vertex)
{
    const vy_loops *loops = w->loops;
    int split_groups = 0;
    for (int h = 0; h < loops->half_edge_count; ++h) {
        const int v = loops->vertex[h], group = w->group[w->face[h]], f = w->stack[group];
        if (w->degree[v] >= 0) continue; // collect_loops() has seen it
        VY_ASSERT(f >= 0);
        if (is_outside_polygon(w, vertex + first[f], first[f + 1] - first[f], w->points[v])) {
            split_groups += split_group(w, group);
        }
    }
    return split_groups;
}

// Points near the tolerance can make a group that is bent, or has a corner pointing inwards where a neighbour
// was just too far off. Such a group is split, and all are gathered again: in each round the tolerance of
// some face shrinks, so this ends.
static void merge_groups(merge_work *w)
{
    vy_loops *loops = w->loops;
    int *first = w->scratch, *vertex = w->scratch + loops->face_count + 1;
    for (;;) {
        link_faces(w);
        group_faces(w);
        join_borders(w);
        drop_vertices_on_edges(w);
        int loop_count = 0;
        if (collect_loops(w, first, vertex, &loop_count) > 0 || check_dropped_vertices(w, first, vertex) > 0)
            continue;
        memcpy(loops->first, first, ((size_t)loop_count + 1) * sizeof *first);
        memcpy(loops->vertex, vertex, (size_t)first[loop_count] * sizeof *vertex);
        loops->face_count = loop_count;
        loops->half_edge_count = first[loop_count];
        return;
    }
}

vy_status vy_loops_merge(const vy_vec3 *points, int point_count, double epsilon, vy_loops *loops,
                         vy_error *err)
{
    VY_ASSERT(epsilon > 0.0 && point_count >= 4 && loops->face_count > 0);
    merge_work w = {.points = points, .loops = loops, .epsilon = epsilon, .point_count = point_count};
    void *block = NULL;
    vy_status status = allocate_work(&w, &block, err);
    if (status != VY_OK) return status;

    vy_loops_canonical(loops, w.scratch); // so that ties between equal areas do not depend on the input
    status = vy_loops_twins(loops, w.original_twin, w.scratch, err);
    if (status == VY_OK) {
        measure_faces(&w);
        list_used_points(&w);
        merge_groups(&w);
    }
    if (status == VY_OK) vy_loops_canonical(loops, w.scratch);
    free(block);
    return status;
}
