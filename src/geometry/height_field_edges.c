// height_field_edges.c - convex shapes at the edges and vertices of a height field: crests and peaks. Those
// that are flat or hollow touch nothing that their triangles do not.
#include "base/assert.h"
#include "geometry/height_field_pair.h"
#include "geometry/gjk.h"
#include "geometry/manifold.h"
#include "geometry/polyhedron.h"

// Of a cylinder's thickness: by so much less of it is taken where it overlaps an edge, until it does not, to
// find the normal.
static const double insets[] = {0.0, 0.001, 0.01, 0.05, 0.2, 0.5, 0.9};
enum { INSETS = sizeof insets / sizeof insets[0] };

#define END_TOLERANCE 1e-6 // an edge's parameter this near to an end is that of the vertex

// ---- the grid

static int has_vertex(const vy_height_field *f, int i, int j)
{
    return i >= 0 && j >= 0 && i < f->nx && j < f->ny;
}

// Into the triangle with this third vertex.
static void add_triangle_of_edge(const vy_height_field *f, int i, int j, field_edge *edge)
{
    if (!has_vertex(f, i, j)) return;
    const vec3 d = vec3_sub(field_vertex(f, i, j), edge->p),
               across = vec3_add_scaled(d, -vec3_dot(d, edge->along), edge->along);
    edge->across[edge->side_count++] = vec3_scale(1.0 / vec3_length(across), across);
}

// The edge from vertex (i, j) along x (0), along y (1), or the cut of the cell (2). Returns 0 when there is
// none.
static int set_edge(const vy_height_field *f, int i, int j, int kind, field_edge *edge)
{
    const int to_i = i + (kind != 1), to_j = j + (kind != 0);
    if (!has_vertex(f, to_i, to_j)) return 0;
    edge->from[0] = i;
    edge->from[1] = j;
    edge->to[0] = to_i;
    edge->to[1] = to_j;
    edge->id = (uint32_t)(3 * (j * f->nx + i) + kind);
    edge->p = field_vertex(f, i, j);
    edge->q = field_vertex(f, to_i, to_j);
    const vec3 d = vec3_sub(edge->q, edge->p);
    edge->along = vec3_scale(1.0 / vec3_length(d), d);
    edge->side_count = 0;
    add_triangle_of_edge(f, i + 1, kind == 2 ? j : j + 1, edge);
    add_triangle_of_edge(f, kind == 1 ? i - 1 : i, kind == 2 ? j + 1 : kind == 0 ? j - 1 : j, edge);
    return edge->side_count > 0;
}

static int is_convex(const field_edge *edge)
{
    if (edge->side_count == 1) return 1;
    vec3 n = vec3_cross(edge->along, edge->across[0]);
    if (n.z < 0.0) n = vec3_neg(n);
    return vec3_dot(n, edge->across[1]) < -FIELD_FLAT_ANGLE;
}

static int edge_allows_normal(const field_edge *edge, vec3 n)
{
    if (edge->side_count == 1 && n.z < FIELD_MIN_RIM_NORMAL_Z) return 0;
    for (int k = 0; k < edge->side_count; ++k) {
        if (vec3_dot(n, edge->across[k]) > FIELD_NORMAL_TOLERANCE) return 0;
    }
    return 1;
}

// Whether no neighbour of a vertex is above it along n, and some are below: else its triangles are flat.
static int vertex_allows_normal(const vy_height_field *f, int i, int j, vec3 n)
{
    static const signed char neighbours[6][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 0}, {-1, -1}, {0, -1}};
    const vec3 p = field_vertex(f, i, j);
    int count = 0, below = 0;
    for (int k = 0; k < 6; ++k) {
        const int x = i + neighbours[k][0], y = j + neighbours[k][1];
        if (!has_vertex(f, x, y)) continue;
        const vec3 d = vec3_sub(field_vertex(f, x, y), p);
        const double height = vec3_dot(n, d), tolerance = FIELD_NORMAL_TOLERANCE * vec3_length(d);
        if (height > tolerance) return 0;
        below |= height < -tolerance;
        ++count;
    }
    return below && (count == 6 || n.z >= FIELD_MIN_RIM_NORMAL_Z);
}

