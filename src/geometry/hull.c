// hull.c - a hull from its face loops: one block of memory, every number computed here, in canonical order.
#include "base/assert.h"
#include "base/fail.h"
#include "base/real.h"
#include "geometry/compensated.h"
#include "geometry/hull_internal.h"
#include "geometry/support.h"
#include <stdlib.h>

// Arrays that the builder may write; the hull has the same ones as const.
typedef struct hull_arrays {
    vy_vec3 *vertices;
    double *x, *y, *z;
    vy_hull_facet *facets;
    vy_hull_face *faces;
    vy_hull_edge *edges;
    int *loop, *twin, *half_face, *half_edge, *neighbour_first, *neighbours;
} hull_arrays;

static size_t align_up(size_t bytes) { return (bytes + 63u) & ~(size_t)63u; }

static vy_hull *allocate_hull(const vy_hull *counts, hull_arrays *arrays)
{
    const size_t vertices = (size_t)counts->vertex_count, padded = (size_t)counts->padded_count;
    const size_t facets = (size_t)counts->facet_count, faces = (size_t)counts->face_count;
    const size_t edges = (size_t)counts->edge_count, halves = (size_t)counts->half_edge_count;
    const size_t bytes = align_up(sizeof(vy_hull)) + align_up(vertices * sizeof(vy_vec3)) +
                         3 * align_up(padded * sizeof(double)) + align_up(facets * sizeof(vy_hull_facet)) +
                         align_up(faces * sizeof(vy_hull_face)) + align_up(edges * sizeof(vy_hull_edge)) +
                         5 * align_up(halves * sizeof(int)) + align_up((vertices + 1) * sizeof(int));
    vy_arena arena = {aligned_alloc(64, bytes), bytes, 0};
    if (arena.base == NULL) return NULL;

    vy_hull *hull = vy_arena_alloc(&arena, sizeof(vy_hull));
    *hull = *counts;
    hull->vertices = arrays->vertices = vy_arena_alloc(&arena, vertices * sizeof(vy_vec3));
    hull->x = arrays->x = vy_arena_alloc(&arena, padded * sizeof(double));
    hull->y = arrays->y = vy_arena_alloc(&arena, padded * sizeof(double));
    hull->z = arrays->z = vy_arena_alloc(&arena, padded * sizeof(double));
    hull->facets = arrays->facets = vy_arena_alloc(&arena, facets * sizeof(vy_hull_facet));
    hull->faces = arrays->faces = vy_arena_alloc(&arena, faces * sizeof(vy_hull_face));
    hull->edges = arrays->edges = vy_arena_alloc(&arena, edges * sizeof(vy_hull_edge));
    hull->loop = arrays->loop = vy_arena_alloc(&arena, halves * sizeof(int));
    hull->twin = arrays->twin = vy_arena_alloc(&arena, halves * sizeof(int));
    hull->half_face = arrays->half_face = vy_arena_alloc(&arena, halves * sizeof(int));
    hull->half_edge = arrays->half_edge = vy_arena_alloc(&arena, halves * sizeof(int));
    hull->neighbours = arrays->neighbours = vy_arena_alloc(&arena, halves * sizeof(int));
    hull->neighbour_first = arrays->neighbour_first = vy_arena_alloc(&arena, (vertices + 1) * sizeof(int));
    VY_ASSERT(hull->neighbour_first != NULL && arena.used <= bytes);
    return hull;
}

/// Number the points that are corners of a loop, in their order: the hull's vertices; -1 for the others.
/// Returns how many.
static int number_vertices(const vy_loops *loops, int point_count, int *vertex_of_point)
{
    int count = 0;
    for (int i = 0; i < point_count; ++i) vertex_of_point[i] = -1;
    VY_ASSERT(loops->half_edge_count >= 3 * loops->face_count);
    for (int h = 0; h < loops->half_edge_count; ++h) vertex_of_point[loops->vertex[h]] = 0;
    for (int i = 0; i < point_count; ++i) {
        if (vertex_of_point[i] == 0) vertex_of_point[i] = count++;
    }
    return count;
}

