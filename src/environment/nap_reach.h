// nap_reach.h - where a body can be and how it can move until the next evaluation. Over `real`.
#pragma once
#include "environment/nap_bounds.h"

/// The reach of a body until the next evaluation, its state known up to the given deviations.
typedef struct nap_reach {
    effect_reach effect;
    real altitude;     // [m] now
    real acceleration; // [m/s^2] it cannot exceed
    real max_distance; // [m] it cannot leave this distance
    real wind_slope;   // [1/s] change of the wind per metre
    real wind_change;  // [m/s] of the air at the body, by its way and by time
} nap_reach;

/// The rate without its sign [1/s] at which a planet's ground turns in the world's frame; 0 where it rests.
VY_FN double nap_planet_rate(const environment_model *env)
{
    if (!frame_is_inertial(env)) return 0.0;
    return env->planet.rate < 0.0 ? -env->planet.rate : env->planet.rate;
}

/// The rate without its sign [1/s] at which the world's frame turns.
VY_FN double nap_frame_rate(const environment_model *env)
{
    const double rate = env->gravity.frame.rate;
    return rate < 0.0 ? -rate : rate;
}

/// No centrifugal and Coriolis acceleration within `distance` [m] of `r` and up to `speed` is larger [m/s^2].
VY_FN real nap_frame_bound(const environment_model *env, vec3 r, real speed, real distance)
{
    const double rate = nap_frame_rate(env);
    return rate * (rate * (vec3_length(local_from_axis(&env->gravity.frame, r)) + distance) + 2.0 * speed);
}

/// How much the wind at a body can change until the next evaluation, by its way and by time [m/s].
VY_FN real nap_wind_change(const wind_params *p, real period, real distance, real slope, real wind)
{
    real change = slope * distance;
    for (int i = 0; i < VY_BASIC_OR(0, p->gust_count); ++i) {
        const wind_gust *g = &p->gusts[i];
        const real size = vec3_length(vec3_make(real_set(g->x), real_set(g->y), real_set(g->z)));
        const double ramp_min = g->rise < g->fall ? g->rise : g->fall;
        change = change + size * real_min(period * (1.5707963267948968 / ramp_min), real_set(1.0));
    }
    if (VY_BASIC_OR(0, p->grid.velocity != NULL) && p->grid.nt > 1) {
        change = change + 2.0 * p->grid.speed_max * (period / p->grid.dt);
    }
    return real_min(change, 2.0 * wind);
}

/// Air and wind within r->max_distance of a place.
VY_FN void nap_air_reach(const environment_model *env, const nap_inputs *inputs, real period, vec3 position,
                         real altitude, nap_reach *reach)
{
    effect_reach *effect = &reach->effect;
    real low_altitude = altitude - reach->max_distance, high_altitude = altitude + reach->max_distance;
    effect->air = env->air.mode != ATMOSPHERE_NONE;
    effect->density = air_at(&env->air, low_altitude).density; // the air only gets thinner upwards
    effect->density_min = air_at(&env->air, high_altitude).density;
    if (VY_BASIC_OR(0, env->air.mode == ATMOSPHERE_LAYERED)) {
        // The formula ends at the centre of the Earth: nothing is known of what lies far below the ground.
        effect->density = real_select(low_altitude > -1e5, effect->density, real_set(NAP_UNBOUNDED));
    }
    effect->rotor_density_ratio =
        1.0 + real_abs(effect->density * (1.0 / REFERENCE_DENSITY) - 1.0); // whether they follow it or not
    effect->wind = effect->downwash;
    reach->wind_slope = real_set(0.0);
    reach->wind_change = nap_planet_rate(env) * reach->max_distance; // of the air that turns with the planet
    if (!env->has_wind) return;
    if (VY_BASIC_OR(0, env->gravity.frame.on)) { // from here on heights over the ground
        low_altitude = low_altitude - env->gravity.frame.height;
        high_altitude = high_altitude - env->gravity.frame.height;
    }
    effect->wind = effect->downwash +
                   mean_wind_speed_bound(&env->wind, env->constant_wind, low_altitude, high_altitude,
                                         inputs->time, inputs->time + period) +
                   inputs->turbulence;
    reach->wind_slope = wind_slope_bound(&env->wind, low_altitude);
    if (frame_is_inertial(env)) { // east, north and up turn on the way
        const double curvature = env->planet.radius / (env->planet.polar * env->planet.polar);
        const real axis_distance =
            real_sqrt(position.x * position.x + position.y * position.y) - reach->max_distance;
        const real axes_per_metre = real_select(
            axis_distance > 1.0, 1.0 / real_max(axis_distance, real_set(1.0)), real_set(NAP_UNBOUNDED));
        reach->wind_slope = reach->wind_slope + effect->wind * (axes_per_metre + 2.0 * curvature);
    }
    reach->wind_change = reach->wind_change + nap_wind_change(&env->wind, period, reach->max_distance,
                                                              reach->wind_slope, effect->wind);
}

