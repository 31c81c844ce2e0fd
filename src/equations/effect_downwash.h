// effect_downwash.h - the wakes of other drones. It adds no load of its own: it is air that moves, which
// drag, lift and the rotors' effects see (rotor_wake.h).
#pragma once
#include "equations/effect_blade_element.h"
#include "equations/effect_damping.h"
#include "equations/effect_drag.h"
#include "equations/effect_flapping.h"
#include "equations/effect_inflow.h"
#include "equations/effect_lift.h"
#include "equations/effect_linear_drag.h"
#include "equations/effect_rotor_drag.h"
#include "equations/effect_translational_lift.h"

VY_FN void effect_downwash(const effect_params *p, const effect_context *context, mask on, body_loads *loads)
{
    (void)p;
    (void)context;
    (void)on;
    (void)loads;
}

/// What moving air can change in the rotors' effects: each with it and without, at most.
VY_FN effect_bound rotor_flow_bound(const effect_params *p, const effect_reach *r)
{
    const effect_bound drag = effect_rotor_drag_bound(p, r), flap = effect_flapping_bound(p, r);
    const effect_bound lift = effect_translational_lift_bound(p, r), inflow = effect_inflow_bound(p, r);
    const effect_bound blade = effect_blade_element_bound(p, r);
    return bound_of(2.0 * (drag.force + lift.force + (inflow.force + blade.force)),
                    2.0 * (drag.torque + flap.torque + lift.torque + (inflow.torque + blade.torque)));
}

VY_FN effect_bound effect_downwash_bound(const effect_params *p, const effect_reach *r)
{
    const effect_bound rotors = rotor_flow_bound(p, r);
    const real body = effect_drag_bound(p, r).force + effect_lift_bound(p, r).force;
    const real force = 2.0 * (body + effect_linear_drag_bound(p, r).force) + rotors.force;
    const real torque =
        2.0 * (vec3_length(p->pressure_centre) * body + effect_damping_bound(p, r).torque) + rotors.torque;
    const mask has_downwash = r->downwash > 0.0;
    return bound_of(real_select(has_downwash, force, real_set(0.0)),
                    real_select(has_downwash, torque, real_set(0.0)));
}
