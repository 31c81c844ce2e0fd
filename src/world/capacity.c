// capacity.c - the memory of a world: one block that holds all arrays, sized from what is declared and grown
// as things are added: before the first step, and between two when something is injected.
//
// When an array needs more capacity, a larger block replaces the old one: no step allocates. Capacity changes
// no result and is in no hash.
#include "base/arena.h"
#include "base/assert.h"
#include "base/fail.h"
#include "world/budget_loop.h"
#include "world/sensor_suite.h"
#include "world/world_def.h"
#include "world/world_impl.h"
#include <stdlib.h>

enum {
    PART_DRONES,
    PART_PARAMS,
    PART_PASSIVE,
    PART_DISTURBANCES,
    PART_STATE,
    PART_NOISE_AHEAD,
    PART_IMU_AHEAD,
    PART_LOADS,
    PART_SPEEDS,
    PART_FAULTS,
    PART_DRONES_BEFORE,
    PART_SENSORS_BEFORE,
    PART_FAULTY_PARAMS,
    PART_ENERGY_BALANCES,
    PART_WAKES,
    PART_LOOPS,
    PART_SOLIDS,
    PART_SOLID_DEFS,
    PART_MAX_EXTENT,
    PART_INTENT_RECEIVED,
    PART_SENSOR_SUITES,
    PART_GROUND_HEIGHTS,
    PART_PAYLOADS,
    PART_VEHICLES,
    PART_RELEASE_REQUESTS,
    PART_COUNT
};

static uint32_t *capacity_of(vy_model *m, enum capacity resource)
{
    uint32_t *const capacities[] = {
        [CAPACITY_DRONES] = &m->drone_cap,
        [CAPACITY_BODIES] = &m->passive_cap,
        [CAPACITY_DISTURBANCES] = &m->disturbance_cap,
        [CAPACITY_FAULTS] = &m->fault_cap,
        [CAPACITY_INJECTIONS] = &m->injection_cap,
        [CAPACITY_JOINTS] = &m->joint_cap,
        [CAPACITY_PAYLOADS] = &m->payload_cap,
        [CAPACITY_OBSTACLES] = &m->obstacle_cap,
        [CAPACITY_TRIGGERS] = &m->trigger_cap,
        [CAPACITY_SENSOR_SUITES] = &m->sensor_suite_cap,
        [CAPACITY_DELAY_CELLS] = &m->delay_cap,
    };
    return capacities[resource];
}

// The largest state that a world with the capacity of `m` can have.
static size_t max_state_size(const vy_model *m)
{
    vy_model largest_model = {.drone_count = m->drone_cap,
                              .passive_count = m->passive_cap,
                              .wakes = m->wakes,
                              .nap = m->nap,
                              .has_loop = 1,
                              .payload_count = m->payload_cap,
                              .joint_count = m->joint_cap,
                              .has_gears = 1,
                              .noise_count = (m->drone_cap + m->passive_cap) * m->disturbance_cap,
#define DRONE_BLOCK(id, name, list, member, text) .has_##name = 1,
#include "world/blocks.inl"
                              .collides = m->collides,
                              .trigger_count = m->trigger_cap,
                              .sleep_enabled = m->sleep_enabled,
                              .sensor_suite_count = m->sensor_suite_cap,
                              .filter_count = m->sensor_suite_cap,
                              .kalman_count = m->sensor_suite_cap,
                              .gate_count = m->sensor_suite_cap,
                              .delay_count = m->delay_cap,
                              .injection_count = m->injection_cap};
    for (int i = 0; i < SENSOR_KINDS; ++i) largest_model.sensor_counts[i] = m->sensor_suite_cap;
    const block_counts counts = vy_world_count_blocks(&largest_model);
    return block_offset(&counts, BLOCK_KINDS);
}

