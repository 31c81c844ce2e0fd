// state.h - everything of a world that changes, as blocks of 8-byte cells without pointers, over `real`.
//
// In a world a cell is one value. In a batch it is one value for each of the worlds that lie side by side:
// the same blocks with wider cells, so that the same stages serve both.
#pragma once
#include "control/control.h"
#include "dynamics/sleep_def.h"
#include "environment/environment.h"
#include "environment/nap.h"
#include "estimators/estimator.h"
#include "sensors/sensors.h"
#include "vehicle/thruster.h"
#include "volery/world.h"
#include "world/budget.h"
#include "world/loop_state.h"
#include "world/fields.h"
#include "world/powertrain_state.h"
#include "world/supervisor.h"
#include "world/delay_line.h"
#include "world/payload.h"
#include "world/trigger.h"
#include "world/injection.h"
#include <stddef.h>

enum { LIMIT_TILT, LIMIT_RATE, LIMIT_SPEED, LIMIT_HEIGHT, LIMIT_DISTANCE, LIMIT_COUNT };

/// The head of a state. What each member is, here and below, says its list in fields.h.
typedef struct world_block {
    bits chain, tick;
    bits integrator;  // a vy_integrator: the present one
    bits block_kinds; // entries that follow
    bits failure_reason, failure_tick, failure_body, failure_field;
    real failure_value, failure_limit;
} world_block;

/// A kind of block that the state has, and how many of it there are: blocks.inl.
typedef struct entry_block {
    bits id, count; // as in blocks.inl; blocks of that kind
} entry_block;

#define STATE_ROTORS (VY_BASIC_ONLY ? 4 : VY_ROTOR_CAP)

/// Of one drone.
typedef struct drone_block {
    body_state body;
    real rotor_speed[STATE_ROTORS];
    imu_state imu;
    mocap_state mocap;
    estimator_state estimate;
    control_state control;
#if !VY_BASIC_ONLY
    turbulence_state turbulence;
    vec3 gust; // [m/s] turbulence now
#endif
    bits effects, effect_changes; // computed, one bit each; decisions of the policy that changed
    bits rung, imu_tick, mocap_tick;
    bits clamps;                // motor commands clamped so far
    bits exceeded[LIMIT_COUNT]; // steps each safety limit has been exceeded without a break
} drone_block;

#if VY_BASIC_ONLY
VY_FN turbulence_state *drone_turbulence(drone_block *) { return NULL; } // never asked for
VY_FN vec3 drone_gust(const drone_block *) { return vec3_zero(); }
VY_FN vec3 *drone_gust_out(drone_block *) { return NULL; }
#else
VY_FN turbulence_state *drone_turbulence(drone_block *d) { return &d->turbulence; }
VY_FN vec3 drone_gust(const drone_block *d) { return d->gust; }
VY_FN vec3 *drone_gust_out(drone_block *d) { return &d->gust; }
#endif

/// Of a body that is no drone: a crate, a load, a link. With its account and its contact totals it takes at
/// most 400 bytes.
typedef struct body_block {
    body_state body;
    turbulence_state turbulence;
    vec3 gust;
    bits effects, effect_changes;
} body_block;

/// Of such a body, in a world with wakes.
typedef struct body_wake_block {
    vec3 downwash; // [m/s] of the air in others' wakes, world
} body_wake_block;

/// Of one joint.
typedef struct joint_block {
    bits active; // rows of a cable or limit that act now, one bit each
} joint_block;

/// Of one joint, in worlds with gears.
typedef struct gear_block {
    real angle[2]; // of the line between its anchors, seen from a and from b, all turns counted
} gear_block;

/// Of one band-limited disturbance and one drone or body it acts on.
typedef struct noise_block {
    vec3 force, torque; // filtered noise of unit variance
} noise_block;

/// Of a drone with more than the basic IMU and basic motion capture. Each of its sensors has a block of its
/// own, in the order of the drones that have one: sensors/sensors.h.
typedef struct sensor_suite_block {
    bits identity; // drone and sensors: a snapshot must match
} sensor_suite_block;

/// How many values stand before the whole numbers of a drone_block: all of them must be finite.
#define DRONE_REALS (offsetof(drone_block, effects) / sizeof(real))
/// Likewise of a body_block.
#define BODY_REALS (offsetof(body_block, effects) / sizeof(real))
/// How many of a drone's the plant writes.
#define PLANT_REALS (offsetof(drone_block, imu) / sizeof(real))

/// A stage that acts on the lanes of `active` alone saves the cells it is about to write, and afterwards
/// restores those of the other lanes. `size` is in bytes.
VY_FN void cells_save(mask active, const void *cells, void *saved, size_t size)
{
    if (!mask_all(active)) memcpy(saved, cells, size);
}

