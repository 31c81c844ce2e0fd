// contact_bodies.inl - sub-steps of bodies side by side: part of contact_kernel.inl. Bodies with the same
// moment of inertia about every axis and no torque alone: the others are integrated one by one, see
// contact_body.h.

VY_FN vec3 vec3_from_row(const real row[8], int first)
{
    return vec3_make(row[first], row[first + 1], row[first + 2]);
}

// Forces over h and the whole warm start, which stays there as the change of velocities that it makes.
// Returns whether the warm start of some body adds energy.
static int kernel_integrate_velocities(const contact_context *context, const uint32_t bodies[], double h,
                                       velocity_change_work work[])
{
    double *velocity[VY_LANES], *impulse[VY_LANES];
    const double *inverse_inertia[VY_LANES], *acceleration[VY_LANES];
    real velocity_row[8], impulse_row[8], inertia_row[8], acceleration_row[8];
    for (int i = 0; i < VY_LANES; ++i) {
        VY_ASSERT(context->body[bodies[i]].is_vectorised);
        velocity[i] = context->motion[bodies[i]].velocity;
        impulse[i] = context->motion[bodies[i]].impulse;
        inverse_inertia[i] = context->body[bodies[i]].inverse_inertia;
        acceleration[i] = &context->body[bodies[i]].acceleration.x;
    }
    real_load_rows((const double *const *)velocity, velocity_row);
    real_load_rows((const double *const *)impulse, impulse_row);
    real_load_rows(inverse_inertia, inertia_row);
    real_load_rows(acceleration, acceleration_row);
    const vec3 p = vec3_from_row(impulse_row, 0), l = vec3_from_row(impulse_row, 3),
               w = vec3_from_row(velocity_row, 3),
               v = vec3_add_scaled(vec3_from_row(velocity_row, 0), real_set(h),
                                   vec3_from_row(acceleration_row, 0)),
               dv = vec3_scale(inertia_row[6], p), dw = vec3_scale(inertia_row[0], l);
    store_vectors(velocity, vec3_add(v, dv), vec3_add(w, dw));
    store_vectors(impulse, dv, dw);
    const real linear = vec3_dot(p, v) + vec3_dot(l, w), quadratic = vec3_dot(p, dv) + vec3_dot(l, dw);
    for (int i = 0; i < VY_LANES; ++i)
        work[bodies[i]] = (velocity_change_work){get_lane(&linear, i), get_lane(&quadratic, i)};
    return mask_any(linear + 0.5 * quadratic > 0.0);
}

// Positions and attitudes over h, but not `rotation`; the warm start begins again.
static void kernel_integrate_positions(const contact_context *context, const uint32_t bodies[], double h)
{
    const double *velocity[VY_LANES];
    double *delta[VY_LANES], *attitude[VY_LANES], *impulse[VY_LANES];
    real velocity_row[8], delta_row[8], attitude_row[8];
    for (int i = 0; i < VY_LANES; ++i) {
        VY_ASSERT(context->body[bodies[i]].is_vectorised);
        velocity[i] = context->motion[bodies[i]].velocity;
        impulse[i] = context->motion[bodies[i]].impulse;
        delta[i] = context->body[bodies[i]].delta_position;
        attitude[i] = &context->body[bodies[i]].attitude.w;
    }
    real_load_rows(velocity, velocity_row);
    real_load_rows((const double *const *)delta, delta_row);
    real_load_rows((const double *const *)attitude, attitude_row);
    const vec3 delta_position =
        vec3_add_scaled(vec3_from_row(delta_row, 0), real_set(h), vec3_from_row(velocity_row, 0));
    const quat old_attitude = quat_make(attitude_row[0], attitude_row[1], attitude_row[2], attitude_row[3]),
               start_attitude = quat_make(attitude_row[4], attitude_row[5], attitude_row[6], attitude_row[7]),
               rate = quat_make(real_set(0.0), velocity_row[3], velocity_row[4], velocity_row[5]),
               new_attitude = quat_normalize(
                   quat_add_scaled(old_attitude, real_set(0.5 * h), quat_mul(rate, old_attitude))),
               delta_rotation = quat_select(
                   delta_row[7] > 0.0, quat_mul(new_attitude, quat_conj(start_attitude)), quat_identity());
    const real new_delta_row[8] = {delta_position.x, delta_position.y, delta_position.z, delta_rotation.w,
                                   delta_rotation.x, delta_rotation.y, delta_rotation.z, delta_row[7]},
               new_attitude_row[8] = {new_attitude.w,   new_attitude.x,   new_attitude.y,   new_attitude.z,
                                      start_attitude.w, start_attitude.x, start_attitude.y, start_attitude.z};
    real_store_rows(delta, new_delta_row);
    real_store_rows(attitude, new_attitude_row);
    store_vectors(impulse, vec3_zero(), vec3_zero());
}
