// schema_rows.h - how the tables of schema.c and schema_*.c write their rows.
#pragma once
#include "scenario/schema.h"
#include <float.h>

// clang-format off
// Ranges. The first three end where base/limits.h has it for the row's unit.
#define ANY                  {-DBL_MAX, DBL_MAX, 0}
#define POSITIVE             {0.0, DBL_MAX, 1}
#define AT_LEAST_0           {0.0, DBL_MAX, 0}
#define WITHIN(min_, max_)   {min_, max_, 0}
#define ABOVE_TO(min_, max_) {min_, max_, 1}

// A row of struct `type_`. `field_` may reach into structs inside it.
#define ROW(key_, kind_, type_, field_, ...) \
    {.key = key_, .type = VY_TYPE_##kind_, .offset = offsetof(type_, field_), __VA_ARGS__}
// Keys of the same struct under one heading.
#define GROUP(key_, table_, ...) {.key = key_, .type = VY_TYPE_OBJECT, .table = table_, __VA_ARGS__}
#define CHOICE(name_, value_, help_) {.name = name_, .value = value_, .help = help_}
#define ROWS(list) .rows = list, .row_count = (int)(sizeof list / sizeof list[0])
#define CHOICES(list) .choices = list, .choice_count = (int)(sizeof list / sizeof list[0])
// Off or on.
#define SWITCH .choices = vy_switches, .choice_count = 2
// clang-format on

extern const vy_choice vy_switches[2];

/// The table of vy_environment_def, under the key `world`.
extern const vy_table vy_world_table;

/// The table of vy_controller_def, under the key `controller`.
extern const vy_table vy_controller_table;

/// What a drone measures, under the key `sensors` of a vy_scenario_drone.
extern const vy_table vy_sensor_table;

/// What makes an estimate of that, under the key `estimator`.
extern const vy_table vy_estimator_table;

/// The table of vy_scenario_fault, under the key `faults`.
extern const vy_table vy_fault_table;
/// A vehicle's drive, and the limits that end a run.
extern const vy_table vy_drive_table, vy_safety_table;
/// Bodies without rotors, and what joins them.
extern const vy_table vy_body_table, vy_joint_table, vy_payload_table;
/// What can be hit: of drones and bodies, of obstacles and terrain; when an impact is a crash; how contacts
/// are solved.
extern const vy_table vy_shape_table, vy_obstacle_table, vy_terrain_table, vy_crash_table, vy_contacts_table;
