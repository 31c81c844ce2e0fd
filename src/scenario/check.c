// check.c - checks across values, beyond the ranges of single ones.
#define _POSIX_C_SOURCE 200809L // inet_pton
#include "scenario/check.h"
#include "base/vec.h"
#include "control/control.h"
#include "dynamics/contact_def.h"
#include "environment/environment.h"
#include "scenario/number.h"
#include "scenario/schema_rows.h"
#include "vehicle/airframe.h"
#include "vehicle/inertia.h"
#include "volery/magnetic.h"
#include "world/world_def.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#define RECOMMENDED_STEP_MAX 0.005 // [s]

// Whether the text gave a usable value for this variable.
#define IS_VALID(r, variable) vy_reader_is_valid(r, &(variable), sizeof(variable))

// Every period is a whole multiple of the step: a default is rounded to the nearest, any other value is an
// error. `path` is that of the object, with a dot at its end.
static void resolve_periods(vy_reader *r, const vy_schema_table *table, char *object, const char *path,
                            double step)
{
    for (int i = 0; i < table->row_count; ++i) {
        const vy_schema_row *row = &table->rows[i];
        char *field = object + row->offset;
        char name[100] = "";
        if (row->type == VY_TYPE_OBJECT || (row->flags & VY_ROW_PERIOD)) // others are not named
            snprintf(name, sizeof name, "%s%s%s", path, row->key, row->type == VY_TYPE_OBJECT ? "." : "");
        if (row->type == VY_TYPE_OBJECT) resolve_periods(r, row->table, field, name, step);
        if (row->type == VY_TYPE_LIST) { // an element's values are named as seen from there
            int count;
            char *elements = (char *)vy_list_elements(row, object, &count); // inside ours, which is not const
            for (int k = 0; k < count; ++k) {
                resolve_periods(r, row->table, elements + (size_t)k * row->table->size, "", step);
            }
        }
        if (!(row->flags & VY_ROW_PERIOD)) continue;
        double period;
        uint64_t ticks;
        vy_error err;
        memcpy(&period, field, sizeof period);
        if (period == 0.0 || !vy_reader_is_valid(r, field, sizeof period)) continue;
        if (vy_period_ticks(name, period, step, &ticks, &err) == VY_OK) continue;
        if (vy_reader_has_value(r, field, sizeof period)) {
            vy_reader_refuse(r, field, "%s", err.text);
        } else {
            period = real_max(real_round(period / step), 1.0) * step;
            memcpy(field, &period, sizeof period);
        }
    }
}

// A place on the other side of the planet is a slip of the pen.
#define MISSION_DISTANCE_MAX 1e6 // [m] from the world's origin

// From latitude and longitude to the controller's setpoints.
static void resolve_mission(vy_reader *r, const vy_scenario *s, vy_scenario_drone *drone)
{
    const vy_planet_def *planet = &s->environment.planet;
    vy_controller_def *c = &drone->def.controller;
    if (drone->mission_count == 0 || !IS_VALID(r, *drone) || !IS_VALID(r, *planet)) return;
    if (!(planet->origin.gm > 0.0)) {
        vy_reader_refuse(r, &drone->mission[0].latitude,
                         "a mission by latitude and longitude needs planet.origin");
        return;
    }
    if (c->setpoint_count > 0) {
        vy_reader_refuse(r, &c->setpoints[0].time, "%s has a mission: it has no setpoints beside it",
                         drone->name);
        return;
    }
    const vy_vec3 zero = {0.0, 0.0, 0.0};
    const double start_altitude =
        vy_geodetic_of(planet, 0.0, drone->def.position, zero, quat_identity()).altitude;
    for (int i = 0; i < drone->mission_count; ++i) {
        const vy_mission_point *point = &drone->mission[i];
        const double reference_altitude = point->above == VY_ALTITUDE_START    ? start_altitude
                                          : point->above == VY_ALTITUDE_GROUND ? planet->origin.height
                                                                               : 0.0;
        const vy_geodetic place = {.latitude = point->latitude,
                                   .longitude = point->longitude,
                                   .altitude = reference_altitude + point->height};
        vy_setpoint *setpoint = &c->setpoints[i];
        vy_vec3 velocity;
        vy_quat attitude;
        *setpoint = (vy_setpoint){.time = point->time, .yaw = 0.25 * 6.283185307179586 - point->heading};
        vy_geodetic_to_world(planet, 0.0, &place, &setpoint->position, &velocity, &attitude);
        if (vec3_length(setpoint->position) > MISSION_DISTANCE_MAX) {
            vy_reader_refuse(r, &point->latitude,
                             "this place is %.0f km from planet.origin: a mission stays within %.0f km of it",
                             1e-3 * vec3_length(setpoint->position), 1e-3 * MISSION_DISTANCE_MAX);
            return;
        }
    }
    c->setpoint_count = drone->mission_count;
    drone->mission_count = 0; // resolved: what stays are setpoints
}

