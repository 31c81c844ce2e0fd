// controller_stage.c - controllers under test that are not built in: a user's function, or its logged
// replies.
#include "world/supervisor.h"
#include "world/world_impl.h"
#include "world/sensor_suite.h"
#include "base/assert.h"
#include "world/controller_stage.h"

// The samples of a sensor suite's sensors: each block begins as its sample does.
static void copy_samples(const vy_world *world, const sensor_suite_model *sensor_suite, vy_samples *s)
{
    const sensor_suite_blocks blocks = vy_sensor_suite_blocks(world, sensor_suite);
#define COPY_SAMPLE(id, stream, name, needs, text) \
    if (blocks.name != NULL) memcpy(&s->name, blocks.name, sizeof s->name);
    SENSORS(COPY_SAMPLE)
#undef COPY_SAMPLE
}

static vy_reference reference_of(const vy_model *m, uint32_t index, double time)
{
    const vy_controller_def *c = &m->drones[index].controller;
    const trajectory_point p = drone_trajectory(m, index, time);
    vy_reference r = {p.d[0], p.d[1], p.d[2], p.yaw, p.yaw_rate};
    if (c->path.kind == VY_PATH_SETPOINTS && c->setpoint_count > 0)
        r.yaw_rate = setpoint_yaw_rate(c->setpoints, c->setpoint_count, time);
    return r;
}

// The velocity of the air: the declared wind with gusts, as the pitot tube has it.
static vec3 wind_around(const vy_model *m, const drone_block *d, double time)
{
    const held_inputs held = {.turbulence = d->gust};
    return vec3_sub(d->body.velocity, air_sample(&m->env, &held, &d->body, time, EFFECT_BIT(wind)).flow);
}

vy_samples vy_drone_samples(const vy_world *world, uint32_t index)
{
    const vy_model *m = &world->model;
    const uint64_t tick = world->state->tick;
    const drone_block *d = &world->drones[index];
    VY_ASSERT(index < m->drone_count && m->drones[index].sensor_suite <= m->sensor_suite_count);
    const estimator_state *estimate = &d->estimate;
    const uint32_t sensor_suite = m->drones[index].sensor_suite;
    vy_samples s = {
        .tick = tick,
        .time = (double)tick * m->dt,
        .dt = m->dt,
        .imu = {d->imu_tick, d->imu.accel, d->imu.gyro},
        .mocap = {d->mocap_tick, d->mocap.position, d->mocap.attitude},
        .estimate = {estimate->position, estimate->velocity, estimate->attitude, estimate->rate,
                     estimate->gyro_bias, estimate->accel_bias},
    };
    if (world->contact_totals != NULL) {
        const contact_totals_block *totals = &world->contact_totals[index];
        const double *j = totals->contact.impulse;
        s.touch.contacts = totals->now;
        s.touch.impulse = quat_unrotate(d->body.attitude, vec3_make(j[0], j[1], j[2]));
    }
    if (sensor_suite > 0) {
        if (tick > 0) copy_samples(world, &m->sensor_suites[sensor_suite - 1], &s);
        s.air_temperature = air_at(&m->env.air, altitude_at(&m->env, d->body.position)).temperature;
    }
    s.reference = reference_of(m, index, s.time);
    s.armed = d->rung != VY_RUNG_NONE;
    if (m->drones[index].controller.truth)
        s.truth = (vy_truth_sample){d->body.position, d->body.velocity, d->body.attitude, d->body.rate,
                                    wind_around(m, d, s.time)};
    return s;
}

// The events of one call.
static uint32_t call_controller(const vy_world *world, uint32_t index, world_block *w, drone_block *d)
{
    const vy_controller_def *controller = &world->model.drones[index].controller;
    VY_ASSERT(vy_controller_is_external(controller->kind));
    const vy_replay *replay = &world->replay;
    vy_intent reply;
    memset(&reply, 0, sizeof reply);
    if (replay->reply == NULL || !replay->reply(replay->self, world, index, &reply)) {
        const vy_samples samples = vy_drone_samples(world, index);
        if (controller->call == NULL) {
            reply.verdict = VY_VERDICT_ABSENT;
        } else {
            controller->call(controller->self, &samples, &reply);
        }
    }
    (void)fpu_enter(); // the controller may have changed the rounding mode
    if (reply.verdict == VY_VERDICT_REPLIED && reply.status == VY_REPLY_STATUS_NOT_READY)
        reply.verdict = VY_VERDICT_NOT_READY; // nobody has asked again
    const uint64_t clamps_before = d->clamps;
    control_reply command = vy_control_reply(&reply);
    if (!vy_payload_may_drop(&world->model, index, reply.drop))
        command.rung = ~(bits)0; // not a command either
    if (reply.verdict != VY_VERDICT_REPLIED) {
        if (!vy_supervisor_take_over(&world->model, index, w->tick, VY_HANDOVER_CONTROLLER, &reply, d,
                                     world->supervisors))
            world_fail(1, VY_FAILURE_CONTROLLER, index, (double)reply.detail, 0.0, (int)reply.verdict, w);
    } else if (reply.status == VY_REPLY_STATUS_STALE) {
        // What acts continues, and counts as no fresh intent.
    } else if (control_valid(&world->model.params[index].ladder, &command) ||
               !vy_supervisor_take_over(&world->model, index, w->tick, VY_HANDOVER_COMMAND, &reply, d,
                                        world->supervisors)) {
        controller_reply(&world->model, index, 1, &command, w, d);
        mark_intent_received(world, index, 1);
        if (reply.drop != 0 && world->release_requests != NULL) world->release_requests[index] = reply.drop;
    }
    uint32_t events = d->clamps != clamps_before ? VY_EVENT_CLAMPED : 0;
    const vy_sink *sink = &world->sink;
    if (sink->reply != NULL && sink->reply(sink->self, world, index, &reply) != 0) events |= VY_EVENT_SINK;
    (void)fpu_enter();
    return events;
}

uint32_t vy_controller_stage(const vy_world *world, world_block *w, drone_block *drones)
{
    const vy_model *m = &world->model;
    uint32_t events = 0;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const drone_model *dm = &m->drones[i];
        if (!due(w->tick, dm->control_period)) continue;
        if (dm->sensor_suite == 0 || vy_filter_is_started(world, i))
            controller_built_in(m, i, 1, w, &drones[i]);
        if (!vy_controller_is_external(dm->controller.kind))
            mark_intent_received(world, i, 1);
        else if (!m->has_supervisor || vy_supervisor_controller_active(m, i, world->supervisors))
            events |= call_controller(world, i, w, &drones[i]);
    }
    return events;
}
