// calling.h - what a controller that is a program costs per call.
#pragma once
#include "bench/bench.h"

bench_result vy_bench_call_direct(void);
bench_result vy_bench_call_plugin(void);
bench_result vy_bench_call_plugin_one_core(void);
bench_result vy_bench_call_bare_socket(void);
bench_result vy_bench_call_process(void);

/// The other side of vy_bench_call_process: answers on stdin and stdout. Returns the exit status.
int vy_bench_echo(void);
