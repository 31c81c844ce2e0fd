// basic_step.inl - a step of the worlds of basic drones (basic_drones.h), for a GPU: one world at a time,
// through the same stages. For the real of the including file. Without CUDA it is compiled for a test.
//
// The state lies in shared memory for all steps of a launch; between launches it is in the batch's cells, of
// which the threads of a warp read neighbouring ones. The stages are compiled into one another, with what
// basic_drones.h says as constants, so that what they share stays in registers. Constants of all worlds are
// the kernel's argument, those of one world are read where they are used.
#define VY_BASIC_ONLY 1
#include "base/real.h"
#include "base/math.h"
#undef VY_NOINLINE_FN
#undef VY_COLD_FN
#define VY_NOINLINE_FN VY_FN
#define VY_COLD_FN     VY_FN
#include "batch/config.h"
#include "batch/basic_drones.h"
#include "batch/gpu_kernel.h"
#include "world/disturbance.h"
#include "world/plant.h"
#include "world/safety.h"
#include "world/sensor_stage.h"
#include "world/stages.h"
#include "world/controller_stage.h"
#include "world/environment_stage.h"
#if VY_SINGLE
extern "C" {
#include "batch/pack.h"
}
#endif
#include <utility>

/// What a thread has in shared memory.
struct shared_world {
    drone_block drone;
    bits seed;
};

/// How the state of a drone lies there: its cells in order, and where each is in the batch.
struct shared_layout {
    int count;                                        // of cells
    uint8_t cell[sizeof(drone_block) / sizeof(real)]; // where it is in the batch, from the drone's first
    uint8_t is_integer[sizeof(drone_block) / sizeof(real)]; // 1: a whole number
    uint16_t offset[sizeof(drone_block) / sizeof(real)];    // [bytes] where it is in shared memory
    size_t bytes;                                           // of all cells in shared memory
};

