// test_contact_lanes.c - contacts solved side by side: every width of the lanes gives the scalar's bits.
#include "contact_sets.h"
#include "dynamics/contacts.h"

enum { STEPS = LAW_SLICE > 1 ? 60 : 240 };

// Balls, boxes and capsules of many masses and surfaces, dropped on a floor; or on a plate that has more
// contacts than there are colours.
static vy_bodies *heap(uint64_t seed, int plate)
{
    uint64_t x = seed;
    vy_bodies *b = new_set(1.0 / 60.0, G, 128);
    const vy_shape floor = plane(vec3_make(0, 0, 1)), wide = box(4.0, 4.0, 0.1);
    vy_shape shapes[3] = {ball(0.2), box(0.2, 0.25, 0.15), {0}};
    assert_int_equal(vy_shape_capsule(0.15, 0.2, &shapes[2], NULL), VY_OK);
    const vy_material ground = {.friction = 0.6, .restitution = 0.3, .rolling = 0.01, .spinning = 0.01};
    if (plate) add(b, VY_BODY_DYNAMIC, &wide, 50.0, vec3_make(2.0, 2.0, 0.1), vec3_zero(), ground);
    for (int i = 0; i < 100; ++i) {
        vy_body_def d = vy_default_body_def();
        const int row = plate ? 10 : 5;
        d.shape = &shapes[i % 3];
        d.mass = 0.5 + unit(&x);
        d.material = surface(i % 5 == 0 ? 0.0 : 0.5, i % 2 == 0 ? unit(&x) : 0.0);
        d.material.rolling = i % 4 == 0 ? 0.01 : 0.0;
        d.state.position = vec3_make((plate ? 0.5 : 0.6) * (i % row) + 0.01 * unit(&x),
                                     (plate ? 0.5 : 0.6) * (i / row % row), 0.6 + 0.6 * (i / (row * row)));
        d.state.attitude = unit_turn(&x);
        assert_int_equal(vy_bodies_add(b, &d, NULL, NULL), VY_OK);
    }
    add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), ground);
    return b;
}

static void lanes_give_the_same_bits(void **unused)
{
    (void)unused;
    const contact_kernel *const kernels[] = {vy_contact_kernel_1, vy_contact_kernel_2,
                                             vy_contact_kernel_4_avx2, vy_contact_kernel_8_avx512};
    const uint32_t widest = vy_contacts_kernel()->width;
    for (uint64_t seed = 1; seed <= 6; ++seed) { // the last two: some bodies are joined
        uint64_t hashes[4] = {0};
        uint32_t max_count = 0;
        for (int k = 0; k < 4; ++k) {
            if (kernels[k] == NULL || kernels[k]->width > widest) continue;
            vy_bodies *b = heap(seed, seed % 2 == 0 && seed >= 4);
            if (seed > 4) join_pairs(b, 30, 60);
            b->contacts->kernel = kernels[k];
            for (int i = 0; i < (seed > 4 ? STEPS / 3 : STEPS); ++i) {
                step(b, 1);
                max_count = vy_bodies_contact_count(b) > max_count ? vy_bodies_contact_count(b) : max_count;
            }
            hashes[k] = vy_bodies_hash(b);
            assert_true(hashes[k] == hashes[0]);
            vy_bodies_destroy(b);
        }
        assert_true(max_count > 64 || LAW_SLICE > 1);
    }
}

// A body with more contacts than there are colours: the rest is solved one by one, and nothing is lost.
static void crowded_bodies_hold(void **unused)
{
    (void)unused;
    vy_bodies *b = new_set(1.0 / 60.0, G, 128);
    const vy_shape floor = plane(vec3_make(0, 0, 1)), wide = box(4.0, 4.0, 0.1), cube = box(0.2, 0.2, 0.2);
    vy_body_id ids[100];
    const vy_body_id plate =
        add(b, VY_BODY_DYNAMIC, &wide, 50.0, vec3_make(0, 0, 0.1), vec3_zero(), vy_default_material());
    for (int i = 0; i < 100; ++i)
        ids[i] =
            add(b, VY_BODY_DYNAMIC, &cube, 1.0, vec3_make(0.7 * (i % 10) - 3.15, 0.7 * (i / 10) - 3.15, 0.4),
                vec3_zero(), vy_default_material());
    add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), vy_default_material());
    step(b, 240);
    assert_int_equal(vy_bodies_contact_count(b), 101);
    assert_near(read(b, plate).position.z, 0.1, 3e-4);
    for (int i = 0; i < 100; ++i) {
        assert_near(read(b, ids[i]).position.z, 0.4, 1e-3);
        assert_true(vec3_length(read(b, ids[i]).velocity) < 1e-4);
    }
    vy_bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_give_the_same_bits),
        cmocka_unit_test(crowded_bodies_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
