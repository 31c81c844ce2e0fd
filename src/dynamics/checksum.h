// checksum.h - whether two sets have the same bodies and joints: checksums of their constants, by value.
#pragma once
#include "dynamics/bodies.h"

/// The checksums of the bodies and of the joints of a set, at the front of a snapshot.
typedef struct set_checksums {
    uint64_t bodies, joints;
} set_checksums;

/// Of the body in a slot: its number, id and all constants, a hull's vertices and a field's heights included.
uint64_t vy_body_checksum(const vy_bodies *b, uint32_t slot);

/// Of all bodies and all joints. Those of bodies are the ones in their slots.
set_checksums vy_set_checksums(const vy_bodies *b);
