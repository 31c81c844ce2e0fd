// sweep.c - when moving and rotating shapes first reach a given separation.
#include "geometry/sweep.h"
#include "geometry/plane.h"
#include "base/assert.h"
#include "base/math.h"
#include "geometry/epa.h"
#include "geometry/height_field.h"
#include "geometry/gjk.h"
#include "geometry/mpr.h"
#include <float.h>

enum { MAX_ADVANCES = 400, EPA_STEPS = 64, MAX_PARTS = 512 };

/// Two moving cores.
typedef struct sweep_pair {
    vy_core_pair pair;
    const vy_sweep_path *path_a, *path_b;
    double radius_a, radius_b; // [m] of the core about the centre of its path
    vy_simplex simplex;        // to start GJK from
    vec3 normal;               // the last one, in A's frame; zero: none yet
    double inset;              // [m] by which the core of B is smaller than its shape
    double scale_b;            // and by which it is scaled, about its middle
} sweep_pair;

static quat rotated(quat q, vec3 rotation_vector, double t)
{
    const double angle = vec3_length(rotation_vector);
    if (!(angle > 0.0)) return q;
    double sine, cosine;
    math_sincos(0.5 * t * angle, &sine, &cosine);
    const vec3 u = vec3_scale(sine / angle, rotation_vector);
    return quat_normalize(quat_mul(quat_make(cosine, u.x, u.y, u.z), q));
}

vy_pose vy_sweep_pose(const vy_sweep_path *path, double t)
{
    vy_pose pose;
    pose.rotation = rotated(path->attitude, path->rotation_vector, t);
    pose.position = vec3_sub(vec3_add_scaled(path->center, t, path->displacement),
                             quat_rotate(pose.rotation, path->local_center));
    return pose;
}

double vy_shape_thickness(const vy_shape *shape)
{
    if (!vy_shape_is_convex(shape)) return DBL_MAX;
    vy_core core;
    vy_core_of(shape, &core);
    return 2.0 * (core.inner_radius + core.margin);
}

double vy_shape_rotation_radius(const vy_shape *shape)
{
    if (!vy_shape_is_convex(shape)) return DBL_MAX;
    vy_core core;
    vy_core_of(shape, &core);
    return vec3_length(core.center) + core.outer_radius;
}

static double radius_about(const vy_core *core, vec3 center)
{
    return vec3_length(vec3_sub(core->center, center)) + core->outer_radius;
}

static void set_poses(sweep_pair *s, double t)
{
    const vy_pose a = vy_sweep_pose(s->path_a, t), b = vy_sweep_pose(s->path_b, t);
    vy_pair_set_poses(&a, &b, &s->pair);
    if (s->scale_b == 1.0) return;
    mat3 *r = &s->pair.rotation;
    s->pair.offset = vec3_add_scaled(s->pair.offset, 1.0 - s->scale_b, mat3_mul_vec(*r, s->pair.b.center));
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) r->m[i][j] *= s->scale_b;
    }
}

static double extent(const vy_core_pair *pair, vec3 n)
{
    vy_minkowski_vertex m;
    vy_support()->minkowski_support(pair, n.x, n.y, n.z, &m);
    return vec3_dot(m.w, n);
}

// The point of B that is farthest against n, and the one of A at its foot.
static void deepest_points(const vy_core_pair *pair, vec3 n, vec3 *point_a, vec3 *point_b)
{
    vy_minkowski_vertex m;
    vy_support()->minkowski_support(pair, n.x, n.y, n.z, &m);
    *point_b = vec3_add(mat3_mul_vec(pair->rotation, vy_core_point(&pair->b, m.ib)), pair->offset);
    *point_a = vec3_add_scaled(*point_b, vec3_dot(m.w, n), n);
}

