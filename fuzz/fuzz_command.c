// fuzz_command.c - any bytes as a log, given to a command that reads logs; the first byte says which. Changes
// are made record by record with right checksums (mutate_mcap.h), beginning with logs that are flown here at
// the start. Oracles: the sanitizers, leaks among them; an exit status from 0 to 3; the log is as it was; 0
// of `verify` only where the digest is that of a log as it was flown.
#define _GNU_SOURCE
#include "mutate_mcap.h"
#include "volery/record.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *count, char ***words);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int vy_command_main(int count, char **words); // app/main.c

enum { PATH_CAP = 200, WORDS_CAP = 8, SEEDS = 3, LOG_CAP = 1 << 20 };

// libfyaml 0.7.12 loses a kilobyte over some unfinished quoted texts; what we lose ourselves still counts.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfyaml\n"; }

static const char *const commands[] = {"verify LOG",
                                       "replay LOG --json",
                                       "diff SEED LOG",
                                       "recover LOG -o OUT",
                                       "branch LOG --at 0.01 -q -o OUT",
                                       "export LOG --csv -o OUT",
                                       "export LOG --parquet -o OUT",
                                       "plot LOG -o OUT.svg",
                                       "verify LOG --no-replay --json",
                                       "view LOG -o OUT"};
enum { COMMANDS = sizeof commands / sizeof *commands };

static const char *const seeds[SEEDS] = {
    "volery: 1\nduration: 0.02 s\nlog: {compression: none}\ndrones: [{name: a, vehicle: x500, sensors: {imu: "
    "{}}, "
    "controller: {kind: hold}}]\n",
    "volery: 1\nduration: 0.02 s\nlog: {compression: none}\ndrones: [{name: a}]\nbodies: [{name: box, mass: "
    "1, "
    "shape: {kind: box, size: [0.2, 0.2, 0.2]}, position: [2, 0, 0.1]}]\n",
    "volery: 1\nduration: 0.02 s\nlog: {compression: none}\ndrones: [{name: a}, {name: b, start: {position: "
    "[9, 0, "
    "1]}}]\nexpect: [{quantity: speed, min: 100 m/s}]\n"};

static char temporary_folder[] = "/tmp/volery-fuzz-XXXXXX";
static char seed_digests[SEEDS][VY_DIGEST_CAP];

static void check(int condition)
{
    if (!condition) abort();
}

static void make_path(const char *name, char out[PATH_CAP])
{
    snprintf(out, PATH_CAP, "%s/%s", temporary_folder, name);
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    check(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

static size_t read_file(const char *path, uint8_t *out)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return 0;
    const size_t size = fread(out, 1, LOG_CAP, file);
    fclose(file);
    return size;
}

// LOG, SEED and OUT stand for files of the folder.
static int run_command(const char *line)
{
    static const char *const placeholders[][2] = {
        {"LOG", "m.mcap"}, {"SEED", "0.mcap"}, {"OUT", "out"}, {"OUT.svg", "out.svg"}};
    char program[] = "volery", line_copy[PATH_CAP], paths[WORDS_CAP][PATH_CAP],
         *arguments[WORDS_CAP + 1] = {program};
    int count = 1;
    snprintf(line_copy, sizeof line_copy, "%s", line);
    for (char *word = strtok(line_copy, " "); word != NULL && count < WORDS_CAP; word = strtok(NULL, " ")) {
        arguments[count] = word;
        for (int i = 0; i < 4; ++i) {
            if (strcmp(word, placeholders[i][0]) != 0) continue;
            make_path(placeholders[i][1], paths[count]);
            arguments[count] = paths[count];
        }
        ++count;
    }
    return vy_command_main(count, arguments);
}

static int read_digest(const char *path, char digest[VY_DIGEST_CAP])
{
    vy_log *log = NULL;
    vy_log_proof proof;
    vy_error err;
    if (vy_log_open(path, &log, &err) != VY_OK) return 0;
    const int has_digest = vy_log_prove(log, &proof, &err) == VY_OK && proof.has_digest;
    if (has_digest) memcpy(digest, proof.digest, VY_DIGEST_CAP);
    vy_log_close(log);
    return has_digest;
}

static void remove_files(void)
{
    static const char *const names[] = {"0.mcap", "1.mcap",  "2.mcap",   "m.mcap",      "seed.yaml",
                                        "out",    "out.svg", "out.part", "out.svg.part"};
    char path[PATH_CAP];
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        make_path(names[i], path);
        unlink(path);
    }
    rmdir(temporary_folder);
}

