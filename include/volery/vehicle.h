// vehicle.h - a vehicle: mass, inertia, rotors, motors, thrusters, air resistance.
//
// Body frame is forward-left-up. Positions are from the frame's origin, which need not be the centre of mass:
// that is at `centre_of_mass`. What a world reports of a drone is its centre of mass. Units are SI.
#pragma once
#include "volery/status.h"
#include "volery/types.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VY_ROTOR_CAP 8
#define VY_NAME_CAP  32

/// How rotor thrust becomes torque.
typedef enum vy_allocation {
    VY_ALLOCATION_PHYSICAL,   ///< r x F and the reaction to each rotor's spin
    VY_ALLOCATION_DOCUMENTED, ///< the Crazyflie engine's published rows: pitch and yaw with the opposite sign
} vy_allocation;

#define VY_COLLISION_POINT_CAP 16

/// One rotor. A zeroed axis is body +z; a coefficient of 0 is the vehicle's.
typedef struct vy_rotor_def {
    vy_vec3 position;   ///< [m] of the hub
    vy_vec3 axis;       ///< of its thrust, any length; 0 is body +z
    double thrust_coef; ///< [N s^2] >= 0; 0: the vehicle's
    double torque_coef; ///< [N m s^2] >= 0; 0: the vehicle's ratio of torque to thrust
    int spin;           ///< seen against the axis (from above): +1 counter-clockwise, -1 clockwise
} vy_rotor_def;

/// A jet or thruster: a force at a point along an axis. Its command follows those of the rotors: thruster k
/// gets motors[rotor_count + k]. Throttled, it makes nothing at command 0 and thrust_min to thrust_max above
/// it. Pulsed, its valve is open for the command's share of every period, at thrust_max.
typedef struct vy_thruster_def {
    vy_vec3 position;    ///< [m] where the force acts
    vy_vec3 axis;        ///< of the force on the vehicle, any length; 0 is body +z
    double thrust_max;   ///< [N] > 0
    double thrust_min;   ///< [N] at the least command above 0, below thrust_max; 0 when pulsed
    double lag;          ///< [s] first-order time constant of the thrust; 0: at once
    double lag_down;     ///< [s] the same when it falls; 0: as lag
    double pulse_period; ///< [s] a whole multiple of the step; 0: throttled
    double pulse_min;    ///< [s] shortest pulse, at most pulse_period; shorter ones wait for the next period
} vy_thruster_def;

/// A point of the vehicle's surface.
typedef struct vy_collision_point {
    vy_vec3 position; ///< [m]
} vy_collision_point;

/// Rotors in moving air, the same for every rotor. Zero switches a part off; docs/effects.md has the
/// equations.
typedef struct vy_rotor_air_def {
    double radius;      ///< [m] of the discs; needed by inflow, ground effect, blades and wakes
    double drag;        ///< [kg] force over rotor speed and airspeed across the axis
    double drag_axial;  ///< [kg] the same along the axis
    double flap;        ///< [kg m] torque over rotor speed and airspeed
    double lift;        ///< [kg/m] thrust over airspeed across the axis, squared
    double inflow;      ///< [kg] thrust over rotor speed and velocity through the disc
    double inflow_lag;  ///< [s] time constant of the induced velocity
    double vortex_loss; ///< [1] share of thrust lost in the middle of the vortex ring state, 0 to 1
    double inertia;     ///< [kg m^2] of a rotor about its axis
    int ground;         ///< 1: thrust grows near the ground
} vy_rotor_air_def;

/// Blades, instead of the coefficients' thrust and torque; they agree with these in hover.
typedef struct vy_blade_def {
    int count;          ///< of a rotor; 0: no blade elements
    double chord;       ///< [m]
    double twist;       ///< [rad] pitch at the axis less pitch at the tip
    double lift_slope;  ///< [1/rad] of the profile
    double lift_max;    ///< [1] its largest lift coefficient
    double drag_square; ///< [1] drag coefficient over the square of the sine of the angle of attack
} vy_blade_def;

#define VY_BATTERY_POINT_COUNT 5

/// A battery. capacity 0: none, the voltage is always nominal.
typedef struct vy_battery_def {
    double capacity;                        ///< [A s]
    double charge;                          ///< [1] at the start, 0 to 1
    double resistance;                      ///< [ohm]
    double nominal;                         ///< [V] at which rotors reach their commanded speed
    double voltage[VY_BATTERY_POINT_COUNT]; ///< [V] open circuit, at charge 0, 1/4, 1/2, 3/4, 1
    double efficiency;                      ///< [1] of motors and their electronics, above 0 to 1
    double power;                           ///< [W] of everything that is no rotor
} vy_battery_def;

/// What takes over when no usable intent arrives.
typedef enum vy_failsafe {
    VY_FAILSAFE_NONE, ///< nothing: a controller that fails ends the run
    VY_FAILSAFE_HOLD, ///< stay where it is
    VY_FAILSAFE_LAND, ///< go straight down, and cut the motors when it no longer sinks
    VY_FAILSAFE_CUT,  ///< motors off, for good
} vy_failsafe;

