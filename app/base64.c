// base64.c - three bytes as four digits (RFC 4648).
#include "base64.h"

void vy_base64_group(const unsigned char *bytes, size_t bytes_left, char digits[4])
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned b = bytes_left > 1 ? bytes[1] : 0, c = bytes_left > 2 ? bytes[2] : 0;
    const unsigned group = (unsigned)bytes[0] << 16 | b << 8 | c;
    digits[0] = alphabet[group >> 18];
    digits[1] = alphabet[group >> 12 & 63];
    digits[2] = bytes_left > 1 ? alphabet[group >> 6 & 63] : '=';
    digits[3] = bytes_left > 2 ? alphabet[group & 63] : '=';
}

void vy_put_base64(FILE *out, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 3) {
        char digits[4];
        vy_base64_group((const unsigned char *)bytes + i, size - i, digits);
        fwrite(digits, 1, sizeof digits, out);
    }
}
