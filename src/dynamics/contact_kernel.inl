// contact_kernel.inl - contacts solved side by side, for the VY_LANES of the including file, which also
// defines KERNEL_NAME (text) and KERNEL_TABLE (symbol).
//
// Points that a lane does not have are zeros: they change nothing. What a lane computes beyond that is
// thrown away by real_select, never by a branch, so that packs may be put together in any way.
#include "base/vec.h"
#include "dynamics/contact_kernel.h"

enum { SWEEPS = 8, POINTS = VY_MANIFOLD_POINTS };
#define FAST 0.1 // [m/s]

typedef struct pack_point {
    real mass; // [kg] effective, along the normal
    real push; // [N s] so far
    real gap;  // [m] now
} pack_point;

/// What only moving and adding up need, and `from`.
typedef struct pack_past {
    vec3 from;  // [m] on a at the start of the step, world
    real gap;   // [m] then
    real speed; // [m/s] of separation then
    real most;  // [N s] largest push of all sub-steps, where something bounces
    real total; // [N s]
} pack_past;

/// Every number of it is read in every sub-step, so what is quickly found anew is not in it: see pack_view.
typedef struct pack {
    uint32_t a[VY_LANES], b[VY_LANES], contact[VY_LANES];
    int write_a[VY_LANES], write_b[VY_LANES]; // 1: it moves
    uint32_t lanes;                           // in use
    int points;                               // 1, 2 or 4: no lane has more
    int rolls, bounces;                       // some lane does
    vec3 n, t1;
    vec3 apart; // [m] from a's centre of mass to b's, now
    vec3 along; // [m] how far the place that touches has gone
    vec3 arm_a; // [m] to the mean of the pushes, where friction acts
    real count, per_count;
    real friction, rolling, spinning;
    real load;
    real radius;                    // [m] mean distance of the pushes from where friction acts
    real grip_11, grip_12, grip_22; // [kg] effective, across the normal: impulse by speed
    real roll_mass, spin_mass;      // [kg m^2] effective
    real drag_1, drag_2, roll_1, roll_2, spin;
    real together;               // [kg] effective, for a push shared evenly by all points
    real couple[POINTS][POINTS]; // [1/kg] speed at one point by a push at another; only j >= i is used
    pack_point p[POINTS];
    vec3 first;   // [m] apart at the start of the step
    vec3 impulse; // [N s] on b
    real share;   // of b's inverse mass in both: the point goes with the lighter one
    real restitution;
    pack_past past[POINTS];
} pack;

/// Velocities of both bodies of each lane.
typedef struct pack_motion {
    vec3 va, wa, vb, wb;
} pack_motion;

/// What follows from the pack and its bodies.
typedef struct pack_view {
    real inverse_a[6], inverse_b[6], mass_a, mass_b; // inverse inertia and mass
    vec3 t2;                                         // across, too
    vec3 turn[POINTS];                               // [m] a's arm x normal
    vec3 shift;                                      // [m] apart x n: b's arm x normal is turn - shift
} pack_view;

// ---- bodies to lanes and back

VY_FN pack_motion load_motion(const contact_job *job, const pack *p)
{
    const double *a[VY_LANES], *b[VY_LANES];
    real x[8], y[8];
    for (int i = 0; i < VY_LANES; ++i) {
        a[i] = job->motion[p->a[i]].velocity;
        b[i] = job->motion[p->b[i]].velocity;
    }
    real_load_rows(a, x);
    real_load_rows(b, y);
    const pack_motion v = {vec3_make(x[0], x[1], x[2]), vec3_make(x[3], x[4], x[5]),
                           vec3_make(y[0], y[1], y[2]), vec3_make(y[3], y[4], y[5])};
    return v;
}

VY_FN void load_masses(const contact_job *job, const pack *p, pack_view *w)
{
    const double *a[VY_LANES], *b[VY_LANES];
    real x[8];
    for (int i = 0; i < VY_LANES; ++i) {
        a[i] = job->body[p->a[i]].inverse;
        b[i] = job->body[p->b[i]].inverse;
    }
    real_load_rows(a, x);
    for (int k = 0; k < 6; ++k) w->inverse_a[k] = x[k];
    w->mass_a = x[6];
    real_load_rows(b, x);
    for (int k = 0; k < 6; ++k) w->inverse_b[k] = x[k];
    w->mass_b = x[6];
}

