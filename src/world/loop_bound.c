// loop_bound.c - the bound of a closed loop's deviation: the remainder of its linearisation, and the least
// bound that reproduces itself.
//
// Words: two motions x and y, their differences s; H across, V along, Z about the vertical. A turn that takes
// the attitude of x to that of y is `angle`, in world axes; rates, accelerations and biases in body axes are
// turned to world axes by the attitude of x.
#include "base/real.h"
#include "base/assert.h"
#include "world/loop_bound.h"
#include <string.h>

enum { H = LOOP_LATERAL, V = LOOP_VERTICAL, Z = LOOP_YAW };

// The remainder, entry by entry.
typedef struct entries {
    double remainder[LOOP_AXES][LOOP_INPUTS];
} entries;

// What the remainder is found from. Differences enter as `s` once in each term; where two of them are
// multiplied, the other is from `r`.
typedef struct terms {
    const loop_model *m;
    const double *envelope; // [ENVELOPE_COUNT] of the flown motion
    const loop_slopes *slopes;
    const loop_bound *s, *r; // bounds of the differences
    entries *out;            // what the terms are added to
} terms;

// Across and about, of a vector in world axes.
typedef struct lateral_yaw {
    double h, z; // across, about the vertical
} lateral_yaw;

static double length(double a, double b) { return real_sqrt(a * a + b * b); }
static lateral_yaw rotation_part(const loop_bound *b, int signal)
{
    return (lateral_yaw){b->bound[H][signal], b->bound[Z][signal]};
}
static double rotation_norm(const loop_bound *b, int signal)
{
    return length(b->bound[H][signal], b->bound[Z][signal]);
}
static double translation_norm(const loop_bound *b, int signal)
{
    return length(b->bound[H][signal], b->bound[V][signal]);
}

// |a x b|, by parts.
static lateral_yaw cross(lateral_yaw a, lateral_yaw b)
{
    return (lateral_yaw){a.h * b.z + a.z * b.h, a.h * b.h};
}

static void add_entry(const terms *t, int entry, double h, double z)
{
    t->out->remainder[H][entry] += h;
    t->out->remainder[Z][entry] += z;
}

static lateral_yaw observed_rate(const terms *t)
{
    return (lateral_yaw){t->envelope[ENVELOPE_RATE_LATERAL], t->envelope[ENVELOPE_RATE_YAW]};
}

// Of a vector turned from world to body axes, or back.
static lateral_yaw rotated(const terms *t, lateral_yaw a)
{
    const double tilt = t->envelope[ENVELOPE_TILT];
    return (lateral_yaw){a.h + tilt * a.z, a.z + tilt * a.h};
}

// I^-1 (w x I w) of two motions: the moments' differences over the third, in body axes.
static lateral_yaw gyroscopic(const terms *t, lateral_yaw flown_rate, int signal)
{
    const lateral_yaw mean = {flown_rate.h + 0.5 * t->r->bound[H][signal],
                              flown_rate.z + 0.5 * t->r->bound[Z][signal]};
    const lateral_yaw c = cross(rotated(t, mean), rotated(t, rotation_part(t->s, signal)));
    return rotated(t, (lateral_yaw){t->m->gyro_across * c.h, t->m->gyro_about * c.z});
}

// The difference of specific thrust. Where the body leans, a desired acceleration across asks for more of it;
// that part is not in the loop along the vertical.
static double thrust_change(const terms *t)
{
    return t->s->bound[V][LOOP_ACTUATION] +
           t->envelope[ENVELOPE_TILT] * t->s->bound[H][LOOP_DESIRED_ACCELERATION];
}

// Velocity: the thrust's direction and size, and the loads that are computed. A tilt takes from the vertical
// what the controller adds to the thrust, which lags behind: LOOP_THRUST_TILT_ERROR.
static void add_forces(const terms *t)
{
    const double tilt = t->envelope[ENVELOPE_TILT], thrust = t->envelope[ENVELOPE_THRUST];
    const double cosine_gap = tilt * tilt; // 1 - cos <= sin^2
    const double thrust_excess =
        t->envelope[ENVELOPE_THRUST_ERROR] + cosine_gap * thrust; // of thrust over gravity
    const double angle = rotation_norm(t->s, LOOP_ANGLE), reference_angle = rotation_norm(t->r, LOOP_ANGLE);
    const double thrust_gain = thrust_change(t);
    const double second_order = thrust_gain * reference_angle + 0.5 * thrust * reference_angle * angle;
    const double loads = t->slopes->force_velocity * translation_norm(t->s, LOOP_VELOCITY) +
                         t->slopes->force_angle * angle +
                         t->slopes->force_position * translation_norm(t->s, LOOP_POSITION) +
                         t->slopes->rotor_wrench_change * thrust_gain;
    t->out->remainder[H][INPUT_FORCE] += t->envelope[ENVELOPE_THRUST_ERROR] * t->s->bound[H][LOOP_ANGLE] +
                                         thrust * tilt * t->s->bound[Z][LOOP_ANGLE] + tilt * thrust_gain +
                                         second_order + loads;
    t->out->remainder[V][INPUT_FORCE] +=
        tilt * (t->s->bound[H][LOOP_THRUST_TILT_ERROR] + thrust_excess * t->s->bound[H][LOOP_ANGLE]) +
        cosine_gap * thrust_gain + second_order + loads;
}

// Angle and rate: turning axes, gyroscopic torque, the loads that are computed.
static void add_torques(const terms *t)
{
    const lateral_yaw rate = rotation_part(t->s, LOOP_RATE), transport = cross(observed_rate(t), rate);
    const double size = length(rate.h, rate.z), angle = rotation_norm(t->s, LOOP_ANGLE);
    const double jacobian_error = 0.6 * rotation_norm(t->r, LOOP_ANGLE) * size; // |J^-1(angle) - 1|
    const lateral_yaw gyro = gyroscopic(t, observed_rate(t), LOOP_RATE);
    const double loads =
        t->slopes->torque_velocity * translation_norm(t->s, LOOP_VELOCITY) + t->slopes->torque_angle * angle +
        t->slopes->torque_position * translation_norm(t->s, LOOP_POSITION) + t->slopes->torque_rate * size +
        t->slopes->rotor_wrench_change * rotation_norm(t->s, LOOP_ACTUATION);
    add_entry(t, INPUT_ANGLE_RATE, jacobian_error, jacobian_error);
    add_entry(t, INPUT_TORQUE, transport.h + gyro.h + loads, transport.z + gyro.z + loads);
}

