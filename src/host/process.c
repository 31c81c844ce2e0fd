// process.c - a separate program as a controller: started, called in lock-step, ended with all its children.
#define _GNU_SOURCE // SOCK_CLOEXEC
#include "base/fail.h"
#include "base/assert.h"
#include "host/child.h"
#include "host/frame.h"
#include "host/host.h"
#include "host/launch.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { REAP_MILLISECONDS = 1000 }; // from the end of its replies to the end of the process

struct vy_process_host {
    child child;
    int wire_fd;     // our end of the socket
    double deadline; // [s] of wall clock for one reply
    int rotor_count;
    shared_core core;
    int is_dead;
    vy_verdict verdict;
    int32_t detail;
    char output[OUTPUT_CAP]; // what it wrote in place of a reply
    unsigned char send_buffer[WIRE_CAP], receive_buffer[WIRE_CAP];
};

static double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void set_timeout(int wire_fd, double seconds)
{
    const struct timeval timeout = {.tv_sec = (time_t)seconds,
                                    .tv_usec = (suseconds_t)(1e6 * (seconds - (double)(time_t)seconds)) + 1};
    (void)setsockopt(wire_fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    (void)setsockopt(wire_fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
}

static vy_status spawn(const vy_host_request *request, vy_process_host *h, vy_error *err)
{
    int socket_pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socket_pair) != 0)
        return vy_fail(err, VY_IO, "controller: no socket: %s", strerror(errno));
    for (int i = 0; i < 2; ++i) socket_pair[i] = vy_fd_above_stdio(socket_pair[i]);
    h->wire_fd = socket_pair[0];
    const vy_status status = socket_pair[0] < 0 || socket_pair[1] < 0
                                 ? vy_fail(err, VY_IO, "controller: no socket: %s", strerror(errno))
                                 : vy_launch(request, socket_pair[1], -1, &h->child, &h->core, err);
    if (socket_pair[1] >= 0) close(socket_pair[1]);
    return status;
}

static void close_wire(vy_process_host *h)
{
    if (h->wire_fd < 0) return;
    if (h->child.owner == getpid()) (void)shutdown(h->wire_fd, SHUT_RDWR);
    close(h->wire_fd);
    h->wire_fd = -1;
}

// The other end is closed: how did the process end?
static vy_verdict wait_for_end(const vy_process_host *h, int32_t *detail)
{
    vy_verdict verdict;
    (void)vy_child_wait(&h->child, REAP_MILLISECONDS, &verdict,
                        detail); // -1: it lives, but has closed its end
    return verdict;
}

static vy_verdict send_frame(vy_process_host *h, const unsigned char *bytes, size_t size, int32_t *detail)
{
    VY_ASSERT(h->wire_fd >= 0 && size >= FRAME_HEAD_SIZE &&
              vy_wire_get_size(bytes) == size - FRAME_HEAD_SIZE);
    for (size_t sent = 0; sent < size;) {
        const ssize_t n = send(h->wire_fd, bytes + sent, size - sent, MSG_NOSIGNAL);
        if (n > 0) sent += (size_t)n;
        if (n >= 0 || errno == EINTR) continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK) return VY_VERDICT_LATE;
        // What it sent before it ended says more than its end, and does not depend on timing.
        if (recv(h->wire_fd, h->receive_buffer, 1, MSG_PEEK | MSG_DONTWAIT) == 1) return VY_VERDICT_REPLIED;
        return wait_for_end(h, detail);
    }
    return VY_VERDICT_REPLIED;
}

