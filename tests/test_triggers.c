// test_triggers.c - triggers report who overlaps them, against overlaps computed one by one, and change
// nothing for anybody.
#include "passive_scenes.h"

enum { SCENES = 16, STEPS = 150, TRIGGERS = 6, MAX_SLOTS = 64 };

static vy_body_id add_trigger(vy_bodies *b, vy_body_kind kind, const vy_shape *shape, vy_vec3 position,
                              vy_vec3 velocity)
{
    vy_body_def def = vy_default_body_def();
    vy_body_id id;
    def.kind = kind;
    def.shape = shape;
    def.state.position = position;
    def.state.velocity = velocity;
    def.is_trigger = 1;
    assert_int_equal(vy_bodies_add(b, &def, &id, NULL), VY_OK);
    return id;
}

static vy_trigger_report report_at(const vy_bodies *b, uint32_t index)
{
    vy_trigger_report r;
    assert_int_equal(vy_bodies_trigger(b, index, &r), VY_OK);
    return r;
}

// The one report of a step.
static void assert_report(const vy_bodies *b, vy_body_id trigger, vy_body_id body, vy_contact_phase phase)
{
    assert_int_equal(vy_bodies_trigger_count(b), 1);
    const vy_trigger_report r = report_at(b, 0);
    assert_true(r.trigger == trigger.bits && r.body == body.bits);
    assert_int_equal(r.phase, phase);
}

static int overlap_now(const vy_bodies *b, uint32_t i, uint32_t j)
{
    const vy_shape *x, *y;
    vy_pose px, py;
    assert_int_equal(vy_body_read_shape(b, vy_bodies_at(b, i), &x, &px), VY_OK);
    assert_int_equal(vy_body_read_shape(b, vy_bodies_at(b, j), &y, &py), VY_OK);
    return vy_overlap(x, &px, y, &py);
}

static uint32_t slot_of(uint64_t id) { return (uint32_t)id - 1u; }

// Reports say who overlaps now, who began to and who ceased to; `open` is who did before. Returns how many
// began.
static uint32_t check_reports(const vy_bodies *b, const int is_static[], int open[][MAX_SLOTS])
{
    const uint32_t count = vy_bodies_slot_count(b), reports = vy_bodies_trigger_count(b);
    uint32_t n = 0, begun = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (!vy_body_is_trigger(b, vy_bodies_at(b, i))) continue;
        for (uint32_t j = 0; j < count; ++j) {
            if (j == i || vy_body_is_trigger(b, vy_bodies_at(b, j)) || (is_static[i] && is_static[j]))
                continue;
            const int now = overlap_now(b, i, j), before = open[i][j];
            const int here =
                n < reports && slot_of(report_at(b, n).trigger) == i && slot_of(report_at(b, n).body) == j;
            const int phase = here ? (int)report_at(b, n).phase : -1;
            open[i][j] = now;
            if (!here) {
                assert_true(!now && !before);
                continue;
            }
            ++n;
            begun += phase == VY_CONTACT_BEGIN;
            if (before) {
                assert_int_equal(phase, now ? VY_CONTACT_PERSIST : VY_CONTACT_END);
                continue;
            }
            assert_int_equal(phase, VY_CONTACT_BEGIN);
            if (now) continue;
            const vy_trigger_report r = report_at(b, n++); // it has passed
            assert_true(slot_of(r.trigger) == i && slot_of(r.body) == j && r.phase == VY_CONTACT_END);
        }
    }
    assert_int_equal(n, reports);
    return begun;
}

// Triggers of every kind among the bodies of a scene, one of them a plane, one carried by a body.
static void add_triggers(passive_scene *t, uint64_t seed, int is_static[])
{
    uint64_t x = passive_mix(seed ^ 0x74726967);
    const double size = 1.5 * vec3_length(read(t->b, t->ids[0]).position) + 0.01;
    for (int k = 0; k < TRIGGERS; ++k) {
        const double p = 0.05 + unit(&x), q = 0.05 + unit(&x), r = 0.01 + unit(&x);
        const vy_vec3 at = unit_vec(&x), v = unit_vec(&x);
        const vy_shape shape = k == 0   ? plane(vec3_make(0, 0.6, 0.8))
                               : k == 1 ? ball(size * p)
                                        : box(0.5 * size * p, 0.5 * size * q, 0.1 * size * r);
        const vy_vec3 position = vec3_make(size * (at.x - 0.5), size * (at.y - 0.5), size * at.z);
        is_static[vy_bodies_slot_count(t->b)] = k < 3;
        const vy_body_id id =
            add_trigger(t->b, k < 3 ? VY_BODY_STATIC : VY_BODY_KINEMATIC, &shape, position, vec3_zero());
        if (k < 3) continue;
        vy_body_state s = read(t->b, id);
        s.velocity = vec3_scale(size, v);
        s.rate = vec3_scale(k == 5 ? 100.0 : 3.0, v);
        assert_int_equal(vy_body_set_state(t->b, id, &s), VY_OK);
    }
    const vy_shape shape = ball(size); // dynamic, and in free fall
    is_static[vy_bodies_slot_count(t->b)] = 0;
    add_trigger(t->b, VY_BODY_DYNAMIC, &shape, vec3_make(0, 0, size), vec3_zero());
}

