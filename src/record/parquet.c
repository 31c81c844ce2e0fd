// parquet.c - a small Parquet writer: one data page per column and group of rows; metadata in Thrift's
// compact form.
#include "record/parquet.h"
#include "base/assert.h"
#include "base/fail.h"
#include "record/mcap_format.h"
#include "volery/version.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { GROUP_ROWS = 16384, ZSTD_LEVEL = 3 };
static const char magic[4] = {'P', 'A', 'R', '1'};

// Numbers of the format: of a type, of repetitions, encodings, a codec and a kind of page; of Thrift's types.
enum { TYPE_DOUBLE = 5, REQUIRED = 0, OPTIONAL = 1, PLAIN = 0, RLE = 3, ZSTD = 6, DATA_PAGE = 0 };
enum { COMPACT_I32 = 5, COMPACT_I64 = 6, COMPACT_BINARY = 8, COMPACT_LIST = 9, COMPACT_STRUCT = 12 };

typedef struct chunk {
    uint64_t offset, uncompressed_size, packed_size; // [bytes] page header included
} chunk;

struct vy_parquet {
    FILE *out;
    int count;
    const char *const *names, *const *units;
    double *values;      // GROUP_ROWS of each column
    size_t group_rows;   // of the group being filled
    uint64_t total_rows; // rows in finished groups
    uint64_t file_position;
    mcap_bytes page, packed, page_header; // of one column chunk
    mcap_bytes groups;                    // uint64_t rows of each group
    mcap_bytes chunks;                    // chunk of each column of each group
    ZSTD_CCtx *zstd;
};

static void put_varint(mcap_bytes *b, uint64_t value)
{
    for (; value >= 128; value >>= 7) mcap_bytes_u8(b, (uint8_t)(value | 128));
    mcap_bytes_u8(b, (uint8_t)value);
}

// A field of a struct: all ids here are below 16 above the one before.
static void put_field(mcap_bytes *b, int *last_id, int id, int type)
{
    VY_ASSERT(id > *last_id && id - *last_id < 16 && type > 0 && type < 16);
    mcap_bytes_u8(b, (uint8_t)((id - *last_id) << 4 | type));
    *last_id = id;
}

static void put_integer(mcap_bytes *b, int *last_id, int id, int type, uint64_t value)
{
    put_field(b, last_id, id, type);
    put_varint(b, value << 1); // zigzag of what is never negative
}

static void put_text(mcap_bytes *b, const char *text)
{
    put_varint(b, strlen(text));
    mcap_bytes_put(b, text, strlen(text));
}

static void put_list(mcap_bytes *b, int type, uint64_t size)
{
    if (size < 15) {
        mcap_bytes_u8(b, (uint8_t)(size << 4 | (uint64_t)type));
    } else {
        mcap_bytes_u8(b, (uint8_t)(0xf0 | type));
        put_varint(b, size);
    }
}

static vy_status write_bytes(vy_parquet *p, const void *data, size_t size, vy_error *err)
{
    if (size > 0 && fwrite(data, 1, size, p->out) != size)
        return vy_fail(err, VY_IO, "the table could not be written");
    p->file_position += size;
    return VY_OK;
}

// Which values are there, as runs: 1 for those that are.
static void put_levels(mcap_bytes *b, const double *values, size_t rows)
{
    const size_t size_position = b->size;
    mcap_bytes_u32(b, 0);
    for (size_t i = 0; i < rows;) {
        size_t end = i;
        const int is_present = isnan(values[i]) ? 0 : 1;
        while (end < rows && (isnan(values[end]) ? 0 : 1) == is_present) ++end;
        put_varint(b, (uint64_t)(end - i) << 1);
        mcap_bytes_u8(b, (uint8_t)is_present);
        i = end;
    }
    if (!b->failed) mcap_put_u32(b->data + size_position, (uint32_t)(b->size - size_position - 4));
}

static void put_page_header(mcap_bytes *b, size_t rows, size_t uncompressed_size, size_t packed_size)
{
    int last_id = 0, last_inner_id = 0;
    put_integer(b, &last_id, 1, COMPACT_I32, DATA_PAGE);
    put_integer(b, &last_id, 2, COMPACT_I32, uncompressed_size);
    put_integer(b, &last_id, 3, COMPACT_I32, packed_size);
    put_field(b, &last_id, 5, COMPACT_STRUCT);
    put_integer(b, &last_inner_id, 1, COMPACT_I32, rows);
    put_integer(b, &last_inner_id, 2, COMPACT_I32, PLAIN);
    put_integer(b, &last_inner_id, 3, COMPACT_I32, RLE);
    put_integer(b, &last_inner_id, 4, COMPACT_I32, RLE);
    mcap_bytes_u8(b, 0);
    mcap_bytes_u8(b, 0);
}

