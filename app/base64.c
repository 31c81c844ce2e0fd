// base64.c - three bytes as four digits (RFC 4648).
#include "base64.h"

void vy_base64_group(const unsigned char *bytes, size_t left, char four[4])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned b = left > 1 ? bytes[1] : 0, c = left > 2 ? bytes[2] : 0;
    const unsigned group = (unsigned)bytes[0] << 16 | b << 8 | c;
    four[0] = digits[group >> 18];
    four[1] = digits[group >> 12 & 63];
    four[2] = left > 1 ? digits[group >> 6 & 63] : '=';
    four[3] = left > 2 ? digits[group & 63] : '=';
}

void vy_put_base64(FILE *out, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 3) {
        char four[4];
        vy_base64_group((const unsigned char *)bytes + i, size - i, four);
        fwrite(four, 1, sizeof four, out);
    }
}
