// loop_gain.c - peak gains of the closed loop near hover, by summing its impulse responses.
#include "base/real.h"
#include "base/assert.h"
#include "control/loop_gain.h"
#include <string.h>

// Indices of the plant's states and number of its inputs, which are the first of LOOP_INPUTS.
enum { X_POSITION, X_VELOCITY, X_ANGLE, X_RATE, X_ACTUATION, PLANT_STATES, PLANT_INPUTS = 4 };

#define PHASES_MAX       100u // steps until all periods come together again
#define SETTLED_FRACTION 0.25 // of a unit that is left after a block
#define TIME_MAX         100.0

// One step of the plant: x = a x + b u, with u as in the first four entries.
typedef struct plant {
    double a[PLANT_STATES][PLANT_STATES], b[PLANT_STATES][PLANT_INPUTS];
} plant;

// Everything that one axis remembers from step to step: numbers alone.
typedef struct axis_state {
    double x[PLANT_STATES];                                        // of the plant
    double position, velocity, angle, rate, gyro_bias, accel_bias; // estimates
    double last_velocity, last_angle;                              // at the IMU's last sample
    double integral, desired;    // [m/s^2] of the law: its integral, and the desired acceleration
    double command;              // that the rotors follow, as LOOP_COMMAND
    double angular_acceleration; // [rad/s^2] desired
    double rate_filter[2], lagged, torque_filter[2]; // of indi.h: values and derivatives
    double thrust, thrust_command;                   // a thrust that follows the desired acceleration
} axis_state;
enum { AXIS_STATES = sizeof(axis_state) / sizeof(double) };

typedef struct loop {
    const loop_params *p;
    int axis;        // LOOP_LATERAL, ...
    plant plant;     // one step of it
    uint64_t phases; // steps until all periods come together again
    uint8_t imu[PHASES_MAX], mocap[PHASES_MAX], control[PHASES_MAX], rate[PHASES_MAX]; // due in this phase
} loop;

// The plant's derivative: x' = a x + b u.
static void plant_derivative(const loop_params *p, int axis, plant *d)
{
    const double inverse_lag = p->lag > 0.0 ? 1.0 / p->lag : 0.0;
    memset(d, 0, sizeof *d);
    d->a[X_POSITION][X_VELOCITY] = axis != LOOP_YAW;
    d->a[X_VELOCITY][X_VELOCITY] = axis != LOOP_YAW ? -p->drag[axis] : 0.0;
    d->a[X_VELOCITY][X_ANGLE] = axis == LOOP_LATERAL ? p->gravity : 0.0;
    d->a[X_ANGLE][X_RATE] = axis != LOOP_VERTICAL;
    const int driven_state = axis == LOOP_VERTICAL ? X_VELOCITY : X_RATE;
    if (p->lag > 0.0) {
        d->a[driven_state][X_ACTUATION] = 1.0;
        d->a[X_ACTUATION][X_ACTUATION] = -inverse_lag;
        d->b[X_ACTUATION][INPUT_ACTUATION] = inverse_lag;
    } else {
        d->b[driven_state][INPUT_ACTUATION] = 1.0;
    }
    d->b[X_VELOCITY][INPUT_FORCE] = axis != LOOP_YAW;
    d->b[X_ANGLE][INPUT_ANGLE_RATE] = axis != LOOP_VERTICAL;
    d->b[X_RATE][INPUT_TORQUE] = axis != LOOP_VERTICAL;
}

