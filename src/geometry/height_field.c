// height_field.c - convex shapes at height fields: the triangles they touch, and manifolds by normals.
#include "geometry/height_field.h"
#include "base/assert.h"
#include "geometry/height_field_pair.h"
#include "geometry/gjk.h"
#include "geometry/manifold.h"
#include <float.h>

#define SAME_NORMAL (1.0 - 5e-7) // cosine of the angle up to which points share a manifold: 1 mrad
#define SAME_POINT  1e-6         // of the shape's size
#define DEPTH_TIE   1e-7         // of the shape's size: points this much apart in depth are equally deep

// ---- patches

static field_patch *patch_for(field_pair *pair, vec3 n, double depth)
{
    field_patch *slot = &pair->patches[0];
    for (int k = 0; k < pair->patch_count; ++k) {
        field_patch *p = &pair->patches[k];
        if (vec3_dot(p->first_normal, n) > SAME_NORMAL) return p;
        if (p->depth < slot->depth) slot = p;
    }
    if (pair->patch_count < FIELD_PATCHES) {
        slot = &pair->patches[pair->patch_count++];
    } else if (!(depth > slot->depth)) {
        return NULL;
    }
    slot->first_normal = slot->normal = n;
    slot->depth = depth;
    slot->count = 0;
    return slot;
}

// Keep up to four points. Of those that are equally deep one at the border is the first: on flat ground the
// corners of a face are what it stands on, not the points where inner edges of the ground cut it.
static void reduce_patch(const field_pair *pair, field_patch *patch)
{
    vec3 sum = vec3_zero();
    double deepest = -DBL_MAX, farthest = -1.0;
    int start = 0;
    for (int i = 0; i < patch->count; ++i) {
        sum = vec3_add(sum, patch->points[i].p);
        deepest = real_max(deepest, patch->points[i].depth);
    }
    const vec3 middle = vec3_scale(1.0 / patch->count, sum);
    for (int i = 0; i < patch->count; ++i) {
        const vec3 d = vec3_sub(patch->points[i].p, middle);
        if (patch->points[i].depth < deepest - DEPTH_TIE * pair->cores.scale || !(vec3_dot(d, d) > farthest))
            continue;
        farthest = vec3_dot(d, d);
        start = i;
    }
    vy_candidates candidates;
    candidates.count = patch->count;
    for (int i = 0; i < patch->count; ++i) {
        const int source = i == 0 ? start : i <= start ? i - 1 : i;
        candidates.points[i].p = patch->points[source].p;
        candidates.points[i].depth = real_min(patch->points[source].depth, patch->points[start].depth);
        candidates.points[i].id = patch->points[source].id;
    }
    vy_manifold_reduce(&candidates);
    patch->count = candidates.count;
    for (int i = 0; i < candidates.count; ++i) {
        patch->points[i].p = candidates.points[i].p;
        patch->points[i].depth = candidates.points[i].depth;
        patch->points[i].id = candidates.points[i].id;
    }
}

void vy_height_field_add_point(field_pair *pair, vec3 n, vec3 on_shape, double depth, uint64_t id)
{
    VY_ASSERT(vec3_is_unit(n));
    if (!(depth >= -pair->margin)) return;
    field_patch *patch = patch_for(pair, n, depth);
    if (patch == NULL) return;
    for (int i = 0; i < patch->count; ++i) { // two triangles have the points of their common edge
        const vec3 d = vec3_sub(patch->points[i].p, on_shape);
        if (patch->points[i].id == id ||
            vec3_dot(d, d) < SAME_POINT * SAME_POINT * pair->cores.scale * pair->cores.scale)
            return;
    }
    if (patch->count == FIELD_PATCH_POINTS) reduce_patch(pair, patch);
    VY_ASSERT(patch->count < FIELD_PATCH_POINTS);
    if (depth > patch->depth) {
        patch->depth = depth;
        patch->normal = n;
    }
    patch->points[patch->count].p = on_shape;
    patch->points[patch->count].depth = depth;
    patch->points[patch->count++].id = id;
}

void vy_height_field_keep_fallback(field_pair *pair, vec3 n, vec3 on_shape, double depth)
{
    if (!(depth >= 0.0) || !(n.z > FIELD_MIN_RIM_NORMAL_Z) ||
        (pair->has_fallback && depth <= pair->fallback_depth))
        return;
    pair->has_fallback = 1;
    pair->fallback_normal = n;
    pair->fallback_point = on_shape;
    pair->fallback_depth = depth;
}

// ---- triangles: the part of the shape's lowest feature that is over each

