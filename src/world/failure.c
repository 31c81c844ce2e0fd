// failure.c - why a world ended, in words.
#include "volery/world.h"
#include "base/real.h"
#include <stdio.h>
#include <string.h>

typedef struct words {
    const char *reason, *unit;
} words;

static words words_of(vy_failure_reason reason)
{
    switch (reason) {
    case VY_FAILURE_NONE: return (words){NULL, ""};
    case VY_FAILURE_NOT_FINITE: return (words){"not_finite", ""};
    case VY_FAILURE_COMMAND: return (words){"command", ""};
    case VY_FAILURE_TILT: return (words){"tilt", "rad"};
    case VY_FAILURE_RATE: return (words){"rate", "rad/s"};
    case VY_FAILURE_SPEED: return (words){"speed", "m/s"};
    case VY_FAILURE_HEIGHT: return (words){"height", "m"};
    case VY_FAILURE_DISTANCE: return (words){"distance", "m"};
    case VY_FAILURE_CONTROLLER: return (words){"controller", ""};
    case VY_FAILURE_CRASH: return (words){"crash", ""};
    case VY_FAILURE_FALL: return (words){"fall", "m/s"};
    case VY_FAILURE_GROUND: return (words){"ground", "m"};
    case VY_FAILURE_FENCE: return (words){"geofence", "m"};
    }
    return (words){"unknown", ""};
}

const char *vy_failure_word(vy_failure_reason reason) { return words_of(reason).reason; }

void vy_failure_print(const vy_failure *failure, const char *drone, char *out, size_t size)
{
    FPU_SCOPE;
    const vy_failure *e = failure;
    const words w = words_of(e->reason);
    switch (e->reason) {
    case VY_FAILURE_NONE: snprintf(out, size, "the world has not ended"); return;
    case VY_FAILURE_NOT_FINITE:
        snprintf(out, size, "at %.3f s the state of %s was no longer finite: %s", e->time, drone, e->what);
        return;
    case VY_FAILURE_COMMAND:
        snprintf(out, size, "at %.3f s the controller of %s gave a reply that is no command", e->time, drone);
        return;
    case VY_FAILURE_CONTROLLER:
        snprintf(out, size, "at %.3f s the controller of %s %s (%.0f)", e->time, drone, e->what, e->value);
        return;
    case VY_FAILURE_CRASH: {
        const char *unit = strcmp(e->what, "impulse") == 0 ? "N s" : "m/s";
        snprintf(out, size, "at %.3f s %s crashed: the %s of a contact was %.4g %s, its limit is %.4g %s",
                 e->time, drone, e->what, e->value, unit, e->limit, unit);
        return;
    }
    case VY_FAILURE_GROUND:
        snprintf(out, size, "at %.3f s the lowest point of %s was %.4g m below the ground", e->time, drone,
                 -e->value);
        return;
    case VY_FAILURE_FENCE:
        snprintf(out, size, "at %.3f s %s was %.4g m outside of its geofence", e->time, drone, e->value);
        return;
    default:
        snprintf(out, size, "at %.3f s the %s of %s was %.4g %s, %s its limit of %.4g %s", e->time, w.reason,
                 drone, e->value, w.unit, e->value > e->limit ? "above" : "below", e->limit, w.unit);
    }
}
