// schema_joints.c - the rows of bodies without rotors, of joints and of payloads.
#include "scenario/schema_rows.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(vy_joint_kind) == sizeof(int), "choices are read and written as int");

// A body is a drone that nothing steers and that measures nothing.
static void init_body(void *object, int index)
{
    vy_scenario_drone *body = object;
    memset(body, 0, sizeof *body);
    snprintf(body->name, sizeof body->name, "body%d", index);
    body->def = vy_default_drone_def();
    const uint32_t cookie = body->def.vehicle.cookie;
    memset(&body->def.vehicle, 0, sizeof body->def.vehicle);
    body->def.vehicle.cookie = cookie;
    body->def.vehicle.allocation = VY_ALLOCATION_PHYSICAL;
    body->def.vehicle.command_curve = 1.0;
    memcpy(body->def.vehicle.name, "body", sizeof "body");
    body->def.position = (vy_vec3){0.0, 0.0, 0.0};
    body->def.rotor_speed = 0.0;
    body->def.imu.period = body->def.mocap.period = 0.0;
    body->def.controller.kind = VY_CONTROLLER_NONE;
    body->place.latitude = VY_NOWHERE;
}

static const vy_row body_rows[] = {
    ROW("name", TEXT, vy_scenario_drone, name, .size = VY_NAME_CAP, .flags = VY_ROW_LABEL | VY_ROW_IDENTIFIER,
        .default_text = "body0, body1, ...", .help = "unique among drones and bodies"),
    ROW("mass", NUMBER, vy_scenario_drone, def.vehicle.mass, .unit = "kg", .range = POSITIVE,
        .default_text = "of its shape and density", .help = "of the body"),
    ROW("density", NUMBER, vy_scenario_drone, density, .unit = "kg/m^3", .range = POSITIVE,
        .default_text = "none", .help = "of its shape, in place of a mass"),
    ROW("inertia", INERTIA, vy_scenario_drone, def.vehicle.inertia, .unit = "kg m^2", .range = ANY,
        .default_text = "of its shape",
        .help = "about the centre of mass: the diagonal [x, y, z] or three rows. Left out, it is that of the "
                "shape filled evenly, and the shape's centroid is the centre of mass"),
    ROW("position", VECTOR, vy_scenario_drone, def.position, .size = 3, .unit = "m", .range = ANY,
        .help = "of the centre of mass at the start, world axes"),
    ROW("velocity", VECTOR, vy_scenario_drone, def.velocity, .size = 3, .unit = "m/s", .range = ANY,
        .help = "at the start, world axes"),
    ROW("attitude", ROTATION, vy_scenario_drone, def.attitude, .unit = "rad", .range = ANY,
        .help = "at the start: [w, x, y, z] or {roll, pitch, yaw}"),
    ROW("rate", VECTOR, vy_scenario_drone, def.rate, .size = 3, .unit = "rad/s", .range = ANY,
        .help = "angular velocity at the start, body axes"),
    ROW("shape", OBJECT, vy_scenario_drone, def.solid, .table = &vy_shape_table,
        .help = "what of it can touch things, from its centre of mass, body axes"),
    ROW("area", NUMBER, vy_scenario_drone, def.vehicle.area, .unit = "m^2", .range = AT_LEAST_0,
        .help = "that cd refers to"),
    ROW("cd", NUMBER, vy_scenario_drone, def.vehicle.cd, .range = AT_LEAST_0, .help = "drag coefficient"),
    ROW("drag_linear", VECTOR, vy_scenario_drone, def.vehicle.drag_linear, .size = 3, .unit = "N s/m",
        .range = AT_LEAST_0, .help = "air resistance over airspeed, body axes"),
    ROW("damping", VECTOR, vy_scenario_drone, def.vehicle.damping, .size = 3, .unit = "N m s",
        .range = AT_LEAST_0, .help = "of rotation, whatever the air"),
    ROW("volume", NUMBER, vy_scenario_drone, def.vehicle.volume, .unit = "m^3", .range = AT_LEAST_0,
        .help = "of the air it displaces"),
};
const vy_table vy_body_table = {
    .title = "Bodies",
    .help = "A list of rigid bodies without rotors. Once read, a body is a drone without rotors, sensors and "
            "controller: `volery check` prints it so, and it is named wherever a drone is.",
    .size = sizeof(vy_scenario_drone),
    .init = init_body,
    ROWS(body_rows)};

