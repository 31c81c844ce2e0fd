// queries.c - queries on the bodies of a set, one by one or by a tree of their boxes.
#include "dynamics/queries.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/sort.h"
#include "dynamics/contacts.h"
#include "geometry/broadphase.h"
#include "geometry/nearest.h"
#include "geometry/penetration.h"
#include "geometry/sweep.h"
#include <stdlib.h>

// Boxes are larger than what is in them by this part of their largest coordinate: no rounding takes a hit out
// of its box.
#define BOX_MARGIN 1e-7

typedef struct query query;

/// Whether a query hits a shape at a t of at most `limit`: 1 and all of *out but its body, or 0.
typedef int query_test(const query *q, const vy_shape *shape, const vy_pose *pose, double limit,
                       vy_body_hit *out);

struct query {
    const vy_bodies *bodies;
    const query_view *view;        // NULL: the states are those of the set
    const vy_query_filter *filter; // NULL: all bodies
    query_test *test;
    tree_query box_query; // finds the bodies whose boxes it meets
    const vy_shape *shape;
    vy_pose pose;     // of the shape; of a ray or a point where it is
    vec3 motion;      // of the shape, or the direction of a ray
    double limit;     // the largest t of a hit that is looked for
    int first_only;   // 1: only the first hit is wanted
    vy_body_hit *out; // [capacity]
    size_t capacity, count;
};

// ---- boxes

static double largest_component(vec3 v)
{
    return real_max(real_abs(v.x), real_max(real_abs(v.y), real_abs(v.z)));
}

static vy_bounds widened(vy_bounds box)
{
    const double margin = BOX_MARGIN * real_max(largest_component(box.low), largest_component(box.high));
    const vec3 margins = vec3_make(margin, margin, margin);
    return (vy_bounds){vec3_sub(box.low, margins), vec3_add(box.high, margins)};
}

// Whether a body has a box. Others are looked at by every query.
static int is_bounded(const vy_bodies *b, uint32_t i, const body_state *s)
{
    return vy_shape_is_convex(&b->slots[i].shape) && largest_component(s->position) <= VY_POSE_LIMIT;
}

static vy_bounds bounds_of(const vy_bodies *b, uint32_t i, const body_state *s)
{
    const vy_pose pose = body_shape_pose(b, i, s);
    return widened(vy_shape_bounds(&b->slots[i].shape, &pose));
}

static int has_shape(const vy_bodies *b, uint32_t i) { return b->slots[i].shape.kind != VY_SHAPE_NONE; }

// ---- the tree

void vy_query_tree_destroy(query_tree *t)
{
    if (t == NULL) return;
    vy_tree_destroy(t->tree);
    free(t->memory);
    free(t);
}

static query_tree *create_tree(void)
{
    query_tree *t = calloc(1, sizeof *t);
    vy_tree_def def = vy_default_tree_def();
    def.margin = def.displacement_multiplier = 0.0; // the boxes are those of bounds_of()
    if (t != NULL && vy_tree_create(&def, &t->tree, NULL) != VY_OK) {
        free(t);
        return NULL;
    }
    return t;
}

#define TREE_ARRAYS(ARRAY) ARRAY(bounds) ARRAY(proxy_of) ARRAY(slot_of) ARRAY(unbounded_slots)

static vy_status reserve_tree(query_tree *t, uint32_t slot_cap)
{
    if (slot_cap <= t->cap) return VY_OK;
    size_t size = 0;
    const size_t old_cap = t->cap, new_cap = slot_cap;
#define SIZE(member) size += vy_arena_aligned_size(new_cap * sizeof *t->member);
    TREE_ARRAYS(SIZE)
#undef SIZE
    void *memory = calloc(1, size + 64);
    if (memory == NULL || vy_tree_reserve(t->tree, (int)slot_cap) != VY_OK) {
        free(memory);
        return VY_NO_MEMORY;
    }
    vy_arena arena = {(unsigned char *)memory + (64 - (uintptr_t)memory % 64) % 64, size, 0};
#define MOVE(member) \
    t->member = vy_arena_realloc(&arena, t->member, old_cap * sizeof *t->member, new_cap * sizeof *t->member);
    TREE_ARRAYS(MOVE)
#undef MOVE
    free(t->memory);
    t->memory = memory;
    for (uint32_t i = t->cap; i < slot_cap; ++i) t->proxy_of[i] = -1;
    t->cap = slot_cap;
    return VY_OK;
}

