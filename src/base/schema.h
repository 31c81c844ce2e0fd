// schema.h - how the values of a struct are named, bounded and described.
//
// A row is a value: its key, type, unit, range, help and place in a C struct. Reading, checking, printing,
// hashing, the reference page and the JSON Schema all walk the same rows. Defaults are not in the rows: they
// are what the table's `init` puts into the struct.
#pragma once
#include "volery/status.h"
#include <stddef.h>

typedef enum vy_schema_type {
    VY_TYPE_NUMBER,   ///< double
    VY_TYPE_INTEGER,  ///< uint64_t
    VY_TYPE_COUNT,    ///< int
    VY_TYPE_TEXT,     ///< char[size]
    VY_TYPE_CHOICE,   ///< int or enum, one of `choices`
    VY_TYPE_VECTOR,   ///< double[size]
    VY_TYPE_ROTATION, ///< vy_quat: [w, x, y, z] or {roll, pitch, yaw}
    VY_TYPE_INERTIA,  ///< vy_mat3: three principal moments or three rows
    VY_TYPE_DRONE,    ///< int: the index of a drone, by name, or `all`
    VY_TYPE_JOINT,    ///< int: the index of a joint, by name, or `all`
    VY_TYPE_OBJECT,   ///< a table of its own, at `offset`; offset 0 and the same struct: a group of keys
    VY_TYPE_LIST,     ///< elements of `table`, at most `size`
    VY_TYPE_NAMED,    ///< vy_parameter[size]: a mapping of names to values of any type
    VY_TYPE_TABLE,    ///< vy_numbers, owned: rows of `size` numbers each, or of any one length when that is 0
} vy_schema_type;

enum {
    VY_ROW_REQUIRED = 1 << 0,
    VY_ROW_UNHASHED = 1 << 1,      ///< cannot change a bit of the run: not in the hash
    VY_ROW_PERIOD = 1 << 2,        ///< a whole multiple of the step, or 0 where the range allows it
    VY_ROW_FILE = 1 << 3,          ///< an object that may be the name of a file, or be based on one by `base`
    VY_ROW_ALLOCATED = 1 << 4,     ///< a list behind a pointer, not inside the struct
    VY_ROW_IDENTIFIER = 1 << 5,    ///< text: a letter, then letters, digits, - and _
    VY_ROW_VARIABLE_SIZE = 1 << 6, ///< a vector that may have fewer numbers; the others are 0
    VY_ROW_HASHED_IF_SET = 1 << 7, ///< not in the hash: an object whose first number is 0, an empty list,
                                   ///< choice 0, number 0, a vector of zeros
};

/// What a number may be.
typedef struct vy_range {
    double min, max;
    int exclusive_min; // 1: min itself is not allowed
} vy_range;

typedef struct vy_choice {
    const char *name; ///< as it is written
    int value;        ///< in the struct
    const char *help; ///< for the reference page
    const char *unit; ///< NULL for most: a choice is not measured
} vy_choice;

/// Off and on.
extern const vy_choice vy_on_off[2];

typedef struct vy_schema_row {
    const char *key;  ///< as it is written
    const char *help; ///< for the reference page
    const char *unit; ///< SI; NULL has none
    vy_schema_type type;
    int flags;           ///< VY_ROW_ bits
    size_t offset;       ///< [bytes] of the value in the struct
    size_t size;         ///< of text [bytes], vector [numbers], list [elements]
    size_t count_offset; ///< of a list or mapping of names: where its int count is
    vy_range range;      ///< of numbers and of each number of a vector, see vy_row_range(); min is the fewest
                         ///< elements of a list
    const char *keyword; ///< may be written in place of `keyword_value`, which need not be in range
    double keyword_value;
    const vy_choice *choices;
    int choice_count;
    unsigned when; ///< bits of the values of the table's first row for which the key applies; 0: always
    const struct vy_schema_table *table;
    const char *default_text;                   ///< where the default is not a value
    const char *(*unit_of)(const void *object); ///< where the unit depends on another value
    int (*size_of)(const void *object); ///< of a vector: where fewer than `size` numbers may be what another
                                        ///< value asks for; one alone is a plain number
} vy_schema_row;

typedef struct vy_schema_table {
    const char *title; ///< of its section in the reference page
    const char *help;  ///< likewise, below the title
    size_t size;       ///< [bytes] of the struct; 0 for a group of keys of the struct around it
    void (*init)(void *object, int index); ///< fills in the defaults; NULL: those of the struct around it
    vy_status (*preset)(const char *name, void *object, vy_error *err); ///< of a file: built-in objects
    const vy_schema_row *rows;
    int row_count;
} vy_schema_table;

/// Whether a row applies, given the object's first value.
int vy_row_applies(const vy_schema_table *table, const vy_schema_row *row, const void *object);

/// What each number of the row may be in this unit: a bound the row leaves open is that of the unit.
vy_range vy_row_range(const vy_schema_row *row, const char *unit);

/// Are the numbers and choices of an object in C within their rows, as far as these apply? `where` is its
/// name in messages, as "drone.baro".
vy_status vy_check_rows(const vy_schema_table *table, const char *where, const void *object, vy_error *err);
