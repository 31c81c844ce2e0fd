// event_writer.c - detects changes from step to step and writes them as events in plain text.
#include "record/event_writer.h"
#include "base/assert.h"
#include "base/fail.h"
#include "control/verdict.h"
#include "record/streams.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// What was last reported of a drone's drive, and of its filter's gate.
typedef struct reported_supervisor {
    uint64_t failsafe, handovers, lost_rotors;
    uint64_t limit_counts[VY_DRIVE_LIMIT_COUNT],
        limit_ticks[VY_DRIVE_LIMIT_COUNT]; // how often, and when last
    uint64_t rejected_counts[VY_AID_SOURCE_COUNT], rejected_ticks[VY_AID_SOURCE_COUNT]; // likewise
} reported_supervisor;

struct event_writer {
    log_output *output;
    uint16_t channel;
    display *display; // NULL: nothing for people
    int has_reported_failure;
    uint64_t *reported_effects;     // as last reported, per drone and body
    unsigned char *reported_faults; // likewise: fault by fault, whether it acts on drone k
    uint32_t fault_count;
    reported_supervisor *reported_supervisors; // likewise
    uint64_t *reported_payloads;               // likewise: carried, missed
};

static void put_event(event_writer *e, uint64_t tick, const char *kind, const char *drone, const char *text,
                      bool is_note)
{
    log_output *o = e->output;
    const uint64_t time = vy_log_time(tick, o->dt);
    vy_pb_writer w = vy_output_begin(o, e->channel, time, strlen(kind) + strlen(drone) + strlen(text) + 64);
    vy_pb_put_fixed64(&w, EVENT_TICK, tick);
    vy_pb_put_double(&w, EVENT_TIME, (double)tick * o->dt);
    vy_pb_put_string(&w, EVENT_KIND, kind);
    vy_pb_put_string(&w, EVENT_DRONE, drone);
    vy_pb_put_string(&w, EVENT_TEXT, text);
    if (is_note) vy_pb_put_uint(&w, EVENT_NOTE, 1);
    vy_output_end(o, &w);
    if (e->display != NULL && !output_failed(o)) vy_display_event(e->display, time, kind, drone, text);
}

void vy_event_writer_write(event_writer *e, uint64_t tick, const char *kind, const char *drone,
                           const char *text)
{
    put_event(e, tick, kind, drone, text, false);
}

void vy_event_writer_note(event_writer *e, uint64_t tick, const char *kind, const char *text)
{
    put_event(e, tick, kind, "", text, true);
}

void vy_event_writer_failure(event_writer *e, const vy_world *world)
{
    if (e->has_reported_failure) return;
    const vy_failure failure = vy_world_failure(world);
    char text[200];
    if (failure.reason == VY_FAILURE_NOT_FINITE) {
        snprintf(text, sizeof text, "%s is not finite", failure.what);
    } else if (failure.reason == VY_FAILURE_COMMAND) {
        snprintf(text, sizeof text, "%s is not finite, of no known rung, or releases a payload it may not",
                 failure.what);
    } else if (failure.reason == VY_FAILURE_CONTROLLER) {
        char verdict[160];
        vy_verdict_print(failure.verdict, vy_verdict_detail(failure.value), failure.limit, NULL, verdict,
                         sizeof verdict);
        snprintf(text, sizeof text, "the controller %s", verdict);
    } else {
        snprintf(text, sizeof text, "%s %.6g, allowed %.6g", failure.what, failure.value, failure.limit);
    }
    const char *name = failure.body < e->output->body_count ? e->output->names[failure.body] : "";
    vy_event_writer_write(e, failure.tick, "failure", name, text);
    e->has_reported_failure = 1;
}

void vy_event_writer_contact(event_writer *e, uint64_t tick, const vy_contact_event *contact,
                             const char *other_name)
{
    const char *name = e->output->names[contact->body];
    VY_ASSERT(contact->body >= 0 && (uint32_t)contact->body < e->output->body_count);
    const double impulse = real_sqrt(vec3_dot(contact->impulse, contact->impulse));
    char text[160];
    if (contact->phase == VY_CONTACT_END) {
        snprintf(text, sizeof text, "with %s has ended", other_name);
    } else {
        snprintf(text, sizeof text, "with %s %s at %.3g m/s, %.3g N s", other_name,
                 contact->phase == VY_CONTACT_BEGIN ? "begins" : "goes on", contact->speed + 0.0, impulse);
    }
    if (contact->phase != VY_CONTACT_PERSIST) vy_event_writer_write(e, tick, "contact", name, text);
    if (!(contact->severity >= 1.0)) return;
    snprintf(text, sizeof text, "against %s at %.3g m/s, %.3g N s: severity %.3g", other_name, contact->speed,
             impulse, contact->severity);
    vy_event_writer_write(e, tick, "crash", name, text);
}

