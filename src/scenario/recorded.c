// recorded.c - recorded flights from files, into the scenario that names them.
#include "scenario/recorded.h"
#include "base/real.h"
#include "base/vec.h"
#include "scenario/flight_csv.h"
#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS_MAX = 1 << 19 }; // of one table: printed, they are read again within the limit of a text

// The flight that `file` names, read by `columns`. NULL where it cannot be used, which has been reported.
static vy_flight *load_flight(vy_reader *r, const char *scenario_path, const char *file, const char *columns)
{
    vy_flight_mapping mapping;
    vy_flight *flight = NULL;
    vy_source_text text = {0};
    vy_error err = {0};
    if (columns[0] != '\0' &&
        vy_flight_mapping_parse(columns, strlen(columns), "columns", &mapping, &err) != VY_OK) {
        vy_reader_refuse(r, columns, "%s", err.text);
        return NULL;
    }
    vy_status status = r->load != NULL ? r->load(r->self, file, scenario_path, &text) : VY_NOT_FOUND;
    if (status == VY_OK) {
        status =
            vy_flight_parse(text.text, text.size, columns[0] != '\0' ? &mapping : NULL, NULL, &flight, &err);
        char location[32] = "";
        if (err.line > 0)
            snprintf(location, sizeof location, ":%d:%d", err.line, err.column > 0 ? err.column : 1);
        if (status != VY_OK && status != VY_NO_MEMORY)
            vy_reader_refuse(r, file, "file: %s%s: %s", file, location, err.text);
    } else if (status != VY_NO_MEMORY) {
        vy_report_error_of_kind(r->report, "file", vy_reader_location(r, file), "file: %s cannot be read",
                                file);
        vy_reader_mark_invalid(r, file);
    }
    if (status == VY_NO_MEMORY) r->no_memory = 1;
    free(text.name);
    free(text.text);
    return flight;
}

// Whether the flight has all of these quantities, from `first` on; else what is missing is said.
static int has_quantities(vy_reader *r, const char *file, const vy_flight *flight, int first, int count,
                          const char *user)
{
    for (int k = 0; k < count; ++k) {
        if (flight->values[first + k] != NULL) continue;
        vy_reader_refuse(r, file, "file: %s has no column for %s, which %s needs", file,
                         vy_flight_quantity_name(first + k), user);
        return 0;
    }
    return 1;
}

// Time and `count` quantities from `first` on, from the last row that is not after `start_time` on, where the
// time is 0. Rows with an empty cell are left out.
static int copy_table(vy_reader *r, const char *file, const vy_flight *flight, double start_time, int first,
                      int count, vy_numbers *out)
{
    size_t first_row = 0, rows = 0;
    const double *time = flight->values[VY_FLIGHT_TIME];
    if (!(start_time <= time[flight->rows - 1])) {
        vy_reader_refuse(r, file, "file: %s ends after %g s, before %g s", file, time[flight->rows - 1],
                         start_time);
        return 0;
    }
    while (first_row + 1 < flight->rows && time[first_row + 1] <= start_time + 1e-6)
        ++first_row; // as decimal numbers have it
    if ((double)(flight->rows - first_row) * (1 + count) > NUMBERS_MAX) {
        vy_reader_refuse(r, file, "file: %s has more than %d numbers to be used: give fewer rows", file,
                         NUMBERS_MAX);
        return 0;
    }
    double *values = malloc((flight->rows - first_row) * (size_t)(1 + count) * sizeof *values), *row = values;
    if (values == NULL) {
        r->no_memory = 1;
        return 0;
    }
    for (size_t i = first_row; i < flight->rows; ++i) {
        int is_complete = 1;
        row[0] = time[i] - start_time;
        for (int k = 0; k < count; ++k) {
            row[1 + k] = flight->values[first + k][i];
            is_complete &= real_is_finite(row[1 + k]);
        }
        if (!is_complete) continue;
        row += 1 + count;
        ++rows;
    }
    if (rows == 0) {
        vy_reader_refuse(r, file, "file: %s has no row with all columns from %g s on", file, start_time);
        free(values);
        return 0;
    }
    *out = (vy_numbers){values, (int)rows, 1 + count};
    return 1;
}

