// number.c - numbers with units, as people write them.
#define _POSIX_C_SOURCE 200809L // newlocale, uselocale
#include "scenario/number.h"
#include "base/assert.h"
#include "base/decimal.h"
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

const vy_unit *vy_units(int *count)
{
    static const vy_unit units[] = {
        {"ms", "s", -3, 1.0},
        {"us", "s", -6, 1.0},
        {"ns", "s", -9, 1.0},
        {"min", "s", 0, 60.0},
        {"h", "s", 0, 3600.0},
        {"kHz", "Hz", 3, 1.0},
        {"g", "kg", -3, 1.0},
        {"mg", "kg", -6, 1.0},
        {"mm", "m", -3, 1.0},
        {"cm", "m", -2, 1.0},
        {"km", "m", 3, 1.0},
        {"uT", "T", -6, 1.0},
        {"hPa", "Pa", 2, 1.0},
        {"mV", "V", -3, 1.0},
        {"mA", "A", -3, 1.0},
        {"deg", "rad", 0, PI / 180.0},
        {"deg/s", "rad/s", 0, PI / 180.0},
        {"rpm", "rad/s", 0, PI / 30.0},
        {"km/h", "m/s", 0, 1.0 / 3.6},
        {"mN", "N", -3, 1.0},
        {"mN m", "N m", -3, 1.0},
        {"mN s", "N s", -3, 1.0},
        {"mN m s", "N m s", -3, 1.0},
        {"mA h", "A s", -3, 3600.0},
        {"J", "W s", 0, 1.0},
        {"kJ", "W s", 3, 1.0},
        {"W h", "W s", 0, 3600.0},
        {"A h", "A s", 0, 3600.0},
        {"mohm", "ohm", -3, 1.0},
        {"g cm^2", "kg m^2", -7, 1.0},
        {"ug/sqrt(Hz)", "m/s^2/sqrt(Hz)", 0, 9.80665e-6},
        {"deg/s/sqrt(Hz)", "rad/s/sqrt(Hz)", 0, PI / 180.0},
    };
    *count = (int)(sizeof units / sizeof units[0]);
    return units;
}

static int text_equals(const char *text, size_t size, const char *word)
{
    return strlen(word) == size && memcmp(text, word, size) == 0;
}

static int is_leap_year(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

// "2026-06-21" as a decimal year: at the start of that day. Returns 0 when it is no date.
static int read_date(const char *text, size_t size, double *out)
{
    static const int days_before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    uint64_t year, month, day;
    if (size != 10 || text[4] != '-' || text[7] != '-' || !vy_uint_read(text, 4, &year) ||
        !vy_uint_read(text + 5, 2, &month) || !vy_uint_read(text + 8, 2, &day) || month < 1 || month > 12)
        return 0;
    const int leap_day = is_leap_year((int)year), days = days_before[month] - days_before[month - 1];
    if (day < 1 || (int)day > days + (month == 2 && leap_day)) return 0;
    const int days_passed = days_before[month - 1] + (month > 2 && leap_day) + (int)day - 1;
    *out = (double)year + (double)days_passed / (365.0 + leap_day);
    return 1;
}

int vy_number_find_unit(const char *text, size_t size, const char *si)
{
    double value;
    size_t position = vy_decimal_read(text, size, 0, &value);
    while (position < size && text[position] == ' ') ++position;
    int count;
    const vy_unit *units = vy_units(&count);
    for (int i = 0; i < count; ++i) {
        if (strcmp(units[i].si, si) == 0 && text_equals(text + position, size - position, units[i].name))
            return i;
    }
    return -1;
}

vy_number_result vy_number_read(const char *text, size_t size, const char *si, double *out)
{
    double value;
    if (strcmp(si, VY_UNIT_YEAR) == 0 && read_date(text, size, out)) return VY_NUMBER_OK;
    if (vy_decimal_is_not_finite(text, size)) return VY_NUMBER_NOT_FINITE;
    size_t position = vy_decimal_read(text, size, 0, &value);
    VY_ASSERT(position <= size && si != NULL);
    if (position == 0) return VY_NUMBER_BAD;
    const size_t number_size = position;
    while (position < size && text[position] == ' ') ++position;
    static const vy_unit as_written = {"", "", 0, 1.0};
    const vy_unit *unit =
        position == size || (*si != '\0' && text_equals(text + position, size - position, si)) ? &as_written
                                                                                               : NULL;
    int count;
    const vy_unit *units = vy_units(&count);
    for (int i = 0; i < count && unit == NULL; ++i) {
        if (strcmp(units[i].si, si) == 0 && text_equals(text + position, size - position, units[i].name))
            unit = &units[i];
    }
    if (unit == NULL) return VY_NUMBER_WRONG_UNIT;
    VY_ASSERT(unit->factor > 0.0);
    // Again with the unit's power of ten in the exponent: one rounding.
    (void)vy_decimal_read(text, number_size, unit->power, &value);
    value *= unit->factor;
    if (!real_is_finite(value)) return VY_NUMBER_NOT_FINITE;
    *out = value;
    return VY_NUMBER_OK;
}

int vy_uint_read(const char *text, size_t size, uint64_t *out)
{
    uint64_t value = 0;
    if (size == 0) return 0;
    for (size_t i = 0; i < size; ++i) {
        if (text[i] < '0' || text[i] > '9') return 0;
        const uint64_t digit = (uint64_t)(text[i] - '0');
        if (value > (UINT64_MAX - digit) / 10) return 0;
        value = 10 * value + digit;
    }
    *out = value;
    return 1;
}

void vy_number_print(vy_text *out, double value)
{
    char buffer[40];
    for (int digits = 15; digits <= 17; ++digits) {
        snprintf(buffer, sizeof buffer, "%.*g", digits, value);
        if (bits_of(strtod(buffer, NULL)) == bits_of(value)) break;
    }
    vy_text_puts(out, buffer);
}

int vy_looks_like_degrees(const char *si, double value)
{
    return strcmp(si, "rad") == 0 && real_abs(value) > 2.0 * PI;
}

void vy_unit_print(vy_text *out, const char *si)
{
    if (strcmp(si, VY_UNIT_YEAR) == 0) {
        vy_text_puts(out, "years (or a date YYYY-MM-DD)");
        return;
    }
    vy_text_puts(out, *si == '\0' ? "no unit" : si);
    int count, other_count = 0;
    const vy_unit *units = vy_units(&count);
    for (int i = 0; i < count; ++i) {
        if (strcmp(units[i].si, si) == 0)
            vy_text_printf(out, "%s%s", other_count++ == 0 ? " (or " : ", ", units[i].name);
    }
    if (other_count > 0) vy_text_puts(out, ")");
}

vy_locale vy_locale_enter(void)
{
    vy_locale locale;
    locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale.c_locale = c_locale;
    locale.previous = c_locale == (locale_t)0 ? NULL : uselocale(c_locale);
    return locale;
}

void vy_locale_leave(vy_locale locale)
{
    if (locale.c_locale == NULL) return;
    uselocale(locale.previous);
    freelocale(locale.c_locale);
}
