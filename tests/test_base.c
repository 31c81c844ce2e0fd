// test_base.c - statuses, errors, arena, hash, finiteness, and the floating-point environment.
#include "check.h"
#include "base/arena.h"
#include "base/decimal.h"
#include "base/fail.h"
#include "base/finite.h"
#include "base/cpu.h"
#include "base/hash.h"
#include "volery/world.h"
#include <fenv.h>
#include <stdlib.h>
#include <string.h>

// Every status has a sentence of its own; a number that is none has one too.
static void status_texts_are_distinct(void **unused)
{
    (void)unused;
    static const vy_status all[] = {
#define X(name, text) name,
        VY_STATUS_LIST(X)
#undef X
    };
    const size_t count = sizeof all / sizeof all[0];
    for (size_t i = 0; i < count; ++i) {
        assert_int_equal(all[i], i);
        assert_true(strlen(vy_status_text(all[i])) > 1);
        for (size_t j = 0; j < i; ++j)
            assert_string_not_equal(vy_status_text(all[i]), vy_status_text(all[j]));
    }
    assert_string_equal(vy_status_text((vy_status)count), "unknown status");
    assert_string_equal(vy_status_text((vy_status)-1), "unknown status");
}

// vy_fail returns its status, fills the error and wipes what an earlier failure left there.
static void fail_fills_the_error(void **unused)
{
    (void)unused;
    vy_error err;
    memset(&err, 0x55, sizeof err);
    assert_int_equal(vy_fail(&err, VY_FULL, "%d of %s", 3, "them"), VY_FULL);
    assert_int_equal(err.status, VY_FULL);
    assert_string_equal(err.text, "3 of them");
    assert_int_equal(err.line, 0);
    assert_int_equal(err.column, 0);
    assert_string_equal(err.file, "");
    assert_int_equal(vy_fail(NULL, VY_IO, "nobody listens"), VY_IO);
}

// A sentence that is too long is cut, and still ends.
static void fail_cuts_a_long_sentence(void **unused)
{
    (void)unused;
    char text[1000];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    vy_error err;
    (void)vy_fail(&err, VY_BAD_VALUE, "%s", text);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

// Blocks are aligned, apart, inside the arena; a full arena says NULL.
static void arena_hands_out_and_refuses(void **unused)
{
    (void)unused;
    static _Alignas(64) unsigned char memory[1024];
    vy_arena arena = {memory, sizeof memory, 0};
    unsigned char *a = vy_arena_alloc(&arena, 1), *b = vy_arena_alloc(&arena, 100);
    assert_ptr_equal(a, memory);
    assert_ptr_equal(b, memory + 64);
    assert_null(vy_arena_alloc(&arena, 1024 - 192 + 1));
    assert_null(vy_arena_alloc(&arena, SIZE_MAX));
    assert_ptr_equal(vy_arena_alloc(&arena, 1024 - 192), memory + 192);
    assert_null(vy_arena_alloc(&arena, 1));
    assert_int_equal(arena.used, 1024);
}

// XXH3-64 of the empty input with seed 0 is a published value; the others are those of xxHash's own test
// generator (bytes from a multiplicative sequence), as in its sanity table.
static void hash_is_xxh3(void **unused)
{
    (void)unused;
    unsigned char bytes[2367];
    uint64_t g = 2654435761u;
    for (size_t i = 0; i < sizeof bytes; ++i) {
        bytes[i] = (unsigned char)(g >> 56);
        g *= 11400714785074694797u;
    }
    assert_true(vy_hash64(bytes, 0) == 0x2d06800538d394c2u);
    assert_true(vy_hash64(bytes, 1) == 0xc44bdff4074eecdbu);
    assert_true(vy_hash64(bytes, 6) == 0x27b56a84cd2d7325u);
    assert_true(vy_hash64(bytes, 12) == 0xa713daf0dfbb77e7u);
    assert_true(vy_hash64(bytes, 24) == 0xa3fe70bf9d3510ebu);
    assert_true(vy_hash64(bytes, 48) == 0x397da259ecba1f11u);
    assert_true(vy_hash64(bytes, 80) == 0xbcdefbbb2c47c90au);
    assert_true(vy_hash64(bytes, 195) == 0xcd94217ee362ec3au);
    assert_true(vy_hash64(bytes, 403) == 0xcdeb804d65c6dea4u);
    assert_true(vy_hash64(bytes, 512) == 0x617e49599013cb6bu);
    assert_true(vy_hash64(bytes, 2048) == 0xdd59e2c3a5f038e0u);
    assert_true(vy_hash64(bytes, 2240) == 0x6e73a90539cf2948u);
    assert_true(vy_hash64(bytes, 2367) == 0xcb37aeb9e5d361edu);
    for (size_t size = 0; size <= sizeof bytes && vy_cpu_best() >= VY_CPU_AVX2; ++size) {
        assert_true(vy_hash64_avx2(bytes, size) == vy_hash64_baseline(bytes, size));
    }
}

// One bad value anywhere, of any kind and sign, is found, among plain values and among the largest ones,
// which are good however they add up.
static void finite_finds_every_place(void **unused)
{
    (void)unused;
    enum { COUNT_MAX = 35 };
    const double bad[] = {INFINITE, -INFINITE, NOT_A_NUMBER, -NOT_A_NUMBER, 1.1 * REAL_MAX, -DBL_MAX};
    double x[COUNT_MAX];
    for (size_t count = 0; count <= COUNT_MAX; ++count) {
        for (int extreme = 0; extreme < 2; ++extreme) {
            for (size_t i = 0; i < COUNT_MAX; ++i) x[i] = extreme ? REAL_MAX : (double)i - DBL_TRUE_MIN;
            assert_int_equal(vy_all_bounded(x, count), 1);
            for (size_t place = 0; place < COUNT_MAX; ++place) {
                for (size_t k = 0; k < sizeof bad / sizeof bad[0]; ++k) {
                    const double good = x[place];
                    x[place] = bad[k];
                    assert_int_equal(vy_all_bounded(x, count), place >= count);
                    x[place] = good;
                }
            }
        }
    }
}

static vy_world *world_of(const vy_drone_def *drone)
{
    const vy_world_def def = vy_default_world_def();
    vy_world *world = NULL;
    assert_int_equal(vy_world_create(&def, &world, NULL), VY_OK);
    assert_int_equal(vy_world_add_drone(world, drone, NULL, NULL), VY_OK);
    return world;
}

// Rounding as a caller may have set it is put right for building and for a step, and given back after each.
static void rounding_of_the_caller_changes_nothing(void **unused)
{
    (void)unused;
    vy_drone_def drone = vy_default_drone_def();
    drone.rate = (vy_vec3){0.5, -0.3, 0.2};
    vy_world *plain = world_of(&drone);
    (void)vy_world_advance(plain, 500);
    const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(fesetround(modes[i]), 0);
        const uint64_t before = fpu_mode() & FPU_MODE_BITS;
        vy_world *world = world_of(&drone);
        uint64_t after = fpu_mode() & FPU_MODE_BITS;
        for (int k = 0; k < 500 && after == before; ++k) {
            (void)vy_world_step(world);
            after = fpu_mode() & FPU_MODE_BITS;
        }
        (void)fesetround(FE_TONEAREST);
        assert_true(after == before);
        assert_true(vy_world_hash(world) == vy_world_hash(plain));
        vy_world_destroy(world);
    }
    vy_world_destroy(plain);
}

