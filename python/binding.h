// binding.h - what the files of the binding share: errors, and worlds that threads may share.
#pragma once
#include "volery/scenario.h"
#include "volery/world.h"

/// Keep the error's sentence for binding_error(); returns NULL.
void *binding_fail(const vy_error *err);

typedef struct locked_world locked_world;

/// Have a world for oneself, and let others have it.
const vy_world *binding_enter(locked_world *w);
void binding_leave(locked_world *w);
