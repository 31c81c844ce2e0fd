// joint.c - joints of a set: memory, ids, reading; and the requirements' constraints of one body.
#include "base/arena.h"
#include "base/assert.h"
#include "base/fpu_result.h"
#include "base/math.h"
#include "dynamics/joint_def.h"
#include "dynamics/sleep.h"
#include "base/real.h"
#include "base/fail.h"
#include <stdlib.h>

// ---- memory

// The arrays of joints, of n bodies, the world included, and m joints.
#define JOINT_ARRAYS(ARRAY)             \
    ARRAY(slots, m)                     \
    ARRAY(islands, n)                   \
    ARRAY(members, n + 2 * m)           \
    ARRAY(joint_order, m)               \
    ARRAY(first_joint, n)               \
    ARRAY(stage_bodies, n)              \
    ARRAY(stops, VY_CONSTRAINT_ROWS *m) \
    ARRAY(stage, 3 * n)                 \
    ARRAY(active_before_flight, m)      \
    ARRAY(active_at_step_start, m)      \
    ARRAY(driver_wrench, n)             \
    ARRAY(step_work, n)                 \
    ARRAY(saved_work, n)                \
    ARRAY(closing_work, n)              \
    ARRAY(k[0], 4 * n)

enum { JOINT_ARRAY_COUNT = 15 };

static size_t array_sizes(const joint_system *s, size_t n, size_t m, size_t out[JOINT_ARRAY_COUNT])
{
    size_t sum = 0;
    int i = 0;
#define ARRAY(member, elements)              \
    out[i] = (elements) * sizeof *s->member; \
    sum += vy_arena_aligned_size(out[i++]);
    JOINT_ARRAYS(ARRAY)
#undef ARRAY
    VY_ASSERT(i == JOINT_ARRAY_COUNT);
    return sum;
}

vy_status vy_joints_reserve(vy_bodies *b, uint32_t bodies, uint32_t joints)
{
    joint_system *s = b->joints;
    const size_t n = (size_t)bodies + 1, m = (size_t)joints + 1;
    size_t old_sizes[JOINT_ARRAY_COUNT] = {0}, new_sizes[JOINT_ARRAY_COUNT];
    const size_t size = array_sizes(s, n, m, new_sizes);
    if (s->memory != NULL) (void)array_sizes(s, (size_t)b->body_cap + 1, (size_t)b->joint_cap + 1, old_sizes);
    void *memory = calloc(1, size + 64); // not aligned_alloc: pages of zeros cost nothing until they are used
    if (memory == NULL) return VY_NO_MEMORY;
    vy_arena arena = {(unsigned char *)memory + (64 - (uintptr_t)memory % 64) % 64, size, 0};
    int i = 0;
#define ARRAY(member, elements)                                                  \
    s->member = vy_arena_realloc(&arena, s->member, old_sizes[i], new_sizes[i]); \
    ++i;
    JOINT_ARRAYS(ARRAY)
#undef ARRAY
    free(s->memory);
    s->memory = memory;
    s->start = s->stage + n;
    s->substep_restart = s->stage + 2 * n;
    for (int stage = 1; stage < 4; ++stage) s->k[stage] = s->k[0] + (size_t)stage * n;
    memset(&s->stage_bodies[n - 1], 0, sizeof s->stage_bodies[n - 1]); // the world comes behind the bodies
    memset(&s->stage[n - 1], 0, sizeof s->stage[n - 1]);
    s->stage_bodies[n - 1].rotation = mat3_diag(1.0, 1.0, 1.0);
    s->stage[n - 1].attitude = quat_identity();
    for (uint32_t k = 0; k < 2 * s->slot_count; ++k) {
        uint32_t *body = &s->slots[k / 2].body[k % 2];
        if (*body == b->body_cap) *body = bodies;
    }
    s->dirty |= s->slot_count > 0;
    return VY_OK;
}

vy_status vy_joints_create(vy_bodies *b)
{
    b->joints = calloc(1, sizeof *b->joints);
    if (b->joints == NULL) return VY_NO_MEMORY;
    b->joints->substep = b->def.dt;
    return VY_OK;
}