// A place without more is one of the Earth.
static void resolve_origin(vy_reader *r, vy_environment_def *e)
{
    vy_planet_def *p = &e->planet;
    vy_origin_def *o = &p->origin;
    const int has_place = vy_reader_has_value(r, &o->latitude, sizeof o->latitude) ||
                          vy_reader_has_value(r, &o->longitude, sizeof o->longitude) ||
                          vy_reader_has_value(r, &o->height, sizeof o->height);
    if (!has_place || vy_reader_has_value(r, &o->gm, sizeof o->gm) || !IS_VALID(r, *p)) return;
    if (p->radius > 0.0 && p->radius != VY_EARTH_RADIUS) {
        vy_reader_refuse(r, &p->radius, "origin needs the gm of a planet that is not the Earth");
        return;
    }
    if (p->radius == 0.0) {
        p->radius = VY_EARTH_RADIUS;
        p->flattening = VY_EARTH_FLATTENING;
        if (!vy_reader_has_value(r, &p->rate, sizeof p->rate)) p->rate = VY_EARTH_RATE;
    }
    o->gm = VY_EARTH_GM;
    if (!vy_reader_has_value(r, &o->j2, sizeof o->j2)) o->j2 = VY_EARTH_J2;
    if (!vy_reader_has_value(r, &o->date, sizeof o->date)) o->date = VY_MAGNETIC_FIRST;
}

// The field of the World Magnetic Model, unless one is declared.
static void resolve_field(vy_reader *r, vy_environment_def *e)
{
    const vy_origin_def *o = &e->planet.origin;
    vy_error err;
    if (!(o->gm > 0.0 && o->date > 0.0) || !IS_VALID(r, e->planet)) return;
    if (vy_reader_has_value(r, &e->magnetic_field, sizeof e->magnetic_field)) return;
    if (vy_magnetic_model(o->latitude, o->longitude, o->height, o->date, &e->magnetic_field, &err) != VY_OK)
        vy_reader_refuse(r, &o->date, "%s", err.text);
}

// What the rows cannot say of a planet's origin.
static void check_origin(vy_reader *r, const vy_environment_def *e)
{
    const vy_origin_def *o = &e->planet.origin;
    if (!(o->gm > 0.0) || !IS_VALID(r, e->planet)) return;
    if (!(o->height >= -12e3 && o->height <= 100e3)) {
        vy_reader_refuse(r, &o->height,
                         "height %g m: an origin is between the deepest sea floor, -12 km, and 100 km",
                         o->height);
    }
    if (e->gravity.mode != VY_GRAVITY_UNIFORM)
        vy_reader_refuse(r, &e->gravity.mode,
                         "with a planet.origin the planet's gm attracts: leave gravity out");
    if (!(e->planet.radius >= 1e3))
        vy_reader_refuse(r, &e->planet.radius, "planet.origin needs a radius of 1 km at least");
    const vy_vec3 default_gravity = vy_default_environment_def().gravity.uniform,
                  uniform = e->gravity.uniform;
    if (vec3_length(vec3_sub(uniform, default_gravity)) > 0.0) {
        vy_report_warning(r->report, vy_reader_location(r, &e->gravity.uniform),
                          "with a planet.origin the planet attracts: this gravity is not used");
    }
}

// From a start over the ground to one in world axes. A place needs both its angles: 0 is one, too.
static void resolve_place(vy_reader *r, const vy_planet_def *planet, vy_scenario_drone *drone)
{
    vy_geodetic *place = &drone->place;
    vy_drone_def *def = &drone->def;
    const struct {
        const char *key;
        const double *value;
        size_t count;
    } other_keys[] = {{"longitude", &place->longitude, 1},     {"altitude", &place->altitude, 1},
                      {"velocity_ned", &place->velocity.x, 3}, {"yaw_ned", &place->yaw, 1},
                      {"pitch_ned", &place->pitch, 1},         {"roll_ned", &place->roll, 1}};
    if (!IS_VALID(r, *place) || !IS_VALID(r, *planet)) return;
    for (size_t i = 0; i < sizeof other_keys / sizeof *other_keys && place->latitude == VY_NO_LATITUDE; ++i) {
        int is_given = 0;
        for (size_t k = 0; k < other_keys[i].count; ++k) is_given |= other_keys[i].value[k] != 0.0;
        if (is_given) {
            vy_reader_refuse(r, other_keys[i].value, "start.%s needs a latitude", other_keys[i].key);
            return;
        }
    }
    if (place->latitude == VY_NO_LATITUDE) return;
    if (!vy_reader_has_value(r, &place->longitude, sizeof place->longitude)) {
        vy_reader_refuse(r, &place->latitude, "start.latitude needs a longitude");
    } else if (!(planet->radius > 0.0)) {
        vy_reader_refuse(r, &place->latitude, "start.latitude needs a planet: this world is flat");
    } else {
        vy_geodetic_to_world(planet, 0.0, place, &def->position, &def->velocity, &def->attitude);
        *place = (vy_geodetic){.latitude = VY_NO_LATITUDE}; // resolved: what stays are world axes
    }
}

