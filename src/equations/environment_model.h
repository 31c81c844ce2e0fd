// environment_model.h - gravity, air, wind and planet at one place and time, as the effects see them.
#pragma once
#include "equations/effect_aero_torque.h"
#include "equations/effect_battery.h"
#include "equations/effect_blade_element.h"
#include "equations/effect_buoyancy.h"
#include "equations/effect_damping.h"
#include "equations/effect_density.h"
#include "equations/effect_disturbance.h"
#include "equations/effect_downwash.h"
#include "equations/effect_drag.h"
#include "equations/effect_flapping.h"
#include "equations/effect_gravity.h"
#include "equations/effect_gravity_gradient.h"
#include "equations/effect_ground.h"
#include "equations/effect_gyroscopic.h"
#include "equations/effect_inflow.h"
#include "equations/effect_lift.h"
#include "equations/effect_linear_drag.h"
#include "equations/effect_magnetic.h"
#include "equations/effect_radiation.h"
#include "equations/effect_rotor_drag.h"
#include "equations/effect_translational_lift.h"
#include "equations/effect_disturbance_torque.h"
#include "equations/effect_wind.h"

enum effect_number {
#define EFFECT(name, text) EFFECT_##name,
#include "equations/effects.inl"
#undef EFFECT
    EFFECT_COUNT
};

#define EFFECT_BIT(name) ((uint64_t)1 << EFFECT_##name)
#define EFFECTS_ALL      (((uint64_t)1 << EFFECT_COUNT) - 1)
/// Those of rotors that declare them; the others are of every body.
static const uint64_t EFFECTS_OF_ROTORS = 0
#define EFFECT(name, text)
#define ROTOR_EFFECT(name, text) | EFFECT_BIT(name)
#include "equations/effects.inl"
#undef EFFECT
    ;
#define EFFECTS_OF_BODIES (EFFECTS_ALL & ~EFFECTS_OF_ROTORS)
/// Those that every flight has.
#define EFFECTS_BASIC (EFFECT_BIT(gravity) | EFFECT_BIT(disturbance) | EFFECT_BIT(disturbance_torque))
/// Those of an ordinary flight through ordinary air.
#define EFFECTS_STEADY                                                                                     \
    (EFFECTS_BASIC | EFFECT_BIT(density) | EFFECT_BIT(wind) | EFFECT_BIT(linear_drag) | EFFECT_BIT(drag) | \
     EFFECT_BIT(lift) | EFFECT_BIT(buoyancy) | EFFECT_BIT(damping))
/// Those that need the air: without any of them neither altitude nor density nor flow is computed.
#define EFFECTS_OF_AIR                                                                     \
    (EFFECT_BIT(density) | EFFECT_BIT(linear_drag) | EFFECT_BIT(drag) | EFFECT_BIT(lift) | \
     EFFECT_BIT(buoyancy) | EFFECT_BIT(aero_torque) | EFFECT_BIT(damping) | EFFECTS_OF_ROTORS)

/// Which equations a step evaluates, a compile-time constant. Each variant gives the same bits: an effect
/// that is off adds nothing, and a shorter variant has less to hold in registers.
enum effect_variant {
    VARIANT_BASIC,   // EFFECTS_BASIC under uniform gravity
    VARIANT_STEADY,  // EFFECTS_STEADY under uniform gravity in steady surroundings
    VARIANT_GENERAL, // everything
};
#define VARIANT_EFFECTS(variant) \
    ((variant) == VARIANT_BASIC ? EFFECTS_BASIC : (variant) == VARIANT_STEADY ? EFFECTS_STEADY : EFFECTS_ALL)

/// What is declared of the world; the same for every drone of a batch, but for uniform gravity and the
/// constant wind.
typedef struct environment_model {
    gravity_params gravity;
    atmosphere_params air;
    planet_params planet;
    wind_params wind;
    vec3 constant_wind; // [m/s] the constant part of the wind: may differ from drone to drone
    int has_wind;       // some wind is declared
    int steady; // flat, the same density everywhere, and no wind but a constant one: the short variant
    double magnetic[3];           // [T] world
    double radiation_pressure[3]; // [N/m^2] world
} environment_model;

