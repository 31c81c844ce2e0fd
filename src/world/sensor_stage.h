// sensor_stage.h - sensors and estimator of every drone, each at its own period. Over `real`.
#pragma once
#include "world/model.h"
#include "base/assert.h"

/// What an IMU feels and sees where the world's frame turns.
VY_COLD_FN void sense_in_rotating_frame(const gravity_params *field, const body_state *body, vec3 *gravity,
                                        body_state *sensed)
{
    *gravity = gravity_apparent(field, body->position, body->velocity);
    *sensed = inertial_body(field, body);
}

/// fading_predict() there.
VY_FN void predict_in_rotating_frame(const gravity_params *field, const fading_params *p,
                                     const imu_state *imu, estimator_state *s)
{
    fading_params local = *p;
    local.gravity = gravity_apparent(field, s->position, s->velocity);
    fading_predict(&local, imu->accel, gyro_relative_to_ground(field, s->attitude, imu->gyro), s);
}

/// `draws` has random numbers drawn ahead for each IMU, or is NULL; likewise in lanes.
VY_NOINLINE_FN void sensor_stage(const vy_model *m, const world_block *w, drone_block *drones,
                                 rng_cache *draws)
{
    const bits tick = w->tick;
    for (uint32_t i = 0; i < VY_BASIC_OR(1u, m->drone_count); ++i) {
        const drone_model *dm = &m->drones[i];
        const drone_params *p = &m->params[i];
        drone_block *d = &drones[i];
        const mask imu_due = due(tick, dm->imu_period);
        VY_ASSERT(dm->estimate_source >= ESTIMATE_FADING && dm->estimate_source <= ESTIMATE_FILTER);
        if (mask_any(imu_due)) {
            const body_state *sensed = &d->body;
            body_state inertial;
            vec3 gravity;
            if (VY_BASIC_OR(0, m->env.gravity.frame.on)) {
                sense_in_rotating_frame(&m->env.gravity, &d->body, &gravity, &inertial);
                sensed = &inertial;
            } else {
                gravity = gravity_at(&m->env.gravity, d->body.position);
            }
            // The gravity that acted: none where the policy neglects it.
            const vec3 g = vec3_masked(effect_on(d->effects, EFFECT_gravity), gravity);
            imu_state saved;
            cells_save(imu_due, &d->imu, &saved, sizeof saved);
            real draw_buffer[IMU_NORMALS];
            const real *deviates =
                rng_normals_cached(draws == NULL ? NULL : &draws[i], m->seed, RNG_STREAM_IMU, bits_set(i),
                                   tick, dm->imu_period, draw_buffer, IMU_NORMALS);
            imu_sample(&p->imu, sensed, g, deviates, &d->imu);
            cells_restore(imu_due, &saved, &d->imu, sizeof saved);
            d->imu_tick = bits_select(imu_due, tick, d->imu_tick);
        }
        const mask mocap_due = due(tick, dm->mocap_period);
        if (mask_any(mocap_due)) {
            mocap_state saved;
            cells_save(mocap_due, &d->mocap, &saved, sizeof saved);
            mocap_sample(&p->mocap, &d->body, m->seed, bits_set(i), tick, &d->mocap);
            cells_restore(mocap_due, &saved, &d->mocap, sizeof saved);
            d->mocap_tick = bits_select(mocap_due, tick, d->mocap_tick);
        }
    }
}

// `in_rotating_frame` is a constant: whether the world's frame turns.
VY_FN void estimate_drones(const vy_model *m, const world_block *w, drone_block *drones,
                           const int in_rotating_frame)
{
    for (uint32_t i = 0; i < VY_BASIC_OR(1u, m->drone_count); ++i) {
        const fading_params *p = &m->params[i].fading;
        drone_block *d = &drones[i];
        if (VY_BASIC_OR(0, m->drones[i].estimate_source != ESTIMATE_FADING)) {
            if (m->drones[i].estimate_source == ESTIMATE_FILTER) continue; // vy_filter_stage
            d->estimate.position = d->body.position;
            d->estimate.velocity = d->body.velocity;
            d->estimate.attitude = d->body.attitude;
            d->estimate.rate = d->body.rate;
            continue;
        }
        const mask has_imu = d->imu_tick == w->tick, has_mocap = d->mocap_tick == w->tick;
        estimator_state saved;
        if (mask_any(has_imu)) {
            cells_save(has_imu, &d->estimate, &saved, sizeof saved);
            if (in_rotating_frame) {
                predict_in_rotating_frame(&m->env.gravity, p, &d->imu, &d->estimate);
            } else {
                fading_predict(p, d->imu.accel, d->imu.gyro, &d->estimate);
            }
            cells_restore(has_imu, &saved, &d->estimate, sizeof saved);
        }
        if (mask_any(has_mocap)) {
            cells_save(has_mocap, &d->estimate, &saved, sizeof saved);
            fading_correct(p, d->mocap.position, d->mocap.attitude, &d->estimate);
            cells_restore(has_mocap, &saved, &d->estimate, sizeof saved);
        }
    }
}

VY_COLD_FN void estimate_in_rotating_frame(const vy_model *m, const world_block *w, drone_block *drones)
{
    estimate_drones(m, w, drones, 1);
}

VY_NOINLINE_FN void estimator_stage(const vy_model *m, const world_block *w, drone_block *drones)
{
    if (VY_BASIC_OR(0, m->env.gravity.frame.on)) {
        estimate_in_rotating_frame(m, w, drones);
    } else {
        estimate_drones(m, w, drones, 0);
    }
}
