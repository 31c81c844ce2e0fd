// foxglove.c - descriptions and writers of the messages Foxglove knows by name.
#include "record/foxglove.h"
#include "base/assert.h"
#include "base/vec.h"
#include <stdlib.h>

#define FIELDS(list) .fields = (list), .field_count = sizeof(list) / sizeof(list)[0]
#define DOUBLE(n, text)                                     \
    {                                                       \
        .name = (text), .number = (n), .type = VY_PB_DOUBLE \
    }
#define STRING(n, text)                                     \
    {                                                       \
        .name = (text), .number = (n), .type = VY_PB_STRING \
    }
#define BOOL(n, text)                                     \
    {                                                     \
        .name = (text), .number = (n), .type = VY_PB_BOOL \
    }
#define BYTES(n, text)                                     \
    {                                                      \
        .name = (text), .number = (n), .type = VY_PB_BYTES \
    }
#define FIXED32(n, text)                                     \
    {                                                        \
        .name = (text), .number = (n), .type = VY_PB_FIXED32 \
    }
#define FIXED32_LIST(n, text)                                                      \
    {                                                                              \
        .name = (text), .number = (n), .type = VY_PB_FIXED32, .repeat = VY_PB_LIST \
    }
#define DOUBLE_LIST(n, text)                                                      \
    {                                                                             \
        .name = (text), .number = (n), .type = VY_PB_DOUBLE, .repeat = VY_PB_LIST \
    }
#define MESSAGE(n, text, of)                                                   \
    {                                                                          \
        .name = (text), .number = (n), .type = VY_PB_MESSAGE, .message = &(of) \
    }
#define MESSAGE_LIST(n, text, of)                                                                    \
    {                                                                                                \
        .name = (text), .number = (n), .type = VY_PB_MESSAGE, .repeat = VY_PB_LIST, .message = &(of) \
    }
#define ENUM(n, text, of)                                                       \
    {                                                                           \
        .name = (text), .number = (n), .type = VY_PB_ENUM, .enumeration = &(of) \
    }

static const vy_pb_field seconds_fields[] = {{.name = "seconds", .number = 1, .type = VY_PB_INT64},
                                             {.name = "nanos", .number = 2, .type = VY_PB_INT32}};
static const vy_pb_message timestamp = {
    .name = "google.protobuf.Timestamp", .file = "google/protobuf/timestamp.proto", FIELDS(seconds_fields)};
static const vy_pb_message duration = {
    .name = "google.protobuf.Duration", .file = "google/protobuf/duration.proto", FIELDS(seconds_fields)};

static const vy_pb_field xyz_fields[] = {DOUBLE(1, "x"), DOUBLE(2, "y"), DOUBLE(3, "z")};
static const vy_pb_message vector3 = {.name = "foxglove.Vector3", FIELDS(xyz_fields)};
static const vy_pb_message point3 = {.name = "foxglove.Point3", FIELDS(xyz_fields)};
static const vy_pb_field quaternion_fields[] = {DOUBLE(1, "x"), DOUBLE(2, "y"), DOUBLE(3, "z"),
                                                DOUBLE(4, "w")};
static const vy_pb_message quaternion = {.name = "foxglove.Quaternion", FIELDS(quaternion_fields)};
static const vy_pb_field color_fields[] = {DOUBLE(1, "r"), DOUBLE(2, "g"), DOUBLE(3, "b"), DOUBLE(4, "a")};
static const vy_pb_message color = {.name = "foxglove.Color", FIELDS(color_fields)};
static const vy_pb_field pose_fields[] = {MESSAGE(1, "position", vector3),
                                          MESSAGE(2, "orientation", quaternion)};
static const vy_pb_message pose = {.name = "foxglove.Pose", FIELDS(pose_fields)};
static const vy_pb_field key_value_pair_fields[] = {STRING(1, "key"), STRING(2, "value")};
static const vy_pb_message key_value_pair = {.name = "foxglove.KeyValuePair", FIELDS(key_value_pair_fields)};

