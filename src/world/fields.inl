// fields.inl - every value of the simulation's state, in order of memory. Hash, snapshot, difference and log of
// state all come from this list; static assertions in state.c prove that it has no hole.
//
// The including file defines the macros it wants, (member, type, count, unit, text); all are undefined at the end.
#ifndef WORLD_FIELD
#define WORLD_FIELD(member, type, count, unit, text)
#endif
#ifndef DRONE_FIELD
#define DRONE_FIELD(member, type, count, unit, text)
#endif
#ifndef LEDGER_FIELD
#define LEDGER_FIELD(member, type, count, unit, text)
#endif
#ifndef LINE_FIELD
#define LINE_FIELD(member, type, count, unit, text)
#endif
#ifndef TIE_FIELD
#define TIE_FIELD(member, type, count, unit, text)
#endif
#ifndef GEAR_FIELD
#define GEAR_FIELD(member, type, count, unit, text)
#endif
#ifndef PAYLOAD_FIELD
#define PAYLOAD_FIELD(member, type, count, unit, text)
#endif
#ifndef THRUSTER_FIELD
#define THRUSTER_FIELD(member, type, count, unit, text)
#endif
#ifndef TOUCH_FIELD
#define TOUCH_FIELD(member, type, count, unit, text)
#endif
#ifndef CONTACTS_FIELD
#define CONTACTS_FIELD(member, type, count, unit, text)
#endif
#ifndef CONTACT_FIELD
#define CONTACT_FIELD(member, type, count, unit, text)
#endif
#ifndef REST_FIELD
#define REST_FIELD(member, type, count, unit, text)
#endif
#ifndef GUARD_FIELD
#define GUARD_FIELD(member, type, count, unit, text)
#endif
#ifndef KIT_FIELD
#define KIT_FIELD(member, type, count, unit, text)
#endif
#ifndef FILTER_FIELD
#define FILTER_FIELD(member, type, count, unit, text)
#endif
#ifndef GATE_FIELD
#define GATE_FIELD(member, type, count, unit, text)
#endif
#ifndef DELAY_FIELD
#define DELAY_FIELD(member, type, count, unit, text)
#endif
#ifndef NOISE_FIELD
#define NOISE_FIELD(member, type, count, unit, text)
#endif

WORLD_FIELD(chain, u64, 1, "", "hash of the step before")
WORLD_FIELD(tick, u64, 1, "", "steps done")
WORLD_FIELD(drone_count, u64, 1, "", "drones in the state")
WORLD_FIELD(noise_count, u64, 1, "", "noises in it")
WORLD_FIELD(line_count, u64, 1, "", "places of delay lines in it; in the upper half the integrator: 0 rk4, 1 lie-midpoint, 2 euler, 3 semi-implicit")
WORLD_FIELD(gear_count, u64, 1, "", "gears in it, and in the upper half sets of thrusters")
WORLD_FIELD(joint_count, u64, 1, "", "joints in it, and in the upper half payloads")
WORLD_FIELD(failure_reason, u64, 1, "", "why the world ended; 0 while it runs")
WORLD_FIELD(failure_tick, u64, 1, "", "when it ended")
WORLD_FIELD(failure_drone, u64, 1, "", "which drone ended it")
WORLD_FIELD(failure_field, u64, 1, "", "index of the field that was not finite")
WORLD_FIELD(failure_value, f64, 1, "", "what was measured")
WORLD_FIELD(failure_limit, f64, 1, "", "what was allowed")

