// contact_rows.inl - one contact per lane: normal impulses of its points, friction, and where the points are
// after the bodies have moved. Part of contact_kernel.inl.

enum { POINT_ITERATIONS = 8 };
#define FAST_CLOSING 0.1    // [m/s]
#define MIN_IMPULSE  1e-290 // [N s] less is none: the inverse of what is left of a dying motion overflows

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
    v->wa = vec3_sub(v->wa, mul_inverse_inertia(jac->inverse_inertia_a, angular_impulse_a));
    v->wb = vec3_add(v->wb, mul_inverse_inertia(jac->inverse_inertia_b, angular_impulse_b));
}

VY_FN void apply_angular_impulse(const pack_jacobian *jac, pack_velocities *v, vec3 angular_impulse)
{
    v->wa = vec3_sub(v->wa, mul_inverse_inertia(jac->inverse_inertia_a, angular_impulse));
    v->wb = vec3_add(v->wb, mul_inverse_inertia(jac->inverse_inertia_b, angular_impulse));
}

// Scale (x, y) down to the length `max` where it is longer.
VY_FN void clamp_length(real max, real *x, real *y)
{
    const real length2 = *x * *x + *y * *y;
    const real scale = real_select(length2 > max * max, max / real_sqrt(length2), real_set(1.0));
    *x = *x * scale;
    *y = *y * scale;
}

VY_FN vec3 tangent_vector(real impulse_1, vec3 tangent_1, real impulse_2, vec3 tangent_2)
{
    return vec3_add_scaled(vec3_scale(impulse_1, tangent_1), impulse_2, tangent_2);
}

// Rolling resistance, torsional friction and Coulomb friction, all limited by the normal impulse of the
// points.
VY_FN void solve_friction(pack *p, const pack_jacobian *jac, pack_velocities *v, int n)
{
    real normal_impulse = real_set(0.0);
    for (int i = 0; i < n; ++i) normal_impulse = normal_impulse + p->point[i].normal_impulse;
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
    const real old_twist_impulse = p->twist_impulse, rate = vec3_dot(vec3_sub(v->wb, v->wa), p->normal);
    p->twist_impulse =
        real_clamp(old_twist_impulse - p->twist_mass * rate, -max_twist_impulse, max_twist_impulse);
    apply_angular_impulse(jac, v, vec3_scale(p->twist_impulse - old_twist_impulse, p->normal));

    const vec3 friction_anchor_b = vec3_sub(p->friction_anchor_a, p->a_to_b);
    const vec3 velocity_a = vec3_add(v->va, vec3_cross(v->wa, p->friction_anchor_a)),
               velocity_b = vec3_add(v->vb, vec3_cross(v->wb, friction_anchor_b)),
               slip = vec3_sub(velocity_b, velocity_a);
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
    const mask both_dynamic = (jac->inverse_mass_a > 0.0) & (jac->inverse_mass_b > 0.0); // both move
    const contact_softness *softness = context->softness;
    real mean_share = real_set(0.0); // the part of a point's impulse that the mean of the contact is
    if (use_bias && context->hold_mean_impulse) {
        real impulse_sum = p->point[0].normal_impulse;
        for (int i = 1; i < n; ++i) impulse_sum = impulse_sum + p->point[i].normal_impulse;
        mean_share = real_select(impulse_sum > MIN_IMPULSE, p->mean_normal_impulse / impulse_sum, mean_share);
    }
    for (int i = 0; i < n; ++i) {
        const pack_point *point = &p->point[i];
        r->velocity[i] = real_select(has_point(p, i), normal_velocity(p, jac, v, i), real_set(0.0));
        r->delta[i] = real_set(0.0);
        r->mass_scale[i] = r->keep_scale[i] = real_set(1.0);
        r->held_impulse[i] = r->bias[i] = real_set(0.0);
        if (use_bias) {
            const mask is_soft = point->separation < -p->slop;
            const real bias_rate = real_select(both_dynamic, real_set(softness[0].bias_rate),
                                               real_set(softness[1].bias_rate)),
                       mass_scale = real_select(both_dynamic, real_set(softness[0].mass_scale),
                                                real_set(softness[1].mass_scale)),
                       impulse_scale = real_select(both_dynamic, real_set(softness[0].impulse_scale),
                                                   real_set(softness[1].impulse_scale));
            const real penetration = real_min(point->separation + p->slop, real_set(0.0));
            r->bias[i] = real_max(bias_rate * penetration, real_set(-context->push_speed));
            r->mass_scale[i] = real_select(is_soft, mass_scale, r->mass_scale[i]);
            r->keep_scale[i] = real_select(is_soft, 1.0 - impulse_scale, r->keep_scale[i]);
            r->held_impulse[i] =
                real_select(is_soft, impulse_scale * mean_share * point->normal_impulse, r->held_impulse[i]);
        }
        // A point that is still apart may close the gap within the sub-step, but no more.
        r->bias[i] = real_select(point->separation > 0.0, point->separation * context->inverse_h, r->bias[i]);
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
    real shared_impulse = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        const real normal_impulse = p->point[i].normal_impulse;
        shared_impulse =
            shared_impulse + (((r->keep_scale[i] * normal_impulse + r->held_impulse[i]) - normal_impulse) -
                              r->mass_scale[i] * p->shared_mass * (r->velocity[i] + r->bias[i]));
    }
    shared_impulse = shared_impulse * p->inverse_point_count;
    for (int i = 0; i < n; ++i) {
        const real delta = real_max(shared_impulse, -p->point[i].normal_impulse);
        propagate(p, r, n, i, real_select(has_several & has_point(p, i), delta, real_set(0.0)));
    }
}

