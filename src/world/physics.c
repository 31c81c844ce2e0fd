// physics.c - the physics service: bodies, intents, and the engine behind them.
#include "volery/physics.h"
#include "base/assert.h"
#include "base/real.h"
#include "base/fail.h"
#include "base/finite.h"
#include "equations/simple_engine.h"
#include "world/physics_impl.h"
#include <stdlib.h>

#define PHYSICS_COOKIE 0x76796c36u
#define BODY_COOKIE    0x76796c37u

struct vy_physics {
    vy_physics_def def;
    vy_collision_fn *on_collision; // called for each collision of a step, or NULL
    void *self;                    // its argument
    rigid_engine *rigid;           // NULL: `simple`
    uint32_t count, capacity;
    physics_body *bodies;
};

vy_physics_def vy_default_physics_def(void)
{
    return (vy_physics_def){.cookie = PHYSICS_COOKIE,
                            .engine = VY_PHYSICS_SIMPLE,
                            .boundary = 1000.0,
                            .contacts = vy_default_contacts_def()};
}

vy_physics_body_def vy_default_physics_body_def(void)
{
    vy_physics_body_def def = {.cookie = BODY_COOKIE,
                               .mass = 1.0,
                               .inertia = mat3_diag(1.0, 1.0, 1.0),
                               .start.attitude = quat_identity(),
                               .solid = vy_default_collider_def()};
    def.solid.kind = VY_COLLIDER_SPHERE;
    def.solid.radius = 0.1;
    return def;
}

vy_status vy_physics_create(const vy_physics_def *def, vy_physics **out, vy_error *err)
{
    FPU_SCOPE;
    *out = NULL;
    if (def->cookie != PHYSICS_COOKIE)
        return vy_fail(err, VY_BAD_VALUE, "physics: start from vy_default_physics_def()");
    if (def->engine != VY_PHYSICS_SIMPLE && def->engine != VY_PHYSICS_RIGID)
        return vy_fail(err, VY_BAD_VALUE, "physics.engine must be simple or rigid");
    if (!(real_is_finite(def->boundary) && def->boundary > 0.0))
        return vy_fail(err, VY_BAD_VALUE, "physics.boundary must be above 0 m, got %g", def->boundary);
    vy_physics *physics = calloc(1, sizeof *physics);
    if (physics == NULL) return vy_fail(err, VY_NO_MEMORY, "physics: no memory");
    physics->def = *def;
    vy_status status = VY_OK;
    if (def->engine == VY_PHYSICS_RIGID) status = vy_rigid_create(def, &physics->rigid, err);
    if (status == VY_OK)
        *out = physics;
    else
        free(physics);
    return status;
}

void vy_physics_destroy(vy_physics *physics)
{
    if (physics == NULL) return;
    vy_rigid_destroy(physics->rigid);
    free(physics->bodies);
    free(physics);
}

// A handle: the slot plus one below, a generation above (always 1: bodies are not removed).
static physics_body *body_of(vy_physics *physics, vy_physics_id id)
{
    const uint64_t slot_plus_1 = id.bits & 0xffffffffu;
    if (id.bits >> 32 != 1 || slot_plus_1 == 0 || slot_plus_1 > physics->count) return NULL;
    return &physics->bodies[slot_plus_1 - 1];
}

static int is_inertia_positive(mat3 i)
{
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
            if (!real_is_finite(i.m[r][c]) || i.m[r][c] != i.m[c][r]) return 0;
        }
    }
    return i.m[0][0] > 0.0 && i.m[0][0] * i.m[1][1] - i.m[0][1] * i.m[1][0] > 0.0 && mat3_det(i) > 0.0;
}

static int is_attitude_valid(quat q)
{
    const double square = quat_dot(q, q);
    return square > 0.0 && real_is_finite(square);
}

static vy_status check_body(const vy_physics_body_def *def, vy_error *err)
{
    const vy_body_state *s = &def->start;
    if (def->cookie != BODY_COOKIE)
        return vy_fail(err, VY_BAD_VALUE, "body: start from vy_default_physics_body_def()");
    if (!(real_is_finite(def->mass) && def->mass > 0.0))
        return vy_fail(err, VY_BAD_VALUE, "body.mass must be above 0 kg, got %g", def->mass);
    if (!is_inertia_positive(def->inertia))
        return vy_fail(err, VY_BAD_VALUE, "body.inertia must be symmetric and positive");
    if (!vy_all_bounded(&s->position.x, 3) || !vy_all_bounded(&s->velocity.x, 3) ||
        !vy_all_bounded(&s->rate.x, 3) || !is_attitude_valid(s->attitude))
        return vy_fail(err, VY_BAD_VALUE, "body.start must be finite, its attitude of a length above 0");
    return VY_OK;
}

