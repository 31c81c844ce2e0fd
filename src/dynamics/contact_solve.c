// contact_solve.c - contacts as soft constraints on velocities, in sub-steps.
//
// A sub-step: forces change the velocities; the pushes of the last sub-step are given again; each contact in
// turn takes away the speed at which its points close, with a spring and damper for what overlaps (Catto,
// Solver2D 2024); bodies move; each contact in turn takes away what the springs have added (relaxation).
// After the last one fast impacts bounce. Both bodies of a contact are pushed at one common point, and
// spinning bodies keep their angular momentum, so momentum and angular momentum are kept to rounding.
#include "dynamics/contacts.h"
#include "dynamics/free_step.h"

#define CONTACT_HERTZ  30.0
#define CONTACT_DAMPED 10.0 // ratio to critical damping
#define SETTLE         0.25 // [s]
#define FAST           0.1  // [m/s]
#define TWO_PI         6.283185307179586
enum { BOUNCES = 8, SWEEPS = 16 };

/// A spring and damper as the solver wants them.
typedef struct softness {
    double bias;    // [1/s] speed asked for over overlap
    double mass;    // part of the effective mass
    double impulse; // part of the push so far that is given back
} softness;

static softness soft(double hertz, double damped, double h)
{
    const double omega = TWO_PI * hertz, a1 = 2.0 * damped + h * omega, a2 = h * omega * a1,
                 a3 = 1.0 / (1.0 + a2);
    return (softness){omega / a1, a2 * a3, a3};
}

static mat3 turned(mat3 r, mat3 m) { return mat3_mul(mat3_mul(r, m), mat3_transpose(r)); }

static int is_round(const mat3 *m)
{
    return m->m[0][0] == m->m[1][1] && m->m[1][1] == m->m[2][2] && m->m[0][1] == 0.0 && m->m[0][2] == 0.0 &&
           m->m[1][2] == 0.0;
}

static void load_body(const vy_bodies *b, uint32_t i, contact_body *out)
{
    const body_state *s = &b->contacts->start[i];
    *out = (contact_body){.position = s->position, .attitude = s->attitude};
    out->rotation = quat_matrix(s->attitude);
    if (b->slots[i].kind == VY_BODY_STATIC) return;
    out->velocity = s->velocity;
    out->rate = mat3_mul_vec(out->rotation, s->rate);
    if (!body_is_dynamic(b, i)) return;
    const body_push p = push_at(b, i, s);
    out->moves = 1;
    out->inverse_mass = b->params[i].inverse_mass;
    out->round = is_round(&b->params[i].inertia);
    out->inverse_inertia =
        out->round ? b->params[i].inverse_inertia : turned(out->rotation, b->params[i].inverse_inertia);
    out->acceleration = p.acceleration;
    out->torque = p.torque;
}

static vec3 point_speed(const contact_body *a, const contact_body *b, vec3 arm_a, vec3 arm_b)
{
    const vec3 va = vec3_add(a->velocity, vec3_cross(a->rate, arm_a));
    return vec3_sub(vec3_add(b->velocity, vec3_cross(b->rate, arm_b)), va);
}

// [m/s] At which the bodies separate at a point.
static double separation(const contact_body *a, const contact_body *b, const contact *c,
                         const contact_point *p)
{
    return vec3_dot(c->n, vec3_sub(b->velocity, a->velocity)) +
           (vec3_dot(b->rate, p->turn_b) - vec3_dot(a->rate, p->turn_a));
}

// +impulse on b and -impulse on a, at the point.
static void push_apart(contact_body *a, contact_body *b, vec3 arm_a, vec3 arm_b, vec3 impulse)
{
    a->velocity = vec3_add_scaled(a->velocity, -a->inverse_mass, impulse);
    a->rate = vec3_sub(a->rate, mat3_mul_vec(a->inverse_inertia, vec3_cross(arm_a, impulse)));
    b->velocity = vec3_add_scaled(b->velocity, b->inverse_mass, impulse);
    b->rate = vec3_add(b->rate, mat3_mul_vec(b->inverse_inertia, vec3_cross(arm_b, impulse)));
}

static void twist_apart(contact_body *a, contact_body *b, vec3 impulse)
{
    a->rate = vec3_sub(a->rate, mat3_mul_vec(a->inverse_inertia, impulse));
    b->rate = vec3_add(b->rate, mat3_mul_vec(b->inverse_inertia, impulse));
}

