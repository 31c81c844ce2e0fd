// nap.c - the negligibility policy as it is declared: defaults, scenario rows, check.
#include "base/real.h"
#include "base/fail.h"
#include "base/schema_rows.h"
#include "environment/environment.h"
#include "environment/nap_state.h"

static const vy_choice policies[] = {
    CHOICE("neglect", 0, "effects below the thresholds are computed as zero"),
    CHOICE("strict", 1, "every effect is computed"),
};
static const vy_schema_row budget_rows[] = {
    ROW("over", NUMBER, vy_budget_def, duration, .unit = "s", .range = POSITIVE, .keyword = "none",
        .help = "from the start; later nothing is neglected; `none` is no budget"),
    ROW("position", NUMBER, vy_budget_def, position, .unit = "m", .range = POSITIVE, .keyword = "any",
        .keyword_value = VY_BUDGET_ANY,
        .help = "how far the strict run may be from this one at the end; `any`: no limit"),
    ROW("attitude", NUMBER, vy_budget_def, attitude, .unit = "rad", .range = POSITIVE, .keyword = "any",
        .keyword_value = VY_BUDGET_ANY, .help = "likewise"),
};
static const vy_schema_table budget_table = {
    .title = "Budget",
    .help = "What error may be made, in place of thresholds: docs/effects.md.",
    .size = sizeof(vy_budget_def),
    ROWS(budget_rows)};
static const vy_schema_row nap_rows[] = {
    ROW("policy", CHOICE, vy_nap_def, strict, CHOICES(policies), .help = "whether anything may be neglected"),
    ROW("force_abs", NUMBER, vy_nap_def, force_abs, .unit = "N", .range = AT_LEAST_0,
        .help = "absolute threshold"),
    ROW("force_rel", NUMBER, vy_nap_def, force_rel, .range = AT_LEAST_0,
        .help = "threshold as a share of the weight"),
    ROW("torque_abs", NUMBER, vy_nap_def, torque_abs, .unit = "N m", .range = AT_LEAST_0,
        .help = "absolute threshold"),
    ROW("torque_rel", NUMBER, vy_nap_def, torque_rel, .range = AT_LEAST_0,
        .help = "threshold as a share of the reference torque"),
    ROW("hysteresis", NUMBER, vy_nap_def, hysteresis, .range = ABOVE_TO(1.0, DBL_MAX),
        .help = "threshold to come back over the threshold to go"),
    ROW("period", NUMBER, vy_nap_def, period, .unit = "s", .range = AT_LEAST_0, .flags = VY_ROW_PERIOD,
        .keyword = "auto", .help = "between two evaluations; `auto` is ten steps, with a budget fifty"),
    ROW("horizon", NUMBER, vy_nap_def, horizon, .unit = "s", .range = AT_LEAST_0,
        .help = "over which the deviation of an open-loop flight is bounded"),
    ROW("budget", OBJECT, vy_nap_def, budget, .table = &budget_table, .flags = VY_ROW_HASHED_IF_SET,
        .help = "an allowed error in place of thresholds"),
};
const vy_schema_table vy_table_nap = {
    .title = "Negligibility policy",
    .help = "What may be computed as zero, and on which proof: docs/effects.md.",
    .size = sizeof(vy_nap_def),
    ROWS(nap_rows)};

vy_nap_def vy_nap_default(void)
{
    return (vy_nap_def){
        .force_abs = 1e-6,
        .force_rel = 1e-4,
        .torque_abs = 1e-9,
        .torque_rel = 1e-4,
        .hysteresis = 2.0,
        .horizon = 1.0,
        .budget = {0.0, VY_BUDGET_ANY, VY_BUDGET_ANY},
    };
}

// Floors well above rounding; coordinates on a planet are coarser.
#define BUDGET_MIN_POSITION 1e-8 // [m]
#define BUDGET_MIN_ANGLE    1e-8 // [rad]

vy_status vy_check_budget_def(const vy_budget_def *budget, double radius, double dt, const double **culprit,
                              vy_error *err)
{
    const double min_position = real_max(BUDGET_MIN_POSITION, 5e-15 * radius);
    *culprit = &budget->duration;
    if (!(real_is_finite(budget->duration) && budget->duration >= 0.0))
        return vy_fail(err, VY_BAD_VALUE, "nap.budget.over must be at least 0 s");
    *culprit = budget->position != VY_BUDGET_ANY ? &budget->position : &budget->attitude;
    const int is_limited = budget->position != VY_BUDGET_ANY || budget->attitude != VY_BUDGET_ANY;
    if (budget->duration == 0.0 && is_limited)
        return vy_fail(err, VY_BAD_VALUE, "nap.budget needs `over`: at the end of which time?");
    if (budget->duration == 0.0) return VY_OK;
    *culprit = &budget->duration;
    if (!is_limited) return vy_fail(err, VY_BAD_VALUE, "nap.budget needs a position or an attitude");
    if (budget->duration < dt)
        return vy_fail(err, VY_BAD_VALUE, "nap.budget.over is shorter than a step, %g s: %g s", dt,
                       budget->duration);
    *culprit = &budget->position;
    if (!(budget->position >= min_position)) {
        return vy_fail(err, VY_BAD_VALUE, "nap.budget.position is below what strict runs achieve, %g m: %g m",
                       min_position, budget->position);
    }
    *culprit = &budget->attitude;
    if (!(budget->attitude >= BUDGET_MIN_ANGLE)) {
        return vy_fail(err, VY_BAD_VALUE,
                       "nap.budget.attitude is below what strict runs achieve, %g rad: %g rad",
                       BUDGET_MIN_ANGLE, budget->attitude);
    }
    return VY_OK;
}
