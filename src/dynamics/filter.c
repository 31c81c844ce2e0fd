// filter.c - which bodies of a set collide: their filters, changed at any time, and the caller's data.
#include "base/assert.h"
#include "dynamics/sleep.h"

body_filter vy_filters_default(void)
{
    const vy_filter filter = vy_default_filter();
    return (body_filter){filter.category, filter.mask, filter.group, 0};
}

static int is_default(const body_filter *f)
{
    const body_filter plain = vy_filters_default();
    return memcmp(f, &plain, sizeof plain) == 0;
}

void vy_filters_set(vy_bodies *b, uint32_t i, body_filter filter)
{
    VY_ASSERT(i < b->slot_count && b->filter_count <= b->slot_count);
    b->filter_count -= !is_default(&b->filters[i]);
    b->filters[i] = filter;
    b->filter_count += !is_default(&filter);
}

int vy_filters_are_valid(const void *filters, uint64_t count)
{
    for (uint64_t i = 0; i < count; ++i) {
        body_filter f; // of a caller's memory, aligned or not
        memcpy(&f, (const unsigned char *)filters + i * sizeof f, sizeof f);
        if (f.unused != 0) return 0;
    }
    return 1;
}

void vy_filters_sync(vy_bodies *b)
{
    b->filter_count = 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) b->filter_count += !is_default(&b->filters[i]);
}

vy_status vy_body_set_filter(vy_bodies *b, vy_body_id id, const vy_filter *filter)
{
    FPU_SCOPE;
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    const body_filter now = {filter->category, filter->mask, filter->group, 0};
    if (memcmp(&now, &b->filters[i], sizeof now) == 0) return VY_OK;
    vy_sleep_wake(b, (uint32_t)i); // whoever rests on it, too
    vy_filters_set(b, (uint32_t)i, now);
    vy_sleep_wake_overlapping(b, (uint32_t)i);
    return VY_OK;
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
