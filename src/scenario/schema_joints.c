// schema_joints.c - the rows of bodies, of joints and of payloads.
#include "dynamics/joint_def.h"
#include "scenario/schema_rows.h"
#include "world/world_def.h"
#include "world/payload.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert(offsetof(vy_scenario_joint, def) == 0, "units of a joint's rows look at its def");

// Mass and inertia are declared, or those of its shape.
static void init_body(void *object, int index)
{
    vy_scenario_body *body = object;
    memset(body, 0, sizeof *body);
    snprintf(body->name, sizeof body->name, "body%d", index);
    body->def = vy_default_world_body_def();
    body->def.mass = 0.0;
    memset(&body->def.inertia, 0, sizeof body->def.inertia);
}

static const vy_schema_row body_rows[] = {
    ROW("name", TEXT, vy_scenario_body, name, .size = VY_NAME_CAP,
        .flags = VY_ROW_UNHASHED | VY_ROW_IDENTIFIER, .default_text = "body0, body1, ...",
        .help = "unique among drones and bodies"),
    ROW("mass", NUMBER, vy_scenario_body, def.mass, .unit = "kg", .range = POSITIVE,
        .default_text = "of its shape and density", .help = "of the body"),
    ROW("density", NUMBER, vy_scenario_body, density, .unit = "kg/m^3", .range = POSITIVE, .keyword = "none",
        .keyword_value = 0.0, .help = "of its shape, in place of a mass"),
    ROW("inertia", INERTIA, vy_scenario_body, def.inertia, .unit = "kg m^2", .range = ANY,
        .default_text = "of its shape",
        .help = "about the centre of mass: the diagonal [x, y, z] or three rows. Left out, it is that of the "
                "shape filled evenly, and the shape's centroid is the centre of mass"),
    ROW("position", VECTOR, vy_scenario_body, def.position, .size = 3, .unit = "m", .range = ANY,
        .help = "of the centre of mass at the start, world axes"),
    ROW("velocity", VECTOR, vy_scenario_body, def.velocity, .size = 3, .unit = "m/s", .range = ANY,
        .help = "at the start, world axes"),
    ROW("attitude", ROTATION, vy_scenario_body, def.attitude, .unit = "rad", .range = ANY,
        .help = "at the start: [w, x, y, z] or {roll, pitch, yaw}"),
    ROW("rate", VECTOR, vy_scenario_body, def.rate, .size = 3, .unit = "rad/s", .range = ANY,
        .help = "angular velocity at the start, body axes"),
    ROW("shape", OBJECT, vy_scenario_body, def.solid, .table = &vy_shape_table,
        .help = "its collision shape, from its centre of mass, body axes"),
    ROW("area", NUMBER, vy_scenario_body, def.area, .unit = "m^2", .range = AT_LEAST_0,
        .help = "that cd refers to"),
    ROW("cd", NUMBER, vy_scenario_body, def.cd, .range = AT_LEAST_0, .help = "drag coefficient"),
    ROW("drag_linear", VECTOR, vy_scenario_body, def.drag_linear, .size = 3, .unit = "N s/m",
        .range = AT_LEAST_0, .help = "air resistance over airspeed, body axes"),
    ROW("damping", VECTOR, vy_scenario_body, def.damping, .size = 3, .unit = "N m s", .range = AT_LEAST_0,
        .help = "of rotation, whatever the air"),
    ROW("volume", NUMBER, vy_scenario_body, def.volume, .unit = "m^3", .range = AT_LEAST_0,
        .help = "of the air it displaces"),
    ROW("crash", OBJECT, vy_scenario_body, def.crash, .table = &vy_table_crash,
        .help = "which impacts count as crashes"),
};
const vy_schema_table vy_body_table = {
    .title = "Bodies",
    .help = "A list of rigid bodies that are not drones: crates, loads, links of an arm. Gravity, air, wind, "
            "disturbances, joints and contacts act on them as on drones; they have no rotors, sensors or "
            "controller.",
    .size = sizeof(vy_scenario_body),
    .init = init_body,
    ROWS(body_rows)};

static void init_joint(void *object, int index)
{
    vy_scenario_joint *joint = object;
    *joint = (vy_scenario_joint){.def = vy_default_joint_def(), .a = VY_THE_WORLD, .b = VY_THE_WORLD};
    snprintf(joint->name, sizeof joint->name, "joint%d", index);
    joint->def.kind = VY_JOINT_BALL;
}

