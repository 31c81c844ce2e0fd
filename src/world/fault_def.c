// fault_def.c - faults as declared: defaults, checks, constants.
#include "base/fail.h"
#include "base/finite.h"
#include "base/math.h"
#include "world/fault.h"
#include "world/build.h"
#include "world/kit.h"
#include "world/world_def.h"
#include <math.h>

#define FAULT_COOKIE 0x76796c35u

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

static int is_share(vy_fault_kind kind)
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
    if ((unsigned)def->kind > VY_FAULT_BATTERY || (unsigned)def->channel > VY_CHANNEL_ATTITUDE)
        return vy_fail(err, VY_BAD_VALUE, "fault: unknown kind or channel");
    if (def->rotor < VY_ALL_ROTORS || def->rotor >= VY_ROTOR_CAP)
        return vy_fail(err, VY_BAD_VALUE, "fault.rotor must be a rotor's index, got %d", def->rotor);
    if (is_share(def->kind) && !(def->size >= 0.0 && def->size <= 1.0))
        return vy_fail(err, VY_BAD_VALUE, "fault.size of %s must be within 0 and 1, got %g",
                       vy_fault_name(def->kind), def->size);
    if (is_time(def->kind) && !(def->size >= 0.0 && def->size <= 10.0))
        return vy_fail(err, VY_BAD_VALUE, "fault.size of %s must be within 0 and 10 s, got %g",
                       vy_fault_name(def->kind), def->size);
    if (!vy_all_finite(&def->vector.x, 3)) return vy_fail(err, VY_BAD_VALUE, "fault.vector must be finite");
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
    out->speed_share =
        def->kind == VY_FAULT_MOTOR_WEAK ? real_sqrt(def->size) : 0.0; // thrust goes as speed squared
    const double lag = def->size;
    if (def->kind == VY_FAULT_MOTOR_LAG && lag > 0.0) {
        out->decay_half = math_exp(-0.5 * world->dt / lag);
        out->decay_full = math_exp(-world->dt / lag);
    }
}

// The period of the samples or replies that a line carries; 0: the drone has none.
static uint64_t period_of(const vy_model *world, uint32_t drone, const vy_fault_def *def)
{
    if (def->kind == VY_FAULT_COMMAND_DELAY) return world->drones[drone].control_period;
    const int imu = def->channel == VY_CHANNEL_ACCEL || def->channel == VY_CHANNEL_GYRO;
    return vy_sensor_period(world, drone, imu ? KIT_IMU : KIT_MOCAP);
}

vy_status vy_fault_lay_line(const vy_model *world, fault_model *f, vy_error *err)
{
    if (f->def.kind != VY_FAULT_SENSOR_DELAY && f->def.kind != VY_FAULT_COMMAND_DELAY) return VY_OK;
    f->period = 0;
    for (uint32_t i = f->first; i < f->last; ++i) {
        const uint64_t period = period_of(world, i, &f->def);
        if (period == 0)
            return vy_fail(err, VY_BAD_VALUE, "fault %s: a drone has nothing that could be late",
                           vy_fault_name(f->def.kind));
        if (f->period != 0 && f->period != period)
            return vy_fail(err, VY_BAD_VALUE,
                           "fault %s: its drones have different periods: give each its own",
                           vy_fault_name(f->def.kind));
        f->period = period;
    }
    if (f->period == 0) f->period = 1;
    f->delay = vy_tick_at(f->def.size, (double)f->period * world->dt);
    f->places = (uint32_t)f->delay + 1;
    return VY_OK;
}