void vy_event_writer_trigger(event_writer *e, uint64_t tick, const vy_trigger_event *trigger,
                             const char *name)
{
    VY_ASSERT(trigger->body >= 0 && (uint32_t)trigger->body < e->output->body_count);
    char text[VY_NAME_CAP + 16];
    if (trigger->phase == VY_CONTACT_PERSIST) return;
    snprintf(text, sizeof text, "%s %s", trigger->phase == VY_CONTACT_BEGIN ? "enters" : "leaves", name);
    vy_event_writer_write(e, tick, "trigger", e->output->names[trigger->body], text);
}

void vy_event_writer_joint_break(event_writer *e, uint64_t tick, const vy_joint_state *joint,
                                 const char *name)
{
    char text[VY_NAME_CAP + 64];
    snprintf(text, sizeof text, "%.*s has broken at %.6g N, %.6g N m", VY_NAME_CAP, name, joint->mean_force,
             joint->mean_torque);
    vy_event_writer_write(e, tick, "joint broken", "", text);
}

static uint64_t body_effects(const vy_world *world, uint32_t i)
{
    const uint32_t drone_count = world->model.drone_count;
    return i < drone_count ? world->drones[i].effects : world->passive[i - drone_count].effects;
}

// Decisions of the negligibility policy, when they change.
static void report_effects(event_writer *e, const vy_world *world)
{
    for (uint32_t i = 0; i < e->output->body_count; ++i) {
        const uint64_t effects = body_effects(world, i), changed = effects ^ e->reported_effects[i];
        if (changed == 0) continue;
        e->reported_effects[i] = effects;
        char text[250] = "";
        size_t length = 0;
        for (int k = 0; k < EFFECT_COUNT && length + 40 < sizeof text; ++k) {
            if ((changed >> k & 1) == 0) continue;
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s %s", length > 0 ? ", " : "",
                                       vy_effect_name(k), effects >> k & 1 ? "computed" : "neglected");
        }
        vy_event_writer_write(e, world->state->tick, "nap", e->output->names[i], text);
    }
}

// Budgets, when they break.
static void report_budgets(event_writer *e, const vy_world *world)
{
    const vy_budget_def *budget = &world->model.nap.budget;
    for (uint32_t i = 0; i < e->output->body_count; ++i) {
        const budget_block *state = &world->budgets[i];
        if (state->standing != BUDGET_EXCEEDED || state->since != world->state->tick - 1) continue;
        vy_certificate certificate;
        (void)vy_world_certificate(world, vy_world_body(world, i), &certificate);
        char text[200];
        if (certificate.bounded) {
            snprintf(text, sizeof text,
                     "budget broken: at most %.3g m and %.3g rad; allowed %.3g m and %.3g rad",
                     certificate.position, certificate.angle, budget->position, budget->attitude);
        } else {
            snprintf(text, sizeof text, "budget broken: no bound is known any more");
        }
        vy_event_writer_write(e, world->state->tick, "nap", e->output->names[i], text);
    }
}

// Faults, when they begin and end.
static void report_faults(event_writer *e, const vy_world *world)
{
    const uint32_t count = world->model.fault_count;
    VY_ASSERT(count == e->fault_count);
    for (uint32_t i = 0; i < e->output->drone_count; ++i) {
        for (uint32_t k = 0; k < count; ++k) {
            const int is_active = vy_world_fault_acts(world, vy_world_drone(world, i), k);
            unsigned char *was_active = &e->reported_faults[(size_t)k * e->output->drone_count + i];
            if (is_active == *was_active) continue;
            *was_active = (unsigned char)is_active;
            const vy_fault_def *def = &world->model.faults[k].def;
            char text[100], target[24] = "";
            if (def->kind <= VY_FAULT_MOTOR_MAX && def->rotor >= 0)
                snprintf(target, sizeof target, " of rotor %d", def->rotor);
            if (def->kind >= VY_FAULT_SENSOR_BIAS && def->kind <= VY_FAULT_SENSOR_DELAY)
                snprintf(target, sizeof target, " of %s", vy_channel_name(def->channel));
            snprintf(text, sizeof text, "%s%s %s", vy_fault_name(def->kind), target,
                     is_active ? "begins" : "ends");
            vy_event_writer_write(e, world->state->tick, "fault", e->output->names[i], text);
        }
    }
}