// Of rotors whose accelerations change by `signal`: the largest change of one thrust, as a share of its
// limit, or the root of the sum of squares of all.
static double rotor_change(const double *sensitivity, double tilt, const loop_bound *s, int signal)
{
    const double h = s->bound[H][signal], z = s->bound[Z][signal];
    const double tilt_gain = signal == LOOP_LAG_ERROR ? 2.0 * tilt : tilt; // as in thrust_change()
    const double thrust = s->bound[V][signal] + tilt_gain * s->bound[H][LOOP_DESIRED_ACCELERATION];
    return sensitivity[V] * thrust + sensitivity[H] * (h + tilt * z) + sensitivity[Z] * (z + tilt * h);
}

// Rotors follow in speed, thrust is a curve over it. With S and S_c its slopes at the mean of both motions'
// speeds and commanded speeds, e = S_c / S - 1, differences of thrust follow exactly
//   lag T' = (T_c - T) - e (T_c - T) + e^2 / (1 + e) T_c.
static void add_rotors(const terms *t)
{
    const loop_params *p = &t->m->params;
    const lateral_yaw actuation_turn = cross(observed_rate(t), rotation_part(t->s, LOOP_ACTUATION)),
                      command_turn = cross(observed_rate(t), rotation_part(t->s, LOOP_COMMAND));
    // Commands are made in the axes of their time.
    const double hold_time = (double)(p->rate + (loop_is_geometric(p) ? p->control : 0)) * p->dt;
    add_entry(t, INPUT_ACTUATION, p->lag * actuation_turn.h + hold_time * command_turn.h,
              p->lag * actuation_turn.z + hold_time * command_turn.z);
    if (!(p->lag > 0.0)) return;
    const double tilt = t->envelope[ENVELOPE_TILT];
    const double *fraction_per_acceleration = t->m->fraction_per_acceleration,
                 *norm_per_acceleration = t->m->norm_per_acceleration,
                 *acceleration_per_norm = t->m->acceleration_per_norm;
    const double command = rotor_change(fraction_per_acceleration, tilt, t->r, LOOP_COMMAND),
                 actuation = rotor_change(fraction_per_acceleration, tilt, t->r, LOOP_ACTUATION);
    const double margin = real_max(1.0 - t->envelope[ENVELOPE_THRUST_MARGIN] - command, 1e-9);
    const double e = t->envelope[ENVELOPE_SPEED_RATIO] + 0.25 * (command + 1.1 * actuation) / margin;
    if (!(e < 0.5)) {
        t->out->remainder[V][INPUT_ACTUATION] = 1e30; // no bound
        return;
    }
    // What the wrench does not show of more than four thrusts is at most the remainder itself.
    const double thrust_remainder =
        (e * rotor_change(norm_per_acceleration, tilt, t->s, LOOP_LAG_ERROR) +
         e * e / (1.0 - e) * rotor_change(norm_per_acceleration, tilt, t->s, LOOP_COMMAND)) /
        (1.0 - e);
    const lateral_yaw wrench = rotated(t, (lateral_yaw){acceleration_per_norm[H] * thrust_remainder,
                                                        acceleration_per_norm[Z] * thrust_remainder});
    add_entry(t, INPUT_ACTUATION, wrench.h, wrench.z);
    t->out->remainder[V][INPUT_ACTUATION] += acceleration_per_norm[V] * thrust_remainder;
}

// How far the desired attitude is from what the linear loop makes of a change of the desired acceleration.
static lateral_yaw desired_remainder(const terms *t)
{
    const double h = t->s->bound[H][LOOP_DESIRED_ACCELERATION], v = t->s->bound[V][LOOP_DESIRED_ACCELERATION];
    const double reference_change = translation_norm(t->r, LOOP_DESIRED_ACCELERATION);
    const double inverse = t->envelope[ENVELOPE_DESIRED_INVERSE] /
                           real_max(1.0 - reference_change * t->envelope[ENVELOPE_DESIRED_INVERSE], 1e-3);
    const double tilt = real_min(t->envelope[ENVELOPE_DESIRED_TILT] + reference_change * inverse, 1.0);
    const double direction_error = t->envelope[ENVELOPE_INVERSE_ERROR] + reference_change * inverse * inverse;
    // The shortest way up to a direction twists by the tangent of half the tilt; keeping the nose over its
    // heading, by that of the tilt.
    const double cosine = real_sqrt(1.0 - tilt * tilt), half = tilt / (1.0 + cosine);
    const double twist =
        (loop_is_geometric(&t->m->params) ? tilt / real_max(cosine, 1e-9) : half) * inverse * (h + tilt * v);
    const lateral_yaw w = {direction_error * h + tilt * inverse * v + twist * tilt,
                           tilt * inverse * h + twist};
    const double half_angle =
        0.5 * t->r->bound[H][LOOP_DESIRED_ACCELERATION] / t->m->params.gravity; // they do not commute
    return (lateral_yaw){w.h + half_angle * w.z, w.z + half_angle * w.h};
}

// A quantity of both motions, at most, and its difference.
typedef struct bounded_value {
    double size, change;
} bounded_value;

static bounded_value sum(bounded_value a, bounded_value b)
{
    return (bounded_value){a.size + b.size, a.change + b.change};
}
static bounded_value product(bounded_value a, bounded_value b)
{
    return (bounded_value){a.size * b.size, a.size * b.change + a.change * b.size};
}
static bounded_value scale(double k, bounded_value a) { return (bounded_value){k * a.size, k * a.change}; }

// [rad/s] The rate that the controller believes in.
static double estimated_rate(const terms *t)
{
    const lateral_yaw w = observed_rate(t);
    return (t->m->params.truth ? length(w.h, w.z) : t->envelope[ENVELOPE_RATE_ESTIMATE]) +
           rotation_norm(t->r, LOOP_RATE_ESTIMATE);
}