static void triggers_report_overlaps_and_change_nothing(void **unused)
{
    (void)unused;
    static passive_scene with, without;
    uint32_t begun = 0;
    for (uint64_t seed = 1; seed <= SCENES; seed += LAW_SLICE) {
        static int is_static[MAX_SLOTS], open[MAX_SLOTS][MAX_SLOTS];
        memset(is_static, 0, sizeof is_static);
        memset(open, 0, sizeof open);
        passive_create(&with, 295000 + seed);
        passive_create(&without, 295000 + seed);
        for (int k = 0; k < with.ground_heights; ++k) is_static[with.count + k] = 1;
        add_triggers(&with, seed, is_static);
        const uint32_t shared = vy_bodies_slot_count(without.b);
        assert_true(vy_bodies_slot_count(with.b) < MAX_SLOTS);
        for (int n = 0; n < STEPS; ++n) {
            (void)vy_bodies_step(with.b);
            (void)vy_bodies_step(without.b);
            for (uint32_t i = 0; i < shared; ++i) {
                const vy_body_state p = read(with.b, vy_bodies_at(with.b, i)),
                                    q = read(without.b, vy_bodies_at(without.b, i));
                assert_memory_equal(&p, &q, sizeof p);
            }
            assert_int_equal(vy_bodies_contact_count(with.b), vy_bodies_contact_count(without.b));
            begun += check_reports(with.b, is_static, open);
        }
        passive_destroy(&with);
        passive_destroy(&without);
    }
    assert_true(begun > 100 / LAW_SLICE);
}

// ---- passes

// Balls that fly through a thin plate within a step, or just past it, from everywhere.
static void passes_are_not_missed(void **unused)
{
    (void)unused;
    random_source r = {41};
    int passed = 0;
    for (int n = 0; n < 400; n += LAW_SLICE) {
        vy_bodies *b = new_set(1.0 / 60.0, 0.0, 0);
        const double radius = random_in(&r, 0.01, 0.1), speed = random_in(&r, 5.0, 300.0), half = 0.005;
        const vy_shape gate = box(1.0, 1.0, half), small = ball(radius);
        const vy_quat attitude = random_attitude(&r);
        const int moves = n / LAW_SLICE % 2; // the gate does, and the ball stands
        // Where it crosses the plate's middle plane, and how; not near an edge, where the corner decides.
        const double u = random_in(&r, -2.0, 2.0), v = random_in(&r, -0.8, 0.8);
        const vy_vec3 at = vec3_make(u, v, 0.0);
        if (fabs(fabs(u) - 1.0) < radius + 0.01) {
            vy_bodies_destroy(b);
            continue;
        }
        const vy_vec3 way = vec3_make(0.0, 0.0, n % 3 == 0 ? -1.0 : 1.0);
        vy_body_def def = vy_default_body_def();
        def.kind = VY_BODY_KINEMATIC;
        def.shape = &gate;
        def.is_trigger = 1;
        def.state.attitude = attitude;
        def.state.velocity = vec3_scale(moves ? -speed : 0.0, quat_rotate(attitude, way));
        vy_body_id trigger;
        assert_int_equal(vy_bodies_add(b, &def, &trigger, NULL), VY_OK);
        const double away = random_in(&r, 0.2, 0.5) + speed / 60.0;
        const vy_vec3 start = vec3_add_scaled(at, -away, way);
        const vy_body_id id =
            add(b, VY_BODY_DYNAMIC, &small, 1.0, quat_rotate(attitude, start),
                vec3_scale(moves ? 0.0 : speed, quat_rotate(attitude, way)), surface(0.5, 0.0));
        const int steps = (int)(60.0 * 2.0 * away / speed) + 2;
        int begun = 0, ended = 0;
        for (int k = 0; k < steps; ++k) {
            step(b, 1);
            for (uint32_t m = 0; m < vy_bodies_trigger_count(b); ++m) {
                const vy_trigger_report report = report_at(b, m);
                assert_true(report.trigger == trigger.bits && report.body == id.bits);
                begun += report.phase == VY_CONTACT_BEGIN;
                ended += report.phase == VY_CONTACT_END;
            }
        }
        assert_int_equal(begun, fabs(u) < 1.0);
        assert_int_equal(ended, fabs(u) < 1.0);
        passed += begun;
        vy_bodies_destroy(b);
    }
    assert_true(passed > 100 / LAW_SLICE);
}

