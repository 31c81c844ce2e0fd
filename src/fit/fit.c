// fit.c - a vehicle from a recorded flight: the steps of a fit, from data to intervals and held-out errors.
#include "base/fail.h"
#include "base/math.h"
#include "fit/solve.h"
#include <stdio.h>

enum { N = FIT_PARAMETER_COUNT };

#define LONG_HORIZON  0.25  // [s] for parameters
#define SHORT_HORIZON 0.07  // [s] for prediction
#define MASS_RATIO    300.0 // to the base's mass: a gram taken for a kilogram is 1000 times

vy_fit_def vy_default_fit_def(void)
{
    const vy_fit_def def = {.aim = VY_FIT_FOR_PARAMETERS};
    return def;
}

static vy_status check_def(const vy_flight *flight, const vy_vehicle_def *base, const vy_fit_def *def,
                           vy_error *err)
{
    const double end_time = flight->values[VY_FLIGHT_TIME][flight->rows - 1];
    if (!(def->mass > 0.0 && def->mass < 1e5))
        return vy_fail(err, VY_BAD_VALUE, "mass: a vehicle's mass is above 0 kg, got %.6g", def->mass);
    if (def->mass > MASS_RATIO * base->mass || MASS_RATIO * def->mass < base->mass)
        return vy_fail(err, VY_BAD_VALUE,
                       "mass: %.6g kg is far from the %.6g kg of %s: is it in g, or another base nearer?",
                       def->mass, base->mass, base->name);
    if (def->horizon != 0.0 && !(def->horizon >= 0.05 && def->horizon <= 2.0))
        return vy_fail(err, VY_BAD_VALUE, "horizon: 0.05 to 2 s, got %.6g", def->horizon);
    if (!(def->from >= 0.0 && def->from < end_time))
        return vy_fail(err, VY_BAD_VALUE, "from: within the flight, 0 to %.6g s, got %.6g", end_time,
                       def->from);
    if (def->to != 0.0 && !(def->to > def->from))
        return vy_fail(err, VY_BAD_VALUE, "to: after from, %.6g s, got %.6g", def->from, def->to);
    return VY_OK;
}

// The deviation of a value that depends on x, by its slopes over x; of a ratio, of its logarithm.
static double deviation_of(int id, const fit_problem *p, const double *covariance)
{
    double slope[N], sum = 0.0;
    const fit_point point = vy_fit_at(&p->base, p->x);
    const double value = vy_fit_value(id, &point), step = 1e-6;
    for (int i = 0; i < N; ++i) {
        double x[N];
        memcpy(x, p->x, sizeof x);
        x[i] += step;
        const fit_point moved_point = vy_fit_at(&p->base, x);
        slope[i] = (vy_fit_value(id, &moved_point) - value) / step;
        if (vy_fit_parameters[id].is_ratio) slope[i] /= value;
    }
    for (int i = 0; i < N; ++i) {
        for (int k = 0; k < N; ++k) sum += slope[i] * covariance[i * N + k] * slope[k];
    }
    return real_sqrt(real_max(sum, 0.0));
}

static int is_positive(int id)
{
    return id == FIT_ROTOR_INERTIA || (id >= FIT_DRAG_X && id <= FIT_ROTOR_DRAG);
}

static void fill_parameters(const fit_problem *p, const vy_vehicle_def *base, const double *covariance,
                            vy_fit_result *out)
{
    const fit_point point = vy_fit_at(&p->base, p->x);
    for (int id = 0; id < N; ++id) {
        vy_fit_parameter *parameter = &out->parameters[out->parameter_count++];
        const int is_ratio = vy_fit_parameters[id].is_ratio;
        snprintf(parameter->name, sizeof parameter->name, "%s", vy_fit_parameters[id].name);
        snprintf(parameter->unit, sizeof parameter->unit, "%s", vy_fit_parameters[id].unit);
        fit_point base_point = p->base;
        base_point.vehicle = *base;
        parameter->base = id == FIT_LAG_DOWN && base->motor_lag_down == 0.0 ? base->motor_lag
                                                                            : vy_fit_value(id, &base_point);
        parameter->value = parameter->low = parameter->high = vy_fit_value(id, &point);
        parameter->status = p->active[id] ? VY_FIT_FOUND : p->unobservable[id] ? VY_FIT_NO_DATA : VY_FIT_KEPT;
        if (!p->active[id]) continue;
        const double half_width = FIT_INTERVAL * deviation_of(id, p, covariance);
        parameter->low = is_ratio ? parameter->value * math_exp(-half_width) : parameter->value - half_width;
        parameter->high = is_ratio ? parameter->value * math_exp(half_width) : parameter->value + half_width;
        if (is_positive(id)) {
            parameter->value = real_max(parameter->value, 0.0);
            parameter->low = real_max(parameter->low, 0.0);
            parameter->high = real_max(parameter->high, 0.0);
        }
        parameter->is_relative_to_izz =
            !p->active[FIT_INERTIA_Z] && (id == FIT_TORQUE || id == FIT_ROTOR_INERTIA || id == FIT_CANT);
    }
}

