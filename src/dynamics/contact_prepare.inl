// contact_prepare.inl - contacts into a pack, and its effective masses: part of contact_kernel.inl.

// Load each lane's contact, row by row.
VY_FN void load_contacts(const contact *const c[VY_LANES], pack *p)
{
    const double *row_start[VY_LANES];
    real row[8];
    for (int i = 0; i < VY_LANES; ++i) row_start[i] = &c[i]->normal.x;
    real_load_rows(row_start, row);
    p->normal = vec3_make(row[0], row[1], row[2]);
    p->tangent_1 = vec3_make(row[3], row[4], row[5]);
    VY_ASSERT(mask_all(vec3_is_unit(p->normal) & vec3_is_unit(p->tangent_1)));
    p->friction = row[6];
    p->restitution = row[7];
    for (int i = 0; i < VY_LANES; ++i) row_start[i] = &c[i]->a_to_b.x;
    real_load_rows(row_start, row);
    p->start_a_to_b = vec3_make(row[0], row[1], row[2]);
    p->mean_normal_impulse = row[3];
    p->rolling_resistance = row[4];
    p->torsional_friction = row[5];
    p->tangent_impulse_1 = row[6];
    p->tangent_impulse_2 = row[7];
    for (int i = 0; i < VY_LANES; ++i) row_start[i] = &c[i]->rolling_impulse_1;
    real_load_rows(row_start, row);
    p->rolling_impulse_1 = row[0];
    p->rolling_impulse_2 = row[1];
    p->twist_impulse = row[2];
    for (int k = 0; k < p->max_points; ++k) {
        for (int i = 0; i < VY_LANES; ++i) row_start[i] = &c[i]->points[k].anchor_a.x;
        real_load_rows(row_start, row);
        p->start[k].anchor_a = vec3_make(row[0], row[1], row[2]);
        p->start[k].separation = row[3];
        p->point[k].normal_impulse = row[4];
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
    const contact *lane_contacts[VY_LANES];
    p->lane_count = count;
    p->max_points = 1;
    p->has_rolling = p->has_restitution = 0;
    for (uint32_t i = 0; i < VY_LANES; ++i) {
        const contact *c = &context->contacts[contacts[i < count ? i : 0]];
        VY_ASSERT(c->a != c->b && c->point_count >= 1 && c->point_count <= POINTS);
        lane_contacts[i] = c;
        p->contact[i] = contacts[i < count ? i : 0];
        p->a[i] = c->a;
        p->b[i] = c->b;
        p->write_a[i] = i < count && context->body[c->a].moves;
        p->write_b[i] = i < count && context->body[c->b].moves;
        p->has_rolling |= c->rolling_resistance > 0.0;
        p->has_restitution |= c->restitution > 0.0;
        p->max_points =
            c->point_count > p->max_points ? (c->point_count == 3 ? 4 : c->point_count) : p->max_points;
        set_lane(&p->point_count, (int)i, c->point_count);
        const double thickness_a = context->thickness[c->a], thickness_b = context->thickness[c->b];
        const double thin_slop = SLOP_FRACTION * (thickness_a < thickness_b ? thickness_a : thickness_b);
        set_lane(&p->slop, (int)i, thin_slop < context->slop ? thin_slop : context->slop);
    }
    load_contacts(lane_contacts, p);
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
        pack_point_impact *impact = &p->impact[i];
        const real gap = real_max(p->start[i].separation, real_set(0.0)), v = impact->relative_velocity,
                   impact_speed = real_sqrt(real_max(v * v - 2.0 * acceleration * gap, real_set(0.0)));
        impact->relative_velocity = real_select((v < 0.0) & (p->restitution > 0.0), -impact_speed, v);
    }
}

VY_FN void prepare_points(const contact_context *context, pack *p, int n)
{
    pack_jacobian jac;
    real angle2_a, angle2_b;
    load_masses(context, p, &jac);
    VY_ASSERT(mask_all(jac.inverse_mass_a + jac.inverse_mass_b > 0.0)); // unused lanes repeat a live one
    p->inverse_mass_ratio_b = jac.inverse_mass_b / (jac.inverse_mass_a + jac.inverse_mass_b);
    update_points(context, p, n, &angle2_a, &angle2_b);
    compute_jacobian(p, n, &jac);
    compute_normal_masses(p, &jac, n);
    prepare_tangent_mass(p, &jac);
    prepare_staleness(p, &jac);
    const pack_velocities v = load_velocities(context, p);
    for (int i = 0; i < n; ++i)
        p->impact[i].relative_velocity =
            real_select(has_point(p, i), normal_velocity(p, &jac, &v, i), real_set(0.0));
    if (p->has_restitution) find_impact_velocities(context, p, n);
}
