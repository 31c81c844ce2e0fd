// world.c - creating, filling, reading and copying a world.
#include "volery/world.h"
#include "base/fpu_result.h"
#include "base/assert.h"
#include "base/real.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/hash.h"
#include "control/verdict.h"
#include "world/budget_loop.h"
#include "world/build.h"
#include "world/fault.h"
#include "world/supervisor.h"
#include "world/contact_stage.h"
#include "world/world_impl.h"
#include "world/sensor_suite.h"
#include "world/plant.h"
#include "world/stages.h"
#include "world/world_def.h"
#include <stdlib.h>

enum { DEFAULT_TICKS = 10, BUDGET_TICKS = 50 };

// [m] No drone flies below the deepest mine.
#define LOWEST_ALTITUDE (-5000.0)

// Handles: low half slot + 1, high half generation (always 1: drones are not removed).
static vy_drone_id id_of(uint32_t slot) { return (vy_drone_id){(uint64_t)1 << 32 | (slot + 1u)}; }

int vy_world_slot(const vy_world *world, vy_drone_id id, uint32_t *slot)
{
    const uint64_t slot_plus_1 = id.bits & 0xffffffffu;
    if (id.bits >> 32 != 1 || slot_plus_1 == 0 || slot_plus_1 > world->model.drone_count) return 0;
    *slot = (uint32_t)slot_plus_1 - 1;
    VY_ASSERT(*slot < world->model.drone_cap);
    return 1;
}

block_counts vy_world_count_blocks(const vy_model *m)
{
    block_counts counts = {.of = {
#define BLOCK(id, name, list, member, count, text) [BLOCK_##name] = count,
#include "world/blocks.inl"
                           }};
    vy_count_head(&counts);
    return counts;
}

// Each noise of each drone or body it acts on has a filter in the state.
static void count_noises(vy_world *world)
{
    vy_model *m = &world->model;
    m->noise_count = 0;
    for (uint32_t k = 0; k < m->disturbance_count; ++k) {
        disturbance_model *d = &m->disturbances[k];
        uint32_t number = 0;
        const int is_single = vy_world_number(world, d->def.body, &number);
        d->first = is_single ? number : 0;
        d->last = is_single ? number + 1 : body_count(m);
        d->noise = m->noise_count;
        if (d->def.kind == VY_DISTURBANCE_NOISE) m->noise_count += d->last - d->first;
        VY_ASSERT(d->first <= d->last && d->last <= body_count(m));
    }
    VY_ASSERT(m->noise_count <=
              ((uint64_t)m->drone_cap + m->passive_cap) * m->disturbance_cap); // as much as there is room for
}

// The counts were `old_counts`. Where there are more, blocks move up, the last one first, and new ones are
// zero; where injections have gone, blocks move down, the first one first.
static void move_blocks(const block_counts *old_counts, vy_world *world)
{
    unsigned char *state = (unsigned char *)world->state;
    const block_counts *new_counts = &world->counts;
    const int is_growing = block_offset(new_counts, BLOCK_KINDS) >= block_offset(old_counts, BLOCK_KINDS);
    for (int i = BLOCK_entry + 1; i < BLOCK_KINDS; ++i) {
        const int kind = is_growing ? BLOCK_KINDS + BLOCK_entry - i : i;
        const size_t size = vy_blocks[kind].size;
        const size_t old_offset = block_offset(old_counts, (enum block_kind)kind),
                     new_offset = block_offset(new_counts, (enum block_kind)kind);
        const size_t old_size = old_counts->of[kind] * size, new_size = new_counts->of[kind] * size,
                     common_size = old_size < new_size ? old_size : new_size;
        VY_ASSERT(old_size <= new_size || kind == BLOCK_injection); // blocks in use stay
        VY_ASSERT(is_growing ? old_offset <= new_offset : old_offset >= new_offset);
        memmove(state + new_offset, state + old_offset, common_size);
        memset(state + new_offset + common_size, 0, new_size - common_size);
    }
}

static void *at_block(unsigned char *state, const block_counts *counts, enum block_kind kind)
{
    return state + block_offset(counts, kind);
}

