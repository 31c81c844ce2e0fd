// separation.c - how far drones are apart.
#include "scenario/separation.h"
#include "world/world_impl.h"
#include <float.h>

double vy_drone_separation(const vy_world *world, int of, uint32_t *nearest)
{
    const uint32_t count = vy_world_drone_count(world);
    const uint32_t first = of < 0 ? 0 : (uint32_t)of, end = of < 0 ? count : first + 1;
    double min = DBL_MAX;
    int found = 0;
    for (uint32_t i = first; i < end; ++i) {
        for (uint32_t k = of < 0 ? i + 1 : 0; k < count; ++k) {
            const vec3 apart = vec3_sub(body_at(world, i)->position, body_at(world, k)->position);
            const double square = vec3_dot(apart, apart);
            if (k == i || square >= min) continue;
            min = square;
            *nearest = i;
            found = 1;
        }
    }
    return found ? real_sqrt(min) : DBL_MAX;
}