DRONE_FIELD(body.position, f64, 3, "m", "centre of mass, world")
DRONE_FIELD(body.velocity, f64, 3, "m/s", "world")
DRONE_FIELD(body.attitude, f64, 4, "", "q_WB: w, x, y, z")
DRONE_FIELD(body.rate, f64, 3, "rad/s", "body")
DRONE_FIELD(rotor_speed, f64, 8, "rad/s", "rotors")
DRONE_FIELD(imu.accel, f64, 3, "m/s^2", "last sample, body")
DRONE_FIELD(imu.gyro, f64, 3, "rad/s", "last sample, body")
DRONE_FIELD(imu.accel_bias, f64, 3, "m/s^2", "true bias")
DRONE_FIELD(imu.gyro_bias, f64, 3, "rad/s", "true bias")
DRONE_FIELD(imu.velocity, f64, 3, "m/s", "true velocity at the last sample")
DRONE_FIELD(imu.attitude, f64, 4, "", "true attitude at the last sample")
DRONE_FIELD(mocap.position, f64, 3, "m", "last sample, world")
DRONE_FIELD(mocap.attitude, f64, 4, "", "last sample, q_WB")
DRONE_FIELD(estimate.position, f64, 3, "m", "world")
DRONE_FIELD(estimate.velocity, f64, 3, "m/s", "world")
DRONE_FIELD(estimate.attitude, f64, 4, "", "q_WB")
DRONE_FIELD(estimate.rate, f64, 3, "rad/s", "body, bias removed")
DRONE_FIELD(estimate.gyro_bias, f64, 3, "rad/s", "body")
DRONE_FIELD(estimate.accel_bias, f64, 3, "m/s^2", "body")
DRONE_FIELD(control.stick, f64, 3, "m/s", "wanted by the sticks: forward, left, up")
DRONE_FIELD(control.speed, f64, 3, "m/s", "on the way there")
DRONE_FIELD(control.velocity, f64, 3, "m/s", "wanted, world")
DRONE_FIELD(control.yaw_rate, f64, 1, "rad/s", "wanted, about world +z")
DRONE_FIELD(control.heading, f64, 1, "rad", "wanted by the velocity loop")
DRONE_FIELD(control.integral, f64, 3, "m/s^2", "of the position or velocity loop")
DRONE_FIELD(control.indi.rate.value, f64, 3, "rad/s", "filtered rate, body")
DRONE_FIELD(control.indi.rate.slope, f64, 3, "rad/s^2", "its derivative")
DRONE_FIELD(control.indi.acting, f64, 3, "N m", "commanded torque behind the lag of the motors")
DRONE_FIELD(control.indi.torque.value, f64, 3, "N m", "the same, filtered")
DRONE_FIELD(control.indi.torque.slope, f64, 3, "N m/s", "its derivative")
DRONE_FIELD(control.attitude, f64, 4, "", "wanted q_WB")
DRONE_FIELD(control.rates, f64, 3, "rad/s", "wanted, body")
DRONE_FIELD(control.torque, f64, 3, "N m", "wanted, body")
DRONE_FIELD(control.thrust, f64, 1, "N", "wanted")
DRONE_FIELD(control.motors, f64, 8, "", "motor commands, 0 to 1")
DRONE_FIELD(turbulence.along, f64, 1, "", "filter of the gusts along the wind")
DRONE_FIELD(turbulence.across, f64, 2, "", "across it")
DRONE_FIELD(turbulence.up, f64, 2, "", "upwards")
DRONE_FIELD(gust, f64, 3, "m/s", "turbulence now: east, north, up")
DRONE_FIELD(effects, u64, 1, "", "effects computed, one bit each")
DRONE_FIELD(effect_changes, u64, 1, "", "decisions of the negligibility policy that changed")
DRONE_FIELD(rung, u64, 1, "", "rung of the intent that acts")
DRONE_FIELD(imu_tick, u64, 1, "", "when the IMU was last sampled")
DRONE_FIELD(mocap_tick, u64, 1, "", "when motion capture was last sampled")
DRONE_FIELD(clamps, u64, 1, "", "motor commands clamped so far")
DRONE_FIELD(exceeded, u64, 5, "", "steps each safety limit has been exceeded without a break")

PAYLOAD_FIELD(carried, u64, 1, "", "1: the load is carried; 2: its carrier's controller lets it go in the next step")
PAYLOAD_FIELD(missed, u64, 1, "", "1: it was out of reach when it was to be taken up")
PAYLOAD_FIELD(place, f64, 3, "m", "of its centre of mass, from the carrier's own, carrier's axes")
PAYLOAD_FIELD(turn, f64, 4, "", "load to carrier: w, x, y, z")

TIE_FIELD(active, u64, 1, "", "rows of a cable or limit that act now, one bit each")

NOISE_FIELD(force, f64, 3, "", "band-limited noise of unit variance, for the force")
NOISE_FIELD(torque, f64, 3, "", "the same for the torque")

LINE_FIELD(tick, u64, 1, "", "when it was made; 0: nothing is on its way here")
LINE_FIELD(values, f64, LINE_CELLS, "", "a sample or a reply on its way through a faulty line")

