// schema_world.c - the rows of what surrounds the drones.
#include "scenario/schema_rows.h"
#include "base/real.h"
#include "scenario/number.h"
#include "environment/nap_state.h"
#include <string.h>

_Static_assert(sizeof(vy_gravity_mode) == sizeof(int) && sizeof(vy_atmosphere_mode) == sizeof(int) &&
                   sizeof(vy_shear) == sizeof(int),
               "choices are read and written as int");

static const vy_choice gravity_modes[] = {
    CHOICE("uniform", VY_GRAVITY_UNIFORM, "the same vector everywhere"),
    CHOICE("central", VY_GRAVITY_CENTRAL, "one body attracts"),
    CHOICE("bodies", VY_GRAVITY_BODIES, "several bodies attract"),
};

static void init_body(void *object, int index)
{
    (void)index;
    memset(object, 0, sizeof(vy_gravity_body));
}

static const vy_schema_row body_rows[] = {
    ROW("gm", NUMBER, vy_gravity_body, gm, .unit = "m^3/s^2", .range = POSITIVE, .flags = VY_ROW_REQUIRED,
        .help = "gravitational constant times mass"),
    ROW("origin", VECTOR, vy_gravity_body, origin, .size = 3, .unit = "m", .range = ANY,
        .help = "world axes"),
    ROW("j2", NUMBER, vy_gravity_body, j2, .range = ANY, .help = "oblateness about world +z"),
    ROW("radius", NUMBER, vy_gravity_body, radius, .unit = "m", .range = AT_LEAST_0,
        .help = "that j2 refers to"),
};
static const vy_schema_table body_table = {.title = "Bodies",
                                           .help = "A list of attracting bodies.",
                                           .size = sizeof(vy_gravity_body),
                                           .init = init_body,
                                           ROWS(body_rows)};

static const vy_schema_row gravity_rows[] = {
    ROW("mode", CHOICE, vy_gravity_def, mode, CHOICES(gravity_modes), .help = "kind of field"),
    ROW("uniform", VECTOR, vy_gravity_def, uniform, .size = 3, .unit = "m/s^2", .range = ANY,
        .when = 1u << VY_GRAVITY_UNIFORM, .help = "world axes (east, north, up)"),
    ROW("bodies", LIST, vy_gravity_def, bodies, .table = &body_table, .size = VY_GRAVITY_BODY_CAP,
        .count_offset = offsetof(vy_gravity_def, body_count), .range = {.min = 1.0}, .flags = VY_ROW_REQUIRED,
        .when = 1u << VY_GRAVITY_CENTRAL | 1u << VY_GRAVITY_BODIES,
        .help = "attracting bodies; one when central"),
    ROW("gradient", CHOICE, vy_gravity_def, gradient, SWITCH,
        .when = 1u << VY_GRAVITY_CENTRAL | 1u << VY_GRAVITY_BODIES,
        .help = "gravity also turns a body, being stronger at its near end"),
};
static const vy_schema_table gravity_table = {
    .title = "Gravity", .help = "Always declared.", .size = sizeof(vy_gravity_def), ROWS(gravity_rows)};

static const vy_choice atmosphere_modes[] = {
    CHOICE("none", VY_ATMOSPHERE_NONE, "a vacuum"),
    CHOICE("standard", VY_ATMOSPHERE_STANDARD, "pressure and temperature as declared, everywhere"),
    CHOICE("layered", VY_ATMOSPHERE_LAYERED, "the U.S. Standard Atmosphere 1976 over the altitude"),
};
static const vy_schema_row atmosphere_rows[] = {
    ROW("mode", CHOICE, vy_atmosphere_def, mode, CHOICES(atmosphere_modes), .help = "kind of air"),
    ROW("pressure", NUMBER, vy_atmosphere_def, pressure, .unit = "Pa", .range = AT_LEAST_0,
        .when = 1u << VY_ATMOSPHERE_STANDARD, .help = "everywhere"),
    ROW("temperature", NUMBER, vy_atmosphere_def, temperature, .unit = "K", .range = POSITIVE,
        .when = 1u << VY_ATMOSPHERE_STANDARD, .help = "everywhere"),
};
static const vy_schema_table atmosphere_table = {.title = "Atmosphere",
                                                 .help = "Always declared; `none` is a vacuum.",
                                                 .size = sizeof(vy_atmosphere_def),
                                                 ROWS(atmosphere_rows)};

