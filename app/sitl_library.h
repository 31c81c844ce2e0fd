// sitl_library.h - the library made of app/sitl/, packed by tools/embed.c.
#pragma once
#include "packed.h"

PACKED_NAMED(vy_sitl);
