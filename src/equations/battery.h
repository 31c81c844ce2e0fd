// battery.h - a battery: open-circuit voltage by charge, an inner resistance, a capacity.
//
//   V = (E + sqrt(E^2 - 4 R P)) / 2    the terminal voltage at which the power P is drawn, I = P / V
//   charge' = -I; rotors reach V / V_nominal of their commanded speed
//
// Drawing more than E^2 / 4 R, the most it can give, leaves it at half its voltage. (For instance Tremblay,
// Dessaint, Experimental Validation of a Battery Dynamic Model, 2009, without its transients.)
#pragma once
#include "base/vec.h"

enum { BATTERY_POINTS = 5 };

typedef struct battery_params {
    real capacity;                     // [A s]; 0: there is no battery
    real resistance;                   // [ohm]
    real nominal;                      // [V] at which rotor speeds are as commanded
    real open_circuit[BATTERY_POINTS]; // [V] open-circuit voltage at charge 0, 1/4, ... 1; straight between
    real efficiency;                   // [1] of motors and their electronics
    real power;                        // [W] of everything that is no rotor
} battery_params;

/// Open-circuit voltage [V] at a charge [A s].
VY_FN real battery_open_voltage(const battery_params *p, real charge)
{
    const real x = (BATTERY_POINTS - 1) * (charge / p->capacity);
    real volts = p->open_circuit[0];
    for (int k = 0; k + 1 < BATTERY_POINTS; ++k) {
        const real fraction = real_clamp(x - (double)k, real_set(0.0), real_set(1.0));
        volts = volts + fraction * (p->open_circuit[k + 1] - p->open_circuit[k]);
    }
    return volts;
}

/// The voltage [V] at the terminals while `rotor_power` [W] is drawn at the shafts, and the current [A]. An
/// empty battery gives nothing.
VY_FN real battery_voltage(const battery_params *p, real charge, real rotor_power, real *current)
{
    const real open_circuit = battery_open_voltage(p, charge);
    const real power = rotor_power / p->efficiency + p->power;
    const real discriminant = open_circuit * open_circuit - 4.0 * (p->resistance * power);
    const real volts = 0.5 * (open_circuit + real_sqrt(real_max(discriminant, real_set(0.0))));
    // Beyond the most it can give, the current is what the resistance lets through.
    const real current_max = (open_circuit - volts) / real_max(p->resistance, real_set(1e-12));
    const real amperes = real_select(discriminant < 0.0, current_max, power / volts);
    const mask is_empty = charge <= 0.0;
    *current = real_select(is_empty, real_set(0.0), amperes);
    return real_select(is_empty, real_set(0.0), volts);
}

/// What is left of a charge after `dt` [s] at a mean current.
VY_FN real battery_charge_after(real charge, real current, real dt)
{
    return real_max(charge - current * dt, real_set(0.0));
}
