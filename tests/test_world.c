// test_world.c - a world from creation to its end: capacity, handles, hover, limits, freezing, snapshots,
// memory.
#include "flight.h"
#include "world/state.h"
#include <stdlib.h>
#include <string.h>

// Count what the C library is asked for, and let it refuse. Sanitizers bring an allocator of their own.
#if defined(__has_feature)
#define HAS_FEATURE(x) __has_feature(x)
#else
#define HAS_FEATURE(x) 0
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !HAS_FEATURE(address_sanitizer) && !HAS_FEATURE(memory_sanitizer) && !HAS_FEATURE(thread_sanitizer)
#define COUNTING 1

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static uint64_t asked, freed;
static int refuse;

void *malloc(size_t size)
{
    ++asked;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    ++asked;
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    ++asked;
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    ++asked;
    return refuse ? NULL : __libc_memalign(alignment, size);
}

void free(void *block)
{
    freed += block != NULL;
    __libc_free(block);
}
#else
#define COUNTING 0
#endif

static vy_disturbance_def breeze(void)
{
    vy_disturbance_def d = vy_default_disturbance_def();
    d.kind = VY_DISTURBANCE_NOISE;
    d.force = (vy_vec3){0.01, 0.01, 0.01};
    d.torque = (vy_vec3){1e-6, 1e-6, 1e-6};
    return d;
}

// Two drones in a breeze, all noise on.
static vy_world *busy_world(uint64_t seed)
{
    vy_world_def wd = vy_default_world_def();
    wd.seed = seed;
    vy_drone_def def = vy_default_drone_def();
    vy_world *world = fly_in(&wd, &def);
    def.position.x = 1.0;
    def.vehicle.allocation = VY_ALLOCATION_PHYSICAL;
    def.controller.setpoint_count = 1;
    def.controller.setpoints[0] = (vy_setpoint){0.0, {1, 1, 1.5}, 0.7};
    assert_int_equal(vy_world_add_drone(world, &def, NULL, NULL), VY_OK);
    const vy_disturbance_def d = breeze();
    assert_int_equal(vy_world_add_disturbance(world, &d, NULL), VY_OK);
    return world;
}

// Once it is filled a world asks for no memory: not in a step, nor a snapshot, nor when it is read; and
// destroying it gives back exactly what creating and filling it took.
static void a_step_allocates_nothing(void **unused)
{
    (void)unused;
#if COUNTING
    const uint64_t asked_before = asked, freed_before = freed;
    vy_world *world = busy_world(1);
    assert_true(asked - asked_before > freed - freed_before);
    static unsigned char block[1 << 16];
    assert_true(vy_world_state_size(world) <= sizeof block);
    const uint64_t asked_built = asked, freed_built = freed;
    (void)vy_world_advance(world, 2000);
    (void)vy_world_step(world);
    vy_world_save(world, block);
    (void)vy_world_restore(world, block, vy_world_state_size(world), NULL);
    (void)state_of(world, 1);
    (void)vy_world_failure(world);
    assert_int_equal(asked, asked_built);
    assert_int_equal(freed, freed_built);
    vy_world_destroy(world);
    assert_int_equal(freed - freed_before, asked - asked_before);
#else
    print_message("another allocator is in place: not counted\n");
    skip();
#endif
}

// When there is no memory creation says so, and leaves a null pointer.
static void no_memory_is_reported(void **unused)
{
    (void)unused;
#if COUNTING
    const vy_world_def def = vy_default_world_def();
    vy_world *world = (vy_world *)(void *)&refuse;
    vy_error err = {0};
    refuse = 1;
    const vy_status status = vy_world_create(&def, &world, &err);
    refuse = 0;
    assert_int_equal(status, VY_NO_MEMORY);
    assert_null(world);
    assert_int_equal(err.status, VY_NO_MEMORY);
#else
    print_message("another allocator is in place: not tried\n");
    skip();
#endif
}

// A world for one drone is small; destroying nothing is allowed.
static void one_drone_is_small(void **unused)
{
    (void)unused;
    const vy_drone_def def = vy_default_drone_def();
    vy_world *world = fly(&def);
    assert_true(vy_world_memory(world) > vy_world_state_size(world));
    assert_true(vy_world_memory(world) < 1 << 20);
    vy_world_destroy(world);
    vy_world_destroy(NULL);
}

