// page_info.c - a run's identity, its drones' shapes, its certificate and its scenario as JSON.
#include "page_info.h"
#include "environment/wind_grid.h"
#include "exit_status.h"
#include "load.h"
#include "message.h"
#include "record/log.h"
#include "record/streams.h"
#include "world/sensor_suite.h"
#include "volery/version.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_vector(json *j, const char *name, const double *values, int count)
{
    vy_json_list(j, name);
    for (int i = 0; i < count; ++i) vy_json_number(j, NULL, values[i]);
    vy_json_close(j);
}

static void put_vec3(json *j, const char *name, vy_vec3 v)
{
    put_vector(j, name, (const double[]){v.x, v.y, v.z}, 3);
}

// Numbers of 64 bits as text: a page's numbers are doubles.
static void put_uint_text(json *j, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    vy_json_text(j, name, text);
}

static void put_identity(json *j, const char *path, const vy_log *log)
{
    const vy_log_info info = vy_log_get_info(log);
    const char *slash = strrchr(path, '/');
    vy_json_text(j, "file", slash != NULL ? slash + 1 : path);
    vy_json_text(j, "version", info.version);
    vy_json_uint(j, "physics", info.physics);
    vy_json_text(j, "status", info.complete ? info.status : "cut off");
    put_uint_text(j, "seed", info.seed);
    vy_json_number(j, "dt", info.dt);
    vy_json_uint(j, "first_tick", info.first_tick);
    vy_json_uint(j, "last_tick", info.last_tick);
    vy_json_hash(j, "config_hash", info.config_hash);
    vy_json_hash(j, "final_hash", info.final_hash);
    if (!info.has_parent) return;
    vy_json_hash(j, "parent_hash", info.parent_hash);
    vy_json_uint(j, "parent_tick", info.parent_tick);
}

// Units of what the drones' streams hold, so that the page need not know the streams.
static void put_units(json *j)
{
    vy_json_object(j, "units");
    for (int s = 0; s < vy_drone_stream_count; ++s) {
        stream_layout layout;
        vy_stream_layout(s, VY_ROTOR_CAP, &layout);
        vy_json_object(j, vy_drone_streams[s].name);
        for (int i = 0; i < layout.field_count; ++i) {
            const char *unit = layout.first_field[i].unit;
            if (unit[0] != '\0') vy_json_text(j, layout.field_names[i], unit);
        }
        vy_json_close(j);
    }
    int count;
    const vy_reply_field *replies = vy_reply_fields(&count);
    vy_json_object(j, "reply");
    for (int i = 0; i < count; ++i) {
        if (replies[i].unit[0] != '\0') vy_json_text(j, replies[i].name, replies[i].unit);
    }
    vy_json_close(j);
    vy_json_close(j);
}

static void put_omitted(json *j, const page_data *data)
{
    vy_json_object(j, "thinned");
    vy_json_uint(j, "truth", data->truth_stride);
    vy_json_uint(j, "other", data->other_stride);
    vy_json_uint(j, "records", data->records);
    vy_json_uint(j, "total", data->total);
    vy_json_uint(j, "events_left", data->events_dropped);
    vy_json_close(j);
}

static const char *collider_name(vy_collider_kind kind)
{
    switch (kind) {
    case VY_COLLIDER_BOX: return "box";
    case VY_COLLIDER_SPHERE: return "sphere";
    case VY_COLLIDER_CAPSULE: return "capsule";
    case VY_COLLIDER_CYLINDER: return "cylinder";
    case VY_COLLIDER_HULL: return "hull";
    case VY_COLLIDER_PLANE: return "plane";
    case VY_COLLIDER_HEIGHT_FIELD: return "heights";
    case VY_COLLIDER_AUTO:
    case VY_COLLIDER_NONE: break;
    }
    return "";
}

// Every n-th row and column of a large surface, and the last ones: it is only for display.
static void put_heights(json *j, const vy_numbers *heights, double spacing)
{
    enum { SIDE_MAX = 128 };
    const int longest = heights->rows > heights->columns ? heights->rows : heights->columns;
    const int stride = (longest - 1 + SIDE_MAX - 1) / SIDE_MAX;
    vy_json_object(j, "heights");
    vy_json_number(j, "spacing", spacing);
    vy_json_uint(j, "rows", (uint64_t)heights->rows);
    vy_json_uint(j, "columns", (uint64_t)heights->columns);
    vy_json_uint(j, "stride", (uint64_t)stride);
    vy_json_list(j, "values");
    for (int y = 0; y < heights->rows - 1 + stride; y += stride) {
        const int row = y < heights->rows ? y : heights->rows - 1;
        for (int x = 0; x < heights->columns - 1 + stride; x += stride) {
            const int column = x < heights->columns ? x : heights->columns - 1;
            vy_json_number(j, NULL, heights->values[(size_t)row * (size_t)heights->columns + (size_t)column]);
        }
    }
    vy_json_close(j);
    vy_json_close(j);
}

