// island.c - one step of joined bodies: substeps, projection, and cables and limits that catch or let go.
//
// A substep ends on the constraints: positions by one or two Newton steps onto them, weighted by mass, then
// velocities, both with the factor of the last stage, which is as good as new.
//
// A unilateral row (cable, limit) acts or not, and that is state. It lets go at the start of a substep when
// it would have to pull the wrong way. It catches when a substep would pass it: the substep is cut at the
// moment it is reached, and the speed along it is taken away without rebound.
#include "dynamics/contacts.h"
#include <math.h>

enum { CUTS = 8, NEWTON = 10, SECANT = 60 };

#define HELD   1e-13 // of 1 m + the island's extent: a constraint that holds
#define BROKEN 1e-9  // one that does not
#define REACH  1e-9  // a unilateral row that is reached

double vy_island_extent(const joint_system *s, const island *is)
{
    double most = 0.0;
    for (uint32_t n = is->body_first; n < is->body_last; ++n) {
        const vec3 p = s->stage[s->members[n]].position;
        most = real_max(most, real_max(real_max(real_abs(p.x), real_abs(p.y)), real_abs(p.z)));
    }
    return 1.0 + most;
}

static double largest(vec3 v) { return real_max(real_max(real_abs(v.x), real_abs(v.y)), real_abs(v.z)); }

static double kinetic(const vy_bodies *b, const island *is)
{
    const joint_system *s = b->joints;
    double e = 0.0;
    for (uint32_t n = is->body_first; n < is->moving_last; ++n) {
        const uint32_t i = s->members[n];
        const body_state *x = &s->stage[i];
        e += 0.5 * (b->slots[i].mass * vec3_dot(x->velocity, x->velocity) +
                    vec3_dot(x->rate, mat3_mul_vec(b->params[i].inertia, x->rate)));
    }
    return e;
}

// ---- projection

static void zero_changes(joint_system *s, const island *is)
{
    for (uint32_t n = is->body_first; n < is->moving_last; ++n) {
        s->work[s->members[n]].linear = s->work[s->members[n]].angular = vec3_zero();
    }
}

/// Solve for right[] and move positions (moves = 1) or velocities (0) of s->stage by M^-1 J^T of it.
static void correct(joint_system *s, const island *is, int moves)
{
    vy_island_solve(s, is);
    zero_changes(s, is);
    vy_island_apply(s, is);
    for (uint32_t n = is->body_first; n < is->moving_last; ++n) {
        const uint32_t i = s->members[n];
        body_state *e = &s->stage[i];
        const vec3 turn = mat3_tmul_vec(s->work[i].rotation, s->work[i].angular);
        if (moves) {
            e->position = vec3_add(e->position, s->work[i].linear);
            e->attitude = quat_normalize(quat_add(e->attitude, attitude_derivative(e->attitude, turn)));
        } else {
            e->velocity = vec3_add(e->velocity, s->work[i].linear);
            e->rate = vec3_add(e->rate, turn);
        }
    }
}

/// Rows at s->stage; the largest |C| of those that act.
static double look(vy_bodies *b, const island *is, double time)
{
    joint_system *s = b->joints;
    vy_island_look(b, is);
    vy_island_rows(b, is, time);
    double most = 0.0;
    for (uint32_t k = is->block_first; k < is->block_last; ++k)
        most = real_max(most, largest(s->rows[k].value));
    return most;
}

static void project_speed(joint_system *s, const island *is)
{
    for (uint32_t k = is->block_first; k < is->block_last; ++k) s->right[k] = vec3_neg(vy_block_speed(s, k));
    correct(s, is, 0);
}

/// Bring s->stage onto the constraints. `fresh`: the factor at hand is that of a state nearby.
static void project(vy_bodies *b, const island *is, double time, int fresh)
{
    joint_system *s = b->joints;
    const double size = vy_island_extent(s, is);
    double error = 0.0;
    for (int n = 0; n < NEWTON; ++n) {
        if (!fresh || n > 1) {
            vy_island_assemble(b, is, time);
            s->redundant = vy_island_factor(s, is);
        }
        error = look(b, is, time);
        if (error <= HELD * size) break;
        for (uint32_t k = is->block_first; k < is->block_last; ++k) s->right[k] = vec3_neg(s->rows[k].value);
        correct(s, is, 1);
    }
    project_speed(s, is);
    s->conflict = real_max(s->conflict, error / size);
}

