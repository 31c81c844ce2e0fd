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
    const vy_model *m;
    const nap_params *n;
    const multirotor_params *plant;
    const rotor_layout *layout;
    const body_state *body;
    const double *speed;
    nap_inputs inputs;
    uint64_t tick;
} evaluation;

// Errors after `time` in the system `k` of nap_deviation.h, per deviation of now and per acceleration left
// out: two terms of the series over a 4096th of the time, doubled twelve times.
static void forecast_open_loop(const deviation_system *k, double time, budget_block *out)
{
    enum { N = DEVIATION_COUNT, INPUTS = BUDGET_INPUTS, DOUBLINGS = 12 };
    const double h = time / (1 << DOUBLINGS);
    const double a[N][INPUTS] = {{k->ee, k->ea, k->ev, k->ep, 1, 0},
                                 {1, 0, 0, 0, 0, 0},
                                 {0, k->va, k->vv, k->vp, 0, 1},
                                 {0, 0, 1, 0, 0, 0}};
    double x[N][INPUTS], next[N][INPUTS];
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < INPUTS; ++j) {
            double square = 0.0;
            for (int l = 0; l < N; ++l) square += a[i][l] * a[l][j];
            x[i][j] = real_min(h * a[i][j] + 0.5 * h * h * square + (i == j ? 1.0 : 0.0), NAP_UNBOUNDED);
        }
    }
    for (int n = 0; n < DOUBLINGS; ++n) {
        for (int i = 0; i < N; ++i) {
            for (int j = 0; j < INPUTS; ++j) {
                double sum = j < N ? 0.0 : x[i][j];
                for (int l = 0; l < N; ++l) sum += x[i][l] * x[l][j];
                next[i][j] = real_min(sum, NAP_UNBOUNDED);
            }
        }
        memcpy(x, next, sizeof x);
    }
    memcpy(out->angle, x[DEVIATION_ANGLE], sizeof out->angle);
    memcpy(out->position, x[DEVIATION_POSITION], sizeof out->position);
}

static int is_zero(const effect_bound *b) { return b->force == 0.0 && b->torque == 0.0; }

