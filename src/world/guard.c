// guard.c - the drive abstraction layer of a vehicle that declares one: limits between intent and motors, and
// a failsafe that takes over when no usable intent comes.
//
// The failsafe flies by loops of its own, so that the controller's intent stays as it is and acts again, bit
// for bit, when a deadline was all that had passed.
#include "world/guard.h"
#include "base/assert.h"
#include "base/math.h"
#include "world/steer.h"

/// [m] The wanted height of a landing leads the drone's by no more.
#define LAND_LEAD 0.5
/// [s] A drone that lags so far and does not sink for so long stands on something.
#define LAND_HELD 0.5
/// Of land_speed: slower is not sinking.
#define LAND_STILL 0.25
/// A command above this one, and a speed below this share of the commanded one: a rotor that does not follow.
#define LOST_COMMAND 0.1
#define LOST_SHARE   0.5

const char *vy_drive_limit_name(vy_drive_limit limit)
{
    static const char *const names[VY_DRIVE_LIMIT_COUNT] = {"speed", "climb",   "tilt",
                                                            "rate",  "command", "slew"};
    return (unsigned)limit < VY_DRIVE_LIMIT_COUNT ? names[limit] : "unknown";
}

int vy_drive_is_declared(const vy_drive_def *d)
{
    return d->speed_max > 0.0 || d->climb_max > 0.0 || d->tilt_max > 0.0 || d->rate_max > 0.0 ||
           d->command_min > 0.0 || d->command_max > 0.0 || d->slew > 0.0 || d->rotor_loss > 0.0 ||
           d->failsafe != VY_FAILSAFE_NONE;
}

static uint64_t steps_of(const vy_model *world, double seconds)
{
    VY_ASSERT(world->dt > 0.0);
    return seconds > 0.0 ? (uint64_t)real_max(real_round(real_min(seconds / world->dt, 1e15)), 1.0) : 0;
}

void vy_drive_build(const vy_model *world, const vy_drone_def *def, drone_model *out)
{
    const vy_drive_def *d = &def->vehicle.drive;
    const vy_safety_def *s = &def->safety;
    // Nobody steers: the motors stay as they are, and there is nothing to limit.
    out->driven = vy_drive_is_declared(d) && def->controller.kind != VY_CONTROLLER_NONE;
    out->guarded = out->driven || s->fall_max > 0.0 || s->ground || s->fence.kind != VY_FENCE_NONE;
    out->drive = (drive_model){
        .def = *d,
        .slew = d->slew * def->controller.rate_period,
        .deadline = steps_of(world, d->deadline),
        .rotor_loss = steps_of(world, d->rotor_loss),
        .held = steps_of(world, LAND_HELD),
    };
    if (d->tilt_max > 0.0) math_sincos(d->tilt_max, &out->drive.sin_tilt, &out->drive.cos_tilt);
}

void vy_guard_start(const vy_model *world, const drone_block *drones, guard_block *out)
{
    for (uint32_t i = 0; i < world->drone_count; ++i) {
        guard_block *g = &out[i];
        memset(g, 0, sizeof *g);
        g->control.attitude = quat_identity();
        memcpy(g->asked, drones[i].control.motors, sizeof g->asked);
        memcpy(g->told, drones[i].control.motors, sizeof g->told);
    }
}

int vy_guard_listens(const vy_world *world, uint32_t index)
{
    VY_ASSERT(index < world->model.drone_count && world->model.guarded);
    return !world->model.drones[index].driven || world->guards[index].cause <= VY_HANDOVER_DEADLINE;
}

void vy_guard_mark(const vy_world *world, uint32_t index, int fresh)
{
    VY_ASSERT(index < world->model.drone_count);
    if (world->model.guarded) world->fresh[index] = (unsigned char)fresh;
}

