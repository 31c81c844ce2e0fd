// set_drone.c - a drone put elsewhere between two steps.
#include "base/assert.h"
#include "base/fail.h"
#include "world/world_impl.h"
#include <stdlib.h>

static vy_status check_motion(const vy_vehicle_def *v, const vy_drone_motion *m, vy_error *err)
{
    const double length = quat_dot(m->attitude, m->attitude);
    if (!vec3_is_finite(m->position) || !vec3_is_finite(m->velocity) || !vec3_is_finite(m->rate))
        return vy_fail(err, VY_BAD_VALUE, "position, velocity and rate of a drone must be finite");
    if (!(length > 0.0 && real_is_finite(length)))
        return vy_fail(err, VY_BAD_VALUE, "the attitude of a drone must have a length above 0");
    for (int i = 0; i < v->rotor_count; ++i) {
        if (!(m->rotor_speed[i] >= 0.0 && m->rotor_speed[i] <= v->speed_max))
            return vy_fail(err, VY_BAD_VALUE, "rotor_speed[%d] must be within 0 and %g rad/s, got %g", i,
                           v->speed_max, m->rotor_speed[i]);
    }
    return VY_OK;
}

// Whether a drone is alone, in a world that nobody watches.
static vy_status check_movable(const vy_world *world, uint32_t slot, vy_error *err)
{
    const vy_model *m = &world->model;
    if (world->sink.reply != NULL || world->sink.write != NULL || world->replay.reply != NULL)
        return vy_fail(err, VY_BAD_STATE,
                       "a world that is recorded or replayed cannot have its drones moved");
    if (m->drones[slot].holder != HELD_BY_NOTHING || m->payload_count > 0)
        return vy_fail(err, VY_BAD_STATE, "drones on joints and in worlds with payloads cannot be moved");
    if (m->sleep_enabled)
        return vy_fail(err, VY_BAD_STATE, "drones of a world whose bodies sleep cannot be moved");
    return VY_OK;
}

vy_status vy_world_set_drone(vy_world *world, vy_drone_id id, const vy_drone_motion *motion, vy_error *err)
{
    FPU_SCOPE;
    uint32_t slot;
    if (!vy_world_slot(world, id, &slot)) return vy_fail(err, VY_NOT_FOUND, "no such drone");
    const drone_model *dm = &world->model.drones[slot];
    vy_status status = check_motion(&world->vehicles[slot], motion, err);
    if (status == VY_OK) status = check_movable(world, slot, err);
    if (status != VY_OK) return status;
    // By way of a snapshot: what is no state of this world is refused, and all that follows it is renewed.
    const size_t size = vy_world_state_size(world);
    unsigned char *copy = malloc(size);
    if (copy == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory to move a drone");
    vy_world_save(world, copy);
    const size_t offset =
        (size_t)((const unsigned char *)&world->drones[slot] - (const unsigned char *)world->state);
    drone_block d;
    VY_ASSERT(offset + sizeof d <= size);
    memcpy(&d, copy + offset, sizeof d);
    d.body = (body_state){motion->position, motion->velocity, quat_normalize(motion->attitude), motion->rate};
    for (int i = 0; i < dm->layout.count; ++i) d.rotor_speed[i] = motion->rotor_speed[i];
    if (dm->estimate_source == ESTIMATE_TRUTH) {
        d.estimate.position = d.body.position;
        d.estimate.velocity = d.body.velocity;
        d.estimate.attitude = d.body.attitude;
        d.estimate.rate = d.body.rate;
    }
    memcpy(copy + offset, &d, sizeof d);
    status = vy_world_restore(world, copy, size, err);
    free(copy);
    return status;
}
