// test_queries.c - what rays, moving shapes, shapes and points meet in a set: the answers of looking at every
// body with the queries on two shapes, to the bit, with a tree and without.
#include "collision_samples.h"
#include "base/pool.h"
#include "volery/joint.h"
#include "volery/query.h"
#include <stdatomic.h>

enum { GRID = 6, HITS = 256, BODIES = 60 };

/// A set with all kinds of shapes, static, kinematic and dynamic, that have come and gone.
typedef struct scene {
    vy_bodies *b;
    double heights[GRID * GRID];
    vy_hull *hull;
    vy_body_id id[BODIES];
    sampler s;
} scene;

static vy_body_id add_body(scene *c, int kind, double reach)
{
    vy_body_def def = vy_default_body_def();
    vy_body_id id;
    const vy_shape shape = sample_shape(&c->s, kind, 0.5, c->hull);
    def.shape = &shape;
    def.kind = (vy_body_kind)(3.0 * sample_unit(&c->s));
    def.state.position = vec3_scale(reach, sample_vec(&c->s));
    def.state.attitude = sample_rotation(&c->s);
    def.state.velocity = sample_vec(&c->s);
    def.state.rate = sample_vec(&c->s);
    assert_int_equal(vy_bodies_add(c->b, &def, &id, NULL), VY_OK);
    return id;
}

static void add_ground(scene *c, const vy_shape *shape, vy_vec3 position)
{
    vy_body_def def = vy_default_body_def();
    def.kind = VY_BODY_STATIC;
    def.shape = shape;
    def.state.position = position;
    def.state.attitude = quat_normalize(quat_make(1.0, 0.05, 0.02, 0.3));
    assert_int_equal(vy_bodies_add(c->b, &def, NULL, NULL), VY_OK);
}

static void make_scene(scene *c, uint64_t seed, int contacts, int count, double reach)
{
    vy_bodies_def def = vy_default_bodies_def();
    vy_shape plane = {0}, field = {0};
    c->s.state = seed;
    def.contacts.on = contacts;
    def.contacts.time_to_sleep = contacts ? 0.1 : 0.0;
    assert_int_equal(vy_bodies_create(&def, &c->b, NULL), VY_OK);
    c->hull = NULL;
    while (c->hull == NULL) c->hull = sample_hull(&c->s, 0, 0.6);
    for (int i = 0; i < count; ++i) c->id[i] = add_body(c, i % 5, reach);
    for (int i = 0; i < GRID * GRID; ++i) c->heights[i] = sample_unit(&c->s);
    assert_int_equal(vy_shape_plane(vec3_make(0, 0, 1), -reach, &plane, NULL), VY_OK);
    assert_int_equal(vy_shape_height_field(GRID, GRID, 1.5, c->heights, &field, NULL), VY_OK);
    add_ground(c, &plane, vec3_zero());
    add_ground(c, &field, vec3_make(-reach, -reach, -0.8 * reach));
    vy_body_def bare = vy_default_body_def(); // a body without a shape
    bare.inertia = mat3_diag(1.0, 1.0, 1.0);
    assert_int_equal(vy_bodies_add(c->b, &bare, NULL, NULL), VY_OK);
}

static void end_scene(scene *c)
{
    vy_bodies_destroy(c->b);
    vy_hull_destroy(c->hull);
}

// ---- what a query must find: every body by the public queries on two shapes

/// One query of any kind.
typedef struct probe {
    int kind; // 0: ray, 1: moving shape, 2: overlap, 3: point, 4: shape
    vy_ray ray;
    vy_shape shape;
    vy_pose pose;
    vy_vec3 motion;
    double reach;
} probe;

static probe random_probe(scene *c, int kind, double reach)
{
    probe p = {.kind = kind};
    const vy_vec3 at = vec3_scale(reach, sample_vec(&c->s));
    p.shape = sample_shape(&c->s, (int)(5.0 * sample_unit(&c->s)), 0.5, c->hull);
    p.pose = (vy_pose){at, sample_rotation(&c->s)};
    p.motion = vec3_scale(reach, sample_vec(&c->s));
    p.reach = sample_unit(&c->s) < 0.3 ? INFINITE : reach * sample_unit(&c->s);
    p.ray = (vy_ray){at, p.motion, sample_unit(&c->s) < 0.3 ? INFINITE : 3.0 * sample_unit(&c->s)};
    if (sample_unit(&c->s) < 0.2) p.ray.direction = vec3_make(0, 0, -1); // along an axis
    return p;
}

