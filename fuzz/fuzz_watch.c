// fuzz_watch.c - any bytes as what a flight that is watched receives. The first byte chooses: a request,
// frames, JSON. Oracles: the sanitizers; spans and payloads lie inside what was received; whatever is told of
// a prefix agrees with what is told of the whole; a JSON text is walked in as many steps as it has bytes, and
// ends at depth 0.
#include "watch_wire.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good)
{
    if (!good) abort();
}

static void check_span(span s, const char *data, size_t size)
{
    check(s.size == 0 || (s.text >= data && s.text + s.size <= data + size));
}

static void try_request(const char *data, size_t size)
{
    http_request r, again;
    const int used = vy_http_parse(data, size, &r);
    check(used >= -1 && (used < 0 || (size_t)used <= size));
    if (used <= 0) return;
    check(used <= HTTP_HEAD_MAX && memcmp(data + used - 2, "\r\n", 2) == 0);
    const span spans[] = {r.path, r.query, r.host, r.origin, r.key};
    for (int i = 0; i < 5; ++i) check_span(spans[i], data, (size_t)used);
    check(r.path.size > 0 && r.path.text[0] == '/');
    check(vy_http_parse(data, (size_t)used, &again) == used &&
          vy_http_parse(data, (size_t)used - 1, &again) == 0);
    char accept[ACCEPT_CAP];
    vy_websocket_accept(r.key, accept);
    check(strlen(accept) == ACCEPT_CAP - 1 && accept[ACCEPT_CAP - 2] == '=');
}

static void try_frames(const uint8_t *data, size_t size)
{
    enum { LIMIT = 1000 };
    unsigned char *copy = malloc(size + 1);
    check(copy != NULL);
    memcpy(copy, data, size);
    ws_frame f;
    for (size_t at = 0; at < size;) {
        const int64_t used = vy_frame_parse(copy + at, size - at, LIMIT, &f);
        if (used <= 0) break;
        check((size_t)used <= size - at && f.size <= LIMIT && f.data + f.size == copy + at + used);
        check(f.op < FRAME_CLOSE || (f.is_final && f.size <= 125));
        at += (size_t)used;
    }
    free(copy);
}

static void try_json(const char *data, size_t size)
{
    json_reader r = vy_json_read(data, size);
    size_t steps = 0;
    json_kind k;
    while ((k = vy_json_next(&r)) > JSON_END) {
        check(++steps <= size && r.depth >= 0 && r.depth <= JSON_READ_DEPTH && r.at <= data + size);
        check(strlen(r.key) < JSON_WORD_CAP && strlen(r.text) < JSON_TEXT_CAP && !isnan(r.number));
    }
    check(k == JSON_BAD || (r.depth == 0 && r.at == data + size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    const uint8_t which = data[0] % 3;
    if (which == 0) try_request((const char *)data + 1, size - 1);
    if (which == 1) try_frames(data + 1, size - 1);
    if (which == 2) try_json((const char *)data + 1, size - 1);
    return 0;
}
