// contact_pack.inl - a pack: contacts side by side, their bodies' velocities and masses in lanes and back.
// Part of contact_kernel.inl.

enum { POINTS = VY_MANIFOLD_POINTS, K_COUNT = POINTS * (POINTS + 1) / 2 };

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
    int write_a[VY_LANES], write_b[VY_LANES]; // 1: the body moves, and gets the lane's velocities
    uint32_t lane_count;                      // in use
    int max_points;                           // 1, 2 or 4: no lane has more
    int has_rolling, has_restitution;         // some lane has
    int was_stale;                            // some lane has effective masses recomputed in this step
    double max_stale_per_shift2, max_stale_per_angle2_a, max_stale_per_angle2_b; // of all lanes
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
    pack_point point[POINTS];
    vec3 start_a_to_b;            // [m] a_to_b at the start of the step
    vec3 total_impulse;           // [N s] on b
    vec3 mass_anchor_a;           // [m] friction_anchor_a for which the effective masses were computed
    real stale_per_anchor_shift2; // [1/m^2] what a move of mass_anchor_a does to them
    real inverse_mass_ratio_b; // of b's inverse mass in the sum of both: the contact moves with the lighter
                               // body
    pack_point_start start[POINTS];
    real stale_per_shift2;                       // [1/m^2] what moves of the contact do to effective masses
    real stale_per_angle2_a, stale_per_angle2_b; // what turns of the bodies do: see stale_masses()
    real lane_was_stale;                         // 1: they have been recomputed in this step
    real restitution;
    vec3 impact_impulse; // [N s] total_impulse without restitution
    pack_point_impact impact[POINTS];
} pack;

// Which entry of k_matrix is that of points i and j.
VY_FN int k_index(int i, int j)
{
    return i <= j ? i * (2 * POINTS - 1 - i) / 2 + j : j * (2 * POINTS - 1 - j) / 2 + i;
}

/// Velocities (v) and angular velocities (w), world axes, of bodies a and b of each lane.
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
    real row_a[8], row_b[8];
    for (int i = 0; i < VY_LANES; ++i) {
        a[i] = context->motion[p->a[i]].velocity;
        b[i] = context->motion[p->b[i]].velocity;
    }
    real_load_rows(a, row_a);
    real_load_rows(b, row_b);
    const pack_velocities v = {
        vec3_make(row_a[0], row_a[1], row_a[2]), vec3_make(row_a[3], row_a[4], row_a[5]),
        vec3_make(row_b[0], row_b[1], row_b[2]), vec3_make(row_b[3], row_b[4], row_b[5])};
    return v;
}

VY_FN void load_masses(const contact_context *context, const pack *p, pack_jacobian *jac)
{
    const double *a[VY_LANES], *b[VY_LANES];
    real row[8];
    for (int i = 0; i < VY_LANES; ++i) {
        a[i] = context->body[p->a[i]].inverse_inertia;
        b[i] = context->body[p->b[i]].inverse_inertia;
    }
    real_load_rows(a, row);
    for (int k = 0; k < 6; ++k) jac->inverse_inertia_a[k] = row[k];
    jac->inverse_mass_a = row[6];
    real_load_rows(b, row);
    for (int k = 0; k < 6; ++k) jac->inverse_inertia_b[k] = row[k];
    jac->inverse_mass_b = row[6];
}

VY_FN mask has_point(const pack *p, int i) { return p->point_count > (double)i; }

// The angular part of the Jacobian, at the points of the pack.
VY_FN void compute_jacobian(const pack *p, int n, pack_jacobian *jac)
{
    const vec3 shift_cross_normal = vec3_cross(p->contact_shift, p->normal);
    jac->tangent_2 = vec3_cross(p->normal, p->tangent_1);
    jac->angular_offset = vec3_cross(p->a_to_b, p->normal);
    for (int i = 0; i < n; ++i) {
        const vec3 angular = vec3_add(vec3_cross(p->start[i].anchor_a, p->normal), shift_cross_normal);
        jac->angular_a[i] = vec3_select(has_point(p, i), angular, vec3_zero());
    }
}

VY_FN void load_jacobian(const contact_context *context, const pack *p, int n, pack_jacobian *jac)
{
    load_masses(context, p, jac);
    compute_jacobian(p, n, jac);
}

// Store two vectors as a row of each lane's body; bodies that do not move are written to `discard`.
VY_FN void store_vectors(double *const to[VY_LANES], vec3 u, vec3 v)
{
    const real row[8] = {u.x, u.y, u.z, v.x, v.y, v.z, real_set(0.0), real_set(0.0)};
    real_store_rows(to, row);
}

VY_FN void store_velocities(const contact_context *context, const pack *p, const pack_velocities *v)
{
    double discard[8];
    double *a[VY_LANES], *b[VY_LANES];
    for (int i = 0; i < VY_LANES; ++i) {
        a[i] = p->write_a[i] ? context->motion[p->a[i]].velocity : discard;
        b[i] = p->write_b[i] ? context->motion[p->b[i]].velocity : discard;
    }
    store_vectors(a, v->va, v->wa);
    store_vectors(b, v->vb, v->wb);
}

// Add an impulse and an angular impulse to the bodies' warm start.
VY_FN void add_impulse_vectors(double *const to[VY_LANES], vec3 impulse, vec3 angular_impulse)
{
    real row[8];
    real_load_rows((const double *const *)to, row);
    store_vectors(to, vec3_add(vec3_make(row[0], row[1], row[2]), impulse),
                  vec3_add(vec3_make(row[3], row[4], row[5]), angular_impulse));
}

// I^-1 v
VY_FN vec3 mul_inverse_inertia(const real inverse[6], vec3 v)
{
    return vec3_make((inverse[0] * v.x + inverse[1] * v.y) + inverse[2] * v.z,
                     (inverse[1] * v.x + inverse[3] * v.y) + inverse[4] * v.z,
                     (inverse[2] * v.x + inverse[4] * v.y) + inverse[5] * v.z);
}
