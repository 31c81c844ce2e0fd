// loads.c - what acts on a drone, by cause: the same functions as the step's, one effect at a time.
#include "world/plant.h"
#include "base/assert.h"
#include "world/world_impl.h"

_Static_assert(EFFECT_COUNT <= VY_EFFECT_CAP,
               "vy_loads, vy_energy and vy_certificate have a place per effect");

static vec3 to_world(mat3 rotation, const body_loads *l)
{
    return vec3_add(l->force_world, mat3_mul_vec(rotation, l->force_body));
}

static vec3 to_body(mat3 rotation, const body_loads *l)
{
    return vec3_add(l->torque_body, mat3_tmul_vec(rotation, l->torque_world));
}

// Effects look at the rotors' loads, so each starts from those; what it adds is the difference.
static body_loads difference(const body_loads *after, const body_loads *before)
{
    return (body_loads){
        .force_world = vec3_sub(after->force_world, before->force_world),
        .force_body = vec3_sub(after->force_body, before->force_body),
        .torque_world = vec3_sub(after->torque_world, before->torque_world),
        .torque_body = vec3_sub(after->torque_body, before->torque_body),
    };
}

void vy_drone_loads(const vy_world *world, uint32_t index, vy_loads *out)
{
    const drone_block *d = &world->drones[index];
    VY_ASSERT(index < world->model.drone_count && out != NULL);
    const double time = (double)world->state->tick * world->model.dt;
    multirotor_inputs in;
    plant_inputs(&world->model, index, world->loads, time, d, world->gear, &in);
    double all[VY_ROTOR_CAP];
    actuators_gather(in.layout, d, &world->thrusters[index], all);
    vy_loads_at(&in, &d->body, all, world->speeds[index], time, out);
    if (world->contact_totals != NULL) {
        const double *j = world->contact_totals[index].contact.impulse,
                     *l = world->contact_totals[index].contact.angular;
        const double per = 1.0 / world->model.dt;
        out->contact_force = vec3_scale(per, vec3_make(j[0], j[1], j[2]));
        out->contact_torque = vec3_scale(per, vec3_make(l[0], l[1], l[2]));
    }
}

void vy_loads_at(const multirotor_inputs *in, const body_state *s, const double *speed, const double *command,
                 double time, vy_loads *out)
{
    const multirotor_params *plant = in->params;
    const mat3 rotation = quat_matrix(s->attitude);
    body_loads rotors = loads_zero();
    VY_ASSERT((in->flags & EFFECTS_OF_ROTORS) == 0 || in->memory != NULL);
    if (in->layout->general) {
        rotor_add_general(in->layout, &plant->rotor, &plant->shape, speed, in->layout->count, &rotors);
    } else {
        rotor_add(in->layout, &plant->rotor, speed, in->layout->count, &rotors);
    }

    *out = (vy_loads){.rotor_force = to_world(rotation, &rotors), .rotor_torque = to_body(rotation, &rotors)};
    body_loads thrusters = loads_zero();
    thrusters_add(&in->layout->thrusters, speed + in->layout->count, &thrusters);
    out->thruster_force = to_world(rotation, &thrusters);
    out->thruster_torque = to_body(rotation, &thrusters);
    const bits windy = in->flags & (EFFECT_BIT(wind) | EFFECT_BIT(downwash));
    const rotor_scene scene = {in->layout, &plant->rotor, &plant->shape,    in->memory,
                               speed,      command,       in->layout->count};
    if (in->env->windy && (windy & EFFECT_BIT(wind)) != 0) {
        const air_around air = look_at_air(in->env, &in->held, s, time, windy);
        out->wind = vec3_sub(s->velocity, air.flow);
    }
    if ((windy & EFFECT_BIT(downwash)) != 0) out->wind = vec3_add(out->wind, scene.memory->downwash);
    for (int k = 0; k < EFFECT_COUNT; ++k) {
        const bits only = (bits)1 << k;
        if ((in->flags & only) == 0 || (only & windy) != 0) continue; // moving air acts through the others
        body_loads l = rotors;
        const vec3 g = effects_add_way(in->env, &plant->effects, &in->held, s, rotation, time, only | windy,
                                       &scene, WAY_ANY, &l);
        l = difference(&l, &rotors);
        out->force[k] = vec3_add_scaled(to_world(rotation, &l), plant->effects.mass, g); // weight is no load
        out->torque[k] = to_body(rotation, &l);
    }
}
