// shape.c - making, checking and bounding shapes.
#include "volery/shape.h"
#include "base/assert.h"
#include "base/real.h"
#include "base/fail.h"
#include "base/vec.h"
#include <math.h>

static int is_valid_length(double x) { return x > 0.0 && x <= VY_HULL_LIMIT; } // false for NaN

static vy_status check_height_field(const vy_height_field *field, vy_error *err)
{
    if (field->nx < 2 || field->ny < 2 || field->nx > (1 << 28) / field->ny) {
        return vy_fail(err, VY_BAD_VALUE,
                       "height field: %d x %d samples, at least 2 x 2 and at most 2^28 in all", field->nx,
                       field->ny);
    }
    if (!is_valid_length(field->spacing)) {
        return vy_fail(err, VY_BAD_VALUE, "height field: spacing must be above 0 m and at most 1e9 m, got %g",
                       field->spacing);
    }
    if (field->heights == NULL) return vy_fail(err, VY_BAD_VALUE, "height field: no heights given");
    for (int i = 0; i < field->nx * field->ny; ++i) {
        if (!(real_abs(field->heights[i]) <= VY_HULL_LIMIT)) {
            return vy_fail(err, VY_BAD_VALUE, "height field: sample (%d, %d) is %g m", i % field->nx,
                           i / field->nx, field->heights[i]);
        }
    }
    return VY_OK;
}

static vy_status check_plane(const vy_plane *plane, vy_error *err)
{
    if (!(real_abs(vec3_dot(plane->normal, plane->normal) - 1.0) < 1e-12)) {
        return vy_fail(err, VY_BAD_VALUE, "plane: the normal (%g, %g, %g) is not a unit vector",
                       plane->normal.x, plane->normal.y, plane->normal.z);
    }
    if (!(real_abs(plane->offset) <= VY_HULL_LIMIT)) {
        return vy_fail(err, VY_BAD_VALUE, "plane: offset must be at most 1e9 m, got %g", plane->offset);
    }
    return VY_OK;
}

vy_status vy_shape_check(const vy_shape *shape, vy_error *err)
{
    FPU_SCOPE;
    switch (shape->kind) {
    case VY_SHAPE_SPHERE:
        if (is_valid_length(shape->sphere.radius)) return VY_OK;
        return vy_fail(err, VY_BAD_VALUE, "sphere: radius must be above 0 m and at most 1e9 m, got %g",
                       shape->sphere.radius);
    case VY_SHAPE_CAPSULE:
        if (is_valid_length(shape->capsule.radius) &&
            (shape->capsule.half_length == 0.0 || is_valid_length(shape->capsule.half_length))) {
            return VY_OK;
        }
        return vy_fail(err, VY_BAD_VALUE,
                       "capsule: half length %g m and radius %g m must be at least and above 0",
                       shape->capsule.half_length, shape->capsule.radius);
    case VY_SHAPE_BOX:
        if (is_valid_length(shape->box.half.x) && is_valid_length(shape->box.half.y) &&
            is_valid_length(shape->box.half.z))
            return VY_OK;
        return vy_fail(err, VY_BAD_VALUE,
                       "box: half sides must be above 0 m and at most 1e9 m, got %g, %g, %g",
                       shape->box.half.x, shape->box.half.y, shape->box.half.z);
    case VY_SHAPE_CYLINDER:
        if (is_valid_length(shape->cylinder.half_height) && is_valid_length(shape->cylinder.radius))
            return VY_OK;
        return vy_fail(err, VY_BAD_VALUE, "cylinder: half height %g m and radius %g m must be above 0",
                       shape->cylinder.half_height, shape->cylinder.radius);
    case VY_SHAPE_HULL: return vy_hull_check(shape->hull, err);
    case VY_SHAPE_PLANE: return check_plane(&shape->plane, err);
    case VY_SHAPE_HEIGHT_FIELD: return check_height_field(&shape->field, err);
    case VY_SHAPE_NONE: break;
    }
    return vy_fail(err, VY_BAD_VALUE, "shape: unknown kind %d", (int)shape->kind);
}

static vy_status store_checked(vy_shape shape, vy_shape *out, vy_error *err)
{
    const vy_status status = vy_shape_check(&shape, err);
    if (status == VY_OK) *out = shape;
    return status;
}

vy_status vy_shape_sphere(double radius, vy_shape *out, vy_error *err)
{
    FPU_SCOPE;
    return store_checked((vy_shape){.kind = VY_SHAPE_SPHERE, .sphere = {radius}}, out, err);
}

vy_status vy_shape_capsule(double half_length, double radius, vy_shape *out, vy_error *err)
{
    FPU_SCOPE;
    return store_checked((vy_shape){.kind = VY_SHAPE_CAPSULE, .capsule = {half_length, radius}}, out, err);
}