// Bounds are shown in the unit in which they were written.
static void resolve_unit(const vy_reader *r, vy_expect_def *e)
{
    const vy_quantity *q = &vy_quantities(&(int){0})[e->quantity];
    const double *values[] = {&e->max, &e->min, &e->target};
    if (!IS_VALID(r, *e)) return;
    for (int i = 2; i >= 0; --i) {
        const vy_node *node = vy_reader_location(r, values[i]);
        if (!vy_reader_has_value(r, values[i], sizeof *values[i]) || node->kind != VY_NODE_SCALAR) continue;
        const char *si_unit = e->at == VY_AT_INTEGRAL ? q->integral_unit : q->unit;
        e->unit = vy_number_find_unit(node->text, node->size, si_unit) + 1;
    }
}

void vy_resolve_scenario(vy_reader *reader, vy_scenario *scenario)
{
    resolve_origin(reader, &scenario->environment);
    resolve_field(reader, &scenario->environment);
    check_origin(reader, &scenario->environment);
    if (IS_VALID(reader, scenario->step)) {
        resolve_periods(reader, &vy_scenario_table, (char *)scenario, "", scenario->step);
    }
    for (int i = 0; i < scenario->expect_count; ++i) resolve_unit(reader, &scenario->expect[i]);
    environment_model env;
    vy_environment_build(&scenario->environment, &env);
    for (int i = 0; i < scenario->drone_count; ++i) {
        vy_scenario_drone *drone = &scenario->drones[i];
        vy_drone_def *def = &drone->def;
        resolve_place(reader, &scenario->environment.planet, drone);
        resolve_mission(reader, scenario, drone);
        const double g = vec3_length(gravity_at(&env.gravity, def->position));
        if (def->rotor_speed == VY_HOVER_SPEED && def->estimator.start == VY_START_GROUND)
            def->rotor_speed = 0.0;
        if (def->rotor_speed == VY_HOVER_SPEED) def->rotor_speed = vy_vehicle_hover_speed(&def->vehicle, g);
    }
}

// @return 0 when nothing can be said of a drone with this vehicle
static int check_vehicle(vy_reader *r, const vy_vehicle_def *v)
{
    vy_error err;
    if (!IS_VALID(r, *v)) return 0;
    const int calls_before = r->report->error_calls;
    if (v->rotor_count > 0 && v->thrust_coef == 0.0) {
        vy_reader_refuse(r, &v->thrust_coef, "thrust_coef must be above 0 N s^2 with rotors");
    }
    if (v->rotor_count > 0 && v->speed_max == 0.0) {
        vy_reader_refuse(r, &v->speed_max, "speed_max must be above 0 rad/s with rotors");
    }
    vy_vehicle_def bare_vehicle = *v; // all but rotors and thrusters, so that what is wrong with each is said
    bare_vehicle.rotor_count = bare_vehicle.thruster_count = 0;
    if (vy_check_vehicle_def(&bare_vehicle, &err) != VY_OK)
        vy_reader_refuse(r, vy_field_of_message(&vy_vehicle_table, v, v, err.text), "%s", err.text);
    bare_vehicle.thruster_count = v->thruster_count;
    if (r->report->error_calls == calls_before && vy_check_vehicle_def(&bare_vehicle, &err) != VY_OK)
        vy_reader_refuse(r, vy_field_of_message(&vy_vehicle_table, v, v, err.text), "%s", err.text);
    if (v->rotor_count + v->thruster_count > VY_ROTOR_CAP)
        vy_reader_refuse(r, &v->thrusters, "rotors and thrusters together are at most %d", VY_ROTOR_CAP);
    if (r->report->error_calls == calls_before && vy_check_vehicle_def(v, &err) != VY_OK)
        vy_reader_refuse(r, vy_field_of_message(&vy_vehicle_table, v, v, err.text), "%s", err.text);
    return r->report->error_calls == calls_before;
}

// Figures from identification scatter: a small excess is flown.
static void warn_of_inertia(vy_reader *r, const vy_mat3 *inertia)
{
    if (!IS_VALID(r, *inertia) || vy_inertia_is_possible(*inertia, 0.0) ||
        !vy_inertia_is_possible(*inertia, INERTIA_EXCESS_MAX))
        return;
    vy_report_warning(r->report, vy_reader_location(r, inertia),
                      "inertia: a moment is above the sum of the others, as of no rigid body");
}

