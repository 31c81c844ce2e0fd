// hull_exact.c - the hull of points by insertion, every decision exact: for sets so close to flat that
// Qhull's rounding leaves no convex polyhedron. Takes time with the square of the number of points.
#include "base/assert.h"
#include "base/fail.h"
#include "geometry/compensated.h"
#include "geometry/hull_internal.h"
#include <stdlib.h>

// ---- on which side of a plane ----

/// Add b to an expansion of `count` components that do not overlap, smallest first (J. R. Shewchuk, Discrete
/// & Computational Geometry 18, 1997). Returns the new count.
static int grow_expansion(double *components, int count, double b)
{
    int new_count = 0;
    for (int i = 0; i < count; ++i) {
        const real_dd sum = real_dd_two_diff(b, -components[i]);
        if (sum.low != 0.0) components[new_count++] = sum.low;
        b = sum.high;
    }
    components[new_count++] = b;
    return new_count;
}

/// Add a * b * c, each a sum of two.
static int expansion_add_product(double *components, int count, real_dd a, real_dd b, real_dd c)
{
    const double as[2] = {a.high, a.low}, bs[2] = {b.high, b.low}, cs[2] = {c.high, c.low};
    for (int i = 0; i < 8; ++i) {
        const double u = as[i & 1], v = bs[i >> 1 & 1], w = cs[i >> 2];
        if (u == 0.0 || v == 0.0 || w == 0.0) continue;
        const double uv[2] = {u * v, two_product_error(u, v, u * v)};
        for (int k = 0; k < 2; ++k) {
            count = grow_expansion(components, count, uv[k] * w);
            count = grow_expansion(components, count, two_product_error(uv[k], w, uv[k] * w));
        }
    }
    return count;
}

static double orient3d_exact(const vy_vec3 p[3], vy_vec3 o)
{
    real_dd d[3][3];
    for (int i = 0; i < 3; ++i) {
        d[i][0] = real_dd_two_diff(p[i].x, o.x);
        d[i][1] = real_dd_two_diff(p[i].y, o.y);
        d[i][2] = real_dd_two_diff(p[i].z, o.z);
    }
    double components[200] = {0};
    int count = 1;
    for (int i = 0; i < 3; ++i) {
        const real_dd *b = d[(i + 1) % 3], *c = d[(i + 2) % 3];
        const real_dd negated = {-d[i][0].high, -d[i][0].low};
        count = expansion_add_product(components, count, d[i][0], b[2], c[1]);
        count = expansion_add_product(components, count, negated, b[1], c[2]);
    }
    return components[count - 1]; // the largest component has the sign of the sum
}

/// > 0: q is beyond the plane of a, b, c, which wind counter-clockwise seen from there; 0: exactly on it.
static double orient3d(vy_vec3 a, vy_vec3 b, vy_vec3 c, vy_vec3 q)
{
    const vy_vec3 p[3] = {a, b, c};
    const vy_vec3 u = vec3_sub(a, q), v = vec3_sub(b, q), w = vec3_sub(c, q);
    const double vwx = v.z * w.y, wvx = v.y * w.z, wux = w.z * u.y, uwx = w.y * u.z, uvx = u.z * v.y,
                 vux = u.y * v.z;
    const double det = (u.x * (vwx - wvx) + v.x * (wux - uwx)) + w.x * (uvx - vux);
    const double size =
        (real_abs(u.x) * (real_abs(vwx) + real_abs(wvx)) + real_abs(v.x) * (real_abs(wux) + real_abs(uwx))) +
        real_abs(w.x) * (real_abs(uvx) + real_abs(vux));
    // The determinant's rounding error is below 7.1 * 2^-53 of the sum of its terms' sizes.
    return real_abs(det) > 4.0 * DBL_EPSILON * size ? det : orient3d_exact(p, q);
}

// ---- insertion ----

typedef struct triangle {
    int v[3];        // counter-clockwise seen from outside; v[0] < 0: free
    int adjacent[3]; // the triangle across the side from v[k] to v[k + 1]
} triangle;

