// read.h - from a tree to C structs, by the rows of a table.
#pragma once
#include "scenario/report.h"
#include "scenario/schema.h"
#include "scenario/text.h"

/// Where a value in memory came from.
typedef struct vy_value_location {
    const char *begin;
    size_t size;
    const vy_node *node;
} vy_value_location;

typedef struct vy_value_locations {
    vy_value_location *items;
    size_t count, capacity;
} vy_value_locations;

typedef struct vy_reader {
    vy_yaml *tree;
    vy_report *report;
    vy_load_fn *load;             ///< may be NULL
    void *self;                   ///< its first argument
    const vy_scenario *scenario;  ///< whose drones may be named
    const vy_node *root;          ///< the origin of values without one of their own
    struct vy_include *includes;  ///< files read so far
    int include_depth;            ///< files that include each other at the moment
    vy_value_locations locations; ///< of all values and objects read
    vy_value_locations invalid;   ///< of those that could not be used
    int no_memory;
} vy_reader;

/// Fill `object` from `node` by the rows of `table`. Values that the text does not give stay unchanged.
void vy_read_object(vy_reader *reader, const vy_schema_table *table, const vy_node *node, void *object);

/// The same for an object that may be a file's name, or a mapping based on a file by `base`.
void vy_read_file_object(vy_reader *reader, const vy_schema_table *table, const vy_node *node, void *object);

/// The value of `size` bytes at `begin` was written at `node`.
void vy_reader_add_location(vy_reader *reader, const void *begin, size_t size, const vy_node *node);

/// Where the value at `field` was written, or the smallest object around it that was.
const vy_node *vy_reader_location(const vy_reader *reader, const void *field);

/// Whether the text gave the value of `size` bytes at `field` itself, and not only an object around it.
int vy_reader_has_value(const vy_reader *reader, const void *field, size_t size);

/// 0 when something in these bytes could not be read: further checks would only confuse.
int vy_reader_is_valid(const vy_reader *reader, const void *begin, size_t size);

/// Have the value at `field` count as one that could not be read.
void vy_reader_mark_invalid(vy_reader *reader, const void *field);

/// Report an error at the origin of `field`, and mark it.
void vy_reader_refuse(vy_reader *reader, const void *field, const char *format, ...) VY_PRINTF(3, 4);

void vy_reader_destroy(vy_reader *reader);

/// "above 0", "between 1 and 2"; empty when everything is allowed.
void vy_range_print(vy_text *out, vy_range range);

/// A letter, then letters, digits, - and _.
int vy_is_identifier(const char *text, size_t size);
