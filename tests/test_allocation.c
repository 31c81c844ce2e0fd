// test_allocation.c - wrenches out of reach: the allocation is the best there is, by trying every set of held
// rotors; tilt and thrust come before yaw; every vehicle; rotors that are lost.
#include "check.h"
#include "control/control.h"
#include "vehicle/allocation.h"
#include <string.h>

static const vy_vec3 gravity = {0.0, 0.0, -9.80665};

static ladder_params ladder_of(const vy_vehicle_def *v, const double *lost)
{
    vy_controller_def c = vy_default_controller_def();
    if (lost != NULL) memcpy(c.thrust_loss, lost, sizeof c.thrust_loss);
    ladder_params p;
    assert_int_equal(vy_ladder_build(&c, v, gravity, &p, NULL), VY_OK);
    return p;
}

// Rotors around the body at uneven places, spins in turn.
static vy_vehicle_def uneven(int count, random_source *r)
{
    vy_vehicle_def v = vy_default_vehicle_def();
    v.allocation = random_bits(r) % 2 ? VY_ALLOCATION_PHYSICAL : VY_ALLOCATION_DOCUMENTED;
    v.rotor_count = count;
    for (int i = 0; i < count; ++i) {
        const double a = 2.0 * PI * i / count + random_in(r, -0.2, 0.2), l = random_in(r, 0.05, 0.12);
        v.rotors[i] = (vy_rotor_def){.position = {l * cos(a), l * sin(a), 0.01}, .spin = i % 2 ? 1 : -1};
    }
    return v;
}

// The wrench in the units of the cost: thrust, roll, pitch, yaw.
static void wrench_of(const ladder_params *p, const rotor_layout *layout, const vy_vehicle_def *v,
                      const double *thrusts, double out[4])
{
    memset(out, 0, 4 * sizeof out[0]);
    for (int i = 0; i < (int)p->rotor_count; ++i) {
        out[0] += thrusts[i];
        out[1] += layout->roll[i] * thrusts[i];
        out[2] += layout->pitch[i] * thrusts[i];
        out[3] += layout->yaw[i] * thrusts[i] * v->torque_coef / v->thrust_coef;
    }
}

typedef struct problem {
    int count;
    double a[4][8], wanted[4], high[8]; // weighted rows and wrench; thrusts in units of the largest
} problem;

static problem problem_of(const ladder_params *p, const rotor_layout *layout, const vy_vehicle_def *v,
                          const double wanted[4])
{
    double arm = 0.0;
    for (int i = 0; i < (int)p->rotor_count; ++i)
        arm = fmax(arm, fmax(fabs(layout->roll[i]), fabs(layout->pitch[i])));
    const double k = v->torque_coef / v->thrust_coef, weights[4] = {100.0, 1000.0, 1000.0, 1.0};
    const double units[4] = {1.0, arm, arm, k};
    problem q = {.count = (int)p->rotor_count};
    for (int j = 0; j < 4; ++j) q.wanted[j] = weights[j] * wanted[j] / (units[j] * p->thrust_max);
    for (int i = 0; i < (int)p->rotor_count; ++i) {
        const double row[4] = {1.0, layout->roll[i], layout->pitch[i], k * layout->yaw[i]};
        for (int j = 0; j < 4; ++j) q.a[j][i] = weights[j] * row[j] / units[j];
        q.high[i] = p->rotor_thrust_max[i] / p->thrust_max;
    }
    return q;
}

static double cost_of(const problem *q, const double *x)
{
    double cost = 0.0;
    for (int j = 0; j < 4; ++j) {
        double e = -q->wanted[j];
        for (int i = 0; i < q->count; ++i) e += q->a[j][i] * x[i];
        cost += e * e;
    }
    for (int i = 0; i < q->count; ++i) cost += 1e-4 * x[i] * x[i];
    return cost;
}

// The best x with some rotors held at a limit, by elimination with pivots on the normal equations of the
// others. `set` counts in threes: 0 free, 1 held at zero, 2 held at the top.
static void solve_held(const problem *q, int set, double *x)
{
    double m[8][9];
    int index[8], n = 0;
    for (int i = 0, s = set; i < q->count; ++i, s /= 3) {
        x[i] = s % 3 == 2 ? q->high[i] : 0.0;
        if (s % 3 == 0) index[n++] = i;
    }
    for (int r = 0; r < n; ++r) {
        for (int c = 0; c <= n; ++c) {
            m[r][c] = c < n && index[r] == index[c] ? 1e-4 : 0.0;
            for (int j = 0; j < 4; ++j) {
                double other = c < n ? q->a[j][index[c]] : q->wanted[j];
                for (int i = 0; c == n && i < q->count; ++i) other -= q->a[j][i] * x[i];
                m[r][c] += q->a[j][index[r]] * other;
            }
        }
    }
    for (int k = 0; k < n; ++k) {
        int best = k;
        for (int r = k; r < n; ++r) best = fabs(m[r][k]) > fabs(m[best][k]) ? r : best;
        for (int c = 0; c <= n; ++c) {
            const double t = m[k][c];
            m[k][c] = m[best][c];
            m[best][c] = t;
        }
        for (int r = 0; r < n; ++r) {
            const double f = r == k ? 0.0 : m[r][k] / m[k][k];
            for (int c = k; c <= n; ++c) m[r][c] -= f * m[k][c];
        }
    }
    for (int k = 0; k < n; ++k) x[index[k]] = m[k][n] / m[k][k];
}

