// write_log.c - writes the log that the readers of others are asked to read: FILE [none|zstd] [threaded].
// Every value is a closed form of the message's number; the scripts beside this file compute the same.
#include "base/fail.h"
#include "record/mcap_writer.h"
#include "record/protobuf.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { STATES = 5000, STATE_PERIOD_NS = 1000000, POSE_EVERY = 10, EVENT_EVERY = 250, SCENE_EVERY = 1000 };

static const vy_pb_field vector_fields[] = {
    {.name = "x", .number = 1, .type = VY_PB_DOUBLE},
    {.name = "y", .number = 2, .type = VY_PB_DOUBLE},
    {.name = "z", .number = 3, .type = VY_PB_DOUBLE},
};
static const vy_pb_message vector = {.name = "volery.Vector3", .fields = vector_fields, .field_count = 3};

static const vy_pb_field state_fields[] = {
    {.name = "tick", .number = 1, .type = VY_PB_UINT64},
    {.name = "hash", .number = 2, .type = VY_PB_FIXED64},
    {.name = "position", .number = 3, .type = VY_PB_MESSAGE, .message = &vector},
    {.name = "speeds", .number = 4, .type = VY_PB_DOUBLE, .repeat = 4},
    {.name = "offset", .number = 5, .type = VY_PB_INT64},
    {.name = "small", .number = 6, .type = VY_PB_INT32},
    {.name = "flying", .number = 7, .type = VY_PB_BOOL},
    {.name = "counts", .number = 1000, .type = VY_PB_UINT32, .repeat = 3},
};
static const vy_pb_message state = {.name = "volery.State", .fields = state_fields, .field_count = 8};

static const vy_pb_field timestamp_fields[] = {
    {.name = "seconds", .number = 1, .type = VY_PB_INT64},
    {.name = "nanos", .number = 2, .type = VY_PB_INT32},
};
static const vy_pb_message timestamp = {.name = "google.protobuf.Timestamp",
                                        .file = "google/protobuf/timestamp.proto",
                                        .fields = timestamp_fields,
                                        .field_count = 2};
static const vy_pb_message point = {.name = "foxglove.Vector3", .fields = vector_fields, .field_count = 3};
static const vy_pb_field quaternion_fields[] = {
    {.name = "x", .number = 1, .type = VY_PB_DOUBLE},
    {.name = "y", .number = 2, .type = VY_PB_DOUBLE},
    {.name = "z", .number = 3, .type = VY_PB_DOUBLE},
    {.name = "w", .number = 4, .type = VY_PB_DOUBLE},
};
static const vy_pb_message quaternion = {
    .name = "foxglove.Quaternion", .fields = quaternion_fields, .field_count = 4};
static const vy_pb_field pose_fields[] = {
    {.name = "position", .number = 1, .type = VY_PB_MESSAGE, .message = &point},
    {.name = "orientation", .number = 2, .type = VY_PB_MESSAGE, .message = &quaternion},
};
static const vy_pb_message pose = {.name = "foxglove.Pose", .fields = pose_fields, .field_count = 2};
static const vy_pb_field pose_in_frame_fields[] = {
    {.name = "timestamp", .number = 1, .type = VY_PB_MESSAGE, .message = &timestamp},
    {.name = "frame_id", .number = 2, .type = VY_PB_STRING},
    {.name = "pose", .number = 3, .type = VY_PB_MESSAGE, .message = &pose},
};
static const vy_pb_message pose_in_frame = {
    .name = "foxglove.PoseInFrame", .fields = pose_in_frame_fields, .field_count = 3};

// A list of messages, an enumeration and text: the shape of foxglove.SceneUpdate.
static const vy_pb_enum_value line_types[] = {{"LINE_STRIP", 0}, {"LINE_LOOP", 1}, {"LINE_LIST", 2}};
static const vy_pb_enum line_type = {.name = "volery.Line.Type", .values = line_types, .value_count = 3};
static const vy_pb_field line_fields[] = {
    {.name = "type", .number = 1, .type = VY_PB_ENUM, .enumeration = &line_type},
    {.name = "points", .number = 4, .type = VY_PB_MESSAGE, .message = &point, .repeat = VY_PB_LIST},
    {.name = "label", .number = 5, .type = VY_PB_STRING},
    {.name = "mesh", .number = 6, .type = VY_PB_BYTES},
};
static const vy_pb_message line = {.name = "volery.Line", .fields = line_fields, .field_count = 4};
static const vy_pb_field scene_fields[] = {
    {.name = "lines", .number = 1, .type = VY_PB_MESSAGE, .message = &line, .repeat = VY_PB_LIST},
};
static const vy_pb_message scene = {.name = "volery.Scene", .fields = scene_fields, .field_count = 1};

