// energy.c - an account of energy: the work of rotors and thrusters and of every effect, by the quadrature of
// the integrator.
//
// RK4: with the rates k_i of the four stages, v' = v + h/6 (k1 + 2 k2 + 2 k3 + k4). The work of a force is
// the same sum over its power F.v + t.w at the stages. Both are of order 4, so what is left of dK - dW is of
// order h^4 and shows whether the account is complete.
//
// The others change velocities by kicks, dv = h F/m with one F. A kick's work is h F.(v + v')/2, and of a
// torque likewise: for a kick this is dK to rounding. The Lie midpoint's free turn does no work, so its
// account is complete to rounding; the Euler steps kick with the gyroscopic term too, and the energy that
// this creates is left.
#include "world/plant.h"
#include "base/assert.h"
#include "base/real.h"
#include "world/stages.h"
#include "world/world_impl.h"

/// Power of each cause at one moment [W].
typedef struct powers {
    double rotors, effect[EFFECT_COUNT]; // rotors and thrusters; each effect
} powers;

static double kinetic_energy_of(const multirotor_params *p, const body_state *s)
{
    const double spin = vec3_dot(s->rate, mat3_mul_vec(p->body.inertia, s->rate));
    return 0.5 * (p->effects.mass * vec3_dot(s->velocity, s->velocity) + spin);
}

static double power_of(const body_state *s, vec3 force, vec3 torque)
{
    return vec3_dot(force, s->velocity) + vec3_dot(torque, s->rate);
}

/// The powers of what acts, along the velocities of `velocities`.
static powers powers_of(const load_parts *parts, const body_state *velocities)
{
    vy_loads loads;
    vy_loads_of(parts, &loads);
    powers p = {.rotors = power_of(velocities, vec3_add(loads.rotor_force, loads.thruster_force),
                                   vec3_add(loads.rotor_torque, loads.thruster_torque))};
    for (int k = 0; k < EFFECT_COUNT; ++k)
        p.effect[k] = power_of(velocities, loads.force[k], loads.torque[k]);
    return p;
}

static void add_work(double work, double *total, energy_balance *account)
{
    *total += work;
    account->exchanged += real_abs(work);
}

static double rk4_average(double h, double a, double b, double c, double d)
{
    return h * (1.0 / 6.0) * ((a + d) + 2.0 * (b + c));
}

/// The work of a step from the powers at its four stages.
static void add_stages(double h, const powers p[4], energy_balance *account)
{
    add_work(rk4_average(h, p[0].rotors, p[1].rotors, p[2].rotors, p[3].rotors), &account->rotors, account);
    for (int k = 0; k < EFFECT_COUNT; ++k) {
        add_work(rk4_average(h, p[0].effect[k], p[1].effect[k], p[2].effect[k], p[3].effect[k]),
                 &account->work[k], account);
    }
}

/// A step of the plant once more, from the same inputs. Speeds are those of rotors and, behind them, thrusts
/// of thrusters.
typedef struct step_inputs {
    const multirotor_inputs *in;
    double h;                                               // [s] length of the step
    const double *command;                                  // targets of the speeds
    const double *start_speeds, *half_speeds, *full_speeds; // at the start, half-way, at the end
    const body_state *start;
} step_inputs;

static void account_for_stages(const step_inputs *step, energy_balance *account)
{
    const double h = step->h;
    const double *const speeds[4] = {step->start_speeds, step->half_speeds, step->half_speeds,
                                     step->full_speeds};
    const double stage_times[4] = {0.0, 0.5 * h, 0.5 * h, h};
    body_state s = *step->start;
    powers p[4];
    for (int n = 0; n < 4; ++n) {
        load_parts parts;
        const body_derivatives k =
            multirotor_derivative_parts(step->in, &s, speeds[n], step->command, step->in->layout->count,
                                        VARIANT_GENERAL, step->in->held.time + stage_times[n], &parts);
        p[n] = powers_of(&parts, &s);
        if (n < 3) s = body_advance(step->start, stage_times[n + 1], &k);
    }
    add_stages(h, p, account);
}

static body_state mean_velocities(const body_state *from, const body_state *to)
{
    body_state mean = *from;
    mean.velocity = vec3_scale(0.5, vec3_add(from->velocity, to->velocity));
    mean.rate = vec3_scale(0.5, vec3_add(from->rate, to->rate));
    return mean;
}

static void add_kick(double h, const powers *p, energy_balance *account)
{
    add_work(h * p->rotors, &account->rotors, account);
    for (int k = 0; k < EFFECT_COUNT; ++k) add_work(h * p->effect[k], &account->work[k], account);
}

/// A kick of length h from `from` to `to` by what acts.
static void account_for_kick(double h, const load_parts *parts, const body_state *from, const body_state *to,
                             energy_balance *account)
{
    const body_state mean = mean_velocities(from, to);
    const powers p = powers_of(parts, &mean);
    add_kick(h, &p, account);
}

