// contact_kernel.inl - contacts solved side by side, for the VY_LANES of the including file, which also
// defines KERNEL_NAME (text) and KERNEL_TABLE (symbol).
//
// Unused points of a lane are zero: they change nothing. Results that do not apply to a lane are discarded by
// real_select, never by a branch, so that packs may be put together in any way.
#include "base/vec.h"
#include "dynamics/contact_kernel.h"
#include "base/assert.h"

enum { POINT_ITERATIONS = 8, POINTS = VY_MANIFOLD_POINTS, K_COUNT = POINTS * (POINTS + 1) / 2 };
#define FAST_CLOSING    0.1 // [m/s]
#define STALE_MASS      0.5 // part of 1 / mass by which an effective mass may be off: from 1 on it adds energy
#define FRICTION_WEIGHT 0.4 // of friction's lever in that: its impulses are limited

typedef struct pack_point {
    real normal_mass;    // [kg] effective mass along the normal
    real normal_impulse; // [N s] accumulated
    real separation;     // [m] now
} pack_point;

/// What only the update of the points and the sums of the step need, and `anchor_a`.
typedef struct pack_point_start {
    vec3 anchor_a;             // [m] at the start of the step, world
    real separation;           // [m] then
    real total_normal_impulse; // [N s] of all sub-steps
} pack_point_start;

/// What only restitution and reports need.
typedef struct pack_point_impact {
    real relative_velocity;  // [m/s] along the normal at the start of the step; closing: < 0
    real max_normal_impulse; // [N s] of all sub-steps, where there is restitution
} pack_point_impact;

/// Most of it is read in every sub-step, so what is quickly recomputed is not in it (see pack_jacobian), and
/// what is seldom read comes last.
typedef struct pack {
    uint32_t a[VY_LANES], b[VY_LANES], contact[VY_LANES];
    int write_a[VY_LANES], write_b[VY_LANES]; // 1: it moves
    uint32_t lanes;                           // in use
    int points;                               // 1, 2 or 4: no lane has more
    int has_rolling, has_restitution;         // some lane has
    int was_stale;                            // some lane has effective masses computed anew in this step
    double max_stale_shift, max_stale_rotation_a, max_stale_rotation_b; // of all lanes
    vec3 normal, tangent_1;
    vec3 a_to_b;            // [m] between the centres of mass, now
    vec3 contact_shift;     // [m] how far the contact has moved since the start of the step
    vec3 friction_anchor_a; // [m] from a to the mean of the points weighted by impulse: friction acts there
    real point_count, inverse_point_count;
    real friction, rolling_resistance, torsional_friction;
    real slop; // [m]
    real mean_normal_impulse;
    real friction_radius; // [m] mean distance of the points, weighted by impulse, from where friction acts
    real tangent_mass_11, tangent_mass_12, tangent_mass_22; // [kg] effective mass in the tangent plane
    real rolling_mass, twist_mass;                          // [kg m^2] effective inertia
    real tangent_impulse_1, tangent_impulse_2, rolling_impulse_1, rolling_impulse_2, twist_impulse;
    real shared_mass;       // [kg] effective mass of an impulse shared evenly by all points
    real k_matrix[K_COUNT]; // [1/kg] J M^-1 J^T of the points, symmetric: see k_index()
    pack_point p[POINTS];
    vec3 start_a_to_b;         // [m] a_to_b at the start of the step
    vec3 total_impulse;        // [N s] on b
    vec3 mass_anchor_a;        // [m] friction_anchor_a for which the effective masses were computed
    real stale_anchor;         // [1/m^2] what a move of mass_anchor_a does to them
    real inverse_mass_ratio_b; // of b's inverse mass in the sum of both: the contact moves with the lighter
                               // body
    pack_point_start start[POINTS];
    real stale_shift;                        // [1/m^2] what moves of the contact do to effective masses
    real stale_rotation_a, stale_rotation_b; // what turns of the bodies do: see stale_masses()
    real lane_was_stale;                     // 1: they have been computed anew in this step
    real restitution;
    vec3 impact_impulse; // [N s] total_impulse without restitution
    pack_point_impact impact[POINTS];
} pack;

// Which entry of k_matrix is that of points i and j.
VY_FN int k_index(int i, int j)
{
    return i <= j ? i * (2 * POINTS - 1 - i) / 2 + j : j * (2 * POINTS - 1 - j) / 2 + i;
}

/// Velocities of both bodies of each lane.
typedef struct pack_velocities {
    vec3 va, wa, vb, wb;
} pack_velocities;

/// The Jacobian of the points and the inverse masses of the bodies: what follows from the pack.
typedef struct pack_jacobian {
    real inverse_inertia_a[6], inverse_inertia_b[6], inverse_mass_a, inverse_mass_b;
    vec3 tangent_2;
    vec3 angular_a[POINTS]; // [m] anchor_a x normal
    vec3 angular_offset;    // [m] a_to_b x normal: anchor_b x normal is angular_a - angular_offset
} pack_jacobian;

// ---- bodies to lanes and back

VY_FN void set_lane(real *field, int lane, double x)
{
    memcpy((unsigned char *)field + (size_t)lane * sizeof x, &x, sizeof x);
}

VY_FN double get_lane(const real *field, int lane)
{
    double x;
    memcpy(&x, (const unsigned char *)field + (size_t)lane * sizeof x, sizeof x);
    return x;
}

