// joint_closing.c - joints that are added open: how far, and how they close.
//
// What is open of a joint is put into the joint itself: an anchor is moved to where the other one is, the
// axes of b are turned to fit those of a, a length or a stop is moved to where the bodies are. Such a joint
// holds from the start. Then all of that goes back at constant speeds, so the joint is a constraint that
// depends on time: its forces act on both bodies at one place, as those of a closed one do, and what they add
// to the energy is their work.
#include "base/assert.h"
#include "base/fail.h"
#include "base/math.h"
#include "dynamics/joint.h"

#define HALF_PI              1.57079632679489661923
#define PARALLEL_TOLERANCE   1e-9 // [1], [rad] axes are parallel
#define CLOSING_SPEED_MARGIN 2.5  // bodies that swing while a joint closes get so many times faster than it

double vy_gyration_radius(const vy_bodies *b, uint32_t i)
{
    VY_ASSERT(b->params[i].inverse_mass > 0.0);
    const mat3 *m = &b->params[i].inertia;
    return real_sqrt((m->m[0][0] + m->m[1][1] + m->m[2][2]) * b->params[i].inverse_mass);
}

static quat quat_about(vec3 axis, double angle)
{
    const vec3 v = vec3_scale(math_sin(0.5 * angle), axis);
    return (quat){math_cos(0.5 * angle), v.x, v.y, v.z};
}

// ---- while it closes

void vy_joint_at_time(const joint_slot *j, double time, joint_slot *out)
{
    const joint_initial_error *error = &j->initial_error;
    VY_ASSERT(time < error->end && error->start < error->end);
    const double fraction = real_min((error->end - time) / (error->end - error->start), 1.0);
    *out = *j;
    out->initial_error.end = 0.0;
    vec3 *const anchor = error->side == 0 ? &out->def.anchor_a : &out->def.anchor_b;
    *anchor = vec3_add_scaled(*anchor, fraction, error->shift);
    out->def.length += fraction * error->length;
    out->def.low -= fraction * error->low;
    out->def.high += fraction * error->high;
    out->def.cone += fraction * error->cone;
    if (error->angle == 0.0) return;
    const quat correction = quat_about(error->axis, -fraction * error->angle);
    for (int k = 0; k < 3; ++k) out->axes_b[k] = quat_rotate(correction, j->axes_b[k]);
}

// ---- how far it is open

static int is_world(const vy_bodies *b, uint32_t i) { return i == b->body_cap; }

static body_state state_of(const vy_bodies *b, uint32_t i)
{
    const body_state world = {.attitude = {1.0, 0.0, 0.0, 0.0}};
    return is_world(b, i) ? world : b->state[i];
}

static int is_dynamic(const vy_bodies *b, uint32_t i) { return !is_world(b, i) && body_is_dynamic(b, i); }

/// How far open a joint is: what is needed to measure that, and the measure so far.
typedef struct joint_error_measure {
    const vy_bodies *b;
    body_state state_a, state_b; // of its bodies
    vec3 anchor_error;           // [m] from anchor a to anchor b, world
    double rotation_radius;      // [m] of a body that turns: what an angle is worth
    double travel;               // [m] that something moves, all in all
} joint_error_measure;

// Turn the axes of b so that they fit: from where they should be to where they are.
static void set_axis_error(joint_error_measure *m, joint_slot *j)
{
    const quat to_b = quat_mul(quat_conj(m->state_b.attitude), m->state_a.attitude);
    const vec3 axis_a = quat_rotate(to_b, j->axes_a[0]), axis_b = j->axes_b[0];
    const double cosine = vec3_dot(axis_a, axis_b);
    vec3 axis = vec3_cross(axis_a, axis_b);
    const double sine = vec3_length(axis);
    double angle = math_atan2(sine, cosine);
    if (vy_joint_has(j->def.kind, VY_JOINT_PERPENDICULAR)) angle -= HALF_PI;
    axis = sine > PARALLEL_TOLERANCE ? vec3_scale(1.0 / sine, axis) : quat_rotate(to_b, j->axes_a[1]);
    j->initial_error.axis = angle < 0.0 ? vec3_neg(axis) : axis;
    j->initial_error.angle = real_abs(angle);
    m->travel += m->rotation_radius * j->initial_error.angle;
}

