// nearest.c - the point of a shape nearest to a point; distances and casts to planes and height fields.
#include "geometry/nearest.h"
#include "base/assert.h"
#include "base/real.h"
#include "geometry/gjk.h"
#include "geometry/penetration.h"
#include "geometry/plane.h"
#include "geometry/sweep.h"

static vec3 to_world(const vy_pose *pose, vec3 p)
{
    return vec3_add(pose->position, quat_rotate(pose->rotation, p));
}

static vec3 to_local(const vy_pose *pose, vec3 p)
{
    return quat_unrotate(pose->rotation, vec3_sub(p, pose->position));
}

// ---- height fields: the nearest of their triangles

/// What is searched for, in the field's frame: cores.b is the shape, cores.a the triangle that is looked at.
typedef struct field_search {
    const vy_height_field *field;
    vy_core_pair cores;
    vy_bounds box;   // of the shape
    double distance; // [m] the least so far
    vec3 normal;     // unit, from the field to the shape
    vec3 on_field, on_shape;
} field_search;

// [m^2] The square of the distance of two boxes: no points of theirs are nearer to each other.
static double box_distance2(const vy_bounds *box, const vec3 c[3])
{
    const vec3 low = vec3_make(real_min(c[0].x, real_min(c[1].x, c[2].x)),
                               real_min(c[0].y, real_min(c[1].y, c[2].y)),
                               real_min(c[0].z, real_min(c[1].z, c[2].z))),
               high = vec3_make(real_max(c[0].x, real_max(c[1].x, c[2].x)),
                                real_max(c[0].y, real_max(c[1].y, c[2].y)),
                                real_max(c[0].z, real_max(c[1].z, c[2].z)));
    const vec3 gap = vec3_make(real_max(real_max(low.x - box->high.x, box->low.x - high.x), 0.0),
                               real_max(real_max(low.y - box->high.y, box->low.y - high.y), 0.0),
                               real_max(real_max(low.z - box->high.z, box->low.z - high.z), 0.0));
    return vec3_dot(gap, gap);
}

static void search_triangle(field_search *search, const vec3 c[3])
{
    if (box_distance2(&search->box, c) > search->distance * search->distance) return;
    vy_gjk_result g;
    vy_core_of_points(c, 3, &search->cores.a);
    search->cores.scale =
        (search->cores.a.outer_radius + search->cores.b.outer_radius) + search->cores.margin;
    vy_gjk_distance(&search->cores, NULL, search->distance + search->cores.margin, VY_QUERY_ITERATIONS, &g);
    const double distance = g.distance - search->cores.margin;
    if (g.beyond_limit || !(distance < search->distance)) return;
    search->distance = real_max(distance, 0.0);
    if (!(distance > 0.0)) return;
    search->normal = vec3_scale(-1.0 / g.distance, g.v);
    vy_gjk_points(&search->cores, &g, &search->on_field, &search->on_shape);
    search->on_shape = vec3_add_scaled(search->on_shape, -search->cores.margin, search->normal);
}

static void search_cell(field_search *search, int i, int j)
{
    for (int half = 0; half < 2; ++half) {
        vec3 c[3];
        vy_height_field_triangle(search->field, i, j, half, c);
        search_triangle(search, c);
    }
}

// The cell in which x lies, in cells from the rim; outside the nearest.
static int cell_of(double x, int cells) { return x <= 0.0 ? 0 : x >= (double)cells ? cells - 1 : (int)x; }

// The cells of row j from i0 to i1, as far as there are such: the whole row, or the first and the last.
static void search_row(field_search *search, int j, int i0, int i1, int is_whole)
{
    if (j < 0 || j >= search->field->ny - 1) return;
    const int step = is_whole || i1 <= i0 ? 1 : i1 - i0;
    for (int i = i0; i <= i1; i += step) {
        if (i >= 0 && i < search->field->nx - 1) search_cell(search, i, j);
    }
}

// From the cells below the shape outwards, ring by ring, until the next one is too far away.
static void search_field(field_search *search)
{
    const vy_height_field *f = search->field;
    const double size = f->spacing;
    const int i0 = cell_of(search->box.low.x / size, f->nx - 1),
              i1 = cell_of(search->box.high.x / size, f->nx - 1),
              j0 = cell_of(search->box.low.y / size, f->ny - 1),
              j1 = cell_of(search->box.high.y / size, f->ny - 1);
    for (int j = j0; j <= j1; ++j) search_row(search, j, i0, i1, 1);
    const int max_rings = f->nx > f->ny ? f->nx : f->ny;
    for (int ring = 1; ring < max_rings && (ring - 1) * size <= search->distance; ++ring) {
        search_row(search, j0 - ring, i0 - ring, i1 + ring, 1);
        for (int j = j0 - ring + 1; j < j1 + ring; ++j) search_row(search, j, i0 - ring, i1 + ring, 0);
        search_row(search, j1 + ring, i0 - ring, i1 + ring, 1);
    }
}

