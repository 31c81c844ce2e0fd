// bodies.c - golden scenes of bodies that are joined, carried, touched and asleep.
#include "scenes/bodies.h"
#include "volery/payload.h"

// One of each kind: under the drone a load on a cable that is slack at first and a boom on a sprung hinge;
// beside it what hangs from the world, link by link.
static const struct {
    vy_joint_kind kind;
    int a, b; // drones; -1: the world
    vy_vec3 anchor_a, anchor_b;
} joined_parts[] = {
    {VY_JOINT_CABLE, 0, 1, {0.0, 0.0, -0.01}, {0.0, 0.0, 0.01}},
    {VY_JOINT_HINGE, 0, 2, {0.0, 0.03, 0.0}, {0.0, -0.03, 0.0}},
    {VY_JOINT_HINGE, -1, 3, {1.0, 0.0, 1.0}, {-0.05, 0.0, 0.0}},
    {VY_JOINT_SLIDER, 3, 4, {0.05, 0.0, 0.0}, {-0.05, 0.0, 0.0}},
    {VY_JOINT_UNIVERSAL, 4, 5, {0.05, 0.0, 0.0}, {-0.05, 0.0, 0.0}},
    {VY_JOINT_BALL, 5, 6, {0.05, 0.0, 0.0}, {-0.05, 0.0, 0.0}},
    {VY_JOINT_FIXED, 6, 7, {0.05, 0.0, 0.0}, {-0.05, 0.0, 0.0}},
    {VY_JOINT_DISTANCE, 7, 8, {0.05, 0.0, 0.0}, {-0.05, 0.0, 0.0}},
    {VY_JOINT_SPRING, 8, -1, {0.05, 0.0, 0.0}, {1.9, 0.2, 1.0}},
};
enum { JOINED_PARTS = sizeof joined_parts / sizeof joined_parts[0], JOINTED_BODIES = 9 };

static vy_status join_part(vy_world *world, int number, vy_error *err)
{
    vy_joint_def def = vy_default_joint_def();
    const int a = joined_parts[number].a, b = joined_parts[number].b;
    def.kind = joined_parts[number].kind;
    def.body_a = a < 0 ? VY_NULL_BODY : vy_world_body(world, (uint32_t)a);
    def.body_b = b < 0 ? VY_NULL_BODY : vy_world_body(world, (uint32_t)b);
    def.anchor_a = joined_parts[number].anchor_a;
    def.anchor_b = joined_parts[number].anchor_b;
    def.length = def.kind == VY_JOINT_DISTANCE ? 0.01 : 0.1;
    def.axis_a = def.axis_b = (vy_vec3){0.0, 1.0, 0.0};
    if (def.kind == VY_JOINT_UNIVERSAL) def.axis_b = (vy_vec3){0.0, 0.0, 1.0};
    if (def.kind == VY_JOINT_SLIDER) def.axis_a = (vy_vec3){1.0, 0.0, 0.0};
    if (def.kind == VY_JOINT_SPRING) def.stiffness = 0.5;
    if (number == 1) { // a boom that bends
        def.axis_a = def.axis_b = (vy_vec3){1.0, 0.0, 0.0};
        def.stiffness = 1e-3;
        def.damping = 1e-6;
    }
    if (number == 2 || number == 3) { // stops and motors
        def.limited = 1;
        def.low = number == 2 ? -0.2 : -0.01;
        def.high = number == 2 ? 0.9 : 0.02;
        def.motor_speed = -0.5;
        def.motor_gain = 1e-3;
        def.max_motor_torque = 1e-3;
    }
    return vy_world_add_joint(world, &def, NULL, err);
}

// With `ground`, a floor that they reach, and boxes that touch it.
static vy_status add_joined(uint64_t seed, const vy_obstacle_def *ground, vy_world **out, vy_error *err)
{
    vy_world_def def = vy_default_world_def();
    def.seed = seed;
    def.contacts.on = ground != NULL;
    vy_status status = vy_world_create(&def, out, err);
    if (status != VY_OK) return status;
    vy_drone_def drone = vy_default_drone_def();
    drone.position = (vy_vec3){0.0, 0.0, 1.0};
    vy_world_body_def body = vy_default_world_body_def();
    body.mass = 0.002;
    body.inertia = (vy_mat3){{{2e-7, 1e-8, 0.0}, {1e-8, 4e-7, 0.0}, {0.0, 0.0, 5e-7}}};
    body.drag_linear = drone.vehicle.drag_linear;
    if (ground != NULL) {
        body.solid.kind = VY_COLLIDER_BOX;
        body.solid.size = (vy_vec3){0.08, 0.02, 0.01};
    }
    status = vy_world_add_drone(*out, &drone, NULL, err);
    for (int i = 1; i < JOINTED_BODIES && status == VY_OK; ++i) {
        body.position = i == 1   ? (vy_vec3){0.02, 0.01, 0.95}
                        : i == 2 ? (vy_vec3){0.0, 0.06, 1.0}
                                 : (vy_vec3){1.05 + 0.1 * (i - 3) + (i == 8 ? 0.01 : 0.0), 0.0, 1.0};
        status = vy_world_add_body(*out, &body, NULL, err);
    }
    if (ground != NULL && status == VY_OK) status = vy_world_add_obstacle(*out, ground, err);
    for (int k = 0; k < JOINED_PARTS && status == VY_OK; ++k) status = join_part(*out, k, err);
    return vy_scene_finish(status, out);
}

