// crtp_commander.c - what a client asks a Crazyflie to fly: the high-level commander's plans, and setpoints.
#include "bridge/crtp.h"
#include "base/assert.h"
#include "base/math.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define DEGREE                     0.017453292519943295
#define SETPOINT_TIMEOUT_STABILIZE 0.5 // [s] without a new setpoint, then it stays where it is
#define SETPOINT_TIMEOUT_SHUTDOWN  2.0 // then motors are off: commander.c of the firmware
#define DISTANCE_MAX               1e4 // [m] no client means more
#define DURATION_MAX               3600.0
#define DURATION_MIN               1e-3 // [s]
#define PLANNED_VALUE_MAX          1e9  // [SI units] what is planned and larger is not flown

enum {
    SET_GROUP_MASK = 0,
    TAKEOFF = 1,
    LAND = 2,
    STOP = 3,
    GO_TO = 4,
    START_TRAJECTORY = 5,
    DEFINE_TRAJECTORY = 6,
    TAKEOFF_2 = 7,
    LAND_2 = 8,
    GO_TO_2 = 12,
    START_TRAJECTORY_2 = 13,
    PIECE_BYTES = 4 * (PLAN_AXES * PLAN_COEFFICIENTS + 1),
    SETPOINT_STOP = 0,
    SETPOINT_VELOCITY_OLD = 1,
    SETPOINT_HOVER_OLD = 5,
    SETPOINT_POSITION = 7,
    SETPOINT_VELOCITY = 8,
    SETPOINT_HOVER = 10,
};

// --- where it is, or should be

static plan_point measured_point(const crtp_device *d)
{
    const double *v = d->values;
    return (plan_point){
        .position = {v[CRTP_LOG_stateEstimate_x], v[CRTP_LOG_stateEstimate_y], v[CRTP_LOG_stateEstimate_z]},
        .yaw = DEGREE * v[CRTP_LOG_stateEstimate_yaw]};
}

static int is_planned(const crtp_device *d)
{
    return d->control_mode == CRTP_PLAN || d->control_mode == CRTP_LANDING;
}

static int is_within(vy_vec3 v, double max)
{
    return fabs(v.x) <= max && fabs(v.y) <= max && fabs(v.z) <= max;
}

// Where the plan has it, or where it is: plans upon plans of absurd haste end beyond all numbers.
static plan_point start_point(const crtp_device *d)
{
    if (!is_planned(d)) return measured_point(d);
    const plan_point p = vy_crtp_plan_at(&d->plan, d->time);
    const int is_valid = is_within(p.position, PLANNED_VALUE_MAX) &&
                         is_within(p.velocity, PLANNED_VALUE_MAX) &&
                         is_within(p.acceleration, PLANNED_VALUE_MAX) && fabs(p.yaw) <= PLANNED_VALUE_MAX &&
                         fabs(p.yaw_rate) <= PLANNED_VALUE_MAX;
    return is_valid ? p : measured_point(d);
}

// --- the high-level commander

static int are_within(const double *numbers, int count, double max)
{
    for (int i = 0; i < count; ++i)
        if (!(fabs(numbers[i]) <= max)) return 0;
    return 1;
}

static int may_fly(const crtp_device *d) { return d->is_armed && !d->is_locked; }

// Up or down to a height, over the place where it is. `data` is behind the group.
static int plan_height(crtp_device *d, int command, const uint8_t *data, size_t size)
{
    const int is_version_2 = command == TAKEOFF_2 || command == LAND_2,
              is_takeoff = command == TAKEOFF || command == TAKEOFF_2;
    if (size < (is_version_2 ? 13u : 8u)) return ENOEXEC;
    const plan_point current = start_point(d);
    const double height = vy_crtp_get_float(data);
    const double yaw = is_version_2 && data[8] == 0 ? vy_crtp_get_float(data + 4) : current.yaw;
    const double duration = vy_crtp_get_float(data + (is_version_2 ? 9 : 4));
    const double numbers[] = {height, yaw};
    if (!are_within(numbers, 2, DISTANCE_MAX) || !(duration >= DURATION_MIN && duration <= DURATION_MAX))
        return EINVAL;
    if (is_takeoff ? d->control_mode != CRTP_OFF || !may_fly(d)
                   : d->control_mode == CRTP_OFF || d->control_mode == CRTP_LANDING)
        return 1;
    vy_crtp_plan_to(&current, (vy_vec3){current.position.x, current.position.y, height}, yaw, duration, 0,
                    d->time, &d->plan);
    d->control_mode = is_takeoff ? CRTP_PLAN : CRTP_LANDING;
    return 0;
}

