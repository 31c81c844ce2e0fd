// watch_wire.c - parses requests, frames and JSON of viewers.
#include "watch_wire.h"
#include "base64.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int vy_span_equals(span s, const char *text)
{
    return s.size == strlen(text) && memcmp(s.text, text, s.size) == 0;
}

static int equals_ignoring_case(span s, const char *word)
{
    return s.size == strlen(word) && strncasecmp(s.text, word, s.size) == 0;
}

static span trim(span s)
{
    while (s.size > 0 && (s.text[0] == ' ' || s.text[0] == '\t')) s = (span){s.text + 1, s.size - 1};
    while (s.size > 0 && (s.text[s.size - 1] == ' ' || s.text[s.size - 1] == '\t')) s.size -= 1;
    return s;
}

// The part before the first `mark`, which and all before it leave `rest`.
static span split_at(span *rest, char mark)
{
    const char *end = rest->size > 0 ? memchr(rest->text, mark, rest->size) : NULL;
    const span first = {rest->text, end != NULL ? (size_t)(end - rest->text) : rest->size};
    const size_t used = first.size + (end != NULL);
    *rest = (span){used > 0 ? rest->text + used : rest->text, rest->size - used};
    return first;
}

static int list_contains(span list, const char *word)
{
    while (list.size > 0) {
        if (equals_ignoring_case(trim(split_at(&list, ',')), word)) return 1;
    }
    return 0;
}

// METHOD TARGET HTTP/1.1
static int parse_first_line(span line, http_request *out)
{
    const span method = split_at(&line, ' ');
    span target = split_at(&line, ' ');
    if (method.size == 0 || target.size == 0 || target.text[0] != '/' || !vy_span_equals(line, "HTTP/1.1"))
        return 0;
    out->is_get = vy_span_equals(method, "GET");
    out->path = split_at(&target, '?');
    out->query = target;
    return 1;
}

typedef struct upgrade {
    int connection, websocket, version;
} upgrade;

static int parse_field(span line, http_request *out, upgrade *upgrade_seen)
{
    if (line.text[0] == ' ' || line.text[0] == '\t' || memchr(line.text, ':', line.size) == NULL) return 0;
    const span name = split_at(&line, ':');
    const span value = trim(line);
    if (name.size == 0) return 0;
    if (equals_ignoring_case(name, "host")) {
        out->host = value;
        out->host_count += 1;
    } else if (equals_ignoring_case(name, "origin")) {
        out->origin = value;
        out->origin_count += 1;
    } else if (equals_ignoring_case(name, "connection")) {
        upgrade_seen->connection |= list_contains(value, "upgrade");
    } else if (equals_ignoring_case(name, "upgrade")) {
        upgrade_seen->websocket |= list_contains(value, "websocket");
    } else if (equals_ignoring_case(name, "sec-websocket-version")) {
        upgrade_seen->version = vy_span_equals(value, "13");
    } else if (equals_ignoring_case(name, "sec-websocket-key")) {
        out->key = value;
    } else if (equals_ignoring_case(name, "sec-websocket-protocol")) {
        out->offers_protocol |= list_contains(value, WATCH_PROTOCOL);
    } else if (equals_ignoring_case(name, "content-length") ||
               equals_ignoring_case(name, "transfer-encoding")) {
        out->has_body = !vy_span_equals(value, "0");
    }
    return 1;
}

int vy_http_parse(const char *data, size_t size, http_request *out)
{
    memset(out, 0, sizeof *out);
    upgrade upgrade_seen = {0};
    span rest = {data, size < HTTP_HEAD_MAX ? size : HTTP_HEAD_MAX};
    for (int line_count = 0;; ++line_count) {
        if (memchr(rest.text, '\n', rest.size) == NULL) return size < HTTP_HEAD_MAX ? 0 : -1;
        span line = split_at(&rest, '\n');
        if (line.size == 0 || line.text[line.size - 1] != '\r') return -1;
        line.size -= 1;
        if (memchr(line.text, '\0', line.size) != NULL || memchr(line.text, '\r', line.size) != NULL)
            return -1;
        if (line_count > 0 && line.size == 0) break;
        if (!(line_count == 0 ? parse_first_line(line, out) : parse_field(line, out, &upgrade_seen)))
            return -1;
    }
    out->upgrades =
        upgrade_seen.connection && upgrade_seen.websocket && upgrade_seen.version && out->key.size > 0;
    return (int)(rest.text - data);
}

