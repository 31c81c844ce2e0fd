// environment.c - declared surroundings: defaults, checks, constants.
#include "environment/environment.h"
#include "base/real.h"
#include "base/fail.h"
#include "base/finite.h"
#include "base/limits.h"
#include "environment/nap_state.h"
#include "environment/environment_build.h"
#include "environment/wind_grid.h"
#include <stdio.h>

vy_environment_def vy_default_environment_def(void)
{
    vy_environment_def def;
    memset(&def, 0, sizeof def);
    def.gravity.uniform.z = -9.80665;
    def.atmosphere = (vy_atmosphere_def){VY_ATMOSPHERE_STANDARD, 101325.0, 288.15};
    def.wind.shear_height = 10.0;
    def.wind.shear_exponent = 1.0 / 7.0;
    def.wind.shear_roughness = 0.03;
    def.nap = vy_nap_default();
    def.physics.boundary = 1000.0;
    def.physics.integrator = VY_INTEGRATOR_RK4;
    def.wakes.length = 3.0;
    return def;
}

int vy_effect_count(void) { return EFFECT_COUNT; }

const char *vy_effect_name(int effect)
{
    static const char *const names[] = {
#define EFFECT(name, text) #name,
#include "equations/effects.inl"
#undef EFFECT
    };
    return effect >= 0 && effect < EFFECT_COUNT ? names[effect] : NULL;
}

static vy_status check_gravity(const vy_gravity_def *def, vy_error *err)
{
    if ((unsigned)def->mode > VY_GRAVITY_BODIES) return vy_fail(err, VY_BAD_VALUE, "gravity.mode is unknown");
    if (!vy_all_within(&def->uniform.x, 3, "m/s^2"))
        return vy_fail(err, VY_BAD_VALUE, "gravity.uniform must be within 1e9 m/s^2");
    if (def->mode == VY_GRAVITY_UNIFORM) {
        if (def->gradient) return vy_fail(err, VY_BAD_VALUE, "gravity.gradient: uniform gravity has none");
        return VY_OK;
    }
    const int maximum = def->mode == VY_GRAVITY_CENTRAL ? 1 : VY_GRAVITY_BODY_CAP;
    if (def->body_count < 1 || def->body_count > maximum) {
        return vy_fail(err, VY_BAD_VALUE, "gravity.bodies must have 1 to %d bodies, got %d", maximum,
                       def->body_count);
    }
    for (int i = 0; i < def->body_count; ++i) {
        const vy_gravity_body *b = &def->bodies[i];
        if (!(real_is_finite(b->gm) && b->gm > 0.0) || !vy_all_bounded(&b->origin.x, 3)) {
            return vy_fail(err, VY_BAD_VALUE, "gravity.bodies[%d]: gm must be above 0 and its origin finite",
                           i);
        }
        if (!real_is_finite(b->j2) || !(real_is_finite(b->radius) && b->radius >= 0.0) ||
            (b->j2 != 0.0 && b->radius == 0.0)) {
            return vy_fail(err, VY_BAD_VALUE, "gravity.bodies[%d]: a j2 needs a radius above 0", i);
        }
    }
    return VY_OK;
}

static vy_status check_air(const vy_environment_def *def, vy_error *err)
{
    const vy_atmosphere_def *air = &def->atmosphere;
    if ((unsigned)air->mode > VY_ATMOSPHERE_LAYERED)
        return vy_fail(err, VY_BAD_VALUE, "atmosphere.mode is unknown");
    if (air->mode == VY_ATMOSPHERE_STANDARD) {
        const double density = air->pressure / (AIR_GAS_CONSTANT * air->temperature);
        if (!(air->pressure >= 0.0 && air->temperature > 0.0 && real_is_finite(density))) {
            return vy_fail(err, VY_BAD_VALUE,
                           "atmosphere: pressure must be at least 0 Pa and temperature above 0 K");
        }
    }
    return VY_OK;
}

vy_status vy_check_gust_def(const vy_gust_def *g, const char *name, vy_error *err)
{
    if (vy_all_bounded(&g->velocity.x, 3) && vy_all_bounded(&g->start, 3) && g->rise > 0.0 && g->hold >= 0.0)
        return VY_OK;
    return vy_fail(err, VY_BAD_VALUE, "%s: rise must be above 0 s and hold at least 0 s", name);
}

static vy_status check_wind(const vy_wind_def *wind, const vy_planet_def *planet, vy_error *err)
{
    const double numbers[] = {wind->constant.x,     wind->constant.y,      wind->constant.z,
                              wind->shear_speed,    wind->shear_direction, wind->shear_height,
                              wind->shear_exponent, wind->shear_roughness};
    if (!vy_all_bounded(numbers, sizeof numbers / sizeof numbers[0]) ||
        (unsigned)wind->shear > VY_SHEAR_LOG) {
        return vy_fail(err, VY_BAD_VALUE, "wind: every value must be finite");
    }
    if (wind->shear != VY_SHEAR_NONE && !(wind->shear_height > 0.0 && wind->shear_exponent >= 0.0)) {
        return vy_fail(err, VY_BAD_VALUE, "wind: shear_height must be above 0 and shear_exponent at least 0");
    }
    if (wind->shear == VY_SHEAR_LOG &&
        !(wind->shear_roughness > 0.0 && wind->shear_roughness < wind->shear_height)) {
        return vy_fail(err, VY_BAD_VALUE, "wind.shear_roughness must be above 0 and below shear_height");
    }
    if (wind->gust_count < 0 || wind->gust_count > VY_GUST_CAP) {
        return vy_fail(err, VY_BAD_VALUE, "wind.gusts: at most %d", VY_GUST_CAP);
    }
    for (int i = 0; i < wind->gust_count; ++i) {
        char name[32];
        snprintf(name, sizeof name, "wind.gusts[%d]", i);
        const vy_status status = vy_check_gust_def(&wind->gusts[i], name, err);
        if (status != VY_OK) return status;
    }
    const vy_turbulence_def *turbulence = &wind->turbulence;
    if (!(turbulence->wind20 >= 0.0 && turbulence->intensity >= 0.0 && real_is_finite(turbulence->wind20) &&
          real_is_finite(turbulence->intensity))) {
        return vy_fail(err, VY_BAD_VALUE, "wind.turbulence: wind20 and intensity must be at least 0 m/s");
    }
    if (wind->grid != NULL && planet->radius > 0.0 && !(planet->origin.gm > 0.0)) {
        return vy_fail(err, VY_BAD_VALUE, "wind.grid is for a flat world, or one with a planet.origin");
    }
    return VY_OK;
}

