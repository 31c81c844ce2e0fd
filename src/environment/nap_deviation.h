// nap_deviation.h - the certificate: how far a motion with effects neglected can be from the strict one. Over
// `real`.
//
// Let x be the motion with effects neglected and y the strict one, from the same start under
// the same motor commands. For the differences e of body rate (in the norm of the inertia), a of attitude, v
// of velocity and p of position:
//
//   e' <= B_t / I_min + k_ee e + k_ea a + k_ev v + k_ep p
//   a' <= e
//   v' <= (B_f + k_va a + k_vv v + k_vp p) / m
//   p' <= v
//
// B_t, B_f are the bounds of what is neglected, taken over the reach of x and y alike. k_ee: in d/dt (1/2 e.I
// e) of Euler's equations all gyroscopic terms vanish but e.(w x I e), w the rate of x: nap_spin_growth().
// a' <= e: the axis of the relative rotation is the same in both body frames. Quadratic and linear
// drag and damping are monotone: they only bring x and y closer, and drop out of k_vv and k_ee. The system y'
// <= A y + b with A, b >= 0 gives y(T) <= e^(AT) (y(0) + b T).
#pragma once
#include "environment/nap_reach.h"

/// e^(AT) (y + b T) for the system at the top of this file, by its series; entries of `k` are all >= 0.
typedef struct deviation_system {
    real ee, ea, ev, ep; // of the rate
    real va, vv, vp;     // of the velocity
    real be, bv;         // what is neglected, per second
} deviation_system;

VY_FN void nap_propagate(const deviation_system *system, real period, real *deviation)
{
    enum { PARTS = 4, ORDER = 20 };
    const real part_period = period * (1.0 / PARTS);
    real sum[DEVIATION_COUNT];
    for (int i = 0; i < DEVIATION_COUNT; ++i) sum[i] = deviation[i];
    for (int n = 0; n < PARTS; ++n) {
        sum[DEVIATION_RATE] = sum[DEVIATION_RATE] + part_period * system->be;
        sum[DEVIATION_VELOCITY] = sum[DEVIATION_VELOCITY] + part_period * system->bv;
        real term[DEVIATION_COUNT];
        for (int i = 0; i < DEVIATION_COUNT; ++i) term[i] = sum[i];
        for (int order = 1; order <= ORDER; ++order) {
            const real h = part_period * (1.0 / order);
            const real e =
                (system->ee * term[0] + system->ea * term[1]) + (system->ev * term[2] + system->ep * term[3]);
            const real v = system->va * term[1] + system->vv * term[2] + system->vp * term[3];
            const real a = term[0], p = term[2];
            term[0] = h * e;
            term[1] = h * a;
            term[2] = h * v;
            term[3] = h * p;
            for (int i = 0; i < DEVIATION_COUNT; ++i) sum[i] = sum[i] + term[i];
        }
    }
    // Each series is cut; with the norm of A times a part below 3 the rest is below 1e-9 of the sum. Angles
    // and positions count as many times as makes the norm smallest: a spring k grows by sqrt(k). Motion of
    // the centre of mass has a bound of its own where the attitude does not move it.
    const real a = real_sqrt(real_max(system->ea, real_set(1.0))),
               p = real_sqrt(real_max(system->vp, real_set(1.0)));
    const real translation_norm = part_period * real_max(system->va / a + system->vv + system->vp / p, p);
    const real norm = part_period * real_max(system->ee + system->ea / a + system->ev + system->ep / p, a);
    const mask translation_converges = translation_norm < 3.0,
               converges = translation_converges & (norm < 3.0);
    const mask decoupled = system->va == 0.0;
    for (int i = 0; i < DEVIATION_COUNT; ++i) {
        const mask component_converges = i == DEVIATION_VELOCITY || i == DEVIATION_POSITION
                                             ? converges | (translation_converges & decoupled)
                                             : converges;
        const real next = sum[i] * (1.0 + 1e-8);
        const mask is_known =
            (component_converges & (next < NAP_UNBOUNDED)) | (next == 0.0); // zero stays zero
        deviation[i] = real_select(is_known, next, real_set(NAP_UNBOUNDED));
    }
}