static const vy_pb_field frame_fields[] = {MESSAGE(1, "timestamp", timestamp), STRING(2, "parent_frame_id"),
                                           STRING(3, "child_frame_id"), MESSAGE(4, "translation", vector3),
                                           MESSAGE(5, "rotation", quaternion)};
static const vy_pb_message frame = {.name = "foxglove.FrameTransform", FIELDS(frame_fields)};
static const vy_pb_field frame_list_fields[] = {MESSAGE_LIST(1, "transforms", frame)};
const vy_pb_message vy_foxglove_frame_transforms = {.name = "foxglove.FrameTransforms",
                                                    FIELDS(frame_list_fields)};

static const vy_pb_field pose_in_frame_fields[] = {MESSAGE(1, "timestamp", timestamp), STRING(2, "frame_id"),
                                                   MESSAGE(3, "pose", pose)};
const vy_pb_message vy_foxglove_pose_in_frame = {.name = "foxglove.PoseInFrame",
                                                 FIELDS(pose_in_frame_fields)};

static const vy_pb_enum_value log_level_values[] = {{"UNKNOWN", 0}, {"DEBUG", 1}, {"INFO", 2},
                                                    {"WARNING", 3}, {"ERROR", 4}, {"FATAL", 5}};
static const vy_pb_enum log_level = {
    .name = "foxglove.Log.Level", .values = log_level_values, .value_count = 6};
static const vy_pb_field log_fields[] = {MESSAGE(1, "timestamp", timestamp),
                                         ENUM(2, "level", log_level),
                                         STRING(3, "message"),
                                         STRING(4, "name"),
                                         STRING(5, "file"),
                                         FIXED32(6, "line")};
const vy_pb_message vy_foxglove_log = {.name = "foxglove.Log", FIELDS(log_fields)};

static const vy_pb_enum_value covariance_type_values[] = {
    {"UNKNOWN", 0}, {"APPROXIMATED", 1}, {"DIAGONAL_KNOWN", 2}, {"KNOWN", 3}};
static const vy_pb_enum covariance_type = {.name = "foxglove.LocationFix.PositionCovarianceType",
                                           .values = covariance_type_values,
                                           .value_count = 4};
static const vy_pb_field location_fields[] = {
    MESSAGE(6, "timestamp", timestamp),
    STRING(7, "frame_id"),
    DOUBLE(1, "latitude"),
    DOUBLE(2, "longitude"),
    DOUBLE(3, "altitude"),
    DOUBLE_LIST(4, "position_covariance"),
    ENUM(5, "position_covariance_type", covariance_type),
    MESSAGE(8, "color", color),
    MESSAGE_LIST(9, "metadata", key_value_pair),
};
const vy_pb_message vy_foxglove_location_fix = {.name = "foxglove.LocationFix", FIELDS(location_fields)};

static const vy_pb_field arrow_fields[] = {
    MESSAGE(1, "pose", pose), DOUBLE(2, "shaft_length"),  DOUBLE(3, "shaft_diameter"),
    DOUBLE(4, "head_length"), DOUBLE(5, "head_diameter"), MESSAGE(6, "color", color),
};
static const vy_pb_message arrow = {.name = "foxglove.ArrowPrimitive", FIELDS(arrow_fields)};
static const vy_pb_field solid_fields[] = {MESSAGE(1, "pose", pose), MESSAGE(2, "size", vector3),
                                           MESSAGE(3, "color", color)};
static const vy_pb_message cube = {.name = "foxglove.CubePrimitive", FIELDS(solid_fields)};
static const vy_pb_message sphere = {.name = "foxglove.SpherePrimitive", FIELDS(solid_fields)};
static const vy_pb_field cylinder_fields[] = {MESSAGE(1, "pose", pose), MESSAGE(2, "size", vector3),
                                              DOUBLE(3, "bottom_scale"), DOUBLE(4, "top_scale"),
                                              MESSAGE(5, "color", color)};
