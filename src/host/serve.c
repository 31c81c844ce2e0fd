// serve.c - the controller's side of the wire, around a plug-in.
#include "base/fail.h"
#include "base/assert.h"
#include "base/real.h"
#include "host/frame.h"
#include "scenario/number.h"
#include "volery/host.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Returns 1, 0 at the end before the first byte, -1 on anything else.
static int read_all(int in, unsigned char *out, size_t size)
{
    for (size_t have = 0; have < size;) {
        const ssize_t n = read(in, out + have, size - have);
        if (n == 0) return have == 0 ? 0 : -1;
        if (n < 0 && errno != EINTR) return -1;
        if (n > 0) have += (size_t)n;
    }
    return 1;
}

static int write_all(int out, const unsigned char *bytes, size_t size)
{
    for (size_t sent = 0; sent < size;) {
        const ssize_t n = write(out, bytes + sent, size - sent);
        if (n < 0 && errno != EINTR) return 0;
        if (n > 0) sent += (size_t)n;
    }
    return 1;
}

static int read_frame(int in, unsigned char *out, size_t room, size_t *size)
{
    unsigned char head[FRAME_HEAD];
    const int got = read_all(in, head, sizeof head);
    if (got <= 0) return got;
    *size = vy_wire_size(head);
    if (*size > room) return -1;
    return *size == 0 || read_all(in, out, *size) == 1 ? 1 : -1;
}

// The value behind `"key": ` in the text that vy_wire_print_start() writes; NULL when it is not there.
static const char *value_of(const char *text, const char *key)
{
    char quoted[48];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(text, quoted);
    return at != NULL ? at + strlen(quoted) : NULL;
}

static double number_of(const char *text, const char *key)
{
    const char *at = value_of(text, key);
    return at != NULL ? strtod(at, NULL) : 0.0;
}

// A whole number of at most `maximum`; -1 for anything else.
static int uint_of(const char *text, const char *key, int maximum)
{
    const double number = number_of(text, key);
    return number >= 0.0 && number <= maximum && number == floor(number) ? (int)number : -1;
}

// The numbers of a list, from its bracket on.
static void read_numbers(const char *list, int count, double *out)
{
    for (int i = 0; i < count; ++i) {
        char *end;
        out[i] = strtod(list + 1, &end);
        list = end; // at the comma or the bracket
    }
}

// The argument of `init`, from the world's first frame. `name` and `parameters` are its memory.
static int read_start(const char *text, vy_plugin_start *start, char name[VY_NAME_CAP],
                      vy_parameter parameters[VY_PARAMETER_CAP])
{
    memset(start, 0, sizeof *start);
    const char *drone = value_of(text, "drone"), *inertia = value_of(text, "inertia");
    const char *list = value_of(text, "parameters"), *home = value_of(text, "home");
    const char *position = value_of(text, "position"), *attitude = value_of(text, "attitude");
    if (drone == NULL || inertia == NULL || list == NULL || uint_of(text, "volery", INT_MAX) != WIRE_VERSION)
        return 0;
    snprintf(name, VY_NAME_CAP, "%.*s", (int)strcspn(drone + 1, "\""), drone + 1);
    start->drone = name;
    start->dt = number_of(text, "dt");
    start->period = number_of(text, "period");
    start->mass = number_of(text, "mass");
    start->thrust_max = number_of(text, "thrust_max");
    start->rotor_count = uint_of(text, "rotor_count", VY_ROTOR_CAP);
    read_numbers(inertia, 9, &start->inertia.m[0][0]);
    double numbers[4] = {0.0};
    if (position != NULL && position < list) read_numbers(position, 3, numbers);
    start->position = (vy_vec3){numbers[0], numbers[1], numbers[2]};
    if (attitude != NULL && attitude < list) read_numbers(attitude, 4, numbers);
    start->attitude = (vy_quat){numbers[0], numbers[1], numbers[2], numbers[3]};
    start->has_home = home != NULL && home < list;
    if (start->has_home) {
        start->home_latitude = number_of(home, "latitude");
        start->home_longitude = number_of(home, "longitude");
        start->home_altitude = number_of(home, "altitude");
    }
    for (const char *at = list + 1; *at == '"' && start->parameter_count < VY_PARAMETER_CAP;) {
        vy_parameter *p = &parameters[start->parameter_count++];
        const size_t length = strcspn(at + 1, "\"");
        snprintf(p->name, sizeof p->name, "%.*s", (int)length, at + 1);
        char *end;
        p->value = strtod(at + 1 + length + 2, &end);
        at = end + strspn(end, ", ");
    }
    start->parameters = parameters;
    return start->rotor_count >= 0;
}

static vy_status begin(const vy_plugin *plugin, int in, int out, int *rotor_count, void **self, vy_error *err)
{
    unsigned char *text = malloc(START_CAP + 1);
    if (text == NULL) return vy_fail(err, VY_NO_MEMORY, "serve: out of memory");
    size_t size = 0;
    const int got = read_frame(in, text, START_CAP, &size);
    vy_plugin_start start;
    char name[VY_NAME_CAP], why[120] = "";
    vy_parameter parameters[VY_PARAMETER_CAP];
    int good = 0;
    if (got == 1) {
        text[size] = '\0';
        const vy_locale locale = vy_locale_enter();
        good = read_start((const char *)text, &start, name, parameters);
        vy_locale_leave(locale);
    }
    free(text);
    if (!good) return vy_fail(err, VY_DAMAGED, "serve: the first frame is none of a world's");
    *rotor_count = start.rotor_count;
    *self = plugin->init(&start, why, sizeof why);
    if (*self == NULL) return vy_fail(err, VY_BAD_VALUE, "serve: the plug-in refuses: %.100s", why);
    unsigned char ready[FRAME_HEAD + 32];
    const int length = snprintf((char *)ready + FRAME_HEAD, 32, "volery %d", WIRE_VERSION);
    vy_wire_put_size((uint32_t)length, ready);
    if (write_all(out, ready, FRAME_HEAD + (size_t)length)) return VY_OK;
    return vy_fail(err, VY_IO, "serve: the world does not listen");
}

vy_status vy_serve(const vy_plugin *plugin, int in, int out, vy_error *err)
{
    void *self = NULL;
    int rotor_count = 0;
    vy_status status = begin(plugin, in, out, &rotor_count, &self, err);
    while (status == VY_OK) {
        // Its size is known, so that one read does.
        unsigned char frame[4096], reply[FRAME_HEAD + 8 * REPLY_CAP];
        size_t size = 8 * (size_t)VY_WIRE_CELLS;
        VY_ASSERT(FRAME_HEAD + size <= sizeof frame);
        const int got = read_all(in, frame, FRAME_HEAD + size);
        if (got == 0) break; // the world has ended
        if (got < 0 || vy_wire_size(frame) != size) {
            status = vy_fail(err, VY_DAMAGED, "serve: a frame of samples is cut off or of another size");
            break;
        }
        vy_samples samples;
        vy_intent intent;
        memset(&intent, 0, sizeof intent);
        vy_wire_get_samples(frame + FRAME_HEAD, &samples);
        (void)fpu_enter(); // a plug-in in a world gets the same
        plugin->step(self, &samples, &intent);
        size = vy_wire_put_reply(&intent, samples.tick, rotor_count, reply);
        VY_ASSERT(size <= sizeof reply);
        if (size == 0)
            status = vy_fail(err, VY_BAD_VALUE, "serve: the plug-in replied on a rung that is not known");
        else if (!write_all(out, reply, size))
            break; // the world has ended
    }
    if (self != NULL && plugin->done != NULL) plugin->done(self);
    return status;
}
