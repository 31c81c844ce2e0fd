// nap_flights.h - random flights under the negligibility policy, each flown strictly as well.
#pragma once
#include "environment/environment.h"
#include "environment/nap.h"
#include "flight.h"
#include "world/world_impl.h"
#include <stdlib.h>
#include <string.h>

static inline vy_certificate certificate_of(const vy_world *world)
{
    vy_certificate c;
    assert_int_equal(vy_world_certificate(world, vy_world_body(world, 0), &c), VY_OK);
    return c;
}

static inline double scattered(random_source *r, double low, double high)
{
    return low * pow(high / low, random_in(r, 0.0, 1.0));
}

static inline vy_vec3 ball(random_source *r, double radius_max)
{
    const double size = random_in(r, 0.0, radius_max);
    return vec3_scale(size, quat_rotate(random_attitude(r), (vec3){1, 0, 0}));
}

static inline vy_vec3 scattered_vec(random_source *r, double low, double high)
{
    const double x = scattered(r, low, high), y = scattered(r, low, high), z = scattered(r, low, high);
    return (vy_vec3){x, y, z};
}

static inline int chance(random_source *r, double share) { return random_in(r, 0.0, 1.0) < share; }

static inline void random_environment(random_source *r, vy_environment_def *e)
{
    e->atmosphere.mode = (vy_atmosphere_mode)(random_bits(r) % 3);
    if (chance(r, 0.5)) e->wind.constant = ball(r, 8.0);
    if (chance(r, 0.25)) {
        e->wind.shear = (vy_shear)(1 + random_bits(r) % 3);
        e->wind.shear_speed = random_in(r, 0.0, 8.0);
        e->wind.shear_direction = random_in(r, -3.0, 3.0);
    }
    if (chance(r, 0.25)) {
        vy_gust_def *g = &e->wind.gusts[e->wind.gust_count++];
        g->velocity = ball(r, 5.0);
        g->start = random_in(r, 0.0, 0.5);
        g->rise = random_in(r, 0.1, 0.4);
        g->hold = random_in(r, 0.0, 0.3);
    }
    if (chance(r, 0.25)) e->magnetic_field = ball(r, 1e-4);
    if (chance(r, 0.1)) {
        e->planet =
            (vy_planet_def){.radius = 6378137.0, .flattening = 1.0 / 298.257223563, .rate = 7.292115e-5};
        e->gravity.mode = VY_GRAVITY_CENTRAL;
        e->gravity.body_count = 1;
        e->gravity.bodies[0] = (vy_gravity_body){3.986004418e14, {0, 0, 0}, 1.08262668e-3, 6378137.0};
        if (e->wind.gust_count > 0) { // at a place of it
            e->gravity.mode = VY_GRAVITY_UNIFORM;
            e->planet.origin =
                (vy_origin_def){.gm = VY_EARTH_GM, .latitude = 0.9, .height = 500.0, .j2 = VY_EARTH_J2};
        }
    }
    static const int periods[] = {1, 5, 10, 20, 50};
    e->nap.force_abs = scattered(r, 1e-7, 1e-1);
    e->nap.force_rel = scattered(r, 1e-6, 1e-1);
    e->nap.torque_abs = scattered(r, 1e-10, 1e-4);
    e->nap.torque_rel = scattered(r, 1e-6, 1e-1);
    e->nap.hysteresis = random_in(r, 1.1, 4.0);
    e->nap.period = 1e-3 * periods[random_bits(r) % 5];
}

// At most 30 m/s and 20 rad/s; motors a little uneven.
static inline vy_drone_def random_drone(random_source *r, const vy_environment_def *e)
{
    vy_drone_def d = quiet_drone();
    d.imu.period = d.mocap.period = 0.0;
    d.position = random_vec(r, 5.0);
    d.position.z = random_in(r, 20.0, 100.0);
    d.velocity = ball(r, 30.0);
    if (e->planet.radius > 0.0) {
        environment_model env;
        vy_environment_build(e, &env);
        const double latitude = random_in(r, -1.5, 1.5), longitude = random_in(r, -PI, PI);
        if (!env.gravity.frame.on) {
            d.position = planet_position(&env.planet, latitude, longitude, d.position.z, 0.0);
            d.velocity = vec3_add(d.velocity, vec3_cross((vec3){0, 0, e->planet.rate}, d.position));
        }
    }
    d.rate = ball(r, 20.0);
    d.attitude = random_attitude(r);
    d.controller.start.rung = VY_RUNG_MOTORS;
    const double level = random_in(r, 0.5, 0.7);
    for (int k = 0; k < 4; ++k) d.controller.start.motors[k] = level * random_in(r, 0.999, 1.001);
    vy_vehicle_def *v = &d.vehicle;
    v->drag_linear = scattered_vec(r, 1e-5, 1e-2);
    v->area = scattered(r, 1e-5, 1e-2);
    v->cd = random_in(r, 0.0, 2.0);
    v->cl = chance(r, 0.5) ? random_in(r, -1.0, 1.0) : 0.0;
    v->volume = scattered(r, 1e-7, 1e-3);
    v->pressure_centre = ball(r, chance(r, 0.5) ? 0.02 : 0.0);
    v->damping_area = scattered_vec(r, 1e-10, 1e-6);
    v->damping = scattered_vec(r, 1e-10, 1e-6);
    v->density_scaling = chance(r, 0.5);
    v->dipole = ball(r, 1e-3);
    return d;
}

// How far the strict run is from the one with the policy after 1 s: rate, angle, velocity, position.
static inline vy_certificate compare(const vy_world_def *def, const vy_drone_def *drone,
                                     const vy_disturbance_def *d, double out[4])
{
    vy_drone_state s[2];
    vy_certificate c = {0};
    for (int strict = 0; strict < 2; ++strict) {
        vy_world_def wd = *def;
        wd.environment.nap.strict = strict;
        vy_world *world = fly_in(&wd, drone);
        assert_int_equal(vy_world_add_disturbance(world, d, NULL), VY_OK);
        assert_int_equal(vy_world_advance(world, 1000), 0);
        s[strict] = state_of(world, 0);
        if (!strict) c = certificate_of(world);
        vy_world_destroy(world);
    }
    out[DEVIATION_RATE] = check_distance(s[0].rate, s[1].rate);
    out[DEVIATION_ANGLE] = check_angle(s[0].attitude, s[1].attitude);
    out[DEVIATION_VELOCITY] = check_distance(s[0].velocity, s[1].velocity);
    out[DEVIATION_POSITION] = check_distance(s[0].position, s[1].position);
    return c;
}
