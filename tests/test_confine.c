// test_confine.c - what a confined program can do: everything but write, call out, or take our names along.
#define _GNU_SOURCE // mkdtemp, prlimit
#include "check.h"
#include "host/confine.h"
#include "volery/scenario.h"
#include "volery/world.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static char folder[] = "/tmp/volery-confine-XXXXXX";

static int skipped(const char *what)
{
    printf("skipped: this kernel lacks %s\n", what);
    return 1;
}

static int no_landlock(void)
{
    char lacks[VY_LACKS_CAP];
    return vy_host_lacks(lacks) && strstr(lacks, "Landlock:") != NULL && skipped("Landlock");
}

static int no_seccomp(void)
{
    char lacks[VY_LACKS_CAP];
    return vy_host_lacks(lacks) && strstr(lacks, "seccomp") != NULL && skipped("seccomp");
}

static vy_controller_def confined(void)
{
    vy_controller_def def = vy_default_controller_def();
    def.kind = VY_CONTROLLER_PROCESS;
    def.confine = 1;
    snprintf(def.folder, sizeof def.folder, "%s", folder);
    return def;
}

// What `command` of the shell ends with under this confinement; its output goes to FOLDER/said.
static int run(const vy_controller_def *def, const char *command)
{
    char path[100], line[600];
    confinement *c = NULL;
    vy_error err = {.status = VY_OK};
    if (vy_confine_prepare(def, &c, &err) != VY_OK) fail_msg("%s", err.text);
    snprintf(path, sizeof path, "%s/said", folder);
    const int said = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(said >= 0);
    const pid_t pid = fork();
    if (pid == 0) {
        char name[] = "sh", option[] = "-c", *words[] = {name, option, line, NULL};
        snprintf(line, sizeof line, "%s", command);
        (void)dup2(said, 1);
        (void)dup2(said, 2);
        if (chdir(folder) != 0) _exit(99);
        vy_confine_enter(c);
        (void)execve("/bin/sh", words, vy_confine_environment(c));
        _exit(98);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(said);
    char own[200];
    snprintf(own, sizeof own, "%s", c != NULL ? vy_confine_folder(c) : "");
    vy_confine_release(c);
    if (own[0] != '\0') assert_int_not_equal(access(own, F_OK), 0); // with all that is in it
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void files_are_read_and_not_written(void **unused)
{
    (void)unused;
    if (no_landlock()) return;
    vy_controller_def def = confined();
    static const char *const denied[] = {
        "echo x >mine",
        "echo x >>kept",
        "rm kept",
        "mv kept other",
        "mkdir d",
        "ln -s kept there",
        "mkfifo pipe",
        "ln kept again",
        "rmdir open",
        "echo x >open/mine",
        "echo x >/tmp/volery-confine-stray",
        "cp kept /var/tmp/volery-confine-stray",
    };
    for (size_t i = 0; i < sizeof denied / sizeof *denied; ++i) {
        if (run(&def, denied[i]) == 0) fail_msg("%s was done", denied[i]);
    }
    assert_int_equal(run(&def, "cat kept >/dev/null && ls / >/dev/null"), 0);
    assert_int_equal(run(&def, "mkdir $TMPDIR/a && echo x >$TMPDIR/a/b && cat $HOME/a/b && rm -r $TMPDIR/a"),
                     0);
    assert_int_equal(
        run(&def, "mkdir -p $TMPDIR/left/behind; ln -s / $TMPDIR/left/root; echo x >$TMPDIR/left/file"), 0);
    strcpy(def.writable, "open:one");
    assert_int_equal(run(&def, "echo x >open/mine && rm open/mine && echo x >one"), 0);
    assert_int_not_equal(run(&def, "echo x >mine"), 0);
    def.confine = 0;
    assert_int_equal(run(&def, "echo x >mine"), 0);
}

static void no_network_but_what_is_asked_for(void **unused)
{
    (void)unused;
    if (no_seccomp()) return;
    static const struct {
        vy_controller_kind kind;
        vy_network network;
        int ip, packet;
    } cases[] = {
        {VY_CONTROLLER_PROCESS, VY_NETWORK_NONE, 0, 0}, {VY_CONTROLLER_PROCESS, VY_NETWORK_LOOPBACK, 1, 0},
        {VY_CONTROLLER_PX4, VY_NETWORK_NONE, 1, 0},     {VY_CONTROLLER_ARDUPILOT, VY_NETWORK_NONE, 1, 0},
        {VY_CONTROLLER_PROCESS, VY_NETWORK_ANY, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        vy_controller_def def = confined();
        confinement *c = NULL;
        def.kind = cases[i].kind;
        def.network = cases[i].network;
        assert_int_equal(vy_confine_prepare(&def, &c, NULL), VY_OK);
        const pid_t pid = fork();
        if (pid == 0) {
            vy_confine_enter(c);
            const int local = socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
            const int ip = socket(AF_INET, SOCK_DGRAM, 0) >= 0, refused = errno == EACCES;
            const int ip6 = socket(AF_INET6, SOCK_STREAM, 0) >= 0 || errno == EAFNOSUPPORT;
            const int netlink = socket(AF_NETLINK, SOCK_RAW, 0) >= 0;
            _exit(local && ip == cases[i].ip && (ip || refused) && (ip6 || !cases[i].ip) &&
                          netlink == cases[i].packet
                      ? 0
                      : 1);
        }
        int status = -1;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        vy_confine_release(c);
        if (status != 0) fail_msg("case %zu", i);
    }
}

// What Landlock does not look at. Returns the first that is done, or that is refused with another error.
static const char *do_what_landlock_allows(const char *file)
{
    struct rlimit limit = {0};
    int flags = 0;
    const int fd = open(file, O_RDONLY);
    const pid_t parent = getppid();
    if (fd < 0) return "open";
    if (chmod(file, 0600) == 0 || errno != EPERM) return "chmod";
    if (fchmod(fd, 0600) == 0 || errno != EPERM) return "fchmod";
    if (chown(file, getuid(), getgid()) == 0 || errno != EPERM) return "chown";
    if (fchown(fd, getuid(), getgid()) == 0 || errno != EPERM) return "fchown";
    if (setxattr(file, "user.volery", "x", 1, 0) == 0 || errno != EPERM) return "setxattr";
    if (removexattr(file, "user.volery") == 0 || errno != EPERM) return "removexattr";
    if (ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0 || errno != EPERM) return "flags of a file";
    if (ioctl(2, TIOCSTI, "x") == 0 || errno != EPERM) return "words put into a terminal";
    if (shmget(IPC_PRIVATE, 4096, 0600) >= 0 || errno != EPERM) return "shmget";
    if (semget(IPC_PRIVATE, 1, 0600) >= 0 || errno != EPERM) return "semget";
    if (msgget(IPC_PRIVATE, 0600) >= 0 || errno != EPERM) return "msgget";
    if (syscall(SYS_keyctl, 0, -3, 0) >= 0 || errno != EPERM) return "keyctl";
    if (prlimit(parent, RLIMIT_CPU, NULL, &limit) == 0 || errno != EPERM) return "prlimit of another";
    if (setpriority(PRIO_PROCESS, (id_t)parent, 0) == 0 || errno != EPERM) return "priority of another";
    if (setpriority(PRIO_USER, 0, 19) == 0 || errno != EPERM) return "priority of all";
    if (prlimit(0, RLIMIT_CPU, NULL, &limit) != 0) return "prlimit of its own";
    if (setpriority(PRIO_PROCESS, 0, 19) != 0) return "priority of its own";
    return NULL;
}

static void what_landlock_does_not_know_is_refused(void **unused)
{
    (void)unused;
    if (no_seccomp()) return;
    char path[100];
    snprintf(path, sizeof path, "%s/kept", folder);
    for (int i = 0; i < 3; ++i) { // the last: not confined, where the first of them is done
        vy_controller_def def = confined();
        confinement *c = NULL;
        def.network = i == 0 ? VY_NETWORK_NONE : VY_NETWORK_ANY;
        def.confine = i < 2;
        assert_int_equal(vy_confine_prepare(&def, &c, NULL), VY_OK);
        const pid_t pid = fork();
        if (pid == 0) {
            vy_confine_enter(c);
            const char *done = do_what_landlock_allows(path);
            if (i < 2 && done != NULL) fprintf(stderr, "a confined program: %s\n", done);
            _exit(i < 2 ? done != NULL : done == NULL || strcmp(done, "chmod") != 0);
        }
        int status = -1;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        vy_confine_release(c);
        if (status != 0) fail_msg("case %d", i);
    }
}

static void environment_by_names(void **unused)
{
    (void)unused;
    const vy_controller_def def = confined();
    assert_int_equal(setenv("VOLERY_TEST_TOKEN", "secret", 1), 0);
    assert_int_equal(setenv("LANG", "C", 1), 0);
    assert_int_equal(
        run(&def,
            "test -z \"$VOLERY_TEST_TOKEN$SSH_AUTH_SOCK$USER\" && test \"$LANG\" = C && test -n \"$PATH\""),
        0);
    vy_controller_def own = def;
    own.confine = 0;
    assert_int_equal(run(&own, "test \"$VOLERY_TEST_TOKEN\" = secret"), 0);
}

static void no_privileges_to_gain(void **unused)
{
    (void)unused;
    const vy_controller_def def = confined();
    assert_int_equal(run(&def, "grep -q 'NoNewPrivs:.1' /proc/self/status"), 0);
}

static void a_path_that_is_not_there_is_named(void **unused)
{
    (void)unused;
    if (no_landlock()) return;
    vy_controller_def def = confined();
    confinement *c = NULL;
    vy_error err = {.status = VY_OK};
    strcpy(def.writable, "open:nowhere");
    assert_int_equal(vy_confine_prepare(&def, &c, &err), VY_NOT_FOUND);
    assert_non_null(strstr(err.text, "controller.writable: there is no"));
    assert_non_null(strstr(err.text, "nowhere"));
    assert_null(c);
}

static void what_a_kernel_lacks_is_said(void **unused)
{
    (void)unused;
    char text[VY_LACKS_CAP];
    vy_confine_describe_missing(0, 0, text);
    assert_string_equal(text, "Landlock: programs can write wherever you can, and signal your processes; "
                              "seccomp: programs can use the network and change modes");
    vy_confine_describe_missing(0, 1, text);
    assert_string_equal(text, "Landlock: programs can write wherever you can, and signal your processes");
    vy_confine_describe_missing(2, 1, text);
    assert_string_equal(text, "Landlock 3: programs can cut files to nothing, and signal your processes");
    vy_confine_describe_missing(5, 1, text);
    assert_string_equal(text, "Landlock 6: programs can signal your processes");
    vy_confine_describe_missing(6, 0, text);
    assert_string_equal(text, "seccomp: programs can use the network and change modes");
    vy_confine_describe_missing(7, 1, text);
    assert_string_equal(text, "");
}

static void make_file(const char *name)
{
    char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int file = open(path, O_WRONLY | O_CREAT, 0600);
    if (file < 0 || write(file, "kept\n", 5) != 5) abort();
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_and_not_written),
        cmocka_unit_test(no_network_but_what_is_asked_for),
        cmocka_unit_test(what_landlock_does_not_know_is_refused),
        cmocka_unit_test(environment_by_names),
        cmocka_unit_test(no_privileges_to_gain),
        cmocka_unit_test(a_path_that_is_not_there_is_named),
        cmocka_unit_test(what_a_kernel_lacks_is_said),
    };
    char path[100], command[100];
    if (mkdtemp(folder) == NULL) return 1;
    make_file("kept");
    make_file("one");
    snprintf(path, sizeof path, "%s/open", folder);
    if (mkdir(path, 0700) != 0) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 ? 1 : failed;
}