VY_FN pack_velocities load_velocities(const contact_context *context, const pack *p)
{
    const double *a[VY_LANES], *b[VY_LANES];
    real x[8], y[8];
    for (int i = 0; i < VY_LANES; ++i) {
        a[i] = context->motion[p->a[i]].velocity;
        b[i] = context->motion[p->b[i]].velocity;
    }
    real_load_rows(a, x);
    real_load_rows(b, y);
    const pack_velocities v = {vec3_make(x[0], x[1], x[2]), vec3_make(x[3], x[4], x[5]),
                               vec3_make(y[0], y[1], y[2]), vec3_make(y[3], y[4], y[5])};
    return v;
}

VY_FN void load_masses(const contact_context *context, const pack *p, pack_jacobian *jac)
{
    const double *a[VY_LANES], *b[VY_LANES];
    real x[8];
    for (int i = 0; i < VY_LANES; ++i) {
        a[i] = context->body[p->a[i]].inverse_inertia;
        b[i] = context->body[p->b[i]].inverse_inertia;
    }
    real_load_rows(a, x);
    for (int k = 0; k < 6; ++k) jac->inverse_inertia_a[k] = x[k];
    jac->inverse_mass_a = x[6];
    real_load_rows(b, x);
    for (int k = 0; k < 6; ++k) jac->inverse_inertia_b[k] = x[k];
    jac->inverse_mass_b = x[6];
}

VY_FN mask has_point(const pack *p, int i) { return p->point_count > (double)i; }

// The angular part of the Jacobian, at the points of the pack.
VY_FN void compute_jacobian(const pack *p, int n, pack_jacobian *jac)
{
    const vec3 more = vec3_cross(p->contact_shift, p->normal);
    jac->tangent_2 = vec3_cross(p->normal, p->tangent_1);
    jac->angular_offset = vec3_cross(p->a_to_b, p->normal);
    for (int i = 0; i < n; ++i) {
        const vec3 angular = vec3_add(vec3_cross(p->start[i].anchor_a, p->normal), more);
        jac->angular_a[i] = vec3_select(has_point(p, i), angular, vec3_zero());
    }
}

VY_FN void load_jacobian(const contact_context *context, const pack *p, int n, pack_jacobian *jac)
{
    load_masses(context, p, jac);
    compute_jacobian(p, n, jac);
}

// Store two vectors as a row of each lane's body; bodies that do not move are written to `discard`.
VY_FN void store_row(double *const to[VY_LANES], vec3 u, vec3 v)
{
    const real x[8] = {u.x, u.y, u.z, v.x, v.y, v.z, real_set(0.0), real_set(0.0)};
    real_store_rows(to, x);
}

VY_FN void store_velocities(const contact_context *context, const pack *p, const pack_velocities *v)
{
    double discard[8];
    double *a[VY_LANES], *b[VY_LANES];
    for (int i = 0; i < VY_LANES; ++i) {
        a[i] = p->write_a[i] ? context->motion[p->a[i]].velocity : discard;
        b[i] = p->write_b[i] ? context->motion[p->b[i]].velocity : discard;
    }
    store_row(a, v->va, v->wa);
    store_row(b, v->vb, v->wb);
}

// Add an impulse and an angular impulse to the bodies' warm start.
VY_FN void add_row(double *const to[VY_LANES], vec3 impulse, vec3 angular_impulse)
{
    real x[8];
    real_load_rows((const double *const *)to, x);
    store_row(to, vec3_add(vec3_make(x[0], x[1], x[2]), impulse),
              vec3_add(vec3_make(x[3], x[4], x[5]), angular_impulse));
}

// I^-1 v
VY_FN vec3 mul_inertia(const real inverse[6], vec3 v)
{
    return vec3_make((inverse[0] * v.x + inverse[1] * v.y) + inverse[2] * v.z,
                     (inverse[1] * v.x + inverse[3] * v.y) + inverse[4] * v.z,
                     (inverse[2] * v.x + inverse[4] * v.y) + inverse[5] * v.z);
}

// ---- one contact per lane

VY_FN vec3 angular_b(const pack_jacobian *jac, int i)
{
    return vec3_sub(jac->angular_a[i], jac->angular_offset);
}

// [m/s] Relative velocity along the normal at a point; separating: > 0.
VY_FN real normal_velocity(const pack *p, const pack_jacobian *jac, const pack_velocities *v, int i)
{
    return vec3_dot(p->normal, vec3_sub(v->vb, v->va)) +
           (vec3_dot(v->wb, angular_b(jac, i)) - vec3_dot(v->wa, jac->angular_a[i]));
}

// +impulse on b and -impulse on a, with the angular impulse about each centre of mass.
VY_FN void apply_impulse(const pack_jacobian *jac, pack_velocities *v, vec3 impulse, vec3 angular_impulse_a,
                         vec3 angular_impulse_b)
{
    v->va = vec3_add_scaled(v->va, -jac->inverse_mass_a, impulse);
    v->vb = vec3_add_scaled(v->vb, jac->inverse_mass_b, impulse);
    v->wa = vec3_sub(v->wa, mul_inertia(jac->inverse_inertia_a, angular_impulse_a));
    v->wb = vec3_add(v->wb, mul_inertia(jac->inverse_inertia_b, angular_impulse_b));
}

VY_FN void apply_angular_impulse(const pack_jacobian *jac, pack_velocities *v, vec3 angular_impulse)
{
    v->wa = vec3_sub(v->wa, mul_inertia(jac->inverse_inertia_a, angular_impulse));
    v->wb = vec3_add(v->wb, mul_inertia(jac->inverse_inertia_b, angular_impulse));
}

// Scale (x, y) down to the length `max` where it is longer.
VY_FN void clamp_length(real max, real *x, real *y)
{
    const real length2 = *x * *x + *y * *y;
    const real k = real_select(length2 > max * max, max / real_sqrt(length2), real_set(1.0));
    *x = *x * k;
    *y = *y * k;
}