static lateral_yaw estimated_rate_parts(const terms *t)
{
    const lateral_yaw w = observed_rate(t), r = rotation_part(t->r, LOOP_RATE_ESTIMATE);
    const double rate_estimate = t->envelope[ENVELOPE_RATE_ESTIMATE];
    return t->m->params.truth ? (lateral_yaw){w.h + r.h, w.z + r.z}
                              : (lateral_yaw){rate_estimate + r.h, rate_estimate + r.z};
}

// Across and along, of a vector in world axes.
typedef struct lateral_vertical {
    double h, v; // across, along the vertical
} lateral_vertical;

// Differences of the derivatives of the desired acceleration A, and what is not linear in them. Lee's law
// takes the thrust f z, with f = A . z along body z, for the acceleration, and f w x z for the jerk.
typedef struct derivatives {
    lateral_vertical jerk, snap;
    double jerk_remainder, snap_remainder; // across, beside the linear loop
} derivatives;

// Of f z less g, across and along.
static lateral_vertical net_thrust_of(const terms *t, double tilt)
{
    const double *envelope = t->envelope, g = t->m->params.gravity,
                 desired_tilt = envelope[ENVELOPE_DESIRED_TILT];
    const double inverse_error =
        real_min(g * envelope[ENVELOPE_INVERSE_ERROR], 0.9); // |A_z - g| follows from cos / |A| - 1 / g
    const double vertical = g * (desired_tilt * desired_tilt + inverse_error / (1.0 - inverse_error)) +
                            envelope[ENVELOPE_DESIRED_MAX] * (tilt * tilt + desired_tilt * tilt);
    return (lateral_vertical){envelope[ENVELOPE_NET_THRUST],
                              real_min(envelope[ENVELOPE_NET_THRUST], vertical)};
}

static derivatives derivatives_of(const terms *t, const loop_bound *s)
{
    const loop_params *p = &t->m->params;
    const double *envelope = t->envelope;
    if (p->law != LOOP_LEE) return (derivatives){{0.0, 0.0}, {0.0, 0.0}, 0.0, 0.0}; // of the reference alone
    const double estimate_error = envelope[ENVELOPE_ESTIMATE_ERROR],
                 tilt = envelope[ENVELOPE_TILT] + estimate_error;
    const double a = envelope[ENVELOPE_DESIRED_MAX],
                 desired_max = a + translation_norm(t->r, LOOP_DESIRED_ACCELERATION);
    const lateral_yaw turn = rotation_part(s, LOOP_ANGLE_ESTIMATE),
                      turn_rate = rotation_part(s, LOOP_RATE_ESTIMATE);
    const double angle = length(turn.h, turn.z), reference_angle = rotation_norm(t->r, LOOP_ANGLE_ESTIMATE),
                 rate = length(turn_rate.h, turn_rate.z), rate_norm = estimated_rate(t);
    const lateral_vertical desired = {s->bound[H][LOOP_DESIRED_ACCELERATION],
                                      s->bound[V][LOOP_DESIRED_ACCELERATION]},
                           net_thrust = net_thrust_of(t, tilt);
    const double misaligned_thrust =
        a * (envelope[ENVELOPE_ERROR_LATERAL] + tilt * envelope[ENVELOPE_ERROR_YAW]) * angle;
    const double second_order = 2.0 * reference_angle * (desired_max * angle + length(desired.h, desired.v));
    // z z^T A: z leans, A is not along z, f z is not g.
    const lateral_vertical force_remainder = {
        tilt * (desired.v + tilt * desired.h + misaligned_thrust) + net_thrust.v * turn.h +
            net_thrust.h * turn.z + second_order,
        tilt * (desired.h + tilt * desired.v) + misaligned_thrust + net_thrust.h * turn.h + second_order};
    // f w x z: w and z are turned from body axes; w x z is level but for the tilt.
    const lateral_yaw estimated = estimated_rate_parts(t);
    const double horizontal_rate = estimated.h + tilt * estimated.z;
    const double thrust = desired.v + tilt * desired.h + misaligned_thrust + second_order; // of f
    const double frame_error =
        desired_max * (estimate_error * rate + reference_angle * (rate + rate_norm * angle));
    const lateral_vertical force_rate_remainder = {
        horizontal_rate * (thrust + desired_max * (turn.z + tilt * turn.h)) + net_thrust.v * turn_rate.h +
            net_thrust.h * turn_rate.z + frame_error,
        horizontal_rate * (tilt * thrust + desired_max * (turn.h + tilt * turn.z)) +
            net_thrust.h * turn_rate.h + frame_error};
    return (derivatives){
        .jerk = {s->bound[H][LOOP_JERK] + p->velocity * force_remainder.h,
                 s->bound[V][LOOP_JERK] + p->velocity * force_remainder.v},
        .snap = {s->bound[H][LOOP_SNAP] + p->position * force_remainder.h +
                     p->velocity * force_rate_remainder.h,
                 s->bound[V][LOOP_SNAP] + p->position * force_remainder.v +
                     p->velocity * force_rate_remainder.v},
        .jerk_remainder = p->velocity * force_remainder.h,
        .snap_remainder = p->position * force_remainder.h + p->velocity * force_rate_remainder.h,
    };
}

// The desired attitude's rate or angular acceleration: `across` u, and `about` u; `remainder` of it beside
// the linear loop.
typedef struct desired_rotation {
    bounded_value across, about;
    double vertical; // about the vertical
    lateral_yaw remainder;
} desired_rotation;

// In the axes of the estimated attitude, which differs.
static lateral_yaw rotation_in_estimated_frame(const terms *t, const desired_rotation *d, double tilt)
{
    const double estimate_error = t->envelope[ENVELOPE_ESTIMATE_ERROR],
                 reference_angle = rotation_norm(t->r, LOOP_ANGLE_ESTIMATE);
    const lateral_yaw size = {d->across.size + tilt * d->about.size, d->vertical};
    const lateral_yaw turned = cross(size, rotation_part(t->s, LOOP_ANGLE_ESTIMATE));
    const double frame_error =
        estimate_error * (d->across.change + d->about.change) +
        0.5 * reference_angle * length(size.h, size.z) * rotation_norm(t->s, LOOP_ANGLE_ESTIMATE);
    return (lateral_yaw){d->remainder.h + turned.h + frame_error, d->remainder.z + turned.z + frame_error};
}

