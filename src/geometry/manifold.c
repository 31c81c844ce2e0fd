// manifold.c - the points of a contact: one polygon clipped by the sides of another, reduced to the best four
// points.
#include "geometry/manifold.h"
#include "base/assert.h"

typedef struct clip_polygon {
    int count;
    vec3 p[2 * VY_FEATURE_POINTS];
    uint64_t id[2 * VY_FEATURE_POINTS];   // of the contact points
    uint32_t line[2 * VY_FEATURE_POINTS]; // id of the line that the edge from this point lies on
} clip_polygon;

static void polygon_add(clip_polygon *polygon, vec3 p, uint64_t id, uint32_t line)
{
    if (polygon->count == 2 * VY_FEATURE_POINTS) return;
    polygon->p[polygon->count] = p;
    polygon->line[polygon->count] = line;
    polygon->id[polygon->count++] = id;
}

// Sutherland-Hodgman: the part of `in` with dot(m, p) <= offset. Returns 0, and does not write *out, when
// nothing is cut off.
static int clip(const clip_polygon *in, vec3 m, double offset, uint32_t side, clip_polygon *out)
{
    VY_ASSERT(in != out && in->count >= 0 && in->count <= 2 * VY_FEATURE_POINTS);
    double beyond[2 * VY_FEATURE_POINTS], max_value = -1.0;
    for (int i = 0; i < in->count; ++i) {
        beyond[i] = vec3_dot(m, in->p[i]) - offset;
        max_value = real_max(max_value, beyond[i]);
    }
    if (!(max_value > 0.0)) return 0;
    const int edges = in->count == 2 ? 1 : in->count; // a segment has one edge, not two
    const uint32_t id = side_id(side);
    out->count = 0;
    for (int i = 0; i < in->count; ++i) {
        const int j = i + 1 == in->count ? 0 : i + 1;
        if (beyond[i] <= 0.0) polygon_add(out, in->p[i], in->id[i], in->line[i]);
        if (i < edges && beyond[i] * beyond[j] < 0.0) {
            const vec3 p =
                vec3_add_scaled(in->p[i], beyond[i] / (beyond[i] - beyond[j]), vec3_sub(in->p[j], in->p[i]));
            polygon_add(out, p, clip_id(in->id[i], in->line[i], id), beyond[i] < 0.0 ? id : in->line[i]);
        }
    }
    return 1;
}

void vy_manifold_clip(const vy_feature *reference, const vy_feature *incident, vec3 n, int flipped,
                      int bounded, double slop, double margin, vy_candidates *out)
{
    VY_ASSERT(reference->count >= 1 && reference->count <= VY_FEATURE_POINTS);
    VY_ASSERT(incident->count >= 1 && incident->count <= VY_FEATURE_POINTS);
    VY_ASSERT(vec3_is_unit(n) && slop >= 0.0 && margin >= 0.0);
    clip_polygon buffer[2];
    clip_polygon *current = &buffer[0], *next = &buffer[1];
    current->count = 0;
    for (int i = 0; i < incident->count; ++i) {
        const uint32_t line = incident->id[i] & 0x7fffu;
        polygon_add(current, incident->p[i], point_id(flipped, reference->face, incident->face, line, 0),
                    line);
    }
    for (int i = 0; bounded && i < reference->count; ++i) {
        const int j = i + 1 == reference->count ? 0 : i + 1;
        const vec3 side = vec3_cross(vec3_sub(reference->p[j], reference->p[i]), reference->normal);
        if (!clip(current, side, vec3_dot(side, reference->p[i]), reference->id[i], next)) continue;
        clip_polygon *const t = current;
        current = next;
        next = t;
    }
    const double level = vec3_dot(reference->normal, reference->p[0]);
    const double cosine = real_abs(vec3_dot(reference->normal, n));
    VY_ASSERT(cosine > 0.0);
    for (int i = 0; i < current->count && out->count < 2 * VY_FEATURE_POINTS; ++i) {
        const double depth = level - vec3_dot(reference->normal, current->p[i]);
        if (depth < -real_max(slop, margin)) continue;
        out->points[out->count].p = current->p[i];
        out->points[out->count].depth = (margin > 0.0 ? depth : real_max(depth, 0.0)) / cosine;
        out->points[out->count++].id = current->id[i];
    }
}

static void swap(vy_candidates *candidates, int i, int j)
{
    VY_ASSERT(i >= 0 && i < candidates->count + 1 && j >= 0);
    const vec3 p = candidates->points[i].p;
    const double depth = candidates->points[i].depth;
    const uint64_t id = candidates->points[i].id;
    candidates->points[i] = candidates->points[j];
    candidates->points[j].p = p;
    candidates->points[j].depth = depth;
    candidates->points[j].id = id;
}

static double distance2(vec3 a, vec3 b)
{
    const vec3 d = vec3_sub(a, b);
    return vec3_dot(d, d);
}

