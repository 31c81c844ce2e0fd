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

static hit_row make_hit_row(const vy_body_hit *hit)
{
    return (hit_row){(int64_t)(hit->body.bits & 0xffffffffu) - 1, hit->t, hit->point, hit->normal};
}

static vy_query_filter filter_without(uint64_t except)
{
    vy_query_filter filter = vy_default_query_filter();
    filter.except = (vy_body_id){except};
    return filter;
}

// What bodies_query() asks.
enum { CAST_RAY, CAST_SHAPE, OVERLAP_SHAPE, CLOSEST_TO_POINT, CLOSEST_TO_SHAPE };

// A query's arguments: a ray as vy_ray; a pose as vy_pose, then a motion, or a reach; a point, then a reach.
typedef struct query {
    int kind;
    const vy_shape *shape;
    const double *numbers;
    vy_query_filter filter;
} query;

static vy_status first_hit(const vy_bodies *set, const query *request, vy_body_hit *out, vy_error *err)
{
    const double *numbers = request->numbers;
    const vy_pose *pose = (const vy_pose *)numbers;
    const vy_vec3 point = {numbers[0], numbers[1], numbers[2]};
    switch (request->kind) {
    case CAST_RAY: return vy_bodies_cast_ray(set, (const vy_ray *)numbers, &request->filter, out, err);
    case CAST_SHAPE:
        return vy_bodies_cast_shape(set, request->shape, pose, (vy_vec3){numbers[7], numbers[8], numbers[9]},
                                    &request->filter, out, err);
    case CLOSEST_TO_POINT:
        return vy_bodies_closest_to_point(set, point, numbers[3], &request->filter, out, err);
    default:
        return vy_bodies_closest_to_shape(set, request->shape, pose, numbers[7], &request->filter, out, err);
    }
}

static vy_status all_hits(const vy_bodies *set, const query *request, vy_body_hit *out, size_t capacity,
                          size_t *count, vy_error *err)
{
    const double *numbers = request->numbers;
    const vy_pose *pose = (const vy_pose *)numbers;
    const vy_vec3 point = {numbers[0], numbers[1], numbers[2]};
    switch (request->kind) {
    case CAST_RAY:
        return vy_bodies_cast_ray_all(set, (const vy_ray *)numbers, &request->filter, out, capacity, count,
                                      err);
    case CAST_SHAPE:
        return vy_bodies_cast_shape_all(set, request->shape, pose,
                                        (vy_vec3){numbers[7], numbers[8], numbers[9]}, &request->filter, out,
                                        capacity, count, err);
    case OVERLAP_SHAPE:
        return vy_bodies_overlap_shape(set, request->shape, pose, &request->filter, out, capacity, count,
                                       err);
    case CLOSEST_TO_POINT:
        return vy_bodies_closest_to_point_all(set, point, numbers[3], &request->filter, out, capacity, count,
                                              err);
    default:
        return vy_bodies_closest_to_shape_all(set, request->shape, pose, numbers[7], &request->filter, out,
                                              capacity, count, err);
    }
}

// The first hit of a query. -1: it cannot be asked.
int bodies_query(locked_bodies *b, int kind, const owned_shape *shape, const double *numbers, uint64_t except,
                 hit_row *out)
{
    vy_error err = {0};
    vy_body_hit hit = {.body = VY_NULL_BODY};
    const query request = {kind, shape != NULL ? &shape->shape : NULL, numbers, filter_without(except)};
    const vy_status status = first_hit(bodies_enter(b), &request, &hit, &err);
    bodies_leave(b);
    *out = make_hit_row(&hit);
    return binding_result(status, &err);
}

// All hits, *out to be freed. Returns how many, or -1.
int64_t bodies_query_all(locked_bodies *b, int kind, const owned_shape *shape, const double *numbers,
                         uint64_t except, hit_row **out)
{
    vy_error err = {.status = VY_NO_MEMORY};
    const query request = {kind, shape != NULL ? &shape->shape : NULL, numbers, filter_without(except)};
    const vy_bodies *set = bodies_enter(b);
    const size_t capacity = vy_bodies_count(set); // one hit a body
    vy_body_hit *hits = malloc((capacity + 1) * sizeof *hits);
    *out = malloc((capacity + 1) * sizeof **out);
    size_t count = 0;
    const vy_status status =
        hits != NULL && *out != NULL ? all_hits(set, &request, hits, capacity, &count, &err) : VY_NO_MEMORY;
    bodies_leave(b);
    for (size_t i = 0; status == VY_OK && i < count; ++i) (*out)[i] = make_hit_row(&hits[i]);
    free(hits);
    return binding_result(status, &err) == 0 ? (int64_t)count : -1;
}

// The first hit of each ray.
int bodies_cast_rays(locked_bodies *b, const vy_ray *rays, size_t count, uint64_t except, hit_row *out)
{
    vy_error err = {.status = VY_NO_MEMORY};
    const vy_query_filter filter = filter_without(except);
    vy_body_hit *hits = malloc((count + 1) * sizeof *hits);
    if (hits == NULL) return binding_result(VY_NO_MEMORY, &err);
    vy_bodies *set = bodies_enter(b);
    if (count > FEW_RAYS) (void)vy_bodies_prepare_queries(set); // the answers are the same without
    const vy_status status = vy_bodies_cast_rays(set, rays, count, &filter, hits, &err);
    bodies_leave(b);
    for (size_t i = 0; status == VY_OK && i < count; ++i) out[i] = make_hit_row(&hits[i]);
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
