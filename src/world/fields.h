// fields.h - the values of the simulation's state, block by block, in order of memory. Hash, snapshot,
// difference and log of state all come from such lists; static assertions in state.c prove that they have no
// hole. A component (payload.h, ...) has its list in its own header.
//
// FIELDS_name(F, block) calls F(block, member, type, count, unit, text) for each field of a name_block;
// blocks.inl lists the blocks. A type says what a value is (enum field_type in state.h), `count` how many
// cells it takes.
#pragma once

#define CONTROL_FIELDS(F, block)                                                                   \
    F(block, control.stick, VEC3, 3, "m/s", "desired by the sticks: forward, left, up")            \
    F(block, control.speed, VEC3, 3, "m/s", "on the way there")                                    \
    F(block, control.velocity, VEC3, 3, "m/s", "desired, world")                                   \
    F(block, control.yaw_rate, NUMBER, 1, "rad/s", "desired, about world +z")                      \
    F(block, control.heading, NUMBER, 1, "rad", "desired by the velocity loop")                    \
    F(block, control.integral, VEC3, 3, "m/s^2", "of the position or velocity loop")               \
    F(block, control.indi.rate.value, VEC3, 3, "rad/s", "filtered rate, body")                     \
    F(block, control.indi.rate.derivative, VEC3, 3, "rad/s^2", "its derivative")                   \
    F(block, control.indi.lagged, VEC3, 3, "N m", "commanded torque behind the lag of the motors") \
    F(block, control.indi.torque.value, VEC3, 3, "N m", "the same, filtered")                      \
    F(block, control.indi.torque.derivative, VEC3, 3, "N m/s", "its derivative")                   \
    F(block, control.attitude, QUAT, 4, "", "desired q_WB")                                        \
    F(block, control.rates, VEC3, 3, "rad/s", "desired, body")                                     \
    F(block, control.torque, VEC3, 3, "N m", "desired, body")                                      \
    F(block, control.thrust, NUMBER, 1, "N", "desired")                                            \
    F(block, control.motors, COMMANDS, 8, "", "motor commands, 0 to 1")

#define FIELDS_world(F, block)                                                                  \
    F(block, chain, HASH, 1, "", "hash of the step before")                                     \
    F(block, tick, TICK, 1, "", "steps done")                                                   \
    F(block, integrator, INTEGER, 1, "", "0 euler, 1 semi-implicit, 2 rk4, 3 lie-midpoint")     \
    F(block, block_kinds, INTEGER, 1, "", "entries that follow: one per kind of block present") \
    F(block, failure_reason, INTEGER, 1, "", "why the world ended; 0 while it runs")            \
    F(block, failure_tick, TICK, 1, "", "when it ended")                                        \
    F(block, failure_body, INTEGER, 1, "", "which drone or body ended it: drones come first")   \
    F(block, failure_field, INTEGER, 1, "", "index of its field that was not finite")           \
    F(block, failure_value, NUMBER, 1, "", "what was measured")                                 \
    F(block, failure_limit, NUMBER, 1, "", "what was allowed")

#define FIELDS_entry(F, block)                                                            \
    F(block, id, INTEGER, 1, "", "which kind of block, as listed here; it never changes") \
    F(block, count, INTEGER, 1, "", "how many blocks of that kind follow")

