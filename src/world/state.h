// state.h - everything of a world that changes, as blocks of 8-byte cells without pointers, over `real`.
//
// In a world a cell is one value. In a batch it is one value for each of the worlds that lie side by side:
// the same blocks with wider cells, so that the same stages serve both.
#pragma once
#include "control/control.h"
#include "environment/environment.h"
#include "environment/nap.h"
#include "equations/battery.h"
#include "sensors/gps.h"
#include "sensors/imu.h"
#include "sensors/imu_full.h"
#include "sensors/mocap.h"
#include "volery/world.h"
#include "world/fields.h"
#include <stddef.h>

enum { LIMIT_TILT, LIMIT_RATE, LIMIT_SPEED, LIMIT_HEIGHT, LIMIT_DISTANCE, LIMIT_COUNT };
/// Limits of which few drones have one.
enum { FENCE_FALL, FENCE_GROUND, FENCE_GEOFENCE, FENCE_COUNT };

typedef struct world_block {
    bits chain, tick;
    bits integrator;  // a vy_integrator: the present one
    bits block_kinds; // entries that follow
    bits failure_reason, failure_tick, failure_drone, failure_field;
    real failure_value, failure_limit;
} world_block;

/// A kind of block that the state has: blocks.inl.
typedef struct entry_block {
    bits id, count;
} entry_block;

typedef struct drone_block {
    body_state body;
    real rotor_speed[VY_ROTOR_CAP];
    imu_state imu;
    mocap_state mocap;
    estimator_state estimate;
    control_state control;
    turbulence_state turbulence;
    vec3 gust;
    bits effects, effect_changes;
    bits rung, imu_tick, mocap_tick, clamps;
    bits exceeded[LIMIT_COUNT];
} drone_block;

/// Of one joint.
typedef struct joint_block {
    bits active;
} joint_block;

enum { PAYLOAD_FREE, PAYLOAD_CARRIED, PAYLOAD_RELEASED }; // the last: let go in the next step

/// Of one payload.
typedef struct payload_block {
    bits carried; // one of the above
    bits missed;  // 1: it was out of reach
    vec3 place;   // [m] of its centre of mass, from the carrier's own
    quat turn;    // load to carrier
} payload_block;

typedef struct noise_block {
    vec3 force, torque;
} noise_block;

enum { LINE_CELLS = 64 };

/// One place of a delay line: a sample or a reply on its way, and when it was made.
typedef struct line_block {
    uint64_t tick;
    double values[LINE_CELLS];
} line_block;

/// What a vehicle has beside plain rotors. Every drone has one when one of them needs it, or when wakes are
/// declared; none has one otherwise.
typedef struct gear_block {
    rotor_memory memory;
    battery_state battery;
} gear_block;

/// Every drone has one when one of them has thrusters; none has one otherwise.
typedef thruster_state thruster_block;

/// Totals of the contacts of a drone. Every drone has one in a world with contacts.
typedef struct contact_totals_block {
    uint64_t now;            // contacts with an impulse in the last step
    uint64_t count, crashes; // since the start
    struct {
        double impulse[3], angular[3]; // [N s] world, [N m s] body: in the last step
        double speed;                  // [m/s] largest at which a contact closed
        double push;                   // [N s] largest of one contact in one step
        double total;                  // [N s] of all contacts and steps
    } contact;
} contact_totals_block;

/// How many contacts follow that are in use.
typedef struct contacts_block {
    uint64_t count;
} contacts_block;

enum { CONTACT_CELLS = 23 };

/// The contact cache of a pair: contact_cache of dynamics/contacts.h, as cells.
typedef struct contact_block {
    uint64_t pair, points;
    double values[CONTACT_CELLS];
} contact_block;

typedef contacts_block sleeping_contacts_block;
typedef contact_block sleeping_contact_block;

/// How long a drone or body has been slow, or the island it sleeps with: body_sleep of dynamics/sleep.h, as
/// cells. Every drone has one in a world whose bodies may sleep; pairs that sleep follow, as
/// sleeping_contacts_block and sleeping_contact_block.
typedef struct sleep_block {
    uint64_t ticks, island;
    double acceleration[3], torque[3];
} sleep_block;

/// What a drone has whose vehicle declares a drive, or whose safety has limits that few have. Every drone has
/// one when one of them needs it; none has one otherwise.
typedef struct guard_block {
    control_state control;                        // of the failsafe: the controller's own stays as it is
    vec3 place;                                   // [m] where the failsafe took over
    real heading;                                 // [rad] likewise
    real asked[VY_ROTOR_CAP], told[VY_ROTOR_CAP]; // motor commands before and after the limits
    bits failsafe, since, cause, verdict, detail, handovers;
    bits fresh; // tick of the last intent that arrived
    bits still; // steps that a landing drone has been held
    bits lost;  // rotors, one bit each
    bits slow[VY_ROTOR_CAP];
    bits acted[VY_DRIVE_LIMIT_COUNT];
    bits exceeded[FENCE_COUNT];
} guard_block;

/// Sensors beside the plain IMU and plain motion capture. Those up to KIT_OWN have samples of their own; the
/// other two write those of the drone.
enum kit_sensor {
    KIT_BARO,
    KIT_MAG,
    KIT_GPS,
    KIT_RANGE,
    KIT_FLOW,
    KIT_POWER,
    KIT_ESC,
    KIT_LIDAR,
    KIT_OWN,
    KIT_IMU = KIT_OWN,
    KIT_MOCAP,
    KIT_SENSORS
};

