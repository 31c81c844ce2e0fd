// potential.c - force, torque and energy of fields.
//
// The central field is MacCullagh's expansion of gravity to the second moments of the body: it pulls the near
// side more than the far side, and turns a long body along the radius.
#include "volery/potential.h"
#include "base/fpu_result.h"
#include "base/assert.h"
#include "base/real.h"
#include "base/fail.h"
#include "dynamics/bodies.h"

vy_status vy_potential_check(const vy_potential *p, vy_error *err)
{
    FPU_SCOPE;
    switch (p->kind) {
    case VY_POTENTIAL_UNIFORM:
        if (vec3_is_finite(p->uniform.gravity)) return VY_OK;
        return vy_fail(err, VY_BAD_VALUE, "a uniform potential needs finite numbers");
    case VY_POTENTIAL_CENTRAL:
        if (real_is_finite(p->central.mu) && p->central.mu > 0.0 && vec3_is_finite(p->central.centre))
            return VY_OK;
        return vy_fail(err, VY_BAD_VALUE, "a central potential needs a finite centre and mu above zero");
    case VY_POTENTIAL_SPRING:
        if (real_is_finite(p->spring.stiffness) && p->spring.stiffness >= 0.0 &&
            real_is_finite(p->spring.length) && p->spring.length >= 0.0 && vec3_is_finite(p->spring.anchor) &&
            vec3_is_finite(p->spring.point)) {
            return VY_OK;
        }
        return vy_fail(err, VY_BAD_VALUE,
                       "a spring needs stiffness and length of zero or more, and finite points");
    case VY_POTENTIAL_MAGNETIC:
        if (vec3_is_finite(p->magnetic.dipole) && vec3_is_finite(p->magnetic.field)) return VY_OK;
        return vy_fail(err, VY_BAD_VALUE, "a magnetic potential needs finite numbers");
    case VY_POTENTIAL_CUSTOM:
        if (p->custom.loads != NULL && p->custom.energy != NULL) return VY_OK;
        return vy_fail(err, VY_BAD_VALUE, "a custom potential needs both of its functions");
    case VY_POTENTIAL_NONE: break;
    }
    return vy_fail(err, VY_BAD_VALUE, "no potential of kind %d", (int)p->kind);
}

static vy_status check_and_copy(const vy_potential *p, vy_potential *out, vy_error *err)
{
    const vy_status status = vy_potential_check(p, err);
    if (status == VY_OK) *out = *p;
    return status;
}

vy_status vy_potential_uniform(vy_vec3 gravity, vy_potential *out, vy_error *err)
{
    const vy_potential p = {.kind = VY_POTENTIAL_UNIFORM, .uniform = {gravity}};
    return check_and_copy(&p, out, err);
}

vy_status vy_potential_central(double mu, vy_vec3 centre, vy_potential *out, vy_error *err)
{
    const vy_potential p = {.kind = VY_POTENTIAL_CENTRAL, .central = {mu, centre}};
    return check_and_copy(&p, out, err);
}

vy_status vy_potential_spring(double stiffness, double length, vy_vec3 anchor, vy_vec3 point,
                              vy_potential *out, vy_error *err)
{
    const vy_potential p = {.kind = VY_POTENTIAL_SPRING, .spring = {stiffness, length, anchor, point}};
    return check_and_copy(&p, out, err);
}

vy_status vy_potential_magnetic(vy_vec3 dipole, vy_vec3 field, vy_potential *out, vy_error *err)
{
    const vy_potential p = {.kind = VY_POTENTIAL_MAGNETIC, .magnetic = {dipole, field}};
    return check_and_copy(&p, out, err);
}

// ---- the central field: r from the centre to the body, s = I r in world axes

// Returns s, and sets r.
static vec3 central_moment(const vy_potential *p, const vy_potential_body *b, vec3 *r)
{
    *r = vec3_sub(b->state.position, p->central.centre);
    const vec3 local = quat_unrotate(b->state.attitude, *r);
    return quat_rotate(b->state.attitude, mat3_mul_vec(b->inertia, local));
}

static double trace(const vy_mat3 *m) { return (m->m[0][0] + m->m[1][1]) + m->m[2][2]; }

static void central_add_loads(const vy_potential *p, const vy_potential_body *b, vec3 *force, vec3 *torque)
{
    VY_ASSERT(p->central.mu > 0.0);
    vec3 r;
    const vec3 s = central_moment(p, b, &r);
    const double d2 = vec3_dot(r, r), d = real_sqrt(d2), mu = p->central.mu;
    const double k3 = mu / (d2 * d), k5 = k3 / d2;
    const double radial = 7.5 * k5 * (vec3_dot(r, s) / d2) - 1.5 * k5 * trace(&b->inertia) - k3 * b->mass;
    *force = vec3_add(*force, vec3_add_scaled(vec3_scale(radial, r), -3.0 * k5, s));
    *torque = vec3_add_scaled(*torque, 3.0 * k5, vec3_cross(r, s));
}

