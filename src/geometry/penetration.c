// penetration.c - the general path from two cores to a contact, for any convex shapes: GJK, MPR, EPA.
#include "geometry/penetration.h"
#include "base/assert.h"
#include "geometry/epa.h"
#include "geometry/sat.h"
#include "geometry/gjk.h"
#include "geometry/mpr.h"
#include <float.h>

vy_query_options vy_options_with_defaults(const vy_query_options *options)
{
    vy_query_options o = {VY_QUERY_TOLERANCE, VY_QUERY_ITERATIONS};
    if (options != NULL && options->tolerance > 0.0) o.tolerance = real_min(options->tolerance, 1e-3);
    if (options != NULL && options->iterations > 0) o.iterations = options->iterations;
    VY_ASSERT(o.tolerance > 0.0 && o.iterations > 0);
    return o;
}

// Witness points of a known normal and depth: B is moved along the normal until the cores are apart; then the
// nearest points are on the facet.
static void set_witness_points(vy_core_pair *pair, vy_local_contact *out)
{
    const vec3 offset = pair->offset, shift = vec3_scale(-out->depth - 0.01 * pair->scale, out->normal);
    pair->offset = vec3_sub(offset, shift);
    vy_gjk_result g;
    vec3 b;
    vy_gjk_distance(pair, NULL, -1.0, VY_QUERY_ITERATIONS, &g);
    vy_gjk_points(pair, &g, &out->point_a, &b);
    pair->offset = offset;
    // A smooth core's normal is not exact, and then only B's own point is on B; a cylinder's is put there.
    out->point_b = pair->a.smooth && !pair->b.smooth
                       ? vec3_add(b, shift)
                       : vec3_add_scaled(out->point_a, -out->depth, out->normal);
}

// The extent of A - B along n: the depth of the cores for this normal, negative where n separates them.
static double extent(const vy_core_pair *pair, vec3 n)
{
    VY_ASSERT(vec3_is_unit(n));
    vy_minkowski_vertex m;
    vy_support()->minkowski_support(pair, n.x, n.y, n.z, &m);
    return vec3_dot(m.w, n);
}

// With a smooth core EPA's last triangle is tiny, and its normal and points are coarse. The nearest points
// across a gap are exact: their direction is a better normal as long as the depth along it is smaller, but
// not below `min_depth`.
static void refine_normal(vy_core_pair *pair, double min_depth, vy_local_contact *out)
{
    VY_ASSERT(vec3_is_unit(out->normal));
    set_witness_points(pair, out);
    for (int i = 0; i < 4; ++i) {
        vy_local_contact next;
        vy_gjk_result g;
        const vec3 offset = pair->offset;
        pair->offset = vec3_add_scaled(offset, out->depth + 0.01 * pair->scale, out->normal);
        vy_gjk_distance(pair, NULL, -1.0, VY_QUERY_ITERATIONS, &g);
        pair->offset = offset;
        if (!(g.distance > 0.0)) return;
        next.normal = vec3_scale(-1.0 / g.distance, g.v);
        next.depth = extent(pair, next.normal);
        if (!(next.depth < out->depth) || next.depth < min_depth) return;
        set_witness_points(pair, &next);
        *out = next;
    }
}

static int is_polyhedral(const vy_core_pair *pair) { return !pair->a.smooth && !pair->b.smooth; }

static void try_normal(const vy_core_pair *pair, vec3 n, vy_local_contact *out)
{
    const double depth = extent(pair, n);
    if (!(depth < out->depth)) return;
    out->depth = depth;
    out->normal = n;
}

// The candidate normals of a cylinder with this axis: its ends, and its side towards the other core's centre.
static void try_cylinder_normals(const vy_core_pair *pair, vec3 axis, vec3 between_centers,
                                 vy_local_contact *out)
{
    VY_ASSERT(vec3_is_unit(axis));
    const vec3 perpendicular = vec3_add_scaled(between_centers, -vec3_dot(between_centers, axis), axis);
    const double length = vec3_length(perpendicular);
    try_normal(pair, axis, out);
    try_normal(pair, vec3_neg(axis), out);
    if (length > 1e-12 * pair->scale) try_normal(pair, vec3_scale(1.0 / length, perpendicular), out);
}

// A cylinder around the other core may be equally deep, or nearly so, in all directions, and EPA would need
// more faces than it has. So the cylinders' own normals are tried beside EPA's best face, whether or not EPA
// converged, and the best of all is refined.
static void cylinder_depth(vy_core_pair *pair, const vy_epa_result *epa, vy_local_contact *out)
{
    VY_ASSERT(!is_polyhedral(pair));
    const vec3 up = vec3_make(0.0, 0.0, 1.0);
    const vec3 center_b = vec3_add(mat3_mul_vec(pair->rotation, pair->b.center), pair->offset);
    const vec3 between_centers = vec3_sub(center_b, pair->a.center);
    out->depth = epa->depth;
    out->normal = epa->normal;
    if (pair->a.smooth) try_cylinder_normals(pair, up, between_centers, out);
    if (pair->b.smooth) try_cylinder_normals(pair, mat3_mul_vec(pair->rotation, up), between_centers, out);
    out->depth = real_max(out->depth, 0.0);
    refine_normal(pair, 0.0, out);
}

