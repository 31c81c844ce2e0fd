// campaign_folder.c - the folder of a campaign: which plan it belongs to, how many shards, where they are.
#include "campaign.h"
#include "command.h"
#include "load.h"
#include "message.h"
#include "volery/version.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_FORMAT                                                                                        \
    "# a campaign of Volery; see docs/campaigns.md\nidentity: %016" PRIx64 "\ncases: %d\nshards: %" PRIu64 \
    "\nversion: %s\nphysics: %d\n"

enum {
    SHARDS_MAX = 100000,
    SHARD_CASES = 1000,   // of a shard at most, if nobody asks for another size
    SHARD_CASES_MIN = 16, // at least
    SHARDS_MIN = 256,     // as far as SHARD_CASES_MIN allows, so that no core waits long for the last one
};

char *vy_campaign_path(const campaign *c, const char *name)
{
    const size_t capacity = strlen(c->folder) + strlen(name) + 2;
    char *path = malloc(capacity);
    if (path != NULL) snprintf(path, capacity, "%s/%s", c->folder, name);
    return path;
}

char *vy_campaign_shard_path(const campaign *c, uint64_t shard)
{
    char name[64];
    snprintf(name, sizeof name, "shards/%06" PRIu64 ".vyshard", shard);
    return vy_campaign_path(c, name);
}

int vy_campaign_has_shard(const campaign *c, uint64_t shard)
{
    char *path = vy_campaign_shard_path(c, shard);
    const int is_there = path != NULL && access(path, F_OK) == 0;
    free(path);
    return is_there;
}

static int refuse_mixing(const campaign *c, const char *origin)
{
    return vy_print_error("campaign", EXIT_USAGE,
                          "%s holds results of %s; give another folder with -o, they are not mixed",
                          c->folder, origin);
}

// Every line of the head against what this plan and program would write.
static int check_head(campaign *c, const char *text)
{
    uint64_t identity = 0, shards = 0;
    int cases = 0, physics = 0;
    char version[16] = "", origin[120];
    const char *head = strstr(text, "identity: ");
    if (head == NULL ||
        sscanf(head, "identity: %" SCNx64 " cases: %d shards: %" SCNu64 " version: %15s physics: %d",
               &identity, &cases, &shards, version, &physics) != 5 ||
        shards == 0)
        return vy_print_error("campaign", EXIT_USAGE, "%s/campaign.yaml is damaged", c->folder);
    if (strcmp(version, VY_VERSION) != 0) {
        snprintf(origin, sizeof origin, "Volery %s, this is %s", version, VY_VERSION);
        return refuse_mixing(c, origin);
    }
    if (physics != VY_PHYSICS_REVISION) {
        snprintf(origin, sizeof origin, "physics revision %d, this program computes %d", physics,
                 VY_PHYSICS_REVISION);
        return refuse_mixing(c, origin);
    }
    if (identity != c->plan->identity || cases != c->plan->cases)
        return refuse_mixing(c, "another plan, scenario or controller program");
    c->shards = shards;
    return 0;
}

int vy_campaign_read_folder(campaign *c)
{
    char *path = vy_campaign_path(c, "campaign.yaml"), text[512] = "";
    if (path == NULL) return vy_print_no_memory("campaign");
    FILE *file = fopen(path, "r");
    const int reason = errno;
    if (file == NULL && reason != ENOENT && reason != ENOTDIR) {
        vy_print_error("campaign", EXIT_SYSTEM, "%s: %s", path, strerror(reason));
        free(path);
        return EXIT_SYSTEM;
    }
    free(path);
    c->shards = 0;
    if (file == NULL) return 0;
    const size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    fclose(file);
    return check_head(c, text);
}

static int make_folder(const char *path)
{
    struct stat info;
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode)))
        return 0;
    return vy_print_error("campaign", EXIT_SYSTEM, "%s: %s", path,
                          strerror(errno == EEXIST ? ENOTDIR : errno));
}

// Written whole under a name of its own, then linked: whoever is first has its link.
static int write_head(campaign *c, uint64_t shards)
{
    char temporary_name[64], host[32] = "";
    (void)gethostname(host, sizeof host - 1);
    snprintf(temporary_name, sizeof temporary_name, "campaign.%s.%ld.part", host, (long)getpid());
    char *part_path = vy_campaign_path(c, temporary_name), *path = vy_campaign_path(c, "campaign.yaml");
    FILE *file = part_path != NULL && path != NULL ? fopen(part_path, "w") : NULL;
    int failed = file == NULL;
    if (file != NULL) {
        failed |= fprintf(file, HEAD_FORMAT, c->plan->identity, c->plan->cases, shards, VY_VERSION,
                          VY_PHYSICS_REVISION) < 0;
        failed |= fflush(file) != 0 || fsync(fileno(file)) != 0;
        failed |= fclose(file) != 0;
    }
    if (!failed && link(part_path, path) != 0 && errno != EEXIST) failed = 1;
    const int reason = errno;
    if (part_path != NULL) (void)unlink(part_path);
    if (failed) vy_print_error("campaign", EXIT_SYSTEM, "%s/campaign.yaml: %s", c->folder, strerror(reason));
    free(part_path);
    free(path);
    return failed ? EXIT_SYSTEM : 0;
}

