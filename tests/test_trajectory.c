// test_trajectory.c - paths and their derivatives, minimum snap, and the laws that track them.
#include "flight.h"
#include "control/control.h"
#include "control/geometric.h"
#include "control/trajectory.h"
#include <string.h>

static const vy_vec3 gravity = {0.0, 0.0, -9.80665};

static path_model path_of(vy_path_kind kind)
{
    vy_path_def def = vy_default_path_def();
    def.kind = kind;
    def.centre = (vy_vec3){1.0, -2.0, 3.0};
    def.to = (vy_vec3){4.0, 2.0, 5.0};
    def.radius = 2.0;
    def.climb = 1.5;
    def.laps = 3.0;
    def.speed = 2.0;
    def.waypoint_count = 5;
    const vy_waypoint list[5] = {
        {{0, 0, 1}, 0.0}, {{3, 0, 2}, 1.0}, {{4, 3, 1}, 1.5}, {{0, 4, 1.5}, 0.0}, {{-1, 0, 1}, -1.0}};
    memcpy(def.waypoints, list, sizeof list);
    vy_error err = {0};
    if (vy_check_path_def(&def, &err) != VY_OK) fail_msg("%s", err.text);
    path_model p;
    vy_path_build(&def, &p);
    return p;
}

static double end_of(const path_model *p)
{
    return p->def.start +
           (p->def.kind == VY_PATH_MINIMUM_SNAP ? p->times[p->segments] : 2.0 * p->ramp + p->cruise);
}

static trajectory_point at(const path_model *p, double time)
{
    trajectory_point out;
    path_at(p, &time, &out);
    return out;
}

// Every derivative is the slope of the one before, on every path and over its whole time.
static void derivatives_are_slopes(void **unused)
{
    (void)unused;
    for (int kind = VY_PATH_LINE; kind <= VY_PATH_MINIMUM_SNAP; ++kind) {
        const path_model p = path_of((vy_path_kind)kind);
        const double h = 1e-5, last = end_of(&p);
        for (double t = 0.5; t < last + 0.5; t += 0.01037) {
            const trajectory_point a = at(&p, t - h), b = at(&p, t), c = at(&p, t + h);
            for (int k = 0; k < 4; ++k) {
                // At its ends the snap of minimum snap jumps: there its slope is none.
                if (kind == VY_PATH_MINIMUM_SNAP && k == 3 && (fabs(t - 1.0) < 1e-3 || fabs(t - last) < 1e-3))
                    continue;
                const vec3 slope = vec3_scale(0.5 / h, vec3_sub(c.d[k], a.d[k]));
                assert_vec_near(b.d[k + 1], slope, 1e-4 * (1.0 + vec3_length(b.d[k + 1])));
            }
            assert_near(b.yaw_rate, (c.yaw - a.yaw) / (2.0 * h), 1e-5);
            assert_near(b.yaw_acceleration, (c.yaw_rate - a.yaw_rate) / (2.0 * h), 1e-4);
        }
    }
}

// Shapes are continuous to the snap, their ends included: no value jumps by more than its slope allows.
static void shapes_are_continuous_to_the_snap(void **unused)
{
    (void)unused;
    for (int kind = VY_PATH_LINE; kind <= VY_PATH_HELIX; ++kind) {
        const path_model p = path_of((vy_path_kind)kind);
        const double seams[] = {1.0, 1.0 + p.ramp, 1.0 + p.ramp + p.cruise, end_of(&p)};
        for (int i = 0; i < 4; ++i) {
            const trajectory_point a = at(&p, seams[i] - 1e-9), b = at(&p, seams[i] + 1e-9);
            for (int k = 0; k < 5; ++k) assert_vec_near(a.d[k], b.d[k], 1e-4);
        }
    }
}

// The speed between the ramps is the declared one to three parts in 100,000, and the shapes are what their
// names say.
static void shapes_are_flown_at_constant_speed(void **unused)
{
    (void)unused;
    for (int kind = VY_PATH_LINE; kind <= VY_PATH_HELIX; ++kind) {
        const path_model p = path_of((vy_path_kind)kind);
        const vec3 o = p.def.centre;
        double high = -1e9, wide = 0.0;
        for (double t = 1.0 + p.ramp; t < 1.0 + p.ramp + p.cruise; t += 0.003) {
            const trajectory_point s = at(&p, t);
            assert_near(vec3_length(s.d[1]), 2.0, 6e-5);
            const vec3 d = vec3_sub(s.d[0], o);
            if (kind == VY_PATH_CIRCLE || kind == VY_PATH_HELIX) assert_near(hypot(d.x, d.y), 2.0, 1e-12);
            if (kind == VY_PATH_FIGURE_EIGHT) // the lemniscate of Gerono: x^4 = a^2 (x^2 - y^2)
                assert_near(pow(d.x, 4.0), 4.0 * (d.x * d.x - d.y * d.y), 1e-9);
            high = fmax(high, d.z);
            wide = fmax(wide, fabs(d.x));
        }
        if (kind == VY_PATH_FIGURE_EIGHT) assert_near(wide, 2.0, 1e-4);
        const vec3 first = at(&p, 0.0).d[0], last = at(&p, 1e3).d[0];
        const vec3 starts[] = {o, {o.x + 2.0, o.y, o.z}, o, {o.x + 2.0, o.y, o.z}};
        vec3 ends[] = {p.def.to, starts[1], starts[2], starts[3]};
        ends[3].z += 3.0 * 1.5;
        assert_vec_near(first, starts[kind - VY_PATH_LINE], 1e-12);
        assert_vec_near(last, ends[kind - VY_PATH_LINE], 1e-9);
    }
}

