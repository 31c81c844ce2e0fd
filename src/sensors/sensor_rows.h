// sensor_rows.h - what the tables of a sensor are written with: its rows, parts and the table itself.
#pragma once
#include "base/schema_rows.h"
#include "sensors/sensors.h"

// Parts as sold have the figures of the makers' data sheets, by document; what a sheet does not say and is
// taken for likely is marked `assumed`. A tolerance given as a bound (+-) is read as one standard deviation:
// parts are usually better than their bound, flights are planned for worse.
// A part has its def right behind its name.
#define PARTS(list) \
    .parts = list, .part_size = sizeof list[0], .part_count = (int)(sizeof list / sizeof list[0])

#define PERIOD_ROW(type_, flags_, what_)                                                    \
    ROW("period", NUMBER, type_, period, .unit = "s", .range = AT_LEAST_0, .flags = flags_, \
        .keyword = "none", .help = "between samples; `none` is no " what_)
#define DEFAULT_PERIOD(type_, what_) PERIOD_ROW(type_, VY_ROW_PERIOD, what_)
// An optional sensor has no default period: without a period it would never be sampled.
#define PERIOD(type_, what_) PERIOD_ROW(type_, VY_ROW_PERIOD | VY_ROW_REQUIRED, what_)
#define LINK(type_)                                                               \
    ROW("dropout", NUMBER, type_, link.dropout, .range = WITHIN(0.0, 1.0),        \
        .help = "share of the samples that never arrive"),                        \
        ROW("delay", NUMBER, type_, link.delay, .unit = "s", .range = AT_LEAST_0, \
            .help = "from measuring to arriving, to the nearest sample")
#define NONNEGATIVE(type_, key_, unit_, help_) \
    ROW(#key_, NUMBER, type_, key_, .unit = unit_, .range = AT_LEAST_0, .help = help_)
#define LIMIT(type_, key_, unit_, help_) \
    ROW(#key_, NUMBER, type_, key_, .unit = unit_, .range = AT_LEAST_0, .keyword = "none", .help = help_)
#define RESOLUTION(type_, key_, unit_)                                                   \
    ROW(#key_, NUMBER, type_, key_, .unit = unit_, .range = POSITIVE, .keyword = "none", \
        .help = "of a reading's last digit")
#define MOUNT(type_)                                                               \
    ROW("position", VECTOR, type_, position, .size = 3, .unit = "m", .range = ANY, \
        .help = "from the centre of mass, body axes")
#define DISTANCE_RANGE_ROWS(type_)                                     \
    NONNEGATIVE(type_, min, "m", "nearest distance it can see"),       \
        ROW("max", NUMBER, type_, max, .unit = "m", .range = POSITIVE, \
            .help = "farthest distance it can see")
// What a calibration on the ground leaves of an error.
#define CALIBRATED(figure_, left_) (figure_) = (figure_) < (left_) ? (figure_) : (left_)
#define CALIBRATED_SHARE           0.005
#define PART_HELP \
    " The name of a part (docs/sensors.md lists them), a mapping, or a mapping with `base: NAME`."

// The table of a sensor's def from its `rows` and `defaults`, and the public function that finds a part.
#define SENSOR_TABLE(name_, title_, help_)                                                \
    static void init(void *object, int index)                                             \
    {                                                                                     \
        (void)index;                                                                      \
        *(vy_##name_##_def *)object = defaults;                                           \
    }                                                                                     \
    static vy_status preset(const char *part, void *object, vy_error *err)                \
    {                                                                                     \
        return vy_sensor_part(&vy_sensor_##name_, part, object, err);                     \
    }                                                                                     \
    vy_status vy_##name_##_preset(const char *name, vy_##name_##_def *out, vy_error *err) \
    {                                                                                     \
        FPU_SCOPE;                                                                        \
        return preset(name, out, err);                                                    \
    }                                                                                     \
    const vy_schema_table vy_table_##name_ = {.title = title_,                            \
                                              .help = help_ PART_HELP,                    \
                                              .size = sizeof(vy_##name_##_def),           \
                                              .init = init,                               \
                                              .preset = preset,                           \
                                              ROWS(rows)}
