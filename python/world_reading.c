// world_reading.c - what a world's sensors, contacts and steps say, as flat functions for Python's ctypes.
#include "binding.h"
#include "volery/host.h"
#include <stdio.h>
#include <string.h>

_Static_assert(VY_EVENT_CLAMPED == 1 && VY_EVENT_FAILED == 2 && VY_EVENT_SINK == 4 &&
                   VY_EVENT_DIVERGED == 8 && VY_EVENT_REDUNDANT == 16 && VY_EVENT_CONFLICT == 32 &&
                   VY_EVENT_CONTACT == 64 && VY_EVENT_CRASH == 128 && VY_EVENT_TIME_DROPPED == 512 &&
                   VY_EVENT_TRIGGER == 1024 && VY_EVENT_JOINT_BROKEN == 2048,
               "as volery/world.py has them");

int scenario_joint_count(const vy_scenario *s) { return s->joint_count; }
const char *scenario_joint_name(const vy_scenario *s, int joint) { return s->joints[joint].name; }
int scenario_obstacle_count(const vy_scenario *s) { return s->obstacle_count; }
const char *scenario_obstacle_name(const vy_scenario *s, int obstacle)
{
    return vy_scenario_obstacle_name(s, (uint32_t)obstacle);
}

// The fields of samples: "NAME COUNT WHOLE ...".
const char *sample_fields(void)
{
    static char text[4096];
    size_t used = 0;
    int count;
    const vy_sample_field *field = vy_sample_fields(&count);
    for (const vy_sample_field *end = field + count; field < end; ++field)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s %d %d ", field->block,
                                 field->block[0] != '\0' ? "." : "", field->name, field->count,
                                 field->type == VY_SAMPLE_TICK);
    return text;
}

// What a drone's controller sees: the values of all fields, one after the other.
void world_samples(locked_world *w, uint32_t drone, double *out)
{
    vy_drone_state state;
    const vy_world *world = world_enter(w);
    const vy_status status = vy_world_read_drone(world, vy_world_drone(world, drone), &state);
    world_leave(w);
    if (status != VY_OK) return;
    int count;
    const vy_sample_field *field = vy_sample_fields(&count);
    for (const vy_sample_field *end = field + count; field < end; ++field) {
        uint64_t tick;
        memcpy(&tick, (const char *)&state.samples + field->offset, sizeof tick);
        memcpy(out, (const char *)&state.samples + field->offset, 8 * (size_t)field->count);
        if (field->type == VY_SAMPLE_TICK) *out = (double)tick;
        out += field->count;
    }
}

typedef struct event_row {
    int32_t body, other, obstacle, phase, points, pad;
    vy_vec3 point, normal, impulse;
    double speed, severity;
} event_row;

_Static_assert(sizeof(event_row) == 112, "as volery/world.py has it");

/// Contacts of the last step, if `capacity` is enough for them. Returns how many there are.
uint32_t world_contacts(locked_world *w, event_row *out, uint32_t capacity)
{
    const vy_world *world = world_enter(w);
    const uint32_t count = vy_world_contact_count(world);
    for (uint32_t i = 0; i < count && count <= capacity; ++i) {
        vy_contact_event event;
        if (vy_world_contact(world, i, &event) != VY_OK) continue;
        out[i] =
            (event_row){event.body,  event.other,  event.obstacle, (int32_t)event.phase, event.points,  0,
                        event.point, event.normal, event.impulse,  event.speed,          event.severity};
    }
    world_leave(w);
    return count;
}
