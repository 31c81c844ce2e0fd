// test_mesh.c - STL and OBJ: the same cube from each, and every kind of damage refused with its place.
#include "hull_samples.h"
#include "volery/mesh.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int cube_triangles[12][3] = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, {0, 1, 5}, {0, 5, 4},
                                          {2, 6, 7}, {2, 7, 3}, {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};

static size_t binary_cube(unsigned char out[1000])
{
    memset(out, 0, 1000);
    memcpy(out, "solid but binary", 16); // a header that lies, as many do
    out[80] = 12;
    for (int t = 0; t < 12; ++t) {
        for (int k = 0; k < 3; ++k) {
            const vy_vec3 p = cube_corner(cube_triangles[t][k]);
            const float c[3] = {(float)p.x, (float)p.y, (float)p.z};
            memcpy(out + 84 + 50 * t + 12 + 12 * k, c, sizeof c);
        }
    }
    return 84 + 12 * 50;
}

static size_t ascii_cube(char *out, size_t room)
{
    size_t n = (size_t)snprintf(out, room, "solid a cube with a name\n");
    for (int t = 0; t < 12; ++t) {
        n += (size_t)snprintf(out + n, room - n, "  facet normal 0 nan -0.0e0\n    outer loop\r\n");
        for (int k = 0; k < 3; ++k) {
            const vy_vec3 p = cube_corner(cube_triangles[t][k]);
            n += (size_t)snprintf(out + n, room - n, "      VERTEX %.1f\t%+.3e %.0f\n", p.x, p.y, p.z);
        }
        n += (size_t)snprintf(out + n, room - n, "    endloop\n  endfacet\n");
    }
    n += (size_t)snprintf(out + n, room - n, "endsolid a cube\n");
    return n;
}

static const char obj_cube[] =
    "# a cube\nmtllib x.mtl\no cube\n"
    "v -1 -1 -1\nv 1 -1 -1 1.0\nv -1 1 -1\nv 1.0 1. -1 0.5 0.5 0.5\n"
    "v -1 -1 1\nv +1 -1e0 1\nv -1 1 .1e1\nv 10E-1 1 1\nv 50 50 50 # no face uses it\n"
    "vn 0 0 1\nvt 0 0\ns off\nusemtl m\n"
    "f 1 2 4 3\nf 5//1 6//1 8//1 7//1\nf 1/1/1 2/1/1 6/1/1 \\\n 5/1/1\nf -7 -8 -6 -2 -3 -5\n";

static vy_mesh_points read_ok(const void *data, size_t size, double scale)
{
    vy_mesh_points m;
    vy_error err = {0};
    const vy_status status = vy_mesh_read(data, size, scale, "cube", &m, &err);
    if (status != VY_OK) fail_msg("line %d: %s", err.line, err.text);
    return m;
}

static void check_cube(const void *data, size_t size)
{
    vy_mesh_points m = read_ok(data, size, 0.5);
    assert_int_equal(m.count, 8); // each corner once
    vy_hull *h = NULL;
    assert_int_equal(vy_hull_create(m.points, m.count, VY_HULL_TOLERANCE, &h, NULL), VY_OK);
    assert_true(h->face_count == 6 && h->volume == 1.0);
    vy_hull_destroy(h);
    vy_mesh_points_free(&m);
    assert_true(m.points == NULL && m.count == 0);
}

static void one_cube_in_three_formats(void **unused)
{
    (void)unused;
    unsigned char binary[1000];
    char ascii[8000];
    check_cube(binary, binary_cube(binary));
    check_cube(ascii, ascii_cube(ascii, sizeof ascii));
    check_cube(obj_cube, sizeof obj_cube - 1);
}

