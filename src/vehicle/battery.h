// battery.h - the battery of a vehicle: what a world remembers of it. Over `real`. Its equations are in
// equations/battery.h: its charge goes through the stages of a step.
#pragma once
#include "equations/battery.h"
#include "volery/vehicle.h"

typedef struct battery_state {
    real charge;  // [A s] left
    real voltage; // [V] at the terminals
    real current; // [A]
} battery_state;

/// The fields of a battery_state `battery` of a block.
#define FIELDS_battery(F, block)                                      \
    F(block, battery.charge, NUMBER, 1, "A s", "left in the battery") \
    F(block, battery.voltage, NUMBER, 1, "V", "at its terminals")     \
    F(block, battery.current, NUMBER, 1, "A", "drawn from it")

/// At the start, with this charge [A s]. Where there is no battery, all is 0.
VY_FN void battery_start(const battery_params *p, real charge, battery_state *out)
{
    out->charge = charge;
    out->voltage = real_select(p->capacity > 0.0, battery_open_voltage(p, charge), real_set(0.0));
    out->current = real_set(0.0);
}

/// Constants of a checked def `b`, the charge at the start [A s], and what a full one makes of the speed of
/// rotors at the nominal voltage. Without a battery: zeros and 1.
void vy_battery_build(const vy_battery_def *b, battery_params *out, double *start, double *speed_gain);
