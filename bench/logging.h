// logging.h - what a log costs.
#pragma once
#include "bench/bench.h"

bench_result vy_bench_log_none(void);
bench_result vy_bench_log_10(void);
bench_result vy_bench_log_1(void);
