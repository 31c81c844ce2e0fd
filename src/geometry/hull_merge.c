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

static vy_status allocate_work(merge_work *work, void **block, vy_error *err)
{
    const size_t faces = (size_t)work->loops->face_count, halves = (size_t)work->loops->half_edge_count;
    const size_t points = (size_t)work->point_count, padded = points + 8;
    const size_t ints = 6 * halves + 4 * faces + 3 * points + 2 * (faces + halves);
    const size_t bytes = ints * sizeof(int) + (2 * faces + 3 * padded) * sizeof(double) + 24 * 64;
    vy_arena arena = {aligned_alloc(64, (bytes + 63u) & ~(size_t)63u), bytes, 0};
    if (arena.base == NULL) return vy_fail(err, VY_NO_MEMORY, "hull: no memory for %zu faces", faces);
    work->original_twin = vy_arena_alloc(&arena, halves * sizeof(int));
    work->twin = vy_arena_alloc(&arena, halves * sizeof(int));
    work->next = vy_arena_alloc(&arena, halves * sizeof(int));
    work->prev = vy_arena_alloc(&arena, halves * sizeof(int));
    work->face = vy_arena_alloc(&arena, halves * sizeof(int));
    work->is_kept = vy_arena_alloc(&arena, halves * sizeof(int));
    work->group = vy_arena_alloc(&arena, faces * sizeof(int));
    work->members = vy_arena_alloc(&arena, faces * sizeof(int));
    work->order = vy_arena_alloc(&arena, faces * sizeof(int));
    work->stack = vy_arena_alloc(&arena, faces * sizeof(int));
    work->area = vy_arena_alloc(&arena, faces * sizeof(double));
    work->plane_tolerance = vy_arena_alloc(&arena, faces * sizeof(double));
    for (int k = 0; k < 3; ++k) work->used_coordinates[k] = vy_arena_alloc(&arena, padded * sizeof(double));
    work->outgoing = vy_arena_alloc(&arena, points * sizeof(int));
    work->degree = vy_arena_alloc(&arena, points * sizeof(int));
    work->is_corner = vy_arena_alloc(&arena, points * sizeof(int));
    work->scratch = vy_arena_alloc(&arena, 2 * (faces + halves) * sizeof(int));
    VY_ASSERT(work->scratch != NULL);
    *block = arena.base;
    return VY_OK;
}

static int area_greater(const void *context, int a, int b)
{
    const double *area = context;
    return area[a] > area[b];
}

static void measure_faces(merge_work *work)
{
    const vy_loops *loops = work->loops;
    for (int f = 0; f < loops->face_count; ++f) {
        const int first = loops->first[f], count = loops->first[f + 1] - first;
        work->area[f] = 0.5 * vec3_length(vy_loop_area_vector(work->points, loops->vertex + first, count));
        work->plane_tolerance[f] = work->epsilon;
        work->order[f] = f;
    }
    vy_sort_indices(work->order, loops->face_count, work->scratch, area_greater, work->area);
}

// The points in loops side by side, for vector units; the tail repeats the last.
static void list_used_points(merge_work *work)
{
    int count = 0;
    int *in_loop = work->degree;
    for (int v = 0; v < work->point_count; ++v) in_loop[v] = work->is_corner[v] = 0;
    for (int h = 0; h < work->loops->half_edge_count; ++h) in_loop[work->loops->vertex[h]] = 1;
    for (int v = 0; v < work->point_count; ++v) {
        if (!in_loop[v]) continue;
        const vy_vec3 p = vec3_sub(work->points[v], work->points[0]);
        work->used_coordinates[0][count] = p.x;
        work->used_coordinates[1][count] = p.y;
        work->used_coordinates[2][count++] = p.z;
    }
    for (; count % 8 != 0; ++count) {
        for (int k = 0; k < 3; ++k) work->used_coordinates[k][count] = work->used_coordinates[k][count - 1];
    }
    VY_ASSERT(count >= 8 && count <= work->point_count + 7);
    work->used_count = count;
}