// Its step: the series of the exponential, and of its integral.
static void plant_step(const loop_params *p, int axis, plant *out)
{
    plant d, term, next;
    plant_derivative(p, axis, &d);
    memset(out, 0, sizeof *out);
    memset(&term, 0, sizeof term);
    for (int i = 0; i < PLANT_STATES; ++i) out->a[i][i] = term.a[i][i] = 1.0;
    for (int i = 0; i < PLANT_STATES; ++i)
        for (int j = 0; j < PLANT_INPUTS; ++j) out->b[i][j] = term.b[i][j] = p->dt * d.b[i][j];
    for (int n = 1; n < 40; ++n) {
        for (int i = 0; i < PLANT_STATES; ++i) {
            for (int j = 0; j < PLANT_STATES; ++j) {
                next.a[i][j] = 0.0;
                for (int k = 0; k < PLANT_STATES; ++k) next.a[i][j] += p->dt / n * d.a[i][k] * term.a[k][j];
            }
            for (int j = 0; j < PLANT_INPUTS; ++j) {
                next.b[i][j] = 0.0;
                for (int k = 0; k < PLANT_STATES; ++k)
                    next.b[i][j] += p->dt / (n + 1) * d.a[i][k] * term.b[k][j];
            }
        }
        term = next;
        for (int i = 0; i < PLANT_STATES; ++i) {
            for (int j = 0; j < PLANT_STATES; ++j) out->a[i][j] += term.a[i][j];
            for (int j = 0; j < PLANT_INPUTS; ++j) out->b[i][j] += term.b[i][j];
        }
    }
}

// Nothing holds the position: no state but itself depends on it, and its estimate is kept relative to it.
static int holds_no_position(const loop_params *p) { return p->law == LOOP_VELOCITY_RUNG; }

// The estimate, after the step to `tick`: as fading.h with imu.h and mocap.h, linear in small angles.
static void estimator_step(const loop *l, uint64_t tick, const double *inputs, axis_state *s)
{
    const loop_params *p = l->p;
    if (p->truth) {
        s->position = holds_no_position(p) ? 0.0 : s->x[X_POSITION];
        s->velocity = s->x[X_VELOCITY];
        s->angle = s->x[X_ANGLE];
        s->rate = s->x[X_RATE];
        return;
    }
    const double g = l->axis == LOOP_LATERAL ? p->gravity : 0.0;
    const double true_position = holds_no_position(p) ? 0.0 : s->x[X_POSITION];
    if (l->imu[tick]) {
        const double imu_period = (double)p->imu * p->dt;
        s->gyro_bias += imu_period * inputs[INPUT_GYRO_DRIFT];
        s->accel_bias += imu_period * inputs[INPUT_ACCEL_DRIFT];
        s->rate = s->x[X_RATE] - s->gyro_bias;
        s->angle += imu_period * (s->rate + inputs[INPUT_ANGLE_RATE_ESTIMATE]);
        const double force = (s->x[X_VELOCITY] - s->last_velocity) / imu_period -
                             0.5 * g * (s->x[X_ANGLE] + s->last_angle); // as the accelerometer sees it
        const double a = force + g * s->angle - s->accel_bias + inputs[INPUT_FORCE_ESTIMATE];
        s->position += imu_period * s->velocity + 0.5 * imu_period * imu_period * a;
        s->velocity += imu_period * a;
        s->last_velocity = s->x[X_VELOCITY];
        s->last_angle = s->x[X_ANGLE];
    }
    if (l->mocap[tick]) {
        const double position_error = true_position - s->position, angle_error = s->x[X_ANGLE] - s->angle;
        s->position += p->position_gain * position_error;
        s->velocity += p->velocity_gain * position_error;
        s->accel_bias -= p->accel_gain * position_error + inputs[INPUT_ACCEL_CORRECTION];
        s->angle += p->attitude_gain * angle_error + inputs[INPUT_ANGLE_CORRECTION];
        s->gyro_bias -= p->gyro_gain * angle_error + inputs[INPUT_GYRO_CORRECTION];
    }
}

// As indi_filter_step().
static void filter_step(const loop_params *p, double input, double *filter)
{
    const double difference = filter[0] - input, derivative = filter[1];
    filter[0] = input + (p->indi_transition[0][0] * difference + p->indi_transition[0][1] * derivative);
    filter[1] = p->indi_transition[1][0] * difference + p->indi_transition[1][1] * derivative;
}

// As indi_torque(), over the inertia.
static double indi_command(const loop_params *p, double desired, double rate, axis_state *s)
{
    s->lagged = s->command + p->indi_lag_decay * (s->lagged - s->command);
    filter_step(p, rate, s->rate_filter);
    filter_step(p, s->lagged, s->torque_filter);
    return s->torque_filter[0] + desired - s->rate_filter[1];
}