static const vy_pb_message cylinder = {.name = "foxglove.CylinderPrimitive", FIELDS(cylinder_fields)};
static const vy_pb_enum_value line_type_values[] = {{"LINE_STRIP", 0}, {"LINE_LOOP", 1}, {"LINE_LIST", 2}};
static const vy_pb_enum line_type = {
    .name = "foxglove.LinePrimitive.Type", .values = line_type_values, .value_count = 3};
static const vy_pb_field line_fields[] = {
    ENUM(1, "type", line_type),       MESSAGE(2, "pose", pose),          DOUBLE(3, "thickness"),
    BOOL(4, "scale_invariant"),       MESSAGE_LIST(5, "points", point3), MESSAGE(6, "color", color),
    MESSAGE_LIST(7, "colors", color), FIXED32_LIST(8, "indices"),
};
static const vy_pb_message line = {.name = "foxglove.LinePrimitive", FIELDS(line_fields)};
static const vy_pb_field triangle_list_fields[] = {
    MESSAGE(1, "pose", pose), MESSAGE_LIST(2, "points", point3), MESSAGE(3, "color", color),
    MESSAGE_LIST(4, "colors", color), FIXED32_LIST(5, "indices")};
static const vy_pb_message triangle_list = {.name = "foxglove.TriangleListPrimitive",
                                            FIELDS(triangle_list_fields)};
static const vy_pb_field text_fields[] = {
    MESSAGE(1, "pose", pose),   BOOL(2, "billboard"),       DOUBLE(3, "font_size"),
    BOOL(4, "scale_invariant"), MESSAGE(5, "color", color), STRING(6, "text"),
};
static const vy_pb_message text_shape = {.name = "foxglove.TextPrimitive", FIELDS(text_fields)};
static const vy_pb_field model_fields[] = {
    MESSAGE(1, "pose", pose),   MESSAGE(2, "scale", vector3),
    MESSAGE(3, "color", color), BOOL(4, "override_color"),
    STRING(5, "url"),           STRING(6, "media_type"),
    BYTES(7, "data"),
};
static const vy_pb_message model = {.name = "foxglove.ModelPrimitive", FIELDS(model_fields)};
static const vy_pb_enum_value deletion_type_values[] = {{"MATCHING_ID", 0}, {"ALL", 1}};
static const vy_pb_enum deletion_type = {
    .name = "foxglove.SceneEntityDeletion.Type", .values = deletion_type_values, .value_count = 2};
static const vy_pb_field deletion_fields[] = {MESSAGE(1, "timestamp", timestamp),
                                              ENUM(2, "type", deletion_type), STRING(3, "id")};
static const vy_pb_message deletion = {.name = "foxglove.SceneEntityDeletion", FIELDS(deletion_fields)};
static const vy_pb_field entity_fields[] = {
    MESSAGE(1, "timestamp", timestamp),
    STRING(2, "frame_id"),
    STRING(3, "id"),
    MESSAGE(4, "lifetime", duration),
    BOOL(5, "frame_locked"),
    MESSAGE_LIST(6, "metadata", key_value_pair),
    MESSAGE_LIST(7, "arrows", arrow),
    MESSAGE_LIST(8, "cubes", cube),
    MESSAGE_LIST(9, "spheres", sphere),
    MESSAGE_LIST(10, "cylinders", cylinder),
    MESSAGE_LIST(11, "lines", line),
    MESSAGE_LIST(12, "triangles", triangle_list),
    MESSAGE_LIST(13, "texts", text_shape),
    MESSAGE_LIST(14, "models", model),
};
static const vy_pb_message entity = {.name = "foxglove.SceneEntity", FIELDS(entity_fields)};
static const vy_pb_field scene_fields[] = {MESSAGE_LIST(1, "deletions", deletion),
                                           MESSAGE_LIST(2, "entities", entity)};
const vy_pb_message vy_foxglove_scene_update = {.name = "foxglove.SceneUpdate", FIELDS(scene_fields)};

