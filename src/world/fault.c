// fault.c - faults: which act when, and what they do to motors, samples and replies.
//
// Everything random is a function of seed, fault, drone and step, so a fault remembers nothing but what is on
// its way through a delay line.
#include "world/fault.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/finite.h"
#include "base/math.h"
#include "base/rng.h"
#include "world/build.h"
#include "world/guard.h"
#include "world/kit.h"
#include "world/world_def.h"
#include "world/world_impl.h"

// Parts of the fault's random stream: draws of one part move no other.
enum { DRAW_SCHEDULE, DRAW_SHARE, DRAW_NOISE, DRAW_PARTS };

static uint64_t draw_index(const fault_model *f, uint32_t drone, int part)
{
    // Faults < 2^10, drones < 2^20.
    VY_ASSERT(f->index < 1u << 10 && drone < 1u << 20 && part >= 0 && part < DRAW_PARTS);
    return (((uint64_t)f->index * DRAW_PARTS + (uint64_t)part) << 20) + drone;
}

static double draw(const vy_model *m, const fault_model *f, uint32_t drone, int part, uint64_t step,
                   int which)
{
    double u[2];
    rng_uniforms(m->seed, RNG_STREAM_FAULT, draw_index(f, drone, part), step, u, 2);
    return u[which];
}

// When it begins in piece `piece` of time; the only one when it comes once. Returns 0 when it does not.
static int begins(const vy_model *m, const fault_model *f, uint32_t drone, uint64_t piece, uint64_t *began)
{
    uint64_t begin = f->start, room = f->spread;
    if (f->every > 0) {
        begin = f->start + piece * f->every;
        VY_ASSERT(f->length <= f->every); // it is over before it comes again
        room = f->every - f->length;
        if (draw(m, f, drone, DRAW_SCHEDULE, piece, 1) >= f->def.chance) return 0;
    }
    if (room > 0) begin += (uint64_t)(draw(m, f, drone, DRAW_SCHEDULE, piece, 0) * (double)room);
    VY_ASSERT(begin >= f->start);
    *began = begin;
    return 1;
}

int vy_fault_acts(const vy_model *m, const fault_model *f, uint32_t drone, uint64_t tick, uint64_t *began)
{
    if (tick < f->start || !vy_fault_concerns(m, f, drone)) return 0;
    const uint64_t piece = f->every > 0 ? (tick - f->start) / f->every : 0;
    return begins(m, f, drone, piece, began) && tick >= *began && tick - *began < f->length;
}

uint64_t vy_fault_count(const vy_model *m, const fault_model *f, uint32_t drone, uint64_t tick)
{
    if (tick < f->start || !vy_fault_concerns(m, f, drone)) return 0;
    const uint64_t last = f->every > 0 ? (tick - f->start) / f->every : 0;
    uint64_t began, count = 0;
    for (uint64_t piece = 0; piece <= last; ++piece)
        count += begins(m, f, drone, piece, &began) && began <= tick;
    return count;
}

static void limit_motors(const vy_model *m, uint64_t tick, double (*speeds)[VY_ROTOR_CAP])
{
    uint64_t began;
    for (uint32_t k = 0; k < m->fault_count; ++k) {
        const fault_model *f = &m->faults[k];
        if (f->def.kind > VY_FAULT_MOTOR_MAX) continue;
        for (uint32_t i = f->first; i < f->last; ++i) {
            if (!vy_fault_acts(m, f, i, tick, &began)) continue;
            for (int r = 0; r < m->drones[i].layout.count; ++r) {
                if (f->def.rotor != VY_ALL_ROTORS && f->def.rotor != r) continue;
                const double most = f->def.size * motor_speed(&m->params[i].motor, 1.0);
                speeds[i][r] = f->def.kind == VY_FAULT_MOTOR_MAX ? real_min(speeds[i][r], most)
                                                                 : f->speed_share * speeds[i][r];
            }
        }
    }
}

// Rotors turn in proportion to the voltage. A vehicle that declares no battery has one that is always
// nominal.
static void weaken_batteries(const vy_world *world, uint64_t tick)
{
    const vy_model *m = &world->model;
    uint64_t began;
    for (uint32_t k = 0; k < m->fault_count; ++k) {
        const fault_model *f = &m->faults[k];
        for (uint32_t i = f->first; i < f->last && f->def.kind == VY_FAULT_BATTERY; ++i) {
            if (!vy_fault_acts(m, f, i, tick, &began)) continue;
            for (int r = 0; r < m->drones[i].layout.count; ++r) world->speeds[i][r] *= f->def.size;
            if (!(m->params[i].battery.capacity > 0.0)) continue;
            world->gear[i].battery.voltage *= f->def.size;
            if (f->def.size == 0.0) world->gear[i].battery.current = 0.0;
        }
    }
}

