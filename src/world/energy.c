// energy.c - an account of energy: the work of rotors and thrusters and of every effect, by the quadrature of
// the integrator.
//
// RK4: with the rates k_i of the four stages, v' = v + h/6 (k1 + 2 k2 + 2 k3 + k4). The work of a force is
// the same sum over its power F.v + t.w at the stages. Both are of order 4, so what is left of dK - dW is of
// order h^4 and shows whether the account is complete.
//
// The others change velocities by kicks, dv = h F/m with one F. A kick's work is h F.(v + v')/2, and of a
// torque likewise: for a kick this is dK to rounding. The Lie midpoint's free turn does no work, so its
// account is complete to rounding; the Euler steps kick with the gyroscopic term too, and what that invents
// is left.
#include "world/plant.h"
#include "base/assert.h"
#include "base/real.h"
#include "world/world_impl.h"

/// Power of each cause at one moment [W].
typedef struct powers {
    double rotors, effect[EFFECT_COUNT];
} powers;

static double kinetic_of(const drone_params *p, const body_state *s)
{
    const double spin = vec3_dot(s->rate, mat3_mul_vec(p->plant.body.inertia, s->rate));
    return 0.5 * (p->plant.effects.mass * vec3_dot(s->velocity, s->velocity) + spin);
}

static double power_of(const body_state *s, vec3 force, vec3 torque)
{
    return vec3_dot(force, s->velocity) + vec3_dot(torque, s->rate);
}

/// The powers of what acts at `s`, along the velocities of `along`.
static powers powers_at(const multirotor_inputs *in, const body_state *s, const body_state *along,
                        const double *speed, const double *command, double time)
{
    vy_loads loads;
    vy_loads_at(in, s, speed, command, time, &loads);
    powers p = {.rotors = power_of(along, vec3_add(loads.rotor_force, loads.thruster_force),
                                   vec3_add(loads.rotor_torque, loads.thruster_torque))};
    for (int k = 0; k < EFFECT_COUNT; ++k) p.effect[k] = power_of(along, loads.force[k], loads.torque[k]);
    return p;
}

static void enter(double work, double *entry, energy_account *account)
{
    *entry += work;
    account->exchanged += real_abs(work);
}

static double weigh(double h, double a, double b, double c, double d)
{
    return h * (1.0 / 6.0) * ((a + d) + 2.0 * (b + c));
}

/// A step of the plant once more, from the same inputs; speeds and thrusts at its start, half-way and at its
/// end.
typedef struct step_again {
    const multirotor_inputs *in;
    double h;
    const double *command;
    const double *now, *half, *full;
    const body_state *start;
} step_again;

static void account_for_stages(const step_again *a, energy_account *account)
{
    const double h = a->h;
    const double *const speeds[4] = {a->now, a->half, a->half, a->full};
    const double after[4] = {0.0, 0.5 * h, 0.5 * h, h};
    body_state s = *a->start;
    powers p[4];
    for (int n = 0; n < 4; ++n) {
        const double time = a->in->held.time + after[n];
        p[n] = powers_at(a->in, &s, &s, speeds[n], a->command, time);
        if (n == 3) break;
        const body_rates k =
            multirotor_derivative(a->in, &s, speeds[n], a->command, a->in->layout->count, WAY_ANY, time);
        s = body_advance(a->start, after[n + 1], &k);
    }
    enter(weigh(h, p[0].rotors, p[1].rotors, p[2].rotors, p[3].rotors), &account->rotors, account);
    for (int k = 0; k < EFFECT_COUNT; ++k) {
        enter(weigh(h, p[0].effect[k], p[1].effect[k], p[2].effect[k], p[3].effect[k]), &account->work[k],
              account);
    }
}

/// A kick of length h from `from` to `to` by what acts at `s`.
static void account_for_kick(const step_again *a, double h, const body_state *s, const double *speed,
                             double time, const body_state *from, const body_state *to,
                             energy_account *account)
{
    body_state mean = *from;
    mean.velocity = vec3_scale(0.5, vec3_add(from->velocity, to->velocity));
    mean.rate = vec3_scale(0.5, vec3_add(from->rate, to->rate));
    const powers p = powers_at(a->in, s, &mean, speed, a->command, time);
    enter(h * p.rotors, &account->rotors, account);
    for (int k = 0; k < EFFECT_COUNT; ++k) enter(h * p.effect[k], &account->work[k], account);
}

