// allocation.c - rows of the wrench and their least-norm inverse.
#include "vehicle/allocation.h"
#include "base/assert.h"
#include "base/fail.h"
#include "vehicle/thruster.h"

static void store(double out[3], vec3 v)
{
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

vec3 vy_axis_of(vec3 axis)
{
    const vec3 up = {0.0, 0.0, 1.0};
    const double length = vec3_length(axis);
    if (!(length > 0.0) || (axis.x == 0.0 && axis.y == 0.0 && axis.z > 0.0)) return up;
    return vec3_scale(1.0 / length, axis);
}

vec3 vy_rotor_axis(const vy_rotor_def *rotor) { return vy_axis_of(rotor->axis); }

rotor_layout vy_layout_build(const vy_vehicle_def *def)
{
    // r x F with F along +z is (y, -x, 0) T; a rotor turning counter-clockwise drags the body clockwise.
    // The documented rows are the same with pitch and yaw negated.
    const int is_documented = def->allocation == VY_ALLOCATION_DOCUMENTED;
    const double sign = is_documented ? -1.0 : 1.0;
    rotor_layout layout;
    memset(&layout, 0, sizeof layout);
    VY_ASSERT(def->rotor_count >= 0 && def->rotor_count <= ROTOR_CAP);
    layout.count = def->rotor_count;
    layout.general = def->thrust_linear != 0.0 || def->thrust_cubic != 0.0 || def->motor_lag_down != 0.0 ||
                     def->thruster_count > 0;
    vy_thruster_layout_build(def, &layout.thrusters);
    for (int i = 0; i < def->rotor_count; ++i) {
        const vy_rotor_def *rotor = &def->rotors[i];
        const vec3 hub = vec3_sub(rotor->position, def->centre_of_mass), axis = vy_rotor_axis(rotor);
        layout.roll[i] = hub.y;
        layout.pitch[i] = sign * -hub.x;
        layout.yaw[i] = sign * -(double)rotor->spin;
        layout.spin[i] = rotor->spin;
        store(layout.hub[i], hub);
        store(layout.axis[i], axis);
        const vec3 side_by_x =
            vec3_make(1.0 - axis.x * axis.x, -axis.x * axis.y, -axis.x * axis.z); // x across it
        const vec3 side_by_y = vec3_make(-axis.y * axis.x, 1.0 - axis.y * axis.y, -axis.y * axis.z);
        const vec3 side = real_abs(axis.x) < 0.9 ? side_by_x : side_by_y;
        store(layout.side[i], vec3_scale(1.0 / vec3_length(side), side));
        store(layout.lever[i],
              is_documented ? vec3_make(layout.roll[i], layout.pitch[i], 0.0) : vec3_cross(hub, axis));
        store(layout.reaction[i], vec3_scale(sign * -layout.spin[i], axis));
        layout.thrust_scale[i] = layout.torque_scale[i] = 1.0;
        if (rotor->thrust_coef > 0.0) layout.thrust_scale[i] = rotor->thrust_coef / def->thrust_coef;
        if (rotor->torque_coef > 0.0) {
            const double thrust_coef = layout.thrust_scale[i] * def->thrust_coef;
            layout.torque_scale[i] = rotor->torque_coef / thrust_coef / (def->torque_coef / def->thrust_coef);
        }
        if (axis.z != 1.0 || layout.thrust_scale[i] != 1.0 || layout.torque_scale[i] != 1.0)
            layout.general = 1;
    }
    return layout;
}

motor_params vy_motor_build(const vy_vehicle_def *def)
{
    const motor_params m = {
        .is_linear = def->command_dead == 0.0 && def->command_curve == 1.0 && def->speed_idle == 0.0 &&
                     def->thrust_linear == 0.0 && def->thrust_cubic == 0.0,
        .speed_max = def->speed_max,
        .speed_idle = def->speed_idle,
        .dead_zone = def->command_dead,
        .thrust_model_factor = def->command_curve,
        .quadratic = def->thrust_coef,
        .linear = def->thrust_linear,
        .cubic = def->thrust_cubic,
    };
    return m;
}

double vy_rotor_thrust(const vy_vehicle_def *def, double speed)
{
    const double square = speed * speed;
    if (def->thrust_linear == 0.0 && def->thrust_cubic == 0.0) return def->thrust_coef * square;
    return real_max(
        def->thrust_coef * square + (def->thrust_linear * speed + def->thrust_cubic * (square * speed)), 0.0);
}

// Solve a x = b for one symmetric positive 4x4 matrix and all four unit vectors, by Gauss-Jordan with pivots.
static int invert4(double a[4][4], double out[4][4])
{
    double scale = 0.0;
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            out[i][j] = i == j ? 1.0 : 0.0;
            if (real_abs(a[i][j]) > scale) scale = real_abs(a[i][j]);
        }
    }
    for (int k = 0; k < 4; ++k) {
        int pivot = k;
        for (int i = k + 1; i < 4; ++i) {
            if (real_abs(a[i][k]) > real_abs(a[pivot][k])) pivot = i;
        }
        if (!(real_abs(a[pivot][k]) > 1e-12 * scale)) return 0;
        for (int j = 0; j < 4; ++j) {
            const double s = a[k][j], t = out[k][j];
            a[k][j] = a[pivot][j];
            a[pivot][j] = s;
            out[k][j] = out[pivot][j];
            out[pivot][j] = t;
        }
        const double inv = 1.0 / a[k][k];
        for (int j = 0; j < 4; ++j) {
            a[k][j] *= inv;
            out[k][j] *= inv;
        }
        for (int i = 0; i < 4; ++i) {
            if (i == k) continue;
            const double f = a[i][k];
            for (int j = 0; j < 4; ++j) {
                a[i][j] -= f * a[k][j];
                out[i][j] -= f * out[k][j];
            }
        }
    }
    return 1;
}