// A blade that turns by half a revolution in a step strikes what lies in its circle.
static void blades_sweep_over_what_lies_there(void **unused)
{
    (void)unused;
    vy_bodies *b = new_set(1.0 / 60.0, 0.0, 0);
    const vy_shape blade = box(1.0, 0.02, 0.02), small = ball(0.05);
    const vy_body_id trigger = add_trigger(b, VY_BODY_KINEMATIC, &blade, vec3_zero(), vec3_zero());
    const vy_body_id near =
        add(b, VY_BODY_DYNAMIC, &small, 1.0, vec3_make(0, 0.9, 0), vec3_zero(), surface(0.5, 0.0));
    add(b, VY_BODY_DYNAMIC, &small, 1.0, vec3_make(0, 1.1, 0), vec3_zero(), surface(0.5, 0.0));
    vy_body_state s = read(b, trigger);
    s.rate = vec3_make(0, 0, 60.0 * PI);
    assert_int_equal(vy_body_set_state(b, trigger, &s), VY_OK);
    step(b, 1);
    assert_int_equal(vy_bodies_trigger_count(b), 2);
    assert_true(report_at(b, 0).body == near.bits && report_at(b, 0).phase == VY_CONTACT_BEGIN);
    assert_true(report_at(b, 1).body == near.bits && report_at(b, 1).phase == VY_CONTACT_END);
    assert_true(vec3_length(read(b, near).velocity) == 0.0);
    vy_bodies_destroy(b);
}

// ---- sleep

static vy_bodies *sleepy_box(vy_body_id *out)
{
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *b;
    def.dt = 1.0 / 120.0;
    def.contacts.on = 1;
    def.contacts.time_to_sleep = 0.2;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    const vy_shape shape = box(0.1, 0.1, 0.1), floor = plane(vec3_make(0, 0, 1));
    *out = add(b, VY_BODY_DYNAMIC, &shape, 1.0, vec3_make(0, 0, 0.1), vec3_zero(), surface(0.5, 0.0));
    add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0.5, 0.0));
    return b;
}

static void sleepers_stay_asleep_in_triggers(void **unused)
{
    (void)unused;
    vy_body_id x;
    vy_bodies *b = sleepy_box(&x);
    const vy_shape zone = box(0.5, 0.5, 0.2);
    const vy_body_id still = add_trigger(b, VY_BODY_STATIC, &zone, vec3_make(0.2, 0, 0), vec3_zero());
    step(b, 1);
    assert_report(b, still, x, VY_CONTACT_BEGIN);
    for (int n = 0; n < 240; ++n) {
        step(b, 1);
        assert_report(b, still, x, VY_CONTACT_PERSIST);
    }
    assert_int_equal(vy_bodies_asleep(b), 1);
    // One is pulled away, another flies through; nobody wakes.
    vy_body_state s = read(b, still);
    s.position.x = 5.0;
    assert_int_equal(vy_body_set_state(b, still, &s), VY_OK);
    step(b, 1);
    assert_report(b, still, x, VY_CONTACT_END);
    step(b, 1);
    assert_int_equal(vy_bodies_trigger_count(b), 0);
    const vy_body_id flying =
        add_trigger(b, VY_BODY_KINEMATIC, &zone, vec3_make(-2.0, 0, 0.3), vec3_make(2.0, 0, 0));
    int begun = 0, ended = 0;
    for (int n = 0; n < 240; ++n) {
        step(b, 1);
        for (uint32_t k = 0; k < vy_bodies_trigger_count(b); ++k) {
            begun += report_at(b, k).body == x.bits && report_at(b, k).phase == VY_CONTACT_BEGIN;
            ended += report_at(b, k).body == x.bits && report_at(b, k).phase == VY_CONTACT_END;
        }
        assert_int_equal(vy_bodies_asleep(b), 1);
    }
    assert_true(begun == 1 && ended == 1);
    assert_int_equal(vy_bodies_remove(b, flying), VY_OK);
    assert_int_equal(vy_bodies_asleep(b), 1);
    vy_bodies_destroy(b);
}