static int meets(const probe *p, const vy_shape *shape, const vy_pose *pose, vy_body_hit *out)
{
    vy_ray_hit ray;
    vy_cast_hit cast;
    vy_distance d;
    vy_manifold m;
    int hit = 0;
    *out = (vy_body_hit){.t = 0.0};
    switch (p->kind) {
    case 0:
        hit = vy_ray_cast(shape, pose, p->ray.origin, p->ray.direction, p->ray.t_max, &ray);
        if (hit) *out = (vy_body_hit){.t = ray.t, .point = ray.point, .normal = ray.normal};
        return hit;
    case 1:
        assert_int_equal(vy_shape_cast(shape, pose, &p->shape, &p->pose, p->motion, NULL, &hit, &cast),
                         VY_OK);
        if (hit) *out = (vy_body_hit){.t = cast.t, .point = cast.point, .normal = cast.normal};
        return hit;
    case 2:
        if (!vy_overlap(shape, pose, &p->shape, &p->pose)) return 0;
        assert_int_equal(vy_collide(shape, pose, &p->shape, &p->pose, &m), VY_OK);
        assert_true(m.count > 0);
        *out = (vy_body_hit){.t = -m.points[0].depth, .point = m.points[0].point_a, .normal = m.normal};
        return 1;
    case 3: assert_int_equal(vy_shape_closest_point(shape, pose, p->pose.position, &d), VY_OK); break;
    default:
        assert_int_equal(vy_shape_distance(shape, pose, &p->shape, &p->pose, NULL, NULL, &d, NULL), VY_OK);
        break;
    }
    *out = (vy_body_hit){.t = d.distance, .point = d.point_a, .normal = d.normal};
    return d.distance <= p->reach;
}

static uint32_t slot_of(const vy_body_hit *h) { return (uint32_t)(h->body.bits & 0xffffffffu) - 1u; }

static int less(const vy_body_hit *a, const vy_body_hit *b)
{
    return a->t < b->t || (a->t == b->t && slot_of(a) < slot_of(b));
}

// Whether a query with this filter looks at a body.
static int is_seen(const vy_bodies *b, vy_body_id id, const vy_query_filter *f)
{
    vy_filter of_body;
    assert_int_equal(vy_body_read_filter(b, id, &of_body), VY_OK);
    if (f == NULL) return !vy_body_is_trigger(b, id);
    return (f->triggers || !vy_body_is_trigger(b, id)) && f->except.bits != id.bits &&
           vy_filters_collide(&f->filter, &of_body) && (f->accept == NULL || f->accept(f->self, id));
}

static size_t look_at_all(const scene *c, const probe *p, const vy_query_filter *filter, vy_body_hit *out)
{
    size_t n = 0;
    for (uint32_t i = 0; i < vy_bodies_slot_count(c->b); ++i) {
        const vy_body_id id = vy_bodies_at(c->b, i);
        const vy_shape *shape;
        vy_pose pose;
        vy_body_hit hit;
        if (id.bits == 0 || !is_seen(c->b, id, filter)) continue;
        assert_int_equal(vy_body_read_shape(c->b, id, &shape, &pose), VY_OK);
        if (shape == NULL || !meets(p, shape, &pose, &hit)) continue;
        hit.body = id;
        size_t at = n++;
        assert_true(n <= HITS);
        for (; at > 0 && less(&hit, &out[at - 1]); --at) out[at] = out[at - 1];
        out[at] = hit;
    }
    return n;
}

static vy_status ask_all(const vy_bodies *b, const probe *p, const vy_query_filter *filter, vy_body_hit *out,
                         size_t capacity, size_t *count)
{
    switch (p->kind) {
    case 0: return vy_bodies_cast_ray_all(b, &p->ray, filter, out, capacity, count, NULL);
    case 1:
        return vy_bodies_cast_shape_all(b, &p->shape, &p->pose, p->motion, filter, out, capacity, count,
                                        NULL);
    case 2: return vy_bodies_overlap_shape(b, &p->shape, &p->pose, filter, out, capacity, count, NULL);
    case 3:
        return vy_bodies_closest_to_point_all(b, p->pose.position, p->reach, filter, out, capacity, count,
                                              NULL);
    default:
        return vy_bodies_closest_to_shape_all(b, &p->shape, &p->pose, p->reach, filter, out, capacity, count,
                                              NULL);
    }
}

