// control.c - controllers as declared: defaults, checks, constants, and the intake of a reply.
#include "control/control.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/finite.h"
#include "base/math.h"
#include "control/trajectory.h"
#include "vehicle/allocation.h"

_Static_assert(LADDER_ROTORS == VY_ROTOR_CAP, "one capacity of rotors");

vy_controller_def vy_default_controller_def(void)
{
    return (vy_controller_def){
        .kind = VY_CONTROLLER_HOLD,
        .period = 0.01,
        .rate_period = 0.002,
        .gains = {.position = 6.0,
                  .velocity = 4.0,
                  .integral = 2.0,
                  .attitude = 8.0,
                  .yaw = 4.0,
                  .rate = 25.0,
                  .tilt_max = 0.6},
        .rate_law = VY_RATE_LAW_NDI,
        .indi_cutoff = 200.0,
        .pilot =
            {.speed = 20.0, .strafe = 10.0, .climb = 5.0, .yaw_rate = 1.5707963267948966, .response = 5.0},
        .path = vy_default_path_def(),
        .autopilot = {.def = vy_default_autopilot_def(), .has_target = 1},
        .start = {.attitude = {1.0, 0.0, 0.0, 0.0}},
        .deadline = 1.0,
        .boot = 10.0,
        .firmware = {.address = "127.0.0.1", .unanswered = 0.02, .patience = 30.0},
    };
}

static vy_status check_setpoints(const vy_controller_def *def, vy_error *err)
{
    if (def->setpoint_count < 0 || def->setpoint_count > VY_SETPOINT_CAP) {
        return vy_fail(err, VY_BAD_VALUE, "controller.setpoint_count must be 0 to %d, got %d",
                       VY_SETPOINT_CAP, def->setpoint_count);
    }
    for (int i = 0; i < def->setpoint_count; ++i) {
        const vy_setpoint *p = &def->setpoints[i];
        if (!vy_all_bounded(&p->time, 5)) {
            return vy_fail(err, VY_BAD_VALUE, "controller.setpoints[%d] must be finite", i);
        }
        if (i > 0 && !(p->time > p[-1].time)) {
            return vy_fail(err, VY_BAD_VALUE, "controller.setpoints[%d].time must be after the one before it",
                           i);
        }
    }
    return VY_OK;
}

// Whether the start values would be accepted as a controller's reply.
static int start_is_valid(const vy_controller_def *def, const vy_vehicle_def *vehicle)
{
    ladder_params p;
    control_state c;
    estimator_state e;
    uint64_t clamps = 0;
    memset(&p, 0, sizeof p);
    memset(&c, 0, sizeof c);
    memset(&e, 0, sizeof e);
    p.rotor_count = (uint64_t)vehicle->rotor_count;
    p.command_count = (uint64_t)vehicle->rotor_count + (uint64_t)vehicle->thruster_count;
    p.has_full_authority = 1;
    p.kinematic = def->flight == VY_FLIGHT_KINEMATIC;
    return vy_control_accept(&p, &def->start, &e, &c, &clamps) >= 0;
}

static vy_status check_pilot(const vy_pilot_def *def, vy_error *err)
{
    const struct {
        const char *name;
        double value;
    } fields[] = {{"speed", def->speed},
                  {"strafe", def->strafe},
                  {"climb", def->climb},
                  {"yaw_rate", def->yaw_rate},
                  {"response", def->response}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i) {
        if (real_is_finite(fields[i].value) && fields[i].value >= 0.0) continue;
        return vy_fail(err, VY_BAD_VALUE, "controller.pilot.%s must be at least 0, got %g", fields[i].name,
                       fields[i].value);
    }
    if (def->response > 0.0) return VY_OK;
    return vy_fail(err, VY_BAD_VALUE, "controller.pilot.response must be above 0 1/s");
}

