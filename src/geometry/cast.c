// cast.c - rays against shapes in closed form, and moving shapes against shapes.
#include "geometry/nearest.h"
#include "geometry/plane.h"
#include "base/assert.h"
#include "geometry/penetration.h"
#include "base/real.h"
#include "geometry/gjk.h"
#include <float.h>

// A ray in the shape's frame, and its hit: t in 0 ... t_max, an outward normal.
typedef struct ray {
    vec3 o, d; // origin and direction
    double t_max;
} ray;

typedef struct local_hit {
    double t;    // 0 ... t_max
    vec3 normal; // zero: the ray starts inside
} local_hit;

// A ray hits a convex shape in the interval of t that is inside all of its surfaces.
typedef struct interval {
    double in, out; // t where the ray enters and where it leaves
    vec3 normal;    // of the surface where it enters
} interval;

// Clip by the half-space dot(n, p) <= offset. Returns 0 when nothing is left.
static int clip_plane(const ray *r, vec3 n, double offset, interval *s)
{
    const double speed = vec3_dot(n, r->d), gap = offset - vec3_dot(n, r->o);
    if (speed == 0.0) return gap >= 0.0;
    const double t = gap / speed;
    if (speed < 0.0) {
        if (t > s->in) {
            s->in = t;
            s->normal = n;
        }
    } else if (t < s->out) {
        s->out = t;
    }
    return s->in <= s->out;
}

static int hit_of_interval(const ray *r, const interval *s, local_hit *hit)
{
    VY_ASSERT(s->in <= s->out);
    if (s->out < 0.0 || s->in > r->t_max) return 0;
    hit->t = real_max(s->in, 0.0);
    VY_ASSERT(hit->t <= r->t_max);
    hit->normal = s->in >= 0.0 ? s->normal : vec3_zero();
    return 1;
}

static interval unbounded_interval(void)
{
    const interval s = {-DBL_MAX, DBL_MAX, vec3_zero()};
    return s;
}

static int ray_hull(const vy_hull *hull, const ray *r, local_hit *hit)
{
    interval s = unbounded_interval();
    for (int i = 0; i < hull->face_count; ++i) {
        if (!clip_plane(r, hull->faces[i].normal, hull->faces[i].offset, &s)) return 0;
    }
    return hit_of_interval(r, &s, hit);
}

static int ray_box(vec3 half_sides, const ray *r, local_hit *hit)
{
    interval s = unbounded_interval();
    const double half[3] = {half_sides.x, half_sides.y, half_sides.z};
    for (int i = 0; i < 6; ++i) {
        const double sign = i % 2 != 0 ? -1.0 : 1.0;
        const vec3 n = vec3_make(i / 2 == 0 ? sign : 0.0, i / 2 == 1 ? sign : 0.0, i / 2 == 2 ? sign : 0.0);
        if (!clip_plane(r, n, half[i / 2], &s)) return 0;
    }
    return hit_of_interval(r, &s, hit);
}

// The t at which the ray enters and leaves the sphere about c. Roots without cancellation.
static int clip_sphere(const ray *r, vec3 c, double radius, interval *s)
{
    VY_ASSERT(radius > 0.0);
    const vec3 o = vec3_sub(r->o, c);
    const double dd = vec3_dot(r->d, r->d), b = vec3_dot(o, r->d);
    VY_ASSERT(dd > 0.0);
    const vec3 closest = vec3_add_scaled(o, -b / dd, r->d); // the point of the ray closest to the centre
    const double half_chord2 = radius * radius - vec3_dot(closest, closest);
    if (half_chord2 < 0.0) return 0;
    const double half_interval = real_sqrt(half_chord2 / dd);
    s->in = -b / dd - half_interval;
    s->out = -b / dd + half_interval;
    s->normal = vec3_scale(1.0 / radius, vec3_add_scaled(o, s->in, r->d));
    return 1;
}