static void link_faces(merge_work *work)
{
    const vy_loops *loops = work->loops;
    for (int f = 0; f < loops->face_count; ++f) {
        const int first = loops->first[f], last = loops->first[f + 1] - 1;
        for (int h = first; h <= last; ++h) {
            work->next[h] = h == last ? first : h + 1;
            work->prev[h] = h == first ? last : h - 1;
            work->face[h] = f;
        }
        work->group[f] = -1;
        work->members[f] = 0;
    }
    memcpy(work->twin, work->original_twin, (size_t)loops->half_edge_count * sizeof *work->twin);
}

/// Whether face f lies within `plane_tolerance` of the plane through `origin` and faces the same way.
static int is_coplanar(const merge_work *work, int f, vy_vec3 origin, vy_vec3 normal, double plane_tolerance)
{
    const int first = work->loops->first[f], count = work->loops->first[f + 1] - first;
    for (int k = 0; k < count; ++k) {
        const vy_vec3 p = work->points[work->loops->vertex[first + k]];
        if (real_abs(vec3_dot(normal, vec3_sub(p, origin))) > plane_tolerance) return 0;
    }
    // The normal of a sliver is noise: it is merged into any plane it lies in.
    const vy_vec3 own_area_vector = vy_loop_area_vector(work->points, work->loops->vertex + first, count);
    return vec3_dot(own_area_vector, normal) >= 0.0 || work->area[f] <= work->epsilon * work->epsilon;
}

// Every member is measured against the largest face's plane, never against its neighbour's: flatness cannot
// drift around a curve of many small facets.
static void gather_group(merge_work *work, int seed)
{
    VY_ASSERT(work->group[seed] < 0);
    work->group[seed] = seed;
    work->members[seed] = 1;
    const int first = work->loops->first[seed];
    const vy_vec3 area_vector =
        vy_loop_area_vector(work->points, work->loops->vertex + first, work->loops->first[seed + 1] - first);
    const double length = vec3_length(area_vector);
    if (!(length > 0.0)) return; // no plane of its own: refused later, if it is still there
    const vy_vec3 normal = vec3_scale(1.0 / length, area_vector);
    const vy_vec3 origin = work->points[work->loops->vertex[first]];

    int top = 0;
    work->stack[top++] = seed;
    while (top > 0) {
        const int f = work->stack[--top];
        for (int h = work->loops->first[f]; h < work->loops->first[f + 1]; ++h) {
            const int g = work->face[work->twin[h]];
            if (work->group[g] >= 0 ||
                !is_coplanar(work, g, origin, normal,
                             real_min(work->plane_tolerance[seed], work->plane_tolerance[g])))
                continue;
            VY_ASSERT(top < work->loops->face_count);
            work->group[g] = seed;
            work->members[seed] += 1;
            work->stack[top++] = g;
        }
    }
}

static void group_faces(merge_work *work)
{
    for (int k = 0; k < work->loops->face_count; ++k) {
        if (work->group[work->order[k]] < 0) gather_group(work, work->order[k]);
    }
}

// Keep the half-edges between different groups, and link them around each group's border.
static void join_borders(merge_work *work)
{
    const int halves = work->loops->half_edge_count;
    for (int v = 0; v < work->point_count; ++v) {
        work->outgoing[v] = -1;
        work->degree[v] = 0;
    }
    for (int h = 0; h < halves; ++h) {
        work->is_kept[h] = work->group[work->face[h]] != work->group[work->face[work->twin[h]]];
        if (!work->is_kept[h]) continue;
        work->outgoing[work->loops->vertex[h]] = h;
        work->degree[work->loops->vertex[h]] += 1;
    }
    int *next_on_border = work->scratch; // the links of the faces are needed until all are found
    for (int h = 0; h < halves; ++h) {
        if (!work->is_kept[h]) continue;
        int next = work->next[h];
        while (!work->is_kept[next]) next = work->next[work->twin[next]];
        next_on_border[h] = next;
    }
    for (int h = 0; h < halves; ++h) {
        if (!work->is_kept[h]) continue;
        work->next[h] = next_on_border[h];
        work->prev[next_on_border[h]] = h;
    }
}

