// types.h - vectors, quaternions and matrices as plain values.
//
// Frames, used everywhere: world is right-handed with +Z up (on a planet +X east, +Y north); body is
// forward-left-up (+X forward, +Y left, +Z up). Units are SI.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// A handle of nothing, in C and in C++, which has no compound literals.
#ifdef __cplusplus
#define VY_NULL_OF(type) (type{0})
#else
#define VY_NULL_OF(type) ((type){0})
#endif

#define VY_PATH_CAP    256 ///< of the name of a file, its end included
#define VY_COLUMNS_CAP 512 ///< of a mapping of columns of a recorded flight, its end included

typedef struct vy_vec3 {
    double x, y, z;
} vy_vec3;

/// A rotation. q_WB transforms body coordinates into world coordinates. Hamilton product, unit norm.
typedef struct vy_quat {
    double w, x, y, z;
} vy_quat;

/// Row-major 3x3 matrix: m[row][column].
typedef struct vy_mat3 {
    double m[3][3];
} vy_mat3;

/// A table of numbers, row after row.
typedef struct vy_numbers {
    double *values; ///< [rows * columns] NULL when there are none
    int rows, columns;
} vy_numbers;

/// Pose and velocities of a rigid body.
typedef struct vy_body_state {
    vy_vec3 position; ///< [m] of the centre of mass, world
    vy_vec3 velocity; ///< [m/s] of the centre of mass, world
    vy_quat attitude; ///< q_WB
    vy_vec3 rate;     ///< [rad/s] body
} vy_body_state;

/// The axes in which a vector is given.
typedef enum vy_frame { VY_FRAME_WORLD, VY_FRAME_BODY } vy_frame;

#ifdef __cplusplus
}
#endif
