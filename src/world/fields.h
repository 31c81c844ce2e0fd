// fields.h - every value of the simulation's state, block by block, in order of memory. Hash, snapshot,
// difference and log of state all come from these lists; static assertions in state.c prove that they have no
// hole.
//
// FIELDS_name(F, block) calls F(block, member, type, count, unit, text) for each field of a name_block;
// blocks.inl lists the blocks. A type says what a value is (enum field_type in state.h), `count` how many
// cells it takes.
#pragma once

#define CONTROL_FIELDS(F, block)                                                                   \
    F(block, control.stick, VEC3, 3, "m/s", "wanted by the sticks: forward, left, up")             \
    F(block, control.speed, VEC3, 3, "m/s", "on the way there")                                    \
    F(block, control.velocity, VEC3, 3, "m/s", "wanted, world")                                    \
    F(block, control.yaw_rate, NUMBER, 1, "rad/s", "wanted, about world +z")                       \
    F(block, control.heading, NUMBER, 1, "rad", "wanted by the velocity loop")                     \
    F(block, control.integral, VEC3, 3, "m/s^2", "of the position or velocity loop")               \
    F(block, control.indi.rate.value, VEC3, 3, "rad/s", "filtered rate, body")                     \
    F(block, control.indi.rate.slope, VEC3, 3, "rad/s^2", "its derivative")                        \
    F(block, control.indi.acting, VEC3, 3, "N m", "commanded torque behind the lag of the motors") \
    F(block, control.indi.torque.value, VEC3, 3, "N m", "the same, filtered")                      \
    F(block, control.indi.torque.slope, VEC3, 3, "N m/s", "its derivative")                        \
    F(block, control.attitude, QUAT, 4, "", "wanted q_WB")                                         \
    F(block, control.rates, VEC3, 3, "rad/s", "wanted, body")                                      \
    F(block, control.torque, VEC3, 3, "N m", "wanted, body")                                       \
    F(block, control.thrust, NUMBER, 1, "N", "wanted")                                             \
    F(block, control.motors, COMMANDS, 8, "", "motor commands, 0 to 1")

#define FIELDS_world(F, block)                                                                \
    F(block, chain, HASH, 1, "", "hash of the step before")                                   \
    F(block, tick, TICK, 1, "", "steps done")                                                 \
    F(block, integrator, WHOLE, 1, "", "0 euler, 1 semi-implicit, 2 rk4, 3 lie-midpoint")     \
    F(block, block_kinds, WHOLE, 1, "", "entries that follow: one per kind of block present") \
    F(block, failure_reason, WHOLE, 1, "", "why the world ended; 0 while it runs")            \
    F(block, failure_tick, TICK, 1, "", "when it ended")                                      \
    F(block, failure_drone, WHOLE, 1, "", "which drone ended it")                             \
    F(block, failure_field, WHOLE, 1, "", "index of the drone's field that was not finite")   \
    F(block, failure_value, NUMBER, 1, "", "what was measured")                               \
    F(block, failure_limit, NUMBER, 1, "", "what was allowed")

#define FIELDS_entry(F, block)                                                          \
    F(block, id, WHOLE, 1, "", "which kind of block, as listed here; it never changes") \
    F(block, count, WHOLE, 1, "", "how many blocks of that kind follow")

#define FIELDS_drone(F, block)                                                                   \
    F(block, body.position, VEC3, 3, "m", "centre of mass, world")                               \
    F(block, body.velocity, VEC3, 3, "m/s", "world")                                             \
    F(block, body.attitude, QUAT, 4, "", "q_WB: w, x, y, z")                                     \
    F(block, body.rate, VEC3, 3, "rad/s", "body")                                                \
    F(block, rotor_speed, ROTORS, 8, "rad/s", "rotors")                                          \
    F(block, imu.accel, VEC3, 3, "m/s^2", "last sample, body")                                   \
    F(block, imu.gyro, VEC3, 3, "rad/s", "last sample, body")                                    \
    F(block, imu.accel_bias, VEC3, 3, "m/s^2", "true bias")                                      \
    F(block, imu.gyro_bias, VEC3, 3, "rad/s", "true bias")                                       \
    F(block, imu.velocity, VEC3, 3, "m/s", "true velocity at the last sample")                   \
    F(block, imu.attitude, QUAT, 4, "", "true attitude at the last sample")                      \
    F(block, mocap.position, VEC3, 3, "m", "last sample, world")                                 \
    F(block, mocap.attitude, QUAT, 4, "", "last sample, q_WB")                                   \
    F(block, estimate.position, VEC3, 3, "m", "world")                                           \
    F(block, estimate.velocity, VEC3, 3, "m/s", "world")                                         \
    F(block, estimate.attitude, QUAT, 4, "", "q_WB")                                             \
    F(block, estimate.rate, VEC3, 3, "rad/s", "body, bias removed")                              \
    F(block, estimate.gyro_bias, VEC3, 3, "rad/s", "body")                                       \
    F(block, estimate.accel_bias, VEC3, 3, "m/s^2", "body")                                      \
    CONTROL_FIELDS(F, block)                                                                     \
    F(block, turbulence.along, NUMBER, 1, "", "filter of the gusts along the wind")              \
    F(block, turbulence.across, LIST, 2, "", "across it")                                        \
    F(block, turbulence.up, LIST, 2, "", "upwards")                                              \
    F(block, gust, VEC3, 3, "m/s", "turbulence now: east, north, up")                            \
    F(block, effects, FLAGS, 1, "", "effects computed, one bit each")                            \
    F(block, effect_changes, WHOLE, 1, "", "decisions of the negligibility policy that changed") \
    F(block, rung, WHOLE, 1, "", "rung of the intent that acts")                                 \
    F(block, imu_tick, TICK, 1, "", "when the IMU was last sampled")                             \
    F(block, mocap_tick, TICK, 1, "", "when motion capture was last sampled")                    \
    F(block, clamps, WHOLE, 1, "", "motor commands clamped so far")                              \
    F(block, exceeded, WHOLE, 5, "", "steps each safety limit has been exceeded without a break")