// Bad worlds are refused by name, and leave a null pointer.
static void bad_worlds_are_refused_by_name(void **unused)
{
    (void)unused;
    static const char *const says[] = {
        "vy_default_world_def", "world.dt", "world.dt", "world.dt", "world.dt", "gravity"};
    for (int k = 0; k < 6; ++k) {
        vy_world_def def = vy_default_world_def();
        if (k == 0) def.cookie = 0;
        if (k == 1) def.dt = 0.0;
        if (k == 2) def.dt = -0.001;
        if (k == 3) def.dt = NOT_A_NUMBER;
        if (k == 4) def.dt = INFINITE;
        if (k == 5) def.environment.gravity.uniform.x = NOT_A_NUMBER;
        vy_world *world = (vy_world *)(void *)&def;
        vy_error err = {0};
        assert_int_equal(vy_world_create(&def, &world, &err), VY_BAD_VALUE);
        assert_null(world);
        assert_non_null(strstr(err.text, says[k]));
    }
}

// Bad drones are refused by name; the world is as before and takes a good one.
static void bad_drones_are_refused_by_name(void **unused)
{
    (void)unused;
    static const char *const says[] = {"vy_default_drone_def",
                                       "vehicle.mass",
                                       "position must be between -1e+12 and 1e+12 m",
                                       "rate must be between",
                                       "attitude",
                                       "rotor_speed",
                                       "rotor_speed",
                                       "rotor_speed",
                                       "safety.tilt_max",
                                       "height",
                                       "velocity must be between -1e+08 and 1e+08 m/s",
                                       "velocity must be between -1e+08 and 1e+08 m/s",
                                       "position must be between -1e+12 and 1e+12 m",
                                       "vehicle.mass must be between 1e-9 and 1e9 kg",
                                       "vehicle.thrust_coef must be above 0 and at most 1e+06"};
    const vy_world_def wd = vy_default_world_def();
    vy_world *world = NULL;
    assert_int_equal(vy_world_create(&wd, &world, NULL), VY_OK);
    for (int k = 0; k < 15; ++k) {
        vy_drone_def def = vy_default_drone_def();
        if (k == 0) def.cookie = 1;
        if (k == 1) def.vehicle.mass = -1.0;
        if (k == 2) def.position.y = NOT_A_NUMBER;
        if (k == 3) def.rate.z = INFINITE;
        if (k == 4) def.attitude = (vy_quat){0, 0, 0, 0};
        if (k == 5) def.rotor_speed = -1.0;
        if (k == 6) def.rotor_speed = 2501.0;
        if (k == 7) def.rotor_speed = NOT_A_NUMBER;
        if (k == 8) def.safety.tilt_max = -0.1;
        if (k == 9) def.safety.height_min = NOT_A_NUMBER;
        if (k == 10) def.velocity.x = NOT_A_NUMBER;
        if (k == 11) def.velocity.x = 1e200;
        if (k == 12) def.position.x = -1e308;
        if (k == 13) def.vehicle.mass = 1e-300;
        if (k == 14) def.vehicle.thrust_coef = 1e300;
        vy_error err = {0};
        assert_int_equal(vy_world_add_drone(world, &def, NULL, &err), VY_BAD_VALUE);
        assert_non_null(strstr(err.text, says[k]));
        assert_int_equal(vy_world_drone_count(world), 0);
    }
    const vy_drone_def good = vy_default_drone_def();
    assert_int_equal(vy_world_add_drone(world, &good, NULL, NULL), VY_OK);
    vy_world_destroy(world);
}

// Every period of the schedule is a whole number of steps, or the drone is refused: also at other steps. A
// default one follows the step.
static void periods_are_whole_multiples_of_the_step(void **unused)
{
    (void)unused;
    static const struct {
        double dt, imu;   // [s] 0: the default
        const char *says; // NULL: fits
    } list[] = {{0.001, 0, NULL},
                {0.0005, 0, NULL},
                {0.0001, 0, NULL},
                {0.002, 0, NULL},
                {0.0003, 0, NULL},
                {0.002, 0.006, NULL},
                {0.002, 0.003, "imu.period"},
                {0.0003, 0.002, "imu.period"}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        vy_world_def wd = vy_default_world_def();
        wd.dt = list[i].dt;
        wd.environment.nap.period = 10.0 * wd.dt;
        vy_world *world = NULL;
        assert_int_equal(vy_world_create(&wd, &world, NULL), VY_OK);
        vy_drone_def def = vy_default_drone_def();
        if (list[i].imu > 0.0) def.imu.period = list[i].imu;
        vy_error err = {0};
        const vy_status status = vy_world_add_drone(world, &def, NULL, &err);
        assert_int_equal(status, list[i].says == NULL ? VY_OK : VY_BAD_VALUE);
        if (list[i].says != NULL) assert_non_null(strstr(err.text, list[i].says));
        vy_world_destroy(world);
    }
}

