// nap.h - the negligibility policy: which effects are computed, what zeroing the others can have done. Over
// `real`.
//
// At every evaluation the body's *reach* until the next one is bounded: how fast it can get, how fast it can
// turn, how dense and windy the air can be there. From it each effect states a force and a torque that it
// cannot exceed. An effect whose bounds are below the thresholds is computed as zero until the next
// evaluation.
//
// The certificate. Let x be the motion with effects neglected and y the strict one, from the same start under
// the same motor commands. For the differences e of body rate (in the norm of the inertia), a of attitude, v
// of velocity and p of position:
//
//   e' <= B_t / I_min + k_ee e + k_ea a + k_ev v + k_ep p    k_ee = w_max (I_max - I_min) / (2 I_min)
//   a' <= e
//   v' <= (B_f + k_va a + k_vv v + k_vp p) / m
//   p' <= v
//
// B_t, B_f are the bounds of what is neglected, taken over the reach of x and y alike. k_ee: in d/dt (1/2 e.I
// e) of Euler's equations all gyroscopic terms vanish but e.(w x I e), and |I e x e| <= (I_max - I_min)/2
// |e|^2. a' <= e: the axis of the relative rotation is the same in both body frames. Quadratic and linear
// drag and damping are monotone: they only bring x and y closer, and drop out of k_vv and k_ee. The system y'
// <= A y + b with A, b >= 0 gives y(T) <= e^(AT) (y(0) + b T).
#pragma once
#include "equations/multirotor.h"

/// Constants of one drone under the policy.
typedef struct nap_params {
    real force_off, torque_off;       // [N], [N m] thresholds, the larger of absolute and relative
    real force_on, torque_on;         // the same to come back
    real period;                      // [s] between evaluations
    real inertia_least, inertia_most; // [kg m^2] principal moments
    real rotor_speed_max;             // [rad/s]
    real horizon;                     // [s]
    // The same in every lane.
    bits rotor_count;
    bits strict;    // everything is computed
    bits open_loop; // motor commands do not depend on the motion
    bits rotors;    // the vehicle's rotors have effects of their own
    bits flat;      // the ground is z = 0
    bits bumpy;     // there are obstacles: the ground may be anywhere
} nap_params;

/// Greatest deviations of the strict motion from this one.
enum { DEVIATION_RATE, DEVIATION_ANGLE, DEVIATION_VELOCITY, DEVIATION_POSITION, DEVIATION_COUNT };

typedef struct nap_state {
    real impulse[EFFECT_COUNT];      // [N s] neglected at most, per effect
    real angular[EFFECT_COUNT];      // [N m s]
    real deviation[DEVIATION_COUNT]; // [rad/s], [rad], [m/s], [m]; NAP_UNBOUNDED when it cannot be told
} nap_state;

#define NAP_UNBOUNDED 1e30

/// What an evaluation needs to know beside the body.
typedef struct nap_moment {
    real time;               // [s]
    real disturbance, twist; // [N], [N m] no declared disturbance exceeds this until the next evaluation
    real turbulence;         // [m/s] likewise
    const real *command;     // [rad/s] rotor speeds told
    real downwash;           // [m/s] no wake of another drone is faster
    int turbulent; // turbulence is declared: its filter follows the motion, and so has no certificate
} nap_moment;

typedef struct nap_bounds {
    effect_bound of[EFFECT_COUNT];
} nap_bounds;

VY_FN nap_bounds nap_bounds_of(const effect_params *p, const effect_reach *r)
{
    nap_bounds b;
#define EFFECT(name, text)       b.of[EFFECT_##name] = effect_##name##_bound(p, r);
#define ROTOR_EFFECT(name, text) // below
#include "equations/effects.inl"
#undef EFFECT
    for (int i = EFFECT_FIRST_OF_ROTORS; i < EFFECT_COUNT; ++i)
        b.of[i] = bound_of(real_set(0.0), real_set(0.0));
    if (!r->rotors) return b;
#define EFFECT(name, text)       // above
#define ROTOR_EFFECT(name, text) b.of[EFFECT_##name] = effect_##name##_bound(p, r);
#include "equations/effects.inl"
#undef EFFECT
    return b;
}

