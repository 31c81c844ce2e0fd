// mesh.h - the points of an STL or OBJ file, and their hull.
#pragma once
#include "volery/hull.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The largest file and the most different points that are read.
#define VY_MESH_BYTES_MAX  ((size_t)256 << 20)
#define VY_MESH_POINTS_MAX 4000000

/// The different points of a mesh, in the order of their first appearance.
typedef struct vy_mesh_points {
    vy_vec3 *points; ///< [count] owned; free with vy_mesh_points_free()
    int count;
} vy_mesh_points;

/// Read the points of a mesh that lies in memory: binary STL, ASCII STL or Wavefront OBJ, recognised by
/// content. Of an OBJ file the vertices that a face uses are taken, or all of them when it has no face. Any
/// bytes are safe: what is not one of these formats to the end is refused.
/// @param scale [m] length of one unit of the file, finite and > 0 (0.001 for millimetres)
/// @param name  what errors call the data; may be NULL
/// @return VY_BAD_SYNTAX (with the line for text, the byte offset in the sentence for binary), VY_DAMAGED
/// (truncated binary), VY_HULL_NOT_FINITE, VY_HULL_HUGE, VY_HULL_EMPTY, VY_FULL (over the limits above),
/// VY_BAD_VALUE (scale), VY_NO_MEMORY
vy_status vy_mesh_read(const void *data, size_t size, double scale, const char *name, vy_mesh_points *out,
                       vy_error *err);
void vy_mesh_points_free(vy_mesh_points *points);

/// The hull of a mesh file. Fails as vy_mesh_read() and vy_hull_create(), and with VY_IO when the file cannot
/// be read.
vy_status vy_hull_from_file(const char *path, double scale, double tolerance, vy_hull **out, vy_error *err);

#ifdef __cplusplus
}
#endif
