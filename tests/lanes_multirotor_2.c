// lanes_multirotor_2.c - two drones side by side, built for the plainest CPU.
#define VY_LANES  2
#define LANES_FLY lanes_fly_2
#include "lanes_multirotor.inl"