/// No gravity within `far` [m] of `r` is stronger than this [m/s^2].
VY_FN real gravity_bound(const gravity_params *p, vec3 r, real far)
{
    real g = vec3_length(p->uniform);
    for (int i = 0; i < p->body_count; ++i) {
        const gravity_body *b = &p->bodies[i];
        const real d = vec3_length(vec3_make(r.x - b->x, r.y - b->y, r.z - b->z)) - far;
        const real safe = real_max(d, real_set(1.0)); // within a metre of the centre all bets are off
        const real c = 1.5 * real_abs(real_set(b->j2)) * (b->radius / safe) * (b->radius / safe);
        g = g + b->gm / (safe * safe) * (1.0 + 4.0 * c);
    }
    return g;
}

/// How much gravity can change per metre there [1/s^2].
VY_FN real gravity_gradient_bound(const gravity_params *p, vec3 r, real far)
{
    real k = real_set(0.0);
    for (int i = 0; i < p->body_count; ++i) {
        const gravity_body *b = &p->bodies[i];
        const real d = vec3_length(vec3_make(r.x - b->x, r.y - b->y, r.z - b->z)) - far;
        const real safe = real_max(d, real_set(1.0));
        const real c = 1.5 * real_abs(real_set(b->j2)) * (b->radius / safe) * (b->radius / safe);
        k = k + 2.0 * b->gm / (safe * safe * safe) * (1.0 + 20.0 * c);
    }
    return k;
}

/// How much the mean wind can change per metre above the height `low` [1/s].
VY_FN real wind_slope_bound(const wind_params *p, real low)
{
    real slope = real_set(0.0);
    const double scale = p->shear_scale < 0.0 ? -p->shear_scale : p->shear_scale;
    if (p->shear == WIND_SHEAR_LINEAR) slope = real_set(scale);
    if (p->shear == WIND_SHEAR_LOGARITHMIC) slope = scale / real_max(low, real_set(p->shear_roughness));
    if (p->shear == WIND_SHEAR_POWER) {
        // Steepest at the ground, where an exponent below 1 has no bound; above 1 it is not bounded here.
        const mask fine = (low > 0.0) & mask_set(p->shear_power <= 1.0);
        const real at = real_select(fine, low / p->shear_height, real_set(1.0));
        const real steep =
            scale * p->shear_power / p->shear_height * math_pow(at, real_set(p->shear_power - 1.0));
        slope = real_select(fine, steep, real_set(NAP_UNBOUNDED));
    }
    const wind_grid *g = &p->grid;
    if (g->velocity != NULL) {
        const double most = 2.0 * g->fastest;
        slope = slope + most * ((g->nx > 1 ? 1.0 / g->dx : 0.0) + (g->ny > 1 ? 1.0 / g->dy : 0.0) +
                                (g->nz > 1 ? 1.0 / g->dz : 0.0));
    }
    return slope;
}

/// The reach of a body until the next evaluation, its state known up to the given deviations.
typedef struct nap_reach {
    effect_reach effect;
    real acceleration; // [m/s^2] it cannot exceed
    real far;          // [m] it cannot leave this distance
    real wind_slope;   // [1/s] change of the wind per metre
    real wind_change;  // [m/s] of the air at the body, by its way and by time
} nap_reach;

VY_FN real nap_altitude(const surroundings *env, vec3 position)
{
    return env->planet.on ? planet_locate(&env->planet, position).altitude : position.z;
}

/// The planet's rate of turning, without its sign [1/s]; 0 in a flat world.
VY_FN double nap_planet_rate(const surroundings *env)
{
    if (!env->planet.on) return 0.0;
    return env->planet.rate < 0.0 ? -env->planet.rate : env->planet.rate;
}

/// How much the wind at a body can change until the next evaluation, by its way and by time [m/s].
VY_FN real nap_wind_change(const wind_params *p, real period, real way, real slope, real wind)
{
    real change = slope * way;
    for (int i = 0; i < p->gust_count; ++i) {
        const wind_gust *g = &p->gusts[i];
        const real size = vec3_length(vec3_make(real_set(g->x), real_set(g->y), real_set(g->z)));
        const double brief = g->rise < g->fall ? g->rise : g->fall;
        change = change + size * real_min(period * (1.5707963267948968 / brief), real_set(1.0));
    }
    if (p->grid.velocity != NULL && p->grid.nt > 1) {
        change = change + 2.0 * p->grid.fastest * (period / p->grid.dt);
    }
    return real_min(change, 2.0 * wind);
}

