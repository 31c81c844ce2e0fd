// lanes_math.h - the functions of math.h over arrays, once per number of lanes; for the tests.
#pragma once

enum math_function {
    MATH_SIN,
    MATH_COS,
    MATH_TAN,
    MATH_ASIN,
    MATH_ACOS,
    MATH_ATAN2,
    MATH_EXP,
    MATH_LOG,
    MATH_POW,
    MATH_SINCOS_SIN,
    MATH_SINCOS_COS,
    MATH_COUNT
};

/// out[i] = f(x[i], y[i]); `count` is a multiple of the lanes, functions of one argument ignore y.
void lanes_math_1(enum math_function f, const double *x, const double *y, double *out, int count);
void lanes_math_2(enum math_function f, const double *x, const double *y, double *out, int count);
void lanes_math_4(enum math_function f, const double *x, const double *y, double *out, int count);
void lanes_math_8(enum math_function f, const double *x, const double *y, double *out, int count);
