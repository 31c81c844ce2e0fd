// budget_loop.c - a budget in closed loop: what was flown since the last evaluation, and what the strict
// flight can have been.
//
// The certificate of an open loop looks ahead; this one looks back. What the drone did until now is known, so
// loads left out are bounded by the speeds and rates it had, widened by the bound itself.
#include "base/real.h"
#include "base/assert.h"
#include "environment/nap.h"
#include "world/budget_loop.h"
#include "world/world_impl.h"

// The envelope keeps at least the lesser margin over what was seen at the ends of steps, and is widened to
// the greater one.
#define MARGIN_MIN 1.03
#define MARGIN     1.1
// A plan is made for a flight that becomes so many times livelier.
#define ENVELOPE_MARGIN 1.2
// Of what an autopilot's place and heading change between two decisions.
#define SWITCH_FRACTION 0.1

// No envelope is narrower: what can change within a step is known to within this.
static const double envelope_min[ENVELOPE_COUNT] = {
    [ENVELOPE_TILT] = 2e-3,          [ENVELOPE_THRUST_ERROR] = 0.01, [ENVELOPE_RATE_LATERAL] = 0.02,
    [ENVELOPE_RATE_YAW] = 0.02,      [ENVELOPE_DESIRED_TILT] = 2e-3, [ENVELOPE_INVERSE_ERROR] = 1e-4,
    [ENVELOPE_ERROR_LATERAL] = 2e-3, [ENVELOPE_ERROR_YAW] = 2e-3,    [ENVELOPE_SPEED_RATIO] = 1e-3,
};

static double horizontal_length(vec3 v) { return real_sqrt(v.x * v.x + v.y * v.y); }

// What following the flight plan until the end of the budget will make of the envelope: a forecast.
static void forecast_envelope(const vy_model *m, uint32_t index, double *out)
{
    const vy_gains *gains = &m->drones[index].controller.gains;
    const double g = -m->params[index].ladder.gravity.z;
    const double step =
        real_max((double)m->drones[index].control_period * m->dt, m->nap.budget.duration / 1e4);
    double horizontal_max = 0.0, vertical_max = 0.0, tilt_rate_max = 0.0, yaw_rate_max = 0.0, yaw, last_yaw;
    const vy_controller_kind law = m->drones[index].controller.kind;
    reference last = drone_reference(m, index, 0.0, &last_yaw);
    const uint64_t count = (uint64_t)(m->nap.budget.duration / step);
    for (uint64_t k = 1; k <= count; ++k) {
        const reference r = drone_reference(m, index, (double)k * step, &yaw);
        const vec3 jerk = vec3_scale(1.0 / step, vec3_sub(r.acceleration, last.acceleration));
        horizontal_max = real_max(horizontal_max, horizontal_length(r.acceleration));
        vertical_max = real_max(vertical_max, real_abs(r.acceleration.z));
        tilt_rate_max = real_max(tilt_rate_max, horizontal_length(jerk) / g);
        yaw_rate_max = real_max(yaw_rate_max, real_abs(yaw - last_yaw) / step);
        if (law != VY_CONTROLLER_HOLD) {
            const trajectory_point p = drone_trajectory(m, index, (double)k * step);
            const double values[] = {[0] = vec3_length(p.d[3]),
                                     [ENVELOPE_SNAP - ENVELOPE_JERK] = vec3_length(p.d[4]),
                                     [ENVELOPE_NET_THRUST - ENVELOPE_JERK] = vec3_length(p.d[2]),
                                     [ENVELOPE_HEADING_RATE - ENVELOPE_JERK] = real_abs(p.yaw_rate),
                                     [ENVELOPE_HEADING_ACCELERATION - ENVELOPE_JERK] =
                                         real_abs(p.yaw_acceleration),
                                     [ENVELOPE_JERK_VERTICAL - ENVELOPE_JERK] = real_abs(p.d[3].z),
                                     [ENVELOPE_SNAP_VERTICAL - ENVELOPE_JERK] = real_abs(p.d[4].z)};
            for (int i = ENVELOPE_JERK; i < ENVELOPE_COUNT; ++i)
                out[i] = real_max(out[i], values[i - ENVELOPE_JERK]);
        }
        last = r;
        last_yaw = yaw;
    }
    out[ENVELOPE_TILT] = out[ENVELOPE_DESIRED_TILT] = horizontal_max / g;
    out[ENVELOPE_THRUST_ERROR] = vertical_max + 0.5 * horizontal_max * horizontal_max / g;
    out[ENVELOPE_INVERSE_ERROR] = vertical_max / (g * g);
    out[ENVELOPE_RATE_LATERAL] = out[ENVELOPE_RATE_ESTIMATE] = tilt_rate_max;
    out[ENVELOPE_RATE_YAW] = yaw_rate_max;
    out[ENVELOPE_ERROR_LATERAL] = tilt_rate_max / real_max(gains->attitude, 1e-3);
    out[ENVELOPE_ERROR_YAW] = yaw_rate_max / real_max(gains->yaw, 1e-3);
}