/// Air and wind within r->far of a place.
VY_FN void nap_look_at_air(const surroundings *env, const nap_moment *m, real period, vec3 position,
                           real altitude, nap_reach *r)
{
    effect_reach *e = &r->effect;
    const real low = altitude - r->far, high = altitude + r->far;
    e->air = env->air.mode != ATMOSPHERE_NONE;
    e->density = air_at(&env->air, low).density; // the air only gets thinner upwards
    e->density_least = air_at(&env->air, high).density;
    if (env->air.mode == ATMOSPHERE_LAYERED) {
        // The formula ends at the centre of the Earth: nothing is known of what lies far below the ground.
        e->density = real_select(low > -1e5, e->density, real_set(NAP_UNBOUNDED));
    }
    e->rotor_air =
        1.0 + real_abs(e->density * (1.0 / REFERENCE_DENSITY) - 1.0); // whether they follow it or not
    e->wind = e->downwash;
    r->wind_slope = real_set(0.0);
    r->wind_change = nap_planet_rate(env) * r->far; // of the air that turns with the planet
    if (!env->windy) return;
    e->wind = e->downwash +
              wind_speed_bound_from(&env->wind, env->breeze, low, high, m->time, m->time + period) +
              m->turbulence;
    r->wind_slope = wind_slope_bound(&env->wind, low);
    if (env->planet.on) { // east, north and up turn on the way
        const double curve = env->planet.radius / (env->planet.polar * env->planet.polar);
        const real axis = real_sqrt(position.x * position.x + position.y * position.y) - r->far;
        const real turn =
            real_select(axis > 1.0, 1.0 / real_max(axis, real_set(1.0)), real_set(NAP_UNBOUNDED));
        r->wind_slope = r->wind_slope + e->wind * (turn + 2.0 * curve);
    }
    r->wind_change = r->wind_change + nap_wind_change(&env->wind, period, r->far, r->wind_slope, e->wind);
}

/// What all effects of the rotors together can do. The battery's is in the top speed of the rotors already.
VY_FN effect_bound nap_rotor_effects(const effect_params *p, const effect_reach *e)
{
    effect_bound sum = bound_of(real_set(0.0), real_set(0.0));
    if (!e->rotors) return sum;
#define EFFECT(name, text)
#define ROTOR_EFFECT(name, text)                                               \
    if (EFFECT_##name != EFFECT_battery && EFFECT_##name != EFFECT_downwash) { \
        const effect_bound b = effect_##name##_bound(p, e);                    \
        sum = bound_of(sum.force + b.force, sum.torque + b.torque);            \
    }
#include "equations/effects.inl"
#undef EFFECT
    return sum;
}

/// Sum of all forces but gravity.
VY_FN real nap_push(const effect_params *p, const effect_reach *e)
{
    real force = (e->rotor_force + e->disturbance) + e->thruster_force;
    force = force + effect_density_bound(p, e).force + effect_buoyancy_bound(p, e).force;
    force = force + effect_radiation_bound(p, e).force + effect_lift_bound(p, e).force;
    force = force + (effect_drag_bound(p, e).force + effect_linear_drag_bound(p, e).force);
    return e->rotors ? force + nap_rotor_effects(p, e).force : force;
}

/// Sum of all torques.
VY_FN real nap_turn(const effect_params *p, const effect_reach *e)
{
    real torque = (e->rotor_torque + e->twist) + e->thruster_torque;
    torque = torque + effect_density_bound(p, e).torque + effect_aero_torque_bound(p, e).torque;
    torque = torque + effect_magnetic_bound(p, e).torque + effect_damping_bound(p, e).torque;
    return e->rotors ? torque + nap_rotor_effects(p, e).torque : torque;
}

