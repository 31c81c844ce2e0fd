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
    wind_params *wind = &out->wind;
    real sine, cosine;
    math_sincos(real_set(def->shear_direction), &sine, &cosine);
    wind->x = def->constant.x;
    wind->y = def->constant.y;
    wind->z = def->constant.z;
    out->constant_wind = wind_constant(wind);
    wind->shear = (int)def->shear;
    wind->shear_x = real_lane(cosine, 0);
    wind->shear_y = real_lane(sine, 0);
    wind->shear_speed = def->shear_speed;
    wind->shear_height = def->shear_height;
    wind->shear_exponent = def->shear_exponent;
    wind->shear_roughness = def->shear_roughness;
    VY_ASSERT(def->gust_count >= 0 && def->gust_count <= WIND_GUST_CAP);
    wind->gust_count = def->gust_count;
    for (int i = 0; i < def->gust_count; ++i) {
        wind->gusts[i] = wind_gust_build(&def->gusts[i]);
    }
    if (def->grid != NULL) wind->grid = def->grid->field;
    wind_prepare(wind);
    out->has_wind = wind->x != 0.0 || wind->y != 0.0 || wind->z != 0.0 || wind->shear != WIND_SHEAR_NONE ||
                    wind->gust_count > 0 || def->grid != NULL || def->turbulence.wind20 > 0.0 ||
                    def->turbulence.intensity > 0.0;
}

/// The frame at a planet's origin; off without one.
VY_FN local_frame local_frame_build(const vy_planet_def *def)
{
    local_frame frame;
    memset(&frame, 0, sizeof frame);
    const vy_origin_def *origin = &def->origin;
    if (!(def->radius > 0.0 && origin->gm > 0.0)) return frame;
    real sine, cosine;
    math_sincos(real_set(origin->latitude), &sine, &cosine);
    const double s = real_lane(sine, 0), c = real_lane(cosine, 0);
    const double a = def->radius, b = a * (1.0 - def->flattening);
    frame.on = 1;
    frame.sin_lat = s;
    frame.cos_lat = c;
    frame.radius_squared[0] = a * a;
    frame.radius_squared[1] = b * b;
    frame.support = real_lane(real_sqrt(real_set(a * a * (c * c) + b * b * (s * s))), 0);
    frame.height = origin->height;
    frame.axis_distance = (a * a / frame.support + origin->height) * c;
    frame.equator_height = (b * b / frame.support + origin->height) * s;
    frame.rate = def->rate;
    return frame;
}

/// The gravity of a planet at whose place the world is.
VY_FN void environment_build_local(const vy_planet_def *def, environment_model *out)
{
    const local_frame frame = local_frame_build(def);
    VY_ASSERT(frame.on); // its caller has looked
    const double north = frame.sin_lat * frame.axis_distance - frame.cos_lat * frame.equator_height;
    const double up = -(frame.cos_lat * frame.axis_distance + frame.sin_lat * frame.equator_height);
    const gravity_body planet = {def->origin.gm, 0.0, north, up, def->origin.j2, def->radius};
    out->gravity.uniform = vec3_zero();
    out->gravity.body_count = 1;
    out->gravity.bodies[0] = planet;
    out->gravity.frame = frame;
}

/// Constants of a checked def.
VY_FN void environment_build(const vy_environment_def *def, environment_model *out)
{
    memset(out, 0, sizeof *out);
    const vy_gravity_def *gravity = &def->gravity;
    if (gravity->mode == VY_GRAVITY_UNIFORM) {
        out->gravity.uniform = vec3_make(real_set(gravity->uniform.x), real_set(gravity->uniform.y),
                                         real_set(gravity->uniform.z));
    } else {
        VY_ASSERT(gravity->body_count >= 0 && gravity->body_count <= GRAVITY_BODY_CAP);
        out->gravity.body_count = gravity->body_count;
        out->gravity.gradient = gravity->gradient;
        for (int i = 0; i < gravity->body_count; ++i) {
            const vy_gravity_body *b = &gravity->bodies[i];
            const gravity_body body = {b->gm, b->origin.x, b->origin.y, b->origin.z, b->j2, b->radius};
            out->gravity.bodies[i] = body;
        }
    }
    const vy_atmosphere_def *air = &def->atmosphere;
    out->air.mode = (int)air->mode;
    if (air->mode == VY_ATMOSPHERE_STANDARD) {
        out->air.pressure = air->pressure;
        out->air.temperature = air->temperature;
        out->air.density = air->pressure / (AIR_GAS_CONSTANT * air->temperature);
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
    out->steady = !out->planet.on && air->mode != VY_ATMOSPHERE_LAYERED && w->shear == WIND_SHEAR_NONE &&
                  w->gust_count == 0 && def->wind.grid == NULL && t->wind20 == 0.0 && t->intensity == 0.0;
    out->magnetic[0] = def->magnetic_field.x;
    out->magnetic[1] = def->magnetic_field.y;
    out->magnetic[2] = def->magnetic_field.z;
    out->radiation_pressure[0] = def->sunlight.x;
    out->radiation_pressure[1] = def->sunlight.y;
    out->radiation_pressure[2] = def->sunlight.z;
}