static void points_keep_their_first_order(void **unused)
{
    (void)unused;
    static const char text[] =
        "v 3 0 0\nv 1 0 0\nv 3 0 0\nv 2 0 0\nv -0 1 0\nv 0 1 -0.0\n"; // no face: all of them
    vy_mesh_points m = read_ok(text, sizeof text - 1, 1.0);
    assert_int_equal(m.count, 4);
    assert_true(m.points[0].x == 3 && m.points[1].x == 1 && m.points[2].x == 2 && m.points[3].y == 1);
    assert_false(signbit(m.points[3].x));
    vy_mesh_points_free(&m);
}

typedef struct refusal {
    const char *text;
    vy_status status;
    int line;
} refusal;

static void bad_text_is_refused_with_its_line(void **unused)
{
    (void)unused;
    static const refusal cases[] = {
        {"", VY_HULL_EMPTY, 1},
        {"\n\n  \n", VY_HULL_EMPTY, 0},
        {"# nothing\no x\n", VY_HULL_EMPTY, 0},
        {"hello world\n", VY_BAD_SYNTAX, 1},
        {"v 1 2 3\nv 1 2\n", VY_BAD_SYNTAX, 2},
        {"v 1 2 3\n\nv 1 2 x\n", VY_BAD_SYNTAX, 3},
        {"v 1 2 3e\n", VY_BAD_SYNTAX, 1},
        {"v 1 2 3e+\n", VY_BAD_SYNTAX, 1},
        {"v 1 2 .\n", VY_BAD_SYNTAX, 1},
        {"v 1 2 -\n", VY_BAD_SYNTAX, 1},
        {"v 1 2 1.2.3\n", VY_BAD_SYNTAX, 1},
        {"v 1 2 0x10\n", VY_BAD_SYNTAX, 1},
        {"v 1 2 1,5\n", VY_BAD_SYNTAX, 1},
        {"v 1 nan 3\n", VY_HULL_NOT_FINITE, 1},
        {"v 1 2 -INF\n", VY_HULL_NOT_FINITE, 1},
        {"v 1 2 1e400\n", VY_HULL_NOT_FINITE, 1},
        {"v 1 2 1e99999999999999999999\n", VY_HULL_NOT_FINITE, 1},
        {"v 1 2 3\nv 1 2e9 3\n", VY_HULL_HUGE, 2},
        {"v 0 0 0\nf 1 1\n", VY_BAD_SYNTAX, 2},
        {"v 0 0 0\nf 1 1 2\n", VY_BAD_SYNTAX, 2},
        {"v 0 0 0\nf 1 1 0\n", VY_BAD_SYNTAX, 2},
        {"v 0 0 0\nf 1 1 -2\n", VY_BAD_SYNTAX, 2},
        {"v 0 0 0\nf 1 1 99999999999999999999\n", VY_BAD_SYNTAX, 2},
        {"v 0 0 0\nf 1 1 x\n", VY_BAD_SYNTAX, 2},
        {"v 0 0 0\nf 1 1 1a\n", VY_BAD_SYNTAX, 2},
        {"v 0 0 0\nf 1 \\\n 1 x\n", VY_BAD_SYNTAX, 3},
        {"solid\n", VY_BAD_SYNTAX, 2},
        {"solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\n", VY_BAD_SYNTAX, 6},
        {"solid\nfacet normal 0 0\nouter loop\n", VY_BAD_SYNTAX, 2},
        {"solid\nfacet abnormal 0 0 1\n", VY_BAD_SYNTAX, 2},
        {"solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 z\n", VY_BAD_SYNTAX, 4},
        {"solid\nendsolid\nsolid\n", VY_BAD_SYNTAX, 4},
        {"solid\nendsolid\ngarbage\n", VY_BAD_SYNTAX, 3},
        {"solid\nendsolid\n", VY_HULL_EMPTY, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        vy_mesh_points m = {(vy_vec3 *)&m, 7};
        vy_error err = {0};
        const vy_status status = vy_mesh_read(cases[i].text, strlen(cases[i].text), 1.0, "bad.obj", &m, &err);
        if (status != cases[i].status || err.line != cases[i].line) {
            fail_msg("case %zu: %s, line %d: %s", i, vy_status_text(status), err.line, err.text);
        }
        assert_string_equal(err.file, "bad.obj");
        assert_true(m.points == NULL && m.count == 0);
        assert_int_equal(vy_mesh_read(cases[i].text, strlen(cases[i].text), 1.0, NULL, &m, NULL),
                         cases[i].status);
    }
    vy_mesh_points m;
    const double scales[] = {0.0, -1.0, NOT_A_NUMBER, INFINITE};
    for (int i = 0; i < 4; ++i)
        assert_int_equal(vy_mesh_read(obj_cube, 10, scales[i], NULL, &m, NULL), VY_BAD_VALUE);
    assert_int_equal(vy_mesh_read(NULL, 0, 1.0, NULL, &m, NULL), VY_HULL_EMPTY);
    assert_int_equal(vy_mesh_read(obj_cube, VY_MESH_BYTES_MAX + 1, 1.0, NULL, &m, NULL), VY_FULL);
}

static void bad_binary_is_refused_with_its_place(void **unused)
{
    (void)unused;
    unsigned char data[1000];
    vy_mesh_points m;
    vy_error err;
    const size_t size = binary_cube(data);
    assert_int_equal(vy_mesh_read(data, size - 1, 1.0, "x", &m, &err), VY_DAMAGED);
    assert_int_equal(vy_mesh_read(data, size + 1, 1.0, "x", &m, &err), VY_DAMAGED);
    data[83] = 0xff; // four billion triangles
    assert_int_equal(vy_mesh_read(data, size, 1.0, "x", &m, &err), VY_DAMAGED);
    assert_non_null(strstr(err.text, "4278190092"));
    data[83] = 0;
    const float bad[] = {NAN, INFINITY, 2e9f};
    for (int i = 0; i < 3; ++i) {
        memcpy(data + 84 + 50 * 3 + 12 + 12 + 8, &bad[i], sizeof(float)); // triangle 3, corner 1, z
        assert_int_equal(vy_mesh_read(data, size, 1.0, "x", &m, &err),
                         i < 2 ? VY_HULL_NOT_FINITE : VY_HULL_HUGE);
        if (i < 2) assert_non_null(strstr(err.text, "triangle 3, byte 266"));
    }
}

// Numbers are read as the C library reads them, to the last bit, and in any locale.
static void numbers_are_correctly_rounded(void **unused)
{
    (void)unused;
    sampler s = {55};
    (void)setlocale(LC_ALL, "de_DE.UTF-8"); // has no effect where it is not installed
    for (int round = 0; round < 20000; ++round) {
        const double expected[3] = {sample_side(&s) * pow(10, 8 * sample_side(&s)), sample_side(&s),
                                    sample_side(&s) * 1e-300};
        char text[200];
        (void)setlocale(LC_ALL, "C");
        const char *const formats[] = {"v %.17g %.17g %.17g\n", "v %.25e %.25f %.20e\n",
                                       "v %.16E %.40f %.17g"};
        const int n = snprintf(text, sizeof text, formats[round % 3], expected[0], expected[1], expected[2]);
        (void)setlocale(LC_ALL, "de_DE.UTF-8");
        vy_mesh_points m = read_ok(text, (size_t)n, 1.0);
        assert_true(m.points[0].x == expected[0] && m.points[0].y == expected[1] &&
                    m.points[0].z == expected[2]);
        vy_mesh_points_free(&m);
    }
    (void)setlocale(LC_ALL, "C");
}

// Bytes changed, cut and doubled at random: any answer is right that is an answer.
static void damaged_files_never_crash(void **unused)
{
    (void)unused;
    sampler s = {66};
    unsigned char binary[1000], data[8000];
    char ascii[8000];
    const size_t binary_size = binary_cube(binary), ascii_size = ascii_cube(ascii, sizeof ascii);
    int good = 0;
    for (int round = 0; round < 30000; ++round) {
        const void *from = round % 3 == 0   ? (void *)binary
                           : round % 3 == 1 ? (void *)ascii
                                            : (const void *)obj_cube;
        const size_t full = round % 3 == 0 ? binary_size : round % 3 == 1 ? ascii_size : sizeof obj_cube - 1;
        memcpy(data, from, full);
        const size_t size = round % 4 == 0 ? (size_t)sample_int(&s, 0, (int)full) : full;
        for (int k = sample_int(&s, 0, 6); k > 0; --k) {
            data[sample_int(&s, 0, (int)full - 1)] =
                round & 1 ? (unsigned char)sample_int(&s, 0, 255)
                          : (unsigned char)"0123456789 \n.-e/fv#\\"[sample_int(&s, 0, 19)];
        }
        unsigned char *exact = malloc(size + 1); // so that reading past the end is seen
        memcpy(exact, data, size);
        unsigned char *end = realloc(exact, size > 0 ? size : 1);
        vy_mesh_points m;
        if (vy_mesh_read(end, size, 1.0, "damaged", &m, NULL) == VY_OK) {
            good += 1;
            vy_hull *h = NULL;
            vy_error err;
            if (vy_hull_create(m.points, m.count, VY_HULL_TOLERANCE, &h, &err) == VY_OK)
                assert_int_equal(vy_hull_check(h, NULL), VY_OK);
            vy_hull_destroy(h);
            vy_mesh_points_free(&m);
        }
        free(end);
    }
    assert_true(good > 1000 && good < 29000);
}

static void many_points_are_found_again(void **unused)
{
    (void)unused;
    enum { N = 20000 };
    char *text = malloc(2 * N * 40);
    size_t n = 0;
    for (int i = 0; i < 2 * N; ++i) {
        const int k = i % N;
        n += (size_t)snprintf(text + n, 40, "v %d %d %d\n", k % 27, k / 27 % 27, k / 729);
    }
    vy_mesh_points m = read_ok(text, n, 1.0);
    assert_int_equal(m.count, N);
    for (int i = 0; i < N; ++i) assert_true(m.points[i].x == i % 27 && m.points[i].z == i / 729);
    vy_mesh_points_free(&m);
    free(text);
}

static void a_file_makes_a_hull(void **unused)
{
    (void)unused;
    static const char path[] = "mesh_test_cube.obj";
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(obj_cube, 1, sizeof obj_cube - 1, file), sizeof obj_cube - 1);
    fclose(file);
    vy_hull *h = NULL;
    vy_error err;
    assert_int_equal(vy_hull_from_file(path, 0.001, VY_HULL_TOLERANCE, &h, &err), VY_OK);
    assert_true(fabs(h->volume - 8e-9) < 1e-22);
    vy_hull_destroy(h);

    file = fopen(path, "wb");
    assert_true(fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n", file) >= 0);
    fclose(file);
    assert_int_equal(vy_hull_from_file(path, 1.0, VY_HULL_TOLERANCE, &h, &err), VY_HULL_COPLANAR);
    assert_string_equal(err.file, path);
    assert_null(h);
    remove(path);
    assert_int_equal(vy_hull_from_file(path, 1.0, VY_HULL_TOLERANCE, &h, &err), VY_IO);
    assert_string_equal(err.file, path);
    assert_int_equal(vy_hull_from_file(".", 1.0, VY_HULL_TOLERANCE, &h, &err), VY_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_cube_in_three_formats),
        cmocka_unit_test(points_keep_their_first_order),
        cmocka_unit_test(bad_text_is_refused_with_its_line),
        cmocka_unit_test(bad_binary_is_refused_with_its_place),
        cmocka_unit_test(numbers_are_correctly_rounded),
        cmocka_unit_test(damaged_files_never_crash),
        cmocka_unit_test(many_points_are_found_again),
        cmocka_unit_test(a_file_makes_a_hull),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
