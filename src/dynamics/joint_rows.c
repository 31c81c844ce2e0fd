// joint_rows.c - the equations of every joint: C, its Jacobian over twists, and C'' without acceleration.
//
// With levers r from the centres of mass to the anchors, d from anchor a to anchor b, unit vectors u fixed in
// a and w fixed in b, all in world axes:
//   point   C = d                  the anchors coincide
//   dot     C = u.w                two directions stay perpendicular: dC/dt = (stage_a - stage_b).(u x w)
//   along   C = u.d                b stays in the plane through anchor a perpendicular to u
//   length  C = |d|^2 - L^2        and L^2 - |d|^2 >= 0 of a cable
#include "base/assert.h"
#include "base/math.h"
#include "dynamics/joint.h"
#include <math.h>

/// Both anchors at one moment.
typedef struct anchors {
    vec3 ra, rb;    // levers
    vec3 d, d_rate; // from a to b, and its rate
    vec3 d_bias;    // its second derivative without accelerations
} anchors;

static anchors anchors_of(const joint_slot *j, const body_state *a, const body_state *b,
                          const stage_body *stage_a, const stage_body *stage_b)
{
    anchors n;
    n.ra = mat3_mul_vec(stage_a->rotation, j->def.anchor_a);
    n.rb = mat3_mul_vec(stage_b->rotation, j->def.anchor_b);
    n.d = vec3_sub(vec3_add(b->position, n.rb), vec3_add(a->position, n.ra));
    const vec3 va = vec3_cross(stage_a->rate, n.ra), vb = vec3_cross(stage_b->rate, n.rb);
    n.d_rate = vec3_sub(vec3_add(b->velocity, vb), vec3_add(a->velocity, va));
    n.d_bias = vec3_sub(vec3_cross(stage_b->rate, vb), vec3_cross(stage_a->rate, va));
    return n;
}

static void set_row(mat3 *m, int r, vec3 v)
{
    m->m[r][0] = v.x;
    m->m[r][1] = v.y;
    m->m[r][2] = v.z;
}

static void set_component(vec3 *v, int r, double x) { (r == 0 ? &v->x : r == 1 ? &v->y : &v->z)[0] = x; }

/// All but `angular_inverse_inertia`, which the solver sets.
static void row_clear(row_block *rows)
{
    memset(rows->linear, 0, sizeof rows->linear);
    memset(rows->angular, 0, sizeof rows->angular);
    rows->value = rows->bias = rows->time_rate = vec3_zero();
    rows->is_point = rows->row_mask = 0;
}

static void point_rows(const anchors *n, row_block *rows)
{
    rows->is_point = 1;
    rows->row_mask = 7;
    rows->angular[0] = mat3_cross(n->ra);
    rows->angular[1] = mat3_cross(vec3_neg(n->rb));
    rows->value = n->d;
    rows->bias = n->d_bias;
    rows->time_rate = vec3_zero();
}

/// u in a, w in b, world axes.
static void dot_row(row_block *rows, int r, vec3 u, vec3 w, const stage_body *stage_a,
                    const stage_body *stage_b)
{
    const vec3 normal = vec3_cross(u, w), relative_rate = vec3_sub(stage_a->rate, stage_b->rate);
    const vec3 normal_rate =
        vec3_add(vec3_cross(vec3_cross(stage_a->rate, u), w), vec3_cross(u, vec3_cross(stage_b->rate, w)));
    rows->row_mask |= 1 << r;
    set_row(&rows->angular[0], r, normal);
    set_row(&rows->angular[1], r, vec3_neg(normal));
    set_component(&rows->value, r, vec3_dot(u, w));
    set_component(&rows->bias, r, vec3_dot(normal_rate, relative_rate));
}

/// sign (u.d - shift); u in a, world axes.
static void along_row(row_block *rows, int r, vec3 u, double sign, double shift, const anchors *n,
                      const stage_body *stage_a)
{
    const vec3 direction = vec3_scale(sign, u), direction_rate = vec3_cross(stage_a->rate, direction);
    rows->row_mask |= 1 << r;
    set_row(&rows->linear[0], r, vec3_neg(direction));
    set_row(&rows->linear[1], r, direction);
    set_row(&rows->angular[0], r, vec3_sub(vec3_cross(direction, n->d), vec3_cross(n->ra, direction)));
    set_row(&rows->angular[1], r, vec3_cross(n->rb, direction));
    set_component(&rows->value, r, vec3_dot(direction, n->d) - sign * shift);
    set_component(&rows->bias, r,
                  (vec3_dot(vec3_cross(stage_a->rate, direction_rate), n->d) +
                   2.0 * vec3_dot(direction_rate, n->d_rate)) +
                      vec3_dot(direction, n->d_bias));
}

