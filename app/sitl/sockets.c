// sockets.c - the program's sockets end in Volery: it takes no ports, so many instances run side by side, and
// a packet is there or not by simulated time alone.
//
// Behind each socket of the program is a pair of local ones: the program has the one, we hold the other.
// Without Volery sockets are the system's.
#define _GNU_SOURCE
#include "sitl.h"
#include "bridge/sitl_wire.h"
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

enum { PENDING_CAP = 8, FREE_PORTS = 50000 };

// What a file descriptor of the program is: no socket, the system's, or one that ends in Volery.
typedef enum endpoint_kind { CLOSED, SYSTEM, UDP, TCP, LISTENER, CONNECTION } endpoint_kind;

typedef struct endpoint {
    endpoint_kind kind;
    int our_fd;               // the other end of the pair
    uint32_t port;            // its own
    uint32_t peer_port;       // where a connected UDP socket sends to
    int pending[PENDING_CAP]; // of a listener: connections that have not been accepted
    int pending_count;
} endpoint;

static endpoint endpoints[FD_CAP];

static endpoint *endpoint_of(int fd)
{
    return fd >= 0 && fd < FD_CAP && endpoints[fd].kind > SYSTEM ? &endpoints[fd] : NULL;
}

int sitl_is_socket(int fd) { return fd >= 0 && fd < FD_CAP && endpoints[fd].kind != CLOSED; }

static int real_close(int fd) { return REAL(int, close, int)(fd); }

static ssize_t real_send(int fd, const void *bytes, size_t size)
{
    return REAL(ssize_t, send, int, const void *, size_t, int)(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static uint32_t port_of(const struct sockaddr *address)
{
    if (address == NULL) return 0;
    if (address->sa_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)(const void *)address)->sin6_port);
    return ntohs(((const struct sockaddr_in *)(const void *)address)->sin_port);
}

static void put_address(uint32_t port, struct sockaddr *out, socklen_t *length)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (out == NULL || length == NULL) return;
    memcpy(out, &address, *length < sizeof address ? *length : sizeof address);
    *length = sizeof address;
}

// --- what Volery sends, and what it gets

void sitl_deliver_datagram(uint32_t port, const void *bytes, size_t size)
{
    for (int fd = 0; fd < FD_CAP; ++fd) {
        if (endpoints[fd].kind != UDP || endpoints[fd].port != port) continue;
        (void)real_send(endpoints[fd].our_fd, bytes, size); // a full socket loses it, as of UDP
        return;
    }
}

static endpoint *connection_at(uint32_t port)
{
    for (int fd = 0; fd < FD_CAP; ++fd) {
        if (endpoints[fd].kind == CONNECTION && endpoints[fd].port == port) return &endpoints[fd];
    }
    return NULL;
}

// A connection that the program will find at its listener.
static endpoint *connect_to_listener(uint32_t port)
{
    int pair[2];
    for (int fd = 0; fd < FD_CAP; ++fd) {
        endpoint *listener = &endpoints[fd];
        if (listener->kind != LISTENER || listener->port != port || listener->pending_count == PENDING_CAP)
            continue;
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return NULL;
        if (pair[0] >= FD_CAP || pair[1] >= FD_CAP) {
            (void)real_close(pair[0]);
            (void)real_close(pair[1]);
            return NULL;
        }
        endpoints[pair[0]] = (endpoint){.kind = CONNECTION, .our_fd = pair[1], .port = port};
        listener->pending[listener->pending_count++] = pair[0];
        (void)real_send(listener->our_fd, "", 1); // to make it readable
        return &endpoints[pair[0]];
    }
    return NULL;
}

void sitl_deliver_stream(uint32_t port, const void *bytes, size_t size)
{
    endpoint *e = connection_at(port);
    if (e == NULL) e = connect_to_listener(port);
    if (e != NULL) (void)real_send(e->our_fd, bytes, size);
}

