// plant.h - commands to rotor speeds, and the motion of every body. Over `real`.
#pragma once
#include "equations/coupled_step.h"
#include "base/assert.h"
#include "equations/simple_engine.h"
#include "world/safety.h"

/// Before the first step, in the lanes of `active`: rotors that hover, full batteries.
VY_COLD_FN void powertrain_start(const vy_model *m, const mask *active, const drone_block *drones,
                                 powertrain_block *powertrain)
{
    for (uint32_t i = 0; i < VY_BASIC_OR(1u, m->drone_count); ++i) {
        const drone_params *p = &m->params[i];
        const powertrain_block saved = powertrain[i];
        powertrain_block started;
        memset(&started, 0, sizeof started);
        rotor_air_start(&p->plant.effects.rotors, &m->drones[i].layout, &p->plant.rotor, &p->plant.curve,
                        drones[i].rotor_speed, &started.memory);
        battery_start(&p->battery, p->battery_start, &started.battery);
        powertrain[i] = started;
        cells_restore(*active, &saved, &powertrain[i], sizeof started);
    }
}

/// Likewise: thrusters.
VY_COLD_FN void thrusters_start(const vy_model *m, const mask *active, const drone_block *drones,
                                thruster_block *thrusters)
{
    for (uint32_t i = 0; i < VY_BASIC_OR(1u, m->drone_count); ++i) {
        const thruster_block saved = thrusters[i];
        thruster_start(&m->drones[i].layout, drones[i].control.motors, &thrusters[i]);
        cells_restore(*active, &saved, &thrusters[i], sizeof saved);
    }
}

/// Rotor speed targets at the nominal voltage, and battery voltages at the start of the step.
/// `powertrain` may be NULL in a world without powertrain blocks, here and below, and `thrusters` where there
/// are none.
VY_NOINLINE_FN void actuator_stage(const vy_model *m, const drone_block *drones, powertrain_block *powertrain,
                                   real (*speeds)[VY_ROTOR_CAP])
{
    for (uint32_t i = 0; i < VY_BASIC_OR(1u, m->drone_count); ++i) {
        const drone_params *p = &m->params[i];
        const rotor_layout *layout = &m->drones[i].layout;
        VY_ASSERT(!m->drones[i].has_powertrain || (m->has_powertrain && powertrain != NULL));
        for (int k = 0; k < VY_BASIC_OR(4, layout->count); ++k)
            speeds[i][k] = motor_speed(&p->motor, drones[i].control.motors[k]);
        if (!VY_BASIC_OR(0, m->has_powertrain)) continue;
        const mask has_battery = p->battery.capacity > 0.0;
        if (!mask_any(has_battery)) continue;
        battery_state *battery = &powertrain[i].battery;
        const real power = rotors_power(layout, &p->plant, drones[i].rotor_speed);
        real current;
        const real voltage = battery_voltage(&p->battery, battery->charge, power, &current);
        battery->voltage = real_select(has_battery, voltage, battery->voltage);
        battery->current = real_select(has_battery, current, battery->current);
    }
}

/// Thrust targets, behind the rotors' speeds.
VY_COLD_FN void thruster_stage(const vy_model *m, const bits *end_tick, const drone_block *drones,
                               thruster_block *thrusters, real (*speeds)[VY_ROTOR_CAP])
{
    const bits tick = *end_tick - 1u;
    for (uint32_t i = 0; i < VY_BASIC_OR(1u, m->drone_count); ++i)
        thruster_set_targets(&m->drones[i].layout, &tick, drones[i].control.motors, &thrusters[i], speeds[i]);
}