/// How strongly lift can turn with the flow: 1 / sin of the least angle between flow and body z within reach,
/// or 0 when they can become parallel.
VY_FN real nap_lift_direction_gain(const body_state *s, const nap_reach *reach, real period, vec3 air,
                                   const real *deviation)
{
    const vec3 flow = vec3_sub(s->velocity, air);
    const real flow_speed = vec3_length(flow);
    const vec3 z = quat_rotate(s->attitude, vec3_make(real_set(0.0), real_set(0.0), real_set(1.0)));
    const real max_flow_change =
        deviation[DEVIATION_VELOCITY] + (period * reach->acceleration + reach->wind_change);
    const real min_flow_speed = flow_speed - max_flow_change;
    const real sine = vec3_length(vec3_cross(flow, z)) / real_max(flow_speed, real_set(1e-9));
    const real direction_change = deviation[DEVIATION_ANGLE] + period * reach->effect.rate +
                                  max_flow_change / real_max(min_flow_speed, real_set(1e-9));
    const real min_sine = sine - direction_change;
    return real_select((min_flow_speed > 0.0) & (min_sine > 0.05),
                       1.0 / real_max(min_sine * min_flow_speed, real_set(1e-9)), real_set(0.0));
}

/// How fast a difference of rates can grow by Euler's equations, in the norm of the inertia [1/s]: with W =
/// [w]x the largest eigenvalue of M = (I^-1 W I - W) / 2, whose trace is 0, and as much more as the rate can
/// change within the period. Newton's method comes down to it from above.
VY_FN real nap_spin_growth(const nap_params *nap, const multirotor_params *vehicle, vec3 rate,
                           real rate_change)
{
    const mat3 w = mat3_cross(rate),
               conjugated_w = mat3_mul(vehicle->body.inverse_inertia, mat3_mul(w, vehicle->body.inertia));
    mat3 m;
    real square = 1e-14 * vec3_dot(rate, rate); // what rounding can hide
    for (int i = 0; i < 9; ++i) m.m[i / 3][i % 3] = 0.5 * (conjugated_w.m[i / 3][i % 3] - w.m[i / 3][i % 3]);
    for (int i = 0; i < 9; ++i) square = square + m.m[i / 3][i % 3] * m.m[i % 3][i / 3];
    const real half_square = 0.5 * real_max(square, real_set(0.0));
    real eigenvalue = real_sqrt((4.0 / 3.0) * half_square);
    const real det = real_min(mat3_det(m), eigenvalue * eigenvalue * eigenvalue * 0.25);
    for (int round = 0; round < 3; ++round) {
        const real slope = 3.0 * (eigenvalue * eigenvalue) - half_square;
        eigenvalue = real_select(slope > 0.0,
                                 (2.0 * (eigenvalue * eigenvalue * eigenvalue) + det) /
                                     real_select(slope > 0.0, slope, real_set(1.0)),
                                 eigenvalue);
    }
    const real inertia_spread =
        (nap->inertia_max - nap->inertia_min) / real_sqrt(3.0 * (nap->inertia_max * nap->inertia_min));
    return eigenvalue * (1.0 + 1e-9) + inertia_spread * rate_change;
}

/// Velocity of the air at the body, as the effects that are on see it. (Turbulence has no certificate.)
VY_FN vec3 nap_air_velocity(const environment_model *env, vec3 position, real time, bits flags)
{
    planet_frame place;
    vec3 lookup_position = position;
    if (frame_is_inertial(env)) {
        place = planet_locate(&env->planet, position);
        lookup_position = vec3_make(real_set(0.0), real_set(0.0), place.altitude);
    } else if (env->planet.on) {
        lookup_position = wind_lookup_position(env, position, height_at(env, position));
    }
    const vec3 wind =
        env->has_wind ? mean_wind_at(&env->wind, env->constant_wind, lookup_position, time) : vec3_zero();
    return air_velocity(env, position, &place, vec3_masked(effect_on(flags, EFFECT_wind), wind));
}

/// What a frame that turns adds: its torque; the Coriolis acceleration turns a deviation, no more.
VY_FN void nap_add_frame(double frame_rate, const nap_params *nap, real rate, deviation_system *k)
{
    const real frame_gain = 2.0 * (nap->inertia_max * (1.0 / nap->inertia_min)) + 1.0;
    k->ee = k->ee + frame_rate * (2.0 * frame_gain);
    k->ea = k->ea + frame_rate * (frame_gain * 2.0 * (rate + frame_rate));
}

