// standalone.c - worlds of a batch that are stepped one by one, controlled by their rows of actions.
#include "batch/standalone.h"
#include "base/assert.h"
#include "world/world_impl.h"

static void reply_with_action(void *self, const vy_samples *samples, vy_intent *intent)
{
    const standalone_action *row = self;
    const double *a = row->action;
    VY_ASSERT(a != NULL && row->size <= VY_ROTOR_CAP && (row->rung == VY_RUNG_MOTORS || row->size >= 4));
    (void)samples;
    intent->rung = row->rung;
    if (row->rung == VY_RUNG_MOTORS) {
        memcpy(intent->motors, a, row->size * sizeof *a);
        return;
    }
    intent->thrust = intent->throttle = a[0];
    intent->strafe = a[1];
    intent->vertical = a[2];
    intent->yaw = intent->yaw_rate = a[3];
    intent->velocity = (vy_vec3){a[0], a[1], a[2]};
    intent->torque = intent->rates = (vy_vec3){a[1], a[2], a[3]};
    if (row->rung == VY_RUNG_ATTITUDE) intent->attitude = (vy_quat){a[1], a[2], a[3], a[4]};
}

void vy_standalone_bind(vy_scenario *scenario, vy_rung rung, const double *actions, uint32_t size,
                        standalone_action *standalone_actions)
{
    for (int i = 0; i < scenario->drone_count; ++i) {
        vy_controller_def *c = &scenario->drones[i].def.controller;
        if (!vy_controller_is_external(c->kind)) continue;
        standalone_actions[i] = (standalone_action){actions + (size_t)i * size, size, rung};
        c->call = reply_with_action;
        c->self = &standalone_actions[i];
    }
}

vy_status vy_standalone_create(const vy_scenario *scenario, void *cells, vy_world **world, vy_error *err)
{
    vy_world *created = NULL;
    const vy_status status = vy_scenario_build(scenario, &created, err);
    if (status != VY_OK) return status;
    vy_world_move_state(created, cells);
    vy_world_destroy(*world);
    *world = created;
    return VY_OK;
}
