// listen.h - a listener for what a recorder writes.
#pragma once
#include "record/mcap_writer.h"
#include "volery/record.h"

/// Every message that is recorded from now on goes to `listener`, too, on the thread of the flight; it is
/// copied.
void vy_recorder_set_listener(vy_recorder *recorder, const vy_mcap_listener *listener);
