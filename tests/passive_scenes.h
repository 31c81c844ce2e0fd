// passive_scenes.h - random scenes in which nothing is driven: bodies of every shape, thrown onto ground and
// each other, some of them on joints. Every range is drawn log-uniformly, but the materials.
#pragma once
#include "contact_sets.h"
#include "volery/hull.h"
#include "volery/mass.h"
#include "volery/joint.h"

enum { PASSIVE_BODIES_MAX = 12, PASSIVE_GRID = 48, PASSIVE_PAIRS = 14 };
#define PASSIVE_TIME             3.0
#define PASSIVE_DROPPED_TIME_MAX 0.1 // [s] that bodies may stand still where impacts are given up

typedef struct passive_scene {
    vy_bodies *b;
    int count;          // of dynamic bodies
    int ground_heights; // after them: a plane, and in some scenes a height field above it
    vy_body_id ids[PASSIVE_PAIRS];
    double thickness[PASSIVE_PAIRS]; // [m] the least width
    vy_hull *hulls[PASSIVE_BODIES_MAX];
    double heights[PASSIVE_GRID * PASSIVE_GRID];
    double mass; // [kg] of all bodies
    double dt;
    double fastest;              // [rad/s] at the start
    double thinnest, mass_ratio; // least thickness over length, and largest over smallest mass
    int joints, open_joints;     // how many, and how many of those were added open
    int is_euler;                // an Euler integrator: no law but that it goes on
    int may_overlap[PASSIVE_PAIRS][PASSIVE_PAIRS]; // 1: a joint holds them at one place, so they may overlap
} passive_scene;

// Numbers to draw before those of the seed, two bytes each: a fuzz target has them.
static const uint8_t *passive_bytes;
static size_t passive_byte_count;

static inline double passive_unit(uint64_t *x)
{
    if (passive_byte_count < 2) return unit(x);
    const double u = (256.0 * passive_bytes[0] + passive_bytes[1]) / 65536.0;
    passive_bytes += 2;
    passive_byte_count -= 2;
    return u;
}

static inline double passive_log(uint64_t *x, double low, double high)
{
    return low * exp(passive_unit(x) * log(high / low));
}

static inline vy_vec3 passive_direction(uint64_t *x)
{
    for (;;) {
        const double a = 2.0 * passive_unit(x) - 1.0, b = 2.0 * passive_unit(x) - 1.0,
                     c = 2.0 * passive_unit(x) - 1.0;
        const vy_vec3 v = vec3_make(a, b, c);
        const double length = vec3_length(v);
        if (length > 0.1 && length < 1.0) return vec3_scale(1.0 / length, v);
    }
}

static inline vy_quat passive_attitude(uint64_t *x)
{
    const vy_vec3 u = passive_direction(x);
    const double angle = 3.14159 * passive_unit(x);
    return quat_normalize(quat_make(cos(angle), sin(angle) * u.x, sin(angle) * u.y, sin(angle) * u.z));
}

static inline double passive_width(const vy_shape *shape, vy_vec3 along)
{
    const vy_pose pose = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    vy_vec3 high, low;
    assert_int_equal(vy_shape_support(shape, &pose, along, &high), VY_OK);
    assert_int_equal(vy_shape_support(shape, &pose, vec3_neg(along), &low), VY_OK);
    return vec3_dot(along, vec3_sub(high, low));
}

// The least width of a shape, of many directions.
static inline double passive_thickness(const vy_shape *shape, uint64_t *x)
{
    double min =
        fmin(passive_width(shape, vec3_make(1, 0, 0)),
             fmin(passive_width(shape, vec3_make(0, 1, 0)), passive_width(shape, vec3_make(0, 0, 1))));
    for (int i = 0; i < 64; ++i) min = fmin(min, passive_width(shape, passive_direction(x)));
    return min;
}