static double distance_to_segment(vy_vec3 p, vy_vec3 a, vy_vec3 b)
{
    const vy_vec3 ab = vec3_sub(b, a), ap = vec3_sub(p, a);
    const double length2 = vec3_dot(ab, ab);
    const double t = length2 > 0.0 ? real_clamp(vec3_dot(ap, ab) / length2, 0.0, 1.0) : 0.0;
    return vec3_length(vec3_add_scaled(ap, -t, ab));
}

static int is_in_triangle(const merge_work *work, int h)
{
    return work->next[work->next[work->next[h]]] == h;
}

// A vertex between two faces only, on the straight line between its neighbours, is no corner.
static void drop_vertices_on_edges(merge_work *work)
{
    for (int v = 0; v < work->point_count; ++v) {
        if (work->degree[v] != 2 || work->is_corner[v]) continue;
        const int to_b = work->outgoing[v], from_a = work->prev[to_b];
        const int to_a = work->twin[from_a], from_b = work->twin[to_b];
        const int a = work->loops->vertex[from_a], b = work->loops->vertex[from_b];
        if (work->prev[to_a] != from_b || is_in_triangle(work, to_b) || is_in_triangle(work, to_a)) continue;
        if (distance_to_segment(work->points[v], work->points[a], work->points[b]) > work->epsilon) continue;
        work->is_kept[to_a] = work->is_kept[to_b] = 0;
        work->next[from_a] = work->next[to_b];
        work->prev[work->next[to_b]] = from_a;
        work->next[from_b] = work->next[to_a];
        work->prev[work->next[to_a]] = from_b;
        work->twin[from_a] = from_b;
        work->twin[from_b] = from_a;
        work->degree[v] = 0;
    }
}

/// Whether a merged loop is a face: its corners in one plane, in convex order, and no point beyond that
/// plane.
static int is_face(const merge_work *work, const int *loop, int count)
{
    if (count < 3) return 0;
    vy_vec3 normal = vy_loop_area_vector(work->points, loop, count);
    const double length = vec3_length(normal);
    if (!(length > 0.0)) return 0;
    normal = vec3_scale(1.0 / length, normal);

    double low = DBL_MAX, high = -DBL_MAX;
    for (int k = 0; k < count; ++k) {
        const double height = vec3_dot(normal, vec3_sub(work->points[loop[k]], work->points[0]));
        low = real_min(low, height);
        high = real_max(high, height);
    }
    const int i = vy_support()->extreme(work->used_coordinates[0], work->used_coordinates[1],
                                        work->used_coordinates[2], work->used_count, normal);
    const vy_vec3 top =
        vec3_make(work->used_coordinates[0][i], work->used_coordinates[1][i], work->used_coordinates[2][i]);
    return high - low <= 2.0 * work->epsilon && vec3_dot(normal, top) - high <= work->epsilon &&
           vy_loop_is_convex(work->points, loop, count, normal, work->epsilon);
}

/// Tighten the tolerance of this group's faces so that it is not formed again; in the end they stay single.
/// A single face keeps its corners. Returns whether that changed anything.
static int split_group(merge_work *work, int group)
{
    int changed = 0;
    for (int f = 0; f < work->loops->face_count; ++f) {
        if (work->group[f] != group) continue;
        if (work->members[group] > 1) {
            work->plane_tolerance[f] =
                work->plane_tolerance[f] > 1e-3 * work->epsilon ? 0.125 * work->plane_tolerance[f] : -1.0;
            changed = 1;
            continue;
        }
        for (int h = work->loops->first[f]; h < work->loops->first[f + 1]; ++h) {
            changed |= !work->is_corner[work->loops->vertex[h]];
            work->is_corner[work->loops->vertex[h]] = 1;
        }
    }
    return changed;
}