/// The same evaluations as in multirotor_step_with.
static void account_for_kicks(const step_inputs *step, vy_integrator integrator, energy_balance *account)
{
    const body_params *body = &step->in->params->body;
    const body_state *s = step->start;
    const double h = step->h, half_step = 0.5 * h, start_time = step->in->held.time,
                 end_time = start_time + h;
    body_wrench wrench;
    load_parts first_parts, second_parts;
    multirotor_wrench_recorded(step->in, s, step->start_speeds, step->command, start_time, &first_parts,
                               &wrench);
    if (integrator != VY_INTEGRATOR_LIE_MIDPOINT) { // the velocities of both Euler steps are the same
        const body_state next = body_euler(body, s, h, &wrench);
        account_for_kick(h, &first_parts, s, &next, account);
        return;
    }
    const body_state kicked = body_kicked(body, s, half_step, &wrench);
    const body_state drifted = body_drifted(body, &kicked, h);
    multirotor_wrench(step->in, &drifted, step->full_speeds, step->command, end_time, &wrench);
    const body_state predicted = body_kicked(body, &drifted, half_step, &wrench);
    multirotor_wrench_recorded(step->in, &predicted, step->full_speeds, step->command, end_time,
                               &second_parts, &wrench);
    const body_state next = body_kicked(body, &drifted, half_step, &wrench);
    account_for_kick(half_step, &first_parts, s, &kicked, account);
    account_for_kick(half_step, &second_parts, &drifted, &next, account);
}

/// The powers at a moment of a coupled step, along the velocities of `velocities`.
static powers powers_at_stage(const multirotor_inputs *in, double h, int half_steps,
                              const body_state *velocities, coupled_stage *stage)
{
    multirotor_inputs stage_inputs;
    body_wrench wrench;
    load_parts parts;
    coupled_inputs(in, stage, half_steps, &stage_inputs);
    multirotor_wrench_recorded(&stage_inputs, &stage->body, stage->speed, stage->target,
                               coupled_time(in, h, half_steps), &parts, &wrench);
    return powers_of(&parts, velocities);
}

/// The same evaluations as in coupled_rk4 and coupled_lie_midpoint.
static void account_for_coupled(const step_inputs *step, vy_integrator integrator, double charge,
                                energy_balance *account)
{
    body_state s = *step->start;
    double speed[VY_ROTOR_CAP];
    coupled_state coupled;
    coupled_stage stages[4];
    memcpy(speed, step->start_speeds, sizeof speed);
    memset(&coupled, 0, sizeof coupled);
    if (step->in->memory != NULL) coupled.air = *step->in->memory;
    coupled.charge = charge;
    if (integrator == VY_INTEGRATOR_RK4) {
        static const int half_steps[4] = {0, 1, 1, 2};
        powers stage_powers[4];
        coupled_rk4(step->in, step->h, step->command, &s, speed, &coupled, stages, NULL);
        for (int n = 0; n < 4; ++n)
            stage_powers[n] = powers_at_stage(step->in, step->h, half_steps[n], &stages[n].body, &stages[n]);
        add_stages(step->h, stage_powers, account);
        return;
    }
    coupled_lie_midpoint(step->in, step->h, step->command, &s, speed, &coupled, stages, NULL);
    const double half_step = 0.5 * step->h;
    body_wrench wrench;
    coupled_wrench(step->in, step->h, step->command, 0, &stages[0], NULL, &wrench);
    const body_state kicked = body_kicked(&step->in->params->body, step->start, half_step, &wrench);
    const body_state means[2] = {mean_velocities(step->start, &kicked), mean_velocities(&stages[1].body, &s)};
    const powers first = powers_at_stage(step->in, step->h, 0, &means[0], &stages[0]);
    const powers last = powers_at_stage(step->in, step->h, 2, &means[1], &stages[2]);
    add_kick(half_step, &first, account);
    add_kick(half_step, &last, account);
}

/// Whether the step of drone or body `i` is coupled.
static int is_coupled(const vy_model *m, uint32_t i)
{
    return i < m->drone_count ? plant_is_coupled(m, i) : body_is_coupled(m);
}

/// Speed targets, and speeds of motors without a lag, in a step over which the battery's voltage is held.
static void apply_battery_voltage(const multirotor_inputs *in, double charge, double *target, double *speed)
{
    double current;
    const double ratio = battery_voltage_ratio(in, charge, speed, &current);
    for (int k = 0; k < in->layout->count; ++k) target[k] *= ratio;
    ideal_motors_follow(in->layout, in->params, in->battery->capacity > 0.0, target, speed);
}

