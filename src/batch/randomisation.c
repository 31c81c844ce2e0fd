// randomisation.c - domain randomisation: rows of distributions, drawn from a world's own random stream.
#include "batch/randomisation.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/math.h"
#include "base/rng.h"
#include "base/vec.h"
#include "equations/turbulence.h"

enum { EPISODE_INDEX = 0x7fff0000 }; // far from any variable

static const struct {
    const char *name;
    int is_factor; // the declared value is multiplied by what is drawn, rather than added
} variables[] = {
#define X(name, text, is_factor) {text, is_factor},
    VY_VARIABLE_LIST(X)
#undef X
};

const char *vy_variable_name(int variable)
{
    return variable >= 0 && variable < VY_VARIABLE_COUNT ? variables[variable].name : NULL;
}

uint64_t vy_episode_seed(uint64_t base, uint64_t episode)
{
    if (episode == 0) return base;
    uint64_t words[4];
    rng_words(base, RNG_STREAM_PARAMETER, EPISODE_INDEX, episode, 0, words);
    return words[0] << 32 | words[1];
}

static int is_wind(vy_variable variable)
{
    return variable >= VY_VARIABLE_WIND_X && variable <= VY_VARIABLE_WIND_Z;
}

vy_status vy_check_randomisation(const vy_randomisation *row, const vy_scenario *scenario, vy_error *err)
{
    if ((unsigned)row->variable >= VY_VARIABLE_COUNT)
        return vy_fail(err, VY_BAD_VALUE, "randomisation: no such variable");
    const char *name = variables[row->variable].name;
    if ((unsigned)row->distribution > VY_DISTRIBUTION_LOG_UNIFORM)
        return vy_fail(err, VY_BAD_VALUE, "randomisation %s: the distribution must be uniform, normal or log",
                       name);
    if (!real_is_finite(row->a) || !real_is_finite(row->b))
        return vy_fail(err, VY_BAD_VALUE, "randomisation %s: both numbers must be finite", name);
    if (row->drone != VY_EVERY_DRONE && (row->drone < 0 || row->drone >= scenario->drone_count))
        return vy_fail(err, VY_BAD_VALUE, "randomisation %s: there is no drone %d", name, row->drone);
    const int is_normal = row->distribution == VY_DISTRIBUTION_NORMAL;
    if (is_normal ? row->b < 0.0 : row->b < row->a) {
        return vy_fail(err, VY_BAD_VALUE,
                       is_normal ? "randomisation %s: the deviation must be at least 0"
                                 : "randomisation %s: the range must not end before it begins",
                       name);
    }
    const double lowest = is_normal ? row->a - NORMAL_DEVIATE_MAX * row->b : row->a;
    if ((variables[row->variable].is_factor || row->distribution == VY_DISTRIBUTION_LOG_UNIFORM) &&
        !(lowest > 0.0))
        return vy_fail(err, VY_BAD_VALUE, "randomisation %s: every factor drawn must be above 0", name);
    return VY_OK;
}

static double draw_value(const vy_randomisation *row, uint64_t seed, uint32_t drone)
{
    VY_ASSERT((unsigned)row->variable < VY_VARIABLE_COUNT && drone < 1u << 20);
    const uint64_t index = (uint64_t)row->variable << 20 | (is_wind(row->variable) ? 0 : drone);
    double x;
    if (row->distribution == VY_DISTRIBUTION_NORMAL) {
        rng_normals(seed, RNG_STREAM_PARAMETER, index, 0, &x, 1);
        return row->a + row->b * x;
    }
    rng_uniforms(seed, RNG_STREAM_PARAMETER, index, 0, &x, 1);
    if (row->distribution == VY_DISTRIBUTION_LOG_UNIFORM)
        return row->a * math_exp(x * math_log(row->b / row->a));
    return row->a + x * (row->b - row->a);
}

static quat quat_about_axis(int axis, double angle)
{
    double s, c;
    math_sincos(0.5 * angle, &s, &c);
    return quat_make(c, axis == 0 ? s : 0.0, axis == 1 ? s : 0.0, axis == 2 ? s : 0.0);
}

static void apply_variable(vy_variable variable, double x, vy_drone_def *def)
{
    vy_vehicle_def *v = &def->vehicle;
    switch (variable) {
    case VY_VARIABLE_MASS: v->mass *= x; break;
    case VY_VARIABLE_INERTIA:
        for (int k = 0; k < 9; ++k) v->inertia.m[k / 3][k % 3] *= x;
        break;
    case VY_VARIABLE_THRUST: v->thrust_coef *= x; break;
    case VY_VARIABLE_TORQUE: v->torque_coef *= x; break;
    case VY_VARIABLE_LAG: v->motor_lag *= x; break;
    case VY_VARIABLE_DRAG:
        v->drag_linear = vec3_scale(x, v->drag_linear);
        v->cd *= x;
        break;
    case VY_VARIABLE_IMU_NOISE:
        def->imu.accel_noise *= x;
        def->imu.gyro_noise *= x;
        def->imu.accel_bias *= x;
        def->imu.gyro_bias *= x;
        def->imu.accel_drift *= x;
        def->imu.gyro_drift *= x;
        break;
    case VY_VARIABLE_MOCAP_NOISE:
        def->mocap.position_noise *= x;
        def->mocap.attitude_noise *= x;
        break;
    case VY_VARIABLE_X: def->position.x += x; break;
    case VY_VARIABLE_Y: def->position.y += x; break;
    case VY_VARIABLE_Z: def->position.z += x; break;
    case VY_VARIABLE_VELOCITY_X: def->velocity.x += x; break;
    case VY_VARIABLE_VELOCITY_Y: def->velocity.y += x; break;
    case VY_VARIABLE_VELOCITY_Z: def->velocity.z += x; break;
    case VY_VARIABLE_ROLL: def->attitude = quat_mul(def->attitude, quat_about_axis(0, x)); break;
    case VY_VARIABLE_PITCH: def->attitude = quat_mul(def->attitude, quat_about_axis(1, x)); break;
    case VY_VARIABLE_YAW: def->attitude = quat_mul(def->attitude, quat_about_axis(2, x)); break;
    case VY_VARIABLE_RATE_X: def->rate.x += x; break;
    case VY_VARIABLE_RATE_Y: def->rate.y += x; break;
    case VY_VARIABLE_RATE_Z: def->rate.z += x; break;
    default: break; // wind is the world's
    }
}

void vy_randomise_drone(const vy_randomisation *rows, int count, uint64_t seed, uint32_t drone,
                        vy_drone_def *def)
{
    for (int k = 0; k < count; ++k) {
        const vy_randomisation *row = &rows[k];
        if (is_wind(row->variable) || (row->drone != VY_EVERY_DRONE && row->drone != (int)drone)) continue;
        apply_variable(row->variable, draw_value(row, seed, drone), def);
    }
}

vy_vec3 vy_randomise_wind(const vy_randomisation *rows, int count, uint64_t seed, vy_vec3 wind)
{
    double *const axes[3] = {&wind.x, &wind.y, &wind.z};
    VY_ASSERT(count >= 0 && count <= VY_RANDOMISATION_CAP);
    for (int k = 0; k < count; ++k) {
        if (is_wind(rows[k].variable))
            *axes[rows[k].variable - VY_VARIABLE_WIND_X] += draw_value(&rows[k], seed, 0);
    }
    return wind;
}
