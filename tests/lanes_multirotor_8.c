// lanes_multirotor_8.c - eight drones side by side, built for the plainest CPU.
#define VY_LANES  8
#define LANES_FLY lanes_fly_8
#include "lanes_multirotor.inl"