/// The same for rotors of any axis and polynomial: what each can do at most, all together.
VY_FN void nap_look_at_general_rotors(const nap_params *n, const multirotor_params *p,
                                      const rotor_layout *layout, const real *speed, const real *command,
                                      effect_reach *e)
{
    const real linear = real_abs(p->shape.linear), cubic = real_abs(p->shape.cubic);
    real force = real_set(0.0), torque = real_set(0.0);
    for (int i = 0; i < bits_uniform(n->rotor_count); ++i) {
        const real target = bits_uniform(n->open_loop) ? command[i] : n->rotor_speed_max;
        const real w = real_max(speed[i], target);
        const real thrust = layout->thrust_scale[i] * (w * (linear + w * (p->rotor.thrust_coef + cubic * w)));
        force = force + thrust;
        torque = torque + thrust * (vec3_length(vec3_of(layout->lever[i])) +
                                    layout->torque_scale[i] * p->shape.torque_ratio);
    }
    e->rotor_force = force * (1.0 + 0x1p-40); // what rounding can hide
    e->rotor_torque = torque * (1.0 + 0x1p-40);
    const thruster_layout *t = &layout->thrusters;
    for (int i = 0; i < t->count; ++i) { // each may be told anything
        const real most = real_set(t->most[i] * (1.0 + 0x1p-40));
        e->thruster_force = e->thruster_force + most;
        e->thruster_torque = e->thruster_torque + most * vec3_length(vec3_of(t->lever[i]));
    }
}

/// What the rotors can do within the period. In an open loop each one's speed lies between what it is and
/// what it is told; in a closed loop it may be told anything. Torques: the middle of the range, and half its
/// width on top.
VY_FN void nap_look_at_rotors(const nap_params *n, const multirotor_params *p, const rotor_layout *layout,
                              const real *speed, const real *command, effect_reach *e)
{
    const int open_loop = bits_uniform(n->open_loop);
    vec3 torque = vec3_zero();
    real force = real_set(0.0), slack = real_set(0.0);
    if (layout->general) {
        nap_look_at_general_rotors(n, p, layout, speed, command, e);
        return;
    }
    for (int i = 0; i < bits_uniform(n->rotor_count); ++i) {
        const real target = open_loop ? command[i] : n->rotor_speed_max;
        const real high = real_max(speed[i], target);
        const real low = open_loop ? real_min(speed[i], target) : real_set(0.0);
        const real most = high * high, middle = 0.5 * (most + low * low), half = most - middle;
        const real thrust = p->rotor.thrust_coef * middle, drag = p->rotor.torque_coef * middle;
        torque = vec3_add(
            torque, vec3_make(layout->roll[i] * thrust, layout->pitch[i] * thrust, layout->yaw[i] * drag));
        force = force + p->rotor.thrust_coef * most;
        slack = slack + half * (p->rotor.thrust_coef * (real_abs(real_set(layout->roll[i])) +
                                                        real_abs(real_set(layout->pitch[i]))) +
                                p->rotor.torque_coef);
    }
    e->rotor_force = force * (1.0 + 0x1p-40); // what rounding can hide
    e->rotor_torque = vec3_length(torque) + slack + 0x1p-40 * force;
}

/// What the rotors' effects can see within the period.
VY_FN void nap_look_at_rotor_air(const nap_params *n, const multirotor_params *p, const rotor_layout *layout,
                                 const real *speed, const nap_moment *m, effect_reach *e)
{
    const rotor_air_params *r = &p->effects.rotors;
    e->rotors = 1;
    e->rotor_count = real_of_whole(n->rotor_count);
    e->rotor_speed = n->rotor_speed_max;
    real thrust = real_set(0.0);
    for (int i = 0; i < bits_uniform(n->rotor_count); ++i) {
        e->rotor_speed = real_max(e->rotor_speed, speed[i]);
        e->arm = real_max(e->arm, vec3_length(vec3_of(layout->place[i])));
        e->lever = real_max(e->lever, vec3_length(vec3_of(layout->lever[i])));
        thrust = real_max(thrust, real_set(layout->thrust_scale[i]));
    }
    const real w = e->rotor_speed;
    thrust = thrust *
             (w * (real_abs(p->shape.linear) + w * (p->rotor.thrust_coef + real_abs(p->shape.cubic) * w)));
    // A round world has no ground near.
    e->height_least = real_set(bits_uniform(n->bumpy) ? 0.0 : NAP_UNBOUNDED);
    e->rotor_gain = w * real_max(p->shape.rise, p->shape.fall);
    e->hover_flow = real_sqrt(thrust / real_select(r->disc > 0.0, r->disc, real_set(1.0)));
    e->inflow = 2.1 * e->hover_flow; // the measured curve ends at 2.04
    e->downwash = m->downwash;
}

