// supervisor.c - waits for the end of a program or of its world, and leaves nothing behind.
//
// It is a fork without exec of a process that may have threads: no memory is taken, no lock either.
#define _GNU_SOURCE // ppoll
#include "host/supervisor.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    NOT_STARTED = 126,      // exit status, as a shell's
    MISSING_ROUNDS_MAX = 20 // in which /proc shows none of our children, though there are some
};

void vy_close_descriptors(int first, int last)
{
    if (last >= 0 && first > last) return;
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0) == 0) return;
#endif
    struct rlimit limit;
    const int max =
        getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (int)limit.rlim_cur - 1 : 65535;
    for (int fd = first; fd <= (last >= 0 ? last : max); ++fd) close(fd);
}

// --- finding children

// As getdents64() writes it.
typedef struct directory_entry {
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
} directory_entry;

// The parent of a process; -1: it has gone.
static int parent_of(int folder, const char *name)
{
    char path[32], text[512];
    size_t length = strlen(name);
    if (length > sizeof path - 6) return -1;
    memcpy(path, name, length);
    memcpy(path + length, "/stat", 6);
    const int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    const ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    if (size <= 0) return -1;
    text[size] = '\0';
    const char *at = strrchr(text, ')'); // "PID (NAME) STATE PARENT", and a name may hold anything
    return at != NULL && at[1] == ' ' && at[2] != '\0' ? atoi(at + 3) : -1;
}

// Kill our children; returns how many there are, -1: nobody can say.
static int kill_children(void)
{
    _Alignas(directory_entry) char buffer[4096];
    const int me = getpid(), folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int found = 0;
    if (folder < 0) return -1;
    for (;;) {
        const long size = syscall(SYS_getdents64, folder, buffer, sizeof buffer);
        if (size <= 0) break;
        for (long at = 0; at < size;) {
            const directory_entry *entry = (const directory_entry *)(buffer + at);
            at += entry->size;
            if (entry->name[0] < '1' || entry->name[0] > '9' || parent_of(folder, entry->name) != me)
                continue;
            (void)kill(atoi(entry->name), SIGKILL);
            found += 1;
        }
    }
    close(folder);
    return found;
}

// Whoever loses its parent becomes our child: so there is an end of them.
static void kill_all(void)
{
    for (int unseen = 0;;) {
        const int found = kill_children();
        unseen = found > 0 ? 0 : unseen + 1;
        pid_t gone = waitpid(-1, NULL, found > 0 ? 0 : WNOHANG);
        while (gone > 0) gone = waitpid(-1, NULL, WNOHANG);
        if (gone < 0 && errno == ECHILD) return;
        if (unseen > MISSING_ROUNDS_MAX)
            (void)kill(0, SIGKILL); // no /proc of ours: the group, as well as we can
        if (found <= 0) (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

// --- the two processes

// As the program ended, so that who waits for us sees its end.
static void exit_with_status(int status)
{
    if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
    sigset_t one;
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0}); // the program has left its own
    (void)signal(WTERMSIG(status), SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, WTERMSIG(status));
    (void)kill(getpid(), WTERMSIG(status));
    (void)sigprocmask(SIG_UNBLOCK, &one, NULL);
    _exit(NOT_STARTED);
}

static void on_child_signal(int number) { (void)number; }

static void wait_for_end(int lifeline_fd, pid_t program)
{
    sigset_t waiting;
    sigfillset(&waiting);
    sigdelset(&waiting, SIGCHLD);
    for (;;) {
        int status;
        pid_t gone;
        while ((gone = waitpid(-1, &status, WNOHANG)) > 0) {
            if (gone != program) continue;
            kill_all();
            exit_with_status(status);
        }
        struct pollfd world = {.fd = lifeline_fd, .events = POLLIN};
        if (ppoll(&world, 1, NULL, &waiting) <= 0) continue;
        kill_all();
        _exit(0);
    }
}

// What a program expects at its start.
static void reset_signals(void)
{
    for (int number = 1; number < NSIG; ++number) (void)signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

void vy_supervise(int lifeline_fd)
{
    sigset_t all;
    sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    // Ctrl-C is for the world, which ends us properly; and a program has no terminal to type into.
    (void)setsid();
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) _exit(NOT_STARTED);
    const pid_t me = getpid(), program = fork();
    if (program < 0) _exit(NOT_STARTED);
    if (program == 0) {
        close(lifeline_fd);
        // Should the supervisor be killed, the program at least ends with it.
        if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != me) _exit(NOT_STARTED);
        reset_signals();
        return;
    }
    struct sigaction action = {.sa_handler = on_child_signal};
    (void)sigaction(SIGCHLD, &action, NULL);
    vy_close_descriptors(0, lifeline_fd - 1);
    vy_close_descriptors(lifeline_fd + 1, -1);
    wait_for_end(lifeline_fd, program);
}
