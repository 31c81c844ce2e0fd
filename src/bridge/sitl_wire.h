// sitl_wire.h - what Volery and the library of `volery sitl` say to each other: messages over a socket that
// keeps their bounds. A firmware's packets go through it, and so does its time.
#pragma once
#include <stdint.h>

/// The environment variable with the number of the socket, which the program inherits.
#define SITL_VARIABLE "VOLERY_SITL"

enum { SITL_VERSION = 1, SITL_BODY_CAP = 8192 };

typedef enum sitl_kind {
    SITL_HELLO = 1, ///< to Volery: `time` is SITL_VERSION
    SITL_DATAGRAM,  ///< UDP: to the program's port, or from it to `port`
    SITL_STREAM,    ///< TCP: to and from the connection at the program's `port`
    SITL_RUN,       ///< to the program: continue until `time`
    SITL_RAN,       ///< to Volery: everybody waits, and it is `time`
} sitl_kind;

/// A message as it is sent; `kind` says what `port` and `time` are, which are 0 else.
typedef struct sitl_message {
    uint32_t kind;
    uint32_t port;
    uint64_t time; ///< [ns]
    uint8_t body[SITL_BODY_CAP];
} sitl_message;

enum { SITL_HEAD = 16 }; ///< [bytes] before the body
