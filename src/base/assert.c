// assert.c - a failed assertion: passed to the hook, or printed before abort.
#include "base/assert.h"
#include <stdio.h>
#include <stdlib.h>

static vy_assert_hook *current_hook;

void vy_set_assert_hook(vy_assert_hook *hook) { current_hook = hook; }

void vy_assert_failed(const char *condition, const char *file, int line)
{
    if (current_hook != NULL) {
        current_hook(condition, file, line);
        return;
    }
    fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    abort();
}
