// contact_groups.c - which islands are solved at the same time: small ones together, as many as fit a
// thread's caches, and a large one by itself, on all threads.
#include "base/assert.h"
#include "dynamics/contacts.h"

#define NO_GROUP UINT32_MAX

enum { ITERATION_BUDGET = 4096 }; // the most that iterations times contacts of an island may be
// Islands of so few pairs take stiff contacts: an iteration solves them nearly. In heaps those would creep.
enum { MAX_STIFF_PAIRS = 1 };

/// Groups that islands of the same start may be added to.
typedef struct open_groups {
    uint32_t small;     // the last one, which may have room left
    uint32_t stiff;     // the last one of islands with few contacts
    uint32_t kinematic; // of islands that touch kinematic bodies
} open_groups;

// Whether a contact is solved by groups; with `retry` those of islands that are solved again.
static int is_solved(contact_system *s, const contact_header *c, int retry)
{
    if (c->solve_mode != SOLVE_WARM && c->solve_mode != SOLVE_COLD) return 0;
    return !retry || s->island_retry[c->island];
}

// In islands of many contacts fewer: they cost as many times more.
static uint32_t limit_iterations(uint32_t iterations, uint32_t island_contacts, uint32_t intervals)
{
    const uint32_t max_iterations = ITERATION_BUDGET / island_contacts / (intervals > 4 ? intervals / 4 : 1);
    return iterations < max_iterations ? iterations : max_iterations > 1 ? max_iterations : 1;
}

static void measure_islands(vy_bodies *b, int retry)
{
    contact_system *s = b->contacts;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        s->island_solved_contacts[i] = s->island_pairs[i] = 0;
        s->island_iterations[i] = 1;
        s->island_has_kinematic[i] = 0;
    }
    for (uint32_t k = 0; k < s->count; ++k) {
        const contact_header *c = &s->headers[k];
        if (!is_solved(s, c, retry)) continue;
        const uint32_t root = c->island;
        VY_ASSERT(root < b->slot_count && s->parent[root] == root);
        s->island_solved_contacts[root] += 1;
        s->island_pairs[root] += !contact_is_of_previous_pair(s, k);
        if (c->iterations > s->island_iterations[root]) s->island_iterations[root] = c->iterations;
        s->island_has_kinematic[root] |= (unsigned char)c->is_prescribed;
    }
}

static uint32_t new_group(contact_system *s, contact_solve_mode solve_mode, int all_threads)
{
    s->groups[s->group_count] = (contact_group){
        .solve_mode = solve_mode, .all_threads = all_threads, .intervals = 1, .iterations = 1};
    return s->group_count++;
}

static uint32_t find_group(contact_system *s, uint32_t root, open_groups *open)
{
    const contact_solve_mode solve_mode = (contact_solve_mode)s->island_solve_mode[root];
    VY_ASSERT(s->parent[root] == root && (solve_mode == SOLVE_WARM || solve_mode == SOLVE_COLD));
    if (s->island_has_kinematic[root]) { // a kinematic body is integrated once for all islands that touch it
        if (open->kinematic == NO_GROUP) open->kinematic = new_group(s, solve_mode, 1);
        return open->kinematic;
    }
    if (s->island_solved_contacts[root] > GROUP_CONTACTS) return new_group(s, solve_mode, 1);
    if (s->island_intervals[root] > 1 || s->island_iterations[root] > 1) return new_group(s, solve_mode, 0);
    uint32_t *const group = s->island_pairs[root] <= MAX_STIFF_PAIRS ? &open->stiff : &open->small;
    if (*group == NO_GROUP || s->groups[*group].last + s->island_solved_contacts[root] > GROUP_CONTACTS)
        *group = new_group(s, solve_mode, 0);
    return *group;
}

// Turn the numbers of contacts and bodies into ranges; the lists are still empty.
static void assign_ranges(contact_system *s)
{
    uint32_t contacts = 0, members = 0;
    for (uint32_t n = 0; n < s->group_count; ++n) {
        contact_group *g = &s->groups[n];
        const uint32_t contacts_of_group = g->last, members_of_group = g->member_last;
        VY_ASSERT(contacts_of_group > 0 && (g->all_threads || contacts_of_group <= GROUP_CONTACTS));
        g->first = g->last = contacts;
        g->member_first = g->member_last = members;
        contacts += contacts_of_group;
        members += members_of_group;
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

static void for_each_member(vy_bodies *b, const open_groups open[], member_fn *fn)
{
    contact_system *s = b->contacts;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (s->solve_mode_mask[i] == 0) continue;
        if (b->awake[i]) {
            const uint32_t root = island_root(s->parent, i);
            VY_ASSERT(s->island_solved_contacts[root] == 0 || s->group_of[root] < s->group_count);
            s->root_of[i] = root;
            if (s->island_solved_contacts[root] > 0) fn(s, &s->groups[s->group_of[root]], i);
            continue;
        }
        s->root_of[i] = i;
        s->velocity_change_work[i] = (velocity_change_work){0.0, 0.0};
        for (int solve_mode = SOLVE_WARM; solve_mode <= SOLVE_COLD && has_prescribed_motion(b, i);
             ++solve_mode) {
            if ((s->solve_mode_mask[i] & solve_mode) != 0 && open[solve_mode].kinematic != NO_GROUP)
                fn(s, &s->groups[open[solve_mode].kinematic], i);
        }
    }
}

void vy_contacts_group(vy_bodies *b, int retry)
{
    contact_system *s = b->contacts;
    open_groups open[SOLVE_COLD + 1];
    for (int i = 0; i <= SOLVE_COLD; ++i) open[i] = (open_groups){NO_GROUP, NO_GROUP, NO_GROUP};
    measure_islands(b, retry);
    s->group_count = 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (s->island_solved_contacts[i] == 0) continue; // not a root, or not solved
        VY_ASSERT(s->group_count < b->body_cap);
        s->group_of[i] = find_group(s, i, &open[s->island_solve_mode[i]]);
        contact_group *g = &s->groups[s->group_of[i]];
        g->last += s->island_solved_contacts[i];
        if (s->island_intervals[i] > g->intervals) g->intervals = s->island_intervals[i];
        const uint32_t iterations =
            limit_iterations(s->island_iterations[i], s->island_solved_contacts[i], s->island_intervals[i]);
        if (iterations > g->iterations) g->iterations = iterations;
        g->is_stiff |= s->island_iterations[i] > 1 || s->island_pairs[i] <= MAX_STIFF_PAIRS;
    }
    for_each_member(b, open, count_member);
    assign_ranges(s);
    for_each_member(b, open, add_member);
    VY_ASSERT(s->group_count == 0 || s->groups[s->group_count - 1].member_last <= 2 * b->body_cap);
    for (uint32_t k = 0; k < s->count; ++k) { // ordered by slots within each group
        if (!is_solved(s, &s->headers[k], retry)) continue;
        contact_group *g = &s->groups[s->group_of[s->headers[k].island]];
        VY_ASSERT(g->last < s->count);
        VY_ASSERT(g->solve_mode == (contact_solve_mode)s->headers[k].solve_mode);
        s->group_contacts[g->last++] = k;
    }
}
