// test_crtp.c - what a Crazyflie's client is told and what becomes of what it asks for: plans, setpoints,
// stops.
#include "bridge/crtp.h"
#include "check.h"
#include <errno.h>
#include <math.h>
#include <string.h>

// --- plans

static const plan_point moving = {.position = {1.0, -2.0, 0.5},
                                  .velocity = {0.4, 0.0, -0.3},
                                  .acceleration = {0.0, 0.6, 0.2},
                                  .yaw = 3.0,
                                  .yaw_rate = 0.2};

static void from_rest_it_is_the_known_polynomial(void **unused)
{
    (void)unused;
    crtp_plan plan;
    const plan_point rest = {.position = {1.0, 2.0, 0.0}};
    vy_crtp_plan_to(&rest, (vy_vec3){1.0, 2.0, 3.0}, 0.0, 4.0, 0, 10.0, &plan);
    for (double s = 0.0; s <= 1.0; s += 0.0625) { // 35 s^4 - 84 s^5 + 70 s^6 - 20 s^7
        const double wanted = 3.0 * s * s * s * s * (35.0 + s * (-84.0 + s * (70.0 - 20.0 * s)));
        const plan_point p = vy_crtp_plan_at(&plan, 10.0 + 4.0 * s);
        assert_near(p.position.z, wanted, 1e-12);
        assert_near(p.position.x, 1.0, 1e-12);
    }
    assert_near(vy_crtp_plan_at(&plan, 12.0).velocity.z, 3.0 / 4.0 * 35.0 / 16.0,
                1e-12); // fastest halfway
    assert_near(vy_crtp_plan_duration(&plan), 4.0, 0.0);
}

static void it_begins_as_it_moves_and_ends_at_rest(void **unused)
{
    (void)unused;
    crtp_plan plan;
    vy_crtp_plan_to(&moving, (vy_vec3){2.0, 0.0, 1.0}, -3.0, 2.5, 0, 1.0, &plan);
    const plan_point a = vy_crtp_plan_at(&plan, 1.0), b = vy_crtp_plan_at(&plan, 3.5),
                     after = vy_crtp_plan_at(&plan, 9.0);
    assert_near(a.position.y, -2.0, 1e-12);
    assert_near(a.velocity.x, 0.4, 1e-12);
    assert_near(a.velocity.z, -0.3, 1e-12);
    assert_near(a.acceleration.y, 0.6, 1e-12);
    assert_near(a.yaw_rate, 0.2, 1e-12);
    assert_near(b.position.x, 2.0, 1e-12);
    assert_near(b.velocity.y, 0.0, 1e-12);
    assert_near(b.acceleration.z, 0.0, 1e-11);
    assert_near(b.yaw, 2.0 * 3.14159265358979323846 - 3.0, 1e-12); // the shorter way, through pi
    assert_near(after.position.z, 1.0, 1e-12);
    assert_true(after.velocity.x == 0.0 && after.yaw_rate == 0.0);
    for (double t = 1.1; t < 3.4; t += 0.2) { // derivatives are those of the places
        const double h = 1e-4;
        const plan_point p = vy_crtp_plan_at(&plan, t), l = vy_crtp_plan_at(&plan, t - h),
                         r = vy_crtp_plan_at(&plan, t + h);
        assert_near(p.velocity.x, (r.position.x - l.position.x) / (2.0 * h), 1e-6);
        assert_near(p.acceleration.y, (r.velocity.y - l.velocity.y) / (2.0 * h), 1e-6);
        assert_near(p.yaw_rate, (r.yaw - l.yaw) / (2.0 * h), 1e-6);
    }
}

static void a_line_has_one_speed(void **unused)
{
    (void)unused;
    crtp_plan plan;
    vy_crtp_plan_to(&moving, (vy_vec3){3.0, -2.0, 0.5}, 3.0, 4.0, 1, 0.0, &plan);
    assert_near(vy_crtp_plan_at(&plan, 1.0).velocity.x, 0.5, 1e-12);
    assert_near(vy_crtp_plan_at(&plan, 3.0).position.x, 2.5, 1e-12);
}

// --- commands

static crtp_device device(void)
{
    crtp_device d;
    vy_crtp_begin(&d);
    d.values[CRTP_LOG_stateEstimate_x] = 1.0;
    d.values[CRTP_LOG_stateEstimate_yaw] = 90.0;
    return d;
}

static int put_floats(uint8_t *out, const double *numbers, int count)
{
    for (int i = 0; i < count; ++i) vy_crtp_put(out + 4 * i, vy_crtp_float_bits(numbers[i]), 4);
    return 4 * count;
}

// The status of the answer to a command of the high-level commander.
static int command(crtp_device *d, const uint8_t *head, int size, const double *numbers, int count)
{
    uint8_t bytes[32] = {CRTP_HIGH_LEVEL << 4 | 0x0c};
    crtp_packet answer;
    memcpy(bytes + 1, head, (size_t)size);
    const int all = 1 + size + put_floats(bytes + 1 + size, numbers, count);
    assert_int_equal(vy_crtp_handle(d, bytes, (size_t)all, &answer), 1);
    assert_int_equal(answer.size, 4);
    return answer.data[3];
}

static int take_off(crtp_device *d, double height, double duration)
{
    const uint8_t head[] = {1, 0};
    return command(d, head, 2, (const double[]){height, duration}, 2);
}

static int go_to(crtp_device *d, int relative, const double *numbers)
{
    const uint8_t head[] = {4, 0, (uint8_t)relative};
    return command(d, head, 3, numbers, 5);
}

static int motors(crtp_device *d)
{
    int on;
    (void)vy_crtp_goal(d, &on);
    return on;
}

