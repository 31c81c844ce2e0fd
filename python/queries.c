// queries.c - queries and setters of sets of bodies as flat functions for Python's ctypes.
#include "binding.h"
#include "shapes.h"
#include "volery/joint.h"
#include "volery/query.h"
#include <stdlib.h>
#include <string.h>

typedef struct hit_row {
    int64_t body; // its slot; -1: nothing
    double t;
    vy_vec3 point, normal;
} hit_row;

_Static_assert(sizeof(hit_row) == 64 && sizeof(vy_ray) == 7 * 8 && sizeof(vy_pose) == 7 * 8,
               "as volery/queries.py has them");

// More rays than this are worth a tree.
enum { FEW_RAYS = 8 };

static hit_row row_of(const vy_body_hit *h)
{
    return (hit_row){(int64_t)(h->body.bits & 0xffffffffu) - 1, h->t, h->point, h->normal};
}

static vy_query_filter filter_for(uint64_t except)
{
    vy_query_filter filter = vy_default_query_filter();
    filter.except = (vy_body_id){except};
    return filter;
}

// What bodies_query() asks.
enum { CAST_RAY, CAST_SHAPE, OVERLAP_SHAPE, CLOSEST_TO_POINT, CLOSEST_TO_SHAPE };

// A query's arguments: a ray as vy_ray; a pose as vy_pose, then a motion, or a reach; a point, then a reach.
typedef struct query {
    int what;
    const vy_shape *shape;
    const double *numbers;
    vy_query_filter filter;
} query;

static vy_status first_hit(const vy_bodies *set, const query *q, vy_body_hit *out, vy_error *err)
{
    const double *n = q->numbers;
    const vy_pose *pose = (const vy_pose *)n;
    const vy_vec3 point = {n[0], n[1], n[2]};
    switch (q->what) {
    case CAST_RAY: return vy_bodies_cast_ray(set, (const vy_ray *)n, &q->filter, out, err);
    case CAST_SHAPE:
        return vy_bodies_cast_shape(set, q->shape, pose, (vy_vec3){n[7], n[8], n[9]}, &q->filter, out, err);
    case CLOSEST_TO_POINT: return vy_bodies_closest_to_point(set, point, n[3], &q->filter, out, err);
    default: return vy_bodies_closest_to_shape(set, q->shape, pose, n[7], &q->filter, out, err);
    }
}

static vy_status all_hits(const vy_bodies *set, const query *q, vy_body_hit *out, size_t capacity,
                          size_t *count, vy_error *err)
{
    const double *n = q->numbers;
    const vy_pose *pose = (const vy_pose *)n;
    const vy_vec3 point = {n[0], n[1], n[2]};
    switch (q->what) {
    case CAST_RAY:
        return vy_bodies_cast_ray_all(set, (const vy_ray *)n, &q->filter, out, capacity, count, err);
    case CAST_SHAPE:
        return vy_bodies_cast_shape_all(set, q->shape, pose, (vy_vec3){n[7], n[8], n[9]}, &q->filter, out,
                                        capacity, count, err);
    case OVERLAP_SHAPE:
        return vy_bodies_overlap_shape(set, q->shape, pose, &q->filter, out, capacity, count, err);
    case CLOSEST_TO_POINT:
        return vy_bodies_closest_to_point_all(set, point, n[3], &q->filter, out, capacity, count, err);
    default:
        return vy_bodies_closest_to_shape_all(set, q->shape, pose, n[7], &q->filter, out, capacity, count,
                                              err);
    }
}

// The first hit of a query. -1: it cannot be asked.
int bodies_query(locked_bodies *b, int what, const owned_shape *shape, const double *numbers, uint64_t except,
                 hit_row *out)
{
    vy_error err = {0};
    vy_body_hit hit = {.body = VY_NULL_BODY};
    const query q = {what, shape != NULL ? &shape->shape : NULL, numbers, filter_for(except)};
    const vy_status status = first_hit(bodies_enter(b), &q, &hit, &err);
    bodies_leave(b);
    *out = row_of(&hit);
    return binding_result(status, &err);
}