static void put_time(vy_pb_writer *w, uint32_t number, uint64_t time)
{
    const uint64_t ns_per_second = 1000000000;
    vy_pb_begin(w, number);
    vy_pb_put_int(w, 1, (int64_t)(time / ns_per_second));
    vy_pb_put_int(w, 2, (int64_t)(time % ns_per_second));
    vy_pb_end(w);
}

static void put_vector(vy_pb_writer *w, uint32_t number, double x, double y, double z)
{
    vy_pb_begin(w, number);
    vy_pb_put_double(w, 1, x);
    vy_pb_put_double(w, 2, y);
    vy_pb_put_double(w, 3, z);
    vy_pb_end(w);
}

static void put_four_doubles(vy_pb_writer *w, uint32_t number, double a, double b, double c, double d)
{
    vy_pb_begin(w, number);
    vy_pb_put_double(w, 1, a);
    vy_pb_put_double(w, 2, b);
    vy_pb_put_double(w, 3, c);
    vy_pb_put_double(w, 4, d);
    vy_pb_end(w);
}

void vy_foxglove_put_frame(vy_pb_writer *w, uint64_t time, const char *name, vy_vec3 position,
                           vy_quat rotation)
{
    vy_pb_begin(w, 1);
    put_time(w, 1, time);
    vy_pb_put_string(w, 2, FOXGLOVE_WORLD_FRAME);
    vy_pb_put_string(w, 3, name);
    put_vector(w, 4, position.x, position.y, position.z);
    put_four_doubles(w, 5, rotation.x, rotation.y, rotation.z, rotation.w);
    vy_pb_end(w);
}

void vy_foxglove_put_pose(vy_pb_writer *w, uint64_t time, vy_vec3 position, vy_quat rotation)
{
    put_time(w, 1, time);
    vy_pb_put_string(w, 2, FOXGLOVE_WORLD_FRAME);
    vy_pb_begin(w, 3);
    put_vector(w, 1, position.x, position.y, position.z);
    put_four_doubles(w, 2, rotation.x, rotation.y, rotation.z, rotation.w);
    vy_pb_end(w);
}

static void put_pose_at(vy_pb_writer *w, uint32_t number, double x, double y, double z)
{
    vy_pb_begin(w, number);
    put_vector(w, 1, x, y, z);
    put_four_doubles(w, 2, 0.0, 0.0, 0.0, 1.0);
    vy_pb_end(w);
}

void vy_foxglove_begin_entity(vy_pb_writer *w, uint64_t time, const char *name, const char *frame_name,
                              int is_frame_locked)
{
    vy_pb_begin(w, 2);
    put_time(w, 1, time);
    vy_pb_put_string(w, 2, frame_name);
    vy_pb_put_string(w, 3, name);
    if (is_frame_locked) vy_pb_put_uint(w, 5, 1);
}

void vy_foxglove_end_entity(vy_pb_writer *w) { vy_pb_end(w); }

// A body, and a flat disc per rotor; those in front have the colour of the page's front.
void vy_foxglove_put_shape(vy_pb_writer *w, uint64_t time, const char *name, const double (*rotors)[3],
                           int count, double size)
{
    vy_foxglove_begin_entity(w, time, name, name, 1);
    vy_pb_begin(w, 9);
    put_pose_at(w, 1, 0.0, 0.0, 0.0);
    put_vector(w, 2, 0.8 * size, 0.6 * size, 0.3 * size);
    put_four_doubles(w, 3, 0.17, 0.21, 0.25, 1.0);
    vy_pb_end(w);
    for (int i = 0; i < count; ++i) {
        const int is_front = rotors[i][0] > 0.05 * size;
        vy_pb_begin(w, 10);
        put_pose_at(w, 1, rotors[i][0], rotors[i][1], rotors[i][2]);
        put_vector(w, 2, 1.2 * size, 1.2 * size, 0.04 * size);
        vy_pb_put_double(w, 3, 1.0);
        vy_pb_put_double(w, 4, 1.0);
        put_four_doubles(w, 5, is_front ? 0.84 : 0.45, is_front ? 0.37 : 0.5, is_front ? 0.0 : 0.55, 0.6);
        vy_pb_end(w);
    }
    vy_foxglove_end_entity(w);
}