static void it_flies_what_it_is_asked(void **unused)
{
    (void)unused;
    crtp_device d = device();
    const double there[] = {0.5, 0.0, 0.0, 0.0, 2.0};
    int on;
    assert_false(motors(&d));
    assert_int_equal(go_to(&d, 0, there), 1); // on the ground
    assert_int_equal(take_off(&d, 1.0, 2.0), 0);
    assert_int_equal(take_off(&d, 1.0, 2.0), 1); // it flies already
    d.time = 1.0;
    assert_near(vy_crtp_goal(&d, &on).position.z, 0.5, 1e-6); // floats are what is sent
    d.time = 3.0;
    assert_int_equal(go_to(&d, 1, there), 0);
    d.time = 6.0;
    const plan_point goal = vy_crtp_goal(&d, &on);
    assert_near(goal.position.x, 1.5, 1e-6);
    assert_near(goal.position.z, 1.0, 1e-6);
    assert_near(goal.yaw, 1.5707963267948966, 1e-6);
    assert_int_equal(vy_crtp_supervisor(&d) & 0x31a,
                     0x31a); // armed, can fly, flies, by a plan that has ended
    const uint8_t land[] = {2, 0};
    assert_int_equal(command(&d, land, 2, (const double[]){0.0, 1.0}, 2), 0);
    d.time = 6.9;
    assert_true(motors(&d));
    d.time = 7.0;
    assert_false(motors(&d));
}

static void what_cannot_be_flown_is_refused(void **unused)
{
    (void)unused;
    crtp_device d = device();
    assert_int_equal(take_off(&d, (double)NAN, 2.0), EINVAL);
    assert_int_equal(take_off(&d, 1.0, 0.0), EINVAL);
    assert_int_equal(take_off(&d, 1.0, -1.0), EINVAL);
    assert_int_equal(take_off(&d, 1e30, 1.0), EINVAL);
    assert_int_equal(take_off(&d, 1.0, (double)INFINITY), EINVAL);
    assert_false(motors(&d));
    const uint8_t others[] = {1, 4}; // a group that it is not of
    assert_int_equal(command(&d, others, 2, (const double[]){1.0, 1.0}, 2), 0);
    assert_false(motors(&d));
}

static void an_emergency_stop_is_for_good(void **unused)
{
    (void)unused;
    crtp_device d = device();
    crtp_packet answer;
    assert_int_equal(take_off(&d, 1.0, 2.0), 0);
    const uint8_t stop[] = {CRTP_LOCALIZATION << 4 | 0x0c | 1, 3},
                  arm[] = {CRTP_SUPERVISOR << 4 | 0x0c | 1, 1, 1};
    assert_int_equal(vy_crtp_handle(&d, stop, sizeof stop, &answer), 0);
    assert_false(motors(&d));
    assert_int_equal(vy_crtp_handle(&d, arm, sizeof arm, &answer), 1);
    assert_int_equal(answer.data[1], 0);
    assert_int_equal(take_off(&d, 1.0, 2.0), 1);
    assert_false(motors(&d));
}

static void setpoints_are_in_their_frames_and_end(void **unused)
{
    (void)unused;
    crtp_device d = device(); // the nose is along +y
    uint8_t bytes[32] = {CRTP_GENERIC_SETPOINT << 4 | 0x0c, 10};
    crtp_packet answer;
    int on;
    const int size = 2 + put_floats(bytes + 2, (const double[]){0.5, 0.1, 30.0, 0.4}, 4); // hover
    assert_int_equal(vy_crtp_handle(&d, bytes, (size_t)size, &answer), 0);
    plan_point goal = vy_crtp_goal(&d, &on);
    assert_true(on);
    assert_near(goal.velocity.x, -0.1, 1e-6);
    assert_near(goal.velocity.y, 0.5, 1e-6);
    assert_near(goal.position.z, 0.4, 1e-6);
    assert_near(goal.yaw_rate, 0.52359877559829887, 1e-6);
    bytes[1] = 5; // the old one turns clockwise
    assert_int_equal(vy_crtp_handle(&d, bytes, (size_t)size, &answer), 0);
    assert_near(vy_crtp_goal(&d, &on).yaw_rate, -0.52359877559829887, 1e-6);
    d.time = 1.0; // nobody says anything
    goal = vy_crtp_goal(&d, &on);
    assert_true(on && goal.velocity.y == 0.0 && goal.yaw_rate == 0.0);
    d.time = 2.5;
    assert_true(motors(&d) == 0 || d.control_mode == CRTP_OFF);
    assert_false(motors(&d));
}

static void bytes_that_are_no_packet_change_nothing(void **unused)
{
    (void)unused;
    crtp_device d = device();
    const crtp_device before = d;
    crtp_packet answer;
    uint8_t bytes[64];
    memset(bytes, 0x8c, sizeof bytes);
    assert_int_equal(vy_crtp_handle(&d, bytes, 0, &answer), 0);
    assert_int_equal(vy_crtp_handle(&d, bytes, 32, &answer), 0); // longer than any
    assert_memory_equal(&d, &before, sizeof d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_rest_it_is_the_known_polynomial),
        cmocka_unit_test(it_begins_as_it_moves_and_ends_at_rest),
        cmocka_unit_test(a_line_has_one_speed),
        cmocka_unit_test(it_flies_what_it_is_asked),
        cmocka_unit_test(what_cannot_be_flown_is_refused),
        cmocka_unit_test(an_emergency_stop_is_for_good),
        cmocka_unit_test(setpoints_are_in_their_frames_and_end),
        cmocka_unit_test(bytes_that_are_no_packet_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
