// contact_stage.c - the contact stage: drones that land, crash and collide, obstacles, contacts, and their
// consequences.
//
// The plant has integrated every drone without contacts: its free flight. Drones that touch in it go back to
// the start of the step and are stepped again with contacts, with the mean force of their free flight
// (dynamics/contact_step.c). All others keep the bits of their free flight.
#include "base/fail.h"
#include "base/assert.h"
#include "base/real.h"
#include "dynamics/sleep.h"
#include "world/plant.h"
#include "world/world_impl.h"
#include <math.h>

_Static_assert(sizeof(contact_block) == sizeof(contact_cache) &&
                   sizeof(contacts_block) == sizeof(contact_count) &&
                   sizeof(sleep_block) == sizeof(body_sleep),
               "contacts of the state are those of the set: state.h");

static int slot_of_report(uint64_t id) { return (int)((id & 0xffffffffu) - 1u); }

// --- the step

// Contact cache and sleep of the set are the world's state, whose address may have changed.
static void bind_state(vy_world *world)
{
    VY_ASSERT(world->contacts != NULL && world->contacts->count <= world->model.contact_cap);
    VY_ASSERT(world->sleep == NULL || world->sleeping_contacts->count <= world->model.contact_cap);
    vy_bodies *b = world->bodies;
    b->contact_count = (contact_count *)(void *)world->contacts;
    b->contact_cache = (contact_cache *)(void *)(world->contacts + 1);
    if (world->sleep == NULL) return;
    b->sleep->bodies = (body_sleep *)(void *)world->sleep;
    b->sleep->count = (contact_count *)(void *)world->sleeping_contacts;
    b->sleep->contact_cache = (contact_cache *)(void *)(world->sleeping_contacts + 1);
}

void vy_contact_sync(vy_world *world)
{
    bind_state(world);
    for (uint32_t i = 0; i < world->model.drone_count; ++i) world->bodies->state[i] = world->drones[i].body;
    vy_sleep_sync(world->bodies);
}

void vy_contact_wake_up(vy_world *world, uint32_t index)
{
    if (world->sleep == NULL) return;
    bind_state(world);
    vy_sleep_wake(world->bodies, index);
}

void vy_watch_stage(vy_world *world, const vy_model *plant)
{
    if (world->contact_totals != NULL) {
        for (uint32_t i = 0; i < plant->drone_count; ++i) world->bodies->state[i] = world->drones[i].body;
        bind_state(world);
        vy_contacts_begin(world->bodies);
    }
    if (world->accounting) vy_energy_stage(world, plant);
}

uint32_t vy_bodies_stage(vy_world *world, const vy_model *plant, world_block *w, drone_block *drones)
{
    uint32_t events = 0;
    if (world->model.joint_count > 0) events |= vy_joined_stage(world, plant, w, drones);
    if (world->contact_totals != NULL) events |= vy_contact_stage(world, w, drones);
    return events;
}

// The severity of an impact for a drone: its largest share of a limit. `by_impulse`: whether that is the
// limit of the impulse.
static double severity_of(const vy_crash_def *c, double speed, double impulse, int *by_impulse)
{
    const double a = c->speed > 0.0 ? speed / c->speed : 0.0,
                 b = c->impulse > 0.0 ? impulse / c->impulse : 0.0;
    *by_impulse = b > a;
    return real_max(a, b);
}

// One side of a contact: add it to the drone's totals, and see whether it has crashed.
static uint32_t record_contact(vy_world *world, uint32_t drone, const vy_contact_report *r, world_block *w)
{
    const vy_crash_def *crash = &world->model.drones[drone].crash;
    VY_ASSERT(drone < world->model.drone_count && r->speed >= 0.0);
    VY_ASSERT(r->phase >= VY_CONTACT_BEGIN && r->phase <= VY_CONTACT_END);
    contact_totals_block *t = &world->contact_totals[drone];
    if (r->phase == VY_CONTACT_END) return VY_EVENT_CONTACT;
    const double impulse = vec3_length(r->impulse);
    int by_impulse;
    t->now += 1;
    t->count += r->phase == VY_CONTACT_BEGIN;
    t->contact.speed = real_max(t->contact.speed, r->speed);
    t->contact.push = real_max(t->contact.push, impulse);
    t->contact.total += impulse;
    uint32_t events = r->phase == VY_CONTACT_BEGIN ? VY_EVENT_CONTACT : 0;
    if (severity_of(crash, r->speed, impulse, &by_impulse) >= 1.0) {
        t->crashes += 1;
        events |= VY_EVENT_CRASH;
        if (crash->ends)
            world_fail(1, VY_FAILURE_CRASH, drone, by_impulse ? impulse : r->speed,
                       by_impulse ? crash->impulse : crash->speed, by_impulse, w);
    }
    return events;
}

