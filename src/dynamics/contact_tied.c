// contact_tied.c - islands that touch and have joints, one after the other: contacts and joints answer one
// another within each sub-step.
//
// A turn is all contacts, then all joints. Contacts push from what they gave in the last sub-step, so at rest
// one turn is enough; in an impact turns go on until joints have nothing to add.
#include "dynamics/contact_body.h"
#include "dynamics/contact_joints.h"
#include <stdlib.h>

enum { TURNS = 64, BOUNCE_TURNS = 8, NEWTON = 8, COLOURS = 64, FEW = 3, NONE = 0 };

#define STILL 1e-4  // [m/s] joints that change bodies by less have nothing to add
#define HELD  1e-13 // of the island's size: a joint that is closed
#define OPEN  1e-9  // and one that is not

/// Lists of the bodies, contacts and joint islands of each island, and those of one.
struct tied_room {
    uint32_t *first_body, *first_contact, *first_joints; // [body_cap] by root, + 1
    uint32_t *next_body, *next_contact, *next_joints;    // [body_cap], [cap], [body_cap], + 1
    uint32_t *bodies;       // [body_cap] that move; then those that are driven and touched
    uint32_t *contacts;     // [cap]
    uint32_t *joints;       // [body_cap]
    uint32_t *seen;         // [body_cap] root + 1 of the last island that was loaded with it
    contact_body *saved;    // [body_cap]
    contact_motion *speeds; // [body_cap]
};

/// An island while it is solved.
typedef struct tied_island {
    vy_bodies *b;
    struct tied_room *room;
    uint32_t body_count, contact_count;
    const contact_kernel *wide, *narrow;
    contact_job job;
    void *loose; // contacts without a colour
    uint32_t packs, loose_count;
    int bounces; // some contact does
    tied_joints joints;
} tied_island;

// ---- memory

vy_status vy_tied_create(vy_bodies *b)
{
    const size_t n = b->def.body_cap, cap = b->def.contacts.cap;
    if (b->def.joint_cap == 0) return VY_OK;
    struct tied_room *r = calloc(1, sizeof *r);
    b->contacts->tied = r;
    if (r == NULL) return VY_NO_MEMORY;
    uint32_t *all = calloc(8 * n + 2 * cap, sizeof *all);
    r->first_body = all;
    b->contacts->given = calloc(n, sizeof *b->contacts->given);
    r->saved = calloc(n, sizeof *r->saved);
    r->speeds = calloc(n, sizeof *r->speeds);
    if (all == NULL || r->saved == NULL || r->speeds == NULL || b->contacts->given == NULL)
        return VY_NO_MEMORY;
    r->first_contact = all + n;
    r->first_joints = all + 2 * n;
    r->next_body = all + 3 * n;
    r->next_joints = all + 4 * n;
    r->bodies = all + 5 * n;
    r->joints = all + 6 * n;
    r->seen = all + 7 * n;
    r->next_contact = all + 8 * n;
    r->contacts = all + 8 * n + cap;
    return VY_OK;
}

void vy_tied_destroy(contact_system *s)
{
    if (s->tied == NULL) return;
    free(s->given);
    free(s->tied->first_body);
    free(s->tied->saved);
    free(s->tied->speeds);
    free(s->tied);
}

// ---- which islands

void vy_tied_join(vy_bodies *b)
{
    const joint_system *s = b->joints;
    for (uint32_t n = 0; n < s->island_count; ++n) {
        const island *is = &s->islands[n];
        for (uint32_t m = is->body_first + 1; m < is->moving_last; ++m)
            islands_join(b->contacts->parent, s->members[is->body_first], s->members[m]);
    }
}

static uint32_t root_of_joints(const vy_bodies *b, uint32_t n)
{
    const joint_system *s = b->joints;
    return island_root(b->contacts->parent, s->members[s->islands[n].body_first]);
}

void vy_tied_mark(vy_bodies *b)
{
    contact_system *s = b->contacts;
    for (uint32_t n = 0; n < b->joints->island_count; ++n) {
        const uint32_t root = root_of_joints(b, n);
        if (s->touching[root]) s->touching[root] = START_TIED;
    }
}

