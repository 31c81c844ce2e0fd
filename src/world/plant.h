// plant.h - commands to rotor speeds, and the motion of every body. Over `real`.
#pragma once
#include "equations/integrators.h"
#include "base/assert.h"
#include "equations/simple_engine.h"
#include "world/safety.h"

/// Power at the shafts of all rotors of drone `i` [W].
VY_FN real rotors_power(const vy_model *m, uint32_t i, const drone_block *d)
{
    const drone_params *p = &m->params[i];
    const rotor_layout *layout = &m->drones[i].layout;
    real power = real_set(0.0);
    VY_ASSERT(i < m->drone_count && layout->count <= VY_ROTOR_CAP);
    for (int k = 0; k < layout->count; ++k) {
        const real thrust = rotor_thrust(layout, &p->plant.rotor, &p->plant.shape, k, d->rotor_speed[k]);
        const real torque = layout->torque_scale[k] * (p->plant.shape.torque_ratio * thrust);
        power = power + torque * d->rotor_speed[k];
    }
    return power;
}

/// What the battery of drone `i` leaves of the speeds told: its voltage over the nominal one.
VY_FN real actuator_drain(const vy_model *m, uint32_t i, const drone_block *d, battery_state *battery)
{
    const drone_params *p = &m->params[i];
    battery_draw(&p->battery, rotors_power(m, i, d), real_set(m->dt), battery);
    return real_select(effect_on(d->effects, EFFECT_battery), battery->voltage / p->battery.nominal,
                       real_set(1.0));
}

/// Before the first step, in the lanes of `who`: rotors that hover, full batteries.
VY_SLOW_FN void gear_start(const vy_model *m, const mask *who, const drone_block *drones, gear_block *gear)
{
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const rotor_layout *layout = &m->drones[i].layout;
        const drone_params *p = &m->params[i];
        const gear_block kept = gear[i];
        gear_block g;
        memset(&g, 0, sizeof g);
        const real disc = p->plant.effects.rotors.disc, zero = real_set(0.0);
        const mask induces = disc > 0.0, fed = p->battery.capacity > 0.0;
        for (int k = 0; k < layout->count; ++k) {
            const real thrust =
                rotor_thrust(layout, &p->plant.rotor, &p->plant.shape, k, drones[i].rotor_speed[k]);
            const real flow = real_sqrt(thrust / real_select(induces, disc, real_set(1.0)));
            g.memory.inflow[k] = real_select(induces, flow, zero);
        }
        g.battery.charge = p->battery_start;
        g.battery.voltage = real_select(fed, battery_open_voltage(&p->battery, p->battery_start), zero);
        gear[i] = g;
        cells_give_back(*who, &kept, &gear[i], sizeof g);
    }
}

/// Likewise: throttled thrusters make what they are told, valves are shut.
VY_SLOW_FN void thrusters_start(const vy_model *m, const mask *who, const drone_block *drones,
                                thruster_block *thrusters)
{
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const rotor_layout *layout = &m->drones[i].layout;
        const thruster_layout *t = &layout->thrusters;
        const thruster_block kept = thrusters[i];
        memset(&thrusters[i], 0, sizeof kept);
        for (int k = 0; k < t->count; ++k) {
            if (t->period[k] != 0) continue;
            thrusters[i].thrust[k] = thruster_throttled(t, k, drones[i].control.motors[layout->count + k]);
        }
        cells_give_back(*who, &kept, &thrusters[i], sizeof kept);
    }
}

