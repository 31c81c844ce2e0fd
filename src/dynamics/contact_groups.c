// contact_groups.c - which islands are solved at the same time: small ones together, as many as fit a
// thread's caches, and a large one by itself, on all threads.
#include "base/assert.h"
#include "dynamics/contacts.h"

#define NO_GROUP UINT32_MAX

/// Groups that islands of the same start may be added to.
typedef struct open_groups {
    uint32_t small;  // the last one, which may have room left
    uint32_t driven; // of islands that touch kinematic bodies
} open_groups;

static int is_solved(const contact_header *c) { return c->start == START_WARM || c->start == START_COLD; }

// Kinematic, or flown by another: it moves through the sub-steps at its own velocity.
static int is_driven(const vy_bodies *b, uint32_t i)
{
    return !b->awake[i] && b->slots[i].kind != VY_BODY_STATIC;
}

static void measure_islands(vy_bodies *b)
{
    contact_system *s = b->contacts;
    for (uint32_t i = 0; i < b->limit; ++i) {
        s->island_size[i] = 0;
        s->island_driven[i] = 0;
    }
    for (uint32_t k = 0; k < s->count; ++k) {
        const contact_header *c = &s->headers[k];
        if (!is_solved(c)) continue;
        const uint32_t root = island_of(s, c);
        VY_ASSERT(root < b->limit && s->parent[root] == root);
        s->island_size[root] += 1;
        s->island_driven[root] |= (unsigned char)(is_driven(b, c->a) || is_driven(b, c->b));
    }
}

static uint32_t new_group(contact_system *s, contact_start start, int all_threads)
{
    s->groups[s->group_count] = (contact_group){.start = start, .all_threads = all_threads};
    return s->group_count++;
}

static uint32_t find_group(contact_system *s, uint32_t root, open_groups *open)
{
    const contact_start start = (contact_start)s->island_start[root];
    VY_ASSERT(s->parent[root] == root && (start == START_WARM || start == START_COLD));
    if (s->island_driven[root]) { // a kinematic body is integrated once for all islands that touch it
        if (open->driven == NO_GROUP) open->driven = new_group(s, start, 1);
        return open->driven;
    }
    if (s->island_size[root] > GROUP_CONTACTS) return new_group(s, start, 1);
    if (open->small == NO_GROUP || s->groups[open->small].last + s->island_size[root] > GROUP_CONTACTS)
        open->small = new_group(s, start, 0);
    return open->small;
}

// Turn the numbers of contacts and bodies into ranges; the lists are still empty.
static void assign_ranges(contact_system *s)
{
    uint32_t contacts = 0, members = 0;
    for (uint32_t n = 0; n < s->group_count; ++n) {
        contact_group *g = &s->groups[n];
        const uint32_t has_contacts = g->last, has_members = g->member_last;
        VY_ASSERT(has_contacts > 0 && (g->all_threads || has_contacts <= GROUP_CONTACTS));
        g->first = g->last = contacts;
        g->member_first = g->member_last = members;
        contacts += has_contacts;
        members += has_members;
    }
}

// Called for each body and its group; a kinematic body may be in one group of each start.
typedef void member_fn(contact_system *s, contact_group *g, uint32_t i);

static void count_member(contact_system *s, contact_group *g, uint32_t i)
{
    (void)s;
    (void)i;
    g->member_last += 1;
}

static void add_member(contact_system *s, contact_group *g, uint32_t i) { s->members[g->member_last++] = i; }

static void for_members(vy_bodies *b, const open_groups open[], member_fn *fn)
{
    contact_system *s = b->contacts;
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (s->solved_as[i] == 0) continue;
        if (b->awake[i]) {
            const uint32_t root = island_root(s->parent, i);
            VY_ASSERT(s->island_size[root] == 0 || s->group_of[root] < s->group_count);
            if (s->island_size[root] > 0) fn(s, &s->groups[s->group_of[root]], i);
            continue;
        }
        for (int start = START_WARM; start <= START_COLD && is_driven(b, i); ++start) {
            if ((s->solved_as[i] & start) != 0 && open[start].driven != NO_GROUP)
                fn(s, &s->groups[open[start].driven], i);
        }
    }
}

void vy_contacts_group(vy_bodies *b)
{
    contact_system *s = b->contacts;
    open_groups open[START_COLD + 1];
    for (int i = 0; i <= START_COLD; ++i) open[i] = (open_groups){NO_GROUP, NO_GROUP};
    measure_islands(b);
    s->group_count = 0;
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (s->island_size[i] == 0) continue; // not a root, or not solved
        VY_ASSERT(s->group_count < b->def.body_cap);
        s->group_of[i] = find_group(s, i, &open[s->island_start[i]]);
        s->groups[s->group_of[i]].last += s->island_size[i];
    }
    for_members(b, open, count_member);
    assign_ranges(s);
    for_members(b, open, add_member);
    VY_ASSERT(s->group_count == 0 || s->groups[s->group_count - 1].member_last <= 2 * b->def.body_cap);
    for (uint32_t k = 0; k < s->count; ++k) { // ordered by slots within each group
        if (!is_solved(&s->headers[k])) continue;
        contact_group *g = &s->groups[s->group_of[island_of(s, &s->headers[k])]];
        VY_ASSERT(g->last < s->count);
        VY_ASSERT(g->start == (contact_start)s->headers[k].start);
        s->grouped[g->last++] = k;
    }
}