static double min_cost_of(const problem *q)
{
    int sets = 1;
    for (int i = 0; i < q->count; ++i) sets *= 3;
    double min_cost = INFINITE;
    for (int set = 0; set < sets; ++set) {
        double x[8];
        solve_held(q, set, x);
        int within = 1;
        for (int i = 0; i < q->count; ++i) within &= x[i] >= -1e-9 && x[i] <= q->high[i] + 1e-9;
        if (within) min_cost = fmin(min_cost, cost_of(q, x));
    }
    return min_cost;
}

// Against every set of held rotors, for 4 to 8 rotors, wrenches in reach and far out of it, some rotors lost:
// no thrusts within the limits have a lower cost.
static void allocation_is_the_best_there_is(void **unused)
{
    (void)unused;
    random_source r = {71};
    int beyond = 0;
    for (int n = 0; n < 400; ++n) {
        const int count = n % 10 == 0 ? 8 : n % 3 == 0 ? 6 : 4 + n % 2;
        const vy_vehicle_def v = uneven(count, &r);
        double lost[8] = {0};
        if (n % 4 == 1) lost[random_bits(&r) % (unsigned)count] = 1.0;
        if (n % 4 == 2) {
            const uint64_t rotor = random_bits(&r) % (unsigned)count;
            lost[rotor] = random_in(&r, 0.0, 1.0);
        }
        const rotor_layout layout = vy_layout_build(&v);
        const ladder_params p = ladder_of(&v, lost);
        const double size = random_in(&r, 0.2, 3.0) * p.thrust_max;
        const vec3 torque = vec3_mul(random_vec(&r, size), (vec3){0.1, 0.1, 0.025});
        const double wanted[4] = {random_in(&r, 0.0, 1.5) * count * p.thrust_max, torque.x, torque.y,
                                  torque.z};
        double motors[8] = {0}, x[8];
        beyond += lower_wrench(&p, wanted[0], torque, motors) > 0.0;
        for (int i = 0; i < count; ++i) {
            x[i] = thrust_of(&p, i, motors[i]);
            assert_true(x[i] >= 0.0 && x[i] <= 1.0 - lost[i] + 1e-12);
        }
        const problem q = problem_of(&p, &layout, &v, wanted);
        const double min_cost = min_cost_of(&q);
        if (!(cost_of(&q, x) <= min_cost * (1.0 + 1e-7) + 1e-5)) {
            fail_msg("case %d, %d rotors: cost %.12g, but %.12g is possible", n, count, cost_of(&q, x),
                     min_cost);
        }
    }
    assert_true(beyond > 200);
}

// The method ends, whatever is asked: far fewer steps than it allows itself.
static void allocation_always_ends(void **unused)
{
    (void)unused;
    random_source r = {72};
    for (int n = 0; n < 20000; ++n) {
        const vy_vehicle_def v = uneven(4 + n % 5, &r);
        double lost[8] = {0};
        for (int i = 0; i < v.rotor_count; ++i) lost[i] = random_bits(&r) % 8 == 0 ? 1.0 : 0.0;
        const ladder_params p = ladder_of(&v, lost);
        allocate_state s;
        const vec3 t = random_vec(&r, 0.1);
        const double asked[4] = {random_in(&r, 0.0, 3.0), t.x, t.y, t.z};
        for (int i = 0; i < (int)p.rotor_count; ++i) {
            s.limit[i] = p.rotor_thrust_max[i] / p.thrust_max;
            s.x[i] = s.is_free[i] = s.rhs[i] = 0.0;
            for (int j = 0; j < 4; ++j) s.rhs[i] += p.allocate.rows[j][i] * (p.allocate.scale[j] * asked[j]);
        }
        s.unsolved = 1;
        int steps = 0;
        while (s.unsolved && steps < 200) {
            allocate_release(&p.allocate, allocate_move(&p.allocate, &s), &s);
            ++steps;
        }
        if (steps > ALLOCATE_STEPS / 2) fail_msg("case %d took %d steps", n, steps);
    }
}

