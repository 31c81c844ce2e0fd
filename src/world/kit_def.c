// kit_def.c - kits as declared: checks and constants.
#include "base/fail.h"
#include "base/assert.h"
#include "base/finite.h"
#include "base/math.h"
#include "world/build.h"
#include "world/kit.h"
#include "world/world_def.h"
#include <stdio.h>

#define DELAY_MOST     4096   // samples on their way
#define ALLAN_FLOOR    0.6175 // largest Allan deviation of a Gauss-Markov process over its deviation
#define KIT_STEP_LEAST 1e-12  // of a reading's last digit, over 1 of its unit

typedef struct kit_part {
    const char *name;
    double period;
    vy_link_def link;
} kit_part;

// In the order of enum kit_sensor.
static void list_parts(const vy_drone_def *def, kit_part out[KIT_SENSORS])
{
    const vy_kit_def *k = &def->kit;
    const kit_part parts[KIT_SENSORS] = {
        {"baro", k->baro.period, k->baro.link},  {"mag", k->mag.period, k->mag.link},
        {"gps", k->gps.period, k->gps.link},     {"range", k->range.period, k->range.link},
        {"flow", k->flow.period, k->flow.link},  {"power", k->power.period, k->power.link},
        {"esc", k->esc.period, k->esc.link},     {"lidar", k->lidar.period, k->lidar.link},
        {"imu", def->imu.period, def->imu.link}, {"mocap", def->mocap.period, def->mocap.link},
    };
    memcpy(out, parts, sizeof parts);
}

static int is_linked(vy_link_def link) { return link.dropout != 0.0 || link.delay != 0.0; }

// Does the IMU have a figure that the plain one has not?
static int imu_is_full(const vy_imu_def *d)
{
    return d->accel_instability != 0.0 || d->gyro_instability != 0.0 || d->accel_scale != 0.0 ||
           d->gyro_scale != 0.0 || d->accel_misalignment != 0.0 || d->gyro_misalignment != 0.0 ||
           d->accel_bandwidth != 0.0 || d->gyro_bandwidth != 0.0 || d->accel_range != 0.0 ||
           d->gyro_range != 0.0 || d->accel_step != 0.0 || d->gyro_step != 0.0 || d->position.x != 0.0 ||
           d->position.y != 0.0 || d->position.z != 0.0 || is_linked(d->link);
}

int vy_drone_has_kit(const vy_drone_def *def)
{
    kit_part parts[KIT_SENSORS];
    list_parts(def, parts);
    for (int i = 0; i < KIT_OWN; ++i) {
        if (parts[i].period > 0.0) return 1;
    }
    if (def->estimator.kind != VY_ESTIMATOR_FADING && !def->truth) return 1;
    return (def->imu.period > 0.0 && imu_is_full(&def->imu)) ||
           (def->mocap.period > 0.0 && is_linked(def->mocap.link));
}

double vy_kit_delays(const vy_drone_def *def)
{
    kit_part parts[KIT_SENSORS];
    double cells = 0.0;
    list_parts(def, parts);
    for (int i = 0; i < KIT_SENSORS; ++i) {
        if (!(parts[i].period > 0.0) || parts[i].link.delay == 0.0) continue;
        cells += (parts[i].link.delay / parts[i].period + 1.0) * (1.0 + vy_kit_width(i));
    }
    return cells;
}

// --- checks

// Numbers that must be finite and at least 0.
typedef struct figures {
    const char *sensor;
    struct {
        const char *name;
        double value;
    } list[16];
} figures;

static vy_status check_figures(const figures *f, vy_error *err)
{
    for (int i = 0; f->list[i].name != NULL; ++i) {
        const double value = f->list[i].value;
        if (!(real_is_finite(value) && value >= 0.0))
            return vy_fail(err, VY_BAD_VALUE, "drone.%s.%s must be at least 0, got %g", f->sensor,
                           f->list[i].name, value);
        const size_t size = strlen(f->list[i].name);
        const int step = size >= 4 && strcmp(f->list[i].name + size - 4, "step") == 0;
        if (step && value > 0.0 && value < KIT_STEP_LEAST)
            return vy_fail(err, VY_BAD_VALUE, "drone.%s.%s must be 0 or at least %g, got %g", f->sensor,
                           f->list[i].name, KIT_STEP_LEAST, value);
        const int time = size >= 4 && strcmp(f->list[i].name + size - 4, "time") == 0;
        if (time && !(value > 0.0))
            return vy_fail(err, VY_BAD_VALUE, "drone.%s.%s must be above 0 s", f->sensor, f->list[i].name);
    }
    return VY_OK;
}

