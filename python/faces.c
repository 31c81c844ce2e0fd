// faces.c - the faces of what stands in a world or a set of bodies, for pictures, as flat functions for
// Python's ctypes.
#include "binding.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENTS = 24, FIELD_CELLS = 48 };

// Polygons: of each how many corners, then their coordinates.
typedef struct faces {
    double *values;
    size_t size, capacity;
    int failed;
} faces;

static void append_value(faces *f, double value)
{
    if (f->size == f->capacity) {
        const size_t capacity = f->capacity > 0 ? 2 * f->capacity : 1024;
        double *values = realloc(f->values, capacity * sizeof *values);
        f->failed |= values == NULL;
        if (values == NULL) return;
        f->values = values;
        f->capacity = capacity;
    }
    f->values[f->size++] = value;
}

static vy_vec3 transform_point(const vy_pose *pose, vy_vec3 p)
{
    const vy_quat q = pose->rotation; // p + 2 w (u x p) + 2 u x (u x p)
    const vy_vec3 t = {2.0 * (q.y * p.z - q.z * p.y), 2.0 * (q.z * p.x - q.x * p.z),
                       2.0 * (q.x * p.y - q.y * p.x)};
    return (vy_vec3){pose->position.x + p.x + q.w * t.x + (q.y * t.z - q.z * t.y),
                     pose->position.y + p.y + q.w * t.y + (q.z * t.x - q.x * t.z),
                     pose->position.z + p.z + q.w * t.z + (q.x * t.y - q.y * t.x)};
}

static void append_polygon(faces *f, const vy_pose *pose, const vy_vec3 *points, int count)
{
    append_value(f, count);
    for (int i = 0; i < count; ++i) {
        const vy_vec3 p = transform_point(pose, points[i]);
        append_value(f, p.x);
        append_value(f, p.y);
        append_value(f, p.z);
    }
}

// A solid of revolution about z: rings of radius r[k] at height z[k], from the bottom up.
static void append_rings(faces *f, const vy_pose *pose, const double *r, const double *z, int count)
{
    const double angle_step = 2.0 * 3.14159265358979323846 / SEGMENTS;
    for (int k = 0; k + 1 < count; ++k) {
        for (int i = 0; i < SEGMENTS; ++i) {
            const double c0 = cos(i * angle_step), s0 = sin(i * angle_step), c1 = cos((i + 1) * angle_step),
                         s1 = sin((i + 1) * angle_step);
            const vy_vec3 side[4] = {{r[k] * c0, r[k] * s0, z[k]},
                                     {r[k] * c1, r[k] * s1, z[k]},
                                     {r[k + 1] * c1, r[k + 1] * s1, z[k + 1]},
                                     {r[k + 1] * c0, r[k + 1] * s0, z[k + 1]}};
            append_polygon(f, pose, side, 4);
        }
    }
}

static void append_capsule(faces *f, const vy_pose *pose, double half_length, double radius)
{
    enum { ARC_STEPS = 5 };
    double r[2 * ARC_STEPS + 2], z[2 * ARC_STEPS + 2];
    for (int k = 0; k <= ARC_STEPS; ++k) {
        const double angle = 0.5 * 3.14159265358979323846 * k / ARC_STEPS;
        r[k] = radius * sin(angle);
        z[k] = -half_length - radius * cos(angle);
        r[2 * ARC_STEPS + 1 - k] = r[k];
        z[2 * ARC_STEPS + 1 - k] = -z[k];
    }
    append_rings(f, pose, r, z, 2 * ARC_STEPS + 2);
}