// Cores that overlap: the direction along which they do so least, or one that is not far from it.
static vec3 min_overlap_direction(const sweep_pair *s, vec3 *point_a, vec3 *point_b)
{
    const vy_core_pair *pair = &s->pair;
    vy_mpr_result mpr;
    vy_support()->mpr_find(pair, 1, &mpr);
    if (mpr.hit == 1) {
        vy_epa_result epa = {.depth = DBL_MAX};
        vy_support()->epa_expand(pair, mpr.v, 1e-6 * pair->scale, EPA_STEPS, &epa);
        if (epa.depth < pair->scale * 1e3 && vec3_is_unit(epa.normal)) {
            *point_a = epa.point_a;
            *point_b = epa.point_b;
            if (!epa.converged || !epa.has_points) deepest_points(pair, epa.normal, point_a, point_b);
            return epa.normal;
        }
    }
    if (vec3_is_unit(s->normal)) {
        deepest_points(pair, s->normal, point_a, point_b);
        return s->normal;
    }
    const vec3 between_centers =
        vec3_sub(vec3_add(mat3_mul_vec(pair->rotation, pair->b.center), pair->offset), pair->a.center);
    const double length = vec3_length(between_centers);
    const vec3 n = length > 0.0 ? vec3_scale(1.0 / length, between_centers) : vec3_make(0.0, 0.0, 1.0);
    deepest_points(pair, n, point_a, point_b);
    return n;
}

// The separation of the cores as they are placed, and the direction it is along, in A's frame. It is that
// along this direction in any case, so what follows from it is safe even where the direction is not the best.
static double separation(sweep_pair *s, vec3 *point_a, vec3 *point_b)
{
    vy_gjk_result g;
    vy_gjk_distance(&s->pair, s->simplex.count > 0 ? &s->simplex : NULL, -1.0, VY_QUERY_ITERATIONS, &g);
    s->simplex.count = g.count;
    for (int i = 0; i < g.count; ++i) {
        s->simplex.a[i] = g.p[i].ia;
        s->simplex.b[i] = g.p[i].ib;
    }
    if (g.distance <= 1e-9 * s->pair.scale) {
        s->normal = min_overlap_direction(s, point_a, point_b);
    } else {
        s->normal = vec3_scale(-1.0 / g.distance, g.v);
        vy_gjk_points(&s->pair, &g, point_a, point_b);
    }
    *point_a = vec3_add_scaled(*point_a, s->pair.a.margin, s->normal);
    *point_b = vec3_add_scaled(*point_b, -(s->pair.b.margin + s->inset), s->normal);
    return -extent(&s->pair, s->normal) - s->pair.margin - s->inset;
}

static vy_separation separation_in_world(const sweep_pair *s, double t, double value, vec3 on_a, vec3 on_b)
{
    const vy_pose pose = vy_sweep_pose(s->path_a, t);
    return (vy_separation){t,
                           value,
                           quat_rotate(pose.rotation, s->normal),
                           {vec3_add(pose.position, quat_rotate(pose.rotation, on_a)),
                            vec3_add(pose.position, quat_rotate(pose.rotation, on_b))}};
}

static vy_separation separation_at(sweep_pair *s, double t)
{
    vec3 on_a, on_b;
    set_poses(s, t);
    const double value = separation(s, &on_a, &on_b);
    return separation_in_world(s, t, value, on_a, on_b);
}

// [m] per unit of t: an upper bound of how fast the separation along n closes.
static double closing_bound(const sweep_pair *s, vec3 n)
{
    const vec3 relative = vec3_sub(s->path_a->displacement, s->path_b->displacement);
    return vec3_dot(relative, n) + vec3_length(vec3_cross(s->path_a->rotation_vector, n)) * s->radius_a +
           vec3_length(vec3_cross(s->path_b->rotation_vector, n)) * s->radius_b;
}

