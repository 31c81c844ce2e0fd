// controller_stage.h - the built-in controller and the drive abstraction layer, each at its own period. Over
// `real`.
#pragma once
#include "world/model.h"
#include "base/assert.h"

/// Follow the flight plan, in the lanes of `active`.
VY_FN void controller_hold(const vy_model *m, uint32_t index, mask active, bits tick, drone_block *d)
{
    const reference r = drone_reference(m, index, time_of(m, tick), NULL);
    vec3 integral = d->control.integral;
    quat attitude;
    ladder_params ladder_buffer;
    const ladder_params *p = drone_ladder(m, index, &d->estimate, &ladder_buffer);
    const real thrust = lower_position(p, &r, &d->estimate, &integral, &attitude);
    control_state *c = &d->control;
    const bits rung = bits_set(VY_RUNG_ATTITUDE);
    control_enter_rung(p, d->rung, rung, active, &d->estimate, c);
    c->integral = vec3_select(active, integral, c->integral);
    c->attitude = quat_select(active, attitude, c->attitude);
    c->thrust = real_select(active, thrust, c->thrust);
    d->rung = bits_select(active, rung, d->rung);
}

/// Follow the flight plan by thrust and torque: Lee's law or Mellinger's, in the lanes of `active`.
VY_COLD_FN void controller_trajectory(const vy_model *m, uint32_t index, const mask *active, int is_lee,
                                      const world_block *w, drone_block *d)
{
    const trajectory_point r = drone_trajectory(m, index, time_of(m, w->tick));
    vec3 integral = d->control.integral, torque;
    ladder_params ladder_buffer;
    const ladder_params *p = drone_ladder(m, index, &d->estimate, &ladder_buffer);
    const real thrust = lower_trajectory(p, &r, &d->estimate, is_lee, &integral, &torque);
    control_state *c = &d->control;
    c->integral = vec3_select(*active, integral, c->integral);
    c->torque = vec3_select(*active, torque, c->torque);
    c->thrust = real_select(*active, thrust, c->thrust);
    d->rung = bits_select(*active, bits_set(VY_RUNG_WRENCH), d->rung);
}

/// Take the reply of a controller, in the lanes of `active`. One that is not valid ends the run.
VY_FN void controller_reply(const vy_model *m, uint32_t index, mask active, const control_reply *reply,
                            world_block *w, drone_block *d)
{
    const ladder_params *p = &m->params[index].ladder;
    const mask valid = control_valid(p, reply);
    control_enter_rung(p, d->rung, reply->rung, active & valid, &d->estimate, &d->control);
    control_accept(p, reply, active & valid, &d->control, &d->clamps);
    d->rung = bits_select(active & valid, reply->rung, d->rung);
    const mask invalid = active & mask_not(valid);
    if (mask_any(invalid)) world_fail(invalid, VY_FAILURE_COMMAND, index, real_set(0.0), real_set(0.0), 0, w);
}

/// Let the autopilot move the sticks, in the lanes of `active`.
VY_FN void controller_autopilot(const vy_model *m, uint32_t index, mask active, world_block *w,
                                drone_block *d)
{
    control_reply reply;
    memset(&reply, 0, sizeof reply);
    reply.rung = bits_set(VY_RUNG_PILOT);
    autopilot_sticks(&m->params[index].autopilot, d->estimate.position, d->estimate.attitude, reply.sticks);
    controller_reply(m, index, active, &reply, w, d);
}

/// A controller that is built in, in the lanes of `active`.
VY_FN void controller_built_in(const vy_model *m, uint32_t index, mask active, world_block *w, drone_block *d)
{
    switch (VY_BASIC_OR(VY_CONTROLLER_HOLD, m->drones[index].controller.kind)) {
    case VY_CONTROLLER_HOLD: controller_hold(m, index, active, w->tick, d); break;
    case VY_CONTROLLER_LEE: controller_trajectory(m, index, &active, 1, w, d); break;
    case VY_CONTROLLER_MELLINGER: controller_trajectory(m, index, &active, 0, w, d); break;
    case VY_CONTROLLER_AUTOPILOT: controller_autopilot(m, index, active, w, d); break;
    default: break;
    }
}

/// The drive abstraction layer of one drone whose vehicle declares no limits. Returns the lanes in which a
/// command was clamped.
VY_FN mask drive_layer_step_drone(const vy_model *m, uint32_t index, bits tick, drone_block *d)
{
    const mask is_due = due(tick, m->drones[index].rate_period);
    VY_ASSERT(index < m->drone_count);
    if (!mask_any(is_due)) return mask_set(0);
    if (VY_BASIC_OR(0, m->drones[index].controller.flight == VY_FLIGHT_KINEMATIC)) {
        control_lower_kinematic(&m->params[index].ladder, d->rung, is_due, &d->control);
        return mask_set(0);
    }
    ladder_params ladder_buffer;
    const ladder_params *p = drone_ladder(m, index, &d->estimate, &ladder_buffer);
    const real count = control_lower(p, d->rung, is_due, &d->estimate, &d->control);
    d->clamps = d->clamps + real_round_bits(count);
    return count > 0.0;
}

/// The same of all drones. Returns the lanes in which a command was clamped.
VY_NOINLINE_FN mask drive_layer_stage(const vy_model *m, const world_block *w, drone_block *drones)
{
    mask clamped = mask_set(0);
    for (uint32_t i = 0; i < VY_BASIC_OR(1u, m->drone_count); ++i)
        clamped = clamped | drive_layer_step_drone(m, i, w->tick, &drones[i]);
    return clamped;
}
