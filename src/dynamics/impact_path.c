// impact_path.c - the paths of bodies through a step, and when two of them come too near on theirs.
#include "dynamics/impacts.h"
#include "base/assert.h"
#include "base/math.h"
#include <math.h>

#define DEPTH_FRACTION \
    0.05 // of the thinner one's thickness: deeper overlaps are not accepted, beyond the slop
#define MAX_DEPTH_FRACTION 0.4  // of it: bodies already deeper are left to the solver
#define CORE_FRACTION      0.45 // of it: a shape without so thick a layer is all that is left of it to follow
#define TARGET_FRACTION    0.02 // of it, or half the slop if that is less: as near as this is an impact
#define MAX_ROTATION       1e4  // [rad] in a step: a larger rotation is taken modulo whole revolutions
#define TWO_PI             6.283185307179586

// The rotation vector between two attitudes: of those equal up to whole turns the one nearest to
// `expected`.
static vec3 rotation_between(quat from, quat to, vec3 expected)
{
    quat difference = quat_mul(to, quat_conj(from));
    if (difference.w < 0.0) difference = quat_scale(-1.0, difference);
    const vec3 u = vec3_make(difference.x, difference.y, difference.z);
    const double sine = vec3_length(u);
    double expected_angle = vec3_length(expected);
    if (!(expected_angle < MAX_ROTATION)) { // the integrator lost it long ago
        expected = vec3_zero();
        expected_angle = 0.0;
    }
    if (!(sine > 1e-12)) { // no rotation, or whole revolutions
        const double revolutions =
            expected_angle > 0.0 ? TWO_PI * floor(expected_angle / TWO_PI + 0.5) / expected_angle : 0.0;
        return vec3_scale(revolutions, expected);
    }
    const vec3 axis = vec3_scale(1.0 / sine, u);
    const double angle = 2.0 * math_atan2(sine, difference.w);
    return vec3_scale(angle + TWO_PI * floor((vec3_dot(expected, axis) - angle) / TWO_PI + 0.5), axis);
}

static vec3 velocity_of(const body_state *s, vec3 lever)
{
    return vec3_add(s->velocity, quat_rotate(s->attitude, vec3_cross(s->rate, lever)));
}

// The point of a jointed body that moves least, from its centre of mass: the anchor of a joint about which it
// turns, or the centre itself.
static vec3 slowest_point_of(const vy_bodies *b, uint32_t i)
{
    const joint_system *joints = b->joints;
    const body_state *start = &b->contacts->start_state[i], *end = &b->state[i];
    vec3 slowest_point = vec3_zero();
    double min_speed2 =
        real_max(vec3_dot(start->velocity, start->velocity), vec3_dot(end->velocity, end->velocity));
    for (uint32_t n = joints->first_joint[i]; n != 0;) {
        const joint_slot *joint = &joints->slots[n - 1];
        const int side = joint->body[1] == i;
        const vec3 lever = side == 0 ? joint->def.anchor_a : joint->def.anchor_b,
                   start_velocity = velocity_of(start, lever), end_velocity = velocity_of(end, lever);
        const double speed2 =
            real_max(vec3_dot(start_velocity, start_velocity), vec3_dot(end_velocity, end_velocity));
        if (speed2 < min_speed2) {
            min_speed2 = speed2;
            slowest_point = lever;
        }
        n = joint->next_joint[side];
    }
    return slowest_point;
}

