// test_sensor_faults.c - every fault of samples on every sensor: the same flight with and without it, side by
// side, number by number.
#include "flight.h"
#include "volery/fault.h"
#include "volery/scenario.h"
#include <stdlib.h>
#include <string.h>

enum { FROM = 300, TO = 700, STEPS = 1000 }; // ticks of 1 ms; faults act on [FROM, TO)

// What a channel has, said once more and apart from the library: its numbers in the samples, when they
// arrived, what of them is measured.
typedef struct view {
    const double *numbers;
    int count, axes; // numbers; those that something is added to
    uint64_t tick;
} view;

static view view_of(const vy_samples *s, vy_channel channel)
{
    switch (channel) {
    case VY_CHANNEL_ACCEL: return (view){&s->imu.accel.x, 3, 3, s->imu.tick};
    case VY_CHANNEL_GYRO: return (view){&s->imu.gyro.x, 3, 3, s->imu.tick};
    case VY_CHANNEL_POSITION: return (view){&s->mocap.position.x, 3, 3, s->mocap.tick};
    case VY_CHANNEL_ATTITUDE: return (view){&s->mocap.attitude.w, 4, 3, s->mocap.tick};
    case VY_CHANNEL_BARO: return (view){&s->baro.pressure, 2, 1, s->baro.tick};
    case VY_CHANNEL_MAG: return (view){&s->mag.field.x, 3, 3, s->mag.tick};
    case VY_CHANNEL_GPS_POSITION: return (view){&s->gps.position.x, 3, 3, s->gps.tick};
    case VY_CHANNEL_GPS_VELOCITY: return (view){&s->gps.velocity.x, 3, 3, s->gps.tick};
    case VY_CHANNEL_RANGE: return (view){&s->range.distance, 1, 1, s->range.tick};
    case VY_CHANNEL_FLOW: return (view){&s->flow.x, 3, 2, s->flow.tick};
    case VY_CHANNEL_VOLTAGE: return (view){&s->power.voltage, 1, 1, s->power.tick};
    case VY_CHANNEL_CURRENT: return (view){&s->power.current, 1, 1, s->power.tick};
    case VY_CHANNEL_ESC: return (view){s->esc.speed, 8, 4, s->esc.tick};
    case VY_CHANNEL_LIDAR: return (view){s->lidar.distance, VY_RAY_CAP, VY_RAY_CAP, s->lidar.tick};
    case VY_CHANNEL_AIRSPEED: return (view){&s->airspeed.pressure, 2, 1, s->airspeed.tick};
    case VY_CHANNEL_COUNT: break;
    }
    fail();
    return (view){0};
}

// Two channels of one sensor travel together.
static int same_sensor(vy_channel a, vy_channel b)
{
    static const int sensors[VY_CHANNEL_COUNT] = {0, 0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10};
    return sensors[a] == sensors[b];
}

// A drone with every sensor there is, in slow unsteady flight above the ground on motors held at a command:
// what flies does not depend on what is sensed. `period` 0: each sensor at one of its own.
static vy_drone_def well_equipped(double period)
{
    vy_drone_def def = vy_default_drone_def();
    def.position = (vy_vec3){0.3, -0.2, 3.0};
    def.attitude = turn(0.2, 0.6, -0.8, 0.0);
    def.velocity = (vy_vec3){0.5, -0.3, 0.2};
    def.controller.kind = VY_CONTROLLER_NONE;
    def.controller.start.rung = VY_RUNG_MOTORS;
    for (int i = 0; i < 4; ++i) def.controller.start.motors[i] = 0.62 + 0.0001 * i;
    def.vehicle.battery = (vy_battery_def){.capacity = 900.0,
                                           .charge = 0.9,
                                           .nominal = 3.7,
                                           .voltage = {3.3, 3.6, 3.7, 3.8, 4.0},
                                           .resistance = 0.05,
                                           .efficiency = 0.7};
    def.sensor_suite = vy_default_sensor_suite_def();
    double *const periods[11] = {&def.imu.period,
                                 &def.mocap.period,
                                 &def.sensor_suite.baro.period,
                                 &def.sensor_suite.mag.period,
                                 &def.sensor_suite.gps.period,
                                 &def.sensor_suite.range.period,
                                 &def.sensor_suite.flow.period,
                                 &def.sensor_suite.power.period,
                                 &def.sensor_suite.esc.period,
                                 &def.sensor_suite.lidar.period,
                                 &def.sensor_suite.airspeed.period};
    static const double own[11] = {1e-3, 10e-3, 20e-3, 4e-3, 50e-3, 25e-3, 10e-3, 40e-3, 5e-3, 50e-3, 20e-3};
    for (int i = 0; i < 11; ++i) *periods[i] = period > 0.0 ? period : own[i];
    def.sensor_suite.range.max = def.sensor_suite.flow.max = 10.0;
    def.sensor_suite.lidar.columns =
        4; // forwards, sideways and back, upwards and downwards: some see nothing
    def.sensor_suite.lidar.rows = 3;
    def.sensor_suite.lidar.width = 6.0;
    def.sensor_suite.lidar.height = 2.0;
    def.sensor_suite.lidar.max = 20.0;
    return def;
}

