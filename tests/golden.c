// golden.c - prints one line "name hash motion" per golden scene: the program that every build of the matrix
// runs.
#include "motion.h"
#include "scenes/scenes.h"
#include <inttypes.h>
#include <stdio.h>

// Qhull is no part of the golden builds: no golden scene makes a hull from points.
vy_status vy_hull_create(const vy_vec3 *points, int count, double tolerance, vy_hull **out, vy_error *err)
{
    (void)points, (void)count, (void)tolerance, (void)err;
    *out = NULL;
    return VY_BAD_HULL;
}

int main(void)
{
    for (int i = 0; i < vy_scene_count; ++i) {
        const vy_scene *scene = &vy_scenes[i];
        vy_error err;
        vy_world *world = NULL;
        if (scene->build(1, &world, &err) != VY_OK) {
            fprintf(stderr, "%s: %s\n", scene->name, err.text);
            return 1;
        }
        const uint64_t motion = motion_hash(world, scene->ticks);
        printf("%s %016" PRIx64 " %016" PRIx64 "\n", scene->name, vy_world_hash(world), motion);
        vy_world_destroy(world);
    }
    return 0;
}
