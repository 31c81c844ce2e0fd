// pairs.c - pairs of spheres, capsules and boxes in closed form.
#include "geometry/contact.h"
#include <float.h>
#include <stddef.h>

// Any unit vector across u.
static vec3 across(vec3 u)
{
    const vec3 k = real_abs(u.x) < 0.6 ? vec3_make(1.0, 0.0, 0.0) : vec3_make(0.0, 1.0, 0.0);
    const vec3 n = vec3_cross(u, k);
    return vec3_scale(1.0 / vec3_length(n), n);
}

// A segment with half `u`, and where the way out leaves it: -1 ... 1.
typedef struct core_line {
    vec3 u;
    double at;
} core_line;

// The way out of a segment is across it, or at an end not back along it: what d has else is rounding.
static vec3 square_to(vec3 d, core_line line)
{
    const double along = vec3_dot(d, line.u), uu = vec3_dot(line.u, line.u);
    if (!(uu > 0.0) || (real_abs(line.at) >= 1.0 && along * line.at >= 0.0)) return d;
    return vec3_add_scaled(d, -along / uu, line.u);
}

// Two balls about points a and b, each on a segment. `spare` is the normal when the points coincide.
static int balls(vec3 a, double ra, core_line on_a, vec3 b, double rb, core_line on_b, vec3 spare,
                 vy_contact *out)
{
    vec3 d = vec3_sub(b, a);
    const double distance2 = vec3_dot(d, d), reach = ra + rb;
    if (distance2 > reach * reach) return 0;
    double distance = real_sqrt(distance2);
    if (distance < 1e-5 * reach) { // near for a direction
        d = square_to(d, on_a);
        // The second line without its part along the first, lest it undo that; parallel ones have no more.
        const double uu = vec3_dot(on_a.u, on_a.u), vv = vec3_dot(on_b.u, on_b.u);
        const double uv = vec3_dot(on_a.u, on_b.u);
        if (uu > 0.0 && real_abs(on_a.at) < 1.0) on_b.u = vec3_add_scaled(on_b.u, -uv / uu, on_a.u);
        if (vec3_dot(on_b.u, on_b.u) > 1e-14 * vv) d = square_to(d, on_b);
        distance = vec3_length(d);
    }
    out->normal = distance > 1e-12 * reach ? vec3_scale(1.0 / distance, d) : spare;
    out->depth = real_max(reach - distance, 0.0);
    out->point_a = vec3_add_scaled(a, ra, out->normal);
    out->point_b = vec3_add_scaled(out->point_a, -out->depth, out->normal);
    return 1;
}

static vec3 capsule_axis(const vy_shape *s, const vy_pose *pose)
{
    return quat_rotate(pose->rotation, vec3_make(0.0, 0.0, s->capsule.half_length));
}

// Sphere a against the nearest point of capsule b's segment.
static int sphere_capsule(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                          vy_contact *out)
{
    const vec3 u = capsule_axis(b, pose_b), d = vec3_sub(pose_a->position, pose_b->position);
    const double uu = vec3_dot(u, u), t = uu > 0.0 ? real_clamp(vec3_dot(d, u) / uu, -1.0, 1.0) : 0.0;
    const vec3 spare = across(quat_rotate(pose_b->rotation, vec3_make(0.0, 0.0, 1.0)));
    return balls(pose_a->position, a->sphere.radius, (core_line){vec3_zero(), 0.0},
                 vec3_add_scaled(pose_b->position, t, u), b->capsule.radius, (core_line){u, -t}, spare, out);
}

// The nearest points of two segments p + s u and q + t v, s and t in -1 ... 1.
static void nearest_of_segments(vec3 p, vec3 u, vec3 q, vec3 v, double *s, double *t)
{
    const vec3 r = vec3_sub(p, q);
    const double uu = vec3_dot(u, u), vv = vec3_dot(v, v), uv = vec3_dot(u, v), ur = vec3_dot(u, r),
                 vr = vec3_dot(v, r);
    const double det = uu * vv - uv * uv;
    *s = det > 1e-14 * uu * vv ? real_clamp((uv * vr - ur * vv) / det, -1.0, 1.0) : 0.0;
    *t = vv > 0.0 ? (vr + *s * uv) / vv : 0.0;
    if (*t > 1.0 || *t < -1.0) {
        *t = real_clamp(*t, -1.0, 1.0);
        *s = uu > 0.0 ? real_clamp((*t * uv - ur) / uu, -1.0, 1.0) : 0.0;
    }
}

static int capsules(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                    vy_contact *out)
{
    const vec3 u = capsule_axis(a, pose_a), v = capsule_axis(b, pose_b);
    double s, t;
    nearest_of_segments(pose_a->position, u, pose_b->position, v, &s, &t);
    const vec3 n = vec3_cross(u, v);
    const double n2 = vec3_dot(n, n);
    // Where the segments meet, the way out is across both; where they are parallel, across the longer.
    const vy_pose *longer = a->capsule.half_length < b->capsule.half_length ? pose_b : pose_a;
    const vec3 spare = n2 > 1e-20 * vec3_dot(u, u) * vec3_dot(v, v)
                           ? vec3_scale(1.0 / real_sqrt(n2), n)
                           : across(quat_rotate(longer->rotation, vec3_make(0.0, 0.0, 1.0)));
    return balls(vec3_add_scaled(pose_a->position, s, u), a->capsule.radius, (core_line){u, s},
                 vec3_add_scaled(pose_b->position, t, v), b->capsule.radius, (core_line){v, -t}, spare, out);
}

