// version.h - which Volery this is, and which physics it computes.
#pragma once

#define VY_VERSION "0.1.0"

/// Moves whenever a golden hash moves: a log of another revision cannot be expected to replay to the bit.
#define VY_PHYSICS_REVISION 26
