// test_broadphase.c - the tree of boxes against looking at every pair.
#include "collision_samples.h"
#include "geometry/broadphase.h"
#include <time.h>

enum { BODIES = 300, PAIRS = BODIES * BODIES };

typedef struct scene {
    vy_tree *tree;
    vy_bounds tight[BODIES];
    int in[BODIES]; // 1: the proxy is in use
} scene;

static vy_bounds box_at(vy_vec3 p, double half)
{
    const vy_bounds b = {{p.x - half, p.y - half, p.z - half}, {p.x + half, p.y + half, p.z + half}};
    return b;
}

static int meet(const vy_bounds *a, const vy_bounds *b)
{
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y &&
           a->low.z <= b->high.z && b->low.z <= a->high.z;
}

static vy_tree *make_tree(void)
{
    vy_tree_def def = vy_default_tree_def();
    vy_tree *tree;
    assert_int_equal(vy_tree_create(&def, &tree, NULL), VY_OK);
    return tree;
}

// Pairs, boxes and rays: the same numbers in the same order as all against all.
static void check_scene(const scene *s, sampler *r)
{
    static vy_tree_pair pairs[PAIRS];
    vy_bounds fat[BODIES];
    size_t count, expected = 0;
    assert_int_equal(vy_tree_pairs(s->tree, pairs, PAIRS, &count), VY_OK);
    for (int i = 0; i < BODIES; ++i) {
        const vy_status status = vy_tree_bounds(s->tree, i, &fat[i]);
        assert_int_equal(status, s->in[i] ? VY_OK : VY_NOT_FOUND);
        if (!s->in[i]) continue;
        assert_true(fat[i].low.x <= s->tight[i].low.x && fat[i].high.x >= s->tight[i].high.x);
        assert_true(fat[i].low.y <= s->tight[i].low.y && fat[i].high.y >= s->tight[i].high.y);
        assert_true(fat[i].low.z <= s->tight[i].low.z && fat[i].high.z >= s->tight[i].high.z);
    }
    for (int i = 0; i < BODIES; ++i) {
        for (int j = i + 1; j < BODIES; ++j) {
            if (!s->in[i] || !s->in[j] || !meet(&fat[i], &fat[j])) continue;
            assert_true(expected < count);
            assert_int_equal(pairs[expected].a, i);
            assert_int_equal(pairs[expected++].b, j);
        }
    }
    assert_int_equal(count, expected);
    vy_tree_hit hits[BODIES];
    const vy_bounds probe = box_at(vec3_scale(10.0, sample_vec(r)), 2.0);
    assert_int_equal(vy_tree_overlap_box(s->tree, &probe, hits, BODIES, &count), VY_OK);
    expected = 0;
    for (int i = 0; i < BODIES; ++i) {
        if (s->in[i] && meet(&fat[i], &probe)) assert_int_equal(hits[expected++].proxy, i);
    }
    assert_int_equal(count, expected);
    const vy_vec3 o = vec3_scale(12.0, sample_vec(r)), d = sample_direction(r);
    assert_int_equal(vy_tree_cast_ray(s->tree, o, d, 30.0, hits, BODIES, &count), VY_OK);
    for (size_t k = 1; k < count; ++k) {
        assert_true(hits[k - 1].t < hits[k].t ||
                    (hits[k - 1].t == hits[k].t && hits[k - 1].proxy < hits[k].proxy));
    }
    size_t met = 0;
    for (int i = 0; i < BODIES; ++i) { // a box as a shape, by the ray query of shapes
        if (!s->in[i]) continue;
        vy_shape box = {0};
        const vy_vec3 half = vec3_scale(0.5, vec3_sub(fat[i].high, fat[i].low));
        const vy_pose at = {vec3_add(fat[i].low, half), {1, 0, 0, 0}};
        vy_ray_hit hit;
        assert_int_equal(vy_shape_box(half, &box, NULL), VY_OK);
        met += (size_t)vy_ray_cast(&box, &at, o, d, 30.0, &hit);
    }
    assert_int_equal(count, met);
}

