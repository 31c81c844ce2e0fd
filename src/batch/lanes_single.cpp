// lanes_single.cpp - one world at a time in single precision: tier 1. Its cells are packed for a call and
// unpacked after it, which changes nothing more: what a call leaves, the next one finds.
#define VY_SINGLE   1
#define LANES_NAME  "single"
#define LANES_TABLE vy_lanes_single
#include "base/real.h"
extern "C" {
#include "base/hash.h"
#include "batch/pack.h"
}
#define LANES_ADVANCE single_advance
#include "batch/lanes.h"
static void single_advance(const lanes_family *f, void *model, void *scratch, uint64_t steps,
                           const double *actions, int present, void *block);
#include "batch/kernel.inl"

static void single_advance(const lanes_family *f, void *model, void *scratch, uint64_t steps,
                           const double *actions, int present, void *block)
{
    vy_pack(f->whole, f->block_cells, block, 8, scratch);
    void *rest = static_cast<unsigned char *>(scratch) + f->block_cells * 8;
    lanes_advance(f, model, rest, steps, actions, present, scratch);
    vy_unpack(f->whole, f->block_cells, scratch, block, 8);
}

size_t vy_single_size(const block_counts *counts)
{
    return block_offset(counts, BLOCK_KINDS) + counts->of[BLOCK_drone] * sizeof(drone_params) +
           sizeof(extra_block);
}
