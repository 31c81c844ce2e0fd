// test_wind_grid.c - gridded wind files: what is read is what was written, in any order; every kind of
// mistake is found and placed; cut files do no harm.
#include "check.h"
#include "declared_wind.h"
#include "environment/wind_grid.h"
#include <stdlib.h>

static const char header[] = "t,x,y,z,u,v,w\n";

static vy_wind_grid *read_good(const char *text)
{
    vy_wind_grid *grid = NULL;
    vy_error err;
    const vy_status status = vy_wind_grid_read(text, strlen(text), "good.csv", &grid, &err);
    if (status != VY_OK) print_error("line %d column %d: %s\n", err.line, err.column, err.text);
    assert_int_equal(status, VY_OK);
    assert_non_null(grid);
    return grid;
}

static void wind_grid_reads_a_file_written_by_hand(void **unused)
{
    (void)unused;
    vy_wind_grid *grid = read_good("# a valley\r\n"
                                   "\n"
                                   "  t , x,y,z ,u,v,w # the columns\r\n"
                                   "0, 0, 0, 0,   1, 0, -0\n"
                                   "0, 10, 0, 0,  2, 0.5, .25\r\n"
                                   "   # remark\n"
                                   "0, 0, 0, 1e1, +3, -1E-1, 0.\n"
                                   "0, 10,0, 10,  4.5e0, 0, 1"); // no end of line
    const wind_grid *g = &grid->field;
    assert_true(g->nx == 2 && g->ny == 1 && g->nz == 2 && g->nt == 1);
    assert_true(g->x0 == 0.0 && g->dx == 10.0 && g->z0 == 0.0 && g->dz == 10.0);
    assert_true(g->dy > 0.0 && g->dt > 0.0);
    const double want[12] = {1, 0, 0, 2, 0.5, 0.25, 3, -0.1, 0, 4.5, 0, 1};
    for (int i = 0; i < 12; ++i) assert_true(g->velocity[i] == want[i]);
    assert_true(!signbit(g->velocity[2])); // "-0" is 0
    assert_near(g->speed_max, sqrt(4.5 * 4.5 + 1.0), 1e-14);
    const wind_params p = {.grid = *g};
    assert_vec_near(wind_at(&p, vec3_make(5.0, 99.0, 5.0), 7.0), vec3_make(2.625, 0.1, 0.3125), 1e-15);
    vy_wind_grid_destroy(grid);
    vy_wind_grid_destroy(NULL);
}

// A field written with all digits, rows shuffled, is the same field; its bound holds at every node.
static void wind_grid_order_of_rows_is_free(void **unused)
{
    (void)unused;
    random_source r = {1};
    enum { POINT_CAP = 400, ROOM = 160 * POINT_CAP };
    char *text = malloc(ROOM);
    assert_non_null(text);
    for (int trial = 0; trial < 200; ++trial) {
        const int n[4] = {1 + (int)(random_bits(&r) % 4), 1 + (int)(random_bits(&r) % 5),
                          1 + (int)(random_bits(&r) % 4), 1 + (int)(random_bits(&r) % 5)}; // t, x, y, z
        const int nodes = n[0] * n[1] * n[2] * n[3];
        double first[4], spacing[4], velocity[3 * POINT_CAP];
        int order[POINT_CAP];
        for (int k = 0; k < 4; ++k) {
            first[k] = random_in(&r, -1e3, 1e3);
            spacing[k] = pow(10.0, random_in(&r, -2.0, 3.0));
        }
        for (int i = 0; i < 3 * nodes; ++i) velocity[i] = random_in(&r, -30.0, 30.0);
        for (int i = 0; i < nodes; ++i) {
            const int j = (int)(random_bits(&r) % (uint64_t)(i + 1));
            order[i] = order[j];
            order[j] = i;
        }
        size_t used = (size_t)snprintf(text, ROOM, "%s", header);
        for (int i = 0; i < nodes; ++i) {
            const int node = order[i], x = node % n[1], y = node / n[1] % n[2],
                      z = node / (n[1] * n[2]) % n[3];
            const int t = node / (n[1] * n[2] * n[3]);
            const double *v = velocity + 3 * node;
            used += (size_t)snprintf(text + used, ROOM - used, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n",
                                     first[0] + t * spacing[0], first[1] + x * spacing[1],
                                     first[2] + y * spacing[2], first[3] + z * spacing[3], v[0], v[1], v[2]);
        }
        vy_wind_grid *grid = read_good(text);
        const wind_grid *g = &grid->field;
        assert_true(g->nt == n[0] && g->nx == n[1] && g->ny == n[2] && g->nz == n[3]);
        if (n[1] > 1) assert_near(g->dx, spacing[1], 1e-9 * (spacing[1] + 1.0));
        assert_true(g->x0 == first[1] && g->y0 == first[2] && g->z0 == first[3] && g->t0 == first[0]);
        for (int i = 0; i < nodes; ++i) {
            const vec3 v = vec3_make(velocity[3 * i], velocity[3 * i + 1], velocity[3 * i + 2]);
            assert_true(g->velocity[3 * i] == v.x && g->velocity[3 * i + 1] == v.y &&
                        g->velocity[3 * i + 2] == v.z);
            assert_true(vec3_length(v) <= g->speed_max);
        }
        vy_wind_grid_destroy(grid);
    }
    free(text);
}

