// contact_step.c - which bodies touch in a step, and what they remember of it.
#include "dynamics/free_step.h"
#include "dynamics/sleep.h"

enum { FEW_ENTRIES = 256 }; // not worth waking threads for

void vy_contacts_begin(vy_bodies *b)
{
    if (b->contacts == NULL) return;
    if (vy_bodies_asleep(b) == 0) {
        memcpy(b->contacts->start, b->state, b->limit * sizeof *b->state);
        return;
    }
    for (uint32_t i = 0; i < b->limit; ++i) { // those that lie are where they were
        if (b->moves[i] || !body_is_dynamic(b, i)) b->contacts->start[i] = b->state[i];
    }
    vy_sleep_begin(b, b->def.dt);
}

// ---- islands: bodies that move, joined by contacts and joints

static void join_islands(vy_bodies *b)
{
    contact_system *s = b->contacts;
    for (uint32_t i = 0; i < b->limit; ++i) {
        s->parent[i] = i;
        s->touching[i] = START_APART;
        s->fresh[i] = 0;
        s->solved[i] = 0;
    }
    for (uint32_t k = 0; k < s->count; ++k) {
        const contact_link *c = &s->links[k];
        if ((c->facts & MOVES_A) == 0 || (c->facts & MOVES_B) == 0) continue;
        islands_join(s->parent, c->a, c->b);
    }
    if (b->joints->island_count > 0) vy_tied_join(b);
}

// ---- does it touch?

static body_state end_of(const vy_bodies *b, uint32_t i, double h)
{
    return b->slots[i].kind == VY_BODY_KINEMATIC ? body_coast(&b->state[i], h) : b->state[i];
}

int vy_flights_meet(const vy_bodies *b, uint32_t i, uint32_t j, double h)
{
    const vy_shape *x = &b->slots[i].shape, *y = &b->slots[j].shape;
    const body_state *sa = &b->contacts->start[i], *sb = &b->contacts->start[j];
    const body_state ea = end_of(b, i, h), eb = end_of(b, j, h);
    const vy_pose pa = body_shape_pose(b, i, &ea), pb = body_shape_pose(b, j, &eb);
    if (vy_overlap(x, &pa, y, &pb)) return 1;
    if (!vy_shape_is_convex(x) || !vy_shape_is_convex(y)) return 0;
    const vy_pose qa = body_shape_pose(b, i, sa), qb = body_shape_pose(b, j, sb);
    const vec3 way = vec3_sub(vec3_sub(pb.position, qb.position), vec3_sub(pa.position, qa.position));
    vy_cast_hit hit;
    int met = 0;
    return vy_shape_cast(x, &qa, y, &qb, way, NULL, &met, &hit) != VY_OK || met;
}

// Islands most of whose contacts are fresh have no pushes to start from.
static void find_cold(vy_bodies *b)
{
    contact_system *s = b->contacts;
    for (uint32_t k = 0; k < s->count; ++k) {
        const uint32_t root = island_of(s, &s->links[k]);
        if (s->touching[root]) s->fresh[root] += s->links[k].facts & FRESH ? 1 : -1;
    }
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (s->fresh[i] > 0) s->touching[i] = START_COLD;
    }
}

static void find_touching(vy_bodies *b, double h)
{
    contact_system *s = b->contacts;
    for (uint32_t k = 0; k < s->count; ++k) {
        if (s->links[k].facts & PUSHES) s->touching[island_of(s, &s->links[k])] = START_WARM;
    }
    for (uint32_t k = 0; k < s->count; ++k) {
        const uint32_t root = island_of(s, &s->links[k]);
        if (!s->touching[root] && vy_flights_meet(b, s->links[k].a, s->links[k].b, h))
            s->touching[root] = START_WARM;
    }
    find_cold(b);
    if (b->joints->island_count > 0) vy_tied_mark(b);
    for (uint32_t k = 0; k < s->count; ++k) {
        contact_link *c = &s->links[k];
        c->active = (uint8_t)s->touching[island_of(s, c)];
        s->solved[c->a] |= c->active; // what does not move may belong to several islands
        s->solved[c->b] |= c->active;
    }
}

