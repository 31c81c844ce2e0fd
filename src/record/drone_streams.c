// drone_streams.c - the streams of a drone. A stream is one row, with a function where it needs one: the log,
// its reference page, tables and the page of `volery view` walk this list.
#include "base/assert.h"
#include "volery/ground.h"
#include "record/streams.h"
#include "sensors/baro.h"
#include "world/sensor_suite.h"

static const void *read_drone(const vy_world *world, uint32_t i, const drone_stream *s, double *cells)
{
    (void)s;
    (void)cells;
    return &world->drones[i];
}

// A drone's block and a body's both begin with its motion.
static const void *read_truth(const vy_world *world, uint32_t i, const drone_stream *s, double *cells)
{
    (void)s;
    (void)cells;
    return body_at(world, i);
}

static const void *read_imu(const vy_world *world, uint32_t i, const drone_stream *s, double *cells)
{
    return world->drones[i].imu_tick == world->state->tick ? read_drone(world, i, s, cells) : NULL;
}

static const void *read_mocap(const vy_world *world, uint32_t i, const drone_stream *s, double *cells)
{
    return world->drones[i].mocap_tick == world->state->tick ? read_drone(world, i, s, cells) : NULL;
}

// --- actuators

static const void *read_control(const vy_world *world, uint32_t i, const drone_stream *s, double *cells)
{
    const uint64_t tick = world->state->tick;
    if (tick > 0 && !due(tick, world->model.drones[i].rate_period)) return NULL;
    return read_drone(world, i, s, cells);
}

static int command_count(const rotor_layout *layout) { return layout->count + layout->thrusters.count; }

static int has_battery(const vy_world *world, uint32_t i, const drone_stream *s)
{
    (void)s;
    return world->model.params[i].battery.capacity > 0.0;
}

static const void *read_battery(const vy_world *world, uint32_t i, const drone_stream *s, double *cells)
{
    (void)s;
    (void)cells;
    return world->state->tick > 0 ? &world->powertrain[i] : NULL;
}

static int thruster_count(const rotor_layout *layout) { return layout->thrusters.count; }

static int has_thrusters(const vy_world *world, uint32_t i, const drone_stream *s)
{
    (void)s;
    return thruster_count(&world->model.drones[i].layout) > 0;
}

static const void *read_thrusters(const vy_world *world, uint32_t i, const drone_stream *s, double *cells)
{
    (void)s;
    (void)cells;
    return world->state->tick > 0 ? &world->thrusters[i] : NULL;
}

// --- contacts

static int has_touch(const vy_world *world, uint32_t i, const drone_stream *s)
{
    (void)i;
    (void)s;
    return world->contact_totals != NULL;
}

static const void *read_touch(const vy_world *world, uint32_t i, const drone_stream *s, double *cells)
{
    (void)s;
    (void)cells;
    return &world->contact_totals[i];
}

// --- sensors of a sensor suite

static int has_sensor(const vy_world *world, uint32_t i, const drone_stream *s)
{
    return vy_sensor_period(&world->model, i, s->sensor) > 0;
}

static const void *read_sensor(const vy_world *world, uint32_t i, const drone_stream *s, double *cells)
{
    (void)cells;
    const uint64_t tick = world->state->tick;
    const uint64_t *sample = vy_sensor_block(world, i, s->sensor);
    return tick > 0 && *sample == tick ? sample : NULL;
}

// --- where it is over a planet

// A field of a struct of doubles and vectors without a gap.
#define COMPUTED_FIELD(struct_, member_, name_, type_, count_, unit_, text_)   \
    {                                                                          \
        name_, unit_, text_, FIELD_##type_, offsetof(struct_, member_), count_ \
    }
