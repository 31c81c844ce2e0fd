// scenario_replay.c - the replay of a scenario's log: every message, and what its expectations came to.
#include "base/fail.h"
#include "base/real.h"
#include "scenario/logged.h"
#include "scenario/number.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Expectations as they were evaluated in the run, and the notes of them in the log.
typedef struct expectation_check {
    const vy_scenario *scenario;
    vy_expect_result *results;
    int evaluates_every_step; // else the last one alone
    int note_count;           // notes of expectations so far
    int no_memory;
    vy_difference *difference;
} expectation_check;

static int update_expectations(void *self, const vy_world *world)
{
    const expectation_check *check = self;
    if (check->evaluates_every_step) vy_expect_feed(check->scenario, world, check->results);
    return 0;
}

static void report_difference(vy_difference *out, uint64_t tick, const char *field, const char *a,
                              const char *b)
{
    out->found = out->message = 1;
    out->tick = out->field_tick = tick;
    snprintf(out->field, sizeof out->field, "%s", field);
    snprintf(out->text_a, sizeof out->text_a, "%s", a);
    snprintf(out->text_b, sizeof out->text_b, "%s", b);
}

// The sentence of an expectation, with its bounds in a unit: 0 is the quantity's own, as in vy_expect_def.
static char *print_expectation_in(const expectation_check *check, int index, int unit)
{
    vy_expect_def def = check->scenario->expect[index];
    vy_scenario scenario = *check->scenario;
    def.unit = unit;
    scenario.expect = &def;
    return vy_expect_print(&scenario, 0, &check->results[index]);
}

// A log keeps its scenario in SI units and its notes in those of the author, so that any unit will do.
static int matches_sentence(expectation_check *check, int index, const char *text)
{
    int unit_count;
    (void)vy_units(&unit_count);
    for (int unit = 0; unit <= unit_count; ++unit) {
        char *sentence = print_expectation_in(check, index, unit);
        const int is_same = sentence != NULL && strcmp(sentence, text) == 0;
        check->no_memory |= sentence == NULL;
        free(sentence);
        if (is_same || check->no_memory) return 1;
    }
    return 0;
}

static void compare_note(void *self, uint64_t tick, const char *kind, const char *text)
{
    expectation_check *check = self;
    if (strcmp(kind, "expectation") != 0 || check->difference->found) return;
    const int index = check->note_count++;
    if (index >= check->scenario->expect_count) {
        report_difference(check->difference, tick, "/events.text", text, "none");
    } else if (!matches_sentence(check, index, text)) {
        char *sentence = print_expectation_in(check, index, 0);
        report_difference(check->difference, tick, "/events.text", text, sentence != NULL ? sentence : "");
        free(sentence);
    }
}

static int has_programs(const vy_scenario *s)
{
    for (int i = 0; i < s->drone_count; ++i) {
        if (vy_controller_is_external(s->drones[i].def.controller.kind)) return 1;
    }
    return 0;
}

// What the log says of the outcome beside what it comes to. A run from C or Python may have said nothing, and
// a controller that is a program may have failed after the last step.
static vy_status compare_outcome(expectation_check *check, vy_log *log, const vy_world *world, vy_error *err)
{
    const vy_log_info info = vy_log_get_info(log);
    if (!check->evaluates_every_step) vy_expect_feed(check->scenario, world, check->results);
    vy_expect_end(check->scenario, check->results);
    const vy_status status = vy_log_read_notes(log, compare_note, check, err);
    if (status == VY_OK && check->no_memory) return vy_fail(err, VY_NO_MEMORY, "out of memory");
    if (status != VY_OK || check->difference->found || check->note_count == 0) return status;
    if (check->note_count != check->scenario->expect_count)
        report_difference(check->difference, info.last_tick, "/events", "some expectations", "all of them");
    int has_failed = vy_world_failure(world).reason != VY_FAILURE_NONE;
    for (int i = 0; i < check->scenario->expect_count; ++i)
        has_failed |= !check->results[i].met && !check->results[i].skipped;
    const char *outcome = has_failed ? "failed" : "completed";
    if (strcmp(info.status, "interrupted") != 0 && strcmp(info.status, outcome) != 0 &&
        !has_programs(check->scenario))
        report_difference(check->difference, info.last_tick, "result.status", info.status, outcome);
    return VY_OK;
}

vy_status vy_scenario_replay(const vy_scenario *scenario, vy_log *log, vy_world *world,
                             vy_progress_fn *progress, void *self, vy_difference *out, vy_error *err)
{
    FPU_SCOPE;
    scenario_log_def def;
    expectation_check check = {.scenario = scenario, .difference = out};
    memset(out, 0, sizeof *out);
    vy_status status = vy_scenario_log_def(scenario, world, &def, err);
    if (status != VY_OK) return status;
    check.results = calloc((size_t)scenario->expect_count + 1, sizeof *check.results);
    if (check.results == NULL) status = vy_fail(err, VY_NO_MEMORY, "out of memory");
    for (int i = 0; i < scenario->expect_count; ++i)
        check.evaluates_every_step |= scenario->expect[i].at != VY_AT_END;
    if (status == VY_OK) vy_expect_begin(scenario, check.results);
    const vy_sink expectation_sink = {.self = &check, .write = update_expectations};
    if (status == VY_OK)
        status = vy_log_replay_messages(log, world, &def.def, &expectation_sink, progress, self, out, err);
    if (status == VY_OK && !out->found && vy_log_get_info(log).complete)
        status = compare_outcome(&check, log, world, err);
    free(check.results);
    vy_scenario_log_def_free(&def);
    return status;
}