static void load_controller(vy_reader *r, const char *scenario_path, vy_scenario_drone *drone)
{
    vy_controller_def *c = &drone->def.controller;
    const vy_vehicle_def *vehicle = &drone->def.vehicle;
    if (c->kind != VY_CONTROLLER_RECORDED || !vy_reader_is_valid(r, c, sizeof *c) ||
        !vy_reader_is_valid(r, vehicle, sizeof *vehicle))
        return;
    if (c->record_file[0] == '\0') {
        if (c->record_from != 0.0 || c->record_columns[0] != '\0')
            vy_reader_refuse(r, c->record_from != 0.0 ? (void *)&c->record_from : c->record_columns,
                             "from and columns are for `file`");
        if (c->record.rows == 0)
            vy_reader_refuse(r, &c->kind, "record is missing: give `file`, a recorded flight, or `record`");
        return;
    }
    if (c->record.rows > 0) {
        vy_reader_refuse(r, c->record_file, "give record or file, not both");
        return;
    }
    vy_flight *flight = load_flight(r, scenario_path, c->record_file, c->record_columns);
    if (flight == NULL) return;
    if (!vy_reader_has_value(r, &c->record_kind, sizeof c->record_kind) &&
        flight->values[VY_FLIGHT_MOTOR] == NULL && flight->values[VY_FLIGHT_ROTOR] != NULL)
        c->record_kind = VY_RECORD_SPEEDS;
    const int plays_speeds = c->record_kind == VY_RECORD_SPEEDS,
              first = plays_speeds ? VY_FLIGHT_ROTOR : VY_FLIGHT_MOTOR,
              count = vehicle->rotor_count + (plays_speeds ? 0 : vehicle->thruster_count);
    const int max_count =
        plays_speeds ? VY_FLIGHT_VOLTAGE - VY_FLIGHT_ROTOR : VY_FLIGHT_ROTOR - VY_FLIGHT_MOTOR;
    if (count > max_count)
        vy_reader_refuse(r, c->record_file, "file: a recorded flight has up to %d motors, %s has %d",
                         max_count, drone->name, count);
    else if (has_quantities(r, c->record_file, flight, first, count, drone->name) &&
             copy_table(r, c->record_file, flight, c->record_from, first, count, &c->record)) {
        c->record_file[0] = c->record_columns[0] = '\0';
        c->record_from = 0.0;
    }
    vy_flight_free(flight);
}

// `count` quantities from `first` on at a time, between rows in proportion, unless the scenario gives them.
static void set_start_values(vy_reader *r, vy_scenario_drone *drone, const vy_flight *flight, int first,
                             int count, double *field, size_t size)
{
    const double start_time = drone->start_at, *time = flight->values[VY_FLIGHT_TIME];
    if (flight->values[first] == NULL || vy_reader_has_value(r, field, size)) return;
    if (!has_quantities(r, drone->start_file, flight, first, count, drone->name)) return;
    size_t row = 0;
    while (row + 1 < flight->rows && time[row + 1] <= start_time) ++row;
    const size_t next_row = row + 1 < flight->rows ? row + 1 : row;
    const double fraction =
        next_row > row ? real_clamp((start_time - time[row]) / (time[next_row] - time[row]), 0.0, 1.0) : 0.0;
    for (int k = 0; k < count; ++k) {
        const double a = flight->values[first + k][row], b = flight->values[first + k][next_row];
        field[k] = fraction > 0.0 ? a + fraction * (b - a) : a;
        if (real_is_finite(field[k])) continue;
        field[k] = 0.0;
        vy_reader_refuse(r, drone->start_file, "file: %s has no %s at %g s", drone->start_file,
                         vy_flight_quantity_name(first + k), start_time);
        return;
    }
}