static int change(void *self) { return fesetround(*(const int *)self); }

static void change_in_call(void *self, const vy_samples *samples, vy_intent *intent)
{
    intent->rung = VY_RUNG_ATTITUDE; // whose length is rounded on the way in
    intent->thrust = 0.3;
    intent->attitude = (vy_quat){1.0, 0.1, samples->estimate.position.x, 0.3};
    (void)change(self);
}

static int change_in_write(void *self, const vy_world *world) { return world == NULL || change(self); }

static int change_in_log(void *self, const vy_world *world, uint32_t drone, const vy_intent *intent)
{
    return world == NULL || drone > 0 || intent == NULL || change(self);
}

static int change_in_reply(void *self, const vy_world *world, uint32_t drone, vy_intent *intent)
{
    (void)world, (void)drone, (void)intent, (void)change(self);
    return 0;
}

// A controller, a sink or a replay source that changes rounding changes nothing after it, within one call for
// many steps, whichever of them it is.
static void rounding_of_plug_ins_changes_nothing(void **unused)
{
    (void)unused;
    int nearest = FE_TONEAREST, upward = FE_UPWARD;
    uint64_t wanted = 0;
    for (int who = 0; who <= 5; ++who) { // 0: nobody
        void *selves[6] = {&nearest, &nearest, &nearest, &nearest, &nearest, &nearest};
        selves[who] = who > 0 ? &upward : &nearest;
        vy_drone_def drone = vy_default_drone_def();
        drone.controller.kind = VY_CONTROLLER_CALLBACK;
        drone.controller.call = change_in_call;
        drone.controller.self = selves[1];
        vy_world *world = world_of(&drone);
        if (who == 2) vy_world_set_sink(world, (vy_sink){.self = selves[2], .write = change_in_write});
        if (who == 3) vy_world_set_sink(world, (vy_sink){.self = selves[3], .reply = change_in_log});
        if (who == 4) vy_world_set_replay(world, (vy_replay){.self = selves[4], .reply = change_in_reply});
        if (who == 5) vy_world_set_replay(world, (vy_replay){.self = selves[5], .check = change_in_write});
        (void)vy_world_advance(world, 300);
        const uint64_t after = fpu_mode() & FPU_MODE_BITS;
        (void)fesetround(FE_TONEAREST);
        assert_true(after == FPU_MODE_WANTED);
        if (who == 0) wanted = vy_world_hash(world);
        assert_true(vy_world_hash(world) == wanted);
        vy_world_destroy(world);
    }
}