static void part_sizes(const vy_model *m, size_t out[PART_COUNT])
{
    const size_t drone_capacity = m->drone_cap, body_capacity = drone_capacity + m->passive_cap,
                 solid_capacity = body_capacity + m->obstacle_cap;
    const size_t sizes[PART_COUNT] = {
        [PART_DRONES] = drone_capacity * sizeof(drone_model),
        [PART_PARAMS] = drone_capacity * sizeof(drone_params),
        [PART_PASSIVE] = m->passive_cap * sizeof(body_model),
        [PART_DISTURBANCES] = m->disturbance_cap * sizeof(disturbance_model),
        [PART_STATE] = max_state_size(m),
        [PART_NOISE_AHEAD] = body_capacity * m->disturbance_cap * sizeof(noise_ahead),
        [PART_IMU_AHEAD] = drone_capacity * sizeof(rng_cache),
        [PART_LOADS] = (m->disturbance_cap > 0 ? 3 : 1) * body_capacity * sizeof(body_loads),
        [PART_SPEEDS] = drone_capacity * sizeof(double[VY_ROTOR_CAP]),
        [PART_FAULTS] = m->fault_cap * sizeof(fault_model),
        [PART_DRONES_BEFORE] = m->fault_cap > 0 ? drone_capacity * sizeof(drone_block) : 0,
        [PART_SENSORS_BEFORE] = m->fault_cap > 0 ? m->sensor_suite_cap * (size_t)SENSOR_SUITE_BLOCKS_SIZE : 0,
        [PART_FAULTY_PARAMS] = m->fault_cap > 0 ? drone_capacity * sizeof(drone_params) : 0,
        [PART_ENERGY_BALANCES] = body_capacity * sizeof(energy_balance),
        [PART_WAKES] = m->wakes.on ? drone_capacity * sizeof(wake_entry) : 0,
        [PART_LOOPS] = m->nap.budget.duration > 0.0 ? drone_capacity * sizeof(loop_model) : 0,
        [PART_SOLIDS] = solid_capacity * sizeof(solid_memory),
        [PART_SOLID_DEFS] = body_capacity * sizeof(vy_collider_def),
        [PART_MAX_EXTENT] = solid_capacity * sizeof(double),
        [PART_INTENT_RECEIVED] = drone_capacity,
        [PART_SENSOR_SUITES] = m->sensor_suite_cap * sizeof(sensor_suite_model),
        [PART_GROUND_HEIGHTS] = m->obstacle_cap > 0 ? drone_capacity * sizeof(double) : 0,
        [PART_PAYLOADS] = m->payload_cap * sizeof(payload_model),
        [PART_VEHICLES] = drone_capacity * sizeof(vy_vehicle_def),
        [PART_RELEASE_REQUESTS] = m->payload_cap > 0 ? drone_capacity * sizeof(uint64_t) : 0,
    };
    memcpy(out, sizes, sizeof sizes);
}

// Offsets of the arrays.
static void set_arrays(vy_world *world, void *const parts[PART_COUNT])
{
    vy_model *m = &world->model;
    m->drones = parts[PART_DRONES];
    m->params = parts[PART_PARAMS];
    m->passive = parts[PART_PASSIVE];
    m->disturbances = parts[PART_DISTURBANCES];
    m->faults = parts[PART_FAULTS];
    m->sensor_suites = parts[PART_SENSOR_SUITES];
    m->payloads = parts[PART_PAYLOADS];
    world->ground_heights = parts[PART_GROUND_HEIGHTS];
    m->ground_heights = m->obstacle_count > m->trigger_count ? world->ground_heights : NULL;
    world->state = parts[PART_STATE];
    world->noise_ahead = parts[PART_NOISE_AHEAD];
    world->imu_ahead = parts[PART_IMU_AHEAD];
    world->loads = parts[PART_LOADS];
    world->speeds = parts[PART_SPEEDS];
    world->drones_before = parts[PART_DRONES_BEFORE];
    world->sensors_before = parts[PART_SENSORS_BEFORE];
    world->faulty_params = parts[PART_FAULTY_PARAMS];
    world->energy_balances = parts[PART_ENERGY_BALANCES];
    world->wakes = parts[PART_WAKES];
    world->loops = m->nap.budget.duration > 0.0 ? parts[PART_LOOPS] : NULL;
    world->solid_memories = parts[PART_SOLIDS];
    world->solid_defs = parts[PART_SOLID_DEFS];
    world->max_extent = parts[PART_MAX_EXTENT];
    world->intent_received = parts[PART_INTENT_RECEIVED];
    world->vehicles = parts[PART_VEHICLES];
    world->release_requests = m->payload_cap > 0 ? parts[PART_RELEASE_REQUESTS] : NULL;
}

