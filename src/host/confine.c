// confine.c - no new privileges, Landlock for files, seccomp for the network and what Landlock does not know,
// an environment by names.
#define _GNU_SOURCE // nftw, mkdtemp, environ, O_PATH
#include "host/confine.h"
#include "base/fail.h"
#include "host/child.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Of the kernel's <linux/landlock.h>, which is older than the kernel on many systems. The numbers of its
// calls are the same on every machine.
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, ASK_VERSION = 1, RULE_PATH = 1 };
#define WRITE_FILE ((uint64_t)1 << 1)
#define CHANGE     ((uint64_t)0x1ff0) // remove and make entries of every kind
#define REFER      ((uint64_t)1 << 13)
#define TRUNCATE   ((uint64_t)1 << 14)
#define SCOPES     ((uint64_t)3) // abstract sockets and signals

typedef struct ruleset_attributes {
    uint64_t files, network, scopes;
} ruleset_attributes;

typedef struct __attribute__((packed)) path_rule {
    uint64_t access;
    int32_t path;
} path_rule;

struct confinement {
    int ruleset; // -1: no Landlock
    int filters; // by seccomp
    struct sock_filter filter[120];
    struct sock_fprog program;
    char folder[160];
    char *environment[24];
    int environment_count;
};

// --- what the kernel has

static int landlock_version(void)
{
    const long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    return version > 0 ? (int)version : 0;
}

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

static int has_seccomp(void)
{
#ifdef MACHINE
    return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
#else
    return 0; // no filter is written for this machine
#endif
}

void vy_confine_describe_missing(int landlock, int seccomp, char out[VY_LACKS_CAP])
{
    const char *files =
        landlock == 0  ? "Landlock: programs can write wherever you can, and signal your processes"
        : landlock < 3 ? "Landlock 3: programs can cut files to nothing, and signal your processes"
        : landlock < 6 ? "Landlock 6: programs can signal your processes"
                       : "";
    const char *network = seccomp ? "" : "seccomp: programs can use the network and change modes";
    snprintf(out, VY_LACKS_CAP, "%s%s%s", files, files[0] != '\0' && network[0] != '\0' ? "; " : "", network);
}

int vy_host_lacks(char out[VY_LACKS_CAP])
{
    vy_confine_describe_missing(landlock_version(), has_seccomp(), out);
    return out[0] != '\0';
}

// --- files

static vy_status allow_writing(int ruleset, uint64_t handled, const char *path, vy_error *err)
{
    struct stat info;
    path_rule rule = {.path = open(path, O_PATH | O_CLOEXEC)};
    if (rule.path < 0 || fstat(rule.path, &info) != 0) {
        if (rule.path >= 0) close(rule.path);
        return vy_fail(err, VY_NOT_FOUND, "controller.writable: there is no %.140s", path);
    }
    rule.access = S_ISDIR(info.st_mode) ? handled : handled & (WRITE_FILE | TRUNCATE);
    const long failed = syscall(ADD_RULE, ruleset, RULE_PATH, &rule, 0);
    const int kept = errno;
    close(rule.path);
    return failed != 0 ? vy_fail(err, VY_IO, "controller: Landlock refuses %.120s: %s", path, strerror(kept))
                       : VY_OK;
}

// Paths are separated by colons, as in PATH, and seen from the controller's folder.
static vy_status allow_named(const vy_controller_def *def, int ruleset, uint64_t handled, vy_error *err)
{
    char names[sizeof def->writable], path[sizeof def->folder + sizeof def->writable + 2], *rest = NULL;
    vy_status status = VY_OK;
    snprintf(names, sizeof names, "%s", def->writable);
    for (const char *name = strtok_r(names, ":", &rest); name != NULL && status == VY_OK;
         name = strtok_r(NULL, ":", &rest)) {
        const int whole = name[0] == '/' || def->folder[0] == '\0';
        snprintf(path, sizeof path, "%s%s%s", whole ? "" : def->folder, whole ? "" : "/", name);
        status = allow_writing(ruleset, handled, path, err);
    }
    return status;
}

