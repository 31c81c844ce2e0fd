// sleep_def.h - sleep as a component: its scenario rows, and what a world keeps of it from step to step.
#pragma once
#include "dynamics/contact_def.h"

/// How long a drone or body has been slow, or the island it sleeps with: body_sleep of sleep.h, as cells.
/// Every drone and body has one in a world whose bodies may sleep.
typedef struct sleep_block {
    uint64_t ticks, island;
    double acceleration[3], torque[3];
} sleep_block;

#define FIELDS_sleep(F, block)                                                                    \
    F(block, ticks, INTEGER, 1, "", "steps below sleep_speed; asleep: 1 from its second step on") \
    F(block, island, INTEGER, 1, "", "0: awake; else those of one number sleep together")         \
    F(block, acceleration, VEC3, 3, "m/s^2", "asleep: by forces in its first step, world")        \
    F(block, torque, VEC3, 3, "N m", "likewise, body")

/// The contact cache of a pair that sleeps.
typedef contact_block sleeping_contact_block;

#define FIELDS_sleeping_contact(F, block) FIELDS_contact(F, block)

// The key `sleep` of a vy_contacts_def that is the member `member_` of a `type_`.
#define ROW_sleep(type_, member_)                                                                 \
    ROW("sleep", OBJECT, type_, member_, .table = &vy_table_sleep, .flags = VY_ROW_HASHED_IF_SET, \
        .help = "bodies at rest sleep"),

/// The object `sleep` of a scenario: the numbers of a vy_contacts_def that are about sleep.
extern const vy_schema_table vy_table_sleep;

vy_status vy_sleep_check(const vy_contacts_def *def, vy_error *err);
