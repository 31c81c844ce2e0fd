// hull_points.c - checks of the input points: each reason for there being no hull has its own status.
#include "base/assert.h"
#include "base/fail.h"
#include "base/vec.h"
#include "geometry/hull_internal.h"

vy_bounds vy_bounds_of_points(const vy_vec3 *points, int count)
{
    VY_ASSERT(count > 0);
    vy_bounds box = {points[0], points[0]};
    for (int i = 1; i < count; ++i) {
        const vy_vec3 p = points[i];
        box.low = vec3_make(real_min(box.low.x, p.x), real_min(box.low.y, p.y), real_min(box.low.z, p.z));
        box.high = vec3_make(real_max(box.high.x, p.x), real_max(box.high.y, p.y), real_max(box.high.z, p.z));
    }
    return box;
}

double vy_scale_of_points(const vy_vec3 *points, int count)
{
    const vy_bounds box = vy_bounds_of_points(points, count);
    const vy_vec3 extent = vec3_sub(box.high, box.low);
    const double longest = real_max(extent.x, real_max(extent.y, extent.z));
    // The exponent's bits of `longest`, negated about the bias, are those of a power of two; sizes are normal
    // numbers, 1e-300 m at the least, or the points would not have passed as four different ones.
    const uint64_t exponent = bits_of(longest) >> 52;
    VY_ASSERT(exponent > 0 && exponent < 2046);
    return real_of((2046u - exponent) << 52);
}

static int points_equal(vy_vec3 a, vy_vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

static vy_status check_coordinates(const vy_vec3 *points, int count, vy_error *err)
{
    for (int i = 0; i < count; ++i) {
        const double c[3] = {points[i].x, points[i].y, points[i].z};
        for (int k = 0; k < 3; ++k) {
            if (!real_is_finite(c[k])) {
                return vy_fail(err, VY_HULL_NOT_FINITE, "hull: point %d has %c = %g", i, "xyz"[k], c[k]);
            }
            if (real_abs(c[k]) > VY_HULL_LIMIT) {
                return vy_fail(err, VY_HULL_HUGE, "hull: point %d has %c = %g m, the limit is 1e9 m", i,
                               "xyz"[k], c[k]);
            }
        }
    }
    return VY_OK;
}

/// Whether at least four of the points differ.
static int has_four_distinct(const vy_vec3 *points, int count)
{
    vy_vec3 distinct[4];
    int distinct_count = 0;
    for (int i = 0; i < count && distinct_count < 4; ++i) {
        int is_known = 0;
        for (int k = 0; k < distinct_count; ++k) is_known |= points_equal(points[i], distinct[k]);
        if (!is_known) distinct[distinct_count++] = points[i];
    }
    return distinct_count == 4;
}

/// The distance [m] that counts as zero: relative to the size, and no less than coordinates can resolve.
static double length_tolerance(const vy_vec3 *points, int count, double tolerance)
{
    VY_ASSERT(tolerance >= 0.0);
    const vy_bounds box = vy_bounds_of_points(points, count);
    const vy_vec3 extent = vec3_sub(box.high, box.low);
    const double longest = real_max(extent.x, real_max(extent.y, extent.z));
    double max_coordinate = 0.0;
    for (int i = 0; i < count; ++i) {
        max_coordinate = real_max(max_coordinate, real_abs(points[i].x));
        max_coordinate = real_max(max_coordinate, real_abs(points[i].y));
        max_coordinate = real_max(max_coordinate, real_abs(points[i].z));
    }
    // Areas are squared on the way to a normal: below 1e-60 m they would underflow.
    return (tolerance * longest + 4.0 * DBL_EPSILON * max_coordinate) + 1e-60;
}

// A first point, the farthest from it, the farthest from their line, the farthest from their plane: the first
// of these distances that vanishes tells the dimension.
static vy_status check_dimension(const vy_vec3 *points, int count, double epsilon, double *thickness,
                                 vy_error *err)
{
    VY_ASSERT(epsilon > 0.0 && count >= 4);
    const vy_vec3 first_point = points[0];
    double max_distance = 0.0;
    vy_vec3 along = vec3_zero();
    for (int i = 1; i < count; ++i) {
        const vy_vec3 d = vec3_sub(points[i], first_point);
        const double distance = vec3_length(d);
        if (distance > max_distance) {
            max_distance = distance;
            along = d;
        }
    }
    if (!(max_distance > epsilon)) {
        return vy_fail(err, VY_HULL_DUPLICATE, "hull: all %d points are within %.3g m of each other", count,
                       epsilon);
    }

    along = vec3_scale(1.0 / max_distance, along);
    max_distance = 0.0;
    vy_vec3 normal = vec3_zero();
    for (int i = 1; i < count; ++i) {
        const vy_vec3 d = vec3_cross(along, vec3_sub(points[i], first_point));
        const double distance = vec3_length(d);
        if (distance > max_distance) {
            max_distance = distance;
            normal = d;
        }
    }
    if (!(max_distance > epsilon)) {
        return vy_fail(err, VY_HULL_COLLINEAR, "hull: all %d points are within %.3g m of one line", count,
                       epsilon);
    }

    normal = vec3_scale(1.0 / max_distance, normal);
    max_distance = 0.0;
    for (int i = 1; i < count; ++i)
        max_distance = real_max(max_distance, real_abs(vec3_dot(normal, vec3_sub(points[i], first_point))));
    if (!(max_distance > epsilon)) {
        return vy_fail(err, VY_HULL_COPLANAR, "hull: all %d points are within %.3g m of one plane", count,
                       epsilon);
    }
    *thickness = max_distance;
    return VY_OK;
}

vy_status vy_hull_check_points(const vy_vec3 *points, int count, double tolerance, double *epsilon,
                               double *thickness, vy_error *err)
{
    if (!(tolerance >= 0.0 && tolerance <= 1e-3)) {
        return vy_fail(err, VY_BAD_VALUE, "hull: tolerance must be 0 ... 1e-3, got %g", tolerance);
    }
    if (points == NULL || count <= 0) return vy_fail(err, VY_HULL_EMPTY, "hull: no points");
    if (count < 4) return vy_fail(err, VY_HULL_TOO_FEW, "hull: %d points, at least four are needed", count);
    vy_status status = check_coordinates(points, count, err);
    if (status != VY_OK) return status;
    if (!has_four_distinct(points, count)) {
        return vy_fail(err, VY_HULL_DUPLICATE, "hull: fewer than four of the %d points differ", count);
    }
    *epsilon = length_tolerance(points, count, tolerance);
    // Thinner than this, opposite sides would be taken for neighbours in one plane.
    return check_dimension(points, count, 4.0 * *epsilon, thickness, err);
}
