// wind_grid.h - a gridded wind field from a text file.
//
// The file is a table that a person or a script can write:
//
//   # anything after a # is a remark
//   t,x,y,z,u,v,w
//   0,0,0,0,1.5,0,0
//   ...
//
// one row per node: time [s], place [m] and velocity [m/s] in world axes (x east, y north, z up). The nodes
// make a full grid with equal distances along each axis; rows come in any order. An axis may have one node
// only.
#pragma once
#include "equations/wind.h"
#include "volery/status.h"
#include <stddef.h>

/// The largest file, the most nodes along an axis and in all.
#define VY_WIND_GRID_BYTES_MAX ((size_t)256 << 20)
#define VY_WIND_GRID_AXIS_MAX  4096
#define VY_WIND_GRID_NODES_MAX 4000000

/// Places and times are at most this far from 0 [m, s]; a faster wind [m/s] is a wrong unit.
#define VY_WIND_GRID_COORDINATE_MAX 1e9
#define VY_WIND_GRID_SPEED_MAX      1e4

/// Equal distances: every node is within this share of the spacing from where it should be.
#define VY_WIND_GRID_SPACING_TOLERANCE 1e-3

/// A field and its samples; one block of memory.
typedef struct vy_wind_grid {
    wind_grid field;   ///< for wind_params; valid until the grid is destroyed
    double velocity[]; ///< [m/s] the samples: field.velocity
} vy_wind_grid;

/// Read a field that lies in memory. Any bytes are safe.
/// @param name what errors call the data; may be NULL
/// @param out  the field, to be destroyed by the caller; NULL on failure
/// @return with the line, and the column where it is about one field: VY_BAD_SYNTAX (no header, not a number,
/// too few or many fields), VY_BAD_VALUE (not finite, too far or fast, a node given twice, a node missing,
/// uneven distances, no rows), VY_FULL (over the limits above), VY_NO_MEMORY
vy_status vy_wind_grid_read(const void *data, size_t size, const char *name, vy_wind_grid **out,
                            vy_error *err);

/// NULL is allowed.
void vy_wind_grid_destroy(vy_wind_grid *grid);