static int plan_go_to(crtp_device *d, int command, const uint8_t *data, size_t size)
{
    const size_t head_size = command == GO_TO_2 ? 2 : 1; // relative, linear
    double n[5];                                         // x, y, z, yaw, duration
    if (size < head_size + 20) return ENOEXEC;
    for (size_t i = 0; i < 5; ++i) n[i] = vy_crtp_get_float(data + head_size + 4 * i);
    if (!are_within(n, 4, DISTANCE_MAX) || !(n[4] >= DURATION_MIN && n[4] <= DURATION_MAX)) return EINVAL;
    if (d->control_mode == CRTP_OFF || d->control_mode == CRTP_LANDING || !may_fly(d)) return 1;
    const plan_point current = start_point(d);
    const int is_relative = data[0] != 0;
    const vy_vec3 target = {n[0] + (is_relative ? current.position.x : 0.0),
                            n[1] + (is_relative ? current.position.y : 0.0),
                            n[2] + (is_relative ? current.position.z : 0.0)};
    crtp_plan plan;
    vy_crtp_plan_to(&current, target, n[3] + (is_relative ? current.yaw : 0.0), n[4],
                    head_size == 2 && data[1] != 0, d->time, &plan);
    d->plan = plan;
    d->control_mode = CRTP_PLAN;
    return 0;
}

static int define_trajectory(crtp_device *d, const uint8_t *data, size_t size)
{
    enum { IN_MEMORY = 1, POLYNOMIALS = 0 };
    if (size < 8) return ENOEXEC;
    const uint32_t offset = vy_crtp_get(data + 3, 4);
    const int count = data[7];
    if (data[0] >= CRTP_TRAJECTORY_CAP || data[1] != IN_MEMORY || data[2] != POLYNOMIALS || count < 1 ||
        count > PLAN_PIECE_CAP || offset > CRTP_MEMORY_SIZE ||
        (size_t)count * PIECE_BYTES > CRTP_MEMORY_SIZE - offset)
        return ENOEXEC;
    d->trajectories[data[0]] = (crtp_trajectory){1, offset, count};
    return 0;
}

// A piece of the memory; 0: its numbers are none to fly.
static int read_piece(const uint8_t *memory, plan_piece *out)
{
    int is_valid = 1;
    for (size_t a = 0; a < PLAN_AXES; ++a) {
        for (size_t k = 0; k < PLAN_COEFFICIENTS; ++k)
            out->coefficients[a][k] = vy_crtp_get_float(memory + 4 * (a * PLAN_COEFFICIENTS + k));
        is_valid &= are_within(out->coefficients[a], PLAN_COEFFICIENTS, DISTANCE_MAX);
    }
    out->duration = vy_crtp_get_float(memory + 4 * PLAN_AXES * PLAN_COEFFICIENTS);
    return is_valid && out->duration > 0.0 && out->duration <= DURATION_MAX;
}

static int start_trajectory(crtp_device *d, int command, const uint8_t *data, size_t size)
{
    const int is_version_2 = command == START_TRAJECTORY_2;
    if (size < (is_version_2 ? 8u : 7u)) return ENOEXEC;
    const int is_relative = data[0] != 0, rotates_with_yaw = is_version_2 && data[1] != 0,
              is_reversed = data[is_version_2 ? 2 : 1] != 0;
    const uint8_t id = data[is_version_2 ? 3 : 2];
    const double scale = vy_crtp_get_float(data + (is_version_2 ? 4 : 3));
    if (!(scale >= 1e-3 && scale <= 1e3)) return EINVAL;
    if (id >= CRTP_TRAJECTORY_CAP || !d->trajectories[id].is_defined) return ENOEXEC;
    if (!may_fly(d)) return 1;
    const plan_point current = start_point(d);
    const crtp_trajectory *t = &d->trajectories[id];
    crtp_plan plan = {.begin = d->time,
                      .scale = scale,
                      .is_reversed = is_reversed,
                      .rotation_cosine = 1.0,
                      .count = t->count};
    for (int i = 0; i < t->count; ++i)
        if (!read_piece(d->memory + t->offset + (size_t)i * PIECE_BYTES, &plan.pieces[i])) return EINVAL;
    if (rotates_with_yaw) { // it begins with the nose where it is
        plan.turn = current.yaw - vy_crtp_plan_at(&plan, d->time).yaw;
        math_sincos(plan.turn, &plan.rotation_sine, &plan.rotation_cosine);
    }
    if (is_relative) {
        const vy_vec3 first_position = vy_crtp_plan_at(&plan, d->time).position;
        plan.shift = (vy_vec3){current.position.x - first_position.x, current.position.y - first_position.y,
                               current.position.z - first_position.z};
    }
    d->plan = plan;
    d->control_mode = CRTP_PLAN;
    return 0;
}

int vy_crtp_handle_high_level(crtp_device *d, const uint8_t *data, size_t size)
{
    const int command = data[0];
    if (command == DEFINE_TRAJECTORY) return define_trajectory(d, data + 1, size - 1);
    if (size < 2) return ENOEXEC;
    if (command == SET_GROUP_MASK) {
        d->group_mask = data[1];
        return 0;
    }
    if (data[1] != 0 && (data[1] & d->group_mask) == 0) return 0; // meant for others
    d->has_started = 1;
    switch (command) {
    case TAKEOFF:
    case TAKEOFF_2:
    case LAND:
    case LAND_2: return plan_height(d, command, data + 2, size - 2);
    case STOP: d->control_mode = CRTP_OFF; return 0;
    case GO_TO:
    case GO_TO_2: return plan_go_to(d, command, data + 2, size - 2);
    case START_TRAJECTORY:
    case START_TRAJECTORY_2: return start_trajectory(d, command, data + 2, size - 2);
    default: return ENOEXEC;
    }
}

