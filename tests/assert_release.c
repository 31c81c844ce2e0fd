// assert_release.c - an assertion as a release compiles it, for test_assert.c.
#undef VOLERY_ASSERT
#include "base/assert.h"

int evaluated_in_release(void);
int count_call(int *calls);

int count_call(int *calls)
{
    ++*calls;
    return 0;
}

int evaluated_in_release(void)
{
    int calls = 0;
    VY_ASSERT(count_call(&calls));
    return calls;
}
