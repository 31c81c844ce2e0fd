// test_campaign.c - plans, their cases, templates, lanes, shards.
#define _XOPEN_SOURCE 700 // mkdtemp
#include "batch/start.h"
#include "campaign/plan.h"
#include "campaign/sample.h"
#include "campaign/shard.h"
#include "volery/batch.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD "volery: 1\ncampaign: test\nscenario: base.yaml\n"
#define MASS "  - {key: drones.alpha.vehicle.mass, from: 25 g, to: 32 g}\n"
#define WIND "  - {key: \"world.wind.constant[0]\", distribution: normal, mean: 0.5, deviation: 2}\n"

static char folder[] = "/tmp/volery-campaign-XXXXXX";

static char *in_folder(const char *name)
{
    char *path = malloc(strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    char *path = in_folder(name);
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
    free(path);
}

static char *find(const char *name, const char *from)
{
    (void)from;
    char *path = in_folder(name);
    if (access(path, R_OK) == 0) return path;
    free(path);
    return NULL;
}

static int setup(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) return -1;
    write_file("base.yaml", "volery: 1\nduration: 0.2 s\nworld: {wind: {constant: [0, 0, 0]}}\n"
                            "drones: [{name: alpha, vehicle: crazyflie2x}]\n"
                            "expect: [{quantity: position_error, at: end, max: 1 mm}]\n");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static vy_plan *load(const char *text)
{
    vy_plan *plan = NULL;
    vy_diagnostics found;
    write_file("plan.yaml", text);
    char *path = in_folder("plan.yaml"), *printed;
    if (vy_plan_load(path, find, &plan, &found) != VY_OK) {
        printed = vy_diagnostics_print(&found);
        print_error("%s", printed);
        free(printed);
    }
    vy_diagnostics_destroy(&found);
    free(path);
    assert_non_null(plan);
    return plan;
}

static void permutations_are_permutations(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 2, 3, 10, 64, 1000, 4097};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
        const uint64_t n = sizes[s];
        unsigned char *seen = calloc(n, 1);
        uint64_t fixed = 0;
        for (uint64_t i = 0; i < n; ++i) {
            const uint64_t to = vy_sample_permute(42, 3, n, i);
            assert_true(to < n);
            assert_false(seen[to]);
            seen[to] = 1;
            fixed += to == i;
        }
        if (n >= 1000) assert_true(fixed < 10); // one on average
        free(seen);
    }
}

// The first points that scipy.stats.qmc.Sobol(d, scramble=False) has, of dimensions 1, 2, 3, 20 and 48; it
// takes them in the order of Gray codes.
static void sobol_points_are_joe_and_kuos(void **state)
{
    (void)state;
    static const int dimensions[] = {0, 1, 2, 19, 47};
    static const double points[5][8] = {
#include "sobol_points.inl"
    };
    for (int d = 0; d < 5; ++d) {
        uint32_t v[32];
        vy_sobol_directions(dimensions[d], v);
        for (uint32_t i = 0; i < 8; ++i) {
            const uint32_t at = 1000 + i;
            assert_true((double)vy_sobol_point(v, at ^ at >> 1) * 0x1p-32 == points[d][i]);
        }
    }
}

static void scrambled_sobol_points_are_nets(void **state)
{
    (void)state;
    uint32_t a[32], b[32];
    vy_sobol_directions(0, a);
    vy_sobol_directions(1, b);
    vy_sobol_scramble(5, 0, a);
    vy_sobol_scramble(5, 1, b);
    for (int split = 0; split <= 4;
         ++split) { // each box of area 1/16, whatever its sides, has one of 16 points
        unsigned char seen[16] = {0};
        for (uint32_t i = 0; i < 16; ++i) {
            const uint32_t x = split == 0 ? 0 : vy_sobol_point(a, i) >> (32 - split);
            const uint32_t y = split == 4 ? 0 : vy_sobol_point(b, i) >> (28 + split);
            const uint32_t box = x << (4 - split) | y;
            assert_false(seen[box]);
            seen[box] = 1;
        }
    }
}

