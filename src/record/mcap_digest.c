// mcap_digest.c - items become bytes of one form, messages a chain.
#include "record/mcap_digest.h"
#include "base/assert.h"
#include "base/fail.h"
#include "record/mcap_format.h"

enum { BLOCK_SIZE = 1 << 16 };
static const char digest_tag[] = "volery log digest 1";

// Of a schema or channel.
typedef struct declaration {
    unsigned char digest[DIGEST_SIZE];
    uint32_t number; // of a channel, in the order in which they first speak, from 1; 0: it has not
    bool is_known;
} declaration;

typedef struct declarations {
    declaration *entries; // by id
    size_t count;
} declarations;

struct vy_mcap_digest {
    vy_sha256 *chain;
    mcap_bytes record_digests; // digests of metadata and attachments
    mcap_bytes item;           // one being composed
    mcap_bytes block; // messages on their way to the chain: few large pieces are quicker than many small ones
    declarations schemas, channels;
    uint32_t used_channels; // channels that have had a message
    uint64_t message_count;
    bool has_begun;
    vy_status status; // of the first failure
    vy_error error;
};

static void set_error(vy_mcap_digest *d, vy_status status, const vy_error *error)
{
    if (d->status != VY_OK || status == VY_OK) return;
    d->status = status;
    d->error = *error;
}

static void set_no_memory(vy_mcap_digest *d)
{
    vy_error error;
    set_error(d, vy_fail(&error, VY_NO_MEMORY, "no memory for the digest of a log"), &error);
}

