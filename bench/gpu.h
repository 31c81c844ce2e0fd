// gpu.h - the bare flight equations on a GPU.
#pragma once
#include "volery/status.h"
#include <stdint.h>

/// The loop of `volery bench kernel` on `drones` drones: `launches` launches of `steps` steps each, commands
/// from the state at every step, states read and written by every launch. `seconds` of the fastest of five
/// runs; `hash` of the first drone is that of the same loop on a CPU after launches * steps steps.
vy_status vy_bench_gpu_fly(uint32_t drones, uint32_t steps, uint32_t launches, double *seconds,
                           uint64_t *hash, vy_error *err);
