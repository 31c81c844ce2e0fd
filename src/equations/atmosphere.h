// atmosphere.h - temperature, pressure, density and speed of sound of the air.
//
// `layered` is the U.S. Standard Atmosphere 1976 (NOAA-S/T 76-1562): layers of linear molecular temperature
// over geopotential height, hydrostatic and ideal, from -5 km to 86 km geometric; diffusive equilibrium of
// its species from there to 1,000 km, tabulated; nothing above. Below -5 km the air continues with the
// temperature there.
#pragma once
#include "base/math.h"

#define AIR_GAS_CONSTANT 287.05307204706467   // [J/(kg K)] R*/M0 = 8.31432 / 0.0289644
#define AIR_HYDROSTATIC  0.034163194736310366 // [K/m] g0 M0/R*, g0 = 9.80665
#define AIR_HEAT_RATIO   1.4
#define AIR_EARTH_RADIUS 6356766.0 // [m] of geopotential height
#define AIR_LAYERS       9
#define AIR_UPPER        86000.0 // [m] from here on by the table
#define AIR_TOP          1e6     // [m] the standard ends

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

/// The value at `u` knots of a spline given by its values and second derivatives there.
VY_FN real air_spline(const double *value, const double *second_derivative, bits knot, real u)
{
    const real v = 1.0 - u;
    const real curvature = (u * u - 1.0) * u * real_gather(second_derivative + 1, knot) +
                           (v * v - 1.0) * v * real_gather(second_derivative, knot);
    return (u * real_gather(value + 1, knot) + v * real_gather(value, knot)) + (1.0 / 6.0) * curvature;
}

/// The same from 86 km to 1,000 km, 0 above: cubic splines of ln rho and ln p, twice differentiable.
VY_NOINLINE_FN air_state air_upper(real altitude)
{
#include "equations/air_table.inl"
    const real z = real_clamp(altitude, real_set(AIR_UPPER), real_set(AIR_TOP));
    const real x = math_log(1.0 + (z - AIR_UPPER) * (1.0 / 20000.0)) * (1.0 / AIR_UPPER_WIDTH);
    const real knot = real_clamp(real_round(x - 0.5), real_set(0.0), real_set(AIR_UPPER_KNOTS - 2.0));
    const bits i = real_round_bits(knot);
    const real density = math_exp(air_spline(air_upper_density, air_upper_density_curvature, i, x - knot));
    const real pressure = math_exp(air_spline(air_upper_pressure, air_upper_pressure_curvature, i, x - knot));
    const mask is_inside = altitude <= AIR_TOP;
    air_state a;
    a.temperature = pressure / (AIR_GAS_CONSTANT * density);
    a.pressure = real_select(is_inside, pressure, real_set(0.0));
    a.density = real_select(is_inside, density, real_set(0.0));
    return a;
}

