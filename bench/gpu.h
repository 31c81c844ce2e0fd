// gpu.h - the bare flight equations on a GPU.
#pragma once
#include "volery/status.h"
#include <stdint.h>

#define GPU_BARE_CELLS 17 // a body_state and four rotor speeds

/// The loop of `volery bench kernel` on `drones` drones: `launches` launches of `steps` steps each, commands
/// from the state at every step, states read and written by every launch. `seconds` of the fastest of five
/// runs; `first` is the first drone's state at the end, on a CPU the same loop's after launches * steps
/// steps.
vy_status vy_bench_gpu_fly(uint32_t drones, uint32_t steps, uint32_t launches, double *seconds,
                           double first[GPU_BARE_CELLS], vy_error *err);
/// The same in single precision.
vy_status vy_bench_gpu_fly_single(uint32_t drones, uint32_t steps, uint32_t launches, double *seconds,
                                  double first[GPU_BARE_CELLS], vy_error *err);