// Lists by root, each in the order of its elements: from the last to the first, each is put in front.
static void list_islands(vy_bodies *b)
{
    contact_system *s = b->contacts;
    struct tied_room *r = s->tied;
    for (uint32_t i = 0; i < b->limit; ++i)
        r->first_body[i] = r->first_contact[i] = r->first_joints[i] = r->seen[i] = NONE;
    for (uint32_t i = b->limit; i-- > 0;) {
        const uint32_t root = island_root(s->parent, i);
        if (s->touching[root] != START_TIED || !body_is_dynamic(b, i)) continue;
        r->next_body[i] = r->first_body[root];
        r->first_body[root] = i + 1;
    }
    for (uint32_t k = s->count; k-- > 0;) {
        const contact_link *c = &s->links[k];
        if (c->active != START_TIED) continue;
        const uint32_t root = island_of(s, c);
        r->next_contact[k] = r->first_contact[root];
        r->first_contact[root] = k + 1;
    }
    for (uint32_t n = b->joints->island_count; n-- > 0;) {
        const uint32_t root = root_of_joints(b, n);
        r->next_joints[n] = r->first_joints[root];
        r->first_joints[root] = n + 1;
    }
}

// ---- one island

// A body that does not move by itself, once.
static void load_other(tied_island *t, uint32_t i, uint32_t root, double h)
{
    if (t->room->seen[i] == root + 1) return;
    t->room->seen[i] = root + 1;
    contact_load(t->b, i, h);
    if (t->b->slots[i].kind == VY_BODY_KINEMATIC) t->room->bodies[t->body_count++] = i;
}

