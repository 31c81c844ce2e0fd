// test_fault.c - faults: each does what it says to the bit or by a closed form, and nothing outside its time.
#include "check.h"
#include "volery/fault.h"
#include <stdlib.h>
#include <string.h>

enum { FROM = 100, TO = 300, STEPS = 500 }; // ticks of 1 ms; faults act on [FROM, TO)

// Motors held at a command: what flies does not depend on what is sensed.
static vy_drone_def open_loop(void)
{
    vy_drone_def def = vy_default_drone_def();
    def.controller.kind = VY_CONTROLLER_NONE;
    def.controller.start.rung = VY_RUNG_MOTORS;
    for (int i = 0; i < 4; ++i) def.controller.start.motors[i] = 0.62 + 0.001 * i;
    return def;
}

static vy_fault_def fault(vy_fault_kind kind)
{
    vy_fault_def def = vy_default_fault_def();
    def.kind = kind;
    def.start = 1e-3 * FROM;
    def.duration = 1e-3 * (TO - FROM);
    return def;
}

static vy_world *world_with(const vy_drone_def *drone, int drones, const vy_fault_def *faults, int count)
{
    vy_world_def def = vy_default_world_def();
    vy_world *world = NULL;
    vy_error err = {0};
    assert_int_equal(vy_world_create(&def, &world, NULL), VY_OK);
    for (int i = 0; i < drones; ++i) assert_int_equal(vy_world_add_drone(world, drone, NULL, NULL), VY_OK);
    for (int i = 0; i < count; ++i) {
        if (vy_world_add_fault(world, &faults[i], &err) != VY_OK) fail_msg("%s", err.text);
    }
    return world;
}

static vy_drone_state look(const vy_world *world)
{
    vy_drone_state s;
    assert_int_equal(vy_world_read_drone(world, vy_world_drone(world, 0), &s), VY_OK);
    return s;
}

// --- motors

// Everything of every drone breaks in a world that holds a body too: the body is spared and not counted. Of
// the body alone nothing can break.
static void bodies_have_nothing_to_lose(void **unused)
{
    (void)unused;
    vy_world_def def = vy_default_world_def();
    vy_drone_def drone = vy_default_drone_def(), body = open_loop();
    vy_fault_def lost = fault(VY_FAULT_MOTOR_LOSS);
    vy_drone_id id;
    vy_world *world = NULL;
    lost.rotor = 1;
    body.imu.period = 0.0;
    body.vehicle.rotor_count = 0;
    body.controller = vy_default_drone_def().controller;
    body.controller.kind = VY_CONTROLLER_NONE;
    assert_int_equal(vy_world_create(&def, &world, NULL), VY_OK);
    assert_int_equal(vy_world_add_drone(world, &drone, NULL, NULL), VY_OK);
    assert_int_equal(vy_world_add_drone(world, &body, &id, NULL), VY_OK);
    assert_int_equal(vy_world_add_fault(world, &lost, NULL), VY_OK);
    const vy_fault_kind others[] = {VY_FAULT_MOTOR_WEAK,  VY_FAULT_MOTOR_LAG,    VY_FAULT_BATTERY,
                                    VY_FAULT_SENSOR_BIAS, VY_FAULT_COMMAND_LOSS, VY_FAULT_COMMAND_DELAY};
    const int count = sizeof others / sizeof others[0];
    for (int k = 0; k < count; ++k) {
        vy_fault_def f = fault(others[k]);
        f.size = others[k] == VY_FAULT_COMMAND_DELAY || others[k] == VY_FAULT_MOTOR_LAG ? 0.02 : 1.0;
        f.drone = id;
        assert_int_equal(vy_world_add_fault(world, &f, NULL), VY_BAD_VALUE);
        f.drone = lost.drone;
        assert_int_equal(vy_world_add_fault(world, &f, NULL), VY_OK);
    }
    lost.drone = id;
    assert_int_equal(vy_world_add_fault(world, &lost, NULL), VY_BAD_VALUE);
    vy_world_advance(world, TO - 1);
    const vy_drone_state s = look(world);
    assert_true(s.rotor_speed[1] < 0.1 * s.rotor_speed[0]);
    assert_int_equal(vy_world_faults(world, vy_world_drone(world, 0)), (1 << (count + 1)) - 1);
    assert_int_equal(vy_world_fault_count(world, vy_world_drone(world, 0)), count + 1);
    assert_int_equal(vy_world_faults(world, id), 0);
    assert_int_equal(vy_world_fault_count(world, id), 0);
    for (uint32_t k = 0; k <= (uint32_t)count; ++k) {
        assert_false(vy_world_fault_acts(world, id, k));
        assert_int_equal(vy_world_fault_begun(world, id, k), 0);
    }
    vy_world_destroy(world);
}

