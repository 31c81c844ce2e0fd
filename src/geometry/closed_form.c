// closed_form.c - contacts of spheres, capsules, and a sphere and a box, in closed form.
#include "base/assert.h"
#include "geometry/penetration.h"
#include <stddef.h>

// Any unit vector perpendicular to u.
static vec3 perpendicular(vec3 u)
{
    VY_ASSERT(vec3_is_unit(u));
    const vec3 k = real_abs(u.x) < 0.6 ? vec3_make(1.0, 0.0, 0.0) : vec3_make(0.0, 1.0, 0.0);
    const vec3 n = vec3_cross(u, k);
    return vec3_scale(1.0 / vec3_length(n), n);
}

// A segment with half extent `u`, and the parameter t of a point on it: -1 ... 1.
typedef struct segment_point {
    vec3 u;
    double t;
} segment_point;

// The normal of a segment is perpendicular to it, or at an end not back along it: any other part of d is
// rounding.
static vec3 remove_component(vec3 d, segment_point line)
{
    VY_ASSERT(real_abs(line.t) <= 1.0);
    const double along = vec3_dot(d, line.u), uu = vec3_dot(line.u, line.u);
    if (!(uu > 0.0) || (real_abs(line.t) >= 1.0 && along * line.t >= 0.0)) return d;
    return vec3_add_scaled(d, -along / uu, line.u);
}

// Two spheres about points a and b, each on a segment. `fallback` is the normal when the points coincide.
static int sphere_contact(vec3 a, double radius_a, segment_point on_a, vec3 b, double radius_b,
                          segment_point on_b, vec3 fallback, vy_contact *out)
{
    VY_ASSERT(radius_a > 0.0 && radius_b > 0.0 && vec3_is_unit(fallback));
    vec3 d = vec3_sub(b, a);
    const double distance2 = vec3_dot(d, d), radius_sum = radius_a + radius_b;
    if (distance2 > radius_sum * radius_sum) return 0;
    double distance = real_sqrt(distance2);
    if (distance < 1e-5 * radius_sum) { // too near for a direction
        d = remove_component(d, on_a);
        // The second segment without its part along the first, so as not to undo that; parallel ones have
        // nothing left.
        const double uu = vec3_dot(on_a.u, on_a.u), vv = vec3_dot(on_b.u, on_b.u);
        const double uv = vec3_dot(on_a.u, on_b.u);
        if (uu > 0.0 && real_abs(on_a.t) < 1.0) on_b.u = vec3_add_scaled(on_b.u, -uv / uu, on_a.u);
        if (vec3_dot(on_b.u, on_b.u) > 1e-14 * vv) d = remove_component(d, on_b);
        distance = vec3_length(d);
    }
    out->normal = distance > 1e-12 * radius_sum ? vec3_scale(1.0 / distance, d) : fallback;
    out->depth = real_max(radius_sum - distance, 0.0);
    out->point_a = vec3_add_scaled(a, radius_a, out->normal);
    out->point_b = vec3_add_scaled(out->point_a, -out->depth, out->normal);
    VY_ASSERT(vec3_is_unit(out->normal) && out->depth >= 0.0);
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
    const vec3 fallback = perpendicular(quat_rotate(pose_b->rotation, vec3_make(0.0, 0.0, 1.0)));
    return sphere_contact(pose_a->position, a->sphere.radius, (segment_point){vec3_zero(), 0.0},
                          vec3_add_scaled(pose_b->position, t, u), b->capsule.radius, (segment_point){u, -t},
                          fallback, out);
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
    VY_ASSERT(*s >= -1.0 && *s <= 1.0);
    if (*t > 1.0 || *t < -1.0) {
        *t = real_clamp(*t, -1.0, 1.0);
        *s = uu > 0.0 ? real_clamp((*t * uv - ur) / uu, -1.0, 1.0) : 0.0;
    }
}

