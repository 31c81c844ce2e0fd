// allocation.c - rows of the wrench and their least-norm inverse.
#include "vehicle/allocation.h"
#include "base/fail.h"

rotor_layout vy_layout_build(const vy_vehicle_def *def)
{
    // r x F with F along +z is (y, -x, 0) T; a rotor turning counter-clockwise drags the body clockwise.
    // The documented rows are the same with pitch and yaw negated.
    const double sign = def->allocation == VY_ALLOCATION_DOCUMENTED ? -1.0 : 1.0;
    rotor_layout layout;
    memset(&layout, 0, sizeof layout);
    layout.count = def->rotor_count;
    for (int i = 0; i < def->rotor_count; ++i) {
        layout.roll[i] = def->rotors[i].position.y;
        layout.pitch[i] = sign * -def->rotors[i].position.x;
        layout.yaw[i] = sign * -(double)def->rotors[i].spin;
    }
    return layout;
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

vy_status vy_layout_invert(const vy_vehicle_def *def, const rotor_layout *layout,
                           double inverse[VY_ROTOR_CAP][4], vy_error *err)
{
    const int n = layout->count;
    const double yaw_per_thrust = def->torque_coef / def->thrust_coef;
    // Rows are scaled to comparable size (by the arm and the yaw ratio), so that the pivot test means
    // something.
    double arm = 0.0;
    for (int i = 0; i < n; ++i) {
        arm = real_max(arm, real_max(real_abs(layout->roll[i]), real_abs(layout->pitch[i])));
    }
    const double scale[4] = {1.0, arm, arm, yaw_per_thrust};
    double rows[4][VY_ROTOR_CAP];
    for (int i = 0; i < n; ++i) {
        rows[0][i] = 1.0;
        rows[1][i] = layout->roll[i] / arm;
        rows[2][i] = layout->pitch[i] / arm;
        rows[3][i] = layout->yaw[i];
    }
    double gram[4][4], gram_inverse[4][4];
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            gram[i][j] = 0.0;
            for (int k = 0; k < n; ++k) gram[i][j] += rows[i][k] * rows[j][k];
        }
    }
    if (n < 4 || !(arm > 0.0) || !(yaw_per_thrust > 0.0) || !invert4(gram, gram_inverse)) {
        return vy_fail(err, VY_BAD_VALUE,
                       "vehicle %s: its rotors cannot make thrust, roll, pitch and yaw apart", def->name);
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < 4; ++j) {
            double sum = 0.0;
            for (int k = 0; k < 4; ++k) sum += rows[k][i] * gram_inverse[k][j];
            inverse[i][j] = sum / scale[j];
        }
    }
    return VY_OK;
}
