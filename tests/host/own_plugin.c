// own_plugin.c - a plug-in that keeps what it knows in statics, and has a function that others have, too.
#include "volery/plugin.h"

double wanted_height(void);
double wanted_height(void) { return HEIGHT; }

static double sum, mass;
static int users;

static void *init(const vy_plugin_start *start, char *why, size_t room)
{
    (void)why, (void)room;
    mass = start->mass;
    ++users;
    return &sum;
}

static void step(void *self, const vy_samples *samples, vy_intent *intent)
{
    const double error = wanted_height() - samples->estimate.position.z;
    (void)self;
    sum += 1e-2 * error;
    intent->rung = VY_RUNG_RATES;
    intent->thrust = mass * (9.80665 + 2.0 * error + sum - 2.0 * samples->estimate.velocity.z) / users;
    if (intent->thrust < 0.0) intent->thrust = 0.0;
}

VY_PLUGIN(init, step, 0)
