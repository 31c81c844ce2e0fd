// contact_masses.inl - the effective masses of contacts, and when they are recomputed: part of
// contact_kernel.inl.

#define STALE_MASS      0.5 // part of 1 / mass by which an effective mass may be off: from 1 on it adds energy
#define FRICTION_WEIGHT 0.4 // of friction's lever in that: its impulses are limited

// The effective mass 1 / k; 0 where nothing moves.
VY_FN real inverse_or_zero(real k) { return real_select(k > 0.0, 1.0 / k, real_set(0.0)); }

// Both tangents at once (2 x 2), so that the result does not depend on their choice.
VY_FN void prepare_tangent_mass(pack *p, const pack_jacobian *jac)
{
    const vec3 friction_anchor_b = vec3_sub(p->friction_anchor_a, p->a_to_b);
    const vec3 a1 = vec3_cross(p->friction_anchor_a, p->tangent_1),
               a2 = vec3_cross(p->friction_anchor_a, jac->tangent_2),
               b1 = vec3_cross(friction_anchor_b, p->tangent_1),
               b2 = vec3_cross(friction_anchor_b, jac->tangent_2);
    const vec3 ia = mul_inverse_inertia(jac->inverse_inertia_a, a1),
               ib = mul_inverse_inertia(jac->inverse_inertia_b, b1);
    const real inverse_mass_sum = jac->inverse_mass_a + jac->inverse_mass_b;
    const real k11 = inverse_mass_sum + (vec3_dot(a1, ia) + vec3_dot(b1, ib)),
               k12 = vec3_dot(a2, ia) + vec3_dot(b2, ib),
               k22 = inverse_mass_sum + (vec3_dot(a2, mul_inverse_inertia(jac->inverse_inertia_a, a2)) +
                                         vec3_dot(b2, mul_inverse_inertia(jac->inverse_inertia_b, b2)));
    const real inverse_determinant = inverse_or_zero(k11 * k22 - k12 * k12);
    p->tangent_mass_11 = inverse_determinant * k22;
    p->tangent_mass_12 = -(inverse_determinant * k12);
    p->tangent_mass_22 = inverse_determinant * k11;
    p->mass_anchor_a = p->friction_anchor_a;
}

VY_FN real effective_inertia(const pack_jacobian *jac, vec3 axis)
{
    return inverse_or_zero(vec3_dot(axis, mul_inverse_inertia(jac->inverse_inertia_a, axis)) +
                           vec3_dot(axis, mul_inverse_inertia(jac->inverse_inertia_b, axis)));
}

// The effective masses of all rows but friction's, at the points and inertias as they are now.
VY_FN void compute_normal_masses(pack *p, const pack_jacobian *jac, int n)
{
    const real inverse_mass_sum = jac->inverse_mass_a + jac->inverse_mass_b;
    real normal_mass_sum = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        const mask is_point = has_point(p, i);
        const vec3 ta = mul_inverse_inertia(jac->inverse_inertia_a, jac->angular_a[i]),
                   tb = mul_inverse_inertia(jac->inverse_inertia_b, angular_b(jac, i));
        for (int j = i; j < n; ++j) {
            const real k =
                inverse_mass_sum + (vec3_dot(ta, jac->angular_a[j]) + vec3_dot(tb, angular_b(jac, j)));
            const real k_element = real_select(is_point & has_point(p, j), k, real_set(0.0));
            p->k_matrix[k_index(i, j)] = k_element;
            normal_mass_sum = normal_mass_sum + (i == j ? 1.0 : 2.0) * k_element;
        }
        p->point[i].normal_mass = inverse_or_zero(p->k_matrix[k_index(i, i)]);
    }
    p->shared_mass = p->point_count / normal_mass_sum;
    p->twist_mass = effective_inertia(jac, p->normal);
    p->rolling_mass = real_set(0.0);
    if (p->has_rolling) {
        const real smaller_inertia =
            real_min(effective_inertia(jac, p->tangent_1), effective_inertia(jac, jac->tangent_2));
        p->rolling_mass = real_select(p->rolling_resistance > 0.0, smaller_inertia, real_set(0.0));
    }
}

// [1/m^2] By how much of what counts as stale a lever that is off by one metre changes 1 / mass: up to d^2
// tr(I^-1) for d.
VY_FN real stale_per_lever2(const real inverse_inertia[6], real inverse_mass)
{
    const real trace = (inverse_inertia[0] + inverse_inertia[3]) + inverse_inertia[5];
    return real_select(inverse_mass > 0.0, trace / (STALE_MASS * inverse_mass), real_set(0.0));
}

// The same of a turn by one radian and the effective inertia about the normal: a rod that is turned towards
// the normal has little of it, and a hundredth of a radian makes a difference. 0 for isotropic bodies.
VY_FN real stale_per_rotation2(const real inverse_inertia[6], const pack *p)
{
    const real trace = (inverse_inertia[0] + inverse_inertia[3]) + inverse_inertia[5],
               about_normal = vec3_dot(p->normal, mul_inverse_inertia(inverse_inertia, p->normal));
    return real_max(trace - 3.0 * about_normal, real_set(0.0)) * p->twist_mass / STALE_MASS;
}

VY_FN double max_of_lanes(const real *x)
{
    double max = get_lane(x, 0);
    for (int i = 1; i < VY_LANES; ++i) {
        const double lane = get_lane(x, i);
        if (lane > max) max = lane;
    }
    return max;
}

