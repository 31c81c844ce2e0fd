// minimum_snap.c - the trajectory of minimum snap through waypoints: polynomials, and how long each piece
// takes.
//
// D. Mellinger, V. Kumar, ICRA 2011. Among all motions that are at rest at both ends and pass the waypoints
// at given times, the one with the least integral of squared snap is a spline of degree 7 whose derivatives
// up to the sixth are continuous. Unknown are velocity, acceleration and jerk at the inner waypoints;
// continuity of the fourth to sixth derivative gives three equations at each: a block tridiagonal system, the
// same matrix for all three axes. The times are then moved to lower the cost at a fixed total, and all of
// them stretched until speed and acceleration keep their limits (both only scale with the total).
#include "base/math.h"
#include "base/assert.h"
#include "control/trajectory.h"

enum { MAX_INNER_WAYPOINTS = VY_WAYPOINT_CAP - 2, SAMPLES_PER_PIECE = 200, ITERATION_MAX = 60 };

// Coefficients over s = t / T of the polynomial with value, velocity, acceleration, jerk (over s) at both
// ends.
static void hermite(const double from[4], const double to[4], double c[8])
{
    c[0] = from[0];
    c[1] = from[1];
    c[2] = 0.5 * from[2];
    c[3] = from[3] / 6.0;
    const double p = to[0] - (c[0] + c[1] + c[2] + c[3]);
    const double v = to[1] - (c[1] + 2.0 * c[2] + 3.0 * c[3]);
    const double a = to[2] - (2.0 * c[2] + 6.0 * c[3]);
    const double j = to[3] - 6.0 * c[3];
    c[4] = 35.0 * p - 15.0 * v + 2.5 * a - j / 6.0;
    c[5] = -84.0 * p + 39.0 * v - 7.0 * a + 0.5 * j;
    c[6] = 70.0 * p - 34.0 * v + 6.5 * a - 0.5 * j;
    c[7] = -20.0 * p + 10.0 * v - 2.0 * a + j / 6.0;
}

// The k-th derivative over s of such a polynomial at its start (end 0) or end (1), as weights of the four
// values at the start and the four at the end.
static void end_weights(int k, int end, double weights[8])
{
    for (int i = 0; i < 8; ++i) {
        double from[4] = {0.0}, to[4] = {0.0}, c[8];
        (i < 4 ? from : to)[i % 4] = 1.0;
        hermite(from, to, c);
        double sum = 0.0;
        for (int n = 7; n >= k; --n) {
            double factor = 1.0;
            for (int m = 0; m < k; ++m) factor *= n - m;
            sum += (end || n == k ? factor : 0.0) * c[n];
        }
        weights[i] = sum;
    }
}

// Gaussian elimination with pivots, in place, for three right-hand sides.
static void solve(int n, double m[3 * MAX_INNER_WAYPOINTS][3 * MAX_INNER_WAYPOINTS],
                  double b[3 * MAX_INNER_WAYPOINTS][3])
{
    VY_ASSERT(n >= 0 && n <= 3 * MAX_INNER_WAYPOINTS);
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i) pivot = real_abs(m[i][k]) > real_abs(m[pivot][k]) ? i : pivot;
        for (int j = 0; j < n; ++j) {
            const double t = m[k][j];
            m[k][j] = m[pivot][j];
            m[pivot][j] = t;
        }
        for (int j = 0; j < 3; ++j) {
            const double t = b[k][j];
            b[k][j] = b[pivot][j];
            b[pivot][j] = t;
        }
        for (int i = k + 1; i < n; ++i) {
            const double f = m[i][k] / m[k][k];
            if (f == 0.0) continue;
            for (int j = k; j < n; ++j) m[i][j] -= f * m[k][j];
            for (int j = 0; j < 3; ++j) b[i][j] -= f * b[k][j];
        }
    }
    for (int k = n - 1; k >= 0; --k) {
        for (int j = 0; j < 3; ++j) {
            for (int i = k + 1; i < n; ++i) b[k][j] -= m[k][i] * b[i][j];
            b[k][j] /= m[k][k];
        }
    }
}

