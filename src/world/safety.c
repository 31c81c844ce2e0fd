// safety.c - what ends a run: limits exceeded for too long, and states that are not finite.
#include "base/finite.h"
#include "base/math.h"
#include "world/model.h"

void vy_world_fail(world_block *w, vy_failure_reason reason, uint32_t drone, double value, double limit,
                   int field)
{
    if (w->failure_reason != VY_FAILURE_NONE) return; // the first failure is the one reported
    w->failure_reason = (uint64_t)reason;
    w->failure_tick = w->tick;
    w->failure_drone = drone;
    w->failure_field = (uint64_t)field;
    w->failure_value = value;
    w->failure_limit = limit;
}

// Is the limit exceeded now? Comparisons avoid square roots and angles: the value for people is computed only
// on the way out.
static int exceeds(const drone_model *dm, const body_state *b, int limit)
{
    const vy_safety_def *s = &dm->safety;
    switch (limit) {
    case LIMIT_TILT: {
        const quat q = b->attitude;
        return s->tilt_max > 0.0 && 1.0 - 2.0 * (q.x * q.x + q.y * q.y) < dm->cos_tilt_max;
    }
    case LIMIT_RATE: return s->rate_max > 0.0 && vec3_dot(b->rate, b->rate) > s->rate_max * s->rate_max;
    case LIMIT_SPEED:
        return s->speed_max > 0.0 && vec3_dot(b->velocity, b->velocity) > s->speed_max * s->speed_max;
    case LIMIT_HEIGHT:
        return (s->height_min != 0.0 || s->height_max != 0.0) &&
               (b->position.z > s->height_max || b->position.z < s->height_min);
    default: {
        const vec3 p = b->position;
        return s->distance_max > 0.0 && p.x * p.x + p.y * p.y > s->distance_max * s->distance_max;
    }
    }
}

static void report(const drone_model *dm, const drone_block *d, uint32_t drone, int limit, world_block *w)
{
    const body_state *b = &d->body;
    const vy_safety_def *s = &dm->safety;
    const quat q = b->attitude;
    const vec3 p = b->position;
    switch (limit) {
    case LIMIT_TILT: {
        const double c = real_clamp(1.0 - 2.0 * (q.x * q.x + q.y * q.y), -1.0, 1.0);
        vy_world_fail(w, VY_FAILURE_TILT, drone, math_acos(c), s->tilt_max, 0);
        break;
    }
    case LIMIT_RATE: vy_world_fail(w, VY_FAILURE_RATE, drone, vec3_length(b->rate), s->rate_max, 0); break;
    case LIMIT_SPEED:
        vy_world_fail(w, VY_FAILURE_SPEED, drone, vec3_length(b->velocity), s->speed_max, 0);
        break;
    case LIMIT_HEIGHT:
        vy_world_fail(w, VY_FAILURE_HEIGHT, drone, p.z, p.z > s->height_max ? s->height_max : s->height_min,
                      0);
        break;
    default:
        vy_world_fail(w, VY_FAILURE_DISTANCE, drone, real_sqrt(p.x * p.x + p.y * p.y), s->distance_max, 0);
        break;
    }
}

static void report_not_finite(const drone_block *d, uint32_t drone, world_block *w)
{
    const double *values = &d->body.position.x;
    size_t k = 0;
    while (k + 1 < DRONE_REALS && real_is_finite(values[k])) ++k;
    vy_world_fail(w, VY_FAILURE_NOT_FINITE, drone, 0.0, 0.0, vy_drone_field_at(k * sizeof(double)));
}

int vy_check_finite(uint32_t drone, size_t first, size_t count, world_block *w, const drone_block *d)
{
    if (vy_all_finite(&d->body.position.x + first, count)) return 1;
    report_not_finite(d, drone, w);
    return 0;
}

void vy_safety_stage(const vy_model *m, world_block *w, drone_block *drones)
{
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const drone_model *dm = &m->drones[i];
        drone_block *d = &drones[i];
        if (!vy_check_finite(i, PLANT_REALS, DRONE_REALS - PLANT_REALS, w, d)) continue;
        for (int limit = 0; limit < LIMIT_COUNT; ++limit) {
            d->exceeded[limit] = exceeds(dm, &d->body, limit) ? d->exceeded[limit] + 1 : 0;
            if (d->exceeded[limit] > dm->sustain) report(dm, d, i, limit, w);
        }
    }
}
