// airframe.c - motors of a firmware by direction and spin, and the rotors of a vehicle that are these.
#include "vehicle/airframe.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/real.h"

#define DIRECTION_MIN 0.8 // cosine of the angle between a motor's direction and its rotor's

// Where a motor is, seen from the centre, and its spin as of vy_rotor_def.
typedef struct motor_position {
    double forward, right;
    int spin;
} motor_position;

typedef struct motor_list {
    const char *name;
    int count;
    motor_position motors[VY_ROTOR_CAP];
} motor_list;

// As in PX4's airframe reference and ArduPilot's motor order diagrams, in the order of their outputs.
static const motor_list airframes[] = {
    [VY_AIRFRAME_QUAD_X] = {"quad_x", 4, {{1, 1, 1}, {-1, -1, 1}, {1, -1, -1}, {-1, 1, -1}}},
    [VY_AIRFRAME_QUAD_PLUS] = {"quad_plus", 4, {{0, 1, 1}, {0, -1, 1}, {1, 0, -1}, {-1, 0, -1}}},
    [VY_AIRFRAME_HEXA_X] = {"hexa_x",
                            6,
                            {{0, 0.5, -1},
                             {0, -0.5, 1},
                             {0.43, -0.25, -1},
                             {-0.43, 0.25, 1},
                             {0.43, 0.25, 1},
                             {-0.43, -0.25, -1}}},
    [VY_AIRFRAME_HEXA_PLUS] = {"hexa_plus",
                               6,
                               {{0.5, 0, -1},
                                {-0.5, 0, 1},
                                {-0.25, -0.43, -1},
                                {0.25, 0.43, 1},
                                {0.25, -0.43, 1},
                                {-0.25, 0.43, -1}}},
    [VY_AIRFRAME_OCTO_X] = {"octo_x",
                            8,
                            {{0.46, 0.19, -1},
                             {-0.46, -0.19, -1},
                             {0.19, 0.46, 1},
                             {-0.46, 0.19, 1},
                             {0.46, -0.19, 1},
                             {-0.19, -0.46, 1},
                             {0.19, -0.46, -1},
                             {-0.19, 0.46, -1}}},
    [VY_AIRFRAME_OCTO_PLUS] = {"octo_plus",
                               8,
                               {{0.5, 0, -1},
                                {-0.5, 0, -1},
                                {0.35, 0.35, 1},
                                {-0.35, 0.35, 1},
                                {0.35, -0.35, 1},
                                {-0.35, -0.35, 1},
                                {0, -0.5, -1},
                                {0, 0.5, -1}}},
};

// The rotor that is nearest in direction, and how near: a cosine.
static int nearest_rotor(const motor_position *motor, const vy_vehicle_def *vehicle, double *cosine)
{
    int best = -1;
    *cosine = -2.0;
    for (int i = 0; i < vehicle->rotor_count; ++i) {
        const double forward = vehicle->rotors[i].position.x, right = -vehicle->rotors[i].position.y;
        const double length = real_sqrt((forward * forward + right * right) *
                                        (motor->forward * motor->forward + motor->right * motor->right));
        const double rotor_cosine =
            length > 0.0 ? (forward * motor->forward + right * motor->right) / length : -1.0;
        if (rotor_cosine <= *cosine) continue;
        *cosine = rotor_cosine;
        best = i;
    }
    return best;
}

vy_status vy_airframe_match(vy_airframe airframe, const vy_vehicle_def *vehicle, int order[VY_ROTOR_CAP],
                            vy_error *err)
{
    if (airframe == VY_AIRFRAME_OWN) {
        for (int k = 0; k < vehicle->rotor_count; ++k) order[k] = k;
        return vehicle->rotor_count > 0
                   ? VY_OK
                   : vy_fail(err, VY_BAD_VALUE, "airframe own: the vehicle has no rotors");
    }
    VY_ASSERT((unsigned)airframe < sizeof airframes / sizeof airframes[0]);
    const motor_list *list = &airframes[airframe];
    unsigned assigned = 0;
    if (vehicle->rotor_count != list->count)
        return vy_fail(err, VY_BAD_VALUE, "airframe %s has %d motors, and the vehicle %d rotors", list->name,
                       list->count, vehicle->rotor_count);
    for (int k = 0; k < list->count; ++k) {
        const motor_position *motor = &list->motors[k];
        double cosine;
        const int rotor = nearest_rotor(motor, vehicle, &cosine);
        if (rotor < 0 || cosine < DIRECTION_MIN || (assigned >> rotor & 1u))
            return vy_fail(err, VY_BAD_VALUE,
                           "airframe %s: the vehicle has no rotor where motor %d is: %g forward, %g right",
                           list->name, k + 1, motor->forward, motor->right);
        if (vehicle->rotors[rotor].spin != motor->spin)
            return vy_fail(err, VY_BAD_VALUE, "airframe %s: motor %d, rotor %d here, spins %s", list->name,
                           k + 1, rotor + 1, motor->spin > 0 ? "counter-clockwise" : "clockwise");
        assigned |= 1u << rotor;
        order[k] = rotor;
    }
    return VY_OK;
}
