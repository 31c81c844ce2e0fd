// effect_wind.h - moving air. It adds no load of its own: it changes the flow that drag, lift and damping
// see.
#pragma once
#include "equations/effect_damping.h"
#include "equations/effect_downwash.h"
#include "equations/effect_drag.h"
#include "equations/effect_lift.h"
#include "equations/effect_linear_drag.h"

VY_FN void effect_wind(const effect_params *p, const effect_context *context, mask on, body_loads *loads)
{
    (void)p;
    (void)context;
    (void)on;
    (void)loads;
}

// What the wind can change in the others: |F(v - w) - F(v)|. For a force k |v|^2 that is at most k (2 |v| |w|
// + |w|^2). The direction of lift may turn all the way, so its whole strength counts twice.
VY_FN effect_bound effect_wind_bound(const effect_params *p, const effect_reach *r)
{
    const real v = r->speed + r->wind;
    const real drag = 0.5 * r->density * p->drag_area * r->wind * (2.0 * r->speed + r->wind);
    const real lift = r->density * real_abs(p->lift_area) * real_select(r->wind > 0.0, v * v, real_set(0.0));
    const real linear = vec3_max_abs(p->linear_drag) * r->wind;
    const real spin = 0.25 * r->density * r->wind * vec3_max_abs(p->rate_damping_area) * r->rate;
    const effect_bound body =
        bound_of(drag + lift + linear, vec3_length(p->pressure_centre) * (drag + lift) + spin);
    if (!r->rotors) return body;
    const effect_bound rotors = rotor_flow_bound(p, r);
    const mask has_wind = r->wind > 0.0;
    return bound_of(body.force + real_select(has_wind, rotors.force, real_set(0.0)),
                    body.torque + real_select(has_wind, rotors.torque, real_set(0.0)));
}
