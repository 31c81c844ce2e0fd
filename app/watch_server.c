// watch_server.c - the thread with the sockets: who may come in, what HTTP gets, and that nobody is waited
// for.
#define _GNU_SOURCE // accept4
#include "base64.h"
#include "page.h"
#include "page_data.h"
#include "progress.h"
#include "watch_impl.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CLIENT_CAP = 16,
    READ_SIZE = 16384,
    FEED_PERIOD_MS = 15 /* [ms] */,
    PAGE_BYTES_MAX = 20 * 1000 * 1000,
    BACKLOG_MAX = 8 << 20
};

#define REQUEST_TIMEOUT    5.0  // for the request
#define DRAIN_IDLE_TIMEOUT 20.0 // at the end, without a byte sent
#define CLOSE_TIMEOUT      1.0  // at the end, for those who have everything and do not close
#define DRAIN_TIMEOUT      60.0 // at the end, however slowly somebody reads

typedef struct server {
    watch *w;
    client clients[CLIENT_CAP];
    int count;
    double last_sent; // [s] when a byte was last sent
    double end_time;  // [s] when the flight was over
} server;

static int reserve(unsigned char **bytes, size_t *capacity, size_t size)
{
    if (size <= *capacity) return 1;
    const size_t new_capacity = size + size / 2;
    unsigned char *grown = realloc(*bytes, new_capacity);
    if (grown == NULL) return 0;
    *bytes = grown;
    *capacity = new_capacity;
    return 1;
}

int vy_client_send(client *c, const void *data, size_t size)
{
    if (c->out_sent > 0 && c->out_sent == c->out_size) c->out_size = c->out_sent = 0;
    if (!reserve(&c->out, &c->out_capacity, c->out_size + size)) return 0;
    if (data != NULL) memcpy(c->out + c->out_size, data, size);
    c->out_size += size;
    return 1;
}

int vy_client_send_frame(client *c, int op, const void *data, size_t size)
{
    unsigned char head[FRAME_HEAD_CAP];
    const size_t used = vy_frame_head(op, size, head);
    return vy_client_send(c, head, used) && vy_client_send(c, data, size);
}

// A response with a body of text, after which the connection ends.
static int respond(client *c, const char *status, const char *extra_headers, const char *type,
                   const char *body, size_t size)
{
    char head[700];
    const int used =
        snprintf(head, sizeof head,
                 "HTTP/1.1 %s\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %zu\r\n%s"
                 "Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                 "Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n"
                 "X-Frame-Options: DENY\r\n\r\n",
                 status, type, size, extra_headers);
    c->is_closing = true;
    return vy_client_send(c, head, (size_t)used) && vy_client_send(c, body, size);
}

static int refuse(client *c, const char *status, const char *reason)
{
    return respond(c, status, "", "text/plain", reason, strlen(reason));
}

static int is_named(const char *host) { return strcmp(host, "127.0.0.1") == 0; } // it is localhost, too

static void put_page(FILE *out, const watch *w, const char *host, const page_data *data)
{
    static const char policy[] = "img-src data: blob:"; // in web/page.html
    const char *data_mark = strstr(w->page, PAGE_DATA_MARK), *policy_at = strstr(w->page, policy);
    const char *rest = w->page;
    if (policy_at != NULL && policy_at < data_mark) { // the page may talk to this address, and to no other
        fwrite(rest, 1, (size_t)(policy_at - rest), out);
        rest = policy_at + strlen(policy);
        fprintf(out, "%s; connect-src ws://%s:%d", policy, host, w->port);
        if (is_named(host)) fprintf(out, " ws://localhost:%d", w->port);
    }
    fwrite(rest, 1, (size_t)(data_mark - rest), out);
    fprintf(out, "<script type=\"application/json\" id=\"volery-info\">%s</script>\n", w->info);
    fputs("<script type=\"text/plain\" id=\"volery-log-0\">", out);
    vy_put_base64(out, data->bytes, data->size);
    fputs("</script>\n", out);
    fputs(data_mark + strlen(PAGE_DATA_MARK), out);
}

