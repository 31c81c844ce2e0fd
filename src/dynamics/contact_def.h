// contact_def.h - contacts as a component: their scenario rows, and what a world keeps of them from step to
// step.
#pragma once
#include "base/schema.h"
#include "volery/contacts.h"

/// A contact has ended once it had no impulse for so long. What slides or tips over an edge is lifted by a
/// few micrometres in a step, and has an impulse in every second or third one alone.
#define CONTACT_DEBOUNCE_TIME 0.01 // [s]
enum { CONTACT_DEBOUNCE_MAX = 4 };

/// Totals of the contacts of a drone or body. Every one has them in a world with contacts.
typedef struct contact_totals_block {
    uint64_t now;            // contacts with an impulse in the last step
    uint64_t count, crashes; // since the start
    // Contacts without an impulse for at most CONTACT_DEBOUNCE_TIME, the latest first: by whom, its number +
    // 1, and in the low half since which tick. Of more than these the oldest are dropped.
    uint64_t paused[CONTACT_DEBOUNCE_MAX];
    struct {
        double impulse[3], angular[3]; // [N s] world, [N m s] body: in the last step
        double speed;                  // [m/s] largest at which a contact closed
        double impulse_max;            // [N s] largest of one contact in one step
        double total;                  // [N s] of all contacts and steps
    } contact;
} contact_totals_block;

#define FIELDS_contact_totals(F, block)                                                        \
    F(block, now, INTEGER, 1, "", "contacts with an impulse in the last step")                 \
    F(block, count, INTEGER, 1, "", "contacts begun since the start")                          \
    F(block, crashes, INTEGER, 1, "", "impacts beyond its limits since the start")             \
    F(block, paused, INTEGER, CONTACT_DEBOUNCE_MAX, "",                                        \
      "no impulse for at most 10 ms: by whom, its number + 1, and in the low half since when") \
    F(block, contact.impulse, VEC3, 3, "N s", "of all contacts in the last step, world")       \
    F(block, contact.angular, VEC3, 3, "N m s", "the same about the centre of mass, body")     \
    F(block, contact.speed, NUMBER, 1, "m/s", "largest at which a contact closed")             \
    F(block, contact.impulse_max, NUMBER, 1, "N s", "largest of one contact in one step")      \
    F(block, contact.total, NUMBER, 1, "N s", "of all contacts and steps")

enum { CONTACT_CELLS = 26 }; // numbers of a contact_block

/// The cache of a contact: contact_cache of contacts.h, as cells.
typedef struct contact_block {
    uint64_t pair, points;
    double values[CONTACT_CELLS];
} contact_block;

#define FIELDS_contact(F, block)                                                   \
    F(block, pair, INTEGER, 1, "",                                                 \
      "numbers of the pair: drones, bodies, obstacles; lower one in the low half") \
    F(block, points, INTEGER, 1, "",                                               \
      "points with an impulse; in the high half which contact of the pair it is")  \
    F(block, values, LIST, CONTACT_CELLS, "",                                      \
      "anchors, normal impulses, friction, angular impulse, normal: the warm start")

// Rows of a vy_contacts_def that lies at `at_` of a `type_`.
#define ROWS_contacts(type_, at_)                                                                          \
    ROW("solver", CHOICE, type_, at_ solver, CHOICES(vy_contact_solvers), .help = "how"),                  \
        ROW("substep", NUMBER, type_, at_ substep, .unit = "s", .range = POSITIVE,                         \
            .help = "soft: the longest; at least a step over 1024"),                                       \
        ROW("slop", NUMBER, type_, at_ slop, .unit = "m", .range = AT_LEAST_0,                             \
            .help = "overlap that is left alone"),                                                         \
        ROW("push_speed", NUMBER, type_, at_ push_speed, .unit = "m/s", .range = POSITIVE,                 \
            .help = "soft: overlaps end at most this fast"),                                               \
        ROW("correction", NUMBER, type_, at_ correction, .range = WITHIN(0.0, 1.0),                        \
            .help = "impulse: part of the overlap that a step moves away"),                                \
        ROW("restitution_speed", NUMBER, type_, at_ restitution_speed, .unit = "m/s", .range = AT_LEAST_0, \
            .help = "slower impacts do not bounce; the speed that gravity adds in two steps is added"),

extern const vy_choice vy_contact_solvers[2];
/// The rows of a vy_material.
extern const vy_schema_table vy_table_material;

/// Sub-steps of a step at most: more would take as long as a hang.
#define CONTACT_SUBSTEPS_MAX 1024
/// Whether a def can be used with steps of `dt` seconds.
vy_status vy_contacts_check(const vy_contacts_def *def, double dt, vy_error *err);
vy_status vy_material_check(const vy_material *material, vy_error *err);