// The depth of overlapping cores, from four points around the origin. Smooth cores are solved to a looser
// tolerance where EPA's storage does not suffice.
static vy_status core_depth(vy_core_pair *pair, const vy_shape *a, const vy_shape *b,
                            const vy_minkowski_vertex v[4], const vy_query_options *options,
                            vy_local_contact *out, vy_query_info *info)
{
    VY_ASSERT(options->tolerance > 0.0 && options->iterations > 0);
    vy_epa_result epa = {.depth = DBL_MAX};
    const double max_tolerance =
        is_polyhedral(pair) ? options->tolerance : real_max(options->tolerance, 1e-6);
    for (double tolerance = options->tolerance; v != NULL && tolerance <= max_tolerance; tolerance *= 100.0) {
        vy_support()->epa_expand(pair, v, tolerance * pair->scale, options->iterations, &epa);
        info->epa_iterations += epa.iterations;
        if (epa.converged) break;
    }
    if (!is_polyhedral(pair)) {
        if (!epa.converged && epa.iterations >= options->iterations) return VY_NO_CONVERGENCE;
        cylinder_depth(pair, &epa, out);
        return VY_OK;
    }
    if (epa.converged) {
        out->normal = epa.normal;
        out->depth = real_max(epa.depth, 0.0);
        out->point_a = epa.point_a;
        out->point_b = epa.point_b;
        if (!epa.has_points) set_witness_points(pair, out);
        return VY_OK;
    }
    vy_sat_result sat;
    vy_sat_search(pair, a, b, &sat);
    info->used_sat = 1;
    out->normal = sat.normal;
    out->depth = real_max(sat.depth, 0.0);
    set_witness_points(pair, out);
    return VY_OK;
}

// The origin is on the surface of A - B to rounding: the cores touch. B moved in by a little has a depth, and
// its normal is that of the contact.
static vy_status touching_contact(vy_core_pair *pair, const vy_shape *a, const vy_shape *b,
                                  const vy_query_options *options, vy_local_contact *out, vy_query_info *info)
{
    const vec3 offset = pair->offset;
    const vec3 center_b = vec3_add(mat3_mul_vec(pair->rotation, pair->b.center), offset);
    const vec3 between_centers = vec3_sub(center_b, pair->a.center);
    const double length = vec3_length(between_centers);
    if (!(length > 1e-12 * pair->scale)) return VY_NO_CONVERGENCE;
    vy_mpr_result mpr;
    vy_status status = VY_NO_CONVERGENCE;
    pair->offset = vec3_add_scaled(offset, -1e-7 * pair->scale / length, between_centers);
    vy_support()->mpr_find(pair, 1, &mpr);
    if (mpr.hit == 1) status = core_depth(pair, a, b, mpr.v, options, out, info);
    pair->offset = offset;
    if (status != VY_OK) out->normal = vec3_scale(1.0 / length, between_centers);
    out->depth = real_max(extent(pair, out->normal), 0.0);
    refine_normal(pair, 0.0, out);
    return VY_OK;
}

// Cores without margins: MPR decides, and where it cannot, SAT does.
static vy_status core_contact(vy_core_pair *pair, const vy_shape *a, const vy_shape *b,
                              const vy_query_options *options, int *hit, vy_local_contact *out,
                              vy_query_info *info)
{
    vy_mpr_result mpr;
    vy_support()->mpr_find(pair, 1, &mpr);
    info->gjk_iterations += mpr.iterations;
    VY_ASSERT(mpr.hit >= -1 && mpr.hit <= 1);
    *hit = mpr.hit != 0;
    if (mpr.hit == 0) return VY_OK;
    if (mpr.hit == 1) return core_depth(pair, a, b, mpr.v, options, out, info);
    if (is_polyhedral(pair)) {
        vy_sat_result sat;
        vy_sat_search(pair, a, b, &sat);
        *hit = sat.depth >= 0.0;
        return *hit ? core_depth(pair, a, b, NULL, options, out, info) : VY_OK;
    }
    return touching_contact(pair, a, b, options, out, info);
}

