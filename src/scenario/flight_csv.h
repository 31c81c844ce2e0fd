// flight_csv.h - a recorded flight from a table of text, whose columns a mapping names.
//
// World axes are x east, y north, z up; body axes are forward-left-up; an attitude turns body to world. A
// mapping says which column is which quantity and how it counts, one quantity a line:
//
//   # anything after a # is a remark
//   time: t_ms ms
//   accel.z: acc_z_mg mg
//   rate.y: gyro_y deg/s *-1
//   motor.0: m4 /65535
//   motor.1: pwm1 1000..2000
//
// Behind the column's name (in double quotes if it has spaces) stand in any order a unit, a factor, a divisor
// or the values that mean 0 and 1. Without a mapping columns are called as the quantities are, in SI units.
#pragma once
#include "volery/status.h"
#include <stddef.h>

#define VY_FLIGHT_BYTES_MAX   ((size_t)512 << 20)
#define VY_FLIGHT_ROWS_MAX    ((size_t)10000000)
#define VY_FLIGHT_COLUMNS_MAX 1024
#define VY_FLIGHT_NAME_CAP    64

/// What a flight may have recorded. Of vectors the parts follow each other; so do motors and rotors.
typedef enum vy_flight_quantity {
    VY_FLIGHT_TIME,                                   ///< [s]
    VY_FLIGHT_POSITION,                               ///< [m] x, y, z: world
    VY_FLIGHT_VELOCITY = VY_FLIGHT_POSITION + 3,      ///< [m/s] x, y, z: world
    VY_FLIGHT_ATTITUDE = VY_FLIGHT_VELOCITY + 3,      ///< w, x, y, z: a unit quaternion
    VY_FLIGHT_RATE = VY_FLIGHT_ATTITUDE + 4,          ///< [rad/s] x, y, z: body
    VY_FLIGHT_ACCEL = VY_FLIGHT_RATE + 3,             ///< [m/s^2] x, y, z: specific force, body
    VY_FLIGHT_MOTOR = VY_FLIGHT_ACCEL + 3,            ///< commands, 0 to 1, of up to eight motors
    VY_FLIGHT_ROTOR = VY_FLIGHT_MOTOR + 8,            ///< [rad/s] speeds of up to eight rotors
    VY_FLIGHT_VOLTAGE = VY_FLIGHT_ROTOR + 8,          ///< [V] of the battery
    VY_FLIGHT_QUANTITY_COUNT = VY_FLIGHT_VOLTAGE + 1, ///< how many
} vy_flight_quantity;

/// "rate.x". Static storage.
const char *vy_flight_quantity_name(int quantity);

/// Which column is which quantity: value = number * scale + offset. A name of "" is a quantity that was not
/// recorded.
typedef struct vy_flight_mapping {
    char column[VY_FLIGHT_QUANTITY_COUNT][VY_FLIGHT_NAME_CAP];
    double scale[VY_FLIGHT_QUANTITY_COUNT], offset[VY_FLIGHT_QUANTITY_COUNT];
} vy_flight_mapping;

/// A flight in SI units. An empty cell of the file is NaN, but of motors and rotors the value before it.
typedef struct vy_flight vy_flight;
struct vy_flight {
    size_t rows;
    double *values[VY_FLIGHT_QUANTITY_COUNT]; ///< NULL: not recorded. Time is 0 in the first row
    double start;                             ///< [s] what the file said in its first row
};

/// Map one quantity; `text` is what stands behind its name, like "acc_z_mg mg".
/// @return VY_NOT_FOUND (no such quantity), VY_BAD_SYNTAX, VY_BAD_VALUE (a unit of something else, a factor
/// of 0)
vy_status vy_flight_mapping_set(vy_flight_mapping *m, const char *quantity, const char *text, vy_error *err);

/// Read a whole mapping: lines as above, or one line "time=t_ms ms, motor.0=m4 /65535". Any bytes are safe.
/// @param name what errors call it; may be NULL
vy_status vy_flight_mapping_parse(const char *data, size_t size, const char *name, vy_flight_mapping *out,
                                  vy_error *err);

/// Read a flight that lies in memory. Any bytes are safe.
/// @param mapping NULL: the columns' own names
/// @param name    what errors call the data; may be NULL
/// @param out     to be destroyed by the caller; NULL on failure
/// @return with the line, and the column where it is about one cell: VY_BAD_SYNTAX (no text, no header, not a
/// number, too few or many cells), VY_NOT_FOUND (a column is missing), VY_BAD_VALUE (time goes back or has a
/// gap, no rows, values of a size that shows a wrong unit), VY_FULL (over the limits above), VY_NO_MEMORY
vy_status vy_flight_parse(const char *data, size_t size, const vy_flight_mapping *mapping, const char *name,
                          vy_flight **out, vy_error *err);

/// The same from a file.
vy_status vy_flight_load(const char *path, const vy_flight_mapping *mapping, vy_flight **out, vy_error *err);

/// A flight of `rows` with room for the quantities whose bit is set in `quantity_bits`; NULL without memory.
vy_flight *vy_flight_create(size_t rows, unsigned long long quantity_bits);

/// Where in a flight something stands.
typedef struct vy_flight_place {
    size_t row; ///< from 1 on; 0: in no single one
    int quantity;
} vy_flight_place;

/// Checks that every reader of flights makes: there are rows, time rises without gaps, values have a size
/// that fits their units, quaternions are unit ones.
/// @param name  what errors call the flight; may be NULL
/// @param place on VY_BAD_VALUE, what is refused; may be NULL
vy_status vy_flight_check(const vy_flight *f, const char *name, vy_flight_place *place, vy_error *err);

/// NULL is allowed.
void vy_flight_free(vy_flight *f);
