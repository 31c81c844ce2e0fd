// geodetic.c - motion over the ground of a planet, and back to world axes.
#include "environment/environment.h"
#include "base/real.h"
#include "environment/environment_build.h"

static planet_params planet_params_of(const vy_planet_def *def)
{
    return (planet_params){1, def->radius, def->radius * (1.0 - def->flattening),
                           def->flattening * (2.0 - def->flattening), def->rate};
}

// Columns north, east, down: from local axes to the world's.
static mat3 local_axes(const planet_frame *place)
{
    return (mat3){{{place->north.x, place->east.x, -place->up.x},
                   {place->north.y, place->east.y, -place->up.y},
                   {place->north.z, place->east.z, -place->up.z}}};
}

// Forward-right-down of a forward-left-up rotation, or the reverse: both rotate by half a turn about x.
static mat3 flu_to_frd(mat3 r)
{
    for (int i = 0; i < 3; ++i) {
        r.m[i][1] = -r.m[i][1];
        r.m[i][2] = -r.m[i][2];
    }
    return r;
}

// A unit quaternion of a rotation matrix, by its largest component.
static quat quat_of_matrix(mat3 r)
{
    const double trace = r.m[0][0] + r.m[1][1] + r.m[2][2];
    int k = 0;
    for (int i = 1; i < 3; ++i) {
        if (r.m[i][i] > r.m[k][k]) k = i;
    }
    double q[4]; // x, y, z, w
    if (trace > r.m[k][k]) {
        q[3] = 1.0 + trace;
        q[0] = r.m[2][1] - r.m[1][2];
        q[1] = r.m[0][2] - r.m[2][0];
        q[2] = r.m[1][0] - r.m[0][1];
    } else {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        q[k] = 1.0 + 2.0 * r.m[k][k] - trace;
        q[a] = r.m[a][k] + r.m[k][a];
        q[b] = r.m[b][k] + r.m[k][b];
        q[3] = r.m[b][a] - r.m[a][b];
    }
    return quat_normalize(quat_make(q[3], q[0], q[1], q[2]));
}

// A planet, the world's frame there, and axes of a place in it.
typedef struct geodetic_frame {
    planet_params planet;
    local_frame local;
    double longitude; // of the meridian frame
} geodetic_frame;

// At a pole, where every direction is south or north, the longitude is 0.
#define POLE_COSINE 1e-12

static geodetic_frame frame_of(const vy_planet_def *def)
{
    geodetic_frame f = {.planet = planet_params_of(def), .local = local_frame_build(def)};
    if (!f.local.on) return f;
    f.planet.rate = 0.0; // the world turns with it
    if (real_abs(f.local.cos_lat) > POLE_COSINE) f.longitude = def->origin.longitude;
    return f;
}

// East, north and up of a place in world axes, and where it is.
static planet_frame place_of(const geodetic_frame *f, vec3 position)
{
    if (!f->local.on) return planet_locate(&f->planet, position);
    planet_frame a = planet_locate(&f->planet, local_to_meridian(&f->local, position));
    const local_position local = local_locate(&f->local, &f->planet, position);
    a.east = local_from_meridian(&f->local, a.east);
    a.north = local_from_meridian(&f->local, a.north);
    a.up = local.up;
    a.altitude = f->local.height + local.height;
    return a;
}

static double wrap_angle(double angle)
{
    return angle - 2.0 * 3.14159265358979324 * real_round(angle / (2.0 * 3.14159265358979324));
}

static double longitude_of(const geodetic_frame *f, vec3 position, double time)
{
    if (!f->local.on) return planet_longitude(&f->planet, position, time);
    return wrap_angle(f->longitude +
                      planet_longitude(&f->planet, local_to_meridian(&f->local, position), 0.0));
}

// The world's place of a geodetic one.
static vec3 position_of(const geodetic_frame *f, const vy_geodetic *g, double time)
{
    const local_frame *local = &f->local;
    const double planet_time = local->on ? 0.0 : time;
    const vec3 r =
        planet_position(&f->planet, g->latitude, g->longitude - f->longitude, g->altitude, planet_time);
    if (!local->on) return r;
    return local_from_meridian(local,
                               vec3_make(r.x - local->axis_distance, r.y, r.z - local->equator_height));
}

vy_geodetic vy_geodetic_of(const vy_planet_def *planet, double time, vy_vec3 position, vy_vec3 velocity,
                           vy_quat attitude)
{
    FPU_SCOPE;
    const geodetic_frame f = frame_of(planet);
    const planet_frame place = place_of(&f, position);
    const mat3 local = local_axes(&place);
    const mat3 body = flu_to_frd(mat3_mul(mat3_transpose(local), quat_matrix(attitude)));
    vy_geodetic result = {
        .latitude = planet_latitude(&place),
        .longitude = longitude_of(&f, position, time),
        .altitude = place.altitude,
        .velocity = mat3_tmul_vec(local, vec3_sub(velocity, planet_ground_velocity(&f.planet, position))),
        .yaw = math_atan2(body.m[1][0], body.m[0][0]),
        .pitch = math_asin(real_clamp(-body.m[2][0], -1.0, 1.0)),
        .roll = math_atan2(body.m[2][1], body.m[2][2]),
    };
    return result;
}

void vy_geodetic_to_world(const vy_planet_def *planet, double time, const vy_geodetic *geodetic,
                          vy_vec3 *position, vy_vec3 *velocity, vy_quat *attitude)
{
    FPU_SCOPE;
    const geodetic_frame f = frame_of(planet);
    *position = position_of(&f, geodetic, time);
    const planet_frame place = place_of(&f, *position);
    const mat3 local = local_axes(&place);
    *velocity =
        vec3_add(planet_ground_velocity(&f.planet, *position), mat3_mul_vec(local, geodetic->velocity));
    double sy, cy, sp, cp, sr, cr;
    math_sincos(geodetic->yaw, &sy, &cy);
    math_sincos(geodetic->pitch, &sp, &cp);
    math_sincos(geodetic->roll, &sr, &cr);
    const mat3 body = {{{cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr},
                        {sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr},
                        {-sp, cp * sr, cp * cr}}};
    *attitude = quat_of_matrix(mat3_mul(local, flu_to_frd(body)));
}