// Of X x a across, with the size of a, its difference `d` and the `remainder` of that, and of what is about
// u, which turns: what is beside the linear loop. X changes as A does, mirrored at the plane across u.
static double rotation_remainder(const terms *t, double inverse, lateral_vertical size, lateral_vertical d,
                                 double remainder, bounded_value about, bounded_value u, double tilt)
{
    const double tilt_over_g = t->envelope[ENVELOPE_DESIRED_TILT] * t->envelope[ENVELOPE_DESIRED_INVERSE],
                 inverse_error = t->envelope[ENVELOPE_INVERSE_ERROR]; // of X from z / g, across and along
    const double h = t->s->bound[H][LOOP_DESIRED_ACCELERATION], v = t->s->bound[V][LOOP_DESIRED_ACCELERATION],
                 k = inverse * inverse;
    const double across = k * (h + 2.0 * tilt * (tilt * h + v)),
                 along = k * (v + 2.0 * tilt * (h + tilt * v));
    return along * size.h + across * size.v + about.size * u.change + tilt_over_g * d.v +
           inverse_error * d.h + remainder / t->m->params.gravity + tilt * about.change;
}

// How the desired attitude turns: with u = A / |A|, X = A / |A|^2 and A' its derivative,
//   w_d = X x A' + w_z u,  w_z = (yaw' u_z + (c . u) (c . (X x A'))) / (1 - (c . u)^2)
// for the nose c over its heading; and w_d' likewise. X of two motions differ by no more than the difference
// of A over the product of its sizes.
static void add_desired_rotation(const terms *t)
{
    const loop_params *p = &t->m->params;
    const double *envelope = t->envelope;
    const derivatives d = derivatives_of(t, t->s), reference_terms = derivatives_of(t, t->r);
    const double reference_change = translation_norm(t->r, LOOP_DESIRED_ACCELERATION),
                 desired_inverse = envelope[ENVELOPE_DESIRED_INVERSE];
    const double inverse = desired_inverse / real_max(1.0 - reference_change * desired_inverse, 1e-3),
                 change = translation_norm(t->s, LOOP_DESIRED_ACCELERATION);
    const double tilt = real_min(envelope[ENVELOPE_DESIRED_TILT] + reference_change * inverse, 0.9);
    const double yaw = envelope[ENVELOPE_HEADING_RATE], yaw_change = envelope[ENVELOPE_HEADING_ACCELERATION];
    const bounded_value u = {1.0, change * inverse}, x = {inverse, change * inverse * inverse},
                        jerk = {envelope[ENVELOPE_JERK] +
                                    length(reference_terms.jerk.h, reference_terms.jerk.v),
                                length(d.jerk.h, d.jerk.v)},
                        snap = {envelope[ENVELOPE_SNAP] +
                                    length(reference_terms.snap.h, reference_terms.snap.v),
                                length(d.snap.h, d.snap.v)};
    const bounded_value across = product(x, jerk), square = product(across, across);
    const bounded_value across_rate = sum(product(x, snap), scale(2.0, square)); // across, derived
    const bounded_value nose_tilt = {tilt, u.change}, cos_tilt = {1.0, tilt * u.change};
    const double inverse_cos2 = 1.0 / (1.0 - tilt * tilt);
    const bounded_value inverse_denominator = {inverse_cos2,
                                               2.0 * tilt * inverse_cos2 * inverse_cos2 * nose_tilt.change};
    const bounded_value about =
        product(sum(scale(yaw, cos_tilt), product(nose_tilt, across)), inverse_denominator);
    const bounded_value u_rate = product(across, u); // of u
    const bounded_value q_rate = {yaw * tilt + u_rate.size, yaw * nose_tilt.change + u_rate.change};
    const bounded_value numerator_rate =
        sum(sum(scale(yaw_change, cos_tilt), scale(yaw, u_rate)),
            sum(product(q_rate, across), product(nose_tilt, sum(scale(yaw, across), across_rate))));
    const bounded_value about_rate =
        sum(product(numerator_rate, inverse_denominator),
            scale(2.0, product(product(about, inverse_denominator), product(nose_tilt, q_rate))));
    // About the vertical: yaw' + u_c (u'.m - yaw' u_c) / (1 - u_m^2), with m across the nose. Its parts above
    // cancel but for that.
    const bounded_value horizontal = sum(u_rate, scale(yaw, nose_tilt)),
                        tilt_ratio = product(nose_tilt, inverse_denominator);
    const bounded_value vertical = product(tilt_ratio, horizontal);
    const lateral_vertical jerk_of = {jerk.size, envelope[ENVELOPE_JERK_VERTICAL] + reference_terms.jerk.v},
                           snap_of = {snap.size, envelope[ENVELOPE_SNAP_VERTICAL] + reference_terms.snap.v};
    const desired_rotation rate = {
        across,
        about,
        yaw + vertical.size,
        {rotation_remainder(t, inverse, jerk_of, d.jerk, d.jerk_remainder, about, u, tilt), vertical.change}};
    const lateral_yaw rate_command = rotation_in_estimated_frame(t, &rate, tilt);
    add_entry(t, INPUT_COMMAND, p->rates * rate_command.h, p->rates * rate_command.z);
    if (p->law != LOOP_LEE) return;
    const bounded_value second_order = sum(scale(2.0, square), product(about, u_rate));
    const bounded_value horizontal_rate =
        sum(sum(product(across_rate, u), product(square, u)),
            sum(scale(yaw_change, nose_tilt), scale(yaw, sum(u_rate, q_rate))));
    const bounded_value vertical_rate = sum(
        sum(product(product(q_rate, inverse_denominator), horizontal), product(tilt_ratio, horizontal_rate)),
        scale(2.0, product(product(vertical, inverse_denominator), product(nose_tilt, q_rate))));
    const double acceleration_remainder =
        rotation_remainder(t, inverse, snap_of, d.snap, d.snap_remainder, about_rate, u, tilt);
    const desired_rotation acceleration = {
        sum(across_rate, product(about, u_rate)),
        about_rate,
        yaw_change + vertical_rate.size,
        {acceleration_remainder + second_order.change, vertical_rate.change}};
    const lateral_yaw acceleration_command = rotation_in_estimated_frame(t, &acceleration, tilt);
    // w x w_d.
    const lateral_yaw estimated = estimated_rate_parts(t),
                      rate_change = rotation_part(t->s, LOOP_RATE_ESTIMATE),
                      turned = cross(rotation_part(t->s, LOOP_ANGLE_ESTIMATE), estimated);
    const lateral_yaw desired = {across.size + tilt * about.size, yaw + vertical.size},
                      change_of = {across.change + tilt * about.change + about.size * u.change,
                                   vertical.change};
    const lateral_yaw rate_term =
                          cross((lateral_yaw){rate_change.h + turned.h, rate_change.z + turned.z}, desired),
                      desired_term = cross(estimated, change_of);
    const double delay_term = p->truth ? 0.0
                                       : (double)p->imu * p->dt * (p->velocity + across.size + about.size) *
                                             estimated_rate(t) * length(rate_change.h, rate_change.z);
    add_entry(t, INPUT_COMMAND, acceleration_command.h + rate_term.h + desired_term.h + delay_term,
              acceleration_command.z + rate_term.z + desired_term.z + delay_term);
}