const vy_model *vy_fault_motors(vy_world *world)
{
    const vy_model *m = &world->model;
    const uint64_t tick = world->state->tick - 1;
    limit_motors(m, tick, world->speeds);
    weaken_batteries(world, tick);
    uint64_t began;
    int any = 0;
    for (uint32_t k = 0; k < m->fault_count; ++k) {
        const fault_model *f = &m->faults[k];
        for (uint32_t i = f->first; i < f->last && f->def.kind == VY_FAULT_MOTOR_LAG; ++i) {
            if (!vy_fault_acts(m, f, i, tick, &began)) continue;
            if (!any) memcpy(world->faulty, m->params, m->drone_count * sizeof m->params[0]);
            any = 1;
            multirotor_params *plant = &world->faulty[i].plant;
            plant->rotor.decay_half = plant->shape.fall_half = f->decay_half;
            plant->rotor.decay_full = plant->shape.fall_full = f->decay_full;
        }
    }
    if (!any) return m;
    world->slow = *m;
    world->slow.params = world->faulty;
    return &world->slow;
}

void vy_fault_remember(vy_world *world)
{
    const vy_model *m = &world->model;
    memcpy(world->before, world->drones, m->drone_count * sizeof(drone_block));
    memcpy(world->kits_before, world->kits, m->kit_count * sizeof(kit_block));
}

// --- samples

// A sample as numbers in a row, of any sensor; `*tick` is where its arrival stands.
static double *sample_of(int sensor, drone_block *d, kit_block *k, uint64_t **tick)
{
    VY_ASSERT(sensor >= 0 && sensor < KIT_SENSORS && (sensor >= KIT_OWN || k != NULL));
    if (sensor >= KIT_OWN) {
        *tick = sensor == KIT_IMU ? &d->imu_tick : &d->mocap_tick;
        return sensor == KIT_IMU ? &d->imu.accel.x : &d->mocap.position.x;
    }
    double *const samples[KIT_OWN] = {
        [KIT_BARO] = &k->baro.pressure,   [KIT_MAG] = &k->mag.field.x,     [KIT_GPS] = &k->gps.position.x,
        [KIT_RANGE] = &k->range.distance, [KIT_FLOW] = &k->flow.x,         [KIT_POWER] = &k->power.voltage,
        [KIT_ESC] = k->esc.speed,         [KIT_LIDAR] = k->lidar.distance,
    };
    *tick = &k->ticks[sensor];
    return samples[sensor];
}

// A fault, and the drone and step whose sample it changes.
typedef struct fault_target {
    const vy_model *m;
    const fault_model *f;
    uint32_t drone;
    uint64_t tick;
} fault_target;

// `amount` has a number for each that the channel is measured in: an attitude turns by three. What says that
// there is nothing to say goes on saying it, and no distance or rotor speed is below 0.
static void add_to(const fault_target *b, const double *amount, double *sample)
{
    const fault_channel *c = vy_fault_channel(b->f->def.channel);
    double *v = sample + c->at;
    VY_ASSERT(c->at + c->cells <= vy_kit_width(c->sensor) && c->axes <= c->cells);
    if (b->f->def.channel == VY_CHANNEL_ATTITUDE) {
        quat q = quat_make(v[0], v[1], v[2], v[3]);
        q = attitude_turned(q, vec3_make(amount[0], amount[1], amount[2]));
        memcpy(v, &q, sizeof q);
        return;
    }
    const int rays = c->sensor == KIT_RANGE || c->sensor == KIT_LIDAR;
    const int count = c->sensor == KIT_ESC ? b->m->drones[b->drone].layout.count : c->axes;
    if (c->sensor == KIT_FLOW && sample[2] == 0.0) return; // it has lost track
    for (int i = 0; i < count; ++i) {
        if (rays && v[i] == RAY_NOTHING) continue;
        v[i] += amount[i];
        if (rays || c->sensor == KIT_ESC) v[i] = real_max(v[i], 0.0);
    }
    if (c->sensor == KIT_BARO) sample[1] = baro_altitude(&b->m->env.air, sample[0]);
}

