// contact_debounce.c - contacts without a push, in the order in which they paused.
#include "record/contact_debounce.h"
#include "base/assert.h"
#include <stdlib.h>
#include <string.h>

typedef struct pending_end {
    int body, other, obstacle;
    uint64_t tick; // of the first step without a push
} pending_end;

struct contact_debounce {
    uint64_t max_pause; // [steps] of a pause
    pending_end *pending_ends;
    size_t count, capacity;
};

contact_debounce *vy_contact_debounce_create(double dt)
{
    contact_debounce *p = calloc(1, sizeof *p);
    VY_ASSERT(dt > 0.0);
    if (p != NULL) p->max_pause = (uint64_t)(CONTACT_DEBOUNCE_TIME / dt + 0.5);
    return p;
}

void vy_contact_debounce_destroy(contact_debounce *p)
{
    if (p == NULL) return;
    free(p->pending_ends);
    free(p);
}

static void remove_at(contact_debounce *p, size_t k)
{
    VY_ASSERT(k < p->count);
    memmove(p->pending_ends + k, p->pending_ends + k + 1, (p->count - k - 1) * sizeof *p->pending_ends);
    p->count -= 1;
}

static int add(contact_debounce *p, pending_end pending)
{
    if (p->count == p->capacity) {
        const size_t capacity = 2 * p->capacity + 16;
        pending_end *grown = realloc(p->pending_ends, capacity * sizeof *grown);
        if (grown == NULL) return 0;
        p->pending_ends = grown;
        p->capacity = capacity;
    }
    p->pending_ends[p->count++] = pending;
    return 1;
}

int vy_contact_debounce_update(contact_debounce *p, uint64_t tick, vy_contact_event *event)
{
    if (event->phase == VY_CONTACT_PERSIST) return 1;
    if (event->phase == VY_CONTACT_END) { // without memory it ends at once
        const pending_end ended = {event->body, event->other, event->obstacle, tick};
        return !add(p, ended);
    }
    for (size_t k = p->count; k-- > 0;) { // most are short
        const pending_end *pending = &p->pending_ends[k];
        if (pending->body != event->body || pending->other != event->other ||
            pending->obstacle != event->obstacle)
            continue;
        remove_at(p, k);
        event->phase = VY_CONTACT_PERSIST;
        break;
    }
    return 1;
}

int vy_contact_debounce_next_end(contact_debounce *p, uint64_t tick, vy_contact_event *event)
{
    if (p->count == 0 || tick - p->pending_ends[0].tick < p->max_pause) return 0;
    *event = (vy_contact_event){.phase = VY_CONTACT_END,
                                .body = p->pending_ends[0].body,
                                .other = p->pending_ends[0].other,
                                .obstacle = p->pending_ends[0].obstacle};
    remove_at(p, 0);
    return 1;
}
