// lanes_environment_2.c - 2 drones side by side, with plain instructions.
#define VY_LANES          2
#define LANES_ENVIRONMENT lanes_environment_2
#include "lanes_environment.inl"
