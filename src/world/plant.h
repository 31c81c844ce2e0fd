// plant.h - commands to rotor speeds, and the motion of every body. Over `real`.
#pragma once
#include "world/safety.h"

VY_BIG_FN void actuator_stage(const vy_model *m, const drone_block *drones, real (*speeds)[VY_ROTOR_CAP])
{
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const motor_params *motor = &m->params[i].motor;
        for (int k = 0; k < m->drones[i].layout.count; ++k)
            speeds[i][k] = motor_speed(motor, drones[i].control.motors[k]);
    }
}

// An infinity or a NaN survives every addition. Rotor speeds lie between finite ones and stay finite.
VY_FN mask body_finite(const body_state *b)
{
    const real sum = ((b->position.x + b->position.y) + (b->position.z + b->velocity.x)) +
                     ((b->velocity.y + b->velocity.z) + (b->rate.x + b->rate.y)) +
                     ((b->rate.z + b->attitude.w) + (b->attitude.x + b->attitude.y)) + b->attitude.z;
    return sum - sum == 0.0;
}

VY_BIG_FN void plant_stage(const vy_model *m, const body_loads *loads, real (*speeds)[VY_ROTOR_CAP],
                           world_block *w, drone_block *drones)
{
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        drone_block *d = &drones[i];
        multirotor_inputs in;
        in.layout = &m->drones[i].layout;
        in.params = &m->params[i].plant;
        in.env = &m->env;
        in.held.disturbance = loads[i];
        in.held.turbulence = d->gust;
        in.held.time = time_of(m, w->tick - 1u);
        in.flags = d->effects;
        multirotor_step(&in, real_set(m->dt), speeds[i], &d->body, d->rotor_speed);
        if (!mask_all(body_finite(&d->body))) (void)check_finite(i, 0, PLANT_REALS, w, d);
    }
}