/// A triangle of the field, counter-clockwise seen from above.
typedef struct field_face {
    vec3 corner[3]; // [m]
    vec3 n;         // unit, upward
    uint32_t id;    // of the triangle within the field
} field_face;

// [m] How far a point is above the plane of a triangle.
static double height_over(const field_face *face, vec3 p)
{
    return vec3_dot(face->n, vec3_sub(p, face->corner[0]));
}

// Whether a point is over the triangle: one above its plane by the foot of its height, one below straight.
static int projects_onto(const field_pair *pair, const field_face *face, vec3 p)
{
    const vec3 q = vec3_add_scaled(p, -real_max(height_over(face, p), 0.0), face->n);
    const double tolerance = 1e-9 * pair->field->spacing * pair->field->spacing;
    for (int k = 0; k < 3; ++k) {
        const vec3 a = face->corner[k], b = face->corner[k == 2 ? 0 : k + 1];
        if ((b.x - a.x) * (q.y - a.y) - (b.y - a.y) * (q.x - a.x) < -tolerance) return 0;
    }
    return 1;
}

static uint64_t vertex_of_face_id(const field_face *face, uint32_t vertex)
{
    return (uint64_t)1 << 62 | (uint64_t)face->id << 24 | (vertex & 0xffffffu);
}

// The part of a polygon or segment over the triangle.
static void clip_feature(field_pair *pair, const field_face *face, const vy_feature *feature)
{
    vy_feature triangle = {.count = 3, .face = face->id};
    int is_above = 1;
    for (int i = 0; i < 3; ++i) {
        triangle.p[i] = face->corner[i];
        triangle.id[i] = (uint32_t)i;
    }
    for (int i = 0; i < feature->count; ++i) is_above &= height_over(face, feature->p[i]) > 0.0;
    triangle.normal = is_above ? face->n : vec3_make(0.0, 0.0, 1.0);
    vy_candidates c;
    c.count = 0;
    vy_manifold_clip(&triangle, feature, triangle.normal, 0, 1, 1e300, 0.0, &c);
    for (int i = 0; i < c.count; ++i)
        vy_height_field_add_point(pair, face->n, c.points[i].p, -height_over(face, c.points[i].p),
                                  c.points[i].id);
}

// A face that is not along the triangle: its vertices over it, and its lowest edge, if that is.
static void collide_tilted_face(field_pair *pair, const field_face *face, const vy_feature *feature)
{
    int lowest = 0;
    for (int i = 0; i < feature->count; ++i) {
        const double height = height_over(face, feature->p[i]);
        if (height < height_over(face, feature->p[lowest])) lowest = i;
        if (height <= pair->margin && projects_onto(pair, face, feature->p[i]))
            vy_height_field_add_point(pair, face->n, feature->p[i], -height,
                                      vertex_of_face_id(face, feature->id[i]));
    }
    const int previous = lowest == 0 ? feature->count - 1 : lowest - 1,
              following = lowest == feature->count - 1 ? 0 : lowest + 1;
    const int lower_neighbour =
        height_over(face, feature->p[previous]) < height_over(face, feature->p[following]) ? previous
                                                                                           : following;
    const vec3 d = vec3_sub(feature->p[lower_neighbour], feature->p[lowest]);
    if (vec3_dot(face->n, d) > FIELD_PARALLEL_SINE * vec3_length(d)) return;
    const vy_feature edge = {.count = 2,
                             .p = {feature->p[lowest], feature->p[lower_neighbour]},
                             .id = {feature->id[lowest], feature->id[lower_neighbour]},
                             .normal = feature->normal,
                             .face = feature->face};
    clip_feature(pair, face, &edge);
}

static void collide_face(field_pair *pair, const field_face *face)
{
    const vec3 lowest = field_support(pair, face->n);
    const double height = height_over(face, lowest);
    if (!(height <= pair->margin)) return;
    if (pair->shape->kind != VY_SHAPE_SPHERE) {
        vy_feature feature;
        vy_feature_of(pair->shape, vec3_neg(mat3_tmul_vec(pair->cores.rotation, face->n)), &feature);
        vy_feature_transform(&pair->cores.rotation, pair->cores.offset, &feature);
        if (feature.count > 2 && -vec3_dot(feature.normal, face->n) < VY_FACE_ALIGNED_COSINE) {
            collide_tilted_face(pair, face, &feature);
        } else if (feature.count > 1) {
            clip_feature(pair, face, &feature);
        }
    }
    // Of a cylinder's rim or a large face the lowest point may not be one of the feature's.
    const int patch_count = pair->patch_count;
    for (int k = 0; k < patch_count; ++k) {
        if (vec3_dot(pair->patches[k].first_normal, face->n) > SAME_NORMAL &&
            pair->patches[k].depth >= -height - 1e-9 * pair->cores.scale)
            return;
    }
    if (projects_onto(pair, face, lowest))
        vy_height_field_add_point(pair, face->n, lowest, -height, vertex_of_face_id(face, 0xffffff));
}