static const vy_pb_field event_fields[] = {
    {.name = "tick", .number = 1, .type = VY_PB_FIXED64},
    {.name = "text", .number = 2, .type = VY_PB_STRING},
};
static const vy_pb_message event = {.name = "volery.Mark", .fields = event_fields, .field_count = 2};

typedef struct sample {
    vy_mcap_writer *writer;
    vy_pb_codec *state;
    uint16_t channels[4]; // state, pose, event, scene
    uint32_t sequences[4];
    vy_error error;
} sample;

static vy_status add(sample *l, int index, const char *topic, const vy_pb_message *message)
{
    unsigned char *data = NULL;
    size_t size = 0;
    uint16_t schema = 0;
    vy_status status = vy_pb_descriptor_set(message, &data, &size, &l->error);
    if (status == VY_OK)
        status =
            vy_mcap_writer_add_schema(l->writer, message->name, "protobuf", data, size, &schema, &l->error);
    free(data);
    if (status != VY_OK) return status;
    const vy_mcap_pair units = {"units", "SI"};
    const vy_mcap_channel_def channel = {
        .topic = topic, .encoding = "protobuf", .schema = schema, .metadata = &units, .metadata_count = 1};
    return vy_mcap_writer_add_channel(l->writer, &channel, &l->channels[index], &l->error);
}

static vy_status put(sample *l, int index, uint64_t time, const void *data, size_t size)
{
    return vy_mcap_writer_message(l->writer, l->channels[index], l->sequences[index]++, time, data, size,
                                  &l->error);
}

static vy_status put_state(sample *l, uint64_t k)
{
    union cell {
        double real;
        uint64_t natural;
        int64_t whole;
    } cells[15] = {
        {.natural = k},
        {.natural = k * 0x9e3779b97f4a7c15u},
        {.real = 0.5 * (double)k},
        {.real = -(double)k},
        {.real = 1.0 / (double)(k + 1)},
        {.real = (double)k},
        {.real = (double)k + 0.25},
        {.real = (double)k + 0.5},
        {.real = (double)k + 0.75},
        {.whole = -(int64_t)(k * 1000000007u)},
        {.whole = 2500 - (int64_t)k},
        {.natural = k % 2},
        {.natural = 0},
        {.natural = k},
        {.natural = 4294967295u},
    };
    unsigned char *room =
        vy_mcap_writer_begin(l->writer, l->channels[0], l->sequences[0]++, k * STATE_PERIOD_NS,
                             vy_pb_codec_size_max(l->state), &l->error);
    if (room == NULL) return l->error.status;
    vy_mcap_writer_end(l->writer, vy_pb_encode(l->state, cells, room));
    return VY_OK;
}

static vy_status put_pose(sample *l, uint64_t k)
{
    unsigned char room[256];
    vy_pb_writer w = vy_pb_writer_on(room, sizeof room);
    vy_pb_begin(&w, 1);
    vy_pb_put_int(&w, 1, (int64_t)(k * STATE_PERIOD_NS / 1000000000u));
    vy_pb_put_int(&w, 2, (int64_t)(k * STATE_PERIOD_NS % 1000000000u));
    vy_pb_end(&w);
    vy_pb_put_string(&w, 2, "world");
    vy_pb_begin(&w, 3);
    vy_pb_begin(&w, 1);
    vy_pb_put_double(&w, 1, (double)k);
    vy_pb_put_double(&w, 3, -0.125 * (double)k);
    vy_pb_end(&w);
    vy_pb_begin(&w, 2);
    vy_pb_put_double(&w, 4, 1.0);
    vy_pb_end(&w);
    vy_pb_end(&w);
    return put(l, 1, k * STATE_PERIOD_NS, room, w.size);
}

