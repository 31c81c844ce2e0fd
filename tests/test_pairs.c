// test_pairs.c - every pair of options flown together, and what each flight must show.
//
//   test_pairs                      many options in each scenario, as make test does
//   test_pairs each                 every pair in turn, and why some are refused
//   test_pairs random COUNT [SEED]  scenarios at random: make pairs RUNS=COUNT
//   test_pairs hashes COUNT [SEED]  a line for each: configuration and last hash, to compare builds
//   test_pairs write COUNT FOLDER   scenarios for tests/pairs_test.sh
//   see test_pairs file SCENARIO        what one scenario shows
#include "pairs/pairs.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// --- a failure, made small

static int fails_alike(node *tree, const char *oracle, uint64_t seed)
{
    char *text = node_print(tree);
    const verdict v = examine(text, strcmp(oracle, "set") == 0 ? tree : NULL, seed);
    free(text);
    return v.oracle != NULL && strcmp(v.oracle, oracle) == 0;
}

// Without every key that the failure does not need. The length of the flight stays: it would take long.
static node *minimise(const node *tree, const char *oracle, uint64_t seed)
{
    node *least = node_copy(tree);
    for (int changed = strcmp(oracle, "set") != 0; changed;) {
        changed = 0;
        for (int i = 0; i < node_count(least);) {
            node *less = node_copy(least);
            const char *key = node_number(less, i)->key;
            const int kept = strcmp(key, "duration") == 0 || strcmp(key, "step") == 0;
            node_remove(less, node_number(less, i));
            if (!kept && fails_alike(less, oracle, seed)) {
                node_free(least);
                least = less;
                changed = 1;
            } else {
                node_free(less);
                ++i;
            }
        }
    }
    return least;
}

static void report(const node *tree, const verdict *v, uint64_t seed)
{
    node *least = minimise(tree, v->oracle, seed);
    char *text = node_print(least), path[300];
    const verdict again = examine(text, strcmp(v->oracle, "set") == 0 ? least : NULL, seed);
    snprintf(path, sizeof path, "%s/%s-%llu.yaml", pairs_folder, v->oracle, (unsigned long long)seed);
    FILE *out = fopen(path, "w");
    if (out != NULL) {
        fputs(text, out);
        fclose(out);
    }
    print_error("%s: %s\n%stest_pairs file %s\n\n", v->oracle, again.oracle != NULL ? again.text : v->text,
                text, path);
    free(text);
    node_free(least);
}

// --- flights

static int flown, failures, ended, slice = 1;

static void fly(node *tree, uint64_t seed)
{
    if (flown++ % slice != 0) return;
    char *text = node_print(tree);
    const verdict v = examine(text, tree, seed);
    free(text);
    ended += v.ended;
    if (v.oracle == NULL) return;
    ++failures;
    if (getenv("VOLERY_PAIRS_FIRST") != NULL) { // one failure is enough to know
        print_error("%s: %s\n", v.oracle, v.text);
        exit(1);
    }
    report(tree, &v, seed);
}

// A scenario at random that is accepted.
static node *at_random(uint64_t seed)
{
    char said[300];
    for (double richness = 0.35;; richness *= 0.5) {
        const wish w = {.seed = seed, .richness = richness};
        node *tree = generate(&w);
        if (make_valid(tree, said, sizeof said)) return tree;
        node_free(tree);
    }
}

static void fly_random(int count, uint64_t seed)
{
    for (int i = 0; i < count; ++i) {
        node *tree = at_random(seed + (uint64_t)i);
        fly(tree, seed + (uint64_t)i);
        node_free(tree);
    }
    print_message("%d scenarios at random, %d ended early, %d failures\n", count, ended, failures);
}

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
        static const char *const own[] = {"kind: callback", "kind: plugin",    "kind: process", "kind: pilot",
                                          "kind: px4",      "kind: ardupilot", "canyon.csv"};
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

// --- all pairs

enum { PACKED = 400 }; // scenarios of make test
static pair_set seen, excluded;
static int listing;

static int is_in(const int *list, int count, int option)
{
    for (int i = 0; i < count; ++i) {
        if (list[i] == option) return 1;
    }
    return 0;
}

// Both options are of one key: one of them at most can be chosen.
static int is_one_key(int a, int b)
{
    const char *x = option_name(a), *y = option_name(b);
    return strncmp(x, y, strcspn(x, "=") + 1) == 0;
}

