// surroundings.h - gravity, air, wind and planet at one place and time, as the effects see them.
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
#include "equations/effect_ground.h"
#include "equations/effect_gyroscopic.h"
#include "equations/effect_inflow.h"
#include "equations/effect_lift.h"
#include "equations/effect_linear_drag.h"
#include "equations/effect_magnetic.h"
#include "equations/effect_radiation.h"
#include "equations/effect_rotor_drag.h"
#include "equations/effect_translational_lift.h"
#include "equations/effect_twist.h"
#include "equations/effect_wind.h"

enum effect_number {
#define EFFECT(name, text) EFFECT_##name,
#include "equations/effects.inl"
#undef EFFECT
    EFFECT_COUNT
};
/// Effects below this number are of every body; from it on, of rotors that declare them.
#define EFFECT_FIRST_OF_ROTORS EFFECT_rotor_drag

#define EFFECT_BIT(name)  ((uint64_t)1 << EFFECT_##name)
#define EFFECTS_ALL       (((uint64_t)1 << EFFECT_COUNT) - 1)
#define EFFECTS_OF_ROTORS (EFFECTS_ALL & ~(((uint64_t)1 << EFFECT_FIRST_OF_ROTORS) - 1))
#define EFFECTS_OF_BODIES (EFFECTS_ALL & ~EFFECTS_OF_ROTORS)
/// Those that every flight has.
#define EFFECTS_PLAIN (EFFECT_BIT(gravity) | EFFECT_BIT(disturbance) | EFFECT_BIT(twist))
/// Those of an ordinary flight through ordinary air.
#define EFFECTS_STEADY                                                                                     \
    (EFFECTS_PLAIN | EFFECT_BIT(density) | EFFECT_BIT(wind) | EFFECT_BIT(linear_drag) | EFFECT_BIT(drag) | \
     EFFECT_BIT(lift) | EFFECT_BIT(buoyancy) | EFFECT_BIT(damping))
/// Those that need the air: without any of them neither altitude nor density nor flow is computed.
#define EFFECTS_OF_AIR                                                                     \
    (EFFECT_BIT(density) | EFFECT_BIT(linear_drag) | EFFECT_BIT(drag) | EFFECT_BIT(lift) | \
     EFFECT_BIT(buoyancy) | EFFECT_BIT(aero_torque) | EFFECT_BIT(damping) | EFFECTS_OF_ROTORS)

/// How much of the equations a step has to look at, a compile-time constant. Each way gives the same bits: an
/// effect that is off adds nothing, and a shorter way has less to hold in registers.
enum effect_way {
    WAY_PLAIN,  // EFFECTS_PLAIN under uniform gravity
    WAY_STEADY, // EFFECTS_STEADY under uniform gravity in steady surroundings
    WAY_ANY,    // everything
};
#define WAY_EFFECTS(way) \
    ((way) == WAY_PLAIN ? EFFECTS_PLAIN : (way) == WAY_STEADY ? EFFECTS_STEADY : EFFECTS_ALL)

/// What is declared of the world; the same for every drone of a batch, but for uniform gravity and the
/// breeze.
typedef struct surroundings {
    gravity_params gravity;
    atmosphere_params air;
    planet_params planet;
    wind_params wind;
    vec3 breeze;        // [m/s] the constant part of the wind: may differ from drone to drone
    int windy;          // some wind is declared
    int steady;         // flat, the same density everywhere, and no wind but a constant one: the short way
    double magnetic[3]; // [T] world
    double light[3];    // [N/m^2] world
} surroundings;

/// What is sampled at the start of a step and held over it.
typedef struct held_inputs {
    body_loads disturbance;
    vec3 turbulence; // [m/s] east, north, up
    real time;       // [s] of the step's start
    real ground;     // [m] height of the ground below, for the rotors' ground effect
} held_inputs;

/// Velocity of the air at a place, world [m/s]: it turns with the planet, and the wind blows over the ground.
VY_FN vec3 air_velocity(const surroundings *env, vec3 position, const planet_place *place, vec3 wind)
{
    if (!env->planet.on) return wind;
    const vec3 ground = planet_ground_velocity(&env->planet, position);
    const vec3 over = vec3_add_scaled(vec3_scale(wind.x, place->east), wind.y, place->north);
    return vec3_add(ground, vec3_add_scaled(over, wind.z, place->up));
}

/// The air around a body.
typedef struct air_around {
    real density; // [kg/m^3]
    vec3 flow;    // [m/s] velocity of the body through the air, world
} air_around;