/// cores.b is set.
static void search_init(const vy_height_field *field, const vy_pose *pose_field, const vy_pose *pose,
                        field_search *search)
{
    search->field = field;
    search->cores.a.margin = search->cores.a.outer_radius = 0.0;
    vy_pair_set_poses(pose_field, pose, &search->cores);
    search->distance = REAL_MAX;
    search->normal = vec3_make(0.0, 0.0, 1.0);
    search->on_field = search->on_shape = vec3_zero();
}

static vy_distance field_result(const field_search *search, const vy_pose *pose)
{
    return (vy_distance){search->distance, quat_rotate(pose->rotation, search->normal),
                         to_world(pose, search->on_field), to_world(pose, search->on_shape)};
}

// ---- a point

/// The nearest point of a shape, in its frame.
typedef struct nearest_point {
    double distance; // 0: the point is inside
    vec3 normal, point;
} nearest_point;

// From the nearest point `q` of a core, with a margin about it.
static nearest_point nearest_of_core(vec3 p, vec3 q, double margin)
{
    const vec3 v = vec3_sub(p, q);
    const double length = vec3_length(v);
    if (!(length > margin)) return (nearest_point){0.0, vec3_zero(), p};
    const vec3 n = vec3_scale(1.0 / length, v);
    return (nearest_point){length - margin, n, vec3_add_scaled(q, margin, n)};
}

static nearest_point nearest_of_cylinder(const vy_cylinder *c, vec3 p)
{
    const double axis_distance = real_sqrt(p.x * p.x + p.y * p.y),
                 scale = axis_distance > c->radius ? c->radius / axis_distance : 1.0;
    const double z = real_clamp(p.z, -c->half_height, c->half_height);
    return nearest_of_core(p, vec3_make(scale * p.x, scale * p.y, z), 0.0);
}

static int is_in_hull(const vy_hull *hull, vec3 p)
{
    for (int i = 0; i < hull->face_count; ++i) {
        if (vec3_dot(hull->faces[i].normal, p) > hull->faces[i].offset) return 0;
    }
    return 1;
}

static nearest_point nearest_of_hull(const vy_shape *shape, vec3 p)
{
    if (is_in_hull(shape->hull, p)) return (nearest_point){0.0, vec3_zero(), p};
    const vy_pose pose_hull = {.rotation = quat_identity()}, pose_point = {p, quat_identity()};
    const vec3 origin = vec3_zero();
    vy_core_pair pair;
    vy_gjk_result g;
    vec3 on_hull, on_point;
    vy_core_of(shape, &pair.a);
    vy_core_of_points(&origin, 1, &pair.b);
    vy_pair_set_poses(&pose_hull, &pose_point, &pair);
    vy_gjk_distance(&pair, NULL, -1.0, VY_QUERY_ITERATIONS, &g);
    if (!(g.distance > 0.0)) return (nearest_point){0.0, vec3_zero(), p};
    vy_gjk_points(&pair, &g, &on_hull, &on_point);
    return (nearest_point){g.distance, vec3_scale(-1.0 / g.distance, g.v), on_hull};
}

static nearest_point nearest_of_field(const vy_height_field *field, vec3 p)
{
    double height;
    if (vy_height_field_height(field, p.x, p.y, &height) && p.z <= height)
        return (nearest_point){0.0, vec3_zero(), p};
    const vy_pose pose_field = {.rotation = quat_identity()}, pose_point = {p, quat_identity()};
    const vec3 origin = vec3_zero();
    field_search search;
    vy_core_of_points(&origin, 1, &search.cores.b);
    search_init(field, &pose_field, &pose_point, &search);
    search.box = (vy_bounds){p, p};
    search_field(&search);
    if (!(search.distance > 0.0)) return (nearest_point){0.0, vec3_zero(), p};
    return (nearest_point){search.distance, search.normal, search.on_field};
}

static nearest_point nearest_of_plane(const vy_plane *plane, const vy_pose *pose, vec3 point_world, vec3 p)
{
    const vy_plane below = vy_plane_below(plane, pose, point_world);
    const double distance = vec3_dot(below.normal, p) - below.offset;
    if (!(distance > 0.0)) return (nearest_point){0.0, vec3_zero(), p};
    return (nearest_point){distance, below.normal, vec3_add_scaled(p, -distance, below.normal)};
}

static vec3 clamp_to_box(vec3 half, vec3 p)
{
    return vec3_make(real_clamp(p.x, -half.x, half.x), real_clamp(p.y, -half.y, half.y),
                     real_clamp(p.z, -half.z, half.z));
}

