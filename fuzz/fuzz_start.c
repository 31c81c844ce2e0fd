// fuzz_start.c - any bytes as the start message, the world's first frame to a controller's process, and as
// the frames of samples behind it, read by the controller's side of the wire. Oracles: the sanitizers; what
// is no message is refused with a sentence; one that is taken, printed again, reads as the same; the
// controller's side ends with a status and replies to no more frames than it got.
#define _GNU_SOURCE
#include "host/frame.h"
#include "host/start.h"
#include "mutate_yaml.h"
#include "scenario/schema.h"
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// libfyaml 0.7.12 loses a kilobyte over some unfinished quoted texts; what we lose ourselves still counts.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfyaml\n"; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PRINT_ONE_IN = 4, SERVE_ONE_IN = 4 }; // inputs, of those that have no samples

static void check(int condition)
{
    if (!condition) abort();
}

// JSON is YAML, too.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    return yaml_mutate(data, size, max_size, seed, &vy_vehicle_table);
}

static char *copy_text(const uint8_t *data, size_t size)
{
    char *text = calloc(1, size + 1);
    check(text != NULL);
    if (size > 0) memcpy(text, data, size);
    return text;
}

static void check_print(const start_message *message)
{
    vy_text printed = {0}, printed_again = {0};
    start_message *reread = NULL;
    vy_error err = {0};
    vy_start_print(&message->start, &message->drone, &printed);
    char *text = vy_text_take(&printed);
    check(text != NULL);
    const size_t length = strlen(text);
    const vy_status status = vy_start_read(copy_text((uint8_t *)text, length), length, &reread, &err);
    check(status == VY_OK);
    vy_start_print(&reread->start, &reread->drone, &printed_again);
    char *text_again = vy_text_take(&printed_again);
    check(text_again != NULL && strcmp(text, text_again) == 0);
    free(text);
    free(text_again);
    vy_start_release(reread);
}

// --- the controller's side

static int calls;

static void *init_controller(const vy_plugin_start *start, char *why, size_t size)
{
    (void)why;
    (void)size;
    check(start->rotor_count >= 0 && start->rotor_count <= VY_ROTOR_CAP && start->drone != NULL);
    return &calls;
}

static void step_controller(void *self, const vy_samples *samples, vy_intent *out)
{
    *(int *)self += 1;
    out->rung = (vy_rung)(samples->tick % 7);
    out->thrust = samples->time;
}

// The message, then the bytes behind it as frames of samples.
static void serve(const uint8_t *data, size_t start_size, const uint8_t *samples, size_t size)
{
    const vy_plugin plugin = {.init = init_controller, .step = step_controller};
    const int in = memfd_create("in", 0), out = memfd_create("out", 0);
    unsigned char head[FRAME_HEAD_SIZE];
    vy_error err = {0};
    vy_wire_put_size((uint32_t)start_size, head);
    check(in >= 0 && out >= 0 && write(in, head, sizeof head) == (ssize_t)sizeof head);
    check(write(in, data, start_size) == (ssize_t)start_size && write(in, samples, size) == (ssize_t)size);
    check(lseek(in, 0, SEEK_SET) == 0);
    calls = 0;
    const vy_status status = vy_serve(&plugin, in, out, &err);
    check(status == VY_OK || err.text[0] != '\0');
    check((size_t)calls <= size / (FRAME_HEAD_SIZE + 8 * VY_WIRE_CELLS));
    close(in);
    close(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *separator = size > 0 ? memchr(data, 0, size) : NULL; // frames of samples follow
    const size_t start_size = separator != NULL ? (size_t)(separator - data) : size;
    start_message *message = NULL;
    vy_error err = {0};
    const vy_status status = vy_start_read(copy_text(data, start_size), start_size, &message, &err);
    check((status == VY_OK) == (message != NULL));
    check(status == VY_OK || err.text[0] != '\0');
    if (message == NULL) return 0;
    const int is_served = separator != NULL || is_one_in(SERVE_ONE_IN, data, size);
    if (is_one_in(PRINT_ONE_IN, data, size)) check_print(message);
    vy_start_release(message);
    if (is_served)
        serve(data, start_size, separator != NULL ? separator + 1 : data,
              separator != NULL ? size - start_size - 1 : 0);
    return 0;
}