static vy_status ask_first(const vy_bodies *b, const probe *p, const vy_query_filter *filter,
                           vy_body_hit *out)
{
    switch (p->kind) {
    case 0: return vy_bodies_cast_ray(b, &p->ray, filter, out, NULL);
    case 1: return vy_bodies_cast_shape(b, &p->shape, &p->pose, p->motion, filter, out, NULL);
    case 3: return vy_bodies_closest_to_point(b, p->pose.position, p->reach, filter, out, NULL);
    default: return vy_bodies_closest_to_shape(b, &p->shape, &p->pose, p->reach, filter, out, NULL);
    }
}

static void assert_same(const vy_body_hit *a, const vy_body_hit *b)
{
    assert_true(a->body.bits == b->body.bits && a->t == b->t);
    assert_memory_equal(&a->point, &b->point, sizeof a->point);
    assert_memory_equal(&a->normal, &b->normal, sizeof a->normal);
}

// Returns how many hits there are.
static size_t check_probe(const scene *c, const probe *p, const vy_query_filter *filter)
{
    static vy_body_hit want[HITS], have[HITS];
    const size_t n = look_at_all(c, p, filter, want);
    size_t count = 0;
    assert_int_equal(ask_all(c->b, p, filter, have, HITS, &count), VY_OK);
    assert_int_equal(count, n);
    for (size_t i = 0; i < n; ++i) assert_same(&have[i], &want[i]);
    if (n > 0) {
        assert_int_equal(ask_all(c->b, p, filter, have, n - 1, &count), VY_FULL);
        assert_int_equal(count, n);
    }
    if (p->kind == 2) return n;
    const vy_body_hit none = {.t = 0.0};
    assert_int_equal(ask_first(c->b, p, filter, have), VY_OK);
    assert_same(&have[0], n > 0 ? &want[0] : &none);
    return n;
}

// Some of each kind, with the tree and without.
static size_t check_scene(scene *c, double reach, int probes)
{
    size_t hits = 0;
    for (int prepared = 0; prepared < 2; ++prepared) {
        if (prepared) assert_int_equal(vy_bodies_prepare_queries(c->b), VY_OK);
        for (int k = 0; k < 5 * probes; ++k) {
            const probe p = random_probe(c, k % 5, reach);
            hits += check_probe(c, &p, NULL);
        }
    }
    return hits;
}

// ---- tests

static void answers_are_those_of_every_body(void **unused)
{
    (void)unused;
    size_t hits = 0;
    for (int round = 0; round < 24 / LAW_SLICE; ++round) {
        scene c;
        const int count = round % 4 == 0 ? round / 4 : BODIES;
        const double reach = round % 3 == 0 ? 2.0 : 6.0;
        make_scene(&c, 900u + (uint64_t)round, round % 2, count, reach);
        hits += check_scene(&c, reach, 30);
        end_scene(&c);
    }
    assert_true(hits > 1000);
}

// After steps, moved, removed and added bodies, and a restored snapshot: of the present poses, always.
static void answers_are_of_the_present(void **unused)
{
    (void)unused;
    for (int round = 0; round < 8 / (LAW_SLICE > 1 ? 4 : 1); ++round) {
        scene c;
        make_scene(&c, 77u + (uint64_t)round, round % 2, BODIES, 4.0);
        (void)check_scene(&c, 4.0, 4);
        const size_t size = vy_bodies_state_size(c.b);
        void *block = malloc(size);
        assert_non_null(block);
        vy_bodies_save(c.b, block);
        for (int k = 0; k < 30; ++k) (void)vy_bodies_step(c.b);
        (void)check_scene(&c, 4.0, 4);
        assert_int_equal(vy_bodies_restore(c.b, block, size, NULL), VY_OK);
        free(block);
        (void)check_scene(&c, 4.0, 4);
        for (int k = 0; k < 12; ++k) { // few: the tree is not built anew
            const vy_body_id id = c.id[(int)(BODIES * sample_unit(&c.s))];
            vy_body_state s;
            if (vy_body_read(c.b, id, &s) != VY_OK) continue;
            s.position = vec3_scale(4.0, sample_vec(&c.s));
            assert_int_equal(vy_body_set_state(c.b, id, &s), VY_OK);
            (void)check_scene(&c, 4.0, 1);
            if (k % 3 == 0) assert_int_equal(vy_bodies_remove(c.b, id), VY_OK);
            if (k % 4 == 0) (void)add_body(&c, k % 5, 4.0);
            (void)check_scene(&c, 4.0, 1);
        }
        for (int k = 0; k < 100; ++k) (void)add_body(&c, k % 5, 6.0); // the memory grows
        (void)check_scene(&c, 4.0, 2);
        end_scene(&c);
    }
}