static void put_collider(json *j, const vy_collider_def *solid)
{
    vy_json_text(j, "kind", collider_name(solid->kind));
    put_vec3(j, "size", solid->size);
    vy_json_number(j, "radius", solid->radius);
    vy_json_number(j, "length", solid->length);
    if (solid->kind == VY_COLLIDER_HULL && solid->points.values != NULL)
        put_vector(j, "points", solid->points.values, solid->points.rows * solid->points.columns);
    if (solid->kind == VY_COLLIDER_HEIGHT_FIELD && solid->heights.values != NULL)
        put_heights(j, &solid->heights, solid->spacing);
}

static void put_obstacle(json *j, const char *name, const vy_obstacle_def *def)
{
    const vy_quat q = def->attitude;
    if (collider_name(def->solid.kind)[0] == '\0') return;
    vy_json_object(j, NULL);
    vy_json_text(j, "name", name);
    put_vec3(j, "position", def->position);
    put_vector(j, "attitude", (const double[]){q.w, q.x, q.y, q.z}, 4);
    vy_json_object(j, "solid");
    put_collider(j, &def->solid);
    vy_json_close(j);
    vy_json_close(j);
}

// Ray sensors: origin, directions, and the delay of their samples.
static void put_rays(json *j, const char *name, vy_vec3 position, const vy_vec3 *directions, int count,
                     double delay)
{
    vy_json_object(j, name);
    put_vec3(j, "position", position);
    vy_json_list(j, "ways");
    for (int i = 0; i < count; ++i) put_vec3(j, NULL, directions[i]);
    vy_json_close(j);
    vy_json_number(j, "late", delay);
    vy_json_close(j);
}

// A sample is late by whole periods.
static double round_to_period(double delay, double period) { return round(delay / period) * period; }

static void put_ray_sensors(json *j, const vy_drone_def *drone)
{
    vy_json_object(j, "rays");
    for (int i = 0; i < SENSOR_SUITE_KINDS; ++i) {
        const sensor_type *type = vy_sensors[i].type;
        const char *def = vy_sensor_def(drone, i);
        double period;
        vy_link_def link;
        memcpy(&period, def, sizeof period);
        memcpy(&link, def + type->link_offset, sizeof link);
        if (type->rays == NULL || !(period > 0.0)) continue;
        sensor_params params;
        vec3 origin, directions[VY_RAY_CAP];
        type->build(def, &(sensor_key){0}, &params);
        const int count = type->rays(&params, &origin, directions);
        put_rays(j, type->name, origin, directions, count, round_to_period(link.delay, period));
    }
    vy_json_close(j);
}

static void put_drone(json *j, const vy_scenario_drone *drone)
{
    const vy_vehicle_def *v = &drone->def.vehicle;
    const vy_controller_def *controller = &drone->def.controller;
    vy_json_object(j, NULL);
    vy_json_text(j, "name", drone->name);
    vy_json_text(j, "vehicle", v->name);
    vy_json_number(j, "mass", v->mass);
    put_vector(j, "inertia", (const double *)&v->inertia, 9);
    vy_json_number(j, "speed_max", v->speed_max);
    vy_json_list(j, "rotors");
    for (int i = 0; i < v->rotor_count; ++i) {
        vy_json_object(j, NULL);
        const vy_vec3 position = v->rotors[i].position, c = v->centre_of_mass;
        put_vec3(j, "position", (vy_vec3){position.x - c.x, position.y - c.y, position.z - c.z});
        vy_json_number(j, "spin", v->rotors[i].spin);
        vy_json_close(j);
    }
    vy_json_close(j);
    vy_json_list(j, "thrusters");
    for (int i = 0; i < v->thruster_count; ++i) {
        vy_json_object(j, NULL);
        const vy_vec3 position = v->thrusters[i].position, c = v->centre_of_mass;
        put_vec3(j, "position", (vy_vec3){position.x - c.x, position.y - c.y, position.z - c.z});
        put_vec3(j, "axis", v->thrusters[i].axis);
        vy_json_number(j, "thrust_max", v->thrusters[i].thrust_max);
        vy_json_close(j);
    }
    vy_json_close(j);
    if (v->rotor_count == 0 && collider_name(drone->def.solid.kind)[0] != '\0') {
        vy_json_object(j, "solid");
        put_collider(j, &drone->def.solid);
        vy_json_close(j);
    }
    put_ray_sensors(j, &drone->def);
    vy_json_list(j, "setpoints");
    for (int i = 0; i < controller->setpoint_count && controller->kind == VY_CONTROLLER_HOLD; ++i) {
        put_vec3(j, NULL, controller->setpoints[i].position);
    }
    vy_json_close(j);
    vy_json_close(j);
}