static void load_island(tied_island *t, uint32_t root, double h)
{
    vy_bodies *b = t->b;
    contact_system *s = b->contacts;
    struct tied_room *r = t->room;
    for (uint32_t i = r->first_body[root]; i != NONE; i = r->next_body[i - 1]) {
        r->bodies[t->body_count++] = i - 1;
        contact_load(b, i - 1, h);
        s->colours[i - 1] = 0;
        s->solved[i - 1] = START_TIED;
        s->given[i - 1] = (contact_given){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        if (!b->joints->joined[i - 1]) continue;
        const body_push p = b->flown ? b->joints->push[i - 1] : push_at(b, i - 1, &s->start[i - 1]);
        s->body[i - 1].acceleration = p.acceleration;
        s->body[i - 1].torque = p.torque;
        t->joints.mass += b->slots[i - 1].mass;
    }
    for (uint32_t k = r->first_contact[root]; k != NONE; k = r->next_contact[k - 1]) {
        const contact_link *c = &s->links[k - 1];
        r->contacts[t->contact_count++] = k - 1;
        if ((c->facts & MOVES_A) == 0) load_other(t, c->a, root, h);
        if ((c->facts & MOVES_B) == 0) load_other(t, c->b, root, h);
        t->bounces |= (c->facts & BOUNCES) != 0;
    }
    for (uint32_t n = r->first_joints[root]; n != NONE; n = r->next_joints[n - 1]) {
        const island *is = &b->joints->islands[n - 1];
        r->joints[t->joints.count++] = n - 1;
        for (uint32_t m = is->joint_first; m < is->joint_last; ++m) // their flight never was
            b->joint_state[b->joints->ties[m]].active = b->joints->before[b->joints->ties[m]];
    }
}

// Whether a spring, damper or motor pushes: then sub-steps are as short as in flight.
static int has_forces(const vy_bodies *b, uint32_t n)
{
    const joint_system *s = b->joints;
    for (uint32_t m = s->islands[n].joint_first; m < s->islands[n].joint_last; ++m) {
        const vy_joint_def *d = &s->slots[s->ties[m]].def;
        if (d->stiffness != 0.0 || d->damping != 0.0 || b->joint_state[s->ties[m]].motor_torque != 0.0)
            return 1;
    }
    return 0;
}

// ---- packs: by colour, as in contact_solve.c, but of one island and one thread

static uint32_t colour_of(const tied_island *t, uint32_t k)
{
    contact_system *s = t->b->contacts;
    contact_link *c = &s->links[k];
    const uint64_t taken =
        (c->facts & MOVES_A ? s->colours[c->a] : 0) | (c->facts & MOVES_B ? s->colours[c->b] : 0);
    uint32_t colour = 0;
    while (colour < COLOURS && (taken >> colour & 1u) != 0) ++colour;
    c->colour = (uint8_t)colour;
    if (colour == COLOURS) return colour;
    if (c->facts & MOVES_A) s->colours[c->a] |= (uint64_t)1 << colour;
    if (c->facts & MOVES_B) s->colours[c->b] |= (uint64_t)1 << colour;
    return colour;
}

static void fill_packs(tied_island *t)
{
    contact_system *s = t->b->contacts;
    uint32_t count[COLOURS + 1] = {0}, at[COLOURS + 2] = {0};
    if (t->contact_count <= FEW) t->wide = t->narrow;
    for (uint32_t n = 0; n < t->contact_count; ++n) count[colour_of(t, t->room->contacts[n])] += 1;
    for (int c = 0; c <= COLOURS; ++c) at[c + 1] = at[c] + count[c];
    for (int points = 1; points <= VY_MANIFOLD_POINTS; ++points) { // so that packs are even
        for (uint32_t n = 0; n < t->contact_count; ++n) {
            const contact_link *c = &s->links[t->room->contacts[n]];
            if (c->count == points) s->order[at[c->colour]++] = t->room->contacts[n];
        }
    }
    const uint32_t width = t->wide->width;
    for (int c = 0; c < COLOURS; ++c) {
        for (uint32_t done = 0; done < count[c]; done += width) {
            const uint32_t left = count[c] - done;
            t->wide->fill(&t->job, &s->order[at[c] - left], left < width ? left : width,
                          (unsigned char *)s->packs + t->packs++ * t->wide->pack_size);
        }
    }
    t->loose = (unsigned char *)s->packs + t->packs * t->wide->pack_size;
    t->loose_count = count[COLOURS];
    for (uint32_t n = 0; n < t->loose_count; ++n)
        t->narrow->fill(&t->job, &s->order[at[COLOURS] - t->loose_count + n], 1,
                        (unsigned char *)t->loose + n * t->narrow->pack_size);
}

/// A pass over all contacts of the island.
#define RUN(t, stage)                                                                             \
    do {                                                                                          \
        (t)->wide->stage(&(t)->job, (t)->b->contacts->packs, 0, (t)->packs);                      \
        if ((t)->loose_count > 0) (t)->narrow->stage(&(t)->job, (t)->loose, 0, (t)->loose_count); \
    } while (0)

// ---- a sub-step

// Bodies move, and joints are closed where they arrive.
static void move_closed(tied_island *t)
{
    vy_bodies *b = t->b;
    contact_system *s = b->contacts;
    struct tied_room *r = t->room;
    for (int round = 0;; ++round) {
        for (uint32_t n = 0; n < t->body_count; ++n) {
            const uint32_t i = r->bodies[n];
            r->saved[n] = s->body[i];
            r->speeds[n] = s->motion[i];
            contact_move(&s->body[i], &s->motion[i], &b->params[i], t->joints.h);
        }
        const double gap = vy_tied_gap(&t->joints);
        if (gap <= HELD) return;
        if (round == NEWTON) {
            t->joints.open |= gap > OPEN;
            return;
        }
        for (uint32_t n = 0; n < t->body_count; ++n) {
            s->body[r->bodies[n]] = r->saved[n];
            s->motion[r->bodies[n]] = r->speeds[n];
        }
        vy_tied_close(&t->joints);
    }
}

static void note(contact_given *to, vec3 impulse, vec3 angular)
{
    to->impulse = vec3_add(to->impulse, impulse);
    to->angular = vec3_add(to->angular, angular);
}

static void substep(tied_island *t)
{
    const contact_system *s = t->b->contacts;
    tied_joints *j = &t->joints;
    vy_tied_push(j);
    for (uint32_t n = 0; n < t->body_count; ++n) {
        const uint32_t i = t->room->bodies[n];
        if (s->body[i].moves) contact_accelerate(&s->body[i], &s->motion[i], j->h);
    }
    (void)vy_tied_hold(j, 1);
    double change;
    int turns = 0;
    do {
        RUN(t, solve);
        change = vy_tied_hold(j, 1);
    } while (++turns < TURNS && change > STILL);
    move_closed(t);
    vy_tied_prepare(j, j->h);
    change = vy_tied_hold(j, 0);
    for (int n = 1; n < turns && change > STILL; ++n) {
        RUN(t, settle);
        change = vy_tied_hold(j, 0);
    }
    RUN(t, relax);
    for (uint32_t n = 0; n < t->body_count; ++n) { // what contacts gave in this sub-step
        const uint32_t i = t->room->bodies[n];
        note(&s->given[i], vec3_of(s->motion[i].push), vec3_of(s->motion[i].twist));
    }
    (void)vy_tied_hold(j, 0);
}

static void keep_speeds(const tied_island *t)
{
    const contact_system *s = t->b->contacts;
    for (uint32_t n = 0; n < t->body_count; ++n) t->room->speeds[n] = s->motion[t->room->bodies[n]];
}

// What changed speeds since then were contacts.
static void note_changes(const tied_island *t)
{
    const contact_system *s = t->b->contacts;
    for (uint32_t n = 0; n < t->body_count; ++n) {
        const uint32_t i = t->room->bodies[n];
        const contact_motion *from = &t->room->speeds[n], *to = &s->motion[i];
        const mat3 r = s->body[i].rotation;
        const vec3 turn = vec3_sub(vec3_of(to->rate), vec3_of(from->rate)),
                   by = vec3_sub(vec3_of(to->velocity), vec3_of(from->velocity));
        note(&s->given[i], vec3_scale(t->b->slots[i].mass, by),
             mat3_mul_vec(r, mat3_mul_vec(t->b->params[i].inertia, mat3_tmul_vec(r, turn))));
    }
}

static void bounce(tied_island *t)
{
    double change = STILL;
    for (int n = 0; n < BOUNCE_TURNS || (n < TURNS && change > STILL); ++n) {
        keep_speeds(t);
        RUN(t, bounce);
        note_changes(t);
        change = vy_tied_hold(&t->joints, 0);
    }
    keep_speeds(t);
    RUN(t, scrape);
    note_changes(t);
    (void)vy_tied_hold(&t->joints, 0);
}

static void solve_island(vy_bodies *b, uint32_t root, double h)
{
    contact_system *s = b->contacts;
    tied_island t = {
        .b = b, .room = s->tied, .wide = s->kernel, .narrow = vy_contact_kernel_1, .joints = {.b = b}};
    t.joints.islands = s->tied->joints;
    load_island(&t, root, h);
    double most = b->def.contacts.substep;
    for (uint32_t n = 0; n < t.joints.count; ++n) {
        if (has_forces(b, s->tied->joints[n])) most = real_min(most, b->def.joint_step);
    }
    const int steps = contacts_substeps(h, most);
    t.joints.h = h / (double)steps;
    t.job = vy_contacts_job(b, h, t.joints.h);
    fill_packs(&t);
    RUN(&t, warm);
    const double time = (double)b->head->tick * b->def.dt;
    for (int k = 0; k < steps; ++k) {
        t.joints.elapsed = (double)k * t.joints.h;
        t.joints.time = time + t.joints.elapsed;
        if (k == 0) vy_tied_prepare(&t.joints, 0.0);
        substep(&t);
    }
    if (t.bounces) bounce(&t);
    vy_tied_keep(&t.joints);
    RUN(&t, empty);
    for (uint32_t n = 0; n < t.body_count; ++n) {
        const uint32_t i = s->tied->bodies[n];
        if (!s->body[i].moves) continue;
        contact_store(b, i);
        s->given[i].angular = mat3_tmul_vec(s->body[i].rotation, s->given[i].angular);
        b->touched[i] = (uint64_t)(b->joints->joined[i] && t.joints.open);
    }
}

void vy_tied_solve(vy_bodies *b, double h)
{
    contact_system *s = b->contacts;
    int any = 0;
    for (uint32_t n = 0; n < b->joints->island_count && !any; ++n)
        any = s->touching[root_of_joints(b, n)] == START_TIED;
    if (!any) return;
    list_islands(b);
    atomic_store_explicit(&s->lost, 0, memory_order_relaxed);
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (s->tied->first_contact[i] != NONE) solve_island(b, i, h);
    }
    if (atomic_load_explicit(&s->lost, memory_order_relaxed)) b->head->failed = 1;
}
