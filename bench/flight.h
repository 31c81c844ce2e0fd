// flight.h - one drone on one core.
#pragma once
#include "bench/bench.h"

bench_result vy_bench_kernel(void);
bench_result vy_bench_lanes_1(void);
bench_result vy_bench_lanes_2(void);
bench_result vy_bench_lanes_4(void);
bench_result vy_bench_lanes_8(void);
bench_result vy_bench_world_baseline(void);
bench_result vy_bench_world_air(void);
bench_result vy_bench_world_full(void);
bench_result vy_bench_world_neglected(void);
bench_result vy_bench_world_rotor_air(void);
// One drone on a circle (orbit) or at a place (hold), with all effects (strict) or with what a budget leaves.
bench_result vy_bench_orbit_strict(void);
bench_result vy_bench_orbit_budget(void);
bench_result vy_bench_hold_strict(void);
bench_result vy_bench_hold_budget(void);
bench_result vy_bench_hover(void);
