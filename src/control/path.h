// path.h - trajectories: a place and its first four derivatives at any time, over `real`.
//
// A shape is flown at constant speed: from rest it comes up to speed within the ramp, and ends at rest again.
// The speed along the path rises as 35 u^4 - 84 u^5 + 70 u^6 - 20 u^7, so that position is continuous to the
// snap everywhere. A trajectory of minimum snap is polynomials of degree 7 (minimum_snap.c).
#pragma once
#include "control/ladder.h"
#include "base/assert.h"
#include "volery/controller.h"

/// A quantity and its time derivatives, up to the fourth.
typedef struct jet {
    real d[5]; // the value, then derivative 1 to 4
} jet;

/// Where to be, and how to move there.
typedef struct trajectory_point {
    vec3 d[5]; // position and its derivatives [m] [m/s] [m/s^2] [m/s^3] [m/s^4] world
    real yaw, yaw_rate, yaw_acceleration; // [rad] [rad/s] [rad/s^2]
} trajectory_point;

/// Constants of a path; one layout for every lane width.
typedef struct path_model {
    vy_path_def def;
    double speed;                                  // [m/s] reached
    double ramp;                                   // [s] from rest to speed
    double cruise;                                 // [s] at speed
    double phase_per_metre;                        // phase of the shape per metre of way [1/m]
    int segments;                                  // of minimum snap: how many
    double times[VY_WAYPOINT_CAP];                 // [s] at which each segment begins, and the last one ends
    double polynomials[VY_WAYPOINT_CAP - 1][3][8]; // coefficients over the time since the segment's start
} path_model;

/// f(x(t)) from the derivatives of f at x and the jet of x (the rule of Faa di Bruno).
VY_FN jet jet_of(const real *f, const jet *x)
{
    const real a = x->d[1], b = x->d[2], c = x->d[3], d = x->d[4];
    jet y;
    y.d[0] = f[0];
    y.d[1] = f[1] * a;
    y.d[2] = f[2] * (a * a) + f[1] * b;
    y.d[3] = f[3] * (a * a * a) + (3.0 * f[2]) * (a * b) + f[1] * c;
    y.d[4] = f[4] * ((a * a) * (a * a)) + (6.0 * f[3]) * ((a * a) * b) +
             f[2] * (3.0 * (b * b) + 4.0 * (a * c)) + f[1] * d;
    return y;
}

VY_FN jet jet_scaled(double k, jet x)
{
    for (int i = 0; i < 5; ++i) x.d[i] = k * x.d[i];
    return x;
}

/// sin(n x + quarter turns): the derivatives of a sine are sines.
VY_FN jet jet_sine(double n, int quarters, const jet *x)
{
    real s, c;
    math_sincos(n * x->d[0], &s, &c);
    const real wave[4] = {s, c, -s, -c};
    real f[5], power = real_set(1.0);
    for (int i = 0; i < 5; ++i, power = n * power) f[i] = power * wave[(i + quarters) & 3];
    return jet_of(f, x);
}

/// One ramp of unit height over u in 0 to 1, 0 before and 1 after: its integral over u, itself, and its first
/// three derivatives.
VY_FN void path_ramp(real t, double span, real *out)
{
    const real u = real_clamp(t * (1.0 / span), real_set(0.0), real_set(1.0));
    const real v = 1.0 - u, u2 = u * u;
    const double k = 1.0 / span;
    out[0] = span * ((u2 * u2) * u * (7.0 + u * (-14.0 + u * (10.0 - 2.5 * u)))) +
             real_max(t - span, real_set(0.0));
    out[1] = (u2 * u2) * (35.0 + u * (-84.0 + u * (70.0 - 20.0 * u)));
    out[2] = k * (140.0 * (u2 * u) * (v * v * v));
    out[3] = (k * k) * (420.0 * u2 * (v * v) * (v - u));
    out[4] = (k * k * k) * (840.0 * u * v * (1.0 - 5.0 * (u * v)));
}

