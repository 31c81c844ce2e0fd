// watch_impl.h - what the parts of a watched flight share: watch.c is the flight's side, watch_server.c the
// sockets, watch_foxglove.c what is said over them.
#pragma once
#include "watch.h"
#include "watch_wire.h"
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>

enum { TOKEN_CAP = 33, STATUS_CAP = 16 };

/// The latest messages, one behind the other; the oldest give way. Offsets and counts are since the start, so
/// that a reader that was overtaken notices.
typedef struct watch_ring {
    unsigned char *bytes;
    uint64_t first, next;             ///< offsets of the oldest record, and behind the newest
    uint64_t first_count, next_count; ///< records before these
} watch_ring;

/// What is before each message in the ring.
typedef struct ring_head {
    uint64_t time; ///< [ns]
    uint32_t size; ///< [bytes]
    uint32_t channel;
} ring_head;

/// A drone that is flown from the page.
typedef struct watch_pilot {
    char keys[JSON_WORD_CAP]; ///< the parameter that takes them
    int pipe[2];
} watch_pilot;

/// What a viewer wants to be injected, until the flight's thread takes it.
typedef struct watch_injection {
    char what[8];             ///< push, gust or fault
    char text[JSON_TEXT_CAP]; ///< in the keys of a scenario
} watch_injection;

enum { INJECTION_QUEUE = 16, NOTICE_CAP = 256 };

/// What viewers can set, and what they are told. `version` counts changes.
typedef struct watch_control {
    uint64_t version;
    bool is_paused;
    double speed;   ///< times real time; 0: as fast as it goes
    uint64_t steps; ///< while paused: so many strides are still to be flown
    bool has_ended;
    char status[STATUS_CAP]; ///< flying, then how it ended
    uint64_t hash;           ///< at its end
    uint64_t notice_count;   ///< so many were given so far
    char notice[NOTICE_CAP]; ///< the last: why something was not injected
} watch_control;

struct watch {
    const char *command;
    int listener, port;
    char address[INET_ADDRSTRLEN]; ///< where it listens
    int wake[2];                   ///< a pipe: the thread looks up when it is written to
    char token[TOKEN_CAP];
    pthread_t thread;
    bool has_thread;
    pthread_t paced_thread; ///< answers a program that flies by itself
    bool has_paced_thread;
    bool is_realtime;
    bool is_read_only;  ///< another program flies: nothing can be set
    char *log;          ///< the file while it is written
    char *page, *info;  ///< the page without data, and what it says of the run; NULL: there is none
    char *advertise;    ///< all channels, as JSON
    size_t channel_cap; ///< above every channel's number
    uint32_t scene;     ///< the channel of shapes, whose first message all need that come later; 0: none
    unsigned char *shapes;
    size_t shapes_size;
    watch_pilot *pilots;
    int pilot_count;
    struct { ///< of the flight's thread
        bool has_begun;
        bool is_taken;        ///< viewers have allowed the step that the clock does not allow yet
        double speed, anchor; ///< flight time was 0 at `anchor` by the clock [s], at that speed
        uint64_t version;
    } pace;
    pthread_mutex_t lock; ///< for all that follows
    watch_ring ring;
    watch_control control;
    uint64_t viewers; ///< that have subscribed to anything so far
    watch_injection injections[INJECTION_QUEUE];
    int injection_count;
};

/// One more record for all who watch.
void vy_watch_message(watch *w, uint16_t channel, uint64_t time, const unsigned char *data, size_t size);

/// One connection.
typedef struct client {
    int fd;
    char host[INET_ADDRSTRLEN]; ///< the address of this machine that it has connected to
    bool is_websocket;
    bool is_closing;     ///< once all is sent
    double connect_time; ///< [s] when it came
    unsigned char *in, *out;
    size_t in_size, in_capacity, out_size, out_sent, out_capacity;
    unsigned char *message; ///< of several frames, as far as it came
    size_t message_size;
    uint64_t *subscriptions; ///< by channel: the client's number for it + 1; 0: none
    bool wants_history;      ///< it wants what was before it, too
    bool is_subscribed;      ///< to anything, ever
    bool wants_parameters;
    uint64_t cursor, count;             ///< its place in the ring: offset, and records before it
    uint64_t dropped;                   ///< records that went by
    uint64_t reported_dropped, version; ///< of `dropped` and of the control, as last said
    uint64_t reported_notices;          ///< likewise
} client;

enum {
    RING_SIZE = 64 << 20,
    RECORD_MAX = RING_SIZE / 8,
    MESSAGE_MAX = 1 << 20,   ///< of a client
    QUEUE_BYTES = 256 << 10, ///< [bytes] that wait for a client to read, but for one record more
};

/// Bytes behind what the client is sent. 0: it does not read, or there is no memory: it is to go.
int vy_client_send(client *c, const void *data, size_t size);
int vy_client_send_frame(client *c, int op, const void *data, size_t size);

/// Copy from the ring; the caller has the lock.
void vy_ring_copy(const watch_ring *r, uint64_t offset, void *out, size_t size);

/// What all are told first. @return 0: the client is to go
int vy_foxglove_send_server_info(const watch *w, client *c);
/// A whole message of a client. @return 0: the client is to go
int vy_foxglove_receive(watch *w, client *c, const char *text, size_t size);
/// Fill the client's queue from the ring, and tell what has changed. @return 0: the client is to go
int vy_foxglove_send(watch *w, client *c);
/// All of the ring that concerns it has been sent.
int vy_foxglove_is_done(watch *w, const client *c);

/// What is told of a log that has just been opened: its channels, and the shapes in it.
int vy_foxglove_describe(watch *w, vy_log *log);

/// The thread: serves until the flight has ended and all have what they can get.
void *vy_watch_serve(void *self);
