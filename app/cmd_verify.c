// cmd_verify.c - volery verify: is a log whole, unchanged, signed, and does it fly again as it says?
#include "command.h"
#include "difference.h"
#include "files.h"
#include "json.h"
#include "load.h"
#include "message.h"
#include "progress.h"
#include "signals.h"
#include <inttypes.h>
#include <string.h>

// What was found so far. `verdict`: verified, intact, damaged, unproven, unsigned, cut off,
// differs.
typedef struct finding {
    const char *path, *verdict;
    vy_log_info info;
    vy_log_proof proof;
    vy_difference replayed;
    char sentence[400]; // what is wrong; empty: nothing
} finding;

static int show_progress(void *self, uint64_t tick, uint64_t last)
{
    progress *progress_line = self;
    progress_line->last = last;
    vy_progress_update(progress_line, tick);
    return vy_signals_seen();
}

static int is_broken(vy_status status) { return status == VY_DAMAGED || status == VY_OTHER_VERSION; }

// A verdict against the log: 0, so that it is printed with the rest. Whatever else failed is an exit status.
static int set_verdict(finding *f, const char *verdict, vy_status status, vy_error *error)
{
    if (!is_broken(status)) return vy_print_log_error("verify", f->path, status, error);
    f->verdict = verdict;
    const size_t path_length = strlen(f->path); // by those that open a file
    const int has_name = strncmp(error->text, f->path, path_length) == 0 && error->text[path_length] == ':';
    snprintf(f->sentence, sizeof f->sentence, "%s", has_name ? error->text + path_length + 2 : error->text);
    return 0;
}

// Digests and signature.
static int check_proof(const arguments *args, vy_log *log, finding *f)
{
    vy_error error = {.status = VY_OK};
    vy_status status = vy_log_prove(log, &f->proof, &error);
    if (status != VY_OK) return set_verdict(f, "damaged", status, &error);
    if (!f->proof.has_crc)
        vy_print_warning("verify", "%s has no checksums of its own: another program has rewritten it",
                         f->path);
    if (!f->proof.has_digest) {
        f->verdict = "unproven";
        snprintf(f->sentence, sizeof f->sentence,
                 "it has no digest, so nothing shows whether it was changed");
        return 0;
    }
    const char *key = vy_option_value(args, "key");
    if (key != NULL) status = vy_log_proof_signed_by(&f->proof, key, &error);
    if (status == VY_NOT_FOUND || status == VY_BAD_VALUE)
        return vy_print_error("verify", EXIT_USAGE, "--key: %s", error.text);
    if (status != VY_OK) return set_verdict(f, "unsigned", status, &error);
    if (!f->info.complete) {
        f->verdict = "cut off";
        snprintf(f->sentence, sizeof f->sentence,
                 "it was cut off: unchanged up to step %" PRIu64 " (%.6g s), and there is no more",
                 f->info.last_tick, (double)f->info.last_tick * f->info.dt);
    }
    return 0;
}

static int replay(const arguments *args, vy_log *log, finding *f)
{
    vy_scenario *scenario = NULL;
    vy_world *world = NULL;
    vy_error error = {.status = VY_OK};
    int exit_status = vy_check_log_physics("verify", f->path, log);
    if (exit_status == 0) exit_status = vy_load_logged_scenario("verify", f->path, log, NULL, &scenario);
    if (exit_status == 0) exit_status = vy_check_log_hash("verify", f->path, log, scenario);
    if (exit_status == 0) exit_status = vy_load_world("verify", scenario, &world);
    if (exit_status == 0) {
        vy_signals_catch();
        progress progress_line = vy_progress_begin(!vy_has_option(args, "quiet"), f->info.first_tick,
                                                   f->info.last_tick, f->info.dt);
        const vy_status status =
            vy_scenario_replay(scenario, log, world, show_progress, &progress_line, &f->replayed, &error);
        vy_progress_end(&progress_line);
        const int signal = vy_signals_seen();
        if (status != VY_OK && signal != 0)
            exit_status =
                vy_print_error("verify", vy_signals_exit(signal), "interrupted while flying it again");
        else if (status != VY_OK)
            exit_status = set_verdict(f, "damaged", status, &error);
        else if (f->replayed.found)
            f->verdict = "differs";
    }
    vy_world_destroy(world);
    vy_scenario_destroy(scenario);
    return exit_status;
}

