// test_fields.c - convex shapes at height fields: manifolds against the distance of the shape from every
// triangle, and against the plane that a flat field is.
#include "contact_sets.h"
#include "geometry/gjk.h"
#include "geometry/sweep.h"
#include <float.h>
#include <string.h>

enum { GRID = 12, SHAPES = 6 };

static vy_shape any_shape(int kind, random_source *r, double size, vy_hull **hull)
{
    vy_shape s = {0};
    const double u = exp(random_in(r, log(0.05), 0.0)), v = exp(random_in(r, log(0.05), 0.0));
    switch (kind) {
    case 0: return ball(size);
    case 1: return box(size, u * size, v * size);
    case 2: assert_int_equal(vy_shape_capsule(size, u * size, &s, NULL), VY_OK); return s;
    case 3: assert_int_equal(vy_shape_cylinder(size, u * size, &s, NULL), VY_OK); return s;
    case 4: assert_int_equal(vy_shape_cylinder(u * size, size, &s, NULL), VY_OK); return s;
    default: break;
    }
    vy_vec3 p[14];
    do {
        for (int i = 0; i < 14; ++i) {
            p[i] = random_vec(r, size);
            p[i].y *= u;
            p[i].z *= v;
        }
    } while (vy_hull_create(p, 14, VY_HULL_TOLERANCE, hull, NULL) != VY_OK);
    assert_int_equal(vy_shape_hull(*hull, &s, NULL), VY_OK);
    return s;
}

// The least distance of a shape from the triangles of a field, and from the prisms below them: 0 when they
// overlap. By GJK on each.
static double distance_of(const vy_height_field *field, const vy_shape *shape, const vy_pose *pose, int solid,
                          vec3 *normal)
{
    vy_core_pair pair;
    double min = DBL_MAX;
    const vy_pose origin = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    vy_core_of(shape, &pair.b);
    for (int j = 0; j < field->ny - 1; ++j) {
        for (int i = 0; i < field->nx - 1; ++i) {
            for (int half = 0; half < 2; ++half) {
                vec3 c[6];
                vy_gjk_result g;
                vy_height_field_triangle(field, i, j, half, c);
                for (int k = 0; k < 3; ++k) c[3 + k] = vec3_make(c[k].x, c[k].y, field->low - 10.0);
                vy_core_of_points(c, solid ? 6 : 3, &pair.a);
                vy_pair_set_poses(&origin, pose, &pair);
                vy_gjk_distance(&pair, NULL, -1.0, VY_QUERY_ITERATIONS, &g);
                const double d = fmax(g.distance - pair.margin, 0.0);
                if (d >= min) continue;
                min = d;
                if (g.distance > 0.0) *normal = vec3_scale(-1.0 / g.distance, g.v);
            }
        }
    }
    return min;
}

static double deepest(const vy_manifold *m, int count)
{
    double max = -DBL_MAX;
    for (int k = 0; k < count; ++k) {
        for (int i = 0; i < m[k].count; ++i) max = fmax(max, m[k].points[i].depth);
    }
    return max;
}

static void check_manifolds(const vy_manifold *m, int count, double margin)
{
    for (int k = 0; k < count; ++k) {
        assert_true(m[k].count >= 1 && m[k].count <= VY_MANIFOLD_POINTS);
        assert_near(vec3_length(m[k].normal), 1.0, 1e-9);
        if (k > 0) assert_true(deepest(&m[k - 1], 1) >= deepest(&m[k], 1));
        for (int i = 0; i < m[k].count; ++i) {
            const vy_manifold_point *p = &m[k].points[i];
            assert_true(p->depth >= -margin && p->depth <= m[k].points[0].depth);
            assert_vec_near(vec3_sub(p->point_a, p->point_b), vec3_scale(p->depth, m[k].normal), 1e-9);
        }
    }
}

// Drawn in an order that does not depend on the compiler.
static vy_vec3 random_level(random_source *r, double max)
{
    const double y = random_in(r, -max, max), x = random_in(r, -max, max);
    return vec3_make(x, y, 0.0);
}

static void random_field(random_source *r, double rough, double *heights, vy_shape *field)
{
    for (int i = 0; i < GRID * GRID; ++i) heights[i] = random_in(r, -rough, 0.0);
    assert_int_equal(vy_shape_height_field(GRID, GRID, 0.3, heights, field, NULL), VY_OK);
}