/// What is sampled at the start of a step and held over it.
typedef struct held_inputs {
    body_loads disturbance; // of a moment, where sinusoids move it: multirotor_inputs
    vec3 turbulence;        // [m/s] east, north, up
    real time;              // [s] of the step's start
    real ground;            // [m] height of the ground below, for the rotors' ground effect
} held_inputs;

/// Whether the world's frame does not turn with its planet: the ground moves, and the axes of a place are not
/// the world's.
VY_FN int frame_is_inertial(const environment_model *env)
{
    return VY_BASIC_OR(0, env->planet.on) && !VY_BASIC_OR(0, env->gravity.frame.on);
}

/// Altitude [m] above the ellipsoid, or z in a flat world.
VY_FN real altitude_at(const environment_model *env, vec3 position)
{
    const local_frame *f = &env->gravity.frame;
    if (f->on) return f->height + local_locate(f, &env->planet, position).height;
    return VY_BASIC_OR(0, env->planet.on) ? planet_locate(&env->planet, position).altitude : position.z;
}

/// Height [m] over the ground that has no terrain: of a frame at a place that of its origin's height.
VY_FN real height_at(const environment_model *env, vec3 position)
{
    const local_frame *f = &env->gravity.frame;
    return f->on ? local_locate(f, &env->planet, position).height : altitude_at(env, position);
}

/// The place by which the wind's field is looked up: its z is the height.
VY_FN vec3 wind_lookup_position(const environment_model *env, vec3 position, real height)
{
    if (!VY_BASIC_OR(0, env->planet.on)) return position;
    if (VY_BASIC_OR(0, env->gravity.frame.on)) return vec3_make(position.x, position.y, height);
    return vec3_make(real_set(0.0), real_set(0.0), height);
}

/// Velocity of the air at a place, world [m/s]: it turns with the planet, and the wind blows over the ground.
VY_FN vec3 air_velocity(const environment_model *env, vec3 position, const planet_frame *place, vec3 wind)
{
    if (!frame_is_inertial(env)) return wind;
    const vec3 ground = planet_ground_velocity(&env->planet, position);
    const vec3 wind_world = vec3_add_scaled(vec3_scale(wind.x, place->east), wind.y, place->north);
    return vec3_add(ground, vec3_add_scaled(wind_world, wind.z, place->up));
}

/// The air around a body.
typedef struct relative_air {
    real density; // [kg/m^3]
    vec3 flow;    // [m/s] velocity of the body through the air, world
} relative_air;

// By value, so that what the caller keeps of it stays in registers.
VY_NOINLINE_FN relative_air air_sample(const environment_model *env, const held_inputs *held,
                                       const body_state *s, real time, bits flags)
{
    planet_frame place;
    const local_frame *f = &env->gravity.frame;
    real altitude = s->position.z, height = altitude;
    if (f->on) {
        height = local_locate(f, &env->planet, s->position).height;
        altitude = f->height + height;
    } else if (VY_BASIC_OR(0, env->planet.on)) {
        place = planet_locate(&env->planet, s->position);
        height = altitude = place.altitude;
    }
    relative_air a;
    a.density = air_at(&env->air, altitude).density;
    vec3 wind = vec3_zero();
    const mask has_wind = effect_on(flags, EFFECT_wind);
    if (env->has_wind && mask_any(has_wind)) {
        // About a planet the wind is given over the ground below; its field depends on the height alone
        // there.
        const vec3 lookup_position = wind_lookup_position(env, s->position, height);
        wind = vec3_masked(
            has_wind,
            vec3_add(mean_wind_at(&env->wind, env->constant_wind, lookup_position, time), held->turbulence));
    }
    a.flow = vec3_sub(s->velocity, air_velocity(env, s->position, &place, wind));
    return a;
}

