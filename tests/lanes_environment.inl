// lanes_environment.inl - the environment for the VY_LANES and LANES_ENVIRONMENT of the including file.
#include "lanes_environment.h"
#include "equations/atmosphere.h"
#include "equations/gravity.h"
#include "equations/planet.h"
#include "equations/turbulence.h"
#include "declared_wind.h"
#include <assert.h>

// Doubles alone: one layout for all lane widths.
struct lanes_world {
    double uniform[3];
    int body_count;
    gravity_body bodies[GRAVITY_BODY_CAP];
    atmosphere_params air;
    planet_params planet;
    wind_params wind;
    turbulence_params turbulence;
};

typedef struct lanes_cursor {
    double *out;
    int count;
} lanes_cursor;

VY_FN void lanes_put(lanes_cursor *c, real x)
{
    real_store(c->out + c->count * LANES_WIDEST, x);
    c->count++;
}

VY_FN void lanes_put_vec(lanes_cursor *c, vec3 v)
{
    lanes_put(c, v.x);
    lanes_put(c, v.y);
    lanes_put(c, v.z);
}

VY_FN real lanes_get(const double *in, int k) { return real_load(in + k * LANES_WIDEST); }

static void lanes_still(const struct lanes_world *w, vec3 place, real time, real angle, lanes_cursor *c)
{
    gravity_params g;
    memset(&g, 0, sizeof g);
    g.uniform = vec3_make(real_set(w->uniform[0]), real_set(w->uniform[1]), real_set(w->uniform[2]));
    g.body_count = w->body_count;
    memcpy(g.bodies, w->bodies, sizeof g.bodies);
    lanes_put_vec(c, gravity_at(&g, place));
    lanes_put(c, gravity_potential(&g, place));
    const air_state air = air_at(&w->air, place.z);
    lanes_put(c, air.temperature);
    lanes_put(c, air.pressure);
    lanes_put(c, air.density);
    lanes_put(c, air_sound_speed(air.temperature));
    lanes_put(c, air_kinetic_temperature(air.temperature, place.z));
    const vec3 far = planet_position(&w->planet, 0.5 * angle, angle, place.z, time);
    const planet_frame p = planet_locate(&w->planet, far);
    lanes_put_vec(c, far);
    lanes_put(c, p.altitude);
    lanes_put_vec(c, p.east);
    lanes_put_vec(c, p.north);
    lanes_put_vec(c, p.up);
    lanes_put(c, planet_latitude(&p));
    lanes_put(c, planet_longitude(&w->planet, far, time));
    lanes_put_vec(c, planet_ground_velocity(&w->planet, far));
}

static void lanes_moving(const struct lanes_world *w, vec3 place, real time, const double *in,
                         lanes_cursor *c)
{
    lanes_put_vec(c, wind_at(&w->wind, place, time));
    lanes_put(c, wind_speed_bound(&w->wind, place.z - 1.0, place.z + 3.0, time - 1.0, time + 2.0));
    const real speed = real_abs(lanes_get(in, 4));
    real n[2 * TURBULENCE_NORMALS], sine, cosine;
    for (int k = 0; k < 2 * TURBULENCE_NORMALS; ++k) n[k] = lanes_get(in, 5 + k);
    math_sincos(time, &sine, &cosine);
    turbulence_state s = turbulence_start(n);
    turbulence_range range;
    range.altitude_low = place.z - 1.0;
    range.altitude_high = place.z + 1.0;
    range.speed_low = speed;
    range.speed_high = speed + 2.0;
    lanes_put(c, turbulence_bound(&w->turbulence, &range, 3, &s));
    turbulence_advance(&w->turbulence, place.z, speed, n + TURBULENCE_NORMALS, &s);
    lanes_put(c, s.along);
    for (int k = 0; k < 2; ++k) {
        lanes_put(c, s.across[k]);
        lanes_put(c, s.up[k]);
    }
    lanes_put_vec(c, turbulence_velocity(&w->turbulence, place.z, cosine, sine, &s));
    const turbulence_scales scales = turbulence_scales_at(&w->turbulence, place.z);
    lanes_put(c, scales.sigma);
    lanes_put(c, scales.sigma_up);
    lanes_put(c, scales.length);
    lanes_put(c, scales.length_up);
    const turbulence_filter f = turbulence_filter_over(speed * w->turbulence.period / scales.length);
    lanes_put(c, f.decay);
    lanes_put(c, f.coupling);
    lanes_put(c, f.noise_11);
    lanes_put(c, f.noise_21);
    lanes_put(c, f.noise_22);
    lanes_put(c, wind_shear_speed(&w->wind, place.z));
}

void LANES_ENVIRONMENT(const struct lanes_world *world, const double *in, double *out)
{
    const vec3 place = vec3_make(lanes_get(in, 0), lanes_get(in, 1), lanes_get(in, 2));
    const real time = lanes_get(in, 3);
    lanes_cursor c = {out, 0};
    lanes_still(world, place, time, lanes_get(in, 4), &c);
    lanes_moving(world, place, time, in, &c);
    assert(c.count == LANES_OUT);
}