static void append_box(faces *f, const vy_pose *pose, vy_vec3 half)
{
    static const int face_corners[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                           {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (int k = 0; k < 6; ++k) {
        vy_vec3 points[4];
        for (int i = 0; i < 4; ++i) {
            const int corner = face_corners[k][i];
            points[i] = (vy_vec3){corner & 1 ? half.x : -half.x, corner & 2 ? half.y : -half.y,
                                  corner & 4 ? half.z : -half.z};
        }
        append_polygon(f, pose, points, 4);
    }
}

static void append_hull(faces *f, const vy_pose *pose, const vy_hull *hull)
{
    for (int k = 0; k < hull->face_count; ++k) {
        const vy_hull_face *face = &hull->faces[k];
        append_value(f, face->count);
        for (int i = 0; i < face->count; ++i) {
            const vy_vec3 p = transform_point(pose, hull->vertices[hull->loop[face->first + i]]);
            append_value(f, p.x);
            append_value(f, p.y);
            append_value(f, p.z);
        }
    }
}

// A picture has no use for more cells than it can show: at most FIELD_CELLS along a side.
static void append_height_field(faces *f, const vy_pose *pose, const vy_height_field *field)
{
    const int step_x = (field->nx - 2) / FIELD_CELLS + 1, step_y = (field->ny - 2) / FIELD_CELLS + 1;
    for (int j = 0; j + 1 < field->ny; j += step_y) {
        for (int i = 0; i + 1 < field->nx; i += step_x) {
            const int i_next = i + step_x < field->nx ? i + step_x : field->nx - 1,
                      j_next = j + step_y < field->ny ? j + step_y : field->ny - 1;
            const int corners[4][2] = {{i, j}, {i_next, j}, {i_next, j_next}, {i, j_next}};
            vy_vec3 points[4];
            for (int k = 0; k < 4; ++k)
                points[k] = (vy_vec3){
                    corners[k][0] * field->spacing, corners[k][1] * field->spacing,
                    field->heights[(size_t)corners[k][1] * (size_t)field->nx + (size_t)corners[k][0]]};
            append_polygon(f, pose, points, 4);
        }
    }
}

static void append_shape(faces *f, const vy_shape *shape, const vy_pose *pose)
{
    switch (shape->kind) {
    case VY_SHAPE_SPHERE: append_capsule(f, pose, 0.0, shape->sphere.radius); break;
    case VY_SHAPE_CAPSULE: append_capsule(f, pose, shape->capsule.half_length, shape->capsule.radius); break;
    case VY_SHAPE_CYLINDER: {
        const double half_height = shape->cylinder.half_height, radius = shape->cylinder.radius;
        append_rings(f, pose, (const double[]){0.0, radius, radius, 0.0},
                     (const double[]){-half_height, -half_height, half_height, half_height}, 4);
        break;
    }
    case VY_SHAPE_BOX: append_box(f, pose, shape->box.half); break;
    case VY_SHAPE_HULL: append_hull(f, pose, shape->hull); break;
    case VY_SHAPE_HEIGHT_FIELD: append_height_field(f, pose, &shape->field); break;
    default: break; // a plane is the ground
    }
}

// The faces of obstacles (`body` -1), or of body `body` where it is now. Returns how many numbers there are;
// *out is to be freed. -1: no memory.
int64_t world_faces(locked_world *w, int body, double **out)
{
    faces output = {.values = NULL};
    const vy_world *world = world_enter(w);
    const vy_shape *shape = NULL;
    vy_pose pose;
    for (uint32_t i = 0; body < 0 && i < vy_world_obstacle_count(world); ++i)
        if (vy_world_obstacle(world, i, &shape, &pose) == VY_OK) append_shape(&output, shape, &pose);
    if (body >= 0) {
        const vy_body_id id = vy_world_body(world, vy_world_drone_count(world) + (uint32_t)body);
        if (vy_world_shape(world, id, &shape, &pose) == VY_OK && shape != NULL)
            append_shape(&output, shape, &pose);
    }
    world_leave(w);
    *out = output.values;
    return output.failed ? -1 : (int64_t)output.size;
}

// The faces of a body of a set where it is now, as of world_faces().
int64_t body_faces(locked_bodies *b, uint64_t id, double **out)
{
    faces output = {.values = NULL};
    const vy_shape *shape = NULL;
    vy_pose pose;
    if (vy_body_read_shape(bodies_enter(b), (vy_body_id){id}, &shape, &pose) == VY_OK && shape != NULL)
        append_shape(&output, shape, &pose);
    bodies_leave(b);
    *out = output.values;
    return output.failed ? -1 : (int64_t)output.size;
}

// Hubs of a drone's rotors, three numbers each in body axes, and the radius of its discs. Returns how many
// rotors.
int scenario_hubs(const vy_scenario *scenario, int drone, double *out, double *radius)
{
    const vy_vehicle_def *vehicle = &scenario->drones[drone].def.vehicle;
    for (int i = 0; i < vehicle->rotor_count; ++i)
        memcpy(out + 3 * i, &vehicle->rotors[i].position, 3 * sizeof *out);
    *radius = vehicle->rotor_air.radius;
    return vehicle->rotor_count;
}
