// epa_kernel.h - the expanding polytope algorithm with fixed storage, over the support functions of the
// including file.
//
// The polytope is inside A - B at all times, so the distance of its nearest face is a lower bound of the
// depth; the extent of A - B along that face's normal is an upper bound. The search ends when the two agree.
#pragma once
#include "base/assert.h"
#include "geometry/epa.h"

#define NO_FACE 1e38 // the distance of a face that is not in use

_Static_assert(sizeof(vy_epa) < 10000, "the storage of a query is under 10 KB");
_Static_assert(VY_EPA_FACES >= 2 * VY_EPA_VERTICES - 4 && VY_EPA_FACES % 8 == 0, "room for every face");
_Static_assert(VY_EPA_VERTICES <= UINT8_MAX + 1, "a vertex's number fits a byte");
_Static_assert(4 * VY_EPA_FACES + 3 <= UINT16_MAX, "a face and one of its edges fit 16 bits");
_Static_assert(VY_EPA_FACES < UINT8_MAX, "a face's number fits a byte");

// The plane through three points; NO_FACE when they are on one line.
VY_FN vec3 epa_plane(const vy_epa *e, int a, int b, int c, double *d)
{
    VY_ASSERT(a < e->vertex_count && b < e->vertex_count && c < e->vertex_count);
    VY_ASSERT(a != b && b != c && c != a);
    const vec3 p = e->w[a];
    const vec3 m = vec3_cross(vec3_sub(e->w[b], p), vec3_sub(e->w[c], p));
    const double area2 = vec3_dot(m, m), s = 1.0 / real_sqrt(area2);
    *d = area2 > VY_MIN_AREA2 ? s * vec3_dot(m, p) : NO_FACE;
    return vec3_scale(s, m);
}

VY_FN void epa_remove_face(vy_epa *e, int f)
{
    e->faces[f].alive = 0;
    e->d[f] = NO_FACE;
}

VY_FN void epa_free_face(vy_epa *e, int f)
{
    VY_ASSERT(f >= 0 && f < e->face_count && !e->faces[f].alive);
    e->faces[f].next[0] = (uint16_t)e->free_face;
    e->free_face = f;
}

// Add eight faces at a time, because argmin takes eight at a time.
static int epa_grow(vy_epa *e)
{
    if (e->face_count == VY_EPA_FACES) return 0;
    e->face_count += 8;
    for (int f = e->face_count - 1; f >= e->face_count - 8; --f) {
        epa_remove_face(e, f);
        epa_free_face(e, f);
    }
    return 1;
}

// Returns the face, or -1 when it has no area or there is no room.
VY_FN int epa_make_face(vy_epa *e, int a, int b, int c)
{
    if (e->free_face == VY_EPA_FACES && !epa_grow(e)) return -1;
    const int f = e->free_face;
    VY_ASSERT(f >= 0 && f < e->face_count && !e->faces[f].alive);
    vy_epa_face *face = &e->faces[f];
    double d;
    const vec3 n = epa_plane(e, a, b, c, &d);
    e->free_face = face->next[0];
    face->n[0] = (float)n.x;
    face->n[1] = (float)n.y;
    face->n[2] = (float)n.z;
    face->v[0] = (uint8_t)a;
    face->v[1] = (uint8_t)b;
    face->v[2] = (uint8_t)c;
    face->alive = 1;
    e->d[f] = d;
    return real_abs(d) < NO_FACE ? f : -1;
}

VY_FN void epa_link(vy_epa *e, int f, int i, int g, int j)
{
    VY_ASSERT(f != g && f >= 0 && f < e->face_count && g >= 0 && g < e->face_count);
    VY_ASSERT(i >= 0 && i < 3 && j >= 0 && j < 3);
    e->faces[f].next[i] = (uint16_t)(4 * g + j);
    e->faces[g].next[j] = (uint16_t)(4 * f + i);
}

// Whether face f is visible from w: w is beyond it by more than eps, which is much less than the error of the
// single-precision normal.
VY_FN int epa_is_visible(const vy_epa *e, int f, vec3 w, double eps, double float_error)
{
    const vy_epa_face *face = &e->faces[f];
    const vec3 coarse_normal = vec3_make((double)face->n[0], (double)face->n[1], (double)face->n[2]);
    const double height = vec3_dot(coarse_normal, w) - e->d[f];
    if (real_abs(height) > float_error) return height > 0.0;
    double d;
    const vec3 n = epa_plane(e, face->v[0], face->v[1], face->v[2], &d);
    return vec3_dot(n, w) - d > eps;
}

