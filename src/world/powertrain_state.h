// powertrain_state.h - state of rotors in the air and of a battery. Over `real`.
#pragma once
#include "vehicle/battery.h"
#include "vehicle/rotor_air.h"

/// State of a vehicle beyond that of basic rotors. Every drone has one when one of them needs it, or when
/// wakes are declared; none has one otherwise.
typedef struct powertrain_block {
    rotor_air_state memory; // air around the rotors
    battery_state battery;
} powertrain_block;

#define FIELDS_powertrain(F, block) FIELDS_rotor_air(F, block) FIELDS_battery(F, block)