// A yaw torque far out of reach costs no tilt and almost no thrust: roll, pitch and thrust are made as asked.
static void tilt_and_thrust_come_before_yaw(void **unused)
{
    (void)unused;
    random_source r = {73};
    static const char *const names[] = {"crazyflie2x", "crazyflie2x-physical", "reference-quad", "hexa",
                                        "octo"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
        vy_vehicle_def v;
        assert_int_equal(vy_vehicle_preset(names[k], &v, NULL), VY_OK);
        const rotor_layout layout = vy_layout_build(&v);
        const ladder_params p = ladder_of(&v, NULL);
        const double weight = v.mass * 9.80665, arm = fabs(v.rotors[0].position.x);
        const double yaw_per_thrust = v.torque_coef / v.thrust_coef;
        for (int n = 0; n < 200; ++n) {
            const double yaw = (n % 2 ? 20.0 : -20.0) * weight * yaw_per_thrust;
            const vec3 torque = {random_in(&r, -0.1, 0.1) * weight * arm,
                                 random_in(&r, -0.1, 0.1) * weight * arm, yaw};
            double motors[8] = {0}, thrusts[8], got[4];
            assert_true(lower_wrench(&p, weight, torque, motors) > 0.0);
            for (int i = 0; i < v.rotor_count; ++i) thrusts[i] = thrust_of(&p, i, motors[i]) * p.thrust_max;
            wrench_of(&p, &layout, &v, thrusts, got);
            assert_near(got[0], weight, 0.002 * weight);
            assert_near(got[1], torque.x, 1e-4 * weight * arm);
            assert_near(got[2], torque.y, 1e-4 * weight * arm);
            assert_true(got[3] * yaw > 0.0); // and what is left of yaw still turns the right way
        }
    }
}

// Without one of its rotors a hexacopter still makes the weight without roll and pitch; a quadcopter too, by
// leaving out the rotor opposite: both give up yaw.
static void a_lost_rotor_costs_yaw_first(void **unused)
{
    (void)unused;
    static const char *const names[] = {"crazyflie2x-physical", "reference-quad", "hexa", "octo"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
        vy_vehicle_def v;
        assert_int_equal(vy_vehicle_preset(names[k], &v, NULL), VY_OK);
        const rotor_layout layout = vy_layout_build(&v);
        for (int gone = 0; gone < v.rotor_count; ++gone) {
            double lost[8] = {0}, motors[8] = {0}, thrusts[8], got[4];
            lost[gone] = 1.0;
            const ladder_params p = ladder_of(&v, lost);
            const double weight = v.mass * 9.80665, arm = fabs(v.rotors[0].position.x);
            const double asked = fmin(weight, 1.9 * p.thrust_max);
            (void)lower_wrench(&p, asked, vec3_zero(), motors);
            for (int i = 0; i < v.rotor_count; ++i) thrusts[i] = thrust_of(&p, i, motors[i]) * p.thrust_max;
            wrench_of(&p, &layout, &v, thrusts, got);
            assert_true(thrusts[gone] == 0.0);
            assert_near(got[0], asked, 1e-3 * asked);
            assert_near(got[1], 0.0, 2e-3 * asked * arm);
            assert_near(got[2], 0.0, 2e-3 * asked * arm);
            if (v.rotor_count == 4) assert_true(thrusts[(gone + 2) % 4] < 0.01 * asked);
        }
    }
}

// The wrench that comes back for every preset and both allocations is the one asked for, where it is in
// reach.
static void every_preset_makes_its_wrench(void **unused)
{
    (void)unused;
    random_source r = {74};
    static const char *const names[] = {"crazyflie2x",    "crazyflie2x-physical",
                                        "crazyflie21",    "crazyflie21-brushless",
                                        "reference-quad", "x500",
                                        "hexa",           "octo"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
        vy_vehicle_def v;
        vy_error err = {0};
        if (vy_vehicle_preset(names[k], &v, &err) != VY_OK) fail_msg("%s", err.text);
        for (int allocation = 0; allocation < 2; ++allocation) {
            v.allocation = (vy_allocation)allocation;
            const rotor_layout layout = vy_layout_build(&v);
            const ladder_params p = ladder_of(&v, NULL);
            const double weight = v.mass * 9.80665, arm = fabs(v.rotors[0].position.x);
            for (int n = 0; n < 100; ++n) {
                const vec3 torque =
                    vec3_mul(random_vec(&r, 0.1 * weight), (vec3){arm, arm, v.torque_coef / v.thrust_coef});
                double motors[8] = {0}, thrusts[8], got[4];
                assert_true(lower_wrench(&p, weight, torque, motors) == 0.0);
                for (int i = 0; i < v.rotor_count; ++i)
                    thrusts[i] = thrust_of(&p, i, motors[i]) * p.thrust_max;
                wrench_of(&p, &layout, &v, thrusts, got);
                assert_near(got[0], weight, 1e-9 * weight);
                assert_vec_near(((vec3){got[1], got[2], got[3]}), torque, 1e-9 * weight);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocation_is_the_best_there_is), cmocka_unit_test(allocation_always_ends),
        cmocka_unit_test(tilt_and_thrust_come_before_yaw), cmocka_unit_test(a_lost_rotor_costs_yaw_first),
        cmocka_unit_test(every_preset_makes_its_wrench),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