static void motor_loss_spins_down_by_its_lag(void **unused)
{
    (void)unused;
    const vy_drone_def drone = open_loop();
    vy_fault_def f = fault(VY_FAULT_MOTOR_LOSS);
    f.rotor = 2;
    vy_world *world = world_with(&drone, 1, &f, 1);
    vy_world_advance(world, FROM);
    const vy_drone_state begin = look(world);
    vy_world_advance(world, TO - FROM);
    vy_drone_state s = look(world);
    const double wanted = begin.rotor_speed[2] * exp(-1e-3 * (TO - FROM) / drone.vehicle.motor_lag);
    assert_near(s.rotor_speed[2], wanted, 1e-9 * begin.rotor_speed[2]);
    assert_near(s.rotor_speed[1], drone.vehicle.speed_max * 0.621, 1e-6 * drone.vehicle.speed_max);
    vy_world_advance(world, STEPS - TO); // and comes back
    s = look(world);
    assert_near(s.rotor_speed[2], drone.vehicle.speed_max * 0.622, 1e-3 * drone.vehicle.speed_max);
    vy_world_destroy(world);
}

static void weak_and_limited_motors_reach_less(void **unused)
{
    (void)unused;
    const vy_drone_def drone = open_loop();
    const double speed_max = drone.vehicle.speed_max;
    vy_fault_def faults[2] = {fault(VY_FAULT_MOTOR_WEAK), fault(VY_FAULT_MOTOR_MAX)};
    faults[0].rotor = 0;
    faults[0].size = 0.49; // thrust; the speed is its root
    faults[1].rotor = 1;
    faults[1].size = 0.5;
    vy_world *world = world_with(&drone, 1, faults, 2);
    vy_world_advance(world, TO);
    const vy_drone_state s = look(world);
    assert_near(s.rotor_speed[0], 0.7 * 0.62 * speed_max, 1e-4 * speed_max);
    assert_near(s.rotor_speed[1], 0.5 * speed_max, 1e-4 * speed_max);
    vy_world_destroy(world);
}

static void a_failing_battery_slows_every_rotor(void **unused)
{
    (void)unused;
    for (int has = 0; has < 2; ++has) {
        vy_drone_def drone = open_loop();
        if (has)
            drone.vehicle.battery = (vy_battery_def){.capacity = 900.0,
                                                     .charge = 1.0,
                                                     .nominal = 3.7,
                                                     .voltage = {3.7, 3.7, 3.7, 3.7, 3.7},
                                                     .efficiency = 1.0};
        const double speed_max = drone.vehicle.speed_max;
        vy_fault_def f = fault(VY_FAULT_BATTERY);
        f.size = 0.8;
        vy_world *world = world_with(&drone, 1, &f, 1);
        vy_world_advance(world, TO);
        vy_drone_state s = look(world);
        for (int r = 0; r < 4; ++r)
            assert_near(s.rotor_speed[r], 0.8 * (0.62 + 0.001 * r) * speed_max, 1e-4 * speed_max);
        assert_near(s.battery_voltage, has ? 0.8 * 3.7 : 0.0, 1e-12);
        vy_world_advance(world, STEPS - TO);
        s = look(world);
        assert_near(s.rotor_speed[0], 0.62 * speed_max, 1e-4 * speed_max);
        assert_int_equal(vy_world_fault_count(world, vy_world_drone(world, 0)), 1);
        vy_world_destroy(world);
        f.size = 0.0;
        world = world_with(&drone, 1, &f, 1);
        vy_world_advance(world, TO);
        assert_true(look(world).rotor_speed[3] < 1e-3 * speed_max);
        vy_world_destroy(world);
    }
}