// One frame of at most `cap` bytes, and no byte more, into h->receive_buffer.
static vy_verdict receive_frame(vy_process_host *h, double seconds, size_t cap, size_t *size, int32_t *detail)
{
    const double start_time = clock_seconds();
    size_t received = 0;
    VY_ASSERT(h->wire_fd >= 0);
    for (;;) {
        const ssize_t n =
            recv(h->wire_fd, h->receive_buffer + received, sizeof h->receive_buffer - received, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return VY_VERDICT_LATE;
        if (n <= 0) // its last words say more than its end
            return received > 0 && vy_wire_is_text(h->receive_buffer, received, detail, h->output)
                       ? VY_VERDICT_GARBAGE
                       : wait_for_end(h, detail);
        received += (size_t)n;
        const vy_verdict verdict =
            vy_wire_check_frame(h->receive_buffer, received, cap, size, detail, h->output);
        if (verdict != VY_VERDICT_LATE) return verdict;
        // The rest comes later, within what is left of the same deadline.
        const double remaining = seconds - (clock_seconds() - start_time);
        struct pollfd wire_input = {.fd = h->wire_fd, .events = POLLIN};
        if (remaining <= 0.0 || poll(&wire_input, 1, (int)(1e3 * remaining) + 1) == 0) return VY_VERDICT_LATE;
    }
}

// First frames: the start message to the controller, and its answer that it is ready.
static vy_status handshake(const vy_host_request *request, vy_process_host *h, vy_error *err)
{
    const char *program = request->def->program;
    size_t size = strlen(request->start.json);
    unsigned char *text = malloc(FRAME_HEAD_SIZE + size);
    if (text == NULL) return vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
    memcpy(text + FRAME_HEAD_SIZE, request->start.json, size);
    vy_wire_put_size((uint32_t)size, text);
    const double timeout = request->def->boot + h->deadline;
    set_timeout(h->wire_fd, timeout);
    int32_t detail = 0;
    vy_verdict verdict = send_frame(h, text, FRAME_HEAD_SIZE + size, &detail);
    free(text);
    if (verdict == VY_VERDICT_REPLIED) verdict = receive_frame(h, timeout, READY_CAP, &size, &detail);
    if (verdict != VY_VERDICT_REPLIED) {
        char reason[160];
        const int is_late = verdict == VY_VERDICT_LATE;
        vy_verdict_print(is_late ? VY_VERDICT_NOT_READY : verdict, detail, timeout, h->output, reason,
                         sizeof reason);
        return vy_fail(err, is_late ? VY_BAD_STATE : VY_IO, "controller `%.60s` %s (before the first step)",
                       program, reason);
    }
    char ready_text[32];
    const int length = snprintf(ready_text, sizeof ready_text, "volery %d", WIRE_VERSION);
    if (size != (size_t)length || memcmp(h->receive_buffer + FRAME_HEAD_SIZE, ready_text, size) != 0)
        return vy_fail(err, VY_OTHER_VERSION, "controller `%.80s` did not begin with the frame \"%s\"",
                       program, ready_text);
    set_timeout(h->wire_fd, h->deadline);
    return VY_OK;
}

vy_status vy_process_host_open(const vy_host_request *request, vy_process_host **out, vy_error *err)
{
    vy_process_host *h = calloc(1, sizeof *h);
    if (h == NULL) return vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
    h->wire_fd = h->child.lifeline = -1;
    h->deadline = request->def->deadline;
    h->rotor_count = request->start.rotor_count;
    vy_status status = spawn(request, h, err);
    if (status == VY_OK) status = handshake(request, h, err);
    if (status != VY_OK) {
        h->is_dead = 1;
        vy_process_host_close(h);
        return status;
    }
    *out = h;
    return VY_OK;
}

// A process may react to the end of its input in any way, except by a crash.
vy_verdict vy_process_host_finish(vy_process_host *h, int32_t *detail)
{
    vy_verdict verdict;
    int32_t exit_detail;
    close_wire(h);
    const int has_ended = !h->is_dead && h->child.owner == getpid() &&
                          vy_child_wait(&h->child, END_MILLISECONDS, &verdict, &exit_detail);
    vy_child_end(&h->child);
    if (!h->is_dead) h->verdict = VY_VERDICT_ABSENT;
    h->is_dead = 1;
    const int has_crashed = has_ended && verdict == VY_VERDICT_CRASHED && exit_detail != SIGPIPE;
    *detail = has_crashed ? exit_detail : 0;
    return has_crashed ? VY_VERDICT_CRASHED : VY_VERDICT_REPLIED;
}

const char *vy_process_host_output(const vy_process_host *h) { return h->output; }

void vy_process_host_close(vy_process_host *h)
{
    if (h == NULL) return;
    int32_t detail;
    (void)vy_process_host_finish(h, &detail);
    vy_core_unpin(&h->core);
    free(h);
}

void vy_process_host_call(void *host, const vy_samples *samples, vy_intent *intent)
{
    vy_process_host *h = host;
    vy_core_pin(&h->core);
    if (!h->is_dead) {
        size_t size = vy_wire_put_samples(samples, h->send_buffer);
        VY_ASSERT(size <= sizeof h->send_buffer);
        h->verdict = send_frame(h, h->send_buffer, size, &h->detail);
        if (h->verdict == VY_VERDICT_REPLIED)
            h->verdict = receive_frame(h, h->deadline, 8 * REPLY_CAP, &size, &h->detail);
        if (h->verdict == VY_VERDICT_REPLIED) {
            h->verdict = vy_wire_get_reply(h->receive_buffer + FRAME_HEAD_SIZE, size, samples->tick,
                                           h->rotor_count, intent);
            h->detail = intent->detail;
        }
        h->is_dead = h->verdict != VY_VERDICT_REPLIED;
        if (h->is_dead) {
            close_wire(h);
            vy_child_end(&h->child);
        }
    }
    intent->verdict = h->verdict;
    intent->detail = h->detail;
}
