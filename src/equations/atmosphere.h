// atmosphere.h - temperature, pressure, density, speed of sound and viscosity of the air.
//
// `layered` is the U.S. Standard Atmosphere 1976 (NOAA-S/T 76-1562): layers of linear molecular temperature
// over geopotential height, hydrostatic and ideal, from -5 km to 86 km geometric. Beyond those ends the air
// goes on with the temperature of the end, so that nothing jumps there.
#pragma once
#include "base/math.h"

#define AIR_GAS_CONSTANT 287.05307204706467   // [J/(kg K)] R*/M0 = 8.31432 / 0.0289644
#define AIR_HYDROSTATIC  0.034163194736310366 // [K/m] g0 M0/R*, g0 = 9.80665
#define AIR_HEAT_RATIO   1.4
#define AIR_EARTH_RADIUS 6356766.0 // [m] of geopotential height
#define AIR_LAYERS       9

typedef enum atmosphere_mode { ATMOSPHERE_NONE, ATMOSPHERE_STANDARD, ATMOSPHERE_LAYERED } atmosphere_mode;

/// The same for every drone of a batch.
typedef struct atmosphere_params {
    int mode;           // atmosphere_mode
    double pressure;    // [Pa] of the standard mode
    double temperature; // [K] of the standard mode
    double density;     // [kg/m^3] of the standard mode
} atmosphere_params;

typedef struct air_state {
    real temperature; // [K] molecular: M0/M times the kinetic one, which differs above 80 km only
    real pressure;    // [Pa]
    real density;     // [kg/m^3]
} air_state;

/// The 1976 standard at a geometric altitude [m].
VY_FN air_state air_layered(real altitude)
{
    // Lower border [m], temperature [K], lapse [K/m] and pressure [Pa] there. Pressures follow from 101325 Pa
    // by the layers' own formulas; written out, so that no layer depends on the rounding of another.
    static const double floor[AIR_LAYERS] = {
        -5003.9359132562503, 0.0, 11000.0, 20000.0, 32000.0, 47000.0, 51000.0, 71000.0, 84852.045844905744};
    static const double warm[AIR_LAYERS] = {
        320.67558343616563, 288.15, 216.65, 216.65, 228.65, 270.65, 270.65, 214.65, 186.94590831018851};
    static const double lapse[AIR_LAYERS] = {-0.0065, -0.0065, 0.0, 0.001, 0.0028, 0.0, -0.0028, -0.002, 0.0};
    static const double push[AIR_LAYERS] = {177761.50048145938, 101325.0,           22632.06397346293,
                                            5474.8886696777796, 868.01868475522733, 110.90630555496588,
                                            66.938873118687266, 3.9564204280407287, 0.37338046183105788};
    // -g0 M0 / (R* lapse), or 0 where the layer has one temperature
    static const double power[AIR_LAYERS] = {5.2558761132785178,  5.2558761132785178,  0.0,
                                             -34.163194736310366, -12.201140977253702, 0.0,
                                             12.201140977253702,  17.081597368155183,  0.0};
    const real height = altitude * AIR_EARTH_RADIUS / (AIR_EARTH_RADIUS + altitude);
    bits layer = bits_set(0);
    for (int i = 1; i < AIR_LAYERS; ++i) {
        layer = bits_select(height >= floor[i], bits_set((uint64_t)i), layer);
    }
    // Below -5 km the lowest layer counts as one of constant temperature.
    const mask deep = height < floor[0];
    const real above = height - real_gather(floor, layer);
    const real t0 = real_gather(warm, layer);
    const real slope = real_select(deep, real_set(0.0), real_gather(lapse, layer));
    const real t = t0 + slope * above;
    const real exponent = real_select(slope == 0.0, -AIR_HYDROSTATIC * above / t0,
                                      real_gather(power, layer) * math_log(t / t0));
    air_state a;
    a.temperature = t;
    a.pressure = real_gather(push, layer) * math_exp(exponent);
    a.density = a.pressure / (AIR_GAS_CONSTANT * t);
    return a;
}

/// The air at a geometric altitude [m]; all zero without an atmosphere.
VY_FN air_state air_at(const atmosphere_params *p, real altitude)
{
    if (p->mode == ATMOSPHERE_LAYERED) return air_layered(altitude);
    air_state a;
    const int some = p->mode == ATMOSPHERE_STANDARD;
    a.temperature = real_set(some ? p->temperature : 0.0);
    a.pressure = real_set(some ? p->pressure : 0.0);
    a.density = real_set(some ? p->density : 0.0);
    return a;
}

/// Speed of sound [m/s] at a molecular temperature [K].
VY_FN real air_sound_speed(real temperature)
{
    return real_sqrt((AIR_HEAT_RATIO * AIR_GAS_CONSTANT) * temperature);
}

/// Dynamic viscosity [Pa s] by Sutherland's formula with the 1976 standard's constants.
VY_FN real air_viscosity(real temperature)
{
    return 1.458e-6 * (temperature * real_sqrt(temperature)) / (temperature + 110.4);
}

/// Kinetic temperature [K] at a geometric altitude: the molecular one times M/M0, by the standard's table 8.
VY_FN real air_kinetic_temperature(real temperature, real altitude)
{
    static const double ratio[14] = {1.0,      0.999996, 0.999989, 0.999971, 0.999941, 0.999909, 0.999870,
                                     0.999829, 0.999786, 0.999741, 0.999694, 0.999641, 0.999579, 0.999579};
    const real steps = real_clamp((altitude - 80000.0) * (1.0 / 500.0), real_set(0.0), real_set(12.0));
    const real whole = real_select(real_round(steps) > steps, real_round(steps) - 1.0, real_round(steps));
    const bits i = real_round_bits(whole);
    const real low = real_gather(ratio, i), high = real_gather(ratio + 1, i);
    return temperature * (low + (steps - whole) * (high - low));
}