/// The same in steady surroundings, with the same bits.
VY_FN relative_air air_sample_steady(const environment_model *env, const body_state *s, bits flags)
{
    const mask has_wind = effect_on(flags, EFFECT_wind);
    relative_air a;
    a.density = real_set(env->air.mode == ATMOSPHERE_STANDARD ? env->air.density : 0.0);
    a.flow = vec3_sub(s->velocity, vec3_masked(has_wind, vec3_add(env->constant_wind, vec3_zero())));
    return a;
}

/// The same, by the short variant where it applies.
VY_FN relative_air air_sample_general(const environment_model *env, const held_inputs *held,
                                      const body_state *s, real time, bits flags)
{
    return VY_BASIC_OR(1, env->steady) ? air_sample_steady(env, s, flags)
                                       : air_sample(env, held, s, time, flags);
}

/// Loads on a body at one evaluation of an integrator, by cause.
typedef struct load_parts {
    body_loads rotors, thrusters, effect[EFFECT_COUNT]; // weight among them
    vec3 air;      // [m/s] velocity of the air, world, as far as wind and wakes are computed
    quat attitude; // of the body at that moment; zero: nothing was asked for
} load_parts;

// The rotors' effects that are on, added to `loads`. `parts` may be NULL, here and below.
VY_FN void rotor_effects_parts(const effect_params *p, const rotor_inputs *rotor_in, effect_context *context,
                               bits flags, load_parts *parts, body_loads *loads)
{
    const real density_ratio = 1.0 + p->density_ratio * context->density_change;
    rotor_view view;
    rotor_view_at(rotor_in, &p->rotors, mat3_tmul_vec(context->rotation, context->flow), context->rate,
                  density_ratio, &view);
    context->rotors = &view;
#define EFFECT(name, text)
#define ROTOR_EFFECT(name, text)                                                       \
    {                                                                                  \
        const mask on = effect_on(flags, EFFECT_##name);                               \
        const body_loads before = parts != NULL ? *loads : loads_zero();               \
        if (mask_any(on)) effect_##name(p, context, on, loads);                        \
        if (parts != NULL) parts->effect[EFFECT_##name] = loads_added(&before, loads); \
    }
#include "equations/effects.inl"
#undef EFFECT
    context->rotors = NULL; // the view ends here
}

// One copy, out of the way of flights without them; and one that keeps the parts.
VY_NOINLINE_FN void rotor_effects_add(const effect_params *p, const rotor_inputs *rotor_in,
                                      effect_context *context, bits flags, body_loads *loads)
{
    rotor_effects_parts(p, rotor_in, context, flags, NULL, loads);
}

VY_COLD_FN void rotor_effects_record(const effect_params *p, const rotor_inputs *rotor_in,
                                     effect_context *context, bits flags, load_parts *parts,
                                     body_loads *loads)
{
    rotor_effects_parts(p, rotor_in, context, flags, parts, loads);
}

/// All effects that are on, added to `loads`, which holds the rotors' wrench. `rotor_in` is for the rotors'
/// effects and may be NULL when none is on. Returns g(r) as the plant shall use it.
VY_FN vec3 effects_add_parts(const environment_model *env, const effect_params *p, const held_inputs *held,
                             const body_state *s, mat3 rotation, real time, bits flags,
                             const rotor_inputs *rotor_in, enum effect_variant variant, load_parts *parts,
                             body_loads *loads)
{
    effect_context context;
    context.flow = vec3_zero();
    context.flow_speed = real_set(0.0);
    context.density = real_set(0.0);
    context.density_change = real_set(0.0);
    context.rotation = rotation;
    context.rate = context.inertial_rate = s->rate;
    if (variant == VARIANT_GENERAL && VY_BASIC_OR(0, env->gravity.frame.on))
        context.inertial_rate = vec3_add(s->rate, local_rate(&env->gravity.frame, rotation));
    if (variant == VARIANT_GENERAL && frame_is_inertial(env))
        context.rate = vec3_sub(s->rate, mat3_tmul_vec(rotation, planet_rotation(&env->planet)));
    context.rotor_force = loads->force_body;
    context.rotor_torque = loads->torque_body;
    context.gravity =
        variant != VARIANT_GENERAL ? env->gravity.uniform : gravity_at(&env->gravity, s->position);
    context.air_gravity = context.gravity;
    if (variant == VARIANT_GENERAL && frame_is_inertial(env))
        context.air_gravity = vec3_add(context.gravity, planet_centrifugal(&env->planet, s->position));
    context.disturbance_world = held->disturbance.force_world;
    context.disturbance_body = held->disturbance.force_body;
    context.disturbance_torque_world = held->disturbance.torque_world;
    context.disturbance_torque_body = held->disturbance.torque_body;
    context.magnetic_field = vec3_of(env->magnetic);
    context.radiation_pressure = vec3_of(env->radiation_pressure);
    context.position = s->position;
    context.gravity_field = &env->gravity;
    const int has_inflow = variant == VARIANT_GENERAL && rotor_in != NULL && rotor_in->steady != NULL;
    if (variant != VARIANT_BASIC && (has_inflow || mask_any((flags & EFFECTS_OF_AIR) != 0u))) {
        const relative_air air = variant == VARIANT_STEADY ? air_sample_steady(env, s, flags)
                                                           : air_sample_general(env, held, s, time, flags);
        context.density = air.density;
        if (env->air.mode != ATMOSPHERE_NONE)
            context.density_change = air.density * (1.0 / REFERENCE_DENSITY) - 1.0;
        context.flow = air.flow;
        const mask has_wakes = effect_on(flags, EFFECT_downwash);
        if (variant == VARIANT_GENERAL && mask_any(has_wakes))
            context.flow = vec3_sub(context.flow, vec3_masked(has_wakes, rotor_in->memory->downwash));
        context.flow_speed = vec3_length(context.flow);
    }
    if (parts != NULL && mask_any((flags & (EFFECT_BIT(wind) | EFFECT_BIT(downwash))) != 0u)) {
        vec3 flow = context.flow;
        if (!mask_any((flags & EFFECTS_OF_AIR) != 0u))
            flow = air_sample_general(env, held, s, time, flags).flow;
        parts->air = vec3_sub(s->velocity, flow);
    }
#define EFFECT(name, text)                                                             \
    {                                                                                  \
        const mask on = effect_on(flags, EFFECT_##name);                               \
        const int is_possible = (VARIANT_EFFECTS(variant) & EFFECT_BIT(name)) != 0;    \
        const body_loads before = parts != NULL ? *loads : loads_zero();               \
        if (is_possible && mask_any(on)) effect_##name(p, &context, on, loads);        \
        if (parts != NULL) parts->effect[EFFECT_##name] = loads_added(&before, loads); \
    }
#define ROTOR_EFFECT(name, text)
#include "equations/effects.inl"
#undef EFFECT
    if (has_inflow || (variant == VARIANT_GENERAL && mask_any((flags & EFFECTS_OF_ROTORS) != 0u))) {
        context.height = s->position.z - held->ground;
        if (parts == NULL) {
            rotor_effects_add(p, rotor_in, &context, flags, loads);
        } else {
            rotor_effects_record(p, rotor_in, &context, flags, parts, loads);
        }
    }
    return vec3_masked(effect_on(flags, EFFECT_gravity), context.gravity);
}

/// What a body's motion adds in a frame that turns, whatever is neglected: the Coriolis acceleration, which
/// is returned [m/s^2], and the torque of the frame, which is added to `loads`.
VY_NOINLINE_FN vec3 local_motion_add(const local_frame *f, mat3 inertia, const body_state *s, mat3 rotation,
                                     body_loads *loads)
{
    loads->torque_body = vec3_add(loads->torque_body, local_torque(f, inertia, rotation, s->rate));
    return local_coriolis(f, s->velocity);
}
