// lanes_environment_8.c - 8 drones side by side, with plain instructions.
#define VY_LANES          8
#define LANES_ENVIRONMENT lanes_environment_8
#include "lanes_environment.inl"
