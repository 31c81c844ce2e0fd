// epa_kernel.h - the expanding polytope algorithm with fixed storage, over the support functions of the
// including file.
//
// The polytope is inside A - B at all times, so the distance of its nearest face is a lower bound of the
// depth; how far A - B reaches along that face's normal is an upper one. The search ends when the two meet.
#pragma once
#include "geometry/epa.h"

#define NOWHERE 1e38 // the distance of a face that is not there

_Static_assert(sizeof(vy_epa) < 10000, "the storage of a query is under 10 KB");
_Static_assert(VY_EPA_FACES >= 2 * VY_EPA_VERTICES - 4 && VY_EPA_FACES % 8 == 0, "room for every face");
_Static_assert(VY_EPA_FACES < UINT8_MAX, "a face's number fits a byte");

// The plane through three points; NOWHERE when they are on one line.
VY_FN vec3 epa_plane(const vy_epa *e, int a, int b, int c, double *d)
{
    const vec3 p = e->w[a];
    const vec3 m = vec3_cross(vec3_sub(e->w[b], p), vec3_sub(e->w[c], p));
    const double area2 = vec3_dot(m, m), s = 1.0 / real_sqrt(area2);
    *d = area2 > VY_LEAST_AREA2 ? s * vec3_dot(m, p) : NOWHERE;
    return vec3_scale(s, m);
}

VY_FN void epa_remove(vy_epa *e, int f)
{
    e->faces[f].alive = 0;
    e->d[f] = NOWHERE;
}

VY_FN void epa_free(vy_epa *e, int f)
{
    e->faces[f].next[0] = (uint16_t)e->unused;
    e->unused = f;
}

// Eight faces at a time, for the search that looks at eight at a time.
static int epa_more(vy_epa *e)
{
    if (e->face_count == VY_EPA_FACES) return 0;
    e->face_count += 8;
    for (int f = e->face_count - 1; f >= e->face_count - 8; --f) {
        epa_remove(e, f);
        epa_free(e, f);
    }
    return 1;
}

// Returns the face, or -1 when it has no area or there is no room.
VY_FN int epa_make(vy_epa *e, int a, int b, int c)
{
    if (e->unused == VY_EPA_FACES && !epa_more(e)) return -1;
    const int f = e->unused;
    vy_epa_face *face = &e->faces[f];
    double d;
    const vec3 n = epa_plane(e, a, b, c, &d);
    e->unused = face->next[0];
    face->n[0] = (float)n.x;
    face->n[1] = (float)n.y;
    face->n[2] = (float)n.z;
    face->v[0] = (uint8_t)a;
    face->v[1] = (uint8_t)b;
    face->v[2] = (uint8_t)c;
    face->alive = 1;
    e->d[f] = d;
    return real_abs(d) < NOWHERE ? f : -1;
}

VY_FN void epa_join(vy_epa *e, int f, int i, int g, int j)
{
    e->faces[f].next[i] = (uint16_t)(4 * g + j);
    e->faces[g].next[j] = (uint16_t)(4 * f + i);
}

// Whether w is beyond face f by more than eps, which is much less than the short normal's doubt.
VY_FN int epa_sees(const vy_epa *e, int f, vec3 w, double eps, double doubt)
{
    const vy_epa_face *face = &e->faces[f];
    const vec3 near = vec3_make((double)face->n[0], (double)face->n[1], (double)face->n[2]);
    const double over = vec3_dot(near, w) - e->d[f];
    if (real_abs(over) > doubt) return over > 0.0;
    double d;
    const vec3 n = epa_plane(e, face->v[0], face->v[1], face->v[2], &d);
    return vec3_dot(n, w) - d > eps;
}