// Somewhere at the surface, apart from it or not.
static vy_pose pose_near(const vy_height_field *field, const vy_shape *shape, random_source *r)
{
    vy_pose pose = {{random_in(r, 1.0, 2.3), random_in(r, 1.0, 2.3), 0.0}, random_attitude(r)};
    double height;
    assert_true(vy_height_field_height(field, pose.position.x, pose.position.y, &height));
    const vy_bounds box = vy_shape_bounds(shape, &pose);
    const double first = random_in(r, 0.6, 1.0), second = random_in(r, 0.0, 0.05);
    pose.position.z = height - first * box.low.z + second;
    return pose;
}

static const vy_pose origin = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};

// Apart: the nearest point is as far as the nearest triangle. Then moved in a little along that direction:
// that deep.
static void distances_are_those_of_the_triangles(void **unused)
{
    (void)unused;
    random_source r = {2027};
    static double heights[GRID * GRID];
    int near = 0, several = 0;
    for (int n = 0; n < 3000; ++n) {
        vy_hull *hull = NULL;
        vy_shape field;
        random_field(&r, exp(random_in(&r, log(0.003), log(1.0))), heights, &field);
        const vy_shape shape = any_shape(n % SHAPES, &r, exp(random_in(&r, log(0.03), log(0.8))), &hull);
        vy_pose pose = pose_near(&field.field, &shape, &r);
        vec3 normal = vec3_make(0.0, 0.0, 1.0);
        const double d = distance_of(&field.field, &shape, &pose, 1, &normal), margin = 1.2 * d + 1e-3;
        vy_manifold m[VY_COLLIDE_MANIFOLDS];
        int count = -1;
        assert_int_equal(vy_collide_all(&field, &origin, &shape, &pose, margin, m, &count), VY_OK);
        check_manifolds(m, count, margin);
        if (d > 1e-6 && normal.z > 0.0) {
            assert_true(count > 0);
            assert_near(-deepest(m, count), d, 0.05 * d + 1e-8);
            near += 1;
            several += count > 1;
            const double depth = 1e-5;
            pose.position = vec3_add_scaled(pose.position, -(d + depth), normal);
            assert_int_equal(vy_collide_all(&field, &origin, &shape, &pose, 0.0, m, &count), VY_OK);
            check_manifolds(m, count, 0.0);
            assert_true(count > 0);
            assert_true(deepest(m, count) > 0.1 * depth && deepest(m, count) < 10.0 * depth);
        } else if (d == 0.0) {
            assert_int_equal(vy_collide_all(&field, &origin, &shape, &pose, 0.0, m, &count), VY_OK);
            assert_true(count > 0);
        }
        vy_hull_destroy(hull);
    }
    assert_true(near > 1000 && several > 100);
}

// ---- a flat field is a plane

// Whether every point of one manifold is a point of the other.
static int has_points(const vy_manifold *m, const vy_manifold *of)
{
    for (int i = 0; i < of->count; ++i) {
        double min = DBL_MAX;
        for (int k = 0; k < m->count; ++k)
            min = fmin(min, check_distance(m->points[k].point_b, of->points[i].point_b));
        if (min > 1e-7) return 0;
    }
    return 1;
}

static void flat_fields_are_planes(void **unused)
{
    (void)unused;
    random_source r = {77};
    static double heights[GRID * GRID];
    vy_shape field;
    random_field(&r, 0.0, heights, &field);
    const vy_shape flat = plane(vec3_make(0, 0, 1));
    for (int n = 0; n < 3000; ++n) {
        vy_hull *hull = NULL;
        const vy_shape shape = any_shape(n % SHAPES, &r, exp(random_in(&r, log(0.03), log(0.8))), &hull);
        vy_pose pose = {{random_in(&r, 1.0, 2.3), random_in(&r, 1.0, 2.3), 0.0}, random_attitude(&r)};
        if (n % 3 == 0) { // a face or a side along the ground
            const double angle = random_in(&r, 0.0, PI);
            pose.rotation = quat_make(cos(angle), 0.0, 0.0, sin(angle));
            if (n % 2 == 0)
                pose.rotation = quat_mul(pose.rotation, quat_make(sqrt(0.5), sqrt(0.5), 0.0, 0.0));
        }
        pose.position.z = random_in(&r, -1e-3, 1e-3) - vy_shape_bounds(&shape, &pose).low.z;
        vy_manifold m[VY_COLLIDE_MANIFOLDS], p;
        int count = -1;
        assert_int_equal(vy_collide_all(&field, &origin, &shape, &pose, 2e-3, m, &count), VY_OK);
        assert_int_equal(vy_collide_near(&flat, &origin, &shape, &pose, 2e-3, &p), VY_OK);
        assert_int_equal(count, 1);
        assert_vec_near(m[0].normal, vec3_make(0, 0, 1), 1e-15);
        assert_near(deepest(m, 1), deepest(&p, 1), 1e-12);
        if (n % SHAPES <= 2 || p.count == 1) assert_true(has_points(&m[0], &p));
        vy_hull_destroy(hull);
    }
}

