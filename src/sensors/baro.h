// baro.h - a barometer over `real`: the pressure of still air at the altitude, and back.
#pragma once
#include "equations/atmosphere.h"
#include "sensors/reading.h"

typedef struct baro_params {
    real noise, bias; // [Pa]
    wander_params wander;
    digits_params digits;
} baro_params;

/// Pressure [Pa] at an altitude [m]. A world of one density all over, or without air, has a column of
/// pressure all the same: a barometer is no use without. It is the 1976 standard, or with declared pressure
/// and temperature that of an isothermal column on them.
VY_FN real baro_pressure(const atmosphere_params *air, real altitude)
{
    if (air->mode != ATMOSPHERE_STANDARD) return air_layered(altitude).pressure;
    return air->pressure * math_exp(-AIR_HYDROSTATIC * altitude / air->temperature);
}

/// The inverse: where the air has that pressure [m]. Up to 20 km; above, the layer there goes on.
VY_FN real baro_altitude(const atmosphere_params *air, real pressure)
{
    const real p = real_max(pressure, real_set(1e-3));
    if (air->mode == ATMOSPHERE_STANDARD)
        return (-air->temperature / AIR_HYDROSTATIC) * math_log(p / air->pressure);
    const real low = (288.15 / 0.0065) * (1.0 - math_exp(math_log(p / 101325.0) / 5.2558761132785178));
    const real high = 11000.0 - (216.65 / AIR_HYDROSTATIC) * math_log(p / 22632.06397346293);
    const real height = real_select(p > 22632.06397346293, low, high); // geopotential
    return height * AIR_EARTH_RADIUS / (AIR_EARTH_RADIUS - height);
}

/// The reading [Pa].
VY_FN real baro_sample(const baro_params *p, const atmosphere_params *air, real altitude, bits seed,
                       bits index, bits tick, real *wander)
{
    real n[2];
    rng_normals(seed, RNG_STREAM_BAROMETER, index, tick, n, 2);
    *wander = wander_next(p->wander, *wander, n[1]);
    const real truth = baro_pressure(air, altitude);
    return digits_of(p->digits, (truth + p->bias) + (*wander + p->noise * n[0]));
}
