// magnetic.h - the Earth's magnetic field by the World Magnetic Model.
#pragma once
#include "volery/status.h"
#include "volery/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The dates that the coefficients are for: the World Magnetic Model 2025, decimal years.
#define VY_MAGNETIC_FIRST 2025.0
#define VY_MAGNETIC_LAST  2030.0

/// The field [T] at a geodetic place of WGS 84: east, north, up. Angles in rad, height above the ellipsoid in
/// m, at a pole in the axes of longitude 0.
/// @return VY_BAD_VALUE for a date outside the model, or a place that is none
vy_status vy_magnetic_model(double latitude, double longitude, double height, double date, vy_vec3 *out,
                            vy_error *err);

#ifdef __cplusplus
}
#endif
