// campaign_fly.c - flying cases into rows: one by one, or side by side in the lanes of a batch.
#include "campaign.h"
#include "batch/start.h"
#include "command.h"
#include "controllers.h"
#include "flight.h"
#include "load.h"
#include "message.h"
#include "signals.h"
#include "volery/batch.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANE_WORLDS = 512,  // at most, in a batch at a time
    LANE_STEPS = 10000, // between two looks for a signal
};

static void begin_row(const vy_plan *plan, const vy_case *c, double *row)
{
    vy_result *r = vy_row_result(row);
    double *margins = vy_row_margins(row, plan);
    *r = (vy_result){.index = c->index, .seed = c->seed};
    memcpy(vy_row_numbers(row), c->numbers, (size_t)plan->vary_count * sizeof(double));
    for (int i = 0; i < 2 * plan->base->expect_count; ++i) margins[i] = (double)NAN;
}

// What a flight came to. `failure` has what a controller did at its end, too. 0: memory is out.
static int fill_row(const vy_plan *plan, const vy_scenario *s, const vy_world *world,
                    const vy_failure *failure, const vy_expect_result *results, double *row)
{
    vy_result *r = vy_row_result(row);
    double *margins = vy_row_margins(row, plan);
    r->seed = s->seed;
    r->config_hash = vy_scenario_hash(s);
    r->final_hash = vy_world_hash(world);
    r->time = vy_world_time(world);
    for (int i = 0; i < plan->base->expect_count; ++i) {
        r->met |= (uint64_t)(results[i].met != 0) << i;
        r->skipped |= (uint64_t)(results[i].skipped != 0) << i;
        if (!results[i].met && !results[i].skipped) r->outcome = VY_OUTCOME_EXPECTATION;
        if (!results[i].measured || results[i].skipped) continue;
        margins[2 * i] = results[i].margin;
        margins[2 * i + 1] = results[i].worst;
    }
    if (failure->reason == VY_FAILURE_NONE) return r->config_hash != 0;
    r->outcome = VY_OUTCOME_FAILED;
    r->reason = (uint64_t)failure->reason;
    r->body = failure->body;
    r->time = failure->time;
    r->value = failure->value;
    r->limit = failure->limit;
    r->wall_clock = failure->reason == VY_FAILURE_CONTROLLER &&
                    (failure->verdict == VY_VERDICT_LATE || failure->verdict == VY_VERDICT_NOT_READY);
    return r->config_hash != 0;
}

void vy_campaign_fill_killed_row(const vy_plan *plan, const vy_case *c, int signal, double *row)
{
    begin_row(plan, c, row);
    vy_row_result(row)->outcome = VY_OUTCOME_KILLED;
    vy_row_result(row)->value = signal;
}

int vy_campaign_fly_case(vy_plan *plan, const vy_case *c, const char *log, double *row)
{
    vy_scenario *s = NULL;
    vy_world *world = NULL;
    vy_error err;
    controllers programs = {.count = 0};
    flight flown = {.signal = 0};
    begin_row(plan, c, row);
    vy_row_result(row)->outcome = VY_OUTCOME_INVALID;
    const vy_status make_status = vy_plan_scenario(plan, c, &s, &err);
    if (make_status != VY_OK) return make_status == VY_NO_MEMORY ? vy_print_no_memory("campaign") : 0;
    const int open_status = vy_controllers_open("campaign", s, 0, 1, NULL, &programs);
    int status = open_status == 0 ? vy_load_world("campaign", s, &world) : 0;
    const int is_built = open_status == 0 && status == 0;
    if (programs.is_boot_timeout) {
        vy_result *r = vy_row_result(row);
        r->outcome = VY_OUTCOME_FAILED;
        r->reason = VY_FAILURE_CONTROLLER;
        r->wall_clock = 1;
    }
    if (is_built) {
        const flight_def def = {.command = "campaign",
                                .file = plan->path,
                                .scenario = s,
                                .world = world,
                                .programs = &programs,
                                .log = log,
                                .is_outcome_only = log == NULL};
        status = vy_flight_fly(&def, &flown);
        vy_row_result(row)->outcome = VY_OUTCOME_COMPLETED;
        if (status == 0 && !fill_row(plan, s, world, &flown.failure, flown.results, row))
            status = vy_print_no_memory("campaign");
        if (status == 0 && flown.signal != 0) status = vy_signals_exit(flown.signal);
        vy_flight_destroy(&flown);
    }
    vy_controllers_close(&programs);
    vy_world_destroy(world);
    vy_scenario_destroy(s);
    return is_built || status == EXIT_SYSTEM ? status : 0; // what cannot be built is a result
}

const char *vy_campaign_takes_ports(const vy_plan *plan)
{
    for (int i = 0; i < plan->base->drone_count; ++i) {
        const vy_controller_def *c = &plan->base->drones[i].def.controller;
        const int has_simulated_time =
            c->kind == VY_CONTROLLER_BETAFLIGHT && c->firmware.clock == VY_CLOCK_SIMULATED;
        if (vy_controller_is_firmware(c->kind) && !has_simulated_time) return plan->base->drones[i].name;
    }
    return NULL;
}

int vy_campaign_uses_lanes(const vy_plan *plan)
{
    for (int i = 0; i < plan->base->drone_count; ++i) {
        if (vy_controller_is_external(plan->base->drones[i].def.controller.kind)) return 0;
    }
    return plan->shares_environment && !plan->needs_every_step && plan->base->drone_count > 0;
}

