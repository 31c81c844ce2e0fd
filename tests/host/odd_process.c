// odd_process.c - odd_process MODE [FILE]: a controller on the wire that misbehaves in the way MODE says,
// from 0.1 s on. With FILE it starts a child first, and writes its number there; of the mode `detached` a
// daemon: a session of its own, no parent, no descriptor. Of `descriptors` those that are open are written
// there.
#include "host/frame.h"
#include "host/start.h"
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *mode;

static int is(const char *name) { return strcmp(mode, name) == 0; }

static size_t read_frame(unsigned char *out)
{
    unsigned char head[FRAME_HEAD_SIZE];
    if (fread(head, 1, sizeof head, stdin) < sizeof head) exit(0);
    return fread(out, 1, vy_wire_get_size(head), stdin);
}

static void write_bytes(const void *bytes, size_t size)
{
    if (fwrite(bytes, 1, size, stdout) < size || fflush(stdout) != 0) exit(0);
}

static void write_text(const char *text)
{
    unsigned char head[FRAME_HEAD_SIZE];
    vy_wire_put_size((uint32_t)strlen(text), head);
    write_bytes(head, sizeof head);
    write_bytes(text, strlen(text));
}

static void note_number(const char *path, pid_t number)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) exit(3);
    fprintf(file, "%d", (int)number);
    fclose(file);
}

// Returns when it has noted its number, and its parent has gone.
static void start_daemon(const char *path)
{
    const pid_t middle = fork();
    if (middle == 0) {
        int ready[2];
        char byte = 0;
        (void)setsid();
        if (pipe(ready) != 0) _exit(3);
        if (fork() == 0) {
            note_number(path, getpid());
            (void)!write(ready[1], &byte, 1);
            for (int fd = 0; fd < 64; ++fd) close(fd);
            for (;;) sleep(600);
        }
        (void)!read(ready[0], &byte, 1);
        _exit(0);
    }
    while (waitpid(middle, NULL, 0) < 0) {
    }
}

static void note_descriptors(const char *path)
{
    char text[1024] = "";
    for (int fd = 0; fd < 128; ++fd) {
        if (fcntl(fd, F_GETFD) >= 0) snprintf(text + strlen(text), sizeof text - strlen(text), "%d ", fd);
    }
    FILE *file = fopen(path, "w");
    if (file == NULL) exit(3);
    fputs(text, file);
    fclose(file);
}

static void start_child(const char *path)
{
    if (is("descriptors")) {
        note_descriptors(path);
        return;
    }
    if (is("detached")) {
        start_daemon(path);
        return;
    }
    const pid_t child = fork();
    if (child == 0) {
        sleep(600);
        _exit(0);
    }
    note_number(path, child);
}

// Instead of, or before, the reply.
static void misbehave(unsigned char *frame, size_t *size)
{
    if (is("crash")) {
        (void)signal(SIGSEGV, SIG_DFL); // a sanitizer would catch it
        (void)raise(SIGSEGV);
    }
    if (is("end")) exit(5);
    if (is("hang")) sleep(600);
    for (int i = 0; is("trickle") && i < 600; ++i) { // a byte now and then
        write_bytes(&frame[i % 4], 1);
        usleep(50000);
    }
    while (is("flood")) write_bytes(frame, *size);
    if (is("twice")) write_bytes(frame, *size);
    if (is("size")) vy_wire_put_size((uint32_t)(*size -= 8) - 4, frame);
    if (is("huge")) vy_wire_put_size((uint32_t)(*size += 800) - 4, frame);
    if (is("odd")) vy_wire_put_size((uint32_t)(*size += 3) - 4, frame);
    if (is("garbage")) write_bytes("hello from my controller\n", 25);
    if (is("closed")) {
        close(1);
        close(0);
        sleep(600);
    }
}

int main(int count, char **words)
{
    static unsigned char bytes[START_CAP], frame[4096];
    mode = count > 1 ? words[1] : "good";
    if (is("absent")) return 7;
    (void)read_frame(bytes);
    if (count > 2) start_child(words[2]);
    write_text(is("version") ? "volery 2" : "volery 1");
    int asked = 0;
    for (;;) {
        vy_samples samples;
        (void)read_frame(bytes);
        vy_wire_get_samples(bytes, &samples);
        vy_intent intent;
        memset(&intent, 0, sizeof intent);
        intent.rung = VY_RUNG_RATES;
        intent.thrust = 0.27;
        const int now = samples.time >= 0.1;
        if (now && is("nan")) intent.thrust = (double)NAN;
        if (is("boot") && asked++ < 5) intent.status = VY_REPLY_STATUS_NOT_READY;
        if (now && is("unready")) intent.status = VY_REPLY_STATUS_NOT_READY;
        if (now && is("disarm")) intent.status = VY_REPLY_STATUS_DISARMED;
        if (now && is("stale")) {
            intent.status = VY_REPLY_STATUS_STALE;
            intent.thrust = 100.0;
        }
        if (now && is("status")) intent.status = 4;
        size_t size = vy_wire_put_reply(&intent, samples.tick - (now && is("late")), 4, frame);
        const double odd_rung = 77.0; // this machine and the wire agree on the order of bytes
        if (now && is("rung")) memcpy(frame + FRAME_HEAD_SIZE + 8, &odd_rung, 8);
        if (now) misbehave(frame, &size);
        write_bytes(frame, size);
    }
}
