// support.c - cores of shapes, the portable support functions, and the choice of instruction set.
#include "geometry/support.h"
#include "base/assert.h"
#include "base/cpu.h"
#include <stdatomic.h>
#include <stddef.h>

static inline int extreme(const double *x, const double *y, const double *z, int padded_count, vec3 d)
{
    int best = 0;
    double max_height = (x[0] * d.x + y[0] * d.y) + z[0] * d.z;
    for (int i = 1; i < padded_count; ++i) {
        const double height = (x[i] * d.x + y[i] * d.y) + z[i] * d.z;
        if (height > max_height) {
            max_height = height;
            best = i;
        }
    }
    return best;
}

static int argmin(const double *values, int count)
{
    int best = 0;
    for (int i = 1; i < count; ++i) {
        if (values[i] < values[best]) best = i;
    }
    return best;
}

#include "geometry/support_kernel.h"
#include "geometry/epa_kernel.h"
#include "geometry/mpr_kernel.h"

const vy_support_table vy_support_scalar = {"scalar", minkowski_support, extreme,
                                            argmin,   mpr_find,          epa_expand};

// The table in use; NULL until the first query detects the processor's features. Every thread would store the
// same pointer.
static _Atomic(const vy_support_table *) active_table;

static int is_available(const char *name)
{
    const vy_cpu_level level = vy_cpu_best();
    if (strcmp(name, "avx512") == 0) return vy_support_avx512 != NULL && level >= VY_CPU_AVX512;
    if (strcmp(name, "avx2") == 0) return vy_support_avx2 != NULL && level >= VY_CPU_AVX2;
    if (strcmp(name, "sse2") == 0) return vy_support_sse2 != NULL;
    return strcmp(name, "scalar") == 0;
}

static const vy_support_table *best_table(void)
{
    if (is_available("avx512")) return vy_support_avx512;
    if (is_available("avx2")) return vy_support_avx2;
    if (is_available("sse2")) return vy_support_sse2;
    return &vy_support_scalar;
}

const vy_support_table *vy_support(void)
{
    const vy_support_table *table = atomic_load_explicit(&active_table, memory_order_relaxed);
    if (table == NULL) {
        table = best_table();
        atomic_store_explicit(&active_table, table, memory_order_relaxed);
    }
    return table;
}

int vy_support_choose(const char *name)
{
    const vy_support_table *const tables[] = {vy_support_avx512, vy_support_avx2, vy_support_sse2,
                                              &vy_support_scalar};
    if (name == NULL) {
        atomic_store_explicit(&active_table, best_table(), memory_order_relaxed);
        return 1;
    }
    if (!is_available(name)) return 0;
    for (int i = 0; i < 4; ++i) {
        if (tables[i] != NULL && strcmp(tables[i]->name, name) == 0) {
            atomic_store_explicit(&active_table, tables[i], memory_order_relaxed);
            return 1;
        }
    }
    return 0;
}

#define DIRECTION_STEPS 268435455.0 // 2^28 - 1 to the middle of a side of the square, as many beyond it

uint32_t vy_cylinder_extreme(vec3 d)
{
    const double ax = real_abs(d.x), ay = real_abs(d.y);
    uint32_t side = 0;
    double u = 0.0;
    if (ax >= ay) {
        side = d.x < 0.0 ? 2u : 0u;
        if (ax > 0.0) u = d.y / ax;
    } else {
        side = d.y < 0.0 ? 3u : 1u;
        u = d.x / ay;
    }
    VY_ASSERT(u >= -1.0 && u <= 1.0);
    const uint32_t step = (uint32_t)((u + 1.0) * DIRECTION_STEPS + 0.5);
    return step << 3 | side << 1 | (d.z < 0.0 ? 1u : 0u);
}

vec3 vy_core_point(const vy_core *core, uint32_t id)
{
    VY_ASSERT(core->smooth || id < (uint32_t)core->padded_count);
    if (!core->smooth) return vec3_make(core->x[id], core->y[id], core->z[id]);
    const double u = (double)(id >> 3) / DIRECTION_STEPS - 1.0;
    const double s = core->radius / real_sqrt(1.0 + u * u);
    const double z = (id & 1u) != 0 ? -core->half_height : core->half_height;
    switch (id >> 1 & 3u) {
    case 0: return vec3_make(s, s * u, z);
    case 1: return vec3_make(s * u, s, z);
    case 2: return vec3_make(-s, s * u, z);
    default: return vec3_make(s * u, -s, z);
    }
}

