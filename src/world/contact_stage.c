// contact_stage.c - the contact stage: drones and bodies that land, crash and collide, obstacles, contacts,
// and their consequences.
//
// The plant has integrated each of them without contacts: its free flight. Those that touch in it go back to
// the start of the step and are stepped again with contacts, with the mean force of their free flight
// (dynamics/contact_step.c). All others keep the bits of their free flight.
#include "base/fail.h"
#include "base/assert.h"
#include "base/real.h"
#include "dynamics/sleep.h"
#include "dynamics/triggers.h"
#include "world/stages.h"
#include "world/plant.h"
#include "world/contact_stage.h"
#include <math.h>

_Static_assert(sizeof(contact_block) == sizeof(contact_cache) && sizeof(sleep_block) == sizeof(body_sleep),
               "contacts of the state are those of the set: state.h");

static int slot_of_report(uint64_t id) { return (int)((id & 0xffffffffu) - 1u); }

// --- the step

// Contact cache and sleep of the set are the world's state, whose address may have changed.
static void bind_state(vy_world *world)
{
    vy_bodies *b = world->bodies;
    if (body_count(&world->model) == 0) return; // then the head names no contacts
    b->contact_count = (contact_count *)(void *)vy_entry_count(world->state, BLOCK_contact);
    VY_ASSERT(b->contact_count != NULL && b->contact_count->count <= b->contacts->capacity.contacts);
    if (world->sleep == NULL) return;
    b->sleep->bodies = (body_sleep *)(void *)world->sleep;
    b->sleep->count = (contact_count *)(void *)vy_entry_count(world->state, BLOCK_sleeping_contact);
    VY_ASSERT(b->sleep->count != NULL && b->sleep->count->count <= b->contacts->capacity.contacts);
}

contact_list vy_contact_list(const vy_world *world, enum block_kind kind)
{
    VY_ASSERT(kind == BLOCK_contact || kind == BLOCK_sleeping_contact);
    const uint64_t *count = world->model.collides ? vy_entry_count(world->state, kind) : NULL;
    contact_list list = {NULL, count != NULL ? *count : 0};
    if (list.count > 0)
        list.blocks = (contact_block *)(void *)(kind == BLOCK_contact ? world->bodies->contact_cache
                                                                      : world->bodies->sleep->contact_cache);
    return list;
}

uint64_t vy_contact_hash(const vy_world *world, uint64_t previous_hash)
{
    const contact_list pairs = vy_contact_list(world, BLOCK_contact),
                       asleep = vy_contact_list(world, BLOCK_sleeping_contact);
    return vy_hash_contacts(vy_hash_contacts(previous_hash, pairs.blocks, pairs.count), asleep.blocks,
                            asleep.count);
}

void vy_contact_sync(vy_world *world)
{
    bind_state(world);
    vy_bodies *b = world->bodies;
    const uint32_t count = body_count(&world->model);
    for (uint32_t i = 0; i < count; ++i) b->state[i] = *body_at(world, i);
    for (uint32_t i = count; i < b->slot_count; ++i)
        b->disturbed[i] = 0; // a new obstacle wakes up who touches it
    vy_sleep_sync(b);
}

void vy_contact_wake_up(vy_world *world, uint32_t index)
{
    if (world->sleep == NULL) return;
    bind_state(world);
    vy_sleep_wake(world->bodies, index);
}

void vy_prestep_stage(vy_world *world, const vy_model *plant_model)
{
    if (world->contact_totals != NULL) {
        for (uint32_t i = 0; i < body_count(plant_model); ++i) world->bodies->state[i] = *body_at(world, i);
        bind_state(world);
        vy_contacts_begin(world->bodies);
    }
    vy_loads_clear(world);
    if (plant_model->loads_at_start != NULL) world->loads_tick = world->state->tick;
    if (world->tracks_energy) vy_energy_stage(world, plant_model);
}

