// solid.c - from declared shapes to those of the geometry.
#include "world/solid.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/vec.h"
#include <stdlib.h>

#define OBSTACLE_COOKIE 0x76796c38u

// Height over width of a box about rotors: a Crazyflie has 29 mm over 110 mm.
#define FLATNESS 0.25

enum { POINT_MAX = 100000 };

vy_collider_def vy_default_collider_def(void)
{
    vy_collider_def def;
    memset(&def, 0, sizeof def);
    def.scale = 1.0;
    def.material = vy_default_material();
    return def;
}

vy_obstacle_def vy_default_obstacle_def(void)
{
    vy_obstacle_def def = {.cookie = OBSTACLE_COOKIE, .solid = vy_default_collider_def()};
    def.solid.kind = VY_COLLIDER_PLANE;
    def.attitude.w = 1.0;
    return def;
}

void vy_solid_free(solid_memory *memory)
{
    vy_hull_destroy(memory->hull);
    free(memory->heights);
    *memory = (solid_memory){NULL, NULL};
}

static vy_status build_hull(const vy_vec3 *points, int count, vy_shape *out, solid_memory *memory,
                            vy_error *err)
{
    const vy_status status = vy_hull_create(points, count, VY_HULL_TOLERANCE, &memory->hull, err);
    return status == VY_OK ? vy_shape_hull(memory->hull, out, err) : status;
}

static vy_status hull_of_points(const vy_numbers *n, vy_shape *out, solid_memory *memory, vy_error *err)
{
    if (n->values == NULL || n->columns != 3 || n->rows < 4 || n->rows > POINT_MAX)
        return vy_fail(err, VY_BAD_VALUE, "a hull needs 4 to %d points of 3 numbers", POINT_MAX);
    vy_vec3 *points = calloc((size_t)n->rows, sizeof *points);
    if (points == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for %d points", n->rows);
    for (int i = 0; i < n->rows; ++i)
        points[i] = vec3_make(n->values[3 * i], n->values[3 * i + 1], n->values[3 * i + 2]);
    const vy_status status = build_hull(points, n->rows, out, memory, err);
    free(points);
    return status;
}

static vy_status field_of_heights(const vy_collider_def *def, vy_shape *out, solid_memory *memory,
                                  vy_error *err)
{
    const vy_numbers *n = &def->heights;
    if (n->values == NULL || n->rows < 2 || n->columns < 2)
        return vy_fail(err, VY_BAD_VALUE, "heights need at least 2 rows and 2 columns");
    const size_t size = (size_t)n->rows * (size_t)n->columns * sizeof *n->values;
    memory->heights = malloc(size);
    if (memory->heights == NULL)
        return vy_fail(err, VY_NO_MEMORY, "no memory for %zu bytes of heights", size);
    memcpy(memory->heights, n->values, size);
    return vy_shape_height_field(n->columns, n->rows, def->spacing, memory->heights, out, err);
}

// The smallest box that holds the rotors' discs, or a margin in their place, and the vehicle's origin.
static vy_status box_of_rotors(const vy_vehicle_def *v, vy_shape *out, solid_memory *memory, vy_error *err)
{
    VY_ASSERT(v->rotor_count > 0 && v->rotor_count <= VY_ROTOR_CAP);
    vec3 low = vec3_zero(), high = vec3_zero();
    for (int i = 0; i < v->rotor_count; ++i) {
        const vec3 p = v->rotors[i].position;
        low = vec3_make(real_min(low.x, p.x), real_min(low.y, p.y), real_min(low.z, p.z));
        high = vec3_make(real_max(high.x, p.x), real_max(high.y, p.y), real_max(high.z, p.z));
    }
    const double half_width = 0.5 * real_max(high.x - low.x, high.y - low.y);
    const double margin = v->rotor_air.radius > 0.0 ? v->rotor_air.radius : 0.5 * half_width;
    const double half_height = FLATNESS * (half_width + margin);
    const double x[2] = {low.x - margin, high.x + margin}, y[2] = {low.y - margin, high.y + margin},
                 z[2] = {low.z - half_height, high.z + half_height};
    vec3 corners[8];
    for (int i = 0; i < 8; ++i) corners[i] = vec3_make(x[i & 1], y[i >> 1 & 1], z[i >> 2]);
    static const int face_corners[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4,
                                         2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
    static const int face_sizes[6] = {4, 4, 4, 4, 4, 4};
    const vy_status status =
        vy_hull_from_faces(corners, 8, face_corners, face_sizes, 6, VY_HULL_TOLERANCE, &memory->hull, err);
    return status == VY_OK ? vy_shape_hull(memory->hull, out, err) : status;
}

static vy_status build_auto(const vy_vehicle_def *v, vy_shape *out, solid_memory *memory, vy_error *err)
{
    vy_vec3 points[VY_COLLISION_POINT_CAP];
    if (v == NULL) return VY_OK;
    VY_ASSERT(v->collision_point_count <= VY_COLLISION_POINT_CAP);
    if (v->collision_point_count == 0) return v->rotor_count > 0 ? box_of_rotors(v, out, memory, err) : VY_OK;
    for (int i = 0; i < v->collision_point_count; ++i) points[i] = v->collision_points[i].position;
    return build_hull(points, v->collision_point_count, out, memory, err);
}

static vy_status build_kind(const vy_collider_def *def, const vy_vehicle_def *vehicle, vy_shape *out,
                            solid_memory *memory, vy_error *err)
{
    switch (def->kind) {
    case VY_COLLIDER_AUTO: return build_auto(vehicle, out, memory, err);
    case VY_COLLIDER_NONE: return VY_OK;
    case VY_COLLIDER_BOX: return vy_shape_box(vec3_scale(0.5, def->size), out, err);
    case VY_COLLIDER_SPHERE: return vy_shape_sphere(def->radius, out, err);
    case VY_COLLIDER_CAPSULE: return vy_shape_capsule(0.5 * def->length, def->radius, out, err);
    case VY_COLLIDER_CYLINDER: return vy_shape_cylinder(0.5 * def->length, def->radius, out, err);
    case VY_COLLIDER_HULL: return hull_of_points(&def->points, out, memory, err);
    case VY_COLLIDER_PLANE: return vy_shape_plane(vec3_make(0.0, 0.0, 1.0), 0.0, out, err);
    case VY_COLLIDER_HEIGHT_FIELD: return field_of_heights(def, out, memory, err);
    }
    return vy_fail(err, VY_BAD_VALUE, "no shape of kind %d", (int)def->kind);
}

vy_status vy_solid_build(const vy_collider_def *def, const vy_vehicle_def *vehicle, vy_shape *out,
                         solid_memory *memory, vy_error *err)
{
    vy_shape shape = {.kind = VY_SHAPE_NONE};
    *memory = (solid_memory){NULL, NULL};
    const vy_status status = build_kind(def, vehicle, &shape, memory, err);
    if (status != VY_OK) {
        vy_solid_free(memory);
        return status;
    }
    *out = shape;
    return VY_OK;
}