// Faults of sensors that a firmware does not take from here. `channels` has a bit for each.
static void refuse_faults(vy_reader *r, const vy_scenario *s, int index, unsigned channels,
                          const char *reason)
{
    for (int i = 0; i < s->fault_count; ++i) {
        const vy_scenario_fault *f = &s->faults[i];
        if (!IS_VALID(r, *f) || f->def.kind < VY_FAULT_SENSOR_BIAS || f->def.kind > VY_FAULT_SENSOR_DELAY)
            continue;
        if ((f->drone == index || f->drone == VY_EVERY_DRONE) && (channels >> f->def.channel & 1u))
            vy_reader_refuse(r, &f->def.channel, "%s", reason);
    }
}

static void check_script_times(vy_reader *r, const vy_scenario *s, const vy_controller_def *c)
{
    for (int i = 0; i < c->firmware.script_count; ++i) {
        const vy_script_line *line = &c->firmware.script[i];
        if (s->duration_changed || !IS_VALID(r, s->duration) || !IS_VALID(r, line->time)) break;
        if (line->time < s->duration) continue;
        vy_report_warning(r->report, vy_reader_location(r, &line->time),
                          "script: line %d is at %g s, and the run ends at %g s: the firmware is never told",
                          i + 1, line->time, s->duration);
        break; // those behind it are later
    }
    for (int i = 1; i < c->firmware.script_count; ++i) {
        const vy_script_line *line = &c->firmware.script[i];
        if (IS_VALID(r, line->time) && IS_VALID(r, line[-1].time) && line->time < line[-1].time)
            vy_reader_refuse(r, &line->time,
                             "script: time must not be before that of the line before it, %g s",
                             line[-1].time);
    }
}

// Script and parameters of a firmware that is told by MAVLink.
static void check_mavlink(vy_reader *r, const vy_scenario *s, const vy_controller_def *c)
{
    const vy_firmware_def *f = &c->firmware;
    check_script_times(r, s, c);
    for (int i = 0; i < f->script_count; ++i) {
        const vy_script_line *line = &f->script[i];
        if (IS_VALID(r, line->action) && line->action == VY_SCRIPT_MISSION && c->setpoint_count == 0)
            vy_reader_refuse(r, &line->action, "script: a mission needs the drone's setpoints or mission");
    }
    for (int i = 0; i < c->parameter_count; ++i) {
        if (c->parameters[i].text == NULL && strlen(c->parameters[i].name) < VY_PARAMETER_NAME_CAP) continue;
        vy_reader_refuse(
            r, &c->parameters[i],
            "parameters.%s: a firmware's parameter is a number, and its name has at most 16 letters",
            c->parameters[i].name);
    }
}

static void check_px4(vy_reader *r, const vy_scenario *s, const vy_controller_def *c)
{
    if (IS_VALID(r, s->environment.planet) && !(s->environment.planet.origin.gm > 0.0))
        vy_reader_refuse(r, &c->kind, "px4 needs a place for its GPS and compass: world.planet.origin");
    check_mavlink(r, s, c);
}

// A firmware that simulates some of its sensors itself: they cannot break here.
static void check_ardupilot(vy_reader *r, const vy_scenario *s, int index)
{
    const vy_controller_def *c = &s->drones[index].def.controller;
    if (IS_VALID(r, c->truth) && !c->truth)
        vy_reader_refuse(r, &c->kind,
                         "ardupilot simulates GPS, compass and barometer itself, from the truth: truth: on");
    if (IS_VALID(r, c->firmware.airframe) && c->firmware.airframe == VY_AIRFRAME_OWN)
        vy_reader_refuse(r, &c->firmware.airframe,
                         "airframe own: only px4 can be told where the vehicle's rotors are");
    check_mavlink(r, s, c);
    for (int i = 0; i < c->firmware.script_count; ++i) {
        const vy_script_line *line = &c->firmware.script[i];
        if (IS_VALID(r, line->action) && line->action == VY_SCRIPT_MISSION &&
            IS_VALID(r, s->environment.planet) && !(s->environment.planet.origin.gm > 0.0))
            vy_reader_refuse(r, &line->action,
                             "script: a mission goes by latitude and longitude: world.planet.origin");
    }
    refuse_faults(
        r, s, index,
        1u << VY_CHANNEL_BARO | 1u << VY_CHANNEL_MAG | 1u << VY_CHANNEL_GPS_POSITION |
            1u << VY_CHANNEL_GPS_VELOCITY,
        "ardupilot simulates its GPS, compass and barometer itself: its SIM_ parameters break them, in "
        "parameters or in a line of the script");
}