static vy_status write_chunk(vy_parquet *p, int column, vy_error *err)
{
    const double *values = p->values + (size_t)column * GROUP_ROWS;
    VY_ASSERT(column >= 0 && column < p->count && p->group_rows > 0 && p->group_rows <= GROUP_ROWS);
    p->page.size = p->packed.size = p->page_header.size = 0;
    if (column > 0) put_levels(&p->page, values, p->group_rows);
    for (size_t i = 0; i < p->group_rows; ++i) {
        if (!isnan(values[i])) mcap_bytes_put(&p->page, &values[i], sizeof values[i]);
    }
    const size_t packed_max = ZSTD_compressBound(p->page.size);
    if (p->page.failed || !mcap_bytes_reserve(&p->packed, packed_max))
        return vy_fail(err, VY_NO_MEMORY, "out of memory");
    const size_t packed_size =
        ZSTD_compressCCtx(p->zstd, p->packed.data, packed_max, p->page.data, p->page.size, ZSTD_LEVEL);
    if (ZSTD_isError(packed_size)) return vy_fail(err, VY_NO_MEMORY, "the table could not be packed");
    put_page_header(&p->page_header, p->group_rows, p->page.size, packed_size);
    const chunk entry = {p->file_position, p->page.size + p->page_header.size,
                         packed_size + p->page_header.size};
    mcap_bytes_put(&p->chunks, &entry, sizeof entry);
    if (p->page_header.failed || p->chunks.failed) return vy_fail(err, VY_NO_MEMORY, "out of memory");
    const vy_status status = write_bytes(p, p->page_header.data, p->page_header.size, err);
    return status == VY_OK ? write_bytes(p, p->packed.data, packed_size, err) : status;
}

static vy_status write_group(vy_parquet *p, vy_error *err)
{
    if (p->group_rows == 0) return VY_OK;
    vy_status status = VY_OK;
    for (int c = 0; c < p->count && status == VY_OK; ++c) status = write_chunk(p, c, err);
    const uint64_t rows = p->group_rows;
    mcap_bytes_put(&p->groups, &rows, sizeof rows);
    if (status == VY_OK && p->groups.failed) status = vy_fail(err, VY_NO_MEMORY, "out of memory");
    p->total_rows += rows;
    p->group_rows = 0;
    return status;
}

vy_status vy_parquet_open(FILE *out, int count, const char *const *names, const char *const *units,
                          vy_parquet **writer, vy_error *err)
{
    *writer = NULL;
    vy_parquet *p = calloc(1, sizeof *p);
    if (p == NULL) return vy_fail(err, VY_NO_MEMORY, "out of memory");
    p->out = out;
    p->count = count;
    p->names = names;
    p->units = units;
    p->values = calloc((size_t)count * GROUP_ROWS + 1, sizeof *p->values);
    p->zstd = ZSTD_createCCtx();
    const int is_complete = p->values != NULL && p->zstd != NULL;
    vy_status status = is_complete ? VY_OK : vy_fail(err, VY_NO_MEMORY, "out of memory");
    if (status == VY_OK) status = write_bytes(p, magic, sizeof magic, err);
    if (status != VY_OK) {
        vy_parquet_abandon(p);
        return status;
    }
    *writer = p;
    return VY_OK;
}

vy_status vy_parquet_row(vy_parquet *p, const double *values, vy_error *err)
{
    VY_ASSERT(p->group_rows < GROUP_ROWS);
    for (int c = 0; c < p->count; ++c) p->values[(size_t)c * GROUP_ROWS + p->group_rows] = values[c];
    p->group_rows += 1;
    return p->group_rows == GROUP_ROWS ? write_group(p, err) : VY_OK;
}

static void put_schema(const vy_parquet *p, mcap_bytes *b)
{
    put_list(b, COMPACT_STRUCT, (uint64_t)p->count + 1);
    int last_id = 0;
    put_field(b, &last_id, 4, COMPACT_BINARY);
    put_text(b, "schema");
    put_integer(b, &last_id, 5, COMPACT_I32, (uint64_t)p->count);
    mcap_bytes_u8(b, 0);
    for (int c = 0; c < p->count; ++c) {
        last_id = 0;
        put_integer(b, &last_id, 1, COMPACT_I32, TYPE_DOUBLE);
        put_integer(b, &last_id, 3, COMPACT_I32, c == 0 ? REQUIRED : OPTIONAL);
        put_field(b, &last_id, 4, COMPACT_BINARY);
        put_text(b, p->names[c]);
        mcap_bytes_u8(b, 0);
    }
}