static vy_fault_def fault(vy_fault_kind kind, vy_channel channel)
{
    vy_fault_def def = vy_default_fault_def();
    def.kind = kind;
    def.channel = channel;
    def.start = 1e-3 * FROM;
    def.duration = 1e-3 * (TO - FROM);
    return def;
}

static vy_world *world_with(const vy_drone_def *drone, const vy_fault_def *faults, int count)
{
    vy_world_def def = vy_default_world_def();
    def.environment.magnetic_field = (vy_vec3){3e-6, 20e-6, -45e-6};
    vy_world *world = fly_in(&def, drone);
    vy_error err = {0};
    for (int i = 0; i < count; ++i) {
        if (vy_world_add_fault(world, &faults[i], &err) != VY_OK) fail_msg("%s", err.text);
    }
    return world;
}

typedef struct pair {
    vy_channel channel;
    uint64_t tick;
    int acts;
    view good, bad;
    void *self;
} pair;

typedef void compare_fn(const pair *p);

// Fly with and without a fault; channels of other sensors must not notice, and `compare` looks at this one.
static void beside(const vy_drone_def *drone, const vy_fault_def *f, compare_fn *compare, void *self)
{
    vy_world *good = world_with(drone, NULL, 0), *bad = world_with(drone, f, 1);
    for (uint64_t tick = 1; tick <= STEPS; ++tick) {
        vy_world_step(good);
        vy_world_step(bad);
        const vy_drone_state a = state_of(good, 0), b = state_of(bad, 0);
        assert_memory_equal(&a.position, &b.position, sizeof a.position); // what flies is the same
        for (int c = 0; c < VY_CHANNEL_COUNT; ++c) {
            const view x = view_of(&a.samples, (vy_channel)c), y = view_of(&b.samples, (vy_channel)c);
            if (c == (int)f->channel) {
                const int acts = vy_world_fault_acts(bad, vy_world_drone(bad, 0), 0);
                compare(&(pair){f->channel, tick, acts, x, y, self});
            } else if (!same_sensor((vy_channel)c, f->channel)) {
                assert_memory_equal(x.numbers, y.numbers, (size_t)x.count * sizeof(double));
                assert_int_equal(x.tick, y.tick);
            }
        }
    }
    vy_world_destroy(good);
    vy_world_destroy(bad);
}

static void assert_same(const pair *p)
{
    assert_memory_equal(p->good.numbers, p->bad.numbers, (size_t)p->good.count * sizeof(double));
    assert_int_equal(p->good.tick, p->bad.tick);
}

// A number of each kind: large beside the noise, in the channel's unit.
static double size_of(vy_channel channel)
{
    static const double sizes[VY_CHANNEL_COUNT] = {0.5, 0.1, 0.3, 1e-3, 100.0, 2e-6, 5.0, 1.0,
                                                   0.4, 0.2, 0.5, 1.5,  40.0,  0.7,  3.0};
    return sizes[channel];
}

static double each_of(vy_vec3 vector, vy_channel channel, int i)
{
    const int k = vy_channel_width(channel) > 1 ? i : 0;
    return k == 0 ? vector.x : k == 1 ? vector.y : vector.z;
}

