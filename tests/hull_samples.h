// hull_samples.h - random numbers, rotations and sets of points for the tests of geometry.
#pragma once
#include "base/vec.h"
#include "volery/hull.h"
#include <math.h>

#define NOT_A_NUMBER ((double)NAN)
#define INFINITE     ((double)INFINITY)

static inline void to_long(vy_vec3 v, long double out[3])
{
    out[0] = (long double)v.x;
    out[1] = (long double)v.y;
    out[2] = (long double)v.z;
}

typedef struct sampler {
    uint64_t state; // any but 0
} sampler;

/// Even in [0, 1).
static inline double sample_unit(sampler *s)
{
    s->state ^= s->state << 13;
    s->state ^= s->state >> 7;
    s->state ^= s->state << 17;
    return (double)(s->state >> 11) / 9007199254740992.0;
}

/// Even in [-1, 1).
static inline double sample_side(sampler *s) { return 2.0 * sample_unit(s) - 1.0; }

static inline int sample_int(sampler *s, int low, int high)
{
    return low + (int)(sample_unit(s) * (high - low + 1));
}

static inline vy_vec3 sample_vec(sampler *s)
{
    const double x = sample_side(s), y = sample_side(s), z = sample_side(s);
    return vec3_make(x, y, z);
}

static inline vy_vec3 sample_direction(sampler *s)
{
    for (;;) {
        const vy_vec3 v = sample_vec(s);
        const double length = vec3_length(v);
        if (length > 0.01 && length <= 1.0) return vec3_scale(1.0 / length, v);
    }
}

static inline vy_quat sample_rotation(sampler *s)
{
    for (;;) {
        const double w = sample_side(s), x = sample_side(s), y = sample_side(s), z = sample_side(s);
        const double squared = w * w + x * x + y * y + z * z;
        if (squared > 0.01 && squared <= 1.0) return quat_normalize(quat_make(w, x, y, z));
    }
}

enum { SAMPLE_POINTS_MAX = 256, SAMPLE_KINDS = 10 };

static inline vy_vec3 cube_corner(int i) { return vec3_make(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1); }

/// A set of points of one of SAMPLE_KINDS kinds about the origin, of size about 2. Returns how many.
static inline int sample_points(sampler *s, int kind, vy_vec3 p[SAMPLE_POINTS_MAX])
{
    const int count = sample_int(s, 4, 64);
    for (int i = 0; i < count; ++i) {
        const vy_vec3 v = sample_vec(s);
        switch (kind) {
        case 0: p[i] = v; break;                   // in a cube
        case 1: p[i] = sample_direction(s); break; // on a ball
        case 2:
            p[i] = vec3_make(floor(1.5 * v.x + 1), floor(1.5 * v.y + 1), floor(1.5 * v.z + 1));
            break;                                                    // lattice
        case 3: p[i] = vec3_make(v.x, v.y, 1e-9 * v.z); break;        // flat
        case 4: p[i] = vec3_make(v.x, 1e-6 * v.y, 1e-6 * v.z); break; // needle
        case 5:
            p[i] = i < 8 ? cube_corner(i) : vec3_make(v.x, v.y, v.x > v.y ? 1 : -1);
            break; // on two faces
        case 6:
            p[i] = i < 8 ? cube_corner(i) : vec3_make(i & 1 ? 1 : -1, i & 2 ? 1 : -1, v.z);
            break; // on edges
        case 7:
            p[i] = i < 8 ? cube_corner(i) : vec3_add_scaled(cube_corner(i & 7), 1e-13, v);
            break; // almost twice
        case 8: {  // a prism
            const double angle = 6.283185307179586 * (i / 2) / (count / 2);
            p[i] = vec3_make(cos(angle), sin(angle), i & 1 ? 1 : -1);
            break;
        }
        default: p[i] = vec3_make(v.x * v.x * v.x, v.y * v.y * v.y * v.y * v.y, v.z); break; // crowded
        }
    }
    if (kind >= 5 && kind <= 7) { // the corners, whatever the count
        for (int i = 0; i < 8; ++i) p[i] = cube_corner(i);
        return count < 8 ? 8 : count;
    }
    return kind == 8 ? (count < 6 ? sample_points(s, 1, p) : count & ~1) : count;
}

/// Turn, scale and move points.
static inline void move_points(vy_vec3 *p, int count, vy_quat q, double scale, vy_vec3 offset)
{
    for (int i = 0; i < count; ++i) p[i] = vec3_add_scaled(offset, scale, quat_rotate(q, p[i]));
}

/// FNV-1a over values, for answers that must be the same on every machine.
static inline uint64_t hash_value(uint64_t hash, double value)
{
    uint64_t b;
    memcpy(&b, &value, sizeof b);
    for (int i = 0; i < 8; ++i) hash = (hash ^ ((b >> (8 * i)) & 0xff)) * 0x100000001b3u;
    return hash;
}

static inline uint64_t hash_vec(uint64_t hash, vy_vec3 v)
{
    return hash_value(hash_value(hash_value(hash, v.x), v.y), v.z);
}
