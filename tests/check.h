// check.h - what tests share: cmocka, seeded random inputs, distances between results.
#pragma once
#include "base/vec.h"
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <math.h>

#define PI           3.14159265358979323846
#define INFINITE     ((double)INFINITY) // the macros of <math.h> are floats
#define NOT_A_NUMBER ((double)NAN)

/// Laws over many random cases look at one case in so many where a sanitizer makes each of them slow, and in
/// clang's build: the cases are those of gcc's build, which has judged their results.
#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
enum { LAW_SLICE = 8 };
#else
enum { LAW_SLICE = 1 };
#endif

/// |value - wanted| <= tolerance, with the figures printed on failure. NaN fails.
#define assert_near(value, wanted, tolerance) check_near(value, wanted, tolerance, #value, __FILE__, __LINE__)

static inline void check_near(double value, double wanted, double tolerance, const char *text,
                              const char *file, int line)
{
    if (!(fabs(value - wanted) <= tolerance)) {
        print_error("%s = %.17g, wanted %.17g within %g\n", text, value, wanted, tolerance);
        _fail(file, line);
    }
}

/// Every component of two vectors near each other.
#define assert_vec_near(value, wanted, tolerance) \
    check_near(check_distance(value, wanted), 0.0, tolerance, "distance of " #value, __FILE__, __LINE__)

static inline double check_distance(vy_vec3 a, vy_vec3 b)
{
    const double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return sqrt(x * x + y * y + z * z);
}

/// The angle [rad] of the turn from one attitude to another.
static inline double check_angle(vy_quat a, vy_quat b)
{
    const double w = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
    const double x = a.w * b.x - a.x * b.w - a.y * b.z + a.z * b.y;
    const double y = a.w * b.y - a.y * b.w - a.z * b.x + a.x * b.z;
    const double z = a.w * b.z - a.z * b.w - a.x * b.y + a.y * b.x;
    return 2.0 * atan2(sqrt(x * x + y * y + z * z), fabs(w));
}

/// SplitMix64: random inputs of tests, apart from the library's own generator.
typedef struct random_source {
    uint64_t state;
} random_source;

static inline uint64_t random_bits(random_source *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline double random_in(random_source *r, double low, double high)
{
    return low + (high - low) * ((double)(random_bits(r) >> 11) * 0x1p-53);
}

static inline vy_vec3 random_vec(random_source *r, double max)
{
    const double x = random_in(r, -max, max), y = random_in(r, -max, max), z = random_in(r, -max, max);
    return (vy_vec3){x, y, z};
}

/// A uniformly random attitude, of unit length.
static inline vy_quat random_attitude(random_source *r)
{
    for (;;) {
        const double w = random_in(r, -1, 1), x = random_in(r, -1, 1), y = random_in(r, -1, 1),
                     z = random_in(r, -1, 1);
        const double s = w * w + x * x + y * y + z * z;
        if (s > 1.0 || s < 0.01) continue;
        const double k = 1.0 / sqrt(s);
        return (vy_quat){k * w, k * x, k * y, k * z};
    }
}

/// A turn of `angle` about the unit axis (x, y, z).
static inline vy_quat turn(double angle, double x, double y, double z)
{
    const double s = sin(0.5 * angle);
    return (vy_quat){cos(0.5 * angle), s * x, s * y, s * z};
}
