// integrator.h - how a step advances time: of a world (volery/environment.h) and of a set of bodies
// (volery/bodies.h).
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// All may be changed between steps.
typedef enum vy_integrator {
    VY_INTEGRATOR_EULER,         ///< forward Euler; order 1
    VY_INTEGRATOR_SEMI_IMPLICIT, ///< velocity first, position with the new velocity; order 1
    VY_INTEGRATOR_RK4,           ///< Runge and Kutta; order 4; the default
    /// Velocity Verlet with the midpoint rule on the rotation group: order 2; a free spin keeps energy and
    /// angular momentum to rounding for ever
    VY_INTEGRATOR_LIE_MIDPOINT,
} vy_integrator;

/// Name and order of convergence. NULL and 0 for a value that is no integrator.
const char *vy_integrator_name(vy_integrator integrator);
int vy_integrator_order(vy_integrator integrator);

#ifdef __cplusplus
}
#endif
