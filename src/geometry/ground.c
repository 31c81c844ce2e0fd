// ground.c - convex shapes against planes and height fields.
#include "geometry/ground.h"
#include "base/assert.h"
#include "geometry/gjk.h"
#include "geometry/manifold.h"

// The pose of a shape in the ground's frame.
typedef struct ground_pair {
    const vy_shape *shape;
    mat3 rotation;
    vec3 offset;
    double scale;
} ground_pair;

static ground_pair place(const vy_pose *ground, const vy_shape *shape, const vy_pose *pose)
{
    VY_ASSERT(quat_is_unit(ground->rotation) && quat_is_unit(pose->rotation));
    ground_pair p;
    vy_core core;
    vy_core_of(shape, &core);
    p.shape = shape;
    p.rotation = quat_matrix(quat_mul(quat_conj(ground->rotation), pose->rotation));
    p.offset = quat_unrotate(ground->rotation, vec3_sub(pose->position, ground->position));
    p.scale = core.outer_radius + core.margin;
    VY_ASSERT(p.scale > 0.0);
    return p;
}

// The support point of the shape along -n, margin included.
static vec3 support_below(const ground_pair *p, vec3 n)
{
    VY_ASSERT(vec3_is_unit(n));
    vy_core core;
    vy_core_of(p->shape, &core);
    const vec3 d = vec3_neg(mat3_tmul_vec(p->rotation, n));
    const uint32_t id = core.smooth
                            ? vy_cylinder_extreme(d)
                            : (uint32_t)vy_support()->extreme(core.x, core.y, core.z, core.padded_count, d);
    const vec3 q = vec3_add_scaled(vy_core_point(&core, id), core.margin, d);
    return vec3_add(mat3_mul_vec(p->rotation, q), p->offset);
}

static void write_manifold(const vy_pose *ground, vec3 n, vy_candidates *c, vy_manifold *out)
{
    vy_manifold_reduce(c);
    VY_ASSERT(c->count <= VY_MANIFOLD_POINTS && vec3_is_unit(n));
    out->normal = quat_rotate(ground->rotation, n);
    out->count = c->count;
    for (int i = 0; i < c->count; ++i) {
        vy_manifold_point *p = &out->points[i];
        p->point_b = vec3_add(ground->position, quat_rotate(ground->rotation, c->points[i].p));
        p->point_a = vec3_add_scaled(p->point_b, c->points[i].depth, out->normal);
        p->depth = c->points[i].depth;
        p->id = c->points[i].id;
    }
}

static void feature_facing(const ground_pair *p, vec3 n, vy_feature *out)
{
    vy_feature_of(p->shape, vec3_neg(mat3_tmul_vec(p->rotation, n)), out);
    vy_feature_move(&p->rotation, p->offset, out);
}

static void collide_plane(const vy_plane *plane, const vy_pose *pose, const ground_pair *p, vy_manifold *out)
{
    const vec3 n = plane->normal, deepest = support_below(p, n);
    const double depth = plane->offset - vec3_dot(n, deepest);
    out->count = 0;
    if (depth < 0.0) return;
    vy_feature top, bottom;
    vy_candidates c;
    c.count = 0;
    top.count = 1;
    top.p[0] = vec3_scale(plane->offset, n);
    top.normal = n;
    top.face = 0;
    feature_facing(p, n, &bottom);
    vy_manifold_clip(&top, &bottom, n, 0, 0, 1e-12 * p->scale, 0.0, &c);
    double max_depth = -1.0;
    for (int i = 0; i < c.count; ++i) max_depth = real_max(max_depth, c.points[i].depth);
    if (max_depth < depth - 1e-9 * p->scale) {
        VY_ASSERT(c.count < 2 * VY_FEATURE_POINTS);
        c.points[c.count].p = deepest;
        c.points[c.count].depth = depth;
        c.points[c.count++].id = (uint64_t)1 << 62;
    }
    write_manifold(pose, n, &c, out);
}

// Over all triangles: the candidate points, and the normal under the deepest.
typedef struct field_contact {
    vy_candidates points;
    vec3 normal;
    double depth;
} field_contact;