// Remove the faces that are visible from w, beginning with face f, and list the edges of the horizon in
// order. Returns their number, 0 when there are too many.
static int epa_remove_visible(vy_epa *e, int f, vec3 w, double eps, double float_error)
{
    VY_ASSERT(e->faces[f].alive);
    uint8_t removed[VY_EPA_FACES];
    int top = 0, edge_count = 0, removed_count = 1;
    removed[0] = (uint8_t)f;
    epa_remove_face(e, f);
    for (int i = 2; i >= 0; --i) e->stack[top++] = e->faces[f].next[i];
    while (top > 0) {
        const int link = e->stack[--top], g = link / 4, i = link % 4;
        VY_ASSERT(g < e->face_count && i < 3);
        const vy_epa_face *face = &e->faces[g];
        if (!face->alive) continue;
        if (epa_is_visible(e, g, w, eps, float_error)) {
            if (top + 2 > VY_EPA_FACES) return 0;
            VY_ASSERT(removed_count < VY_EPA_FACES);
            removed[removed_count++] = (uint8_t)g;
            epa_remove_face(e, g);
            e->stack[top++] = face->next[i == 0 ? 2 : i - 1];
            e->stack[top++] = face->next[i == 2 ? 0 : i + 1];
        } else {
            if (edge_count == VY_EPA_VERTICES) return 0;
            e->horizon[edge_count++] = (uint16_t)link;
        }
    }
    for (int i = 0; i < removed_count; ++i) epa_free_face(e, removed[i]);
    return edge_count;
}

// Fill the hole with triangles from the horizon to vertex k. Returns 0 when the horizon is no closed loop:
// rounding has broken the polytope.
static int epa_fill_horizon(vy_epa *e, int edge_count, int k)
{
    VY_ASSERT(edge_count >= 0 && edge_count <= VY_EPA_VERTICES && k == e->vertex_count - 1);
    int first_face = -1, last_face = -1;
    for (int edge = 0; edge < edge_count; ++edge) {
        const int g = e->horizon[edge] / 4, i = e->horizon[edge] % 4;
        VY_ASSERT(e->faces[g].alive);
        const int a = e->faces[g].v[i == 2 ? 0 : i + 1], b = e->faces[g].v[i];
        const int f = epa_make_face(e, a, b, k);
        if (f < 0) return 0;
        epa_link(e, f, 0, g, i);
        if (edge == 0) {
            first_face = f;
        } else {
            if (e->faces[last_face].v[1] != a) return 0;
            epa_link(e, last_face, 1, f, 2);
        }
        last_face = f;
    }
    if (edge_count < 3 || e->faces[last_face].v[1] != e->faces[first_face].v[0]) return 0;
    epa_link(e, last_face, 1, first_face, 2);
    return 1;
}

VY_FN void epa_add_vertex(vy_epa *e, const vy_minkowski_vertex *m)
{
    VY_ASSERT(e->vertex_count >= 0 && e->vertex_count < VY_EPA_VERTICES);
    const int k = e->vertex_count++;
    e->w[k] = m->w;
    e->ia[k] = m->ia;
    e->ib[k] = m->ib;
}

// The first tetrahedron, with outward faces.
static int epa_start(vy_epa *e, const vy_minkowski_vertex v[4])
{
    static const uint8_t face[4][3] = {{1, 2, 3}, {0, 2, 1}, {0, 3, 2}, {0, 1, 3}};
    const vec3 n = vec3_cross(vec3_sub(v[2].w, v[1].w), vec3_sub(v[3].w, v[1].w));
    const int is_inward = vec3_dot(n, vec3_sub(v[1].w, v[0].w)) < 0.0;
    e->vertex_count = e->face_count = 0;
    e->free_face = VY_EPA_FACES;
    for (int i = 0; i < 4; ++i) epa_add_vertex(e, &v[is_inward && i >= 2 ? 5 - i : i]);
    for (int i = 0; i < 4; ++i) {
        if (epa_make_face(e, face[i][0], face[i][1], face[i][2]) != i) return 0;
    }
    epa_link(e, 0, 0, 1, 1);
    epa_link(e, 0, 1, 2, 1);
    epa_link(e, 0, 2, 3, 1);
    epa_link(e, 1, 0, 2, 2);
    epa_link(e, 2, 0, 3, 2);
    epa_link(e, 3, 0, 1, 2);
    return 1;
}

// Barycentric weights of the origin's projection on the plane of face f. Returns the smallest: negative when
// the projection is outside the triangle.
static double epa_weights(const vy_epa *e, int f, double lambda[3])
{
    VY_ASSERT(f >= 0 && f < e->face_count);
    const uint8_t *v = e->faces[f].v;
    const vec3 a = e->w[v[0]], b = e->w[v[1]], c = e->w[v[2]];
    const vec3 n = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
    const double s = 1.0 / vec3_dot(n, n);
    lambda[0] = s * vec3_dot(n, vec3_cross(b, vec3_sub(c, b)));
    lambda[1] = s * vec3_dot(n, vec3_cross(c, vec3_sub(a, c)));
    lambda[2] = 1.0 - (lambda[0] + lambda[1]);
    return real_min(lambda[0], real_min(lambda[1], lambda[2]));
}