void vy_joints_destroy(vy_bodies *b)
{
    joint_system *s = b->joints;
    if (s == NULL) return;
    vy_island_structure_free(s);
    free(s->memory);
    free(s);
}

// ---- bodies of a joint

/// The slot of a joint's body: body_cap for the world, -1 when it is not of the set.
static int64_t body_slot_of(const vy_bodies *b, vy_body_id id)
{
    return id.bits == 0 ? (int64_t)b->body_cap : vy_bodies_find(b, id);
}

static int is_dynamic(const vy_bodies *b, int64_t i)
{
    VY_ASSERT(i >= 0 && i <= (int64_t)b->body_cap);
    return i != (int64_t)b->body_cap && body_is_dynamic(b, (uint32_t)i);
}

static quat attitude_of(const vy_bodies *b, int64_t i)
{
    return i == (int64_t)b->body_cap ? quat_identity() : b->state[i].attitude;
}

static vec3 position_of(const vy_bodies *b, int64_t i)
{
    return i == (int64_t)b->body_cap ? vec3_zero() : b->state[i].position;
}

// ---- adding and removing

static vec3 unit_vector(vec3 v)
{
    VY_ASSERT(vec3_dot(v, v) > 0.0);
    return vec3_scale(1.0 / vec3_length(v), v);
}

/// A unit vector perpendicular to a unit vector: from the axis of its smallest component.
static vec3 perpendicular(vec3 u)
{
    VY_ASSERT(vec3_is_unit(u));
    const double x = real_abs(u.x), y = real_abs(u.y), z = real_abs(u.z);
    const vec3 e = x <= y && x <= z ? vec3_make(1.0, 0.0, 0.0)
                   : y <= z         ? vec3_make(0.0, 1.0, 0.0)
                                    : vec3_make(0.0, 0.0, 1.0);
    return unit_vector(vec3_cross(u, e));
}

// How many rows each kind holds.
static const int row_count[] = {
#define ROWS(arg, name, word, rows, ...) [VY_JOINT_##name] = (rows),
    VY_JOINT_LIST(ROWS, )
#undef ROWS
};

