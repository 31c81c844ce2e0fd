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
typedef struct supervisor_note {
    uint64_t failsafe, handovers, lost;
    uint64_t acted[VY_DRIVE_LIMIT_COUNT], last[VY_DRIVE_LIMIT_COUNT];           // how often, and when last
    uint64_t rejected[VY_AID_SOURCE_COUNT], last_rejected[VY_AID_SOURCE_COUNT]; // likewise
} supervisor_note;

struct event_writer {
    log_output *output;
    uint16_t channel;
    display *display; // NULL: nothing for people
    int failure_noted;
    uint64_t *effects;     // as last noted, per drone and body
    unsigned char *faults; // likewise: fault by fault, whether it acts on drone k
    uint32_t fault_count;
    supervisor_note *supervisors; // likewise
    uint64_t *payloads;           // likewise: carried, missed
};

static void put_event(event_writer *e, uint64_t tick, const char *kind, const char *drone, const char *text,
                      bool note)
{
    log_output *o = e->output;
    const uint64_t time = vy_log_time(tick, o->dt);
    vy_pb_writer w = vy_output_begin(o, e->channel, time, strlen(kind) + strlen(drone) + strlen(text) + 64);
    vy_pb_put_fixed64(&w, EVENT_TICK, tick);
    vy_pb_put_double(&w, EVENT_TIME, (double)tick * o->dt);
    vy_pb_put_string(&w, EVENT_KIND, kind);
    vy_pb_put_string(&w, EVENT_DRONE, drone);
    vy_pb_put_string(&w, EVENT_TEXT, text);
    if (note) vy_pb_put_uint(&w, EVENT_NOTE, 1);
    vy_output_end(o, &w);
    if (e->display != NULL && !output_failed(o)) vy_display_event(e->display, time, kind, drone, text);
}

void vy_event_writer_put(event_writer *e, uint64_t tick, const char *kind, const char *drone,
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
    if (e->failure_noted) return;
    const vy_failure f = vy_world_failure(world);
    char text[200];
    if (f.reason == VY_FAILURE_NOT_FINITE) {
        snprintf(text, sizeof text, "%s is not finite", f.what);
    } else if (f.reason == VY_FAILURE_COMMAND) {
        snprintf(text, sizeof text, "%s is not finite, of no known rung, or releases a payload it may not",
                 f.what);
    } else if (f.reason == VY_FAILURE_CONTROLLER) {
        char verdict[160];
        vy_verdict_print(f.verdict, (int32_t)f.value, f.limit, NULL, verdict, sizeof verdict);
        snprintf(text, sizeof text, "the controller %s", verdict);
    } else {
        snprintf(text, sizeof text, "%s %.6g, allowed %.6g", f.what, f.value, f.limit);
    }
    const char *name = f.body < e->output->body_count ? e->output->names[f.body] : "";
    vy_event_writer_put(e, f.tick, "failure", name, text);
    e->failure_noted = 1;
}

void vy_event_writer_contact(event_writer *e, uint64_t tick, const vy_contact_event *contact,
                             const char *other)
{
    const char *name = e->output->names[contact->body];
    VY_ASSERT(contact->body >= 0 && (uint32_t)contact->body < e->output->body_count);
    const double impulse = real_sqrt(vec3_dot(contact->impulse, contact->impulse));
    char text[160];
    if (contact->phase == VY_CONTACT_END) {
        snprintf(text, sizeof text, "with %s has ended", other);
    } else {
        snprintf(text, sizeof text, "with %s %s at %.3g m/s, %.3g N s", other,
                 contact->phase == VY_CONTACT_BEGIN ? "begins" : "goes on", contact->speed + 0.0, impulse);
    }
    if (contact->phase != VY_CONTACT_PERSIST) vy_event_writer_put(e, tick, "contact", name, text);
    if (!(contact->severity >= 1.0)) return;
    snprintf(text, sizeof text, "against %s at %.3g m/s, %.3g N s: severity %.3g", other, contact->speed,
             impulse, contact->severity);
    vy_event_writer_put(e, tick, "crash", name, text);
}

void vy_event_writer_trigger(event_writer *e, uint64_t tick, const vy_trigger_event *trigger,
                             const char *name)
{
    VY_ASSERT(trigger->body >= 0 && (uint32_t)trigger->body < e->output->body_count);
    char text[VY_NAME_CAP + 16];
    if (trigger->phase == VY_CONTACT_PERSIST) return;
    snprintf(text, sizeof text, "%s %s", trigger->phase == VY_CONTACT_BEGIN ? "enters" : "leaves", name);
    vy_event_writer_put(e, tick, "trigger", e->output->names[trigger->body], text);
}

