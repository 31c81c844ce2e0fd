// mcap_digest.h - the digest of what an MCAP file says: the same however it is chunked, compressed, numbered
// and indexed, and whatever order its tables are in.
//
// SHA-256 over a tag, the digests of metadata and attachments, sorted, and every message in its order: which
// channel (by its declaration where it first speaks, by a number of its own after that), time, payload.
// Sequence numbers, publish times and times of creation are left out.
#pragma once
#include "record/digest.h"
#include "record/mcap_writer.h"

/// One owner.
typedef struct vy_mcap_digest vy_mcap_digest;

vy_status vy_mcap_digest_create(vy_mcap_digest **out, vy_error *err);
void vy_mcap_digest_destroy(vy_mcap_digest *digest); // NULL is a no-op

/// What stands before the messages. A failure is kept for the value.
void vy_mcap_digest_metadata(vy_mcap_digest *digest, const char *name, const vy_mcap_pair *pairs,
                             size_t count);
void vy_mcap_digest_attachment(vy_mcap_digest *digest, const char *name, const char *media_type,
                               uint64_t log_time, const void *data, size_t size);
/// Declare schemas, then channels, by their ids in the file, which the digest does not depend on.
void vy_mcap_digest_schema(vy_mcap_digest *digest, uint16_t id, const char *name, const char *encoding,
                           const void *data, size_t size);
void vy_mcap_digest_channel(vy_mcap_digest *digest, uint16_t id, const vy_mcap_channel_def *def);

/// Has a message been added? Then metadata and attachments no longer are.
bool vy_mcap_digest_has_begun(const vy_mcap_digest *digest);
void vy_mcap_digest_message(vy_mcap_digest *digest, uint16_t channel, uint64_t time, const void *data,
                            size_t size);
uint64_t vy_mcap_digest_message_count(const vy_mcap_digest *digest); ///< so far

/// Of everything so far; more messages may follow.
vy_status vy_mcap_digest_value(vy_mcap_digest *digest, unsigned char out[DIGEST_SIZE], vy_error *err);

/// The digest of a whole log: `value` and the named texts of its result, in order of their keys.
vy_status vy_mcap_digest_of_log(const unsigned char value[DIGEST_SIZE], const char *name,
                                const vy_mcap_pair *pairs, size_t count, unsigned char out[DIGEST_SIZE],
                                vy_error *err);
