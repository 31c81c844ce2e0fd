// injection.c - pushes, gusts and faults that begin while the world flies.
//
// The state has them; the model's lists have one entry behind the declared ones for each, rebuilt whenever
// the state's change. So every stage, bound and report of the declared ones serves these as well.
#include "world/injection.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/finite.h"
#include "environment/environment_build.h"
#include "world/build.h"
#include "world/fault.h"
#include "world/world_def.h"
#include "world/world_impl.h"
#include <math.h>
#include <stdio.h>

#define FOREVER (UINT64_MAX / 2) // as vy_tick_at() has it

static double seconds_of(const vy_world *world, uint64_t ticks)
{
    return ticks >= FOREVER ? HUGE_VAL : (double)ticks * world->model.dt;
}

static vy_vec3 to_vec3(vec3 v) { return (vy_vec3){v.x, v.y, v.z}; }

static vy_disturbance_def disturbance_of(const vy_world *world, const injection_block *b)
{
    vy_disturbance_def def = vy_default_disturbance_def();
    def.kind = (vy_disturbance_kind)b->choice;
    def.frame = (vy_frame)b->frame;
    if (b->target > 0) def.body = vy_world_body(world, (uint32_t)b->target - 1);
    def.force = to_vec3(b->vector);
    def.torque = to_vec3(b->torque);
    def.start = seconds_of(world, b->start);
    def.duration = seconds_of(world, b->length);
    return def;
}

static vy_gust_def gust_of(const vy_world *world, const injection_block *b)
{
    return (vy_gust_def){.velocity = to_vec3(b->vector),
                         .start = seconds_of(world, b->start),
                         .rise = b->size,
                         .hold = b->frequency};
}

static vy_fault_def fault_of(const vy_world *world, const injection_block *b)
{
    vy_fault_def def = vy_default_fault_def();
    def.kind = (vy_fault_kind)b->choice;
    if (b->target > 0) def.drone = vy_world_drone(world, (uint32_t)b->target - 1);
    def.rotor = (int)b->rotor - 1;
    def.channel = (vy_channel)b->channel;
    def.size = b->size;
    def.vector = to_vec3(b->vector);
    def.frequency = b->frequency;
    def.start = seconds_of(world, b->start);
    def.duration = seconds_of(world, b->length);
    return def;
}

// A fault of the model, at `index` of its list.
static vy_status resolve_fault(const vy_world *world, const vy_fault_def *def, uint32_t index,
                               fault_model *out, vy_error *err)
{
    uint32_t slot = 0;
    const int is_single = vy_world_slot(world, def->drone, &slot);
    vy_fault_build(&world->model, def, out);
    out->index = index;
    out->first = slot;
    out->last = is_single ? slot + 1 : world->model.drone_count;
    if (out->first >= out->last) return vy_fail(err, VY_BAD_VALUE, "there is no drone for a fault");
    return vy_fault_resolve(&world->model, out, err);
}

// --- checks

static vy_status check_disturbance(const vy_world *world, const injection_block *b, vy_error *err)
{
    if (b->choice > VY_DISTURBANCE_IMPULSE || b->frame > VY_FRAME_BODY)
        return vy_fail(err, VY_BAD_VALUE, "what is injected must be a constant force or an impulse");
    const vy_disturbance_def def = disturbance_of(world, b);
    return vy_check_disturbance_def(&def, err);
}

static vy_status check_gust(const vy_world *world, const injection_block *b, vy_error *err)
{
    const vy_gust_def def = gust_of(world, b);
    return vy_check_gust_def(&def, "gust", err);
}

static vy_status check_fault(const vy_world *world, const injection_block *b, vy_error *err)
{
    if (b->choice > VY_FAULT_BATTERY || b->channel >= VY_CHANNEL_COUNT || b->rotor > VY_ROTOR_CAP ||
        b->target > world->model.drone_count)
        return vy_fail(err, VY_BAD_VALUE, "fault: a drone, kind, rotor or channel that does not exist");
    if (b->choice == VY_FAULT_SENSOR_DELAY || b->choice == VY_FAULT_COMMAND_DELAY)
        return vy_fail(err, VY_BAD_VALUE, "fault %s cannot be injected: it needs what a scenario declares",
                       vy_fault_name((vy_fault_kind)b->choice));
    const vy_fault_def def = fault_of(world, b);
    fault_model f;
    const vy_status status = vy_check_fault_def(&def, err);
    return status == VY_OK ? resolve_fault(world, &def, 0, &f, err) : status;
}

