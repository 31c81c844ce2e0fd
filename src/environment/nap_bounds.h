// nap_bounds.h - bounds of effects, of all forces, of gravity and of the wind's gradient. Over `real`.
#pragma once
#include "environment/nap_state.h"

typedef struct nap_bounds {
    effect_bound effect[EFFECT_COUNT];
} nap_bounds;

VY_FN nap_bounds nap_bounds_of(const effect_params *p, const effect_reach *r)
{
    nap_bounds b;
#define EFFECT(name, text)       b.effect[EFFECT_##name] = effect_##name##_bound(p, r);
#define ROTOR_EFFECT(name, text) b.effect[EFFECT_##name] = bound_of(real_set(0.0), real_set(0.0));
#include "equations/effects.inl"
#undef EFFECT
    if (!r->rotors) return b;
#define EFFECT(name, text)       // above
#define ROTOR_EFFECT(name, text) b.effect[EFFECT_##name] = effect_##name##_bound(p, r);
#include "equations/effects.inl"
#undef EFFECT
    return b;
}

/// Whether a vehicle has the effect: those of rotors only where its rotors declare them.
VY_FN int nap_has_effect(const nap_params *n, int effect)
{
    return VY_BASIC_OR(0, bits_uniform(n->rotors)) || (EFFECTS_OF_BODIES >> effect & 1u) != 0;
}

/// The bound of all effects of the rotors together. The battery's is in the top speed of the rotors already.
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

/// Sum of all forces but gravity that do not come from the air a body moves through.
VY_FN real nap_force_without_drag_and_lift(const effect_params *p, const effect_reach *e)
{
    real force = (e->rotor_force + e->disturbance) + e->thruster_force;
    force = force + effect_density_bound(p, e).force + effect_buoyancy_bound(p, e).force;
    force = force + effect_radiation_bound(p, e).force;
    return e->rotors ? force + nap_rotor_effects(p, e).force : force;
}

/// Sum of all forces but gravity.
VY_FN real nap_force_bound(const effect_params *p, const effect_reach *e)
{
    const real drag = effect_drag_bound(p, e).force + effect_linear_drag_bound(p, e).force;
    return nap_force_without_drag_and_lift(p, e) + (effect_lift_bound(p, e).force + drag);
}

/// What of it can make a body faster, with `air` [m/s] the fastest that the air itself moves. Lift does no
/// work in still air. Drag only slows what moves faster than the air: below that it sees twice the air's
/// speed at most. Linear drag slows by all but what the air's own speed makes of it.
VY_FN real nap_accelerating_force_bound(const effect_params *p, const effect_reach *e, real air)
{
    const real drag =
        real_min(effect_drag_bound(p, e).force, 2.0 * (e->density * p->drag_area) * (air * air));
    const real linear = real_min(effect_linear_drag_bound(p, e).force, vec3_max_abs(p->linear_drag) * air);
    const real lift = real_select(air > 0.0, effect_lift_bound(p, e).force, real_set(0.0));
    return nap_force_without_drag_and_lift(p, e) + (lift + (drag + linear));
}

/// Sum of all torques that can make a body turn faster: damping cannot.
VY_FN real nap_accelerating_torque_bound(const effect_params *p, const effect_reach *e)
{
    real torque = (e->rotor_torque + e->disturbance_torque) + e->thruster_torque;
    torque = torque + effect_density_bound(p, e).torque + effect_aero_torque_bound(p, e).torque;
    torque = torque + effect_magnetic_bound(p, e).torque + effect_gravity_gradient_bound(p, e).torque;
    return e->rotors ? torque + nap_rotor_effects(p, e).torque : torque;
}

/// Sum of all torques.
VY_FN real nap_torque_bound(const effect_params *p, const effect_reach *e)
{
    return nap_accelerating_torque_bound(p, e) + effect_damping_bound(p, e).torque;
}

/// No gravity within `reach` [m] of `r` is stronger than this [m/s^2].
VY_FN real gravity_bound(const gravity_params *p, vec3 r, real reach)
{
    real g = vec3_length(p->uniform);
    for (int i = 0; i < VY_BASIC_OR(0, p->body_count); ++i) {
        const gravity_body *b = &p->bodies[i];
        const real d = vec3_length(vec3_make(r.x - b->x, r.y - b->y, r.z - b->z)) - reach;
        const real clamped_distance =
            real_max(d, real_set(1.0)); // within a metre of the centre there is no useful bound
        const real oblateness =
            1.5 * real_abs(real_set(b->j2)) * (b->radius / clamped_distance) * (b->radius / clamped_distance);
        g = g + b->gm / (clamped_distance * clamped_distance) * (1.0 + 4.0 * oblateness);
    }
    return g;
}

/// How much gravity can change per metre there [1/s^2].
VY_FN real gravity_gradient_bound(const gravity_params *p, vec3 r, real reach)
{
    real gradient = real_set(0.0);
    for (int i = 0; i < VY_BASIC_OR(0, p->body_count); ++i) {
        const gravity_body *b = &p->bodies[i];
        const real d = vec3_length(vec3_make(r.x - b->x, r.y - b->y, r.z - b->z)) - reach;
        const real clamped_distance = real_max(d, real_set(1.0));
        const real oblateness =
            1.5 * real_abs(real_set(b->j2)) * (b->radius / clamped_distance) * (b->radius / clamped_distance);
        gradient = gradient + 2.0 * b->gm / (clamped_distance * clamped_distance * clamped_distance) *
                                  (1.0 + 20.0 * oblateness);
    }
    return gradient;
}

/// Sum of GM / |d|^power of the bodies whose gradient turns others, anywhere within `reach` [m] of `r`.
VY_FN real gravity_tide_bound(const gravity_params *p, vec3 r, real reach, int power)
{
    real sum = real_set(0.0);
    for (int i = 0; p->gradient && i < VY_BASIC_OR(0, p->body_count); ++i) {
        const gravity_body *b = &p->bodies[i];
        const real d = vec3_length(vec3_make(r.x - b->x, r.y - b->y, r.z - b->z)) - reach;
        const real clamped_distance = real_max(d, real_set(1.0));
        const real gm_over_cube = b->gm / (clamped_distance * clamped_distance * clamped_distance);
        sum = sum + (power == 4 ? gm_over_cube / clamped_distance : gm_over_cube);
    }
    return sum;
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
        const mask is_bounded = (low > 0.0) & mask_set(p->shear_exponent <= 1.0);
        const real relative_height = real_select(is_bounded, low / p->shear_height, real_set(1.0));
        const real power_slope = scale * p->shear_exponent / p->shear_height *
                                 math_pow(relative_height, real_set(p->shear_exponent - 1.0));
        slope = real_select(is_bounded, power_slope, real_set(NAP_UNBOUNDED));
    }
    const wind_grid *g = &p->grid;
    if (g->velocity != NULL) {
        const double max_difference = 2.0 * g->speed_max;
        slope = slope + max_difference * ((g->nx > 1 ? 1.0 / g->dx : 0.0) + (g->ny > 1 ? 1.0 / g->dy : 0.0) +
                                          (g->nz > 1 ? 1.0 / g->dz : 0.0));
    }
    return slope;
}
