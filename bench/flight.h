// flight.h - one drone on one core.
#pragma once
#include "bench/bench.h"

bench_result vy_bench_kernel(void);
bench_result vy_bench_scene(const char *name);
bench_result vy_bench_baseline(void);
bench_result vy_bench_hover(void);
