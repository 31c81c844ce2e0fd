// wire.c - the socket to Volery: it says until when the program may continue, and brings its packets.
#define _GNU_SOURCE
#include "sitl.h"
#include "bridge/sitl_wire.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wire = -1;

int sitl_wire_is_open(void) { return wire >= 0; }

static void send_message(const sitl_message *m, size_t body_size)
{
    ssize_t sent;
    do {
        sent =
            REAL(ssize_t, send, int, const void *, size_t, int)(wire, m, SITL_HEAD + body_size, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0) _exit(0); // Volery has ended
}

int sitl_wire_open(void)
{
    const char *descriptor_text = getenv(SITL_VARIABLE);
    if (descriptor_text == NULL) return 0;
    wire = (int)strtol(descriptor_text, NULL, 10);
    unsetenv(SITL_VARIABLE);
    if (fcntl(wire, F_SETFD, FD_CLOEXEC) != 0) {
        wire = -1;
        return 0;
    }
    send_message(&(sitl_message){.kind = SITL_HELLO, .time = SITL_VERSION}, 0);
    return 1;
}

void sitl_wire_send(uint32_t kind, uint32_t port, const void *bytes, size_t size)
{
    sitl_message m = {.kind = kind, .port = port, .time = sitl_now()};
    if (size > sizeof m.body) return; // longer than any of UDP that we speak: lost
    memcpy(m.body, bytes, size);
    send_message(&m, size);
}

uint64_t sitl_wire_exchange(uint64_t now)
{
    static int has_run;
    static sitl_message m;
    sitl_collect_streams();
    if (has_run) send_message(&(sitl_message){.kind = SITL_RAN, .time = now}, 0);
    has_run = 1;
    for (;;) {
        const ssize_t size = REAL(ssize_t, recv, int, void *, size_t, int)(wire, &m, sizeof m, 0);
        if (size < 0 && errno == EINTR) continue;
        if (size < SITL_HEAD) _exit(0); // Volery has ended
        const size_t body_size = (size_t)size - SITL_HEAD;
        if (m.kind == SITL_RUN) return m.time;
        if (m.kind == SITL_DATAGRAM) sitl_deliver_datagram(m.port, m.body, body_size);
        if (m.kind == SITL_STREAM) sitl_deliver_stream(m.port, m.body, body_size);
    }
}
