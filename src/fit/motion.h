// motion.h - how a point moves from row to row of a flight and what its instruments should say. Over `real`:
// a lane is a point.
#pragma once
#include "base/math.h"
#include "equations/multirotor.h"
#include "fit/lanes.h"

#define FIT_GRAVITY 9.80665 // [m/s^2]

/// The equations of a point, ready to be evaluated where they are: `inputs` points at the rest.
typedef struct fit_plant {
    rotor_layout layout;
    multirotor_params params;
    environment_model env;
    rotor_air_state memory; // of rotors in the air, all 0
    multirotor_inputs inputs;
    multirotor_inputs force_inputs; // without what a change of the rotors' speeds does: it makes no force
} fit_plant;

/// What the instruments of a point add and how late they are.
typedef struct fit_instruments {
    real pose_delay, accel_delay;   // [s]
    vec3 accel_offset, gyro_offset; // [m/s^2], [rad/s]
} fit_instruments;

/// The speeds of rotors of each lane.
typedef const fit_rotors *const *rotor_lanes;

/// Standard surroundings, and the effects that are computed. All but layout and parameters is to be 0 before.
VY_FN void motion_prepare(fit_plant *plant, bits flags)
{
    plant->env.gravity.uniform = vec3_make(real_set(0.0), real_set(0.0), real_set(-FIT_GRAVITY));
    plant->env.air.mode = ATMOSPHERE_STANDARD;
    plant->env.air.density = 1.225;
    plant->env.steady = 1;
    plant->inputs.layout = &plant->layout;
    plant->inputs.params = &plant->params;
    plant->inputs.env = &plant->env;
    plant->inputs.memory = &plant->memory;
    plant->inputs.held.disturbance = loads_zero();
    plant->inputs.flags = flags;
    plant->force_inputs = plant->inputs;
    plant->force_inputs.flags = flags & ~EFFECT_BIT(gyroscopic);
}

VY_FN void motion_load_speeds(rotor_lanes rotors, size_t index, int n, real *out)
{
    for (int k = 0; k < n; ++k) {
        out[k] = real_set(0.0);
        for (int lane = 0; lane < VY_LANES; ++lane)
            out[k] = real_with_lane(out[k], lane, rotors[lane]->speed[index + (size_t)k]);
    }
}

VY_FN void motion_load_means(rotor_lanes rotors, size_t index, int n, real *out)
{
    for (int k = 0; k < n; ++k) {
        out[k] = real_set(0.0);
        for (int lane = 0; lane < VY_LANES; ++lane)
            out[k] = real_with_lane(out[k], lane, rotors[lane]->mean[index + (size_t)k]);
    }
}

// `target`: commands that drive the speeds so.
VY_NOINLINE_FN void motion_derivative(const multirotor_inputs *in, const real *speed, const real *target,
                                      int n, const body_state *s, body_derivatives *out)
{
    *out = n == 4 ? multirotor_derivative(in, s, speed, target, 4, VARIANT_GENERAL, real_set(0.0))
                  : multirotor_derivative(in, s, speed, target, n, VARIANT_GENERAL, real_set(0.0));
}

// With speeds that change by what `lead` their commands are away.
VY_FN void motion_derivative_leading(const fit_plant *plant, const real *speed, const real *lead, int n,
                                     const body_state *s, body_derivatives *out)
{
    real target[ROTOR_CAP];
    for (int k = 0; k < n; ++k) target[k] = speed[k] + lead[k];
    motion_derivative(&plant->inputs, speed, target, n, s, out);
}

/// Specific force [m/s^2] in body axes, as an ideal accelerometer has it, in state `s` with the rotors'
/// speeds of a row (an even `half_row`) or half-way to the next.
VY_FN vec3 motion_specific_force(const fit_data *d, const fit_plant *plant, rotor_lanes rotors,
                                 size_t half_row, const body_state *s)
{
    real speed[ROTOR_CAP];
    body_derivatives k;
    motion_load_speeds(rotors, half_row * (size_t)d->rotors, d->rotors, speed);
    motion_derivative(&plant->force_inputs, speed, speed, d->rotors, s, &k);
    return quat_unrotate(s->attitude, vec3_sub(k.acceleration, plant->env.gravity.uniform));
}

