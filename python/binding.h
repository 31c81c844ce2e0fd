// binding.h - what the files of the binding share: errors, and worlds and sets of bodies that threads may
// share.
#pragma once
#include "volery/scenario.h"
#include "volery/world.h"

/// Keep the error's sentence for binding_error(); returns NULL.
void *binding_fail(const vy_error *err);
/// 0, or -1 with the error's sentence kept.
int binding_result(vy_status status, const vy_error *err);
double binding_seconds(void); ///< [s] of the monotonic clock

typedef struct locked_world locked_world;

/// Lock a world, so that no other thread is in it, and return it; unlock it.
const vy_world *world_enter(locked_world *w);
void world_leave(locked_world *w);

typedef struct locked_bodies locked_bodies;

/// Lock a set of bodies, so that no other thread is in it, and return it; unlock it.
vy_bodies *bodies_enter(locked_bodies *b);
void bodies_leave(locked_bodies *b);
