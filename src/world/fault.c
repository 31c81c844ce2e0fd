// fault.c - faults: which act when, and what they do to motors, samples and replies.
//
// Everything random is a function of seed, fault, drone and step, so the only state of a fault is what is in
// its delay line.
#include "world/fault.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/finite.h"
#include "base/math.h"
#include "base/rng.h"
#include "world/build.h"
#include "world/supervisor.h"
#include "world/world_impl.h"
#include "world/sensor_suite.h"
#include "world/world_def.h"

// What is drawn from a fault's random stream: draws for one purpose move no other.
enum { DRAW_SCHEDULE, DRAW_LOSS, DRAW_NOISE, DRAW_PURPOSES };

static uint64_t draw_index(const fault_model *f, uint32_t drone, int purpose)
{
    // Faults < 2^10, drones < 2^20.
    VY_ASSERT(f->index < 1u << 10 && drone < 1u << 20 && purpose >= 0 && purpose < DRAW_PURPOSES);
    return (((uint64_t)f->index * DRAW_PURPOSES + (uint64_t)purpose) << 20) + drone;
}

static double draw_uniform(const vy_model *m, const fault_model *f, uint32_t drone, int purpose,
                           uint64_t step, int number)
{
    double uniforms[2];
    rng_uniforms(m->seed, RNG_STREAM_FAULT, draw_index(f, drone, purpose), step, uniforms, 2);
    return uniforms[number];
}

// When it begins in that interval of time; the only one when it comes once. Returns 0 when it does not.
static int fault_window_begin(const vy_model *m, const fault_model *f, uint32_t drone, uint64_t interval,
                              uint64_t *begin_tick)
{
    uint64_t begin = f->start, spread_ticks = f->spread;
    if (f->every > 0) {
        begin = f->start + interval * f->every;
        VY_ASSERT(f->length <= f->every); // it is over before it comes again
        spread_ticks = f->every - f->length;
        if (draw_uniform(m, f, drone, DRAW_SCHEDULE, interval, 1) >= f->def.chance) return 0;
    }
    if (spread_ticks > 0)
        begin += (uint64_t)(draw_uniform(m, f, drone, DRAW_SCHEDULE, interval, 0) * (double)spread_ticks);
    VY_ASSERT(begin >= f->start);
    *begin_tick = begin;
    return 1;
}

int vy_fault_acts(const vy_model *m, const fault_model *f, uint32_t drone, uint64_t tick,
                  uint64_t *begin_tick)
{
    if (tick < f->start || !vy_fault_applies(m, f, drone)) return 0;
    const uint64_t interval = f->every > 0 ? (tick - f->start) / f->every : 0;
    return fault_window_begin(m, f, drone, interval, begin_tick) && tick >= *begin_tick &&
           tick - *begin_tick < f->length;
}

uint64_t vy_fault_count(const vy_model *m, const fault_model *f, uint32_t drone, uint64_t tick)
{
    if (tick < f->start || !vy_fault_applies(m, f, drone)) return 0;
    const uint64_t last = f->every > 0 ? (tick - f->start) / f->every : 0;
    uint64_t begin_tick, count = 0;
    for (uint64_t interval = 0; interval <= last; ++interval)
        count += fault_window_begin(m, f, drone, interval, &begin_tick) && begin_tick <= tick;
    return count;
}

// The battery's share of the nominal voltage, of drone `i` at the start of the step.
static double voltage_ratio(const vy_world *world, uint32_t i)
{
    const battery_params *b = &world->model.params[i].battery;
    const int is_active = b->capacity > 0.0 && effect_on(world->drones[i].effects, EFFECT_battery);
    const double ratio = is_active ? world->powertrain[i].battery.voltage / b->nominal : 1.0;
    return ratio > 0.0 ? ratio : 1.0;
}