// --- what is added

typedef struct added {
    const vy_fault_def *fault;
    int count, changed;
} added;

static int says_nothing(const pair *p, int i)
{
    const int rays = p->channel == VY_CHANNEL_RANGE || p->channel == VY_CHANNEL_LIDAR;
    return (rays && p->good.numbers[i] == 0.0) ||
           (p->channel == VY_CHANNEL_FLOW && p->good.numbers[2] == 0.0);
}

static void compare_added(const pair *p)
{
    added *a = p->self;
    assert_int_equal(p->good.tick, p->bad.tick);
    if (p->good.tick != p->tick) return; // no sample now
    if (!p->acts) {
        assert_same(p);
        return;
    }
    a->count += 1;
    const int wave = a->fault->kind == VY_FAULT_SENSOR_VIBRATION;
    const double now = wave ? sin(2.0 * PI * a->fault->frequency * 1e-3 * (double)p->tick) : 1.0;
    if (p->channel == VY_CHANNEL_ATTITUDE) { // a turn in body axes
        const double *g = p->good.numbers, *b = p->bad.numbers;
        const vy_vec3 v = a->fault->vector;
        const vy_quat turned =
            quat_mul(quat_make(g[0], -g[1], -g[2], -g[3]), quat_make(b[0], b[1], b[2], b[3]));
        assert_vec_near(((vy_vec3){2.0 * turned.x, 2.0 * turned.y, 2.0 * turned.z}),
                        ((vy_vec3){now * v.x, now * v.y, now * v.z}), 1e-8);
        a->changed += 1;
        return;
    }
    for (int i = 0; i < p->good.axes; ++i) {
        const double more = says_nothing(p, i) ? 0.0 : now * each_of(a->fault->vector, p->channel, i);
        if (wave)
            assert_near(p->bad.numbers[i], p->good.numbers[i] + more,
                        1e-12 * (1.0 + fabs(p->good.numbers[i])));
        else
            assert_true(p->bad.numbers[i] == p->good.numbers[i] + more);
        a->changed += more != 0.0;
    }
    if (p->channel == VY_CHANNEL_BARO) { // hydrostatics: dp = -rho g dh, at rho = 1.225 kg/m^3
        const double more = p->bad.numbers[0] - p->good.numbers[0];
        assert_near(p->bad.numbers[1] - p->good.numbers[1], -more / (1.225 * 9.80665),
                    1e-2 * fabs(more) + 1e-9);
    }
    const int follows = p->channel == VY_CHANNEL_BARO || p->channel == VY_CHANNEL_AIRSPEED;
    if (p->channel == VY_CHANNEL_AIRSPEED)
        assert_near(p->bad.numbers[1] * fabs(p->bad.numbers[1]), 2.0 * p->bad.numbers[0] / 1.225, 1e-9);
    for (int i = p->good.axes; i < p->good.count && !follows; ++i)
        assert_true(p->good.numbers[i] == p->bad.numbers[i]); // quality, rotors that are not there
}

static void a_step_or_a_wave_is_added_to_what_is_measured(void **unused)
{
    (void)unused;
    const vy_drone_def drone = well_equipped(0.0);
    for (int c = 0; c < VY_CHANNEL_COUNT; ++c) {
        const vy_fault_kind kinds[2] = {VY_FAULT_SENSOR_BIAS, VY_FAULT_SENSOR_VIBRATION};
        for (int k = 0; k < 2; ++k) {
            vy_fault_def f = fault(kinds[k], (vy_channel)c);
            const double size = size_of(f.channel);
            f.vector = (vy_vec3){size, -0.5 * size, 0.25 * size};
            f.frequency = 17.0;
            added a = {&f, 0, 0};
            beside(&drone, &f, compare_added, &a);
            assert_true(a.count >= 8 && a.changed >= a.count);
        }
    }
}

