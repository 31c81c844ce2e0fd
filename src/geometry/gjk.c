// gjk.c - the distance of two cores.
#include "geometry/gjk.h"
#include "base/assert.h"
#include <float.h>

// The point of a segment or triangle nearest to the origin: its vertices and their barycentric weights.
typedef struct nearest {
    int vertex_mask;  // bit i: vertex i
    double lambda[3]; // of the vertices
    vec3 v;           // [m] the point
    double v2;        // [m^2] its length, squared
} nearest;

static nearest nearest_vertex(vec3 p, int i)
{
    VY_ASSERT(i >= 0 && i < 3);
    nearest r = {1 << i, {0.0, 0.0, 0.0}, p, vec3_dot(p, p)};
    r.lambda[i] = 1.0;
    return r;
}

// The projection of the origin on the line through p and q, at p + t (q - p) with 0 < t < 1.
static nearest nearest_edge(vec3 p, vec3 q, double t, int i, int j)
{
    VY_ASSERT(t >= 0.0 && t <= 1.0 && i != j);
    nearest r = {1 << i | 1 << j, {0.0, 0.0, 0.0}, vec3_add_scaled(p, t, vec3_sub(q, p)), 0.0};
    r.v2 = vec3_dot(r.v, r.v);
    r.lambda[i] = 1.0 - t;
    r.lambda[j] = t;
    return r;
}

static nearest nearest_of_segment(vec3 a, vec3 b)
{
    const vec3 ab = vec3_sub(b, a);
    const double along = -vec3_dot(ab, a), length2 = vec3_dot(ab, ab);
    if (!(along > 0.0)) return nearest_vertex(a, 0);
    if (along >= length2) return nearest_vertex(b, 1);
    return nearest_edge(a, b, along / length2, 0, 1);
}

// The side between vertices i and j of a triangle.
static nearest nearest_of_edge(vec3 p, vec3 q, int i, int j)
{
    const nearest s = nearest_of_segment(p, q);
    nearest r = {(s.vertex_mask & 1) << i | (s.vertex_mask >> 1 & 1) << j, {0.0, 0.0, 0.0}, s.v, s.v2};
    r.lambda[i] = s.lambda[0];
    r.lambda[j] = s.lambda[1];
    return r;
}

static nearest nearest_of_edges(vec3 a, vec3 b, vec3 c)
{
    const nearest ab = nearest_of_edge(a, b, 0, 1), bc = nearest_of_edge(b, c, 1, 2),
                  ac = nearest_of_edge(a, c, 0, 2);
    const nearest best = bc.v2 < ab.v2 ? bc : ab;
    return ac.v2 < best.v2 ? ac : best;
}

// By the Voronoi regions of vertices and edges (Ericson, Real-Time Collision Detection, 5.1.5).
static nearest nearest_of_triangle(vec3 a, vec3 b, vec3 c)
{
    const vec3 ab = vec3_sub(b, a), ac = vec3_sub(c, a);
    const double d1 = -vec3_dot(ab, a), d2 = -vec3_dot(ac, a);
    if (d1 <= 0.0 && d2 <= 0.0) return nearest_vertex(a, 0);
    const double d3 = -vec3_dot(ab, b), d4 = -vec3_dot(ac, b);
    if (d3 >= 0.0 && d4 <= d3) return nearest_vertex(b, 1);
    const double d5 = -vec3_dot(ab, c), d6 = -vec3_dot(ac, c);
    if (d6 >= 0.0 && d5 <= d6) return nearest_vertex(c, 2);
    // Twice the areas of the triangles between the projection and the sides, by small differences: in a
    // sliver the products of the d's would be all rounding.
    const vec3 n = vec3_cross(ab, ac), bc = vec3_sub(c, b);
    const double vc = vec3_dot(n, vec3_cross(a, ab));
    if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) return nearest_edge(a, b, d1 / (d1 - d3), 0, 1);
    const double vb = vec3_dot(n, vec3_cross(ac, c));
    if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) return nearest_edge(a, c, d2 / (d2 - d6), 0, 2);
    const double va = vec3_dot(n, vec3_cross(b, bc));
    if (va <= 0.0 && d4 >= d3 && d5 >= d6)
        return nearest_edge(b, c, (d4 - d3) / ((d4 - d3) + (d5 - d6)), 1, 2);
    const double area2 = vec3_dot(n, n);
    if (!(va > 0.0 && vb > 0.0 && vc > 0.0 && area2 > VY_MIN_AREA2))
        return nearest_of_edges(a, b, c); // rounding: the triangle is a line
    const double s = 1.0 / (va + vb + vc);
    // The projection along the plane's normal keeps its direction when the origin is close to the plane.
    nearest r = {7, {va * s, vb * s, vc * s}, vec3_scale(vec3_dot(n, a) / area2, n), 0.0};
    r.v2 = vec3_dot(r.v, r.v);
    return r;
}