/// sign (|d|^2 - length^2)
static void length_row(row_block *rows, int r, double sign, double length, const anchors *n)
{
    const vec3 gradient = vec3_scale(2.0 * sign, n->d);
    rows->row_mask |= 1 << r;
    set_row(&rows->linear[0], r, vec3_neg(gradient));
    set_row(&rows->linear[1], r, gradient);
    set_row(&rows->angular[0], r, vec3_neg(vec3_cross(n->ra, gradient)));
    set_row(&rows->angular[1], r, vec3_cross(n->rb, gradient));
    set_component(&rows->value, r, sign * (vec3_dot(n->d, n->d) - length * length));
    set_component(&rows->bias, r,
                  2.0 * sign * vec3_dot(n->d_rate, n->d_rate) + vec3_dot(gradient, n->d_bias));
}

// One part of a pulley's cable, from a wheel to an anchor.
typedef struct cable_part {
    vec3 direction;      // 0 where the anchor is at the wheel
    double length, bias; // and the second derivative of the length without accelerations
} cable_part;

static cable_part cable_part_of(vec3 wheel, const body_state *s, const stage_body *stage, vec3 lever)
{
    const vec3 cable = vec3_sub(vec3_add(s->position, lever), wheel),
               lever_rate = vec3_cross(stage->rate, lever), v = vec3_add(s->velocity, lever_rate);
    cable_part part = {.length = vec3_length(cable)};
    if (part.length == 0.0) return part;
    part.direction = vec3_scale(1.0 / part.length, cable);
    const double along = vec3_dot(part.direction, v);
    part.bias = (vec3_dot(v, v) - along * along) / part.length +
                vec3_dot(part.direction, vec3_cross(stage->rate, lever_rate));
    return part;
}

/// length - (part of a + ratio part of b) >= 0
static void pulley_row(const joint_slot *j, row_block *rows, const body_state *a, const body_state *b,
                       const anchors *n, const stage_body *stage_a, const stage_body *stage_b)
{
    const cable_part part_a = cable_part_of(j->def.wheel_a, a, stage_a, n->ra),
                     part_b = cable_part_of(j->def.wheel_b, b, stage_b, n->rb);
    const vec3 gradient_a = vec3_neg(part_a.direction),
               gradient_b = vec3_scale(-j->def.ratio, part_b.direction);
    rows->row_mask |= 1;
    set_row(&rows->linear[0], 0, gradient_a);
    set_row(&rows->linear[1], 0, gradient_b);
    set_row(&rows->angular[0], 0, vec3_cross(n->ra, gradient_a));
    set_row(&rows->angular[1], 0, vec3_cross(n->rb, gradient_b));
    rows->value.x = j->def.length - (part_a.length + j->def.ratio * part_b.length);
    rows->bias.x = -(part_a.bias + j->def.ratio * part_b.bias);
}

// A component of the line between the anchors, along an axis of one body: its row, its value and rate, and
// its second derivative without accelerations.
typedef struct line_component {
    vec3 linear, angular[2]; // of b; of a and of b
    double value, rate, bias;
} line_component;

// u.d, u of the body of `side`, world axes: as along_row(), from either side.
static line_component line_component_of(vec3 u, int side, const anchors *n, const stage_body *stage_a,
                                        const stage_body *stage_b)
{
    const stage_body *own_body = side == 0 ? stage_a : stage_b;
    const vec3 u_rate = vec3_cross(own_body->rate, u), turn = vec3_cross(u, n->d);
    line_component c = {.linear = u, .value = vec3_dot(u, n->d)};
    c.angular[0] = vec3_neg(vec3_cross(n->ra, u));
    c.angular[1] = vec3_cross(n->rb, u);
    c.angular[side] = vec3_add(c.angular[side], turn);
    c.rate = vec3_dot(u_rate, n->d) + vec3_dot(u, n->d_rate);
    c.bias = (vec3_dot(vec3_cross(own_body->rate, u_rate), n->d) + 2.0 * vec3_dot(u_rate, n->d_rate)) +
             vec3_dot(u, n->d_bias);
    return c;
}

// Add `factor` times the row of the angle at which body `side` sees the line between the anchors: `x` and `y`
// are its components along axes 1 and 2 of that body. Returns its bias.
static double add_line_angle(row_block *rows, double factor, const vec3 axes[3], int side, const anchors *n,
                             const stage_body *stage_a, const stage_body *stage_b)
{
    const mat3 *rotation = side == 0 ? &stage_a->rotation : &stage_b->rotation;
    const line_component x = line_component_of(mat3_mul_vec(*rotation, axes[1]), side, n, stage_a, stage_b),
                         y = line_component_of(mat3_mul_vec(*rotation, axes[2]), side, n, stage_a, stage_b);
    const double square = x.value * x.value + y.value * y.value;
    if (square == 0.0) return 0.0; // along the axis: no direction
    const double p = factor * x.value / square, q = -factor * y.value / square;
    const vec3 linear = vec3_add(vec3_scale(p, y.linear), vec3_scale(q, x.linear));
    for (int k = 0; k < 2; ++k) {
        const vec3 angular = vec3_add(vec3_scale(p, y.angular[k]), vec3_scale(q, x.angular[k]));
        for (int i = 0; i < 3; ++i) {
            rows->linear[k].m[0][i] += (k == 0 ? -1.0 : 1.0) * (i == 0   ? linear.x
                                                                : i == 1 ? linear.y
                                                                         : linear.z);
            rows->angular[k].m[0][i] += i == 0 ? angular.x : i == 1 ? angular.y : angular.z;
        }
    }
    const double rate = (x.value * y.rate - y.value * x.rate) / square,
                 growth = 2.0 * (x.value * x.rate + y.value * y.rate) / square;
    return factor * ((x.value * y.bias - y.value * x.bias) / square - growth * rate);
}