// Rates by increments: what is remembered in body axes that have turned since, and no gyroscopic term.
static void add_increments(const terms *t)
{
    const lateral_yaw w = observed_rate(t);
    const double increment_error =
        length(w.h, w.z) * (t->m->delays.rate_delay * rotation_norm(t->s, LOOP_RATE_ESTIMATE) +
                            t->m->delays.command_delay * rotation_norm(t->s, LOOP_COMMAND));
    add_entry(t, INPUT_COMMAND, increment_error, increment_error);
}

// [rad] The heading of the estimated attitude: it turns with the rate about the vertical, and where the nose
// is not level by the tangent of its pitch with that across (Euler's angles).
static double heading_change(const double *envelope, const loop_bound *s, const loop_bound *r)
{
    const double tilt_sum =
        envelope[ENVELOPE_TILT] + envelope[ENVELOPE_ESTIMATE_ERROR] + rotation_norm(r, LOOP_ANGLE_ESTIMATE);
    const double tilt = real_min(tilt_sum, 0.9);
    return s->bound[Z][LOOP_ANGLE_ESTIMATE] +
           tilt / real_sqrt(1.0 - tilt * tilt) * s->bound[H][LOOP_ANGLE_ESTIMATE];
}

// The velocity rung: what the sticks say is turned to where the nose points, and the desired rate about the
// vertical to body axes. The desired heading is the same for both motions: it moves at the desired rate.
static void add_heading(const terms *t)
{
    const loop_params *p = &t->m->params;
    const double *envelope = t->envelope, rate = envelope[ENVELOPE_TURN_RATE];
    const double angle = t->s->bound[H][LOOP_ANGLE_ESTIMATE],
                 reference_angle = rotation_norm(t->r, LOOP_ANGLE_ESTIMATE);
    t->out->remainder[H][INPUT_VELOCITY] +=
        envelope[ENVELOPE_STICK_SPEED] * heading_change(envelope, t->s, t->r);
    const double tilt_error =
        envelope[ENVELOPE_TILT] + 2.0 * envelope[ENVELOPE_ESTIMATE_ERROR] + 0.5 * reference_angle;
    add_entry(t, INPUT_COMMAND, p->rates * rate * (1.0 + tilt_error) * angle,
              p->rates * rate * tilt_error * angle);
}

// The command: attitude error and gains in body axes, gyroscopic term; and the thrust.
static void add_commands(const terms *t)
{
    const loop_params *p = &t->m->params;
    const double *envelope = t->envelope;
    const double estimate_error = envelope[ENVELOPE_ESTIMATE_ERROR],
                 tilt = envelope[ENVELOPE_TILT] + estimate_error;
    const lateral_yaw desired = desired_remainder(t);
    const lateral_yaw error = {envelope[ENVELOPE_ERROR_LATERAL], envelope[ENVELOPE_ERROR_YAW]};
    lateral_yaw error_change = rotation_part(t->s, LOOP_ANGLE_ERROR),
                reference_error = rotation_part(t->r, LOOP_ANGLE_ERROR);
    error_change = (lateral_yaw){error_change.h + desired.h, error_change.z + desired.z};
    const double error_norm = length(error.h, error.z), size = length(error_change.h, error_change.z),
                 reference_norm = length(reference_error.h, reference_error.z) + 1e-300;
    const lateral_yaw error_cross = cross(error, error_change);
    const double angle = rotation_norm(t->s, LOOP_ANGLE_ESTIMATE), gain_max = real_max(p->attitude, p->yaw);
    // The error is twice the sine of half the angle, or the sine of the angle.
    const double curvature = loop_is_geometric(p) ? 2.0 : 1.0;
    const double second_order = curvature *
                                    (0.25 * error_norm * error_norm + 0.25 * error_norm * reference_norm +
                                     0.1 * reference_norm * reference_norm) *
                                    size +
                                0.6 * rotation_norm(t->r, LOOP_ANGLE_ESTIMATE) * size; // turns do not commute
    const lateral_yaw remainder = {desired.h + 0.5 * error_cross.h + second_order,
                                   desired.z + 0.5 * error_cross.z + second_order};
    const double gain_difference = real_abs(p->attitude - p->yaw);
    const double gain_error_h = gain_difference * tilt *
                                (tilt * (error_change.h + remainder.h) + error_change.z + remainder.z),
                 gain_error_z = gain_difference * tilt *
                                (tilt * (error_change.z + remainder.z) + error_change.h + remainder.h);
    const lateral_yaw transport = cross(observed_rate(t), rotation_part(t->s, LOOP_RATE_ESTIMATE));
    const lateral_yaw estimated =
        p->truth ? observed_rate(t)
                 : (lateral_yaw){envelope[ENVELOPE_RATE_ESTIMATE], envelope[ENVELOPE_RATE_ESTIMATE]};
    const int has_gyroscopic_term = p->law == LOOP_LEE || (!loop_is_geometric(p) && !p->incremental);
    const lateral_yaw gyro =
        has_gyroscopic_term ? gyroscopic(t, estimated, LOOP_RATE_ESTIMATE) : (lateral_yaw){0.0, 0.0};
    const double delay = p->truth ? 0.0 : (double)p->imu * p->dt * p->rates;
    const double frame_error = estimate_error * gain_max * (size + length(remainder.h, remainder.z));
    add_entry(t, INPUT_COMMAND,
              p->rates * (p->attitude * remainder.h + gain_error_h + frame_error) + gyro.h +
                  delay * transport.h,
              p->rates * (p->yaw * remainder.z + gain_error_z + frame_error) + gyro.z + delay * transport.z);
    if (loop_is_geometric(p)) add_desired_rotation(t);
    if (p->law == LOOP_VELOCITY_RUNG) add_heading(t);
    if (p->incremental) add_increments(t);
    // Thrust: the desired acceleration along the estimated body z.
    const double a = envelope[ENVELOPE_DESIRED_MAX],
                 change = translation_norm(t->r, LOOP_DESIRED_ACCELERATION);
    const double across = a * (error.h + tilt * error.z);
    // What a lean adds is taken out of this loop; it is that of the lean when the command is made.
    const double tilt_rate = envelope[ENVELOPE_RATE_LATERAL] + tilt * envelope[ENVELOPE_RATE_YAW],
                 total_lag = (double)(p->control + p->rate) * p->dt + p->lag;
    t->out->remainder[V][INPUT_ACTUATION] +=
        tilt_rate * total_lag * t->s->bound[H][LOOP_DESIRED_ACCELERATION];
    t->out->remainder[V][INPUT_COMMAND] +=
        estimate_error * t->s->bound[H][LOOP_DESIRED_ACCELERATION] +
        tilt * tilt * t->s->bound[V][LOOP_DESIRED_ACCELERATION] + across * angle +
        (change + 0.5 * a * rotation_norm(t->r, LOOP_ANGLE_ESTIMATE)) * angle;
}