// A set that is asked has the bits of one that is not.
static void queries_change_nothing(void **unused)
{
    (void)unused;
    for (int contacts = 0; contacts < 2; ++contacts) {
        scene c, other;
        make_scene(&c, 5, contacts, BODIES, 3.0);
        make_scene(&other, 5, contacts, BODIES, 3.0);
        for (int k = 0; k < 60; ++k) {
            (void)check_scene(&c, 3.0, 1);
            assert_true(vy_bodies_hash(c.b) == vy_bodies_hash(other.b));
            assert_int_equal(vy_bodies_step(c.b), vy_bodies_step(other.b));
        }
        assert_true(vy_bodies_hash(c.b) == vy_bodies_hash(other.b));
        end_scene(&c);
        end_scene(&other);
    }
}

static int is_even(void *self, vy_body_id id)
{
    *(int *)self += 1;
    return (id.bits & 0xffffffffu) % 2 == 0;
}

// Bodies on four layers that meet some of them, some of them triggers.
static void filters_leave_bodies_out(void **unused)
{
    (void)unused;
    scene c;
    make_scene(&c, 31, 1, BODIES, 3.0);
    int asked = 0;
    size_t plain = 0, with_triggers = 0;
    for (int i = 0; i < BODIES; ++i) {
        vy_filter f = vy_default_filter();
        f.category = 1u << i % 4;
        f.mask = (uint64_t)(15.0 * sample_unit(&c.s)) + 1u;
        f.group = i % 9 == 0 ? 5 : 0;
        assert_int_equal(vy_body_set_filter(c.b, c.id[i], &f), VY_OK);
        assert_int_equal(vy_body_set_trigger(c.b, c.id[i], i % 7 == 0), VY_OK);
    }
    for (int k = 0; k < 400; ++k) {
        if (k == 200) assert_int_equal(vy_bodies_prepare_queries(c.b), VY_OK);
        const probe p = random_probe(&c, k % 5, 3.0);
        vy_query_filter f = vy_default_query_filter();
        (void)check_probe(&c, &p, NULL);
        plain += check_probe(&c, &p, &f);
        f.triggers = 1;
        with_triggers += check_probe(&c, &p, &f);
        f.filter.category = 1u << k % 4;
        f.filter.mask = 6;
        f.filter.group = k % 3 == 0 ? -5 : k % 3 == 1 ? 5 : 0;
        (void)check_probe(&c, &p, &f);
        f.except = c.id[k % BODIES];
        (void)check_probe(&c, &p, &f);
        f.accept = is_even;
        f.self = &asked;
        (void)check_probe(&c, &p, &f);
        f.filter = vy_default_filter();
        f.filter.mask = 64; // no body is on this layer
        size_t count = 1;
        assert_int_equal(ask_all(c.b, &p, &f, NULL, 0, &count), VY_OK);
        assert_int_equal(count, 0);
    }
    assert_true(asked > 0 && plain > 0 && with_triggers > plain);
    end_scene(&c);
}

