// rotor_air.h - rotors in moving air: what a world remembers of them. Over `real`. Their equations are
// effects: equations/rotor_air.h.
#pragma once
#include "equations/rotor_air.h"
#include "volery/vehicle.h"

/// The fields of a rotor_air_state `memory` of a block.
#define FIELDS_rotor_air(F, block)                                                      \
    F(block, memory.downwash, VEC3, 3, "m/s", "air that moves in others' wakes, world") \
    F(block, memory.inflow, ROTORS, 8, "m/s", "velocity induced by each rotor")

/// At the start: as they hover at these speeds.
VY_FN void rotor_air_start(const rotor_air_params *p, const rotor_layout *layout, const rotor_params *rotor,
                           const rotor_curve *curve, const real *speed, rotor_air_state *out)
{
    const mask has_inflow = p->momentum_factor > 0.0;
    for (int k = 0; k < layout->count; ++k) {
        const real thrust = rotor_thrust(layout, rotor, curve, k, speed[k]);
        const real flow = real_sqrt(thrust / real_select(has_inflow, p->momentum_factor, real_set(1.0)));
        out->inflow[k] = real_select(has_inflow, flow, real_set(0.0));
    }
}

/// Whether a vehicle declares this part, or blades.
int vy_rotor_air_is_declared(const vy_vehicle_def *def);

/// Constants of a checked def, over steps of `dt`; the ground is flat where there is one.
rotor_air_params vy_rotor_air_build(const vy_vehicle_def *def, double dt, int has_ground);

/// The wake of a vehicle whose rotors have a radius: the diameter [m] of a disc as large as all of them, and
/// 2 v_h at full thrust [m/s].
void vy_rotor_air_wake(const vy_vehicle_def *def, const rotor_layout *layout, double *width,
                       double *exit_speed);
