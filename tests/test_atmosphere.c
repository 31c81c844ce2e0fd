// test_atmosphere.c - the 1976 standard against published values, its own definition in long double, and the
// laws it rests on.
#include "check.h"
#include "equations/atmosphere.h"
#include "volery/environment.h"
#include <stdlib.h>

// Constants of NOAA-S/T 76-1562, written here once more so that a slip in the header shows.
static const long double gas = 8.31432L, molar = 0.0289644L, g0 = 9.80665L, radius = 6356766.0L;

static const atmosphere_params layered = {.mode = ATMOSPHERE_LAYERED};

// Rows of numbers, comma-separated, after one line of names. An empty field is NaN.
enum { ROWS = 200, COLUMNS = 7 };

static int read_table(const char *path, int columns, double table[ROWS][COLUMNS])
{
    char line[512];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    int rows = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        const char *at = line;
        assert_true(rows < ROWS);
        for (int c = 0; c < columns; ++c) {
            char *end;
            const double value = strtod(at, &end);
            table[rows][c] = end == at ? (double)NAN : value;
            assert_true(*end == ',' || *end == '\n' || *end == '\r' || *end == '\0');
            at = end + (*end == ',');
        }
        ++rows;
    }
    fclose(file);
    return rows;
}

// Relative difference, 0 where nothing is published.
static double off(double value, double published)
{
    return isnan(published) ? 0.0 : fabs(value / published - 1.0);
}

// The largest relative difference of kinetic temperature, pressure, density and speed of sound.
static double worst_of(double z, double t, double pressure, double density, double sound)
{
    const air_state a = air_at(&layered, z);
    const double differences[4] = {off(air_kinetic_temperature(a.temperature, z), t),
                                   off(a.pressure, pressure), off(a.density, density),
                                   off(air_sound_speed(a.temperature), sound)};
    double worst = 0.0;
    for (int i = 0; i < 4; ++i) worst = fmax(worst, differences[i]);
    return worst;
}

static void atmosphere_is_the_published_one(void **unused)
{
    (void)unused;
    static double table[ROWS][COLUMNS];
    double worst = 0.0;
    int rows = read_table("tests/data/us76/us76_report_values_via_poliastro.csv", 5, table);
    assert_int_equal(rows, 10);
    for (int i = 0; i < rows; ++i) {
        const double *v = table[i];
        worst = fmax(worst, worst_of(v[0], v[1], v[2], v[3], v[4]));
    }
    print_message("atmosphere: the report's values within %.1e\n", worst);
    assert_true(worst < 1e-4);

    worst = 0.0;
    rows = read_table("tests/data/us76/icao7488_values_via_ambiance.csv", 7, table);
    assert_int_equal(rows, 21);
    for (int i = 0; i < rows; ++i) {
        const double *v = table[i];
        worst = fmax(worst, worst_of(v[0], v[2], v[3], v[4], v[6]));
    }
    print_message("atmosphere: ICAO 7488's values within %.1e\n", worst);
    assert_true(worst < 1e-4);

    worst = 0.0;
    rows = read_table("tests/data/us76/us76_above_86km_report_values.csv", 4, table);
    assert_int_equal(rows, 28);
    for (int i = 0; i < rows; ++i) {
        const double *v = table[i];
        worst = fmax(worst, worst_of(v[0], v[1], v[2], v[3], (double)NAN));
    }
    print_message("atmosphere: the report's values from 86 to 1,000 km within %.1e\n", worst);
    assert_true(worst <
                1e-3); // its four digits, and kinks of the standard at 100 and 110 km that a spline rounds
}