// All at once, some to where others are already: the tree is built anew.
static void shake(scene *s, vy_vec3 at[BODIES], sampler *r)
{
    for (int i = 0; i < BODIES; ++i) {
        if (!s->in[i]) continue;
        const vy_vec3 way = sample_vec(r), d = vec3_scale(sample_unit(r) < 0.3 ? 3.0 : 0.02, way);
        at[i] = sample_unit(r) < 0.1 ? vec3_zero() : vec3_add(at[i], d);
        s->tight[i] = box_at(at[i], 0.3);
        if (!vy_tree_box_fits(s->tree, i, &s->tight[i], d)) vy_tree_replace(s->tree, i, &s->tight[i], d);
    }
    vy_tree_rebuild(s->tree);
}

// Bodies that come, move, and go, in any order.
static void tree_equals_brute_force(void **unused)
{
    (void)unused;
    sampler r = {73};
    scene s = {make_tree(), {{{0, 0, 0}, {0, 0, 0}}}, {0}};
    vy_vec3 at[BODIES] = {{0, 0, 0}};
    for (int step = 0; step < 300; ++step) {
        for (int k = 0; k < 40; ++k) {
            const int i = sample_int(&r, 0, BODIES - 1);
            if (!s.in[i] && step < 250) {
                int proxy, low = 0;
                const vy_vec3 p = vec3_scale(10.0, sample_vec(&r));
                const vy_bounds b = box_at(p, 0.1 + sample_unit(&r));
                while (s.in[low]) ++low;
                assert_int_equal(vy_tree_add(s.tree, &b, &proxy), VY_OK);
                assert_int_equal(proxy, low); // the smallest that is free
                s.in[proxy] = 1;
                s.tight[proxy] = b;
                at[proxy] = p;
            } else if (s.in[i] && sample_unit(&r) < 0.2) {
                assert_int_equal(vy_tree_remove(s.tree, i), VY_OK);
                assert_int_equal(vy_tree_remove(s.tree, i), VY_NOT_FOUND);
                s.in[i] = 0;
            } else if (s.in[i]) {
                const vy_vec3 way = sample_vec(&r), d = vec3_scale(sample_unit(&r) < 0.1 ? 5.0 : 0.05, way);
                at[i] = vec3_add(at[i], d);
                s.tight[i] = box_at(at[i], 0.3);
                assert_int_equal(vy_tree_move(s.tree, i, &s.tight[i], d, NULL), VY_OK);
            }
        }
        if (step % 7 == 0) shake(&s, at, &r);
        check_scene(&s, &r);
    }
    vy_tree_destroy(s.tree);
}

// The order of answers does not depend on the tree's past.
static void order_has_no_history(void **unused)
{
    (void)unused;
    sampler r = {79};
    vy_bounds boxes[BODIES];
    static vy_tree_pair first[PAIRS], second[PAIRS];
    size_t count[2];
    vy_tree *a = make_tree(), *b = make_tree();
    int proxy;
    for (int i = 0; i < BODIES; ++i) {
        boxes[i] = box_at(vec3_scale(5.0, sample_vec(&r)), 0.4);
        assert_int_equal(vy_tree_add(a, &boxes[i], &proxy), VY_OK);
    }
    const vy_bounds far = box_at(vec3_make(1e3, 0, 0), 1.0);
    for (int i = 0; i < BODIES; ++i) assert_int_equal(vy_tree_add(b, &far, &proxy), VY_OK);
    for (int i = BODIES - 1; i >= 0; --i) {
        assert_int_equal(vy_tree_move(b, i, &boxes[i], vec3_zero(), NULL), VY_OK);
    }
    assert_int_equal(vy_tree_pairs(a, first, PAIRS, &count[0]), VY_OK);
    assert_int_equal(vy_tree_pairs(b, second, PAIRS, &count[1]), VY_OK);
    assert_int_equal(count[0], count[1]);
    assert_true(count[0] > 100);
    assert_memory_equal(first, second, count[0] * sizeof first[0]);
    vy_tree_destroy(a);
    vy_tree_destroy(b);
}

