// score.c - how far predictions are off after 0.1 to 1 s, beside those of two baselines that know no vehicle.
#include "base/assert.h"
#include "base/fail.h"
#include "base/math.h"
#include "fit/model.h"

const double vy_fit_horizons[VY_FIT_HORIZON_COUNT] = {0.1, 0.25, 0.5, 1.0};

#define START_PERIOD 0.1 // [s] between predictions

enum { PREDICTOR_MODEL, PREDICTOR_HOLD, PREDICTOR_CONSTANT_RATE, PREDICTOR_COUNT };
enum {
    QUANTITY_RATE,
    QUANTITY_ATTITUDE,
    QUANTITY_ACCEL,
    QUANTITY_VELOCITY,
    QUANTITY_POSITION,
    QUANTITY_COUNT
};

// Sums of squared errors by predictor, quantity and horizon, and how many there are.
typedef struct tally {
    double square[PREDICTOR_COUNT][QUANTITY_COUNT][VY_FIT_HORIZON_COUNT];
    int count[QUANTITY_COUNT][VY_FIT_HORIZON_COUNT];
} tally;

// What is known of a row: measured, or for the attitude without cameras the turn by the measured rates.
typedef struct truth {
    body_state state;
    vec3 specific_force; // [m/s^2] body
    int has_force[3], has_velocity, has_position;
} truth;

static truth truth_at(const fit_data *d, const fit_point *p, size_t row, quat integrated_attitude)
{
    const vy_flight *f = d->flight;
    truth t = {.state = vy_fit_state(d, p, row)};
    if (!d->has_attitude) t.state.attitude = integrated_attitude;
    const double *offset = &p->accel_offset.x;
    double *specific_force = &t.specific_force.x;
    for (int a = 0; a < 3; ++a) {
        const double *recorded = f->values[VY_FLIGHT_ACCEL + a];
        t.has_force[a] = recorded != NULL && recorded[row] == recorded[row];
        if (t.has_force[a]) specific_force[a] = recorded[row] - offset[a];
    }
    t.has_velocity = (d->has_velocity || d->has_position) && d->has_attitude;
    t.state.velocity = d->velocity[row];
    if (d->has_position) {
        double *const *x = (double *const *)&f->values[VY_FLIGHT_POSITION];
        t.has_position = d->has_attitude && x[0][row] == x[0][row];
        if (t.has_position) t.state.position = vec3_make(x[0][row], x[1][row], x[2][row]);
    }
    return t;
}

static double angle_between(quat a, quat b)
{
    const quat difference = quat_mul(quat_conj(a), b);
    const double half_sine =
        real_sqrt(difference.x * difference.x + difference.y * difference.y + difference.z * difference.z);
    return 2.0 * math_atan2(half_sine, real_abs(difference.w));
}

static void add_errors(tally *t, int horizon, int predictor, const truth *truth_now, const body_state *s,
                       vec3 specific_force)
{
    double *square[QUANTITY_COUNT];
    for (int k = 0; k < QUANTITY_COUNT; ++k) square[k] = &t->square[predictor][k][horizon];
    const vec3 rate = vec3_sub(s->rate, truth_now->state.rate);
    *square[QUANTITY_RATE] += vec3_dot(rate, rate);
    const double angle = angle_between(s->attitude, truth_now->state.attitude);
    *square[QUANTITY_ATTITUDE] += angle * angle;
    const double *measured = &truth_now->specific_force.x, *predicted = &specific_force.x;
    for (int a = 0; a < 3; ++a) {
        if (truth_now->has_force[a])
            *square[QUANTITY_ACCEL] += (predicted[a] - measured[a]) * (predicted[a] - measured[a]);
    }
    const vec3 v = vec3_sub(s->velocity, truth_now->state.velocity),
               x = vec3_sub(s->position, truth_now->state.position);
    if (truth_now->has_velocity) *square[QUANTITY_VELOCITY] += vec3_dot(v, v);
    if (truth_now->has_position) *square[QUANTITY_POSITION] += vec3_dot(x, x);
}