/// Where `lost`, nothing is known of where the body can be.
VY_FN void nap_reach_lose(mask lost, nap_reach *r)
{
    const real endless = real_set(NAP_UNBOUNDED);
    effect_reach *e = &r->effect;
    e->speed = real_select(lost, endless, e->speed);
    e->gravity = real_select(lost & (e->gravity > 0.0), endless, e->gravity);
    e->density = real_select(lost & mask_set(e->air), endless, e->density);
    e->density_least = real_select(lost, real_set(0.0), e->density_least);
    e->wind = real_select(lost & (e->wind > 0.0), endless, e->wind);
    e->height_least = real_select(lost & (e->height_least < endless), real_set(0.0), e->height_least);
    r->acceleration = real_select(lost, endless, r->acceleration);
    r->far = real_select(lost, endless, r->far);
}

/// Bound where the body can be and how it can move within the period. A gain of
/// speed d is out of reach when d >= T a(d), a(d) the greatest acceleration at speeds up to v0 + d. A guess
/// is tried; when it holds it is brought down to T a(d), which then holds too, because a only falls with d.
/// When no guess holds, the reach counts as endless.
VY_FN nap_reach nap_reach_of(const surroundings *env, const nap_params *n, const multirotor_params *p,
                             const rotor_layout *layout, const body_state *s, const real *speed,
                             const nap_moment *m, const real *deviation)
{
    const real period = n->period;
    nap_reach r;
    memset(&r, 0, sizeof r);
    effect_reach *e = &r.effect;
    e->disturbance = m->disturbance;
    e->twist = m->twist;
    e->magnetic_field = vec3_length(vec3_of(env->magnetic));
    e->light = vec3_length(vec3_of(env->light));
    nap_look_at_rotors(n, p, layout, speed, m->command, e);
    if (bits_uniform(n->rotors)) nap_look_at_rotor_air(n, p, layout, speed, m, e);
    const real spin0 =
        vec3_length(mat3_mul_vec(p->body.inertia, s->rate)) + n->inertia_most * deviation[DEVIATION_RATE];
    const real inverse = 1.0 / n->inertia_least;
    if (bits_uniform(n->rotors))
        e->rate = inverse * spin0 + 1.0; // a guess as well: the rotors' effects see it

    const real altitude = nap_altitude(env, s->position);
    const double turning = nap_planet_rate(env);
    const vec3 ground = env->planet.on ? planet_ground_velocity(&env->planet, s->position) : vec3_zero();
    const real v0 = vec3_length(s->velocity) + deviation[DEVIATION_VELOCITY];
    const real over0 = vec3_length(vec3_sub(s->velocity, ground)) + deviation[DEVIATION_VELOCITY] +
                       turning * deviation[DEVIATION_POSITION];
    real gain = real_set(1.0); // [m/s] of speed
    mask holds = mask_set(0);
    for (int round = 0; round < 3; ++round) {
        const real way = period * (v0 + gain);
        r.far = way + deviation[DEVIATION_POSITION];
        if (bits_uniform(n->rotors) && bits_uniform(n->flat))
            e->height_least = s->position.z - (r.far + e->arm);
        e->speed = over0 + (gain + turning * way);
        e->gravity = gravity_bound(&env->gravity, s->position, r.far);
        nap_look_at_air(env, m, period, s->position, altitude, &r);
        r.acceleration = e->gravity + p->body.inverse_mass * nap_push(&p->effects, e);
        const real need = period * r.acceleration;
        holds = need <= gain;
        if (bits_uniform(n->rotors)) {
            const real turn = inverse * (spin0 + period * nap_turn(&p->effects, e));
            const mask turns = turn <= e->rate;
            holds = holds & turns;
            if (round < 2) e->rate = real_select(turns, turn * (1.0 + 1e-9), 1.5 * turn + 1e-9);
        }
        if (round < 2) gain = real_select(holds, need * (1.0 + 1e-9), 1.5 * need + 1e-9);
    }
    nap_reach_lose(mask_not(holds), &r);
    if (bits_uniform(n->rotors)) {
        e->rate = real_select(holds, e->rate, real_set(NAP_UNBOUNDED));
        return r;
    }
    e->rate = inverse * spin0;
    e->rate = 1.5 * (e->rate + inverse * (period * nap_turn(&p->effects, e))) + 1e-9;
    const real need = inverse * (spin0 + period * nap_turn(&p->effects, e));
    e->rate = real_select(need <= e->rate, need, real_set(NAP_UNBOUNDED));
    return r;
}

