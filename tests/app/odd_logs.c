// odd_logs.c KIND OUT.mcap - writes logs that a replay must find fault with, with all checksums right;
// app_test.sh.
//
//   honest     a flight steered by a callback, as it was
//   value      one bit of the state was changed at step 500
//   parameter  flown with a heavier drone than the scenario and its hash say
//   scenario   the scenario in the log was edited afterwards
//   reply      one reply of the controller was changed in the log, at step 500
//   gap        steps 400 to 499 were not recorded
//   state      the full state in the log is not that of the flight at step 500; its hash is
//   result     the result is of a step that the log does not have
//   hostile    names, texts and the scenario are markup and scripts
#include "volery/record.h"
#include "volery/scenario.h"
#include <stdlib.h>
#include <string.h>

enum { ODD_STEP = 500 };

static const char text[] = "volery: 1\nname: odd\nduration: 1 s\ndrones:\n"
                           "  - {name: alpha, controller: {kind: callback, period: 10 ms}}\n";

static void hover(void *self, const vy_samples *samples, vy_intent *intent)
{
    (void)self;
    *intent = (vy_intent){.rung = VY_RUNG_ATTITUDE, .attitude = samples->estimate.attitude};
    intent->thrust = 0.028 * 9.80665;
    intent->attitude.w += 1.0; // half of the tilt away
}

static vy_sink recorder;

static int log_other_reply(void *self, const vy_world *world, uint32_t drone, const vy_intent *intent)
{
    vy_intent changed = *intent;
    if (vy_world_tick(world) == ODD_STEP) changed.thrust *= 1.0 + 1e-15;
    return recorder.reply(self, world, drone, &changed);
}

static int log_with_a_gap(void *self, const vy_world *world)
{
    const uint64_t tick = vy_world_tick(world);
    return tick >= ODD_STEP - 100 && tick < ODD_STEP ? 0 : recorder.write(self, world);
}

static vy_world *shown; // to the recorder, in place of the one that flies
static void change_value(vy_world *world);

static int log_other_state(void *self, const vy_world *world)
{
    if (vy_world_tick(world) != ODD_STEP) return recorder.write(self, world);
    unsigned char *block = malloc(vy_world_state_size(world));
    if (block == NULL) exit(1);
    vy_world_save(world, block);
    if (vy_world_restore(shown, block, vy_world_state_size(world), NULL) != VY_OK) exit(1);
    free(block);
    change_value(shown);
    return recorder.write(self, shown);
}

// Change the last bit of the height, wherever it lies in the state.
static void change_value(vy_world *world)
{
    const size_t size = vy_world_state_size(world);
    unsigned char *block = malloc(size);
    vy_drone_state drone;
    if (block == NULL || vy_world_read_drone(world, vy_world_drone(world, 0), &drone) != VY_OK) exit(1);
    vy_world_save(world, block);
    for (size_t at = 0; at + 8 <= size; at += 8) {
        if (memcmp(block + at, &drone.position.z, 8) != 0) continue;
        block[at] ^= 1;
        break;
    }
    if (vy_world_restore(world, block, size, NULL) != VY_OK) exit(1);
    free(block);
}

static vy_scenario *parse(const char *mass)
{
    vy_scenario *scenario = NULL;
    const vy_scenario_options options = {.overrides = &mass, .override_count = 1};
    if (vy_scenario_parse(text, strlen(text), "odd", &options, &scenario, NULL) != VY_OK) exit(1);
    scenario->drones[0].def.controller.call = hover;
    return scenario;
}

int main(int count, char **words)
{
    if (count != 3) return 2;
    const char *kind = words[1];
    const int heavy = strcmp(kind, "parameter") == 0, edited = strcmp(kind, "scenario") == 0;
    vy_scenario *told = parse("drones.alpha.vehicle.mass=0.028");
    vy_scenario *other = parse("drones.alpha.vehicle.mass=0.029");
    vy_world *world = NULL;
    if (vy_scenario_build(heavy ? other : told, &world, NULL) != VY_OK) return 1;

    const int hostile = strcmp(kind, "hostile") == 0;
    const char *name = hostile ? "<u onclick=document.hacked=1>" : "alpha";
    vy_recorder_def def = vy_default_recorder_def();
    def.path = words[2];
    char *resolved = vy_scenario_print(edited ? other : told);
    def.scenario = hostile ? "</script><script>document.hacked=1</script>" : resolved;
    def.config_hash = vy_scenario_hash(told);
    def.names = &name;
    def.snapshot = 1;
    vy_recorder *r = NULL;
    if (vy_recorder_open(&def, world, &r, NULL) != VY_OK) return 1;
    vy_sink sink = recorder = vy_recorder_sink(r);
    if (strcmp(kind, "reply") == 0) sink.reply = log_other_reply;
    if (strcmp(kind, "gap") == 0) sink.write = log_with_a_gap;
    if (strcmp(kind, "state") == 0) sink.write = log_other_state;
    if (vy_scenario_build(told, &shown, NULL) != VY_OK) return 1;
    vy_world_set_sink(world, sink);
    while (vy_world_tick(world) < vy_scenario_steps(told)) {
        vy_world_step(world);
        if (strcmp(kind, "value") == 0 && vy_world_tick(world) == ODD_STEP) change_value(world);
    }
    if (hostile) {
        vy_recorder_note(r, world, "</script><script>document.hacked=1//",
                         "<img src=x onerror=document.hacked=1>");
    }
    if (strcmp(kind, "result") == 0) {
        vy_world_set_sink(world, (vy_sink){.self = NULL});
        vy_world_advance(world, 100);
    }
    const vy_status status = vy_recorder_close(r, world, hostile ? "<s>done</s>" : "completed", NULL);
    vy_world_destroy(shown);
    vy_world_destroy(world);
    vy_scenario_destroy(told);
    vy_scenario_destroy(other);
    free(resolved);
    return status == VY_OK ? 0 : 1;
}