VY_FN mask has_point(const pack *p, int i) { return p->count > (double)i; }

// Levers of points that are where the pack says.
VY_FN void find_levers(const pack *p, int n, pack_view *w)
{
    const vec3 more = vec3_cross(p->along, p->n);
    w->t2 = vec3_cross(p->n, p->t1);
    w->shift = vec3_cross(p->apart, p->n);
    for (int i = 0; i < n; ++i) {
        const vec3 turn = vec3_add(vec3_cross(p->past[i].from, p->n), more);
        w->turn[i] = vec3_select(has_point(p, i), turn, vec3_zero());
    }
}

VY_FN void load_view(const contact_job *job, const pack *p, int n, pack_view *w)
{
    load_masses(job, p, w);
    find_levers(p, n, w);
}

// Two vectors as a row, to where the lane's body is; what does not move has its row in `nowhere`.
VY_FN void store_row(double *const to[VY_LANES], vec3 u, vec3 v)
{
    const real x[8] = {u.x, u.y, u.z, v.x, v.y, v.z, real_set(0.0), real_set(0.0)};
    real_store_rows(to, x);
}

VY_FN void store_motion(const contact_job *job, const pack *p, const pack_motion *v)
{
    double nowhere[8];
    double *a[VY_LANES], *b[VY_LANES];
    for (int i = 0; i < VY_LANES; ++i) {
        a[i] = p->write_a[i] ? job->motion[p->a[i]].velocity : nowhere;
        b[i] = p->write_b[i] ? job->motion[p->b[i]].velocity : nowhere;
    }
    store_row(a, v->va, v->wa);
    store_row(b, v->vb, v->wb);
}

// Impulse and twist, added to what the bodies are given again.
VY_FN void add_row(double *const to[VY_LANES], vec3 push, vec3 twist)
{
    real x[8];
    real_load_rows((const double *const *)to, x);
    store_row(to, vec3_add(vec3_make(x[0], x[1], x[2]), push), vec3_add(vec3_make(x[3], x[4], x[5]), twist));
}

VY_FN vec3 turn_by(const real inverse[6], vec3 v)
{
    return vec3_make((inverse[0] * v.x + inverse[1] * v.y) + inverse[2] * v.z,
                     (inverse[1] * v.x + inverse[3] * v.y) + inverse[4] * v.z,
                     (inverse[2] * v.x + inverse[4] * v.y) + inverse[5] * v.z);
}

// ---- one contact per lane

VY_FN vec3 turn_b(const pack_view *w, int i) { return vec3_sub(w->turn[i], w->shift); }

// [m/s] At which the bodies separate at a point.
VY_FN real separation(const pack *p, const pack_view *w, const pack_motion *v, int i)
{
    return vec3_dot(p->n, vec3_sub(v->vb, v->va)) +
           (vec3_dot(v->wb, turn_b(w, i)) - vec3_dot(v->wa, w->turn[i]));
}

// +impulse on b and -impulse on a, which turn them by the same about each centre of mass.
VY_FN void push_apart(const pack_view *w, pack_motion *v, vec3 impulse, vec3 turn_a, vec3 turn_b)
{
    v->va = vec3_add_scaled(v->va, -w->mass_a, impulse);
    v->vb = vec3_add_scaled(v->vb, w->mass_b, impulse);
    v->wa = vec3_sub(v->wa, turn_by(w->inverse_a, turn_a));
    v->wb = vec3_add(v->wb, turn_by(w->inverse_b, turn_b));
}

VY_FN void twist_apart(const pack_view *w, pack_motion *v, vec3 twist)
{
    v->wa = vec3_sub(v->wa, turn_by(w->inverse_a, twist));
    v->wb = vec3_add(v->wb, turn_by(w->inverse_b, twist));
}

// Of two impulses across each other, both cut so that they are no longer than `most` together.
VY_FN void cut_to(real most, real *x, real *y)
{
    const real length2 = *x * *x + *y * *y;
    const real k = real_select(length2 > most * most, most / real_sqrt(length2), real_set(1.0));
    *x = *x * k;
    *y = *y * k;
}

VY_FN vec3 along_both(real x, vec3 t1, real y, vec3 t2) { return vec3_add_scaled(vec3_scale(x, t1), y, t2); }