static const vy_choice kinds[] = {
    CHOICE("distance", VY_JOINT_DISTANCE, "the anchors stay `length` apart: a rod"),
    CHOICE("ball", VY_JOINT_BALL, "the anchors coincide"),
    CHOICE("hinge", VY_JOINT_HINGE, "the anchors coincide, and the axes"),
    CHOICE("slider", VY_JOINT_SLIDER, "b moves along the axis of a and does not turn"),
    CHOICE("fixed", VY_JOINT_FIXED, "b stands to a as it does at the start"),
    CHOICE("universal", VY_JOINT_UNIVERSAL, "the anchors coincide; the axis of b stays square to that of a"),
    CHOICE("cable", VY_JOINT_CABLE, "the anchors are at most `length` apart: slack or taut"),
    CHOICE("spring", VY_JOINT_SPRING, "a spring and damper between the anchors"),
};
#define KIND(name)  (1u << VY_JOINT_##name)
#define WITH_LENGTH (KIND(DISTANCE) | KIND(CABLE) | KIND(SPRING))
#define WITH_AXIS   (KIND(HINGE) | KIND(SLIDER) | KIND(UNIVERSAL))
#define DRIVEN      (KIND(HINGE) | KIND(SLIDER))

static void init_joint(void *object, int index)
{
    vy_scenario_joint *joint = object;
    *joint = (vy_scenario_joint){.def = vy_default_joint_def(), .a = VY_THE_WORLD, .b = VY_THE_WORLD};
    snprintf(joint->name, sizeof joint->name, "joint%d", index);
    joint->def.kind = VY_JOINT_BALL;
}

// A hinge turns; everything else moves along a line.
static int turns(const void *object)
{
    return ((const vy_scenario_joint *)object)->def.kind == VY_JOINT_HINGE;
}
static const char *unit_of_way(const void *object) { return turns(object) ? "rad" : "m"; }
static const char *unit_of_speed(const void *object) { return turns(object) ? "rad/s" : "m/s"; }
static const char *unit_of_push(const void *object) { return turns(object) ? "N m" : "N"; }
static const char *unit_of_stiffness(const void *object) { return turns(object) ? "N m/rad" : "N/m"; }
static const char *unit_of_damping(const void *object) { return turns(object) ? "N m s/rad" : "N s/m"; }

static const vy_choice limits[] = {CHOICE("off", 0, "free"), CHOICE("on", 1, "within low ... high")};