// Sphere a against box b: the nearest point of the box, or of its surface when the centre is inside.
static int sphere_box(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                      vy_contact *out)
{
    const vec3 h = b->box.half;
    const vec3 c = quat_unrotate(pose_b->rotation, vec3_sub(pose_a->position, pose_b->position));
    const vec3 q =
        vec3_make(real_clamp(c.x, -h.x, h.x), real_clamp(c.y, -h.y, h.y), real_clamp(c.z, -h.z, h.z));
    const vec3 d = vec3_sub(q, c);
    const double distance2 = vec3_dot(d, d), r = a->sphere.radius;
    if (distance2 > r * r) return 0;
    vec3 n;
    double distance = real_sqrt(distance2);
    if (distance2 > 0.0) {
        n = vec3_scale(1.0 / distance, d);
    } else {
        const double gx = h.x - real_abs(c.x), gy = h.y - real_abs(c.y), gz = h.z - real_abs(c.z);
        n = gx <= gy && gx <= gz ? vec3_make(real_copysign(1.0, -c.x), 0.0, 0.0)
            : gy <= gz           ? vec3_make(0.0, real_copysign(1.0, -c.y), 0.0)
                                 : vec3_make(0.0, 0.0, real_copysign(1.0, -c.z));
        distance = -real_min(gx, real_min(gy, gz));
    }
    out->normal = quat_rotate(pose_b->rotation, n);
    out->depth = real_max(r - distance, 0.0);
    out->point_a = vec3_add_scaled(pose_a->position, r, out->normal);
    out->point_b = vec3_add_scaled(out->point_a, -out->depth, out->normal);
    return 1;
}

static void turn_round(vy_contact *c)
{
    const vec3 t = c->point_a;
    c->normal = vec3_neg(c->normal);
    c->point_a = c->point_b;
    c->point_b = t;
}

int vy_contact_round(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                     int *hit, vy_contact *out)
{
    const int sphere_a = a->kind == VY_SHAPE_SPHERE, sphere_b = b->kind == VY_SHAPE_SPHERE;
    if (sphere_a && sphere_b) {
        const core_line none = {vec3_zero(), 0.0};
        *hit = balls(pose_a->position, a->sphere.radius, none, pose_b->position, b->sphere.radius, none,
                     vec3_make(1.0, 0.0, 0.0), out);
    } else if (sphere_a && b->kind == VY_SHAPE_CAPSULE) {
        *hit = sphere_capsule(a, pose_a, b, pose_b, out);
    } else if (sphere_a && b->kind == VY_SHAPE_BOX) {
        *hit = sphere_box(a, pose_a, b, pose_b, out);
    } else if (sphere_b && (a->kind == VY_SHAPE_CAPSULE || a->kind == VY_SHAPE_BOX)) {
        vy_contact_round(b, pose_b, a, pose_a, hit, out);
        if (*hit) turn_round(out);
    } else if (a->kind == VY_SHAPE_CAPSULE && b->kind == VY_SHAPE_CAPSULE) {
        *hit = capsules(a, pose_a, b, pose_b, out);
    } else {
        return 0;
    }
    return 1;
}

// Along unit axis n in A's frame: how far the boxes reach into each other. *along: where B's centre is.
static double boxes_reach(vec3 ha, vec3 hb, const mat3 *r, vec3 offset, vec3 n, double *along)
{
    const vec3 m = mat3_tmul_vec(*r, n);
    *along = vec3_dot(offset, n);
    const double ra = (ha.x * real_abs(n.x) + ha.y * real_abs(n.y)) + ha.z * real_abs(n.z);
    const double rb = (hb.x * real_abs(m.x) + hb.y * real_abs(m.y)) + hb.z * real_abs(m.z);
    return (ra + rb) - real_abs(*along);
}

// The points where edge i of A and edge j of B cross, seen along the normal.
static void edges_witness(vec3 ha, vec3 hb, const mat3 *r, vec3 offset, int i, int j, vy_local_contact *out)
{
    const vec3 n = out->normal, m = mat3_tmul_vec(*r, n);
    const vec3 pa =
        vec3_make(i == 0 ? 0.0 : real_copysign(ha.x, n.x), i == 1 ? 0.0 : real_copysign(ha.y, n.y),
                  i == 2 ? 0.0 : real_copysign(ha.z, n.z));
    const vec3 qb =
        vec3_make(j == 0 ? 0.0 : real_copysign(hb.x, -m.x), j == 1 ? 0.0 : real_copysign(hb.y, -m.y),
                  j == 2 ? 0.0 : real_copysign(hb.z, -m.z));
    const vec3 pb = vec3_add(mat3_mul_vec(*r, qb), offset);
    const vec3 u = vec3_make(i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0);
    const vec3 v = vec3_make(r->m[0][j], r->m[1][j], r->m[2][j]), d = vec3_sub(pb, pa);
    const double uv = vec3_dot(u, v), s = (vec3_dot(u, d) - uv * vec3_dot(v, d)) / (1.0 - uv * uv);
    const double half = i == 0 ? ha.x : i == 1 ? ha.y : ha.z;
    out->point_a = vec3_add_scaled(pa, real_clamp(s, -half, half), u);
    out->point_b = vec3_add_scaled(out->point_a, -out->depth, n);
}

