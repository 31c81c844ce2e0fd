// test_assert.c - assertions are there where they are switched on, and cost nothing where they are not.
#include "check.h"
#include "base/arena.h"
#include "base/assert.h"
#include "geometry/broadphase.h"
#include "geometry/support.h"

int evaluated_in_release(void); // assert_release.c

static int failed;
static const char *last_condition;

static void count_failure(const char *condition, const char *file, int line)
{
    assert_true(file != NULL && line > 0);
    last_condition = condition;
    ++failed;
}

// From the switch of the build, not from the macro: assertions that compile to nothing by mistake are
// noticed.
enum { EXPECTED = ASSERTIONS };

static void expect_failure(const char *text)
{
    assert_int_equal(failed, EXPECTED);
    if (EXPECTED) assert_non_null(strstr(last_condition, text));
    failed = 0;
}

// One breach in base, two in the library that the test is linked with.
static void breaches_are_caught(void **unused)
{
    (void)unused;
    vy_set_assert_hook(count_failure);
    failed = 0;

    _Alignas(64) unsigned char memory[128];
    vy_arena arena = {memory, sizeof memory, sizeof memory + 64}; // more in use than there is
    (void)vy_arena_alloc(&arena, 1);
    expect_failure("arena->used <= arena->capacity");

    const vec3 points[9] = {{0.0, 0.0, 0.0}};
    vy_core core;
    vy_core_of_points(points, 9, &core); // a core has room for eight
    expect_failure("count <= 8");

    vy_tree_def def = vy_default_tree_def();
    vy_tree *tree;
    int proxy;
    const vy_bounds box = {{0.0, 0.0, 0.0}, {1.0, 1.0, 1.0}}, inside_out = {box.high, box.low};
    assert_int_equal(vy_tree_create(&def, &tree, NULL), VY_OK);
    assert_int_equal(vy_tree_add(tree, &box, &proxy), VY_OK);
    vy_tree_replace(tree, proxy, &inside_out, vec3_zero());
    expect_failure("is_valid_move");
    vy_tree_destroy(tree);

    vy_set_assert_hook(NULL);
}

static int count_call(int *calls)
{
    ++*calls;
    return 1;
}

// The condition is evaluated once where assertions are on, and not at all in a release.
static void release_evaluates_nothing(void **unused)
{
    (void)unused;
    int calls = 0;
    VY_ASSERT(count_call(&calls));
    assert_int_equal(calls, EXPECTED);
    assert_int_equal(evaluated_in_release(), 0);
}

// A hook that returns lets the program go on, and nothing is reported where the condition holds.
static void conditions_that_hold_are_silent(void **unused)
{
    (void)unused;
    vy_set_assert_hook(count_failure);
    failed = 0;
    vy_arena arena = {NULL, 0, 0};
    assert_null(vy_arena_alloc(&arena, 1));
    assert_int_equal(failed, 0);
    vy_set_assert_hook(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(breaches_are_caught),
        cmocka_unit_test(release_evaluates_nothing),
        cmocka_unit_test(conditions_that_hold_are_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
