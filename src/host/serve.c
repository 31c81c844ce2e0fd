// serve.c - the controller's side of the wire, around a plug-in.
#include "base/fail.h"
#include "base/assert.h"
#include "base/real.h"
#include "host/frame.h"
#include "host/start.h"
#include "volery/host.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Returns 1, 0 at the end before the first byte, -1 on anything else.
static int read_all(int in_fd, unsigned char *out, size_t size)
{
    for (size_t received = 0; received < size;) {
        const ssize_t n = read(in_fd, out + received, size - received);
        if (n == 0) return received == 0 ? 0 : -1;
        if (n < 0 && errno != EINTR) return -1;
        if (n > 0) received += (size_t)n;
    }
    return 1;
}

static int write_all(int out_fd, const unsigned char *bytes, size_t size)
{
    for (size_t sent = 0; sent < size;) {
        const ssize_t n = write(out_fd, bytes + sent, size - sent);
        if (n < 0 && errno != EINTR) return 0;
        if (n > 0) sent += (size_t)n;
    }
    return 1;
}

// The world's first frame, into memory of its own size.
static vy_status read_start_message(int in_fd, start_message **out, vy_error *err)
{
    unsigned char head[FRAME_HEAD_SIZE];
    const size_t size = read_all(in_fd, head, sizeof head) == 1 ? vy_wire_get_size(head) : 0;
    if (size == 0 || size > START_CAP)
        return vy_fail(err, VY_DAMAGED, "serve: the first frame is none of a world's");
    char *text = malloc(size + 1);
    if (text == NULL) return vy_fail(err, VY_NO_MEMORY, "serve: out of memory");
    if (read_all(in_fd, (unsigned char *)text, size) != 1) {
        free(text);
        return vy_fail(err, VY_DAMAGED, "serve: the first frame is none of a world's");
    }
    text[size] = '\0';
    return vy_start_read(text, size, out, err);
}

static vy_status start_plugin(const vy_plugin *plugin, int in_fd, int out_fd, int *rotor_count, void **self,
                              vy_error *err)
{
    start_message *message = NULL;
    const vy_status status = read_start_message(in_fd, &message, err);
    if (status != VY_OK) return status;
    char reason[120] = "";
    *rotor_count = message->start.rotor_count;
    (void)fpu_enter(); // as in a process of its own
    *self = plugin->init(&message->start, reason, sizeof reason);
    vy_start_release(message);
    reason[sizeof reason - 1] = '\0';
    if (*self == NULL) return vy_fail(err, VY_BAD_VALUE, "serve: the plug-in refuses: %.100s", reason);
    unsigned char ready[FRAME_HEAD_SIZE + 32];
    const int length = snprintf((char *)ready + FRAME_HEAD_SIZE, 32, "volery %d", WIRE_VERSION);
    vy_wire_put_size((uint32_t)length, ready);
    if (write_all(out_fd, ready, FRAME_HEAD_SIZE + (size_t)length)) return VY_OK;
    return vy_fail(err, VY_IO, "serve: the world does not listen");
}

vy_status vy_serve(const vy_plugin *plugin, int in_fd, int out_fd, vy_error *err)
{
    void *self = NULL;
    int rotor_count = 0;
    vy_status status = start_plugin(plugin, in_fd, out_fd, &rotor_count, &self, err);
    while (status == VY_OK) {
        // Its size is known, so that one read does.
        unsigned char frame[WIRE_CAP], reply[FRAME_HEAD_SIZE + 8 * REPLY_CAP];
        size_t size = 8 * (size_t)VY_WIRE_CELLS;
        VY_ASSERT(FRAME_HEAD_SIZE + size <= sizeof frame);
        const int read_result = read_all(in_fd, frame, FRAME_HEAD_SIZE + size);
        if (read_result == 0) break; // the world has ended
        if (read_result < 0 || vy_wire_get_size(frame) != size) {
            status = vy_fail(err, VY_DAMAGED, "serve: a frame of samples is cut off or of another size");
            break;
        }
        vy_samples samples;
        vy_intent intent;
        memset(&intent, 0, sizeof intent);
        vy_wire_get_samples(frame + FRAME_HEAD_SIZE, &samples);
        (void)fpu_enter(); // a plug-in in a world gets the same
        plugin->step(self, &samples, &intent);
        size = vy_wire_put_reply(&intent, samples.tick, rotor_count, reply);
        VY_ASSERT(size <= sizeof reply);
        if (size == 0)
            status = vy_fail(err, VY_BAD_VALUE, "serve: the plug-in replied on a rung that is not known");
        else if (!write_all(out_fd, reply, size))
            break; // the world has ended
    }
    if (self != NULL && plugin->done != NULL) plugin->done(self);
    return status;
}