static void motor_lag_is_exchanged(void **unused)
{
    (void)unused;
    vy_drone_def drone = open_loop();
    drone.rotor_speed = 0.0;
    vy_fault_def f = fault(VY_FAULT_MOTOR_LAG);
    f.start = 0.0;
    f.size = 0.1;
    vy_world *world = world_with(&drone, 1, &f, 1);
    vy_world_advance(world, 50);
    const double speed_max = drone.vehicle.speed_max * 0.62;
    assert_near(look(world).rotor_speed[0], speed_max * (1.0 - exp(-0.05 / 0.1)), 1e-9 * speed_max);
    vy_world_destroy(world);
}

// --- sensors: with and without, side by side

typedef void compare_fn(uint64_t tick, const vy_samples *good, const vy_samples *bad, void *self);

static void beside(const vy_fault_def *f, compare_fn *compare, void *self)
{
    const vy_drone_def drone = open_loop();
    vy_world *good = world_with(&drone, 1, NULL, 0), *bad = world_with(&drone, 1, f, 1);
    for (uint64_t tick = 1; tick <= STEPS; ++tick) {
        vy_world_step(good);
        vy_world_step(bad);
        const vy_drone_state a = look(good), b = look(bad);
        assert_memory_equal(&a.position, &b.position, sizeof a.position); // what flies is the same
        const int acts = tick >= FROM && tick < TO;
        assert_int_equal(vy_world_faults(bad, vy_world_drone(bad, 0)), acts);
        // Outside its time nothing is changed, but for samples that have not arrived yet.
        if (!acts && tick < FROM) assert_memory_equal(&a.samples.imu, &b.samples.imu, sizeof a.samples.imu);
        compare(acts ? tick : 0, &a.samples, &b.samples, self);
    }
    vy_world_destroy(good);
    vy_world_destroy(bad);
}

static void compare_bias(uint64_t tick, const vy_samples *good, const vy_samples *bad, void *self)
{
    const vy_vec3 *bias = self, a = good->imu.gyro, b = bad->imu.gyro;
    const double on = tick > 0;
    assert_true(b.x == a.x + on * bias->x && b.y == a.y + on * bias->y && b.z == a.z + on * bias->z);
    assert_memory_equal(&good->imu.accel, &bad->imu.accel, sizeof good->imu.accel);
}

static void compare_swap(uint64_t tick, const vy_samples *good, const vy_samples *bad, void *self)
{
    (void)self;
    const vy_vec3 a = good->imu.accel, b = bad->imu.accel;
    if (tick > 0) assert_true(b.x == a.y && b.y == a.x && b.z == a.z);
    if (tick == 0) assert_true(b.x == a.x && b.y == a.y && b.z == a.z);
}

static void compare_stuck(uint64_t tick, const vy_samples *good, const vy_samples *bad, void *self)
{
    vy_vec3 *last = self;
    const vy_vec3 a = good->imu.gyro, b = bad->imu.gyro;
    if (tick > 0) assert_true(b.x == last->x && b.y == last->y && b.z == last->z && b.x != a.x);
    if (tick == 0) assert_true(b.x == a.x && b.y == a.y && b.z == a.z);
    *last = b;
}

static void compare_vibration(uint64_t tick, const vy_samples *good, const vy_samples *bad, void *self)
{
    const vy_fault_def *f = self;
    const double wave = tick > 0 ? sin(2.0 * PI * f->frequency * 1e-3 * (double)tick) : 0.0;
    assert_near(bad->imu.accel.z - good->imu.accel.z, f->vector.z * wave, 1e-12);
}