/// The arc length along the path [m] over time.
VY_FN jet path_arc_length(const path_model *p, real time)
{
    real up[5], down[5];
    path_ramp(time, p->ramp, up);
    path_ramp(time - (p->ramp + p->cruise), p->ramp, down);
    jet s;
    for (int i = 0; i < 5; ++i) s.d[i] = p->speed * (up[i] - down[i]);
    return s;
}

#define EIGHT_TERMS 24

/// The figure eight is the lemniscate of Gerono, x = a sin f, y = a sin f cos f. At constant speed its phase
/// is f = g + sum of b_k sin(2 k g) with g proportional to the way; b_k from tests/test_path.c, which finds
/// them again by quadrature. 24 terms keep the speed to three parts in 100,000.
VY_FN jet path_eight_phase(const jet *g)
{
    static const double b[EIGHT_TERMS] = {
        -0.12517487062143448,    -0.044979342551295549,   0.025272179560584661,    -0.0012170890217015314,
        -0.0052037992246810535,  0.0024842266868201871,   0.00044663761536284358,  -0.00098665841593116219,
        0.0003048051724275068,   0.00020225340016774326,  -0.00020714286019738533, 2.4693346831815389e-05,
        6.7181796461134152e-05,  -4.2837577815492918e-05, -5.3691328774050415e-06, 1.9988005307865396e-05,
        -7.8965904573545023e-06, -4.2657912865223312e-06, 5.4813861325792899e-06,  -1.008375934985192e-06,
        -1.8160535027758415e-06, 1.3712514070336835e-06,  7.4224406132164755e-08,  -6.352443869429834e-07,
    };
    // sin(2 k g) and cos(2 k g) by turning on: one pair of functions for all terms.
    real s1, c1, s = real_set(0.0), c = real_set(1.0);
    math_sincos(2.0 * g->d[0], &s1, &c1);
    real derivatives[5];
    derivatives[0] = g->d[0];
    derivatives[1] = real_set(1.0);
    derivatives[2] = derivatives[3] = derivatives[4] = real_set(0.0);
    for (int k = 1; k <= EIGHT_TERMS; ++k) {
        const real next = s * c1 + c * s1;
        c = c * c1 - s * s1;
        s = next;
        const double n = 2.0 * k, a = b[k - 1];
        derivatives[0] = derivatives[0] + a * s;
        derivatives[1] = derivatives[1] + (a * n) * c;
        derivatives[2] = derivatives[2] - (a * n * n) * s;
        derivatives[3] = derivatives[3] - (a * n * n * n) * c;
        derivatives[4] = derivatives[4] + (a * n * n * n * n) * s;
    }
    return jet_of(derivatives, g);
}

VY_FN trajectory_point path_point(const jet *x, const jet *y, const jet *z, const double *centre, double yaw)
{
    trajectory_point p;
    for (int i = 0; i < 5; ++i) p.d[i] = vec3_make(x->d[i], y->d[i], z->d[i]);
    p.d[0] = vec3_add(p.d[0], vec3_make(real_set(centre[0]), real_set(centre[1]), real_set(centre[2])));
    p.yaw = real_set(yaw);
    p.yaw_rate = p.yaw_acceleration = real_set(0.0);
    return p;
}

