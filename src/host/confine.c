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
enum {
    LANDLOCK_CREATE_RULESET = 444,
    LANDLOCK_ADD_RULE = 445,
    LANDLOCK_RESTRICT_SELF = 446,
    LANDLOCK_ASK_VERSION = 1,
    LANDLOCK_RULE_PATH = 1
};
#define ACCESS_WRITE_FILE     ((uint64_t)1 << 1)
#define ACCESS_CHANGE_ENTRIES ((uint64_t)0x1ff0) // remove and make entries of every kind
#define ACCESS_REFER          ((uint64_t)1 << 13)
#define ACCESS_TRUNCATE       ((uint64_t)1 << 14)
#define LANDLOCK_SCOPES       ((uint64_t)3) // abstract sockets and signals

typedef struct ruleset_attributes {
    uint64_t files, network, scopes;
} ruleset_attributes;

typedef struct __attribute__((packed)) path_rule {
    uint64_t access;
    int32_t path_fd;
} path_rule;

struct confinement {
    int ruleset;    // -1: no Landlock
    int has_filter; // by seccomp
    struct sock_filter filter[120];
    struct sock_fprog program;
    char folder[160];
    char *environment[24];
    int environment_count;
};

// --- what the kernel has

static int landlock_version(void)
{
    const long version = syscall(LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_ASK_VERSION);
    return version > 0 ? (int)version : 0;
}

#if defined(__x86_64__)
#define FILTER_MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define FILTER_MACHINE AUDIT_ARCH_AARCH64
#endif

static int has_seccomp(void)
{
#ifdef FILTER_MACHINE
    return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
#else
    return 0; // no filter is written for this machine
#endif
}

void vy_confine_describe_missing(int landlock, int with_seccomp, char out[VY_LACKS_CAP])
{
    const char *files =
        landlock == 0  ? "Landlock: programs can write wherever you can, and signal your processes"
        : landlock < 3 ? "Landlock 3: programs can cut files to nothing, and signal your processes"
        : landlock < 6 ? "Landlock 6: programs can signal your processes"
                       : "";
    const char *network = with_seccomp ? "" : "seccomp: programs can use the network and change modes";
    snprintf(out, VY_LACKS_CAP, "%s%s%s", files, files[0] != '\0' && network[0] != '\0' ? "; " : "", network);
}

int vy_host_lacks(char out[VY_LACKS_CAP])
{
    vy_confine_describe_missing(landlock_version(), has_seccomp(), out);
    return out[0] != '\0';
}

// --- files

static vy_status allow_writing(int ruleset, uint64_t handled_access, const char *path, vy_error *err)
{
    struct stat info;
    path_rule rule = {.path_fd = open(path, O_PATH | O_CLOEXEC)};
    if (rule.path_fd < 0 || fstat(rule.path_fd, &info) != 0) {
        if (rule.path_fd >= 0) close(rule.path_fd);
        return vy_fail(err, VY_NOT_FOUND, "controller.writable: there is no %.140s", path);
    }
    rule.access =
        S_ISDIR(info.st_mode) ? handled_access : handled_access & (ACCESS_WRITE_FILE | ACCESS_TRUNCATE);
    const long failed = syscall(LANDLOCK_ADD_RULE, ruleset, LANDLOCK_RULE_PATH, &rule, 0);
    const int saved_errno = errno;
    close(rule.path_fd);
    return failed != 0
               ? vy_fail(err, VY_IO, "controller: Landlock refuses %.120s: %s", path, strerror(saved_errno))
               : VY_OK;
}

// Paths are separated by colons, as in PATH, and seen from the controller's folder.
static vy_status allow_writable_paths(const vy_controller_def *def, int ruleset, uint64_t handled_access,
                                      vy_error *err)
{
    char names[sizeof def->writable], path[sizeof def->folder + sizeof def->writable + 2], *rest = NULL;
    vy_status status = VY_OK;
    snprintf(names, sizeof names, "%s", def->writable);
    for (const char *name = strtok_r(names, ":", &rest); name != NULL && status == VY_OK;
         name = strtok_r(NULL, ":", &rest)) {
        const int is_absolute = name[0] == '/' || def->folder[0] == '\0';
        snprintf(path, sizeof path, "%s%s%s", is_absolute ? "" : def->folder, is_absolute ? "" : "/", name);
        status = allow_writing(ruleset, handled_access, path, err);
    }
    return status;
}

static vy_status make_ruleset(const vy_controller_def *def, confinement *c, vy_error *err)
{
    const int version = landlock_version();
    if (version == 0) return VY_OK;
    const ruleset_attributes attributes = {.files = ACCESS_WRITE_FILE | ACCESS_CHANGE_ENTRIES |
                                                    (version >= 2 ? ACCESS_REFER : 0) |
                                                    (version >= 3 ? ACCESS_TRUNCATE : 0),
                                           .scopes = version >= 6 ? LANDLOCK_SCOPES : 0};
    const size_t size = version >= 6   ? sizeof attributes
                        : version >= 4 ? offsetof(ruleset_attributes, scopes)
                                       : offsetof(ruleset_attributes, network);
    c->ruleset = vy_fd_above_stdio(
        (int)syscall(LANDLOCK_CREATE_RULESET, &attributes, size, 0)); // and above a plug-in's
    if (c->ruleset < 0) return vy_fail(err, VY_IO, "controller: no rules of Landlock: %s", strerror(errno));
    vy_status status = allow_writing(c->ruleset, attributes.files, c->folder, err);
    if (status == VY_OK) status = allow_writing(c->ruleset, attributes.files, "/dev/null", err);
    return status == VY_OK ? allow_writable_paths(def, c->ruleset, attributes.files, err) : status;
}