/// How many effects there are for a vehicle: those of rotors come last.
VY_FN int nap_effect_count(const nap_params *n)
{
    return bits_uniform(n->rotors) ? EFFECT_COUNT : EFFECT_FIRST_OF_ROTORS;
}

/// One bit per effect: zeroed when below both thresholds, computed again when above one of the higher ones.
VY_FN bits nap_decide(const nap_params *n, const nap_bounds *b, bits flags)
{
    for (int i = 0; i < nap_effect_count(n); ++i) {
        const bits bit = bits_set((uint64_t)1 << i);
        // An effect that is zero exactly need not be computed even when nothing may be neglected.
        const mask none = (b->of[i].force == 0.0) & (b->of[i].torque == 0.0);
        if (bits_uniform(n->strict)) {
            flags = bits_select(none, flags & ~bit, flags | bit);
            continue;
        }
        const mask small = (b->of[i].force < n->force_off) & (b->of[i].torque < n->torque_off);
        const mask large = (b->of[i].force > n->force_on) | (b->of[i].torque > n->torque_on);
        flags = bits_select(small | none, flags & ~bit, bits_select(large, flags | bit, flags));
    }
    return flags;
}

/// e^(AT) (y + b T) for the system at the top of this file, by its series; entries of `k` are all >= 0.
typedef struct deviation_system {
    real ee, ea, ev, ep; // of the rate
    real va, vv, vp;     // of the velocity
    real be, bv;         // what is neglected, per second
} deviation_system;

VY_FN void nap_deviate(const deviation_system *k, real period, real *y)
{
    real term[DEVIATION_COUNT], sum[DEVIATION_COUNT];
    term[DEVIATION_RATE] = y[DEVIATION_RATE] + period * k->be;
    term[DEVIATION_ANGLE] = y[DEVIATION_ANGLE];
    term[DEVIATION_VELOCITY] = y[DEVIATION_VELOCITY] + period * k->bv;
    term[DEVIATION_POSITION] = y[DEVIATION_POSITION];
    for (int i = 0; i < DEVIATION_COUNT; ++i) sum[i] = term[i];
    for (int order = 1; order <= 24; ++order) {
        const real h = period * (1.0 / order);
        const real e = (k->ee * term[0] + k->ea * term[1]) + (k->ev * term[2] + k->ep * term[3]);
        const real v = k->va * term[1] + k->vv * term[2] + k->vp * term[3];
        const real a = term[0], p = term[2];
        term[0] = h * e;
        term[1] = h * a;
        term[2] = h * v;
        term[3] = h * p;
        for (int i = 0; i < DEVIATION_COUNT; ++i) sum[i] = sum[i] + term[i];
    }
    // The series is cut after order 24; with the norm of AT below 4 the rest is below 1e-9 of the sum.
    const real norm = period * real_max(1.0 + k->ee + k->ea + k->ev + k->ep, 1.0 + k->va + k->vv + k->vp);
    const mask fine = norm < 4.0;
    for (int i = 0; i < DEVIATION_COUNT; ++i) {
        const real next = sum[i] * (1.0 + 1e-8);
        const mask known = (fine & (next < NAP_UNBOUNDED)) | (next == 0.0); // nothing comes of nothing
        y[i] = real_select(known, next, real_set(NAP_UNBOUNDED));
    }
}

