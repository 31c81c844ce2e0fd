// boxes.c - box against box: the separating axis test, then the points by clipping faces or crossing edges.
#include "geometry/boxes.h"
#include "base/assert.h"
#include "geometry/manifold.h"
#include <float.h>

/// Two boxes, B in A's axes.
typedef struct box_pair {
    double ha[3], hb[3]; // [m]
    mat3 r;              // B's axes are its columns
    double s[3][3];      // absolute values of its entries
    double ta[3], tb[3]; // [m] from A's centre to B's, in the axes of A and of B
} box_pair;

/// The best axis so far: 0 ... 2 faces of A, 3 ... 5 of B, then an edge of each.
typedef struct best_axis {
    int axis;
    double depth; // [m] below zero: they are apart
} best_axis;

static vec3 vec_of(const double v[3]) { return vec3_make(v[0], v[1], v[2]); }
static void vec3_store(vec3 v, double to[3])
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}
static vec3 column(const mat3 *m, int k) { return vec3_make(m->m[0][k], m->m[1][k], m->m[2][k]); }

static void make_box_pair(vec3 ha, const vy_pose *pose_a, const mat3 *axes_a, vec3 hb, const vy_pose *pose_b,
                          box_pair *out)
{
    VY_ASSERT(quat_is_unit(pose_a->rotation) && quat_is_unit(pose_b->rotation));
    VY_ASSERT(ha.x > 0.0 && ha.y > 0.0 && ha.z > 0.0 && hb.x > 0.0 && hb.y > 0.0 && hb.z > 0.0);
    const vec3 d = mat3_tmul_vec(*axes_a, vec3_sub(pose_b->position, pose_a->position));
    out->r = quat_matrix(quat_mul(quat_conj(pose_a->rotation), pose_b->rotation));
    vec3_store(ha, out->ha);
    vec3_store(hb, out->hb);
    vec3_store(d, out->ta);
    vec3_store(mat3_tmul_vec(out->r, d), out->tb);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) out->s[i][j] = real_abs(out->r.m[i][j]);
    }
}

// ---- the axis

// Face normals of both. Returns 0 when one separates them by more than `margin`.
static int face_axes(const box_pair *p, double margin, best_axis *best)
{
    const double *ha = p->ha, *hb = p->hb;
    for (int i = 0; i < 3; ++i) {
        const double *s = p->s[i];
        const double depth = (ha[i] + ((hb[0] * s[0] + hb[1] * s[1]) + hb[2] * s[2])) - real_abs(p->ta[i]);
        if (depth < -margin) return 0;
        if (depth < best->depth) *best = (best_axis){i, depth};
    }
    for (int j = 0; j < 3; ++j) {
        const double depth =
            (hb[j] + ((ha[0] * p->s[0][j] + ha[1] * p->s[1][j]) + ha[2] * p->s[2][j])) - real_abs(p->tb[j]);
        if (depth < -margin) return 0;
        if (depth < best->depth) *best = (best_axis){3 + j, depth};
    }
    return 1;
}

// Axis i of A crossed with axis j of B, unit, in A's axes.
static vec3 cross_axis(const box_pair *p, int i, int j)
{
    VY_ASSERT(i >= 0 && i < 3 && j >= 0 && j < 3);
    const vec3 b = column(&p->r, j);
    const vec3 n = i == 0   ? vec3_make(0.0, -b.z, b.y)
                   : i == 1 ? vec3_make(b.z, 0.0, -b.x)
                            : vec3_make(-b.y, b.x, 0.0);
    VY_ASSERT(vec3_dot(n, n) > 0.0);
    return vec3_scale(1.0 / vec3_length(n), n);
}

// The overlap along unit axis n, in A's axes.
static double depth_along(const box_pair *p, vec3 n)
{
    VY_ASSERT(vec3_is_unit(n));
    const vec3 m = mat3_tmul_vec(p->r, n);
    const double ra = (p->ha[0] * real_abs(n.x) + p->ha[1] * real_abs(n.y)) + p->ha[2] * real_abs(n.z);
    const double rb = (p->hb[0] * real_abs(m.x) + p->hb[1] * real_abs(m.y)) + p->hb[2] * real_abs(m.z);
    return (ra + rb) - real_abs(vec3_dot(vec_of(p->ta), n));
}