static uint64_t vertex_id(const field_pair *pair, int i, int j, uint32_t face)
{
    return (uint64_t)1 << 61 | (uint64_t)(uint32_t)(j * pair->field->nx + i) << 24 | (face & 0xffffffu);
}

static uint64_t edge_id(const field_edge *edge, uint32_t feature)
{
    return (uint64_t)3 << 61 | (uint64_t)edge->id << 24 | (feature & 0xffffffu);
}

// A point of an edge, at its ends one of the vertex. Returns 0 when the normal is not one of its.
static int edge_point_allows_normal(const field_pair *pair, const field_edge *edge, double t, vec3 n)
{
    if (t > END_TOLERANCE && t < 1.0 - END_TOLERANCE) return edge_allows_normal(edge, n);
    const int *v = t <= END_TOLERANCE ? edge->from : edge->to;
    return vertex_allows_normal(pair->field, v[0], v[1], n);
}

static uint64_t point_id_on_edge(const field_pair *pair, const field_edge *edge, double t, uint32_t feature)
{
    if (t > END_TOLERANCE && t < 1.0 - END_TOLERANCE) return edge_id(edge, feature);
    const int *v = t <= END_TOLERANCE ? edge->from : edge->to;
    return vertex_id(pair, v[0], v[1], feature);
}

static vec3 edge_point(const field_edge *edge, double t)
{
    return vec3_add_scaled(edge->p, t, vec3_sub(edge->q, edge->p));
}

// The shape is `separation` above a point of the ground, along n.
static void add_point_above(field_pair *pair, vec3 n, vec3 ground, double separation, uint64_t id)
{
    vy_height_field_add_point(pair, n, vec3_add_scaled(ground, separation, n), -separation, id);
}

// Whether a depth along an allowed normal is that of a contact here: much less along another one means that
// the shape is beside the edge or behind it, and touches something else.
static int is_plausible(double depth, double min_depth)
{
    return depth <= 4.0 * real_max(min_depth, 0.0) + 1e-12;
}

// ---- spheres and capsules: a segment on the z axis of the shape, and a radius about it

static double half_length(const vy_shape *shape)
{
    return shape->kind == VY_SHAPE_CAPSULE ? shape->capsule.half_length : 0.0;
}

// The point z of the core, against a point of the ground.
static void collide_core_point(field_pair *pair, vec3 ground, double z, const field_edge *edge, double t)
{
    const vec3 center = field_from_shape(pair, vec3_make(0.0, 0.0, z)), d = vec3_sub(center, ground);
    const double distance = vec3_length(d), separation = distance - pair->cores.b.margin;
    if (!(separation <= pair->margin) || !(distance > 1e-9 * pair->cores.scale)) return;
    const vec3 n = vec3_scale(1.0 / distance, d);
    if (edge_point_allows_normal(pair, edge, t, n)) {
        add_point_above(pair, n, ground, separation, point_id_on_edge(pair, edge, t, 0));
    } else {
        vy_height_field_keep_fallback(pair, n, vec3_add_scaled(ground, separation, n), -separation);
    }
}

// A capsule along an edge has two points: the ends of what they have in common.
static int collide_capsule_along(field_pair *pair, const field_edge *edge, vec3 p, vec3 q)
{
    const double half = half_length(pair->shape), length = q.z - p.z;
    const vec3 d = vec3_sub(q, p);
    if (!(d.x * d.x + d.y * d.y < FIELD_PARALLEL_SINE * FIELD_PARALLEL_SINE * vec3_dot(d, d))) return 0;
    const double t0 = real_clamp((-half - p.z) / length, 0.0, 1.0),
                 t1 = real_clamp((half - p.z) / length, 0.0, 1.0);
    if (real_abs(t1 - t0) * real_abs(length) < 1e-6 * half) return 0;
    const vec3 middle = vec3_add_scaled(p, 0.5 * (t0 + t1), d);
    const double distance = real_sqrt(middle.x * middle.x + middle.y * middle.y);
    if (!(distance > 1e-9 * pair->cores.scale)) return 0;
    const vec3 n =
        mat3_mul_vec(pair->cores.rotation, vec3_make(-middle.x / distance, -middle.y / distance, 0.0));
    const vec3 across = vec3_add_scaled(n, -vec3_dot(n, edge->along), edge->along);
    if (!edge_allows_normal(edge, across)) return 1;
    for (int k = 0; k < 2; ++k) {
        const double t = k == 0 ? t0 : t1;
        const vec3 ground = edge_point(edge, t),
                   center = field_from_shape(pair, vec3_make(0.0, 0.0, p.z + t * length));
        add_point_above(pair, n, ground, vec3_dot(n, vec3_sub(center, ground)) - pair->cores.b.margin,
                        point_id_on_edge(pair, edge, t, 0));
    }
    return 1;
}