// A path too short to come up to speed in its ramp is flown at the speed at which it ends with it.
static void short_paths_are_flown_slower(void **unused)
{
    (void)unused;
    vy_path_def def = vy_default_path_def();
    def.kind = VY_PATH_LINE;
    def.to = vec3_add(def.centre, vec3_make(0.6, 0.0, 0.8)); // 1 m
    def.ramp = 4.0;
    for (int k = 0; k < 3; ++k) {
        def.speed = 0.2 + 0.1 * k;
        path_model p;
        vy_path_build(&def, &p);
        assert_near(p.speed, k == 0 ? 0.2 : 0.25, 1e-15);
        assert_near(p.cruise, k == 0 ? 1.0 : 0.0, 1e-15);
        assert_vec_near(at(&p, end_of(&p)).d[0], def.to, 1e-14);
    }
}

static double derivative_of(const double *c, int k, double t)
{
    double sum = 0.0;
    for (int n = 7; n >= k; --n) {
        double factor = 1.0;
        for (int m = 0; m < k; ++m) factor *= n - m;
        sum = sum * t + factor * c[n];
    }
    return sum;
}

// Through every waypoint, at rest at both ends, derivatives up to the sixth continuous at those between:
// which makes it the one of least snap (the natural spline of degree 7). Speed and acceleration keep their
// limits, and reach one of them.
static void minimum_snap_passes_and_keeps_its_limits(void **unused)
{
    (void)unused;
    random_source r = {51};
    for (int n = 0; n < 30; ++n) {
        vy_path_def def = vy_default_path_def();
        def.kind = VY_PATH_MINIMUM_SNAP;
        def.speed = random_in(&r, 1.0, 6.0);
        def.acceleration = random_in(&r, 1.0, 10.0);
        def.waypoint_count = 2 + n % (VY_WAYPOINT_CAP - 1);
        for (int i = 0; i < def.waypoint_count; ++i) def.waypoints[i].position = random_vec(&r, 5.0);
        path_model p;
        vy_path_build(&def, &p);
        assert_int_equal(p.segments, def.waypoint_count - 1);
        for (int i = 0; i < def.waypoint_count; ++i) {
            const trajectory_point s = at(&p, def.start + p.times[i]);
            assert_vec_near(s.d[0], def.waypoints[i].position, 1e-8);
            const int end = i == 0 || i == p.segments;
            for (int k = 1; end && k < 4; ++k) assert_vec_near(s.d[k], vec3_zero(), 1e-9);
            if (end) continue;
            const double span = p.times[i] - p.times[i - 1];
            for (int axis = 0; axis < 3; ++axis) {
                double scale = 1.0;
                for (int k = 0; k <= 6; ++k, scale /= span) {
                    const double before = derivative_of(p.polynomials[i - 1][axis], k, span);
                    const double after = derivative_of(p.polynomials[i][axis], k, 0.0);
                    assert_near(before, after, 1e-6 * (1.0 + 100.0 * scale));
                }
            }
        }
        double speed = 0.0, push = 0.0;
        for (double t = 0.0; t < p.times[p.segments]; t += p.times[p.segments] / 20000.0) {
            const trajectory_point s = at(&p, def.start + t);
            speed = fmax(speed, vec3_length(s.d[1]));
            push = fmax(push, vec3_length(s.d[2]));
        }
        assert_true(speed <= def.speed && push <= def.acceleration);
        assert_true(speed > 0.98 * def.speed || push > 0.98 * def.acceleration);
    }
}

// From rest to rest along a line the answer is known: 35 s^4 - 84 s^5 + 70 s^6 - 20 s^7.
static void minimum_snap_of_one_piece_is_known(void **unused)
{
    (void)unused;
    vy_path_def def = vy_default_path_def();
    def.kind = VY_PATH_MINIMUM_SNAP;
    def.waypoint_count = 2;
    def.waypoints[1].position = (vy_vec3){3.0, -1.0, 2.0};
    path_model p;
    vy_path_build(&def, &p);
    for (int i = 0; i <= 10; ++i) {
        const double s = 0.1 * i, share = s * s * s * s * (35.0 + s * (-84.0 + s * (70.0 - 20.0 * s)));
        const trajectory_point q = at(&p, def.start + s * p.times[1]);
        assert_vec_near(q.d[0], vec3_scale(share, def.waypoints[1].position), 1e-12);
    }
}

