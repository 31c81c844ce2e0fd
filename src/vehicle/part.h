// part.h - what every optional part of a vehicle is made of; parts.h lists them.
//
// A part NAME is one pair of files.
// NAME.h, over `real`: its constants, its state with the fields, its equations where they are no effect.
// NAME.c: vy_part_NAME and vy_table_NAME, its tables, and how its constants are built.
#pragma once
#include "base/schema.h"
#include "volery/vehicle.h"

/// Tables of one part.
typedef struct vehicle_part {
    const char *name;             // its key in a vehicle
    const vy_schema_table *table; // of its def; NULL: it is a list, and checks its elements itself
    size_t offset;                // of its def in vy_vehicle_def
    const void *defaults;         // a def, of a vehicle without `base`; NULL: zeros
    /// Whether the vehicle has one; NULL: its figures are checked in any case.
    int (*is_declared)(const vy_vehicle_def *vehicle);
    /// What the rows do not say; NULL: nothing.
    vy_status (*check)(const vy_vehicle_def *vehicle, vy_error *err);
} vehicle_part;
