// cmd_diff.c - volery diff: in which settings two runs differ, and where they diverge.
#include "command.h"
#include "difference.h"
#include "load.h"
#include "message.h"
#include "settings.h"
#include <inttypes.h>

typedef struct comparison {
    const char *paths[2];
    vy_log *logs[2];
    vy_log_info info[2];
    settings settings[2];
    vy_difference difference;
} comparison;

static void print_setting(void *self, const char *key, const char *in_a, const char *in_b)
{
    (void)self;
    printf("  %-44s %s  ->  %s\n", key, in_a != NULL ? in_a : "(none)", in_b != NULL ? in_b : "(none)");
}

static void json_setting(void *self, const char *key, const char *in_a, const char *in_b)
{
    json *j = self;
    vy_json_object(j, NULL);
    vy_json_text(j, "key", key);
    vy_json_text(j, "a", in_a);
    vy_json_text(j, "b", in_b);
    vy_json_close(j);
}

static void count_setting(void *self, const char *key, const char *in_a, const char *in_b)
{
    (void)self, (void)key, (void)in_a, (void)in_b;
}

// Steps that both logs have.
static int overlap(const comparison *c)
{
    return c->info[0].first_tick <= c->info[1].last_tick && c->info[1].first_tick <= c->info[0].last_tick;
}

// A log that was cut off may be shorter than the other; a whole one may not.
static int same_length(const comparison *c)
{
    const int shorter = c->info[0].last_tick < c->info[1].last_tick ? 0 : 1;
    return c->info[0].last_tick == c->info[1].last_tick || !c->info[shorter].complete;
}

static int outcome(const comparison *c)
{
    return c->difference.found || !overlap(c) || !same_length(c) ? EXIT_FAILED : EXIT_DONE;
}

static int print_json(const comparison *c)
{
    json j = vy_json_begin(stdout);
    vy_json_text(&j, "status", outcome(c) == EXIT_DONE ? "identical" : "differs");
    vy_json_text(&j, "a", c->paths[0]);
    vy_json_text(&j, "b", c->paths[1]);
    vy_json_hash(&j, "config_hash_a", c->info[0].config_hash);
    vy_json_hash(&j, "config_hash_b", c->info[1].config_hash);
    vy_json_uint(&j, "last_step_a", c->info[0].last_tick);
    vy_json_uint(&j, "last_step_b", c->info[1].last_tick);
    vy_json_list(&j, "settings");
    vy_settings_compare(&c->settings[0], &c->settings[1], json_setting, &j);
    vy_json_close(&j);
    vy_json_bool(&j, "identical", outcome(c) == EXIT_DONE);
    vy_difference_json(&c->difference, c->info[0].dt, &j);
    vy_json_end(&j);
    return outcome(c);
}

static int print_text(const comparison *c)
{
    const palette p = vy_palette(stdout);
    const vy_log_info *a = &c->info[0], *b = &c->info[1];
    const int changed_count = vy_settings_compare(&c->settings[0], &c->settings[1], count_setting, NULL);
    if (changed_count > 0) {
        printf("%d %s:\n", changed_count, changed_count == 1 ? "setting differs" : "settings differ");
        vy_settings_compare(&c->settings[0], &c->settings[1], print_setting, NULL);
    }
    if (a->physics != b->physics) {
        printf("physics revision %" PRIu32 " in %s, %" PRIu32 " in %s\n", a->physics, c->paths[0], b->physics,
               c->paths[1]);
    }
    if (!overlap(c)) {
        printf("%sdiffers%s: the logs have no step in common\n", p.bad, p.plain);
    } else if (c->difference.found) {
        vy_difference_print(&c->difference, a->dt, c->paths[0], c->paths[1]);
    } else if (!same_length(c)) {
        const int longer = a->last_tick > b->last_tick ? 0 : 1;
        printf("%sdiffers%s in length: the same up to step %" PRIu64
               ", where %s ends; %s goes on to step %" PRIu64 "\n",
               p.bad, p.plain, c->info[1 - longer].last_tick, c->paths[1 - longer], c->paths[longer],
               c->info[longer].last_tick);
    } else {
        const uint64_t first_common = a->first_tick > b->first_tick ? a->first_tick : b->first_tick;
        printf("%sidentical%s: steps %" PRIu64 " to %" PRIu64 "\n", p.good, p.plain, first_common,
               c->difference.last_tick);
    }
    return outcome(c);
}

static int compare(const arguments *args, comparison *c)
{
    for (int i = 0; i < 2; ++i) {
        c->paths[i] = args->operands[i];
        const int status = vy_load_log("diff", c->paths[i], &c->logs[i]);
        if (status != 0) return status;
        c->info[i] = vy_log_get_info(c->logs[i]);
        if (!vy_settings_read(vy_log_scenario(c->logs[i]), &c->settings[i]))
            return vy_print_no_memory("diff");
    }
    vy_error error = {.status = VY_OK};
    const vy_status status = vy_log_compare(c->logs[0], c->logs[1], &c->difference, &error);
    if (status != VY_OK) return vy_print_status("diff", status, &error);
    return vy_has_option(args, "json") ? print_json(c) : print_text(c);
}

COMMAND(diff)
{
    if (args->operand_count < 2) {
        return vy_print_usage_error(args->command, "which two logs? For example: volery diff a.mcap b.mcap");
    }
    comparison c = {.logs = {NULL, NULL}};
    const int status = compare(args, &c);
    for (int i = 0; i < 2; ++i) {
        vy_settings_destroy(&c.settings[i]);
        vy_log_close(c.logs[i]);
    }
    return status;
}
