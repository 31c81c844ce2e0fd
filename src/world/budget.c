// budget.c - the negligibility policy with a budget: what error is allowed at the end of a horizon, in place
// of thresholds.
//
// A forecast says how far a force and a torque left out from now on take the strict motion from the flown one
// until the end of the horizon, if the loads keep changing with the motion as they do now. Effects are left
// out while the sum of these errors fits into what is left. The forecast only chooses: what is stated is the
// certificate, which knows what has been left out in fact.
#include "base/real.h"
#include "base/assert.h"
#include "world/budget_loop.h"
#include "world/environment_stage.h"
#include "world/world_impl.h"

enum { INPUT_ANGULAR = DEVIATION_COUNT, INPUT_LINEAR }; // after the deviations of now: accelerations left out

// Of the errors forecast, no more than this fraction is spent: what growth later adds has the rest.
#define SPENDABLE_FRACTION 0.5
// The forecast is rebuilt at every so many evaluations.
#define FORECAST_EVALUATIONS 8u
// In closed loop, what the next evaluation will find is at most this many times what the last one found.
#define GROWTH_MARGIN 1.3
// [s] Before, the noise of the sensors is not known well enough for a plan; less for a brief budget.
#define WARM_UP 0.5
// [rad] It spends no more than half of this of attitude, whatever is allowed: the bound is that of a loop
// near its linearisation.
#define MAX_ATTITUDE_ERROR 3e-3
// It knows what can happen within half of what is left, but no more than this [s].
#define FORECAST_REACH 0.5

// What leaving out an effect saves, in parts of a derivative: roughly nanoseconds.
static const double savings[] = {
    [EFFECT_gravity] = 1.0,
    [EFFECT_density] = 1.0,
    [EFFECT_wind] = 8.0,
    [EFFECT_linear_drag] = 3.0,
    [EFFECT_drag] = 4.0,
    [EFFECT_lift] = 6.0,
    [EFFECT_buoyancy] = 1.0,
    [EFFECT_aero_torque] = 6.0,
    [EFFECT_damping] = 2.0,
    [EFFECT_disturbance] = 1.0,
    [EFFECT_disturbance_torque] = 1.0,
    [EFFECT_magnetic] = 2.0,
    [EFFECT_radiation] = 1.0,
    [EFFECT_rotor_drag] = 8.0,
    [EFFECT_flapping] = 6.0,
    [EFFECT_translational_lift] = 4.0,
    [EFFECT_inflow] = 20.0,
    [EFFECT_ground] = 6.0,
    [EFFECT_gyroscopic] = 4.0,
    [EFFECT_blade_element] = 60.0,
    [EFFECT_battery] = 10.0,
    [EFFECT_downwash] = 4.0,
    [EFFECT_gravity_gradient] = 6.0,
};
_Static_assert(sizeof savings / sizeof savings[0] == EFFECT_COUNT, "a saving per effect");

// One evaluation of a drone or body: what the policy reads.
typedef struct evaluation {
    const vy_model *model; // of the world; what follows is of the drone or body
    const nap_params *nap;
    const multirotor_params *plant;
    const rotor_layout *layout;
    const body_state *body;
    const double *rotor_speed;
    nap_inputs inputs;
    uint64_t tick; // now
} evaluation;