static void take_over(const vy_model *m, uint32_t index, uint64_t tick, vy_handover cause,
                      const drone_block *d, guard_block *g)
{
    const ladder_params *p = &m->params[index].ladder;
    g->handovers += 1;
    VY_ASSERT(cause != VY_HANDOVER_NONE && m->drones[index].drive.def.failsafe != VY_FAILSAFE_NONE);
    g->cause = cause;
    g->since = tick;
    g->still = 0;
    if (g->failsafe != VY_FAILSAFE_NONE) return; // it flies already, for a cause that has passed
    g->failsafe = m->drones[index].drive.def.failsafe;
    g->place = d->estimate.position;
    g->heading = yaw_of(d->estimate.attitude);
    memcpy(g->control.motors, g->told, sizeof g->told);
    control_enter(p, VY_RUNG_NONE, VY_RUNG_ATTITUDE, 1, &d->estimate, &g->control);
    g->control.integral = vec3_zero();
}

int vy_guard_take_over(const vy_world *world, uint32_t index, vy_handover cause, const vy_intent *reply)
{
    const drone_model *dm = &world->model.drones[index];
    if (!dm->driven || dm->drive.def.failsafe == VY_FAILSAFE_NONE) return 0;
    VY_ASSERT(dm->guarded); // who has a drive has a guard_block
    guard_block *g = &world->guards[index];
    take_over(&world->model, index, world->state->tick, cause, &world->drones[index], g);
    g->verdict = (uint64_t)reply->verdict;
    g->detail = (uint64_t)(int64_t)reply->detail;
    return 1;
}

// Attitude and thrust that the failsafe wants. Its loop runs with the rate loops: `p` says so.
static void fly_failsafe(const ladder_params *p, const drive_model *dm, double dt, uint64_t tick,
                         const estimator_state *e, guard_block *g)
{
    reference r = {.position = g->place, .heading = heading_of(g->heading)};
    if (g->failsafe == VY_FAILSAFE_LAND) {
        const double sunk = dm->def.land_speed * ((double)(tick - g->since) * dt);
        r.position.z = real_max(g->place.z - sunk, e->position.z - LAND_LEAD);
        r.velocity.z = -dm->def.land_speed;
    }
    g->control.thrust = lower_position(p, &r, e, &g->control.integral, &g->control.attitude);
}

// Something holds a landing drone where it is: it has landed, and the motors stop.
static void look_for_ground(const drive_model *dm, double dt, uint64_t tick, const estimator_state *e,
                            guard_block *g)
{
    const double wanted = g->place.z - dm->def.land_speed * ((double)(tick - g->since) * dt);
    const int held =
        e->position.z - wanted > LAND_LEAD && real_abs(e->velocity.z) < LAND_STILL * dm->def.land_speed;
    g->still = held ? g->still + 1 : 0;
    if (g->still > dm->held) g->failsafe = VY_FAILSAFE_CUT;
}

// A rotor that does not follow its command for long enough is lost, whatever the reason.
static void look_for_lost(const vy_model *m, uint32_t index, const drone_block *d, guard_block *g)
{
    const drive_model *dm = &m->drones[index].drive;
    VY_ASSERT(dm->rotor_loss > 0 && m->drones[index].layout.count <= VY_ROTOR_CAP);
    for (int i = 0; i < m->drones[index].layout.count; ++i) {
        const double wanted = motor_speed(&m->params[index].motor, g->told[i]);
        const int slow = g->told[i] > LOST_COMMAND && d->rotor_speed[i] < LOST_SHARE * wanted;
        g->slow[i] = slow ? g->slow[i] + 1 : 0;
        if (g->slow[i] >= dm->rotor_loss) g->lost |= (uint64_t)1 << i;
    }
}

// From what is asked of the motors to what they are told.
static void tell_motors(const drone_model *dm, int on, const double *asked, guard_block *g)
{
    const drive_model *drive = &dm->drive;
    const double low = on ? drive->def.command_min : 0.0;
    const double high = drive->def.command_max > 0.0 ? drive->def.command_max : 1.0;
    VY_ASSERT(low <= high && high <= 1.0 && drive->slew >= 0.0);
    VY_ASSERT(dm->layout.count + dm->layout.thrusters.count <= VY_ROTOR_CAP);
    for (int i = 0; i < dm->layout.count + dm->layout.thrusters.count; ++i) {
        const int idles = i < dm->layout.count && !(g->lost >> i & 1); // thrusters and lost rotors do not
        const double within = real_clamp(asked[i], idles ? low : 0.0, high);
        double told = within;
        if (drive->slew > 0.0) told = real_clamp(within, g->told[i] - drive->slew, g->told[i] + drive->slew);
        g->acted[VY_DRIVE_COMMAND] += within != asked[i];
        g->acted[VY_DRIVE_SLEW] += told != within;
        g->told[i] = told;
    }
}

