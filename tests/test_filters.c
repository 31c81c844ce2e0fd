// test_filters.c - who collides with whom: layers and groups, joints that let their bodies collide, filters
// that change while bodies touch or sleep.
#include "passive_scenes.h"

enum { SCENES = 16, STEPS = 200 };

static const vy_filter nobody = {1, 0, 0};

static vy_body_id add_filtered(vy_bodies *b, const vy_shape *shape, vy_vec3 position, vy_vec3 velocity,
                               vy_filter filter)
{
    vy_body_def def = vy_default_body_def();
    vy_body_id id;
    def.shape = shape;
    def.state.position = position;
    def.state.velocity = velocity;
    def.filter = filter;
    assert_int_equal(vy_bodies_add(b, &def, &id, NULL), VY_OK);
    return id;
}

static vy_filter filter_of(const vy_bodies *b, vy_body_id id)
{
    vy_filter filter;
    assert_int_equal(vy_body_read_filter(b, id, &filter), VY_OK);
    return filter;
}

// The report of two bodies in the last step; phase -1: none.
static int phase_of(const vy_bodies *b, vy_body_id x, vy_body_id y)
{
    for (uint32_t k = 0; k < vy_bodies_contact_count(b); ++k) {
        vy_contact_report r;
        assert_int_equal(vy_bodies_contact(b, k, &r), VY_OK);
        if ((r.a == x.bits && r.b == y.bits) || (r.a == y.bits && r.b == x.bits)) return (int)r.phase;
    }
    return -1;
}

static int same_state(const vy_bodies *p, const vy_bodies *q, uint32_t slot)
{
    const vy_body_state x = read(p, vy_bodies_at(p, slot)), y = read(q, vy_bodies_at(q, slot));
    return memcmp(&x, &y, sizeof x) == 0;
}

// ---- filters alone

static void layers_and_groups_decide(void **unused)
{
    (void)unused;
    const vy_filter plain = vy_default_filter();
    assert_true(vy_filters_collide(&plain, &plain));
    assert_false(vy_filters_collide(&plain, &nobody));
    assert_false(vy_filters_collide(&nobody, &nobody));
    const vy_filter layerless = {0, UINT64_MAX, 0}; // on no layer that a mask could name
    assert_false(vy_filters_collide(&plain, &layerless));
    random_source r = {29};
    for (int n = 0; n < 10000; ++n) {
        const uint64_t i = random_bits(&r) % 64, j = random_bits(&r) % 64;
        const int32_t g = (int32_t)(random_bits(&r) % 5) - 2, h = (int32_t)(random_bits(&r) % 5) - 2;
        const vy_filter a = {(uint64_t)1 << i, random_bits(&r), g},
                        b = {(uint64_t)1 << j, random_bits(&r), h};
        int meet = (a.mask >> j & 1) && (b.mask >> i & 1);
        if (g == h && g != 0) meet = g > 0;
        assert_int_equal(vy_filters_collide(&a, &b), meet);
        assert_int_equal(vy_filters_collide(&b, &a), meet);
    }
}

// ---- scenes

// Bodies of another layer, thrown into a scene, some of them on joints. Where that has no joints, they meet
// the ground and each other; where it has, nobody: bodies on joints that lie deep in others are moved apart
// in turn with all those of the set that do (contact_project.c).
static void add_ghosts(passive_scene *t, uint64_t seed, int count)
{
    uint64_t x = passive_mix(seed ^ 0x67686f73);
    const vy_filter ghost = {2, t->joints > 0 ? 0 : 2, 0}, ground = {3, UINT64_MAX, 0};
    for (int k = 0; k < t->ground_heights; ++k)
        assert_int_equal(vy_body_set_filter(t->b, t->ids[t->count + k], &ground), VY_OK);
    const uint32_t first = vy_bodies_slot_count(t->b);
    for (int i = 0; i < count; ++i) {
        const vy_body_state s = read(t->b, t->ids[i % t->count]);
        const vy_shape shape = i % 2 ? ball(0.02 + 0.1 * unit(&x)) : box(0.05, 0.02 + 0.05 * unit(&x), 0.001);
        const vy_vec3 v = unit_vec(&x);
        add_filtered(t->b, &shape, s.position, vec3_scale(3.0, v), ghost); // right in one of the scene
    }
    join_pairs(t->b, first, first + (uint32_t)count / 2);
}