#define FIELDS_payload(F, block)                                                                   \
    F(block, carried, WHOLE, 1, "",                                                                \
      "1: the load is carried; 2: its carrier's controller lets it go in the next step")           \
    F(block, missed, WHOLE, 1, "", "1: it was out of reach when it was to be taken up")            \
    F(block, place, VEC3, 3, "m", "of its centre of mass, from the carrier's own, carrier's axes") \
    F(block, turn, QUAT, 4, "", "load to carrier: w, x, y, z")

#define FIELDS_joint(F, block) \
    F(block, active, FLAGS, 1, "", "rows of a cable or limit that act now, one bit each")

#define FIELDS_noise(F, block)                                                         \
    F(block, force, VEC3, 3, "", "band-limited noise of unit variance, for the force") \
    F(block, torque, VEC3, 3, "", "the same for the torque")

#define FIELDS_line(F, block)                                                      \
    F(block, tick, TICK, 1, "", "when it was made; 0: nothing is on its way here") \
    F(block, values, LIST, LINE_CELLS, "", "a sample or a reply on its way through a faulty line")

#define FIELDS_gear(F, block)                                                           \
    F(block, memory.downwash, VEC3, 3, "m/s", "air that moves in others' wakes, world") \
    F(block, memory.inflow, ROTORS, 8, "m/s", "velocity induced by each rotor")         \
    F(block, battery.charge, NUMBER, 1, "A s", "left in the battery")                   \
    F(block, battery.voltage, NUMBER, 1, "V", "at its terminals")                       \
    F(block, battery.current, NUMBER, 1, "A", "drawn from it")

#define FIELDS_guard(F, block)                                                         \
    CONTROL_FIELDS(F, block)                                                           \
    F(block, place, VEC3, 3, "m", "where the failsafe took over, world")               \
    F(block, heading, NUMBER, 1, "rad", "likewise")                                    \
    F(block, asked, COMMANDS, 8, "", "motor commands before the drive's limits")       \
    F(block, told, COMMANDS, 8, "", "and behind them")                                 \
    F(block, failsafe, WHOLE, 1, "", "that acts now; 0: none")                         \
    F(block, since, TICK, 1, "", "when it took over")                                  \
    F(block, cause, WHOLE, 1, "", "why: 1 deadline, 2 command, 3 controller")          \
    F(block, verdict, WHOLE, 1, "", "on the controller")                               \
    F(block, detail, WHOLE, 1, "", "of the verdict")                                   \
    F(block, handovers, WHOLE, 1, "", "to the failsafe so far")                        \
    F(block, fresh, TICK, 1, "", "when the last intent arrived")                       \
    F(block, still, WHOLE, 1, "", "steps that something has held a landing drone")     \
    F(block, lost, FLAGS, 1, "", "rotors that count as lost, one bit each")            \
    F(block, slow, WHOLE, 8, "", "steps each rotor has been too slow without a break") \
    F(block, acted, WHOLE, 6, "", "how often each limit of the drive has acted")       \
    F(block, exceeded, WHOLE, 3, "",                                                   \
      "steps that fall, ground and geofence have been exceeded without a break")

#define FIELDS_thruster(F, block)                                                              \
    F(block, thrust, THRUSTERS, 8, "N", "of each thruster")                                    \
    F(block, owed, THRUSTERS, 8, "s", "of open valve that was asked for and is still to come") \
    F(block, shut, TICK, 8, "", "tick at which each valve shuts")