// Betaflight takes attitude and GPS from the simulator, and by the wall's clock its ports, which are fixed.
static void check_betaflight(vy_reader *r, const vy_scenario *s, int index)
{
    const vy_controller_def *c = &s->drones[index].def.controller;
    const vy_firmware_def *f = &c->firmware;
    if (IS_VALID(r, c->truth) && !c->truth)
        vy_reader_refuse(r, &c->kind,
                         "betaflight's program takes its attitude and GPS from the simulator: truth: on");
    if (IS_VALID(r, f->airframe) && f->airframe != VY_AIRFRAME_QUAD_X)
        vy_reader_refuse(r, &f->airframe, "airframe: betaflight's program has the motors of quad_x alone");
    if (c->parameter_count > 0)
        vy_reader_refuse(r, &c->parameters[0],
                         "parameters: betaflight keeps its own in eeprom.bin, which its CLI writes");
    check_script_times(r, s, c);
    for (int i = 0; i < f->script_count; ++i) {
        const vy_script_line *line = &f->script[i];
        if (!IS_VALID(r, line->action) || !IS_VALID(r, line->mode)) continue;
        const int is_supported = line->action == VY_SCRIPT_ARM || line->action == VY_SCRIPT_DISARM ||
                                 (line->action == VY_SCRIPT_MODE &&
                                  (line->mode == VY_MODE_STABILIZED || line->mode == VY_MODE_ACRO));
        if (!is_supported)
            vy_reader_refuse(
                r, &line->action,
                "script: betaflight can arm, disarm, and change its mode: stabilized, which is its "
                "angle mode, or acro");
    }
    for (int i = 0; i < index && f->clock == VY_CLOCK_WALL; ++i) {
        const vy_controller_def *other = &s->drones[i].def.controller;
        if (other->kind == VY_CONTROLLER_BETAFLIGHT && other->firmware.clock == VY_CLOCK_WALL)
            vy_reader_refuse(
                r, &c->kind,
                "clock: betaflight's ports are fixed, so one drone at most runs it by the wall's "
                "clock; with clock: simulated there may be more");
    }
    refuse_faults(r, s, index, 1u << VY_CHANNEL_GPS_POSITION | 1u << VY_CHANNEL_GPS_VELOCITY,
                  "betaflight's GPS is the truth: it cannot break here");
}

// What a firmware needs beyond the ranges of its keys.
static void check_firmware(vy_reader *r, const vy_scenario *s, int index)
{
    const vy_drone_def *def = &s->drones[index].def;
    const vy_controller_def *c = &def->controller;
    const vy_firmware_def *f = &c->firmware;
    int rotor_order[VY_ROTOR_CAP];
    vy_error err;
    if (!IS_VALID(r, c->kind) || !vy_controller_is_firmware(c->kind)) return;
    unsigned char parsed[sizeof(struct in_addr)];
    if (IS_VALID(r, f->address) && inet_pton(AF_INET, f->address, parsed) != 1)
        vy_reader_refuse(r, f->address, "address %s is no IPv4 address, like 127.0.0.1", f->address);
    if (c->kind == VY_CONTROLLER_CRAZYFLIE) {
        if (c->parameter_count > 0)
            vy_reader_refuse(r, &c->parameters[0],
                             "parameters: those of a Crazyflie are its client's to set");
        return;
    }
    if (IS_VALID(r, def->vehicle) && IS_VALID(r, f->airframe) &&
        vy_airframe_match(f->airframe, &def->vehicle, rotor_order, &err) != VY_OK)
        vy_reader_refuse(r, &f->airframe, "%s", err.text);
    if (IS_VALID(r, def->imu.period) && !(def->imu.period > 0.0))
        vy_reader_refuse(r, &c->kind, "a firmware needs an IMU: its samples move the firmware's clock");
    if (c->kind == VY_CONTROLLER_PX4)
        check_px4(r, s, c);
    else if (c->kind == VY_CONTROLLER_ARDUPILOT)
        check_ardupilot(r, s, index);
    else
        check_betaflight(r, s, index);
}

