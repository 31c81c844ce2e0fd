// gpu_layout.c - the cells of a batch as a GPU has them: what is where, and copies there and back.
#include "batch/gpu_layout.h"
#include "base/fail.h"
#include "batch/batch_cells.h"
#include "world/stages.h"

vy_status vy_batch_gpu_layout(const vy_batch *batch, uint32_t noise_max, gpu_layout *out,
                              uint32_t observed_cells[GPU_OBSERVED_MAX], vy_error *err)
{
    const lanes_config *f = &batch->config;
    const unsigned options = step_options(&batch->template_world->model);
    if (options != 0) return vy_fail(err, VY_BAD_VALUE, "GPU: no worlds with %s", step_option_text(options));
    if (f->drone_count != 1 || f->chain || f->counts.of[BLOCK_noise] > noise_max ||
        f->environment->wind.grid != NULL || batch->view.observation_size > GPU_OBSERVED_MAX ||
        batch->def.autoreset != VY_AUTORESET_OFF) {
        return vy_fail(err, VY_BAD_VALUE,
                       "GPU: worlds of one drone, without chain, wind grid or autoreset, %u noises at most",
                       noise_max);
    }
    uint32_t n = 0;
    for (int k = 0; k < batch->def.observe_count; ++k) {
        const observation_field *o = &batch->observe[k];
        for (int i = 0; i < o->count; ++i)
            observed_cells[n++] =
                (uint32_t)(o->cell - drone_cell(batch, 0) + (size_t)i) | (o->is_integer ? 0x80000000u : 0u);
    }
    *out = (gpu_layout){
        .config = f,
        .worlds = batch->view.worlds,
        .noise_count = f->counts.of[BLOCK_noise],
        .action_size = f->action_size,
        .observation_size = batch->view.observation_size,
        .rung = f->rung,
        .episode = f->episode,
        .world_cells = CELLS_OF(world_block),
        .drone_offset = (uint32_t)drone_cell(batch, 0),
        .noise_offset = (uint32_t)(block_offset(&f->counts, BLOCK_noise) / 8),
        .nap_account_offset = (uint32_t)f->hashed_cells,
        .params_offset = (uint32_t)f->params_offset,
        .episode_offset = (uint32_t)f->episode_offset,
        .block_cells = (uint32_t)f->block_cells,
        .actions = batch->view.actions,
        .observations = batch->view.observations,
        .terminated = batch->view.terminated,
        .truncated = batch->view.truncated,
    };
    return VY_OK;
}

vy_status vy_batch_gpu_field(const vy_batch *batch, const char *name, uint32_t *first, uint32_t *count,
                             vy_error *err)
{
    const vy_field *f = vy_find_field(BLOCK_drone, name);
    if (f == NULL) return vy_fail(err, VY_NOT_FOUND, "a drone has no field %s", name);
    *first = (uint32_t)(drone_cell(batch, 0) + f->offset / 8);
    *count = (uint32_t)f->count;
    return VY_OK;
}

void vy_batch_gpu_copy(vy_batch *batch, uint32_t width, uint64_t *cells, int back)
{
    const size_t count = batch->config.block_cells;
    for (uint32_t i = 0; i < batch->view.worlds; ++i) {
        uint64_t *at = cells + (size_t)(i / width) * count * width + i % width;
        for (size_t c = 0; c < count; ++c) {
            if (back) {
                put_cells(batch, i, c, at + c * width, 1);
            } else {
                get_cells(batch, i, c, at + c * width, 1);
            }
        }
        if (back) vy_batch_write_outputs(batch, i, (size_t)batch->view.drones * batch->view.observation_size);
    }
}
