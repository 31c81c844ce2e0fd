// betaflight_link.c - simulated time through the library of `volery sitl`, or sockets and the wall's clock.
#define _GNU_SOURCE
#include "bridge/betaflight_link.h"
#include "base/assert.h"
#include "base/fail.h"
#include "bridge/betaflight_packet.h"
#include "bridge/sockets.h"
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { READ_CAP = 64 }; // packets read at once by the wall's clock: a flood must not hold up the run

struct betaflight_link {
    // simulated time
    int wire_socket, child_socket; // -1: by the wall's clock
    int is_up;
    sitl_message message;
    // the wall's clock
    int motors_socket, uart_socket;
    int is_known; // the firmware has sent motor commands, from:
    struct sockaddr_in firmware;
    double next_send_time; // [s] of wall clock when the next packet goes
    char address[VY_ADDRESS_CAP];
};

vy_status vy_betaflight_link_open(const vy_controller_def *def, betaflight_link **out, vy_error *err)
{
    betaflight_link *l = calloc(1, sizeof *l);
    *out = NULL;
    if (l == NULL) return vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
    l->wire_socket = l->child_socket = l->motors_socket = l->uart_socket = -1;
    memcpy(l->address, def->firmware.address, sizeof l->address);
    vy_status status = VY_OK;
    int socket_pair[2];
    if (def->firmware.clock == VY_CLOCK_WALL)
        status = vy_bind_udp(l->address, BETAFLIGHT_MOTORS_PORT,
                             "the program's ports are fixed; `clock: simulated` needs none",
                             &l->motors_socket, err);
    else if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socket_pair) != 0)
        status = vy_fail(err, VY_IO, "no socket: %s", strerror(errno));
    else
        l->wire_socket = socket_pair[0], l->child_socket = socket_pair[1];
    if (status != VY_OK) {
        vy_betaflight_link_close(l);
        return status;
    }
    *out = l;
    return VY_OK;
}

void vy_betaflight_link_close(betaflight_link *l)
{
    if (l == NULL) return;
    vy_socket_close(&l->wire_socket);
    vy_socket_close(&l->child_socket);
    vy_socket_close(&l->motors_socket);
    vy_socket_close(&l->uart_socket);
    free(l);
}

int vy_betaflight_link_inherited_socket(betaflight_link *l) { return l->child_socket; }

// --- simulated time

// The next message within `seconds`; its body's size, -1: none, -2: nobody is there any more.
static ssize_t next_message(betaflight_link *l, double seconds)
{
    if (!vy_wait_readable(l->wire_socket, seconds)) return -1;
    const ssize_t size = recv(l->wire_socket, &l->message, sizeof l->message, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return -1;
    return size < SITL_HEAD ? -2 : size - SITL_HEAD;
}

static void send_message(betaflight_link *l, sitl_kind kind, uint32_t port, uint64_t time, const void *bytes,
                         size_t size)
{
    sitl_message *m = &l->message;
    VY_ASSERT(size <= sizeof m->body);
    m->kind = kind;
    m->port = port;
    m->time = time;
    if (size > 0) memcpy(m->body, bytes, size);
    (void)send(l->wire_socket, m, SITL_HEAD + size,
               MSG_NOSIGNAL | MSG_DONTWAIT); // an end is seen when we read
}

static vy_verdict run_simulated(betaflight_link *l, double until, double seconds,
                                betaflight_receive_fn *on_receive, void *self)
{
    const double start = vy_bridge_now();
    send_message(l, SITL_RUN, 0, (uint64_t)(1e9 * until + 0.5), NULL, 0);
    for (;;) {
        const double seconds_left = seconds - (vy_bridge_now() - start);
        const ssize_t size = next_message(l, seconds_left);
        if (size == -2) return VY_VERDICT_ENDED;
        if (size == -1 && seconds_left <= 0.0) return VY_VERDICT_LATE;
        if (size < 0) continue;
        if (l->message.kind == SITL_RAN) return VY_VERDICT_REPLIED;
        on_receive(self, (sitl_kind)l->message.kind, l->message.port, l->message.body, (size_t)size);
    }
}

// --- the wall's clock

// A client of the firmware's UART, once it listens. 0: not yet.
static int connect_uart(betaflight_link *l)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(BETAFLIGHT_UART_PORT)};
    if (l->uart_socket >= 0) return 1;
    if (inet_pton(AF_INET, l->address, &address.sin_addr) != 1) return 0;
    l->uart_socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (l->uart_socket < 0) return 0;
    if (connect(l->uart_socket, (const struct sockaddr *)&address, sizeof address) == 0)
        return 1; // on this computer: at once
    vy_socket_close(&l->uart_socket);
    return 0;
}