static vy_status check_thrust_loss(const vy_controller_def *def, const vy_vehicle_def *vehicle, vy_error *err)
{
    for (int i = 0; i < VY_ROTOR_CAP; ++i) {
        if (!(def->thrust_loss[i] >= 0.0 && def->thrust_loss[i] <= 1.0)) {
            return vy_fail(err, VY_BAD_VALUE, "controller.lost[%d] must be 0 to 1, got %g", i,
                           def->thrust_loss[i]);
        }
        const int count = vehicle->rotor_count > 0 ? vehicle->rotor_count : vehicle->thruster_count;
        if (i >= count && def->thrust_loss[i] != 0.0) {
            return vy_fail(err, VY_BAD_VALUE, "controller.lost[%d]: %s has %d %s", i, vehicle->name, count,
                           vehicle->rotor_count > 0 ? "rotors" : "thrusters");
        }
    }
    return VY_OK;
}

static vy_status check_gains(const vy_gains *g, vy_error *err)
{
    const struct {
        const char *name;
        double value;
    } gains[] = {{"position", g->position}, {"velocity", g->velocity}, {"integral", g->integral},
                 {"attitude", g->attitude}, {"yaw", g->yaw},           {"rate", g->rate}};
    for (size_t i = 0; i < sizeof gains / sizeof gains[0]; ++i) {
        if (!(real_is_finite(gains[i].value) && gains[i].value >= 0.0)) {
            return vy_fail(err, VY_BAD_VALUE, "controller.gains.%s must be at least 0, got %g", gains[i].name,
                           gains[i].value);
        }
    }
    if (!(g->tilt_max > 0.0 && g->tilt_max <= 1.5)) {
        return vy_fail(err, VY_BAD_VALUE, "controller.gains.tilt_max must be in (0, 1.5] rad, got %g",
                       g->tilt_max);
    }
    return VY_OK;
}

vy_status vy_check_record(const vy_controller_def *def, const vy_vehicle_def *vehicle, vy_error *err)
{
    const vy_numbers *n = &def->record;
    if (def->kind != VY_CONTROLLER_RECORDED) return VY_OK;
    if ((unsigned)def->record_kind > VY_RECORD_SPEEDS)
        return vy_fail(err, VY_BAD_VALUE, "controller.plays must be motors or speeds");
    const int thruster_count = def->record_kind == VY_RECORD_MOTORS ? vehicle->thruster_count : 0,
              effector_count = vehicle->rotor_count + thruster_count;
    if (n->rows < 1 || n->values == NULL)
        return vy_fail(err, VY_BAD_VALUE, "controller.record is missing: give it, or a file");
    if (n->columns != 1 + effector_count) {
        return vy_fail(
            err, VY_BAD_VALUE,
            "controller.record must have rows of %d numbers, a time and a value for each of %d %s, "
            "got %d",
            1 + effector_count, effector_count, thruster_count > 0 ? "rotors and thrusters" : "rotors",
            n->columns);
    }
    for (int i = 0; i < n->rows; ++i) {
        const double *row = n->values + (size_t)i * (size_t)n->columns;
        if (!vy_all_bounded(row, (size_t)n->columns))
            return vy_fail(err, VY_BAD_VALUE, "controller.record[%d] must be finite", i);
        if (i > 0 && !(row[0] > row[-n->columns]))
            return vy_fail(err, VY_BAD_VALUE,
                           "controller.record[%d]: its time must be after that of the row before", i);
    }
    return VY_OK;
}

