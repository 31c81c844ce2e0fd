// test_geometric.c - Lee's and Mellinger's laws with drag fed forward: against the laws written again in
// plain matrices, and in flight.
//
// `test_geometric table` prints the table of docs/control.md.
#include "flight.h"
#include "control/control.h"
#include "control/geometric.h"
#include "control/trajectory.h"
#include <stdlib.h>
#include <string.h>

// ---- the laws in plain matrices: derivatives of frames by differences, drag by iteration

typedef struct matrix {
    double m[3][3];
} matrix;
typedef struct column {
    double v[3];
} column;

static column column_of(vec3 a) { return (column){{a.x, a.y, a.z}}; }
static column unit_of(column a)
{
    const double n = sqrt(a.v[0] * a.v[0] + a.v[1] * a.v[1] + a.v[2] * a.v[2]);
    return (column){{a.v[0] / n, a.v[1] / n, a.v[2] / n}};
}
static column plus(column a, double k, column b)
{
    return (column){{a.v[0] + k * b.v[0], a.v[1] + k * b.v[1], a.v[2] + k * b.v[2]}};
}
static matrix hat(column w) // hat(w) x = w cross x
{
    return (matrix){{{0.0, -w.v[2], w.v[1]}, {w.v[2], 0.0, -w.v[0]}, {-w.v[1], w.v[0], 0.0}}};
}
static column vee(matrix a) // of its antisymmetric part
{
    return (column){
        {0.5 * (a.m[2][1] - a.m[1][2]), 0.5 * (a.m[0][2] - a.m[2][0]), 0.5 * (a.m[1][0] - a.m[0][1])}};
}
static column times(matrix a, column b)
{
    column c = {{0.0, 0.0, 0.0}};
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) c.v[i] += a.m[i][j] * b.v[j];
    return c;
}
static matrix product(matrix a, matrix b)
{
    matrix c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            c.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
    return c;
}
static matrix transposed(matrix a)
{
    matrix c;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) c.m[i][j] = a.m[j][i];
    return c;
}
static matrix matrix_of(mat3 a)
{
    matrix c;
    memcpy(c.m, a.m, sizeof c.m);
    return c;
}
static column cross(column a, column b) { return times(hat(a), b); }

// z along `a`, y across z and the nose.
static matrix frame(column a, double yaw)
{
    const column z = unit_of(a), y = unit_of(cross(z, (column){{cos(yaw), sin(yaw), 0.0}})), x = cross(y, z);
    matrix r;
    for (int i = 0; i < 3; ++i) {
        r.m[i][0] = x.v[i];
        r.m[i][1] = y.v[i];
        r.m[i][2] = z.v[i];
    }
    return r;
}

// The reference at `t` from now: its derivative `k`, and its heading.
static column reference_derivative(const trajectory_point *r, int k, double t)
{
    column sum = {{0.0, 0.0, 0.0}};
    double factor = 1.0;
    for (int i = k; i < 5; ++i) {
        sum = plus(sum, factor, column_of(r->d[i]));
        factor *= t / (i - k + 1);
    }
    return sum;
}
static double heading_at(const trajectory_point *r, double t)
{
    return r->yaw + t * (r->yaw_rate + 0.5 * t * r->yaw_acceleration);
}

// Drag R D R^T v of a drone that flies the reference, where R leans against gravity, acceleration and drag
// itself: found by trying until it agrees with itself.
static column drag_at(const ladder_params *p, const trajectory_point *r, double t, matrix *attitude)
{
    const column v = reference_derivative(r, 1, t);
    const column push = plus(reference_derivative(r, 2, t), -1.0, column_of(p->gravity));
    const column d = column_of(p->drag);
    column drag = {{0.0, 0.0, 0.0}};
    for (int n = 0; n < 100; ++n) {
        *attitude = frame(plus(push, 1.0, drag), heading_at(r, t));
        column u = times(transposed(*attitude), v);
        for (int i = 0; i < 3; ++i) u.v[i] *= d.v[i];
        drag = times(*attitude, u);
    }
    return drag;
}

