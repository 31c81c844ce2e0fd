// parameter.c - what a fit may change, as numbers around the base.
#include "fit/parameter.h"
#include "base/assert.h"
#include "base/math.h"
#include "base/vec.h"

const fit_parameter vy_fit_parameters[FIT_PARAMETER_COUNT] = {
    [FIT_THRUST_COEF] = {"thrust_coef", "N s^2", 1, 0.5},
    [FIT_THRUST_LINEAR] = {"thrust_linear", "N s", 0, 2.0},
    [FIT_INERTIA_X] = {"inertia x", "kg m^2", 1, 1.0},
    [FIT_INERTIA_Y] = {"inertia y", "kg m^2", 1, 1.0},
    [FIT_INERTIA_Z] = {"inertia z", "kg m^2", 1, 5.0},
    [FIT_TORQUE] = {"torque over thrust", "m", 1, 1.0},
    [FIT_ROTOR_INERTIA] = {"rotor_air.inertia", "kg m^2", 0, 1.0},
    [FIT_LAG_UP] = {"motor_lag", "s", 1, 1.0},
    [FIT_LAG_DOWN] = {"motor_lag_down", "s", 1, 1.2},
    [FIT_DRAG_X] = {"drag_linear x", "N s/m", 0, 1.0},
    [FIT_DRAG_Y] = {"drag_linear y", "N s/m", 0, 1.0},
    [FIT_DRAG_Z] = {"drag_linear z", "N s/m", 0, 1.0},
    [FIT_ROTOR_DRAG] = {"rotor_air.drag", "kg", 0, 2.0},
    [FIT_CENTRE_X] = {"centre_of_mass x", "m", 0, 1.0},
    [FIT_CENTRE_Y] = {"centre_of_mass y", "m", 0, 1.0},
    [FIT_CENTRE_Z] = {"centre_of_mass z", "m", 0, 3.0},
    [FIT_CANT] = {"rotors' lean", "rad", 0, 2.0},
    [FIT_IMU_DELAY] = {"imu delay", "s", 0, 3.0},
    [FIT_POSE_DELAY] = {"pose delay", "s", 0, 1.0},
    [FIT_ACCEL_DELAY] = {"accel delay", "s", 0, 3.0},
    [FIT_ACCEL_X] = {"accel offset x", "m/s^2", 0, 1.0},
    [FIT_ACCEL_Y] = {"accel offset y", "m/s^2", 0, 1.0},
    [FIT_ACCEL_Z] = {"accel offset z", "m/s^2", 0, 1.0},
    [FIT_GYRO_X] = {"gyro offset x", "rad/s", 0, 1.0},
    [FIT_GYRO_Y] = {"gyro offset y", "rad/s", 0, 1.0},
    [FIT_GYRO_Z] = {"gyro offset z", "rad/s", 0, 1.0},
};

#define LAG_START 0.02 // [s] for a base with ideal motors
#define RATIO_MAX 3.0  // of a logarithm: a factor of 20

static double arm_of(const vy_vehicle_def *v)
{
    double arm = 1e-6;
    for (int i = 0; i < v->rotor_count; ++i) {
        const vec3 p = vec3_sub(v->rotors[i].position, v->centre_of_mass);
        arm = real_max(arm, real_sqrt(p.x * p.x + p.y * p.y));
    }
    return arm;
}

fit_point vy_fit_start(const vy_vehicle_def *base, double mass)
{
    fit_point p;
    memset(&p, 0, sizeof p);
    p.vehicle = *base;
    p.vehicle.mass = mass;
    if (p.vehicle.motor_lag == 0.0) p.vehicle.motor_lag = LAG_START;
    if (p.vehicle.motor_lag_down == 0.0) p.vehicle.motor_lag_down = p.vehicle.motor_lag;
    return p;
}

double vy_fit_scale(int id, const fit_point *base)
{
    const vy_vehicle_def *v = &base->vehicle;
    switch ((fit_parameter_id)id) {
    case FIT_THRUST_LINEAR: return v->thrust_coef * v->speed_max;
    case FIT_INERTIA_Z: return 0.2; // shapes of vehicles differ little
    case FIT_ROTOR_INERTIA: return 2e-3 * v->inertia.m[2][2];
    case FIT_DRAG_X:
    case FIT_DRAG_Y:
    case FIT_DRAG_Z: return 0.3 * v->mass;
    case FIT_ROTOR_DRAG: return 0.6 * v->mass / (v->rotor_count * v->speed_max);
    case FIT_CENTRE_X:
    case FIT_CENTRE_Y:
    case FIT_CENTRE_Z: return 0.2 * arm_of(v);
    case FIT_CANT: return 0.05;
    case FIT_IMU_DELAY:
    case FIT_POSE_DELAY:
    case FIT_ACCEL_DELAY: return 0.02;
    case FIT_ACCEL_X:
    case FIT_ACCEL_Y:
    case FIT_ACCEL_Z: return 0.3;
    case FIT_GYRO_X:
    case FIT_GYRO_Y:
    case FIT_GYRO_Z: return 0.05;
    default: return 1.0;
    }
}

double vy_fit_prior(int id) { return id >= FIT_ACCEL_X && id <= FIT_GYRO_Z ? 1.0 : 0.0; }