static void limit_motors(const vy_world *world, uint64_t tick)
{
    const vy_model *m = &world->model;
    double(*speeds)[VY_ROTOR_CAP] = world->speeds;
    uint64_t begin_tick;
    for (uint32_t k = 0; k < m->fault_count; ++k) {
        const fault_model *f = &m->faults[k];
        if (f->def.kind > VY_FAULT_MOTOR_MAX) continue;
        for (uint32_t i = f->first; i < f->last; ++i) {
            if (!vy_fault_acts(m, f, i, tick, &begin_tick)) continue;
            const double ratio = voltage_ratio(world, i);
            for (int rotor = 0; rotor < m->drones[i].layout.count; ++rotor) {
                if (f->def.rotor != VY_ALL_ROTORS && f->def.rotor != rotor) continue;
                const double speed_limit = f->def.size * motor_speed(&m->params[i].motor, 1.0) / ratio;
                speeds[i][rotor] = f->def.kind == VY_FAULT_MOTOR_MAX ? real_min(speeds[i][rotor], speed_limit)
                                                                     : f->speed_scale * speeds[i][rotor];
            }
        }
    }
}

// Rotors turn in proportion to the voltage. A vehicle that declares no battery has one that is always
// nominal.
static void apply_battery_faults(const vy_world *world, uint64_t tick)
{
    const vy_model *m = &world->model;
    uint64_t begin_tick;
    for (uint32_t k = 0; k < m->fault_count; ++k) {
        const fault_model *f = &m->faults[k];
        for (uint32_t i = f->first; i < f->last && f->def.kind == VY_FAULT_BATTERY; ++i) {
            if (!vy_fault_acts(m, f, i, tick, &begin_tick)) continue;
            for (int rotor = 0; rotor < m->drones[i].layout.count; ++rotor)
                world->speeds[i][rotor] *= f->def.size;
            if (!(m->params[i].battery.capacity > 0.0)) continue;
            world->powertrain[i].battery.voltage *= f->def.size;
            if (f->def.size == 0.0) world->powertrain[i].battery.current = 0.0;
        }
    }
}

const vy_model *vy_fault_limit_motors(vy_world *world)
{
    const vy_model *m = &world->model;
    const uint64_t tick = world->state->tick - 1;
    limit_motors(world, tick);
    apply_battery_faults(world, tick);
    uint64_t begin_tick;
    int has_lag_fault = 0;
    for (uint32_t k = 0; k < m->fault_count; ++k) {
        const fault_model *f = &m->faults[k];
        for (uint32_t i = f->first; i < f->last && f->def.kind == VY_FAULT_MOTOR_LAG; ++i) {
            if (!vy_fault_acts(m, f, i, tick, &begin_tick)) continue;
            if (!has_lag_fault) memcpy(world->faulty_params, m->params, m->drone_count * sizeof m->params[0]);
            has_lag_fault = 1;
            multirotor_params *plant = &world->faulty_params[i].plant;
            plant->rotor.decay_half = plant->curve.fall_half = f->decay_half;
            plant->rotor.decay_full = plant->curve.fall_full = f->decay_full;
            plant->curve.rise_weights = plant->curve.fall_weights = vy_lag_weights(m->dt, f->def.size);
        }
    }
    if (!has_lag_fault) return m;
    world->faulty_model = *m;
    world->faulty_model.params = world->faulty_params;
    return &world->faulty_model;
}

void vy_fault_save_drones(vy_world *world)
{
    const vy_model *m = &world->model;
    memcpy(world->drones_before, world->drones, m->drone_count * sizeof(drone_block));
    memcpy(world->sensors_before, world->sensors,
           block_offset(&world->counts, BLOCK_filter) - block_offset(&world->counts, SENSORS_FIRST_BLOCK));
}

// --- samples

// A fault, and the drone and step whose sample it changes.
typedef struct fault_target {
    const vy_model *m;
    const fault_model *f;
    uint32_t drone;
    uint64_t tick;
} fault_target;

// `amounts` has a number for each that the channel is measured in: an attitude turns by three.
static void add_error(const fault_target *target, const double *amounts, double *sample)
{
    const channel_row *row = &vy_channels[target->f->def.channel];
    const sensor_channel *channel = &row->channel;
    const sensor_type *type = vy_sensors[row->sensor].type;
    VY_ASSERT(channel->at + channel->cells <= vy_sensors[row->sensor].width &&
              channel->axes <= channel->cells);
    if (type->add_error != NULL) {
        const channel_input in = {channel, &target->m->env.air,
                                  target->m->drones[target->drone].layout.count};
        type->add_error(&in, amounts, sample);
        return;
    }
    for (int i = 0; i < channel->axes; ++i) sample[channel->at + i] += amounts[i];
}