// Takes away the faces that see w, from face f on, and lists the edges around the hole in their order.
// Returns their number, 0 when they are too many.
static int epa_open(vy_epa *e, int f, vec3 w, double eps, double doubt)
{
    uint8_t removed[VY_EPA_FACES];
    int top = 0, rims = 0, count = 1;
    removed[0] = (uint8_t)f;
    epa_remove(e, f);
    for (int i = 2; i >= 0; --i) e->stack[top++] = e->faces[f].next[i];
    while (top > 0) {
        const int link = e->stack[--top], g = link / 4, i = link % 4;
        const vy_epa_face *face = &e->faces[g];
        if (!face->alive) continue;
        if (epa_sees(e, g, w, eps, doubt)) {
            if (top + 2 > VY_EPA_FACES) return 0;
            removed[count++] = (uint8_t)g;
            epa_remove(e, g);
            e->stack[top++] = face->next[i == 0 ? 2 : i - 1];
            e->stack[top++] = face->next[i == 2 ? 0 : i + 1];
        } else {
            if (rims == VY_EPA_VERTICES) return 0;
            e->rim[rims++] = (uint16_t)link;
        }
    }
    for (int i = 0; i < count; ++i) epa_free(e, removed[i]);
    return rims;
}

// Closes the hole by a cone from its rim to vertex k. Returns 0 when the rim is no loop: rounding has broken
// the polytope.
static int epa_close(vy_epa *e, int rims, int k)
{
    int first = -1, last = -1;
    for (int r = 0; r < rims; ++r) {
        const int g = e->rim[r] / 4, i = e->rim[r] % 4;
        const int a = e->faces[g].v[i == 2 ? 0 : i + 1], b = e->faces[g].v[i];
        const int f = epa_make(e, a, b, k);
        if (f < 0) return 0;
        epa_join(e, f, 0, g, i);
        if (r == 0) {
            first = f;
        } else {
            if (e->faces[last].v[1] != a) return 0;
            epa_join(e, last, 1, f, 2);
        }
        last = f;
    }
    if (rims < 3 || e->faces[last].v[1] != e->faces[first].v[0]) return 0;
    epa_join(e, last, 1, first, 2);
    return 1;
}

VY_FN void epa_add(vy_epa *e, const vy_minkowski *m)
{
    const int k = e->vertex_count++;
    e->w[k] = m->w;
    e->ia[k] = m->ia;
    e->ib[k] = m->ib;
}

// The tetrahedron, wound so that its faces look away from the fourth point.
static int epa_start(vy_epa *e, const vy_minkowski v[4])
{
    static const uint8_t face[4][3] = {{1, 2, 3}, {0, 2, 1}, {0, 3, 2}, {0, 1, 3}};
    const vec3 n = vec3_cross(vec3_sub(v[2].w, v[1].w), vec3_sub(v[3].w, v[1].w));
    const int flip = vec3_dot(n, vec3_sub(v[1].w, v[0].w)) < 0.0;
    e->vertex_count = e->face_count = 0;
    e->unused = VY_EPA_FACES;
    for (int i = 0; i < 4; ++i) epa_add(e, &v[flip && i >= 2 ? 5 - i : i]);
    for (int i = 0; i < 4; ++i) {
        if (epa_make(e, face[i][0], face[i][1], face[i][2]) != i) return 0;
    }
    epa_join(e, 0, 0, 1, 1);
    epa_join(e, 0, 1, 2, 1);
    epa_join(e, 0, 2, 3, 1);
    epa_join(e, 1, 0, 2, 2);
    epa_join(e, 2, 0, 3, 2);
    epa_join(e, 3, 0, 1, 2);
    return 1;
}

// Weights of the corners of face f at the origin's foot on its plane. Returns the smallest: negative when the
// foot is outside the triangle.
static double epa_weights(const vy_epa *e, int f, double lambda[3])
{
    const uint8_t *v = e->faces[f].v;
    const vec3 a = e->w[v[0]], b = e->w[v[1]], c = e->w[v[2]];
    const vec3 n = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
    const double s = 1.0 / vec3_dot(n, n);
    lambda[0] = s * vec3_dot(n, vec3_cross(b, vec3_sub(c, b)));
    lambda[1] = s * vec3_dot(n, vec3_cross(c, vec3_sub(a, c)));
    lambda[2] = 1.0 - (lambda[0] + lambda[1]);
    return real_min(lambda[0], real_min(lambda[1], lambda[2]));
}