// ---- changes

static void removed_bodies_end_their_overlaps(void **unused)
{
    (void)unused;
    vy_body_id x;
    vy_bodies *b = sleepy_box(&x);
    const vy_shape zone = box(0.5, 0.5, 0.5), small = ball(0.1);
    const vy_body_id trigger = add_trigger(b, VY_BODY_STATIC, &zone, vec3_zero(), vec3_zero());
    step(b, 120);
    assert_report(b, trigger, x, VY_CONTACT_PERSIST);
    assert_int_equal(vy_bodies_remove(b, x), VY_OK);
    const vy_body_id y =
        add(b, VY_BODY_DYNAMIC, &small, 1.0, vec3_make(0, 0, 0.3), vec3_zero(), surface(0.5, 0.0));
    assert_int_equal((uint32_t)y.bits, (uint32_t)x.bits); // in the slot of the other
    step(b, 1);
    assert_int_equal(vy_bodies_trigger_count(b), 2);
    assert_true(report_at(b, 0).body == x.bits && report_at(b, 0).phase == VY_CONTACT_END);
    assert_true(report_at(b, 1).body == y.bits && report_at(b, 1).phase == VY_CONTACT_BEGIN);
    for (int n = 0; n < 600 && !vy_bodies_asleep(b); ++n) step(b, 1);
    assert_int_equal(vy_bodies_asleep(b), 1);
    step(b, 10);
    assert_report(b, trigger, y, VY_CONTACT_PERSIST);
    assert_int_equal(vy_bodies_remove(b, trigger), VY_OK); // everything else sleeps
    step(b, 1);
    assert_report(b, trigger, y, VY_CONTACT_END);
    step(b, 1);
    assert_int_equal(vy_bodies_trigger_count(b), 0);
    vy_bodies_destroy(b);
}

static void triggers_come_and_go(void **unused)
{
    (void)unused;
    vy_body_id x;
    vy_bodies *b = sleepy_box(&x);
    const vy_body_id floor = vy_bodies_at(b, 1);
    for (int n = 0; n < 600 && !vy_bodies_asleep(b); ++n) step(b, 1);
    assert_int_equal(vy_bodies_asleep(b), 1);
    assert_false(vy_body_is_trigger(b, floor));
    assert_int_equal(vy_body_set_trigger(b, floor, 2), VY_OK); // what it carried falls
    assert_true(vy_body_is_trigger(b, floor));
    assert_int_equal(vy_bodies_asleep(b), 0);
    step(b, 1);
    assert_report(b, floor, x, VY_CONTACT_BEGIN);
    step(b, 30);
    assert_true(read(b, x).position.z < 0.0);
    assert_report(b, floor, x, VY_CONTACT_PERSIST);
    const vy_filter nobody = {1, 0, 0}, plain = vy_default_filter();
    assert_int_equal(vy_body_set_filter(b, x, &nobody), VY_OK);
    step(b, 1);
    assert_report(b, floor, x, VY_CONTACT_END);
    assert_int_equal(vy_body_set_filter(b, x, &plain), VY_OK);
    step(b, 1);
    assert_report(b, floor, x, VY_CONTACT_BEGIN);
    assert_int_equal(vy_body_set_trigger(b, floor, 0), VY_OK);
    (void)vy_bodies_step(b);
    assert_report(b, floor, x, VY_CONTACT_END);
    assert_true(vy_bodies_contact_count(b) == 1); // and is pushed out
    // Two triggers do not see each other.
    assert_int_equal(vy_body_set_trigger(b, floor, 1), VY_OK);
    assert_int_equal(vy_body_set_trigger(b, x, 1), VY_OK);
    step(b, 2);
    assert_int_equal(vy_bodies_trigger_count(b), 0);
    vy_bodies_destroy(b);
}