/// Motors without a lag are at their targets at once, in the lanes of `active`: what they were must not act
/// in the first stage of a step.
VY_COLD_FN void ideal_motors_follow(const rotor_layout *layout, const multirotor_params *p, mask active,
                                    const real *target, real *speed)
{
    for (int k = 0; k < VY_BASIC_OR(4, layout->count); ++k) {
        const mask is_falling = mask_set(VY_BASIC_OR(0, layout->general)) & (target[k] < speed[k]);
        const mask is_immediate =
            active & (real_select(is_falling, p->curve.fall_full, p->rotor.decay_full) == 0.0);
        speed[k] = real_select(is_immediate, target[k], speed[k]);
    }
}

/// Rotors without a lag and a battery. On a battery their targets follow from its voltage: the stages of a
/// coupled step solve for both, any other step has them from powertrain_hold.
VY_FN void ideal_motor_stage(const vy_model *m, real (*speeds)[VY_ROTOR_CAP], drone_block *drones)
{
    for (uint32_t i = 0; i < VY_BASIC_OR(1u, m->drone_count); ++i) {
        const drone_params *p = &m->params[i];
        const mask is_ideal = p->plant.rotor.decay_full == 0.0;
        if (!mask_any(is_ideal)) continue;
        const int is_stepped = m->drones[i].controller.flight != VY_FLIGHT_KINEMATIC &&
                               m->drones[i].holder != HELD_BY_CARRIER; // else its rotors are left alone
        if (is_stepped) {
            ideal_motors_follow(&m->drones[i].layout, &p->plant,
                                is_ideal & mask_not(p->battery.capacity > 0.0), speeds[i],
                                drones[i].rotor_speed);
        }
    }
}

/// Rotor speeds and behind them the thrusts of thrusters, as the plant's equations take them.
VY_FN void actuators_gather(const rotor_layout *layout, const drone_block *d, const thruster_block *t,
                            real *out)
{
    for (int k = 0; k < VY_BASIC_OR(4, layout->count); ++k) out[k] = d->rotor_speed[k];
    for (int k = 0; k < VY_BASIC_OR(0, layout->thrusters.count); ++k)
        out[VY_BASIC_OR(4, layout->count) + k] = t->thrust[k];
}

VY_FN void actuators_scatter(const rotor_layout *layout, const real *actuators, drone_block *d,
                             thruster_block *t)
{
    for (int k = 0; k < VY_BASIC_OR(4, layout->count); ++k) d->rotor_speed[k] = actuators[k];
    for (int k = 0; k < VY_BASIC_OR(0, layout->thrusters.count); ++k)
        t->thrust[k] = actuators[VY_BASIC_OR(4, layout->count) + k];
}

/// What the stages of a step of drone `i` share. Written in place: a copy would wait for the writes.
VY_FN void plant_inputs(const vy_model *m, uint32_t i, const body_loads *loads, real time,
                        const drone_block *d, const powertrain_block *powertrain, multirotor_inputs *in)
{
    in->layout = &m->drones[i].layout;
    in->params = &m->params[i].plant;
    VY_ASSERT(i < m->drone_count);
    in->env = &m->env;
    in->held.disturbance = loads[i];
    in->held.turbulence = drone_gust(d);
    in->held.time = time;
    in->flags = d->effects;
    in->memory = NULL;
    in->held.ground = real_set(0.0);
    in->half = in->end = NULL;
    in->battery = NULL;
    in->has_inflow = 0;
    in->steady = NULL;
    if (VY_BASIC_OR(0, m->has_sinusoid)) {
        in->half = &loads[body_count(m) + i];
        in->end = &loads[2 * body_count(m) + i];
    }
    if (VY_BASIC_OR(0, m->has_powertrain)) {
        in->memory = &powertrain[i].memory;
        in->has_inflow = mask_any(in->params->effects.rotors.momentum_factor > 0.0);
        if (mask_any(m->params[i].battery.capacity > 0.0)) in->battery = &m->params[i].battery;
        if (m->ground_heights != NULL) {
            in->held.ground = real_set(m->ground_heights[i]);
        } else if (VY_BASIC_OR(0, m->env.gravity.frame.on)) {
            in->held.ground = d->body.position.z - height_at(&m->env, d->body.position);
        }
    }
}

