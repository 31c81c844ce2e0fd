// rays.h - rays through a set of spheres and boxes.
#pragma once
#include "bench/bench.h"

bench_result vy_bench_rays(void);        ///< 10,000 through 1,000 bodies, the tree included
bench_result vy_bench_rays_linear(void); ///< the same by looking at every body
bench_result vy_bench_rays_tree(void);   ///< the tree alone, of bodies that have all moved