static void normal_quantiles(void **state)
{
    (void)state;
    static const double known[][2] = {{0.5, 0.0},
                                      {0.975, 1.959963984540054},
                                      {0.025, -1.959963984540054},
                                      {0.999, 3.090232306167813},
                                      {1e-10, -6.361340902404056},
                                      {0.25, -0.6744897501960817}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
        assert_true(fabs(vy_normal_quantile(known[i][0]) - known[i][1]) < 2e-15 * (1.0 + fabs(known[i][1])));
        assert_true(fabs(vy_normal_cdf(known[i][1]) - known[i][0]) < 1e-15);
    }
    for (double x = -8.0; x < 8.0; x += 0.01)
        assert_true(fabs(vy_normal_cdf(x) - 0.5 * erfc(-x * M_SQRT1_2)) < 1e-15);
}

static void latin_hypercubes_have_one_in_every_stratum(void **state)
{
    (void)state;
    vy_plan *p = load(HEAD "sample: latin\ncases: 300\nreplicates: 3\nvary:\n" MASS
                           "  - {key: \"world.wind.constant[0]\", from: -1, to: 1}\n");
    for (int r = 0; r < 3; ++r) {
        for (int k = 0; k < 2; ++k) {
            unsigned char seen[100] = {0};
            for (uint64_t i = 0; i < 100; ++i) {
                vy_case c;
                vy_plan_case(p, (uint64_t)r * 100 + i, &c);
                const vy_plan_variable *v = &p->vary[k];
                const int stratum = (int)((c.numbers[k] - v->low) / (v->high - v->low) * 100.0);
                assert_in_range(stratum, 0, 99);
                assert_false(seen[stratum]);
                seen[stratum] = 1;
            }
        }
    }
    vy_plan_destroy(p);
}

static double moment(vy_plan *p, int k, double *variance)
{
    double sum = 0.0, squares = 0.0;
    for (uint64_t i = 0; i < (uint64_t)p->cases; ++i) {
        vy_case c;
        vy_plan_case(p, i, &c);
        sum += c.numbers[k];
        squares += c.numbers[k] * c.numbers[k];
    }
    *variance = squares / p->cases - sum / p->cases * (sum / p->cases);
    return sum / p->cases;
}

// Means and variances of closed forms, within five standard errors of 40,000 draws.
static void draws_have_their_moments(void **state)
{
    (void)state;
    vy_plan *p = load(
        HEAD "cases: 40000\nvary:\n" MASS WIND
             "  - {key: \"world.wind.constant[1]\", distribution: triangular, from: 0, mode: 1, to: 4}\n"
             "  - {key: drones.alpha.vehicle.motor_lag, distribution: log-uniform, from: 10 ms, to: 100 ms}\n"
             "  - {key: \"world.wind.constant[2]\", distribution: values, values: [0, 1, 2, 3]}\n");
    static const double mean[] = {28.5, 0.5, 5.0 / 3.0, 39.08650337129266, 1.5};
    static const double spread[] = {49.0 / 12.0, 4.0, 13.0 / 18.0, 621.99, 1.25};
    for (int k = 0; k < 5; ++k) {
        double variance;
        const double m = moment(p, k, &variance), error = 5.0 * sqrt(spread[k] / p->cases);
        assert_true(fabs(m - mean[k]) < error);
        assert_true(fabs(variance / spread[k] - 1.0) < 0.05);
    }
    vy_plan_destroy(p);
}