// Errors after `time` in the linear `system` of nap_deviation.h, per deviation of now and per acceleration
// left out: two terms of the series over a 4096th of the time, doubled twelve times.
static void forecast_open_loop(const deviation_system *system, double time, budget_block *out)
{
    enum { N = DEVIATION_COUNT, INPUTS = BUDGET_INPUTS, DOUBLINGS = 12 };
    const double step = time / (1 << DOUBLINGS);
    const double matrix[N][INPUTS] = {{system->ee, system->ea, system->ev, system->ep, 1, 0},
                                      {1, 0, 0, 0, 0, 0},
                                      {0, system->va, system->vv, system->vp, 0, 1},
                                      {0, 0, 1, 0, 0, 0}};
    double growth[N][INPUTS], next[N][INPUTS];
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < INPUTS; ++j) {
            double square = 0.0;
            for (int l = 0; l < N; ++l) square += matrix[i][l] * matrix[l][j];
            growth[i][j] = real_min(step * matrix[i][j] + 0.5 * step * step * square + (i == j ? 1.0 : 0.0),
                                    NAP_UNBOUNDED);
        }
    }
    for (int n = 0; n < DOUBLINGS; ++n) {
        for (int i = 0; i < N; ++i) {
            for (int j = 0; j < INPUTS; ++j) {
                double sum = j < N ? 0.0 : growth[i][j];
                for (int l = 0; l < N; ++l) sum += growth[i][l] * growth[l][j];
                next[i][j] = real_min(sum, NAP_UNBOUNDED);
            }
        }
        memcpy(growth, next, sizeof growth);
    }
    memcpy(out->angle, growth[DEVIATION_ANGLE], sizeof out->angle);
    memcpy(out->position, growth[DEVIATION_POSITION], sizeof out->position);
}

static int is_zero_bound(const effect_bound *bound) { return bound->force == 0.0 && bound->torque == 0.0; }

// Everything that is not zero until the next evaluation.
static uint64_t all_nonzero(const nap_bounds *bounds)
{
    uint64_t computed = 0;
    for (int i = 0; i < EFFECT_COUNT; ++i)
        if (!is_zero_bound(&bounds->effect[i])) computed |= (uint64_t)1 << i;
    return computed;
}

// An error of attitude and of position, as parts of what is allowed.
typedef struct fraction {
    double angle, position;
} fraction;

static fraction fraction_of(const vy_budget_def *budget, double angle, double position)
{
    return (fraction){angle / budget->attitude, position / budget->position};
}

// Which effects are computed until the next evaluation: all but those whose errors fit into the budget, the
// largest saving per error first. An effect that is computed now must fit `hysteresis` times.
static uint64_t choose_effects(const evaluation *eval, const vy_budget_def *budget, const nap_bounds *bounds,
                               const double *deviation, const budget_block *forecast, uint64_t flags)
{
    const nap_params *nap = eval->nap;
    fraction errors[EFFECT_COUNT];
    double saving_per_error[EFFECT_COUNT], angle = forecast->onset_angle, position = forecast->onset_position;
    int order[EFFECT_COUNT];
    for (int j = 0; j < DEVIATION_COUNT; ++j) {
        angle += forecast->angle[j] * deviation[j];
        position += forecast->position[j] * deviation[j];
    }
    fraction spent = fraction_of(budget, angle, position);
    for (int i = 0; i < EFFECT_COUNT; ++i) {
        const double angular_acceleration = bounds->effect[i].torque / nap->inertia_min,
                     acceleration = bounds->effect[i].force * eval->plant->body.inverse_mass;
        errors[i] = fraction_of(budget,
                                forecast->angle[INPUT_ANGULAR] * angular_acceleration +
                                    forecast->angle[INPUT_LINEAR] * acceleration,
                                forecast->position[INPUT_ANGULAR] * angular_acceleration +
                                    forecast->position[INPUT_LINEAR] * acceleration);
        saving_per_error[i] = savings[i] / real_max(real_max(errors[i].angle, errors[i].position), 1e-30);
        int rank = i;
        for (; rank > 0 && saving_per_error[order[rank - 1]] < saving_per_error[i]; --rank)
            order[rank] = order[rank - 1];
        order[rank] = i;
    }
    uint64_t computed = 0;
    for (int j = 0; j < EFFECT_COUNT; ++j) {
        const int i = order[j];
        const uint64_t bit = (uint64_t)1 << i;
        if (is_zero_bound(&bounds->effect[i])) continue;
        const double margin = (flags & bit) != 0 ? nap->hysteresis : 1.0;
        if (spent.angle + margin * errors[i].angle <= SPENDABLE_FRACTION &&
            spent.position + margin * errors[i].position <= SPENDABLE_FRACTION) {
            spent.angle += errors[i].angle;
            spent.position += errors[i].position;
        } else {
            computed |= bit;
        }
    }
    return computed;
}

