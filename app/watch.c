// watch.c - the flight's side: messages into the ring, steps at the pace that was asked for.
#define _GNU_SOURCE // pipe2
#include "watch.h"
#include "command.h"
#include "message.h"
#include "page.h"
#include "page_info.h"
#include "progress.h"
#include "record/listen.h"
#include "signals.h"
#include "watch_impl.h"
#include "volery/version.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_MAX 0.02 // [s] between two looks at the clock and the control

static void ring_write(watch_ring *r, const void *data, size_t size)
{
    const size_t ring_offset = (size_t)(r->next % RING_SIZE),
                 first_size = size < RING_SIZE - ring_offset ? size : RING_SIZE - ring_offset;
    memcpy(r->bytes + ring_offset, data, first_size);
    memcpy(r->bytes, (const unsigned char *)data + first_size, size - first_size);
    r->next += size;
}

void vy_ring_copy(const watch_ring *r, uint64_t offset, void *out, size_t size)
{
    const size_t ring_offset = (size_t)(offset % RING_SIZE),
                 first_size = size < RING_SIZE - ring_offset ? size : RING_SIZE - ring_offset;
    memcpy(out, r->bytes + ring_offset, first_size);
    memcpy((unsigned char *)out + first_size, r->bytes, size - first_size);
}

static void on_message(void *self, uint16_t channel, uint64_t time, const unsigned char *data, size_t size)
{
    watch *w = self;
    watch_ring *r = &w->ring;
    const ring_head head = {.time = time, .size = (uint32_t)size, .channel = channel};
    if (size > RECORD_MAX) return;
    pthread_mutex_lock(&w->lock);
    while (r->next + sizeof head + size - r->first > RING_SIZE) {
        ring_head oldest;
        vy_ring_copy(r, r->first, &oldest, sizeof oldest);
        r->first += sizeof oldest + oldest.size;
        r->first_count += 1;
    }
    ring_write(r, &head, sizeof head);
    ring_write(r, data, size);
    r->next_count += 1;
    pthread_mutex_unlock(&w->lock);
}

static void watch_destroy(watch *w)
{
    if (w->listener >= 0) close(w->listener);
    for (int i = 0; i < 2; ++i) {
        if (w->wake[i] >= 0) close(w->wake[i]);
    }
    pthread_mutex_destroy(&w->lock);
    for (int i = 0; i < 2 * w->pilot_count; ++i) close(w->pilots[i / 2].pipe[i % 2]);
    free(w->pilots);
    free(w->ring.bytes);
    free(w->log);
    free(w->page);
    free(w->info);
    free(w->advertise);
    free(w->shapes);
    free(w);
}