void vy_event_writer_injection(event_writer *e, const vy_world *world)
{
    const size_t drone_count = e->output->drone_count, new_size = drone_count * world->model.fault_count;
    char text[160];
    uint32_t number = UINT32_MAX;
    if (world->model.fault_count > e->fault_count) {
        const size_t old_size = drone_count * e->fault_count;
        unsigned char *grown = realloc(e->reported_faults, new_size + 1);
        if (grown == NULL) {
            (void)vy_fail(&e->output->error, VY_NO_MEMORY, "log: out of memory");
            return;
        }
        memset(grown + old_size, 0, new_size - old_size);
        e->reported_faults = grown;
        e->fault_count = world->model.fault_count;
    }
    const uint32_t count = vy_world_injection_count(world);
    if (!vy_world_injection_text(world, count - 1, text, sizeof text, &number)) return;
    vy_event_writer_write(e, world->state->tick, "injection",
                          number < e->output->body_count ? e->output->names[number] : "", text);
}

static void print_handover(const vy_controller_def *controller, const supervisor_block *supervisor, char *out,
                           size_t size)
{
    const vy_verdict verdict = (vy_verdict)supervisor->verdict;
    vy_verdict_print(verdict, (int32_t)(int64_t)supervisor->detail, vy_verdict_limit(verdict, controller),
                     NULL, out, size);
}

static void report_failsafe(event_writer *e, const vy_world *world, uint32_t drone,
                            const supervisor_block *supervisor)
{
    static const char *const names[] = {"none", "hold", "land", "cut"};
    VY_ASSERT(supervisor->failsafe < sizeof names / sizeof names[0]);
    reported_supervisor *reported = &e->reported_supervisors[drone];
    char text[240], verdict[160];
    if (supervisor->handovers != reported->handovers) {
        const char *name = names[supervisor->failsafe % 4];
        print_handover(&world->model.drones[drone].controller, supervisor, verdict, sizeof verdict);
        if (supervisor->cause == VY_HANDOVER_CONTROLLER)
            snprintf(text, sizeof text, "%s: the controller %s", name, verdict);
        else
            snprintf(text, sizeof text, "%s: %s", name,
                     supervisor->cause == VY_HANDOVER_COMMAND ? "the controller's reply is invalid"
                                                              : "no fresh intent within the deadline");
    } else if (supervisor->failsafe != reported->failsafe) {
        snprintf(text, sizeof text, "%s",
                 supervisor->failsafe == VY_FAILSAFE_CUT ? "landed: motors off"
                                                         : "over: a fresh intent has come");
    } else {
        return;
    }
    vy_event_writer_write(e, world->state->tick, "failsafe", e->output->names[drone], text);
}

// A counter has increased since it was last reported: an event is due if it had been still for a second.
static int is_event_due(const event_writer *e, uint64_t tick, uint64_t count, uint64_t *reported,
                        uint64_t *last_tick)
{
    if (count == *reported) return 0;
    VY_ASSERT(tick >= *last_tick);
    const int is_due = *reported == 0 || tick - *last_tick >= (uint64_t)(1.0 / e->output->dt) + 1;
    *reported = count;
    *last_tick = tick;
    return is_due;
}

// A declared drive: limits when they begin to act after a second without, the failsafe, lost rotors.
static void report_supervisors(event_writer *e, const vy_world *world)
{
    const uint64_t tick = world->state->tick;
    for (uint32_t i = 0; i < e->output->drone_count; ++i) {
        const supervisor_block *supervisor = &world->supervisors[i];
        reported_supervisor *reported = &e->reported_supervisors[i];
        char text[100];
        for (int k = 0; k < VY_DRIVE_LIMIT_COUNT; ++k) {
            if (!is_event_due(e, tick, supervisor->acted[k], &reported->limit_counts[k],
                              &reported->limit_ticks[k]))
                continue;
            snprintf(text, sizeof text, "the drive's limit of %s acts",
                     vy_drive_limit_name((vy_drive_limit)k));
            vy_event_writer_write(e, tick, "limit", e->output->names[i], text);
        }
        for (int k = 0; k < VY_ROTOR_CAP; ++k) {
            if (!((supervisor->lost & ~reported->lost_rotors) >> k & 1)) continue;
            snprintf(text, sizeof text, "rotor %d does not follow: the allocation does without it", k);
            vy_event_writer_write(e, tick, "rotor_lost", e->output->names[i], text);
        }
        report_failsafe(e, world, i, supervisor);
        reported->failsafe = supervisor->failsafe;
        reported->handovers = supervisor->handovers;
        reported->lost_rotors = supervisor->lost;
    }
}

// A branch reports changes from its first step on.
static void init_reported_supervisors(event_writer *e, const vy_world *world)
{
    for (uint32_t i = 0; i < e->output->drone_count; ++i) {
        reported_supervisor *reported = &e->reported_supervisors[i];
        vy_gate_state gate = {0};
        (void)vy_world_read_gate(world, vy_world_drone(world, i), &gate);
        memcpy(reported->rejected_counts, gate.rejected, sizeof gate.rejected);
        if (!world->model.has_supervisor || world->state->tick == 0) continue;
        const supervisor_block *supervisor = &world->supervisors[i];
        reported->failsafe = supervisor->failsafe;
        reported->handovers = supervisor->handovers;
        reported->lost_rotors = supervisor->lost;
        memcpy(reported->limit_counts, supervisor->acted, sizeof reported->limit_counts);
    }
}

