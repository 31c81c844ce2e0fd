// utf8.h - characters of UTF-8 text.
#pragma once

/// Length of the UTF-8 sequence at `s`, which ends with a zero; 0 when it is none (overlong, surrogate, cut
/// off, beyond U+10FFFF).
static inline int utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80) return 1;
    const int length = s[0] >= 0xc2 && s[0] <= 0xdf   ? 2
                       : s[0] >= 0xe0 && s[0] <= 0xef ? 3
                       : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                                      : 0;
    for (int i = 1; i < length; ++i) {
        if ((s[i] & 0xc0) != 0x80) return 0; // the ending zero too
    }
    if (s[0] == 0xe0 && s[1] < 0xa0) return 0;
    if (s[0] == 0xed && s[1] > 0x9f) return 0;
    if (s[0] == 0xf0 && s[1] < 0x90) return 0;
    if (s[0] == 0xf4 && s[1] > 0x8f) return 0;
    return length;
}