// From the end of the free flight to the result of the contacts.
static void apply_contacts(vy_world *world, uint32_t i, const body_state *now, drone_block *d)
{
    const multirotor_params *p = &world->model.params[i].plant;
    const contact_system *s = world->bodies->contacts;
    contact_totals_block *t = &world->contact_totals[i];
    body_impulses impulses = {vec3_scale(p->effects.mass, vec3_sub(now->velocity, d->body.velocity)),
                              mat3_mul_vec(p->body.inertia, vec3_sub(now->rate, d->body.rate))};
    if (world->accounting && s->solved_as[i] != START_JOINTED) vy_energy_contact(world, i, &d->body, now);
    if (s->solved_as[i] == START_JOINTED) { // its joints, too, differ from the free flight
        impulses = s->body_impulses[i];
        if (world->accounting)
            vy_energy_impulse(world, i, impulses.impulse, impulses.angular_impulse, &s->start_state[i], now);
    }
    t->now = 0;
    memcpy(t->contact.impulse, &impulses.impulse, sizeof t->contact.impulse);
    _Static_assert(sizeof t->contact.impulse == sizeof impulses.impulse, "a vector as three numbers");
    memcpy(t->contact.angular, &impulses.angular_impulse, sizeof t->contact.angular);
    d->body = *now;
}

uint32_t vy_contact_stage(vy_world *world, world_block *w, drone_block *drones)
{
    const vy_model *m = &world->model;
    vy_bodies *b = world->bodies;
    if (w->failure_reason != VY_FAILURE_NONE) return 0;
    VY_ASSERT(w->tick > 0 && m->drone_count <= vy_bodies_limit(b));
    for (uint32_t i = 0; i < m->drone_count; ++i) b->state[i] = drones[i].body;
    b->head->failed = 0;
    b->head->tick = w->tick - 1u; // when the step began
    uint32_t events = vy_contacts_step(b, m->dt) != 0 ? VY_EVENT_CONTACTS_FULL : 0;
    b->head->tick = w->tick;
    for (uint32_t k = 0; k < m->joint_count; ++k) world->joint_states[k].active = b->joint_state[k].active;
    for (uint32_t i = 0; i < m->drone_count; ++i) apply_contacts(world, i, &b->state[i], &drones[i]);
    for (uint32_t k = 0; k < b->contacts->report_count; ++k) {
        const vy_contact_report *r = &b->contacts->reports[k];
        const uint32_t x = (uint32_t)slot_of_report(r->a), y = (uint32_t)slot_of_report(r->b);
        VY_ASSERT(x < y && y < vy_bodies_limit(b)); // drones come before obstacles, and nobody meets himself
        if (x < m->drone_count) events |= record_contact(world, x, r, w);
        if (y < m->drone_count) events |= record_contact(world, y, r, w);
    }
    if (b->head->failed) world_fail(1, VY_FAILURE_NOT_FINITE, 0, 0.0, 0.0, drone_field_at(0), w);
    return events;
}

static int pairs_sound(const vy_world *world, const unsigned char *at, uint64_t bodies)
{
    contacts_block head;
    memcpy(&head, at, sizeof head);
    if (head.count > world->model.contact_cap) return 0;
    uint64_t last = 0;
    for (uint64_t k = 0; k < head.count; ++k) {
        contact_cache m;
        memcpy(&m, at + sizeof head + k * sizeof m, sizeof m);
        if (m.point_count > VY_MANIFOLD_POINTS || m.a >= m.b || m.b >= bodies) return 0;
        const uint64_t key = contact_key(m.a, m.b);
        if (k > 0 && key <= last) return 0; // they are found by bisection
        last = key;
    }
    return 1;
}