// One step of Gauss-Seidel: the impulse of point i, clamped at zero.
VY_FN void solve_row(const pack *p, pack_rows *r, int n, int i, mask active_lanes)
{
    const real old_impulse = p->point[i].normal_impulse + r->delta[i];
    const real unclamped = (r->keep_scale[i] * old_impulse + r->held_impulse[i]) -
                           r->mass_scale[i] * p->point[i].normal_mass * (r->velocity[i] + r->bias[i]);
    const real change = real_max(unclamped, real_set(0.0)) - old_impulse;
    propagate(p, r, n, i, real_select(active_lanes, change, real_set(0.0)));
}

// Lanes where a point still closes fast.
VY_FN mask still_closing(const pack_rows *r, int n)
{
    mask closes_fast = (-(r->velocity[0] + r->bias[0])) > FAST_CLOSING;
    for (int i = 1; i < n; ++i) closes_fast = closes_fast | ((-(r->velocity[i] + r->bias[i])) > FAST_CLOSING);
    return closes_fast;
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
    for (int iteration = 0; iteration < POINT_ITERATIONS && mask_any(active_lanes); ++iteration) {
        for (int i = 0; i < n; ++i) solve_row(p, &r, n, i, active_lanes);
        for (int i = n - 1; i >= 0; --i) solve_row(p, &r, n, i, active_lanes);
        active_lanes = active_lanes & still_closing(&r, n);
    }
    vec3 angular_a = vec3_zero();
    real impulse_sum = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        angular_a = vec3_add_scaled(angular_a, r.delta[i], jac->angular_a[i]);
        impulse_sum = impulse_sum + r.delta[i];
        p->point[i].normal_impulse = p->point[i].normal_impulse + r.delta[i];
    }
    apply_impulse(jac, v, vec3_scale(impulse_sum, p->normal), angular_a,
                  vec3_add_scaled(angular_a, -impulse_sum, jac->angular_offset));
    solve_friction(p, jac, v, n);
}