static uint32_t rotate(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

// One block of 64 bytes (RFC 3174). The handshake needs SHA-1; it protects nothing.
static void sha1_block(const unsigned char *block, uint32_t h[5])
{
    uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (int i = 0; i < 16; ++i)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 80; ++i) w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (int i = 0; i < 80; ++i) {
        static const uint32_t constants[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
        const uint32_t f = i < 20              ? (b & c) | (~b & d)
                           : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d)
                                               : b ^ c ^ d;
        const uint32_t next = rotate(a, 5) + f + e + constants[i / 20] + w[i];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
}

void vy_websocket_accept(span key, char out[ACCEPT_CAP])
{
    static const char suffix[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; // RFC 6455, section 1.3
    enum { KEY_MAX = 64 };
    unsigned char data[128 + 64] = {0};
    const size_t used = key.size < KEY_MAX ? key.size : KEY_MAX;
    if (used > 0) memcpy(data, key.text, used);
    memcpy(data + used, suffix, sizeof suffix - 1);
    const size_t size = used + sizeof suffix - 1, blocks = (size + 9 + 63) / 64;
    data[size] = 0x80;
    data[64 * blocks - 2] = (unsigned char)(8 * size >> 8);
    data[64 * blocks - 1] = (unsigned char)(8 * size);
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    for (size_t i = 0; i < blocks; ++i) sha1_block(data + 64 * i, h);
    unsigned char digest[20];
    for (int i = 0; i < 20; ++i) digest[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
    for (size_t i = 0; i < sizeof digest; i += 3)
        vy_base64_group(digest + i, sizeof digest - i, out + i / 3 * 4);
    out[ACCEPT_CAP - 1] = '\0';
}

int64_t vy_frame_parse(unsigned char *data, size_t size, size_t limit, ws_frame *out)
{
    if (size < 2) return 0;
    const int op = data[0] & 0x0f, is_control = op >= FRAME_CLOSE;
    const int is_known = op <= FRAME_BINARY || (op >= FRAME_CLOSE && op <= FRAME_PONG);
    // No extension was agreed on, and clients mask what they send.
    if ((data[0] & 0x70) != 0 || !(data[1] & 0x80) || !is_known) return -1;
    uint64_t length = data[1] & 0x7f;
    if (is_control && (length > 125 || !(data[0] & 0x80))) return -1;
    const size_t length_bytes = length < 126 ? 0 : length == 126 ? 2 : 8, head_size = 2 + length_bytes + 4;
    if (size < head_size) return 0;
    if (length_bytes > 0) length = 0;
    for (size_t i = 0; i < length_bytes; ++i) length = length << 8 | data[2 + i];
    if (length > limit) return -1;
    if (size - head_size < length) return 0;
    const unsigned char *mask = data + 2 + length_bytes;
    *out = (ws_frame){.op = op, .is_final = data[0] >> 7, .data = data + head_size, .size = (size_t)length};
    for (size_t i = 0; i < out->size; ++i) out->data[i] ^= mask[i % 4];
    return (int64_t)(head_size + out->size);
}

size_t vy_frame_head(int op, size_t size, unsigned char out[FRAME_HEAD_CAP])
{
    out[0] = (unsigned char)(0x80 | op);
    if (size < 126) {
        out[1] = (unsigned char)size;
        return 2;
    }
    const int bytes = size <= UINT16_MAX ? 2 : 8;
    out[1] = bytes == 2 ? 126 : 127;
    for (int i = 0; i < bytes; ++i) out[2 + i] = (unsigned char)((uint64_t)size >> 8 * (bytes - 1 - i));
    return 2 + (size_t)bytes;
}

// What may come next.
enum { EXPECT_VALUE = 1, EXPECT_KEY = 2, EXPECT_CLOSE = 4, EXPECT_COMMA = 8, EXPECT_END = 16 };

json_reader vy_json_read(const char *data, size_t size)
{
    return (json_reader){.at = data, .end = data + size, .expects = EXPECT_VALUE};
}

static int skip_space(json_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at += 1;
    return r->at < r->end;
}

static int hex_digits(const char *text, unsigned *out)
{
    *out = 0;
    for (int i = 0; i < 4; ++i) {
        const char *digits = "0123456789abcdef0123456789ABCDEF",
                   *digit = text[i] != '\0' ? strchr(digits, text[i]) : NULL;
        if (digit == NULL) return 0;
        *out = *out << 4 | (unsigned)(digit - digits) % 16;
    }
    return 1;
}

// One character behind a backslash; beyond ASCII it becomes a question mark, since names here are ASCII.
static int read_escape(json_reader *r, char *out)
{
    static const char escapes[] = "\"\\/bfnrt", characters[] = "\"\\/\b\f\n\r\t";
    if (r->at == r->end) return 0;
    const char c = *r->at++;
    if (c == 'u') {
        unsigned code;
        if (r->end - r->at < 4 || !hex_digits(r->at, &code)) return 0;
        r->at += 4;
        *out = code > 0 && code < 128 ? (char)code : '?';
        return 1;
    }
    const char *match = c != '\0' ? strchr(escapes, c) : NULL;
    if (match == NULL) return 0;
    *out = characters[match - escapes];
    return 1;
}

static int read_text(json_reader *r, char *out, size_t size)
{
    size_t used = 0;
    for (r->at += 1; r->at < r->end; /* inside */) {
        char c = *r->at++;
        if (c == '"') {
            out[used] = '\0';
            return 1;
        }
        if ((unsigned char)c < 0x20 || (c == '\\' && !read_escape(r, &c))) return 0;
        if (used + 1 < size) out[used++] = c;
    }
    return 0;
}

static int read_number(json_reader *r)
{
    char text[JSON_WORD_CAP];
    size_t used = 0;
    while (r->at < r->end && *r->at != '\0' && strchr("+-.eE0123456789", *r->at) != NULL) {
        if (used + 1 == sizeof text) return 0;
        text[used++] = *r->at++;
    }
    text[used] = '\0';
    char *end;
    const char *digits = text + (text[0] == '-');
    if (digits[0] < '0' || digits[0] > '9') return 0;
    r->number = strtod(text, &end);
    return *end == '\0';
}

static json_kind read_word(json_reader *r)
{
    static const struct {
        const char *word;
        json_kind kind;
    } words[] = {{"true", JSON_TRUE}, {"false", JSON_FALSE}, {"null", JSON_NULL}};
    for (int i = 0; i < 3; ++i) {
        const size_t size = strlen(words[i].word);
        if ((size_t)(r->end - r->at) < size || memcmp(r->at, words[i].word, size) != 0) continue;
        r->at += size;
        return words[i].kind;
    }
    return JSON_BAD;
}

static json_kind read_value(json_reader *r)
{
    const char c = *r->at;
    if (c == '{' || c == '[') {
        if (r->depth == JSON_READ_DEPTH) return JSON_BAD;
        r->inside[r->depth++] = c;
        r->at += 1;
        r->expects = (c == '{' ? EXPECT_KEY : EXPECT_VALUE) | EXPECT_CLOSE;
        return c == '{' ? JSON_OBJECT : JSON_LIST;
    }
    r->expects = r->depth > 0 ? EXPECT_COMMA | EXPECT_CLOSE : EXPECT_END;
    if (c == '"') return read_text(r, r->text, sizeof r->text) ? JSON_TEXT : JSON_BAD;
    if (c == '-' || (c >= '0' && c <= '9')) return read_number(r) ? JSON_NUMBER : JSON_BAD;
    return read_word(r);
}

json_kind vy_json_next(json_reader *r)
{
    if (!skip_space(r)) return r->expects == EXPECT_END ? JSON_END : JSON_BAD;
    if (*r->at == ',' && (r->expects & EXPECT_COMMA)) {
        r->at += 1;
        r->expects = r->inside[r->depth - 1] == '{' ? EXPECT_KEY : EXPECT_VALUE;
        if (!skip_space(r)) return JSON_BAD;
    }
    if (r->expects & EXPECT_CLOSE) {
        const char close = r->inside[r->depth - 1] == '{' ? '}' : ']';
        if (*r->at == close) {
            r->at += 1;
            r->depth -= 1;
            r->expects = r->depth > 0 ? EXPECT_COMMA | EXPECT_CLOSE : EXPECT_END;
            return JSON_CLOSE;
        }
    }
    r->key[0] = '\0';
    if (r->expects & EXPECT_KEY) {
        if (*r->at != '"' || !read_text(r, r->key, sizeof r->key) || !skip_space(r) || *r->at++ != ':' ||
            !skip_space(r))
            return JSON_BAD;
        return read_value(r);
    }
    return r->expects & EXPECT_VALUE ? read_value(r) : JSON_BAD;
}