static void sensor_faults_change_their_channel(void **unused)
{
    (void)unused;
    vy_fault_def f = fault(VY_FAULT_SENSOR_BIAS);
    f.channel = VY_CHANNEL_GYRO;
    f.vector = (vy_vec3){0.1, -0.2, 0.3};
    beside(&f, compare_bias, &f.vector);
    f = fault(VY_FAULT_SENSOR_SWAP);
    f.channel = VY_CHANNEL_ACCEL;
    beside(&f, compare_swap, NULL);
    f = fault(VY_FAULT_SENSOR_STUCK);
    f.channel = VY_CHANNEL_GYRO;
    vy_vec3 last = {0.0, 0.0, 0.0};
    beside(&f, compare_stuck, &last);
    f = fault(VY_FAULT_SENSOR_VIBRATION);
    f.channel = VY_CHANNEL_ACCEL;
    f.vector = (vy_vec3){0.0, 0.0, 2.0};
    f.frequency = 37.0;
    beside(&f, compare_vibration, &f);
}

typedef struct sums {
    double sum, square;
    int count, missing;
} sums;

static void compare_noise(uint64_t tick, const vy_samples *good, const vy_samples *bad, void *self)
{
    sums *s = self;
    const double e = bad->imu.gyro.y - good->imu.gyro.y;
    if (tick == 0) {
        assert_true(e == 0.0);
        return;
    }
    s->sum += e;
    s->square += e * e;
    s->count += 1;
}

static void compare_dropout(uint64_t tick, const vy_samples *good, const vy_samples *bad, void *self)
{
    sums *s = self;
    const int missing = bad->imu.tick != good->imu.tick;
    if (tick == 0) assert_false(missing);
    s->missing += missing;
    s->count += tick > 0;
}

// A share p of n: within four standard deviations.
static void assert_share(int hits, int n, double p)
{
    assert_near((double)hits / n, p, 4.0 * sqrt(p * (1.0 - p) / n));
}

static void noise_and_dropout_have_their_size(void **unused)
{
    (void)unused;
    vy_fault_def f = fault(VY_FAULT_SENSOR_NOISE);
    f.channel = VY_CHANNEL_GYRO;
    f.vector = (vy_vec3){0.0, 0.05, 0.0};
    sums s = {0};
    beside(&f, compare_noise, &s);
    assert_int_equal(s.count, TO - FROM);
    assert_near(s.sum / s.count, 0.0, 4.0 * 0.05 / sqrt(s.count));
    assert_near(sqrt(s.square / s.count), 0.05, 4.0 * 0.05 / sqrt(2.0 * s.count));
    f = fault(VY_FAULT_SENSOR_DROPOUT);
    f.channel = VY_CHANNEL_GYRO;
    f.size = 0.3;
    s = (sums){0};
    beside(&f, compare_dropout, &s);
    assert_share(s.missing, s.count, 0.3);
}

typedef struct history {
    vy_imu_sample at[STEPS + 1];
    uint64_t tick;
} history;

enum { LATE = 20 };

static void compare_delay(uint64_t tick, const vy_samples *good, const vy_samples *bad, void *self)
{
    history *h = self;
    h->tick += 1;
    h->at[h->tick] = good->imu;
    if (tick == 0) {
        assert_true(bad->imu.accel.x == good->imu.accel.x);
    } else if (tick < FROM + LATE) { // nothing arrives: the newest sample is the last before the fault
        assert_int_equal(bad->imu.tick, FROM - 1);
    } else {
        assert_int_equal(bad->imu.tick, tick); // it arrives now
        assert_true(bad->imu.accel.x == h->at[tick - LATE].accel.x &&
                    bad->imu.gyro.z == h->at[tick - LATE].gyro.z);
    }
}

static void delayed_samples_are_the_old_ones(void **unused)
{
    (void)unused;
    vy_fault_def f = fault(VY_FAULT_SENSOR_DELAY);
    f.channel = VY_CHANNEL_ACCEL;
    f.size = 1e-3 * LATE;
    static history h;
    beside(&f, compare_delay, &h);
}

// --- commands

