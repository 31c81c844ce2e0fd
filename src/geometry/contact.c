// contact.c - the general path: from two cores to a contact, whatever the shapes.
#include "geometry/contact.h"
#include "geometry/epa.h"
#include "geometry/facets.h"
#include "geometry/gjk.h"
#include "geometry/portal.h"
#include <float.h>

vy_query_options vy_options_of(const vy_query_options *options)
{
    vy_query_options o = {VY_QUERY_TOLERANCE, VY_QUERY_ITERATIONS};
    if (options != NULL && options->tolerance > 0.0) o.tolerance = real_min(options->tolerance, 1e-3);
    if (options != NULL && options->iterations > 0) o.iterations = options->iterations;
    return o;
}

int vy_pose_valid(const vy_pose *pose)
{
    const vec3 p = pose->position;
    const double n2 = quat_dot(pose->rotation, pose->rotation);
    return real_abs(p.x) <= VY_POSE_LIMIT && real_abs(p.y) <= VY_POSE_LIMIT &&
           real_abs(p.z) <= VY_POSE_LIMIT && real_abs(n2 - 1.0) <= 1e-6;
}

// A point of A on the facet with this normal: B is moved along it until there is a gap, and the nearest
// points are those on the facet.
static void facet_points(vy_pair *pair, vy_local_contact *out)
{
    const vec3 offset = pair->offset;
    pair->offset = vec3_add_scaled(offset, out->depth + 0.01 * pair->scale, out->normal);
    vy_gjk g;
    vec3 b;
    vy_gjk_distance(pair, NULL, -1.0, VY_QUERY_ITERATIONS, &g);
    vy_gjk_points(pair, &g, &out->point_a, &b);
    pair->offset = offset;
    out->point_b = vec3_add_scaled(out->point_a, -out->depth, out->normal);
}

// How far A - B reaches along n: the cores' depth for this normal, negative where it tells them apart.
static double reach(const vy_pair *pair, vec3 n)
{
    vy_minkowski m;
    vy_support()->minkowski(pair, n.x, n.y, n.z, &m);
    return vec3_dot(m.w, n);
}

// Of a smooth core EPA's last triangle is tiny and its normal and points coarse. The nearest points across a
// gap are not: their direction is the better normal as long as A - B reaches less far along it, but no less
// than `least`.
static void polish(vy_pair *pair, double least, vy_local_contact *out)
{
    facet_points(pair, out);
    for (int i = 0; i < 4; ++i) {
        vy_local_contact next;
        vy_gjk g;
        const vec3 offset = pair->offset;
        pair->offset = vec3_add_scaled(offset, out->depth + 0.01 * pair->scale, out->normal);
        vy_gjk_distance(pair, NULL, -1.0, VY_QUERY_ITERATIONS, &g);
        pair->offset = offset;
        if (!(g.distance > 0.0)) return;
        next.normal = vec3_scale(-1.0 / g.distance, g.v);
        next.depth = reach(pair, next.normal);
        if (!(next.depth < out->depth) || next.depth < least) return;
        facet_points(pair, &next);
        *out = next;
    }
}

static int polyhedral(const vy_pair *pair) { return !pair->a.smooth && !pair->b.smooth; }

static void try_normal(const vy_pair *pair, vec3 n, vy_local_contact *out)
{
    const double depth = reach(pair, n);
    if (!(depth < out->depth)) return;
    out->depth = depth;
    out->normal = n;
}

// The ways out of a cylinder with this axis: by its ends, and by its side away from the other core's centre.
static void try_cylinder(const vy_pair *pair, vec3 axis, vec3 line, vy_local_contact *out)
{
    const vec3 across = vec3_add_scaled(line, -vec3_dot(line, axis), axis);
    const double length = vec3_length(across);
    try_normal(pair, axis, out);
    try_normal(pair, vec3_neg(axis), out);
    if (length > 1e-12 * pair->scale) try_normal(pair, vec3_scale(1.0 / length, across), out);
}

// A cylinder about the other core may be equally deep all the way round, or nearly, and no storage holds a
// polytope with so many faces. So the cylinders' own ways out are looked at beside the best of EPA's faces,
// whether or not it ended, and the polish starts from the best of all.
static void smooth_depth(vy_pair *pair, const vy_epa_result *epa, vy_local_contact *out)
{
    const vec3 up = vec3_make(0.0, 0.0, 1.0);
    const vec3 cb = vec3_add(mat3_mul_vec(pair->rotation, pair->b.center), pair->offset);
    const vec3 line = vec3_sub(cb, pair->a.center);
    out->depth = epa->depth;
    out->normal = epa->normal;
    if (pair->a.smooth) try_cylinder(pair, up, line, out);
    if (pair->b.smooth) try_cylinder(pair, mat3_mul_vec(pair->rotation, up), line, out);
    out->depth = real_max(out->depth, 0.0);
    polish(pair, 0.0, out);
}