// A capsule across an edge: the normal is that of both, even where its core has gone through.
static void collide_capsule_across(field_pair *pair, const field_edge *edge, vec3 d, double t, double z)
{
    const double length = real_sqrt(d.x * d.x + d.y * d.y);
    vec3 n = mat3_mul_vec(pair->cores.rotation, vec3_make(d.y / length, -d.x / length, 0.0));
    const vec3 ground = edge_point(edge, t), center = field_from_shape(pair, vec3_make(0.0, 0.0, z));
    if (!edge_allows_normal(edge, n)) n = vec3_neg(n);
    const double separation = vec3_dot(n, vec3_sub(center, ground)) - pair->cores.b.margin;
    const double min_depth = pair->cores.b.margin - vec3_length(vec3_sub(center, ground));
    if (!is_plausible(-separation, min_depth)) return;
    if (edge_allows_normal(edge, n)) {
        add_point_above(pair, n, ground, separation, edge_id(edge, 0));
    } else {
        vy_height_field_keep_fallback(pair, n, vec3_add_scaled(ground, separation, n), -separation);
    }
}

static void collide_edge_round(field_pair *pair, const field_edge *edge)
{
    const vec3 p = field_to_shape(pair, edge->p), q = field_to_shape(pair, edge->q), d = vec3_sub(q, p);
    const double half = half_length(pair->shape);
    if (half > 0.0 && collide_capsule_along(pair, edge, p, q)) return;
    // The nearest points of the edge and the z axis, then of both segments.
    const double across2 = d.x * d.x + d.y * d.y, length2 = vec3_dot(d, d);
    double t = across2 > 1e-12 * length2 ? -(p.x * d.x + p.y * d.y) / across2 : 0.5, z = p.z + t * d.z;
    if (half > 0.0 && t > END_TOLERANCE && t < 1.0 - END_TOLERANCE && z > -half && z < half) {
        collide_capsule_across(pair, edge, d, t, z);
        return;
    }
    t = real_clamp(t, 0.0, 1.0);
    z = real_clamp(p.z + t * d.z, -half, half);
    t = real_clamp(-(p.x * d.x + p.y * d.y + (p.z - z) * d.z) / length2, 0.0, 1.0);
    z = real_clamp(p.z + t * d.z, -half, half);
    if (t > END_TOLERANCE && t < 1.0 - END_TOLERANCE)
        collide_core_point(pair, edge_point(edge, t), z, edge, t);
}

static void collide_vertex_round(field_pair *pair, const field_edge *edge)
{
    const vec3 q = field_to_shape(pair, edge->p);
    const double half = half_length(pair->shape);
    collide_core_point(pair, edge->p, real_clamp(q.z, -half, half), edge, 0.0);
}

// ---- boxes and hulls: their faces against vertices and edges, and edges against edges

