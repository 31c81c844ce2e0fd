// flight_check.c - is the time of a recorded flight in order, and are its values in the units they claim?
#include "base/fail.h"
#include "base/sort.h"
#include "scenario/flight_csv.h"
#include <float.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/// A step of time this many times the usual one, and at least this long [s], is a gap.
#define GAP_STEPS 10.0
#define GAP_MIN   0.05

/// The farthest [m] that something goes along an axis in a second.
#define DISTANCE_MAX 1000.0

/// Usual steps of time [s] that a flight can have.
#define STEP_MIN 1e-5
#define STEP_MAX 0.5

// What is checked, and where what it is refused for stands.
typedef struct checker {
    const vy_flight *flight;
    const char *name;
    vy_flight_place place;
    double *scratch; // of as many numbers as there are rows
    vy_error *err;
} checker;

static vy_status refuse(checker *c, size_t row, int quantity, const char *format, ...) VY_PRINTF(4, 5);
static vy_status refuse(checker *c, size_t row, int quantity, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vy_fail_at(c->err, c->name, 0, 0, VY_BAD_VALUE, format, args);
    va_end(args);
    c->place = (vy_flight_place){row, quantity};
    return VY_BAD_VALUE;
}

// [s] The time of a row as the file has it.
static double time_in_file(const vy_flight *f, size_t row)
{
    return f->start + f->values[VY_FLIGHT_TIME][row];
}

static int is_less(const double *a, const double *b) { return *a < *b; }
HEAP_SORT(sort_numbers, double, is_less)

// The median of the values that are there, by `scratch` of as many; 0 without any.
static double median(double *scratch, size_t count)
{
    if (count == 0) return 0.0;
    sort_numbers(scratch, count);
    return scratch[count / 2];
}

static vy_status check_time(checker *c)
{
    const vy_flight *f = c->flight;
    const double *time = f->values[VY_FLIGHT_TIME];
    for (size_t i = 1; i < f->rows; ++i) {
        if (!(time[i] > time[i - 1]))
            return refuse(c, i + 1, VY_FLIGHT_TIME,
                          "time %s at %.6g s, in row %zu: each row must be later than the one before",
                          time[i] < time[i - 1] ? "goes back" : "stands still", time_in_file(f, i), i + 1);
        c->scratch[i - 1] = time[i] - time[i - 1];
    }
    const double step = median(c->scratch, f->rows - 1);
    if (step > STEP_MAX || step < STEP_MIN)
        return refuse(c, 2, VY_FLIGHT_TIME,
                      "rows are %.4g s apart: is the time in another unit, like \"time: t ms\"?", step);
    for (size_t i = 1; i < f->rows; ++i) {
        const double gap = time[i] - time[i - 1];
        if (gap > GAP_STEPS * step && gap > GAP_MIN)
            return refuse(c, i + 1, VY_FLIGHT_TIME,
                          "a gap of %.4g s after %.6g s (rows are %.4g s apart): cut the flight there", gap,
                          time_in_file(f, i - 1), step);
    }
    return VY_OK;
}

// Values within [min, max]; NaN is missing.
static vy_status check_range(checker *c, int first, int count, double min, double max, const char *hint)
{
    const vy_flight *f = c->flight;
    for (int q = first; q < first + count; ++q) {
        for (size_t i = 0; f->values[q] != NULL && i < f->rows; ++i) {
            const double value = f->values[q][i];
            if (value < min || value > max)
                return refuse(c, i + 1, q, "%s is %.6g at %.6g s: %s", vy_flight_quantity_name(q), value,
                              time_in_file(f, i), hint);
        }
    }
    return VY_OK;
}

// In flight the usual specific force is about that of standing still.
static vy_status check_accel(checker *c)
{
    const double *z = c->flight->values[VY_FLIGHT_ACCEL + 2];
    size_t count = 0;
    if (z == NULL) return VY_OK;
    for (size_t i = 0; i < c->flight->rows; ++i) {
        if (z[i] == z[i]) c->scratch[count++] = z[i];
    }
    const double median_force = median(c->scratch, count);
    if (count > 0 && !(median_force > 3.0 && median_force < 30.0))
        return refuse(
            c, 0, VY_FLIGHT_ACCEL + 2,
            "accel.z is usually %.4g m/s^2, where a drone that flies has about 9.8: is it in another unit "
            "(\"acc_z g\"), or upside down (\"acc_z *-1\")?",
            median_force);
    return VY_OK;
}