GEAR_FIELD(memory.downwash, f64, 3, "m/s", "air that moves in others' wakes, world")
GEAR_FIELD(memory.inflow, f64, 8, "m/s", "velocity induced by each rotor")
GEAR_FIELD(battery.charge, f64, 1, "A s", "left in the battery")
GEAR_FIELD(battery.voltage, f64, 1, "V", "at its terminals")
GEAR_FIELD(battery.current, f64, 1, "A", "drawn from it")

GUARD_FIELD(control.stick, f64, 3, "m/s", "of the failsafe, as `control` of the drone")
GUARD_FIELD(control.speed, f64, 3, "m/s", "likewise")
GUARD_FIELD(control.velocity, f64, 3, "m/s", "likewise")
GUARD_FIELD(control.yaw_rate, f64, 1, "rad/s", "likewise")
GUARD_FIELD(control.heading, f64, 1, "rad", "likewise")
GUARD_FIELD(control.integral, f64, 3, "m/s^2", "likewise")
GUARD_FIELD(control.indi.rate.value, f64, 3, "rad/s", "likewise")
GUARD_FIELD(control.indi.rate.slope, f64, 3, "rad/s^2", "likewise")
GUARD_FIELD(control.indi.acting, f64, 3, "N m", "likewise")
GUARD_FIELD(control.indi.torque.value, f64, 3, "N m", "likewise")
GUARD_FIELD(control.indi.torque.slope, f64, 3, "N m/s", "likewise")
GUARD_FIELD(control.attitude, f64, 4, "", "likewise")
GUARD_FIELD(control.rates, f64, 3, "rad/s", "likewise")
GUARD_FIELD(control.torque, f64, 3, "N m", "likewise")
GUARD_FIELD(control.thrust, f64, 1, "N", "likewise")
GUARD_FIELD(control.motors, f64, 8, "", "likewise")
GUARD_FIELD(place, f64, 3, "m", "where the failsafe took over, world")
GUARD_FIELD(heading, f64, 1, "rad", "likewise")
GUARD_FIELD(asked, f64, 8, "", "motor commands before the drive's limits")
GUARD_FIELD(told, f64, 8, "", "and behind them")
GUARD_FIELD(failsafe, u64, 1, "", "that acts now; 0: none")
GUARD_FIELD(since, u64, 1, "", "when it took over")
GUARD_FIELD(cause, u64, 1, "", "why: 1 deadline, 2 command, 3 controller")
GUARD_FIELD(verdict, u64, 1, "", "on the controller")
GUARD_FIELD(detail, u64, 1, "", "of the verdict")
GUARD_FIELD(handovers, u64, 1, "", "to the failsafe so far")
GUARD_FIELD(fresh, u64, 1, "", "when the last intent arrived")
GUARD_FIELD(still, u64, 1, "", "steps that something has held a landing drone")
GUARD_FIELD(lost, u64, 1, "", "rotors that count as lost, one bit each")
GUARD_FIELD(slow, u64, 8, "", "steps each rotor has been too slow without a break")
GUARD_FIELD(acted, u64, 6, "", "how often each limit of the drive has acted")
GUARD_FIELD(exceeded, u64, 3, "", "steps that fall, ground and geofence have been exceeded without a break")

THRUSTER_FIELD(thrust, f64, 8, "N", "of each thruster")
THRUSTER_FIELD(owed, f64, 8, "s", "of open valve that was asked for and is still to come")
THRUSTER_FIELD(shut, u64, 8, "", "tick at which each valve shuts")

TOUCH_FIELD(now, u64, 1, "", "contacts that push it")
TOUCH_FIELD(count, u64, 1, "", "contacts begun since the start")
TOUCH_FIELD(crashes, u64, 1, "", "impacts beyond its limits since the start")
TOUCH_FIELD(contact.impulse, f64, 3, "N s", "of all contacts in the last step, world")
TOUCH_FIELD(contact.angular, f64, 3, "N m s", "the same about the centre of mass, body")
TOUCH_FIELD(contact.speed, f64, 1, "m/s", "largest at which a contact closed")
TOUCH_FIELD(contact.push, f64, 1, "N s", "largest of one contact in one step")
TOUCH_FIELD(contact.total, f64, 1, "N s", "of all contacts and steps")

CONTACTS_FIELD(count, u64, 1, "", "contacts in use")

