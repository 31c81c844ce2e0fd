// schema.h - the one table of everything a scenario may say, in rows of base/schema.h.
#pragma once
#include "base/schema.h"
#include "volery/scenario.h"

extern const vy_schema_table vy_scenario_table, vy_vehicle_table;

/// Whether a drone with this vehicle has the quantity.
int vy_vehicle_has_quantity(const vy_vehicle_def *v, const vy_quantity *q);

/// A rotation as angles [rad].
typedef struct vy_angles {
    double roll, pitch, yaw;
} vy_angles;
extern const vy_schema_table vy_angles_table;

/// The rotor speed that stands for "as fast as hovering needs" until the scenario is resolved.
#define VY_HOVER_SPEED (-1.0)
/// In place of a latitude: the start is in world axes.
#define VY_NO_LATITUDE (-10.0)

/// The row's unit for this object, "" for none.
const char *vy_row_unit(const vy_schema_row *row, const void *object);

/// How many numbers the row's vector has for this object; the others are 0.
int vy_row_number_count(const vy_schema_row *row, const void *object);

/// The row in `table` with this key; NULL when there is none.
const vy_schema_row *vy_table_find(const vy_schema_table *table, const char *key);

/// Elements of a list, wherever they are, and their number.
const void *vy_list_elements(const vy_schema_row *row, const void *object, int *count);

/// What YAML calls a choice that says yes or no: `true` for yes and on, `false` for no and off, else NULL.
const char *vy_bool_word(const char *name);

/// A choice by its value; NULL when the value is none of them.
const vy_choice *vy_choice_of(const vy_schema_row *row, int value);