VY_FN vec3 tangent_vector(real x, vec3 tangent_1, real y, vec3 tangent_2)
{
    return vec3_add_scaled(vec3_scale(x, tangent_1), y, tangent_2);
}

// Rolling resistance, torsional friction and Coulomb friction, all limited by the normal impulse of the
// points.
VY_FN void solve_friction(pack *p, const pack_jacobian *jac, pack_velocities *v, int n)
{
    real normal_impulse = real_set(0.0);
    for (int i = 0; i < n; ++i) normal_impulse = normal_impulse + p->p[i].normal_impulse;
    if (p->has_rolling) {
        const vec3 rate = vec3_sub(v->wb, v->wa);
        const real old_impulse_1 = p->rolling_impulse_1, old_impulse_2 = p->rolling_impulse_2;
        const mask rolls = p->rolling_resistance > 0.0;
        p->rolling_impulse_1 = old_impulse_1 - p->rolling_mass * vec3_dot(rate, p->tangent_1);
        p->rolling_impulse_2 = old_impulse_2 - p->rolling_mass * vec3_dot(rate, jac->tangent_2);
        clamp_length(p->rolling_resistance * normal_impulse, &p->rolling_impulse_1, &p->rolling_impulse_2);
        pack_velocities after = *v;
        apply_angular_impulse(jac, &after,
                              tangent_vector(p->rolling_impulse_1 - old_impulse_1, p->tangent_1,
                                             p->rolling_impulse_2 - old_impulse_2, jac->tangent_2));
        v->wa = vec3_select(rolls, after.wa, v->wa);
        v->wb = vec3_select(rolls, after.wb, v->wb);
    }
    const real max_twist_impulse =
        (p->friction * p->friction_radius + p->torsional_friction) * normal_impulse;
    const real old = p->twist_impulse, rate = vec3_dot(vec3_sub(v->wb, v->wa), p->normal);
    p->twist_impulse = real_clamp(old - p->twist_mass * rate, -max_twist_impulse, max_twist_impulse);
    apply_angular_impulse(jac, v, vec3_scale(p->twist_impulse - old, p->normal));

    const vec3 friction_anchor_b = vec3_sub(p->friction_anchor_a, p->a_to_b);
    const vec3 at_a = vec3_add(v->va, vec3_cross(v->wa, p->friction_anchor_a)),
               at_b = vec3_add(v->vb, vec3_cross(v->wb, friction_anchor_b)), slip = vec3_sub(at_b, at_a);
    const real old_impulse_1 = p->tangent_impulse_1, old_impulse_2 = p->tangent_impulse_2;
    const real slip_1 = vec3_dot(slip, p->tangent_1), slip_2 = vec3_dot(slip, jac->tangent_2);
    p->tangent_impulse_1 = old_impulse_1 - (p->tangent_mass_11 * slip_1 + p->tangent_mass_12 * slip_2);
    p->tangent_impulse_2 = old_impulse_2 - (p->tangent_mass_12 * slip_1 + p->tangent_mass_22 * slip_2);
    clamp_length(p->friction * normal_impulse, &p->tangent_impulse_1, &p->tangent_impulse_2);
    const vec3 tangent_impulse = tangent_vector(p->tangent_impulse_1 - old_impulse_1, p->tangent_1,
                                                p->tangent_impulse_2 - old_impulse_2, jac->tangent_2);
    apply_impulse(jac, v, tangent_impulse, vec3_cross(p->friction_anchor_a, tangent_impulse),
                  vec3_cross(friction_anchor_b, tangent_impulse));
}

/// The rows of a contact, one per point: what the velocity constraint asks for.
typedef struct pack_rows {
    real velocity[POINTS];     // [m/s] along the normal
    real bias[POINTS];         // [m/s] that is added to it
    real mass_scale[POINTS];   // of the effective mass
    real keep_scale[POINTS];   // part of the accumulated impulse that stays
    real held_impulse[POINTS]; // [N s] that a soft row at rest keeps besides
    real delta[POINTS];        // [N s] change of the accumulated impulse
} pack_rows;

VY_FN void build_rows(const contact_context *context, const pack *p, const pack_jacobian *jac,
                      const pack_velocities *v, int n, int use_bias, pack_rows *r)
{
    const mask free = (jac->inverse_mass_a > 0.0) & (jac->inverse_mass_b > 0.0); // both move
    const contact_softness *s = context->softness;
    real held = real_set(0.0); // the part of a point's impulse that the mean of the contact is
    if (use_bias && context->hold_mean_impulse) {
        real sum = p->p[0].normal_impulse;
        for (int i = 1; i < n; ++i) sum = sum + p->p[i].normal_impulse;
        held = real_select(sum > 0.0, p->mean_normal_impulse / sum, held);
    }
    for (int i = 0; i < n; ++i) {
        const pack_point *q = &p->p[i];
        r->velocity[i] = real_select(has_point(p, i), normal_velocity(p, jac, v, i), real_set(0.0));
        r->delta[i] = real_set(0.0);
        r->mass_scale[i] = r->keep_scale[i] = real_set(1.0);
        r->held_impulse[i] = r->bias[i] = real_set(0.0);
        if (use_bias) {
            const mask soft = q->separation < -p->slop;
            const real bias = real_select(free, real_set(s[0].bias_rate), real_set(s[1].bias_rate)),
                       mass = real_select(free, real_set(s[0].mass_scale), real_set(s[1].mass_scale)),
                       impulse_scale =
                           real_select(free, real_set(s[0].impulse_scale), real_set(s[1].impulse_scale));
            const real over = real_min(q->separation + p->slop, real_set(0.0));
            r->bias[i] = real_max(bias * over, real_set(-context->push_speed));
            r->mass_scale[i] = real_select(soft, mass, r->mass_scale[i]);
            r->keep_scale[i] = real_select(soft, 1.0 - impulse_scale, r->keep_scale[i]);
            r->held_impulse[i] =
                real_select(soft, impulse_scale * held * q->normal_impulse, r->held_impulse[i]);
        }
        // A point that is still apart may close the gap within the sub-step, but no more.
        r->bias[i] = real_select(q->separation > 0.0, q->separation * context->inverse_h, r->bias[i]);
    }
}

