// fuzz_wind_grid.c - any bytes as a gridded wind file. Two oracles: the sanitizers (nothing is read or
// written out of place, neither by the reader nor by the interpolation), and the field's own promises: sizes
// and spacings are positive, every sample is finite and no wind is faster than `fastest`.
#include "../tests/declared_wind.h"
#include "environment/wind_grid.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition)
{
    if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    vy_wind_grid *grid = NULL;
    vy_error err;
    const vy_status status = vy_wind_grid_read(data, size, "fuzz", &grid, &err);
    check((status == VY_OK) == (grid != NULL));
    if (grid == NULL) {
        check(err.text[0] != '\0');
        return 0;
    }
    const wind_grid *g = &grid->field;
    check(g->nx > 0 && g->ny > 0 && g->nz > 0 && g->nt > 0);
    check(g->dx > 0.0 && g->dy > 0.0 && g->dz > 0.0 && g->dt > 0.0);
    const size_t nodes = (size_t)g->nx * (size_t)g->ny * (size_t)g->nz * (size_t)g->nt;
    for (size_t i = 0; i < 3 * nodes; ++i) check(real_abs(g->velocity[i]) <= g->speed_max);
    wind_params params = {.grid = *g};
    for (int eighths = -1; eighths <= 9; ++eighths) { // from before the first corner to behind the last
        const double fraction = 0.125 * eighths;
        const vec3 position = vec3_make(g->x0 + fraction * g->dx * g->nx, g->y0 + fraction * g->dy * g->ny,
                                        g->z0 + fraction * g->dz * g->nz);
        const vec3 wind = wind_at(&params, position, g->t0 + fraction * g->dt * g->nt);
        check(vec3_length(wind) <= wind_speed_bound(&params, position.z, position.z, 0.0, 1.0));
    }
    vy_wind_grid_destroy(grid);
    return 0;
}
