// fault_def.c - faults as declared: defaults, checks, constants.
#include "base/fail.h"
#include "base/assert.h"
#include "base/finite.h"
#include "base/math.h"
#include "world/fault.h"
#include "world/build.h"
#include "world/sensor_suite.h"
#include "world/world_def.h"
#include <math.h>

#define FAULT_COOKIE 0x76796c35u
#define VECTOR_MAX   1e15 // so that no sum of them is infinite

vy_fault_def vy_default_fault_def(void)
{
    vy_fault_def def;
    memset(&def, 0, sizeof def);
    def.cookie = FAULT_COOKIE;
    def.rotor = VY_ALL_ROTORS;
    def.duration = HUGE_VAL;
    def.frequency = 100.0;
    def.chance = 1.0;
    return def;
}

const char *vy_fault_name(vy_fault_kind kind)
{
    static const char *const names[] = {
        "motor_loss",   "motor_weak",       "motor_max",     "motor_lag",   "sensor_bias",
        "sensor_noise", "sensor_vibration", "sensor_stuck",  "sensor_swap", "sensor_dropout",
        "sensor_delay", "command_loss",     "command_delay", "battery",
    };
    const unsigned index = (unsigned)kind;
    return index < sizeof names / sizeof names[0] ? names[index] : "unknown";
}

const char *vy_channel_name(vy_channel channel)
{
    return (unsigned)channel < VY_CHANNEL_COUNT ? vy_channels[channel].channel.name : "unknown";
}

int vy_channel_width(vy_channel channel)
{
    return (unsigned)channel < VY_CHANNEL_COUNT ? vy_channels[channel].channel.width : 0;
}

int vy_fault_is_sensor(vy_fault_kind kind)
{
    return kind >= VY_FAULT_SENSOR_BIAS && kind <= VY_FAULT_SENSOR_DELAY;
}

int vy_fault_is_motor(vy_fault_kind kind) { return kind <= VY_FAULT_MOTOR_LAG || kind == VY_FAULT_BATTERY; }

static int is_fraction(vy_fault_kind kind)
{
    return kind == VY_FAULT_MOTOR_WEAK || kind == VY_FAULT_MOTOR_MAX || kind == VY_FAULT_SENSOR_DROPOUT ||
           kind == VY_FAULT_COMMAND_LOSS || kind == VY_FAULT_BATTERY;
}

static int is_time(vy_fault_kind kind)
{
    return kind == VY_FAULT_MOTOR_LAG || kind == VY_FAULT_SENSOR_DELAY || kind == VY_FAULT_COMMAND_DELAY;
}

vy_status vy_check_fault_def(const vy_fault_def *def, vy_error *err)
{
    if (def->cookie != FAULT_COOKIE)
        return vy_fail(err, VY_BAD_VALUE, "fault: start from vy_default_fault_def()");
    if ((unsigned)def->kind > VY_FAULT_BATTERY || (unsigned)def->channel >= VY_CHANNEL_COUNT)
        return vy_fail(err, VY_BAD_VALUE, "fault: unknown kind or channel");
    if (def->kind == VY_FAULT_SENSOR_SWAP && vy_channel_width(def->channel) < 2)
        return vy_fail(err, VY_BAD_VALUE,
                       "fault sensor_swap: %s has no x and y to exchange; accel, gyro, position, attitude, "
                       "mag, gps_position, gps_velocity and flow have",
                       vy_channel_name(def->channel));
    if (def->rotor < VY_ALL_ROTORS || def->rotor >= VY_ROTOR_CAP)
        return vy_fail(err, VY_BAD_VALUE, "fault.rotor must be a rotor's index, got %d", def->rotor);
    if (is_fraction(def->kind) && !(def->size >= 0.0 && def->size <= 1.0))
        return vy_fail(err, VY_BAD_VALUE, "fault.size of %s must be within 0 and 1, got %g",
                       vy_fault_name(def->kind), def->size);
    if (is_time(def->kind) && !(def->size >= 0.0 && def->size <= 10.0))
        return vy_fail(err, VY_BAD_VALUE, "fault.size of %s must be within 0 and 10 s, got %g",
                       vy_fault_name(def->kind), def->size);
    const double max =
        real_max(real_max(real_abs(def->vector.x), real_abs(def->vector.y)), real_abs(def->vector.z));
    if (!vy_all_bounded(&def->vector.x, 3) || max > VECTOR_MAX)
        return vy_fail(err, VY_BAD_VALUE, "fault.vector must be finite and within %g", VECTOR_MAX);
    if (def->kind == VY_FAULT_SENSOR_VIBRATION && !(def->frequency > 0.0 && real_is_finite(def->frequency)))
        return vy_fail(err, VY_BAD_VALUE, "fault.frequency must be above 0 Hz, got %g", def->frequency);
    if (!(real_is_finite(def->start) && def->start >= 0.0) || !(def->duration > 0.0) ||
        !(real_is_finite(def->spread) && def->spread >= 0.0))
        return vy_fail(err, VY_BAD_VALUE, "fault: start and spread must be at least 0 s, duration above 0 s");
    if (!(real_is_finite(def->every) && def->every >= 0.0) || !(def->chance >= 0.0 && def->chance <= 1.0))
        return vy_fail(err, VY_BAD_VALUE, "fault: every must be at least 0 s, chance within 0 and 1");
    if (def->every > 0.0 && !(def->duration <= def->every))
        return vy_fail(err, VY_BAD_VALUE, "fault.duration must not be longer than every, %g s", def->every);
    if (def->every > 0.0 && def->spread > 0.0)
        return vy_fail(err, VY_BAD_VALUE, "fault: spread is for a fault that comes once; every has its own");
    return VY_OK;
}