int vy_contact_state_check(const vy_world *world, const void *block)
{
    const unsigned char *at = (const unsigned char *)block +
                              ((const unsigned char *)world->contacts - (const unsigned char *)world->state);
    const uint64_t bodies = vy_bodies_limit(world->bodies);
    const size_t pairs = sizeof(contacts_block) + world->model.contact_cap * sizeof(contact_block);
    if (!pairs_sound(world, at, bodies)) return 0;
    if (world->sleep == NULL) return 1;
    at += pairs;
    for (uint32_t i = 0; i < world->model.drone_count; ++i, at += sizeof(sleep_block)) {
        sleep_block sleep;
        memcpy(&sleep, at, sizeof sleep);
        if (sleep.island > world->model.drone_count) return 0;
    }
    return pairs_sound(world, at, bodies);
}

// --- the ground below

#define GROUND_UP 0.5 // [1] upright at least so much: what is steeper is a wall
// [radii] Farther away than this, ground adds less than 1e-4 to the thrust.
#define GROUND_SIGHT 30.0

void vy_ground_stage(vy_world *world)
{
    const vy_model *m = &world->model;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const rotor_air_params *air = &m->params[i].plant.effects.rotors;
        const rotor_layout *layout = &m->drones[i].layout;
        const body_state *s = &world->drones[i].body;
        if (!(air->ground > 0.0)) continue;
        vec3 axis = vec3_zero();
        for (int k = 0; k < layout->count; ++k) axis = vec3_add(axis, vec3_of(layout->axis[k]));
        const vec3 down = vec3_scale(-1.0, quat_rotate(s->attitude, axis));
        const double sight = GROUND_SIGHT * air->radius, length = vec3_length(down);
        vy_ray_target hit = {.distance = 1e6 * sight}; // nothing: as good as none
        if (!(length > 0.0)) continue;
        (void)vy_world_cast_ray(world, s->position, down, sight, VY_ALL_DRONES, &hit);
        world->grounds[i] = s->position.z + hit.distance * (down.z / length);
    }
}

// From so high above a point its ground is looked for: it may be above the point.
#define GROUND_ABOVE 1000.0

int vy_height_over_ground(const vy_world *world, vec3 point, double *height)
{
    const vy_model *m = &world->model;
    const vec3 above = vec3_make(point.x, point.y, point.z + GROUND_ABOVE), down = vec3_make(0.0, 0.0, -1.0);
    int met = 0;
    for (uint32_t i = 0; i < m->obstacle_count; ++i) {
        const vy_shape *shape;
        vy_pose pose;
        vy_ray_hit hit;
        if (vy_world_obstacle(world, i, &shape, &pose) != VY_OK || shape == NULL) continue;
        if (shape->kind != VY_SHAPE_PLANE && shape->kind != VY_SHAPE_HEIGHT_FIELD) continue;
        if (quat_rotate(pose.rotation, vec3_make(0.0, 0.0, 1.0)).z <= GROUND_UP) continue; // a wall
        if (!vy_ray_cast(shape, &pose, above, down, 2.0 * GROUND_ABOVE, &hit)) continue;
        const double over = hit.t - GROUND_ABOVE;
        *height = met ? real_min(*height, over) : over;
        met = 1;
    }
    return met;
}

// --- what happened

uint32_t vy_world_contact_count(const vy_world *world)
{
    return world->contact_totals != NULL ? vy_bodies_contact_count(world->bodies) : 0;
}