// The state is one dense block, whose size and layout follow from the counts.
void vy_world_layout_state(vy_world *world)
{
    const vy_model *m = &world->model;
    const block_counts old_counts = world->counts;
    VY_ASSERT(m->drone_count <= m->drone_cap && m->passive_count <= m->passive_cap);
    VY_ASSERT(m->disturbance_count <= m->disturbance_cap);
    VY_ASSERT(m->payload_count <= m->payload_cap && m->fault_count <= m->fault_cap);
    VY_ASSERT(m->delay_count <= m->delay_cap);
    VY_ASSERT(m->gate_count <= m->kalman_count && m->kalman_count <= m->filter_count &&
              m->filter_count <= m->sensor_suite_count && m->sensor_suite_count <= m->sensor_suite_cap);
    count_noises(world);
    world->options = step_options(m);
    world->counts = vy_world_count_blocks(m);
    move_blocks(&old_counts, world);
    unsigned char *state = (unsigned char *)world->state;
#define BLOCK(id, name, list, member, count, text) \
    world->member = world->counts.of[BLOCK_##name] > 0 ? at_block(state, &world->counts, BLOCK_##name) : NULL;
#include "world/blocks.inl"
    world->sensors = at_block(state, &world->counts, SENSORS_FIRST_BLOCK);
    world->hashed_size = block_offset(&world->counts, BLOCK_nap_account);
    world->state_size = block_offset(&world->counts, BLOCK_KINDS);
    VY_ASSERT(world->hashed_size + m->drone_count * sizeof(nap_account_block) +
                  m->passive_count * sizeof(body_account_block) +
                  world->counts.of[BLOCK_budget] * sizeof(budget_block) +
                  world->counts.of[BLOCK_loop] * sizeof(loop_block) ==
              world->state_size); // they end it
    VY_ASSERT((uintptr_t)world->state % 8 == 0 && world->state_size % 8 == 0);
    world->state->integrator = (uint64_t)m->physics.integrator;
    vy_write_entries(&world->counts, world->state);
}

// Periods of the policy, of turbulence and of wakes in steps; those left at 0 are ten, with a budget fifty.
static vy_status environment_ticks(const vy_world_def *def, uint64_t *nap_ticks, uint64_t *turbulence_ticks,
                                   uint64_t *wake_ticks, vy_error *err)
{
    const vy_turbulence_def *turbulence_def = &def->environment.wind.turbulence;
    const double nap_period = def->environment.nap.period, wake_period = def->environment.wakes.period;
    vy_status status = VY_OK;
    *nap_ticks = def->environment.nap.budget.duration > 0.0 ? BUDGET_TICKS : DEFAULT_TICKS;
    *turbulence_ticks = 0;
    *wake_ticks = DEFAULT_TICKS;
    if (wake_period != 0.0)
        status = vy_period_ticks("world.wakes.period", wake_period, def->dt, wake_ticks, err);
    if (status == VY_OK && nap_period != 0.0)
        status = vy_period_ticks("world.nap.period", nap_period, def->dt, nap_ticks, err);
    if (status != VY_OK || (turbulence_def->wind20 == 0.0 && turbulence_def->intensity == 0.0)) return status;
    *turbulence_ticks = DEFAULT_TICKS;
    if (turbulence_def->period != 0.0)
        status = vy_period_ticks("world.wind.turbulence.period", turbulence_def->period, def->dt,
                                 turbulence_ticks, err);
    return status;
}

// The constants of the world itself; nothing is in it yet.
static vy_status build_model(const vy_world_def *def, vy_model *m, vy_error *err)
{
    const vy_environment_def *env = &def->environment;
    uint64_t turbulence_ticks = 0, nap_ticks = 0, wake_ticks = 0;
    const vy_status status = environment_ticks(def, &nap_ticks, &turbulence_ticks, &wake_ticks, err);
    if (status != VY_OK) return status;
    VY_ASSERT(def->dt > 0.0 && nap_ticks > 0 && wake_ticks > 0);
    *m = (vy_model){
        .dt = def->dt,
        .seed = def->seed,
        .nap = env->nap,
        .planet = env->planet,
        .physics = env->physics,
        .strict_rk4 = plant_is_strict_rk4(&env->physics),
        .wakes = env->wakes,
        .turbulence = vy_turbulence_build(&env->wind.turbulence),
        .turbulence_period = turbulence_ticks,
        .nap_period = nap_ticks,
        .wake_period = wake_ticks,
        .has_powertrain = env->wakes.on,
        .collides = def->contacts.on != 0,
        .sleep_enabled = def->contacts.on && def->contacts.time_to_sleep > 0.0,
    };
    vy_environment_build(env, &m->env);
    m->turbulence.period = (double)turbulence_ticks * def->dt;
    return VY_OK;
}

vy_status vy_world_create(const vy_world_def *def, vy_world **out, vy_error *err)
{
    FPU_SCOPE;
    *out = NULL;
    vy_model model;
    vy_status status = vy_check_world_def(def, err);
    if (status == VY_OK) status = build_model(def, &model, err);
    if (status != VY_OK) return status;
    vy_world *world = calloc(1, sizeof *world);
    if (world == NULL) return vy_fail(err, VY_NO_MEMORY, "world: no memory for %zu bytes", sizeof *world);
    world->model = model;
    world->contacts_def = def->contacts;
    world->closing_speed = def->closing_speed;
    world->open_limit = def->open_limit;
    world->model.has_prestep = def->contacts.on != 0;
    status = vy_world_alloc_memory(world, err);
    if (status == VY_OK) vy_world_layout_state(world);
    if (status == VY_OK && def->contacts.on) status = vy_world_reserve_set(world, 0, 0, err);
    if (status != VY_OK) {
        vy_world_destroy(world);
        return status;
    }
    *out = world;
    return VY_OK;
}

void vy_world_destroy(vy_world *world)
{
    if (world == NULL) return;
    vy_bodies_destroy(world->bodies);
    free(world->model.loads_at_start);
    for (uint32_t i = 0; i < world->model.drone_count; ++i) {
        const vy_controller_def *c = &world->model.drones[i].controller;
        if (c->kind == VY_CONTROLLER_RECORDED) free(c->record.values);
    }
    vy_world_free_memory(world);
    free(world);
}

// The sensor suite of a drone that is about to be added, at the next index.
static vy_status add_sensor_suite(vy_world *world, const vy_drone_def *def, uint32_t index,
                                  uint32_t *delay_cells, vy_error *err)
{
    vy_model *m = &world->model;
    vy_status status =
        vy_world_reserve(world, CAPACITY_SENSOR_SUITES, (uint64_t)m->sensor_suite_count + 1, err);
    if (status != VY_OK) return status;
    sensor_suite_model *sensor_suite = &m->sensor_suites[m->sensor_suite_count];
    status = vy_sensor_suite_build(m, def, index, sensor_suite, delay_cells, err);
    if (status == VY_OK)
        status = vy_world_reserve(world, CAPACITY_DELAY_CELLS, (uint64_t)m->delay_count + *delay_cells, err);
    if (status != VY_OK) return status;
    sensor_suite = &m->sensor_suites[m->sensor_suite_count]; // it may have moved
    for (int i = 0; i < SENSOR_KINDS; ++i) sensor_suite->links[i].line += m->delay_count;
    drone_model *dm = &m->drones[index];
    dm->sensor_suite = m->sensor_suite_count + 1;
    const int is_kalman = vy_filter_is_kalman(sensor_suite);
    sensor_suite->filter = m->filter_count;
    sensor_suite->type_block = is_kalman ? m->kalman_count : m->filter_count - m->kalman_count;
    sensor_suite->gate = m->gate_count;
    VY_ASSERT(sensor_suite->drone == index && m->filter_count <= m->sensor_suite_count &&
              m->gate_count <= m->kalman_count);
    if (sensor_suite->estimator != VY_ESTIMATOR_FADING) dm->estimate_source = ESTIMATE_FILTER;
    if (sensor_suite->links[SENSOR_imu].period > 0) dm->imu_period = 0; // the basic IMU is not sampled then
    if (sensor_suite->links[SENSOR_mocap].period > 0) dm->mocap_period = 0;
    return VY_OK;
}

vy_status vy_check_position(const vy_model *m, const char *owner, vy_vec3 position, vy_error *err)
{
    if (!m->env.planet.on || altitude_at(&m->env, position) > LOWEST_ALTITUDE) return VY_OK;
    return vy_fail(err, VY_BAD_VALUE, "%s.position lies inside the planet", owner);
}

// A recorded flight of the world's own, in the place of the def's.
static vy_status copy_record(vy_controller_def *c, vy_error *err)
{
    if (c->kind != VY_CONTROLLER_RECORDED) return VY_OK;
    const size_t size = (size_t)c->record.rows * (size_t)c->record.columns * sizeof *c->record.values;
    double *copy = malloc(size);
    if (copy == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for a recorded flight");
    memcpy(copy, c->record.values, size);
    c->record.values = copy;
    return VY_OK;
}

vy_status vy_world_add_drone(vy_world *world, const vy_drone_def *def, vy_drone_id *out, vy_error *err)
{
    FPU_SCOPE;
    vy_model *m = &world->model;
    vy_drone_def resolved = *def;
    vy_resolve_drone_def(&resolved, m->dt);
    def = &resolved;
    if (world->state->tick > 0) return vy_fail(err, VY_BAD_STATE, "drones are added before the first step");
    if (m->payload_count > 0) return vy_fail(err, VY_BAD_STATE, "drones are added before payloads");
    if (m->passive_count > 0) return vy_fail(err, VY_BAD_STATE, "drones are added before bodies");
    const uint32_t index = m->drone_count;
    vy_status status = vy_check_drone_def(def, err);
    if (status == VY_OK) status = vy_check_position(m, "drone", def->position, err);
    if (status == VY_OK) status = vy_world_reserve(world, CAPACITY_DRONES, (uint64_t)index + 1, err);
    if (status == VY_OK) status = vy_world_reserve_loads(world, body_count(m) + 1, err);
    if (status == VY_OK) status = copy_record(&resolved.controller, err);
    const int owns_record = status == VY_OK && resolved.controller.kind == VY_CONTROLLER_RECORDED;
    if (status == VY_OK) status = vy_drone_build(m, def, &m->drones[index], &m->params[index], err);
    uint32_t delay_cells = 0;
    if (status == VY_OK && vy_drone_has_sensor_suite(def))
        status = add_sensor_suite(world, def, index, &delay_cells, err);
    if (status == VY_OK) status = vy_contact_add_drone(world, def, err);
    if (status == VY_OK) {
        world->vehicles[index] = def->vehicle;
        m->drone_count += 1;
        m->sensor_suite_count += m->drones[index].sensor_suite > 0;
        for (int i = 0; i < SENSOR_KINDS && m->drones[index].sensor_suite > 0; ++i)
            m->sensor_counts[i] += m->sensor_suites[m->drones[index].sensor_suite - 1].links[i].period > 0;
        m->filter_count += m->drones[index].estimate_source == ESTIMATE_FILTER;
        if (m->drones[index].sensor_suite > 0) {
            const sensor_suite_model *sensor_suite = &m->sensor_suites[m->drones[index].sensor_suite - 1];
            m->kalman_count += vy_filter_is_kalman(sensor_suite) != 0;
            m->gate_count += sensor_suite->has_gate != 0;
        }
        m->delay_count += delay_cells;
        if (world->loops != NULL) vy_loop_build_drone(m, index, &world->loops[index]);
        m->has_loop |= world->loops != NULL && world->loops[index].is_bounded;
        m->has_recorded |= m->drones[index].controller.kind == VY_CONTROLLER_RECORDED;
        if (m->collides) m->params[index].nap.open_loop = 0; // the bound is that of a body alone
#define DRONE_BLOCK(id, name, list, member, text) m->has_##name |= m->drones[index].has_##name;
#include "world/blocks.inl"
        m->wake_max = real_max(m->wake_max, m->drones[index].wake_exit);
        vy_world_layout_state(world);
        vy_drone_start(m, def, index, &world->drones[index]);
        VY_ASSERT(world->counts.of[BLOCK_drone] == index + 1);
        VY_ASSERT(world->bodies == NULL ||
                  vy_bodies_slot_count(world->bodies) == index + 1); // body i is drone i
        if (out != NULL) *out = id_of(index);
    } else if (owns_record) {
        free(resolved.controller.record.values);
    }
    return status;
}

vy_status vy_world_add_disturbance(vy_world *world, const vy_disturbance_def *def, vy_error *err)
{
    FPU_SCOPE;
    vy_model *m = &world->model;
    if (world->state->tick > 0)
        return vy_fail(err, VY_BAD_STATE, "disturbances are added before the first step");
    vy_status status = vy_check_disturbance_def(def, err);
    if (status != VY_OK) return status;
    uint32_t number = 0;
    if (def->body.bits != 0 && !vy_world_number(world, def->body, &number)) {
        return vy_fail(err, VY_NOT_FOUND, "disturbance.body is not a drone or body of this world");
    }
    status = vy_world_reserve(world, CAPACITY_DISTURBANCES, (uint64_t)m->disturbance_count + 1, err);
    if (status != VY_OK) return status;
    disturbance_model *d = &m->disturbances[m->disturbance_count];
    vy_disturbance_build(m, def, d);
    d->index = m->disturbance_count++;
    if (def->kind == VY_DISTURBANCE_SINUSOID) m->has_sinusoid = 1;
    vy_world_layout_state(world);
    return VY_OK;
}

vy_status vy_world_add_fault(vy_world *world, const vy_fault_def *def, vy_error *err)
{
    FPU_SCOPE;
    vy_model *m = &world->model;
    if (world->state->tick > 0) return vy_fail(err, VY_BAD_STATE, "faults are added before the first step");
    vy_status status = vy_check_fault_def(def, err);
    if (status != VY_OK) return status;
    uint32_t slot = 0;
    if (def->drone.bits != 0 && !vy_world_slot(world, def->drone, &slot))
        return vy_fail(err, VY_NOT_FOUND, "fault.drone is not a drone of this world");
    status = vy_world_reserve(world, CAPACITY_FAULTS, (uint64_t)m->fault_count + 1, err);
    if (status != VY_OK) return status;
    fault_model *f = &m->faults[m->fault_count];
    vy_fault_build(m, def, f);
    f->index = m->fault_count;
    f->first = slot;
    f->last = def->drone.bits != 0 ? slot + 1 : m->drone_count;
    f->line = m->delay_count;
    status = vy_fault_resolve(m, f, err);
    VY_ASSERT(status != VY_OK || (f->first < f->last && f->length > 0));
    const uint64_t delay_cells = delay_line_size(f->delay, f->width) * (f->last - f->first);
    const uint32_t first = f->first, last = f->last;
    if (status == VY_OK)
        status = vy_world_reserve(world, CAPACITY_DELAY_CELLS, m->delay_count + delay_cells, err);
    if (status == VY_OK) {
        m->fault_count += 1;
        m->delay_count += (uint32_t)delay_cells;
        // Faulty motors do not follow their commands, so the certificate has no bound to offer.
        for (uint32_t i = first; i < last && vy_fault_is_motor(def->kind); ++i)
            m->params[i].nap.open_loop = 0;
        vy_world_layout_state(world);
    }
    return status;
}

uint64_t vy_world_faults(const vy_world *world, vy_drone_id id)
{
    const vy_model *m = &world->model;
    uint32_t slot;
    uint64_t acting_mask = 0, begin_tick;
    if (!vy_world_slot(world, id, &slot)) return 0;
    for (uint32_t k = 0; k < m->fault_count && k < 64; ++k) {
        if (vy_fault_acts(m, &m->faults[k], slot, world->state->tick, &begin_tick))
            acting_mask |= (uint64_t)1 << k;
    }
    return acting_mask;
}

int vy_world_fault_acts(const vy_world *world, vy_drone_id id, uint32_t index)
{
    const vy_model *m = &world->model;
    uint32_t slot;
    uint64_t begin_tick;
    if (!vy_world_slot(world, id, &slot) || index >= m->fault_count) return 0;
    return vy_fault_acts(m, &m->faults[index], slot, world->state->tick, &begin_tick);
}

uint64_t vy_world_fault_begun(const vy_world *world, vy_drone_id id, uint32_t index)
{
    const vy_model *m = &world->model;
    uint32_t slot = 0;
    if (!vy_world_slot(world, id, &slot) || index >= m->fault_count) return 0;
    return vy_fault_count(m, &m->faults[index], slot, world->state->tick);
}

uint64_t vy_world_fault_count(const vy_world *world, vy_drone_id id)
{
    const vy_model *m = &world->model;
    uint32_t slot;
    uint64_t count = 0;
    if (!vy_world_slot(world, id, &slot)) return 0;
    for (uint32_t k = 0; k < m->fault_count; ++k)
        count += vy_fault_count(m, &m->faults[k], slot, world->state->tick);
    return count;
}

vy_status vy_world_add_joint(vy_world *world, const vy_joint_def *def, vy_joint_id *out, vy_error *err)
{
    FPU_SCOPE;
    vy_model *m = &world->model;
    if (world->state->tick > 0) return vy_fail(err, VY_BAD_STATE, "joints are added before the first step");
    if (m->physics.engine == VY_ENGINE_SIMPLE)
        return vy_fail(err, VY_BAD_VALUE, "joints need the strict or the rigid engine");
    if (m->payload_count > 0) return vy_fail(err, VY_BAD_STATE, "joints are added before payloads");
    vy_joint_id id;
    const int creates_set = world->bodies == NULL;
    vy_status status = vy_world_reserve(world, CAPACITY_JOINTS, (uint64_t)m->joint_count + 1, err);
    if (status == VY_OK) status = vy_world_reserve_set(world, 0, m->joint_count + 1, err);
    if (status == VY_OK) status = vy_bodies_add_joint(world->bodies, def, &id, err);
    if (status == VY_OK) status = vy_bodies_prepare(world->bodies);
    if (status != VY_OK && creates_set) vy_world_destroy_set(world);
    if (status != VY_OK) return status;
    m->joint_count += 1;
    m->has_gears |= vy_joint_has(def->kind, VY_JOINT_GEARED);
    for (uint32_t i = 0; i < body_count(m); ++i) {
        if (vy_body_has_joint(world->bodies, vy_bodies_at(world->bodies, i)))
            *body_holder(m, i) = HELD_BY_JOINT;
        if (!*body_holder(m, i)) continue;
        body_nap(m, i)->open_loop = 0; // the bound is that of a body alone
        body_nap(m, i)->jointed = 1;
    }
    vy_world_layout_state(world);
    if (m->has_gears) memcpy(world->gears, world->bodies->joint_gears, m->joint_count * sizeof(gear_block));
    if (out != NULL) *out = id;
    return VY_OK;
}

uint32_t vy_world_joint_count(const vy_world *world) { return world->model.joint_count; }

vy_joint_id vy_world_joint(const vy_world *world, uint32_t index)
{
    return world->bodies != NULL ? vy_joints_at(world->bodies, index) : VY_NULL_JOINT;
}

vy_status vy_world_read_joint(const vy_world *world, vy_joint_id id, vy_joint_state *out)
{
    FPU_SCOPE;
    if (world->bodies == NULL) return VY_NOT_FOUND;
    const int64_t k = vy_joints_find(world->bodies, id);
    if (k < 0) return VY_NOT_FOUND;
    VY_ASSERT((uint64_t)k < world->model.joint_count);
    vy_jointed_sync_joint(world, (uint32_t)k);
    return vy_joint_read(world->bodies, id, out);
}

uint64_t vy_world_tick(const vy_world *world) { return world->state->tick; }
double vy_world_time(const vy_world *world)
{
    FPU_SCOPE;
    return fpu_result((double)world->state->tick * world->model.dt);
}
uint32_t vy_world_drone_count(const vy_world *world) { return world->model.drone_count; }
uint64_t vy_world_hash(const vy_world *world) { return world->state->chain; }

uint64_t vy_world_state_hash(const vy_world *world)
{
    const size_t chain_size = sizeof world->state->chain; // it comes first
    const uint64_t hash =
        vy_hash64((const unsigned char *)world->state + chain_size, world->state_size - chain_size);
    return world->model.collides ? vy_contact_hash(world, hash) : hash;
}

size_t vy_world_memory(const vy_world *world) { return world->memory; }
void vy_world_set_sink(vy_world *world, vy_sink sink) { world->sink = sink; }
void vy_world_set_replay(vy_world *world, vy_replay replay) { world->replay = replay; }

vy_drone_id vy_world_drone(const vy_world *world, uint32_t index)
{
    return index < world->model.drone_count ? id_of(index) : (vy_drone_id){0};
}

vy_status vy_world_read_drone(const vy_world *world, vy_drone_id id, vy_drone_state *out)
{
    FPU_SCOPE;
    uint32_t slot;
    if (!vy_world_slot(world, id, &slot)) return VY_NOT_FOUND;
    const drone_block *d = &world->drones[slot];
    const uint64_t tick = world->state->tick;
    vy_drone_state s = {
        .position = d->body.position,
        .velocity = d->body.velocity,
        .attitude = d->body.attitude,
        .rate = d->body.rate,
        .samples = vy_drone_samples(world, slot),
        .clamps = d->clamps,
    };
    s.rotor_power =
        rotors_power(&world->model.drones[slot].layout, &world->model.params[slot].plant, d->rotor_speed);
    if (world->model.drones[slot].has_drive && tick > 0) s.failsafes = world->supervisors[slot].handovers;
    if (world->model.has_powertrain && tick > 0) { // it begins with the first step
        const powertrain_block *powertrain = &world->powertrain[slot];
        s.battery_charge = powertrain->battery.charge;
        s.battery_voltage = powertrain->battery.voltage;
        s.wake = powertrain->memory.downwash;
    }
    vy_world_body_state body;
    if (vy_world_read_body(world, vy_world_body(world, slot), &body) == VY_OK) {
        s.touching = body.touching;
        s.contacts = body.contacts;
        s.crashes = body.crashes;
        s.contact_impulse = body.contact_impulse;
        s.contact_speed = body.contact_speed;
        s.contact_impulse_max = body.contact_impulse_max;
        s.asleep = body.asleep;
        s.entered = body.entered;
    }
    if (world->thrusters != NULL)
        memcpy(s.thruster_thrust, world->thrusters[slot].thrust, sizeof s.thruster_thrust);
    memcpy(s.rotor_speed, d->rotor_speed, sizeof s.rotor_speed);
    memcpy(s.motor_command, d->control.motors, sizeof s.motor_command);
    s.target.time = vy_world_time(world);
    s.target.position = drone_reference(&world->model, slot, s.target.time, &s.target.yaw).position;
    *out = s;
    return VY_OK;
}

vy_status vy_world_read_drive(const vy_world *world, vy_drone_id id, vy_drive_state *out)
{
    FPU_SCOPE;
    uint32_t slot;
    if (!vy_world_slot(world, id, &slot)) return VY_NOT_FOUND;
    memset(out, 0, sizeof *out);
    if (!world->model.drones[slot].has_drive || world->state->tick == 0)
        return VY_OK; // it begins with the first step
    const supervisor_block *supervisor = &world->supervisors[slot];
    *out = (vy_drive_state){
        .failsafe = (vy_failsafe)supervisor->failsafe,
        .cause = (vy_handover)supervisor->cause,
        .verdict = (vy_verdict)supervisor->verdict,
        .detail = (int32_t)(int64_t)supervisor->detail,
        .since = (double)supervisor->since * world->model.dt,
        .handovers = supervisor->handovers,
        .lost = (uint32_t)supervisor->lost,
    };
    memcpy(out->acted, supervisor->acted, sizeof out->acted);
    return VY_OK;
}

vy_status vy_world_read_energy(const vy_world *world, vy_body_id id, vy_energy *out)
{
    FPU_SCOPE;
    uint32_t number;
    if (!vy_world_number(world, id, &number)) return VY_NOT_FOUND;
    vy_body_energy(world, number, out);
    return VY_OK;
}

vy_failure vy_world_failure(const vy_world *world)
{
    FPU_SCOPE;
    static const char *const what_names[] = {"",         "",         "the controller's reply",
                                             "tilt",     "rate",     "speed",
                                             "height",   "distance", "",
                                             "",         "fall",     "ground",
                                             "geofence", "memory"};
    const world_block *w = world->state;
    const vy_failure_reason reason = (vy_failure_reason)w->failure_reason;
    const int is_passive = w->failure_body >= world->model.drone_count;
    const vy_verdict verdict =
        reason == VY_FAILURE_CONTROLLER && !is_passive ? (vy_verdict)w->failure_field : VY_VERDICT_REPLIED;
    VY_ASSERT((size_t)reason < sizeof what_names / sizeof what_names[0]);
    return (vy_failure){
        .reason = reason,
        .tick = w->failure_tick,
        .time = (double)w->failure_tick * world->model.dt,
        .body = (uint32_t)w->failure_body,
        .value = w->failure_value,
        .limit = verdict != VY_VERDICT_REPLIED
                     ? vy_verdict_limit(verdict, &world->model.drones[w->failure_body].controller)
                     : w->failure_limit,
        .verdict = verdict,
        .what = reason == VY_FAILURE_NOT_FINITE
                    ? vy_blocks[is_passive ? BLOCK_body : BLOCK_drone].fields[w->failure_field].name
                : reason == VY_FAILURE_CONTROLLER ? vy_verdict_text((vy_verdict)w->failure_field)
                : reason == VY_FAILURE_CRASH      ? (w->failure_field ? "impulse" : "closing speed")
                                                  : what_names[reason],
    };
}

size_t vy_world_state_size(const vy_world *world)
{
    const uint64_t saved_contacts =
        vy_contact_list(world, BLOCK_contact).count + vy_contact_list(world, BLOCK_sleeping_contact).count;
    return world->state_size + (size_t)saved_contacts * sizeof(contact_block);
}

void vy_world_move_state(vy_world *world, void *cells)
{
    VY_ASSERT(cells != NULL && (uintptr_t)cells % 8 == 0);
    memcpy(cells, world->state, world->state_size);
    world->state = cells;
    world->state_is_borrowed = 1;
    vy_world_layout_state(world);
}

void vy_world_save(const vy_world *world, void *block)
{
    unsigned char *to = block;
    memcpy(to, world->state, world->state_size);
    to += world->state_size;
    for (enum block_kind kind = BLOCK_contact; kind <= BLOCK_sleeping_contact; ++kind) {
        const contact_list list = vy_contact_list(world, kind);
        const size_t size = (size_t)list.count * sizeof *list.blocks;
        if (size > 0) memcpy(to, list.blocks, size);
        to += size;
    }
}

// Step by `integrator` from now on: model, state, and the set of those that joints hold.
static void set_integrator(vy_world *world, vy_integrator integrator)
{
    VY_ASSERT(vy_integrator_order(integrator) > 0);
    vy_model *m = &world->model;
    m->physics.integrator = integrator;
    m->strict_rk4 = plant_is_strict_rk4(&m->physics) && m->loads_at_start == NULL;
    world->state->integrator = (uint64_t)integrator;
    if (world->bodies != NULL) (void)vy_bodies_set_integrator(world->bodies, integrator);
}

vy_integrator vy_world_integrator(const vy_world *world) { return world->model.physics.integrator; }

vy_status vy_world_set_integrator(vy_world *world, vy_integrator integrator, vy_error *err)
{
    if (vy_integrator_order(integrator) == 0)
        return vy_fail(err, VY_BAD_VALUE, "no integrator %d", (int)integrator);
    if (world->model.physics.engine == VY_ENGINE_SIMPLE)
        return vy_fail(err, VY_BAD_STATE, "the simple engine has its own method and takes no integrator");
    if (integrator == world->model.physics.integrator) return VY_OK;
    set_integrator(world, integrator);
    if (world->sink.change != NULL && world->sink.change(world->sink.self, world) != 0)
        return vy_fail(err, VY_IO, "the integrator has changed, but the listener refused it");
    return VY_OK;
}

// Injections alone come and go while a world flies: the world gets those of the snapshot.
static vy_status restore_injections(vy_world *world, const unsigned char *bytes, const block_counts *counts,
                                    vy_error *err)
{
    const uint32_t count = counts->of[BLOCK_injection];
    injection_block blocks[VY_INJECTION_CAP];
    VY_ASSERT(count <= VY_INJECTION_CAP); // it was checked
    if (count > 0) memcpy(blocks, bytes + block_offset(counts, BLOCK_injection), count * sizeof *blocks);
    return vy_injection_set(world, blocks, count, err);
}

vy_status vy_world_restore(vy_world *world, const void *block, size_t size, vy_error *err)
{
    FPU_SCOPE;
    block_counts counts;
    const unsigned char *bytes = block;
    vy_status status = vy_snapshot_check(world, block, size, &counts, err);
    if (status == VY_OK && world->model.collides) status = vy_contact_state_reserve(world, &counts, err);
    if (status == VY_OK) status = restore_injections(world, bytes, &counts, err);
    if (status != VY_OK) return status;
    VY_ASSERT(world->state_size == block_offset(&counts, BLOCK_contact));
    memcpy(world->state, bytes, world->state_size);
    for (enum block_kind kind = BLOCK_contact; kind <= BLOCK_sleeping_contact; ++kind) {
        const contact_list list = vy_contact_list(world, kind);
        VY_ASSERT(list.count == counts.of[kind]);
        if (list.count > 0)
            memcpy(list.blocks, bytes + block_offset(&counts, kind),
                   (size_t)list.count * sizeof *list.blocks);
    }
    VY_ASSERT(world->state->block_kinds == world->counts.of[BLOCK_entry]);
    set_integrator(world, (vy_integrator)world->state->integrator);
    if (world->bodies != NULL) vy_joints_clear_multipliers(world->bodies);
    if (world->model.payload_count > 0) vy_payload_sync(world);
    if (world->sleep != NULL) vy_contact_sync(world);
    if (world->model.trigger_count > 0) vy_trigger_sync(world);
    if (world->tracks_energy) vy_world_track_energy(world);
    vy_loads_clear(world);
    return VY_OK;
}