// Whether it keeps a velocity: the autopilot, and an intent of the rungs that sticks and velocities have.
static int holds_velocity_of(const vy_controller_def *c)
{
    const vy_rung rung = c->start.rung;
    return c->kind == VY_CONTROLLER_AUTOPILOT ||
           (c->kind == VY_CONTROLLER_INTENT && (rung == VY_RUNG_VELOCITY || rung == VY_RUNG_PILOT));
}

// Likewise of sticks that are pushed as far as the autopilot does, at once.
static void forecast_sticks(const vy_model *m, uint32_t index, double *out)
{
    const vy_controller_def *c = &m->drones[index].controller;
    const ladder_params *ladder = &m->params[index].ladder;
    const double g = -ladder->gravity.z;
    if (c->kind != VY_CONTROLLER_AUTOPILOT) return; // what it does at first is what it does
    const double speed = (double)c->autopilot.def.throttle * ladder->stick[0],
                 yaw_rate = real_abs(ladder->stick[3]);
    const double horizontal = speed * (c->pilot.response + yaw_rate),
                 vertical = ladder->stick[2] * c->pilot.response;
    out[ENVELOPE_TILT] = out[ENVELOPE_DESIRED_TILT] = horizontal / g;
    out[ENVELOPE_THRUST_ERROR] = vertical + 0.5 * horizontal * horizontal / g;
    out[ENVELOPE_INVERSE_ERROR] = vertical / (g * g);
    out[ENVELOPE_RATE_LATERAL] = out[ENVELOPE_RATE_ESTIMATE] = horizontal * ladder->velocity_gain / g;
    out[ENVELOPE_RATE_YAW] = yaw_rate;
    out[ENVELOPE_ERROR_LATERAL] = out[ENVELOPE_RATE_LATERAL] / real_max(c->gains.attitude, 1e-3);
    out[ENVELOPE_ERROR_YAW] = yaw_rate / real_max(c->gains.rate, 1e-3);
    out[ENVELOPE_STICK_SPEED] = speed;
    out[ENVELOPE_TURN_RATE] = yaw_rate;
}

void vy_loop_build_drone(const vy_model *m, uint32_t index, loop_model *out)
{
    const drone_model *d = &m->drones[index];
    const drone_params *params = &m->params[index];
    const vy_gains *gains = &d->controller.gains;
    const vec3 drag = params->plant.effects.linear_drag;
    const vy_controller_kind kind = d->controller.kind;
    const int holds_velocity = holds_velocity_of(&d->controller);
    const uint64_t law = kind == VY_CONTROLLER_LEE         ? LOOP_LEE
                         : kind == VY_CONTROLLER_MELLINGER ? LOOP_MELLINGER
                         : holds_velocity                  ? LOOP_VELOCITY_RUNG
                                                           : LOOP_CASCADE;
    loop_params loop = {.dt = m->dt,
                        .gravity = -params->ladder.gravity.z,
                        .lag = params->plant.curve.rise > 0.0 ? 1.0 / params->plant.curve.rise : 0.0,
                        .drag = {0.5 * (drag.x + drag.y) / params->ladder.mass, drag.z / params->ladder.mass},
                        .imu = d->imu_period,
                        .mocap = d->mocap_period,
                        .control = holds_velocity ? d->rate_period : d->control_period,
                        .rate = d->rate_period,
                        .horizon = holds_velocity ? (uint64_t)(m->nap.budget.duration / m->dt) + 1 : 0,
                        .truth = d->estimate_source == ESTIMATE_TRUTH,
                        .law = law,
                        .incremental = law != LOOP_LEE && law != LOOP_MELLINGER && params->ladder.uses_indi,
                        .position = gains->position,
                        .velocity = gains->velocity,
                        .integral = gains->integral,
                        .attitude = gains->attitude,
                        .yaw = gains->yaw,
                        .rates = gains->rate,
                        .position_gain = params->fading.position_gain,
                        .velocity_gain = params->fading.velocity_gain,
                        .accel_gain = params->fading.accel_gain,
                        .attitude_gain = params->fading.attitude_gain,
                        .gyro_gain = params->fading.gyro_gain};
    if (loop.incremental) {
        memcpy(loop.indi_transition, params->ladder.indi.transition, sizeof loop.indi_transition);
        loop.indi_lag_decay = params->ladder.indi.lag_decay;
    }
    memset(out, 0, sizeof *out);
    if (!vy_controller_follows(kind) && !holds_velocity) return;
    if (d->estimate_source == ESTIMATE_FILTER || d->has_drive) return;
    if (params->plant.curve.rise != params->plant.curve.fall || d->has_powertrain || d->has_supervisor)
        return;
    if (m->env.planet.on || m->env.gravity.body_count > 0 || m->nap.strict) return;
    if (m->physics.engine != VY_ENGINE_STRICT || m->turbulence_period != 0 || m->wakes.on) return;
    vy_loop_build(&loop, &params->ladder, &d->layout, index > 0 ? &out[-1] : NULL, out);
    if (!out->is_bounded) return;
    if (holds_velocity) {
        forecast_sticks(m, index, out->planned_envelope);
    } else {
        forecast_envelope(m, index, out->planned_envelope);
    }
}