static void check_controller(vy_reader *r, const vy_scenario_drone *drone)
{
    const vy_controller_def *c = &drone->def.controller;
    if (IS_VALID(r, c->kind) && c->kind == VY_CONTROLLER_PROCESS && IS_VALID(r, c->program) &&
        c->program[0] == '\0')
        vy_reader_refuse(r, &c->kind, "command: a process has a command line");
    vy_error err;
    if (c->kind == VY_CONTROLLER_RECORDED && c->record.rows > 0 && IS_VALID(r, *c) &&
        IS_VALID(r, drone->def.vehicle) && vy_check_record(c, &drone->def.vehicle, &err) != VY_OK)
        vy_reader_refuse(r, &c->record, "%s", err.text);
    for (int i = 1; i < c->rc_count; ++i) {
        if (IS_VALID(r, c->rc[i].time) && !(c->rc[i].time > c->rc[i - 1].time))
            vy_reader_refuse(r, &c->rc[i].time, "rc: time must be after that of the line before it, %g s",
                             c->rc[i - 1].time);
    }
    if (IS_VALID(r, c->kind) && IS_VALID(r, drone->def.vehicle) && c->kind != VY_CONTROLLER_NONE &&
        drone->def.vehicle.rotor_count == 0 && drone->def.vehicle.thruster_count == 0 &&
        c->flight != VY_FLIGHT_KINEMATIC) {
        vy_reader_refuse(r, &c->kind,
                         "%s has no rotors and no thrusters to control: use controller: {kind: none}",
                         drone->name);
    }
    for (int i = 1; i < c->setpoint_count; ++i) {
        const vy_setpoint *p = &c->setpoints[i];
        if (IS_VALID(r, p->time) && IS_VALID(r, p[-1].time) && !(p->time > p[-1].time)) {
            vy_reader_refuse(r, &p->time, "time must be later than %g s, that of the setpoint before",
                             p[-1].time);
        }
    }
}

static void check_drone(vy_reader *r, const vy_scenario *s, int index)
{
    const vy_scenario_drone *drone = &s->drones[index];
    const vy_drone_def *def = &drone->def;
    if (strcmp(drone->name, "all") == 0)
        vy_reader_refuse(r, drone->name, "all stands for every drone: use another name");
    for (int i = 0; i < index; ++i) {
        if (strcmp(s->drones[i].name, drone->name) != 0) continue;
        vy_reader_refuse(r, drone->name, "two drones are called %s", drone->name);
        break;
    }
    check_controller(r, drone);
    check_firmware(r, s, index);
    warn_of_inertia(r, &def->vehicle.inertia);
    if (!check_vehicle(r, &def->vehicle)) return;
    if (!IS_VALID(r, def->rotor_speed) || !IS_VALID(r, s->environment) || !IS_VALID(r, s->step)) return;
    const double maximum = def->vehicle.speed_max;
    if (def->vehicle.rotor_count > 0 && def->rotor_speed > maximum) {
        vy_reader_refuse(r, &def->rotor_speed,
                         "rotor_speed of %s is %.6g rad/s, above its speed_max of %.6g rad/s", drone->name,
                         def->rotor_speed, maximum);
    }
    for (int i = 0; i < def->vehicle.rotor_count && IS_VALID(r, def->rotor_speeds); ++i) {
        if (!(def->rotor_speeds[i] > maximum)) continue;
        vy_reader_refuse(r, &def->rotor_speeds,
                         "rotor_speeds[%d] of %s is %.6g rad/s, above its speed_max of %.6g rad/s", i,
                         drone->name, def->rotor_speeds[i], maximum);
        break;
    }
    for (int i = def->vehicle.rotor_count; i < VY_ROTOR_CAP && IS_VALID(r, def->rotor_speeds); ++i) {
        if (def->rotor_speeds[i] == 0.0) continue;
        vy_reader_refuse(r, &def->rotor_speeds, "rotor_speeds[%d]: %s has %d rotors", i, drone->name,
                         def->vehicle.rotor_count);
        break;
    }
    const double lag = def->vehicle.motor_lag;
    if (lag > 0.0 && s->step > lag / 3.0 && s->step <= RECOMMENDED_STEP_MAX) {
        vy_report_warning(
            r->report, vy_reader_location(r, &s->step),
            "step is above a third of the motors' time constant (%g s of %s): flights will differ from "
            "those with a smaller step",
            lag, def->vehicle.name);
    }
}

static void check_body(vy_reader *r, const vy_scenario *s, int index)
{
    const vy_scenario_body *body = &s->bodies[index];
    if (strcmp(body->name, "all") == 0 || strcmp(body->name, "world") == 0)
        vy_reader_refuse(r, body->name, "%s has a meaning of its own: use another name", body->name);
    for (int i = 0; i < s->drone_count + index; ++i) {
        if (strcmp(vy_scenario_name_of(s, i), body->name) != 0) continue;
        vy_reader_refuse(r, body->name, "two drones or bodies are called %s", body->name);
        break;
    }
    const vy_world_body_def *def = &body->def;
    if (def->mass == 0.0 ||
        (def->inertia.m[0][0] == 0.0 && !vy_reader_has_value(r, &def->inertia, sizeof def->inertia)))
        return; // what is missing has been reported
    vy_error err;
    if (IS_VALID(r, *def) && vy_check_world_body_def(def, &err) != VY_OK)
        vy_reader_refuse(r, vy_field_of_message(&vy_body_table, body, def, err.text), "%s", err.text);
    warn_of_inertia(r, &def->inertia);
}