// Rotors and effects at the step's start are the forces that the simple engine gets.
VY_FN void simple_step(const multirotor_inputs *in, real dt, const real *command, body_state *s, real *speed,
                       load_parts *parts)
{
    const int count = VY_BASIC_OR(4, in->layout->count);
    const mat3 rotation = quat_matrix(s->attitude);
    body_loads loads = loads_zero();
    const vec3 gravity = multirotor_loads(in, s, rotation, speed, command, count, VARIANT_GENERAL,
                                          in->held.time, parts, &loads);
    vec3 force = vec3_add(mat3_mul_vec(rotation, loads.force_body), loads.force_world);
    force = vec3_add_scaled(force, in->params->effects.mass, gravity);
    const vec3 torque = vec3_add(loads.torque_body, mat3_tmul_vec(rotation, loads.torque_world));
    simple_accelerate(in->params->effects.mass, in->params->body.inverse_inertia, force, torque, dt, s);
    simple_rotate(dt, s);
    for (int i = 0; i < count; ++i) {
        const mask is_falling = mask_set(VY_BASIC_OR(0, in->layout->general)) & (command[i] < speed[i]);
        const real decay = real_select(is_falling, in->params->curve.fall_full, in->params->rotor.decay_full);
        speed[i] = rotor_speed_flushed(rotor_speed_after(speed[i], command[i], decay));
    }
    real half_thrusts[THRUSTER_CAP], full_thrusts[THRUSTER_CAP];
    thrusters_follow(&in->layout->thrusters, speed + count, command + count, half_thrusts, full_thrusts);
    for (int i = 0; i < VY_BASIC_OR(0, in->layout->thrusters.count); ++i)
        speed[count + i] = thrust_flushed(full_thrusts[i]);
}

// A kinematic drone has the velocity and the heading that its sticks command.
VY_FN void simple_follow_sticks(const control_state *c, bits rung, body_state *s)
{
    const mask is_piloted = rung_is(rung, VY_RUNG_PILOT);
    s->velocity = vec3_select(is_piloted, c->velocity, s->velocity);
    s->attitude = quat_select(is_piloted, c->attitude, s->attitude);
    s->rate = vec3_select(is_piloted, vec3_make(real_set(0.0), real_set(0.0), c->yaw_rate), s->rate);
}

/// Where the loads of drone `i` are kept; NULL: nowhere.
VY_FN load_parts *plant_parts(const vy_model *m, uint32_t i)
{
    return VY_LANES == 1 && m->loads_at_start != NULL ? &m->loads_at_start[i] : NULL;
}

/// The motion of drone `i` over a step by another engine or integrator than RK4 of every effect, or where
/// loads are recorded.
VY_COLD_FN void plant_move_general(const vy_model *m, uint32_t i, const multirotor_inputs *in,
                                   const real *command, drone_block *d, real *speed)
{
    const real dt = real_set(m->dt);
    load_parts *parts = plant_parts(m, i);
    if (VY_BASIC_OR(0, m->drones[i].controller.flight == VY_FLIGHT_KINEMATIC)) {
        simple_follow_sticks(&d->control, d->rung, &d->body);
    } else if (m->physics.engine == VY_ENGINE_SIMPLE) {
        simple_step(in, dt, command, &d->body, speed, parts);
    } else {
        multirotor_step_with(m->physics.integrator, in, dt, command, &d->body, speed, parts);
        return;
    }
    simple_move(dt, real_set(m->physics.boundary), &d->body);
}

/// The motion of drone `i` over a step, with all that moves it.
VY_FN void plant_move(const vy_model *m, uint32_t i, const multirotor_inputs *in, const real *command,
                      drone_block *d, real *speed)
{
    if (VY_BASIC_OR(1, m->strict_rk4)) {
        multirotor_step_rk4(in, real_set(m->dt), command, &d->body, speed);
    } else {
        plant_move_general(m, i, in, command, d, speed);
    }
}

