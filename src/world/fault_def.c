// fault_def.c - faults as declared: defaults, checks, constants.
#include "base/fail.h"
#include "base/assert.h"
#include "base/finite.h"
#include "base/math.h"
#include "world/fault.h"
#include "world/build.h"
#include "world/kit.h"
#include "world/world_def.h"
#include <math.h>

#define FAULT_COOKIE 0x76796c35u
#define VECTOR_MOST  1e15 // so that no sum of them is infinite

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

const fault_channel *vy_fault_channel(vy_channel channel)
{
    static const fault_channel channels[VY_CHANNEL_COUNT] = {
        [VY_CHANNEL_ACCEL] = {"accel", "imu", KIT_IMU, 0, 3, 3, 3},
        [VY_CHANNEL_GYRO] = {"gyro", "imu", KIT_IMU, 3, 3, 3, 3},
        [VY_CHANNEL_POSITION] = {"position", "mocap", KIT_MOCAP, 0, 3, 3, 3},
        [VY_CHANNEL_ATTITUDE] = {"attitude", "mocap", KIT_MOCAP, 3, 4, 3, 3},
        [VY_CHANNEL_BARO] = {"baro", "baro", KIT_BARO, 0, 2, 1, 1},
        [VY_CHANNEL_MAG] = {"mag", "mag", KIT_MAG, 0, 3, 3, 3},
        [VY_CHANNEL_GPS_POSITION] = {"gps_position", "gps", KIT_GPS, 0, 3, 3, 3},
        [VY_CHANNEL_GPS_VELOCITY] = {"gps_velocity", "gps", KIT_GPS, 3, 3, 3, 3},
        [VY_CHANNEL_RANGE] = {"range", "range", KIT_RANGE, 0, 1, 1, 1},
        [VY_CHANNEL_FLOW] = {"flow", "flow", KIT_FLOW, 0, 3, 2, 2},
        [VY_CHANNEL_VOLTAGE] = {"voltage", "power", KIT_POWER, 0, 1, 1, 1},
        [VY_CHANNEL_CURRENT] = {"current", "power", KIT_POWER, 1, 1, 1, 1},
        [VY_CHANNEL_ESC] = {"esc", "esc", KIT_ESC, 0, VY_ROTOR_CAP, VY_ROTOR_CAP, 1},
        [VY_CHANNEL_LIDAR] = {"lidar", "lidar", KIT_LIDAR, 0, VY_RAY_CAP, VY_RAY_CAP, 1},
    };
    VY_ASSERT((unsigned)channel < VY_CHANNEL_COUNT && channels[channel].name != NULL);
    return &channels[channel];
}

const char *vy_channel_name(vy_channel channel)
{
    return (unsigned)channel < VY_CHANNEL_COUNT ? vy_fault_channel(channel)->name : "unknown";
}

int vy_channel_width(vy_channel channel)
{
    return (unsigned)channel < VY_CHANNEL_COUNT ? vy_fault_channel(channel)->width : 0;
}

int vy_fault_of_sensor(vy_fault_kind kind)
{
    return kind >= VY_FAULT_SENSOR_BIAS && kind <= VY_FAULT_SENSOR_DELAY;
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
    if ((unsigned)def->kind > VY_FAULT_BATTERY || (unsigned)def->channel >= VY_CHANNEL_COUNT)
        return vy_fail(err, VY_BAD_VALUE, "fault: unknown kind or channel");
    if (def->kind == VY_FAULT_SENSOR_SWAP && vy_channel_width(def->channel) < 2)
        return vy_fail(err, VY_BAD_VALUE,
                       "fault sensor_swap: %s has no x and y to exchange; accel, gyro, position, attitude, "
                       "mag, gps_position, gps_velocity and flow have",
                       vy_channel_name(def->channel));
    if (def->rotor < VY_ALL_ROTORS || def->rotor >= VY_ROTOR_CAP)
        return vy_fail(err, VY_BAD_VALUE, "fault.rotor must be a rotor's index, got %d", def->rotor);
    if (is_share(def->kind) && !(def->size >= 0.0 && def->size <= 1.0))
        return vy_fail(err, VY_BAD_VALUE, "fault.size of %s must be within 0 and 1, got %g",
                       vy_fault_name(def->kind), def->size);
    if (is_time(def->kind) && !(def->size >= 0.0 && def->size <= 10.0))
        return vy_fail(err, VY_BAD_VALUE, "fault.size of %s must be within 0 and 10 s, got %g",
                       vy_fault_name(def->kind), def->size);
    const double most =
        real_max(real_max(real_abs(def->vector.x), real_abs(def->vector.y)), real_abs(def->vector.z));
    if (!vy_all_finite(&def->vector.x, 3) || most > VECTOR_MOST)
        return vy_fail(err, VY_BAD_VALUE, "fault.vector must be finite and within %g", VECTOR_MOST);
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

// The period of the samples or replies that it is about; 0: the drone has none.
static uint64_t period_of(const vy_model *world, uint32_t drone, const vy_fault_def *def)
{
    if (!vy_fault_of_sensor(def->kind)) return world->drones[drone].control_period;
    return vy_sensor_period(world, drone, vy_fault_channel(def->channel)->sensor);
}

int vy_fault_concerns(const vy_model *m, const fault_model *f, uint32_t drone)
{
    VY_ASSERT(f->first <= f->last && f->last <= m->drone_count);
    if (drone < f->first || drone >= f->last) return 0;
    const int rotors = m->drones[drone].layout.count > 0;
    if (f->def.kind <= VY_FAULT_MOTOR_LAG) return rotors;
    if (f->def.kind == VY_FAULT_BATTERY) return rotors || m->params[drone].battery.capacity > 0.0;
    return period_of(m, drone, &f->def) > 0;
}

// Length and period of the delay line.
static vy_status lay_line(const vy_model *world, fault_model *f, vy_error *err)
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
    VY_ASSERT(f->period > 0); // somebody has what it delays
    f->delay = vy_tick_at(f->def.size, (double)f->period * world->dt);
    f->places = (uint32_t)f->delay + 1;
    return VY_OK;
}

vy_status vy_fault_fit(const vy_model *world, fault_model *f, vy_error *err)
{
    const vy_fault_def *def = &f->def;
    const int late = def->kind == VY_FAULT_SENSOR_DELAY || def->kind == VY_FAULT_COMMAND_DELAY;
    int have = 0;
    for (uint32_t i = f->first; i < f->last; ++i) {
        const int rotors = world->drones[i].layout.count;
        const int spared = rotors == 0 && def->drone.bits == 0; // a body among all has nothing to lose
        if (def->kind <= VY_FAULT_MOTOR_MAX && def->rotor >= rotors && !spared)
            return vy_fail(err, VY_BAD_VALUE, "fault.rotor is %d, but the drone has %d rotors", def->rotor,
                           rotors);
        have += vy_fault_concerns(world, f, i);
    }
    const char *who = def->drone.bits != 0 || f->last - f->first == 1 ? "the drone has no" : "no drone has";
    const char *name = vy_fault_name(def->kind);
    if (have == 0 && vy_fault_of_sensor(def->kind))
        return vy_fail(err, VY_BAD_VALUE, "fault %s of %s: %s sensor %s", name, vy_channel_name(def->channel),
                       who, vy_fault_channel(def->channel)->key);
    if (have == 0)
        return vy_fail(err, VY_BAD_VALUE, "fault %s: %s %s", name, who,
                       def->kind <= VY_FAULT_MOTOR_LAG || def->kind == VY_FAULT_BATTERY ? "rotors"
                                                                                        : "controller");
    return late ? lay_line(world, f, err) : VY_OK;
}
