// flight_check.c - is the time of a recorded flight in order, and are its values in the units they claim?
#include "base/fail.h"
#include "base/sort.h"
#include "scenario/flight_csv.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/// A step of time this many times the usual one, and at least this long [s], is a gap.
#define GAP_STEPS 10.0
#define GAP_MIN   0.05

/// Usual steps of time [s] that a flight can have.
#define STEP_MIN 1e-5
#define STEP_MAX 0.5

static vy_status refuse(vy_error *err, const char *name, const char *format, ...) VY_PRINTF(3, 4);
static vy_status refuse(vy_error *err, const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vy_fail_at(err, name, 0, 0, VY_BAD_VALUE, format, args);
    va_end(args);
    return VY_BAD_VALUE;
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

static vy_status check_time(const vy_flight *f, const char *name, double *scratch, vy_error *err)
{
    const double *time = f->values[VY_FLIGHT_TIME];
    for (size_t i = 1; i < f->rows; ++i) {
        if (!(time[i] > time[i - 1]))
            return refuse(err, name,
                          "time %s at %.6g s, in row %zu: each row must be later than the one before",
                          time[i] < time[i - 1] ? "goes back" : "stands still", f->start + time[i], i + 1);
        scratch[i - 1] = time[i] - time[i - 1];
    }
    const double step = median(scratch, f->rows - 1);
    if (step > STEP_MAX || step < STEP_MIN)
        return refuse(err, name, "rows are %.4g s apart: is the time in another unit, like \"time: t ms\"?",
                      step);
    for (size_t i = 1; i < f->rows; ++i) {
        const double gap = time[i] - time[i - 1];
        if (gap > GAP_STEPS * step && gap > GAP_MIN)
            return refuse(err, name,
                          "a gap of %.4g s after %.6g s (rows are %.4g s apart): cut the flight there", gap,
                          f->start + time[i - 1], step);
    }
    return VY_OK;
}

// The largest absolute value of a quantity; NaN is missing.
static double max_abs(const vy_flight *f, int quantity)
{
    double max = 0.0;
    for (size_t i = 0; i < f->rows; ++i) {
        const double a = real_abs(f->values[quantity][i]);
        if (a > max) max = a;
    }
    return max;
}

static vy_status check_size(const vy_flight *f, const char *name, int first, int count, double max,
                            const char *hint, vy_error *err)
{
    for (int q = first; q < first + count; ++q) {
        if (f->values[q] == NULL) continue;
        const double reached = max_abs(f, q);
        if (reached > max)
            return refuse(err, name, "%s reaches %.4g: %s", vy_flight_quantity_name(q), reached, hint);
    }
    return VY_OK;
}

static vy_status check_motors(const vy_flight *f, const char *name, vy_error *err)
{
    for (int q = VY_FLIGHT_MOTOR; q < VY_FLIGHT_MOTOR + 8; ++q) {
        for (size_t i = 0; f->values[q] != NULL && i < f->rows; ++i) {
            const double u = f->values[q][i];
            if (u < -1e-3 || u > 1.0 + 1e-3)
                return refuse(
                    err, name,
                    "%s is %.6g at %.6g s: commands are 0 to 1; map it like \"m1 /65535\" or \"pwm1 "
                    "1000..2000\"",
                    vy_flight_quantity_name(q), u, f->start + f->values[VY_FLIGHT_TIME][i]);
        }
    }
    return VY_OK;
}

// In flight the usual specific force is about that of standing still.
static vy_status check_accel(const vy_flight *f, const char *name, double *scratch, vy_error *err)
{
    const double *z = f->values[VY_FLIGHT_ACCEL + 2];
    size_t count = 0;
    if (z == NULL) return VY_OK;
    for (size_t i = 0; i < f->rows; ++i) {
        if (z[i] == z[i]) scratch[count++] = z[i];
    }
    const double usual = median(scratch, count);
    if (count > 0 && !(usual > 3.0 && usual < 30.0))
        return refuse(
            err, name,
            "accel.z is usually %.4g m/s^2, where a drone that flies has about 9.8: is it in another unit "
            "(\"acc_z g\"), or upside down (\"acc_z *-1\")?",
            usual);
    return VY_OK;
}

static vy_status check_attitude(const vy_flight *f, const char *name, vy_error *err)
{
    const double *const *q = (const double *const *)&f->values[VY_FLIGHT_ATTITUDE];
    const int have = (q[0] != NULL) + (q[1] != NULL) + (q[2] != NULL) + (q[3] != NULL);
    if (have == 0) return VY_OK;
    if (have < 4) return refuse(err, name, "an attitude has four columns: attitude.w, .x, .y and .z");
    for (size_t i = 0; i < f->rows; ++i) {
        const double square = q[0][i] * q[0][i] + q[1][i] * q[1][i] + q[2][i] * q[2][i] + q[3][i] * q[3][i];
        if (square < 0.81 || square > 1.21)
            return refuse(err, name, "the attitude at %.6g s is no unit quaternion: its length is %.4g",
                          f->start + f->values[VY_FLIGHT_TIME][i], real_sqrt(square));
    }
    return VY_OK;
}

vy_status vy_flight_check(const vy_flight *f, const char *name, vy_error *err)
{
    if (f->rows < 2) return refuse(err, name, "the flight has fewer than two rows");
    double *scratch = calloc(f->rows, sizeof *scratch);
    if (scratch == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for a recorded flight");
    vy_status status = check_time(f, name, scratch, err);
    if (status == VY_OK) status = check_motors(f, name, err);
    if (status == VY_OK) status = check_accel(f, name, scratch, err);
    if (status == VY_OK) status = check_attitude(f, name, err);
    if (status == VY_OK)
        status = check_size(f, name, VY_FLIGHT_RATE, 3, 70.0,
                            "no drone turns that fast; are its rates in deg/s or mrad/s?", err);
    if (status == VY_OK)
        status =
            check_size(f, name, VY_FLIGHT_ACCEL, 3, 1000.0, "is it in another unit (\"acc_z mg\")?", err);
    if (status == VY_OK)
        status = check_size(f, name, VY_FLIGHT_VELOCITY, 3, 300.0, "is it in mm/s or cm/s?", err);
    if (status == VY_OK) status = check_size(f, name, VY_FLIGHT_POSITION, 3, 1e5, "is it in mm or cm?", err);
    if (status == VY_OK) status = check_size(f, name, VY_FLIGHT_ROTOR, 8, 1e4, "is it in rpm?", err);
    if (status == VY_OK) status = check_size(f, name, VY_FLIGHT_VOLTAGE, 1, 1000.0, "is it in mV?", err);
    free(scratch);
    return status;
}
