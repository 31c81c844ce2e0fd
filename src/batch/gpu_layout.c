// gpu_layout.c - the cells of a batch as a GPU has them: what is where, and copies there and back.
#include "batch/gpu_layout.h"
#include "base/fail.h"
#include "batch/batch_cells.h"
#include "batch/config.h"
#include "world/stages.h"

int vy_batch_gpu_is_basic(const vy_batch *batch, gpu_layout *layout)
{
    const lanes_config *config = &batch->config;
    enum { PARAMS_CELLS = sizeof(drone_params) / 8 };
    uint8_t may_vary[PARAMS_CELLS] = {0};
    uint32_t count = 0;
#define VARIED(member)                                                          \
    layout->randomised_cells[count] =                                           \
        (uint16_t)(config->params_offset + offsetof(drone_params, member) / 8); \
    may_vary[layout->randomised_cells[count++] - config->params_offset] = 1;
    BASIC_RANDOMISED(VARIED)
#undef VARIED
#define UNREAD(member, count) memset(may_vary + offsetof(drone_params, member) / 8, 1, count);
    BASIC_UNREAD(UNREAD)
#undef UNREAD
    vy_model m;
    lanes_model_init(config, &m);
    const drone_model *d = &m.drones[0];
    drone_params first_params;
    get_cells(batch, 0, config->params_offset, &first_params, PARAMS_CELLS);
    const vy_controller_def *controller = &d->controller;
    int is_basic = config->rung != VY_RUNG_NONE ||
                   (controller->kind == VY_CONTROLLER_HOLD && controller->setpoint_count == 0 &&
                    controller->path.kind == VY_PATH_SETPOINTS);
#define TEST(member, value) is_basic = is_basic && m.member == (value);
    BASIC_MODEL(TEST)
#undef TEST
#define TEST(member, value) is_basic = is_basic && d->member == (value);
    BASIC_DRONE(TEST)
#undef TEST
#define TEST(member, value) is_basic = is_basic && first_params.member == (value);
    BASIC_PARAMS(TEST)
#undef TEST
    uint64_t first_cells[PARAMS_CELLS], other_cells[PARAMS_CELLS];
    memcpy(first_cells, &first_params, sizeof first_cells);
    for (uint32_t i = 1; is_basic && i < batch->view.worlds; ++i) {
        get_cells(batch, i, config->params_offset, other_cells, PARAMS_CELLS);
        for (uint32_t k = 0; k < PARAMS_CELLS; ++k)
            is_basic = is_basic && (may_vary[k] || first_cells[k] == other_cells[k]);
    }
    // What the state of a basic drone has no room for is zero.
    for (uint32_t i = 0; is_basic && i < batch->view.worlds; ++i) {
        drone_block drone;
        get_cells(batch, i, drone_cell(batch, 0), &drone, CELLS_OF(drone_block));
        for (int k = 4; k < VY_ROTOR_CAP; ++k)
            is_basic = is_basic && drone.rotor_speed[k] == 0.0 && drone.control.motors[k] == 0.0;
        const vy_vec3 *s = &drone.control.indi.rate.value;
        for (int k = 0; k < 5; ++k) is_basic = is_basic && s[k].x == 0.0 && s[k].y == 0.0 && s[k].z == 0.0;
        const turbulence_state *t = &drone.turbulence;
        is_basic = is_basic && t->along == 0.0 && t->across[0] == 0.0 && t->across[1] == 0.0 &&
                   t->up[0] == 0.0 && t->up[1] == 0.0 && drone.gust.x == 0.0 && drone.gust.y == 0.0 &&
                   drone.gust.z == 0.0 && (drone.effects & ~EFFECTS_OF_BODIES) == 0;
    }
    return is_basic;
}

vy_status vy_batch_gpu_layout(const vy_batch *batch, uint32_t noise_max, gpu_layout *out,
                              uint32_t observed_cells[GPU_OBSERVED_MAX], vy_error *err)
{
    const lanes_config *config = &batch->config;
    const unsigned options = step_options(&batch->template_world->model);
    if (options != 0) return vy_fail(err, VY_BAD_VALUE, "GPU: no worlds with %s", step_option_text(options));
    if (config->drone_count != 1 || config->chain || config->counts.of[BLOCK_noise] > noise_max ||
        config->environment->wind.grid != NULL || batch->view.observation_size > GPU_OBSERVED_MAX ||
        batch->def.autoreset != VY_AUTORESET_OFF) {
        return vy_fail(err, VY_BAD_VALUE,
                       "GPU: worlds of one drone, without chain, wind grid or autoreset, %u noises at most",
                       noise_max);
    }
    uint32_t observed_count = 0;
    for (int k = 0; k < batch->def.observe_count; ++k) {
        const observation_field *o = &batch->observed_fields[k];
        for (int i = 0; i < o->count; ++i)
            observed_cells[observed_count++] =
                (uint32_t)(o->cell - drone_cell(batch, 0) + (size_t)i) | (o->is_integer ? 0x80000000u : 0u);
    }
    *out = (gpu_layout){
        .config = config,
        .worlds = batch->view.worlds,
        .noise_count = config->counts.of[BLOCK_noise],
        .action_size = config->action_size,
        .observation_size = batch->view.observation_size,
        .rung = config->rung,
        .episode = config->episode,
        .world_cells = CELLS_OF(world_block),
        .drone_offset = (uint32_t)drone_cell(batch, 0),
        .noise_offset = (uint32_t)(block_offset(&config->counts, BLOCK_noise) / 8),
        .nap_account_offset = (uint32_t)config->hashed_cells,
        .params_offset = (uint32_t)config->params_offset,
        .episode_offset = (uint32_t)config->episode_offset,
        .block_cells = (uint32_t)config->block_cells,
        .actions = batch->view.actions,
        .observations = batch->view.observations,
        .terminated = batch->view.terminated,
        .truncated = batch->view.truncated,
    };
    out->is_basic = vy_batch_gpu_is_basic(batch, out);
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

void vy_batch_gpu_copy(vy_batch *batch, uint32_t width, uint64_t *cells, int to_batch)
{
    const size_t count = batch->config.block_cells;
    for (uint32_t i = 0; i < batch->view.worlds; ++i) {
        uint64_t *world_cells = cells + (size_t)(i / width) * count * width + i % width;
        for (size_t cell = 0; cell < count; ++cell) {
            if (to_batch) {
                put_cells(batch, i, cell, world_cells + cell * width, 1);
            } else {
                get_cells(batch, i, cell, world_cells + cell * width, 1);
            }
        }
        if (to_batch)
            vy_batch_write_outputs(batch, i, (size_t)batch->view.drones * batch->view.observation_size);
    }
}