static uint64_t payload_bits(const payload_block *p) { return (p->carried != PAYLOAD_FREE) | p->missed << 1; }

// Payloads, when they are attached, missed or released.
static void report_payloads(event_writer *e, const vy_world *world)
{
    for (uint32_t k = 0; k < world->model.payload_count; ++k) {
        const payload_model *model = &world->model.payloads[k];
        const payload_block *payload = &world->payloads[k];
        const uint64_t state = payload_bits(payload), changed = state ^ e->reported_payloads[k];
        e->reported_payloads[k] = state;
        if (changed == 0) continue;
        char text[VY_NAME_CAP + 40];
        snprintf(text, sizeof text, "%s %s", e->output->names[model->load],
                 changed & 2        ? "is out of reach and is not attached"
                 : payload->carried ? "is attached"
                                    : "is dropped");
        vy_event_writer_write(e, world->state->tick, "payload", e->output->names[model->carrier], text);
    }
}

// Samples that a filter rejects.
static void report_gates(event_writer *e, const vy_world *world)
{
    for (uint32_t i = 0; i < e->output->drone_count; ++i) {
        vy_gate_state gate = {0};
        reported_supervisor *reported = &e->reported_supervisors[i];
        (void)vy_world_read_gate(world, vy_world_drone(world, i), &gate);
        for (int k = 0; k < VY_AID_SOURCE_COUNT; ++k) {
            if (!is_event_due(e, world->state->tick, gate.rejected[k], &reported->rejected_counts[k],
                              &reported->rejected_ticks[k]))
                continue;
            char text[64];
            snprintf(text, sizeof text, "samples of %s are rejected", vy_aid_source_name((vy_aid_source)k));
            vy_event_writer_write(e, world->state->tick, "gate", e->output->names[i], text);
        }
    }
}

void vy_event_writer_step(event_writer *e, const vy_world *world)
{
    const vy_model *m = &world->model;
    VY_ASSERT(world->state->tick > 0 && m->nap_period > 0 && e->output->body_count == body_count(m));
    const int may_change_effects =
        m->collides || m->payload_count > 0 || m->injection_count > 0; // after which the policy looks again
    if (may_change_effects || (world->state->tick - 1) % m->nap_period == 0) report_effects(e, world);
    if (m->nap.budget.duration > 0.0) report_budgets(e, world);
    if (m->fault_count > 0) report_faults(e, world);
    if (m->payload_count > 0) report_payloads(e, world);
    if (m->has_supervisor) report_supervisors(e, world);
    if (m->gate_count > 0) report_gates(e, world);
}

vy_status vy_event_writer_open(log_output *output, const vy_world *world, event_writer **out, vy_error *err)
{
    *out = NULL;
    const vy_model *m = &world->model;
    event_writer *e = calloc(1, sizeof *e);
    if (e == NULL) return vy_fail(err, VY_NO_MEMORY, "log: out of memory");
    e->output = output;
    e->fault_count = m->fault_count;
    e->reported_effects = calloc(body_count(m) + 1u, sizeof *e->reported_effects);
    e->reported_faults = calloc((size_t)m->drone_count * m->fault_count + 1u, sizeof *e->reported_faults);
    e->reported_supervisors = calloc(m->drone_count + 1u, sizeof *e->reported_supervisors);
    e->reported_payloads = calloc(m->payload_count + 1u, sizeof *e->reported_payloads);
    vy_status status = VY_NO_MEMORY;
    if (e->reported_effects != NULL && e->reported_faults != NULL && e->reported_supervisors != NULL &&
        e->reported_payloads != NULL)
        status = vy_output_add_message_channel(output, TOPIC_EVENTS, &vy_message_event, &e->channel, err);
    else
        (void)vy_fail(err, status, "log: out of memory");
    if (status != VY_OK) {
        vy_event_writer_close(e);
        return status;
    }
    for (uint32_t i = 0; i < body_count(m); ++i) e->reported_effects[i] = body_effects(world, i);
    for (uint32_t k = 0; k < m->payload_count; ++k)
        e->reported_payloads[k] = payload_bits(&world->payloads[k]);
    init_reported_supervisors(e, world);
    *out = e;
    return VY_OK;
}

void vy_event_writer_set_display(event_writer *e, display *d) { e->display = d; }

void vy_event_writer_close(event_writer *e)
{
    if (e == NULL) return;
    free(e->reported_payloads);
    free(e->reported_supervisors);
    free(e->reported_faults);
    free(e->reported_effects);
    free(e);
}