static void triggers_that_cannot_be(void **unused)
{
    (void)unused;
    vy_bodies *b = new_set(0.01, G, 0), *without;
    vy_bodies_def set = vy_default_bodies_def();
    const vy_shape small = ball(0.1);
    vy_body_def def = vy_default_body_def();
    vy_body_id id;
    vy_error err;
    def.kind = VY_BODY_STATIC;
    def.is_trigger = 1;
    assert_int_equal(vy_bodies_add(b, &def, NULL, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "a trigger needs a shape"));
    assert_int_equal(vy_bodies_count(b), 0);
    def.is_trigger = 0;
    assert_int_equal(vy_bodies_add(b, &def, &id, NULL), VY_OK);
    assert_int_equal(vy_body_set_trigger(b, id, 1), VY_BAD_VALUE);
    assert_int_equal(vy_body_set_trigger(b, VY_NULL_BODY, 1), VY_NOT_FOUND);
    assert_int_equal(vy_bodies_create(&set, &without, NULL), VY_OK); // no contacts
    def.shape = &small;
    def.is_trigger = 1;
    assert_int_equal(vy_bodies_add(without, &def, NULL, &err), VY_BAD_VALUE);
    def.is_trigger = 0;
    assert_int_equal(vy_bodies_add(without, &def, &id, NULL), VY_OK);
    assert_int_equal(vy_body_set_trigger(without, id, 1), VY_BAD_VALUE);
    assert_int_equal(vy_bodies_trigger_count(without), 0);
    vy_trigger_report r;
    assert_int_equal(vy_bodies_trigger(without, 0, &r), VY_NOT_FOUND);
    vy_bodies_destroy(b);
    vy_bodies_destroy(without);
}

// A body with a trigger about it does not see itself there, unless its joint says that they collide.
static void who_carries_a_trigger_is_not_in_it(void **unused)
{
    (void)unused;
    for (int on = 0; on < 2; ++on) {
        vy_bodies *b = new_set(0.01, G, 0);
        const vy_shape small = ball(0.1), zone = ball(0.5);
        const vy_body_id x = add(b, VY_BODY_DYNAMIC, &small, 1.0, vec3_zero(), vec3_make(1, 0, 0),
                                 surface(0, 0)),
                         y = add(b, VY_BODY_STATIC, &small, 1.0, vec3_make(2, 0, 0), vec3_zero(),
                                 surface(0, 0)),
                         trigger = add_trigger(b, VY_BODY_DYNAMIC, &zone, vec3_zero(), vec3_make(1, 0, 0));
        vy_joint_def def = vy_default_joint_def();
        def.kind = VY_JOINT_FIXED;
        assert_int_equal(vy_joint_set_frames(b, x, trigger, vec3_zero(), vec3_make(0, 0, 1), &def), VY_OK);
        def.collide_connected = on ? VY_JOINT_COLLIDE_ON : VY_JOINT_COLLIDE_BY_KIND;
        assert_int_equal(vy_bodies_add_joint(b, &def, NULL, NULL), VY_OK);
        int seen = 0;
        for (int n = 0; n < 20; ++n) {
            step(b, 1);
            for (uint32_t k = 0; k < vy_bodies_trigger_count(b); ++k) {
                seen |= report_at(b, k).body == x.bits;
                assert_true(report_at(b, k).body != y.bits);
            }
        }
        assert_int_equal(seen, on);
        vy_bodies_destroy(b);
    }
}

// ---- state

