// plant.c - commands to rotor speeds, and the motion of every body.
#include "world/model.h"

void vy_actuator_stage(const vy_model *m, const drone_block *drones, double (*speeds)[VY_ROTOR_CAP])
{
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const drone_model *dm = &m->drones[i];
        for (int k = 0; k < dm->layout.count; ++k) speeds[i][k] = dm->speed_max * drones[i].control.motors[k];
    }
}

void vy_plant_stage(const vy_model *m, const body_loads *loads, double (*speeds)[VY_ROTOR_CAP],
                    world_block *w, drone_block *drones)
{
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const drone_model *dm = &m->drones[i];
        drone_block *d = &drones[i];
        multirotor_step(&dm->layout, &dm->plant, m->dt, m->gravity, &loads[i], speeds[i], &d->body,
                        d->rotor_speed);
        (void)vy_check_finite(i, 0, PLANT_REALS, w, d);
    }
}