// At random stretches too: it is there when the world says so, and at no other time.
static void random_schedules_reach_every_sensor(void **unused)
{
    (void)unused;
    const vy_drone_def drone = well_equipped(5e-3);
    for (int c = 0; c < VY_CHANNEL_COUNT; ++c) {
        vy_fault_def f = fault(VY_FAULT_SENSOR_BIAS, (vy_channel)c);
        f.start = 0.0;
        f.duration = 0.03;
        f.every = 0.1;
        f.chance = 0.8;
        f.vector.x = size_of(f.channel);
        added a = {&f, 0, 0};
        beside(&drone, &f, compare_added, &a);
        assert_true(a.count > 20 && a.count < 60); // 10 pieces, 8 of them with 6 samples
    }
}

// --- stuck, lost, late

typedef struct memory {
    double numbers[VY_RAY_CAP];
    uint64_t tick;
    int count, differs;
} memory;

static void remember(memory *m, const view *v)
{
    memcpy(m->numbers, v->numbers, (size_t)v->count * sizeof(double));
    m->tick = v->tick;
}

static void compare_stuck(const pair *p)
{
    memory *m = p->self;
    assert_int_equal(p->good.tick, p->bad.tick); // samples go on arriving
    if (!p->acts && p->good.tick == p->tick) assert_same(p);
    if (p->tick < FROM) remember(m, &p->good);
    if (!p->acts || p->good.tick != p->tick) return;
    const size_t size = (size_t)p->bad.count * sizeof(double);
    assert_memory_equal(p->bad.numbers, m->numbers, size);
    m->count += 1;
    m->differs += memcmp(p->good.numbers, p->bad.numbers, size) != 0;
}

static void compare_lost(const pair *p)
{
    memory *m = p->self;
    if (p->tick < FROM) {
        assert_same(p);
        remember(m, &p->good);
    } else if (p->acts) { // what there is is what there was
        assert_int_equal(p->bad.tick, m->tick);
        assert_memory_equal(p->bad.numbers, m->numbers, (size_t)p->bad.count * sizeof(double));
        m->count += 1;
    } else if (p->good.tick >= TO) { // and it comes back
        assert_same(p);
        m->differs += 1;
    }
}

static void stuck_samples_repeat_and_lost_ones_leave_the_old(void **unused)
{
    (void)unused;
    const vy_drone_def drone = well_equipped(0.0);
    for (int c = 0; c < VY_CHANNEL_COUNT; ++c) {
        memory m = {{0.0}, 0, 0, 0};
        vy_fault_def f = fault(VY_FAULT_SENSOR_STUCK, (vy_channel)c);
        beside(&drone, &f, compare_stuck, &m);
        assert_true(m.count >= 8 && m.differs >= m.count - 1);
        m = (memory){{0.0}, 0, 0, 0};
        f = fault(VY_FAULT_SENSOR_DROPOUT, (vy_channel)c);
        f.size = 1.0;
        beside(&drone, &f, compare_lost, &m);
        assert_int_equal(m.count, TO - FROM);
        assert_true(m.differs > 200);
    }
}

enum { LATE = 3 }; // samples

typedef struct past {
    memory at[STEPS + 1];
    uint64_t period;
    int count;
} past;

static void compare_late(const pair *p)
{
    past *h = p->self;
    remember(&h->at[p->tick], &p->good);
    if (p->tick < FROM) assert_same(p);
    if (!p->acts || p->good.tick != p->tick) return;
    const uint64_t first = (FROM + h->period - 1) / h->period * h->period, late = LATE * h->period;
    if (p->tick < first + late) { // what was sent before the fault has come, what is sent now has not
        assert_true(p->bad.tick < FROM);
        return;
    }
    assert_int_equal(p->bad.tick, p->tick);
    assert_memory_equal(p->bad.numbers, h->at[p->tick - late].numbers, (size_t)p->bad.count * sizeof(double));
    h->count += 1;
}

static void late_samples_are_those_of_so_long_ago(void **unused)
{
    (void)unused;
    static const uint64_t periods[VY_CHANNEL_COUNT] = {1,  1,  10, 10, 20, 4,  50, 50,
                                                       25, 10, 40, 40, 5,  50, 20};
    static past h;
    const vy_drone_def drone = well_equipped(0.0);
    for (int c = 0; c < VY_CHANNEL_COUNT; ++c) {
        memset(&h, 0, sizeof h);
        h.period = periods[c];
        vy_fault_def f = fault(VY_FAULT_SENSOR_DELAY, (vy_channel)c);
        f.size = 1e-3 * LATE * (double)h.period;
        beside(&drone, &f, compare_late, &h);
        assert_true(h.count >= 5);
    }
}