vy_status vy_check_controller_def(const vy_controller_def *def, const vy_vehicle_def *vehicle, vy_error *err)
{
    if ((unsigned)def->kind > VY_CONTROLLER_RECORDED) {
        return vy_fail(err, VY_BAD_VALUE,
                       "controller.kind must be none, hold, callback, plugin, process, lee, mellinger, "
                       "autopilot, intent, pilot, px4, ardupilot, crazyflie, betaflight or recorded");
    }
    if ((unsigned)def->flight > VY_FLIGHT_KINEMATIC) {
        return vy_fail(err, VY_BAD_VALUE, "controller.flight must be dynamic or kinematic");
    }
    const int is_kinematic = def->flight == VY_FLIGHT_KINEMATIC;
    if (is_kinematic && (vy_controller_follows(def->kind) || def->kind == VY_CONTROLLER_RECORDED)) {
        return vy_fail(err, VY_BAD_VALUE, "controller.flight: a kinematic drone takes the sticks only");
    }
    const int has_effectors = vehicle->rotor_count > 0 || vehicle->thruster_count > 0;
    if (def->kind != VY_CONTROLLER_NONE && !has_effectors && !is_kinematic) {
        return vy_fail(err, VY_BAD_VALUE, "controller: %s has no rotors and no thrusters to control",
                       vehicle->name);
    }
    vy_status status = check_gains(&def->gains, err);
    if (status != VY_OK) return status;
    if (!start_is_valid(def, vehicle)) {
        return vy_fail(err, VY_BAD_VALUE, "controller.start must be finite and of a known rung");
    }
    if ((unsigned)def->rate_law > VY_RATE_LAW_INDI) {
        return vy_fail(err, VY_BAD_VALUE, "controller.rate_law must be ndi or indi");
    }
    if (!(real_is_finite(def->indi_cutoff) && def->indi_cutoff > 0.0)) {
        return vy_fail(err, VY_BAD_VALUE, "controller.indi_cutoff must be above 0 rad/s, got %g",
                       def->indi_cutoff);
    }
    status = check_pilot(&def->pilot, err);
    if (status == VY_OK) status = vy_check_autopilot_def(&def->autopilot.def, err);
    if (status == VY_OK && !vy_all_bounded(&def->autopilot.target.x, 3)) {
        status = vy_fail(err, VY_BAD_VALUE, "controller.autopilot.target must be finite");
    }
    if (status == VY_OK) status = vy_check_record(def, vehicle, err);
    if (status == VY_OK) status = check_thrust_loss(def, vehicle, err);
    if (status == VY_OK) status = vy_check_path_def(&def->path, err);
    if (status == VY_OK) status = check_setpoints(def, err);
    return status;
}

// Sticks to speeds, and what is left of a difference after one period.
static void build_pilot(const vy_controller_def *def, ladder_params *p)
{
    p->stick[0] = def->pilot.speed / VY_THROTTLE_STEPS;
    p->stick[1] = -def->pilot.strafe; // positive is to the right
    p->stick[2] = def->pilot.climb;
    p->stick[3] = -def->pilot.yaw_rate; // positive is clockwise
    p->stick_decay = math_exp(-def->pilot.response * def->rate_period);
}

// The Butterworth filter's exact step: poles at c (-1 +- i) / sqrt(2).
static void build_indi(const vy_controller_def *def, const vy_vehicle_def *vehicle, ladder_params *p)
{
    const double a = def->indi_cutoff * 0.70710678118654752, t = def->rate_period;
    double sine, cosine;
    math_sincos(a * t, &sine, &cosine);
    const double decay = math_exp(-a * t);
    p->uses_indi = def->rate_law == VY_RATE_LAW_INDI;
    p->indi.transition[0][0] = decay * (cosine + sine);
    p->indi.transition[0][1] = decay * sine / a;
    p->indi.transition[1][0] = -2.0 * a * decay * sine;
    p->indi.transition[1][1] = decay * (cosine - sine);
    p->indi.lag_decay = vehicle->motor_lag > 0.0 ? math_exp(-t / vehicle->motor_lag) : 0.0;
}

