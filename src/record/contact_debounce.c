// contact_debounce.c - contacts without a push, in the order in which they paused.
#include "record/contact_debounce.h"
#include "base/assert.h"
#include <stdlib.h>
#include <string.h>

typedef struct pause {
    int body, other, obstacle;
    uint64_t tick; // of the first step without a push
} pause;

struct contact_debounce {
    uint64_t longest; // [steps] of a pause
    pause *list;
    size_t count, capacity;
};

contact_debounce *vy_contact_debounce_create(double dt)
{
    contact_debounce *p = calloc(1, sizeof *p);
    VY_ASSERT(dt > 0.0);
    if (p != NULL) p->longest = (uint64_t)(CONTACT_DEBOUNCE_TIME / dt + 0.5);
    return p;
}

void vy_contact_debounce_destroy(contact_debounce *p)
{
    if (p == NULL) return;
    free(p->list);
    free(p);
}

static void remove_at(contact_debounce *p, size_t k)
{
    VY_ASSERT(k < p->count);
    memmove(p->list + k, p->list + k + 1, (p->count - k - 1) * sizeof *p->list);
    p->count -= 1;
}

static int add(contact_debounce *p, pause pending)
{
    if (p->count == p->capacity) {
        const size_t capacity = 2 * p->capacity + 16;
        pause *grown = realloc(p->list, capacity * sizeof *grown);
        if (grown == NULL) return 0;
        p->list = grown;
        p->capacity = capacity;
    }
    p->list[p->count++] = pending;
    return 1;
}

int vy_contact_debounce_update(contact_debounce *p, uint64_t tick, vy_contact_event *event)
{
    if (event->phase == VY_CONTACT_PERSIST) return 1;
    if (event->phase == VY_CONTACT_END) { // without memory it ends at once
        const pause ended = {event->body, event->other, event->obstacle, tick};
        return !add(p, ended);
    }
    for (size_t k = p->count; k-- > 0;) { // most are short
        const pause *pending = &p->list[k];
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
    if (p->count == 0 || tick - p->list[0].tick < p->longest) return 0;
    *event = (vy_contact_event){.phase = VY_CONTACT_END,
                                .body = p->list[0].body,
                                .other = p->list[0].other,
                                .obstacle = p->list[0].obstacle};
    remove_at(p, 0);
    return 1;
}
