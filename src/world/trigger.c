// trigger.c - triggers among a world's obstacles: the set of bodies finds who overlaps them
// (dynamics/triggers.c), the world remembers it.
#include "dynamics/triggers.h"
#include "base/assert.h"
#include "world/world_impl.h"

static uint32_t slot_of(uint64_t id) { return (uint32_t)id - 1u; }

// The state of a drone or body in the trigger of a slot; that of the slot before, in *slot and *index, is
// where the search begins: reports are in order.
static trigger_block *block_of(const vy_world *world, uint32_t trigger, uint32_t body, uint32_t *slot,
                               uint32_t *index)
{
    const vy_bodies *b = world->bodies;
    const uint32_t count = body_count(&world->model);
    VY_ASSERT(trigger >= count && trigger < b->slot_count && b->filters[trigger].is_trigger && body < count);
    for (; *slot < trigger; ++*slot) *index += b->filters[*slot].is_trigger;
    VY_ASSERT(*index < world->model.trigger_count);
    return &world->triggers[*index * count + body];
}

uint32_t vy_trigger_stage(vy_world *world)
{
    const trigger_system *t = world->bodies->triggers;
    uint32_t slot = body_count(&world->model), index = 0, events = 0;
    for (uint32_t k = 0; k < t->report_count; ++k) {
        const vy_trigger_report *r = &t->reports[k];
        trigger_block *block = block_of(world, slot_of(r->trigger), slot_of(r->body), &slot, &index);
        block->inside = r->phase != VY_CONTACT_END;
        block->entered += r->phase == VY_CONTACT_BEGIN;
        if (r->phase != VY_CONTACT_PERSIST) events |= VY_EVENT_TRIGGER;
    }
    return events;
}

void vy_trigger_sync(vy_world *world)
{
    vy_bodies *b = world->bodies;
    trigger_system *t = b->triggers;
    const uint32_t count = body_count(&world->model);
    uint64_t pair_count = 0;
    uint32_t index = 0;
    for (uint32_t slot = count; slot < b->slot_count; ++slot) {
        if (!b->filters[slot].is_trigger) continue;
        for (uint32_t i = 0; i < count; ++i) {
            if (world->triggers[index * count + i].inside == 0) continue;
            VY_ASSERT(pair_count < t->pair_cap);
            t->pairs[pair_count++] = (trigger_pair){vy_bodies_at(b, slot).bits, vy_bodies_at(b, i).bits};
        }
        ++index;
    }
    t->count->count = pair_count;
    t->report_count = 0;
    vy_triggers_invalidate(b);
}

uint64_t vy_trigger_entered(const vy_world *world, uint32_t number)
{
    const vy_model *m = &world->model;
    uint64_t entered_count = 0;
    for (uint32_t k = 0; k < m->trigger_count; ++k)
        entered_count += world->triggers[k * body_count(m) + number].entered;
    return entered_count;
}

int vy_obstacle_is_trigger(const vy_world *world, uint32_t index)
{
    return world->bodies->filters[body_count(&world->model) + index].is_trigger != 0;
}

uint32_t vy_world_trigger_count(const vy_world *world)
{
    return world->model.trigger_count > 0 ? vy_bodies_trigger_count(world->bodies) : 0;
}

vy_status vy_world_trigger(const vy_world *world, uint32_t index, vy_trigger_event *out)
{
    if (index >= vy_world_trigger_count(world)) return VY_NOT_FOUND;
    const vy_trigger_report *r = &world->bodies->triggers->reports[index];
    *out = (vy_trigger_event){.phase = r->phase,
                              .body = (int)slot_of(r->body),
                              .obstacle = (int)(slot_of(r->trigger) - body_count(&world->model))};
    return VY_OK;
}