// All hits, *out to be freed. Returns how many, or -1.
int64_t bodies_query_all(locked_bodies *b, int what, const owned_shape *shape, const double *numbers,
                         uint64_t except, hit_row **out)
{
    vy_error err = {.status = VY_NO_MEMORY};
    const query q = {what, shape != NULL ? &shape->shape : NULL, numbers, filter_for(except)};
    const vy_bodies *set = bodies_enter(b);
    const size_t capacity = vy_bodies_count(set); // one hit a body
    vy_body_hit *hits = malloc((capacity + 1) * sizeof *hits);
    *out = malloc((capacity + 1) * sizeof **out);
    size_t count = 0;
    const vy_status status =
        hits != NULL && *out != NULL ? all_hits(set, &q, hits, capacity, &count, &err) : VY_NO_MEMORY;
    bodies_leave(b);
    for (size_t i = 0; status == VY_OK && i < count; ++i) (*out)[i] = row_of(&hits[i]);
    free(hits);
    return binding_result(status, &err) == 0 ? (int64_t)count : -1;
}

// The first hit of each ray.
int bodies_cast_rays(locked_bodies *b, const vy_ray *rays, size_t count, uint64_t except, hit_row *out)
{
    vy_error err = {.status = VY_NO_MEMORY};
    const vy_query_filter filter = filter_for(except);
    vy_body_hit *hits = malloc((count + 1) * sizeof *hits);
    if (hits == NULL) return binding_result(VY_NO_MEMORY, &err);
    vy_bodies *set = bodies_enter(b);
    if (count > FEW_RAYS) (void)vy_bodies_prepare_queries(set); // the answers are the same without
    const vy_status status = vy_bodies_cast_rays(set, rays, count, &filter, hits, &err);
    bodies_leave(b);
    for (size_t i = 0; status == VY_OK && i < count; ++i) out[i] = row_of(&hits[i]);
    free(hits);
    return binding_result(status, &err);
}

// ---- setters

int body_set_kind(locked_bodies *b, uint64_t id, int kind)
{
    vy_error err = {0};
    const vy_status status = vy_body_set_kind(bodies_enter(b), (vy_body_id){id}, (vy_body_kind)kind, &err);
    bodies_leave(b);
    return binding_result(status, &err);
}

// `inertia`: NULL is that of the shape.
int body_set_mass(locked_bodies *b, uint64_t id, double mass, const vy_mat3 *inertia)
{
    vy_error err = {0};
    const vy_status status = vy_body_set_mass(bodies_enter(b), (vy_body_id){id}, mass, inertia, &err);
    bodies_leave(b);
    return binding_result(status, &err);
}

int body_set_material(locked_bodies *b, uint64_t id, const vy_material *material)
{
    vy_error err = {0};
    const vy_status status = vy_body_set_material(bodies_enter(b), (vy_body_id){id}, material, &err);
    bodies_leave(b);
    return binding_result(status, &err);
}

int body_set_shape(locked_bodies *b, uint64_t id, const owned_shape *shape)
{
    vy_error err = {0};
    const vy_status status =
        vy_body_set_shape(bodies_enter(b), (vy_body_id){id}, shape != NULL ? &shape->shape : NULL, &err);
    bodies_leave(b);
    return binding_result(status, &err);
}

int joint_set_limits(locked_bodies *b, uint64_t id, int limited, double low, double high)
{
    vy_error err = {0};
    const vy_status status =
        vy_joint_set_limits(bodies_enter(b), (vy_joint_id){id}, limited, low, high, &err);
    bodies_leave(b);
    return binding_result(status, &err);
}

int joint_set_spring(locked_bodies *b, uint64_t id, double stiffness, double damping, double rest)
{
    vy_error err = {0};
    const vy_status status =
        vy_joint_set_spring(bodies_enter(b), (vy_joint_id){id}, stiffness, damping, rest, &err);
    bodies_leave(b);
    return binding_result(status, &err);
}