// The path of a body over `h` seconds from its start_state.
vy_sweep_path vy_impact_path(const vy_bodies *b, uint32_t i, double h)
{
    const body_state *start = &b->contacts->start_state[i], *end = &b->state[i];
    vy_sweep_path path = {
        .center = start->position, .local_center = b->slots[i].centroid, .attitude = start->attitude};
    if (b->slots[i].kind == VY_BODY_STATIC) return path;
    const vec3 start_rate = quat_rotate(start->attitude, start->rate);
    if (body_is_kinematic(b, i)) {
        path.displacement = vec3_scale(h, start->velocity);
        path.rotation_vector = vec3_scale(h, start_rate);
        if (!(vec3_length(path.rotation_vector) < MAX_ROTATION)) path.rotation_vector = vec3_zero();
        return path;
    }
    VY_ASSERT(quat_is_unit(start->attitude));
    if (!quat_is_unit(end->attitude)) return path; // a rate has overflown: the step will end the run
    path.displacement = vec3_sub(end->position, start->position);
    path.rotation_vector =
        rotation_between(start->attitude, end->attitude,
                         vec3_scale(0.5 * h, vec3_add(start_rate, quat_rotate(end->attitude, end->rate))));
    if (b->joints->first_joint[i] != 0) {
        const vec3 lever = slowest_point_of(b, i), start_lever = quat_rotate(start->attitude, lever);
        path.center = vec3_add(path.center, start_lever);
        path.local_center = vec3_add(path.local_center, lever);
        path.displacement =
            vec3_add(path.displacement, vec3_sub(quat_rotate(end->attitude, lever), start_lever));
    }
    return path;
}

double vy_impact_rotation_radius(const vy_bodies *b, uint32_t i, vec3 local_center)
{
    const double shape_radius = b->contacts->rotation_radius[i];
    return shape_radius > 0.0 ? shape_radius + vec3_length(local_center) : vec3_length(local_center);
}

double vy_impact_path_deviation(const vy_bodies *b, uint32_t i, const vy_sweep_path *path, double h)
{
    if (!body_is_dynamic(b, i) || b->joints->first_joint[i] == 0) return 0.0;
    const body_state *start = &b->contacts->start_state[i], *end = &b->state[i];
    const vec3 lever = vec3_sub(path->local_center, b->slots[i].centroid),
               start_velocity = velocity_of(start, lever), end_velocity = velocity_of(end, lever);
    // A parabola's distance from its chord; of more than half a circle the chord says little.
    const double path_length = h * real_max(vec3_length(start_velocity), vec3_length(end_velocity)),
                 chord = vec3_length(path->displacement);
    const double deviation =
        0.125 * h * vec3_length(vec3_sub(end_velocity, start_velocity)) + real_max(path_length - chord, 0.0);
    // The axis of its rotation_vector may change, too.
    vec3 rate_change =
        vec3_sub(quat_rotate(end->attitude, end->rate), quat_rotate(start->attitude, start->rate));
    const double angle2 = vec3_dot(path->rotation_vector, path->rotation_vector);
    if (angle2 > 0.0)
        rate_change = vec3_add_scaled(rate_change, -vec3_dot(rate_change, path->rotation_vector) / angle2,
                                      path->rotation_vector);
    return deviation +
           0.125 * h * vec3_length(rate_change) * vy_impact_rotation_radius(b, i, path->local_center);
}

vy_bounds vy_impact_bounds(const vy_bodies *b, uint32_t i, const vy_sweep_path *path, double margin)
{
    const vy_pose pose = vy_sweep_pose(path, 0.0);
    vy_bounds box = vy_shape_bounds(&b->slots[i].shape, &pose);
    const vec3 displacement = path->displacement;
    const double padding = margin + real_min(vec3_length(path->rotation_vector), 2.0) *
                                        vy_impact_rotation_radius(b, i, path->local_center);
    box.low = vec3_sub(box.low, vec3_make(padding - real_min(displacement.x, 0.0),
                                          padding - real_min(displacement.y, 0.0),
                                          padding - real_min(displacement.z, 0.0)));
    box.high = vec3_add(box.high, vec3_make(padding + real_max(displacement.x, 0.0),
                                            padding + real_max(displacement.y, 0.0),
                                            padding + real_max(displacement.z, 0.0)));
    return box;
}

