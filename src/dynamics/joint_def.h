// joint_def.h - what a joint is made from: its scenario rows and its check.
#pragma once
#include "base/real.h"
#include "base/schema.h"
#include "volery/joint.h"

// Rows of a vy_joint_def that lies at `at_` of a `type_`, first of all members: units depend on its kind. The
// first row is apart, since those of a scenario's own come after it.
#define ROW_joint_kind(type_, at_)                                                               \
    ROW("kind", CHOICE, type_, at_ kind, .choices = vy_joint_kinds, .choice_count = JOINT_KINDS, \
        .flags = VY_ROW_REQUIRED, .help = "the kind of joint")
#define ROWS_joint(type_, at_)                                                                               \
    ROW("anchor_a", VECTOR, type_, at_ anchor_a, .size = 3, .unit = "m", .range = ANY,                       \
        .help = "in a, from its centre of mass, body axes; in the world, a place"),                          \
        ROW("anchor_b", VECTOR, type_, at_ anchor_b, .size = 3, .unit = "m", .range = ANY,                   \
            .help = "in b, the same way"),                                                                   \
        ROW("axis_a", VECTOR, type_, at_ axis_a, .size = 3, .range = ANY,                                    \
            .when = VY_JOINTS_THAT(VY_JOINT_HAS_AXIS), .help = "in a, body axes, any length above 0"),       \
        ROW("axis_b", VECTOR, type_, at_ axis_b, .size = 3, .range = ANY,                                    \
            .when = VY_JOINTS_THAT(VY_JOINT_HAS_AXIS_B), .help = "in b, the same way"),                      \
        ROW("length", NUMBER, type_, at_ length, .unit = "m", .range = AT_LEAST_0, .flags = VY_ROW_REQUIRED, \
            .when = VY_JOINTS_THAT(VY_JOINT_HAS_LENGTH),                                                     \
            .help = "of the rod, the cable, of a pulley over its wheels, or the spring at rest"),            \
        ROW("wheel_a", VECTOR, type_, at_ wheel_a, .size = 3, .unit = "m", .range = ANY,                     \
            .flags = VY_ROW_REQUIRED, .when = VY_JOINTS_THAT(VY_JOINT_HAS_WHEELS),                           \
            .help = "where the cable leaves its wheels to a, in the world"),                                 \
        ROW("wheel_b", VECTOR, type_, at_ wheel_b, .size = 3, .unit = "m", .range = ANY,                     \
            .flags = VY_ROW_REQUIRED, .when = VY_JOINTS_THAT(VY_JOINT_HAS_WHEELS), .help = "and to b"),      \
        ROW("ratio", NUMBER, type_, at_ ratio, .range = ANY,                                                 \
            .when = VY_JOINTS_THAT(VY_JOINT_HAS_WHEELS | VY_JOINT_GEARED),                                   \
            .help = "of a pulley, above 0: what the part of its cable to b counts in its length; of a "      \
                    "gear: teeth of b over teeth of a, below 0 where both turn the same way"),               \
        ROW("stiffness", NUMBER, type_, at_ stiffness, .unit_of = vy_joint_unit_of_stiffness,                \
            .range = AT_LEAST_0, .when = JOINTS_WITH_SPRING,                                                 \
            .help = "of its spring: N m/rad of a hinge, else N/m"),                                          \
        ROW("damping", NUMBER, type_, at_ damping, .unit_of = vy_joint_unit_of_damping, .range = AT_LEAST_0, \
            .when = JOINTS_WITH_SPRING, .help = "of its damper: N m s/rad of a hinge, else N s/m"),          \
        ROW("rest", NUMBER, type_, at_ rest, .unit_of = vy_joint_unit_of_travel, .range = ANY,               \
            .when = JOINTS_WITH_MOTOR,                                                                       \
            .help = "rest position of its spring, rad or m; 0 is the joint's pose at the start"),            \
        ROW("limited", CHOICE, type_, at_ limited, .choices = vy_joint_limits, .choice_count = 2,            \
            .when = JOINTS_WITH_MOTOR, .help = "whether it has stops"),                                      \
        ROW("low", NUMBER, type_, at_ low, .unit_of = vy_joint_unit_of_travel, .range = ANY,                 \
            .when = JOINTS_WITH_MOTOR, .help = "lower stop, rad or m; a hinge's above -pi"),                 \
        ROW("high", NUMBER, type_, at_ high, .unit_of = vy_joint_unit_of_travel, .range = ANY,               \
            .when = JOINTS_WITH_MOTOR, .help = "upper stop, rad or m; a hinge's below pi"),                  \
        ROW("motor_speed", NUMBER, type_, at_ motor_speed, .unit_of = vy_joint_unit_of_speed, .range = ANY,  \
            .when = JOINTS_WITH_MOTOR, .help = "target speed of its motor, rad/s or m/s"),                   \
        ROW("motor_gain", NUMBER, type_, at_ motor_gain, .unit_of = vy_joint_unit_of_damping,                \
            .range = AT_LEAST_0, .when = JOINTS_WITH_MOTOR,                                                  \
            .help = "its effort over the speed error: N m s/rad or N s/m"),                                  \
        ROW("motor_max", NUMBER, type_, at_ max_motor_torque, .unit_of = vy_joint_unit_of_effort,            \
            .range = AT_LEAST_0, .when = JOINTS_WITH_MOTOR,                                                  \
            .help = "its largest effort, N m or N; 0 is no motor"),                                          \
        ROW("motor_stiffness", NUMBER, type_, at_ motor_stiffness, .unit_of = vy_joint_unit_of_stiffness,    \
            .range = AT_LEAST_0, .when = JOINTS_WITH_MOTOR, .flags = VY_ROW_HASHED_IF_SET,                   \
            .help = "of a servo: its effort over the way to its target, N m/rad or N/m, added to that of "   \
                    "the speed error"),                                                                      \
        ROW("motor_target", NUMBER, type_, at_ motor_target, .unit_of = vy_joint_unit_of_travel,             \
            .range = ANY, .when = JOINTS_WITH_MOTOR, .flags = VY_ROW_HASHED_IF_SET,                          \
            .help = "of a servo: where it is to be, rad or m; 0 is the joint's pose at the start"),          \
        ROW("break_force", NUMBER, type_, at_ break_force, .unit = "N", .range = AT_LEAST_0,                 \
            .keyword = "never", .keyword_value = 0.0, .flags = VY_ROW_HASHED_IF_SET,                         \
            .help = "it breaks at the end of a step in which its mean force was greater"),                   \
        ROW("break_torque", NUMBER, type_, at_ break_torque, .unit = "N m", .range = AT_LEAST_0,             \
            .keyword = "never", .keyword_value = 0.0, .flags = VY_ROW_HASHED_IF_SET,                         \
            .help = "likewise, by its mean torque about the anchor of b"),                                   \
        ROW("far_open", CHOICE, type_, at_ far_open, .choices = vy_joint_far_open, .choice_count = 2,        \
            .help = "whether it may be open at the start by more than `closing.limit`"),

#define JOINTS_WITH_MOTOR  VY_JOINTS_THAT(VY_JOINT_TURNS | VY_JOINT_SLIDES)
#define JOINTS_WITH_SPRING VY_JOINTS_THAT(VY_JOINT_TURNS | VY_JOINT_SLIDES | VY_JOINT_HAS_SPRING)

enum { JOINT_KINDS = VY_JOINT_CUSTOM - 1 }; // that a scenario has
extern const vy_choice vy_joint_kinds[JOINT_KINDS], vy_joint_limits[2], vy_joint_far_open[2];

/// Units of what acts on an angle or along a line; `joint` is a vy_joint_def.
const char *vy_joint_unit_of_travel(const void *joint);
const char *vy_joint_unit_of_speed(const void *joint);
const char *vy_joint_unit_of_effort(const void *joint);
const char *vy_joint_unit_of_stiffness(const void *joint);
const char *vy_joint_unit_of_damping(const void *joint);

VY_FN int is_finite_non_negative(double x) { return real_is_finite(x) && x >= 0.0; }
vy_status vy_joint_check(const vy_joint_def *def, vy_error *err);