// What the air does to a drone that moves through it, with its rotors at hover: F = -D v, t = -A v - B w, of
// D the diagonal. Rotors as in effect_rotor_drag.h and effect_flapping.h.
static void build_drag(const vy_vehicle_def *vehicle, const rotor_layout *layout, double g, ladder_params *p)
{
    const vy_rotor_air_def *air = &vehicle->rotor_air;
    const double speed = vehicle->rotor_count > 0 ? vy_vehicle_hover_speed(vehicle, g) : 0.0;
    vec3 force = vehicle->drag_linear;
    for (int i = 0; i < layout->count; ++i) {
        const vec3 hub = vec3_of(layout->hub[i]), axis = vec3_of(layout->axis[i]);
        const vec3 unit_vectors[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
        double *force_components[3] = {&force.x, &force.y, &force.z};
        for (int k = 0; k < 3; ++k) {
            const vec3 unit_motions[2] = {unit_vectors[k],
                                          vec3_cross(unit_vectors[k], hub)}; // a unit of velocity, of rate
            mat3 *const rotation_drag[2] = {&p->drag_torque, &p->drag_damping};
            for (int n = 0; n < 2; ++n) {
                const double axial_speed = vec3_dot(unit_motions[n], axis);
                const vec3 drag =
                    vec3_scale(speed, vec3_add_scaled(vec3_scale(air->drag, unit_motions[n]),
                                                      (air->drag_axial - air->drag) * axial_speed, axis));
                const vec3 torque = vec3_sub(
                    vec3_cross(hub, drag), vec3_scale(air->flap * speed, vec3_cross(unit_motions[n], axis)));
                rotation_drag[n]->m[0][k] += torque.x;
                rotation_drag[n]->m[1][k] += torque.y;
                rotation_drag[n]->m[2][k] += torque.z;
                if (n == 0) *force_components[k] += vec3_dot(unit_vectors[k], drag);
            }
        }
    }
    p->drag = vec3_scale(1.0 / vehicle->mass, force);
    const int has_rotor_drag = speed > 0.0 && (air->drag > 0.0 || air->drag_axial > 0.0 || air->flap > 0.0);
    p->has_drag = vec3_any_nonzero(force) || has_rotor_drag ? 1.0 : 0.0;
}

// Rows of the wrench in comparable units, weighted by their priority.
static void build_allocate(const vy_vehicle_def *vehicle, const rotor_layout *layout, double thrust_unit,
                           allocate_params *p)
{
    static const double weights[4] = {ALLOCATE_WEIGHT_THRUST, ALLOCATE_WEIGHT_TILT, ALLOCATE_WEIGHT_TILT,
                                      ALLOCATE_WEIGHT_YAW};
    double rows[4][VY_ROTOR_CAP], wrench_units[4];
    vy_layout_effectiveness(vehicle, layout, rows, wrench_units);
    const int count = vy_layout_effector_count(layout);
    p->count = (uint64_t)count;
    VY_ASSERT(count >= 4 && count <= ALLOCATE_ROTORS && thrust_unit > 0.0);
    p->unit = thrust_unit;
    for (int j = 0; j < 4; ++j) {
        p->scale[j] = weights[j] / (thrust_unit * wrench_units[j]);
        for (int i = 0; i < count; ++i) p->rows[j][i] = weights[j] * rows[j][i];
    }
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < count; ++k) {
            p->hessian[i][k] = i == k ? ALLOCATE_REGULARIZATION : 0.0;
            for (int j = 0; j < 4; ++j) p->hessian[i][k] += p->rows[j][i] * p->rows[j][k];
        }
    }
}

// Thrusters in the place of rotors.
static void build_thrusters(const vy_controller_def *def, const thruster_layout *t, ladder_params *p)
{
    if (t->count == 0) return;
    p->uses_thrusters = 1;
    p->rotor_count = (uint64_t)t->count;
    VY_ASSERT(t->count <= LADDER_ROTORS);
    for (int i = 0; i < t->count; ++i) p->thrust_max = real_max(p->thrust_max, t->thrust_max[i]);
    p->inverse_thrust_max = 1.0 / p->thrust_max;
    for (int i = 0; i < t->count; ++i) {
        p->scale[i] = t->thrust_max[i] * p->inverse_thrust_max;
        p->rotor_thrust_max[i] = (1.0 - def->thrust_loss[i]) * t->thrust_max[i];
        p->thrust_min[i] = t->thrust_min[i];
    }
}