vy_status vy_shape_closest_point(const vy_shape *shape, const vy_pose *pose, vy_vec3 point, vy_distance *out)
{
    FPU_SCOPE;
    const vy_pose pose_point = {point, quat_identity()};
    if (!vy_pose_valid(pose) || !vy_pose_valid(&pose_point)) return VY_BAD_VALUE;
    const vec3 local_point = to_local(pose, point);
    nearest_point nearest;
    switch (shape->kind) {
    case VY_SHAPE_SPHERE: nearest = nearest_of_core(local_point, vec3_zero(), shape->sphere.radius); break;
    case VY_SHAPE_CAPSULE: {
        const double half = shape->capsule.half_length;
        nearest = nearest_of_core(local_point, vec3_make(0.0, 0.0, real_clamp(local_point.z, -half, half)),
                                  shape->capsule.radius);
        break;
    }
    case VY_SHAPE_BOX:
        nearest = nearest_of_core(local_point, clamp_to_box(shape->box.half, local_point), 0.0);
        break;
    case VY_SHAPE_CYLINDER: nearest = nearest_of_cylinder(&shape->cylinder, local_point); break;
    case VY_SHAPE_HULL: nearest = nearest_of_hull(shape, local_point); break;
    case VY_SHAPE_PLANE: nearest = nearest_of_plane(&shape->plane, pose, point, local_point); break;
    case VY_SHAPE_HEIGHT_FIELD: nearest = nearest_of_field(&shape->field, local_point); break;
    default: return VY_BAD_VALUE;
    }
    VY_ASSERT(nearest.distance == 0.0 || vec3_is_unit(nearest.normal));
    *out = (vy_distance){nearest.distance, quat_rotate(pose->rotation, nearest.normal),
                         nearest.distance > 0.0 ? to_world(pose, nearest.point) : point, point};
    return VY_OK;
}

// ---- a shape

static vy_distance plane_distance(const vy_plane *plane, const vy_pose *pose, const vy_shape *shape,
                                  const vy_pose *pose_shape)
{
    const vy_plane below = vy_plane_below(plane, pose, pose_shape->position);
    const vec3 up = quat_rotate(pose->rotation, below.normal);
    vec3 lowest = vec3_zero();
    const vy_status status = vy_shape_support(shape, pose_shape, vec3_neg(up), &lowest);
    VY_ASSERT(status == VY_OK);
    (void)status;
    const double distance = vec3_dot(up, vec3_sub(lowest, pose->position)) - below.offset;
    if (!(distance > 0.0)) return (vy_distance){0.0, vec3_zero(), lowest, lowest};
    return (vy_distance){distance, up, vec3_add_scaled(lowest, -distance, up), lowest};
}

// The deepest point of B in A.
static vec3 deepest_point(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b)
{
    vy_manifold m = {.count = 0};
    (void)vy_collide(a, pose_a, b, pose_b, &m);
    return m.count > 0 ? m.points[0].point_a : pose_b->position;
}

static vy_distance field_distance(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                                  const vy_pose *pose_b)
{
    field_search search;
    if (!vy_overlap(a, pose_a, b, pose_b)) {
        vy_core_of(b, &search.cores.b);
        search_init(&a->field, pose_a, pose_b, &search);
        const vy_pose local = {search.cores.offset, quat_mul(quat_conj(pose_a->rotation), pose_b->rotation)};
        search.box = vy_shape_bounds(b, &local);
        search_field(&search);
        if (search.distance > 0.0) return field_result(&search, pose_a);
    }
    const vec3 deepest = deepest_point(a, pose_a, b, pose_b);
    return (vy_distance){0.0, vec3_zero(), deepest, deepest};
}

vy_status vy_ground_distance(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                             const vy_pose *pose_b, vy_distance *out)
{
    VY_ASSERT(vy_shape_is_convex(b) && vy_pose_valid(pose_a) && vy_pose_valid(pose_b));
    if (a->kind == VY_SHAPE_PLANE) {
        *out = plane_distance(&a->plane, pose_a, b, pose_b);
    } else if (a->kind == VY_SHAPE_HEIGHT_FIELD) {
        *out = field_distance(a, pose_a, b, pose_b);
    } else {
        return VY_BAD_VALUE;
    }
    return VY_OK;
}

// ---- by separations

static vy_sweep_path path_of(const vy_pose *pose, vec3 motion)
{
    return (vy_sweep_path){.center = pose->position, .attitude = pose->rotation, .displacement = motion};
}

vy_distance vy_distance_by_sweep(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                                 const vy_pose *pose_b)
{
    const vy_sweep_path path_a = path_of(pose_a, vec3_zero()), path_b = path_of(pose_b, vec3_zero());
    const vy_separation s = vy_sweep_separation(a, &path_a, b, &path_b, 0.0);
    if (s.value > 0.0) return (vy_distance){s.value, s.normal, s.witness[0], s.witness[1]};
    return (vy_distance){0.0, vec3_zero(), s.witness[0], s.witness[0]};
}

int vy_cast_by_sweep(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                     vec3 motion, double tolerance, vy_cast_hit *out)
{
    if (vy_overlap(a, pose_a, b, pose_b)) {
        *out = (vy_cast_hit){0.0, vec3_zero(), deepest_point(a, pose_a, b, pose_b)};
        return 1;
    }
    const vy_sweep_path path_a = path_of(pose_a, vec3_zero()), path_b = path_of(pose_b, motion);
    vy_separation s;
    if (!vy_sweep_shapes(a, &path_a, b, &path_b, 0.0, tolerance, 0.0, 1.0, &s)) return 0;
    *out = (vy_cast_hit){s.t, s.normal, s.witness[0]};
    return 1;
}
