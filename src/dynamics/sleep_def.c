// sleep_def.c - sleep as it is declared: scenario rows and check.
#include "dynamics/sleep_def.h"
#include "base/schema_rows.h"

static const vy_schema_row sleep_rows[] = {
    ROW("after", NUMBER, vy_contacts_def, time_to_sleep, .unit = "s", .range = WITHIN(0.0, 1e9),
        .keyword = "never", .help = "so long all bodies that touch or are joined have been slower than this"),
    ROW("speed", NUMBER, vy_contacts_def, sleep_speed, .unit = "m/s", .range = POSITIVE,
        .help = "of the centre of mass plus that of the surface by rotation"),
};
const vy_schema_table vy_table_sleep = {
    .title = "Sleep",
    .help = "Bodies without rotors that have come to rest are left alone until something happens to them: "
            "docs/contacts.md.",
    .size = sizeof(vy_contacts_def),
    ROWS(sleep_rows)};

vy_status vy_sleep_check(const vy_contacts_def *def, vy_error *err)
{
    if (def->time_to_sleep == 0.0) return VY_OK; // never
    return vy_check_rows(&vy_table_sleep, "contacts.sleep", def, err);
}
