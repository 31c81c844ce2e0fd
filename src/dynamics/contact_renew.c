// contact_renew.c - islands whose bodies turn so far in a step that one manifold does not serve for all of
// it: into how many intervals their step is divided, and the manifolds of each.
#include "dynamics/contact_body.h"
#include "geometry/collide.h"

enum { MAX_INTERVALS = 128 };
// [rad] The longest turn of a body in an interval that is as thick as it is long; of others by the square
// root of that ratio: a turn by x moves a surface of radius R off its tangent by R x^2 / 2.
#define MAX_INTERVAL_ROTATION 0.1
// Of cylinders a part of that: where one spins on its rim, the contact runs round the rim many times faster
// than the axis turns.
#define RIM_FRACTION     0.5
#define APART_SEPARATION 1e3 // [m] separation of a contact whose bodies are not near each other any more

double vy_contacts_squared_intervals_per_radian(const vy_bodies *b, uint32_t i)
{
    if (b->slots[i].shape.kind == VY_SHAPE_SPHERE) return 0.0;
    const double max_rotation =
        MAX_INTERVAL_ROTATION * (b->slots[i].shape.kind == VY_SHAPE_CYLINDER ? RIM_FRACTION : 1.0);
    return b->contacts->radius[i] / b->contacts->half_thickness[i] / (max_rotation * max_rotation);
}

uint32_t vy_contacts_intervals(const vy_bodies *b, uint32_t i, vec3 rate, double h)
{
    VY_ASSERT(i < b->slot_count && h > 0.0);
    const vy_shape_kind shape = b->slots[i].shape.kind;
    if (!b->awake[i] || shape == VY_SHAPE_NONE || shape == VY_SHAPE_SPHERE) return 1;
    if (shape == VY_SHAPE_CAPSULE || shape == VY_SHAPE_CYLINDER) rate.z = 0.0; // it is round about that axis
    const double ratio = h * vec3_length(rate) * real_sqrt(b->contacts->squared_intervals_per_radian[i]);
    if (!(ratio < MAX_INTERVALS)) return MAX_INTERVALS;
    return (uint32_t)ratio + 1u;
}

void vy_contact_body_rebase(contact_body *s)
{
    s->start_position = vec3_add(s->start_position, vec3_of(s->delta_position));
    s->start_attitude = s->attitude;
    vec3_store(s->delta_position, vec3_zero());
    s->delta_rotation[0] = 1.0;
    s->delta_rotation[1] = s->delta_rotation[2] = s->delta_rotation[3] = 0.0;
}

static body_state state_now(const contact_body *s)
{
    const body_state now = {.position = s->start_position, .attitude = s->attitude};
    return now;
}

static double surface_speed(const contact_system *s, uint32_t i)
{
    return s->radius[i] * vec3_length(vec3_of(s->motion[i].rate));
}

vy_manifold vy_contact_separated_manifold(vec3 normal, vec3 point)
{
    vy_manifold m = {.normal = normal, .count = 1};
    m.points[0] = (vy_manifold_point){.point_a = point, .point_b = point, .depth = -APART_SEPARATION};
    return m;
}

void vy_contact_set_separated(const vy_bodies *b, contact *c, const body_state *sa, const body_state *sb)
{
    const vy_manifold m = vy_contact_separated_manifold(c->normal, sa->position);
    vy_contact_fill(b, c, &m, sa, sb);
}

/// Contacts of a pair that are renewed.
typedef struct refreshed_pair {
    body_state now_a, now_b;
    contact_cache cached[VY_COLLIDE_MANIFOLDS]; // of each contact
    uint32_t count;                             // contacts
} refreshed_pair;

