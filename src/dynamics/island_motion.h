// island_motion.h - bodies of an island as one: what its momentum and angular momentum make of its motion,
// and what is left that may be taken from it.
#pragma once
#include "dynamics/bodies.h"

/// The motion that some bodies have together, as if they were one rigid body.
typedef struct rigid_motion {
    double mass;           // [kg]
    vec3 center, velocity; // [m], [m/s] of the centre of mass
    vec3 angular_momentum; // [N m s] about it
    mat3 inertia;          // [kg m^2] about it, world axes
} rigid_motion;

/// That of bodies in these states: `states` is by the order of `bodies`, NULL: as they are.
rigid_motion vy_rigid_motion(const vy_bodies *b, const uint32_t *bodies, uint32_t count,
                             const body_state *states);

double vy_kinetic_energy(const vy_bodies *b, const uint32_t *bodies, uint32_t count);

/// Give bodies that nothing holds this angular momentum about their centre of mass, and scale what they move
/// against each other so that their kinetic energy is at most `energy`, as far as that goes. Their momentum
/// stays.
void vy_limit_relative_motion(vy_bodies *b, const uint32_t *bodies, uint32_t count, vec3 angular_momentum,
                              double energy);

/// Scale all velocities of bodies, which something holds, so that their kinetic energy is at most `energy`.
void vy_limit_kinetic_energy(vy_bodies *b, const uint32_t *bodies, uint32_t count, double energy);