// Two at one place: the lower slot comes first, whichever was put there first.
static void ties_go_by_slot(void **unused)
{
    (void)unused;
    vy_bodies_def set = vy_default_bodies_def();
    vy_bodies *b = NULL;
    vy_shape ball = {0};
    vy_body_id id[3];
    assert_int_equal(vy_bodies_create(&set, &b, NULL), VY_OK);
    assert_int_equal(vy_shape_sphere(0.5, &ball, NULL), VY_OK);
    vy_body_def def = vy_default_body_def();
    def.shape = &ball;
    for (int i = 0; i < 3; ++i) assert_int_equal(vy_bodies_add(b, &def, &id[i], NULL), VY_OK);
    assert_int_equal(vy_bodies_remove(b, id[0]), VY_OK);
    assert_int_equal(vy_bodies_add(b, &def, &id[0], NULL), VY_OK); // the slot that was freed
    const vy_ray ray = {{-5.0, 0.25, 0.0}, {2.0, 0.0, 0.0}, INFINITE};
    for (int prepared = 0; prepared < 2; ++prepared) {
        if (prepared) assert_int_equal(vy_bodies_prepare_queries(b), VY_OK);
        vy_body_hit hit, all[3];
        size_t count = 0;
        assert_int_equal(vy_bodies_cast_ray(b, &ray, NULL, &hit, NULL), VY_OK);
        assert_true(hit.body.bits == id[0].bits);
        assert_near(hit.t, 0.5 * (5.0 - sqrt(0.25 - 0.0625)), 1e-15);
        assert_int_equal(vy_bodies_cast_ray_all(b, &ray, NULL, all, 3, &count, NULL), VY_OK);
        assert_int_equal(count, 3);
        for (int i = 0; i < 3; ++i) assert_true(all[i].body.bits == id[i].bits && all[i].t == hit.t);
    }
    vy_bodies_destroy(b);
}

static void many_rays_are_each_of_them(void **unused)
{
    (void)unused;
    enum { RAYS = 300 };
    scene c;
    make_scene(&c, 3, 0, BODIES, 4.0);
    vy_ray rays[RAYS];
    vy_body_hit hits[RAYS], one;
    for (int i = 0; i < RAYS; ++i) rays[i] = random_probe(&c, 0, 4.0).ray;
    for (int prepared = 0; prepared < 2; ++prepared) {
        if (prepared) assert_int_equal(vy_bodies_prepare_queries(c.b), VY_OK);
        assert_int_equal(vy_bodies_cast_rays(c.b, rays, RAYS, NULL, hits, NULL), VY_OK);
        for (int i = 0; i < RAYS; ++i) {
            assert_int_equal(vy_bodies_cast_ray(c.b, &rays[i], NULL, &one, NULL), VY_OK);
            assert_same(&hits[i], &one);
        }
    }
    vy_error err;
    const vy_body_hit before = hits[0];
    rays[RAYS - 1].t_max = -1.0;
    hits[0].t = -5.0;
    assert_int_equal(vy_bodies_cast_rays(c.b, rays, RAYS, NULL, hits, &err), VY_BAD_VALUE);
    assert_true(hits[0].t == -5.0 && before.t != -5.0); // not even the good ones
    assert_int_equal(vy_bodies_cast_rays(c.b, NULL, 0, NULL, NULL, NULL), VY_OK);
    end_scene(&c);
}

/// Threads that ask the same of one set.
typedef struct crowd {
    const scene *c;
    const probe *probes;
    const vy_body_hit *want; // the first of each
    atomic_int wrong;
} crowd;

static void ask_in_parallel(void *self, uint32_t thread, size_t first, size_t last)
{
    (void)thread;
    crowd *w = self;
    for (size_t i = first; i < last; ++i) {
        vy_body_hit hit;
        if (ask_first(w->c->b, &w->probes[i], NULL, &hit) != VY_OK || hit.body.bits != w->want[i].body.bits ||
            hit.t != w->want[i].t)
            atomic_store(&w->wrong, 1);
    }
}

static void threads_may_ask_at_once(void **unused)
{
    (void)unused;
    enum { PROBES = 400 };
    static probe probes[PROBES];
    static vy_body_hit want[PROBES];
    static const int kinds[] = {0, 1, 3, 4};
    scene c;
    make_scene(&c, 12, 1, BODIES, 4.0);
    vy_pool *pool = vy_pool_create(4);
    assert_non_null(pool);
    for (int i = 0; i < PROBES; ++i) {
        probes[i] = random_probe(&c, kinds[i % 4], 4.0);
        assert_int_equal(ask_first(c.b, &probes[i], NULL, &want[i]), VY_OK);
    }
    for (int prepared = 0; prepared < 2; ++prepared) {
        if (prepared) assert_int_equal(vy_bodies_prepare_queries(c.b), VY_OK);
        crowd w = {&c, probes, want, 0};
        vy_pool_run(pool, PROBES, ask_in_parallel, &w);
        assert_int_equal(atomic_load(&w.wrong), 0);
    }
    vy_pool_destroy(pool);
    end_scene(&c);
}

