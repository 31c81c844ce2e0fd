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

void vy_close_descriptors(int first_fd, int last_fd)
{
    if (last_fd >= 0 && first_fd > last_fd) return;
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first_fd, (unsigned)last_fd, 0) == 0) return;
#endif
    struct rlimit limit;
    const int max_fd =
        getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (int)limit.rlim_cur - 1 : 65535;
    for (int fd = first_fd; fd <= (last_fd >= 0 ? last_fd : max_fd); ++fd) close(fd);
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
static int parent_pid_of(int proc_fd, const char *name)
{
    char path[32], text[512];
    size_t length = strlen(name);
    if (length > sizeof path - 6) return -1;
    memcpy(path, name, length);
    memcpy(path + length, "/stat", 6);
    const int stat_fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
    if (stat_fd < 0) return -1;
    const ssize_t size = read(stat_fd, text, sizeof text - 1);
    close(stat_fd);
    if (size <= 0) return -1;
    text[size] = '\0';
    const char *name_end = strrchr(text, ')'); // "PID (NAME) STATE PARENT", and a name may hold anything
    return name_end != NULL && name_end[1] == ' ' && name_end[2] != '\0' ? atoi(name_end + 3) : -1;
}

// Kill our children; returns how many there are, -1: nobody can say.
static int kill_children(void)
{
    _Alignas(directory_entry) char buffer[4096];
    const int own_pid = getpid(), proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int child_count = 0;
    if (proc_fd < 0) return -1;
    for (;;) {
        const long size = syscall(SYS_getdents64, proc_fd, buffer, sizeof buffer);
        if (size <= 0) break;
        for (long position = 0; position < size;) {
            const directory_entry *entry = (const directory_entry *)(buffer + position);
            position += entry->size;
            if (entry->name[0] < '1' || entry->name[0] > '9' ||
                parent_pid_of(proc_fd, entry->name) != own_pid)
                continue;
            (void)kill(atoi(entry->name), SIGKILL);
            child_count += 1;
        }
    }
    close(proc_fd);
    return child_count;
}

// Whoever loses its parent becomes our child: so there is an end of them.
static void kill_descendants(void)
{
    for (int unseen_rounds = 0;;) {
        const int child_count = kill_children();
        unseen_rounds = child_count > 0 ? 0 : unseen_rounds + 1;
        pid_t reaped_pid = waitpid(-1, NULL, child_count > 0 ? 0 : WNOHANG);
        while (reaped_pid > 0) reaped_pid = waitpid(-1, NULL, WNOHANG);
        if (reaped_pid < 0 && errno == ECHILD) return;
        if (unseen_rounds > MISSING_ROUNDS_MAX)
            (void)kill(0, SIGKILL); // no /proc of ours: the group, as well as we can
        if (child_count <= 0) (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

// --- the two processes

// As the program ended, so that who waits for us sees its end.
static void exit_with_status(int status)
{
    if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
    sigset_t end_signal;
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0}); // the program has left its own
    (void)signal(WTERMSIG(status), SIG_DFL);
    sigemptyset(&end_signal);
    sigaddset(&end_signal, WTERMSIG(status));
    (void)kill(getpid(), WTERMSIG(status));
    (void)sigprocmask(SIG_UNBLOCK, &end_signal, NULL);
    _exit(NOT_STARTED);
}

static void on_child_signal(int number) { (void)number; }

static void wait_for_end(int lifeline_fd, pid_t program)
{
    sigset_t wait_mask;
    sigfillset(&wait_mask);
    sigdelset(&wait_mask, SIGCHLD);
    for (;;) {
        int status;
        pid_t reaped_pid;
        while ((reaped_pid = waitpid(-1, &status, WNOHANG)) > 0) {
            if (reaped_pid != program) continue;
            kill_descendants();
            exit_with_status(status);
        }
        struct pollfd lifeline = {.fd = lifeline_fd, .events = POLLIN};
        if (ppoll(&lifeline, 1, NULL, &wait_mask) <= 0) continue;
        kill_descendants();
        _exit(0);
    }
}

// What a program expects at its start.
static void reset_signals(void)
{
    for (int number = 1; number < NSIG; ++number) (void)signal(number, SIG_DFL);
    sigset_t no_signals;
    sigemptyset(&no_signals);
    (void)sigprocmask(SIG_SETMASK, &no_signals, NULL);
}

void vy_supervise(int lifeline_fd)
{
    sigset_t all_signals;
    sigfillset(&all_signals);
    (void)sigprocmask(SIG_SETMASK, &all_signals, NULL);
    // Ctrl-C is for the world, which ends us properly; and a program has no terminal to type into.
    (void)setsid();
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) _exit(NOT_STARTED);
    const pid_t own_pid = getpid(), program = fork();
    if (program < 0) _exit(NOT_STARTED);
    if (program == 0) {
        close(lifeline_fd);
        // Should the supervisor be killed, the program at least ends with it.
        if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != own_pid) _exit(NOT_STARTED);
        reset_signals();
        return;
    }
    struct sigaction action = {.sa_handler = on_child_signal};
    (void)sigaction(SIGCHLD, &action, NULL);
    vy_close_descriptors(0, lifeline_fd - 1);
    vy_close_descriptors(lifeline_fd + 1, -1);
    wait_for_end(lifeline_fd, program);
}