void sitl_collect_streams(void)
{
    uint8_t bytes[SITL_BODY_CAP];
    for (int fd = 0; fd < FD_CAP; ++fd) {
        if (endpoints[fd].kind != CONNECTION) continue;
        ssize_t size;
        while ((size = REAL(ssize_t, recv, int, void *, size_t, int)(endpoints[fd].our_fd, bytes,
                                                                     sizeof bytes, MSG_DONTWAIT)) > 0)
            sitl_wire_send(SITL_STREAM, endpoints[fd].port, bytes, (size_t)size);
    }
}

// --- the program's calls

int socket(int family, int type, int protocol)
{
    const int kind = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
    const int is_internet = family == AF_INET || family == AF_INET6;
    const int is_ours = sitl_is_managed() && sitl_wire_is_open() && is_internet &&
                        (kind == SOCK_DGRAM || kind == SOCK_STREAM);
    int pair[2];
    if (!is_ours) {
        const int fd = REAL(int, socket, int, int, int)(family, type, protocol);
        if (fd >= 0 && fd < FD_CAP) endpoints[fd] = (endpoint){.kind = SYSTEM, .our_fd = -1};
        return fd;
    }
    if (socketpair(AF_UNIX, type, 0, pair) != 0) return -1;
    if (pair[0] >= FD_CAP || pair[1] >= FD_CAP) {
        (void)real_close(pair[0]);
        (void)real_close(pair[1]);
        errno = EMFILE;
        return -1;
    }
    endpoints[pair[0]] = (endpoint){
        .kind = kind == SOCK_DGRAM ? UDP : TCP, .our_fd = pair[1], .port = FREE_PORTS + (uint32_t)pair[0]};
    return pair[0];
}

int bind(int fd, const struct sockaddr *address, socklen_t length)
{
    endpoint *e = endpoint_of(fd);
    if (e == NULL) return REAL(int, bind, int, const struct sockaddr *, socklen_t)(fd, address, length);
    const uint32_t port = port_of(address);
    for (int i = 0; i < FD_CAP && port != 0; ++i) {
        const int same_protocol = (e->kind == UDP) == (endpoints[i].kind == UDP);
        if (i == fd || endpoints[i].kind <= SYSTEM || endpoints[i].kind == CONNECTION ||
            endpoints[i].port != port || !same_protocol)
            continue;
        errno = EADDRINUSE;
        return -1;
    }
    if (port != 0) e->port = port;
    return 0;
}

int listen(int fd, int backlog)
{
    endpoint *e = endpoint_of(fd);
    if (e == NULL) return REAL(int, listen, int, int)(fd, backlog);
    e->kind = LISTENER;
    return 0;
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    endpoint *e = endpoint_of(fd);
    if (e == NULL) return REAL(int, connect, int, const struct sockaddr *, socklen_t)(fd, address, length);
    if (e->kind == UDP) {
        e->peer_port = port_of(address);
        return 0;
    }
    errno = ECONNREFUSED; // nobody listens where Volery is
    return -1;
}

int close(int fd)
{
    endpoint *e = endpoint_of(fd);
    if (e != NULL) {
        if (e->kind == CONNECTION) sitl_collect_streams();
        for (int i = 0; i < e->pending_count; ++i) (void)close(e->pending[i]);
        (void)real_close(e->our_fd);
    }
    if (fd >= 0 && fd < FD_CAP) endpoints[fd].kind = CLOSED;
    return real_close(fd);
}

static int is_blocking(int fd, int flags)
{
    return !(flags & MSG_DONTWAIT) && !(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

// In turn: wait until there is something to read, if the call would.
static void wait_to_read(int fd, int flags)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (!sitl_is_managed() || !sitl_is_socket(fd) || !is_blocking(fd, flags)) return;
    struct timeval receive_timeout = {0};
    socklen_t size = sizeof receive_timeout;
    uint64_t wake = NEVER;
    if (getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &receive_timeout, &size) == 0 &&
        (receive_timeout.tv_sec > 0 || receive_timeout.tv_usec > 0))
        wake = sitl_now() + 1000000000ull * (uint64_t)receive_timeout.tv_sec +
               1000ull * (uint64_t)receive_timeout.tv_usec;
    (void)sitl_wait(wake, NULL, &p, 1);
}

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    char byte;
    wait_to_read(fd, 0);
    endpoint *e = endpoint_of(fd);
    if (e == NULL) {
        const int accepted =
            REAL(int, accept4, int, struct sockaddr *, socklen_t *, int)(fd, address, length, flags);
        if (accepted >= 0 && accepted < FD_CAP)
            endpoints[accepted] = (endpoint){.kind = SYSTEM, .our_fd = -1};
        return accepted;
    }
    if (e->pending_count == 0) {
        errno = EAGAIN;
        return -1;
    }
    (void)REAL(ssize_t, recv, int, void *, size_t, int)(fd, &byte, 1, MSG_DONTWAIT);
    const int accepted = e->pending[0];
    memmove(e->pending, e->pending + 1, (size_t)--e->pending_count * sizeof e->pending[0]);
    if (flags & SOCK_NONBLOCK) (void)fcntl(accepted, F_SETFL, O_NONBLOCK);
    if (flags & SOCK_CLOEXEC) (void)fcntl(accepted, F_SETFD, FD_CLOEXEC);
    put_address(FREE_PORTS, address, length);
    return accepted;
}

