// test_protobuf.c - the wire format against bytes of its own documentation, the codec against itself and
// against hostile bytes. That other programs decode the descriptors is shown by mcap_readers_test.sh.
#include "check.h"
#include "record/protobuf.h"
#include <stdlib.h>
#include <string.h>

#define assert_bytes(writer, text)                                   \
    do {                                                             \
        assert_int_equal((writer)->size, sizeof(text) - 1);          \
        assert_memory_equal((writer)->data, text, sizeof(text) - 1); \
    } while (0)

// The examples of protobuf's page on its encoding.
static void known_bytes(void **unused)
{
    (void)unused;
    unsigned char room[64];
    vy_pb_writer w = vy_pb_writer_on(room, sizeof room);
    vy_pb_put_uint(&w, 1, 150);
    assert_bytes(&w, "\x08\x96\x01");
    w = vy_pb_writer_on(room, sizeof room);
    vy_pb_put_string(&w, 2, "testing");
    assert_bytes(&w, "\x12\x07testing");
    w = vy_pb_writer_on(room, sizeof room);
    vy_pb_begin(&w, 3);
    vy_pb_put_uint(&w, 1, 150);
    vy_pb_end(&w);
    assert_bytes(&w, "\x1a\x03\x08\x96\x01");
    w = vy_pb_writer_on(room, sizeof room);
    vy_pb_put_int(&w, 1, -2);
    assert_bytes(&w, "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");

    static const vy_pb_field packed[] = {{.name = "f", .number = 6, .type = VY_PB_INT32, .repeat = 3}};
    static const vy_pb_message message = {.name = "Test5", .fields = packed, .field_count = 1};
    vy_pb_codec *codec = NULL;
    assert_int_equal(vy_pb_codec_create(&message, &codec, NULL), VY_OK);
    const int64_t cells[3] = {3, 270, 86942};
    assert_true(vy_pb_codec_size_max(codec) <= sizeof room);
    w = vy_pb_writer_on(room, sizeof room);
    w.size = vy_pb_encode(codec, cells, room);
    assert_bytes(&w, "\x32\x06\x03\x8e\x02\x9e\xa7\x05");
    vy_pb_codec_destroy(codec);
}

static const vy_pb_enum_value kinds[] = {{"A", 0}, {"B", -5}};
static const vy_pb_enum kind = {.name = "t.Inner.Kind", .values = kinds, .value_count = 2};
static const vy_pb_field inner_fields[] = {
    {.name = "kind", .number = 1, .type = VY_PB_ENUM, .enumeration = &kind},
    {.name = "other", .number = 3, .type = VY_PB_ENUM, .enumeration = &kind},
    {.name = "list", .number = 2, .type = VY_PB_DOUBLE, .repeat = 20},
};
static const vy_pb_message inner = {.name = "t.Inner", .fields = inner_fields, .field_count = 3};
static const vy_pb_field small_fields[] = {{.name = "u", .number = 1, .type = VY_PB_UINT64}};
static const vy_pb_message small = {.name = "t.Small", .fields = small_fields, .field_count = 1};
static const vy_pb_message nothing = {.name = "t.Nothing"};
static const vy_pb_field outer_fields[] = {
    {.name = "d", .number = 1, .type = VY_PB_DOUBLE},
    {.name = "u64", .number = 2, .type = VY_PB_UINT64},
    {.name = "i64", .number = 16, .type = VY_PB_INT64},
    {.name = "i32", .number = 4, .type = VY_PB_INT32},
    {.name = "inner", .number = 5, .type = VY_PB_MESSAGE, .message = &inner},
    {.name = "u32", .number = 536870911, .type = VY_PB_UINT32},
    {.name = "yes", .number = 7, .type = VY_PB_BOOL},
    {.name = "f64", .number = 8, .type = VY_PB_FIXED64, .repeat = 2},
    {.name = "f32", .number = 9, .type = VY_PB_FIXED32},
    {.name = "small", .number = 10, .type = VY_PB_MESSAGE, .message = &small},
    {.name = "list32", .number = 11, .type = VY_PB_FIXED32, .repeat = 3},
    {.name = "numbers", .number = 12, .type = VY_PB_UINT64, .repeat = 30},
    {.name = "nothing", .number = 13, .type = VY_PB_MESSAGE, .message = &nothing},
};
static const vy_pb_message outer = {.name = "t.Outer", .fields = outer_fields, .field_count = 13};
enum { OUTER_CELLS = 5 - 1 + 22 + 1 + 1 + 2 + 1 + 1 + 3 + 30 };

