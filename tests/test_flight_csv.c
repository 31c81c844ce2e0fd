// test_flight_csv.c - recorded flights as tables of text: units, mappings, empty cells; each kind of bad
// input has its sentence.
#include "check.h"
#include "scenario/flight_csv.h"
#include <stdlib.h>

static const char mapping_text[] = "# of a Crazyflie\n"
                                   "time: t_ms ms\n"
                                   "accel.z: \"acc z\" mg   # up\n"
                                   "rate.y: gy deg/s *-1\n"
                                   "motor.0: m4 /65535\r\n"
                                   "motor.1: pwm 1000..2000\n";

static vy_flight_mapping mapping_of(const char *text)
{
    vy_flight_mapping m;
    vy_error err;
    const vy_status status = vy_flight_mapping_parse(text, strlen(text), "map", &m, &err);
    if (status != VY_OK) print_error("line %d: %s\n", err.line, err.text);
    assert_int_equal(status, VY_OK);
    return m;
}

static void a_mapping_brings_columns_to_si_units(void **unused)
{
    (void)unused;
    const vy_flight_mapping m = mapping_of(mapping_text);
    static const char text[] = "gy,unused,t_ms,acc z,m4,pwm\n"
                               "180, x ,1000,1000,65535,1500\n"
                               "\n# a remark\n"
                               "-90,,1010,500,0,2000\r\n"
                               ",,1020,,,";
    vy_flight *f = NULL;
    vy_error err;
    assert_int_equal(vy_flight_parse(text, strlen(text), &m, "a.csv", &f, &err), VY_OK);
    assert_int_equal((int)f->rows, 3);
    assert_near(f->start, 1.0, 1e-15);
    assert_near(f->values[VY_FLIGHT_TIME][2], 0.02, 1e-15);
    assert_near(f->values[VY_FLIGHT_RATE + 1][0], -acos(-1.0), 1e-15);
    assert_near(f->values[VY_FLIGHT_RATE + 1][1], 0.5 * acos(-1.0), 1e-15);
    assert_true(isnan(f->values[VY_FLIGHT_RATE + 1][2])); // missing
    assert_near(f->values[VY_FLIGHT_ACCEL + 2][0], 9.80665, 1e-14);
    assert_near(f->values[VY_FLIGHT_MOTOR][0], 1.0, 1e-15);
    assert_near(f->values[VY_FLIGHT_MOTOR][2], 0.0, 1e-15); // a command holds
    assert_near(f->values[VY_FLIGHT_MOTOR + 1][0], 0.5, 1e-15);
    assert_near(f->values[VY_FLIGHT_MOTOR + 1][2], 1.0, 1e-15);
    assert_null(f->values[VY_FLIGHT_RATE]);
    vy_flight_free(f);
    vy_flight_free(NULL);
}

static void without_a_mapping_columns_have_their_own_names(void **unused)
{
    (void)unused;
    static const char text[] = "time,rate.x,motor.3,other\n0,1.5,0.25,a\n0.5,2.5,0.5,b\n";
    vy_flight *f = NULL;
    assert_int_equal(vy_flight_parse(text, strlen(text), NULL, NULL, &f, NULL), VY_OK);
    assert_true(f->values[VY_FLIGHT_RATE][1] == 2.5 && f->values[VY_FLIGHT_MOTOR + 3][0] == 0.25);
    vy_flight_free(f);
}

// Tables as other programs write them: a mark of UTF-8 first, lines that end as Windows' do, names in quotes
// with commas in them, bytes of another encoding where nobody asked for them.
static void tables_of_other_programs_are_read(void **unused)
{
    (void)unused;
    static const char text[] = "\xef\xbb\xbf\"time\", \"rate.x\" ,\"note, with a comma\",\"\",T \xb0"
                               "C\r\n0,\"1.5\",\"a,b\",\"\",\r\n0.5,2.5,,,20\r\n";
    vy_flight *f = NULL;
    vy_error err = {0};
    if (vy_flight_parse(text, sizeof text - 1, NULL, "a.csv", &f, &err) != VY_OK)
        fail_msg("%d:%d: %s", err.line, err.column, err.text);
    assert_int_equal((int)f->rows, 2);
    assert_true(f->values[VY_FLIGHT_RATE][0] == 1.5 && f->values[VY_FLIGHT_RATE][1] == 2.5);
    vy_flight_free(f);
    const vy_flight_mapping m = mapping_of("\xef\xbb\xbf"
                                           "time: t ms\r\n");
    assert_string_equal(m.column[VY_FLIGHT_TIME], "t");
}