static vy_status check_injection(const vy_world *world, const injection_block *b, uint64_t tick,
                                 vy_error *err)
{
    if (b->start > tick || b->length == 0 || b->length > FOREVER || b->target > body_count(&world->model))
        return vy_fail(err, VY_BAD_VALUE, "an injection at a time or of a body that does not exist");
    switch (b->kind) {
    case INJECTION_DISTURBANCE: return check_disturbance(world, b, err);
    case INJECTION_GUST: return check_gust(world, b, err);
    case INJECTION_FAULT: return check_fault(world, b, err);
    default: return vy_fail(err, VY_BAD_VALUE, "an injection of no known kind");
    }
}

static uint32_t count_kind(const injection_block *blocks, uint32_t count, uint64_t kind)
{
    uint32_t matches = 0;
    for (uint32_t i = 0; i < count; ++i) matches += blocks[i].kind == kind;
    return matches;
}

// What the world declares of gusts: the others were injected.
static uint32_t declared_gusts(const vy_world *world)
{
    const vy_model *m = &world->model;
    return (uint32_t)m->env.wind.gust_count -
           count_kind(world->injections, m->injection_count, INJECTION_GUST);
}

vy_status vy_injection_check(const vy_world *world, const injection_block *blocks, uint32_t count,
                             uint64_t tick, vy_error *err)
{
    if (count > VY_INJECTION_CAP)
        return vy_fail(err, VY_FULL, "a world has at most %d injections at a time", VY_INJECTION_CAP);
    if (declared_gusts(world) + count_kind(blocks, count, INJECTION_GUST) > VY_GUST_CAP)
        return vy_fail(err, VY_FULL, "a world has at most %d gusts at a time", VY_GUST_CAP);
    vy_status status = VY_OK;
    for (uint32_t i = 0; i < count && status == VY_OK; ++i)
        status = check_injection(world, &blocks[i], tick, err);
    return status;
}

// --- the model

// Take the injected ones off the model's lists again.
static void remove_injected(vy_world *world)
{
    vy_model *m = &world->model;
    const injected_model *injected = &m->injected;
    m->disturbance_count -= injected->disturbance_count;
    m->fault_count -= injected->fault_count;
    m->env.wind.gust_count -= (int)injected->gust_count;
    if (injected->gust_count > 0) {
        m->env.has_wind = injected->had_wind;
        m->env.steady = injected->was_steady;
    }
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        if (m->drones[i].was_open_loop) m->params[i].nap.open_loop = 1;
        m->drones[i].was_open_loop = 0;
    }
    m->injected = (injected_model){.gust_count = 0};
}

static void build_gust(vy_world *world, const injection_block *b)
{
    vy_model *m = &world->model;
    injected_model *injected = &m->injected;
    const vy_gust_def g = gust_of(world, b);
    if (injected->gust_count++ == 0) {
        injected->had_wind = m->env.has_wind;
        injected->was_steady = m->env.steady;
    }
    VY_ASSERT(m->env.wind.gust_count < VY_GUST_CAP);
    m->env.wind.gusts[m->env.wind.gust_count++] = wind_gust_build(&g);
    m->env.has_wind = 1;
    m->env.steady = 0;
}

static void build_fault(vy_world *world, const injection_block *b)
{
    vy_model *m = &world->model;
    const vy_fault_def def = fault_of(world, b);
    fault_model *f = &m->faults[m->fault_count];
    const vy_status status = resolve_fault(world, &def, m->fault_count, f, NULL);
    VY_ASSERT(status == VY_OK); // it was checked
    (void)status;
    m->fault_count += 1;
    m->injected.fault_count += 1;
    // Faulty motors do not follow their commands, so the certificate has no bound to offer.
    for (uint32_t i = f->first; i < f->last && vy_fault_is_motor(def.kind); ++i) {
        m->drones[i].was_open_loop |= (int)m->params[i].nap.open_loop;
        m->params[i].nap.open_loop = 0;
    }
}