static void a_template_makes_what_loading_makes(void **state)
{
    (void)state;
    vy_plan *p = load(HEAD "cases: 50\nset: [\"drones.alpha.vehicle.cd=1.1\"]\nvary:\n" MASS WIND
                           "  - {key: drones.alpha.controller, distribution: values, values: [\"{}\", "
                           "\"{gains: {rate: 15}}\"]}\n");
    char *path = in_folder("base.yaml");
    for (uint64_t i = 0; i < 50; ++i) {
        vy_case c;
        vy_error err;
        vy_diagnostics found;
        vy_scenario *made = NULL, *loaded = NULL;
        char set[5][300];
        const char *items[5];
        vy_plan_case(p, i, &c);
        snprintf(set[0], sizeof set[0], "drones.alpha.vehicle.cd=1.1");
        for (int k = 0; k < 3; ++k) snprintf(set[k + 1], sizeof set[0], "%s=%s", p->vary[k].key, c.texts[k]);
        snprintf(set[4], sizeof set[0], "seed=%s", c.texts[3]);
        for (int k = 0; k < 5; ++k) items[k] = set[k];
        const vy_scenario_options options = {.overrides = items, .override_count = 5};
        assert_int_equal(vy_plan_scenario(p, &c, &made, &err), VY_OK);
        assert_int_equal(vy_scenario_load(path, &options, &loaded, &found), VY_OK);
        char *a = vy_scenario_print(made), *b = vy_scenario_print(loaded);
        assert_string_equal(a, b);
        assert_true(vy_scenario_hash(made) == vy_scenario_hash(loaded));
        free(a);
        free(b);
        vy_diagnostics_destroy(&found);
        vy_scenario_destroy(made);
        vy_scenario_destroy(loaded);
    }
    free(path);
    vy_plan_destroy(p);
}

// Worlds with masses, winds and noise of their own, side by side, have the bits that each has alone.
static void lanes_have_the_bits_of_worlds(void **state)
{
    (void)state;
    enum { COUNT = 19 };
    vy_plan *p =
        load(HEAD "cases: 19\nvary:\n" MASS WIND "  - {key: \"drones.alpha.start.position\", distribution: "
                  "values, values: [\"[0, 0, 1]\", \"[0, 1, 2]\"]}\n");
    vy_batch_def def = vy_default_batch_def();
    vy_batch *batch = NULL;
    vy_scenario *s[COUNT];
    vy_error err;
    def.scenario = p->base;
    def.world_count = COUNT;
    def.chain = 1;
    def.threads = 1;
    def.observe_count = 0;
    assert_int_equal(vy_batch_create(&def, &batch, &err), VY_OK);
    assert_true(vy_batch_has_lanes(batch));
    for (uint32_t i = 0; i < COUNT; ++i) {
        vy_case c;
        vy_plan_case(p, i, &c);
        assert_int_equal(vy_plan_scenario(p, &c, &s[i], &err), VY_OK);
        assert_int_equal(vy_batch_start(batch, i, s[i], &err), VY_OK);
    }
    vy_batch_step(batch, 200);
    for (uint32_t i = 0; i < COUNT; ++i) {
        vy_world *world = NULL;
        assert_int_equal(vy_scenario_build(s[i], &world, &err), VY_OK);
        vy_world_advance(world, 200);
        assert_true(vy_world_hash(world) == vy_batch_hash(batch, i));
        vy_world_destroy(world);
        if (i > 0) assert_true(vy_batch_hash(batch, i) != vy_batch_hash(batch, 0));
    }
    s[0]->environment.gravity.uniform.z *= 1.5; // worlds side by side share the gravity
    assert_int_equal(vy_batch_start(batch, 0, s[0], &err), VY_BAD_VALUE);
    for (uint32_t i = 0; i < COUNT; ++i) vy_scenario_destroy(s[i]);
    vy_batch_destroy(batch);
    vy_plan_destroy(p);
}

static void fill_rows(const vy_plan *p, uint64_t first, uint64_t last, double *rows)
{
    for (uint64_t i = first; i < last; ++i) {
        double *row = rows + (i - first) * vy_row_cells(p);
        *vy_row_result(row) = (vy_result){.index = i, .final_hash = i * 77, .outcome = VY_OUTCOME_COMPLETED};
        vy_row_numbers(row)[0] = (double)i;
    }
}

