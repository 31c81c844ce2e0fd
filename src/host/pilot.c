// pilot.c - a person at the keyboard or a joystick, or a script of key presses, on the pilot rung.
//
// A terminal reports key presses but no releases, so a key holds its stick for a while after its last press;
// throttle steps stay. Time is the world's: what was pressed between two calls acts at the second.
// Between keys there may be sticks of a gamepad, in percent: (yaw vertical strafe forward).
#define _GNU_SOURCE
#include "base/fail.h"
#include "base/assert.h"
#include "host/host.h"
#include "scenario/number.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/joystick.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define HOLD_SECONDS 0.5  // of a stick after its key
#define DEAD_ZONE    0.08 // of a joystick's axis

enum { STICK_STRAFE, STICK_VERTICAL, STICK_YAW, STICK_COUNT };
enum { AXIS_COUNT = 16, SCRIPT_CAP = 100000 };
// [bytes] between two calls, the capacity of a pipe: more than a person can type, and an endless device must
// not block the run.
enum { READ_CAP = 1 << 16 };

typedef enum pilot_device { DEVICE_KEYS, DEVICE_JOYSTICK, DEVICE_SCRIPT } pilot_device;

typedef struct script_key {
    double time; // [s]
    char key;
} script_key;

struct vy_pilot_host {
    pilot_device device;
    int input_fd;                     // -1: a script
    int throttle;                     // step
    double sticks[STICK_COUNT];       // -1 to 1
    double release_time[STICK_COUNT]; // [s] when a key lets go of it
    int escape_length;                // characters of an arrow key's sequence so far
    char gamepad_text[24];            // sticks of a gamepad, as far as they have come
    int gamepad_text_size;            // with its bracket; 0: none
    double throttle_release_time;     // [s] of a gamepad's throttle; 0: a key's, which stays
    double axes[AXIS_COUNT];          // of a joystick, -1 to 1
    int yaw_axis, vertical_axis, strafe_axis, forward_axis; // indices into axes
    script_key *script;
    size_t script_count, script_index; // the next one
    struct termios saved_termios;      // of the terminal
    pid_t terminal_restorer;           // process that restores the terminal if we cannot; 0: none
    int lifeline_fd;                   // it sees this end close
    vy_verdict verdict;                // VY_VERDICT_REPLIED while the device is there
};

// --- the terminal

// The child: whatever ends the parent, even a signal it cannot catch, the terminal is restored.
static void restore_when_parent_ends(int lifeline_fd, int terminal, const struct termios *saved)
{
    static const int ignored_signals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                          SIGTSTP, SIGTTOU, SIGTTIN, SIGPIPE};
    char byte;
    for (size_t i = 0; i < sizeof ignored_signals / sizeof ignored_signals[0]; ++i)
        (void)signal(ignored_signals[i], SIG_IGN);
    while (read(lifeline_fd, &byte, 1) < 0 && errno == EINTR) {
    }
    (void)tcsetattr(terminal, TCSANOW, saved);
    _exit(0);
}

// Keys as they are pressed, unseen. Ctrl-C stays what it is.
static vy_status set_raw_terminal(vy_pilot_host *h, vy_error *err)
{
    int pipe_ends[2];
    if (tcgetattr(h->input_fd, &h->saved_termios) != 0 || pipe2(pipe_ends, O_CLOEXEC) != 0)
        return vy_fail(err, VY_IO, "pilot: the terminal cannot be used: %s", strerror(errno));
    h->terminal_restorer = fork();
    if (h->terminal_restorer == 0) {
        close(pipe_ends[1]);
        restore_when_parent_ends(pipe_ends[0], h->input_fd, &h->saved_termios);
    }
    close(pipe_ends[0]);
    h->lifeline_fd = pipe_ends[1];
    if (h->terminal_restorer < 0) return vy_fail(err, VY_IO, "pilot: no process: %s", strerror(errno));
    struct termios raw = h->saved_termios;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(h->input_fd, TCSANOW, &raw) == 0) return VY_OK;
    return vy_fail(err, VY_IO, "pilot: the terminal cannot be used: %s", strerror(errno));
}

static void restore_terminal(vy_pilot_host *h)
{
    if (h->terminal_restorer <= 0) return;
    close(h->lifeline_fd); // its last act is ours
    while (waitpid(h->terminal_restorer, NULL, 0) < 0 && errno == EINTR) {
    }
}