// The cell in which x lies, in cells from the rim; outside the nearest.
static int cell_of(double x, int cell_count)
{
    return x <= 0.0 ? 0 : x >= (double)cell_count ? cell_count - 1 : (int)x;
}

// Returns 0 when it is below the shape, or has no area.
static int set_face(const field_pair *pair, int i, int j, int half, field_face *face)
{
    const vy_height_field *field = pair->field;
    vy_height_field_triangle(field, i, j, half, face->corner);
    if ((field_cull_mask(pair, face->corner[0]) & field_cull_mask(pair, face->corner[1]) &
         field_cull_mask(pair, face->corner[2])) != 0)
        return 0;
    const vec3 m =
        vec3_cross(vec3_sub(face->corner[1], face->corner[0]), vec3_sub(face->corner[2], face->corner[0]));
    const double area = vec3_length(m);
    face->n = vec3_scale(1.0 / area, m);
    face->id = (uint32_t)(2 * (j * (field->nx - 1) + i) + half);
    return area > 0.0;
}

static void collide_faces(field_pair *pair, const int low[2], const int high[2])
{
    field_face face;
    for (int j = low[1]; j < high[1]; ++j) {
        for (int i = low[0]; i < high[0]; ++i) {
            for (int half = 0; half < 2; ++half) {
                if (set_face(pair, i, j, half, &face)) collide_face(pair, &face);
            }
        }
    }
}

// A shape whose centre is under the ground, and that no triangle cuts: out along the normal of the triangle
// over its centre.
static void collide_buried(field_pair *pair)
{
    const vy_height_field *field = pair->field;
    const vec3 centre = pair->cores.offset;
    const int i = cell_of(centre.x / field->spacing, field->nx - 1),
              j = cell_of(centre.y / field->spacing, field->ny - 1);
    field_face face;
    for (int half = 0; half < 2; ++half) {
        if (!set_face(pair, i, j, half, &face) || height_over(&face, centre) >= 0.0 ||
            !projects_onto(pair, &face, centre))
            continue;
        const vec3 lowest = field_support(pair, face.n);
        vy_height_field_add_point(pair, face.n, lowest, -height_over(&face, lowest), 0);
        return;
    }
}

// Nothing that may be was found, for the shape is so deep in the ground, or around a crest, that no normal of
// an edge or vertex is left: the deepest of what may not be, or out along the normal of one of the triangles
// that cut it, whichever is nearest.
static void collide_deep(field_pair *pair, const int low[2], const int high[2])
{
    if (pair->has_fallback) {
        vy_height_field_add_point(pair, pair->fallback_normal, pair->fallback_point, pair->fallback_depth, 0);
        return;
    }
    double min_depth = REAL_MAX;
    vec3 best_normal = vec3_zero(), best_point = vec3_zero();
    field_face face;
    for (int j = low[1]; j < high[1]; ++j) {
        for (int i = low[0]; i < high[0]; ++i) {
            for (int half = 0; half < 2; ++half) {
                if (!set_face(pair, i, j, half, &face)) continue;
                const vec3 lowest = field_support(pair, face.n);
                const double depth = -height_over(&face, lowest);
                vy_gjk_result g;
                if (!(depth >= 0.0) || depth >= min_depth) continue;
                vy_core_of_points(face.corner, 3, &pair->cores.a);
                vy_gjk_distance(&pair->cores, NULL, pair->cores.b.margin, VY_QUERY_ITERATIONS, &g);
                if (g.beyond_limit || g.distance > pair->cores.b.margin) continue;
                min_depth = depth;
                best_normal = face.n;
                best_point = lowest;
            }
        }
    }
    if (min_depth < REAL_MAX)
        vy_height_field_add_point(pair, best_normal, best_point, min_depth, 0);
    else
        collide_buried(pair);
}

// ---- the pair

