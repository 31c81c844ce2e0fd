// sockets.h - the ends of a bridge: a TCP server for one firmware, and a UDP port.
#pragma once
#include "volery/status.h"
#include <netinet/in.h>

enum { CONNECTION_CAP = 8 };

/// Listen on an IPv4 address. VY_BAD_VALUE for an address that is none, VY_IO for a port that is taken:
/// `remedy` ends the sentence, or NULL.
vy_status vy_listen_tcp(const char *address, int port, const char *remedy, int *out, vy_error *err);

/// Bind a UDP socket that does not block.
vy_status vy_bind_udp(const char *address, int port, const char *remedy, int *out, vy_error *err);

/// The next that has called, without waiting; -1: nobody. It does not block.
int vy_accept(int listener);

/// Send all of it within `seconds`; 0: it could not be sent, and errno is EAGAIN when the time was over.
int vy_send_all(int socket, const void *bytes, size_t size, double seconds);

/// Wait for bytes; 0: none within `seconds`.
int vy_wait_readable(int socket, double seconds);

void vy_socket_close(int *socket);
