// check_starts.c - starts that nobody means: under the ground, or where another drone is.
#include "scenario/build.h"
#include "scenario/check.h"
#include "volery/collision.h"
#include "world/world_impl.h"

#define SAME_PLACE_DISTANCE 1e-3 // [m]

static void check_ground(vy_reader *r, const char *name, const vy_vec3 *position, ground_probe ground)
{
    double height;
    if (ground.height == NULL || !ground.height(ground.self, *position, &height) || height >= 0.0) return;
    vy_report_warning(r->report, vy_reader_location(r, position), "%s starts %.3g m below the ground", name,
                      -height);
}

static int shapes_overlap(const vy_world *world, int i, int j)
{
    const vy_shape *a, *b;
    vy_pose pose_a, pose_b;
    (void)vy_world_shape(world, vy_world_body(world, (uint32_t)i), &a, &pose_a);
    (void)vy_world_shape(world, vy_world_body(world, (uint32_t)j), &b, &pose_b);
    if (a == NULL || b == NULL) return 0;
    const double extent_sum = world->max_extent[i] + world->max_extent[j];
    return vec3_length(vec3_sub(pose_a.position, pose_b.position)) <= extent_sum &&
           vy_overlap(a, &pose_a, b, &pose_b);
}

static void check_other_starts(vy_reader *r, const vy_scenario *s, const vy_world *world, int index)
{
    const vy_scenario_drone *drone = &s->drones[index];
    const vy_node *position_node = vy_reader_location(r, &drone->def.position);
    for (int i = 0; i < index; ++i) {
        const vy_scenario_drone *other = &s->drones[i];
        const double distance = vec3_length(vec3_sub(drone->def.position, other->def.position));
        if (distance < SAME_PLACE_DISTANCE) {
            vy_report_warning(r->report, position_node, "%s starts where %s does", drone->name, other->name);
        } else if (world->model.collides && shapes_overlap(world, i, index)) {
            vy_report_warning(r->report, position_node, "%s starts inside %s: their shapes overlap",
                              drone->name, other->name);
        } else {
            continue;
        }
        return; // one is enough to see it
    }
}

void vy_check_starts(vy_reader *reader, const vy_scenario *s, const vy_world *world)
{
    const ground_probe ground = vy_world_ground(world);
    for (int i = 0; i < s->drone_count; ++i) {
        check_ground(reader, s->drones[i].name, &s->drones[i].def.position, ground);
        check_other_starts(reader, s, world, i);
    }
    for (int i = 0; i < s->body_count; ++i)
        check_ground(reader, s->bodies[i].name, &s->bodies[i].def.position, ground);
}
