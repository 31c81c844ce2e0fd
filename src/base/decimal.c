// decimal.c - decimal numbers in text.
#include "base/decimal.h"
#include "base/assert.h"
#include <stdio.h>
#include <stdlib.h>

enum { DIGITS_MAX = 400 };

static int is_digit(char c) { return c >= '0' && c <= '9'; }

// The exponent after the digits: its length, or 0 when what follows is none. Beyond what a double can hold,
// one is as good as another.
static size_t read_exponent(const char *text, size_t size, long *out)
{
    VY_ASSERT(out != NULL);
    size_t position = 1;
    long exponent = 0;
    if (size == 0 || (text[0] != 'e' && text[0] != 'E')) return 0;
    const int is_negative = position < size && text[position] == '-';
    if (position < size && (text[position] == '-' || text[position] == '+')) ++position;
    if (position == size || !is_digit(text[position])) return 0;
    for (; position < size && is_digit(text[position]); ++position) {
        if (exponent < 100000) exponent = 10 * exponent + (text[position] - '0');
    }
    VY_ASSERT(exponent >= 0 && exponent < 1000000);
    *out = is_negative ? -exponent : exponent;
    return position;
}

size_t vy_decimal_read(const char *text, size_t size, int power, double *out)
{
    VY_ASSERT((text != NULL || size == 0) && out != NULL);
    VY_ASSERT(power > -100000 && power < 100000);
    char buffer[DIGITS_MAX + 40]; // the digits as a whole number: no locale writes that otherwise
    size_t position = 0;
    int length = 0, digit_count = 0, has_point = 0;
    long exponent = 0, point_exponent = 0;
    if (position < size && (text[position] == '-' || text[position] == '+'))
        buffer[length++] = text[position++];
    for (; position < size && (is_digit(text[position]) || (text[position] == '.' && !has_point));
         ++position) {
        if (text[position] == '.') {
            has_point = 1;
            continue;
        }
        if (digit_count++ == DIGITS_MAX) return 0;
        buffer[length++] = text[position];
        point_exponent -= has_point;
    }
    if (digit_count == 0) return 0;
    position += read_exponent(text + position, size - position, &exponent);
    VY_ASSERT(position <= size && length <= DIGITS_MAX + 1);
    snprintf(buffer + length, sizeof buffer - (size_t)length, "e%ld", exponent + point_exponent + power);
    *out = strtod(buffer, NULL);
    return position;
}

int vy_decimal_parse(const char *text, size_t size, double *out)
{
    double value;
    if (size == 0 || vy_decimal_read(text, size, 0, &value) != size) return 0;
    *out = value;
    return 1;
}

int vy_decimal_is_not_finite(const char *text, size_t size)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    if (size > 0 && (*text == '-' || *text == '+')) ++text, --size;
    if (size > 0 && *text == '.') ++text, --size;
    for (size_t w = 0; w < sizeof words / sizeof words[0]; ++w) {
        size_t k = 0;
        while (k < size && (text[k] | 32) == words[w][k]) ++k;
        if (k == size && words[w][k] == '\0') return 1;
    }
    return 0;
}
