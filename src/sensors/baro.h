// baro.h - a barometer over `real`: the pressure of still air at the altitude, and back.
#pragma once
#include "equations/atmosphere.h"
#include "sensors/sensor.h"

typedef struct baro_params {
    real noise, bias;      // [Pa]
    real wander_deviation; // [Pa] of the wander
    gauss_markov_params wander;
    quantizer_params quantizer;
} baro_params;

typedef struct baro_block {
    bits tick;               // when the last sample arrived
    real pressure, altitude; // [Pa], [m]
    real wander;             // [Pa]
} baro_block;

#define SAMPLE_baro(F, block)                          \
    F(block, tick, TICK, 1, "", "when it arrived")     \
    F(block, pressure, NUMBER, 1, "Pa", "last sample") \
    F(block, altitude, NUMBER, 1, "m", "where still air has that pressure")
#define FIELDS_baro(F, block) SAMPLE_baro(F, block) F(block, wander, NUMBER, 1, "Pa", "slow error")
#define CHANNELS_baro(C, s) \
    C(s, BARO, "baro", "Pa", 0, 2, 0, 1, 1, "pressure of the barometer, one number; its altitude follows")

/// Pressure [Pa] at an altitude [m]. A world of uniform density, or without air, still has a pressure
/// profile, so that a barometer works. It is the 1976 standard, or with declared pressure and temperature
/// that of an isothermal column on them.
VY_FN real baro_pressure(const atmosphere_params *air, real altitude)
{
    if (air->mode != ATMOSPHERE_STANDARD) return air_layered(altitude).pressure;
    return air->pressure * math_exp(-AIR_HYDROSTATIC * altitude / air->temperature);
}

/// The inverse: where the air has that pressure [m]. Up to 20 km; above, the layer there continues.
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

VY_FN void baro_sample(const baro_params *p, const body_state *body, const sensor_key *key,
                       const still_air *air, baro_block *b, real *out)
{
    real n[2];
    (void)body;
    sensor_normals(key, n, 2);
    b->wander = gauss_markov_next(p->wander, b->wander, n[1]);
    const real truth = baro_pressure(air->atmosphere, air->altitude);
    out[0] = quantize(p->quantizer, (truth + p->bias) + (b->wander + p->noise * n[0]));
    out[1] = baro_altitude(air->atmosphere, out[0]);
}
