// payload.h - payloads: bodies that a drone carries and releases, on schedule or by its controller.
//
// A drone and what it carries move as one rigid body, and what the world reports of the drone is their common
// centre of mass. Release and attachment conserve linear and angular momentum.
#pragma once
#include "volery/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A load and its carrier. While it is carried the load does not collide, and the air acts on the carrier
/// alone.
typedef struct vy_payload_def {
    uint32_t cookie;     ///< set by the default function
    vy_drone_id carrier; ///< a drone
    vy_body_id load;     ///< a body, or a drone without rotors
    vy_vec3 position;    ///< [m] of the load's centre of mass, in the carrier's frame
    vy_quat attitude;    ///< load to carrier, any length above zero
    double attach; ///< [s] 0: carried from the start, wherever the load was put; later: if it is within reach
    double drop;   ///< [s] after `attach`; infinity: never
    double reach;  ///< [m] from `position`, within which a load is attached; it keeps its relative pose then
    int release;   ///< 1: the carrier's controller may release it, too: vy_intent.drop
} vy_payload_def;

/// Upright at the carrier's origin, from the start and for ever; a reach of 0.1 m.
vy_payload_def vy_default_payload_def(void);

/// Before the first step, after all drones, bodies and joints; neither may be held by a joint, and a load
/// carries nothing.
vy_status vy_world_add_payload(vy_world *world, const vy_payload_def *def, vy_error *err);
uint32_t vy_world_payload_count(const vy_world *world);

typedef struct vy_payload_state {
    vy_drone_id carrier;
    vy_body_id load;
    int carried;     ///< now
    int missed;      ///< 1: it was out of reach when it was to be attached
    double mass;     ///< [kg] of the carrier with all it carries now
    vy_vec3 centre;  ///< [m] of their mass, in the carrier's frame
    vy_mat3 inertia; ///< [kg m^2] about it, the carrier's axes
} vy_payload_state;

/// @return VY_NOT_FOUND beyond the last
vy_status vy_world_read_payload(const vy_world *world, uint32_t index, vy_payload_state *out);

#ifdef __cplusplus
}
#endif
