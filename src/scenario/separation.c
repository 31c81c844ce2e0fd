// separation.c - how far drones are apart.
#include "scenario/separation.h"
#include "world/world_impl.h"
#include <float.h>

double vy_drone_separation(const vy_world *world, int drone, uint32_t *nearest)
{
    const uint32_t count = vy_world_drone_count(world);
    const uint32_t first = drone < 0 ? 0 : (uint32_t)drone, end = drone < 0 ? count : first + 1;
    double min_squared = DBL_MAX;
    int has_pair = 0;
    for (uint32_t i = first; i < end; ++i) {
        for (uint32_t k = drone < 0 ? i + 1 : 0; k < count; ++k) {
            const vec3 offset = vec3_sub(body_at(world, i)->position, body_at(world, k)->position);
            const double distance_squared = vec3_dot(offset, offset);
            if (k == i || distance_squared >= min_squared) continue;
            min_squared = distance_squared;
            *nearest = i;
            has_pair = 1;
        }
    }
    return has_pair ? real_sqrt(min_squared) : DBL_MAX;
}