// --- setpoints of a client that flies by itself

static void handle_generic(crtp_device *d, const uint8_t *data, size_t size)
{
    double n[4]; // of the setpoint of this type, as it is sent: see below
    if (data[0] == SETPOINT_STOP) d->control_mode = CRTP_OFF;
    if (size < 17) return;
    for (size_t i = 0; i < 4; ++i) n[i] = vy_crtp_get_float(data + 1 + 4 * i);
    const int is_known = data[0] == SETPOINT_VELOCITY || data[0] == SETPOINT_VELOCITY_OLD ||
                         data[0] == SETPOINT_HOVER || data[0] == SETPOINT_HOVER_OLD ||
                         data[0] == SETPOINT_POSITION;
    if (!is_known || !are_within(n, 4, DISTANCE_MAX) || !may_fly(d)) return;
    d->setpoint_time = d->time;
    if (data[0] == SETPOINT_POSITION) {
        d->control_mode = CRTP_POSITION;
        d->setpoint = (vy_vec3){n[0], n[1], n[2]};
        d->yaw = DEGREE * n[3];
        return;
    }
    // The old ones turn clockwise.
    const int is_old_version = data[0] == SETPOINT_VELOCITY_OLD || data[0] == SETPOINT_HOVER_OLD;
    const int is_hover = data[0] == SETPOINT_HOVER || data[0] == SETPOINT_HOVER_OLD;
    double sine = 0.0, cosine = 1.0;
    if (is_hover) math_sincos(measured_point(d).yaw, &sine, &cosine); // ahead and to the left of the nose
    d->control_mode = CRTP_VELOCITY;
    d->setpoint = (vy_vec3){cosine * n[0] - sine * n[1], sine * n[0] + cosine * n[1], is_hover ? 0.0 : n[2]};
    d->yaw_rate = (is_old_version ? -DEGREE : DEGREE) * n[is_hover ? 2 : 3];
    d->holds_height = is_hover;
    d->height = n[3];
}

void vy_crtp_handle_setpoint(crtp_device *d, int port, int channel, const uint8_t *data, size_t size)
{
    enum { SETPOINTS, META };
    if (size < 1) return;
    d->has_started = 1;
    if (port ==
        CRTP_SETPOINT) { // roll, pitch, yaw rate, thrust: only without thrust, as cflib takes its leave
        if (channel == SETPOINTS && size >= 14 && vy_crtp_get(data + 12, 2) == 0) d->control_mode = CRTP_OFF;
        return;
    }
    if (channel == SETPOINTS) handle_generic(d, data, size);
    if (channel == META && data[0] == 0 &&
        (d->control_mode == CRTP_VELOCITY || d->control_mode == CRTP_POSITION)) {
        const plan_point current = measured_point(d); // the high-level commander continues from here
        vy_crtp_plan_to(&current, current.position, current.yaw, 1.0, 0, d->time, &d->plan);
        d->control_mode = CRTP_PLAN;
    }
}

// --- what to fly

static plan_point manual_goal(crtp_device *d)
{
    const plan_point current = measured_point(d);
    const double age = d->time - d->setpoint_time;
    plan_point goal = current;
    if (age > SETPOINT_TIMEOUT_SHUTDOWN) d->control_mode = CRTP_OFF;
    if (d->control_mode == CRTP_POSITION) {
        goal.position = d->setpoint;
        goal.yaw = d->yaw;
    } else if (age <= SETPOINT_TIMEOUT_STABILIZE) {
        goal.velocity = d->setpoint;
        goal.yaw_rate = d->yaw_rate;
        if (d->holds_height) goal.position.z = d->height;
    }
    return goal;
}

plan_point vy_crtp_goal(crtp_device *d, int *are_motors_on)
{
    if (d->control_mode == CRTP_LANDING && d->time >= d->plan.begin + vy_crtp_plan_duration(&d->plan))
        d->control_mode = CRTP_OFF;
    plan_point goal = start_point(d);
    if (d->control_mode == CRTP_VELOCITY || d->control_mode == CRTP_POSITION) goal = manual_goal(d);
    *are_motors_on = d->control_mode != CRTP_OFF;
    d->values[CRTP_LOG_ctrltarget_x] = goal.position.x;
    d->values[CRTP_LOG_ctrltarget_y] = goal.position.y;
    d->values[CRTP_LOG_ctrltarget_z] = goal.position.z;
    d->values[CRTP_LOG_ctrltarget_yaw] = goal.yaw / DEGREE;
    return goal;
}