// What only a drone can have or do.
static void check_is_drone(vy_reader *r, const vy_scenario *s, const int *drone, const char *text)
{
    if (*drone >= s->drone_count)
        vy_reader_refuse(r, drone, "%s is a body: %s", vy_scenario_name_of(s, *drone), text);
}

static void check_joint(vy_reader *r, const vy_scenario *s, int index)
{
    const vy_scenario_joint *joint = &s->joints[index];
    if (strcmp(joint->name, "all") == 0)
        vy_reader_refuse(r, joint->name, "all stands for every joint: use another name");
    for (int i = 0; i < index; ++i) {
        if (strcmp(s->joints[i].name, joint->name) != 0) continue;
        vy_reader_refuse(r, joint->name, "two joints are called %s", joint->name);
        break;
    }
    if (IS_VALID(r, joint->a) && IS_VALID(r, joint->b) && joint->a == joint->b)
        vy_reader_refuse(r, &joint->b, "a joint needs two different ends");
    if (joint->def.limited && IS_VALID(r, joint->def) && !(joint->def.low < joint->def.high))
        vy_reader_refuse(r, &joint->def.high, "high must be above low");
}

// A quantity of joints: every joint it is evaluated for must have it.
static void check_expect_joint(vy_reader *r, const vy_scenario *s, const vy_expect_def *e,
                               const vy_quantity *q)
{
    if (e->body != VY_EVERY_DRONE) vy_reader_refuse(r, &e->body, "%s is of joints: name a joint", q->name);
    int count = 0;
    for (int k = 0; k < s->joint_count; ++k) {
        const int has_quantity = q->joints >> s->joints[k].def.kind & 1u;
        count += has_quantity && (e->joint == VY_EVERY_JOINT || e->joint == k);
    }
    if (count == 0 && e->joint == VY_EVERY_JOINT)
        vy_reader_refuse(r, &e->quantity, "no joint has a %s", q->name);
    if (count == 0 && e->joint != VY_EVERY_JOINT)
        vy_reader_refuse(r, &e->quantity, "joint %s has no %s", s->joints[e->joint].name, q->name);
    if (count > 1 && (e->at == VY_AT_REACHED || e->at == VY_AT_OVERSHOOT))
        vy_reader_refuse(r, &e->at, "%s is of one joint: name it",
                         e->at == VY_AT_REACHED ? "reached" : "overshoot");
}

// A quantity that only some vehicles have: one at least of those that it is evaluated for.
static void check_expect_vehicle(vy_reader *r, const vy_scenario *s, const vy_expect_def *e,
                                 const vy_quantity *q)
{
    int count = !(q->needs_battery || q->needs_motors);
    for (int i = 0; i < s->drone_count; ++i)
        count += (e->body == VY_EVERY_DRONE || e->body == i) &&
                 vy_vehicle_has_quantity(&s->drones[i].def.vehicle, q);
    if (count > 0 || e->body >= s->drone_count) return; // of a body it is refused anyway
    const char *part_name = q->needs_battery ? "battery" : "rotor or thruster";
    if (e->body == VY_EVERY_DRONE)
        vy_reader_refuse(r, &e->quantity, "%s: no drone has a %s", q->name, part_name);
    else
        vy_reader_refuse(r, &e->quantity, "%s: %s has no %s", q->name, s->drones[e->body].name, part_name);
}

static void check_obstacle(vy_reader *r, const vy_scenario *s, int index)
{
    const vy_scenario_obstacle *obstacle = &s->obstacles[index];
    for (int i = 0; i < index; ++i) {
        if (strcmp(s->obstacles[i].name, obstacle->name) != 0) continue;
        vy_reader_refuse(r, obstacle->name, "two obstacles are called %s", obstacle->name);
        break;
    }
    if (obstacle->def.is_trigger && s->contacts.mode == VY_CONTACTS_OFF)
        vy_reader_refuse(r, &obstacle->def.is_trigger, "trigger: contacts are off");
}

static void check_trajectory(vy_reader *r, const vy_expect_def *e, const vy_quantity *q)
{
    const vy_numbers *table = &e->trajectory;
    if (table->rows > 0 && strcmp(q->name, "position_error") != 0)
        vy_reader_refuse(r, &e->quantity, "%s: a recorded trajectory has a position_error", q->name);
    for (int i = 1; i < table->rows; ++i) {
        if (table->values[4 * i] > table->values[4 * (i - 1)]) continue;
        vy_reader_refuse(r, &e->trajectory, "trajectory[%d]: its time must be after that of the row before",
                         i);
        return;
    }
}

