// declared_wind.h - the wind as it is declared, with the constant part of its own params. Over `real`.
#pragma once
#include "equations/wind.h"

VY_FN vec3 wind_at(const wind_params *p, vec3 place, real time)
{
    return mean_wind_at(p, wind_constant(p), place, time);
}

VY_FN real wind_speed_bound(const wind_params *p, real z_low, real z_high, real time_low, real time_high)
{
    return mean_wind_speed_bound(p, wind_constant(p), z_low, z_high, time_low, time_high);
}
