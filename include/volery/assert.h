// assert.h - what happens when an assertion of the library fails. Assertions are compiled in with
// VOLERY_ASSERT.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// Called with the condition that does not hold and where it stands. It may return: the program then
/// continues.
typedef void vy_assert_hook(const char *condition, const char *file, int line);

/// Call `hook` instead of the default, which prints the condition to stderr and aborts. NULL: the
/// default. For the whole process; set it before other threads use the library.
void vy_set_assert_hook(vy_assert_hook *hook);

/// What a failed assertion calls.
void vy_assert_failed(const char *condition, const char *file, int line);

#ifdef __cplusplus
}
#endif