static vy_status check_parts(const vy_drone_def *def, vy_error *err)
{
    kit_part parts[KIT_SENSORS];
    list_parts(def, parts);
    for (int i = 0; i < KIT_SENSORS; ++i) {
        const kit_part *p = &parts[i];
        if (!(real_is_finite(p->period) && p->period >= 0.0))
            return vy_fail(err, VY_BAD_VALUE, "drone.%s.period must be at least 0, got %g", p->name,
                           p->period);
        if (!(p->link.dropout >= 0.0 && p->link.dropout <= 1.0))
            return vy_fail(err, VY_BAD_VALUE, "drone.%s.dropout must be within 0 and 1, got %g", p->name,
                           p->link.dropout);
        if (!(p->link.delay >= 0.0 && p->link.delay <= DELAY_MOST * p->period) && p->period > 0.0)
            return vy_fail(err, VY_BAD_VALUE,
                           "drone.%s.delay must be within 0 and %d of its periods, got %g s", p->name,
                           DELAY_MOST, p->link.delay);
    }
    return VY_OK;
}

static vy_status check_imu(const vy_imu_def *d, vy_error *err)
{
    const figures list = {"imu",
                          {{"accel_instability", d->accel_instability},
                           {"gyro_instability", d->gyro_instability},
                           {"accel_scale", d->accel_scale},
                           {"gyro_scale", d->gyro_scale},
                           {"accel_misalignment", d->accel_misalignment},
                           {"gyro_misalignment", d->gyro_misalignment},
                           {"accel_bandwidth", d->accel_bandwidth},
                           {"gyro_bandwidth", d->gyro_bandwidth},
                           {"accel_range", d->accel_range},
                           {"gyro_range", d->gyro_range},
                           {"accel_step", d->accel_step},
                           {"gyro_step", d->gyro_step}}};
    const vy_status status = check_figures(&list, err);
    if (status != VY_OK) return status;
    const int wanders = d->accel_instability > 0.0 || d->gyro_instability > 0.0;
    if (wanders && !(real_is_finite(d->instability_time) && d->instability_time > 0.0))
        return vy_fail(err, VY_BAD_VALUE, "drone.imu.instability_time must be above 0 s, got %g",
                       d->instability_time);
    if (!vy_all_finite(&d->position.x, 3))
        return vy_fail(err, VY_BAD_VALUE, "drone.imu.position must be finite");
    return VY_OK;
}

static vy_status check_fields(const vy_kit_def *k, vy_error *err)
{
    const figures baro = {"baro",
                          {{"noise", k->baro.noise},
                           {"bias", k->baro.bias},
                           {"wander", k->baro.wander},
                           {"wander_time", k->baro.wander_time},
                           {"step", k->baro.step}}};
    const figures mag = {"mag",
                         {{"noise", k->mag.noise},
                          {"bias", k->mag.bias},
                          {"scale", k->mag.scale},
                          {"misalignment", k->mag.misalignment},
                          {"range", k->mag.range},
                          {"step", k->mag.step}}};
    const figures gps = {"gps",
                         {{"position_noise", k->gps.position_noise},
                          {"height_noise", k->gps.height_noise},
                          {"velocity_noise", k->gps.velocity_noise},
                          {"position_wander", k->gps.position_wander},
                          {"height_wander", k->gps.height_wander},
                          {"wander_time", k->gps.wander_time}}};
    vy_status status = VY_OK;
    if (k->baro.period > 0.0) status = check_figures(&baro, err);
    if (status == VY_OK && k->mag.period > 0.0) status = check_figures(&mag, err);
    if (status == VY_OK && k->gps.period > 0.0) status = check_figures(&gps, err);
    if (status == VY_OK && !vy_all_finite(&k->gps.position.x, 3))
        return vy_fail(err, VY_BAD_VALUE, "drone.gps.position must be finite");
    return status;
}

