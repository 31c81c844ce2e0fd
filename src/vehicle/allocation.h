// allocation.h - rotor layout of a vehicle: thrusts to wrench, and back.
#pragma once
#include "equations/motor.h"
#include "volery/vehicle.h"

/// Rows of the wrench per rotor thrust, from a checked def; of its thrusters all but what depends on the
/// step.
rotor_layout vy_layout_build(const vy_vehicle_def *def);

/// How many make the wrench: the rotors, or the thrusters where there are no rotors.
int vy_layout_effector_count(const rotor_layout *layout);

/// The unit vector along `axis`; zero is body +z.
vec3 vy_axis_of(vec3 axis);

/// Unit vector of a checked rotor's thrust, body.
vec3 vy_rotor_axis(const vy_rotor_def *rotor);

/// From command to speed and from thrust to command, of a checked def.
motor_params vy_motor_build(const vy_vehicle_def *def);

/// Thrust [N] of a rotor with the vehicle's own coefficients.
double vy_rotor_thrust(const vy_vehicle_def *def, double speed);

/// The wrench (thrust, roll, pitch, yaw) per newton of each rotor's thrust, in units that make the rows
/// comparable: 1, the longest arm twice, the vehicle's torque per thrust (of thrusters: the largest) [m].
void vy_layout_effectiveness(const vy_vehicle_def *def, const rotor_layout *layout,
                             double rows[4][VY_ROTOR_CAP], double units[4]);

/// Least-norm thrusts for (thrust, roll, pitch, yaw): thrust_i = sum of inverse[i][j] * wrench[j].
/// @return VY_BAD_VALUE when the rotors cannot make every wrench (fewer than four, or in a bad place)
vy_status vy_layout_pseudo_inverse(const vy_vehicle_def *def, const rotor_layout *layout,
                                   double inverse[VY_ROTOR_CAP][4], vy_error *err);
