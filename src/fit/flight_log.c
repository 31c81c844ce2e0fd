// flight_log.c - a recorded flight from a log of Volery.
#include "fit/flight_log.h"
#include "base/fail.h"
#include "base/math.h"
#include "record/table.h"
#include <stdlib.h>

// Columns of the table, and what they are.
static const struct {
    const char *field;
    int first_quantity, count; // numbers of it, which are quantities one after the other
    int is_held;               // an older value still holds
} fields[] = {
    {"imu.gyro", VY_FLIGHT_RATE, 3, 0},           {"imu.accel", VY_FLIGHT_ACCEL, 3, 0},
    {"mocap.position", VY_FLIGHT_POSITION, 3, 0}, {"mocap.attitude", VY_FLIGHT_ATTITUDE, 4, 0},
    {"control.motors", VY_FLIGHT_MOTOR, 8, 1},
};
enum { FIELD_COUNT = sizeof fields / sizeof fields[0] };

typedef struct collector {
    const log_table *table;
    int quantity_of[TABLE_COLUMNS_MAX], is_held[TABLE_COLUMNS_MAX];
    double *rows; // time, then a number per column
    size_t count, capacity;
    int width;
    int is_out_of_memory;
} collector;

static int append_row(void *self, double time, const double *row)
{
    collector *c = self;
    if (c->count == c->capacity) {
        const size_t capacity_new = c->capacity == 0 ? 4096 : 2 * c->capacity;
        double *grown = realloc(c->rows, capacity_new * (size_t)c->width * sizeof *grown);
        if (grown == NULL) {
            c->is_out_of_memory = 1;
            return 1;
        }
        c->rows = grown;
        c->capacity = capacity_new;
    }
    double *out = c->rows + c->count * (size_t)c->width;
    out[0] = time;
    for (int k = 0; k + 1 < c->width; ++k) {
        const int is_valid = row[k] == row[k] && (c->is_held[k] || vy_table_is_current(c->table, k));
        out[k + 1] = is_valid ? row[k] : math_nan();
        if (c->is_held[k] && !is_valid) return 0; // before the first command
    }
    c->count += 1;
    return 0;
}

static vy_flight *flight_of(const collector *c)
{
    unsigned long long quantities = 1ull << VY_FLIGHT_TIME;
    for (int k = 0; k + 1 < c->width; ++k) quantities |= 1ull << c->quantity_of[k];
    vy_flight *f = vy_flight_create(c->count, quantities);
    if (f == NULL) return NULL;
    for (size_t i = 0; i < c->count; ++i) {
        const double *row = c->rows + i * (size_t)c->width;
        f->values[VY_FLIGHT_TIME][i] = row[0] - c->rows[0];
        for (int k = 0; k + 1 < c->width; ++k) f->values[c->quantity_of[k]][i] = row[k + 1];
    }
    f->start = c->count > 0 ? c->rows[0] : 0.0;
    return f;
}

static vy_status find_drone(vy_log *log, const char *name, uint32_t *out, vy_error *err)
{
    const vy_log_info info = vy_log_get_info(log);
    *out = 0;
    if (name == NULL && info.drone_count == 1) return VY_OK;
    if (name == NULL)
        return vy_fail(err, VY_BAD_VALUE, "the log holds %u drones: which one?", info.drone_count);
    for (uint32_t i = 0; i < info.drone_count; ++i) {
        if (strcmp(vy_log_name(log, i), name) == 0) {
            *out = i;
            return VY_OK;
        }
    }
    return vy_fail(err, VY_NOT_FOUND, "the log has no drone %.40s", name);
}

static vy_status read_table(vy_log *log, uint32_t drone, collector *c, vy_error *err)
{
    log_table *table = calloc(1, sizeof *table);
    if (table == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for a recorded flight");
    const char *names[FIELD_COUNT];
    int field_of[FIELD_COUNT], count = 0;
    for (int i = 0; i < FIELD_COUNT; ++i) { // those that this drone has
        const char *single[] = {fields[i].field};
        if (vy_table_open(log, drone, single, 1, table, NULL) == VY_OK) {
            field_of[count] = i;
            names[count++] = fields[i].field;
        }
        vy_table_close(table);
    }
    if (count == 0) {
        free(table);
        return vy_fail(err, VY_BAD_VALUE, "the log has neither samples of an IMU nor motor commands");
    }
    vy_status status = vy_table_open(log, drone, names, count, table, err);
    if (status == VY_OK) {
        int used_columns[FIELD_COUNT] = {0};
        for (int k = 0; k < table->count; ++k) {
            const int request = table->columns[k].request, i = field_of[request];
            c->quantity_of[k] = fields[i].first_quantity + used_columns[request]++;
            c->is_held[k] = fields[i].is_held;
        }
        c->width = table->count + 1;
        c->table = table;
        status = vy_table_rows(table, 0.0, append_row, c, err);
        if (c->is_out_of_memory) status = vy_fail(err, VY_NO_MEMORY, "no memory for a recorded flight");
    }
    vy_table_close(table);
    free(table);
    return status;
}

vy_status vy_flight_from_log(const char *path, const char *drone, vy_flight **out, vy_error *err)
{
    vy_log *log = NULL;
    collector *c = calloc(1, sizeof *c);
    uint32_t drone_index = 0;
    *out = NULL;
    if (c == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for a recorded flight");
    vy_status status = vy_log_open(path, &log, err);
    if (status == VY_OK) status = find_drone(log, drone, &drone_index, err);
    if (status == VY_OK) status = read_table(log, drone_index, c, err);
    vy_flight *f = NULL;
    if (status == VY_OK) {
        f = flight_of(c);
        if (f == NULL) status = vy_fail(err, VY_NO_MEMORY, "no memory for a recorded flight");
    }
    if (status == VY_OK) status = vy_flight_check(f, path, NULL, err);
    free(c->rows);
    free(c);
    vy_log_close(log);
    if (status != VY_OK) {
        vy_flight_free(f);
        return status;
    }
    *out = f;
    return VY_OK;
}
