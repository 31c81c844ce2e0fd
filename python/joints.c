// joints.c - joints of sets of bodies and of worlds as flat functions for Python's ctypes.
#include "binding.h"
#include "volery/joint.h"
#include <stdio.h>
#include <string.h>

static int answer(vy_status status)
{
    vy_error err = {.status = status};
    if (status == VY_NOT_FOUND)
        snprintf(err.text, sizeof err.text, "this joint is not, or no longer, in the set");
    if (status == VY_BAD_VALUE)
        snprintf(err.text, sizeof err.text,
                 "a motor's speed must be finite, its gain and torque finite and not negative");
    return binding_result(status, &err);
}

// The kinds: "NAME NUMBER HAS ...", where HAS are bits of vy_joint_has().
const char *joint_kinds(void)
{
    static char text[1024];
    size_t used = 0;
#define WORDS(arg, name, word, rows, has, meaning) \
    used += (size_t)snprintf(text + used, sizeof text - used, "%s %d %d ", word, (int)VY_JOINT_##name, has);
    VY_JOINT_LIST(WORDS, )
#undef WORDS
    return text;
}

// Numbers: a point of a and one of b, the axis of a and that of b (world), length, stiffness, damping, rest,
// low, high, speed, gain and torque of the motor, force and torque at which it breaks, stiffness
// and target of a servo, cone, both wheels, ratio. Flags: 1 limited, 2 far open, 4 the axis of b is given.
enum { LIMITED = 1, FAR_OPEN = 2, HAS_AXIS_B = 4 };

int bodies_join(locked_bodies *b, int kind, uint64_t body_a, uint64_t body_b, const double n[33], int flags,
                uint64_t *out)
{
    const vy_vec3 point_a = {n[0], n[1], n[2]}, point_b = {n[3], n[4], n[5]}, axis_a = {n[6], n[7], n[8]},
                  axis_b = {n[9], n[10], n[11]};
    vy_error err = {0};
    vy_joint_id id = VY_NULL_JOINT;
    vy_joint_def def = vy_default_joint_def(), other = vy_default_joint_def();
    def.kind = (vy_joint_kind)kind;
    vy_bodies *set = bodies_enter(b);
    vy_status status =
        vy_joint_set_frames(set, (vy_body_id){body_a}, (vy_body_id){body_b}, point_a, axis_a, &def);
    if (status == VY_OK) {
        (void)vy_joint_set_frames(set, def.body_a, def.body_b, point_b, axis_b, &other);
        def.anchor_b = other.anchor_b;
        if ((flags & HAS_AXIS_B) != 0) def.axis_b = other.axis_b;
        def.length = n[12];
        def.stiffness = n[13];
        def.damping = n[14];
        def.rest = n[15];
        def.limited = (flags & LIMITED) != 0;
        def.low = n[16];
        def.high = n[17];
        def.motor_speed = n[18];
        def.motor_gain = n[19];
        def.max_motor_torque = n[20];
        def.break_force = n[21];
        def.break_torque = n[22];
        def.motor_stiffness = n[23];
        def.motor_target = n[24];
        def.cone = n[25];
        def.wheel_a = (vy_vec3){n[26], n[27], n[28]};
        def.wheel_b = (vy_vec3){n[29], n[30], n[31]};
        def.ratio = n[32];
        def.far_open = (flags & FAR_OPEN) != 0;
        status = vy_bodies_add_joint(set, &def, &id, &err);
    } else {
        snprintf(err.text, sizeof err.text, "a body of the joint is not, or no longer, in the set");
    }
    bodies_leave(b);
    *out = id.bits;
    return binding_result(status, &err);
}

int bodies_remove_joint(locked_bodies *b, uint64_t id)
{
    const vy_status status = vy_bodies_remove_joint(bodies_enter(b), (vy_joint_id){id});
    bodies_leave(b);
    return answer(status);
}

// value (6), gap, angle, length, rate, active, force, torque, tension, closing_time, broken, mean_force,
// mean_torque, swing, turned (2).
enum { JOINT_NUMBERS = 25 };

static void put_joint(const vy_joint_state *s, double out[JOINT_NUMBERS])
{
    const double values[] = {s->gap, s->angle, s->length, s->rate, (double)s->active};
    memcpy(out, s->value, sizeof s->value);
    memcpy(out + 6, values, sizeof values);
    memcpy(out + 11, &s->force, 24);
    memcpy(out + 14, &s->torque, 24);
    out[17] = s->tension;
    out[18] = s->closing_time;
    out[19] = (double)s->broken;
    out[20] = s->mean_force;
    out[21] = s->mean_torque;
    out[22] = s->swing;
    memcpy(out + 23, s->turned, sizeof s->turned);
}

int joint_read(locked_bodies *b, uint64_t id, double out[JOINT_NUMBERS])
{
    vy_joint_state s;
    const vy_status status = vy_joint_read(bodies_enter(b), (vy_joint_id){id}, &s);
    bodies_leave(b);
    if (status == VY_OK) put_joint(&s, out);
    return answer(status);
}

int joint_set_target(locked_bodies *b, uint64_t id, double target)
{
    const vy_status status = vy_joint_set_target(bodies_enter(b), (vy_joint_id){id}, target);
    vy_error err = {.status = status};
    bodies_leave(b);
    if (status != VY_BAD_VALUE) return answer(status);
    snprintf(err.text, sizeof err.text, "a target must be finite, and of a joint with a servo");
    return binding_result(status, &err);
}

int joint_set_cone(locked_bodies *b, uint64_t id, double cone)
{
    vy_error err = {0};
    const vy_status status = vy_joint_set_cone(bodies_enter(b), (vy_joint_id){id}, cone, &err);
    bodies_leave(b);
    return binding_result(status, &err);
}

int joint_set_break(locked_bodies *b, uint64_t id, double force, double torque)
{
    vy_error err = {0};
    const vy_status status = vy_joint_set_break(bodies_enter(b), (vy_joint_id){id}, force, torque, &err);
    bodies_leave(b);
    return binding_result(status, &err);
}

int joint_set_motor(locked_bodies *b, uint64_t id, double speed, double gain, double torque)
{
    const vy_status status = vy_joint_set_motor(bodies_enter(b), (vy_joint_id){id}, speed, gain, torque);
    bodies_leave(b);
    return answer(status);
}

int world_read_joint(locked_world *w, uint32_t joint, double out[JOINT_NUMBERS])
{
    vy_joint_state s;
    const vy_world *world = binding_enter(w);
    const vy_status status = vy_world_read_joint(world, vy_world_joint(world, joint), &s);
    binding_leave(w);
    if (status == VY_OK) put_joint(&s, out);
    return answer(status);
}
