// island_motion.c - see island_motion.h.
#include "dynamics/island_motion.h"
#include "base/assert.h"

// The inertia of a body about its own centre of mass, world axes.
static mat3 world_inertia(const vy_bodies *b, uint32_t i, const body_state *s)
{
    const mat3 r = quat_matrix(s->attitude);
    return mat3_mul(mat3_mul(r, b->params[i].inertia), mat3_transpose(r));
}

// Add a mass at a point to an inertia.
static void add_point_mass(mat3 *inertia, double mass, vec3 position)
{
    const mat3 x = mat3_cross(position), square = mat3_mul(x, x); // p x (p x w) = -(inertia of 1 kg) w
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) inertia->m[i][j] -= mass * square.m[i][j];
    }
}

rigid_motion vy_rigid_motion(const vy_bodies *b, const uint32_t *bodies, uint32_t count,
                             const body_state *states)
{
    VY_ASSERT(count > 0);
    rigid_motion motion = {.mass = 0.0};
    vec3 mass_moment = vec3_zero(), momentum = vec3_zero();
    const vec3 origin = states != NULL ? states[0].position : b->state[bodies[0]].position;
    for (uint32_t n = 0; n < count; ++n) {
        const body_state *s = states != NULL ? &states[n] : &b->state[bodies[n]];
        const double mass = b->slots[bodies[n]].mass;
        motion.mass += mass;
        mass_moment = vec3_add_scaled(mass_moment, mass, vec3_sub(s->position, origin));
        momentum = vec3_add_scaled(momentum, mass, s->velocity);
    }
    motion.center = vec3_add_scaled(origin, 1.0 / motion.mass, mass_moment);
    motion.velocity = vec3_scale(1.0 / motion.mass, momentum);
    for (uint32_t n = 0; n < count; ++n) {
        const uint32_t i = bodies[n];
        const body_state *s = states != NULL ? &states[n] : &b->state[i];
        const vec3 arm = vec3_sub(s->position, motion.center), v = vec3_sub(s->velocity, motion.velocity);
        const mat3 inertia = world_inertia(b, i, s);
        motion.angular_momentum =
            vec3_add(vec3_add_scaled(motion.angular_momentum, b->slots[i].mass, vec3_cross(arm, v)),
                     quat_rotate(s->attitude, mat3_mul_vec(b->params[i].inertia, s->rate)));
        for (int x = 0; x < 3; ++x) {
            for (int y = 0; y < 3; ++y) motion.inertia.m[x][y] += inertia.m[x][y];
        }
        add_point_mass(&motion.inertia, b->slots[i].mass, arm);
    }
    return motion;
}

double vy_kinetic_energy(const vy_bodies *b, const uint32_t *bodies, uint32_t count)
{
    double energy = 0.0;
    for (uint32_t n = 0; n < count; ++n) {
        const body_state *s = &b->state[bodies[n]];
        energy += 0.5 * (b->slots[bodies[n]].mass * vec3_dot(s->velocity, s->velocity) +
                         vec3_dot(s->rate, mat3_mul_vec(b->params[bodies[n]].inertia, s->rate)));
    }
    return energy;
}

void vy_limit_relative_motion(vy_bodies *b, const uint32_t *bodies, uint32_t count, vec3 angular_momentum,
                              double energy)
{
    const rigid_motion motion = vy_rigid_motion(b, bodies, count, NULL);
    if (!(mat3_det(motion.inertia) > 0.0)) return; // a motion that overflowed
    const mat3 inverse_inertia = mat3_inverse(motion.inertia);
    const vec3 rate = mat3_mul_vec(inverse_inertia, angular_momentum),
               old_rate = mat3_mul_vec(inverse_inertia, motion.angular_momentum);
    const double linear_energy = 0.5 * motion.mass * vec3_dot(motion.velocity, motion.velocity),
                 relative_energy = vy_kinetic_energy(b, bodies, count) -
                                   (linear_energy + 0.5 * vec3_dot(old_rate, motion.angular_momentum)),
                 available_energy = energy - (linear_energy + 0.5 * vec3_dot(rate, angular_momentum));
    const double fraction =
        relative_energy > available_energy
            ? (available_energy > 0.0 ? real_sqrt(available_energy / relative_energy) : 0.0)
            : 1.0;
    for (uint32_t n = 0; n < count; ++n) {
        body_state *s = &b->state[bodies[n]];
        const vec3 arm = vec3_sub(s->position, motion.center),
                   v = vec3_sub(vec3_sub(s->velocity, motion.velocity), vec3_cross(old_rate, arm)),
                   w = vec3_sub(quat_rotate(s->attitude, s->rate), old_rate);
        s->velocity = vec3_add(vec3_add_scaled(motion.velocity, fraction, v), vec3_cross(rate, arm));
        s->rate = quat_unrotate(s->attitude, vec3_add_scaled(rate, fraction, w));
    }
}

void vy_limit_kinetic_energy(vy_bodies *b, const uint32_t *bodies, uint32_t count, double energy)
{
    const double kinetic = vy_kinetic_energy(b, bodies, count);
    if (!(kinetic > energy)) return;
    const double scale = energy > 0.0 ? real_sqrt(energy / kinetic) : 0.0;
    for (uint32_t n = 0; n < count; ++n) {
        b->state[bodies[n]].velocity = vec3_scale(scale, b->state[bodies[n]].velocity);
        b->state[bodies[n]].rate = vec3_scale(scale, b->state[bodies[n]].rate);
    }
}
