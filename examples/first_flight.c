// first_flight.c - a Crazyflie hovers for five seconds.
// Build it with: cc first_flight.c $(pkg-config --cflags --libs volery)
#include <inttypes.h>
#include <stdio.h>
#include <volery/world.h>

int main(void)
{
    const vy_world_def world_def = vy_default_world_def();
    const vy_drone_def drone_def = vy_default_drone_def();
    vy_world *world = NULL;
    vy_drone_id drone;
    vy_drone_state state;
    vy_error err;

    vy_status status = vy_world_create(&world_def, &world, &err);
    if (status == VY_OK) status = vy_world_add_drone(world, &drone_def, &drone, &err);
    if (status != VY_OK) return fprintf(stderr, "%s\n", err.text), 1;
    vy_world_advance(world, 5000);
    vy_world_read_drone(world, drone, &state);
    printf("%.3f s: height %.4f m, hash %016" PRIx64 "\n", vy_world_time(world), state.position.z,
           vy_world_hash(world));
    vy_world_destroy(world);
    return 0;
}