// A world grows with what is added, up to a limit that it names; an empty one steps too.
static void worlds_grow(void **unused)
{
    (void)unused;
    enum { COUNT = 4096 };
    const vy_world_def wd = vy_default_world_def();
    const vy_drone_def def = vy_default_drone_def();
    vy_disturbance_def d = breeze();
    d.kind = VY_DISTURBANCE_CONSTANT;
    vy_world *world = fly_in(&wd, &def);
    for (int i = 1; i < 20; ++i) assert_int_equal(vy_world_add_drone(world, &def, NULL, NULL), VY_OK);
    assert_int_equal(vy_world_drone_count(world), 20);
    assert_int_equal(vy_world_add_disturbance(world, &d, NULL), VY_OK);
    assert_int_equal(vy_world_advance(world, 10), 0);
    vy_world_destroy(world);

    vy_error err = {0};
    assert_int_equal(vy_world_create(&wd, &world, NULL), VY_OK);
    for (int i = 0; i < COUNT; ++i) assert_int_equal(vy_world_add_disturbance(world, &d, NULL), VY_OK);
    assert_int_equal(vy_world_add_disturbance(world, &d, &err), VY_FULL);
    assert_string_equal(err.text, "a world has at most 4096 disturbances");
    assert_int_equal(vy_world_advance(world, 10), 0);
    assert_int_equal(vy_world_tick(world), 10);
    vy_world_destroy(world);
}

// Nothing is added after the first step.
static void adding_ends_with_the_first_step(void **unused)
{
    (void)unused;
    vy_world *world = busy_world(1);
    (void)vy_world_step(world);
    const vy_drone_def def = vy_default_drone_def();
    const vy_disturbance_def d = breeze();
    vy_error err = {0};
    assert_int_equal(vy_world_add_drone(world, &def, NULL, &err), VY_BAD_STATE);
    assert_non_null(strstr(err.text, "before the first step"));
    assert_int_equal(vy_world_add_disturbance(world, &d, NULL), VY_BAD_STATE);
    vy_world_destroy(world);
}

// Handles name drones in order of creation; null and unknown ones read nothing.
static void handles_name_drones(void **unused)
{
    (void)unused;
    vy_world *world = busy_world(1);
    const vy_drone_id a = vy_world_drone(world, 0), b = vy_world_drone(world, 1);
    assert_true(a.bits != 0 && b.bits != 0 && a.bits != b.bits);
    assert_true(vy_world_drone(world, 2).bits == 0);
    vy_drone_state s;
    assert_int_equal(vy_world_read_drone(world, b, &s), VY_OK);
    assert_true(s.position.x == 1.0);
    assert_true(s.target.position.z == 1.5 && s.target.yaw == 0.7);
    memset(&s, 0x5a, sizeof s);
    const uint64_t wrong[] = {0, 1, 3, b.bits + 1, (uint64_t)1 << 32, (uint64_t)2 << 32 | 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        assert_int_equal(vy_world_read_drone(world, (vy_drone_id){wrong[i]}, &s), VY_NOT_FOUND);
        assert_int_equal(((unsigned char *)&s)[0], 0x5a);
    }
    vy_world_destroy(world);
}

// Time is tick times step, exactly, also after many steps of a step that has no exact value.
static void time_is_tick_times_step(void **unused)
{
    (void)unused;
    const vy_drone_def def = quiet_drone();
    vy_world *world = fly(&def);
    (void)vy_world_advance(world, 123456);
    assert_int_equal(vy_world_tick(world), 123456);
    assert_true(vy_world_time(world) == 123456 * 0.001);
    vy_world_destroy(world);
}

