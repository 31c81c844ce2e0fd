// test_watch.c - what browsers and Foxglove send to a flight that is watched, against the examples of the
// RFCs.
#include "base64.h"
#include "check.h"
#include "watch_wire.h"
#include <stdlib.h>
#include <string.h>

static span of(const char *text) { return (span){text, strlen(text)}; }

static int parse(const char *text, http_request *out) { return vy_http_parse(text, strlen(text), out); }

static const char handshake[] =
    "GET /token/?history HTTP/1.1\r\nHost: 127.0.0.1:80\r\nupgrade: WebSocket\r\n"
    "Connection: keep-alive, Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    "Sec-WebSocket-Protocol: other , foxglove.sdk.v1\r\nSec-WebSocket-Version: 13\r\n"
    "Origin:http://127.0.0.1:80 \r\n\r\n";

static void test_request(void **state)
{
    (void)state;
    http_request r;
    assert_int_equal(parse(handshake, &r), (int)strlen(handshake));
    assert_true(r.is_get && r.upgrades && r.offers_protocol && !r.has_body);
    assert_true(r.host_count == 1 && r.origin_count == 1);
    assert_true(vy_span_equals(r.path, "/token/") && vy_span_equals(r.query, "history"));
    assert_true(vy_span_equals(r.host, "127.0.0.1:80") && vy_span_equals(r.origin, "http://127.0.0.1:80"));
    for (size_t size = 0; size < strlen(handshake); ++size)
        assert_int_equal(vy_http_parse(handshake, size, &r), 0);
    assert_true(parse("POST /a?b?c HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", &r) > 0);
    assert_true(!r.is_get && r.has_body && !r.upgrades && vy_span_equals(r.query, "b?c"));
    // Each lacks one thing of a handshake.
    static const char *const fields[] = {"Upgrade: websocket\r\n", "Connection: Upgrade\r\n",
                                         "Sec-WebSocket-Key: a\r\n", "Sec-WebSocket-Version: 13\r\n"};
    for (int left_out = 0; left_out <= 4; ++left_out) {
        char text[300] = "GET / HTTP/1.1\r\n";
        for (int i = 0; i < 4; ++i) strcat(text, i != left_out ? fields[i] : "");
        strcat(text, "\r\n");
        assert_true(parse(text, &r) > 0);
        assert_int_equal(r.upgrades, left_out == 4);
    }
}

static void test_no_request(void **state)
{
    (void)state;
    static const char *const bad[] = {"\r\n\r\n",
                                      "GET / HTTP/1.0\r\n\r\n",
                                      "GET http://a/ HTTP/1.1\r\n\r\n",
                                      "GET  / HTTP/1.1\r\n\r\n",
                                      "GET / HTTP/1.1\n\n",
                                      "GET / HTTP/1.1\r\nHost\r\n\r\n",
                                      "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
                                      "GET / HTTP/1.1\r\n: a\r\n\r\n",
                                      "GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n",
                                      "/ HTTP/1.1\r\n\r\n"};
    http_request r;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) assert_int_equal(parse(bad[i], &r), -1);
    assert_int_equal(vy_http_parse("GET / HTTP/1.1\r\nHost: \0\r\n\r\n", 27, &r), -1);
    char *endless = malloc(2 * HTTP_HEAD_MAX);
    memset(endless, 'a', 2 * HTTP_HEAD_MAX);
    assert_int_equal(vy_http_parse(endless, HTTP_HEAD_MAX - 1, &r), 0);
    assert_int_equal(vy_http_parse(endless, 2 * HTTP_HEAD_MAX, &r), -1);
    free(endless);
}

static void test_accept(void **state)
{
    (void)state;
    char accept[ACCEPT_CAP];
    vy_websocket_accept(of("dGhlIHNhbXBsZSBub25jZQ=="), accept); // RFC 6455, section 1.3
    assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    vy_websocket_accept(of(""), accept); // openssl sha1 of the suffix alone
    assert_string_equal(accept, "Kfh9QIsMVZcl6xEPYxPHzW8SZ8w=");
}

static void test_base64(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}};
    for (int i = 0; i < 5; ++i) { // RFC 4648, section 10
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);
        vy_put_base64(out, pairs[i][0], strlen(pairs[i][0]));
        fclose(out);
        assert_string_equal(text, pairs[i][1]);
        free(text);
    }
}