// Friction by Coulomb's cone, and torques against spinning and rolling, all limited by the push of the
// points.
VY_FN void rub(pack *p, const pack_view *w, pack_motion *v, int n)
{
    real push = real_set(0.0);
    for (int i = 0; i < n; ++i) push = push + p->p[i].push;
    if (p->rolls) {
        const vec3 rate = vec3_sub(v->wb, v->wa);
        const real old_1 = p->roll_1, old_2 = p->roll_2;
        const mask rolls = p->rolling > 0.0;
        p->roll_1 = old_1 - p->roll_mass * vec3_dot(rate, p->t1);
        p->roll_2 = old_2 - p->roll_mass * vec3_dot(rate, w->t2);
        cut_to(p->rolling * push, &p->roll_1, &p->roll_2);
        pack_motion after = *v;
        twist_apart(w, &after, along_both(p->roll_1 - old_1, p->t1, p->roll_2 - old_2, w->t2));
        v->wa = vec3_select(rolls, after.wa, v->wa);
        v->wb = vec3_select(rolls, after.wb, v->wb);
    }
    const real most_spin = (p->friction * p->radius + p->spinning) * push;
    const real old = p->spin, rate = vec3_dot(vec3_sub(v->wb, v->wa), p->n);
    p->spin = real_clamp(old - p->spin_mass * rate, -most_spin, most_spin);
    twist_apart(w, v, vec3_scale(p->spin - old, p->n));

    const vec3 arm_b = vec3_sub(p->arm_a, p->apart);
    const vec3 at_a = vec3_add(v->va, vec3_cross(v->wa, p->arm_a)),
               at_b = vec3_add(v->vb, vec3_cross(v->wb, arm_b)), slip = vec3_sub(at_b, at_a);
    const real old_1 = p->drag_1, old_2 = p->drag_2;
    const real slip_1 = vec3_dot(slip, p->t1), slip_2 = vec3_dot(slip, w->t2);
    p->drag_1 = old_1 - (p->grip_11 * slip_1 + p->grip_12 * slip_2);
    p->drag_2 = old_2 - (p->grip_12 * slip_1 + p->grip_22 * slip_2);
    cut_to(p->friction * push, &p->drag_1, &p->drag_2);
    const vec3 drag = along_both(p->drag_1 - old_1, p->t1, p->drag_2 - old_2, w->t2);
    push_apart(w, v, drag, vec3_cross(p->arm_a, drag), vec3_cross(arm_b, drag));
}

/// What the points of a contact ask for.
typedef struct pack_rows {
    real speed[POINTS], bias[POINTS], mass[POINTS], keep[POINTS], hold[POINTS], by[POINTS];
} pack_rows;

VY_FN void ask(const contact_job *job, const pack *p, const pack_view *w, const pack_motion *v, int n,
               int springs, pack_rows *r)
{
    const mask free = (w->mass_a > 0.0) & (w->mass_b > 0.0); // both move
    const contact_spring *s = job->spring;
    for (int i = 0; i < n; ++i) {
        const pack_point *q = &p->p[i];
        r->speed[i] = real_select(has_point(p, i), separation(p, w, v, i), real_set(0.0));
        r->by[i] = real_set(0.0);
        r->mass[i] = r->keep[i] = real_set(1.0); // of the effective mass, first
        r->hold[i] = r->bias[i] = real_set(0.0);
        if (springs) {
            const mask soft = q->gap < -job->slop;
            const real bias = real_select(free, real_set(s[0].bias), real_set(s[1].bias)),
                       mass = real_select(free, real_set(s[0].mass), real_set(s[1].mass)),
                       back = real_select(free, real_set(s[0].impulse), real_set(s[1].impulse));
            const real over = real_min(q->gap + job->slop, real_set(0.0));
            r->bias[i] = real_max(bias * over, real_set(-job->push_speed));
            r->mass[i] = real_select(soft, mass, r->mass[i]);
            r->keep[i] = real_select(soft, 1.0 - back, r->keep[i]);
            r->hold[i] = real_select(soft, back * p->load * p->per_count, r->hold[i]);
        }
        // It may close, but no more.
        r->bias[i] = real_select(q->gap > 0.0, q->gap * job->per_h, r->bias[i]);
    }
}