// Change the impulse of point i, and with it the velocities of all points.
VY_FN void propagate(const pack *p, pack_rows *r, int n, int i, real change)
{
    r->delta[i] = r->delta[i] + change;
    for (int j = 0; j < n; ++j) r->velocity[j] = r->velocity[j] + p->k_matrix[k_index(i, j)] * change;
}

// First the impulse that all points need in common, shared evenly, so that no point is favoured.
VY_FN void distribute(const pack *p, pack_rows *r, int n)
{
    const mask has_several = p->point_count > 1.5;
    real shared = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        const real normal_impulse = p->p[i].normal_impulse;
        shared = shared + (((r->keep_scale[i] * normal_impulse + r->held_impulse[i]) - normal_impulse) -
                           r->mass_scale[i] * p->shared_mass * (r->velocity[i] + r->bias[i]));
    }
    shared = shared * p->inverse_point_count;
    for (int i = 0; i < n; ++i) {
        const real delta = real_max(shared, -p->p[i].normal_impulse);
        propagate(p, r, n, i, real_select(has_several & has_point(p, i), delta, real_set(0.0)));
    }
}

// One step of Gauss-Seidel: the impulse of point i, clamped at zero.
VY_FN void solve_row(const pack *p, pack_rows *r, int n, int i, mask active_lanes)
{
    const real old = p->p[i].normal_impulse + r->delta[i];
    const real unclamped = (r->keep_scale[i] * old + r->held_impulse[i]) -
                           r->mass_scale[i] * p->p[i].normal_mass * (r->velocity[i] + r->bias[i]);
    const real change = real_max(unclamped, real_set(0.0)) - old;
    propagate(p, r, n, i, real_select(active_lanes, change, real_set(0.0)));
}

// Lanes where a point still closes fast.
VY_FN mask still_closing(const pack_rows *r, int n)
{
    mask fast = (-(r->velocity[0] + r->bias[0])) > FAST_CLOSING;
    for (int i = 1; i < n; ++i) fast = fast | ((-(r->velocity[i] + r->bias[i])) > FAST_CLOSING);
    return fast;
}

// Solve the normal impulses of all points: symmetric Gauss-Seidel over the rows, forwards and backwards, then
// apply their sum to the bodies. Forwards alone is not symmetric between the points, and with warm starting a
// tall wall would rock itself up.
VY_FN void solve_contact(const contact_context *context, pack *p, const pack_jacobian *jac,
                         pack_velocities *v, int n, int use_bias)
{
    pack_rows r;
    build_rows(context, p, jac, v, n, use_bias, &r);
    if (n > 1) distribute(p, &r, n);
    // One iteration is enough at rest; in an impact, where points still close fast, more are needed.
    mask active_lanes = mask_set(1);
    for (int round = 0; round < POINT_ITERATIONS && mask_any(active_lanes); ++round) {
        for (int i = 0; i < n; ++i) solve_row(p, &r, n, i, active_lanes);
        for (int i = n - 1; i >= 0; --i) solve_row(p, &r, n, i, active_lanes);
        active_lanes = active_lanes & still_closing(&r, n);
    }
    vec3 angular = vec3_zero();
    real sum = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        angular = vec3_add_scaled(angular, r.delta[i], jac->angular_a[i]);
        sum = sum + r.delta[i];
        p->p[i].normal_impulse = p->p[i].normal_impulse + r.delta[i];
    }
    apply_impulse(jac, v, vec3_scale(sum, p->normal), angular,
                  vec3_add_scaled(angular, -sum, jac->angular_offset));
    solve_friction(p, jac, v, n);
}

// Displacement of a body of each lane since the start of the step. Returns R^T n - n, where R is its rotation
// since then, with quaternion (w, u): -2w (u x n) + 2u x (u x n); `turn2` is about the square of its angle.
VY_FN vec3 load_displacement(const contact_context *context, const uint32_t body[VY_LANES], vec3 n,
                             vec3 *moved, real *turn2)
{
    const double *from[VY_LANES];
    real x[8];
    for (int i = 0; i < VY_LANES; ++i) from[i] = context->body[body[i]].delta_position;
    real_load_rows(from, x);
    const vec3 u = vec3_make(x[4], x[5], x[6]), t = vec3_scale(real_set(2.0), vec3_cross(u, n));
    *moved = vec3_make(x[0], x[1], x[2]);
    *turn2 = 4.0 - 4.0 * (x[3] * x[3]);
    return vec3_add_scaled(vec3_cross(u, t), -x[3], t);
}

