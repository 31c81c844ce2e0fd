// gpu_flight.h - the bare equations of a million drones on a GPU.
#pragma once
#include "bench/bench.h"
#include "volery/status.h"

/// Whether there is one.
vy_status vy_bench_gpu_ready(vy_error *err);

bench_result vy_bench_gpu_double(void);
bench_result vy_bench_gpu_double_step(void);
/// In single precision; the hash is 0 when the flight is within 1e-3 of double precision.
bench_result vy_bench_gpu_float32(void);
bench_result vy_bench_gpu_float32_step(void);