vy_status vy_mcap_digest_create(vy_mcap_digest **out, vy_error *err)
{
    *out = NULL;
    vy_mcap_digest *d = calloc(1, sizeof *d);
    if (d == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for the digest of a log");
    const vy_status status = vy_sha256_create(&d->chain, err);
    if (status != VY_OK) {
        free(d);
        return status;
    }
    *out = d;
    return VY_OK;
}

void vy_mcap_digest_destroy(vy_mcap_digest *d)
{
    if (d == NULL) return;
    vy_sha256_destroy(d->chain);
    mcap_bytes_free(&d->record_digests);
    mcap_bytes_free(&d->item);
    mcap_bytes_free(&d->block);
    free(d->schemas.entries);
    free(d->channels.entries);
    free(d);
}

// Lengths go first: no two items have the same bytes.
static void put_data(mcap_bytes *b, const void *data, size_t size)
{
    mcap_bytes_u64(b, size);
    mcap_bytes_put(b, data, size);
}

static void put_text(mcap_bytes *b, const char *text) { put_data(b, text, strlen(text)); }

// Pairs in the order of their keys, equal ones as they come: each the first of those not yet put.
static void put_pairs(mcap_bytes *b, const vy_mcap_pair *pairs, size_t count)
{
    mcap_bytes_u64(b, count);
    size_t last = count; // the pair put last
    for (size_t k = 0; k < count; ++k) {
        size_t next = count;
        for (size_t i = 0; i < count; ++i) {
            const int order = last == count ? 1 : strcmp(pairs[i].key, pairs[last].key);
            if (order < 0 || (order == 0 && i <= last)) continue;
            if (next == count || strcmp(pairs[i].key, pairs[next].key) < 0) next = i;
        }
        VY_ASSERT(next < count);
        put_text(b, pairs[next].key);
        put_text(b, pairs[next].value);
        last = next;
    }
}

// The digest of the item composed, to `out` bytes.
static bool end_item(vy_mcap_digest *d, unsigned char out[DIGEST_SIZE])
{
    if (d->item.failed) {
        set_no_memory(d);
        return false;
    }
    vy_error error;
    const vy_status status = vy_sha256_of_bytes(d->item.data, d->item.size, out, &error);
    set_error(d, status, &error);
    return status == VY_OK;
}

static void add_record_digest(vy_mcap_digest *d)
{
    unsigned char digest[DIGEST_SIZE];
    VY_ASSERT(!d->has_begun);
    if (!end_item(d, digest)) return;
    mcap_bytes_put(&d->record_digests, digest, sizeof digest);
    if (d->record_digests.failed) set_no_memory(d);
}

void vy_mcap_digest_metadata(vy_mcap_digest *d, const char *name, const vy_mcap_pair *pairs, size_t count)
{
    d->item.size = 0;
    put_text(&d->item, "metadata");
    put_text(&d->item, name);
    put_pairs(&d->item, pairs, count);
    add_record_digest(d);
}

void vy_mcap_digest_attachment(vy_mcap_digest *d, const char *name, const char *media_type, uint64_t log_time,
                               const void *data, size_t size)
{
    d->item.size = 0;
    put_text(&d->item, "attachment");
    put_text(&d->item, name);
    put_text(&d->item, media_type);
    mcap_bytes_u64(&d->item, log_time);
    put_data(&d->item, data, size);
    add_record_digest(d);
}

// The entry of `id` in a table that grows; NULL: no memory.
static declaration *find_or_add_declaration(vy_mcap_digest *d, declarations *table, uint16_t id)
{
    if (id >= table->count) {
        size_t count = table->count < 64 ? 64 : table->count;
        while (count <= id) count *= 2;
        declaration *grown = realloc(table->entries, count * sizeof *grown);
        if (grown == NULL) {
            set_no_memory(d);
            return NULL;
        }
        memset(grown + table->count, 0, (count - table->count) * sizeof *grown);
        table->entries = grown;
        table->count = count;
    }
    return &table->entries[id];
}

void vy_mcap_digest_schema(vy_mcap_digest *d, uint16_t id, const char *name, const char *encoding,
                           const void *data, size_t size)
{
    declaration *entry = find_or_add_declaration(d, &d->schemas, id);
    if (entry == NULL) return;
    d->item.size = 0;
    put_text(&d->item, "schema");
    put_text(&d->item, name);
    put_text(&d->item, encoding);
    put_data(&d->item, data, size);
    entry->is_known = end_item(d, entry->digest);
}

void vy_mcap_digest_channel(vy_mcap_digest *d, uint16_t id, const vy_mcap_channel_def *def)
{
    declaration *entry = find_or_add_declaration(d, &d->channels, id);
    if (entry == NULL) return;
    d->item.size = 0;
    put_text(&d->item, "channel");
    put_text(&d->item, def->topic);
    put_text(&d->item, def->encoding);
    put_pairs(&d->item, def->metadata, def->metadata_count);
    const int has_schema = def->schema < d->schemas.count && d->schemas.entries[def->schema].is_known;
    put_data(&d->item, has_schema ? d->schemas.entries[def->schema].digest : NULL,
             has_schema ? DIGEST_SIZE : 0);
    entry->is_known = end_item(d, entry->digest);
}

bool vy_mcap_digest_has_begun(const vy_mcap_digest *d) { return d->has_begun; }
uint64_t vy_mcap_digest_message_count(const vy_mcap_digest *d) { return d->message_count; }

static int compare_digests(const void *a, const void *b) { return memcmp(a, b, DIGEST_SIZE); }

// The chain begins with all that stands before the messages, in an order that no writer chooses.
static void begin_chain(vy_mcap_digest *d)
{
    if (d->has_begun) return;
    d->has_begun = true;
    if (d->record_digests.size > 0)
        qsort(d->record_digests.data, d->record_digests.size / DIGEST_SIZE, DIGEST_SIZE, compare_digests);
    const uint64_t size = d->record_digests.size;
    vy_sha256_add(d->chain, digest_tag, sizeof digest_tag);
    vy_sha256_add(d->chain, &size, sizeof size);
    vy_sha256_add(d->chain, d->record_digests.data, d->record_digests.size);
}

static void flush_block(vy_mcap_digest *d)
{
    vy_sha256_add(d->chain, d->block.data, d->block.size);
    d->block.size = 0;
}

void vy_mcap_digest_message(vy_mcap_digest *d, uint16_t channel, uint64_t time, const void *data, size_t size)
{
    begin_chain(d);
    if (d->status != VY_OK) return;
    VY_ASSERT(channel < d->channels.count && d->channels.entries[channel].is_known);
    declaration *declared = &d->channels.entries[channel];
    const bool is_first = declared->number == 0;
    if (is_first) declared->number = ++d->used_channels;
    mcap_bytes_u32(&d->block, declared->number);
    if (is_first) mcap_bytes_put(&d->block, declared->digest, DIGEST_SIZE);
    mcap_bytes_u64(&d->block, time);
    mcap_bytes_u64(&d->block, size);
    if (size >= BLOCK_SIZE) { // large enough by itself
        flush_block(d);
        vy_sha256_add(d->chain, data, size);
    } else {
        mcap_bytes_put(&d->block, data, size);
    }
    if (d->block.failed) set_no_memory(d);
    if (d->block.size >= BLOCK_SIZE) flush_block(d);
    d->message_count += 1;
}

vy_status vy_mcap_digest_value(vy_mcap_digest *d, unsigned char out[DIGEST_SIZE], vy_error *err)
{
    begin_chain(d);
    if (d->status != VY_OK) {
        if (err != NULL) *err = d->error;
        return d->status;
    }
    flush_block(d);
    return vy_sha256_value(d->chain, out, err);
}

vy_status vy_mcap_digest_of_log(const unsigned char value[DIGEST_SIZE], const char *name,
                                const vy_mcap_pair *pairs, size_t count, unsigned char out[DIGEST_SIZE],
                                vy_error *err)
{
    mcap_bytes item = {0};
    put_text(&item, digest_tag);
    put_data(&item, value, DIGEST_SIZE);
    put_text(&item, name);
    put_pairs(&item, pairs, count);
    const vy_status status = item.failed ? vy_fail(err, VY_NO_MEMORY, "no memory for the digest of a log")
                                         : vy_sha256_of_bytes(item.data, item.size, out, err);
    mcap_bytes_free(&item);
    return status;
}
