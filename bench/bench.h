// bench.h - the benchmarks: each runs a fixed amount of work, and its hash must come out right.
#pragma once
#include <stdint.h>

typedef struct bench_result {
    double count;  // units of work done
    double best_s; // [s] the fastest of several runs
    uint64_t hash; // of the state at the end
} bench_result;

typedef struct bench {
    const char *name;
    const char *text; // one line for people
    const char *unit; // of count per second
    bench_result (*run)(void);
    uint64_t hash; // what every machine must print
} bench;

extern const bench vy_benches[];
extern const int vy_bench_count;

/// Is `b` meant by `name`? `world` stands for all of world-baseline, world-air, ...
int vy_bench_matches_name(const bench *b, const char *name);

/// How often a benchmark does its work: `usual` times, or once where only its hash is asked for.
int vy_bench_runs(int usual);

/// Run `name` (NULL: all, those of a GPU where there is one), one line of text or one JSON object each on
/// stdout; with `once` each does its work once, which measures little and checks its hash. Returns 0, 1 on a
/// wrong hash, 2 on an unknown name, 3 where a GPU was named and there is none.
int vy_bench_main(const char *name, int json, int once);