// The point of a core that is farthest along d, in its own frame.
static vec3 farthest_point(const vy_core *core, vec3 d)
{
    const double length = vec3_length(d);
    const vec3 u = length > 0.0 ? vec3_scale(1.0 / length, d) : vec3_make(0.0, 0.0, 1.0);
    const uint32_t id =
        core->smooth ? vy_cylinder_extreme(u)
                     : (uint32_t)vy_support()->extreme(core->x, core->y, core->z, core->padded_count, u);
    return vy_core_point(core, id);
}

// How far t may advance at least, within `remaining`, until the separation along the normal that was found at
// t is `target`; 0: not known. After dt more, a point at x from its path's centre is at
//   n.x + dt (n.displacement + x.(n x w)) along the normal n, within dt^2/2 |w| |w x n| radius,
// w being the rotation vector. The extreme of that over the points of a shape is its extent along n + dt n x
// w. The bound of the separation is concave in dt: above the target at 0 and at dt, it is so in between.
static double pair_advance(const sweep_pair *s, double t, double target, double gap, double remaining)
{
    const vy_pose pose = vy_sweep_pose(s->path_a, t);
    const vec3 n = s->normal, rotation_a = quat_unrotate(pose.rotation, s->path_a->rotation_vector),
               rotation_b = quat_unrotate(pose.rotation, s->path_b->rotation_vector),
               across_a = vec3_cross(n, rotation_a), across_b = vec3_cross(n, rotation_b);
    const double curvature = vec3_length(rotation_a) * vec3_length(across_a) * s->radius_a +
                             vec3_length(rotation_b) * vec3_length(across_b) * s->radius_b,
                 dt = curvature * remaining * remaining > gap ? real_sqrt(gap / curvature) : remaining;
    const vec3 along_a = vec3_add_scaled(n, dt, across_a), along_b = vec3_add_scaled(n, dt, across_b),
               center_a = s->path_a->local_center,
               center_b = quat_unrotate(
                   pose.rotation,
                   vec3_sub(vec3_add_scaled(s->path_b->center, t, s->path_b->displacement), pose.position)),
               relative =
                   quat_unrotate(pose.rotation, vec3_sub(s->path_b->displacement, s->path_a->displacement));
    const vec3 a = farthest_point(&s->pair.a, along_a),
               local_b = farthest_point(&s->pair.b, vec3_neg(mat3_tmul_vec(s->pair.rotation, along_b))),
               b = vec3_add(mat3_mul_vec(s->pair.rotation, local_b), s->pair.offset);
    const double bound =
        vec3_dot(n, vec3_sub(center_b, center_a)) +
        (vec3_dot(along_b, vec3_sub(b, center_b)) - vec3_dot(along_a, vec3_sub(a, center_a))) +
        dt * vec3_dot(n, relative) - 0.5 * dt * dt * curvature - s->pair.margin - s->inset;
    return bound > target ? dt : 0.0;
}

static int sweep(sweep_pair *s, double target, double tolerance, double from, double to, vy_separation *out)
{
    VY_ASSERT(tolerance > 0.0 && from >= 0.0 && from <= to);
    double t = from;
    for (int advance_count = 0; advance_count < MAX_ADVANCES; ++advance_count) {
        *out = separation_at(s, t);
        if (out->value <= target + tolerance) return 1;
        const double speed = closing_bound(s, out->normal), gap = out->value - target;
        if (!(speed * (to - t) > gap)) return 0;
        const double advance = pair_advance(s, t, target, gap, to - t);
        if (advance >= to - t) return 0;
        t += real_max(gap / speed, advance);
    }
    return 1; // not before t, which is safe to say
}

static void sweep_init(sweep_pair *s, const vy_sweep_path *path_a, const vy_sweep_path *path_b)
{
    s->path_a = path_a;
    s->path_b = path_b;
    s->radius_a = radius_about(&s->pair.a, path_a->local_center);
    s->radius_b = radius_about(&s->pair.b, path_b->local_center);
    s->simplex = (vy_simplex){0, {0}, {0}};
    s->normal = vec3_zero();
    s->inset = 0.0;
    s->scale_b = 1.0;
}