static void test_frame(void **state)
{
    (void)state;
    ws_frame f;
    unsigned char hello[] = {0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d,
                             0x7f, 0x9f, 0x4d, 0x51, 0x58}; // RFC 6455, section 5.7
    for (size_t size = 0; size < sizeof hello; ++size)
        assert_int_equal(vy_frame_parse(hello, size, 100, &f), 0);
    assert_int_equal(vy_frame_parse(hello, sizeof hello, 5, &f), sizeof hello);
    assert_true(f.op == FRAME_TEXT && f.is_final && f.size == 5);
    assert_memory_equal(f.data, "Hello", 5);
    assert_int_equal(vy_frame_parse(hello, sizeof hello, 4, &f), -1);
    unsigned char bad[][8] = {{0x81, 0x05}, {0xc1, 0x80}, {0x83, 0x80}, {0x8b, 0x80},
                              {0x09, 0x80}, {0x89, 0xfe}, {0x88, 0xff}};
    for (int i = 0; i < 7; ++i) assert_int_equal(vy_frame_parse(bad[i], 8, 100, &f), -1);
    unsigned char huge[] = {0x82, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};
    assert_int_equal(vy_frame_parse(huge, sizeof huge, 1 << 20, &f), -1);
}

static void test_frame_head(void **state)
{
    (void)state;
    unsigned char head[FRAME_HEAD_CAP];
    assert_int_equal(vy_frame_head(FRAME_TEXT, 5, head), 2);
    assert_memory_equal(head, "\x81\x05", 2);
    assert_int_equal(vy_frame_head(FRAME_BINARY, 256, head), 4);
    assert_memory_equal(head, "\x82\x7e\x01\x00", 4);
    assert_int_equal(vy_frame_head(FRAME_BINARY, 65536, head), 10);
    assert_memory_equal(head, "\x82\x7f\0\0\0\0\0\1\0\0", 10);
}

// The kinds of all values, one letter each.
static void kinds_of(const char *text, char *out)
{
    static const char letters[] = "!.{[ctn+-0";
    json_reader r = vy_json_read(text, strlen(text));
    json_kind k;
    do {
        k = vy_json_next(&r);
        *out++ = letters[k];
    } while (k > JSON_END);
    *out = '\0';
}

static void test_json(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"{}", "{c."},
        {" [ ] ", "[c."},
        {"{\"a\":[1,true,{\"b\":null}],\"c\":\"d\"}", "{[n+{0cctc."},
        {"false", "-."},
        {"-1.5e3", "n."},
        {"", "!"},
        {"{", "{!"},
        {"[1,]", "[n!"},
        {"[,1]", "[!"},
        {"{\"a\"}", "{!"},
        {"{\"a\":}", "{!"},
        {"{a:1}", "{!"},
        {"[1 2]", "[n!"},
        {"[1}", "[n!"},
        {"{} {}", "{c!"},
        {"\"\\x\"", "!"},
        {"\"a\nb\"", "!"},
        {"\"abc", "!"},
        {"+1", "!"},
        {"1e", "!"},
        {"nul", "!"},
        {"[[[[[[[[[", "[[[[[[[[!"},
        {"\"\\u12\"", "!"},
        {"{\"a\":1,}", "{n!"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; ++i) {
        char kinds[64];
        kinds_of(pairs[i][0], kinds);
        assert_string_equal(kinds, pairs[i][1]);
    }
    const char text[] = "{\"\\u0061\\\"\\n\":\"\\u00e9 \\/\", \"n\":-2.5e1}";
    json_reader r = vy_json_read(text, strlen(text));
    assert_int_equal(vy_json_next(&r), JSON_OBJECT);
    assert_int_equal(vy_json_next(&r), JSON_TEXT);
    assert_string_equal(r.key, "a\"\n");
    assert_string_equal(r.text, "? /");
    assert_int_equal(vy_json_next(&r), JSON_NUMBER);
    assert_true(r.number == -25.0 && r.depth == 1);
    char wide[700] = "\"";
    memset(wide + 1, 'x', 600);
    strcat(wide, "\"");
    r = vy_json_read(wide, strlen(wide));
    assert_int_equal(vy_json_next(&r), JSON_TEXT);
    assert_int_equal(strlen(r.text), JSON_TEXT_CAP - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request), cmocka_unit_test(test_no_request), cmocka_unit_test(test_accept),
        cmocka_unit_test(test_base64),  cmocka_unit_test(test_frame),      cmocka_unit_test(test_frame_head),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