// A vertex of the ground inside of the shape, or in front of one of its faces: of the faces that it may touch
// the one it is least deep behind.
static void collide_vertex_faces(field_pair *pair, const field_edge *edge)
{
    const vy_shape *shape = pair->shape;
    const vec3 q = field_to_shape(pair, edge->p);
    const int count = polyhedron_face_count(shape);
    double best_beyond = -REAL_MAX, max_beyond = -REAL_MAX;
    int face = -1;
    vec3 best_normal = vec3_zero();
    for (int f = 0; f < count; ++f) {
        const double beyond =
            vec3_dot(polyhedron_face_normal(shape, f), q) - polyhedron_face_offset(shape, f);
        if (beyond > pair->margin) return;
        max_beyond = real_max(max_beyond, beyond);
        if (!(beyond > best_beyond)) continue;
        const vec3 n = vec3_neg(mat3_mul_vec(pair->cores.rotation, polyhedron_face_normal(shape, f)));
        if (!(n.z > 0.0) || !vertex_allows_normal(pair->field, edge->from[0], edge->from[1], n)) continue;
        best_beyond = beyond;
        face = f;
        best_normal = n;
    }
    if (face < 0 || !is_plausible(-best_beyond, -max_beyond)) return;
    if (max_beyond > 0.0) { // in front of the face, not beside it?
        const vec3 foot = vec3_add_scaled(q, -best_beyond, polyhedron_face_normal(shape, face));
        for (int f = 0; f < count; ++f) {
            if (vec3_dot(polyhedron_face_normal(shape, f), foot) - polyhedron_face_offset(shape, f) >
                1e-9 * pair->cores.scale)
                return;
        }
    }
    add_point_above(pair, best_normal, edge->p, best_beyond,
                    vertex_id(pair, edge->from[0], edge->from[1], (uint32_t)face));
}

// How deep a box or hull overlaps an edge, along whatever direction; below zero: they are apart. The sum of
// the normals of an edge's faces tells which way is out.
static double min_depth_of(const field_pair *pair, const field_edge *edge)
{
    const vy_shape *shape = pair->shape;
    const vec3 p = field_to_shape(pair, edge->p), q = field_to_shape(pair, edge->q), d = vec3_sub(q, p);
    double max_gap = -REAL_MAX;
    for (int f = 0; f < polyhedron_face_count(shape); ++f) {
        const vec3 n = polyhedron_face_normal(shape, f);
        max_gap =
            real_max(max_gap, real_min(vec3_dot(n, p), vec3_dot(n, q)) - polyhedron_face_offset(shape, f));
    }
    for (int k = 0; k < polyhedron_edge_count(shape); ++k) {
        const polyhedron_edge b = polyhedron_edge_of(shape, k);
        const vec3 m = vec3_cross(d, b.along);
        const double length2 = vec3_dot(m, m), max_length2 = vec3_dot(d, d) * vec3_dot(b.along, b.along);
        if (vec3_dot(d, b.left) * vec3_dot(d, b.right) > 0.0 || !(length2 > 1e-14 * max_length2)) continue;
        const double gap = vec3_dot(m, vec3_sub(p, b.point)) / real_sqrt(length2);
        max_gap = real_max(max_gap, vec3_dot(m, vec3_add(b.left, b.right)) < 0.0 ? -gap : gap);
    }
    return -max_gap;
}

// The part of an edge in front of a face or along a segment of the shape, as parameters. `n` is the direction
// in which it is looked at. Returns 0 when there is none.
static int clip_edge(const field_edge *edge, const vy_feature *f, vec3 n, double *t_from, double *t_to)
{
    const vec3 d = vec3_sub(edge->q, edge->p);
    *t_from = 0.0;
    *t_to = 1.0;
    for (int i = 0; i < f->count; ++i) {
        const vec3 a = f->p[i], b = f->p[i + 1 == f->count ? 0 : i + 1];
        const vec3 outward = f->count == 2 ? vec3_sub(a, b) : vec3_cross(n, vec3_sub(b, a));
        const double gap = vec3_dot(outward, vec3_sub(a, edge->p)), speed = vec3_dot(outward, d);
        if (speed > 0.0) *t_to = real_min(*t_to, gap / speed);
        if (speed < 0.0) *t_from = real_max(*t_from, gap / speed);
        if (speed == 0.0 && gap < 0.0) return 0;
    }
    return *t_from <= *t_to;
}

