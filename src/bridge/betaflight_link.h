// betaflight_link.h - the way to Betaflight's program: through the library of `volery sitl`, in simulated
// time, or by the system's sockets and the wall's clock.
#pragma once
#include "bridge/bridge.h"
#include "bridge/sitl_wire.h"

typedef struct betaflight_link betaflight_link; ///< one owner

/// What comes from the firmware: a packet to one of our ports, or bytes of its UART.
typedef void betaflight_receive_fn(void *self, sitl_kind kind, uint32_t port, const uint8_t *bytes,
                                   size_t size);

/// By the clock that the def asks for.
vy_status vy_betaflight_link_open(const vy_controller_def *def, betaflight_link **out, vy_error *err);
void vy_betaflight_link_close(betaflight_link *link);

/// The socket for the program, to be closed once it has it; -1: it needs none.
int vy_betaflight_link_inherited_socket(betaflight_link *link);

/// Is somebody there? -1: it has gone.
int vy_betaflight_link_is_up(betaflight_link *link);

void vy_betaflight_link_send_packet(betaflight_link *link, uint32_t port, const void *bytes, size_t size);
void vy_betaflight_link_send_uart(betaflight_link *link, const void *bytes, size_t size);

/// Let the firmware run until `until` [s] of its time, `period` after the last, and hear what it says.
/// @param seconds of wall clock that it may take
vy_verdict vy_betaflight_link_run(betaflight_link *link, double until, double period, double seconds,
                                  betaflight_receive_fn *on_receive, void *self);
