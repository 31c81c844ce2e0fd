// safety.c - what ends a run, limits and crashes: scenario keys, defaults, checks.
#include "base/fail.h"
#include "base/schema_rows.h"
#include "world/world_def.h"
#include <float.h>

static const vy_choice ground_limits[] = {CHOICE("off", 0, "it may"), CHOICE("on", 1, "it ends the run")};

#define LIMIT(key_, field_, unit_, help_)                                                           \
    ROW(key_, NUMBER, vy_safety_def, field_, .unit = unit_, .range = AT_LEAST_0, .keyword = "none", \
        .help = help_)
static const vy_schema_row safety_rows[] = {
    LIMIT("tilt_max", tilt_max, "rad", "largest angle between body +z and up"),
    LIMIT("rate_max", rate_max, "rad/s", "largest angular velocity"),
    LIMIT("speed_max", speed_max, "m/s", "largest speed"),
    ROW("height_min", NUMBER, vy_safety_def, height_min, .unit = "m", .range = ANY, .keyword = "none",
        .keyword_value = -DBL_MAX, .help = "least height"),
    ROW("height_max", NUMBER, vy_safety_def, height_max, .unit = "m", .range = ANY, .keyword = "none",
        .keyword_value = DBL_MAX, .help = "largest height"),
    LIMIT("distance_max", distance_max, "m", "largest horizontal distance from the world's origin"),
    LIMIT("fall_max", fall_max, "m/s", "largest speed downwards"),
    ROW("ground", CHOICE, vy_safety_def, ground, CHOICES(ground_limits),
        .help = "whether a rotor's hub, a collision point or the centre of mass may be below z = 0, or the "
                "terrain where there is one"),
    ROW("fence", OBJECT, vy_safety_def, fence, .table = &vy_table_fence, .help = "where it must stay"),
    ROW("sustain", NUMBER, vy_safety_def, sustain, .unit = "s", .range = AT_LEAST_0,
        .help = "how long a limit must be exceeded without a break"),
};
const vy_schema_table vy_table_safety = {.title = "Safety",
                                         .help =
                                             "Limits that end the run, checked every step against the truth.",
                                         .size = sizeof(vy_safety_def),
                                         ROWS(safety_rows)};

static const vy_choice ends[] = {CHOICE("no", 0, "the run goes on"), CHOICE("yes", 1, "the run ends")};
static const vy_schema_row crash_rows[] = {
    ROW("speed", NUMBER, vy_crash_def, speed, .unit = "m/s", .range = AT_LEAST_0, .keyword = "none",
        .help = "at which surfaces close"),
    ROW("impulse", NUMBER, vy_crash_def, impulse, .unit = "N s", .range = AT_LEAST_0, .keyword = "none",
        .help = "of a contact within one step"),
    ROW("ends", CHOICE, vy_crash_def, ends, CHOICES(ends), .help = "whether a crash is a failure"),
};
const vy_schema_table vy_table_crash = {
    .title = "Crash",
    .help =
        "An impact beyond one of these limits is a crash: an event, counted, and a failure if it `ends` the "
        "run.",
    .size = sizeof(vy_crash_def),
    ROWS(crash_rows)};

vy_safety_def vy_default_safety_def(void)
{
    return (vy_safety_def){
        .height_min = -DBL_MAX, .height_max = DBL_MAX, .fence = {.low = -DBL_MAX, .high = DBL_MAX}};
}

vy_status vy_check_safety_def(const vy_safety_def *def, vy_error *err)
{
    const vy_status status = vy_check_rows(&vy_table_safety, "drone.safety", def, err);
    if (status != VY_OK) return status;
    if (!(def->height_min <= def->height_max))
        return vy_fail(err, VY_BAD_VALUE, "drone.safety.height_min must not be above height_max");
    return vy_check_fence_def(&def->fence, err);
}