static const vy_field geodetic_fields[] = {
    COMPUTED_FIELD(vy_geodetic, latitude, "geodetic.latitude", NUMBER, 1, "rad", "geodetic"),
    COMPUTED_FIELD(vy_geodetic, longitude, "geodetic.longitude", NUMBER, 1, "rad", "-pi to pi"),
    COMPUTED_FIELD(vy_geodetic, altitude, "geodetic.altitude", NUMBER, 1, "m", "above the ellipsoid"),
    COMPUTED_FIELD(vy_geodetic, velocity, "geodetic.velocity_ned", VEC3, 3, "m/s",
                   "north, east, down, over the ground"),
    COMPUTED_FIELD(vy_geodetic, yaw, "geodetic.yaw", NUMBER, 1, "rad",
                   "of forward-right-down axes in north-east-down"),
    COMPUTED_FIELD(vy_geodetic, pitch, "geodetic.pitch", NUMBER, 1, "rad", "likewise"),
    COMPUTED_FIELD(vy_geodetic, roll, "geodetic.roll", NUMBER, 1, "rad", "likewise"),
};
_Static_assert(sizeof(vy_geodetic) == 8 * 9 && 9 <= STREAM_CELLS_CAP, "cells without padding");

static int has_geodetic(const vy_world *world, uint32_t i, const drone_stream *s)
{
    (void)i;
    (void)s;
    return world->model.planet.radius > 0.0;
}

static const void *read_geodetic(const vy_world *world, uint32_t i, const drone_stream *s, double *cells)
{
    (void)s;
    const body_state *b = body_at(world, i);
    const double time = (double)world->state->tick * world->model.dt;
    const vy_geodetic out = vy_geodetic_of(&world->model.planet, time, b->position, b->velocity, b->attitude);
    memcpy(cells, &out, sizeof out);
    return cells;
}

// --- how it moves over the ground

typedef struct ground_cells {
    double altitude, height, ground_speed, climb, track, air_speed;
} ground_cells;

static const vy_field ground_fields[] = {
    COMPUTED_FIELD(ground_cells, altitude, "ground.altitude", NUMBER, 1, "m",
                   "above the ellipsoid; in a flat world z"),
    COMPUTED_FIELD(ground_cells, height, "ground.height", NUMBER, 1, "m", "over the ground or terrain below"),
    COMPUTED_FIELD(ground_cells, ground_speed, "ground.ground_speed", NUMBER, 1, "m/s", "horizontal"),
    COMPUTED_FIELD(ground_cells, climb, "ground.climb", NUMBER, 1, "m/s", "upwards"),
    COMPUTED_FIELD(ground_cells, track, "ground.track", NUMBER, 1, "rad",
                   "direction over the ground, clockwise from north, 0 to 2 pi"),
    COMPUTED_FIELD(ground_cells, air_speed, "ground.air_speed", NUMBER, 1, "m/s",
                   "through the air, gusts included, wakes not"),
};
_Static_assert(sizeof(ground_cells) == 8 * 6 && 6 <= STREAM_CELLS_CAP, "cells without padding");

static const void *read_ground(const vy_world *world, uint32_t i, const drone_stream *s, double *cells)
{
    (void)s;
    vy_ground_state ground;
    const vy_status status = vy_world_read_ground(world, i, &ground);
    VY_ASSERT(status == VY_OK);
    (void)status;
    const ground_cells out = {.altitude = ground.altitude,
                              .height = ground.height,
                              .ground_speed = ground.ground_speed,
                              .climb = ground.climb,
                              .track = ground.track,
                              .air_speed = ground.air_speed};
    memcpy(cells, &out, sizeof out);
    return cells;
}

// --- how its velocity changes

static const vy_field acceleration_fields[] = {
    {"body.acceleration", "m/s^2", "world; the mean since the record before", FIELD_VEC3, 0, 3},
};

static const void *read_velocity(const vy_world *world, uint32_t i, const drone_stream *s, double *cells)
{
    (void)s;
    (void)cells;
    return &body_at(world, i)->velocity;
}

// --- how sure its Kalman filter is

typedef struct filter_cells {
    vec3 variance, covariance;
    double nees;
} filter_cells;