pair_limits vy_impact_limits(const vy_bodies *b, uint32_t i, uint32_t j)
{
    const contact_system *s = b->contacts;
    const double min_thickness = real_min(s->thickness[i], s->thickness[j]), slop = b->def.contacts.slop;
    const double target = real_min(0.5 * slop, TARGET_FRACTION * min_thickness) + 1e-9 * min_thickness;
    return (pair_limits){
        .target = target,
        .tolerance = 0.5 * target,
        .depth = real_min(DEPTH_FRACTION * min_thickness + slop, 0.75 * MAX_DEPTH_FRACTION * min_thickness),
        .max_depth = MAX_DEPTH_FRACTION * min_thickness,
        .max_depth_growth = 0.01 * min_thickness,
        .margin = MARGIN_FRACTION * min_thickness + 2.0 * target};
}

// Whether the path is within the range of shape queries; false for NaN.
int vy_impact_path_is_bounded(const vy_sweep_path *path)
{
    return vec3_length(path->center) + vec3_length(path->displacement) + vec3_length(path->local_center) <
               VY_POSE_LIMIT &&
           vec3_length(path->rotation_vector) <= MAX_ROTATION + TWO_PI;
}

// The same of a height field: it is followed at once, for how deep the other is costs more to tell.
static int field_impact_time(const vy_shape *x, const vy_sweep_path *pi, const vy_shape *y,
                             const vy_sweep_path *pj, const pair_limits *limits, vy_separation *out)
{
    if (!vy_sweep_shapes(x, pi, y, pj, -limits->depth, 0.5 * limits->max_depth_growth, 0.0, 1.0, out))
        return 0;
    if (out->t > 0.0) return 1;
    const double start_separation = vy_sweep_separation(x, pi, y, pj, 0.0).value;
    if (start_separation < -limits->max_depth) return 0;
    const double tolerance = 0.5 * limits->max_depth_growth;
    if (!vy_sweep_shapes(x, pi, y, pj, real_min(-limits->depth, start_separation - limits->max_depth_growth),
                         tolerance, 0.0, 1.0, out))
        return 0;
    if (out->t > 0.0) return 1;
    // A ridge is deeper in the shape than its manifolds say. Its middle is followed, and where that is met at
    // once, too, the body is left to the solver: else it would stand still in every step.
    const double core_depth = CORE_FRACTION / MAX_DEPTH_FRACTION * limits->max_depth;
    return vy_sweep_shapes(x, pi, y, pj, -core_depth, tolerance, 0.0, 1.0, out) && out->t > 0.0;
}

// When two bodies first overlap by more than the accepted depth, or, where no contact between them is solved,
// touch. Returns 0 when they do not.
int vy_impact_time(const vy_bodies *b, uint32_t i, uint32_t j, const vy_sweep_path *pi,
                   const vy_sweep_path *pj, int is_solved, vy_separation *out)
{
    const vy_shape *x = &b->slots[i].shape, *y = &b->slots[j].shape;
    const pair_limits limits = vy_impact_limits(b, i, j);
    if (!vy_impact_path_is_bounded(pi) || !vy_impact_path_is_bounded(pj)) return 0;
    if (!is_solved) return vy_sweep_shapes(x, pi, y, pj, limits.target, limits.tolerance, 0.0, 1.0, out);
    if (x->kind == VY_SHAPE_HEIGHT_FIELD || y->kind == VY_SHAPE_HEIGHT_FIELD)
        return field_impact_time(x, pi, y, pj, &limits, out);
    const double max_approach =
        vec3_length(vec3_sub(pi->displacement, pj->displacement)) +
        vec3_length(pi->rotation_vector) * vy_impact_rotation_radius(b, i, pi->local_center) +
        (vy_shape_is_convex(y)
             ? vec3_length(pj->rotation_vector) * vy_impact_rotation_radius(b, j, pj->local_center)
             : 0.0);
    const double start_separation = vy_sweep_separation(x, pi, y, pj, 0.0).value;
    if (start_separation < -limits.max_depth || start_separation - max_approach > -limits.depth) return 0;
    const double target_separation = real_min(-limits.depth, start_separation - limits.max_depth_growth);
    return vy_sweep_shapes(x, pi, y, pj, target_separation, 0.5 * limits.max_depth_growth, 0.0, 1.0, out);
}