// Worlds side by side.
typedef struct lanes {
    vy_plan *plan;
    vy_batch *batch;
    uint32_t size;                       // worlds of the batch
    vy_scenario *scenarios[LANE_WORLDS]; // NULL: that case was flown on its own
    vy_expect_result *results;
    void *state;
    size_t state_size;
} lanes;

static void lanes_destroy(lanes *l)
{
    for (int i = 0; i < LANE_WORLDS; ++i) vy_scenario_destroy(l->scenarios[i]);
    vy_batch_destroy(l->batch);
    free(l->results);
    free(l->state);
}

// 0: not these worlds.
static int lanes_create(vy_plan *plan, uint64_t cases, lanes *l)
{
    const uint64_t batch_count =
        (cases + LANE_WORLDS - 1) / LANE_WORLDS; // of one size: no lane is idle for long
    *l = (lanes){.plan = plan, .size = (uint32_t)((cases + batch_count - 1) / batch_count)};
    if (!vy_campaign_uses_lanes(plan)) return 0;
    vy_batch_def def = vy_default_batch_def();
    def.scenario = plan->base;
    def.world_count = l->size;
    def.threads = 1;
    def.chain = 1;
    def.observe_count = 0;
    if (vy_batch_create(&def, &l->batch, NULL) == VY_OK && vy_batch_has_lanes(l->batch)) {
        l->state_size = vy_batch_state_size(l->batch, 0);
        l->state = malloc(l->state_size);
        l->results = calloc((size_t)plan->base->expect_count + 1, sizeof *l->results);
        if (l->state != NULL && l->results != NULL) return 1;
    }
    lanes_destroy(l);
    *l = (lanes){.plan = plan};
    return 0;
}

// The state of a lane in a world of its own, which knows how it ended.
static int read_lane(lanes *l, uint32_t lane, double *row)
{
    const vy_scenario *s = l->scenarios[lane];
    vy_world *world = NULL;
    vy_error err;
    if (vy_scenario_build(s, &world, &err) != VY_OK) return 0;
    vy_batch_save(l->batch, lane, l->state);
    int is_read = vy_world_restore(world, l->state, l->state_size, &err) == VY_OK;
    if (is_read) {
        const vy_failure failure = vy_world_failure(world);
        vy_row_result(row)->outcome = VY_OUTCOME_COMPLETED;
        vy_expect_begin(s, l->results);
        vy_expect_feed(s, world, l->results);
        vy_expect_end(s, l->results);
        is_read = fill_row(l->plan, s, world, &failure, l->results, row);
    }
    vy_world_destroy(world);
    return is_read;
}

// Cases [first_case, first_case + count), at most as many as the batch has worlds. Worlds beyond fly along.
static int fly_lanes(lanes *l, uint64_t first_case, uint32_t count, double *rows)
{
    const size_t row_cells = vy_row_cells(l->plan);
    const uint64_t steps = vy_scenario_steps(l->plan->base);
    int status = 0;
    for (uint32_t i = 0; i < count; ++i) {
        vy_case c;
        vy_error err;
        vy_scenario_destroy(l->scenarios[i]);
        l->scenarios[i] = NULL;
        vy_plan_case(l->plan, first_case + i, &c);
        begin_row(l->plan, &c, rows + i * row_cells);
        if (vy_plan_scenario(l->plan, &c, &l->scenarios[i], &err) == VY_OK &&
            vy_batch_start(l->batch, i, l->scenarios[i], &err) == VY_OK)
            continue;
        vy_scenario_destroy(l->scenarios[i]);
        l->scenarios[i] = NULL;
        if ((status = vy_campaign_fly_case(l->plan, &c, NULL, rows + i * row_cells)) != 0) return status;
    }
    for (uint64_t steps_done = 0; steps_done < steps; steps_done += LANE_STEPS) {
        if (vy_signals_seen() != 0) return vy_signals_exit(vy_signals_seen());
        vy_batch_step(l->batch, steps - steps_done < LANE_STEPS ? steps - steps_done : LANE_STEPS);
    }
    for (uint32_t i = 0; i < count; ++i) {
        vy_case c;
        if (l->scenarios[i] == NULL || read_lane(l, i, rows + i * row_cells)) continue;
        vy_plan_case(l->plan, first_case + i, &c);
        if ((status = vy_campaign_fly_case(l->plan, &c, NULL, rows + i * row_cells)) != 0) return status;
    }
    return 0;
}

int vy_campaign_fly_range(vy_plan *plan, uint64_t first_case, uint64_t end_case, double *rows,
                          volatile uint64_t *cases_done)
{
    static lanes l; // large
    const size_t row_cells = vy_row_cells(plan);
    int status = 0;
    if (end_case > first_case && lanes_create(plan, end_case - first_case, &l)) {
        for (uint64_t i = first_case; i < end_case && status == 0;) {
            const uint32_t count = end_case - i < l.size ? (uint32_t)(end_case - i) : l.size;
            status = fly_lanes(&l, i, count, rows + (i - first_case) * row_cells);
            i += count;
            *cases_done += count;
        }
        lanes_destroy(&l);
        return status;
    }
    for (uint64_t i = first_case; i < end_case && status == 0; ++i, ++*cases_done) {
        vy_case c;
        vy_plan_case(plan, i, &c);
        status = vy_campaign_fly_case(plan, &c, NULL, rows + (i - first_case) * row_cells);
    }
    return status;
}