CONTACT_FIELD(pair, u64, 1, "", "bodies that touch: drones, then obstacles; the lower one in the low half")
CONTACT_FIELD(points, u64, 1, "", "points that push")
CONTACT_FIELD(values, f64, CONTACT_CELLS, "", "where they are, their pushes, friction and torques: the warm start")

REST_FIELD(ticks, u64, 1, "", "steps it has rested; asleep: 1 from its second step on")
REST_FIELD(island, u64, 1, "", "0: awake; else those of one number sleep together")
REST_FIELD(acceleration, f64, 3, "m/s^2", "asleep: what pushed it in its first step, world")
REST_FIELD(torque, f64, 3, "N m", "likewise, body")

KIT_FIELD(identity, u64, 1, "", "the drone, and what it carries: one bit each")
KIT_FIELD(imu.accel_wander, f64, 3, "m/s^2", "instability of the bias")
KIT_FIELD(imu.gyro_wander, f64, 3, "rad/s", "instability of the bias")
KIT_FIELD(imu.accel_smooth, f64, 3, "m/s^2", "behind the low-pass")
KIT_FIELD(imu.gyro_smooth, f64, 3, "rad/s", "behind the low-pass")
KIT_FIELD(imu.rate, f64, 3, "rad/s", "true rate at the last sample")
KIT_FIELD(baro_wander, f64, 1, "Pa", "slow error of the barometer")
KIT_FIELD(gps_wander, f64, 3, "m", "slow error of the position, world")
KIT_FIELD(baro.pressure, f64, 1, "Pa", "last sample")
KIT_FIELD(baro.altitude, f64, 1, "m", "where still air has that pressure")
KIT_FIELD(mag.field, f64, 3, "T", "last sample, body")
KIT_FIELD(gps.position, f64, 3, "m", "last sample, world")
KIT_FIELD(gps.velocity, f64, 3, "m/s", "last sample, world")
KIT_FIELD(range.distance, f64, 1, "m", "last sample; 0: nothing within sight")
KIT_FIELD(flow.x, f64, 1, "rad/s", "last sample, along body +x")
KIT_FIELD(flow.y, f64, 1, "rad/s", "last sample, along body +y")
KIT_FIELD(flow.quality, f64, 1, "", "1: tracked, 0: lost")
KIT_FIELD(power.voltage, f64, 1, "V", "last sample")
KIT_FIELD(power.current, f64, 1, "A", "last sample")
KIT_FIELD(esc.speed, f64, 8, "rad/s", "last sample, rotors")
KIT_FIELD(lidar.distance, f64, 64, "m", "last sample, ray by ray; 0: nothing within sight")
KIT_FIELD(ticks, u64, 8, "", "when each of these samples arrived")

FILTER_FIELD(covariance, f64, FILTER_CELLS, "", "of position, velocity, attitude, gyroscope and accelerometer bias")
FILTER_FIELD(zero, f64, 1, "m", "what the barometer is too high by")
FILTER_FIELD(zeroed, u64, 1, "", "1: that is known")

GATE_FIELD(rejected, u64, 6, "", "samples of mocap, gps, baro, mag, range and flow that were not believed")
GATE_FIELD(since, u64, 6, "", "from when on none of theirs was; 0: the last one was")

DELAY_FIELD(value, f64, 1, "", "a number of a sample on its way: when it was taken, then what it says")

LEDGER_FIELD(impulse, f64, EFFECT_COUNT, "N s", "neglected at most, per effect")
LEDGER_FIELD(angular, f64, EFFECT_COUNT, "N m s", "neglected at most, per effect")
LEDGER_FIELD(deviation, f64, DEVIATION_COUNT, "", "of rate, angle, velocity, position, at most")

#undef WORLD_FIELD
#undef DRONE_FIELD
#undef TIE_FIELD
#undef NOISE_FIELD
#undef LINE_FIELD
#undef GEAR_FIELD
#undef THRUSTER_FIELD
#undef PAYLOAD_FIELD
#undef TOUCH_FIELD
#undef CONTACTS_FIELD
#undef CONTACT_FIELD
#undef REST_FIELD
#undef GUARD_FIELD
#undef KIT_FIELD
#undef FILTER_FIELD
#undef GATE_FIELD
#undef DELAY_FIELD
#undef LEDGER_FIELD
