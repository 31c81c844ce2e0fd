// joints.c - joints of sets of bodies and of worlds as flat functions for Python's ctypes.
#include "binding.h"
#include "volery/joint.h"
#include <stdio.h>
#include <string.h>

static int status_result(vy_status status)
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
#define PRINT_KIND(arg, name, word, rows, has, meaning) \
    used += (size_t)snprintf(text + used, sizeof text - used, "%s %d %d ", word, (int)VY_JOINT_##name, has);
    VY_JOINT_LIST(PRINT_KIND, )
#undef PRINT_KIND
    return text;
}

// Numbers: a point of a and one of b, the axis of a and that of b (world), length, stiffness, damping, rest,
// low, high, speed, gain and torque of the motor, force and torque at which it breaks, stiffness
// and target of a servo, cone, both wheels, ratio. Flags: 1 limited, 2 far open, 4 the axis of b is given.
enum { LIMITED = 1, FAR_OPEN = 2, HAS_AXIS_B = 4 };

int bodies_join(locked_bodies *b, int kind, uint64_t body_a, uint64_t body_b, const double numbers[33],
                int flags, uint64_t *out)
{
    const vy_vec3 point_a = {numbers[0], numbers[1], numbers[2]},
                  point_b = {numbers[3], numbers[4], numbers[5]},
                  axis_a = {numbers[6], numbers[7], numbers[8]},
                  axis_b = {numbers[9], numbers[10], numbers[11]};
    vy_error err = {0};
    vy_joint_id id = VY_NULL_JOINT;
    vy_joint_def def = vy_default_joint_def(), def_b = vy_default_joint_def();
    def.kind = (vy_joint_kind)kind;
    vy_bodies *set = bodies_enter(b);
    vy_status status =
        vy_joint_set_frames(set, (vy_body_id){body_a}, (vy_body_id){body_b}, point_a, axis_a, &def);
    if (status == VY_OK) {
        (void)vy_joint_set_frames(set, def.body_a, def.body_b, point_b, axis_b, &def_b);
        def.anchor_b = def_b.anchor_b;
        if ((flags & HAS_AXIS_B) != 0) def.axis_b = def_b.axis_b;
        def.length = numbers[12];
        def.stiffness = numbers[13];
        def.damping = numbers[14];
        def.rest = numbers[15];
        def.limited = (flags & LIMITED) != 0;
        def.low = numbers[16];
        def.high = numbers[17];
        def.motor_speed = numbers[18];
        def.motor_gain = numbers[19];
        def.max_motor_torque = numbers[20];
        def.break_force = numbers[21];
        def.break_torque = numbers[22];
        def.motor_stiffness = numbers[23];
        def.motor_target = numbers[24];
        def.cone = numbers[25];
        def.wheel_a = (vy_vec3){numbers[26], numbers[27], numbers[28]};
        def.wheel_b = (vy_vec3){numbers[29], numbers[30], numbers[31]};
        def.ratio = numbers[32];
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
    return status_result(status);
}

// value (6), gap, angle, length, rate, active, force, torque, tension, closing_time, broken, mean_force,
// mean_torque, swing, turned (2).
enum { JOINT_NUMBERS = 25 };

static void joint_to_numbers(const vy_joint_state *state, double out[JOINT_NUMBERS])
{
    const double values[] = {state->gap, state->angle, state->length, state->rate, (double)state->active};
    memcpy(out, state->value, sizeof state->value);
    memcpy(out + 6, values, sizeof values);
    memcpy(out + 11, &state->force, 24);
    memcpy(out + 14, &state->torque, 24);
    out[17] = state->tension;
    out[18] = state->closing_time;
    out[19] = (double)state->broken;
    out[20] = state->mean_force;
    out[21] = state->mean_torque;
    out[22] = state->swing;
    memcpy(out + 23, state->turned, sizeof state->turned);
}

int joint_read(locked_bodies *b, uint64_t id, double out[JOINT_NUMBERS])
{
    vy_joint_state state;
    const vy_status status = vy_joint_read(bodies_enter(b), (vy_joint_id){id}, &state);
    bodies_leave(b);
    if (status == VY_OK) joint_to_numbers(&state, out);
    return status_result(status);
}

int joint_set_target(locked_bodies *b, uint64_t id, double target)
{
    const vy_status status = vy_joint_set_target(bodies_enter(b), (vy_joint_id){id}, target);
    vy_error err = {.status = status};
    bodies_leave(b);
    if (status != VY_BAD_VALUE) return status_result(status);
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
    return status_result(status);
}

int world_read_joint(locked_world *w, uint32_t joint, double out[JOINT_NUMBERS])
{
    vy_joint_state state;
    const vy_world *world = world_enter(w);
    const vy_status status = vy_world_read_joint(world, vy_world_joint(world, joint), &state);
    world_leave(w);
    if (status == VY_OK) joint_to_numbers(&state, out);
    return status_result(status);
}
