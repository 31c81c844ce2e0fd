// controller.c - a controller as a plug-in: hover by attitude and thrust. The same as controller.py, bit for
// bit.
//
//     cc -shared -fPIC -O2 -ffp-contract=off -I include examples/controller.c -o controller.so -lm
//     controller: {kind: plugin, library: controller.so, period: 10 ms, parameters: {height: 1.5}}
#include "volery/plugin.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct hover {
    double mass, height, kp, kd;
} hover;

static void *init(const vy_plugin_start *start, char *why, size_t room)
{
    hover *h = malloc(sizeof *h);
    if (h == NULL) {
        snprintf(why, room, "out of memory");
        return NULL;
    }
    h->mass = start->mass;
    h->height = vy_plugin_parameter(start, "height", 1.0);
    h->kp = vy_plugin_parameter(start, "kp", 4.0);
    h->kd = vy_plugin_parameter(start, "kd", 3.0);
    return h;
}

static void step(void *self, const vy_samples *samples, vy_intent *intent)
{
    const hover *h = self;
    const vy_vec3 p = samples->estimate.position, v = samples->estimate.velocity;
    const double ax = -h->kp * p.x - h->kd * v.x;
    const double ay = -h->kp * p.y - h->kd * v.y;
    const double az = 9.80665 + h->kp * (h->height - p.z) - h->kd * v.z;
    // The attitude whose up axis points along (ax, ay, az), nose to +x.
    const double length = sqrt(ax * ax + ay * ay + az * az);
    intent->rung = VY_RUNG_ATTITUDE;
    intent->thrust = h->mass * az > 0.0 ? h->mass * az : 0.0;
    intent->attitude = (vy_quat){1.0 + az / length, -ay / length, ax / length, 0.0};
}

static void done(void *self) { free(self); }

VY_PLUGIN(init, step, done)