/// Whether a body's step is coupled: induced velocities and disturbances are integrated with its stages. An
/// integrator of order 1 needs them at the start only.
VY_FN int body_is_coupled(const vy_model *m)
{
    return m->physics.engine != VY_ENGINE_SIMPLE && (m->physics.integrator == VY_INTEGRATOR_RK4 ||
                                                     m->physics.integrator == VY_INTEGRATOR_LIE_MIDPOINT);
}

/// The same for drone `i`. The step of a jointed drone is not coupled.
VY_FN int plant_is_coupled(const vy_model *m, uint32_t i)
{
    return body_is_coupled(m) && m->drones[i].controller.flight != VY_FLIGHT_KINEMATIC &&
           !VY_BASIC_OR(0, m->drones[i].holder);
}

/// RK4; lanes that turn far take the Lie midpoint rule, as in multirotor_step_fast_rotation.
VY_COLD_FN void coupled_fast_rotation(const multirotor_inputs *in, real dt, const real *command,
                                      body_state *s, real *speed, coupled_state *c, coupled_stage k[4],
                                      load_parts *parts)
{
    const mask is_fast = rotates_too_far(s, dt);
    const int effector_count =
        VY_BASIC_OR(4, in->layout->count) + VY_BASIC_OR(0, in->layout->thrusters.count);
    body_state lie_body = *s;
    coupled_state lie_state = *c;
    real lie_speed[ROTOR_CAP];
    for (int i = 0; i < effector_count; ++i) lie_speed[i] = speed[i];
    coupled_lie_midpoint(in, dt, command, &lie_body, lie_speed, &lie_state, k, parts);
    coupled_rk4(in, dt, command, s, speed, c, k, NULL);
    s->position = vec3_select(is_fast, lie_body.position, s->position);
    s->velocity = vec3_select(is_fast, lie_body.velocity, s->velocity);
    s->attitude = quat_select(is_fast, lie_body.attitude, s->attitude);
    s->rate = vec3_select(is_fast, lie_body.rate, s->rate);
    for (int i = 0; i < effector_count; ++i) speed[i] = real_select(is_fast, lie_speed[i], speed[i]);
    cells_restore(is_fast, c, &lie_state, sizeof lie_state);
    *c = lie_state;
}

/// Such a step; `powertrain` is the drone's or NULL. `parts`: the loads at its start, or NULL.
VY_NOINLINE_FN void plant_move_coupled(const vy_model *m, const multirotor_inputs *in, const real *command,
                                       body_state *s, real *speed, powertrain_block *powertrain,
                                       load_parts *parts)
{
    coupled_state c;
    coupled_stage k[4];
    memset(&c, 0, sizeof c);
    if (in->memory != NULL) c.air = *in->memory;
    if (powertrain != NULL) c.charge = powertrain->battery.charge;
    if (m->physics.integrator == VY_INTEGRATOR_RK4 && mask_any(rotates_too_far(s, real_set(m->dt)))) {
        coupled_fast_rotation(in, real_set(m->dt), command, s, speed, &c, k, parts);
    } else if (m->physics.integrator == VY_INTEGRATOR_RK4) {
        coupled_rk4(in, real_set(m->dt), command, s, speed, &c, k, parts);
    } else {
        coupled_lie_midpoint(in, real_set(m->dt), command, s, speed, &c, k, parts);
    }
    if (powertrain == NULL) return;
    powertrain->memory = c.air;
    powertrain->battery.charge = c.charge;
}