// The axis of an edge pair, measured along the unit axis: for edges that are nearly parallel the entries of
// the rotation alone are too coarse. Returns as face_axes().
static int measure_edge_axis(const box_pair *p, int i, int j, double margin, best_axis *best)
{
    const double depth = depth_along(p, cross_axis(p, i, j));
    if (depth < -margin) return 0;
    if (depth < best->depth) *best = (best_axis){6 + 3 * i + j, depth};
    return 1;
}

// An edge pair: e_i x b_j, whose components are entries of the rotation. Returns as face_axes().
VY_FN int edge_axis(const box_pair *p, int i, int j, double margin, best_axis *best)
{
    const double *ha = p->ha, *hb = p->hb, *t = p->ta;
    const double(*r)[3] = p->r.m, (*s)[3] = p->s;
    const int i1 = i == 2 ? 0 : i + 1, i2 = i == 0 ? 2 : i - 1;
    const int j1 = j == 2 ? 0 : j + 1, j2 = j == 0 ? 2 : j - 1;
    const double length2 = r[i1][j] * r[i1][j] + r[i2][j] * r[i2][j];
    const double reach = (ha[i1] * s[i2][j] + ha[i2] * s[i1][j]) + (hb[j1] * s[i][j2] + hb[j2] * s[i][j1]);
    const double over = reach - real_abs(t[i2] * r[i1][j] - t[i1] * r[i2][j]);
    if (over * real_abs(over) >= best->depth * real_abs(best->depth) * length2 || length2 < 1e-18) return 1;
    return measure_edge_axis(p, i, j, margin, best);
}

// All of them, without a loop: with constant indices the test of one takes few instructions.
static int edge_axes(const box_pair *p, double margin, best_axis *best)
{
    return edge_axis(p, 0, 0, margin, best) && edge_axis(p, 0, 1, margin, best) &&
           edge_axis(p, 0, 2, margin, best) && edge_axis(p, 1, 0, margin, best) &&
           edge_axis(p, 1, 1, margin, best) && edge_axis(p, 1, 2, margin, best) &&
           edge_axis(p, 2, 0, margin, best) && edge_axis(p, 2, 1, margin, best) &&
           edge_axis(p, 2, 2, margin, best);
}

// The axis of least overlap. Returns 0 when one of them separates the boxes by more than `margin`.
static int min_overlap_axis(const box_pair *p, double margin, best_axis *best)
{
    *best = (best_axis){0, DBL_MAX};
    return face_axes(p, margin, best) && edge_axes(p, margin, best);
}

// ---- edge contacts

// Where edge i of A and edge j of B cross, seen along the normal: the point on A, in its axes. Returns 0 when
// they cross beyond an end; then the point is the end of A's edge, at most.
static int edge_edge_point(const box_pair *p, vec3 n, int i, int j, vec3 *on_a)
{
    const vec3 ha = vec_of(p->ha), hb = vec_of(p->hb), m = mat3_tmul_vec(p->r, n);
    const vec3 pa =
        vec3_make(i == 0 ? 0.0 : real_copysign(ha.x, n.x), i == 1 ? 0.0 : real_copysign(ha.y, n.y),
                  i == 2 ? 0.0 : real_copysign(ha.z, n.z));
    const vec3 qb =
        vec3_make(j == 0 ? 0.0 : real_copysign(hb.x, -m.x), j == 1 ? 0.0 : real_copysign(hb.y, -m.y),
                  j == 2 ? 0.0 : real_copysign(hb.z, -m.z));
    const vec3 pb = vec3_add(mat3_mul_vec(p->r, qb), vec_of(p->ta));
    const vec3 u = vec3_make(i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0);
    const vec3 v = column(&p->r, j), d = vec3_sub(pb, pa);
    const double ud = vec3_dot(u, d), vd = vec3_dot(v, d), uv = vec3_dot(u, v), across2 = 1.0 - uv * uv;
    VY_ASSERT(across2 > 0.0);
    const double s = (ud - uv * vd) / across2, t = (uv * ud - vd) / across2;
    *on_a = vec3_add_scaled(pa, real_clamp(s, -p->ha[i], p->ha[i]), u);
    return real_abs(s) <= p->ha[i] && real_abs(t) <= p->hb[j];
}

