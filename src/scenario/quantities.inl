// quantities.inl - what a run can be judged by: QUANTITY(name, unit, help) of drones, BODY_QUANTITY of drones and
// bodies, BATTERY_QUANTITY and MOTOR_QUANTITY of drones that have one, GROUND_QUANTITY of both over the ground, JOINT_QUANTITY(name, unit, kinds, help) of joints of these kinds, PAIR_QUANTITY of two drones. expect.c has a function for each.
#ifndef BODY_QUANTITY
#define BODY_QUANTITY(name, unit, help) QUANTITY(name, unit, help)
#endif
QUANTITY(position_error, "m", "distance from the reference: setpoints, mission or path")
QUANTITY(estimate_error, "m", "distance of the estimated from the true position")
BODY_QUANTITY(x, "m", "position along world +x")
BODY_QUANTITY(y, "m", "position along world +y")
BODY_QUANTITY(z, "m", "position along world +z")
BODY_QUANTITY(distance, "m", "horizontal distance from the world's origin")
#ifndef PAIR_QUANTITY
#define PAIR_QUANTITY(name, unit, help) QUANTITY(name, unit, help)
#endif
PAIR_QUANTITY(separation, "m", "least distance between the centres of any two drones, or of one drone and all others")
BODY_QUANTITY(speed, "m/s", "length of the velocity")
#ifndef GROUND_QUANTITY
#define GROUND_QUANTITY(name, unit, needs_planet, help) QUANTITY(name, unit, help)
#endif
GROUND_QUANTITY(altitude, "m", 0, "above the ellipsoid of the planet; in a flat world z")
GROUND_QUANTITY(height, "m", 0, "over the terrain below, or over the ground without terrain")
GROUND_QUANTITY(ground_speed, "m/s", 0, "horizontal speed over the ground")
GROUND_QUANTITY(air_speed, "m/s", 0, "speed through the air, gusts included, wakes not")
GROUND_QUANTITY(climb, "m/s", 0, "upward velocity over the ground")
GROUND_QUANTITY(track, "rad", 0, "direction of the motion over the ground, clockwise from north, 0 to 2 pi")
GROUND_QUANTITY(latitude, "rad", 1, "geodetic")
GROUND_QUANTITY(longitude, "rad", 1, "geodetic, -pi to pi")
GROUND_QUANTITY(tilt, "rad", 0, "angle between body +z and up")
GROUND_QUANTITY(yaw, "rad", 0, "of the nose, counter-clockwise from east, -pi to pi")
GROUND_QUANTITY(heading, "rad", 0, "of the nose, clockwise from north, -pi to pi")
GROUND_QUANTITY(pitch, "rad", 0, "nose up")
GROUND_QUANTITY(roll, "rad", 0, "right side down")
BODY_QUANTITY(rate, "rad/s", "length of the angular velocity")
#ifndef MOTOR_QUANTITY
#define MOTOR_QUANTITY(name, unit, help) QUANTITY(name, unit, help)
#define BATTERY_QUANTITY(name, unit, help) QUANTITY(name, unit, help)
#endif
MOTOR_QUANTITY(motor_max, "", "the largest motor command, 0 to 1")
QUANTITY(clamps, "", "motor commands clamped since the start")
BATTERY_QUANTITY(battery_charge, "A s", "left in its battery")
BATTERY_QUANTITY(battery_voltage, "V", "at the battery's terminals")
QUANTITY(rotor_power, "W", "at the shafts of its rotors; with `at: integral` the energy they took")
QUANTITY(failsafes, "", "times the failsafe of its vehicle has taken over since the start")
BODY_QUANTITY(touching, "", "contacts that push now")
BODY_QUANTITY(contacts, "", "contacts begun since the start")
BODY_QUANTITY(contact_speed, "m/s", "the largest speed at which a contact closed since the start")
BODY_QUANTITY(contact_impulse, "N s", "the largest impulse of a contact in one step since the start")
BODY_QUANTITY(crashes, "", "impacts beyond the limits of `crash` since the start")
BODY_QUANTITY(asleep, "", "1 of a body that sleeps, else 0")
#ifndef JOINT_QUANTITY
#define JOINT_QUANTITY(name, unit, kinds, help) QUANTITY(name, unit, help)
#endif
JOINT_QUANTITY(tension, "N", VY_JOINTS_THAT(VY_JOINT_HAS_LENGTH),
               "of a rod, cable or spring: how much it pulls its ends together")
JOINT_QUANTITY(length, "m", VY_JOINTS_THAT(VY_JOINT_HAS_LENGTH | VY_JOINT_SLIDES),
               "of a rod, cable or spring between its ends; of a sliding joint its translation")
JOINT_QUANTITY(angle, "rad", VY_JOINTS_THAT(VY_JOINT_TURNS), "of a joint that turns")
JOINT_QUANTITY(force, "N", ~0u, "of a joint: length of the force on b")
JOINT_QUANTITY(torque, "N m", ~0u, "of a joint: length of the torque on b about its anchor")
JOINT_QUANTITY(active, "", ~0u, "of a joint: 0 while a cable is slack or a stop is not reached, or once it is broken, else 1")
BODY_QUANTITY(entered, "", "times it has entered a trigger among the obstacles since the start")
#undef JOINT_QUANTITY
#undef PAIR_QUANTITY
#undef GROUND_QUANTITY
#undef BATTERY_QUANTITY
#undef MOTOR_QUANTITY
#undef BODY_QUANTITY
