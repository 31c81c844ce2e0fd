// real_single.inl - a real that is a float: batches of tier 1. For real.h alone, in C++ or CUDA, one lane.
//
// Constants of the equations are doubles: an operator that meets one rounds it to a float, the compiler does
// so where it is known, and nothing is computed in double. Cells are packed: 4 bytes for a real, 8 for a
// whole number wherever it stands, so a block is its cells one after the other without holes.

#if defined(__CUDACC__)
#define VY_METHOD __forceinline__ __host__ __device__
#else
#define VY_METHOD inline __attribute__((always_inline))
#endif

typedef int mask;            // of a comparison: 0 or 1
typedef float real_constant; // in tables

struct real {
    float value;
    real() = default;
    template <class number> VY_METHOD constexpr real(number x) : value(static_cast<float>(x)) {}

    VY_METHOD friend real operator+(real a, real b) { return a.value + b.value; }
    VY_METHOD friend real operator-(real a, real b) { return a.value - b.value; }
    VY_METHOD friend real operator*(real a, real b) { return a.value * b.value; }
    VY_METHOD friend real operator/(real a, real b) { return a.value / b.value; }
    VY_METHOD friend real operator-(real a) { return -a.value; }
    VY_METHOD friend mask operator<(real a, real b) { return a.value < b.value; }
    VY_METHOD friend mask operator>(real a, real b) { return a.value > b.value; }
    VY_METHOD friend mask operator<=(real a, real b) { return a.value <= b.value; }
    VY_METHOD friend mask operator>=(real a, real b) { return a.value >= b.value; }
    VY_METHOD friend mask operator==(real a, real b) { return a.value == b.value; }
    VY_METHOD friend mask operator!=(real a, real b) { return a.value != b.value; }
};

/// An unsigned integer of 64 bits wherever a float may stand.
struct bits {
    uint32_t low, high;
    bits() = default;
    VY_METHOD constexpr bits(uint64_t x) : low(static_cast<uint32_t>(x)), high(static_cast<uint32_t>(x >> 32))
    {
    }
    VY_METHOD constexpr operator uint64_t() const { return static_cast<uint64_t>(high) << 32 | low; }
};

VY_FN real real_load(const double *p) { return *p; }
VY_FN void real_store(double *p, real x) { *p = static_cast<double>(x.value); }
VY_FN double real_lane(real x, int) { return static_cast<double>(x.value); }
VY_FN real real_gather(const double *table, bits index) { return table[index]; }
VY_FN real real_gather(const float *table, bits index) { return table[index]; }

VY_FN uint32_t single_bits(real x)
{
    uint32_t b;
    memcpy(&b, &x.value, sizeof b);
    return b;
}

VY_FN real single_of(uint32_t b)
{
    real x;
    memcpy(&x.value, &b, sizeof b);
    return x;
}

VY_FN uint32_t single_leading_zeros(uint32_t x)
{
#if defined(__CUDA_ARCH__)
    return static_cast<uint32_t>(__clz(static_cast<int>(x)));
#else
    return static_cast<uint32_t>(__builtin_clz(x));
#endif
}

VY_FN real real_sqrt(real x)
{
#if defined(__CUDA_ARCH__)
    return __fsqrt_rn(x.value);
#else
    return __builtin_sqrtf(x.value);
#endif
}

VY_FN real real_abs(real x) { return single_of(single_bits(x) & 0x7fffffffu); }

/// `x` with the sign of `s`.
VY_FN real real_copysign(real x, real s)
{
    return single_of((single_bits(x) & 0x7fffffffu) | (single_bits(s) & 0x80000000u));
}

/// Nearest whole number, ties to even, for |x| < 2^22.
VY_FN real real_round(real x) { return (x + 0x1.8p23) - 0x1.8p23; }

/// The low 32 bits of `round(x)` in two's complement, for |x| < 2^22.
VY_FN bits real_round_bits(real x) { return (single_bits(x + 0x1.8p23) - 0x4b400000u) & 0xffffffffu; }

/// The float nearest to a whole number 0 <= n < 2^52; exact below 2^24.
VY_FN real real_from_uint(bits n) { return n; }

/// Neither infinite nor NaN.
VY_FN mask real_is_finite(real x) { return real_abs(x) <= FLT_MAX; }

/// Beyond this a state counts as infinite: lengths and energies are made of its square.
#define REAL_MAX 1e18f
VY_FN mask real_is_bounded(real x) { return real_abs(x) <= REAL_MAX; }
