// sockets.c - TCP and UDP on IPv4. Nothing here waits longer than it is told to.
#define _GNU_SOURCE // accept4, ppoll
#include "bridge/sockets.h"
#include "base/assert.h"
#include "base/fail.h"
#include "bridge/bridge.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int wait_for(int socket, short events, double seconds)
{
    const double clamped_seconds = seconds < 0.0 ? 0.0 : seconds;
    const struct timespec t = {.tv_sec = (time_t)clamped_seconds,
                               .tv_nsec = (long)(1e9 * (clamped_seconds - (double)(time_t)clamped_seconds))};
    struct pollfd p = {.fd = socket, .events = events};
    return ppoll(&p, 1, &t, NULL) > 0;
}

static vy_status bind_to(const char *address, int port, int type, const char *remedy, int *out, vy_error *err)
{
    struct sockaddr_in socket_address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    VY_ASSERT(port >= 0);
    *out = -1;
    if (port > 65535) return vy_fail(err, VY_BAD_VALUE, "port %d, the instance added, is above 65535", port);
    if (inet_pton(AF_INET, address, &socket_address.sin_addr) != 1)
        return vy_fail(err, VY_BAD_VALUE, "address %.40s is no IPv4 address", address);
    const int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return vy_fail(err, VY_IO, "no socket: %s", strerror(errno));
    const int on = 1;
    // A server's port is free again at once. Two of UDP on one port would share its packets.
    if (type == SOCK_STREAM) (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (const struct sockaddr *)&socket_address, sizeof socket_address) != 0 ||
        (type == SOCK_STREAM && listen(fd, CONNECTION_CAP) != 0)) {
        const int reason = errno;
        close(fd);
        const int has_remedy = remedy != NULL && (reason == EADDRINUSE || reason == EACCES);
        return vy_fail(err, VY_IO, "%s port %d of %.40s: %s%s%s", type == SOCK_STREAM ? "TCP" : "UDP", port,
                       address, strerror(reason), has_remedy ? ": " : "", has_remedy ? remedy : "");
    }
    *out = fd;
    return VY_OK;
}

vy_status vy_listen_tcp(const char *address, int port, const char *remedy, int *out, vy_error *err)
{
    return bind_to(address, port, SOCK_STREAM, remedy, out, err);
}

vy_status vy_bind_udp(const char *address, int port, const char *remedy, int *out, vy_error *err)
{
    return bind_to(address, port, SOCK_DGRAM, remedy, out, err);
}

int vy_accept(int listener)
{
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    const int on = 1;
    if (fd >= 0) (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

int vy_send_all(int socket, const void *bytes, size_t size, double seconds)
{
    const double start = vy_bridge_now();
    for (size_t sent_size = 0; sent_size < size;) {
        const ssize_t n = send(socket, (const char *)bytes + sent_size, size - sent_size, MSG_NOSIGNAL);
        if (n > 0) sent_size += (size_t)n;
        if (n >= 0 || errno == EINTR) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) return 0;
        if (!wait_for(socket, POLLOUT, seconds - (vy_bridge_now() - start))) {
            errno = EAGAIN;
            return 0;
        }
    }
    return 1;
}

int vy_wait_readable(int socket, double seconds) { return wait_for(socket, POLLIN, seconds); }

void vy_socket_close(int *socket)
{
    if (*socket >= 0) close(*socket);
    *socket = -1;
}