#define FIELDS_contact_totals(F, block)                                                    \
    F(block, now, WHOLE, 1, "", "contacts with an impulse in the last step")               \
    F(block, count, WHOLE, 1, "", "contacts begun since the start")                        \
    F(block, crashes, WHOLE, 1, "", "impacts beyond its limits since the start")           \
    F(block, contact.impulse, VEC3, 3, "N s", "of all contacts in the last step, world")   \
    F(block, contact.angular, VEC3, 3, "N m s", "the same about the centre of mass, body") \
    F(block, contact.speed, NUMBER, 1, "m/s", "largest at which a contact closed")         \
    F(block, contact.push, NUMBER, 1, "N s", "largest of one contact in one step")         \
    F(block, contact.total, NUMBER, 1, "N s", "of all contacts and steps")

#define FIELDS_contacts(F, block) F(block, count, WHOLE, 1, "", "contacts in use")

#define FIELDS_contact(F, block)                                                                             \
    F(block, pair, WHOLE, 1, "", "bodies that touch: drones, then obstacles; the lower one in the low half") \
    F(block, points, WHOLE, 1, "", "points with an impulse")                                                 \
    F(block, values, LIST, CONTACT_CELLS, "",                                                                \
      "anchors, normal impulses, friction and angular impulse: the warm start")

#define FIELDS_sleep(F, block)                                                                  \
    F(block, ticks, WHOLE, 1, "", "steps below sleep_speed; asleep: 1 from its second step on") \
    F(block, island, WHOLE, 1, "", "0: awake; else those of one number sleep together")         \
    F(block, acceleration, VEC3, 3, "m/s^2", "asleep: by forces in its first step, world")      \
    F(block, torque, VEC3, 3, "N m", "likewise, body")

#define FIELDS_sleeping_contacts(F, block) FIELDS_contacts(F, block)
#define FIELDS_sleeping_contact(F, block)  FIELDS_contact(F, block)

#define FIELDS_kit(F, block)                                                                    \
    F(block, identity, FLAGS, 1, "", "the drone, and what it carries: one bit each")            \
    F(block, imu.accel_wander, VEC3, 3, "m/s^2", "instability of the bias")                     \
    F(block, imu.gyro_wander, VEC3, 3, "rad/s", "instability of the bias")                      \
    F(block, imu.accel_smooth, VEC3, 3, "m/s^2", "behind the low-pass")                         \
    F(block, imu.gyro_smooth, VEC3, 3, "rad/s", "behind the low-pass")                          \
    F(block, imu.rate, VEC3, 3, "rad/s", "true rate at the last sample")                        \
    F(block, baro_wander, NUMBER, 1, "Pa", "slow error of the barometer")                       \
    F(block, gps_wander, VEC3, 3, "m", "slow error of the position, world")                     \
    F(block, baro.pressure, NUMBER, 1, "Pa", "last sample")                                     \
    F(block, baro.altitude, NUMBER, 1, "m", "where still air has that pressure")                \
    F(block, mag.field, VEC3, 3, "T", "last sample, body")                                      \
    F(block, gps.position, VEC3, 3, "m", "last sample, world")                                  \
    F(block, gps.velocity, VEC3, 3, "m/s", "last sample, world")                                \
    F(block, range.distance, NUMBER, 1, "m", "last sample; 0: nothing within sight")            \
    F(block, flow.x, NUMBER, 1, "rad/s", "last sample, along body +x")                          \
    F(block, flow.y, NUMBER, 1, "rad/s", "last sample, along body +y")                          \
    F(block, flow.quality, NUMBER, 1, "", "1: tracked, 0: lost")                                \
    F(block, power.voltage, NUMBER, 1, "V", "last sample")                                      \
    F(block, power.current, NUMBER, 1, "A", "last sample")                                      \
    F(block, esc.speed, ROTORS, 8, "rad/s", "last sample, rotors")                              \
    F(block, lidar.distance, RAYS, 64, "m", "last sample, ray by ray; 0: nothing within sight") \
    F(block, ticks, TICK, 8, "", "when each of these samples arrived")

#define FIELDS_filter(F, block)                                            \
    F(block, covariance, LIST, FILTER_CELLS, "",                           \
      "of position, velocity, attitude, gyroscope and accelerometer bias") \
    F(block, zero, NUMBER, 1, "m", "what the barometer is too high by")    \
    F(block, zeroed, WHOLE, 1, "", "1: that is known")

#define FIELDS_gate(F, block)                                                    \
    F(block, rejected, WHOLE, 6, "",                                             \
      "samples of mocap, gps, baro, mag, range and flow that were not believed") \
    F(block, since, TICK, 6, "", "from when on none of theirs was; 0: the last one was")

#define FIELDS_delay(F, block) \
    F(block, value, NUMBER, 1, "", "a number of a sample on its way: when it was taken, then what it says")

#define FIELDS_nap_account(F, block)                                                \
    F(block, impulse, LIST, EFFECT_COUNT, "N s", "neglected at most, per effect")   \
    F(block, angular, LIST, EFFECT_COUNT, "N m s", "neglected at most, per effect") \
    F(block, deviation, LIST, DEVIATION_COUNT, "", "of rate, angle, velocity, position, at most")