#define STEP 1e-3
// First and second derivatives of five values, STEP apart, to the fourth order.
static const double first_of[5] = {1.0 / 12, -8.0 / 12, 0.0, 8.0 / 12, -1.0 / 12};
static const double second_of[5] = {-1.0 / 12, 16.0 / 12, -30.0 / 12, 16.0 / 12, -1.0 / 12};

// Rate and angular acceleration of five frames, STEP apart, at the middle one, in its own axes.
static void turning_of(const matrix *r, column *rate, column *acceleration)
{
    matrix one = {{{0.0}}}, two = {{{0.0}}};
    for (int n = 0; n < 5; ++n) {
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                one.m[i][j] += first_of[n] / STEP * r[n].m[i][j];
                two.m[i][j] += second_of[n] / (STEP * STEP) * r[n].m[i][j];
            }
        }
    }
    const matrix back = transposed(r[2]);
    *rate = vee(product(back, one));
    *acceleration = vee(product(back, two)); // R^T R'' = hat(w)^2 + hat(w')
}

// The terms of the laws.
enum {
    TERM_POSITION,
    TERM_VELOCITY,
    TERM_INTEGRAL,
    TERM_REFERENCE,
    TERM_ATTITUDE,
    TERM_RATE,
    TERM_DESIRED_RATE,
    TERM_GYROSCOPIC,     // of Lee: w x I w
    TERM_TRANSPORT,      // w x R^T R_d w_d
    TERM_DESIRED_SPIN,   // R^T R_d w_d'
    TERM_ERRORS_RATE,    // of the errors in A'
    TERM_ERRORS_SPIN,    // and in A''
    TERM_DRAG,           // in A
    TERM_DRAG_RATE,      // in A'
    TERM_DRAG_SPIN,      // in A''
    TERM_DRAG_TORQUE,    // A v
    TERM_DRAG_DAMPING,   // B w
    TERM_DRAG_IN_ERRORS, // in the accelerations that errors have, by the model
    TERMS
};
static const char *const term_names[TERMS] = {
    "position",     "velocity",   "integral",    "reference",    "attitude",     "rate",
    "desired rate", "gyroscopic", "transport",   "desired spin", "errors in A'", "errors in A''",
    "drag",         "drag in A'", "drag in A''", "drag torque",  "drag damping", "drag in the errors"};
static int is_of_lee(int term)
{
    return (term >= TERM_GYROSCOPIC && term <= TERM_ERRORS_SPIN) || term == TERM_DRAG_IN_ERRORS ||
           term == TERM_DRAG_SPIN;
}

typedef struct wrench {
    double thrust;
    column torque;
} wrench;

