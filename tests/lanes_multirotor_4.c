// lanes_multirotor_4.c - four drones side by side, built for the plainest CPU.
#define VY_LANES  4
#define LANES_FLY lanes_fly_4
#include "lanes_multirotor.inl"
