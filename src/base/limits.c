// limits.c - the least and largest numbers of each unit.
#include "base/limits.h"
#include "base/assert.h"
#include <string.h>

vy_limits vy_limits_of(const char *unit)
{
    static const struct {
        const char *unit;
        vy_limits limits;
    } table[] = {
        {"m", {1e-9, 1e12}},  // to the outer planets
        {"s", {1e-9, 1e9}},   // thirty years
        {"m/s", {1e-9, 1e8}}, // a third of the speed of light
        {"rad", {1e-9, 1e6}},      {"rad/s", {1e-9, 1e6}},  {"Hz", {1e-9, 1e9}},
        {"kg", {1e-9, 1e9}},       {"kg/m^3", {1e-9, 1e9}}, {"m/s^2", {1e-9, 1e9}},
        {"m^3/s^2", {1e-9, 1e24}}, // 1e20 is the sun
        {"kg m^2", {1e-24, 1e24}}, // a microgram of a micrometre
        {"K", {1e-3, 1e9}},        {"T", {1e-12, 1e6}},     {"V", {1e-9, 1e6}},
        {"N s^2", {1e-15, 1e6}}, // thrust and torque over speed squared
        {"N m s^2", {1e-18, 1e6}}, {"N s^3", {1e-18, 1e6}},
    };
    for (size_t i = 0; unit != NULL && i < sizeof table / sizeof table[0]; ++i) {
        if (strcmp(table[i].unit, unit) == 0) return table[i].limits;
    }
    return (vy_limits){1e-12, 1e12};
}

int vy_all_within(const double *values, size_t count, const char *unit)
{
    VY_ASSERT(values != NULL || count == 0);
    const double maximum = vy_limits_of(unit).max;
    for (size_t i = 0; i < count; ++i) {
        if (!(values[i] >= -maximum && values[i] <= maximum)) return 0; // written so that NaN fails
    }
    return 1;
}

int vy_is_nonnegative(double value, const char *unit)
{
    return value >= 0.0 && value <= vy_limits_of(unit).max;
}

int vy_is_positive(double value, const char *unit)
{
    const vy_limits limits = vy_limits_of(unit);
    VY_ASSERT(limits.min > 0.0 && limits.min < limits.max);
    return value >= limits.min && value <= limits.max;
}
