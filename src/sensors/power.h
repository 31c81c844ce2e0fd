// power.h - a battery monitor over `real`: voltage and current.
#pragma once
#include "vehicle/battery.h"
#include "sensors/sensor.h"

typedef struct power_params {
    real voltage_noise, current_noise; // [V], [A]
    quantizer_params voltage, current; // of each
} power_params;

typedef struct power_block {
    bits tick;             // when the last sample arrived
    real voltage, current; // [V], [A]
} power_block;

#define SAMPLE_power(F, block)                       \
    F(block, tick, TICK, 1, "", "when it arrived")   \
    F(block, voltage, NUMBER, 1, "V", "last sample") \
    F(block, current, NUMBER, 1, "A", "last sample")
#define FIELDS_power(F, block) SAMPLE_power(F, block)
#define CHANNELS_power(C, s)                                                           \
    C(s, VOLTAGE, "voltage", "V", 0, 1, 0, 1, 1, "of the battery monitor, one number") \
    C(s, CURRENT, "current", "A", 1, 1, 1, 1, 1, "of the battery monitor, one number")

VY_FN void power_sample(const power_params *p, const body_state *body, const sensor_key *key,
                        const battery_state *battery, power_block *b, real *out)
{
    real n[2];
    (void)body;
    (void)b;
    VY_ASSERT(battery != NULL); // a drone with a battery monitor has a battery
    sensor_normals(key, n, 2);
    out[0] = quantize(p->voltage, battery->voltage + p->voltage_noise * n[0]);
    out[1] = quantize(p->current, battery->current + p->current_noise * n[1]);
}
