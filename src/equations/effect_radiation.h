// effect_radiation.h - pressure of sunlight on a body that looks the same from all sides: F = P A along the
// light (Montenbruck, Gill, Satellite Orbits, section 3.4; P = 4.56e-6 N/m^2 at the Earth's distance).
#pragma once
#include "equations/effect.h"

VY_FN void effect_radiation(const effect_params *p, const effect_context *context, mask on, body_loads *loads)
{
    loads->force_world =
        vec3_add(loads->force_world, vec3_masked(on, vec3_scale(p->light_area, context->radiation_pressure)));
}

VY_FN effect_bound effect_radiation_bound(const effect_params *p, const effect_reach *r)
{
    return bound_of(p->light_area * r->radiation_pressure, real_set(0.0));
}