// Take the present boxes, add what is new and remove what has gone. Returns how many boxes of others changed.
static uint32_t update_leaves(const vy_bodies *b, query_tree *t)
{
    uint32_t changed_count = 0;
    t->unbounded_count = 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        const int is_shaped = has_shape(b, i), bounded = is_shaped && is_bounded(b, i, &b->state[i]);
        if (is_shaped && !bounded) t->unbounded_slots[t->unbounded_count++] = i;
        if (bounded) t->bounds[i] = bounds_of(b, i, &b->state[i]);
        if (t->proxy_of[i] >= 0 && !bounded) {
            (void)vy_tree_remove(t->tree, t->proxy_of[i]);
            t->proxy_of[i] = -1;
        } else if (t->proxy_of[i] >= 0) {
            changed_count += !vy_tree_box_fits(t->tree, t->proxy_of[i], &t->bounds[i], vec3_zero());
        } else if (bounded) {
            const vy_status status = vy_tree_add(t->tree, &t->bounds[i], &t->proxy_of[i]);
            VY_ASSERT(status == VY_OK);
            (void)status;
            t->slot_of[t->proxy_of[i]] = i;
        }
    }
    return changed_count;
}

// Many boxes are replaced at once, and the tree is built anew.
static void move_leaves(query_tree *t, uint32_t slot_count, uint32_t changed_count)
{
    t->moved_count += changed_count;
    const int must_rebuild = t->moved_count > slot_count / 2;
    for (uint32_t i = 0; i < slot_count; ++i) {
        if (t->proxy_of[i] < 0) continue;
        if (must_rebuild) {
            vy_tree_replace(t->tree, t->proxy_of[i], &t->bounds[i], vec3_zero());
        } else {
            (void)vy_tree_move(t->tree, t->proxy_of[i], &t->bounds[i], vec3_zero(), NULL);
        }
    }
    if (!must_rebuild) return;
    vy_tree_rebuild(t->tree);
    t->moved_count = 0;
}

vy_status vy_bodies_prepare_queries(vy_bodies *b)
{
    FPU_SCOPE;
    if (b->queries == NULL && (b->queries = create_tree()) == NULL) return VY_NO_MEMORY;
    query_tree *t = b->queries;
    if (t->revision == b->pose_revision) return VY_OK;
    if (reserve_tree(t, b->body_cap) != VY_OK) return VY_NO_MEMORY;
    const uint32_t changed_count = update_leaves(b, t);
    if (changed_count > 0) move_leaves(t, b->slot_count, changed_count);
    t->revision = b->pose_revision;
    return VY_OK;
}

// ---- one body

static uint32_t slot_of_hit(const vy_body_hit *hit) { return (uint32_t)(hit->body.bits & 0xffffffffu) - 1u; }

static int hit_less(const vy_body_hit *a, const vy_body_hit *b)
{
    return a->t < b->t || (a->t == b->t && slot_of_hit(a) < slot_of_hit(b));
}

HEAP_SORT(sort_hits, vy_body_hit, hit_less)

static const body_state *state_of(const query *q, uint32_t i)
{
    return q->view != NULL ? q->view->state_of(q->view->self, i) : &q->bodies->state[i];
}

static int sees_body(const query *q, uint32_t i)
{
    const vy_query_filter *f = q->filter;
    if (q->view != NULL && (i < q->view->first_slot || i == q->view->except)) return 0;
    const body_filter *slot_filter = &q->bodies->filters[i];
    if (f == NULL) return !slot_filter->is_trigger;
    const vy_body_id id = vy_bodies_at(q->bodies, i);
    const vy_filter layers = {slot_filter->category, slot_filter->mask, slot_filter->group};
    return (f->triggers || !slot_filter->is_trigger) && id.bits != f->except.bits &&
           vy_filters_collide(&f->filter, &layers) && (f->accept == NULL || f->accept(f->self, id));
}