static vy_status check_sight(const char *name, double least, double most, vy_vec3 position, vy_error *err)
{
    if (!(least >= 0.0 && least < most && real_is_finite(most)))
        return vy_fail(err, VY_BAD_VALUE,
                       "drone.%s: least must be at least 0 m and below most, got %g and %g", name, least,
                       most);
    if (!vy_all_finite(&position.x, 3))
        return vy_fail(err, VY_BAD_VALUE, "drone.%s.position must be finite", name);
    return VY_OK;
}

static vy_status check_rays(const vy_kit_def *k, vy_error *err)
{
    const figures range = {
        "range", {{"noise", k->range.noise}, {"noise_share", k->range.noise_share}, {"step", k->range.step}}};
    const figures flow = {"flow", {{"noise", k->flow.noise}, {"range", k->flow.range}}};
    const figures lidar = {
        "lidar", {{"noise", k->lidar.noise}, {"noise_share", k->lidar.noise_share}, {"step", k->lidar.step}}};
    const double length = vec3_length(k->range.direction),
                 turned = quat_dot(k->lidar.attitude, k->lidar.attitude);
    vy_status status = VY_OK;
    if (k->range.period > 0.0) {
        status = check_figures(&range, err);
        if (status == VY_OK)
            status = check_sight("range", k->range.least, k->range.most, k->range.position, err);
        if (status == VY_OK && !(length > 0.0 && real_is_finite(length)))
            status = vy_fail(err, VY_BAD_VALUE, "drone.range.direction must have a length above 0");
    }
    if (status == VY_OK && k->flow.period > 0.0) {
        status = check_figures(&flow, err);
        if (status == VY_OK) status = check_sight("flow", k->flow.least, k->flow.most, k->flow.position, err);
    }
    if (status == VY_OK && k->lidar.period > 0.0) {
        const vy_lidar_def *l = &k->lidar;
        status = check_figures(&lidar, err);
        if (status == VY_OK) status = check_sight("lidar", l->least, l->most, l->position, err);
        if (status == VY_OK && !(l->columns >= 1 && l->rows >= 1 && l->columns <= VY_RAY_CAP &&
                                 l->rows <= VY_RAY_CAP && l->columns * l->rows <= VY_RAY_CAP))
            status =
                vy_fail(err, VY_BAD_VALUE, "drone.lidar: columns times rows must be 1 to %d, got %d times %d",
                        VY_RAY_CAP, l->columns, l->rows);
        if (status == VY_OK &&
            !(l->width >= 0.0 && l->width <= 6.2831853072 && l->height >= 0.0 && l->height <= 3.1415926536))
            status = vy_fail(err, VY_BAD_VALUE,
                             "drone.lidar: width must be within 0 and 2 pi rad, height within 0 and pi");
        if (status == VY_OK && !(turned > 0.0 && real_is_finite(turned)))
            status = vy_fail(err, VY_BAD_VALUE, "drone.lidar.attitude must have a length above 0");
    }
    return status;
}

static vy_status check_drive(const vy_drone_def *def, vy_error *err)
{
    const vy_power_def *p = &def->kit.power;
    const vy_esc_def *e = &def->kit.esc;
    const figures power = {"power",
                           {{"voltage_noise", p->voltage_noise},
                            {"current_noise", p->current_noise},
                            {"voltage_step", p->voltage_step},
                            {"current_step", p->current_step}}};
    const figures esc = {"esc", {{"noise", e->noise}, {"step", e->step}}};
    if (p->period > 0.0 && !(def->vehicle.battery.capacity > 0.0))
        return vy_fail(err, VY_BAD_VALUE, "drone.power: %s has no battery to monitor", def->vehicle.name);
    vy_status status = VY_OK;
    if (p->period > 0.0) status = check_figures(&power, err);
    if (status == VY_OK && e->period > 0.0) status = check_figures(&esc, err);
    return status;
}

