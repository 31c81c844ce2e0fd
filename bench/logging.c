// logging.c - a world with and without a log, by wall clock: the log's own thread counts too.
#include "bench/logging.h"
#include "bench/clock.h"
#include "scenes/scenes.h"
#include "volery/record.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RUNS = 3, STEPS = 1000000 };

static bench_result fly(uint64_t every)
{
    static const char *const names[] = {"alpha"};
    bench_result r = {STEPS, 1e300, 0};
    char path[] = "/tmp/volery-bench-XXXXXX";
    const int file = mkstemp(path);
    if (file < 0) return r;
    close(file);
    const int runs = vy_bench_runs(RUNS);
    for (int run = 0; run < runs; ++run) {
        vy_world *world = NULL;
        vy_recorder *recorder = NULL;
        if (vy_scene_find("baseline")->build(1, &world, NULL) != VY_OK) return r;
        vy_recorder_def def = vy_default_recorder_def();
        def.path = path;
        def.scenario = "volery: 1\n";
        def.names = names;
        def.every = every;
        const double start = clock_wall_seconds();
        if (every > 0 && vy_recorder_open(&def, world, &recorder, NULL) == VY_OK) {
            vy_world_set_sink(world, vy_recorder_sink(recorder));
        }
        vy_world_advance(world, STEPS);
        if (recorder != NULL && vy_recorder_close(recorder, world, "completed", NULL) != VY_OK) r.hash = 0;
        const double seconds = clock_wall_seconds() - start;
        if (seconds < r.best_s) r.best_s = seconds;
        r.hash = vy_world_hash(world);
        vy_world_destroy(world);
    }
    remove(path);
    return r;
}

bench_result vy_bench_log_none(void) { return fly(0); }
bench_result vy_bench_log_10(void) { return fly(10); }
bench_result vy_bench_log_1(void) { return fly(1); }