// The best axis so far: 0 ... 2 faces of A, 3 ... 5 of B, then an edge of each.
typedef struct best_axis {
    int axis;
    double depth;
} best_axis;

// Axis i of A crossed with axis j of B, unit.
static vec3 cross_axis(const mat3 *rotation, int i, int j)
{
    const vec3 b = vec3_make(rotation->m[0][j], rotation->m[1][j], rotation->m[2][j]);
    const vec3 n = i == 0   ? vec3_make(0.0, -b.z, b.y)
                   : i == 1 ? vec3_make(b.z, 0.0, -b.x)
                            : vec3_make(-b.y, b.x, 0.0);
    return vec3_scale(1.0 / vec3_length(n), n);
}

static vec3 box_axis(const mat3 *r, int axis)
{
    if (axis < 3) return vec3_make(axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? 1.0 : 0.0);
    if (axis < 6) return vec3_make(r->m[0][axis - 3], r->m[1][axis - 3], r->m[2][axis - 3]);
    return cross_axis(r, (axis - 6) / 3, (axis - 6) % 3);
}

// The faces of both boxes. Returns 0 when one separates them.
static int face_axes(const double ha[3], const double hb[3], const double (*r)[3], double (*s)[3],
                     const double t[3], best_axis *best)
{
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) s[i][j] = real_abs(r[i][j]);
        const double depth =
            (ha[i] + ((hb[0] * s[i][0] + hb[1] * s[i][1]) + hb[2] * s[i][2])) - real_abs(t[i]);
        if (depth < 0.0) return 0;
        if (depth < best->depth) *best = (best_axis){i, depth};
    }
    for (int j = 0; j < 3; ++j) {
        const double along = (t[0] * r[0][j] + t[1] * r[1][j]) + t[2] * r[2][j];
        const double depth =
            (hb[j] + ((ha[0] * s[0][j] + ha[1] * s[1][j]) + ha[2] * s[2][j])) - real_abs(along);
        if (depth < 0.0) return 0;
        if (depth < best->depth) *best = (best_axis){3 + j, depth};
    }
    return 1;
}

int vy_contact_boxes(const vy_box *a, const vy_box *b, const mat3 *rotation, vec3 offset, int *hit,
                     vy_local_contact *out)
{
    const double(*r)[3] = rotation->m;
    const double ha[3] = {a->half.x, a->half.y, a->half.z}, hb[3] = {b->half.x, b->half.y, b->half.z};
    const double t[3] = {offset.x, offset.y, offset.z};
    double s[3][3], along;
    best_axis best = {0, DBL_MAX};
    *hit = 0;
    if (!face_axes(ha, hb, r, s, t, &best)) return 0;
    for (int i = 0; i < 3; ++i) { // an edge of each: e_i x b_j, whose parts are entries of the rotation
        const int i1 = i == 2 ? 0 : i + 1, i2 = i == 0 ? 2 : i - 1;
        for (int j = 0; j < 3; ++j) {
            const int j1 = j == 2 ? 0 : j + 1, j2 = j == 0 ? 2 : j - 1;
            const double length2 = r[i1][j] * r[i1][j] + r[i2][j] * r[i2][j];
            const double reach =
                (ha[i1] * s[i2][j] + ha[i2] * s[i1][j]) + (hb[j1] * s[i][j2] + hb[j2] * s[i][j1]);
            const double over = reach - real_abs(t[i2] * r[i1][j] - t[i1] * r[i2][j]);
            if (over * real_abs(over) >= best.depth * best.depth * length2 || length2 < 1e-18) continue;
            // Measured along the unit axis: for edges that are nearly parallel the entries alone are too
            // coarse.
            const double depth =
                boxes_reach(a->half, b->half, rotation, offset, cross_axis(rotation, i, j), &along);
            if (depth < 0.0) return 0;
            if (depth < best.depth) best = (best_axis){6 + 3 * i + j, depth};
        }
    }
    *hit = 1;
    out->normal = box_axis(rotation, best.axis);
    out->depth = best.depth;
    if (vec3_dot(out->normal, offset) < 0.0) out->normal = vec3_neg(out->normal);
    if (best.axis < 6) return 0;
    edges_witness(a->half, b->half, rotation, offset, (best.axis - 6) / 3, (best.axis - 6) % 3, out);
    return 1;
}