// The desired angular acceleration: as lower_attitude() and lower_rates(), or lower_trajectory().
static double desired_angular_acceleration(const loop *l, const axis_state *s)
{
    const loop_params *p = l->p;
    if (l->axis == LOOP_YAW) return -p->rates * (p->yaw * s->angle + s->rate);
    double a = p->rates * (p->attitude * (s->desired / p->gravity - s->angle) - s->rate);
    if (p->law == LOOP_LEE) { // the desired attitude turns as the errors change
        a -= p->rates * (p->position * s->velocity / p->gravity + p->velocity * s->angle);
        a -= p->position * s->angle + p->velocity * s->rate;
    }
    return a;
}

// The law at `tick`: as lower_position() or lower_velocity() and control_lower(), or lower_trajectory().
static void control_step(const loop *l, uint64_t tick, const double *inputs, axis_state *s)
{
    const loop_params *p = l->p;
    if (l->control[tick] && holds_no_position(p)) {
        const double error = inputs[INPUT_VELOCITY] - s->velocity;
        s->integral += p->position * (double)p->control * p->dt * error;
        s->desired = s->integral + p->velocity * error;
    } else if (l->control[tick]) {
        s->integral -= p->integral * (double)p->control * p->dt * s->position;
        s->desired = s->integral - p->position * s->position - p->velocity * s->velocity;
        if (loop_is_geometric(p)) s->angular_acceleration = desired_angular_acceleration(l, s);
    }
    if (!l->rate[tick]) return;
    if (l->axis == LOOP_LATERAL) s->thrust_command = s->desired;
    if (l->axis == LOOP_VERTICAL) {
        s->command = s->desired;
    } else {
        if (!loop_is_geometric(p)) s->angular_acceleration = desired_angular_acceleration(l, s);
        s->command =
            p->incremental ? indi_command(p, s->angular_acceleration, s->rate, s) : s->angular_acceleration;
    }
    s->command += inputs[INPUT_COMMAND];
}

static const double no_input[LOOP_INPUTS];

// One step to phase `tick`, with what enters in it, and the quantities after it. A state of the plant depends
// on itself and on those behind it.
static void loop_step(const loop *l, uint64_t tick, const double *inputs, axis_state *s, double *out)
{
    double x[PLANT_STATES], u[PLANT_INPUTS];
    const int first_input = inputs == no_input ? INPUT_ACTUATION : 0;
    for (int j = 0; j < PLANT_INPUTS; ++j) u[j] = inputs[j];
    u[INPUT_ACTUATION] += s->command;
    for (int i = 0; i < PLANT_STATES; ++i) {
        x[i] = 0.0;
        for (int j = i; j < PLANT_STATES; ++j) x[i] += l->plant.a[i][j] * s->x[j];
        for (int j = first_input; j < PLANT_INPUTS; ++j) x[i] += l->plant.b[i][j] * u[j];
    }
    out[LOOP_ACCELERATION] = (x[X_VELOCITY] - s->x[X_VELOCITY]) / l->p->dt;
    out[LOOP_ACTUATION] = l->p->lag > 0.0 ? x[X_ACTUATION] : u[INPUT_ACTUATION];
    const double lag_decay = l->p->lag > 0.0 ? l->plant.a[X_ACTUATION][X_ACTUATION] : 0.0;
    s->thrust = s->thrust_command + lag_decay * (s->thrust - s->thrust_command);
    if (holds_no_position(l->p)) s->position -= x[X_POSITION] - s->x[X_POSITION];
    memcpy(s->x, x, sizeof x);
    estimator_step(l, tick, inputs, s);
    control_step(l, tick, inputs, s);
    out[LOOP_POSITION] = x[X_POSITION];
    out[LOOP_VELOCITY] = x[X_VELOCITY];
    out[LOOP_ANGLE] = x[X_ANGLE];
    out[LOOP_RATE] = x[X_RATE];
    out[LOOP_COMMAND] = s->command;
    out[LOOP_LAG_ERROR] = l->p->lag > 0.0 ? s->command - x[X_ACTUATION] : 0.0;
    out[LOOP_DESIRED_ACCELERATION] = s->desired;
    out[LOOP_INTEGRAL] = s->integral;
    out[LOOP_ANGLE_ESTIMATE] = s->angle;
    out[LOOP_RATE_ESTIMATE] = s->rate;
    out[LOOP_GYRO_BIAS] = s->gyro_bias;
    out[LOOP_ACCEL_BIAS] = s->accel_bias;
    out[LOOP_ANGLE_ERROR] = (l->axis == LOOP_LATERAL ? s->desired / l->p->gravity : 0.0) - s->angle;
    out[LOOP_THRUST_TILT_ERROR] = l->axis == LOOP_LATERAL ? s->thrust - l->p->gravity * x[X_ANGLE] : 0.0;
    out[LOOP_ANGLE_INNOVATION] = x[X_ANGLE] - s->angle;
    out[LOOP_INNOVATION] = (holds_no_position(l->p) ? 0.0 : x[X_POSITION]) - s->position;
    out[LOOP_VELOCITY_ESTIMATE] = s->velocity;
    const loop_params *p = l->p;
    const double force = l->axis == LOOP_LATERAL ? p->gravity * s->angle : s->desired,
                 force_rate = l->axis == LOOP_LATERAL ? p->gravity * s->rate : 0.0;
    out[LOOP_JERK] = p->position * s->velocity + p->velocity * force;
    out[LOOP_SNAP] = p->position * force + p->velocity * force_rate;
}