// Axes 1 and 2 of b, from which an angle is measured, end up square to axis 0.
static void align_other_axes(const joint_error_measure *m, joint_slot *j)
{
    const quat to_b = quat_mul(quat_conj(m->state_b.attitude), m->state_a.attitude),
               correction = quat_about(j->initial_error.axis, j->initial_error.angle);
    for (int k = 1; k < 3; ++k) j->axes_b[k] = quat_rotate(correction, quat_rotate(to_b, j->axes_a[k]));
}

// Stops that are exceeded, at an angle of 0 or where something has slid to.
static void set_limit_error(joint_error_measure *m, joint_slot *j, double value, double travel_per_unit)
{
    if (!j->def.limited) return;
    j->initial_error.low = real_max(j->def.low - value, 0.0);
    j->initial_error.high = real_max(value - j->def.high, 0.0);
    m->travel += travel_per_unit * (j->initial_error.low + j->initial_error.high);
}

// A cone that the axis of b is out of.
static void set_cone_error(joint_error_measure *m, joint_slot *j)
{
    if (!(j->def.cone > 0.0)) return;
    j->initial_error.cone = real_max(vy_joint_swing(j, &m->state_a, &m->state_b) - j->def.cone, 0.0);
    m->travel += m->rotation_radius * j->initial_error.cone;
}

// An anchor is moved in the body that turns least: one that is not dynamic, else a.
static void set_anchor_error(joint_error_measure *m, joint_slot *j, vec3 error)
{
    j->initial_error.side = is_dynamic(m->b, j->body[0]) && !is_dynamic(m->b, j->body[1]);
    j->initial_error.shift = j->initial_error.side == 0 ? quat_unrotate(m->state_a.attitude, error)
                                                        : vec3_neg(quat_unrotate(m->state_b.attitude, error));
    m->travel += vec3_length(error);
}

// ---- a constraint of the user: the move that closes it, as far as its Jacobian knows

/// A = J M^-1 J^T of one joint, row by row; x is the right-hand side, then the solution.
typedef struct small_system {
    double a[VY_CONSTRAINT_ROWS][VY_CONSTRAINT_ROWS];
    double x[VY_CONSTRAINT_ROWS];
} small_system;

// Gauss-Jordan; rows without a pivot are left out.
static void solve_small(small_system *s, int n)
{
    int is_pivoted[VY_CONSTRAINT_ROWS] = {0};
    double max_diagonal = 0.0;
    for (int i = 0; i < n; ++i) max_diagonal = real_max(max_diagonal, s->a[i][i]);
    for (int step = 0; step < n; ++step) {
        int pivot = -1;
        for (int i = 0; i < n; ++i) {
            if (!is_pivoted[i] && (pivot < 0 || s->a[i][i] > s->a[pivot][pivot])) pivot = i;
        }
        if (pivot < 0 || !(s->a[pivot][pivot] > 1e-12 * max_diagonal)) break;
        is_pivoted[pivot] = 1;
        for (int i = 0; i < n; ++i) {
            const double factor = i == pivot ? 0.0 : s->a[i][pivot] / s->a[pivot][pivot];
            for (int k = 0; k < n; ++k) s->a[i][k] -= factor * s->a[pivot][k];
            s->x[i] -= factor * s->x[pivot];
        }
    }
    for (int i = 0; i < n; ++i) s->x[i] = is_pivoted[i] ? s->x[i] / s->a[i][i] : 0.0;
}

static double row_dot(const double *x, vec3 linear, vec3 angular)
{
    return vec3_dot(vec3_make(x[0], x[1], x[2]), linear) + vec3_dot(vec3_make(x[3], x[4], x[5]), angular);
}

// M^-1 of a row, on one side.
static void apply_inverse_mass(const vy_bodies *b, uint32_t i, const body_state *s, const double *row,
                               vec3 *linear, vec3 *angular)
{
    *linear = *angular = vec3_zero();
    if (!is_dynamic(b, i)) return;
    *linear = vec3_scale(b->params[i].inverse_mass, vec3_make(row[0], row[1], row[2]));
    const vec3 t = quat_unrotate(s->attitude, vec3_make(row[3], row[4], row[5]));
    *angular = quat_rotate(s->attitude, mat3_mul_vec(b->params[i].inverse_inertia, t));
}