// Allocate a block for the capacity of `capacities` and move the contents of the present one into it.
static vy_status reallocate(vy_world *world, vy_model *capacities, vy_error *err)
{
    size_t old_sizes[PART_COUNT] = {0}, sizes[PART_COUNT], total = 0, old_offset = 0;
    part_sizes(capacities, sizes);
    for (int i = 0; i < PART_COUNT; ++i) total += (sizes[i] + 63u) & ~(size_t)63u;
    unsigned char *block = aligned_alloc(64, total), *old_block = world->block;
    if (block == NULL) return vy_fail(err, VY_NO_MEMORY, "world: no memory for %zu bytes", total);
    memset(block, 0, total);
    if (old_block != NULL) part_sizes(&world->model, old_sizes);
    vy_arena arena = {block, total, 0};
    void *parts[PART_COUNT];
    for (int i = 0; i < PART_COUNT; ++i) {
        parts[i] = vy_arena_alloc(&arena, sizes[i]);
        VY_ASSERT(parts[i] != NULL && old_sizes[i] <= sizes[i]);
        if (old_sizes[i] > 0) memcpy(parts[i], old_block + old_offset, old_sizes[i]);
        old_offset += (old_sizes[i] + 63u) & ~(size_t)63u;
    }
    for (int resource = 0; resource < CAPACITY_COUNT; ++resource)
        *capacity_of(&world->model, (enum capacity)resource) =
            *capacity_of(capacities, (enum capacity)resource);
    world->block = block;
    world->memory = sizeof *world + total;
    set_arrays(world, parts);
    free(old_block);
    return VY_OK;
}

vy_status vy_world_alloc_memory(vy_world *world, vy_error *err)
{
    vy_model capacities = world->model;
    return reallocate(world, &capacities, err);
}

vy_status vy_world_reserve(vy_world *world, enum capacity resource, uint64_t needed, vy_error *err)
{
    static const struct {
        const char *name;
        uint32_t max;
    } limits[] = {
        [CAPACITY_DRONES] = {"drones", VY_DRONE_CAP_MAX},
        [CAPACITY_BODIES] = {"bodies", VY_DRONE_CAP_MAX},
        [CAPACITY_DISTURBANCES] = {"disturbances", VY_DISTURBANCE_CAP_MAX},
        [CAPACITY_FAULTS] = {"faults", VY_FAULT_CAP_MAX},
        [CAPACITY_INJECTIONS] = {"injections", VY_INJECTION_CAP},
        [CAPACITY_JOINTS] = {"joints", VY_JOINT_CAP_MAX},
        [CAPACITY_PAYLOADS] = {"payloads", VY_PAYLOAD_CAP_MAX},
        [CAPACITY_OBSTACLES] = {"obstacles", VY_OBSTACLE_CAP_MAX},
        [CAPACITY_TRIGGERS] = {"triggers", VY_OBSTACLE_CAP_MAX},
        [CAPACITY_SENSOR_SUITES] = {"drones with more sensors", VY_DRONE_CAP_MAX},
        [CAPACITY_DELAY_CELLS] = {"numbers in delay lines", VY_DELAY_CAP_MAX},
    };
    vy_model capacities = world->model;
    uint32_t *cap = capacity_of(&capacities, resource);
    if (needed <= *cap) return VY_OK;
    if (needed > limits[resource].max)
        return vy_fail(err, VY_FULL, "a world has at most %u %s", limits[resource].max,
                       limits[resource].name);
    VY_ASSERT(world->state->tick == 0 || (!world->state_is_borrowed && resource >= CAPACITY_DISTURBANCES &&
                                          resource <= CAPACITY_INJECTIONS));
    const uint64_t grown = *cap + (uint64_t)*cap / 2; // so that adding one by one stays cheap
    *cap = (uint32_t)(needed > grown ? needed : grown > limits[resource].max ? limits[resource].max : grown);
    const vy_status status = reallocate(world, &capacities, err);
    if (status == VY_OK) vy_world_layout_state(world);
    return status;
}

static double *copy_values(const vy_numbers *n)
{
    const size_t size = (size_t)n->rows * (size_t)n->columns * sizeof *n->values;
    double *copy = size > 0 ? malloc(size) : NULL;
    if (copy != NULL) memcpy(copy, n->values, size);
    return copy;
}

vy_status vy_world_store_solid(vy_world *world, uint32_t number, const vy_collider_def *solid, vy_error *err)
{
    vy_collider_def *stored_solid = &world->solid_defs[number];
    free(stored_solid->points.values); // left by one that was refused
    *stored_solid = *solid;
    stored_solid->points.values = stored_solid->heights.values = NULL;
    if (solid->kind != VY_COLLIDER_HULL || solid->points.values == NULL) return VY_OK;
    stored_solid->points.values = copy_values(&solid->points);
    if (stored_solid->points.values == NULL)
        return vy_fail(err, VY_NO_MEMORY, "world: no memory for a shape");
    return VY_OK;
}

void vy_world_free_memory(vy_world *world)
{
    const vy_model *m = &world->model;
    if (world->block == NULL) return;
    for (uint32_t i = 0; i < m->drone_cap + m->passive_cap + m->obstacle_cap; ++i)
        vy_solid_free(&world->solid_memories[i]);
    for (uint32_t i = 0; i < m->drone_cap + m->passive_cap; ++i) free(world->solid_defs[i].points.values);
    free(world->block);
}
