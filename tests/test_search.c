// test_search.c - the search for the worst case against even draws, on planted failures.
#include "campaign/sample.h"
#include "campaign/search.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

typedef double margin_fn(const double *x, const double *centre, double radius, int size);

// A margin that slopes towards a ball of failures.
static double sloping(const double *x, const double *centre, double radius, int size)
{
    double sum = 0.0;
    for (int k = 0; k < size; ++k) sum += (x[k] - centre[k]) * (x[k] - centre[k]);
    return sqrt(sum) - radius;
}

// The same ball in a margin without any slope.
static double flat(const double *x, const double *centre, double radius, int size)
{
    return sloping(x, centre, radius, size) < 0.0 ? -1.0 : 1.0;
}

// Flights until the first failure.
static int flights_until(margin_fn *margin, uint64_t seed, int size, double radius, int guided)
{
    vy_search s = vy_search_begin(seed, size);
    double points[VY_SEARCH_POPULATION][VY_PLAN_VARY_CAP], scores[VY_SEARCH_POPULATION],
        centre[VY_PLAN_VARY_CAP];
    for (int k = 0; k < size; ++k) // the whole ball is in the cube
        centre[k] = radius + (1.0 - 2.0 * radius) * vy_sample_uniform(seed, 7, (uint64_t)k);
    for (int flown = 0; flown < 2000000;) {
        vy_search_ask(&s, VY_SEARCH_POPULATION, points);
        for (int i = 0; i < VY_SEARCH_POPULATION; ++i) {
            ++flown;
            scores[i] = margin(points[i], centre, radius, size);
            if (scores[i] < 0.0) return flown;
        }
        if (guided)
            vy_search_tell(&s, VY_SEARCH_POPULATION, points, scores);
        else
            s.generation += 1;
    }
    return 2000000;
}

static int median_flights(margin_fn *margin, int size, double radius, int guided)
{
    int flights[20];
    for (uint64_t seed = 0; seed < 20; ++seed) {
        const int n = flights_until(margin, 1000 + seed, size, radius, guided);
        int at = (int)seed;
        for (; at > 0 && flights[at - 1] > n; --at) flights[at] = flights[at - 1];
        flights[at] = n;
    }
    return (flights[9] + flights[10]) / 2;
}

// The radius of a ball of this volume.
static double radius_of(double volume, int size)
{
    return pow(volume * tgamma(0.5 * size + 1.0) / pow(3.141592653589793, 0.5 * size), 1.0 / size);
}

static void sloping_margins_are_followed(void **state)
{
    (void)state;
    static const struct {
        int size;
        double volume;
    } balls[] = {{3, 1e-3}, {3, 1e-4}, {4, 1e-3}, {4, 1e-4}, {5, 1e-4}};
    for (size_t i = 0; i < sizeof balls / sizeof balls[0]; ++i) {
        const double radius = radius_of(balls[i].volume, balls[i].size);
        const int found = median_flights(sloping, balls[i].size, radius, 1);
        const int drawn = median_flights(sloping, balls[i].size, radius, 0);
        print_message("%d variables, volume %g: %d flights, %d by even draws\n", balls[i].size,
                      balls[i].volume, found, drawn);
        assert_true(10 * found <= drawn);
    }
}

static void flat_margins_cost_nothing(void **state)
{
    (void)state;
    const double radius = radius_of(1e-3, 3);
    assert_int_equal(median_flights(flat, 3, radius, 1), median_flights(flat, 3, radius, 0));
}

static void points_stay_in_the_cube(void **state)
{
    (void)state;
    vy_search s = vy_search_begin(3, 4);
    double points[VY_SEARCH_POPULATION][VY_PLAN_VARY_CAP], scores[VY_SEARCH_POPULATION];
    for (int g = 0; g < 500; ++g) {
        vy_search_ask(&s, VY_SEARCH_POPULATION, points);
        for (int i = 0; i < VY_SEARCH_POPULATION; ++i) {
            scores[i] = 0.0;
            for (int k = 0; k < 4; ++k) {
                assert_true(points[i][k] > 0.0 && points[i][k] < 1.0);
                scores[i] -= points[i][k]; // towards a corner
            }
        }
        vy_search_tell(&s, VY_SEARCH_POPULATION, points, scores);
    }
    assert_true(s.best < -3.999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sloping_margins_are_followed),
        cmocka_unit_test(flat_margins_cost_nothing),
        cmocka_unit_test(points_stay_in_the_cube),
    };
    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
