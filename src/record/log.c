// log.c - opens a log and reads its metadata.
#include "record/log.h"
#include "base/real.h"
#include "base/fail.h"
#include "volery/version.h"
#include <errno.h>
#include <stdlib.h>

static uint64_t metadata_number(const vy_log *log, const char *metadata, const char *key, int base)
{
    const char *text = vy_mcap_reader_find_value(log->reader, metadata, key);
    return text != NULL ? strtoull(text, NULL, base) : 0;
}

static void copy_text(char *out, size_t capacity, const char *text)
{
    snprintf(out, capacity, "%s", text != NULL ? text : "");
}

// Where the log begins.
static vy_status find_first_tick(vy_log *log, vy_error *err)
{
    vy_log_info *info = &log->info;
    vy_mcap_cursor *cursor = NULL;
    vy_status status = vy_log_cursor_open(log, TOPIC_STATE, &cursor, err);
    if (status != VY_OK) return status;
    state_record first_state;
    status = vy_state_next(cursor, &first_state, err);
    if (status == VY_OK) {
        info->first_tick = info->last_tick = first_state.tick;
        info->final_hash = first_state.hash;
    } else if (status == VY_NOT_FOUND) {
        status = vy_fail(err, VY_DAMAGED, "it was cut off before its first chunk was complete");
    }
    vy_mcap_cursor_close(cursor);
    return status;
}

// A number that must be there, all of it.
static int read_number(const vy_log *log, const char *key, int base, uint64_t *out)
{
    const char *text = vy_mcap_reader_find_value(log->reader, METADATA_RESULT, key);
    if (text == NULL || text[0] == '\0' || text[strspn(text, "0123456789abcdef")] != '\0') return 0;
    char *end = NULL;
    errno = 0;
    *out = strtoull(text, &end, base);
    return errno == 0 && *end == '\0';
}

// Where the log ends: by its result, and in a log that was cut off by its last hash.
static vy_status find_last_tick(vy_log *log, vy_error *err)
{
    vy_log_info *info = &log->info;
    if (info->status[0] != '\0') {
        if (read_number(log, "last_tick", 10, &info->last_tick) && info->last_tick >= info->first_tick &&
            read_number(log, "final_hash", 16, &info->final_hash))
            return VY_OK;
        return vy_fail(err, VY_DAMAGED, "its result is broken");
    }
    const vy_mcap_channel *hashes_channel = vy_mcap_reader_find_channel(log->reader, TOPIC_HASHES);
    if (hashes_channel == NULL) return vy_fail(err, VY_DAMAGED, "the log has no channel %s", TOPIC_HASHES);
    vy_mcap_message last_message;
    const vy_status status =
        vy_mcap_reader_latest(log->reader, hashes_channel->id, UINT64_MAX, &last_message, err);
    if (status == VY_NOT_FOUND) return VY_OK;
    if (status != VY_OK) return status;
    vy_pb_reader reader = vy_pb_reader_on(last_message.data, last_message.size);
    vy_pb_item item;
    uint64_t tick = 0;
    while (vy_pb_next(&reader, &item)) {
        if (item.number == HASHES_FIRST_TICK) tick = item.value;
        if (item.number == HASHES_LIST && item.wire == 2 && item.size >= 8) {
            info->last_tick = tick + item.size / 8 - 1;
            memcpy(&info->final_hash, item.data + (item.size / 8 - 1) * 8, 8);
        }
    }
    if (info->last_tick < info->first_tick)
        return vy_fail(err, VY_DAMAGED, "its hashes end before its first full state");
    return VY_OK;
}

