// boxes.c - box against box: the separating axis test, then the points by clipping faces or crossing edges.
#include "geometry/boxes.h"
#include "base/assert.h"
#include "geometry/manifold.h"
#include <float.h>

/// Two boxes, B in A's axes.
typedef struct box_pair {
    double ha[3], hb[3]; // [m] half extents
    mat3 r;              // B's axes are its columns
    double abs_r[3][3];  // absolute values of the entries of r
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
        for (int j = 0; j < 3; ++j) out->abs_r[i][j] = real_abs(out->r.m[i][j]);
    }
}

// ---- the axis

// Face normals of both. Returns 0 when one separates them by more than `margin`.
static int test_face_axes(const box_pair *p, double margin, best_axis *best)
{
    const double *ha = p->ha, *hb = p->hb;
    for (int i = 0; i < 3; ++i) {
        const double *abs_row = p->abs_r[i];
        const double depth =
            (ha[i] + ((hb[0] * abs_row[0] + hb[1] * abs_row[1]) + hb[2] * abs_row[2])) - real_abs(p->ta[i]);
        if (depth < -margin) return 0;
        if (depth < best->depth) *best = (best_axis){i, depth};
    }
    for (int j = 0; j < 3; ++j) {
        const double depth =
            (hb[j] + ((ha[0] * p->abs_r[0][j] + ha[1] * p->abs_r[1][j]) + ha[2] * p->abs_r[2][j])) -
            real_abs(p->tb[j]);
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
// the rotation alone are too coarse. Returns as test_face_axes().
static int measure_edge_axis(const box_pair *p, int i, int j, double margin, best_axis *best)
{
    const double depth = depth_along(p, cross_axis(p, i, j));
    if (depth < -margin) return 0;
    if (depth < best->depth) *best = (best_axis){6 + 3 * i + j, depth};
    return 1;
}

// An edge pair: e_i x b_j, whose components are entries of the rotation. Returns as test_face_axes().
VY_FN int test_edge_axis(const box_pair *p, int i, int j, double margin, best_axis *best)
{
    const double *ha = p->ha, *hb = p->hb, *t = p->ta;
    const double(*r)[3] = p->r.m, (*s)[3] = p->abs_r;
    const int i1 = i == 2 ? 0 : i + 1, i2 = i == 0 ? 2 : i - 1;
    const int j1 = j == 2 ? 0 : j + 1, j2 = j == 0 ? 2 : j - 1;
    const double length2 = r[i1][j] * r[i1][j] + r[i2][j] * r[i2][j];
    const double extent_sum =
        (ha[i1] * s[i2][j] + ha[i2] * s[i1][j]) + (hb[j1] * s[i][j2] + hb[j2] * s[i][j1]);
    const double overlap = extent_sum - real_abs(t[i2] * r[i1][j] - t[i1] * r[i2][j]);
    if (overlap * real_abs(overlap) >= best->depth * real_abs(best->depth) * length2 || length2 < 1e-18)
        return 1;
    return measure_edge_axis(p, i, j, margin, best);
}

// All of them, without a loop: with constant indices the test of one takes few instructions.
static int test_edge_axes(const box_pair *p, double margin, best_axis *best)
{
    return test_edge_axis(p, 0, 0, margin, best) && test_edge_axis(p, 0, 1, margin, best) &&
           test_edge_axis(p, 0, 2, margin, best) && test_edge_axis(p, 1, 0, margin, best) &&
           test_edge_axis(p, 1, 1, margin, best) && test_edge_axis(p, 1, 2, margin, best) &&
           test_edge_axis(p, 2, 0, margin, best) && test_edge_axis(p, 2, 1, margin, best) &&
           test_edge_axis(p, 2, 2, margin, best);
}

// The axis of least overlap. Returns 0 when one of them separates the boxes by more than `margin`.
static int find_min_overlap_axis(const box_pair *p, double margin, best_axis *best)
{
    *best = (best_axis){0, DBL_MAX};
    return test_face_axes(p, margin, best) && test_edge_axes(p, margin, best);
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
    const double ud = vec3_dot(u, d), vd = vec3_dot(v, d), uv = vec3_dot(u, v), sine2 = 1.0 - uv * uv;
    VY_ASSERT(sine2 > 0.0);
    const double s = (ud - uv * vd) / sine2, t = (uv * ud - vd) / sine2;
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
        double at[3];  // [m]
        uint64_t id;   // of the contact point, see point_id()
        uint32_t line; // id of the line that the edge from this point lies on
    } p[MAX_VERTICES];
} clip_polygon;

/// A face of a box: at the end of axis `k` on the side of `sign`. `k1`, `k2`: the two axes along it, cyclic.
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
static clip_polygon *clip(clip_polygon *in, int axis, double sign, double half, uint32_t side_line,
                          clip_polygon *out)
{
    VY_ASSERT(in != out && in->count >= 0 && in->count <= MAX_VERTICES);
    VY_ASSERT(half > 0.0 && (axis == 0 || axis == 1));
    double beyond[MAX_VERTICES], max_value = 0.0;
    for (int i = 0; i < in->count; ++i) {
        beyond[i] = sign * in->p[i].at[axis] - half;
        max_value = real_max(max_value, beyond[i]);
    }
    if (!(max_value > 0.0)) return in;
    out->count = 0;
    for (int i = 0; i < in->count && out->count < MAX_VERTICES - 1; ++i) {
        const int j = i + 1 == in->count ? 0 : i + 1;
        if (beyond[i] <= 0.0) out->p[out->count++] = in->p[i];
        if (!(beyond[i] * beyond[j] < 0.0)) continue;
        const double t = beyond[i] / (beyond[i] - beyond[j]), *a = in->p[i].at, *b = in->p[j].at;
        double *cut = out->p[out->count].at;
        for (int k = 0; k < 3; ++k) cut[k] = a[k] + t * (b[k] - a[k]);
        cut[axis] = sign * half;
        out->p[out->count].id = clip_id(in->p[i].id, in->p[i].line, side_line);
        out->p[out->count++].line = beyond[i] < 0.0 ? side_line : in->p[i].line;
    }
    VY_ASSERT(out->count <= MAX_VERTICES);
    return out;
}

/// The reference box and its face, and the other (incident) box in its axes.
typedef struct face_pair {
    const double *half, *other_half; // [m] half extents of the reference box, and of the other
    double other_centre[3];          // [m]
    double other_axes[3][3];         // one a row
    box_face face, other_face;
    int flipped; // 1: the reference is B
} face_pair;

static void set_reference_a(const box_pair *p, face_pair *faces)
{
    faces->flipped = 0;
    faces->half = p->ha;
    faces->other_half = p->hb;
    for (int j = 0; j < 3; ++j) {
        faces->other_centre[j] = p->ta[j];
        for (int i = 0; i < 3; ++i) faces->other_axes[j][i] = p->r.m[i][j];
    }
}

static void set_reference_b(const box_pair *p, face_pair *faces)
{
    faces->flipped = 1;
    faces->half = p->hb;
    faces->other_half = p->ha;
    for (int i = 0; i < 3; ++i) {
        faces->other_centre[i] = -p->tb[i];
        for (int j = 0; j < 3; ++j) faces->other_axes[i][j] = p->r.m[i][j];
    }
}

// The vertices of the incident face.
static void make_incident_polygon(const face_pair *faces, clip_polygon *out)
{
    const box_face face = faces->face, other_face = faces->other_face;
    const int order[3] = {face.k1, face.k2, face.k};
    const double *normal_axis = faces->other_axes[other_face.k], *axis1 = faces->other_axes[other_face.k1],
                 *axis2 = faces->other_axes[other_face.k2];
    for (int component = 0; component < 3; ++component) {
        const int k = order[component];
        const double face_centre =
            faces->other_centre[k] + other_face.sign * faces->other_half[other_face.k] * normal_axis[k];
        const double u = faces->other_half[other_face.k1] * axis1[k],
                     v = other_face.sign * faces->other_half[other_face.k2] * axis2[k];
        for (int i = 0; i < 4; ++i)
            out->p[i].at[component] = (face_centre + vertex_signs[i][0] * u) + vertex_signs[i][1] * v;
    }
    for (int i = 0; i < 4; ++i) {
        out->p[i].at[2] = face.sign * out->p[i].at[2] - faces->half[face.k];
        out->p[i].line = vertex_id(other_face, i);
        out->p[i].id = point_id(faces->flipped, face_id(face), face_id(other_face), out->p[i].line, 0);
    }
    out->count = 4;
}

// Clip the incident face, which is in the first buffer, by the sides of the reference. Returns the buffer
// with the result.
static const clip_polygon *clip_incident(const face_pair *faces, clip_polygon buffer[2])
{
    clip_polygon *current = &buffer[0];
    for (int i = 0; i < 4; ++i) { // the sides, each from vertex i: along y, x, y, x
        const int axis = i % 2 == 0;
        const double sign = axis ? vertex_signs[i][1] * faces->face.sign : vertex_signs[i][0];
        current = clip(current, axis, sign, faces->half[axis ? faces->face.k2 : faces->face.k1],
                       side_id(vertex_id(faces->face, i)), current == &buffer[0] ? &buffer[1] : &buffer[0]);
    }
    return current;
}

/// A contact of two boxes, found by an axis.
typedef struct box_contact {
    vec3 n, m;             // the normal, unit, from A to B in A's axes; from B to A in B's
    double depth;          // [m]
    int is_edge_edge;      // 1: an edge of each
    vec3 point;            // [m] where they cross, on A in its axes
    double scale;          // [m] sum of the boxes' radii: tolerances are relative to it
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

// The points of a face contact: on A, in the reference's axes. `cosine`: between its normal and the
// contact's. Returns the depth of the deepest.
static double add_face_points(const face_pair *faces, const box_contact *contact, double cosine,
                              vy_candidates *candidates)
{
    VY_ASSERT(cosine > 0.0);
    clip_polygon buffer[2];
    make_incident_polygon(faces, &buffer[0]);
    const clip_polygon *const clipped = clip_incident(faces, buffer);
    double deepest = -DBL_MAX;
    for (int i = 0; i < clipped->count; ++i) {
        const double *at = clipped->p[i].at;
        double p[3];
        if (at[2] > contact->max_separation) continue;
        // No point is deeper than the contact: more depth comes from the tilt of the face.
        const double depth = real_max(real_min(-at[2] / cosine, contact->depth), contact->min_depth);
        p[faces->face.k1] = at[0];
        p[faces->face.k2] = at[1];
        p[faces->face.k] = faces->face.sign * (faces->half[faces->face.k] + at[2]);
        add_candidate(candidates, faces->flipped ? vec_of(p) : vec3_add_scaled(vec_of(p), depth, contact->n),
                      depth, clipped->p[i].id);
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
static int contact_of_axis(const box_pair *p, best_axis best, box_contact *contact)
{
    VY_ASSERT(best.axis >= 0 && best.axis < 15);
    const int axis = best.axis % 3, edge_a = (best.axis - 6) / 3;
    contact->depth = best.depth;
    contact->is_edge_edge = best.axis >= 6;
    contact->point = vec3_zero();
    if (best.axis < 3) {
        contact->n = unit_axis(axis, p->ta[axis] < 0.0 ? -1.0 : 1.0);
        contact->m = vec3_neg(mat3_tmul_vec(p->r, contact->n));
    } else if (best.axis < 6) {
        const double sign = p->tb[axis] < 0.0 ? -1.0 : 1.0;
        contact->n = vec3_scale(sign, column(&p->r, axis));
        contact->m = unit_axis(axis, -sign);
    } else {
        const vec3 n = cross_axis(p, edge_a, axis);
        contact->n = vec3_dot(n, vec_of(p->ta)) < 0.0 ? vec3_neg(n) : n;
        contact->m = vec3_neg(mat3_tmul_vec(p->r, contact->n));
        return edge_edge_point(p, contact->n, edge_a, axis, &contact->point) || contact->depth >= 0.0;
    }
    return 1;
}

// The deepest vertex of B, as a point on A in its axes: where the faces have no point in common.
static vec3 deepest_vertex(const box_pair *p, const box_contact *contact)
{
    const vec3 q = vec3_make(real_copysign(p->hb[0], contact->m.x), real_copysign(p->hb[1], contact->m.y),
                             real_copysign(p->hb[2], contact->m.z));
    return vec3_add_scaled(vec3_add(mat3_mul_vec(p->r, q), vec_of(p->ta)), contact->depth, contact->n);
}

// The points of a face contact, in the axes of A or B. Returns which: 1 for B; -1 when boxes that are apart
// are nearer elsewhere.
static int face_contact(const vy_shape *a, const vy_shape *b, const box_pair *p, const box_contact *contact,
                        vy_candidates *candidates)
{
    const double align_a = max_component(contact->n), align_b = max_component(contact->m),
                 cosine = real_max(align_a, align_b);
    face_pair faces;
    // A's face is preferred slightly, so that rounding does not switch the reference between equal faces.
    if (align_b > align_a + 1e-14) {
        set_reference_b(p, &faces);
        faces.face = face_towards(contact->m);
        faces.other_face = face_towards(contact->n);
    } else {
        set_reference_a(p, &faces);
        faces.face = face_towards(contact->n);
        faces.other_face = face_towards(contact->m);
    }
    const int has_deepest =
        add_face_points(&faces, contact, cosine, candidates) >= contact->depth - 1e-9 * contact->scale;
    if (contact->is_edge_edge ? has_deepest && cosine >= 1.0 - 4e-15
                              : has_deepest || (candidates->count > 0 && contact->depth >= 0.0))
        return faces.flipped;
    if (!contact->is_edge_edge && contact->depth < 0.0) return -1;
    VY_ASSERT(candidates->count < 2 * VY_FEATURE_POINTS);
    // The faces do not contain the deepest point: it is added first, so that of equal ones it is kept.
    const vec3 on_a = contact->is_edge_edge ? contact->point : deepest_vertex(p, contact);
    if (candidates->count > 0) candidates->points[candidates->count] = candidates->points[0];
    candidates->points[0].p = faces.flipped ? mat3_tmul_vec(p->r, vec3_sub(on_a, vec_of(p->ta))) : on_a;
    candidates->points[0].depth = contact->depth;
    candidates->points[0].id = vy_vertex_pair_id(a, contact->n, b, contact->m, contact->scale);
    ++candidates->count;
    return faces.flipped;
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
    return find_min_overlap_axis(&p, -depth, &best);
}

int vy_boxes_collide(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                     double margin, vy_manifold *out)
{
    VY_ASSERT(a->kind == VY_SHAPE_BOX && b->kind == VY_SHAPE_BOX);
    VY_ASSERT(margin >= 0.0);
    const mat3 axes_a = quat_matrix(pose_a->rotation);
    box_pair p;
    best_axis best;
    box_contact contact;
    vy_candidates candidates;
    out->count = 0;
    make_box_pair(a->box.half, pose_a, &axes_a, b->box.half, pose_b, &p);
    if (!find_min_overlap_axis(&p, margin, &best)) return 1;
    if (!contact_of_axis(&p, best, &contact)) return 0;
    const double size_a = vec3_length(a->box.half), size_b = vec3_length(b->box.half);
    contact.scale = size_a + size_b;
    // Nearly parallel faces of boxes that are apart keep all their vertices.
    contact.max_separation = contact.depth < 0.0 ? margin + (0.01 * real_min(size_a, size_b) - contact.depth)
                                                 : real_max(margin, 1e-12 * contact.scale);
    contact.min_depth = margin > 0.0 ? -DBL_MAX : 0.0;
    candidates.count = 0;
    int flipped = 0;
    if (contact.is_edge_edge && max_component(contact.n) < VY_FACE_ALIGNED_COSINE &&
        max_component(contact.m) < VY_FACE_ALIGNED_COSINE) {
        add_candidate(
            &candidates, contact.point, contact.depth,
            vy_vertex_pair_id(a, contact.n, b, contact.m, contact.scale)); // crossing edges have one point
    } else {
        flipped = face_contact(a, b, &p, &contact, &candidates);
        if (flipped < 0) return 0;
        vy_manifold_reduce(&candidates);
    }
    VY_ASSERT(candidates.count >= 1 && candidates.count <= VY_MANIFOLD_POINTS);
    VY_ASSERT(vec3_is_unit(contact.n) && vec3_is_unit(contact.m));
    const mat3 axes = flipped ? quat_matrix(pose_b->rotation) : axes_a;
    const vec3 origin = flipped ? pose_b->position : pose_a->position;
    out->normal = mat3_mul_vec(axes_a, contact.n);
    for (; out->count < candidates.count; ++out->count) {
        const vec3 on_a = vec3_add(origin, mat3_mul_vec(axes, candidates.points[out->count].p));
        const double depth = candidates.points[out->count].depth;
        out->points[out->count] = (vy_manifold_point){on_a, vec3_add_scaled(on_a, -depth, out->normal), depth,
                                                      candidates.points[out->count].id};
    }
    return 1;
}