/// A body that slides down a slope.
typedef struct slide {
    vy_body_state end;
    double min, max; // [m] heights of its middle over the ground on the way
} slide;

static slide slide_on(const vy_shape *ground, vy_vec3 ground_at, vy_quat tilt, const vy_shape *shape,
                      double above, vy_vec3 velocity, double dt)
{
    vy_bodies *b = new_set(dt, G, 8);
    vy_body_def d = vy_default_body_def();
    vy_body_id id;
    d.kind = VY_BODY_STATIC;
    d.shape = ground;
    d.material = surface(0.2, 0.0);
    d.state.attitude = tilt;
    d.state.position = quat_rotate(tilt, ground_at);
    assert_int_equal(vy_bodies_add(b, &d, NULL, NULL), VY_OK);
    d = vy_default_body_def();
    d.shape = shape;
    d.material = surface(0.2, 0.0);
    d.state.attitude = quat_mul(tilt, quat_make(cos(0.2), 0.0, 0.0, sin(0.2)));
    d.state.position = quat_rotate(tilt, vec3_make(0.0, 0.0, above));
    d.state.velocity = quat_rotate(tilt, velocity);
    assert_int_equal(vy_bodies_add(b, &d, &id, NULL), VY_OK);
    slide s = {.min = above, .max = above};
    for (int n = 0; n < (int)(1.0 / dt); ++n) {
        step(b, 1);
        s.end = read(b, id);
        const double height = quat_unrotate(tilt, s.end.position).z;
        s.min = fmin(s.min, height);
        s.max = fmax(s.max, height);
    }
    vy_bodies_destroy(b);
    return s;
}

// Over a tessellated plane bodies slide, roll and stop as over the plane: nothing catches on inner edges. A
// ball has one point, so it does so to rounding; of others it is the points of equal depth that differ.
static void inner_edges_do_not_catch(void **unused)
{
    (void)unused;
    enum { WIDE = 64 };
    static double heights[WIDE * WIDE];
    vy_shape field, capsule, cylinder, disc;
    assert_int_equal(vy_shape_height_field(WIDE, WIDE, 0.13, heights, &field, NULL), VY_OK);
    assert_int_equal(vy_shape_capsule(0.2, 0.1, &capsule, NULL), VY_OK);
    assert_int_equal(vy_shape_cylinder(0.1, 0.15, &cylinder, NULL), VY_OK);
    assert_int_equal(vy_shape_cylinder(0.02, 0.3, &disc, NULL), VY_OK);
    const vy_shape flat = plane(vec3_make(0, 0, 1)), round = ball(0.1), crate = box(0.2, 0.12, 0.1);
    const struct {
        const vy_shape *shape;
        double above, near;
    } kinds[] = {{&round, 0.1, 1e-12},
                 {&crate, 0.1, 5e-4},
                 {&capsule, 0.3, 5e-4}, // it falls over
                 {&cylinder, 0.1, 1e-3},
                 {&disc, 0.02, 1e-2}};
    random_source r = {3};
    for (int n = 0; n < 20; ++n) {
        const double slope = random_in(&r, 0.0, 0.35), dt = n % 2 == 0 ? 1.0 / 60.0 : 1e-3;
        const vy_quat tilt = quat_make(cos(0.5 * slope), 0.0, sin(0.5 * slope), 0.0);
        const vy_vec3 velocity = random_level(&r, 2.0), middle = vec3_make(-0.13 * 31.3, -0.13 * 30.4, 0.0);
        const int k = n % 5;
        const slide a = slide_on(&flat, middle, tilt, kinds[k].shape, kinds[k].above, velocity, dt),
                    c = slide_on(&field, middle, tilt, kinds[k].shape, kinds[k].above, velocity, dt);
        assert_vec_near(c.end.position, a.end.position, kinds[k].near);
        assert_true(c.min > a.min - 0.2 * kinds[k].near && c.max < a.max + 0.2 * kinds[k].near);
    }
}