static void check_expect(vy_reader *r, const vy_scenario *s, const vy_expect_def *e)
{
    if (!IS_VALID(r, *e)) return;
    if (e->min == -DBL_MAX && e->max == DBL_MAX) vy_reader_refuse(r, &e->max, "give min or max, or both");
    if (e->min > e->max) vy_reader_refuse(r, &e->min, "min is above max");
    const int is_timed = e->at == VY_AT_SETTLED || e->at == VY_AT_REACHED;
    if (is_timed && e->within == 0.0)
        vy_reader_refuse(r, &e->at, "give within, the longest time it may take");
    if (!is_timed && e->within != 0.0) vy_reader_refuse(r, &e->within, "within is for settled and reached");
    if (e->target != 0.0 && e->at != VY_AT_OVERSHOOT)
        vy_reader_refuse(r, &e->target, "target is for overshoot");
    const vy_quantity *q = &vy_quantities(&(int){0})[e->quantity];
    check_trajectory(r, e, q);
    if (q->needs_planet && !(s->environment.planet.radius > 0.0))
        vy_reader_refuse(r, &e->quantity, "%s needs a planet: this world is flat", q->name);
    if (q->of_joint != NULL) {
        check_expect_joint(r, s, e, q);
    } else {
        check_expect_vehicle(r, s, e, q);
        if (e->joint != VY_EVERY_JOINT)
            vy_reader_refuse(r, &e->joint, "%s is of drones: name a drone", q->name);
        if (!q->of_bodies) check_is_drone(r, s, &e->body, "this quantity is of drones");
        if (q->of_pairs && s->drone_count < 2)
            vy_reader_refuse(r, &e->quantity, "%s needs two drones", q->name);
        const int is_of_one_drone = (e->at == VY_AT_REACHED || e->at == VY_AT_OVERSHOOT) && !q->of_pairs;
        if (is_of_one_drone && e->body == VY_EVERY_DRONE &&
            s->drone_count + (q->of_bodies ? s->body_count : 0) > 1)
            vy_reader_refuse(r, &e->at, "%s is of one drone: name it",
                             e->at == VY_AT_REACHED ? "reached" : "overshoot");
    }
    if (e->after > s->duration && !s->duration_changed)
        vy_reader_refuse(r, &e->after, "after is later than the end of the run, %g s", s->duration);
}

static void check_budget(vy_reader *r, const vy_scenario *s)
{
    const vy_environment_def *e = &s->environment;
    const double *culprit;
    vy_error err;
    if (!IS_VALID(r, e->nap.budget) || !IS_VALID(r, s->step)) return;
    if (vy_check_budget_def(&e->nap.budget, vy_coordinate_radius(&e->planet), s->step, &culprit, &err) !=
        VY_OK)
        vy_reader_refuse(r, culprit, "%s", err.text);
}

static void check_contacts(vy_reader *r, const vy_scenario *s)
{
    const double *substep = &s->contacts.def.substep;
    if (!IS_VALID(r, *substep) || !IS_VALID(r, s->step)) return;
    if (*substep * CONTACT_SUBSTEPS_MAX < s->step)
        vy_reader_refuse(r, substep, "substep must be at least the step over %d, %g s, got %g",
                         CONTACT_SUBSTEPS_MAX, s->step / CONTACT_SUBSTEPS_MAX, *substep);
}

void vy_check_scenario(vy_reader *reader, const vy_scenario *s)
{
    if (s->step > RECOMMENDED_STEP_MAX) {
        vy_report_warning(reader->report, vy_reader_location(reader, &s->step),
                          "step is above 5 ms: flights will differ from those with a smaller step");
    }
    check_budget(reader, s);
    check_contacts(reader, s);
    for (int i = 0; i < s->drone_count; ++i) check_drone(reader, s, i);
    for (int i = 0; i < s->body_count; ++i) check_body(reader, s, i);
    for (int i = 0; i < s->joint_count; ++i) check_joint(reader, s, i);
    for (int i = 0; i < s->obstacle_count; ++i) check_obstacle(reader, s, i);
    for (int i = 0; i < s->expect_count; ++i) check_expect(reader, s, &s->expect[i]);
    for (int i = 0; i < s->fault_count; ++i)
        check_is_drone(reader, s, &s->faults[i].drone, "it has nothing that breaks");
    for (int i = 0; i < s->payload_count; ++i)
        check_is_drone(reader, s, &s->payloads[i].carrier, "it carries nothing");
    if (IS_VALID(reader, s->duration) && IS_VALID(reader, s->step) && vy_scenario_steps(s) == 0)
        vy_reader_refuse(reader, &s->duration, "duration is less than one step");
    vy_check_build(reader, s);
}
