// new.h - what volery new writes: the files of app/new/, in which @name@ and the like stand for something.
#pragma once
#include "packed.h"

PACKED_NAMED(vy_new_controller_c);
PACKED_NAMED(vy_new_controller_py);
PACKED_NAMED(vy_new_scenario_yaml);
PACKED_NAMED(vy_new_plugin_mk);
PACKED_NAMED(vy_new_process_mk);