/// One row on.
VY_FN void motion_step(const fit_data *d, const fit_plant *plant, rotor_lanes rotors, size_t row,
                       body_state *s)
{
    const int n = d->rotors;
    VY_ASSERT(row + 1 < d->rows);
    const real dt = real_set(d->time[row + 1] - d->time[row]), half_dt = 0.5 * dt;
    const size_t first_index = 2 * row * (size_t)n;
    real first_speed[ROTOR_CAP], last_speed[ROTOR_CAP], lead[ROTOR_CAP], halfway_speed[ROTOR_CAP];
    const rotor_curve *curve = &plant->params.curve;
    motion_load_speeds(rotors, first_index, n, first_speed);
    motion_load_speeds(rotors, first_index + 2 * (size_t)n, n, last_speed);
    motion_load_means(rotors, row * (size_t)n, n, halfway_speed);
    // A command may change at any time within the row, and how fast a speed changes jumps there. What a
    // rotor's inertia turns the vehicle by follows from the change of its speed over the whole row, and the
    // speed half-way is the one for which Simpson's rule gives the mean: or else how an error depends on
    // delays would jump where a command acts just at the end of a row.
    for (int k = 0; k < n; ++k) {
        const real slope = (last_speed[k] - first_speed[k]) / dt;
        lead[k] = slope / real_select(slope < 0.0, curve->fall, curve->rise);
        halfway_speed[k] = 1.5 * halfway_speed[k] - 0.25 * (first_speed[k] + last_speed[k]);
    }
    body_derivatives k1, k2, k3, k4;
    motion_derivative_leading(plant, first_speed, lead, n, s, &k1);
    const body_state s2 = body_advance(s, half_dt, &k1);
    motion_derivative_leading(plant, halfway_speed, lead, n, &s2, &k2);
    const body_state s3 = body_advance(s, half_dt, &k2);
    motion_derivative_leading(plant, halfway_speed, lead, n, &s3, &k3);
    const body_state s4 = body_advance(s, dt, &k3);
    motion_derivative_leading(plant, last_speed, lead, n, &s4, &k4);
    *s = body_rk4_finish(s, dt, &k1, &k2, &k3, &k4);
    if (!vy_fit_has_air(d)) s->velocity = vec3_zero(); // how it moves through the air is not known
}

/// The measured state of a row, seen through delays and offsets.
VY_FN body_state motion_measured(const fit_data *d, const fit_instruments *p, size_t row)
{
    const vy_vec3 rate = d->rate[row], velocity = d->velocity[row];
    const vy_quat attitude = d->attitude[row];
    body_state s;
    s.position = s.velocity = vec3_zero();
    s.rate = vec3_sub(vec3_make(real_set(rate.x), real_set(rate.y), real_set(rate.z)), p->gyro_offset);
    if (vy_fit_has_air(d))
        s.velocity = vec3_make(real_set(velocity.x), real_set(velocity.y), real_set(velocity.z));
    // A pose that is late is where the vehicle was.
    const quat late_attitude =
        quat_make(real_set(attitude.w), real_set(attitude.x), real_set(attitude.y), real_set(attitude.z));
    s.attitude = quat_normalize(quat_apply_small_rotation(late_attitude, vec3_scale(p->pose_delay, s.rate)));
    return s;
}

// What three recorded columns say in a row less what they should.
VY_FN void motion_subtract(double *const *measured, size_t row, vec3 expected, vec3 offset, real out[3])
{
    const real parts[3] = {expected.x, expected.y, expected.z}, offsets[3] = {offset.x, offset.y, offset.z};
    for (int a = 0; a < 3; ++a) {
        if (measured[a] != NULL) out[a] = measured[a][row] - parts[a] - offsets[a];
    }
}

/// What the instruments say in a row less what they should say in state `s`, of all channels that are
/// present; NaN: not recorded in this row.
VY_FN void motion_errors(const fit_data *d, const fit_instruments *p, const fit_plant *plant,
                         rotor_lanes rotors, size_t row, const body_state *s, real out[CHANNEL_COUNT])
{
    double *const *values = d->flight->values;
    for (int c = 0; c < CHANNEL_COUNT; ++c) out[c] = math_nan();
    motion_subtract(values + VY_FLIGHT_RATE, row, s->rate, p->gyro_offset, out + CHANNEL_RATE);
    if (d->is_present[CHANNEL_ACCEL] || d->is_present[CHANNEL_ACCEL + 1] ||
        d->is_present[CHANNEL_ACCEL + 2]) {
        vec3 force = motion_specific_force(d, plant, rotors, 2 * row, s);
        const mask has_delay = p->accel_delay != 0.0;
        if (row > 0 && mask_any(has_delay)) { // what changes it are the rotors' speeds
            const real fraction = p->accel_delay / (0.5 * (d->time[row] - d->time[row - 1]));
            const vec3 earlier = motion_specific_force(d, plant, rotors, 2 * row - 1, s);
            force =
                vec3_select(has_delay, vec3_add_scaled(force, -fraction, vec3_sub(force, earlier)), force);
        }
        motion_subtract(values + VY_FLIGHT_ACCEL, row, force, p->accel_offset, out + CHANNEL_ACCEL);
    }
    if (d->is_present[CHANNEL_ATTITUDE] &&
        values[VY_FLIGHT_ATTITUDE][row] == values[VY_FLIGHT_ATTITUDE][row]) {
        const quat error = quat_mul(quat_conj(s->attitude), motion_measured(d, p, row).attitude);
        const real sign = real_select(error.w < 0.0, real_set(-2.0), real_set(2.0));
        out[CHANNEL_ATTITUDE] = sign * error.x;
        out[CHANNEL_ATTITUDE + 1] = sign * error.y;
        out[CHANNEL_ATTITUDE + 2] = sign * error.z;
    }
    if (d->is_present[CHANNEL_VELOCITY])
        motion_subtract(values + VY_FLIGHT_VELOCITY, row, s->velocity, vec3_zero(), out + CHANNEL_VELOCITY);
}

