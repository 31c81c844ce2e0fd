// plant.c - commands to rotor speeds, and the motion of every body.
#include "world/model.h"

void vy_actuator_stage(const vy_model *m, const drone_block *drones, double (*speeds)[VY_ROTOR_CAP])
{
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const drone_model *dm = &m->drones[i];
        for (int k = 0; k < dm->layout.count; ++k)
            speeds[i][k] = motor_speed(&dm->motor, drones[i].control.motors[k]);
    }
}

void vy_plant_stage(const vy_model *m, const body_loads *loads, double (*speeds)[VY_ROTOR_CAP],
                    world_block *w, drone_block *drones)
{
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const drone_model *dm = &m->drones[i];
        drone_block *d = &drones[i];
        const multirotor_inputs in = {
            .layout = &dm->layout,
            .params = &dm->plant,
            .env = &m->env,
            .held = {loads[i], d->gust, (double)(w->tick - 1) * m->dt},
            .flags = d->effects,
        };
        multirotor_step(&in, m->dt, speeds[i], &d->body, d->rotor_speed);
        // Rotor speeds lie between finite ones and stay finite.
        if (!body_is_finite(&d->body)) (void)vy_check_finite(i, 0, PLANT_REALS, w, d);
    }
}