static ladder_params quad(void)
{
    vy_vehicle_def v;
    assert_int_equal(vy_vehicle_preset("reference-quad", &v, NULL), VY_OK);
    vy_controller_def c = vy_default_controller_def();
    c.gains.tilt_max = 1.4;
    ladder_params p;
    assert_int_equal(vy_ladder_build(&c, &v, gravity, &p, NULL), VY_OK);
    return p;
}

static void accelerations(const path_model *path, double time, trajectory_point *r, vec3 a[3])
{
    *r = at(path, time);
    r->yaw = 0.7 * time; // a nose that turns, faster and faster
    r->yaw_rate = 0.7;
    r->yaw_acceleration = 0.0;
    a[0] = vec3_sub(r->d[2], gravity);
    a[1] = r->d[3];
    a[2] = r->d[4];
}

// The rate and acceleration of the wanted frame are those of the frame as it turns: against differences of
// the frame itself along a helix with a turning nose.
static void desired_frame_turns_as_it_says(void **unused)
{
    (void)unused;
    const path_model path = path_of(VY_PATH_HELIX);
    const double h = 1e-5;
    for (double t = 1.2; t < 12.0; t += 0.0913) {
        desired_frame f[3];
        for (int i = 0; i < 3; ++i) {
            trajectory_point r;
            vec3 a[3];
            accelerations(&path, t + (i - 1) * h, &r, a);
            f[i] = geometric_frame(a, &r);
        }
        const mat3 turned = mat3_mul(mat3_transpose(f[0].r), f[2].r); // over 2 h
        const vec3 rate =
            vec3_scale(0.25 / h, (vec3){turned.m[2][1] - turned.m[1][2], turned.m[0][2] - turned.m[2][0],
                                        turned.m[1][0] - turned.m[0][1]});
        assert_vec_near(f[1].rate, rate, 1e-6);
        assert_vec_near(f[1].acceleration, vec3_scale(0.5 / h, vec3_sub(f[2].rate, f[0].rate)), 1e-5);
        assert_vec_near(attitude_error(f[1].r, f[1].r), vec3_zero(), 1e-15);
    }
}

static quat quat_of(mat3 r)
{
    const double w = 0.5 * sqrt(fmax(0.0, 1.0 + r.m[0][0] + r.m[1][1] + r.m[2][2]));
    return (quat){w, (r.m[2][1] - r.m[1][2]) / (4.0 * w), (r.m[0][2] - r.m[2][0]) / (4.0 * w),
                  (r.m[1][0] - r.m[0][1]) / (4.0 * w)};
}

// A drone exactly on its trajectory, with the wanted attitude and rates: Lee's torque gives exactly the
// wanted angular acceleration, and the thrust the wanted acceleration.
static void lee_stays_on_the_trajectory(void **unused)
{
    (void)unused;
    const ladder_params p = quad();
    const path_model path = path_of(VY_PATH_HELIX);
    const mat3 inverse = mat3_inverse(p.inertia);
    for (double t = 1.2; t < 12.0; t += 0.0913) {
        trajectory_point r;
        vec3 a[3], integral = vec3_zero(), torque;
        accelerations(&path, t, &r, a);
        const desired_frame f = geometric_frame(a, &r);
        estimator_state e;
        memset(&e, 0, sizeof e);
        e.position = r.d[0];
        e.velocity = r.d[1];
        e.attitude = quat_of(f.r);
        e.rate = f.rate;
        const double thrust = lower_trajectory(&p, &r, &e, 1, &integral, &torque);
        const vec3 force = quat_rotate(e.attitude, (vec3){0, 0, thrust});
        assert_vec_near(force, vec3_scale(p.mass, a[0]), 1e-9);
        const vec3 spin =
            mat3_mul_vec(inverse, vec3_sub(torque, vec3_cross(e.rate, mat3_mul_vec(p.inertia, e.rate))));
        // The rate of thrust is not in the law's model: what that leaves is its share k_v of the jerk along
        // z.
        assert_vec_near(spin, f.acceleration, 0.35);
        // Off by a small turn, the torque turns back.
        e.attitude = quat_mul(e.attitude, turn(0.01, 1, 0, 0));
        vec3 other;
        (void)lower_trajectory(&p, &r, &e, 1, &integral, &other);
        assert_true(other.x < torque.x);
    }
}

