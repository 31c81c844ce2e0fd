// snapshot.c - whether the bytes of a snapshot can be a state of this world.
//
// A snapshot may come from a damaged or forged log. Everything that a step uses as an index, a count, a
// choice or a mask is checked here, once.
#include "base/fail.h"
#include "base/assert.h"
#include "base/finite.h"
#include "world/sensor_suite.h"
#include "world/contact_stage.h"
#include "world/world_impl.h"

// Beyond this, time is not exact any more.
#define TICK_MAX ((uint64_t)1 << 53)

/// A snapshot that is being checked against a world.
typedef struct snapshot {
    const vy_world *world;
    const unsigned char *bytes; // [size]
    size_t size;
    const world_block *head;    // a copy of its first block
    const block_counts *counts; // that its head names
    vy_error *err;
} snapshot;

// Block `index` of a kind.
static void copy_block(const snapshot *s, enum block_kind kind, uint32_t index, void *out)
{
    const size_t size = vy_blocks[kind].size, offset = block_offset(s->counts, kind) + index * size;
    VY_ASSERT(index < s->counts->of[kind] && offset + size <= s->size);
    memcpy(out, s->bytes + offset, size);
}

static vy_status fail_snapshot(const snapshot *s, const char *block_name, uint32_t index, const char *member)
{
    return vy_fail(s->err, VY_BAD_VALUE, "snapshot: %s %u: invalid %s", block_name, index, member);
}

// The blocks that it has are those of the world, but for contacts and injections: there may be more or fewer
// at any moment.
static int counts_match(const vy_world *world, const block_counts *counts)
{
    block_counts snapshot_counts = *counts, world_counts = world->counts;
    snapshot_counts.of[BLOCK_contact] = snapshot_counts.of[BLOCK_sleeping_contact] = 0;
    snapshot_counts.of[BLOCK_injection] = world_counts.of[BLOCK_injection] = 0;
    vy_count_head(&snapshot_counts);
    vy_count_head(&world_counts);
    return memcmp(&snapshot_counts, &world_counts, sizeof snapshot_counts) == 0;
}

static vy_status check_injections(const snapshot *s)
{
    const uint32_t count = s->counts->of[BLOCK_injection];
    injection_block blocks[VY_INJECTION_CAP];
    if (count > VY_INJECTION_CAP) return fail_snapshot(s, "world", 0, "number of injections");
    for (uint32_t i = 0; i < count; ++i) copy_block(s, BLOCK_injection, i, &blocks[i]);
    return vy_injection_check(s->world, blocks, count, s->head->tick, s->err);
}

static vy_status check_head(const snapshot *s, const block_counts *counts)
{
    const world_block *head = s->head;
    if (head->tick > TICK_MAX) return vy_fail(s->err, VY_BAD_VALUE, "snapshot: tick out of range");
    const int has_failed = head->failure_reason != VY_FAILURE_NONE;
    const uint64_t drone_count = counts->of[BLOCK_drone], body_total = drone_count + counts->of[BLOCK_body];
    const vy_block *failed_kind =
        &vy_blocks[head->failure_body < drone_count || !has_failed ? BLOCK_drone : BLOCK_body];
    if (head->failure_reason > VY_FAILURE_NO_MEMORY ||
        head->failure_field >= (uint64_t)failed_kind->field_count ||
        (has_failed && (head->failure_body >= body_total || head->failure_tick > head->tick)))
        return vy_fail(s->err, VY_BAD_VALUE, "snapshot: a failure that this world cannot have");
    const vy_integrator integrator = (vy_integrator)head->integrator;
    if (head->integrator > INT32_MAX || vy_integrator_order(integrator) == 0 ||
        (s->world->model.physics.engine == VY_ENGINE_SIMPLE && integrator != VY_INTEGRATOR_RK4))
        return vy_fail(s->err, VY_BAD_VALUE, "snapshot: an integrator that this world cannot have");
    return VY_OK;
}

// What collides is put where its attitude says before a step could make that one of length 1 again.
static int attitude_is_possible(const snapshot *s, quat attitude)
{
    return !s->world->model.collides || s->head->failure_reason != VY_FAILURE_NONE || quat_is_unit(attitude);
}

static vy_status check_drone(const snapshot *s, uint32_t i)
{
    const vy_model *m = &s->world->model;
    drone_block d;
    copy_block(s, BLOCK_drone, i, &d);
    // The state of the rotors' effects is in the powertrain.
    if ((d.effects & ~(m->has_powertrain ? EFFECTS_ALL : EFFECTS_OF_BODIES)) != 0)
        return fail_snapshot(s, "drone", i, "effects");
    if (d.rung > VY_RUNG_PILOT) return fail_snapshot(s, "drone", i, "rung");
    // A world that runs has a finite state; one that ended may have ended over that.
    if (s->head->failure_reason == VY_FAILURE_NONE && !vy_all_bounded(&d.body.position.x, DRONE_REALS))
        return fail_snapshot(s, "drone", i, "value");
    if (!attitude_is_possible(s, d.body.attitude)) return fail_snapshot(s, "drone", i, "attitude");
    if (!m->has_supervisor) return VY_OK;
    supervisor_block supervisor;
    copy_block(s, BLOCK_supervisor, i, &supervisor);
    if (supervisor.failsafe > VY_FAILSAFE_CUT || supervisor.cause > VY_HANDOVER_CONTROLLER ||
        supervisor.lost >> VY_ROTOR_CAP != 0)
        return fail_snapshot(s, "drone", i, "failsafe");
    return VY_OK;
}