// What keys of boxes are compared with.
static double key_limit(const query *q) { return q->box_query.is_moving ? q->limit : q->limit * q->limit; }

// A body whose box has this key.
static void visit_body(query *q, uint32_t i, double key)
{
    const vy_bodies *b = q->bodies;
    vy_body_hit hit;
    if (!sees_body(q, i)) return;
    const vy_pose pose = body_shape_pose(b, i, state_of(q, i));
    if (!q->test(q, &b->slots[i].shape, &pose, q->limit, &hit)) return;
    // Without this, which no hit should need, the first hit might depend on the order of visits.
    if ((q->box_query.is_moving ? hit.t : hit.t * hit.t) < key) return;
    hit.body = vy_bodies_at(b, i);
    if (!q->first_only) {
        if (q->count < q->capacity) q->out[q->count] = hit;
        q->count += 1;
    } else if (q->count == 0 || hit_less(&hit, q->out)) {
        *q->out = hit;
        q->count = 1;
        q->limit = real_max(hit.t, 0.0);
    }
}

static double visit_leaf(void *self, int proxy, double key, double limit)
{
    (void)limit;
    query *q = self;
    visit_body(q, q->bodies->queries->slot_of[proxy], key);
    return key_limit(q);
}

// ---- all bodies

static void visit_all(query *q)
{
    const vy_bodies *b = q->bodies;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (!has_shape(b, i)) continue;
        double key = 0.0;
        if (is_bounded(b, i, state_of(q, i))) {
            const vy_bounds box = bounds_of(b, i, state_of(q, i));
            key = tree_query_key(&q->box_query, &box);
            if (!(key <= key_limit(q))) continue;
        }
        visit_body(q, i, key);
    }
}

static void visit_tree(query *q)
{
    const query_tree *t = q->bodies->queries;
    for (uint32_t k = 0; k < t->unbounded_count; ++k) visit_body(q, t->unbounded_slots[k], 0.0);
    vy_tree_walk(t->tree, &q->box_query, key_limit(q), visit_leaf, q);
}

static void visit_bodies(query *q)
{
    const query_tree *t = q->bodies->queries;
    if (q->view == NULL && t != NULL && t->revision == q->bodies->pose_revision) {
        visit_tree(q);
    } else {
        visit_all(q);
    }
}

static void find_first(query *q, vy_body_hit *out)
{
    vy_body_hit hit = {.t = 0.0};
    q->first_only = 1;
    q->out = &hit;
    visit_bodies(q);
    q->out = NULL;
    *out = hit;
}

static vy_status find_all(query *q, vy_body_hit *out, size_t capacity, size_t *count)
{
    q->out = out;
    q->capacity = capacity;
    visit_bodies(q);
    *count = q->count;
    if (q->count > capacity) return VY_FULL;
    sort_hits(out, q->count);
    return VY_OK;
}

// ---- checks

static vy_status check_shape(const vy_shape *shape, const vy_pose *pose, vy_error *err)
{
    if (!vy_shape_is_convex(shape) || (shape->kind == VY_SHAPE_HULL && shape->hull == NULL))
        return vy_fail(err, VY_BAD_VALUE, "a query takes a bounded, convex shape");
    if (shape->kind != VY_SHAPE_HULL && vy_shape_check(shape, err) != VY_OK) return VY_BAD_VALUE;
    if (!vy_pose_valid(pose))
        return vy_fail(err, VY_BAD_VALUE, "a query's pose must be finite, up to %g m, with a unit rotation",
                       VY_POSE_LIMIT);
    return VY_OK;
}

static vy_status check_point(vec3 p, const char *name, vy_error *err)
{
    if (largest_component(p) <= VY_POSE_LIMIT && vec3_is_finite(p)) return VY_OK;
    return vy_fail(err, VY_BAD_VALUE, "a query's %s must be finite and up to %g m, not (%g, %g, %g)", name,
                   VY_POSE_LIMIT, p.x, p.y, p.z);
}