// --- system calls

#ifdef FILTER_MACHINE
// Calls of x32 begin at the first number.
enum { X32_CALL_FIRST = 0x40000000, ADDRESS_FAMILY_COUNT = 3 };

// What Landlock lets through, since it looks at no modes, owners and attributes of files, nor at memory and
// keys that all processes of a user share; and io_uring, which would go around the filter. Those by number
// are newer than many a header, and of one number everywhere.
static const uint32_t refused_calls[] = {
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

static void add_instruction(confinement *c, uint16_t code, uint32_t value, uint8_t if_true, uint8_t if_false)
{
    c->filter[c->program.len++] = (struct sock_filter){code, if_true, if_false, value};
}

static void add_refusal(confinement *c, int error)
{
    add_instruction(c, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error, 0, 0);
}

static void add_allow(confinement *c) { add_instruction(c, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0); }

static void add_refusal_if(confinement *c, uint32_t value, int error)
{
    add_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    add_refusal(c, error);
}

static void add_load(confinement *c, uint32_t offset)
{
    add_instruction(c, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

static void add_load_argument(confinement *c, uint32_t number) // its low half
{
    add_load(c, (uint32_t)offsetof(struct seccomp_data, args) + 8 * number);
}

// What follows, up to an allow(), is for the system call `number`; end_call() tells how far that is.
static unsigned begin_call(confinement *c, uint32_t number)
{
    add_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, number, 0, 0);
    return c->program.len;
}

static void end_call(confinement *c, unsigned call_start)
{
    add_allow(c);
    c->filter[call_start - 1].jf = (uint8_t)(c->program.len - call_start);
}

static void add_require_zero(confinement *c, uint32_t argument)
{
    add_load_argument(c, argument);
    add_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
    add_refusal(c, EPERM);
}

// Calls of another machine's numbering are refused as a whole: they would go around the filter.
static void make_filter(confinement *c, vy_network network)
{
    static const uint32_t families[ADDRESS_FAMILY_COUNT] = {AF_UNIX, AF_INET, AF_INET6};
    const int count = network == VY_NETWORK_LOOPBACK ? ADDRESS_FAMILY_COUNT : 1;
    add_load(c, offsetof(struct seccomp_data, arch));
    add_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, FILTER_MACHINE, 1, 0);
    add_refusal(c, ENOSYS);
    add_load(c, offsetof(struct seccomp_data, nr));
    add_instruction(c, BPF_JMP | BPF_JGE | BPF_K, X32_CALL_FIRST, 0, 1);
    add_refusal(c, ENOSYS);
    for (size_t i = 0; i < sizeof refused_calls / sizeof *refused_calls; ++i)
        add_refusal_if(c, refused_calls[i], EPERM);
    unsigned call_start = begin_call(c, SYS_ioctl);
    add_load_argument(c, 1);
    for (size_t i = 0; i < sizeof refused_controls / sizeof *refused_controls; ++i)
        add_refusal_if(c, refused_controls[i], EPERM);
    end_call(c, call_start);
    call_start = begin_call(c, SYS_prlimit64); // a limit on the time of another process ends it
    add_require_zero(c, 0);
    end_call(c, call_start);
    call_start = begin_call(c, SYS_setpriority);
    add_require_zero(c, 0);
    add_require_zero(c, 1);
    end_call(c, call_start);
    if (network != VY_NETWORK_ANY) {
        call_start = begin_call(c, SYS_socket);
        add_load_argument(c, 0);
        for (int i = 0; i < count; ++i)
            add_instruction(c, BPF_JMP | BPF_JEQ | BPF_K, families[i], (uint8_t)(count - i), 0);
        add_refusal(c, EACCES);
        end_call(c, call_start);
    }
    add_allow(c);
    c->program.filter = c->filter;
    c->has_filter = 1;
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
    int ok = set_variable(c, "HOME", c->folder) && set_variable(c, "TMPDIR", c->folder);
    for (size_t i = 0; i < sizeof names / sizeof names[0] && ok; ++i) {
        const char *value = getenv(names[i]);
        if (value != NULL) ok = set_variable(c, names[i], value);
    }
    return ok;
}

// --- all of it

vy_status vy_confine_prepare(const vy_controller_def *def, confinement **out, vy_error *err)
{
    *out = NULL;
    if (!def->confine) return VY_OK;
    confinement *c = calloc(1, sizeof *c);
    if (c == NULL) return vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
    c->ruleset = -1;
    const char *parent_folder = getenv("TMPDIR");
    snprintf(c->folder, sizeof c->folder, "%.120s/volery-XXXXXX",
             parent_folder != NULL && parent_folder[0] == '/' ? parent_folder : "/tmp");
    vy_status status = VY_OK;
    if (mkdtemp(c->folder) == NULL) {
        status = vy_fail(err, VY_IO, "controller: no folder %.120s: %s", c->folder, strerror(errno));
        c->folder[0] = '\0';
    }
    if (status == VY_OK && !make_environment(c))
        status = vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
    if (status == VY_OK) status = make_ruleset(def, c, err);
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
        (c->ruleset >= 0 && syscall(LANDLOCK_RESTRICT_SELF, c->ruleset, 0) != 0) ||
        (c->has_filter && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &c->program, 0, 0) != 0))
        _exit(126);
}

char **vy_confine_environment(const confinement *c) { return c != NULL ? (char **)c->environment : environ; }

const char *vy_confine_folder(const confinement *c) { return c != NULL ? c->folder : NULL; }

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *position)
{
    (void)info, (void)type, (void)position;
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