vy_status vy_check_kit_def(const vy_drone_def *def, vy_error *err)
{
    vy_status status = check_parts(def, err);
    if (status == VY_OK && def->imu.period > 0.0) status = check_imu(&def->imu, err);
    if (status == VY_OK) status = check_fields(&def->kit, err);
    if (status == VY_OK) status = check_rays(&def->kit, err);
    if (status == VY_OK) status = check_drive(def, err);
    if (status == VY_OK) status = vy_check_estimator_def(def, err);
    return status;
}

// --- constants

static wander_params wander_of(double deviation, double period, double time)
{
    const double keep = time > 0.0 ? math_exp(-period / time) : 0.0;
    return (wander_params){keep, deviation * real_sqrt(1.0 - keep * keep)};
}

// Share of a change that a low-pass shows after one period.
static double follow_of(double bandwidth, double period)
{
    return bandwidth > 0.0 ? 1.0 - math_exp(-6.283185307179586 * bandwidth * period) : 1.0;
}

// Deviates of what is drawn once per run, of one sensor.
static void draw_once(const vy_model *world, uint32_t index, int sensor, double *n, int count)
{
    rng_normals(world->seed, RNG_STREAM_START, index, 1u + (uint64_t)sensor, n, count);
}

static void build_imu(const vy_model *world, const vy_imu_def *d, uint32_t index, kit_model *out)
{
    double n[18];
    draw_once(world, index, KIT_IMU, n, 18);
    const double t = d->period, time = d->instability_time;
    out->accel_deviation = d->accel_instability / ALLAN_FLOOR;
    out->gyro_deviation = d->gyro_instability / ALLAN_FLOOR;
    out->imu = (imu_full_params){
        .plain = vy_imu_build(d),
        .accel_wander = wander_of(out->accel_deviation, t, time),
        .gyro_wander = wander_of(out->gyro_deviation, t, time),
        .accel_distortion = distortion_draw(d->accel_scale, d->accel_misalignment, n),
        .gyro_distortion = distortion_draw(d->gyro_scale, d->gyro_misalignment, n + 9),
        .accel_follow = follow_of(d->accel_bandwidth, t),
        .gyro_follow = follow_of(d->gyro_bandwidth, t),
        .accel_digits = {d->accel_range, d->accel_step},
        .gyro_digits = {d->gyro_range, d->gyro_step},
        .position = d->position,
    };
}

static void build_fields(const vy_model *world, const vy_kit_def *k, uint32_t index, kit_model *out)
{
    double n[12];
    draw_once(world, index, KIT_BARO, n, 1);
    out->baro = (baro_params){.noise = k->baro.noise,
                              .bias = k->baro.bias * n[0],
                              .wander = wander_of(k->baro.wander, k->baro.period, k->baro.wander_time),
                              .digits = {0.0, k->baro.step}};
    out->baro_deviation = k->baro.wander;
    draw_once(world, index, KIT_MAG, n, 12);
    out->mag = (mag_params){.noise = k->mag.noise,
                            .bias = vec3_scale(k->mag.bias, vec3_make(n[0], n[1], n[2])),
                            .distortion = distortion_draw(k->mag.scale, k->mag.misalignment, n + 3),
                            .digits = {k->mag.range, k->mag.step}};
    const vy_gps_def *g = &k->gps;
    out->gps = (gps_params){
        .position_noise = vec3_make(g->position_noise, g->position_noise, g->height_noise),
        .velocity_noise = g->velocity_noise,
        .across = wander_of(g->position_wander, g->period, g->wander_time),
        .upwards = wander_of(g->height_wander, g->period, g->wander_time),
        .position = g->position,
    };
    out->gps_deviation = vec3_make(g->position_wander, g->position_wander, g->height_wander);
}

// Ray `i` of `count` across `angle`, from +half to -half: the middle one is at 0; a full turn has no ray
// twice.
static double ray_angle(int i, int count, double angle)
{
    if (count == 1) return 0.0;
    const double pieces = angle >= 6.2831853 ? count : count - 1;
    return 0.5 * angle - (double)i * (angle / pieces);
}

