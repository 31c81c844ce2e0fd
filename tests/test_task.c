// test_task.c - a task is paid by its formulas, acts on its rung, sees what it is to see; rows do not depend
// on their number.
#include "check.h"
#include "batch/task_terms.h"
#include "volery/task.h"
#include <stdlib.h>
#include <string.h>

static const char *const two =
    "  - name: a\n    vehicle: crazyflie2x-physical\n    start: {position: [0, 0, 1]}\n"
    "    controller: {setpoints: [{time: 0 s, position: [0.3, -0.2, 1.4], yaw: 0.5}]}\n"
    "  - name: b\n    vehicle: crazyflie2x-physical\n    start: {position: [0.5, 0.2, 1.3]}\n";
static const char *const sensing =
    "  - name: a\n    vehicle: crazyflie2x-physical\n    start: {position: [0, 0, 1]}\n"
    "    sensors: {baro: {period: 10 ms}, range: {period: 10 ms}}\n";

static vy_scenario *parse(const char *drones)
{
    char text[1024];
    snprintf(text, sizeof text, "volery: 1\nduration: 10 s\ndrones:\n%s", drones);
    vy_scenario *s = NULL;
    vy_diagnostics d;
    if (vy_scenario_parse(text, strlen(text), "test", NULL, &s, &d) != VY_OK) fail_msg("%s", d.items[0].text);
    vy_diagnostics_destroy(&d);
    return s;
}

static vy_task *create(const vy_task_def *def)
{
    vy_task *task = NULL;
    vy_error err = {0};
    if (vy_task_create(def, &task, &err) != VY_OK) fail_msg("%s", err.text);
    return task;
}

// A field of a drone's state, by name.
static double field(const vy_task *task, uint32_t world, uint32_t drone, const char *name, uint32_t k)
{
    vy_cells c;
    assert_int_equal(vy_batch_cells(vy_task_batch(task), drone, name, &c, NULL), VY_OK);
    assert_true(k < c.count);
    return c.first[world / c.lanes * c.block + k * c.lanes + world % c.lanes];
}

static void all_fields(const vy_task *task, uint32_t world, uint32_t drone, const char *name, uint32_t n,
                       double *out)
{
    for (uint32_t k = 0; k < n; ++k) out[k] = field(task, world, drone, name, k);
}

