// start.h - worlds of a batch with values of their own.
#pragma once
#include "volery/batch.h"

/// Put world `world` at the start of `scenario`. It may differ from the batch's in its seed, the constant
/// wind, and in what drones have as constants and start: masses, drag, noise, positions. For batches in lanes
/// that keep the chain of hashes.
/// @return VY_BAD_VALUE: it differs in what worlds side by side share, or is no valid world; nothing is
/// changed
vy_status vy_batch_start(vy_batch *batch, uint32_t world, const vy_scenario *scenario, vy_error *err);

/// Whether the batch's worlds lie in lanes, rather than being stepped one by one.
int vy_batch_has_lanes(const vy_batch *batch);
