// crc_avx2.c - CRC-32 by folding (V. Gopal and others, Fast CRC computation for generic polynomials using the
// PCLMULQDQ instruction, Intel, 2009): 64 bytes are replaced by 64 others of the same remainder that lie 64
// bytes further on, and so on to the end. zlib does the rest.
#include "record/crc.h"
#include <zlib.h>

#if defined(__PCLMUL__)
#include <immintrin.h>

static inline __m128i load(const unsigned char *p) { return _mm_loadu_si128((const __m128i *)p); }

// `x` moved on by the distance whose constants are `constants`, onto `next`.
static inline __m128i fold(__m128i x, __m128i constants, __m128i next)
{
    const __m128i low = _mm_clmulepi64_si128(x, constants, 0x00),
                  high = _mm_clmulepi64_si128(x, constants, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

uint32_t vy_crc32_avx2(uint32_t crc, const void *data, size_t size)
{
    const unsigned char *p = data;
    if (size < 64) return (uint32_t)crc32_z(crc, p, size);
    // Powers of x modulo the polynomial, bits reversed: x^(512+32) and x^(512-32), x^(128+32) and x^(128-32).
    const __m128i fold_64_bytes = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
    const __m128i fold_16_bytes = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    __m128i a = _mm_xor_si128(load(p), _mm_cvtsi32_si128((int)~crc));
    __m128i b = load(p + 16), c = load(p + 32), d = load(p + 48);
    for (p += 64, size -= 64; size >= 64; p += 64, size -= 64) {
        a = fold(a, fold_64_bytes, load(p));
        b = fold(b, fold_64_bytes, load(p + 16));
        c = fold(c, fold_64_bytes, load(p + 32));
        d = fold(d, fold_64_bytes, load(p + 48));
    }
    a = fold(fold(fold(a, fold_16_bytes, b), fold_16_bytes, c), fold_16_bytes, d);
    for (; size >= 16; p += 16, size -= 16) a = fold(a, fold_16_bytes, load(p));
    unsigned char remainder[16];
    _mm_storeu_si128((__m128i *)remainder, a);
    crc = (uint32_t)crc32_z(0xffffffffu, remainder,
                            sizeof remainder); // zlib inverts: this begins with a remainder of 0
    return size > 0 ? (uint32_t)crc32_z(crc, p, size) : crc;
}
#else
uint32_t vy_crc32_avx2(uint32_t crc, const void *data, size_t size)
{
    return (uint32_t)crc32_z(crc, data, size);
}
#endif