enum {
    ENTITY_SIZE_MAX = 512,
    POINT_SIZE_MAX = 40,
    FIELD_SIDE_CELLS = 64
}; // bytes; cells of a side that are shown
static const double obstacle_color[4] = {0.6, 0.66, 0.72, 1.0}, terrain_color[4] = {0.62, 0.68, 0.63, 1.0};

// Samples of a side of a height field that are shown: every n-th, and the last.
static int sample_stride(const vy_height_field *f)
{
    const int longest = f->nx > f->ny ? f->nx : f->ny;
    return (longest - 2 + FIELD_SIDE_CELLS) / FIELD_SIDE_CELLS;
}

static int shown_samples(int samples, int stride) { return (samples - 2 + stride) / stride + 1; }

size_t vy_foxglove_solid_size_max(const vy_shape *shape)
{
    size_t points = 4, indices = 6;
    if (shape->kind == VY_SHAPE_HULL) {
        points = (size_t)shape->hull->vertex_count;
        indices = 3 * (size_t)shape->hull->facet_count;
    } else if (shape->kind == VY_SHAPE_HEIGHT_FIELD) {
        const int stride = sample_stride(&shape->field);
        const size_t nx = (size_t)shown_samples(shape->field.nx, stride),
                     ny = (size_t)shown_samples(shape->field.ny, stride);
        points = nx * ny;
        indices = 6 * (nx - 1) * (ny - 1);
    }
    return ENTITY_SIZE_MAX + 3 * FOXGLOVE_SIZE_MAX + points * POINT_SIZE_MAX + 4 * indices;
}

static void put_solid_pose(vy_pb_writer *w, const vy_pose *placement)
{
    const vy_quat q = placement->rotation;
    vy_pb_begin(w, 1);
    put_vector(w, 1, placement->position.x, placement->position.y, placement->position.z);
    put_four_doubles(w, 2, q.x, q.y, q.z, q.w);
    vy_pb_end(w);
}

static void put_color(vy_pb_writer *w, uint32_t number, const double c[4])
{
    put_four_doubles(w, number, c[0], c[1], c[2], c[3]);
}

// A cube or a sphere by its sides, or with `number` 10 a cylinder; `offset_z` is how far along z of the pose.
static void put_primitive(vy_pb_writer *w, uint32_t number, const vy_pose *placement, double offset_z,
                          vy_vec3 size)
{
    enum { CYLINDER = 10 };
    vy_pose shifted = *placement;
    shifted.position =
        vec3_add(placement->position, quat_rotate(placement->rotation, (vy_vec3){0.0, 0.0, offset_z}));
    vy_pb_begin(w, number);
    put_solid_pose(w, &shifted);
    put_vector(w, 2, size.x, size.y, size.z);
    if (number == CYLINDER) {
        vy_pb_put_double(w, 3, 1.0);
        vy_pb_put_double(w, 4, 1.0);
    }
    put_color(w, number == CYLINDER ? 5 : 3, obstacle_color);
    vy_pb_end(w);
}

static void put_index(unsigned char **next, int index)
{
    for (int k = 0; k < 4; ++k) *(*next)++ = (unsigned char)((unsigned)index >> 8 * k);
}

// Points are in the frame of the pose; `indices` as bytes, three numbers a triangle.
static void end_triangles(vy_pb_writer *w, const double rgba[4], const unsigned char *indices, size_t size)
{
    VY_ASSERT(size % 12 == 0); // three numbers of four bytes each
    put_color(w, 3, rgba);
    vy_pb_put_bytes(w, 5, indices, size);
    vy_pb_end(w);
}