// Sums of magnitudes of the quantities, by the phase of the step after which they are seen.
typedef struct signal_sums {
    double by_phase[PHASES_MAX][LOOP_SIGNALS];
} signal_sums;

static void add_magnitudes(const double *signals, double *sums)
{
    for (int k = 0; k < LOOP_SIGNALS; ++k) sums[k] += real_abs(signals[k]);
}

// States are compared in units that go together: those of a slow swing of a metre.
static const axis_state state_units = {.x = {1.0, 1.0, 0.3, 1.0, 10.0},
                                       .position = 1.0,
                                       .velocity = 1.0,
                                       .angle = 0.3,
                                       .rate = 1.0,
                                       .gyro_bias = 1.0,
                                       .accel_bias = 3.0,
                                       .last_velocity = 1.0,
                                       .last_angle = 0.3,
                                       .integral = 1.0,
                                       .desired = 5.0,
                                       .command = 50.0,
                                       .angular_acceleration = 50.0,
                                       .rate_filter = {1.0, 50.0},
                                       .lagged = 50.0,
                                       .torque_filter = {50.0, 5000.0},
                                       .thrust = 5.0,
                                       .thrust_command = 5.0};

static int input_acts_on_axis(const loop_params *p, int axis, int input)
{
    static const unsigned force_inputs = 1u << INPUT_FORCE | 1u << INPUT_FORCE_ESTIMATE |
                                         1u << INPUT_ACCEL_DRIFT | 1u << INPUT_ACCEL_CORRECTION;
    static const unsigned rotation_inputs = 1u << INPUT_ANGLE_RATE | 1u << INPUT_TORQUE |
                                            1u << INPUT_ANGLE_RATE_ESTIMATE | 1u << INPUT_GYRO_DRIFT |
                                            1u << INPUT_ANGLE_CORRECTION | 1u << INPUT_GYRO_CORRECTION;
    if (input == INPUT_VELOCITY) return p->law == LOOP_VELOCITY_RUNG && axis == LOOP_LATERAL;
    if (p->truth && input > INPUT_COMMAND) return 0;
    if (axis == LOOP_YAW && (force_inputs >> input & 1u) != 0) return 0;
    return !(axis == LOOP_VERTICAL && (rotation_inputs >> input & 1u) != 0);
}

static int all_zero(const double *values)
{
    for (int k = 0; k < AXIS_STATES; ++k)
        if (values[k] != 0.0) return 0;
    return 1;
}

