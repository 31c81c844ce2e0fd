// lanes_environment_4.c - 4 drones side by side, with plain instructions.
#define VY_LANES          4
#define LANES_ENVIRONMENT lanes_environment_4
#include "lanes_environment.inl"