// The coefficients of stale_masses(), once a step: levers change as the contact moves against each body, and
// as that turns.
VY_FN void prepare_staleness(pack *p, const pack_jacobian *jac)
{
    const real stale_per_lever2_a = stale_per_lever2(jac->inverse_inertia_a, jac->inverse_mass_a),
               stale_per_lever2_b = stale_per_lever2(jac->inverse_inertia_b, jac->inverse_mass_b),
               shift_part_b = p->inverse_mass_ratio_b, shift_part_a = 1.0 - shift_part_b;
    const vec3 friction_anchor_b = vec3_sub(p->friction_anchor_a, p->a_to_b);
    p->stale_per_shift2 = real_max(shift_part_b * shift_part_b * stale_per_lever2_a,
                                   shift_part_a * shift_part_a * stale_per_lever2_b);
    p->stale_per_angle2_a =
        real_max(stale_per_lever2_a * vec3_dot(p->friction_anchor_a, p->friction_anchor_a),
                 stale_per_rotation2(jac->inverse_inertia_a, p));
    p->stale_per_angle2_b = real_max(stale_per_lever2_b * vec3_dot(friction_anchor_b, friction_anchor_b),
                                     stale_per_rotation2(jac->inverse_inertia_b, p));
    p->stale_per_anchor_shift2 = FRICTION_WEIGHT * real_max(stale_per_lever2_a, stale_per_lever2_b);
    p->lane_was_stale = real_set(0.0);
    p->was_stale = 0;
    p->max_stale_per_shift2 = max_of_lanes(&p->stale_per_shift2);
    p->max_stale_per_angle2_a = max_of_lanes(&p->stale_per_angle2_a);
    p->max_stale_per_angle2_b = max_of_lanes(&p->stale_per_angle2_b);
}

// Lanes for which an effective mass may be another one: those whose levers have moved, or whose bodies have
// turned, since the start of the step.
VY_FN mask stale_masses(const pack *p, real angle2_a, real angle2_b)
{
    const vec3 shift = vec3_sub(p->a_to_b, p->start_a_to_b);
    const real shift2 = vec3_dot(shift, shift);
    const real max_staleness =
        p->max_stale_per_shift2 * shift2 + (p->max_stale_per_angle2_a * real_max(angle2_a, real_set(0.0)) +
                                            p->max_stale_per_angle2_b * real_max(angle2_b, real_set(0.0)));
    if (!p->was_stale && mask_all(max_staleness <= 1.0))
        return mask_set(0); // most packs: each lane's are not read
    const mask is_stale =
        p->stale_per_shift2 * shift2 + (p->stale_per_angle2_a * angle2_a + p->stale_per_angle2_b * angle2_b) >
        1.0;
    return is_stale | (p->lane_was_stale > 0.0); // then the masses are not those of the start of the step
}

VY_FN void refresh_tangent_mass(mask is_stale, pack *p, const pack_jacobian *jac)
{
    const real old_11 = p->tangent_mass_11, old_12 = p->tangent_mass_12, old_22 = p->tangent_mass_22;
    const vec3 old_anchor = p->mass_anchor_a;
    prepare_tangent_mass(p, jac);
    p->tangent_mass_11 = real_select(is_stale, p->tangent_mass_11, old_11);
    p->tangent_mass_12 = real_select(is_stale, p->tangent_mass_12, old_12);
    p->tangent_mass_22 = real_select(is_stale, p->tangent_mass_22, old_22);
    p->mass_anchor_a = vec3_select(is_stale, p->mass_anchor_a, old_anchor);
}

VY_FN void refresh_normal_masses(mask is_stale, pack *p, const pack_jacobian *jac, int n)
{
    real old_k_matrix[K_COUNT], old_normal_mass[POINTS];
    const real old_shared_mass = p->shared_mass, old_twist_mass = p->twist_mass,
               old_rolling_mass = p->rolling_mass;
    for (int i = 0; i < n; ++i) {
        for (int j = i; j < n; ++j) old_k_matrix[k_index(i, j)] = p->k_matrix[k_index(i, j)];
        old_normal_mass[i] = p->point[i].normal_mass;
    }
    compute_normal_masses(p, jac, n);
    for (int i = 0; i < n; ++i) {
        for (int j = i; j < n; ++j) {
            const int entry = k_index(i, j);
            p->k_matrix[entry] = real_select(is_stale, p->k_matrix[entry], old_k_matrix[entry]);
        }
        p->point[i].normal_mass = real_select(is_stale, p->point[i].normal_mass, old_normal_mass[i]);
    }
    p->shared_mass = real_select(is_stale, p->shared_mass, old_shared_mass);
    p->twist_mass = real_select(is_stale, p->twist_mass, old_twist_mass);
    p->rolling_mass = real_select(is_stale, p->rolling_mass, old_rolling_mass);
}

// After the bodies have moved: points, Jacobian, and effective masses where they may be others. Solving with
// those of other levers may add energy.
VY_FN void update_contact(const contact_context *context, pack *p, int n, pack_jacobian *jac)
{
    real angle2_a, angle2_b;
    update_points(context, p, n, &angle2_a, &angle2_b);
    load_jacobian(context, p, n, jac);
    const mask is_stale = stale_masses(p, angle2_a, angle2_b);
    if (mask_any(is_stale)) {
        refresh_normal_masses(is_stale, p, jac, n);
        p->lane_was_stale = real_select(is_stale, real_set(1.0), p->lane_was_stale);
        p->was_stale = 1;
    }
    const vec3 anchor_shift = vec3_sub(p->friction_anchor_a, p->mass_anchor_a);
    const mask is_friction_stale =
        is_stale | (p->stale_per_anchor_shift2 * vec3_dot(anchor_shift, anchor_shift) > 1.0);
    if (mask_any(is_friction_stale)) refresh_tangent_mass(is_friction_stale, p, jac);
}