/// A line, circle, figure eight or helix.
VY_FN trajectory_point path_shape(const path_model *p, real time)
{
    const vy_path_def *def = &p->def;
    const double centre[3] = {def->centre.x, def->centre.y, def->centre.z};
    const jet arc_length = path_arc_length(p, time - def->start),
              phase = jet_scaled(p->phase_per_metre, arc_length);
    if (def->kind == VY_PATH_LINE) {
        const double to[3] = {def->to.x, def->to.y, def->to.z};
        const jet x = jet_scaled(p->phase_per_metre * (to[0] - centre[0]), arc_length),
                  y = jet_scaled(p->phase_per_metre * (to[1] - centre[1]), arc_length),
                  z = jet_scaled(p->phase_per_metre * (to[2] - centre[2]), arc_length);
        return path_point(&x, &y, &z, centre, def->yaw);
    }
    if (def->kind == VY_PATH_FIGURE_EIGHT) {
        const jet f = path_eight_phase(&phase), zero = jet_scaled(0.0, f);
        const jet x = jet_scaled(def->radius, jet_sine(1.0, 0, &f)),
                  y = jet_scaled(0.5 * def->radius, jet_sine(2.0, 0, &f));
        return path_point(&x, &y, &zero, centre, def->yaw);
    }
    const jet x = jet_scaled(def->radius, jet_sine(1.0, 1, &phase)),
              y = jet_scaled(def->radius, jet_sine(1.0, 0, &phase)),
              z = jet_scaled(def->kind == VY_PATH_HELIX ? def->climb * 0.15915494309189535 : 0.0, phase);
    return path_point(&x, &y, &z, centre, def->yaw);
}

/// A polynomial of degree 7 and its first four derivatives at t.
VY_FN jet path_polynomial(const double *c, real t)
{
    jet y;
    for (int i = 0; i < 5; ++i) {
        real sum = real_set(0.0);
        for (int k = 7; k >= i; --k) {
            double factor = 1.0;
            for (int n = 0; n < i; ++n) factor *= k - n;
            sum = sum * t + factor * c[k];
        }
        y.d[i] = sum;
    }
    return y;
}

/// The trajectory of minimum snap: at rest at the first waypoint before, and at the last after.
VY_FN trajectory_point path_snap(const path_model *p, real time)
{
    const vy_path_def *def = &p->def;
    VY_ASSERT(p->segments > 0 && p->segments < VY_WAYPOINT_CAP);
    const real t = real_clamp(time - def->start, real_set(0.0), real_set(p->times[p->segments]));
    const mask at_rest = (time <= def->start) | (time >= def->start + p->times[p->segments]);
    const double no_offset[3] = {0.0, 0.0, 0.0};
    trajectory_point out;
    memset(&out, 0, sizeof out);
    for (int i = 0; i < p->segments; ++i) {
        const mask in_segment = t >= p->times[i];
        if (!mask_any(in_segment)) break;
        const real segment_time = t - p->times[i];
        const jet x = path_polynomial(p->polynomials[i][0], segment_time),
                  y = path_polynomial(p->polynomials[i][1], segment_time),
                  z = path_polynomial(p->polynomials[i][2], segment_time);
        trajectory_point next = path_point(&x, &y, &z, no_offset, 0.0);
        real ramp[5]; // heading: a ramp from one waypoint's to the next's
        const double span = p->times[i + 1] - p->times[i];
        const double from = def->waypoints[i].yaw, yaw_change = def->waypoints[i + 1].yaw - from;
        path_ramp(segment_time, span, ramp);
        next.yaw = from + yaw_change * ramp[1];
        next.yaw_rate = yaw_change * ramp[2];
        next.yaw_acceleration = yaw_change * ramp[3];
        for (int k = 0; k < 5; ++k) out.d[k] = vec3_select(in_segment, next.d[k], out.d[k]);
        out.yaw = real_select(in_segment, next.yaw, out.yaw);
        out.yaw_rate = real_select(in_segment, next.yaw_rate, out.yaw_rate);
        out.yaw_acceleration = real_select(in_segment, next.yaw_acceleration, out.yaw_acceleration);
    }
    for (int k = 1; k < 5; ++k) out.d[k] = vec3_select(at_rest, vec3_zero(), out.d[k]);
    return out;
}

/// Any path but setpoints.
VY_COLD_FN void path_at(const path_model *p, const real *time, trajectory_point *out)
{
    VY_ASSERT(p->def.kind != VY_PATH_SETPOINTS);
    *out = p->def.kind == VY_PATH_MINIMUM_SNAP ? path_snap(p, *time) : path_shape(p, *time);
}