static const vy_choice shear_profiles[] = {
    CHOICE("none", VY_SHEAR_NONE, "the same at all heights"),
    CHOICE("linear", VY_SHEAR_LINEAR, "proportional to the height"),
    CHOICE("power", VY_SHEAR_POWER, "by a power of the height"),
    CHOICE("log", VY_SHEAR_LOG, "by the logarithm of the height over the roughness"),
};
#define SHEARED_PROFILES (1u << VY_SHEAR_LINEAR | 1u << VY_SHEAR_POWER | 1u << VY_SHEAR_LOG)
static const vy_schema_row shear_rows[] = {
    ROW("profile", CHOICE, vy_wind_def, shear, CHOICES(shear_profiles), .help = "speed over the height"),
    ROW("speed", NUMBER, vy_wind_def, shear_speed, .unit = "m/s", .range = ANY, .when = SHEARED_PROFILES,
        .help = "at the reference height"),
    ROW("direction", NUMBER, vy_wind_def, shear_direction, .unit = "rad", .range = ANY,
        .when = SHEARED_PROFILES, .help = "the way it blows, counter-clockwise from east"),
    ROW("height", NUMBER, vy_wind_def, shear_height, .unit = "m", .range = POSITIVE, .when = SHEARED_PROFILES,
        .help = "reference"),
    ROW("exponent", NUMBER, vy_wind_def, shear_exponent, .range = AT_LEAST_0, .when = 1u << VY_SHEAR_POWER,
        .help = "of the height"),
    ROW("roughness", NUMBER, vy_wind_def, shear_roughness, .unit = "m", .range = POSITIVE,
        .when = 1u << VY_SHEAR_LOG, .help = "height at which the wind ends, below the reference"),
};
static const vy_schema_table shear_table = {
    .title = "Shear", .help = "A profile over the height, added to the constant wind.", ROWS(shear_rows)};

static void init_gust(void *object, int index)
{
    (void)index;
    *(vy_gust_def *)object = (vy_gust_def){.rise = 1.0};
}

static const vy_schema_row gust_rows[] = {
    ROW("velocity", VECTOR, vy_gust_def, velocity, .size = 3, .unit = "m/s", .range = ANY,
        .flags = VY_ROW_REQUIRED, .help = "at its height, east, north, up"),
    ROW("start", NUMBER, vy_gust_def, start, .unit = "s", .range = ANY, .help = "when it begins to rise"),
    ROW("rise", NUMBER, vy_gust_def, rise, .unit = "s", .range = POSITIVE,
        .help = "how long it rises, and falls"),
    ROW("hold", NUMBER, vy_gust_def, hold, .unit = "s", .range = AT_LEAST_0, .help = "how long it stays"),
};
const vy_schema_table vy_gust_table = {.title = "Gusts",
                                       .help = "A list of 1-cosine gusts.",
                                       .size = sizeof(vy_gust_def),
                                       .init = init_gust,
                                       ROWS(gust_rows)};

static const vy_schema_row turbulence_rows[] = {
    ROW("wind20", NUMBER, vy_turbulence_def, wind20, .unit = "m/s", .range = AT_LEAST_0,
        .help = "mean wind 6 m above the ground: sets the strength up to 300 m"),
    ROW("intensity", NUMBER, vy_turbulence_def, intensity, .unit = "m/s", .range = AT_LEAST_0,
        .help = "standard deviation above 600 m"),
    ROW("period", NUMBER, vy_turbulence_def, period, .unit = "s", .range = AT_LEAST_0, .flags = VY_ROW_PERIOD,
        .keyword = "auto", .help = "between two values; `auto` is ten steps"),
};
static const vy_schema_table turbulence_table = {.title = "Turbulence",
                                                 .help = "Dryden turbulence by MIL-F-8785C.",
                                                 .size = sizeof(vy_turbulence_def),
                                                 ROWS(turbulence_rows)};