static void a_mapping_of_one_line_is_the_same(void **unused)
{
    (void)unused;
    const vy_flight_mapping a = mapping_of("time: t_ms ms\nmotor.0: m4 /65535\n"),
                            b = mapping_of("time=t_ms ms, motor.0=m4 /65535");
    assert_memory_equal(&a, &b, sizeof a);
    for (int q = 0; q < VY_FLIGHT_QUANTITY_COUNT; ++q) { // every quantity can be mapped
        vy_flight_mapping m = {.scale = {0}};
        assert_int_equal(vy_flight_mapping_set(&m, vy_flight_quantity_name(q), "c *2", NULL), VY_OK);
        assert_true(m.scale[q] == 2.0 && strcmp(m.column[q], "c") == 0);
    }
}

static void mistakes_of_a_mapping_are_told(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *part;
        int line;
    } cases[] = {
        {"time: t\nspeed: v\n", "no \"speed\"", 2},
        {"time: t kg\n", "is no unit", 1},
        {"time: t deg/s\n", "cannot be in deg/s", 1},
        {"motor.0: m /0\n", "cannot be counted", 1},
        {"motor.0: m 5..5\n", "no range", 1},
        {"motor.0:\n", "which column", 1},
        {"motor.0: \"m\n", "no end", 1},
        {"time: t\ntime: u\n", "twice", 2},
        {"just words\n", "a mapping is", 1},
        {"\n# nothing\n", "empty", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        vy_flight_mapping m;
        vy_error err;
        assert_int_not_equal(vy_flight_mapping_parse(cases[i].text, strlen(cases[i].text), "m", &m, &err),
                             VY_OK);
        if (strstr(err.text, cases[i].part) == NULL) print_error("%s\n", err.text);
        assert_non_null(strstr(err.text, cases[i].part));
        assert_int_equal(err.line, cases[i].line);
    }
}

static void mistakes_of_a_table_are_told(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *part;
        vy_status status;
        int line, column;
    } cases[] = {
        {"", "no header", VY_BAD_SYNTAX, 0, 0},
        {"t,x\n0,1\n", "no column is the time", VY_NOT_FOUND, 1, 1},
        {"# a flight\ntime;rate.x\n0;1\n", "separated by commas, not by semicolons", VY_BAD_SYNTAX, 2, 1},
        {"time\trate.x\n0\t1\n", "separated by commas, not by tabs", VY_BAD_SYNTAX, 1, 1},
        {"time,rate.x\n0,1\n1,\x1b[31m\n", "a byte 0x1b", VY_BAD_SYNTAX, 3, 1},
        {"\xff\xfet\x01i\x01m", "a byte 0x01", VY_BAD_SYNTAX, 1, 1},
        {"time,rate.x\n0,1\n", "fewer than two rows", VY_BAD_VALUE, 2, 1},
        {"time,rate.x\n", "fewer than two rows", VY_BAD_VALUE, 1, 1},
        {"time,rate.x\n0,1\n0.1,x\n", "\"x\" is not a number", VY_BAD_SYNTAX, 3, 2},
        {"time,rate.x\n0,1\n0.1,\xc2\xb5\xc2\x9b\xff\n", "\"\xc2\xb5???\" is not", VY_BAD_SYNTAX, 3, 2},
        {"time,rate.x\n0,1\n0.1,nan\n", "not a number", VY_BAD_SYNTAX, 3, 2},
        {"time,rate.x\n0,1\n0.1\n", "a row has 2 cells", VY_BAD_SYNTAX, 3, 1},
        {"time,rate.x\n0,1\n0.1,2,3\n", "a row has 2 cells", VY_BAD_SYNTAX, 3, 3},
        {"time,rate.x,rate.x\n0,1,1\n0.1,2,2\n", "twice", VY_BAD_VALUE, 1, 3},
        {"time,motor.0\n0,\n0.1,1\n", "missing", VY_BAD_SYNTAX, 2, 2},
        {"rate.x,time\n1,0\n\n#\n2,0.1\n1,0.05\n", "time goes back", VY_BAD_VALUE, 6, 2},
        {"time,rate.x\n0,1\n0.1,2\n0.1,1\n", "stands still", VY_BAD_VALUE, 4, 1},
        {"time,rate.x\n0,1\n4,2\n8,1\n", "another unit", VY_BAD_VALUE, 3, 1},
        {"time,rate.x\n0,1\n.01,2\n.02,1\n.03,1\n.9,1\n", "a gap of 0.87 s", VY_BAD_VALUE, 6, 1},
        {"time,rate.x\n0,1\n.01,200\n", "deg/s", VY_BAD_VALUE, 3, 2},
        {"time,accel.z\n0,1\n.01,1\n", "accel.z is usually 1 ", VY_BAD_VALUE, 1, 2},
        {"time,accel.z\n0,-9.8\n.01,-9.8\n", "upside down", VY_BAD_VALUE, 1, 2},
        {"time,motor.0\n0,0.5\n.01,40000\n", "/65535", VY_BAD_VALUE, 3, 2},
        {"time,motor.0\n0,-0.5\n.01,0.4\n", "motor.0 is -0.5 at 0 s", VY_BAD_VALUE, 2, 2},
        {"time,rotor.0\n0,0.5\n.01,40000\n", "rpm", VY_BAD_VALUE, 3, 2},
        {"time,rotor.0\n0,0.5\n.01,-40000\n", "not negative", VY_BAD_VALUE, 3, 2},
        {"time,velocity.x\n0,0.5\n.01,4000\n", "mm/s", VY_BAD_VALUE, 3, 2},
        {"time,position.z\n0,0.5\n.01,-4000000\n", "mm or cm", VY_BAD_VALUE, 3, 2},
        {"time,position.x\n0,0.5\n.01,\n.02,1100\n", "moves by 1099.5 m within a second", VY_BAD_VALUE, 4, 2},
        {"time,attitude.w\n0,1\n.01,1\n", "four columns", VY_BAD_VALUE, 1, 2},
        {"time,attitude.w,attitude.x,attitude.y,attitude.z\n0,1,0,0,0\n.01,30,2,3,0\n", "no unit quaternion",
         VY_BAD_VALUE, 3, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        vy_flight *f = (vy_flight *)&f;
        vy_error err;
        const vy_status status =
            vy_flight_parse(cases[i].text, strlen(cases[i].text), NULL, "a.csv", &f, &err);
        if (status != cases[i].status || strstr(err.text, cases[i].part) == NULL ||
            err.line != cases[i].line || err.column != cases[i].column)
            print_error("%s:%d:%d: %s\n", cases[i].text, err.line, err.column,
                        status == VY_OK ? "accepted" : err.text);
        assert_int_equal(status, cases[i].status);
        assert_null(f);
        assert_non_null(strstr(err.text, cases[i].part));
        assert_string_equal(err.file, "a.csv");
        assert_int_equal(err.line, cases[i].line);
        assert_int_equal(err.column, cases[i].column);
    }
    const vy_flight_mapping m = mapping_of(mapping_text);
    vy_flight *f = NULL;
    vy_error err;
    static const char other[] = "t_ms,m4,pwm,gy\n0,1,1500,0\n";
    assert_int_equal(vy_flight_parse(other, strlen(other), &m, NULL, &f, &err), VY_NOT_FOUND);
    assert_non_null(strstr(err.text, "no column \"acc z\", which accel.z is mapped to"));
    assert_int_equal(vy_flight_load("tests/data/none.csv", NULL, &f, &err), VY_IO);
}

