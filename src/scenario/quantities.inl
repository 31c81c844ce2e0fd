// quantities.inl - what a run can be judged by: QUANTITY(name, unit, help) of drones, JOINT_QUANTITY(name, unit, kinds,
// help) of joints of these kinds. expect.c has a function for each.
QUANTITY(position_error, "m", "distance from the built-in controller's reference")
QUANTITY(estimate_error, "m", "distance of the estimated from the true position")
QUANTITY(x, "m", "position along world +x")
QUANTITY(y, "m", "position along world +y")
QUANTITY(z, "m", "position along world +z")
QUANTITY(height, "m", "height above z = 0")
QUANTITY(distance, "m", "horizontal distance from the world's origin")
QUANTITY(speed, "m/s", "length of the velocity")
QUANTITY(climb, "m/s", "velocity along world +z")
QUANTITY(tilt, "rad", "angle between body +z and world +z")
QUANTITY(yaw, "rad", "heading about world +z, counter-clockwise, -pi to pi")
QUANTITY(rate, "rad/s", "length of the angular velocity")
QUANTITY(motor_max, "", "the largest motor command, 0 to 1")
QUANTITY(clamps, "", "motor commands clamped since the start")
QUANTITY(battery_charge, "A s", "left in its battery; 0 without one")
QUANTITY(battery_voltage, "V", "at the battery's terminals; 0 without one")
QUANTITY(touching, "", "contacts that push now")
QUANTITY(contacts, "", "contacts begun since the start")
QUANTITY(contact_speed, "m/s", "the largest speed at which a contact closed since the start")
QUANTITY(contact_impulse, "N s", "the largest impulse of a contact in one step since the start")
QUANTITY(crashes, "", "impacts beyond the limits of `crash` since the start")
#ifndef JOINT_QUANTITY
#define JOINT_QUANTITY(name, unit, kinds, help) QUANTITY(name, unit, help)
#endif
JOINT_QUANTITY(tension, "N", BETWEEN_ANCHORS, "of a rod, cable or spring: how much it pulls its ends together")
JOINT_QUANTITY(length, "m", BETWEEN_ANCHORS | 1u << VY_JOINT_SLIDER,
               "of a rod, cable or spring between its ends; of a slider how far it has moved")
JOINT_QUANTITY(angle, "rad", 1u << VY_JOINT_HINGE, "of a hinge")
JOINT_QUANTITY(force, "N", ~0u, "of a joint: length of the force on b")
JOINT_QUANTITY(torque, "N m", ~0u, "of a joint: length of the torque on b about its anchor")
JOINT_QUANTITY(active, "", ~0u, "of a joint: 0 while a cable is slack or a stop is not reached, else 1")
#undef JOINT_QUANTITY