static const vy_schema_row closing_rows[] = {
    ROW("speed", NUMBER, vy_scenario_closing, speed, .unit = "m/s", .range = POSITIVE,
        .help = "that closing gives the bodies at most"),
    ROW("limit", NUMBER, vy_scenario_closing, limit, .range = AT_LEAST_0,
        .help = "joints that are open by more than so many times the size of what they join are refused"),
};
const vy_schema_table vy_closing_table = {
    .title = "Closing",
    .help = "How joints close that are open at the start, with anchors or axes apart, a cable too short or a "
            "stop exceeded: docs/dynamics.md.",
    .size = sizeof(vy_scenario_closing),
    ROWS(closing_rows)};

static const vy_schema_row cone_rows[] = {
    ROW("angle", NUMBER, vy_scenario_joint, def.cone, .unit = "rad", .range = WITHIN(0.0, 3.1),
        .help = "between the axes, at most; 0 is no cone"),
    ROW("axis_a", VECTOR, vy_scenario_joint, def.axis_a, .size = 3, .range = ANY,
        .help = "in a, body axes, any length above 0"),
    ROW("axis_b", VECTOR, vy_scenario_joint, def.axis_b, .size = 3, .range = ANY,
        .help = "in b, the same way"),
    ROW("twist", CHOICE, vy_scenario_joint, def.limited, .choices = vy_joint_limits, .choice_count = 2,
        .help = "whether the twist of b about its axis has stops, counted from the start"),
    ROW("low", NUMBER, vy_scenario_joint, def.low, .unit = "rad", .range = ANY,
        .help = "its lower stop, above -pi"),
    ROW("high", NUMBER, vy_scenario_joint, def.high, .unit = "rad", .range = ANY,
        .help = "its upper stop, below pi"),
};
static const vy_schema_table cone_table = {
    .title = "Cone",
    .help =
        "Limits of a ball joint: how far its axes lean from each other, and how far b twists about its own.",
    .size = sizeof(vy_scenario_joint),
    ROWS(cone_rows)};

static const vy_schema_row joint_rows[] = {
    ROW_joint_kind(vy_scenario_joint, def.),
    ROW("name", TEXT, vy_scenario_joint, name, .size = VY_NAME_CAP,
        .flags = VY_ROW_UNHASHED | VY_ROW_IDENTIFIER, .default_text = "joint0, joint1, ...",
        .help = "unique among joints"),
    ROW("a", DRONE, vy_scenario_joint, a, .keyword = "world",
        .help = "the name of a drone or body, or `world`"),
    ROW("b", DRONE, vy_scenario_joint, b, .keyword = "world", .help = "the same"),
    ROWS_joint(vy_scenario_joint, def.)
        GROUP("cone", &cone_table, .when = VY_JOINTS_THAT(VY_JOINT_HAS_CONE), .flags = VY_ROW_HASHED_IF_SET,
              .help = "limits of a ball joint")};
const vy_schema_table vy_joint_table = {.title = "Joints",
                                        .help =
                                            "A list of joints between drones and bodies: docs/dynamics.md.",
                                        .size = sizeof(vy_scenario_joint),
                                        .init = init_joint,
                                        ROWS(joint_rows)};

static void init_payload(void *object, int index)
{
    (void)index;
    *(vy_scenario_payload *)object =
        (vy_scenario_payload){.carrier = -1, .load = -1, .def = vy_default_payload_def()};
}

static const vy_schema_row payload_rows[] = {
    ROW("carrier", DRONE, vy_scenario_payload, carrier, .flags = VY_ROW_REQUIRED,
        .help = "the name of a drone"),
    ROW("load", DRONE, vy_scenario_payload, load, .flags = VY_ROW_REQUIRED, .help = "the name of a body"),
    ROWS_payload(vy_scenario_payload, def.)};
const vy_schema_table vy_payload_table = {
    .title = "Payloads",
    .help = "A list of bodies that drones carry. Carrier and load are one rigid body, whose mass, inertia "
            "and centre of "
            "mass are exact; momentum is conserved when it is attached and released: docs/dynamics.md.",
    .size = sizeof(vy_scenario_payload),
    .init = init_payload,
    ROWS(payload_rows)};
