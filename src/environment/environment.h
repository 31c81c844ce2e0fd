// environment.h - from declared surroundings to the constants that a step reads.
#pragma once
#include "equations/surroundings.h"
#include "equations/turbulence.h"
#include "volery/environment.h"

/// Constants of a checked def.
void vy_surroundings_build(const vy_environment_def *def, surroundings *out);
turbulence_params vy_turbulence_build(const vy_turbulence_def *def);
