// bench.c - the table of benchmarks and its printer. A fast wrong answer must not enter a table: a wrong hash
// fails.
#include "bench/batch.h"
#include "bench/bench.h"
#include "bench/calling.h"
#include "bench/flight.h"
#include "bench/gpu_flight.h"
#include "bench/landing.h"
#include "bench/logging.h"
#include "bench/pile.h"
#include "bench/rays.h"
#include "bench/swarm.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#ifndef VOLERY_COMMIT
#define VOLERY_COMMIT "unknown"
#endif

const bench vy_benches[] = {
    {"kernel", "the bare flight equations in a loop", "steps/s", vy_bench_kernel, 0xb52da9d7946504a2u},
    {"lanes-1", "the same by the short way through steady air", "drone-steps/s", vy_bench_lanes_1,
     0xb52da9d7946504a2u},
    {"lanes-2", "that for two drones side by side (SSE2, NEON)", "drone-steps/s", vy_bench_lanes_2,
     0xb52da9d7946504a2u},
    {"lanes-4", "for four (AVX2)", "drone-steps/s", vy_bench_lanes_4, 0xb52da9d7946504a2u},
    {"lanes-8", "for eight (AVX-512)", "drone-steps/s", vy_bench_lanes_8, 0xb52da9d7946504a2u},
    {"hover", "a world as it comes: sensors, estimator, controller, hash chain", "steps/s", vy_bench_hover,
     0xa42433696591d99du},
    {"world-baseline", "the world specification's first configuration, 100 flights of 5 s", "steps/s",
     vy_bench_world_baseline, 0xd2646f39e7807a5fu},
    {"world-air", "with drag, buoyancy, damping and wind", "steps/s", vy_bench_world_air,
     0x9e7f210bacd2e939u},
    {"world-full", "with thrust by density and lift", "steps/s", vy_bench_world_full, 0xde10e210d72a4898u},
    {"world-neglected", "declared in full, neglected by the policy", "steps/s", vy_bench_world_neglected,
     0xac9763b19ed691a7u},
    {"world-rotor-air", "near the ground on a battery, with the effects of rotors", "steps/s",
     vy_bench_world_rotor_air, 0xd6e9b1260aaede10u},
    {"orbit-strict", "a satellite at 700 km in wind and layered air", "steps/s", vy_bench_orbit_strict,
     0x86a555a9d66e7132u},
    {"orbit-budget", "the same with a budget of 10 cm after 20 s", "steps/s", vy_bench_orbit_budget,
     0x9ba8abacad3f457du},
    {"hold-strict", "a Crazyflie that holds its place by the truth in wind and layered air", "steps/s",
     vy_bench_hold_strict, 0x38dfab0c714d7eb9u},
    {"hold-budget", "the same with a budget of 1 cm after 20 s", "steps/s", vy_bench_hold_budget,
     0x49bb8609753f837du},
    {"log-none", "baseline by wall clock, no log", "steps/s", vy_bench_log_none, 0x60d8ba144df835dau},
    {"log-10", "the same with every 10th step logged", "steps/s", vy_bench_log_10, 0x60d8ba144df835dau},
    {"log-1", "the same with every step logged", "steps/s", vy_bench_log_1, 0x60d8ba144df835dau},
    {"swarm-10", "ten Crazyflies in each other's wakes, sensors and controllers running", "drone-steps/s",
     vy_bench_swarm_10, 0x7c339a3de4486602u},
    {"swarm-100", "a hundred of them", "drone-steps/s", vy_bench_swarm_100, 0xf5313a970359539bu},
    {"swarm-1000", "a thousand of them", "drone-steps/s", vy_bench_swarm_1000, 0xf6708b0fc1d5ca93u},
    {"landing", "a hundred without motors fall onto pads, the ground and one another", "drone-steps/s",
     vy_bench_landing, 0xa764ccd627d33a11u},
    {"call-direct", "a small controller called by its pointer", "calls/s", vy_bench_call_direct,
     0x66453e4e52f824eau},
    {"call-plugin", "round trips to it as a plug-in, wall clock", "calls/s", vy_bench_call_plugin,
     0x58066981f645bb0bu},
    {"call-plugin-1", "the same with one core for both", "calls/s", vy_bench_call_plugin_one_core,
     0x58066981f645bb0bu},
    {"call-bare-socket", "round trips of the same bytes over a bare socket, wall clock", "calls/s",
     vy_bench_call_bare_socket, 0x2d06800538d394c2u},
    {"call-process", "the same controller as a process of its own, wall clock", "calls/s",
     vy_bench_call_process, 0x58066981f645bb0bu},
    {"batch-scalar", "1024 plain flights through the batch, one by one, actions and states at every step",
     "drone-steps/s", vy_bench_batch_scalar, 0x59578563f007a50cu},
    {"batch-sse2", "the same, two side by side", "drone-steps/s", vy_bench_batch_sse2, 0x59578563f007a50cu},
    {"batch-avx2", "the same, four side by side", "drone-steps/s", vy_bench_batch_avx2, 0x59578563f007a50cu},
    {"batch-widest", "the same, as many as this CPU can", "drone-steps/s", vy_bench_batch_widest,
     0x59578563f007a50cu},
    {"batch-threads-1", "that by wall clock", "drone-steps/s", vy_bench_batch_threads_1, 0x59578563f007a50cu},
    {"batch-threads-2", "that on two threads", "drone-steps/s", vy_bench_batch_threads_2,
     0x59578563f007a50cu},
    {"batch-full", "1024 worlds as in world-full, each with its own mass, inertia and noise", "drone-steps/s",
     vy_bench_batch_full, 0xcadbb79e22cdecdeu},
    {"batch-rotors-1", "1024 worlds with batteries and rotors in the air, one by one", "drone-steps/s",
     vy_bench_batch_rotors_scalar, 0x454eddc556a02890u},
    {"batch-rotors", "the same, as many as this CPU can", "drone-steps/s", vy_bench_batch_rotors,
     0x454eddc556a02890u},
    {"pile-100", "a heap of a hundred boxes, 60 Hz, one thread", "body-steps/s", vy_bench_pile_100,
     0xfe1c7c3b4e2ca469u},
    {"pile-1000", "of a thousand", "body-steps/s", vy_bench_pile_1000, 0x2e45ceced1808e21u},
    {"pile-10000", "of ten thousand", "body-steps/s", vy_bench_pile_10000, 0x35e68cac1087b505u},
    {"pile-asleep", "of a thousand, once the last one sleeps", "body-steps/s", vy_bench_pile_asleep,
     0x9a1f1052f6782862u},
    {"pile-fast", "of a thousand, every tenth of them at 50 m/s", "body-steps/s", vy_bench_pile_fast,
     0x80e0152ae714aeaau},
    {"pile-joined", "of a hundred, two and two on a joint", "body-steps/s", vy_bench_pile_joined,
     0x1f5742bcc9d93ddcu},
    {"heaps-1000", "a thousand, in heaps of a hundred", "body-steps/s", vy_bench_heaps_1000,
     0x8af4674981a0a5e0u},
    {"heaps-10000", "ten thousand, in heaps of a hundred", "body-steps/s", vy_bench_heaps_10000,
     0x1d73b7e084f71dceu},
    {"pile-threads", "of a thousand: one thread's time over two's, wall clock", "times",
     vy_bench_pile_threads, 0x2e45ceced1808e21u},
    {"rays", "10,000 rays through 1,000 spheres and boxes, each to its first hit", "rays/s", vy_bench_rays,
     0xfee66c2c4e86bc4au},
    {"rays-linear", "the same by looking at every body", "rays/s", vy_bench_rays_linear, 0xfee66c2c4e86bc4au},
    {"rays-tree", "the tree for them, of bodies that have all moved", "bodies/s", vy_bench_rays_tree,
     0x5ec58ba0540d44d8u},
    {"gpu-double", "a million drones on a GPU by the loop of lanes-1, 500 steps a launch", "drone-steps/s",
     vy_bench_gpu_double, 0x17a99b59091b471du},
    {"gpu-double-step", "the same, one step a launch", "drone-steps/s", vy_bench_gpu_double_step,
     0x17a99b59091b471du},
    {"gpu-float32", "in single precision, 500 steps a launch", "drone-steps/s", vy_bench_gpu_float32, 0},
    {"gpu-float32-step", "the same, one step a launch", "drone-steps/s", vy_bench_gpu_float32_step, 0},
};
const int vy_bench_count = (int)(sizeof vy_benches / sizeof vy_benches[0]);