// Update the separations, and the anchor where friction acts. The squares of the angles by which the bodies
// have turned since the start of the step go to turn2_a and turn2_b.
VY_FN void update_points(const contact_context *context, pack *p, int n, real *turn2_a, real *turn2_b)
{
    vec3 moved_a, moved_b;
    const vec3 na = load_displacement(context, p->a, p->normal, &moved_a, turn2_a),
               nb = load_displacement(context, p->b, p->normal, &moved_b, turn2_b),
               moved = vec3_sub(moved_b, moved_a);
    // separation = n.(anchor_b' - anchor_a' + a_to_b), with anchor_b = anchor_a + separation n - a_to_b at
    // the start.
    const vec3 per_anchor = vec3_sub(nb, na);
    const real per_separation = 1.0 + vec3_dot(nb, p->normal),
               base = vec3_dot(p->normal, moved) - vec3_dot(nb, p->start_a_to_b);
    p->a_to_b = vec3_add(p->start_a_to_b, moved);
    // The contact moves with the bodies, most with the lighter one, but does not turn with them: a wheel's
    // contact stays under its axle.
    p->contact_shift = vec3_scale(p->inverse_mass_ratio_b, moved);
    vec3 sum = vec3_zero(), anchor_sum = vec3_zero();
    real weight = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        const pack_point_start *q = &p->start[i];
        const mask has = has_point(p, i);
        const vec3 anchor = vec3_add_scaled(q->anchor_a, p->inverse_mass_ratio_b * q->separation, p->normal);
        p->p[i].separation = real_select(
            has, (per_separation * q->separation + base) + vec3_dot(per_anchor, q->anchor_a), real_set(0.0));
        sum = vec3_add_scaled(sum, p->p[i].normal_impulse, anchor);
        anchor_sum = vec3_add(anchor_sum, anchor);
        weight = weight + p->p[i].normal_impulse;
    }
    const mask has_impulse = weight > 0.0;
    const real per = 1.0 / weight;
    const vec3 mean =
        vec3_select(has_impulse, vec3_scale(per, sum), vec3_scale(p->inverse_point_count, anchor_sum));
    p->friction_anchor_a = vec3_add(mean, p->contact_shift);
    if (n == 1) return;
    real radius_sum = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        const pack_point_start *q = &p->start[i];
        const vec3 anchor = vec3_add_scaled(q->anchor_a, p->inverse_mass_ratio_b * q->separation, p->normal);
        radius_sum = radius_sum + p->p[i].normal_impulse * vec3_length(vec3_sub(anchor, mean));
    }
    p->friction_radius = real_select(has_impulse & (p->point_count > 1.5), radius_sum * per, real_set(0.0));
}

#include "dynamics/contact_masses.inl"

// Add the impulses to the bodies' warm start of the next sub-step. Returns the impulse on b.
VY_FN vec3 add_warm_start(const contact_context *context, const pack *p, const pack_jacobian *jac, int n)
{
    vec3 angular = vec3_zero();
    real sum = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        angular = vec3_add_scaled(angular, p->p[i].normal_impulse, jac->angular_a[i]);
        sum = sum + p->p[i].normal_impulse;
    }
    const vec3 tangent_impulse =
        tangent_vector(p->tangent_impulse_1, p->tangent_1, p->tangent_impulse_2, jac->tangent_2);
    const vec3 impulse = vec3_add(vec3_scale(sum, p->normal), tangent_impulse);
    const vec3 angular_impulse = vec3_add_scaled(
        tangent_vector(p->rolling_impulse_1, p->tangent_1, p->rolling_impulse_2, jac->tangent_2),
        p->twist_impulse, p->normal);
    const vec3 friction_anchor_b = vec3_sub(p->friction_anchor_a, p->a_to_b);
    const vec3 angular_impulse_a = vec3_add(
                   vec3_add(angular, vec3_cross(p->friction_anchor_a, tangent_impulse)), angular_impulse),
               angular_impulse_b = vec3_add(vec3_add(vec3_add_scaled(angular, -sum, jac->angular_offset),
                                                     vec3_cross(friction_anchor_b, tangent_impulse)),
                                            angular_impulse);
    double discard[8] = {0.0};
    double *a[VY_LANES], *b[VY_LANES];
    for (int i = 0; i < VY_LANES; ++i) {
        a[i] = p->write_a[i] ? context->motion[p->a[i]].impulse : discard;
        b[i] = p->write_b[i] ? context->motion[p->b[i]].impulse : discard;
    }
    add_row(a, vec3_neg(impulse), vec3_neg(angular_impulse_a));
    add_row(b, impulse, angular_impulse_b);
    return impulse;
}

VY_FN void relax_last(const contact_context *context, pack *p, pack_velocities *v, int n)
{
    pack_jacobian jac;
    update_contact(context, p, n, &jac);
    for (int i = 0; i < n && p->has_restitution; ++i)
        p->impact[i].max_normal_impulse = real_max(p->impact[i].max_normal_impulse, p->p[i].normal_impulse);
    solve_contact(context, p, &jac, v, n, 0);
    real normal_impulse = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        p->start[i].total_normal_impulse = p->start[i].total_normal_impulse + p->p[i].normal_impulse;
        normal_impulse = normal_impulse + p->p[i].normal_impulse;
    }
    for (int i = 0; i < n && p->has_restitution; ++i)
        p->impact[i].max_normal_impulse = real_max(p->impact[i].max_normal_impulse, p->p[i].normal_impulse);
    p->mean_normal_impulse =
        p->mean_normal_impulse + context->mean_weight * (normal_impulse - p->mean_normal_impulse);
    p->total_impulse = vec3_add(p->total_impulse, add_warm_start(context, p, &jac, n));
    if (p->has_restitution) p->impact_impulse = p->total_impulse;
}

VY_FN void relax(const contact_context *context, pack *p, pack_velocities *v, int n)
{
    pack_jacobian jac;
    update_contact(context, p, n, &jac);
    solve_contact(context, p, &jac, v, n, 0);
}

VY_FN void solve_with_bias(const contact_context *context, pack *p, pack_velocities *v, int n)
{
    pack_jacobian jac;
    load_jacobian(context, p, n, &jac);
    solve_contact(context, p, &jac, v, n, 1);
}

VY_FN void warm_start(const contact_context *context, const pack *p, int n)
{
    pack_jacobian jac;
    compute_jacobian(p, n, &jac);
    (void)add_warm_start(context, p, &jac, n);
}

