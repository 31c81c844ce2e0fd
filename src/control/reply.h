// reply.h - every field of a controller's reply, in one list. Wire, log, comparison of replies, tables, page,
// Python and docs/log.md all come from it; static assertions in reply.c prove that it names all of vy_intent.
//
// REPLY_FIELDS(F) calls F(member, type, count, number, rungs, unit, text) for each field, in the order of the
// log: append, never insert. A type says what the values are (vy_reply_type), `count` how many there are,
// `number` is the field's in volery.Reply (1, 2 and 17 are tick, drone and check), `rungs` has a bit for each
// rung that it belongs to. Fields that go with every rung come last.
#pragma once
#include "volery/controller.h"

#define REPLY_MOTORS   (1u << VY_RUNG_MOTORS)
#define REPLY_WRENCH   (1u << VY_RUNG_WRENCH)
#define REPLY_RATES    (1u << VY_RUNG_RATES)
#define REPLY_ATTITUDE (1u << VY_RUNG_ATTITUDE)
#define REPLY_VELOCITY (1u << VY_RUNG_VELOCITY)
#define REPLY_PILOT    (1u << VY_RUNG_PILOT)
#define REPLY_THRUST   (REPLY_WRENCH | REPLY_RATES | REPLY_ATTITUDE)

#define REPLY_FIELDS(F)                                                                                \
    F(rung, CHOICE, 1, 3, 0, "",                                                                       \
      "its level: 0 none, 1 motors, 2 wrench, 3 rates, 4 attitude, 5 velocity, 6 pilot")               \
    F(motors, COMMANDS, VY_ROTOR_CAP, 4, REPLY_MOTORS, "", "0 to 1 each")                              \
    F(thrust, NUMBER, 1, 5, REPLY_THRUST, "N", "along body +z")                                        \
    F(torque, VEC3, 3, 6, REPLY_WRENCH, "N m", "body axes")                                            \
    F(rates, VEC3, 3, 7, REPLY_RATES, "rad/s", "body axes")                                            \
    F(attitude, QUAT, 4, 8, REPLY_ATTITUDE, "", "q_WB: w, x, y, z")                                    \
    F(verdict, CHOICE, 1, 9, 0, "", "0: it replied; else why there is no reply")                       \
    F(detail, CHOICE, 1, 10, 0, "", "of the verdict: a signal, an exit status, a number of bytes")     \
    F(velocity, VEC3, 3, 11, REPLY_VELOCITY, "m/s", "world axes")                                      \
    F(yaw_rate, NUMBER, 1, 12, REPLY_VELOCITY, "rad/s", "about world +z")                              \
    F(throttle, NUMBER, 1, 13, REPLY_PILOT, "", "step 0 to 10")                                        \
    F(strafe, NUMBER, 1, 14, REPLY_PILOT, "", "-1 to 1: positive to the right")                        \
    F(vertical, NUMBER, 1, 15, REPLY_PILOT, "", "-1 to 1: positive upwards")                           \
    F(yaw, NUMBER, 1, 16, REPLY_PILOT, "", "-1 to 1: positive turns right")                            \
    F(drop, FLAGS, 1, 18, VY_REPLY_ANY, "", "payloads to release, one bit each")                       \
    F(debug, LIST, VY_DEBUG_CAP, 19, VY_REPLY_ANY, "", "numbers of its own, for debugging; any value") \
    F(status, UINT, 1, 20, VY_REPLY_ANY, "", "0 armed, 1 disarmed, 2 not ready, 3 stale")

enum {
#define CELLS(member_, type_, count_, ...) +(count_)
    REPLY_CELLS = 0 REPLY_FIELDS(CELLS), // values of all fields
#undef CELLS
};