static double effective_mass(const contact_body *a, const contact_body *b, vec3 arm_a, vec3 arm_b, vec3 u)
{
    const vec3 ra = vec3_cross(arm_a, u), rb = vec3_cross(arm_b, u);
    const double k =
        (a->inverse_mass + b->inverse_mass) + (vec3_dot(ra, mat3_mul_vec(a->inverse_inertia, ra)) +
                                               vec3_dot(rb, mat3_mul_vec(b->inverse_inertia, rb)));
    return k > 0.0 ? 1.0 / k : 0.0;
}

static double effective_inertia(const contact_body *a, const contact_body *b, vec3 u)
{
    const double k =
        vec3_dot(u, mat3_mul_vec(a->inverse_inertia, u)) + vec3_dot(u, mat3_mul_vec(b->inverse_inertia, u));
    return k > 0.0 ? 1.0 / k : 0.0;
}

// Where the points are now: the arms to the place between both surfaces, and the gap.
static void place_points(contact_system *s, contact *c)
{
    const contact_body *a = &s->body[c->a], *b = &s->body[c->b];
    const double share = b->inverse_mass / (a->inverse_mass + b->inverse_mass);
    vec3 sum = vec3_zero(), plain = vec3_zero();
    double weight = 0.0;
    for (int i = 0; i < c->count; ++i) {
        contact_point *p = &c->p[i];
        const vec3 on_a = c->round_a ? p->from_a : mat3_mul_vec(a->rotation, p->on_a);
        const vec3 on_b = c->round_b ? p->from_b : mat3_mul_vec(b->rotation, p->on_b);
        const vec3 apart = vec3_sub(b->position, a->position);
        const vec3 gap = vec3_add(vec3_sub(on_b, on_a), apart);
        // The place that touches goes with the bodies, the lighter one before all, but does not turn with
        // them: a wheel's stays under its axle.
        p->arm_a = vec3_add_scaled(p->from_a, share, vec3_sub(vec3_add(p->from_b, apart), p->from_a));
        p->arm_b = vec3_sub(p->arm_a, apart);
        p->turn_a = vec3_cross(p->arm_a, c->n);
        p->turn_b = vec3_cross(p->arm_b, c->n);
        p->gap = vec3_dot(gap, c->n);
        sum = vec3_add_scaled(sum, p->push, p->arm_a);
        plain = vec3_add(plain, p->arm_a);
        weight += p->push;
    }
    c->arm_a = weight > 0.0 ? vec3_scale(1.0 / weight, sum) : vec3_scale(1.0 / c->count, plain);
    c->arm_b = vec3_sub(c->arm_a, vec3_sub(b->position, a->position));
    double far = 0.0;
    for (int i = 0; i < c->count && weight > 0.0; ++i)
        far += c->p[i].push * vec3_length(vec3_sub(c->p[i].arm_a, c->arm_a));
    c->radius = weight > 0.0 ? far / weight : 0.0;
}

static void prepare(contact_system *s, contact *c)
{
    const contact_body *a = &s->body[c->a], *b = &s->body[c->b];
    place_points(s, c);
    for (int i = 0; i < c->count; ++i) {
        contact_point *p = &c->p[i];
        const vec3 ta = mat3_mul_vec(a->inverse_inertia, p->turn_a),
                   tb = mat3_mul_vec(b->inverse_inertia, p->turn_b);
        for (int j = 0; j < c->count; ++j)
            c->couple[i][j] = (a->inverse_mass + b->inverse_mass) +
                              (vec3_dot(ta, c->p[j].turn_a) + vec3_dot(tb, c->p[j].turn_b));
        p->mass = 1.0 / c->couple[i][i];
        p->speed = separation(a, b, c, p);
    }
    double all = 0.0;
    for (int i = 0; i < c->count; ++i) {
        for (int j = 0; j < c->count; ++j) all += c->couple[i][j];
    }
    c->together = c->count / all;
    c->mass_1 = effective_mass(a, b, c->arm_a, c->arm_b, c->t1);
    c->mass_2 = effective_mass(a, b, c->arm_a, c->arm_b, c->t2);
    c->spin_mass = effective_inertia(a, b, c->n);
    if (c->rolling > 0.0)
        c->roll_mass = real_min(effective_inertia(a, b, c->t1), effective_inertia(a, b, c->t2));
}

