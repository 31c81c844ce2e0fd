// lanes_environment.h - gravity, air, wind, turbulence and planet as plain numbers, for comparing machines.
#pragma once
#include <stddef.h>

// Numbers of one drone: where it is and its state before, and everything that follows from it.
enum { LANES_IN = 15, LANES_OUT = 50, LANES_WIDEST = 8 };

struct lanes_world; // what is the same for every drone; set up by the test, see lanes_environment.inl

/// Work through as many drones as the machine has lanes. Number k of drone i is at place k * LANES_WIDEST +
/// i.
typedef void lanes_fn(const struct lanes_world *world, const double *in, double *out);

lanes_fn lanes_environment_1, lanes_environment_2, lanes_environment_4, lanes_environment_8;
lanes_fn lanes_environment_4_avx2, lanes_environment_8_avx512;
