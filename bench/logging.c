// logging.c - a world with and without a log, by wall clock: the log's own thread counts too.
#include "bench/logging.h"
#include "bench/clock.h"
#include "scenes/scenes.h"
#include "volery/record.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RUNS = 3, STEPS = 1000000 };

static bench_result time_log(uint64_t every)
{
    static const char *const drone_names[] = {"alpha"};
    bench_result result = {STEPS, 1e300, 0};
    char path[] = "/tmp/volery-bench-XXXXXX";
    const int fd = mkstemp(path);
    if (fd < 0) return result;
    close(fd);
    const int runs = vy_bench_runs(RUNS);
    for (int run = 0; run < runs; ++run) {
        vy_world *world = NULL;
        vy_recorder *recorder = NULL;
        if (vy_scene_find("baseline")->build(1, &world, NULL) != VY_OK) return result;
        vy_recorder_def def = vy_default_recorder_def();
        def.path = path;
        def.scenario = "volery: 1\n";
        def.names = drone_names;
        def.every = every;
        const double start = clock_wall_seconds();
        if (every > 0 && vy_recorder_open(&def, world, &recorder, NULL) == VY_OK) {
            vy_world_set_sink(world, vy_recorder_sink(recorder));
        }
        vy_world_advance(world, STEPS);
        if (recorder != NULL && vy_recorder_close(recorder, world, "completed", NULL) != VY_OK)
            result.hash = 0;
        const double seconds = clock_wall_seconds() - start;
        if (seconds < result.best_s) result.best_s = seconds;
        result.hash = vy_world_hash(world);
        vy_world_destroy(world);
    }
    remove(path);
    return result;
}

// No log, every 10th step, every step.
bench_result vy_bench_log_none(void) { return time_log(0); }
bench_result vy_bench_log_10(void) { return time_log(10); }
bench_result vy_bench_log_1(void) { return time_log(1); }
