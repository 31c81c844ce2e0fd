// contact_joints.c - the joints of an island that touches, in its sub-steps: rows, impulses, and cables and
// limits that catch or let go.
//
// With C, J and J'v at the start of a sub-step of length h, joints ask for
//   J v = -(C/h + h/2 J'v),
// so that C = 0 at its end but for terms of order h^3; Newton's steps take those away, by impulses that act
// where the bodies were, so that angular momentum stays (SHAKE: Ryckaert, Ciccotti and Berendsen 1977). Then,
// where the bodies are now, J v = 0 (RATTLE: Andersen 1983): so velocities are bent along curves without loss
// of energy.
#include "dynamics/contact_joints.h"
#include "dynamics/contact_body.h"

enum { CHANGES = 8 };

#define REACH 1e-9 // of the island's size: a unilateral row that is passed

static vec3 *asked_of(const joint_system *s) { return s->right + s->block_count; }
static vec3 *total_of(const joint_system *s) { return s->right + (size_t)2 * s->block_count; }
static const island *island_at(const tied_joints *t, uint32_t n)
{
    return &t->b->joints->islands[t->islands[n]];
}

// ---- where the bodies are

static body_state driven_at(const vy_bodies *b, uint32_t i, double elapsed)
{
    const body_state *start = &b->contacts->start[i];
    return b->slots[i].kind == VY_BODY_KINEMATIC ? body_coast(start, elapsed) : *start;
}

static void place(const contact_body *from, body_state *to)
{
    to->position = vec3_add(from->position, vec3_of(from->moved));
    to->attitude = from->attitude;
}

static void load_speeds(const tied_joints *t, const island *is)
{
    joint_system *s = t->b->joints;
    for (uint32_t n = is->body_first; n < is->moving_last; ++n) {
        const uint32_t i = s->members[n];
        const contact_motion *m = &t->b->contacts->motion[i];
        s->stage[i].velocity = vec3_of(m->velocity);
        s->work[i].rate = vec3_of(m->rate);
    }
}

static void load_island(const tied_joints *t, const island *is, double elapsed)
{
    vy_bodies *b = t->b;
    joint_system *s = b->joints;
    load_speeds(t, is);
    for (uint32_t n = is->body_first; n < is->moving_last; ++n) {
        const uint32_t i = s->members[n];
        const contact_body *from = &b->contacts->body[i];
        body_work *w = &s->work[i];
        place(from, &s->stage[i]);
        s->stage[i].rate = mat3_tmul_vec(from->rotation, w->rate);
        w->rotation = from->rotation;
        w->inverse_mass = from->inverse_mass;
        w->inverse_inertia = inverse_of(from);
    }
    for (uint32_t n = is->moving_last; n < is->body_last; ++n) {
        const uint32_t i = s->members[n];
        body_work *w = &s->work[i];
        s->stage[i] = driven_at(b, i, elapsed);
        *w = (body_work){.rotation = quat_matrix(s->stage[i].attitude)};
        w->rate = mat3_mul_vec(w->rotation, s->stage[i].rate);
    }
}

static void factor(const tied_joints *t, const island *is, double time)
{
    vy_island_rows(t->b, is, time);
    vy_island_matrix(t->b->joints, is);
    (void)vy_island_factor(t->b->joints, is);
}

void vy_tied_prepare(tied_joints *t, double after)
{
    for (uint32_t n = 0; n < t->count; ++n) {
        load_island(t, island_at(t, n), t->elapsed + after);
        factor(t, island_at(t, n), t->time + after);
    }
}

// ---- impulses

static void zero_changes(joint_system *s, const island *is)
{
    for (uint32_t n = is->body_first; n < is->body_last; ++n)
        s->work[s->members[n]].linear = s->work[s->members[n]].angular = vec3_zero();
}

// What the work's changes do to the bodies, `by` times.
static void change_speeds(const tied_joints *t, const island *is, double by)
{
    const joint_system *s = t->b->joints;
    for (uint32_t n = is->body_first; n < is->moving_last; ++n) {
        const uint32_t i = s->members[n];
        contact_motion *m = &t->b->contacts->motion[i];
        put(m->velocity, vec3_add_scaled(vec3_of(m->velocity), by, s->work[i].linear));
        put(m->rate, vec3_add_scaled(vec3_of(m->rate), by, s->work[i].angular));
    }
}

