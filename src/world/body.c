// body.c - bodies that are no drones: crates, loads, links of an arm. They fall, drift in the wind, collide
// and are held by joints as drones are, and have neither rotors nor sensors nor a controller.
#include "base/assert.h"
#include "base/fail.h"
#include "base/finite.h"
#include "base/limits.h"
#include "base/real.h"
#include "world/budget_loop.h"
#include "world/build.h"
#include "world/plant.h"
#include "world/environment_stage.h"
#include "world/world_def.h"
#include "world/world_impl.h"

#define BODY_COOKIE 0x76796c54u

_Static_assert(sizeof(body_block) + sizeof(body_account_block) + sizeof(contact_totals_block) <= 400,
               "a body with gravity, drag, wind, an account and contacts is small");

// Rotors of a body: none, and their speeds.
static const rotor_layout no_rotors;
static const double zero_speeds[VY_ROTOR_CAP];

vy_world_body_def vy_default_world_body_def(void)
{
    return (vy_world_body_def){
        .cookie = BODY_COOKIE,
        .mass = 1.0,
        .inertia = {{{0.1, 0.0, 0.0}, {0.0, 0.1, 0.0}, {0.0, 0.0, 0.1}}},
        .attitude = {.w = 1.0},
        .solid = vy_default_collider_def(),
    };
}

vy_status vy_check_world_body_def(const vy_world_body_def *def, vy_error *err)
{
    if (def->cookie != BODY_COOKIE)
        return vy_fail(err, VY_BAD_VALUE, "body: start from vy_default_world_body_def()");
    const vy_vehicle_def v = vy_body_vehicle(def);
    vy_error vehicle_error = {.status = VY_OK};
    const vy_status status = vy_check_vehicle_def(&v, &vehicle_error);
    if (status != VY_OK) return vy_fail(err, status, "body%s", vehicle_error.text + strlen("vehicle"));
    const body_state start = {def->position, def->velocity, def->attitude, def->rate};
    const vy_status started = vy_check_start("body", &start, err);
    if (started != VY_OK) return started;
    const double length = quat_dot(def->attitude, def->attitude);
    if (!(length > 0.0 && real_is_finite(length)))
        return vy_fail(err, VY_BAD_VALUE, "body.attitude must have a length above 0");
    return vy_check_rows(&vy_table_crash, "body.crash", &def->crash, err);
}

// --- the step

// What the plant of one body reads: `load` is its own in world->loads. `air` is written when wakes are
// declared.
static void passive_inputs(const vy_model *m, uint32_t k, const body_loads *load, double time,
                           const body_block *b, const body_wake_block *wakes, body_inputs *out)
{
    multirotor_inputs *in = &out->in;
    in->layout = &no_rotors;
    in->params = &m->passive[k].plant;
    in->env = &m->env;
    in->held.disturbance = *load;
    in->held.turbulence = b->gust;
    in->held.time = time;
    in->held.ground = 0.0;
    in->flags = b->effects;
    in->memory = NULL;
    in->half = in->end = NULL;
    in->battery = NULL;
    in->has_inflow = 0;
    in->steady = NULL;
    if (m->has_sinusoid) {
        in->half = load + body_count(m);
        in->end = load + 2 * body_count(m);
    }
    if (!m->wakes.on) return;
    memset(&out->air, 0, sizeof out->air);
    out->air.downwash = wakes[k].downwash;
    in->memory = &out->air;
}

void vy_body_inputs(const vy_world *world, const vy_model *plant_model, uint32_t number, double time,
                    body_inputs *out)
{
    const uint32_t drone_count = plant_model->drone_count;
    VY_ASSERT(number < body_count(plant_model));
    if (number < drone_count) {
        plant_inputs(plant_model, number, world->loads, time, &world->drones[number], world->powertrain,
                     &out->in);
    } else {
        const uint32_t k = number - drone_count;
        passive_inputs(plant_model, k, &world->loads[number], time, &world->passive[k], world->passive_wakes,
                       out);
    }
}

// One evaluation of the policy for body `k`; the next one is `period_ticks` later.
static void evaluate_nap(vy_world *world, uint32_t k, uint64_t tick, uint64_t period_ticks)
{
    const vy_model *m = &world->model;
    const uint32_t number = m->drone_count + k;
    body_block *b = &world->passive[k];
    body_account_block *account = &world->passive_accounts[k];
    nap_inputs inputs =
        nap_inputs_at(m, number, tick, period_ticks, world->noise, &b->body, &b->turbulence, b->gust);
    inputs.command = zero_speeds;
    nap_state period_account; // of each effect in this period: the account has their sum
    memset(&period_account, 0, sizeof period_account);
    memcpy(period_account.deviation, account->deviation, sizeof period_account.deviation);
    const uint64_t effects_before = b->effects;
    b->effects = nap_evaluate(&m->env, &m->passive[k].nap, &m->passive[k].plant, &no_rotors, &b->body,
                              zero_speeds, &inputs, effects_before, &period_account);
    b->effect_changes += nap_changes(effects_before, b->effects);
    for (int e = 0; e < EFFECT_COUNT; ++e) {
        account->impulse += period_account.impulse[e];
        account->angular += period_account.angular[e];
    }
    memcpy(account->deviation, period_account.deviation, sizeof period_account.deviation);
}

