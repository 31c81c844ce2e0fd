// environment_build.h - from declared surroundings to the constants that a step reads, over `real`.
#pragma once
#include "base/assert.h"
#include "environment/environment.h"
#include "environment/wind_grid.h"

VY_FN wind_gust wind_gust_build(const vy_gust_def *g)
{
    const wind_gust gust = {g->velocity.x, g->velocity.y, g->velocity.z, g->start, g->rise, g->rise, g->hold};
    return gust;
}

VY_FN void environment_build_wind(const vy_wind_def *def, environment_model *out)
{
    wind_params *w = &out->wind;
    real sine, cosine;
    math_sincos(real_set(def->shear_direction), &sine, &cosine);
    w->x = def->constant.x;
    w->y = def->constant.y;
    w->z = def->constant.z;
    out->constant_wind = wind_constant(w);
    w->shear = (int)def->shear;
    w->shear_x = real_lane(cosine, 0);
    w->shear_y = real_lane(sine, 0);
    w->shear_speed = def->shear_speed;
    w->shear_height = def->shear_height;
    w->shear_exponent = def->shear_exponent;
    w->shear_roughness = def->shear_roughness;
    VY_ASSERT(def->gust_count >= 0 && def->gust_count <= WIND_GUST_CAP);
    w->gust_count = def->gust_count;
    for (int i = 0; i < def->gust_count; ++i) {
        w->gusts[i] = wind_gust_build(&def->gusts[i]);
    }
    if (def->grid != NULL) w->grid = def->grid->field;
    wind_prepare(w);
    out->has_wind = w->x != 0.0 || w->y != 0.0 || w->z != 0.0 || w->shear != WIND_SHEAR_NONE ||
                    w->gust_count > 0 || def->grid != NULL || def->turbulence.wind20 > 0.0 ||
                    def->turbulence.intensity > 0.0;
}

/// The frame at a planet's origin; off without one.
VY_FN local_frame local_frame_build(const vy_planet_def *def)
{
    local_frame f;
    memset(&f, 0, sizeof f);
    const vy_origin_def *o = &def->origin;
    if (!(def->radius > 0.0 && o->gm > 0.0)) return f;
    real sine, cosine;
    math_sincos(real_set(o->latitude), &sine, &cosine);
    const double s = real_lane(sine, 0), c = real_lane(cosine, 0);
    const double a = def->radius, b = a * (1.0 - def->flattening);
    f.on = 1;
    f.sin_lat = s;
    f.cos_lat = c;
    f.radius_squared[0] = a * a;
    f.radius_squared[1] = b * b;
    f.support = real_lane(real_sqrt(real_set(a * a * (c * c) + b * b * (s * s))), 0);
    f.height = o->height;
    f.axis_distance = (a * a / f.support + o->height) * c;
    f.equator_height = (b * b / f.support + o->height) * s;
    f.rate = def->rate;
    return f;
}

/// The gravity of a planet at whose place the world is.
VY_FN void environment_build_local(const vy_planet_def *def, environment_model *out)
{
    const local_frame f = local_frame_build(def);
    VY_ASSERT(f.on); // its caller has looked
    const double north = f.sin_lat * f.axis_distance - f.cos_lat * f.equator_height;
    const double up = -(f.cos_lat * f.axis_distance + f.sin_lat * f.equator_height);
    const gravity_body planet = {def->origin.gm, 0.0, north, up, def->origin.j2, def->radius};
    out->gravity.uniform = vec3_zero();
    out->gravity.body_count = 1;
    out->gravity.bodies[0] = planet;
    out->gravity.frame = f;
}

/// Constants of a checked def.
VY_FN void environment_build(const vy_environment_def *def, environment_model *out)
{
    memset(out, 0, sizeof *out);
    const vy_gravity_def *g = &def->gravity;
    if (g->mode == VY_GRAVITY_UNIFORM) {
        out->gravity.uniform =
            vec3_make(real_set(g->uniform.x), real_set(g->uniform.y), real_set(g->uniform.z));
    } else {
        VY_ASSERT(g->body_count >= 0 && g->body_count <= GRAVITY_BODY_CAP);
        out->gravity.body_count = g->body_count;
        out->gravity.gradient = g->gradient;
        for (int i = 0; i < g->body_count; ++i) {
            const vy_gravity_body *b = &g->bodies[i];
            const gravity_body body = {b->gm, b->origin.x, b->origin.y, b->origin.z, b->j2, b->radius};
            out->gravity.bodies[i] = body;
        }
    }
    const vy_atmosphere_def *a = &def->atmosphere;
    out->air.mode = (int)a->mode;
    if (a->mode == VY_ATMOSPHERE_STANDARD) {
        out->air.pressure = a->pressure;
        out->air.temperature = a->temperature;
        out->air.density = a->pressure / (AIR_GAS_CONSTANT * a->temperature);
    }
    const vy_planet_def *p = &def->planet;
    if (p->radius > 0.0) {
        const planet_params planet = {1, p->radius, p->radius * (1.0 - p->flattening),
                                      p->flattening * (2.0 - p->flattening), p->rate};
        out->planet = planet;
        if (p->origin.gm > 0.0) environment_build_local(p, out);
    }
    environment_build_wind(&def->wind, out);
    const wind_params *w = &out->wind;
    const vy_turbulence_def *t = &def->wind.turbulence;
    out->steady = !out->planet.on && a->mode != VY_ATMOSPHERE_LAYERED && w->shear == WIND_SHEAR_NONE &&
                  w->gust_count == 0 && def->wind.grid == NULL && t->wind20 == 0.0 && t->intensity == 0.0;
    out->magnetic[0] = def->magnetic_field.x;
    out->magnetic[1] = def->magnetic_field.y;
    out->magnetic[2] = def->magnetic_field.z;
    out->radiation_pressure[0] = def->sunlight.x;
    out->radiation_pressure[1] = def->sunlight.y;
    out->radiation_pressure[2] = def->sunlight.z;
}