static void gear_row(const joint_slot *j, row_block *rows, const body_state *a, const body_state *b,
                     const anchors *n, const stage_body *stage_a, const stage_body *stage_b)
{
    const joint_gear now = vy_gear_angles(j, a, b);
    rows->row_mask |= 1;
    rows->value.x = (now.angle[0] - j->gear_start[0]) + j->def.ratio * (now.angle[1] - j->gear_start[1]);
    rows->bias.x = add_line_angle(rows, 1.0, j->axes_a, 0, n, stage_a, stage_b) +
                   add_line_angle(rows, j->def.ratio, j->axes_b, 1, n, stage_a, stage_b);
}

/// The limit that is nearer: its sign (+1 low, -1 high).
static double limit_sign(const joint_slot *j, double angle)
{
    VY_ASSERT(j->def.low < j->def.high);
    return angle - j->def.low < j->def.high - angle ? 1.0 : -1.0;
}

/// sign (angle - limit) about the axis of a.
static void angle_row(const joint_slot *j, row_block *rows, int r, vec3 axis, double angle,
                      const stage_body *stage_a, const stage_body *stage_b)
{
    const double sign = limit_sign(j, angle);
    const vec3 signed_axis = vec3_scale(sign, axis), relative_rate = vec3_sub(stage_b->rate, stage_a->rate);
    rows->row_mask |= 1 << r;
    set_row(&rows->angular[0], r, vec3_neg(signed_axis));
    set_row(&rows->angular[1], r, signed_axis);
    set_component(&rows->value, r, sign * (angle - (sign > 0.0 ? j->def.low : j->def.high)));
    set_component(&rows->bias, r, vec3_dot(vec3_cross(stage_a->rate, signed_axis), relative_rate));
}

// ---- angles

static double hinge_angle(const joint_slot *j, const mat3 *rotation_a, const mat3 *rotation_b)
{
    const vec3 x = mat3_mul_vec(*rotation_a, j->axes_a[1]), y = mat3_mul_vec(*rotation_a, j->axes_a[2]);
    const vec3 w = mat3_mul_vec(*rotation_b, j->axes_b[1]);
    return math_atan2(vec3_dot(w, y), vec3_dot(w, x));
}

// Axes of a joint with a cone: u of a and w of b, world; 1 + u.w, above zero.
typedef struct swing_axes {
    vec3 u, w;
    double sum;
} swing_axes;

static swing_axes swing_axes_of(const joint_slot *j, const mat3 *rotation_a, const mat3 *rotation_b)
{
    swing_axes s = {mat3_mul_vec(*rotation_a, j->axes_a[0]), mat3_mul_vec(*rotation_b, j->axes_b[0]), 0.0};
    s.sum = real_max(1.0 + vec3_dot(s.u, s.w), 1e-9);
    return s;
}

// The turn of b about its axis, once the shortest turn has brought that to the axis of a.
static double twist_angle(const joint_slot *j, const mat3 *rotation_a, const mat3 *rotation_b)
{
    const swing_axes s = swing_axes_of(j, rotation_a, rotation_b);
    const vec3 b1 = mat3_mul_vec(*rotation_b, j->axes_b[1]);
    const vec3 x = vec3_add_scaled(b1, -vec3_dot(b1, s.u) / s.sum, vec3_add(s.u, s.w));
    return math_atan2(vec3_dot(x, mat3_mul_vec(*rotation_a, j->axes_a[2])),
                      vec3_dot(x, mat3_mul_vec(*rotation_a, j->axes_a[1])));
}

// The twist changes by g.(rate of b - rate of a).
static vec3 twist_gradient(const swing_axes *s) { return vec3_scale(1.0 / s->sum, vec3_add(s->u, s->w)); }

static vec3 twist_gradient_rate(const swing_axes *s, vec3 rate_a, vec3 rate_b)
{
    const vec3 du = vec3_cross(rate_a, s->u), dw = vec3_cross(rate_b, s->w);
    const double dsum = vec3_dot(du, s->w) + vec3_dot(s->u, dw);
    return vec3_add_scaled(vec3_scale(1.0 / s->sum, vec3_add(du, dw)), -dsum / (s->sum * s->sum),
                           vec3_add(s->u, s->w));
}