// A shape about `length` long, and at its thinnest about a hundredth of that.
static inline vy_shape passive_shape(uint64_t *x, double length, vy_hull **hull)
{
    const double half = 0.5 * length, u = passive_log(x, 0.01, 1.0), v = passive_log(x, 0.01, 1.0);
    const int kind = (int)(6.0 * passive_unit(x));
    vy_shape s = {0};
    if (kind == 0) return ball(half);
    if (kind == 1) return box(half, u * half, v * half);
    if (kind == 2) {
        assert_int_equal(vy_shape_capsule(half * (1.0 - u), half * u, &s, NULL), VY_OK);
    } else if (kind == 3) {
        assert_int_equal(vy_shape_cylinder(half, half * u, &s, NULL), VY_OK);
    } else if (kind == 4) {
        assert_int_equal(vy_shape_cylinder(half * u, half, &s, NULL), VY_OK);
    } else {
        vy_vec3 points[10];
        for (int i = 0; i < 10; ++i) {
            const vy_vec3 p = passive_direction(x);
            points[i] = vec3_make(half * p.x, u * half * p.y, v * half * p.z);
        }
        if (vy_hull_create(points, 10, VY_HULL_TOLERANCE, hull, NULL) != VY_OK)
            return box(half, u * half, v * half);
        assert_int_equal(vy_shape_hull(*hull, &s, NULL), VY_OK);
    }
    return s;
}

static inline int passive_is_free(const passive_scene *t, const vy_shape *shape, const vy_pose *pose)
{
    const vy_bounds box = vy_shape_bounds(shape, pose);
    if (box.low.z <= 0.0) return 0;
    for (int i = 0; i < t->count; ++i) {
        const vy_shape *other;
        vy_pose at;
        assert_int_equal(vy_body_read_shape(t->b, t->ids[i], &other, &at), VY_OK);
        const vy_bounds o = vy_shape_bounds(other, &at);
        const int apart = o.low.x > box.high.x || o.high.x < box.low.x || o.low.y > box.high.y ||
                          o.high.y < box.low.y || o.low.z > box.high.z || o.high.z < box.low.z;
        if (!apart && vy_overlap(other, &at, shape, pose)) return 0;
    }
    return 1;
}

// A body somewhere above the ground, apart from all others: higher and higher until there is room.
static inline void passive_add(passive_scene *t, uint64_t *x, double size, double mass, double spin)
{
    const double length = passive_log(x, fmax(0.001, 0.1 * size), size);
    vy_body_def d = vy_default_body_def();
    const vy_shape shape = passive_shape(x, length, &t->hulls[t->count]);
    d.shape = &shape;
    d.mass = mass;
    const double friction = 2.0 * passive_unit(x), restitution = passive_unit(x);
    d.material = surface(friction, restitution);
    d.material.rolling = passive_unit(x) < 0.3 ? 0.02 * length * passive_unit(x) : 0.0;
    d.state.attitude = passive_attitude(x);
    const vy_vec3 direction = passive_direction(x);
    d.state.velocity = vec3_scale(passive_log(x, 0.01, 5.0), direction);
    d.state.rate = vec3_scale(spin, passive_direction(x));
    for (int tries = 0;; ++tries) {
        const double half_width = 0.7 * size, a = passive_unit(x), b = passive_unit(x), c = passive_unit(x);
        const vy_pose pose = {
            {half_width * (2.0 * a - 1.0), half_width * (2.0 * b - 1.0), size * (c + 0.02 * tries)},
            d.state.attitude};
        d.state.position = pose.position;
        vy_mass_properties m;
        assert_int_equal(vy_shape_mass(&shape, 1.0, &m, NULL), VY_OK);
        d.state.position = vec3_add(pose.position, quat_rotate(pose.rotation, m.centroid));
        if (passive_is_free(t, &shape, &pose)) break;
    }
    t->thickness[t->count] = passive_thickness(&shape, x);
    t->thinnest = fmin(t->thinnest, t->thickness[t->count] / length);
    t->fastest = fmax(t->fastest, spin);
    t->mass += mass;
    assert_int_equal(vy_bodies_add(t->b, &d, &t->ids[t->count], NULL), VY_OK);
    t->count += 1;
}

