// environment.h - from declared surroundings to the constants that a step reads.
#pragma once
#include "equations/environment_model.h"
#include "equations/turbulence.h"
#include "volery/environment.h"

/// Check a gust; `name` is for the error.
vy_status vy_check_gust_def(const vy_gust_def *g, const char *name, vy_error *err);

/// Check a budget on a planet of this radius, 0 without one, in steps of `dt`, 0 when that is not known.
/// `culprit` is the value to blame.
vy_status vy_check_budget_def(const vy_budget_def *budget, double radius, double dt, const double **culprit,
                              vy_error *err);

/// The radius that coordinates have the size of: 0 in a flat world and at a planet's origin.
static inline double vy_coordinate_radius(const vy_planet_def *planet)
{
    return planet->origin.gm > 0.0 ? 0.0 : planet->radius;
}

/// Constants of a checked def.
void vy_environment_build(const vy_environment_def *def, environment_model *out);
turbulence_params vy_turbulence_build(const vy_turbulence_def *def);