static void set_custom_error(joint_error_measure *m, joint_slot *j)
{
    const vy_constraint *c = j->def.custom;
    const double time = vy_bodies_time(m->b);
    const body_state *state[2] = {&m->state_a, &m->state_b};
    vy_jacobian jac[2] = {{{0}}, {{0}}};
    double *const value = j->initial_error.value;
    if (c->unilateral && c->is_active != NULL && !c->is_active(c, &m->state_a, &m->state_b, time)) return;
    c->evaluate(c, &m->state_a, &m->state_b, time, value);
    c->jacobian(c, &m->state_a, &m->state_b, time, jac[0], jac[1]);
    small_system s = {.x = {0}};
    for (int r = 0; r < c->dimension; ++r) {
        if (c->unilateral) value[r] = real_min(value[r], 0.0);
        s.x[r] = value[r];
        for (int side = 0; side < 2; ++side) {
            vec3 linear, angular;
            apply_inverse_mass(m->b, j->body[side], state[side], jac[side][r], &linear, &angular);
            for (int q = 0; q < c->dimension; ++q) s.a[q][r] += row_dot(jac[side][q], linear, angular);
        }
    }
    solve_small(&s, c->dimension);
    double work = 0.0, mass = DBL_MAX; // m v^2 of closing it in a second
    for (int r = 0; r < c->dimension; ++r) work += s.x[r] * value[r];
    for (int side = 0; side < 2; ++side) {
        if (is_dynamic(m->b, j->body[side])) mass = real_min(mass, m->b->slots[j->body[side]].mass);
    }
    m->travel = real_sqrt(work / mass);
}

// ---- all kinds

static void set_initial_errors(joint_error_measure *m, joint_slot *j)
{
    const vy_joint_kind kind = j->def.kind;
    if (kind == VY_JOINT_CUSTOM) {
        set_custom_error(m, j);
        return;
    }
    if (vy_joint_has(kind, VY_JOINT_HAS_SPRING)) return; // a force: it has no place
    if (vy_joint_has(kind, VY_JOINT_GEARED)) return;     // it counts from here
    if (vy_joint_has(kind, VY_JOINT_HAS_LENGTH)) {
        const double excess_length = vy_joint_length(j, &m->state_a, &m->state_b) - j->def.length;
        j->initial_error.length =
            vy_joint_has(kind, VY_JOINT_UNILATERAL) ? real_max(excess_length, 0.0) : excess_length;
        m->travel = real_abs(j->initial_error.length);
        return;
    }
    if (vy_joint_has(kind, VY_JOINT_SLIDES)) {
        const vec3 axis = quat_rotate(m->state_a.attitude, j->axes_a[0]);
        const double slide = vec3_dot(axis, m->anchor_error);
        set_anchor_error(m, j, vec3_add_scaled(m->anchor_error, -slide, axis));
        set_limit_error(m, j, slide, 1.0);
    } else {
        set_anchor_error(m, j, m->anchor_error);
    }
    set_cone_error(m, j);
    if (j->def.cone > 0.0) set_limit_error(m, j, 0.0, m->rotation_radius);
    if (!vy_joint_has(kind, VY_JOINT_HAS_AXIS_B)) return;
    set_axis_error(m, j);
    if (vy_joint_has(kind, VY_JOINT_TURNS) && !vy_joint_has(kind, VY_JOINT_SLIDES))
        set_limit_error(m, j, 0.0, m->rotation_radius);
}

// The states of its bodies and the error of its anchors; into `size_out` the size [m] of what it joins.
static joint_error_measure measure_of(const vy_bodies *b, const joint_slot *j, double *size_out)
{
    joint_error_measure m = {.b = b,
                             .state_a = state_of(b, j->body[0]),
                             .state_b = state_of(b, j->body[1]),
                             .rotation_radius = DBL_MAX};
    const vec3 anchor[2] = {quat_rotate(m.state_a.attitude, j->def.anchor_a),
                            quat_rotate(m.state_b.attitude, j->def.anchor_b)};
    m.anchor_error =
        vec3_sub(vec3_add(m.state_b.position, anchor[1]), vec3_add(m.state_a.position, anchor[0]));
    double size = vy_joint_has(j->def.kind, VY_JOINT_HAS_LENGTH) ? j->def.length : 0.0;
    for (int side = 0; side < 2; ++side) {
        if (!is_dynamic(b, j->body[side])) continue;
        const double gyration_radius = vy_gyration_radius(b, j->body[side]),
                     lever = vec3_length(anchor[side]);
        const vec3 other_anchor =
            side == 0 ? vec3_add(anchor[0], m.anchor_error) : vec3_sub(anchor[1], m.anchor_error);
        m.rotation_radius =
            real_min(m.rotation_radius, gyration_radius + real_max(lever, vec3_length(other_anchor)));
        size += gyration_radius + lever;
    }
    VY_ASSERT(size > 0.0);
    *size_out = size;
    return m;
}