// ---- face contacts

enum { MAX_VERTICES = 16 }; // four and one for every clip; rounding may produce more

_Static_assert(MAX_VERTICES < 2 * VY_FEATURE_POINTS, "the deepest point finds room beside a clipped face");

/// The incident face clipped by the reference face: x and y along the reference, z above it, from its centre.
typedef struct clip_polygon {
    int count;
    struct {
        double at[3]; // [m]
        uint64_t id;
        uint32_t line; // id of the line that the edge from this point lies on
    } p[MAX_VERTICES];
} clip_polygon;

/// A face of a box: at the end of axis `k` on the side of `sign`.
typedef struct box_face {
    int k, k1, k2;
    double sign;
} box_face;

static box_face face_of(int k, double sign)
{
    VY_ASSERT(k >= 0 && k < 3 && real_abs(sign) == 1.0);
    return (box_face){k, k == 2 ? 0 : k + 1, k == 0 ? 2 : k - 1, sign};
}

// The face with the normal nearest to d, in the box's axes.
static box_face face_towards(vec3 d)
{
    const double x = real_abs(d.x), y = real_abs(d.y), z = real_abs(d.z);
    if (x >= y && x >= z) return face_of(0, d.x < 0.0 ? -1.0 : 1.0);
    return y >= z ? face_of(1, d.y < 0.0 ? -1.0 : 1.0) : face_of(2, d.z < 0.0 ? -1.0 : 1.0);
}

static uint32_t face_id(box_face f) { return (uint32_t)(2 * f.k + (f.sign < 0.0)); }

// Signs of vertex i of a face, counter-clockwise seen from outside: in the order of vy_feature_of().
static const signed char vertex_signs[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};

static uint32_t vertex_id(box_face f, int i)
{
    VY_ASSERT(i >= 0 && i < 4);
    return (uint32_t)(f.sign > 0.0) << f.k | (uint32_t)(vertex_signs[i][0] > 0) << f.k1 |
           (uint32_t)(vertex_signs[i][1] * f.sign > 0.0) << f.k2;
}

// Sutherland-Hodgman: the part with sign * at[axis] <= half. Returns `in` when nothing is cut off.
static clip_polygon *clip(clip_polygon *in, int axis, double sign, double half, uint32_t side,
                          clip_polygon *out)
{
    VY_ASSERT(in != out && in->count >= 0 && in->count <= MAX_VERTICES);
    VY_ASSERT(half > 0.0 && (axis == 0 || axis == 1));
    double h[MAX_VERTICES], max_value = 0.0;
    for (int i = 0; i < in->count; ++i) {
        h[i] = sign * in->p[i].at[axis] - half;
        max_value = real_max(max_value, h[i]);
    }
    if (!(max_value > 0.0)) return in;
    out->count = 0;
    for (int i = 0; i < in->count && out->count < MAX_VERTICES - 1; ++i) {
        const int j = i + 1 == in->count ? 0 : i + 1;
        if (h[i] <= 0.0) out->p[out->count++] = in->p[i];
        if (!(h[i] * h[j] < 0.0)) continue;
        const double t = h[i] / (h[i] - h[j]), *a = in->p[i].at, *b = in->p[j].at;
        double *to = out->p[out->count].at;
        for (int k = 0; k < 3; ++k) to[k] = a[k] + t * (b[k] - a[k]);
        to[axis] = sign * half;
        out->p[out->count].id = clip_id(in->p[i].id, in->p[i].line, side);
        out->p[out->count++].line = h[i] < 0.0 ? side : in->p[i].line;
    }
    VY_ASSERT(out->count <= MAX_VERTICES);
    return out;
}

