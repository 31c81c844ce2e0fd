// crtp_plan.c - polynomials of degree 7: their terms from both ends, and their values.
#include "bridge/crtp_plan.h"
#include "base/assert.h"
#include <math.h>

#define TWO_PI 6.2831853071795862

double vy_wrap_angle(double angle) { return angle - TWO_PI * floor(angle / TWO_PI + 0.5); }

// Terms of p with p, p', p'' given at 0 and at rest at p(T) = to, without jerk at both ends. With s = t / T
// the last four solve p(1) = to, p'(1) = p''(1) = p'''(1) = 0; d, e and f are by how much the first three
// alone miss p, p' and p'' there.
static void fit_polynomial(double from, double speed, double acceleration, double to, double duration,
                           double out[PLAN_COEFFICIENTS])
{
    const double v = speed * duration, a = acceleration * duration * duration;
    const double d = to - (from + v + 0.5 * a), e = -(v + a), f = -a;
    const double s[PLAN_COEFFICIENTS] = {from,
                                         v,
                                         0.5 * a,
                                         0.0,
                                         35.0 * d - 15.0 * e + 2.5 * f,
                                         -84.0 * d + 39.0 * e - 7.0 * f,
                                         70.0 * d - 34.0 * e + 6.5 * f,
                                         -20.0 * d + 10.0 * e - 2.0 * f};
    double power = 1.0;
    for (int k = 0; k < PLAN_COEFFICIENTS; ++k) {
        out[k] = s[k] / power;
        power *= duration;
    }
}

static void linear_polynomial(double from, double to, double duration, double out[PLAN_COEFFICIENTS])
{
    for (int k = 0; k < PLAN_COEFFICIENTS; ++k) out[k] = 0.0;
    out[0] = from;
    out[1] = (to - from) / duration;
}

void vy_crtp_plan_to(const plan_point *from, vy_vec3 to, double yaw, double duration, int linear,
                     double begin, crtp_plan *out)
{
    VY_ASSERT(duration > 0.0);
    const double start_yaw = vy_wrap_angle(from->yaw);
    const double end_yaw = start_yaw + vy_wrap_angle(yaw - start_yaw); // the shorter way
    const double start_values[PLAN_AXES] = {from->position.x, from->position.y, from->position.z, start_yaw};
    const double end_values[PLAN_AXES] = {to.x, to.y, to.z, end_yaw};
    const double speed[PLAN_AXES] = {from->velocity.x, from->velocity.y, from->velocity.z, from->yaw_rate};
    const double acceleration[PLAN_AXES] = {from->acceleration.x, from->acceleration.y, from->acceleration.z,
                                            0.0};
    *out = (crtp_plan){.begin = begin, .scale = 1.0, .rotation_cosine = 1.0, .count = 1};
    out->pieces[0].duration = duration;
    for (int i = 0; i < PLAN_AXES; ++i) {
        if (linear)
            linear_polynomial(start_values[i], end_values[i], duration, out->pieces[0].coefficients[i]);
        else
            fit_polynomial(start_values[i], speed[i], acceleration[i], end_values[i], duration,
                           out->pieces[0].coefficients[i]);
    }
}

double vy_crtp_plan_duration(const crtp_plan *plan)
{
    double sum = 0.0;
    for (int i = 0; i < plan->count; ++i) sum += plan->pieces[i].duration;
    return sum * plan->scale;
}

// Value and first two derivatives.
static void evaluate(const double coefficients[PLAN_COEFFICIENTS], double t, double out[3])
{
    out[0] = out[1] = out[2] = 0.0;
    for (int k = PLAN_COEFFICIENTS - 1; k >= 0; --k) {
        out[2] = out[2] * t + 2.0 * out[1];
        out[1] = out[1] * t + out[0];
        out[0] = out[0] * t + coefficients[k];
    }
}

plan_point vy_crtp_plan_at(const crtp_plan *plan, double time)
{
    VY_ASSERT(plan->count >= 1 && plan->count <= PLAN_PIECE_CAP);
    const double duration = vy_crtp_plan_duration(plan) / plan->scale;
    const double plan_time = (time - plan->begin) / plan->scale;
    const double clamped_time = plan_time < 0.0 ? 0.0 : plan_time > duration ? duration : plan_time;
    const int is_still = plan_time < 0.0 || plan_time > duration;
    double t = plan->is_reversed ? duration - clamped_time : clamped_time, axis_values[PLAN_AXES][3];
    int piece = 0;
    while (piece + 1 < plan->count && t > plan->pieces[piece].duration) t -= plan->pieces[piece++].duration;
    const double time_rate = is_still ? 0.0 : (plan->is_reversed ? -1.0 : 1.0) / plan->scale;
    for (int i = 0; i < PLAN_AXES; ++i) {
        evaluate(plan->pieces[piece].coefficients[i], t, axis_values[i]);
        axis_values[i][1] *= time_rate;
        axis_values[i][2] *= time_rate * time_rate;
    }
    const double c = plan->rotation_cosine, s = plan->rotation_sine;
    plan_point out = {.yaw = axis_values[3][0] + plan->turn, .yaw_rate = axis_values[3][1]};
    vy_vec3 *const vectors[3] = {&out.position, &out.velocity, &out.acceleration};
    for (int k = 0; k < 3; ++k)
        *vectors[k] = (vy_vec3){c * axis_values[0][k] - s * axis_values[1][k],
                                s * axis_values[0][k] + c * axis_values[1][k], axis_values[2][k]};
    out.position = (vy_vec3){out.position.x + plan->shift.x, out.position.y + plan->shift.y,
                             out.position.z + plan->shift.z};
    return out;
}
