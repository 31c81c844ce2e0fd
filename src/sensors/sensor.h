// sensor.h - the interface of a sensor; sensors.h lists them.
//
// A sensor NAME is one pair of files.
// NAME.h, over `real`: NAME_params (constants), NAME_block (its state: the tick at which the last sample
// arrived, the sample's numbers, then the sensor's own state), SAMPLE_NAME and FIELDS_NAME (the fields of
// that), CHANNELS_NAME (what faults can break), and NAME_sample(), which gets what the list says it needs as
// arguments and nothing else.
// NAME.c: vy_sensor_NAME, its tables.
#pragma once
#include "base/rng.h"
#include "base/schema.h"
#include "equations/atmosphere.h"
#include "equations/rigid_body.h"
#include "sensors/reading.h"
#include "volery/sensors.h"
#include "volery/vehicle.h"

/// Whose noise is drawn: the same seed, sensor, drone and tick give the same numbers.
typedef struct sensor_key {
    bits seed, drone, tick;
    uint32_t stream; // of the generator, see base/rng.h
} sensor_key;

VY_FN void sensor_normals(const sensor_key *key, real *out, int count)
{
    rng_normals(key->seed, key->stream, key->drone, key->tick, out, count);
}

VY_FN void vec3_store(vec3 v, real *out)
{
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

/// Where a point fixed to the body is, and how it moves: world.
typedef struct body_point {
    vec3 position, velocity; // [m], [m/s]
} body_point;

VY_FN body_point body_point_at(const body_state *body, vec3 position)
{
    body_point p;
    p.position = vec3_add(body->position, quat_rotate(body->attitude, position));
    p.velocity = vec3_add(body->velocity, quat_rotate(body->attitude, lever_velocity(body->rate, position)));
    return p;
}

/// What a sensor may need beside the body it is on.
typedef struct still_air {
    const atmosphere_params *atmosphere;
    real altitude; // [m]
} still_air;

typedef struct moving_air {
    real density; // [kg/m^3]
    vec3 flow;    // [m/s] velocity of the centre of mass through it, body axes
} moving_air;

typedef struct rotor_speeds {
    const real *speed; // [rad/s]
    int count;
} rotor_speeds;

/// Where a ray meets something: the distance [m] from `origin` along the unit vector `along`, world axes, and
/// RAY_NO_RETURN (ray.h) where nothing is within `reach`.
typedef struct ray_caster {
    real (*cast)(const void *self, vec3 origin, vec3 along, real reach);
    const void *self;
} ray_caster;

/// Numbers of a sample that a fault can act on.
typedef struct sensor_channel {
    const char *name, *unit, *help;
    int at;      // where in the sample it begins
    int cells;   // its numbers there; what is stuck
    int x_index; // where in the sample its x stands, if it has axes
    int axes;    // numbers that are measured: what is added to. An attitude has three
    int width;   // numbers of vy_fault_def.vector; 1: the same for all axes
} sensor_channel;

/// What adding to a channel may depend on.
typedef struct channel_input {
    const sensor_channel *channel;
    const atmosphere_params *atmosphere;
    int rotor_count;
} channel_input;

/// Tables of one sensor. Functions may be NULL.
typedef struct sensor_type {
    const char *name;             // in scenarios, states, logs and on the wire
    const char *display_name;     // in messages
    const vy_schema_table *table; // of its def: what a scenario may say of it
    const void *defaults;         // a def
    size_t link_offset;           // in the def; the period is its first member
    const void *parts;            // as sold: each a name and a def
    size_t part_size;             // [bytes] from one to the next
    int part_count;
    /// Checks beyond the rows.
    vy_status (*check)(const void *def, const vy_vehicle_def *vehicle, vy_error *err);
    /// Leave in a def what a calibration on the ground leaves.
    void (*calibrate)(void *def);
    /// Constants, from a def that has been checked; `run_key` keys what is drawn once per run.
    void (*build)(const void *def, const sensor_key *run_key, void *params);
    /// Its state at the start, in a block of zeros.
    void (*start)(const void *params, const sensor_key *key, void *block);
    /// Add to the numbers of a channel, `amount` for each of its axes; NULL: nothing else to do.
    void (*add_error)(const channel_input *in, const double *amount, double *sample);
    /// For display: where its rays begin and their unit vectors, body axes. Returns how many.
    int (*rays)(const void *params, vec3 *origin, vec3 along[VY_RAY_CAP]);
} sensor_type;

/// The name of part `index` of those a sensor has.
const char *vy_sensor_part_name(const sensor_type *type, int index);

/// A part by name. VY_NOT_FOUND with the known names; `*def` is untouched then.
vy_status vy_sensor_part(const sensor_type *type, const char *name, void *def, vy_error *err);