// A direction along which the shape is thin, or rather that of its largest face from below: ground that is
// not near the shape is mostly below it along this direction or straight down.
static vec3 thin_direction(const field_pair *pair)
{
    const vec3 up = vec3_make(0.0, 0.0, 1.0), local_up = mat3_tmul_vec(pair->cores.rotation, up);
    const vy_shape_kind kind = pair->shape->kind;
    if (kind == VY_SHAPE_BOX || kind == VY_SHAPE_HULL) {
        vy_feature f;
        vy_feature_of(pair->shape, vec3_neg(local_up), &f);
        return vec3_neg(mat3_mul_vec(pair->cores.rotation, f.normal));
    }
    if (kind == VY_SHAPE_SPHERE) return up;
    const double across = real_sqrt(local_up.x * local_up.x + local_up.y * local_up.y);
    if (!(across > 0.5))
        return mat3_mul_vec(pair->cores.rotation, vec3_make(0.0, 0.0, local_up.z < 0.0 ? -1.0 : 1.0));
    return mat3_mul_vec(pair->cores.rotation, vec3_make(local_up.x / across, local_up.y / across, 0.0));
}

static void init_pair(field_pair *pair, const vy_pose *pose_field, const vy_pose *pose)
{
    vy_core_of(pair->shape, &pair->cores.b);
    pair->cores.a.margin = pair->cores.a.outer_radius = 0.0;
    vy_pair_set_poses(pose_field, pose, &pair->cores);
    const vy_pose local = {pair->cores.offset, quat_mul(quat_conj(pose_field->rotation), pose->rotation)};
    const vec3 widening = vec3_make(pair->margin, pair->margin, pair->margin);
    pair->box = vy_shape_bounds(pair->shape, &local);
    pair->box.low = vec3_sub(pair->box.low, widening);
    pair->box.high = vec3_add(pair->box.high, widening);
    pair->cull_normal[0] = vec3_make(0.0, 0.0, 1.0);
    pair->cull_offset[0] = pair->box.low.z;
    pair->cull_normal[1] = thin_direction(pair);
    pair->cull_offset[1] =
        vec3_dot(pair->cull_normal[1], field_support(pair, pair->cull_normal[1])) - pair->margin;
    pair->patch_count = pair->has_fallback = 0;
}

static void write_manifold(const vy_pose *pose, const field_patch *p, vy_manifold *out)
{
    out->normal = quat_rotate(pose->rotation, p->normal);
    out->count = p->count;
    for (int i = 0; i < p->count; ++i) {
        vy_manifold_point *contact_point = &out->points[i];
        contact_point->point_b = vec3_add(pose->position, quat_rotate(pose->rotation, p->points[i].p));
        contact_point->point_a = vec3_add_scaled(contact_point->point_b, p->points[i].depth, out->normal);
        contact_point->depth = p->points[i].depth;
        contact_point->id = p->points[i].id;
    }
}

int vy_collide_height_field(const vy_height_field *field, const vy_pose *pose_field, const vy_shape *shape,
                            const vy_pose *pose_shape, double margin, vy_manifold *out)
{
    VY_ASSERT(margin >= 0.0 && vy_shape_is_convex(shape));
    field_pair pair;
    pair.field = field;
    pair.shape = shape;
    pair.margin = margin;
    init_pair(&pair, pose_field, pose_shape);
    const vy_bounds *box = &pair.box;
    const double size = field->spacing;
    if (box->low.z > field->high || box->high.x < 0.0 || box->high.y < 0.0 ||
        box->low.x > size * (double)(field->nx - 1) || box->low.y > size * (double)(field->ny - 1))
        return 0;
    const int low[2] = {cell_of(box->low.x / size, field->nx - 1), cell_of(box->low.y / size, field->ny - 1)};
    const int high[2] = {cell_of(box->high.x / size, field->nx - 1) + 1,
                         cell_of(box->high.y / size, field->ny - 1) + 1};
    collide_faces(&pair, low, high);
    vy_height_field_collide_edges(&pair, low, high);
    if (pair.patch_count == 0) collide_deep(&pair, low, high);
    int order[FIELD_PATCHES];
    for (int k = 0; k < pair.patch_count; ++k) { // deepest first; of equal ones the one that was found first
        int at = k;
        for (; at > 0 && pair.patches[order[at - 1]].depth < pair.patches[k].depth; --at)
            order[at] = order[at - 1];
        order[at] = k;
    }
    const int count = pair.patch_count < VY_COLLIDE_MANIFOLDS ? pair.patch_count : VY_COLLIDE_MANIFOLDS;
    for (int k = 0; k < count; ++k) {
        reduce_patch(&pair, &pair.patches[order[k]]);
        write_manifold(pose_field, &pair.patches[order[k]], &out[k]);
    }
    return count;
}
