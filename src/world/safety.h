// safety.h - what ends a run: limits exceeded for too long, and states that are not finite. Over `real`.
#pragma once
#include "base/finite.h"
#include "base/assert.h"
#include "base/math.h"
#include "world/model.h"

/// Height [m] of the limits: over the place below, where the world is at a place of a planet.
VY_FN real safety_height(const environment_model *env, const body_state *b)
{
    if (!VY_BASIC_OR(0, env->gravity.frame.on)) return b->position.z;
    return local_locate(&env->gravity.frame, &env->planet, b->position).height;
}

/// The cosine of the angle between body +z and up there.
VY_FN real safety_cos_tilt(const environment_model *env, const body_state *b)
{
    const quat q = b->attitude;
    if (!VY_BASIC_OR(0, env->gravity.frame.on)) return 1.0 - 2.0 * (q.x * q.x + q.y * q.y);
    const local_position local = local_locate(&env->gravity.frame, &env->planet, b->position);
    return vec3_dot(local.up, quat_rotate(q, vec3_make(real_set(0.0), real_set(0.0), real_set(1.0))));
}

/// Where is the limit exceeded now? Comparisons avoid square roots and angles: the value for the report is
/// computed only at the end.
VY_FN mask safety_exceeds(const drone_model *dm, const environment_model *env, const body_state *b, int limit)
{
    const vy_safety_def *s = &dm->safety;
    const vec3 position = b->position;
    switch (limit) {
    case LIMIT_TILT:
        if (!(s->tilt_max > 0.0)) return mask_set(0);
        return safety_cos_tilt(env, b) < dm->cos_tilt_max;
    case LIMIT_RATE:
        if (!(s->rate_max > 0.0)) return mask_set(0);
        return vec3_dot(b->rate, b->rate) > s->rate_max * s->rate_max;
    case LIMIT_SPEED:
        if (!(s->speed_max > 0.0)) return mask_set(0);
        return vec3_dot(b->velocity, b->velocity) > s->speed_max * s->speed_max;
    case LIMIT_HEIGHT: {
        if (s->height_min == 0.0 && s->height_max == 0.0) return mask_set(0);
        const real height = safety_height(env, b);
        return (height > s->height_max) | (height < s->height_min);
    }
    default:
        if (!(s->distance_max > 0.0)) return mask_set(0);
        return position.x * position.x + position.y * position.y > s->distance_max * s->distance_max;
    }
}

VY_COLD_FN void safety_report(const drone_model *dm, const environment_model *env, mask active,
                              const body_state *b, uint32_t drone, int limit, world_block *w)
{
    const vy_safety_def *s = &dm->safety;
    const vec3 position = b->position;
    real value, limit_value;
    vy_failure_reason reason;
    switch (limit) {
    case LIMIT_TILT:
        reason = VY_FAILURE_TILT;
        value = math_acos(real_clamp(safety_cos_tilt(env, b), real_set(-1.0), real_set(1.0)));
        limit_value = real_set(s->tilt_max);
        break;
    case LIMIT_RATE:
        reason = VY_FAILURE_RATE;
        value = vec3_length(b->rate);
        limit_value = real_set(s->rate_max);
        break;
    case LIMIT_SPEED:
        reason = VY_FAILURE_SPEED;
        value = vec3_length(b->velocity);
        limit_value = real_set(s->speed_max);
        break;
    case LIMIT_HEIGHT:
        reason = VY_FAILURE_HEIGHT;
        value = safety_height(env, b);
        limit_value = real_select(value > s->height_max, real_set(s->height_max), real_set(s->height_min));
        break;
    default:
        reason = VY_FAILURE_DISTANCE;
        value = real_sqrt(position.x * position.x + position.y * position.y);
        limit_value = real_set(s->distance_max);
        break;
    }
    world_fail(active, reason, drone, value, limit_value, 0, w);
}

/// Name the first field that is not finite.
VY_COLD_FN void safety_report_not_finite(mask active, uint32_t drone, const drone_block *d, world_block *w)
{
    const real *values = &d->body.position.x;
    for (size_t k = 0; k < DRONE_REALS; ++k) {
        const mask is_infinite = active & mask_not(real_is_bounded(values[k]));
        if (!mask_any(is_infinite)) continue;
        world_fail(is_infinite, VY_FAILURE_NOT_FINITE, drone, real_set(0.0), real_set(0.0), drone_field_at(k),
                   w);
        active = active & mask_not(is_infinite);
    }
}

/// Where are `count` values of a drone's state, from value `first` on, finite? Elsewhere the run ends, naming
/// the field.
VY_FN mask check_finite(uint32_t drone, size_t first, size_t count, world_block *w, const drone_block *d)
{
    const mask is_finite = reals_bounded(&d->body.position.x + first, count);
    VY_ASSERT(first + count <= DRONE_REALS);
    if (!mask_all(is_finite)) safety_report_not_finite(mask_not(is_finite), drone, d, w);
    return is_finite;
}

VY_NOINLINE_FN void safety_stage(const vy_model *m, world_block *w, drone_block *drones)
{
    for (uint32_t i = 0; i < VY_BASIC_OR(1u, m->drone_count); ++i) {
        const drone_model *dm = &m->drones[i];
        drone_block *d = &drones[i];
        const mask is_finite = check_finite(i, PLANT_REALS, DRONE_REALS - PLANT_REALS, w, d);
        if (!mask_any(is_finite)) continue;
        for (int limit = 0; limit < LIMIT_COUNT; ++limit) {
            const mask exceeds = safety_exceeds(dm, &m->env, &d->body, limit);
            const bits count = bits_select(exceeds, d->exceeded[limit] + 1u, bits_set(0));
            d->exceeded[limit] = bits_select(is_finite, count, d->exceeded[limit]);
            const mask violated = is_finite & (d->exceeded[limit] > bits_set(dm->sustain));
            if (mask_any(violated)) safety_report(dm, &m->env, violated, &d->body, i, limit, w);
        }
    }
}