/// The same for rotors of any axis and polynomial: what each can do at most, all together.
VY_FN void nap_general_rotor_reach(const nap_params *nap, const multirotor_params *vehicle,
                                   const rotor_layout *layout, const real *speed, const real *command,
                                   effect_reach *effect)
{
    const real linear = real_abs(vehicle->curve.linear), cubic = real_abs(vehicle->curve.cubic);
    real force = real_set(0.0), torque = real_set(0.0);
    for (int i = 0; i < VY_BASIC_OR(4, bits_uniform(nap->rotor_count)); ++i) {
        const real target = VY_BASIC_OR(0, bits_uniform(nap->open_loop)) ? command[i] : nap->rotor_speed_max;
        const real w = real_max(speed[i], target);
        const real thrust =
            layout->thrust_scale[i] * (w * (linear + w * (vehicle->rotor.thrust_coef + cubic * w)));
        force = force + thrust;
        torque = torque + thrust * (vec3_length(vec3_of(layout->lever[i])) +
                                    layout->torque_scale[i] * vehicle->curve.torque_ratio);
    }
    effect->rotor_force = force * (1.0 + 0x1p-40); // a bound of the rounding error
    effect->rotor_torque = torque * (1.0 + 0x1p-40);
    const thruster_layout *thrusters = &layout->thrusters;
    for (int i = 0; i < thrusters->count; ++i) { // each may get any command
        const real thrust_max = real_set(thrusters->thrust_max[i] * (1.0 + 0x1p-40));
        effect->thruster_force = effect->thruster_force + thrust_max;
        effect->thruster_torque =
            effect->thruster_torque + thrust_max * vec3_length(vec3_of(thrusters->lever[i]));
    }
}

/// What the rotors can do within the period. In an open loop each one's speed lies between its present value
/// and its command; in a closed loop the command may be anything. Torques: the middle of the range, and half
/// its width on top.
VY_FN void nap_rotor_reach(const nap_params *nap, const multirotor_params *vehicle,
                           const rotor_layout *layout, const real *speed, const real *command,
                           effect_reach *effect)
{
    const int open_loop = VY_BASIC_OR(0, bits_uniform(nap->open_loop));
    vec3 torque = vec3_zero();
    real force = real_set(0.0), torque_half_range = real_set(0.0);
    if (VY_BASIC_OR(0, layout->general)) {
        nap_general_rotor_reach(nap, vehicle, layout, speed, command, effect);
        return;
    }
    for (int i = 0; i < VY_BASIC_OR(4, bits_uniform(nap->rotor_count)); ++i) {
        const real target = open_loop ? command[i] : nap->rotor_speed_max;
        const real speed_max = real_max(speed[i], target);
        const real speed_min = open_loop ? real_min(speed[i], target) : real_set(0.0);
        const real square_max = speed_max * speed_max,
                   square_middle = 0.5 * (square_max + speed_min * speed_min),
                   square_half_range = square_max - square_middle;
        const real thrust = vehicle->rotor.thrust_coef * square_middle,
                   drag = vehicle->rotor.torque_coef * square_middle;
        torque = vec3_add(
            torque, vec3_make(layout->roll[i] * thrust, layout->pitch[i] * thrust, layout->yaw[i] * drag));
        force = force + vehicle->rotor.thrust_coef * square_max;
        torque_half_range =
            torque_half_range +
            square_half_range * (vehicle->rotor.thrust_coef * (real_abs(real_set(layout->roll[i])) +
                                                               real_abs(real_set(layout->pitch[i]))) +
                                 vehicle->rotor.torque_coef);
    }
    effect->rotor_force = force * (1.0 + 0x1p-40); // a bound of the rounding error
    effect->rotor_torque = vec3_length(torque) + torque_half_range + 0x1p-40 * force;
}