static void swap_axes(vy_channel channel, double *sample)
{
    double *x = sample + vy_fault_channel(channel)->at;
    VY_ASSERT(vy_fault_channel(channel)->width >= 2);
    if (channel == VY_CHANNEL_ATTITUDE) x += 1; // w stands before
    const double kept = x[0];
    x[0] = x[1];
    x[1] = kept;
}

// `before` is the sample of the step before.
static void distort(const fault_target *b, const double *before, double *sample)
{
    const vy_fault_def *def = &b->f->def;
    const fault_channel *c = vy_fault_channel(def->channel);
    double n[VY_RAY_CAP], amount[VY_RAY_CAP] = {0};
    const double each[3] = {def->vector.x, def->vector.y, def->vector.z};
    double wave = 1.0;
    if (def->kind == VY_FAULT_SENSOR_STUCK) {
        memcpy(sample + c->at, before + c->at, (size_t)c->cells * sizeof *sample);
        return;
    }
    if (def->kind == VY_FAULT_SENSOR_SWAP) {
        swap_axes(def->channel, sample);
        return;
    }
    if (def->kind == VY_FAULT_SENSOR_NOISE)
        rng_normals(b->m->seed, RNG_STREAM_FAULT, draw_index(b->f, b->drone, DRAW_NOISE), b->tick, n,
                    c->axes);
    if (def->kind == VY_FAULT_SENSOR_VIBRATION)
        wave = math_sin(6.283185307179586 * (def->frequency * ((double)b->tick * b->m->dt)));
    for (int i = 0; i < c->axes; ++i) {
        amount[i] = each[c->width > 1 && i < 3 ? i : 0];
        if (def->kind == VY_FAULT_SENSOR_NOISE) amount[i] *= n[i];
        if (def->kind == VY_FAULT_SENSOR_VIBRATION) amount[i] *= wave;
    }
    add_to(b, amount, sample);
}

static line_block *line_of(const fault_model *f, uint32_t drone, line_block *lines)
{
    VY_ASSERT(drone >= f->first && drone < f->last && f->places > 0);
    return &lines[f->line + (drone - f->first) * f->places];
}

static void put_on_line(const fault_model *f, uint32_t drone, uint64_t tick, line_block *lines,
                        const double *values, size_t count)
{
    VY_ASSERT(f->period > 0 && tick % f->period == 0 && count <= LINE_CELLS);
    line_block *put = &line_of(f, drone, lines)[tick / f->period % f->places];
    put->tick = tick;
    memcpy(put->values, values, count * sizeof values[0]);
}

// What was put on the line `delay` calls ago. Returns 0 when that is nothing, or older than `began`.
static int take_off_line(const fault_model *f, uint32_t drone, uint64_t tick, uint64_t began,
                         line_block *lines, double *values, size_t count)
{
    const uint64_t number = tick / f->period;
    VY_ASSERT(f->delay < f->places && count <= LINE_CELLS); // what is asked for has not been written over
    if (number < f->delay) return 0;
    const line_block *take = &line_of(f, drone, lines)[(number - f->delay) % f->places];
    if (take->tick != (number - f->delay) * f->period || take->tick < began || take->tick == 0) return 0;
    memcpy(values, take->values, count * sizeof values[0]);
    return 1;
}

// The way of a sample through all that is faulty, when one is due; `came`: the sensor has given one. Returns
// 0 when nothing arrives.
static int pass_sample(const vy_world *world, uint32_t drone, int sensor, int came, const double *before,
                       double *sample)
{
    const vy_model *m = &world->model;
    const uint64_t tick = world->state->tick;
    const size_t count = (size_t)vy_kit_width(sensor);
    int lost = 0;
    VY_ASSERT(drone < m->drone_count && count <= LINE_CELLS);
    for (uint32_t k = 0; k < m->fault_count; ++k) {
        const fault_model *f = &m->faults[k];
        if (!vy_fault_of_sensor(f->def.kind)) continue;
        if (drone < f->first || drone >= f->last || vy_fault_channel(f->def.channel)->sensor != sensor)
            continue;
        uint64_t began = 0;
        const int acts = vy_fault_acts(m, f, drone, tick, &began);
        if (f->def.kind == VY_FAULT_SENSOR_DELAY) {
            if (came) put_on_line(f, drone, tick, world->lines, sample, count);
            if (acts) came = take_off_line(f, drone, tick, began, world->lines, sample, count);
        } else if (acts && f->def.kind == VY_FAULT_SENSOR_DROPOUT) {
            lost |= draw(m, f, drone, DRAW_SHARE, tick, 0) < f->def.size;
        } else if (acts && came) {
            distort(&(fault_target){m, f, drone, tick}, before, sample);
        }
    }
    return came && !lost;
}