// A law without the term `without`; -1: all of it.
static wrench plain_law(const ladder_params *p, const trajectory_point *r, const estimator_state *e, int lee,
                        column integral, int without)
{
#define ONE(term) (without == TERM_##term ? 0.0 : 1.0)
    matrix at[5];
    column drag[3] = {{{0.0}}};
    for (int n = 0; n < 5; ++n) {
        const column d = drag_at(p, r, (n - 2) * STEP, &at[n]);
        if (n == 2) drag[0] = d;
        drag[1] = plus(drag[1], first_of[n] / STEP, d);
        drag[2] = plus(drag[2], second_of[n] / (STEP * STEP), d);
    }
    const matrix present = matrix_of(quat_matrix(e->attitude)), back = transposed(present);
    const column z = times(present, (column){{0.0, 0.0, 1.0}}), w = column_of(e->rate),
                 g = column_of(p->gravity);
    column d[5];
    for (int k = 0; k < 5; ++k) d[k] = reference_derivative(r, k, 0.0);
    const double kp = p->position_gain, kv = p->velocity_gain;
    const column ep = plus(d[0], -1.0, column_of(e->position)), ev = plus(d[1], -1.0, column_of(e->velocity));
    column a = plus(plus(plus((column){{0.0}}, ONE(REFERENCE), d[2]), ONE(INTEGRAL), integral), -1.0, g);
    a = plus(plus(a, ONE(POSITION) * kp, ep), ONE(VELOCITY) * kv, ev);
    a = plus(a, ONE(DRAG), drag[0]);
    const double f = fmax(a.v[0] * z.v[0] + a.v[1] * z.v[1] + a.v[2] * z.v[2], 0.0);
    column a1 = plus(plus((column){{0.0}}, ONE(REFERENCE), d[3]), ONE(DRAG_RATE), drag[1]);
    column a2 = plus(plus((column){{0.0}}, ONE(REFERENCE), d[4]), ONE(DRAG_SPIN), drag[2]);
    if (lee) { // the drone's acceleration and jerk by the model: gravity, thrust f along z, the drag above
        const column acceleration = plus(plus(g, f, z), -ONE(DRAG_IN_ERRORS), drag[0]);
        const column jerk =
            plus(plus((column){{0.0}}, f, times(product(present, hat(w)), (column){{0, 0, 1}})),
                 -ONE(DRAG_IN_ERRORS), drag[1]);
        const column ea = plus(d[2], -1.0, acceleration), ej = plus(d[3], -1.0, jerk);
        a1 = plus(plus(a1, ONE(ERRORS_RATE) * kp, ev), ONE(ERRORS_RATE) * kv, ea);
        a2 = plus(plus(a2, ONE(ERRORS_SPIN) * kp, ea), ONE(ERRORS_SPIN) * kv, ej);
    }
    matrix turned[5];
    for (int n = 0; n < 5; ++n) {
        const double t = (n - 2) * STEP;
        turned[n] = frame(plus(plus(a, t, a1), 0.5 * t * t, a2), heading_at(r, t));
    }
    column wd, wd1, wr, unused;
    turning_of(turned, &wd, &wd1);
    turning_of(at, &wr, &unused);
    const matrix desired = turned[2], between = product(back, desired);
    const column er = vee(product(transposed(desired), present));
    const column here = times(between, wd);
    column spin = {{0.0, 0.0, 0.0}};
    const column gain = column_of(p->attitude_gain);
    for (int i = 0; i < 3; ++i)
        spin.v[i] = -p->rate_gain * (ONE(ATTITUDE) * gain.v[i] * er.v[i] + ONE(RATE) * w.v[i] -
                                     ONE(DESIRED_RATE) * here.v[i]);
    if (lee) {
        spin = plus(spin, ONE(DESIRED_SPIN), times(between, wd1));
        spin = plus(spin, -ONE(TRANSPORT), cross(w, here));
    }
    const matrix inertia = matrix_of(p->inertia);
    column torque = times(inertia, spin);
    if (lee) torque = plus(torque, ONE(GYROSCOPIC), cross(w, times(inertia, w)));
    torque = plus(torque, ONE(DRAG_TORQUE), times(matrix_of(p->drag_torque), times(transposed(at[2]), d[1])));
    torque = plus(torque, ONE(DRAG_DAMPING), times(matrix_of(p->drag_damping), wr));
    return (wrench){p->mass * f, torque};
#undef ONE
}

static mat3 random_matrix(random_source *r, double max)
{
    mat3 a;
    for (int i = 0; i < 9; ++i) a.m[i / 3][i % 3] = random_in(r, -max, max);
    return a;
}

static ladder_params random_ladder(random_source *r)
{
    ladder_params p;
    memset(&p, 0, sizeof p);
    p.mass = random_in(r, 0.5, 2.0);
    p.inertia = (mat3){{{1.0, 0.1, -0.2}, {0.1, 1.5, 0.15}, {-0.2, 0.15, 2.0}}};
    for (int i = 0; i < 3; ++i) p.inertia.m[i][i] *= random_in(r, 0.7, 1.4);
    p.gravity = (vec3){0.0, 0.0, -9.80665};
    p.position_gain = random_in(r, 0.2, 2.0);
    p.velocity_gain = random_in(r, 0.2, 2.0);
    p.tan_tilt = 1e9;
    p.integral_max = 5.0;
    p.attitude_gain = (vec3){random_in(r, 2.0, 9.0), random_in(r, 2.0, 9.0), random_in(r, 2.0, 9.0)};
    p.rate_gain = random_in(r, 5.0, 30.0);
    p.has_drag = 1.0;
    p.drag = (vec3){random_in(r, 0.1, 0.6), random_in(r, 0.1, 0.6), random_in(r, 0.1, 0.6)};
    p.drag_torque = random_matrix(r, 0.5);
    p.drag_damping = random_matrix(r, 0.5);
    return p;
}

