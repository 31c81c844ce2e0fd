// queue.h - see FreeRTOS.h.
#pragma once
#include "FreeRTOS.h"