vy_status vy_scene_joined(uint64_t seed, vy_world **out, vy_error *err)
{
    return add_joined(seed, NULL, out, err);
}

vy_status vy_scene_dragged(uint64_t seed, vy_world **out, vy_error *err)
{
    vy_obstacle_def ground = vy_default_obstacle_def();
    ground.position.z = 0.92;
    ground.solid.material.restitution = 0.3;
    return add_joined(seed, &ground, out, err);
}

// A drone that carries a load off its centre and drops it, and takes up another one meanwhile.
vy_status vy_scene_payload(uint64_t seed, vy_world **out, vy_error *err)
{
    vy_world_def def = vy_default_world_def();
    def.seed = seed;
    vy_status status = vy_world_create(&def, out, err);
    if (status != VY_OK) return status;
    vy_payload_def first = vy_default_payload_def(), second = first;
    const vy_drone_def drone = vy_default_drone_def();
    vy_world_body_def load = vy_default_world_body_def();
    load.mass = 0.004;
    load.inertia = (vy_mat3){{{4e-7, 1e-8, 0.0}, {1e-8, 5e-7, 0.0}, {0.0, 0.0, 6e-7}}};
    load.drag_linear = drone.vehicle.drag_linear;
    load.attitude = (vy_quat){0.9, 0.1, -0.3, 0.2};
    load.position = (vy_vec3){-0.01, 0.005, 0.97};
    status = vy_world_add_drone(*out, &drone, &first.carrier, err);
    if (status == VY_OK) status = vy_world_add_body(*out, &load, &first.load, err);
    if (status == VY_OK) status = vy_world_add_body(*out, &load, &second.load, err);
    if (status != VY_OK) return vy_scene_finish(status, out);
    second.carrier = first.carrier;
    first.position = (vy_vec3){0.012, -0.004, -0.03};
    first.attitude = (vy_quat){0.8, 0.3, 0.1, -0.4};
    first.drop = 1.5;
    second.attach = 0.02;
    second.drop = 2.5;
    status = vy_world_add_payload(*out, &first, err);
    if (status == VY_OK) status = vy_world_add_payload(*out, &second, err);
    return vy_scene_finish(status, out);
}

// A body of 200 g, to be dropped, with the air resistance of a small quadrotor.
static vy_world_body_def free_body(vy_collider_kind kind, vy_vec3 position)
{
    vy_world_body_def body = vy_default_world_body_def();
    body.mass = 0.2;
    body.inertia = (vy_mat3){{{2e-4, 0.0, 0.0}, {0.0, 3e-4, 0.0}, {0.0, 0.0, 4e-4}}};
    body.drag_linear = vy_default_vehicle_def().drag_linear;
    body.position = position;
    body.solid.kind = kind;
    body.solid.size = (vy_vec3){0.1, 0.08, 0.05};
    body.solid.radius = 0.04;
    body.solid.length = 0.1;
    body.solid.material.rolling = 1e-3;
    return body;
}

static vy_status add_obstacles(vy_world *world, vy_error *err)
{
    static double hills[9] = {0.0, 0.05, 0.0, 0.02, 0.2, 0.03, 0.0, 0.04, 0.1};
    vy_obstacle_def ground = vy_default_obstacle_def(), wall = ground, pad = ground, hill = ground;
    wall.solid.kind = pad.solid.kind = VY_COLLIDER_BOX;
    wall.solid.size = (vy_vec3){0.002, 2.0, 2.0};
    wall.solid.material.restitution = 0.4;
    wall.position = (vy_vec3){2.0, 0.0, 1.0};
    pad.solid.size = (vy_vec3){0.5, 0.5, 0.1};
    pad.position = (vy_vec3){-1.0, 0.0, 0.3};
    pad.attitude = (vy_quat){0.99, 0.05, 0.08, 0.02};
    hill.solid.kind = VY_COLLIDER_HEIGHT_FIELD;
    hill.solid.heights = (vy_numbers){hills, 3, 3};
    hill.solid.spacing = 0.5;
    hill.position = (vy_vec3){-0.5, 1.5, 0.0};
    vy_status status = vy_world_add_obstacle(world, &ground, err);
    if (status == VY_OK) status = vy_world_add_obstacle(world, &wall, err);
    if (status == VY_OK) status = vy_world_add_obstacle(world, &pad, err);
    if (status == VY_OK) status = vy_world_add_obstacle(world, &hill, err);
    return status;
}

