// prove.c - reads a log from front to back and holds it against its own digests and its signature.
#include "base/fail.h"
#include "base/real.h"
#include "record/log.h"
#include "record/mcap_digest.h"
#include "record/proof.h"
#include <inttypes.h>
#include <stdlib.h>

// What a log says before its messages, and its channels; `*proof_channel` is that of the proofs, 0: none.
static vy_status digest_head(vy_log *log, vy_mcap_digest *d, uint16_t *proof_channel, vy_error *err)
{
    vy_mcap_reader *reader = log->reader;
    const vy_mcap_info *info = vy_mcap_reader_info(reader);
    *proof_channel = 0;
    for (size_t i = 0; i < info->metadata_count; ++i) {
        const vy_mcap_metadata *metadata = vy_mcap_reader_metadata(reader, i);
        if (strcmp(metadata->name, METADATA_RESULT) == 0 || strcmp(metadata->name, METADATA_SIGNATURE) == 0)
            continue;
        vy_mcap_digest_metadata(d, metadata->name, metadata->pairs, metadata->count);
    }
    for (size_t i = 0; i < info->schema_count; ++i) {
        const vy_mcap_schema *schema = vy_mcap_reader_schema(reader, i);
        vy_mcap_digest_schema(d, schema->id, schema->name, schema->encoding, schema->data, schema->size);
    }
    for (size_t i = 0; i < info->channel_count; ++i) {
        const vy_mcap_channel *channel = vy_mcap_reader_channel(reader, i);
        const vy_mcap_channel_def def = {.topic = channel->topic,
                                         .encoding = channel->encoding,
                                         .schema = channel->schema,
                                         .metadata = channel->metadata,
                                         .metadata_count = channel->metadata_count};
        vy_mcap_digest_channel(d, channel->id, &def);
        if (strcmp(channel->topic, TOPIC_PROOF) == 0) *proof_channel = channel->id;
    }
    vy_status status = VY_OK;
    for (size_t i = 0; i < info->attachment_count && status == VY_OK; ++i) {
        const vy_mcap_attachment *attachment = vy_mcap_reader_attachment(reader, i);
        unsigned char *data = NULL;
        size_t size = 0;
        status = vy_mcap_reader_read_attachment(reader, attachment, &data, &size, err);
        if (status == VY_OK)
            vy_mcap_digest_attachment(d, attachment->name, attachment->media_type, attachment->log_time, data,
                                      size);
        free(data);
    }
    return status;
}

// Is the proof in a message that of what went before it?
static vy_status check_proof(const vy_mcap_message *m, vy_mcap_digest *d, vy_log_proof *out, vy_error *err)
{
    unsigned char value[DIGEST_SIZE];
    vy_pb_reader reader = vy_pb_reader_on(m->data, m->size);
    vy_pb_item item;
    int match_count = 0;
    const vy_status status = vy_mcap_digest_value(d, value, err);
    if (status != VY_OK) return status;
    while (vy_pb_next(&reader, &item)) {
        if (item.number == PROOF_MESSAGES) match_count += item.value == vy_mcap_digest_message_count(d);
        if (item.number == PROOF_DIGEST)
            match_count += item.size == DIGEST_SIZE && memcmp(item.data, value, DIGEST_SIZE) == 0;
    }
    if (match_count != 2 || reader.bad)
        return vy_fail(err, VY_DAMAGED, "it was changed: the digest after %.6g s is not that of %s",
                       (double)m->log_time * 1e-9,
                       out->proofs == 0 ? "its head and first messages" : "the messages before it");
    out->proofs += 1;
    out->messages = vy_mcap_digest_message_count(d);
    vy_hex_encode(value, DIGEST_SIZE, out->digest);
    return VY_OK;
}

static vy_status check_messages(vy_log *log, vy_mcap_digest *d, uint16_t proof_channel, vy_log_proof *out,
                                vy_error *err)
{
    vy_mcap_cursor *cursor = NULL;
    vy_mcap_message m;
    vy_status status = vy_mcap_cursor_open(log->reader, NULL, &cursor, err);
    if (status != VY_OK) return status;
    while (status == VY_OK && vy_mcap_cursor_next(cursor, &m)) {
        if (m.channel == proof_channel)
            status = check_proof(&m, d, out, err);
        else
            vy_mcap_digest_message(d, m.channel, m.log_time, m.data, m.size);
    }
    if (status == VY_OK) status = vy_mcap_cursor_status(cursor, err);
    vy_mcap_cursor_close(cursor);
    if (status == VY_OK && vy_mcap_digest_message_count(d) != out->messages)
        status = vy_fail(err, VY_DAMAGED, "it was changed: its last messages have no digest after them");
    return status;
}

