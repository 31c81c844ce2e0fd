// small.c - the small controller as a plug-in; `volery bench` has it inside.
#include "bench/plugin/small.h"

VY_PLUGIN(init, step, NULL)
