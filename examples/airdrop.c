// airdrop.c - a controller as a plug-in that lets a parcel go: it flies over a field and drops it where it
// will fall on the mark. examples/airdrop.yaml flies it.
//
//     cc -shared -fPIC -O2 -ffp-contract=off -I include examples/airdrop.c -o examples/airdrop.so -lm
#include "volery/plugin.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct drop_pilot {
    double mark, speed, height; // [m] along x, [m/s], [m] to fly at
} drop_pilot;

static void *init(const vy_plugin_start *start, char *why, size_t room)
{
    drop_pilot *pilot = malloc(sizeof *pilot);
    if (pilot == NULL) {
        snprintf(why, room, "out of memory");
        return NULL;
    }
    pilot->mark = vy_plugin_parameter(start, "mark", 10.0);
    pilot->speed = vy_plugin_parameter(start, "speed", 3.0);
    pilot->height = vy_plugin_parameter(start, "height", 6.0);
    return pilot;
}

// How long something thrown with `climb` [m/s] falls from `height` [m].
static double fall_time(double height, double climb)
{
    const double g = 9.80665;
    return (climb + sqrt(climb * climb + 2.0 * g * fmax(height, 0.0))) / g;
}

static void step(void *self, const vy_samples *samples, vy_intent *intent)
{
    const drop_pilot *pilot = self;
    const vy_vec3 position = samples->estimate.position, velocity = samples->estimate.velocity;
    const double distance_left = pilot->mark + 4.0 - position.x; // it stops behind the mark
    intent->rung = VY_RUNG_VELOCITY;
    intent->velocity = (vy_vec3){fmin(pilot->speed, distance_left), -position.y, pilot->height - position.z};
    // Bit 0 is its only payload. It may stay set: what has been let go is not let go again.
    if (position.x + velocity.x * fall_time(position.z, velocity.z) >= pilot->mark) intent->drop = 1;
}

static void destroy(void *self) { free(self); }

VY_PLUGIN(init, step, destroy)