static int block_count_of(const vy_joint_def *def)
{
    const int rows =
        def->kind == VY_JOINT_CUSTOM ? def->custom->dimension : row_count[def->kind] + 2 * (def->cone > 0.0);
    return (rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
}

static uint32_t unilateral_rows_of(const vy_joint_def *def)
{
    if (vy_joint_has(def->kind, VY_JOINT_UNILATERAL)) return 1u;
    if (def->kind == VY_JOINT_CUSTOM)
        return def->custom->unilateral ? (1u << def->custom->dimension) - 1u : 0u;
    if (def->cone > 0.0) return def->limited ? 3u << 3 : 1u << 3; // the cone, the twist
    if (!def->limited) return 0u;
    return vy_joint_has(def->kind, VY_JOINT_SLIDES) ? 1u << 2 : 1u << 5; // the free row of the block
}

// Axes of b from which a twist counts: it is 0 in the present pose.
static void set_twist_axes(joint_slot *j, quat attitude_a, quat attitude_b)
{
    const vec3 axis_a = quat_rotate(attitude_a, j->axes_a[0]), a1 = quat_rotate(attitude_a, j->axes_a[1]);
    j->axes_b[0] = unit_vector(j->def.axis_b);
    const vec3 axis_b = quat_rotate(attitude_b, j->axes_b[0]);
    const double sum = 1.0 + vec3_dot(axis_a, axis_b);
    const vec3 b1 =
        sum > 1e-9 ? vec3_add_scaled(a1, -vec3_dot(a1, axis_b) / sum, vec3_add(axis_a, axis_b)) : a1;
    j->axes_b[1] =
        unit_vector(vec3_add_scaled(quat_unrotate(attitude_b, b1), -vec3_dot(b1, axis_b), j->axes_b[0]));
    j->axes_b[2] = vec3_cross(j->axes_b[0], j->axes_b[1]);
}

static void set_axes(const vy_bodies *b, joint_slot *j)
{
    const quat attitude_a = attitude_of(b, j->body[0]), attitude_b = attitude_of(b, j->body[1]);
    VY_ASSERT(quat_is_unit(attitude_a) && quat_is_unit(attitude_b));
    j->axes_a[0] = unit_vector(j->def.axis_a);
    j->axes_a[1] = perpendicular(j->axes_a[0]);
    j->axes_a[2] = vec3_cross(j->axes_a[0], j->axes_a[1]);
    for (int k = 0; k < 3; ++k)
        j->axes_b[k] = quat_unrotate(attitude_b, quat_rotate(attitude_a, j->axes_a[k]));
    if (vy_joint_has(j->def.kind, VY_JOINT_HAS_AXIS_B)) j->axes_b[0] = unit_vector(j->def.axis_b);
    if (j->def.cone > 0.0) set_twist_axes(j, attitude_a, attitude_b);
    if (vy_joint_has(j->def.kind, VY_JOINT_GEARED)) { // each its own, from which its angle counts
        j->axes_b[1] = perpendicular(j->axes_b[0]);
        j->axes_b[2] = vec3_cross(j->axes_b[0], j->axes_b[1]);
    }
}

static double cone_scale_of(const vy_joint_def *def)
{
    return def->cone > 0.0 ? 1.0 / math_sin(def->cone) : 0.0;
}

// Bodies take up the speed at which the joint closes at the start of the next step.
static void start_closing(vy_bodies *b, const joint_slot *j)
{
    b->joints->closing_end = real_max(b->joints->closing_end, j->initial_error.end);
    for (int side = 0; side < 2; ++side) {
        if (is_dynamic(b, j->body[side])) b->disturbed[j->body[side]] = 1;
    }
}

static body_state state_at(const vy_bodies *b, uint32_t slot)
{
    VY_ASSERT(slot <= b->body_cap);
    const body_state world = {.attitude = {1.0, 0.0, 0.0, 0.0}};
    return slot == b->body_cap ? world : b->state[slot];
}

// A gear counts from the present poses.
static vy_status set_gear_start(const vy_bodies *b, joint_slot *j, vy_error *err)
{
    const body_state state_a = state_at(b, j->body[0]), state_b = state_at(b, j->body[1]);
    const vec3 line = vec3_sub(vec3_add(state_b.position, quat_rotate(state_b.attitude, j->def.anchor_b)),
                               vec3_add(state_a.position, quat_rotate(state_a.attitude, j->def.anchor_a)));
    const double min_length = 1e-9 * vec3_length(line);
    if (!(vec3_length(vec3_cross(line, quat_rotate(state_a.attitude, j->axes_a[0]))) > min_length) ||
        !(vec3_length(vec3_cross(line, quat_rotate(state_b.attitude, j->axes_b[0]))) > min_length))
        return vy_fail(err, VY_BAD_VALUE,
                       "the anchors of a gear must be apart, and none on the axis of the other");
    j->gear = vy_gear_angles(j, &state_a, &state_b);
    j->gear_start[0] = j->gear.angle[0];
    j->gear_start[1] = j->gear.angle[1];
    return VY_OK;
}

vy_status vy_bodies_add_joint(vy_bodies *b, const vy_joint_def *def, vy_joint_id *out, vy_error *err)
{
    FPU_SCOPE;
    vy_status status = vy_joint_check(def, err);
    if (status == VY_OK && b->joints->first_free == 0)
        status = vy_bodies_reserve(b, 0, (uint64_t)b->joints->slot_count + 1, err);
    if (status != VY_OK) return status;
    const int64_t slot_a = body_slot_of(b, def->body_a), slot_b = body_slot_of(b, def->body_b);
    if (slot_a < 0 || slot_b < 0)
        return vy_fail(err, VY_NOT_FOUND, "a joint of a body that is not of this set");
    if (slot_a == slot_b || (!is_dynamic(b, slot_a) && !is_dynamic(b, slot_b))) {
        return vy_fail(err, VY_BAD_VALUE, "a joint needs two bodies, one of them dynamic");
    }
    joint_system *s = b->joints;
    VY_ASSERT(s->first_free != 0 || s->slot_count < b->joint_cap);
    joint_slot new_joint = {.used = 1, .body = {(uint32_t)slot_a, (uint32_t)slot_b}, .def = *def};
    set_axes(b, &new_joint);
    new_joint.cone_scale = cone_scale_of(def);
    if (joint_is_geared(&new_joint) && set_gear_start(b, &new_joint, err) != VY_OK) return VY_BAD_VALUE;
    const vy_status error_status = vy_joint_set_initial_error(b, &new_joint, err);
    if (error_status != VY_OK) return error_status;
    const uint32_t i = s->first_free != 0 ? s->first_free - 1u : s->slot_count++;
    if (s->first_free != 0) s->first_free = s->slots[i].next;
    VY_ASSERT(i < s->slot_count && s->slot_count <= b->joint_cap && !s->slots[i].used);
    joint_slot *j = &s->slots[i];
    new_joint.generation = j->generation;
    *j = new_joint;
    j->block_count = block_count_of(def);
    j->unilateral_rows = unilateral_rows_of(def);
    VY_ASSERT(j->block_count <= JOINT_BLOCKS && j->unilateral_rows < 1u << (BLOCK_ROWS * j->block_count));
    if (j->initial_error.end > 0.0) start_closing(b, j);
    b->joint_state[i] = (joint_state){.motor_speed = def->motor_speed,
                                      .motor_gain = def->motor_gain,
                                      .max_motor_torque = def->max_motor_torque};
    b->joint_targets[i] = (joint_targets){.position = joint_has_targets(def) ? def->motor_target : 0.0};
    s->targeted_count += (uint32_t)joint_has_targets(def);
    b->joint_gears[i] = j->gear;
    s->geared_count += (uint32_t)joint_is_geared(j);
    b->head->revision += 1;
    s->count += 1;
    s->breakable_count += (uint32_t)joint_can_break(j);
    s->dirty = 1;
    vy_sleep_wake_joint(b, i);
    if (out != NULL) out->bits = ((uint64_t)j->generation << 32) | (i + 1u);
    return VY_OK;
}

int64_t vy_joints_find(const vy_bodies *b, vy_joint_id id)
{
    const joint_system *s = b->joints;
    const uint64_t i = (id.bits & 0xffffffffu) - 1u;
    if (i >= s->slot_count || !s->slots[i].used || s->slots[i].generation != id.bits >> 32) return -1;
    return (int64_t)i;
}

vy_joint_id vy_joints_at(const vy_bodies *b, uint32_t slot)
{
    const joint_system *s = b->joints;
    if (slot >= s->slot_count || !s->slots[slot].used) return VY_NULL_JOINT;
    return (vy_joint_id){(uint64_t)s->slots[slot].generation << 32 | (slot + 1u)};
}

static void remove_slot(vy_bodies *b, uint32_t i)
{
    VY_ASSERT(i < b->joints->slot_count && b->joints->slots[i].used && b->joints->count > 0);
    joint_system *s = b->joints;
    vy_sleep_wake_joint(b, i);
    s->breakable_count -= (uint32_t)joint_can_break(&s->slots[i]);
    s->targeted_count -= (uint32_t)joint_has_targets(&s->slots[i].def);
    s->geared_count -= (uint32_t)joint_is_geared(&s->slots[i]);
    b->joint_gears[i] = (joint_gear){{0.0, 0.0}};
    b->joint_targets[i] = (joint_targets){.position = 0.0};
    s->slots[i] = (joint_slot){.generation = s->slots[i].generation + 1u, .next = s->first_free};
    s->first_free = i + 1u;
    b->joint_state[i] = (joint_state){.active = 0};
    b->head->revision += 1;
    s->count -= 1;
    s->dirty = 1;
}

vy_status vy_bodies_remove_joint(vy_bodies *b, vy_joint_id id)
{
    const int64_t i = vy_joints_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    remove_slot(b, (uint32_t)i);
    return VY_OK;
}

void vy_joints_remove_body(vy_bodies *b, uint32_t body)
{
    joint_system *s = b->joints;
    vy_closing_remove_body(b, body);
    for (uint32_t i = 0; i < s->slot_count; ++i) {
        if (s->slots[i].used && (s->slots[i].body[0] == body || s->slots[i].body[1] == body))
            remove_slot(b, i);
    }
}

void vy_joints_clear_multipliers(vy_bodies *b)
{
    joint_system *s = b->joints;
    for (uint32_t i = 0; i < s->slot_count; ++i) {
        s->slots[i].lambda[0] = s->slots[i].lambda[1] = vec3_zero();
        s->slots[i].mean_force = s->slots[i].mean_torque = 0.0;
        s->slots[i].broke_in_step = 0;
        s->slots[i].gear = b->joint_gears[i];
    }
}

int vy_body_has_joint(const vy_bodies *b, vy_body_id id)
{
    const int64_t i = vy_bodies_find(b, id);
    return i >= 0 && b->joints->first_joint[i];
}

uint32_t vy_bodies_joint_count(const vy_bodies *b) { return b->joints->count; }

vy_status vy_joint_set_frames(const vy_bodies *bodies, vy_body_id a, vy_body_id b, vy_vec3 point,
                              vy_vec3 axis, vy_joint_def *def)
{
    FPU_SCOPE;
    const int64_t slot_a = body_slot_of(bodies, a), slot_b = body_slot_of(bodies, b);
    if (slot_a < 0 || slot_b < 0) return VY_NOT_FOUND;
    def->body_a = a;
    def->body_b = b;
    def->anchor_a = quat_unrotate(attitude_of(bodies, slot_a), vec3_sub(point, position_of(bodies, slot_a)));
    def->anchor_b = quat_unrotate(attitude_of(bodies, slot_b), vec3_sub(point, position_of(bodies, slot_b)));
    def->axis_a = quat_unrotate(attitude_of(bodies, slot_a), axis);
    const vec3 axis_b =
        vy_joint_has(def->kind, VY_JOINT_PERPENDICULAR) ? perpendicular(unit_vector(axis)) : axis;
    def->axis_b = quat_unrotate(attitude_of(bodies, slot_b), axis_b);
    return VY_OK;
}

// ---- reading one

vy_status vy_joint_read(const vy_bodies *b, vy_joint_id id, vy_joint_state *out)
{
    FPU_SCOPE;
    const int64_t i = vy_joints_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    const joint_slot *j = &b->joints->slots[i];
    const body_state sa = state_at(b, j->body[0]), sb = state_at(b, j->body[1]);
    const double time = vy_bodies_time(b);
    joint_slot closed_joint = *j; // C is that of the joint as it will be
    closed_joint.initial_error.end = 0.0;
    vy_joint_values(&closed_joint, &sa, &sb, time, out->value);
    out->closing_time = real_max(j->initial_error.end - time, 0.0);
    const vec3 anchor_a = vec3_add(sa.position, quat_rotate(sa.attitude, j->def.anchor_a));
    const vec3 anchor_b = vec3_add(sb.position, quat_rotate(sb.attitude, j->def.anchor_b));
    out->gap = vec3_length(vec3_sub(anchor_b, anchor_a));
    vy_joint_coordinate(j, &sa, &sb, &out->angle, &out->rate);
    out->active = vy_joint_is_active(b, id);
    out->turned[0] = joint_is_geared(j) ? j->gear_start[0] - vy_gear_angles(j, &sa, &sb).angle[0] : 0.0;
    out->turned[1] = joint_is_geared(j) ? j->gear_start[1] - vy_gear_angles(j, &sa, &sb).angle[1] : 0.0;
    out->swing = j->def.cone > 0.0 ? vy_joint_swing(j, &sa, &sb) : 0.0;
    const joint_load load = vy_joint_load(j, &b->joint_state[i], &b->joint_targets[i], &sa, &sb, time);
    out->force = load.force;
    out->torque = load.torque;
    out->broken = joint_is_broken(&b->joint_state[i]);
    out->mean_force = j->mean_force;
    out->mean_torque = j->mean_torque;
    const int has_length = vy_joint_has(j->def.kind, VY_JOINT_HAS_LENGTH);
    out->length = has_length ? vy_joint_length(j, &sa, &sb) : vy_joint_translation(j, &sa, &sb);
    out->tension = 0.0;
    if (vy_joint_has(j->def.kind, VY_JOINT_HAS_WHEELS))
        out->tension = vec3_length(out->force) / j->def.ratio; // it only pulls
    else if (has_length && out->gap > 0.0)
        out->tension = vec3_dot(out->force, vec3_sub(anchor_a, anchor_b)) / out->gap;
    return VY_OK;
}

int vy_joint_is_active(const vy_bodies *b, vy_joint_id id)
{
    const int64_t i = vy_joints_find(b, id);
    if (i < 0) return 0;
    if (joint_is_broken(&b->joint_state[i])) return 0;
    const joint_slot *j = &b->joints->slots[i];
    return j->unilateral_rows == 0 || b->joint_state[i].active != 0;
}

vy_bodies_energy vy_joints_add_energy(const vy_bodies *b, vy_bodies_energy energy)
{
    const joint_system *s = b->joints;
    for (uint32_t i = 0; i < s->slot_count; ++i) {
        const joint_slot *j = &s->slots[i];
        if (!j->used) continue;
        const body_state sa = state_at(b, j->body[0]), sb = state_at(b, j->body[1]);
        energy.potential += vy_joint_energy(j, &b->joint_state[i], &sa, &sb);
    }
    energy.closing = vy_closing_work(b);
    return energy;
}

vy_status vy_joint_set_motor(vy_bodies *b, vy_joint_id id, double speed, double gain, double torque)
{
    FPU_SCOPE;
    const int64_t i = vy_joints_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    if (!real_is_finite(speed) || !is_finite_non_negative(gain) || !is_finite_non_negative(torque))
        return VY_BAD_VALUE;
    const vy_joint_kind kind = b->joints->slots[i].def.kind;
    if (!vy_joint_has(kind, VY_JOINT_TURNS | VY_JOINT_SLIDES)) return VY_BAD_VALUE;
    joint_state *state = &b->joint_state[i];
    vy_sleep_wake_joint(b, (uint32_t)i);
    state->motor_speed = speed;
    state->motor_gain = gain;
    state->max_motor_torque = torque;
    return VY_OK;
}

vy_status vy_joint_set_target(vy_bodies *b, vy_joint_id id, double target)
{
    const int64_t i = vy_joints_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    if (!real_is_finite(target) || !joint_has_targets(&b->joints->slots[i].def)) return VY_BAD_VALUE;
    vy_sleep_wake_joint(b, (uint32_t)i);
    b->joint_targets[i].position = target;
    return VY_OK;
}

// A joint whose limits are others from now on.
static vy_status change_stops(vy_bodies *b, uint32_t i, joint_slot *changed, vy_error *err)
{
    vy_status status = vy_joint_check(&changed->def, err);
    if (status == VY_OK) status = vy_joint_set_limit_error(b, changed, err);
    if (status != VY_OK) return status;
    changed->block_count = block_count_of(&changed->def);
    changed->unilateral_rows = unilateral_rows_of(&changed->def);
    vy_sleep_wake_joint(b, i);
    b->joints->slots[i] = *changed;
    b->joint_state[i].active &= JOINT_BROKEN; // the next step finds which stops act
    b->joints->dirty = 1;
    if (changed->initial_error.end > 0.0) start_closing(b, changed);
    return VY_OK;
}

vy_status vy_joint_set_limits(vy_bodies *b, vy_joint_id id, int limited, double low, double high,
                              vy_error *err)
{
    FPU_SCOPE;
    const int64_t i = vy_joints_find(b, id);
    if (i < 0) return vy_fail(err, VY_NOT_FOUND, "no such joint in this set");
    joint_slot changed = b->joints->slots[i];
    changed.def.limited = limited != 0;
    if (limited) {
        changed.def.low = low;
        changed.def.high = high;
    } else if (!vy_joint_has(changed.def.kind, VY_JOINT_TURNS | VY_JOINT_SLIDES) && changed.def.cone == 0.0) {
        return vy_fail(err, VY_BAD_VALUE, "a %s joint has no limits", vy_joint_kind_name(changed.def.kind));
    }
    return change_stops(b, (uint32_t)i, &changed, err);
}

vy_status vy_joint_set_cone(vy_bodies *b, vy_joint_id id, double cone, vy_error *err)
{
    FPU_SCOPE;
    const int64_t i = vy_joints_find(b, id);
    if (i < 0) return vy_fail(err, VY_NOT_FOUND, "no such joint in this set");
    joint_slot changed = b->joints->slots[i];
    if (!vy_joint_has(changed.def.kind, VY_JOINT_HAS_CONE))
        return vy_fail(err, VY_BAD_VALUE, "a %s joint has no cone", vy_joint_kind_name(changed.def.kind));
    const int had_cone = changed.def.cone > 0.0;
    changed.def.cone = cone;
    const vy_status status = vy_joint_check(&changed.def, err);
    if (status != VY_OK) return status;
    if (!had_cone) set_axes(b, &changed);
    changed.cone_scale = cone_scale_of(&changed.def);
    return change_stops(b, (uint32_t)i, &changed, err);
}

vy_status vy_joint_set_spring(vy_bodies *b, vy_joint_id id, double stiffness, double damping, double rest,
                              vy_error *err)
{
    FPU_SCOPE;
    const int64_t i = vy_joints_find(b, id);
    if (i < 0) return vy_fail(err, VY_NOT_FOUND, "no such joint in this set");
    vy_joint_def def = b->joints->slots[i].def;
    if (!vy_joint_has(def.kind, VY_JOINT_HAS_SPRING | VY_JOINT_TURNS | VY_JOINT_SLIDES))
        return vy_fail(err, VY_BAD_VALUE, "a %s joint has no spring", vy_joint_kind_name(def.kind));
    def.stiffness = stiffness;
    def.damping = damping;
    *(vy_joint_has(def.kind, VY_JOINT_HAS_SPRING) ? &def.length : &def.rest) = rest;
    const vy_status status = vy_joint_check(&def, err);
    if (status != VY_OK) return status;
    vy_sleep_wake_joint(b, (uint32_t)i);
    b->joints->slots[i].def = def;
    return VY_OK;
}

vy_status vy_joint_set_break(vy_bodies *b, vy_joint_id id, double force, double torque, vy_error *err)
{
    FPU_SCOPE;
    const int64_t i = vy_joints_find(b, id);
    if (i < 0) return vy_fail(err, VY_NOT_FOUND, "no such joint in this set");
    joint_slot *j = &b->joints->slots[i];
    vy_joint_def def = j->def;
    def.break_force = force;
    def.break_torque = torque;
    const vy_status status = vy_joint_check(&def, err);
    if (status != VY_OK) return status;
    vy_sleep_wake_joint(b, (uint32_t)i);
    b->joints->breakable_count -= (uint32_t)joint_can_break(j);
    j->def = def;
    b->joints->breakable_count += (uint32_t)joint_can_break(j);
    return VY_OK;
}

// ---- constraints of one body, over (x, y, z, w, x, y, z)

double vy_unit_quaternion_value(vy_quat q)
{
    FPU_SCOPE;
    return fpu_result(quat_dot(q, q) - 1.0);
}

void vy_unit_quaternion_jacobian(vy_quat q, double row[7])
{
    FPU_SCOPE;
    row[0] = row[1] = row[2] = 0.0;
    row[3] = 2.0 * q.w;
    row[4] = 2.0 * q.x;
    row[5] = 2.0 * q.y;
    row[6] = 2.0 * q.z;
}

void vy_unit_quaternion_enforce(double alpha, double beta, vy_quat *q, vy_quat *rate)
{
    FPU_SCOPE;
    *q = quat_normalize(*q);
    *rate = quat_add_scaled(*rate, -quat_dot(*q, *rate), *q);
    const double value = quat_dot(*q, *q) - 1.0, speed = 2.0 * quat_dot(*q, *rate);
    *rate = quat_add_scaled(*rate, -2.0 * (alpha * value + beta * speed), *q);
}

vy_status vy_distance_value(vy_vec3 position, double distance, double *value, double row[7])
{
    FPU_SCOPE;
    if (!is_finite_non_negative(distance)) return VY_BAD_DISTANCE;
    *value = vec3_dot(position, position) - distance * distance;
    row[0] = 2.0 * position.x;
    row[1] = 2.0 * position.y;
    row[2] = 2.0 * position.z;
    row[3] = row[4] = row[5] = row[6] = 0.0;
    return VY_OK;
}