static double distance3(const double *a, const double *b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

static void random_actions(const vy_task *task, uint64_t seed)
{
    const vy_task_view v = vy_task_get_view(task);
    for (size_t i = 0; i < (size_t)v.worlds * v.drones * v.action_size; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        v.actions[i] = 2.4 * ((double)(seed >> 11) * 0x1p-53) - 1.2;   // some beyond their bounds
        if (i % v.action_size == 0) v.actions[i] = 0.1 * v.actions[i]; // neither falls nor shoots up
    }
}

// Each term by itself, by its formula in plain numbers from libm, from the states that the batch has.
static void rewards_are_their_formulas(void **unused)
{
    (void)unused;
    vy_scenario *s = parse(two);
    for (int kind = 0; kind < VY_REWARD_COUNT; ++kind) {
        const double scale = kind == VY_REWARD_TILT || kind == VY_REWARD_ARRIVAL ? 1.0 : 0.7;
        vy_task_def def = vy_default_task_def();
        def.scenario = s;
        def.world_count = 3;
        def.threads = 1;
        def.reward_count = 1;
        def.reward[0] = (vy_reward_term){(vy_reward_kind)kind, 1.5, scale};
        vy_task *task = create(&def);
        const vy_task_view v = vy_task_get_view(task);
        double before[3][2][3], last[3][2][4] = {{{0}}};
        for (int step = 0; step < 40; ++step) {
            for (uint32_t w = 0; w < 3; ++w)
                for (uint32_t d = 0; d < 2; ++d) all_fields(task, w, d, "body.position", 3, before[w][d]);
            random_actions(task, (uint64_t)(kind * 100 + step));
            assert_int_equal(vy_task_step(task, NULL), VY_OK);
            for (uint32_t w = 0; w < 3; ++w) {
                double sum = 0.0;
                for (uint32_t d = 0; d < 2; ++d) {
                    double p[3], other[3], vel[3], rate[3], q[4], goal[3] = {0.5, 0.2, 1.3}, gv[3] = {0},
                                                                  yaw = 0.0;
                    all_fields(task, w, d, "body.position", 3, p);
                    all_fields(task, w, 1 - d, "body.position", 3, other);
                    all_fields(task, w, d, "body.velocity", 3, vel);
                    all_fields(task, w, d, "body.rate", 3, rate);
                    all_fields(task, w, d, "body.attitude", 4, q);
                    if (d == 0) { // its setpoint
                        goal[0] = 0.3;
                        goal[1] = -0.2;
                        goal[2] = 1.4;
                        yaw = 0.5;
                    }
                    const double r22 = q[0] * q[0] - q[1] * q[1] - q[2] * q[2] + q[3] * q[3];
                    const double heading = atan2(2.0 * (q[1] * q[2] + q[0] * q[3]),
                                                 q[0] * q[0] + q[1] * q[1] - q[2] * q[2] - q[3] * q[3]);
                    const double turn = remainder(heading - yaw, 2.0 * PI), away = distance3(p, goal);
                    const double v2 = pow(distance3(vel, gv), 2.0),
                                 w2 = rate[0] * rate[0] + rate[1] * rate[1] + rate[2] * rate[2];
                    double act2 = 0.0, change2 = 0.0;
                    for (int k = 0; k < 4; ++k) {
                        const double a = fmin(fmax(v.actions[(w * 2 + d) * 4 + (uint32_t)k], -1.0), 1.0);
                        if (k > 0) act2 += a * a;
                        change2 += (a - last[w][d][k]) * (a - last[w][d][k]);
                        last[w][d][k] = a;
                    }
                    const double terms[VY_REWARD_COUNT] = {1.0,
                                                           away / scale,
                                                           1.0 / (1.0 + pow(away / scale, 2.0)),
                                                           (distance3(before[w][d], goal) - away) / scale,
                                                           0.0,
                                                           v2 / (scale * scale),
                                                           w2 / (scale * scale),
                                                           1.0 - r22,
                                                           pow(turn / scale, 2.0),
                                                           act2,
                                                           change2,
                                                           fmax(0.0, 1.0 - distance3(p, other) / scale),
                                                           0.0};
                    sum += 1.5 * terms[kind] / 2.0;
                }
                assert_near(v.rewards[w], sum, 1e-9 * (1.0 + fabs(sum)));
            }
        }
        vy_task_destroy(task);
    }
    vy_scenario_destroy(s);
}

// Rolling and pitching and yawing in this order about the axes they are named for, as matrices.
static void attitudes_are_of_angles(void **unused)
{
    (void)unused;
    vy_scenario *s = parse(sensing);
    vy_task_def def = vy_default_task_def();
    def.scenario = s;
    def.rung = VY_RUNG_ATTITUDE;
    def.steps = 1;
    vy_task *task = create(&def);
    const vy_task_view v = vy_task_get_view(task);
    const double a[4] = {0.1, 0.6, -0.4, 0.3}, x = 0.6 * 0.6, y = -0.4 * 0.6, z = 0.3 * PI;
    assert_int_equal(v.action_size, 4);
    memcpy(v.actions, a, sizeof a);
    assert_int_equal(vy_task_step(task, NULL), VY_OK);
    assert_int_equal(vy_task_step(task, NULL), VY_OK);
    double q[4];
    all_fields(task, 0, 0, "control.attitude", 4, q);
    const mat3 r = quat_matrix(quat_make(q[0], q[1], q[2], q[3]));
    const double want[3][3] = {{cos(z) * cos(y), cos(z) * sin(y) * sin(x) - sin(z) * cos(x),
                                cos(z) * sin(y) * cos(x) + sin(z) * sin(x)},
                               {sin(z) * cos(y), sin(z) * sin(y) * sin(x) + cos(z) * cos(x),
                                sin(z) * sin(y) * cos(x) - cos(z) * sin(x)},
                               {-sin(y), cos(y) * sin(x), cos(y) * cos(x)}};
    for (int k = 0; k < 9; ++k) assert_near(r.m[k / 3][k % 3], want[k / 3][k % 3], 1e-12);
    const vy_vehicle_def *vehicle = &s->drones[0].def.vehicle;
    const double full = 4.0 * vehicle->thrust_coef * vehicle->speed_max * vehicle->speed_max;
    assert_near(field(task, 0, 0, "control.thrust", 0), 0.55 * full, 1e-12);
    vy_task_destroy(task);
    vy_scenario_destroy(s);
}

// A way crosses a disc where the solution of the linear equation says so.
static void gates_are_crossed_inside_and_from_behind(void **unused)
{
    (void)unused;
    uint64_t seed = 5;
    int crossed = 0;
    for (int i = 0; i < 20000; ++i) {
        double u[13];
        for (int k = 0; k < 13; ++k) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            u[k] = 4.0 * ((double)(seed >> 11) * 0x1p-53) - 2.0;
        }
        const vec3 from = vec3_make(u[0], u[1], u[2]), to = vec3_make(u[3], u[4], u[5]),
                   gate = vec3_make(u[6], u[7], u[8]);
        const vec3 way = vec3_make(u[9], u[10], u[11]), normal = vec3_scale(1.0 / vec3_length(way), way);
        const double radius = fabs(u[12]) + 0.01;
        const double a = vec3_dot(normal, vec3_sub(gate, from)), b = vec3_dot(normal, vec3_sub(to, from)),
                     t = a / b;
        const vec3 at = vec3_make(from.x + t * (to.x - from.x), from.y + t * (to.y - from.y),
                                  from.z + t * (to.z - from.z));
        const int want = b > 0.0 && t > 0.0 && t <= 1.0 && check_distance(at, gate) < radius;
        assert_int_equal(task_crossed(from, to, gate, normal, radius), want);
        crossed += want;
    }
    assert_true(crossed > 500);
}