static void count_pairs(const node *tree)
{
    int options[OPTION_CAP];
    const int count = options_in(tree, options);
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < i; ++k) pair_add(&seen, options[i], options[k]);
}

// A scenario with what is wished for, as far as it is accepted, or NULL where the first two options are not.
// `said`: why not; empty when they cannot even be written together.
static node *with_both(const wish *w, char *said, size_t size)
{
    int options[OPTION_CAP];
    node *tree = generate(w);
    int count = options_in(tree, options);
    said[0] = '\0';
    if (is_in(options, count, w->forced[0]) && is_in(options, count, w->forced[1]) &&
        make_valid(tree, said, size)) {
        count = options_in(tree, options);
        if (is_in(options, count, w->forced[0]) && is_in(options, count, w->forced[1])) return tree;
    }
    node_free(tree);
    return NULL;
}

// How many pairs of `option` with those wished for are new; -1: it cannot be among them.
static int gain_of(const wish *w, int option)
{
    int gain = 0;
    for (int i = 0; i < w->forced_count; ++i) {
        if (is_one_key(w->forced[i], option) || pair_has(&excluded, w->forced[i], option)) return -1;
        gain += !pair_has(&seen, w->forced[i], option);
    }
    return gain;
}

enum { TOGETHER = 45 }; // options of a scenario

// More options that have not been seen with those wished for.
static void wish_more(wish *w)
{
    random_source r = {w->seed};
    for (int share = 4; share >= 1; share /= 2) { // those with the most news first
        const int count = option_count(), first = (int)(random_bits(&r) % (unsigned)count);
        for (int n = 0; n < count && w->forced_count < TOGETHER; ++n) {
            const int option = (first + n * 7919) % count, gain = gain_of(w, option);
            if (gain > 0 && 5 * gain >= share * w->forced_count) w->forced[w->forced_count++] = option;
        }
    }
}

// Fly both together, with as much else as can be. 0: they are refused.
static int fly_both(int a, int b, uint64_t seed, char *said, size_t size)
{
    char other[300];
    wish least = {.seed = seed, .forced = {a, b}, .forced_count = 2}, more = least;
    node *tree = with_both(&least, said, size), *full = NULL;
    if (tree == NULL && said[0] != '\0') { // it may need what is not asked for
        least.richness = 0.15;
        tree = with_both(&least, other, sizeof other);
    }
    if (tree == NULL) {
        pair_add(&excluded, a, b);
        return 0;
    }
    more.richness = 0.02;
    wish_more(&more);
    full = with_both(&more, other, sizeof other);
    if (full != NULL) {
        node_free(tree);
        tree = full;
    }
    fly(tree, seed);
    count_pairs(tree);
    node_free(tree);
    return 1;
}

// --- what is refused on purpose

enum { SENTENCE_CAP = 400 };
static char *sentences[SENTENCE_CAP];
static int sentence_pairs[SENTENCE_CAP], sentence_count;

// A sentence without its place, figures and names.
static void plain_sentence(const char *said, char *out, size_t size)
{
    const char *text = strstr(said, ": ");
    size_t used = 0;
    for (text = text != NULL ? text + 2 : said; *text != '\0' && used + 2 < size;) {
        const size_t figure = strspn(text, "+-.0123456789");
        if (figure > 0 && strcspn(text, "0123456789") < figure) {
            out[used++] = '#';
            text += figure;
        } else {
            out[used++] = *text++;
        }
    }
    out[used] = '\0';
}

static void note_sentence(const char *said)
{
    char text[300];
    plain_sentence(said, text, sizeof text);
    int i = 0;
    while (i < sentence_count && strcmp(sentences[i], text) != 0) ++i;
    assert_true(i < SENTENCE_CAP);
    if (i == sentence_count) sentences[sentence_count++] = strdup(text);
    ++sentence_pairs[i];
}

// Every pair in turn: flown, or refused.
static void fly_each_pair(void)
{
    int pairs = 0, apart = 0, said_no = 0;
    const int count = option_count();
    for (int a = 0; a < count; ++a) {
        for (int b = a + 1; b < count; ++b) {
            char said[300];
            if (is_one_key(a, b)) continue;
            ++pairs;
            if (pair_has(&seen, a, b) || fly_both(a, b, (uint64_t)(a * count + b) * 8, said, sizeof said))
                continue;
            apart += said[0] == '\0';
            said_no += said[0] != '\0';
            if (said[0] == '\0') continue;
            note_sentence(said);
            if (listing) printf("%s with %s: %s\n", option_name(a), option_name(b), said);
        }
    }
    print_message(
        "%d options, %d pairs: %d flown together in %d scenarios, %d exclude each other, %d are refused in "
        "%d sentences; %d ended early, %d failures\n",
        count, pairs, pairs - apart - said_no, flown, apart, said_no, sentence_count, ended, failures);
}