static void put_hull(vy_pb_writer *w, const vy_pose *placement, const vy_hull *hull, unsigned char *indices)
{
    unsigned char *next = indices;
    vy_pb_begin(w, 12);
    put_solid_pose(w, placement);
    for (int i = 0; i < hull->vertex_count; ++i) {
        put_vector(w, 2, hull->vertices[i].x, hull->vertices[i].y, hull->vertices[i].z);
    }
    for (int i = 0; i < hull->facet_count; ++i) {
        put_index(&next, hull->facets[i].a);
        put_index(&next, hull->facets[i].b);
        put_index(&next, hull->facets[i].c);
    }
    end_triangles(w, obstacle_color, indices, (size_t)(next - indices));
}

static void put_field(vy_pb_writer *w, const vy_pose *placement, const vy_height_field *f,
                      unsigned char *indices)
{
    const int stride = sample_stride(f), nx = shown_samples(f->nx, stride), ny = shown_samples(f->ny, stride);
    unsigned char *next = indices;
    vy_pb_begin(w, 12);
    put_solid_pose(w, placement);
    for (int n = 0; n < nx * ny; ++n) {
        const int i = n % nx * stride < f->nx ? n % nx * stride : f->nx - 1;
        const int j = n / nx * stride < f->ny ? n / nx * stride : f->ny - 1;
        put_vector(w, 2, i * f->spacing, j * f->spacing, f->heights[(size_t)j * (size_t)f->nx + (size_t)i]);
    }
    for (int n = 0; n < nx * (ny - 1); ++n) {
        if (n % nx == nx - 1) continue;
        const int corners[6] = {n, n + 1, n + nx + 1, n, n + nx + 1, n + nx};
        for (int k = 0; k < 6; ++k) put_index(&next, corners[k]);
    }
    end_triangles(w, terrain_color, indices, (size_t)(next - indices));
}

static void put_ground_square(vy_pb_writer *w, const vy_pose *placement, double height,
                              unsigned char *indices)
{
    static const double half_side = 100.0; // [m]
    static const int corners[6] = {0, 1, 2, 0, 2, 3};
    unsigned char *next = indices;
    vy_pb_begin(w, 12);
    put_solid_pose(w, placement);
    for (int k = 0; k < 4; ++k)
        put_vector(w, 2, k == 1 || k == 2 ? half_side : -half_side, k < 2 ? -half_side : half_side, height);
    for (int k = 0; k < 6; ++k) put_index(&next, corners[k]);
    end_triangles(w, terrain_color, indices, (size_t)(next - indices));
}

static void put_primitives(vy_pb_writer *w, const vy_shape *s, const vy_pose *placement,
                           unsigned char *indices)
{
    enum { CUBE = 8, SPHERE = 9, CYLINDER = 10 };
    const double diameter = 2.0 * (s->kind == VY_SHAPE_SPHERE     ? s->sphere.radius
                                   : s->kind == VY_SHAPE_CAPSULE  ? s->capsule.radius
                                   : s->kind == VY_SHAPE_CYLINDER ? s->cylinder.radius
                                                                  : 0.0);
    const vy_vec3 sphere_size = {diameter, diameter, diameter};
    switch (s->kind) {
    case VY_SHAPE_BOX: put_primitive(w, CUBE, placement, 0.0, vec3_scale(2.0, s->box.half)); break;
    case VY_SHAPE_SPHERE: put_primitive(w, SPHERE, placement, 0.0, sphere_size); break;
    case VY_SHAPE_CYLINDER:
        put_primitive(w, CYLINDER, placement, 0.0,
                      (vy_vec3){diameter, diameter, 2.0 * s->cylinder.half_height});
        break;
    case VY_SHAPE_CAPSULE:
        put_primitive(w, CYLINDER, placement, 0.0,
                      (vy_vec3){diameter, diameter, 2.0 * s->capsule.half_length});
        put_primitive(w, SPHERE, placement, s->capsule.half_length, sphere_size);
        put_primitive(w, SPHERE, placement, -s->capsule.half_length, sphere_size);
        break;
    case VY_SHAPE_HULL: put_hull(w, placement, s->hull, indices); break;
    case VY_SHAPE_PLANE: put_ground_square(w, placement, s->plane.offset, indices); break;
    case VY_SHAPE_HEIGHT_FIELD: put_field(w, placement, &s->field, indices); break;
    case VY_SHAPE_NONE: break;
    }
}

