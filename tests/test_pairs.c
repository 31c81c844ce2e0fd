// test_pairs.c - every pair of options flown together, and what each flight must show.
//
//   test_pairs                      many options in each scenario, as make test does: four pairs in five
//   test_pairs all                  every pair, and one in 50 of those that are listed as refused
//   test_pairs each                 every pair in turn, and why some are refused
//   test_pairs options              their names
//   test_pairs dry                  the same list without flights
//   test_pairs new                  what is to be added to it for options that it does not know, likewise
//   test_pairs stale COUNT [SEED]   listed pairs that COUNT scenarios at random have, without flights
//   test_pairs random COUNT [SEED]  scenarios at random, on JOBS processors: make pairs RUNS=COUNT
//   test_pairs hashes COUNT [SEED]  a line for each: configuration and last hash, to compare builds
//   test_pairs write COUNT FOLDER   scenarios for tests/pairs_test.sh
//   test_pairs print SEED           the scenario that a seed gives
//   test_pairs file SCENARIO [SEED] what one scenario shows
#include "pairs/pairs.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REFUSED "tests/data/pairs.txt"
// Scenarios of make test, fewer where each takes long, and of all pairs at most.
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
enum { PACKED = 12, ALL = 3000 };
#else
enum { PACKED = 150, ALL = 3000 };
#endif
enum { SEEN = 3000 }; // scenarios at random whose pairs are none of the refused ones

static void print_hashes(int count, uint64_t seed)
{
    for (int i = 0; i < count; ++i) {
        node *tree = at_random(seed + (uint64_t)i);
        char *text = node_print(tree);
        const verdict v = fly_once(text);
        printf("%llu %016llx %016llx %llu\n", (unsigned long long)seed + (unsigned long long)i,
               (unsigned long long)v.config, (unsigned long long)v.end, (unsigned long long)v.steps);
        free(text);
        node_free(tree);
    }
}

// Scenarios that need no program of the user's.
static void write_scenarios(int count, const char *folder)
{
    int written = 0;
    for (uint64_t seed = 1; written < count; ++seed) {
        node *tree = at_random(seed);
        char *text = node_print(tree), path[300];
        static const char *const own[] = {"kind: callback",  "kind: plugin",     "kind: process",
                                          "kind: pilot",     "kind: px4",        "kind: ardupilot",
                                          "kind: crazyflie", "kind: betaflight", "canyon.csv"};
        int plain = 1;
        for (size_t i = 0; i < sizeof own / sizeof own[0]; ++i) plain &= strstr(text, own[i]) == NULL;
        snprintf(path, sizeof path, "%s/pair-%llu.yaml", folder, (unsigned long long)seed);
        FILE *out = plain ? fopen(path, "w") : NULL;
        if (out != NULL) {
            fputs(text, out);
            fclose(out);
            ++written;
        }
        free(text);
        node_free(tree);
    }
}

static void options_fly_together(void **unused)
{
    (void)unused;
    assert_true(read_refused(REFUSED) > 0);
    pairs_of_known = 1;
    fly_dense(PACKED);
    fly_remaining(0, NULL);
    assert_int_equal((int)all_totals->failures, 0);
}

// Scenarios that once failed, each cut down to what it takes.
static const char *const found[] = {
    // A body without a shape, on a joint with a drone that touches another.
    "{volery: 1, step: 0.01, drones: [{}, {}], bodies: [{mass: 0.0538, inertia: [2.06e-3, 2.15e-3, "
    "2.11e-3]}], "
    "joints: [{kind: distance, a: drone1, b: body0, length: 0.0855}], contacts: {mode: on}}",
    // An empty table had two hashes.
    "{volery: 1, duration: 0.1, drones: [{shape: {kind: hull}}], contacts: {mode: off}}",
    // The lanes of a batch had no calibrated sensors.
    "{volery: 1, step: 0.005, duration: 0.22, drones: [{sensors: {calibration: ground}}]}",
    // A rate that overflows within a step with contacts.
    "{volery: 1, step: 0.005, duration: 0.47, drones: [{vehicle: {base: crazyflie21-brushless, mass: 0.0405, "
    "centre_of_mass: [-0.0892, -0.0602, -0.0571], thrust_cubic: 0.3}}], terrain: {kind: plane}}",
    // The air has no pressure there that a barometer could measure.
    "{volery: 1, duration: 0.05, drones: [{start: {position: [0, 0, -1e12]}, sensors: {baro: {base: "
    "bmp388}}, "
    "estimator: {kind: ekf}}]}",
    // A thruster without lag left what it had been in the first stage of a step.
    "{volery: 1, step: 0.002, duration: 0.12, drones: [{vehicle: {mass: 0.0165, inertia: [1.36e-5, 1.44e-5, "
    "1.49e-5], thrusters: [{position: [-0.0107, 0.0323, -0.0164], thrust_max: 0.165}]}, "
    "controller: {kind: callback}}]}",
    // A body in open loop whose drag is neglected: what the certificate states is put to use.
    "{volery: 1, duration: 0.1, drones: [{}], bodies: [{mass: 1, inertia: [0.01, 0.01, 0.01], area: 0.01, "
    "cd: 1, "
    "position: [5, 0, 9], velocity: [0.3, 0, 0]}]}",
    // RK4 of a coupled step turned too far.
    "{volery: 1, step: 0.01, duration: 0.52, drones: [{vehicle: {base: crazyflie2x, centre_of_mass: [0.127, "
    "0.0997, "
    "-0.148]}, controller: {rate_period: 0.2}}], disturbances: [{kind: sinusoid}]}",
    // The stop of a cable that had broken acted once more, and the state was refused.
    "{volery: 1, duration: 0.027, drones: [{}], joints: [{kind: cable, a: drone0, length: 0.085, "
    "break_force: 0.006}]}",
};

