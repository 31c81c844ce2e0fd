// mcap_reader.c - opens a file, keeps its tables, answers lookups.
#include "record/mcap_tables.h"
#include "base/assert.h"
#include "base/fail.h"
#include "record/crc.h"
#include <stdio.h>
#include <zstd.h>

#define READER_COOKIE 0x6d636172u
enum { WINDOW_SIZE = 1 << 16, BLOCK_SIZE = 1 << 14, BUFFERED_READ_MAX = 4096 };

typedef struct mcap_block {
    struct mcap_block *next;
    size_t used, capacity;
    max_align_t data[];
} mcap_block;

vy_mcap_reader_def vy_default_mcap_reader_def(void)
{
    return (vy_mcap_reader_def){
        .cookie = READER_COOKIE,
        .chunk_limit = (uint64_t)256 << 20,
        .memory_limit = (uint64_t)1 << 30,
    };
}

void *vy_mcap_alloc(vy_mcap_reader *r, size_t size)
{
    if (size > r->def.memory_limit) return NULL;
    size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    mcap_block *block = r->blocks;
    if (block == NULL || size > block->capacity - block->used) {
        const size_t capacity = size > BLOCK_SIZE ? size : BLOCK_SIZE;
        if (capacity > r->def.memory_limit - r->memory) return NULL;
        block = malloc(sizeof *block + capacity);
        if (block == NULL) r->no_memory = true;
        if (block == NULL) return NULL;
        *block = (mcap_block){.next = r->blocks, .capacity = capacity};
        r->blocks = block;
        r->memory += capacity;
    }
    void *data = (unsigned char *)block->data + block->used;
    VY_ASSERT(block->used + size <= block->capacity && r->memory <= r->def.memory_limit);
    block->used += size;
    return data;
}

// Room for one more entry in table number `table_index`, which has `count`; NULL when there is none.
static void *grow(vy_mcap_reader *r, void *table, int table_index, size_t count, size_t entry_size)
{
    if (count < r->capacities[table_index]) return table;
    VY_ASSERT(table_index >= 0 && (size_t)table_index < sizeof r->capacities / sizeof r->capacities[0]);
    VY_ASSERT(count == r->capacities[table_index]);
    const size_t capacity = r->capacities[table_index] == 0 ? 16 : 2 * r->capacities[table_index];
    const uint64_t added = (capacity - r->capacities[table_index]) * entry_size;
    if (added > r->def.memory_limit - r->memory) return NULL;
    void *grown = realloc(table, capacity * entry_size);
    if (grown == NULL) r->no_memory = true;
    if (grown == NULL) return NULL;
    r->memory += added;
    r->capacities[table_index] = capacity;
    return grown;
}

// Room for `id` in a map; false when there is none.
static bool grow_ids(vy_mcap_reader *r, mcap_ids *ids, uint16_t id)
{
    if (id < ids->count) return true;
    const size_t count = (size_t)id + 1 < 64 ? 64 : id < UINT16_MAX / 2 ? 2 * (size_t)id : UINT16_MAX + 1;
    const uint64_t added = (count - ids->count) * sizeof *ids->positions;
    VY_ASSERT(id < count && count > ids->count && count <= UINT16_MAX + 1);
    if (added > r->def.memory_limit - r->memory) return false;
    uint32_t *positions = realloc(ids->positions, count * sizeof *positions);
    if (positions == NULL) r->no_memory = true;
    if (positions == NULL) return false;
    memset(positions + ids->count, 0, added);
    ids->positions = positions;
    ids->count = count;
    r->memory += added;
    return true;
}

vy_status vy_mcap_fail_full(const vy_mcap_reader *r, uint64_t offset, vy_error *err)
{
    if (r->no_memory) return vy_fail(err, VY_NO_MEMORY, "no memory for the tables of a log");
    return vy_fail(err, VY_FULL, "byte %llu: the tables of the file need more than %llu bytes of memory",
                   (unsigned long long)offset, (unsigned long long)r->def.memory_limit);
}

static vy_status fail_damaged(uint64_t offset, const char *problem, vy_error *err)
{
    return vy_fail(err, VY_DAMAGED, "byte %llu: %s", (unsigned long long)offset, problem);
}

