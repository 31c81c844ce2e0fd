// scene.h - the scene of a log, as Foxglove's 3D panel shows it: shapes once, then what moves: joints, plumes
// of thrusters, rays of distance sensors.
#pragma once
#include "record/log_output.h"
#include "world/world_impl.h"

typedef struct log_scene {
    log_output *output;
    uint16_t channel;
    uint64_t last_tick; ///< tick of the last message
} log_scene;

/// Add its channel. `output` must outlive it.
vy_status vy_scene_open(log_output *output, log_scene *out, vy_error *err);

/// The shapes of all drones, bodies and obstacles, once, before anything else.
void vy_scene_shapes(log_scene *s, const vy_world *world, uint64_t time);

/// What moves, at this moment; rays where there are new ones.
void vy_scene_write(log_scene *s, const vy_world *world, uint64_t time);