// How long it takes to close by what was measured; 0: it is done at once, as what rounding leaves is.
static double closing_duration(const joint_error_measure *m)
{
    const double duration = CLOSING_SPEED_MARGIN * m->travel / m->b->def.closing_speed;
    return duration > m->b->def.joint_step ? duration : 0.0;
}

static vy_status check_travel(const joint_error_measure *m, const joint_slot *j, double size, vy_error *err)
{
    if (j->def.far_open || !(m->travel > m->b->def.open_limit * size)) return VY_OK;
    return vy_fail(err, VY_BAD_VALUE,
                   "a %s joint is %.3g m open, more than %g times the size of what it joins, %.3g m; put "
                   "the bodies closer or set far_open",
                   vy_joint_kind_name(j->def.kind), m->travel, m->b->def.open_limit, size);
}

static int is_at_wheel(const joint_error_measure *m, const joint_slot *j)
{
    const vec3 anchor_a = vec3_add(m->state_a.position, quat_rotate(m->state_a.attitude, j->def.anchor_a)),
               anchor_b = vec3_add(m->state_b.position, quat_rotate(m->state_b.attitude, j->def.anchor_b));
    return vec3_length(vec3_sub(anchor_a, j->def.wheel_a)) < PARALLEL_TOLERANCE * j->def.length ||
           vec3_length(vec3_sub(anchor_b, j->def.wheel_b)) < PARALLEL_TOLERANCE * j->def.length;
}

vy_status vy_joint_set_initial_error(const vy_bodies *b, joint_slot *j, vy_error *err)
{
    double size;
    joint_error_measure m = measure_of(b, j, &size);
    j->initial_error = (joint_initial_error){0};
    const int is_rod = vy_joint_has(j->def.kind, VY_JOINT_HAS_LENGTH) &&
                       !vy_joint_has(j->def.kind, VY_JOINT_UNILATERAL | VY_JOINT_HAS_SPRING);
    if (is_rod && vec3_length(m.anchor_error) < PARALLEL_TOLERANCE * j->def.length)
        return vy_fail(err, VY_BAD_VALUE,
                       "the anchors of a %s joint of %g m are at one place: it has no direction",
                       vy_joint_kind_name(j->def.kind), j->def.length);
    if (vy_joint_has(j->def.kind, VY_JOINT_HAS_WHEELS) && is_at_wheel(&m, j))
        return vy_fail(err, VY_BAD_VALUE,
                       "an anchor of a %s joint is at its wheel: its cable has no direction",
                       vy_joint_kind_name(j->def.kind));
    set_initial_errors(&m, j);
    const double duration = closing_duration(&m);
    if (duration == 0.0) {
        j->initial_error = (joint_initial_error){0};
        return VY_OK;
    }
    if (check_travel(&m, j, size, err) != VY_OK) return VY_BAD_VALUE;
    if (j->initial_error.angle > 0.0 && vy_joint_has(j->def.kind, VY_JOINT_TURNS)) align_other_axes(&m, j);
    j->initial_error.start = vy_bodies_time(b);
    j->initial_error.end = j->initial_error.start + duration;
    return VY_OK;
}

// What is left of it at `time`, but for stops, as a plan that begins then. Returns how long it takes.
static double keep_remaining_error(joint_initial_error *error, double time)
{
    const double remaining = error->end - time;
    if (!(remaining > 0.0)) {
        *error = (joint_initial_error){0};
        return 0.0;
    }
    const double fraction = real_min(remaining / (error->end - error->start), 1.0);
    error->shift = vec3_scale(fraction, error->shift);
    error->angle *= fraction;
    error->length *= fraction;
    error->low = error->high = error->cone = 0.0;
    for (int r = 0; r < VY_CONSTRAINT_ROWS; ++r) error->value[r] *= fraction;
    error->start = time;
    return remaining;
}