// The intent, or the failsafe's, lowered to `asked`. Returns how many commands were clamped.
static double lower(const vy_model *m, uint32_t index, uint64_t tick, drone_block *d, guard_block *g,
                    double *asked)
{
    const drone_model *dm = &m->drones[index];
    const vy_drive_def *def = &dm->drive.def;
    const drive_limits limits = {def->speed_max, def->climb_max, dm->drive.cos_tilt, dm->drive.sin_tilt,
                                 def->rate_max};
    ladder_params p = m->params[index].ladder;
    control_state *c = &d->control;
    uint64_t rung = d->rung;
    for (int i = 0; i < dm->layout.count; ++i) {
        if (g->lost >> i & 1) p.limit[i] = 0.0;
    }
    if (g->failsafe == VY_FAILSAFE_CUT) {
        memset(asked, 0, VY_ROTOR_CAP * sizeof asked[0]);
        return 0.0;
    }
    if (g->failsafe != VY_FAILSAFE_NONE) {
        p.period = p.rate_period;
        c = &g->control;
        rung = VY_RUNG_ATTITUDE;
        fly_failsafe(&p, &dm->drive, m->dt, tick, &d->estimate, g);
    }
    memcpy(c->motors, rung < VY_RUNG_WRENCH ? g->asked : g->told, sizeof c->motors);
    const double count = control_lower_within(&p, &limits, g->acted, rung, 1, &d->estimate, c);
    memcpy(asked, c->motors, VY_ROTOR_CAP * sizeof asked[0]);
    return count;
}

static uint32_t drive(const vy_world *world, uint32_t index, uint64_t tick, drone_block *d, guard_block *g)
{
    const vy_model *m = &world->model;
    const drone_model *dm = &m->drones[index];
    const vy_controller_kind kind = dm->controller.kind;
    VY_ASSERT(kind != VY_CONTROLLER_NONE && dm->rate_period > 0); // somebody steers what is driven
    if (world->fresh[index]) {
        g->fresh = tick;
        if (g->cause == VY_HANDOVER_DEADLINE && g->failsafe != VY_FAILSAFE_CUT)
            g->failsafe = VY_FAILSAFE_NONE;
        memcpy(g->asked, d->control.motors, sizeof g->asked);
    }
    const int waits = kind != VY_CONTROLLER_INTENT && g->failsafe == VY_FAILSAFE_NONE;
    if (waits && dm->drive.deadline > 0 && tick - g->fresh > dm->drive.deadline)
        take_over(m, index, tick, VY_HANDOVER_DEADLINE, d, g);
    if (g->failsafe == VY_FAILSAFE_LAND) look_for_ground(&dm->drive, m->dt, tick, &d->estimate, g);
    if (dm->drive.rotor_loss > 0) look_for_lost(m, index, d, g);
    uint32_t events = 0;
    if (due(tick, dm->rate_period)) {
        double asked[VY_ROTOR_CAP];
        const double count = lower(m, index, tick, d, g, asked);
        const int on =
            g->failsafe != VY_FAILSAFE_CUT && (g->failsafe != VY_FAILSAFE_NONE || d->rung != VY_RUNG_NONE);
        tell_motors(dm, on, asked, g);
        d->clamps += (uint64_t)count;
        if (count > 0.0) events = VY_EVENT_CLAMPED;
    }
    memcpy(d->control.motors, g->told, sizeof g->told);
    return events;
}

uint32_t vy_guard_stage(const vy_world *world, world_block *w, drone_block *drones)
{
    const vy_model *m = &world->model;
    VY_ASSERT(world->counts.of[BLOCK_guard] == m->drone_count);
    uint32_t events = 0;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        if (m->drones[i].driven)
            events |= drive(world, i, w->tick, &drones[i], &world->guards[i]);
        else if (dal_drone(m, i, w->tick, &drones[i]))
            events |= VY_EVENT_CLAMPED;
        if (m->drones[i].guarded) vy_fence_check(world, i, &drones[i], &world->guards[i], w);
        world->fresh[i] = 0;
    }
    return events;
}