static const vy_schema_row wind_rows[] = {
    ROW("constant", VECTOR, vy_wind_def, constant, .size = 3, .unit = "m/s", .range = ANY,
        .help = "where the air goes: east, north, up"),
    GROUP("shear", &shear_table, .help = "a profile over the height"),
    ROW("gusts", LIST, vy_wind_def, gusts, .table = &vy_gust_table, .size = VY_GUST_CAP,
        .count_offset = offsetof(vy_wind_def, gust_count), .help = "single gusts"),
    ROW("grid", TEXT, vy_wind_def, grid_name, .size = sizeof((vy_wind_def *)0)->grid_name,
        .flags = VY_ROW_UNHASHED, .keyword = "none",
        .help = "a file NAME.csv of samples beside the scenario, t,x,y,z,u,v,w; see docs/environment.md"),
    ROW("turbulence", OBJECT, vy_wind_def, turbulence, .table = &turbulence_table,
        .help = "continuous gusts"),
};
static const vy_schema_table wind_table = {
    .title = "Wind", .help = "The sum of its parts.", .size = sizeof(vy_wind_def), ROWS(wind_rows)};

#define QUARTER_TURN 1.5707963267948966

static const vy_schema_row origin_rows[] = {
    ROW("gm", NUMBER, vy_origin_def, gm, .unit = "m^3/s^2", .range = AT_LEAST_0, .keyword = "none",
        .default_text = "none; with a latitude the Earth's",
        .help = "gravitational constant times mass of the planet; `none`: the world is flat or inertial"),
    ROW("latitude", NUMBER, vy_origin_def, latitude, .unit = "rad",
        .range = WITHIN(-QUARTER_TURN, QUARTER_TURN), .help = "geodetic"),
    ROW("longitude", NUMBER, vy_origin_def, longitude, .unit = "rad", .range = ANY,
        .help = "east; at a pole it counts as 0"),
    ROW("height", NUMBER, vy_origin_def, height, .unit = "m", .range = ANY,
        .help = "above the ellipsoid, -12 km to 100 km"),
    ROW("j2", NUMBER, vy_origin_def, j2, .range = ANY,
        .default_text = "0; with a latitude and no gm the Earth's",
        .help = "oblateness of the planet's gravity"),
    ROW("date", NUMBER, vy_origin_def, date, .unit = VY_UNIT_YEAR, .range = AT_LEAST_0, .keyword = "none",
        .default_text = "none; with a latitude and no gm 2025",
        .help =
            "2026-06-21 or a decimal year, for the World Magnetic Model; `none`: magnetic_field as declared"),
};
static const vy_schema_table origin_table = {
    .title = "Origin",
    .help = "The place of the planet where the world is: x, y, z are east, north, up there and turn with the "
            "planet. A latitude alone makes the Earth: docs/environment.md.",
    .size = sizeof(vy_origin_def),
    ROWS(origin_rows)};

static const vy_schema_row planet_rows[] = {
    ROW("radius", NUMBER, vy_planet_def, radius, .unit = "m", .range = AT_LEAST_0, .keyword = "none",
        .help = "at the equator; `none` is a flat world"),
    ROW("flattening", NUMBER, vy_planet_def, flattening, .range = WITHIN(0.0, 0.999),
        .help = "0 is a sphere"),
    ROW("rate", NUMBER, vy_planet_def, rate, .unit = "rad/s", .range = ANY,
        .help = "of its rotation about its axis"),
    ROW("origin", OBJECT, vy_planet_def, origin, .table = &origin_table, .flags = VY_ROW_HASHED_IF_SET,
        .help = "where the world is on it; without one the world's frame is inertial, about the centre"),
};
static const vy_schema_table planet_table = {.title = "Planet",
                                             .help = "Round ground; its air turns with it.",
                                             .size = sizeof(vy_planet_def),
                                             ROWS(planet_rows)};