void vy_event_writer_break(event_writer *e, uint64_t tick, const vy_joint_state *joint, const char *name)
{
    char text[VY_NAME_CAP + 64];
    snprintf(text, sizeof text, "%.*s has broken at %.6g N, %.6g N m", VY_NAME_CAP, name, joint->mean_force,
             joint->mean_torque);
    vy_event_writer_put(e, tick, "joint broken", "", text);
}

static uint64_t body_effects(const vy_world *world, uint32_t i)
{
    const uint32_t drones = world->model.drone_count;
    return i < drones ? world->drones[i].effects : world->passive[i - drones].effects;
}

// Decisions of the negligibility policy, when they change.
static void note_effects(event_writer *e, const vy_world *world)
{
    for (uint32_t i = 0; i < e->output->body_count; ++i) {
        const uint64_t effects = body_effects(world, i), change = effects ^ e->effects[i];
        if (change == 0) continue;
        e->effects[i] = effects;
        char text[250] = "";
        size_t n = 0;
        for (int k = 0; k < EFFECT_COUNT && n + 40 < sizeof text; ++k) {
            if ((change >> k & 1) == 0) continue;
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %s", n > 0 ? ", " : "", vy_effect_name(k),
                                  effects >> k & 1 ? "computed" : "neglected");
        }
        vy_event_writer_put(e, world->state->tick, "nap", e->output->names[i], text);
    }
}

// Budgets, when they break.
static void note_budgets(event_writer *e, const vy_world *world)
{
    const vy_budget_def *budget = &world->model.nap.budget;
    for (uint32_t i = 0; i < e->output->body_count; ++i) {
        const budget_block *b = &world->budgets[i];
        if (b->standing != BUDGET_EXCEEDED || b->since != world->state->tick - 1) continue;
        vy_certificate c;
        (void)vy_world_certificate(world, vy_world_body(world, i), &c);
        char text[200];
        if (c.bounded) {
            snprintf(text, sizeof text,
                     "budget broken: at most %.3g m and %.3g rad; allowed %.3g m and %.3g rad", c.position,
                     c.angle, budget->position, budget->attitude);
        } else {
            snprintf(text, sizeof text, "budget broken: no bound is known any more");
        }
        vy_event_writer_put(e, world->state->tick, "nap", e->output->names[i], text);
    }
}

// Faults, when they begin and end.
static void note_faults(event_writer *e, const vy_world *world)
{
    const uint32_t count = world->model.fault_count;
    VY_ASSERT(count == e->fault_count);
    for (uint32_t i = 0; i < e->output->drone_count; ++i) {
        for (uint32_t k = 0; k < count; ++k) {
            const int acts = vy_world_fault_acts(world, vy_world_drone(world, i), k);
            unsigned char *before = &e->faults[(size_t)k * e->output->drone_count + i];
            if (acts == *before) continue;
            *before = (unsigned char)acts;
            const vy_fault_def *def = &world->model.faults[k].def;
            char text[100], which[24] = "";
            if (def->kind <= VY_FAULT_MOTOR_MAX && def->rotor >= 0)
                snprintf(which, sizeof which, " of rotor %d", def->rotor);
            if (def->kind >= VY_FAULT_SENSOR_BIAS && def->kind <= VY_FAULT_SENSOR_DELAY)
                snprintf(which, sizeof which, " of %s", vy_channel_name(def->channel));
            snprintf(text, sizeof text, "%s%s %s", vy_fault_name(def->kind), which, acts ? "begins" : "ends");
            vy_event_writer_put(e, world->state->tick, "fault", e->output->names[i], text);
        }
    }
}

void vy_event_writer_injection(event_writer *e, const vy_world *world)
{
    const size_t drones = e->output->drone_count, size = drones * world->model.fault_count;
    char text[160];
    uint32_t number = UINT32_MAX;
    if (world->model.fault_count > e->fault_count) {
        const size_t before = drones * e->fault_count;
        unsigned char *grown = realloc(e->faults, size + 1);
        if (grown == NULL) {
            (void)vy_fail(&e->output->error, VY_NO_MEMORY, "log: out of memory");
            return;
        }
        memset(grown + before, 0, size - before);
        e->faults = grown;
        e->fault_count = world->model.fault_count;
    }
    const uint32_t count = vy_world_injection_count(world);
    if (!vy_world_injection_text(world, count - 1, text, sizeof text, &number)) return;
    vy_event_writer_put(e, world->state->tick, "injection",
                        number < e->output->body_count ? e->output->names[number] : "", text);
}

