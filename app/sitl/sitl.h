// sitl.h - the library that `volery sitl` loads before a program: simulated time for threads that run one at
// a time, and sockets that end in Volery.
//
// Every thread of the program waits for its turn; a turn ends where the thread waits, or reads a clock that
// has reached the next event. Whoever has the turn owns all that is declared here, so nothing needs a lock.
#pragma once
#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

#define NEVER UINT64_MAX

enum {
    CLOCK_READ_NS = 200, // what each reading of a clock costs
    THREAD_CAP = 256,
    FD_CAP = 1024, // as many as select() knows
};

// --- order.c: whose turn it is

/// Does the calling thread take turns? One that was made behind our back does not, nor a child after fork().
int sitl_is_managed(void);

/// [ns] since the program began; costs nothing.
uint64_t sitl_now(void);

/// The same for a program that asks: it costs CLOCK_READ_NS, and may end the turn.
uint64_t sitl_read_clock(void);

/// Wait until somebody signals `object` (NULL: nobody), until one of `fds` is ready, or until `wake`.
/// @return 1: signalled or ready; 0: the time has come
int sitl_wait(uint64_t wake, const void *object, struct pollfd *fds, nfds_t count);

/// Let the first thread that waits for `object` continue, or all of them.
void sitl_signal(const void *object, int all);

/// Let the others have their turns.
void sitl_yield(void);

// --- clocks.c: what its clocks show

/// [ns] when a clock of the program shows `at`.
uint64_t sitl_deadline(clockid_t clock, const struct timespec *at);

// --- wire.c: Volery at the other end

/// Say hello. 0: nobody is there, and time is not bounded.
int sitl_wire_open(void);
int sitl_wire_is_open(void);

/// Tell Volery that everybody waits, and take what it says next.
/// @return [ns] until when to continue
uint64_t sitl_wire_exchange(uint64_t now);

/// A datagram or a stream's bytes to Volery.
void sitl_wire_send(uint32_t kind, uint32_t port, const void *bytes, size_t size);

// --- sockets.c: sockets that end in Volery

/// A message of Volery into the socket it is for; one that nobody has opened gets nothing.
void sitl_deliver_datagram(uint32_t port, const void *bytes, size_t size);
void sitl_deliver_stream(uint32_t port, const void *bytes, size_t size);

/// What the program has written to its connections, to Volery.
void sitl_collect_streams(void);

/// Is it a socket, of ours or the system's, that calls may wait on?
int sitl_is_socket(int fd);

// --- real.c: the functions that stand behind ours

/// The next function of that name after ours; the program ends without it.
typedef void sitl_function(void);
sitl_function *sitl_real(const char *name);

/// REAL(int, close, int)(fd): call the system's.
#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))sitl_real(#name))
