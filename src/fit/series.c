// series.c - what an instrument said and what the fitted vehicle says it should, row by row.
#include "base/fail.h"
#include "fit/model.h"

vy_status vy_fit_series(const vy_flight *flight, const vy_fit_result *fit, int channel, double from,
                        double to, double *time, double *measured, double *predicted, size_t cap,
                        size_t *count, vy_error *err)
{
    FPU_SCOPE;
    fit_data d;
    fit_rotors rotors;
    fit_plant plant;
    *count = 0;
    if (channel < 0 || channel >= CHANNEL_ATTITUDE)
        return vy_fail(err, VY_BAD_VALUE, "channel: 0 to 5, rates and specific force");
    vy_status status = vy_fit_data_make(flight, &fit->vehicle, &d, err);
    if (status != VY_OK) return status;
    const double *values =
        flight->values[channel < CHANNEL_ACCEL ? VY_FLIGHT_RATE + channel
                                               : VY_FLIGHT_ACCEL + channel - CHANNEL_ACCEL];
    if (values == NULL || !vy_fit_rotors_make(&d, &rotors)) {
        vy_fit_data_free(&d);
        return values == NULL ? VY_OK : vy_fail(err, VY_NO_MEMORY, "no memory for predictions");
    }
    fit_point p = vy_fit_start(&fit->vehicle, fit->vehicle.mass);
    p.imu_delay = fit->imu_delay;
    p.pose_delay = fit->pose_delay;
    p.accel_delay = fit->accel_delay;
    p.accel_offset = fit->accel_offset;
    p.gyro_offset = fit->gyro_offset;
    vy_fit_plant_make(&p, &plant);
    vy_fit_rotors_run(&d, &p, &rotors);
    body_state s = vy_fit_state(&d, &p, 0);
    double start = from - fit->def.horizon - 1.0; // of the prediction that continues
    for (size_t row = 0; row + 1 < d.rows && d.time[row] <= to && *count < cap; ++row) {
        if (d.time[row] < from) continue;
        if (d.time[row] >= start + fit->def.horizon) { // the next begins where something was measured
            s = vy_fit_state(&d, &p, row);
            start = d.time[row];
        }
        double errors[CHANNEL_COUNT];
        vy_fit_errors_at(&d, &p, &plant, &rotors, row, &s, errors);
        if (errors[channel] == errors[channel]) {
            time[*count] = d.time[row];
            measured[*count] = values[row];
            predicted[(*count)++] = values[row] - errors[channel];
        }
        vy_fit_step(&d, &plant, &rotors, row, &s);
    }
    vy_fit_rotors_free(&rotors);
    vy_fit_data_free(&d);
    return VY_OK;
}