// The severity of an impact for a drone: its largest share of a limit. `is_by_impulse`: whether that is the
// limit of the impulse.
static double severity_of(const vy_crash_def *c, double speed, double impulse, int *is_by_impulse)
{
    const double speed_over_limit = c->speed > 0.0 ? speed / c->speed : 0.0,
                 impulse_over_limit = c->impulse > 0.0 ? impulse / c->impulse : 0.0;
    *is_by_impulse = impulse_over_limit > speed_over_limit;
    return real_max(speed_over_limit, impulse_over_limit);
}

// Pauses of a body's contacts (contact_def.h): drop those that were too long, the last ones of the list.
static void drop_long_pauses(uint64_t tick, uint64_t pause_max, contact_totals_block *totals)
{
    for (int k = CONTACT_DEBOUNCE_MAX - 1; k >= 0; --k) {
        if (totals->paused[k] != 0 && (uint32_t)tick - (uint32_t)totals->paused[k] > pause_max)
            totals->paused[k] = 0;
    }
}

static void add_pause(uint32_t other, uint64_t tick, contact_totals_block *totals)
{
    memmove(totals->paused + 1, totals->paused, (CONTACT_DEBOUNCE_MAX - 1) * sizeof totals->paused[0]);
    totals->paused[0] = (uint64_t)(other + 1u) << 32 | (uint32_t)tick;
}

// Whether a push by `other` continues after a pause; it is none any more.
static int end_pause(uint32_t other, contact_totals_block *totals)
{
    for (int k = 0; k < CONTACT_DEBOUNCE_MAX; ++k) {
        if (totals->paused[k] >> 32 != other + 1u) continue;
        for (; k + 1 < CONTACT_DEBOUNCE_MAX; ++k) totals->paused[k] = totals->paused[k + 1];
        totals->paused[CONTACT_DEBOUNCE_MAX - 1] = 0;
        return 1;
    }
    return 0;
}

// One side of a contact with `other`: add it to the totals of a drone or body, and see whether it has
// crashed.
static uint32_t record_contact(vy_world *world, uint32_t number, uint32_t other, const vy_contact_report *r,
                               world_block *w)
{
    const vy_crash_def *crash = body_crash(&world->model, number);
    VY_ASSERT(number < body_count(&world->model) && r->speed >= 0.0);
    VY_ASSERT(r->phase >= VY_CONTACT_BEGIN && r->phase <= VY_CONTACT_END);
    contact_totals_block *totals = &world->contact_totals[number];
    if (r->phase == VY_CONTACT_END) {
        add_pause(other, w->tick, totals);
        return VY_EVENT_CONTACT;
    }
    const double impulse = vec3_length(r->impulse);
    int is_by_impulse;
    totals->now += 1;
    totals->count += r->phase == VY_CONTACT_BEGIN && !end_pause(other, totals);
    totals->contact.speed = real_max(totals->contact.speed, r->speed);
    totals->contact.impulse_max = real_max(totals->contact.impulse_max, impulse);
    totals->contact.total += impulse;
    uint32_t events = r->phase == VY_CONTACT_BEGIN ? VY_EVENT_CONTACT : 0;
    if (severity_of(crash, r->speed, impulse, &is_by_impulse) >= 1.0) {
        totals->crashes += 1;
        events |= VY_EVENT_CRASH;
        if (crash->ends)
            world_fail(1, VY_FAILURE_CRASH, number, is_by_impulse ? impulse : r->speed,
                       is_by_impulse ? crash->impulse : crash->speed, is_by_impulse, w);
    }
    return events;
}