static void add_candidates(field_contact *f, vec3 n, const vy_candidates *c)
{
    for (int i = 0; i < c->count; ++i) {
        if (c->points[i].depth > f->depth) {
            f->depth = c->points[i].depth;
            f->normal = n;
        }
        if (f->points.count == 2 * VY_FEATURE_POINTS) vy_manifold_reduce(&f->points);
        VY_ASSERT(f->points.count < 2 * VY_FEATURE_POINTS);
        f->points.points[f->points.count++] = c->points[i];
    }
}

// A rounded shape beside a ridge or over a pit touches edges and corners, too: the distance of its core
// tells.
static int collide_round(const ground_pair *p, const vec3 corner[3], uint32_t face, field_contact *f)
{
    vy_pair pair;
    vy_core_of_points(corner, 3, &pair.a);
    vy_core_of(p->shape, &pair.b);
    if (pair.b.margin == 0.0) return 0;
    pair.rotation = p->rotation;
    pair.offset = p->offset;
    pair.margin = pair.b.margin;
    pair.scale = p->scale + pair.a.outer_radius;
    vy_gjk g;
    vy_gjk_distance(&pair, NULL, pair.margin, VY_QUERY_ITERATIONS, &g);
    if (g.beyond_limit || g.distance > pair.margin) return 1;
    if (g.distance < 1e-9 * pair.scale) return 0;
    const vec3 n = vec3_scale(-1.0 / g.distance, g.v);
    if (n.z <= 0.0) return 0; // the core is below the surface
    vec3 a, b;
    vy_gjk_points(&pair, &g, &a, &b);
    vy_candidates c;
    c.count = 1;
    c.points[0].depth = pair.margin - g.distance;
    c.points[0].p = vec3_add_scaled(b, -pair.margin, n);
    c.points[0].id = (uint64_t)face << 16;
    add_candidates(f, n, &c);
    return 1;
}

static void collide_triangle(const ground_pair *p, const vec3 corner[3], uint32_t face, field_contact *f)
{
    if (collide_round(p, corner, face, f)) return;
    const vec3 m = vec3_cross(vec3_sub(corner[1], corner[0]), vec3_sub(corner[2], corner[0]));
    const double area = vec3_length(m);
    if (!(area > 0.0)) return; // degenerate
    const vec3 n = vec3_scale(1.0 / area, m);
    vy_feature top, bottom;
    top.count = 3;
    top.face = face;
    top.normal = vec3_make(0.0, 0.0, 1.0); // clipped by vertical planes through the triangle's sides
    for (int i = 0; i < 3; ++i) {
        top.p[i] = corner[i];
        top.id[i] = (uint32_t)i;
    }
    feature_facing(p, n, &bottom);
    vy_candidates c, below;
    c.count = below.count = 0;
    vy_manifold_clip(&top, &bottom, top.normal, 0, 1, 1e300, 0.0, &c);
    for (int i = 0; i < c.count; ++i) {
        const double depth = vec3_dot(n, vec3_sub(corner[0], c.points[i].p));
        VY_ASSERT(below.count <= i);
        if (depth < 0.0) continue;
        below.points[below.count] = c.points[i];
        below.points[below.count++].depth = depth;
    }
    add_candidates(f, n, &below);
}

static int cell_of(double x, int cells) { return x <= 0.0 ? 0 : x >= (double)cells ? cells - 1 : (int)x; }

// The plane of the triangle above or below a point. Returns 0 outside the grid.
static int triangle_plane_at(const vy_height_field *field, vec3 p, vec3 *n, vec3 *on)
{
    double height;
    if (!vy_height_field_height(field, p.x, p.y, &height)) return 0;
    const double x = p.x / field->spacing, y = p.y / field->spacing;
    const int i = cell_of(x, field->nx - 1), j = cell_of(y, field->ny - 1);
    VY_ASSERT(i >= 0 && i < field->nx - 1 && j >= 0 && j < field->ny - 1);
    vec3 c[3];
    vy_height_field_triangle(field, i, j, y - (double)j > x - (double)i ? 1 : 0, c);
    const vec3 m = vec3_cross(vec3_sub(c[1], c[0]), vec3_sub(c[2], c[0]));
    const double area = vec3_length(m);
    *n = vec3_scale(1.0 / area, m);
    *on = c[0];
    return area > 0.0;
}

