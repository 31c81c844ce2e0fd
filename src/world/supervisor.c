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
        supervisor_block *state = &out[i];
        memset(state, 0, sizeof *state);
        state->control.attitude = quat_identity();
        memcpy(state->requested, drones[i].control.motors, sizeof state->requested);
        memcpy(state->applied, drones[i].control.motors, sizeof state->applied);
    }
}

int vy_supervisor_controller_active(const vy_model *m, uint32_t index, const supervisor_block *supervisors)
{
    VY_ASSERT(index < m->drone_count && m->has_supervisor);
    return !m->drones[index].has_drive || supervisors[index].cause <= VY_HANDOVER_DEADLINE;
}

static void take_over(const vy_model *m, uint32_t index, uint64_t tick, vy_handover cause,
                      const drone_block *d, supervisor_block *state)
{
    const ladder_params *p = &m->params[index].ladder;
    state->handovers += 1;
    VY_ASSERT(cause != VY_HANDOVER_NONE && m->drones[index].drive.def.failsafe != VY_FAILSAFE_NONE);
    state->cause = cause;
    state->since = tick;
    state->still_ticks = 0;
    if (state->failsafe != VY_FAILSAFE_NONE) return; // it is active already, for a cause that has passed
    state->failsafe = m->drones[index].drive.def.failsafe;
    state->position = d->estimate.position;
    state->heading = yaw_of(d->estimate.attitude);
    memcpy(state->control.motors, state->applied, sizeof state->applied);
    control_enter_rung(p, VY_RUNG_NONE, VY_RUNG_ATTITUDE, 1, &d->estimate, &state->control);
    state->control.integral = vec3_zero();
}

int vy_supervisor_take_over(const vy_model *m, uint32_t index, uint64_t tick, vy_handover cause,
                            const vy_intent *reply, const drone_block *d, supervisor_block *supervisors)
{
    const drone_model *dm = &m->drones[index];
    if (!dm->has_drive || dm->drive.def.failsafe == VY_FAILSAFE_NONE) return 0;
    VY_ASSERT(dm->has_supervisor); // a drone with a drive has a supervisor
    supervisor_block *state = &supervisors[index];
    take_over(m, index, tick, cause, d, state);
    state->verdict = (uint64_t)reply->verdict;
    state->detail = (uint64_t)(int64_t)reply->detail;
    return 1;
}

// Attitude and thrust that the failsafe wants. Its loop runs with the rate loops: `p` says so.
static void fly_failsafe(const ladder_params *p, const flight_limits_model *limits, double dt, uint64_t tick,
                         const estimator_state *e, supervisor_block *state)
{
    reference setpoint = {.position = state->position, .heading = heading_of(state->heading)};
    if (state->failsafe == VY_FAILSAFE_LAND) {
        const double descent = limits->def.land_speed * ((double)(tick - state->since) * dt);
        setpoint.position.z = real_max(state->position.z - descent, e->position.z - LAND_MAX_LEAD);
        setpoint.velocity.z = -limits->def.land_speed;
    }
    state->control.thrust =
        lower_position(p, &setpoint, e, &state->control.integral, &state->control.attitude);
}

// A landing drone that no longer sinks has landed: the motors stop.
static void detect_landing(const flight_limits_model *limits, double dt, uint64_t tick,
                           const estimator_state *e, supervisor_block *state)
{
    const double desired_height =
        state->position.z - limits->def.land_speed * ((double)(tick - state->since) * dt);
    const int is_stopped = e->position.z - desired_height > LAND_MAX_LEAD &&
                           real_abs(e->velocity.z) < LANDED_SPEED_FRACTION * limits->def.land_speed;
    state->still_ticks = is_stopped ? state->still_ticks + 1 : 0;
    if (state->still_ticks > limits->landed_ticks) state->failsafe = VY_FAILSAFE_CUT;
}

// A rotor that does not follow its command for long enough is lost, whatever the reason.
static void detect_rotor_loss(const vy_model *m, uint32_t index, const drone_block *d,
                              supervisor_block *state)
{
    const flight_limits_model *limits = &m->drones[index].drive;
    VY_ASSERT(limits->rotor_loss > 0 && m->drones[index].layout.count <= VY_ROTOR_CAP);
    for (int i = 0; i < m->drones[index].layout.count; ++i) {
        const double desired = motor_speed(&m->params[index].motor, state->applied[i]);
        const int is_slow =
            state->applied[i] > ROTOR_LOSS_COMMAND && d->rotor_speed[i] < ROTOR_LOSS_SPEED_FRACTION * desired;
        state->slow_ticks[i] = is_slow ? state->slow_ticks[i] + 1 : 0;
        if (state->slow_ticks[i] >= limits->rotor_loss) state->lost |= (uint64_t)1 << i;
    }
}

