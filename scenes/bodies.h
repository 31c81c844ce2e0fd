// bodies.h - golden scenes of bodies, and how a scene is finished.
#pragma once
#include "volery/world.h"

/// The first failure of a build frees the world, so that a scene is there whole or not at all.
vy_status vy_scene_finish(vy_status status, vy_world **out);

vy_status vy_scene_joined(uint64_t seed, vy_world **out, vy_error *err);
vy_status vy_scene_dragged(uint64_t seed, vy_world **out, vy_error *err);
vy_status vy_scene_payload(uint64_t seed, vy_world **out, vy_error *err);
vy_status vy_scene_bump(uint64_t seed, vy_world **out, vy_error *err);
vy_status vy_scene_asleep(uint64_t seed, vy_world **out, vy_error *err);
