// support.h - support functions: extreme points of the Minkowski difference A - B of two shapes.
//
// Everything is in A's frame. A sphere or capsule is a point or segment (its core) with a margin about it;
// boxes, hulls and triangles are their vertices. All of these are finite sets of points, so queries on them
// end after finitely many steps. A cylinder is the one smooth core.
#pragma once
#include "base/vec.h"
#include "volery/shape.h"

/// [m^4] A triangle of extreme points whose doubled area, squared, is no larger is degenerate: a line. Shapes
/// are 1e-6 m or larger and coordinates are rounded to 1e-16 of that, so a triangle that is one has at least
/// some 1e-76; and far below (1e-308) the square would have too few digits to make a normal of length 1 from.
#define VY_MIN_AREA2 1e-100

/// A convex core. The points are the shape's where it has them (a hull), else own_points, so that no points
/// are copied.
typedef struct vy_core {
    const double *x, *y, *z;    ///< [padded_count, m] in the shape's frame; the tail repeats the last point
    int padded_count;           ///< multiple of 8
    int smooth;                 ///< 1: a cylinder, given by radius and half_height; it has no points
    double radius, half_height; ///< [m] of a cylinder
    double margin;              ///< [m] points within this distance of the core belong to the shape
    double inner_radius,
        outer_radius; ///< [m] radii about `center` of the ball inside the core and of the ball around it
    vec3 center;      ///< [m] a point of the core, strictly inside when inner > 0
    double own_points[3][8]; ///< the points of a box, capsule or sphere
} vy_core;

/// Two cores and the pose of B in A's frame: p_A = rotation p_B + offset. Points into itself: not to be
/// copied.
typedef struct vy_core_pair {
    vy_core a, b;
    mat3 rotation;
    vec3 offset;
    double margin; ///< [m] the sum of both
    double scale;  ///< [m] the length that tolerances are relative to
} vy_core_pair;

/// A vertex of A - B. The ids are those of the two points it is the difference of: equal ids, equal points.
typedef struct vy_minkowski_vertex {
    vec3 w;          ///< [m] a - b
    uint32_t ia, ib; ///< index of the point, or the packed direction of a point on a cylinder
} vy_minkowski_vertex;

struct vy_mpr_result;
struct vy_epa_result;

/// What differs between instruction sets. Every table gives the same bits.
typedef struct vy_support_table {
    const char *name;
    /// The support point of A - B along (x, y, z), which need not be unit. Scalars, because they stay in
    /// registers.
    void (*minkowski_support)(const vy_core_pair *pair, double x, double y, double z,
                              vy_minkowski_vertex *out);
    /// The smallest index with the largest (x[i] d.x + y[i] d.y) + z[i] d.z.
    int (*extreme)(const double *x, const double *y, const double *z, int padded_count, vec3 d);
    /// The smallest index with the smallest value; count is a multiple of 8.
    int (*argmin)(const double *values, int count);
    /// Whether the cores overlap. `for_epa` 1: also four points around the origin, from which EPA can start.
    void (*mpr_find)(const vy_core_pair *pair, int for_epa, struct vy_mpr_result *out);
    /// Depth and normal of cores that overlap, from four points around the origin.
    void (*epa_expand)(const vy_core_pair *pair, const vy_minkowski_vertex v[4], double tolerance,
                       int max_iterations, struct vy_epa_result *out);
} vy_support_table;

extern const vy_support_table vy_support_scalar;
// NULL where the compiler had no such instructions.
extern const vy_support_table *const vy_support_sse2;
extern const vy_support_table *const vy_support_avx2;
extern const vy_support_table *const vy_support_avx512;

/// The table in use: the best that this processor has, or the one vy_support_choose() named.
const vy_support_table *vy_support(void);

/// For tests and measurements: use the table of this name ("scalar", "sse2", "avx2", "avx512") from now on,
/// or the best again (NULL). Not to be called while queries run. Returns 0 when the processor does not have
/// it.
int vy_support_choose(const char *name);

/// The core of a bounded convex shape.
void vy_core_of(const vy_shape *shape, vy_core *out);

/// The core of a polyhedron of at most eight points, given by their count.
void vy_core_of_points(const vec3 *points, int count, vy_core *out);

/// Set the pose of B in A's frame. Both cores are already set.
void vy_pair_set_poses(const vy_pose *pose_a, const vy_pose *pose_b, vy_core_pair *pair);

/// The point of a core with this id.
vec3 vy_core_point(const vy_core *core, uint32_t id);

/// The extreme point of a cylinder as an id: the direction across the axis as a point of a square's rim (2
/// bits for the side, 29 along it) and the end (1 bit). It is 2e-18 radii from the true extreme at most.
uint32_t vy_cylinder_extreme(vec3 d);
