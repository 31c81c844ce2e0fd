// sense.c - sensors and estimator of every drone, each at its own period.
#include "world/model.h"

void vy_sensor_stage(const vy_model *m, uint64_t tick, drone_block *drones)
{
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const drone_model *dm = &m->drones[i];
        drone_block *d = &drones[i];
        if (due(tick, dm->imu_period)) {
            // The gravity that acted: none where the policy neglects it.
            const vec3 g =
                vec3_if(effect_on(d->effects, EFFECT_gravity), gravity_at(&m->env.gravity, d->body.position));
            imu_sample(&dm->imu, &d->body, g, m->seed, i, tick, &d->imu);
            d->imu_tick = tick;
        }
        if (due(tick, dm->mocap_period)) {
            mocap_sample(&dm->mocap, &d->body, m->seed, i, tick, &d->mocap);
            d->mocap_tick = tick;
        }
    }
}

void vy_estimator_stage(const vy_model *m, uint64_t tick, drone_block *drones)
{
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const drone_model *dm = &m->drones[i];
        drone_block *d = &drones[i];
        if (d->imu_tick == tick) estimator_predict(&dm->estimator, d->imu.accel, d->imu.gyro, &d->estimate);
        if (d->mocap_tick == tick) {
            estimator_correct(&dm->estimator, d->mocap.position, d->mocap.attitude, &d->estimate);
        }
    }
}

vy_samples vy_drone_samples(const vy_model *m, uint64_t tick, const drone_block *d)
{
    const estimator_state *e = &d->estimate;
    return (vy_samples){
        .tick = tick,
        .time = (double)tick * m->dt,
        .dt = m->dt,
        .imu = {d->imu_tick, d->imu.accel, d->imu.gyro},
        .mocap = {d->mocap_tick, d->mocap.position, d->mocap.attitude},
        .estimate = {e->position, e->velocity, e->attitude, e->rate, e->gyro_bias, e->accel_bias},
    };
}
