// payload.h - a load that a drone carries: what a world remembers of it, over `real`, its constants and
// scenario rows.
#pragma once
#include "base/schema.h"
#include "base/vec.h"
#include "volery/payload.h"

enum { PAYLOAD_FREE, PAYLOAD_CARRIED, PAYLOAD_RELEASED }; // the last: dropped in the next step

/// Of one payload.
typedef struct payload_block {
    bits carried;  // one of the above
    bits missed;   // 1: it was out of reach
    vec3 position; // [m] of its centre of mass, from the carrier's own
    quat rotation; // load to carrier
} payload_block;

#define FIELDS_payload(F, block)                                                                      \
    F(block, carried, INTEGER, 1, "",                                                                 \
      "1: the load is carried; 2: its carrier's controller lets it go in the next step")              \
    F(block, missed, INTEGER, 1, "", "1: it was out of reach when it was to be taken up")             \
    F(block, position, VEC3, 3, "m", "of its centre of mass, from the carrier's own, carrier's axes") \
    F(block, rotation, QUAT, 4, "", "load to carrier: w, x, y, z")

// Rows of a vy_payload_def that lies at `at_` of a `type_`.
#define ROWS_payload(type_, at_)                                                                             \
    ROW("position", VECTOR, type_, at_ position, .size = 3, .unit = "m", .range = ANY,                       \
        .help = "of the load's centre of mass, in the carrier's frame"),                                     \
        ROW("attitude", ROTATION, type_, at_ attitude, .unit = "rad", .range = ANY,                          \
            .help = "load to carrier: [w, x, y, z] or {roll, pitch, yaw}"),                                  \
        ROW("attach", NUMBER, type_, at_ attach, .unit = "s", .range = AT_LEAST_0,                           \
            .help = "when it is taken up, if it is within `reach`; 0: carried from the start, wherever the " \
                    "body "                                                                                  \
                    "was put"),                                                                              \
        ROW("drop", NUMBER, type_, at_ drop, .unit = "s", .range = POSITIVE, .keyword = "never",             \
            .keyword_value = (double)INFINITY, .help = "when it is let go"),                                 \
        ROW("reach", NUMBER, type_, at_ reach, .unit = "m", .range = AT_LEAST_0,                             \
            .help = "how far from `position` it may be to be taken up; it stays where it is then"),          \
        ROW("release", CHOICE, type_, at_ release, CHOICES(vy_payload_releases),                             \
            .help = "who may let it go"),

/// A load and the drone that carries it.
typedef struct payload_model {
    uint32_t carrier;      // a drone
    uint32_t load;         // a drone or body, by number
    uint64_t attach, drop; // ticks
    vec3 position;         // [m] from the carrier's own centre of mass, where it is to be taken up
    double reach;          // [m]
    int release;           // the carrier's controller may let it go
    int bit;               // of vy_intent.drop: its number among the carrier's payloads
    int has_changed;       // it was attached or dropped in this step
} payload_model;

struct vy_model;
extern const vy_choice vy_payload_releases[2];

/// At the start of a step: attach and drop what is due. At its end: loads move with their carriers.
void vy_payload_stage(vy_world *world);
void vy_payload_update_poses(vy_world *world);
/// Re-evaluate the negligibility policy for what was attached or dropped in this step. Returns whether
/// something was.
int vy_payload_reevaluate_nap(vy_world *world);
/// Whether the controller of drone `index` may drop all payloads of the bits in `drop`.
int vy_payload_may_drop(const struct vy_model *m, uint32_t index, uint64_t drop);
/// After the controllers: the payloads that they release are dropped at the start of the next step.
void vy_payload_release(const struct vy_model *m, uint64_t *release_requests, payload_block *payloads);
/// Fit the constants of carriers to a restored state.
void vy_payload_sync(vy_world *world);
