// fpu_result.h - a number that a function with an FPU_SCOPE returns by value.
#pragma once

/// Have `x` computed before the caller's rounding is back: compilers may move arithmetic past a change of the
/// rounding mode (clang 14 does), but not past a volatile store.
static inline double fpu_result(double x)
{
    const volatile double computed = x;
    return computed;
}