vy_status vy_world_contact(const vy_world *world, uint32_t index, vy_contact_event *out)
{
    FPU_SCOPE;
    if (index >= vy_world_contact_count(world)) return VY_NOT_FOUND;
    const vy_contact_report *r = &world->bodies->contacts->reports[index];
    const int drones = (int)world->model.drone_count, a = slot_of_report(r->a), b = slot_of_report(r->b);
    VY_ASSERT(a >= 0 && a < drones && b > a); // two obstacles never meet
    vy_contact_event e = {
        .phase = r->phase,
        .drone = a,
        .other = b < drones ? b : -1,
        .obstacle = b < drones ? -1 : b - drones,
        .points = r->points,
        .point = r->point,
        .normal = vec3_scale(-1.0, r->normal),
        .impulse = vec3_scale(-1.0, r->impulse),
        .speed = r->speed,
    };
    int by_impulse;
    const double impulse = vec3_length(r->impulse);
    e.severity = severity_of(&world->model.drones[a].crash, r->speed, impulse, &by_impulse);
    if (b < drones)
        e.severity =
            real_max(e.severity, severity_of(&world->model.drones[b].crash, r->speed, impulse, &by_impulse));
    *out = e;
    return VY_OK;
}

// --- shapes

// [m] How far a shape goes from the origin of its frame.
static double reach_of(const vy_shape *shape)
{
    static const vy_pose home = {.rotation = {1.0, 0.0, 0.0, 0.0}};
    if (shape->kind == VY_SHAPE_NONE) return -1.0;
    if (!vy_shape_is_convex(shape)) return HUGE_VAL;
    const vy_bounds b = vy_shape_bounds(shape, &home);
    const vec3 far =
        vec3_make(real_max(-b.low.x, b.high.x), real_max(-b.low.y, b.high.y), real_max(-b.low.z, b.high.z));
    return vec3_length(far) * (1.0 + 1e-12);
}

// Add a body whose centre of mass is at `centre` of its shape's frame, whatever the shape's own is.
static vy_status add_solid(vy_world *world, const vy_body_def *def, const vy_solid_def *solid,
                           const vy_vehicle_def *vehicle, vec3 centre, vy_error *err)
{
    const uint32_t slot = vy_bodies_limit(world->bodies);
    VY_ASSERT(slot < world->model.drone_cap + world->model.obstacle_cap);
    vy_shape shape;
    vy_status status = vy_solid_build(solid, vehicle, &shape, &world->solids[slot], err);
    if (status != VY_OK) return status;
    vy_body_def body = *def;
    body.material = solid->material;
    body.shape = shape.kind != VY_SHAPE_NONE ? &shape : NULL;
    status = vy_bodies_add(world->bodies, &body, NULL, err);
    if (status != VY_OK) {
        vy_solid_free(&world->solids[slot]);
        return status;
    }
    world->bodies->slots[slot].centroid = centre;
    world->reach[slot] = reach_of(&shape);
    return VY_OK;
}

vy_status vy_contact_add_drone(vy_world *world, const vy_drone_def *drone, vy_error *err)
{
    const vy_vehicle_def *v = &drone->vehicle;
    const vy_solid_kind kind = drone->solid.kind;
    if (world->model.obstacle_count > 0)
        return vy_fail(err, VY_BAD_STATE, "drones are added before obstacles");
    if (kind == VY_SOLID_PLANE || kind == VY_SOLID_HEIGHTS)
        return vy_fail(err, VY_BAD_VALUE, "drone.solid must have bounds: the ground is an obstacle");
    vy_body_def def = vy_default_body_def();
    def.wakeful = v->rotor_count + v->thruster_count > 0;
    def.mass = v->mass;
    def.inertia = v->inertia;
    def.state = (vy_body_state){drone->position, drone->velocity, drone->attitude, drone->rate};
    return add_solid(world, &def, &drone->solid, v,
                     v->rotor_count + v->thruster_count > 0 ? v->centre_of_mass : vec3_zero(), err);
}