// ---- at rest

// A ball in a valley of two slopes touches both; its middle is where geometry has it. What is told of both
// has a normal between theirs.
static void balls_rest_in_valleys(void **unused)
{
    (void)unused;
    static double heights[GRID * GRID];
    for (int n = 0; n < 8; ++n) {
        const double slope = 0.2 + 0.25 * n, radius = 0.1, dt = n % 2 == 0 ? 1.0 / 60.0 : 1.0 / 240.0;
        vy_shape field;
        for (int i = 0; i < GRID * GRID; ++i) heights[i] = slope * 0.3 * abs(i % GRID - 5);
        assert_int_equal(vy_shape_height_field(GRID, GRID, 0.3, heights, &field, NULL), VY_OK);
        const vy_shape round = ball(radius);
        vy_bodies *b = new_set(dt, G, 8);
        vy_material rough = surface(0.5, 0.0);
        rough.rolling = 0.005;
        add(b, VY_BODY_STATIC, &field, 0.0, vec3_make(-1.5, -1.5, 0.0), vec3_zero(), rough);
        const vy_body_id id =
            add(b, VY_BODY_DYNAMIC, &round, 1.0, vec3_make(0.1, 0.07, 0.5 * slope + 0.2), vec3_zero(), rough);
        int told = 0;
        for (int k = 0; k < (int)(6.0 / dt); ++k) {
            vy_contact_report r;
            step(b, 1);
            if (vy_bodies_contact(b, 0, &r) != VY_OK || r.points < 2) continue;
            assert_near(vec3_length(r.normal), 1.0, 1e-12);
            assert_true(r.normal.z > 1.0 / sqrt(1.0 + slope * slope));
            ++told;
        }
        assert_true(told > 10);
        const vy_body_state s = read(b, id);
        assert_near(s.position.x, 0.0, 2e-4);
        assert_near(s.position.z, radius * sqrt(1.0 + slope * slope), 1e-4);
        assert_true(vec3_length(s.velocity) < 1e-9);
        vy_bodies_destroy(b);
    }
}

// Whatever is dropped on rough ground comes to rest on it, and does not stay inside.
static void bodies_rest_on_rough_ground(void **unused)
{
    (void)unused;
    random_source r = {11};
    static double heights[GRID * GRID];
    for (int n = 0; n < 60; ++n) {
        vy_hull *hull = NULL;
        vy_shape field;
        random_field(&r, exp(random_in(&r, log(0.01), log(0.5))), heights, &field);
        const vy_shape shape = any_shape(n % SHAPES, &r, exp(random_in(&r, log(0.05), log(0.5))), &hull);
        const double dt = n % 2 == 0 ? 1.0 / 60.0 : 1.0 / 240.0;
        vy_bodies *b = new_set(dt, G, 8);
        vy_material rough = surface(0.8, 0.0);
        rough.rolling = 0.02;
        add(b, VY_BODY_STATIC, &field, 0.0, vec3_make(-1.65, -1.65, 0.0), vec3_zero(), rough);
        vy_body_def d = vy_default_body_def();
        vy_body_id id;
        d.shape = &shape;
        d.material = rough;
        d.state.attitude = random_attitude(&r);
        d.state.position = random_level(&r, 0.3);
        d.state.position.z = 1.0;
        d.state.rate = random_vec(&r, 2.0);
        assert_int_equal(vy_bodies_add(b, &d, &id, NULL), VY_OK);
        step(b, (int)(4.0 / dt));
        const vy_body_state s = read(b, id);
        const vy_shape *x;
        vy_pose p;
        vy_manifold m[VY_COLLIDE_MANIFOLDS];
        const vy_pose at = {{-1.65, -1.65, 0.0}, {1.0, 0.0, 0.0, 0.0}};
        int count = 0;
        assert_int_equal(vy_body_read_shape(b, id, &x, &p), VY_OK);
        assert_int_equal(vy_collide_all(&field, &at, x, &p, 1e-3, m, &count), VY_OK);
        assert_true(count > 0);
        assert_true(deepest(m, count) > -1e-4 && deepest(m, count) < 1.2e-4);
        assert_true(vec3_length(s.velocity) < 1e-4);
        vy_bodies_destroy(b);
        vy_hull_destroy(hull);
    }
}