// From row `first_row` on, up to the longest horizon; each predictor is judged in the first row at or behind
// each.
static void predict_one(const fit_data *d, const fit_point *p, const fit_plant *plant,
                        const fit_rotors *rotors, size_t first_row, tally *t)
{
    const truth start_truth = truth_at(d, p, first_row, quat_identity());
    body_state s = start_truth.state;
    quat integrated_attitude = start_truth.state.attitude;
    int horizon = 0;
    for (size_t row = first_row; row + 1 < d->rows && horizon < VY_FIT_HORIZON_COUNT;) {
        const double dt = d->time[row + 1] - d->time[row];
        const vec3 mean_rate =
            vec3_sub(vec3_scale(0.5, vec3_add(d->rate[row], d->rate[row + 1])), p->gyro_offset);
        integrated_attitude =
            quat_normalize(quat_apply_small_rotation(integrated_attitude, vec3_scale(dt, mean_rate)));
        vy_fit_step(d, plant, rotors, row++, &s);
        const double elapsed = d->time[row] - d->time[first_row];
        if (elapsed < vy_fit_horizons[horizon] - 1e-9) continue;
        const truth truth_now = truth_at(d, p, row, integrated_attitude);
        add_errors(t, horizon, PREDICTOR_MODEL, &truth_now, &s,
                   vy_fit_specific_force(d, plant, rotors, row, &s));
        body_state baseline = start_truth.state;
        add_errors(t, horizon, PREDICTOR_HOLD, &truth_now, &baseline, start_truth.specific_force);
        baseline.position = vec3_add_scaled(baseline.position, elapsed, baseline.velocity);
        const double speed = vec3_length(baseline.rate);
        if (speed > 0.0) {
            double sine, cosine;
            math_sincos(0.5 * speed * elapsed, &sine, &cosine);
            const vec3 axis = vec3_scale(sine / speed, baseline.rate);
            baseline.attitude = quat_mul(baseline.attitude, quat_make(cosine, axis.x, axis.y, axis.z));
        }
        add_errors(t, horizon, PREDICTOR_CONSTANT_RATE, &truth_now, &baseline, start_truth.specific_force);
        t->count[QUANTITY_RATE][horizon] += 1;
        t->count[QUANTITY_ATTITUDE][horizon] += 1;
        t->count[QUANTITY_ACCEL][horizon] +=
            truth_now.has_force[0] || truth_now.has_force[1] || truth_now.has_force[2];
        t->count[QUANTITY_VELOCITY][horizon] += truth_now.has_velocity;
        t->count[QUANTITY_POSITION][horizon] += truth_now.has_position && start_truth.has_position;
        ++horizon;
    }
}

static vy_fit_errors errors_of(const tally *t, int predictor)
{
    vy_fit_errors e = {.count = t->count[QUANTITY_RATE][0]};
    double *outputs[QUANTITY_COUNT] = {e.rate, e.attitude, e.accel, e.velocity, e.position};
    for (int k = 0; k < QUANTITY_COUNT; ++k) {
        for (int h = 0; h < VY_FIT_HORIZON_COUNT; ++h)
            outputs[k][h] =
                t->count[k][h] > 0 ? real_sqrt(t->square[predictor][k][h] / t->count[k][h]) : math_nan();
    }
    return e;
}

vy_status vy_fit_score(const fit_data *d, const fit_point *p, double from, double to, vy_fit_errors *model,
                       vy_fit_errors *hold, vy_fit_errors *constant_rate, vy_error *err)
{
    fit_rotors rotors;
    fit_plant plant;
    if (!vy_fit_rotors_make(d, &rotors)) return vy_fail(err, VY_NO_MEMORY, "no memory for predictions");
    vy_fit_plant_make(p, &plant);
    vy_fit_rotors_run(d, p, &rotors);
    tally t = {.count = {{0}}};
    double next_start = from;
    for (size_t i = 0; i < d->rows && d->time[i] + vy_fit_horizons[VY_FIT_HORIZON_COUNT - 1] <= to; ++i) {
        if (d->time[i] < next_start) continue;
        const double *q = d->has_attitude ? d->flight->values[VY_FLIGHT_ATTITUDE] : NULL;
        if (q != NULL && !(q[i] == q[i])) continue;
        predict_one(d, p, &plant, &rotors, i, &t);
        next_start = d->time[i] + START_PERIOD;
    }
    vy_fit_rotors_free(&rotors);
    *model = errors_of(&t, PREDICTOR_MODEL);
    *hold = errors_of(&t, PREDICTOR_HOLD);
    *constant_rate = errors_of(&t, PREDICTOR_CONSTANT_RATE);
    return VY_OK;
}
