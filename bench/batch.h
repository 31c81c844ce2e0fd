// batch.h - many drones at once.
#pragma once
#include "bench/bench.h"

bench_result vy_bench_batch_scalar(void);
bench_result vy_bench_batch_sse2(void);
bench_result vy_bench_batch_avx2(void);
bench_result vy_bench_batch_widest(void);
bench_result vy_bench_batch_threads_1(void);
bench_result vy_bench_batch_threads_2(void);
bench_result vy_bench_batch_full(void);
bench_result vy_bench_batch_rotors_scalar(void);
bench_result vy_bench_batch_rotors(void);