// Goals in order: the first is where it starts, then one it falls through, then it is done.
static void goals_are_reached_in_order(void **unused)
{
    (void)unused;
    vy_scenario *s = parse(sensing);
    const double goals[] = {0.0, 0.0, 1.0, 0.0, 0.0, 0.7};
    vy_task_def def = vy_default_task_def();
    def.scenario = s;
    def.rung = VY_RUNG_MOTORS;
    def.target = VY_TARGET_GOALS;
    def.goal_count = 2;
    def.goals = goals;
    def.goal_radius = 0.1;
    def.goals_end = 1;
    def.observe_count = 3;
    def.observe[0] = "target";
    def.observe[1] = "next_target";
    def.observe[2] = "goals_left";
    def.reward_count = 1;
    def.reward[0] = (vy_reward_term){VY_REWARD_ARRIVAL, 1.0, 1.0};
    vy_task *task = create(&def);
    const vy_task_view v = vy_task_get_view(task);
    assert_true(v.observations[2] == 0.0f && fabs((double)v.observations[5] + 0.3) < 1e-6 &&
                v.observations[6] == 1.0f);
    for (int k = 0; k < 4; ++k) v.actions[k] = -1.0; // all motors off
    double total = 0.0;
    int steps = 0;
    while (!v.terminated[0] && steps < 100) {
        assert_int_equal(vy_task_step(task, NULL), VY_OK);
        total += v.rewards[0];
        if (steps++ == 0)
            assert_true(v.goal_index[0] == 1 && v.rewards[0] == 1.0 && v.observations[6] == 0.5f);
    }
    const double z = field(task, 0, 0, "body.position", 2);
    assert_true(total == 2.0 && v.goal_index[0] == 2 && z < 0.8 && z > 0.6 && v.observations[6] == 0.0f);
    vy_task_reset(task, NULL, NULL);
    assert_true(v.goal_index[0] == 0 && !v.terminated[0] && v.episode_steps[0] == 0);
    vy_task_destroy(task);
    vy_scenario_destroy(s);
}