// The digest in the result, over everything; it is computed into `digest`.
static vy_status check_result(const vy_log *log, vy_mcap_digest *d, vy_log_proof *out,
                              unsigned char digest[DIGEST_SIZE], vy_error *err)
{
    static const char *const keys[] = {"status", "last_tick", "final_hash"};
    enum { PAIRS = sizeof keys / sizeof keys[0] };
    vy_mcap_pair pairs[PAIRS];
    unsigned char messages_digest[DIGEST_SIZE], stated_digest[DIGEST_SIZE];
    const vy_mcap_reader *reader = log->reader;
    for (int i = 0; i < PAIRS; ++i) {
        const char *value = vy_mcap_reader_find_value(reader, METADATA_RESULT, keys[i]);
        pairs[i] = (vy_mcap_pair){keys[i], value != NULL ? value : ""};
    }
    vy_status status = vy_mcap_digest_value(d, messages_digest, err);
    if (status == VY_OK)
        status = vy_mcap_digest_of_log(messages_digest, METADATA_RESULT, pairs, PAIRS, digest, err);
    if (status != VY_OK) return status;
    if (!vy_hex_decode(vy_mcap_reader_find_value(reader, METADATA_RESULT, "digest"), stated_digest,
                       DIGEST_SIZE) ||
        memcmp(stated_digest, digest, DIGEST_SIZE) != 0)
        return vy_fail(err, VY_DAMAGED, "it was changed: the digest in its result is not that of the log");
    vy_hex_encode(digest, DIGEST_SIZE, out->digest);
    return VY_OK;
}

static vy_status check_signature(const vy_log *log, const unsigned char digest[DIGEST_SIZE],
                                 vy_log_proof *out, vy_error *err)
{
    unsigned char signed_bytes[SIGNED_SIZE], key[PUBLIC_KEY_SIZE], signature[SIGNATURE_SIZE];
    const vy_mcap_reader *reader = log->reader;
    const char *algorithm = vy_mcap_reader_find_value(reader, METADATA_SIGNATURE, "algorithm");
    if (algorithm == NULL) return VY_OK;
    if (strcmp(algorithm, "ed25519") != 0 ||
        !vy_hex_decode(vy_mcap_reader_find_value(reader, METADATA_SIGNATURE, "public_key"), key,
                       sizeof key) ||
        !vy_hex_decode(vy_mcap_reader_find_value(reader, METADATA_SIGNATURE, "signature"), signature,
                       sizeof signature))
        return vy_fail(err, VY_DAMAGED, "its signature is broken");
    memcpy(signed_bytes, SIGNATURE_TAG, sizeof SIGNATURE_TAG);
    memcpy(signed_bytes + sizeof SIGNATURE_TAG, digest, DIGEST_SIZE);
    const vy_status status = vy_signature_check(key, signed_bytes, sizeof signed_bytes, signature, err);
    if (status != VY_OK) return status;
    out->is_signed = 1;
    vy_hex_encode(key, sizeof key, out->signer);
    return VY_OK;
}

// Checksums first: they name a place. A file that another program wrote may have none.
static vy_status check_crc(vy_log *log, vy_log_proof *out, vy_error *err)
{
    const vy_mcap_info *info = vy_mcap_reader_info(log->reader);
    if (info->recovered)
        return VY_OK; // of a log that was cut off, every chunk was checked when it was opened
    return vy_mcap_reader_check(log->reader, &out->has_crc, err);
}

vy_status vy_log_prove(vy_log *log, vy_log_proof *out, vy_error *err)
{
    FPU_SCOPE;
    unsigned char digest[DIGEST_SIZE];
    uint16_t proof_channel = 0;
    vy_mcap_digest *d = NULL;
    *out = (vy_log_proof){.has_crc = 1};
    vy_status status = check_crc(log, out, err);
    if (status == VY_OK) status = vy_mcap_digest_create(&d, err);
    if (status == VY_OK) status = digest_head(log, d, &proof_channel, err);
    const int is_finished = log->info.status[0] != '\0';
    out->has_digest =
        proof_channel != 0 || vy_mcap_reader_find_value(log->reader, METADATA_RESULT, "digest") != NULL;
    if (status == VY_OK && out->has_digest) {
        status = check_messages(log, d, proof_channel, out, err);
        if (status == VY_OK && is_finished) status = check_result(log, d, out, digest, err);
        if (status == VY_OK && is_finished) status = check_signature(log, digest, out, err);
    }
    vy_mcap_digest_destroy(d);
    return status;
}

vy_status vy_log_proof_signed_by(const vy_log_proof *proof, const char *path, vy_error *err)
{
    unsigned char key[PUBLIC_KEY_SIZE];
    char key_hex[VY_DIGEST_CAP];
    const vy_status status = vy_public_key_read(path, key, err);
    if (status != VY_OK) return status;
    vy_hex_encode(key, sizeof key, key_hex);
    if (!proof->is_signed) return vy_fail(err, VY_DAMAGED, "it is not signed");
    if (strcmp(proof->signer, key_hex) != 0)
        return vy_fail(err, VY_DAMAGED, "it is signed by another key, %s", proof->signer);
    return VY_OK;
}