static vy_status read_info(vy_log *log, vy_error *err)
{
    vy_log_info *info = &log->info;
    const vy_mcap_reader *reader = log->reader;
    const char *format = vy_mcap_reader_find_value(reader, METADATA_RUN, "format");
    if (format == NULL) return vy_fail(err, VY_BAD_SYNTAX, "this is an MCAP file, but not a log of Volery");
    copy_text(info->version, sizeof info->version,
              vy_mcap_reader_find_value(reader, METADATA_RUN, "version"));
    if (strcmp(format, LOG_FORMAT) != 0) {
        return vy_fail(err, VY_OTHER_VERSION,
                       "log format %.20s, written by Volery %s; this program reads format %s", format,
                       info->version, LOG_FORMAT);
    }
    const vy_mcap_info *mcap_info = vy_mcap_reader_info(reader);
    info->physics = (uint32_t)metadata_number(log, METADATA_RUN, "physics", 10);
    info->seed = metadata_number(log, METADATA_RUN, "seed", 10);
    info->config_hash = metadata_number(log, METADATA_RUN, "config_hash", 16);
    info->every = metadata_number(log, METADATA_RUN, "every", 10);
    info->snapshot = metadata_number(log, METADATA_RUN, "snapshot", 10);
    log->display_period = metadata_number(log, METADATA_RUN, "display", 10);
    info->drone_count = (uint32_t)metadata_number(log, METADATA_RUN, "drones", 10);
    info->body_count = info->drone_count + (uint32_t)metadata_number(log, METADATA_RUN, "bodies", 10);
    info->joint_count = (uint32_t)metadata_number(log, METADATA_RUN, "joints", 10);
    info->has_parent = vy_mcap_reader_find_value(reader, METADATA_RUN, "parent_hash") != NULL;
    info->parent_hash = metadata_number(log, METADATA_RUN, "parent_hash", 16);
    info->parent_tick = metadata_number(log, METADATA_RUN, "parent_tick", 10);
    const char *dt = vy_mcap_reader_find_value(reader, METADATA_RUN, "dt");
    info->dt = dt != NULL ? strtod(dt, NULL) : 0.0;
    info->messages = mcap_info->message_count;
    copy_text(info->status, sizeof info->status,
              vy_mcap_reader_find_value(reader, METADATA_RESULT, "status"));
    if (mcap_info->recovered)
        info->status[0] = '\0'; // the result is written before the last chunk, which may be lost
    info->recovered = strcmp(info->status, STATUS_CUT_OFF) == 0;
    info->complete = info->status[0] != '\0' && !info->recovered;
    if (!(info->dt > 0.0 && info->dt <= 1.0) || info->drone_count > info->body_count ||
        info->body_count > mcap_info->channel_count) {
        return vy_fail(err, VY_DAMAGED, "its metadata is damaged");
    }
    if (mcap_info->recovered && !mcap_info->truncated)
        return vy_fail(err, VY_DAMAGED, "%s", mcap_info->warning);
    const vy_status status = find_first_tick(log, err);
    return status == VY_OK ? find_last_tick(log, err) : status;
}

// Names of drones and bodies are the middle part of the topics of their truth, in order of creation, drones
// first.
static vy_status read_names(vy_log *log, vy_error *err)
{
    log->names = calloc((size_t)log->info.body_count + 1, sizeof log->names[0]);
    if (log->names == NULL) return vy_fail(err, VY_NO_MEMORY, "out of memory");
    const size_t channel_count = vy_mcap_reader_info(log->reader)->channel_count;
    uint32_t body = 0;
    for (size_t i = 0; i < channel_count && body < log->info.body_count; ++i) {
        static const char suffix[] = "/truth";
        const char *prefix = body < log->info.drone_count ? "/drones/" : "/bodies/";
        const char *topic = vy_mcap_reader_channel(log->reader, i)->topic;
        const size_t size = strlen(topic), prefix_size = strlen(prefix),
                     fixed_size = prefix_size + sizeof suffix - 1;
        if (size <= fixed_size || memcmp(topic, prefix, prefix_size) != 0) continue;
        if (strcmp(topic + size - (sizeof suffix - 1), suffix) != 0) continue;
        char *name = calloc(size - fixed_size + 1, 1);
        if (name == NULL) return vy_fail(err, VY_NO_MEMORY, "out of memory");
        memcpy(name, topic + prefix_size, size - fixed_size);
        log->names[body++] = name;
    }
    if (body < log->info.body_count)
        return vy_fail(err, VY_DAMAGED, "the channel of a drone or body is missing");
    return VY_OK;
}