int vy_foxglove_put_solid(vy_pb_writer *w, uint64_t time, const char *name, const char *frame_name,
                          const vy_shape *shape, const vy_pose *placement)
{
    unsigned char *indices = malloc(vy_foxglove_solid_size_max(shape));
    if (indices == NULL) return 0;
    vy_foxglove_begin_entity(w, time, name, frame_name, 1);
    put_primitives(w, shape, placement, indices);
    vy_foxglove_end_entity(w);
    free(indices);
    return 1;
}

size_t vy_foxglove_line_size_max(int count)
{
    return FOXGLOVE_SIZE_MAX + (size_t)count * (POINT_SIZE_MAX + 8);
}

void vy_foxglove_put_line(vy_pb_writer *w, foxglove_line_kind kind, const vy_vec3 *points, int count,
                          double width, const double rgba[4])
{
    enum { LINE_LIST = 2 };
    VY_ASSERT(count > 0 && (kind != FOXGLOVE_FAN || count - 1 <= FOXGLOVE_FAN_CAP));
    unsigned char line_indices[8 * FOXGLOVE_FAN_CAP], *next = line_indices;
    vy_pb_begin(w, 11);
    if (kind == FOXGLOVE_FAN) vy_pb_put_int(w, 1, LINE_LIST);
    put_pose_at(w, 2, 0.0, 0.0, 0.0);
    vy_pb_put_double(w, 3, width);
    vy_pb_put_uint(w, 4, 1); // the width does not change with the distance
    for (int i = 0; i < count; ++i) put_vector(w, 5, points[i].x, points[i].y, points[i].z);
    put_color(w, 6, rgba);
    for (int i = 1; i < count && i <= FOXGLOVE_FAN_CAP && kind == FOXGLOVE_FAN; ++i) {
        put_index(&next, 0);
        put_index(&next, i);
    }
    if (next > line_indices) vy_pb_put_bytes(w, 8, line_indices, (size_t)(next - line_indices));
    vy_pb_end(w);
}

void vy_foxglove_put_cone(vy_pb_writer *w, vy_vec3 base, vy_vec3 axis, double width, const double rgba[4])
{
    const double length = vec3_length(axis);
    VY_ASSERT(length > 0.0);
    const vy_vec3 centre = vec3_add_scaled(base, 0.5, axis);
    // The rotation that brings +z to the cone's direction u is (1 + u_z, z x u), normalised; straight down it
    // is half a turn about x.
    const vy_vec3 u = vec3_scale(1.0 / length, axis);
    vy_quat rotation = {.x = 1.0};
    if (u.z > -0.999999999) rotation = quat_normalize((vy_quat){.w = 1.0 + u.z, .x = -u.y, .y = u.x});
    vy_pb_begin(w, 10);
    put_solid_pose(w, &(vy_pose){centre, rotation});
    put_vector(w, 2, width, width, length);
    vy_pb_put_double(w, 3, 1.0);
    vy_pb_put_double(w, 4, 0.0);
    put_color(w, 5, rgba);
    vy_pb_end(w);
}

void vy_foxglove_put_log(vy_pb_writer *w, uint64_t time, foxglove_level severity, const char *name,
                         const char *text)
{
    put_time(w, 1, time);
    vy_pb_put_int(w, 2, severity);
    vy_pb_put_string(w, 3, text);
    vy_pb_put_string(w, 4, name);
}

void vy_foxglove_put_location(vy_pb_writer *w, uint64_t time, double latitude, double longitude,
                              double altitude)
{
    const double degrees_per_radian = 57.29577951308232;
    vy_pb_put_double(w, 1, latitude * degrees_per_radian);
    vy_pb_put_double(w, 2, longitude * degrees_per_radian);
    vy_pb_put_double(w, 3, altitude);
    put_time(w, 6, time);
    vy_pb_put_string(w, 7, FOXGLOVE_WORLD_FRAME);
}