static void small_moves_change_nothing(void **unused)
{
    (void)unused;
    vy_tree *tree = make_tree();
    const vy_bounds b = box_at(vec3_zero(), 1.0);
    int proxy, moved;
    assert_int_equal(vy_tree_add(tree, &b, &proxy), VY_OK);
    for (int i = 0; i <= 10; ++i) {
        const double x = 0.0049 * i;
        const vy_bounds now = box_at(vec3_make(x, -x, x), 1.0);
        assert_int_equal(vy_tree_move(tree, proxy, &now, vec3_make(0.0049, -0.0049, 0.0049), &moved), VY_OK);
        assert_int_equal(moved, 0);
    }
    const vy_bounds now = box_at(vec3_make(0.06, 0, 0), 1.0);
    assert_int_equal(vy_tree_move(tree, proxy, &now, vec3_make(0.01, 0, 0), &moved), VY_OK);
    assert_int_equal(moved, 1);
    vy_bounds fat;
    assert_int_equal(vy_tree_bounds(tree, proxy, &fat), VY_OK);
    assert_near(fat.high.x, 1.06 + 0.05 + 0.02, 1e-15); // a margin, and two displacements ahead
    assert_near(fat.low.x, -0.94 - 0.05, 1e-15);
    vy_tree_destroy(tree);
}

// Bodies in a row, put in one after the other: a tree without rotations would be as deep as the row is long,
// and the queries' stacks would not hold it.
static void rows_stay_balanced(void **unused)
{
    (void)unused;
    enum { ROW = 50000 };
    vy_tree *tree = make_tree();
    vy_tree_hit *hits = malloc(sizeof *hits * ROW);
    vy_tree_pair *pairs = malloc(sizeof *pairs * ROW);
    assert_true(hits != NULL && pairs != NULL);
    size_t count;
    for (int i = 0; i < ROW; ++i) {
        int proxy;
        const vy_bounds b = box_at(vec3_make(2.0 * i, 0, 0), 0.96); // 0.05 of margin: each meets the next
        assert_int_equal(vy_tree_add(tree, &b, &proxy), VY_OK);
        assert_int_equal(proxy, i);
    }
    assert_int_equal(vy_tree_pairs(tree, pairs, ROW, &count), VY_OK);
    assert_int_equal(count, ROW - 1);
    assert_int_equal(vy_tree_cast_ray(tree, vec3_make(-10, 0, 0), vec3_make(1, 0, 0), 1e9, hits, ROW, &count),
                     VY_OK);
    assert_int_equal(count, ROW);
    for (int i = 0; i < ROW; ++i) assert_int_equal(hits[i].proxy, i);
    for (int i = 0; i < ROW - 1; ++i) { // and as they go, from the same end
        assert_int_equal(vy_tree_remove(tree, i), VY_OK);
        if (i % 5000 != 0) continue;
        assert_int_equal(vy_tree_pairs(tree, pairs, ROW, &count), VY_OK);
        assert_int_equal(count, ROW - 2 - i);
    }
    free(hits);
    free(pairs);
    vy_tree_destroy(tree);
}

static void limits_are_reported(void **unused)
{
    (void)unused;
    vy_tree_def def = vy_default_tree_def();
    vy_tree *tree = NULL;
    vy_error err;
    def.margin = -1.0;
    assert_int_equal(vy_tree_create(&def, &tree, &err), VY_BAD_VALUE);
    assert_null(tree);
    def = (vy_tree_def){0};
    assert_int_equal(vy_tree_create(&def, &tree, &err), VY_BAD_VALUE);
    tree = make_tree();
    const vy_bounds b = box_at(vec3_zero(), 1.0), bad = {{1, 0, 0}, {0, 1, 1}},
                    wild = {{0, 0, 0}, {1, NOT_A_NUMBER, 1}};
    int proxy;
    size_t count;
    vy_tree_pair pairs[3];
    vy_tree_hit hits[3];
    assert_int_equal(vy_tree_pairs(tree, pairs, 3, &count), VY_OK);
    assert_int_equal(count, 0);
    assert_int_equal(vy_tree_add(tree, &bad, &proxy), VY_BAD_VALUE);
    assert_int_equal(vy_tree_add(tree, &wild, &proxy), VY_BAD_VALUE);
    for (int i = 0; i < 3; ++i) assert_int_equal(vy_tree_add(tree, &b, &proxy), VY_OK);
    assert_int_equal(vy_tree_move(tree, 3, &b, vec3_zero(), NULL), VY_NOT_FOUND);
    assert_int_equal(vy_tree_move(tree, -1, &b, vec3_zero(), NULL), VY_NOT_FOUND);
    assert_int_equal(vy_tree_move(tree, 0, &bad, vec3_zero(), NULL), VY_BAD_VALUE);
    assert_int_equal(vy_tree_pairs(tree, pairs, 2, &count), VY_FULL);
    assert_int_equal(count, 3);
    assert_int_equal(vy_tree_pairs(tree, pairs, 3, &count), VY_OK);
    assert_int_equal(pairs[2].a, 1);
    assert_int_equal(vy_tree_overlap_box(tree, &b, hits, 2, &count), VY_FULL);
    assert_int_equal(count, 3);
    assert_int_equal(vy_tree_cast_ray(tree, vec3_zero(), vec3_zero(), 1.0, hits, 3, &count), VY_BAD_VALUE);
    vy_tree_destroy(tree);
    vy_tree_destroy(NULL);
}