/// (u.w - cos cone) / sin cone >= 0, near the cone the angle that is left; and the nearer limit of the twist.
static void cone_rows(const joint_slot *j, row_block *rows, const stage_body *stage_a,
                      const stage_body *stage_b)
{
    const swing_axes s = swing_axes_of(j, &stage_a->rotation, &stage_b->rotation);
    dot_row(rows, 0, vec3_scale(j->cone_scale, s.u), s.w, stage_a, stage_b);
    rows->value.x -= j->cone_scale * math_cos(j->def.cone);
    if (!j->def.limited) return;
    const double twist = twist_angle(j, &stage_a->rotation, &stage_b->rotation), sign = limit_sign(j, twist);
    const vec3 gradient = vec3_scale(sign, twist_gradient(&s));
    rows->row_mask |= 2;
    set_row(&rows->angular[0], 1, vec3_neg(gradient));
    set_row(&rows->angular[1], 1, gradient);
    rows->value.y = sign * (twist - (sign > 0.0 ? j->def.low : j->def.high));
    rows->bias.y = sign * vec3_dot(twist_gradient_rate(&s, stage_a->rate, stage_b->rate),
                                   vec3_sub(stage_b->rate, stage_a->rate));
}

static stage_body body_frame(const body_state *s)
{
    stage_body frame = {.rotation = quat_matrix(s->attitude)};
    frame.rate = mat3_mul_vec(frame.rotation, s->rate);
    return frame;
}

static double translation_of(const anchors *n, vec3 axis) { return vec3_dot(axis, n->d); }

static double translation_rate(const anchors *n, vec3 axis, const stage_body *stage_a)
{
    return vec3_dot(axis, n->d_rate) + vec3_dot(vec3_cross(stage_a->rate, axis), n->d);
}

double vy_joint_length(const joint_slot *j, const body_state *a, const body_state *b)
{
    const vec3 anchor_a = vec3_add(a->position, quat_rotate(a->attitude, j->def.anchor_a)),
               anchor_b = vec3_add(b->position, quat_rotate(b->attitude, j->def.anchor_b));
    if (!vy_joint_has(j->def.kind, VY_JOINT_HAS_WHEELS)) return vec3_length(vec3_sub(anchor_b, anchor_a));
    return vec3_length(vec3_sub(anchor_a, j->def.wheel_a)) +
           j->def.ratio * vec3_length(vec3_sub(anchor_b, j->def.wheel_b));
}

double vy_joint_swing(const joint_slot *j, const body_state *a, const body_state *b)
{
    const vec3 u = quat_rotate(a->attitude, j->axes_a[0]), w = quat_rotate(b->attitude, j->axes_b[0]);
    return math_atan2(vec3_length(vec3_cross(u, w)), vec3_dot(u, w));
}

double vy_joint_translation(const joint_slot *j, const body_state *a, const body_state *b)
{
    if (!vy_joint_has(j->def.kind, VY_JOINT_SLIDES)) return 0.0;
    const stage_body stage_a = body_frame(a), stage_b = body_frame(b);
    const anchors n = anchors_of(j, a, b, &stage_a, &stage_b);
    return translation_of(&n, mat3_mul_vec(stage_a.rotation, j->axes_a[0]));
}

void vy_joint_coordinate(const joint_slot *j, const body_state *a, const body_state *b, double *coordinate,
                         double *rate)
{
    const stage_body stage_a = body_frame(a), stage_b = body_frame(b);
    const vec3 axis = mat3_mul_vec(stage_a.rotation, j->axes_a[0]);
    *coordinate = *rate = 0.0;
    if (vy_joint_has(j->def.kind, VY_JOINT_TURNS)) {
        *coordinate = hinge_angle(j, &stage_a.rotation, &stage_b.rotation);
        *rate = vec3_dot(axis, vec3_sub(stage_b.rate, stage_a.rate));
    } else if (vy_joint_has(j->def.kind, VY_JOINT_SLIDES)) {
        const anchors n = anchors_of(j, a, b, &stage_a, &stage_b);
        *coordinate = translation_of(&n, axis);
        *rate = translation_rate(&n, axis, &stage_a);
    } else if (j->def.cone > 0.0) {
        const swing_axes s = swing_axes_of(j, &stage_a.rotation, &stage_b.rotation);
        *coordinate = twist_angle(j, &stage_a.rotation, &stage_b.rotation);
        *rate = vec3_dot(twist_gradient(&s), vec3_sub(stage_b.rate, stage_a.rate));
    }
}

// ---- constraints of the user

/// J(t) v in the rows' units: J at the poses of a and b, v of the other two states.
static void custom_speed(const vy_constraint *c, const body_state *a, const body_state *b,
                         const body_state *velocity_state_a, const body_state *velocity_state_b, double time,
                         double *speed)
{
    vy_jacobian ja = {{0}}, jb = {{0}};
    c->jacobian(c, a, b, time, ja, jb);
    const vec3 rate_a = quat_rotate(velocity_state_a->attitude, velocity_state_a->rate),
               rate_b = quat_rotate(velocity_state_b->attitude, velocity_state_b->rate);
    for (int r = 0; r < c->dimension; ++r) {
        const double *x = ja[r], *y = jb[r];
        speed[r] = (vec3_dot(vec3_make(x[0], x[1], x[2]), velocity_state_a->velocity) +
                    vec3_dot(vec3_make(x[3], x[4], x[5]), rate_a)) +
                   (vec3_dot(vec3_make(y[0], y[1], y[2]), velocity_state_b->velocity) +
                    vec3_dot(vec3_make(y[3], y[4], y[5]), rate_b));
    }
    if (c->time_derivative == NULL) return;
    double rate[VY_CONSTRAINT_ROWS] = {0};
    c->time_derivative(c, a, b, time, rate);
    for (int r = 0; r < c->dimension; ++r) speed[r] += rate[r];
}