// Of the estimated attitude from the true one half-way through a sample.
static lateral_yaw attitude_estimate_error(const loop_bound *b, double period)
{
    const lateral_yaw a = rotation_part(b, LOOP_ANGLE_INNOVATION), rate = rotation_part(b, LOOP_RATE);
    return (lateral_yaw){a.h + period * rate.h, a.z + period * rate.z};
}

// Prediction by the IMU.
static void add_prediction(const terms *t)
{
    const loop_params *p = &t->m->params;
    const double *envelope = t->envelope;
    const double period = (double)p->imu * p->dt;
    const double rate_norm = length(envelope[ENVELOPE_RATE_LATERAL], envelope[ENVELOPE_RATE_YAW]);
    const double estimate_error = envelope[ENVELOPE_ESTIMATE_ERROR] + period * rate_norm;
    const double rate = rotation_norm(t->s, LOOP_RATE_ESTIMATE);
    const double rotation_error = (estimate_error + 0.6 * rotation_norm(t->r, LOOP_ANGLE_ESTIMATE)) * rate;
    add_entry(t, INPUT_ANGLE_RATE_ESTIMATE, rotation_error, rotation_error);
    const lateral_yaw gyro = cross(observed_rate(t), rotation_part(t->s, LOOP_GYRO_BIAS));
    add_entry(t, INPUT_GYRO_DRIFT, gyro.h, gyro.z);
    const lateral_yaw accel = cross(
        observed_rate(t), (lateral_yaw){t->s->bound[H][LOOP_ACCEL_BIAS], t->s->bound[V][LOOP_ACCEL_BIAS]});
    t->out->remainder[H][INPUT_ACCEL_DRIFT] += accel.h;
    t->out->remainder[V][INPUT_ACCEL_DRIFT] += accel.z;

    // The force of the sample is seen from the attitude of its time and turned by the estimated one: what is
    // left is that of their difference, and of noise turned by the latter.
    const lateral_yaw estimate = rotation_part(t->s, LOOP_ANGLE_ESTIMATE),
                      error = attitude_estimate_error(t->s, period);
    const double across = envelope[ENVELOPE_THRUST] * envelope[ENVELOPE_TILT] + t->slopes->force,
                 along = envelope[ENVELOPE_THRUST_ERROR] + t->slopes->force,
                 noise_across = envelope[ENVELOPE_SENSED_LATERAL] + t->slopes->force,
                 noise_along = envelope[ENVELOPE_SENSED_VERTICAL] + t->slopes->force;
    const double force = envelope[ENVELOPE_THRUST] + t->slopes->force, size = rotation_norm(t->s, LOOP_ANGLE),
                 bias = translation_norm(t->s, LOOP_ACCEL_BIAS),
                 change = translation_norm(t->s, LOOP_ACCELERATION);
    const double reference_angle = rotation_norm(t->r, LOOP_ANGLE) + rotation_norm(t->r, LOOP_ANGLE_ESTIMATE);
    const lateral_yaw reference_error = attitude_estimate_error(t->r, period);
    const double reference_error_norm = length(reference_error.h, reference_error.z);
    const double frame_error = estimate_error * (change + force * size + bias);
    const double second_order = force * (reference_angle + reference_error_norm) * length(error.h, error.z) +
                                reference_error_norm * change + reference_angle * bias;
    t->out->remainder[H][INPUT_FORCE_ESTIMATE] += noise_along * estimate.h + noise_across * estimate.z +
                                                  along * error.h + across * error.z + frame_error +
                                                  second_order;
    t->out->remainder[V][INPUT_FORCE_ESTIMATE] +=
        noise_across * estimate.h + across * error.h + frame_error + second_order;
}

// Correction by motion capture.
static void add_correction(const terms *t)
{
    const loop_params *p = &t->m->params;
    const double estimate_error = t->envelope[ENVELOPE_ESTIMATE_ERROR],
                 innovation = t->envelope[ENVELOPE_ANGLE_INNOVATION];
    const double angle = rotation_norm(t->s, LOOP_ANGLE_INNOVATION),
                 reference_angle = rotation_norm(t->r, LOOP_ANGLE_INNOVATION);
    // Turns that do not commute: half of angle x estimate, which is angle x innovation.
    const double remainder = (innovation + reference_angle + 0.6 * rotation_norm(t->r, LOOP_ANGLE)) * angle;
    add_entry(t, INPUT_ANGLE_CORRECTION, p->attitude_gain * remainder, p->attitude_gain * remainder);
    add_entry(t, INPUT_GYRO_CORRECTION, p->gyro_gain * (remainder + estimate_error * angle),
              p->gyro_gain * (remainder + estimate_error * angle));
    const double position_error = (estimate_error + rotation_norm(t->r, LOOP_ANGLE_ESTIMATE)) *
                                      translation_norm(t->s, LOOP_INNOVATION) +
                                  t->envelope[ENVELOPE_INNOVATION] * rotation_norm(t->s, LOOP_ANGLE_ESTIMATE);
    t->out->remainder[H][INPUT_ACCEL_CORRECTION] += p->accel_gain * position_error;
    t->out->remainder[V][INPUT_ACCEL_CORRECTION] += p->accel_gain * position_error;
}

