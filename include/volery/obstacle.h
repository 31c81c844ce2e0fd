// obstacle.h - collision shapes and surfaces of drones, bodies, obstacles and the ground.
//
// A world made with contacts (vy_world_def.contacts.on) lets its drones and bodies collide with
// each other and with its obstacles. A drone that touches nothing keeps the bits of its free flight.
#pragma once
#include "volery/contacts.h"
#include "volery/status.h"
#include "volery/types.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vy_collider_kind {
    VY_COLLIDER_AUTO,     ///< of a drone: the hull of its collision points, else a box about its rotors; of
                          ///< anything without rotors: none
    VY_COLLIDER_NONE,     ///< no collision
    VY_COLLIDER_BOX,      ///< about the origin, along the axes
    VY_COLLIDER_SPHERE,   ///< about the origin
    VY_COLLIDER_CAPSULE,  ///< about the origin, along z
    VY_COLLIDER_CYLINDER, ///< about the origin, along z
    VY_COLLIDER_HULL,     ///< the convex hull of points
    VY_COLLIDER_PLANE,    ///< all that is below z = 0, for ever; obstacles only
    VY_COLLIDER_HEIGHT_FIELD, ///< all that is below a surface over a grid; obstacles only
} vy_collider_kind;

/// Shape and surface, in a frame of its own: of a drone the vehicle's, of a body without rotors that of its
/// centre of mass. Only the fields of its kind are read. Functions that take one copy it, tables included.
typedef struct vy_collider_def {
    vy_collider_kind kind;
    vy_vec3 size;           ///< [m] of a box: its sides, each > 0
    double radius;          ///< [m] of a sphere, capsule or cylinder, > 0
    double length;          ///< [m] of a capsule without its caps, >= 0; of a cylinder, > 0
    vy_numbers points;      ///< [m] of a hull: rows of x, y, z
    vy_numbers heights;     ///< [m] one row for each y, from 0 on, one column for each x; 2 by 2 at least
    double spacing;         ///< [m] from one height to the next, in x and in y, > 0
    char file[VY_PATH_CAP]; ///< a scenario's: where points or heights come from; empty once they are read
    double scale;           ///< [m] a scenario's: length of one unit of that file, > 0
    vy_material material;
} vy_collider_def;

/// VY_COLLIDER_AUTO of the default material, its scale 1.
vy_collider_def vy_default_collider_def(void);

/// A static obstacle: a wall, a gate's post, a pad, the ground.
typedef struct vy_obstacle_def {
    uint32_t cookie;       ///< set by the default function
    vy_collider_def solid; ///< its shape and surface
    vy_vec3 position;      ///< [m] world: where the origin of the shape's frame stands
    vy_quat attitude;      ///< shape to world, any length above zero
    int is_trigger;        ///< 1: it stops nothing and no ray, but reports who is in it: vy_world_trigger()
} vy_obstacle_def;

/// The ground z <= 0.
vy_obstacle_def vy_default_obstacle_def(void);

/// Limits above which an impact of a drone or body counts as a crash; 0 means no limit.
typedef struct vy_crash_def {
    double speed;   ///< [m/s] at which the surfaces close, >= 0
    double impulse; ///< [N s] of a contact within one step, >= 0
    int ends;       ///< 1: a crash ends the run
} vy_crash_def;

/// The first hit of a ray, or what another query found.
typedef struct vy_ray_target {
    double distance; ///< [m] from the ray's origin; 0 when it starts inside
    vy_vec3 point;   ///< [m] world
    vy_vec3 normal;  ///< unit, outward; zero when the ray starts inside
    int obstacle;    ///< index of the obstacle, in order of creation; -1: a drone or body
    int body;        ///< number of the drone or body; -1: an obstacle
} vy_ray_target;

#ifdef __cplusplus
}
#endif
