// physics.c - the physics service: bodies, intents, and the engine behind them.
#include "volery/physics.h"
#include "base/fail.h"
#include "base/finite.h"
#include "equations/simple_engine.h"
#include <stdlib.h>

#define PHYSICS_COOKIE 0x76796c36u
#define BODY_COOKIE    0x76796c37u

typedef struct physics_body {
    double mass;
    mat3 inverse_inertia;
    body_state state;
    vec3 force, torque; // of this step
    int pushed;         // a dynamic intent came
    int led;            // a kinematic intent came: forces do not act in this step
} physics_body;

struct vy_physics {
    vy_physics_def def;
    vy_collision_fn *call;
    void *self;
    uint32_t count;
    physics_body bodies[];
};

vy_physics_def vy_default_physics_def(void)
{
    return (vy_physics_def){
        .cookie = PHYSICS_COOKIE, .engine = VY_PHYSICS_SIMPLE, .boundary = 1000.0, .body_cap = 1024};
}

vy_physics_body_def vy_default_physics_body_def(void)
{
    return (vy_physics_body_def){.cookie = BODY_COOKIE,
                                 .mass = 1.0,
                                 .inertia = mat3_diag(1.0, 1.0, 1.0),
                                 .start.attitude = quat_identity()};
}

vy_status vy_physics_create(const vy_physics_def *def, vy_physics **out, vy_error *err)
{
    *out = NULL;
    if (def->cookie != PHYSICS_COOKIE)
        return vy_fail(err, VY_BAD_VALUE, "physics: start from vy_default_physics_def()");
    if (def->engine != VY_PHYSICS_SIMPLE) return vy_fail(err, VY_BAD_VALUE, "physics.engine must be simple");
    if (!(real_is_finite(def->boundary) && def->boundary > 0.0))
        return vy_fail(err, VY_BAD_VALUE, "physics.boundary must be above 0 m, got %g", def->boundary);
    vy_physics *physics = calloc(1, sizeof *physics + def->body_cap * sizeof(physics_body));
    if (physics == NULL) return vy_fail(err, VY_NO_MEMORY, "physics: no memory for %u bodies", def->body_cap);
    physics->def = *def;
    *out = physics;
    return VY_OK;
}

void vy_physics_destroy(vy_physics *physics) { free(physics); }

// A handle: the slot plus one below, a generation above (always 1: bodies are not removed).
static physics_body *body_of(vy_physics *physics, vy_physics_id id)
{
    const uint64_t low = id.bits & 0xffffffffu;
    if (id.bits >> 32 != 1 || low == 0 || low > physics->count) return NULL;
    return &physics->bodies[low - 1];
}

static int inertia_positive(mat3 i)
{
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
            if (!real_is_finite(i.m[r][c]) || i.m[r][c] != i.m[c][r]) return 0;
        }
    }
    return i.m[0][0] > 0.0 && i.m[0][0] * i.m[1][1] - i.m[0][1] * i.m[1][0] > 0.0 && mat3_det(i) > 0.0;
}

static int attitude_sound(quat q)
{
    const double square = quat_dot(q, q);
    return square > 0.0 && real_is_finite(square);
}

vy_status vy_physics_add_dynamic(vy_physics *physics, const vy_physics_body_def *def, vy_physics_id *out,
                                 vy_error *err)
{
    const vy_body_state *s = &def->start;
    if (def->cookie != BODY_COOKIE)
        return vy_fail(err, VY_BAD_VALUE, "body: start from vy_default_physics_body_def()");
    if (!(real_is_finite(def->mass) && def->mass > 0.0))
        return vy_fail(err, VY_BAD_VALUE, "body.mass must be above 0 kg, got %g", def->mass);
    if (!inertia_positive(def->inertia))
        return vy_fail(err, VY_BAD_VALUE, "body.inertia must be symmetric and positive");
    if (!vy_all_finite(&s->position.x, 3) || !vy_all_finite(&s->velocity.x, 3) ||
        !vy_all_finite(&s->rate.x, 3) || !attitude_sound(s->attitude))
        return vy_fail(err, VY_BAD_VALUE, "body.start must be finite, its attitude of a length above 0");
    if (physics->count == physics->def.body_cap)
        return vy_fail(err, VY_FULL, "the service was made for %u bodies", physics->def.body_cap);
    const uint64_t found = fpu_enter();
    physics->bodies[physics->count++] = (physics_body){
        .mass = def->mass,
        .inverse_inertia = mat3_inverse(def->inertia),
        .state = {s->position, s->velocity, quat_normalize(s->attitude), s->rate},
    };
    fpu_leave(found);
    *out = (vy_physics_id){(uint64_t)1 << 32 | physics->count};
    return VY_OK;
}

vy_status vy_physics_add_kinematic(vy_physics *physics, const vy_physics_body_def *def, vy_physics_id *out,
                                   vy_error *err)
{
    return vy_physics_add_dynamic(physics, def, out, err);
}

void vy_physics_add_static(vy_physics *physics, const vy_physics_body_def *def)
{
    (void)physics;
    (void)def;
}

vy_status vy_physics_submit(vy_physics *physics, vy_physics_id id, const vy_move_intent *intent)
{
    physics_body *body = body_of(physics, id);
    if (body == NULL) return VY_OK;
    const uint64_t found = fpu_enter();
    vy_status status = VY_BAD_VALUE;
    if (intent->kind == VY_MOVE_DYNAMIC && vy_all_finite(&intent->force.x, 3) &&
        vy_all_finite(&intent->torque.x, 3)) {
        body->force = vec3_add(body->force, intent->force);
        body->torque = vec3_add(body->torque, intent->torque);
        body->pushed = 1;
        status = VY_OK;
    } else if (intent->kind == VY_MOVE_KINEMATIC && vy_all_finite(&intent->velocity.x, 3) &&
               attitude_sound(intent->attitude)) {
        body->state.velocity = intent->velocity;
        body->state.attitude = quat_normalize(intent->attitude);
        body->led = 1;
        status = VY_OK;
    }
    fpu_leave(found);
    return status;
}

static void step_simple(const vy_physics_def *def, double dt, physics_body *b)
{
    if (b->pushed && !b->led) simple_push(b->mass, b->inverse_inertia, b->force, b->torque, dt, &b->state);
    if (!b->led) simple_turn(dt, &b->state);
    simple_move(dt, def->boundary, &b->state);
    b->force = b->torque = vec3_zero();
    b->pushed = b->led = 0;
}

vy_status vy_physics_step(vy_physics *physics, double dt)
{
    if (!(real_is_finite(dt) && dt >= 0.0)) return VY_BAD_VALUE;
    const uint64_t found = fpu_enter();
    for (uint32_t i = 0; i < physics->count; ++i) step_simple(&physics->def, dt, &physics->bodies[i]);
    fpu_leave(found);
    return VY_OK;
}

vy_body_state vy_physics_read(const vy_physics *physics, vy_physics_id id)
{
    vy_body_state out;
    memset(&out, 0, sizeof out);
    const uint64_t low = id.bits & 0xffffffffu;
    if (id.bits >> 32 != 1 || low == 0 || low > physics->count) return out;
    const body_state *s = &physics->bodies[low - 1].state;
    return (vy_body_state){s->position, s->velocity, s->attitude, s->rate};
}

void vy_physics_on_collision(vy_physics *physics, vy_collision_fn *call, void *self)
{
    physics->call = call;
    physics->self = self;
}