static int open_listener(watch *w, const char *host, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
        return vy_print_error(w->command, EXIT_USAGE,
                              "--address needs an IPv4 address of this machine, got %s", host);
    snprintf(w->address, sizeof w->address, "%s", host);
    const int on = 1;
    w->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (w->listener < 0 || pipe2(w->wake, O_CLOEXEC | O_NONBLOCK) != 0) {
        return vy_print_error(w->command, EXIT_SYSTEM, "--watch: no socket: %s", strerror(errno));
    }
    (void)setsockopt(w->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    socklen_t size = sizeof address;
    if (bind(w->listener, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(w->listener, 16) != 0 || getsockname(w->listener, (struct sockaddr *)&address, &size) != 0) {
        return vy_print_error(w->command, EXIT_USAGE, "--watch: port %d of %s cannot be had: %s", port, host,
                              strerror(errno));
    }
    w->port = ntohs(address.sin_port);
    return 0;
}

static int make_token(watch *w)
{
    unsigned char random_bytes[(TOKEN_CAP - 1) / 2];
    if (getrandom(random_bytes, sizeof random_bytes, 0) != (ssize_t)sizeof random_bytes)
        return vy_print_error(w->command, EXIT_SYSTEM, "--watch: the system gives no random numbers");
    for (size_t i = 0; i < sizeof random_bytes; ++i) snprintf(w->token + 2 * i, 3, "%02x", random_bytes[i]);
    return 0;
}

int vy_watch_open(const char *name, const char *address, int port, int realtime, watch **out)
{
    *out = NULL;
    watch *w = calloc(1, sizeof *w);
    if (w == NULL) return vy_print_no_memory(name);
    pthread_mutex_init(&w->lock, NULL);
    w->command = name;
    w->listener = w->wake[0] = w->wake[1] = -1;
    w->is_realtime = realtime;
    w->control.speed = realtime ? 1.0 : 0.0;
    snprintf(w->control.status, sizeof w->control.status, "flying");
    w->ring.bytes = malloc(RING_SIZE);
    int status = w->ring.bytes != NULL ? 0 : vy_print_no_memory(name);
    if (status == 0) status = open_listener(w, address != NULL ? address : "127.0.0.1", port);
    if (status == 0) status = make_token(w);
    if (status != 0) {
        watch_destroy(w);
        return status;
    }
    *out = w;
    return 0;
}

int vy_watch_keys(watch *w, const char *drone, char *device, size_t size)
{
    watch_pilot *grown = realloc(w->pilots, ((size_t)w->pilot_count + 1) * sizeof *grown);
    if (grown == NULL) return 0;
    w->pilots = grown;
    watch_pilot *pilot = &grown[w->pilot_count];
    if (pipe2(pilot->pipe, O_CLOEXEC | O_NONBLOCK) != 0) return 0;
    w->pilot_count += 1;
    snprintf(pilot->keys, sizeof pilot->keys, "/drones/%s/keys", drone);
    snprintf(device, size, "/proc/self/fd/%d", pilot->pipe[0]);
    return 1;
}

// What the page says of the run, before its first step.
static int make_info(watch *w, vy_log *log, const char *path)
{
    size_t size = 0;
    FILE *out = open_memstream(&w->info, &size);
    if (out == NULL) return vy_print_no_memory(w->command);
    const page_data no_data = {.truth_stride = 1, .other_stride = 1};
    json j = vy_json_begin(out);
    vy_json_text(&j, "volery", VY_VERSION);
    vy_json_bool(&j, "live", 1);
    vy_json_list(&j, "runs");
    vy_json_object(&j, NULL);
    int status = vy_page_info(&j, path, log, &no_data);
    vy_json_close(&j);
    vy_json_close(&j);
    vy_json_end(&j);
    if (fclose(out) != 0 && status == 0) status = vy_print_no_memory(w->command);
    return status;
}

static int describe(watch *w, const char *path)
{
    vy_error error = {.status = VY_OK};
    vy_log *log = NULL;
    const vy_status open_status = vy_log_open(w->log, &log, &error);
    if (open_status != VY_OK) return vy_print_status(w->command, open_status, &error);
    int status = vy_foxglove_describe(w, log) ? 0 : vy_print_no_memory(w->command);
    if (status == 0 && vy_page_size > 0) status = vy_page_load(w->command, &w->page);
    if (status == 0) status = make_info(w, log, path);
    vy_log_close(log);
    return status;
}

// And say where it is: pages are served, and the log can be followed, from now on.
static int start_server(watch *w)
{
    // Signals are for the flight's thread.
    sigset_t all_signals, old_mask;
    sigfillset(&all_signals);
    pthread_sigmask(SIG_SETMASK, &all_signals, &old_mask);
    const int failed = pthread_create(&w->thread, NULL, vy_watch_serve, w);
    pthread_sigmask(SIG_SETMASK, &old_mask, NULL);
    if (failed) return vy_print_error(w->command, EXIT_SYSTEM, "--watch: no thread: %s", strerror(failed));
    w->has_thread = true;
    const int is_everywhere = strcmp(w->address, "0.0.0.0") == 0;
    fprintf(stderr, "watch it at http://%s:%d/%s/%s\n", is_everywhere ? "127.0.0.1" : w->address, w->port,
            w->token, is_everywhere ? ", or at any other address of this machine" : "");
    if (strncmp(w->address, "127.", 4) != 0)
        fprintf(stderr, "nothing is encrypted: whoever can read the network sees the flight and the token\n");
    if (!w->is_realtime)
        fprintf(stderr, "the flight begins with the first viewer; with --realtime at once\n");
    return 0;
}

int vy_watch_begin(watch *w, const char *path, vy_recorder *recorder)
{
    if (w == NULL) return 0;
    const size_t size = strlen(path) + sizeof VY_FILE_PART_SUFFIX;
    w->log = malloc(size);
    if (w->log == NULL) return vy_print_no_memory(w->command);
    snprintf(w->log, size, "%s%s", path, VY_FILE_PART_SUFFIX);
    const int status = describe(w, path);
    if (status != 0) return status;
    vy_recorder_set_listener(recorder, &(vy_mcap_listener){.self = w, .on_message = on_message});
    return start_server(w);
}

int vy_watch_follow(watch *w, const char *part_path, const char *path, int paced)
{
    w->is_read_only = !paced;
    w->control.speed = 0.0;
    w->log = strdup(part_path);
    if (w->log == NULL) return vy_print_no_memory(w->command);
    const int status = describe(w, path);
    return status != 0 ? status : start_server(w);
}

void vy_watch_message(watch *w, uint16_t channel, uint64_t time, const unsigned char *data, size_t size)
{
    on_message(w, channel, time, data, size);
}

static void sleep_for(double seconds)
{
    const double limited = seconds < PAUSE_MAX ? seconds : PAUSE_MAX;
    const struct timespec pause = {.tv_nsec = (long)(1e9 * limited)};
    (void)nanosleep(&pause, NULL);
}

// May the next stride be flown, as far as viewers say? Takes one of the steps they asked for.
static int take_step(watch *w)
{
    pthread_mutex_lock(&w->lock);
    watch_control *c = &w->control;
    const int awaits_viewer = !w->pace.has_begun && !w->is_realtime && w->viewers == 0;
    int is_allowed = !awaits_viewer && (!c->is_paused || c->steps > 0);
    if (is_allowed && c->is_paused) {
        c->steps -= 1;
        c->version += 1;
    }
    if (is_allowed && (c->version != w->pace.version)) w->pace.speed = -1.0; // from now on, at another speed
    if (is_allowed) w->pace.version = c->version;
    pthread_mutex_unlock(&w->lock);
    return is_allowed;
}

// [s] that the flight is ahead of the clock, at the speed that was asked for.
static double ahead_of_clock(watch *w, double time)
{
    pthread_mutex_lock(&w->lock);
    const double speed = w->control.is_paused ? 0.0 : w->control.speed;
    pthread_mutex_unlock(&w->lock);
    const double now = vy_wall_clock();
    if (speed <= 0.0) {
        w->pace.speed = -1.0;
        return 0.0;
    }
    const double behind_max = 1.0; // [s] that are made up for
    double ahead = time / speed - (now - w->pace.anchor);
    if (speed != w->pace.speed || ahead < -behind_max) {
        w->pace.speed = speed;
        w->pace.anchor = now - time / speed;
        ahead = 0.0;
    }
    return ahead;
}

double vy_watch_ahead(watch *w, double time)
{
    if (!w->pace.is_taken && !take_step(w)) return HUGE_VAL;
    w->pace.has_begun = w->pace.is_taken = true;
    const double ahead = ahead_of_clock(w, time);
    w->pace.is_taken = ahead > 0.0;
    return ahead > 0.0 ? ahead : 0.0;
}

void vy_watch_pace(watch *w, double time)
{
    if (w == NULL) return;
    for (double ahead; vy_signals_seen() == 0 && (ahead = vy_watch_ahead(w, time)) > 0.0;) sleep_for(ahead);
}

int vy_watch_is_free(watch *w)
{
    pthread_mutex_lock(&w->lock);
    const int is_free = !w->control.is_paused && w->control.speed <= 0.0;
    pthread_mutex_unlock(&w->lock);
    return is_free;
}

void vy_watch_tell(watch *w, const char *text)
{
    pthread_mutex_lock(&w->lock);
    snprintf(w->control.notice, sizeof w->control.notice, "%s", text);
    w->control.notice_count += 1;
    pthread_mutex_unlock(&w->lock);
}

void vy_watch_take_injections(watch *w, void (*inject)(void *self, const char *what, const char *keys),
                              void *self)
{
    watch_injection injections[INJECTION_QUEUE];
    pthread_mutex_lock(&w->lock);
    const int count = w->injection_count;
    memcpy(injections, w->injections, (size_t)count * sizeof *injections);
    w->injection_count = 0;
    pthread_mutex_unlock(&w->lock);
    for (int i = 0; i < count; ++i) inject(self, injections[i].what, injections[i].text);
}

typedef struct injected_flight {
    watch *watched;
    const vy_scenario *scenario;
    vy_world *world;
} injected_flight;

static void inject_now(void *self, const char *what, const char *keys)
{
    const injected_flight *f = self;
    vy_error error = {.status = VY_OK};
    if (vy_scenario_inject(f->scenario, f->world, what, keys, strlen(keys), &error) != VY_OK)
        vy_watch_tell(f->watched, error.text);
}

void vy_watch_inject(watch *w, const vy_scenario *scenario, vy_world *world)
{
    injected_flight f = {.watched = w, .scenario = scenario, .world = world};
    if (w != NULL) vy_watch_take_injections(w, inject_now, &f);
}

void vy_watch_end(watch *w, const char *status, uint64_t hash)
{
    if (w == NULL) return;
    pthread_mutex_lock(&w->lock);
    w->control.has_ended = true;
    w->control.hash = hash;
    w->control.version += 1;
    if (status != NULL) snprintf(w->control.status, sizeof w->control.status, "%s", status);
    pthread_mutex_unlock(&w->lock);
    if (w->has_paced_thread) pthread_join(w->paced_thread, NULL);
    if (w->has_thread) {
        (void)!write(w->wake[1], "", 1);
        pthread_join(w->thread, NULL);
    }
    watch_destroy(w);
}