// Whatever else is in the set, bodies move as they do without those that they are kept apart from.
static void filtered_bodies_change_nothing(void **unused)
{
    (void)unused;
    static passive_scene with, without;
    uint32_t touched = 0;
    for (uint64_t seed = 1; seed <= SCENES; seed += LAW_SLICE) {
        passive_create(&with, 290000 + seed);
        passive_create(&without, 290000 + seed);
        add_ghosts(&with, seed, 6);
        const uint32_t shared = vy_bodies_slot_count(without.b);
        for (int k = 0; k < STEPS; ++k) {
            (void)vy_bodies_step(with.b);
            (void)vy_bodies_step(without.b);
            for (uint32_t i = 0; i < shared; ++i) assert_true(same_state(with.b, without.b, i));
            for (uint32_t n = 0; n < vy_bodies_contact_count(with.b); ++n) {
                vy_contact_report r;
                assert_int_equal(vy_bodies_contact(with.b, n, &r), VY_OK);
                const vy_filter p = filter_of(with.b, (vy_body_id){r.a}),
                                q = filter_of(with.b, (vy_body_id){r.b});
                assert_true(vy_filters_collide(&p, &q));
                ++touched;
            }
        }
        passive_destroy(&with);
        passive_destroy(&without);
    }
    assert_true(touched > 100);
}

// A heap of many layers and groups: the same bits on any number of threads, and no report of two that are
// kept apart.
static void heaps_of_layers_on_threads(void **unused)
{
    (void)unused;
    vy_bodies *sets[2];
    for (int k = 0; k < 2; ++k) {
        vy_bodies_def def = vy_default_bodies_def();
        def.dt = 1.0 / 120.0;
        def.contacts.on = 1;
        def.contacts.threads = k == 0 ? 1 : 3;
        assert_int_equal(vy_bodies_create(&def, &sets[k], NULL), VY_OK);
        const vy_shape floor = plane(vec3_make(0, 0, 1)), small = ball(0.1), brick = box(0.1, 0.15, 0.05);
        add(sets[k], VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0.5, 0.0));
        uint64_t x = 7;
        for (int i = 0; i < 600; ++i) {
            const vy_filter filter = {(uint64_t)1 << (i % 3), i % 7 == 0 ? 1 : 5, i % 11 == 0 ? -1 : 0};
            const vy_vec3 at = unit_vec(&x);
            add_filtered(sets[k], i % 2 ? &small : &brick,
                         vec3_make(2.0 * at.x, 2.0 * at.y, 0.2 + 4.0 * at.z), vec3_zero(), filter);
        }
    }
    uint32_t reports = 0;
    for (int n = 0; n < 150; ++n) {
        assert_int_equal(vy_bodies_step(sets[0]), vy_bodies_step(sets[1]));
        for (uint32_t k = 0; k < vy_bodies_contact_count(sets[0]); ++k, ++reports) {
            vy_contact_report r;
            assert_int_equal(vy_bodies_contact(sets[0], k, &r), VY_OK);
            const vy_filter p = filter_of(sets[0], (vy_body_id){r.a}),
                            q = filter_of(sets[0], (vy_body_id){r.b});
            assert_true(vy_filters_collide(&p, &q));
        }
    }
    assert_true(reports > 1000);
    assert_int_equal(vy_bodies_hash(sets[0]), vy_bodies_hash(sets[1]));
    for (int k = 0; k < 2; ++k) vy_bodies_destroy(sets[k]);
}

// ---- joints

// Two boxes, 0.3 m wide and 0.5 m apart, that fly at each other.
static double closest(vy_joint_kind kind, vy_joint_collide collide, uint64_t *hash)
{
    vy_bodies *b = new_set(1.0 / 240.0, 0.0, 0);
    const vy_shape shape = box(0.15, 0.15, 0.15);
    const vy_filter plain = vy_default_filter();
    const vy_body_id x = add_filtered(b, &shape, vec3_zero(), vec3_make(1, 0, 0), plain),
                     y = add_filtered(b, &shape, vec3_make(0.5, 0, 0), vec3_make(-1, 0, 0), plain);
    vy_joint_def def = vy_default_joint_def();
    def.kind = kind;
    assert_int_equal(vy_joint_set_frames(b, x, y, vec3_make(0.25, 0, 0), vec3_make(1, 0, 0), &def), VY_OK);
    def.length = 0.6;
    if (kind == VY_JOINT_CABLE) def.anchor_a = def.anchor_b = vec3_zero();
    def.collide_connected = collide;
    assert_int_equal(vy_bodies_add_joint(b, &def, NULL, NULL), VY_OK);
    double min = 1.0;
    for (int n = 0; n < 120; ++n) {
        step(b, 1);
        min = fmin(min, read(b, y).position.x - read(b, x).position.x);
    }
    *hash = vy_bodies_hash(b);
    vy_bodies_destroy(b);
    return min;
}