static void fill_vertices(const vy_hull *hull, const vy_vec3 *points, int point_count,
                          const int *vertex_of_point, hull_arrays *arrays)
{
    for (int i = 0; i < point_count; ++i) {
        if (vertex_of_point[i] < 0) continue;
        VY_ASSERT(vertex_of_point[i] < hull->vertex_count);
        // Adding +0.0 turns -0.0 into +0.0: equal hulls have equal bits.
        arrays->vertices[vertex_of_point[i]] =
            vec3_make(points[i].x + 0.0, points[i].y + 0.0, points[i].z + 0.0);
    }
    for (int i = 0; i < hull->padded_count; ++i) {
        const vy_vec3 p = arrays->vertices[i < hull->vertex_count ? i : hull->vertex_count - 1];
        arrays->x[i] = p.x;
        arrays->y[i] = p.y;
        arrays->z[i] = p.z;
    }
}

static vy_status fill_faces(const vy_hull *hull, const vy_loops *loops, const int *vertex_of_point,
                            hull_arrays *arrays, vy_error *err)
{
    int facet_count = 0;
    for (int f = 0; f < loops->face_count; ++f) {
        const int first = loops->first[f], count = loops->first[f + 1] - first;
        VY_ASSERT(count >= 3 && first + count <= hull->half_edge_count);
        for (int h = first; h < first + count; ++h) {
            arrays->loop[h] = vertex_of_point[loops->vertex[h]];
            arrays->half_face[h] = f;
        }
        const int *loop = arrays->loop + first;
        const vy_vec3 area_vector = vy_loop_area_vector(hull->vertices, loop, count);
        const double length = vec3_length(area_vector);
        if (!(length > 0.0)) {
            return vy_fail(err, VY_BAD_HULL, "hull: the face at vertex %d has no area", loops->vertex[first]);
        }
        const vy_vec3 normal = vec3_scale(1.0 / length, area_vector);
        double offset = vec3_dot(normal, hull->vertices[loop[0]]);
        for (int k = 1; k < count; ++k) offset = real_max(offset, vec3_dot(normal, hull->vertices[loop[k]]));
        arrays->faces[f] = (vy_hull_face){normal, offset, 0.5 * length, first, count, facet_count};
        for (int k = 2; k < count; ++k) {
            arrays->facets[facet_count++] = (vy_hull_facet){loop[0], loop[k - 1], loop[k], f, normal, offset};
        }
    }
    VY_ASSERT(facet_count == hull->facet_count);
    return VY_OK;
}

static int next_half_edge(const vy_hull *hull, int h)
{
    VY_ASSERT(h >= 0 && h < hull->half_edge_count);
    const vy_hull_face *face = &hull->faces[hull->half_face[h]];
    return h + 1 < face->first + face->count ? h + 1 : face->first;
}

static int previous_half_edge(const vy_hull *hull, int h)
{
    VY_ASSERT(h >= 0 && h < hull->half_edge_count);
    const vy_hull_face *face = &hull->faces[hull->half_face[h]];
    return h > face->first ? h - 1 : face->first + face->count - 1;
}

static int half_edge_less(const void *context, int a, int b)
{
    const vy_hull *hull = context;
    if (hull->loop[a] != hull->loop[b]) return hull->loop[a] < hull->loop[b];
    return hull->loop[hull->twin[a]] < hull->loop[hull->twin[b]];
}

// Sorted by start and end, the half-edges give both the edges (those that run upwards) and, at each vertex,
// the one to its smallest neighbour.
static void fill_edges(const vy_hull *hull, int *scratch, hull_arrays *arrays)
{
    const int halves = hull->half_edge_count;
    int *order = scratch;
    for (int h = 0; h < halves; ++h) order[h] = h;
    vy_sort_indices(order, halves, scratch + halves, half_edge_less, hull);

    int edge_count = 0, neighbour_count = 0, vertex_count = 0;
    for (int k = 0; k < halves; ++k) {
        const int h = order[k], twin = hull->twin[h], start = hull->loop[h], end = hull->loop[twin];
        if (start < end) {
            VY_ASSERT(edge_count < hull->edge_count);
            arrays->half_edge[h] = arrays->half_edge[twin] = edge_count;
            arrays->edges[edge_count++] =
                (vy_hull_edge){start, end, hull->half_face[h], hull->half_face[twin]};
        }
        if (k > 0 && start == hull->loop[order[k - 1]]) continue;
        VY_ASSERT(vertex_count < hull->vertex_count && neighbour_count < halves);
        arrays->neighbour_first[vertex_count++] = neighbour_count;
        int outgoing = h;
        do { // the face left of a half-edge lies counter-clockwise of it, seen from outside
            arrays->neighbours[neighbour_count++] = hull->loop[hull->twin[outgoing]];
            outgoing = hull->twin[previous_half_edge(hull, outgoing)];
        } while (outgoing != h && neighbour_count < halves);
    }
    arrays->neighbour_first[hull->vertex_count] = neighbour_count;
}

