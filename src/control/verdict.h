// verdict.h - which limit of a controller a verdict is about, and its detail.
#pragma once
#include "volery/controller.h"
#include <stdint.h>

/// [s] the deadline, the time to boot, or the patience with a script; 0: none of them.
double vy_verdict_limit(vy_verdict verdict, const vy_controller_def *def);

/// The detail of a verdict out of the value of a failure, which is a whole number unless a state was forged.
static inline int32_t vy_verdict_detail(double value)
{
    return value >= INT32_MIN && value <= INT32_MAX ? (int32_t)value : 0;
}
