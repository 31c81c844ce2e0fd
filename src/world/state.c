// state.c - the list of state fields as tables, the proof that it is complete, and the head that names the
// blocks present.
#include "world/state.h"
#include "base/assert.h"
#include "base/hash.h"

#define FIELD(block, member, type, count, unit, text) \
    {#member, unit, text, FIELD_##type, offsetof(block##_block, member), count},
#define BLOCK(id, name, list, member, count, text) \
    static const vy_field name##_fields[] = {FIELDS_##name(FIELD, name)};
#include "world/blocks.inl"

const vy_block vy_blocks[BLOCK_KINDS] = {
#define BLOCK(id, name, list, member, count, text) \
    {id,                                           \
     #name,                                        \
     #list,                                        \
     text,                                         \
     sizeof(name##_block),                         \
     name##_fields,                                \
     (int)(sizeof name##_fields / sizeof name##_fields[0])},
#include "world/blocks.inl"
};

// Each field has the size that the list says, and together the fields of a block fill it: no padding, none
// forgotten.
#define SAME_SIZE(block, member, type, count, unit, text)               \
    _Static_assert(sizeof(((block##_block *)0)->member) == 8 * (count), \
                   "fields of a block: " #block "." #member);
#define FIELD_SUM(block, member, type, count, unit, text) +(count)
#define BLOCK(id, name, list, member, count, text)                                                     \
    FIELDS_##name(SAME_SIZE,                                                                           \
                  name) _Static_assert(sizeof(name##_block) == 8 * (0 FIELDS_##name(FIELD_SUM, name)), \
                                       "FIELDS_ must list every value of " #name "_block");
#include "world/blocks.inl"

// A kind of which there is a block, or may be one in the next step.
static int is_named(const block_counts *counts, int kind)
{
    if (kind == BLOCK_contact) return counts->of[BLOCK_contact_totals] > 0;
    if (kind == BLOCK_sleeping_contact) return counts->of[BLOCK_sleep] > 0;
    return counts->of[kind] > 0;
}

void vy_count_head(block_counts *counts)
{
    counts->of[BLOCK_world] = 1;
    counts->of[BLOCK_entry] = 0;
    for (int kind = BLOCK_entry + 1; kind < BLOCK_KINDS; ++kind)
        counts->of[BLOCK_entry] += (uint32_t)is_named(counts, kind);
    VY_ASSERT(counts->of[BLOCK_entry] < BLOCK_KINDS); // the head has no entry of its own
}

void vy_write_entries(const block_counts *counts, void *state)
{
    world_block *head = state;
    entry_block *entry = (entry_block *)(head + 1);
    head->block_kinds = counts->of[BLOCK_entry];
    for (int kind = BLOCK_entry + 1; kind < BLOCK_KINDS; ++kind) {
        if (is_named(counts, kind)) *entry++ = (entry_block){vy_blocks[kind].id, counts->of[kind]};
    }
    VY_ASSERT(entry == (entry_block *)(head + 1) + counts->of[BLOCK_entry]);
    VY_ASSERT((size_t)((char *)entry - (char *)state) == block_offset(counts, BLOCK_entry + 1));
}

uint64_t *vy_entry_count(void *state, enum block_kind kind)
{
    const world_block *head = state;
    entry_block *entry = (entry_block *)((world_block *)state + 1);
    for (uint64_t i = 0; i < head->block_kinds; ++i, ++entry) {
        if (entry->id == vy_blocks[kind].id) return &entry->count;
    }
    return NULL;
}

int vy_read_entries(const void *state, size_t size, block_counts *out)
{
    world_block head;
    memset(out, 0, sizeof *out);
    if (size < sizeof head) return 0;
    memcpy(&head, state, sizeof head);
    if (head.block_kinds > BLOCK_KINDS || size < sizeof head + head.block_kinds * sizeof(entry_block))
        return 0;
    const unsigned char *entry_bytes = (const unsigned char *)state + sizeof head;
    size_t remaining = size - sizeof head - head.block_kinds * sizeof(entry_block);
    int kind = BLOCK_entry, has_entry[BLOCK_KINDS] = {0};
    for (uint64_t i = 0; i < head.block_kinds; ++i, entry_bytes += sizeof(entry_block)) {
        entry_block entry;
        memcpy(&entry, entry_bytes, sizeof entry);
        do { // entries are in the order of the blocks
            if (++kind == BLOCK_KINDS) return 0;
        } while (vy_blocks[kind].id != entry.id);
        if (entry.count > remaining / vy_blocks[kind].size) return 0;
        remaining -= (size_t)entry.count * vy_blocks[kind].size;
        out->of[kind] = (uint32_t)entry.count;
        has_entry[kind] = 1;
    }
    for (kind = BLOCK_entry + 1; kind < BLOCK_KINDS; ++kind) {
        if (has_entry[kind] != is_named(out, kind)) return 0; // one without blocks, or one that is missing
    }
    vy_count_head(out);
    VY_ASSERT(out->of[BLOCK_entry] == head.block_kinds);
    VY_ASSERT(remaining > 0 || block_offset(out, BLOCK_KINDS) == size); // nothing is counted twice
    return remaining == 0;
}

const vy_field *vy_find_field(enum block_kind kind, const char *name)
{
    VY_ASSERT((unsigned)kind < BLOCK_KINDS && name != NULL);
    const vy_block *b = &vy_blocks[kind];
    for (int i = 0; i < b->field_count; ++i) {
        if (strcmp(b->fields[i].name, name) == 0) return &b->fields[i];
    }
    return NULL;
}

uint64_t vy_hash_contacts(uint64_t previous_hash, const void *blocks, uint64_t count)
{
    return count > 0 ? vy_hash_chain(previous_hash, blocks, (size_t)count * sizeof(contact_block))
                     : previous_hash;
}

uint64_t vy_state_hash(const void *state, size_t size)
{
    block_counts counts;
    const unsigned char *bytes = state;
    const size_t chain_size = sizeof(uint64_t); // it comes first
    _Static_assert(offsetof(world_block, chain) == 0 && sizeof(((world_block *)0)->chain) == 8,
                   "chain first");
    VY_ASSERT(size >= sizeof(world_block));
    if (!vy_read_entries(state, size, &counts)) return vy_hash64(bytes + chain_size, size - chain_size);
    const size_t contact_offset = block_offset(&counts, BLOCK_contact),
                 sleeping_offset = block_offset(&counts, BLOCK_sleeping_contact);
    const uint64_t hash = vy_hash64(bytes + chain_size, contact_offset - chain_size);
    return vy_hash_contacts(vy_hash_contacts(hash, bytes + contact_offset, counts.of[BLOCK_contact]),
                            bytes + sleeping_offset, counts.of[BLOCK_sleeping_contact]);
}