static vy_status check_ray(const vy_ray *ray, vy_error *err)
{
    const vec3 d = ray->direction;
    const double length2 = vec3_dot(d, d);
    if (check_point(ray->origin, "origin", err) != VY_OK) return VY_BAD_VALUE;
    if (!(length2 > 0.0) || !real_is_finite(length2))
        return vy_fail(err, VY_BAD_VALUE,
                       "a ray's direction must be finite and longer than 0, not (%g, %g, %g)", d.x, d.y, d.z);
    if (!(ray->t_max >= 0.0))
        return vy_fail(err, VY_BAD_VALUE, "a ray's t_max must not be below 0, and is %g", ray->t_max);
    return VY_OK;
}

static vy_status check_reach(double reach, vy_error *err)
{
    if (reach >= 0.0) return VY_OK;
    return vy_fail(err, VY_BAD_VALUE, "a query's reach must not be below 0 m, and is %g", reach);
}

// ---- rays

static int test_ray(const query *q, const vy_shape *shape, const vy_pose *pose, double limit,
                    vy_body_hit *out)
{
    vy_ray_hit hit;
    if (!vy_ray_cast(shape, pose, q->pose.position, q->motion, limit, &hit)) return 0;
    *out = (vy_body_hit){.t = hit.t, .point = hit.point, .normal = hit.normal};
    return 1;
}

static tree_query moving_box(vy_bounds box, vec3 motion)
{
    const vec3 inverse =
        vec3_make(tree_query_inverse(motion.x), tree_query_inverse(motion.y), tree_query_inverse(motion.z));
    return (tree_query){.box = widened(box), .is_moving = 1, .inverse_motion = inverse};
}

static query ray_query(const vy_bodies *b, const vy_ray *ray, const vy_query_filter *filter)
{
    return (query){.bodies = b,
                   .filter = filter,
                   .test = test_ray,
                   .box_query = moving_box((vy_bounds){ray->origin, ray->origin}, ray->direction),
                   .pose = {ray->origin, quat_identity()},
                   .motion = ray->direction,
                   .limit = real_min(ray->t_max, DBL_MAX)};
}

vy_status vy_bodies_cast_rays(const vy_bodies *b, const vy_ray *rays, size_t count,
                              const vy_query_filter *filter, vy_body_hit *out, vy_error *err)
{
    FPU_SCOPE;
    for (size_t i = 0; i < count; ++i) {
        if (check_ray(&rays[i], err) != VY_OK) return VY_BAD_VALUE;
    }
    for (size_t i = 0; i < count; ++i) {
        query q = ray_query(b, &rays[i], filter);
        find_first(&q, &out[i]);
    }
    return VY_OK;
}

vy_status vy_bodies_cast_ray(const vy_bodies *b, const vy_ray *ray, const vy_query_filter *filter,
                             vy_body_hit *out, vy_error *err)
{
    FPU_SCOPE;
    return vy_bodies_cast_rays(b, ray, 1, filter, out, err);
}

vy_status vy_bodies_cast_ray_all(const vy_bodies *b, const vy_ray *ray, const vy_query_filter *filter,
                                 vy_body_hit *out, size_t capacity, size_t *count, vy_error *err)
{
    FPU_SCOPE;
    if (check_ray(ray, err) != VY_OK) return VY_BAD_VALUE;
    query q = ray_query(b, ray, filter);
    return find_all(&q, out, capacity, count);
}

// ---- moving shapes

static int test_cast(const query *q, const vy_shape *shape, const vy_pose *pose, double limit,
                     vy_body_hit *out)
{
    vy_cast_hit cast;
    int is_hit = 0;
    const vy_status status = vy_shape_cast(shape, pose, q->shape, &q->pose, q->motion, NULL, &is_hit, &cast);
    if (status == VY_NO_CONVERGENCE)
        is_hit = vy_cast_by_sweep(shape, pose, q->shape, &q->pose, q->motion,
                                  BOX_MARGIN * vy_shape_thickness(q->shape), &cast);
    if (!is_hit || cast.t > limit) return 0;
    *out = (vy_body_hit){.t = cast.t, .point = cast.point, .normal = cast.normal};
    return 1;
}