// One drone lands under control, one is thrown at a thin wall, boxes fall on a tilted pad, a ball and a
// capsule on hills, a carried load is lowered to the ground.
vy_status vy_scene_bump(uint64_t seed, vy_world **out, vy_error *err)
{
    vy_world_def def = vy_default_world_def();
    def.seed = seed;
    def.contacts.on = 1;
    vy_status status = vy_world_create(&def, out, err);
    if (status != VY_OK) return status;
    vy_drone_def drones[2] = {vy_default_drone_def(), vy_default_drone_def()};
    drones[0].position.z = 0.4;
    drones[0].controller.setpoint_count = 2;
    drones[0].controller.setpoints[0] = (vy_setpoint){0.0, {0.0, 0.0, 0.4}, 0.0};
    drones[0].controller.setpoints[1] = (vy_setpoint){1.5, {0.0, 0.0, -0.1}, 0.0};
    drones[1].controller.kind = VY_CONTROLLER_NONE;
    drones[1].rotor_speed = 0.0;
    drones[1].velocity = (vy_vec3){30.0, 1.0, 0.0};
    drones[1].rate = (vy_vec3){3.0, 20.0, -7.0};
    drones[1].position = (vy_vec3){1.2, -0.3, 1.0};
    vy_world_body_def bodies[6];
    for (int i = 0; i < 3; ++i)
        bodies[i] = free_body(VY_COLLIDER_BOX, (vy_vec3){-1.0 + 0.01 * (i + 2), 0.0, 0.3 + 0.06 * (i + 2)});
    bodies[3] = free_body(VY_COLLIDER_SPHERE, (vy_vec3){0.05, 2.02, 0.5});
    bodies[4] = free_body(VY_COLLIDER_CAPSULE, (vy_vec3){0.1, 2.3, 0.6});
    bodies[4].attitude = (vy_quat){0.8, 0.1, 0.6, 0.0};
    bodies[5] = free_body(VY_COLLIDER_CYLINDER, (vy_vec3){0.0, 0.0, 0.2}); // hangs below the drone that lands
    bodies[5].mass = 0.002;
    bodies[5].inertia = (vy_mat3){{{1e-6, 0.0, 0.0}, {0.0, 1e-6, 0.0}, {0.0, 0.0, 1e-6}}};
    for (int i = 0; i < 2 && status == VY_OK; ++i) status = vy_world_add_drone(*out, &drones[i], NULL, err);
    for (int i = 0; i < 6 && status == VY_OK; ++i) status = vy_world_add_body(*out, &bodies[i], NULL, err);
    if (status == VY_OK) status = add_obstacles(*out, err);
    vy_joint_def cable = vy_default_joint_def();
    cable.kind = VY_JOINT_CABLE;
    cable.body_a = vy_world_body(*out, 0);
    cable.body_b = vy_world_body(*out, 7);
    cable.length = 0.2;
    if (status == VY_OK) status = vy_world_add_joint(*out, &cable, NULL, err);
    return vy_scene_finish(status, out);
}

// Two stacks fall asleep below a drone; a ball falls on it, and both on one of them.
vy_status vy_scene_asleep(uint64_t seed, vy_world **out, vy_error *err)
{
    vy_world_def def = vy_default_world_def();
    def.seed = seed;
    def.contacts.on = 1;
    def.contacts.time_to_sleep = 0.25;
    vy_status status = vy_world_create(&def, out, err);
    if (status != VY_OK) return status;
    const vy_world_body_def ball = free_body(VY_COLLIDER_SPHERE, (vy_vec3){0.02, 0.01, 3.0});
    const vy_drone_def drone = vy_default_drone_def();
    status = vy_world_add_drone(*out, &drone, NULL, err);
    for (int i = 0; i < 4 && status == VY_OK; ++i) {
        const int stack = i / 2;
        const vy_world_body_def box =
            free_body(VY_COLLIDER_BOX, (vy_vec3){0.003 * i, 0.5 * stack, 0.026 + 0.052 * (i % 2)});
        status = vy_world_add_body(*out, &box, NULL, err);
    }
    if (status == VY_OK) status = vy_world_add_body(*out, &ball, NULL, err);
    const vy_obstacle_def ground = vy_default_obstacle_def();
    if (status == VY_OK) status = vy_world_add_obstacle(*out, &ground, err);
    return vy_scene_finish(status, out);
}