void vy_manifold_reduce(vy_candidates *candidates)
{
    VY_ASSERT(candidates->count >= 0 && candidates->count <= 2 * VY_FEATURE_POINTS);
    int best = 0;
    for (int i = 1; i < candidates->count; ++i) {
        if (candidates->points[i].depth > candidates->points[best].depth) best = i;
    }
    if (candidates->count > 1) swap(candidates, 0, best);
    if (candidates->count <= VY_MANIFOLD_POINTS) return;
    double max_value = -1.0;
    for (int i = 1; i < candidates->count; ++i) { // the farthest from it
        const double d2 = distance2(candidates->points[i].p, candidates->points[0].p);
        if (d2 > max_value) {
            max_value = d2;
            best = i;
        }
    }
    swap(candidates, 1, best);
    const vec3 p0 = candidates->points[0].p, edge = vec3_sub(candidates->points[1].p, p0);
    vec3 triangle_normal = vec3_zero();
    max_value = -1.0;
    for (int i = 2; i < candidates->count; ++i) { // the farthest from their line
        const vec3 m = vec3_cross(edge, vec3_sub(candidates->points[i].p, p0));
        if (vec3_dot(m, m) > max_value) {
            max_value = vec3_dot(m, m);
            best = i;
            triangle_normal = m;
        }
    }
    swap(candidates, 2, best);
    // The point that adds most area outside the triangle of the three.
    const vec3 q[3] = {candidates->points[0].p, candidates->points[1].p, candidates->points[2].p};
    max_value = 0.0;
    best = -1;
    for (int i = 3; i < candidates->count; ++i) {
        for (int k = 0; k < 3; ++k) {
            const vec3 m =
                vec3_cross(vec3_sub(q[k == 2 ? 0 : k + 1], q[k]), vec3_sub(candidates->points[i].p, q[k]));
            const double outside = -vec3_dot(m, triangle_normal);
            if (outside > max_value) {
                max_value = outside;
                best = i;
            }
        }
    }
    candidates->count = 3;
    if (best >= 0) {
        swap(candidates, 3, best);
        candidates->count = 4;
    }
}

// Two parallel segments: the ends of each that are beside the other.
static void clip_segments(const vy_feature *a, const vy_feature *b, vec3 n, vy_candidates *out)
{
    VY_ASSERT(a->count == 2 && b->count == 2);
    const vec3 u = vec3_sub(a->p[1], a->p[0]), v = vec3_sub(b->p[1], b->p[0]);
    const double uu = vec3_dot(u, u), uv = vec3_dot(u, v);
    VY_ASSERT(uu > 0.0);
    if (uv * uv < VY_FACE_ALIGNED_COSINE * uu * vec3_dot(v, v)) return;
    clip_polygon segment;
    segment.count = 0;
    for (int i = 0; i < 2; ++i)
        polygon_add(&segment, b->p[i], point_id(0, a->face, b->face, b->id[i], 0), b->id[i]);
    clip_polygon clipped_once, clipped_twice;
    const clip_polygon *clipped =
        clip(&segment, u, vec3_dot(u, a->p[1]), a->id[1], &clipped_once) ? &clipped_once : &segment;
    if (clip(clipped, vec3_neg(u), -vec3_dot(u, a->p[0]), a->id[0], &clipped_twice)) clipped = &clipped_twice;
    for (int i = 0; i < clipped->count; ++i) {
        const double t = vec3_dot(u, vec3_sub(clipped->p[i], a->p[0])) / uu;
        const double depth = vec3_dot(n, vec3_sub(vec3_add_scaled(a->p[0], t, u), clipped->p[i]));
        if (depth < 0.0) continue;
        VY_ASSERT(out->count < 2 * VY_FEATURE_POINTS);
        out->points[out->count].p = clipped->p[i];
        out->points[out->count].depth = depth;
        out->points[out->count++].id = clipped->id[i];
    }
}

// A box vertex's id is made of the signs of its coordinates; where d is perpendicular to an axis, either sign
// will do.
static uint64_t box_vertex_id(vec3 half_sides, vec3 d, double slop)
{
    const double half[3] = {half_sides.x, half_sides.y, half_sides.z}, direction[3] = {d.x, d.y, d.z};
    uint64_t vertex = 0, other_vertex = 0;
    for (int k = 2; k >= 0; --k) {
        const uint64_t bit = (uint64_t)1 << k;
        if (real_abs(direction[k]) * 2.0 * half[k] <= slop) {
            other_vertex = vertex | bit;
        } else if (direction[k] > 0.0) {
            vertex |= bit;
            other_vertex |= bit;
        }
    }
    return vertex << 15 | (other_vertex > vertex ? other_vertex : 0x7fff);
}

// The id of the extreme vertex or edge of a shape along d: its two smallest vertex indices.
static uint64_t vertex_id(const vy_shape *shape, vec3 d, double slop)
{
    if (shape->kind == VY_SHAPE_BOX) return box_vertex_id(shape->box.half, d, slop);
    if (shape->kind != VY_SHAPE_HULL) return 0;
    const vy_hull *hull = shape->hull;
    const int top = vy_support()->extreme(hull->x, hull->y, hull->z, hull->padded_count, d);
    VY_ASSERT(top >= 0 && top < hull->vertex_count);
    const double level = vec3_dot(hull->vertices[top], d) - slop;
    uint64_t id[2] = {0x7fff, 0x7fff};
    for (int i = 0, id_count = 0; i < hull->vertex_count && id_count < 2; ++i) {
        if (vec3_dot(hull->vertices[i], d) >= level) id[id_count++] = (uint64_t)i;
    }
    return (id[0] & 0x7fffu) << 15 | (id[1] & 0x7fffu);
}

