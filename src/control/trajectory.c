// trajectory.c - paths as declared: defaults, checks and constants.
#include "control/trajectory.h"
#include "base/assert.h"
#include "base/finite.h"

// Length of the lemniscate of Gerono over its half width.
#define EIGHT_LENGTH 6.0972234701049155
#define TWO_PI       6.283185307179586

vy_path_def vy_default_path_def(void)
{
    return (vy_path_def){.kind = VY_PATH_SETPOINTS,
                         .centre.z = 1.0,
                         .to = {1.0, 0.0, 1.0},
                         .radius = 1.0,
                         .climb = 1.0,
                         .laps = 1.0,
                         .start = 1.0,
                         .speed = 1.0,
                         .ramp = 2.0,
                         .acceleration = 3.0};
}

static vy_status check_waypoints(const vy_path_def *def, vy_error *err)
{
    if (def->waypoint_count < 2 || def->waypoint_count > VY_WAYPOINT_CAP)
        return vy_fail(err, VY_BAD_VALUE, "path.waypoints must be 2 to %d, got %d", VY_WAYPOINT_CAP,
                       def->waypoint_count);
    for (int i = 0; i < def->waypoint_count; ++i) {
        if (!vy_all_bounded(&def->waypoints[i].position.x, 4))
            return vy_fail(err, VY_BAD_VALUE, "path.waypoints[%d] must be finite", i);
        if (i == 0) continue;
        const vec3 displacement = vec3_sub(def->waypoints[i].position, def->waypoints[i - 1].position);
        if (!(vec3_length(displacement) > 1e-6))
            return vy_fail(err, VY_BAD_VALUE, "path.waypoints[%d] is where the one before it is", i);
    }
    return VY_OK;
}

vy_status vy_check_path_def(const vy_path_def *def, vy_error *err)
{
    if ((unsigned)def->kind > VY_PATH_MINIMUM_SNAP)
        return vy_fail(err, VY_BAD_VALUE, "path.kind is not known");
    const struct {
        const char *name;
        double value;
    } fields[] = {{"radius", def->radius},
                  {"laps", def->laps},
                  {"speed", def->speed},
                  {"ramp", def->ramp},
                  {"acceleration", def->acceleration}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i) {
        if (real_is_finite(fields[i].value) && fields[i].value > 0.0) continue;
        return vy_fail(err, VY_BAD_VALUE, "path.%s must be above 0, got %g", fields[i].name, fields[i].value);
    }
    if (!vy_all_bounded(&def->centre.x, 3) || !vy_all_bounded(&def->to.x, 3) || !real_is_finite(def->climb) ||
        !real_is_finite(def->yaw) || !real_is_finite(def->start))
        return vy_fail(err, VY_BAD_VALUE, "path: centre, to, climb, yaw and start must be finite");
    if (def->kind == VY_PATH_LINE && !(vec3_length(vec3_sub(def->to, def->centre)) > 1e-6))
        return vy_fail(err, VY_BAD_VALUE, "path.to is where the line begins");
    return def->kind == VY_PATH_MINIMUM_SNAP ? check_waypoints(def, err) : VY_OK;
}

void vy_path_build(const vy_path_def *def, path_model *out)
{
    memset(out, 0, sizeof *out);
    out->def = *def;
    if (def->kind == VY_PATH_SETPOINTS) return;
    if (def->kind == VY_PATH_MINIMUM_SNAP) {
        vy_minimum_snap_build(def, out);
        return;
    }
    const double circumference = TWO_PI * def->radius;
    double length = def->laps * circumference; // of the whole way
    out->phase_per_metre = 1.0 / def->radius;
    if (def->kind == VY_PATH_LINE) {
        length = vec3_length(vec3_sub(def->to, def->centre));
        out->phase_per_metre = 1.0 / length;
    } else if (def->kind == VY_PATH_FIGURE_EIGHT) {
        length = def->laps * EIGHT_LENGTH * def->radius;
        out->phase_per_metre = TWO_PI / (EIGHT_LENGTH * def->radius);
    } else if (def->kind == VY_PATH_HELIX) {
        const double lap_length = real_sqrt(circumference * circumference + def->climb * def->climb);
        length = def->laps * lap_length;
        out->phase_per_metre = TWO_PI / lap_length;
    }
    // A path too short to come up to speed is flown at the speed it allows.
    out->ramp = def->ramp;
    out->speed = real_min(def->speed, length / def->ramp);
    out->cruise = length / out->speed - def->ramp;
    VY_ASSERT(out->speed > 0.0 && out->cruise >= -1e-9 * def->ramp);
}
