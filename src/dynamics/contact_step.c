// contact_step.c - which bodies touch in a step, and what they remember of it.
#include "dynamics/contacts.h"
#include "dynamics/free_step.h"

#define FAR 1e300

void vy_contacts_begin(vy_bodies *b)
{
    if (b->contacts != NULL) memcpy(b->contacts->start, b->state, b->limit * sizeof *b->state);
}

// ---- islands: bodies that move, joined by contacts

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

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
        const contact *c = &s->list[k];
        if (c->simple || !body_is_dynamic(b, c->a) || !body_is_dynamic(b, c->b)) continue;
        const uint32_t x = root_of(s->parent, c->a), y = root_of(s->parent, c->b);
        if (x < y) s->parent[y] = x; // the root is the lowest slot
        if (y < x) s->parent[x] = y;
    }
}

static uint32_t island_of(const vy_bodies *b, const contact *c)
{
    return root_of(b->contacts->parent, body_is_dynamic(b, c->a) ? c->a : c->b);
}

// ---- does it touch?

static vec3 speed_at(const body_state *s, vec3 lever)
{
    return vec3_add(s->velocity, quat_rotate(s->attitude, vec3_cross(s->rate, lever)));
}

// [m/s] How fast the points that are no further apart than `gap` close at the start of the step, the fastest
// of them; below any speed without such points.
static double closing(const vy_bodies *b, const contact *c, double gap)
{
    const body_state *sa = &b->contacts->start[c->a], *sb = &b->contacts->start[c->b];
    const vec3 wa = quat_rotate(sa->attitude, sa->rate), wb = quat_rotate(sb->attitude, sb->rate);
    const vec3 apart = vec3_sub(sb->velocity, sa->velocity);
    double most = -FAR;
    for (int i = 0; i < c->count; ++i) {
        if (c->p[i].gap > gap) continue;
        const vec3 from_a = c->p[i].from_a, from_b = vec3_sub(from_a, c->apart);
        const vec3 v = vec3_add(apart, vec3_sub(vec3_cross(wb, from_b), vec3_cross(wa, from_a)));
        most = real_max(most, -vec3_dot(v, c->n));
    }
    return most;
}

// Points that pushed in the last step and do not leave.
static int still_pushes(const vy_bodies *b, const contact *c) { return c->was && closing(b, c, FAR) >= 0.0; }

// Points that touch and never pushed, of bodies that have not fallen on each other.
static int is_fresh(const vy_bodies *b, const contact *c, double h)
{
    if (c->was) return 0;
    const double speed = closing(b, c, b->def.contacts.slop), slow = contacts_slow(b, h);
    return speed > -slow && speed < slow;
}

static body_state end_of(const vy_bodies *b, uint32_t i, double h)
{
    return b->slots[i].kind == VY_BODY_KINEMATIC ? body_coast(&b->state[i], h) : b->state[i];
}

// Whether the free flights of both bodies meet: at their end, or on the way there without turning.
static int flights_meet(const vy_bodies *b, const contact *c, double h)
{
    const vy_shape *x = &b->slots[c->a].shape, *y = &b->slots[c->b].shape;
    const body_state *sa = &b->contacts->start[c->a], *sb = &b->contacts->start[c->b];
    const body_state ea = end_of(b, c->a, h), eb = end_of(b, c->b, h);
    const vy_pose pa = body_shape_pose(b, c->a, &ea), pb = body_shape_pose(b, c->b, &eb);
    if (vy_overlap(x, &pa, y, &pb)) return 1;
    if (!vy_shape_is_convex(x) || !vy_shape_is_convex(y)) return 0;
    const vy_pose qa = body_shape_pose(b, c->a, sa), qb = body_shape_pose(b, c->b, sb);
    const vec3 way = vec3_sub(vec3_sub(pb.position, qb.position), vec3_sub(pa.position, qa.position));
    vy_cast_hit hit;
    int met = 0;
    return vy_shape_cast(x, &qa, y, &qb, way, NULL, &met, &hit) != VY_OK || met;
}

// Islands most of whose contacts are fresh have no pushes to start from.
static void find_cold(vy_bodies *b, double h)
{
    contact_system *s = b->contacts;
    for (uint32_t k = 0; k < s->count; ++k) {
        const contact *c = &s->list[k];
        const uint32_t root = island_of(b, c);
        if (!c->simple && s->touching[root]) s->fresh[root] += is_fresh(b, c, h) ? 1 : -1;
    }
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (s->fresh[i] > 0) s->touching[i] = START_COLD;
    }
}