// From the end of the free flight to `solved_motion`, the result of the contacts.
static void apply_contacts(vy_world *world, uint32_t i, uint64_t longest_pause,
                           const body_state *solved_motion)
{
    const multirotor_params *p = body_plant(&world->model, i);
    body_state *free_motion = body_at(world, i);
    const contact_system *system = world->bodies->contacts;
    contact_totals_block *totals = &world->contact_totals[i];
    body_impulses impulses = {
        vec3_scale(p->effects.mass, vec3_sub(solved_motion->velocity, free_motion->velocity)),
        mat3_mul_vec(p->body.inertia, vec3_sub(solved_motion->rate, free_motion->rate))};
    // What makes a body move otherwise than its free flight are contacts alone, unless something holds it.
    const int is_jointed = system->solve_mode_mask[i] == SOLVE_JOINTED,
              is_held = *body_holder(&world->model, i) != HELD_BY_NOTHING;
    if (is_jointed) impulses = system->body_impulses[i]; // its joints, too, differ from the free flight
    if (world->tracks_energy && is_jointed && is_held)
        vy_energy_impulse(world, i, impulses.impulse, impulses.angular_impulse, &system->start_state[i],
                          solved_motion);
    else if (world->tracks_energy)
        vy_energy_contact(world, i, free_motion, solved_motion);
    totals->now = 0;
    if (totals->paused[0] != 0) drop_long_pauses(world->state->tick, longest_pause, totals);
    memcpy(totals->contact.impulse, &impulses.impulse, sizeof totals->contact.impulse);
    _Static_assert(sizeof totals->contact.impulse == sizeof impulses.impulse, "a vector as three numbers");
    memcpy(totals->contact.angular, &impulses.angular_impulse, sizeof totals->contact.angular);
    *free_motion = *solved_motion;
}

// Whether contacts made a body move otherwise than its free flight in the last step.
static int had_impulse(const vy_world *world, uint32_t i)
{
    const contact_totals_block *totals = &world->contact_totals[i];
    const double *j = totals->contact.impulse, *l = totals->contact.angular;
    if (world->sleep != NULL && world->sleep[i].island != 0) return 0; // it rests
    return totals->now > 0 || j[0] != 0.0 || j[1] != 0.0 || j[2] != 0.0 || l[0] != 0.0 || l[1] != 0.0 ||
           l[2] != 0.0;
}

int vy_contact_reevaluate_nap(vy_world *world)
{
    int has_evaluated = 0;
    for (uint32_t i = 0; i < body_count(&world->model); ++i)
        if (had_impulse(world, i)) has_evaluated |= vy_body_reevaluate_nap(world, i);
    return has_evaluated;
}

uint32_t vy_contact_stage(vy_world *world, world_block *w)
{
    const vy_model *m = &world->model;
    const uint32_t count = body_count(m);
    vy_bodies *b = world->bodies;
    if (w->failure_reason != VY_FAILURE_NONE) return 0;
    VY_ASSERT(w->tick > 0 && count <= vy_bodies_slot_count(b));
    for (uint32_t i = 0; i < count; ++i) b->state[i] = *body_at(world, i);
    b->head->failed = 0;
    b->head->tick = w->tick - 1u; // when the step began
    const uint32_t set_events = vy_contacts_step(b, m->dt);
    if (set_events & VY_BODIES_NO_MEMORY) {
        world_fail(1, VY_FAILURE_NO_MEMORY, 0, 0.0, 0.0, 0, w);
        return 0;
    }
    uint32_t events = set_events & VY_BODIES_TIME_DROPPED ? VY_EVENT_TIME_DROPPED : 0;
    b->head->tick = w->tick;
    for (uint32_t k = 0; k < m->joint_count; ++k) world->joint_states[k].active = b->joint_state[k].active;
    const uint64_t longest_pause = (uint64_t)(CONTACT_DEBOUNCE_TIME / m->dt + 0.5);
    for (uint32_t i = 0; i < count; ++i) apply_contacts(world, i, longest_pause, &b->state[i]);
    for (uint32_t k = 0; k < b->contacts->report_count; ++k) {
        const vy_contact_report *r = &b->contacts->reports[k];
        const uint32_t slot_a = (uint32_t)slot_of_report(r->a), slot_b = (uint32_t)slot_of_report(r->b);
        VY_ASSERT(slot_a < slot_b &&
                  slot_b < vy_bodies_slot_count(b)); // obstacles come last, and no body touches itself
        if (slot_a < count) events |= record_contact(world, slot_a, slot_b, r, w);
        if (slot_b < count) events |= record_contact(world, slot_b, slot_a, r, w);
    }
    if (m->trigger_count > 0) events |= vy_trigger_stage(world);
    if (b->head->failed) world_fail(1, VY_FAILURE_NOT_FINITE, 0, 0.0, 0.0, drone_field_at(0), w);
    return events;
}

