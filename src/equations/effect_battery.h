// effect_battery.h - a battery that sags. It adds no load of its own: the commanded rotor speeds are lower
// than at the nominal voltage (battery.h).
#pragma once
#include "equations/effect.h"

VY_FN void effect_battery(const effect_params *p, const effect_context *context, mask on, body_loads *loads)
{
    (void)p;
    (void)context;
    (void)on;
    (void)loads;
}

VY_FN effect_bound effect_battery_bound(const effect_params *p, const effect_reach *r)
{
    return bound_of(p->rotors.battery * r->rotor_force, p->rotors.battery * r->rotor_torque);
}