void vy_fault_samples(vy_world *world)
{
    const vy_model *m = &world->model;
    const uint64_t tick = world->state->tick;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const uint32_t kit = m->drones[i].kit;
        kit_block *k = kit > 0 ? &world->kits[kit - 1] : NULL;
        kit_block *k_before = kit > 0 ? &world->kits_before[kit - 1] : NULL;
        for (int sensor = k != NULL ? 0 : KIT_OWN; sensor < KIT_SENSORS; ++sensor) {
            if (!due(tick, vy_sensor_period(m, i, sensor))) continue;
            uint64_t *at, *at_before;
            double *sample = sample_of(sensor, &world->drones[i], k, &at);
            const double *before = sample_of(sensor, &world->before[i], k_before, &at_before);
            if (pass_sample(world, i, sensor, *at == tick, before, sample)) {
                *at = tick;
            } else { // what the controller has is what it had; the sensor itself goes on
                memcpy(sample, before, (size_t)vy_kit_width(sensor) * sizeof *sample);
                *at = *at_before;
            }
        }
    }
}

// --- replies

#define COMMAND_CELLS (2 + sizeof(control_state) / sizeof(double))
_Static_assert(sizeof(control_state) % sizeof(double) == 0, "cells alone");
_Static_assert(VY_DROP_CAP <= 53, "a wish to let go is a whole number as a double");
_Static_assert(COMMAND_CELLS <= LINE_CELLS, "a reply fits on a line");

// A reply on a line: the rung, then what is wanted, then payloads to let go. What the loops remember stays
// where it is.
static void pack_command(const drone_block *d, uint64_t release_request, double *values)
{
    values[0] = (double)d->rung;
    memcpy(values + 1, &d->control, sizeof d->control);
    values[COMMAND_CELLS - 1] = (double)release_request; // of few bits: VY_DROP_CAP
}

static void unpack_command(const double *values, drone_block *d, uint64_t *release_request)
{
    *release_request = (uint64_t)values[COMMAND_CELLS - 1];
    const control_state own = d->control;
    d->rung = (uint64_t)values[0];
    memcpy(&d->control, values + 1, sizeof d->control);
    d->control.integral = own.integral;
    d->control.speed = own.speed;
    d->control.heading = own.heading;
    d->control.indi = own.indi;
}

// Returns 0 when nothing arrives.
static int pass_command(const vy_model *m, uint64_t tick, uint32_t drone, const drone_block *before,
                        line_block *lines, drone_block *d, uint64_t *release_request)
{
    double values[LINE_CELLS];
    int arrives = 1;
    for (uint32_t k = 0; k < m->fault_count; ++k) {
        const fault_model *f = &m->faults[k];
        if (f->def.kind != VY_FAULT_COMMAND_LOSS && f->def.kind != VY_FAULT_COMMAND_DELAY) continue;
        if (drone < f->first || drone >= f->last) continue;
        uint64_t began = 0;
        const int acts = vy_fault_acts(m, f, drone, tick, &began);
        if (f->def.kind == VY_FAULT_COMMAND_DELAY) {
            pack_command(d, *release_request, values);
            put_on_line(f, drone, tick, lines, values, COMMAND_CELLS);
            if (!acts) continue;
            if (!take_off_line(f, drone, tick, began, lines, values, COMMAND_CELLS))
                arrives = 0;
            else
                unpack_command(values, d, release_request);
        } else if (acts && draw(m, f, drone, DRAW_SHARE, tick, 0) < f->def.size) {
            arrives = 0;
        }
    }
    if (!arrives) {
        pack_command(before, 0, values);
        unpack_command(values, d, release_request);
    }
    return arrives;
}

void vy_fault_commands(vy_world *world)
{
    const vy_model *m = &world->model;
    const uint64_t tick = world->state->tick;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        if (!due(tick, m->drones[i].control_period)) continue;
        uint64_t none = 0,
                 *release_request = world->release_requests != NULL ? &world->release_requests[i] : &none;
        if (!pass_command(m, tick, i, &world->before[i], world->lines, &world->drones[i], release_request))
            vy_guard_mark(world, i, 0);
    }
}