VY_FN void spread(const pack *p, pack_rows *r, int n, int i, real change)
{
    r->by[i] = r->by[i] + change;
    for (int j = 0; j < n; ++j)
        r->speed[j] = r->speed[j] + (j < i ? p->couple[j][i] : p->couple[i][j]) * change;
}

// What all points of a contact need alike, so that none is favoured.
VY_FN void share_out(const pack *p, pack_rows *r, int n)
{
    const mask several = p->count > 1.5;
    real need = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        const real push = p->p[i].push;
        need = need + (((r->keep[i] * push + r->hold[i]) - push) -
                       r->mass[i] * p->together * (r->speed[i] + r->bias[i]));
    }
    need = need * p->per_count;
    for (int i = 0; i < n; ++i) {
        const real by = real_max(need, -p->p[i].push);
        spread(p, r, n, i, real_select(several & has_point(p, i), by, real_set(0.0)));
    }
}

VY_FN void sweep(const pack *p, pack_rows *r, int n, int i, mask go)
{
    const real old = p->p[i].push + r->by[i];
    const real ask = (r->keep[i] * old + r->hold[i]) - r->mass[i] * p->p[i].mass * (r->speed[i] + r->bias[i]);
    const real change = real_max(ask, real_set(0.0)) - old;
    spread(p, r, n, i, real_select(go, change, real_set(0.0)));
}

// Lanes where a point still closes fast.
VY_FN mask closing(const pack_rows *r, int n)
{
    mask fast = (-(r->speed[0] + r->bias[0])) > FAST;
    for (int i = 1; i < n; ++i) fast = fast | ((-(r->speed[i] + r->bias[i])) > FAST);
    return fast;
}

// The pushes of all points together: sweeps over their few numbers, there and back, so that none is favoured;
// then the bodies feel them. Never there alone: what the points do to each other would not be symmetric, and
// with pushes that are kept from sub-step to sub-step a tall wall would rock itself up.
VY_FN void solve_points(const contact_job *job, pack *p, const pack_view *w, pack_motion *v, int n,
                        int springs)
{
    pack_rows r;
    ask(job, p, w, v, n, springs, &r);
    if (n > 1) share_out(p, &r, n);
    // Once is enough at rest; where points still close fast, an impact, they need more.
    mask go = mask_set(1);
    for (int round = 0; round < SWEEPS && mask_any(go); ++round) {
        for (int i = 0; i < n; ++i) sweep(p, &r, n, i, go);
        for (int i = n - 1; i >= 0; --i) sweep(p, &r, n, i, go);
        go = go & closing(&r, n);
    }
    vec3 turn = vec3_zero();
    real sum = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        turn = vec3_add_scaled(turn, r.by[i], w->turn[i]);
        sum = sum + r.by[i];
        p->p[i].push = p->p[i].push + r.by[i];
    }
    push_apart(w, v, vec3_scale(sum, p->n), turn, vec3_add_scaled(turn, -sum, w->shift));
    rub(p, w, v, n);
}

// The way of a body of each lane since the start of the step. Returns how far n, turned back with the body to
// where it was, is from n: -2w (u x n) + 2u x (u x n).
VY_FN vec3 place_body(const contact_job *job, const uint32_t body[VY_LANES], vec3 n, vec3 *moved)
{
    const double *from[VY_LANES];
    real x[8];
    for (int i = 0; i < VY_LANES; ++i) from[i] = job->body[body[i]].moved;
    real_load_rows(from, x);
    const vec3 u = vec3_make(x[4], x[5], x[6]), t = vec3_scale(real_set(2.0), vec3_cross(u, n));
    *moved = vec3_make(x[0], x[1], x[2]);
    return vec3_add_scaled(vec3_cross(u, t), -x[3], t);
}

