// plan_schema.c - the table of everything a plan may say.
#include "campaign/plan_schema.h"
#include "base/schema_rows.h"
#include <string.h>

// The distributions that are drawn from, and those of which a grid takes `steps` values.
#define DRAWN \
    (1u << VY_PLAN_UNIFORM | 1u << VY_PLAN_LOG_UNIFORM | 1u << VY_PLAN_NORMAL | 1u << VY_PLAN_TRIANGULAR)
#define STEPPED (1u << VY_PLAN_UNIFORM | 1u << VY_PLAN_LOG_UNIFORM)

static void init_value(void *object, int index)
{
    (void)index;
    memset(object, 0, sizeof(vy_plan_value));
}

static const vy_schema_row value_rows[] = {
    ROW("value", TEXT, vy_plan_value, text, .size = VY_PLAN_TEXT_CAP, .help = "as in a scenario"),
};
static const vy_schema_table value_table = {.title = "Value",
                                            .help = "A value as it would be written in the scenario.",
                                            .size = sizeof(vy_plan_value),
                                            .init = init_value,
                                            ROWS(value_rows)};
static const vy_schema_table set_table = {.title = "Set",
                                          .help = "A change of the scenario for all cases, key=value.",
                                          .size = sizeof(vy_plan_value),
                                          .init = init_value,
                                          ROWS(value_rows)};

static const vy_choice draws[] = {
    CHOICE("uniform", VY_PLAN_UNIFORM, "evenly from `from` to `to`"),
    CHOICE("log-uniform", VY_PLAN_LOG_UNIFORM, "evenly in the logarithm"),
    CHOICE("normal", VY_PLAN_NORMAL, "of a mean and a deviation; cut at `from` and `to` where given"),
    CHOICE("triangular", VY_PLAN_TRIANGULAR, "from `from` to `to`, most often near `mode`"),
    CHOICE("values", VY_PLAN_VALUES, "one of a list, each as likely"),
};
static const vy_schema_row vary_rows[] = {
    ROW("distribution", CHOICE, vy_plan_variable, distribution, CHOICES(draws), .help = "how it is drawn"),
    ROW("key", TEXT, vy_plan_variable, key, .size = VY_PLAN_TEXT_CAP, .flags = VY_ROW_REQUIRED,
        .help =
            "what varies, as in --set: drones.alpha.vehicle.mass, world.wind.constant[0], faults[0].start"),
    ROW("from", TEXT, vy_plan_variable, from, .size = VY_PLAN_NUMBER_CAP, .when = DRAWN,
        .help = "the smallest, with its unit"),
    ROW("to", TEXT, vy_plan_variable, to, .size = VY_PLAN_NUMBER_CAP, .when = DRAWN, .help = "the largest"),
    ROW("mean", TEXT, vy_plan_variable, mean, .size = VY_PLAN_NUMBER_CAP, .when = 1u << VY_PLAN_NORMAL,
        .help = "of the normal distribution"),
    ROW("deviation", TEXT, vy_plan_variable, deviation, .size = VY_PLAN_NUMBER_CAP,
        .when = 1u << VY_PLAN_NORMAL, .help = "its standard deviation"),
    ROW("mode", TEXT, vy_plan_variable, mode, .size = VY_PLAN_NUMBER_CAP, .when = 1u << VY_PLAN_TRIANGULAR,
        .help = "the most frequent"),
    ROW("steps", COUNT, vy_plan_variable, steps, .range = WITHIN(2, 1000000), .when = STEPPED,
        .default_text = "none",
        .help = "of a grid or list: how many values from `from` to `to`, both included"),
    ROW("values", LIST, vy_plan_variable, values, .table = &value_table, .size = VY_PLAN_VALUE_CAP,
        .count_offset = offsetof(vy_plan_variable, value_count), .flags = VY_ROW_ALLOCATED,
        .range = {1, 0, 0}, .when = 1u << VY_PLAN_VALUES,
        .help = "each as it would be written in the scenario, in quotes where "
                "it is more than a word"),
};
static void init_variable(void *object, int index)
{
    (void)index;
    memset(object, 0, sizeof(vy_plan_variable));
}
static const vy_schema_table vary_table = {.title = "Vary",
                                           .help = "One value of the scenario and how it varies.",
                                           .size = sizeof(vy_plan_variable),
                                           .init = init_variable,
                                           ROWS(vary_rows)};

static const vy_choice keeps[] = {
    CHOICE("none", VY_KEEP_NONE, "summaries alone"),
    CHOICE("failures", VY_KEEP_FAILURES, "logs of the first failures"),
    CHOICE("worst", VY_KEEP_WORST, "logs of the cases with the smallest margins"),
};
static const vy_schema_row keep_rows[] = {
    ROW("logs", CHOICE, vy_plan, keep, CHOICES(keeps), .help = "which cases merge flies again with a log"),
    ROW("count", COUNT, vy_plan, keep_count, .range = WITHIN(1, 1000), .help = "at most so many"),
};
static const vy_schema_table keep_table = {
    .title = "Keep", .help = "What is kept beside the summaries.", ROWS(keep_rows)};