static void load_start(vy_reader *r, const char *scenario_path, vy_scenario_drone *drone)
{
    vy_drone_def *def = &drone->def;
    if (!vy_reader_is_valid(r, drone, sizeof *drone)) return;
    if (drone->start_file[0] == '\0') {
        if (drone->start_at != 0.0 || drone->start_columns[0] != '\0')
            vy_reader_refuse(r, drone->start_at != 0.0 ? (void *)&drone->start_at : drone->start_columns,
                             "at and columns are for `file`");
        return;
    }
    vy_flight *flight = load_flight(r, scenario_path, drone->start_file, drone->start_columns);
    if (flight == NULL) return;
    const double end_time = flight->values[VY_FLIGHT_TIME][flight->rows - 1];
    if (drone->start_at > end_time) {
        vy_reader_refuse(r, drone->start_file, "file: %s ends after %g s, before %g s", drone->start_file,
                         end_time, drone->start_at);
        vy_flight_free(flight);
        return;
    }
    if (flight->values[VY_FLIGHT_POSITION] == NULL && flight->values[VY_FLIGHT_VELOCITY] == NULL &&
        flight->values[VY_FLIGHT_ATTITUDE] == NULL && flight->values[VY_FLIGHT_RATE] == NULL &&
        flight->values[VY_FLIGHT_ROTOR] == NULL)
        vy_reader_refuse(
            r, drone->start_file,
            "file: %s has no column for position.x, velocity.x, attitude.w, rate.x or rotor.0: it "
            "says nothing of the start",
            drone->start_file);
    const int rotor_count = def->vehicle.rotor_count <= 8 ? def->vehicle.rotor_count : 8;
    set_start_values(r, drone, flight, VY_FLIGHT_POSITION, 3, &def->position.x, sizeof def->position);
    set_start_values(r, drone, flight, VY_FLIGHT_VELOCITY, 3, &def->velocity.x, sizeof def->velocity);
    set_start_values(r, drone, flight, VY_FLIGHT_ATTITUDE, 4, &def->attitude.w, sizeof def->attitude);
    set_start_values(r, drone, flight, VY_FLIGHT_RATE, 3, &def->rate.x, sizeof def->rate);
    if (!vy_reader_has_value(r, &def->rotor_speed, sizeof def->rotor_speed) && rotor_count > 0)
        set_start_values(r, drone, flight, VY_FLIGHT_ROTOR, rotor_count, def->rotor_speeds,
                         sizeof def->rotor_speeds);
    if (vy_reader_is_valid(r, drone->start_file, sizeof drone->start_file)) {
        drone->start_file[0] = drone->start_columns[0] = '\0';
        drone->start_at = 0.0;
    }
    vy_flight_free(flight);
}

static void load_expect(vy_reader *r, const char *scenario_path, vy_expect_def *e)
{
    if (!vy_reader_is_valid(r, e, sizeof *e)) return;
    if (e->error_to[0] == '\0') {
        if (e->from != 0.0 || e->columns[0] != '\0')
            vy_reader_refuse(r, e->from != 0.0 ? (void *)&e->from : e->columns,
                             "from and columns are for `error_to`");
        return;
    }
    if (e->trajectory.rows > 0) {
        vy_reader_refuse(r, e->error_to, "give error_to or trajectory, not both");
        return;
    }
    vy_flight *flight = load_flight(r, scenario_path, e->error_to, e->columns);
    if (flight == NULL) return;
    if (has_quantities(r, e->error_to, flight, VY_FLIGHT_POSITION, 3, "error_to") &&
        copy_table(r, e->error_to, flight, e->from, VY_FLIGHT_POSITION, 3, &e->trajectory)) {
        e->error_to[0] = e->columns[0] = '\0';
        e->from = 0.0;
    }
    vy_flight_free(flight);
}

void vy_load_recorded(vy_reader *reader, const char *scenario_path, vy_scenario *scenario)
{
    for (int i = 0; i < scenario->drone_count; ++i) {
        vy_controller_def *c = &scenario->drones[i].def.controller;
        if (c->kind == VY_CONTROLLER_RECORDED && !vy_reader_has_value(reader, &c->period, sizeof c->period))
            c->period = scenario->step; // no row is left out
        load_controller(reader, scenario_path, &scenario->drones[i]);
        load_start(reader, scenario_path, &scenario->drones[i]);
    }
    for (int i = 0; i < scenario->expect_count; ++i) load_expect(reader, scenario_path, &scenario->expect[i]);
}