// Add a point of the shape if it is below the surface.
static void add_point_below(const vy_height_field *field, vec3 p, uint32_t id, field_contact *f)
{
    vec3 n, on;
    vy_candidates c;
    if (!triangle_plane_at(field, p, &n, &on)) return;
    c.points[0].depth = vec3_dot(n, vec3_sub(on, p));
    if (c.points[0].depth < 0.0) return;
    c.count = 1;
    c.points[0].p = p;
    c.points[0].id = (uint64_t)1 << 61 | id;
    add_candidates(f, n, &c);
}

// Vertices may be below another triangle than the one their face was clipped by: each is tested where it is.
static void add_vertices_below(const vy_height_field *field, const ground_pair *p, field_contact *f)
{
    vy_core core;
    vy_core_of(p->shape, &core);
    const int count = p->shape->kind == VY_SHAPE_HULL ? p->shape->hull->vertex_count : 8;
    if (p->shape->kind == VY_SHAPE_HULL || p->shape->kind == VY_SHAPE_BOX) {
        for (int i = 0; i < count; ++i) {
            const vec3 q = vec3_add(mat3_mul_vec(p->rotation, vy_core_point(&core, (uint32_t)i)), p->offset);
            add_point_below(field, q, (uint32_t)i, f);
        }
    } else {
        add_point_below(field, support_below(p, vec3_make(0.0, 0.0, 1.0)), 0x10000u, f);
    }
    vec3 n, on;
    const vec3 center = vec3_add(mat3_mul_vec(p->rotation, core.center), p->offset);
    if (f->points.count > 0 || !triangle_plane_at(field, center, &n, &on) ||
        vec3_dot(n, vec3_sub(on, center)) < 0.0)
        return;
    vy_candidates c; // a ridge inside the shape: push it out along the slope
    c.count = 1;
    c.points[0].p = support_below(p, n);
    c.points[0].depth = vec3_dot(n, vec3_sub(on, c.points[0].p));
    c.points[0].id = (uint64_t)1 << 61 | 0x20000u;
    add_candidates(f, n, &c);
}

static void collide_field(const vy_height_field *field, const vy_pose *pose, const ground_pair *p,
                          const vy_pose *local, vy_manifold *out)
{
    const vy_bounds box = vy_shape_bounds(p->shape, local);
    const double width = field->spacing * (double)(field->nx - 1),
                 breadth = field->spacing * (double)(field->ny - 1);
    out->count = 0;
    if (box.low.z > field->high || box.high.x < 0.0 || box.high.y < 0.0 || box.low.x > width ||
        box.low.y > breadth)
        return;
    field_contact f;
    f.points.count = 0;
    f.depth = -1.0;
    f.normal = vec3_make(0.0, 0.0, 1.0);
    const int i0 = cell_of(box.low.x / field->spacing, field->nx - 1),
              i1 = cell_of(box.high.x / field->spacing, field->nx - 1);
    const int j0 = cell_of(box.low.y / field->spacing, field->ny - 1),
              j1 = cell_of(box.high.y / field->spacing, field->ny - 1);
    VY_ASSERT(i0 <= i1 && j0 <= j1 && i1 < field->nx - 1 && j1 < field->ny - 1);
    for (int j = j0; j <= j1; ++j) {
        for (int i = i0; i <= i1; ++i) {
            for (int half = 0; half < 2; ++half) {
                vec3 corner[3];
                vy_height_field_triangle(field, i, j, half, corner);
                if (box.low.z > real_max(corner[0].z, real_max(corner[1].z, corner[2].z))) continue;
                collide_triangle(p, corner, (uint32_t)(2 * (j * (field->nx - 1) + i) + half), &f);
            }
        }
    }
    add_vertices_below(field, p, &f);
    write_manifold(pose, f.normal, &f.points, out);
}

void vy_collide_ground(const vy_shape *ground, const vy_pose *pose_ground, const vy_shape *shape,
                       const vy_pose *pose_shape, vy_manifold *out)
{
    VY_ASSERT(ground->kind == VY_SHAPE_PLANE || ground->kind == VY_SHAPE_HEIGHT_FIELD);
    VY_ASSERT(vy_shape_is_convex(shape));
    const ground_pair p = place(pose_ground, shape, pose_shape);
    if (ground->kind == VY_SHAPE_PLANE) {
        collide_plane(&ground->plane, pose_ground, &p, out);
    } else {
        const vy_pose local = {p.offset, quat_mul(quat_conj(pose_ground->rotation), pose_shape->rotation)};
        collide_field(&ground->field, pose_ground, &p, &local, out);
    }
}
