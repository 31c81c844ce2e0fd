// rtos.h - the firmware's second thread, the Kalman filter, between two steps of its first.
#pragma once
#include <stdint.h>

/// The clock goes on by a millisecond.
void rtos_tick(void);

/// Let the task run until it waits: it has what it waited for, or this does nothing.
void rtos_run(void);
