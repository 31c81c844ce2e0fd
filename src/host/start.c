// start.c - the start message: filled in, printed, and read on the other side of the wire.
#include "host/start.h"
#include "base/assert.h"
#include "base/fail.h"
#include "host/frame.h"
#include "scenario/drone_json.h"
#include "scenario/number.h"
#include "scenario/parameters.h"
#include "vehicle/allocation.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- filling it in

static void set_home(const vy_drone_def *drone, const vy_planet_def *planet, vy_plugin_start *start)
{
    if (planet == NULL || !(planet->radius > 0.0)) return;
    const vy_geodetic place = vy_geodetic_of(planet, 0.0, drone->position, drone->velocity, drone->attitude);
    start->has_home = 1;
    start->home_latitude = place.latitude;
    start->home_longitude = place.longitude;
    start->home_altitude = place.altitude;
    if (!(planet->origin.gm > 0.0)) return;
    start->has_origin = 1;
    start->origin_latitude = planet->origin.latitude;
    start->origin_longitude = planet->origin.longitude;
    start->origin_height = planet->origin.height;
}

// The wrench for a newton of each rotor, or of each thruster where there are no rotors.
static void set_allocation(const vy_vehicle_def *vehicle, vy_plugin_start *start)
{
    const rotor_layout layout = vy_layout_build(vehicle);
    const int count = vy_layout_effector_count(&layout);
    double effectiveness[4][VY_ROTOR_CAP], units[4];
    if (count == 0) return;
    vy_layout_effectiveness(vehicle, &layout, effectiveness, units);
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < 4; ++j) start->allocation[j][i] = units[j] * effectiveness[j][i];
        start->thrust_limit[i] = vehicle->rotor_count > 0
                                     ? layout.thrust_scale[i] * vy_rotor_thrust(vehicle, vehicle->speed_max)
                                     : vehicle->thrusters[i].thrust_max;
        if (i == 0 || start->thrust_max < start->thrust_limit[i]) start->thrust_max = start->thrust_limit[i];
    }
    if (vehicle->rotor_count > 0) start->thrust_max = vy_rotor_thrust(vehicle, vehicle->speed_max);
}

vy_status vy_start_fill(const vy_drone_def *drone, const char *name, double dt, const vy_planet_def *planet,
                        vy_plugin_start *out, vy_error *err)
{
    const vy_controller_def *def = &drone->controller;
    const vy_vehicle_def *vehicle = &drone->vehicle;
    const vy_status status = vy_check_vehicle_def(vehicle, err);
    if (status != VY_OK) return status;
    if (def->parameter_count < 0 || def->parameter_count > VY_PARAMETER_CAP)
        return vy_fail(err, VY_BAD_VALUE, "controller.parameter_count must be 0 to %d, got %d",
                       VY_PARAMETER_CAP, def->parameter_count);
    *out = (vy_plugin_start){
        .drone = name,
        .dt = dt,
        .period = def->period,
        .mass = vehicle->mass,
        .inertia = vehicle->inertia,
        .rotor_count = vehicle->rotor_count + vehicle->thruster_count,
        .parameter_count = def->parameter_count,
        .parameters = def->parameters,
        .position = drone->position,
        .attitude = drone->attitude,
        .instance = def->instance,
        .vehicle = vehicle,
        .imu = &drone->imu,
        .mocap = &drone->mocap,
        .sensors = &drone->sensor_suite,
    };
    set_home(drone, planet, out);
    set_allocation(vehicle, out);
    return VY_OK;
}

// --- printing

static void print_number(vy_text *out, const char *key, double value)
{
    vy_text_printf(out, "\"%s\": ", key);
    vy_number_print(out, value);
    vy_text_puts(out, ", ");
}

static void print_list(vy_text *out, const char *key, const double *values, int count)
{
    if (key != NULL) vy_text_printf(out, "\"%s\": ", key);
    vy_text_puts(out, "[");
    for (int i = 0; i < count; ++i) {
        if (i > 0) vy_text_puts(out, ", ");
        vy_number_print(out, values[i]);
    }
    vy_text_puts(out, key != NULL ? "], " : "]");
}

