// supervisor.c - the supervisor of a vehicle that declares a drive: limits between intent and motors, and a
// failsafe that takes over when no usable intent arrives.
//
// The failsafe has control loops of its own, so that the controller's intent stays unchanged and acts again,
// bit for bit, when the only cause was a missed deadline.
#include "world/supervisor.h"
#include "base/assert.h"
#include "base/math.h"
#include "world/controller_stage.h"

/// [m] The desired height of a landing leads the drone's by no more.
#define LAND_MAX_LEAD 0.5
/// Of land_speed: slower is not sinking.
#define LANDED_SPEED_FRACTION 0.25
/// A command above this one, and a speed below this share of the commanded one: a rotor that does not follow.
#define ROTOR_LOSS_COMMAND        0.1
#define ROTOR_LOSS_SPEED_FRACTION 0.5

const char *vy_drive_limit_name(vy_drive_limit limit)
{
    static const char *const names[VY_DRIVE_LIMIT_COUNT] = {"speed", "climb",   "tilt",
                                                            "rate",  "command", "slew"};
    return (unsigned)limit < VY_DRIVE_LIMIT_COUNT ? names[limit] : "unknown";
}

void vy_supervisor_build(const vy_model *world, const vy_drone_def *def, drone_model *out)
{
    const vy_drive_def *d = &def->vehicle.drive;
    const vy_safety_def *s = &def->safety;
    // No controller: the motors keep their commands, and there is nothing to limit.
    out->has_drive = vy_drive_is_declared(d) && def->controller.kind != VY_CONTROLLER_NONE;
    out->has_supervisor = out->has_drive || s->fall_max > 0.0 || s->ground || s->fence.kind != VY_FENCE_NONE;
    out->drive = vy_drive_build(d, world->dt, def->controller.rate_period);
}

void vy_supervisor_start(const vy_model *world, const drone_block *drones, supervisor_block *out)
{
    for (uint32_t i = 0; i < world->drone_count; ++i) {
        supervisor_block *g = &out[i];
        memset(g, 0, sizeof *g);
        g->control.attitude = quat_identity();
        memcpy(g->requested, drones[i].control.motors, sizeof g->requested);
        memcpy(g->applied, drones[i].control.motors, sizeof g->applied);
    }
}

int vy_supervisor_controller_active(const vy_model *m, uint32_t index, const supervisor_block *supervisors)
{
    VY_ASSERT(index < m->drone_count && m->has_supervisor);
    return !m->drones[index].has_drive || supervisors[index].cause <= VY_HANDOVER_DEADLINE;
}

static void take_over(const vy_model *m, uint32_t index, uint64_t tick, vy_handover cause,
                      const drone_block *d, supervisor_block *g)
{
    const ladder_params *p = &m->params[index].ladder;
    g->handovers += 1;
    VY_ASSERT(cause != VY_HANDOVER_NONE && m->drones[index].drive.def.failsafe != VY_FAILSAFE_NONE);
    g->cause = cause;
    g->since = tick;
    g->still_ticks = 0;
    if (g->failsafe != VY_FAILSAFE_NONE) return; // it is active already, for a cause that has passed
    g->failsafe = m->drones[index].drive.def.failsafe;
    g->position = d->estimate.position;
    g->heading = yaw_of(d->estimate.attitude);
    memcpy(g->control.motors, g->applied, sizeof g->applied);
    control_enter_rung(p, VY_RUNG_NONE, VY_RUNG_ATTITUDE, 1, &d->estimate, &g->control);
    g->control.integral = vec3_zero();
}

int vy_supervisor_take_over(const vy_model *m, uint32_t index, uint64_t tick, vy_handover cause,
                            const vy_intent *reply, const drone_block *d, supervisor_block *supervisors)
{
    const drone_model *dm = &m->drones[index];
    if (!dm->has_drive || dm->drive.def.failsafe == VY_FAILSAFE_NONE) return 0;
    VY_ASSERT(dm->has_supervisor); // a drone with a drive has a supervisor
    supervisor_block *g = &supervisors[index];
    take_over(m, index, tick, cause, d, g);
    g->verdict = (uint64_t)reply->verdict;
    g->detail = (uint64_t)(int64_t)reply->detail;
    return 1;
}