static void what_was_found_stays_good(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof found / sizeof *found; ++i) {
        const verdict v = check_in_process(found[i], NULL, 1);
        if (v.oracle != NULL || v.refused[0] != '\0') {
            print_error("%s %s%s: %s\n", found[i], v.refused, v.oracle, v.text);
            ++all_totals->failures;
        }
        assert_true(v.oracle == NULL && v.refused[0] == '\0');
    }
}

// The intent of a start that the vehicle cannot follow was taken, and then ignored.
static void a_brick_makes_no_wrench(void **unused)
{
    (void)unused;
    const verdict v = check_in_process(
        "{volery: 1, drones: [{vehicle: {mass: 1, inertia: [0.1, 0.1, 0.1]}, controller: {kind: "
        "none, intent: {rung: rates}}}]}",
        NULL, 1);
    assert_true(strstr(v.refused, "makes no wrench") != NULL);
}

static int show_file(const char *path, uint64_t seed)
{
    static char text[1 << 20];
    FILE *in = fopen(path, "r");
    if (in == NULL) return 2;
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    const verdict v = check_in_process(text, NULL, seed);
    if (v.refused[0] != '\0')
        print_message("refused: %s\n", v.refused);
    else
        print_message("%s: %s\n", v.oracle != NULL ? v.oracle : "good", v.text);
    return v.oracle != NULL;
}

int main(int argc, char **argv)
{
    // In memory where there is such a folder: every log is written through to its disk.
    static char in_memory[] = "/dev/shm/volery-pairs-XXXXXX", on_disk[] = "/tmp/volery-pairs-XXXXXX";
    const char *mode = argc > 1 ? argv[1] : "";
    const int count = argc > 2 ? atoi(argv[2]) : 0;
    pairs_folder = mkdtemp(in_memory);
    if (pairs_folder == NULL) pairs_folder = mkdtemp(on_disk);
    assert_non_null(pairs_folder);
    const uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    totals_open();
    options_of_schema();
    if (strcmp(mode, "file") == 0 && argc > 2) return show_file(argv[2], seed);
    if (strcmp(mode, "print") == 0 && argc > 2) {
        node *tree = at_random(strtoull(argv[2], NULL, 10));
        char *text = node_print(tree);
        fputs(text, stdout);
        free(text);
        node_free(tree);
    } else if (strcmp(mode, "all") == 0) {
        assert_true(read_refused(REFUSED) > 0);
        pairs_of_known = 1;
        fly_dense(ALL);
        fly_remaining(50, NULL);
    } else if (strcmp(mode, "stale") == 0) {
        assert_true(read_refused(REFUSED) > 0);
        pairs_of_known = pairs_report_stale = 1;
        cover_at_random(count, seed);
        fly_remaining(0, NULL);
    } else if (strcmp(mode, "options") == 0) {
        for (int i = 0; i < option_count(); ++i) printf("%s\n", option_name(i));
    } else if (strcmp(mode, "write") == 0 && argc > 3) {
        write_scenarios(count, argv[3]);
    } else if (strcmp(mode, "hashes") == 0) {
        print_hashes(count, seed);
    } else if (strcmp(mode, "random") == 0) {
        pairs_sampled = 1;
        fly_random(count, seed);
    } else if (strcmp(mode, "each") == 0 || strcmp(mode, "dry") == 0 || strcmp(mode, "new") == 0) {
        pairs_of_new = strcmp(mode, "new") == 0;
        pairs_without_flights = pairs_of_new || strcmp(mode, "dry") == 0;
        read_refused(REFUSED);
        if (pairs_without_flights) cover_at_random(SEEN, 1); // what flies by chance is not refused
        fly_dense(argc > 2 ? count : ALL);
        fly_remaining(1, stdout);
    } else {
        const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_found_stays_good),
                                           cmocka_unit_test(a_brick_makes_no_wrench),
                                           cmocka_unit_test(options_fly_together)};
        all_totals->failures += cmocka_run_group_tests(tests, NULL, NULL);
    }
    if (all_totals->failures == 0) rmdir(pairs_folder);
    return all_totals->failures > 0;
}
