// own_constraint.c - a constraint of your own: a bead that slides on a parabolic wire, z = k x^2, y = 0.
//
// Three things make a constraint: its value C, its Jacobian over twists, and (here written out; it may be
// left to the library) its bias, what C'' is when nothing accelerates. The solver is not touched.
//
//     cc own_constraint.c $(pkg-config --cflags --libs volery) -o own_constraint
#include <volery/joint.h>
#include <stdio.h>

static const double CURVATURE = 0.8; // [1/m] of the wire

static void wire_value(const vy_constraint *c, const vy_body_state *a, const vy_body_state *b, double time,
                       double *value)
{
    const double curvature = *(const double *)c->self;
    (void)a;    // the world
    (void)time; // the wire stands still
    value[0] = b->position.z - curvature * b->position.x * b->position.x;
    value[1] = b->position.y;
}

static void wire_jacobian(const vy_constraint *c, const vy_body_state *a, const vy_body_state *b, double time,
                          vy_jacobian jacobian_a, vy_jacobian jacobian_b)
{
    const double curvature = *(const double *)c->self;
    (void)a;
    (void)time;
    (void)jacobian_a; // zero: nothing moves the world
    jacobian_b[0][0] = -2.0 * curvature * b->position.x;
    jacobian_b[0][2] = 1.0;
    jacobian_b[1][1] = 1.0;
}

static void wire_bias(const vy_constraint *c, const vy_body_state *a, const vy_body_state *b, double time,
                      double *bias)
{
    const double curvature = *(const double *)c->self;
    (void)a;
    (void)time;
    bias[0] = -2.0 * curvature * b->velocity.x * b->velocity.x;
    bias[1] = 0.0;
}

int main(void)
{
    vy_error err;
    vy_bodies *bodies = NULL;
    vy_bodies_def def = vy_default_bodies_def();
    if (vy_bodies_create(&def, &bodies, &err) != VY_OK) goto failed;

    vy_shape ball;
    vy_shape_sphere(0.01, &ball, NULL);
    vy_body_def bead = vy_default_body_def();
    bead.shape = &ball;
    bead.mass = 0.1;
    bead.state.position = (vy_vec3){0.5, 0.0, CURVATURE * 0.25};
    vy_body_id id;
    if (vy_bodies_add(bodies, &bead, &id, &err) != VY_OK) goto failed;

    vy_constraint wire = vy_default_constraint();
    wire.name = "parabolic wire";
    wire.dimension = 2;
    wire.self = &CURVATURE;
    wire.evaluate = wire_value;
    wire.jacobian = wire_jacobian;
    wire.bias = wire_bias;
    vy_joint_def joint = vy_default_joint_def();
    joint.kind = VY_JOINT_CUSTOM;
    joint.body_b = id;
    joint.custom = &wire;
    if (vy_bodies_add_joint(bodies, &joint, NULL, &err) != VY_OK) goto failed;

    const vy_bodies_energy start = vy_bodies_read_energy(bodies);
    double error_max = 0.0, speed_squared_max = 0.0; // [m], [m^2/s^2]
    for (int tick = 0; tick < 5000; ++tick) {
        vy_bodies_step(bodies);
        vy_body_state state;
        vy_body_read(bodies, id, &state);
        const double height_error = state.position.z - CURVATURE * state.position.x * state.position.x;
        const double speed_squared =
            state.velocity.x * state.velocity.x + state.velocity.z * state.velocity.z;
        if (height_error * height_error > error_max * error_max) error_max = height_error;
        if (speed_squared > speed_squared_max) speed_squared_max = speed_squared;
    }
    const vy_bodies_energy end = vy_bodies_read_energy(bodies);
    const double energy_lost = (start.kinetic + start.potential) - (end.kinetic + end.potential);
    const double speed_squared_expected =
        2.0 * 9.80665 * CURVATURE * 0.25; // at the bottom all the height has become speed
    printf("off the wire %.1e m, fastest^2 %.5f (closed form %.5f), energy lost %.1e J\n", error_max,
           speed_squared_max, speed_squared_expected, energy_lost);
    const double speed_squared_error = speed_squared_expected - speed_squared_max;
    vy_bodies_destroy(bodies);
    return error_max * error_max < 1e-20 && speed_squared_error * speed_squared_error < 1e-8 &&
                   energy_lost * energy_lost < 1e-18
               ? 0
               : 1;

failed:
    fprintf(stderr, "%s\n", err.text);
    vy_bodies_destroy(bodies);
    return 2;
}