// By value, so that what the caller keeps of it stays in registers.
VY_BIG_FN air_around look_at_any_air(const surroundings *env, const held_inputs *held, const body_state *s,
                                     real time, bits flags)
{
    planet_place place;
    real altitude = s->position.z;
    if (env->planet.on) {
        place = planet_locate(&env->planet, s->position);
        altitude = place.altitude;
    }
    air_around a;
    a.density = air_at(&env->air, altitude).density;
    vec3 wind = vec3_zero();
    const mask windy = effect_on(flags, EFFECT_wind);
    if (env->windy && mask_any(windy)) {
        // On a planet the wind is given over the ground below; its field depends on the height alone there.
        const vec3 at = env->planet.on ? vec3_make(real_set(0.0), real_set(0.0), altitude) : s->position;
        wind = vec3_if(windy, vec3_add(wind_from(&env->wind, env->breeze, at, time), held->turbulence));
    }
    a.flow = vec3_sub(s->velocity, air_velocity(env, s->position, &place, wind));
    return a;
}

/// The same in steady surroundings, with the same bits.
VY_FN air_around look_at_steady_air(const surroundings *env, const body_state *s, bits flags)
{
    const mask windy = effect_on(flags, EFFECT_wind);
    air_around a;
    a.density = real_set(env->air.mode == ATMOSPHERE_STANDARD ? env->air.density : 0.0);
    a.flow = vec3_sub(s->velocity, vec3_if(windy, vec3_add(env->breeze, vec3_zero())));
    return a;
}

/// The same, the short way where there is one.
VY_FN air_around look_at_air(const surroundings *env, const held_inputs *held, const body_state *s, real time,
                             bits flags)
{
    return env->steady ? look_at_steady_air(env, s, flags) : look_at_any_air(env, held, s, time, flags);
}

/// The rotors' effects that are on, added to `l`: one copy, out of the way of flights without them.
VY_BIG_FN void rotor_effects_add(const effect_params *p, const rotor_scene *scene,
                                 const effect_context *around, bits flags, body_loads *l)
{
    const real air = 1.0 + p->density_share * around->density_change;
    const rotor_view view =
        rotor_look(scene, &p->rotors, mat3_tmul_vec(around->rotation, around->flow), around->rate, air);
    effect_context c = *around;
    c.rotors = &view;
#define EFFECT(name, text)
#define ROTOR_EFFECT(name, text)                         \
    {                                                    \
        const mask on = effect_on(flags, EFFECT_##name); \
        if (mask_any(on)) effect_##name(p, &c, on, l);   \
    }
#include "equations/effects.inl"
#undef EFFECT
}

/// All effects that are on, added to `l`, which holds the rotors' wrench. `scene` is for the rotors' effects
/// and may be NULL when none is on. Returns g(r) as the plant shall use it.
VY_FN vec3 effects_add_way(const surroundings *env, const effect_params *p, const held_inputs *held,
                           const body_state *s, mat3 rotation, real time, bits flags,
                           const rotor_scene *scene, enum effect_way way, body_loads *l)
{
    effect_context c;
    c.flow = vec3_zero();
    c.flow_speed = real_set(0.0);
    c.density = real_set(0.0);
    c.density_change = real_set(0.0);
    c.rotation = rotation;
    c.rate = s->rate;
    c.rotor_force = l->force_body;
    c.rotor_torque = l->torque_body;
    c.gravity = way != WAY_ANY ? env->gravity.uniform : gravity_at(&env->gravity, s->position);
    c.disturbance_world = held->disturbance.force_world;
    c.disturbance_body = held->disturbance.force_body;
    c.twist_world = held->disturbance.torque_world;
    c.twist_body = held->disturbance.torque_body;
    c.magnetic_field = vec3_of(env->magnetic);
    c.light = vec3_of(env->light);
    if (way != WAY_PLAIN && mask_any((flags & EFFECTS_OF_AIR) != 0u)) {
        const air_around air =
            way == WAY_STEADY ? look_at_steady_air(env, s, flags) : look_at_air(env, held, s, time, flags);
        c.density = air.density;
        if (env->air.mode != ATMOSPHERE_NONE)
            c.density_change = air.density * (1.0 / REFERENCE_DENSITY) - 1.0;
        c.flow = air.flow;
        const mask wakes = effect_on(flags, EFFECT_downwash);
        if (way == WAY_ANY && mask_any(wakes))
            c.flow = vec3_sub(c.flow, vec3_if(wakes, scene->memory->downwash));
        c.flow_speed = vec3_length(c.flow);
    }
#define EFFECT(name, text)                                               \
    {                                                                    \
        const mask on = effect_on(flags, EFFECT_##name);                 \
        const int possible = (WAY_EFFECTS(way) & EFFECT_BIT(name)) != 0; \
        if (possible && mask_any(on)) effect_##name(p, &c, on, l);       \
    }
#define ROTOR_EFFECT(name, text)
#include "equations/effects.inl"
#undef EFFECT
    if (way == WAY_ANY && mask_any((flags & EFFECTS_OF_ROTORS) != 0u)) {
        c.height = s->position.z - held->ground;
        rotor_effects_add(p, scene, &c, flags, l);
    }
    return vec3_if(effect_on(flags, EFFECT_gravity), c.gravity);
}
