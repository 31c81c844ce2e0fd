// plant.h - commands to rotor speeds, and the motion of every body. Over `real`.
#pragma once
#include "equations/simple_engine.h"
#include "world/safety.h"

VY_BIG_FN void actuator_stage(const vy_model *m, const drone_block *drones, real (*speeds)[VY_ROTOR_CAP])
{
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const motor_params *motor = &m->params[i].motor;
        for (int k = 0; k < m->drones[i].layout.count; ++k)
            speeds[i][k] = motor_speed(motor, drones[i].control.motors[k]);
    }
}

/// What the stages of a step of drone `i` share.
VY_FN multirotor_inputs plant_inputs(const vy_model *m, uint32_t i, const body_loads *loads, real time,
                                     const drone_block *d)
{
    multirotor_inputs in;
    in.layout = &m->drones[i].layout;
    in.params = &m->params[i].plant;
    in.env = &m->env;
    in.held.disturbance = loads[i];
    in.held.turbulence = d->gust;
    in.held.time = time;
    in.flags = d->effects;
    return in;
}

// Rotors and effects at the step's start are the forces that the simple engine gets.
VY_FN void simple_fly(const multirotor_inputs *in, real dt, const real *command, body_state *s, real *speed)
{
    const int count = in->layout->count;
    const mat3 rotation = quat_matrix(s->attitude);
    body_loads l = loads_zero();
    const vec3 gravity = multirotor_loads(in, s, rotation, speed, count, 0, in->held.time, &l);
    vec3 force = vec3_add(mat3_mul_vec(rotation, l.force_body), l.force_world);
    force = vec3_add_scaled(force, in->params->effects.mass, gravity);
    const vec3 torque = vec3_add(l.torque_body, mat3_tmul_vec(rotation, l.torque_world));
    simple_push(in->params->effects.mass, in->params->body.inverse_inertia, force, torque, dt, s);
    simple_turn(dt, s);
    for (int i = 0; i < count; ++i) {
        const mask falls = mask_set(in->layout->general) & (command[i] < speed[i]);
        const real decay = real_select(falls, in->params->shape.fall_full, in->params->rotor.decay_full);
        speed[i] = rotor_speed_settled(rotor_speed_after(speed[i], command[i], decay));
    }
}

// A kinematic drone has the velocity and the heading that its sticks ask for.
VY_FN void simple_lead(const control_state *c, bits rung, body_state *s)
{
    const mask led = rung_is(rung, VY_RUNG_PILOT);
    s->velocity = vec3_select(led, c->velocity, s->velocity);
    s->attitude = quat_select(led, c->attitude, s->attitude);
    s->rate = vec3_select(led, vec3_make(real_set(0.0), real_set(0.0), c->yaw_rate), s->rate);
}

VY_SLOW_FN void simple_stage(const vy_model *m, uint32_t index, const multirotor_inputs *in,
                             const real *command, drone_block *d)
{
    const real dt = real_set(m->dt);
    if (m->drones[index].controller.flight == VY_FLIGHT_KINEMATIC) {
        simple_lead(&d->control, d->rung, &d->body);
    } else {
        simple_fly(in, dt, command, &d->body, d->rotor_speed);
    }
    simple_move(dt, real_set(m->physics.boundary), &d->body);
}

/// Every drone that no joint holds. Rotor speeds lie between finite ones and stay finite.
VY_BIG_FN void plant_stage(const vy_model *m, const body_loads *loads, real (*speeds)[VY_ROTOR_CAP],
                           world_block *w, drone_block *drones)
{
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        drone_block *d = &drones[i];
        if (m->drones[i].joined) continue;
        const multirotor_inputs in = plant_inputs(m, i, loads, time_of(m, w->tick - 1u), d);
        if (m->physics.engine == VY_ENGINE_STRICT) {
            multirotor_step(&in, real_set(m->dt), speeds[i], &d->body, d->rotor_speed);
        } else {
            simple_stage(m, i, &in, speeds[i], d);
        }
        if (!mask_all(body_is_finite(&d->body))) (void)check_finite(i, 0, PLANT_REALS, w, d);
    }
}