static vy_status add_body(vy_physics *physics, const vy_physics_body_def *def, vy_body_kind kind,
                          vy_physics_id *out, vy_error *err)
{
    const vy_body_state *s = &def->start;
    vy_status status = check_body(def, err);
    if (status != VY_OK) return status;
    if (physics->count == physics->capacity) {
        const size_t grown = grown_capacity(physics->capacity, (size_t)physics->capacity + 16u);
        physics_body *bodies = realloc(physics->bodies, grown * sizeof *bodies);
        if (bodies == NULL) return vy_fail(err, VY_NO_MEMORY, "physics: no memory for %zu bodies", grown);
        physics->bodies = bodies;
        physics->capacity = (uint32_t)grown;
    }
    const uint64_t fpu_mode_before = fpu_enter();
    if (physics->rigid != NULL) status = vy_rigid_add(physics->rigid, def, kind, physics->count + 1, err);
    if (status != VY_OK) {
        fpu_leave(fpu_mode_before);
        return status;
    }
    VY_ASSERT(physics->count < physics->capacity && out != NULL);
    physics->bodies[physics->count++] = (physics_body){
        .mass = def->mass,
        .inverse_inertia = mat3_inverse(def->inertia),
        .state = {s->position, s->velocity, quat_normalize(s->attitude), s->rate},
    };
    fpu_leave(fpu_mode_before);
    *out = (vy_physics_id){(uint64_t)1 << 32 | physics->count};
    return VY_OK;
}

vy_status vy_physics_add_dynamic(vy_physics *physics, const vy_physics_body_def *def, vy_physics_id *out,
                                 vy_error *err)
{
    FPU_SCOPE;
    return add_body(physics, def, VY_BODY_DYNAMIC, out, err);
}

vy_status vy_physics_add_kinematic(vy_physics *physics, const vy_physics_body_def *def, vy_physics_id *out,
                                   vy_error *err)
{
    FPU_SCOPE;
    return add_body(physics, def, VY_BODY_KINEMATIC, out, err);
}

vy_status vy_physics_add_static(vy_physics *physics, const vy_physics_body_def *def, vy_error *err)
{
    FPU_SCOPE;
    if (physics->rigid == NULL) return VY_OK;
    const vy_status status = check_body(def, err);
    return status == VY_OK ? vy_rigid_add(physics->rigid, def, VY_BODY_STATIC, 0, err) : status;
}

vy_status vy_physics_submit(vy_physics *physics, vy_physics_id id, const vy_move_intent *intent)
{
    FPU_SCOPE;
    physics_body *body = body_of(physics, id);
    if (body == NULL) return VY_OK;
    vy_status status = VY_BAD_VALUE;
    if (intent->kind == VY_MOVE_DYNAMIC && vy_all_bounded(&intent->force.x, 3) &&
        vy_all_bounded(&intent->torque.x, 3)) {
        body->force = vec3_add(body->force, intent->force);
        body->torque = vec3_add(body->torque, intent->torque);
        body->has_force = 1;
        status = VY_OK;
    } else if (intent->kind == VY_MOVE_KINEMATIC && vy_all_bounded(&intent->velocity.x, 3) &&
               is_attitude_valid(intent->attitude)) {
        body->state.velocity = intent->velocity;
        body->state.attitude = quat_normalize(intent->attitude);
        body->is_kinematic = 1;
        status = VY_OK;
    }
    return status;
}

static void step_simple(const vy_physics_def *def, double dt, physics_body *body)
{
    VY_ASSERT(body->mass > 0.0 && dt >= 0.0);
    if (body->has_force && !body->is_kinematic)
        simple_accelerate(body->mass, body->inverse_inertia, body->force, body->torque, dt, &body->state);
    if (!body->is_kinematic) simple_rotate(dt, &body->state);
    simple_move(dt, def->boundary, &body->state);
    body->force = body->torque = vec3_zero();
    body->has_force = body->is_kinematic = 0;
}

vy_status vy_physics_step(vy_physics *physics, double dt)
{
    FPU_SCOPE;
    if (!(real_is_finite(dt) && dt >= 0.0)) return VY_BAD_VALUE;
    vy_status status = VY_OK;
    if (physics->rigid != NULL) {
        status = vy_rigid_step(physics->rigid, dt, physics->count, physics->bodies);
    } else {
        for (uint32_t i = 0; i < physics->count; ++i) step_simple(&physics->def, dt, &physics->bodies[i]);
    }
    vy_collision_event event;
    uint32_t next = 0;
    while (dt > 0.0 && physics->on_collision != NULL && physics->rigid != NULL &&
           vy_rigid_next_event(physics->rigid, &next, &event))
        physics->on_collision(physics->self, &event);
    return status;
}

vy_body_state vy_physics_read(const vy_physics *physics, vy_physics_id id)
{
    vy_body_state out;
    memset(&out, 0, sizeof out);
    const uint64_t slot_plus_1 = id.bits & 0xffffffffu;
    if (id.bits >> 32 != 1 || slot_plus_1 == 0 || slot_plus_1 > physics->count) return out;
    const body_state *s = &physics->bodies[slot_plus_1 - 1].state;
    return (vy_body_state){s->position, s->velocity, s->attitude, s->rate};
}

void vy_physics_on_collision(vy_physics *physics, vy_collision_fn *call, void *self)
{
    physics->on_collision = call;
    physics->self = self;
}