void vy_fault_build(const vy_model *world, const vy_fault_def *def, fault_model *out)
{
    memset(out, 0, sizeof *out);
    out->def = *def;
    out->start = vy_tick_at(def->start, world->dt);
    out->length = vy_tick_at(def->duration, world->dt);
    if (out->length == 0) out->length = 1;
    out->spread = vy_tick_at(def->spread, world->dt);
    out->every = vy_tick_at(def->every, world->dt);
    if (out->every > 0 && out->length > out->every) out->length = out->every;
    out->speed_scale =
        def->kind == VY_FAULT_MOTOR_WEAK ? real_sqrt(def->size) : 0.0; // thrust goes as speed squared
    const double lag = def->size;
    if (def->kind == VY_FAULT_MOTOR_LAG && lag > 0.0) {
        out->decay_half = math_exp(-0.5 * world->dt / lag);
        out->decay_full = math_exp(-world->dt / lag);
    }
}

// The period of the samples or replies it changes; 0: the drone has none.
static uint64_t period_of(const vy_model *world, uint32_t drone, const vy_fault_def *def)
{
    if (!vy_fault_is_sensor(def->kind)) return world->drones[drone].control_period;
    return vy_sensor_period(world, drone, (int)vy_channels[def->channel].sensor);
}

int vy_fault_applies(const vy_model *m, const fault_model *f, uint32_t drone)
{
    VY_ASSERT(f->first <= f->last && f->last <= m->drone_count);
    if (drone < f->first || drone >= f->last) return 0;
    const int has_rotors = m->drones[drone].layout.count > 0;
    if (f->def.kind <= VY_FAULT_MOTOR_LAG) return has_rotors;
    if (f->def.kind == VY_FAULT_BATTERY) return has_rotors || m->params[drone].battery.capacity > 0.0;
    return period_of(m, drone, &f->def) > 0;
}

// Length and period of the delay line.
static vy_status build_delay_line(const vy_model *world, fault_model *f, vy_error *err)
{
    f->period = 0;
    for (uint32_t i = f->first; i < f->last; ++i) {
        const uint64_t period = period_of(world, i, &f->def);
        if (period == 0) continue;
        if (f->period != 0 && f->period != period)
            return vy_fail(err, VY_BAD_VALUE,
                           "fault %s: its drones have different periods: give each its own",
                           vy_fault_name(f->def.kind));
        f->period = period;
    }
    VY_ASSERT(f->period > 0); // some drone has what it delays
    f->delay = vy_tick_at(f->def.size, (double)f->period * world->dt);
    f->width = vy_fault_is_sensor(f->def.kind)
                   ? (uint32_t)vy_sensors[vy_channels[f->def.channel].sensor].width
                   : (uint32_t)COMMAND_CELLS;
    return VY_OK;
}

vy_status vy_fault_resolve(const vy_model *world, fault_model *f, vy_error *err)
{
    const vy_fault_def *def = &f->def;
    const int is_delay = def->kind == VY_FAULT_SENSOR_DELAY || def->kind == VY_FAULT_COMMAND_DELAY;
    int capable_count = 0;
    for (uint32_t i = f->first; i < f->last; ++i) {
        const int rotor_count = world->drones[i].layout.count;
        const int is_exempt = rotor_count == 0 && def->drone.bits == 0; // a body has nothing that can fail
        if (def->kind <= VY_FAULT_MOTOR_MAX && def->rotor >= rotor_count && !is_exempt)
            return vy_fail(err, VY_BAD_VALUE, "fault.rotor is %d, but the drone has %d rotors", def->rotor,
                           rotor_count);
        capable_count += vy_fault_applies(world, f, i);
    }
    const char *subject =
        def->drone.bits != 0 || f->last - f->first == 1 ? "the drone has no" : "no drone has";
    const char *name = vy_fault_name(def->kind);
    if (capable_count == 0 && vy_fault_is_sensor(def->kind))
        return vy_fail(err, VY_BAD_VALUE, "fault %s of %s: %s sensor %s", name, vy_channel_name(def->channel),
                       subject, vy_sensors[vy_channels[def->channel].sensor].type->name);
    if (capable_count == 0)
        return vy_fail(err, VY_BAD_VALUE, "fault %s: %s %s", name, subject,
                       def->kind <= VY_FAULT_MOTOR_LAG || def->kind == VY_FAULT_BATTERY ? "rotors"
                                                                                        : "controller");
    return is_delay ? build_delay_line(world, f, err) : VY_OK;
}