static body_state predicted_state(const body_state *s, double h)
{
    body_state next = *s;
    next.position = vec3_add_scaled(s->position, h, s->velocity);
    next.attitude =
        quat_normalize(quat_add_scaled(s->attitude, h, attitude_derivative(s->attitude, s->rate)));
    return next;
}

/// J' v by central differences of J v along the motion, with the current velocities.
static void custom_bias(const vy_constraint *c, const body_state *a, const body_state *b, double time,
                        double *bias)
{
    if (c->bias != NULL) {
        c->bias(c, a, b, time, bias);
        return;
    }
    const double h = 1e-5;
    double before[VY_CONSTRAINT_ROWS] = {0}, after[VY_CONSTRAINT_ROWS] = {0};
    const body_state a0 = predicted_state(a, -h), b0 = predicted_state(b, -h), a1 = predicted_state(a, h),
                     b1 = predicted_state(b, h);
    custom_speed(c, &a0, &b0, a, b, time - h, before);
    custom_speed(c, &a1, &b1, a, b, time + h, after);
    for (int r = 0; r < c->dimension; ++r) bias[r] = (after[r] - before[r]) / (2.0 * h);
}

static void custom_rows(const vy_constraint *c, const body_state *a, const body_state *b, double time,
                        row_block *rows)
{
    VY_ASSERT(c->dimension >= 1 && c->dimension <= VY_CONSTRAINT_ROWS);
    double value[VY_CONSTRAINT_ROWS] = {0}, bias[VY_CONSTRAINT_ROWS] = {0}, rate[VY_CONSTRAINT_ROWS] = {0};
    vy_jacobian ja = {{0}}, jb = {{0}};
    c->evaluate(c, a, b, time, value);
    c->jacobian(c, a, b, time, ja, jb);
    custom_bias(c, a, b, time, bias);
    if (c->time_derivative != NULL) c->time_derivative(c, a, b, time, rate);
    for (int n = 0; n < c->dimension; ++n) {
        row_block *block = &rows[n / BLOCK_ROWS];
        const int r = n % BLOCK_ROWS;
        block->row_mask |= 1 << r;
        set_row(&block->linear[0], r, vec3_make(ja[n][0], ja[n][1], ja[n][2]));
        set_row(&block->angular[0], r, vec3_make(ja[n][3], ja[n][4], ja[n][5]));
        set_row(&block->linear[1], r, vec3_make(jb[n][0], jb[n][1], jb[n][2]));
        set_row(&block->angular[1], r, vec3_make(jb[n][3], jb[n][4], jb[n][5]));
        set_component(&block->value, r, value[n]);
        set_component(&block->bias, r, bias[n]);
        set_component(&block->time_rate, r, rate[n]);
    }
}

// ---- all kinds

/// Clear the rows of a block that are inactive.
static void mask_rows(row_block *rows, uint32_t inactive_rows)
{
    VY_ASSERT(inactive_rows <= 7u);
    if ((inactive_rows & (uint32_t)rows->row_mask) == 0) return;
    const vec3 zero = vec3_zero();
    for (int r = 0; r < BLOCK_ROWS; ++r) {
        if (((inactive_rows >> r) & 1u) == 0) continue;
        for (int k = 0; k < 2; ++k) {
            set_row(&rows->linear[k], r, zero);
            set_row(&rows->angular[k], r, zero);
        }
        set_component(&rows->value, r, 0.0);
        set_component(&rows->bias, r, 0.0);
        set_component(&rows->time_rate, r, 0.0);
    }
    rows->row_mask &= ~(int)inactive_rows;
}

static void fixed_rotation_rows(const joint_slot *j, row_block *rows, const stage_body *stage_a,
                                const stage_body *stage_b)
{
    for (int r = 0; r < 3; ++r) {
        dot_row(rows, r, mat3_mul_vec(stage_a->rotation, j->axes_a[r]),
                mat3_mul_vec(stage_b->rotation, j->axes_b[(r + 1) % 3]), stage_a, stage_b);
    }
}

/// The axis of b stays along that of a.
static void align_rows(const joint_slot *j, row_block *rows, const stage_body *stage_a,
                       const stage_body *stage_b)
{
    const vec3 w = mat3_mul_vec(stage_b->rotation, j->axes_b[0]);
    dot_row(rows, 0, mat3_mul_vec(stage_a->rotation, j->axes_a[1]), w, stage_a, stage_b);
    dot_row(rows, 1, mat3_mul_vec(stage_a->rotation, j->axes_a[2]), w, stage_a, stage_b);
}