// Fly the seeds; they go to the first folder of inputs, too, behind a byte for each command. What commands
// print is dropped.
int LLVMFuzzerInitialize(int *count, char ***words)
{
    static char quiet_option[] = "-close_fd_mask=3", length_option[] = "-max_len=300000", *extended_words[64];
    static uint8_t log[1 + LOG_CAP];
    const char *inputs_folder = NULL;
    char path[PATH_CAP], line[PATH_CAP + 40];
    check(mkdtemp(temporary_folder) != NULL && *count < 60);
    atexit(remove_files);
    for (int i = 1; i < *count; ++i) {
        struct stat file_info;
        if (inputs_folder == NULL && (*words)[i][0] != '-' && stat((*words)[i], &file_info) == 0 &&
            S_ISDIR(file_info.st_mode))
            inputs_folder = (*words)[i];
    }
    for (int i = 0; i < SEEDS; ++i) {
        char yaml[PATH_CAP], name[20], *run_words[] = {line, line + 10, yaml, line + 20, line + 30, path};
        snprintf(line, sizeof line, "volery");
        snprintf(line + 10, 10, "run");
        snprintf(line + 20, 10, "-q");
        snprintf(line + 30, 10, "-o");
        snprintf(name, sizeof name, "%d.mcap", i);
        make_path("seed.yaml", yaml);
        make_path(name, path);
        write_file(yaml, seeds[i], strlen(seeds[i]));
        const int status = vy_command_main(6, run_words);
        check((status == 0 || i == 2) && read_digest(path, seed_digests[i]));
        const size_t size = read_file(path, log + 1);
        for (int command = 0; command < COMMANDS && inputs_folder != NULL; ++command) {
            char seed[4096];
            log[0] = (uint8_t)command;
            snprintf(seed, sizeof seed, "%s/seed-%d-%d", inputs_folder, i, command);
            write_file(seed, log, size + 1);
        }
    }
    memcpy(extended_words, *words, (size_t)*count * sizeof *extended_words);
    extended_words[(*count)++] = quiet_option;
    extended_words[(*count)++] = length_option;
    *words = extended_words;
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    if (size < 2 || seed % 16 == 0) return LLVMFuzzerMutate(data, size, max_size);
    return 1 + mcap_mutate(data + 1, size - 1, max_size - 1, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t log_after[1 + LOG_CAP];
    char log_path[PATH_CAP], out_path[PATH_CAP], svg_path[PATH_CAP], digest[VY_DIGEST_CAP] = "";
    if (size < 2 || size > LOG_CAP) return 0;
    make_path("m.mcap", log_path);
    make_path("out", out_path);
    make_path("out.svg", svg_path);
    write_file(log_path, data + 1, size - 1);
    const char *line = commands[data[0] % COMMANDS];
    const int status = run_command(line);
    check(status >= 0 && status <= 3);
    check(read_file(log_path, log_after) == size - 1 && memcmp(log_after, data + 1, size - 1) == 0);
    if (status == 0 && strncmp(line, "verify", 6) == 0) {
        int is_known = 0;
        check(read_digest(log_path, digest));
        for (int i = 0; i < SEEDS; ++i) is_known |= strcmp(digest, seed_digests[i]) == 0;
        check(is_known);
    }
    unlink(out_path);
    unlink(svg_path);
    return 0;
}