// Where the points are now, and the place between them where friction acts.
VY_FN void place_points(const contact_job *job, pack *p, int n)
{
    vec3 moved_a, moved_b;
    const vec3 na = place_body(job, p->a, p->n, &moved_a), nb = place_body(job, p->b, p->n, &moved_b),
               moved = vec3_sub(moved_b, moved_a);
    // gap = n.(from_b' - from_a' + apart), with from_b = from_a + gap n - apart at the start.
    const vec3 by_place = vec3_sub(nb, na);
    const real by_gap = 1.0 + vec3_dot(nb, p->n), base = vec3_dot(p->n, moved) - vec3_dot(nb, p->first);
    p->apart = vec3_add(p->first, moved);
    // The place that touches goes with the bodies, the lighter one before all, but does not turn with them: a
    // wheel's stays under its axle.
    p->along = vec3_scale(p->share, moved);
    vec3 sum = vec3_zero(), plain = vec3_zero();
    real weight = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        const pack_past *q = &p->past[i];
        const mask here = has_point(p, i);
        const vec3 arm = vec3_add_scaled(q->from, p->share * q->gap, p->n);
        p->p[i].gap =
            real_select(here, (by_gap * q->gap + base) + vec3_dot(by_place, q->from), real_set(0.0));
        sum = vec3_add_scaled(sum, p->p[i].push, arm);
        plain = vec3_add(plain, arm);
        weight = weight + p->p[i].push;
    }
    const mask pushed = weight > 0.0;
    const real per = 1.0 / weight;
    const vec3 mean = vec3_select(pushed, vec3_scale(per, sum), vec3_scale(p->per_count, plain));
    p->arm_a = vec3_add(mean, p->along);
    if (n == 1) return;
    real far = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        const pack_past *q = &p->past[i];
        const vec3 arm = vec3_add_scaled(q->from, p->share * q->gap, p->n);
        far = far + p->p[i].push * vec3_length(vec3_sub(arm, mean));
    }
    p->radius = real_select(pushed & (p->count > 1.5), far * per, real_set(0.0));
}

// What the bodies are given again in the next sub-step.
VY_FN vec3 carry_on(const contact_job *job, const pack *p, const pack_view *w, int n)
{
    vec3 turn = vec3_zero();
    real sum = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        turn = vec3_add_scaled(turn, p->p[i].push, w->turn[i]);
        sum = sum + p->p[i].push;
    }
    const vec3 drag = along_both(p->drag_1, p->t1, p->drag_2, w->t2);
    const vec3 push = vec3_add(vec3_scale(sum, p->n), drag);
    const vec3 twist = vec3_add_scaled(along_both(p->roll_1, p->t1, p->roll_2, w->t2), p->spin, p->n);
    const vec3 arm_b = vec3_sub(p->arm_a, p->apart);
    const vec3 twist_a = vec3_add(vec3_add(turn, vec3_cross(p->arm_a, drag)), twist),
               twist_b =
                   vec3_add(vec3_add(vec3_add_scaled(turn, -sum, w->shift), vec3_cross(arm_b, drag)), twist);
    double nowhere[8] = {0.0};
    double *a[VY_LANES], *b[VY_LANES];
    for (int i = 0; i < VY_LANES; ++i) {
        a[i] = p->write_a[i] ? job->motion[p->a[i]].push : nowhere;
        b[i] = p->write_b[i] ? job->motion[p->b[i]].push : nowhere;
    }
    add_row(a, vec3_neg(push), vec3_neg(twist_a));
    add_row(b, push, twist_b);
    return push;
}

VY_FN void relax_points(const contact_job *job, pack *p, pack_motion *v, int n)
{
    pack_view w;
    place_points(job, p, n);
    load_view(job, p, n, &w);
    for (int i = 0; i < n && p->bounces; ++i) p->past[i].most = real_max(p->past[i].most, p->p[i].push);
    solve_points(job, p, &w, v, n, 0);
    real push = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        p->past[i].total = p->past[i].total + p->p[i].push;
        push = push + p->p[i].push;
    }
    for (int i = 0; i < n && p->bounces; ++i) p->past[i].most = real_max(p->past[i].most, p->p[i].push);
    p->load = p->load + job->settle * (push - p->load);
    p->impulse = vec3_add(p->impulse, carry_on(job, p, &w, n));
}

VY_FN void settle_points(const contact_job *job, pack *p, pack_motion *v, int n)
{
    pack_view w;
    place_points(job, p, n);
    load_view(job, p, n, &w);
    solve_points(job, p, &w, v, n, 0);
}

VY_FN void push_points(const contact_job *job, pack *p, pack_motion *v, int n)
{
    pack_view w;
    load_view(job, p, n, &w);
    solve_points(job, p, &w, v, n, 1);
}

VY_FN void warm_points(const contact_job *job, const pack *p, int n)
{
    pack_view w;
    find_levers(p, n, &w);
    (void)carry_on(job, p, &w, n);
}

