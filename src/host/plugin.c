// plugin.c - a shared library as a controller: in a process of its own, called through shared memory.
#define _GNU_SOURCE // memfd_create, sched_getaffinity
#include "base/fail.h"
#include "base/assert.h"
#include "host/channel.h"
#include "host/child.h"
#include "host/host.h"
#include "host/program.h"
#include "host/supervisor.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>

enum {
    SPIN_NS = 20000,     // longest spin for a response or a request before a sleep
    SLEEP_NS = 16000000, // between checks that the program is alive; a timer of less than a tick is expensive
    PROGRAM_FD = 4,      // of the child, until it has become the program
};

#ifndef MFD_EXEC
#define MFD_EXEC 0x10U // Linux 6.3
#endif

struct vy_plugin_host {
    child child;
    channel *channel;
    size_t size; // [bytes] of it
    int64_t deadline_ns;
    waiter waiter;
    uint32_t count; // requests sent
    int is_dead;    // it has given its last response
    vy_verdict verdict;
    int32_t detail;
};

// --- the program

typedef struct program {
    int fd; // in memory; -1: forbidden here
    unsigned char *bytes;
    size_t size;
    char path[200]; // where it goes then
} program;

static int write_all(int fd, const unsigned char *bytes, size_t size)
{
    for (size_t sent = 0; sent < size;) {
        const ssize_t n = write(fd, bytes + sent, size - sent);
        if (n < 0 && errno != EINTR) return 0;
        if (n > 0) sent += (size_t)n;
    }
    return 1;
}

static vy_status uncompress_program(program *p, const confinement *limits, vy_error *err)
{
    uLongf size = (uLongf)vy_program_size;
    *p = (program){.fd = -1, .bytes = malloc(vy_program_size), .size = vy_program_size};
    if (p->bytes == NULL) return vy_fail(err, VY_NO_MEMORY, "plug-in: out of memory");
    if (uncompress(p->bytes, &size, vy_program_packed, (uLong)vy_program_packed_size) != Z_OK)
        return vy_fail(err, VY_DAMAGED, "plug-in: the program around it cannot be unpacked");
    const char *folder = limits != NULL ? vy_confine_folder(limits) : getenv("TMPDIR");
    snprintf(p->path, sizeof p->path, "%.120s/volery-%ld-%llx",
             folder != NULL && folder[0] == '/' ? folder : "/tmp", (long)getpid(),
             (unsigned long long)vy_clock_ns());
    p->fd = memfd_create("volery-plugin", MFD_CLOEXEC | MFD_EXEC);
    if (p->fd < 0 && errno == EINVAL) p->fd = memfd_create("volery-plugin", MFD_CLOEXEC);
    p->fd = vy_fd_above_stdio(p->fd);
    if (p->fd >= 0 && !write_all(p->fd, p->bytes, p->size))
        return vy_fail(err, VY_IO, "plug-in: no memory for the program around it: %s", strerror(errno));
    return VY_OK;
}

// In the child, between fork and exec: only what is safe there.
static void exec_child(const program *p, const confinement *limits, channel *c, int channel_fd)
{
    char **environment = vy_confine_environment(limits);
    char name[] = "volery-plugin", *argv[] = {name, NULL, NULL};
    const int null_fd = open("/dev/null", O_RDONLY);
    c->supervisor_pid = (int32_t)getppid();
    (void)dup2(STDERR_FILENO, STDOUT_FILENO); // standard output may be the log's, or JSON
    if (null_fd >= 0 && dup2(null_fd, STDIN_FILENO) == STDIN_FILENO &&
        dup2(channel_fd, CHANNEL_FD) == CHANNEL_FD) {
        const int program_fd = p->fd >= 0 ? dup3(p->fd, PROGRAM_FD, O_CLOEXEC) : -1;
        vy_confine_enter(limits);
        vy_close_descriptors(PROGRAM_FD + 1, -1);
        if (program_fd >= 0) (void)fexecve(PROGRAM_FD, argv, environment);
        close(PROGRAM_FD);
        const int file = open(p->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700);
        if (file >= 0 && write_all(file, p->bytes, p->size) && close(file) == 0) {
            argv[1] = (char *)p->path; // to be removed by the program
            (void)execve(p->path, argv, environment);
        }
        const int saved_errno = errno;
        if (file >= 0) (void)unlink(p->path);
        errno = saved_errno;
    }
    c->exec_errno = errno;
    _exit(126);
}

// --- the channel

