// failure.c - texts for why a world ended.
#include "volery/world.h"
#include "base/real.h"
#include "control/verdict.h"
#include <stdio.h>
#include <string.h>

typedef struct failure_text {
    const char *reason, *unit;
} failure_text;

static failure_text failure_text_of(vy_failure_reason reason)
{
    switch (reason) {
    case VY_FAILURE_NONE: return (failure_text){NULL, ""};
    case VY_FAILURE_NOT_FINITE: return (failure_text){"not_finite", ""};
    case VY_FAILURE_COMMAND: return (failure_text){"command", ""};
    case VY_FAILURE_TILT: return (failure_text){"tilt", "rad"};
    case VY_FAILURE_RATE: return (failure_text){"rate", "rad/s"};
    case VY_FAILURE_SPEED: return (failure_text){"speed", "m/s"};
    case VY_FAILURE_HEIGHT: return (failure_text){"height", "m"};
    case VY_FAILURE_DISTANCE: return (failure_text){"distance", "m"};
    case VY_FAILURE_CONTROLLER: return (failure_text){"controller", ""};
    case VY_FAILURE_CRASH: return (failure_text){"crash", ""};
    case VY_FAILURE_FALL: return (failure_text){"fall", "m/s"};
    case VY_FAILURE_GROUND: return (failure_text){"ground", "m"};
    case VY_FAILURE_FENCE: return (failure_text){"geofence", "m"};
    case VY_FAILURE_NO_MEMORY: return (failure_text){"no_memory", ""};
    }
    return (failure_text){"unknown", ""};
}

const char *vy_failure_name(vy_failure_reason reason) { return failure_text_of(reason).reason; }

void vy_failure_print(const vy_failure *failure, const char *name, char *out, size_t size)
{
    FPU_SCOPE;
    const failure_text words = failure_text_of(failure->reason);
    char verdict[160];
    switch (failure->reason) {
    case VY_FAILURE_NONE: snprintf(out, size, "the world has not ended"); return;
    case VY_FAILURE_NOT_FINITE:
        snprintf(out, size, "at %.3f s the state of %s was no longer finite: %s", failure->time, name,
                 failure->what);
        return;
    case VY_FAILURE_COMMAND:
        snprintf(out, size, "at %.3f s the controller of %s gave an invalid reply", failure->time, name);
        return;
    case VY_FAILURE_CONTROLLER:
        vy_verdict_print(failure->verdict, vy_verdict_detail(failure->value), failure->limit, failure->output,
                         verdict, sizeof verdict);
        snprintf(out, size, "at %.3f s the controller of %s %s", failure->time, name, verdict);
        return;
    case VY_FAILURE_CRASH: {
        const char *unit = strcmp(failure->what, "impulse") == 0 ? "N s" : "m/s";
        snprintf(out, size, "at %.3f s %s crashed: the %s of a contact was %.4g %s, its limit is %.4g %s",
                 failure->time, name, failure->what, failure->value, unit, failure->limit, unit);
        return;
    }
    case VY_FAILURE_GROUND:
        snprintf(out, size, "at %.3f s the lowest point of %s was %.4g m below the ground", failure->time,
                 name, -failure->value);
        return;
    case VY_FAILURE_NO_MEMORY:
        snprintf(out, size, "at %.3f s there was no memory for all contacts", failure->time);
        return;
    case VY_FAILURE_FENCE:
        snprintf(out, size, "at %.3f s %s was %.4g m outside of its geofence", failure->time, name,
                 failure->value);
        return;
    default:
        snprintf(out, size, "at %.3f s the %s of %s was %.4g %s, %s its limit of %.4g %s", failure->time,
                 words.reason, name, failure->value, words.unit,
                 failure->value > failure->limit ? "above" : "below", failure->limit, words.unit);
    }
}