VY_FN pack_motion motion_select(mask m, const pack_motion *x, const pack_motion *y)
{
    const pack_motion v = {vec3_select(m, x->va, y->va), vec3_select(m, x->wa, y->wa),
                           vec3_select(m, x->vb, y->vb), vec3_select(m, x->wb, y->wb)};
    return v;
}

// Points that bounce: they closed faster than the threshold.
VY_FN mask bounces(const contact_job *job, const pack *p, int i)
{
    const pack_past *q = &p->past[i];
    return (q->speed <= -job->threshold) & (q->most > 0.0) & (p->restitution > 0.0);
}

// They leave with their part of that speed.
VY_FN void bounce_points(const contact_job *job, pack *p, pack_motion *v, int n)
{
    pack_view w;
    load_view(job, p, n, &w);
    for (int i = 0; i < n; ++i) {
        pack_past *q = &p->past[i];
        const mask now = bounces(job, p, i);
        const real old = p->p[i].push,
                   ask = old - p->p[i].mass * (separation(p, &w, v, i) + p->restitution * q->speed);
        const real push = real_select(now, real_max(ask, real_set(0.0)), old), by = push - old;
        const vec3 impulse = vec3_scale(by, p->n);
        pack_motion after = *v;
        push_apart(&w, &after, impulse, vec3_scale(by, w.turn[i]), vec3_scale(by, turn_b(&w, i)));
        *v = motion_select(now, &after, v);
        p->impulse = vec3_select(now, vec3_add(p->impulse, impulse), p->impulse);
        q->total = q->total + by;
        p->p[i].push = push;
    }
}

// Friction of the pushes that bouncing took. After all of them: it takes energy, and what bounces would give
// back once more what it does to the speeds along the normals. What bounced leaves: nothing is given again.
VY_FN void scrape_points(const contact_job *job, pack *p, pack_motion *v, int n)
{
    mask any = bounces(job, p, 0);
    for (int i = 1; i < n; ++i) any = any | bounces(job, p, i);
    pack after = *p;
    pack_motion moved = *v;
    pack_view w;
    load_view(job, p, n, &w);
    rub(&after, &w, &moved, n);
    const vec3 drag = along_both(after.drag_1 - p->drag_1, p->t1, after.drag_2 - p->drag_2, w.t2);
    const real none = real_set(0.0);
    *v = motion_select(any, &moved, v);
    p->impulse = vec3_select(any, vec3_add(p->impulse, drag), p->impulse);
    p->drag_1 = real_select(any, none, p->drag_1);
    p->drag_2 = real_select(any, none, p->drag_2);
    p->roll_1 = real_select(any, none, p->roll_1);
    p->roll_2 = real_select(any, none, p->roll_2);
    p->spin = real_select(any, none, p->spin);
    for (int i = 0; i < n; ++i) p->p[i].push = real_select(bounces(job, p, i), none, p->p[i].push);
}

// ---- packs

VY_FN void put(real *field, int lane, double x)
{
    memcpy((unsigned char *)field + (size_t)lane * sizeof x, &x, sizeof x);
}

VY_FN double get(const real *field, int lane)
{
    double x;
    memcpy(&x, (const unsigned char *)field + (size_t)lane * sizeof x, sizeof x);
    return x;
}

// The numbers of each lane's contact, in rows.
VY_FN void load_contacts(const contact *const c[VY_LANES], pack *p)
{
    const double *from[VY_LANES];
    real x[8];
    for (int i = 0; i < VY_LANES; ++i) from[i] = &c[i]->n.x;
    real_load_rows(from, x);
    p->n = vec3_make(x[0], x[1], x[2]);
    p->t1 = vec3_make(x[3], x[4], x[5]);
    p->friction = x[6];
    p->restitution = x[7];
    for (int i = 0; i < VY_LANES; ++i) from[i] = &c[i]->apart.x;
    real_load_rows(from, x);
    p->first = vec3_make(x[0], x[1], x[2]);
    p->load = x[3];
    p->rolling = x[4];
    p->spinning = x[5];
    p->drag_1 = x[6];
    p->drag_2 = x[7];
    for (int i = 0; i < VY_LANES; ++i) from[i] = &c[i]->roll_1;
    real_load_rows(from, x);
    p->roll_1 = x[0];
    p->roll_2 = x[1];
    p->spin = x[2];
    for (int k = 0; k < p->points; ++k) {
        for (int i = 0; i < VY_LANES; ++i) from[i] = &c[i]->p[k].from_a.x;
        real_load_rows(from, x);
        p->past[k].from = vec3_make(x[0], x[1], x[2]);
        p->past[k].gap = x[3];
        p->p[k].push = x[4];
        p->past[k].most = p->past[k].total = real_set(0.0);
    }
    p->per_count = 1.0 / p->count;
    p->radius = real_set(0.0);
    p->impulse = vec3_zero();
}