// ---- a plane

static vy_separation plane_separation(const vy_plane *plane, const vy_sweep_path *ground,
                                      const vy_shape *shape, const vy_sweep_path *path, double t)
{
    const vy_pose pose_ground = vy_sweep_pose(ground, t), pose = vy_sweep_pose(path, t);
    const vy_plane below = vy_plane_below(plane, &pose_ground, pose.position);
    const vec3 up = quat_rotate(pose_ground.rotation, below.normal);
    vec3 lowest;
    const vy_status status = vy_shape_support(shape, &pose, vec3_neg(up), &lowest);
    VY_ASSERT(status == VY_OK);
    (void)status;
    const double value = vec3_dot(up, vec3_sub(lowest, pose_ground.position)) - below.offset;
    return (vy_separation){t, value, up, {vec3_add_scaled(lowest, -value, up), lowest}};
}

// The same of a plane that does not turn, from which the shape is `gap` more than the target at t.
static double plane_advance(const vy_shape *shape, const vy_sweep_path *path, const vy_core *core,
                            const vy_separation *start, double gap, double closing, double remaining)
{
    const vec3 n = start->normal, across = vec3_cross(n, path->rotation_vector);
    const double curvature = vec3_length(path->rotation_vector) * vec3_length(across) *
                             radius_about(core, path->local_center),
                 dt = curvature * remaining * remaining > gap ? real_sqrt(gap / curvature) : remaining;
    const vy_pose pose = vy_sweep_pose(path, start->t);
    const vec3 center = vec3_add_scaled(path->center, start->t, path->displacement),
               along = vec3_add_scaled(n, dt, across);
    vec3 lowest_point;
    const vy_status status = vy_shape_support(shape, &pose, vec3_neg(along), &lowest_point);
    VY_ASSERT(status == VY_OK);
    (void)status;
    const double lowest = vec3_dot(along, vec3_sub(lowest_point, center)) +
                          core->margin * (vec3_length(along) - 1.0),
                 height = vec3_dot(n, vec3_sub(start->witness[1], center));
    return gap - (height - lowest) - dt * closing - 0.5 * dt * dt * curvature > 0.0 ? dt : 0.0;
}

static int sweep_plane(const vy_plane *plane, const vy_sweep_path *ground, const vy_shape *shape,
                       const vy_sweep_path *path, double target, double tolerance, double from, double to,
                       vy_separation *out)
{
    vy_core core;
    vy_core_of(shape, &core);
    const double ground_rotation = vec3_length(ground->rotation_vector),
                 radius = radius_about(&core, path->local_center);
    const int rotates = ground_rotation > 0.0 || plane->globe != NULL;
    // A rotating plane moves its point under the shape.
    const double lever = vec3_length(vec3_sub(path->center, ground->center)) +
                         vec3_length(vec3_sub(path->displacement, ground->displacement)) + core.outer_radius +
                         core.margin;
    const double rotation_speed = vec3_length(path->rotation_vector) * radius +
                                  ground_rotation * (lever + vec3_length(ground->local_center));
    double t = from;
    for (int n = 0; n < MAX_ADVANCES; ++n) {
        *out = plane_separation(plane, ground, shape, path, t);
        if (out->value <= target + tolerance) return 1;
        const double gap = out->value - target,
                     closing = vec3_dot(vec3_sub(ground->displacement, path->displacement), out->normal),
                     speed =
                         rotates
                             ? closing + rotation_speed + ground_rotation * vec3_length(path->displacement)
                             : closing + vec3_length(vec3_cross(path->rotation_vector, out->normal)) * radius;
        if (!(speed * (to - t) > gap)) return 0;
        const double advance = rotates ? 0.0 : plane_advance(shape, path, &core, out, gap, closing, to - t);
        if (advance >= to - t) return 0;
        t += real_max(gap / speed, advance);
    }
    return 1;
}