// ---- stops: unilateral rows

/// C of a stop at s->stage, or infinity where it may not act.
static double stop_at_stage(const vy_bodies *b, const stop *t, double time)
{
    const joint_slot *j = &b->joints->slots[t->joint];
    return vy_stop_distance(j, t->row, &b->joints->stage[j->body[0]], &b->joints->stage[j->body[1]], time);
}

/// Assemble, and solve for the multipliers of the accelerations (impulse = 0) or of the speeds (1). Stops
/// that would have to pull the wrong way let go, the worst first, until none has to.
static void let_go(vy_bodies *b, const island *is, double time, int impulse)
{
    joint_system *s = b->joints;
    for (;;) {
        vy_island_assemble(b, is, time);
        s->redundant = vy_island_factor(s, is);
        if (impulse) {
            for (uint32_t k = is->block_first; k < is->block_last; ++k)
                s->right[k] = vec3_neg(vy_block_speed(s, k));
        }
        vy_island_solve(s, is);
        const stop *worst = NULL;
        double least = 0.0;
        for (uint32_t n = is->stop_first; n < is->stop_last; ++n) {
            const stop *t = &s->stops[n];
            const double pull = stop_acts(b, t) ? stop_part(s, t, s->right) : 0.0;
            if (!(pull < least)) continue; // not finite: the step ends the run, and nothing lets go
            least = pull;
            worst = t;
        }
        if (worst == NULL) return;
        stop_set(b, worst, 0);
    }
}

/// Decide at s->stage which stops act. Those that are reached catch: the speed along them is taken away.
static void decide(vy_bodies *b, const island *is, double time)
{
    joint_system *s = b->joints;
    const double reach = REACH * vy_island_extent(s, is);
    int caught = 0;
    for (uint32_t n = is->stop_first; n < is->stop_last; ++n) {
        const stop *t = &s->stops[n];
        if (stop_acts(b, t) || !(stop_at_stage(b, t, time) <= reach)) continue;
        stop_set(b, t, 1);
        vy_island_look(b, is);
        vy_island_rows(b, is, time);
        s->right[s->slots[t->joint].first + (uint32_t)(t->row / BLOCK_ROWS)] =
            vy_block_speed(s, s->slots[t->joint].first + (uint32_t)(t->row / BLOCK_ROWS));
        const double speed = stop_part(s, t, s->right);
        if (speed > 0.0) stop_set(b, t, 0); // it is on its way out
        if (speed < 0.0) caught = 1;
    }
    if (caught) {
        const double before = kinetic(b, is);
        let_go(b, is, time, 1);
        zero_changes(s, is);
        vy_island_apply(s, is);
        for (uint32_t n = is->body_first; n < is->moving_last; ++n) {
            const uint32_t i = s->members[n];
            body_state *e = &s->stage[i];
            e->velocity = vec3_add(e->velocity, s->work[i].linear);
            e->rate = vec3_add(e->rate, mat3_tmul_vec(s->work[i].rotation, s->work[i].angular));
        }
        s->lost += before - kinetic(b, is);
    }
    let_go(b, is, time, 0);
}

/// The smallest C of the stops that do not act.
static double nearest_stop(const vy_bodies *b, const island *is, double time)
{
    const joint_system *s = b->joints;
    double least = DBL_MAX;
    for (uint32_t n = is->stop_first; n < is->stop_last; ++n) {
        if (!stop_acts(b, &s->stops[n])) least = real_min(least, stop_at_stage(b, &s->stops[n], time));
    }
    return least;
}

// ---- steps

static void keep_start(joint_system *s, const island *is)
{
    for (uint32_t n = is->body_first; n < is->body_last; ++n)
        s->start[s->members[n]] = s->stage[s->members[n]];
}

/// From s->start by h, and onto the constraints.
static void go(vy_bodies *b, const island *is, double time, double h)
{
    vy_island_integrate(b, is, time, h);
    if (!b->def.baumgarte) project(b, is, time + h, b->def.integrator == VY_INTEGRATOR_RK4);
}