static vy_status cast_query(const vy_bodies *b, const vy_shape *shape, const vy_pose *pose, vec3 motion,
                            const vy_query_filter *filter, query *out, vy_error *err)
{
    if (check_shape(shape, pose, err) != VY_OK || check_point(motion, "motion", err) != VY_OK)
        return VY_BAD_VALUE;
    *out = (query){.bodies = b,
                   .filter = filter,
                   .test = test_cast,
                   .box_query = moving_box(vy_shape_bounds(shape, pose), motion),
                   .shape = shape,
                   .pose = *pose,
                   .motion = motion,
                   .limit = 1.0};
    return VY_OK;
}

vy_status vy_bodies_cast_shape(const vy_bodies *b, const vy_shape *shape, const vy_pose *pose, vy_vec3 motion,
                               const vy_query_filter *filter, vy_body_hit *out, vy_error *err)
{
    FPU_SCOPE;
    query q;
    if (cast_query(b, shape, pose, motion, filter, &q, err) != VY_OK) return VY_BAD_VALUE;
    find_first(&q, out);
    return VY_OK;
}

vy_status vy_bodies_cast_shape_all(const vy_bodies *b, const vy_shape *shape, const vy_pose *pose,
                                   vy_vec3 motion, const vy_query_filter *filter, vy_body_hit *out,
                                   size_t capacity, size_t *count, vy_error *err)
{
    FPU_SCOPE;
    query q;
    if (cast_query(b, shape, pose, motion, filter, &q, err) != VY_OK) return VY_BAD_VALUE;
    return find_all(&q, out, capacity, count);
}

// ---- overlaps

static int test_overlap(const query *q, const vy_shape *shape, const vy_pose *pose, double limit,
                        vy_body_hit *out)
{
    (void)limit;
    if (!vy_overlap(shape, pose, q->shape, &q->pose)) return 0;
    *out = (vy_body_hit){.point = q->pose.position};
    vy_manifold manifold = {.count = 0};
    const int has_place = q->first_only || q->count < q->capacity;
    if (!has_place || vy_collide(shape, pose, q->shape, &q->pose, &manifold) != VY_OK || manifold.count == 0)
        return 1; // it has no place in the result, or its depth is 0 to rounding
    *out = (vy_body_hit){
        .t = -manifold.points[0].depth, .point = manifold.points[0].point_a, .normal = manifold.normal};
    return 1;
}

static vy_status overlap_query(const vy_bodies *b, const vy_shape *shape, const vy_pose *pose,
                               const vy_query_filter *filter, query *out, vy_error *err)
{
    if (check_shape(shape, pose, err) != VY_OK) return VY_BAD_VALUE;
    *out = (query){.bodies = b,
                   .filter = filter,
                   .test = test_overlap,
                   .box_query = {.box = widened(vy_shape_bounds(shape, pose))},
                   .shape = shape,
                   .pose = *pose};
    return VY_OK;
}

vy_status vy_bodies_overlap_shape(const vy_bodies *b, const vy_shape *shape, const vy_pose *pose,
                                  const vy_query_filter *filter, vy_body_hit *out, size_t capacity,
                                  size_t *count, vy_error *err)
{
    FPU_SCOPE;
    query q;
    if (overlap_query(b, shape, pose, filter, &q, err) != VY_OK) return VY_BAD_VALUE;
    return find_all(&q, out, capacity, count);
}

// ---- the closest

static int hit_of_distance(const vy_distance *d, double limit, vy_body_hit *out)
{
    if (!(d->distance <= limit)) return 0;
    *out = (vy_body_hit){.t = d->distance, .point = d->point_a, .normal = d->normal};
    return 1;
}

static int test_point(const query *q, const vy_shape *shape, const vy_pose *pose, double limit,
                      vy_body_hit *out)
{
    vy_distance d;
    return vy_shape_closest_point(shape, pose, q->pose.position, &d) == VY_OK &&
           hit_of_distance(&d, limit, out);
}

static int test_distance(const query *q, const vy_shape *shape, const vy_pose *pose, double limit,
                         vy_body_hit *out)
{
    vy_distance d;
    const vy_status status = vy_shape_distance(shape, pose, q->shape, &q->pose, NULL, NULL, &d, NULL);
    if (status == VY_NO_CONVERGENCE) d = vy_distance_by_sweep(shape, pose, q->shape, &q->pose);
    return status != VY_BAD_VALUE && hit_of_distance(&d, limit, out);
}

