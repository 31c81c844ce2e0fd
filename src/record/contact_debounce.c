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
    contact_debounce *debounce = calloc(1, sizeof *debounce);
    VY_ASSERT(dt > 0.0);
    if (debounce != NULL) debounce->max_pause = (uint64_t)(CONTACT_DEBOUNCE_TIME / dt + 0.5);
    return debounce;
}

void vy_contact_debounce_destroy(contact_debounce *debounce)
{
    if (debounce == NULL) return;
    free(debounce->pending_ends);
    free(debounce);
}

static void remove_pending_end(contact_debounce *debounce, size_t index)
{
    VY_ASSERT(index < debounce->count);
    memmove(debounce->pending_ends + index, debounce->pending_ends + index + 1,
            (debounce->count - index - 1) * sizeof *debounce->pending_ends);
    debounce->count -= 1;
}

static int add_pending_end(contact_debounce *debounce, pending_end pending)
{
    if (debounce->count == debounce->capacity) {
        const size_t capacity = 2 * debounce->capacity + 16;
        pending_end *grown = realloc(debounce->pending_ends, capacity * sizeof *grown);
        if (grown == NULL) return 0;
        debounce->pending_ends = grown;
        debounce->capacity = capacity;
    }
    debounce->pending_ends[debounce->count++] = pending;
    return 1;
}

int vy_contact_debounce_update(contact_debounce *debounce, uint64_t tick, vy_contact_event *event)
{
    if (event->phase == VY_CONTACT_PERSIST) return 1;
    if (event->phase == VY_CONTACT_END) { // without memory it ends at once
        const pending_end ended = {event->body, event->other, event->obstacle, tick};
        return !add_pending_end(debounce, ended);
    }
    for (size_t k = debounce->count; k-- > 0;) { // most are short
        const pending_end *pending = &debounce->pending_ends[k];
        if (pending->body != event->body || pending->other != event->other ||
            pending->obstacle != event->obstacle)
            continue;
        remove_pending_end(debounce, k);
        event->phase = VY_CONTACT_PERSIST;
        break;
    }
    return 1;
}

int vy_contact_debounce_next_end(contact_debounce *debounce, uint64_t tick, vy_contact_event *event)
{
    if (debounce->count == 0 || tick - debounce->pending_ends[0].tick < debounce->max_pause) return 0;
    *event = (vy_contact_event){.phase = VY_CONTACT_END,
                                .body = debounce->pending_ends[0].body,
                                .other = debounce->pending_ends[0].other,
                                .obstacle = debounce->pending_ends[0].obstacle};
    remove_pending_end(debounce, 0);
    return 1;
}