vy_status vy_world_add_obstacle(vy_world *world, const vy_obstacle_def *def, vy_error *err)
{
    FPU_SCOPE;
    vy_model *m = &world->model;
    if (def->cookie != vy_default_obstacle_def().cookie)
        return vy_fail(err, VY_BAD_VALUE, "obstacle: start from vy_default_obstacle_def()");
    if (world->state->tick > 0)
        return vy_fail(err, VY_BAD_STATE, "obstacles are added before the first step");
    if (m->obstacle_count == m->obstacle_cap)
        return vy_fail(err, VY_FULL, "the world was made for %u obstacles", m->obstacle_cap);
    if (def->solid.kind <= VY_SOLID_NONE) return vy_fail(err, VY_BAD_VALUE, "an obstacle needs a shape");
    vy_body_def body = vy_default_body_def();
    body.kind = VY_BODY_STATIC;
    body.state = (vy_body_state){.position = def->position, .attitude = def->attitude};
    const vy_status status = add_solid(world, &body, &def->solid, NULL, vec3_zero(), err);
    if (status != VY_OK) return status;
    m->obstacle_count += 1;
    const int endless = def->solid.kind == VY_SOLID_PLANE || def->solid.kind == VY_SOLID_HEIGHTS;
    const double up = quat_rotate(quat_normalize(def->attitude), vec3_make(0.0, 0.0, 1.0)).z;
    if (endless && up > GROUND_UP) world->has_ground = 1; // and no wall
    return VY_OK;
}

uint32_t vy_world_obstacle_count(const vy_world *world) { return world->model.obstacle_count; }

static void read_shape(const vy_world *world, uint32_t slot, const body_state *s, const vy_shape **shape,
                       vy_pose *pose)
{
    const vy_bodies *b = world->bodies;
    VY_ASSERT(slot < vy_bodies_limit(b));
    *shape = b->slots[slot].shape.kind == VY_SHAPE_NONE ? NULL : &b->slots[slot].shape;
    *pose = body_shape_pose(b, slot, s);
}

vy_status vy_world_obstacle(const vy_world *world, uint32_t index, const vy_shape **shape, vy_pose *pose)
{
    const vy_model *m = &world->model;
    if (index >= m->obstacle_count) return VY_NOT_FOUND;
    const uint32_t slot = m->drone_count + index;
    read_shape(world, slot, &world->bodies->state[slot], shape, pose);
    return VY_OK;
}

vy_status vy_world_drone_shape(const vy_world *world, vy_drone_id id, const vy_shape **shape, vy_pose *pose)
{
    FPU_SCOPE;
    const uint32_t slot = (uint32_t)(id.bits & 0xffffffffu) - 1u;
    if (slot >= world->model.drone_count || vy_world_drone(world, slot).bits != id.bits) return VY_NOT_FOUND;
    const body_state *s = &world->drones[slot].body;
    *shape = NULL;
    *pose = (vy_pose){s->position, s->attitude};
    if (world->bodies != NULL) read_shape(world, slot, s, shape, pose);
    return VY_OK;
}

int vy_world_cast_ray(const vy_world *world, vy_vec3 origin, vy_vec3 way, double reach, vy_drone_id except,
                      vy_ray_target *out)
{
    FPU_SCOPE;
    const uint32_t drones = world->model.drone_count;
    const double length = vec3_length(way);
    if (world->bodies == NULL || !(length > 0.0) || !real_is_finite(length)) return 0;
    const vec3 u = vec3_scale(1.0 / length, way);
    const uint32_t limit = vy_bodies_limit(world->bodies);
    vy_ray_target best = {.distance = reach};
    int met = 0;
    for (uint32_t i = except.bits == 0 ? drones : 0; i < limit; ++i) {
        if (i < drones && vy_world_drone(world, i).bits == except.bits) continue;
        const vy_shape *shape;
        vy_pose pose;
        read_shape(world, i, i < drones ? &world->drones[i].body : &world->bodies->state[i], &shape, &pose);
        // Whether the ray comes near enough is asked first: it costs little.
        const vec3 away = vec3_sub(pose.position, origin);
        const double along = real_clamp(vec3_dot(away, u), 0.0, best.distance);
        const vec3 gap = vec3_add_scaled(away, -along, u);
        vy_ray_hit hit;
        if (shape == NULL || vec3_dot(gap, gap) > world->reach[i] * world->reach[i] ||
            !vy_ray_cast(shape, &pose, origin, u, best.distance, &hit))
            continue;
        if (met && hit.t == best.distance) continue; // of two at the same place the first
        met = 1;
        best = (vy_ray_target){.distance = hit.t,
                               .point = hit.point,
                               .normal = hit.normal,
                               .obstacle = i < drones ? -1 : (int)(i - drones),
                               .drone = i < drones ? (int)i : -1};
    }
    if (met) *out = best;
    return met;
}