static void hinge_rotation_rows(const joint_slot *j, row_block *rows, const stage_body *stage_a,
                                const stage_body *stage_b)
{
    align_rows(j, rows, stage_a, stage_b);
    if (!j->def.limited) return;
    angle_row(j, rows, 2, mat3_mul_vec(stage_a->rotation, j->axes_a[0]),
              hinge_angle(j, &stage_a->rotation, &stage_b->rotation), stage_a, stage_b);
}

/// The anchor of b stays on the axis of a, between its stops.
static void slide_rows(const joint_slot *j, row_block *rows, const anchors *n, const stage_body *stage_a)
{
    along_row(rows, 0, mat3_mul_vec(stage_a->rotation, j->axes_a[1]), 1.0, 0.0, n, stage_a);
    along_row(rows, 1, mat3_mul_vec(stage_a->rotation, j->axes_a[2]), 1.0, 0.0, n, stage_a);
    if (!j->def.limited) return;
    const vec3 axis = mat3_mul_vec(stage_a->rotation, j->axes_a[0]);
    const double sign = limit_sign(j, translation_of(n, axis));
    along_row(rows, 2, axis, sign, sign > 0.0 ? j->def.low : j->def.high, n, stage_a);
}

static void mask_inactive(const joint_slot *j, uint64_t active, row_block *rows)
{
    const uint32_t inactive_rows = j->unilateral_rows & ~(uint32_t)active;
    for (int k = 0; k < j->block_count; ++k) mask_rows(&rows[k], (inactive_rows >> (BLOCK_ROWS * k)) & 7u);
}

// ---- joints that close: what their rows change by time alone

// The anchor of one body moves in it at a constant velocity: `anchor_velocity` is what that adds to the rate
// of d, `rate` is that of the body.
static void add_anchor_motion(row_block *rows, vec3 anchor_velocity, vec3 rate, vec3 rate_a)
{
    if (rows->is_point) {
        rows->time_rate = vec3_add(rows->time_rate, anchor_velocity);
        rows->bias = vec3_add(rows->bias, vec3_scale(2.0, vec3_cross(rate, anchor_velocity)));
        return;
    }
    const vec3 coriolis = vec3_scale(2.0, vec3_cross(vec3_sub(rate, rate_a), anchor_velocity));
    rows->time_rate = vec3_add(rows->time_rate, mat3_mul_vec(rows->linear[1], anchor_velocity));
    rows->bias = vec3_add(rows->bias, mat3_mul_vec(rows->linear[1], coriolis));
}

// The stop that is nearer moves at a constant speed.
static void add_limit_motion(const joint_slot *joint, row_block *rows, const body_state *a,
                             const body_state *b, double closing_rate)
{
    const int slides = vy_joint_has(joint->def.kind, VY_JOINT_SLIDES);
    double position, rate;
    vy_joint_coordinate(joint, a, b, &position, &rate);
    if (slides) position = vy_joint_translation(joint, a, b);
    const double speed = limit_sign(joint, position) > 0.0
                             ? -closing_rate * joint->initial_error.low
                             : -closing_rate * joint->initial_error.high; // of C
    vec3 *const time_rate = &rows[slides ? 0 : 1].time_rate;
    *(vy_joint_has(joint->def.kind, VY_JOINT_HAS_CONE) ? &time_rate->y : &time_rate->z) += speed;
}

// The cone narrows by `rate`.
static void add_cone_motion(const joint_slot *joint, row_block *rows, double rate)
{
    rows->time_rate.x -= joint->cone_scale * math_sin(joint->def.cone) * rate;
    rows->bias.x += joint->cone_scale * math_cos(joint->def.cone) * rate * rate;
}

static void add_custom_motion(const joint_initial_error *error, double fraction, double closing_rate,
                              row_block *rows)
{
    for (int k = 0; k < JOINT_BLOCKS; ++k) {
        const double *v = &error->value[BLOCK_ROWS * k];
        const vec3 opening = vec3_make(v[0], v[1], v[2]);
        rows[k].value = vec3_add_scaled(rows[k].value, -fraction, opening);
        rows[k].time_rate = vec3_add_scaled(rows[k].time_rate, closing_rate, opening);
    }
}