/// Any other step: the voltage at its start sets the rotors' targets, and the induced velocities at its start
/// are held; `next` are those at its end.
VY_COLD_FN void powertrain_hold(const vy_model *m, const multirotor_inputs *in, drone_block *d, real *speeds,
                                powertrain_block *powertrain, rotor_air_state *next)
{
    *next = powertrain->memory;
    if (in->has_inflow) multirotor_inflow(in, &d->body, d->rotor_speed, next);
    if (in->battery == NULL) return;
    battery_state *battery = &powertrain->battery;
    real current;
    const real ratio = battery_voltage_ratio(in, battery->charge, d->rotor_speed, &current);
    for (int k = 0; k < VY_BASIC_OR(4, in->layout->count); ++k) speeds[k] = speeds[k] * ratio;
    battery->charge = battery_charge_after(battery->charge, current, real_set(m->dt));
    ideal_motors_follow(in->layout, in->params, in->battery->capacity > 0.0, speeds, d->rotor_speed);
}

/// One drone that no joint holds: its actuators stand in `actuators`.
VY_FN void plant_step_drone(const vy_model *m, uint32_t i, const multirotor_inputs *in, int is_coupled,
                            const real *command, drone_block *d, real *actuators,
                            powertrain_block *powertrain)
{
    if (VY_BASIC_OR(0, is_coupled)) {
        plant_move_coupled(m, in, command, &d->body, actuators,
                           VY_BASIC_OR(0, m->has_powertrain) ? &powertrain[i] : NULL, plant_parts(m, i));
    } else {
        plant_move(m, i, in, command, d, actuators);
    }
}

/// The same with thrusters: their thrusts stand behind the rotors' speeds.
VY_COLD_FN void plant_step_thrusters(const vy_model *m, uint32_t i, const multirotor_inputs *in,
                                     int is_coupled, const real *command, drone_block *d,
                                     powertrain_block *powertrain, thruster_block *thrusters)
{
    real actuators[VY_ROTOR_CAP];
    actuators_gather(in->layout, d, &thrusters[i], actuators);
    plant_step_drone(m, i, in, is_coupled, command, d, actuators, powertrain);
    actuators_scatter(in->layout, actuators, d, &thrusters[i]);
}

/// Step every drone that no joint holds. Rotor speeds lie between finite ones and stay finite.
VY_NOINLINE_FN void plant_stage(const vy_model *m, const body_loads *loads, real (*speeds)[VY_ROTOR_CAP],
                                world_block *w, drone_block *drones, powertrain_block *powertrain,
                                thruster_block *thrusters)
{
    for (uint32_t i = 0; i < VY_BASIC_OR(1u, m->drone_count); ++i) {
        drone_block *d = &drones[i];
        multirotor_inputs in;
        plant_inputs(m, i, loads, time_of(m, w->tick - 1u), d, powertrain, &in);
        const int is_coupled = VY_BASIC_OR(0, step_is_coupled(&in) && plant_is_coupled(m, i));
        const int holds_inputs = VY_BASIC_OR(0, m->has_powertrain) && !is_coupled;
        rotor_air_state next; // a jointed drone sees the one at its end
        if (holds_inputs) powertrain_hold(m, &in, d, speeds[i], &powertrain[i], &next);
        if (VY_BASIC_OR(0, m->drones[i].holder)) {
            if (holds_inputs) powertrain[i].memory = next;
            continue;
        }
        if (VY_BASIC_OR(0, m->has_thruster)) {
            plant_step_thrusters(m, i, &in, is_coupled, speeds[i], d, powertrain, thrusters);
        } else {
            plant_step_drone(m, i, &in, is_coupled, speeds[i], d, d->rotor_speed, powertrain);
        }
        if (holds_inputs) powertrain[i].memory = next;
        if (!mask_all(body_is_finite(&d->body))) (void)check_finite(i, 0, PLANT_REALS, w, d);
        VY_ASSERT(m->physics.engine == VY_ENGINE_SIMPLE ||
                  VY_BASIC_OR(0, m->drones[i].controller.flight == VY_FLIGHT_KINEMATIC) ||
                  mask_all(mask_not(body_is_finite(&d->body)) | quat_is_unit(d->body.attitude)));
    }
}