// A link that loses samples by itself, and a fault that delays what it does not lose: nothing is lost twice.
static void what_a_link_lets_through_comes_late_but_comes(void **unused)
{
    (void)unused;
    vy_drone_def drone = well_equipped(0.0);
    drone.sensor_suite.gps.period = 5e-3;
    drone.sensor_suite.gps.link.dropout = 0.4;
    vy_fault_def f = fault(VY_FAULT_SENSOR_DELAY, VY_CHANNEL_GPS_POSITION);
    f.size = 0.02;
    vy_world *good = world_with(&drone, NULL, 0), *bad = world_with(&drone, &f, 1);
    static uint64_t sent[STEPS + 1];
    static double place[STEPS + 1];
    int came = 0;
    for (uint64_t tick = 1; tick <= STEPS; ++tick) {
        vy_world_step(good);
        vy_world_step(bad);
        const vy_drone_state a = state_of(good, 0), b = state_of(bad, 0);
        sent[tick] = a.samples.gps.tick;
        place[tick] = a.samples.gps.position.x;
        if (tick < FROM + 20 || tick >= TO) continue;
        const int was_sent = sent[tick - 20] == tick - 20, comes = b.samples.gps.tick == tick;
        assert_int_equal(was_sent, comes);
        if (comes) assert_true(b.samples.gps.position.x == place[tick - 20]);
        came += comes;
    }
    assert_in_range(came, 25, 65); // of 76, less two in five
    vy_world_destroy(good);
    vy_world_destroy(bad);
}

// --- noise, shares, swaps

typedef struct sums {
    double sum[VY_RAY_CAP], square[VY_RAY_CAP];
    int count, missing;
} sums;

static void compare_noise(const pair *p)
{
    sums *s = p->self;
    if (!p->acts) {
        assert_same(p);
        return;
    }
    const double *g = p->good.numbers, *b = p->bad.numbers;
    const vy_quat turned = p->channel == VY_CHANNEL_ATTITUDE ? quat_mul(quat_make(g[0], -g[1], -g[2], -g[3]),
                                                                        quat_make(b[0], b[1], b[2], b[3]))
                                                             : quat_identity();
    const double turns[3] = {2.0 * turned.x, 2.0 * turned.y, 2.0 * turned.z};
    for (int i = 0; i < p->good.axes; ++i) {
        const double e = p->channel == VY_CHANNEL_ATTITUDE ? turns[i] : b[i] - g[i];
        s->sum[i] += e;
        s->square[i] += e * e;
        if (says_nothing(p, i)) assert_true(e == 0.0);
    }
    s->count += 1;
}

static void noise_has_its_size_on_every_axis(void **unused)
{
    (void)unused;
    const vy_drone_def drone = well_equipped(1e-3);
    for (int c = 0; c < VY_CHANNEL_COUNT; ++c) {
        vy_fault_def f = fault(VY_FAULT_SENSOR_NOISE, (vy_channel)c);
        const double size = 0.3 * size_of(f.channel);
        f.vector = (vy_vec3){size, 2.0 * size, 0.5 * size};
        sums s = {{0.0}, {0.0}, 0, 0};
        beside(&drone, &f, compare_noise, &s);
        assert_int_equal(s.count, TO - FROM);
        int axes = 0;
        for (int i = 0; i < VY_RAY_CAP && (i < 3 || vy_channel_width(f.channel) == 1); ++i) {
            if (s.square[i] == 0.0) continue; // no such axis, or a ray that sees nothing
            const double wanted = each_of(f.vector, f.channel, i), n = s.count;
            assert_near(s.sum[i] / n, 0.0, 4.5 * wanted / sqrt(n));
            assert_near(sqrt(s.square[i] / n), wanted, 4.5 * wanted / sqrt(2.0 * n));
            axes += 1;
        }
        if (f.channel == VY_CHANNEL_ESC) assert_int_equal(axes, 4);
        if (f.channel == VY_CHANNEL_LIDAR) assert_in_range(axes, 2, 11);
        if (f.channel < VY_CHANNEL_BARO) assert_int_equal(axes, 3);
        if (f.channel == VY_CHANNEL_LIDAR) { // each ray draws its own
            double first = -1.0;
            int alike = 0;
            for (int i = 0; i < VY_RAY_CAP; ++i) {
                if (s.square[i] == 0.0) continue;
                alike += s.square[i] == first;
                first = s.square[i];
            }
            assert_int_equal(alike, 0);
        }
    }
}

