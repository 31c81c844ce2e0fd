// contact_bodies.inl - sub-steps of bodies side by side: part of contact_kernel.inl. Bodies with the same
// moment of inertia about every axis and no torque alone: the others are integrated one by one, see
// contact_body.h.

VY_FN vec3 vec3_from_row(const real x[8], int from) { return vec3_make(x[from], x[from + 1], x[from + 2]); }

// Forces over h and the whole warm start, which stays there as the change of velocities that it makes.
// Returns whether the warm start of some body adds energy.
static int kernel_integrate_velocities(const contact_context *context, const uint32_t bodies[], double h,
                                       velocity_change_work work[])
{
    double *velocity[VY_LANES], *impulse[VY_LANES];
    const double *inverse_inertia[VY_LANES], *acceleration[VY_LANES];
    real x[8], y[8], m[8], f[8];
    for (int i = 0; i < VY_LANES; ++i) {
        VY_ASSERT(context->body[bodies[i]].is_vectorised);
        velocity[i] = context->motion[bodies[i]].velocity;
        impulse[i] = context->motion[bodies[i]].impulse;
        inverse_inertia[i] = context->body[bodies[i]].inverse_inertia;
        acceleration[i] = &context->body[bodies[i]].acceleration.x;
    }
    real_load_rows((const double *const *)velocity, x);
    real_load_rows((const double *const *)impulse, y);
    real_load_rows(inverse_inertia, m);
    real_load_rows(acceleration, f);
    const vec3 p = vec3_from_row(y, 0), l = vec3_from_row(y, 3), w = vec3_from_row(x, 3),
               v = vec3_add_scaled(vec3_from_row(x, 0), real_set(h), vec3_from_row(f, 0)),
               dv = vec3_scale(m[6], p), dw = vec3_scale(m[0], l);
    store_vectors(velocity, vec3_add(v, dv), vec3_add(w, dw));
    store_vectors(impulse, dv, dw);
    const real first = vec3_dot(p, v) + vec3_dot(l, w), second = vec3_dot(p, dv) + vec3_dot(l, dw);
    for (int i = 0; i < VY_LANES; ++i)
        work[bodies[i]] = (velocity_change_work){get_lane(&first, i), get_lane(&second, i)};
    return mask_any(first + 0.5 * second > 0.0);
}

// Positions and attitudes over h, but not `rotation`; the warm start begins again.
static void kernel_integrate_positions(const contact_context *context, const uint32_t bodies[], double h)
{
    const double *velocity[VY_LANES];
    double *delta[VY_LANES], *attitude[VY_LANES], *impulse[VY_LANES];
    real x[8], d[8], q[8];
    for (int i = 0; i < VY_LANES; ++i) {
        VY_ASSERT(context->body[bodies[i]].is_vectorised);
        velocity[i] = context->motion[bodies[i]].velocity;
        impulse[i] = context->motion[bodies[i]].impulse;
        delta[i] = context->body[bodies[i]].delta_position;
        attitude[i] = &context->body[bodies[i]].attitude.w;
    }
    real_load_rows(velocity, x);
    real_load_rows((const double *const *)delta, d);
    real_load_rows((const double *const *)attitude, q);
    const vec3 moved = vec3_add_scaled(vec3_from_row(d, 0), real_set(h), vec3_from_row(x, 0));
    const quat before = quat_make(q[0], q[1], q[2], q[3]), start = quat_make(q[4], q[5], q[6], q[7]),
               rate = quat_make(real_set(0.0), x[3], x[4], x[5]),
               now = quat_normalize(quat_add_scaled(before, real_set(0.5 * h), quat_mul(rate, before))),
               turned = quat_select(d[7] > 0.0, quat_mul(now, quat_conj(start)), quat_identity());
    const real moved_row[8] = {moved.x, moved.y, moved.z, turned.w, turned.x, turned.y, turned.z, d[7]},
               attitude_row[8] = {now.w, now.x, now.y, now.z, start.w, start.x, start.y, start.z};
    real_store_rows(delta, moved_row);
    real_store_rows(attitude, attitude_row);
    store_vectors(impulse, vec3_zero(), vec3_zero());
}