static void joints_say_whether_their_bodies_collide(void **unused)
{
    (void)unused;
    uint64_t by_kind, on, off;
    // A cable's bodies collide, unless told otherwise.
    assert_near(closest(VY_JOINT_CABLE, VY_JOINT_COLLIDE_BY_KIND, &by_kind), 0.3, 1e-3);
    assert_near(closest(VY_JOINT_CABLE, VY_JOINT_COLLIDE_ON, &on), 0.3, 1e-3);
    assert_true(closest(VY_JOINT_CABLE, VY_JOINT_COLLIDE_OFF, &off) < -0.3);
    assert_true(by_kind == on && on != off);
    // A slider's do not, unless told otherwise.
    assert_true(closest(VY_JOINT_SLIDER, VY_JOINT_COLLIDE_BY_KIND, &by_kind) < -0.3);
    assert_true(closest(VY_JOINT_SLIDER, VY_JOINT_COLLIDE_OFF, &off) < -0.3);
    assert_near(closest(VY_JOINT_SLIDER, VY_JOINT_COLLIDE_ON, &on), 0.3, 1e-3);
    assert_true(by_kind == off && on != off);

    vy_bodies *b = new_set(0.01, G, 0);
    const vy_shape shape = ball(0.1);
    const vy_body_id x = add_filtered(b, &shape, vec3_zero(), vec3_zero(), nobody);
    vy_joint_def def = vy_default_joint_def();
    vy_error err;
    def.kind = VY_JOINT_BALL;
    def.body_b = x;
    def.collide_connected = (vy_joint_collide)3;
    assert_int_equal(vy_bodies_add_joint(b, &def, NULL, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "collide_connected"));
    vy_bodies_destroy(b);
}

// ---- changed while bodies touch

static void a_contact_ends_when_it_is_filtered(void **unused)
{
    (void)unused;
    vy_bodies *b = new_set(1e-3, G, 0);
    const vy_shape shape = box(0.1, 0.1, 0.1), floor = plane(vec3_make(0, 0, 1));
    const vy_filter plain = vy_default_filter();
    const vy_body_id x = add_filtered(b, &shape, vec3_make(0, 0, 0.1), vec3_zero(), plain),
                     ground =
                         add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0.5, 0.0));
    step(b, 1);
    assert_int_equal(phase_of(b, x, ground), VY_CONTACT_BEGIN);
    step(b, 1);
    assert_int_equal(phase_of(b, x, ground), VY_CONTACT_PERSIST);
    const uint64_t plain_size = vy_bodies_state_size(b);
    assert_int_equal(vy_body_set_filter(b, x, &nobody), VY_OK);
    assert_int_equal(filter_of(b, x).mask, 0);
    assert_int_equal(vy_bodies_state_size(b), plain_size + 2 * 24 + 8);
    // It ends with no impulse, and from here on it flies as if nothing were there.
    vy_bodies *alone = new_set(1e-3, G, 0);
    add_filtered(alone, &shape, vec3_zero(), vec3_zero(), plain);
    const vy_body_state s = read(b, x);
    assert_int_equal(vy_body_set_state(alone, vy_bodies_at(alone, 0), &s), VY_OK);
    step(b, 1);
    step(alone, 1);
    assert_int_equal(vy_bodies_contact_count(b), 1);
    vy_contact_report r;
    assert_int_equal(vy_bodies_contact(b, 0, &r), VY_OK);
    assert_int_equal(r.phase, VY_CONTACT_END);
    assert_true(r.a == x.bits && r.b == ground.bits && r.points == 0 && vec3_length(r.impulse) == 0.0);
    for (int n = 0; n < 100; ++n) {
        assert_true(same_state(b, alone, 0));
        step(b, 1);
        step(alone, 1);
        assert_int_equal(vy_bodies_contact_count(b), 0);
    }
    assert_true(read(b, x).position.z < 0.05);
    // And comes back: it is pushed out.
    assert_int_equal(vy_body_set_filter(b, x, &plain), VY_OK);
    step(b, 1);
    assert_int_equal(phase_of(b, x, ground), VY_CONTACT_BEGIN);
    step(b, 1000);
    assert_near(read(b, x).position.z, 0.1, 1e-3);
    assert_int_equal(vy_bodies_state_size(b), plain_size); // nobody has a filter any more
    vy_bodies_destroy(b);
    vy_bodies_destroy(alone);
}