static const vy_field filter_fields[] = {
    COMPUTED_FIELD(filter_cells, variance, "filter.variance", VEC3, 3, "m^2",
                   "of the estimated position, along each axis"),
    COMPUTED_FIELD(filter_cells, covariance, "filter.covariance", VEC3, 3, "m^2",
                   "of x with y, x with z, y with z"),
    COMPUTED_FIELD(filter_cells, nees, "filter.nees", NUMBER, 1, "",
                   "e^T P^-1 e of position, velocity and attitude: 9 on average for a filter that is as good "
                   "as it says"),
};
_Static_assert(sizeof(filter_cells) == 8 * 7 && 7 <= STREAM_CELLS_CAP, "cells without padding");

static int has_filter(const vy_world *world, uint32_t i, const drone_stream *s)
{
    vy_filter_state state;
    (void)s;
    return vy_world_read_filter(world, vy_world_drone(world, i), &state) == VY_OK;
}

static const void *read_filter(const vy_world *world, uint32_t i, const drone_stream *s, double *cells)
{
    vy_filter_state state;
    (void)s;
    const vy_status status = vy_world_read_filter(world, vy_world_drone(world, i), &state);
    VY_ASSERT(status == VY_OK);
    if (status != VY_OK || !state.started) return NULL;
    const filter_cells out = {.variance = state.variance, .covariance = state.covariance, .nees = state.nees};
    memcpy(cells, &out, sizeof out);
    return cells;
}

// --- the air around it

typedef struct air_cells {
    double density, pressure, temperature;
    vec3 wind, flow;
    double speed, dynamic_pressure, mach;
} air_cells;

static const vy_field air_fields[] = {
    COMPUTED_FIELD(air_cells, density, "air.density", NUMBER, 1, "kg/m^3", ""),
    COMPUTED_FIELD(air_cells, pressure, "air.pressure", NUMBER, 1, "Pa",
                   "static, as a barometer without error has it"),
    COMPUTED_FIELD(air_cells, temperature, "air.temperature", NUMBER, 1, "K", ""),
    COMPUTED_FIELD(air_cells, wind, "air.wind", VEC3, 3, "m/s",
                   "with gusts, world; on a planet east, north, up over the ground"),
    COMPUTED_FIELD(air_cells, flow, "air.flow", VEC3, 3, "m/s",
                   "velocity of the drone through the air, body"),
    COMPUTED_FIELD(air_cells, speed, "air.speed", NUMBER, 1, "m/s", "true airspeed: how long that is"),
    COMPUTED_FIELD(air_cells, dynamic_pressure, "air.dynamic_pressure", NUMBER, 1, "Pa",
                   "half the density times its square"),
    COMPUTED_FIELD(air_cells, mach, "air.mach", NUMBER, 1, "", "true airspeed over the speed of sound"),
};
_Static_assert(sizeof(air_cells) == 8 * 12 && 12 <= STREAM_CELLS_CAP, "cells without padding");

// In air that is the same everywhere and at rest all of it is known: the airspeed is the drone's speed.
static int has_air(const vy_world *world, uint32_t i, const drone_stream *s)
{
    (void)i;
    (void)s;
    const environment_model *env = &world->model.env;
    return env->air.mode != ATMOSPHERE_NONE && (env->has_wind || !env->steady);
}

// The declared wind, also where the flight neglects it, without the wakes of other drones.
static const void *read_air(const vy_world *world, uint32_t i, const drone_stream *s, double *cells)
{
    (void)s;
    const environment_model *env = &world->model.env;
    const drone_block *drone = &world->drones[i];
    const double altitude = altitude_at(env, drone->body.position);
    const double time = (double)world->state->tick * world->model.dt;
    const held_inputs held = {.turbulence = drone->gust};
    const vec3 wind_position =
        wind_lookup_position(env, drone->body.position, height_at(env, drone->body.position));
    const air_state air = air_at(&env->air, altitude);
    const relative_air relative = air_sample(env, &held, &drone->body, time, EFFECT_BIT(wind));
    const double speed = vec3_length(relative.flow);
    const air_cells out = {
        .density = air.density,
        .pressure = baro_pressure(&env->air, altitude),
        .temperature = air_kinetic_temperature(air.temperature, altitude),
        .wind = env->has_wind
                    ? vec3_add(mean_wind_at(&env->wind, env->constant_wind, wind_position, time), drone->gust)
                    : vec3_zero(),
        .flow = quat_unrotate(drone->body.attitude, relative.flow),
        .speed = speed,
        .dynamic_pressure = 0.5 * air.density * speed * speed,
        .mach = speed / air_sound_speed(air.temperature),
    };
    memcpy(cells, &out, sizeof out);
    return cells;
}