int vy_contact_state_check(const vy_world *world, const void *block, const block_counts *counts)
{
    const unsigned char *bytes = block;
    const uint64_t slot_count = vy_bodies_slot_count(world->bodies);
    for (enum block_kind kind = BLOCK_contact; kind <= BLOCK_sleeping_contact; ++kind) {
        if (!vy_contacts_cache_is_valid(bytes + block_offset(counts, kind), counts->of[kind], slot_count))
            return 0;
    }
    for (uint32_t i = 0; world->sleep != NULL && i < body_count(&world->model); ++i) {
        sleep_block sleep;
        memcpy(&sleep, bytes + block_offset(counts, BLOCK_sleep) + i * sizeof sleep, sizeof sleep);
        if (sleep.island > body_count(&world->model)) return 0;
    }
    for (uint32_t k = 0; k < counts->of[BLOCK_trigger]; ++k) {
        trigger_block trigger;
        memcpy(&trigger, bytes + block_offset(counts, BLOCK_trigger) + k * sizeof trigger, sizeof trigger);
        if (trigger.inside > 1) return 0;
    }
    return 1;
}

vy_status vy_contact_state_reserve(vy_world *world, const block_counts *counts, vy_error *err)
{
    const size_t pair_count = (size_t)counts->of[BLOCK_contact] + counts->of[BLOCK_sleeping_contact];
    bind_state(world);
    if (vy_contacts_reserve(world->bodies, 0, pair_count) == VY_OK &&
        vy_triggers_reserve(world->bodies, counts->of[BLOCK_trigger]) == VY_OK)
        return VY_OK;
    return vy_fail(err, VY_NO_MEMORY, "snapshot: no memory for %zu contacts", pair_count);
}

// --- the ground below

#define MIN_GROUND_NORMAL_Z 0.5 // [1] upright at least so much: what is steeper is a wall
// [radii] Farther away than this, ground adds less than 1e-4 to the thrust.
#define GROUND_RAY_RADII 30.0

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
        const double ray_length = GROUND_RAY_RADII * air->radius, length = vec3_length(down);
        vy_ray_target hit = {.distance = 1e6 * ray_length}; // a speed of zero: no ground effect
        if (!(length > 0.0)) continue;
        (void)vy_world_cast_ray(world, s->position, down, ray_length, VY_ALL_BODIES, &hit);
        world->ground_heights[i] = s->position.z + hit.distance * (down.z / length);
    }
}

// The search for the ground starts this far above a point: the ground may be above it.
#define GROUND_SEARCH_HEIGHT 1000.0

static int height_over_ground(const void *self, vec3 point, double *height)
{
    const vy_world *world = self;
    const vy_model *m = &world->model;
    const vec3 ray_origin = vec3_make(point.x, point.y, point.z + GROUND_SEARCH_HEIGHT),
               down = vec3_make(0.0, 0.0, -1.0);
    int is_hit = 0;
    for (uint32_t i = 0; i < m->obstacle_count; ++i) {
        const vy_shape *shape;
        vy_pose pose;
        vy_ray_hit hit;
        if (vy_world_obstacle(world, i, &shape, &pose) != VY_OK || shape == NULL) continue;
        if (vy_obstacle_is_trigger(world, i)) continue;
        if (shape->kind != VY_SHAPE_PLANE && shape->kind != VY_SHAPE_HEIGHT_FIELD) continue;
        if (quat_rotate(pose.rotation, vec3_make(0.0, 0.0, 1.0)).z <= MIN_GROUND_NORMAL_Z) continue; // a wall
        if (!vy_ray_cast(shape, &pose, ray_origin, down, 2.0 * GROUND_SEARCH_HEIGHT, &hit)) continue;
        const double obstacle_height = hit.t - GROUND_SEARCH_HEIGHT;
        *height = is_hit ? real_min(*height, obstacle_height) : obstacle_height;
        is_hit = 1;
    }
    return is_hit;
}