static void use_own_points(vy_core *core)
{
    core->x = core->own_points[0];
    core->y = core->own_points[1];
    core->z = core->own_points[2];
    core->padded_count = 8;
    core->smooth = 0;
}

void vy_core_of_points(const vec3 *points, int count, vy_core *out)
{
    VY_ASSERT(count >= 1 && count <= 8);
    use_own_points(out);
    vec3 sum = vec3_zero();
    for (int i = 0; i < 8; ++i) {
        const vec3 p = points[i < count ? i : count - 1];
        out->own_points[0][i] = p.x;
        out->own_points[1][i] = p.y;
        out->own_points[2][i] = p.z;
        if (i < count) sum = vec3_add(sum, p);
    }
    out->center = vec3_scale(1.0 / (double)count, sum);
    out->inner_radius = 0.0;
    out->margin = 0.0;
    double max_distance2 = 0.0;
    for (int i = 0; i < count; ++i) {
        const vec3 from_center = vec3_sub(points[i], out->center);
        max_distance2 = real_max(max_distance2, vec3_dot(from_center, from_center));
    }
    out->outer_radius = real_sqrt(max_distance2);
}

static void core_of_box(vec3 half, vy_core *out)
{
    use_own_points(out);
    for (int i = 0; i < 8; ++i) {
        out->own_points[0][i] = (i & 1) != 0 ? half.x : -half.x;
        out->own_points[1][i] = (i & 2) != 0 ? half.y : -half.y;
        out->own_points[2][i] = (i & 4) != 0 ? half.z : -half.z;
    }
    out->center = vec3_zero();
    out->margin = 0.0;
    out->inner_radius = real_min(half.x, real_min(half.y, half.z));
    out->outer_radius = vec3_length(half);
}

static void core_of_hull(const vy_hull *hull, vy_core *out)
{
    VY_ASSERT(hull->padded_count >= 8 && hull->padded_count % 8 == 0);
    out->x = hull->x;
    out->y = hull->y;
    out->z = hull->z;
    out->padded_count = hull->padded_count;
    out->smooth = 0;
    out->center = hull->centroid;
    out->inner_radius = hull->inner_radius;
    out->outer_radius = hull->radius;
    out->margin = 0.0;
}

void vy_core_of(const vy_shape *shape, vy_core *out)
{
    VY_ASSERT(vy_shape_is_convex(shape));
    if (shape->kind == VY_SHAPE_HULL) {
        core_of_hull(shape->hull, out);
    } else if (shape->kind == VY_SHAPE_BOX) {
        core_of_box(shape->box.half, out);
    } else if (shape->kind == VY_SHAPE_CYLINDER) {
        const double radius = shape->cylinder.radius, half_height = shape->cylinder.half_height;
        out->smooth = 1;
        out->padded_count = 0;
        out->x = out->y = out->z = NULL;
        out->radius = radius;
        out->half_height = half_height;
        out->margin = 0.0;
        out->center = vec3_zero();
        out->inner_radius = real_min(radius, half_height);
        out->outer_radius = real_sqrt(radius * radius + half_height * half_height);
    } else if (shape->kind == VY_SHAPE_CAPSULE) {
        const vec3 end = vec3_make(0.0, 0.0, shape->capsule.half_length), ends[2] = {end, vec3_neg(end)};
        vy_core_of_points(ends, 2, out);
        out->margin = shape->capsule.radius;
    } else {
        const vec3 origin = vec3_zero();
        vy_core_of_points(&origin, 1, out);
        out->margin = shape->sphere.radius;
    }
}

void vy_pair_set_poses(const vy_pose *pose_a, const vy_pose *pose_b, vy_core_pair *pair)
{
    VY_ASSERT(quat_is_unit(pose_a->rotation) && quat_is_unit(pose_b->rotation));
    pair->rotation = quat_matrix(quat_mul(quat_conj(pose_a->rotation), pose_b->rotation));
    pair->offset = quat_unrotate(pose_a->rotation, vec3_sub(pose_b->position, pose_a->position));
    pair->margin = pair->a.margin + pair->b.margin;
    VY_ASSERT(pair->margin >= 0.0);
    pair->scale = (pair->a.outer_radius + pair->b.outer_radius) + pair->margin;
}
