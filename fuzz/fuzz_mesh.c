// fuzz_mesh.c - any bytes as a mesh file. Two oracles: the sanitizers (nothing is read or written out of
// place), and vy_hull_check (a hull that is handed out keeps every promise of its header).
#include "volery/mesh.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    vy_mesh_points points;
    vy_error err;
    if (vy_mesh_read(data, size, 1.0, "fuzz", &points, &err) != VY_OK) return 0;
    vy_hull *hull = NULL;
    if (points.count <= 2000 &&
        vy_hull_create(points.points, points.count, VY_HULL_TOLERANCE, &hull, &err) == VY_OK) {
        if (vy_hull_check(hull, &err) != VY_OK) abort();
        for (int i = 0; i < points.count; ++i) {
            if (!vy_hull_contains(hull, points.points[i], 64.0 * hull->tolerance)) abort();
        }
        vy_hull_destroy(hull);
    }
    vy_mesh_points_free(&points);
    return 0;
}
