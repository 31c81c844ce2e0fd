// snapshot.c - whether the bytes of a snapshot can be a state of this world.
//
// A snapshot may come from a damaged or forged log. Whatever a step uses as an index, a count, a choice or a
// mask is looked at here, once, so that no step has to.
#include "base/fail.h"
#include "base/assert.h"
#include "base/finite.h"
#include "world/kit.h"
#include "world/world_impl.h"

// Beyond this, time is not exact any more.
#define TICK_MOST ((uint64_t)1 << 53)

typedef struct snapshot {
    const vy_world *world;
    const unsigned char *bytes;
    const world_block *head;
    vy_error *err;
} snapshot;

// Block `index` of those that begin at `mine` in the world's own state.
static void copy_block(const snapshot *s, const void *mine, uint32_t index, void *out, size_t size)
{
    const size_t at = (size_t)((const unsigned char *)mine - (const unsigned char *)s->world->state);
    VY_ASSERT(at >= sizeof(world_block) && at % 8 == 0);
    VY_ASSERT(at + (index + 1) * size <= s->world->state_size);
    memcpy(out, s->bytes + at + index * size, size);
}

static vy_status refuse(const snapshot *s, const char *of, uint32_t index, const char *what)
{
    return vy_fail(s->err, VY_BAD_VALUE, "snapshot: %s %u: %s that it cannot have", of, index, what);
}

static vy_status check_head(const snapshot *s)
{
    const world_block *head = s->head;
    block_counts counts;
    if (!vy_read_entries(s->bytes, s->world->state_size, &counts) ||
        memcmp(&counts, &s->world->counts, sizeof counts) != 0)
        return vy_fail(s->err, VY_BAD_VALUE, "snapshot: not of a world with the same drones and noise");
    if (head->tick > TICK_MOST) return vy_fail(s->err, VY_BAD_VALUE, "snapshot: a tick beyond all time");
    const int failed = head->failure_reason != VY_FAILURE_NONE;
    if (head->failure_reason > VY_FAILURE_FENCE ||
        head->failure_field >= (uint64_t)vy_blocks[BLOCK_drone].field_count ||
        (failed && (head->failure_drone >= counts.of[BLOCK_drone] || head->failure_tick > head->tick)))
        return vy_fail(s->err, VY_BAD_VALUE, "snapshot: a failure that this world cannot have");
    const vy_integrator integrator = (vy_integrator)head->integrator;
    if (head->integrator > INT32_MAX || vy_integrator_order(integrator) == 0 ||
        (s->world->model.physics.engine == VY_ENGINE_SIMPLE && integrator != VY_INTEGRATOR_RK4))
        return vy_fail(s->err, VY_BAD_VALUE, "snapshot: an integrator that this world cannot have");
    return VY_OK;
}

static vy_status check_drone(const snapshot *s, uint32_t i)
{
    const vy_model *m = &s->world->model;
    drone_block d;
    copy_block(s, s->world->drones, i, &d, sizeof d);
    // What rotors' effects remember lies in the gear.
    if ((d.effects & ~(m->geared ? EFFECTS_ALL : EFFECTS_OF_BODIES)) != 0)
        return refuse(s, "drone", i, "effects");
    if (d.rung > VY_RUNG_PILOT) return refuse(s, "drone", i, "a rung");
    // A world that runs has a finite state; one that ended may have ended over that.
    if (s->head->failure_reason == VY_FAILURE_NONE && !vy_all_finite(&d.body.position.x, DRONE_REALS))
        return refuse(s, "drone", i, "a value");
    if (!m->guarded) return VY_OK;
    guard_block g;
    copy_block(s, s->world->guards, i, &g, sizeof g);
    if (g.failsafe > VY_FAILSAFE_CUT || g.cause > VY_HANDOVER_CONTROLLER || g.lost >> VY_ROTOR_CAP != 0)
        return refuse(s, "drone", i, "a failsafe");
    return VY_OK;
}

static vy_status check_payloads_and_joints(const snapshot *s)
{
    const vy_model *m = &s->world->model;
    for (uint32_t i = 0; i < m->payload_count; ++i) {
        payload_block p;
        copy_block(s, s->world->payloads, i, &p, sizeof p);
        if (p.carried > PAYLOAD_RELEASED) return refuse(s, "payload", i, "a carrier");
    }
    for (uint32_t i = 0; i < m->joint_count; ++i) {
        joint_block t;
        copy_block(s, s->world->joint_states, i, &t, sizeof t);
        if (t.active >> VY_CONSTRAINT_ROWS != 0) return refuse(s, "joint", i, "active rows");
    }
    return VY_OK;
}

static vy_status check_kits(const snapshot *s)
{
    const vy_model *m = &s->world->model;
    for (uint32_t i = 0; i < m->kit_count && s->head->tick > 0; ++i) {
        kit_block k;
        copy_block(s, s->world->kits, i, &k, sizeof k);
        if (k.identity != m->kits[i].identity)
            return vy_fail(s->err, VY_BAD_VALUE, "snapshot: not of a world with the same sensors");
    }
    return VY_OK;
}

vy_status vy_snapshot_check(const vy_world *world, const void *block, size_t size, vy_error *err)
{
    world_block head;
    if (size != world->state_size) {
        return vy_fail(err, VY_BAD_VALUE, "snapshot: %zu bytes, but this world's state has %zu", size,
                       world->state_size);
    }
    memcpy(&head, block, sizeof head);
    const snapshot s = {world, block, &head, err};
    vy_status status = check_head(&s);
    for (uint32_t i = 0; i < world->model.drone_count && status == VY_OK; ++i) status = check_drone(&s, i);
    if (status == VY_OK) status = check_payloads_and_joints(&s);
    if (status == VY_OK && world->contact_totals != NULL && !vy_contact_state_check(world, block))
        status = vy_fail(err, VY_BAD_VALUE, "snapshot: contacts that this world cannot have");
    if (status == VY_OK) status = check_kits(&s);
    return status;
}