// ---- a height field
//
// Its surface is what is swept against. A shape that may overlap it by some depth is made smaller by that: so
// none gets to the other side of it. How deep it is at a moment, its manifolds tell.

// The cell in which x lies, in cells from the rim; outside the nearest.
static int cell_of(double x, int cells) { return x <= 0.0 ? 0 : x >= (double)cells ? cells - 1 : (int)x; }

/// A height field and a shape that moves over it.
typedef struct field_sweep {
    const vy_height_field *field;
    const vy_sweep_path *ground;
    const vy_shape *shape;
    const vy_sweep_path *path;
    double radius;  // [m] of the shape about the centre of its path
    vy_shape inner; // the shape without its outer layer
    double inset;   // [m] how thick that is
    double scale;   // of the shape, where it is a hull
} field_sweep;

// The shape without a layer of this thickness, which is less than half of its own. A hull is scaled about its
// middle instead, and so loses more where it is long.
static void set_inner_shape(field_sweep *f, double inset)
{
    vy_shape *s = &f->inner;
    *s = *f->shape;
    f->inset = inset;
    f->scale = 1.0;
    if (!(inset > 0.0)) return;
    switch (s->kind) {
    case VY_SHAPE_SPHERE: s->sphere.radius -= inset; break;
    case VY_SHAPE_CAPSULE: s->capsule.radius -= inset; break;
    case VY_SHAPE_BOX: s->box.half = vec3_sub(s->box.half, vec3_make(inset, inset, inset)); break;
    case VY_SHAPE_CYLINDER:
        s->cylinder.radius -= inset;
        s->cylinder.half_height -= inset;
        break;
    default: f->scale = 1.0 - inset / (0.5 * vy_shape_thickness(s));
    }
}

static field_sweep field_sweep_of(const vy_height_field *field, const vy_sweep_path *ground,
                                  const vy_shape *shape, const vy_sweep_path *path, double target)
{
    vy_core core;
    vy_core_of(shape, &core);
    field_sweep f = {field,  ground, shape, path, radius_about(&core, path->local_center) + core.margin,
                     *shape, 0.0,    1.0};
    set_inner_shape(&f, real_max(-target, 0.0));
    return f;
}

/// A part of the path, in the field's frame.
typedef struct field_part {
    double from, to;  // t at its ends
    vec3 begin, end;  // [m] the centre of the shape's path there
    double deviation; // [m] how far a rotating field takes it off the straight line between them
    vy_bounds box;    // of the shape on it
} field_part;

static vec3 centre_in_field(const field_sweep *f, double t)
{
    const vy_pose pose = vy_sweep_pose(f->ground, t);
    return quat_unrotate(pose.rotation,
                         vec3_sub(vec3_add_scaled(f->path->center, t, f->path->displacement), pose.position));
}

// The part's box is that of the shape as it is at its start, moved and widened by its rotation, or that of a
// ball about it.
static field_part part_of(const field_sweep *f, double reach, double from, double to)
{
    field_part part = {
        .from = from, .to = to, .begin = centre_in_field(f, from), .end = centre_in_field(f, to)};
    const double dt = to - from;
    part.deviation = dt * vec3_length(f->ground->rotation_vector) *
                     real_max(vec3_length(part.begin), vec3_length(part.end));
    const vy_pose ground = vy_sweep_pose(f->ground, from), pose = vy_sweep_pose(f->path, from),
                  local = {quat_unrotate(ground.rotation, vec3_sub(pose.position, ground.position)),
                           quat_mul(quat_conj(ground.rotation), pose.rotation)};
    const double turn_angle =
        dt * (vec3_length(f->path->rotation_vector) + vec3_length(f->ground->rotation_vector));
    const double expansion = reach + part.deviation + turn_angle * f->radius,
                 ball_radius = reach + part.deviation + f->radius;
    const vy_bounds start = vy_shape_bounds(f->shape, &local);
    const vec3 d = vec3_sub(part.end, part.begin);
    const vec3 move_low = vec3_make(real_min(d.x, 0.0), real_min(d.y, 0.0), real_min(d.z, 0.0)),
               move_high = vec3_make(real_max(d.x, 0.0), real_max(d.y, 0.0), real_max(d.z, 0.0));
    part.box.low = vec3_add(vec3_make(real_max(start.low.x - expansion, part.begin.x - ball_radius),
                                      real_max(start.low.y - expansion, part.begin.y - ball_radius),
                                      real_max(start.low.z - expansion, part.begin.z - ball_radius)),
                            move_low);
    part.box.high = vec3_add(vec3_make(real_min(start.high.x + expansion, part.begin.x + ball_radius),
                                       real_min(start.high.y + expansion, part.begin.y + ball_radius),
                                       real_min(start.high.z + expansion, part.begin.z + ball_radius)),
                             move_high);
    return part;
}