// The infinite cylinder about the z axis.
static int clip_cylinder(const ray *r, double radius, interval *s)
{
    const ray flat = {vec3_make(r->o.x, r->o.y, 0.0), vec3_make(r->d.x, r->d.y, 0.0), r->t_max};
    if (vec3_dot(flat.d, flat.d) == 0.0) return vec3_dot(flat.o, flat.o) <= radius * radius;
    return clip_sphere(&flat, vec3_zero(), radius, s);
}

static int ray_cylinder(const vy_cylinder *c, const ray *r, local_hit *hit)
{
    interval s = unbounded_interval();
    if (!clip_cylinder(r, c->radius, &s)) return 0;
    if (!clip_plane(r, vec3_make(0.0, 0.0, 1.0), c->half_height, &s)) return 0;
    if (!clip_plane(r, vec3_make(0.0, 0.0, -1.0), c->half_height, &s)) return 0;
    return hit_of_interval(r, &s, hit);
}

// A capsule is a cylinder and two spheres: the ray is inside from the first entry to the last exit.
static int ray_capsule(const vy_capsule *c, const ray *r, local_hit *hit)
{
    const vec3 end = vec3_make(0.0, 0.0, c->half_length);
    interval joined = {DBL_MAX, -DBL_MAX, vec3_zero()}, s = unbounded_interval();
    if (clip_cylinder(r, c->radius, &s) && clip_plane(r, vec3_make(0.0, 0.0, 1.0), c->half_length, &s) &&
        clip_plane(r, vec3_make(0.0, 0.0, -1.0), c->half_length, &s)) {
        joined = s;
    }
    for (int i = 0; i < 2; ++i) {
        if (!clip_sphere(r, i == 0 ? end : vec3_neg(end), c->radius, &s)) continue;
        joined.out = real_max(joined.out, s.out);
        if (s.in < joined.in) {
            joined.in = s.in;
            joined.normal = s.normal;
        }
    }
    return joined.in <= joined.out && hit_of_interval(r, &joined, hit);
}

// A triangle hit from above, by its plane and three sides.
static int ray_triangle(const vec3 c[3], const ray *r, local_hit *hit)
{
    const vec3 n = vec3_cross(vec3_sub(c[1], c[0]), vec3_sub(c[2], c[0]));
    const double speed = vec3_dot(n, r->d);
    if (!(speed < 0.0)) return 0;
    const double t = vec3_dot(n, vec3_sub(c[0], r->o)) / speed;
    if (!(t >= 0.0 && t <= r->t_max)) return 0;
    for (int i = 0; i < 3; ++i) {
        const vec3 a = vec3_sub(c[i], r->o), b = vec3_sub(c[(i + 1) % 3], r->o);
        if (vec3_dot(vec3_cross(b, a), r->d) < 0.0) return 0;
    }
    hit->t = t;
    hit->normal = vec3_scale(1.0 / vec3_length(n), n);
    return 1;
}

