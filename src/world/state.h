// state.h - everything of a world that changes, as one block of 8-byte values without pointers.
#pragma once
#include "control/control.h"
#include "environment/environment.h"
#include "environment/nap.h"
#include "sensors/imu.h"
#include "sensors/mocap.h"
#include <stddef.h>

enum { LIMIT_TILT, LIMIT_RATE, LIMIT_SPEED, LIMIT_HEIGHT, LIMIT_DISTANCE, LIMIT_COUNT };

typedef struct world_block {
    uint64_t chain, tick, identity;
    uint64_t failure_reason, failure_tick, failure_drone, failure_field;
    double failure_value, failure_limit;
} world_block;

typedef struct drone_block {
    body_state body;
    double rotor_speed[VY_ROTOR_CAP];
    imu_state imu;
    mocap_state mocap;
    estimator_state estimate;
    control_state control;
    turbulence_state turbulence;
    vec3 gust;
    uint64_t effects, effect_changes;
    uint64_t rung, imu_tick, mocap_tick, clamps;
    uint64_t exceeded[LIMIT_COUNT];
} drone_block;

typedef struct noise_block {
    vec3 force, torque;
} noise_block;

/// What is kept per drone but changes only when the negligibility policy is evaluated: hashed then.
typedef nap_state ledger_block;

/// How many values stand before the whole numbers of a drone_block: all of them must be finite.
#define DRONE_REALS (offsetof(drone_block, effects) / sizeof(double))
/// How many of those the plant writes.
#define PLANT_REALS (offsetof(drone_block, imu) / sizeof(double))

/// One row of fields.inl.
typedef struct vy_field {
    const char *block, *name, *type, *unit, *text;
    size_t offset; // bytes from the start of its block
    int count;     // values of 8 bytes
} vy_field;

extern const vy_field vy_fields[];
extern const int vy_field_count;

/// Index in vy_fields of the drone_block value at byte `offset`.
int vy_drone_field_at(size_t offset);
