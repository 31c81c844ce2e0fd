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
    quat d = quat_mul(to, quat_conj(from));
    if (d.w < 0.0) d = quat_scale(-1.0, d);
    const vec3 u = vec3_make(d.x, d.y, d.z);
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
    const double angle = 2.0 * math_atan2(sine, d.w);
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
    const joint_system *j = b->joints;
    const body_state *s = &b->contacts->start_state[i], *e = &b->state[i];
    vec3 best = vec3_zero();
    double min_speed2 = real_max(vec3_dot(s->velocity, s->velocity), vec3_dot(e->velocity, e->velocity));
    for (uint32_t n = j->first_joint[i]; n != 0;) {
        const joint_slot *t = &j->slots[n - 1];
        const int side = t->body[1] == i;
        const vec3 lever = side == 0 ? t->def.anchor_a : t->def.anchor_b, v = velocity_of(s, lever),
                   w = velocity_of(e, lever);
        const double speed2 = real_max(vec3_dot(v, v), vec3_dot(w, w));
        if (speed2 < min_speed2) {
            min_speed2 = speed2;
            best = lever;
        }
        n = t->next_joint[side];
    }
    return best;
}

// The path of a body over `h` seconds from its start_state.
vy_sweep_path vy_impact_path(const vy_bodies *b, uint32_t i, double h)
{
    const body_state *s = &b->contacts->start_state[i], *e = &b->state[i];
    vy_sweep_path p = {.center = s->position, .local_center = b->slots[i].centroid, .attitude = s->attitude};
    if (b->slots[i].kind == VY_BODY_STATIC) return p;
    const vec3 rate = quat_rotate(s->attitude, s->rate);
    if (body_is_kinematic(b, i)) {
        p.displacement = vec3_scale(h, s->velocity);
        p.rotation_vector = vec3_scale(h, rate);
        if (!(vec3_length(p.rotation_vector) < MAX_ROTATION)) p.rotation_vector = vec3_zero();
        return p;
    }
    VY_ASSERT(quat_is_unit(s->attitude));
    if (!quat_is_unit(e->attitude)) return p; // a rate has overflown: the step will end the run
    p.displacement = vec3_sub(e->position, s->position);
    p.rotation_vector = rotation_between(
        s->attitude, e->attitude, vec3_scale(0.5 * h, vec3_add(rate, quat_rotate(e->attitude, e->rate))));
    if (b->joints->first_joint[i] != 0) {
        const vec3 lever = slowest_point_of(b, i), from = quat_rotate(s->attitude, lever);
        p.center = vec3_add(p.center, from);
        p.local_center = vec3_add(p.local_center, lever);
        p.displacement = vec3_add(p.displacement, vec3_sub(quat_rotate(e->attitude, lever), from));
    }
    return p;
}

double vy_impact_rotation_radius(const vy_bodies *b, uint32_t i, vec3 local_center)
{
    const double padding = b->contacts->rotation_radius[i];
    return padding > 0.0 ? padding + vec3_length(local_center) : vec3_length(local_center);
}

double vy_impact_path_deviation(const vy_bodies *b, uint32_t i, const vy_sweep_path *p, double h)
{
    if (!body_is_dynamic(b, i) || b->joints->first_joint[i] == 0) return 0.0;
    const body_state *s = &b->contacts->start_state[i], *e = &b->state[i];
    const vec3 lever = vec3_sub(p->local_center, b->slots[i].centroid), v = velocity_of(s, lever),
               w = velocity_of(e, lever);
    // A parabola's distance from its chord; of more than half a circle the chord says little.
    const double path_length = h * real_max(vec3_length(v), vec3_length(w)),
                 chord = vec3_length(p->displacement);
    const double deviation = 0.125 * h * vec3_length(vec3_sub(w, v)) + real_max(path_length - chord, 0.0);
    // The axis of its rotation_vector may change, too.
    vec3 change = vec3_sub(quat_rotate(e->attitude, e->rate), quat_rotate(s->attitude, s->rate));
    const double angle2 = vec3_dot(p->rotation_vector, p->rotation_vector);
    if (angle2 > 0.0)
        change = vec3_add_scaled(change, -vec3_dot(change, p->rotation_vector) / angle2, p->rotation_vector);
    return deviation + 0.125 * h * vec3_length(change) * vy_impact_rotation_radius(b, i, p->local_center);
}