void vy_loop_limit_budget(const vy_world *world, uint32_t index, vy_budget_def *budget)
{
    const drone_model *d = &world->model.drones[index];
    if (d->controller.kind != VY_CONTROLLER_AUTOPILOT) return;
    const double *planned = world->loops[index].planned_envelope;
    const double period = (double)d->control_period * world->model.dt;
    budget->position = real_min(budget->position, SWITCH_FRACTION * period * planned[ENVELOPE_STICK_SPEED]);
    budget->attitude = real_min(budget->attitude, SWITCH_FRACTION * period * planned[ENVELOPE_TURN_RATE]);
}

int vy_loop_is_isolated(const vy_world *world, uint32_t index)
{
    const vy_model *m = &world->model;
    const int is_high_order = m->physics.integrator == VY_INTEGRATOR_RK4 ||
                              m->physics.integrator == VY_INTEGRATOR_LIE_MIDPOINT; // as the linear loop
    return is_high_order && world->loops[index].is_bounded && m->fault_count == 0 && m->payload_count == 0 &&
           m->joint_count == 0 && !m->collides;
}

static void observe_max(loop_block *b, int extreme, double value)
{
    b->observed[extreme] = real_max(b->observed[extreme], value);
}

// The same for a square or a quotient: a root or a division is taken when it is the widest so far.
static void observe_root(loop_block *b, int extreme, double square)
{
    if (square > b->observed[extreme] * b->observed[extreme])
        b->observed[extreme] = real_sqrt(square) * (1.0 + 0x1p-50);
}

static void observe_ratio(loop_block *b, int extreme, double numerator, double denominator)
{
    if (!(numerator <= b->observed[extreme] * denominator))
        b->observed[extreme] = denominator > 0.0 ? numerator / denominator * (1.0 + 0x1p-50) : NAP_UNBOUNDED;
}

static double horizontal_square(vec3 v) { return v.x * v.x + v.y * v.y; }
static vec3 up_of(quat q) { return quat_rotate(q, vec3_make(0.0, 0.0, 1.0)); }

// The plant: attitude, rate, rotors. Returns the specific thrust.
static vec3 observe_plant(const drone_params *p, const loop_model *loop, const drone_block *d, loop_block *b)
{
    const vec3 up = up_of(d->body.attitude), rate = quat_rotate(d->body.attitude, d->body.rate);
    const double slope = p->plant.curve.linear, curve = 2.0 * p->plant.rotor.thrust_coef;
    const double limit = 1.0 / p->ladder.rotor_thrust_max[0];
    double thrust = 0.0, torque[3] = {0.0};
    for (int i = 0; i < (int)p->ladder.rotor_count; ++i) {
        const double speed = d->rotor_speed[i], target = motor_speed(&p->motor, d->control.motors[i]);
        const double thrust_now = speed * (slope + 0.5 * curve * speed),
                     thrust_target = target * (slope + 0.5 * curve * target);
        thrust += thrust_now;
        for (int k = 0; k < 3; ++k) torque[k] += thrust_now * p->ladder.allocate.rows[k + 1][i];
        observe_max(b, ENVELOPE_THRUST_FRACTION, limit * real_max(thrust_now, thrust_target));
        observe_max(b, ENVELOPE_THRUST_MARGIN, 1.0 - limit * real_min(thrust_now, thrust_target));
        if (!(loop->params.lag > 0.0)) continue;
        const double slope_now = slope + curve * speed, slope_target = slope + curve * target;
        observe_ratio(b, ENVELOPE_SPEED_RATIO, real_abs(slope_target - slope_now),
                      real_min(slope_now, slope_target));
    }
    thrust /= p->ladder.mass;
    const double *scale = p->ladder.allocate.scale, unit = 1.0 / p->ladder.thrust_max;
    const vec3 torque_body = vec3_make(torque[0] / scale[1], torque[1] / scale[2], torque[2] / scale[3]);
    observe_root(b, ENVELOPE_TORQUE, unit * unit * vec3_dot(torque_body, torque_body));
    observe_root(b, ENVELOPE_TILT, horizontal_square(up));
    observe_max(b, ENVELOPE_THRUST, thrust);
    observe_max(b, ENVELOPE_THRUST_ERROR, real_abs(thrust * up.z - loop->params.gravity));
    observe_root(b, ENVELOPE_RATE_LATERAL, horizontal_square(rate));
    observe_max(b, ENVELOPE_RATE_YAW, real_abs(rate.z));
    observe_root(b, ENVELOPE_SPEED, vec3_dot(d->body.velocity, d->body.velocity));
    if (up.z <= 0.0) observe_max(b, ENVELOPE_TILT, 2.0);
    return vec3_scale(thrust, up);
}