static inline void passive_ground(passive_scene *t, uint64_t *x, double size)
{
    const int has_field = passive_unit(x) < 0.3;
    const double friction = 2.0 * passive_unit(x), restitution = passive_unit(x),
                 rough = size * passive_log(x, 0.01, 0.3), spacing = 0.3 * size;
    const vy_shape floor = plane(vec3_make(0, 0, 1));
    const double low = has_field ? -1.001 * rough : 0.0;
    t->ids[t->count] = add(t->b, VY_BODY_STATIC, &floor, 1.0, vec3_make(0, 0, low), vec3_zero(),
                           surface(friction, restitution));
    t->thickness[t->count] = 1e9;
    t->ground_heights = 1;
    if (!has_field) return;
    vy_shape field = {0};
    for (int i = 0; i < PASSIVE_GRID * PASSIVE_GRID; ++i) t->heights[i] = -rough * passive_unit(x);
    assert_int_equal(vy_shape_height_field(PASSIVE_GRID, PASSIVE_GRID, spacing, t->heights, &field, NULL),
                     VY_OK);
    const double middle = -0.5 * spacing * (PASSIVE_GRID - 1);
    t->ids[t->count + 1] = add(t->b, VY_BODY_STATIC, &field, 1.0, vec3_make(middle, middle, 0.0), vec3_zero(),
                               surface(friction, restitution));
    t->thickness[t->count + 1] = 1e9;
    t->ground_heights = 2;
}

static inline void passive_join(passive_scene *t, uint64_t *x, int i, double lightest)
{
    static const vy_joint_kind kinds[] = {VY_JOINT_BALL,      VY_JOINT_HINGE,  VY_JOINT_FIXED,
                                          VY_JOINT_UNIVERSAL, VY_JOINT_SLIDER, VY_JOINT_CABLE,
                                          VY_JOINT_DISTANCE,  VY_JOINT_SPRING};
    const vy_vec3 p = read(t->b, t->ids[i]).position, q = read(t->b, t->ids[i + 1]).position;
    const double distance = vec3_length(vec3_sub(p, q));
    vy_joint_def def = vy_default_joint_def();
    def.kind = kinds[(int)(8.0 * passive_unit(x))];
    assert_int_equal(vy_joint_set_frames(t->b, t->ids[i], t->ids[i + 1], vec3_scale(0.5, vec3_add(p, q)),
                                         vec3_make(0.6, 0.0, 0.8), &def),
                     VY_OK);
    const int is_open = passive_unit(x) < 0.15;
    const double gap = distance * passive_log(x, 1e-3, 0.3);
    const vy_vec3 direction = passive_direction(x);
    if ((def.kind == VY_JOINT_HINGE || def.kind == VY_JOINT_SLIDER) && passive_unit(x) < 0.5) {
        def.limited = 1;
        def.low = -0.1;
        def.high = 0.2;
    }
    if (def.kind == VY_JOINT_UNIVERSAL)
        def.axis_b = quat_unrotate(read(t->b, t->ids[i + 1]).attitude, vec3_make(0.8, 0.0, -0.6));
    const int has_length = def.kind == VY_JOINT_DISTANCE || def.kind >= VY_JOINT_CABLE;
    if (has_length) { // from centre to centre
        def.anchor_a = def.anchor_b = vec3_zero();
        def.length = distance * (def.kind == VY_JOINT_CABLE ? 1.1 : 1.0);
        if (is_open && def.kind != VY_JOINT_SPRING) def.length = distance - gap;
    } else if (is_open) {
        def.anchor_b = vec3_add_scaled(def.anchor_b, gap, direction);
    }
    if (def.kind == VY_JOINT_SPRING) {
        const double rate = 6.2832 * passive_log(x, 0.5, 10.0), damped = passive_log(x, 1e-3, 0.5);
        def.stiffness = lightest * rate * rate;
        def.damping = damped * lightest * rate;
    }
    assert_int_equal(vy_bodies_add_joint(t->b, &def, NULL, NULL), VY_OK);
    t->joints += 1;
    t->open_joints += is_open && def.kind != VY_JOINT_SPRING;
    if (!has_length) t->may_overlap[i][i + 1] = 1;
}