// Traverse the cells of the grid along the ray, nearest first.
static int ray_height_field(const vy_height_field *field, const ray *r, local_hit *hit)
{
    VY_ASSERT(field->nx >= 2 && field->ny >= 2 && field->spacing > 0.0 && field->low <= field->high);
    double height;
    if (vy_height_field_height(field, r->o.x, r->o.y, &height) && r->o.z <= height && r->o.z >= field->low) {
        hit->t = 0.0;
        hit->normal = vec3_zero();
        return 1;
    }
    interval span = {0.0, r->t_max, vec3_zero()};
    const double size = field->spacing, size_x = size * (double)(field->nx - 1),
                 size_y = size * (double)(field->ny - 1);
    if (!clip_plane(r, vec3_make(1.0, 0.0, 0.0), size_x, &span) ||
        !clip_plane(r, vec3_make(-1.0, 0.0, 0.0), 0.0, &span) ||
        !clip_plane(r, vec3_make(0.0, 1.0, 0.0), size_y, &span) ||
        !clip_plane(r, vec3_make(0.0, -1.0, 0.0), 0.0, &span) ||
        !clip_plane(r, vec3_make(0.0, 0.0, 1.0), field->high, &span) ||
        !clip_plane(r, vec3_make(0.0, 0.0, -1.0), -field->low, &span)) {
        return 0;
    }
    const vec3 start = vec3_add_scaled(r->o, span.in, r->d);
    if (vy_height_field_height(field, real_clamp(start.x, 0.0, size_x), real_clamp(start.y, 0.0, size_y),
                               &height) &&
        start.z <= height) { // through a side or the bottom
        hit->t = span.in;
        hit->normal = span.normal;
        return 1;
    }
    int i = (int)real_clamp(start.x / size, 0.0, (double)(field->nx - 2));
    int j = (int)real_clamp(start.y / size, 0.0, (double)(field->ny - 2));
    while (i >= 0 && j >= 0 && i < field->nx - 1 && j < field->ny - 1) {
        local_hit best = {DBL_MAX, vec3_zero()};
        for (int half = 0; half < 2; ++half) {
            vec3 c[3];
            local_hit candidate;
            vy_height_field_triangle(field, i, j, half, c);
            if (ray_triangle(c, r, &candidate) && candidate.t < best.t) best = candidate;
        }
        if (best.t < DBL_MAX && best.t <= r->t_max) { // t_max may be infinite
            *hit = best;
            return 1;
        }
        const double x = size * (double)(r->d.x > 0.0 ? i + 1 : i),
                     y = size * (double)(r->d.y > 0.0 ? j + 1 : j);
        const double tx = r->d.x != 0.0 ? (x - r->o.x) / r->d.x : DBL_MAX;
        const double ty = r->d.y != 0.0 ? (y - r->o.y) / r->d.y : DBL_MAX;
        if (real_min(tx, ty) >= span.out) return 0;
        if (tx <= ty) {
            i += r->d.x > 0.0 ? 1 : -1;
        } else {
            j += r->d.y > 0.0 ? 1 : -1;
        }
    }
    return 0;
}

static int ray_shape(const vy_shape *shape, const ray *r, local_hit *hit)
{
    interval s = unbounded_interval();
    switch (shape->kind) {
    case VY_SHAPE_SPHERE:
        return clip_sphere(r, vec3_zero(), shape->sphere.radius, &s) && hit_of_interval(r, &s, hit);
    case VY_SHAPE_CAPSULE: return ray_capsule(&shape->capsule, r, hit);
    case VY_SHAPE_BOX: return ray_box(shape->box.half, r, hit);
    case VY_SHAPE_CYLINDER: return ray_cylinder(&shape->cylinder, r, hit);
    case VY_SHAPE_HULL: return ray_hull(shape->hull, r, hit);
    case VY_SHAPE_PLANE:
        return clip_plane(r, shape->plane.normal, shape->plane.offset, &s) && hit_of_interval(r, &s, hit);
    case VY_SHAPE_HEIGHT_FIELD: return ray_height_field(&shape->field, r, hit);
    default: return 0;
    }
}

// The ground of a globe: the plane below where the ray met the last one.
static int ray_globe(const vy_plane *plane, const vy_pose *pose, const ray *r, local_hit *hit)
{
    hit->t = 0.0;
    for (int round = 0; round < 5; ++round) {
        const vec3 at = vec3_add_scaled(r->o, hit->t, r->d);
        const vy_plane below = vy_plane_below(plane, pose, vec3_add(at, pose->position));
        interval s = unbounded_interval();
        if (!clip_plane(r, below.normal, below.offset, &s) || !hit_of_interval(r, &s, hit)) return 0;
    }
    return 1;
}