static vy_status read_scenario(vy_log *log, vy_error *err)
{
    const vy_mcap_attachment *attachment = vy_mcap_reader_find_attachment(log->reader, SCENARIO_NAME);
    if (attachment == NULL) return vy_fail(err, VY_DAMAGED, "it has no scenario in it");
    unsigned char *data = NULL;
    size_t size = 0;
    const vy_status status = vy_mcap_reader_read_attachment(log->reader, attachment, &data, &size, err);
    log->scenario = (char *)data;
    return status;
}

vy_status vy_log_open_reader(vy_mcap_reader *reader, const char *path, vy_log **out, vy_error *err)
{
    *out = NULL;
    vy_error error = {VY_OK, 0, 0, "", ""};
    vy_log *log = calloc(1, sizeof *log);
    if (log == NULL) {
        vy_mcap_reader_close(reader);
        return vy_fail(err, VY_NO_MEMORY, "%s: out of memory", path);
    }
    log->reader = reader;
    log->path = malloc(strlen(path) + 1);
    vy_status status =
        log->path != NULL ? read_info(log, &error) : vy_fail(&error, VY_NO_MEMORY, "out of memory");
    if (log->path != NULL) strcpy(log->path, path);
    if (status == VY_OK) status = read_names(log, &error);
    if (status == VY_OK) status = read_scenario(log, &error);
    if (status != VY_OK) {
        vy_log_close(log);
        return vy_fail(err, status, "%s: %s", path, error.text);
    }
    *out = log;
    return VY_OK;
}

vy_status vy_log_open(const char *path, vy_log **out, vy_error *err)
{
    FPU_SCOPE;
    *out = NULL;
    vy_error error = {VY_OK, 0, 0, "", ""};
    vy_mcap_reader *reader = NULL;
    const vy_status status = vy_mcap_reader_open(path, NULL, &reader, &error);
    if (status == VY_OK) return vy_log_open_reader(reader, path, out, err);
    if (strncmp(error.text, path, strlen(path)) == 0)
        return vy_fail(err, status, "%s", error.text); // it is named
    return vy_fail(err, status, "%s: %s", path, error.text);
}

void vy_log_close(vy_log *log)
{
    if (log == NULL) return;
    for (uint32_t i = 0; log->names != NULL && i < log->info.body_count; ++i) free(log->names[i]);
    free(log->names);
    free(log->scenario);
    free(log->path);
    vy_mcap_reader_close(log->reader);
    free(log);
}

vy_status vy_log_read_attachment(vy_log *log, const char *name, char **data, size_t *size, vy_error *err)
{
    const vy_mcap_attachment *attachment = vy_mcap_reader_find_attachment(log->reader, name);
    if (attachment == NULL) return vy_fail(err, VY_NOT_FOUND, "the log has no file %.60s in it", name);
    unsigned char *bytes = NULL;
    const vy_status status = vy_mcap_reader_read_attachment(log->reader, attachment, &bytes, size, err);
    *data = (char *)bytes;
    return status;
}

vy_log_info vy_log_get_info(const vy_log *log) { return log->info; }
const char *vy_log_scenario(const vy_log *log) { return log->scenario; }
const char *vy_log_path(const vy_log *log) { return log->path; }

const char *vy_log_name(const vy_log *log, uint32_t number)
{
    return number < log->info.body_count ? log->names[number] : NULL;
}

vy_status vy_log_verify(vy_log *log, vy_error *err) { return vy_mcap_reader_verify(log->reader, err); }