static void shards_are_read_whole_or_not_at_all(void **state)
{
    (void)state;
    vy_plan *p = load(HEAD "cases: 23\nvary:\n" MASS), *other = load(HEAD "cases: 23\nseed: 2\nvary:\n" MASS);
    uint64_t first, last, sum = 0;
    for (uint64_t i = 0; i < 5; ++i) { // every case is in exactly one shard
        vy_shard_range(p, i, 5, &first, &last);
        assert_true(first == sum);
        sum = last;
    }
    assert_true(sum == 23);
    double *rows = calloc(23, vy_row_cells(p) * sizeof(double)), *again = NULL;
    char *path = in_folder("shard");
    vy_error err;
    vy_shard_range(p, 2, 5, &first, &last);
    fill_rows(p, first, last, rows);
    assert_int_equal(vy_shard_write(path, ".part", p, 2, 5, rows, &err), VY_OK);
    assert_int_equal(vy_shard_read(path, p, 2, 5, &again, &err), VY_OK);
    assert_memory_equal(rows, again, (size_t)(last - first) * vy_row_cells(p) * sizeof(double));
    free(again);
    assert_int_equal(vy_shard_read(path, p, 1, 5, &again, &err), VY_OTHER_VERSION);
    assert_int_equal(vy_shard_read(path, other, 2, 5, &again, &err), VY_OTHER_VERSION);
    assert_non_null(strstr(err.text, "another plan"));

    FILE *f = fopen(path, "rb");
    unsigned char data[4096];
    const size_t size = fread(data, 1, sizeof data, f);
    const double *found;
    fclose(f);
    assert_true(size < sizeof data);
    for (size_t i = 0; i < size; ++i) { // no byte can change unseen
        data[i] ^= 1;
        assert_int_not_equal(vy_shard_parse(data, size, p, 2, 5, &found, &err), VY_OK);
        data[i] ^= 1;
        assert_int_not_equal(vy_shard_parse(data, i, p, 2, 5, &found, &err), VY_OK);
    }
    assert_int_equal(vy_shard_parse(data, size, p, 2, 5, &found, &err), VY_OK);
    data[offsetof(vy_shard_header, version)] ^= 1;
    assert_int_equal(vy_shard_parse(data, size, p, 2, 5, &found, &err), VY_OTHER_VERSION);
    assert_non_null(strstr(err.text, "results of Volery"));
    data[offsetof(vy_shard_header, version)] ^= 1;
    data[offsetof(vy_shard_header, physics)] ^= 1;
    assert_int_equal(vy_shard_parse(data, size, p, 2, 5, &found, &err), VY_OTHER_VERSION);
    assert_non_null(strstr(err.text, "results of physics revision"));
    free(rows);
    free(path);
    vy_plan_destroy(p);
    vy_plan_destroy(other);
}

// A whole shard whose rows have values that the plan does not list.
static void values_are_those_of_the_list(void **state)
{
    (void)state;
    vy_plan *p = load(HEAD "cases: 4\nvary:\n  - {key: \"world.wind.constant[2]\", distribution: values, "
                           "values: [0, 1]}\n");
    double *rows = calloc(4, vy_row_cells(p) * sizeof(double)), *again = NULL;
    char *path = in_folder("listed");
    static const double numbers[] = {0.0, 1.0, 2.0, -1.0, (double)NAN};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        vy_error err;
        fill_rows(p, 0, 4, rows);
        for (size_t k = 0; k < 4; ++k) vy_row_numbers(rows + k * vy_row_cells(p))[0] = numbers[i];
        assert_int_equal(vy_shard_write(path, ".part", p, 0, 1, rows, &err), VY_OK);
        assert_int_equal(vy_shard_read(path, p, 0, 1, &again, &err), i < 2 ? VY_OK : VY_DAMAGED);
        free(again);
    }
    free(path);
    free(rows);
    vy_plan_destroy(p);
}

// A wall clock's verdict may be another one next time, so the hash of all is without it; any other result
// counts, with its place.
static void the_wall_clock_is_outside_of_the_hash(void **state)
{
    (void)state;
    const vy_result a = {.index = 3, .final_hash = 77, .outcome = VY_OUTCOME_FAILED};
    vy_result b = a;
    b.wall_clock = 1;
    assert_true(vy_results_hash(5, &b) == 5);
    assert_true(vy_results_hash(5, &a) != 5);
    b = a;
    b.index = 4;
    assert_true(vy_results_hash(5, &a) != vy_results_hash(5, &b));
    b = a;
    b.final_hash = 78;
    assert_true(vy_results_hash(5, &a) != vy_results_hash(5, &b));
}

