// test_ulog.c - recorded flights from PX4's ULog files: axes, times, empty cells; cut and damaged files do no
// harm. `test_ulog write FILE` writes the sample that tests/ulog_pyulog.py has pyulog read; `test_ulog print
// FILE` prints what is read of any.
#include "fit/ulog.h"
#include "ulog_write.h"
#include "volery/fit.h"

static void a_log_becomes_a_flight(void **unused)
{
    (void)unused;
    ulog_file file = ulog_sample(50);
    vy_flight *f = NULL;
    vy_error err;
    assert_true(vy_ulog_is(file.data, file.size));
    assert_int_equal(vy_ulog_parse(file.data, file.size, "a.ulg", &f, &err), VY_OK);
    assert_int_equal((int)f->rows, 50);
    assert_near(f->start, 1.0, 1e-12);
    assert_near(f->values[VY_FLIGHT_TIME][49], 49 * 0.004, 1e-12);
    const double rate[3] = {0.1, -0.2, -0.3}, accel[3] = {1.0, -2.0, 9.8}, place[3] = {2.0, 1.0, 3.0};
    for (int a = 0; a < 3; ++a) { // forward-left-up, east-north-up
        assert_near(f->values[VY_FLIGHT_RATE + a][3], rate[a], 1e-7);
        assert_near(f->values[VY_FLIGHT_ACCEL + a][3], accel[a], 1e-6);
        assert_near(f->values[VY_FLIGHT_POSITION + a][2], place[a], 1e-7);
        assert_true(isnan(f->values[VY_FLIGHT_POSITION + a][3])); // no new one in this row
    }
    assert_near(f->values[VY_FLIGHT_VELOCITY][0], 0.2, 1e-7);
    assert_near(f->values[VY_FLIGHT_VELOCITY + 2][0], 0.3, 1e-7);
    // Heading east, level: body x is world x.
    assert_near(fabs(f->values[VY_FLIGHT_ATTITUDE][0]), 1.0, 1e-7);
    assert_near(f->values[VY_FLIGHT_MOTOR + 3][1], 0.53, 1e-7);
    assert_near(f->values[VY_FLIGHT_MOTOR + 4][1], 0.0, 0.0);
    assert_null(f->values[VY_FLIGHT_VOLTAGE]);
    vy_flight_free(f);
    free(file.data);
}

static void mistakes_are_told(void **unused)
{
    (void)unused;
    ulog_file file = ulog_sample(20);
    vy_flight *f = NULL;
    vy_error err;
    for (size_t size = 0; size <= file.size; ++size) { // cut anywhere: a sentence, or what there is
        if (vy_ulog_parse(file.data, size, "a.ulg", &f, &err) == VY_OK) {
            assert_true(f->rows >= 2 && f->rows <= 20);
            vy_flight_free(f);
        } else {
            assert_null(f);
            assert_true(err.text[0] != '\0');
        }
    }
    assert_int_equal(vy_ulog_parse("nothing of the kind", 19, NULL, &f, &err), VY_DAMAGED);
    // A message that is shorter than its format says.
    const float little[2] = {0.0f, 0.0f};
    ulog_data(&file, 0, 5000000u, little, 2);
    assert_int_equal(vy_ulog_parse(file.data, file.size, "a.ulg", &f, &err), VY_DAMAGED);
    assert_non_null(strstr(err.text, "sensor_combined is shorter"));
    free(file.data);
    // Without commands.
    ulog_file bare = {NULL, 0};
    const unsigned char head[16] = {'U', 'L', 'o', 'g', 0x01, 0x12, 0x35, 1};
    ulog_put(&bare, head, sizeof head);
    assert_int_equal(vy_ulog_parse(bare.data, bare.size, "a.ulg", &f, &err), VY_NOT_FOUND);
    assert_non_null(strstr(err.text, "sensor_combined"));
    free(bare.data);
}

// Any change of a byte is read or refused, never more.
static void damage_does_no_harm(void **unused)
{
    (void)unused;
    random_source r = {9};
    ulog_file file = ulog_sample(10);
    for (int trial = 0; trial < 5000; ++trial) {
        unsigned char *copy = malloc(file.size);
        vy_flight *f = NULL;
        vy_error err;
        assert_non_null(copy);
        memcpy(copy, file.data, file.size);
        for (int k = 0; k < 3; ++k) {
            const size_t at = 16 + (size_t)(random_bits(&r) % (file.size - 16));
            copy[at] = (unsigned char)random_bits(&r);
        }
        (void)vy_ulog_parse(copy, file.size, "a.ulg", &f, &err);
        vy_flight_free(f);
        free(copy);
    }
    free(file.data);
}

static int print_flight(const char *path)
{
    vy_flight *f = NULL;
    vy_error err;
    if (vy_fit_read(path, NULL, NULL, &f, &err) != VY_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (size_t i = 0; i < f->rows; ++i) {
        printf("%.6f", f->start + f->values[VY_FLIGHT_TIME][i]);
        for (int a = 0; a < 6; ++a) printf(",%.9g", f->values[VY_FLIGHT_RATE + a][i]);
        for (int k = 0; k < 4; ++k) printf(",%.9g", f->values[VY_FLIGHT_MOTOR + k][i]);
        printf("\n");
    }
    vy_flight_free(f);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "print") == 0) return print_flight(argv[2]);
    if (argc == 3 && strcmp(argv[1], "write") == 0) {
        const ulog_file file = ulog_sample(50);
        FILE *out = fopen(argv[2], "wb");
        if (out == NULL) return 1;
        fwrite(file.data, 1, file.size, out);
        free(file.data);
        return fclose(out);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_becomes_a_flight),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(damage_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