// Whether the bound of the deviation is beyond what is allowed.
static int is_exceeded(const vy_budget_def *budget, const double *deviation)
{
    const fraction spent = fraction_of(budget, deviation[DEVIATION_ANGLE], deviation[DEVIATION_POSITION]);
    return !(spent.angle <= 1.0 && spent.position <= 1.0);
}

// Forecast the errors at the end, `remaining` seconds from now. The reach is that of many evaluations: how
// fast the body may come to turn, or whether its lift may flip, is seen some time ahead.
static void forecast_errors(const evaluation *eval, double remaining, uint64_t flags, const double *deviation,
                            budget_block *out)
{
    const environment_model *env = &eval->model->env;
    nap_inputs inputs = eval->inputs;
    inputs.period = real_max(inputs.period, real_min(0.5 * remaining, FORECAST_REACH));
    const nap_reach reach = nap_reach_of(env, eval->nap, eval->plant, eval->layout, eval->body,
                                         eval->rotor_speed, &inputs, deviation);
    const nap_bounds bounds = nap_bounds_of(&eval->plant->effects, &reach.effect);
    const deviation_system system = nap_sensitivity(env, eval->nap, eval->plant, eval->body, &inputs, flags,
                                                    &reach, &reach, &bounds, 1, deviation);
    forecast_open_loop(&system, remaining, out);
    out->onset_angle = out->angle[INPUT_ANGULAR] * system.be + out->angle[INPUT_LINEAR] * system.bv;
    out->onset_position = out->position[INPUT_ANGULAR] * system.be + out->position[INPUT_LINEAR] * system.bv;
}

// An open loop: by the growth of nap_deviation.h.
static uint64_t evaluate_open_loop(const evaluation *eval, const nap_reach *flown_reach,
                                   const nap_bounds *bounds, budget_block *block, uint64_t flags,
                                   double *deviation)
{
    const environment_model *env = &eval->model->env;
    const vy_budget_def *budget = &eval->model->nap.budget;
    const double remaining = budget->duration - eval->inputs.time;
    if (remaining <= 0.0) return all_nonzero(bounds);
    const nap_reach deviated_reach = nap_reach_of(env, eval->nap, eval->plant, eval->layout, eval->body,
                                                  eval->rotor_speed, &eval->inputs, deviation);
    const nap_bounds deviated_bounds = nap_bounds_of(&eval->plant->effects, &deviated_reach.effect);
    if (block->standing == BUDGET_EXCEEDED) {
        flags = all_nonzero(bounds);
    } else {
        if (eval->tick / eval->model->nap_period % FORECAST_EVALUATIONS == 0)
            forecast_errors(eval, remaining, flags, deviation, block);
        flags = choose_effects(eval, budget, &deviated_bounds, deviation, block, flags);
    }
    nap_certify_within(env, eval->nap, eval->plant, eval->body, &eval->inputs, flags, flown_reach,
                       &deviated_reach, &deviated_bounds, deviation);
    return flags;
}