// --- scripts

// Room for one more key; 0: memory is out.
static int reserve_key(vy_pilot_host *h)
{
    const size_t count = (size_t)h->script_count;
    if (count > 0 && (count & (count - 1)) != 0) return 1; // full at powers of two alone
    script_key *more = realloc(h->script, (count > 0 ? 2 * count : 1) * sizeof *more);
    if (more != NULL) h->script = more;
    return more != NULL;
}

static vy_status read_script(FILE *file, const char *path, vy_pilot_host *h, vy_error *err)
{
    char line[256];
    double last_time = 0.0;
    for (int line_number = 1; fgets(line, sizeof line, file) != NULL; ++line_number) {
        char *end;
        if (strlen(line) + 1 == sizeof line && line[sizeof line - 2] != '\n')
            return vy_fail(err, VY_BAD_SYNTAX, "%.150s:%d: a line has at most %d characters", path,
                           line_number, (int)sizeof line - 2);
        line[strcspn(line, "#\r\n")] = '\0';
        if (line[strspn(line, " \t")] == '\0') continue;
        const double time = strtod(line, &end);
        if (end == line || !(time >= last_time && time < 1e9))
            return vy_fail(
                err, VY_BAD_SYNTAX,
                "%.150s:%d: a line is a time in seconds, no earlier than the one before, then keys", path,
                line_number);
        last_time = time;
        for (; *end != '\0'; ++end) {
            if (*end == ' ' || *end == '\t') continue;
            if (h->script_count == SCRIPT_CAP)
                return vy_fail(err, VY_FULL, "%.150s:%d: more than %d keys", path, line_number, SCRIPT_CAP);
            if (!reserve_key(h)) return vy_fail(err, VY_NO_MEMORY, "pilot: out of memory");
            h->script[h->script_count++] = (script_key){time, *end == '_' ? ' ' : *end};
        }
    }
    return VY_OK;
}

// --- opening

static void device_path(const vy_controller_def *def, char *out, size_t capacity)
{
    const int is_absolute = def->program[0] == '/' || def->folder[0] == '\0';
    snprintf(out, capacity, "%s%s%s", is_absolute ? "" : def->folder, is_absolute ? "" : "/", def->program);
}

// js0, js1, ... have the joystick interface of Linux.
static int is_joystick(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    return strncmp(name, "js", 2) == 0 && name[2] >= '0' && name[2] <= '9';
}

int vy_pilot_is_live(const vy_controller_def *def)
{
    char path[sizeof def->folder + sizeof def->program + 2];
    struct stat info;
    if (def->kind != VY_CONTROLLER_PILOT) return 0;
    device_path(def, path, sizeof path);
    return def->program[0] == '\0' || stat(path, &info) != 0 || !S_ISREG(info.st_mode);
}

