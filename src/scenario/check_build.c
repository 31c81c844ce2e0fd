// check_build.c - what a world refuses when it is built: all of it, each at its place.
#include "scenario/build.h"
#include "scenario/check.h"
#include "control/control.h"
#include "control/trajectory.h"
#include "sensors/sensors.h"
#include "world/sensor_suite.h"
#include "world/world_def.h"

#define IS_VALID(r, variable) vy_reader_is_valid(r, &(variable), sizeof(variable))

// The parts of a drone that a world would refuse one after the other.
static void check_parts(vy_reader *r, const vy_scenario *s, const vy_scenario_drone *drone)
{
    vy_drone_def def = drone->def;
    const vy_controller_def *c = &drone->def.controller;
    vy_error err;
    vy_round_periods(&def, s->step);
    if (IS_VALID(r, drone->def.safety) && vy_check_safety_def(&def.safety, &err) != VY_OK)
        vy_reader_refuse(r, &drone->def.safety, "%s", err.text);
    if (!IS_VALID(r, *c)) return;
    if (vy_check_path_def(&def.controller.path, &err) != VY_OK)
        vy_reader_refuse(r, &c->path, "%s", err.text);
    else if (IS_VALID(r, drone->def.vehicle) &&
             vy_check_controller_def(&def.controller, &def.vehicle, &err) != VY_OK)
        vy_reader_refuse(r, c, "%s", err.text);
}

static int is_valid(void *self, const void *begin, size_t size)
{
    return vy_reader_is_valid(self, begin, size);
}

static void refuse(void *self, const void *culprit, const vy_error *err)
{
    vy_reader_refuse(self, culprit, "%s", err->text);
}

void vy_check_build(vy_reader *reader, const vy_scenario *s)
{
    if (!IS_VALID(reader, s->step)) return;
    for (int i = 0; i < s->drone_count; ++i) check_parts(reader, s, &s->drones[i]);
    if (!IS_VALID(reader, s->environment) || !IS_VALID(reader, s->contacts) || !IS_VALID(reader, s->closing))
        return;
    const build_check check = {.self = reader, .is_valid = is_valid, .refuse = refuse};
    vy_world *world;
    vy_error err;
    const vy_status status = vy_scenario_build_checked(s, &check, &world, &err);
    if (status == VY_NO_MEMORY) reader->no_memory = 1;
    if (status == VY_OK && reader->report->out->errors == 0) vy_check_starts(reader, s, world);
    vy_world_destroy(world);
}