// Ruling 7 in a world: motors off, no drag, 9.81: -0.981 m/s after 0.1 s.
static void ruling_07_a_drone_falls_in_a_world(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    wd.environment.gravity.uniform.z = -9.81;
    vy_drone_def def = quiet_drone();
    def.vehicle.drag_linear = (vy_vec3){0, 0, 0};
    def.rotor_speed = 0.0;
    vy_world *world = fly_in(&wd, &def);
    (void)vy_world_advance(world, 100);
    assert_near(state_of(world, 0).velocity.z, -0.981, 1e-14);
    assert_near(state_of(world, 0).position.z, 1.0 - 0.04905, 1e-14);
    vy_world_destroy(world);
}

// Rotors at hover speed carry the weight for a minute without a controller: level, and within a micrometre.
static void hover_without_a_controller_stays_put(void **unused)
{
    (void)unused;
    const vy_drone_def def = quiet_drone();
    vy_world *world = fly(&def);
    assert_int_equal(vy_world_advance(world, 60000), 0);
    const vy_drone_state s = state_of(world, 0);
    assert_vec_near(s.position, def.position, 1e-6);
    assert_true(s.attitude.w == 1.0 && s.rate.x == 0.0 && s.rate.y == 0.0 && s.rate.z == 0.0);
    assert_true(s.position.x == 0.0 && s.position.y == 0.0);
    vy_world_destroy(world);
}

// With every noise and bias on, the built-in controller holds its place for a minute: after the first two
// seconds within 2 cm and 2 degrees, for both presets.
static void hover_with_noise_stays_put(void **unused)
{
    (void)unused;
    double farthest = 0.0, steepest = 0.0;
    for (int n = 0; n < 2; ++n) {
        vy_drone_def def = vy_default_drone_def();
        def.vehicle.allocation = (vy_allocation)n;
        vy_world *world = fly(&def);
        for (int i = 0; i < 60000; ++i) {
            (void)vy_world_step(world);
            const vy_drone_state s = state_of(world, 0);
            const double away = check_distance(s.position, def.position);
            assert_true(away < 0.1);
            if (i < 2000) continue;
            farthest = fmax(farthest, away);
            steepest = fmax(steepest, check_angle(s.attitude, (vy_quat){1, 0, 0, 0}));
        }
        assert_int_equal(state_of(world, 0).clamps, 0);
        vy_world_destroy(world);
    }
    print_message("hover: at most %.1f mm and %.2f degrees away\n", 1e3 * farthest, steepest * 180.0 / PI);
    assert_true(farthest < 0.02);
    assert_true(steepest < 2.0 * PI / 180.0);
}

// A body without gravity that spins, or falls, until the limit; checks reason, time, value, and that it has
// ended.
static void expect_failure(const vy_drone_def *def, vec3 gravity, vy_failure_reason reason, uint64_t tick,
                           double value, double limit, const char *what)
{
    vy_world_def wd = vy_default_world_def();
    wd.environment.gravity.uniform = gravity;
    vy_world *world = fly_in(&wd, def);
    const uint32_t events = vy_world_advance(world, 100000);
    const vy_failure f = vy_world_failure(world);
    assert_true((events & VY_EVENT_FAILED) != 0);
    assert_int_equal(f.reason, reason);
    assert_int_equal(f.tick, tick);
    assert_near(f.time, 0.001 * (double)tick, 1e-12);
    assert_near(f.value, value, 1e-9);
    assert_true(f.limit == limit);
    assert_string_equal(f.what, what);
    assert_int_equal(f.body, 0);
    const uint64_t hash = vy_world_hash(world);
    assert_int_equal(vy_world_step(world), VY_EVENT_FAILED); // and it stays as it is
    assert_int_equal(vy_world_tick(world), tick);
    assert_true(vy_world_hash(world) == hash);
    vy_world_destroy(world);
}

static vy_drone_def ball(void)
{
    vy_drone_def def = passive_body();
    def.vehicle.inertia = (vy_mat3){{{0.02, 0, 0}, {0, 0.02, 0}, {0, 0, 0.02}}};
    return def;
}

