// jointed.c - drones and bodies connected by joints: a load on a cable, an arm, a tether. They are stepped
// together; joints are solved in every stage of the integrator with the loads of that stage.
#include "base/math.h"
#include "base/assert.h"
#include "world/disturbance.h"
#include "world/plant.h"
#include "world/world_impl.h"

_Static_assert(sizeof(gear_block) == sizeof(joint_gear), "copied as memory");

/// A world and the constants that its plant reads in this step, which faults may change.
typedef struct jointed_plant {
    const vy_world *world;
    const vy_model *plant_model;
} jointed_plant;

/// The speed of a rotor after a part of the step, 0 ... 1.
static double speed_after(const multirotor_inputs *in, double speed, double command, double fraction)
{
    const int is_falling = in->layout->general && command < speed;
    const double decay = is_falling ? in->params->curve.fall_full : in->params->rotor.decay_full;
    return rotor_speed_after(speed, command, math_pow(decay, fraction));
}

/// The same for its thrusters' thrusts.
static void thrusts_after(const vy_world *world, uint32_t i, double fraction, double *out)
{
    const thruster_layout *t = &world->model.drones[i].layout.thrusters;
    for (int k = 0; k < t->count; ++k) {
        const double thrust = world->thrusters[i].thrust[k];
        const double target = world->speeds[i][world->model.drones[i].layout.count + k];
        const double decay = target < thrust ? t->fall_full[k] : t->rise_full[k];
        out[k] = target + (thrust - target) * math_pow(decay, fraction);
    }
}

// Whether the loads of this body have not been evaluated in this step.
static int is_unevaluated(const load_parts *p) { return quat_dot(p->attitude, p->attitude) == 0.0; }

static body_derivatives derivatives_of(const void *self, uint32_t i, const body_state *s, double time)
{
    const jointed_plant *j = self;
    const vy_world *world = j->world;
    VY_ASSERT(*body_holder(&world->model, i) == HELD_BY_JOINT);
    const double start = time_of(j->plant_model, world->state->tick - 1u);
    body_inputs inputs;
    vy_body_inputs(world, j->plant_model, i, start, &inputs);
    multirotor_inputs in = inputs.in;
    const double fraction = (time - start) / j->plant_model->dt;
    if (j->plant_model->has_sinusoid)
        disturbance_at_part(j->plant_model, world->state->tick - 1u, real_clamp(fraction, 0.0, 1.0),
                            world->noise, i, i + 1, &in.held.disturbance);
    double speed[VY_ROTOR_CAP] = {0.0};
    load_parts *parts = NULL; // of the first evaluation in the step
    if (world->model.loads_at_start != NULL && is_unevaluated(&world->model.loads_at_start[i]))
        parts = &world->model.loads_at_start[i];
    const double *command = speed; // of a body: none is read
    if (i < world->model.drone_count) {
        const drone_block *d = &world->drones[i];
        command = world->speeds[i];
        for (int k = 0; k < in.layout->count; ++k)
            speed[k] = speed_after(&in, d->rotor_speed[k], command[k], fraction);
        thrusts_after(world, i, fraction, speed + in.layout->count);
    }
    if (parts == NULL)
        return multirotor_derivative(&in, s, speed, command, in.layout->count, VARIANT_GENERAL, time);
    return multirotor_derivative_parts(&in, s, speed, command, in.layout->count, VARIANT_GENERAL, time,
                                       parts);
}

void vy_jointed_sync_joint(const vy_world *world, uint32_t joint)
{
    VY_ASSERT(world->bodies != NULL && joint < world->model.joint_count);
    const joint_slot *j = &world->bodies->joints->slots[joint];
    for (int side = 0; side < 2; ++side) {
        const uint32_t i = j->body[side];
        if (i < body_count(&world->model)) world->bodies->state[i] = *body_at(world, i);
    }
    world->bodies->joint_state[joint].active = world->joint_states[joint].active;
    if (world->model.has_gears) {
        memcpy(&world->bodies->joint_gears[joint], &world->gears[joint], sizeof(gear_block));
        world->bodies->joints->slots[joint].gear = world->bodies->joint_gears[joint];
    }
    world->bodies->head->tick = world->state->tick;
}

