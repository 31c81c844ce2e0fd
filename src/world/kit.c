// kit.c - sampling the sensors of kits.
#include "world/kit.h"
#include "base/assert.h"
#include "environment/nap.h"

// Samples are delivered as numbers in a row, from their first member on.
_Static_assert(offsetof(imu_reading, gyro) == 3 * 8 && sizeof(imu_reading) == 6 * 8, "accel, then gyro");
_Static_assert(offsetof(imu_state, accel) == 0 && offsetof(imu_state, gyro) == 3 * 8, "accel, then gyro");
_Static_assert(offsetof(mocap_state, attitude) == 3 * 8 && sizeof(mocap_state) == 7 * 8, "place, then turn");
_Static_assert(offsetof(gps_reading, velocity) == 3 * 8 && sizeof(gps_reading) == 6 * 8,
               "place, then velocity");
_Static_assert(sizeof(vec3) == 3 * 8 && sizeof(quat) == 4 * 8, "without padding");
_Static_assert(offsetof(kit_block, baro.altitude) == offsetof(kit_block, baro.pressure) + 8, "two in a row");
_Static_assert(offsetof(kit_block, power.current) == offsetof(kit_block, power.voltage) + 8, "two in a row");
_Static_assert(offsetof(kit_block, flow.y) == offsetof(kit_block, flow.x) + 8 &&
                   offsetof(kit_block, flow.quality) == offsetof(kit_block, flow.x) + 16,
               "three in a row");

int vy_kit_width(int sensor)
{
    static const int widths[KIT_SENSORS] = {2, 3, 6, 1, 3, 2, VY_ROTOR_CAP, VY_RAY_CAP, 6, 7};
    VY_ASSERT(sensor >= 0 && sensor < KIT_SENSORS);
    return widths[sensor];
}

uint64_t vy_sensor_period(const vy_model *world, uint32_t drone, int sensor)
{
    const drone_model *dm = &world->drones[drone];
    VY_ASSERT(drone < world->drone_cap);
    VY_ASSERT(sensor >= 0 && sensor < KIT_SENSORS && dm->kit <= world->kit_cap);
    const uint64_t carried = dm->kit > 0 ? world->kits[dm->kit - 1].links[sensor].period : 0;
    if (carried > 0 || sensor < KIT_OWN) return carried;
    return sensor == KIT_IMU ? dm->imu_period : dm->mocap_period;
}

// What a stage of one kit works on.
typedef struct scene {
    const vy_model *m;
    const kit_model *kit;
    uint64_t tick;
    const body_state *body;
    delay_block *delays;
    const vy_world *world; // for its shapes
} scene;

// Send a sample off, and receive what arrives now. Returns 0 when nothing does; `values` is the sample then
// still.
static int deliver(const scene *s, int sensor, double *values)
{
    const kit_link *link = &s->kit->links[sensor];
    const int width = vy_kit_width(sensor);
    int sent = 1;
    if (link->dropout > 0.0) {
        double u[2];
        rng_uniforms(s->m->seed, RNG_STREAM_LINK, (uint64_t)s->kit->drone * 16 + (uint64_t)sensor, s->tick, u,
                     2);
        sent = u[0] >= link->dropout;
    }
    if (link->delay == 0) return sent;
    VY_ASSERT(link->period > 0 && link->cells == 1u + (uint32_t)width);
    VY_ASSERT(link->line + link->delay * link->cells <= s->m->delay_count); // its line is its own
    delay_block *place = &s->delays[link->line + s->tick / link->period % link->delay * link->cells];
    const int arrives = place[0].value != 0.0;
    place[0].value = sent ? (double)s->tick : 0.0;
    for (int i = 0; i < width; ++i) {
        const double old = place[1 + i].value;
        place[1 + i].value = values[i];
        if (arrives) values[i] = old;
    }
    return arrives;
}

static int is_due(const scene *s, int sensor) { return due(s->tick, s->kit->links[sensor].period); }

static void put(const scene *s, int sensor, const double *values, double *sample, uint64_t *tick)
{
    memcpy(sample, values, (size_t)vy_kit_width(sensor) * sizeof *sample);
    *tick = s->tick;
}

