// test_planet.c - geodetic places: round trips, published examples, the ellipsoid's normal, the turning
// ground.
#include "check.h"
#include "equations/planet.h"

#define DEGREE (PI / 180.0)

static planet_params wgs84(double rate)
{
    const double a = 6378137.0, f = 1.0 / 298.257223563;
    return (planet_params){1, a, a * (1.0 - f), f * (2.0 - f), rate};
}

static planet_params ball(double rate) { return (planet_params){1, 6371007.1809, 6371007.1809, 0.0, rate}; }

// The position by its definition, in long double.
static void exact_position(const planet_params *p, double latitude, double longitude, double altitude,
                           long double out[3])
{
    const long double a = (long double)p->radius, b = (long double)p->polar, h = (long double)altitude;
    const long double lat = (long double)latitude, lon = (long double)longitude;
    const long double e2 = 1.0L - b / a * (b / a), s = sinl(lat), c = cosl(lat),
                      n = a / sqrtl(1.0L - e2 * s * s);
    out[0] = (n + h) * c * cosl(lon);
    out[1] = (n + h) * c * sinl(lon);
    out[2] = (n * (1.0L - e2) + h) * s;
}

// Latitudes: everywhere, at the poles and the equator to the bit, and close to them.
static double random_latitude(random_source *r)
{
    const double first = random_in(r, -16.0, -1.0);
    const uint64_t second = random_bits(r);
    const double near = pow(10.0, first) * (second % 2 ? 1.0 : -1.0);
    switch (random_bits(r) % 8) {
    case 0: return 0.5 * PI;
    case 1: return -0.5 * PI;
    case 2: return 0.0;
    case 3: return near;
    case 4: return 0.5 * PI - fabs(near);
    case 5: return -0.5 * PI + fabs(near);
    default: return random_in(r, -0.5 * PI, 0.5 * PI);
    }
}

// Geodetic to Cartesian and back to Cartesian through latitude, longitude and altitude.
static double round_trip(const planet_params *p, random_source *r, double altitude_high, double time)
{
    const double latitude = random_latitude(r), longitude = random_in(r, -PI, PI);
    const double altitude = random_in(r, -11e3, altitude_high);
    const vec3 there = planet_position(p, latitude, longitude, altitude, time);
    const planet_frame place = planet_locate(p, there);
    const vec3 again =
        planet_position(p, planet_latitude(&place), planet_longitude(p, there, time), place.altitude, time);
    return fmax(check_distance(there, again), fabs(place.altitude - altitude));
}

static void planet_places_round_trip(void **unused)
{
    (void)unused;
    random_source r = {1};
    const planet_params planets[] = {wgs84(0.0), wgs84(7.292115e-5), ball(0.0), ball(7.292115e-5)};
    double worst = 0.0;
    for (int trial = 0; trial < 400000; ++trial) {
        const double time = trial % 3 ? pow(10.0, random_in(&r, 0.0, 8.0)) : 0.0;
        worst = fmax(worst, round_trip(&planets[trial % 4], &r, trial % 2 ? 1e6 : 1e4, time));
    }
    print_message("planet: worst round trip %.1e m\n", worst);
    assert_true(worst <= 1e-8);
}

// To the Moon and to a strongly flattened planet (Saturn), with room for the rounding of a longer distance.
static void planet_round_trips_far_away(void **unused)
{
    (void)unused;
    random_source r = {2};
    const planet_params earth = wgs84(0.0);
    const double a = 60268e3, b = 54364e3;
    const planet_params saturn = {1, a, b, 1.0 - b / a * (b / a), 0.0};
    double moon = 0.0, flat = 0.0;
    for (int trial = 0; trial < 100000; ++trial) {
        moon = fmax(moon, round_trip(&earth, &r, 4e8, 0.0));
        flat = fmax(flat, round_trip(&saturn, &r, 1e6, 0.0));
    }
    print_message("planet: worst round trip to the Moon %.1e m, over Saturn %.1e m\n", moon, flat);
    assert_true(moon <= 5e-7);
    assert_true(flat <= 2e-7);
}

// Against the definition in long double, altitude and place apart.
static void planet_agrees_with_long_double(void **unused)
{
    (void)unused;
    random_source r = {3};
    double position = 0.0, altitude = 0.0, angle = 0.0;
    for (int trial = 0; trial < 100000; ++trial) {
        const planet_params p = trial % 2 ? wgs84(0.0) : ball(0.0);
        const double lat = random_latitude(&r), lon = random_in(&r, -PI, PI), h = random_in(&r, -11e3, 1e6);
        long double exact[3];
        exact_position(&p, lat, lon, h, exact);
        const vec3 want = vec3_make((double)exact[0], (double)exact[1], (double)exact[2]);
        position = fmax(position, check_distance(planet_position(&p, lat, lon, h, 0.0), want));
        const planet_frame place = planet_locate(&p, want);
        altitude = fmax(altitude, fabs(place.altitude - h));
        angle = fmax(angle, fabs(planet_latitude(&place) - lat));
    }
    print_message("planet: position %.1e m, altitude %.1e m, latitude %.1e rad from long double\n", position,
                  altitude, angle);
    assert_true(position < 5e-9 && altitude < 5e-9 && angle < 1e-15);
}