static void print_handover(const vy_controller_def *c, const supervisor_block *g, char *out, size_t size)
{
    const vy_verdict verdict = (vy_verdict)g->verdict;
    vy_verdict_print(verdict, (int32_t)(int64_t)g->detail, vy_verdict_limit(verdict, c), NULL, out, size);
}

static void note_failsafe(event_writer *e, const vy_world *world, uint32_t drone, const supervisor_block *g)
{
    static const char *const names[] = {"none", "hold", "land", "cut"};
    VY_ASSERT(g->failsafe < sizeof names / sizeof names[0]);
    supervisor_note *n = &e->supervisors[drone];
    char text[240], verdict[160];
    if (g->handovers != n->handovers) {
        const char *name = names[g->failsafe % 4];
        print_handover(&world->model.drones[drone].controller, g, verdict, sizeof verdict);
        if (g->cause == VY_HANDOVER_CONTROLLER)
            snprintf(text, sizeof text, "%s: the controller %s", name, verdict);
        else
            snprintf(text, sizeof text, "%s: %s", name,
                     g->cause == VY_HANDOVER_COMMAND ? "the controller's reply is invalid"
                                                     : "no fresh intent within the deadline");
    } else if (g->failsafe != n->failsafe) {
        snprintf(text, sizeof text, "%s",
                 g->failsafe == VY_FAILSAFE_CUT ? "landed: motors off" : "over: a fresh intent has come");
    } else {
        return;
    }
    vy_event_writer_put(e, world->state->tick, "failsafe", e->output->names[drone], text);
}

// A counter has increased since it was last reported: an event is due if it had been still for a second.
static int increased(const event_writer *e, uint64_t tick, uint64_t count, uint64_t *reported, uint64_t *last)
{
    if (count == *reported) return 0;
    VY_ASSERT(tick >= *last);
    const int begins = *reported == 0 || tick - *last >= (uint64_t)(1.0 / e->output->dt) + 1;
    *reported = count;
    *last = tick;
    return begins;
}

// A declared drive: limits when they begin to act after a second without, the failsafe, lost rotors.
static void note_supervisors(event_writer *e, const vy_world *world)
{
    const uint64_t tick = world->state->tick;
    for (uint32_t i = 0; i < e->output->drone_count; ++i) {
        const supervisor_block *g = &world->supervisors[i];
        supervisor_note *n = &e->supervisors[i];
        char text[100];
        for (int k = 0; k < VY_DRIVE_LIMIT_COUNT; ++k) {
            if (!increased(e, tick, g->acted[k], &n->acted[k], &n->last[k])) continue;
            snprintf(text, sizeof text, "the drive's limit of %s acts",
                     vy_drive_limit_name((vy_drive_limit)k));
            vy_event_writer_put(e, tick, "limit", e->output->names[i], text);
        }
        for (int k = 0; k < VY_ROTOR_CAP; ++k) {
            if (!((g->lost & ~n->lost) >> k & 1)) continue;
            snprintf(text, sizeof text, "rotor %d does not follow: the allocation does without it", k);
            vy_event_writer_put(e, tick, "rotor_lost", e->output->names[i], text);
        }
        note_failsafe(e, world, i, g);
        n->failsafe = g->failsafe;
        n->handovers = g->handovers;
        n->lost = g->lost;
    }
}

// A branch reports changes from its first step on.
static void start_supervisors(event_writer *e, const vy_world *world)
{
    for (uint32_t i = 0; i < e->output->drone_count; ++i) {
        supervisor_note *n = &e->supervisors[i];
        vy_gate_state gate = {0};
        (void)vy_world_read_gate(world, vy_world_drone(world, i), &gate);
        memcpy(n->rejected, gate.rejected, sizeof gate.rejected);
        if (!world->model.has_supervisor || world->state->tick == 0) continue;
        const supervisor_block *g = &world->supervisors[i];
        n->failsafe = g->failsafe;
        n->handovers = g->handovers;
        n->lost = g->lost;
        memcpy(n->acted, g->acted, sizeof n->acted);
    }
}