// Whether the centre stays so far on one side of a triangle's plane that the shape cannot reach it.
static int cannot_reach_triangle(const field_sweep *f, const field_part *part, const vec3 c[3], double reach)
{
    const vec3 m = vec3_cross(vec3_sub(c[1], c[0]), vec3_sub(c[2], c[0]));
    const double begin = vec3_dot(m, vec3_sub(part->begin, c[0])),
                 end = vec3_dot(m, vec3_sub(part->end, c[0])),
                 limit = (f->radius + reach + part->deviation) * vec3_length(m);
    return (begin > limit && end > limit) || (begin < -limit && end < -limit);
}

/// The first triangle that is hit in a part.
typedef struct triangle_search {
    double target, tolerance, from, to; // as of vy_sweep_shapes(); `to` falls to the first hit
    int found;                          // 1: `first` is set
    vy_separation first;
} triangle_search;

static void sweep_triangle(const field_sweep *f, const vec3 c[3], triangle_search *search)
{
    sweep_pair s;
    vy_separation impact;
    vy_core_of_points(c, 3, &s.pair.a);
    vy_core_of(&f->inner, &s.pair.b);
    sweep_init(&s, f->ground, f->path);
    s.inset = f->inset;
    s.scale_b = f->scale;
    if (!sweep(&s, search->target, search->tolerance, search->from, search->to, &impact) ||
        (search->found && impact.t >= search->to))
        return;
    search->found = 1;
    search->to = impact.t; // later ones are of no interest
    search->first = impact;
}

static void sweep_part(const field_sweep *f, const field_part *part, double reach, triangle_search *search)
{
    const vy_height_field *field = f->field;
    const double size = field->spacing;
    if (part->box.low.z > field->high || part->box.high.z < field->low || part->box.high.x < 0.0 ||
        part->box.high.y < 0.0 || part->box.low.x > size * (double)(field->nx - 1) ||
        part->box.low.y > size * (double)(field->ny - 1))
        return;
    const int i0 = cell_of(part->box.low.x / size, field->nx - 1),
              i1 = cell_of(part->box.high.x / size, field->nx - 1),
              j0 = cell_of(part->box.low.y / size, field->ny - 1),
              j1 = cell_of(part->box.high.y / size, field->ny - 1);
    for (int j = j0; j <= j1; ++j) {
        for (int i = i0; i <= i1; ++i) {
            for (int half = 0; half < 2; ++half) {
                vec3 c[3];
                vy_height_field_triangle(field, i, j, half, c);
                if (part->box.low.z > real_max(c[0].z, real_max(c[1].z, c[2].z)) ||
                    part->box.high.z < real_min(c[0].z, real_min(c[1].z, c[2].z)) ||
                    cannot_reach_triangle(f, part, c, reach))
                    continue;
                sweep_triangle(f, c, search);
            }
        }
    }
}