typedef struct example {
    double latitude, longitude; // [deg]
    double altitude;            // [m]
    vec3 position;              // [m]
    double tolerance;           // [m] of what is printed
} example;

static void planet_published_examples(void **unused)
{
    (void)unused;
    const planet_params p = wgs84(0.0);
    const example examples[] = {
        // IOGP 373-7-2 (EPSG guidance note 7-2), geographic/geocentric conversions
        {53.0 + 48.0 / 60.0 + 33.820 / 3600.0,
         2.0 + 7.0 / 60.0 + 46.380 / 3600.0,
         73.0,
         {3771793.968, 140253.342, 5124304.349},
         1e-3},
        // Vallado, Fundamentals of Astrodynamics and Applications, example 3-3; given to 1 m in position and
        // to 1e-6 degrees in latitude (his radius is 6378.1363 km)
        {34.352496, 46.4464, 5085218.731, {6524834.0, 6862875.0, 6448296.0}, 12.0},
        // the axes themselves (NIMA TR8350.2, table 3.3)
        {0.0, 0.0, 0.0, {6378137.0, 0.0, 0.0}, 1e-9},
        {90.0, 0.0, 0.0, {0.0, 0.0, 6356752.3142}, 1e-4},
        {0.0, -90.0, 0.0, {0.0, -6378137.0, 0.0}, 1e-9},
    };
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; ++i) {
        const example *e = &examples[i];
        const vec3 r = planet_position(&p, e->latitude * DEGREE, e->longitude * DEGREE, e->altitude, 0.0);
        assert_vec_near(r, e->position, e->tolerance);
        const planet_frame place = planet_locate(&p, e->position);
        assert_near(place.altitude, e->altitude, e->tolerance);
        assert_near(planet_latitude(&place) / DEGREE, e->latitude, e->tolerance / 6.3e6 / DEGREE + 1e-13);
        if (fabs(e->latitude) < 89.0) {
            assert_near(planet_longitude(&p, e->position, 0.0) / DEGREE, e->longitude,
                        2.0 * e->tolerance / 6.3e6 / DEGREE + 1e-13);
        }
    }
}

static void planet_axes_are_orthonormal(void **unused)
{
    (void)unused;
    random_source r = {4};
    for (int trial = 0; trial < 20000; ++trial) {
        const planet_params p = trial % 2 ? wgs84(0.0) : ball(0.0);
        const double first = random_in(&r, -1e4, 1e6), second = random_in(&r, -PI, PI),
                     third = random_latitude(&r);
        const vec3 at = planet_position(&p, third, second, first, 0.0);
        const planet_frame a = planet_locate(&p, at);
        assert_near(vec3_length(a.east), 1.0, 1e-15);
        assert_near(vec3_length(a.north), 1.0, 1e-15);
        assert_near(vec3_length(a.up), 1.0, 1e-15);
        assert_vec_near(vec3_cross(a.east, a.north), a.up, 1e-15);
        assert_vec_near(vec3_cross(a.north, a.up), a.east, 1e-15);
    }
    const planet_params p = wgs84(0.0);
    for (int south = 0; south < 2; ++south) { // on the axis itself
        const planet_frame a = planet_locate(&p, vec3_make(0.0, 0.0, south ? -7e6 : 7e6));
        assert_vec_near(a.up, vec3_make(0.0, 0.0, south ? -1.0 : 1.0), 2e-16);
        assert_vec_near(vec3_cross(a.east, a.north), a.up, 2e-16);
        assert_near(a.altitude, 7e6 - p.polar, 2e-9);
    }
}

