// blade.h - blade elements that agree with a vehicle's coefficients in hover.
#pragma once
#include "equations/blade.h"
#include "volery/vehicle.h"

/// Constants of the blades of a def whose other fields are checked: the pitch that gives thrust_coef and the
/// profile drag that gives torque_coef in hover.
/// @return VY_BAD_VALUE when no pitch or no drag does
vy_status vy_blade_build(const vy_vehicle_def *def, blade_params *out, vy_error *err);