static int sweep_field(const field_sweep *f, double target, double tolerance, double from, double to,
                       vy_separation *out)
{
    const double length = (to - from) * vec3_length(vec3_sub(f->path->displacement, f->ground->displacement)),
                 reach = real_max(target + tolerance, 0.0);
    const double parts = real_clamp(length / (2.0 * (f->radius + f->field->spacing)) + 1.0, 1.0, MAX_PARTS);
    const int count = (int)parts;
    for (int n = 0; n < count; ++n) {
        const double begin = from + (to - from) * n / count, end = from + (to - from) * (n + 1) / count;
        const field_part part = part_of(f, reach, begin, end);
        triangle_search search = {.target = target, .tolerance = tolerance, .from = begin, .to = end};
        sweep_part(f, &part, reach, &search);
        if (!search.found) continue;
        *out = search.first;
        return 1;
    }
    return 0;
}

// Beyond a thickness of the shape only that it is so far.
static vy_separation field_separation(const vy_height_field *field, const vy_sweep_path *ground,
                                      const vy_shape *shape, const vy_sweep_path *path, double t)
{
    const vy_pose a = vy_sweep_pose(ground, t), b = vy_sweep_pose(path, t);
    const double thickness = vy_shape_thickness(shape);
    vy_manifold m[VY_COLLIDE_MANIFOLDS];
    if (vy_collide_height_field(field, &a, shape, &b, thickness, m) == 0)
        return (vy_separation){
            t, thickness, quat_rotate(a.rotation, vec3_make(0.0, 0.0, 1.0)), {a.position, b.position}};
    return (vy_separation){
        t, -m[0].points[0].depth, m[0].normal, {m[0].points[0].point_a, m[0].points[0].point_b}};
}

// ---- any two

static void flip(vy_separation *s)
{
    const vec3 a = s->witness[0];
    s->normal = vec3_neg(s->normal);
    s->witness[0] = s->witness[1];
    s->witness[1] = a;
}

vy_separation vy_sweep_separation(const vy_shape *a, const vy_sweep_path *path_a, const vy_shape *b,
                                  const vy_sweep_path *path_b, double t)
{
    VY_ASSERT(vy_shape_is_convex(a) || vy_shape_is_convex(b));
    if (!vy_shape_is_convex(b)) {
        vy_separation s = vy_sweep_separation(b, path_b, a, path_a, t);
        flip(&s);
        return s;
    }
    if (a->kind == VY_SHAPE_PLANE) return plane_separation(&a->plane, path_a, b, path_b, t);
    if (a->kind == VY_SHAPE_HEIGHT_FIELD) return field_separation(&a->field, path_a, b, path_b, t);
    sweep_pair s;
    vy_core_of(a, &s.pair.a);
    vy_core_of(b, &s.pair.b);
    sweep_init(&s, path_a, path_b);
    return separation_at(&s, t);
}

int vy_sweep_shapes(const vy_shape *a, const vy_sweep_path *path_a, const vy_shape *b,
                    const vy_sweep_path *path_b, double target, double tolerance, double from, double to,
                    vy_separation *out)
{
    VY_ASSERT(vy_shape_is_convex(a) || vy_shape_is_convex(b));
    if (!vy_shape_is_convex(b)) {
        const int hit = vy_sweep_shapes(b, path_b, a, path_a, target, tolerance, from, to, out);
        flip(out);
        return hit;
    }
    if (a->kind == VY_SHAPE_PLANE)
        return sweep_plane(&a->plane, path_a, b, path_b, target, tolerance, from, to, out);
    if (a->kind == VY_SHAPE_HEIGHT_FIELD) {
        const field_sweep f = field_sweep_of(&a->field, path_a, b, path_b, target);
        *out = (vy_separation){.t = from, .value = DBL_MAX};
        return sweep_field(&f, target, tolerance, from, to, out);
    }
    sweep_pair s;
    vy_core_of(a, &s.pair.a);
    vy_core_of(b, &s.pair.b);
    sweep_init(&s, path_a, path_b);
    return sweep(&s, target, tolerance, from, to, out);
}