static void compare_share(const pair *p)
{
    sums *s = p->self;
    if (!p->acts) return;
    s->missing += p->bad.tick != p->tick;
    s->count += 1;
}

static void a_share_of_the_samples_is_lost(void **unused)
{
    (void)unused;
    const vy_drone_def drone = well_equipped(1e-3);
    for (int c = 0; c < VY_CHANNEL_COUNT; ++c) {
        vy_fault_def f = fault(VY_FAULT_SENSOR_DROPOUT, (vy_channel)c);
        f.size = 0.3;
        sums s = {{0.0}, {0.0}, 0, 0};
        beside(&drone, &f, compare_share, &s);
        assert_int_equal(s.count, TO - FROM);
        assert_near((double)s.missing / s.count, 0.3, 4.0 * sqrt(0.3 * 0.7 / s.count));
    }
}

static void compare_swap(const pair *p)
{
    if (!p->acts || p->good.tick != p->tick) return;
    const double *g = p->good.numbers, *b = p->bad.numbers;
    const int x = p->channel == VY_CHANNEL_ATTITUDE; // behind w
    assert_true(b[x] == g[x + 1] && b[x + 1] == g[x] && b[x] != b[x + 1]);
    for (int i = 0; i < p->good.count; ++i) {
        if (i != x && i != x + 1) assert_true(b[i] == g[i]);
    }
}

static void axes_are_exchanged_where_there_are_two(void **unused)
{
    (void)unused;
    const vy_drone_def drone = well_equipped(0.0);
    for (int c = 0; c < VY_CHANNEL_COUNT; ++c) {
        const vy_fault_def f = fault(VY_FAULT_SENSOR_SWAP, (vy_channel)c);
        if (vy_channel_width(f.channel) > 1) {
            beside(&drone, &f, compare_swap, NULL);
            continue;
        }
        vy_world *world = world_with(&drone, NULL, 0);
        vy_error err = {0};
        assert_int_equal(vy_world_add_fault(world, &f, &err), VY_BAD_VALUE);
        assert_non_null(strstr(err.text, vy_channel_name(f.channel)));
        assert_non_null(strstr(err.text, "mag")); // and what is possible
        vy_world_destroy(world);
    }
}

// --- edges

static void distances_and_speeds_do_not_go_below_0(void **unused)
{
    (void)unused;
    const vy_drone_def drone = well_equipped(1e-3);
    static const vy_channel channels[3] = {VY_CHANNEL_RANGE, VY_CHANNEL_LIDAR, VY_CHANNEL_ESC};
    for (int k = 0; k < 3; ++k) {
        vy_fault_def f = fault(VY_FAULT_SENSOR_BIAS, channels[k]);
        f.vector.x = -1e4;
        vy_world *world = world_with(&drone, &f, 1);
        vy_world_advance(world, FROM + 10);
        const vy_drone_state s = state_of(world, 0);
        const view v = view_of(&s.samples, channels[k]);
        for (int i = 0; i < v.count; ++i) assert_true(v.numbers[i] == 0.0);
        vy_world_destroy(world);
    }
    vy_fault_def f = fault(VY_FAULT_SENSOR_BIAS, VY_CHANNEL_BARO); // less than no pressure
    f.vector.x = -1e6;
    vy_world *world = world_with(&drone, &f, 1);
    vy_world_advance(world, FROM + 10);
    const vy_drone_state s = state_of(world, 0);
    assert_true(isfinite(s.samples.baro.altitude) && s.samples.baro.altitude > 1e4);
    vy_world_destroy(world);
}