static const vy_schema_row stop_rows[] = {
    ROW("limit", NUMBER, vy_plan_stop, limit, .range = ABOVE_TO(0, 0.5), .flags = VY_ROW_REQUIRED,
        .help = "the failure rate that is to be undercut"),
    ROW("confidence", NUMBER, vy_plan_stop, confidence, .range = WITHIN(0.5, 0.999999),
        .help = "of the answer"),
    ROW("looks", VECTOR, vy_plan_stop, looks, .size = VY_PLAN_LOOK_CAP, .range = WITHIN(1, VY_PLAN_CASE_MAX),
        .flags = VY_ROW_REQUIRED | VY_ROW_VARIABLE_SIZE,
        .help = "numbers of cases, growing, after which it is decided whether to go on"),
};
static const vy_schema_table stop_table = {.title = "Stop",
                                           .help = "When enough is known. The error is spent over the looks.",
                                           .size = sizeof(vy_plan_stop),
                                           ROWS(stop_rows)};

static const vy_choice samplings[] = {
    CHOICE("random", VY_SAMPLE_RANDOM, "independent draws: failure rates have exact intervals"),
    CHOICE("latin", VY_SAMPLE_LATIN, "Latin hypercubes, as many as `replicates`"),
    CHOICE("sobol", VY_SAMPLE_SOBOL, "scrambled Sobol points, likewise; a power of two each"),
    CHOICE("saltelli", VY_SAMPLE_SALTELLI,
           "for sensitivity indices: n (variables + 2) cases, n a power of two"),
    CHOICE("grid", VY_SAMPLE_GRID, "every combination of values or steps"),
    CHOICE("list", VY_SAMPLE_LIST, "the first value of each, the second of each, and so on"),
};
static const vy_choice seed_choices[] = {
    CHOICE("each", VY_SEEDS_EACH, "every case its own, drawn from the plan's seed"),
    CHOICE("same", VY_SEEDS_SAME, "all the scenario's"),
};

static const vy_schema_row plan_rows[] = {
    ROW("volery", COUNT, vy_plan, version, .range = WITHIN(1, 1), .flags = VY_ROW_REQUIRED,
        .help = "version of the format"),
    ROW("campaign", TEXT, vy_plan, name, .size = VY_SCENARIO_NAME_CAP, .flags = VY_ROW_REQUIRED,
        .help = "for people"),
    ROW("scenario", TEXT, vy_plan, scenario, .size = VY_PLAN_TEXT_CAP, .flags = VY_ROW_REQUIRED,
        .help = "a file, seen from the plan's folder, or the name of a scenario that came with Volery"),
    ROW("set", LIST, vy_plan, set, .table = &set_table, .size = 64,
        .count_offset = offsetof(vy_plan, set_count), .flags = VY_ROW_ALLOCATED,
        .help = "changes of the scenario for all cases, each \"key=value\""),
    ROW("seed", INTEGER, vy_plan, seed, .help = "of everything that is drawn"),
    ROW("sample", CHOICE, vy_plan, sample, CHOICES(samplings), .help = "how the cases are spread"),
    ROW("cases", COUNT, vy_plan, cases, .range = WITHIN(1, VY_PLAN_CASE_MAX),
        .default_text = "those of the grid or list", .help = "how many, all together"),
    ROW("replicates", COUNT, vy_plan, replicates, .range = WITHIN(1, 1000),
        .help = "of Latin hypercubes and Sobol points: independent scramblings; 10 or more give an interval"),
    ROW("repeat", COUNT, vy_plan, repeat, .range = WITHIN(1, 1000000),
        .help = "how often each point is flown, each time with another seed"),
    ROW("seeds", CHOICE, vy_plan, seeds, CHOICES(seed_choices), .help = "of the noise in a case"),
    ROW("vary", LIST, vy_plan, vary, .table = &vary_table, .size = VY_PLAN_VARY_CAP,
        .count_offset = offsetof(vy_plan, vary_count), .flags = VY_ROW_ALLOCATED, .help = "what varies"),
    GROUP("keep", &keep_table, .help = "which flights keep their logs"),
    ROW("stop", OBJECT, vy_plan, stop, .table = &stop_table, .help = "when enough is known"),
    ROW("shards", COUNT, vy_plan, shards, .range = WITHIN(1, 100000),
        .default_text = "by the number of cases", .help = "pieces that are flown by one process each"),
};

static void init_plan(void *object, int index)
{
    (void)index;
    memset(object, 0, sizeof(vy_plan));
    vy_plan *p = object;
    p->seed = 1;
    p->replicates = 10;
    p->repeat = 1;
    p->keep_count = 10;
    p->stop.confidence = 0.95;
}

const vy_schema_table vy_plan_table = {.title = "Plan",
                                       .help = "A campaign: many flights of one scenario.",
                                       .size = sizeof(vy_plan),
                                       .init = init_plan,
                                       ROWS(plan_rows)};