// Volume and centroid as a sum of tetrahedra from a point inside: no weight is negative, so the centroid is a
// mean of points of the hull and stays inside even of a plate a billion times wider than thick.
static void measure_volume(vy_hull *hull)
{
    const vy_vec3 origin = hull->vertices[0];
    vy_vec3 sum = vec3_zero();
    for (int v = 1; v < hull->vertex_count; ++v) sum = vec3_add(sum, vec3_sub(hull->vertices[v], origin));
    const vy_vec3 inside = vec3_add_scaled(origin, 1.0 / hull->vertex_count, sum);

    double volume6 = 0.0;
    vy_vec3 moment = vec3_zero();
    for (int i = 0; i < hull->facet_count; ++i) {
        const vy_hull_facet *facet = &hull->facets[i];
        const vy_vec3 a = vec3_sub(hull->vertices[facet->a], inside);
        const vy_vec3 b = vec3_sub(hull->vertices[facet->b], inside);
        const vy_vec3 c = vec3_sub(hull->vertices[facet->c], inside);
        const vy_vec3 area = vec3_cross_accurate(vec3_sub(b, a), vec3_sub(c, a));
        const double tetrahedron6 = real_max(0.0, vec3_dot(area, a)); // six times the tetrahedron's volume
        volume6 += tetrahedron6;
        moment = vec3_add_scaled(moment, tetrahedron6, vec3_add(a, vec3_add(b, c)));
    }
    hull->volume = volume6 / 6.0;
    hull->centroid = volume6 > 0.0 ? vec3_add_scaled(inside, 0.25 / volume6, moment) : inside;
}

static void measure_hull(vy_hull *hull)
{
    hull->bounds = vy_bounds_of_points(hull->vertices, hull->vertex_count);
    measure_volume(hull);
    hull->area = 0.0;
    hull->inner_radius = DBL_MAX;
    for (int f = 0; f < hull->face_count; ++f) {
        const vy_hull_face *face = &hull->faces[f];
        const vy_vec3 to_face = vec3_sub(hull->vertices[hull->loop[face->first]], hull->centroid);
        hull->area += face->area;
        hull->inner_radius = real_min(hull->inner_radius, vec3_dot(face->normal, to_face));
    }
    hull->radius = 0.0;
    for (int v = 0; v < hull->vertex_count; ++v) {
        hull->radius = real_max(hull->radius, vec3_length(vec3_sub(hull->vertices[v], hull->centroid)));
    }
}

/// Fill a hull whose counts are set. `scratch` is [2 half_edge_count].
static vy_status fill_hull(const vy_vec3 *points, int point_count, const vy_loops *loops,
                           const int *vertex_of_point, int *scratch, hull_arrays *arrays, vy_hull *hull,
                           vy_error *err)
{
    fill_vertices(hull, points, point_count, vertex_of_point, arrays);
    vy_status status = fill_faces(hull, loops, vertex_of_point, arrays, err);
    if (status == VY_OK) status = vy_loops_twins(loops, arrays->twin, scratch, err);
    if (status != VY_OK) return status;
    fill_edges(hull, scratch, arrays);
    measure_hull(hull);
    return vy_hull_check(hull, err);
}