// A contact with its new manifold, or without one: NULL.
static void refresh_contact(vy_bodies *b, uint32_t k, const refreshed_pair *p, uint32_t manifold_index,
                            const vy_manifold *manifold)
{
    contact *c = &b->contacts->contacts[k];
    const int persists = c->persists;
    if (manifold == NULL) {
        vy_contact_set_separated(b, c, &p->now_a, &p->now_b);
    } else {
        vy_contact_fill(b, c, manifold, &p->now_a, &p->now_b);
    }
    if (p->count == 1 ||
        (manifold != NULL && vec3_dot(manifold->normal, p->cached[manifold_index].normal) > SIMILAR_NORMAL))
        vy_contact_match(&p->cached[manifold_index], c);
    c->persists = persists;
    b->contacts->headers[k].point_count = (uint8_t)c->point_count;
}

// The contact of a pair whose normal is most like this one and that has no new manifold yet.
static uint32_t most_similar_contact(const refreshed_pair *p, vec3 normal, unsigned matched)
{
    uint32_t best = p->count;
    for (uint32_t n = 0; n < p->count; ++n) {
        if ((matched >> n & 1u) == 0 && (best == p->count || vec3_dot(p->cached[n].normal, normal) >
                                                                 vec3_dot(p->cached[best].normal, normal)))
            best = n;
    }
    return best;
}

void vy_contact_refresh(vy_bodies *b, uint32_t k, double h)
{
    contact_system *s = b->contacts;
    const contact *c = &s->contacts[k];
    if (contact_is_of_previous_pair(s, k)) return;
    refreshed_pair p; // not set to zeros: it is large, and most pairs have one contact
    p.now_a = state_now(&s->body[c->a]);
    p.now_b = state_now(&s->body[c->b]);
    p.count = 0;
    const vy_pose pose_a = body_shape_pose(b, c->a, &p.now_a), pose_b = body_shape_pose(b, c->b, &p.now_b);
    const vec3 v = vec3_sub(vec3_of(s->motion[c->b].velocity), vec3_of(s->motion[c->a].velocity));
    const double margin = h * (vec3_length(v) + surface_speed(s, c->a) + surface_speed(s, c->b)) +
                          h * h * vec3_length(b->def.gravity) + 2.0 * b->def.contacts.slop;
    if (!real_is_finite(margin)) return; // a speed has overflown: the step will end the run
    vy_manifold manifolds[VY_COLLIDE_MANIFOLDS];
    int count = 0;
    unsigned matched = 0;
    do {
        VY_ASSERT(p.count < VY_COLLIDE_MANIFOLDS);
        vy_contact_write_cache(&s->contacts[k + p.count], p.count, &p.cached[p.count]);
        ++p.count;
    } while (k + p.count < s->count && contact_is_of_previous_pair(s, k + p.count));
    if (vy_collide_in_scope(&b->slots[c->a].shape, &pose_a, &b->slots[c->b].shape, &pose_b, margin, manifolds,
                            &count) != VY_OK)
        count = 0;
    for (int n = 0; n < count && n < (int)p.count; ++n) { // deepest first
        const uint32_t manifold_index = most_similar_contact(&p, manifolds[n].normal, matched);
        refresh_contact(b, k + manifold_index, &p, manifold_index, &manifolds[n]);
        matched |= 1u << manifold_index;
    }
    for (uint32_t n = 0; n < p.count; ++n) {
        if ((matched >> n & 1u) == 0) refresh_contact(b, k + n, &p, n, NULL);
    }
}

void vy_contact_scale_impulses(contact *c, double factor)
{
    for (int i = 0; i < c->point_count; ++i) c->points[i].normal_impulse *= factor;
    c->mean_normal_impulse *= factor;
    c->tangent_impulse_1 *= factor;
    c->tangent_impulse_2 *= factor;
    c->rolling_impulse_1 *= factor;
    c->rolling_impulse_2 *= factor;
    c->twist_impulse *= factor;
}

void vy_contact_add_interval(vy_bodies *b, uint32_t k)
{
    contact_system *s = b->contacts;
    const contact *c = &s->contacts[k];
    contact_sum *sum = &s->sums[k];
    const body_state now = state_now(&s->body[c->a]);
    const int point_count = contact_sum_points(c, now.position, now.attitude, sum);
    if (point_count == 0) return;
    sum->impulse = vec3_add(sum->impulse, c->total_impulse);
    sum->normal = c->normal;
    sum->points = point_count;
}
