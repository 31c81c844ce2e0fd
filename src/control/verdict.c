// verdict.c - the words for why a controller gave no reply.
#include "control/verdict.h"
#include "base/assert.h"
#include "base/real.h"
#include "volery/controller.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>

const char *vy_verdict_text(vy_verdict verdict)
{
    static const char *const texts[] = {
#define X(name, text) text,
        VY_VERDICT_LIST(X)
#undef X
    };
    const unsigned index = (unsigned)verdict;
    return index < sizeof texts / sizeof texts[0] ? texts[index] : "gave a verdict that is not known";
}

double vy_verdict_limit(vy_verdict verdict, const vy_controller_def *def)
{
    switch (verdict) {
    case VY_VERDICT_LATE: return def->deadline;
    case VY_VERDICT_NOT_READY: return def->boot;
    case VY_VERDICT_REFUSED: return def->firmware.patience;
    case VY_VERDICT_UNANSWERED: return def->firmware.unanswered;
    default: return 0.0;
    }
}

// Our own words: those of strsignal() depend on library and language.
static const char *signal_text(int number)
{
    switch (number) {
    case SIGSEGV: return "segmentation fault";
    case SIGABRT: return "abort";
    case SIGFPE: return "arithmetic exception";
    case SIGILL: return "illegal instruction";
    case SIGBUS: return "bus error";
    case SIGKILL: return "killed, perhaps for want of memory";
    case SIGTERM: return "terminated";
    case SIGPIPE: return "broken pipe";
    case SIGTRAP: return "trap";
    case SIGSYS: return "bad system call";
    case SIGXCPU: return "limit of CPU time";
    default: return "see signal(7)";
    }
}

static int is_printable(char c) { return c >= ' ' && c <= '~'; }

// The first line of what it wrote, in quotes; as much as `capacity` takes. 0: it is no text.
static int quote(const char *text, size_t size, char *out, size_t capacity)
{
    size_t length = 0;
    VY_ASSERT(capacity > 8);
    for (; length < size && length + 6 < capacity && is_printable(text[length]); ++length)
        out[1 + length] = text[length];
    const int is_complete =
        length == size || text[length] == '\n' || text[length] == '\r' || text[length] == '\0';
    if (length == 0 || (length < 4 && !is_complete)) return 0;
    out[0] = '\'';
    snprintf(out + 1 + length, capacity - 1 - length, is_complete ? "'" : "...'");
    return 1;
}

static void print_invalid_bytes(int32_t detail, const char *printed, char *out, size_t size)
{
    char first_bytes[5] = "", quoted[60];
    if (detail == -1) {
        snprintf(out, size, "sent bytes that are not of its protocol");
        return;
    }
    for (int i = 0; i < 4; ++i) first_bytes[i] = (char)((uint32_t)detail >> (8 * i));
    const char *text = printed != NULL && printed[0] != '\0' ? printed : first_bytes;
    if ((text == first_bytes && strlen(first_bytes) < 4) ||
        !quote(text, strlen(text), quoted, sizeof quoted)) {
        snprintf(out, size,
                 "sent something that is no reply: there is no such rung, or a status or flag that is no "
                 "whole number");
        return;
    }
    // The rest of it is not known any more.
    if (text == first_bytes && strlen(first_bytes) == 4 && is_printable(first_bytes[3]))
        snprintf(quoted, sizeof quoted, "'%s...'", first_bytes);
    snprintf(out, size, "wrote %s on stdout, which is the wire: print to stderr", quoted);
}

static void print_end(int32_t detail, char *out, size_t size)
{
    const char *hint = detail == 127   ? ": the shell has found no such program"
                       : detail == 126 ? ": the shell could not run it"
                                       : "";
    if (detail < 0)
        snprintf(out, size, "ended before the run did: it closed its end of the wire");
    else
        snprintf(out, size, "ended before the run did, with exit status %d%s", (int)detail, hint);
}

void vy_verdict_print(vy_verdict verdict, int32_t detail, double limit, const char *printed, char *out,
                      size_t size)
{
    FPU_SCOPE;
    switch (verdict) {
    case VY_VERDICT_CRASHED:
        snprintf(out, size, "crashed: signal %d, %s", (int)detail, signal_text((int)detail));
        return;
    case VY_VERDICT_LATE:
        snprintf(out, size, "did not reply within its deadline of %g s: `deadline` sets it", limit);
        return;
    case VY_VERDICT_NOT_READY:
        snprintf(out, size, "was not ready within %g s of wall clock: `boot` sets how long it may take",
                 limit);
        return;
    case VY_VERDICT_ENDED: print_end(detail, out, size); return;
    case VY_VERDICT_FLOODED:
        snprintf(out, size, "sent more than it was asked for: each frame of samples has one reply");
        return;
    case VY_VERDICT_SIZE:
        snprintf(out, size, "sent a reply of the wrong size, %d bytes: each rung has its own", (int)detail);
        return;
    case VY_VERDICT_GARBAGE: print_invalid_bytes(detail, printed, out, size); return;
    case VY_VERDICT_REFUSED:
        snprintf(out, size, "refused line %d of its script for %g s: what it printed says why", (int)detail,
                 limit);
        return;
    case VY_VERDICT_UNANSWERED:
        snprintf(
            out, size,
            "left %g %% of the packets of a second unanswered, more than %g %%: `unanswered` sets it, and "
            "`volery sitl` lets none be lost",
            0.1 * detail, 100.0 * limit);
        return;
    case VY_VERDICT_REPLIED:
    case VY_VERDICT_ABSENT: break;
    }
    snprintf(out, size, "%s", vy_verdict_text(verdict));
}