static void swap_axes(const sensor_channel *c, double *sample)
{
    double *x = sample + c->x_index;
    VY_ASSERT(c->width >= 2);
    const double first = x[0];
    x[0] = x[1];
    x[1] = first;
}

// `previous` is the sample of the step before.
static void apply_sample_fault(const fault_target *target, const double *previous, double *sample)
{
    const vy_fault_def *def = &target->f->def;
    const sensor_channel *channel = &vy_channels[def->channel].channel;
    double deviates[VY_RAY_CAP] = {0}, amounts[VY_RAY_CAP] = {0};
    const double amplitude[3] = {def->vector.x, def->vector.y, def->vector.z};
    double sine = 1.0;
    if (def->kind == VY_FAULT_SENSOR_STUCK) {
        memcpy(sample + channel->at, previous + channel->at, (size_t)channel->cells * sizeof *sample);
        return;
    }
    if (def->kind == VY_FAULT_SENSOR_SWAP) {
        swap_axes(channel, sample);
        return;
    }
    if (def->kind == VY_FAULT_SENSOR_NOISE)
        rng_normals(target->m->seed, RNG_STREAM_FAULT, draw_index(target->f, target->drone, DRAW_NOISE),
                    target->tick, deviates, channel->axes);
    if (def->kind == VY_FAULT_SENSOR_VIBRATION)
        sine = math_sin(6.283185307179586 * (def->frequency * ((double)target->tick * target->m->dt)));
    for (int i = 0; i < channel->axes; ++i) {
        amounts[i] = amplitude[channel->width > 1 && i < 3 ? i : 0];
        if (def->kind == VY_FAULT_SENSOR_NOISE) amounts[i] *= deviates[i];
        if (def->kind == VY_FAULT_SENSOR_VIBRATION) amounts[i] *= sine;
    }
    add_error(target, amounts, sample);
}

// Delayed samples go through a line of the drone's own: `is_sent`, or not, a sample leaves and another
// arrives, which counts only while the fault acts, since `begin_tick`. Returns 0 when nothing arrives.
static int delay_sample(const fault_target *target, int is_sent, int is_acting, uint64_t begin_tick,
                        delay_line_block *line_cells, double *values)
{
    const fault_model *fault = target->f;
    const uint64_t size = delay_line_size(fault->delay, fault->width);
    const delay_line line = {fault->line + (target->drone - fault->first) * size, fault->period, fault->delay,
                             fault->width};
    VY_ASSERT(target->drone >= fault->first && target->drone < fault->last &&
              line.first + size <= target->m->delay_count);
    if (fault->delay == 0) return is_sent;
    double delayed[DELAY_LINE_WIDTH];
    const int is_delivered = vy_delay_line_take(&line, line_cells, target->tick, begin_tick, delayed);
    if (is_sent) vy_delay_line_put(&line, line_cells, target->tick, values);
    if (!is_acting) return is_sent;
    if (is_delivered) memcpy(values, delayed, fault->width * sizeof *values);
    return is_delivered;
}

// Apply all faults of a sensor to a sample that is due; `is_present`: the sensor has given one. Returns
// 0 when nothing arrives.
static int apply_sample_faults(const vy_world *world, uint32_t drone, int sensor, int is_present,
                               const double *previous, double *sample)
{
    const vy_model *m = &world->model;
    const uint64_t tick = world->state->tick;
    int is_lost = 0;
    VY_ASSERT(drone < m->drone_count);
    for (uint32_t k = 0; k < m->fault_count; ++k) {
        const fault_model *fault = &m->faults[k];
        if (!vy_fault_is_sensor(fault->def.kind)) continue;
        if (drone < fault->first || drone >= fault->last ||
            (int)vy_channels[fault->def.channel].sensor != sensor)
            continue;
        uint64_t begin_tick = 0;
        const int is_acting = vy_fault_acts(m, fault, drone, tick, &begin_tick);
        const fault_target target = {m, fault, drone, tick};
        if (fault->def.kind == VY_FAULT_SENSOR_DELAY) {
            is_present = delay_sample(&target, is_present, is_acting, begin_tick, world->delay_lines, sample);
        } else if (is_acting && fault->def.kind == VY_FAULT_SENSOR_DROPOUT) {
            is_lost |= draw_uniform(m, fault, drone, DRAW_LOSS, tick, 0) < fault->def.size;
        } else if (is_acting && is_present) {
            apply_sample_fault(&target, previous, sample);
        }
    }
    return is_present && !is_lost;
}

