// mcap_format.h - the parts of the MCAP container that writer and reader share: opcodes, sizes, little-endian
// numbers, a growing run of bytes. Specification: MCAP version 0.
#pragma once
#include "base/assert.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MCAP_MAGIC "\x89MCAP0\r\n"

// Opcodes of records.
enum {
    MCAP_HEADER = 0x01,
    MCAP_FOOTER = 0x02,
    MCAP_SCHEMA = 0x03,
    MCAP_CHANNEL = 0x04,
    MCAP_MESSAGE = 0x05,
    MCAP_CHUNK = 0x06,
    MCAP_MESSAGE_INDEX = 0x07,
    MCAP_CHUNK_INDEX = 0x08,
    MCAP_ATTACHMENT = 0x09,
    MCAP_ATTACHMENT_INDEX = 0x0a,
    MCAP_STATISTICS = 0x0b,
    MCAP_METADATA = 0x0c,
    MCAP_METADATA_INDEX = 0x0d,
    MCAP_SUMMARY_OFFSET = 0x0e,
    MCAP_DATA_END = 0x0f,
};

enum {
    MCAP_MAGIC_SIZE = 8,
    MCAP_RECORD_HEAD_SIZE = 9,   // opcode, length
    MCAP_MESSAGE_HEAD_SIZE = 22, // channel, sequence, log time, publish time
    MCAP_CHUNK_HEAD_SIZE =
        40, // times, uncompressed size, crc, length of the compression's name, length of the records
    MCAP_DATA_END_SIZE = 4,
    MCAP_FOOTER_SIZE = 20,
    MCAP_TAIL_SIZE = MCAP_RECORD_HEAD_SIZE + MCAP_FOOTER_SIZE + MCAP_MAGIC_SIZE, // what ends every whole file
};

// Volery builds for little-endian machines only (base/real.h), so a number is its memory.
static inline unsigned char *mcap_put_u16(unsigned char *p, uint16_t x)
{
    return (unsigned char *)memcpy(p, &x, 2) + 2;
}
static inline unsigned char *mcap_put_u32(unsigned char *p, uint32_t x)
{
    return (unsigned char *)memcpy(p, &x, 4) + 4;
}
static inline unsigned char *mcap_put_u64(unsigned char *p, uint64_t x)
{
    return (unsigned char *)memcpy(p, &x, 8) + 8;
}

static inline unsigned char *mcap_put_head(unsigned char *p, int opcode, uint64_t length)
{
    *p = (unsigned char)opcode;
    return mcap_put_u64(p + 1, length);
}

static inline uint16_t mcap_get_u16(const unsigned char *p)
{
    uint16_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

static inline uint32_t mcap_get_u32(const unsigned char *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

static inline uint64_t mcap_get_u64(const unsigned char *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

// A growing run of bytes. Once memory ran out, `failed` stays set and further bytes are dropped, so that a
// record is composed without a check per field and checked once.
typedef struct mcap_bytes {
    unsigned char *data;
    size_t size, capacity;
    bool failed;
} mcap_bytes;

// Room for `extra` more bytes; false when memory ran out.
static inline bool mcap_bytes_reserve(mcap_bytes *b, size_t extra)
{
    VY_ASSERT(b->size <= b->capacity);
    if (b->failed) return false;
    if (extra <= b->capacity - b->size) return true;
    size_t capacity = b->capacity < 256 ? 256 : b->capacity;
    while (capacity - b->size < extra) {
        if (capacity > SIZE_MAX / 2) {
            b->failed = true;
            return false;
        }
        capacity *= 2;
    }
    unsigned char *data = realloc(b->data, capacity);
    b->failed = data == NULL;
    if (b->failed) return false;
    b->data = data;
    b->capacity = capacity;
    return true;
}

static inline void mcap_bytes_put(mcap_bytes *b, const void *data, size_t size)
{
    if (size == 0 || !mcap_bytes_reserve(b, size)) return;
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static inline void mcap_bytes_u8(mcap_bytes *b, uint8_t x) { mcap_bytes_put(b, &x, sizeof x); }
static inline void mcap_bytes_u16(mcap_bytes *b, uint16_t x) { mcap_bytes_put(b, &x, sizeof x); }
static inline void mcap_bytes_u32(mcap_bytes *b, uint32_t x) { mcap_bytes_put(b, &x, sizeof x); }
static inline void mcap_bytes_u64(mcap_bytes *b, uint64_t x) { mcap_bytes_put(b, &x, sizeof x); }

static inline void mcap_bytes_string(mcap_bytes *b, const char *text)
{
    const size_t size = strlen(text);
    mcap_bytes_u32(b, (uint32_t)size);
    mcap_bytes_put(b, text, size);
}

// A record whose length is not known yet: begin returns its place, end writes the length there.
static inline size_t mcap_bytes_begin(mcap_bytes *b, int opcode)
{
    const size_t start = b->size;
    mcap_bytes_u8(b, (uint8_t)opcode);
    mcap_bytes_u64(b, 0);
    return start;
}

static inline void mcap_bytes_end(mcap_bytes *b, size_t start)
{
    VY_ASSERT(b->failed || start + MCAP_RECORD_HEAD_SIZE <= b->size);
    if (!b->failed) mcap_put_u64(b->data + start + 1, b->size - start - MCAP_RECORD_HEAD_SIZE);
}

static inline void mcap_bytes_free(mcap_bytes *b)
{
    free(b->data);
    *b = (mcap_bytes){0};
}