ground_probe vy_world_ground(const vy_world *world)
{
    return (ground_probe){world->has_ground ? height_over_ground : NULL, world};
}

// --- reports

uint32_t vy_world_contact_count(const vy_world *world)
{
    return world->contact_totals != NULL ? vy_bodies_contact_count(world->bodies) : 0;
}

vy_status vy_world_contact(const vy_world *world, uint32_t index, vy_contact_event *out)
{
    FPU_SCOPE;
    if (index >= vy_world_contact_count(world)) return VY_NOT_FOUND;
    const vy_contact_report *r = &world->bodies->contacts->reports[index];
    const vy_model *m = &world->model;
    const int body_total = (int)body_count(m), a = slot_of_report(r->a), b = slot_of_report(r->b);
    VY_ASSERT(a >= 0 && a < body_total && b > a); // two obstacles never collide
    vy_contact_event e = {
        .phase = r->phase,
        .body = a,
        .other = b < body_total ? b : -1,
        .obstacle = b < body_total ? -1 : b - body_total,
        .points = r->points,
        .point = r->point,
        .normal = vec3_scale(-1.0, r->normal),
        .impulse = vec3_scale(-1.0, r->impulse),
        .speed = r->speed,
    };
    int is_by_impulse;
    const double impulse = vec3_length(r->impulse);
    e.severity = severity_of(body_crash(m, (uint32_t)a), r->speed, impulse, &is_by_impulse);
    if (b < body_total)
        e.severity =
            real_max(e.severity, severity_of(body_crash(m, (uint32_t)b), r->speed, impulse, &is_by_impulse));
    *out = e;
    return VY_OK;
}

// --- obstacles

vy_status vy_world_add_obstacle(vy_world *world, const vy_obstacle_def *def, vy_error *err)
{
    FPU_SCOPE;
    vy_model *m = &world->model;
    if (def->cookie != vy_default_obstacle_def().cookie)
        return vy_fail(err, VY_BAD_VALUE, "obstacle: start from vy_default_obstacle_def()");
    if (world->state->tick > 0)
        return vy_fail(err, VY_BAD_STATE, "obstacles are added before the first step");
    if (def->solid.kind <= VY_COLLIDER_NONE) return vy_fail(err, VY_BAD_VALUE, "an obstacle needs a shape");
    if (def->is_trigger && !m->collides)
        return vy_fail(err, VY_BAD_VALUE, "a trigger needs a world with contacts");
    vy_status status = vy_world_reserve(world, CAPACITY_OBSTACLES, (uint64_t)m->obstacle_count + 1, err);
    if (status == VY_OK && def->is_trigger)
        status = vy_world_reserve(world, CAPACITY_TRIGGERS, (uint64_t)m->trigger_count + 1, err);
    if (status == VY_OK) status = vy_contact_add_obstacle(world, def, err);
    if (status != VY_OK) return status;
    m->obstacle_count += 1;
    if (def->is_trigger) { // for all others it is not there
        m->trigger_count += 1;
        vy_world_layout_state(world);
        return VY_OK;
    }
    m->ground_heights = world->ground_heights; // the ground may be anywhere now
    world->options = step_options(m);
    for (uint32_t i = 0; i < body_count(m); ++i) {
        body_nap(m, i)->has_obstacles = !frame_is_inertial(&m->env);
        body_nap(m, i)->flat = 0;
    }
    const int is_unbounded =
        def->solid.kind == VY_COLLIDER_PLANE || def->solid.kind == VY_COLLIDER_HEIGHT_FIELD;
    const double normal_z = quat_rotate(quat_normalize(def->attitude), vec3_make(0.0, 0.0, 1.0)).z;
    if (is_unbounded && normal_z > MIN_GROUND_NORMAL_Z) world->has_ground = 1; // and no wall
    return VY_OK;
}