static void closing_rows(const joint_slot *j, const body_state *a, const body_state *b,
                         const stage_body *stage_a, const stage_body *stage_b, double time, row_block *rows)
{
    const joint_initial_error *error = &j->initial_error;
    const double closing_rate = 1.0 / (error->end - error->start); // of its opening, in a second
    joint_slot current;
    vy_joint_at_time(j, time, &current);
    vy_joint_rows(&current, a, b, stage_a, stage_b, time, ALL_ROWS, rows);
    if (j->def.kind == VY_JOINT_CUSTOM) {
        add_custom_motion(error, real_min((error->end - time) * closing_rate, 1.0), closing_rate, rows);
        return;
    }
    if (error->angle != 0.0) { // as if b turned faster by this
        const vec3 spin =
            mat3_mul_vec(stage_b->rotation, vec3_scale(closing_rate * error->angle, error->axis));
        row_block rotated[JOINT_BLOCKS];
        memset(rotated, 0, sizeof rotated);
        stage_body spun_b = *stage_b;
        spun_b.rate = vec3_add(stage_b->rate, spin);
        vy_joint_rows(&current, a, b, stage_a, &spun_b, time, ALL_ROWS, rotated);
        rows[1].bias =
            vec3_add(rotated[1].bias, mat3_mul_vec(rows[1].angular[1], vec3_cross(stage_b->rate, spin)));
        rows[1].time_rate = vec3_add(rows[1].time_rate, mat3_mul_vec(rows[1].angular[1], spin));
    }
    const stage_body *anchor_body = error->side == 0 ? stage_a : stage_b;
    const vec3 anchor_velocity = mat3_mul_vec(
        anchor_body->rotation, vec3_scale(error->side == 0 ? closing_rate : -closing_rate, error->shift));
    add_anchor_motion(&rows[0], anchor_velocity, anchor_body->rate, stage_a->rate);
    if (error->length != 0.0 && vy_joint_has(j->def.kind, VY_JOINT_HAS_WHEELS)) {
        rows[0].time_rate.x -= closing_rate * error->length;
    } else if (error->length !=
               0.0) { // sign (|d|^2 - length^2), and the length changes by -closing_rate error->length
        const double sign = vy_joint_has(j->def.kind, VY_JOINT_UNILATERAL) ? -1.0 : 1.0,
                     rate = -closing_rate * error->length;
        rows[0].time_rate.x -= 2.0 * sign * current.def.length * rate;
        rows[0].bias.x -= 2.0 * sign * rate * rate;
    }
    if (error->cone > 0.0) add_cone_motion(&current, &rows[1], closing_rate * error->cone);
    if (error->low + error->high > 0.0) add_limit_motion(&current, rows, a, b, closing_rate);
}

void vy_joint_rows(const joint_slot *j, const body_state *a, const body_state *b, const stage_body *stage_a,
                   const stage_body *stage_b, double time, uint64_t active, row_block *rows)
{
    VY_ASSERT(j->used && j->block_count >= 1 && j->block_count <= JOINT_BLOCKS);
    if (active & JOINT_BROKEN) {
        for (int k = 0; k < j->block_count; ++k) row_clear(&rows[k]);
        return;
    }
    if (joint_is_closing(j, time)) {
        closing_rows(j, a, b, stage_a, stage_b, time, rows);
        mask_inactive(j, active, rows);
        return;
    }
    const anchors n = anchors_of(j, a, b, stage_a, stage_b);
    if (j->def.kind == VY_JOINT_BALL && j->block_count == 1) {
        point_rows(&n, rows); // writes all fields that are read of a point block
        return;
    }
    for (int k = 0; k < j->block_count; ++k) row_clear(&rows[k]);
    switch (j->def.kind) {
    case VY_JOINT_DISTANCE: length_row(rows, 0, 1.0, j->def.length, &n); break;
    case VY_JOINT_CABLE: length_row(rows, 0, -1.0, j->def.length, &n); break;
    case VY_JOINT_GEAR: gear_row(j, rows, a, b, &n, stage_a, stage_b); break;
    case VY_JOINT_PULLEY: pulley_row(j, rows, a, b, &n, stage_a, stage_b); break;
    case VY_JOINT_HINGE:
        point_rows(&n, rows);
        hinge_rotation_rows(j, &rows[1], stage_a, stage_b);
        break;
    case VY_JOINT_FIXED:
        point_rows(&n, rows);
        fixed_rotation_rows(j, &rows[1], stage_a, stage_b);
        break;
    case VY_JOINT_UNIVERSAL:
        point_rows(&n, rows);
        dot_row(&rows[1], 0, mat3_mul_vec(stage_a->rotation, j->axes_a[0]),
                mat3_mul_vec(stage_b->rotation, j->axes_b[0]), stage_a, stage_b);
        break;
    case VY_JOINT_SLIDER:
        slide_rows(j, rows, &n, stage_a);
        fixed_rotation_rows(j, &rows[1], stage_a, stage_b);
        break;
    case VY_JOINT_CYLINDRICAL:
        slide_rows(j, rows, &n, stage_a);
        align_rows(j, &rows[1], stage_a, stage_b);
        break;
    case VY_JOINT_BALL:
        point_rows(&n, rows);
        cone_rows(j, &rows[1], stage_a, stage_b);
        break;
    case VY_JOINT_CUSTOM: custom_rows(j->def.custom, a, b, time, rows); break;
    case VY_JOINT_SPRING:
    case VY_JOINT_NONE: break;
    }
    mask_inactive(j, active, rows);
}

void vy_joint_values(const joint_slot *j, const body_state *a, const body_state *b, double time,
                     double value[VY_CONSTRAINT_ROWS])
{
    row_block rows[JOINT_BLOCKS];
    memset(rows, 0, sizeof rows);
    const stage_body stage_a = body_frame(a), stage_b = body_frame(b);
    if (j->block_count > 0) vy_joint_rows(j, a, b, &stage_a, &stage_b, time, ALL_ROWS, rows);
    for (int k = 0; k < JOINT_BLOCKS; ++k) {
        value[BLOCK_ROWS * k] = rows[k].value.x;
        value[BLOCK_ROWS * k + 1] = rows[k].value.y;
        value[BLOCK_ROWS * k + 2] = rows[k].value.z;
    }
}