double vy_fit_value(int id, const fit_point *p)
{
    const vy_vehicle_def *v = &p->vehicle;
    switch ((fit_parameter_id)id) {
    case FIT_THRUST_COEF: return v->thrust_coef;
    case FIT_THRUST_LINEAR: return v->thrust_linear;
    case FIT_INERTIA_X: return v->inertia.m[0][0];
    case FIT_INERTIA_Y: return v->inertia.m[1][1];
    case FIT_INERTIA_Z: return v->inertia.m[2][2];
    case FIT_TORQUE: return v->torque_coef / v->thrust_coef;
    case FIT_ROTOR_INERTIA: return v->rotor_air.inertia;
    case FIT_LAG_UP: return v->motor_lag;
    case FIT_LAG_DOWN: return v->motor_lag_down;
    case FIT_DRAG_X: return v->drag_linear.x;
    case FIT_DRAG_Y: return v->drag_linear.y;
    case FIT_DRAG_Z: return v->drag_linear.z;
    case FIT_ROTOR_DRAG: return v->rotor_air.drag;
    case FIT_CENTRE_X: return v->centre_of_mass.x;
    case FIT_CENTRE_Y: return v->centre_of_mass.y;
    case FIT_CENTRE_Z: return v->centre_of_mass.z;
    case FIT_CANT: return p->cant;
    case FIT_IMU_DELAY: return p->imu_delay;
    case FIT_POSE_DELAY: return p->pose_delay;
    case FIT_ACCEL_DELAY: return p->accel_delay;
    case FIT_ACCEL_X: return p->accel_offset.x;
    case FIT_ACCEL_Y: return p->accel_offset.y;
    case FIT_ACCEL_Z: return p->accel_offset.z;
    case FIT_GYRO_X: return p->gyro_offset.x;
    case FIT_GYRO_Y: return p->gyro_offset.y;
    case FIT_GYRO_Z: return p->gyro_offset.z;
    default: break;
    }
    VY_ASSERT(0);
    return 0.0;
}

// Every rotor's axis turned around its arm: the thrust then turns the vehicle about z.
static void cant_rotors(vy_vehicle_def *v, double cant)
{
    for (int i = 0; i < v->rotor_count; ++i) {
        const vec3 arm = vec3_sub(v->rotors[i].position, v->centre_of_mass);
        const double length = real_sqrt(arm.x * arm.x + arm.y * arm.y);
        vec3 axis = v->rotors[i].axis;
        if (axis.x == 0.0 && axis.y == 0.0 && axis.z == 0.0) axis.z = 1.0;
        if (cant == 0.0 || length == 0.0) continue;
        axis.x -= cant * arm.y / length;
        axis.y += cant * arm.x / length;
        v->rotors[i].axis = axis;
    }
}

fit_point vy_fit_at(const fit_point *base, const double *x)
{
    fit_point p = *base;
    vy_vehicle_def *v = &p.vehicle;
    double factor[FIT_PARAMETER_COUNT], value[FIT_PARAMETER_COUNT];
    for (int i = 0; i < FIT_PARAMETER_COUNT; ++i) {
        factor[i] = vy_fit_parameters[i].is_ratio
                        ? math_exp(real_clamp(x[i] * vy_fit_scale(i, base), -RATIO_MAX, RATIO_MAX))
                        : 1.0;
        value[i] = vy_fit_value(i, base) + x[i] * vy_fit_scale(i, base);
    }
    const double torque = factor[FIT_TORQUE] * (v->torque_coef / v->thrust_coef);
    v->thrust_coef *= factor[FIT_THRUST_COEF];
    v->torque_coef = torque * v->thrust_coef;
    v->thrust_linear = value[FIT_THRUST_LINEAR];
    // Products of inertia keep their share of the moments between which they are.
    const mat3 base_inertia = v->inertia;
    const double izz_share = base_inertia.m[2][2] / (base_inertia.m[0][0] + base_inertia.m[1][1]);
    double moment_factor[3] = {factor[FIT_INERTIA_X], factor[FIT_INERTIA_Y], 0.0};
    const double xy_moments =
        moment_factor[0] * base_inertia.m[0][0] + moment_factor[1] * base_inertia.m[1][1];
    moment_factor[2] = factor[FIT_INERTIA_Z] * izz_share * xy_moments / base_inertia.m[2][2];
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c)
            v->inertia.m[r][c] = r == c
                                     ? moment_factor[r] * base_inertia.m[r][c]
                                     : real_sqrt(moment_factor[r] * moment_factor[c]) * base_inertia.m[r][c];
    }
    v->rotor_air.inertia = value[FIT_ROTOR_INERTIA];
    v->motor_lag *= factor[FIT_LAG_UP];
    v->motor_lag_down *= factor[FIT_LAG_DOWN];
    v->drag_linear = vec3_make(value[FIT_DRAG_X], value[FIT_DRAG_Y], value[FIT_DRAG_Z]);
    v->rotor_air.drag = value[FIT_ROTOR_DRAG];
    v->centre_of_mass = vec3_make(value[FIT_CENTRE_X], value[FIT_CENTRE_Y], value[FIT_CENTRE_Z]);
    p.cant = value[FIT_CANT];
    cant_rotors(v, p.cant);
    p.imu_delay = value[FIT_IMU_DELAY];
    p.pose_delay = value[FIT_POSE_DELAY];
    p.accel_delay = value[FIT_ACCEL_DELAY];
    p.accel_offset = vec3_make(value[FIT_ACCEL_X], value[FIT_ACCEL_Y], value[FIT_ACCEL_Z]);
    p.gyro_offset = vec3_make(value[FIT_GYRO_X], value[FIT_GYRO_Y], value[FIT_GYRO_Z]);
    return p;
}
