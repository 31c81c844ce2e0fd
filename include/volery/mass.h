// mass.h - volume, centroid and inertia of a solid of uniform density, and its principal axes.
#pragma once
#include "volery/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vy_mass_properties {
    double mass;      ///< [kg] > 0
    double volume;    ///< [m^3] > 0
    vy_vec3 centroid; ///< [m] in the shape's frame
    vy_mat3 inertia;  ///< [kg m^2] about the centroid, along the shape's axes; symmetric to the bit
} vy_mass_properties;

/// Principal moments and axes of an inertia tensor: inertia = axes diag(moments) axes^T.
typedef struct vy_principal_axes {
    vy_vec3 moments; ///< [kg m^2] ascending
    vy_mat3 axes; ///< columns are the axes, the first two with their largest component positive; a rotation
                  ///< (determinant +1), principal frame to body
} vy_principal_axes;

/// Mass properties of a polyhedron by the divergence theorem (Mirtich 1996), exact but for rounding wherever
/// the hull lies.
/// @return VY_BAD_MASS when the mass is not finite or not > 0; VY_BAD_HULL when the hull is NULL or has no
/// volume
vy_status vy_hull_mass(const vy_hull *hull, double mass, vy_mass_properties *out, vy_error *err);

/// Mass properties of a shape: closed forms, vy_hull_mass() for a hull.
/// @return as vy_hull_mass(); VY_BAD_VALUE for a plane or a height field, which have no volume, and for a
/// shape so small that its volume or inertia is zero
vy_status vy_shape_mass(const vy_shape *shape, double mass, vy_mass_properties *out, vy_error *err);

/// Eigenvalues and eigenvectors of a symmetric 3x3 matrix by Jacobi's rotations in a fixed order. Only the
/// upper triangle is read. For any finite matrix, an inertia tensor or not.
vy_principal_axes vy_mass_principal_axes(const vy_mat3 *inertia);

#ifdef __cplusplus
}
#endif