// Pushes of `by[i]` along the normal at all points at once.
static void push_points(contact *c, contact_body *a, contact_body *b, const double by[VY_MANIFOLD_POINTS])
{
    vec3 turn_a = vec3_zero(), turn_b = vec3_zero();
    double sum = 0.0;
    for (int i = 0; i < c->count; ++i) {
        turn_a = vec3_add_scaled(turn_a, by[i], c->p[i].turn_a);
        turn_b = vec3_add_scaled(turn_b, by[i], c->p[i].turn_b);
        sum += by[i];
    }
    a->velocity = vec3_add_scaled(a->velocity, -sum * a->inverse_mass, c->n);
    b->velocity = vec3_add_scaled(b->velocity, sum * b->inverse_mass, c->n);
    a->rate = vec3_sub(a->rate, mat3_mul_vec(a->inverse_inertia, turn_a));
    b->rate = vec3_add(b->rate, mat3_mul_vec(b->inverse_inertia, turn_b));
}

static void warm_start(contact_system *s, contact *c)
{
    contact_body *a = &s->body[c->a], *b = &s->body[c->b];
    double push[VY_MANIFOLD_POINTS];
    for (int i = 0; i < c->count; ++i) push[i] = c->p[i].push;
    push_points(c, a, b, push);
    push_apart(a, b, c->arm_a, c->arm_b, vec3_add_scaled(vec3_scale(c->drag_1, c->t1), c->drag_2, c->t2));
    const vec3 roll = vec3_add_scaled(vec3_scale(c->roll_1, c->t1), c->roll_2, c->t2);
    twist_apart(a, b, vec3_add_scaled(roll, c->spin, c->n));
}

// Of two impulses across each other, both cut so that they are no longer than `most` together.
static void cut_to(double most, double *x, double *y)
{
    const double length2 = *x * *x + *y * *y;
    if (!(length2 > most * most)) return;
    const double k = most / real_sqrt(length2);
    *x *= k;
    *y *= k;
}

// Friction by Coulomb's cone, and torques against spinning and rolling, all limited by the push of the
// points.
static void rub(contact *c, contact_body *a, contact_body *b)
{
    double push = 0.0;
    for (int i = 0; i < c->count; ++i) push += c->p[i].push;
    if (c->rolling > 0.0) {
        const vec3 w = vec3_sub(b->rate, a->rate);
        const double old_1 = c->roll_1, old_2 = c->roll_2;
        c->roll_1 -= c->roll_mass * vec3_dot(w, c->t1);
        c->roll_2 -= c->roll_mass * vec3_dot(w, c->t2);
        cut_to(c->rolling * push, &c->roll_1, &c->roll_2);
        twist_apart(a, b, vec3_add_scaled(vec3_scale(c->roll_1 - old_1, c->t1), c->roll_2 - old_2, c->t2));
    }
    const double most_spin = (c->friction * c->radius + c->spinning) * push;
    if (most_spin > 0.0 || c->spin != 0.0) {
        const double old = c->spin, w = vec3_dot(vec3_sub(b->rate, a->rate), c->n);
        c->spin = real_clamp(old - c->spin_mass * w, -most_spin, most_spin);
        twist_apart(a, b, vec3_scale(c->spin - old, c->n));
    }
    if (c->friction > 0.0) {
        const vec3 v = point_speed(a, b, c->arm_a, c->arm_b);
        const double old_1 = c->drag_1, old_2 = c->drag_2;
        c->drag_1 -= c->mass_1 * vec3_dot(v, c->t1);
        c->drag_2 -= c->mass_2 * vec3_dot(v, c->t2);
        cut_to(c->friction * push, &c->drag_1, &c->drag_2);
        push_apart(a, b, c->arm_a, c->arm_b,
                   vec3_add_scaled(vec3_scale(c->drag_1 - old_1, c->t1), c->drag_2 - old_2, c->t2));
    }
}

