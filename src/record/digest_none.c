// digest_none.c - digest.h in a build without OpenSSL: logs have no digest, and none can be checked.
#include "base/fail.h"
#include "record/digest.h"

static vy_status fail_no_openssl(vy_error *err)
{
    return vy_fail(err, VY_BAD_STATE, "this build of Volery has no digests: it was made without OpenSSL");
}

int vy_digest_available(void) { return 0; }

vy_status vy_sha256_create(vy_sha256 **out, vy_error *err)
{
    *out = NULL;
    return fail_no_openssl(err);
}

void vy_sha256_destroy(vy_sha256 *hash) { (void)hash; }

void vy_sha256_add(vy_sha256 *hash, const void *data, size_t size) { (void)hash, (void)data, (void)size; }

vy_status vy_sha256_value(const vy_sha256 *hash, unsigned char out[DIGEST_SIZE], vy_error *err)
{
    (void)hash, (void)out;
    return fail_no_openssl(err);
}

vy_status vy_sha256_of_bytes(const void *data, size_t size, unsigned char out[DIGEST_SIZE], vy_error *err)
{
    (void)data, (void)size, (void)out;
    return fail_no_openssl(err);
}

vy_status vy_signing_key_open(const char *path, vy_signing_key **out, vy_error *err)
{
    (void)path;
    *out = NULL;
    return fail_no_openssl(err);
}

void vy_signing_key_close(vy_signing_key *key) { (void)key; }

void vy_signing_key_public(const vy_signing_key *key, unsigned char out[PUBLIC_KEY_SIZE])
{
    (void)key, (void)out;
}

vy_status vy_signing_key_sign(const vy_signing_key *key, const void *data, size_t size,
                              unsigned char out[SIGNATURE_SIZE], vy_error *err)
{
    (void)key, (void)data, (void)size, (void)out;
    return fail_no_openssl(err);
}

vy_status vy_public_key_read(const char *path, unsigned char out[PUBLIC_KEY_SIZE], vy_error *err)
{
    (void)path, (void)out;
    return fail_no_openssl(err);
}

vy_status vy_signature_check(const unsigned char key[PUBLIC_KEY_SIZE], const void *data, size_t size,
                             const unsigned char signature[SIGNATURE_SIZE], vy_error *err)
{
    (void)key, (void)data, (void)size, (void)signature;
    return fail_no_openssl(err);
}