VY_FN void cells_restore(mask active, const void *saved, void *cells, size_t size)
{
    if (mask_all(active)) return;
#if VY_SINGLE // one lane, cells of two sizes
    memcpy(cells, saved, size);
#else
    for (size_t offset = 0; offset < size;
         offset += sizeof(bits)) { // cells are reals or whole numbers: copied as bytes
        bits written, saved_cell;
        memcpy(&written, (const unsigned char *)cells + offset, sizeof written);
        memcpy(&saved_cell, (const unsigned char *)saved + offset, sizeof saved_cell);
        written = bits_select(active, written, saved_cell);
        memcpy((unsigned char *)cells + offset, &written, sizeof written);
    }
#endif
}

/// What a field is. A list has one value per rotor, thruster or ray, or a number of values that is its own.
enum field_type {
    FIELD_NUMBER,
    FIELD_VEC3,
    FIELD_QUAT,
    FIELD_ROTORS,
    FIELD_THRUSTERS,
    FIELD_COMMANDS, // one per rotor, then one per thruster
    FIELD_RAYS,
    FIELD_LIST,
    FIELD_INTEGER, // this and all below: whole numbers
    FIELD_TICK,
    FIELD_FLAGS,
    FIELD_HASH
};

/// How many cells of a field of FIELDS_drone this machine's state has.
#if VY_BASIC_ONLY
VY_FN constexpr int starts_with(const char *text, const char *prefix)
{
    while (*prefix != '\0' && *text == *prefix) ++text, ++prefix;
    return *prefix == '\0';
}
VY_FN constexpr int state_cells(const char *member, enum field_type type, int count)
{
    if (starts_with(member, "control.indi") || starts_with(member, "turbulence") ||
        starts_with(member, "gust"))
        return 0;
    return type == FIELD_ROTORS || type == FIELD_COMMANDS ? STATE_ROTORS : count;
}
#define STATE_CELLS(member, type, count) (size_t) state_cells(member, type, count)
#else
#define STATE_CELLS(member, type, count) (size_t)(count)
#endif

/// One row of a FIELDS_ list.
typedef struct vy_field {
    const char *name, *unit, *text;
    enum field_type type;
    size_t offset; // bytes from the start of its block
    int count;     // values of 8 bytes
} vy_field;

VY_FN int field_is_integer(const vy_field *f) { return f->type >= FIELD_INTEGER; }

/// The blocks of a state, in order of memory.
enum block_kind {
#define BLOCK(id, name, list, member, count, text) BLOCK_##name,
#include "world/blocks.inl"
    BLOCK_KINDS,
    SENSORS_FIRST_BLOCK = BLOCK_imu_full + 1 // those of SENSORS, then filters
};

/// One row of blocks.inl.
typedef struct vy_block {
    uint64_t id;
    const char *name, *list, *text; // `list` is its name in differences
    size_t size;                    // [bytes]
    const vy_field *fields;         // in order of memory
    int field_count;
} vy_block;

extern const vy_block vy_blocks[BLOCK_KINDS];

/// How many blocks of each kind a state has.
typedef struct block_counts {
    uint32_t of[BLOCK_KINDS];
} block_counts;

/// Where the blocks of `kind` begin, in bytes from the start of a state of this machine; BLOCK_KINDS: where
/// it ends.
VY_FN size_t block_offset(const block_counts *counts, enum block_kind kind)
{
    size_t offset = 0;
#define BLOCK(id, name, list, member, count, text) \
    if (kind == BLOCK_##name) return offset;       \
    offset += counts->of[BLOCK_##name] * sizeof(name##_block);
#include "world/blocks.inl"
    return offset;
}

/// Complete `counts` with the head: one world, and an entry per kind present. 0 blocks are absent.
void vy_count_head(block_counts *counts);

/// Write the head's entries from `counts` into a state.
void vy_write_entries(const block_counts *counts, void *state);

/// How many blocks of `kind` the head of a state says there are; NULL: it does not name them.
uint64_t *vy_entry_count(void *state, enum block_kind kind);

/// The counts that the head of a state names. Returns 0 when it names unknown kinds, or others than `size`
/// bytes hold.
int vy_read_entries(const void *state, size_t size, block_counts *out);

/// The field `name` of a kind of block; NULL: it has none.
const vy_field *vy_find_field(enum block_kind kind, const char *name);

/// The name of a number, for world_fail(): index of the field that cell `cell` of a drone_block belongs to.
VY_FN int drone_field_at(size_t cell)
{
    size_t end = 0;
    int field = 0;
#define FIELD(block, member, type, count, unit, text)                            \
    if (cell < (end += STATE_CELLS(#member, FIELD_##type, count))) return field; \
    ++field;
    FIELDS_drone(FIELD, drone) return 0;
}

/// Likewise of a body_block.
VY_FN int body_field_at(size_t cell)
{
    size_t end = 0;
    int field = 0;
    FIELDS_body(FIELD, body)
#undef FIELD
        return 0;
}

/// A hash of `count` blocks of contacts that follow others of hash `previous_hash`: the same when there are
/// none.
uint64_t vy_hash_contacts(uint64_t previous_hash, const void *blocks, uint64_t count);

/// Hash of a world's whole state as it is saved, `size` bytes, without its chain.
uint64_t vy_state_hash(const void *state, size_t size);