// The CPU's name as the kernel tells it, without what JSON would have to escape.
static void machine_name(char *out, size_t room)
{
    snprintf(out, room, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file == NULL) return;
    char line[256];
    while (fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || colon == NULL) continue;
        size_t length = 0;
        for (const char *c = colon + 2; *c != '\n' && *c != '\0' && length + 1 < room; ++c) {
            if (*c != '"' && *c != '\\') out[length++] = *c;
        }
        out[length] = '\0';
        break;
    }
    fclose(file);
}

int vy_bench_matches_name(const bench *b, const char *name)
{
    const size_t size = strlen(name);
    return strncmp(b->name, name, size) == 0 && (b->name[size] == '\0' || b->name[size] == '-');
}

static void print_json(const bench *b, bench_result result, const char *machine)
{
    printf("{\"name\":\"%s\",\"value\":%.6g,\"unit\":\"%s\",\"n\":%.0f,\"best_s\":%.6f,\"hash\":\"%016" PRIx64
           "\",\"commit\":\"%s\",\"machine\":\"%s\"}\n",
           b->name, result.count / result.best_s, b->unit, result.count, result.best_s, result.hash,
           VOLERY_COMMIT, machine);
}

// The value with a prefix, as people say it: 3.23 M steps/s.
static void print_line(const bench *b, bench_result result)
{
    static const char prefixes[] = {' ', 'k', 'M', 'G'};
    double value = result.count / result.best_s;
    int prefix = 0;
    for (; value >= 1000.0 && prefix < 3; ++prefix) value /= 1000.0;
    printf("%-18s %7.4g %c %-14s %016" PRIx64 "  %s\n", b->name, value, prefixes[prefix], b->unit,
           result.hash, b->text);
}

static int is_single_run;

int vy_bench_runs(int usual) { return is_single_run ? 1 : usual; }

int vy_bench_main(const char *name, int json, int once)
{
    is_single_run = once;
    char machine[128];
    machine_name(machine, sizeof machine);
    int run_count = 0, has_wrong_hash = 0;
    for (int i = 0; i < vy_bench_count; ++i) {
        const bench *b = &vy_benches[i];
        if (name != NULL && !vy_bench_matches_name(b, name)) continue;
        vy_error err = {0};
        if (vy_bench_matches_name(b, "gpu") && vy_bench_gpu_ready(&err) != VY_OK) {
            if (name == NULL) continue;
            fprintf(stderr, "volery bench %s: %s\n", b->name, err.text);
            return 3;
        }
        const bench_result result = b->run();
        if (json) {
            print_json(b, result, machine);
        } else {
            print_line(b, result);
        }
        fflush(stdout);
        ++run_count;
        if (result.hash != b->hash) {
            fprintf(stderr, "%s: hash %016" PRIx64 ", expected %016" PRIx64 "\n", b->name, result.hash,
                    b->hash);
            has_wrong_hash = 1;
        }
    }
    return run_count == 0 ? 2 : has_wrong_hash;
}