static void a_fault_of_a_sensor_that_is_not_there_is_refused(void **unused)
{
    (void)unused;
    vy_drone_def drone = vy_default_drone_def(); // an IMU and motion capture
    drone.mocap.period = 0.0;
    drone.truth = 1;
    for (int c = VY_CHANNEL_POSITION; c < VY_CHANNEL_COUNT; ++c) {
        vy_world *world = world_with(&drone, NULL, 0);
        vy_error err = {0};
        const vy_fault_def f = fault(VY_FAULT_SENSOR_STUCK, (vy_channel)c);
        assert_int_equal(vy_world_add_fault(world, &f, &err), VY_BAD_VALUE);
        assert_non_null(strstr(err.text, vy_channel_name((vy_channel)c)));
        vy_world_destroy(world);
    }
    // Of all drones it is enough that one has it.
    vy_world_def def = vy_default_world_def();
    vy_world *world = fly_in(&def, &drone);
    drone.sensor_suite.baro.period = 0.02;
    assert_int_equal(vy_world_add_drone(world, &drone, NULL, NULL), VY_OK);
    const vy_fault_def f = fault(VY_FAULT_SENSOR_STUCK, VY_CHANNEL_BARO);
    assert_int_equal(vy_world_add_fault(world, &f, NULL), VY_OK);
    vy_world_advance(world, STEPS);
    assert_int_equal(vy_world_failure(world).reason, VY_FAILURE_NONE);
    vy_world_destroy(world);
}

// What is on its way is state: a run goes on from a snapshot as if nothing had been.
static void a_snapshot_keeps_late_samples_of_sensor_suites(void **unused)
{
    (void)unused;
    const vy_drone_def drone = well_equipped(0.0);
    vy_fault_def faults[2] = {fault(VY_FAULT_SENSOR_DELAY, VY_CHANNEL_GPS_VELOCITY),
                              fault(VY_FAULT_SENSOR_DELAY, VY_CHANNEL_LIDAR)};
    faults[0].size = faults[1].size = 0.15;
    vy_world *a = world_with(&drone, faults, 2), *b = world_with(&drone, faults, 2);
    vy_world_advance(a, FROM + 170);
    void *block = malloc(vy_world_state_size(a));
    assert_non_null(block);
    vy_world_save(a, block);
    assert_int_equal(vy_world_restore(b, block, vy_world_state_size(a), NULL), VY_OK);
    vy_world_advance(a, STEPS);
    vy_world_advance(b, STEPS);
    assert_true(vy_world_hash(a) == vy_world_hash(b));
    free(block);
    vy_world_destroy(a);
    vy_world_destroy(b);
}

// --- in scenarios

static const char head[] =
    "volery: 1\nworld: {magnetic_field: [0, 2e-5, -4e-5]}\ndrones:\n  - {name: a, sensors: "
    "{baro: bmp388, mag: hmc5883l, gps: neo-m9n, range: vl53l1x, flow: pmw3901}}\nfaults:\n";

// What the reader says goes to `said`.
static vy_scenario *parse(const char *faults, char *said, size_t size)
{
    char text[2000];
    vy_scenario *s = NULL;
    vy_diagnostics told;
    snprintf(text, sizeof text, "%s%s", head, faults);
    (void)vy_scenario_parse(text, strlen(text), "t.yaml", NULL, &s, &told);
    char *printed = vy_diagnostics_print(&told);
    snprintf(said, size, "%s", printed);
    free(printed);
    vy_diagnostics_destroy(&told);
    return s;
}