uint64_t vy_vertex_pair_id(const vy_shape *a, vec3 n, const vy_shape *b, vec3 m, double scale)
{
    return (uint64_t)1 << 62 | vertex_id(a, n, 1e-9 * scale) << 30 | vertex_id(b, m, 1e-9 * scale);
}

static void write_point(const vy_pose *pose, vec3 n, vec3 on_a, double depth, uint64_t id, vy_manifold *out)
{
    VY_ASSERT(out->count >= 0 && out->count < VY_MANIFOLD_POINTS);
    vy_manifold_point *p = &out->points[out->count++];
    p->point_a = vec3_add(pose->position, quat_rotate(pose->rotation, on_a));
    p->point_b = vec3_add_scaled(p->point_a, -depth, n);
    p->depth = depth;
    p->id = id;
}

// The deepest point of B's feature, moved to A's surface: where the polygons have no point that deep.
static vec3 deepest_point(const vy_feature *feature_b, vec3 n, double depth)
{
    VY_ASSERT(feature_b->count >= 1);
    int best = 0;
    for (int i = 1; i < feature_b->count; ++i) {
        if (vec3_dot(n, feature_b->p[i]) < vec3_dot(n, feature_b->p[best])) best = i;
    }
    return vec3_add_scaled(feature_b->p[best], depth, n);
}

void vy_manifold_build(const vy_shape *a, const vy_shape *b, const mat3 *rotation, vec3 offset, double scale,
                       vec3 normal, double depth, const vec3 *witness, double margin, const vy_pose *pose_a,
                       vy_manifold *out)
{
    VY_ASSERT(vec3_is_unit(normal) && scale > 0.0 && depth >= 0.0 && margin >= 0.0);
    vy_feature feature_a, feature_b;
    vy_candidates candidates;
    candidates.count = out->count = 0;
    out->normal = quat_rotate(pose_a->rotation, normal);
    const vec3 normal_b = vec3_neg(mat3_tmul_vec(*rotation, normal));
    vy_feature_of(a, normal, &feature_a);
    vy_feature_of(b, normal_b, &feature_b);
    vy_feature_transform(rotation, offset, &feature_b);
    const double align_a = feature_a.count > 2 ? vec3_dot(feature_a.normal, normal) : -1.0;
    const double align_b = feature_b.count > 2 ? -vec3_dot(feature_b.normal, normal) : -1.0;
    // A's face is preferred slightly, so that rounding does not switch the reference between equal faces.
    const int flipped = align_b > align_a + 1e-14,
              are_segments = feature_a.count == 2 && feature_b.count == 2;
    if (real_max(align_a, align_b) >= VY_FACE_ALIGNED_COSINE) {
        vy_manifold_clip(flipped ? &feature_b : &feature_a, flipped ? &feature_a : &feature_b, normal,
                         flipped, 1, 1e-12 * scale, margin, &candidates);
    } else if (are_segments) {
        clip_segments(&feature_a, &feature_b, normal, &candidates);
    }
    double deepest = -1.0;
    for (int i = 0; i < candidates.count; ++i) {
        // No point is deeper than the contact: more depth comes from the tilt of the faces.
        candidates.points[i].depth = real_min(candidates.points[i].depth, depth);
        deepest = real_max(deepest, candidates.points[i].depth);
        if (!flipped)
            candidates.points[i].p = vec3_add_scaled(candidates.points[i].p, candidates.points[i].depth,
                                                     normal); // from B's surface to A's
    }
    // The faces contain the deepest point where the normal is one of theirs; else it is the witness point.
    const int contains_deepest =
        (are_segments || real_max(align_a, align_b) >= 1.0 - 4e-15) && deepest >= depth - 1e-9 * scale;
    if (candidates.count == 0 || (witness != NULL && !contains_deepest)) {
        if (candidates.count == 2 * VY_FEATURE_POINTS) --candidates.count;
        VY_ASSERT(candidates.count < 2 * VY_FEATURE_POINTS);
        candidates.points[candidates.count] =
            candidates.points[0]; // the deepest comes first: of equal ones the first is kept
        candidates.points[0].p = witness != NULL ? *witness : deepest_point(&feature_b, normal, depth);
        candidates.points[0].depth = depth;
        candidates.points[0].id = vy_vertex_pair_id(a, normal, b, normal_b, scale);
        ++candidates.count;
    }
    VY_ASSERT(candidates.count >= 1);
    vy_manifold_reduce(&candidates);
    for (int i = 0; i < candidates.count; ++i)
        write_point(pose_a, out->normal, candidates.points[i].p, candidates.points[i].depth,
                    candidates.points[i].id, out);
}