// One round: what enters, and what the linear loop makes of it.
static void apply_linear_loop(const loop_model *m, const double *envelope, const loop_slopes *slopes,
                              const loop_neglect *neglect, const loop_bound *s, const loop_bound *r,
                              loop_bound *out)
{
    entries inputs;
    memset(&inputs, 0, sizeof inputs);
    const terms t = {m, envelope, slopes, s, r, &inputs};
    add_forces(&t);
    add_torques(&t);
    add_rotors(&t);
    add_commands(&t);
    if (!m->params.truth) {
        add_prediction(&t);
        add_correction(&t);
    }
    inputs.remainder[H][INPUT_FORCE] += neglect->force;
    inputs.remainder[V][INPUT_FORCE] += neglect->force;
    add_entry(&t, INPUT_TORQUE, neglect->torque, neglect->torque);
    for (int axis = 0; axis < LOOP_AXES; ++axis) {
        double *signals = out->bound[axis];
        for (int k = 0; k < LOOP_SIGNALS; ++k) {
            signals[k] = 0.0;
            for (int e = 0; e < LOOP_INPUTS; ++e)
                signals[k] += m->gains.gain[axis][k][e] * inputs.remainder[axis][e];
        }
        // Within a step, between its ends.
        const double interpolation_error = 0.125 * m->params.dt * m->params.dt;
        signals[LOOP_ANGLE] +=
            interpolation_error * (signals[LOOP_ACTUATION] + inputs.remainder[axis][INPUT_TORQUE]);
        if (m->params.lag > 0.0)
            signals[LOOP_RATE] +=
                interpolation_error / m->params.lag * (signals[LOOP_ACTUATION] + signals[LOOP_COMMAND]);
        signals[LOOP_POSITION] +=
            interpolation_error * (signals[LOOP_ACCELERATION] + inputs.remainder[axis][INPUT_FORCE]);
    }
}

// Whether both motions switch the autopilot at the same moments, and neither's heading is led too far.
static int switches_agree(const double *envelope, const loop_bound *s)
{
    const double across = s->bound[H][LOOP_POSITION] + s->bound[H][LOOP_INNOVATION],
                 along = s->bound[V][LOOP_POSITION] + s->bound[V][LOOP_INNOVATION];
    const double heading = heading_change(envelope, s, s),
                 bearing_change = across * envelope[ENVELOPE_DISTANCE_INVERSE];
    if (!(heading < LADDER_LEAD_MAX - LOOP_LEAD_MAX && bearing_change < 0.5)) return 0;
    return length(across, along) * envelope[ENVELOPE_SWITCH_DISTANCE_INVERSE] < 1.0 &&
           (heading + 1.1 * bearing_change) * envelope[ENVELOPE_SWITCH_ANGLE_INVERSE] <
               1.0; // asin(0.5) < 1.1 * 0.5
}

// Whether no limit acts on either motion, and no angle is beyond what the remainder covers.
static int is_within_limits(const loop_model *m, const double *envelope, const loop_bound *s)
{
    const double tilt_sum = envelope[ENVELOPE_TILT] + envelope[ENVELOPE_ESTIMATE_ERROR];
    const double change = rotor_change(m->fraction_per_acceleration, tilt_sum, s, LOOP_COMMAND),
                 desired = translation_norm(s, LOOP_DESIRED_ACCELERATION);
    const double inverse = envelope[ENVELOPE_DESIRED_INVERSE];
    if (!(envelope[ENVELOPE_THRUST_FRACTION] + change < 1.0 &&
          envelope[ENVELOPE_THRUST_MARGIN] + change < 1.0))
        return 0;
    if (!(desired * inverse < 0.5)) return 0;
    const double tilt = envelope[ENVELOPE_DESIRED_TILT] + desired * inverse / (1.0 - desired * inverse);
    if (!(tilt < m->tilt_limit)) return 0;
    if (!((1.0 / inverse - desired) * real_sqrt(1.0 - tilt * tilt) > m->thrust_min)) return 0;
    if (!(envelope[ENVELOPE_INTEGRAL] + real_max(s->bound[H][LOOP_INTEGRAL], s->bound[V][LOOP_INTEGRAL]) <
          m->integral_max))
        return 0;
    if (m->params.law == LOOP_VELOCITY_RUNG && !switches_agree(envelope, s)) return 0;
    return rotation_norm(s, LOOP_ANGLE) < 0.5 && rotation_norm(s, LOOP_ANGLE_ESTIMATE) < 0.5 &&
           rotation_norm(s, LOOP_ANGLE_ERROR) + envelope[ENVELOPE_ERROR_LATERAL] +
                   envelope[ENVELOPE_ERROR_YAW] <
               1.0;
}

#define ROUNDS_MAX   200
#define ROUND_MARGIN 1.01

static int is_below(const loop_bound *a, const loop_bound *b)
{
    for (int axis = 0; axis < LOOP_AXES; ++axis)
        for (int k = 0; k < LOOP_SIGNALS; ++k)
            if (!(a->bound[axis][k] <= b->bound[axis][k])) return 0;
    return 1;
}

static loop_bound scaled(double k, const loop_bound *a)
{
    loop_bound b;
    for (int axis = 0; axis < LOOP_AXES; ++axis)
        for (int i = 0; i < LOOP_SIGNALS; ++i) b.bound[axis][i] = k * a->bound[axis][i];
    return b;
}

// Rounds from zero, each a little wider than what it found, until one reproduces itself. `within`: what
// products are taken with; NULL: with themselves.
static int solve(const loop_model *m, const double *envelope, const loop_slopes *slopes,
                 const loop_neglect *neglect, const loop_bound *within, loop_bound *out)
{
    loop_bound s, next;
    memset(&s, 0, sizeof s);
    for (int round = 0; round < ROUNDS_MAX; ++round) {
        if (within == NULL && !is_within_limits(m, envelope, &s)) return 0;
        apply_linear_loop(m, envelope, slopes, neglect, &s, within != NULL ? within : &s, &next);
        if (is_below(&next, &s)) {
            *out = s;
            return 1;
        }
        s = scaled(ROUND_MARGIN, &next);
    }
    return 0;
}

