// stream_writer.h - the streams of a log that follow the flight: drones, joints and contacts.
#pragma once
#include "record/log_output.h"
#include "world/world_impl.h"

typedef struct stream_writer stream_writer; ///< one owner

/// Add the channels of everything the world has. `output` must outlive it; `joint_names` and `obstacle_names`
/// are names or NULL (joint0, obstacle0, ...) and are copied.
vy_status vy_stream_writer_open(log_output *output, const vy_world *world, const char *const *joint_names,
                                const char *const *obstacle_names, stream_writer **out, vy_error *err);
void vy_stream_writer_close(stream_writer *w); ///< NULL is a no-op

/// Joints and drones of this step. Samples are written when they are new.
void vy_stream_writer_write(stream_writer *w, const vy_world *world);

/// One contact of this step. Its second body by name; valid until close.
const char *vy_stream_writer_contact(stream_writer *w, uint64_t tick, const vy_contact_event *event);
/// The name of a joint; valid until close.
const char *vy_stream_writer_joint_name(const stream_writer *w, uint32_t index);
/// The name of an obstacle, in a world with contacts; valid until close.
const char *vy_stream_writer_obstacle_name(const stream_writer *w, int index);