static vy_status point_query(const vy_bodies *b, vec3 point, double reach, const vy_query_filter *filter,
                             query *out, vy_error *err)
{
    if (check_point(point, "point", err) != VY_OK || check_reach(reach, err) != VY_OK) return VY_BAD_VALUE;
    *out = (query){.bodies = b,
                   .filter = filter,
                   .test = test_point,
                   .box_query = {.box = widened((vy_bounds){point, point})},
                   .pose = {point, quat_identity()},
                   .limit = reach};
    return VY_OK;
}

vy_status vy_bodies_closest_to_point(const vy_bodies *b, vy_vec3 point, double reach,
                                     const vy_query_filter *filter, vy_body_hit *out, vy_error *err)
{
    FPU_SCOPE;
    query q;
    if (point_query(b, point, reach, filter, &q, err) != VY_OK) return VY_BAD_VALUE;
    find_first(&q, out);
    return VY_OK;
}

vy_status vy_bodies_closest_to_point_all(const vy_bodies *b, vy_vec3 point, double reach,
                                         const vy_query_filter *filter, vy_body_hit *out, size_t capacity,
                                         size_t *count, vy_error *err)
{
    FPU_SCOPE;
    query q;
    if (point_query(b, point, reach, filter, &q, err) != VY_OK) return VY_BAD_VALUE;
    return find_all(&q, out, capacity, count);
}

static vy_status distance_query(const vy_bodies *b, const vy_shape *shape, const vy_pose *pose, double reach,
                                const vy_query_filter *filter, query *out, vy_error *err)
{
    if (check_shape(shape, pose, err) != VY_OK || check_reach(reach, err) != VY_OK) return VY_BAD_VALUE;
    *out = (query){.bodies = b,
                   .filter = filter,
                   .test = test_distance,
                   .box_query = {.box = widened(vy_shape_bounds(shape, pose))},
                   .shape = shape,
                   .pose = *pose,
                   .limit = reach};
    return VY_OK;
}

vy_status vy_bodies_closest_to_shape(const vy_bodies *b, const vy_shape *shape, const vy_pose *pose,
                                     double reach, const vy_query_filter *filter, vy_body_hit *out,
                                     vy_error *err)
{
    FPU_SCOPE;
    query q;
    if (distance_query(b, shape, pose, reach, filter, &q, err) != VY_OK) return VY_BAD_VALUE;
    find_first(&q, out);
    return VY_OK;
}

vy_status vy_bodies_closest_to_shape_all(const vy_bodies *b, const vy_shape *shape, const vy_pose *pose,
                                         double reach, const vy_query_filter *filter, vy_body_hit *out,
                                         size_t capacity, size_t *count, vy_error *err)
{
    FPU_SCOPE;
    query q;
    if (distance_query(b, shape, pose, reach, filter, &q, err) != VY_OK) return VY_BAD_VALUE;
    return find_all(&q, out, capacity, count);
}

// ---- through a view

vy_status vy_query_view_cast(const vy_bodies *b, const query_view *view, const vy_shape *shape,
                             const vy_pose *pose, vec3 motion, vy_body_hit *out)
{
    query q;
    if (cast_query(b, shape, pose, motion, NULL, &q, NULL) != VY_OK) return VY_BAD_VALUE;
    q.view = view;
    find_first(&q, out);
    return VY_OK;
}

vy_status vy_query_view_overlap(const vy_bodies *b, const query_view *view, const vy_shape *shape,
                                const vy_pose *pose, vy_body_hit *out)
{
    query q;
    if (overlap_query(b, shape, pose, NULL, &q, NULL) != VY_OK) return VY_BAD_VALUE;
    q.view = view;
    find_first(&q, out);
    return VY_OK;
}

vy_status vy_query_view_closest(const vy_bodies *b, const query_view *view, vec3 point, double reach,
                                vy_body_hit *out)
{
    query q;
    if (point_query(b, point, reach, NULL, &q, NULL) != VY_OK) return VY_BAD_VALUE;
    q.view = view;
    find_first(&q, out);
    return VY_OK;
}

vy_query_filter vy_default_query_filter(void) { return (vy_query_filter){.filter = vy_default_filter()}; }