vy_status vy_joint_set_limit_error(const vy_bodies *b, joint_slot *j, vy_error *err)
{
    double size, coordinate, rate;
    const double time = vy_bodies_time(b), remaining = keep_remaining_error(&j->initial_error, time);
    joint_error_measure m = measure_of(b, j, &size);
    joint_slot current = *j;
    if (remaining > 0.0) vy_joint_at_time(j, time, &current);
    const int slides = vy_joint_has(j->def.kind, VY_JOINT_SLIDES);
    vy_joint_coordinate(&current, &m.state_a, &m.state_b, &coordinate, &rate);
    if (slides) coordinate = vy_joint_translation(&current, &m.state_a, &m.state_b);
    set_cone_error(&m, j);
    set_limit_error(&m, j, coordinate, slides ? 1.0 : m.rotation_radius);
    const double duration = closing_duration(&m);
    if (duration == 0.0) {
        j->initial_error.low = j->initial_error.high = j->initial_error.cone = 0.0;
        return VY_OK;
    }
    if (check_travel(&m, j, size, err) != VY_OK) return VY_BAD_VALUE;
    j->initial_error.start = time;
    j->initial_error.end = time + (remaining + duration);
    return VY_OK;
}

// ---- the account

double vy_closing_impulse_work(const joint_system *s, const joint_slot *j)
{
    double work = 0.0;
    for (uint32_t k = j->first_block; k < j->first_block + (uint32_t)j->block_count; ++k) {
        const vec3 before = vec3_sub(vy_block_velocity(s, k), s->rows[k].time_rate),
                   change = vec3_sub(vy_block_acceleration(s, k), s->rows[k].bias);
        work += vec3_dot(s->rhs[k], vec3_add_scaled(before, 0.5, change));
    }
    return work;
}

void vy_closing_clear_power(joint_system *s, const island *is)
{
    for (uint32_t n = is->joint_first; n < is->joint_last; ++n) s->slots[s->joint_order[n]].power = 0.0;
}

void vy_closing_add_power(joint_system *s, const island *is, double time, double weight)
{
    for (uint32_t n = is->joint_first; n < is->joint_last; ++n) {
        joint_slot *j = &s->slots[s->joint_order[n]];
        if (!joint_is_closing(j, time)) continue;
        for (uint32_t k = j->first_block; k < j->first_block + (uint32_t)j->block_count; ++k)
            j->power -= weight * vec3_dot(s->rhs[k], s->rows[k].time_rate);
    }
}

void vy_closing_add_work(vy_bodies *b, const joint_slot *j, double work)
{
    if (!(work > 0.0)) return;
    const int both_dynamic = is_dynamic(b, j->body[0]) && is_dynamic(b, j->body[1]);
    for (int side = 0; side < 2; ++side) {
        if (is_dynamic(b, j->body[side]))
            b->joints->step_work[j->body[side]] += both_dynamic ? 0.5 * work : work;
    }
}

void vy_closing_begin_step(vy_bodies *b)
{
    joint_system *s = b->joints;
    if (!(vy_bodies_time(b) - 2.0 * b->def.dt < s->closing_end)) return;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        s->closing_work[i] += s->step_work[i];
        s->closing_sum += s->step_work[i];
        s->step_work[i] = s->saved_work[i] = 0.0;
    }
}

void vy_closing_remove_body(vy_bodies *b, uint32_t i)
{
    joint_system *s = b->joints;
    s->closing_sum += s->step_work[i];
    s->closing_work[i] = s->step_work[i] = s->saved_work[i] = 0.0;
}

double vy_closing_work(const vy_bodies *b)
{
    double sum = b->joints->closing_sum;
    for (uint32_t i = 0; i < b->slot_count; ++i) sum += b->joints->step_work[i];
    return sum;
}

double vy_closing_work_on(const vy_bodies *b, uint32_t i)
{
    VY_ASSERT(i < b->slot_count);
    return b->joints->closing_work[i] + b->joints->step_work[i];
}