int vy_campaign_start_folder(campaign *c, uint64_t shards)
{
    char *shards_folder = vy_campaign_path(c, "shards");
    if (shards_folder == NULL) return vy_print_no_memory("campaign");
    int status = make_folder(c->folder);
    if (status == 0) status = make_folder(shards_folder);
    free(shards_folder);
    if (status == 0) status = write_head(c, shards);
    return status == 0 ? vy_campaign_read_folder(c) : status;
}

// An environment that numbers the processes it starts, and how many it starts: `offset` for the largest
// number.
typedef struct process_numbering {
    const char *index, *size;
    int offset;
} process_numbering;

int vy_campaign_shard_of_process(const campaign *c, uint64_t *shard, uint64_t *size)
{
    static const process_numbering schedulers[] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", 0},
        {"PMI_RANK", "PMI_SIZE", 0},
        {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MAX", 1},
        {"SLURM_PROCID", "SLURM_NTASKS", 0},
    };
    const char *value = vy_option_value(c->args, "shard");
    *size = 0;
    if (value != NULL) {
        if (vy_parse_uint(value, shard)) return 1;
        (void)vy_print_usage_error(c->args->command, "--shard needs a whole number, got %s", value);
        return -1;
    }
    for (size_t i = 0; i < sizeof schedulers / sizeof schedulers[0]; ++i) {
        const char *index = getenv(schedulers[i].index), *count = getenv(schedulers[i].size);
        if (index == NULL || index[0] == '\0') continue;
        if (!vy_parse_uint(index, shard)) {
            (void)vy_print_error("campaign", EXIT_USAGE, "%s is %s, and not the number of a shard",
                                 schedulers[i].index, index);
            return -1;
        }
        if (count != NULL && vy_parse_uint(count, size)) *size += (uint64_t)schedulers[i].offset;
        if (*size == 1 && !schedulers[i].offset) { // a process alone is not numbered; the next may number it
            *size = 0;
            continue;
        }
        return 1;
    }
    return 0;
}

// How many shards a folder starts with.
static int initial_shard_count(const campaign *c, uint64_t size, uint64_t *count)
{
    const uint64_t cases = (uint64_t)c->plan->cases;
    const char *value = vy_option_value(c->args, "shards");
    *count = (cases + SHARD_CASES - 1) / SHARD_CASES;
    if (*count < SHARDS_MIN) {
        const uint64_t shards_of_min_size = (cases + SHARD_CASES_MIN - 1) / SHARD_CASES_MIN;
        *count = shards_of_min_size < SHARDS_MIN ? shards_of_min_size : SHARDS_MIN;
    }
    if (size > 0) *count = size;
    if (c->plan->shards > 0) *count = (uint64_t)c->plan->shards;
    if (value != NULL && (!vy_parse_uint(value, count) || *count < 1 || *count > SHARDS_MAX))
        return vy_print_usage_error(c->args->command, "--shards needs a whole number from 1 to %d, got %s",
                                    SHARDS_MAX, value);
    if (*count > SHARDS_MAX) *count = SHARDS_MAX;
    if (*count > cases) *count = cases;
    return 0;
}

int vy_campaign_prepare(campaign *c, uint64_t **shard_list, uint64_t *count)
{
    uint64_t shard = 0, size = 0, shards = 0;
    const int is_single = vy_campaign_shard_of_process(c, &shard, &size);
    if (is_single < 0) return EXIT_USAGE;
    int status = vy_campaign_read_folder(c);
    if (status == 0) status = initial_shard_count(c, size, &shards);
    if (status != 0) return status;
    if (c->shards == 0 && (status = vy_campaign_start_folder(c, shards)) != 0) return status;
    if (vy_has_option(c->args, "shards") && c->shards != shards)
        return vy_print_error("campaign", EXIT_USAGE,
                              "%s was started with %" PRIu64 " shards, which stays so; leave --shards out",
                              c->folder, c->shards);
    if (is_single && shard >= c->shards)
        return vy_print_error("campaign", EXIT_USAGE,
                              "there is no shard %" PRIu64 ": %s was started with %" PRIu64
                              ", numbered from 0",
                              shard, c->folder, c->shards);
    *count = is_single ? 1 : c->shards;
    *shard_list = calloc((size_t)*count + 1, sizeof **shard_list);
    if (*shard_list == NULL) return vy_print_no_memory("campaign");
    for (uint64_t i = 0; i < *count; ++i) (*shard_list)[i] = is_single ? shard : i;
    return 0;
}