vy_bounds vy_impact_bounds(const vy_bodies *b, uint32_t i, const vy_sweep_path *p, double margin)
{
    const vy_pose pose = vy_sweep_pose(p, 0.0);
    vy_bounds box = vy_shape_bounds(&b->slots[i].shape, &pose);
    const vec3 d = p->displacement;
    const double padding = margin + real_min(vec3_length(p->rotation_vector), 2.0) *
                                        vy_impact_rotation_radius(b, i, p->local_center);
    box.low = vec3_sub(box.low, vec3_make(padding - real_min(d.x, 0.0), padding - real_min(d.y, 0.0),
                                          padding - real_min(d.z, 0.0)));
    box.high = vec3_add(box.high, vec3_make(padding + real_max(d.x, 0.0), padding + real_max(d.y, 0.0),
                                            padding + real_max(d.z, 0.0)));
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
int vy_impact_path_is_bounded(const vy_sweep_path *p)
{
    return vec3_length(p->center) + vec3_length(p->displacement) + vec3_length(p->local_center) <
               VY_POSE_LIMIT &&
           vec3_length(p->rotation_vector) <= MAX_ROTATION + TWO_PI;
}

// The same of a height field: it is followed at once, for how deep the other is costs more to tell.
static int field_impact_time(const vy_shape *x, const vy_sweep_path *pi, const vy_shape *y,
                             const vy_sweep_path *pj, const pair_limits *m, vy_separation *out)
{
    if (!vy_sweep_shapes(x, pi, y, pj, -m->depth, 0.5 * m->max_depth_growth, 0.0, 1.0, out)) return 0;
    if (out->t > 0.0) return 1;
    const double start = vy_sweep_separation(x, pi, y, pj, 0.0).value;
    if (start < -m->max_depth) return 0;
    const double tolerance = 0.5 * m->max_depth_growth;
    if (!vy_sweep_shapes(x, pi, y, pj, real_min(-m->depth, start - m->max_depth_growth), tolerance, 0.0, 1.0,
                         out))
        return 0;
    if (out->t > 0.0) return 1;
    // A ridge is deeper in the shape than its manifolds say. Its middle is followed, and where that is met at
    // once, too, the body is left to the solver: else it would stand still in every step.
    const double core = CORE_FRACTION / MAX_DEPTH_FRACTION * m->max_depth;
    return vy_sweep_shapes(x, pi, y, pj, -core, tolerance, 0.0, 1.0, out) && out->t > 0.0;
}

// When two bodies first overlap by more than the accepted depth, or, where no contact between them is solved,
// touch. Returns 0 when they do not.
int vy_impact_time(const vy_bodies *b, uint32_t i, uint32_t j, const vy_sweep_path *pi,
                   const vy_sweep_path *pj, int is_solved, vy_separation *out)
{
    const vy_shape *x = &b->slots[i].shape, *y = &b->slots[j].shape;
    const pair_limits m = vy_impact_limits(b, i, j);
    if (!vy_impact_path_is_bounded(pi) || !vy_impact_path_is_bounded(pj)) return 0;
    if (!is_solved) return vy_sweep_shapes(x, pi, y, pj, m.target, m.tolerance, 0.0, 1.0, out);
    if (x->kind == VY_SHAPE_HEIGHT_FIELD || y->kind == VY_SHAPE_HEIGHT_FIELD)
        return field_impact_time(x, pi, y, pj, &m, out);
    const double max_approach =
        vec3_length(vec3_sub(pi->displacement, pj->displacement)) +
        vec3_length(pi->rotation_vector) * vy_impact_rotation_radius(b, i, pi->local_center) +
        (vy_shape_is_convex(y)
             ? vec3_length(pj->rotation_vector) * vy_impact_rotation_radius(b, j, pj->local_center)
             : 0.0);
    const double start = vy_sweep_separation(x, pi, y, pj, 0.0).value;
    if (start < -m.max_depth || start - max_approach > -m.depth) return 0;
    const double target_separation = real_min(-m.depth, start - m.max_depth_growth);
    return vy_sweep_shapes(x, pi, y, pj, target_separation, 0.5 * m.max_depth_growth, 0.0, 1.0, out);
}