// A closed loop: by the bound of loop_bound.h, which looks back. Before the controller has acted, nothing is
// left out: both flights are one.
static uint64_t evaluate_closed_loop(const vy_world *world, uint32_t index, const evaluation *eval,
                                     const nap_bounds *bounds, budget_block *block, uint64_t flags,
                                     double *deviation)
{
    const vy_budget_def *budget = &eval->model->nap.budget;
    const uint64_t period_ticks = eval->model->nap_period;
    loop_block *loop = &world->loop_states[index];
    const double disturbances[4] = {eval->inputs.disturbance, eval->inputs.disturbance_torque,
                                    eval->inputs.force_body, eval->inputs.torque_world};
    const int has_acted =
        eval->tick >= period_ticks && eval->tick >= 2 * eval->model->drones[index].control_period;
    nap_bounds past_bounds = *bounds;
    if (block->standing == BUDGET_NO_BOUND || deviation[DEVIATION_POSITION] >= NAP_UNBOUNDED)
        return all_nonzero(bounds);
    if (eval->inputs.time - eval->inputs.period >= budget->duration) return all_nonzero(bounds);
    if (!has_acted) {
        memset(loop->observed, 0, sizeof loop->observed);
    } else if (loop->standing != LOOP_BOUND_LOST) {
        vy_loop_certify(world, index, eval->tick, period_ticks, flags, loop, deviation, &past_bounds, block);
    }
    memcpy(loop->disturbances, disturbances, sizeof disturbances);
    if (loop->standing == LOOP_BOUND_LOST) {
        if (loop->neglect[0] == 0.0 && loop->neglect[1] == 0.0) {
            block->standing = BUDGET_NO_BOUND; // nothing was left out so far
        } else {
            for (int i = 0; i < DEVIATION_COUNT; ++i) deviation[i] = NAP_UNBOUNDED;
        }
    }
    if (!has_acted || loop->standing != LOOP_BOUND_VALID || block->standing != BUDGET_WITHIN ||
        is_exceeded(budget, deviation) || budget->duration - eval->inputs.time <= 0.0 ||
        eval->inputs.time < real_min(WARM_UP, 0.05 * budget->duration))
        return all_nonzero(bounds);
    const int has_forecast =
        block->angle[INPUT_LINEAR] < NAP_UNBOUNDED && block->angle[INPUT_ANGULAR] < NAP_UNBOUNDED;
    if (!has_forecast && loop->neglect[0] == 0.0 && loop->neglect[1] == 0.0) {
        block->standing = BUDGET_NO_BOUND; // too lively a flight, and nothing was left out so far
        return all_nonzero(bounds);
    }
    static const double no_deviation[DEVIATION_COUNT];
    vy_budget_def limited_budget = *budget;
    limited_budget.attitude = real_min(limited_budget.attitude, MAX_ATTITUDE_ERROR);
    vy_loop_limit_budget(world, index, &limited_budget);
    for (int i = 0; i < EFFECT_COUNT; ++i) { // the coming period is like the past one, and some more
        past_bounds.effect[i].force *= GROWTH_MARGIN;
        past_bounds.effect[i].torque *= GROWTH_MARGIN;
        // What is declared is known ahead: a push that begins was not seen yet.
        const int is_declared = i == EFFECT_disturbance || i == EFFECT_disturbance_torque;
        if (is_declared || is_zero_bound(&bounds->effect[i])) past_bounds.effect[i] = bounds->effect[i];
    }
    return choose_effects(eval, &limited_budget, &past_bounds, no_deviation, block, flags);
}

// Decide, and account for what is left out until the next evaluation. Returns the effects that are computed.
static uint64_t evaluate_effects(const vy_world *world, uint32_t number, const evaluation *eval,
                                 uint64_t flags, budget_block *block, nap_state *account)
{
    const nap_reach reach = nap_flown_reach(&eval->model->env, eval->nap, eval->plant, eval->layout,
                                            eval->body, eval->rotor_speed, &eval->inputs);
    const nap_bounds bounds = nap_bounds_of(&eval->plant->effects, &reach.effect);
    if (eval->nap->open_loop && !eval->inputs.turbulent && !eval->nap->strict) {
        flags = evaluate_open_loop(eval, &reach, &bounds, block, flags, account->deviation);
    } else if (number < eval->model->drone_count && world->loop_states != NULL &&
               vy_loop_is_isolated(world, number)) {
        flags = evaluate_closed_loop(world, number, eval, &bounds, block, flags, account->deviation);
    } else { // nothing is known of how an error grows, so none is made
        flags = all_nonzero(&bounds);
        block->standing = eval->nap->strict ? BUDGET_WITHIN : BUDGET_NO_BOUND;
    }
    nap_add_impulses(eval->nap, &bounds, eval->inputs.period, flags, account);
    nap_add_thin_air(&eval->model->env, eval->nap, eval->plant, &reach, eval->inputs.period, flags, account);
    if (block->standing == BUDGET_WITHIN && is_exceeded(&eval->model->nap.budget, account->deviation)) {
        block->standing = BUDGET_EXCEEDED;
        block->since = eval->tick;
    }
    return flags;
}