// A row has the same bits among few and among many, on one thread and on three.
static void rows_do_not_depend_on_their_number(void **unused)
{
    (void)unused;
    vy_scenario *const scenarios[] = {parse(two), parse(sensing)};
    for (int which = 0; which < 2; ++which) {
        float first[2 * 64];
        double reward = 0.0;
        for (uint32_t worlds = 1; worlds <= 11; worlds += 5) {
            vy_task_def def = vy_default_task_def();
            def.scenario = scenarios[which];
            def.world_count = worlds;
            def.threads = worlds == 11 ? 3 : 1;
            def.randomisation_count = 1;
            def.randomisation[0] =
                (vy_randomisation){VY_VARIABLE_MASS, VY_DISTRIBUTION_UNIFORM, 0.9, 1.1, VY_EVERY_DRONE};
            if (which == 1) {
                def.observe[4] = "baro.pressure";
                def.observe[5] = "range.distance";
                def.observe[6] = "imu.gyro";
                def.observe_count = 7;
            }
            vy_task *task = create(&def);
            const vy_task_view v = vy_task_get_view(task);
            const size_t row = (size_t)v.drones * v.action_size, seen = (size_t)v.drones * v.observation_size;
            for (int step = 0; step < 30; ++step) {
                for (uint32_t w = 0; w < worlds; ++w)
                    for (size_t k = 0; k < row; ++k)
                        v.actions[w * row + k] = 0.2 * sin((double)(step + 3 * (int)k));
                assert_int_equal(vy_task_step(task, NULL), VY_OK);
            }
            assert_true(seen <= 2 * 64 &&
                        (which == 0 || fabs((double)v.observations[18] - 20.0) < 1e-6)); // pressure, clipped
            if (worlds == 1) memcpy(first, v.observations, seen * sizeof *first);
            if (worlds == 1) reward = v.rewards[0];
            assert_memory_equal(first, v.observations, seen * sizeof *first);
            assert_true(v.rewards[0] == reward);
            vy_task_destroy(task);
        }
        vy_scenario_destroy(scenarios[which]);
    }
}

static void bad_input_is_refused(void **unused)
{
    (void)unused;
    vy_scenario *s = parse(two);
    vy_task *task = NULL;
    vy_error err;
#define REFUSED(words, ...)                                            \
    do {                                                               \
        vy_task_def def = vy_default_task_def();                       \
        def.scenario = s;                                              \
        __VA_ARGS__;                                                   \
        assert_true(vy_task_create(&def, &task, &err) != VY_OK);       \
        assert_null(task);                                             \
        if (strstr(err.text, words) == NULL) fail_msg("%s", err.text); \
    } while (0)
    REFUSED("vy_default_task_def", def.cookie = 0);
    REFUSED("rung", def.rung = VY_RUNG_NONE);
    REFUSED("at least 1 step", def.steps = 0);
    REFUSED("body.speed", def.observe[0] = "body.speed");
    REFUSED("not every drone carries", def.observe[0] = "baro.pressure");
    REFUSED("with goals", def.observe[0] = "gate");
    REFUSED("finite weight", def.reward[0].weight = NOT_A_NUMBER);
    REFUSED("scale above 0", def.reward[0].scale = 0.0);
    REFUSED("at least one goal", def.target = VY_TARGET_GATES);
    REFUSED("goal_radius", (def.target = VY_TARGET_GOALS, def.goal_count = 1, def.goal_radius = 0.0));
    REFUSED("action_min", def.action_min[0] = 1.0);
    REFUSED("separation_min", def.separation_min = -1.0);
    vy_task_def def = vy_default_task_def();
    def.scenario = s;
    task = create(&def);
    const vy_task_view v = vy_task_get_view(task);
    v.actions[6] = NOT_A_NUMBER;
    assert_int_equal(vy_task_step(task, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "action 2 of drone 1 in world 0 is not finite"));
    assert_true(v.episode_steps[0] == 0);
    vy_task_destroy(task);
    vy_scenario_destroy(s);
}

static void drones_too_near_end_it(void **unused)
{
    (void)unused;
    vy_scenario *s = parse(two);
    vy_task_def def = vy_default_task_def();
    def.scenario = s;
    for (int near = 0; near < 2; ++near) {
        def.separation_min = near ? 1.0 : 0.1; // they start 0.6 m apart
        vy_task *task = create(&def);
        assert_int_equal(vy_task_step(task, NULL), VY_OK);
        assert_int_equal(vy_task_get_view(task).terminated[0], near);
        vy_task_destroy(task);
    }
    vy_scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rewards_are_their_formulas),
        cmocka_unit_test(attitudes_are_of_angles),
        cmocka_unit_test(gates_are_crossed_inside_and_from_behind),
        cmocka_unit_test(goals_are_reached_in_order),
        cmocka_unit_test(rows_do_not_depend_on_their_number),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(drones_too_near_end_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