#define REFUSED(call)                                \
    do {                                             \
        err.text[0] = '\0';                          \
        assert_int_equal((call), VY_BAD_VALUE);      \
        assert_true(err.text[0] != '\0');            \
        assert_memory_equal(&hit, &was, sizeof was); \
        assert_int_equal(count, 77);                 \
    } while (0)

static void bad_values_are_refused(void **unused)
{
    (void)unused;
    scene c;
    make_scene(&c, 8, 1, 5, 2.0);
    vy_error err;
    vy_body_hit was, hit;
    size_t count = 77;
    memset(&was, 0x5a, sizeof was);
    hit = was;
    const vy_vec3 nan = vec3_make(0, NOT_A_NUMBER, 0), down = vec3_make(0, 0, -1), o = vec3_zero();
    const vy_ray rays[] = {{nan, down, 1.0},
                           {vec3_make(2e12, 0, 0), down, 1.0},
                           {o, o, 1.0},
                           {o, nan, 1.0},
                           {o, down, -1e-9},
                           {o, down, NOT_A_NUMBER},
                           {o, vec3_make(0, 0, INFINITE), 1.0}};
    for (size_t i = 0; i < sizeof rays / sizeof rays[0]; ++i) {
        REFUSED(vy_bodies_cast_ray(c.b, &rays[i], NULL, &hit, &err));
        REFUSED(vy_bodies_cast_ray_all(c.b, &rays[i], NULL, &hit, 1, &count, &err));
    }
    vy_shape ball = {0}, plane = {0};
    assert_int_equal(vy_shape_sphere(1.0, &ball, NULL), VY_OK);
    assert_int_equal(vy_shape_plane(down, 0.0, &plane, NULL), VY_OK);
    const vy_shape shapes[] = {plane,
                               {.kind = VY_SHAPE_NONE},
                               {.kind = VY_SHAPE_HULL},
                               {.kind = VY_SHAPE_SPHERE, .sphere = {NOT_A_NUMBER}},
                               {.kind = VY_SHAPE_BOX, .box = {{1.0, -1.0, 1.0}}}};
    const vy_pose home = pose_at(0, 0, 0), lost = pose_at(0, 0, NOT_A_NUMBER),
                  bent = {{0, 0, 0}, {2, 0, 0, 0}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0] + 2; ++i) {
        const vy_shape *shape = i < 5 ? &shapes[i] : &ball;
        const vy_pose *pose = i < 5 ? &home : i == 5 ? &lost : &bent;
        REFUSED(vy_bodies_cast_shape(c.b, shape, pose, down, NULL, &hit, &err));
        REFUSED(vy_bodies_cast_shape_all(c.b, shape, pose, down, NULL, &hit, 1, &count, &err));
        REFUSED(vy_bodies_overlap_shape(c.b, shape, pose, NULL, &hit, 1, &count, &err));
        REFUSED(vy_bodies_closest_to_shape(c.b, shape, pose, 1.0, NULL, &hit, &err));
        REFUSED(vy_bodies_closest_to_shape_all(c.b, shape, pose, 1.0, NULL, &hit, 1, &count, &err));
    }
    REFUSED(vy_bodies_cast_shape(c.b, &ball, &home, nan, NULL, &hit, &err));
    REFUSED(vy_bodies_closest_to_shape(c.b, &ball, &home, -1.0, NULL, &hit, &err));
    REFUSED(vy_bodies_closest_to_point(c.b, nan, 1.0, NULL, &hit, &err));
    REFUSED(vy_bodies_closest_to_point_all(c.b, o, NOT_A_NUMBER, NULL, &hit, 1, &count, &err));
    end_scene(&c);
    vy_bodies_def def = vy_default_bodies_def(); // an empty set
    vy_bodies *b = NULL;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    for (int prepared = 0; prepared < 2; ++prepared) {
        if (prepared) assert_int_equal(vy_bodies_prepare_queries(b), VY_OK);
        assert_int_equal(vy_bodies_closest_to_point(b, o, INFINITE, NULL, &hit, NULL), VY_OK);
        assert_true(hit.body.bits == 0);
    }
    vy_bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_every_body),
        cmocka_unit_test(answers_are_of_the_present),
        cmocka_unit_test(queries_change_nothing),
        cmocka_unit_test(filters_leave_bodies_out),
        cmocka_unit_test(ties_go_by_slot),
        cmocka_unit_test(many_rays_are_each_of_them),
        cmocka_unit_test(threads_may_ask_at_once),
        cmocka_unit_test(bad_values_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