// Sealed against shrinking: a truncated mapping would kill the world with SIGBUS.
static vy_status make_channel(size_t size, int *channel_fd, channel **out, vy_error *err)
{
    *channel_fd = vy_fd_above_stdio(memfd_create("volery-channel", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (*channel_fd < 0 || ftruncate(*channel_fd, (off_t)size) != 0 ||
        fcntl(*channel_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return vy_fail(err, VY_IO, "plug-in: no shared memory: %s", strerror(errno));
    channel *c = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *channel_fd, 0);
    if (c == MAP_FAILED) return vy_fail(err, VY_IO, "plug-in: no shared memory: %s", strerror(errno));
    *out = c;
    return VY_OK;
}

// Of the whole memory, with the texts behind the channel.
static size_t channel_size(const vy_plugin_start *start)
{
    size_t size = sizeof(channel) + strlen(start->json) + 1;
    for (int i = 0; i < start->parameter_count; ++i) {
        const char *text = start->parameters[i].text;
        if (text != NULL) size += strlen(text) + 1;
    }
    return size;
}

static void fill_texts(const vy_plugin_start *start, channel *c)
{
    size_t offset = strlen(start->json) + 1;
    memcpy(c->texts, start->json, offset);
    for (int i = 0; i < start->parameter_count; ++i) {
        const char *text = start->parameters[i].text;
        if (text == NULL) continue;
        c->parameter_offsets[i] = (uint32_t)offset;
        memcpy(c->texts + offset, text, strlen(text) + 1);
        offset += strlen(text) + 1;
    }
    VY_ASSERT(sizeof *c + offset <=
              c->size + sizeof(uint64_t)); // the array may begin within the struct's padding
}

static void write_start(const vy_host_request *request, channel *c)
{
    const vy_controller_def *def = request->def;
    const int is_absolute = def->program[0] == '/';
    VY_ASSERT(request->start.drone != NULL && strlen(request->start.drone) < VY_NAME_CAP);
    const char *folder = is_absolute ? "" : def->folder[0] != '\0' ? def->folder : ".";
    _Static_assert(sizeof def->folder + sizeof def->program + 2 <= PLUGIN_PATH_CAP, "every path fits");
    snprintf(c->library, sizeof c->library, "%s%s%s", folder, is_absolute ? "" : "/", def->program);
    c->start = request->start;
    snprintf(c->drone, sizeof c->drone, "%s", request->start.drone);
    c->vehicle = *request->start.vehicle;
    c->imu = *request->start.imu;
    c->mocap = *request->start.mocap;
    c->sensors = *request->start.sensors;
    memcpy(c->parameters, request->start.parameters,
           (size_t)request->start.parameter_count * sizeof c->parameters[0]);
    fill_texts(&request->start, c);
    cpu_set_t cpus;
    const int has_one_cpu = sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) == 1;
    c->spin_ns = has_one_cpu ? 0 : SPIN_NS;
}

// Wait for the response to the last request; returns the verdict.
static vy_verdict wait_response(vy_plugin_host *h, int64_t limit_ns, int32_t *detail)
{
    futex_counter *counter = &h->channel->response;
    const uint32_t previous_count = h->count - 1;
    VY_ASSERT(h->count > 0 && limit_ns > 0); // a request was sent
    VY_ASSERT(h->waiter.spin_ns >= 0 && h->waiter.spin_ns <= h->waiter.spin_max_ns);
    if (atomic_load_explicit(&counter->count, memory_order_acquire) != previous_count)
        return VY_VERDICT_REPLIED;
    const int64_t start = vy_clock_ns();
    for (;;) {
        const int64_t remaining_ns = limit_ns - (vy_clock_ns() - start);
        if (vy_futex_counter_wait(counter, previous_count, SLEEP_NS < remaining_ns ? SLEEP_NS : remaining_ns,
                                  &h->waiter))
            return VY_VERDICT_REPLIED;
        vy_verdict verdict;
        const int has_ended = vy_child_wait(&h->child, 0, &verdict, detail);
        if (atomic_load(&counter->count) != previous_count) return VY_VERDICT_REPLIED; // its last response
        if (has_ended) return verdict;
        *detail = 0;
        if (remaining_ns <= SLEEP_NS) return VY_VERDICT_LATE;
    }
}

// --- the controller

static vy_status spawn(const vy_host_request *request, vy_plugin_host *h, vy_error *err)
{
    program p = {.fd = -1};
    int channel_fd = -1, is_child = 0;
    h->size = channel_size(&request->start);
    vy_status status = make_channel(h->size, &channel_fd, &h->channel, err);
    if (status == VY_OK) {
        h->channel->size = h->size;
        write_start(request, h->channel);
        h->waiter = (waiter){.spin_ns = h->channel->spin_ns, .spin_max_ns = h->channel->spin_ns};
        status = uncompress_program(&p, request->confinement, err);
    }
    if (status == VY_OK) {
        atomic_store(&h->channel->request.count, ++h->count); // whether it is ready
        status = vy_child_fork(&h->child, &is_child, err);
    }
    if (is_child) exec_child(&p, request->confinement, h->channel, channel_fd);
    if (p.fd >= 0) close(p.fd);
    if (channel_fd >= 0) close(channel_fd);
    free(p.bytes);
    return status;
}

static vy_status handshake(const vy_host_request *request, vy_plugin_host *h, vy_error *err)
{
    static const char *const stages[] = {"program", "constructor", "init"};
    const char *name = request->def->program;
    channel *c = h->channel;
    int32_t detail = 0;
    const vy_verdict verdict =
        wait_response(h, h->deadline_ns + (int64_t)(1e9 * request->def->boot), &detail);
    const uint32_t stage = atomic_load(&c->stage);
    if (stage == STAGE_EXEC && c->exec_errno != 0)
        return vy_fail(err, VY_IO, "plug-in %.100s: the program around it cannot be started: %s", name,
                       strerror(c->exec_errno));
    if (verdict != VY_VERDICT_REPLIED) {
        char reason[160]; // one that is late was not ready: the time to boot comes before the deadline
        const int is_late = verdict == VY_VERDICT_LATE;
        vy_verdict_print(is_late ? VY_VERDICT_NOT_READY : verdict, detail,
                         request->def->boot + request->def->deadline, NULL, reason, sizeof reason);
        return vy_fail(err, is_late ? VY_BAD_STATE : VY_BAD_VALUE, "plug-in %.60s: its %s %s", name,
                       stages[stage <= STAGE_INIT ? stage : STAGE_INIT], reason);
    }
    if (stage == STAGE_STEP) return VY_OK;
    c->refusal.text[sizeof c->refusal.text - 1] = '\0';
    const vy_status status = c->refusal.status;
    if (stage == STAGE_INIT) return vy_fail(err, VY_BAD_VALUE, "plug-in %.80s %s", name, c->refusal.text);
    return vy_fail(err, status == VY_NOT_FOUND || status == VY_OTHER_VERSION ? status : VY_BAD_VALUE, "%s",
                   c->refusal.text);
}

vy_status vy_plugin_host_open(const vy_host_request *request, vy_plugin_host **out, vy_error *err)
{
    vy_plugin_host *h = calloc(1, sizeof *h);
    if (h == NULL) return vy_fail(err, VY_NO_MEMORY, "plug-in: out of memory");
    h->child.lifeline = -1;
    h->deadline_ns = (int64_t)(1e9 * request->def->deadline);
    vy_status status = spawn(request, h, err);
    if (status == VY_OK) status = handshake(request, h, err);
    if (status != VY_OK) {
        h->is_dead = 1;
        vy_plugin_host_close(h);
        return status;
    }
    *out = h;
    return VY_OK;
}

vy_verdict vy_plugin_host_finish(vy_plugin_host *h, int32_t *detail)
{
    *detail = 0;
    if (h->is_dead || h->child.owner != getpid()) return VY_VERDICT_REPLIED;
    h->is_dead = 1;
    h->verdict = VY_VERDICT_ABSENT;
    h->detail = 0;
    atomic_store(&h->channel->must_end, 1);
    vy_futex_counter_set(&h->channel->request, ++h->count);
    const int wait_ms = (int)(h->deadline_ns / 1000000) + END_MILLISECONDS;
    vy_verdict verdict;
    if (vy_child_wait(&h->child, wait_ms, &verdict, detail)) {
        const int is_exiting = atomic_load(&h->channel->stage) == STAGE_EXITING;
        const int is_reaped = *detail == -1; // by another part of the program: its exit status is not known
        if (is_exiting && verdict == VY_VERDICT_ENDED && (is_reaped || *detail == PROGRAM_DONE)) {
            *detail = 0;
            verdict = VY_VERDICT_REPLIED;
        }
    } else {
        verdict = VY_VERDICT_LATE;
        *detail = 0;
    }
    vy_child_end(&h->child);
    return verdict;
}

void vy_plugin_host_close(vy_plugin_host *h)
{
    if (h == NULL) return;
    int32_t detail;
    (void)vy_plugin_host_finish(h, &detail);
    vy_child_end(&h->child);
    if (h->channel != NULL) (void)munmap(h->channel, h->size);
    free(h);
}

void vy_plugin_host_call(void *host, const vy_samples *samples, vy_intent *intent)
{
    vy_plugin_host *h = host;
    if (!h->is_dead) {
        VY_ASSERT(h->channel != NULL && h->child.pid > 0);
        h->channel->samples = *samples;
        vy_futex_counter_set(&h->channel->request, ++h->count);
        h->verdict = wait_response(h, h->deadline_ns, &h->detail);
        if (h->verdict == VY_VERDICT_REPLIED) {
            *intent = h->channel->intent;
            h->detail = 0;
        } else {
            h->is_dead = 1;
            vy_child_end(&h->child);
        }
    }
    if (h->is_dead) memset(intent, 0, sizeof *intent); // an incomplete response does not count
    intent->verdict = h->verdict;
    intent->detail = h->detail;
}
