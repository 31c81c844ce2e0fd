// swarm.h - many drones in one world, in each other's wakes.
#pragma once
#include "bench/bench.h"

bench_result vy_bench_swarm_10(void);
bench_result vy_bench_swarm_100(void);
bench_result vy_bench_swarm_1000(void);
