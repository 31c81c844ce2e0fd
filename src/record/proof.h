// proof.h - what makes a log checkable: a digest at the end of every chunk, in the result, and its signature.
#pragma once
#include "record/mcap_writer.h"
#include "volery/record.h"

/// What is signed: this tag with its final NUL, then the digest.
#define SIGNATURE_TAG "volery log signature 1"
enum { SIGNED_SIZE = sizeof SIGNATURE_TAG + DIGEST_SIZE };

/// Have every chunk of the writer, which keeps a digest, end with a proof. `*channel` is theirs.
vy_status vy_proof_add_channel(vy_mcap_writer *writer, uint16_t *channel, vy_error *err);

/// End a log: metadata with its result and, where the writer keeps one, the digest of all of it, then the
/// signature of that by `key` (NULL: none).
vy_status vy_result_write(vy_mcap_writer *writer, const char *status_word, uint64_t last_tick,
                          uint64_t final_hash, const vy_signing_key *key, vy_error *err);