// ln rho of the upper air is twice differentiable: neither its slope nor its curvature jumps at a knot, and
// the air gets thinner all the way, by less than 1/5000 per metre (environment/nap_deviation.h counts on
// that).
static void upper_air_is_smooth(void **unused)
{
    (void)unused;
    const double h = 20.0, x = 20000.0;
    double jump = 0.0, bend = 0.0, steepest = 0.0;
    for (int knot = 1; knot < 128; ++knot) {
        const double z = 86000.0 + x * (exp(knot * 0.030029251286522278) - 1.0);
        double curve[2];
        for (int side = 0; side < 2; ++side) {
            const double d = side ? h : -h;
            const double a = log(air_at(&layered, z).density), b = log(air_at(&layered, z + d).density);
            const double c = log(air_at(&layered, z + 2 * d).density),
                         e = log(air_at(&layered, z + 3 * d).density);
            curve[side] = (2 * a - 5 * b + 4 * c - e) / (h * h); // second order, from one side
        }
        jump = fmax(jump, fabs(curve[1] - curve[0]));
        bend = fmax(bend, fabs(curve[0]));
    }
    double before = (double)INFINITY;
    for (double z = 0.0; z <= 1e6; z += 100.0) {
        const air_state a = air_at(&layered, z);
        if (z > 86000.0) steepest = fmax(steepest, log(before / a.density) / 100.0);
        assert_true(a.density < before && a.density > 0.0 && a.pressure > 0.0);
        before = a.density;
    }
    print_message("atmosphere: curvature of ln rho %.1e, jumps of it %.1e 1/m^2; steepest 1/%.0f m\n", bend,
                  jump, 1.0 / steepest);
    assert_true(jump < 2e-3 * bend);
    assert_true(steepest < 1.0 / 5000.0);
    for (double z = VY_ATMOSPHERE_TOP + 1.0; z < 1e9; z *= 1.7) {
        const air_state a = air_at(&layered, z);
        assert_true(a.density == 0.0 && a.pressure == 0.0 && a.temperature > 0.0);
        assert_near(air_kinetic_temperature(a.temperature, z), 1000.0, 1e-3);
    }
}

// The file has ten digits, and geometric heights to 0.1 mm. Its kinetic temperatures come from a coarser
// M/M0.
static void atmosphere_is_the_computed_one(void **unused)
{
    (void)unused;
    static double table[ROWS][COLUMNS];
    const int rows = read_table("tests/data/us76/us76_computed_geopotential.csv", 7, table);
    assert_int_equal(rows, 172);
    double worst = 0.0;
    for (int i = 0; i < rows; ++i) {
        const double *v = table[i];
        const air_state a = air_at(&layered, v[1]);
        worst = fmax(worst, off(a.temperature, v[2]));
        worst = fmax(worst, off(a.pressure, v[4]));
        worst = fmax(worst, off(a.density, v[5]));
        worst = fmax(worst, off(air_sound_speed(a.temperature), v[6]));
        worst = fmax(worst, off(air_kinetic_temperature(a.temperature, v[1]), v[3]));
    }
    print_message("atmosphere: the computed table within %.1e\n", worst);
    assert_true(worst < 1e-8);
}

// The definition, from 101325 Pa layer by layer in long double.
static void exact_air(long double altitude, long double *t, long double *p)
{
    static const long double from[] = {0, 11e3L, 20e3L, 32e3L, 47e3L, 51e3L, 71e3L, 1e9L};
    static const long double slope[] = {-6.5e-3L, 0, 1e-3L, 2.8e-3L, 0, -2.8e-3L, -2e-3L};
    const long double h = altitude * radius / (radius + altitude), k = g0 * molar / gas;
    *t = 288.15L;
    *p = 101325.0L;
    for (int i = 0; i < 7; ++i) {
        const long double to = h < from[i + 1] ? h : from[i + 1], dh = to - from[i];
        const long double next = *t + slope[i] * dh;
        *p *= slope[i] != 0 ? powl(next / *t, -k / slope[i]) : expl(-k * dh / *t);
        *t = next;
        if (h < from[i + 1]) return;
    }
}

// The borders of the layers and the two ends [m], geometric.
static double border(int i)
{
    static const double h[] = {-5003.9359132562503, 0, 11e3, 20e3, 32e3, 47e3, 51e3, 71e3,
                               84852.045844905744};
    return h[i] * 6356766.0 / (6356766.0 - h[i]);
}

static void atmosphere_is_its_definition(void **unused)
{
    (void)unused;
    random_source r = {1};
    double worst = 0.0;
    for (int trial = 0; trial < 200000; ++trial) {
        const double z = trial < AIR_LAYERS ? border(trial) : random_in(&r, -5000.0, 86000.0);
        long double t, p;
        exact_air((long double)z, &t, &p);
        const air_state a = air_at(&layered, z);
        worst = fmax(worst, off(a.temperature, (double)t));
        worst = fmax(worst, off(a.pressure, (double)p));
        worst = fmax(worst, off(a.density, (double)(p * molar / (gas * t))));
        worst = fmax(worst, off(air_sound_speed(a.temperature), (double)sqrtl(1.4L * gas * t / molar)));
    }
    print_message("atmosphere: within %.1e of the definition in long double\n", worst);
    assert_true(worst < 1e-14);
}

