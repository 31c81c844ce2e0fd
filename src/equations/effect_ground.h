// effect_ground.h - near the ground a rotor's wake cannot leave: T / T_far = 1 / (1 - (R / 4 d)^2), d the
// distance to the ground along the thrust axis (Cheeseman, Bennett, 1955). It grows without limit as d falls
// to R / 4; below d = R / 2, where it was never measured, it stays as it is there, 4/3. A rotor under the
// ground has none to push against: the gain fades out over the radius below it.
#pragma once
#include "equations/effect.h"

/// T / T_far - 1 at a distance along the axis.
VY_FN real ground_gain(real radius, real distance)
{
    const real ratio = 0.25 * radius / real_max(distance, real_max(0.5 * radius, real_set(1e-9)));
    const real square = ratio * ratio;
    return square / (1.0 - square);
}

/// The share of the gain that is left: 1 over the ground, 0 a radius below it and deeper.
VY_FN real ground_fade(real radius, real distance)
{
    const real fade = 1.0 + distance / real_max(radius, real_set(1e-9));
    return real_max(real_min(fade, real_set(1.0)), real_set(0.0));
}

VY_FN void effect_ground(const effect_params *p, const effect_context *context, mask on, body_loads *loads)
{
    const rotor_view *rotors = context->rotors;
    for (int i = 0; i < rotors->count; ++i) {
        const vec3 hub = mat3_mul_vec(context->rotation, layout_vec3(rotors->layout->hub[i]));
        const vec3 axis = mat3_mul_vec(context->rotation, layout_vec3(rotors->layout->axis[i]));
        const mask faces_ground = axis.z > 0.05; // the wake meets the ground
        const real distance = (context->height + hub.z) / real_select(faces_ground, axis.z, real_set(1.0));
        const real gain = ground_gain(p->rotors.radius, distance) * ground_fade(p->rotors.radius, distance);
        const real thrust = rotors->density_ratio * (rotors->thrust[i] * gain);
        rotor_add_thrust(rotors, i, real_select(on & faces_ground, p->rotors.ground * thrust, real_set(0.0)),
                         loads);
    }
}

VY_FN effect_bound effect_ground_bound(const effect_params *p, const effect_reach *r)
{
    const real gain = p->rotors.ground * ground_gain(p->rotors.radius, r->height_min);
    const real force = r->rotor_density_ratio * (gain * r->rotor_force);
    return bound_of(force, r->lever * force);
}