typedef struct mistake {
    const char *text;
    vy_status status;
    int line, column;
    const char *says; // a part of the sentence
} mistake;

static const mistake mistakes[] = {
    {"", VY_BAD_SYNTAX, 0, 0, "header"},
    {"# only a remark\n", VY_BAD_SYNTAX, 1, 0, "header"},
    {"0,0,0,0,1,1,1\n", VY_BAD_SYNTAX, 1, 1, "column 't'"},
    {"x,y,z,u,v,w\n", VY_BAD_SYNTAX, 1, 12, "6 fields"},
    {"t,x,y,z,v,u,w\n", VY_BAD_SYNTAX, 1, 9, "column 'u'"},
    {"t,x,y,z,u,v,w\n", VY_BAD_VALUE, 1, 0, "no rows"},
    {"t,x,y,z,u,v,w\n0,0,0,0,1,1\n", VY_BAD_SYNTAX, 2, 12, "6 fields, expected 7"},
    {"t,x,y,z,u,v,w\n0,0,0,0,1,1,1,1\n", VY_BAD_SYNTAX, 2, 15, "more than 7 fields"},
    {"t,x,y,z,u,v,w\n0,0,0,0,1,1,\n", VY_BAD_SYNTAX, 2, 13, "w: expected a number, found ''"},
    {"t,x,y,z,u,v,w\n0,0,0,0,1,fast,1\n", VY_BAD_SYNTAX, 2, 11, "v: expected a number, found 'fast'"},
    {"t,x,y,z,u,v,w\n0,0,0,0,1,0x10,1\n", VY_BAD_SYNTAX, 2, 11, "number"},
    {"t,x,y,z,u,v,w\n0,0,0,0,1,1e,1\n", VY_BAD_SYNTAX, 2, 11, "number"},
    {"t,x,y,z,u,v,w\n0,0,0,0,1,1 2,1\n", VY_BAD_SYNTAX, 2, 11, "number"},
    {"t,x,y,z,u,v,w\n0,0,0,0, nan,1,1\n", VY_BAD_VALUE, 2, 10, "u = nan is not a finite"},
    {"t,x,y,z,u,v,w\n0,0,-Inf,0,1,1,1\n", VY_BAD_VALUE, 2, 5, "y = -Inf is not a finite"},
    {"t,x,y,z,u,v,w\n0,0,0,0,1,1,1e999\n", VY_BAD_VALUE, 2, 13, "w = 1e999 is beyond"},
    {"t,x,y,z,u,v,w\n0,0,0,0,10001,1,1\n", VY_BAD_VALUE, 2, 9, "m/s"},
    {"t,x,y,z,u,v,w\n0,2e9,0,0,1,1,1\n", VY_BAD_VALUE, 2, 3, "x = 2e9"},
    // a hole: the first in the order t, z, y, x
    {"t,x,y,z,u,v,w\n0,0,0,0,1,1,1\n0,1,1,0,1,1,1\n", VY_BAD_VALUE, 0, 0,
     "hole: no row for t = 0, x = 1, y = 0, z = 0"},
    {"t,x,y,z,u,v,w\n5,0,0,2,1,1,1\n5,0,0,4,1,1,1\n7,0,0,4,1,1,1\n", VY_BAD_VALUE, 0, 0,
     "hole: no row for t = 7, x = 0, y = 0, z = 2"},
    // as many rows as nodes, one of them twice
    {"t,x,y,z,u,v,w\n0,0,0,0,1,1,1\n0,1,0,0,1,1,1\n0,0,0,0,2,2,2\n", VY_BAD_VALUE, 4, 0, "before, on line 2"},
    {"t,x,y,z,u,v,w\n0,0,0,0,1,1,1\n0,1,1,0,1,1,1\n0,1,0,0,1,1,1\n0,-0.0,0,0,1,1,1\n", VY_BAD_VALUE, 5, 0,
     "line 2"},
    {"t,x,y,z,u,v,w\n0,0,0,0,1,1,1\n0,3,0,0,1,1,1\n\n0,1,0,0,1,1,1\n", VY_BAD_VALUE, 5, 0,
     "uneven distances along x"},
    {"t,x,y,z,u,v,w\n0,0,0,0,1,1,1\n0,0,0,0.3,1,1,1\n0,0,0,0.30000001,1,1,1\n", VY_BAD_VALUE, 3, 0,
     "along z"},
};

