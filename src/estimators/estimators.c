// estimators.c - what all estimators share: their def, its rows and checks, walked from the list.
#include "estimators/estimators.h"
#include "base/fail.h"
#include "base/schema_rows.h"

_Static_assert(sizeof(vy_estimator_kind) == sizeof(int) && sizeof(vy_estimator_start) == sizeof(int),
               "choices are read and written as int");

const estimator_type *const vy_estimators[] = {
#define TYPE(kind, name, text) [VY_ESTIMATOR_##kind] = &vy_estimator_##name,
    ESTIMATORS(TYPE)};

vy_estimator_def vy_default_estimator_def(void)
{
#define DEFAULTS(kind, name, text) DEFAULTS_##name
    return (vy_estimator_def){
        .start_position = 0.1, .start_velocity = 0.1, .start_attitude = 0.02, ESTIMATORS(DEFAULTS)};
}

static const vy_choice kinds[] = {
#define KIND(kind, name, text) CHOICE(#name, VY_ESTIMATOR_##kind, text),
    DRONE_ESTIMATORS(KIND) ESTIMATORS(KIND)};

static const vy_choice starts[] = {
    CHOICE("air", VY_START_AIR, "in flight, as far off as `start_position` and the like say"),
    CHOICE("ground", VY_START_GROUND,
           "on the ground: it finds attitude, gyroscope bias and position while it stands still for 2 s")};

#define BIT(kind, name, text) | 1u << VY_ESTIMATOR_##kind
#define START(key_, unit_)                                                         \
    ROW(#key_, NUMBER, vy_estimator_def, key_, .unit = unit_, .range = AT_LEAST_0, \
        .when = 0 ESTIMATORS(BIT), .help = "standard deviation of the first estimate's error per axis")
#define OWN_ROWS(kind, name, text) ROWS_##name
static const vy_schema_row rows[] = {
    ROW("kind", CHOICE, vy_estimator_def, kind, CHOICES(kinds), .help = "how"),
    START(start_position, "m"),
    START(start_velocity, "m/s"),
    START(start_attitude, "rad"),
    ROW("start", CHOICE, vy_estimator_def, start, CHOICES(starts), .when = 0 ESTIMATORS(BIT),
        .help = "where it starts"),
    ESTIMATORS(OWN_ROWS)};
const vy_schema_table vy_table_estimator = {.title = "Estimator",
                                            .help = "From samples to what controllers believe.",
                                            .size = sizeof(vy_estimator_def),
                                            ROWS(rows)};

vy_status vy_check_estimator_def(const vy_estimator_def *def, const vy_imu_def *imu, vy_error *err)
{
    const vy_status status = vy_check_rows(&vy_table_estimator, "drone.estimator", def, err);
    if (status == VY_OK && def->kind != VY_ESTIMATOR_FADING && !(imu->period > 0.0))
        return vy_fail(err, VY_BAD_VALUE, "drone.estimator: a filter needs an IMU");
    return status;
}

int vy_estimator_has_position(const vy_estimator_def *def, const vy_mocap_def *mocap,
                              const vy_sensor_suite_def *sensor_suite)
{
    return mocap->period > 0.0 || (def->kind != VY_ESTIMATOR_FADING &&
                                   (sensor_suite->gps.period > 0.0 || sensor_suite->flow.period > 0.0));
}