void vy_injection_build(vy_world *world)
{
    vy_model *m = &world->model;
    remove_injected(world);
    for (uint32_t k = 0; k < m->injection_count; ++k) {
        const injection_block *b = &world->injections[k];
        if (b->kind == INJECTION_DISTURBANCE) {
            const vy_disturbance_def def = disturbance_of(world, b);
            disturbance_model *d = &m->disturbances[m->disturbance_count];
            vy_disturbance_build(m, &def, d);
            d->index = m->disturbance_count++;
            m->injected.disturbance_count += 1;
        } else if (b->kind == INJECTION_GUST) {
            build_gust(world, b);
        } else {
            build_fault(world, b);
        }
    }
    vy_world_layout_state(world);
}

vy_status vy_injection_set(vy_world *world, const injection_block *blocks, uint32_t count, vy_error *err)
{
    vy_model *m = &world->model;
    const uint32_t disturbance_count = count_kind(blocks, count, INJECTION_DISTURBANCE),
                   fault_count = count_kind(blocks, count, INJECTION_FAULT);
    if (count == 0 && m->injection_count == 0) return VY_OK;
    VY_ASSERT(count <= VY_INJECTION_CAP);
    if (world->state_is_borrowed) return vy_fail(err, VY_BAD_STATE, "a world of a batch takes no injections");
    vy_status status = vy_world_reserve(world, CAPACITY_INJECTIONS, count, err);
    if (status == VY_OK)
        status = vy_world_reserve(
            world, CAPACITY_DISTURBANCES,
            (uint64_t)m->disturbance_count - m->injected.disturbance_count + disturbance_count, err);
    if (status == VY_OK)
        status = vy_world_reserve(world, CAPACITY_FAULTS,
                                  (uint64_t)m->fault_count - m->injected.fault_count + fault_count, err);
    if (status != VY_OK) return status;
    remove_injected(world);
    m->injection_count = count;
    vy_world_layout_state(world);
    if (count > 0) memcpy(world->injections, blocks, count * sizeof *blocks);
    vy_injection_build(world);
    return VY_OK;
}

vy_status vy_injection_adopt(vy_world *world, const injection_block *blocks, uint32_t count, vy_error *err)
{
    const vy_status status = vy_injection_set(world, blocks, count, err);
    if (status != VY_OK || world->sink.injection == NULL) return status;
    const int is_refused = world->sink.injection(world->sink.self, world) != 0;
    (void)fpu_enter(); // a listener may have changed the rounding mode
    return is_refused ? vy_fail(err, VY_IO, "something was injected, but the listener refused it") : VY_OK;
}

int vy_injection_reevaluate_nap(vy_world *world)
{
    const vy_model *m = &world->model;
    int has_begun = 0, has_evaluated = 0;
    for (uint32_t k = 0; k < m->injection_count; ++k)
        has_begun |= world->injections[k].start == world->state->tick - 1;
    for (uint32_t i = 0; has_begun && i < body_count(m); ++i)
        has_evaluated |= vy_body_reevaluate_nap(world, i);
    return has_evaluated;
}

// --- injecting

static int is_over(const injection_block *b, uint64_t tick)
{
    return b->kind != INJECTION_FAULT && tick - b->start >= b->length;
}

// One more, from now on. What is over gives way; faults stay, since they are counted.
static vy_status inject_now(vy_world *world, injection_block *b, vy_error *err)
{
    const uint64_t tick = world->state->tick;
    injection_block injections[VY_INJECTION_CAP + 1];
    uint32_t count = 0;
    if (tick == 0)
        return vy_fail(err, VY_BAD_STATE,
                       "before the first step there is nothing to inject into: declare it");
    if (world->state->failure_reason != VY_FAILURE_NONE)
        return vy_fail(err, VY_BAD_STATE, "the world has ended: nothing can be injected");
    for (uint32_t k = 0; k < world->model.injection_count; ++k) {
        if (!is_over(&world->injections[k], tick)) injections[count++] = world->injections[k];
    }
    b->start = tick;
    injections[count++] = *b;
    const vy_status status = vy_injection_check(world, injections, count, tick, err);
    return status == VY_OK ? vy_injection_adopt(world, injections, count, err) : status;
}

static uint64_t ticks_of(const vy_world *world, double duration)
{
    const uint64_t ticks = vy_tick_at(duration, world->model.dt);
    return ticks > 0 ? ticks : 1;
}

static vec3 to_cells(vy_vec3 v) { return vec3_make(v.x, v.y, v.z); }