// A reply that tells when it was made: motors at tick / 1000.
static void clockwork(void *self, const vy_samples *samples, vy_intent *intent)
{
    (void)self;
    intent->rung = VY_RUNG_MOTORS;
    for (int i = 0; i < 4; ++i) intent->motors[i] = 1e-3 * (double)samples->tick;
}

static void commands_come_late_or_never(void **unused)
{
    (void)unused;
    vy_drone_def drone = open_loop();
    drone.controller.kind = VY_CONTROLLER_CALLBACK;
    drone.controller.period = 0.002;
    drone.controller.call = clockwork;
    vy_fault_def f = fault(VY_FAULT_COMMAND_DELAY);
    f.size = 0.01; // five calls
    vy_world *world = world_with(&drone, 1, &f, 1);
    for (uint64_t tick = 1; tick <= STEPS; ++tick) {
        vy_world_step(world);
        const uint64_t call = tick - tick % 2;
        const double got = look(world).motor_command[0];
        if (call == 0) continue;
        if (call < FROM || call >= TO) assert_true(got == 1e-3 * (double)call);
        if (call >= FROM && call < FROM + 10) assert_true(got == 1e-3 * (FROM - 2));
        if (call >= FROM + 10 && call < TO) assert_true(got == 1e-3 * (double)(call - 10));
    }
    vy_world_destroy(world);

    f = fault(VY_FAULT_COMMAND_LOSS);
    f.size = 0.4;
    world = world_with(&drone, 1, &f, 1);
    int lost = 0, calls = 0;
    for (uint64_t tick = 1; tick <= STEPS; ++tick) {
        vy_world_step(world);
        if (tick % 2 != 0) continue;
        const int missing = look(world).motor_command[0] != 1e-3 * (double)tick;
        const int acts = tick >= FROM && tick < TO;
        if (!acts) assert_false(missing);
        lost += missing;
        calls += acts;
    }
    assert_share(lost, calls, 0.4);
    vy_world_destroy(world);
}

// --- schedules

static void random_stretches_follow_their_distribution(void **unused)
{
    (void)unused;
    enum { DRONES = 2, PIECE = 100, PIECES = 200, LENGTH = 10 };
    const vy_drone_def drone = open_loop();
    vy_fault_def f = fault(VY_FAULT_MOTOR_WEAK);
    f.size = 1.0; // it changes nothing, but it is there
    f.start = 0.05;
    f.duration = 1e-3 * LENGTH;
    f.every = 1e-3 * PIECE;
    f.chance = 0.7;
    vy_world *world = world_with(&drone, DRONES, &f, 1);
    int come[DRONES] = {0}, differs = 0;
    double place[DRONES] = {0.0};
    for (int piece = 0; piece < PIECES; ++piece) {
        int ticks[DRONES] = {0}, first[DRONES] = {0};
        if (piece == 0) vy_world_advance(world, 49);
        for (int i = 0; i < PIECE; ++i) {
            vy_world_step(world);
            for (uint32_t d = 0; d < DRONES; ++d) {
                if (vy_world_faults(world, vy_world_drone(world, d)) == 0) continue;
                if (ticks[d]++ == 0) first[d] = i;
            }
        }
        for (int d = 0; d < DRONES; ++d) {
            assert_true(ticks[d] == 0 || ticks[d] == LENGTH); // once and whole, or not at all
            come[d] += ticks[d] > 0;
            place[d] += first[d];
        }
        differs += first[0] != first[1];
    }
    for (int d = 0; d < DRONES; ++d) {
        assert_share(come[d], PIECES, 0.7);
        // Evenly from 0 to PIECE - LENGTH: the mean of k of them is within 4 sd / sqrt(k) of the middle.
        const double range = PIECE - LENGTH;
        assert_near(place[d] / come[d], 0.5 * (range - 1.0), 4.0 * range / sqrt(12.0 * come[d]));
    }
    assert_true(differs > PIECES / 2); // each drone at times of its own
    vy_world_destroy(world);

    f = fault(VY_FAULT_MOTOR_LOSS); // once, from a moment drawn from a second on
    f.duration = 0.01;
    f.spread = 1.0;
    int seen[2] = {0};
    for (int again = 0; again < 2; ++again) {
        world = world_with(&drone, 1, &f, 1);
        while (vy_world_faults(world, vy_world_drone(world, 0)) == 0) vy_world_step(world);
        seen[again] = (int)vy_world_tick(world);
        vy_world_destroy(world);
    }
    assert_in_range(seen[0], FROM, FROM + 1000);
    assert_int_equal(seen[0], seen[1]);
}

