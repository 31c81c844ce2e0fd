// contact_kernel.inl - contacts solved side by side, for the VY_LANES of the including file, which also
// defines KERNEL_NAME (text) and KERNEL_TABLE (symbol).
//
// Unused points of a lane are zero: they change nothing. Results that do not apply to a lane are discarded by
// real_select, never by a branch, so that packs may be put together in any way.
#include "base/vec.h"
#include "dynamics/contact_kernel.h"
#include "base/assert.h"
#include "dynamics/contact_pack.inl"
#include "dynamics/contact_rows.inl"
#include "dynamics/contact_masses.inl"
#include "dynamics/contact_restitution.inl"
#include "dynamics/contact_prepare.inl"

// Add the impulses to the bodies' warm start of the next sub-step. Returns the impulse on b.
VY_FN vec3 add_warm_start(const contact_context *context, const pack *p, const pack_jacobian *jac, int n)
{
    vec3 angular_a = vec3_zero();
    real normal_impulse = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        angular_a = vec3_add_scaled(angular_a, p->point[i].normal_impulse, jac->angular_a[i]);
        normal_impulse = normal_impulse + p->point[i].normal_impulse;
    }
    const vec3 tangent_impulse =
        tangent_vector(p->tangent_impulse_1, p->tangent_1, p->tangent_impulse_2, jac->tangent_2);
    const vec3 impulse = vec3_add(vec3_scale(normal_impulse, p->normal), tangent_impulse);
    const vec3 angular_impulse = vec3_add_scaled(
        tangent_vector(p->rolling_impulse_1, p->tangent_1, p->rolling_impulse_2, jac->tangent_2),
        p->twist_impulse, p->normal);
    const vec3 friction_anchor_b = vec3_sub(p->friction_anchor_a, p->a_to_b);
    const vec3 angular_impulse_a = vec3_add(
                   vec3_add(angular_a, vec3_cross(p->friction_anchor_a, tangent_impulse)), angular_impulse),
               angular_impulse_b =
                   vec3_add(vec3_add(vec3_add_scaled(angular_a, -normal_impulse, jac->angular_offset),
                                     vec3_cross(friction_anchor_b, tangent_impulse)),
                            angular_impulse);
    double discard[8] = {0.0};
    double *impulse_a[VY_LANES], *impulse_b[VY_LANES];
    for (int i = 0; i < VY_LANES; ++i) {
        impulse_a[i] = p->write_a[i] ? context->motion[p->a[i]].impulse : discard;
        impulse_b[i] = p->write_b[i] ? context->motion[p->b[i]].impulse : discard;
    }
    add_impulse_vectors(impulse_a, vec3_neg(impulse), vec3_neg(angular_impulse_a));
    add_impulse_vectors(impulse_b, impulse, angular_impulse_b);
    return impulse;
}

VY_FN void relax_last(const contact_context *context, pack *p, pack_velocities *v, int n)
{
    pack_jacobian jac;
    update_contact(context, p, n, &jac);
    for (int i = 0; i < n && p->has_restitution; ++i)
        p->impact[i].max_normal_impulse =
            real_max(p->impact[i].max_normal_impulse, p->point[i].normal_impulse);
    solve_contact(context, p, &jac, v, n, 0);
    real normal_impulse = real_set(0.0);
    for (int i = 0; i < n; ++i) {
        p->start[i].total_normal_impulse = p->start[i].total_normal_impulse + p->point[i].normal_impulse;
        normal_impulse = normal_impulse + p->point[i].normal_impulse;
    }
    for (int i = 0; i < n && p->has_restitution; ++i)
        p->impact[i].max_normal_impulse =
            real_max(p->impact[i].max_normal_impulse, p->point[i].normal_impulse);
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

/// Call a function over points for the number that a pack has, as a constant.
#define FOR_POINTS(p, call)    \
    switch ((p)->max_points) { \
    case 1: call(1); break;    \
    case 2: call(2); break;    \
    default: call(4); break;   \
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
        const vec3 restitution_impulse = vec3_sub(p->total_impulse, p->impact_impulse);
        p->total_impulse = vec3_add_scaled(p->impact_impulse, load_fraction(context, p), restitution_impulse);
    }
}

static void kernel_scale_impulses(const contact_context *context, void *packs, uint32_t first, uint32_t last)
{
    for (pack *p = (pack *)packs + first; p < (pack *)packs + last; ++p) {
        const real fraction = load_fraction(context, p);
        for (int i = 0; i < p->max_points; ++i)
            p->point[i].normal_impulse = fraction * p->point[i].normal_impulse;
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
        const real load_change = load_fraction(context, p) - 1.0;
        const mask is_limited = load_change < 0.0;
        real normal_impulse = real_set(0.0);
        for (int i = 0; i < p->max_points; ++i) {
            const real total = p->start[i].total_normal_impulse + load_change * p->point[i].normal_impulse;
            p->start[i].total_normal_impulse =
                real_select(is_limited, total, p->start[i].total_normal_impulse);
            normal_impulse = normal_impulse + p->point[i].normal_impulse;
        }
        const vec3 impulse = vec3_add(vec3_scale(normal_impulse, p->normal),
                                      tangent_vector(p->tangent_impulse_1, p->tangent_1, p->tangent_impulse_2,
                                                     vec3_cross(p->normal, p->tangent_1)));
        p->total_impulse = vec3_select(is_limited, vec3_add_scaled(p->total_impulse, load_change, impulse),
                                       p->total_impulse);
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
        apply_restitution(context, p, &v, p->max_points);
        store_velocities(context, p, &v);
    }
}

static void kernel_restitution_friction(const contact_context *context, void *packs, uint32_t first,
                                        uint32_t last)
{
    for (pack *p = (pack *)packs + first; p < (pack *)packs + last; ++p) {
        if (!p->has_restitution) continue;
        pack_velocities v = load_velocities(context, p);
        restitution_friction(context, p, &v, p->max_points);
        store_velocities(context, p, &v);
    }
}

static void kernel_store_impulses(const contact_context *context, const void *packs, uint32_t first,
                                  uint32_t last)
{
    for (const pack *p = (const pack *)packs + first; p < (const pack *)packs + last; ++p) {
        for (int i = 0; i < (int)p->lane_count; ++i) {
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
                c->points[k].normal_impulse = get_lane(&p->point[k].normal_impulse, i);
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