#define ORIGIN_LOWEST  -12e3 // [m] below the deepest sea floor
#define ORIGIN_HIGHEST 100e3 // [m] higher up nothing flies; orbits are inertial

static vy_status check_planet(const vy_environment_def *def, vy_error *err)
{
    const vy_planet_def *planet = &def->planet;
    const vy_origin_def *origin = &planet->origin;
    if (!(real_is_finite(planet->radius) && planet->radius >= 0.0 && planet->flattening >= 0.0 &&
          planet->flattening < 1.0 && real_is_finite(planet->rate))) {
        return vy_fail(err, VY_BAD_VALUE, "planet: radius must be at least 0 m and flattening in [0, 1)");
    }
    if (!(real_is_finite(origin->gm) && origin->gm >= 0.0))
        return vy_fail(err, VY_BAD_VALUE, "planet.origin.gm must be at least 0 m^3/s^2");
    if (origin->gm == 0.0) return VY_OK;
    if (!(planet->radius >= 1e3))
        return vy_fail(err, VY_BAD_VALUE, "planet.origin needs a planet.radius of 1 km at least");
    if (!(real_abs(origin->latitude) <= 0.5 * 3.14159265358979324))
        return vy_fail(err, VY_BAD_VALUE, "planet.origin.latitude must be -90 to 90 degrees");
    if (!real_is_finite(origin->longitude) || !real_is_finite(origin->j2) || !real_is_finite(origin->date))
        return vy_fail(err, VY_BAD_VALUE, "planet.origin: longitude, j2 and date must be finite");
    if (!(origin->height >= ORIGIN_LOWEST && origin->height <= ORIGIN_HIGHEST)) {
        return vy_fail(err, VY_BAD_VALUE,
                       "planet.origin.height must be -12 km (below the sea floor) to 100 km, got %g m",
                       origin->height);
    }
    if (def->gravity.mode != VY_GRAVITY_UNIFORM) {
        return vy_fail(err, VY_BAD_VALUE,
                       "gravity.mode: with a planet.origin its gm attracts; leave gravity out");
    }
    return VY_OK;
}

static vy_status check_wakes(const vy_wakes_def *def, vy_error *err)
{
    if (!(real_is_finite(def->length) && def->length > 0.0) ||
        !(real_is_finite(def->period) && def->period >= 0.0)) {
        return vy_fail(err, VY_BAD_VALUE, "wakes: length must be above 0 m and period at least 0 s");
    }
    return VY_OK;
}

static vy_status check_physics(const vy_engine_def *def, vy_error *err)
{
    if ((unsigned)def->engine > VY_ENGINE_RIGID || !(real_is_finite(def->boundary) && def->boundary > 0.0)) {
        return vy_fail(err, VY_BAD_VALUE,
                       "physics: engine must be strict, simple or rigid, boundary above 0 m");
    }
    if (vy_integrator_order(def->integrator) == 0)
        return vy_fail(err, VY_BAD_VALUE, "physics: no integrator %d", (int)def->integrator);
    if (def->engine == VY_ENGINE_SIMPLE && def->integrator != VY_INTEGRATOR_RK4) {
        return vy_fail(err, VY_BAD_VALUE,
                       "physics: the simple engine has its own method and takes no integrator");
    }
    return VY_OK;
}

vy_status vy_check_environment_def(const vy_environment_def *def, vy_error *err)
{
    FPU_SCOPE;
    vy_status status = check_gravity(&def->gravity, err);
    if (status == VY_OK) status = check_air(def, err);
    if (status == VY_OK) status = check_wind(&def->wind, &def->planet, err);
    if (status == VY_OK) status = vy_check_rows(&vy_table_nap, "nap", &def->nap, err);
    const double *culprit;
    if (status == VY_OK)
        status =
            vy_check_budget_def(&def->nap.budget, vy_coordinate_radius(&def->planet), 0.0, &culprit, err);
    if (status == VY_OK) status = check_wakes(&def->wakes, err);
    if (status != VY_OK) return status;
    status = check_planet(def, err);
    if (status != VY_OK) return status;
    if (!vy_all_bounded(&def->magnetic_field.x, 3) || !vy_all_bounded(&def->sunlight.x, 3)) {
        return vy_fail(err, VY_BAD_VALUE, "magnetic_field and sunlight must be finite");
    }
    return check_physics(&def->physics, err);
}

void vy_environment_build(const vy_environment_def *def, environment_model *out)
{
    environment_build(def, out);
}

turbulence_params vy_turbulence_build(const vy_turbulence_def *def)
{
    return (turbulence_params){def->wind20, def->intensity, def->period, 1.0};
}
