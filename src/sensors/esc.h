// esc.h - rotor speeds as reported by the motors' electronics, over `real`.
#pragma once
#include "sensors/sensor.h"

typedef struct esc_params {
    real noise; // [rad/s]
    quantizer_params quantizer;
} esc_params;

typedef struct esc_block {
    bits tick;                // when the last sample arrived
    real speed[VY_ROTOR_CAP]; // [rad/s]
} esc_block;

#define SAMPLE_esc(F, block)                       \
    F(block, tick, TICK, 1, "", "when it arrived") \
    F(block, speed, ROTORS, VY_ROTOR_CAP, "rad/s", "last sample, rotors")
#define FIELDS_esc(F, block) SAMPLE_esc(F, block)
#define CHANNELS_esc(C, s)                                         \
    C(s, ESC, "esc", "rad/s", 0, VY_ROTOR_CAP, 0, VY_ROTOR_CAP, 1, \
      "of the motors' telemetry, one number for every rotor")

VY_FN void esc_sample(const esc_params *p, const body_state *body, const sensor_key *key,
                      const rotor_speeds *rotors, esc_block *b, real *out)
{
    real n[VY_ROTOR_CAP];
    (void)body;
    (void)b;
    sensor_normals(key, n, VY_ROTOR_CAP);
    for (int i = 0; i < VY_ROTOR_CAP; ++i) {
        out[i] = real_set(0.0);
        if (i < rotors->count)
            out[i] = quantize(p->quantizer, real_max(rotors->speed[i] + p->noise * n[i], real_set(0.0)));
    }
}