vy_status vy_world_inject_disturbance(vy_world *world, const vy_disturbance_def *def, vy_error *err)
{
    FPU_SCOPE;
    uint32_t number = 0;
    const vy_status status = vy_check_disturbance_def(def, err);
    if (status != VY_OK) return status;
    if (def->start != 0.0) return vy_fail(err, VY_BAD_VALUE, "what is injected begins now: start must be 0");
    if (def->body.bits != 0 && !vy_world_number(world, def->body, &number))
        return vy_fail(err, VY_NOT_FOUND, "disturbance.body is not a drone or body of this world");
    injection_block b = {.kind = INJECTION_DISTURBANCE,
                         .length = ticks_of(world, def->duration),
                         .target = def->body.bits != 0 ? number + 1 : 0,
                         .choice = (uint64_t)def->kind,
                         .frame = (uint64_t)def->frame,
                         .vector = to_cells(def->force),
                         .torque = to_cells(def->torque)};
    return inject_now(world, &b, err);
}

vy_status vy_world_inject_gust(vy_world *world, const vy_gust_def *def, vy_error *err)
{
    FPU_SCOPE;
    const vy_status status = vy_check_gust_def(def, "gust", err);
    if (status != VY_OK) return status;
    if (def->start != 0.0) return vy_fail(err, VY_BAD_VALUE, "what is injected begins now: start must be 0");
    injection_block b = {.kind = INJECTION_GUST,
                         .length = ticks_of(world, 2.0 * def->rise + def->hold) + 1,
                         .vector = to_cells(def->velocity),
                         .size = def->rise,
                         .frequency = def->hold};
    if (b.length > FOREVER) b.length = FOREVER;
    return inject_now(world, &b, err);
}

vy_status vy_world_inject_fault(vy_world *world, const vy_fault_def *def, vy_error *err)
{
    FPU_SCOPE;
    uint32_t slot = 0;
    const vy_status status = vy_check_fault_def(def, err);
    if (status != VY_OK) return status;
    if (def->start != 0.0 || def->spread > 0.0 || def->every > 0.0)
        return vy_fail(err, VY_BAD_VALUE, "what is injected begins now: no start, spread or every");
    if (def->drone.bits != 0 && !vy_world_slot(world, def->drone, &slot))
        return vy_fail(err, VY_NOT_FOUND, "fault.drone is not a drone of this world");
    injection_block b = {.kind = INJECTION_FAULT,
                         .length = ticks_of(world, def->duration),
                         .target = def->drone.bits != 0 ? slot + 1 : 0,
                         .choice = (uint64_t)def->kind,
                         .rotor = (uint64_t)(def->rotor + 1),
                         .channel = (uint64_t)def->channel,
                         .vector = to_cells(def->vector),
                         .size = def->size,
                         .frequency = def->frequency};
    return inject_now(world, &b, err);
}

uint32_t vy_world_injection_count(const vy_world *world) { return world->model.injection_count; }

int vy_world_injection_text(const vy_world *world, uint32_t index, char *out, size_t size, uint32_t *number)
{
    FPU_SCOPE;
    if (index >= world->model.injection_count) return 0;
    const injection_block *b = &world->injections[index];
    char duration[40] = "for ever";
    const double span =
        b->kind == INJECTION_GUST ? 2.0 * b->size + b->frequency : seconds_of(world, b->length);
    if (b->length < FOREVER) snprintf(duration, sizeof duration, "for %.3g s", span);
    const double force = vec3_length(b->vector), torque = vec3_length(b->torque);
    const char *unit = b->choice == VY_DISTURBANCE_IMPULSE ? " s" : "";
    if (b->kind == INJECTION_GUST) {
        snprintf(out, size, "gust of %.3g m/s (%.3g, %.3g, %.3g), %s", force, b->vector.x, b->vector.y,
                 b->vector.z, duration);
    } else if (b->kind == INJECTION_FAULT) {
        snprintf(out, size, "%s %s", vy_fault_name((vy_fault_kind)b->choice), duration);
    } else if (torque > 0.0) {
        snprintf(out, size, "push of %.3g N%s and %.3g N m%s %s", force, unit, torque, unit, duration);
    } else {
        snprintf(out, size, "push of %.3g N%s (%.3g, %.3g, %.3g) %s", force, unit, b->vector.x, b->vector.y,
                 b->vector.z, duration);
    }
    *number = b->target > 0 ? (uint32_t)b->target - 1 : UINT32_MAX;
    return 1;
}