// From requested to applied motor commands: the limits of the drive.
static void apply_drive_limits(const drone_model *dm, int is_armed, const double *requested,
                               supervisor_block *state)
{
    const flight_limits_model *drive = &dm->drive;
    const double low = is_armed ? drive->def.command_min : 0.0;
    const double high = drive->def.command_max > 0.0 ? drive->def.command_max : 1.0;
    VY_ASSERT(low <= high && high <= 1.0 && drive->slew >= 0.0);
    VY_ASSERT(dm->layout.count + dm->layout.thrusters.count <= VY_ROTOR_CAP);
    for (int i = 0; i < dm->layout.count + dm->layout.thrusters.count; ++i) {
        const int keeps_idling =
            i < dm->layout.count && !(state->lost >> i & 1); // thrusters and lost rotors do not
        const double clamped = real_clamp(requested[i], keeps_idling ? low : 0.0, high);
        double applied = clamped;
        if (drive->slew > 0.0)
            applied = real_clamp(clamped, state->applied[i] - drive->slew, state->applied[i] + drive->slew);
        state->acted[VY_DRIVE_COMMAND] += clamped != requested[i];
        state->acted[VY_DRIVE_SLEW] += applied != clamped;
        state->applied[i] = applied;
    }
}

// The intent, or the failsafe's, lowered to `requested`. Returns how many commands were clamped.
static double lower_intent(const vy_model *m, uint32_t index, uint64_t tick, drone_block *d,
                           supervisor_block *state, double *requested)
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
        if (state->lost >> i & 1) p.rotor_thrust_max[i] = 0.0;
    }
    if (state->failsafe == VY_FAILSAFE_CUT) {
        memset(requested, 0, VY_ROTOR_CAP * sizeof requested[0]);
        return 0.0;
    }
    if (state->failsafe != VY_FAILSAFE_NONE) {
        p.period = p.rate_period;
        c = &state->control;
        rung = VY_RUNG_ATTITUDE;
        fly_failsafe(&p, &dm->drive, m->dt, tick, &d->estimate, state);
    }
    memcpy(c->motors, rung < VY_RUNG_WRENCH ? state->requested : state->applied, sizeof c->motors);
    const double count = control_lower_within(&p, &limits, state->acted, rung, 1, &d->estimate, c);
    memcpy(requested, c->motors, VY_ROTOR_CAP * sizeof requested[0]);
    return count;
}

static uint32_t step_drive(const vy_model *m, uint32_t index, int intent_received, uint64_t tick,
                           drone_block *d, supervisor_block *state)
{
    const drone_model *dm = &m->drones[index];
    const vy_controller_kind kind = dm->controller.kind;
    VY_ASSERT(kind != VY_CONTROLLER_NONE && dm->rate_period > 0); // a drone with a drive has a controller
    if (intent_received) {
        state->intent_tick = tick;
        if (state->cause == VY_HANDOVER_DEADLINE && state->failsafe != VY_FAILSAFE_CUT)
            state->failsafe = VY_FAILSAFE_NONE;
        memcpy(state->requested, d->control.motors, sizeof state->requested);
    }
    const int awaits_intent = kind != VY_CONTROLLER_INTENT && state->failsafe == VY_FAILSAFE_NONE;
    if (awaits_intent && dm->drive.deadline > 0 && tick - state->intent_tick > dm->drive.deadline)
        take_over(m, index, tick, VY_HANDOVER_DEADLINE, d, state);
    if (state->failsafe == VY_FAILSAFE_LAND) detect_landing(&dm->drive, m->dt, tick, &d->estimate, state);
    if (dm->drive.rotor_loss > 0) detect_rotor_loss(m, index, d, state);
    uint32_t events = 0;
    if (due(tick, dm->rate_period)) {
        double requested[VY_ROTOR_CAP];
        const double count = lower_intent(m, index, tick, d, state, requested);
        const int is_armed = state->failsafe != VY_FAILSAFE_CUT &&
                             (state->failsafe != VY_FAILSAFE_NONE || d->rung != VY_RUNG_NONE);
        apply_drive_limits(dm, is_armed, requested, state);
        d->clamps += (uint64_t)count;
        if (count > 0.0) events = VY_EVENT_CLAMPED;
    }
    memcpy(d->control.motors, state->applied, sizeof state->applied);
    return events;
}

uint32_t vy_supervisor_stage(const vy_model *m, ground_probe ground, unsigned char *intent_received,
                             world_block *w, drone_block *drones, supervisor_block *supervisors)
{
    VY_ASSERT(m->has_supervisor && supervisors != NULL && intent_received != NULL);
    uint32_t events = 0;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        if (m->drones[i].has_drive)
            events |= step_drive(m, i, intent_received[i], w->tick, &drones[i], &supervisors[i]);
        else if (drive_layer_step_drone(m, i, w->tick, &drones[i]))
            events |= VY_EVENT_CLAMPED;
        if (m->drones[i].has_supervisor) vy_extra_limits_check(m, ground, i, &drones[i], &supervisors[i], w);
        intent_received[i] = 0;
    }
    return events;
}
