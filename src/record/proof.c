// proof.c - the digest into a log: proofs, result, signature.
#include "record/proof.h"
#include "record/mcap_digest.h"
#include "record/protobuf.h"
#include "record/streams.h"
#include <inttypes.h>
#include <stdlib.h>

static size_t encode_proof(const unsigned char digest[DIGEST_SIZE], uint64_t message_count,
                           unsigned char *out)
{
    vy_pb_writer w = vy_pb_writer_on(out, VY_MCAP_DIGEST_SIZE_MAX);
    vy_pb_put_fixed64(&w, PROOF_MESSAGES, message_count);
    vy_pb_put_bytes(&w, PROOF_DIGEST, digest, DIGEST_SIZE);
    VY_ASSERT(!w.is_full);
    return w.size;
}

vy_status vy_proof_add_channel(vy_mcap_writer *writer, uint16_t *channel, vy_error *err)
{
    unsigned char *data = NULL;
    size_t size = 0;
    uint16_t schema = 0;
    vy_status status = vy_pb_descriptor_set(&vy_message_proof, &data, &size, err);
    if (status == VY_OK)
        status =
            vy_mcap_writer_add_schema(writer, vy_message_proof.name, "protobuf", data, size, &schema, err);
    free(data);
    const vy_mcap_channel_def def = {.topic = TOPIC_PROOF, .encoding = "protobuf", .schema = schema};
    if (status == VY_OK) status = vy_mcap_writer_add_channel(writer, &def, channel, err);
    if (status == VY_OK) vy_mcap_writer_add_proofs(writer, *channel, encode_proof);
    return status;
}

static vy_status write_signature(vy_mcap_writer *writer, const unsigned char digest[DIGEST_SIZE],
                                 const vy_signing_key *key, vy_error *err)
{
    unsigned char signed_bytes[SIGNED_SIZE], signature[SIGNATURE_SIZE], public_key[PUBLIC_KEY_SIZE];
    char key_hex[2 * PUBLIC_KEY_SIZE + 1], signature_hex[SIGNATURE_HEX_SIZE];
    memcpy(signed_bytes, SIGNATURE_TAG, sizeof SIGNATURE_TAG);
    memcpy(signed_bytes + sizeof SIGNATURE_TAG, digest, DIGEST_SIZE);
    const vy_status status = vy_signing_key_sign(key, signed_bytes, sizeof signed_bytes, signature, err);
    if (status != VY_OK) return status;
    vy_signing_key_public(key, public_key);
    vy_hex_encode(public_key, PUBLIC_KEY_SIZE, key_hex);
    vy_hex_encode(signature, SIGNATURE_SIZE, signature_hex);
    const vy_mcap_pair pairs[] = {
        {"algorithm", "ed25519"}, {"public_key", key_hex}, {"signature", signature_hex}};
    return vy_mcap_writer_metadata(writer, METADATA_SIGNATURE, pairs, 3, err);
}

vy_status vy_result_write(vy_mcap_writer *writer, const char *status_word, uint64_t last_tick,
                          uint64_t final_hash, const vy_signing_key *key, vy_error *err)
{
    enum { PAIRS = 3 }; // and the digest of all of them
    char last_tick_text[32], final_hash_text[32], digest_hex[DIGEST_HEX_SIZE];
    unsigned char messages_digest[DIGEST_SIZE], digest[DIGEST_SIZE];
    snprintf(last_tick_text, sizeof last_tick_text, "%" PRIu64, last_tick);
    snprintf(final_hash_text, sizeof final_hash_text, "%016" PRIx64, final_hash);
    const vy_mcap_pair pairs[PAIRS + 1] = {{"status", status_word},
                                           {"last_tick", last_tick_text},
                                           {"final_hash", final_hash_text},
                                           {"digest", digest_hex}};
    vy_error error = {.status = VY_OK}; // that there is no digest is no failure of the log
    vy_status status = vy_mcap_writer_digest(writer, messages_digest, &error);
    if (status == VY_BAD_STATE) return vy_mcap_writer_metadata(writer, METADATA_RESULT, pairs, PAIRS, err);
    if (status != VY_OK && err != NULL) *err = error;
    if (status == VY_OK)
        status = vy_mcap_digest_of_log(messages_digest, METADATA_RESULT, pairs, PAIRS, digest, err);
    if (status != VY_OK) return status;
    vy_hex_encode(digest, DIGEST_SIZE, digest_hex);
    status = vy_mcap_writer_metadata(writer, METADATA_RESULT, pairs, PAIRS + 1, err);
    if (status == VY_OK && key != NULL) status = write_signature(writer, digest, key, err);
    return status;
}