// Seeds side by side give streams that have nothing in common (SplitMix64).
static inline uint64_t passive_mix(uint64_t seed)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

// With ground and gravity, or in free space.
static inline void passive_create_in(passive_scene *t, uint64_t seed, int has_ground)
{
    uint64_t x = passive_mix(seed);
    memset(t, 0, sizeof *t);
    vy_bodies_def def = vy_default_bodies_def();
    t->dt = def.dt = passive_log(&x, 1.0 / 1000.0, 1.0 / 60.0);
    def.gravity = vec3_make(0.0, 0.0, has_ground ? -G : 0.0);
    def.contacts.on = 1;
    const double kind = passive_unit(&x);
    def.integrator = kind < 0.6    ? VY_INTEGRATOR_RK4
                     : kind < 0.9  ? VY_INTEGRATOR_LIE_MIDPOINT
                     : kind < 0.95 ? VY_INTEGRATOR_EULER
                                   : VY_INTEGRATOR_SEMI_IMPLICIT;
    t->is_euler = kind >= 0.9;
    const int sleeps = passive_unit(&x) < 0.3;
    if (sleeps && has_ground) def.contacts.time_to_sleep = 0.5; // it takes the motion that is left
    assert_int_equal(vy_bodies_create(&def, &t->b, NULL), VY_OK);
    const int count = 3 + (int)(10.0 * passive_unit(&x));
    const double size = passive_log(&x, 0.001, 10.0), lightest = passive_log(&x, 1e-3, 1.0),
                 ratio = passive_log(&x, 1.0, 1000.0), spin = passive_log(&x, 1.0, 500.0);
    const int joined = passive_unit(&x) < 0.4;
    t->mass_ratio = ratio;
    t->thinnest = 1.0;
    for (int i = 0; i < count; ++i) {
        const double mass = lightest * pow(ratio, passive_unit(&x)), rate = passive_log(&x, 0.1 * spin, spin);
        passive_add(t, &x, size, mass, rate);
    }
    if (has_ground) passive_ground(t, &x, size);
    for (int i = 0; joined && i + 1 < count; ++i) {
        if (passive_unit(&x) < 0.6) passive_join(t, &x, i, lightest);
    }
}

static inline void passive_create(passive_scene *t, uint64_t seed) { passive_create_in(t, seed, 1); }

static inline void passive_destroy(passive_scene *t)
{
    vy_bodies_destroy(t->b);
    for (int i = 0; i < PASSIVE_BODIES_MAX; ++i) vy_hull_destroy(t->hulls[i]);
}

/// Kinetic energy, that of springs, and gravity's above the plane, less what joints have put in by closing.
static inline double passive_energy(const passive_scene *t)
{
    vy_body_state ground = read(t->b, t->ids[t->count]);
    const vy_bodies_energy e = vy_bodies_read_energy(t->b);
    return e.kinetic + e.potential - e.closing - t->mass * G * ground.position.z;
}

/// [m] How much deeper two bodies lie in each other than 5 % of the thinner one and 0.1 mm; below zero: not
/// so much.
static inline double passive_excess(const passive_scene *t, int i, int j)
{
    const vy_shape *a, *b;
    vy_pose pa, pb;
    assert_int_equal(vy_body_read_shape(t->b, t->ids[i], &a, &pa), VY_OK);
    assert_int_equal(vy_body_read_shape(t->b, t->ids[j], &b, &pb), VY_OK);
    const double allowed = 0.05 * fmin(t->thickness[i], t->thickness[j]) + 1e-4;
    vy_manifold m;
    double depth = 0.0;
    if (vy_shape_is_convex(a) && vy_shape_is_convex(b)) {
        const vy_bounds x = vy_shape_bounds(a, &pa), y = vy_shape_bounds(b, &pb);
        if (x.low.x > y.high.x || x.high.x < y.low.x || x.low.y > y.high.y || x.high.y < y.low.y ||
            x.low.z > y.high.z || x.high.z < y.low.z)
            return -1.0;
        int hit = 0;
        vy_contact c;
        if (vy_penetration(a, &pa, b, &pb, NULL, &hit, &c, NULL) != VY_OK || !hit) return -1.0;
        depth = c.depth;
    } else if (vy_collide(a, &pa, b, &pb, &m) == VY_OK) {
        for (int k = 0; k < m.count; ++k) depth = fmax(depth, m.points[k].depth);
    }
    return depth - allowed;
}