// The ends of the part of an edge that lies along a feature of the shape, which faces it along -n.
static int collide_edge_feature(field_pair *pair, const field_edge *edge, const vy_feature *f, vec3 n)
{
    double t[2];
    const double facing = -vec3_dot(f->normal, n);
    if (!clip_edge(edge, f, n, &t[0], &t[1]) || !(facing > 0.1)) return 0;
    for (int k = 0; k < 2; ++k) {
        const vec3 ground = edge_point(edge, t[k]);
        double separation = vec3_dot(f->normal, vec3_sub(ground, f->p[0])) / facing;
        if (f->count == 2) { // the point of the segment beside it
            const vec3 d = vec3_sub(f->p[1], f->p[0]), offset = vec3_sub(ground, f->p[0]);
            const vec3 projected = vec3_add_scaled(f->p[0], vec3_dot(offset, d) / vec3_dot(d, d), d);
            separation = vec3_dot(n, vec3_sub(projected, ground));
        }
        if (!pair->cores.b.smooth && !is_plausible(-separation, edge->depth)) continue;
        add_point_above(pair, n, ground, separation,
                        point_id_on_edge(pair, edge, t[k], f->face << 12 | (uint32_t)k));
    }
    return 1;
}

// Faces along the edge.
static int collide_edge_faces(field_pair *pair, const field_edge *edge)
{
    const vy_shape *shape = pair->shape;
    const vec3 p = field_to_shape(pair, edge->p), q = field_to_shape(pair, edge->q);
    double best = -REAL_MAX;
    int face = -1;
    for (int f = 0; f < polyhedron_face_count(shape); ++f) {
        const vec3 local_normal = polyhedron_face_normal(shape, f);
        const double offset = polyhedron_face_offset(shape, f), beyond_p = vec3_dot(local_normal, p) - offset,
                     beyond_q = vec3_dot(local_normal, q) - offset, min_beyond = real_min(beyond_p, beyond_q);
        if (min_beyond > pair->margin) return 1; // wholly in front of a face, too far
        if (!(min_beyond > best)) continue;
        const vec3 n = vec3_neg(mat3_mul_vec(pair->cores.rotation, local_normal));
        const double slope = vec3_dot(n, edge->along);
        if (real_abs(slope) > FIELD_PARALLEL_SINE ||
            !edge_allows_normal(edge, vec3_add_scaled(n, -slope, edge->along)))
            continue;
        best = min_beyond;
        face = f;
    }
    if (face < 0) return 0;
    vy_feature f;
    vy_feature_of(shape, polyhedron_face_normal(shape, face), &f);
    vy_feature_transform(&pair->cores.rotation, pair->cores.offset, &f);
    return collide_edge_feature(pair, edge, &f, vec3_neg(f.normal));
}

// Two edges that cross: their arcs on the Gauss map do.
static int collide_edge_edges(field_pair *pair, const field_edge *edge)
{
    const vy_shape *shape = pair->shape;
    const vec3 p = field_to_shape(pair, edge->p), d = vec3_sub(field_to_shape(pair, edge->q), p);
    int has_contact = 0;
    for (int k = 0; k < polyhedron_edge_count(shape); ++k) {
        const polyhedron_edge b = polyhedron_edge_of(shape, k);
        if (vec3_dot(d, b.left) * vec3_dot(d, b.right) > 0.0) continue;
        const vec3 m = vec3_cross(d, b.along);
        const double length2 = vec3_dot(m, m), max_length2 = vec3_dot(d, d) * vec3_dot(b.along, b.along);
        if (!(length2 > 1e-14 * max_length2)) continue;
        vec3 local = vec3_scale(1.0 / real_sqrt(length2), m);
        if (vec3_dot(local, vec3_add(b.left, b.right)) > 0.0) local = vec3_neg(local);
        const vec3 gap = vec3_sub(b.point, p);
        const double separation = vec3_dot(local, gap);
        if (separation > pair->margin) continue;
        const double t = vec3_dot(vec3_cross(gap, b.along), m) / length2,
                     u = vec3_dot(vec3_cross(gap, d), m) / length2;
        if (!(t >= 0.0 && t <= 1.0 && u >= b.from && u <= b.to)) continue;
        const vec3 n = mat3_mul_vec(pair->cores.rotation, local);
        if (!edge_allows_normal(edge, n) || !is_plausible(-separation, edge->depth)) continue;
        add_point_above(pair, n, edge_point(edge, t), separation, edge_id(edge, (uint32_t)k));
        has_contact = 1;
    }
    return has_contact;
}

// ---- the nearest points of an edge and the shape, and those of a cylinder that overlaps it