/// Limits of the drive abstraction layer between intent and motors, and what it does without an intent.
/// Limits act on every rung that they belong to, whatever the controller; 0 is no limit.
typedef struct vy_drive_def {
    double speed_max;   ///< [m/s] of a desired velocity, horizontal
    double climb_max;   ///< [m/s] the same, up and down
    double tilt_max;    ///< [rad] of a desired attitude, below a quarter of a turn
    double rate_max;    ///< [rad/s] of desired rates, each axis
    double command_min; ///< least motor command while the motors are on, 0 to below 1
    double command_max; ///< largest motor command, above command_min to 1
    double slew;        ///< [1/s] change of a motor command
    double deadline;    ///< [s] of simulated time without a new intent, then the failsafe acts; 0: never
    double rotor_loss; ///< [s] a rotor at less than half of its commanded speed for this long counts as lost:
                       ///< the allocation does without it from then on; 0: it never does
    double land_speed; ///< [m/s] of VY_FAILSAFE_LAND, > 0
    vy_failsafe failsafe;
} vy_drive_def;

/// Constants of one vehicle. Start from vy_default_vehicle_def() or a preset and change fields; a zeroed
/// struct is refused. With rotor_count 0 it is a rigid body.
typedef struct vy_vehicle_def {
    uint32_t cookie;        ///< set by the default function
    char name[VY_NAME_CAP]; ///< for people
    double mass;            ///< [kg] > 0
    vy_mat3 inertia; ///< [kg m^2] about the centre of mass, symmetric; no moment over 1.05 times the sum of
                     ///< the others
    vy_vec3 centre_of_mass;    ///< [m]
    int rotor_count;           ///< 0 to VY_ROTOR_CAP
    int collision_point_count; ///< 0 to VY_COLLISION_POINT_CAP
    vy_rotor_def rotors[VY_ROTOR_CAP];
    int thruster_count; ///< rotors and thrusters together: 0 to VY_ROTOR_CAP
    vy_thruster_def thrusters[VY_ROTOR_CAP];
    vy_allocation allocation; ///< sign convention of roll, pitch and yaw torque
    int density_scaling;   ///< 1: rotor thrust and torque follow the air's density; they hold at 1.225 kg/m^3
    double thrust_coef;    ///< [N s^2] thrust = thrust_coef * speed^2, > 0 with rotors
    double torque_coef;    ///< [N m s^2] rotor drag torque = torque_coef * speed^2, >= 0
    double speed_max;      ///< [rad/s] rotor speed at command 1, > 0 with rotors
    double motor_lag;      ///< [s] first-order time constant of rotor speed; 0 is an ideal motor
    double motor_lag_down; ///< [s] the same when speed falls; 0: as motor_lag
    double thrust_linear;  ///< [N s] thrust += thrust_linear * speed, any sign; total never below 0
    double thrust_cubic;   ///< [N s^3] thrust += thrust_cubic * speed^3. With one of these two, a rotor's
                           ///< drag torque is torque_coef / thrust_coef times its thrust
    double command_dead;   ///< commands up to this one stop the rotor, 0 to below 1
    double command_curve;  ///< 1: speed is proportional to the command; 0: thrust is; between: a mixture
    double speed_idle;     ///< [rad/s] just above the dead zone, below speed_max
    vy_vec3 drag_linear;   ///< [N s/m] drag proportional to speed, body axes, each >= 0
    double area;           ///< [m^2] that cd and cl refer to, >= 0
    double cd;             ///< [1] drag coefficient, >= 0
    double cl;             ///< [1] lift coefficient, any sign
    double volume;         ///< [m^3] of displaced air, >= 0
    vy_vec3 pressure_centre; ///< [m] body, where drag and lift act
    vy_vec3 damping_area;    ///< [m^4] of air damping, -C S b^2 per axis, each >= 0
    vy_vec3 damping;         ///< [N m s] damping that does not depend on the air, each >= 0
    vy_vec3 dipole;          ///< [A m^2] magnetic, body
    double light_area;       ///< [m^2] for the pressure of sunlight, times the reflectivity factor, >= 0
    double torque_ref;       ///< [N m] reference of the negligibility policy; 0: from rotors and thrusters
    vy_rotor_air_def rotor_air;
    vy_blade_def blade;
    vy_battery_def battery;
    vy_drive_def drive;
    vy_collision_point collision_points[VY_COLLISION_POINT_CAP];
} vy_vehicle_def;

/// The crazyflie2x preset.
vy_vehicle_def vy_default_vehicle_def(void);

/// A vehicle by the name of its file in vehicles/: "crazyflie2x", "crazyflie2x-physical", "crazyflie21",
/// "crazyflie21-brushless", "reference-quad", "x500", "hexa", "octo".
/// @return VY_NOT_FOUND with the list of names in `err`; `*out` is untouched then
vy_status vy_vehicle_preset(const char *name, vy_vehicle_def *out, vy_error *err);

/// The name of built-in vehicle `index`, from 0 on; NULL beyond the last.
const char *vy_vehicle_preset_name(int index);

/// Check every field.
vy_status vy_check_vehicle_def(const vy_vehicle_def *def, vy_error *err);

/// Rotor speed [rad/s] at which all rotors together carry the weight under gravity `g` [m/s^2]:
/// sqrt(m g / (n thrust_coef)), or the same with tilted rotors and a polynomial. 0 without rotors; top speed
/// or more when they cannot carry it.
double vy_vehicle_hover_speed(const vy_vehicle_def *def, double g);

#ifdef __cplusplus
}
#endif
