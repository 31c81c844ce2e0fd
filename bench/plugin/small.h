// small.h - a controller so small that its call is what is measured.
#pragma once
#include "volery/plugin.h"

static void *init(const vy_plugin_start *start, char *why, size_t room)
{
    static double mass;
    (void)why;
    (void)room;
    mass = start->mass;
    return &mass;
}

static void step(void *self, const vy_samples *samples, vy_intent *intent)
{
    intent->rung = VY_RUNG_RATES;
    intent->thrust = *(const double *)self * 9.80665;
    intent->rates.x = -samples->estimate.rate.x + 1e-9 * (double)samples->tick;
}
