// landing.h - drones that fall onto pads, the ground and one another.
#pragma once
#include "bench/bench.h"

bench_result vy_bench_landing(void);
