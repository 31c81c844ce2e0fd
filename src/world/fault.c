// fault.c - faults: which act when, and what they do to motors, samples and replies.
//
// Everything random is a function of seed, fault, drone and step, so a fault remembers nothing but what is on
// its way through a delay line.
#include "world/fault.h"
#include "base/fail.h"
#include "base/finite.h"
#include "base/math.h"
#include "base/rng.h"
#include "world/build.h"
#include "world/guard.h"
#include "world/world_def.h"
#include "world/world_impl.h"

// Parts of the fault's random stream: draws of one part move no other.
enum { DRAW_SCHEDULE, DRAW_SHARE, DRAW_NOISE, DRAW_PARTS };

static uint64_t draw_index(const fault_model *f, uint32_t drone, int part)
{
    // Faults < 2^10, drones < 2^20.
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
        room = f->every - f->length;
        if (draw(m, f, drone, DRAW_SCHEDULE, piece, 1) >= f->def.chance) return 0;
    }
    if (room > 0) begin += (uint64_t)(draw(m, f, drone, DRAW_SCHEDULE, piece, 0) * (double)room);
    *began = begin;
    return 1;
}

int vy_fault_acts(const vy_model *m, const fault_model *f, uint32_t drone, uint64_t tick, uint64_t *began)
{
    if (tick < f->start || drone < f->first || drone >= f->last) return 0;
    const uint64_t piece = f->every > 0 ? (tick - f->start) / f->every : 0;
    return begins(m, f, drone, piece, began) && tick >= *began && tick - *began < f->length;
}

uint64_t vy_fault_count(const vy_model *m, const fault_model *f, uint32_t drone, uint64_t tick)
{
    if (tick < f->start || drone < f->first || drone >= f->last) return 0;
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
}

// --- samples

// The sensors whose samples arrive as a whole.
typedef enum fault_sensor { FAULT_IMU, FAULT_MOCAP } fault_sensor;

static int is_of(vy_channel channel, fault_sensor sensor)
{
    const int imu = channel == VY_CHANNEL_ACCEL || channel == VY_CHANNEL_GYRO;
    return imu == (sensor == FAULT_IMU);
}

// A channel as three numbers: an attitude is the small turn from that of `from`.
static vec3 *channel_of(vy_channel channel, drone_block *d)
{
    switch (channel) {
    case VY_CHANNEL_ACCEL: return &d->imu.accel;
    case VY_CHANNEL_GYRO: return &d->imu.gyro;
    default: return &d->mocap.position;
    }
}

static void add_to_channel(vy_channel channel, vec3 amount, drone_block *d)
{
    if (channel == VY_CHANNEL_ATTITUDE) {
        d->mocap.attitude = attitude_turned(d->mocap.attitude, amount);
    } else {
        vec3 *v = channel_of(channel, d);
        *v = vec3_add(*v, amount);
    }
}

static void stick(vy_channel channel, const drone_block *before, drone_block *d)
{
    if (channel == VY_CHANNEL_ACCEL) d->imu.accel = before->imu.accel;
    if (channel == VY_CHANNEL_GYRO) d->imu.gyro = before->imu.gyro;
    if (channel == VY_CHANNEL_POSITION) d->mocap.position = before->mocap.position;
    if (channel == VY_CHANNEL_ATTITUDE) d->mocap.attitude = before->mocap.attitude;
}

static void swap_axes(vy_channel channel, drone_block *d)
{
    if (channel == VY_CHANNEL_ATTITUDE) {
        const quat q = d->mocap.attitude;
        d->mocap.attitude = quat_make(q.w, q.y, q.x, q.z);
    } else {
        vec3 *v = channel_of(channel, d);
        *v = vec3_make(v->y, v->x, v->z);
    }
}

static void distort(const vy_model *m, const fault_model *f, uint32_t drone, uint64_t tick,
                    const drone_block *before, drone_block *d)
{
    double n[3];
    const vy_fault_def *def = &f->def;
    switch (def->kind) {
    case VY_FAULT_SENSOR_BIAS: add_to_channel(def->channel, def->vector, d); break;
    case VY_FAULT_SENSOR_NOISE:
        rng_normals(m->seed, RNG_STREAM_FAULT, draw_index(f, drone, DRAW_NOISE), tick, n, 3);
        add_to_channel(def->channel, vec3_mul(def->vector, vec3_make(n[0], n[1], n[2])), d);
        break;
    case VY_FAULT_SENSOR_VIBRATION:
        add_to_channel(
            def->channel,
            vec3_scale(math_sin(6.283185307179586 * (def->frequency * ((double)tick * m->dt))), def->vector),
            d);
        break;
    case VY_FAULT_SENSOR_STUCK: stick(def->channel, before, d); break;
    case VY_FAULT_SENSOR_SWAP: swap_axes(def->channel, d); break;
    default: break;
    }
}