/// When, within h, the first stop is reached: `low` and `high` are the distances to it at 0 and at h. The
/// Illinois variant of false position.
static double reached_after(vy_bodies *b, const island *is, double time, double h, double low, double high)
{
    const double reach = 0.5 * REACH * vy_island_extent(b->joints, is);
    double t0 = 0.0, t1 = h, t = 0.0;
    int side = 0;
    for (int n = 0; n < SECANT; ++n) {
        t = (t0 * high - t1 * low) / (high - low);
        go(b, is, time, t);
        const double c = nearest_stop(b, is, time + t);
        if (real_abs(c) <= reach) break;
        if (c < 0.0) {
            t1 = t;
            high = c;
            if (side < 0) low *= 0.5;
            side = -1;
        } else {
            t0 = t;
            low = c;
            if (side > 0) high *= 0.5;
            side = 1;
        }
    }
    return t;
}

static void substep(vy_bodies *b, const island *is, double time, double h)
{
    joint_system *s = b->joints;
    for (int cut = 0; is->stop_first != is->stop_last && cut < CUTS; ++cut) {
        decide(b, is, time);
        keep_start(s, is);
        const double low = nearest_stop(b, is, time), reach = REACH * vy_island_extent(s, is);
        go(b, is, time, h);
        const double high = nearest_stop(b, is, time + h);
        if (high >= -reach || low <= reach) return; // none is passed; or one that the next substep takes up
        const double t = reached_after(b, is, time, h, low, high);
        go(b, is, time, t);
        time += t;
        h -= t;
    }
    keep_start(s, is);
    go(b, is, time, h);
}

static void step_island(vy_bodies *b, const island *is, double dt)
{
    joint_system *s = b->joints;
    const double time = (double)b->head->tick * b->def.dt;
    const double count = real_max(1.0, -floor(1e-9 - dt / b->def.joint_step));
    const double h = dt / count;
    uint64_t touched = 0;
    s->began = time;
    for (uint32_t n = is->body_first; n < is->body_last; ++n) {
        const uint32_t i = s->members[n];
        s->stage[i] = b->state[i];
        touched |= b->touched[i];
        b->touched[i] = 0;
        if (n < is->moving_last) b->before[i] = (body_before){b->state[i].velocity, b->state[i].rate};
    }
    if (touched && !b->def.baumgarte) { // joints share a kick at once, and stops let go of a body kicked away
        let_go(b, is, time, 1);
        project(b, is, time, 0);
        // Contacts step from here, too; what it did to the speeds is a part of what pushes them in the step.
        for (uint32_t n = is->body_first; n < is->moving_last && b->contacts != NULL; ++n) {
            const uint32_t i = s->members[n];
            b->contacts->start[i].position = s->stage[i].position;
            b->contacts->start[i].attitude = s->stage[i].attitude;
        }
    }
    for (uint64_t k = 0; (double)k < count; ++k) substep(b, is, time + (double)k * h, h);
    for (uint32_t n = is->body_first; n < is->moving_last; ++n) {
        if (!body_is_finite(&s->stage[s->members[n]])) b->head->failed = 1;
    }
    if (b->head->failed) return; // the island keeps its last state
    for (uint32_t n = is->body_first; n < is->moving_last; ++n)
        b->state[s->members[n]] = s->stage[s->members[n]];
}

uint32_t vy_islands_step(vy_bodies *b, double dt)
{
    joint_system *s = b->joints;
    uint32_t events = 0;
    for (uint32_t n = 0; n < s->island_count; ++n) {
        const island *is = &s->islands[n];
        if (!b->flown && !b->moves[s->members[is->body_first]]) continue; // it sleeps
        for (uint32_t m = is->joint_first; m < is->joint_last; ++m)
            s->before[s->ties[m]] = b->joint_state[s->ties[m]].active;
        s->conflict = 0.0;
        s->redundant = 0;
        step_island(b, is, dt);
        if (s->redundant > 0) events |= VY_BODIES_REDUNDANT;
        if (s->conflict > BROKEN) events |= VY_BODIES_CONFLICT;
    }
    return events;
}