vy_status vy_mcap_read_buffered(vy_mcap_reader *r, uint64_t offset, void *data, size_t size, vy_error *err)
{
    VY_ASSERT(size <= BUFFERED_READ_MAX && offset <= r->source.size && size <= r->source.size - offset);
    if (offset < r->window_start || offset + size > r->window_start + r->window_size) {
        const uint64_t remaining = r->source.size - offset;
        const size_t window_size = remaining < WINDOW_SIZE ? (size_t)remaining : WINDOW_SIZE;
        r->window_size = 0;
        const vy_status status = r->source.read(r->source.self, offset, r->window, window_size, err);
        if (status != VY_OK) return status;
        r->window_start = offset;
        r->window_size = window_size;
    }
    memcpy(data, r->window + (offset - r->window_start), size);
    return VY_OK;
}

vy_status vy_mcap_read_head(vy_mcap_reader *r, uint64_t offset, uint64_t end, mcap_record *out, vy_error *err)
{
    if (offset > end || end - offset < MCAP_RECORD_HEAD_SIZE) {
        return fail_damaged(offset, "the file ends inside the head of a record", err);
    }
    unsigned char head[MCAP_RECORD_HEAD_SIZE];
    const vy_status status = vy_mcap_read_buffered(r, offset, head, sizeof head, err);
    if (status != VY_OK) return status;
    const uint64_t length = mcap_get_u64(head + 1);
    if (length > end - offset - MCAP_RECORD_HEAD_SIZE) {
        return vy_fail(err, VY_DAMAGED,
                       "byte %llu: a record (opcode %d) of %llu bytes does not fit into the file",
                       (unsigned long long)offset, head[0], (unsigned long long)length);
    }
    *out = (mcap_record){.opcode = head[0], .offset = offset, .length = length};
    return VY_OK;
}

