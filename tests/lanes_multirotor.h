// lanes_multirotor.h - one drone's closed loop as plain numbers, for comparing machines with each other.
// Needs the equations included before.
#pragma once
#include <stdint.h>

enum { LANES_ROTORS = 8, LANES_VALUES = 400 };

/// What is the same for every drone of a batch.
typedef struct lanes_vehicle {
    int count; ///< rotors
    rotor_layout layout;
    int rotors; ///< effects of their own
    int curved; ///< motors with a dead zone, an idle speed and a curve
    double inverse[LANES_ROTORS][4];
    double rows[4][LANES_ROTORS], hessian[LANES_ROTORS][LANES_ROTORS]; ///< of the allocation
    int body_count;                                                    ///< of gravity
    int gradient;                                                      ///< of it turns bodies
    gravity_body bodies[2];
    atmosphere_params air;
    planet_params planet;
    wind_params wind;
    double magnetic[3], light[3];
    int strict, open_loop; ///< of the negligibility policy
    int period;            ///< its steps between evaluations
} lanes_vehicle;

/// What names a drone's random numbers.
typedef struct lanes_key {
    uint64_t seed, index, tick;
} lanes_key;

/// Fly as many drones as the machine has lanes for `steps` steps: negligibility policy, plant with every
/// effect, IMU, motion capture, estimator and every lowering, in a closed loop. `values` has LANES_VALUES
/// numbers per drone, in the order of `struct flight`.
typedef void lanes_fn(const lanes_vehicle *vehicle, const lanes_key *keys, int steps, double *values);

lanes_fn lanes_fly_1, lanes_fly_2, lanes_fly_4, lanes_fly_8, lanes_fly_4_avx2, lanes_fly_8_avx512;