/// What the rotors' effects can see within the period.
VY_FN void nap_rotor_air_reach(const nap_params *nap, const multirotor_params *vehicle,
                               const rotor_layout *layout, const real *speed, const nap_inputs *inputs,
                               effect_reach *effect)
{
    const rotor_air_params *air_params = &vehicle->effects.rotors;
    effect->rotors = 1;
    effect->rotor_count = real_from_uint(nap->rotor_count);
    effect->rotor_speed = nap->rotor_speed_max;
    real thrust = real_set(0.0);
    for (int i = 0; i < VY_BASIC_OR(4, bits_uniform(nap->rotor_count)); ++i) {
        effect->rotor_speed = real_max(effect->rotor_speed, speed[i]);
        effect->arm = real_max(effect->arm, vec3_length(vec3_of(layout->hub[i])));
        effect->lever = real_max(effect->lever, vec3_length(vec3_of(layout->lever[i])));
        thrust = real_max(thrust, real_set(layout->thrust_scale[i]));
    }
    const real speed_max = effect->rotor_speed;
    thrust =
        thrust *
        (speed_max * (real_abs(vehicle->curve.linear) +
                      speed_max * (vehicle->rotor.thrust_coef + real_abs(vehicle->curve.cubic) * speed_max)));
    // A round world has no ground near.
    effect->height_min = real_set(bits_uniform(nap->has_obstacles) ? 0.0 : NAP_UNBOUNDED);
    effect->rotor_acceleration = speed_max * real_max(vehicle->curve.rise, vehicle->curve.fall);
    effect->hover_inflow = real_sqrt(
        thrust / real_select(air_params->momentum_factor > 0.0, air_params->momentum_factor, real_set(1.0)));
    effect->inflow = 2.1 * effect->hover_inflow; // the measured curve ends at 2.04
    effect->downwash = inputs->downwash;
}

/// Where `is_lost`, nothing is known of where the body can be.
VY_FN void nap_reach_set_unbounded(mask is_lost, nap_reach *reach)
{
    const real unbounded = real_set(NAP_UNBOUNDED);
    effect_reach *effect = &reach->effect;
    effect->speed = real_select(is_lost, unbounded, effect->speed);
    effect->gravity = real_select(is_lost & (effect->gravity > 0.0), unbounded, effect->gravity);
    effect->gravity_gradient =
        real_select(is_lost & (effect->gravity_gradient > 0.0), unbounded, effect->gravity_gradient);
    effect->density = real_select(is_lost & mask_set(effect->air), unbounded, effect->density);
    effect->density_min = real_select(is_lost, real_set(0.0), effect->density_min);
    effect->wind = real_select(is_lost & (effect->wind > 0.0), unbounded, effect->wind);
    effect->height_min =
        real_select(is_lost & (effect->height_min < unbounded), real_set(0.0), effect->height_min);
    reach->acceleration = real_select(is_lost, unbounded, reach->acceleration);
    reach->max_distance = real_select(is_lost, unbounded, reach->max_distance);
}