static void put_body(json *j, const vy_scenario_body *body)
{
    vy_json_object(j, NULL);
    vy_json_text(j, "name", body->name);
    vy_json_number(j, "mass", body->def.mass);
    put_vector(j, "inertia", (const double *)&body->def.inertia, 9);
    if (collider_name(body->def.solid.kind)[0] != '\0') {
        vy_json_object(j, "solid");
        put_collider(j, &body->def.solid);
        vy_json_close(j);
    }
    vy_json_close(j);
}

static void put_joint(json *j, const vy_scenario_joint *joint)
{
    const vy_joint_def *def = &joint->def;
    vy_json_object(j, NULL);
    vy_json_text(j, "name", joint->name);
    vy_json_text(j, "kind", vy_joint_kind_name(def->kind));
    vy_json_number(j, "a", joint->a); // number of a drone or body; -1: the world
    vy_json_number(j, "b", joint->b);
    put_vec3(j, "anchor_a", def->anchor_a);
    put_vec3(j, "anchor_b", def->anchor_b);
    put_vec3(j, "axis", def->axis_a);
    vy_json_number(j, "length", def->length);
    vy_json_close(j);
}

// A wind field: of a large one every n-th node along each axis, and of its moments; it is only for display.
static void put_wind_field(json *j, const wind_grid *g)
{
    enum { SIDE_MAX = 9, TIMES_MAX = 12 };
    const int node_counts[4] = {g->nx, g->ny, g->nz, g->nt};
    int strides[4], shown_counts[4];
    for (int k = 0; k < 4; ++k) {
        const int max = k < 3 ? SIDE_MAX : TIMES_MAX;
        strides[k] = (node_counts[k] + max - 1) / max;
        shown_counts[k] = (node_counts[k] - 1) / strides[k] + 1;
    }
    vy_json_object(j, "wind_field");
    vy_json_list(j, "times");
    for (int t = 0; t < shown_counts[3]; ++t)
        vy_json_number(j, NULL, g->t0 + g->dt * (double)(t * strides[3]));
    vy_json_close(j);
    put_vector(j, "first", (const double[]){g->x0, g->y0, g->z0}, 3);
    put_vector(j, "step", (const double[]){g->dx * strides[0], g->dy * strides[1], g->dz * strides[2]}, 3);
    put_vector(j, "count", (const double[]){shown_counts[0], shown_counts[1], shown_counts[2]}, 3);
    vy_json_list(j, "velocity");
    for (int i = 0; i < shown_counts[0] * shown_counts[1] * shown_counts[2] * shown_counts[3]; ++i) {
        const int x = i % shown_counts[0] * strides[0];
        const int y = i / shown_counts[0] % shown_counts[1] * strides[1];
        const int z = i / shown_counts[0] / shown_counts[1] % shown_counts[2] * strides[2];
        const int t = i / shown_counts[0] / shown_counts[1] / shown_counts[2] * strides[3];
        const int node = ((t * g->nz + z) * g->ny + y) * g->nx + x; // the grid has fewer than 2^31 numbers
        for (int k = 0; k < 3; ++k) vy_json_number(j, NULL, g->velocity[3 * node + k]);
    }
    vy_json_close(j);
    vy_json_close(j);
}

static void put_surroundings(json *j, const vy_scenario *s)
{
    put_vec3(j, "wind", s->environment.wind.constant);
    if (s->environment.wind.grid != NULL) put_wind_field(j, &s->environment.wind.grid->field);
    vy_json_list(j, "obstacles");
    put_obstacle(j, "terrain", &s->terrain);
    for (int i = 0; i < s->obstacle_count; ++i) put_obstacle(j, s->obstacles[i].name, &s->obstacles[i].def);
    vy_json_close(j);
}

// How a budget stands, in words.
static void put_budget(json *j, const vy_certificate *c)
{
    const vy_budget_report *b = &c->budget;
    char text[160];
    if (b->standing == VY_BUDGET_NONE) return;
    if (b->standing == VY_BUDGET_EXCEEDED) {
        snprintf(text, sizeof text, "broken at %.3f s", b->exceeded_time);
    } else if (b->standing == VY_BUDGET_NO_BOUND) {
        snprintf(text, sizeof text, "no bound is known, so nothing was neglected");
    } else {
        snprintf(text, sizeof text, "%.2g m and %.2g rad spent", c->position, c->angle);
    }
    vy_json_text(j, "budget", text);
}

