// foxglove.h - the messages that Foxglove displays without configuration: frames, poses, shapes, geographic
// positions, lines of a log.
//
// Their fields and numbers are those of the schemas published under these names. Quaternions are x, y, z, w
// there.
#pragma once
#include "record/protobuf.h"
#include "volery/shape.h"
#include "volery/vehicle.h"

extern const vy_pb_message vy_foxglove_frame_transforms;
extern const vy_pb_message vy_foxglove_pose_in_frame;
extern const vy_pb_message vy_foxglove_scene_update;
extern const vy_pb_message vy_foxglove_log;
extern const vy_pb_message vy_foxglove_location_fix;

/// The frame everything is in.
#define FOXGLOVE_WORLD_FRAME "world"

typedef enum foxglove_level { FOXGLOVE_INFO = 2, FOXGLOVE_WARNING = 3, FOXGLOVE_ERROR = 4 } foxglove_level;

/// Bytes that one message needs at most, besides its texts.
enum { FOXGLOVE_SIZE_MAX = 256, FOXGLOVE_SHAPE_SIZE_MAX = 512 + 256 * (2 * VY_ROTOR_CAP + 1) };

/// One element of FrameTransforms: where the frame `name` is in the world. `time` in ns.
void vy_foxglove_put_frame(vy_pb_writer *w, uint64_t time, const char *name, vy_vec3 position,
                           vy_quat rotation);

void vy_foxglove_put_pose(vy_pb_writer *w, uint64_t time, vy_vec3 position, vy_quat rotation);

/// An entity of SceneUpdate: the vehicle's shape, fixed to the frame `name`; `rotors` are positions [m],
/// body; `size` [m] is how far the drone reaches from its middle.
void vy_foxglove_put_shape(vy_pb_writer *w, uint64_t time, const char *name, const double (*rotors)[3],
                           int count, double size);

/// Bytes that the entity of a solid needs at most, besides its texts.
size_t vy_foxglove_solid_size_max(const vy_shape *shape);

/// An entity of SceneUpdate called `name`: a solid that stands at `placement` in the frame `frame_name`. Of a
/// plane a square is shown, of a large height field every n-th sample.
int vy_foxglove_put_solid(vy_pb_writer *w, uint64_t time, const char *name, const char *frame_name,
                          const vy_shape *shape, const vy_pose *placement); ///< 0: memory is out

/// An entity of SceneUpdate called `name`, to be filled with the primitives below, in the frame `frame_name`
/// as it is at `time`; `is_frame_locked`: it moves with the frame from then on.
void vy_foxglove_begin_entity(vy_pb_writer *w, uint64_t time, const char *name, const char *frame_name,
                              int is_frame_locked);
void vy_foxglove_end_entity(vy_pb_writer *w);

typedef enum foxglove_line_kind { FOXGLOVE_STRIP, FOXGLOVE_FAN } foxglove_line_kind;
enum { FOXGLOVE_FAN_CAP = 64 }; ///< lines of a fan

/// Bytes that a line of `count` points needs at most.
size_t vy_foxglove_line_size_max(int count);

/// A line through `count` points, at least two, or from the first to each of the others. `width` in pixels.
void vy_foxglove_put_line(vy_pb_writer *w, foxglove_line_kind kind, const vy_vec3 *points, int count,
                          double width, const double rgba[4]);

/// A cone on the disc of diameter `width` [m] about `base`; its tip is at base + axis, which has a length.
void vy_foxglove_put_cone(vy_pb_writer *w, vy_vec3 base, vy_vec3 axis, double width, const double rgba[4]);

void vy_foxglove_put_log(vy_pb_writer *w, uint64_t time, foxglove_level severity, const char *name,
                         const char *text);

/// Angles in radians.
void vy_foxglove_put_location(vy_pb_writer *w, uint64_t time, double latitude, double longitude,
                              double altitude);