vy_status vy_ladder_build(const vy_controller_def *def, const vy_vehicle_def *vehicle, vy_vec3 gravity,
                          ladder_params *out, vy_error *err)
{
    const vy_gains *g = &def->gains;
    ladder_params p;
    VY_ASSERT(vehicle->mass > 0.0 && def->period >= 0.0);
    memset(&p, 0, sizeof p);
    p.mass = vehicle->mass;
    p.inertia = vehicle->inertia;
    p.gravity = gravity;
    p.position_gain = g->position;
    p.velocity_gain = g->velocity;
    p.integral_gain = g->integral;
    p.period = def->period;
    p.tan_tilt = math_tan(g->tilt_max);
    p.integral_max = 0.5 * vec3_length(gravity);
    p.attitude_gain = vec3_make(g->attitude, g->attitude, g->yaw);
    p.rate_gain = g->rate;
    p.rotor_count = (uint64_t)vehicle->rotor_count;
    p.command_count = (uint64_t)vehicle->rotor_count + (uint64_t)vehicle->thruster_count;
    if (vehicle->rotor_count > 0) {
        p.motor = vy_motor_build(vehicle);
        p.thrust_max = p.motor.is_linear ? vehicle->thrust_coef * vehicle->speed_max * vehicle->speed_max
                                         : vy_rotor_thrust(vehicle, vehicle->speed_max);
        p.inverse_thrust_max = 1.0 / p.thrust_max;
    }
    p.rate_period = def->rate_period;
    build_pilot(def, &p);
    build_indi(def, vehicle, &p);
    // A vehicle that cannot make every wrench may still be flown by motor commands.
    const rotor_layout layout = vy_layout_build(vehicle);
    for (int i = 0; i < layout.count; ++i) {
        p.scale[i] = layout.thrust_scale[i];
        if (p.scale[i] != 1.0) p.has_thrust_scale = 1;
        p.rotor_thrust_max[i] = ((1.0 - def->thrust_loss[i]) * p.scale[i]) * p.thrust_max;
    }
    build_drag(vehicle, &layout, vec3_length(gravity), &p);
    if (vehicle->rotor_count == 0) build_thrusters(def, &layout.thrusters, &p);
    p.kinematic = def->flight == VY_FLIGHT_KINEMATIC;
    const vy_failsafe failsafe = def->kind != VY_CONTROLLER_NONE ? vehicle->drive.failsafe : VY_FAILSAFE_NONE;
    const int needs_wrench =
        !p.kinematic && (failsafe == VY_FAILSAFE_HOLD || failsafe == VY_FAILSAFE_LAND ||
                         vy_controller_follows(def->kind) || def->kind == VY_CONTROLLER_AUTOPILOT ||
                         def->kind == VY_CONTROLLER_PILOT || def->start.rung >= VY_RUNG_WRENCH);
    if (vy_layout_effector_count(&layout) == 0 && !p.kinematic && def->start.rung >= VY_RUNG_WRENCH) {
        return vy_fail(
            err, VY_BAD_VALUE,
            "controller.intent: a vehicle without rotors and thrusters makes no wrench; `none` and "
            "`motors` are the rungs it can start with");
    }
    if (vy_layout_effector_count(&layout) > 0) {
        const vy_status status =
            vy_layout_pseudo_inverse(vehicle, &layout, p.pseudo_inverse, needs_wrench ? err : NULL);
        if (status != VY_OK && needs_wrench) return status;
        p.has_full_authority = status == VY_OK;
        if (p.has_full_authority) build_allocate(vehicle, &layout, p.thrust_max, &p.allocate);
    }
    *out = p;
    return VY_OK;
}

control_reply vy_control_reply(const vy_intent *reply)
{
    // Disarmed is the rung at which motors are off; one that is not known makes the reply invalid.
    const uint64_t rung = reply->status == VY_REPLY_STATUS_ARMED      ? (uint64_t)reply->rung
                          : reply->status == VY_REPLY_STATUS_DISARMED ? VY_RUNG_NONE
                                                                      : ~(uint64_t)0;
    control_reply out = {.rung = rung,
                         .thrust = reply->thrust,
                         .torque = reply->torque,
                         .rates = reply->rates,
                         .attitude = reply->attitude,
                         .velocity = reply->velocity,
                         .yaw_rate = reply->yaw_rate,
                         .sticks = {reply->throttle, reply->strafe, reply->vertical, reply->yaw}};
    memcpy(out.motors, reply->motors, sizeof out.motors);
    return out;
}

int vy_control_accept(const ladder_params *p, const vy_intent *reply, const estimator_state *e,
                      control_state *c, uint64_t *clamps)
{
    const control_reply converted = vy_control_reply(reply);
    if (!control_valid(p, &converted)) return -1;
    control_enter_rung(p, VY_RUNG_NONE, converted.rung, 1, e, c);
    control_accept(p, &converted, 1, c, clamps);
    return (int)converted.rung;
}