// Each limit ends the run with its reason, at the first step past it, with the value then.
static void limits_end_the_run(void **unused)
{
    (void)unused;
    const vec3 none = {0, 0, 0}, down = {0, 0, -10};
    vy_drone_def def = ball();
    def.rate = (vy_vec3){0.6, 0.8, 0.0}; // 1 rad/s about a level axis: the tilt is the time
    def.safety.tilt_max = 0.5005;
    expect_failure(&def, none, VY_FAILURE_TILT, 501, 0.501, 0.5005, "tilt");
    def.safety = (vy_safety_def){.rate_max = 0.9};
    expect_failure(&def, none, VY_FAILURE_RATE, 1, 1.0, 0.9, "rate");

    def = ball();
    def.velocity = (vy_vec3){0.6, 0.8, 0.0};
    def.safety.distance_max = 2.0005;
    expect_failure(&def, none, VY_FAILURE_DISTANCE, 2001, 2.001, 2.0005, "distance");
    def.velocity = (vy_vec3){0, 0, 0.5};
    def.safety = (vy_safety_def){.height_min = -1.0, .height_max = 1.50025};
    expect_failure(&def, none, VY_FAILURE_HEIGHT, 1001, 1.5005, 1.50025, "height");
    def.velocity.z = -0.5;
    def.safety = (vy_safety_def){.height_min = 0.24975, .height_max = 3.0};
    expect_failure(&def, none, VY_FAILURE_HEIGHT, 1501, 0.2495, 0.24975, "height");

    def = ball();
    def.safety.speed_max = 2.005;
    expect_failure(&def, down, VY_FAILURE_SPEED, 201, 2.01, 2.005, "speed");
}

// No limit is set by default, and none trips while it is kept; a tilt limit of half a turn or more never
// does.
static void limits_that_are_kept_do_not_trip(void **unused)
{
    (void)unused;
    const double tilts[] = {0.0, 3.141, PI, 4.0, 2.0 * PI, 100.0};
    for (size_t i = 0; i < sizeof tilts / sizeof tilts[0]; ++i) {
        vy_drone_def def = ball();
        def.rate.x = PI; // upside down after a second
        def.safety =
            (vy_safety_def){.tilt_max = tilts[i], .rate_max = 3.2, .distance_max = 1.0, .speed_max = 100.0};
        vy_world *world = fly(&def);
        assert_int_equal(vy_world_advance(world, 3000), i == 1 ? VY_EVENT_FAILED : 0);
        vy_world_destroy(world);
    }
}

// A limit must be exceeded without a break: a body that turns over and over is past 0.5 rad for 264 ms at a
// time.
static void limits_wait_for_sustain(void **unused)
{
    (void)unused;
    vy_drone_def def = ball();
    def.rate.y = 20.0;
    def.safety.tilt_max = 0.5;
    def.safety.sustain = 0.25;
    vy_world_def wd = vy_default_world_def();
    vy_world *world = fly_in(&wd, &def);
    (void)vy_world_advance(world, 5000);
    assert_int_equal(vy_world_failure(world).reason, VY_FAILURE_TILT);
    assert_int_equal(vy_world_failure(world).tick, 26 + 250); // past it at 26 ms, and for 250 ms more
    vy_world_destroy(world);
    def.safety.sustain = 0.28;
    world = fly_in(&wd, &def);
    assert_int_equal(vy_world_advance(world, 5000), 0);
    vy_world_destroy(world);
}

// A state that is not finite freezes the world at that step, names the variable and the drone, and leaves the
// hash of the last sound step; a snapshot from before brings it back to life.
static void a_state_that_is_not_finite_freezes_the_world(void **unused)
{
    (void)unused;
    for (int k = 0; k < 2; ++k) {
        vy_world_def wd = vy_default_world_def();
        vy_drone_def def = passive_body();
        vy_world *world = fly_in(&wd, &def);
        // Damped so much that steps of this length grow instead.
        if (k == 0) def.vehicle.drag_linear = (vy_vec3){1e12, 1e12, 1e12};
        if (k == 1) def.vehicle.damping = (vy_vec3){1e12, 1e12, 1e12};
        def.velocity = def.rate = (vy_vec3){0.1, 0.2, 0.3};
        assert_int_equal(vy_world_add_drone(world, &def, NULL, NULL), VY_OK);
        static unsigned char block[1 << 16];
        uint64_t hash = vy_world_hash(world), ticks = 0;
        while (vy_world_failure(world).reason == VY_FAILURE_NONE && ticks < 100000) {
            hash = vy_world_hash(world);
            vy_world_save(world, block);
            (void)vy_world_step(world);
            ++ticks;
        }
        const vy_failure f = vy_world_failure(world);
        assert_int_equal(f.reason, VY_FAILURE_NOT_FINITE);
        // A rotation without bounds has no attitude, and drag along body axes no direction.
        assert_string_equal(f.what, "body.velocity");
        assert_int_equal(f.body, 1);
        assert_int_equal(f.tick, ticks);
        assert_in_range(ticks, 2, 10);
        assert_true(vy_world_hash(world) == hash);
        assert_int_equal(vy_world_advance(world, 5), VY_EVENT_FAILED);
        assert_int_equal(vy_world_tick(world), ticks);
        assert_int_equal(vy_world_restore(world, block, vy_world_state_size(world), NULL), VY_OK);
        assert_int_equal(vy_world_failure(world).reason, VY_FAILURE_NONE);
        assert_true(vy_world_hash(world) == hash);
        vy_world_destroy(world);
    }
}