int vy_loop_solve(const loop_model *m, const double *envelope, const loop_slopes *slopes,
                  const loop_neglect *neglect, loop_bound *out)
{
    VY_ASSERT(m->is_bounded && neglect->force >= 0.0 && neglect->torque >= 0.0);
    return solve(m, envelope, slopes, neglect, NULL, out);
}

int vy_loop_sensitivity(const loop_model *m, const double *envelope, const loop_slopes *slopes,
                        const loop_bound *within, const loop_neglect *unit, loop_bound *out)
{
    return solve(m, envelope, slopes, unit, within, out);
}

// The larger singular value of the matrix whose squares of columns and their product are given.
static double larger_singular_value(double xx, double yy, double xy)
{
    return real_sqrt(0.5 * (xx + yy) + real_sqrt(0.25 * (xx - yy) * (xx - yy) + xy * xy));
}

// Shares of a rotor's limit per acceleration, and back.
static void build_rotors(const ladder_params *ladder, loop_model *m)
{
    const mat3 inverse = mat3_inverse(ladder->inertia);
    double fraction_squares[4] = {0.0}, wrench_squares[4] = {0.0}; // sums of squares: xx, yy, xy, zz
    for (int i = 0; i < (int)ladder->rotor_count; ++i) {
        const double *row = ladder->pseudo_inverse[i], limit = ladder->rotor_thrust_max[i];
        const vec3 share =
            vec3_scale(1.0 / limit, mat3_tmul_vec(ladder->inertia, vec3_make(row[1], row[2], row[3])));
        const double collective = real_abs(row[0]) * ladder->mass / limit;
        m->fraction_per_acceleration[V] = real_max(m->fraction_per_acceleration[V], collective);
        m->fraction_per_acceleration[H] = real_max(m->fraction_per_acceleration[H], length(share.x, share.y));
        m->fraction_per_acceleration[Z] = real_max(m->fraction_per_acceleration[Z], real_abs(share.z));
        m->norm_per_acceleration[V] = length(m->norm_per_acceleration[V], collective);
        double lever[3];
        for (int j = 0; j < 3; ++j)
            lever[j] = limit * ladder->allocate.rows[j + 1][i] /
                       (ladder->allocate.scale[j + 1] * ladder->thrust_max);
        const vec3 acceleration = mat3_mul_vec(inverse, vec3_make(lever[0], lever[1], lever[2]));
        m->acceleration_per_norm[V] = length(m->acceleration_per_norm[V], limit / ladder->mass);
        const vec3 parts[2] = {share, acceleration};
        double *sums[2] = {fraction_squares, wrench_squares};
        for (int k = 0; k < 2; ++k) {
            sums[k][0] += parts[k].x * parts[k].x;
            sums[k][1] += parts[k].y * parts[k].y;
            sums[k][2] += parts[k].x * parts[k].y;
            sums[k][3] += parts[k].z * parts[k].z;
        }
    }
    m->norm_per_acceleration[H] =
        larger_singular_value(fraction_squares[0], fraction_squares[1], fraction_squares[2]);
    m->acceleration_per_norm[H] =
        larger_singular_value(wrench_squares[0], wrench_squares[1], wrench_squares[2]);
    m->norm_per_acceleration[Z] = real_sqrt(fraction_squares[3]);
    m->acceleration_per_norm[Z] = real_sqrt(wrench_squares[3]);
}

static int is_diagonal(mat3 a) { return a.m[0][1] == 0.0 && a.m[0][2] == 0.0 && a.m[1][2] == 0.0; }

// Differences of two moments over the third.
static void build_gyroscopic(mat3 inertia, loop_model *m)
{
    const double x = inertia.m[0][0], y = inertia.m[1][1], z = inertia.m[2][2];
    m->gyro_across = real_max(real_abs(z - y) / x, real_abs(x - z) / y);
    m->gyro_about = real_abs(x - y) / z;
}

// Rotors that push upwards, all alike, with one lag.
static int rotors_are_uniform(const ladder_params *ladder, const rotor_layout *layout)
{
    if (ladder->rotor_count < 4 || !ladder->has_full_authority || ladder->has_thrust_scale ||
        layout->thrusters.count > 0)
        return 0;
    for (int i = 0; i < layout->count; ++i) {
        if (layout->general && !(layout->axis[i][2] >= 1.0)) return 0;
        if (layout->thrust_scale[i] != 1.0 || ladder->rotor_thrust_max[i] != ladder->rotor_thrust_max[0])
            return 0;
    }
    return ladder->motor.cubic == 0.0 && ladder->motor.quadratic > 0.0;
}

void vy_loop_build(const loop_params *p, const ladder_params *ladder, const rotor_layout *layout,
                   const loop_model *similar, loop_model *out)
{
    memset(out, 0, sizeof *out);
    out->params = *p;
    if (ladder->kinematic || !rotors_are_uniform(ladder, layout)) return;
    if (ladder->gravity.x != 0.0 || ladder->gravity.y != 0.0 || !(ladder->gravity.z < 0.0)) return;
    if (!is_diagonal(ladder->inertia)) return;
    const void *params_bytes = p, *other_bytes = similar != NULL
                                                     ? &similar->params
                                                     : NULL; // padding that differs costs a second look alone
    if (similar != NULL && similar->is_bounded && memcmp(params_bytes, other_bytes, sizeof *p) == 0) {
        out->gains = similar->gains;
    } else if (!vy_loop_gains(p, &out->gains)) {
        return;
    }
    if (p->incremental) out->delays = vy_loop_delays(p);
    build_gyroscopic(ladder->inertia, out);
    const double tan = ladder->tan_tilt;
    out->tilt_limit = tan / real_sqrt(1.0 + tan * tan);
    out->thrust_min = 0.2 * p->gravity + 1e-3;
    out->integral_max = ladder->integral_max;
    build_rotors(ladder, out);
    out->is_bounded = 1;
}
