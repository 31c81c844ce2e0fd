// lanes_single.cpp - one world at a time in single precision: tier 1. Its cells are packed for a call and
// unpacked after it, which loses nothing: the next call starts from the same bits.
#define VY_SINGLE   1
#define LANES_NAME  "single"
#define LANES_TABLE vy_lanes_single
#include "base/real.h"
extern "C" {
#include "base/hash.h"
#include "batch/pack.h"
}
#define LANES_ADVANCE single_advance
#define LANES_WITHOUT_OPTIONS
#include "batch/lanes.h"
static void single_advance(const lanes_config *config, void *model, void *scratch, uint64_t steps,
                           const double *actions, int world_count, void *block);
#include "batch/kernel.inl"

static void single_advance(const lanes_config *config, void *model, void *scratch, uint64_t steps,
                           const double *actions, int world_count, void *block)
{
    vy_pack(config->is_integer, config->block_cells, block, 8, scratch);
    void *kernel_scratch = static_cast<unsigned char *>(scratch) + config->block_cells * 8;
    lanes_advance(config, model, kernel_scratch, steps, actions, world_count, scratch);
    vy_unpack(config->is_integer, config->block_cells, scratch, block, 8);
}

size_t vy_pack_size(const block_counts *counts)
{
    return block_offset(counts, BLOCK_KINDS) + counts->of[BLOCK_drone] * sizeof(drone_params) +
           sizeof(episode_block);
}