double vy_stop_distance(const joint_slot *j, int row, const body_state *a, const body_state *b, double time)
{
    VY_ASSERT(row >= 0 && row < BLOCK_ROWS * j->block_count && (j->unilateral_rows >> row & 1u) != 0);
    const vy_constraint *c = j->def.kind == VY_JOINT_CUSTOM ? j->def.custom : NULL;
    if (c != NULL && c->is_active != NULL && !c->is_active(c, a, b, time)) return DBL_MAX;
    double value[VY_CONSTRAINT_ROWS];
    vy_joint_values(j, a, b, time, value);
    return value[row];
}

// ---- springs, dampers, motors

#define TWO_PI 6.28318530717958647693

// The way from a position to the target of a servo; of an angle the shorter one.
static double target_error(const vy_joint_def *def, double target, double position)
{
    const double error = target - position;
    return vy_joint_has(def->kind, VY_JOINT_SLIDES) ? error : error - TWO_PI * floor(error / TWO_PI + 0.5);
}

static double axis_effort(const vy_joint_def *def, const joint_state *motor_state,
                          const joint_targets *targets, double angle, double rate)
{
    double drive = motor_state->motor_gain * (motor_state->motor_speed - rate);
    if (def->motor_stiffness > 0.0)
        drive += def->motor_stiffness * target_error(def, targets->position, angle);
    const double motor = real_clamp(drive, -motor_state->max_motor_torque, motor_state->max_motor_torque);
    return (-def->stiffness * (angle - def->rest) - def->damping * rate) + motor;
}

static void apply_force(stage_body *body, vec3 lever, vec3 force)
{
    body->linear = vec3_add_scaled(body->linear, body->inverse_mass, force);
    body->angular = vec3_add(body->angular, mat3_mul_vec(body->inverse_inertia, vec3_cross(lever, force)));
}

static void apply_torque(stage_body *body, vec3 torque)
{
    body->angular = vec3_add(body->angular, mat3_mul_vec(body->inverse_inertia, torque));
}

void vy_joint_apply_forces(const joint_slot *j, const joint_state *motor, const joint_targets *targets,
                           const body_state *a, const body_state *b, stage_body *stage_a, stage_body *stage_b)
{
    const vy_joint_def *def = &j->def;
    if (def->stiffness == 0.0 && def->damping == 0.0 && motor->max_motor_torque == 0.0) return;
    if (joint_is_broken(motor)) return;
    const anchors n = anchors_of(j, a, b, stage_a, stage_b);
    if (vy_joint_has(def->kind, VY_JOINT_HAS_SPRING)) {
        const double length = vec3_length(n.d);
        if (length == 0.0) return; // no direction
        const vec3 u = vec3_scale(1.0 / length, n.d);
        const double pull = -def->stiffness * (length - def->length) - def->damping * vec3_dot(u, n.d_rate);
        apply_force(stage_b, n.rb, vec3_scale(pull, u));
        apply_force(stage_a, n.ra, vec3_scale(-pull, u));
        return;
    }
    const vec3 axis = mat3_mul_vec(stage_a->rotation, j->axes_a[0]);
    if (vy_joint_has(def->kind, VY_JOINT_SLIDES)) {
        const vec3 f = vec3_scale(
            axis_effort(def, motor, targets, translation_of(&n, axis), translation_rate(&n, axis, stage_a)),
            axis);
        apply_force(stage_b, n.rb, f);
        apply_force(stage_a, vec3_add(n.ra, n.d), vec3_neg(f)); // both at anchor b: no net torque
    } else if (vy_joint_has(def->kind, VY_JOINT_TURNS)) {
        const double angle = hinge_angle(j, &stage_a->rotation, &stage_b->rotation);
        const vec3 t = vec3_scale(
            axis_effort(def, motor, targets, angle, vec3_dot(axis, vec3_sub(stage_b->rate, stage_a->rate))),
            axis);
        apply_torque(stage_b, t);
        apply_torque(stage_a, vec3_neg(t));
    }
}

double vy_joint_energy(const joint_slot *j, const joint_state *state, const body_state *a,
                       const body_state *b)
{
    if (j->def.stiffness == 0.0 || joint_is_broken(state)) return 0.0;
    double stretch, rate;
    if (vy_joint_has(j->def.kind, VY_JOINT_HAS_SPRING)) {
        const stage_body stage_a = body_frame(a), stage_b = body_frame(b);
        stretch = vec3_length(anchors_of(j, a, b, &stage_a, &stage_b).d) - j->def.length;
    } else {
        vy_joint_coordinate(j, a, b, &stretch, &rate);
        if (vy_joint_has(j->def.kind, VY_JOINT_SLIDES)) stretch = vy_joint_translation(j, a, b);
        stretch -= j->def.rest;
    }
    return 0.5 * j->def.stiffness * stretch * stretch;
}