static void put_certificate(json *j, const vy_certificate *c)
{
    vy_json_object(j, NULL);
    put_budget(j, c);
    vy_json_list(j, "effects");
    for (int k = 0; k < vy_effect_count(); ++k) {
        vy_json_object(j, NULL);
        vy_json_text(j, "name", vy_effect_name(k));
        vy_json_bool(j, "computed", (int)(c->effects >> k & 1));
        vy_json_number(j, "impulse", c->impulse[k]);
        vy_json_number(j, "angular_impulse", c->angular_impulse[k]);
        vy_json_close(j);
    }
    vy_json_close(j);
    vy_json_uint(j, "changes", c->changes);
    vy_json_number(j, "total_impulse", c->total_impulse);
    vy_json_number(j, "total_angular_impulse", c->total_angular_impulse);
    vy_json_bool(j, "bounded", c->bounded);
    vy_json_number(j, "horizon", c->horizon);
    vy_json_number(j, "velocity", c->velocity);
    vy_json_number(j, "position", c->position);
    vy_json_close(j);
}

// The certificate is in the last full state. A log of other physics has one this program cannot read.
static int put_certificates(json *j, const char *path, vy_log *log, const vy_scenario *scenario)
{
    const vy_log_info info = vy_log_get_info(log);
    vy_world *world = NULL;
    state_record last_state;
    vy_error error = {.status = VY_OK};
    int status = 0;
    vy_json_list(j, "nap");
    const int load_status =
        info.physics == VY_PHYSICS_REVISION ? vy_load_world("view", scenario, &world) : EXIT_USAGE;
    if (load_status == EXIT_SYSTEM) status = load_status;
    if (load_status == 0) {
        const vy_status found_status = vy_log_state_before(log, info.last_tick, &last_state, &error);
        if (found_status != VY_OK) status = vy_print_log_error("view", path, found_status, &error);
        const vy_status restore_status =
            status == 0 ? vy_world_restore(world, last_state.bytes, last_state.size, NULL) : VY_BAD_STATE;
        if (restore_status == VY_NO_MEMORY) status = vy_print_no_memory("view");
        if (restore_status == VY_OK) {
            for (uint32_t i = 0; i < vy_world_body_count(world); ++i) {
                vy_certificate c;
                if (vy_world_certificate(world, vy_world_body(world, i), &c) == VY_OK) put_certificate(j, &c);
            }
        }
    }
    vy_json_close(j);
    vy_world_destroy(world);
    return status;
}

static int put_scenario(json *j, const char *path, vy_log *log, const vy_scenario *s)
{
    vy_json_text(j, "name", s->name);
    vy_json_bool(j, "strict", s->environment.nap.strict);
    // At a planet's origin the scene is the world, as over flat ground.
    const vy_planet_def *planet = &s->environment.planet;
    vy_json_number(j, "planet_radius", planet->origin.gm > 0.0 ? 0.0 : planet->radius);
    if (s->environment.gravity.mode == VY_GRAVITY_UNIFORM && !(planet->origin.gm > 0.0)) {
        put_vec3(j, "gravity", s->environment.gravity.uniform);
    }
    vy_json_list(j, "drones");
    for (int i = 0; i < s->drone_count; ++i) put_drone(j, &s->drones[i]);
    vy_json_close(j);
    vy_json_list(j, "bodies");
    for (int i = 0; i < s->body_count; ++i) put_body(j, &s->bodies[i]);
    vy_json_close(j);
    put_surroundings(j, s);
    vy_json_list(j, "joints");
    for (int i = 0; i < s->joint_count; ++i) put_joint(j, &s->joints[i]);
    vy_json_close(j);
    return put_certificates(j, path, log, s);
}

// Of a scenario that this version cannot read, the names are known.
static void put_names(json *j, const vy_log *log)
{
    const uint32_t drone_count = vy_log_get_info(log).drone_count;
    vy_json_list(j, "drones");
    for (uint32_t i = 0; vy_log_name(log, i) != NULL; ++i) {
        if (i == drone_count) {
            vy_json_close(j);
            vy_json_list(j, "bodies");
        }
        vy_json_object(j, NULL);
        vy_json_text(j, "name", vy_log_name(log, i));
        vy_json_close(j);
    }
    vy_json_close(j);
}

int vy_page_info(json *j, const char *path, vy_log *log, const page_data *data)
{
    vy_scenario *scenario = NULL;
    int status = 0;
    put_identity(j, path, log);
    put_omitted(j, data);
    put_units(j);
    vy_json_text(j, "scenario", vy_log_scenario(log));
    const int load_status = vy_load_logged_scenario("view", path, log, NULL, &scenario);
    if (load_status == 0) {
        status = put_scenario(j, path, log, scenario);
    } else if (load_status == EXIT_SYSTEM) {
        status = load_status;
    } else {
        put_names(j, log);
    }
    vy_scenario_destroy(scenario);
    return status;
}