static double apart(const wrench *a, const wrench *b)
{
    double max = fabs(a->thrust - b->thrust);
    for (int i = 0; i < 3; ++i) max = fmax(max, fabs(a->torque.v[i] - b->torque.v[i]));
    return max;
}

// Everywhere: at any attitude, at rates of several radians a second, with errors of position and velocity, a
// nose that turns, an inertia with products and three different drags. And each term counts: without it the
// law is another one by far more than what the comparison allows.
static void laws_are_those_of_plain_matrices(void **unused)
{
    (void)unused;
    random_source s = {61};
    for (int lee = 0; lee < 2; ++lee) {
        double worst = 0.0, counts[TERMS] = {0.0};
        for (int n = 0; n < 400; ++n) {
            const ladder_params p = random_ladder(&s);
            trajectory_point r;
            r.d[0] = random_vec(&s, 10.0);
            r.d[1] = random_vec(&s, 4.0);
            for (int k = 2; k < 5; ++k) r.d[k] = random_vec(&s, 3.0);
            r.yaw = random_in(&s, -PI, PI);
            r.yaw_rate = random_in(&s, -1.0, 1.0);
            r.yaw_acceleration = random_in(&s, -1.0, 1.0);
            estimator_state e;
            memset(&e, 0, sizeof e);
            e.position = vec3_add(r.d[0], random_vec(&s, 0.8));
            e.velocity = vec3_add(r.d[1], random_vec(&s, 0.8));
            e.attitude = random_attitude(&s);
            e.rate = random_vec(&s, 4.0);
            vec3 integral = random_vec(&s, 1.0), torque;
            const column sum = column_of(integral);
            wrench got;
            got.thrust = lower_trajectory(&p, &r, &e, lee, &integral, &torque);
            got.torque = column_of(torque);
            const wrench wanted = plain_law(&p, &r, &e, lee, sum, -1);
            worst = fmax(worst, apart(&got, &wanted));
            for (int k = 0; k < TERMS && n < 40; ++k) {
                const wrench other = plain_law(&p, &r, &e, lee, sum, k);
                counts[k] = fmax(counts[k], apart(&other, &wanted));
            }
        }
        assert_near(worst, 0.0, 2e-6);
        for (int k = 0; k < TERMS; ++k) {
            if (!lee && is_of_lee(k)) {
                assert_near(counts[k], 0.0, 2e-6); // as Mellinger's law has no such term
            } else if (!(counts[k] > 1e-2)) {
                fail_msg("without `%s` the law is the same to %g", term_names[k], counts[k]);
            }
        }
    }
}

// A drone that has its reference's attitude, rate and speed: thrust, gravity and the vehicle's own drag make
// the reference's acceleration, and the torque turns it as the reference turns. (The rate of thrust is not in
// Lee's model: along the reference its errors are zero, and so is what that leaves.)
static void drag_is_met_on_the_reference(void **unused)
{
    (void)unused;
    random_source s = {62};
    for (int n = 0; n < 200; ++n) {
        ladder_params p = random_ladder(&s);
        trajectory_point r;
        r.d[0] = random_vec(&s, 10.0);
        r.d[1] = random_vec(&s, 4.0);
        for (int k = 2; k < 5; ++k) r.d[k] = random_vec(&s, 3.0);
        r.yaw = random_in(&s, -PI, PI);
        r.yaw_rate = r.yaw_acceleration = 0.5;
        const desired_frame f = frame_with_drag(&p, &r);
        const drag_feedforward drag = drag_feedforward_at(&p, &r);
        const vec3 along = mat3_mul_vec(f.r, vec3_mul(p.drag, mat3_tmul_vec(f.r, r.d[1])));
        const vec3 push = vec3_add(vec3_sub(r.d[2], p.gravity), along); // what thrust must make
        const vec3 z = {f.r.m[0][2], f.r.m[1][2], f.r.m[2][2]};
        assert_vec_near(vec3_scale(vec3_dot(push, z), z), push, 1e-12 * vec3_length(push));
        assert_vec_near(drag.force[0], along, 1e-12);
    }
}