// Random cells, sparse so that lengths of all sizes occur, within the range of each type.
static void random_cells(random_source *r, uint64_t cells[OUTER_CELLS])
{
    for (int i = 0; i < OUTER_CELLS; ++i) {
        const uint64_t all = random_bits(r);
        cells[i] = all >> (random_bits(r) % 64);
    }
    cells[3] = (uint64_t)(int64_t)(int32_t)cells[3];
    cells[4] = (uint64_t)(int64_t)(int32_t)cells[4];
    cells[5] = (uint64_t)(int64_t)(int32_t)cells[5];
    cells[26] = (uint32_t)cells[26];
    cells[27] &= 1;
    for (int i = 30; i < 35; ++i) {
        if (i != 31) cells[i] = (uint32_t)cells[i];
    }
}

// What goes in comes out, bit for bit, with unknown fields between.
static void codec_round_trip(void **unused)
{
    (void)unused;
    vy_pb_codec *codec = NULL;
    assert_int_equal(vy_pb_codec_create(&outer, &codec, NULL), VY_OK);
    assert_int_equal(vy_pb_codec_cell_count(codec), OUTER_CELLS);
    const size_t size_max = vy_pb_codec_size_max(codec);
    random_source r = {.state = 1};
    for (int round = 0; round < 2000; ++round) {
        uint64_t in[OUTER_CELLS], out[OUTER_CELLS];
        random_cells(&r, in);
        unsigned char *room = malloc(size_max + 64);
        vy_pb_writer extra = vy_pb_writer_on(room, 64);
        if (round % 2) {
            vy_pb_put_string(&extra, 100, "unknown");
            vy_pb_put_double(&extra, 101, 1.0);
            vy_pb_put_uint(&extra, 102, 300);
        }
        const size_t size = extra.size + vy_pb_encode(codec, in, room + extra.size);
        assert_true(size <= size_max + 64);
        unsigned char *exact = malloc(size); // a sanitizer sees what goes beyond
        memcpy(exact, room, size);
        assert_int_equal(vy_pb_decode(codec, exact, size, out, NULL), VY_OK);
        assert_memory_equal(in, out, sizeof in);

        // The same message by the general reader: every field once, nothing left over.
        vy_pb_reader reader = vy_pb_reader_on(exact, size);
        vy_pb_item item;
        int fields = 0;
        while (vy_pb_next(&reader, &item)) ++fields;
        assert_false(reader.bad);
        assert_int_equal(fields, 13 + (round % 2 ? 3 : 0));
        free(exact);
        free(room);
    }
    vy_pb_codec_destroy(codec);
}

// What does not fit the type of its field is cut to it, as a cast would.
static void narrow_types_are_cut(void **unused)
{
    (void)unused;
    static const vy_pb_field fields[] = {
        {.name = "u32", .number = 1, .type = VY_PB_UINT32},
        {.name = "i32", .number = 2, .type = VY_PB_INT32},
        {.name = "yes", .number = 3, .type = VY_PB_BOOL},
    };
    static const vy_pb_message message = {.name = "t.Narrow", .fields = fields, .field_count = 3};
    vy_pb_codec *codec = NULL;
    assert_int_equal(vy_pb_codec_create(&message, &codec, NULL), VY_OK);
    const uint64_t in[3] = {((uint64_t)1 << 32) + 5, ((uint64_t)1 << 40) + 0xfffffffeu, 77};
    uint64_t out[3];
    unsigned char room[64];
    const size_t size = vy_pb_encode(codec, in, room);
    assert_int_equal(size, 2 + 11 + 2);
    assert_int_equal(vy_pb_decode(codec, room, size, out, NULL), VY_OK);
    assert_true(out[0] == 5 && (int64_t)out[1] == -2 && out[2] == 1);
    vy_pb_codec_destroy(codec);
}