// What has come, without waiting.
static void read_wall_clock(betaflight_link *l, betaflight_receive_fn *on_receive, void *self)
{
    uint8_t bytes[2048];
    for (int i = 0; i < READ_CAP; ++i) {
        struct sockaddr_in sender;
        socklen_t length = sizeof sender;
        const ssize_t size = recvfrom(l->motors_socket, bytes, sizeof bytes, MSG_DONTWAIT,
                                      (struct sockaddr *)&sender, &length);
        if (size < 0) break;
        double commands[BETAFLIGHT_MOTORS];
        if (!l->is_known && vy_betaflight_read_motors(bytes, (size_t)size, commands)) {
            l->firmware = sender;
            l->is_known = 1;
        }
        if (sender.sin_port == l->firmware.sin_port && sender.sin_addr.s_addr == l->firmware.sin_addr.s_addr)
            on_receive(self, SITL_DATAGRAM, BETAFLIGHT_MOTORS_PORT, bytes, (size_t)size);
    }
    for (int i = 0; i < READ_CAP && l->uart_socket >= 0; ++i) {
        const ssize_t size = recv(l->uart_socket, bytes, sizeof bytes, MSG_DONTWAIT);
        if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
        if (size <= 0)
            vy_socket_close(&l->uart_socket);
        else
            on_receive(self, SITL_STREAM, BETAFLIGHT_UART_PORT, bytes, (size_t)size);
    }
}

static vy_verdict run_wall_clock(betaflight_link *l, double period, betaflight_receive_fn *on_receive,
                                 void *self)
{
    const double start = vy_bridge_now();
    if (l->next_send_time + period < start) l->next_send_time = start; // behind: no hurry afterwards
    l->next_send_time += period;
    for (;;) {
        read_wall_clock(l, on_receive, self);
        const double seconds_left = l->next_send_time - vy_bridge_now();
        if (seconds_left <= 0.0) return VY_VERDICT_REPLIED;
        struct pollfd inputs[2] = {{.fd = l->motors_socket, .events = POLLIN},
                                   {.fd = l->uart_socket, .events = POLLIN}};
        const struct timespec t = {.tv_sec = (time_t)seconds_left,
                                   .tv_nsec = (long)(1e9 * (seconds_left - (double)(time_t)seconds_left))};
        (void)ppoll(inputs, l->uart_socket >= 0 ? 2 : 1, &t, NULL);
    }
}

// --- both

int vy_betaflight_link_is_up(betaflight_link *l)
{
    if (l->is_up) return 1;
    if (l->wire_socket <
        0) { // its UART listens when its sensors are there: a state that comes earlier crashes it
        l->is_up = connect_uart(l);
        return l->is_up;
    }
    if (l->child_socket >= 0)
        vy_socket_close(&l->child_socket); // the program has it: when it ends, we are told
    const ssize_t size = next_message(l, 0.0);
    if (size == -2) return -1;
    l->is_up = size >= 0 && l->message.kind == SITL_HELLO && l->message.time == SITL_VERSION;
    return l->is_up;
}

void vy_betaflight_link_send_packet(betaflight_link *l, uint32_t port, const void *bytes, size_t size)
{
    if (l->wire_socket >= 0) {
        send_message(l, SITL_DATAGRAM, port, 0, bytes, size);
        return;
    }
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, l->address, &address.sin_addr) == 1)
        (void)sendto(l->motors_socket, bytes, size, MSG_NOSIGNAL, (const struct sockaddr *)&address,
                     sizeof address);
}

void vy_betaflight_link_send_uart(betaflight_link *l, const void *bytes, size_t size)
{
    if (l->wire_socket >= 0)
        send_message(l, SITL_STREAM, BETAFLIGHT_UART_PORT, 0, bytes, size);
    else if (connect_uart(l))
        (void)send(l->uart_socket, bytes, size,
                   MSG_NOSIGNAL | MSG_DONTWAIT); // one that is lost is sent again
}

vy_verdict vy_betaflight_link_run(betaflight_link *l, double until, double period, double seconds,
                                  betaflight_receive_fn *on_receive, void *self)
{
    return l->wire_socket >= 0 ? run_simulated(l, until, seconds, on_receive, self)
                               : run_wall_clock(l, period, on_receive, self);
}