vy_status vy_hull_assemble(const vy_vec3 *points, int point_count, const vy_loops *loops, double epsilon,
                           vy_hull **out, vy_error *err)
{
    VY_ASSERT(loops->first[loops->face_count] == loops->half_edge_count);
    const size_t half_edge_total = (size_t)loops->half_edge_count;
    int *scratch = malloc((2 * half_edge_total + (size_t)point_count) * sizeof *scratch);
    if (scratch == NULL) return vy_fail(err, VY_NO_MEMORY, "hull: no memory for %d faces", loops->face_count);
    int *vertex_of_point = scratch + 2 * half_edge_total;
    const int corner_count = number_vertices(loops, point_count, vertex_of_point);
    const vy_hull counts = {
        .vertex_count = corner_count,
        .padded_count = (corner_count + 7) & ~7,
        .facet_count = loops->half_edge_count - 2 * loops->face_count,
        .face_count = loops->face_count,
        .edge_count = loops->half_edge_count / 2,
        .half_edge_count = loops->half_edge_count,
        .tolerance = epsilon,
    };
    if (counts.face_count < 4) {
        free(scratch);
        return vy_fail(err, VY_HULL_COPLANAR, "hull: only %d faces are left at a tolerance of %.3g m",
                       counts.face_count, epsilon);
    }
    if (corner_count - counts.edge_count + counts.face_count != 2) {
        free(scratch);
        return vy_fail(err, VY_BAD_HULL, "hull: %d vertices, %d edges and %d faces do not make a polyhedron",
                       corner_count, counts.edge_count, counts.face_count);
    }
    hull_arrays arrays = {0};
    vy_hull *hull = allocate_hull(&counts, &arrays);
    const vy_status status =
        hull == NULL ? vy_fail(err, VY_NO_MEMORY, "hull: no memory for %d faces", loops->face_count)
                     : fill_hull(points, point_count, loops, vertex_of_point, scratch, &arrays, hull, err);
    free(scratch);
    if (status != VY_OK) {
        free(hull);
        return status;
    }
    *out = hull;
    return VY_OK;
}

void vy_hull_destroy(vy_hull *hull) { free(hull); }

// ---- from faces that are known ----

static vy_status copy_loops(const int *vertices, const int *counts, int face_count, int point_count,
                            vy_loops *loops, vy_error *err)
{
    int total = 0;
    for (int f = 0; f < face_count; ++f) {
        if (counts[f] < 3 || counts[f] > point_count) {
            return vy_fail(err, VY_BAD_HULL, "hull: face %d has %d vertices", f, counts[f]);
        }
        if (counts[f] > (1 << 28) - total) return vy_fail(err, VY_FULL, "hull: too many faces");
        total += counts[f];
    }
    for (int h = 0; h < total; ++h) {
        if (vertices[h] < 0 || vertices[h] >= point_count) {
            return vy_fail(err, VY_BAD_HULL, "hull: a face names vertex %d of %d", vertices[h], point_count);
        }
    }
    const vy_status status = vy_loops_alloc(face_count, total, loops, err);
    if (status != VY_OK) return status;
    loops->first[0] = 0;
    for (int f = 0; f < face_count; ++f) loops->first[f + 1] = loops->first[f] + counts[f];
    memcpy(loops->vertex, vertices, (size_t)total * sizeof *vertices);
    return VY_OK;
}

vy_status vy_hull_from_faces(const vy_vec3 *vertices, int vertex_count, const int *loops,
                             const int *loop_counts, int face_count, double tolerance, vy_hull **out,
                             vy_error *err)
{
    FPU_SCOPE;
    *out = NULL;
    double epsilon = 0.0, thickness = 0.0;
    vy_status status = vy_hull_check_points(vertices, vertex_count, tolerance, &epsilon, &thickness, err);
    if (status != VY_OK) return status;
    if (loops == NULL || loop_counts == NULL || face_count < 4) {
        return vy_fail(err, VY_BAD_HULL, "hull: %d faces, at least four are needed", face_count);
    }
    vy_loops merged = {0};
    status = copy_loops(loops, loop_counts, face_count, vertex_count, &merged, err);
    if (status == VY_OK) status = vy_loops_merge(vertices, vertex_count, epsilon, &merged, err);
    if (status == VY_OK) status = vy_hull_assemble(vertices, vertex_count, &merged, epsilon, out, err);
    vy_loops_free(&merged);
    return status;
}