static vy_status open_device(const vy_controller_def *def, vy_pilot_host *h, vy_error *err)
{
    char path[sizeof def->folder + sizeof def->program + 2];
    struct stat info;
    device_path(def, path, sizeof path);
    if (def->program[0] == '\0') {
        h->input_fd = isatty(STDIN_FILENO) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                           : open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
        if (h->input_fd < 0)
            return vy_fail(err, VY_IO, "pilot: a keyboard needs a terminal, and there is none");
        return set_raw_terminal(h, err);
    }
    if (stat(path, &info) != 0)
        return vy_fail(err, VY_NOT_FOUND, "pilot: cannot open %.150s: %s", path, strerror(errno));
    if (S_ISREG(info.st_mode)) {
        h->device = DEVICE_SCRIPT;
        FILE *file = fopen(path, "re");
        if (file == NULL) return vy_fail(err, VY_IO, "pilot: cannot open %.150s: %s", path, strerror(errno));
        const vy_locale locale = vy_locale_enter();
        const vy_status status = read_script(file, path, h, err);
        vy_locale_leave(locale);
        fclose(file);
        return status;
    }
    if (is_joystick(path)) h->device = DEVICE_JOYSTICK;
    // A pipe is opened for reading and writing, so that it does not end when a writer closes it.
    h->input_fd =
        open(path, (S_ISFIFO(info.st_mode) ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (h->input_fd < 0) return vy_fail(err, VY_IO, "pilot: cannot open %.150s: %s", path, strerror(errno));
    return isatty(h->input_fd) ? set_raw_terminal(h, err) : VY_OK;
}

static vy_status choose_axes(const vy_plugin_start *start, vy_pilot_host *h, vy_error *err)
{
    // A gamepad: left stick yaw and climb, right stick sideways and forward.
    const struct {
        const char *name;
        int *axis, default_axis;
    } axes[] = {{"axis_yaw", &h->yaw_axis, 0},
                {"axis_vertical", &h->vertical_axis, 1},
                {"axis_strafe", &h->strafe_axis, 3},
                {"axis_forward", &h->forward_axis, 4}};
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; ++i) {
        const double number = vy_plugin_parameter(start, axes[i].name, axes[i].default_axis);
        if (!(number >= 0.0 && number < AXIS_COUNT))
            return vy_fail(err, VY_BAD_VALUE, "pilot: parameters.%s must be 0 to %d, got %g", axes[i].name,
                           AXIS_COUNT - 1, number);
        *axes[i].axis = (int)number;
    }
    return VY_OK;
}

vy_status vy_pilot_host_open(const vy_host_request *request, vy_pilot_host **out, vy_error *err)
{
    vy_pilot_host *h = calloc(1, sizeof *h);
    if (h == NULL) return vy_fail(err, VY_NO_MEMORY, "pilot: out of memory");
    h->input_fd = -1;
    vy_status status = choose_axes(&request->start, h, err);
    if (status == VY_OK) status = open_device(request->def, h, err);
    if (status != VY_OK) {
        vy_pilot_host_close(h);
        return status;
    }
    *out = h;
    return VY_OK;
}

void vy_pilot_host_close(vy_pilot_host *h)
{
    if (h == NULL) return;
    restore_terminal(h);
    if (h->input_fd >= 0) close(h->input_fd);
    free(h->script);
    free(h);
}

// --- flying

static void move_stick(vy_pilot_host *h, int stick, double value, double time)
{
    VY_ASSERT(stick >= 0 && stick < STICK_COUNT && value >= -1.0 && value <= 1.0);
    h->sticks[stick] = value;
    h->release_time[stick] = time + HOLD_SECONDS;
}

// Four numbers in percent, which hold for as long as a key does. Anything else is forgotten.
static void apply_gamepad_text(vy_pilot_host *h, double time)
{
    char *at = h->gamepad_text;
    double values[4];
    for (int i = 0; i < 4; ++i) {
        char *end;
        const long percent = strtol(at, &end, 10);
        if (end == at || percent < -100 || percent > 100) return;
        values[i] = (double)percent / 100.0;
        at = end;
    }
    if (*at != '\0') return;
    move_stick(h, STICK_YAW, values[0], time);
    move_stick(h, STICK_VERTICAL, values[1], time);
    move_stick(h, STICK_STRAFE, values[2], time);
    h->throttle = values[3] > 0.0 ? (int)(values[3] * VY_THROTTLE_STEPS + 0.5) : 0;
    h->throttle_release_time = time + HOLD_SECONDS;
}

// @return 1: the character is one of a gamepad's sticks
static int handle_gamepad_character(vy_pilot_host *h, int key, double time)
{
    if (h->gamepad_text_size == 0 && key != '(') return 0;
    if (key == ')') {
        h->gamepad_text[h->gamepad_text_size - 1] = '\0';
        h->gamepad_text_size = 0;
        apply_gamepad_text(h, time);
    } else if (h->gamepad_text_size == 0) {
        h->gamepad_text_size = 1;
    } else if (h->gamepad_text_size < (int)sizeof h->gamepad_text) {
        h->gamepad_text[h->gamepad_text_size++ - 1] = (char)key;
    } else {
        h->gamepad_text_size = 0; // too long
    }
    return 1;
}

static void handle_key(vy_pilot_host *h, int key, double time)
{
    if (h->escape_length == 0 && handle_gamepad_character(h, key, time)) return;
    if (h->escape_length > 0) { // arrows are ESC [ A to ESC [ D
        static const char keys[] = "rfeq";
        h->escape_length = h->escape_length == 1 && key == '[' ? 2 : 0;
        if (h->escape_length == 0 && key >= 'A' && key <= 'D') handle_key(h, keys[key - 'A'], time);
        return;
    }
    switch (key) {
    case '\033': h->escape_length = 1; break;
    case 'w':
    case 's':
        h->throttle += key == 'w' ? h->throttle < VY_THROTTLE_STEPS : -(h->throttle > 0);
        h->throttle_release_time = 0.0;
        break;
    case 'a': move_stick(h, STICK_STRAFE, -1.0, time); break;
    case 'd': move_stick(h, STICK_STRAFE, 1.0, time); break;
    case 'r': move_stick(h, STICK_VERTICAL, 1.0, time); break;
    case 'f': move_stick(h, STICK_VERTICAL, -1.0, time); break;
    case 'q': move_stick(h, STICK_YAW, -1.0, time); break;
    case 'e': move_stick(h, STICK_YAW, 1.0, time); break;
    case ' ':
        h->throttle = 0;
        memset(h->sticks, 0, sizeof h->sticks);
        break;
    default: break;
    }
}

static void read_keys(vy_pilot_host *h, double time)
{
    unsigned char keys[64];
    ssize_t n;
    size_t bytes_read = 0;
    while ((n = read(h->input_fd, keys, sizeof keys)) > 0) {
        bytes_read += (size_t)n;
        if (bytes_read > READ_CAP) {
            h->verdict = VY_VERDICT_FLOODED;
            return;
        }
        for (ssize_t i = 0; i < n; ++i) handle_key(h, keys[i], time);
    }
    // A closed terminal is an error; no input only means that no key was pressed.
    if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) h->verdict = VY_VERDICT_ENDED;
}

