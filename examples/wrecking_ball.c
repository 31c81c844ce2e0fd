// wrecking_ball.c - rigid bodies, contacts and a joint: a ball on a cable swings into a tower of boxes.
//
//     cc wrecking_ball.c $(pkg-config --cflags --libs volery) -o wrecking_ball
#include <inttypes.h>
#include <stdio.h>
#include <volery/joint.h>

enum { BOXES = 6 };
static const double half_edge = 0.25; // [m] of a box's edge

static vy_status add_ground(vy_bodies *bodies, vy_error *err)
{
    vy_shape plane;
    vy_shape_plane((vy_vec3){0.0, 0.0, 1.0}, 0.0, &plane, NULL);
    vy_body_def ground = vy_default_body_def();
    ground.kind = VY_BODY_STATIC;
    ground.shape = &plane;
    return vy_bodies_add(bodies, &ground, NULL, err);
}

static vy_status add_tower(vy_bodies *bodies, vy_body_id ids[BOXES], vy_error *err)
{
    vy_shape cube;
    vy_shape_box((vy_vec3){half_edge, half_edge, half_edge}, &cube, NULL);
    vy_body_def box = vy_default_body_def();
    box.shape = &cube;
    box.mass = 2.0;
    vy_status status = VY_OK;
    for (int i = 0; i < BOXES && status == VY_OK; ++i) {
        box.state.position = (vy_vec3){0.0, 0.0, half_edge * (2 * i + 1)};
        status = vy_bodies_add(bodies, &box, &ids[i], err);
    }
    return status;
}

static vy_status add_ball(vy_bodies *bodies, vy_body_id *id, vy_error *err)
{
    vy_shape sphere;
    vy_shape_sphere(0.4, &sphere, NULL);
    vy_body_def ball = vy_default_body_def();
    ball.shape = &sphere;
    ball.mass = 30.0;
    ball.state.position = (vy_vec3){-6.0, 0.0, 6.0};
    const vy_status status = vy_bodies_add(bodies, &ball, id, err);
    if (status != VY_OK) return status;

    vy_joint_def cable = vy_default_joint_def();
    cable.kind = VY_JOINT_CABLE;
    cable.body_b = *id;                          // and body_a is the world
    cable.anchor_a = (vy_vec3){-0.65, 0.0, 6.0}; // above where the ball just touches the tower
    cable.length = 5.35;                         // [m] it begins level with the anchor, the cable taut
    return vy_bodies_add_joint(bodies, &cable, NULL, err);
}

int main(void)
{
    vy_error err;
    vy_bodies *bodies = NULL;
    vy_body_id boxes[BOXES], ball;
    vy_bodies_def def = vy_default_bodies_def();
    def.contacts.on = 1; // bodies collide
    vy_status status = vy_bodies_create(&def, &bodies, &err);
    if (status == VY_OK) status = add_ground(bodies, &err);
    if (status == VY_OK) status = add_tower(bodies, boxes, &err);
    if (status == VY_OK) status = add_ball(bodies, &ball, &err);
    if (status != VY_OK) return fprintf(stderr, "%s\n", err.text), 2;

    double lowest_height = 1.0; // [m] of the middle of any box
    double top_height = 0.0;    // [m] of the uppermost one's at the end
    for (int tick = 0; tick < 6000; ++tick) {
        vy_bodies_step(bodies);
        for (int i = 0; i < BOXES; ++i) {
            vy_body_state state;
            vy_body_read(bodies, boxes[i], &state);
            if (state.position.z < lowest_height) lowest_height = state.position.z;
            if (i == BOXES - 1) top_height = state.position.z;
        }
    }
    printf("after %.1f s the uppermost box lies at %.3f m, none was below %.4f m; hash %016" PRIx64 "\n",
           vy_bodies_time(bodies), top_height, lowest_height, vy_bodies_hash(bodies));
    vy_bodies_destroy(bodies);
    // It fell, and no box sank by more than the blow presses.
    return top_height < 1.0 && lowest_height > half_edge - 0.005 ? 0 : 1;
}