// The depth of overlapping cores from four points about the origin. Smooth cores are met to a looser
// tolerance where the storage does not reach for the asked one.
static vy_status core_depth(vy_pair *pair, const vy_shape *a, const vy_shape *b, const vy_minkowski v[4],
                            const vy_query_options *options, vy_local_contact *out, vy_query_info *info)
{
    vy_epa_result epa = {.depth = DBL_MAX};
    const double loosest = polyhedral(pair) ? options->tolerance : real_max(options->tolerance, 1e-6);
    for (double tolerance = options->tolerance; v != NULL && tolerance <= loosest; tolerance *= 100.0) {
        vy_support()->epa_expand(pair, v, tolerance * pair->scale, options->iterations, &epa);
        info->epa_iterations += epa.iterations;
        if (epa.converged) break;
    }
    if (!polyhedral(pair)) {
        if (!epa.converged && epa.iterations >= options->iterations) return VY_NO_CONVERGENCE;
        smooth_depth(pair, &epa, out);
        return VY_OK;
    }
    if (epa.converged) {
        out->normal = epa.normal;
        out->depth = real_max(epa.depth, 0.0);
        out->point_a = epa.point_a;
        out->point_b = epa.point_b;
        return VY_OK;
    }
    vy_facets_result facets;
    vy_facets_search(pair, a, b, &facets);
    info->enumerated = 1;
    out->normal = facets.normal;
    out->depth = real_max(facets.depth, 0.0);
    facet_points(pair, out);
    return VY_OK;
}

// The origin is on the surface of A - B to rounding: a touch. B pushed in by a hair has a depth, and the
// normal of that is the normal of the touch.
static vy_status touch(vy_pair *pair, const vy_shape *a, const vy_shape *b, const vy_query_options *options,
                       vy_local_contact *out, vy_query_info *info)
{
    const vec3 offset = pair->offset;
    const vec3 cb = vec3_add(mat3_mul_vec(pair->rotation, pair->b.center), offset);
    const vec3 line = vec3_sub(cb, pair->a.center);
    const double length = vec3_length(line);
    if (!(length > 1e-12 * pair->scale)) return VY_NO_CONVERGENCE;
    vy_portal portal;
    vy_status status = VY_NO_CONVERGENCE;
    pair->offset = vec3_add_scaled(offset, -1e-7 * pair->scale / length, line);
    vy_support()->portal_find(pair, 1, &portal);
    if (portal.hit == 1) status = core_depth(pair, a, b, portal.v, options, out, info);
    pair->offset = offset;
    if (status != VY_OK) out->normal = vec3_scale(1.0 / length, line);
    out->depth = real_max(reach(pair, out->normal), 0.0);
    polish(pair, 0.0, out);
    return VY_OK;
}

// Cores without margins: the portal decides, and where it cannot the facets do.
static vy_status core_contact(vy_pair *pair, const vy_shape *a, const vy_shape *b,
                              const vy_query_options *options, int *hit, vy_local_contact *out,
                              vy_query_info *info)
{
    vy_portal portal;
    vy_support()->portal_find(pair, 1, &portal);
    info->gjk_iterations += portal.iterations;
    *hit = portal.hit != 0;
    if (portal.hit == 0) return VY_OK;
    if (portal.hit == 1) return core_depth(pair, a, b, portal.v, options, out, info);
    if (polyhedral(pair)) {
        vy_facets_result facets;
        vy_facets_search(pair, a, b, &facets);
        *hit = facets.depth >= 0.0;
        return *hit ? core_depth(pair, a, b, NULL, options, out, info) : VY_OK;
    }
    return touch(pair, a, b, options, out, info);
}

// Cores that are apart by so little that the direction between their nearest points may be rounding. The gap
// along it tells: where it is not their distance, the normal is sought again.
static void narrow_gap(vy_pair *pair, const vy_shape *a, const vy_shape *b, const vy_gjk *g,
                       const vy_query_options *options, vy_local_contact *out, vy_query_info *info)
{
    const double enough = options->tolerance * pair->scale - g->distance;
    out->normal = vec3_scale(-1.0 / g->distance, g->v);
    out->depth = reach(pair, out->normal);
    if (out->depth <= enough) {
        vy_gjk_points(pair, g, &out->point_a, &out->point_b);
        return;
    }
    polish(pair, -pair->scale, out);
    if (out->depth <= enough || !polyhedral(pair)) return;
    vy_facets_result facets;
    vy_facets_search(pair, a, b, &facets);
    info->enumerated = 1;
    if (!(facets.depth < out->depth)) return;
    out->normal = facets.normal;
    out->depth = facets.depth;
    facet_points(pair, out);
}

vy_status vy_contact_general(vy_pair *pair, const vy_shape *a, const vy_shape *b,
                             const vy_query_options *options, int *hit, vy_local_contact *out,
                             vy_query_info *info)
{
    if (pair->margin == 0.0) return core_contact(pair, a, b, options, hit, out, info);
    vy_gjk g;
    vy_gjk_distance(pair, NULL, pair->margin, options->iterations, &g);
    info->gjk_iterations += g.iterations;
    if (g.far || g.distance > pair->margin) {
        *hit = 0;
        return VY_OK;
    }
    *hit = 1;
    if (g.distance < 1e-5 * pair->scale) { // near for a direction: do the cores overlap?
        int inside = 0;
        vy_status status = core_contact(pair, a, b, options, &inside, out, info);
        if (status != VY_OK) return status;
        if (!inside && g.distance > 0.0) {
            narrow_gap(pair, a, b, &g, options, out, info);
        } else if (!inside) { // they touch to rounding
            status = polyhedral(pair) ? core_depth(pair, a, b, NULL, options, out, info)
                                      : touch(pair, a, b, options, out, info);
            if (status != VY_OK) return status;
        }
        out->depth = real_max(out->depth + pair->margin, 0.0);
    } else {
        out->normal = vec3_scale(-1.0 / g.distance, g.v);
        out->depth = pair->margin - g.distance;
        vy_gjk_points(pair, &g, &out->point_a, &out->point_b);
    }
    out->point_a = vec3_add_scaled(out->point_a, pair->a.margin, out->normal);
    out->point_b = vec3_add_scaled(out->point_a, -out->depth, out->normal);
    return VY_OK;
}