static uint64_t payload_word(const payload_block *p) { return (p->carried != PAYLOAD_FREE) | p->missed << 1; }

// Payloads, when they are attached, missed or released.
static void note_payloads(event_writer *e, const vy_world *world)
{
    for (uint32_t k = 0; k < world->model.payload_count; ++k) {
        const payload_model *p = &world->model.payloads[k];
        const payload_block *payload = &world->payloads[k];
        const uint64_t state = payload_word(payload), change = state ^ e->payloads[k];
        e->payloads[k] = state;
        if (change == 0) continue;
        char text[VY_NAME_CAP + 40];
        snprintf(text, sizeof text, "%s %s", e->output->names[p->load],
                 change & 2         ? "is out of reach and is not attached"
                 : payload->carried ? "is attached"
                                    : "is dropped");
        vy_event_writer_put(e, world->state->tick, "payload", e->output->names[p->carrier], text);
    }
}

// Samples that a filter rejects.
static void note_gates(event_writer *e, const vy_world *world)
{
    for (uint32_t i = 0; i < e->output->drone_count; ++i) {
        vy_gate_state g = {0};
        supervisor_note *n = &e->supervisors[i];
        (void)vy_world_read_gate(world, vy_world_drone(world, i), &g);
        for (int k = 0; k < VY_AID_SOURCE_COUNT; ++k) {
            if (!increased(e, world->state->tick, g.rejected[k], &n->rejected[k], &n->last_rejected[k]))
                continue;
            char text[64];
            snprintf(text, sizeof text, "samples of %s are rejected", vy_aid_source_name((vy_aid_source)k));
            vy_event_writer_put(e, world->state->tick, "gate", e->output->names[i], text);
        }
    }
}

void vy_event_writer_step(event_writer *e, const vy_world *world)
{
    const vy_model *m = &world->model;
    VY_ASSERT(world->state->tick > 0 && m->nap_period > 0 && e->output->body_count == body_count(m));
    const int may_change_effects =
        m->collides || m->payload_count > 0 || m->injection_count > 0; // after which the policy looks again
    if (may_change_effects || (world->state->tick - 1) % m->nap_period == 0) note_effects(e, world);
    if (m->nap.budget.duration > 0.0) note_budgets(e, world);
    if (m->fault_count > 0) note_faults(e, world);
    if (m->payload_count > 0) note_payloads(e, world);
    if (m->has_supervisor) note_supervisors(e, world);
    if (m->gate_count > 0) note_gates(e, world);
}

vy_status vy_event_writer_open(log_output *output, const vy_world *world, event_writer **out, vy_error *err)
{
    *out = NULL;
    const vy_model *m = &world->model;
    event_writer *e = calloc(1, sizeof *e);
    if (e == NULL) return vy_fail(err, VY_NO_MEMORY, "log: out of memory");
    e->output = output;
    e->fault_count = m->fault_count;
    e->effects = calloc(body_count(m) + 1u, sizeof *e->effects);
    e->faults = calloc((size_t)m->drone_count * m->fault_count + 1u, sizeof *e->faults);
    e->supervisors = calloc(m->drone_count + 1u, sizeof *e->supervisors);
    e->payloads = calloc(m->payload_count + 1u, sizeof *e->payloads);
    vy_status status = VY_NO_MEMORY;
    if (e->effects != NULL && e->faults != NULL && e->supervisors != NULL && e->payloads != NULL)
        status = vy_output_message(output, TOPIC_EVENTS, &vy_message_event, &e->channel, err);
    else
        (void)vy_fail(err, status, "log: out of memory");
    if (status != VY_OK) {
        vy_event_writer_close(e);
        return status;
    }
    for (uint32_t i = 0; i < body_count(m); ++i) e->effects[i] = body_effects(world, i);
    for (uint32_t k = 0; k < m->payload_count; ++k) e->payloads[k] = payload_word(&world->payloads[k]);
    start_supervisors(e, world);
    *out = e;
    return VY_OK;
}

void vy_event_writer_show(event_writer *e, display *shown) { e->display = shown; }

void vy_event_writer_close(event_writer *e)
{
    if (e == NULL) return;
    free(e->payloads);
    free(e->supervisors);
    free(e->faults);
    free(e->effects);
    free(e);
}