// Lanes without a contact of their own do the first one's work.
static void fill_lanes(const contact_job *job, const uint32_t *contacts, uint32_t count, pack *p)
{
    const contact *from[VY_LANES];
    p->lanes = count;
    p->points = 1;
    p->rolls = p->bounces = 0;
    for (uint32_t i = 0; i < VY_LANES; ++i) {
        const contact *c = &job->list[contacts[i < count ? i : 0]];
        from[i] = c;
        p->contact[i] = contacts[i < count ? i : 0];
        p->a[i] = c->a;
        p->b[i] = c->b;
        p->write_a[i] = i < count && job->body[c->a].moves;
        p->write_b[i] = i < count && job->body[c->b].moves;
        p->rolls |= c->rolling > 0.0;
        p->bounces |= c->restitution > 0.0;
        p->points = c->count > p->points ? (c->count == 3 ? 4 : c->count) : p->points;
        put(&p->count, (int)i, c->count);
    }
    load_contacts(from, p);
}

// An effective mass from its inverse; 0 where nothing moves.
VY_FN real inverse_of(real k) { return real_select(k > 0.0, 1.0 / k, real_set(0.0)); }

// The two directions across the normal together, so that it does not matter which two they are.
VY_FN void prepare_grip(pack *p, const pack_view *w)
{
    const vec3 arm_b = vec3_sub(p->arm_a, p->apart);
    const vec3 a1 = vec3_cross(p->arm_a, p->t1), a2 = vec3_cross(p->arm_a, w->t2),
               b1 = vec3_cross(arm_b, p->t1), b2 = vec3_cross(arm_b, w->t2);
    const vec3 ia = turn_by(w->inverse_a, a1), ib = turn_by(w->inverse_b, b1);
    const real both = w->mass_a + w->mass_b;
    const real k11 = both + (vec3_dot(a1, ia) + vec3_dot(b1, ib)), k12 = vec3_dot(a2, ia) + vec3_dot(b2, ib),
               k22 =
                   both + (vec3_dot(a2, turn_by(w->inverse_a, a2)) + vec3_dot(b2, turn_by(w->inverse_b, b2)));
    const real per = inverse_of(k11 * k22 - k12 * k12);
    p->grip_11 = per * k22;
    p->grip_12 = -(per * k12);
    p->grip_22 = per * k11;
}

VY_FN real inertia_about(const pack_view *w, vec3 u)
{
    return inverse_of(vec3_dot(u, turn_by(w->inverse_a, u)) + vec3_dot(u, turn_by(w->inverse_b, u)));
}

VY_FN void prepare_points(const contact_job *job, pack *p, int n)
{
    pack_view w;
    load_masses(job, p, &w);
    p->share = w.mass_b / (w.mass_a + w.mass_b);
    place_points(job, p, n);
    find_levers(p, n, &w);
    const pack_motion v = load_motion(job, p);
    const real both = w.mass_a + w.mass_b;
    real all = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        const mask here = has_point(p, i);
        const vec3 ta = turn_by(w.inverse_a, w.turn[i]), tb = turn_by(w.inverse_b, turn_b(&w, i));
        for (int j = i; j < n; ++j) {
            const real k = both + (vec3_dot(ta, w.turn[j]) + vec3_dot(tb, turn_b(&w, j)));
            p->couple[i][j] = real_select(here & has_point(p, j), k, real_set(0.0));
            all = all + (i == j ? 1.0 : 2.0) * p->couple[i][j];
        }
        p->p[i].mass = inverse_of(p->couple[i][i]);
        p->past[i].speed = real_select(here, separation(p, &w, &v, i), real_set(0.0));
    }
    p->together = p->count / all;
    prepare_grip(p, &w);
    p->spin_mass = inertia_about(&w, p->n);
    p->roll_mass = real_select(p->rolling > 0.0, real_min(inertia_about(&w, p->t1), inertia_about(&w, w.t2)),
                               real_set(0.0));
}