// The first failure is the one that is kept, when two drones fail in one step.
static void the_first_failure_is_reported(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    vy_drone_def def = ball();
    def.safety.speed_max = 1.0;
    vy_world *world = fly_in(&wd, &def);
    def.safety.speed_max = 0.9999;
    assert_int_equal(vy_world_add_drone(world, &def, NULL, NULL), VY_OK);
    (void)vy_world_advance(world, 1000);
    assert_int_equal(vy_world_failure(world).tick, 102);
    assert_int_equal(vy_world_failure(world).body, 0);
    vy_world_destroy(world);
}

// Two worlds stepped in turn equal each stepped alone: there is nothing between them.
static void worlds_are_independent(void **unused)
{
    (void)unused;
    vy_world *a = busy_world(1), *b = busy_world(2), *alone_a = busy_world(1), *alone_b = busy_world(2);
    (void)vy_world_advance(alone_a, 1000);
    (void)vy_world_advance(alone_b, 1000);
    for (int i = 0; i < 1000; ++i) {
        (void)vy_world_step(a);
        (void)vy_world_step(b);
    }
    assert_true(vy_world_hash(a) == vy_world_hash(alone_a));
    assert_true(vy_world_hash(b) == vy_world_hash(alone_b));
    assert_true(vy_world_hash(a) != vy_world_hash(b));
    vy_world_destroy(a);
    vy_world_destroy(b);
    vy_world_destroy(alone_a);
    vy_world_destroy(alone_b);
}

// A snapshot fits worlds of the same build only; a wrong one changes nothing.
static void snapshots_are_checked(void **unused)
{
    (void)unused;
    static unsigned char block[1 << 16];
    vy_world *world = busy_world(1);
    const size_t size = vy_world_state_size(world);
    (void)vy_world_advance(world, 50);
    vy_world_save(world, block);
    vy_world *same = busy_world(1);
    assert_int_equal(vy_world_restore(same, block, size, NULL), VY_OK);
    assert_int_equal(vy_world_tick(same), 50);
    (void)vy_world_advance(world, 500);
    (void)vy_world_advance(same, 500);
    assert_true(vy_world_hash(world) == vy_world_hash(same));

    const uint64_t hash = vy_world_hash(same);
    vy_error err = {0};
    assert_int_equal(vy_world_restore(same, block, size - 8, &err), VY_BAD_VALUE);
    assert_int_equal(err.status, VY_BAD_VALUE);
    assert_int_equal(vy_world_restore(same, block, size + 8, NULL), VY_BAD_VALUE);
    block[sizeof(world_block) + offsetof(entry_block, id)] ^= 1; // as of other blocks that take the same room
    assert_int_equal(vy_world_restore(same, block, size, NULL), VY_BAD_VALUE);
    block[sizeof(world_block) + offsetof(entry_block, id)] ^= 1;
    block[offsetof(world_block, failure_reason)] = 200; // damaged
    assert_int_equal(vy_world_restore(same, block, size, NULL), VY_BAD_VALUE);
    memset(block, 0xff, size);
    assert_int_equal(vy_world_restore(same, block, size, NULL), VY_BAD_VALUE);
    assert_true(vy_world_hash(same) == hash);
    const vy_drone_def def = vy_default_drone_def();
    vy_world *other = fly(&def);
    vy_world_save(other, block);
    assert_int_equal(vy_world_restore(same, block, vy_world_state_size(other), NULL), VY_BAD_VALUE);
    assert_true(vy_world_hash(same) == hash);
    vy_world_destroy(world);
    vy_world_destroy(same);
    vy_world_destroy(other);
}