#define FIELDS(list) .fields = (list), .field_count = (int)(sizeof(list) / sizeof(list)[0])
#define STATE_FIELDS(block_, first_, last_) \
    .block = BLOCK_##block_, .first_field = (first_), .last_field = (last_)
#define SENSOR_STREAM(id, stream, name_, needs, text_)           \
    {.name = #name_,                                             \
     .text = "sample of the " text_ ", when there is a new one", \
     .block = BLOCK_##name_,                                     \
     .sensor = SENSOR_##name_,                                   \
     .has = has_sensor,                                          \
     .read = read_sensor},

const drone_stream vy_drone_streams[] = {
    {.name = "geodetic",
     .text = "where the drone is on a planet, and how it lies there",
     FIELDS(geodetic_fields),
     .has_bodies = 1,
     .has = has_geodetic,
     .read = read_geodetic},
    {.name = "ground",
     .text = "how high the drone is, and how fast over the ground and through the air",
     FIELDS(ground_fields),
     .has_bodies = 1,
     .read = read_ground},
    {.name = "acceleration",
     .text = "how the velocity changes, from the second record on; what an accelerometer feels is that less "
             "gravity",
     FIELDS(acceleration_fields),
     .is_rate = 1,
     .has_bodies = 1,
     .read = read_velocity},
    {.name = "imu",
     .text = "the IMU's sample, when there is a new one",
     STATE_FIELDS(drone, "imu.accel", "imu.gyro"),
     .read = read_imu},
    {.name = "mocap",
     .text = "the motion-capture sample, when there is a new one",
     STATE_FIELDS(drone, "mocap.position", "mocap.attitude"),
     .read = read_mocap},
    {.name = "estimate",
     .text = "the estimate",
     STATE_FIELDS(drone, "estimate.position", "estimate.rate"),
     .read = read_drone},
    {.name = "filter",
     .text = "how sure the Kalman filter of a drone that has one is, once it has started",
     FIELDS(filter_fields),
     .has = has_filter,
     .read = read_filter},
    {.name = "control",
     .text = "the intent and the motor commands, when they are new",
     STATE_FIELDS(drone, "control.attitude", "control.motors"),
     .length = command_count,
     .read = read_control},
    {.name = "battery",
     .text = "the battery of a drone that has one, from the first step on",
     STATE_FIELDS(powertrain, "battery.charge", "battery.current"),
     .has = has_battery,
     .read = read_battery},
    {.name = "touch",
     .text = "contacts of the drone, in a world with collisions",
     STATE_FIELDS(contact_totals, "contact.impulse", "contact.total"),
     .has_bodies = 1,
     .has = has_touch,
     .read = read_touch},
    {.name = "thrusters",
     .text = "the thrust of a drone that has thrusters, from the first step on",
     STATE_FIELDS(thruster, "thrust", "thrust"),
     .has = has_thrusters,
     .length = thruster_count,
     .read = read_thrusters},
    // clang-format off
    SENSORS(SENSOR_STREAM)
    // clang-format on
    {.name = "air",
     .text = "the air around the drone, where it moves or is not the same everywhere",
     FIELDS(air_fields),
     .has = has_air,
     .read = read_air},
    {.name = "truth",
     .text = "where the drone is, how it moves, how fast its rotors turn",
     STATE_FIELDS(drone, "body.position", "rotor_speed"),
     .has_bodies = 1,
     .read = read_truth},
};
const int vy_drone_stream_count = (int)(sizeof vy_drone_streams / sizeof vy_drone_streams[0]);
_Static_assert(sizeof vy_drone_streams / sizeof vy_drone_streams[0] <= DRONE_STREAM_CAP, "there is room");