// The largest way in a second is one that something flies.
static vy_status check_distance(checker *c)
{
    const vy_flight *f = c->flight;
    const double *time = f->values[VY_FLIGHT_TIME];
    for (int q = VY_FLIGHT_POSITION; q < VY_FLIGHT_POSITION + 3; ++q) {
        const double *position = f->values[q];
        for (size_t i = 1, first = 0; position != NULL && i < f->rows; ++i) {
            while (time[i] - time[first] > 1.0) ++first;
            const double distance = real_abs(position[i] - position[first]);
            if (distance > DISTANCE_MAX)
                return refuse(c, i + 1, q,
                              "%s moves by %.6g m within a second, at %.6g s: is it in mm or cm?",
                              vy_flight_quantity_name(q), distance, time_in_file(f, i));
        }
    }
    return VY_OK;
}

static vy_status check_attitude(checker *c)
{
    const vy_flight *f = c->flight;
    const double *const *q = (const double *const *)&f->values[VY_FLIGHT_ATTITUDE];
    int present_component = -1, count = 0;
    for (int k = 0; k < 4; ++k) {
        if (q[k] != NULL) present_component = k, ++count;
    }
    if (count == 0) return VY_OK;
    if (count < 4)
        return refuse(c, 0, VY_FLIGHT_ATTITUDE + present_component,
                      "an attitude has four columns: attitude.w, .x, .y and .z");
    for (size_t i = 0; i < f->rows; ++i) {
        const double norm_squared =
            q[0][i] * q[0][i] + q[1][i] * q[1][i] + q[2][i] * q[2][i] + q[3][i] * q[3][i];
        if (norm_squared < 0.81 || norm_squared > 1.21)
            return refuse(c, i + 1, VY_FLIGHT_ATTITUDE,
                          "the attitude at %.6g s is no unit quaternion: its length is %.4g",
                          time_in_file(f, i), real_sqrt(norm_squared));
    }
    return VY_OK;
}

vy_status vy_flight_check(const vy_flight *f, const char *name, vy_flight_place *place, vy_error *err)
{
    // Of quantities from `first` on: the largest and smallest values, and what others may mean.
    static const struct {
        int first, count;
        double min, max;
        const char *hint;
    } ranges[] = {
        {VY_FLIGHT_MOTOR, 8, -1e-3, 1.0 + 1e-3,
         "commands are 0 to 1; map it like \"m1 /65535\" or \"pwm1 1000..2000\""},
        {VY_FLIGHT_RATE, 3, -70.0, 70.0, "no drone turns that fast; are its rates in deg/s or mrad/s?"},
        {VY_FLIGHT_ACCEL, 3, -1000.0, 1000.0, "is it in another unit (\"acc_z mg\")?"},
        {VY_FLIGHT_VELOCITY, 3, -300.0, 300.0, "is it in mm/s or cm/s?"},
        {VY_FLIGHT_POSITION, 3, -1e5, 1e5, "is it in mm or cm?"},
        {VY_FLIGHT_ROTOR, 8, -1.0, DBL_MAX,
         "speeds are not negative, whichever way a rotor turns; map it like \"w1 *-1\""},
        {VY_FLIGHT_ROTOR, 8, -1.0, 1e4, "is it in rpm?"},
        {VY_FLIGHT_VOLTAGE, 1, -1000.0, 1000.0, "is it in mV?"},
    };
    checker c = {.flight = f, .name = name, .err = err};
    vy_status status = VY_OK;
    if (f->rows < 2) {
        status = refuse(&c, f->rows, VY_FLIGHT_TIME, "the flight has fewer than two rows");
    } else {
        c.scratch = calloc(f->rows, sizeof *c.scratch);
        if (c.scratch == NULL) status = vy_fail(err, VY_NO_MEMORY, "no memory for a recorded flight");
        if (status == VY_OK) status = check_time(&c);
        if (status == VY_OK) status = check_accel(&c);
        if (status == VY_OK) status = check_attitude(&c);
        for (size_t i = 0; status == VY_OK && i < sizeof ranges / sizeof ranges[0]; ++i)
            status = check_range(&c, ranges[i].first, ranges[i].count, ranges[i].min, ranges[i].max,
                                 ranges[i].hint);
        if (status == VY_OK) status = check_distance(&c);
        free(c.scratch);
    }
    if (place != NULL) *place = c.place;
    return status;
}