typedef struct insertion {
    vy_vec3 *points;
    triangle *triangles;
    int *last_seen_by;  // [triangle] the last point inserted that sees it
    int *new_triangle;  // [point] the new triangle whose side towards the hull starts here
    int triangle_count; // free ones too
} insertion;

static double orient3d_of_triangle(const insertion *state, int t, int point)
{
    const int *v = state->triangles[t].v;
    return orient3d(state->points[v[0]], state->points[v[1]], state->points[v[2]], state->points[point]);
}

/// Four corners not in one plane, each the farthest from those before. Returns 0 when all points are in one
/// plane.
static int initial_tetrahedron(const vy_vec3 *p, int count, int corner[4])
{
    double max_distance[4] = {0.0, -1.0, 0.0, 0.0};
    corner[0] = corner[1] = corner[2] = corner[3] = 0;
    for (int i = 0; i < count; ++i) {
        const double d = vec3_length(vec3_sub(p[i], p[0]));
        if (d > max_distance[1]) max_distance[1] = d, corner[1] = i;
    }
    const vy_vec3 along = vec3_sub(p[corner[1]], p[0]);
    for (int i = 0; i < count; ++i) {
        const double d = vec3_length(vec3_cross_accurate(along, vec3_sub(p[i], p[0])));
        if (d > max_distance[2]) max_distance[2] = d, corner[2] = i;
    }
    const int *c = corner;
    for (int i = 0; i < count; ++i) {
        const double d = orient3d(p[c[0]], p[c[1]], p[c[2]], p[i]);
        if (real_abs(d) > real_abs(max_distance[3])) max_distance[3] = d, corner[3] = i;
    }
    if (max_distance[3] > 0.0) { // wind the base so that the fourth is behind it
        const int swap = corner[1];
        corner[1] = corner[2];
        corner[2] = swap;
    }
    return max_distance[3] != 0.0;
}

static void init_tetrahedron(insertion *state, const int c[4])
{
    VY_ASSERT(c[0] != c[1] && c[1] != c[2] && c[2] != c[3] && c[3] != c[0] && c[0] != c[2] && c[1] != c[3]);
    static const int corner[4][3] = {{0, 1, 2}, {1, 0, 3}, {2, 1, 3}, {0, 2, 3}};
    static const int adjacent[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < 3; ++k) {
            state->triangles[i].v[k] = c[corner[i][k]];
            state->triangles[i].adjacent[k] = adjacent[i][k];
        }
        state->last_seen_by[i] = -1;
    }
    state->triangle_count = 4;
}

static int allocate_triangle(insertion *state, int *search_start)
{
    while (*search_start < state->triangle_count && state->triangles[*search_start].v[0] >= 0)
        *search_start += 1;
    if (*search_start == state->triangle_count) state->last_seen_by[state->triangle_count++] = -1;
    return *search_start;
}

// The triangles that the point sees are replaced by a fan from the point to their horizon. A plane that the
// point is exactly in is not seen: so no new triangle has zero area, and the visible region is connected.
static void insert(insertion *state, int point)
{
    int sees_any = 0;
    for (int t = 0; t < state->triangle_count; ++t) {
        if (state->triangles[t].v[0] < 0 || !(orient3d_of_triangle(state, t, point) > 0.0)) continue;
        state->last_seen_by[t] = point;
        sees_any = 1;
    }
    if (!sees_any) return;

    const int old_count = state->triangle_count;
    int next_free = 0, horizon_start = -1;
    for (int t = 0; t < old_count; ++t) {
        if (state->triangles[t].v[0] < 0 || state->last_seen_by[t] != point) continue;
        for (int k = 0; k < 3; ++k) {
            const int outer = state->triangles[t].adjacent[k], a = state->triangles[t].v[k],
                      b = state->triangles[t].v[(k + 1) % 3];
            if (state->last_seen_by[outer] == point) continue;
            const int added = allocate_triangle(state, &next_free);
            state->triangles[added] = (triangle){{a, b, point}, {outer, -1, -1}};
            for (int j = 0; j < 3; ++j) {
                if (state->triangles[outer].v[j] == b && state->triangles[outer].adjacent[j] == t)
                    state->triangles[outer].adjacent[j] = added;
            }
            state->new_triangle[a] = added;
            horizon_start = a;
        }
    }
    VY_ASSERT(horizon_start >= 0);
    for (int a = horizon_start;;) { // around the horizon
        const int added = state->new_triangle[a], b = state->triangles[added].v[1];
        VY_ASSERT(state->triangles[added].v[0] == a && state->triangles[added].v[2] == point);
        state->triangles[added].adjacent[1] = state->new_triangle[b];
        state->triangles[state->new_triangle[b]].adjacent[2] = added;
        if ((a = b) == horizon_start) break;
    }
    for (int t = 0; t < old_count; ++t) {
        if (state->last_seen_by[t] == point) state->triangles[t].v[0] = -1;
    }
}