// Reduce the simplex to the vertices of `r`, which are vertices index[0..2] of it.
static void keep_vertices(vy_gjk_result *gjk, const nearest *r, const int index[3])
{
    int count = 0;
    vy_minkowski_vertex p[3];
    for (int i = 0; i < 3; ++i) {
        if ((r->vertex_mask >> i & 1) != 0) {
            p[count] = gjk->p[index[i]];
            gjk->lambda[count++] = r->lambda[i];
        }
    }
    VY_ASSERT(count >= 1);
    for (int i = 0; i < count; ++i) gjk->p[i] = p[i];
    gjk->count = count;
    gjk->v = r->v;
}

static int nearest_of_tetrahedron(vy_gjk_result *gjk)
{
    static const int face[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
    double barycentric[4],
        sum = 0.0; // coordinates of the origin: for each vertex the height over the opposite face
    int is_inside = 1;
    for (int i = 0; i < 4; ++i) {
        const vec3 a = gjk->p[face[i][0]].w, b = gjk->p[face[i][1]].w, c = gjk->p[face[i][2]].w;
        const vec3 n = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
        const double opposite_height = vec3_dot(n, vec3_sub(gjk->p[face[i][3]].w, a));
        barycentric[i] = -vec3_dot(n, a) / opposite_height;
        is_inside &= barycentric[i] > 0.0;
        sum += barycentric[i];
    }
    const int is_flat =
        !(real_abs(sum - 1.0) < 1e-6); // then the coordinates are rounding, and every face is tried
    if (is_inside && !is_flat) {
        for (int i = 0; i < 4; ++i) gjk->lambda[face[i][3]] = barycentric[i];
        gjk->v = vec3_zero();
        return 1;
    }
    nearest best = {0, {0.0, 0.0, 0.0}, vec3_zero(), DBL_MAX};
    int best_face = 0;
    for (int i = 0; i < 4; ++i) {
        if (barycentric[i] > 0.0 && !is_flat) continue;
        const nearest r =
            nearest_of_triangle(gjk->p[face[i][0]].w, gjk->p[face[i][1]].w, gjk->p[face[i][2]].w);
        if (r.v2 < best.v2) {
            best = r;
            best_face = i;
        }
    }
    keep_vertices(gjk, &best, face[best_face]);
    return 0;
}

int vy_simplex_nearest(vy_gjk_result *gjk)
{
    VY_ASSERT(gjk->count >= 1 && gjk->count <= 4);
    static const int identity[3] = {0, 1, 2};
    if (gjk->count == 4) return nearest_of_tetrahedron(gjk);
    const nearest r = gjk->count == 1   ? nearest_vertex(gjk->p[0].w, 0)
                      : gjk->count == 2 ? nearest_of_segment(gjk->p[0].w, gjk->p[1].w)
                                        : nearest_of_triangle(gjk->p[0].w, gjk->p[1].w, gjk->p[2].w);
    keep_vertices(gjk, &r, identity);
    return 0;
}

static vy_minkowski_vertex vertex_of(const vy_core_pair *pair, uint32_t ia, uint32_t ib)
{
    VY_ASSERT((pair->a.smooth || ia < (uint32_t)pair->a.padded_count) &&
              (pair->b.smooth || ib < (uint32_t)pair->b.padded_count));
    const vec3 b = vec3_add(mat3_mul_vec(pair->rotation, vy_core_point(&pair->b, ib)), pair->offset);
    const vy_minkowski_vertex m = {vec3_sub(vy_core_point(&pair->a, ia), b), ia, ib};
    return m;
}

static int is_valid_id(const vy_core *core, uint32_t id)
{
    return core->smooth || id < (uint32_t)core->padded_count;
}

// The first simplex: the cached one where it fits these shapes, else the support point towards the other's
// centre.
static void start_simplex(const vy_core_pair *pair, const vy_simplex *cache, vy_gjk_result *gjk)
{
    gjk->count = 0;
    gjk->iterations = 0;
    if (cache != NULL) {
        for (int i = 0; i < cache->count && i < 3; ++i) {
            if (is_valid_id(&pair->a, cache->a[i]) && is_valid_id(&pair->b, cache->b[i])) {
                gjk->p[gjk->count++] = vertex_of(pair, cache->a[i], cache->b[i]);
            }
        }
    }
    if (gjk->count == 0) {
        const vec3 cb = vec3_add(mat3_mul_vec(pair->rotation, pair->b.center), pair->offset);
        const vec3 d = vec3_sub(cb, pair->a.center);
        vy_support()->minkowski_support(pair, d.x, d.y, d.z, &gjk->p[0]);
        gjk->count = 1;
        gjk->iterations = 1;
    }
    vy_simplex_nearest(gjk);
}

static int has_vertex(const vy_gjk_result *gjk, const vy_minkowski_vertex *m)
{
    for (int i = 0; i < gjk->count; ++i) {
        if (gjk->p[i].ia == m->ia && gjk->p[i].ib == m->ib) return 1;
    }
    return 0;
}

void vy_gjk_distance(const vy_core_pair *pair, const vy_simplex *cache, double limit, int max_iterations,
                     vy_gjk_result *out)
{
    VY_ASSERT(max_iterations > 0 && pair->scale > 0.0);
    const vy_support_table *s = vy_support();
    const double tolerance = 1e-15 * pair->scale;
    start_simplex(pair, cache, out);
    out->beyond_limit = 0;
    double v2 = vec3_dot(out->v, out->v);
    while (v2 > tolerance * tolerance && out->iterations < max_iterations) {
        vy_gjk_result next = *out;
        VY_ASSERT(next.count >= 1 && next.count <= 3);
        vy_minkowski_vertex *w = &next.p[next.count];
        s->minkowski_support(pair, -out->v.x, -out->v.y, -out->v.z, w);
        ++out->iterations;
        const double vw = vec3_dot(out->v, w->w);
        if (limit >= 0.0 && vw > 0.0 && vw * vw > limit * limit * v2) {
            out->beyond_limit = 1;
            break;
        }
        // No vertex is nearer along v than the simplex: v is the nearest point.
        if (v2 - vw <= 4e-16 * v2 || has_vertex(out, w)) break;
        ++next.count;
        next.iterations = out->iterations;
        if (vy_simplex_nearest(&next)) {
            *out = next;
            v2 = 0.0;
            break;
        }
        const double next_v2 = vec3_dot(next.v, next.v);
        if (!(next_v2 < v2)) break; // no progress because of rounding
        *out = next;
        v2 = next_v2;
    }
    out->distance = v2 > tolerance * tolerance ? real_sqrt(v2) : 0.0;
}

void vy_gjk_points(const vy_core_pair *pair, const vy_gjk_result *gjk, vec3 *a, vec3 *b)
{
    VY_ASSERT(gjk->count >= 1 && gjk->count <= 4);
    vec3 pa = vec3_zero(), pb = vec3_zero();
    for (int i = 0; i < gjk->count; ++i) {
        pa = vec3_add_scaled(pa, gjk->lambda[i], vy_core_point(&pair->a, gjk->p[i].ia));
        pb = vec3_add_scaled(pb, gjk->lambda[i], vy_core_point(&pair->b, gjk->p[i].ib));
    }
    VY_ASSERT(vec3_is_finite(pa) && vec3_is_finite(pb));
    *a = pa;
    *b = vec3_add(mat3_mul_vec(pair->rotation, pb), pair->offset);
}