int vy_lidar_rays(const vy_lidar_def *def, vec3 rays[VY_RAY_CAP])
{
    VY_ASSERT(def->rows >= 0 && def->columns >= 0 && def->rows * def->columns <= VY_RAY_CAP);
    const quat turned = quat_normalize(def->attitude);
    int count = 0;
    for (int row = 0; row < def->rows; ++row) {
        for (int column = 0; column < def->columns; ++column) {
            double s, c, up_s, up_c;
            math_sincos(ray_angle(column, def->columns, def->width), &s, &c);
            math_sincos(ray_angle(row, def->rows, def->height), &up_s, &up_c);
            rays[count++] = quat_rotate(turned, vec3_make(c * up_c, s * up_c, up_s));
        }
    }
    return count;
}

static void build_rays(const vy_kit_def *k, kit_model *out)
{
    const vy_range_def *r = &k->range;
    const vy_lidar_def *l = &k->lidar;
    out->range = (kit_ray){{r->noise, r->noise_share, r->least, r->most, {0.0, r->step}}, r->position};
    if (r->period > 0.0) out->range_direction = vec3_scale(1.0 / vec3_length(r->direction), r->direction);
    out->flow.noise = k->flow.noise;
    out->flow.least = k->flow.least;
    out->flow.most = k->flow.most;
    out->flow.range = k->flow.range;
    out->flow.position = k->flow.position;
    out->lidar = (kit_ray){{l->noise, l->noise_share, l->least, l->most, {0.0, l->step}}, l->position};
    if (l->period > 0.0) out->ray_count = vy_lidar_rays(l, out->rays);
}

static void build_drive(const vy_kit_def *k, kit_model *out)
{
    out->power.voltage_noise = k->power.voltage_noise;
    out->power.current_noise = k->power.current_noise;
    out->power.voltage = (digits_params){0.0, k->power.voltage_step};
    out->power.current = (digits_params){0.0, k->power.current_step};
    out->esc.noise = k->esc.noise;
    out->esc.digits = (digits_params){0.0, k->esc.step};
}

static vy_status build_links(const vy_model *world, const vy_drone_def *def, kit_model *out, uint32_t *cells,
                             vy_error *err)
{
    kit_part parts[KIT_SENSORS];
    list_parts(def, parts);
    *cells = 0;
    for (int i = 0; i < KIT_SENSORS; ++i) {
        kit_link *link = &out->links[i];
        const int taken = i < KIT_OWN    ? 1
                          : i == KIT_IMU ? imu_is_full(&def->imu)
                                         : is_linked(def->mocap.link);
        if (!(parts[i].period > 0.0) || !taken) continue;
        char name[32];
        snprintf(name, sizeof name, "drone.%s.period", parts[i].name);
        const vy_status status = vy_period_ticks(name, parts[i].period, world->dt, &link->period, err);
        if (status != VY_OK) return status;
        link->delay = (uint64_t)real_round(parts[i].link.delay / parts[i].period);
        VY_ASSERT(link->period > 0 && link->delay <= DELAY_MOST);
        link->dropout = parts[i].link.dropout;
        link->line = *cells;
        link->cells = 1u + (uint32_t)vy_kit_width(i);
        *cells += (uint32_t)link->delay * link->cells;
        out->identity |= (uint64_t)1 << (32 + i);
    }
    return VY_OK;
}

vy_status vy_kit_build(const vy_model *world, const vy_drone_def *def, uint32_t index, kit_model *out,
                       uint32_t *cells, vy_error *err)
{
    const int looks_down =
        def->kit.range.period > 0.0 || def->kit.flow.period > 0.0 || def->kit.lidar.period > 0.0;
    if (looks_down && world->env.planet.on)
        return vy_fail(err, VY_BAD_VALUE,
                       "drone: range, flow and lidar see the flat ground z = 0: not on a planet");
    memset(out, 0, sizeof *out);
    out->drone = index;
    const vy_status status = build_links(world, def, out, cells, err);
    if (status != VY_OK) return status;
    out->identity |= index;
    if (def->imu.period > 0.0) build_imu(world, &def->imu, index, out);
    out->mocap = (mocap_params){def->mocap.position_noise, def->mocap.attitude_noise};
    build_fields(world, &def->kit, index, out);
    build_rays(&def->kit, out);
    build_drive(&def->kit, out);
    return vy_filter_build(world, def, out, err);
}