// Scenarios of many options each, those first that have not been flown together.
static void fly_packed(int scenarios)
{
    const int count = option_count();
    int covered = 0;
    for (int n = 0; n < scenarios; ++n) {
        wish w = {.seed = (uint64_t)n, .richness = 0.05, .forced_count = 1};
        w.forced[0] = n % count;
        wish_more(&w);
        char said[300];
        node *tree = generate(&w);
        if (make_valid(tree, said, sizeof said)) {
            fly(tree, w.seed);
            count_pairs(tree);
        }
        if (said[0] != '\0') note_sentence(said);
        node_free(tree);
    }
    for (int a = 0; a < count; ++a)
        for (int b = a + 1; b < count; ++b) covered += pair_has(&seen, a, b);
    print_message(
        "%d options, %d pairs of them flown together in %d scenarios; %d ended early, %d failures\n", count,
        covered, flown, ended, failures);
}

static void options_fly_together(void **unused)
{
    (void)unused;
    fly_packed(PACKED);
    assert_int_equal(failures, 0);
}

// Scenarios that once failed, each cut down to what it takes.
static const char *const found[] = {
    // A body without a shape, on a joint with a drone that touches another.
    "{volery: 1, step: 0.01, drones: [{}, {}], bodies: [{mass: 0.0538, inertia: [2.06e-3, 2.15e-3, "
    "2.11e-3]}], "
    "joints: [{kind: distance, a: drone1, b: body0, length: 0.0855}], contacts: {mode: on}}",
    // An empty table had two hashes.
    "{volery: 1, duration: 0.1, drones: [{shape: {kind: hull}}], contacts: {mode: off}}",
};

static void what_was_found_stays_good(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof found / sizeof *found; ++i) {
        const verdict v = examine(found[i], NULL, 1);
        if (v.oracle != NULL || v.refused[0] != '\0')
            print_error("%s %s%s: %s\n", found[i], v.refused, v.oracle, v.text);
        assert_true(v.oracle == NULL && v.refused[0] == '\0');
    }
}

// The intent of a start that the vehicle cannot follow was taken, and then ignored.
static void a_brick_makes_no_wrench(void **unused)
{
    (void)unused;
    const verdict v =
        examine("{volery: 1, drones: [{vehicle: {mass: 1, inertia: [0.1, 0.1, 0.1]}, controller: {kind: "
                "none, intent: {rung: rates}}}]}",
                NULL, 1);
    assert_true(strstr(v.refused, "makes no wrench") != NULL);
}

static int show_file(const char *path)
{
    static char text[1 << 20];
    FILE *in = fopen(path, "r");
    if (in == NULL) return 2;
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    const verdict v = examine(text, NULL, 1);
    if (v.refused[0] != '\0')
        print_message("refused: %s\n", v.refused);
    else
        print_message("%s: %s\n", v.oracle != NULL ? v.oracle : "good", v.text);
    return v.oracle != NULL;
}

int main(int argc, char **argv)
{
    static char folder[] = "/tmp/volery-pairs-XXXXXX";
    const char *mode = argc > 1 ? argv[1] : "";
    const int count = argc > 2 ? atoi(argv[2]) : 0;
    pairs_folder = mkdtemp(folder);
    assert_non_null(pairs_folder);
    options_of_schema();
    if (strcmp(mode, "file") == 0 && argc > 2) return show_file(argv[2]);
    if (strcmp(mode, "write") == 0 && argc > 3) {
        write_scenarios(count, argv[3]);
    } else if (strcmp(mode, "hashes") == 0) {
        print_hashes(count, argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
    } else if (strcmp(mode, "random") == 0) {
        fly_random(count, argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
    } else if (strcmp(mode, "each") == 0) {
        listing = 1;
        fly_each_pair();
    } else {
        const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_found_stays_good),
                                           cmocka_unit_test(a_brick_makes_no_wrench),
                                           cmocka_unit_test(options_fly_together)};
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
        slice = 10; // they take long
#endif
        failures += cmocka_run_group_tests(tests, NULL, NULL);
    }
    if (failures == 0) rmdir(pairs_folder);
    return failures > 0;
}
