// fence.c - limits of which few drones have one: speed of fall, the ground, geofences of three shapes.
#include "base/fail.h"
#include "base/assert.h"
#include "base/schema_rows.h"
#include "world/safety.h"
#include "world/world_def.h"
#include "world/supervisor.h"
#include <float.h>

#define MAX_TERRAIN_PENETRATION 0.02 // [m] penetration allowed to a drone that rests or lands on terrain

_Static_assert(sizeof(vy_fence_kind) == sizeof(int), "choices are read and written as int");

static const vy_choice fences[] = {
    CHOICE("none", VY_FENCE_NONE, "no fence"),
    CHOICE("box", VY_FENCE_BOX, "from `min` to `max`"),
    CHOICE("cylinder", VY_FENCE_CYLINDER, "upright, about `centre`"),
    CHOICE("polygon", VY_FENCE_POLYGON, "upright over its corners"),
};
static void init_corner(void *object, int index)
{
    (void)index;
    *(vy_fence_corner *)object = (vy_fence_corner){0};
}
static const vy_schema_row corner_rows[] = {
    ROW("position", VECTOR, vy_fence_corner, position, .size = 2, .unit = "m", .range = ANY,
        .flags = VY_ROW_REQUIRED, .help = "x and y, world axes"),
};
static const vy_schema_table corner_table = {.title = "Corners",
                                             .help = "Of a polygon, in order; its sides must not cross.",
                                             .size = sizeof(vy_fence_corner),
                                             .init = init_corner,
                                             ROWS(corner_rows)};
#define BOX      (1u << VY_FENCE_BOX)
#define CYLINDER (1u << VY_FENCE_CYLINDER)
#define POLYGON  (1u << VY_FENCE_POLYGON)
static const vy_schema_row fence_rows[] = {
    ROW("kind", CHOICE, vy_fence_def, kind, CHOICES(fences), .help = "its shape"),
    ROW("min", VECTOR, vy_fence_def, min, .size = 3, .unit = "m", .range = ANY, .flags = VY_ROW_REQUIRED,
        .when = BOX, .help = "least x, y, z"),
    ROW("max", VECTOR, vy_fence_def, max, .size = 3, .unit = "m", .range = ANY, .flags = VY_ROW_REQUIRED,
        .when = BOX, .help = "largest x, y, z"),
    ROW("centre", VECTOR, vy_fence_def, centre, .size = 2, .unit = "m", .range = ANY, .when = CYLINDER,
        .help = "x and y of the axis"),
    ROW("radius", NUMBER, vy_fence_def, radius, .unit = "m", .range = POSITIVE, .flags = VY_ROW_REQUIRED,
        .when = CYLINDER, .help = "about the axis"),
    ROW("corners", LIST, vy_fence_def, corners, .table = &corner_table, .size = VY_FENCE_CORNER_CAP,
        .range = {.min = 3.0}, .count_offset = offsetof(vy_fence_def, corner_count), .flags = VY_ROW_REQUIRED,
        .when = POLYGON, .help = "at least three"),
    ROW("low", NUMBER, vy_fence_def, low, .unit = "m", .range = ANY, .keyword = "none",
        .keyword_value = -DBL_MAX, .when = CYLINDER | POLYGON, .help = "least height"),
    ROW("high", NUMBER, vy_fence_def, high, .unit = "m", .range = ANY, .keyword = "none",
        .keyword_value = DBL_MAX, .when = CYLINDER | POLYGON, .help = "largest height"),
};
const vy_schema_table vy_table_fence = {
    .title = "Fence",
    .help = "Where the centre of mass must stay. At a place of a planet z is the height over "
            "its ground.",
    .size = sizeof(vy_fence_def),
    ROWS(fence_rows)};

vy_status vy_check_fence_def(const vy_fence_def *f, vy_error *err)
{
    vy_status status = vy_check_rows(&vy_table_fence, "safety.fence", f, err);
    if (status != VY_OK || f->kind == VY_FENCE_NONE) return status;
    if (f->kind == VY_FENCE_BOX) {
        if (!(f->min.x < f->max.x && f->min.y < f->max.y && f->min.z < f->max.z))
            return vy_fail(err, VY_BAD_VALUE, "safety.fence.min must be below max on every axis");
        return VY_OK;
    }
    if (!(f->low < f->high)) return vy_fail(err, VY_BAD_VALUE, "safety.fence.low must be below high");
    if (f->kind == VY_FENCE_CYLINDER) return VY_OK;
    if (f->corner_count < 3 || f->corner_count > VY_FENCE_CORNER_CAP)
        return vy_fail(err, VY_BAD_VALUE, "safety.fence.corners: a polygon has 3 to %d, got %d",
                       VY_FENCE_CORNER_CAP, f->corner_count);
    for (int i = 0; i < f->corner_count && status == VY_OK; ++i)
        status = vy_check_rows(&corner_table, "safety.fence.corners", &f->corners[i], err);
    return status;
}