// Force and torque, body axes, of the effects by which a drone of `def` is dragged as it starts.
static void drag_loads(const vy_drone_def *def, double out[6])
{
    static const char *const effects[] = {"linear_drag", "rotor_drag", "flapping"};
    vy_world_def wd = vy_default_world_def();
    wd.environment.nap.strict = 1;
    vy_world *world = fly_in(&wd, def);
    vy_loads l;
    assert_int_equal(vy_world_keep_loads(world, 1, NULL), VY_OK);
    (void)vy_world_step(world);
    assert_int_equal(vy_world_read_loads(world, vy_world_body(world, 0), &l), VY_OK);
    vec3 force = vec3_zero(), torque = vec3_zero();
    int found = 0;
    for (int i = 0; vy_effect_name(i) != NULL; ++i) {
        for (int k = 0; k < 3; ++k) {
            if (strcmp(vy_effect_name(i), effects[k]) != 0) continue;
            force = vec3_add(force, l.force[i]);
            torque = vec3_add(torque, l.torque[i]);
            ++found;
        }
    }
    assert_int_equal(found, 3);
    force = quat_unrotate(def->attitude, force);
    const double values[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
    memcpy(out, values, sizeof values);
    vy_world_destroy(world);
}

// The vehicle's constants are what its effects do to it at hover when it moves or turns, at any attitude.
static void constants_are_those_of_the_plant(void **unused)
{
    (void)unused;
    random_source s = {63};
    for (int i = 0; vy_vehicle_preset_name(i) != NULL; ++i) {
        vy_drone_def d = quiet_drone();
        vy_vehicle_def *v = &d.vehicle;
        assert_int_equal(vy_vehicle_preset(vy_vehicle_preset_name(i), v, NULL), VY_OK);
        v->rotor_air.drag += 1e-5; // some have none
        v->rotor_air.drag_axial += 2e-6;
        v->rotor_air.flap += 3e-7;
        v->centre_of_mass = (vy_vec3){0.003, -0.002, -0.01};
        d.position.z = 100.0;
        d.attitude = random_attitude(&s);
        d.rotor_speed = vy_vehicle_hover_speed(v, 9.80665);
        ladder_params p;
        const vy_controller_def c = vy_default_controller_def();
        assert_int_equal(vy_ladder_build(&c, v, (vec3){0, 0, -9.80665}, &p, NULL), VY_OK);
        assert_true(p.has_drag == 1.0);
        const vec3 body = random_vec(&s, 1.0);
        double moving[6], turning[6];
        d.velocity = quat_rotate(d.attitude, body);
        drag_loads(&d, moving);
        d.velocity = (vy_vec3){0, 0, 0};
        d.rate = random_vec(&s, 1.0);
        drag_loads(&d, turning);
        const vec3 a = mat3_mul_vec(p.drag_torque, body), b = mat3_mul_vec(p.drag_damping, d.rate);
        assert_vec_near(((vec3){moving[0], moving[1], moving[2]}),
                        vec3_scale(-v->mass, vec3_mul(p.drag, body)), 1e-12);
        assert_vec_near(((vec3){moving[3], moving[4], moving[5]}), vec3_scale(-1.0, a), 1e-13);
        assert_vec_near(((vec3){turning[3], turning[4], turning[5]}), vec3_scale(-1.0, b), 1e-13);
    }
    // None declared: none fed forward.
    vy_vehicle_def plain;
    ladder_params p;
    const vy_controller_def c = vy_default_controller_def();
    assert_int_equal(vy_vehicle_preset("reference-quad", &plain, NULL), VY_OK);
    assert_int_equal(vy_ladder_build(&c, &plain, (vec3){0, 0, -9.80665}, &p, NULL), VY_OK);
    assert_true(p.has_drag == 0.0);
}

// ---- in flight

// The flights of the table: lobes, speed, rounds.
static const struct {
    double radius, speed, laps;
} eights[] = {{2.0, 2.0, 4.0}, {6.0, 4.0, 2.0}};
enum { EIGHTS = sizeof eights / sizeof eights[0] };

// [cm] Root mean square of the position error on a figure eight, told the truth.
static double tracking_error(const char *preset, vy_controller_kind law, int eight, int drag)
{
    vy_drone_def d = vy_default_drone_def();
    vy_vehicle_def *v = &d.vehicle;
    assert_int_equal(vy_vehicle_preset(preset, v, NULL), VY_OK);
    if (!drag) {
        v->drag_linear = (vy_vec3){0.0, 0.0, 0.0};
        v->rotor_air.drag = v->rotor_air.drag_axial = v->rotor_air.flap = 0.0;
    }
    d.truth = 1;
    d.imu.period = d.mocap.period = 0.0;
    d.position.z = 2.0;
    d.rotor_speed = vy_vehicle_hover_speed(v, 9.80665);
    d.controller.kind = law;
    d.controller.period = 0.002;
    d.controller.gains.tilt_max = PI / 3.0;
    vy_path_def *path = &d.controller.path;
    path->kind = VY_PATH_FIGURE_EIGHT;
    path->centre = d.position;
    path->radius = eights[eight].radius;
    path->speed = eights[eight].speed;
    path->laps = eights[eight].laps;
    path->ramp = 2.0;
    path_model way;
    vy_path_build(path, &way);
    const double end = path->start + 2.0 * way.ramp + way.cruise + 1.0;
    vy_world *world = fly(&d);
    double sum = 0.0;
    uint64_t steps = 0;
    for (double time = 0.0; time < end; time = vy_world_time(world), ++steps) {
        (void)vy_world_step(world);
        const double now = vy_world_time(world);
        trajectory_point r;
        path_at(&way, &now, &r);
        const double error = check_distance(state_of(world, 0).position, r.d[0]);
        sum += error * error;
    }
    vy_world_destroy(world);
    return 100.0 * sqrt(sum / (double)steps);
}

// One row of docs/control.md: errors with drag, in brackets without, of both laws on both eights. Returns
// whether each is within 1.2 times the other and 0.5 cm.
static int table_row(const char *preset, char *out, size_t size)
{
    static const vy_controller_kind laws[] = {VY_CONTROLLER_LEE, VY_CONTROLLER_MELLINGER};
    int within = 1;
    size_t used = (size_t)snprintf(out, size, "| `%s` |", preset);
    for (int law = 0; law < 2; ++law) {
        for (int eight = 0; eight < EIGHTS; ++eight) {
            const double with = tracking_error(preset, laws[law], eight, 1),
                         without = tracking_error(preset, laws[law], eight, 0);
            within &= with <= 1.2 * without + 0.5;
            used += (size_t)snprintf(out + used, size - used, " %.2f (%.2f) |", with, without);
        }
    }
    return within;
}

static char *page(void)
{
    FILE *file = fopen("docs/control.md", "rb");
    assert_non_null(file);
    enum { TEXT_CAP = 1 << 20 };
    char *text = malloc(TEXT_CAP + 1);
    assert_non_null(text);
    text[fread(text, 1, TEXT_CAP, file)] = '\0';
    fclose(file);
    return text;
}

// For every preset: drag costs a law next to nothing, and the table in docs/control.md is what it flies.
static void drag_costs_next_to_nothing(void **unused)
{
    (void)unused;
    char *text = page(), row[256];
    for (int i = 0; vy_vehicle_preset_name(i) != NULL; ++i) {
        if (!table_row(vy_vehicle_preset_name(i), row, sizeof row)) fail_msg("more than allowed: %s", row);
        if (strstr(text, row) == NULL) fail_msg("docs/control.md lacks the row %s", row);
    }
    free(text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_are_those_of_plain_matrices),
        cmocka_unit_test(drag_is_met_on_the_reference),
        cmocka_unit_test(constants_are_those_of_the_plant),
        cmocka_unit_test(drag_costs_next_to_nothing),
    };
    if (argc > 1 && strcmp(argv[1], "table") == 0) {
        for (int i = 0; vy_vehicle_preset_name(i) != NULL; ++i) {
            char row[256];
            const int within = table_row(vy_vehicle_preset_name(i), row, sizeof row);
            printf("%s%s\n", row, within ? "" : " (!)");
            fflush(stdout);
        }
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
