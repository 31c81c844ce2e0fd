// airframe.h - which rotor of a vehicle is which motor of a firmware.
#pragma once
#include "volery/firmware.h"
#include "volery/vehicle.h"

/// Find the rotor of each motor of an airframe in the numbering of PX4 and ArduPilot, which is the same.
/// @param order by motor: index of the rotor; that of the vehicle for VY_AIRFRAME_OWN
/// @return VY_BAD_VALUE with a sentence when the vehicle has no such rotor: another number of rotors, none in
/// the motor's direction, or one that spins the other way
vy_status vy_airframe_match(vy_airframe airframe, const vy_vehicle_def *vehicle, int order[VY_ROTOR_CAP],
                            vy_error *err);
