// streams.h - what a log of a run holds: topics, messages, and how they follow from the lists of state
// fields.
#pragma once
#include "control/reply.h"
#include "record/protobuf.h"
#include "world/world_impl.h"

#define LOG_FORMAT         "3" // of the layout of a log; another one is refused
#define TOPIC_HASHES       "/world/hashes"
#define TOPIC_STATE        "/world/state"
#define TOPIC_REPLIES      "/replies"
#define TOPIC_EVENTS       "/events"
#define TOPIC_CONTACTS     "/contacts"
#define TOPIC_LOG          "/log" // the events, for people
#define TOPIC_PROOF        "/proof"
#define METADATA_RUN       "volery"
#define METADATA_RESULT    "result"
#define METADATA_SIGNATURE "signature"
#define STATUS_CUT_OFF     "cut off" // of a result that a recovered log was given
#define SCENARIO_NAME      "scenario.yaml"

/// Fields of the messages below, by number.
enum { HASHES_FIRST_TICK = 1, HASHES_LIST = 2 };
enum { STATE_TICK = 1, STATE_HASH = 2, STATE_BYTES = 3, STATE_CHECK = 4 };
enum { REPLY_TICK = 1, REPLY_DRONE = 2, REPLY_CHECK = 17 }; // the check of the other fields
enum { EVENT_TICK = 1, EVENT_TIME = 2, EVENT_KIND = 3, EVENT_DRONE = 4, EVENT_TEXT = 5, EVENT_NOTE = 6 };
enum { PROOF_MESSAGES = 1, PROOF_DIGEST = 2 };

extern const vy_pb_message vy_message_vec3;
extern const vy_pb_message vy_message_hashes;
extern const vy_pb_message vy_message_state;
extern const vy_pb_message vy_message_reply;
extern const vy_pb_message vy_message_joint;   ///< its cells are joint_cells
extern const vy_pb_message vy_message_contact; ///< its cells are contact_cells
extern const vy_pb_message vy_message_event;   ///< what happened, in words
extern const vy_pb_message vy_message_proof;   ///< the digest of what was written before it

/// A contact in cells, as volery.Contact lies in memory.
typedef struct contact_cells {
    uint64_t tick, phase, body, other, points;
    vy_vec3 point, normal, impulse;
    double speed, severity;
} contact_cells;

contact_cells vy_contact_pack(uint64_t tick, uint32_t body_count, const vy_contact_event *event);

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
    uint64_t tick, drone;
    uint64_t values[REPLY_CELLS]; ///< of REPLY_FIELDS, in their order; numbers by their bits
    uint64_t check; ///< hash of all the others: a reply that was changed later is found by itself
} reply_cells;

reply_cells vy_reply_pack(uint64_t tick, uint32_t drone, const vy_intent *intent);
vy_intent vy_reply_unpack(const reply_cells *cells);
uint64_t vy_reply_checksum(const reply_cells *cells); ///< what `check` must be

typedef struct drone_stream drone_stream;

/// Does drone `i` have the data of the stream?
typedef int stream_has_fn(const vy_world *world, uint32_t i, const drone_stream *s);
/// Where it is now: the block of a stream of the manifest, or `cells`, filled, of one with fields of its own.
/// NULL: there is nothing to write now.
typedef const void *stream_read_fn(const vy_world *world, uint32_t i, const drone_stream *s, double *cells);
/// How long the list is that ends the stream.
typedef int stream_length_fn(const rotor_layout *layout);

/// One stream of a drone: a run of consecutive fields of a block of its state, or fields that are worked out.
struct drone_stream {
    const char *name; ///< last part of the topic
    const char *text; ///< for the reference page
    enum block_kind block;
    const char *first_field, *last_field; ///< fields of the manifest; NULL: it has its own, or a sample
    const vy_field *fields; ///< its own, without a gap; "air.density" is `density` in the message
    int field_count;
    int sensor;     ///< enum sensor_kind, where it has neither
    int has_bodies; ///< 1: of bodies, too
    int is_rate; ///< 1: `read` has STREAM_RATE_CELLS cells, and how they change per second since the record
                 ///< before is written
    stream_has_fn *has;       ///< NULL: every drone has it
    stream_length_fn *length; ///< NULL: as many as there are rotors
    stream_read_fn *read;
};

enum {
    DRONE_STREAM_CAP = 32, ///< streams there is room for
    STREAM_CELLS_CAP = 32, ///< cells of fields that are worked out
    STREAM_RATE_CELLS = 3, ///< cells of a stream whose rate of change is written
};
/// In the order in which they are written at one tick. The last is the truth, so that a reader of rows has
/// the rest by then.
extern const drone_stream vy_drone_streams[];
extern const int vy_drone_stream_count;
static inline int stream_is_truth(int stream) { return stream == vy_drone_stream_count - 1; }

/// The streams' messages, made from their fields.
typedef struct stream_layout {
    vy_pb_message message;
    vy_pb_field fields[16];
    char field_names[16][24];
    char full_name[40];
    size_t offset; ///< of the first cell in its block
    size_t cell_count;
    const vy_field *first_field; ///< others follow
    int field_count;
    int counts[16]; ///< values of each field
} stream_layout;

/// Lists come last in their streams, so a drone's messages end with what it has: `length` rotors in the
/// stream truth, rotors and thrusters in control, thrusters in theirs.
void vy_stream_layout(int stream, int length, stream_layout *out);

/// Position of the record in ns of simulated time.
uint64_t vy_log_time(uint64_t tick, double dt);

/// How the values of a field are told apart.
typedef enum component_names {
    COMPONENT_ONE,  ///< there is one
    COMPONENT_XYZ,  ///< .x, .y, .z
    COMPONENT_WXYZ, ///< .w, .x, .y, .z
    COMPONENT_LIST  ///< [0], [1], ..., however few there are
} component_names;

component_names vy_components_of(const vy_field *field);

/// The component `index` of a field: ".x", ".w", "[3]" or nothing.
void vy_component_name(component_names names, int index, char out[12]);