static void atmosphere_has_no_steps(void **unused)
{
    (void)unused;
    for (int i = 0; i < AIR_LAYERS; ++i) {
        const double z = border(i);
        const air_state below = air_at(&layered, z - 1e-6), above = air_at(&layered, z + 1e-6);
        assert_near(above.temperature / below.temperature, 1.0, 1e-10);
        assert_near(above.pressure / below.pressure, 1.0, 1e-9);
        assert_near(above.density / below.density, 1.0, 1e-9);
        for (double at = z - 1e-8; at < z + 1e-8; at = nextafter(at, 1e9) + 1e-10) {
            const air_state a = air_at(&layered, at);
            assert_near(a.pressure / below.pressure, 1.0, 1e-9);
        }
    }
    for (double z = 80000.0; z < 86000.0; z += 500.0) { // kinetic temperature
        const double t = 200.0;
        assert_near(air_kinetic_temperature(t, z - 1e-6), air_kinetic_temperature(t, z + 1e-6), 1e-9);
    }
    assert_near(air_kinetic_temperature(200.0, 0.0), 200.0, 0.0);
    assert_near(air_kinetic_temperature(200.0, 86000.0), 200.0 * 0.999579, 1e-12);
    static const double pieces[] = {86e3, 91e3, 110e3,
                                    120e3}; // of the kinetic temperature, as the standard has them
    for (int i = 0; i < 4; ++i) {
        const double z = pieces[i], t = air_at(&layered, z).temperature;
        assert_near(air_kinetic_temperature(t, z - 1e-6) / air_kinetic_temperature(t, z + 1e-6), 1.0, 2e-6);
    }
}

// dP/dz = -rho g, with g of geopotential height: g0 (R / (R + z))^2. From below the lowest mine to 86 km:
// above, the species are not at rest.
static void atmosphere_is_in_balance(void **unused)
{
    (void)unused;
    random_source r = {2};
    double worst = 0.0;
    for (int trial = 0; trial < 50000; ++trial) {
        const double z = random_in(&r, -9000.0, 85990.0), h = 2.0;
        int kink = 0; // of the temperature at a border: no place for a difference
        for (int i = 0; i < AIR_LAYERS; ++i) kink |= fabs(z - border(i)) <= 2.0 * h;
        if (kink) continue;
        const air_state a = air_at(&layered, z);
        const double slope = (8.0 * (air_at(&layered, z + h).pressure - air_at(&layered, z - h).pressure) -
                              (air_at(&layered, z + 2 * h).pressure - air_at(&layered, z - 2 * h).pressure)) /
                             (12.0 * h);
        const double share = 6356766.0 / (6356766.0 + z);
        worst = fmax(worst, fabs(slope / (-a.density * 9.80665 * share * share) - 1.0));
    }
    print_message("atmosphere: hydrostatic balance within %.1e\n", worst);
    assert_true(worst < 1e-10);
}

// Nothing grows without end, turns negative or jumps far beyond the layers.
static void atmosphere_goes_on_beyond_its_ends(void **unused)
{
    (void)unused;
    double before = (double)INFINITY;
    for (double z = -50e3; z < 2000e3; z += 100.0) {
        const air_state a = air_at(&layered, z);
        assert_true(a.temperature > 180.0 && a.temperature < (z < 86e3 ? 321.0 : 8000.0));
        assert_true(a.pressure >= 0.0 && (a.pressure < before || z > 1e6) && a.density >= 0.0);
        before = a.pressure;
    }
}

// The other modes hold what they are given everywhere.
static void atmosphere_standard_and_none(void **unused)
{
    (void)unused;
    const atmosphere_params standard = {ATMOSPHERE_STANDARD, 90000.0, 280.0,
                                        90000.0 / (287.05307204706467 * 280.0)};
    const atmosphere_params none = {ATMOSPHERE_NONE, 90000.0, 280.0, 1.0};
    for (double z = -1000.0; z < 1e5; z += 777.0) {
        const air_state a = air_at(&standard, z), b = air_at(&none, z);
        assert_true(a.pressure == 90000.0 && a.temperature == 280.0 && a.density == standard.density);
        assert_true(b.pressure == 0.0 && b.temperature == 0.0 && b.density == 0.0);
    }
    const air_state sea = air_at(&layered, 0.0);
    assert_near(sea.density, 1.225, 1e-6); // the standard's rho0 is 1.2250
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(atmosphere_is_the_published_one),
        cmocka_unit_test(upper_air_is_smooth),
        cmocka_unit_test(atmosphere_is_the_computed_one),
        cmocka_unit_test(atmosphere_is_its_definition),
        cmocka_unit_test(atmosphere_has_no_steps),
        cmocka_unit_test(atmosphere_is_in_balance),
        cmocka_unit_test(atmosphere_goes_on_beyond_its_ends),
        cmocka_unit_test(atmosphere_standard_and_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
