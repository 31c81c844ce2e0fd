// sat.c - the separating axis test of two polyhedra: all face normals and all pairs of edges.
#include "geometry/sat.h"
#include "base/assert.h"
#include "geometry/polyhedron.h"
#include <float.h>
#include <stddef.h>

// The extent of A - B along n, kept if it is the smallest.
static void try_normal(const vy_core_pair *pair, vec3 n, vy_sat_result *out)
{
    VY_ASSERT(vec3_is_unit(n));
    vy_minkowski_vertex m;
    vy_support()->minkowski_support(pair, n.x, n.y, n.z, &m);
    const double depth = vec3_dot(m.w, n);
    if (depth < out->depth) {
        out->depth = depth;
        out->normal = n;
    }
}

// Whether the great-circle arc from l to r crosses the plane perpendicular to `along`, ends included.
static int arc_crosses_plane(vec3 along, vec3 l, vec3 r)
{
    return vec3_dot(along, l) * vec3_dot(along, r) <= 0.0;
}

// Edges ea of A and eb of B, in B's frame, span a facet of A - B when their arcs on the Gauss map cross. Ends
// of arcs count: testing a pair too many costs time, never the result.
static void try_edges(const vy_core_pair *pair, const polyhedron_edge *ea, const polyhedron_edge *eb,
                      vy_sat_result *out)
{
    vec3 n = vec3_cross(ea->along, eb->along);
    const double length2 = vec3_dot(n, n);
    if (!(length2 > 1e-24 * vec3_dot(ea->along, ea->along) * vec3_dot(eb->along, eb->along))) return;
    n = vec3_scale(1.0 / real_sqrt(length2), n);
    const int is_segment = ea->is_segment && eb->is_segment;
    const double side = ea->is_segment ? -vec3_dot(n, vec3_add(eb->left, eb->right))
                                       : vec3_dot(n, vec3_add(ea->left, ea->right));
    if (side < 0.0) n = vec3_neg(n);
    for (int sign_index = 0; sign_index < 2; ++sign_index, n = vec3_neg(n)) {
        // A lower bound of the extent: skip the support point when it is too large already.
        if (vec3_dot(n, vec3_sub(ea->point, eb->point)) < out->depth)
            try_normal(pair, mat3_mul_vec(pair->rotation, n), out);
        if (!is_segment && side != 0.0) break;
    }
}

enum { MAX_CACHED_FACES = 512 };

// Edge ea of A, in B's frame, with every edge of B.
static void try_edge(const vy_core_pair *pair, const polyhedron_edge *ea, const vy_shape *b,
                     vy_sat_result *out)
{
    const vy_hull *hull =
        b->kind == VY_SHAPE_HULL && b->hull->face_count <= MAX_CACHED_FACES ? b->hull : NULL;
    double side[MAX_CACHED_FACES]; // of B's face normals along ea: an edge needs one on either side
    for (int i = 0; hull != NULL && i < hull->face_count; ++i)
        side[i] = vec3_dot(ea->along, hull->faces[i].normal);
    for (int j = 0; j < polyhedron_edge_count(b); ++j) {
        if (hull != NULL && side[hull->edges[j].left] * side[hull->edges[j].right] > 0.0) continue;
        VY_ASSERT(hull == NULL || hull->edges[j].right < hull->face_count);
        const polyhedron_edge eb = polyhedron_edge_of(b, j);
        if (!eb.is_segment && !arc_crosses_plane(ea->along, eb.left, eb.right)) continue;
        if (!ea->is_segment && !arc_crosses_plane(eb.along, ea->left, ea->right)) continue;
        try_edges(pair, ea, &eb, out);
    }
}

// Whether no facet that edge ea spans can be nearer than the best so far. Its normals are on the arc from
// left to right; the extent of A - B along each of them is at least that of the difference of two fixed
// points, whose minimum is at an end.
static int is_pruned(const vy_core_pair *pair, const polyhedron_edge *ea, double best)
{
    if (ea->is_segment || pair->b.smooth) return 0;
    const vec3 d = vec3_neg(vec3_add(ea->left, ea->right));
    const int i = vy_support()->extreme(pair->b.x, pair->b.y, pair->b.z, pair->b.padded_count, d);
    const vec3 gap = vec3_sub(ea->point, vy_core_point(&pair->b, (uint32_t)i));
    const double min_depth = real_min(vec3_dot(ea->left, gap), vec3_dot(ea->right, gap));
    return min_depth >= real_max(best, 0.0);
}

void vy_sat_search(const vy_core_pair *pair, const vy_shape *a, const vy_shape *b, vy_sat_result *out)
{
    VY_ASSERT(!pair->a.smooth && !pair->b.smooth);
    out->depth = DBL_MAX;
    out->normal = vec3_zero();
    for (int i = 0; i < polyhedron_face_count(a); ++i) try_normal(pair, polyhedron_face_normal(a, i), out);
    for (int i = 0; i < polyhedron_face_count(b); ++i) {
        try_normal(pair, vec3_neg(mat3_mul_vec(pair->rotation, polyhedron_face_normal(b, i))), out);
    }
    const vec3 offset = mat3_tmul_vec(pair->rotation, pair->offset);
    for (int i = 0; i < polyhedron_edge_count(a); ++i) {
        polyhedron_edge ea = polyhedron_edge_of(a, i);
        ea.point = vec3_sub(mat3_tmul_vec(pair->rotation, ea.point), offset);
        ea.along = mat3_tmul_vec(pair->rotation, ea.along);
        ea.left = mat3_tmul_vec(pair->rotation, ea.left);
        ea.right = mat3_tmul_vec(pair->rotation, ea.right);
        if (!is_pruned(pair, &ea, out->depth)) try_edge(pair, &ea, b, out);
    }
}
