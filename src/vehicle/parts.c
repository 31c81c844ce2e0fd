// parts.c - the list of a vehicle's parts as a table, and their checks.
#include "vehicle/parts.h"
#include <stdio.h>

const vehicle_part *const vy_vehicle_parts[] = {
#define LIST(name, list, text) &vy_part_##name,
#define PART(name, text)       &vy_part_##name,
    VEHICLE_LISTS(LIST) VEHICLE_PARTS(PART)};
const int vy_vehicle_part_count = (int)(sizeof vy_vehicle_parts / sizeof vy_vehicle_parts[0]);

vy_status vy_check_parts(const vy_vehicle_def *vehicle, vy_error *err)
{
    vy_status status = VY_OK;
    for (int i = 0; i < vy_vehicle_part_count && status == VY_OK; ++i) {
        const vehicle_part *p = vy_vehicle_parts[i];
        char where[40];
        if (p->is_declared != NULL && !p->is_declared(vehicle)) continue;
        snprintf(where, sizeof where, "vehicle.%s", p->name);
        if (p->table != NULL) status = vy_check_rows(p->table, where, (const char *)vehicle + p->offset, err);
        if (status == VY_OK && p->check != NULL) status = p->check(vehicle, err);
    }
    return status;
}