vy_status vy_shape_box(vy_vec3 half, vy_shape *out, vy_error *err)
{
    FPU_SCOPE;
    return store_checked((vy_shape){.kind = VY_SHAPE_BOX, .box = {half}}, out, err);
}

vy_status vy_shape_cylinder(double half_height, double radius, vy_shape *out, vy_error *err)
{
    FPU_SCOPE;
    return store_checked((vy_shape){.kind = VY_SHAPE_CYLINDER, .cylinder = {half_height, radius}}, out, err);
}

vy_status vy_shape_plane(vy_vec3 normal, double offset, vy_shape *out, vy_error *err)
{
    FPU_SCOPE;
    const double largest = real_max(real_abs(normal.x), real_max(real_abs(normal.y), real_abs(normal.z)));
    if (!(real_is_finite(largest) && largest > 0.0)) {
        return vy_fail(err, VY_BAD_VALUE, "plane: the normal (%g, %g, %g) has no direction", normal.x,
                       normal.y, normal.z);
    }
    const vy_vec3 scaled = vec3_make(normal.x / largest, normal.y / largest, normal.z / largest);
    const vy_vec3 unit = vec3_scale(1.0 / vec3_length(scaled), scaled);
    return store_checked((vy_shape){.kind = VY_SHAPE_PLANE, .plane = {.normal = unit, .offset = offset}}, out,
                         err);
}

vy_status vy_shape_height_field(int nx, int ny, double spacing, const double *heights, vy_shape *out,
                                vy_error *err)
{
    FPU_SCOPE;
    vy_shape shape = {.kind = VY_SHAPE_HEIGHT_FIELD, .field = {nx, ny, spacing, 0.0, 0.0, heights}};
    const vy_status status = vy_shape_check(&shape, err);
    if (status != VY_OK) return status;
    shape.field.low = shape.field.high = heights[0];
    for (int i = 1; i < nx * ny; ++i) {
        shape.field.low = real_min(shape.field.low, heights[i]);
        shape.field.high = real_max(shape.field.high, heights[i]);
    }
    *out = shape;
    return VY_OK;
}

vy_status vy_shape_hull(const vy_hull *hull, vy_shape *out, vy_error *err)
{
    FPU_SCOPE;
    return store_checked((vy_shape){.kind = VY_SHAPE_HULL, .hull = hull}, out, err);
}

int vy_shape_is_convex(const vy_shape *shape)
{
    return shape->kind >= VY_SHAPE_SPHERE && shape->kind <= VY_SHAPE_HULL;
}

// ---- bounds ----

static vy_bounds make_bounds(vy_vec3 middle, vy_vec3 half)
{
    const vy_bounds box = {vec3_sub(middle, half), vec3_add(middle, half)};
    return box;
}

/// Half the extent along each world axis of a box with half sides h, rotated by r.
static vy_vec3 rotated_half_extents(const mat3 *r, vy_vec3 half_sides)
{
    double half_extents[3];
    for (int i = 0; i < 3; ++i) {
        half_extents[i] = (real_abs(r->m[i][0]) * half_sides.x + real_abs(r->m[i][1]) * half_sides.y) +
                          real_abs(r->m[i][2]) * half_sides.z;
    }
    return vec3_make(half_extents[0], half_extents[1], half_extents[2]);
}

static vy_vec3 cylinder_half_extents(const mat3 *r, const vy_cylinder *cylinder)
{
    double half_extents[3];
    for (int i = 0; i < 3; ++i) {
        // A disc reaches radius times the sine of the angle between its axis and the world's.
        const double sine = real_sqrt(r->m[i][0] * r->m[i][0] + r->m[i][1] * r->m[i][1]);
        half_extents[i] = cylinder->half_height * real_abs(r->m[i][2]) + cylinder->radius * sine;
    }
    return vec3_make(half_extents[0], half_extents[1], half_extents[2]);
}

static vy_bounds hull_bounds(const vy_hull *hull, const mat3 *r, vy_vec3 position)
{
    VY_ASSERT(hull->vertex_count >= 4);
    const vy_vec3 start = mat3_mul_vec(*r, hull->vertices[0]);
    vy_bounds box = {start, start};
    for (int i = 1; i < hull->vertex_count; ++i) {
        const vy_vec3 p = mat3_mul_vec(*r, hull->vertices[i]);
        box.low = vec3_make(real_min(box.low.x, p.x), real_min(box.low.y, p.y), real_min(box.low.z, p.z));
        box.high = vec3_make(real_max(box.high.x, p.x), real_max(box.high.y, p.y), real_max(box.high.z, p.z));
    }
    box.low = vec3_add(box.low, position);
    box.high = vec3_add(box.high, position);
    return box;
}