// Whether face g is a triangle of the facet that f is part of. Of concentric shapes many facets are as near.
static int epa_same_facet(const vy_epa *e, int f, int g, double tolerance, const vy_epa_result *r)
{
    if (!e->faces[g].alive || e->d[g] > e->d[f] + 2.0 * tolerance) return 0;
    for (int i = 0; i < 3; ++i) {
        if (vec3_dot(r->normal, e->w[e->faces[g].v[i]]) < r->depth - 3.0 * tolerance) return 0;
    }
    return 1;
}

// The points of both cores at the origin's projection on the facet. The facet may be several triangles: the
// one under the projection is searched among all in the plane of f.
static void epa_witness(const vy_core_pair *pair, const vy_epa *e, int f, double tolerance,
                        vy_epa_result *out)
{
    double lambda[3], min_weight = epa_weights(e, f, lambda), sum = 0.0;
    int nearest_face = f;
    for (int g = 0; g < e->face_count && min_weight < 0.0; ++g) {
        double weights[3];
        if (!epa_same_facet(e, f, g, tolerance, out)) continue;
        const double lowest_weight = epa_weights(e, g, weights);
        if (lowest_weight > min_weight) {
            min_weight = lowest_weight;
            nearest_face = g;
            for (int i = 0; i < 3; ++i) lambda[i] = weights[i];
        }
    }
    for (int i = 0; i < 3; ++i) sum += lambda[i] = real_max(lambda[i], 0.0);
    VY_ASSERT(sum > 0.0);
    vec3 a = vec3_zero();
    for (int i = 0; i < 3; ++i) {
        a = vec3_add_scaled(a, lambda[i] / sum, vy_core_point(&pair->a, e->ia[e->faces[nearest_face].v[i]]));
    }
    out->has_points = min_weight >= -1e-10;
    out->point_a = a;
    out->point_b = vec3_add_scaled(a, -out->depth, out->normal);
}

// The support point beyond face f. Returns 1 when there is none: the face is on the surface of A - B.
VY_FN int epa_search_beyond(const vy_core_pair *pair, const vy_epa *e, int f, double tolerance,
                            double float_error, vy_minkowski_vertex *m, vy_epa_result *out)
{
    const vy_epa_face *face = &e->faces[f];
    const vec3 coarse_normal = vec3_make((double)face->n[0], (double)face->n[1], (double)face->n[2]);
    minkowski_support(pair, coarse_normal.x, coarse_normal.y, coarse_normal.z, m);
    if (vec3_dot(coarse_normal, m->w) - e->d[f] > float_error)
        return 0; // far from converged: the single-precision normal is good enough
    double d;
    const vec3 n = epa_plane(e, face->v[0], face->v[1], face->v[2], &d);
    minkowski_support(pair, n.x, n.y, n.z, m);
    out->normal = n;
    out->depth = vec3_dot(n, m->w);
    return out->depth - d <= tolerance;
}

// The face normal along which the extent of A - B is smallest.
static void epa_find_best_face(const vy_core_pair *pair, const vy_epa *e, vy_epa_result *out)
{
    out->depth = NO_FACE;
    for (int f = 0; f < e->face_count; ++f) {
        const vy_epa_face *face = &e->faces[f];
        if (!face->alive) continue;
        double d;
        vy_minkowski_vertex m;
        const vec3 n = epa_plane(e, face->v[0], face->v[1], face->v[2], &d);
        if (!(real_abs(d) < NO_FACE)) continue;
        minkowski_support(pair, n.x, n.y, n.z, &m);
        if (vec3_dot(n, m.w) < out->depth) {
            out->depth = vec3_dot(n, m.w);
            out->normal = n;
        }
    }
}

static void epa_expand(const vy_core_pair *pair, const vy_minkowski_vertex v[4], double tolerance,
                       int max_iterations, vy_epa_result *out)
{
    VY_ASSERT(tolerance > 0.0 && max_iterations > 0 && pair->scale > 0.0);
    // Points this near to a plane count as in it: less would make slivers whose planes are noise.
    const double eps = 0.1 * tolerance, float_error = 1e-6 * pair->scale;
    vy_epa e;
    vy_minkowski_vertex m;
    out->converged = out->has_points = 0;
    out->iterations = 0;
    int valid = epa_start(&e, v);
    while (valid && out->iterations < max_iterations) {
        const int f = argmin(e.d, e.face_count);
        VY_ASSERT(f >= 0 && f < e.face_count && e.faces[f].alive);
        ++out->iterations;
        if (epa_search_beyond(pair, &e, f, tolerance, float_error, &m, out)) {
            out->converged = 1;
            epa_witness(pair, &e, f, tolerance, out);
            return;
        }
        if (e.vertex_count == VY_EPA_VERTICES) break;
        epa_add_vertex(&e, &m);
        const int horizon_edges = epa_remove_visible(&e, f, m.w, eps, float_error);
        valid = epa_fill_horizon(&e, horizon_edges, e.vertex_count - 1);
    }
    epa_find_best_face(pair, &e, out);
}
