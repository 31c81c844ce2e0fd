// contact_restitution.inl - the bounce of contacts side by side: part of contact_kernel.inl.

VY_FN pack_velocities velocities_select(mask m, const pack_velocities *x, const pack_velocities *y)
{
    const pack_velocities v = {vec3_select(m, x->va, y->va), vec3_select(m, x->wa, y->wa),
                               vec3_select(m, x->vb, y->vb), vec3_select(m, x->wb, y->wb)};
    return v;
}

// Whether a point bounces: it closed faster than the threshold and had an impulse.
VY_FN mask point_bounces(const contact_context *context, const pack *p, int i)
{
    const pack_point_impact *impact = &p->impact[i];
    return (impact->relative_velocity <= -context->restitution_threshold) &
           (impact->max_normal_impulse > 0.0) & (p->restitution > 0.0);
}

// Points that bounce separate with restitution times the velocity at which they closed.
VY_FN void apply_restitution(const contact_context *context, pack *p, pack_velocities *v, int n)
{
    pack_jacobian jac;
    load_jacobian(context, p, n, &jac);
    for (int i = 0; i < n; ++i) {
        pack_point_start *start = &p->start[i];
        const mask bounces = point_bounces(context, p, i);
        const real old_impulse = p->point[i].normal_impulse,
                   unclamped = old_impulse -
                               p->point[i].normal_mass * (normal_velocity(p, &jac, v, i) +
                                                          p->restitution * p->impact[i].relative_velocity);
        const real normal_impulse = real_select(bounces, real_max(unclamped, real_set(0.0)), old_impulse),
                   delta = normal_impulse - old_impulse;
        const vec3 impulse = vec3_scale(delta, p->normal);
        pack_velocities after = *v;
        apply_impulse(&jac, &after, impulse, vec3_scale(delta, jac.angular_a[i]),
                      vec3_scale(delta, angular_b(&jac, i)));
        *v = velocities_select(bounces, &after, v);
        p->total_impulse = vec3_select(bounces, vec3_add(p->total_impulse, impulse), p->total_impulse);
        start->total_normal_impulse = start->total_normal_impulse + delta;
        p->point[i].normal_impulse = normal_impulse;
    }
}

// Friction of the impulses that restitution added, after all of those: it changes velocities along the
// normals, and restitution would turn that into energy. Points that bounced separate, so they have no warm
// start.
VY_FN void restitution_friction(const contact_context *context, pack *p, pack_velocities *v, int n)
{
    mask bounces = point_bounces(context, p, 0);
    for (int i = 1; i < n; ++i) bounces = bounces | point_bounces(context, p, i);
    pack pack_after = *p;
    pack_velocities velocities_after = *v;
    pack_jacobian jac;
    load_jacobian(context, p, n, &jac);
    solve_friction(&pack_after, &jac, &velocities_after, n);
    const vec3 tangent_impulse =
        tangent_vector(pack_after.tangent_impulse_1 - p->tangent_impulse_1, p->tangent_1,
                       pack_after.tangent_impulse_2 - p->tangent_impulse_2, jac.tangent_2);
    const real zero = real_set(0.0);
    *v = velocities_select(bounces, &velocities_after, v);
    p->total_impulse = vec3_select(bounces, vec3_add(p->total_impulse, tangent_impulse), p->total_impulse);
    p->tangent_impulse_1 = real_select(bounces, zero, p->tangent_impulse_1);
    p->tangent_impulse_2 = real_select(bounces, zero, p->tangent_impulse_2);
    p->rolling_impulse_1 = real_select(bounces, zero, p->rolling_impulse_1);
    p->rolling_impulse_2 = real_select(bounces, zero, p->rolling_impulse_2);
    p->twist_impulse = real_select(bounces, zero, p->twist_impulse);
    for (int i = 0; i < n; ++i)
        p->point[i].normal_impulse =
            real_select(point_bounces(context, p, i), zero, p->point[i].normal_impulse);
}