/// How far the loads that are computed can be apart in two motions, per unit of the motions' deviations. What
/// is left out adds nothing here: it is in the neglect whole, wherever the strict motion is. `both` and
/// `bounds` are of both motions, `flown` is of the flown one alone.
VY_FN deviation_system nap_sensitivity(const environment_model *env, const nap_params *nap,
                                       const multirotor_params *vehicle, const body_state *s,
                                       const nap_inputs *inputs, bits flags, const nap_reach *flown,
                                       const nap_reach *both, const nap_bounds *bounds, mask can_differ,
                                       const real *deviation)
{
    const effect_reach *both_effect = &both->effect, *flown_effect = &flown->effect;
    const effect_params *effects = &vehicle->effects;
    const real zero = real_set(0.0), density_max = both_effect->density;
    // A product differs by one factor's difference times the other one's value in the flown motion, and the
    // rest; a square by the sum of both times the difference.
    const real flow = both_effect->speed + both_effect->wind,
               flown_flow = flown_effect->speed + flown_effect->wind, mean_flow = 0.5 * (flow + flown_flow);
    const real flown_drag = effect_drag_bound(effects, flown_effect).force,
               flown_lift = effect_lift_bound(effects, flown_effect).force;
#define IF_ON(effect, value) real_select(effect_on(flags, EFFECT_##effect), value, zero)
    const real drag = IF_ON(drag, bounds->effect[EFFECT_drag].force),
               lift = bounds->effect[EFFECT_lift].force;
    const vec3 linear_drag = effects->linear_drag;
    const real linear = IF_ON(linear_drag, vec3_max_abs(linear_drag));
    // What is the same in all directions does not turn.
    const real linear_drag_min = real_min(real_min(linear_drag.x, linear_drag.y), linear_drag.z);
    const real arm = IF_ON(aero_torque, vec3_length(effects->pressure_centre));
    // Torque per density and speed.
    const real damping_gain =
        IF_ON(damping, 0.25 * vec3_max_abs(effects->rate_damping_area) * flown_effect->rate);
    const mask has_lift = (effect_on(flags, EFFECT_lift) | (arm > 0.0)) & (lift > 0.0);
    const vec3 air = nap_air_velocity(env, s->position, inputs->time, flags);
    const real lift_direction_gain = nap_lift_direction_gain(s, both, inputs->period, air, deviation);
    // Then twice its strength is at stake.
    const mask lift_may_flip = can_differ & has_lift & (lift_direction_gain == 0.0);
    // Forces per radian and per m/s.
    const real lift_a = real_select(has_lift, flown_lift * lift_direction_gain * flown_flow, zero);
    const real lift_v = real_select(
        has_lift, density_max * real_abs(effects->lift_area) * mean_flow + flown_lift * lift_direction_gain,
        zero);
    const real drag_v = density_max * effects->drag_area * mean_flow;
    // Per metre: by the density, whose scale height is above 5 km everywhere, and by the velocity of the air.
    const real density_gradient = real_set(env->air.mode == ATMOSPHERE_LAYERED ? 1.0 / 5000.0 : 0.0);
    const real slope = nap_planet_rate(env) + IF_ON(wind, both->wind_slope);
    const real rotors = IF_ON(density, effects->density_ratio * (density_max * (1.0 / REFERENCE_DENSITY)));
    const real force_p = (drag + IF_ON(lift, lift) + IF_ON(buoyancy, bounds->effect[EFFECT_buoyancy].force) +
                          rotors * both_effect->rotor_force) *
                             density_gradient +
                         (IF_ON(drag, drag_v) + linear + IF_ON(lift, lift_v)) * slope;
    const real torque_p = (arm * (bounds->effect[EFFECT_drag].force + lift) +
                           rotors * both_effect->rotor_torque + density_max * damping_gain * flow) *
                              density_gradient +
                          (arm * (drag_v + lift_v) + density_max * damping_gain) * slope;
    const double frame_rate = nap_frame_rate(env);
    const real gradient =
        gravity_gradient_bound(&env->gravity, s->position, both->max_distance) + frame_rate * frame_rate;
    const real displaced_mass = IF_ON(buoyancy, density_max * effects->volume);
    const real inverse_inertia = 1.0 / nap->inertia_min, inverse_mass = vehicle->body.inverse_mass;
    const real inertia_spread = nap->inertia_max - nap->inertia_min;
    const real rate_change = inputs->period * inverse_inertia *
                             (nap_torque_bound(effects, flown_effect) +
                              0.5 * inertia_spread * (flown_effect->rate * flown_effect->rate));
    deviation_system k;
    k.ee = nap_spin_growth(nap, vehicle, s->rate, real_min(rate_change, 2.0 * flown_effect->rate));
    k.ea = inverse_inertia * (IF_ON(disturbance_torque, inputs->torque_world) +
                              IF_ON(magnetic, bounds->effect[EFFECT_magnetic].torque) +
                              IF_ON(gravity_gradient, 2.0 * bounds->effect[EFFECT_gravity_gradient].torque) +
                              arm * (flown_drag + lift_a + flown_lift));
    k.ev = inverse_inertia * (arm * (drag_v + lift_v) + density_max * damping_gain);
    // u x I u changes by the spread per radian; by its direction, and with GM / |d|^3, per metre.
    const real tide = gravity_tide_bound(&env->gravity, s->position, both->max_distance, 4);
    k.ep = inverse_inertia * (torque_p + IF_ON(gravity_gradient, 7.5 * (tide * effects->inertia_spread)));
    k.va = inverse_mass * (both_effect->rotor_force + IF_ON(density, bounds->effect[EFFECT_density].force) +
                           IF_ON(disturbance, inputs->force_body) +
                           IF_ON(linear_drag, (vec3_max_abs(linear_drag) - linear_drag_min) * flown_flow) +
                           IF_ON(lift, lift_a));
    k.vv = inverse_mass * IF_ON(lift, lift_v);
    k.vp = gradient * (IF_ON(gravity, real_set(1.0)) + inverse_mass * displaced_mass);
    k.vp = k.vp + inverse_mass * force_p;
    k.vp = k.vp + inverse_mass * displaced_mass * (both_effect->air_rate * both_effect->air_rate);
    k.be = inverse_inertia * real_select(lift_may_flip, 2.0 * arm * lift, zero);
    k.bv = inverse_mass * real_select(lift_may_flip, 2.0 * IF_ON(lift, lift), zero);
#undef IF_ON
    if (env->gravity.frame.on) nap_add_frame(frame_rate, nap, both_effect->rate, &k);
    return k;
}

