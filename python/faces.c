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

static void put(faces *f, double value)
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

static vy_vec3 placed(const vy_pose *pose, vy_vec3 p)
{
    const vy_quat q = pose->rotation; // p + 2 w (u x p) + 2 u x (u x p)
    const vy_vec3 t = {2.0 * (q.y * p.z - q.z * p.y), 2.0 * (q.z * p.x - q.x * p.z),
                       2.0 * (q.x * p.y - q.y * p.x)};
    return (vy_vec3){pose->position.x + p.x + q.w * t.x + (q.y * t.z - q.z * t.y),
                     pose->position.y + p.y + q.w * t.y + (q.z * t.x - q.x * t.z),
                     pose->position.z + p.z + q.w * t.z + (q.x * t.y - q.y * t.x)};
}

static void put_polygon(faces *f, const vy_pose *pose, const vy_vec3 *points, int count)
{
    put(f, count);
    for (int i = 0; i < count; ++i) {
        const vy_vec3 p = placed(pose, points[i]);
        put(f, p.x);
        put(f, p.y);
        put(f, p.z);
    }
}

// A solid of revolution about z: rings of radius r[k] at height z[k], from the bottom up.
static void put_rings(faces *f, const vy_pose *pose, const double *r, const double *z, int count)
{
    const double step = 2.0 * 3.14159265358979323846 / SEGMENTS;
    for (int k = 0; k + 1 < count; ++k) {
        for (int i = 0; i < SEGMENTS; ++i) {
            const double c0 = cos(i * step), s0 = sin(i * step), c1 = cos((i + 1) * step),
                         s1 = sin((i + 1) * step);
            const vy_vec3 side[4] = {{r[k] * c0, r[k] * s0, z[k]},
                                     {r[k] * c1, r[k] * s1, z[k]},
                                     {r[k + 1] * c1, r[k + 1] * s1, z[k + 1]},
                                     {r[k + 1] * c0, r[k + 1] * s0, z[k + 1]}};
            put_polygon(f, pose, side, 4);
        }
    }
}

static void put_capsule(faces *f, const vy_pose *pose, double half_length, double radius)
{
    enum { ARC = 5 };
    double r[2 * ARC + 2], z[2 * ARC + 2];
    for (int k = 0; k <= ARC; ++k) {
        const double a = 0.5 * 3.14159265358979323846 * k / ARC;
        r[k] = radius * sin(a);
        z[k] = -half_length - radius * cos(a);
        r[2 * ARC + 1 - k] = r[k];
        z[2 * ARC + 1 - k] = -z[k];
    }
    put_rings(f, pose, r, z, 2 * ARC + 2);
}

static void put_box(faces *f, const vy_pose *pose, vy_vec3 h)
{
    static const int corner[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                     {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (int k = 0; k < 6; ++k) {
        vy_vec3 p[4];
        for (int i = 0; i < 4; ++i) {
            const int c = corner[k][i];
            p[i] = (vy_vec3){c & 1 ? h.x : -h.x, c & 2 ? h.y : -h.y, c & 4 ? h.z : -h.z};
        }
        put_polygon(f, pose, p, 4);
    }
}

static void put_hull(faces *f, const vy_pose *pose, const vy_hull *hull)
{
    for (int k = 0; k < hull->face_count; ++k) {
        const vy_hull_face *face = &hull->faces[k];
        put(f, face->count);
        for (int i = 0; i < face->count; ++i) {
            const vy_vec3 p = placed(pose, hull->vertices[hull->loop[face->first + i]]);
            put(f, p.x);
            put(f, p.y);
            put(f, p.z);
        }
    }
}

// A picture has no use for more cells than it can show: at most FIELD_CELLS along a side.
static void put_field(faces *f, const vy_pose *pose, const vy_height_field *field)
{
    const int sx = (field->nx - 2) / FIELD_CELLS + 1, sy = (field->ny - 2) / FIELD_CELLS + 1;
    for (int j = 0; j + 1 < field->ny; j += sy) {
        for (int i = 0; i + 1 < field->nx; i += sx) {
            const int i1 = i + sx < field->nx ? i + sx : field->nx - 1,
                      j1 = j + sy < field->ny ? j + sy : field->ny - 1;
            const int at[4][2] = {{i, j}, {i1, j}, {i1, j1}, {i, j1}};
            vy_vec3 p[4];
            for (int k = 0; k < 4; ++k)
                p[k] = (vy_vec3){at[k][0] * field->spacing, at[k][1] * field->spacing,
                                 field->heights[(size_t)at[k][1] * (size_t)field->nx + (size_t)at[k][0]]};
            put_polygon(f, pose, p, 4);
        }
    }
}

static void put_shape(faces *f, const vy_shape *shape, const vy_pose *pose)
{
    switch (shape->kind) {
    case VY_SHAPE_SPHERE: put_capsule(f, pose, 0.0, shape->sphere.radius); break;
    case VY_SHAPE_CAPSULE: put_capsule(f, pose, shape->capsule.half_length, shape->capsule.radius); break;
    case VY_SHAPE_CYLINDER: {
        const double h = shape->cylinder.half_height, r = shape->cylinder.radius;
        put_rings(f, pose, (const double[]){0.0, r, r, 0.0}, (const double[]){-h, -h, h, h}, 4);
        break;
    }
    case VY_SHAPE_BOX: put_box(f, pose, shape->box.half); break;
    case VY_SHAPE_HULL: put_hull(f, pose, shape->hull); break;
    case VY_SHAPE_HEIGHT_FIELD: put_field(f, pose, &shape->field); break;
    default: break; // a plane is the ground
    }
}

// The faces of obstacles (`what` -1), or of body `what` where it is now. Returns how many numbers there are;
// *out is to be freed. -1: no memory.
int64_t world_faces(locked_world *w, int what, double **out)
{
    faces f = {.values = NULL};
    const vy_world *world = binding_enter(w);
    const vy_shape *shape = NULL;
    vy_pose pose;
    for (uint32_t i = 0; what < 0 && i < vy_world_obstacle_count(world); ++i)
        if (vy_world_obstacle(world, i, &shape, &pose) == VY_OK) put_shape(&f, shape, &pose);
    if (what >= 0) {
        const vy_body_id id = vy_world_body(world, vy_world_drone_count(world) + (uint32_t)what);
        if (vy_world_shape(world, id, &shape, &pose) == VY_OK && shape != NULL) put_shape(&f, shape, &pose);
    }
    binding_leave(w);
    *out = f.values;
    return f.failed ? -1 : (int64_t)f.size;
}

// The faces of a body of a set where it is now, as of world_faces().
int64_t body_faces(locked_bodies *b, uint64_t id, double **out)
{
    faces f = {.values = NULL};
    const vy_shape *shape = NULL;
    vy_pose pose;
    if (vy_body_read_shape(bodies_enter(b), (vy_body_id){id}, &shape, &pose) == VY_OK && shape != NULL)
        put_shape(&f, shape, &pose);
    bodies_leave(b);
    *out = f.values;
    return f.failed ? -1 : (int64_t)f.size;
}

// Hubs of a drone's rotors, three numbers each in body axes, and the radius of its discs. Returns how many
// rotors.
int scenario_hubs(const vy_scenario *scenario, int drone, double *out, double *radius)
{
    const vy_vehicle_def *v = &scenario->drones[drone].def.vehicle;
    for (int i = 0; i < v->rotor_count; ++i) memcpy(out + 3 * i, &v->rotors[i].position, 3 * sizeof *out);
    *radius = v->rotor_air.radius;
    return v->rotor_count;
}