static vy_bodies *sleepy_tower(vy_body_id *out, vy_body_id *ground)
{
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *b;
    def.dt = 1.0 / 120.0;
    def.contacts.on = 1;
    def.contacts.time_to_sleep = 0.2;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    const vy_shape shape = box(0.1, 0.1, 0.1), floor = plane(vec3_make(0, 0, 1));
    *ground = add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0.5, 0.0));
    for (int i = 0; i < 3; ++i)
        out[i] = add(b, VY_BODY_DYNAMIC, &shape, 1.0, vec3_make(0, 0, 0.1 + 0.2 * i), vec3_zero(),
                     surface(0.5, 0.0));
    for (int n = 0; n < 600 && vy_bodies_asleep(b) < 3; ++n) step(b, 1);
    assert_int_equal(vy_bodies_asleep(b), 3);
    return b;
}

static void a_changed_filter_wakes_the_island(void **unused)
{
    (void)unused;
    vy_body_id x[3], ground;
    vy_bodies *b = sleepy_tower(x, &ground);
    vy_filter plain = vy_default_filter();
    assert_int_equal(vy_body_set_filter(b, x[1], &plain), VY_OK); // the one it has
    assert_int_equal(vy_bodies_asleep(b), 3);
    assert_int_equal(vy_body_set_filter(b, x[1], &nobody), VY_OK);
    assert_int_equal(vy_bodies_asleep(b), 0);
    step(b, 1);
    assert_int_equal(phase_of(b, x[0], ground), VY_CONTACT_PERSIST);
    assert_int_equal(phase_of(b, x[0], x[1]), VY_CONTACT_END);
    assert_int_equal(phase_of(b, x[1], x[2]), VY_CONTACT_END);
    step(b, 60);
    assert_true(read(b, x[1]).position.z < 0.0); // through the floor
    vy_bodies_destroy(b);

    b = sleepy_tower(x, &ground); // the ground's
    assert_int_equal(vy_body_set_filter(b, ground, &nobody), VY_OK);
    assert_int_equal(vy_bodies_asleep(b), 0);
    step(b, 60);
    assert_true(read(b, x[2]).position.z < 0.0);
    vy_bodies_destroy(b);
}

// A kinematic body on another layer passes through those that sleep; on theirs again, it wakes them.
static void what_is_filtered_wakes_nobody(void **unused)
{
    (void)unused;
    vy_body_id x[3], ground;
    vy_bodies *b = sleepy_tower(x, &ground);
    const vy_shape shape = box(0.2, 0.2, 0.2);
    vy_body_def def = vy_default_body_def();
    def.kind = VY_BODY_KINEMATIC;
    def.shape = &shape;
    def.filter = nobody;
    def.state.position = vec3_make(-1.0, 0.0, 0.3);
    def.state.velocity = vec3_make(1.0, 0.0, 0.0);
    vy_body_id pusher;
    assert_int_equal(vy_bodies_add(b, &def, &pusher, NULL), VY_OK);
    step(b, 120);
    assert_int_equal(vy_bodies_asleep(b), 3);
    vy_body_state s = read(b, pusher);
    s.velocity = vec3_zero();
    assert_int_equal(vy_body_set_state(b, pusher, &s), VY_OK); // within the tower
    step(b, 1);
    assert_int_equal(vy_bodies_asleep(b), 3);
    const vy_filter plain = vy_default_filter();
    assert_int_equal(vy_body_set_filter(b, pusher, &plain), VY_OK);
    assert_int_equal(vy_bodies_asleep(b), 0);
    (void)vy_bodies_step(b); // deep in it
    assert_int_equal(phase_of(b, x[1], pusher), VY_CONTACT_BEGIN);
    vy_bodies_destroy(b);
}

// ---- state

// Thin plates at 100 m/s meet a plate that comes towards them, or pass through the one that is filtered.
static void fast_bodies_pass_what_is_filtered(void **unused)
{
    (void)unused;
    for (int filtered = 0; filtered < 2; ++filtered) {
        vy_bodies *b = new_set(1e-3, 0.0, 0);
        const vy_shape plate = box(0.005, 0.2, 0.2);
        const vy_filter other = filtered ? nobody : vy_default_filter();
        const vy_body_id x = add_filtered(b, &plate, vec3_make(-0.75, 0, 0), vec3_make(100, 0, 0),
                                          vy_default_filter()),
                         y = add_filtered(b, &plate, vec3_make(0.75, 0, 0), vec3_make(-100, 0, 0), other);
        for (int k = 0; k < 20; ++k) assert_int_equal(vy_bodies_step(b) & VY_BODIES_NOT_FINITE, 0);
        assert_true((read(b, x).position.x > read(b, y).position.x) == filtered);
        if (filtered) assert_near(read(b, x).velocity.x, 100.0, 0.0);
        vy_bodies_destroy(b);
    }
}