// The impulses in right[], to the bodies and to the sums of the sub-step.
static void give(const tied_joints *t, const island *is)
{
    joint_system *s = t->b->joints;
    vec3 *const total = total_of(s);
    for (uint32_t k = is->block_first; k < is->block_last; ++k) total[k] = vec3_add(total[k], s->right[k]);
    zero_changes(s, is);
    vy_island_apply(s, is);
    change_speeds(t, is, 1.0);
}

// Returns twice the kinetic energy of what the impulses change.
static double hold(const tied_joints *t, const island *is, int closing)
{
    joint_system *s = t->b->joints;
    vec3 *const asked = asked_of(s);
    double energy = 0.0;
    load_speeds(t, is);
    for (uint32_t k = is->block_first; k < is->block_last; ++k) {
        const row_block *r = &s->rows[k];
        vec3 v = vy_block_speed(s, k);
        if (closing) v = vec3_add_scaled(vec3_add_scaled(v, 1.0 / t->h, r->value), 0.5 * t->h, r->bias);
        s->right[k] = asked[k] = vec3_neg(v);
    }
    vy_island_solve(s, is);
    for (uint32_t k = is->block_first; k < is->block_last; ++k) energy += vec3_dot(asked[k], s->right[k]);
    give(t, is);
    return energy;
}

void vy_tied_push(tied_joints *t)
{
    vy_bodies *b = t->b;
    joint_system *s = b->joints;
    vec3 *const total = total_of(s);
    for (uint32_t n = 0; n < t->count; ++n) {
        const island *is = island_at(t, n);
        for (uint32_t k = is->block_first; k < is->block_last; ++k) total[k] = vec3_zero();
        zero_changes(s, is);
        for (uint32_t m = is->joint_first; m < is->joint_last; ++m) {
            const uint32_t j = s->ties[m], x = s->slots[j].body[0], y = s->slots[j].body[1];
            vy_joint_push(&s->slots[j], &b->joint_state[j], &s->stage[x], &s->stage[y], &s->work[x],
                          &s->work[y]);
        }
        change_speeds(t, is, t->h);
    }
}

// ---- cables and limits

// Take back what a stop has given so far: it may not pull.
static void let_go(const tied_joints *t, const island *is, const stop *x)
{
    joint_system *s = t->b->joints;
    const double given = stop_part(s, x, total_of(s));
    const int r = x->row % BLOCK_ROWS;
    for (uint32_t k = is->block_first; k < is->block_last; ++k) s->right[k] = vec3_zero();
    s->right[stop_block(s, x)] =
        vec3_make(r == 0 ? -given : 0.0, r == 1 ? -given : 0.0, r == 2 ? -given : 0.0);
    give(t, is);
    stop_set(t->b, x, 0);
}

static const stop *worst_stop(const tied_joints *t, const island *is)
{
    const joint_system *s = t->b->joints;
    const stop *worst = NULL;
    double least = 0.0;
    for (uint32_t n = is->stop_first; n < is->stop_last; ++n) {
        const stop *x = &s->stops[n];
        const double pull = stop_acts(t->b, x) ? stop_part(s, x, total_of(s)) : 0.0;
        if (pull >= least) continue;
        least = pull;
        worst = x;
    }
    return worst;
}

// Where a body would be at the end of the sub-step.
static body_state ahead(const tied_joints *t, uint32_t i)
{
    const vy_bodies *b = t->b;
    const joint_system *s = b->joints;
    if (i == b->def.body_cap) return s->stage[i];
    if (!body_is_dynamic(b, i)) return driven_at(b, i, t->elapsed + t->h);
    const contact_motion *m = &b->contacts->motion[i];
    body_state e = s->stage[i];
    e.position = vec3_add_scaled(e.position, t->h, vec3_of(m->velocity));
    e.attitude = turned_by(e.attitude, s->work[i].rotation, vec3_of(m->rate), t->h);
    return e;
}