// What is wanted: the acceleration `magnitude` (without gravity's) along `up`.
static void observe_desired(double g, vec3 up, double magnitude, vec3 integral, loop_block *b)
{
    observe_max(b, ENVELOPE_DESIRED_TILT, up.z > 0.0 ? horizontal_length(up) : 2.0);
    observe_max(b, ENVELOPE_DESIRED_MAX, magnitude);
    observe_max(b, ENVELOPE_DESIRED_INVERSE, 1.0 / real_max(magnitude, 1e-9));
    observe_max(b, ENVELOPE_INVERSE_ERROR, real_abs(up.z / real_max(magnitude, 1e-9) - 1.0 / g));
    observe_max(b, ENVELOPE_INTEGRAL, vec3_max_abs(integral));
}

// A law at once, as it has just acted: desired acceleration, its derivatives, and the attitude from it.
static void observe_trajectory(const vy_model *m, uint32_t index, const loop_model *loop, uint64_t tick,
                               const drone_block *d, loop_block *b)
{
    const trajectory_point r = drone_trajectory(m, index, time_of(m, tick));
    const mat3 attitude = quat_matrix(d->estimate.attitude);
    const vec3 z = vec3_make(attitude.m[0][2], attitude.m[1][2], attitude.m[2][2]);
    vec3 a[3];
    const ladder_params *ladder = &m->params[index].ladder;
    const drag_feedforward drag = drag_feedforward_at(ladder, &r);
    const double thrust = trajectory_acceleration(ladder, &r, &drag, &d->estimate, &attitude,
                                                  loop->params.law == LOOP_LEE, &d->control.integral, a);
    const desired_frame frame = geometric_frame(a, &r);
    const vec3 error = mat3_mul_vec(attitude, attitude_error(frame.r, attitude)); // sines of the angles
    const double norm = vec3_length(a[0]);
    const vec3 up = vec3_make(frame.r.m[0][2], frame.r.m[1][2], frame.r.m[2][2]);
    observe_desired(loop->params.gravity, up, norm, d->control.integral, b);
    double trace = 0.0;
    for (int i = 0; i < 9; ++i) trace += frame.r.m[i / 3][i % 3] * attitude.m[i / 3][i % 3];
    const int is_small_angle =
        trace > 2.5; // 0.72 rad, where an angle is 1.1 times its sine; beyond, no bound
    observe_max(b, ENVELOPE_ERROR_LATERAL, is_small_angle ? 1.1 * horizontal_length(error) : 2.0);
    observe_max(b, ENVELOPE_ERROR_YAW, is_small_angle ? 1.1 * real_abs(error.z) : 2.0);
    observe_max(b, ENVELOPE_JERK, vec3_length(a[1]));
    observe_max(b, ENVELOPE_SNAP, vec3_length(a[2]));
    observe_max(b, ENVELOPE_JERK_VERTICAL, real_abs(a[1].z));
    observe_max(b, ENVELOPE_SNAP_VERTICAL, real_abs(a[2].z));
    observe_max(b, ENVELOPE_NET_THRUST,
                vec3_length(vec3_sub(vec3_scale(thrust, z), vec3_make(0.0, 0.0, loop->params.gravity))));
    observe_max(b, ENVELOPE_HEADING_RATE, real_abs(r.yaw_rate));
    observe_max(b, ENVELOPE_HEADING_ACCELERATION, real_abs(r.yaw_acceleration));
}

// The cascade: what it wants, and how far the estimate is from it.
static void observe_cascade(const drone_params *p, const loop_model *loop, int has_acted,
                            const drone_block *d, loop_block *b)
{
    const control_state *c = &d->control;
    const quat error = quat_mul(c->attitude, quat_conj(d->estimate.attitude));
    const double g = loop->params.gravity;
    observe_root(b, ENVELOPE_ERROR_LATERAL, 4.0 * (error.x * error.x + error.y * error.y));
    observe_max(b, ENVELOPE_ERROR_YAW, 2.0 * real_abs(error.z));
    if (!has_acted) return;
    // Thrust is mass times the desired acceleration along the body z of the moment.
    const vec3 desired = up_of(c->attitude), up = up_of(d->estimate.attitude);
    const double cosine = vec3_dot(desired, up), a = c->thrust / (p->ladder.mass * real_max(cosine, 0.1));
    observe_desired(g, cosine > 0.1 ? desired : vec3_zero(), a, c->integral, b);
}