// The points of both cores at the origin's foot on the facet. The facet may be several triangles: the one
// under the foot is looked for among all that lie in the plane of f.
static void epa_witness(const vy_pair *pair, const vy_epa *e, int f, double tolerance, vy_epa_result *out)
{
    double lambda[3], least_weight = epa_weights(e, f, lambda), sum = 0.0;
    int at = f;
    for (int g = 0; g < e->face_count && least_weight < 0.0; ++g) {
        double other[3];
        if (e->d[g] > e->d[f] + 2.0 * tolerance) continue;
        const double low = epa_weights(e, g, other);
        if (low > least_weight) {
            least_weight = low;
            at = g;
            for (int i = 0; i < 3; ++i) lambda[i] = other[i];
        }
    }
    for (int i = 0; i < 3; ++i) sum += lambda[i] = real_max(lambda[i], 0.0);
    vec3 a = vec3_zero();
    for (int i = 0; i < 3; ++i) {
        a = vec3_add_scaled(a, lambda[i] / sum, vy_core_point(&pair->a, e->ia[e->faces[at].v[i]]));
    }
    out->point_a = a;
    out->point_b = vec3_add_scaled(a, -out->depth, out->normal);
}

// Looks beyond face f for the vertex farthest along its normal. Returns 1 when there is none: the face is on
// the surface of A - B.
VY_FN int epa_look(const vy_pair *pair, const vy_epa *e, int f, double tolerance, double doubt,
                   vy_minkowski *m, vy_epa_result *out)
{
    const vy_epa_face *face = &e->faces[f];
    const vec3 near = vec3_make((double)face->n[0], (double)face->n[1], (double)face->n[2]);
    minkowski(pair, near.x, near.y, near.z, m);
    if (vec3_dot(near, m->w) - e->d[f] > doubt) return 0; // far from done: the short normal is good enough
    double d;
    const vec3 n = epa_plane(e, face->v[0], face->v[1], face->v[2], &d);
    minkowski(pair, n.x, n.y, n.z, m);
    out->normal = n;
    out->depth = vec3_dot(n, m->w);
    return out->depth - d <= tolerance;
}

// Of all faces the normal along which A - B reaches least far.
static void epa_best(const vy_pair *pair, const vy_epa *e, vy_epa_result *out)
{
    out->depth = NOWHERE;
    for (int f = 0; f < e->face_count; ++f) {
        const vy_epa_face *face = &e->faces[f];
        if (!face->alive) continue;
        double d;
        vy_minkowski m;
        const vec3 n = epa_plane(e, face->v[0], face->v[1], face->v[2], &d);
        if (!(real_abs(d) < NOWHERE)) continue;
        minkowski(pair, n.x, n.y, n.z, &m);
        if (vec3_dot(n, m.w) < out->depth) {
            out->depth = vec3_dot(n, m.w);
            out->normal = n;
        }
    }
}

static void epa_expand(const vy_pair *pair, const vy_minkowski v[4], double tolerance, int cap,
                       vy_epa_result *out)
{
    // Points this near to a plane are in it: less would make slivers whose planes are noise.
    const double eps = 0.1 * tolerance, doubt = 1e-6 * pair->scale;
    vy_epa e;
    vy_minkowski m;
    out->converged = 0;
    out->iterations = 0;
    int whole = epa_start(&e, v);
    while (whole && out->iterations < cap) {
        const int f = least(e.d, e.face_count);
        ++out->iterations;
        if (epa_look(pair, &e, f, tolerance, doubt, &m, out)) {
            out->converged = 1;
            epa_witness(pair, &e, f, tolerance, out);
            return;
        }
        if (e.vertex_count == VY_EPA_VERTICES) break;
        epa_add(&e, &m);
        const int rims = epa_open(&e, f, m.w, eps, doubt);
        whole = epa_close(&e, rims, e.vertex_count - 1);
    }
    epa_best(pair, &e, out);
}
