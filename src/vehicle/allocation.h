// allocation.h - rotor layout of a vehicle: thrusts to wrench, and back.
#pragma once
#include "equations/rotor.h"
#include "volery/vehicle.h"

/// Rows of the wrench per rotor thrust, from a checked def.
rotor_layout vy_layout_build(const vy_vehicle_def *def);

/// Least-norm thrusts for (thrust, roll, pitch, yaw): thrust_i = sum of inverse[i][j] * wrench[j].
/// @return VY_BAD_VALUE when the rotors cannot make every wrench (fewer than four, or in a bad place)
vy_status vy_layout_invert(const vy_vehicle_def *def, const rotor_layout *layout,
                           double inverse[VY_ROTOR_CAP][4], vy_error *err);