// Both laws hold a place with either allocation, and Lee's turns any drone over, also from its back.
static void laws_fly_from_anywhere(void **unused)
{
    (void)unused;
    random_source r = {52};
    for (int n = 0; n < 16; ++n) {
        vy_drone_def def = vy_default_drone_def();
        def.vehicle.allocation = (vy_allocation)(n % 2);
        def.position = (vy_vec3){0, 0, 50};
        def.attitude = n < 4 ? turn(3.1, 0.6, 0.8, 0) : random_attitude(&r);
        def.rate = random_vec(&r, 3.0);
        def.velocity = random_vec(&r, 2.0);
        def.controller.kind = n % 4 < 3 ? VY_CONTROLLER_LEE : VY_CONTROLLER_MELLINGER;
        def.controller.period = 0.002;
        vy_world *world = fly(&def);
        (void)vy_world_advance(world, 15000);
        const vy_drone_state s = state_of(world, 0);
        assert_true(check_distance(s.position, def.position) < 0.05);
        assert_true(fabs(s.attitude.x) < 0.03 && fabs(s.attitude.y) < 0.03);
        vy_world_destroy(world);
    }
}

// The sensor `truth` makes the estimate the truth at every step, without IMU and motion capture.
static void truth_is_told_when_asked_for(void **unused)
{
    (void)unused;
    vy_drone_def def = vy_default_drone_def();
    def.truth = 1;
    def.imu.period = def.mocap.period = 0.0;
    def.attitude = turn(0.4, 0.6, 0.8, 0);
    vy_world *world = fly(&def);
    for (int i = 0; i < 500; ++i) {
        const vy_drone_state s = state_of(world, 0);
        assert_vec_near(s.samples.estimate.position, s.position, 0.0);
        assert_vec_near(s.samples.estimate.velocity, s.velocity, 0.0);
        assert_vec_near(s.samples.estimate.rate, s.rate, 0.0);
        assert_near(check_angle(s.samples.estimate.attitude, s.attitude), 0.0, 0.0);
        (void)vy_world_step(world);
    }
    vy_world_destroy(world);
    def.truth = 0;
    const vy_world_def wd = vy_default_world_def();
    assert_int_equal(vy_world_create(&wd, &world, NULL), VY_OK);
    assert_int_equal(vy_world_add_drone(world, &def, NULL, NULL), VY_BAD_VALUE);
    vy_world_destroy(world);
}

static void no_radius(vy_path_def *p) { p->radius = 0.0; }
static void no_speed(vy_path_def *p) { p->speed = -1.0; }
static void nan_ramp(vy_path_def *p) { p->ramp = NOT_A_NUMBER; }
static void no_way(vy_path_def *p) { p->to = p->centre; }
static void odd_kind(vy_path_def *p) { p->kind = (vy_path_kind)9; }
static void one_waypoint(vy_path_def *p)
{
    p->kind = VY_PATH_MINIMUM_SNAP;
    p->waypoint_count = 1;
}
static void same_waypoint(vy_path_def *p)
{
    p->kind = VY_PATH_MINIMUM_SNAP;
    p->waypoint_count = 2;
}

static void bad_paths_are_refused_by_name(void **unused)
{
    (void)unused;
    static const struct {
        void (*spoil)(vy_path_def *);
        const char *says;
    } list[] = {{no_radius, "path.radius"},
                {no_speed, "path.speed"},
                {nan_ramp, "path.ramp"},
                {no_way, "path.to"},
                {odd_kind, "path.kind"},
                {one_waypoint, "path.waypoints"},
                {same_waypoint, "path.waypoints[1]"}};
    const vy_world_def wd = vy_default_world_def();
    vy_world *world = NULL;
    assert_int_equal(vy_world_create(&wd, &world, NULL), VY_OK);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        vy_drone_def def = vy_default_drone_def();
        def.controller.path.kind = VY_PATH_LINE;
        list[i].spoil(&def.controller.path);
        vy_error err = {0};
        if (vy_world_add_drone(world, &def, NULL, &err) != VY_BAD_VALUE ||
            strstr(err.text, list[i].says) == NULL)
            fail_msg("bad path %zu (%s) got: %s", i, list[i].says, err.text);
    }
    vy_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_are_slopes),
        cmocka_unit_test(shapes_are_continuous_to_the_snap),
        cmocka_unit_test(shapes_are_flown_at_constant_speed),
        cmocka_unit_test(short_paths_are_flown_slower),
        cmocka_unit_test(minimum_snap_passes_and_keeps_its_limits),
        cmocka_unit_test(minimum_snap_of_one_piece_is_known),
        cmocka_unit_test(desired_frame_turns_as_it_says),
        cmocka_unit_test(lee_stays_on_the_trajectory),
        cmocka_unit_test(laws_fly_from_anywhere),
        cmocka_unit_test(truth_is_told_when_asked_for),
        cmocka_unit_test(bad_paths_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
