// contact_def.c - contacts and surfaces as they are declared: defaults, scenario rows, checks.
#include "dynamics/contact_def.h"
#include "base/fail.h"
#include "base/pool.h"
#include "base/schema_rows.h"
#include "dynamics/sleep_def.h"

enum { MAX_RESERVE = 1 << 24 };

_Static_assert(sizeof(vy_contact_solver) == sizeof(int), "choices are read and written as int");

const vy_choice vy_contact_solvers[2] = {
    CHOICE("soft", VY_CONTACT_SOLVER_SOFT, "sub-steps of soft contacts, friction by Coulomb's cone"),
    CHOICE("impulse", VY_CONTACT_SOLVER_IMPULSE,
           "one impulse per contact, then part of the overlap is moved away"),
};
static const vy_schema_row contacts_rows[] = {ROWS_contacts(vy_contacts_def, )};
static const vy_schema_table contacts_table = {.size = sizeof(vy_contacts_def), ROWS(contacts_rows)};

static const vy_schema_row material_rows[] = {
    ROW("friction", NUMBER, vy_material, friction, .range = AT_LEAST_0, .help = "Coulomb's coefficient"),
    ROW("restitution", NUMBER, vy_material, restitution, .range = WITHIN(0.0, 1.0),
        .help = "speed after an impact over speed before"),
    ROW("rolling", NUMBER, vy_material, rolling, .unit = "m", .range = AT_LEAST_0,
        .help = "torque against rolling over normal force"),
    ROW("spinning", NUMBER, vy_material, spinning, .unit = "m", .range = AT_LEAST_0,
        .help = "torque against spinning about the normal over normal force"),
};
const vy_schema_table vy_table_material = {
    .title = "Material",
    .help = "A surface. Two that meet combine by the geometric mean of each number.",
    .size = sizeof(vy_material),
    ROWS(material_rows)};

vy_material vy_default_material(void) { return (vy_material){.friction = 0.5}; }

vy_contacts_def vy_default_contacts_def(void)
{
    return (vy_contacts_def){.solver = VY_CONTACT_SOLVER_SOFT,
                             .substep = 1.0 / 240.0,
                             .slop = 1e-4,
                             .push_speed = 3.0,
                             .correction = 0.8,
                             .restitution_speed = 0.01,
                             .threads = 1,
                             .sleep_speed = 0.05};
}

vy_contacts_def vy_impulse_contacts_def(void)
{
    vy_contacts_def def = vy_default_contacts_def();
    def.solver = VY_CONTACT_SOLVER_IMPULSE;
    def.slop = 0.01;
    return def;
}

vy_status vy_contacts_check(const vy_contacts_def *def, double dt, vy_error *err)
{
    if (!def->on) return VY_OK;
    if (def->reserve > MAX_RESERVE)
        return vy_fail(err, VY_BAD_VALUE, "contacts.reserve must be at most %d, got %u", MAX_RESERVE,
                       def->reserve);
    if (def->threads > VY_POOL_MAX_THREADS)
        return vy_fail(err, VY_BAD_VALUE, "contacts.threads must be at most %d, got %u", VY_POOL_MAX_THREADS,
                       def->threads);
    const vy_status status = vy_check_rows(&contacts_table, "contacts", def, err);
    if (status == VY_OK && def->substep * CONTACT_SUBSTEPS_MAX < dt)
        return vy_fail(err, VY_BAD_VALUE, "contacts.substep must be at least a step over %d, %g s, got %g",
                       CONTACT_SUBSTEPS_MAX, dt / CONTACT_SUBSTEPS_MAX, def->substep);
    return status == VY_OK ? vy_sleep_check(def, err) : status;
}

vy_status vy_material_check(const vy_material *material, vy_error *err)
{
    return vy_check_rows(&vy_table_material, "material", material, err);
}