VY_FN pack_velocities velocities_select(mask m, const pack_velocities *x, const pack_velocities *y)
{
    const pack_velocities v = {vec3_select(m, x->va, y->va), vec3_select(m, x->wa, y->wa),
                               vec3_select(m, x->vb, y->vb), vec3_select(m, x->wb, y->wb)};
    return v;
}

// Whether a point bounces: it closed faster than the threshold and had an impulse.
VY_FN mask point_bounces(const contact_context *context, const pack *p, int i)
{
    const pack_point_impact *q = &p->impact[i];
    return (q->relative_velocity <= -context->restitution_threshold) & (q->max_normal_impulse > 0.0) &
           (p->restitution > 0.0);
}

// Points that bounce separate with restitution times the velocity at which they closed.
VY_FN void apply_restitution(const contact_context *context, pack *p, pack_velocities *v, int n)
{
    pack_jacobian jac;
    load_jacobian(context, p, n, &jac);
    for (int i = 0; i < n; ++i) {
        pack_point_start *q = &p->start[i];
        const mask now = point_bounces(context, p, i);
        const real old = p->p[i].normal_impulse,
                   unclamped = old - p->p[i].normal_mass * (normal_velocity(p, &jac, v, i) +
                                                            p->restitution * p->impact[i].relative_velocity);
        const real normal_impulse = real_select(now, real_max(unclamped, real_set(0.0)), old),
                   delta = normal_impulse - old;
        const vec3 impulse = vec3_scale(delta, p->normal);
        pack_velocities after = *v;
        apply_impulse(&jac, &after, impulse, vec3_scale(delta, jac.angular_a[i]),
                      vec3_scale(delta, angular_b(&jac, i)));
        *v = velocities_select(now, &after, v);
        p->total_impulse = vec3_select(now, vec3_add(p->total_impulse, impulse), p->total_impulse);
        q->total_normal_impulse = q->total_normal_impulse + delta;
        p->p[i].normal_impulse = normal_impulse;
    }
}

// Friction of the impulses that restitution added, after all of those: it changes velocities along the
// normals, and restitution would turn that into energy. Points that bounced separate, so they have no warm
// start.
VY_FN void restitution_friction(const contact_context *context, pack *p, pack_velocities *v, int n)
{
    mask any = point_bounces(context, p, 0);
    for (int i = 1; i < n; ++i) any = any | point_bounces(context, p, i);
    pack after = *p;
    pack_velocities moved = *v;
    pack_jacobian jac;
    load_jacobian(context, p, n, &jac);
    solve_friction(&after, &jac, &moved, n);
    const vec3 tangent_impulse =
        tangent_vector(after.tangent_impulse_1 - p->tangent_impulse_1, p->tangent_1,
                       after.tangent_impulse_2 - p->tangent_impulse_2, jac.tangent_2);
    const real none = real_set(0.0);
    *v = velocities_select(any, &moved, v);
    p->total_impulse = vec3_select(any, vec3_add(p->total_impulse, tangent_impulse), p->total_impulse);
    p->tangent_impulse_1 = real_select(any, none, p->tangent_impulse_1);
    p->tangent_impulse_2 = real_select(any, none, p->tangent_impulse_2);
    p->rolling_impulse_1 = real_select(any, none, p->rolling_impulse_1);
    p->rolling_impulse_2 = real_select(any, none, p->rolling_impulse_2);
    p->twist_impulse = real_select(any, none, p->twist_impulse);
    for (int i = 0; i < n; ++i)
        p->p[i].normal_impulse = real_select(point_bounces(context, p, i), none, p->p[i].normal_impulse);
}

// ---- packs

// Load each lane's contact, row by row.
VY_FN void load_contacts(const contact *const c[VY_LANES], pack *p)
{
    const double *from[VY_LANES];
    real x[8];
    for (int i = 0; i < VY_LANES; ++i) from[i] = &c[i]->normal.x;
    real_load_rows(from, x);
    p->normal = vec3_make(x[0], x[1], x[2]);
    p->tangent_1 = vec3_make(x[3], x[4], x[5]);
    VY_ASSERT(mask_all(vec3_is_unit(p->normal) & vec3_is_unit(p->tangent_1)));
    p->friction = x[6];
    p->restitution = x[7];
    for (int i = 0; i < VY_LANES; ++i) from[i] = &c[i]->a_to_b.x;
    real_load_rows(from, x);
    p->start_a_to_b = vec3_make(x[0], x[1], x[2]);
    p->mean_normal_impulse = x[3];
    p->rolling_resistance = x[4];
    p->torsional_friction = x[5];
    p->tangent_impulse_1 = x[6];
    p->tangent_impulse_2 = x[7];
    for (int i = 0; i < VY_LANES; ++i) from[i] = &c[i]->rolling_impulse_1;
    real_load_rows(from, x);
    p->rolling_impulse_1 = x[0];
    p->rolling_impulse_2 = x[1];
    p->twist_impulse = x[2];
    for (int k = 0; k < p->points; ++k) {
        for (int i = 0; i < VY_LANES; ++i) from[i] = &c[i]->points[k].anchor_a.x;
        real_load_rows(from, x);
        p->start[k].anchor_a = vec3_make(x[0], x[1], x[2]);
        p->start[k].separation = x[3];
        p->p[k].normal_impulse = x[4];
        p->impact[k].max_normal_impulse = p->start[k].total_normal_impulse = real_set(0.0);
    }
    p->inverse_point_count = 1.0 / p->point_count;
    p->friction_radius = real_set(0.0);
    p->total_impulse = vec3_zero();
}

