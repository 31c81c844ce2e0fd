// ground_state.c - a drone or body as seen from the ground below it.
#include "volery/ground.h"
#include "base/assert.h"
#include "world/supervisor.h"
#include "world/world_impl.h"

#define TWO_PI 6.283185307179586

// The attitude in east-north-up as the angles of aviation.
static void set_angles(mat3 r, vy_ground_state *g)
{
    g->heading = math_atan2(r.m[0][0], r.m[1][0]);
    g->pitch = math_asin(real_clamp(r.m[2][0], -1.0, 1.0));
    g->roll = math_atan2(r.m[2][1], r.m[2][2]);
}

// Tilt and yaw from these angles.
static void set_tilt(vy_ground_state *g)
{
    double sin_pitch, cos_pitch, sin_roll, cos_roll;
    math_sincos(g->pitch, &sin_pitch, &cos_pitch);
    math_sincos(g->roll, &sin_roll, &cos_roll);
    g->tilt = math_atan2(real_sqrt(sin_pitch * sin_pitch * (cos_roll * cos_roll) + sin_roll * sin_roll),
                         cos_pitch * cos_roll);
    const double yaw = 0.25 * TWO_PI - g->heading;
    g->yaw = yaw - TWO_PI * real_round(yaw / TWO_PI);
}

static void read_planet(const vy_world *world, const body_state *b, vy_ground_state *g)
{
    const double time = (double)world->state->tick * world->model.dt;
    const vy_geodetic geodetic =
        vy_geodetic_of(&world->model.planet, time, b->position, b->velocity, b->attitude);
    g->latitude = geodetic.latitude;
    g->longitude = geodetic.longitude;
    g->altitude = geodetic.altitude;
    g->velocity = vec3_make(geodetic.velocity.y, geodetic.velocity.x, -geodetic.velocity.z);
    g->heading = geodetic.yaw;
    g->pitch = geodetic.pitch;
    g->roll = geodetic.roll;
    set_tilt(g);
}

static void read_flat(const body_state *b, vy_ground_state *g)
{
    const quat q = b->attitude;
    g->altitude = b->position.z;
    g->velocity = b->velocity;
    set_angles(quat_matrix(q), g);
    // The angle of the rotation that is left when the heading is taken out; exact for small angles too.
    g->tilt = 2.0 * math_atan2(real_sqrt(q.x * q.x + q.y * q.y), real_sqrt(q.w * q.w + q.z * q.z));
    g->yaw = math_atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z));
}

static double air_speed(const vy_world *world, uint32_t number, const body_state *b)
{
    const vy_model *m = &world->model;
    const vec3 gust =
        number < m->drone_count ? world->drones[number].gust : world->passive[number - m->drone_count].gust;
    const held_inputs held = {.turbulence = gust};
    const double time = (double)world->state->tick * m->dt;
    return vec3_length(air_sample(&m->env, &held, b, time, EFFECT_BIT(wind)).flow);
}

vy_status vy_world_read_ground(const vy_world *world, uint32_t number, vy_ground_state *out)
{
    FPU_SCOPE;
    const vy_model *m = &world->model;
    if (number >= body_count(m)) return VY_NOT_FOUND;
    const body_state *b = body_at(world, number);
    vy_ground_state g;
    memset(&g, 0, sizeof g);
    if (m->env.planet.on) {
        read_planet(world, b, &g);
    } else {
        read_flat(b, &g);
    }
    const ground_probe ground = vy_world_ground(world);
    g.height = height_at(&m->env, b->position);
    if (ground.height != NULL) (void)ground.height(ground.self, b->position, &g.height);
    const double east = g.velocity.x, north = g.velocity.y, track = math_atan2(east, north);
    g.ground_speed = real_sqrt(east * east + north * north);
    g.climb = g.velocity.z;
    g.track = track < 0.0 ? track + TWO_PI : track;
    g.air_speed = air_speed(world, number, b);
    *out = g;
    return VY_OK;
}
