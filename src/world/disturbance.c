// disturbance.c - forces and torques from outside, sampled at the start of a step and held over it.
#include "base/math.h"
#include "base/rng.h"
#include "world/model.h"

static void add(const vy_disturbance_def *def, vec3 force, vec3 torque, body_loads *l)
{
    if (def->frame == VY_FRAME_WORLD) {
        l->force_world = vec3_add(l->force_world, force);
        l->torque_world = vec3_add(l->torque_world, torque);
    } else {
        l->force_body = vec3_add(l->force_body, force);
        l->torque_body = vec3_add(l->torque_body, torque);
    }
}

// First-order Gauss-Markov noise of unit variance: white noise through a low-pass with the declared corner.
static void filter_noise(const vy_model *m, const disturbance_model *dm, uint32_t drone, uint64_t tick,
                         noise_block *x)
{
    const uint64_t index = ((uint64_t)dm->index << 20) + drone; // disturbances < 2^12, drones < 2^20
    const int first = tick == dm->start;                        // begins as strong as it stays, not at rest
    const double keep = first ? 0.0 : dm->keep, fresh = first ? 1.0 : dm->fresh;
    double n[4];
    if (vec3_any_set(dm->def.force)) {
        rng_normals(m->seed, RNG_STREAM_DISTURBANCE_FORCE, index, tick, n, 3);
        x->force = vec3_add_scaled(vec3_scale(keep, x->force), fresh, vec3_make(n[0], n[1], n[2]));
    }
    if (vec3_any_set(dm->def.torque)) {
        rng_normals(m->seed, RNG_STREAM_DISTURBANCE_TORQUE, index, tick, n, 3);
        x->torque = vec3_add_scaled(vec3_scale(keep, x->torque), fresh, vec3_make(n[0], n[1], n[2]));
    }
}

// The largest size of one filtered axis within `count` steps: no deviate exceeds TURBULENCE_DEVIATE.
static double noise_bound(const disturbance_model *dm, double x, uint64_t count)
{
    const double feed = TURBULENCE_DEVIATE * dm->fresh;
    const double steps = real_min((double)count, 1.0 / (1.0 - dm->keep)) + 1.0;
    return real_max(real_abs(x) + steps * feed, TURBULENCE_DEVIATE);
}

void vy_disturbance_bound(const vy_model *m, uint64_t tick, uint64_t count, const noise_block *noise,
                          uint32_t drone, double *force, double *torque)
{
    double f = 0.0, t = 0.0;
    for (uint32_t k = 0; k < m->disturbance_count; ++k) {
        const disturbance_model *dm = &m->disturbances[k];
        if (tick + count <= dm->start || tick >= dm->end || drone < dm->first || drone >= dm->last) continue;
        vec3 force_axes = dm->def.force, torque_axes = dm->def.torque;
        double scale = dm->def.kind == VY_DISTURBANCE_IMPULSE ? dm->scale : 1.0;
        if (dm->def.kind == VY_DISTURBANCE_NOISE) {
            const noise_block *x = &noise[dm->noise + (drone - dm->first)];
            force_axes = vec3_mul(force_axes, vec3_make(noise_bound(dm, x->force.x, count),
                                                        noise_bound(dm, x->force.y, count),
                                                        noise_bound(dm, x->force.z, count)));
            torque_axes = vec3_mul(torque_axes, vec3_make(noise_bound(dm, x->torque.x, count),
                                                          noise_bound(dm, x->torque.y, count),
                                                          noise_bound(dm, x->torque.z, count)));
        }
        f += scale * vec3_length(force_axes);
        t += scale * vec3_length(torque_axes);
    }
    *force = f * (1.0 + 0x1p-40); // what rounding can hide
    *torque = t * (1.0 + 0x1p-40);
}

void vy_disturbance_stage(const vy_model *m, uint64_t tick, noise_block *noise, body_loads *loads)
{
    for (uint32_t i = 0; i < m->drone_count; ++i) loads[i] = loads_zero();

    for (uint32_t k = 0; k < m->disturbance_count; ++k) {
        const disturbance_model *dm = &m->disturbances[k];
        if (tick < dm->start || tick >= dm->end) continue;
        const vy_disturbance_def *def = &dm->def;
        double scale = dm->scale;
        if (def->kind == VY_DISTURBANCE_SINUSOID) {
            const double t = (double)(tick - dm->start) * m->dt;
            scale = math_sin(6.283185307179586 * (def->frequency * t) + def->phase);
        }
        for (uint32_t i = dm->first; i < dm->last; ++i) {
            if (def->kind == VY_DISTURBANCE_NOISE) {
                noise_block *x = &noise[dm->noise + (i - dm->first)];
                filter_noise(m, dm, i, tick, x);
                add(def, vec3_mul(def->force, x->force), vec3_mul(def->torque, x->torque), &loads[i]);
            } else {
                add(def, vec3_scale(scale, def->force), vec3_scale(scale, def->torque), &loads[i]);
            }
        }
    }
}