static void sample_body(const scene *s, drone_block *d, kit_block *k)
{
    if (is_due(s, KIT_IMU)) {
        const vec3 g =
            vec3_if(effect_on(d->effects, EFFECT_gravity), gravity_at(&s->m->env.gravity, d->body.position));
        imu_reading r =
            imu_full_sample(&s->kit->imu, s->body, g, s->m->seed, s->kit->drone, s->tick, &d->imu, &k->imu);
        if (deliver(s, KIT_IMU, &r.accel.x)) put(s, KIT_IMU, &r.accel.x, &d->imu.accel.x, &d->imu_tick);
    }
    if (is_due(s, KIT_MOCAP)) {
        mocap_state r;
        mocap_sample(&s->kit->mocap, s->body, s->m->seed, s->kit->drone, s->tick, &r);
        if (deliver(s, KIT_MOCAP, &r.position.x))
            put(s, KIT_MOCAP, &r.position.x, &d->mocap.position.x, &d->mocap_tick);
    }
}

static void sample_fields(const scene *s, kit_block *k)
{
    const vy_model *m = s->m;
    if (is_due(s, KIT_BARO)) {
        double r[2];
        const double altitude = nap_altitude(&m->env, s->body->position);
        r[0] = baro_sample(&s->kit->baro, &m->env.air, altitude, m->seed, s->kit->drone, s->tick,
                           &k->baro_wander);
        r[1] = baro_altitude(&m->env.air, r[0]);
        if (deliver(s, KIT_BARO, r)) put(s, KIT_BARO, r, &k->baro.pressure, &k->ticks[KIT_BARO]);
    }
    if (is_due(s, KIT_MAG)) {
        vec3 r = mag_sample(&s->kit->mag, vec3_of(m->env.magnetic), s->body->attitude, m->seed, s->kit->drone,
                            s->tick);
        if (deliver(s, KIT_MAG, &r.x)) put(s, KIT_MAG, &r.x, &k->mag.field.x, &k->ticks[KIT_MAG]);
    }
    if (is_due(s, KIT_GPS)) {
        gps_reading r = gps_sample(&s->kit->gps, s->body, m->seed, s->kit->drone, s->tick, &k->gps_wander);
        if (deliver(s, KIT_GPS, &r.position.x))
            put(s, KIT_GPS, &r.position.x, &k->gps.position.x, &k->ticks[KIT_GPS]);
    }
}

// Distance from a place on the drone along a direction in body axes: to the nearest shape, or to the ground z
// = 0.
static double look(const scene *s, vec3 position, vec3 along, double reach)
{
    const vec3 origin = gps_truth(s->body, position).position, way = quat_rotate(s->body->attitude, along);
    const double ground = s->world->has_ground ? RAY_NOTHING : ray_to_ground(origin, way);
    vy_ray_target target;
    if (!vy_world_cast_ray(s->world, origin, way, reach, vy_world_drone(s->world, s->kit->drone), &target))
        return ground;
    return ground > 0.0 && ground < target.distance ? ground : target.distance;
}

static void sample_flow(const scene *s, kit_block *k)
{
    double n[2], r[3] = {0.0, 0.0, 0.0};
    rng_normals(s->m->seed, RNG_STREAM_FLOW, s->kit->drone, s->tick, n, 2);
    const vec3 down = vec3_make(0.0, 0.0, -1.0), at = s->kit->flow.position;
    const double distance = look(s, at, down, s->kit->flow.most);
    if (distance > 0.0 && distance >= s->kit->flow.least && distance <= s->kit->flow.most) {
        double x, y;
        const vec3 velocity =
            vec3_add(quat_unrotate(s->body->attitude, s->body->velocity), lever_velocity(s->body->rate, at));
        flow_truth(velocity, s->body->rate, distance, &x, &y);
        const double range = s->kit->flow.range;
        if (range == 0.0 || (real_abs(x) <= range && real_abs(y) <= range)) {
            r[0] = x + s->kit->flow.noise * n[0];
            r[1] = y + s->kit->flow.noise * n[1];
            r[2] = 1.0;
        }
    }
    if (deliver(s, KIT_FLOW, r)) put(s, KIT_FLOW, r, &k->flow.x, &k->ticks[KIT_FLOW]);
}

static void sample_rays(const scene *s, kit_block *k)
{
    double n[VY_RAY_CAP];
    if (is_due(s, KIT_RANGE)) {
        rng_normals(s->m->seed, RNG_STREAM_RANGE, s->kit->drone, s->tick, n, 1);
        const kit_ray *range = &s->kit->range;
        double r = ray_reading(&range->reading,
                               look(s, range->position, s->kit->range_direction, range->reading.most), n[0]);
        if (deliver(s, KIT_RANGE, &r)) put(s, KIT_RANGE, &r, &k->range.distance, &k->ticks[KIT_RANGE]);
    }
    if (is_due(s, KIT_FLOW)) sample_flow(s, k);
    if (is_due(s, KIT_LIDAR)) {
        double r[VY_RAY_CAP] = {0.0};
        const kit_ray *lidar = &s->kit->lidar;
        rng_normals(s->m->seed, RNG_STREAM_LIDAR, s->kit->drone, s->tick, n, VY_RAY_CAP);
        for (int i = 0; i < s->kit->ray_count; ++i)
            r[i] = ray_reading(&lidar->reading,
                               look(s, lidar->position, s->kit->rays[i], lidar->reading.most), n[i]);
        if (deliver(s, KIT_LIDAR, r)) put(s, KIT_LIDAR, r, k->lidar.distance, &k->ticks[KIT_LIDAR]);
    }
}

