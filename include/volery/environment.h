// environment.h - the environment of a world: gravity, air, wind, planet, fields, negligibility policy.
//
// World frame right-handed with +Z up, +X east, +Y north; on a planet at the origin that is declared, or
// without one inertial, about its centre, +Z its axis. Units are SI. Gravity, atmosphere and wind are always
// declared, even where the policy treats them as zero.
#pragma once
#include "volery/integrator.h"
#include "volery/status.h"
#include "volery/types.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VY_GRAVITY_BODY_CAP 8
#define VY_GUST_CAP         8
#define VY_GRID_NAME_CAP    96

typedef enum vy_gravity_mode {
    VY_GRAVITY_UNIFORM, ///< the vector `uniform`
    VY_GRAVITY_CENTRAL, ///< the one body
    VY_GRAVITY_BODIES,  ///< the sum of all bodies
} vy_gravity_mode;

typedef struct vy_gravity_body {
    double gm;      ///< [m^3/s^2] > 0
    vy_vec3 origin; ///< [m] world
    double j2;      ///< [1] oblateness about world +z; 0: none
    double radius;  ///< [m] that j2 refers to, > 0 with a j2
} vy_gravity_body;

typedef struct vy_gravity_def {
    vy_gravity_mode mode;
    vy_vec3 uniform; ///< [m/s^2]
    int body_count;  ///< of `bodies`: 1 when central, 1 to VY_GRAVITY_BODY_CAP for VY_GRAVITY_BODIES
    vy_gravity_body bodies[VY_GRAVITY_BODY_CAP];
    int gradient; ///< 1: the bodies' gravity also turns others, stronger at their near end; not when uniform
} vy_gravity_def;

typedef enum vy_atmosphere_mode {
    VY_ATMOSPHERE_NONE,     ///< a vacuum
    VY_ATMOSPHERE_STANDARD, ///< pressure and temperature as declared, everywhere; ideal gas
    VY_ATMOSPHERE_LAYERED,  ///< U.S. Standard Atmosphere 1976 over the altitude, up to VY_ATMOSPHERE_TOP
} vy_atmosphere_mode;

/// [m] Geometric altitude at which the 1976 standard ends: there is no air above.
#define VY_ATMOSPHERE_TOP 1e6

typedef struct vy_atmosphere_def {
    vy_atmosphere_mode mode;
    double pressure;    ///< [Pa] > 0, of the standard mode
    double temperature; ///< [K] > 0, of the standard mode
} vy_atmosphere_def;

typedef enum vy_shear {
    VY_SHEAR_NONE,
    VY_SHEAR_LINEAR, ///< speed proportional to height
    VY_SHEAR_POWER,  ///< speed (height / reference)^exponent
    VY_SHEAR_LOG,    ///< speed ln(height / roughness) / ln(reference / roughness)
} vy_shear;

/// A 1-cosine gust: it rises to `velocity` within `rise`, stays for `hold`, and falls as it rose.
typedef struct vy_gust_def {
    vy_vec3 velocity; ///< [m/s] at its height
    double start;     ///< [s]
    double rise;      ///< [s] > 0
    double hold;      ///< [s] >= 0
} vy_gust_def;

/// Dryden turbulence by MIL-F-8785C: a filter per drone, advanced once per period.
typedef struct vy_turbulence_def {
    double wind20; ///< [m/s] wind speed 6 m (20 ft) above the ground: sets the low-altitude strength; 0: none
    double intensity; ///< [m/s] standard deviation above 2000 ft
    double period;    ///< [s] a whole multiple of the world's dt; 0: ten steps
} vy_turbulence_def;

/// A grid of wind vectors: trilinear in space, linear in time, held at the borders. A scenario reads it from
/// a file.
typedef struct vy_wind_grid vy_wind_grid;

typedef struct vy_wind_def {
    vy_vec3 constant;       ///< [m/s] everywhere
    vy_shear shear;         ///< a profile over height, added
    double shear_speed;     ///< [m/s] at the reference height
    double shear_direction; ///< [rad] direction it blows to, counter-clockwise from +X
    double shear_height;    ///< [m] reference, > 0
    double shear_exponent;  ///< [1] of the power law
    double shear_roughness; ///< [m] of the logarithm, > 0 and below the reference
    int gust_count;         ///< 0 to VY_GUST_CAP
    vy_gust_def gusts[VY_GUST_CAP];
    vy_turbulence_def turbulence;
    char grid_name[VY_GRID_NAME_CAP]; ///< where the grid came from, for people and logs; empty without one
    const vy_wind_grid *grid;         ///< or NULL; must outlive the world
} vy_wind_def;

/// A place of a planet as the world's origin. World axes are then east, north and up there, and turn with the
/// planet: what is fixed to the ground rests, positions and velocities are local, rates are relative to the
/// ground. The planet attracts, in place of vy_gravity_def. The ground z = 0 is the surface of the origin's
/// height, as curved as the ellipsoid.
typedef struct vy_origin_def {
    double gm;        ///< [m^3/s^2] of the planet; 0: no origin, the world is flat or inertial
    double latitude;  ///< [rad] geodetic, -pi/2 to pi/2
    double longitude; ///< [rad] east; at a pole it counts as 0
    double height;    ///< [m] above the ellipsoid
    double j2;        ///< [1] oblateness of the planet's gravity, over its equatorial radius
    double date;      ///< [years] decimal: for the World Magnetic Model; 0: the declared magnetic field
} vy_origin_def;

