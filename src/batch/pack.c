// pack.c - cells of doubles to cells of floats, and back.
#include "batch/pack.h"
#include "base/assert.h"
#include "batch/lanes.h"

// The whole numbers of drone_params. test_single compares their count with what the packed structure leaves
// for it.
#define PARAMS_INTEGER(X)        \
    X(motor.is_linear)           \
    X(ladder.motor.is_linear)    \
    X(ladder.allocate.count)     \
    X(ladder.rotor_count)        \
    X(ladder.command_count)      \
    X(ladder.uses_thrusters)     \
    X(ladder.has_full_authority) \
    X(ladder.has_thrust_scale)   \
    X(ladder.uses_indi)          \
    X(ladder.kinematic)          \
    X(autopilot.has_target)      \
    X(nap.rotor_count)           \
    X(nap.strict)                \
    X(nap.jointed)               \
    X(nap.open_loop)             \
    X(nap.rotors)                \
    X(nap.flat)                  \
    X(nap.has_obstacles)

void vy_pack_mark_integers(const block_counts *counts, uint8_t *is_integer)
{
    size_t first_cell = 0;
    for (int kind = 0; kind < BLOCK_KINDS; ++kind) {
        const vy_block *b = &vy_blocks[kind];
        for (uint32_t i = 0; i < counts->of[kind]; ++i, first_cell += b->size / 8) {
            for (int k = 0; k < b->field_count; ++k) {
                const vy_field *f = &b->fields[k];
                VY_ASSERT(f->offset / 8 + (size_t)f->count <= b->size / 8);
                if (field_is_integer(f)) memset(is_integer + first_cell + f->offset / 8, 1, (size_t)f->count);
            }
        }
    }
    for (uint32_t i = 0; i < counts->of[BLOCK_drone]; ++i, first_cell += sizeof(drone_params) / 8) {
#define X(member) is_integer[first_cell + offsetof(drone_params, member) / 8] = 1;
        PARAMS_INTEGER(X)
#undef X
    }
    is_integer[first_cell + offsetof(episode_block, seed) / 8] = 1;
    is_integer[first_cell + offsetof(episode_block, halted) / 8] = 1;
}

void vy_pack(const uint8_t *is_integer, size_t count, const void *cells, size_t stride, void *packed)
{
    const unsigned char *from = cells;
    unsigned char *to = packed;
    for (size_t i = 0; i < count; ++i, from += stride) {
        if (is_integer[i]) {
            memcpy(to, from, 8);
            to += 8;
        } else {
            double value;
            memcpy(&value, from, 8);
            const float rounded = (float)value;
            memcpy(to, &rounded, 4);
            to += 4;
        }
    }
}

void vy_unpack(const uint8_t *is_integer, size_t count, const void *packed, void *cells, size_t stride)
{
    const unsigned char *from = packed;
    unsigned char *to = cells;
    for (size_t i = 0; i < count; ++i, to += stride) {
        if (is_integer[i]) {
            memcpy(to, from, 8);
            from += 8;
        } else {
            float rounded;
            memcpy(&rounded, from, 4);
            const double value = (double)rounded;
            memcpy(to, &value, 8);
            from += 4;
        }
    }
}