// Ten thousand moving bodies: the time is printed, and the pairs of the last step are those of a fresh tree.
static void ten_thousand_bodies(void **unused)
{
    (void)unused;
    enum { MANY = 10000, STEPS = 20, ROOM = 200000 };
    sampler r = {83};
    vy_tree *tree = make_tree(), *fresh = make_tree();
    vy_vec3 *p = malloc(sizeof *p * MANY), *v = malloc(sizeof *v * MANY);
    vy_tree_pair *pairs = malloc(sizeof *pairs * ROOM), *again = malloc(sizeof *again * ROOM);
    assert_true(p != NULL && v != NULL && pairs != NULL && again != NULL);
    int proxy;
    size_t count, changed = 0;
    for (int i = 0; i < MANY; ++i) {
        p[i] = vec3_scale(40.0, sample_vec(&r));
        v[i] = vec3_scale(10.0, sample_vec(&r));
        const vy_bounds b = box_at(p[i], 0.5);
        assert_int_equal(vy_tree_add(tree, &b, &proxy), VY_OK);
    }
    const clock_t start = clock();
    for (int step = 0; step < STEPS; ++step) {
        for (int i = 0; i < MANY; ++i) {
            int moved;
            const vy_vec3 d = vec3_scale(0.004, v[i]);
            p[i] = vec3_add(p[i], d);
            const vy_bounds b = box_at(p[i], 0.5);
            assert_int_equal(vy_tree_move(tree, i, &b, d, &moved), VY_OK);
            changed += (size_t)moved;
        }
        assert_int_equal(vy_tree_pairs(tree, pairs, ROOM, &count), VY_OK);
    }
    const double ms = 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC / STEPS;
    print_message("10000 moving bodies: %.2f ms a step, %zu pairs, %.1f %% reinserted\n", ms, count,
                  100.0 * (double)changed / (MANY * STEPS));
    for (int i = 0; i < MANY; ++i) { // a fresh tree of the same enlarged boxes, put in the other way round
        const vy_bounds b = box_at(p[i], 0.5);
        assert_int_equal(vy_tree_add(fresh, &b, &proxy), VY_OK);
    }
    size_t tight = 0, tight_again = 0, fresh_count;
    assert_int_equal(vy_tree_pairs(fresh, again, ROOM, &fresh_count), VY_OK);
    for (size_t k = 0; k < count; ++k) {
        const vy_bounds a = box_at(p[pairs[k].a], 0.5), b = box_at(p[pairs[k].b], 0.5);
        tight += (size_t)meet(&a, &b);
    }
    for (size_t k = 0; k < fresh_count; ++k) {
        const vy_bounds a = box_at(p[again[k].a], 0.5), b = box_at(p[again[k].b], 0.5);
        tight_again += (size_t)meet(&a, &b);
    }
    assert_int_equal(tight, tight_again); // no pair that touches is lost
    assert_true(tight > 500);
    free(p);
    free(v);
    free(pairs);
    free(again);
    vy_tree_destroy(tree);
    vy_tree_destroy(fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_equals_brute_force),    cmocka_unit_test(order_has_no_history),
        cmocka_unit_test(small_moves_change_nothing), cmocka_unit_test(limits_are_reported),
        cmocka_unit_test(rows_stay_balanced),         cmocka_unit_test(ten_thousand_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
