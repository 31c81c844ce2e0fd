// fence.c - limits of which few drones have one: speed of fall, the ground, geofences of three shapes.
#include "base/fail.h"
#include "base/assert.h"
#include "base/finite.h"
#include "world/guard.h"
#include "world/world_def.h"
#include <float.h>

#define TERRAIN_SINK 0.02 // [m] what rests on terrain, or lands on it, may sink in

vy_status vy_check_fence_def(const vy_fence_def *f, vy_error *err)
{
    if ((unsigned)f->kind > VY_FENCE_POLYGON)
        return vy_fail(err, VY_BAD_VALUE, "safety.fence.kind must be none, box, cylinder or polygon");
    if (f->kind == VY_FENCE_NONE) return VY_OK;
    if (f->kind == VY_FENCE_BOX) {
        if (!(f->min.x < f->max.x && f->min.y < f->max.y && f->min.z < f->max.z))
            return vy_fail(err, VY_BAD_VALUE, "safety.fence.min must be below max on every axis");
        return VY_OK;
    }
    if (!(f->low < f->high)) return vy_fail(err, VY_BAD_VALUE, "safety.fence.low must be below high");
    if (f->kind == VY_FENCE_CYLINDER) {
        if (!(f->radius > 0.0) || !vy_all_finite(f->centre, 2))
            return vy_fail(err, VY_BAD_VALUE, "safety.fence.radius must be above 0 m and centre finite");
        return VY_OK;
    }
    if (f->corner_count < 3 || f->corner_count > VY_FENCE_CORNER_CAP)
        return vy_fail(err, VY_BAD_VALUE, "safety.fence.corners: a polygon has 3 to %d, got %d",
                       VY_FENCE_CORNER_CAP, f->corner_count);
    for (int i = 0; i < f->corner_count; ++i) {
        if (!vy_all_finite(f->corners[i].position, 2))
            return vy_fail(err, VY_BAD_VALUE, "safety.fence.corners[%d] must be finite", i);
    }
    return VY_OK;
}

// How far a point lies outside of a polygon; 0 within.
static double outside_polygon(const vy_fence_def *f, double x, double y)
{
    int inside = 0;
    double nearest = DBL_MAX; // squared distance from the border
    VY_ASSERT(f->corner_count >= 3 && f->corner_count <= VY_FENCE_CORNER_CAP);
    for (int i = 0, j = f->corner_count - 1; i < f->corner_count; j = i++) {
        const double *a = f->corners[i].position, *b = f->corners[j].position;
        const double ex = b[0] - a[0], ey = b[1] - a[1], px = x - a[0], py = y - a[1];
        // A ray along +x crosses the edge: corners on the ray count as below it.
        if ((a[1] > y) != (b[1] > y) && (px < ex * (py / ey))) inside = !inside;
        const double length = ex * ex + ey * ey;
        const double t = length > 0.0 ? real_clamp((px * ex + py * ey) / length, 0.0, 1.0) : 0.0;
        const double dx = px - t * ex, dy = py - t * ey;
        nearest = real_min(nearest, dx * dx + dy * dy);
    }
    return inside ? 0.0 : real_sqrt(nearest);
}

// How far a point lies outside of the fence [m]; 0 or less within.
static double outside(const vy_fence_def *f, vec3 p)
{
    VY_ASSERT(f->kind > VY_FENCE_NONE && f->kind <= VY_FENCE_POLYGON);
    if (f->kind == VY_FENCE_BOX) {
        const double x = real_max(f->min.x - p.x, p.x - f->max.x),
                     y = real_max(f->min.y - p.y, p.y - f->max.y);
        return real_max(real_max(x, y), real_max(f->min.z - p.z, p.z - f->max.z));
    }
    const double height = real_max(f->low - p.z, p.z - f->high);
    if (f->kind == VY_FENCE_POLYGON) return real_max(outside_polygon(f, p.x, p.y), height);
    const double x = p.x - f->centre[0], y = p.y - f->centre[1];
    return real_max(real_sqrt(x * x + y * y) - f->radius, height);
}

// The height of the lowest point of a drone that could touch the ground z = 0.
static double lowest(const drone_model *dm, const body_state *b)
{
    double least = 0.0;
    for (int i = 0; i < dm->foot_count; ++i) least = real_min(least, quat_rotate(b->attitude, dm->feet[i]).z);
    return b->position.z + least;
}

// The same over the terrain below each point; where there is none, nothing is too low.
static double lowest_over_terrain(const vy_world *world, const drone_model *dm, const body_state *b)
{
    double least = DBL_MAX, height;
    for (int i = -1; i < dm->foot_count; ++i) {
        const vec3 foot = i < 0 ? vec3_zero() : quat_rotate(b->attitude, dm->feet[i]);
        if (vy_height_over_ground(world, vec3_add(b->position, foot), &height))
            least = real_min(least, height);
    }
    return least;
}

void vy_fence_check(const vy_world *world, uint32_t index, const drone_block *d, guard_block *g,
                    world_block *w)
{
    const drone_model *dm = &world->model.drones[index];
    VY_ASSERT(index < world->model.drone_count && dm->guarded);
    VY_ASSERT(dm->foot_count >= 0 && dm->foot_count <= VY_ROTOR_CAP + VY_COLLISION_POINT_CAP);
    const vy_safety_def *s = &dm->safety;
    double height = 0.0, least = 0.0;
    if (s->ground && world->has_ground) {
        height = lowest_over_terrain(world, dm, &d->body);
        if (world->model.contact_cap > 0) least = -TERRAIN_SINK;
    } else if (s->ground) {
        height = lowest(dm, &d->body);
    }
    const struct {
        int on;
        vy_failure_reason reason;
        double value, limit;
        int below; // the value must not be below the limit
    } limits[FENCE_COUNT] = {
        {s->fall_max > 0.0, VY_FAILURE_FALL, -d->body.velocity.z, s->fall_max, 0},
        {s->ground, VY_FAILURE_GROUND, height, least, 1},
        {s->fence.kind != VY_FENCE_NONE, VY_FAILURE_FENCE,
         s->fence.kind != VY_FENCE_NONE ? outside(&s->fence, d->body.position) : 0.0, 0.0, 0},
    };
    for (int i = 0; i < FENCE_COUNT; ++i) {
        const int over = limits[i].on && (limits[i].below ? limits[i].value < limits[i].limit
                                                          : limits[i].value > limits[i].limit);
        g->exceeded[i] = over ? g->exceeded[i] + 1 : 0;
        if (g->exceeded[i] > dm->sustain)
            world_fail(over, limits[i].reason, index, limits[i].value, limits[i].limit, 0, w);
    }
}