static void sample_drive(const scene *s, const drone_block *d, const gear_block *gear, kit_block *k)
{
    double n[VY_ROTOR_CAP];
    if (is_due(s, KIT_POWER)) {
        rng_normals(s->m->seed, RNG_STREAM_POWER, s->kit->drone, s->tick, n, 2);
        double r[2] = {
            digits_of(s->kit->power.voltage, gear->battery.voltage + s->kit->power.voltage_noise * n[0]),
            digits_of(s->kit->power.current, gear->battery.current + s->kit->power.current_noise * n[1])};
        if (deliver(s, KIT_POWER, r)) put(s, KIT_POWER, r, &k->power.voltage, &k->ticks[KIT_POWER]);
    }
    if (is_due(s, KIT_ESC)) {
        double r[VY_ROTOR_CAP] = {0.0};
        rng_normals(s->m->seed, RNG_STREAM_ESC, s->kit->drone, s->tick, n, VY_ROTOR_CAP);
        for (int i = 0; i < s->m->drones[s->kit->drone].layout.count; ++i)
            r[i] = digits_of(s->kit->esc.digits, real_max(d->rotor_speed[i] + s->kit->esc.noise * n[i], 0.0));
        if (deliver(s, KIT_ESC, r)) put(s, KIT_ESC, r, k->esc.speed, &k->ticks[KIT_ESC]);
    }
}

void vy_kit_stage(vy_world *world)
{
    const vy_model *m = &world->model;
    for (uint32_t i = 0; i < m->kit_count; ++i) {
        const kit_model *kit = &m->kits[i];
        VY_ASSERT(kit->drone < m->drone_count && m->drones[kit->drone].kit == i + 1);
        VY_ASSERT(kit->ray_count >= 0 && kit->ray_count <= VY_RAY_CAP);
        VY_ASSERT(kit->links[KIT_POWER].period == 0 || m->geared); // who measures a battery has one
        drone_block *d = &world->drones[kit->drone];
        const scene s = {m, kit, world->state->tick, &d->body, world->delays, world};
        sample_body(&s, d, &world->kits[i]);
        sample_fields(&s, &world->kits[i]);
        sample_rays(&s, &world->kits[i]);
        sample_drive(&s, d, world->gear != NULL && m->geared ? &world->gear[kit->drone] : NULL,
                     &world->kits[i]);
    }
}

void vy_kit_start(vy_world *world)
{
    const vy_model *m = &world->model;
    for (uint32_t i = 0; i < m->kit_count; ++i) {
        const kit_model *kit = &m->kits[i];
        const body_state *body = &world->drones[kit->drone].body;
        kit_block k;
        double n[4];
        memset(&k, 0, sizeof k);
        k.identity = kit->identity;
        const vec3 held =
            vec3_neg(quat_unrotate(body->attitude, gravity_at(&m->env.gravity, body->position)));
        imu_full_start(&kit->imu, body, held, kit->accel_deviation, kit->gyro_deviation, m->seed, kit->drone,
                       &k.imu);
        rng_normals(m->seed, RNG_STREAM_BAROMETER, kit->drone, 0, n, 1);
        k.baro_wander = kit->baro_deviation * n[0];
        rng_normals(m->seed, RNG_STREAM_GPS, kit->drone, 0, n, 3);
        k.gps_wander = vec3_mul(kit->gps_deviation, vec3_make(n[0], n[1], n[2]));
        world->kits[i] = k;
        if (kit->estimator == VY_ESTIMATOR_FADING) continue;
        VY_ASSERT(kit->filter < m->filter_count && (!vy_kit_gated(kit) || kit->gate < m->gate_count));
        ekf_covariance c;
        ekf_start(&kit->ekf, &c);
        ekf_pack(&c, world->filters[kit->filter].covariance);
        if (vy_kit_gated(kit)) memset(&world->gates[kit->gate], 0, sizeof(gate_block));
    }
}
