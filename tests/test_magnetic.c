// test_magnetic.c - the World Magnetic Model against values of another implementation (PyPI pygeomag 1.1.0).
#include "check.h"
#include "volery/magnetic.h"

#define DEGREE (PI / 180.0)

typedef struct reference {
    double latitude, longitude; // [deg]
    double height, date;        // [m], years
    vy_vec3 field;              // [nT] east, north, up
} reference;

static void fields_are_those_of_another_implementation(void **unused)
{
    (void)unused;
    static const reference list[] = {
#include "data/wmm2025_values.inl"
    };
    double worst = 0.0;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        const reference *r = &list[i];
        vy_vec3 b;
        assert_int_equal(
            vy_magnetic_model(r->latitude * DEGREE, r->longitude * DEGREE, r->height, r->date, &b, NULL),
            VY_OK);
        worst = fmax(worst, check_distance((vy_vec3){1e9 * b.x, 1e9 * b.y, 1e9 * b.z}, r->field));
    }
    print_message("magnetic: within %.1e nT of another implementation at %zu places\n", worst,
                  sizeof list / sizeof list[0]);
    assert_true(worst < 0.1); // 5 nT are asked for
}

// The field has no sources: its flux out of a small box vanishes; and it is smooth across a pole.
static void the_field_has_no_sources(void **unused)
{
    (void)unused;
    random_source r = {1};
    for (int trial = 0; trial < 50; ++trial) {
        // On a sphere of the radius R: div B = dB_up/dr + 2 B_up / R + (d(B_north cos)/dlat + dB_east/dlon) /
        // R cos
        const double lat = random_in(&r, -1.2, 1.2), lon = random_in(&r, -PI, PI), d = 1e-4, h = 600.0;
        vy_vec3 up[2], north[2], east[2], here;
        for (int i = 0; i < 2; ++i) {
            const double s = i ? 1.0 : -1.0;
            assert_int_equal(vy_magnetic_model(lat, lon, s * h, 2026.0, &up[i], NULL), VY_OK);
            assert_int_equal(vy_magnetic_model(lat + s * d, lon, 0.0, 2026.0, &north[i], NULL), VY_OK);
            assert_int_equal(vy_magnetic_model(lat, lon + s * d, 0.0, 2026.0, &east[i], NULL), VY_OK);
        }
        assert_int_equal(vy_magnetic_model(lat, lon, 0.0, 2026.0, &here, NULL), VY_OK);
        const double e2 = 0.0066943799901, s2 = sin(lat) * sin(lat), n = 6378137.0 / sqrt(1.0 - e2 * s2),
                     m = n * (1.0 - e2) / (1.0 - e2 * s2);
        const double flux = (up[1].z - up[0].z) / (2.0 * h) + here.z * (1.0 / m + 1.0 / n) +
                            (north[1].y - north[0].y) / (2.0 * d * m) - here.y * tan(lat) / n +
                            (east[1].x - east[0].x) / (2.0 * d * n * cos(lat));
        assert_near(flux, 0.0, 1e-7 * 5e-5 / 6e6 * 1e3);
    }
    vy_vec3 pole, near;
    assert_int_equal(vy_magnetic_model(0.5 * PI, 1.0, 0.0, 2026.0, &pole, NULL), VY_OK);
    assert_int_equal(vy_magnetic_model(0.5 * PI - 1e-7, 0.0, 0.0, 2026.0, &near, NULL), VY_OK);
    assert_vec_near(pole, near, 1e-10);
}

static void mistakes_are_named(void **unused)
{
    (void)unused;
    vy_vec3 b;
    vy_error err = {0};
    assert_int_equal(vy_magnetic_model(0.0, 0.0, 0.0, 2031.0, &b, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "2025 to 2030"));
    assert_int_equal(vy_magnetic_model(0.0, 0.0, 0.0, 2024.9, &b, NULL), VY_BAD_VALUE);
    assert_int_equal(vy_magnetic_model(0.0, 0.0, 0.0, NOT_A_NUMBER, &b, NULL), VY_BAD_VALUE);
    assert_int_equal(vy_magnetic_model(2.0, 0.0, 0.0, 2026.0, &b, NULL), VY_BAD_VALUE);
    assert_int_equal(vy_magnetic_model(0.0, INFINITE, 0.0, 2026.0, &b, NULL), VY_BAD_VALUE);
    assert_int_equal(vy_magnetic_model(0.0, 0.0, 2e6, 2026.0, &b, NULL), VY_BAD_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_those_of_another_implementation),
        cmocka_unit_test(the_field_has_no_sources),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