// The pushes of all points together: sweeps over their few numbers, there and back, so that none is favoured;
// then the bodies feel them.
static void solve_contact(const vy_bodies *b, contact *c, const softness *spring, double h, int use_bias)
{
    contact_body *ba = &b->contacts->body[c->a], *bb = &b->contacts->body[c->b];
    double speed[VY_MANIFOLD_POINTS], bias[VY_MANIFOLD_POINTS], mass[VY_MANIFOLD_POINTS],
        keep[VY_MANIFOLD_POINTS], hold[VY_MANIFOLD_POINTS], by[VY_MANIFOLD_POINTS] = {0.0};
    const int n = c->count;
    for (int i = 0; i < n; ++i) {
        const contact_point *p = &c->p[i];
        const int soft_one = use_bias && p->gap < -b->def.contacts.slop;
        const double overlap = real_min(p->gap + b->def.contacts.slop, 0.0);
        bias[i] = p->gap > 0.0 ? p->gap / h // it may close, but no more
                  : use_bias   ? real_max(spring->bias * overlap, -b->def.contacts.push_speed)
                               : 0.0;
        mass[i] = soft_one ? spring->mass * p->mass : p->mass;
        keep[i] = soft_one ? 1.0 - spring->impulse : 1.0;
        hold[i] = soft_one ? spring->impulse * c->load / n : 0.0;
        speed[i] = separation(ba, bb, c, p);
    }
    if (n > 1) {
        // First what all need alike, so that none is favoured.
        double need = 0.0;
        for (int i = 0; i < n; ++i)
            need += keep[i] * c->p[i].push + hold[i] - c->p[i].push -
                    mass[i] / c->p[i].mass * c->together * (speed[i] + bias[i]);
        need /= n;
        for (int i = 0; i < n; ++i) {
            by[i] = real_max(need, -c->p[i].push);
            for (int j = 0; j < n; ++j) speed[j] += c->couple[i][j] * by[i];
        }
    }
    // One sweep is enough at rest; where points still close fast, an impact, they need more.
    double worst = 1.0;
    for (int sweep = 0; sweep < SWEEPS && worst > 0.0; ++sweep) {
        for (int k = 0; k < n; ++k) {
            const int i = sweep % 2 == 0 ? k : n - 1 - k;
            const double old = c->p[i].push + by[i];
            const double change =
                real_max(keep[i] * old + hold[i] - mass[i] * (speed[i] + bias[i]), 0.0) - old;
            by[i] += change;
            for (int j = 0; j < n; ++j) speed[j] += c->couple[i][j] * change;
        }
        worst = 0.0;
        for (int i = 0; i < n; ++i) worst = real_max(worst, -(speed[i] + bias[i]) - FAST);
    }
    push_points(c, ba, bb, by);
    for (int i = 0; i < n; ++i) {
        c->p[i].push += by[i];
        c->p[i].most = real_max(c->p[i].most, c->p[i].push);
    }
    rub(c, ba, bb);
}

static void accelerate(contact_body *s, double h)
{
    s->velocity = vec3_add_scaled(s->velocity, h, s->acceleration);
    s->rate =
        vec3_add_scaled(s->rate, h, mat3_mul_vec(s->inverse_inertia, mat3_mul_vec(s->rotation, s->torque)));
}

static quat turned_by(quat q, mat3 rotation, vec3 rate, double h)
{
    return quat_normalize(quat_add_scaled(q, h, attitude_derivative(q, mat3_tmul_vec(rotation, rate))));
}

// The midpoint rule for a free turn: the angular momentum stays, and the rate is what it asks for.
static void move(contact_body *s, const body_params *params, double h)
{
    s->position = vec3_add_scaled(s->position, h, s->velocity);
    if (s->round || !s->moves) {
        s->attitude = turned_by(s->attitude, s->rotation, s->rate, h);
        s->rotation = quat_matrix(s->attitude);
        return;
    }
    const mat3 r = s->rotation;
    const vec3 momentum = mat3_mul_vec(r, mat3_mul_vec(params->inertia, mat3_tmul_vec(r, s->rate)));
    const mat3 half = quat_matrix(turned_by(s->attitude, r, s->rate, 0.5 * h));
    const vec3 rate =
        mat3_mul_vec(half, mat3_mul_vec(params->inverse_inertia, mat3_tmul_vec(half, momentum)));
    const quat q = s->attitude;
    const vec3 body_rate = mat3_tmul_vec(half, rate);
    s->attitude = quat_normalize(quat_add_scaled(
        q, h,
        attitude_derivative(quat_normalize(quat_add_scaled(q, 0.5 * h, attitude_derivative(q, body_rate))),
                            body_rate)));
    s->rotation = quat_matrix(s->attitude);
    s->inverse_inertia = turned(s->rotation, params->inverse_inertia);
    s->rate = mat3_mul_vec(s->inverse_inertia, momentum);
}