#define FIELDS_drone(F, block)                                                                     \
    F(block, body.position, VEC3, 3, "m", "centre of mass, world")                                 \
    F(block, body.velocity, VEC3, 3, "m/s", "world")                                               \
    F(block, body.attitude, QUAT, 4, "", "q_WB: w, x, y, z")                                       \
    F(block, body.rate, VEC3, 3, "rad/s", "body")                                                  \
    F(block, rotor_speed, ROTORS, 8, "rad/s", "rotors")                                            \
    F(block, imu.accel, VEC3, 3, "m/s^2", "last sample, body")                                     \
    F(block, imu.gyro, VEC3, 3, "rad/s", "last sample, body")                                      \
    F(block, imu.accel_bias, VEC3, 3, "m/s^2", "true bias")                                        \
    F(block, imu.gyro_bias, VEC3, 3, "rad/s", "true bias")                                         \
    F(block, imu.velocity, VEC3, 3, "m/s", "true velocity at the last sample")                     \
    F(block, imu.attitude, QUAT, 4, "", "true attitude at the last sample")                        \
    F(block, mocap.position, VEC3, 3, "m", "last sample, world")                                   \
    F(block, mocap.attitude, QUAT, 4, "", "last sample, q_WB")                                     \
    F(block, estimate.position, VEC3, 3, "m", "world")                                             \
    F(block, estimate.velocity, VEC3, 3, "m/s", "world")                                           \
    F(block, estimate.attitude, QUAT, 4, "", "q_WB")                                               \
    F(block, estimate.rate, VEC3, 3, "rad/s", "body, bias removed")                                \
    F(block, estimate.gyro_bias, VEC3, 3, "rad/s", "body")                                         \
    F(block, estimate.accel_bias, VEC3, 3, "m/s^2", "body")                                        \
    CONTROL_FIELDS(F, block)                                                                       \
    F(block, turbulence.along, NUMBER, 1, "", "filter of the gusts along the wind")                \
    F(block, turbulence.across, LIST, 2, "", "across it")                                          \
    F(block, turbulence.up, LIST, 2, "", "upwards")                                                \
    F(block, gust, VEC3, 3, "m/s", "turbulence now: east, north, up")                              \
    F(block, effects, FLAGS, 1, "", "effects computed, one bit each")                              \
    F(block, effect_changes, INTEGER, 1, "", "decisions of the negligibility policy that changed") \
    F(block, rung, INTEGER, 1, "", "rung of the intent that acts")                                 \
    F(block, imu_tick, TICK, 1, "", "when the IMU was last sampled")                               \
    F(block, mocap_tick, TICK, 1, "", "when motion capture was last sampled")                      \
    F(block, clamps, INTEGER, 1, "", "motor commands clamped so far")                              \
    F(block, exceeded, INTEGER, 5, "", "steps each safety limit has been exceeded without a break")

#define FIELDS_body(F, block)                                                       \
    F(block, body.position, VEC3, 3, "m", "centre of mass, world")                  \
    F(block, body.velocity, VEC3, 3, "m/s", "world")                                \
    F(block, body.attitude, QUAT, 4, "", "q_WB: w, x, y, z")                        \
    F(block, body.rate, VEC3, 3, "rad/s", "body")                                   \
    F(block, turbulence.along, NUMBER, 1, "", "filter of the gusts along the wind") \
    F(block, turbulence.across, LIST, 2, "", "across it")                           \
    F(block, turbulence.up, LIST, 2, "", "upwards")                                 \
    F(block, gust, VEC3, 3, "m/s", "turbulence now: east, north, up")               \
    F(block, effects, FLAGS, 1, "", "effects computed, one bit each")               \
    F(block, effect_changes, INTEGER, 1, "", "decisions of the negligibility policy that changed")

#define FIELDS_body_wake(F, block) \
    F(block, downwash, VEC3, 3, "m/s", "air that moves in others' wakes, world")

#define FIELDS_joint(F, block)     \
    F(block, active, FLAGS, 1, "", \
      "rows of a cable or limit that act now, one bit each; bit 8: it has broken")

#define FIELDS_gear(F, block)       \
    F(block, angle, LIST, 2, "rad", \
      "of a gear: of the line between its anchors, seen from a and from b, all turns counted")

#define FIELDS_noise(F, block)                                                         \
    F(block, force, VEC3, 3, "", "band-limited noise of unit variance, for the force") \
    F(block, torque, VEC3, 3, "", "the same for the torque")

#define FIELDS_sensor_suite(F, block) \
    F(block, identity, FLAGS, 1, "", "the drone, and its sensors: one bit each")
