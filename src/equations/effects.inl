// effects.inl - every effect of the world, in the order in which they are added. A row: EFFECT(name, text), or
// ROTOR_EFFECT(name, text) for those of vehicles that declare more of their rotors than thrust and torque.
// Adding one is a file effect_NAME.h and a row here. Numbers are bits of logged flags: append, never reorder.
#ifndef ROTOR_EFFECT
#define ROTOR_EFFECT(name, text) EFFECT(name, text)
#endif
EFFECT(gravity, "F = m g(r)")
EFFECT(density, "rotor thrust and torque times rho / 1.225 - 1")
EFFECT(wind, "velocity through the air instead of over the ground")
EFFECT(linear_drag, "F_body = -D v_body")
EFFECT(drag, "F = -1/2 rho Cd A |v| v")
EFFECT(lift, "F = 1/2 rho Cl A |v|^2 across v, towards body +z")
EFFECT(buoyancy, "F = -rho V g(r)")
EFFECT(aero_torque, "drag and lift at the centre of pressure")
EFFECT(damping, "t = -(k + 1/4 rho |v| C S b^2) w")
EFFECT(disturbance, "declared forces from outside")
EFFECT(disturbance_torque, "declared torques from outside")
EFFECT(magnetic, "t = dipole x B")
EFFECT(radiation, "F = pressure of sunlight times area")
ROTOR_EFFECT(rotor_drag, "F = -W (k_d v across + k_z v along), at each hub")
ROTOR_EFFECT(flapping, "t = k W (v x axis)")
ROTOR_EFFECT(translational_lift, "T += k |v across|^2")
ROTOR_EFFECT(inflow, "T += k W (v_h - v_induced - climb), less in the vortex ring state")
ROTOR_EFFECT(ground, "T / (1 - (R / 4 d)^2) - T over the ground")
ROTOR_EFFECT(gyroscopic, "t = -w x h - h', h of the rotors")
ROTOR_EFFECT(blade_element, "blade elements instead of k_F W^2 and k_M W^2")
ROTOR_EFFECT(battery, "rotor speeds by the battery's voltage")
ROTOR_EFFECT(downwash, "air that moves in others' wakes")
EFFECT(gravity_gradient, "t = 3 GM / d^3 (u x I u)")
#undef ROTOR_EFFECT