static int capsule_capsule(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                           vy_contact *out)
{
    const vec3 u = capsule_axis(a, pose_a), v = capsule_axis(b, pose_b);
    double s, t;
    nearest_of_segments(pose_a->position, u, pose_b->position, v, &s, &t);
    const vec3 n = vec3_cross(u, v);
    const double n2 = vec3_dot(n, n);
    // Where the segments intersect, the normal is perpendicular to both; where they are parallel, to the
    // longer.
    const vy_pose *longer = a->capsule.half_length < b->capsule.half_length ? pose_b : pose_a;
    const vec3 fallback = n2 > 1e-20 * vec3_dot(u, u) * vec3_dot(v, v)
                              ? vec3_scale(1.0 / real_sqrt(n2), n)
                              : perpendicular(quat_rotate(longer->rotation, vec3_make(0.0, 0.0, 1.0)));
    return sphere_contact(vec3_add_scaled(pose_a->position, s, u), a->capsule.radius, (segment_point){u, s},
                          vec3_add_scaled(pose_b->position, t, v), b->capsule.radius, (segment_point){v, -t},
                          fallback, out);
}

// Sphere a against box b: the nearest point of the box, or of its surface when the centre is inside.
static int sphere_box(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                      vy_contact *out)
{
    const vec3 half = b->box.half;
    VY_ASSERT(half.x > 0.0 && half.y > 0.0 && half.z > 0.0 && a->sphere.radius > 0.0);
    const vec3 c = quat_unrotate(pose_b->rotation, vec3_sub(pose_a->position, pose_b->position));
    const vec3 q = vec3_make(real_clamp(c.x, -half.x, half.x), real_clamp(c.y, -half.y, half.y),
                             real_clamp(c.z, -half.z, half.z));
    const vec3 d = vec3_sub(q, c);
    const double distance2 = vec3_dot(d, d), r = a->sphere.radius;
    if (distance2 > r * r) return 0;
    vec3 n;
    double distance = real_sqrt(distance2);
    if (distance2 > 0.0) {
        n = vec3_scale(1.0 / distance, d);
    } else {
        const double gx = half.x - real_abs(c.x), gy = half.y - real_abs(c.y), gz = half.z - real_abs(c.z);
        n = gx <= gy && gx <= gz ? vec3_make(real_copysign(1.0, -c.x), 0.0, 0.0)
            : gy <= gz           ? vec3_make(0.0, real_copysign(1.0, -c.y), 0.0)
                                 : vec3_make(0.0, 0.0, real_copysign(1.0, -c.z));
        distance = -real_min(gx, real_min(gy, gz));
    }
    out->normal = quat_rotate(pose_b->rotation, n);
    out->depth = real_max(r - distance, 0.0);
    out->point_a = vec3_add_scaled(pose_a->position, r, out->normal);
    out->point_b = vec3_add_scaled(out->point_a, -out->depth, out->normal);
    VY_ASSERT(vec3_is_unit(out->normal));
    return 1;
}

static void flip(vy_contact *c)
{
    const vec3 t = c->point_a;
    c->normal = vec3_neg(c->normal);
    c->point_a = c->point_b;
    c->point_b = t;
}

int vy_contact_closed_form(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                           int *hit, vy_contact *out)
{
    const int is_sphere_a = a->kind == VY_SHAPE_SPHERE, is_sphere_b = b->kind == VY_SHAPE_SPHERE;
    if (is_sphere_a && is_sphere_b) {
        const segment_point none = {vec3_zero(), 0.0};
        *hit = sphere_contact(pose_a->position, a->sphere.radius, none, pose_b->position, b->sphere.radius,
                              none, vec3_make(1.0, 0.0, 0.0), out);
    } else if (is_sphere_a && b->kind == VY_SHAPE_CAPSULE) {
        *hit = sphere_capsule(a, pose_a, b, pose_b, out);
    } else if (is_sphere_a && b->kind == VY_SHAPE_BOX) {
        *hit = sphere_box(a, pose_a, b, pose_b, out);
    } else if (is_sphere_b && (a->kind == VY_SHAPE_CAPSULE || a->kind == VY_SHAPE_BOX)) {
        vy_contact_closed_form(b, pose_b, a, pose_a, hit, out);
        if (*hit) flip(out);
    } else if (a->kind == VY_SHAPE_CAPSULE && b->kind == VY_SHAPE_CAPSULE) {
        *hit = capsule_capsule(a, pose_a, b, pose_b, out);
    } else {
        return 0;
    }
    return 1;
}