/// The Earth: WGS 84 with J2.
#define VY_EARTH_RADIUS     6378137.0
#define VY_EARTH_FLATTENING 0.0033528106647474805
#define VY_EARTH_RATE       7.292115e-5
#define VY_EARTH_GM         3.986004418e14
#define VY_EARTH_J2         1.08262982e-3

/// A planet. Without an origin the world's frame is inertial, about the planet's centre, with its axis along
/// +z. radius 0: a flat world.
typedef struct vy_planet_def {
    double radius;        ///< [m] equatorial
    double flattening;    ///< [1] 0 is a sphere; WGS 84: 1 / 298.257223563
    double rate;          ///< [rad/s] about its axis
    vy_origin_def origin; ///< where the world is on it
} vy_planet_def;

/// How far the strict motion may be from the one that is flown, in place of thresholds: effects are left out
/// while the bound of the deviation stays within it, first those that save most for the error they make.
typedef struct vy_budget_def {
    double duration; ///< [s] from the start, at least a step; 0: no budget. Later nothing is neglected
    double position; ///< [m] > 0, or VY_BUDGET_ANY
    double attitude; ///< [rad] likewise
} vy_budget_def;

#define VY_BUDGET_ANY 1e300

/// The negligibility policy: an effect is computed as zero while a bound that it cannot exceed until the next
/// evaluation is below a threshold, absolute or relative to the drone's reference (its weight where it is;
/// its largest control torque). Gravity has the absolute threshold alone. It is computed again when the bound
/// is above `hysteresis` times both thresholds.
typedef struct vy_nap_def {
    int strict;        ///< 1: nothing is neglected
    double force_abs;  ///< [N] >= 0
    double force_rel;  ///< [1] of m |g|, >= 0
    double torque_abs; ///< [N m] >= 0
    double torque_rel; ///< [1] of the reference torque, >= 0
    double hysteresis; ///< [1] > 1: threshold to come back over threshold to go
    double period;     ///< [s] between evaluations, a whole multiple of the world's dt; 0: ten steps, with a
                       ///< budget fifty
    double horizon;    ///< [s] over which the deviation of an open-loop flight is bounded
    vy_budget_def budget;
} vy_nap_def;

/// The physics engine of a world.
typedef enum vy_engine {
    VY_ENGINE_STRICT, ///< the strict equations
    VY_ENGINE_SIMPLE, ///< the simple physics service (volery/physics.h): Euler's method, a ground at z = 0
    VY_ENGINE_RIGID,  ///< the strict equations, and kinematic flight, in a world where things collide
                      ///< and a boundary that bodies stick to
} vy_engine;

typedef struct vy_engine_def {
    vy_engine engine;
    double boundary;          ///< [m] of VY_ENGINE_SIMPLE and _RIGID: largest |x| and |y|, > 0
    vy_integrator integrator; ///< at the start; VY_ENGINE_SIMPLE has its own and wants VY_INTEGRATOR_RK4 here
} vy_engine_def;

/// Wakes of the drones: the downwash of drones above acts on those below.
typedef struct vy_wakes_def {
    int on;        ///< 1: they are computed
    double period; ///< [s] between updates, a whole multiple of the world's dt; 0: ten steps
    double length; ///< [m] length of a wake, > 0
} vy_wakes_def;

typedef struct vy_environment_def {
    vy_gravity_def gravity;
    vy_atmosphere_def atmosphere;
    vy_wind_def wind;
    vy_planet_def planet;
    vy_vec3 magnetic_field; ///< [T] world
    vy_vec3 sunlight;       ///< [N/m^2] pressure along its direction, world; 4.56e-6 at the Earth
    vy_nap_def nap;
    vy_engine_def physics; ///< which equations move things
    vy_wakes_def wakes;
} vy_environment_def;

/// The baseline: 9.80665 m/s^2 downwards, standard air of 101325 Pa and 288.15 K, no wind, a flat world, and
/// thresholds that neglect less than a ten-thousandth of the weight.
vy_environment_def vy_default_environment_def(void);

/// @return VY_BAD_VALUE with a sentence for an invalid def
vy_status vy_check_environment_def(const vy_environment_def *def, vy_error *err);

/// A motion seen from the ground of a planet. Angles are yaw, pitch, roll of forward-right-down axes in
/// north-east-down, in that order; for display and for starts, never integrated.
typedef struct vy_geodetic {
    double latitude, longitude; ///< [rad] geodetic; longitude within -pi to pi
    double altitude;            ///< [m] above the ellipsoid
    vy_vec3 velocity;           ///< [m/s] north, east, down, over the ground
    double yaw, pitch, roll;    ///< [rad]
} vy_geodetic;

/// From world axes at `time` [s], and back. `planet` has a radius above 0.
vy_geodetic vy_geodetic_of(const vy_planet_def *planet, double time, vy_vec3 position, vy_vec3 velocity,
                           vy_quat attitude);
void vy_geodetic_to_world(const vy_planet_def *planet, double time, const vy_geodetic *geodetic,
                          vy_vec3 *position, vy_vec3 *velocity, vy_quat *attitude);

/// How many effects there are, and their names, as in docs/effects.md. NULL beyond the last.
int vy_effect_count(void);
const char *vy_effect_name(int effect);

#ifdef __cplusplus
}
#endif
