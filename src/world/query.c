// query.c - what shapes and points meet in a world: obstacles, drones and bodies as they are now.
#include "base/assert.h"
#include "dynamics/queries.h"
#include "world/world_impl.h"

static const body_state *state_of(const void *self, uint32_t slot)
{
    const vy_world *world = self;
    return slot < body_count(&world->model) ? body_at(world, slot) : &world->bodies->state[slot];
}

// All but `except`, or obstacles alone.
static query_view view_of(const vy_world *world, vy_body_id except)
{
    query_view view = {.self = world, .state_of = state_of, .except = UINT32_MAX};
    if (except.bits == 0) view.first_slot = body_count(&world->model);
    for (uint32_t i = view.first_slot; i < body_count(&world->model); ++i) {
        if (vy_world_body(world, i).bits == except.bits) view.except = i;
    }
    return view;
}

static int write_target(const vy_world *world, const vy_body_hit *hit, double distance, vy_ray_target *out)
{
    if (hit->body.bits == 0) return 0;
    const uint32_t body_total = body_count(&world->model),
                   slot = (uint32_t)(hit->body.bits & 0xffffffffu) - 1u;
    VY_ASSERT(slot < vy_bodies_slot_count(world->bodies));
    *out = (vy_ray_target){.distance = distance,
                           .point = hit->point,
                           .normal = hit->normal,
                           .obstacle = slot < body_total ? -1 : (int)(slot - body_total),
                           .body = slot < body_total ? (int)slot : -1};
    return 1;
}

int vy_world_cast_shape(const vy_world *world, const vy_shape *shape, const vy_pose *pose, vy_vec3 motion,
                        vy_body_id except, vy_ray_target *out)
{
    FPU_SCOPE;
    if (world->bodies == NULL) return 0;
    const query_view view = view_of(world, except);
    vy_body_hit hit;
    if (vy_query_view_cast(world->bodies, &view, shape, pose, motion, &hit) != VY_OK) return 0;
    return write_target(world, &hit, hit.t * vec3_length(motion), out);
}

int vy_world_overlap_shape(const vy_world *world, const vy_shape *shape, const vy_pose *pose,
                           vy_body_id except, vy_ray_target *out)
{
    FPU_SCOPE;
    if (world->bodies == NULL) return 0;
    const query_view view = view_of(world, except);
    vy_body_hit hit;
    if (vy_query_view_overlap(world->bodies, &view, shape, pose, &hit) != VY_OK) return 0;
    return write_target(world, &hit, hit.t, out);
}

int vy_world_closest_to_point(const vy_world *world, vy_vec3 point, double reach, vy_body_id except,
                              vy_ray_target *out)
{
    FPU_SCOPE;
    if (world->bodies == NULL) return 0;
    const query_view view = view_of(world, except);
    vy_body_hit hit;
    if (vy_query_view_closest(world->bodies, &view, point, reach, &hit) != VY_OK) return 0;
    return write_target(world, &hit, hit.t, out);
}