/// The reference box and its face, and the other (incident) box in its axes.
typedef struct face_pair {
    const double *half, *other_half; // [m]
    double centre[3];                // [m] of the other
    double axis[3][3];               // the other's axes, one a row
    box_face face, other_face;
    int flipped; // 1: the reference is B
} face_pair;

static void reference_on_a(const box_pair *p, face_pair *q)
{
    q->flipped = 0;
    q->half = p->ha;
    q->other_half = p->hb;
    for (int j = 0; j < 3; ++j) {
        q->centre[j] = p->ta[j];
        for (int i = 0; i < 3; ++i) q->axis[j][i] = p->r.m[i][j];
    }
}

static void reference_on_b(const box_pair *p, face_pair *q)
{
    q->flipped = 1;
    q->half = p->hb;
    q->other_half = p->ha;
    for (int i = 0; i < 3; ++i) {
        q->centre[i] = -p->tb[i];
        for (int j = 0; j < 3; ++j) q->axis[i][j] = p->r.m[i][j];
    }
}

// The vertices of the incident face.
static void incident_polygon(const face_pair *q, clip_polygon *out)
{
    const box_face f = q->face, g = q->other_face;
    const int order[3] = {f.k1, f.k2, f.k};
    const double *along = q->axis[g.k], *first = q->axis[g.k1], *second = q->axis[g.k2];
    for (int c = 0; c < 3; ++c) {
        const int k = order[c];
        const double face_centre = q->centre[k] + g.sign * q->other_half[g.k] * along[k];
        const double u = q->other_half[g.k1] * first[k], v = g.sign * q->other_half[g.k2] * second[k];
        for (int i = 0; i < 4; ++i)
            out->p[i].at[c] = (face_centre + vertex_signs[i][0] * u) + vertex_signs[i][1] * v;
    }
    for (int i = 0; i < 4; ++i) {
        out->p[i].at[2] = f.sign * out->p[i].at[2] - q->half[f.k];
        out->p[i].line = vertex_id(g, i);
        out->p[i].id = point_id(q->flipped, face_id(f), face_id(g), out->p[i].line, 0);
    }
    out->count = 4;
}

// Clip the incident face, which is in the first buffer, by the sides of the reference. Returns the buffer
// with the result.
static const clip_polygon *clip_incident(const face_pair *q, clip_polygon buffer[2])
{
    clip_polygon *now = &buffer[0];
    for (int i = 0; i < 4; ++i) { // the sides, each from vertex i: along y, x, y, x
        const int axis = i % 2 == 0;
        const double sign = axis ? vertex_signs[i][1] * q->face.sign : vertex_signs[i][0];
        now = clip(now, axis, sign, q->half[axis ? q->face.k2 : q->face.k1], side_id(vertex_id(q->face, i)),
                   now == &buffer[0] ? &buffer[1] : &buffer[0]);
    }
    return now;
}

/// A contact of two boxes, found by an axis.
typedef struct box_contact {
    vec3 n, m;             // the normal, unit, from A to B in A's axes; from B to A in B's
    double depth;          // [m]
    int is_edge_edge;      // 1: an edge of each
    vec3 point;            // [m] where they cross, on A in its axes
    double scale;          // [m]
    double max_separation; // [m] points up to this far apart are kept
    double min_depth;      // [m] lower bound of their depths
} box_contact;

static void add_candidate(vy_candidates *c, vec3 p, double depth, uint64_t id)
{
    VY_ASSERT(c->count >= 0 && c->count < 2 * VY_FEATURE_POINTS);
    c->points[c->count].p = p;
    c->points[c->count].depth = depth;
    c->points[c->count++].id = id;
}

