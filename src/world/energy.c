// energy.c - an account of energy: the work of rotors and thrusters and of every effect, by the quadrature of
// RK4.
//
// With the rates k_i of the four stages, v' = v + h/6 (k1 + 2 k2 + 2 k3 + k4). The work of a force is the
// same sum over its power F.v + t.w at the stages. Both are of order 4, so what is left of dK - dW is of
// order h^4 and shows whether the account is complete.
#include "world/plant.h"
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

static powers powers_at(const multirotor_inputs *in, const body_state *s, const double *speed,
                        const double *command, double time)
{
    vy_loads loads;
    vy_loads_at(in, s, speed, command, time, &loads);
    powers p = {.rotors = power_of(s, vec3_add(loads.rotor_force, loads.thruster_force),
                                   vec3_add(loads.rotor_torque, loads.thruster_torque))};
    for (int k = 0; k < EFFECT_COUNT; ++k) p.effect[k] = power_of(s, loads.force[k], loads.torque[k]);
    return p;
}

static double weigh(double h, double a, double b, double c, double d)
{
    return h * (1.0 / 6.0) * ((a + d) + 2.0 * (b + c));
}

/// The stages of the plant's step once more, from the same inputs.
static void account_for(const multirotor_inputs *in, double h, const double *command, const drone_block *d,
                        const thruster_block *thrusters, energy_account *account)
{
    const int count = in->layout->count;
    const rotor_params *rotor = &in->params->rotor;
    const rotor_shape *shape = &in->params->shape;
    double now[VY_ROTOR_CAP], half[VY_ROTOR_CAP], full[VY_ROTOR_CAP];
    actuators_gather(in->layout, d, thrusters, now);
    for (int k = 0; k < count; ++k) {
        const int falls = in->layout->general && command[k] < d->rotor_speed[k];
        half[k] =
            rotor_speed_after(d->rotor_speed[k], command[k], falls ? shape->fall_half : rotor->decay_half);
        full[k] =
            rotor_speed_after(d->rotor_speed[k], command[k], falls ? shape->fall_full : rotor->decay_full);
    }
    thrusters_follow(&in->layout->thrusters, now + count, command + count, half + count, full + count);
    const double *const speeds[4] = {now, half, half, full};
    const double after[4] = {0.0, 0.5 * h, 0.5 * h, h};
    body_state s = d->body;
    powers p[4];
    for (int n = 0; n < 4; ++n) {
        const double time = in->held.time + after[n];
        p[n] = powers_at(in, &s, speeds[n], command, time);
        if (n == 3) break;
        const body_rates k = multirotor_derivative(in, &s, speeds[n], command, count, WAY_ANY, time);
        s = body_advance(&d->body, after[n + 1], &k);
    }
    const double rotors = weigh(h, p[0].rotors, p[1].rotors, p[2].rotors, p[3].rotors);
    account->rotors += rotors;
    account->exchanged += real_abs(rotors);
    for (int k = 0; k < EFFECT_COUNT; ++k) {
        const double work = weigh(h, p[0].effect[k], p[1].effect[k], p[2].effect[k], p[3].effect[k]);
        account->work[k] += work;
        account->exchanged += real_abs(work);
    }
}

void vy_energy_stage(vy_world *world, const vy_model *m)
{
    if (m->physics.engine == VY_ENGINE_SIMPLE) return; // its step has no stages
    const double time = time_of(m, world->state->tick - 1u);
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const drone_block *d = &world->drones[i];
        const multirotor_inputs in = plant_inputs(m, i, world->loads, time, d, world->gear);
        account_for(&in, m->dt, world->speeds[i], d, &world->thrusters[i], &world->accounts[i]);
    }
}

void vy_energy_contact(vy_world *world, uint32_t index, const body_state *flown, const body_state *now)
{
    const drone_params *p = &world->model.params[index];
    const double work = kinetic_of(p, now) - kinetic_of(p, flown);
    world->accounts[index].contacts += work;
    world->accounts[index].exchanged += real_abs(work);
}

void vy_world_open_account(vy_world *world)
{
    world->accounting = world->watching = 1;
    for (uint32_t i = 0; i < world->model.drone_count; ++i) {
        world->accounts[i] = (energy_account){0};
        world->accounts[i].start = kinetic_of(&world->model.params[i], &world->drones[i].body);
    }
}

double vy_drone_kinetic(const vy_world *world, uint32_t index)
{
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