// ---- the simple response

static vec3 speed_at(const body_state *s, vec3 lever)
{
    return vec3_add(s->velocity, quat_rotate(s->attitude, vec3_cross(s->rate, lever)));
}

// Ruling 13: j = -(1 + e) v.n / d, with the free flight's velocities and the point between the surfaces.
static double respond_speed(vy_bodies *b, contact *c, vec3 point, vec3 n)
{
    body_state *sa = &b->state[c->a], *sb = &b->state[c->b];
    const body_params *pa = &b->params[c->a], *pb = &b->params[c->b];
    const vec3 ra = quat_unrotate(sa->attitude, vec3_sub(point, sa->position)),
               rb = quat_unrotate(sb->attitude, vec3_sub(point, sb->position));
    const double speed = vec3_dot(vec3_sub(speed_at(sb, rb), speed_at(sa, ra)), n);
    if (!(speed < 0.0)) return 0.0;
    const vec3 na = quat_unrotate(sa->attitude, n), nb = quat_unrotate(sb->attitude, n);
    const vec3 ta = mat3_mul_vec(pa->inverse_inertia, vec3_cross(ra, na)),
               tb = mat3_mul_vec(pb->inverse_inertia, vec3_cross(rb, nb));
    const double d = (pa->inverse_mass + pb->inverse_mass) +
                     (vec3_dot(vec3_cross(ta, ra), na) + vec3_dot(vec3_cross(tb, rb), nb));
    const double j = -(1.0 + c->restitution) * speed / d;
    c->speed[0] = speed;
    sa->velocity = vec3_add_scaled(sa->velocity, -j * pa->inverse_mass, n);
    sb->velocity = vec3_add_scaled(sb->velocity, j * pb->inverse_mass, n);
    sa->rate = vec3_add_scaled(sa->rate, -j, ta);
    sb->rate = vec3_add_scaled(sb->rate, j, tb);
    c->impulse = vec3_scale(j, n);
    return j;
}

static void respond_position(vy_bodies *b, const contact *c, double depth, vec3 n)
{
    const double ia = b->params[c->a].inverse_mass, ib = b->params[c->b].inverse_mass;
    const double move = real_max(depth - b->def.contacts.slop, 0.0) * b->def.contacts.correction / (ia + ib);
    b->state[c->a].position = vec3_add_scaled(b->state[c->a].position, -ia * move, n);
    b->state[c->b].position = vec3_add_scaled(b->state[c->b].position, ib * move, n);
}

static void respond(vy_bodies *b)
{
    contact_system *s = b->contacts;
    for (uint32_t k = 0; k < s->count; ++k) {
        contact *c = &s->list[k];
        const vy_pose pa = body_shape_pose(b, c->a, &b->state[c->a]),
                      pb = body_shape_pose(b, c->b, &b->state[c->b]);
        vy_manifold m;
        if (vy_collide(&b->slots[c->a].shape, &pa, &b->slots[c->b].shape, &pb, &m) != VY_OK || m.count == 0)
            continue;
        vec3 point = vec3_zero(); // the middle of the surface that touches
        for (int i = 0; i < m.count; ++i)
            point = vec3_add_scaled(point, 0.5 / m.count, vec3_add(m.points[i].point_a, m.points[i].point_b));
        c->n = m.normal;
        c->count = 1;
        c->p[0] = (contact_point){.push = 0.0};
        c->p[0].on_a = quat_unrotate(b->state[c->a].attitude, vec3_sub(point, b->state[c->a].position));
        c->p[0].push = c->total[0] = respond_speed(b, c, point, m.normal);
        s->links[k].kept = c->total[0] != 0.0;
        respond_position(b, c, m.points[0].depth, m.normal);
        b->touched[c->a] = b->touched[c->b] = 1; // joints look again
    }
}

// ---- what is remembered, and what is told