static void print_place(vy_text *out, const char *key, double latitude, double longitude,
                        const char *height_key, double height)
{
    vy_text_printf(out, "\"%s\": {", key);
    print_number(out, "latitude", latitude);
    print_number(out, "longitude", longitude);
    vy_text_printf(out, "\"%s\": ", height_key);
    vy_number_print(out, height);
    vy_text_puts(out, "}, ");
}

static void print_allocation(const vy_plugin_start *s, vy_text *out)
{
    const int count = s->vehicle->rotor_count > 0 ? s->vehicle->rotor_count : s->vehicle->thruster_count;
    vy_text_puts(out, "\"allocation\": [");
    for (int j = 0; j < 4; ++j) {
        if (j > 0) vy_text_puts(out, ", ");
        print_list(out, NULL, s->allocation[j], count);
    }
    vy_text_puts(out, "], ");
    print_list(out, "thrust_limit", s->thrust_limit, count);
}

void vy_start_print(const vy_plugin_start *start, const vy_drone_def *drone, vy_text *out)
{
    const vy_locale locale = vy_locale_enter();
    vy_text_printf(out, "{\"volery\": %d, \"drone\": ", WIRE_VERSION);
    vy_text_add_json(out, start->drone, strlen(start->drone)); // in C a name may have any characters
    vy_text_printf(out, ", \"instance\": %d, ", start->instance);
    print_number(out, "dt", start->dt);
    print_number(out, "period", start->period);
    print_number(out, "mass", start->mass);
    print_list(out, "inertia", &start->inertia.m[0][0], 9);
    print_number(out, "thrust_max", start->thrust_max);
    vy_text_printf(out, "\"rotor_count\": %d, ", start->rotor_count);
    print_list(out, "position", &start->position.x, 3);
    print_list(out, "attitude", &start->attitude.w, 4);
    if (start->has_home)
        print_place(out, "home", start->home_latitude, start->home_longitude, "altitude",
                    start->home_altitude);
    if (start->has_origin)
        print_place(out, "origin", start->origin_latitude, start->origin_longitude, "height",
                    start->origin_height);
    print_allocation(start, out);
    vy_drone_print_json(out, drone);
    vy_text_puts(out, ", \"parameters\": {");
    for (int i = 0; i < start->parameter_count; ++i) {
        const char *name = start->parameters[i].name;
        if (i > 0) vy_text_puts(out, ", ");
        vy_text_add_json(out, name, strlen(name));
        vy_text_puts(out, ": ");
        vy_parameter_print(out, &start->parameters[i], 1);
    }
    vy_text_puts(out, "}, \"samples\": [");
    for (int i = 0; i < VY_WIRE_CELLS; ++i)
        vy_text_printf(out, "%s\"%s\"", i > 0 ? ", " : "", vy_wire_cell(i).name);
    vy_text_puts(out, "]}");
    vy_locale_leave(locale);
}

// --- reading

// The value of `key`, or NULL.
static const vy_node *find_value(const vy_node *map, const char *key)
{
    const vy_node *node = vy_node_find(map, key);
    return node != NULL ? vy_node_resolve(node) : NULL;
}

static int read_number(const vy_node *node, double *out)
{
    return node != NULL && node->kind == VY_NODE_SCALAR && node->plain &&
           vy_number_read(node->text, node->size, "", out) == VY_NUMBER_OK;
}

// 1 and a number; 0 when there is none of that key.
static int find_number(const vy_node *map, const char *key, double *out)
{
    return read_number(find_value(map, key), out);
}

// A list of that many numbers.
static int read_number_list(const vy_node *list, int count, double *out)
{
    if (list == NULL || list->kind != VY_NODE_LIST || list->count != count) return 0;
    int ok = 1;
    for (const vy_node *n = list->first; n != NULL; n = n->next) ok &= read_number(vy_node_resolve(n), out++);
    return ok;
}

// A whole number of at most `maximum`; -1 for anything else.
static int find_uint(const vy_node *map, const char *key, int maximum)
{
    double number;
    return find_number(map, key, &number) && number >= 0.0 && number <= maximum && number == floor(number)
               ? (int)number
               : -1;
}

static int read_place(const vy_node *map, const char *height_key, double *latitude, double *longitude,
                      double *height)
{
    return map != NULL && map->kind == VY_NODE_MAP && find_number(map, "latitude", latitude) &&
           find_number(map, "longitude", longitude) && find_number(map, height_key, height);
}