static void snapshots_have_filters(void **unused)
{
    (void)unused;
    static passive_scene t;
    passive_create(&t, 290017);
    size_t size, plain_size;
    void *plain = snapshot_of(t.b, &plain_size); // of bodies whose filters are all the default one
    const uint64_t plain_hash = vy_bodies_hash(t.b);
    const vy_filter odd = {6, 5, -3};
    assert_int_equal(vy_body_set_filter(t.b, t.ids[1], &odd), VY_OK);
    assert_true(vy_bodies_hash(t.b) != plain_hash);
    for (int n = 0; n < 50; ++n) (void)vy_bodies_step(t.b);
    void *block = snapshot_of(t.b, &size);
    uint64_t hashes[50];
    for (int n = 0; n < 50; ++n) {
        (void)vy_bodies_step(t.b);
        hashes[n] = vy_bodies_hash(t.b);
    }
    const vy_filter other = {8, 8, 8};
    assert_int_equal(vy_body_set_filter(t.b, t.ids[0], &other), VY_OK);
    ((unsigned char *)block)[size - 9] = 1; // a filter that none can be
    assert_int_equal(vy_bodies_restore(t.b, block, size, NULL), VY_BAD_VALUE);
    ((unsigned char *)block)[size - 9] = 0;
    assert_int_equal(vy_bodies_restore(t.b, block, size - 24, NULL), VY_BAD_VALUE);
    assert_int_equal(filter_of(t.b, t.ids[0]).group, 8);
    assert_int_equal(vy_bodies_restore(t.b, block, size, NULL), VY_OK);
    assert_int_equal(filter_of(t.b, t.ids[0]).group, 0);
    assert_int_equal(filter_of(t.b, t.ids[1]).group, -3);
    for (int n = 0; n < 50; ++n) {
        (void)vy_bodies_step(t.b);
        assert_int_equal(vy_bodies_hash(t.b), hashes[n]);
    }
    assert_int_equal(vy_bodies_restore(t.b, plain, plain_size, NULL), VY_OK);
    assert_int_equal(vy_bodies_hash(t.b), plain_hash);
    assert_int_equal(filter_of(t.b, t.ids[1]).group, 0);
    free(plain);
    free(block);
    passive_destroy(&t);
}

static void bodies_carry_data_of_the_caller(void **unused)
{
    (void)unused;
    vy_bodies *b = new_set(1e-3, G, 0);
    const vy_shape shape = ball(0.1);
    vy_body_def def = vy_default_body_def();
    vy_body_id x, y;
    def.shape = &shape;
    def.user_data = 0xfeedfacecafebeefu;
    assert_int_equal(vy_bodies_add(b, &def, &x, NULL), VY_OK);
    assert_int_equal(vy_body_user_data(b, x), 0xfeedfacecafebeefu);
    const uint64_t hash = vy_bodies_hash(b);
    assert_int_equal(vy_body_set_user_data(b, x, 5), VY_OK);
    assert_int_equal(vy_body_user_data(b, x), 5);
    assert_int_equal(vy_bodies_hash(b), hash);
    assert_int_equal(vy_bodies_remove(b, x), VY_OK);
    const vy_filter plain = vy_default_filter();
    vy_filter out;
    assert_int_equal(vy_body_user_data(b, x), 0);
    assert_int_equal(vy_body_set_user_data(b, x, 5), VY_NOT_FOUND);
    assert_int_equal(vy_body_set_filter(b, x, &plain), VY_NOT_FOUND);
    assert_int_equal(vy_body_read_filter(b, x, &out), VY_NOT_FOUND);
    def.user_data = 0;
    assert_int_equal(vy_bodies_add(b, &def, &y, NULL), VY_OK);
    assert_int_equal(vy_body_user_data(b, y), 0);
    vy_bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_and_groups_decide),
        cmocka_unit_test(filtered_bodies_change_nothing),
        cmocka_unit_test(heaps_of_layers_on_threads),
        cmocka_unit_test(joints_say_whether_their_bodies_collide),
        cmocka_unit_test(a_contact_ends_when_it_is_filtered),
        cmocka_unit_test(a_changed_filter_wakes_the_island),
        cmocka_unit_test(what_is_filtered_wakes_nobody),
        cmocka_unit_test(fast_bodies_pass_what_is_filtered),
        cmocka_unit_test(snapshots_have_filters),
        cmocka_unit_test(bodies_carry_data_of_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