// A unit enters at `input` in the step to `phase`. Adds the responses of `steps` steps and of those until all
// periods come together again. Returns the largest state that is left, in units; marks those that moved.
// `*offset` becomes the size of the position that is left, where it drifts.
static double add_impulse_response(const loop *l, int input, uint64_t phase, uint64_t steps, signal_sums *out,
                                   int *is_excited, double *offset)
{
    double unit_input[LOOP_INPUTS] = {0.0}, signals[LOOP_SIGNALS], residual = 0.0;
    axis_state s;
    memset(&s, 0, sizeof s);
    unit_input[input] = 1.0;
    const double *values = (const double *)&s, *units = (const double *)&state_units;
    uint64_t tick = phase;
    for (uint64_t n = 0; n < steps || tick != 1 % l->phases; ++n) {
        loop_step(l, tick, n == 0 ? unit_input : no_input, &s, signals);
        add_magnitudes(signals, out->by_phase[tick]);
        if (n == 0 && all_zero(values)) break; // nothing enters there in this phase
        tick = tick + 1 < l->phases ? tick + 1 : 0;
        if (n < 2 * l->phases)
            for (int k = 0; k < AXIS_STATES; ++k) is_excited[k] |= values[k] != 0.0;
    }
    *offset = 0.0;
    if (holds_no_position(l->p)) { // no state to settle
        *offset = real_abs(s.x[X_POSITION]);
        s.x[X_POSITION] = 0.0;
        is_excited[X_POSITION] = 0;
    }
    for (int k = 0; k < AXIS_STATES; ++k) residual = real_max(residual, real_abs(values[k]) / units[k]);
    return residual;
}

// What is left of unit states, all together, after `steps` steps from where all periods come together, at
// most; `out` becomes the sums of their responses.
static double sum_free_responses(const loop *l, uint64_t steps, const int *is_excited, signal_sums *out)
{
    const double *units = (const double *)&state_units;
    double residual[AXIS_STATES] = {0.0}, largest = 0.0;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < AXIS_STATES; ++i) {
        axis_state s;
        double signals[LOOP_SIGNALS], *values = (double *)&s;
        if (!is_excited[i]) continue;
        memset(&s, 0, sizeof s);
        values[i] = units[i];
        uint64_t tick = 1 % l->phases;
        for (uint64_t n = 0; n < steps; ++n, tick = tick + 1 < l->phases ? tick + 1 : 0) {
            loop_step(l, tick, no_input, &s, signals);
            add_magnitudes(signals, out->by_phase[tick]);
        }
        if (holds_no_position(l->p)) s.x[X_POSITION] = 0.0;
        for (int k = 0; k < AXIS_STATES; ++k) residual[k] += real_abs(values[k]) / units[k];
    }
    for (int k = 0; k < AXIS_STATES; ++k) largest = real_max(largest, residual[k]);
    return largest;
}

// [m] How much farther a position that drifts can come in a response whose states are `remaining` at its end,
// by the sums of its velocity.
static double drift_bound(const loop *l, double remaining, double remaining_fraction, const signal_sums *tail)
{
    const double dt = l->p->dt;
    double distance = 0.0;
    for (uint64_t phase = 0; phase < l->phases; ++phase)
        distance +=
            dt * (tail->by_phase[phase][LOOP_VELOCITY] + 2.0 * dt * tail->by_phase[phase][LOOP_ACCELERATION]);
    return remaining * distance / (1.0 - remaining_fraction);
}

// The gains of one loop: the responses within a block, and a geometric series of blocks for the rest.
static int axis_gains(const loop *l, double (*out)[LOOP_INPUTS])
{
    int is_excited[AXIS_STATES] = {0};
    double offset;
    signal_sums tail, excitation_sums;
    memset(&excitation_sums, 0, sizeof excitation_sums);
    for (int input = 0; input < LOOP_INPUTS; ++input) {
        for (uint64_t phase = 0; phase < l->phases && input_acts_on_axis(l->p, l->axis, input); ++phase)
            (void)add_impulse_response(l, input, phase, 2 * l->phases, &excitation_sums, is_excited, &offset);
    }
    uint64_t steps = l->phases * (1 + (uint64_t)(4.0 / (l->p->dt * (double)l->phases)));
    double remaining_fraction = sum_free_responses(l, steps, is_excited, &tail);
    while (!(remaining_fraction <= SETTLED_FRACTION)) {
        steps *= 2;
        if (!(remaining_fraction < 1e6) || !((double)steps * l->p->dt < TIME_MAX)) return 0;
        remaining_fraction = sum_free_responses(l, steps, is_excited, &tail);
    }
    for (int input = 0; input < LOOP_INPUTS; ++input) {
        signal_sums totals;
        double remaining = 0.0, offset_sum = 0.0;
        memset(&totals, 0, sizeof totals);
        for (uint64_t phase = 0; phase < l->phases && input_acts_on_axis(l->p, l->axis, input); ++phase) {
            remaining += add_impulse_response(l, input, phase, steps, &totals, is_excited, &offset);
            offset_sum += offset;
        }
        // Of each phase one disturbance enters every `phases` steps until the end, and its offset stays.
        const uint64_t steps_after = l->p->horizon > steps ? l->p->horizon - steps : 0,
                       repetitions = steps_after / l->phases + 1;
        const double drift =
            (double)repetitions * (offset_sum + drift_bound(l, remaining, remaining_fraction, &tail));
        for (int k = 0; k < LOOP_SIGNALS; ++k) {
            out[k][input] = 0.0;
            for (uint64_t last_phase = 0; last_phase < l->phases; ++last_phase) {
                const int drifts = holds_no_position(l->p) && k == LOOP_POSITION;
                const double tail_sum =
                    drifts ? drift : remaining * tail.by_phase[last_phase][k] / (1.0 - remaining_fraction);
                out[k][input] = real_max(out[k][input], (totals.by_phase[last_phase][k] + tail_sum) *
                                                            (1.0 + 1e-6)); // rounding
            }
        }
    }
    return 1;
}