static const vy_row joint_rows[] = {
    ROW("kind", CHOICE, vy_scenario_joint, def.kind, CHOICES(kinds), .flags = VY_ROW_REQUIRED,
        .help = "what it allows"),
    ROW("name", TEXT, vy_scenario_joint, name, .size = VY_NAME_CAP, .flags = VY_ROW_LABEL | VY_ROW_IDENTIFIER,
        .default_text = "joint0, joint1, ...", .help = "unique among joints"),
    ROW("a", DRONE, vy_scenario_joint, a, .word = "world", .help = "the name of a drone or body, or `world`"),
    ROW("b", DRONE, vy_scenario_joint, b, .word = "world", .help = "the same"),
    ROW("anchor_a", VECTOR, vy_scenario_joint, def.anchor_a, .size = 3, .unit = "m", .range = ANY,
        .help = "in a, from its centre of mass, body axes; in the world, a place"),
    ROW("anchor_b", VECTOR, vy_scenario_joint, def.anchor_b, .size = 3, .unit = "m", .range = ANY,
        .help = "in b, the same way"),
    ROW("axis_a", VECTOR, vy_scenario_joint, def.axis_a, .size = 3, .range = ANY, .when = WITH_AXIS,
        .help = "in a, body axes, any length above 0"),
    ROW("axis_b", VECTOR, vy_scenario_joint, def.axis_b, .size = 3, .range = ANY,
        .when = KIND(HINGE) | KIND(UNIVERSAL), .help = "in b, the same way"),
    ROW("length", NUMBER, vy_scenario_joint, def.length, .unit = "m", .range = AT_LEAST_0,
        .flags = VY_ROW_REQUIRED, .when = WITH_LENGTH, .help = "of the rod, the cable or the spring at rest"),
    ROW("stiffness", NUMBER, vy_scenario_joint, def.stiffness, .unit_of = unit_of_stiffness,
        .range = AT_LEAST_0, .when = DRIVEN | KIND(SPRING),
        .help = "of its spring: N m/rad of a hinge, else N/m"),
    ROW("damping", NUMBER, vy_scenario_joint, def.damping, .unit_of = unit_of_damping, .range = AT_LEAST_0,
        .when = DRIVEN | KIND(SPRING), .help = "of its damper: N m s/rad of a hinge, else N s/m"),
    ROW("rest", NUMBER, vy_scenario_joint, def.rest, .unit_of = unit_of_way, .range = ANY, .when = DRIVEN,
        .help = "where its spring is at ease, rad or m; 0 is how the joint stands at the start"),
    ROW("limited", CHOICE, vy_scenario_joint, def.limited, CHOICES(limits), .when = DRIVEN,
        .help = "whether it has stops"),
    ROW("low", NUMBER, vy_scenario_joint, def.low, .unit_of = unit_of_way, .range = ANY, .when = DRIVEN,
        .help = "lower stop, rad or m; a hinge's above -pi"),
    ROW("high", NUMBER, vy_scenario_joint, def.high, .unit_of = unit_of_way, .range = ANY, .when = DRIVEN,
        .help = "upper stop, rad or m; a hinge's below pi"),
    ROW("motor_speed", NUMBER, vy_scenario_joint, def.motor_speed, .unit_of = unit_of_speed, .range = ANY,
        .when = DRIVEN, .help = "what its motor wants, rad/s or m/s"),
    ROW("motor_gain", NUMBER, vy_scenario_joint, def.motor_gain, .unit_of = unit_of_damping,
        .range = AT_LEAST_0, .when = DRIVEN,
        .help = "its push over what is missing of the speed: N m s/rad or N s/m"),
    ROW("motor_max", NUMBER, vy_scenario_joint, def.motor_torque, .unit_of = unit_of_push,
        .range = AT_LEAST_0, .when = DRIVEN, .help = "its largest push, N m or N; 0 is no motor"),
};
const vy_table vy_joint_table = {.title = "Joints",
                                 .help = "A list of what holds drones and bodies together: docs/dynamics.md.",
                                 .size = sizeof(vy_scenario_joint),
                                 .init = init_joint,
                                 ROWS(joint_rows)};

static void init_payload(void *object, int index)
{
    (void)index;
    *(vy_scenario_payload *)object =
        (vy_scenario_payload){.carrier = -1, .load = -1, .def = vy_default_payload_def()};
}

static const vy_choice releases[] = {
    CHOICE("off", 0, "the clock alone"),
    CHOICE("on", 1, "the carrier's controller, too: docs/controllers.md"),
};
static const vy_row payload_rows[] = {
    ROW("carrier", DRONE, vy_scenario_payload, carrier, .flags = VY_ROW_REQUIRED,
        .help = "the name of a drone"),
    ROW("load", DRONE, vy_scenario_payload, load, .flags = VY_ROW_REQUIRED, .help = "the name of a body"),
    ROW("position", VECTOR, vy_scenario_payload, def.position, .size = 3, .unit = "m", .range = ANY,
        .help = "of the load's centre of mass, in the carrier's frame"),
    ROW("attitude", ROTATION, vy_scenario_payload, def.attitude, .unit = "rad", .range = ANY,
        .help = "load to carrier: [w, x, y, z] or {roll, pitch, yaw}"),
    ROW("attach", NUMBER, vy_scenario_payload, def.attach, .unit = "s", .range = AT_LEAST_0,
        .help = "when it is taken up, if it is within `reach`; 0: carried from the start, wherever the body "
                "was put"),
    ROW("drop", NUMBER, vy_scenario_payload, def.drop, .unit = "s", .range = POSITIVE, .word = "never",
        .word_value = (double)INFINITY, .help = "when it is let go"),
    ROW("reach", NUMBER, vy_scenario_payload, def.reach, .unit = "m", .range = AT_LEAST_0,
        .help = "how far from `position` it may be to be taken up; it stays where it is then"),
    ROW("release", CHOICE, vy_scenario_payload, def.release, CHOICES(releases), .help = "who may let it go"),
};
const vy_table vy_payload_table = {
    .title = "Payloads",
    .help = "A list of bodies that drones carry. Carrier and load are one rigid body, whose mass, inertia "
            "and centre of "
            "mass are exact; momentum is kept when it is taken up and let go: docs/dynamics.md.",
    .size = sizeof(vy_scenario_payload),
    .init = init_payload,
    ROWS(payload_rows)};
