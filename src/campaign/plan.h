// plan.h - a campaign's plan: what varies over a scenario, how it is drawn, how many cases.
//
// Case i is a pure function of the plan and i: its values and its seed. A plan is YAML, read by the tables
// that read scenarios (docs/campaigns.md).
#pragma once
#include "scenario/template.h"
#include "volery/scenario.h"

#define VY_PLAN_TEXT_CAP   160
#define VY_PLAN_NUMBER_CAP 48
#define VY_PLAN_VARY_CAP   24
#define VY_PLAN_VALUE_CAP  1000
#define VY_PLAN_LOOK_CAP   16
#define VY_PLAN_CASE_MAX   1000000000 // cases of a campaign

typedef enum vy_sampling {
    VY_SAMPLE_RANDOM,   ///< independent draws
    VY_SAMPLE_LATIN,    ///< Latin hypercubes, `replicates` of them
    VY_SAMPLE_SOBOL,    ///< scrambled Sobol points, likewise
    VY_SAMPLE_SALTELLI, ///< two blocks of Sobol points and their mixtures, for sensitivity indices
    VY_SAMPLE_GRID,     ///< every combination
    VY_SAMPLE_LIST,     ///< the i-th value of each
    VY_SAMPLE_SEARCH,   ///< chosen by earlier results: in no plan, but by --search
} vy_sampling;

typedef enum vy_plan_distribution {
    VY_PLAN_UNIFORM,
    VY_PLAN_LOG_UNIFORM,
    VY_PLAN_NORMAL, ///< between `from` and `to` where these are given
    VY_PLAN_TRIANGULAR,
    VY_PLAN_VALUES, ///< one of a list
} vy_plan_distribution;

typedef enum vy_plan_seeds {
    VY_SEEDS_EACH, ///< every case has its own
    VY_SEEDS_SAME, ///< all have the scenario's
} vy_plan_seeds;

/// Which cases are flown again with a log.
typedef enum vy_keep { VY_KEEP_NONE, VY_KEEP_FAILURES, VY_KEEP_WORST } vy_keep;

/// A value as it would be written in the scenario.
typedef struct vy_plan_value {
    char text[VY_PLAN_TEXT_CAP];
} vy_plan_value;

typedef struct vy_plan_variable {
    vy_plan_distribution distribution;
    char key[VY_PLAN_TEXT_CAP];                            ///< as in --set: drones.alpha.vehicle.mass
    char from[VY_PLAN_NUMBER_CAP], to[VY_PLAN_NUMBER_CAP]; ///< with or without a unit; "" where not given
    char mean[VY_PLAN_NUMBER_CAP], deviation[VY_PLAN_NUMBER_CAP], mode[VY_PLAN_NUMBER_CAP];
    int steps; ///< of a grid: values from `from` to `to`; 0: not given
    int value_count;
    vy_plan_value *values; ///< of VY_PLAN_VALUES
    // What follows is found out by checking.
    double low, high, centre, sigma; ///< from, to, mean or mode, deviation, in `unit`
    char unit[16];                   ///< of all numbers of the variable; "" where none is given
} vy_plan_variable;

typedef struct vy_plan_stop {
    double limit;                   ///< the failure rate that is to be undercut; 0: there is no such rule
    double confidence;              ///< in that, from 0 to 1
    double looks[VY_PLAN_LOOK_CAP]; ///< numbers of cases after which it is decided whether to stop; 0 beyond
                                    ///< the last
    int look_count;                 ///< how many looks: found out by checking
} vy_plan_stop;

typedef struct vy_plan {
    int version;                     ///< of the format
    char name[VY_SCENARIO_NAME_CAP]; ///< for people
    char scenario[VY_PLAN_TEXT_CAP]; ///< as written
    uint64_t seed;                   ///< of everything that is drawn
    vy_sampling sample;              ///< how the points are spread
    int cases;                       ///< all of them; 0 in the text: as many as a grid or list has
    int replicates;                  ///< Latin hypercubes, or scramblings of Sobol points
    int repeat;                      ///< how often each point is flown, each time with another seed
    int shards;                      ///< pieces that are flown by one process each; 0: by the number of cases
    vy_plan_seeds seeds;
    int set_count, vary_count;
    vy_plan_value *set;     ///< changes of the scenario for all cases, each "key=value"
    vy_plan_variable *vary; ///< what varies
    vy_keep keep;           ///< which cases keep a log
    int keep_count;         ///< how many at most
    vy_plan_stop stop;      ///< when enough is known
    // What follows is found out by checking.
    int points;                     ///< cases without their repetitions
    int replicate_size;             ///< points of a replicate; of Saltelli's sample its base
    uint32_t *directions;           ///< [replicates][dimensions][32] of Sobol points, scrambled
    char *path;                     ///< of the scenario's file
    vy_scenario *base;              ///< case 0
    vy_template *scenario_template; ///< makes the others
    uint64_t identity;              ///< of everything that can change a result
    int needs_every_step;           ///< some expectation is measured at every step
    int shares_environment;         ///< what varies are drones, their seed and the constant wind alone
} vy_plan;

/// Finds the file that a name of a scenario in the plan `from` stands for: text to free(), NULL: none.
typedef char *vy_find_scenario_fn(const char *name, const char *from);

/// Read and check a plan: also the scenario, with every bound and value of what varies.
/// @return as vy_scenario_load(); `*out` is NULL on failure
vy_status vy_plan_load(const char *path, vy_find_scenario_fn *find_scenario, vy_plan **out,
                       vy_diagnostics *diagnostics);

/// The text alone: no file is opened, so its scenario and keys are not checked and no case can be made.
vy_status vy_plan_parse(const char *text, size_t size, const char *name, vy_plan **out,
                        vy_diagnostics *diagnostics);
void vy_plan_destroy(vy_plan *plan); ///< NULL is a no-op

/// One case.
typedef struct vy_case {
    uint64_t index, seed;             ///< its number in the campaign; of its scenario
    double numbers[VY_PLAN_VARY_CAP]; ///< in the unit of the plan; of a list of values its index
    char texts[VY_PLAN_VARY_CAP + 1][VY_PLAN_TEXT_CAP]; ///< as in --set; the seed comes last
} vy_case;

/// The values and the seed of case `index`, below plan->cases.
void vy_plan_case(const vy_plan *plan, uint64_t index, vy_case *out);

/// The case at chosen places of the unit cube, one per variable, with the seed of case `index`.
void vy_plan_case_from_unit(const vy_plan *plan, uint64_t index, const double *unit, vy_case *out);

/// The case with these numbers, as a row of results has them.
void vy_plan_case_from_values(const vy_plan *plan, uint64_t index, const double *numbers, vy_case *out);

/// The scenario of a case. On failure the first mistake is in `err`.
vy_status vy_plan_scenario(vy_plan *plan, const vy_case *c, vy_scenario **out, vy_error *err);

/// Whether draws are independent, so that a failure rate has an exact interval.
int vy_plan_is_independent(const vy_plan *plan);
