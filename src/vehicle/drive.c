// drive.c - drives: scenario keys, checks, constants.
#include "base/assert.h"
#include "base/fail.h"
#include "base/math.h"
#include "base/schema_rows.h"
#include "vehicle/parts.h"

/// [s] A landing drone that lags so far and does not sink for so long stands on something.
#define LANDED_TIME 0.5

_Static_assert(sizeof(vy_failsafe) == sizeof(int), "choices are read and written as int");

static const vy_drive_def defaults = {.land_speed = 0.5};

static const vy_choice failsafes[] = {
    CHOICE("none", VY_FAILSAFE_NONE, "a controller that fails ends the run"),
    CHOICE("hold", VY_FAILSAFE_HOLD, "stay where it is"),
    CHOICE("land", VY_FAILSAFE_LAND, "go straight down; motors off when something holds it there"),
    CHOICE("cut", VY_FAILSAFE_CUT, "motors off, for good"),
};
#define DRIVE(key_, unit_, range_, help_) \
    ROW(#key_, NUMBER, vy_drive_def, key_, .unit = unit_, .range = range_, .keyword = "none", .help = help_)
static const vy_schema_row rows[] = {
    DRIVE(speed_max, "m/s", AT_LEAST_0, "of a desired velocity, horizontal"),
    DRIVE(climb_max, "m/s", AT_LEAST_0, "of a desired velocity, up and down"),
    DRIVE(tilt_max, "rad", WITHIN(0.0, 1.57), "of a desired attitude"),
    DRIVE(rate_max, "rad/s", AT_LEAST_0, "of desired rates, each axis"),
    DRIVE(command_min, NULL, WITHIN(0.0, 1.0), "least motor command while the motors are on"),
    DRIVE(command_max, NULL, WITHIN(0.0, 1.0), "largest motor command"),
    DRIVE(slew, "1/s", AT_LEAST_0, "change of a motor command"),
    DRIVE(deadline, "s", AT_LEAST_0, "of simulated time without a fresh intent; then the failsafe acts"),
    DRIVE(rotor_loss, "s", AT_LEAST_0,
          "a rotor below half of its commanded speed for so long is lost: the allocation does without it"),
    ROW("land_speed", NUMBER, vy_drive_def, land_speed, .unit = "m/s", .range = AT_LEAST_0,
        .help = "of the failsafe `land`, above 0 with it"),
    ROW("failsafe", CHOICE, vy_drive_def, failsafe, CHOICES(failsafes),
        .help = "when the controller fails, or the deadline passes"),
};
const vy_schema_table vy_table_drive = {.title = "Drive",
                                        .help = "What lies between an intent and the motors; see safety.md.",
                                        .size = sizeof(vy_drive_def),
                                        ROWS(rows)};

static vy_status check(const vy_vehicle_def *v, vy_error *err)
{
    const vy_drive_def *d = &v->drive;
    if (d->command_min >= (d->command_max > 0.0 ? d->command_max : 1.0))
        return vy_fail(err, VY_BAD_VALUE, "vehicle.drive.command_min must be below command_max");
    if (d->failsafe == VY_FAILSAFE_LAND && !(d->land_speed > 0.0))
        return vy_fail(err, VY_BAD_VALUE, "vehicle.drive.land_speed must be above 0 m/s");
    if (d->deadline > 0.0 && d->failsafe == VY_FAILSAFE_NONE)
        return vy_fail(err, VY_BAD_VALUE, "vehicle.drive.deadline needs a failsafe: hold, land or cut");
    return VY_OK;
}

const vehicle_part vy_part_drive = {.name = "drive",
                                    .table = &vy_table_drive,
                                    .offset = offsetof(vy_vehicle_def, drive),
                                    .defaults = &defaults,
                                    .check = check};

int vy_drive_is_declared(const vy_drive_def *def)
{
    return def->speed_max > 0.0 || def->climb_max > 0.0 || def->tilt_max > 0.0 || def->rate_max > 0.0 ||
           def->command_min > 0.0 || def->command_max > 0.0 || def->slew > 0.0 || def->rotor_loss > 0.0 ||
           def->failsafe != VY_FAILSAFE_NONE;
}

static uint64_t steps_of(double seconds, double dt)
{
    VY_ASSERT(dt > 0.0);
    return seconds > 0.0 ? (uint64_t)real_max(real_round(real_min(seconds / dt, 1e15)), 1.0) : 0;
}

flight_limits_model vy_drive_build(const vy_drive_def *def, double dt, double rate_period)
{
    flight_limits_model m = {
        .def = *def,
        .slew = def->slew * rate_period,
        .deadline = steps_of(def->deadline, dt),
        .rotor_loss = steps_of(def->rotor_loss, dt),
        .landed_ticks = steps_of(LANDED_TIME, dt),
    };
    if (def->tilt_max > 0.0) math_sincos(def->tilt_max, &m.sin_tilt, &m.cos_tilt);
    return m;
}