static void a_channel_takes_as_many_numbers_as_it_has(void **unused)
{
    (void)unused;
    char said[2000] = "";
    vy_scenario *s = parse("  - {kind: sensor_bias, channel: baro, bias: 0.5 hPa}\n"
                           "  - {kind: sensor_noise, channel: flow, noise: [0.1, 20 deg/s]}\n"
                           "  - {kind: sensor_vibration, channel: mag, amplitude: [1 uT, 2 uT, 0]}\n"
                           "  - {kind: sensor_swap, channel: gps_velocity, every: 5 s, duration: 1 s}\n",
                           said, sizeof said);
    if (s == NULL) fail_msg("%s", said);
    assert_true(s->faults[0].def.vector.x == 50.0 && s->faults[0].def.channel == VY_CHANNEL_BARO);
    assert_near(s->faults[1].def.vector.y, 20.0 * PI / 180.0, 1e-15);
    assert_true(s->faults[1].def.vector.z == 0.0 && s->faults[2].def.vector.y == 2e-6);
    char *first = vy_scenario_print(s);
    vy_scenario *again = NULL;
    assert_int_equal(vy_scenario_parse(first, strlen(first), "p.yaml", NULL, &again, NULL), VY_OK);
    char *second = vy_scenario_print(again);
    assert_string_equal(first, second);
    assert_non_null(strstr(first, "bias: 50\n"));
    free(first);
    free(second);
    vy_scenario_destroy(s);
    vy_scenario_destroy(again);

    static const char *const bad[][2] = {
        {"  - {kind: sensor_bias, channel: baro, bias: [1, 2, 3]}\n", "t.yaml:6:46"},
        {"  - {kind: sensor_bias, channel: baro, bias: 1 m}\n", "Pa"},
        {"  - {kind: sensor_bias, channel: mag, bias: 1 uT}\n", "[3 numbers in T]"},
        {"  - {kind: sensor_noise, channel: flow, noise: [1, 2, 3]}\n", "[2 numbers in rad/s]"},
        {"  - {kind: sensor_swap, channel: range}\n", "range has no x and y"},
        {"  - {kind: sensor_stuck, channel: lidar}\n", "the drone has no sensor lidar"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        assert_null(parse(bad[i][0], said, sizeof said));
        if (strstr(said, bad[i][1]) == NULL) fail_msg("%s not in: %s", bad[i][1], said);
    }
}

// End to end: the Kalman filter flies on while sensors break one after the other; without its gate it does
// not.
static void the_filter_flies_on(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed <= 3; ++seed) {
        vy_scenario *s = NULL;
        vy_world *world = NULL;
        assert_int_equal(vy_scenario_load("scenarios/sensor-faults.yaml", NULL, &s, NULL), VY_OK);
        s->seed = seed;
        if (seed == 0) s->drones[0].def.estimator.gate = 0.0;
        assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
        vy_expect_result results[8];
        assert_in_range(s->expect_count, 3, 8);
        vy_expect_begin(s, results);
        for (uint64_t i = 0; i < vy_scenario_steps(s); ++i) {
            vy_world_step(world);
            vy_expect_feed(s, world, results);
        }
        int met = 0;
        for (int i = 0; i < s->expect_count; ++i) {
            char *text = vy_expect_print(s, i, &results[i]);
            if (!results[i].met && seed > 0) fail_msg("seed %d: %s", (int)seed, text);
            met += results[i].met;
            free(text);
        }
        assert_int_equal(met == s->expect_count, seed > 0);
        const vy_drone_id id = vy_world_drone(world, 0);
        for (int k = 0; k < s->fault_count; ++k)
            assert_true(vy_world_fault_begun(world, id, (uint32_t)k) > 0);
        vy_world_destroy(world);
        vy_scenario_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_or_a_wave_is_added_to_what_is_measured),
        cmocka_unit_test(random_schedules_reach_every_sensor),
        cmocka_unit_test(stuck_samples_repeat_and_lost_ones_leave_the_old),
        cmocka_unit_test(late_samples_are_those_of_so_long_ago),
        cmocka_unit_test(what_a_link_lets_through_comes_late_but_comes),
        cmocka_unit_test(noise_has_its_size_on_every_axis),
        cmocka_unit_test(a_share_of_the_samples_is_lost),
        cmocka_unit_test(axes_are_exchanged_where_there_are_two),
        cmocka_unit_test(distances_and_speeds_do_not_go_below_0),
        cmocka_unit_test(a_fault_of_a_sensor_that_is_not_there_is_refused),
        cmocka_unit_test(a_snapshot_keeps_late_samples_of_sensor_suites),
        cmocka_unit_test(a_channel_takes_as_many_numbers_as_it_has),
        cmocka_unit_test(the_filter_flies_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