static void only_draws_of_their_own_are_independent(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int independent;
    } plans[] = {{HEAD "cases: 20\nvary:\n" MASS, 1},
                 {HEAD "cases: 20\n", 1}, // by their seeds
                 {HEAD "cases: 20\nseeds: same\nvary:\n" MASS, 1},
                 {HEAD "cases: 20\nseeds: same\n", 0},
                 {HEAD "cases: 20\nrepeat: 2\nvary:\n" MASS, 0},
                 {HEAD "cases: 20\nsample: latin\nvary:\n" MASS, 0}};
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; ++i) {
        vy_plan *p = load(plans[i].text);
        assert_int_equal(vy_plan_is_independent(p), plans[i].independent);
        vy_plan_destroy(p);
    }
}

// A mistake has one sentence at its line and column.
static void mistakes_have_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line, column;
        const char *part;
    } wrong[] = {
        {HEAD "case: 3\n", 4, 1, "did you mean cases?"},
        {"campaign: x\nscenario: base.yaml\ncases: 3\n", 1, 1, "volery: 1"},
        {HEAD, 1, 1, "cases is missing"},
        {HEAD "cases: 0\n", 4, 8, "between 1 and"},
        {HEAD "cases: 3\nsample: sobl\n", 5, 9, "did you mean sobol?"},
        {HEAD "cases: 5\nvary:\n  - {key: drones.alpha.vehicle.mas, from: 1 g, to: 2 g}\n", 6, 11,
         "did you mean mass?"},
        {HEAD "cases: 5\nvary:\n  - {key: drones.alpha.vehicle.mass, from: 1 m, to: 2 m}\n", 6, 44,
         "expected a number in kg"},
        {HEAD "cases: 5\nvary:\n  - {key: drones.beta.vehicle.mass, from: 1 g, to: 2 g}\n", 6, 11,
         "nothing in the list is called beta"},
        {HEAD "cases: 5\nvary:\n  - {key: drones.alpha.vehicle.mass, from: 25 g, to: 2 kg}\n", 6, 54,
         "the same unit"},
        {HEAD "cases: 5\nvary:\n  - {key: drones.alpha.vehicle.mass, from: 25 g, to: 20 g}\n", 6, 54,
         "to must be above from"},
        {HEAD "cases: 5\nvary:\n  - {key: drones.alpha.vehicle.mass, from: 25 g}\n", 6, 11,
         "needs `from` and `to`"},
        {HEAD "cases: 5\nvary:\n  - {key: drones.alpha.vehicle.mass, from: 25 g, to: 1e12 g}\n", 6, 54,
         "above its speed_max"},
        {HEAD "cases: 5\nvary:\n  - {key: drones.alpha.vehicle.mass, distribution: normal, mean: 25 g}\n", 6,
         11, "needs `mean` and `deviation`"},
        {HEAD "cases: 5\nvary:\n" MASS MASS, 7, 11, "varies already"},
        {HEAD "cases: 5\nvary:\n" MASS
              "  - {key: drones.alpha.vehicle, distribution: values, values: [hexa]}\n",
         6, 11, "varies already"},
        {HEAD "cases: 5\nvary:\n  - {key: drones.alpha.vehicle, distribution: values, values: [crazyflie2x, "
              "hexxa]}\n",
         6, 77, "hexxa"},
        {HEAD "cases: 5\nvary:\n  - {key: \"expect[0].max\", from: 1 m, to: 2 m}\n", 6, 11,
         "must be the same"},
        {HEAD "sample: latin\ncases: 15\nvary:\n" MASS, 5, 8, "do not make 10 replicates"},
        {HEAD "sample: sobol\ncases: 30\nvary:\n" MASS, 5, 8, "a power of two"},
        {HEAD "sample: saltelli\ncases: 30\nvary:\n" MASS, 5, 8, "24 or 48"},
        {HEAD "sample: grid\nvary:\n" MASS, 6, 11, "needs `values`, or `steps`"},
        {HEAD "sample: grid\ncases: 7\nvary:\n  - {key: drones.alpha.vehicle.mass, from: 1 g, to: 2 g, "
              "steps: 6}\n",
         5, 8, "the grid has 6"},
        {HEAD "cases: 5\nset: [mass]\n", 5, 7, "key=value"},
        {HEAD "cases: 5\nset: [\"drones.alpha.vehicle.mas=3\"]\n", 5, 7, "did you mean mass?"},
        {HEAD "cases: 5\nstop: {limit: 0.1, looks: [3, 2]}\n", 5, 27, "each larger"},
        {HEAD "cases: 5\nstop: {limit: 0.1, looks: [3, 9]}\n", 5, 27, "at most the number of cases"},
        {HEAD "sample: latin\ncases: 10\nreplicates: 2\nstop: {limit: 0.1, looks: [3]}\nvary:\n" MASS, 7, 15,
         "independent"},
        {"volery: 1\ncampaign: test\nscenario: none.yaml\ncases: 5\n", 3, 11, "there is no file none.yaml"},
    };
    char *path = in_folder("plan.yaml");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        vy_plan *plan = NULL;
        vy_diagnostics found;
        write_file("plan.yaml", wrong[i].text);
        const vy_status status = vy_plan_load(path, find, &plan, &found);
        char *printed = vy_diagnostics_print(&found);
        if (status == VY_OK || found.errors != 1 || found.items[0].line != wrong[i].line ||
            found.items[0].column != wrong[i].column || strstr(found.items[0].text, wrong[i].part) == NULL)
            fail_msg("%s\n-> %s, wanted %d:%d %s", wrong[i].text, printed, wrong[i].line, wrong[i].column,
                     wrong[i].part);
        free(printed);
        vy_diagnostics_destroy(&found);
        vy_plan_destroy(plan);
    }
    free(path);
}