static void snapshots_reproduce_reports(void **unused)
{
    (void)unused;
    static passive_scene t;
    enum { LATER = 100, REPORTS = 64 };
    static int is_static[MAX_SLOTS];
    passive_create(&t, 295003);
    add_triggers(&t, 3, is_static);
    for (int n = 0; n < 40; ++n) (void)vy_bodies_step(t.b);
    assert_int_equal(vy_bodies_remove(t.b, t.ids[0]), VY_OK); // its overlaps have not ended yet
    size_t size;
    unsigned char *block = snapshot_of(t.b, &size);
    static vy_trigger_report reports[LATER][REPORTS];
    static uint32_t counts[LATER];
    uint64_t hashes[LATER];
    for (int turn = 0; turn < 2; ++turn) {
        uint32_t ends = 0;
        for (int n = 0; n < LATER; ++n) {
            (void)vy_bodies_step(t.b);
            const uint32_t count = vy_bodies_trigger_count(t.b);
            assert_true(count <= REPORTS);
            if (turn == 0) counts[n] = count;
            if (turn == 0) hashes[n] = vy_bodies_hash(t.b);
            assert_int_equal(count, counts[n]);
            assert_int_equal(vy_bodies_hash(t.b), hashes[n]);
            for (uint32_t k = 0; k < count; ++k) {
                const vy_trigger_report r = report_at(t.b, k), *seen = &reports[n][k];
                if (turn == 0) reports[n][k] = r;
                assert_true(r.trigger == seen->trigger && r.body == seen->body && r.phase == seen->phase);
                ends += r.body == t.ids[0].bits && r.phase == VY_CONTACT_END;
            }
        }
        assert_true(ends > 0);
        assert_int_equal(vy_bodies_restore(t.b, block, size, NULL), VY_OK);
        assert_int_equal(vy_bodies_trigger_count(t.b), 0);
    }
    // Pairs out of order, of slots that are not, and more or fewer than it says.
    const uint64_t hash = vy_bodies_hash(t.b);
    block[size - 16] ^= 0xff;
    assert_int_equal(vy_bodies_restore(t.b, block, size, NULL), VY_BAD_VALUE);
    block[size - 16] ^= 0xff;
    assert_int_equal(vy_bodies_restore(t.b, block, size - 16, NULL), VY_BAD_VALUE);
    assert_int_equal(vy_bodies_restore(t.b, block, size - 1, NULL), VY_BAD_VALUE);
    memcpy(block + size - 16, block + size - 32, 16);
    assert_int_equal(vy_bodies_restore(t.b, block, size, NULL), VY_BAD_VALUE);
    assert_int_equal(vy_bodies_hash(t.b), hash);
    free(block);
    passive_destroy(&t);
}

// A heap with zones in it: the same reports and bits on any number of threads.
static void heaps_in_zones_on_threads(void **unused)
{
    (void)unused;
    vy_bodies *sets[2];
    for (int k = 0; k < 2; ++k) {
        vy_bodies_def def = vy_default_bodies_def();
        def.dt = 1.0 / 120.0;
        def.contacts.on = 1;
        def.contacts.threads = k == 0 ? 1 : 3;
        assert_int_equal(vy_bodies_create(&def, &sets[k], NULL), VY_OK);
        const vy_shape floor = plane(vec3_make(0, 0, 1)), small = ball(0.1), brick = box(0.1, 0.15, 0.05),
                       zone = box(0.7, 0.7, 0.7);
        add(sets[k], VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), surface(0.5, 0.0));
        uint64_t x = 11;
        for (int i = 0; i < 600; ++i) {
            const vy_vec3 at = unit_vec(&x);
            add(sets[k], VY_BODY_DYNAMIC, i % 2 ? &small : &brick, 1.0,
                vec3_make(3.0 * at.x, 3.0 * at.y, 0.2 + 3.0 * at.z), vec3_zero(), surface(0.5, 0.0));
        }
        for (int i = 0; i < 4; ++i)
            add_trigger(sets[k], i % 2 ? VY_BODY_KINEMATIC : VY_BODY_STATIC, &zone,
                        vec3_make(0.8 * i, 0.8 * i, 0.5), i % 2 ? vec3_make(0.3, 0, 0.1) : vec3_zero());
    }
    uint32_t reports = 0;
    for (int n = 0; n < 120; ++n) {
        assert_int_equal(vy_bodies_step(sets[0]), vy_bodies_step(sets[1]));
        const uint32_t count = vy_bodies_trigger_count(sets[0]);
        assert_int_equal(count, vy_bodies_trigger_count(sets[1]));
        for (uint32_t k = 0; k < count; ++k, ++reports) {
            const vy_trigger_report p = report_at(sets[0], k), q = report_at(sets[1], k);
            assert_true(p.trigger == q.trigger && p.body == q.body && p.phase == q.phase);
        }
        assert_int_equal(vy_bodies_hash(sets[0]), vy_bodies_hash(sets[1]));
    }
    assert_true(reports > 10000);
    for (int k = 0; k < 2; ++k) vy_bodies_destroy(sets[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triggers_report_overlaps_and_change_nothing),
        cmocka_unit_test(passes_are_not_missed),
        cmocka_unit_test(blades_sweep_over_what_lies_there),
        cmocka_unit_test(sleepers_stay_asleep_in_triggers),
        cmocka_unit_test(removed_bodies_end_their_overlaps),
        cmocka_unit_test(triggers_come_and_go),
        cmocka_unit_test(triggers_that_cannot_be),
        cmocka_unit_test(who_carries_a_trigger_is_not_in_it),
        cmocka_unit_test(snapshots_reproduce_reports),
        cmocka_unit_test(heaps_in_zones_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