/// How strongly lift can turn with the flow: 1 / sin of the least angle between flow and body z within reach,
/// or 0 when they can become parallel.
VY_FN real nap_lift_steadiness(const body_state *s, const nap_reach *r, real period, vec3 air,
                               const real *deviation)
{
    const vec3 flow = vec3_sub(s->velocity, air);
    const real v = vec3_length(flow);
    const vec3 z = quat_rotate(s->attitude, vec3_make(real_set(0.0), real_set(0.0), real_set(1.0)));
    const real slack = deviation[DEVIATION_VELOCITY] + (period * r->acceleration + r->wind_change);
    const real least = v - slack;
    const real sine = vec3_length(vec3_cross(flow, z)) / real_max(v, real_set(1e-9));
    const real turn =
        deviation[DEVIATION_ANGLE] + period * r->effect.rate + slack / real_max(least, real_set(1e-9));
    const real s_min = sine - turn;
    return real_select((least > 0.0) & (s_min > 0.05), 1.0 / real_max(s_min * least, real_set(1e-9)),
                       real_set(0.0));
}

/// Velocity of the air at the body, as the effects that are on see it. (Turbulence has no certificate.)
VY_FN vec3 nap_air_velocity(const surroundings *env, vec3 position, real time, bits flags)
{
    planet_place place;
    vec3 at = position;
    if (env->planet.on) {
        place = planet_locate(&env->planet, position);
        at = vec3_make(real_set(0.0), real_set(0.0), place.altitude);
    }
    const vec3 wind = env->windy ? wind_from(&env->wind, env->breeze, at, time) : vec3_zero();
    return air_velocity(env, position, &place, vec3_if(effect_on(flags, EFFECT_wind), wind));
}

/// How far the loads that are computed can be apart in two motions, per unit of the motions' deviations.
VY_FN deviation_system nap_sensitivity(const surroundings *env, const nap_params *n,
                                       const multirotor_params *p, const body_state *s, const nap_moment *m,
                                       bits flags, const nap_reach *r, const nap_bounds *b, mask apart,
                                       const real *deviation)
{
    const effect_reach *e = &r->effect;
    const effect_params *c = &p->effects;
    const real zero = real_set(0.0);
    const real flow = e->speed + e->wind;
    const real drag = b->of[EFFECT_drag].force, lift = b->of[EFFECT_lift].force;
    const real linear = vec3_most(c->linear_drag), arm = vec3_length(c->pressure_centre);
    const real spin = 0.25 * vec3_most(c->spin_area) * e->rate; // damping torque per density and speed
    const mask lifts = (effect_on(flags, EFFECT_lift) | effect_on(flags, EFFECT_aero_torque)) & (lift > 0.0);
    const vec3 air = nap_air_velocity(env, s->position, m->time, flags);
    const real steady = nap_lift_steadiness(s, r, n->period, air, deviation);
    const mask swings = apart & lifts & (steady == 0.0); // lift may flip: twice its strength is at stake
    // Forces per radian and per m/s.
    const real lift_a = real_select(lifts, lift * steady * flow, zero);
    const real lift_v = real_select(lifts, e->density * real_abs(c->lift_area) * flow + lift * steady, zero);
    const real drag_v = e->density * c->drag_area * flow;
    // Per metre: by the density, whose scale height is above 5 km everywhere, and by the velocity of the air.
    const real thinning = real_set(env->air.mode == ATMOSPHERE_LAYERED ? 1.0 / 5000.0 : 0.0);
    const real slope = nap_planet_rate(env) + real_select(effect_on(flags, EFFECT_wind), r->wind_slope, zero);
    const real rotors = c->density_share * (e->density * (1.0 / REFERENCE_DENSITY));
    const real force_p = (drag + lift + b->of[EFFECT_buoyancy].force + rotors * e->rotor_force) * thinning +
                         (drag_v + linear + lift_v) * slope;
    const real torque_p =
        (arm * (drag + lift) + rotors * e->rotor_torque + e->density * spin * flow) * thinning +
        (arm * (drag_v + lift_v) + e->density * spin) * slope;
    const real gradient = gravity_gradient_bound(&env->gravity, s->position, r->far);
    const real inverse = 1.0 / n->inertia_least, lightness = p->body.inverse_mass;
    deviation_system k;
    k.ee = e->rate * (n->inertia_most - n->inertia_least) * (0.5 * inverse);
    k.ea = inverse * (e->twist + b->of[EFFECT_magnetic].torque + arm * (drag + lift_a + lift));
    k.ev = inverse * (arm * (drag_v + lift_v) + e->density * spin);
    k.ep = inverse * torque_p;
    k.va = lightness *
           (e->rotor_force + b->of[EFFECT_density].force + e->disturbance + 2.0 * linear * flow + lift_a);
    k.vv = lightness * lift_v;
    k.vp = gradient * (1.0 + lightness * (e->density * c->volume)) + lightness * force_p;
    k.be = inverse * real_select(swings, 2.0 * arm * lift, zero);
    k.bv = lightness * real_select(swings, 2.0 * lift, zero);
    return k;
}