void vy_body_environment_stage(vy_world *world)
{
    const vy_model *m = &world->model;
    const uint64_t tick = world->state->tick - 1u;
    if (due(tick, m->turbulence_period)) {
        for (uint32_t k = 0; k < m->passive_count; ++k) {
            body_block *b = &world->passive[k];
            turbulence_update(m, m->drone_count + k, tick, 1, &b->body, &b->turbulence, &b->gust);
        }
    }
    if (m->wakes.on) vy_rotor_wake_bodies(m, tick, world->wakes, world->passive, world->passive_wakes);
    if (!due(tick, m->nap_period) || m->nap.budget.duration > 0.0) return;
    for (uint32_t k = 0; k < m->passive_count; ++k) evaluate_nap(world, k, tick, m->nap_period);
}

int vy_body_reevaluate_nap(vy_world *world, uint32_t number)
{
    const vy_model *m = &world->model;
    const uint64_t tick = world->state->tick - 1u, ticks_since = tick % m->nap_period;
    if (ticks_since == 0) return 0; // it has just been evaluated
    if (m->nap.budget.duration > 0.0) {
        vy_budget_evaluate(world, number, tick, m->nap_period - ticks_since);
    } else if (number < m->drone_count) {
        nap_evaluate_drone(m, number, tick, m->nap_period - ticks_since, 1, world->noise,
                           &world->drones[number], &world->nap_accounts[number]);
    } else {
        evaluate_nap(world, number - m->drone_count, tick, m->nap_period - ticks_since);
    }
    return 1;
}

static void integrate(const vy_model *m, const multirotor_inputs *in, body_state *s, load_parts *parts)
{
    double no_speeds[VY_ROTOR_CAP] = {0.0};
    if (step_is_coupled(in) && body_is_coupled(m)) {
        plant_move_coupled(m, in, zero_speeds, s, no_speeds, NULL, parts);
    } else if (m->strict_rk4) {
        multirotor_step_rk4(in, m->dt, zero_speeds, s, no_speeds);
    } else if (m->physics.engine == VY_ENGINE_SIMPLE) {
        simple_step(in, m->dt, zero_speeds, s, no_speeds, parts);
        simple_move(m->dt, m->physics.boundary, s);
    } else {
        multirotor_step_with(m->physics.integrator, in, m->dt, zero_speeds, s, no_speeds, parts);
    }
}

void vy_body_plant_stage(vy_world *world)
{
    const vy_model *m = &world->model;
    const double time = time_of(m, world->state->tick - 1u);
    for (uint32_t k = 0; k < m->passive_count; ++k) {
        body_block *b = &world->passive[k];
        if (m->passive[k].holder != HELD_BY_NOTHING) continue;
        body_inputs inputs;
        passive_inputs(m, k, &world->loads[m->drone_count + k], time, b, world->passive_wakes, &inputs);
        integrate(m, &inputs.in, &b->body,
                  m->loads_at_start != NULL ? &m->loads_at_start[m->drone_count + k] : NULL);
        vy_body_check_finite(world, k);
    }
}

void vy_body_check_finite(vy_world *world, uint32_t k)
{
    const double *values = &world->passive[k].body.position.x;
    for (size_t cell = 0; cell < BODY_REALS; ++cell) {
        if (real_is_bounded(values[cell])) continue;
        world_fail(1, VY_FAILURE_NOT_FINITE, world->model.drone_count + k, 0.0, 0.0, body_field_at(cell),
                   world->state);
        return;
    }
}

// --- bodies of a world

vy_status vy_world_add_body(vy_world *world, const vy_world_body_def *def, vy_body_id *out, vy_error *err)
{
    FPU_SCOPE;
    vy_model *m = &world->model;
    if (world->state->tick > 0) return vy_fail(err, VY_BAD_STATE, "bodies are added before the first step");
    if (m->payload_count > 0) return vy_fail(err, VY_BAD_STATE, "bodies are added before payloads");
    vy_status status = vy_check_world_body_def(def, err);
    if (status == VY_OK) status = vy_check_position(m, "body", def->position, err);
    if (status == VY_OK)
        status = vy_world_reserve(world, CAPACITY_BODIES, (uint64_t)m->passive_count + 1, err);
    if (status == VY_OK) status = vy_world_reserve_loads(world, body_count(m) + 1, err);
    if (status == VY_OK) status = vy_contact_add_body(world, def, err);
    if (status != VY_OK) return status;

    const uint32_t k = m->passive_count++;
    body_model *model = &m->passive[k];
    vy_body_build(m, def, model);
    if (m->collides) model->nap.open_loop = 0; // the bound is that of a body alone
    vy_world_layout_state(world);
    body_block *b = &world->passive[k];
    b->body = (body_state){def->position, def->velocity, quat_normalize(def->attitude), def->rate};
    b->effects = model->nap.rotors ? EFFECTS_ALL : EFFECTS_OF_BODIES;
    VY_ASSERT(body_is_finite(&b->body) && world->counts.of[BLOCK_body] == m->passive_count);
    VY_ASSERT(world->bodies == NULL || vy_bodies_slot_count(world->bodies) == body_count(m));
    if (out != NULL) *out = vy_world_body(world, m->drone_count + k);
    return VY_OK;
}