// What travels on a line: the sample as a whole.
static double *sample_values(fault_sensor sensor, drone_block *d, size_t *count)
{
    *count = sensor == FAULT_IMU ? 6 : 7;
    return sensor == FAULT_IMU ? &d->imu.accel.x : &d->mocap.position.x;
}

// Put `values` on the line at `tick`, and take off what was put there `delay` calls ago. Returns 0 when that
// is nothing, or older than `began`.
static int through_line(const fault_model *f, uint32_t drone, uint64_t tick, uint64_t began, int acts,
                        line_block *lines, double *values, size_t count)
{
    line_block *line = &lines[f->line + (drone - f->first) * f->places];
    const uint64_t number = tick / f->period;
    line_block *put = &line[number % f->places];
    put->tick = tick;
    memcpy(put->values, values, count * sizeof values[0]);
    if (!acts) return 1;
    if (number < f->delay) return 0;
    const line_block *take = &line[(number - f->delay) % f->places];
    if (take->tick != (number - f->delay) * f->period || take->tick < began || take->tick == 0) return 0;
    memcpy(values, take->values, count * sizeof values[0]);
    return 1;
}

// Returns 0 when nothing arrives.
static int pass_sample(const vy_model *m, uint64_t tick, uint32_t drone, fault_sensor sensor,
                       const drone_block *before, line_block *lines, drone_block *d)
{
    int arrives = 1;
    for (uint32_t k = 0; k < m->fault_count; ++k) {
        const fault_model *f = &m->faults[k];
        if (f->def.kind < VY_FAULT_SENSOR_BIAS || f->def.kind > VY_FAULT_SENSOR_DELAY) continue;
        if (drone < f->first || drone >= f->last || !is_of(f->def.channel, sensor)) continue;
        uint64_t began = 0;
        const int acts = vy_fault_acts(m, f, drone, tick, &began);
        if (f->def.kind == VY_FAULT_SENSOR_DELAY) {
            size_t count;
            double *values = sample_values(sensor, d, &count);
            if (!through_line(f, drone, tick, began, acts, lines, values, count)) arrives = 0;
        } else if (acts && f->def.kind == VY_FAULT_SENSOR_DROPOUT) {
            if (draw(m, f, drone, DRAW_SHARE, tick, 0) < f->def.size) arrives = 0;
        } else if (acts) {
            distort(m, f, drone, tick, before, d);
        }
    }
    if (!arrives) { // what the controller has is what it had; the sensor itself goes on
        stick(sensor == FAULT_IMU ? VY_CHANNEL_ACCEL : VY_CHANNEL_POSITION, before, d);
        stick(sensor == FAULT_IMU ? VY_CHANNEL_GYRO : VY_CHANNEL_ATTITUDE, before, d);
    }
    return arrives;
}

void vy_fault_samples(vy_world *world)
{
    const vy_model *m = &world->model;
    const uint64_t tick = world->state->tick;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const drone_block *before = &world->before[i];
        drone_block *d = &world->drones[i];
        if (d->imu_tick == tick && !pass_sample(m, tick, i, FAULT_IMU, before, world->lines, d))
            d->imu_tick = before->imu_tick;
        if (d->mocap_tick == tick && !pass_sample(m, tick, i, FAULT_MOCAP, before, world->lines, d))
            d->mocap_tick = before->mocap_tick;
    }
}

// --- replies

_Static_assert(sizeof(control_state) <= (LINE_CELLS - 1) * sizeof(double), "a reply fits on a line");

// A reply on a line: the rung, then what is wanted. What the loops remember stays where it is.
static size_t pack_command(const drone_block *d, double *values)
{
    values[0] = (double)d->rung;
    memcpy(values + 1, &d->control, sizeof d->control);
    return 1 + sizeof d->control / sizeof(double);
}

static void unpack_command(const double *values, drone_block *d)
{
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
                        line_block *lines, drone_block *d)
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
            const size_t count = pack_command(d, values);
            if (!through_line(f, drone, tick, began, acts, lines, values, count))
                arrives = 0;
            else
                unpack_command(values, d);
        } else if (acts && draw(m, f, drone, DRAW_SHARE, tick, 0) < f->def.size) {
            arrives = 0;
        }
    }
    if (!arrives) {
        (void)pack_command(before, values);
        unpack_command(values, d);
    }
    return arrives;
}

void vy_fault_commands(vy_world *world)
{
    const vy_model *m = &world->model;
    const uint64_t tick = world->state->tick;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        if (!due(tick, m->drones[i].control_period)) continue;
        if (!pass_command(m, tick, i, &world->before[i], world->lines, &world->drones[i]))
            vy_guard_mark(world, i, 0);
    }
}