// Stops that would be passed within the sub-step, and do not act, catch. Returns whether one does.
static int catch_stops(const tied_joints *t, const island *is)
{
    const joint_system *s = t->b->joints;
    const double reach = REACH * vy_island_extent(s, is);
    int caught = 0;
    for (uint32_t n = is->stop_first; n < is->stop_last; ++n) {
        const stop *x = &s->stops[n];
        const joint_slot *j = &s->slots[x->joint];
        if (stop_acts(t->b, x)) continue;
        const body_state a = ahead(t, j->body[0]), b = ahead(t, j->body[1]);
        if (!(vy_stop_distance(j, x->row, &a, &b, t->time + t->h) < -reach)) continue;
        stop_set(t->b, x, 1);
        caught = 1;
    }
    return caught;
}

// Whether another set of stops acts now.
static int change_stops(const tied_joints *t, const island *is, int closing)
{
    const stop *worst = worst_stop(t, is);
    if (worst != NULL) {
        let_go(t, is, worst);
    } else if (!closing || !catch_stops(t, is)) {
        return 0;
    }
    factor(t, is, closing ? t->time : t->time + t->h);
    return 1;
}

double vy_tied_hold(tied_joints *t, int closing)
{
    double energy = 0.0;
    for (uint32_t n = 0; n < t->count; ++n) {
        const island *is = island_at(t, n);
        energy += hold(t, is, closing);
        if (is->stop_first == is->stop_last) continue;
        for (int k = 0; k < CHANGES && change_stops(t, is, closing); ++k) (void)hold(t, is, closing);
    }
    return real_sqrt(real_max(energy, 0.0) / t->mass);
}

// ---- gaps

static double masked(double x, int present, int row) { return (present >> row) & 1 ? x : 0.0; }

double vy_tied_gap(const tied_joints *t)
{
    const vy_bodies *b = t->b;
    joint_system *s = b->joints;
    double most = 0.0;
    for (uint32_t n = 0; n < t->count; ++n) {
        const island *is = island_at(t, n);
        const double per = 1.0 / vy_island_extent(s, is);
        for (uint32_t m = is->body_first; m < is->moving_last; ++m)
            place(&b->contacts->body[s->members[m]], &s->start[s->members[m]]);
        for (uint32_t m = is->moving_last; m < is->body_last; ++m)
            s->start[s->members[m]] = driven_at(b, s->members[m], t->elapsed + t->h);
        for (uint32_t m = is->joint_first; m < is->joint_last; ++m) {
            const joint_slot *j = &s->slots[s->ties[m]];
            const uint32_t x = j->body[0], y = j->body[1];
            double v[VY_CONSTRAINT_ROWS];
            if (j->blocks == 0) continue;
            vy_joint_values(j, x == b->def.body_cap ? &s->stage[x] : &s->start[x],
                            y == b->def.body_cap ? &s->stage[y] : &s->start[y], t->time + t->h, v);
            for (int k = 0; k < j->blocks; ++k) {
                const int on = s->rows[j->first + (uint32_t)k].present;
                const vec3 c = vec3_make(masked(v[3 * k], on, 0), masked(v[3 * k + 1], on, 1),
                                         masked(v[3 * k + 2], on, 2));
                asked_of(s)[j->first + (uint32_t)k] = c;
                most = real_max(most, per * real_max(real_max(real_abs(c.x), real_abs(c.y)), real_abs(c.z)));
            }
        }
    }
    return most;
}

void vy_tied_close(tied_joints *t)
{
    joint_system *s = t->b->joints;
    for (uint32_t n = 0; n < t->count; ++n) {
        const island *is = island_at(t, n);
        for (uint32_t k = is->block_first; k < is->block_last; ++k)
            s->right[k] = vec3_scale(-1.0 / t->h, asked_of(s)[k]);
        vy_island_solve(s, is);
        give(t, is);
    }
}

void vy_tied_keep(tied_joints *t)
{
    joint_system *s = t->b->joints;
    for (uint32_t n = 0; n < t->count; ++n) {
        const island *is = island_at(t, n);
        for (uint32_t m = is->joint_first; m < is->joint_last; ++m) {
            joint_slot *j = &s->slots[s->ties[m]];
            for (int k = 0; k < j->blocks; ++k)
                j->lambda[k] = vec3_scale(1.0 / t->h, total_of(s)[j->first + (uint32_t)k]);
        }
    }
}
