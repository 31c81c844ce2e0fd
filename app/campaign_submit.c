// campaign_submit.c - the missing shards of a campaign as one array job of Slurm.
#define _XOPEN_SOURCE 700 // realpath
#include "campaign.h"
#include "command.h"
#include "message.h"
#include "shipped.h"
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

// A word of a shell's line, whatever is in it.
static void put_quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text != '\0'; ++text) {
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fputc(*text, out);
    }
    fputc('\'', out);
}

// The job: each task flies the shard of its number. Options of the user come last, so that they win.
static int write_job(const campaign *c, const char *path, const char *program, const char *plan,
                     const char *folder)
{
    FILE *out = fopen(path, "w");
    if (out == NULL) return vy_print_error("campaign", EXIT_SYSTEM, "%s: %s", path, strerror(errno));
    fprintf(out,
            "#!/bin/sh\n# Made by volery campaign submit; see docs/campaigns.md.\n"
            "#SBATCH --job-name=volery\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=1\n#SBATCH --array=");
    vy_campaign_print_missing(c, out);
    fprintf(out, "#SBATCH --output=%s/slurm/%%A_%%a.out\n", folder);
    for (int i = 0; i < c->args->option_count; ++i) {
        const argument *a = &c->args->options[i];
        if (strcmp(a->option->name, "sbatch") == 0) fprintf(out, "#SBATCH %s\n", a->value);
    }
    fputs("exec ", out);
    put_quoted(out, program);
    fputs(" campaign run ", out);
    put_quoted(out, plan);
    fputs(" -o ", out);
    put_quoted(out, folder);
    fputs(" --shard \"$SLURM_ARRAY_TASK_ID\" --quiet\n", out);
    const int failed = ferror(out);
    if (fclose(out) != 0 || failed)
        return vy_print_error("campaign", EXIT_SYSTEM, "%s: %s", path, strerror(errno));
    return 0;
}

static int call_sbatch(const char *job_path)
{
    extern char **environ;
    char *words[] = {"sbatch", (char *)job_path, NULL}; // posix_spawn does not write to them
    pid_t child;
    int wait_status = 0;
    fflush(stdout);
    if (posix_spawnp(&child, words[0], NULL, NULL, words, environ) != 0)
        return vy_print_error("campaign", EXIT_SYSTEM, "there is no sbatch here; the job is %s", job_path);
    if (waitpid(child, &wait_status, 0) < 0 || !WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != 0)
        return vy_print_error("campaign", EXIT_SYSTEM, "sbatch refused the job %s", job_path);
    return 0;
}

static int submit(campaign *c)
{
    char *log_folder = vy_campaign_path(c, "slurm"), *job_path = vy_campaign_path(c, "slurm/job.sh");
    char *program = vy_shipped_program(), *plan = realpath(c->file, NULL),
         *folder = realpath(c->folder, NULL);
    int status = log_folder == NULL || job_path == NULL || program == NULL || plan == NULL || folder == NULL
                     ? vy_print_no_memory("campaign")
                     : 0;
    if (status == 0 && strpbrk(folder, " \n%") != NULL)
        status = vy_print_error("campaign", EXIT_USAGE,
                                "sbatch takes no folder with a blank or %% in its name: %s", folder);
    if (status == 0 && mkdir(log_folder, 0777) != 0 && errno != EEXIST)
        status = vy_print_error("campaign", EXIT_SYSTEM, "%s: %s", log_folder, strerror(errno));
    if (status == 0) status = write_job(c, job_path, program, plan, folder);
    if (status == 0) status = call_sbatch(job_path);
    free(log_folder);
    free(job_path);
    free(program);
    free(plan);
    free(folder);
    return status;
}

int vy_campaign_submit(campaign *c)
{
    uint64_t *shard_list = NULL, count = 0;
    if (!vy_has_option(c->args, "slurm"))
        return vy_print_usage_error(c->args->command, "submit needs a scheduler: --slurm");
    int status = vy_campaign_prepare(c, &shard_list, &count);
    free(shard_list);
    if (status != 0) return status;
    if (vy_campaign_print_missing(c, NULL) == 0) {
        if (!c->is_quiet) printf("%s is complete: nothing to submit\n", c->folder);
        return 0;
    }
    return submit(c);
}
