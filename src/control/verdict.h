// verdict.h - which limit of a controller a verdict is about.
#pragma once
#include "volery/controller.h"

/// [s] the deadline, the time to boot, or the patience with a script; 0: none of them.
double vy_verdict_limit(vy_verdict verdict, const vy_controller_def *def);
