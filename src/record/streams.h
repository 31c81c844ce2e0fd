// streams.h - what a log of a run holds: topics, messages, and how they come from the manifest of state.
#pragma once
#include "record/protobuf.h"
#include "world/world_impl.h"

#define LOG_FORMAT         "2" // of the layout of a log; another one is refused
#define TOPIC_HASHES       "/world/hashes"
#define TOPIC_STATE        "/world/state"
#define TOPIC_REPLIES      "/replies"
#define TOPIC_EVENTS       "/events"
#define TOPIC_CONTACTS     "/contacts"
#define METADATA_RUN       "volery"
#define METADATA_RESULT    "result"
#define STATUS_CUT_OFF     "cut off" // of a result that a recovered log was given
#define SCENARIO_NAME      "scenario.yaml"
#define DRONE_STREAM_COUNT 16

/// Fields of the messages below, by number.
enum { HASHES_FIRST_TICK = 1, HASHES_LIST = 2 };
enum { STATE_TICK = 1, STATE_HASH = 2, STATE_BYTES = 3, STATE_CHECK = 4 };

extern const vy_pb_message vy_message_vec3;
extern const vy_pb_message vy_message_hashes;
extern const vy_pb_message vy_message_state;
extern const vy_pb_message vy_message_reply;
extern const vy_pb_message vy_message_geodetic; ///< its cells are a vy_geodetic
extern const vy_pb_message vy_message_joint;    ///< its cells are joint_cells
extern const vy_pb_message vy_message_contact;  ///< its cells are contact_cells
extern const char vy_event_schema[];            ///< JSON Schema of an event

/// A contact in cells, as volery.Contact lies in memory.
typedef struct contact_cells {
    uint64_t tick, phase, drone, other, points;
    vy_vec3 point, normal, impulse;
    double speed, severity;
} contact_cells;

contact_cells vy_contact_pack(uint64_t tick, uint32_t drone_count, const vy_contact_event *event);

/// A joint in cells, as volery.Joint lies in memory.
typedef struct joint_cells {
    double length, angle, rate, tension;
    vy_vec3 force, torque;
    double active;
} joint_cells;

joint_cells vy_joint_pack(const vy_joint_state *state);
/// The unit of a field of volery.Joint.
const char *vy_joint_unit(const char *field);

/// A reply in cells, as volery.Reply lies in memory.
typedef struct reply_cells {
    uint64_t tick, drone, rung;
    double motors[VY_ROTOR_CAP];
    double thrust;
    vy_vec3 torque, rates;
    vy_quat attitude;
    uint64_t verdict, detail;
    vy_vec3 velocity;
    double yaw_rate, throttle, strafe, vertical, yaw;
    uint64_t drop;
    uint64_t check; ///< hash of all the others: a reply that was changed later is found by itself
} reply_cells;

reply_cells vy_reply_pack(uint64_t tick, uint32_t drone, const vy_intent *intent);
vy_intent vy_reply_unpack(const reply_cells *cells);
uint64_t vy_reply_check(const reply_cells *cells); ///< what `check` must be

enum {
    STREAM_IMU,
    STREAM_MOCAP,
    STREAM_ESTIMATE,
    STREAM_CONTROL,
    STREAM_BATTERY,
    STREAM_TOUCH,
    STREAM_THRUSTERS,
    STREAM_KIT, // the sensors of a kit, in their order
    STREAM_TRUTH = STREAM_KIT + KIT_OWN
};

/// One stream of a drone: a run of consecutive fields of its drone_block or another block it has.
typedef struct drone_stream {
    const char *name;         ///< last part of the topic
    enum block_kind block;    ///< streams of another one than BLOCK_drone may be absent
    const char *first, *last; ///< fields of the manifest
    const char *text;         ///< for the reference page
} drone_stream;

extern const drone_stream vy_drone_streams[DRONE_STREAM_COUNT];

/// The streams' messages, made from the manifest.
typedef struct stream_layout {
    vy_pb_message message;
    vy_pb_field fields[16];
    char names[16][24];
    char full_name[40];
    size_t offset; ///< of the first cell in its block
    size_t cells;
    const vy_field *manifest; ///< the first field, others follow
    int field_count;
    int counts[16]; ///< values of each field
} stream_layout;

/// Lists come last in their streams, so a drone's messages end with what it has: `length` rotors in the
/// stream truth, rotors and thrusters in control, thrusters in theirs.
void vy_stream_layout(int stream, int length, stream_layout *out);

/// Position of the record in ns of simulated time.
uint64_t vy_log_time(uint64_t tick, double dt);

/// The component `index` of a field of `count` values: ".x", ".w", "[3]" or nothing.
void vy_component_name(int count, int index, char out[12]);