static double angle_square(quat q) { return 4.0 * (q.x * q.x + q.y * q.y + q.z * q.z); }

// The estimator: how far it is from the truth, and what it sees.
static void observe_estimator(const loop_model *loop, int is_corrected, vec3 thrust, const drone_block *d,
                              loop_block *b)
{
    const estimator_state *e = &d->estimate;
    const quat inverse_attitude = quat_conj(e->attitude);
    const vec3 specific_force = quat_rotate(e->attitude, vec3_sub(d->imu.accel, e->accel_bias)),
               noise = vec3_sub(specific_force, thrust);
    observe_root(b, ENVELOPE_ESTIMATE_ERROR, angle_square(quat_mul(inverse_attitude, d->body.attitude)));
    observe_root(b, ENVELOPE_SENSED_LATERAL, horizontal_square(noise));
    observe_max(b, ENVELOPE_SENSED_VERTICAL, real_abs(noise.z));
    observe_root(b, ENVELOPE_RATE_ESTIMATE, vec3_dot(e->rate, e->rate));
    if (!is_corrected) return;
    // After a correction a share of what was seen is left.
    observe_max(b, ENVELOPE_INNOVATION,
                vec3_length(vec3_sub(d->mocap.position, e->position)) /
                    real_max(1.0 - loop->params.position_gain, 1e-9));
    observe_max(b, ENVELOPE_ANGLE_INNOVATION,
                real_sqrt(angle_square(quat_mul(inverse_attitude, d->mocap.attitude))) /
                    real_max(1.0 - loop->params.attitude_gain, 1e-9));
}

// The velocity rung: what it turns with the heading.
static void observe_heading(const drone_block *d, loop_block *b)
{
    const control_state *c = &d->control;
    const double lead = angle_wrapped(c->heading - yaw_of(d->estimate.attitude));
    if (!(real_abs(lead) < LOOP_LEAD_MAX)) observe_max(b, ENVELOPE_ERROR_YAW, 2.0); // no bound
    if (d->rung == VY_RUNG_PILOT) observe_root(b, ENVELOPE_STICK_SPEED, horizontal_square(c->speed));
    observe_max(b, ENVELOPE_TURN_RATE, real_abs(c->yaw_rate));
}

// How near the autopilot, as it has just acted, was to deciding otherwise: autopilot_sticks().
static void observe_autopilot(const autopilot_params *p, const drone_block *d, loop_block *b)
{
    const vec3 to_target = vec3_sub(p->target, d->estimate.position);
    const double distance = horizontal_length(to_target);
    if (!p->has_target) return;
    observe_max(b, ENVELOPE_SWITCH_DISTANCE_INVERSE, 1.0 / real_max(real_abs(distance - p->radius), 1e-12));
    if (distance < p->radius) return;
    const double angle =
        real_abs(angle_wrapped(math_atan2(to_target.y, to_target.x) - yaw_of(d->estimate.attitude)));
    const double margin = real_min(real_abs(angle - p->tolerance),
                                   angle > p->tolerance ? 3.141592653589793 - angle : p->tolerance);
    observe_max(b, ENVELOPE_SWITCH_ANGLE_INVERSE, 1.0 / real_max(margin, 1e-12));
    observe_max(b, ENVELOPE_SWITCH_DISTANCE_INVERSE,
                1.0 / real_max(real_abs(real_abs(to_target.z) - AUTOPILOT_DEAD_ZONE), 1e-12));
    observe_max(b, ENVELOPE_DISTANCE_INVERSE, 1.0 / real_max(distance, 1e-12));
}

static int loop_takes_rung(const loop_model *loop, uint64_t rung)
{
    if (loop->params.law == LOOP_VELOCITY_RUNG) return rung == VY_RUNG_VELOCITY || rung == VY_RUNG_PILOT;
    return rung == (loop_is_geometric(&loop->params) ? VY_RUNG_WRENCH : VY_RUNG_ATTITUDE);
}

void vy_loop_observe(const vy_world *world, uint32_t index, uint64_t tick, loop_block *b)
{
    const vy_model *m = &world->model;
    const drone_model *dm = &m->drones[index];
    const drone_block *d = &world->drones[index];
    const loop_model *loop = &world->loops[index];
    const vec3 thrust = observe_plant(&m->params[index], loop, d, b);
    const int is_geometric = loop_is_geometric(&loop->params), has_acted = due(tick, dm->control_period);
    if (!loop_takes_rung(loop, d->rung)) { // it has not acted yet, or another does
        if (b->standing == LOOP_BOUND_VALID) b->standing = LOOP_BOUND_LOST;
        return;
    }
    if (is_geometric) {
        if (has_acted) observe_trajectory(m, index, loop, tick, d, b);
    } else if (due(tick, dm->rate_period)) {
        const int holds_velocity = loop->params.law == LOOP_VELOCITY_RUNG;
        observe_cascade(&m->params[index], loop, has_acted || holds_velocity, d, b);
        if (holds_velocity) observe_heading(d, b);
    }
    if (has_acted && dm->controller.kind == VY_CONTROLLER_AUTOPILOT)
        observe_autopilot(&m->params[index].autopilot, d, b);
    if (!loop->params.truth && due(tick, dm->imu_period))
        observe_estimator(loop, due(tick, dm->mocap_period), thrust, d, b);
}