// The points of a face contact: on A, in the reference's axes. `along`: cosine between its normal and the
// contact's. Returns the depth of the deepest.
static double face_points(const face_pair *q, const box_contact *x, double along, vy_candidates *c)
{
    VY_ASSERT(along > 0.0);
    clip_polygon buffer[2];
    incident_polygon(q, &buffer[0]);
    const clip_polygon *const face = clip_incident(q, buffer);
    double deepest = -DBL_MAX;
    for (int i = 0; i < face->count; ++i) {
        const double *at = face->p[i].at;
        double p[3];
        if (at[2] > x->max_separation) continue;
        // No point is deeper than the contact: more depth comes from the tilt of the face.
        const double depth = real_max(real_min(-at[2] / along, x->depth), x->min_depth);
        p[q->face.k1] = at[0];
        p[q->face.k2] = at[1];
        p[q->face.k] = q->face.sign * (q->half[q->face.k] + at[2]);
        add_candidate(c, q->flipped ? vec_of(p) : vec3_add_scaled(vec_of(p), depth, x->n), depth,
                      face->p[i].id);
        deepest = real_max(deepest, depth);
    }
    return deepest;
}

// ---- the manifold

static vec3 unit_axis(int k, double sign)
{
    return vec3_make(k == 0 ? sign : 0.0, k == 1 ? sign : 0.0, k == 2 ? sign : 0.0);
}

static double max_component(vec3 v)
{
    return real_max(real_abs(v.x), real_max(real_abs(v.y), real_abs(v.z)));
}

// The contact of an axis. Returns 0 when boxes that are apart are nearer elsewhere.
static int contact_of_axis(const box_pair *p, best_axis best, box_contact *x)
{
    VY_ASSERT(best.axis >= 0 && best.axis < 15);
    const int k = best.axis % 3, i = (best.axis - 6) / 3;
    x->depth = best.depth;
    x->is_edge_edge = best.axis >= 6;
    x->point = vec3_zero();
    if (best.axis < 3) {
        x->n = unit_axis(k, p->ta[k] < 0.0 ? -1.0 : 1.0);
        x->m = vec3_neg(mat3_tmul_vec(p->r, x->n));
    } else if (best.axis < 6) {
        const double sign = p->tb[k] < 0.0 ? -1.0 : 1.0;
        x->n = vec3_scale(sign, column(&p->r, k));
        x->m = unit_axis(k, -sign);
    } else {
        const vec3 n = cross_axis(p, i, k);
        x->n = vec3_dot(n, vec_of(p->ta)) < 0.0 ? vec3_neg(n) : n;
        x->m = vec3_neg(mat3_tmul_vec(p->r, x->n));
        return edge_edge_point(p, x->n, i, k, &x->point) || x->depth >= 0.0;
    }
    return 1;
}

// The deepest vertex of B, as a point on A in its axes: where the faces have no point in common.
static vec3 deepest_vertex(const box_pair *p, const box_contact *x)
{
    const vec3 q = vec3_make(real_copysign(p->hb[0], x->m.x), real_copysign(p->hb[1], x->m.y),
                             real_copysign(p->hb[2], x->m.z));
    return vec3_add_scaled(vec3_add(mat3_mul_vec(p->r, q), vec_of(p->ta)), x->depth, x->n);
}

