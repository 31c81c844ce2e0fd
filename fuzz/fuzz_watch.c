// fuzz_watch.c - any bytes as what a flight that is watched receives. The first byte chooses: a request,
// frames, JSON. Oracles: the sanitizers; spans and payloads lie inside what was received; whatever is told of
// a prefix agrees with what is told of the whole; a JSON text is walked in as many steps as it has bytes, and
// ends at depth 0.
#include "watch_wire.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition)
{
    if (!condition) abort();
}

static void check_span(span s, const char *data, size_t size)
{
    check(s.size == 0 || (s.text >= data && s.text + s.size <= data + size));
}

static void try_request(const char *data, size_t size)
{
    http_request request, reparsed;
    const int consumed = vy_http_parse(data, size, &request);
    check(consumed >= -1 && (consumed < 0 || (size_t)consumed <= size));
    if (consumed <= 0) return;
    check(consumed <= HTTP_HEAD_MAX && memcmp(data + consumed - 2, "\r\n", 2) == 0);
    const span spans[] = {request.path, request.query, request.host, request.origin, request.key};
    for (int i = 0; i < 5; ++i) check_span(spans[i], data, (size_t)consumed);
    check(request.path.size > 0 && request.path.text[0] == '/');
    check(vy_http_parse(data, (size_t)consumed, &reparsed) == consumed &&
          vy_http_parse(data, (size_t)consumed - 1, &reparsed) == 0);
    char accept[ACCEPT_CAP];
    vy_websocket_accept(request.key, accept);
    check(strlen(accept) == ACCEPT_CAP - 1 && accept[ACCEPT_CAP - 2] == '=');
}

static void try_frames(const uint8_t *data, size_t size)
{
    enum { PAYLOAD_MAX = 1000 };
    unsigned char *copy = malloc(size + 1);
    check(copy != NULL);
    memcpy(copy, data, size);
    ws_frame frame;
    for (size_t at = 0; at < size;) {
        const int64_t consumed = vy_frame_parse(copy + at, size - at, PAYLOAD_MAX, &frame);
        if (consumed <= 0) break;
        check((size_t)consumed <= size - at && frame.size <= PAYLOAD_MAX &&
              frame.data + frame.size == copy + at + consumed);
        check(frame.op < FRAME_CLOSE || (frame.is_final && frame.size <= 125));
        at += (size_t)consumed;
    }
    free(copy);
}

static void try_json(const char *data, size_t size)
{
    json_reader reader = vy_json_read(data, size);
    size_t steps = 0;
    json_kind kind;
    while ((kind = vy_json_next(&reader)) > JSON_END) {
        check(++steps <= size && reader.depth >= 0 && reader.depth <= JSON_READ_DEPTH &&
              reader.at <= data + size);
        check(strlen(reader.key) < JSON_WORD_CAP && strlen(reader.text) < JSON_TEXT_CAP &&
              !isnan(reader.number));
    }
    check(kind == JSON_BAD || (reader.depth == 0 && reader.at == data + size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    const uint8_t format = data[0] % 3;
    if (format == 0) try_request((const char *)data + 1, size - 1);
    if (format == 1) try_frames(data + 1, size - 1);
    if (format == 2) try_json((const char *)data + 1, size - 1);
    return 0;
}