// Displacement of a body of each lane since the start of the step. Returns R^T n - n, where R is its rotation
// since then, with quaternion (w, u): -2w (u x n) + 2u x (u x n); `angle2` is about the square of its angle.
VY_FN vec3 load_displacement(const contact_context *context, const uint32_t body[VY_LANES], vec3 normal,
                             vec3 *displacement, real *angle2)
{
    const double *row_start[VY_LANES];
    real row[8];
    for (int i = 0; i < VY_LANES; ++i) row_start[i] = context->body[body[i]].delta_position;
    real_load_rows(row_start, row);
    const vec3 u = vec3_make(row[4], row[5], row[6]), t = vec3_scale(real_set(2.0), vec3_cross(u, normal));
    *displacement = vec3_make(row[0], row[1], row[2]);
    *angle2 = 4.0 - 4.0 * (row[3] * row[3]);
    return vec3_add_scaled(vec3_cross(u, t), -row[3], t);
}

// Update the separations, and the anchor where friction acts. The squares of the angles by which the bodies
// have turned since the start of the step go to angle2_a and angle2_b.
VY_FN void update_points(const contact_context *context, pack *p, int n, real *angle2_a, real *angle2_b)
{
    vec3 displacement_a, displacement_b;
    const vec3 normal_change_a = load_displacement(context, p->a, p->normal, &displacement_a, angle2_a),
               normal_change_b = load_displacement(context, p->b, p->normal, &displacement_b, angle2_b),
               displacement = vec3_sub(displacement_b, displacement_a);
    // separation = n.(anchor_b' - anchor_a' + a_to_b), with anchor_b = anchor_a + separation n - a_to_b at
    // the start.
    const vec3 per_anchor = vec3_sub(normal_change_b, normal_change_a);
    const real per_separation = 1.0 + vec3_dot(normal_change_b, p->normal),
               base_separation =
                   vec3_dot(p->normal, displacement) - vec3_dot(normal_change_b, p->start_a_to_b);
    p->a_to_b = vec3_add(p->start_a_to_b, displacement);
    // The contact moves with the bodies, most with the lighter one, but does not turn with them: a wheel's
    // contact stays under its axle.
    p->contact_shift = vec3_scale(p->inverse_mass_ratio_b, displacement);
    vec3 weighted_sum = vec3_zero(), anchor_sum = vec3_zero();
    real impulse_sum = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        const pack_point_start *start = &p->start[i];
        const mask is_point = has_point(p, i);
        const vec3 anchor =
            vec3_add_scaled(start->anchor_a, p->inverse_mass_ratio_b * start->separation, p->normal);
        p->point[i].separation = real_select(is_point,
                                             (per_separation * start->separation + base_separation) +
                                                 vec3_dot(per_anchor, start->anchor_a),
                                             real_set(0.0));
        weighted_sum = vec3_add_scaled(weighted_sum, p->point[i].normal_impulse, anchor);
        anchor_sum = vec3_add(anchor_sum, anchor);
        impulse_sum = impulse_sum + p->point[i].normal_impulse;
    }
    const mask has_impulse = impulse_sum > MIN_IMPULSE;
    const real inverse_impulse_sum = 1.0 / impulse_sum;
    const vec3 mean_anchor = vec3_select(has_impulse, vec3_scale(inverse_impulse_sum, weighted_sum),
                                         vec3_scale(p->inverse_point_count, anchor_sum));
    p->friction_anchor_a = vec3_add(mean_anchor, p->contact_shift);
    if (n == 1) return;
    real radius_sum = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        const pack_point_start *start = &p->start[i];
        const vec3 anchor =
            vec3_add_scaled(start->anchor_a, p->inverse_mass_ratio_b * start->separation, p->normal);
        radius_sum = radius_sum + p->point[i].normal_impulse * vec3_length(vec3_sub(anchor, mean_anchor));
    }
    p->friction_radius =
        real_select(has_impulse & (p->point_count > 1.5), radius_sum * inverse_impulse_sum, real_set(0.0));
}