uint32_t vy_world_obstacle_count(const vy_world *world) { return world->model.obstacle_count; }

static void read_shape(const vy_world *world, uint32_t slot, const body_state *s, const vy_shape **shape,
                       vy_pose *pose)
{
    const vy_bodies *b = world->bodies;
    VY_ASSERT(slot < vy_bodies_slot_count(b));
    *shape = b->slots[slot].shape.kind == VY_SHAPE_NONE ? NULL : &b->slots[slot].shape;
    *pose = body_shape_pose(b, slot, s);
}

vy_status vy_world_obstacle(const vy_world *world, uint32_t index, const vy_shape **shape, vy_pose *pose)
{
    const vy_model *m = &world->model;
    if (index >= m->obstacle_count) return VY_NOT_FOUND;
    const uint32_t slot = body_count(m) + index;
    read_shape(world, slot, &world->bodies->state[slot], shape, pose);
    return VY_OK;
}

vy_status vy_world_shape(const vy_world *world, vy_body_id id, const vy_shape **shape, vy_pose *pose)
{
    FPU_SCOPE;
    uint32_t number;
    if (!vy_world_number(world, id, &number)) return VY_NOT_FOUND;
    const body_state *s = body_at(world, number);
    *shape = NULL;
    *pose = (vy_pose){s->position, s->attitude};
    if (world->bodies != NULL) read_shape(world, number, s, shape, pose);
    return VY_OK;
}

int vy_world_cast_ray(const vy_world *world, vy_vec3 origin, vy_vec3 ray_direction, double reach,
                      vy_body_id except, vy_ray_target *out)
{
    FPU_SCOPE;
    const uint32_t body_total = body_count(&world->model);
    const double length = vec3_length(ray_direction);
    if (world->bodies == NULL || !(length > 0.0) || !real_is_finite(length)) return 0;
    const vec3 unit_direction = vec3_scale(1.0 / length, ray_direction);
    const uint32_t slot_count = vy_bodies_slot_count(world->bodies);
    vy_ray_target nearest = {.distance = reach};
    int is_hit = 0;
    for (uint32_t i = except.bits == 0 ? body_total : 0; i < slot_count; ++i) {
        if (i < body_total && vy_world_body(world, i).bits == except.bits) continue;
        if (world->bodies->filters[i].is_trigger) continue;
        const vy_shape *shape;
        vy_pose pose;
        read_shape(world, i, i < body_total ? body_at(world, i) : &world->bodies->state[i], &shape, &pose);
        // A cheap test first: does the ray come near enough?
        const vec3 offset = vec3_sub(pose.position, origin);
        const double along = real_clamp(vec3_dot(offset, unit_direction), 0.0, nearest.distance);
        const vec3 gap = vec3_add_scaled(offset, -along, unit_direction);
        vy_ray_hit hit;
        if (shape == NULL || vec3_dot(gap, gap) > world->max_extent[i] * world->max_extent[i] ||
            !vy_ray_cast(shape, &pose, origin, unit_direction, nearest.distance, &hit))
            continue;
        if (is_hit && hit.t == nearest.distance) continue; // of two at the same place the first
        is_hit = 1;
        nearest = (vy_ray_target){.distance = hit.t,
                                  .point = hit.point,
                                  .normal = hit.normal,
                                  .obstacle = i < body_total ? -1 : (int)(i - body_total),
                                  .body = i < body_total ? (int)i : -1};
    }
    if (is_hit) *out = nearest;
    return is_hit;
}
