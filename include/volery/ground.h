// ground.h - where a drone or body is over the ground, and how it moves there: on a planet or over flat
// ground.
#pragma once
#include "volery/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Angles are of forward-right-down axes in north-east-down at the place, but for tilt and yaw.
typedef struct vy_ground_state {
    double latitude, longitude; ///< [rad] geodetic, longitude -pi to pi; 0 in a flat world
    double altitude;            ///< [m] above the ellipsoid; in a flat world z
    double height;              ///< [m] over the terrain below, else over the ground without terrain
    vy_vec3 velocity;           ///< [m/s] east, north, up, over the ground
    double ground_speed;        ///< [m/s] its horizontal length
    double climb;               ///< [m/s] upwards
    double track;               ///< [rad] direction of the horizontal motion, clockwise from north, 0 to 2 pi
    double air_speed;           ///< [m/s] through the air, gusts included, wakes not
    double heading, pitch, roll; ///< [rad] of the nose clockwise from north, nose up, right side down
    double tilt;                 ///< [rad] between body +z and up
    double yaw;                  ///< [rad] of the nose counter-clockwise from east, -pi to pi
} vy_ground_state;

/// Of drone or body `number`, drones first, by order of creation.
/// @return VY_NOT_FOUND beyond the last; `*out` is untouched then
vy_status vy_world_read_ground(const vy_world *world, uint32_t number, vy_ground_state *out);

#ifdef __cplusplus
}
#endif