static vy_status put_scene(sample *l, uint64_t k)
{
    unsigned char room[4096];
    vy_pb_writer w = vy_pb_writer_on(room, sizeof room);
    for (uint64_t i = 0; i < 2; ++i) {
        vy_pb_begin(&w, 1);
        vy_pb_put_int(&w, 1, (int64_t)(i + 1));
        for (uint64_t j = 0; j < 20; ++j) { // over 127 bytes: the length takes two
            vy_pb_begin(&w, 4);
            vy_pb_put_double(&w, 1, (double)(k + j));
            vy_pb_put_double(&w, 2, (double)i);
            vy_pb_end(&w);
        }
        vy_pb_put_string(&w, 5, "Fl\xc3\xbcgel");
        vy_pb_put_bytes(&w, 6, "\0\1\2", 3);
        vy_pb_end(&w);
    }
    return put(l, 3, k * STATE_PERIOD_NS, room, w.size);
}

static vy_status put_messages(sample *l)
{
    vy_status status = VY_OK;
    for (uint64_t k = 0; k < STATES && status == VY_OK; ++k) {
        status = put_state(l, k);
        if (status == VY_OK && k % POSE_EVERY == 0) status = put_pose(l, k);
        if (status == VY_OK && k % EVENT_EVERY == 0) {
            unsigned char room[80];
            vy_pb_writer w = vy_pb_writer_on(room, sizeof room);
            vy_pb_put_fixed64(&w, 1, k);
            vy_pb_put_string(&w, 2, "mark \xc3\xbc \xc3(\xff"); // two bytes are no character
            status = put(l, 2, k * STATE_PERIOD_NS, room, w.size);
        }
        if (status == VY_OK && k % SCENE_EVERY == 0) status = put_scene(l, k);
    }
    return status;
}

static vy_status fill(sample *l)
{
    const char scenario[] = "volery: 1\n";
    const vy_mcap_attachment_def attachment = {.name = "scenario.yaml",
                                               .media_type = "application/yaml",
                                               .data = scenario,
                                               .size = sizeof scenario - 1};
    const vy_mcap_pair run[] = {{"seed", "42"}, {"name", "Fl\xc3\xbcgel"}};
    vy_status status = vy_pb_codec_create(&state, &l->state, &l->error);
    if (status == VY_OK) status = add(l, 0, "/state", &state);
    if (status == VY_OK) status = add(l, 1, "/pose", &pose_in_frame);
    if (status == VY_OK) status = add(l, 2, "/events", &event);
    if (status == VY_OK) status = add(l, 3, "/scene", &scene);
    if (status == VY_OK) status = vy_mcap_writer_attachment(l->writer, &attachment, &l->error);
    if (status == VY_OK) status = vy_mcap_writer_metadata(l->writer, "run", run, 2, &l->error);
    if (status == VY_OK) status = put_messages(l);
    vy_pb_codec_destroy(l->state);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: write_log FILE [none|zstd] [threaded]\n");
        return 2;
    }
    vy_mcap_writer_def def = vy_default_mcap_writer_def();
    def.chunk_size = 100000;
    def.library = "volery test";
    for (int i = 2; i < argc; ++i) {
        if (strcmp(argv[i], "none") == 0) def.compression = VY_MCAP_NONE;
        if (strcmp(argv[i], "threaded") == 0) def.threaded = true;
    }
    sample l = {0};
    vy_file_sink *file = NULL;
    vy_status status = vy_file_sink_open(argv[1], NULL, &file, &l.error);
    if (status == VY_OK) status = vy_mcap_writer_open(&def, vy_file_sink_bytes(file), &l.writer, &l.error);
    if (status == VY_OK) status = fill(&l);
    vy_error end;
    const vy_status closed = vy_mcap_writer_close(l.writer, &end);
    if (status == VY_OK && closed != VY_OK) {
        status = closed;
        l.error = end;
    }
    if (status == VY_OK) {
        status = vy_file_sink_commit(file, &l.error);
    } else {
        vy_file_sink_abandon(file);
    }
    if (status != VY_OK) fprintf(stderr, "write_log: %s\n", l.error.text);
    return status == VY_OK ? 0 : 3;
}