static vy_status copy_triangles(const insertion *state, vy_loops *loops, vy_error *err)
{
    int face_count = 0;
    for (int t = 0; t < state->triangle_count; ++t) face_count += state->triangles[t].v[0] >= 0;
    const vy_status status = vy_loops_alloc(face_count, 3 * face_count, loops, err);
    if (status != VY_OK) return status;
    int index_count = 0;
    for (int t = 0; t < state->triangle_count; ++t) {
        if (state->triangles[t].v[0] < 0) continue;
        loops->first[index_count / 3] = index_count;
        for (int k = 0; k < 3; ++k) loops->vertex[index_count++] = state->triangles[t].v[k];
    }
    VY_ASSERT(index_count == 3 * face_count && face_count >= 4);
    loops->first[face_count] = index_count;
    return VY_OK;
}

/// Scaled by a power of two; what is below 2^-200 of the size becomes 0, so that no product underflows.
static vy_vec3 prescaled(double scale, vy_vec3 p)
{
    double c[3] = {scale * p.x, scale * p.y, scale * p.z};
    for (int k = 0; k < 3; ++k) c[k] = real_abs(c[k]) < 0x1p-200 ? 0.0 : c[k];
    return vec3_make(c[0], c[1], c[2]);
}

static vy_status insert_all(insertion *state, int count, vy_loops *loops, vy_error *err)
{
    int corner[4];
    if (!initial_tetrahedron(state->points, count, corner)) {
        return vy_fail(err, VY_HULL_COPLANAR, "hull: all %d points are in one plane", count);
    }
    init_tetrahedron(state, corner);
    for (int i = 0; i < count; ++i) {
        if (i != corner[0] && i != corner[1] && i != corner[2] && i != corner[3]) insert(state, i);
    }
    return copy_triangles(state, loops, err);
}

vy_status vy_loops_exact_hull(const vy_vec3 *points, int count, vy_loops *loops, vy_error *err)
{
    VY_ASSERT(count >= 4);
    // At any time 2 n - 4 triangles and, while a point goes in, one for each edge of the horizon.
    const size_t n = (size_t)count, max_triangles = 3 * n;
    insertion state = {.points = malloc(n * sizeof *state.points),
                       .triangles = malloc(max_triangles * sizeof *state.triangles),
                       .last_seen_by = malloc(max_triangles * sizeof *state.last_seen_by),
                       .new_triangle = malloc(n * sizeof *state.new_triangle)};
    vy_status status;
    if (state.points != NULL && state.triangles != NULL && state.last_seen_by != NULL &&
        state.new_triangle != NULL) {
        const double scale = vy_scale_of_points(points, count);
        for (size_t i = 0; i < n; ++i) state.points[i] = prescaled(scale, points[i]);
        status = insert_all(&state, count, loops, err);
    } else {
        status = vy_fail(err, VY_NO_MEMORY, "hull: no memory for %d points", count);
    }
    free(state.points);
    free(state.triangles);
    free(state.last_seen_by);
    free(state.new_triangle);
    return status;
}