/// The state of a filter.
typedef struct filter_state {
    body_state body;
    vec3 force, torque; // from outside: [m/s^2] world, [rad/s^2] body
} filter_state;

/// In the measured state of a row.
VY_FN filter_state filter_state_start(const fit_data *d, const fit_instruments *p, size_t row)
{
    filter_state m;
    double *const *x = d->flight->values + VY_FLIGHT_POSITION;
    m.body = motion_measured(d, p, row);
    if (d->has_position)
        m.body.position = vec3_make(real_set(x[0][row]), real_set(x[1][row]), real_set(x[2][row]));
    m.force = m.torque = vec3_zero();
    return m;
}

/// One row on; `decay`: of force and torque from outside.
VY_FN void filter_state_advance(const fit_data *d, const fit_plant *plant, rotor_lanes rotors, size_t row,
                                const double decay[6], filter_state *m)
{
    const double dt = d->time[row + 1] - d->time[row];
    body_state *s = &m->body;
    motion_step(d, plant, rotors, row, s);
    if (vy_fit_has_air(d)) {
        s->position = vec3_add_scaled(s->position, real_set(0.5 * dt * dt), m->force);
        s->velocity = vec3_add_scaled(s->velocity, real_set(dt), m->force);
    }
    s->attitude = quat_apply_small_rotation(s->attitude, vec3_scale(real_set(0.5 * dt * dt), m->torque));
    s->rate = vec3_add_scaled(s->rate, real_set(dt), m->torque);
    m->force = vec3_mul(m->force, vec3_of(decay));
    m->torque = vec3_mul(m->torque, vec3_of(decay + 3));
}

/// What a row says less what it should; NaN: nothing.
VY_FN void filter_state_innovations(const fit_data *d, const fit_instruments *p, const fit_plant *plant,
                                    rotor_lanes rotors, size_t row, const filter_state *m,
                                    real out[FILTER_SAMPLES])
{
    const body_state *s = &m->body;
    motion_errors(d, p, plant, rotors, row, s, out);
    const vec3 force = quat_unrotate(s->attitude, m->force);
    const real forces[3] = {force.x, force.y, force.z},
               position[3] = {s->position.x, s->position.y, s->position.z},
               velocity[3] = {s->velocity.x, s->velocity.y, s->velocity.z};
    for (int a = 0; a < 3; ++a) {
        out[CHANNEL_ACCEL + a] = out[CHANNEL_ACCEL + a] - forces[a];
        out[CHANNEL_COUNT + a] = math_nan();
        if (d->has_position && d->has_attitude)
            out[CHANNEL_COUNT + a] =
                d->flight->values[VY_FLIGHT_POSITION + a][row] - position[a] + p->pose_delay * velocity[a];
    }
}

/// Add a correction of FILTER_SIZE numbers.
VY_FN void filter_state_correct(filter_state *m, const real *c)
{
    body_state *s = &m->body;
    s->position = vec3_add(s->position, vec3_make(c[AT_POSITION], c[AT_POSITION + 1], c[AT_POSITION + 2]));
    s->velocity = vec3_add(s->velocity, vec3_make(c[AT_VELOCITY], c[AT_VELOCITY + 1], c[AT_VELOCITY + 2]));
    s->attitude = quat_apply_small_rotation(
        s->attitude, vec3_make(c[AT_ATTITUDE], c[AT_ATTITUDE + 1], c[AT_ATTITUDE + 2]));
    s->rate = vec3_add(s->rate, vec3_make(c[AT_RATE], c[AT_RATE + 1], c[AT_RATE + 2]));
    m->force = vec3_add(m->force, vec3_make(c[AT_FORCE], c[AT_FORCE + 1], c[AT_FORCE + 2]));
    m->torque = vec3_add(m->torque, vec3_make(c[AT_TORQUE], c[AT_TORQUE + 1], c[AT_TORQUE + 2]));
}