static void grids_and_lists(void **state)
{
    (void)state;
    static const char *const two =
        "  - {key: drones.alpha.vehicle.mass, from: 1 g, to: 3 g, steps: 3}\n"
        "  - {key: \"world.wind.constant[0]\", distribution: values, values: [4, 5, 6]}\n";
    char text[600];
    snprintf(text, sizeof text, HEAD "sample: grid\nrepeat: 2\nvary:\n%s", two);
    vy_plan *p = load(text);
    vy_case c, d;
    assert_int_equal(p->cases, 18);
    vy_plan_case(p, 2 * (3 * 1 + 2), &c); // the second mass, the third wind
    vy_plan_case(p, 2 * (3 * 1 + 2) + 1, &d);
    assert_true(c.numbers[0] == 2.0 && c.numbers[1] == 2.0);
    assert_string_equal(c.texts[0], "2 g");
    assert_string_equal(c.texts[1], "6");
    assert_true(d.numbers[0] == 2.0 && c.seed != d.seed);
    vy_plan_destroy(p);
    snprintf(text, sizeof text, HEAD "sample: list\nvary:\n%s", two);
    p = load(text);
    assert_int_equal(p->cases, 3);
    vy_plan_case(p, 2, &c);
    assert_string_equal(c.texts[0], "3 g");
    assert_string_equal(c.texts[1], "6");
    vy_plan_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(permutations_are_permutations),
        cmocka_unit_test(sobol_points_are_joe_and_kuos),
        cmocka_unit_test(scrambled_sobol_points_are_nets),
        cmocka_unit_test(normal_quantiles),
        cmocka_unit_test(latin_hypercubes_have_one_in_every_stratum),
        cmocka_unit_test(draws_have_their_moments),
        cmocka_unit_test(a_template_makes_what_loading_makes),
        cmocka_unit_test(lanes_have_the_bits_of_worlds),
        cmocka_unit_test(shards_are_read_whole_or_not_at_all),
        cmocka_unit_test(values_are_those_of_the_list),
        cmocka_unit_test(the_wall_clock_is_outside_of_the_hash),
        cmocka_unit_test(only_draws_of_their_own_are_independent),
        cmocka_unit_test(mistakes_have_their_place),
        cmocka_unit_test(grids_and_lists),
    };
    return cmocka_run_group_tests_name("campaign", tests, setup, teardown);
}
