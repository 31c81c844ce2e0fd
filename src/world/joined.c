// joined.c - drones that joints hold: a load on a cable, an arm, a tether. Stepped together, joints solved in
// every stage with what rotors, air and gravity do at that stage.
#include "base/math.h"
#include "base/assert.h"
#include "world/plant.h"
#include "world/world_impl.h"

/// A world and the constants its plant has in this step: faults change them.
typedef struct joined_plant {
    const vy_world *world;
    const vy_model *plant;
} joined_plant;

/// The speed of a rotor after a part of the step, 0 ... 1.
static double speed_after(const multirotor_inputs *in, double speed, double command, double part)
{
    const int falls = in->layout->general && command < speed;
    const double decay = falls ? in->params->shape.fall_full : in->params->rotor.decay_full;
    return rotor_speed_after(speed, command, math_pow(decay, part));
}

/// The same for its thrusters' thrusts.
static void thrusts_after(const vy_world *world, uint32_t i, double part, double *out)
{
    const thruster_layout *t = &world->model.drones[i].layout.thrusters;
    for (int k = 0; k < t->count; ++k) {
        const double now = world->thrusters[i].thrust[k];
        const double told = world->speeds[i][world->model.drones[i].layout.count + k];
        const double decay = told < now ? t->fall_full[k] : t->rise_full[k];
        out[k] = told + (now - told) * math_pow(decay, part);
    }
}

static body_rates drone_rates(const void *self, uint32_t i, const body_state *s, double time)
{
    const joined_plant *j = self;
    const vy_world *world = j->world;
    VY_ASSERT(i < world->model.drone_count && world->model.drones[i].held == HELD_BY_JOINT);
    const drone_block *d = &world->drones[i];
    const double start = time_of(j->plant, world->state->tick - 1u);
    multirotor_inputs in;
    plant_inputs(j->plant, i, world->loads, start, d, world->gear, &in);
    double speed[VY_ROTOR_CAP];
    const double part = (time - start) / j->plant->dt;
    for (int k = 0; k < in.layout->count; ++k)
        speed[k] = speed_after(&in, d->rotor_speed[k], world->speeds[i][k], part);
    thrusts_after(world, i, part, speed + in.layout->count);
    return multirotor_derivative(&in, s, speed, world->speeds[i], in.layout->count, WAY_ANY, time);
}

void vy_joined_sync_joint(const vy_world *world, uint32_t joint)
{
    VY_ASSERT(world->bodies != NULL && joint < world->model.joint_count);
    const joint_slot *j = &world->bodies->joints->slots[joint];
    for (int side = 0; side < 2; ++side) {
        const uint32_t i = j->body[side];
        if (i < world->model.drone_count) world->bodies->state[i] = world->drones[i].body;
    }
    world->bodies->joint_state[joint].active = world->joint_states[joint].active;
    world->bodies->head->tick = world->state->tick;
}

// The states of all drones and joints.
static void sync(const vy_world *world)
{
    const vy_model *m = &world->model;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        world->bodies->state[i] = world->drones[i].body;
        // The start of a run need not fit the joints to the last bit; from then on it does.
        // The simple response knows no joints: they take up in the next step what it did.
        const int pushed = world->contact_totals != NULL && world->contact_totals[i].now > 0 &&
                           world->bodies->def.contacts.solver == VY_SOLVER_IMPULSE;
        world->bodies->disturbed[i] = world->state->tick <= 1 || pushed;
    }
    for (uint32_t k = 0; k < m->joint_count; ++k)
        world->bodies->joint_state[k].active = world->joint_states[k].active;
}

uint32_t vy_joined_stage(vy_world *world, const vy_model *plant, world_block *w, drone_block *drones)
{
    const vy_model *m = &world->model;
    vy_bodies *b = world->bodies;
    sync(world);
    VY_ASSERT(w->tick > 0 && plant->drone_count == m->drone_count);
    b->head->tick = w->tick - 1u;
    b->head->failed = 0;
    const joined_plant joined = {world, plant};
    b->driver = (body_driver){&joined, drone_rates};
    const uint32_t found = vy_islands_step(b, m->dt);
    for (uint32_t k = 0; k < m->joint_count; ++k) world->joint_states[k].active = b->joint_state[k].active;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        if (m->drones[i].held != HELD_BY_JOINT) continue;
        drone_block *d = &drones[i];
        multirotor_inputs in;
        plant_inputs(plant, i, world->loads, 0.0, d, world->gear, &in);
        d->body = b->joints->stage[i];
        for (int k = 0; k < in.layout->count; ++k) {
            d->rotor_speed[k] =
                rotor_speed_settled(speed_after(&in, d->rotor_speed[k], world->speeds[i][k], 1.0));
        }
        if (in.layout->thrusters.count > 0) {
            thruster_block *t = &world->thrusters[i];
            thrusts_after(world, i, 1.0, t->thrust);
            for (int k = 0; k < in.layout->thrusters.count; ++k)
                t->thrust[k] = thruster_settled(t->thrust[k]);
        }
        if (!body_is_finite(&d->body)) (void)check_finite(i, 0, PLANT_REALS, w, d);
    }
    b->head->tick = w->tick;
    b->driver = (body_driver){NULL, NULL};
    return (found & VY_BODIES_REDUNDANT ? VY_EVENT_REDUNDANT : 0u) |
           (found & VY_BODIES_CONFLICT ? VY_EVENT_CONFLICT : 0u);
}
