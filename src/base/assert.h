// assert.h - assertions: preconditions and invariants. Over `real`.
//
// On in builds with VOLERY_ASSERT (tests, sanitizers, fuzzing), off in a release and on a GPU. A failed
// assertion is a bug of this library or its caller, never bad input: that has a status.
#pragma once
#include "volery/assert.h"

#if defined(VOLERY_ASSERT) && !defined(__CUDACC__)
#define VY_ASSERT(condition) ((condition) ? (void)0 : vy_assert_failed(#condition, __FILE__, __LINE__))
#else
#define VY_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0)) // compiled, never evaluated
#endif