// A flight written with all digits is read back to the bit, wherever its columns stand.
static void flights_come_back_as_they_were_written(void **unused)
{
    (void)unused;
    random_source r = {3};
    char *text = malloc(1 << 16);
    assert_non_null(text);
    for (int trial = 0; trial < 100; ++trial) {
        enum { ROWS = 20, COLUMNS = 7 };
        static const int quantities[COLUMNS] = {
            VY_FLIGHT_TIME,  VY_FLIGHT_POSITION,  VY_FLIGHT_VELOCITY + 2, VY_FLIGHT_RATE + 1,
            VY_FLIGHT_MOTOR, VY_FLIGHT_MOTOR + 3, VY_FLIGHT_ROTOR + 2};
        int order[COLUMNS];
        double value[COLUMNS][ROWS], t = 0.0;
        for (int c = 0; c < COLUMNS; ++c) order[c] = c;
        for (int c = COLUMNS - 1; c > 0; --c) {
            const int k = (int)(random_bits(&r) % (uint64_t)(c + 1)), kept = order[c];
            order[c] = order[k];
            order[k] = kept;
        }
        size_t at = 0;
        for (int c = 0; c < COLUMNS; ++c)
            at += (size_t)sprintf(text + at, "%s%s", c > 0 ? "," : "",
                                  vy_flight_quantity_name(quantities[order[c]]));
        for (int i = 0; i < ROWS; ++i) {
            for (int c = 0; c < COLUMNS; ++c) value[c][i] = random_in(&r, 0.0, 1.0);
            value[0][i] = t;
            t += random_in(&r, 0.008, 0.012);
            for (int c = 0; c < COLUMNS; ++c)
                at += (size_t)sprintf(text + at, "%c%.17g", c > 0 ? ',' : '\n', value[order[c]][i]);
        }
        vy_flight *f = NULL;
        assert_int_equal(vy_flight_parse(text, at, NULL, NULL, &f, NULL), VY_OK);
        for (int c = 0; c < COLUMNS; ++c)
            assert_memory_equal(f->values[quantities[c]], value[c], sizeof value[c]);
        vy_flight_free(f);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mapping_brings_columns_to_si_units),
        cmocka_unit_test(without_a_mapping_columns_have_their_own_names),
        cmocka_unit_test(tables_of_other_programs_are_read),
        cmocka_unit_test(a_mapping_of_one_line_is_the_same),
        cmocka_unit_test(mistakes_of_a_mapping_are_told),
        cmocka_unit_test(mistakes_of_a_table_are_told),
        cmocka_unit_test(flights_come_back_as_they_were_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