/// Advance the certificate over one period, with `flags` as decided for it, the reach of the flown motion,
/// and reach and bounds of both.
VY_FN void nap_certify_within(const environment_model *env, const nap_params *nap,
                              const multirotor_params *vehicle, const body_state *s, const nap_inputs *inputs,
                              bits flags, const nap_reach *flown, const nap_reach *both,
                              const nap_bounds *bounds, real *deviation)
{
    real force = real_set(0.0), torque = real_set(0.0);
    for (int i = 0; i < EFFECT_COUNT; ++i) {
        if (!nap_has_effect(nap, i)) continue;
        const mask is_off = mask_not(effect_on(flags, i));
        force = force + real_select(is_off, bounds->effect[i].force, real_set(0.0));
        torque = torque + real_select(is_off, bounds->effect[i].torque, real_set(0.0));
    }
    mask can_differ = (force > 0.0) | (torque > 0.0);
    for (int i = 0; i < DEVIATION_COUNT; ++i) can_differ = can_differ | (deviation[i] > 0.0);
    deviation_system k =
        nap_sensitivity(env, nap, vehicle, s, inputs, flags, flown, both, bounds, can_differ, deviation);
    k.be = k.be + torque / nap->inertia_min;
    k.bv = k.bv + vehicle->body.inverse_mass * force;
    nap_propagate(&k, inputs->period, deviation);
}

/// The same, with reach and bounds of both computed here.
VY_FN void nap_certify(const environment_model *env, const nap_params *nap, const multirotor_params *vehicle,
                       const rotor_layout *layout, const body_state *s, const real *speed,
                       const nap_inputs *inputs, bits flags, const nap_reach *flown, real *deviation)
{
    const nap_reach both = nap_reach_of(env, nap, vehicle, layout, s, speed, inputs, deviation);
    const nap_bounds bounds = nap_bounds_of(&vehicle->effects, &both.effect);
    nap_certify_within(env, nap, vehicle, s, inputs, flags, flown, &both, &bounds, deviation);
}