static int read_numbers(const vy_node *map, vy_plugin_start *s)
{
    s->rotor_count = find_uint(map, "rotor_count", VY_ROTOR_CAP);
    s->instance = find_uint(map, "instance", INT_MAX);
    return s->rotor_count >= 0 && s->instance >= 0 && find_number(map, "dt", &s->dt) &&
           find_number(map, "period", &s->period) && find_number(map, "mass", &s->mass) &&
           find_number(map, "thrust_max", &s->thrust_max) &&
           read_number_list(find_value(map, "inertia"), 9, &s->inertia.m[0][0]) &&
           read_number_list(find_value(map, "position"), 3, &s->position.x) &&
           read_number_list(find_value(map, "attitude"), 4, &s->attitude.w);
}

// 0: it is no message of a world.
static int read_message(vy_reader *reader, const vy_node *map, start_message *m)
{
    vy_plugin_start *s = &m->start;
    const vy_node *drone = map->kind == VY_NODE_MAP ? find_value(map, "drone") : NULL;
    if (drone == NULL || drone->kind != VY_NODE_SCALAR || drone->size >= sizeof m->name ||
        find_uint(map, "volery", INT_MAX) != WIRE_VERSION || !read_numbers(map, s))
        return 0;
    memcpy(m->name, drone->text, drone->size);
    s->has_home = read_place(find_value(map, "home"), "altitude", &s->home_latitude, &s->home_longitude,
                             &s->home_altitude);
    s->has_origin = read_place(find_value(map, "origin"), "height", &s->origin_latitude, &s->origin_longitude,
                               &s->origin_height);
    vy_drone_read_json(reader, map, &m->drone);
    vy_error unused_error;
    if (reader->report->error_calls > 0 || vy_check_vehicle_def(&m->drone.vehicle, &unused_error) != VY_OK ||
        s->rotor_count != m->drone.vehicle.rotor_count + m->drone.vehicle.thruster_count)
        return 0;
    const double thrust_max = s->thrust_max;
    set_allocation(&m->drone.vehicle, s);
    s->thrust_max = thrust_max;
    s->drone = m->name;
    s->parameter_count = m->drone.controller.parameter_count;
    s->parameters = m->drone.controller.parameters;
    s->vehicle = &m->drone.vehicle;
    s->imu = &m->drone.imu;
    s->mocap = &m->drone.mocap;
    s->sensors = &m->drone.sensor_suite;
    return 1;
}

vy_status vy_start_read(char *text, size_t size, start_message **out, vy_error *err)
{
    vy_yaml tree = {0};
    vy_diagnostics diagnostics = {0};
    vy_report report = {.diagnostics = &diagnostics};
    vy_reader reader = {.tree = &tree, .report = &report};
    start_message *m = calloc(1, sizeof *m);
    *out = NULL;
    if (m != NULL) m->json = vy_text_copy(text, size);
    const vy_locale locale = vy_locale_enter();
    vy_source *source =
        vy_yaml_add_source(&tree, vy_text_copy("start", 5), text, size); // takes `text` in any case
    vy_node *root = m != NULL && source != NULL ? vy_yaml_read(&tree, source, 0, &report) : NULL;
    const int is_valid = root != NULL && read_message(&reader, root, m);
    vy_locale_leave(locale);
    const int no_memory =
        m == NULL || m->json == NULL || source == NULL || tree.no_memory || reader.no_memory;
    vy_reader_destroy(&reader);
    vy_yaml_destroy(&tree);
    vy_diagnostics_destroy(&diagnostics);
    if (is_valid && !no_memory) {
        m->start.json = m->json;
        *out = m;
        return VY_OK;
    }
    vy_start_release(m);
    return no_memory ? vy_fail(err, VY_NO_MEMORY, "serve: out of memory")
                     : vy_fail(err, VY_DAMAGED, "serve: the first frame is none of a world's");
}

void vy_start_release(start_message *message)
{
    if (message == NULL) return;
    for (int k = 0; k < VY_PARAMETER_CAP; ++k) free((void *)message->drone.controller.parameters[k].text);
    free(message->json);
    free(message);
}