static void set_cylinder_inset(field_pair *pair, double fraction)
{
    vy_core *b = &pair->cores.b;
    if (!b->smooth) return;
    const vy_cylinder *c = &pair->shape->cylinder;
    const double inset = fraction * real_min(c->radius, c->half_height);
    b->radius = c->radius - inset;
    b->half_height = c->half_height - inset;
}

static void collide_nearest(field_pair *pair, const field_edge *edge)
{
    const vec3 ends[2] = {edge->p, edge->q};
    vy_core_pair *cores = &pair->cores;
    const double scale = cores->scale;
    vy_gjk_result g = {.distance = 0.0};
    vy_core_of_points(ends, 2, &cores->a);
    for (int k = 0; k < (cores->b.smooth ? INSETS : 1) && !(g.distance > 1e-9 * scale); ++k) {
        set_cylinder_inset(pair, insets[k]);
        vy_gjk_distance(cores, NULL, pair->margin + insets[k] * scale, VY_QUERY_ITERATIONS, &g);
        if (g.beyond_limit) break;
    }
    vec3 ground, on_shape;
    if (g.distance > 1e-9 * scale && !g.beyond_limit) vy_gjk_points(cores, &g, &ground, &on_shape);
    set_cylinder_inset(pair, 0.0);
    if (g.beyond_limit || !(g.distance > 1e-9 * scale)) return;
    const vec3 n = vec3_scale(-1.0 / g.distance, g.v), d = vec3_sub(edge->q, edge->p);
    const double t = vec3_dot(vec3_sub(ground, edge->p), d) / vec3_dot(d, d);
    const double separation = vec3_dot(n, vec3_sub(field_support(pair, n), ground));
    if (!edge_point_allows_normal(pair, edge, t, n)) {
        vy_height_field_keep_fallback(pair, n, vec3_add_scaled(ground, separation, n), -separation);
        return;
    }
    add_point_above(pair, n, ground, separation, point_id_on_edge(pair, edge, t, 0));
    if (!cores->b.smooth) return;
    vy_feature f; // along its side or an end there are two points
    vy_feature_of(pair->shape, vec3_neg(mat3_tmul_vec(cores->rotation, n)), &f);
    vy_feature_transform(&cores->rotation, cores->offset, &f);
    if (f.count < 2) return;
    const vec3 side = vec3_sub(f.p[1], f.p[0]);
    const double along = real_abs(vec3_dot(side, edge->along));
    const int is_along = f.count == 2 ? along * along > (1.0 - FIELD_PARALLEL_SINE * FIELD_PARALLEL_SINE) *
                                                            vec3_dot(side, side)
                                      : real_abs(vec3_dot(n, edge->along)) < FIELD_PARALLEL_SINE;
    if (is_along) (void)collide_edge_feature(pair, edge, &f, n);
}

void vy_height_field_collide_edges(field_pair *pair, const int low[2], const int high[2])
{
    const vy_shape_kind kind = pair->shape->kind;
    const int is_round = kind == VY_SHAPE_SPHERE || kind == VY_SHAPE_CAPSULE,
              is_polyhedron = kind == VY_SHAPE_BOX || kind == VY_SHAPE_HULL;
    field_edge edge;
    for (int j = low[1]; j <= high[1]; ++j) {
        for (int i = low[0]; i <= high[0]; ++i) {
            const vec3 p = field_vertex(pair->field, i, j);
            const unsigned below_mask = field_cull_mask(pair, p);
            if (below_mask == 0) {
                edge.p = p;
                edge.from[0] = i;
                edge.from[1] = j;
                if (is_round) collide_vertex_round(pair, &edge);
                if (is_polyhedron) collide_vertex_faces(pair, &edge);
            }
            for (int k = 0; k < 3; ++k) {
                if (!set_edge(pair->field, i, j, k, &edge) ||
                    (below_mask & field_cull_mask(pair, edge.q)) != 0 || !is_convex(&edge))
                    continue;
                if (is_polyhedron) edge.depth = min_depth_of(pair, &edge);
                if (is_round) {
                    collide_edge_round(pair, &edge);
                } else if (!is_polyhedron ||
                           !(collide_edge_faces(pair, &edge) | collide_edge_edges(pair, &edge))) {
                    collide_nearest(pair, &edge);
                }
            }
        }
    }
}
