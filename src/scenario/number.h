// number.h - numbers with units, as people write them.
#pragma once
#include "scenario/text.h"
#include <stdint.h>

/// A unit that may be written in place of the SI unit. value = number * 10^power * factor.
typedef struct vy_unit {
    const char *name;
    const char *si; ///< the SI unit in whose place it may be written
    int power;
    double factor; ///< 1 for powers of ten: those are exact
} vy_unit;

/// The unit of times that may be written as dates.
#define VY_UNIT_YEAR "year"

/// All of them; static storage.
const vy_unit *vy_units(int *count);

typedef enum vy_number_result {
    VY_NUMBER_OK,
    VY_NUMBER_BAD,        ///< not a number
    VY_NUMBER_WRONG_UNIT, ///< a number, but in a unit of something else
    VY_NUMBER_NOT_FINITE, ///< infinite, not a number, or too large
} vy_number_result;

/// Read "28", "28 g", "-1.5e-3 m", and "2026-06-21" as 2026.468… years. The decimal value is rounded once, so
/// "28 g" is exactly 0.028.
/// @param si the unit of the result; empty when it has none
/// @param out untouched unless VY_NUMBER_OK
vy_number_result vy_number_read(const char *text, size_t size, const char *si, double *out);

/// The unit that is written after a number, as an index into vy_units(); -1: none, or `si` itself.
int vy_number_find_unit(const char *text, size_t size, const char *si);

/// Digits only, as a whole number below 2^64. @return 0 when it is something else, or larger
int vy_uint_read(const char *text, size_t size, uint64_t *out);

/// The fewest digits that read back as the same double.
void vy_number_print(vy_text *out, double value);

/// Whether a number without a unit was most likely meant in degrees: more than a turn of radians.
int vy_looks_like_degrees(const char *si, double value);

/// "kg (or g, mg)": the unit and those that may be written in its place; "no unit" for an empty one.
void vy_unit_print(vy_text *out, const char *si);

/// A host program's locale may write 0,5 for 0.5: between these two calls this thread uses the C locale.
typedef struct vy_locale {
    void *previous, *c_locale;
} vy_locale;
vy_locale vy_locale_enter(void);
void vy_locale_leave(vy_locale locale);