static void print_json(const finding *f)
{
    const vy_log_proof *p = &f->proof;
    json j = vy_json_begin(stdout);
    vy_json_text(&j, "status", f->verdict);
    vy_json_text(&j, "log", f->path);
    vy_json_bool(&j, "intact", p->digest[0] != '\0' && strcmp(f->verdict, "damaged") != 0);
    vy_json_text(&j, "digest", p->digest[0] != '\0' ? p->digest : NULL);
    vy_json_uint(&j, "messages", p->messages);
    vy_json_text(&j, "signed_by", p->is_signed ? p->signer : NULL);
    vy_json_uint(&j, "steps",
                 f->replayed.last_tick > f->info.first_tick ? f->replayed.last_tick - f->info.first_tick : 0);
    vy_json_uint(&j, "steps_total", f->info.last_tick - f->info.first_tick);
    vy_json_text(&j, "error", f->sentence[0] != '\0' ? f->sentence : NULL);
    vy_difference_json(&f->replayed, f->info.dt, &j);
    vy_json_end(&j);
}

static void print_text(const finding *f)
{
    const vy_log_proof *p = &f->proof;
    const palette c = vy_palette(stdout);
    const uint64_t total = f->info.last_tick - f->info.first_tick;
    if (strcmp(f->verdict, "verified") == 0)
        printf("%sverified%s %" PRIu64 " of %" PRIu64 " steps and %" PRIu64 " messages", c.good, c.plain,
               f->replayed.last_tick - f->info.first_tick, total, p->messages);
    else
        printf("%sintact%s: %" PRIu64 " messages are as they were written (not flown again)", c.good, c.plain,
               p->messages);
    if (p->is_signed)
        printf(", signed by %s\n", p->signer);
    else
        printf(", not signed\n");
    printf("  digest %s\n", p->digest);
}

static int print_finding(const arguments *args, const finding *f)
{
    const int is_proven = strcmp(f->verdict, "verified") == 0 || strcmp(f->verdict, "intact") == 0;
    if (vy_has_option(args, "json")) {
        print_json(f);
        return is_proven ? EXIT_DONE : EXIT_FAILED;
    }
    if (strcmp(f->verdict, "differs") == 0) {
        vy_difference_print(&f->replayed, f->info.dt, "the log", "the replay");
        return EXIT_FAILED;
    }
    if (!is_proven) return vy_print_error("verify", EXIT_FAILED, "%s: %s", f->path, f->sentence);
    if (!vy_has_option(args, "quiet")) print_text(f);
    return EXIT_DONE;
}

COMMAND(verify)
{
    if (args->operand_count == 0)
        return vy_print_usage_error(args->command, "which log? For example: volery verify first-flight.mcap");
    vy_log *log = NULL;
    vy_error error = {.status = VY_OK};
    finding f = {.path = args->operands[0], .verdict = "verified"};
    int status = vy_file_check_input("verify", "log", f.path);
    if (status != 0) return status;
    const vy_status open_status = vy_log_open(f.path, &log, &error);
    if (open_status != VY_OK) status = set_verdict(&f, "damaged", open_status, &error);
    if (open_status == VY_OK) {
        f.info = vy_log_get_info(log);
        status = check_proof(args, log, &f);
        if (vy_has_option(args, "no-replay") && strcmp(f.verdict, "verified") == 0)
            f.verdict = "intact";
        else if (status == 0 && strcmp(f.verdict, "verified") == 0)
            status = replay(args, log, &f);
    }
    vy_log_close(log);
    return status != 0 ? status : print_finding(args, &f);
}
