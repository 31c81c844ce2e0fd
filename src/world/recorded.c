// recorded.c - a controller that plays the motor commands or rotor speeds of a recorded flight.
#include "world/recorded.h"
#include "base/assert.h"
#include "base/math.h"
#include "control/control.h"
#include "volery/controller.h"

// The last row whose time has come at `time`, give or take half a step; -1: none yet.
static int row_at(const vy_numbers *record, double time, double dt)
{
    int low = -1, high = record->rows; // that of `low` has come, that of `high` has not
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (record->values[(size_t)middle * (size_t)record->columns] < time + 0.5 * dt)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// [rad/s] The recorded speed of rotor `k` at `time`, in proportion between rows.
static double speed_at(const vy_numbers *record, int k, double time, double dt)
{
    const int row = row_at(record, time, dt);
    const double *row_values = record->values + (size_t)(row < 0 ? 0 : row) * (size_t)record->columns;
    if (row < 0 || row + 1 == record->rows) return row_values[1 + k];
    const double *next = row_values + record->columns,
                 fraction = (time - row_values[0]) / (next[0] - row_values[0]);
    return row_values[1 + k] + real_clamp(fraction, 0.0, 1.0) * (next[1 + k] - row_values[1 + k]);
}

// The command by which a rotor that turns at `speed_now` comes to `speed_next` after `period`, through its
// own lag.
static double command_between(const drone_params *p, double speed_now, double speed_next, double period)
{
    const rotor_curve *c = &p->plant.curve;
    const double inverse_lag = speed_next < speed_now ? c->fall : c->rise; // 1 / lag; 0: none
    const double decay = inverse_lag > 0.0 ? math_exp(-period * inverse_lag) : 1.0;
    const double target = decay < 1.0 ? speed_now + (speed_next - speed_now) / (1.0 - decay) : speed_now;
    const double speed = real_clamp(target, 0.0, p->motor.speed_max);
    return p->motor.is_linear ? speed / p->motor.speed_max : motor_command(&p->motor, speed);
}

void vy_recorded_play(const vy_model *m, uint32_t index, uint64_t tick, drone_block *d)
{
    const drone_model *dm = &m->drones[index];
    const drone_params *p = &m->params[index];
    const vy_numbers *record = &dm->controller.record;
    const double time = time_of(m, tick), period = (double)dm->control_period * m->dt;
    const int row = row_at(record, time, m->dt), has_speeds = dm->controller.record_kind == VY_RECORD_SPEEDS;
    VY_ASSERT(dm->controller.kind == VY_CONTROLLER_RECORDED && record->columns - 1 <= VY_ROTOR_CAP);
    if (row < 0) return;
    control_reply reply;
    memset(&reply, 0, sizeof reply);
    reply.rung = VY_RUNG_MOTORS;
    for (int k = 0; k < record->columns - 1; ++k) {
        reply.motors[k] = record->values[(size_t)row * (size_t)record->columns + 1 + (size_t)k];
        if (!has_speeds) continue;
        const double speed_now = real_clamp(speed_at(record, k, time, m->dt), 0.0, p->motor.speed_max);
        const double speed_next = speed_at(record, k, time + period, m->dt);
        reply.motors[k] = command_between(p, speed_now, speed_next, period);
        d->rotor_speed[k] = speed_now;
    }
    control_accept(&p->ladder, &reply, 1, &d->control, &d->clamps);
    d->rung = VY_RUNG_MOTORS;
}

void vy_recorded_stage(const vy_model *m, const world_block *w, drone_block *drones)
{
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const drone_model *dm = &m->drones[i];
        if (dm->controller.kind == VY_CONTROLLER_RECORDED && due(w->tick, dm->control_period))
            vy_recorded_play(m, i, w->tick, &drones[i]);
    }
}
