// reference.c - minimum-jerk motion through the setpoints of a flight plan.
#include "control/reference.h"
#include "base/math.h"

static quat heading(double yaw)
{
    double s, c;
    math_sincos(0.5 * yaw, &s, &c);
    return quat_make(c, 0.0, 0.0, s);
}

reference vy_reference_at(const vy_setpoint *setpoints, int count, double time, double *yaw_out)
{
    int next = 0; // the first setpoint after `time`
    while (next < count && setpoints[next].time <= time) ++next;

    const vy_setpoint *from = &setpoints[next > 0 ? next - 1 : 0];
    const vy_setpoint *to = &setpoints[next < count ? next : count - 1];
    reference r = {from->position, vec3_zero(), vec3_zero(), quat_identity()};
    double yaw = from->yaw;
    if (from != to) {
        const double span = to->time - from->time;
        const double s = (time - from->time) / span;
        const double place = s * s * s * (10.0 + s * (6.0 * s - 15.0));
        const double speed = 30.0 * s * s * ((s - 1.0) * (s - 1.0)) / span;
        const double acceleration = 60.0 * s * (1.0 + s * (2.0 * s - 3.0)) / (span * span);
        const vec3 way = vec3_sub(to->position, from->position);
        r.position = vec3_add_scaled(from->position, place, way);
        r.velocity = vec3_scale(speed, way);
        r.acceleration = vec3_scale(acceleration, way);
        yaw = from->yaw + place * (to->yaw - from->yaw);
    }
    r.heading = heading(yaw);
    if (yaw_out != NULL) *yaw_out = yaw;
    return r;
}