// Where both motions were since the last evaluation, when they are apart by `deviation` at most.
static nap_reach reach_since_evaluation(const vy_world *world, uint32_t index, const nap_inputs *inputs,
                                        const loop_block *b, const double *deviation)
{
    const drone_params *p = &world->model.params[index];
    const environment_model *env = &world->model.env;
    const vec3 position = world->drones[index].body.position;
    nap_reach r;
    memset(&r, 0, sizeof r);
    effect_reach *e = &r.effect;
    e->gravity = gravity_bound(&env->gravity, position, 0.0); // uniform
    const double rate = real_sqrt(b->envelope[ENVELOPE_RATE_LATERAL] * b->envelope[ENVELOPE_RATE_LATERAL] +
                                  b->envelope[ENVELOPE_RATE_YAW] * b->envelope[ENVELOPE_RATE_YAW]);
    const double speed_gain = 4.0 * e->gravity * world->model.dt; // within a step
    e->speed = b->observed[ENVELOPE_SPEED] + speed_gain + deviation[DEVIATION_VELOCITY];
    e->rate = rate + deviation[DEVIATION_RATE];
    e->disturbance = inputs->disturbance;
    e->disturbance_torque = inputs->disturbance_torque;
    e->magnetic_field = vec3_length(vec3_of(env->magnetic));
    e->radiation_pressure = vec3_length(vec3_of(env->radiation_pressure));
    e->rotor_force = p->ladder.mass * (b->envelope[ENVELOPE_THRUST] + b->thrust);
    e->rotor_torque = b->envelope[ENVELOPE_TORQUE] + p->nap.inertia_max * b->torque;
    r.altitude = altitude_at(env, position);
    r.max_distance = inputs->period * e->speed + deviation[DEVIATION_POSITION];
    nap_air_reach(env, inputs, inputs->period, position, r.altitude, &r);
    r.acceleration = e->gravity + p->plant.body.inverse_mass * nap_force_bound(&p->plant.effects, e);
    return r;
}

// What was left out, and how the rest changes with the motion.
typedef struct load_changes {
    double neglect[2], slopes[LOOP_SLOPES]; // as in loop_block
    double onset[2];                        // left out once the motions are apart at all: lift may flip
} load_changes;

static load_changes changes_of(const vy_world *world, uint32_t index, const nap_inputs *inputs,
                               uint64_t flags, const nap_reach *reach, const nap_bounds *bounds,
                               double tilt_max, const double *deviation)
{
    const drone_params *p = &world->model.params[index];
    const effect_params *effects = &p->plant.effects;
    const double inverse_inertia = 1.0 / p->nap.inertia_min, inverse_mass = p->plant.body.inverse_mass;
    nap_reach without_rotors = *reach; // the rotors' own forces are in the loop
    without_rotors.effect.rotor_force = 0.0;
    load_changes out = {.neglect = {0.0, 0.0}};
    for (int i = 0; i < EFFECT_COUNT; ++i) {
        if ((flags >> i & 1u) != 0 || !nap_has_effect(&p->nap, i)) continue;
        out.neglect[0] += inverse_mass * bounds->effect[i].force;
        out.neglect[1] += inverse_inertia * bounds->effect[i].torque;
    }
    const deviation_system sensitivity =
        nap_sensitivity(&world->model.env, &p->nap, &p->plant, &world->drones[index].body, inputs, flags,
                        &without_rotors, &without_rotors, bounds, 1, deviation);
    const double flow = reach->effect.speed + reach->effect.wind;
#define IF_ON(effect, value) ((flags >> EFFECT_##effect & 1u) != 0 ? (value) : 0.0)
    // Linear drag is in the loop, the same across in all directions and along the world's axes.
    const vec3 drag_coefs = effects->linear_drag;
    const double tilt = 2.0 * (tilt_max + deviation[DEVIATION_ANGLE]);
    const double anisotropic_drag =
        0.5 * real_abs(drag_coefs.x - drag_coefs.y) +
        tilt * (vec3_max_abs(drag_coefs) - real_min(real_min(drag_coefs.x, drag_coefs.y), drag_coefs.z));
    const int has_drag = (flags >> EFFECT_linear_drag & 1u) != 0;
    const double drag = (has_drag ? anisotropic_drag : vec3_max_abs(drag_coefs)) +
                        IF_ON(drag, reach->effect.density * effects->drag_area * flow);
    const double damping =
        IF_ON(damping, vec3_max_abs(effects->spin_damping) +
                           0.25 * reach->effect.density * vec3_max_abs(effects->rate_damping_area) * flow);
    const double density_force = IF_ON(density, bounds->effect[EFFECT_density].force);
    // Of the rotors' thrust per metre: scale heights are above 5 km.
    const double density_gradient_force =
        IF_ON(density, effects->density_ratio * reach->effect.density / REFERENCE_DENSITY *
                           reach->effect.rotor_force / 5000.0);
#undef IF_ON
    const loop_slopes slopes = {.force_velocity = sensitivity.vv + inverse_mass * drag,
                                .force_angle = sensitivity.va,
                                .force_position = sensitivity.vp + inverse_mass * density_gradient_force,
                                .torque_velocity = sensitivity.ev,
                                .torque_angle = sensitivity.ea,
                                .torque_position = sensitivity.ep,
                                .torque_rate = inverse_inertia * damping,
                                .rotor_wrench_change =
                                    density_force / real_max(reach->effect.rotor_force, 1e-9),
                                .force = inverse_mass * nap_force_bound(effects, &without_rotors.effect) +
                                         inverse_mass * density_force};
    memcpy(out.slopes, &slopes, sizeof slopes);
    out.onset[0] = sensitivity.bv;
    out.onset[1] = sensitivity.be;
    if (out.neglect[0] > 0.0 || out.neglect[1] > 0.0 || deviation[DEVIATION_RATE] > 0.0) {
        out.neglect[0] += sensitivity.bv;
        out.neglect[1] += sensitivity.be;
    }
    return out;
}