static void find_touching(vy_bodies *b, double h)
{
    contact_system *s = b->contacts;
    for (uint32_t k = 0; k < s->count; ++k) {
        if (!s->list[k].simple && still_pushes(b, &s->list[k]))
            s->touching[island_of(b, &s->list[k])] = START_WARM;
    }
    for (uint32_t k = 0; k < s->count; ++k) {
        const uint32_t root = island_of(b, &s->list[k]);
        if (!s->list[k].simple && !s->touching[root] && flights_meet(b, &s->list[k], h))
            s->touching[root] = START_WARM;
    }
    find_cold(b, h);
    for (uint32_t k = 0; k < s->count; ++k) {
        contact *c = &s->list[k];
        c->active = c->simple ? START_APART : s->touching[island_of(b, c)];
        s->solved[c->a] |= c->active; // what does not move may belong to several islands
        s->solved[c->b] |= c->active;
    }
}

// ---- the simple response

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
    c->p[0].speed = speed;
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
        if (!c->simple) continue;
        const vy_pose pa = body_shape_pose(b, c->a, &b->state[c->a]),
                      pb = body_shape_pose(b, c->b, &b->state[c->b]);
        vy_manifold m;
        c->active = 0;
        if (vy_collide(&b->slots[c->a].shape, &pa, &b->slots[c->b].shape, &pb, &m) != VY_OK || m.count == 0)
            continue;
        vec3 point = vec3_zero(); // the middle of the surface that touches
        for (int i = 0; i < m.count; ++i)
            point = vec3_add_scaled(point, 0.5 / m.count, vec3_add(m.points[i].point_a, m.points[i].point_b));
        c->active = 1;
        c->n = m.normal;
        c->count = 1;
        c->p[0] = (contact_point){.push = 0.0};
        c->p[0].on_a = quat_unrotate(b->state[c->a].attitude, vec3_sub(point, b->state[c->a].position));
        c->p[0].push = c->p[0].total = respond_speed(b, c, point, m.normal);
        respond_position(b, c, m.points[0].depth, m.normal);
        b->touched[c->a] = b->touched[c->b] = 1; // joints look again
    }
}

// ---- what is remembered, and what is told

static void remember(vy_bodies *b)
{
    contact_system *s = b->contacts;
    uint64_t n = 0;
    const uint64_t before = b->contact_count->count;
    memcpy(s->old, b->memory, before * sizeof *s->old);
    for (uint32_t k = 0; k < s->count; ++k) {
        const contact *c = &s->list[k];
        contact_memory m = {.a = c->a, .b = c->b};
        for (int i = 0; i < c->count && c->active; ++i) {
            const contact_point *p = &c->p[i];
            if (p->total == 0.0) continue;
            m.at[m.count] = p->on_a;
            m.push[m.count++] = p->push;
        }
        if (m.count == 0) continue;
        m.load = c->load;
        m.friction = vec3_add_scaled(vec3_scale(c->drag_1, c->t1), c->drag_2, c->t2);
        m.twist = vec3_add_scaled(vec3_scale(c->roll_1, c->t1), c->roll_2, c->t2);
        m.twist = vec3_add_scaled(m.twist, c->spin, c->n);
        b->memory[n++] = m;
    }
    for (uint64_t k = n; k < before; ++k) b->memory[k] = (contact_memory){0};
    b->contact_count->count = n;
    s->old_count = before;
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
        const contact_point *p = &c->p[i];
        if (p->total == 0.0) continue;
        const vec3 at = vec3_add(sa->position, quat_rotate(sa->attitude, p->on_a));
        r.point = vec3_add_scaled(r.point, p->total, at);
        sum += p->total;
        slowest = real_min(slowest, p->speed);
        ++r.points;
    }
    r.point = vec3_scale(1.0 / sum, r.point);
    r.speed = -slowest;
    return r;
}

static int before(uint32_t a, uint32_t b, uint32_t x, uint32_t y) { return a != x ? a < x : b < y; }

// This step's contacts and the ends of the last one's, by slots.
static void report(vy_bodies *b)
{
    contact_system *s = b->contacts;
    uint64_t old = 0, now = 0;
    uint32_t k = 0;
    s->report_count = 0;
    while (old < s->old_count || now < b->contact_count->count) {
        const contact_memory *o = old < s->old_count ? &s->old[old] : NULL;
        const contact_memory *m = now < b->contact_count->count ? &b->memory[now] : NULL;
        if (m == NULL || (o != NULL && before(o->a, o->b, m->a, m->b))) {
            s->reports[s->report_count++] = (vy_contact_report){
                .a = vy_bodies_at(b, o->a).bits, .b = vy_bodies_at(b, o->b).bits, .phase = VY_CONTACT_END};
            ++old;
            continue;
        }
        while (s->list[k].a != m->a || s->list[k].b != m->b) ++k;
        s->reports[s->report_count++] = report_of(b, &s->list[k]);
        if (o != NULL && o->a == m->a && o->b == m->b) ++old;
        ++now;
    }
}

uint32_t vy_contacts_step(vy_bodies *b, double h)
{
    if (b->contacts == NULL) return 0;
    const uint32_t full = vy_contacts_find(b, h) ? 0 : VY_BODIES_CONTACTS_FULL;
    join_islands(b);
    find_touching(b, h);
    vy_contacts_solve(b, h);
    respond(b);
    remember(b);
    report(b);
    return full;
}