// The states of all drones, bodies and joints.
static void sync_states(const vy_world *world)
{
    const vy_model *m = &world->model;
    for (uint32_t i = 0; i < body_count(m); ++i) {
        world->bodies->state[i] = *body_at(world, i);
        // The start of a run need not fit the joints to the last bit; from then on it does.
        // The simple response ignores joints: they act on its result in the next step.
        const int had_impulse = world->contact_totals != NULL && world->contact_totals[i].now > 0 &&
                                world->bodies->def.contacts.solver == VY_CONTACT_SOLVER_IMPULSE;
        world->bodies->disturbed[i] = world->state->tick <= 1 || had_impulse;
    }
    for (uint32_t k = 0; k < m->joint_count; ++k)
        world->bodies->joint_state[k].active = world->joint_states[k].active;
    if (m->has_gears) memcpy(world->bodies->joint_gears, world->gears, m->joint_count * sizeof(gear_block));
}

uint32_t vy_joint_break_stage(const vy_world *world)
{
    vy_bodies *b = world->bodies;
    const uint32_t events = vy_break_end_step(b);
    for (uint32_t k = 0; k < world->model.joint_count && events != 0; ++k)
        world->joint_states[k].active = b->joint_state[k].active;
    vy_gear_end_step(b);
    if (world->model.has_gears)
        memcpy(world->gears, b->joint_gears, world->model.joint_count * sizeof(gear_block));
    return events & VY_BODIES_JOINT_BROKEN ? VY_EVENT_JOINT_BROKEN : 0u;
}

uint32_t vy_jointed_stage(vy_world *world, const vy_model *plant_model, world_block *w, drone_block *drones)
{
    const vy_model *m = &world->model;
    vy_bodies *b = world->bodies;
    sync_states(world);
    VY_ASSERT(w->tick > 0 && plant_model->drone_count == m->drone_count);
    b->head->tick = w->tick - 1u;
    b->head->failed = 0;
    const jointed_plant jointed = {world, plant_model};
    b->driver = (body_driver){&jointed, derivatives_of};
    vy_closing_begin_step(b);
    vy_break_begin_step(b);
    vy_gear_begin_step(b);
    const uint32_t bodies_events = vy_islands_step(b, m->dt);
    for (uint32_t k = 0; k < m->joint_count; ++k) world->joint_states[k].active = b->joint_state[k].active;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        if (m->drones[i].holder != HELD_BY_JOINT) continue;
        drone_block *d = &drones[i];
        multirotor_inputs in;
        plant_inputs(plant_model, i, world->loads, 0.0, d, world->powertrain, &in);
        d->body = b->joints->stage[i];
        for (int k = 0; k < in.layout->count; ++k) {
            d->rotor_speed[k] =
                rotor_speed_flushed(speed_after(&in, d->rotor_speed[k], world->speeds[i][k], 1.0));
        }
        if (in.layout->thrusters.count > 0) {
            thruster_block *t = &world->thrusters[i];
            thrusts_after(world, i, 1.0, t->thrust);
            for (int k = 0; k < in.layout->thrusters.count; ++k) t->thrust[k] = thrust_flushed(t->thrust[k]);
        }
        if (!body_is_finite(&d->body)) (void)check_finite(i, 0, PLANT_REALS, w, d);
    }
    for (uint32_t k = 0; k < m->passive_count; ++k) {
        if (m->passive[k].holder != HELD_BY_JOINT) continue;
        world->passive[k].body = b->joints->stage[m->drone_count + k];
        vy_body_check_finite(world, k);
    }
    b->head->tick = w->tick;
    b->driver = (body_driver){NULL, NULL};
    return (bodies_events & VY_BODIES_REDUNDANT ? VY_EVENT_REDUNDANT : 0u) |
           (bodies_events & VY_BODIES_CONFLICT ? VY_EVENT_CONFLICT : 0u);
}
