// airspeed.h - a pitot tube over `real`: the dynamic pressure of the air along its axis.
#pragma once
#include "sensors/sensor.h"

typedef struct airspeed_params {
    real noise, bias; // [Pa]
    real unblocked;   // share of the pressure that gets through the tube
    quantizer_params quantizer;
    vec3 position; // [m] body
    vec3 axis;     // body, unit
} airspeed_params;

typedef struct airspeed_block {
    bits tick;            // when the last sample arrived
    real pressure, speed; // [Pa], [m/s]
} airspeed_block;

#define SAMPLE_airspeed(F, block)                                        \
    F(block, tick, TICK, 1, "", "when it arrived")                       \
    F(block, pressure, NUMBER, 1, "Pa", "last sample, dynamic pressure") \
    F(block, speed, NUMBER, 1, "m/s", "indicated airspeed")
#define FIELDS_airspeed(F, block) SAMPLE_airspeed(F, block)
#define CHANNELS_airspeed(C, s)                     \
    C(s, AIRSPEED, "airspeed", "Pa", 0, 2, 0, 1, 1, \
      "pressure of the pitot tube, one number; its speed follows")

/// Indicated airspeed [m/s]: what the pressure would be in air of 1.225 kg/m^3, with its sign.
VY_FN real airspeed_of_pressure(real pressure)
{
    const real size = real_sqrt(real_abs(pressure) * (2.0 / 1.225));
    return real_select(pressure < 0.0, -size, size);
}

/// Air from behind gives no pressure difference.
VY_FN void airspeed_sample(const airspeed_params *p, const body_state *body, const sensor_key *key,
                           moving_air air, airspeed_block *b, real *out)
{
    real n[1];
    (void)b;
    sensor_normals(key, n, 1);
    const vec3 flow = vec3_add(air.flow, lever_velocity(body->rate, p->position));
    const real along = real_max(vec3_dot(flow, p->axis), real_set(0.0));
    const real pressure = p->unblocked * (0.5 * air.density * along * along);
    out[0] = quantize(p->quantizer, (pressure + p->bias) + p->noise * n[0]);
    out[1] = airspeed_of_pressure(out[0]);
}