vy_status vy_mcap_read_body(vy_mcap_reader *r, const mcap_record *record, unsigned char **data, vy_error *err)
{
    if (record->length > r->def.memory_limit) return vy_mcap_fail_full(r, record->offset, err);
    unsigned char *body = malloc((size_t)record->length + 1);
    if (body == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for a record of the log");
    const uint64_t body_offset = record->offset + MCAP_RECORD_HEAD_SIZE;
    const vy_status status = r->source.read(r->source.self, body_offset, body, (size_t)record->length, err);
    if (status != VY_OK) {
        free(body);
        return status;
    }
    body[record->length] = 0;
    *data = body;
    return VY_OK;
}

// A text, copied. NULL with bad set: it ends too early or has a NUL inside. NULL without: no memory.
static const char *read_text(vy_mcap_reader *r, mcap_span *s)
{
    const uint32_t size = mcap_span_u32(s);
    const unsigned char *text = mcap_span_take(s, size);
    if (text != NULL && size > 0 && memchr(text, 0, size) != NULL) s->bad = true;
    if (s->bad) return NULL;
    char *copy = vy_mcap_alloc(r, (size_t)size + 1);
    if (copy == NULL) return NULL;
    if (size > 0) memcpy(copy, text, size);
    copy[size] = 0;
    return copy;
}

static const vy_mcap_pair *read_pairs(vy_mcap_reader *r, mcap_span *s, size_t *count)
{
    const uint32_t size = mcap_span_u32(s);
    const unsigned char *data = mcap_span_take(s, size);
    if (data == NULL) return NULL;
    size_t pair_count = 0;
    mcap_span counted = mcap_span_on(data, size);
    for (; mcap_span_remaining(&counted) > 0 && !counted.bad; ++pair_count) {
        mcap_span_take(&counted, mcap_span_u32(&counted));
        mcap_span_take(&counted, mcap_span_u32(&counted));
    }
    s->bad = counted.bad;
    vy_mcap_pair *pairs = s->bad ? NULL : vy_mcap_alloc(r, (pair_count + 1) * sizeof *pairs);
    if (pairs == NULL) return NULL;
    mcap_span pair = mcap_span_on(data, size);
    for (size_t i = 0; i < pair_count; ++i) {
        pairs[i].key = read_text(r, &pair);
        pairs[i].value = read_text(r, &pair);
        s->bad = pair.bad;
        if (pairs[i].key == NULL || pairs[i].value == NULL) return NULL;
    }
    *count = pair_count;
    return pairs;
}

static bool same_schema(const vy_mcap_schema *a, const vy_mcap_schema *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->encoding, b->encoding) == 0 && a->size == b->size &&
           (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

vy_status vy_mcap_add_schema(vy_mcap_reader *r, mcap_span body, uint64_t offset, vy_error *err)
{
    vy_mcap_schema schema = {.id = mcap_span_u16(&body)};
    schema.name = read_text(r, &body);
    schema.encoding = read_text(r, &body);
    schema.size = mcap_span_u32(&body);
    const unsigned char *data = mcap_span_take(&body, schema.size);
    if (body.bad || mcap_span_remaining(&body) != 0) return fail_damaged(offset, "a schema is broken", err);
    if (schema.id == 0) return fail_damaged(offset, "a schema has the id 0", err);
    unsigned char *copy = vy_mcap_alloc(r, schema.size + 1);
    if (schema.name == NULL || schema.encoding == NULL || copy == NULL)
        return vy_mcap_fail_full(r, offset, err);
    if (schema.size > 0) memcpy(copy, data, schema.size);
    schema.data = copy;

    const uint32_t position = mcap_ids_find(&r->schema_ids, schema.id);
    if (position != 0) {
        if (same_schema(&r->schemas[position - 1], &schema)) return VY_OK;
        return fail_damaged(offset, "two different schemas have one id", err);
    }
    if (!grow_ids(r, &r->schema_ids, schema.id)) return vy_mcap_fail_full(r, offset, err);
    vy_mcap_schema *table = grow(r, r->schemas, 0, r->info.schema_count, sizeof schema);
    if (table == NULL) return vy_mcap_fail_full(r, offset, err);
    r->schemas = table;
    table[r->info.schema_count++] = schema;
    VY_ASSERT(schema.id < r->schema_ids.count && r->info.schema_count <= r->capacities[0]);
    r->schema_ids.positions[schema.id] = (uint32_t)r->info.schema_count;
    return VY_OK;
}

vy_status vy_mcap_add_channel(vy_mcap_reader *r, mcap_span body, uint64_t offset, vy_error *err)
{
    vy_mcap_channel channel = {.id = mcap_span_u16(&body)};
    channel.schema = mcap_span_u16(&body);
    channel.topic = read_text(r, &body);
    channel.encoding = read_text(r, &body);
    channel.metadata = read_pairs(r, &body, &channel.metadata_count);
    if (body.bad || mcap_span_remaining(&body) != 0) return fail_damaged(offset, "a channel is broken", err);
    if (channel.topic == NULL || channel.encoding == NULL || channel.metadata == NULL) {
        return vy_mcap_fail_full(r, offset, err);
    }
    if (channel.schema != 0 && mcap_ids_find(&r->schema_ids, channel.schema) == 0) {
        return fail_damaged(offset, "a channel names a schema that was not declared", err);
    }
    const uint32_t position = mcap_ids_find(&r->channel_ids, channel.id);
    if (position != 0) {
        const vy_mcap_channel *declared = &r->channels[position - 1];
        if (declared->schema == channel.schema && strcmp(declared->topic, channel.topic) == 0 &&
            strcmp(declared->encoding, channel.encoding) == 0) {
            return VY_OK;
        }
        return fail_damaged(offset, "two different channels have one id", err);
    }
    if (!grow_ids(r, &r->channel_ids, channel.id)) return vy_mcap_fail_full(r, offset, err);
    vy_mcap_channel *table = grow(r, r->channels, 1, r->info.channel_count, sizeof channel);
    if (table == NULL) return vy_mcap_fail_full(r, offset, err);
    r->channels = table;
    table[r->info.channel_count++] = channel;
    VY_ASSERT(channel.id < r->channel_ids.count && r->info.channel_count <= r->capacities[1]);
    r->channel_ids.positions[channel.id] = (uint32_t)r->info.channel_count;
    return VY_OK;
}

vy_status vy_mcap_add_metadata(vy_mcap_reader *r, mcap_span body, uint64_t offset, vy_error *err)
{
    vy_mcap_metadata metadata = {.name = read_text(r, &body)};
    metadata.pairs = read_pairs(r, &body, &metadata.count);
    if (body.bad || mcap_span_remaining(&body) != 0) return fail_damaged(offset, "metadata is broken", err);
    if (metadata.name == NULL || metadata.pairs == NULL) return vy_mcap_fail_full(r, offset, err);
    vy_mcap_metadata *table = grow(r, r->metadatas, 2, r->info.metadata_count, sizeof metadata);
    if (table == NULL) return vy_mcap_fail_full(r, offset, err);
    r->metadatas = table;
    table[r->info.metadata_count++] = metadata;
    return VY_OK;
}

vy_status vy_mcap_add_attachment(vy_mcap_reader *r, const vy_mcap_attachment *entry, mcap_span texts,
                                 uint64_t offset, vy_error *err)
{
    vy_mcap_attachment attachment = *entry;
    attachment.name = read_text(r, &texts);
    attachment.media_type = read_text(r, &texts);
    if (texts.bad) return fail_damaged(offset, "an attachment is broken", err);
    if (attachment.name == NULL || attachment.media_type == NULL) return vy_mcap_fail_full(r, offset, err);
    vy_mcap_attachment *table = grow(r, r->attachments, 3, r->info.attachment_count, sizeof attachment);
    if (table == NULL) return vy_mcap_fail_full(r, offset, err);
    r->attachments = table;
    table[r->info.attachment_count++] = attachment;
    return VY_OK;
}

vy_status vy_mcap_add_chunk(vy_mcap_reader *r, const mcap_chunk_ref *ref, uint64_t offset, vy_error *err)
{
    mcap_chunk_ref *table = grow(r, r->chunk_refs, 4, r->info.chunk_count, sizeof *ref);
    if (table == NULL) return vy_mcap_fail_full(r, offset, err);
    r->chunk_refs = table;
    table[r->info.chunk_count++] = *ref;
    return VY_OK;
}

void vy_mcap_warn(vy_mcap_reader *r, const char *text)
{
    if (r->info.warning[0] == 0) snprintf(r->info.warning, sizeof r->info.warning, "%s", text);
}

void vy_mcap_clear_tables(vy_mcap_reader *r)
{
    for (size_t i = 0; i < r->schema_ids.count; ++i) r->schema_ids.positions[i] = 0;
    for (size_t i = 0; i < r->channel_ids.count; ++i) r->channel_ids.positions[i] = 0;
    for (mcap_block *block = r->blocks; block != NULL;) {
        mcap_block *next = block->next;
        r->memory -= block->capacity;
        free(block);
        block = next;
    }
    r->blocks = NULL;
    r->info = (vy_mcap_info){.profile = "", .library = "", .file_size = r->source.size};
    r->data_end = 0;
    r->counts_known = false;
}

// Profile and library; the record must stand first.
static vy_status read_header(vy_mcap_reader *r, vy_error *err)
{
    mcap_record record = {0};
    vy_status status = vy_mcap_read_head(r, MCAP_MAGIC_SIZE, r->source.size, &record, err);
    if (status != VY_OK) return status;
    if (record.opcode != MCAP_HEADER) return fail_damaged(MCAP_MAGIC_SIZE, "the header is missing", err);
    unsigned char *body = NULL;
    status = vy_mcap_read_body(r, &record, &body, err);
    if (status != VY_OK) return status;
    mcap_span span = mcap_span_on(body, (size_t)record.length);
    const char *profile = read_text(r, &span);
    const char *library = read_text(r, &span);
    if (span.bad) {
        status = fail_damaged(MCAP_MAGIC_SIZE, "the header is broken", err);
    } else if (profile == NULL || library == NULL) {
        status = vy_mcap_fail_full(r, MCAP_MAGIC_SIZE, err);
    } else {
        r->info.profile = profile;
        r->info.library = library;
    }
    free(body);
    return status;
}

static vy_status check_magic(vy_mcap_reader *r, vy_error *err)
{
    unsigned char magic[MCAP_MAGIC_SIZE];
    if (r->source.size < sizeof magic)
        return fail_damaged(r->source.size, "the file ends before an MCAP file begins", err);
    const vy_status status = vy_mcap_read_buffered(r, 0, magic, sizeof magic, err);
    if (status != VY_OK) return status;
    if (memcmp(magic, MCAP_MAGIC, sizeof magic) == 0) return VY_OK;
    if (memcmp(magic, MCAP_MAGIC, 5) == 0 && memcmp(magic + 6, &MCAP_MAGIC[6], 2) == 0) {
        return vy_fail(err, VY_OTHER_VERSION, "byte 5: an MCAP file of another version (0x%02x)", magic[5]);
    }
    return fail_damaged(0, "this is not an MCAP file", err);
}

// By the summary if it can be trusted, else from the front.
static vy_status read_tables(vy_mcap_reader *r, vy_error *err)
{
    vy_error error;
    vy_status status = check_magic(r, err);
    if (status != VY_OK) return status;
    vy_mcap_clear_tables(r);
    status = vy_mcap_read_summary(r, &error);
    if (status == VY_OK) {
        status = read_header(r, &error);
        if (status == VY_DAMAGED) { // messages can be read without it
            vy_mcap_warn(r, error.text);
            return VY_OK;
        }
        if (status != VY_OK && err != NULL) *err = error;
        return status;
    }
    if (status != VY_DAMAGED) {
        if (err != NULL) *err = error;
        return status;
    }
    const bool is_unclosed = r->data_end == 0; // not even its footer could be read
    vy_mcap_clear_tables(r);
    r->info.recovered = true;
    status = read_header(r, err);
    if (status != VY_OK) return status;
    status = vy_mcap_scan(r, err);
    if (is_unclosed) r->info.truncated = true;
    vy_mcap_warn(r, error.text); // unless the scan has a more precise reason
    return status;
}

// The tables by the scan alone.
static vy_status scan_tables(vy_mcap_reader *r, vy_error *err)
{
    vy_status status = check_magic(r, err);
    vy_mcap_clear_tables(r);
    r->info.recovered = true;
    if (status == VY_OK) status = read_header(r, err);
    return status == VY_OK ? vy_mcap_scan(r, err) : status;
}

static vy_status open_reader(vy_byte_source source, const vy_mcap_reader_def *def,
                             vy_status (*read_tables_by)(vy_mcap_reader *r, vy_error *err),
                             vy_mcap_reader **out, vy_error *err)
{
    *out = NULL;
    vy_mcap_reader *r = calloc(1, sizeof *r);
    if (r == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for a log");
    r->source = source;
    r->def = *def;
    r->window = malloc(WINDOW_SIZE);
    vy_status status = VY_OK;
    if (r->window == NULL) {
        status = vy_fail(err, VY_NO_MEMORY, "no memory for a log");
    }
    if (status == VY_OK) status = read_tables_by(r, err);
    if (status != VY_OK) {
        vy_mcap_reader_close(r);
        return status;
    }
    *out = r;
    return VY_OK;
}

vy_status vy_mcap_reader_open_source(vy_byte_source source, const vy_mcap_reader_def *def,
                                     vy_mcap_reader **out, vy_error *err)
{
    *out = NULL;
    const vy_mcap_reader_def limits = def != NULL ? *def : vy_default_mcap_reader_def();
    if (limits.cookie != READER_COOKIE) {
        return vy_fail(err, VY_BAD_VALUE, "log: start from vy_default_mcap_reader_def()");
    }
    return open_reader(source, &limits, read_tables, out, err);
}

vy_status vy_mcap_open_data_section(const vy_mcap_reader *reader, vy_mcap_reader **out, vy_error *err)
{
    return open_reader(reader->source, &reader->def, scan_tables, out, err);
}

vy_status vy_mcap_reader_open(const char *path, const vy_mcap_reader_def *def, vy_mcap_reader **out,
                              vy_error *err)
{
    *out = NULL;
    vy_byte_source source;
    vy_status status = vy_file_source_open(path, &source, err);
    if (status != VY_OK) return status;
    status = vy_mcap_reader_open_source(source, def, out, err);
    if (status != VY_OK) {
        vy_file_source_close(&source);
        if (err != NULL) snprintf(err->file, sizeof err->file, "%s", path);
        return status;
    }
    (*out)->owns_source = true;
    return VY_OK;
}

void vy_mcap_reader_close(vy_mcap_reader *r)
{
    if (r == NULL) return;
    if (r->owns_source) vy_file_source_close(&r->source);
    for (mcap_block *block = r->blocks; block != NULL;) {
        mcap_block *next = block->next;
        free(block);
        block = next;
    }
    free(r->schemas);
    free(r->channels);
    free(r->attachments);
    free(r->metadatas);
    free(r->chunk_refs);
    free(r->schema_ids.positions);
    free(r->channel_ids.positions);
    free(r->window);
    mcap_bytes_free(&r->packed);
    mcap_bytes_free(&r->best.records);
    mcap_bytes_free(&r->trial.records);
    ZSTD_freeDCtx(r->zstd);
    free(r);
}

const vy_mcap_info *vy_mcap_reader_info(const vy_mcap_reader *r) { return &r->info; }

const vy_mcap_channel *vy_mcap_reader_channel(const vy_mcap_reader *r, size_t index)
{
    return index < r->info.channel_count ? &r->channels[index] : NULL;
}

const vy_mcap_attachment *vy_mcap_reader_attachment(const vy_mcap_reader *r, size_t index)
{
    return index < r->info.attachment_count ? &r->attachments[index] : NULL;
}

const vy_mcap_metadata *vy_mcap_reader_metadata(const vy_mcap_reader *r, size_t index)
{
    return index < r->info.metadata_count ? &r->metadatas[index] : NULL;
}

const vy_mcap_schema *vy_mcap_reader_schema(const vy_mcap_reader *r, size_t index)
{
    return index < r->info.schema_count ? &r->schemas[index] : NULL;
}

const vy_mcap_channel *vy_mcap_reader_find_channel(const vy_mcap_reader *r, const char *topic)
{
    for (size_t i = 0; i < r->info.channel_count; ++i) {
        if (strcmp(r->channels[i].topic, topic) == 0) return &r->channels[i];
    }
    return NULL;
}

const vy_mcap_channel *vy_mcap_reader_channel_by_id(const vy_mcap_reader *r, uint16_t id)
{
    const uint32_t position = mcap_ids_find(&r->channel_ids, id);
    return position != 0 ? &r->channels[position - 1] : NULL;
}

const vy_mcap_schema *vy_mcap_reader_schema_by_id(const vy_mcap_reader *r, uint16_t id)
{
    const uint32_t position = mcap_ids_find(&r->schema_ids, id);
    return position != 0 ? &r->schemas[position - 1] : NULL;
}

const vy_mcap_attachment *vy_mcap_reader_find_attachment(const vy_mcap_reader *r, const char *name)
{
    for (size_t i = 0; i < r->info.attachment_count; ++i) {
        if (strcmp(r->attachments[i].name, name) == 0) return &r->attachments[i];
    }
    return NULL;
}

const char *vy_mcap_reader_find_value(const vy_mcap_reader *r, const char *name, const char *key)
{
    for (size_t i = 0; i < r->info.metadata_count; ++i) {
        if (strcmp(r->metadatas[i].name, name) != 0) continue;
        for (size_t j = 0; j < r->metadatas[i].count; ++j) {
            if (strcmp(r->metadatas[i].pairs[j].key, key) == 0) return r->metadatas[i].pairs[j].value;
        }
    }
    return NULL;
}

vy_status vy_mcap_reader_read_attachment(vy_mcap_reader *r, const vy_mcap_attachment *attachment,
                                         unsigned char **data, size_t *size, vy_error *err)
{
    mcap_record record = {0};
    const uint64_t offset = attachment->offset;
    vy_status status = vy_mcap_read_head(r, offset, r->source.size, &record, err);
    if (status != VY_OK) return status;
    if (record.opcode != MCAP_ATTACHMENT || record.length != attachment->length - MCAP_RECORD_HEAD_SIZE) {
        return fail_damaged(offset, "the attachment does not match its index", err);
    }
    unsigned char *body = NULL;
    status = vy_mcap_read_body(r, &record, &body, err);
    if (status != VY_OK) return status;
    mcap_span span = mcap_span_on(body, (size_t)record.length);
    mcap_span_take(&span, 16);
    mcap_span_take(&span, mcap_span_u32(&span));
    mcap_span_take(&span, mcap_span_u32(&span));
    const uint64_t length = mcap_span_u64(&span);
    const unsigned char *content = mcap_span_take(&span, length);
    const unsigned char *crc_end = span.at;
    const uint32_t crc = mcap_span_u32(&span);
    if (span.bad || mcap_span_remaining(&span) != 0 || length != attachment->size) {
        status = fail_damaged(offset, "an attachment is broken", err);
    } else if (crc != 0 && crc != vy_crc32(0, body, (size_t)(crc_end - body))) {
        status = fail_damaged(offset, "an attachment is damaged: its CRC differs", err);
    }
    if (status != VY_OK) {
        free(body);
        return status;
    }
    memmove(body, content, (size_t)length);
    body[length] = 0;
    *data = body;
    *size = (size_t)length;
    return VY_OK;
}