static void put_chunk(const vy_parquet *p, mcap_bytes *b, int column, uint64_t rows, const chunk *c)
{
    int last_id = 0, last_inner_id = 0;
    put_integer(b, &last_id, 2, COMPACT_I64, c->offset);
    put_field(b, &last_id, 3, COMPACT_STRUCT);
    put_integer(b, &last_inner_id, 1, COMPACT_I32, TYPE_DOUBLE);
    put_field(b, &last_inner_id, 2, COMPACT_LIST);
    put_list(b, COMPACT_I32, 2);
    put_varint(b, PLAIN << 1);
    put_varint(b, RLE << 1);
    put_field(b, &last_inner_id, 3, COMPACT_LIST);
    put_list(b, COMPACT_BINARY, 1);
    put_text(b, p->names[column]);
    put_integer(b, &last_inner_id, 4, COMPACT_I32, ZSTD);
    put_integer(b, &last_inner_id, 5, COMPACT_I64, rows);
    put_integer(b, &last_inner_id, 6, COMPACT_I64, c->uncompressed_size);
    put_integer(b, &last_inner_id, 7, COMPACT_I64, c->packed_size);
    put_integer(b, &last_inner_id, 9, COMPACT_I64, c->offset);
    mcap_bytes_u8(b, 0);
    mcap_bytes_u8(b, 0);
}

static void put_groups(const vy_parquet *p, mcap_bytes *b)
{
    const size_t groups = p->groups.size / sizeof(uint64_t);
    VY_ASSERT(p->chunks.size == groups * (size_t)p->count * sizeof(chunk));
    put_list(b, COMPACT_STRUCT, groups);
    for (size_t g = 0; g < groups; ++g) {
        uint64_t rows, bytes = 0;
        memcpy(&rows, p->groups.data + g * sizeof rows, sizeof rows);
        int last_id = 0;
        put_field(b, &last_id, 1, COMPACT_LIST);
        put_list(b, COMPACT_STRUCT, (uint64_t)p->count);
        for (int c = 0; c < p->count; ++c) {
            chunk column_chunk;
            memcpy(&column_chunk, p->chunks.data + (g * (size_t)p->count + (size_t)c) * sizeof column_chunk,
                   sizeof column_chunk);
            put_chunk(p, b, c, rows, &column_chunk);
            bytes += column_chunk.uncompressed_size;
        }
        put_integer(b, &last_id, 2, COMPACT_I64, bytes);
        put_integer(b, &last_id, 3, COMPACT_I64, rows);
        mcap_bytes_u8(b, 0);
    }
}

// Units as metadata: unit:NAME.
static void put_units(const vy_parquet *p, mcap_bytes *b)
{
    uint64_t count = 0;
    for (int c = 0; c < p->count; ++c) count += p->units[c][0] != '\0';
    put_list(b, COMPACT_STRUCT, count);
    for (int c = 0; c < p->count; ++c) {
        if (p->units[c][0] == '\0') continue;
        char key[128];
        int last_id = 0;
        snprintf(key, sizeof key, "unit:%.100s", p->names[c]);
        put_field(b, &last_id, 1, COMPACT_BINARY);
        put_text(b, key);
        put_field(b, &last_id, 2, COMPACT_BINARY);
        put_text(b, p->units[c]);
        mcap_bytes_u8(b, 0);
    }
}

static vy_status write_footer(vy_parquet *p, vy_error *err)
{
    mcap_bytes *b = &p->page;
    int last_id = 0;
    b->size = 0;
    put_integer(b, &last_id, 1, COMPACT_I32, 1);
    put_field(b, &last_id, 2, COMPACT_LIST);
    put_schema(p, b);
    put_integer(b, &last_id, 3, COMPACT_I64, p->total_rows);
    put_field(b, &last_id, 4, COMPACT_LIST);
    put_groups(p, b);
    put_field(b, &last_id, 5, COMPACT_LIST);
    put_units(p, b);
    put_field(b, &last_id, 6, COMPACT_BINARY);
    put_text(b, "volery version " VY_VERSION);
    mcap_bytes_u8(b, 0);
    const size_t size = b->size;
    mcap_bytes_u32(b, (uint32_t)size);
    mcap_bytes_put(b, magic, sizeof magic);
    if (b->failed) return vy_fail(err, VY_NO_MEMORY, "out of memory");
    return write_bytes(p, b->data, b->size, err);
}

vy_status vy_parquet_close(vy_parquet *p, vy_error *err)
{
    if (p == NULL) return VY_OK;
    vy_status status = write_group(p, err);
    if (status == VY_OK) status = write_footer(p, err);
    vy_parquet_abandon(p);
    return status;
}

void vy_parquet_abandon(vy_parquet *p)
{
    if (p == NULL) return;
    free(p->values);
    ZSTD_freeCCtx(p->zstd);
    mcap_bytes_free(&p->page);
    mcap_bytes_free(&p->packed);
    mcap_bytes_free(&p->page_header);
    mcap_bytes_free(&p->groups);
    mcap_bytes_free(&p->chunks);
    free(p);
}
