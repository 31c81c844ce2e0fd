// steer.c - controllers under test and the drive abstraction layer, each at its own period.
#include "control/reference.h"
#include "world/world_impl.h"

static void hold(const drone_model *dm, double time, drone_block *d)
{
    const reference r = vy_reference_at(dm->controller.setpoints, dm->controller.setpoint_count, time, NULL);
    control_state *c = &d->control;
    c->thrust = lower_position(&dm->ladder, &r, &d->estimate, &c->integral, &c->attitude);
    d->rung = VY_RUNG_ATTITUDE;
}

// The events of one call.
static uint32_t call(const vy_world *world, uint32_t index, world_block *w, drone_block *d)
{
    const drone_model *dm = &world->model.drones[index];
    const vy_replay *replay = &world->replay;
    vy_intent intent;
    memset(&intent, 0, sizeof intent);
    if (replay->reply == NULL || !replay->reply(replay->self, world, index, &intent)) {
        const vy_samples samples = vy_drone_samples(&world->model, w->tick, d);
        if (dm->controller.call == NULL) {
            intent.verdict = VY_VERDICT_ABSENT;
        } else {
            dm->controller.call(dm->controller.self, &samples, &intent);
        }
    }
    (void)fpu_enter(); // whoever answered may have changed rounding
    const uint64_t clamps = d->clamps;
    const int replied = intent.verdict == VY_VERDICT_REPLIED;
    const int rung = replied ? vy_control_accept(&dm->ladder, &intent, &d->control, &d->clamps) : -1;
    if (!replied) {
        vy_world_fail(w, VY_FAILURE_CONTROLLER, index, (double)intent.detail, 0.0, (int)intent.verdict);
    } else if (rung < 0) {
        vy_world_fail(w, VY_FAILURE_COMMAND, index, 0.0, 0.0, 0);
    } else {
        d->rung = (uint64_t)rung;
    }
    uint32_t events = d->clamps != clamps ? VY_EVENT_CLAMPED : 0;
    const vy_sink *sink = &world->sink;
    if (sink->reply != NULL && sink->reply(sink->self, world, index, &intent) != 0) events |= VY_EVENT_SINK;
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
        if (dm->controller.kind == VY_CONTROLLER_HOLD) hold(dm, (double)w->tick * m->dt, &drones[i]);
        if (vy_controller_is_asked(dm->controller.kind)) events |= call(world, i, w, &drones[i]);
    }
    return events;
}

uint32_t vy_dal_stage(const vy_model *m, uint64_t tick, drone_block *drones)
{
    uint64_t clamped = 0;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        const drone_model *dm = &m->drones[i];
        drone_block *d = &drones[i];
        if (!due(tick, dm->rate_period)) continue;
        const uint64_t now = (uint64_t)control_lower(&dm->ladder, (int)d->rung, &d->estimate, &d->control);
        d->clamps += now;
        clamped += now;
    }
    return clamped != 0 ? VY_EVENT_CLAMPED : 0;
}
