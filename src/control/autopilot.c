// autopilot.c - the autopilot as declared, and on its own.
#include "volery/autopilot.h"
#include "base/real.h"
#include "base/fail.h"
#include "control/autopilot.h"
#include "control/control.h"

vy_autopilot_def vy_default_autopilot_def(void)
{
    return (vy_autopilot_def){.altitude = 20.0, .throttle = 4, .radius = 5.0, .yaw_tolerance = 0.1};
}

vy_status vy_check_autopilot_def(const vy_autopilot_def *def, vy_error *err)
{
    FPU_SCOPE;
    if (!real_is_finite(def->altitude))
        return vy_fail(err, VY_BAD_VALUE, "autopilot.altitude must be finite, got %g", def->altitude);
    if (def->throttle < 0 || def->throttle > VY_THROTTLE_STEPS)
        return vy_fail(err, VY_BAD_VALUE, "autopilot.throttle must be a step 0 to %d, got %d",
                       VY_THROTTLE_STEPS, def->throttle);
    if (!(real_is_finite(def->radius) && def->radius > 0.0))
        return vy_fail(err, VY_BAD_VALUE, "autopilot.radius must be above 0 m, got %g", def->radius);
    if (!(def->yaw_tolerance > 0.0 && def->yaw_tolerance < 3.141592653589793))
        return vy_fail(err, VY_BAD_VALUE, "autopilot.yaw_tolerance must be in (0, pi) rad, got %g",
                       def->yaw_tolerance);
    return VY_OK;
}

vy_status vy_autopilot_init(const vy_autopilot_def *def, vy_autopilot *out, vy_error *err)
{
    FPU_SCOPE;
    const vy_status status = vy_check_autopilot_def(def, err);
    if (status != VY_OK) return status;
    *out = (vy_autopilot){.def = *def};
    return VY_OK;
}

void vy_autopilot_set_target(vy_autopilot *autopilot, vy_vec3 target)
{
    FPU_SCOPE;
    autopilot->has_target = 1;
    autopilot->target = (vy_vec3){target.x, target.y, autopilot->def.altitude};
}

autopilot_params vy_autopilot_build(const vy_autopilot *autopilot)
{
    return (autopilot_params){
        .target = autopilot->target,
        .step = autopilot->def.throttle,
        .radius = autopilot->def.radius,
        .tolerance = autopilot->def.yaw_tolerance,
        .has_target = autopilot->has_target != 0,
    };
}

vy_sticks vy_autopilot_update(const vy_autopilot *autopilot, vy_vec3 position, vy_quat attitude)
{
    FPU_SCOPE;
    const autopilot_params p = vy_autopilot_build(autopilot);
    double sticks[4];
    autopilot_sticks(&p, position, attitude, sticks);
    return (vy_sticks){sticks[0], sticks[1], sticks[2], sticks[3]};
}