typedef struct notes {
    uint64_t count, last;
    int answer;
} notes;

static int note(void *self, const vy_world *world)
{
    notes *n = self;
    n->count += 1;
    n->last = vy_world_tick(world);
    return n->answer;
}

// A sink hears of every step, the failing one included; its refusal is reported and stops nothing.
static void a_sink_hears_every_step(void **unused)
{
    (void)unused;
    notes n = {0};
    vy_drone_def def = ball();
    def.safety.speed_max = 1.0;
    vy_world *world = fly(&def);
    vy_world_set_sink(world, (vy_sink){.self = &n, .write = note});
    assert_int_equal(vy_world_advance(world, 50), 0);
    n.answer = 1;
    assert_int_equal(vy_world_advance(world, 10), VY_EVENT_SINK);
    (void)vy_world_advance(world, 1000);
    assert_int_equal(n.count, 102);
    assert_int_equal(n.last, 102);
    vy_world_set_sink(world, (vy_sink){0});
    vy_world_destroy(world);
}

/// Who was called in a step, in order, and what the world showed to each.
typedef struct witness {
    vy_world *world;
    char seen[8];
    size_t count;
    vy_drone_state before;
} witness;

static void witness_call(void *self, const vy_samples *samples, vy_intent *intent)
{
    witness *w = self;
    const vy_drone_state now = state_of(w->world, 0);
    w->seen[w->count++] = 'c';
    assert_int_equal(samples->tick, vy_world_tick(w->world)); // time has gone on
    assert_true(now.velocity.x > w->before.velocity.x);       // the disturbance and the plant have acted
    assert_int_equal(samples->imu.tick, samples->tick);       // the sensors have looked at it
    assert_true(samples->imu.accel.x > 0.0);
    assert_memory_equal(now.motor_command, w->before.motor_command, sizeof now.motor_command);
    intent->rung = VY_RUNG_MOTORS;
    for (int i = 0; i < 4; ++i) intent->motors[i] = 0.5;
}

static int witness_reply(void *self, const vy_world *world, uint32_t drone, const vy_intent *intent)
{
    witness *w = self;
    (void)world;
    (void)drone;
    w->seen[w->count++] = 'r';
    assert_true(intent->motors[0] == 0.5);
    return 0;
}

static int witness_write(void *self, const vy_world *world)
{
    witness *w = self;
    w->seen[w->count++] = 'w';
    const vy_drone_state now = state_of(world, 0);
    assert_true(now.motor_command[0] == 0.5);                          // the drive abstraction layer is done,
    assert_true(now.rotor_speed[0] == w->before.rotor_speed[0]);       // its command acts from the next step,
    assert_int_equal(vy_world_failure(world).reason, VY_FAILURE_RATE); // limits were looked at
    return 0;
}

static int witness_check(void *self, const vy_world *world)
{
    witness *w = self;
    (void)world;
    w->seen[w->count++] = 'k';
    return 0;
}

// Disturbance, plant, sensors, controller, drive abstraction layer, safety, log, replay check: each finds
// what the one before it left, within one step.
static void stages_follow_their_order(void **unused)
{
    (void)unused;
    witness w = {0};
    vy_drone_def def = quiet_drone();
    def.controller.kind = VY_CONTROLLER_CALLBACK;
    def.controller.call = witness_call;
    def.controller.self = &w;
    def.controller.period = def.controller.rate_period = 0.001;
    def.safety.rate_max = 1e-9;
    w.world = fly(&def);
    vy_disturbance_def push = vy_default_disturbance_def();
    push.kind = VY_DISTURBANCE_CONSTANT;
    push.force = (vy_vec3){1e-3, 0.0, 0.0};
    push.torque = (vy_vec3){0.0, 0.0, 1e-5};
    assert_int_equal(vy_world_add_disturbance(w.world, &push, NULL), VY_OK);
    vy_world_set_sink(w.world, (vy_sink){.self = &w, .write = witness_write, .reply = witness_reply});
    vy_world_set_replay(w.world, (vy_replay){.self = &w, .check = witness_check});
    w.before = state_of(w.world, 0);
    (void)vy_world_step(w.world);
    assert_string_equal(w.seen, "crwk");
    vy_world_destroy(w.world);
}

