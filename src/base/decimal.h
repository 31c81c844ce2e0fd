// decimal.h - decimal numbers in text, for every reader of files.
#pragma once
#include <stddef.h>

/// Read the number that a text starts with: a sign, digits with or without a point, and an exponent, of which
/// only the digits are needed. The value is rounded once and does not depend on the locale; too large a
/// number is infinite.
/// @param power the number is multiplied by ten to this power, before the rounding
/// @param out   untouched when there is none
/// @return its length in bytes; 0 when the text starts with no number, or with one of more than 400 digits
size_t vy_decimal_read(const char *text, size_t size, int power, double *out);

/// The same for a text that is one number and nothing else: 1, or 0 and *out untouched.
int vy_decimal_parse(const char *text, size_t size, double *out);

/// Whether a text is "nan", "inf" or "infinity" in any case, with a sign or a point before it or without:
/// words that a person may mean as numbers, but that are refused.
int vy_decimal_is_not_finite(const char *text, size_t size);