/// Of a drone that carries such sensors: what they remember, then their last samples.
typedef struct kit_block {
    bits identity; // whose it is and what it carries: a snapshot must fit
    imu_full_state imu;
    real baro_wander;
    vec3 gps_wander;
    struct {
        real pressure, altitude;
    } baro;
    struct {
        vec3 field;
    } mag;
    gps_reading gps;
    struct {
        real distance;
    } range;
    struct {
        real x, y, quality;
    } flow;
    struct {
        real voltage, current;
    } power;
    struct {
        real speed[VY_ROTOR_CAP];
    } esc;
    struct {
        real distance[VY_RAY_CAP];
    } lidar;
    bits ticks[KIT_OWN]; // when each sample arrived
} kit_block;

enum { FILTER_STATES = 15, FILTER_CELLS = FILTER_STATES * (FILTER_STATES + 1) / 2 };

/// How sure a Kalman filter is: the upper triangle of the covariance of position, velocity, attitude,
/// gyroscope bias and accelerometer bias, row by row.
typedef struct filter_block {
    real covariance[FILTER_CELLS];
    real zero;   // [m] what the barometer is too high by
    bits zeroed; // 1: that is known
} filter_block;

/// Of a filter with a gate: samples it did not believe.
typedef struct gate_block {
    bits rejected[VY_GATED_COUNT];
    bits since[VY_GATED_COUNT]; // tick of the first of an unbroken row; 0: none
} gate_block;

/// A number on its way through a delayed sensor: for each place of its line the tick, then the sample.
typedef struct delay_block {
    real value;
} delay_block;

/// What is kept per drone but changes only when the negligibility policy is evaluated: hashed then.
typedef nap_state nap_account_block;

/// How many values stand before the whole numbers of a drone_block: all of them must be finite.
#define DRONE_REALS (offsetof(drone_block, effects) / sizeof(real))
/// How many of those the plant writes.
#define PLANT_REALS (offsetof(drone_block, imu) / sizeof(real))

/// A stage that acts on the lanes of `who` alone keeps the cells it is about to write, and afterwards gives
/// the other lanes theirs back. `size` is in bytes.
VY_FN void cells_keep(mask who, const void *cells, void *kept, size_t size)
{
    if (!mask_all(who)) memcpy(kept, cells, size);
}

VY_FN void cells_give_back(mask who, const void *kept, void *cells, size_t size)
{
    if (mask_all(who)) return;
#if VY_SINGLE // one lane, cells of two sizes
    memcpy(cells, kept, size);
#else
    for (size_t at = 0; at < size; at += sizeof(bits)) { // cells are reals or whole numbers: copied as bytes
        bits now, before;
        memcpy(&now, (const unsigned char *)cells + at, sizeof now);
        memcpy(&before, (const unsigned char *)kept + at, sizeof before);
        now = bits_select(who, now, before);
        memcpy((unsigned char *)cells + at, &now, sizeof now);
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
    FIELD_WHOLE, // this and all below: whole numbers
    FIELD_TICK,
    FIELD_FLAGS,
    FIELD_HASH
};

/// One row of fields.h.
typedef struct vy_field {
    const char *name, *unit, *text;
    enum field_type type;
    size_t offset; // bytes from the start of its block
    int count;     // values of 8 bytes
} vy_field;

VY_FN int field_is_whole(const vy_field *f) { return f->type >= FIELD_WHOLE; }

/// The blocks of a state, in order of memory.
enum block_kind {
#define BLOCK(id, name, list, text) BLOCK_##name,
#include "world/blocks.inl"
    BLOCK_KINDS
};

/// One row of blocks.inl.
typedef struct vy_block {
    uint64_t id;
    const char *name, *list, *text;
    size_t size;            // [bytes]
    const vy_field *fields; // in order of memory
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
    size_t at = 0;
#define BLOCK(id, name, list, text)      \
    if (kind == BLOCK_##name) return at; \
    at += counts->of[BLOCK_##name] * sizeof(name##_block);
#include "world/blocks.inl"
    return at;
}

/// Complete `counts` with the head: one world, and an entry per kind present. 0 blocks are absent.
void vy_count_head(block_counts *counts);

/// Write the head's entries from `counts` into a state.
void vy_write_entries(const block_counts *counts, void *state);

/// The counts that the head of a state names. Returns 0 when it names unknown kinds, or others than `size`
/// bytes hold.
int vy_read_entries(const void *state, size_t size, block_counts *out);

/// The field `name` of a kind of block; NULL: it has none.
const vy_field *vy_find_field(enum block_kind kind, const char *name);

/// The name of a number, for world_fail(): index of the field that cell `cell` of a drone_block belongs to.
VY_FN int drone_field_at(size_t cell)
{
    size_t at = 0;
    int field = 0;
#define FIELD(block, member, type, count, unit, text) \
    if (cell < (at += (count))) return field;         \
    ++field;
    FIELDS_drone(FIELD, drone)
#undef FIELD
        return 0;
}

/// Hash of a world's whole state, `size` bytes, without its chain.
uint64_t vy_state_hash(const void *state, size_t size);