static vy_status make_rules(const vy_controller_def *def, confinement *c, vy_error *err)
{
    const int version = landlock_version();
    if (version == 0) return VY_OK;
    const ruleset_attributes attributes = {.files = WRITE_FILE | CHANGE | (version >= 2 ? REFER : 0) |
                                                    (version >= 3 ? TRUNCATE : 0),
                                           .scopes = version >= 6 ? SCOPES : 0};
    const size_t size = version >= 6   ? sizeof attributes
                        : version >= 4 ? offsetof(ruleset_attributes, scopes)
                                       : offsetof(ruleset_attributes, network);
    c->ruleset =
        vy_fd_above_stdio((int)syscall(CREATE_RULESET, &attributes, size, 0)); // and above a plug-in's
    if (c->ruleset < 0) return vy_fail(err, VY_IO, "controller: no rules of Landlock: %s", strerror(errno));
    vy_status status = allow_writing(c->ruleset, attributes.files, c->folder, err);
    if (status == VY_OK) status = allow_writing(c->ruleset, attributes.files, "/dev/null", err);
    return status == VY_OK ? allow_named(def, c->ruleset, attributes.files, err) : status;
}

// --- system calls

#ifdef MACHINE
// Calls of x32 begin at the first number.
enum { OTHER_NUMBERS = 0x40000000, FAMILIES = 3 };

// What Landlock lets through, since it looks at no modes, owners and attributes of files, nor at memory and
// keys that all processes of a user share; and io_uring, which would go around the filter. Those by number
// are newer than many a header, and of one number everywhere.
static const uint32_t refused[] = {
#ifdef SYS_chmod // not on every machine
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
#endif
    SYS_fchmod,
    SYS_fchmodat,
    452 /* fchmodat2 */,
    SYS_fchown,
    SYS_fchownat,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    463 /* setxattrat */,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    466 /* removexattrat */,
    469 /* file_setattr */,
    SYS_shmget,
    SYS_shmat,
    SYS_shmctl,
    SYS_semget,
    SYS_semop,
    SYS_semctl,
    SYS_semtimedop,
    SYS_msgget,
    SYS_msgsnd,
    SYS_msgrcv,
    SYS_msgctl,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    425 /* io_uring_setup */};

// Of ioctl(): flags of files (FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR), and words put into a terminal as if typed
// (TIOCSTI, TIOCLINUX): stderr may be one.
static const uint32_t refused_controls[] = {0x40086602, 0x401c5820, 0x5412, 0x541c};

static void add(confinement *c, uint16_t code, uint32_t value, uint8_t if_true, uint8_t if_false)
{
    c->filter[c->program.len++] = (struct sock_filter){code, if_true, if_false, value};
}

static void refuse(confinement *c, int error)
{
    add(c, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error, 0, 0);
}

static void allow(confinement *c) { add(c, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0); }