static double axis_value(const vy_pilot_host *h, int axis)
{
    VY_ASSERT(axis >= 0 && axis < AXIS_COUNT);
    const double value = h->axes[axis];
    return value > DEAD_ZONE || value < -DEAD_ZONE ? value : 0.0;
}

static void read_joystick(vy_pilot_host *h)
{
    struct js_event e;
    ssize_t n;
    size_t bytes_read = 0;
    while ((n = read(h->input_fd, &e, sizeof e)) == (ssize_t)sizeof e) {
        bytes_read += sizeof e;
        if (bytes_read > READ_CAP) {
            h->verdict = VY_VERDICT_FLOODED;
            return;
        }
        if ((e.type & ~JS_EVENT_INIT) == JS_EVENT_AXIS && e.number < AXIS_COUNT)
            h->axes[e.number] = e.value < 0 ? e.value / 32768.0 : e.value / 32767.0;
    }
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) h->verdict = VY_VERDICT_ENDED; // unplugged
    const double forward = -axis_value(h, h->forward_axis); // up is negative
    h->throttle = forward > 0.0 ? (int)(forward * VY_THROTTLE_STEPS + 0.5) : 0;
    h->sticks[STICK_STRAFE] = axis_value(h, h->strafe_axis);
    h->sticks[STICK_VERTICAL] = -axis_value(h, h->vertical_axis);
    h->sticks[STICK_YAW] = axis_value(h, h->yaw_axis);
}

void vy_pilot_host_call(void *host, const vy_samples *samples, vy_intent *intent)
{
    vy_pilot_host *h = host;
    const double time = samples->time;
    VY_ASSERT((h->device == DEVICE_SCRIPT) == (h->input_fd < 0));
    if (h->device != DEVICE_JOYSTICK) {
        // Half a step of slack: times of steps are not exact.
        for (;
             h->script_index < h->script_count && h->script[h->script_index].time <= time + 0.5 * samples->dt;
             ++h->script_index)
            handle_key(h, h->script[h->script_index].key, time);
        for (int i = 0; i < STICK_COUNT; ++i) {
            if (time >= h->release_time[i]) h->sticks[i] = 0.0;
        }
        if (h->throttle_release_time > 0.0 && time >= h->throttle_release_time) h->throttle = 0;
    }
    if (h->device == DEVICE_KEYS && h->verdict == VY_VERDICT_REPLIED) read_keys(h, time);
    if (h->device == DEVICE_JOYSTICK && h->verdict == VY_VERDICT_REPLIED) read_joystick(h);
    intent->rung = VY_RUNG_PILOT;
    VY_ASSERT(h->throttle >= 0 && h->throttle <= VY_THROTTLE_STEPS && h->script_index <= h->script_count);
    intent->throttle = h->throttle;
    intent->strafe = h->sticks[STICK_STRAFE];
    intent->vertical = h->sticks[STICK_VERTICAL];
    intent->yaw = h->sticks[STICK_YAW];
    intent->verdict = h->verdict;
    if (h->verdict == VY_VERDICT_FLOODED) intent->detail = READ_CAP;
}