// What a vehicle file may hold: ideal motors of the base stay so if nothing tells otherwise.
static vy_vehicle_def vehicle_of(const fit_problem *p, const vy_vehicle_def *base)
{
    vy_vehicle_def v = vy_fit_at(&p->base, p->x).vehicle;
    v.rotor_air.inertia = real_max(v.rotor_air.inertia, 0.0);
    v.rotor_air.drag = real_max(v.rotor_air.drag, 0.0);
    v.drag_linear.x = real_max(v.drag_linear.x, 0.0);
    v.drag_linear.y = real_max(v.drag_linear.y, 0.0);
    v.drag_linear.z = real_max(v.drag_linear.z, 0.0);
    if (!p->active[FIT_LAG_UP]) v.motor_lag = base->motor_lag;
    if (!p->active[FIT_LAG_DOWN]) v.motor_lag_down = base->motor_lag_down;
    return v;
}

// Held-out errors of fit and base.
static vy_status score(const fit_data *d, const fit_problem *p, const vy_vehicle_def *base,
                       vy_fit_result *out, vy_error *err)
{
    const double from = out->def.to, to = d->time[d->rows - 1];
    fit_point fitted_point = vy_fit_at(&p->base, p->x), base_point = vy_fit_start(base, out->def.mass);
    fitted_point.vehicle.rotor_air = out->vehicle.rotor_air;
    fitted_point.vehicle.drag_linear = out->vehicle.drag_linear;
    base_point.accel_offset = fitted_point.accel_offset; // of the instruments, not of the vehicle
    base_point.gyro_offset = fitted_point.gyro_offset;
    vy_fit_errors hold, constant_rate;
    vy_status status = vy_fit_score(d, &base_point, from, to, &out->unfitted, &hold, &constant_rate, err);
    if (status == VY_OK)
        status = vy_fit_score(d, &fitted_point, from, to, &out->fitted, &out->hold, &out->constant_rate, err);
    out->has_held_out = out->fitted.count >= 5;
    return status;
}

vy_status vy_fit_solve(const vy_flight *flight, const vy_vehicle_def *base, const char *name,
                       const vy_fit_def *def, vy_fit_result *out, vy_error *err)
{
    FPU_SCOPE;
    static const vy_fit_result empty;
    fit_data d;
    fit_problem p;
    double covariance[N * N];
    vy_status status = check_def(flight, base, def, err);
    if (status == VY_OK) status = vy_check_vehicle_def(base, err);
    if (status == VY_OK) status = vy_fit_data_make(flight, base, &d, err);
    if (status != VY_OK) return status;
    *out = empty;
    out->def = *def;
    out->duration = d.time[d.rows - 1];
    if (out->def.to == 0.0) out->def.to = 0.5 * (def->from + out->duration);
    if (out->def.horizon == 0.0)
        out->def.horizon = def->aim == VY_FIT_FOR_PREDICTION ? SHORT_HORIZON : LONG_HORIZON;
    if (out->def.to > out->duration) out->def.to = out->duration;
    snprintf(out->base, sizeof out->base, "%s", name);
    const fit_point start_point = vy_fit_start(base, def->mass);
    status = vy_fit_problem_make(&d, &start_point, out->def.from, out->def.to, out->def.horizon, def->aim, &p,
                                 err);
    if (status == VY_OK) {
        status = vy_fit_problem_solve(&p, err);
        if (status == VY_OK && def->aim == VY_FIT_FOR_PARAMETERS) status = vy_fit_problem_refine(&p, err);
        if (status == VY_OK) status = vy_fit_problem_covariance(&p, covariance, err);
        if (status == VY_OK) {
            const fit_point point = vy_fit_at(&p.base, p.x);
            fill_parameters(&p, base, covariance, out);
            out->vehicle = vehicle_of(&p, base);
            out->imu_delay = point.imu_delay;
            out->pose_delay = point.pose_delay;
            out->accel_delay = point.accel_delay;
            out->accel_offset = point.accel_offset;
            out->gyro_offset = point.gyro_offset;
            out->iterations = p.iterations;
            out->combination_count = p.combination_count;
            memcpy(out->combinations, p.combinations, sizeof out->combinations);
            status = vy_check_vehicle_def(&out->vehicle, err);
        }
        if (status == VY_OK) status = score(&d, &p, base, out, err);
        if (status == VY_OK) vy_fit_diagnose(&d, &p, out);
        vy_fit_problem_free(&p);
    }
    vy_fit_data_free(&d);
    return status;
}

vy_status vy_fit_evaluate(const vy_flight *flight, const vy_vehicle_def *vehicle, const vy_fit_result *delays,
                          double from, double to, vy_fit_errors *out, vy_fit_errors *hold,
                          vy_fit_errors *constant_rate, vy_error *err)
{
    FPU_SCOPE;
    fit_data d;
    vy_status status = vy_fit_data_make(flight, vehicle, &d, err);
    if (status != VY_OK) return status;
    fit_point p = vy_fit_start(vehicle, vehicle->mass);
    if (delays != NULL) {
        p.imu_delay = delays->imu_delay;
        p.pose_delay = delays->pose_delay;
        p.accel_delay = delays->accel_delay;
        p.accel_offset = delays->accel_offset;
        p.gyro_offset = delays->gyro_offset;
    }
    status = vy_fit_score(&d, &p, from, to, out, hold, constant_rate, err);
    vy_fit_data_free(&d);
    return status;
}
