// filter.c - which bodies of a set collide: their filters, changed at any time, and the caller's data.
#include "base/assert.h"
#include "dynamics/sleep.h"
#include "dynamics/triggers.h"

body_filter vy_filters_default(void)
{
    const vy_filter filter = vy_default_filter();
    return (body_filter){filter.category, filter.mask, filter.group, 0};
}

static int is_default(const body_filter *f)
{
    const body_filter default_filter = vy_filters_default();
    return memcmp(f, &default_filter, sizeof default_filter) == 0;
}

void vy_filters_set(vy_bodies *b, uint32_t i, body_filter filter)
{
    VY_ASSERT(i < b->slot_count && b->filter_count <= b->slot_count);
    b->filter_count -= !is_default(&b->filters[i]);
    b->trigger_count -= b->filters[i].is_trigger;
    b->filters[i] = filter;
    b->filter_count += !is_default(&filter);
    b->trigger_count += filter.is_trigger;
    vy_triggers_invalidate(b);
}

int vy_filters_are_valid(const vy_bodies *b, const void *filters, uint64_t count)
{
    for (uint64_t i = 0; i < count; ++i) {
        body_filter f; // of a caller's memory, aligned or not
        memcpy(&f, (const unsigned char *)filters + i * sizeof f, sizeof f);
        const int can_be_trigger = b->triggers != NULL && b->slots[i].shape.kind != VY_SHAPE_NONE;
        if (f.is_trigger > (uint32_t)can_be_trigger) return 0;
    }
    return 1;
}

void vy_filters_sync(vy_bodies *b)
{
    b->filter_count = b->trigger_count = 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        b->filter_count += !is_default(&b->filters[i]);
        b->trigger_count += b->filters[i].is_trigger;
    }
    if (b->triggers != NULL) b->triggers->report_count = 0;
    vy_triggers_invalidate(b);
}

static void change_filter(vy_bodies *b, uint32_t i, body_filter new_filter)
{
    if (memcmp(&new_filter, &b->filters[i], sizeof new_filter) == 0) return;
    vy_sleep_wake(b, i); // whoever rests on it, too
    vy_filters_set(b, i, new_filter);
    vy_sleep_wake_overlapping(b, i);
}

vy_status vy_body_set_filter(vy_bodies *b, vy_body_id id, const vy_filter *filter)
{
    FPU_SCOPE;
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    const body_filter new_filter = {filter->category, filter->mask, filter->group, b->filters[i].is_trigger};
    change_filter(b, (uint32_t)i, new_filter);
    return VY_OK;
}

vy_status vy_body_set_trigger(vy_bodies *b, vy_body_id id, int is_trigger)
{
    FPU_SCOPE;
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    if (is_trigger && (b->triggers == NULL || b->slots[i].shape.kind == VY_SHAPE_NONE)) return VY_BAD_VALUE;
    body_filter new_filter = b->filters[i];
    new_filter.is_trigger = is_trigger != 0;
    change_filter(b, (uint32_t)i, new_filter);
    return VY_OK;
}

int vy_body_is_trigger(const vy_bodies *b, vy_body_id id)
{
    const int64_t i = vy_bodies_find(b, id);
    return i >= 0 && b->filters[i].is_trigger != 0;
}

vy_status vy_body_read_filter(const vy_bodies *b, vy_body_id id, vy_filter *out)
{
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    const body_filter *f = &b->filters[i];
    *out = (vy_filter){f->category, f->mask, f->group};
    return VY_OK;
}

uint64_t vy_body_user_data(const vy_bodies *b, vy_body_id id)
{
    const int64_t i = vy_bodies_find(b, id);
    return i < 0 ? 0 : b->slots[i].user_data;
}

vy_status vy_body_set_user_data(vy_bodies *b, vy_body_id id, uint64_t user_data)
{
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    b->slots[i].user_data = user_data;
    return VY_OK;
}
