// shape.h - collision shapes: one tagged value, passed by const pointer, never copied by a query.
//
// A shape is described in its own frame, metres; a query takes a shape and a pose and moves nothing.
#pragma once
#include "volery/hull.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The pose of a shape: p_world = position + rotation p_shape.
typedef struct vy_pose {
    vy_vec3 position; ///< [m]
    vy_quat rotation; ///< unit; shape to world
} vy_pose;

typedef enum vy_shape_kind {
    VY_SHAPE_NONE, ///< a zeroed shape is no shape
    VY_SHAPE_SPHERE,
    VY_SHAPE_CAPSULE,
    VY_SHAPE_BOX,
    VY_SHAPE_CYLINDER,
    VY_SHAPE_HULL,
    VY_SHAPE_PLANE,
    VY_SHAPE_HEIGHT_FIELD,
} vy_shape_kind;

/// About the origin.
typedef struct vy_sphere {
    double radius; ///< [m] > 0
} vy_sphere;

/// All points within `radius` of the segment from (0, 0, -half_length) to (0, 0, half_length).
typedef struct vy_capsule {
    double half_length; ///< [m] >= 0; 0 is a sphere
    double radius;      ///< [m] > 0
} vy_capsule;

/// About the origin, along the axes.
typedef struct vy_box {
    vy_vec3 half; ///< [m] half the sides, each > 0
} vy_box;

/// About the origin, axis along z.
typedef struct vy_cylinder {
    double half_height; ///< [m] > 0
    double radius;      ///< [m] > 0
} vy_cylinder;

/// The half space dot(normal, p) <= offset: solid below, unbounded.
typedef struct vy_plane {
    vy_vec3 normal;               ///< unit
    double offset;                ///< [m]
    const struct vy_globe *globe; ///< NULL; the ground of a world at a planet's origin curves with the planet
} vy_plane;

/// Ground over a grid: sample (i, j) stands at x = i spacing, y = j spacing, and its height is
/// heights[j * nx + i]. Each cell is two triangles, cut from (i, j) to (i + 1, j + 1). Solid below the
/// surface, nothing outside the grid.
typedef struct vy_height_field {
    int nx, ny;            ///< samples along x and y, each >= 2
    double spacing;        ///< [m] > 0
    double low, high;      ///< [m] smallest and largest height
    const double *heights; ///< [m, nx * ny] the caller's; must outlive the shape
} vy_height_field;

typedef struct vy_shape {
    vy_shape_kind kind;
    union {
        vy_sphere sphere;
        vy_capsule capsule;
        vy_box box;
        vy_cylinder cylinder;
        const vy_hull *hull; ///< the caller's; must outlive the shape
        vy_plane plane;
        vy_height_field field;
    };
} vy_shape;

// Each constructor checks its numbers (finite, in range, lengths at most 1e9 m), fills *out and returns
// VY_OK, or leaves *out unchanged and returns VY_BAD_VALUE with the reason in `err` (may be NULL).

/// Round solids about the z axis, their middle at the origin; lengths in m. A capsule's half length goes to
/// the middles of its caps.
vy_status vy_shape_sphere(double radius, vy_shape *out, vy_error *err);
vy_status vy_shape_capsule(double half_length, double radius, vy_shape *out, vy_error *err);
vy_status vy_shape_cylinder(double half_height, double radius, vy_shape *out, vy_error *err);
/// @param half [m] half of each edge
vy_status vy_shape_box(vy_vec3 half, vy_shape *out, vy_error *err);
/// @param normal any length but zero; stored as a unit vector
/// @param offset [m] along the unit normal
vy_status vy_shape_plane(vy_vec3 normal, double offset, vy_shape *out, vy_error *err);
/// @param heights [nx * ny] kept, not copied
vy_status vy_shape_height_field(int nx, int ny, double spacing, const double *heights, vy_shape *out,
                                vy_error *err);
/// @param hull kept, not copied
/// @return VY_BAD_HULL when it is NULL or fails vy_hull_check()
vy_status vy_shape_hull(const vy_hull *hull, vy_shape *out, vy_error *err);

/// Check a shape that was filled by hand. VY_OK, VY_BAD_VALUE or VY_BAD_HULL.
vy_status vy_shape_check(const vy_shape *shape, vy_error *err);

/// Whether the shape is a bounded convex body (all but the plane and the height field).
int vy_shape_is_convex(const vy_shape *shape);

/// The smallest axis-aligned box about the shape at a pose. A plane's box is infinite, but for a plane that
/// stands along an axis of the world, which is bounded on its open side; a height field's box holds the solid
/// down to its lowest height.
vy_bounds vy_shape_bounds(const vy_shape *shape, const vy_pose *pose);

/// The two triangles of cell (i, j) of a height field, counter-clockwise seen from above.
/// @param i    0 ... nx - 2
/// @param j    0 ... ny - 2
/// @param half 0: the triangle below the cut (towards +x), 1: above it (towards +y)
void vy_height_field_triangle(const vy_height_field *field, int i, int j, int half, vy_vec3 out[3]);

/// [m] The height of the surface at (x, y) in the field's frame.
/// @return 0 and *height untouched when (x, y) is not over the grid, else 1
int vy_height_field_height(const vy_height_field *field, double x, double y, double *height);

#ifdef __cplusplus
}
#endif
