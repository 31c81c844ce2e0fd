// batch_cells.h - a batch, and where the cells of its worlds are.
#pragma once
#include "base/assert.h"
#include "base/pool.h"
#include "base/real.h"
#include "batch/lanes.h"
#include "batch/standalone.h"
#include "volery/batch.h"
#include "world/world_impl.h"

#define CELLS_OF(type) (sizeof(type) / 8)

typedef struct observation_field {
    size_t cell;    // of the first drone, from the start of a world
    size_t stride;  // cells from drone to drone
    int count;      // values, one cell each
    int is_integer; // whole numbers rather than reals
} observation_field;

struct vy_batch {
    vy_batch_def def;
    vy_scenario *scenario;      // our own copy
    uint64_t scenario_hash;     // of it; 0: not needed yet
    vy_world *template_world;   // one world of it, on which every episode is built
    uint32_t effector_count;    // rotors and thrusters of each drone that has some
    lanes_config config;        // what all its worlds share
    const lanes_kernel *kernel; // what steps its blocks
    vy_pool *pool;
    size_t block_count;           // blocks of worlds that lie side by side
    uint8_t *is_integer;          // of single precision: lanes_config
    unsigned char *cells;         // blocks x block_cells x lanes x 8 bytes
    unsigned char *thread_memory; // of each thread: model and scratch
    size_t thread_model_size;     // [bytes] of a thread's model
    size_t thread_size;           // [bytes] of all memory of a thread
    observation_field observed_fields[VY_OBSERVE_CAP];
    vy_batch_view view;
    uint64_t *base_seeds, *episodes;       // of each world
    vy_world **standalone;                 // [worlds] stepped one by one; NULL: in lanes
    standalone_action *standalone_actions; // [worlds][drones] where their actions are
    uint64_t steps;                        // to be done by the call in flight
    size_t memory;                         // [bytes] allocated in all
};

// Where the cells of one world are: cell c is at first + c * stride.
typedef struct cell_view {
    unsigned char *first;
    size_t stride; // [bytes]
} cell_view;

VY_FN cell_view cell_view_of(const vy_batch *b, uint32_t world)
{
    VY_ASSERT(world < b->block_count * (size_t)b->kernel->width);
    const size_t width = (size_t)b->kernel->width;
    return (cell_view){b->cells + world / width * b->config.block_cells * width * 8 + world % width * 8,
                       width * 8};
}

VY_FN void put_cells(const vy_batch *b, uint32_t world, size_t first, const void *from, size_t count)
{
    VY_ASSERT(first + count <= b->config.block_cells);
    const cell_view c = cell_view_of(b, world);
    for (size_t i = 0; i < count; ++i)
        memcpy(c.first + (first + i) * c.stride, (const unsigned char *)from + i * 8, 8);
}

VY_FN void get_cells(const vy_batch *b, uint32_t world, size_t first, void *to, size_t count)
{
    VY_ASSERT(first + count <= b->config.block_cells);
    const cell_view c = cell_view_of(b, world);
    for (size_t i = 0; i < count; ++i)
        memcpy((unsigned char *)to + i * 8, c.first + (first + i) * c.stride, 8);
}

// Where a drone begins in a world's cells.
VY_FN size_t drone_cell(const vy_batch *b, uint32_t drone)
{
    VY_ASSERT(drone < b->config.drone_count);
    return block_offset(&b->config.counts, BLOCK_drone) / 8 + drone * CELLS_OF(drone_block);
}

/// The outputs of one world after a step; `row_size` values are observed of each.
void vy_batch_write_outputs(vy_batch *b, uint32_t world, size_t row_size);