/// As multirotor_step_by goes.
static void account_for_kicks(const step_again *a, vy_integrator integrator, energy_account *account)
{
    const body_params *body = &a->in->params->body;
    const body_state *s = a->start;
    const double h = a->h, half = 0.5 * h, start = a->in->held.time, end = start + h;
    body_wrench push;
    multirotor_push(a->in, s, a->now, a->command, start, &push);
    if (integrator != VY_INTEGRATOR_LIE_MIDPOINT) { // the velocities of both Euler steps are the same
        const body_state n = body_euler(body, s, h, &push);
        account_for_kick(a, h, s, a->now, start, s, &n, account);
        return;
    }
    const body_state kicked = body_kicked(body, s, half, &push);
    const body_state drifted = body_drifted(body, &kicked, h);
    multirotor_push(a->in, &drifted, a->full, a->command, end, &push);
    const body_state tried = body_kicked(body, &drifted, half, &push);
    multirotor_push(a->in, &tried, a->full, a->command, end, &push);
    const body_state n = body_kicked(body, &drifted, half, &push);
    account_for_kick(a, half, s, a->now, start, s, &kicked, account);
    account_for_kick(a, half, &tried, a->full, end, &drifted, &n, account);
}

void vy_energy_stage(vy_world *world, const vy_model *m)
{
    if (m->physics.engine == VY_ENGINE_SIMPLE) return; // its step has no stages
    VY_ASSERT(world->accounting && world->state->tick > 0);
    const double time = time_of(m, world->state->tick - 1u);
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const drone_block *d = &world->drones[i];
        multirotor_inputs in;
        plant_inputs(m, i, world->loads, time, d, world->gear, &in);
        double now[VY_ROTOR_CAP] = {0.0}, half[VY_ROTOR_CAP] = {0.0}, full[VY_ROTOR_CAP] = {0.0};
        actuators_gather(in.layout, d, &world->thrusters[i], now);
        multirotor_follow(&in, world->speeds[i], now, half, full);
        const step_again again = {&in, m->dt, world->speeds[i], now, half, full, &d->body};
        if (m->physics.integrator == VY_INTEGRATOR_RK4) {
            account_for_stages(&again, &world->accounts[i]);
        } else {
            account_for_kicks(&again, m->physics.integrator, &world->accounts[i]);
        }
    }
}

void vy_energy_contact(vy_world *world, uint32_t index, const body_state *flown, const body_state *now)
{
    VY_ASSERT(world->accounting && index < world->model.drone_count);
    const drone_params *p = &world->model.params[index];
    const double work = kinetic_of(p, now) - kinetic_of(p, flown);
    world->accounts[index].contacts += work;
    world->accounts[index].exchanged += real_abs(work);
}

void vy_energy_impulse(vy_world *world, uint32_t index, vec3 impulse, vec3 angular, const body_state *from,
                       const body_state *to)
{
    const double work = 0.5 * (vec3_dot(impulse, vec3_add(from->velocity, to->velocity)) +
                               vec3_dot(angular, vec3_add(from->rate, to->rate)));
    world->accounts[index].contacts += work;
    world->accounts[index].exchanged += real_abs(work);
}

void vy_world_open_account(vy_world *world)
{
    FPU_SCOPE;
    world->accounting = world->watching = 1;
    for (uint32_t i = 0; i < world->model.drone_count; ++i) {
        world->accounts[i] = (energy_account){0};
        world->accounts[i].start = kinetic_of(&world->model.params[i], &world->drones[i].body);
    }
}

double vy_drone_kinetic(const vy_world *world, uint32_t index)
{
    VY_ASSERT(index < world->model.drone_count);
    return kinetic_of(&world->model.params[index], &world->drones[index].body);
}

void vy_drone_energy(const vy_world *world, uint32_t index, vy_energy *out)
{
    const drone_params *p = &world->model.params[index];
    const body_state *s = &world->drones[index].body;
    const energy_account *a = &world->accounts[index];
    vy_energy e = {
        .kinetic = kinetic_of(p, s), .rotors = a->rotors, .contacts = a->contacts, .exchanged = a->exchanged};
    e.potential = p->plant.effects.mass * gravity_potential(&world->model.env.gravity, s->position);
    double sum = a->rotors + a->contacts;
    for (int k = 0; k < EFFECT_COUNT; ++k) {
        e.work[k] = a->work[k];
        sum += a->work[k];
    }
    e.dissipated = -((a->work[EFFECT_linear_drag] + a->work[EFFECT_drag]) +
                     (a->work[EFFECT_aero_torque] + a->work[EFFECT_damping]));
    if (world->accounting) e.residual = (e.kinetic - a->start) - sum;
    *out = e;
}