// Everything that is not zero until the next evaluation.
static uint64_t all_nonzero(const nap_bounds *b)
{
    uint64_t computed = 0;
    for (int i = 0; i < EFFECT_COUNT; ++i)
        if (!is_zero(&b->effect[i])) computed |= (uint64_t)1 << i;
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
static uint64_t decide(const evaluation *l, const vy_budget_def *budget, const nap_bounds *b,
                       const double *deviation, const budget_block *plan, uint64_t flags)
{
    const nap_params *n = l->n;
    fraction error[EFFECT_COUNT];
    double saving_per_error[EFFECT_COUNT], angle = plan->onset_angle, position = plan->onset_position;
    int order[EFFECT_COUNT];
    for (int j = 0; j < DEVIATION_COUNT; ++j) {
        angle += plan->angle[j] * deviation[j];
        position += plan->position[j] * deviation[j];
    }
    fraction spent = fraction_of(budget, angle, position);
    for (int i = 0; i < EFFECT_COUNT; ++i) {
        const double angular_acceleration = b->effect[i].torque / n->inertia_min,
                     acceleration = b->effect[i].force * l->plant->body.inverse_mass;
        error[i] = fraction_of(budget,
                               plan->angle[INPUT_ANGULAR] * angular_acceleration +
                                   plan->angle[INPUT_LINEAR] * acceleration,
                               plan->position[INPUT_ANGULAR] * angular_acceleration +
                                   plan->position[INPUT_LINEAR] * acceleration);
        saving_per_error[i] = savings[i] / real_max(real_max(error[i].angle, error[i].position), 1e-30);
        int at = i;
        for (; at > 0 && saving_per_error[order[at - 1]] < saving_per_error[i]; --at)
            order[at] = order[at - 1];
        order[at] = i;
    }
    uint64_t computed = 0;
    for (int j = 0; j < EFFECT_COUNT; ++j) {
        const int i = order[j];
        const uint64_t bit = (uint64_t)1 << i;
        if (is_zero(&b->effect[i])) continue;
        const double margin = (flags & bit) != 0 ? n->hysteresis : 1.0;
        if (spent.angle + margin * error[i].angle <= SPENDABLE_FRACTION &&
            spent.position + margin * error[i].position <= SPENDABLE_FRACTION) {
            spent.angle += error[i].angle;
            spent.position += error[i].position;
        } else {
            computed |= bit;
        }
    }
    return computed;
}

// Whether the bound of the deviation is beyond what is allowed.
static int is_exceeded(const vy_budget_def *budget, const double *deviation)
{
    const fraction s = fraction_of(budget, deviation[DEVIATION_ANGLE], deviation[DEVIATION_POSITION]);
    return !(s.angle <= 1.0 && s.position <= 1.0);
}

// Forecast the errors at the end, `remaining` seconds from now. The reach is that of many evaluations: how
// fast the body may come to turn, or whether its lift may flip, is seen some time ahead.
static void forecast_errors(const evaluation *l, double remaining, uint64_t flags, const double *deviation,
                            budget_block *out)
{
    const environment_model *env = &l->m->env;
    nap_inputs forecast = l->inputs;
    forecast.period = real_max(forecast.period, real_min(0.5 * remaining, FORECAST_REACH));
    const nap_reach r = nap_reach_of(env, l->n, l->plant, l->layout, l->body, l->speed, &forecast, deviation);
    const nap_bounds b = nap_bounds_of(&l->plant->effects, &r.effect);
    const deviation_system k =
        nap_sensitivity(env, l->n, l->plant, l->body, &forecast, flags, &r, &r, &b, 1, deviation);
    forecast_open_loop(&k, remaining, out);
    out->onset_angle = out->angle[INPUT_ANGULAR] * k.be + out->angle[INPUT_LINEAR] * k.bv;
    out->onset_position = out->position[INPUT_ANGULAR] * k.be + out->position[INPUT_LINEAR] * k.bv;
}

// An open loop: by the growth of nap_deviation.h.
static uint64_t evaluate_open_loop(const evaluation *l, const nap_reach *flown, const nap_bounds *b,
                                   budget_block *block, uint64_t flags, double *deviation)
{
    const environment_model *env = &l->m->env;
    const vy_budget_def *budget = &l->m->nap.budget;
    const double remaining = budget->duration - l->inputs.time;
    if (remaining <= 0.0) return all_nonzero(b);
    const nap_reach deviated_reach =
        nap_reach_of(env, l->n, l->plant, l->layout, l->body, l->speed, &l->inputs, deviation);
    const nap_bounds maximum = nap_bounds_of(&l->plant->effects, &deviated_reach.effect);
    if (block->standing == BUDGET_EXCEEDED) {
        flags = all_nonzero(b);
    } else {
        if (l->tick / l->m->nap_period % FORECAST_EVALUATIONS == 0)
            forecast_errors(l, remaining, flags, deviation, block);
        flags = decide(l, budget, &maximum, deviation, block, flags);
    }
    nap_certify_within(env, l->n, l->plant, l->body, &l->inputs, flags, flown, &deviated_reach, &maximum,
                       deviation);
    return flags;
}

// A closed loop: by the bound of loop_bound.h, which looks back. Before the controller has acted, nothing is
// left out: both flights are one.
static uint64_t evaluate_closed_loop(const vy_world *world, uint32_t index, const evaluation *l,
                                     const nap_bounds *b, budget_block *block, uint64_t flags,
                                     double *deviation)
{
    const vy_budget_def *budget = &l->m->nap.budget;
    const uint64_t ticks = l->m->nap_period;
    loop_block *loop = &world->loop_states[index];
    const double disturbances[4] = {l->inputs.disturbance, l->inputs.disturbance_torque, l->inputs.force_body,
                                    l->inputs.torque_world};
    const int has_acted = l->tick >= ticks && l->tick >= 2 * l->m->drones[index].control_period;
    nap_bounds past = *b;
    if (block->standing == BUDGET_NO_BOUND || deviation[DEVIATION_POSITION] >= NAP_UNBOUNDED)
        return all_nonzero(b);
    if (l->inputs.time - l->inputs.period >= budget->duration) return all_nonzero(b);
    if (!has_acted) {
        memset(loop->observed, 0, sizeof loop->observed);
    } else if (loop->standing != LOOP_BOUND_LOST) {
        vy_loop_certify(world, index, l->tick, ticks, flags, loop, deviation, &past, block);
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
        is_exceeded(budget, deviation) || budget->duration - l->inputs.time <= 0.0 ||
        l->inputs.time < real_min(WARM_UP, 0.05 * budget->duration))
        return all_nonzero(b);
    const int is_known =
        block->angle[INPUT_LINEAR] < NAP_UNBOUNDED && block->angle[INPUT_ANGULAR] < NAP_UNBOUNDED;
    if (!is_known && loop->neglect[0] == 0.0 && loop->neglect[1] == 0.0) {
        block->standing = BUDGET_NO_BOUND; // too lively a flight, and nothing was left out so far
        return all_nonzero(b);
    }
    static const double no_deviation[DEVIATION_COUNT];
    vy_budget_def limited_budget = *budget;
    limited_budget.attitude = real_min(limited_budget.attitude, MAX_ATTITUDE_ERROR);
    vy_loop_limit_budget(world, index, &limited_budget);
    for (int i = 0; i < EFFECT_COUNT; ++i) { // the coming period is like the past one, and some more
        past.effect[i].force *= GROWTH_MARGIN;
        past.effect[i].torque *= GROWTH_MARGIN;
        // What is declared is known ahead: a push that begins was not seen yet.
        const int is_declared = i == EFFECT_disturbance || i == EFFECT_disturbance_torque;
        if (is_declared || is_zero(&b->effect[i])) past.effect[i] = b->effect[i];
    }
    return decide(l, &limited_budget, &past, no_deviation, block, flags);
}

// Decide, and account for what is left out until the next evaluation. Returns the effects that are computed.
static uint64_t evaluate(const vy_world *world, uint32_t number, const evaluation *l, uint64_t flags,
                         budget_block *block, nap_state *account)
{
    const nap_reach r = nap_flown_reach(&l->m->env, l->n, l->plant, l->layout, l->body, l->speed, &l->inputs);
    const nap_bounds b = nap_bounds_of(&l->plant->effects, &r.effect);
    if (l->n->open_loop && !l->inputs.turbulent && !l->n->strict) {
        flags = evaluate_open_loop(l, &r, &b, block, flags, account->deviation);
    } else if (number < l->m->drone_count && world->loop_states != NULL &&
               vy_loop_is_isolated(world, number)) {
        flags = evaluate_closed_loop(world, number, l, &b, block, flags, account->deviation);
    } else { // nothing is known of how an error grows, so none is made
        flags = all_nonzero(&b);
        block->standing = l->n->strict ? BUDGET_WITHIN : BUDGET_NO_BOUND;
    }
    nap_add_impulses(l->n, &b, l->inputs.period, flags, account);
    nap_add_thin_air(&l->m->env, l->n, l->plant, &r, l->inputs.period, flags, account);
    if (block->standing == BUDGET_WITHIN && is_exceeded(&l->m->nap.budget, account->deviation)) {
        block->standing = BUDGET_EXCEEDED;
        block->since = l->tick;
    }
    return flags;
}

static void evaluate_drone(vy_world *world, uint32_t i, uint64_t tick, uint64_t ticks)
{
    const vy_model *m = &world->model;
    const drone_params *p = &m->params[i];
    drone_block *d = &world->drones[i];
    evaluation l = {m,
                    &p->nap,
                    &p->plant,
                    &m->drones[i].layout,
                    &d->body,
                    d->rotor_speed,
                    nap_inputs_at(m, i, tick, ticks, world->noise, &d->body, &d->turbulence, d->gust),
                    tick};
    double command[VY_ROTOR_CAP];
    for (int k = 0; k < l.layout->count; ++k) command[k] = motor_speed(&p->motor, d->control.motors[k]);
    l.inputs.command = command;
    const uint64_t before = d->effects;
    d->effects = evaluate(world, i, &l, before, &world->budgets[i], &world->nap_accounts[i]);
    d->effect_changes += nap_changes(before, d->effects);
}

static void evaluate_body(vy_world *world, uint32_t k, uint64_t tick, uint64_t ticks)
{
    static const double zero_speeds[VY_ROTOR_CAP];
    static const rotor_layout no_rotors;
    const vy_model *m = &world->model;
    const uint32_t number = m->drone_count + k;
    body_block *b = &world->passive[k];
    body_account_block *account = &world->passive_accounts[k];
    evaluation l = {m,
                    &m->passive[k].nap,
                    &m->passive[k].plant,
                    &no_rotors,
                    &b->body,
                    zero_speeds,
                    nap_inputs_at(m, number, tick, ticks, world->noise, &b->body, &b->turbulence, b->gust),
                    tick};
    l.inputs.command = zero_speeds;
    nap_state parts; // of each effect in this period: the account has their sum
    memset(&parts, 0, sizeof parts);
    memcpy(parts.deviation, account->deviation, sizeof parts.deviation);
    const uint64_t before = b->effects;
    b->effects = evaluate(world, number, &l, before, &world->budgets[number], &parts);
    b->effect_changes += nap_changes(before, b->effects);
    for (int e = 0; e < EFFECT_COUNT; ++e) {
        account->impulse += parts.impulse[e];
        account->angular += parts.angular[e];
    }
    memcpy(account->deviation, parts.deviation, sizeof parts.deviation);
}

void vy_budget_evaluate(vy_world *world, uint32_t number, uint64_t tick, uint64_t ticks)
{
    const uint32_t drones = world->model.drone_count;
    VY_ASSERT(world->budgets != NULL && number < body_count(&world->model));
    if (number < drones) {
        evaluate_drone(world, number, tick, ticks);
    } else {
        evaluate_body(world, number - drones, tick, ticks);
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