static double waypoint_coordinate(const vy_path_def *def, int waypoint, int axis)
{
    const vy_vec3 p = def->waypoints[waypoint].position;
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

// At inner waypoint i: derivatives 4 to 6 of the piece before, at its end, equal those of the piece after.
static void add_continuity_rows(const vy_path_def *def, const double *durations,
                                double m[3 * MAX_INNER_WAYPOINTS][3 * MAX_INNER_WAYPOINTS],
                                double b[3 * MAX_INNER_WAYPOINTS][3])
{
    const int inner_count = def->waypoint_count - 2;
    for (int i = 1; i <= inner_count; ++i) {
        for (int k = 4; k <= 6; ++k) {
            const int row = 3 * (i - 1) + (k - 4);
            for (int side = 0; side < 2; ++side) { // the piece before, the piece after
                double weights[8];
                const double t = durations[i - 1 + side];
                end_weights(k, side == 0, weights);
                for (int n = 0; n < 8; ++n) {
                    const int waypoint = i - 1 + side + n / 4, order = n % 4;
                    double w = (side == 0 ? 1.0 : -1.0) * weights[n];
                    for (int d = order; d < k; ++d)
                        w /= t; // derivatives over s are those over t times powers of T
                    if (order == 0) {
                        for (int axis = 0; axis < 3; ++axis)
                            b[row][axis] -= w * waypoint_coordinate(def, waypoint, axis);
                    } else if (waypoint >= 1 && waypoint <= inner_count) {
                        m[row][3 * (waypoint - 1) + order - 1] += w;
                    }
                }
            }
        }
    }
}

// The polynomials for given spans; returns the integral of squared snap.
static double fit_polynomials(const vy_path_def *def, const double *durations, double out[][3][8])
{
    double m[3 * MAX_INNER_WAYPOINTS][3 * MAX_INNER_WAYPOINTS], b[3 * MAX_INNER_WAYPOINTS][3];
    memset(m, 0, sizeof m);
    memset(b, 0, sizeof b);
    const int inner_count = def->waypoint_count - 2;
    add_continuity_rows(def, durations, m, b);
    solve(3 * inner_count, m, b);
    double cost = 0.0;
    for (int i = 0; i + 1 < def->waypoint_count; ++i) {
        const double t = durations[i];
        for (int axis = 0; axis < 3; ++axis) {
            double ends[2][4], c[8], power = 1.0;
            for (int e = 0; e < 2; ++e) {
                const int waypoint = i + e, is_inner = waypoint >= 1 && waypoint <= inner_count;
                ends[e][0] = waypoint_coordinate(def, waypoint, axis);
                for (int k = 1; k < 4; ++k) {
                    ends[e][k] = is_inner ? b[3 * (waypoint - 1) + k - 1][axis] : 0.0;
                    for (int n = 0; n < k; ++n) ends[e][k] *= t;
                }
            }
            hermite(ends[0], ends[1], c);
            // snap over s is 24 c4 + 120 c5 s + 360 c6 s^2 + 840 c7 s^3
            const double q[4] = {24.0 * c[4], 120.0 * c[5], 360.0 * c[6], 840.0 * c[7]};
            double sum = 0.0;
            for (int r = 0; r < 4; ++r) {
                for (int s = 0; s < 4; ++s) sum += q[r] * q[s] / (r + s + 1);
            }
            const double t2 = t * t;
            cost += sum / (t2 * t2 * t2 * t);
            for (int n = 0; n < 8; ++n, power /= t) out[i][axis][n] = c[n] * power;
        }
    }
    return cost;
}

// How far speed and acceleration exceed their limits, as the factor by which time must be stretched.
static double time_scale_needed(const vy_path_def *def, const double *durations, double polynomials[][3][8])
{
    double speed2_max = 0.0, acceleration2_max = 0.0;
    for (int i = 0; i + 1 < def->waypoint_count; ++i) {
        for (int k = 0; k <= SAMPLES_PER_PIECE; ++k) {
            const double t = durations[i] * k / SAMPLES_PER_PIECE;
            double speed2 = 0.0, acceleration2 = 0.0;
            for (int axis = 0; axis < 3; ++axis) {
                const jet x = path_polynomial(polynomials[i][axis], t);
                speed2 += x.d[1] * x.d[1];
                acceleration2 += x.d[2] * x.d[2];
            }
            speed2_max = real_max(speed2_max, speed2);
            acceleration2_max = real_max(acceleration2_max, acceleration2);
        }
    }
    const double by_speed = real_sqrt(speed2_max) / def->speed;
    const double by_acceleration = real_sqrt(real_sqrt(acceleration2_max) / def->acceleration);
    return 1.001 * real_max(by_speed, by_acceleration); // between two samples it may be a little more
}

// Move time between pieces while that lowers the cost at the same total.
static void allocate_time(const vy_path_def *def, double *durations, double polynomials[][3][8])
{
    const int piece_count = def->waypoint_count - 1;
    double best_cost = fit_polynomials(def, durations, polynomials), step = 0.2;
    for (int round = 0; round < ITERATION_MAX && step > 1e-3; ++round) {
        int has_improved = 0;
        for (int i = 0; i < 2 * piece_count; ++i) {
            double trial_durations[VY_WAYPOINT_CAP] = {0}, total = 0.0, total_before = 0.0;
            for (int k = 0; k < piece_count; ++k) total_before += trial_durations[k] = durations[k];
            trial_durations[i / 2] *= i % 2 ? 1.0 + step : 1.0 / (1.0 + step);
            for (int k = 0; k < piece_count; ++k) total += trial_durations[k];
            for (int k = 0; k < piece_count; ++k) trial_durations[k] *= total_before / total;
            const double cost = fit_polynomials(def, trial_durations, polynomials);
            if (!(cost < best_cost)) continue;
            best_cost = cost;
            has_improved = 1;
            memcpy(durations, trial_durations, (size_t)piece_count * sizeof durations[0]);
        }
        if (!has_improved) step *= 0.5;
    }
}

void vy_minimum_snap_build(const vy_path_def *def, path_model *out)
{
    double durations[VY_WAYPOINT_CAP] = {0.0};
    const int piece_count = def->waypoint_count - 1;
    VY_ASSERT(piece_count > 0 && piece_count < VY_WAYPOINT_CAP);
    for (int i = 0; i < piece_count; ++i) {
        const vec3 displacement = vec3_sub(def->waypoints[i + 1].position, def->waypoints[i].position);
        const double distance = vec3_length(displacement);
        durations[i] = distance / def->speed + real_sqrt(distance / def->acceleration);
    }
    allocate_time(def, durations, out->polynomials);
    (void)fit_polynomials(def, durations, out->polynomials);
    const double stretch = time_scale_needed(def, durations, out->polynomials);
    out->segments = piece_count;
    out->times[0] = 0.0;
    for (int i = 0; i < piece_count; ++i) {
        durations[i] *= stretch;
        out->times[i + 1] = out->times[i] + durations[i];
        VY_ASSERT(durations[i] > 0.0); // time continues from waypoint to waypoint
    }
    (void)fit_polynomials(def, durations, out->polynomials);
}