/// The 1976 standard at a geometric altitude [m].
VY_FN air_state air_layered(real altitude)
{
    // Lower border [m], temperature [K], lapse [K/m] and pressure [Pa] there. Pressures follow from 101325 Pa
    // by the layers' own formulas; written out, so that no layer depends on the rounding of another.
    static const double base_height[AIR_LAYERS] = {
        -5003.9359132562503, 0.0, 11000.0, 20000.0, 32000.0, 47000.0, 51000.0, 71000.0, 84852.045844905744};
    static const double base_temperature[AIR_LAYERS] = {
        320.67558343616563, 288.15, 216.65, 216.65, 228.65, 270.65, 270.65, 214.65, 186.94590831018851};
    static const double lapse[AIR_LAYERS] = {-0.0065, -0.0065, 0.0, 0.001, 0.0028, 0.0, -0.0028, -0.002, 0.0};
    static const double base_pressure[AIR_LAYERS] = {
        177761.50048145938, 101325.0,           22632.06397346293,  5474.8886696777796, 868.01868475522733,
        110.90630555496588, 66.938873118687266, 3.9564204280407287, 0.37338046183105788};
    // -g0 M0 / (R* lapse), or 0 where the layer has one temperature
    static const double power[AIR_LAYERS] = {5.2558761132785178,  5.2558761132785178,  0.0,
                                             -34.163194736310366, -12.201140977253702, 0.0,
                                             12.201140977253702,  17.081597368155183,  0.0};
    const real height = altitude * AIR_EARTH_RADIUS / (AIR_EARTH_RADIUS + altitude);
    bits layer = bits_set(0);
    for (int i = 1; i < AIR_LAYERS; ++i) {
        layer = bits_select(height >= base_height[i], bits_set((uint64_t)i), layer);
    }
    // Below -5 km the lowest layer counts as one of constant temperature.
    const mask is_deep = height < base_height[0];
    const real height_above = height - real_gather(base_height, layer);
    const real base_t = real_gather(base_temperature, layer);
    const real slope = real_select(is_deep, real_set(0.0), real_gather(lapse, layer));
    const real temperature = base_t + slope * height_above;
    const real exponent = real_select(slope == 0.0, -AIR_HYDROSTATIC * height_above / base_t,
                                      real_gather(power, layer) * math_log(temperature / base_t));
    air_state a;
    a.temperature = temperature;
    a.pressure = real_gather(base_pressure, layer) * math_exp(exponent);
    a.density = a.pressure / (AIR_GAS_CONSTANT * temperature);
    const mask is_upper = altitude > AIR_UPPER;
    if (mask_any(is_upper)) {
        const air_state b = air_upper(altitude);
        a.temperature = real_select(is_upper, b.temperature, a.temperature);
        a.pressure = real_select(is_upper, b.pressure, a.pressure);
        a.density = real_select(is_upper, b.density, a.density);
    }
    return a;
}

/// The air at a geometric altitude [m]; all zero without an atmosphere.
VY_FN air_state air_at(const atmosphere_params *p, real altitude)
{
    if (VY_BASIC_OR(0, p->mode == ATMOSPHERE_LAYERED)) return air_layered(altitude);
    air_state a;
    const int is_standard = p->mode == ATMOSPHERE_STANDARD;
    a.temperature = real_set(is_standard ? p->temperature : 0.0);
    a.pressure = real_set(is_standard ? p->pressure : 0.0);
    a.density = real_set(is_standard ? p->density : 0.0);
    return a;
}

/// Speed of sound [m/s] at a molecular temperature [K].
VY_FN real air_sound_speed(real temperature)
{
    return real_sqrt((AIR_HEAT_RATIO * AIR_GAS_CONSTANT) * temperature);
}

/// Kinetic temperature [K] at a geometric altitude from 86 km on, by the standard's four pieces.
VY_FN real air_upper_temperature(real altitude)
{
    const real z = real_min(altitude, real_set(AIR_TOP));
    const real u = (z - 91000.0) * (1.0 / 19942.9);
    const real ellipse = 263.1905 - 76.3232 * real_sqrt(real_max(1.0 - u * u, real_set(0.0)));
    const real geopotential_rise = (z - 120000.0) * ((AIR_EARTH_RADIUS + 120000.0) / (AIR_EARTH_RADIUS + z));
    const real high = 1000.0 - 640.0 * math_exp(-1.875e-5 * geopotential_rise);
    const real middle = real_select(z < 110000.0, ellipse, 240.0 + 0.012 * (z - 110000.0));
    const real low = real_select(z < 91000.0, real_set(186.8673), middle);
    return real_select(z < 120000.0, low, high);
}

/// Kinetic temperature [K] at a geometric altitude: the molecular one times M/M0, by the standard's table 8
/// up to 86 km.
VY_FN real air_kinetic_temperature(real temperature, real altitude)
{
    static const double ratio[14] = {1.0,      0.999996, 0.999989, 0.999971, 0.999941, 0.999909, 0.999870,
                                     0.999829, 0.999786, 0.999741, 0.999694, 0.999641, 0.999579, 0.999579};
    const real steps = real_clamp((altitude - 80000.0) * (1.0 / 500.0), real_set(0.0), real_set(12.0));
    const real whole_steps =
        real_select(real_round(steps) > steps, real_round(steps) - 1.0, real_round(steps));
    const bits i = real_round_bits(whole_steps);
    const real low = real_gather(ratio, i), high = real_gather(ratio + 1, i);
    return real_select(altitude > AIR_UPPER, air_upper_temperature(altitude),
                       temperature * (low + (steps - whole_steps) * (high - low)));
}