typedef enum passive_verdict {
    PASSIVE_OK = 0,
    PASSIVE_NOT_FINITE = 1,
    PASSIVE_GAINS_ENERGY = 2,
    PASSIVE_OVERLAPS = 4,
    PASSIVE_DROPS_TIME = 8
} passive_verdict;

typedef struct passive_result {
    unsigned verdict;   // passive_verdict bits
    int contact_steps;  // steps with contact impulses
    double gain;        // largest growth of energy over what there was least, of that at the start
    double gain_time;   // [s] when
    double deepest;     // [m] largest overlap, beyond what is allowed, that lasted
    double energy_left; // part of the energy that is left
} passive_result;

// Returns whether any overlaps too much now.
static inline int passive_overlaps(const passive_scene *t, double since, double lasted[][PASSIVE_PAIRS],
                                   passive_result *r)
{
    int any = 0;
    for (int i = 0; i < t->count; ++i) {
        for (int j = i + 1; j < t->count + t->ground_heights; ++j) {
            if (t->may_overlap[i][j]) continue;
            const double excess = passive_excess(t, i, j);
            lasted[i][j] = excess > 0.0 ? lasted[i][j] + since : 0.0;
            if (lasted[i][j] > 0.1) r->deepest = fmax(r->deepest, excess);
            any |= excess > 0.0;
        }
    }
    return any;
}

/// Run a scene to its end, or to where it breaks the law.
static inline passive_result passive_run(passive_scene *t)
{
    passive_result r = {0};
    double lasted[PASSIVE_PAIRS][PASSIVE_PAIRS] = {{0.0}};
    const double first = passive_energy(t);
    double energy_min = first;
    // Overlaps are looked for every hundredth of a second; while there is one, in every step: it is to last.
    const int steps = (int)(PASSIVE_TIME / t->dt), check_period = t->dt > 0.01 ? 1 : (int)(0.01 / t->dt);
    int last_check = -check_period, overlaps = 0;
    for (int k = 0; k < steps; ++k) {
        if (vy_bodies_step(t->b) & VY_BODIES_NOT_FINITE) {
            r.verdict |= PASSIVE_NOT_FINITE;
            break;
        }
        int has_contact = 0;
        for (uint32_t n = 0; n < vy_bodies_contact_count(t->b); ++n) {
            vy_contact_report c;
            assert_int_equal(vy_bodies_contact(t->b, n, &c), VY_OK);
            has_contact |= c.phase != VY_CONTACT_END;
        }
        r.contact_steps += has_contact;
        const double now = passive_energy(t), gain = (now - energy_min) / first;
        if (gain > r.gain) {
            r.gain = gain;
            r.gain_time = (k + 1) * t->dt;
        }
        energy_min = fmin(energy_min, now);
        r.energy_left = now / first;
        if (!(gain <= 1e3)) break;
        if (!overlaps && k - last_check < check_period) continue;
        overlaps = passive_overlaps(t, (k - last_check) * t->dt, lasted, &r);
        last_check = k;
    }
    if (t->is_euler) return r;
    if (!(r.gain <= 0.01)) r.verdict |= PASSIVE_GAINS_ENERGY;
    if (r.deepest > 0.0) r.verdict |= PASSIVE_OVERLAPS;
    if (vy_bodies_impacts(t->b).dropped_time > PASSIVE_DROPPED_TIME_MAX) r.verdict |= PASSIVE_DROPS_TIME;
    return r;
}
