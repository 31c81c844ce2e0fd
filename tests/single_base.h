// single_base.h - base/ in single precision, for the tests.
#pragma once
#include <stdint.h>

enum single_function {
    SINGLE_SIN,
    SINGLE_COS,
    SINGLE_ATAN2,
    SINGLE_ACOS,
    SINGLE_EXP,
    SINGLE_LOG,
    SINGLE_POW
};

#ifdef __cplusplus
extern "C" {
#endif
float single_math(enum single_function f, float x, float y);
float single_normal(uint32_t word);
float single_unit(uint32_t word);
float single_round(float x);
#ifdef __cplusplus
}
#endif
