// height_field_pair.h - a convex shape at a height field while its manifolds are found: the grid and its
// edges, and the points found so far by their normals.
//
// Everything is in the field's frame. The surface is not convex, so which normals a contact may have depends
// on where it is: in a triangle its normal, on an edge or at a vertex those of planes that have both, or all,
// triangles about it on or below them. Where the surface is flat or hollow no others than those of the
// triangles are left: a body does not catch on the inner edges of a plane.
#pragma once
#include "geometry/support.h"
#include "volery/collision.h"

#define FIELD_NORMAL_TOLERANCE 1e-6 // [rad] by so much a normal may miss those of its edge or vertex
#define FIELD_FLAT_ANGLE       1e-7 // [rad] edges bent by less are flat
#define FIELD_MIN_RIM_NORMAL_Z 0.05 // least z of a normal at the rim, where the ground ends without a wall
#define FIELD_PARALLEL_SINE \
    0.0447 // sine of the angle up to which an edge lies along a face: VY_FACE_ALIGNED_COSINE

enum { FIELD_PATCHES = 16, FIELD_PATCH_POINTS = 24 };

/// Points with one normal.
typedef struct field_patch {
    vec3 first_normal; // unit, of the first point: others with nearly this normal are added
    vec3 normal;       // unit, of the deepest
    double depth;      // [m] of the deepest
    int count;
    struct {
        vec3 p;       // [m] on the shape
        double depth; // [m] below zero: apart
        uint64_t id;  // of the contact point
    } points[FIELD_PATCH_POINTS];
} field_patch;

typedef struct field_pair {
    const vy_height_field *field;
    const vy_shape *shape;
    vy_core_pair cores;    // a: an edge of the field; b: the shape
    double margin;         // [m] points up to this far apart are wanted
    vy_bounds box;         // of the shape, widened by that
    vec3 cull_normal[2];   // unit: the ground that is below the shape along one of these ...
    double cull_offset[2]; // ... by more than the margin is not looked at
    int patch_count;
    field_patch patches[FIELD_PATCHES];
    int has_fallback; // a point whose normal is none of its edge's or vertex's: used where there are no
                      // others
    vec3 fallback_normal, fallback_point;
    double fallback_depth; // [m]
} field_pair;

/// An edge of the grid: p to q.
typedef struct field_edge {
    vec3 p, q;
    vec3 along;         // unit
    vec3 across[2];     // unit, perpendicular to it, into the triangles beside it
    int side_count;     // of these triangles; 1 at the rim
    double depth;       // [m] how deep a box or hull overlaps it, along any direction; below zero: apart
    int from[2], to[2]; // its vertices, by column i and row j
    uint32_t id;        // of the edge within the field
} field_edge;

/// Add a point, unless there are deeper ones with as many other normals as there is room for.
void vy_height_field_add_point(field_pair *pair, vec3 n, vec3 on_shape, double depth, uint64_t id);
/// Keep the deepest of the points whose normals are not allowed, for shapes that overlap the ground so far
/// that all of them are such.
void vy_height_field_keep_fallback(field_pair *pair, vec3 n, vec3 on_shape, double depth);
/// The contacts of the edges and vertices of the field, of the cells from column low[0] and row low[1] to
/// before column high[0] and row high[1].
void vy_height_field_collide_edges(field_pair *pair, const int low[2], const int high[2]);

VY_FN vec3 field_vertex(const vy_height_field *f, int i, int j)
{
    return vec3_make(i * f->spacing, j * f->spacing, f->heights[(size_t)j * (size_t)f->nx + (size_t)i]);
}

/// Bits of the planes that a point of the ground is below.
VY_FN unsigned field_cull_mask(const field_pair *pair, vec3 p)
{
    return (vec3_dot(pair->cull_normal[0], p) < pair->cull_offset[0] ? 1u : 0u) |
           (vec3_dot(pair->cull_normal[1], p) < pair->cull_offset[1] ? 2u : 0u);
}

VY_FN vec3 field_to_shape(const field_pair *pair, vec3 p)
{
    return mat3_tmul_vec(pair->cores.rotation, vec3_sub(p, pair->cores.offset));
}

VY_FN vec3 field_from_shape(const field_pair *pair, vec3 p)
{
    return vec3_add(mat3_mul_vec(pair->cores.rotation, p), pair->cores.offset);
}

/// The point of the shape that is farthest along -n, its rounding included.
VY_FN vec3 field_support(const field_pair *pair, vec3 n)
{
    const vy_core *core = &pair->cores.b;
    const vec3 d = vec3_neg(mat3_tmul_vec(pair->cores.rotation, n));
    const uint32_t id =
        core->smooth ? vy_cylinder_extreme(d)
                     : (uint32_t)vy_support()->extreme(core->x, core->y, core->z, core->padded_count, d);
    return field_from_shape(pair, vec3_add_scaled(vy_core_point(core, id), core->margin, d));
}