static const vy_choice engine_choices[] = {
    CHOICE("strict", VY_ENGINE_STRICT, "the strict equations"),
    CHOICE("simple", VY_ENGINE_SIMPLE,
           "the simple physics service: Euler's method; bodies stick to the ground z = 0 and the boundary"),
    CHOICE("rigid", VY_ENGINE_RIGID,
           "the strict equations with contacts, a floor at z = 0 and walls at the boundary"),
};
static const vy_choice integrator_choices[] = {
    CHOICE("euler", VY_INTEGRATOR_EULER, "forward Euler, of order 1"),
    CHOICE("semi-implicit", VY_INTEGRATOR_SEMI_IMPLICIT,
           "velocity first, position with the new velocity; of order 1"),
    CHOICE("rk4", VY_INTEGRATOR_RK4, "the classical four stages, of order 4"),
    CHOICE("lie-midpoint", VY_INTEGRATOR_LIE_MIDPOINT,
           "of order 2; a free spin keeps energy and angular momentum to rounding for ever"),
};
static const vy_schema_row physics_rows[] = {
    ROW("engine", CHOICE, vy_engine_def, engine, CHOICES(engine_choices), .help = "the physics engine"),
    ROW("boundary", NUMBER, vy_engine_def, boundary, .unit = "m", .range = POSITIVE,
        .when = 1u << VY_ENGINE_SIMPLE | 1u << VY_ENGINE_RIGID, .help = "largest x and y, either way"),
    ROW("integrator", CHOICE, vy_engine_def, integrator, CHOICES(integrator_choices),
        .when = 1u << VY_ENGINE_STRICT | 1u << VY_ENGINE_RIGID,
        .help = "how a step advances time: docs/dynamics.md"),
};
static const vy_schema_table physics_table = {.title = "Physics",
                                              .help = "The engine behind the world: docs/physics.md.",
                                              .size = sizeof(vy_engine_def),
                                              ROWS(physics_rows)};

static const vy_choice wake_switches[] = {CHOICE("off", 0, "drones do not feel each other's air"),
                                          CHOICE("on", 1, "they do")};
static const vy_schema_row wake_rows[] = {
    ROW("mode", CHOICE, vy_wakes_def, on, CHOICES(wake_switches), .help = "whether wakes are computed"),
    ROW("period", NUMBER, vy_wakes_def, period, .unit = "s", .range = AT_LEAST_0, .flags = VY_ROW_PERIOD,
        .keyword = "auto", .help = "between updates of the wakes; `auto` is ten steps"),
    ROW("length", NUMBER, vy_wakes_def, length, .unit = "m", .range = POSITIVE,
        .help = "after which a wake is over"),
};
static const vy_schema_table wake_table = {
    .title = "Wakes",
    .help = "The air that drones with a `rotor_air.radius` drive down onto those below them.",
    .size = sizeof(vy_wakes_def),
    ROWS(wake_rows)};

static const vy_schema_row world_rows[] = {
    ROW("gravity", OBJECT, vy_environment_def, gravity, .table = &gravity_table, .help = "the gravity field"),
    ROW("atmosphere", OBJECT, vy_environment_def, atmosphere, .table = &atmosphere_table, .help = "the air"),
    ROW("wind", OBJECT, vy_environment_def, wind, .table = &wind_table, .help = "how the air moves"),
    ROW("planet", OBJECT, vy_environment_def, planet, .table = &planet_table, .help = "a round world"),
    ROW("magnetic_field", VECTOR, vy_environment_def, magnetic_field, .size = 3, .unit = "T", .range = ANY,
        .help = "the same everywhere, world axes"),
    ROW("sunlight", VECTOR, vy_environment_def, sunlight, .size = 3, .unit = "Pa", .range = ANY,
        .help = "pressure of light along its direction; 4.56e-6 Pa at the Earth"),
    ROW("physics", OBJECT, vy_environment_def, physics, .table = &physics_table,
        .help = "the engine behind the world"),
    ROW("nap", OBJECT, vy_environment_def, nap, .table = &vy_table_nap, .help = "the negligibility policy"),
    ROW("wakes", OBJECT, vy_environment_def, wakes, .table = &wake_table,
        .help = "wakes of the drones on each other"),
};
const vy_schema_table vy_world_table = {.title = "World",
                                        .help = "What surrounds the drones.",
                                        .size = sizeof(vy_environment_def),
                                        ROWS(world_rows)};