int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict length)
{
    return accept4(fd, address, length, 0);
}

ssize_t recvfrom(int fd, void *restrict bytes, size_t size, int flags, struct sockaddr *restrict address,
                 socklen_t *restrict length)
{
    wait_to_read(fd, flags);
    const endpoint *e = endpoint_of(fd);
    const int extra_flags =
        sitl_is_managed() && sitl_is_socket(fd) && is_blocking(fd, flags) ? MSG_DONTWAIT : 0;
    const ssize_t n = REAL(ssize_t, recvfrom, int, void *, size_t, int, struct sockaddr *, socklen_t *)(
        fd, bytes, size, flags | extra_flags, e == NULL ? address : NULL, e == NULL ? length : NULL);
    if (n >= 0 && e != NULL) put_address(e->kind == UDP ? e->port : FREE_PORTS, address, length);
    return n;
}

ssize_t recv(int fd, void *bytes, size_t size, int flags)
{
    return recvfrom(fd, bytes, size, flags, NULL, NULL);
}

ssize_t read(int fd, void *bytes, size_t size)
{
    if (endpoint_of(fd) != NULL) return recvfrom(fd, bytes, size, 0, NULL, NULL);
    return REAL(ssize_t, read, int, void *, size_t)(fd, bytes, size);
}

ssize_t sendto(int fd, const void *bytes, size_t size, int flags, const struct sockaddr *address,
               socklen_t length)
{
    const endpoint *e = endpoint_of(fd);
    if (e == NULL || e->kind != UDP)
        return REAL(ssize_t, sendto, int, const void *, size_t, int, const struct sockaddr *,
                    socklen_t)(fd, bytes, size, flags, e == NULL ? address : NULL, e == NULL ? length : 0);
    sitl_wire_send(SITL_DATAGRAM, address != NULL ? port_of(address) : e->peer_port, bytes, size);
    return (ssize_t)size;
}

ssize_t send(int fd, const void *bytes, size_t size, int flags)
{
    return sendto(fd, bytes, size, flags, NULL, 0);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    if (endpoint_of(fd) != NULL) return sendto(fd, bytes, size, 0, NULL, 0);
    return REAL(ssize_t, write, int, const void *, size_t)(fd, bytes, size);
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
    const int is_ours = endpoint_of(fd) != NULL;
    const int result =
        REAL(int, setsockopt, int, int, int, const void *, socklen_t)(fd, level, name, value, length);
    return is_ours ? 0 : result; // options of the internet mean nothing here
}

int getsockname(int fd, struct sockaddr *restrict out, socklen_t *restrict length)
{
    const endpoint *e = endpoint_of(fd);
    if (e == NULL) return REAL(int, getsockname, int, struct sockaddr *, socklen_t *)(fd, out, length);
    put_address(e->port, out, length);
    return 0;
}

int getpeername(int fd, struct sockaddr *restrict out, socklen_t *restrict length)
{
    const endpoint *e = endpoint_of(fd);
    if (e == NULL) return REAL(int, getpeername, int, struct sockaddr *, socklen_t *)(fd, out, length);
    put_address(e->kind == UDP ? e->peer_port : FREE_PORTS, out, length);
    return 0;
}
