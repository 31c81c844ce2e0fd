// callback.c - controllers under test that are not built in: somebody's function, or its logged replies.
#include "world/guard.h"
#include "base/assert.h"
#include "world/steer.h"
#include "world/world_impl.h"

_Static_assert(sizeof(((vy_esc_sample *)0)->speed) == sizeof(((kit_block *)0)->esc.speed), "copied whole");
_Static_assert(sizeof(((vy_lidar_sample *)0)->distance) == sizeof(((kit_block *)0)->lidar.distance),
               "copied whole");

static void put_kit(const kit_block *k, vy_samples *s)
{
    const uint64_t *ticks = k->ticks;
    s->baro = (vy_baro_sample){ticks[KIT_BARO], k->baro.pressure, k->baro.altitude};
    s->mag = (vy_mag_sample){ticks[KIT_MAG], k->mag.field};
    s->gps = (vy_gps_sample){ticks[KIT_GPS], k->gps.position, k->gps.velocity};
    s->range = (vy_range_sample){ticks[KIT_RANGE], k->range.distance};
    s->flow = (vy_flow_sample){ticks[KIT_FLOW], k->flow.x, k->flow.y, k->flow.quality};
    s->power = (vy_power_sample){ticks[KIT_POWER], k->power.voltage, k->power.current};
    s->esc.tick = ticks[KIT_ESC];
    memcpy(s->esc.speed, k->esc.speed, sizeof s->esc.speed);
    s->lidar.tick = ticks[KIT_LIDAR];
    memcpy(s->lidar.distance, k->lidar.distance, sizeof s->lidar.distance);
}

vy_samples vy_drone_samples(const vy_world *world, uint32_t index)
{
    const vy_model *m = &world->model;
    const uint64_t tick = world->state->tick;
    const drone_block *d = &world->drones[index];
    VY_ASSERT(index < m->drone_count && m->drones[index].kit <= m->kit_count);
    const estimator_state *e = &d->estimate;
    const uint32_t kit = m->drones[index].kit;
    vy_samples s = {
        .tick = tick,
        .time = (double)tick * m->dt,
        .dt = m->dt,
        .imu = {d->imu_tick, d->imu.accel, d->imu.gyro},
        .mocap = {d->mocap_tick, d->mocap.position, d->mocap.attitude},
        .estimate = {e->position, e->velocity, e->attitude, e->rate, e->gyro_bias, e->accel_bias},
    };
    if (world->contact_totals != NULL) {
        const contact_totals_block *t = &world->contact_totals[index];
        const double *j = t->contact.impulse;
        s.touch.contacts = t->now;
        s.touch.impulse = quat_unrotate(d->body.attitude, vec3_make(j[0], j[1], j[2]));
    }
    if (kit > 0 && tick > 0) put_kit(&world->kits[kit - 1], &s);
    return s;
}

// The events of one call.
static uint32_t call(const vy_world *world, uint32_t index, world_block *w, drone_block *d)
{
    const vy_controller_def *controller = &world->model.drones[index].controller;
    VY_ASSERT(vy_controller_is_asked(controller->kind));
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
    (void)fpu_enter(); // whoever answered may have changed rounding
    const uint64_t clamps = d->clamps;
    control_reply taken = vy_control_reply(&reply);
    if (!vy_payload_may_drop(&world->model, index, reply.drop)) taken.rung = ~(bits)0; // no command either
    if (reply.verdict != VY_VERDICT_REPLIED) {
        if (!vy_guard_take_over(world, index, VY_HANDOVER_CONTROLLER, &reply))
            world_fail(1, VY_FAILURE_CONTROLLER, index, (double)reply.detail, 0.0, (int)reply.verdict, w);
    } else if (control_sound(&world->model.params[index].ladder, &taken) ||
               !vy_guard_take_over(world, index, VY_HANDOVER_COMMAND, &reply)) {
        steer_reply(&world->model, index, 1, &taken, w, d);
        vy_guard_mark(world, index, 1);
        if (reply.drop != 0 && world->release_requests != NULL) world->release_requests[index] = reply.drop;
    }
    uint32_t events = d->clamps != clamps ? VY_EVENT_CLAMPED : 0;
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
        steer_built_in(m, i, 1, w, &drones[i]);
        if (!vy_controller_is_asked(dm->controller.kind))
            vy_guard_mark(world, i, 1);
        else if (!m->guarded || vy_guard_listens(world, i))
            events |= call(world, i, w, &drones[i]);
    }
    return events;
}