// The page with the flight as far as the log has it; the rest comes over the WebSocket.
static int send_page(const watch *w, client *c)
{
    if (w->page == NULL)
        return refuse(c, "503 Service Unavailable",
                      "This program was built without the page; Foxglove can watch.\n");
    vy_log *log = NULL;
    page_data data = {.size = 0};
    vy_status status = vy_log_open(w->log, &log, NULL);
    if (status == VY_OK) status = vy_page_data_make(log, PAGE_BYTES_MAX, &data, NULL);
    vy_log_close(log);
    char *text = NULL;
    size_t size = 0;
    FILE *out = status == VY_OK ? open_memstream(&text, &size) : NULL;
    if (out != NULL) put_page(out, w, c->host, &data);
    vy_page_data_destroy(&data);
    int is_alive;
    if (out != NULL && fclose(out) == 0) {
        is_alive = respond(c, "200 OK", "", "text/html", text, size);
    } else {
        is_alive = refuse(c, "500 Internal Server Error", "The log cannot be read now.\n");
    }
    free(text);
    return is_alive;
}

// The address that the client has connected to, with the port, behind `scheme`.
static int is_own_address(const watch *w, const client *c, span s, const char *scheme)
{
    const char *const names[] = {c->host, "localhost"};
    for (int i = 0; i < 1 + is_named(c->host); ++i) {
        char name[64];
        snprintf(name, sizeof name, "%s%s:%d", scheme, names[i], w->port);
        if (vy_span_equals(s, name)) return 1;
    }
    return 0;
}

// The names are checked so that no site can use a browser's way in; the token, so that no other user can.
static const char *refusal_reason(const watch *w, const client *c, const http_request *r)
{
    if (r->host_count != 1 || !is_own_address(w, c, r->host, ""))
        return "This is not the host that was asked for.\n";
    if (r->origin_count > 1 || (r->origin_count == 1 && !is_own_address(w, c, r->origin, "http://") &&
                                !(r->upgrades && vy_span_equals(r->origin, "https://app.foxglove.dev"))))
        return "Pages of that origin are not let in.\n";
    unsigned is_wrong = r->path.size < TOKEN_CAP || r->path.size > TOKEN_CAP + 1;
    for (size_t i = 0; !is_wrong && i + 1 < TOKEN_CAP; ++i)
        is_wrong |= (unsigned)(r->path.text[i + 1] ^ w->token[i]);
    if (is_wrong || (r->path.size == TOKEN_CAP + 1 && r->path.text[TOKEN_CAP] != '/'))
        return "The address must have its token, as volery has printed it.\n";
    return NULL;
}