// Have `envelope` cover `observed`, each by a margin. Returns whether one grew.
static int raise_envelope(const double *observed, int count, double margin_min, double *envelope)
{
    int has_grown = 0;
    for (int i = 0; i < count; ++i) {
        if (observed[i] * margin_min <= envelope[i]) continue;
        envelope[i] = observed[i] * MARGIN;
        has_grown = 1;
    }
    return has_grown;
}

static void store_bound(const loop_bound *bound, loop_block *b, double *deviation)
{
    const double(*bounds)[LOOP_SIGNALS] = bound->bound;
    const struct {
        int signal, other_axis;
    } signals[DEVIATION_COUNT] = {[DEVIATION_RATE] = {LOOP_RATE, LOOP_YAW},
                                  [DEVIATION_ANGLE] = {LOOP_ANGLE, LOOP_YAW},
                                  [DEVIATION_VELOCITY] = {LOOP_VELOCITY, LOOP_VERTICAL},
                                  [DEVIATION_POSITION] = {LOOP_POSITION, LOOP_VERTICAL}};
    for (int i = 0; i < DEVIATION_COUNT; ++i) {
        const double lateral = bounds[LOOP_LATERAL][signals[i].signal],
                     other = bounds[signals[i].other_axis][signals[i].signal];
        deviation[i] = real_max(deviation[i], real_sqrt(lateral * lateral + other * other));
    }
    b->thrust =
        real_max(b->thrust, bounds[LOOP_VERTICAL][LOOP_ACTUATION] +
                                b->envelope[ENVELOPE_TILT] * bounds[LOOP_LATERAL][LOOP_DESIRED_ACCELERATION]);
    b->torque = real_max(b->torque, bounds[LOOP_LATERAL][LOOP_ACTUATION] + bounds[LOOP_YAW][LOOP_ACTUATION]);
}

// Errors per acceleration left out, of turning and of moving: the last two inputs of a plan. They are those
// of a flight that becomes livelier than it was. Where such a one has no bound, nothing more is left out.
static void add_planned_errors(const loop_model *loop, const loop_block *b, const loop_slopes *slopes,
                               const loop_bound *within, budget_block *forecast)
{
    double planned_envelope[ENVELOPE_COUNT];
    for (int i = 0; i < ENVELOPE_COUNT; ++i) {
        const int is_lively = envelope_min[i] > 0.0 || i >= ENVELOPE_ESTIMATE_ERROR;
        planned_envelope[i] = is_lively
                                  ? ENVELOPE_MARGIN * real_max(b->envelope[i], loop->planned_envelope[i])
                                  : b->envelope[i];
    }
    memset(forecast->angle, 0, sizeof forecast->angle);
    memset(forecast->position, 0, sizeof forecast->position);
    for (int k = 0; k < 2; ++k) {
        const loop_neglect unit = {k == 1, k == 0};
        loop_bound bound;
        double deviation[DEVIATION_COUNT] = {0.0};
        loop_block scratch = {0};
        if (vy_loop_sensitivity(loop, planned_envelope, slopes, within, &unit, &bound)) {
            store_bound(&bound, &scratch, deviation);
        } else {
            for (int i = 0; i < DEVIATION_COUNT; ++i) deviation[i] = NAP_UNBOUNDED;
        }
        forecast->angle[DEVIATION_COUNT + k] = deviation[DEVIATION_ANGLE];
        forecast->position[DEVIATION_COUNT + k] = deviation[DEVIATION_POSITION];
    }
}