void vy_fault_apply_to_samples(vy_world *world)
{
    const vy_model *m = &world->model;
    const uint64_t tick = world->state->tick;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        for (int sensor = m->drones[i].sensor_suite > 0 ? 0 : SENSOR_SUITE_KINDS; sensor < SENSOR_KINDS;
             ++sensor) {
            if (!due(tick, vy_sensor_period(m, i, sensor))) continue;
            uint64_t *sample_tick, *previous_tick;
            double *sample = vy_sensor_sample(world, world->drones, world->sensors, i, sensor, &sample_tick);
            const double *previous = vy_sensor_sample(world, world->drones_before, world->sensors_before, i,
                                                      sensor, &previous_tick);
            if (apply_sample_faults(world, i, sensor, *sample_tick == tick, previous, sample)) {
                *sample_tick = tick;
            } else { // the controller keeps its last sample; the sensor itself continues
                memcpy(sample, previous, (size_t)vy_sensors[sensor].width * sizeof *sample);
                *sample_tick = *previous_tick;
            }
        }
    }
}

// --- replies

_Static_assert(sizeof(control_state) % sizeof(double) == 0, "cells alone");
_Static_assert(VY_DROP_CAP <= 53, "a release request is a whole number as a double");
_Static_assert(COMMAND_CELLS <= DELAY_LINE_WIDTH, "a reply fits on a line");

// A reply on a line: the rung, the intent's values, the payloads to release. The state of the control loops
// is not delayed.
static void pack_command(const drone_block *d, uint64_t release_request, double *values)
{
    values[0] = (double)d->rung;
    memcpy(values + 1, &d->control, sizeof d->control);
    values[COMMAND_CELLS - 1] = (double)release_request; // of few bits: VY_DROP_CAP
}

static void unpack_command(const double *values, drone_block *d, uint64_t *release_request)
{
    *release_request = (uint64_t)values[COMMAND_CELLS - 1];
    const control_state loop_state = d->control;
    d->rung = (uint64_t)values[0];
    memcpy(&d->control, values + 1, sizeof d->control);
    d->control.integral = loop_state.integral;
    d->control.speed = loop_state.speed;
    d->control.heading = loop_state.heading;
    d->control.indi = loop_state.indi;
}

// Returns 0 when nothing arrives.
static int apply_command_faults(const vy_model *m, uint64_t tick, uint32_t drone, const drone_block *previous,
                                delay_line_block *line_cells, drone_block *d, uint64_t *release_request)
{
    double values[COMMAND_CELLS];
    int is_delivered = 1;
    for (uint32_t k = 0; k < m->fault_count; ++k) {
        const fault_model *fault = &m->faults[k];
        if (fault->def.kind != VY_FAULT_COMMAND_LOSS && fault->def.kind != VY_FAULT_COMMAND_DELAY) continue;
        if (drone < fault->first || drone >= fault->last) continue;
        uint64_t begin_tick = 0;
        const int is_acting = vy_fault_acts(m, fault, drone, tick, &begin_tick);
        if (fault->def.kind == VY_FAULT_COMMAND_DELAY) {
            pack_command(d, *release_request, values);
            if (!delay_sample(&(fault_target){m, fault, drone, tick}, 1, is_acting, begin_tick, line_cells,
                              values))
                is_delivered = 0;
            else if (is_acting)
                unpack_command(values, d, release_request);
        } else if (is_acting && draw_uniform(m, fault, drone, DRAW_LOSS, tick, 0) < fault->def.size) {
            is_delivered = 0;
        }
    }
    if (!is_delivered) {
        pack_command(previous, 0, values);
        unpack_command(values, d, release_request);
    }
    return is_delivered;
}

void vy_fault_apply_to_commands(vy_world *world)
{
    const vy_model *m = &world->model;
    const uint64_t tick = world->state->tick;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        if (!due(tick, m->drones[i].control_period)) continue;
        uint64_t no_request = 0, *release_request = world->release_requests != NULL
                                                        ? &world->release_requests[i]
                                                        : &no_request;
        if (!apply_command_faults(m, tick, i, &world->drones_before[i], world->delay_lines, &world->drones[i],
                                  release_request))
            mark_intent_received(world, i, 0);
    }
}