/// `gear` may be NULL in a world that is not geared, here and below, and `thrusters` where there are none.
VY_BIG_FN void actuator_stage(const vy_model *m, const drone_block *drones, gear_block *gear,
                              real (*speeds)[VY_ROTOR_CAP])
{
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const motor_params *motor = &m->params[i].motor;
        VY_ASSERT(!m->drones[i].geared || (m->geared && gear != NULL));
        for (int k = 0; k < m->drones[i].layout.count; ++k)
            speeds[i][k] = motor_speed(motor, drones[i].control.motors[k]);
        if (!m->geared) continue;
        const mask fed = m->params[i].battery.capacity > 0.0;
        if (!mask_any(fed)) continue;
        battery_state battery = gear[i].battery;
        const real share = real_select(fed, actuator_drain(m, i, &drones[i], &battery), real_set(1.0));
        cells_give_back(fed, &gear[i].battery, &battery, sizeof battery);
        gear[i].battery = battery;
        for (int k = 0; k < m->drones[i].layout.count; ++k) speeds[i][k] = speeds[i][k] * share;
    }
}

/// What the thrusters are told, behind the rotors' speeds: throttled ones by their command, pulsed ones by
/// valves.
VY_SLOW_FN void thruster_stage(const vy_model *m, const bits *now, const drone_block *drones,
                               thruster_block *thrusters, real (*speeds)[VY_ROTOR_CAP])
{
    const bits tick = *now - 1u;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const rotor_layout *layout = &m->drones[i].layout;
        const thruster_layout *t = &layout->thrusters;
        for (int k = 0; k < t->count; ++k) {
            const real command = drones[i].control.motors[layout->count + k];
            VY_ASSERT(layout->count + k < VY_ROTOR_CAP);
            speeds[i][layout->count + k] = t->period[k] == 0 ? thruster_throttled(t, k, command)
                                                             : thruster_pulsed(t, k, due(tick, t->period[k]),
                                                                               tick, command, &thrusters[i]);
        }
    }
}

/// Rotor speeds and behind them the thrusts of thrusters, as the plant's equations take them.
VY_FN void actuators_gather(const rotor_layout *layout, const drone_block *d, const thruster_block *t,
                            real *out)
{
    for (int k = 0; k < layout->count; ++k) out[k] = d->rotor_speed[k];
    for (int k = 0; k < layout->thrusters.count; ++k) out[layout->count + k] = t->thrust[k];
}

VY_FN void actuators_scatter(const rotor_layout *layout, const real *all, drone_block *d, thruster_block *t)
{
    for (int k = 0; k < layout->count; ++k) d->rotor_speed[k] = all[k];
    for (int k = 0; k < layout->thrusters.count; ++k) t->thrust[k] = all[layout->count + k];
}

/// What the stages of a step of drone `i` share. Written in place: a copy would wait for the writes.
VY_FN void plant_inputs(const vy_model *m, uint32_t i, const body_loads *loads, real time,
                        const drone_block *d, const gear_block *gear, multirotor_inputs *in)
{
    in->layout = &m->drones[i].layout;
    in->params = &m->params[i].plant;
    VY_ASSERT(i < m->drone_count);
    in->env = &m->env;
    in->held.disturbance = loads[i];
    in->held.turbulence = d->gust;
    in->held.time = time;
    in->flags = d->effects;
    in->memory = NULL;
    in->held.ground = real_set(0.0);
    if (m->geared) {
        in->memory = &gear[i].memory;
        if (m->grounds != NULL) in->held.ground = real_set(m->grounds[i]);
    }
}

// Rotors and effects at the step's start are the forces that the simple engine gets.
VY_FN void simple_fly(const multirotor_inputs *in, real dt, const real *command, body_state *s, real *speed)
{
    const int count = in->layout->count;
    const mat3 rotation = quat_matrix(s->attitude);
    body_loads l = loads_zero();
    const vec3 gravity = multirotor_loads(in, s, rotation, speed, command, count, WAY_ANY, in->held.time, &l);
    vec3 force = vec3_add(mat3_mul_vec(rotation, l.force_body), l.force_world);
    force = vec3_add_scaled(force, in->params->effects.mass, gravity);
    const vec3 torque = vec3_add(l.torque_body, mat3_tmul_vec(rotation, l.torque_world));
    simple_push(in->params->effects.mass, in->params->body.inverse_inertia, force, torque, dt, s);
    simple_turn(dt, s);
    for (int i = 0; i < count; ++i) {
        const mask falls = mask_set(in->layout->general) & (command[i] < speed[i]);
        const real decay = real_select(falls, in->params->shape.fall_full, in->params->rotor.decay_full);
        speed[i] = rotor_speed_settled(rotor_speed_after(speed[i], command[i], decay));
    }
    real half[THRUSTER_CAP], full[THRUSTER_CAP];
    thrusters_follow(&in->layout->thrusters, speed + count, command + count, half, full);
    for (int i = 0; i < in->layout->thrusters.count; ++i) speed[count + i] = thruster_settled(full[i]);
}

