// schema_rows.h - the tables of schema.c and schema_*.c.
#pragma once
#include "base/schema_rows.h"
#include "scenario/schema.h"

/// The table of vy_environment_def, under the key `world`.
extern const vy_schema_table vy_world_table;

/// The table of vy_controller_def, under the key `controller`.
extern const vy_schema_table vy_controller_table;

/// What a drone measures, under the key `sensors` of a vy_scenario_drone.
extern const vy_schema_table vy_sensor_table;

/// The table of vy_scenario_fault, under the key `faults`.
extern const vy_schema_table vy_fault_table;
/// The tables of vy_scenario_disturbance, under the key `disturbances`, and of vy_gust_def, under `gusts`.
extern const vy_schema_table vy_disturbance_table, vy_gust_table;
/// Bodies without rotors, what joins them, and how what is open at the start closes.
extern const vy_schema_table vy_body_table, vy_joint_table, vy_closing_table, vy_payload_table;
/// What can be hit: of drones and bodies, of obstacles and terrain; when an impact is a crash; how contacts
/// are solved.
extern const vy_schema_table vy_shape_table, vy_obstacle_table, vy_terrain_table, vy_contacts_table;
