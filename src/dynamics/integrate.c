// integrate.c - one step of every body, by the integrator of the set.
#include "base/assert.h"
#include "dynamics/free_step.h"
#include "base/real.h"
#include "dynamics/sleep.h"

/// Step awake bodies without joints by `step`, a constant, so that each integrator has its own loop.
#define STEP_ALL(step)                                                            \
    for (size_t n = first; n < last; ++n) {                                       \
        const uint32_t i = (uint32_t)n;                                           \
        if (!b->awake[i] || b->joints->first_joint[i]) continue;                  \
        const body_state next = step(b, i, h);                                    \
        b->previous[i] = (body_previous){b->state[i].velocity, b->state[i].rate}; \
        if (body_is_finite(&next)) {                                              \
            b->state[i] = next;                                                   \
        } else {                                                                  \
            atomic_store_explicit(&flight->not_finite, 1, memory_order_relaxed);  \
        }                                                                         \
    }

enum { MIN_PARALLEL_BODIES = 256 }; // below this, not worth waking threads

/// A step of all bodies without joints, as the threads that do it share it.
typedef struct free_flight {
    double h;              // [s]
    atomic_int not_finite; // 1: a body's motion was not finite
} free_flight;

static void step_free_range(vy_bodies *b, void *self, size_t first, size_t last)
{
    VY_ASSERT(first <= last && last <= b->slot_count && ((free_flight *)self)->h > 0.0);
    free_flight *flight = self;
    const double h = flight->h;
    switch (b->def.integrator) {
    case VY_INTEGRATOR_EULER: STEP_ALL(free_euler); break;
    case VY_INTEGRATOR_SEMI_IMPLICIT: STEP_ALL(free_semi_implicit); break;
    case VY_INTEGRATOR_RK4: STEP_ALL(free_rk4); break;
    case VY_INTEGRATOR_LIE_MIDPOINT: STEP_ALL(free_lie_midpoint); break;
    }
}

static void step_free(vy_bodies *b, double h)
{
    free_flight flight = {.h = h};
    vy_bodies_parallel_for(b, b->slot_count, MIN_PARALLEL_BODIES, step_free_range, &flight);
    if (atomic_load_explicit(&flight.not_finite, memory_order_relaxed))
        b->head->failed = VY_BODIES_NOT_FINITE;
}

uint32_t vy_bodies_step_free(vy_bodies *b, double h)
{
    step_free(b, h);
    return vy_islands_step(b, h);
}

uint32_t vy_bodies_step(vy_bodies *b)
{
    if (b->head->failed) return (uint32_t)b->head->failed;
    if (vy_bodies_prepare(b) != VY_OK) return VY_BODIES_NO_MEMORY;
    if (vy_sleep_all_asleep(b)) {
        b->head->tick += 1;
        return 0;
    }
    VY_ASSERT(!b->joints->dirty && b->count <= b->slot_count && b->slot_count <= b->body_cap);
    const uint64_t fpu_state = fpu_enter();
    const double h = b->def.dt;
    b->pose_revision += 1;
    vy_closing_begin_step(b);
    vy_break_begin_step(b);
    vy_gear_begin_step(b);
    vy_contacts_begin(b);
    uint32_t events = vy_bodies_step_free(b, h);
    events |= vy_contacts_step(b, h);
    events |= vy_break_end_step(b);
    vy_gear_end_step(b);
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (b->slots[i].kind == VY_BODY_KINEMATIC) b->state[i] = body_step_kinematic(&b->state[i], h);
        if (!b->has_loads[i]) continue;
        b->loads[i] = loads_zero();
        b->has_loads[i] = 0;
    }
    b->head->tick += 1;
    fpu_leave(fpu_state);
    return events | (uint32_t)b->head->failed;
}
