// digest_openssl.c - digest.h over OpenSSL 3 (libcrypto).
//
// SHA-256 by the functions that need no provider: to find and start one costs a millisecond of every process,
// as much as the digest of a whole flight. Signatures go through EVP.
#define OPENSSL_API_COMPAT 10100 // SHA256_Update() and its sisters are old, but not to be replaced here
#include "base/assert.h"
#include "base/fail.h"
#include "record/digest.h"
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct vy_sha256 {
    SHA256_CTX context;
};

struct vy_signing_key {
    EVP_PKEY *key;
    unsigned char public_key[PUBLIC_KEY_SIZE];
};

static vy_status fail_memory(vy_error *err) { return vy_fail(err, VY_NO_MEMORY, "no memory for a digest"); }

int vy_digest_available(void) { return 1; }

vy_status vy_sha256_create(vy_sha256 **out, vy_error *err)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL) return fail_memory(err);
    SHA256_Init(&(*out)->context);
    return VY_OK;
}

void vy_sha256_destroy(vy_sha256 *hash) { free(hash); }

void vy_sha256_add(vy_sha256 *hash, const void *data, size_t size)
{
    if (size > 0) SHA256_Update(&hash->context, data, size);
}

vy_status vy_sha256_value(const vy_sha256 *hash, unsigned char out[DIGEST_SIZE], vy_error *err)
{
    (void)err;
    SHA256_CTX copy = hash->context; // to be ended, while the other continues
    SHA256_Final(out, &copy);
    return VY_OK;
}

vy_status vy_sha256_of_bytes(const void *data, size_t size, unsigned char out[DIGEST_SIZE], vy_error *err)
{
    (void)err;
    SHA256_CTX hash;
    SHA256_Init(&hash);
    if (size > 0) SHA256_Update(&hash, data, size);
    SHA256_Final(out, &hash);
    return VY_OK;
}

// A key that needs a passphrase is refused: asking for one would stop a program that nobody watches.
static int refuse_passphrase(char *buffer, int size, int writing, void *self)
{
    (void)buffer, (void)size, (void)writing, (void)self;
    return -1;
}

typedef EVP_PKEY *pem_reader(FILE *file, EVP_PKEY **key, pem_password_cb *password_callback, void *self);

static vy_status read_key(const char *path, pem_reader *read_pem, const char *key_kind, EVP_PKEY **out,
                          vy_error *err)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return vy_fail(err, VY_NOT_FOUND, "the key %.140s cannot be read", path);
    *out = read_pem(file, NULL, refuse_passphrase, NULL);
    fclose(file);
    if (*out == NULL)
        return vy_fail(err, VY_BAD_VALUE, "%.140s is not %s in PEM without a passphrase", path, key_kind);
    if (EVP_PKEY_get_id(*out) == EVP_PKEY_ED25519) return VY_OK;
    EVP_PKEY_free(*out);
    *out = NULL;
    return vy_fail(err, VY_BAD_VALUE,
                   "%.140s is not an Ed25519 key: openssl genpkey -algorithm ed25519 makes one", path);
}

vy_status vy_signing_key_open(const char *path, vy_signing_key **out, vy_error *err)
{
    *out = NULL;
    vy_signing_key *key = calloc(1, sizeof *key);
    if (key == NULL) return fail_memory(err);
    size_t size = PUBLIC_KEY_SIZE;
    vy_status status = read_key(path, PEM_read_PrivateKey, "a private key", &key->key, err);
    if (status == VY_OK && EVP_PKEY_get_raw_public_key(key->key, key->public_key, &size) != 1)
        status = fail_memory(err);
    if (status != VY_OK) {
        vy_signing_key_close(key);
        return status;
    }
    *out = key;
    return VY_OK;
}

void vy_signing_key_close(vy_signing_key *key)
{
    if (key == NULL) return;
    EVP_PKEY_free(key->key);
    free(key);
}

void vy_signing_key_public(const vy_signing_key *key, unsigned char out[PUBLIC_KEY_SIZE])
{
    memcpy(out, key->public_key, PUBLIC_KEY_SIZE);
}

vy_status vy_signing_key_sign(const vy_signing_key *key, const void *data, size_t size,
                              unsigned char out[SIGNATURE_SIZE], vy_error *err)
{
    size_t length = SIGNATURE_SIZE;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const int ok = context != NULL && EVP_DigestSignInit(context, NULL, NULL, NULL, key->key) == 1 &&
                   EVP_DigestSign(context, out, &length, data, size) == 1 && length == SIGNATURE_SIZE;
    EVP_MD_CTX_free(context);
    return ok ? VY_OK : vy_fail(err, VY_NO_MEMORY, "the log could not be signed");
}

vy_status vy_public_key_read(const char *path, unsigned char out[PUBLIC_KEY_SIZE], vy_error *err)
{
    EVP_PKEY *key = NULL;
    size_t size = PUBLIC_KEY_SIZE;
    const vy_status status = read_key(path, PEM_read_PUBKEY, "a public key", &key, err);
    if (status != VY_OK) return status;
    const int ok = EVP_PKEY_get_raw_public_key(key, out, &size) == 1;
    EVP_PKEY_free(key);
    return ok ? VY_OK : fail_memory(err);
}

vy_status vy_signature_check(const unsigned char key[PUBLIC_KEY_SIZE], const void *data, size_t size,
                             const unsigned char signature[SIGNATURE_SIZE], vy_error *err)
{
    EVP_PKEY *public_key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, PUBLIC_KEY_SIZE);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const int is_ready = public_key != NULL && context != NULL &&
                         EVP_DigestVerifyInit(context, NULL, NULL, NULL, public_key) == 1;
    const int is_valid = is_ready && EVP_DigestVerify(context, signature, SIGNATURE_SIZE, data, size) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(public_key);
    if (is_valid) return VY_OK;
    if (context == NULL) return fail_memory(err);
    return vy_fail(err, VY_DAMAGED, "its signature is not one of this log by that key");
}