// Attitude and thrust that the failsafe wants. Its loop runs with the rate loops: `p` says so.
static void fly_failsafe(const ladder_params *p, const flight_limits_model *dm, double dt, uint64_t tick,
                         const estimator_state *e, supervisor_block *g)
{
    reference r = {.position = g->position, .heading = heading_of(g->heading)};
    if (g->failsafe == VY_FAILSAFE_LAND) {
        const double descent = dm->def.land_speed * ((double)(tick - g->since) * dt);
        r.position.z = real_max(g->position.z - descent, e->position.z - LAND_MAX_LEAD);
        r.velocity.z = -dm->def.land_speed;
    }
    g->control.thrust = lower_position(p, &r, e, &g->control.integral, &g->control.attitude);
}

// A landing drone that no longer sinks has landed: the motors stop.
static void detect_landing(const flight_limits_model *dm, double dt, uint64_t tick, const estimator_state *e,
                           supervisor_block *g)
{
    const double desired = g->position.z - dm->def.land_speed * ((double)(tick - g->since) * dt);
    const int is_stopped = e->position.z - desired > LAND_MAX_LEAD &&
                           real_abs(e->velocity.z) < LANDED_SPEED_FRACTION * dm->def.land_speed;
    g->still_ticks = is_stopped ? g->still_ticks + 1 : 0;
    if (g->still_ticks > dm->landed_ticks) g->failsafe = VY_FAILSAFE_CUT;
}

// A rotor that does not follow its command for long enough is lost, whatever the reason.
static void detect_rotor_loss(const vy_model *m, uint32_t index, const drone_block *d, supervisor_block *g)
{
    const flight_limits_model *dm = &m->drones[index].drive;
    VY_ASSERT(dm->rotor_loss > 0 && m->drones[index].layout.count <= VY_ROTOR_CAP);
    for (int i = 0; i < m->drones[index].layout.count; ++i) {
        const double desired = motor_speed(&m->params[index].motor, g->applied[i]);
        const int slow =
            g->applied[i] > ROTOR_LOSS_COMMAND && d->rotor_speed[i] < ROTOR_LOSS_SPEED_FRACTION * desired;
        g->slow_ticks[i] = slow ? g->slow_ticks[i] + 1 : 0;
        if (g->slow_ticks[i] >= dm->rotor_loss) g->lost |= (uint64_t)1 << i;
    }
}

// From requested to applied motor commands: the limits of the drive.
static void apply_drive_limits(const drone_model *dm, int is_armed, const double *requested,
                               supervisor_block *g)
{
    const flight_limits_model *drive = &dm->drive;
    const double low = is_armed ? drive->def.command_min : 0.0;
    const double high = drive->def.command_max > 0.0 ? drive->def.command_max : 1.0;
    VY_ASSERT(low <= high && high <= 1.0 && drive->slew >= 0.0);
    VY_ASSERT(dm->layout.count + dm->layout.thrusters.count <= VY_ROTOR_CAP);
    for (int i = 0; i < dm->layout.count + dm->layout.thrusters.count; ++i) {
        const int idles = i < dm->layout.count && !(g->lost >> i & 1); // thrusters and lost rotors do not
        const double clamped = real_clamp(requested[i], idles ? low : 0.0, high);
        double applied = clamped;
        if (drive->slew > 0.0)
            applied = real_clamp(clamped, g->applied[i] - drive->slew, g->applied[i] + drive->slew);
        g->acted[VY_DRIVE_COMMAND] += clamped != requested[i];
        g->acted[VY_DRIVE_SLEW] += applied != clamped;
        g->applied[i] = applied;
    }
}

