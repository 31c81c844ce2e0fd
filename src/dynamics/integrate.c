// integrate.c - one step of every body, by the integrator of the set.
#include "base/math.h"
#include "dynamics/bodies.h"
#include "dynamics/free_step.h"

const char *vy_integrator_name(vy_integrator integrator)
{
    switch (integrator) {
    case VY_INTEGRATOR_EULER: return "euler";
    case VY_INTEGRATOR_SEMI_IMPLICIT: return "semi-implicit";
    case VY_INTEGRATOR_RK4: return "rk4";
    case VY_INTEGRATOR_LIE_MIDPOINT: return "lie-midpoint";
    }
    return NULL;
}

int vy_integrator_order(vy_integrator integrator)
{
    switch (integrator) {
    case VY_INTEGRATOR_EULER: return 1;
    case VY_INTEGRATOR_SEMI_IMPLICIT: return 1;
    case VY_INTEGRATOR_RK4: return 4;
    case VY_INTEGRATOR_LIE_MIDPOINT: return 2;
    }
    return 0;
}

/// A body that is driven: straight on, and turning at a constant rate.
static body_state coast(const body_state *s, double h)
{
    body_state n = *s;
    n.position = vec3_add_scaled(s->position, h, s->velocity);
    const double rate = vec3_length(s->rate);
    if (rate == 0.0) return n;
    double sine, cosine;
    math_sincos(0.5 * h * rate, &sine, &cosine);
    const vec3 u = vec3_scale(sine / rate, s->rate);
    n.attitude = quat_normalize(quat_mul(s->attitude, quat_make(cosine, u.x, u.y, u.z)));
    return n;
}

/// Step every dynamic body by `step`; a constant, so that each caller gets a loop of its own.
#define STEP_ALL(step)                                                        \
    for (uint32_t i = 0; i < b->limit; ++i) {                                 \
        if (!body_is_dynamic(b, i)) continue;                                 \
        const body_state n = step(b, i, h);                                   \
        b->before[i] = (body_before){b->state[i].velocity, b->state[i].rate}; \
        if (body_is_finite(&n)) {                                             \
            b->state[i] = n;                                                  \
        } else {                                                              \
            b->head->failed = 1;                                              \
        }                                                                     \
    }

static void step_free(vy_bodies *b, double h)
{
    switch (b->def.integrator) {
    case VY_INTEGRATOR_EULER: STEP_ALL(free_euler); break;
    case VY_INTEGRATOR_SEMI_IMPLICIT: STEP_ALL(free_semi_implicit); break;
    case VY_INTEGRATOR_RK4: STEP_ALL(free_rk4); break;
    case VY_INTEGRATOR_LIE_MIDPOINT: STEP_ALL(free_lie_midpoint); break;
    }
}

uint32_t vy_bodies_step(vy_bodies *b)
{
    if (b->head->failed) return VY_BODIES_NOT_FINITE;
    const uint64_t found = fpu_enter();
    const double h = b->def.dt;
    step_free(b, h);
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (b->slots[i].kind == VY_BODY_KINEMATIC) b->state[i] = coast(&b->state[i], h);
        if (!b->loaded[i]) continue;
        b->loads[i] = loads_zero();
        b->loaded[i] = 0;
    }
    b->head->tick += 1;
    fpu_leave(found);
    return b->head->failed ? VY_BODIES_NOT_FINITE : 0;
}
