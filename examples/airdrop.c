// airdrop.c - a controller as a plug-in that lets a parcel go: it flies over a field and drops it where it
// will fall on the mark. examples/airdrop.yaml flies it.
//
//     cc -shared -fPIC -O2 -ffp-contract=off -I include examples/airdrop.c -o examples/airdrop.so -lm
#include "volery/plugin.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct courier {
    double mark, speed, height; // [m] along x, [m/s], [m] to fly at
} courier;

static void *init(const vy_plugin_start *start, char *why, size_t room)
{
    courier *c = malloc(sizeof *c);
    if (c == NULL) {
        snprintf(why, room, "out of memory");
        return NULL;
    }
    c->mark = vy_plugin_parameter(start, "mark", 10.0);
    c->speed = vy_plugin_parameter(start, "speed", 3.0);
    c->height = vy_plugin_parameter(start, "height", 6.0);
    return c;
}

// How long something thrown with `climb` [m/s] falls from `height` [m].
static double fall(double height, double climb)
{
    const double g = 9.80665;
    return (climb + sqrt(climb * climb + 2.0 * g * fmax(height, 0.0))) / g;
}

static void step(void *self, const vy_samples *samples, vy_intent *intent)
{
    const courier *c = self;
    const vy_vec3 p = samples->estimate.position, v = samples->estimate.velocity;
    const double left = c->mark + 4.0 - p.x; // it stops behind the mark
    intent->rung = VY_RUNG_VELOCITY;
    intent->velocity = (vy_vec3){fmin(c->speed, left), -p.y, c->height - p.z};
    // Bit 0 is its only payload. It may stay set: what has been let go is not let go again.
    if (p.x + v.x * fall(p.z, v.z) >= c->mark) intent->drop = 1;
}

static void done(void *self) { free(self); }

VY_PLUGIN(init, step, done)