// Unused lanes repeat the first contact and write nothing.
static void fill_lanes(const contact_context *context, const uint32_t *contacts, uint32_t count, pack *p)
{
    VY_ASSERT(count >= 1 && count <= VY_LANES);
    const contact *from[VY_LANES];
    p->lanes = count;
    p->points = 1;
    p->has_rolling = p->has_restitution = 0;
    for (uint32_t i = 0; i < VY_LANES; ++i) {
        const contact *c = &context->contacts[contacts[i < count ? i : 0]];
        VY_ASSERT(c->a != c->b && c->point_count >= 1 && c->point_count <= POINTS);
        from[i] = c;
        p->contact[i] = contacts[i < count ? i : 0];
        p->a[i] = c->a;
        p->b[i] = c->b;
        p->write_a[i] = i < count && context->body[c->a].moves;
        p->write_b[i] = i < count && context->body[c->b].moves;
        p->has_rolling |= c->rolling_resistance > 0.0;
        p->has_restitution |= c->restitution > 0.0;
        p->points = c->point_count > p->points ? (c->point_count == 3 ? 4 : c->point_count) : p->points;
        set_lane(&p->point_count, (int)i, c->point_count);
        const double thick_a = context->thickness[c->a], thick_b = context->thickness[c->b];
        const double thin = SLOP_FRACTION * (thick_a < thick_b ? thick_a : thick_b);
        set_lane(&p->slop, (int)i, thin < context->slop ? thin : context->slop);
    }
    load_contacts(from, p);
}

// Points that are still apart close faster or slower until they touch, by what forces do on the way: v^2 + 2
// a gap. Without that every bounce would lose the work of gravity over the gap.
VY_FN void find_impact_velocities(const contact_context *context, pack *p, int n)
{
    real acceleration = real_set(0.0); // [m/s^2] of b against a, along the normal
    for (int i = 0; i < VY_LANES; ++i) {
        const vy_vec3 a = context->body[p->a[i]].acceleration, b = context->body[p->b[i]].acceleration;
        set_lane(&acceleration, i,
                 (get_lane(&p->normal.x, i) * (b.x - a.x) + get_lane(&p->normal.y, i) * (b.y - a.y)) +
                     get_lane(&p->normal.z, i) * (b.z - a.z));
    }
    for (int i = 0; i < n; ++i) {
        pack_point_impact *q = &p->impact[i];
        const real gap = real_max(p->start[i].separation, real_set(0.0)), v = q->relative_velocity,
                   at_impact = real_sqrt(real_max(v * v - 2.0 * acceleration * gap, real_set(0.0)));
        q->relative_velocity = real_select((v < 0.0) & (p->restitution > 0.0), -at_impact, v);
    }
}

VY_FN void prepare_points(const contact_context *context, pack *p, int n)
{
    pack_jacobian jac;
    real turn2_a, turn2_b;
    load_masses(context, p, &jac);
    VY_ASSERT(mask_all(jac.inverse_mass_a + jac.inverse_mass_b > 0.0)); // unused lanes repeat a live one
    p->inverse_mass_ratio_b = jac.inverse_mass_b / (jac.inverse_mass_a + jac.inverse_mass_b);
    update_points(context, p, n, &turn2_a, &turn2_b);
    compute_jacobian(p, n, &jac);
    compute_normal_masses(p, &jac, n);
    prepare_tangent_mass(p, &jac);
    prepare_stale(p, &jac);
    const pack_velocities v = load_velocities(context, p);
    for (int i = 0; i < n; ++i)
        p->impact[i].relative_velocity =
            real_select(has_point(p, i), normal_velocity(p, &jac, &v, i), real_set(0.0));
    if (p->has_restitution) find_impact_velocities(context, p, n);
}

/// Call a function over points for the number that a pack has, as a constant.
#define FOR_POINTS(p, call)  \
    switch ((p)->points) {   \
    case 1: call(1); break;  \
    case 2: call(2); break;  \
    default: call(4); break; \
    }

static void kernel_prepare(const contact_context *context, const uint32_t *contacts, uint32_t count,
                           void *memory)
{
    pack *p = (pack *)memory;
    fill_lanes(context, contacts, count, p);
#define CALL(n) prepare_points(context, p, n)
    FOR_POINTS(p, CALL)
#undef CALL
}

static void kernel_warm_start(const contact_context *context, void *packs, uint32_t first, uint32_t last)
{
    for (pack *p = (pack *)packs + first; p < (pack *)packs + last; ++p) {
#define CALL(n) warm_start(context, p, n)
        FOR_POINTS(p, CALL)
#undef CALL
    }
}

// Bodies of one island have the same.
VY_FN real load_fraction(const contact_context *context, const pack *p)
{
    real fraction = real_set(0.0);
    for (int i = 0; i < VY_LANES; ++i)
        set_lane(&fraction, i, context->motion[context->body[p->a[i]].moves ? p->a[i] : p->b[i]].fraction);
    return fraction;
}

static void kernel_scale_restitution(const contact_context *context, void *packs, uint32_t first,
                                     uint32_t last)
{
    for (pack *p = (pack *)packs + first; p < (pack *)packs + last; ++p) {
        if (!p->has_restitution) continue;
        const vec3 more = vec3_sub(p->total_impulse, p->impact_impulse);
        p->total_impulse = vec3_add_scaled(p->impact_impulse, load_fraction(context, p), more);
    }
}

static void kernel_scale_impulses(const contact_context *context, void *packs, uint32_t first, uint32_t last)
{
    for (pack *p = (pack *)packs + first; p < (pack *)packs + last; ++p) {
        const real fraction = load_fraction(context, p);
        for (int i = 0; i < p->points; ++i) p->p[i].normal_impulse = fraction * p->p[i].normal_impulse;
        p->tangent_impulse_1 = fraction * p->tangent_impulse_1;
        p->tangent_impulse_2 = fraction * p->tangent_impulse_2;
        p->rolling_impulse_1 = fraction * p->rolling_impulse_1;
        p->rolling_impulse_2 = fraction * p->rolling_impulse_2;
        p->twist_impulse = fraction * p->twist_impulse;
    }
}