// A kinematic drone has the velocity and the heading that its sticks ask for.
VY_FN void simple_lead(const control_state *c, bits rung, body_state *s)
{
    const mask led = rung_is(rung, VY_RUNG_PILOT);
    s->velocity = vec3_select(led, c->velocity, s->velocity);
    s->attitude = quat_select(led, c->attitude, s->attitude);
    s->rate = vec3_select(led, vec3_make(real_set(0.0), real_set(0.0), c->yaw_rate), s->rate);
}

/// The motion of drone `i` over a step by another engine or integrator than the usual ones.
VY_SLOW_FN void plant_move_otherwise(const vy_model *m, uint32_t i, const multirotor_inputs *in,
                                     const real *command, drone_block *d, real *speed)
{
    const real dt = real_set(m->dt);
    if (m->drones[i].controller.flight == VY_FLIGHT_KINEMATIC) {
        simple_lead(&d->control, d->rung, &d->body);
    } else if (m->physics.engine == VY_ENGINE_SIMPLE) {
        simple_fly(in, dt, command, &d->body, speed);
    } else {
        multirotor_step_by(m->physics.integrator, in, dt, command, &d->body, speed);
        return;
    }
    simple_move(dt, real_set(m->physics.boundary), &d->body);
}

/// The motion of drone `i` over a step, with all that moves it.
VY_FN void plant_move(const vy_model *m, uint32_t i, const multirotor_inputs *in, const real *command,
                      drone_block *d, real *speed)
{
    if (m->usual) {
        multirotor_step(in, real_set(m->dt), command, &d->body, speed);
    } else {
        plant_move_otherwise(m, i, in, command, d, speed);
    }
}

/// Every drone that no joint holds. Rotor speeds lie between finite ones and stay finite.
VY_BIG_FN void plant_stage(const vy_model *m, const body_loads *loads, real (*speeds)[VY_ROTOR_CAP],
                           world_block *w, drone_block *drones, gear_block *gear, thruster_block *thrusters)
{
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        drone_block *d = &drones[i];
        multirotor_inputs in;
        plant_inputs(m, i, loads, time_of(m, w->tick - 1u), d, gear, &in);
        const int induces = m->geared && mask_any(in.params->effects.rotors.disc > 0.0);
        rotor_memory
            next; // held over the step as it was at its start; a joined drone sees the one at its end
        if (induces) {
            next = gear[i].memory;
            multirotor_inflow(&in, &d->body, d->rotor_speed, &next);
        }
        if (m->drones[i].held) {
            if (induces) gear[i].memory = next;
            continue;
        }
        if (m->thrusting) {
            real all[VY_ROTOR_CAP];
            actuators_gather(in.layout, d, &thrusters[i], all);
            plant_move(m, i, &in, speeds[i], d, all);
            actuators_scatter(in.layout, all, d, &thrusters[i]);
        } else {
            plant_move(m, i, &in, speeds[i], d, d->rotor_speed);
        }
        if (induces) gear[i].memory = next;
        if (!mask_all(body_is_finite(&d->body))) (void)check_finite(i, 0, PLANT_REALS, w, d);
        VY_ASSERT(m->physics.engine == VY_ENGINE_SIMPLE ||
                  m->drones[i].controller.flight == VY_FLIGHT_KINEMATIC ||
                  mask_all(mask_not(body_is_finite(&d->body)) | quat_is_unit(d->body.attitude)));
    }
}
