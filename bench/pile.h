// pile.h - boxes dropped onto one another.
#pragma once
#include "bench/bench.h"

bench_result vy_bench_pile_100(void);
bench_result vy_bench_pile_1000(void);
bench_result vy_bench_pile_10000(void);
bench_result vy_bench_pile_asleep(void); ///< of a thousand, once all of them sleep
bench_result vy_bench_pile_joined(void); ///< of a hundred, two and two on a joint
bench_result vy_bench_pile_fast(void);   ///< of a thousand, every tenth at 50 m/s
/// So many in heaps of a hundred.
bench_result vy_bench_heaps_1000(void);
bench_result vy_bench_heaps_10000(void);
/// By wall clock, how many times as fast two threads are with a thousand as one.
bench_result vy_bench_pile_threads(void);