// Points that closed faster than that leave with their part of the speed.
static void bounce(const vy_bodies *b, contact *c, double threshold)
{
    contact_system *s = b->contacts;
    contact_body *ba = &s->body[c->a], *bb = &s->body[c->b];
    for (int i = 0; i < c->count; ++i) {
        contact_point *p = &c->p[i];
        if (p->speed > -threshold || p->most == 0.0) continue;
        const double speed = separation(ba, bb, c, p);
        const double push = real_max(p->push - p->mass * (speed + c->restitution * p->speed), 0.0);
        push_apart(ba, bb, p->arm_a, p->arm_b, vec3_scale(push - p->push, c->n));
        c->impulse = vec3_add_scaled(c->impulse, push - p->push, c->n);
        p->total += push - p->push;
        p->push = push;
    }
}

static void add_up(contact *c, double settle)
{
    double push = 0.0;
    for (int i = 0; i < c->count; ++i) {
        contact_point *p = &c->p[i];
        p->total += p->push;
        push += p->push;
        c->impulse = vec3_add_scaled(c->impulse, p->push, c->n);
    }
    c->load += settle * (push - c->load);
    c->impulse = vec3_add_scaled(vec3_add_scaled(c->impulse, c->drag_1, c->t1), c->drag_2, c->t2);
}

static void substep(vy_bodies *b, double h, const softness spring[2])
{
    contact_system *s = b->contacts;
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (s->solved[i] && s->body[i].moves) accelerate(&s->body[i], h);
    }
    for (uint32_t k = 0; k < s->count; ++k) {
        if (s->list[k].active) warm_start(s, &s->list[k]);
    }
    for (uint32_t k = 0; k < s->count; ++k) {
        if (s->list[k].active) solve_contact(b, &s->list[k], &spring[s->list[k].rigid], h, 1);
    }
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (s->solved[i] && b->slots[i].kind != VY_BODY_STATIC) move(&s->body[i], &b->params[i], h);
    }
    for (uint32_t k = 0; k < s->count; ++k) {
        if (!s->list[k].active) continue;
        place_points(s, &s->list[k]);
        solve_contact(b, &s->list[k], &spring[0], h, 0);
        add_up(&s->list[k], h / SETTLE);
    }
}

static void store(vy_bodies *b)
{
    const contact_system *s = b->contacts;
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (!s->solved[i] || !s->body[i].moves) continue;
        const contact_body *from = &s->body[i];
        const body_state n = {from->position, from->velocity, from->attitude,
                              mat3_tmul_vec(from->rotation, from->rate)};
        if (body_is_finite(&n)) {
            b->state[i] = n;
        } else {
            b->state[i] = s->start[i];
            b->head->failed = 1;
        }
    }
}

void vy_contacts_solve(vy_bodies *b, double h)
{
    contact_system *s = b->contacts;
    const double ratio = h / b->def.contacts.substep * (1.0 - 1e-12);
    const int steps = (int)ratio + ((double)(int)ratio < ratio);
    const double each = h / (double)steps;
    const double hertz = real_min(CONTACT_HERTZ, 0.25 / each);
    const softness spring[2] = {soft(hertz, CONTACT_DAMPED, each), soft(2.0 * hertz, CONTACT_DAMPED, each)};
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (s->solved[i]) load_body(b, i, &s->body[i]);
    }
    for (uint32_t k = 0; k < s->count; ++k) {
        if (s->list[k].active) prepare(s, &s->list[k]);
    }
    for (int k = 0; k < steps; ++k) substep(b, each, spring);
    const double threshold = b->def.contacts.restitution_speed + 2.0 * h * vec3_length(b->def.gravity);
    for (int n = 0; n < BOUNCES; ++n) {
        for (uint32_t k = 0; k < s->count; ++k) {
            if (s->list[k].active && s->list[k].restitution > 0.0) bounce(b, &s->list[k], threshold);
        }
    }
    store(b);
}
