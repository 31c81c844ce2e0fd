// @name@.c - a controller for Volery that flies the scenario's reference. `make fly` builds and flies it.
#include "volery/plugin.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define STANDARD_GRAVITY 9.80665 // [m/s^2]

// What the controller remembers between two calls.
typedef struct controller {
    double mass;         // [kg]
    double thrust_max;   // [N] of all rotors together
    double kp, kd;       // [1/s^2] [1/s]
    double tan_tilt_max; // tangent of the largest tilt
} controller;

// Once, before the first step: what is known of the drone, and `parameters:` of @name@.yaml.
static void *init(const vy_plugin_start *start, char *why, size_t room)
{
    controller *c = calloc(1, sizeof *c);
    if (c == NULL) {
        snprintf(why, room, "out of memory"); // a sentence and NULL: it refuses to fly
        return NULL;
    }
    c->mass = start->mass;
    for (int i = 0; i < start->rotor_count; ++i) c->thrust_max += start->thrust_limit[i];
    c->kp = vy_plugin_parameter(start, "kp", 8.0);
    c->kd = vy_plugin_parameter(start, "kd", 5.0);
    c->tan_tilt_max = tan(vy_plugin_parameter(start, "tilt_max", 0.6));
    return c;
}

// The acceleration of the reference, and what brings the drone back to it, along one axis.
static double follow(const controller *c, double position_error, double velocity_error, double acceleration)
{
    return acceleration + c->kp * position_error + c->kd * velocity_error;
}

// Once per period: from what is measured and wanted to an attitude and a thrust. Other rungs are in
// volery/controller.h.
static void step(void *self, const vy_samples *samples, vy_intent *intent)
{
    const controller *c = self;
    const vy_reference *r = &samples->reference;
    const vy_vec3 p = samples->estimate.position, v = samples->estimate.velocity;
    double x = follow(c, r->position.x - p.x, r->velocity.x - v.x, r->acceleration.x);
    double y = follow(c, r->position.y - p.y, r->velocity.y - v.y, r->acceleration.y);
    double z = follow(c, r->position.z - p.z, r->velocity.z - v.z, r->acceleration.z) + STANDARD_GRAVITY;

    // Rotors only push upwards, and a drone that tilts too far falls.
    z = fmax(z, 0.2 * STANDARD_GRAVITY);
    const double horizontal = sqrt(x * x + y * y);
    if (horizontal > c->tan_tilt_max * z) {
        x *= c->tan_tilt_max * z / horizontal;
        y *= c->tan_tilt_max * z / horizontal;
    }

    // The nose turns to the yaw of the reference, then the drone tilts until its up axis is along (x, y, z).
    const double length = sqrt(x * x + y * y + z * z), w = length + z;
    const double cosine = cos(0.5 * r->yaw), sine = sin(0.5 * r->yaw);
    intent->rung = VY_RUNG_ATTITUDE;
    intent->thrust = fmin(c->mass * length, c->thrust_max);
    intent->attitude = (vy_quat){w * cosine, x * sine - y * cosine, x * cosine + y * sine, w * sine};
}

static void done(void *self) { free(self); }

VY_PLUGIN(init, step, done)