/// Bound where the body can be and how it can move within the period. A gain of
/// speed d is out of reach when d >= T a(d), a(d) the greatest acceleration at speeds up to v0 + d. A guess
/// is tried; when it holds it is brought down to T a(d), which then holds too, because a only falls with d.
/// When no guess holds, the reach counts as unbounded.
VY_FN nap_reach nap_reach_of(const environment_model *env, const nap_params *nap,
                             const multirotor_params *vehicle, const rotor_layout *layout,
                             const body_state *s, const real *speed, const nap_inputs *inputs,
                             const real *deviation)
{
    const real period = inputs->period;
    nap_reach reach;
    memset(&reach, 0, sizeof reach);
    effect_reach *effect = &reach.effect;
    effect->disturbance = inputs->disturbance;
    effect->disturbance_torque = inputs->disturbance_torque;
    effect->magnetic_field = vec3_length(vec3_of(env->magnetic));
    effect->radiation_pressure = vec3_length(vec3_of(env->radiation_pressure));
    effect->air_rate = real_set(nap_planet_rate(env));
    nap_rotor_reach(nap, vehicle, layout, speed, inputs->command, effect);
    if (VY_BASIC_OR(0, bits_uniform(nap->rotors)))
        nap_rotor_air_reach(nap, vehicle, layout, speed, inputs, effect);
    // Torques change sqrt(2 E), E the energy of turning, by no more than t / sqrt(I_min) per second.
    const real inverse_inertia = 1.0 / nap->inertia_min;
    const real rotation_energy2 = vec3_dot(s->rate, mat3_mul_vec(vehicle->body.inertia, s->rate));
    real rate0 = real_sqrt(inverse_inertia * rotation_energy2) * (1.0 + 0x1p-40) + deviation[DEVIATION_RATE];
    // That holds of the rate relative to inertial space: it differs by the frame's, to there and back.
    if (VY_BASIC_OR(0, env->gravity.frame.on))
        rate0 = rate0 + 2.0 * nap_frame_rate(env) * (1.0 + real_sqrt(inverse_inertia * nap->inertia_max));
    if (VY_BASIC_OR(0, bits_uniform(nap->rotors)))
        effect->rate = rate0 + 1.0; // a guess as well: the rotors' effects see it

    const real altitude = altitude_at(env, s->position);
    reach.altitude = altitude;
    const double planet_rate = nap_planet_rate(env);
    const vec3 ground =
        frame_is_inertial(env) ? planet_ground_velocity(&env->planet, s->position) : vec3_zero();
    const real speed0 = vec3_length(s->velocity) + deviation[DEVIATION_VELOCITY];
    const real ground_speed0 = vec3_length(vec3_sub(s->velocity, ground)) + deviation[DEVIATION_VELOCITY] +
                               planet_rate * deviation[DEVIATION_POSITION];
    real speed_increase = real_set(1.0); // [m/s] of speed
    mask is_proven = mask_set(0);
    for (int pass = 0; pass < 3; ++pass) {
        const real distance = period * (speed0 + speed_increase);
        reach.max_distance = distance + deviation[DEVIATION_POSITION];
        if (VY_BASIC_OR(0, bits_uniform(nap->rotors)) && bits_uniform(nap->flat))
            effect->height_min = height_at(env, s->position) - (reach.max_distance + effect->arm);
        effect->speed = ground_speed0 + (speed_increase + planet_rate * distance);
        effect->gravity = gravity_bound(&env->gravity, s->position, reach.max_distance);
        if (VY_BASIC_OR(0, env->gravity.frame.on))
            effect->gravity =
                effect->gravity + nap_frame_bound(env, s->position, effect->speed, reach.max_distance);
        if (frame_is_inertial(env))
            effect->air_gravity = vec3_length(planet_centrifugal(&env->planet, s->position)) +
                                  (nap_planet_rate(env) * nap_planet_rate(env)) * reach.max_distance;
        effect->gravity_gradient = gravity_tide_bound(&env->gravity, s->position, reach.max_distance, 3);
        nap_air_reach(env, inputs, period, s->position, altitude, &reach);
        reach.acceleration =
            effect->gravity + vehicle->body.inverse_mass * nap_force_bound(&vehicle->effects, effect);
        // The air of a planet moves with it: nothing is known of who is faster.
        const real force = frame_is_inertial(env)
                               ? nap_force_bound(&vehicle->effects, effect)
                               : nap_accelerating_force_bound(&vehicle->effects, effect, effect->wind);
        const real increase_needed = period * (effect->gravity + vehicle->body.inverse_mass * force);
        is_proven = increase_needed <= speed_increase;
        if (VY_BASIC_OR(0, bits_uniform(nap->rotors))) {
            const real rate_bound =
                rate0 + inverse_inertia * (period * nap_accelerating_torque_bound(&vehicle->effects, effect));
            const mask rate_holds = rate_bound <= effect->rate;
            is_proven = is_proven & rate_holds;
            if (pass < 2)
                effect->rate = real_select(rate_holds, rate_bound * (1.0 + 1e-9), 1.5 * rate_bound + 1e-9);
        }
        if (pass < 2)
            speed_increase =
                real_select(is_proven, increase_needed * (1.0 + 1e-9), 1.5 * increase_needed + 1e-9);
    }
    nap_reach_set_unbounded(mask_not(is_proven), &reach);
    if (VY_BASIC_OR(0, bits_uniform(nap->rotors))) {
        effect->rate = real_select(is_proven, effect->rate, real_set(NAP_UNBOUNDED));
        return reach;
    }
    const real rate_bound =
        rate0 + inverse_inertia *
                    (period * nap_accelerating_torque_bound(&vehicle->effects, effect)); // no matter how fast
    effect->rate = real_min(rate_bound, real_set(NAP_UNBOUNDED));
    return reach;
}