/// The merged loops; w->stack has the loop of each group. Returns how many groups were split: they have no
/// border, a hole, meet themselves, or make no face.
static int collect_loops(merge_work *work, int *first, int *vertex, int *face_count)
{
    const vy_loops *loops = work->loops;
    int *last_face_at = work->degree; // the last face that used the vertex
    for (int v = 0; v < work->point_count; ++v) last_face_at[v] = -1;
    for (int f = 0; f < loops->face_count; ++f) work->stack[f] = -1;

    int loop_count = 0, vertex_count = 0, split_groups = 0;
    for (int h = 0; h < loops->half_edge_count; ++h) {
        if (!work->is_kept[h]) continue;
        const int group = work->group[work->face[h]];
        int is_simple = work->stack[group] < 0, half_edge = h; // a second loop is a hole
        work->stack[group] = loop_count;
        VY_ASSERT(loop_count < loops->face_count && vertex_count < loops->half_edge_count);
        first[loop_count] = vertex_count;
        do {
            const int v = loops->vertex[half_edge];
            VY_ASSERT(vertex_count < loops->half_edge_count && work->is_kept[half_edge]);
            is_simple &= last_face_at[v] != loop_count;
            last_face_at[v] = loop_count;
            vertex[vertex_count++] = v;
            work->is_kept[half_edge] = 0;
            half_edge = work->next[half_edge];
        } while (half_edge != h);
        const int count = vertex_count - first[loop_count];
        const int is_unmerged =
            work->members[group] == 1 && count == loops->first[group + 1] - loops->first[group];
        if (!is_unmerged && !(is_simple && is_face(work, vertex + first[loop_count], count)))
            split_groups += split_group(work, group);
        loop_count += 1;
    }
    first[loop_count] = vertex_count;
    *face_count = loop_count;
    for (int f = 0; f < loops->face_count; ++f) {
        // A group of all or nearly all faces: top and bottom of a thin plate taken for one face.
        const int has_no_border = work->members[f] > 1 && (loop_count < 4 || work->stack[f] < 0);
        if (has_no_border) split_groups += split_group(work, f);
    }
    return split_groups;
}

static int is_outside_polygon(const merge_work *work, const int *loop, int count, vy_vec3 point)
{
    const vy_vec3 normal = vy_loop_area_vector(work->points, loop, count);
    for (int k = 0; k < count; ++k) {
        const vy_vec3 a = work->points[loop[k]];
        const vy_vec3 outward =
            vec3_cross(vec3_sub(work->points[loop[k + 1 < count ? k + 1 : 0]], a), normal);
        if (vec3_dot(outward, vec3_sub(point, a)) > work->epsilon * vec3_length(outward)) return 1;
    }
    return 0;
}

/// A vertex that is no corner of any face must lie within each of the faces it was merged into: at the rim of
/// a thin plate it may be near their planes and yet far outside. Returns how many groups were split.
static int check_dropped_vertices(merge_work *work, const int *first, const int *vertex)
{
    const vy_loops *loops = work->loops;
    int split_groups = 0;
    for (int h = 0; h < loops->half_edge_count; ++h) {
        const int v = loops->vertex[h], group = work->group[work->face[h]], f = work->stack[group];
        if (work->degree[v] >= 0) continue; // collect_loops() has seen it
        VY_ASSERT(f >= 0);
        if (is_outside_polygon(work, vertex + first[f], first[f + 1] - first[f], work->points[v])) {
            split_groups += split_group(work, group);
        }
    }
    return split_groups;
}

// Points near the tolerance can make a group that is bent, or has a corner pointing inwards where a neighbour
// was just too far off. Such a group is split, and all are gathered again: in each round the tolerance of
// some face shrinks, so this ends.
static void merge_groups(merge_work *work)
{
    vy_loops *loops = work->loops;
    int *first = work->scratch, *vertex = work->scratch + loops->face_count + 1;
    for (;;) {
        link_faces(work);
        group_faces(work);
        join_borders(work);
        drop_vertices_on_edges(work);
        int loop_count = 0;
        if (collect_loops(work, first, vertex, &loop_count) > 0 ||
            check_dropped_vertices(work, first, vertex) > 0)
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
    merge_work work = {.points = points, .loops = loops, .epsilon = epsilon, .point_count = point_count};
    void *block = NULL;
    vy_status status = allocate_work(&work, &block, err);
    if (status != VY_OK) return status;

    vy_loops_canonical(loops, work.scratch); // so that ties between equal areas do not depend on the input
    status = vy_loops_twins(loops, work.original_twin, work.scratch, err);
    if (status == VY_OK) {
        measure_faces(&work);
        list_used_points(&work);
        merge_groups(&work);
    }
    if (status == VY_OK) vy_loops_canonical(loops, work.scratch);
    free(block);
    return status;
}