// The intent, or the failsafe's, lowered to `requested`. Returns how many commands were clamped.
static double lower_intent(const vy_model *m, uint32_t index, uint64_t tick, drone_block *d,
                           supervisor_block *g, double *requested)
{
    const drone_model *dm = &m->drones[index];
    const vy_drive_def *def = &dm->drive.def;
    const drive_limits limits = {def->speed_max, def->climb_max, dm->drive.cos_tilt, dm->drive.sin_tilt,
                                 def->rate_max};
    ladder_params p = m->params[index].ladder;
    if (m->env.gravity.frame.on) p.gravity = gravity_at(&m->env.gravity, d->estimate.position);
    control_state *c = &d->control;
    uint64_t rung = d->rung;
    for (int i = 0; i < dm->layout.count; ++i) {
        if (g->lost >> i & 1) p.rotor_thrust_max[i] = 0.0;
    }
    if (g->failsafe == VY_FAILSAFE_CUT) {
        memset(requested, 0, VY_ROTOR_CAP * sizeof requested[0]);
        return 0.0;
    }
    if (g->failsafe != VY_FAILSAFE_NONE) {
        p.period = p.rate_period;
        c = &g->control;
        rung = VY_RUNG_ATTITUDE;
        fly_failsafe(&p, &dm->drive, m->dt, tick, &d->estimate, g);
    }
    memcpy(c->motors, rung < VY_RUNG_WRENCH ? g->requested : g->applied, sizeof c->motors);
    const double count = control_lower_within(&p, &limits, g->acted, rung, 1, &d->estimate, c);
    memcpy(requested, c->motors, VY_ROTOR_CAP * sizeof requested[0]);
    return count;
}

static uint32_t drive(const vy_model *m, uint32_t index, int intent_received, uint64_t tick, drone_block *d,
                      supervisor_block *g)
{
    const drone_model *dm = &m->drones[index];
    const vy_controller_kind kind = dm->controller.kind;
    VY_ASSERT(kind != VY_CONTROLLER_NONE && dm->rate_period > 0); // a drone with a drive has a controller
    if (intent_received) {
        g->intent_tick = tick;
        if (g->cause == VY_HANDOVER_DEADLINE && g->failsafe != VY_FAILSAFE_CUT)
            g->failsafe = VY_FAILSAFE_NONE;
        memcpy(g->requested, d->control.motors, sizeof g->requested);
    }
    const int awaits_intent = kind != VY_CONTROLLER_INTENT && g->failsafe == VY_FAILSAFE_NONE;
    if (awaits_intent && dm->drive.deadline > 0 && tick - g->intent_tick > dm->drive.deadline)
        take_over(m, index, tick, VY_HANDOVER_DEADLINE, d, g);
    if (g->failsafe == VY_FAILSAFE_LAND) detect_landing(&dm->drive, m->dt, tick, &d->estimate, g);
    if (dm->drive.rotor_loss > 0) detect_rotor_loss(m, index, d, g);
    uint32_t events = 0;
    if (due(tick, dm->rate_period)) {
        double requested[VY_ROTOR_CAP];
        const double count = lower_intent(m, index, tick, d, g, requested);
        const int is_armed =
            g->failsafe != VY_FAILSAFE_CUT && (g->failsafe != VY_FAILSAFE_NONE || d->rung != VY_RUNG_NONE);
        apply_drive_limits(dm, is_armed, requested, g);
        d->clamps += (uint64_t)count;
        if (count > 0.0) events = VY_EVENT_CLAMPED;
    }
    memcpy(d->control.motors, g->applied, sizeof g->applied);
    return events;
}

uint32_t vy_supervisor_stage(const vy_model *m, ground_probe ground, unsigned char *intent_received,
                             world_block *w, drone_block *drones, supervisor_block *supervisors)
{
    VY_ASSERT(m->has_supervisor && supervisors != NULL && intent_received != NULL);
    uint32_t events = 0;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        if (m->drones[i].has_drive)
            events |= drive(m, i, intent_received[i], w->tick, &drones[i], &supervisors[i]);
        else if (dal_drone(m, i, w->tick, &drones[i]))
            events |= VY_EVENT_CLAMPED;
        if (m->drones[i].has_supervisor) vy_extra_limits_check(m, ground, i, &drones[i], &supervisors[i], w);
        intent_received[i] = 0;
    }
    return events;
}