/// Call a function over points for the number that a pack has, as a constant.
#define FOR_POINTS(p, call)  \
    switch ((p)->points) {   \
    case 1: call(1); break;  \
    case 2: call(2); break;  \
    default: call(4); break; \
    }

static void kernel_fill(const contact_job *job, const uint32_t *contacts, uint32_t count, void *memory)
{
    pack *p = (pack *)memory;
    fill_lanes(job, contacts, count, p);
#define CALL(n) prepare_points(job, p, n)
    FOR_POINTS(p, CALL)
#undef CALL
}

static void kernel_warm(const contact_job *job, void *packs, uint32_t first, uint32_t last)
{
    for (pack *p = (pack *)packs + first; p < (pack *)packs + last; ++p) {
#define CALL(n) warm_points(job, p, n)
        FOR_POINTS(p, CALL)
#undef CALL
    }
}

static void kernel_solve(const contact_job *job, void *packs, uint32_t first, uint32_t last)
{
    for (pack *p = (pack *)packs + first; p < (pack *)packs + last; ++p) {
        pack_motion v = load_motion(job, p);
#define CALL(n) push_points(job, p, &v, n)
        FOR_POINTS(p, CALL)
#undef CALL
        store_motion(job, p, &v);
    }
}

static void kernel_settle(const contact_job *job, void *packs, uint32_t first, uint32_t last)
{
    for (pack *p = (pack *)packs + first; p < (pack *)packs + last; ++p) {
        pack_motion v = load_motion(job, p);
#define CALL(n) settle_points(job, p, &v, n)
        FOR_POINTS(p, CALL)
#undef CALL
        store_motion(job, p, &v);
    }
}

static void kernel_relax(const contact_job *job, void *packs, uint32_t first, uint32_t last)
{
    for (pack *p = (pack *)packs + first; p < (pack *)packs + last; ++p) {
        pack_motion v = load_motion(job, p);
#define CALL(n) relax_points(job, p, &v, n)
        FOR_POINTS(p, CALL)
#undef CALL
        store_motion(job, p, &v);
    }
}

static void kernel_bounce(const contact_job *job, void *packs, uint32_t first, uint32_t last)
{
    for (pack *p = (pack *)packs + first; p < (pack *)packs + last; ++p) {
        if (!p->bounces) continue;
        pack_motion v = load_motion(job, p);
        bounce_points(job, p, &v, p->points);
        store_motion(job, p, &v);
    }
}

static void kernel_scrape(const contact_job *job, void *packs, uint32_t first, uint32_t last)
{
    for (pack *p = (pack *)packs + first; p < (pack *)packs + last; ++p) {
        if (!p->bounces) continue;
        pack_motion v = load_motion(job, p);
        scrape_points(job, p, &v, p->points);
        store_motion(job, p, &v);
    }
}

static void kernel_empty(const contact_job *job, const void *packs, uint32_t first, uint32_t last)
{
    for (const pack *p = (const pack *)packs + first; p < (const pack *)packs + last; ++p) {
        for (int i = 0; i < (int)p->lanes; ++i) {
            contact *c = &job->list[p->contact[i]];
            c->load = get(&p->load, i);
            c->drag_1 = get(&p->drag_1, i);
            c->drag_2 = get(&p->drag_2, i);
            c->roll_1 = get(&p->roll_1, i);
            c->roll_2 = get(&p->roll_2, i);
            c->spin = get(&p->spin, i);
            c->impulse.x = get(&p->impulse.x, i);
            c->impulse.y = get(&p->impulse.y, i);
            c->impulse.z = get(&p->impulse.z, i);
            for (int k = 0; k < c->count; ++k) {
                c->p[k].push = get(&p->p[k].push, i);
                c->total[k] = get(&p->past[k].total, i);
                c->speed[k] = get(&p->past[k].speed, i);
                job->links[p->contact[i]].kept += c->total[k] != 0.0;
            }
        }
    }
}

static const contact_kernel kernel = {KERNEL_NAME,   VY_LANES,      sizeof(pack),  kernel_fill,
                                      kernel_warm,   kernel_solve,  kernel_settle, kernel_relax,
                                      kernel_bounce, kernel_scrape, kernel_empty};
const contact_kernel *const KERNEL_TABLE = &kernel;