void vy_energy_stage(vy_world *world, const vy_model *m)
{
    if (m->physics.engine == VY_ENGINE_SIMPLE) return; // its step has no stages
    VY_ASSERT(world->tracks_energy && world->state->tick > 0);
    const double time = time_of(m, world->state->tick - 1u);
    for (uint32_t i = 0; i < body_count(m); ++i) {
        body_inputs inputs;
        vy_body_inputs(world, m, i, time, &inputs);
        double start_speeds[VY_ROTOR_CAP] = {0.0}, half_speeds[VY_ROTOR_CAP] = {0.0},
               full_speeds[VY_ROTOR_CAP] = {0.0};
        const int is_drone = i < m->drone_count,
                  is_coupled_step = step_is_coupled(&inputs.in) && is_coupled(m, i);
        double target[VY_ROTOR_CAP] = {0.0}, charge = 0.0; // of a body: none is read
        if (is_drone) {
            memcpy(target, world->speeds[i], sizeof target);
            if (m->has_powertrain) charge = world->powertrain[i].battery.charge;
            actuators_gather(inputs.in.layout, &world->drones[i],
                             world->thrusters != NULL ? &world->thrusters[i] : NULL, start_speeds);
            if (inputs.in.battery != NULL && !is_coupled_step)
                apply_battery_voltage(&inputs.in, charge, target, start_speeds);
            multirotor_follow(&inputs.in, target, start_speeds, half_speeds, full_speeds);
        }
        const step_inputs step = {&inputs.in,  m->dt,       target,           start_speeds,
                                  half_speeds, full_speeds, body_at(world, i)};
        const int is_rk4 = m->physics.integrator == VY_INTEGRATOR_RK4;
        const vy_integrator integrator =
            is_rk4 && rotates_too_far(step.start, m->dt) ? VY_INTEGRATOR_LIE_MIDPOINT : m->physics.integrator;
        if (is_coupled_step) {
            account_for_coupled(&step, integrator, charge, &world->energy_balances[i]);
        } else if (integrator == VY_INTEGRATOR_RK4) {
            account_for_stages(&step, &world->energy_balances[i]);
        } else {
            account_for_kicks(&step, integrator, &world->energy_balances[i]);
        }
    }
}

void vy_energy_contact(vy_world *world, uint32_t index, const body_state *free_motion,
                       const body_state *solved_motion)
{
    VY_ASSERT(world->tracks_energy);
    const multirotor_params *p = body_plant(&world->model, index);
    const double work = kinetic_energy_of(p, solved_motion) - kinetic_energy_of(p, free_motion);
    world->energy_balances[index].contacts += work;
    world->energy_balances[index].exchanged += real_abs(work);
}

void vy_energy_impulse(vy_world *world, uint32_t index, vec3 impulse, vec3 angular_impulse,
                       const body_state *start, const body_state *end)
{
    const double work = 0.5 * (vec3_dot(impulse, vec3_add(start->velocity, end->velocity)) +
                               vec3_dot(angular_impulse, vec3_add(start->rate, end->rate)));
    world->energy_balances[index].contacts += work;
    world->energy_balances[index].exchanged += real_abs(work);
}

static double closing_work(const vy_world *world, uint32_t index)
{
    return world->bodies != NULL ? vy_closing_work_on(world->bodies, index) : 0.0;
}

void vy_world_track_energy(vy_world *world)
{
    FPU_SCOPE;
    world->tracks_energy = world->model.has_prestep = 1;
    world->options = step_options(&world->model);
    for (uint32_t i = 0; i < body_count(&world->model); ++i) {
        world->energy_balances[i] = (energy_balance){0};
        world->energy_balances[i].start = kinetic_energy_of(body_plant(&world->model, i), body_at(world, i));
        world->energy_balances[i].closing_start = closing_work(world, i);
    }
}

double vy_body_kinetic_energy(const vy_world *world, uint32_t index)
{
    return kinetic_energy_of(body_plant(&world->model, index), body_at(world, index));
}

void vy_body_energy(const vy_world *world, uint32_t index, vy_energy *out)
{
    const multirotor_params *plant = body_plant(&world->model, index);
    const body_state *motion = body_at(world, index);
    const energy_balance *balance = &world->energy_balances[index];
    vy_energy energy = {.kinetic = kinetic_energy_of(plant, motion),
                        .rotors = balance->rotors,
                        .contacts = balance->contacts,
                        .exchanged = balance->exchanged};
    energy.potential = plant->effects.mass * gravity_potential(&world->model.env.gravity, motion->position);
    if (world->tracks_energy) energy.closing = closing_work(world, index) - balance->closing_start;
    double sum = (balance->rotors + balance->contacts) + energy.closing;
    for (int k = 0; k < EFFECT_COUNT; ++k) {
        energy.work[k] = balance->work[k];
        sum += balance->work[k];
    }
    energy.dissipated = -((balance->work[EFFECT_linear_drag] + balance->work[EFFECT_drag]) +
                          (balance->work[EFFECT_aero_torque] + balance->work[EFFECT_damping]));
    if (world->tracks_energy) energy.residual = (energy.kinetic - balance->start) - sum;
    *out = energy;
}
