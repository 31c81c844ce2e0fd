// sweep.h - moving and rotating shapes: when they first reach a given separation.
//
// Separation is the distance of two shapes, or minus the depth of their overlap: the largest gap along any
// direction. It is never closed faster than the points of the shapes move along that direction, so time
// advances by the separation over that speed and cannot pass the moment of that separation (conservative
// advancement; B. Mirtich, thesis, Berkeley 1996; with directional bounds as in C2A, M. Tang, Y. J. Kim and
// D. Manocha, ICRA 2009).
#pragma once
#include "base/vec.h"
#include "volery/collision.h"

/// A motion over t = 0 ... 1: a point on a straight line, and a rotation about it at a constant rate.
typedef struct vy_sweep_path {
    vec3 center;          ///< [m] that point at t = 0
    vec3 local_center;    ///< [m] the same in the shape's frame
    vec3 displacement;    ///< [m]
    quat attitude;        ///< at t = 0
    vec3 rotation_vector; ///< [rad] about this axis, world; its length may be above pi
} vy_sweep_path;

/// Two shapes at one moment.
typedef struct vy_separation {
    double t;        ///< 0 ... 1
    double value;    ///< [m] below zero: they overlap
    vec3 normal;     ///< unit, from A to B
    vec3 witness[2]; ///< [m] a point of each, nearly the nearest
} vy_separation;

/// The pose of a shape at t.
vy_pose vy_sweep_pose(const vy_sweep_path *path, double t);

/// [m] The width of the thinnest slab about the largest ball at the shape's middle; infinite without bounds.
double vy_shape_thickness(const vy_shape *shape);
/// [m] The largest distance from the origin of the shape's frame of points that rotation moves; 0 for a ball.
double vy_shape_rotation_radius(const vy_shape *shape);

/// The separation at t. One of the two may be a plane or a height field, which is solid below its surface:
/// from that it is told up to a thickness of the other.
vy_separation vy_sweep_separation(const vy_shape *a, const vy_sweep_path *path_a, const vy_shape *b,
                                  const vy_sweep_path *path_b, double t);

/// The first t from `from` to `to` at which the separation is at most `target` [m]; found up to `tolerance`
/// [m] above it. Of a height field, when the shape without a layer as thick as -target touches its surface,
/// from whichever side. Returns 0 when there is none: then *out is the last one computed.
int vy_sweep_shapes(const vy_shape *a, const vy_sweep_path *path_a, const vy_shape *b,
                    const vy_sweep_path *path_b, double target, double tolerance, double from, double to,
                    vy_separation *out);