/// Advance the certificate over one period, with `flags` as decided for it.
VY_FN void nap_certify(const surroundings *env, const nap_params *n, const multirotor_params *p,
                       const rotor_layout *layout, const body_state *s, const real *speed,
                       const nap_moment *m, bits flags, real *deviation)
{
    const nap_reach r = nap_reach_of(env, n, p, layout, s, speed, m, deviation);
    const nap_bounds b = nap_bounds_of(&p->effects, &r.effect);
    real force = real_set(0.0), torque = real_set(0.0);
    for (int i = 0; i < nap_effect_count(n); ++i) {
        const mask off = mask_not(effect_on(flags, i));
        force = force + real_select(off, b.of[i].force, real_set(0.0));
        torque = torque + real_select(off, b.of[i].torque, real_set(0.0));
    }
    mask apart = (force > 0.0) | (torque > 0.0);
    for (int i = 0; i < DEVIATION_COUNT; ++i) apart = apart | (deviation[i] > 0.0);
    deviation_system k = nap_sensitivity(env, n, p, s, m, flags, &r, &b, apart, deviation);
    k.be = k.be + torque / n->inertia_least;
    k.bv = k.bv + p->body.inverse_mass * force;
    nap_deviate(&k, n->period, deviation);
}

/// One evaluation: decide, and account for what is neglected until the next.
VY_FN bits nap_evaluate(const surroundings *env, const nap_params *n, const multirotor_params *p,
                        const rotor_layout *layout, const body_state *s, const real *speed,
                        const nap_moment *m, bits flags, nap_state *state)
{
    const real exact[DEVIATION_COUNT] = {real_set(0.0), real_set(0.0), real_set(0.0), real_set(0.0)};
    const nap_reach r = nap_reach_of(env, n, p, layout, s, speed, m, exact);
    const nap_bounds b = nap_bounds_of(&p->effects, &r.effect);
    flags = nap_decide(n, &b, flags);
    for (int i = 0; i < nap_effect_count(n); ++i) {
        const mask off = mask_not(effect_on(flags, i));
        state->impulse[i] = state->impulse[i] + real_select(off, n->period * b.of[i].force, real_set(0.0));
        state->angular[i] = state->angular[i] + real_select(off, n->period * b.of[i].torque, real_set(0.0));
    }
    if (!bits_uniform(n->open_loop) ||
        m->turbulent) { // motors or gusts that follow the motion: no bound is known
        for (int i = 0; i < DEVIATION_COUNT; ++i)
            state->deviation[i] = real_set(bits_uniform(n->strict) ? 0.0 : NAP_UNBOUNDED);
    } else if (mask_any(m->time < n->horizon)) {
        real next[DEVIATION_COUNT];
        for (int i = 0; i < DEVIATION_COUNT; ++i) next[i] = state->deviation[i];
        nap_certify(env, n, p, layout, s, speed, m, flags, next);
        for (int i = 0; i < DEVIATION_COUNT; ++i) {
            state->deviation[i] = real_select(m->time < n->horizon, next[i], state->deviation[i]);
        }
    }
    return flags;
}
