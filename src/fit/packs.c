// packs.c - points that fly side by side.
#include "base/assert.h"
#include "base/cpu.h"
#include "fit/model.h"
#include <stdlib.h>

const fit_kernel *vy_fit_lanes(void)
{
    const vy_cpu_level level = vy_cpu();
    if (level == VY_CPU_AVX512 && vy_fit_lanes_8_avx512 != NULL) return vy_fit_lanes_8_avx512;
    if (level >= VY_CPU_AVX2 && vy_fit_lanes_4_avx2 != NULL) return vy_fit_lanes_4_avx2;
    return vy_fit_lanes_2;
}

void vy_fit_packs_free(fit_packs *packs)
{
    free(packs->plants);
    free(packs->memory);
    packs->plants = NULL;
    packs->memory = NULL;
}

int vy_fit_packs_make(const fit_kernel *widest, fit_packs *out)
{
    memset(out, 0, sizeof *out);
    const size_t packs = (size_t)(FIT_POINTS_MAX + widest->width - 1) / (size_t)widest->width;
    VY_ASSERT(widest->pack_size >= vy_fit_lanes_1->pack_size);
    out->widest = widest;
    out->plants = calloc(FIT_POINTS_MAX, sizeof *out->plants);
    out->memory = aligned_alloc(64, (packs * widest->pack_size + 63) / 64 * 64);
    if (out->plants != NULL && out->memory != NULL) return 1;
    vy_fit_packs_free(out);
    return 0;
}

void *vy_fit_pack(const fit_packs *packs, int index)
{
    VY_ASSERT(index >= 0 && index < packs->count);
    return (unsigned char *)packs->memory + (size_t)index * packs->kernel->pack_size;
}

void vy_fit_packs_load(const fit_data *d, const fit_point *const *points, const fit_rotors *const *rotors,
                       int count, fit_packs *out)
{
    VY_ASSERT(count >= 0 && count <= FIT_POINTS_MAX);
    out->count = 0;
    out->kernel = count == 1 ? vy_fit_lanes_1 : out->widest;
    int loaded_count = 0;
    for (int has_other_speeds = 0; has_other_speeds < 2;
         ++has_other_speeds) { // those with the same speeds of the rotors go together
        for (int i = 0; i < count; ++i) {
            if ((rotors[i] != rotors[0]) != has_other_speeds) continue;
            const int pack = loaded_count / out->kernel->width, lane = loaded_count % out->kernel->width;
            vy_fit_plant_make(points[i], &out->plants[i]);
            VY_ASSERT(out->plants[i].layout.general);
            out->points[pack][lane] = i;
            out->sizes[pack] = lane + 1;
            out->count = pack + 1;
            loaded_count += 1;
        }
    }
    for (int pack = 0; pack < out->count; ++pack) {
        fit_lane lanes[FIT_LANES_MAX];
        for (int lane = 0; lane < out->sizes[pack]; ++lane) {
            const int point = out->points[pack][lane];
            const fit_plant *plant = &out->plants[point];
            lanes[lane] = (fit_lane){.point = points[point],
                                     .rotors = rotors[point],
                                     .layout = plant->layout.roll,
                                     .params = (const double *)&plant->params,
                                     .flags = plant->inputs.flags};
        }
        VY_ASSERT((size_t)out->kernel->params_count * sizeof(double) == sizeof(multirotor_params));
        out->kernel->load(d, lanes, out->sizes[pack], vy_fit_pack(out, pack));
    }
}

void vy_fit_packs_predict(const fit_data *d, const fit_packs *packs, const size_t *first_rows, int count,
                          double horizon, double *const *out)
{
    for (int pack = 0; pack < packs->count; ++pack) {
        double *outputs[FIT_LANES_MAX] = {NULL};
        for (int lane = 0; lane < packs->sizes[pack]; ++lane) outputs[lane] = out[packs->points[pack][lane]];
        packs->kernel->predict(d, vy_fit_pack(packs, pack), first_rows, count, horizon, outputs);
    }
}

void vy_fit_predict(const fit_data *d, const fit_point *p, fit_packs *packs, fit_rotors *rotors,
                    const size_t *first_rows, int count, double horizon, double *out)
{
    const fit_rotors *speeds = rotors;
    vy_fit_rotors_run(d, p, rotors);
    vy_fit_packs_load(d, &p, &speeds, 1, packs);
    vy_fit_packs_predict(d, packs, first_rows, count, horizon, &out);
}