// What is on its way is state: a run goes on from a snapshot as if nothing had been.
static void snapshot_keeps_what_is_on_its_way(void **unused)
{
    (void)unused;
    const vy_drone_def drone = vy_default_drone_def();
    vy_fault_def faults[2] = {fault(VY_FAULT_SENSOR_DELAY), fault(VY_FAULT_COMMAND_DELAY)};
    faults[0].channel = VY_CHANNEL_POSITION;
    faults[0].size = 0.03;
    faults[1].size = 0.02;
    vy_world *a = world_with(&drone, 1, faults, 2), *b = world_with(&drone, 1, faults, 2);
    vy_world_advance(a, FROM + 55);
    void *block = malloc(vy_world_state_size(a));
    assert_non_null(block);
    vy_world_save(a, block);
    assert_int_equal(vy_world_restore(b, block, vy_world_state_size(a), NULL), VY_OK);
    vy_world_advance(a, STEPS);
    vy_world_advance(b, STEPS);
    assert_true(vy_world_hash(a) == vy_world_hash(b));
    assert_int_equal(vy_world_failure(a).reason, VY_FAILURE_NONE);
    free(block);
    vy_world_destroy(a);
    vy_world_destroy(b);
}

static void bad_faults_are_refused(void **unused)
{
    (void)unused;
    const vy_drone_def drone = open_loop();
    vy_world *world = world_with(&drone, 1, NULL, 0);
    vy_fault_def bad[9];
    for (int i = 0; i < 9; ++i) bad[i] = fault(VY_FAULT_MOTOR_WEAK);
    bad[0].cookie = 0;
    bad[1].size = 1.5;
    bad[2].duration = 0.0;
    bad[3].rotor = 4;   // of a drone with four
    bad[4].every = 0.1; // shorter than its duration
    bad[5].chance = -1.0;
    bad[6].kind = (vy_fault_kind)99;
    bad[7].start = NOT_A_NUMBER;
    bad[8].kind = VY_FAULT_COMMAND_DELAY; // nobody commands
    for (int i = 0; i < 9; ++i) {
        vy_error err = {0};
        assert_int_equal(vy_world_add_fault(world, &bad[i], &err), VY_BAD_VALUE);
        assert_true(strlen(err.text) > 10);
    }
    vy_fault_def slow = fault(VY_FAULT_SENSOR_DELAY);
    slow.size = 1.0; // a thousand samples: there is room for as many as are declared
    assert_int_equal(vy_world_add_fault(world, &slow, NULL), VY_OK);
    vy_world_step(world);
    const vy_fault_def late = fault(VY_FAULT_MOTOR_LOSS);
    assert_int_equal(vy_world_add_fault(world, &late, NULL), VY_BAD_STATE);
    vy_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_have_nothing_to_lose),
        cmocka_unit_test(motor_loss_spins_down_by_its_lag),
        cmocka_unit_test(weak_and_limited_motors_reach_less),
        cmocka_unit_test(a_failing_battery_slows_every_rotor),
        cmocka_unit_test(motor_lag_is_exchanged),
        cmocka_unit_test(sensor_faults_change_their_channel),
        cmocka_unit_test(noise_and_dropout_have_their_size),
        cmocka_unit_test(delayed_samples_are_the_old_ones),
        cmocka_unit_test(commands_come_late_or_never),
        cmocka_unit_test(random_stretches_follow_their_distribution),
        cmocka_unit_test(snapshot_keeps_what_is_on_its_way),
        cmocka_unit_test(bad_faults_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
