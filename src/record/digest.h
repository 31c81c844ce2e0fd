// digest.h - SHA-256 and Ed25519, by OpenSSL; in a build without it digest_none.c says so.
#pragma once
#include "volery/record.h"
#include <stddef.h>

enum { DIGEST_SIZE = 32, SIGNATURE_SIZE = 64, PUBLIC_KEY_SIZE = 32 };
enum {
    DIGEST_HEX_SIZE = 2 * DIGEST_SIZE + 1,
    SIGNATURE_HEX_SIZE = 2 * SIGNATURE_SIZE + 1
}; // with the final NUL

/// Does this build have digests?
int vy_digest_available(void);

/// A running SHA-256. One owner.
typedef struct vy_sha256 vy_sha256;

vy_status vy_sha256_create(vy_sha256 **out, vy_error *err);
void vy_sha256_destroy(vy_sha256 *hash); // NULL is a no-op
void vy_sha256_add(vy_sha256 *hash, const void *data, size_t size);
/// Of all bytes so far; more may follow.
vy_status vy_sha256_value(const vy_sha256 *hash, unsigned char out[DIGEST_SIZE], vy_error *err);
/// Of one run of bytes.
vy_status vy_sha256_of_bytes(const void *data, size_t size, unsigned char out[DIGEST_SIZE], vy_error *err);

/// The public half of a private key.
void vy_signing_key_public(const vy_signing_key *key, unsigned char out[PUBLIC_KEY_SIZE]);
vy_status vy_signing_key_sign(const vy_signing_key *key, const void *data, size_t size,
                              unsigned char out[SIGNATURE_SIZE], vy_error *err);

/// The public half, from a PEM file of it.
vy_status vy_public_key_read(const char *path, unsigned char out[PUBLIC_KEY_SIZE], vy_error *err);
/// VY_OK: it is the signature of these bytes by this key; VY_DAMAGED: it is not.
vy_status vy_signature_check(const unsigned char key[PUBLIC_KEY_SIZE], const void *data, size_t size,
                             const unsigned char signature[SIGNATURE_SIZE], vy_error *err);

/// Lower-case hexadecimal; `out` has 2 size + 1 bytes.
void vy_hex_encode(const unsigned char *data, size_t size, char *out);
/// Back again. 0: `text` is not hexadecimal, or has another length.
int vy_hex_decode(const char *text, unsigned char *out, size_t size);
