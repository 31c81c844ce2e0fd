// single_base.cpp - base/ in single precision, for the tests.
#define VY_SINGLE 1
#include "base/math.h"
#include "base/rng.h"
#include "single_base.h"

float single_math(enum single_function f, float x, float y)
{
    switch (f) {
    case SINGLE_SIN: return math_sin(x).value;
    case SINGLE_COS: return math_cos(x).value;
    case SINGLE_ATAN2: return math_atan2(x, y).value;
    case SINGLE_ACOS: return math_acos(x).value;
    case SINGLE_EXP: return math_exp(x).value;
    case SINGLE_LOG: return math_log(x).value;
    case SINGLE_POW: return math_pow(x, y).value;
    }
    return x;
}

float single_normal(uint32_t word) { return rng_normal_of_word(word).value; }
float single_unit(uint32_t word) { return rng_uniform(word, 0).value; }
float single_round(float x) { return real_round(x).value; }