static void kernel_limit_impulses(const contact_context *context, void *packs, uint32_t first, uint32_t last)
{
    for (pack *p = (pack *)packs + first; p < (pack *)packs + last; ++p) {
        const real less = load_fraction(context, p) - 1.0;
        const mask limited = less < 0.0;
        real sum = real_set(0.0);
        for (int i = 0; i < p->points; ++i) {
            const real total = p->start[i].total_normal_impulse + less * p->p[i].normal_impulse;
            p->start[i].total_normal_impulse = real_select(limited, total, p->start[i].total_normal_impulse);
            sum = sum + p->p[i].normal_impulse;
        }
        const vec3 impulse = vec3_add(vec3_scale(sum, p->normal),
                                      tangent_vector(p->tangent_impulse_1, p->tangent_1, p->tangent_impulse_2,
                                                     vec3_cross(p->normal, p->tangent_1)));
        p->total_impulse =
            vec3_select(limited, vec3_add_scaled(p->total_impulse, less, impulse), p->total_impulse);
        if (p->has_restitution) p->impact_impulse = p->total_impulse;
    }
    kernel_scale_impulses(context, packs, first, last);
}

static void kernel_solve(const contact_context *context, void *packs, uint32_t first, uint32_t last)
{
    for (pack *p = (pack *)packs + first; p < (pack *)packs + last; ++p) {
        pack_velocities v = load_velocities(context, p);
#define CALL(n) solve_with_bias(context, p, &v, n)
        FOR_POINTS(p, CALL)
#undef CALL
        store_velocities(context, p, &v);
    }
}

static void kernel_relax(const contact_context *context, void *packs, uint32_t first, uint32_t last)
{
    for (pack *p = (pack *)packs + first; p < (pack *)packs + last; ++p) {
        pack_velocities v = load_velocities(context, p);
#define CALL(n) relax(context, p, &v, n)
        FOR_POINTS(p, CALL)
#undef CALL
        store_velocities(context, p, &v);
    }
}

static void kernel_relax_last(const contact_context *context, void *packs, uint32_t first, uint32_t last)
{
    for (pack *p = (pack *)packs + first; p < (pack *)packs + last; ++p) {
        pack_velocities v = load_velocities(context, p);
#define CALL(n) relax_last(context, p, &v, n)
        FOR_POINTS(p, CALL)
#undef CALL
        store_velocities(context, p, &v);
    }
}

static void kernel_apply_restitution(const contact_context *context, void *packs, uint32_t first,
                                     uint32_t last)
{
    for (pack *p = (pack *)packs + first; p < (pack *)packs + last; ++p) {
        if (!p->has_restitution) continue;
        pack_velocities v = load_velocities(context, p);
        apply_restitution(context, p, &v, p->points);
        store_velocities(context, p, &v);
    }
}

static void kernel_restitution_friction(const contact_context *context, void *packs, uint32_t first,
                                        uint32_t last)
{
    for (pack *p = (pack *)packs + first; p < (pack *)packs + last; ++p) {
        if (!p->has_restitution) continue;
        pack_velocities v = load_velocities(context, p);
        restitution_friction(context, p, &v, p->points);
        store_velocities(context, p, &v);
    }
}

static void kernel_store_impulses(const contact_context *context, const void *packs, uint32_t first,
                                  uint32_t last)
{
    for (const pack *p = (const pack *)packs + first; p < (const pack *)packs + last; ++p) {
        for (int i = 0; i < (int)p->lanes; ++i) {
            contact *c = &context->contacts[p->contact[i]];
            c->mean_normal_impulse = get_lane(&p->mean_normal_impulse, i);
            c->tangent_impulse_1 = get_lane(&p->tangent_impulse_1, i);
            c->tangent_impulse_2 = get_lane(&p->tangent_impulse_2, i);
            c->rolling_impulse_1 = get_lane(&p->rolling_impulse_1, i);
            c->rolling_impulse_2 = get_lane(&p->rolling_impulse_2, i);
            c->twist_impulse = get_lane(&p->twist_impulse, i);
            c->total_impulse.x = get_lane(&p->total_impulse.x, i);
            c->total_impulse.y = get_lane(&p->total_impulse.y, i);
            c->total_impulse.z = get_lane(&p->total_impulse.z, i);
            for (int k = 0; k < c->point_count; ++k) {
                c->points[k].normal_impulse = get_lane(&p->p[k].normal_impulse, i);
                c->total_normal_impulse[k] = get_lane(&p->start[k].total_normal_impulse, i);
                c->relative_velocity[k] = get_lane(&p->impact[k].relative_velocity, i);
                context->headers[p->contact[i]].impulse_points += c->total_normal_impulse[k] > 0.0;
            }
        }
    }
}

#include "dynamics/contact_bodies.inl"

static const contact_kernel kernel = {KERNEL_NAME,
                                      VY_LANES,
                                      sizeof(pack),
                                      kernel_prepare,
                                      kernel_warm_start,
                                      kernel_scale_impulses,
                                      kernel_solve,
                                      kernel_relax,
                                      kernel_relax_last,
                                      kernel_apply_restitution,
                                      kernel_restitution_friction,
                                      kernel_scale_restitution,
                                      kernel_limit_impulses,
                                      kernel_integrate_velocities,
                                      kernel_integrate_positions,
                                      kernel_store_impulses};
const contact_kernel *const KERNEL_TABLE = &kernel;