static uint64_t common_multiple(uint64_t a, uint64_t b)
{
    uint64_t x = a, y = b;
    while (y != 0) {
        const uint64_t remainder = x % y;
        x = y;
        y = remainder;
    }
    return a / x * b;
}

int vy_loop_gains(const loop_params *p, loop_gains *out)
{
    const uint64_t periods[] = {p->control, p->rate, p->truth ? 1 : p->imu, p->truth ? 1 : p->mocap};
    uint64_t phases = 1;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < 4; ++i) {
        if (periods[i] == 0 || periods[i] > PHASES_MAX) return 0;
        phases = common_multiple(phases, periods[i]);
        if (phases > PHASES_MAX) return 0;
    }
    if (!(p->gravity > 0.0) || (p->lag > 0.0 && p->dt > 5.0 * p->lag)) return 0;
    for (int axis = 0; axis < LOOP_AXES; ++axis) {
        loop l = {.p = p, .axis = axis, .phases = phases};
        for (uint64_t k = 0; k < phases; ++k) {
            l.imu[k] = !p->truth && k % p->imu == 0;
            l.mocap[k] = !p->truth && k % p->mocap == 0;
            l.control[k] = k % p->control == 0;
            l.rate[k] = k % p->rate == 0;
        }
        plant_step(p, axis, &l.plant);
        if (!axis_gains(&l, out->gain[axis])) return 0;
    }
    return 1;
}

loop_delays vy_loop_delays(const loop_params *p)
{
    const double period = (double)p->rate * p->dt, sample_age = p->truth ? 0.0 : (double)p->imu * p->dt;
    loop_delays out = {0.0, 0.0};
    axis_state rate_impulse, command_impulse;
    memset(&rate_impulse, 0, sizeof rate_impulse);
    memset(&command_impulse, 0, sizeof command_impulse);
    double largest_response[2] = {0.0, 0.0}, last_response[2] = {1.0, 1.0};
    command_impulse.command = 1.0;
    // Until nothing is left, and no longer than a slow filter takes.
    for (int k = 0;
         k < 100000 && (k < 10 || last_response[0] > 1e-15 * largest_response[0] || last_response[1] > 1e-15);
         ++k) {
        const double rate_response = indi_command(p, 0.0, k == 0 ? 1.0 : 0.0, &rate_impulse);
        const double command_response = indi_command(p, 0.0, 0.0, &command_impulse);
        command_impulse.command = 0.0;
        out.rate_delay += real_abs(rate_response) * ((double)k * period + sample_age);
        out.command_delay += real_abs(command_response) * (double)(k + 1) * period; // of the one before
        last_response[0] = real_abs(rate_response) + real_abs(rate_impulse.rate_filter[0]);
        last_response[1] = real_abs(command_response) + real_abs(command_impulse.lagged) +
                           real_abs(command_impulse.torque_filter[1]) * period;
        largest_response[0] = real_max(largest_response[0], last_response[0]);
    }
    return out;
}
