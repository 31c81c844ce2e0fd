// fuzz_mesh.c - any bytes as a mesh file, one in 128 through to contact: its hull falls on a floor, and a
// second one on the first. Oracles: the sanitizers and assertions; vy_hull_check (a hull that is handed out
// keeps every promise of its header); bodies stay finite, and gain no more energy than gravity gave them.
#include "base/vec.h"
#include "mutate.h"
#include "volery/bodies.h"
#include "volery/mesh.h"
#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { POINTS_MAX = 2000, CONTACT_POINTS_MAX = 64, STEPS = 12, DROP_ONE_IN = 128 };

static void check(int condition)
{
    if (!condition) abort();
}

static int add_body(vy_bodies *bodies, vy_body_kind kind, const vy_shape *shape, double height,
                    double velocity)
{
    vy_body_def def = vy_default_body_def();
    def.kind = kind;
    def.shape = shape;
    def.state.position.z = height;
    def.state.velocity.z = velocity;
    return vy_bodies_add(bodies, &def, NULL, NULL) == VY_OK;
}

// Two of it, one above the other, closer to the floor and to each other than they move in the steps.
static void drop_hulls(const vy_hull *hull)
{
    vy_shape shape, floor;
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *bodies = NULL;
    const double size = hull->radius, speed = size / (STEPS * 0.01);
    if (vy_shape_hull(hull, &shape, NULL) != VY_OK || !(size > 1e-3 && size < 100.0)) return;
    check(vy_shape_plane((vy_vec3){0.0, 0.0, 1.0}, 0.0, &floor, NULL) == VY_OK);
    def.dt = 0.01;
    def.contacts.on = 1;
    check(vy_bodies_create(&def, &bodies, NULL) == VY_OK);
    check(add_body(bodies, VY_BODY_STATIC, &floor, 0.0, 0.0));
    if (add_body(bodies, VY_BODY_DYNAMIC, &shape, 1.2 * size, -speed) &&
        add_body(bodies, VY_BODY_DYNAMIC, &shape, 3.4 * size, -3.0 * speed)) {
        for (int step = 0; step < STEPS; ++step) check((vy_bodies_step(bodies) & VY_BODIES_NOT_FINITE) == 0);
        for (uint32_t i = 1; i < 3; ++i) {
            vy_body_state state;
            check(vy_body_read(bodies, vy_bodies_at(bodies, i), &state) == VY_OK);
            const double speed_max = 3.0 * speed + 9.81 * STEPS * 0.01;
            check(vec3_length(state.velocity) <= 2.0 * speed_max && isfinite(vec3_length(state.rate)));
        }
    }
    vy_bodies_destroy(bodies);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    vy_mesh_points points;
    vy_error err;
    if (vy_mesh_read(data, size, 1.0, "fuzz", &points, &err) != VY_OK) return 0;
    vy_hull *hull = NULL;
    if (points.count <= POINTS_MAX &&
        vy_hull_create(points.points, points.count, VY_HULL_TOLERANCE, &hull, &err) == VY_OK) {
        if (vy_hull_check(hull, &err) != VY_OK) abort();
        for (int i = 0; i < points.count; ++i) {
            if (!vy_hull_contains(hull, points.points[i], 64.0 * hull->tolerance)) abort();
        }
        if (points.count <= CONTACT_POINTS_MAX && is_one_in(DROP_ONE_IN, data, size)) drop_hulls(hull);
        vy_hull_destroy(hull);
    }
    vy_mesh_points_free(&points);
    return 0;
}