vy_status vy_hull_box(vy_vec3 half, vy_hull **out, vy_error *err)
{
    FPU_SCOPE;
    *out = NULL;
    if (!(half.x > 0.0 && half.y > 0.0 && half.z > 0.0)) {
        return vy_fail(err, VY_BAD_VALUE, "hull: half sides must be > 0, got %g, %g, %g", half.x, half.y,
                       half.z);
    }
    vy_vec3 corner[8];
    for (int i = 0; i < 8; ++i) {
        corner[i] = vec3_make(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z);
    }
    static const int loops[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
    static const int counts[6] = {4, 4, 4, 4, 4, 4};
    return vy_hull_from_faces(corner, 8, loops, counts, 6, VY_HULL_TOLERANCE, out, err);
}

// ---- check ----

static vy_status check_counts(const vy_hull *hull, vy_error *err)
{
    if (hull == NULL) return vy_fail(err, VY_BAD_HULL, "hull: none given");
    const int has_pointers = hull->vertices && hull->x && hull->y && hull->z && hull->facets && hull->faces &&
                             hull->edges && hull->loop && hull->twin && hull->half_face && hull->half_edge &&
                             hull->neighbour_first && hull->neighbours;
    const int has_valid_counts = hull->vertex_count >= 4 && hull->face_count >= 4 && hull->edge_count >= 6 &&
                                 hull->half_edge_count == 2 * hull->edge_count &&
                                 hull->padded_count == ((hull->vertex_count + 7) & ~7) &&
                                 hull->facet_count == hull->half_edge_count - 2 * hull->face_count &&
                                 hull->vertex_count - hull->edge_count + hull->face_count == 2;
    if (!has_pointers || !has_valid_counts) {
        return vy_fail(err, VY_BAD_HULL, "hull: %d vertices, %d edges and %d faces do not make a polyhedron",
                       hull->vertex_count, hull->edge_count, hull->face_count);
    }
    if (!(real_is_finite(hull->volume) && hull->volume > 0.0)) {
        return vy_fail(err, VY_BAD_HULL, "hull: the volume is %g m^3: flat or turned inside out",
                       hull->volume);
    }
    return VY_OK;
}

static int index_is_valid(int index, int count) { return index >= 0 && index < count; }

static vy_status check_topology(const vy_hull *hull, vy_error *err)
{
    int half_edge = 0, facet_count = 0;
    for (int f = 0; f < hull->face_count; ++f) {
        const vy_hull_face *face = &hull->faces[f];
        if (face->first != half_edge || face->count < 3 || face->count > hull->half_edge_count - half_edge ||
            face->facet_first != facet_count) {
            return vy_fail(err, VY_BAD_HULL, "hull: face %d has inconsistent indices", f);
        }
        for (int k = 0; k < face->count; ++k, ++half_edge) {
            const int twin = hull->twin[half_edge];
            if (hull->half_face[half_edge] != f ||
                !index_is_valid(hull->loop[half_edge], hull->vertex_count) ||
                !index_is_valid(twin, hull->half_edge_count) || twin == half_edge ||
                hull->twin[twin] != half_edge || !index_is_valid(hull->half_face[twin], hull->face_count) ||
                !index_is_valid(hull->half_edge[half_edge], hull->edge_count)) {
                return vy_fail(err, VY_BAD_HULL, "hull: half-edge %d has an invalid index", half_edge);
            }
        }
        facet_count += face->count - 2;
    }
    if (half_edge != hull->half_edge_count)
        return vy_fail(err, VY_BAD_HULL, "hull: the faces do not use every half-edge");
    for (int h = 0; h < hull->half_edge_count; ++h) {
        const int twin = hull->twin[h], end = hull->loop[twin];
        const vy_hull_edge *edge = &hull->edges[hull->half_edge[h]];
        const int is_forward = hull->loop[h] < end;
        if (hull->loop[next_half_edge(hull, h)] != end || hull->half_edge[twin] != hull->half_edge[h] ||
            (is_forward && (edge->a != hull->loop[h] || edge->b != end || edge->left != hull->half_face[h] ||
                            edge->right != hull->half_face[twin]))) {
            return vy_fail(err, VY_BAD_HULL, "hull: half-edge %d does not meet its twin", h);
        }
    }
    return VY_OK;
}

static vy_status check_copies(const vy_hull *hull, vy_error *err)
{
    for (int f = 0; f < hull->face_count; ++f) {
        const vy_hull_face *face = &hull->faces[f];
        for (int k = 2; k < face->count; ++k) {
            const vy_hull_facet *facet = &hull->facets[face->facet_first + k - 2];
            const int *loop = hull->loop + face->first;
            if (facet->face != f || facet->a != loop[0] || facet->b != loop[k - 1] || facet->c != loop[k]) {
                return vy_fail(err, VY_BAD_HULL, "hull: a triangle of face %d is not of its fan", f);
            }
        }
    }
    for (int i = 0; i < hull->padded_count; ++i) {
        const vy_vec3 p = hull->vertices[i < hull->vertex_count ? i : hull->vertex_count - 1];
        if (hull->x[i] != p.x || hull->y[i] != p.y || hull->z[i] != p.z) {
            return vy_fail(err, VY_BAD_HULL, "hull: the padded coordinates differ at %d", i);
        }
    }
    return VY_OK;
}

static vy_status check_neighbours(const vy_hull *hull, vy_error *err)
{
    if (hull->neighbour_first[0] != 0 || hull->neighbour_first[hull->vertex_count] != hull->half_edge_count) {
        return vy_fail(err, VY_BAD_HULL, "hull: the lists of neighbours do not hold every edge twice");
    }
    for (int v = 0; v < hull->vertex_count; ++v) {
        const int first = hull->neighbour_first[v], end = hull->neighbour_first[v + 1];
        if (first >= end || end > hull->half_edge_count) {
            return vy_fail(err, VY_BAD_HULL, "hull: vertex %d has no neighbours", v);
        }
        for (int k = first; k < end; ++k) {
            if (!index_is_valid(hull->neighbours[k], hull->vertex_count) || hull->neighbours[k] == v) {
                return vy_fail(err, VY_BAD_HULL, "hull: vertex %d has no neighbour %d", v,
                               hull->neighbours[k]);
            }
        }
    }
    return VY_OK;
}

// Convex at every edge would be convex everywhere, were it exact. Within a tolerance it is not: a narrow face
// may be tilted by a lot, and an error that is small at its neighbours is large at the far end. So
// every vertex is tested against every plane.
static vy_status check_convex(const vy_hull *hull, vy_error *err)
{
    const vy_bounds box = vy_bounds_of_points(hull->vertices, hull->vertex_count);
    const vy_vec3 side = vec3_sub(box.high, box.low);
    const double longest = real_max(side.x, real_max(side.y, side.z));
    const double tolerance = hull->tolerance + 8.0 * DBL_EPSILON * longest; // rounding of normals and heights
    for (int f = 0; f < hull->face_count; ++f) {
        const vy_hull_face *face = &hull->faces[f];
        const vy_vec3 n = face->normal, origin = hull->vertices[hull->loop[face->first]];
        if (!(real_abs(vec3_dot(n, n) - 1.0) < 1e-14)) {
            return vy_fail(err, VY_BAD_HULL, "hull: the normal of face %d is not a unit vector", f);
        }
        double low = 0.0, high = 0.0;
        for (int k = 0; k < face->count; ++k) {
            const vy_vec3 p = hull->vertices[hull->loop[face->first + k]];
            const double height = vec3_dot(n, vec3_sub(p, origin));
            if (!real_is_finite(height)) return vy_fail(err, VY_BAD_HULL, "hull: face %d is not finite", f);
            low = real_min(low, height);
            high = real_max(high, height);
        }
        if (!(high - low <= 2.0 * tolerance))
            return vy_fail(err, VY_BAD_HULL, "hull: face %d is not flat", f);
        if (!vy_loop_is_convex(hull->vertices, hull->loop + face->first, face->count, n, tolerance)) {
            return vy_fail(err, VY_BAD_HULL, "hull: face %d is not a convex polygon", f);
        }
        const int v = vy_support()->extreme(hull->x, hull->y, hull->z, hull->padded_count, n);
        if (!(vec3_dot(n, vec3_sub(hull->vertices[v], origin)) - high <= tolerance)) {
            return vy_fail(err, VY_BAD_HULL, "hull: vertex %d is beyond face %d", v, f);
        }
    }
    return VY_OK;
}

vy_status vy_hull_check(const vy_hull *hull, vy_error *err)
{
    FPU_SCOPE;
    vy_status status = check_counts(hull, err);
    if (status == VY_OK) status = check_topology(hull, err);
    if (status == VY_OK) status = check_copies(hull, err);
    if (status == VY_OK) status = check_neighbours(hull, err);
    if (status == VY_OK) status = check_convex(hull, err);
    return status;
}