// The points of a face contact, in the axes of A or B. Returns which: 1 for B; -1 when boxes that are apart
// are nearer elsewhere.
static int face_contact(const vy_shape *a, const vy_shape *b, const box_pair *p, const box_contact *x,
                        vy_candidates *c)
{
    const double align_a = max_component(x->n), align_b = max_component(x->m),
                 along = real_max(align_a, align_b);
    face_pair q;
    // A's face is preferred slightly, so that rounding does not switch the reference between equal faces.
    if (align_b > align_a + 1e-14) {
        reference_on_b(p, &q);
        q.face = face_towards(x->m);
        q.other_face = face_towards(x->n);
    } else {
        reference_on_a(p, &q);
        q.face = face_towards(x->n);
        q.other_face = face_towards(x->m);
    }
    const int has_deepest = face_points(&q, x, along, c) >= x->depth - 1e-9 * x->scale;
    if (x->is_edge_edge ? has_deepest && along >= 1.0 - 4e-15
                        : has_deepest || (c->count > 0 && x->depth >= 0.0))
        return q.flipped;
    if (!x->is_edge_edge && x->depth < 0.0) return -1;
    VY_ASSERT(c->count < 2 * VY_FEATURE_POINTS);
    // The faces do not contain the deepest point: it is added first, so that of equal ones it is kept.
    const vec3 on_a = x->is_edge_edge ? x->point : deepest_vertex(p, x);
    if (c->count > 0) c->points[c->count] = c->points[0];
    c->points[0].p = q.flipped ? mat3_tmul_vec(p->r, vec3_sub(on_a, vec_of(p->ta))) : on_a;
    c->points[0].depth = x->depth;
    c->points[0].id = vy_vertex_pair_id(a, x->n, b, x->m, x->scale);
    ++c->count;
    return q.flipped;
}

int vy_boxes_may_overlap_by(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                            const vy_pose *pose_b, double depth)
{
    VY_ASSERT(a->kind == VY_SHAPE_BOX && b->kind == VY_SHAPE_BOX);
    VY_ASSERT(depth >= 0.0);
    const mat3 axes_a = quat_matrix(pose_a->rotation);
    box_pair p;
    best_axis best;
    make_box_pair(a->box.half, pose_a, &axes_a, b->box.half, pose_b, &p);
    return min_overlap_axis(&p, -depth, &best);
}

int vy_boxes_collide(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                     double margin, vy_manifold *out)
{
    VY_ASSERT(a->kind == VY_SHAPE_BOX && b->kind == VY_SHAPE_BOX);
    VY_ASSERT(margin >= 0.0);
    const mat3 axes_a = quat_matrix(pose_a->rotation);
    box_pair p;
    best_axis best;
    box_contact x;
    vy_candidates c;
    out->count = 0;
    make_box_pair(a->box.half, pose_a, &axes_a, b->box.half, pose_b, &p);
    if (!min_overlap_axis(&p, margin, &best)) return 1;
    if (!contact_of_axis(&p, best, &x)) return 0;
    const double size_a = vec3_length(a->box.half), size_b = vec3_length(b->box.half);
    x.scale = size_a + size_b;
    // Nearly parallel faces of boxes that are apart keep all their vertices.
    x.max_separation = x.depth < 0.0 ? margin + (0.01 * real_min(size_a, size_b) - x.depth)
                                     : real_max(margin, 1e-12 * x.scale);
    x.min_depth = margin > 0.0 ? -DBL_MAX : 0.0;
    c.count = 0;
    int flipped = 0;
    if (x.is_edge_edge && max_component(x.n) < VY_FACE_ALIGNED_COSINE &&
        max_component(x.m) < VY_FACE_ALIGNED_COSINE) {
        add_candidate(&c, x.point, x.depth,
                      vy_vertex_pair_id(a, x.n, b, x.m, x.scale)); // crossing edges have one point
    } else {
        flipped = face_contact(a, b, &p, &x, &c);
        if (flipped < 0) return 0;
        vy_manifold_reduce(&c);
    }
    VY_ASSERT(c.count >= 1 && c.count <= VY_MANIFOLD_POINTS);
    VY_ASSERT(vec3_is_unit(x.n) && vec3_is_unit(x.m));
    const mat3 axes = flipped ? quat_matrix(pose_b->rotation) : axes_a;
    const vec3 origin = flipped ? pose_b->position : pose_a->position;
    out->normal = mat3_mul_vec(axes_a, x.n);
    for (; out->count < c.count; ++out->count) {
        const vec3 w = vec3_add(origin, mat3_mul_vec(axes, c.points[out->count].p));
        const double depth = c.points[out->count].depth;
        out->points[out->count] =
            (vy_manifold_point){w, vec3_add_scaled(w, -depth, out->normal), depth, c.points[out->count].id};
    }
    return 1;
}