// ---- with threads, sleep, joints, snapshots and both solvers

// Boxes, balls and rods of every kind that fall on rough ground, some of them joined.
static vy_bodies *crowd(uint32_t threads, vy_contact_solver solver, const vy_shape *field,
                        const vy_shape shapes[SHAPES])
{
    enum { BODIES = 30 };
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *b = NULL;
    random_source r = {5};
    if (solver == VY_CONTACT_SOLVER_IMPULSE) def.contacts = vy_impulse_contacts_def();
    def.dt = 1.0 / 120.0;
    def.contacts.on = 1;
    def.contacts.threads = threads;
    def.contacts.time_to_sleep = 0.2;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    for (int i = 0; i < BODIES; ++i) {
        vy_body_def d = vy_default_body_def();
        if (i == BODIES / 2) // among others by its slot, too
            add(b, VY_BODY_STATIC, field, 0.0, vec3_make(-1.65, -1.65, 0.0), vec3_zero(), surface(0.7, 0.2));
        d.shape = &shapes[i % SHAPES];
        d.material = surface(0.6, 0.2);
        d.material.rolling = 0.01;
        d.state.attitude = random_attitude(&r);
        d.state.position = vec3_make(0.4 * (i % 6) - 1.0, 0.4 * (i / 6) - 0.8, 0.3);
        d.state.velocity = random_vec(&r, 1.0);
        d.state.rate = random_vec(&r, i % 15 == 9 ? 40.0 : 2.0);
        assert_int_equal(vy_bodies_add(b, &d, NULL, NULL), VY_OK);
    }
    join_pairs(b, 0, 4);
    return b;
}

// Any number of threads, and a set that goes on from a snapshot, has the same bits; reports name a pair once.
static void bits_are_the_same(void **unused)
{
    (void)unused;
    random_source r = {6};
    static double heights[GRID * GRID];
    vy_hull *hull = NULL;
    vy_shape field, shapes[SHAPES];
    random_field(&r, 0.15, heights, &field);
    for (int k = 0; k < SHAPES; ++k) shapes[k] = any_shape(k, &r, 0.12, k == 5 ? &hull : NULL);
    for (int k = 0; k < 2; ++k) {
        const vy_contact_solver solver = k == 0 ? VY_CONTACT_SOLVER_SOFT : VY_CONTACT_SOLVER_IMPULSE;
        vy_bodies *a = crowd(1, solver, &field, shapes), *b = crowd(3, solver, &field, shapes),
                  *c = crowd(1, solver, &field, shapes);
        uint32_t slept = 0;
        for (int n = 0; n < 160; ++n) {
            assert_int_equal(vy_bodies_step(a) & VY_BODIES_NOT_FINITE, 0);
            vy_bodies_step(b);
            assert_true(vy_bodies_hash(a) == vy_bodies_hash(b));
            if (n == 60 || n == 110) {
                size_t size;
                void *block = snapshot_of(a, &size);
                assert_int_equal(vy_bodies_restore(c, block, size, NULL), VY_OK);
                free(block);
            } else if (n > 60) {
                vy_bodies_step(c);
                assert_true(vy_bodies_hash(c) == vy_bodies_hash(a));
            }
            for (uint32_t i = 1; i < vy_bodies_contact_count(a); ++i) {
                vy_contact_report x, y;
                assert_int_equal(vy_bodies_contact(a, i - 1, &x), VY_OK);
                assert_int_equal(vy_bodies_contact(a, i, &y), VY_OK);
                assert_true(x.a != y.a || x.b != y.b);
            }
            slept = vy_bodies_asleep(a) > slept ? vy_bodies_asleep(a) : slept;
        }
        if (k == 0) assert_true(slept > 3);
        vy_bodies_destroy(a);
        vy_bodies_destroy(b);
        vy_bodies_destroy(c);
    }
    vy_hull_destroy(hull);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_fields_are_planes), cmocka_unit_test(inner_edges_do_not_catch),
        cmocka_unit_test(balls_rest_in_valleys),  cmocka_unit_test(bodies_rest_on_rough_ground),
        cmocka_unit_test(bits_are_the_same),      cmocka_unit_test(distances_are_those_of_the_triangles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