// Cut short, changed or random bytes: an answer or a refusal, never a step outside.
static void hostile_bytes(void **unused)
{
    (void)unused;
    vy_pb_codec *codec = NULL;
    assert_int_equal(vy_pb_codec_create(&outer, &codec, NULL), VY_OK);
    random_source r = {.state = 2};
    uint64_t cells[OUTER_CELLS];
    int refused = 0;
    for (int round = 0; round < 20000; ++round) {
        unsigned char room[1024];
        assert_true(vy_pb_codec_size_max(codec) <= sizeof room);
        random_cells(&r, cells);
        size_t size = vy_pb_encode(codec, cells, room);
        if (round % 3 == 0) size = random_bits(&r) % size;
        const uint64_t place = random_bits(&r);
        if (round % 3 == 1) room[place % size] = (unsigned char)random_bits(&r);
        if (round % 3 == 2) {
            for (size_t i = 0; i < size; ++i) room[i] = (unsigned char)random_bits(&r);
        }
        unsigned char *exact = malloc(size > 0 ? size : 1);
        memcpy(exact, room, size);
        refused += vy_pb_decode(codec, exact, size, cells, NULL) == VY_DAMAGED;
        free(exact);
    }
    assert_true(refused > 10000);
    // A varint of more than 64 bits, and one that never ends.
    static const unsigned char endless[] = {0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
    assert_int_equal(vy_pb_decode(codec, endless, sizeof endless, cells, NULL), VY_DAMAGED);
    assert_int_equal(vy_pb_decode(codec, endless, 5, cells, NULL), VY_DAMAGED);
    vy_pb_codec_destroy(codec);
}

// Too little room is noticed, whatever the amount, and nothing is written beyond it.
static void writer_stays_in_its_room(void **unused)
{
    (void)unused;
    size_t whole = 0;
    for (size_t capacity = 400; capacity-- > 0;) {
        unsigned char *room = malloc(capacity + 1);
        vy_pb_writer w = vy_pb_writer_on(room, capacity);
        const double values[20] = {0};
        vy_pb_begin(&w, 1);
        vy_pb_put_bytes(&w, 3, values, sizeof values); // the length around it grows to two bytes
        vy_pb_begin(&w, 1000);
        vy_pb_put_string(&w, 1, "text");
        vy_pb_put_bytes(&w, 2, NULL, 0);
        vy_pb_end(&w);
        vy_pb_end(&w);
        vy_pb_put_fixed64(&w, 5, 1);
        if (whole == 0) whole = w.size;
        assert_true(w.size <= capacity);
        assert_true(w.is_full == (capacity < whole));
        free(room);
    }
    unsigned char room[64];
    vy_pb_writer w = vy_pb_writer_on(room, sizeof room);
    for (int i = 0; i < 20; ++i) vy_pb_begin(&w, 1);
    for (int i = 0; i < 20; ++i) vy_pb_end(&w);
    assert_true(w.is_full);
    w = vy_pb_writer_on(room, sizeof room);
    vy_pb_end(&w);
    assert_true(w.is_full);
}

// The parts of a descriptor, read back by the general reader.
static void descriptor_names_files_and_fields(void **unused)
{
    (void)unused;
    unsigned char *data = NULL;
    size_t size = 0;
    assert_int_equal(vy_pb_descriptor_set(&outer, &data, &size, NULL), VY_OK);
    static const char *const files[] = {"t/Inner.proto", "t/Small.proto", "t/Nothing.proto", "t/Outer.proto"};
    vy_pb_reader set = vy_pb_reader_on(data, size);
    vy_pb_item file;
    int count = 0, dependencies = 0, enums = 0;
    for (; vy_pb_next(&set, &file); ++count) {
        assert_int_equal(file.number, 1);
        vy_pb_reader parts = vy_pb_reader_on(file.data, file.size);
        vy_pb_item item;
        while (vy_pb_next(&parts, &item)) {
            if (item.number == 1) {
                assert_int_equal(item.size, strlen(files[count]));
                assert_memory_equal(item.data, files[count], item.size);
            }
            dependencies += item.number == 3;
            vy_pb_reader message = vy_pb_reader_on(item.data, item.number == 4 ? item.size : 0);
            while (vy_pb_next(&message, &item)) enums += item.number == 4;
        }
        assert_false(parts.bad);
    }
    assert_false(set.bad);
    assert_int_equal(count, 4);
    assert_int_equal(dependencies, 3);
    assert_int_equal(enums, 1); // used twice, declared once
    free(data);
}

static void bad_descriptions_are_refused(void **unused)
{
    (void)unused;
    const vy_pb_enum no_zero = {.name = "m.M.E", .values = &kinds[1], .value_count = 1};
    const vy_pb_enum elsewhere = {.name = "m.N.E", .values = kinds, .value_count = 2};
    const vy_pb_field fields[][2] = {
        {{.name = "a", .number = 0, .type = VY_PB_DOUBLE}},
        {{.name = "a", .number = 19000, .type = VY_PB_DOUBLE}},
        {{.name = "a", .number = 1u << 29, .type = VY_PB_DOUBLE}},
        {{.name = "1a", .number = 1, .type = VY_PB_DOUBLE}},
        {{.name = "", .number = 1, .type = VY_PB_DOUBLE}},
        {{.name = "a", .number = 1, .type = VY_PB_DOUBLE}, {.name = "b", .number = 1, .type = VY_PB_DOUBLE}},
        {{.name = "a", .number = 1, .type = VY_PB_DOUBLE}, {.name = "a", .number = 2, .type = VY_PB_DOUBLE}},
        {{.name = "a", .number = 1, .type = VY_PB_MESSAGE}},
        {{.name = "a", .number = 1, .type = VY_PB_ENUM}},
        {{.name = "a", .number = 1, .type = VY_PB_ENUM, .enumeration = &no_zero}},
        {{.name = "a", .number = 1, .type = VY_PB_ENUM, .enumeration = &elsewhere}},
    };
    unsigned char *data = NULL;
    size_t size = 0;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i) {
        const vy_pb_message message = {
            .name = "m.M", .fields = fields[i], .field_count = fields[i][1].name ? 2 : 1};
        assert_int_equal(vy_pb_descriptor_set(&message, &data, &size, NULL), VY_BAD_VALUE);
    }
    const vy_pb_message unnamed = {.name = "m..M"};
    assert_int_equal(vy_pb_descriptor_set(&unnamed, &data, &size, NULL), VY_BAD_VALUE);
    vy_pb_field itself[] = {{.name = "a", .number = 1, .type = VY_PB_MESSAGE}};
    const vy_pb_message loop = {.name = "m.M", .fields = itself, .field_count = 1};
    itself[0].message = &loop;
    assert_int_equal(vy_pb_descriptor_set(&loop, &data, &size, NULL), VY_BAD_VALUE);
    vy_pb_codec *codec = NULL;
    assert_int_equal(vy_pb_codec_create(&loop, &codec, NULL), VY_BAD_VALUE);
    const vy_pb_field text[] = {{.name = "a", .number = 1, .type = VY_PB_STRING}};
    const vy_pb_message not_flat = {.name = "m.M", .fields = text, .field_count = 1};
    assert_int_equal(vy_pb_codec_create(&not_flat, &codec, NULL), VY_BAD_VALUE);
    assert_null(codec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_bytes),
        cmocka_unit_test(codec_round_trip),
        cmocka_unit_test(narrow_types_are_cut),
        cmocka_unit_test(hostile_bytes),
        cmocka_unit_test(writer_stays_in_its_room),
        cmocka_unit_test(descriptor_names_files_and_fields),
        cmocka_unit_test(bad_descriptions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
