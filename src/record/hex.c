// hex.c - bytes as hexadecimal text.
#include "record/digest.h"
#include <string.h>

static const char digits[] = "0123456789abcdef";

void vy_hex_encode(const unsigned char *data, size_t size, char *out)
{
    for (size_t i = 0; i < size; ++i) {
        out[2 * i] = digits[data[i] >> 4];
        out[2 * i + 1] = digits[data[i] & 15];
    }
    out[2 * size] = '\0';
}

int vy_hex_decode(const char *text, unsigned char *out, size_t size)
{
    if (text == NULL || strlen(text) != 2 * size) return 0;
    for (size_t i = 0; i < size; ++i) {
        const char *high = strchr(digits, text[2 * i]), *low = strchr(digits, text[2 * i + 1]);
        if (high == NULL || low == NULL) return 0;
        out[i] = (unsigned char)((high - digits) << 4 | (low - digits));
    }
    return 1;
}
