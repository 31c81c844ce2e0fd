// effect_blade_element.h - the rotor by blade elements instead of k_F w^2 and k_M w^2: the loads of the
// elements, less those of the coefficients. In hover the two agree (blade.h, vehicle/blade.c).
#pragma once
#include "equations/effect.h"

VY_FN void effect_blade_element(const effect_params *p, const effect_context *context, mask on,
                                body_loads *loads)
{
    const rotor_view *rotors = context->rotors;
    for (int i = 0; i < rotors->count; ++i) {
        const vec3 axis = layout_vec3(rotors->layout->axis[i]), side_1 = layout_vec3(rotors->layout->side[i]);
        const vec3 side_2 = vec3_cross(axis, side_1);
        const real scale = rotors->layout->thrust_scale[i] * rotors->density_ratio;
        const blade_loads blade = blade_sum(
            &p->rotors.blade, rotors->speed[i], rotors->layout->spin[i], vec3_dot(rotors->across[i], side_1),
            vec3_dot(rotors->across[i], side_2), rotors->inflow[i] + rotors->climb[i]);
        const real weight = real_select(on, scale * p->rotors.blade.on, real_set(0.0));
        const real coefficient_thrust =
            real_select(on, rotors->density_ratio * (p->rotors.blade.on * rotors->thrust[i]), real_set(0.0));
        rotor_add_thrust(rotors, i, weight * blade.thrust - coefficient_thrust, loads);
        const real drag = rotors->layout->torque_scale[i] *
                          (weight * blade.torque - rotors->torque_ratio * coefficient_thrust);
        loads->torque_body =
            vec3_add_scaled(loads->torque_body, drag, layout_vec3(rotors->layout->reaction[i]));
        const vec3 across = vec3_add_scaled(vec3_scale(blade.force_1, side_1), blade.force_2, side_2);
        rotor_add_hub_force(rotors, i, vec3_scale(weight, across), loads);
        const vec3 moment = vec3_add_scaled(vec3_scale(blade.moment_1, side_1), blade.moment_2, side_2);
        loads->torque_body = vec3_add_scaled(loads->torque_body, weight, moment);
    }
}

VY_FN effect_bound effect_blade_element_bound(const effect_params *p, const effect_reach *r)
{
    const blade_params *b = &p->rotors.blade;
    const real v = reach_hub_speed(r);
    const real tip = r->rotor_speed * b->radius + v, axial_speed = v + r->inflow;
    const real pressure = b->half_rho_chord * b->radius * (tip * tip + axial_speed * axial_speed);
    const real force_per_rotor =
        1.5 * (pressure * (b->lift_max + b->drag_0 + b->drag_2)); // rotors may be stronger by half
    const real force = b->on * (r->rotor_density_ratio * (r->rotor_count * force_per_rotor + r->rotor_force));
    return bound_of(2.0 * force, 2.0 * (r->lever + r->arm + b->radius) * force +
                                     b->on * (r->rotor_density_ratio * r->rotor_torque));
}
