// magnetic.c - the World Magnetic Model: the gradient of a potential of spherical harmonics to degree 12.
//
//   V = a sum over n, m of (a/r)^(n+1) (g cos m l + h sin m l) P(sin lat')
//
// a = 6371.2 km, lat' the geocentric latitude, P Schmidt's semi-normalised functions (Chulliat and others,
// The US/UK World Magnetic Model, NOAA NCEI). Of order m > 0 they are kept divided by the cosine of the
// latitude, so that nothing is lost at the poles.
#include "volery/magnetic.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/math.h"
#include "base/real.h"
#include "volery/environment.h"

enum { DEGREE = 12 };

typedef struct harmonic {
    int n, m;                  // degree and order
    double g, h, g_dot, h_dot; // [nT], [nT/yr] Gauss coefficients in 2025.0 and their change
} harmonic;

static const harmonic coefficients[] = {
#define COEFFICIENT(n, m, g, h, g_dot, h_dot) {n, m, g, h, g_dot, h_dot},
#include "environment/wmm2025.inl"
#undef COEFFICIENT
};

// A place on the sphere.
typedef struct geocentric {
    double sine, cosine;                                         // of the geocentric latitude
    double radius;                                               // [m]
    double sin_longitude[DEGREE + 1], cos_longitude[DEGREE + 1]; // sine and cosine of m times the longitude
} geocentric;

// P[n][m] for m = 0, P[n][m] / cos for m > 0.
static void legendre(double s, double c, double p[DEGREE + 1][DEGREE + 1])
{
    VY_ASSERT(real_abs(s * s + c * c - 1.0) < 1e-12);
    p[0][0] = 1.0;
    for (int m = 0; m <= DEGREE; ++m) {
        if (m == 1) p[1][1] = 1.0;
        if (m > 1) p[m][m] = real_sqrt((2.0 * m - 1.0) / (2.0 * m)) * c * p[m - 1][m - 1];
        double p_n2 = 0.0; // P[n - 2][m]
        for (int n = m + 1; n <= DEGREE; ++n) {
            const double p_n1 = p[n - 1][m],
                         p_n2_term = real_sqrt((double)((n - 1) * (n - 1) - m * m)) * p_n2;
            p[n][m] = ((2.0 * n - 1.0) * s * p_n1 - p_n2_term) / real_sqrt((double)(n * n - m * m));
            p_n2 = p_n1;
        }
    }
}

// dP/dlat of degree n and order m.
static double legendre_derivative(double p[DEGREE + 1][DEGREE + 1], double s, double c, int n, int m)
{
    VY_ASSERT(n >= 1 && n <= DEGREE && m >= 0 && m <= n);
    if (m == 0) return real_sqrt(0.5 * n * (n + 1)) * p[n][1] * c;
    const double p_n1_term = n > m ? real_sqrt((double)(n * n - m * m)) * p[n - 1][m] : 0.0;
    return p_n1_term - n * s * p[n][m];
}

static geocentric geocentric_of(double latitude, double longitude, double height)
{
    const double e2 = VY_EARTH_FLATTENING * (2.0 - VY_EARTH_FLATTENING);
    double s, c;
    math_sincos(latitude, &s, &c);
    const double n = VY_EARTH_RADIUS / real_sqrt(1.0 - e2 * (s * s));
    const double axis_distance = (n + height) * c, axial = (n * (1.0 - e2) + height) * s;
    geocentric g;
    g.radius = real_sqrt(axis_distance * axis_distance + axial * axial);
    g.sine = axial / g.radius;
    g.cosine = axis_distance / g.radius;
    for (int m = 0; m <= DEGREE; ++m) math_sincos(m * longitude, &g.sin_longitude[m], &g.cos_longitude[m]);
    return g;
}

// East, north and up of the sphere [nT].
static vy_vec3 synthesise(const geocentric *place, double years)
{
    double p[DEGREE + 1][DEGREE + 1], ratio_power[DEGREE + 1];
    VY_ASSERT(place->radius > 0.0);
    const double ratio = 6371200.0 / place->radius;
    legendre(place->sine, place->cosine, p);
    ratio_power[0] = ratio * ratio;
    for (int n = 1; n <= DEGREE; ++n) ratio_power[n] = ratio_power[n - 1] * ratio;
    vy_vec3 b = {0.0, 0.0, 0.0};
    for (size_t i = 0; i < sizeof coefficients / sizeof coefficients[0]; ++i) {
        const harmonic *k = &coefficients[i];
        const double g = k->g + years * k->g_dot, h = k->h + years * k->h_dot;
        const double in_phase = g * place->cos_longitude[k->m] + h * place->sin_longitude[k->m];
        const double quadrature = g * place->sin_longitude[k->m] - h * place->cos_longitude[k->m];
        const double value = k->m > 0 ? p[k->n][k->m] * place->cosine : p[k->n][0];
        b.x += ratio_power[k->n] * (k->m * quadrature * p[k->n][k->m]);
        b.y -=
            ratio_power[k->n] * (in_phase * legendre_derivative(p, place->sine, place->cosine, k->n, k->m));
        b.z += ratio_power[k->n] * ((k->n + 1) * in_phase * value);
    }
    return b;
}

vy_status vy_magnetic_model(double latitude, double longitude, double height, double date, vy_vec3 *out,
                            vy_error *err)
{
    FPU_SCOPE;
    if (!(date >= VY_MAGNETIC_FIRST && date <= VY_MAGNETIC_LAST)) {
        return vy_fail(err, VY_BAD_VALUE,
                       "the World Magnetic Model 2025 is for dates from %g to %g, got %.6g",
                       VY_MAGNETIC_FIRST, VY_MAGNETIC_LAST, date);
    }
    if (!(real_abs(latitude) <= 0.5 * 3.14159265358979324) || !real_is_finite(longitude) ||
        !(height >= -1e5 && height <= 1e6))
        return vy_fail(err, VY_BAD_VALUE, "the World Magnetic Model has no field there");
    double s, c;
    math_sincos(latitude, &s, &c);
    if (real_abs(c) < 1e-12) longitude = 0.0;
    const geocentric place = geocentric_of(latitude, longitude, height);
    const vy_vec3 b = synthesise(&place, date - VY_MAGNETIC_FIRST);
    // From the sphere's north and up to the ellipsoid's: they differ by the two latitudes' difference.
    const double sine = s * place.cosine - c * place.sine, cosine = c * place.cosine + s * place.sine;
    *out = (vy_vec3){1e-9 * b.x, 1e-9 * (cosine * b.y - sine * b.z), 1e-9 * (sine * b.y + cosine * b.z)};
    return VY_OK;
}