static void evaluate_drone(vy_world *world, uint32_t i, uint64_t tick, uint64_t period_ticks)
{
    const vy_model *m = &world->model;
    const drone_params *p = &m->params[i];
    drone_block *d = &world->drones[i];
    evaluation eval = {
        m,
        &p->nap,
        &p->plant,
        &m->drones[i].layout,
        &d->body,
        d->rotor_speed,
        nap_inputs_at(m, i, tick, period_ticks, world->noise, &d->body, &d->turbulence, d->gust),
        tick};
    double command[VY_ROTOR_CAP];
    for (int k = 0; k < eval.layout->count; ++k) command[k] = motor_speed(&p->motor, d->control.motors[k]);
    eval.inputs.command = command;
    const uint64_t effects_before = d->effects;
    d->effects =
        evaluate_effects(world, i, &eval, effects_before, &world->budgets[i], &world->nap_accounts[i]);
    d->effect_changes += nap_changes(effects_before, d->effects);
}

static void evaluate_body(vy_world *world, uint32_t k, uint64_t tick, uint64_t period_ticks)
{
    static const double zero_speeds[VY_ROTOR_CAP];
    static const rotor_layout no_rotors;
    const vy_model *m = &world->model;
    const uint32_t number = m->drone_count + k;
    body_block *b = &world->passive[k];
    body_account_block *account = &world->passive_accounts[k];
    evaluation eval = {
        m,
        &m->passive[k].nap,
        &m->passive[k].plant,
        &no_rotors,
        &b->body,
        zero_speeds,
        nap_inputs_at(m, number, tick, period_ticks, world->noise, &b->body, &b->turbulence, b->gust),
        tick};
    eval.inputs.command = zero_speeds;
    nap_state period_account; // of each effect in this period: the account has their sum
    memset(&period_account, 0, sizeof period_account);
    memcpy(period_account.deviation, account->deviation, sizeof period_account.deviation);
    const uint64_t effects_before = b->effects;
    b->effects =
        evaluate_effects(world, number, &eval, effects_before, &world->budgets[number], &period_account);
    b->effect_changes += nap_changes(effects_before, b->effects);
    for (int e = 0; e < EFFECT_COUNT; ++e) {
        account->impulse += period_account.impulse[e];
        account->angular += period_account.angular[e];
    }
    memcpy(account->deviation, period_account.deviation, sizeof period_account.deviation);
}

void vy_budget_evaluate(vy_world *world, uint32_t number, uint64_t tick, uint64_t period_ticks)
{
    const uint32_t drone_count = world->model.drone_count;
    VY_ASSERT(world->budgets != NULL && number < body_count(&world->model));
    if (number < drone_count) {
        evaluate_drone(world, number, tick, period_ticks);
    } else {
        evaluate_body(world, number - drone_count, tick, period_ticks);
    }
}

int vy_budget_stage(vy_world *world)
{
    const vy_model *m = &world->model;
    const uint64_t tick = world->state->tick - 1u;
    for (uint32_t i = 0; m->has_loop && i < m->drone_count; ++i)
        if (world->loops[i].is_bounded) vy_loop_observe(world, i, tick, &world->loop_states[i]);
    if (!due(tick, m->nap_period)) return 0;
    for (uint32_t i = 0; i < body_count(m); ++i) vy_budget_evaluate(world, i, tick, m->nap_period);
    return 1;
}