static vy_status check_body(const snapshot *s, uint32_t k)
{
    body_block b;
    copy_block(s, BLOCK_body, k, &b);
    if ((b.effects & ~(s->world->model.wakes.on ? EFFECTS_ALL : EFFECTS_OF_BODIES)) != 0)
        return fail_snapshot(s, "body", k, "effects");
    if (s->head->failure_reason == VY_FAILURE_NONE && !vy_all_bounded(&b.body.position.x, BODY_REALS))
        return fail_snapshot(s, "body", k, "value");
    if (!attitude_is_possible(s, b.body.attitude)) return fail_snapshot(s, "body", k, "attitude");
    return VY_OK;
}

// Carrier and load are one body with a mass and an inertia: they are not farther apart than they can be put,
// with room for another reach.
static int position_is_possible(const payload_model *m, const payload_block *p)
{
    const double distance_max = 1000.0 + m->reach, square = quat_dot(p->rotation, p->rotation);
    return vec3_length(vec3_sub(p->position, m->position)) <= distance_max && real_abs(square - 1.0) < 1e-6;
}

static vy_status check_payloads_and_joints(const snapshot *s)
{
    const vy_model *m = &s->world->model;
    for (uint32_t i = 0; i < m->payload_count; ++i) {
        payload_block p;
        copy_block(s, BLOCK_payload, i, &p);
        if (p.carried > PAYLOAD_RELEASED) return fail_snapshot(s, "payload", i, "carrier");
        if (p.carried != PAYLOAD_FREE && !position_is_possible(&m->payloads[i], &p))
            return fail_snapshot(s, "payload", i, "position");
    }
    for (uint32_t i = 0; i < m->joint_count; ++i) {
        joint_block joint;
        copy_block(s, BLOCK_joint, i, &joint);
        const int can_break = joint_can_break(&s->world->bodies->joints->slots[i]);
        if (joint.active >> VY_CONSTRAINT_ROWS != 0 && !(can_break && joint.active == JOINT_BROKEN))
            return fail_snapshot(s, "joint", i, "active rows");
    }
    for (uint32_t i = 0; i < m->joint_count && m->has_gears; ++i) {
        gear_block joint;
        copy_block(s, BLOCK_gear, i, &joint);
        if (!vy_all_bounded(joint.angle, 2)) return fail_snapshot(s, "gear", i, "angle");
    }
    return VY_OK;
}

static vy_status check_sensor_suites(const snapshot *s)
{
    const vy_model *m = &s->world->model;
    for (uint32_t i = 0; i < m->sensor_suite_count && s->head->tick > 0; ++i) {
        sensor_suite_block suite;
        copy_block(s, BLOCK_sensor_suite, i, &suite);
        if (suite.identity != m->sensor_suites[i].identity)
            return vy_fail(s->err, VY_BAD_VALUE, "snapshot: not of a world with the same sensors");
    }
    return VY_OK;
}

vy_status vy_snapshot_check(const vy_world *world, const void *block, size_t size, block_counts *counts,
                            vy_error *err)
{
    world_block head;
    if (!vy_read_entries(block, size, counts) || !counts_match(world, counts)) {
        if (size == world->state_size)
            return vy_fail(err, VY_BAD_VALUE,
                           "snapshot: not of a world with the same drones, sensors and noise");
        return vy_fail(err, VY_BAD_VALUE,
                       "snapshot: %zu bytes, not of a world with the same drones, sensors and noise, whose "
                       "state has %zu",
                       size, world->state_size);
    }
    memcpy(&head, block, sizeof head);
    const snapshot s = {world, block, size, &head, counts, err};
    vy_status status = check_head(&s, counts);
    for (uint32_t i = 0; i < world->model.drone_count && status == VY_OK; ++i) status = check_drone(&s, i);
    for (uint32_t k = 0; k < world->model.passive_count && status == VY_OK; ++k) status = check_body(&s, k);
    if (status == VY_OK) status = check_payloads_and_joints(&s);
    if (status == VY_OK && world->contact_totals != NULL && !vy_contact_state_check(world, block, counts))
        status = vy_fail(err, VY_BAD_VALUE, "snapshot: contacts that this world cannot have");
    if (status == VY_OK) status = check_sensor_suites(&s);
    if (status == VY_OK) status = check_injections(&s);
    return status;
}
