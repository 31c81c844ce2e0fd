// parts.h - the list of what only some vehicles have. A new part is a pair of files, a row here, and its def
// in volery/vehicle.h.
#pragma once
#include "vehicle/battery.h"
#include "vehicle/blade.h"
#include "vehicle/drive.h"
#include "vehicle/part.h"
#include "vehicle/rotor_air.h"
#include "vehicle/thruster.h"

// P(name, text): a vy_NAME_def of the vehicle, under the key NAME.
#define VEHICLE_PARTS(P)                 \
    P(rotor_air, "rotors in moving air") \
    P(blade, "rotors by blade elements") \
    P(battery, "what feeds the motors")  \
    P(drive, "limits between intent and motors, and what acts without an intent")

// L(name, list, text): a list of vy_NAME_def, under the key LIST.
#define VEHICLE_LISTS(L) L(thruster, thrusters, "jets and thrusters; with the rotors at most 8")

#define DECLARE(name)                         \
    extern const vehicle_part vy_part_##name; \
    extern const vy_schema_table vy_table_##name;
#define DECLARE_PART(name, text)       DECLARE(name)
#define DECLARE_LIST(name, list, text) DECLARE(name)
VEHICLE_PARTS(DECLARE_PART)
VEHICLE_LISTS(DECLARE_LIST)
#undef DECLARE

/// All of them, lists first.
extern const vehicle_part *const vy_vehicle_parts[];
extern const int vy_vehicle_part_count;

/// Check the defs of all parts of a vehicle.
vy_status vy_check_parts(const vy_vehicle_def *vehicle, vy_error *err);