static void wind_grid_finds_and_places_mistakes(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; ++i) {
        const mistake *m = &mistakes[i];
        vy_wind_grid *grid = (vy_wind_grid *)&mistakes; // must become NULL
        vy_error err;
        const vy_status status = vy_wind_grid_read(m->text, strlen(m->text), "bad.csv", &grid, &err);
        const int good = status == m->status && err.status == status && err.line == m->line &&
                         err.column == m->column && strstr(err.text, m->says) != NULL &&
                         strcmp(err.file, "bad.csv") == 0 && grid == NULL;
        if (!good) {
            print_error("mistake %zu: status %d, line %d, column %d: %s\n", i, (int)status, err.line,
                        err.column, err.text);
        }
        assert_true(good);
        assert_int_equal(vy_wind_grid_read(m->text, strlen(m->text), NULL, &grid, NULL), status);
    }
}

// Distances that were rounded when written down are still equal.
static void wind_grid_forgives_rounded_axes(void **unused)
{
    (void)unused;
    vy_wind_grid *grid =
        read_good("t,x,y,z,u,v,w\n0,0,0,0,1,0,0\n0,0.3333,0,0,2,0,0\n0,0.6667,0,0,3,0,0\n0,1,0,0,4,0,0\n");
    assert_int_equal(grid->field.nx, 4);
    assert_near(grid->field.dx, 1.0 / 3.0, 1e-16);
    vy_wind_grid_destroy(grid);
}

// Whatever is cut off the end of a good file: an error or a smaller grid, never harm. Whatever byte is
// changed: the same.
static void wind_grid_survives_damage(void **unused)
{
    (void)unused;
    random_source r = {2};
    char text[1024];
    size_t size = (size_t)snprintf(text, sizeof text, "%s", header);
    for (int i = 0; i < 24; ++i) {
        size += (size_t)snprintf(text + size, sizeof text - size, "%d,%d,%d,%d,1.5,-2,3e-1\n", i / 12, i % 3,
                                 i / 3 % 2, i / 6 % 2);
    }
    int good = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        char *copy = malloc(size); // its own block: the sanitizers see one byte too far
        assert_non_null(copy);
        memcpy(copy, text, size);
        const size_t length = trial % 2 ? size : (size_t)(random_bits(&r) % size);
        static const char bytes[] = "0123456789.,-+eE#\n \r\t\x00\xff";
        for (uint64_t k = random_bits(&r) % 4; k > 0 && length > 0; --k) {
            const uint64_t first = random_bits(&r), second = random_bits(&r);
            copy[first % length] = bytes[second % (sizeof bytes - 1)];
        }
        char *cut = malloc(length > 0 ? length : 1);
        assert_non_null(cut);
        memcpy(cut, copy, length);
        vy_wind_grid *grid;
        vy_error err = {0};
        const vy_status status = vy_wind_grid_read(cut, length, "cut", &grid, &err);
        assert_true((status == VY_OK) == (grid != NULL));
        assert_true(status == VY_OK || err.text[0] != '\0');
        good += status == VY_OK;
        vy_wind_grid_destroy(grid);
        free(cut);
        free(copy);
    }
    assert_true(good > 100);
}

// More values along an axis than the limit, as many holes as that makes.
static void wind_grid_limits_hold(void **unused)
{
    (void)unused;
    const size_t room = (size_t)32 * (VY_WIND_GRID_AXIS_MAX + 2);
    char *text = malloc(room);
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, room, "%s", header);
    for (int i = 0; i < VY_WIND_GRID_AXIS_MAX; ++i) {
        used += (size_t)snprintf(text + used, room - used, "%d,%d,%d,%d,0,0,0\n", i, i, i, i);
    }
    vy_wind_grid *grid;
    vy_error err;
    assert_int_equal(vy_wind_grid_read(text, used, NULL, &grid, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "hole: no row for t = 0, x = 1, y = 0, z = 0"));
    used += (size_t)snprintf(text + used, room - used, "%d,0,0,0,0,0,0\n", VY_WIND_GRID_AXIS_MAX);
    assert_int_equal(vy_wind_grid_read(text, used, NULL, &grid, &err), VY_FULL);
    assert_int_equal(err.line, VY_WIND_GRID_AXIS_MAX + 2);
    free(text);
    assert_int_equal(vy_wind_grid_read(header, VY_WIND_GRID_BYTES_MAX + 1, NULL, &grid, &err), VY_FULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wind_grid_reads_a_file_written_by_hand),
        cmocka_unit_test(wind_grid_order_of_rows_is_free),
        cmocka_unit_test(wind_grid_finds_and_places_mistakes),
        cmocka_unit_test(wind_grid_forgives_rounded_axes),
        cmocka_unit_test(wind_grid_survives_damage),
        cmocka_unit_test(wind_grid_limits_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