static vy_bounds plane_bounds(const vy_plane *plane, const mat3 *r, vy_vec3 position)
{
    const double infinity = (double)INFINITY;
    vy_bounds box = {vec3_make(-infinity, -infinity, -infinity), vec3_make(infinity, infinity, infinity)};
    const vy_vec3 n = mat3_mul_vec(*r, plane->normal);
    const double offset = plane->offset + vec3_dot(n, position);
    if (n.x == 1.0 && n.y == 0.0 && n.z == 0.0) box.high.x = offset;
    if (n.x == -1.0 && n.y == 0.0 && n.z == 0.0) box.low.x = -offset;
    if (n.y == 1.0 && n.x == 0.0 && n.z == 0.0) box.high.y = offset;
    if (n.y == -1.0 && n.x == 0.0 && n.z == 0.0) box.low.y = -offset;
    if (n.z == 1.0 && n.x == 0.0 && n.y == 0.0) box.high.z = offset;
    if (n.z == -1.0 && n.x == 0.0 && n.y == 0.0) box.low.z = -offset;
    return box;
}

static vy_bounds field_bounds(const vy_height_field *field, const mat3 *r, vy_vec3 position)
{
    const double x = 0.5 * (field->spacing * (field->nx - 1)), y = 0.5 * (field->spacing * (field->ny - 1));
    const vy_vec3 middle = vec3_make(x, y, 0.5 * (field->low + field->high));
    const vy_vec3 half = vec3_make(x, y, 0.5 * (field->high - field->low));
    return make_bounds(vec3_add(mat3_mul_vec(*r, middle), position), rotated_half_extents(r, half));
}

vy_bounds vy_shape_bounds(const vy_shape *shape, const vy_pose *pose)
{
    FPU_SCOPE;
    const mat3 r = quat_matrix(pose->rotation);
    const vy_vec3 p = pose->position;
    switch (shape->kind) {
    case VY_SHAPE_SPHERE: {
        const double radius = shape->sphere.radius;
        return make_bounds(p, vec3_make(radius, radius, radius));
    }
    case VY_SHAPE_CAPSULE: {
        const double half = shape->capsule.half_length, radius = shape->capsule.radius;
        return make_bounds(p,
                           vec3_make(half * real_abs(r.m[0][2]) + radius, half * real_abs(r.m[1][2]) + radius,
                                     half * real_abs(r.m[2][2]) + radius));
    }
    case VY_SHAPE_BOX: return make_bounds(p, rotated_half_extents(&r, shape->box.half));
    case VY_SHAPE_CYLINDER: return make_bounds(p, cylinder_half_extents(&r, &shape->cylinder));
    case VY_SHAPE_HULL: return hull_bounds(shape->hull, &r, p);
    case VY_SHAPE_PLANE: return plane_bounds(&shape->plane, &r, p);
    case VY_SHAPE_HEIGHT_FIELD: return field_bounds(&shape->field, &r, p);
    case VY_SHAPE_NONE: break;
    }
    return make_bounds(p, vec3_zero());
}

// ---- height fields ----

void vy_height_field_triangle(const vy_height_field *field, int i, int j, int half, vy_vec3 out[3])
{
    VY_ASSERT(i >= 0 && i < field->nx - 1 && j >= 0 && j < field->ny - 1);
    VY_ASSERT(half == 0 || half == 1);
    const double x0 = i * field->spacing, x1 = (i + 1) * field->spacing;
    const double y0 = j * field->spacing, y1 = (j + 1) * field->spacing;
    const double *row = field->heights + (size_t)j * (size_t)field->nx + i, *next_row = row + field->nx;
    out[0] = vec3_make(x0, y0, row[0]);
    out[1] = half == 0 ? vec3_make(x1, y0, row[1]) : vec3_make(x1, y1, next_row[1]);
    out[2] = half == 0 ? vec3_make(x1, y1, next_row[1]) : vec3_make(x0, y1, next_row[0]);
}

int vy_height_field_height(const vy_height_field *field, double x, double y, double *height)
{
    VY_ASSERT(field->nx >= 2 && field->ny >= 2 && field->spacing > 0.0);
    const double gx = x / field->spacing, gy = y / field->spacing;
    if (!(gx >= 0.0 && gx <= field->nx - 1 && gy >= 0.0 && gy <= field->ny - 1)) return 0;
    int i = (int)gx, j = (int)gy;
    i = i > field->nx - 2 ? field->nx - 2 : i;
    j = j > field->ny - 2 ? field->ny - 2 : j;
    VY_ASSERT(i >= 0 && j >= 0);
    const double u = gx - i, v = gy - j;
    const double *row = field->heights + (size_t)j * (size_t)field->nx + i, *next_row = row + field->nx;
    // Both triangles share the cut from (0, 0) to (1, 1); on it the two formulas agree.
    *height = u >= v ? row[0] + (u * (row[1] - row[0]) + v * (next_row[1] - row[1]))
                     : row[0] + (v * (next_row[0] - row[0]) + u * (next_row[1] - next_row[0]));
    return 1;
}
