// lanes_math.inl - every function of math.h over arrays, for the number of lanes of the including file.
#include "base/math.h"
#include "lanes_math.h"

static real lanes_math_one(enum math_function f, real x, real y)
{
    real s, c;
    switch (f) {
    case MATH_SIN: return math_sin(x);
    case MATH_COS: return math_cos(x);
    case MATH_TAN: return math_tan(x);
    case MATH_ASIN: return math_asin(x);
    case MATH_ACOS: return math_acos(x);
    case MATH_ATAN2: return math_atan2(x, y);
    case MATH_EXP: return math_exp(x);
    case MATH_LOG: return math_log(x);
    case MATH_POW: return math_pow(x, y);
    case MATH_SINCOS_SIN: math_sincos(x, &s, &c); return s;
    case MATH_SINCOS_COS: math_sincos(x, &s, &c); return c;
    case MATH_COUNT: break;
    }
    return x;
}

void LANES_MATH_NAME(enum math_function f, const double *x, const double *y, double *out, int count)
{
    for (int i = 0; i < count; i += VY_LANES) {
        real_store(out + i, lanes_math_one(f, real_load(x + i), real_load(y + i)));
    }
}