int vy_layout_effector_count(const rotor_layout *layout)
{
    return layout->count > 0 ? layout->count : layout->thrusters.count;
}

static void thruster_rows(const thruster_layout *t, double rows[4][VY_ROTOR_CAP], double units[4])
{
    double arm = 0.0, yaw = 0.0;
    for (int i = 0; i < t->count; ++i) {
        arm = real_max(arm, real_max(real_abs(t->lever[i][0]), real_abs(t->lever[i][1])));
        yaw = real_max(yaw, real_abs(t->lever[i][2]));
    }
    units[0] = 1.0;
    units[1] = units[2] = arm;
    units[3] = yaw;
    for (int i = 0; i < t->count; ++i) {
        rows[0][i] = t->axis[i][2];
        for (int j = 0; j < 3; ++j) rows[1 + j][i] = t->lever[i][j] / real_max(units[1 + j], 1e-300);
    }
}

void vy_layout_effectiveness(const vy_vehicle_def *def, const rotor_layout *layout,
                             double rows[4][VY_ROTOR_CAP], double units[4])
{
    if (layout->count == 0) {
        thruster_rows(&layout->thrusters, rows, units);
        return;
    }
    const int count = layout->count;
    const double yaw_per_thrust = def->torque_coef / def->thrust_coef;
    double roll[VY_ROTOR_CAP], pitch[VY_ROTOR_CAP], yaw[VY_ROTOR_CAP], lift[VY_ROTOR_CAP];
    for (int i = 0; i < count; ++i) { // torque and lift per newton of thrust; yaw in units of yaw_per_thrust
        const double drag = layout->torque_scale[i] * yaw_per_thrust;
        const double *lever = layout->lever[i], *reaction = layout->reaction[i];
        roll[i] = layout->general ? lever[0] + reaction[0] * drag : layout->roll[i];
        pitch[i] = layout->general ? lever[1] + reaction[1] * drag : layout->pitch[i];
        yaw[i] = layout->general ? (lever[2] + reaction[2] * drag) / yaw_per_thrust : layout->yaw[i];
        lift[i] = layout->general ? layout->axis[i][2] : 1.0;
    }
    double arm = 0.0;
    for (int i = 0; i < count; ++i) {
        arm = real_max(arm, real_max(real_abs(roll[i]), real_abs(pitch[i])));
    }
    units[0] = 1.0;
    units[1] = units[2] = arm;
    units[3] = yaw_per_thrust;
    for (int i = 0; i < count; ++i) {
        rows[0][i] = lift[i];
        rows[1][i] = roll[i] / arm;
        rows[2][i] = pitch[i] / arm;
        rows[3][i] = yaw[i];
    }
}

vy_status vy_layout_pseudo_inverse(const vy_vehicle_def *def, const rotor_layout *layout,
                                   double inverse[VY_ROTOR_CAP][4], vy_error *err)
{
    // Rows are of comparable size, so that the pivot test is meaningful.
    const int count = vy_layout_effector_count(layout);
    double rows[4][VY_ROTOR_CAP], scale[4];
    vy_layout_effectiveness(def, layout, rows, scale);
    double gram[4][4], gram_inverse[4][4];
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            gram[i][j] = 0.0;
            for (int k = 0; k < count; ++k) gram[i][j] += rows[i][k] * rows[j][k];
        }
    }
    if (count < 4 || !(scale[1] > 0.0) || !(scale[3] > 0.0) || !invert4(gram, gram_inverse)) {
        return vy_fail(err, VY_BAD_VALUE,
                       "vehicle %s: its %s cannot make thrust, roll, pitch and yaw independently", def->name,
                       layout->count > 0 ? "rotors" : "thrusters");
    }
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < 4; ++j) {
            double sum = 0.0;
            for (int k = 0; k < 4; ++k) sum += rows[k][i] * gram_inverse[k][j];
            inverse[i][j] = sum / scale[j];
        }
    }
    return VY_OK;
}