// Up is where the altitude grows fastest, at the rate 1; on the surface it is the ellipsoid's normal.
static void planet_up_is_the_normal(void **unused)
{
    (void)unused;
    random_source r = {5};
    const planet_params p = wgs84(0.0);
    for (int trial = 0; trial < 5000; ++trial) {
        const double lat = random_in(&r, -0.49 * PI, 0.49 * PI), lon = random_in(&r, -PI, PI);
        const vec3 on = planet_position(&p, lat, lon, 0.0, 0.0);
        const planet_frame ground = planet_locate(&p, on);
        const vec3 slope = vec3_make(on.x / (p.radius * p.radius), on.y / (p.radius * p.radius),
                                     on.z / (p.polar * p.polar)); // gradient of x^2/a^2 + y^2/a^2 + z^2/b^2
        assert_vec_near(ground.up, vec3_scale(1.0 / vec3_length(slope), slope), 2e-15);
        assert_vec_near(ground.up, vec3_make(cos(lat) * cos(lon), cos(lat) * sin(lon), sin(lat)), 1e-15);

        const vec3 at = planet_position(&p, lat, lon, random_in(&r, -1e4, 1e6), 0.0);
        const planet_frame place = planet_locate(&p, at);
        const double h = 100.0;
        double grown[3];
        for (int k = 0; k < 3; ++k) {
            const vec3 d = vec3_make(k == 0 ? h : 0.0, k == 1 ? h : 0.0, k == 2 ? h : 0.0);
            grown[k] =
                (planet_locate(&p, vec3_add(at, d)).altitude - planet_locate(&p, vec3_sub(at, d)).altitude) /
                (2.0 * h);
        }
        assert_vec_near(place.up, vec3_make(grown[0], grown[1], grown[2]), 2e-9);
    }
}

// North and east are where latitude and longitude grow.
static void planet_north_and_east_point_there(void **unused)
{
    (void)unused;
    random_source r = {6};
    const planet_params p = wgs84(7e-5);
    for (int trial = 0; trial < 2000; ++trial) {
        const double lat = random_in(&r, -1.5, 1.5), lon = random_in(&r, -PI, PI), d = 1e-6;
        const double altitude = random_in(&r, 0.0, 1e5), time = random_in(&r, 0.0, 1e4);
        const planet_frame a = planet_locate(&p, planet_position(&p, lat, lon, altitude, time));
        const vec3 north = vec3_sub(planet_position(&p, lat + d, lon, altitude, time),
                                    planet_position(&p, lat - d, lon, altitude, time));
        const vec3 east = vec3_sub(planet_position(&p, lat, lon + d, altitude, time),
                                   planet_position(&p, lat, lon - d, altitude, time));
        assert_vec_near(vec3_scale(1.0 / vec3_length(north), north), a.north, 1e-8);
        assert_vec_near(vec3_scale(1.0 / vec3_length(east), east), a.east, 1e-7);
    }
}

// The ground moves as a place on it does.
static void planet_ground_moves_with_its_places(void **unused)
{
    (void)unused;
    random_source r = {7};
    const double rate = 7.292115e-5;
    const planet_params p = wgs84(rate);
    for (int trial = 0; trial < 2000; ++trial) {
        const double lat = random_in(&r, -1.5, 1.5), lon = random_in(&r, -PI, PI), h = 1.0;
        const double altitude = random_in(&r, 0.0, 1e5), time = random_in(&r, 0.0, 1e5);
        const vec3 now = planet_position(&p, lat, lon, altitude, time);
        const vec3 moved = vec3_sub(planet_position(&p, lat, lon, altitude, time + h),
                                    planet_position(&p, lat, lon, altitude, time - h));
        assert_vec_near(planet_ground_velocity(&p, now), vec3_scale(0.5 / h, moved), 1e-6);
    }
    // 465.1 m/s on the equator, eastward, and none at the pole.
    const vec3 v = planet_ground_velocity(&p, vec3_make(p.radius, 0.0, 0.0));
    assert_true(v.x == 0.0 && v.z == 0.0);
    assert_near(v.y, 465.101, 1e-3);
    const planet_params still = wgs84(0.0);
    assert_near(vec3_length(planet_ground_velocity(&still, vec3_make(1e6, 2e6, 3e6))), 0.0, 0.0);
}

// A day later the longitude is the same; it stays within half a turn either way.
static void planet_longitude_is_of_the_ground(void **unused)
{
    (void)unused;
    random_source r = {8};
    const planet_params p = wgs84(7.292115e-5);
    for (int trial = 0; trial < 20000; ++trial) {
        const double lon = random_in(&r, -PI, PI), time = random_in(&r, -1e6, 1e6);
        const vec3 at = planet_position(&p, random_in(&r, -1.5, 1.5), lon, 0.0, time);
        const double found = planet_longitude(&p, at, time);
        assert_true(fabs(found) <= PI);
        const double error = fabs(found - lon);
        assert_true(fmin(error, 2.0 * PI - error) < 1e-13);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planet_places_round_trip),
        cmocka_unit_test(planet_round_trips_far_away),
        cmocka_unit_test(planet_agrees_with_long_double),
        cmocka_unit_test(planet_published_examples),
        cmocka_unit_test(planet_axes_are_orthonormal),
        cmocka_unit_test(planet_up_is_the_normal),
        cmocka_unit_test(planet_north_and_east_point_there),
        cmocka_unit_test(planet_ground_moves_with_its_places),
        cmocka_unit_test(planet_longitude_is_of_the_ground),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