static void refuse_if(confinement *c, uint32_t value, int error)
{
    add(c, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    refuse(c, error);
}

static void load(confinement *c, uint32_t offset) { add(c, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0); }

static void load_argument(confinement *c, uint32_t number) // its low half
{
    load(c, (uint32_t)offsetof(struct seccomp_data, args) + 8 * number);
}

// What follows, up to an allow(), is for the system call `number`; end_call() tells how far that is.
static unsigned begin_call(confinement *c, uint32_t number)
{
    add(c, BPF_JMP | BPF_JEQ | BPF_K, number, 0, 0);
    return c->program.len;
}

static void end_call(confinement *c, unsigned begin)
{
    allow(c);
    c->filter[begin - 1].jf = (uint8_t)(c->program.len - begin);
}

static void require_zero(confinement *c, uint32_t argument)
{
    load_argument(c, argument);
    add(c, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
    refuse(c, EPERM);
}

// Calls of another machine's numbering are refused as a whole: they would go around the filter.
static void make_filter(confinement *c, vy_network network)
{
    static const uint32_t families[FAMILIES] = {AF_UNIX, AF_INET, AF_INET6};
    const int count = network == VY_NETWORK_LOOPBACK ? FAMILIES : 1;
    load(c, offsetof(struct seccomp_data, arch));
    add(c, BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0);
    refuse(c, ENOSYS);
    load(c, offsetof(struct seccomp_data, nr));
    add(c, BPF_JMP | BPF_JGE | BPF_K, OTHER_NUMBERS, 0, 1);
    refuse(c, ENOSYS);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) refuse_if(c, refused[i], EPERM);
    unsigned begin = begin_call(c, SYS_ioctl);
    load_argument(c, 1);
    for (size_t i = 0; i < sizeof refused_controls / sizeof *refused_controls; ++i)
        refuse_if(c, refused_controls[i], EPERM);
    end_call(c, begin);
    begin = begin_call(c, SYS_prlimit64); // a limit on the time of another process ends it
    require_zero(c, 0);
    end_call(c, begin);
    begin = begin_call(c, SYS_setpriority);
    require_zero(c, 0);
    require_zero(c, 1);
    end_call(c, begin);
    if (network != VY_NETWORK_ANY) {
        begin = begin_call(c, SYS_socket);
        load_argument(c, 0);
        for (int i = 0; i < count; ++i)
            add(c, BPF_JMP | BPF_JEQ | BPF_K, families[i], (uint8_t)(count - i), 0);
        refuse(c, EACCES);
        end_call(c, begin);
    }
    allow(c);
    c->program.filter = c->filter;
    c->filters = 1;
}
#else
static void make_filter(confinement *c, vy_network network) { (void)c, (void)network; }
#endif

// --- environment

static int set_variable(confinement *c, const char *name, const char *value)
{
    const size_t size = strlen(name) + strlen(value) + 2;
    char *text = malloc(size);
    if (text == NULL) return 0;
    snprintf(text, size, "%s=%s", name, value);
    c->environment[c->environment_count++] = text;
    return 1;
}

// What programs are found and started by, and how they print; no tokens, no agents, no names.
static int make_environment(confinement *c)
{
    static const char *const names[] = {"PATH",    "LANG", "LC_ALL",          "LC_CTYPE",   "LC_NUMERIC",
                                        "LC_TIME", "TZ",   "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV"};
    int good = set_variable(c, "HOME", c->folder) && set_variable(c, "TMPDIR", c->folder);
    for (size_t i = 0; i < sizeof names / sizeof names[0] && good; ++i) {
        const char *value = getenv(names[i]);
        if (value != NULL) good = set_variable(c, names[i], value);
    }
    return good;
}

// --- all of it

vy_status vy_confine_prepare(const vy_controller_def *def, confinement **out, vy_error *err)
{
    *out = NULL;
    if (!def->confine) return VY_OK;
    confinement *c = calloc(1, sizeof *c);
    if (c == NULL) return vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
    c->ruleset = -1;
    const char *place = getenv("TMPDIR");
    snprintf(c->folder, sizeof c->folder, "%.120s/volery-XXXXXX",
             place != NULL && place[0] == '/' ? place : "/tmp");
    vy_status status = VY_OK;
    if (mkdtemp(c->folder) == NULL) {
        status = vy_fail(err, VY_IO, "controller: no folder %.120s: %s", c->folder, strerror(errno));
        c->folder[0] = '\0';
    }
    if (status == VY_OK && !make_environment(c))
        status = vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
    if (status == VY_OK) status = make_rules(def, c, err);
    // A firmware is reached over a socket.
    const vy_network network = def->network == VY_NETWORK_NONE && vy_controller_is_firmware(def->kind)
                                   ? VY_NETWORK_LOOPBACK
                                   : def->network;
    if (has_seccomp()) make_filter(c, network);
    if (status != VY_OK) {
        vy_confine_release(c);
        return status;
    }
    *out = c;
    return VY_OK;
}

void vy_confine_enter(const confinement *c)
{
    if (c == NULL) return;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        (c->ruleset >= 0 && syscall(RESTRICT_SELF, c->ruleset, 0) != 0) ||
        (c->filters && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &c->program, 0, 0) != 0))
        _exit(126);
}

char **vy_confine_environment(const confinement *c) { return c != NULL ? (char **)c->environment : environ; }

const char *vy_confine_folder(const confinement *c) { return c != NULL ? c->folder : NULL; }

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info, (void)type, (void)at;
    (void)remove(path);
    return 0;
}

void vy_confine_release(confinement *c)
{
    if (c == NULL) return;
    if (c->ruleset >= 0) close(c->ruleset);
    if (c->folder[0] != '\0') (void)nftw(c->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    for (int i = 0; i < c->environment_count; ++i) free(c->environment[i]);
    free(c);
}
