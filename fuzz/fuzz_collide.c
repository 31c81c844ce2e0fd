// fuzz_collide.c - any bytes as two shapes and their poses. Three oracles: the sanitizers; the promises of
// collision.h (finite answers, unit normals, points that say what normal and depth say); and the depth along
// the normal, which two reaches computed here must confirm.
#include "../tests/shape_reach.h"
#include "volery/collision.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LENGTH_MIN 1e-6 // [m] what collision.h promises to be exact for

typedef struct input {
    const uint8_t *data;
    size_t size;
} input;

static uint8_t consume_byte(input *in)
{
    if (in->size == 0) return 0;
    --in->size;
    return *in->data++;
}

// A raw double, or a plain one where that would be out of range: most inputs must get past the checks.
static double consume_number(input *in, double low, double high)
{
    double x = 0.0;
    uint8_t raw[8] = {0};
    const uint8_t selector = consume_byte(in);
    if (selector < 128) return low + (high - low) * (double)selector / 128.0;
    for (int i = 0; i < 8; ++i) raw[i] = consume_byte(in);
    memcpy(&x, raw, sizeof x);
    return x >= low && x <= high ? x : low + (high - low) * (double)(selector - 128) / 128.0;
}

static vy_vec3 consume_vec(input *in, double limit)
{
    const double x = consume_number(in, -limit, limit), y = consume_number(in, -limit, limit),
                 z = consume_number(in, -limit, limit);
    return vec3_make(x, y, z);
}

static int consume_shape(input *in, vy_hull **hull, double heights[16], vy_shape *out)
{
    const double x = consume_number(in, LENGTH_MIN, 4.0), y = consume_number(in, LENGTH_MIN, 4.0);
    vy_vec3 points[40];
    int count;
    *hull = NULL;
    switch (consume_byte(in) % 7) {
    case 0: return vy_shape_sphere(x, out, NULL) == VY_OK;
    case 1: return vy_shape_capsule(x, y, out, NULL) == VY_OK;
    case 2: return vy_shape_box(vec3_make(x, y, consume_number(in, LENGTH_MIN, 4.0)), out, NULL) == VY_OK;
    case 3: return vy_shape_cylinder(x, y, out, NULL) == VY_OK;
    case 4: return vy_shape_plane(consume_vec(in, 1.0), x, out, NULL) == VY_OK;
    case 5:
        for (int i = 0; i < 16; ++i) heights[i] = consume_number(in, -1.0, 1.0);
        return vy_shape_height_field(4, 4, x, heights, out, NULL) == VY_OK;
    default:
        count = 4 + consume_byte(in) % 37;
        for (int i = 0; i < count; ++i) points[i] = consume_vec(in, 2.0);
        if (vy_hull_create(points, count, VY_HULL_TOLERANCE, hull, NULL) != VY_OK) return 0;
        return vy_shape_hull(*hull, out, NULL) == VY_OK;
    }
}

static int consume_pose(input *in, vy_pose *out)
{
    const double w = consume_number(in, -1.0, 1.0);
    const vy_vec3 v = consume_vec(in, 1.0);
    const double length = sqrt(w * w + vec3_dot(v, v));
    out->position = consume_vec(in, 4.0);
    if (!(length > 1e-3)) return 0;
    out->rotation = quat_normalize(quat_make(w, v.x, v.y, v.z));
    return 1;
}

#define require(condition) ((condition) ? (void)0 : abort())

static void check(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b)
{
    vy_manifold manifold;
    const vy_status status = vy_collide(a, pose_a, b, pose_b, &manifold);
    if (status != VY_OK) { // only where it was said beforehand
        require(status == VY_BAD_VALUE && !vy_shape_is_convex(a) && !vy_shape_is_convex(b));
        return;
    }
    require(manifold.count >= 0 && manifold.count <= VY_MANIFOLD_POINTS);
    if (manifold.count > 0) require(fabs(vec3_length(manifold.normal) - 1.0) < 1e-9);
    for (int i = 0; i < manifold.count; ++i) {
        const vy_vec3 gap = vec3_sub(manifold.points[i].point_a, manifold.points[i].point_b);
        require(manifold.points[i].depth >= 0.0 && manifold.points[i].depth <= manifold.points[0].depth);
        require(vec3_length(vec3_sub(gap, vec3_scale(manifold.points[i].depth, manifold.normal))) < 1e-9);
    }
    if (!vy_shape_is_convex(a) || !vy_shape_is_convex(b)) return;
    vy_distance distance;
    const int are_apart = vy_shape_distance(a, pose_a, b, pose_b, NULL, NULL, &distance, NULL) == VY_OK &&
                          distance.distance > 1e-6;
    if (are_apart) require(manifold.count == 0 && !vy_overlap(a, pose_a, b, pose_b));
    if (manifold.count == 0) return;
    const double depth =
        reach_along(a, pose_a, manifold.normal) + reach_along(b, pose_b, vec3_neg(manifold.normal));
    require(fabs(depth - manifold.points[0].depth) < 1e-6);
    if (manifold.points[0].depth > 1e-6) require(vy_overlap(a, pose_a, b, pose_b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input input_bytes = {data, size};
    vy_hull *hulls[2] = {NULL, NULL};
    double heights[2][16];
    vy_shape a = {0}, b = {0};
    vy_pose pose_a, pose_b;
    vy_ray_hit ray_hit;
    vy_cast_hit cast_hit;
    int is_hit;
    if (consume_shape(&input_bytes, &hulls[0], heights[0], &a) &&
        consume_shape(&input_bytes, &hulls[1], heights[1], &b) && consume_pose(&input_bytes, &pose_a) &&
        consume_pose(&input_bytes, &pose_b)) {
        check(&a, &pose_a, &b, &pose_b);
        check(&b, &pose_b, &a, &pose_a);
        if (vy_ray_cast(&a, &pose_a, pose_b.position, consume_vec(&input_bytes, 4.0), 10.0, &ray_hit))
            require(ray_hit.t >= 0.0 && ray_hit.t <= 10.0);
        if (vy_shape_cast(&a, &pose_a, &b, &pose_b, consume_vec(&input_bytes, 8.0), NULL, &is_hit,
                          &cast_hit) == VY_OK &&
            is_hit) {
            require(cast_hit.t >= 0.0 && cast_hit.t <= 1.0);
        }
    }
    vy_hull_destroy(hulls[0]);
    vy_hull_destroy(hulls[1]);
    return 0;
}
