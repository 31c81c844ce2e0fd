// controller.c - a controller as a plug-in: hover by attitude and thrust. The same as controller.py, bit for
// bit.
//
//     cc -shared -fPIC -O2 -ffp-contract=off -I include examples/controller.c -o controller.so -lm
//     controller: {kind: plugin, library: controller.so, period: 10 ms, parameters: {height: 1.5}}
#include "volery/plugin.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct hover_controller {
    double mass, height, kp, kd;
} hover_controller;

static void *init(const vy_plugin_start *start, char *why, size_t room)
{
    hover_controller *controller = malloc(sizeof *controller);
    if (controller == NULL) {
        snprintf(why, room, "out of memory");
        return NULL;
    }
    controller->mass = start->mass;
    controller->height = vy_plugin_parameter(start, "height", 1.0);
    controller->kp = vy_plugin_parameter(start, "kp", 4.0);
    controller->kd = vy_plugin_parameter(start, "kd", 3.0);
    return controller;
}

static void step(void *self, const vy_samples *samples, vy_intent *intent)
{
    const hover_controller *controller = self;
    const vy_vec3 position = samples->estimate.position, velocity = samples->estimate.velocity;
    const double accel_x = -controller->kp * position.x - controller->kd * velocity.x;
    const double accel_y = -controller->kp * position.y - controller->kd * velocity.y;
    const double accel_z =
        9.80665 + controller->kp * (controller->height - position.z) - controller->kd * velocity.z;
    // The attitude whose up axis points along (accel_x, accel_y, accel_z), nose to +x.
    const double length = sqrt(accel_x * accel_x + accel_y * accel_y + accel_z * accel_z);
    intent->rung = VY_RUNG_ATTITUDE;
    intent->thrust = controller->mass * accel_z > 0.0 ? controller->mass * accel_z : 0.0;
    intent->attitude = (vy_quat){1.0 + accel_z / length, -accel_y / length, accel_x / length, 0.0};
}

static void destroy(void *self) { free(self); }

VY_PLUGIN(init, step, destroy)