// Handles as the set has them that joints and contacts are solved in: low half number + 1, high half
// generation, always 0.
int vy_world_number(const vy_world *world, vy_body_id id, uint32_t *number)
{
    if (id.bits == 0 || id.bits > body_count(&world->model)) return 0;
    *number = (uint32_t)id.bits - 1;
    return 1;
}

uint32_t vy_world_body_count(const vy_world *world) { return body_count(&world->model); }

vy_body_id vy_world_body(const vy_world *world, uint32_t number)
{
    if (number >= body_count(&world->model)) return VY_NULL_BODY;
    return (vy_body_id){number + 1u};
}

vy_body_id vy_world_drone_body(const vy_world *world, vy_drone_id id)
{
    uint32_t slot;
    return vy_world_slot(world, id, &slot) ? vy_world_body(world, slot) : VY_NULL_BODY;
}

vy_status vy_world_read_body(const vy_world *world, vy_body_id id, vy_world_body_state *out)
{
    FPU_SCOPE;
    uint32_t number;
    if (!vy_world_number(world, id, &number)) return VY_NOT_FOUND;
    const body_state *motion = body_at(world, number);
    vy_world_body_state state = {.position = motion->position,
                                 .velocity = motion->velocity,
                                 .attitude = motion->attitude,
                                 .rate = motion->rate};
    if (world->contact_totals != NULL) {
        const contact_totals_block *totals = &world->contact_totals[number];
        state.touching = totals->now;
        state.contacts = totals->count;
        state.crashes = totals->crashes;
        state.contact_impulse =
            vec3_make(totals->contact.impulse[0], totals->contact.impulse[1], totals->contact.impulse[2]);
        state.contact_speed = totals->contact.speed;
        state.contact_impulse_max = totals->contact.impulse_max;
    }
    if (world->sleep != NULL) state.asleep = world->sleep[number].island != 0;
    state.entered = vy_trigger_entered(world, number);
    *out = state;
    return VY_OK;
}

vy_status vy_world_certificate(const vy_world *world, vy_body_id id, vy_certificate *out)
{
    FPU_SCOPE;
    uint32_t number;
    if (!vy_world_number(world, id, &number)) return VY_NOT_FOUND;
    const uint32_t drone_count = world->model.drone_count;
    const vy_budget_def *budget = &world->model.nap.budget;
    vy_certificate c = {.horizon = budget->duration > 0.0 ? budget->duration : world->model.nap.horizon};
    double deviation[DEVIATION_COUNT];
    if (number < drone_count) {
        const nap_account_block *account = &world->nap_accounts[number];
        for (int i = 0; i < EFFECT_COUNT; ++i) {
            c.impulse[i] = account->impulse[i];
            c.angular_impulse[i] = account->angular[i];
            c.total_impulse += account->impulse[i];
            c.total_angular_impulse += account->angular[i];
        }
        c.effects = world->drones[number].effects;
        c.changes = world->drones[number].effect_changes;
        memcpy(deviation, account->deviation, sizeof deviation);
        vy_loop_advance_to_now(world, number, deviation);
    } else {
        const body_account_block *account = &world->passive_accounts[number - drone_count];
        c.total_impulse = account->impulse;
        c.total_angular_impulse = account->angular;
        c.effects = world->passive[number - drone_count].effects;
        c.changes = world->passive[number - drone_count].effect_changes;
        memcpy(deviation, account->deviation, sizeof deviation);
    }
    c.bounded = deviation[DEVIATION_POSITION] < NAP_UNBOUNDED;
    c.rate = deviation[DEVIATION_RATE];
    c.angle = deviation[DEVIATION_ANGLE];
    c.velocity = deviation[DEVIATION_VELOCITY];
    c.position = deviation[DEVIATION_POSITION];
    if (budget->duration > 0.0) {
        static const vy_budget_status standings[] = {VY_BUDGET_WITHIN, VY_BUDGET_EXCEEDED,
                                                     VY_BUDGET_NO_BOUND};
        const budget_block *budget_state = &world->budgets[number];
        c.budget = (vy_budget_report){
            .standing = standings[budget_state->standing % 3],
            .position_left = real_max(budget->position - c.position, 0.0),
            .angle_left = real_max(budget->attitude - c.angle, 0.0),
            .exceeded_time = (double)budget_state->since * world->model.dt,
        };
    }
    *out = c;
    return VY_OK;
}