static constexpr shared_layout make_shared_layout()
{
    shared_layout layout = {};
    int cell = 0;
#define ROW(block, member, type, cells, unit, text)                        \
    for (int k = 0; k < (cells); ++k, ++cell) {                            \
        if (k >= (int)STATE_CELLS(#member, FIELD_##type, cells)) continue; \
        layout.cell[layout.count] = (uint8_t)cell;                         \
        layout.offset[layout.count] = (uint16_t)layout.bytes;              \
        layout.is_integer[layout.count++] = FIELD_##type >= FIELD_INTEGER; \
        layout.bytes += FIELD_##type >= FIELD_INTEGER ? 8 : sizeof(real);  \
    }
    FIELDS_drone(ROW, drone)
#undef ROW
        return layout;
}
static constexpr shared_layout drone_cell_layout = make_shared_layout();

static_assert(drone_cell_layout.bytes == sizeof(drone_block), "every cell has its row");

/// From thread to thread: an odd number of words, so that a warp's accesses meet all banks.
enum { SHARED_STRIDE = (sizeof(shared_world) / sizeof(real) | 1) * sizeof(real) };

/// Constants of the drone that all worlds share.
struct basic_drone {
#define USED(member) decltype(drone_model::member) member;
    BASIC_DRONE_USED(USED)
#undef USED
    double roll[4], pitch[4], yaw[4]; // as in rotor_layout
    vy_safety_def safety;
};

struct basic_constants {
    vy_model model;
    basic_drone drone;
    drone_params params; // of the first world
};

/// The cells of one world in the batch, in global memory.
struct global_world {
    uint64_t *cells; // the first one; GPU_WARP from one to the next
    const gpu_layout *layout;
};

VY_FN uint64_t *global_cell(const global_world *global, uint32_t cell)
{
    return global->cells + (size_t)cell * GPU_WARP;
}

VY_FN real global_load(const global_world *global, uint32_t cell)
{
    const uint64_t stored = *global_cell(global, cell); // in one piece: a copy of memory goes byte by byte
    double value;
    memcpy(&value, &stored, 8);
    return value;
}

VY_FN void global_store(const global_world *global, uint32_t cell, real x)
{
    const double value = real_lane(x, 0);
    uint64_t stored;
    memcpy(&stored, &value, 8);
    *global_cell(global, cell) = stored;
}

template <int K> VY_FN void copy_cell(const global_world *global, drone_block *d, int is_store)
{
    constexpr size_t offset = drone_cell_layout.offset[K];
    constexpr uint32_t block_cell = drone_cell_layout.cell[K];
    unsigned char *cells = (unsigned char *)d + offset;
    const uint32_t cell = global->layout->drone_offset + block_cell;
    if constexpr (drone_cell_layout.is_integer[K]) {
        bits *value = (bits *)(void *)cells;
        if (is_store) *global_cell(global, cell) = *value;
        if (!is_store) *value = *global_cell(global, cell);
    } else {
        real *value = (real *)(void *)cells;
        if (is_store) global_store(global, cell, *value);
        if (!is_store) *value = global_load(global, cell);
    }
}

template <int... K>
VY_FN void copy_cells(const global_world *global, drone_block *d, int is_store,
                      std::integer_sequence<int, K...>)
{
    (copy_cell<K>(global, d, is_store), ...);
}

VY_FN void copy_drone(const global_world *global, drone_block *d, int is_store)
{
    copy_cells(global, d, is_store, std::make_integer_sequence<int, drone_cell_layout.count>());
}

/// Constants as the stages have them, with the facts of basic drones as numbers that the compiler sees.
VY_FN void basic_model(const basic_constants *constants, vy_model *m, drone_model *dm, drone_params *p)
{
    *m = constants->model;
    *p = constants->params;
#if !defined(__CUDACC__)
    memset((void *)dm, 0xff, sizeof *dm); // a test sees it where a stage reads what is not set here
#endif
#define USED(member) dm->member = constants->drone.member;
    BASIC_DRONE_USED(USED)
#undef USED
    for (int k = 0; k < 4; ++k) {
        dm->layout.roll[k] = constants->drone.roll[k];
        dm->layout.pitch[k] = constants->drone.pitch[k];
        dm->layout.yaw[k] = constants->drone.yaw[k];
    }
#define LIMIT(member) dm->safety.member = constants->drone.safety.member;
    BASIC_LIMITS(LIMIT) // one by one: a copy of all would be a loop through memory
#undef LIMIT
    m->drones = dm;
    m->params = p;
}

/// What differs from world to world. The compiler drops what the stage behind it does not read.
VY_FN void basic_set_world(const global_world *global, const shared_world *here, vy_model *m, drone_params *p)
{
    int k = 0;
#define VARIED(member) p->member = global_load(global, global->layout->randomised_cells[k++]);
    BASIC_RANDOMISED(VARIED)
#undef VARIED
    const uint32_t wind = global->layout->episode_offset + 1;
    m->seed = here->seed;
    m->env.constant_wind =
        vec3_make(global_load(global, wind), global_load(global, wind + 1), global_load(global, wind + 2));
}

/// The actions of a batch, or none.
struct basic_actions {
    int rung; // VY_RUNG_NONE: no actions
    const double *values;
    uint32_t count; // of values
};

VY_FN control_reply basic_reply(const basic_actions *a)
{
    control_reply r;
    const double *v = a->values;
    memset(&r, 0, sizeof r);
    r.rung = (uint64_t)a->rung;
    if (a->rung == VY_RUNG_MOTORS) {
        for (uint32_t k = 0; k < 4; ++k) r.motors[k] = v[k];
    } else {
        r.thrust = v[0];
        for (int k = 0; k < 4; ++k) r.sticks[k] = v[k];
        r.torque = r.rates = vec3_make(v[1], v[2], v[3]);
        r.velocity = vec3_make(v[0], v[1], v[2]);
        r.yaw_rate = v[3];
        if (a->rung == VY_RUNG_ATTITUDE) r.attitude = quat_make(v[1], v[2], v[3], v[4]);
    }
    return r;
}

VY_FN uint32_t controller_stage(const basic_actions *actions, const vy_model *m, world_block *w,
                                drone_block *drones)
{
    const mask is_due = due(w->tick, m->drones[0].control_period);
    if (!mask_any(is_due)) return 0;
    if (actions->rung != VY_RUNG_NONE) {
        const control_reply reply = basic_reply(actions);
        controller_reply(m, 0, is_due, &reply, w, drones);
    } else {
        controller_built_in(m, 0, is_due, w, drones);
    }
    return 0;
}

/// nap_stage with the account in the batch's cells: it is read when the policy is evaluated, and written
/// then.
VY_FN mask nap_stage(const vy_model *m, const world_block *w, const noise_block *noise, drone_block *drones,
                     const global_world *global)
{
    const bits tick = w->tick - 1u;
    const mask active = due(tick, m->nap_period);
    if (!mask_any(active)) return active;
    const uint32_t account_cell = global->layout->nap_account_offset;
    nap_account_block account;
    memset(&account, 0, sizeof account);
    for (int k = 0; k < EFFECT_COUNT; ++k) {
        if ((EFFECTS_OF_BODIES >> k & 1u) == 0) continue;
        account.impulse[k] = global_load(global, account_cell + (uint32_t)k);
        account.angular[k] = global_load(global, account_cell + EFFECT_COUNT + (uint32_t)k);
    }
    nap_evaluate_all(m, &tick, &active, noise, drones, &account);
    for (int k = 0; k < EFFECT_COUNT; ++k) {
        if ((EFFECTS_OF_BODIES >> k & 1u) == 0) continue;
        global_store(global, account_cell + (uint32_t)k, account.impulse[k]);
        global_store(global, account_cell + EFFECT_COUNT + (uint32_t)k, account.angular[k]);
    }
    for (int k = 0; k < DEVIATION_COUNT; ++k)
        global_store(global, account_cell + 2 * EFFECT_COUNT + (uint32_t)k, account.deviation[k]);
    return active;
}

VY_FN void step_world(const global_world *global, vy_model *model, drone_params *params,
                      const basic_actions *reply_source, shared_world *here, world_block *w)
{
    const vy_model *m = model, *plant_model = m;
    drone_block *drones = &here->drone;
    noise_block *noise = NULL;
    powertrain_block *powertrain = NULL;
    thruster_block *thrusters = NULL;
    const global_world *nap_accounts = global;
    body_loads loads[3];
    real speeds[1][VY_ROTOR_CAP];
    noise_ahead *noise_draws = NULL;
    rng_cache *imu_draws = NULL;
    [[maybe_unused]] mask nap_evaluated;
    uint32_t events = 0;
// What a stage reads and writes of the state goes through memory: it is no use to hold it in registers
// longer.
#define STAGE(...)                                \
    basic_set_world(global, here, model, params); \
    __VA_ARGS__;                                  \
    asm volatile("" ::: "memory");
#define STAGE_UNLESS(option, ...) STAGE(__VA_ARGS__)
#define RUNNING_BEGIN             if (w->failure_reason == VY_FAILURE_NONE) {
#define RUNNING_END               }
#include "world/stages.inl"
    (void)events;
}

VY_FN void store_end(const global_world *global, const world_block *w)
{
    *global_cell(global, offsetof(world_block, failure_reason) / 8) = w->failure_reason;
    *global_cell(global, offsetof(world_block, failure_tick) / 8) = w->failure_tick;
    *global_cell(global, offsetof(world_block, failure_body) / 8) = w->failure_body;
    *global_cell(global, offsetof(world_block, failure_field) / 8) = w->failure_field;
    global_store(global, 8, w->failure_value);
    global_store(global, 9, w->failure_limit);
}

/// All steps of a launch of world `i`; `here` is its shared memory. `rung` is the layout's, as a constant
/// where it is one.
VY_FN void basic_advance_world(const gpu_job *job, const basic_constants *constants, int rung, uint32_t i,
                               shared_world *here)
{
    const gpu_layout *layout = &job->layout;
    const global_world global = {
        job->cells + (size_t)(i / GPU_WARP) * layout->block_cells * GPU_WARP + i % GPU_WARP, layout};
    uint64_t failure = *global_cell(&global, 4), halted = *global_cell(&global, layout->episode_offset + 4);
    bits tick = *global_cell(&global, 1);
    if (failure == VY_FAILURE_NONE && halted == 0) {
        copy_drone(&global, &here->drone, 0);
        here->seed = *global_cell(&global, layout->episode_offset);
        basic_actions actions = {rung, job->actions + (size_t)i * layout->action_size, layout->action_size};
        vy_model m;
        drone_model dm;
        drone_params params;
        basic_model(constants, &m, &dm, &params);
        for (uint64_t k = 0; k < job->steps; ++k) {
            world_block w;
            memset(&w, 0, sizeof w);
            w.tick = tick;
            step_world(&global, &m, &params, &actions, here, &w);
            tick = w.tick;
            if (w.failure_reason != VY_FAILURE_NONE) {
                failure = w.failure_reason;
                store_end(&global, &w);
                break;
            }
            if (layout->episode != 0 && tick >= layout->episode) {
                halted = 1;
                break;
            }
        }
        copy_drone(&global, &here->drone, 1);
        *global_cell(&global, 1) = tick;
        *global_cell(&global, layout->episode_offset + 4) = halted;
    }
    job->ended[i] = failure != VY_FAILURE_NONE;
    job->ended[layout->worlds + i] = failure == VY_FAILURE_NONE && halted != 0;
    for (uint32_t k = 0; k < layout->observation_size; ++k) {
        const uint64_t stored =
            *global_cell(&global, layout->drone_offset + (job->observed_cells[k] & 0x7fffffffu));
        double value;
        memcpy(&value, &stored, 8);
        if (job->observed_cells[k] >> 31) value = (double)stored;
        job->observations[(size_t)i * layout->observation_size + k] = value;
    }
}

/// `first_params` are the cells of the first world's drone_params.
static void basic_prepare(const lanes_config *config, const void *first_params, void *out)
{
    basic_constants *constants = (basic_constants *)out;
    memset((void *)constants, 0, sizeof *constants);
    lanes_model_init(config, &constants->model);
    constants->model.drones = NULL;
    constants->model.disturbances = NULL;
    const drone_model *d = &config->drones[0];
#define USED(member) constants->drone.member = d->member;
    BASIC_DRONE_USED(USED)
#undef USED
    for (int k = 0; k < 4; ++k) {
        constants->drone.roll[k] = d->layout.roll[k];
        constants->drone.pitch[k] = d->layout.pitch[k];
        constants->drone.yaw[k] = d->layout.yaw[k];
    }
    constants->drone.safety = d->safety;
#if VY_SINGLE
    vy_pack(config->is_integer + config->params_offset, config->episode_offset - config->params_offset,
            first_params, 8, &constants->params);
#else
    memcpy(&constants->params, first_params, sizeof constants->params);
#endif
}
