// table.h - a log as a table of one drone or body: a row per record, a column per value.
#pragma once
#include "record/log.h"

enum {
    TABLE_JOINTS_MAX = 16, ///< joints of a drone that have columns: the first ones
    // Numbers of streams: first those of vy_drone_streams, then reference, forces and torques, then these.
    TABLE_REPLIES = DRONE_STREAM_CAP + 3,                 ///< of the drone's controller
    TABLE_FIRST_JOINT,                                    ///< of the joints that hold it
    TABLE_STREAMS = TABLE_FIRST_JOINT + TABLE_JOINTS_MAX, ///< how many numbers there are
    TABLE_COLUMNS_MAX = 512,
    TABLE_CELLS_MAX = 128
};

/// One column: a cell of one stream.
typedef struct table_column {
    char name[64];     ///< like body.position.x
    size_t field_size; ///< of the name: its field alone, body.position
    char unit[12];     ///< SI; empty for none
    int stream;        ///< its number
    size_t cell;       ///< in a record of the stream
    int request;       ///< which of the fields asked for it belongs to
} table_column;

typedef struct log_table {
    vy_log *log;
    uint32_t drone;
    table_column columns[TABLE_COLUMNS_MAX];
    int count;
    double cells[TABLE_STREAMS][TABLE_CELLS_MAX]; // the latest values of each stream
    int has_values[TABLE_STREAMS];
    uint64_t record_times[TABLE_STREAMS]; // [ns] of the latest record of each
    uint64_t row_time;                    // [ns] of the row
    vy_pb_codec *codecs[TABLE_STREAMS];   // NULL: the log has no such stream
    uint16_t channels[TABLE_STREAMS];     // ids in the log
} log_table;

/// Choose the columns: `fields` by name (as in docs/log.md: body.position, control.motors, forces.gravity,
/// joints.NAME.tension of the joints that hold the drone, reply.thrust of a controller that is not built in),
/// or all when it is NULL. Release with vy_table_close(), which may be called twice.
vy_status vy_table_open(vy_log *log, uint32_t body, const char *const *fields, int field_count,
                        log_table *out, vy_error *err);
void vy_table_close(log_table *table);

/// One row: its time [s] and a value per column; NaN before the first record of a stream. Return nonzero to
/// stop.
typedef int table_row_fn(void *self, double time, const double *row);

/// Inside a table_row_fn, at rate 0: was column `column` recorded at this very moment, or is it an older
/// value?
int vy_table_is_current(const log_table *table, int column);

/// All rows in order of time. With `rate` 0 there is one per record of the truth; else one at each multiple
/// of 1 / rate [s] from the first record on, holding the latest record at or before it.
vy_status vy_table_rows(log_table *table, double rate, table_row_fn *on_row, void *self, vy_error *err);