static int begin_websocket(watch *w, client *c, const http_request *r)
{
    char accept_key[ACCEPT_CAP], head[300];
    vy_websocket_accept(r->key, accept_key);
    const int used =
        snprintf(head, sizeof head,
                 "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 "Sec-WebSocket-Accept: %s\r\nSec-WebSocket-Protocol: " WATCH_PROTOCOL "\r\n\r\n",
                 accept_key);
    const int on = 1;
    (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    c->is_websocket = true;
    c->wants_history = vy_span_equals(r->query, "history"); // as the page asks for it
    return vy_client_send(c, head, (size_t)used) && vy_foxglove_send_server_info(w, c);
}

// @return 0: the client is to go
static int handle_request(watch *w, client *c)
{
    http_request r;
    const int used = vy_http_parse((const char *)c->in, c->in_size, &r);
    if (used == 0) return 1;
    if (used < 0) return refuse(c, "400 Bad Request", "This is no request of HTTP/1.1.\n");
    const char *reason = refusal_reason(w, c, &r);
    int is_alive;
    if (reason != NULL) {
        is_alive = refuse(c, "403 Forbidden", reason);
    } else if (!r.is_get || r.has_body) {
        is_alive = respond(c, "405 Method Not Allowed", "Allow: GET\r\n", "text/plain", "Only GET.\n", 10);
    } else if (!r.upgrades) {
        is_alive = send_page(w, c);
    } else if (!r.offers_protocol) {
        is_alive = refuse(c, "400 Bad Request", "The subprotocol must be " WATCH_PROTOCOL ".\n");
    } else {
        is_alive = begin_websocket(w, c, &r);
    }
    memmove(c->in, c->in + used, c->in_size - (size_t)used);
    c->in_size -= (size_t)used;
    return is_alive;
}

// A client that breaks the protocol is told so, and goes.
static int close_connection(client *c, unsigned code)
{
    const unsigned char reason[2] = {(unsigned char)(code >> 8), (unsigned char)code};
    c->is_closing = true;
    return vy_client_send_frame(c, FRAME_CLOSE, reason, sizeof reason);
}

// Frames of one message one behind the other.
static int append_part(watch *w, client *c, const ws_frame *f)
{
    const int is_continuation = f->op == FRAME_CONTINUATION;
    if (is_continuation != (c->message != NULL)) return close_connection(c, 1002);
    if (!is_continuation && f->is_final)
        return f->op == FRAME_TEXT ? vy_foxglove_receive(w, c, (const char *)f->data, f->size)
                                   : 1; // no binary is known
    if (c->message_size + f->size > MESSAGE_MAX) return close_connection(c, 1009);
    unsigned char *grown = realloc(c->message, c->message_size + f->size + 1);
    if (grown == NULL) return 0;
    c->message = grown;
    memcpy(grown + c->message_size, f->data, f->size);
    c->message_size += f->size;
    if (!f->is_final) return 1;
    const int is_alive = vy_foxglove_receive(w, c, (const char *)c->message, c->message_size);
    free(c->message);
    c->message = NULL;
    c->message_size = 0;
    return is_alive;
}

static int handle_frames(watch *w, client *c)
{
    size_t used = 0;
    int is_alive = 1;
    while (is_alive && !c->is_closing) {
        ws_frame f;
        const int64_t size = vy_frame_parse(c->in + used, c->in_size - used, MESSAGE_MAX, &f);
        if (size == 0) break;
        if (size < 0) {
            is_alive = close_connection(c, 1002);
        } else if (f.op == FRAME_CLOSE) {
            is_alive = close_connection(c, 1000);
        } else if (f.op == FRAME_PING) {
            is_alive = vy_client_send_frame(c, FRAME_PONG, f.data, f.size);
        } else if (f.op != FRAME_PONG) {
            is_alive = append_part(w, c, &f);
        }
        used += size > 0 ? (size_t)size : 0;
        if (c->out_size - c->out_sent > BACKLOG_MAX + strlen(w->advertise))
            is_alive = 0; // it asks and does not read
    }
    memmove(c->in, c->in + used, c->in_size - used);
    c->in_size -= used;
    return is_alive;
}

// @return 0: the client is to go
static int receive(watch *w, client *c)
{
    if (!reserve(&c->in, &c->in_capacity, c->in_size + READ_SIZE)) return 0;
    const ssize_t received = recv(c->fd, c->in + c->in_size, READ_SIZE, MSG_DONTWAIT);
    if (received < 0) return errno == EAGAIN || errno == EINTR;
    if (received == 0) return 0;
    if (c->is_closing) return 1; // what comes now is read, so that what was sent arrives, and forgotten
    c->in_size += (size_t)received;
    if (!c->is_websocket && !handle_request(w, c)) return 0;
    return !c->is_websocket || c->is_closing || handle_frames(w, c);
}

static int transmit(server *s, client *c)
{
    while (c->out_sent < c->out_size) {
        const ssize_t sent =
            send(c->fd, c->out + c->out_sent, c->out_size - c->out_sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0) return errno == EAGAIN || errno == EINTR;
        c->out_sent += (size_t)sent;
        s->last_sent = vy_wall_clock();
    }
    c->out_size = c->out_sent = 0;
    if (c->is_closing) (void)shutdown(c->fd, SHUT_WR); // then its end comes
    return 1;
}

static void remove_client(server *s, int index)
{
    client *c = &s->clients[index];
    close(c->fd);
    free(c->in);
    free(c->out);
    free(c->message);
    free(c->subscriptions);
    *c = s->clients[--s->count];
}

static void accept_client(server *s)
{
    const int fd = accept4(s->w->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    client *c = &s->clients[s->count];
    *c = (client){.fd = fd, .connect_time = vy_wall_clock()};
    struct sockaddr_in local;
    socklen_t size = sizeof local;
    if (getsockname(fd, (struct sockaddr *)&local, &size) != 0 ||
        inet_ntop(AF_INET, &local.sin_addr, c->host, sizeof c->host) == NULL) {
        close(fd);
        return;
    }
    s->count += 1;
}

// What one client is sent and has said. @return 0: it is to go
static int serve_client(server *s, client *c, short events, int has_ended)
{
    int is_alive = !(events & (POLLIN | POLLHUP | POLLERR)) || receive(s->w, c);
    if (is_alive && c->is_websocket && !c->is_closing) {
        is_alive = vy_foxglove_send(s->w, c);
        if (is_alive && has_ended && vy_foxglove_is_done(s->w, c)) is_alive = close_connection(c, 1001);
    }
    if (is_alive && c->out_size > 0) is_alive = transmit(s, c);
    const double age = vy_wall_clock() - c->connect_time;
    const int is_idle = !c->is_websocket && c->out_size == 0 && age > REQUEST_TIMEOUT;
    return is_alive && !is_idle;
}

// Is a flight that is over still worth a wait for those who read?
static int keeps_serving(server *s, int has_ended)
{
    if (!has_ended) return 1;
    int has_unsent = 0;
    const double now = vy_wall_clock(), idle_time = now - s->last_sent;
    for (int i = 0; i < s->count; ++i) {
        const client *c = &s->clients[i];
        const int has_all = c->is_closing && c->out_size == 0;
        has_unsent |= (c->is_websocket || c->out_size > 0) &&
                      idle_time < (has_all ? CLOSE_TIMEOUT : DRAIN_IDLE_TIMEOUT);
    }
    return has_unsent && now - s->end_time < DRAIN_TIMEOUT;
}

static int flight_has_ended(watch *w)
{
    pthread_mutex_lock(&w->lock);
    const int has_ended = w->control.has_ended;
    pthread_mutex_unlock(&w->lock);
    return has_ended;
}

// @return 1: the flight is over
static int serve_once(server *s)
{
    struct pollfd polled[CLIENT_CAP + 2];
    int timeout = 1000;
    const int count = s->count;
    for (int i = 0; i < count; ++i) {
        const client *c = &s->clients[i];
        polled[i] = (struct pollfd){.fd = c->fd, .events = (short)(POLLIN | (c->out_size > 0 ? POLLOUT : 0))};
        if (c->is_websocket) timeout = FEED_PERIOD_MS;
    }
    polled[count] = (struct pollfd){.fd = s->w->wake[0], .events = POLLIN};
    polled[count + 1] = (struct pollfd){.fd = s->w->listener, .events = count < CLIENT_CAP ? POLLIN : 0};
    const int event_count = poll(polled, (nfds_t)count + 2, timeout);
    char bytes[16];
    if (event_count > 0 && polled[count].revents) (void)!read(s->w->wake[0], bytes, sizeof bytes);
    const int has_ended = flight_has_ended(s->w);
    for (int i = count - 1; i >= 0; --i) {
        if (!serve_client(s, &s->clients[i], event_count > 0 ? polled[i].revents : 0, has_ended))
            remove_client(s, i);
    }
    if (event_count > 0 && (polled[count + 1].revents & POLLIN) && s->count < CLIENT_CAP) accept_client(s);
    return has_ended;
}

void *vy_watch_serve(void *self)
{
    server s = {.w = self, .count = 0};
    for (int has_ended = 0, had_ended = 0; keeps_serving(&s, has_ended); had_ended = has_ended) {
        has_ended = serve_once(&s);
        if (has_ended && !had_ended) s.last_sent = s.end_time = vy_wall_clock();
    }
    while (s.count > 0) remove_client(&s, s.count - 1);
    return NULL;
}