// Find the bound again for the envelope as it is now. Returns 0 where there is none.
static int find_bound(const loop_model *loop, loop_block *b, double *deviation, budget_block *forecast)
{
    const loop_neglect neglect = {b->neglect[0], b->neglect[1]};
    loop_slopes slopes;
    loop_bound bound;
    memcpy(&slopes, b->slopes, sizeof slopes);
    if (!vy_loop_solve(loop, b->envelope, &slopes, &neglect, &bound)) return 0;
    store_bound(&bound, b, deviation);
    add_planned_errors(loop, b, &slopes, &bound, forecast);
    return 1;
}

void vy_loop_certify(const vy_world *world, uint32_t index, uint64_t tick, uint64_t elapsed_ticks,
                     uint64_t flags, loop_block *b, double *deviation, nap_bounds *bounds,
                     budget_block *forecast)
{
    enum { ROUNDS_MAX = 8 };
    const vy_model *m = &world->model;
    const drone_params *p = &m->params[index];
    const double period = (double)elapsed_ticks * m->dt;
    const nap_inputs past_inputs = {.time = (double)tick * m->dt - period,
                                    .period = period,
                                    .disturbance = b->disturbances[0],
                                    .disturbance_torque = b->disturbances[1],
                                    .force_body = b->disturbances[2],
                                    .torque_world = b->disturbances[3]};
    VY_ASSERT(tick >= elapsed_ticks && b->standing != LOOP_BOUND_LOST);
    for (int i = 0; i < ENVELOPE_COUNT; ++i) b->envelope[i] = real_max(b->envelope[i], envelope_min[i]);
    int has_grown = raise_envelope(b->observed, ENVELOPE_COUNT, MARGIN_MIN, b->envelope), is_found = 0;
    has_grown |= b->standing == LOOP_BOUND_NOT_STARTED;
    // The loads are those within the bound, and the bound follows from the loads.
    for (int round = 0; round < ROUNDS_MAX && !is_found; ++round) {
        const nap_reach reach = reach_since_evaluation(world, index, &past_inputs, b, deviation);
        *bounds = nap_bounds_of(&p->plant.effects, &reach.effect);
        const load_changes period_changes = changes_of(world, index, &past_inputs, flags, &reach, bounds,
                                                       b->envelope[ENVELOPE_TILT], deviation);
        has_grown |= raise_envelope(period_changes.neglect, 2, 1.0, b->neglect);
        has_grown |= raise_envelope(period_changes.slopes, LOOP_SLOPES, 1.0, b->slopes);
        forecast->onset_angle = forecast->angle[DEVIATION_COUNT] * period_changes.onset[1] +
                                forecast->angle[DEVIATION_COUNT + 1] * period_changes.onset[0];
        forecast->onset_position = forecast->position[DEVIATION_COUNT] * period_changes.onset[1] +
                                   forecast->position[DEVIATION_COUNT + 1] * period_changes.onset[0];
        if (!has_grown) is_found = 1;
        if (has_grown && !find_bound(&world->loops[index], b, deviation, forecast)) break;
        has_grown = 0;
    }
    b->standing = is_found ? LOOP_BOUND_VALID : LOOP_BOUND_LOST;
    memset(b->observed, 0, sizeof b->observed);
}

void vy_loop_advance_to_now(const vy_world *world, uint32_t index, double *deviation)
{
    const vy_model *m = &world->model;
    const uint64_t tick = world->state->tick,
                   last_evaluation = tick == 0 ? 0 : (tick - 1) / m->nap_period * m->nap_period;
    if (m->has_loop == 0 || !vy_loop_is_isolated(world, index)) return;
    if (world->loop_states[index].standing != LOOP_BOUND_VALID || tick == last_evaluation) return;
    if ((double)last_evaluation * m->dt >= m->nap.budget.duration ||
        !(deviation[DEVIATION_POSITION] < NAP_UNBOUNDED))
        return;
    loop_block b = world->loop_states[index];
    budget_block forecast = world->budgets[index];
    nap_bounds bounds;
    vy_loop_observe(world, index, tick, &b);
    if (b.standing == LOOP_BOUND_VALID)
        vy_loop_certify(world, index, tick, tick - last_evaluation, world->drones[index].effects, &b,
                        deviation, &bounds, &forecast);
    const int has_neglect = b.neglect[0] > 0.0 || b.neglect[1] > 0.0;
    for (int i = 0; i < DEVIATION_COUNT && b.standing == LOOP_BOUND_LOST && has_neglect; ++i)
        deviation[i] = NAP_UNBOUNDED;
}
