// shapes.c - collision shapes as flat functions for Python's ctypes.
#include "shapes.h"
#include "binding.h"
#include "volery/mass.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void shape_destroy(owned_shape *s)
{
    if (s == NULL) return;
    vy_hull_destroy(s->hull);
    free(s->heights);
    free(s);
}

// A copy of `shape` on the heap, where `status` is VY_OK; else NULL, and what the shape holds is freed.
static owned_shape *copy_to_heap(const owned_shape *shape, vy_status status, vy_error *err)
{
    owned_shape *copy = NULL;
    if (status == VY_OK) {
        copy = malloc(sizeof *copy);
        err->status = VY_NO_MEMORY;
    }
    if (copy != NULL) {
        *copy = *shape;
        return copy;
    }
    vy_hull_destroy(shape->hull);
    free(shape->heights);
    return binding_fail(err);
}

owned_shape *shape_sphere(double radius)
{
    vy_error err = {0};
    owned_shape s = {.hull = NULL};
    return copy_to_heap(&s, vy_shape_sphere(radius, &s.shape, &err), &err);
}

owned_shape *shape_capsule(double half_length, double radius)
{
    vy_error err = {0};
    owned_shape s = {.hull = NULL};
    return copy_to_heap(&s, vy_shape_capsule(half_length, radius, &s.shape, &err), &err);
}

owned_shape *shape_cylinder(double half_height, double radius)
{
    vy_error err = {0};
    owned_shape s = {.hull = NULL};
    return copy_to_heap(&s, vy_shape_cylinder(half_height, radius, &s.shape, &err), &err);
}

owned_shape *shape_box(const double half[3])
{
    vy_error err = {0};
    owned_shape s = {.hull = NULL};
    return copy_to_heap(&s, vy_shape_box((vy_vec3){half[0], half[1], half[2]}, &s.shape, &err), &err);
}

owned_shape *shape_plane(const double normal[3], double offset)
{
    vy_error err = {0};
    owned_shape s = {.hull = NULL};
    return copy_to_heap(
        &s, vy_shape_plane((vy_vec3){normal[0], normal[1], normal[2]}, offset, &s.shape, &err), &err);
}

// Of `count` points, three numbers each.
owned_shape *shape_hull(const double *points, int count, double tolerance)
{
    vy_error err = {0};
    owned_shape s = {.hull = NULL};
    vy_status status = vy_hull_create((const vy_vec3 *)points, count, tolerance, &s.hull, &err);
    if (status == VY_OK) status = vy_shape_hull(s.hull, &s.shape, &err);
    return copy_to_heap(&s, status, &err);
}

// The heights are copied: row by row along y, nx in each.
owned_shape *shape_height_field(int nx, int ny, double spacing, const double *heights)
{
    vy_error err = {.status = VY_NO_MEMORY};
    owned_shape s = {.hull = NULL};
    const size_t size = (size_t)nx * (size_t)ny * sizeof *heights;
    s.heights = malloc(size > 0 ? size : 1);
    if (s.heights == NULL) return binding_fail(&err);
    memcpy(s.heights, heights, size);
    return copy_to_heap(&s, vy_shape_height_field(nx, ny, spacing, s.heights, &s.shape, &err), &err);
}

// Volume, centroid in the shape's frame, and inertia about it of one kilogram, row by row. -1: it has none.
int shape_mass(const owned_shape *s, double out[13])
{
    vy_error err = {0};
    vy_mass_properties properties;
    const vy_status status = vy_shape_mass(&s->shape, 1.0, &properties, &err);
    if (status != VY_OK) return binding_result(status, &err);
    out[0] = properties.volume;
    memcpy(out + 1, &properties.centroid, sizeof properties.centroid);
    memcpy(out + 4, &properties.inertia, sizeof properties.inertia);
    return 0;
}