// Cores that are apart by so little that the direction between their nearest points may be rounding. Where
// the separation along it is not their distance, the normal is searched again.
static void shallow_contact(vy_core_pair *pair, const vy_shape *a, const vy_shape *b,
                            const vy_gjk_result *gjk, const vy_query_options *options, vy_local_contact *out,
                            vy_query_info *info)
{
    VY_ASSERT(gjk->distance > 0.0);
    const double depth_limit = options->tolerance * pair->scale - gjk->distance;
    out->normal = vec3_scale(-1.0 / gjk->distance, gjk->v);
    out->depth = extent(pair, out->normal);
    if (out->depth <= depth_limit) {
        vy_gjk_points(pair, gjk, &out->point_a, &out->point_b);
        return;
    }
    refine_normal(pair, -pair->scale, out);
    if (out->depth <= depth_limit || !is_polyhedral(pair)) return;
    vy_sat_result sat;
    vy_sat_search(pair, a, b, &sat);
    info->used_sat = 1;
    if (!(sat.depth < out->depth)) return;
    out->normal = sat.normal;
    out->depth = sat.depth;
    set_witness_points(pair, out);
}

// The point of a cylinder's surface nearest to p, which is near it: a normal found by search is not exact,
// and a point that follows from it is beside the surface by as much.
static vec3 snap_to_cylinder(const vy_core *core, vec3 p)
{
    const double axis_distance = real_sqrt(p.x * p.x + p.y * p.y), radius = core->radius,
                 half_height = core->half_height;
    const int is_nearest_to_side = radius - axis_distance < half_height - real_abs(p.z); // else by an end
    const double scale =
        axis_distance > 0.0 && (is_nearest_to_side || axis_distance > radius) ? radius / axis_distance : 1.0;
    const double z =
        is_nearest_to_side ? real_clamp(p.z, -half_height, half_height) : real_copysign(half_height, p.z);
    return vec3_make(scale * p.x, scale * p.y, z);
}

static void snap_points_to_cylinders(const vy_core_pair *pair, vy_local_contact *c)
{
    if (pair->a.smooth) c->point_a = snap_to_cylinder(&pair->a, c->point_a);
    if (!pair->b.smooth) return;
    const vec3 local = mat3_tmul_vec(pair->rotation, vec3_sub(c->point_b, pair->offset));
    c->point_b = vec3_add(mat3_mul_vec(pair->rotation, snap_to_cylinder(&pair->b, local)), pair->offset);
}

static vy_status contact_of_cores(vy_core_pair *pair, const vy_shape *a, const vy_shape *b,
                                  const vy_query_options *options, int *hit, vy_local_contact *out,
                                  vy_query_info *info)
{
    VY_ASSERT(pair->margin >= 0.0 && pair->scale > 0.0);
    VY_ASSERT(vy_shape_is_convex(a) && vy_shape_is_convex(b));
    if (pair->margin == 0.0) return core_contact(pair, a, b, options, hit, out, info);
    vy_gjk_result gjk;
    vy_gjk_distance(pair, NULL, pair->margin, options->iterations, &gjk);
    info->gjk_iterations += gjk.iterations;
    if (gjk.beyond_limit || gjk.distance > pair->margin) {
        *hit = 0;
        return VY_OK;
    }
    *hit = 1;
    if (gjk.distance < 1e-5 * pair->scale) { // too near for a direction: do the cores overlap?
        int cores_overlap = 0;
        vy_status status = core_contact(pair, a, b, options, &cores_overlap, out, info);
        if (status != VY_OK) return status;
        if (!cores_overlap && gjk.distance > 0.0) {
            shallow_contact(pair, a, b, &gjk, options, out, info);
        } else if (!cores_overlap) { // they touch to rounding
            status = is_polyhedral(pair) ? core_depth(pair, a, b, NULL, options, out, info)
                                         : touching_contact(pair, a, b, options, out, info);
            if (status != VY_OK) return status;
        }
        out->depth = real_max(out->depth + pair->margin, 0.0);
    } else {
        out->normal = vec3_scale(-1.0 / gjk.distance, gjk.v);
        out->depth = pair->margin - gjk.distance;
        vy_gjk_points(pair, &gjk, &out->point_a, &out->point_b);
    }
    VY_ASSERT(vec3_is_unit(out->normal) && out->depth >= 0.0);
    out->point_a = vec3_add_scaled(out->point_a, pair->a.margin, out->normal);
    out->point_b = vec3_add_scaled(out->point_a, -out->depth, out->normal);
    return VY_OK;
}

vy_status vy_contact_general(vy_core_pair *pair, const vy_shape *a, const vy_shape *b,
                             const vy_query_options *options, int *hit, vy_local_contact *out,
                             vy_query_info *info)
{
    const vy_status status = contact_of_cores(pair, a, b, options, hit, out, info);
    if (status == VY_OK && *hit) snap_points_to_cylinders(pair, out);
    return status;
}