// Flush-to-zero is put right too: a denormal velocity survives a step, and the caller's mode comes back.
static void flush_to_zero_of_the_caller_changes_nothing(void **unused)
{
    (void)unused;
#if defined(__x86_64__)
    vy_world_def def = vy_default_world_def();
    def.environment.gravity.uniform = (vy_vec3){0.0, 0.0, 0.0};
    vy_drone_def drone = vy_default_drone_def();
    drone.velocity = (vy_vec3){1e-310, 0.0, 0.0};
    drone.vehicle.rotor_count = 0;
    drone.vehicle.drag_linear = (vy_vec3){0.0, 0.0, 0.0};
    drone.controller.kind = VY_CONTROLLER_NONE;
    vy_world *world = NULL;
    assert_int_equal(vy_world_create(&def, &world, NULL), VY_OK);
    const uint64_t flushing = fpu_mode() | 0x8040u;
    fpu_set_mode(flushing);
    const vy_status status = vy_world_add_drone(world, &drone, NULL, NULL);
    (void)vy_world_step(world);
    const uint64_t after = fpu_mode();
    fpu_set_mode(FPU_MODE_WANTED);
    assert_int_equal(status, VY_OK);
    assert_true((after & FPU_MODE_BITS) == (flushing & FPU_MODE_BITS));
    vy_drone_state s;
    assert_int_equal(vy_world_read_drone(world, vy_world_drone(world, 0), &s), VY_OK);
    assert_true(s.velocity.x == 1e-310);
    vy_world_destroy(world);
#else
    skip();
#endif
}

// strtod() in the C locale reads the same texts to the same bits; what it also reads, ours does not.
static void decimals_are_those_of_the_c_library(void **unused)
{
    (void)unused;
    uint64_t x = 1;
    for (int round = 0; round < 20000; ++round) {
        char text[64];
        double value = 7.0, wanted;
        x = x * 6364136223846793005u + 1442695040888963407u;
        const uint64_t mixed = x ^ x >> 29;
        memcpy(&wanted, &mixed, sizeof wanted);
        if (!(fabs(wanted) < 1e308)) continue;
        const int size = snprintf(text, sizeof text, round % 2 == 0 ? "%.*e" : "%+.*E", round % 20, wanted);
        wanted = strtod(text, NULL);
        if (isinf(wanted)) continue;
        assert_int_equal(vy_decimal_read(text, (size_t)size, 0, &value), size);
        assert_true(memcmp(&value, &wanted, sizeof value) == 0);
    }
}

static void decimals_end_where_they_end(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        size_t length;
        double value;
    } cases[] = {{"28 g", 2, 28.0},      {"-.5e-1x", 6, -0.05},
                 {"+7.", 3, 7.0},        {"1e", 1, 1.0},
                 {"1e+", 1, 1.0},        {"1.2.3", 3, 1.2},
                 {"0x10", 1, 0.0},       {"1e999999999", 11, (double)INFINITY},
                 {"1e-99999999", 11, 0}, {"", 0, 7.0},
                 {".", 0, 7.0},          {"-", 0, 7.0},
                 {"e5", 0, 7.0},         {"inf", 0, 7.0},
                 {"1,5", 1, 1.0},        {" 1", 0, 7.0}};
    double value = 7.0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        value = 7.0;
        assert_int_equal(vy_decimal_read(cases[i].text, strlen(cases[i].text), 0, &value), cases[i].length);
        assert_true(value == cases[i].value);
        const int whole = cases[i].length > 0 && cases[i].text[cases[i].length] == '\0';
        assert_int_equal(vy_decimal_parse(cases[i].text, strlen(cases[i].text), &value), whole);
    }
    // A power of ten goes into the one rounding: 28 g are 0.028 kg, while 28 * 1e-3 are not.
    assert_int_equal(vy_decimal_read("28", 2, -3, &value), 2);
    assert_true(value == 0.028);
    char longest[402];
    memset(longest, '1', sizeof longest);
    assert_int_equal(vy_decimal_read(longest, 400, -390, &value), 400);
    assert_near(value, 1111111111.1111111, 1e-6);
    assert_int_equal(vy_decimal_read(longest, 401, 0, &value), 0);
    static const char *const special[] = {"nan", "-INF", "+Infinity", ".inf", "-.NaN"};
    for (size_t i = 0; i < sizeof special / sizeof special[0]; ++i)
        assert_int_equal(vy_decimal_is_not_finite(special[i], strlen(special[i])), 1);
    assert_int_equal(vy_decimal_is_not_finite("infin", 5), 0);
    assert_int_equal(vy_decimal_is_not_finite("", 0), 0);
    assert_int_equal(vy_decimal_is_not_finite("1", 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_texts_are_distinct),
        cmocka_unit_test(fail_fills_the_error),
        cmocka_unit_test(fail_cuts_a_long_sentence),
        cmocka_unit_test(arena_hands_out_and_refuses),
        cmocka_unit_test(hash_is_xxh3),
        cmocka_unit_test(decimals_are_those_of_the_c_library),
        cmocka_unit_test(decimals_end_where_they_end),
        cmocka_unit_test(finite_finds_every_place),
        cmocka_unit_test(rounding_of_the_caller_changes_nothing),
        cmocka_unit_test(rounding_of_plug_ins_changes_nothing),
        cmocka_unit_test(flush_to_zero_of_the_caller_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