static contact_memory memory_of(const contact *c)
{
    contact_memory m = {.a = c->a, .b = c->b};
    for (int i = 0; i < c->count; ++i) {
        if (c->total[i] == 0.0) continue;
        m.at[m.count] = c->p[i].on_a;
        m.push[m.count++] = c->p[i].push;
    }
    const vec3 t2 = vec3_cross(c->n, c->t1);
    m.load = c->load;
    m.friction = vec3_add_scaled(vec3_scale(c->drag_1, c->t1), c->drag_2, t2);
    m.twist = vec3_add_scaled(vec3_scale(c->roll_1, c->t1), c->roll_2, t2);
    m.twist = vec3_add_scaled(m.twist, c->spin, c->n);
    return m;
}

static vy_contact_report report_of(const vy_bodies *b, const contact *c)
{
    vy_contact_report r = {.a = vy_bodies_at(b, c->a).bits, .b = vy_bodies_at(b, c->b).bits};
    const body_state *sa = &b->state[c->a];
    double sum = 0.0, slowest = 0.0;
    r.phase = c->was ? VY_CONTACT_PERSIST : VY_CONTACT_BEGIN;
    r.normal = c->n;
    r.impulse = c->impulse;
    for (int i = 0; i < c->count; ++i) {
        if (c->total[i] == 0.0) continue;
        const vec3 at = vec3_add(sa->position, quat_rotate(sa->attitude, c->p[i].on_a));
        r.point = vec3_add_scaled(r.point, c->total[i], at);
        sum += c->total[i];
        slowest = real_min(slowest, c->speed[i]);
        ++r.points;
    }
    r.point = vec3_scale(1.0 / sum, r.point);
    r.speed = -slowest;
    return r;
}

static vy_contact_report end_of_contact(const vy_bodies *b, uint64_t key)
{
    return (vy_contact_report){.a = vy_bodies_at(b, (uint32_t)(key >> 32)).bits,
                               .b = vy_bodies_at(b, (uint32_t)key).bits,
                               .phase = VY_CONTACT_END};
}

static void write_entries(vy_bodies *b, void *self, size_t first, size_t last)
{
    (void)self;
    const contact_system *s = b->contacts;
    for (size_t n = first; n < last; ++n) {
        const contact *c = &s->list[s->book[n].contact];
        b->memory[n] = memory_of(c);
        s->reports[s->book[n].report] = report_of(b, c);
    }
}

// This step's contacts, and in the reports between them the ends of the last one's, by slots.
static void keep_books(vy_bodies *b)
{
    contact_system *s = b->contacts;
    const uint64_t before = b->contact_count->count;
    uint64_t old = 0;
    uint32_t now = 0, told = 0;
    for (uint64_t k = 0; k < before; ++k) s->before[k] = contact_key(b->memory[k].a, b->memory[k].b);
    for (uint32_t k = 0; k < s->count; ++k) {
        if (s->links[k].kept == 0) continue;
        const uint64_t key = contact_key(s->links[k].a, s->links[k].b);
        while (old < before && s->before[old] < key) s->reports[told++] = end_of_contact(b, s->before[old++]);
        if (old < before && s->before[old] == key) ++old;
        s->book[now++] = (book_entry){k, told++};
    }
    while (old < before) s->reports[told++] = end_of_contact(b, s->before[old++]);
    vy_bodies_share(b, now, FEW_ENTRIES, write_entries, NULL);
    for (uint64_t k = now; k < before; ++k) b->memory[k] = (contact_memory){0};
    b->contact_count->count = now;
    s->report_count = told;
}

uint32_t vy_contacts_step(vy_bodies *b, double h)
{
    if (b->contacts == NULL) return 0;
    uint32_t events = 0;
    vy_sleep_flown(b, h);
    do {
        if (!vy_contacts_find(b, h)) events |= VY_BODIES_CONTACTS_FULL;
        if (b->def.contacts.solver == VY_SOLVER_IMPULSE) {
            respond(b);
        } else {
            join_islands(b);
            find_touching(b, h);
            vy_contacts_solve(b, h);
            if (b->joints->island_count > 0) vy_tied_solve(b, h);
        }
    } while (vy_sleep_disturbed(b, h, &events));
    keep_books(b);
    vy_sleep_report(b, h);
    vy_sleep_settle(b);
    return events;
}