// How far a point lies outside of a polygon; 0 within.
static double outside_polygon(const vy_fence_def *f, double x, double y)
{
    int is_inside = 0;
    double nearest2 = DBL_MAX; // squared distance from the border
    VY_ASSERT(f->corner_count >= 3 && f->corner_count <= VY_FENCE_CORNER_CAP);
    for (int i = 0, j = f->corner_count - 1; i < f->corner_count; j = i++) {
        const double *a = f->corners[i].position, *b = f->corners[j].position;
        const double ex = b[0] - a[0], ey = b[1] - a[1], px = x - a[0], py = y - a[1];
        // A ray along +x crosses the edge: corners on the ray count as below it.
        if ((a[1] > y) != (b[1] > y) && (px < ex * (py / ey))) is_inside = !is_inside;
        const double length = ex * ex + ey * ey;
        const double t = length > 0.0 ? real_clamp((px * ex + py * ey) / length, 0.0, 1.0) : 0.0;
        const double dx = px - t * ex, dy = py - t * ey;
        nearest2 = real_min(nearest2, dx * dx + dy * dy);
    }
    return is_inside ? 0.0 : real_sqrt(nearest2);
}

// How far a point lies outside of the fence [m]; 0 or less within.
static double distance_outside(const vy_fence_def *f, vec3 p)
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

// The height of the lowest point of a drone that could touch the ground without terrain.
static double lowest_point_height(const environment_model *env, const drone_model *dm, const body_state *b)
{
    double lowest_height = 0.0;
    for (int i = 0; i < dm->ground_point_count; ++i)
        lowest_height = real_min(lowest_height, quat_rotate(b->attitude, dm->ground_points[i]).z);
    return height_at(env, b->position) + lowest_height;
}

// The same over the terrain below each point; where there is none, nothing is too low.
static double lowest_point_over_terrain(ground_probe ground, const drone_model *dm, const body_state *b)
{
    double lowest_height = DBL_MAX, height;
    for (int i = -1; i < dm->ground_point_count; ++i) {
        const vec3 ground_point = i < 0 ? vec3_zero() : quat_rotate(b->attitude, dm->ground_points[i]);
        if (ground.height(ground.self, vec3_add(b->position, ground_point), &height))
            lowest_height = real_min(lowest_height, height);
    }
    return lowest_height;
}

void vy_extra_limits_check(const vy_model *m, ground_probe ground, uint32_t index, const drone_block *d,
                           supervisor_block *state, world_block *w)
{
    const drone_model *dm = &m->drones[index];
    VY_ASSERT(index < m->drone_count && dm->has_supervisor);
    VY_ASSERT(dm->ground_point_count >= 0 && dm->ground_point_count <= VY_ROTOR_CAP + VY_COLLISION_POINT_CAP);
    const vy_safety_def *safety = &dm->safety;
    double height = 0.0, lowest_height = 0.0, fall_speed = -d->body.velocity.z;
    vec3 position = d->body.position; // with the height over the ground below, as the wind has it
    if (m->env.gravity.frame.on) {
        const local_position local = local_locate(&m->env.gravity.frame, &m->env.planet, position);
        position.z = local.height;
        fall_speed = -vec3_dot(local.up, d->body.velocity);
    }
    if (safety->ground && ground.height != NULL) {
        height = lowest_point_over_terrain(ground, dm, &d->body);
        if (m->collides) lowest_height = -MAX_TERRAIN_PENETRATION;
    } else if (safety->ground) {
        height = lowest_point_height(&m->env, dm, &d->body);
    }
    const struct {
        int is_on;
        vy_failure_reason reason;
        double value, limit;
        int is_minimum; // the value must not be below the limit
    } limits[EXTRA_LIMIT_COUNT] = {
        {safety->fall_max > 0.0, VY_FAILURE_FALL, fall_speed, safety->fall_max, 0},
        {safety->ground, VY_FAILURE_GROUND, height, lowest_height, 1},
        {safety->fence.kind != VY_FENCE_NONE, VY_FAILURE_FENCE,
         safety->fence.kind != VY_FENCE_NONE ? distance_outside(&safety->fence, position) : 0.0, 0.0, 0},
    };
    for (int i = 0; i < EXTRA_LIMIT_COUNT; ++i) {
        const int is_exceeded = limits[i].is_on && (limits[i].is_minimum ? limits[i].value < limits[i].limit
                                                                         : limits[i].value > limits[i].limit);
        state->exceeded[i] = is_exceeded ? state->exceeded[i] + 1 : 0;
        if (state->exceeded[i] > dm->sustain)
            world_fail(is_exceeded, limits[i].reason, index, limits[i].value, limits[i].limit, 0, w);
    }
}
