// watch_wire.h - what browsers and Foxglove send to a flight that is watched: HTTP requests (RFC 9112),
// frames of WebSocket (RFC 6455), JSON (RFC 8259). Nothing here reads a socket or takes memory; any bytes are
// fine.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// A piece of what was received; not ended by a zero.
typedef struct span {
    const char *text;
    size_t size;
} span;

int vy_span_equals(span s, const char *text);

/// The head of a request. What was not sent is empty.
typedef struct http_request {
    int is_get;
    span path, query; ///< of the target, apart at its first question mark
    span host, origin;
    int upgrades;                 ///< it asks for a WebSocket, of version 13
    span key;                     ///< Sec-WebSocket-Key
    int offers_protocol;          ///< WATCH_PROTOCOL is among its subprotocols
    int has_body;                 ///< a body follows
    int host_count, origin_count; ///< how often these were sent
} http_request;

#define WATCH_PROTOCOL "foxglove.sdk.v1"
enum { HTTP_HEAD_MAX = 8192 };

/// @return bytes of the head; 0: more is to come; -1: this is no request
int vy_http_parse(const char *data, size_t size, http_request *out);

enum { ACCEPT_CAP = 29 };
/// The answer to a Sec-WebSocket-Key, as text.
void vy_websocket_accept(span key, char out[ACCEPT_CAP]);

enum {
    FRAME_CONTINUATION = 0x0,
    FRAME_TEXT = 0x1,
    FRAME_BINARY = 0x2,
    FRAME_CLOSE = 0x8,
    FRAME_PING = 0x9,
    FRAME_PONG = 0xa
};

/// A frame of a client.
typedef struct ws_frame {
    int op;
    int is_final; ///< of its message
    unsigned char *data;
    size_t size;
} ws_frame;

/// Read one frame at the front of `data`, and unmask it in place.
/// @return bytes of the frame; 0: more is to come; -1: no frame that a client may send, or above `limit`
/// bytes
int64_t vy_frame_parse(unsigned char *data, size_t size, size_t limit, ws_frame *out);

enum { FRAME_HEAD_CAP = 10 };
/// The head of a server's frame. @return its bytes
size_t vy_frame_head(int op, size_t size, unsigned char out[FRAME_HEAD_CAP]);

enum { JSON_READ_DEPTH = 8, JSON_WORD_CAP = 128, JSON_TEXT_CAP = 512 };
typedef enum json_kind {
    JSON_BAD, ///< this is no JSON
    JSON_END, ///< the text is over, and whole
    JSON_OBJECT,
    JSON_LIST,
    JSON_CLOSE, ///< of the last that was opened
    JSON_TEXT,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
} json_kind;

/// Walks over a JSON text, value by value.
typedef struct json_reader {
    const char *at, *end;         ///< what is read next, and behind the text
    int depth;                    ///< objects and lists that are open
    char inside[JSON_READ_DEPTH]; ///< '{' or '['
    int expects;                  ///< what may come: see watch_wire.c
    char key[JSON_WORD_CAP];      ///< of the value in an object; cut where it is longer
    char text[JSON_TEXT_CAP];     ///< of a text, likewise
    double number;
} json_reader;

json_reader vy_json_read(const char *data, size_t size);
json_kind vy_json_next(json_reader *r);