// At the longest step that is not warned of, with every noise on, the built-in controller still holds its
// place.
static void hover_at_five_milliseconds_stays_put(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    wd.dt = 0.005;
    vy_drone_def def = vy_default_drone_def();
    def.imu.period = def.controller.rate_period = def.controller.period = 0.005;
    vy_world *world = fly_in(&wd, &def);
    assert_int_equal(vy_world_advance(world, 400) & VY_EVENT_FAILED, 0);
    for (int i = 0; i < 12000; ++i) {
        (void)vy_world_step(world);
        assert_true(check_distance(state_of(world, 0).position, def.position) < 0.05);
    }
    vy_world_destroy(world);
}

// Every call that can fail says so, and leaves its outputs as they were.
static void ruling_20_failures_leave_outputs_alone(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    vy_world *none = (vy_world *)&wd;
    wd.dt = -1.0;
    assert_int_not_equal(vy_world_create(&wd, &none, NULL), VY_OK);
    assert_null(none); // a created object's pointer is NULL

    vy_drone_def def = vy_default_drone_def();
    vy_world *world = fly(&def);
    const uint64_t hash = vy_world_state_hash(world);
    unsigned char mark[4096], out[sizeof mark];
    memset(mark, 0xa5, sizeof mark);
    memcpy(out, mark, sizeof out);
    const vy_drone_id stranger = {12345};
    const vy_body_id no_body = {12345};
    const vy_joint_id no_joint = {12345};
    def.vehicle.mass = -1.0;
    assert_int_not_equal(vy_world_add_drone(world, &def, (vy_drone_id *)out, NULL), VY_OK);
    assert_memory_equal(out, mark, sizeof out);
    assert_int_not_equal(
        vy_world_add_joint(world, &(vy_joint_def){.kind = VY_JOINT_BALL}, (vy_joint_id *)out, NULL), VY_OK);
    assert_memory_equal(out, mark, sizeof out);
    assert_int_equal(vy_world_read_drone(world, stranger, (vy_drone_state *)out), VY_NOT_FOUND);
    assert_memory_equal(out, mark, sizeof out);
    assert_int_equal(vy_world_read_joint(world, no_joint, (vy_joint_state *)out), VY_NOT_FOUND);
    assert_memory_equal(out, mark, sizeof out);
    assert_int_equal(vy_world_read_loads(world, no_body, (vy_loads *)out), VY_NOT_FOUND);
    assert_memory_equal(out, mark, sizeof out);
    assert_int_equal(vy_world_read_energy(world, no_body, (vy_energy *)out), VY_NOT_FOUND);
    assert_memory_equal(out, mark, sizeof out);
    assert_int_equal(vy_world_certificate(world, no_body, (vy_certificate *)out), VY_NOT_FOUND);
    assert_memory_equal(out, mark, sizeof out);
    assert_true(vy_world_state_hash(world) == hash);
    vy_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_allocates_nothing),
        cmocka_unit_test(no_memory_is_reported),
        cmocka_unit_test(one_drone_is_small),
        cmocka_unit_test(bad_worlds_are_refused_by_name),
        cmocka_unit_test(bad_drones_are_refused_by_name),
        cmocka_unit_test(periods_are_whole_multiples_of_the_step),
        cmocka_unit_test(worlds_grow),
        cmocka_unit_test(adding_ends_with_the_first_step),
        cmocka_unit_test(handles_name_drones),
        cmocka_unit_test(time_is_tick_times_step),
        cmocka_unit_test(ruling_07_a_drone_falls_in_a_world),
        cmocka_unit_test(hover_without_a_controller_stays_put),
        cmocka_unit_test(hover_with_noise_stays_put),
        cmocka_unit_test(limits_end_the_run),
        cmocka_unit_test(limits_that_are_kept_do_not_trip),
        cmocka_unit_test(limits_wait_for_sustain),
        cmocka_unit_test(a_state_that_is_not_finite_freezes_the_world),
        cmocka_unit_test(the_first_failure_is_reported),
        cmocka_unit_test(worlds_are_independent),
        cmocka_unit_test(snapshots_are_checked),
        cmocka_unit_test(a_sink_hears_every_step),
        cmocka_unit_test(stages_follow_their_order),
        cmocka_unit_test(hover_at_five_milliseconds_stays_put),
        cmocka_unit_test(ruling_20_failures_leave_outputs_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