int vy_ray_cast(const vy_shape *shape, const vy_pose *pose, vy_vec3 origin, vy_vec3 direction, double t_max,
                vy_ray_hit *out)
{
    FPU_SCOPE;
    if (!(vec3_dot(direction, direction) > 0.0) || !(t_max >= 0.0) || !vy_pose_valid(pose)) return 0;
    const ray r = {quat_unrotate(pose->rotation, vec3_sub(origin, pose->position)),
                   quat_unrotate(pose->rotation, direction), t_max};
    local_hit hit;
    if (shape->kind == VY_SHAPE_PLANE && shape->plane.globe != NULL) {
        if (!ray_globe(&shape->plane, pose, &r, &hit)) return 0;
    } else if (!ray_shape(shape, &r, &hit)) {
        return 0;
    }
    out->t = hit.t;
    out->point = vec3_add_scaled(origin, hit.t, direction);
    out->normal = quat_rotate(pose->rotation, hit.normal);
    return 1;
}

static int is_ground(const vy_shape *shape)
{
    return shape->kind == VY_SHAPE_PLANE || shape->kind == VY_SHAPE_HEIGHT_FIELD;
}

// Conservative advancement: the shapes cannot touch before the gap along the normal of the nearest points is
// closed, so t never passes the contact, and for polyhedra it reaches it in finitely many steps.
vy_status vy_shape_cast(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                        vy_vec3 motion, const vy_query_options *options, int *hit, vy_cast_hit *out)
{
    FPU_SCOPE;
    if (!vy_shape_is_convex(b) || !(vy_shape_is_convex(a) || is_ground(a))) return VY_BAD_VALUE;
    if (!vy_pose_valid(pose_a) || !vy_pose_valid(pose_b) || !(vec3_length(motion) <= VY_POSE_LIMIT))
        return VY_BAD_VALUE;
    const vy_query_options resolved = vy_options_with_defaults(options);
    if (is_ground(a)) {
        vy_core core;
        vy_core_of(b, &core);
        const double tolerance = real_max(resolved.tolerance, 1e-10) * (core.outer_radius + core.margin);
        *hit = vy_cast_by_sweep(a, pose_a, b, pose_b, motion, tolerance, out);
        return VY_OK;
    }
    vy_core_pair pair;
    vy_core_of(a, &pair.a);
    vy_core_of(b, &pair.b);
    vy_pair_set_poses(pose_a, pose_b, &pair);
    const vec3 start = pair.offset, move = quat_unrotate(pose_a->rotation, motion);
    const double contact_distance = real_max(resolved.tolerance, 1e-10) * pair.scale;
    vy_simplex cache = {0, {0}, {0}};
    vec3 normal = vec3_zero();
    double t = 0.0;
    for (int step = 0; step < resolved.iterations; ++step) {
        vy_gjk_result gjk;
        vec3 on_a, on_b;
        pair.offset = vec3_add_scaled(start, t, move);
        vy_gjk_distance(&pair, &cache, -1.0, resolved.iterations, &gjk);
        cache.count = gjk.count;
        VY_ASSERT(gjk.count >= 1 && gjk.count <= 4);
        for (int i = 0; i < gjk.count; ++i) {
            cache.a[i] = gjk.p[i].ia;
            cache.b[i] = gjk.p[i].ib;
        }
        const double gap = gjk.distance - pair.margin;
        if (gap > contact_distance || (step == 0 && gap > 0.0))
            normal = vec3_scale(-1.0 / gjk.distance, gjk.v);
        const double closing = -vec3_dot(move, normal);
        VY_ASSERT(vec3_is_unit(normal) || vec3_dot(normal, normal) == 0.0);
        if (gap <= contact_distance && (closing > 0.0 || step == 0)) {
            vy_gjk_points(&pair, &gjk, &on_a, &on_b);
            on_a = vec3_add_scaled(on_a, pair.a.margin, normal);
            out->t = t;
            out->normal = quat_rotate(pose_a->rotation, normal);
            out->point = vec3_add(pose_a->position, quat_rotate(pose_a->rotation, on_a));
            *hit = 1;
            return VY_OK;
        }
        if (closing <= 0.0 || t + gap / closing > 1.0) {
            *hit = 0;
            return VY_OK;
        }
        VY_ASSERT(gap >= 0.0 && t >= 0.0 && t <= 1.0);
        t += gap / closing;
    }
    return VY_NO_CONVERGENCE;
}
