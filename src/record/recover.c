// recover.c - makes a whole log from what a killed run left.
#include "base/fail.h"
#include "base/real.h"
#include "record/log.h"
#include "record/mcap_tables.h"
#include "record/proof.h"
#include <inttypes.h>
#include <stdlib.h>

typedef struct log_copy {
    vy_log *log;
    vy_mcap_writer *writer;
    int has_result;        // the run's own result is in it, and nothing before it is missing
    uint16_t *schema_ids;  // by their old ids
    uint16_t *channel_ids; // by their old ids
} log_copy;

static vy_status copy_tables(const log_copy *c, vy_error *err)
{
    const vy_mcap_reader *reader = c->log->reader;
    const vy_mcap_info *info = vy_mcap_reader_info(reader);
    vy_status status = VY_OK;
    for (size_t i = 0; i < info->schema_count && status == VY_OK; ++i) {
        const vy_mcap_schema *s = vy_mcap_reader_schema(reader, i);
        status = vy_mcap_writer_add_schema(c->writer, s->name, s->encoding, s->data, s->size,
                                           &c->schema_ids[s->id], err);
    }
    for (size_t i = 0; i < info->channel_count && status == VY_OK; ++i) {
        const vy_mcap_channel *from = vy_mcap_reader_channel(reader, i);
        const vy_mcap_channel_def to = {.topic = from->topic,
                                        .encoding = from->encoding,
                                        .schema = c->schema_ids[from->schema],
                                        .metadata = from->metadata,
                                        .metadata_count = from->metadata_count};
        if (strcmp(from->topic, TOPIC_PROOF) != 0) // proofs are rebuilt
            status = vy_mcap_writer_add_channel(c->writer, &to, &c->channel_ids[from->id], err);
    }
    for (size_t i = 0; i < info->metadata_count && status == VY_OK; ++i) {
        const vy_mcap_metadata *m = vy_mcap_reader_metadata(reader, i);
        if (strcmp(m->name, METADATA_RESULT) == 0 || strcmp(m->name, METADATA_SIGNATURE) == 0) continue;
        status = vy_mcap_writer_metadata(c->writer, m->name, m->pairs, m->count, err);
    }
    return status;
}

static vy_status copy_attachments(const log_copy *c, vy_error *err)
{
    vy_mcap_reader *reader = c->log->reader;
    const size_t count = vy_mcap_reader_info(reader)->attachment_count;
    vy_status status = VY_OK;
    for (size_t i = 0; i < count && status == VY_OK; ++i) {
        const vy_mcap_attachment *from = vy_mcap_reader_attachment(reader, i);
        unsigned char *data = NULL;
        size_t size = 0;
        status = vy_mcap_reader_read_attachment(reader, from, &data, &size, err);
        const vy_mcap_attachment_def to = {.name = from->name,
                                           .media_type = from->media_type,
                                           .log_time = from->log_time,
                                           .create_time = from->create_time,
                                           .data = data,
                                           .size = size};
        if (status == VY_OK) status = vy_mcap_writer_attachment(c->writer, &to, err);
        free(data);
    }
    return status;
}

static vy_status copy_messages(const log_copy *c, vy_error *err)
{
    vy_mcap_cursor *cursor = NULL;
    vy_mcap_message m;
    vy_status status = vy_mcap_cursor_open(c->log->reader, NULL, &cursor, err);
    if (status != VY_OK) return status;
    while (status == VY_OK && vy_mcap_cursor_next(cursor, &m)) {
        if (c->channel_ids[m.channel] == 0) continue;
        status = vy_mcap_writer_message(c->writer, c->channel_ids[m.channel], m.sequence, m.log_time, m.data,
                                        m.size, err);
    }
    if (status == VY_OK) status = vy_mcap_cursor_status(cursor, err);
    vy_mcap_cursor_close(cursor);
    return status;
}

// The run's own result if it is in the log, else that it was cut off.
static vy_status write_result(const log_copy *c, vy_error *err)
{
    const vy_log_info *info = &c->log->info;
    const char *status =
        c->has_result ? vy_mcap_reader_find_value(c->log->reader, METADATA_RESULT, "status") : STATUS_CUT_OFF;
    return vy_result_write(c->writer, status, info->last_tick, info->final_hash, NULL, err);
}

static vy_status write_all(log_copy *c, vy_byte_sink sink, vy_error *err)
{
    const vy_mcap_info *info = vy_mcap_reader_info(c->log->reader);
    vy_mcap_writer_def def = vy_default_mcap_writer_def();
    def.profile = info->profile;
    def.library = info->library;
    // Compressed as before: a reader of compressed chunks has a decompressor.
    def.compression = c->log->reader->zstd != NULL ? VY_MCAP_ZSTD : VY_MCAP_NONE;
    def.digest = vy_digest_available();
    uint16_t proof_channel = 0;
    vy_status status = vy_mcap_writer_open(&def, sink, &c->writer, err);
    if (status != VY_OK) return status;
    if (def.digest) status = vy_proof_add_channel(c->writer, &proof_channel, err);
    if (status == VY_OK) status = copy_tables(c, err);
    if (status == VY_OK) status = copy_attachments(c, err);
    if (status == VY_OK) status = copy_messages(c, err);
    if (status == VY_OK) status = write_result(c, err);
    const vy_status close_status = vy_mcap_writer_close(c->writer, status == VY_OK ? err : NULL);
    return status == VY_OK ? close_status : status;
}

static vy_status write_log(vy_log *log, const char *to, vy_error *err)
{
    enum { ID_COUNT = UINT16_MAX + 1 };
    const vy_mcap_info *info = vy_mcap_reader_info(log->reader);
    const char *status_word = vy_mcap_reader_find_value(log->reader, METADATA_RESULT, "status");
    log_copy c = {.log = log, .has_result = status_word != NULL && !info->truncated};
    c.schema_ids = calloc(2 * (size_t)ID_COUNT, sizeof *c.schema_ids);
    if (c.schema_ids == NULL) return vy_fail(err, VY_NO_MEMORY, "out of memory");
    c.channel_ids = c.schema_ids + ID_COUNT;
    vy_file_sink *file = NULL;
    // Not as TO.part: that is where the killed run was writing.
    vy_status status = vy_file_sink_open_as(to, VY_FILE_RECOVERED_SUFFIX, NULL, &file, err);
    if (status == VY_OK) {
        status = write_all(&c, vy_file_sink_bytes(file), err);
        if (status == VY_OK)
            status = vy_file_sink_commit(file, err);
        else
            vy_file_sink_discard(file);
    }
    free(c.schema_ids);
    return status;
}

vy_status vy_log_recover(const char *path, const char *to, vy_log_info *info, vy_error *err)
{
    FPU_SCOPE;
    vy_log *log = NULL;
    if (vy_file_has_writer(path))
        return vy_fail(err, VY_BAD_STATE, "%.140s is being written by another process", path);
    vy_status status = vy_log_open(path, &log, err);
    if (status != VY_OK) return status;
    const int is_complete = log->info.complete || log->info.recovered;
    if (is_complete)
        status = vy_fail(err, VY_BAD_STATE, "%.140s is whole: there is nothing to recover", path);
    if (status == VY_OK) status = write_log(log, to, err);
    vy_log_close(log);
    if (status != VY_OK || info == NULL) return status;
    status = vy_log_open(to, &log, err);
    if (status == VY_OK) *info = vy_log_get_info(log);
    vy_log_close(log);
    return status;
}