static double central_energy(const vy_potential *p, const vy_potential_body *b)
{
    vec3 r;
    const vec3 s = central_moment(p, b, &r);
    const double d2 = vec3_dot(r, r), d = real_sqrt(d2), mu = p->central.mu;
    return -mu * b->mass / d - 0.5 * mu / (d2 * d) * (trace(&b->inertia) - 3.0 * vec3_dot(r, s) / d2);
}

// ---- the spring: from its anchor to a point of the body

// From the anchor to the point of the body; `lever` is from its centre of mass to that point.
static vec3 spring_vector(const vy_potential *p, const vy_potential_body *b, vec3 *lever, double *length)
{
    VY_ASSERT(p->kind == VY_POTENTIAL_SPRING);
    *lever = quat_rotate(b->state.attitude, p->spring.point);
    const vec3 d = vec3_sub(vec3_add(b->state.position, *lever), p->spring.anchor);
    *length = vec3_length(d);
    return d;
}

static void spring_add_loads(const vy_potential *p, const vy_potential_body *b, vec3 *force, vec3 *torque)
{
    vec3 lever;
    double length;
    const vec3 d = spring_vector(p, b, &lever, &length);
    // Of length zero a spring has no direction; its force is zero unless it is longer at rest.
    const double pull = length > 0.0 ? p->spring.stiffness * (length - p->spring.length) / length : 0.0;
    const vec3 f = vec3_scale(-pull, d);
    *force = vec3_add(*force, f);
    *torque = vec3_add(*torque, vec3_cross(lever, f));
}

static double spring_energy(const vy_potential *p, const vy_potential_body *b)
{
    vec3 lever;
    double length;
    (void)spring_vector(p, b, &lever, &length);
    const double x = length - p->spring.length;
    return 0.5 * p->spring.stiffness * x * x;
}

void vy_potential_add_loads(const vy_potential *p, const vy_potential_body *b, vec3 *force, vec3 *torque)
{
    VY_ASSERT(p->kind > VY_POTENTIAL_NONE && p->kind <= VY_POTENTIAL_CUSTOM);
    switch (p->kind) {
    case VY_POTENTIAL_UNIFORM: *force = vec3_add_scaled(*force, b->mass, p->uniform.gravity); break;
    case VY_POTENTIAL_CENTRAL: central_add_loads(p, b, force, torque); break;
    case VY_POTENTIAL_SPRING: spring_add_loads(p, b, force, torque); break;
    case VY_POTENTIAL_MAGNETIC:
        *torque = vec3_add(*torque,
                           vec3_cross(quat_rotate(b->state.attitude, p->magnetic.dipole), p->magnetic.field));
        break;
    case VY_POTENTIAL_CUSTOM: {
        vec3 f = vec3_zero(), t = vec3_zero();
        p->custom.loads(p->custom.self, b, &f, &t);
        *force = vec3_add(*force, f);
        *torque = vec3_add(*torque, t);
        break;
    }
    case VY_POTENTIAL_NONE: break;
    }
}

vy_vec3 vy_potential_force(const vy_potential *potential, const vy_potential_body *body)
{
    FPU_SCOPE;
    vec3 force = vec3_zero(), torque = vec3_zero();
    vy_potential_add_loads(potential, body, &force, &torque);
    return force;
}

vy_vec3 vy_potential_torque(const vy_potential *potential, const vy_potential_body *body)
{
    FPU_SCOPE;
    vec3 force = vec3_zero(), torque = vec3_zero();
    vy_potential_add_loads(potential, body, &force, &torque);
    return torque;
}

static double energy_of(const vy_potential *p, const vy_potential_body *b)
{
    switch (p->kind) {
    case VY_POTENTIAL_UNIFORM: return -b->mass * vec3_dot(p->uniform.gravity, b->state.position);
    case VY_POTENTIAL_CENTRAL: return central_energy(p, b);
    case VY_POTENTIAL_SPRING: return spring_energy(p, b);
    case VY_POTENTIAL_MAGNETIC:
        return -vec3_dot(quat_rotate(b->state.attitude, p->magnetic.dipole), p->magnetic.field);
    case VY_POTENTIAL_CUSTOM: return p->custom.energy(p->custom.self, b);
    case VY_POTENTIAL_NONE: break;
    }
    return 0.0;
}

double vy_potential_energy(const vy_potential *p, const vy_potential_body *b)
{
    FPU_SCOPE;
    return fpu_result(energy_of(p, b));
}
