// read.c - from a tree to C structs, by the rows of a table. Mistakes are reported and reading continues.
#include "scenario/read.h"
#include "base/assert.h"
#include "base/math.h"
#include "base/vec.h"
#include "scenario/number.h"
#include "scenario/parameters.h"
#include <stdio.h>
#include <stdlib.h>

#define KEY_CAP          256 // of one mapping
#define NAME_CAP         64  // names a suggestion is chosen from
#define NAMES_LISTED_MAX 40  // names that are listed when none is near
#define INCLUDE_CAP      8
#define TABLE_CAP        (1 << 20) // numbers of one table

static void read_value(vy_reader *r, const vy_schema_row *row, const vy_node *node, void *object);

// --- messages

static void print_actual(vy_text *out, const vy_node *node)
{
    switch (node->kind) {
    case VY_NODE_MAP: vy_text_puts(out, "a mapping"); return;
    case VY_NODE_LIST: vy_text_printf(out, "a list of %d", node->count); return;
    case VY_NODE_SCALAR: break;
    }
    if (node->size == 0 && node->plain) {
        vy_text_puts(out, "nothing");
        return;
    }
    vy_text_puts(out, "\"");
    vy_text_add_clean(out, node->text, node->size, 40);
    vy_text_puts(out, "\"");
}

// Report and release a sentence.
static void report_of_kind(vy_reader *r, const vy_node *node, const char *kind, vy_text *sentence)
{
    char *text = vy_text_take(sentence);
    if (text == NULL)
        r->no_memory = 1;
    else
        vy_report_error_of_kind(r->report, kind, node, "%s", text);
    free(text);
}

static void report_text(vy_reader *r, const vy_node *node, vy_text *sentence)
{
    report_of_kind(r, node, "value", sentence);
}

static void report_expected(vy_reader *r, const char *key, const char *expected, const vy_node *actual)
{
    vy_text text = {0};
    vy_text_printf(&text, "%s: expected %s, got ", key, expected);
    print_actual(&text, actual);
    report_text(r, actual, &text);
}

void vy_range_print(vy_text *out, vy_range range)
{
    if (range.exclusive_min)
        vy_text_printf(out, "above %g and at most %g", range.min, range.max);
    else if (range.min == range.max)
        vy_text_printf(out, "%g", range.min);
    else
        vy_text_printf(out, "between %g and %g", range.min, range.max);
}

// "did you mean ...?", or the whole list unless it is long.
static void print_names(vy_text *out, const char *word, size_t size, const char *const *names, int count)
{
    const char *closest = vy_closest_name(word, size, names, count);
    if (closest != NULL) {
        vy_text_printf(out, "; did you mean %s?", closest);
    } else if (count <= NAMES_LISTED_MAX) {
        for (int i = 0; i < count; ++i) vy_text_printf(out, "%s%s", i == 0 ? "; there are " : ", ", names[i]);
    }
}

// --- places

static void add_location(vy_reader *r, vy_value_locations *list, vy_value_location location)
{
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity == 0 ? 256 : 2 * list->capacity;
        vy_value_location *items = realloc(list->items, capacity * sizeof *items);
        if (items == NULL) {
            r->no_memory = 1;
            return;
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = location;
    VY_ASSERT(list->count <= list->capacity && location.node != NULL);
}

static void record_location(vy_reader *r, const void *begin, size_t size, const vy_node *node, int is_invalid)
{
    add_location(r, &r->locations, (vy_value_location){begin, size, node});
    if (is_invalid) add_location(r, &r->invalid, (vy_value_location){begin, size, node});
}

void vy_reader_add_location(vy_reader *reader, const void *begin, size_t size, const vy_node *node)
{
    record_location(reader, begin, size, node, 0);
}

// The smallest thing read that lies around `field`; NULL when there is none.
static const vy_value_location *find_location(const vy_reader *reader, const void *field)
{
    const vy_value_location *smallest = NULL;
    for (size_t i = 0; i < reader->locations.count; ++i) {
        const vy_value_location *location = &reader->locations.items[i];
        const uintptr_t address = (uintptr_t)field, begin = (uintptr_t)location->begin;
        if (address < begin || address - begin >= location->size) continue;
        if (smallest == NULL || location->size <= smallest->size)
            smallest = location; // the later one was written over the other
    }
    return smallest;
}

const vy_node *vy_reader_location(const vy_reader *reader, const void *field)
{
    const vy_value_location *location = find_location(reader, field);
    return location != NULL ? location->node : reader->root;
}

int vy_reader_has_value(const vy_reader *reader, const void *field, size_t size)
{
    const vy_value_location *location = find_location(reader, field);
    return location != NULL && location->size == size;
}

int vy_reader_is_valid(const vy_reader *reader, const void *begin, size_t size)
{
    const uintptr_t start = (uintptr_t)begin;
    for (size_t i = 0; i < reader->invalid.count; ++i) {
        const vy_value_location *location = &reader->invalid.items[i];
        const uintptr_t location_start = (uintptr_t)location->begin;
        if (location_start < start + size && start < location_start + location->size) return 0;
    }
    return 1;
}

void vy_reader_mark_invalid(vy_reader *reader, const void *field)
{
    add_location(reader, &reader->invalid, (vy_value_location){field, 1, vy_reader_location(reader, field)});
}

void vy_reader_refuse(vy_reader *reader, const void *field, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    vy_report_error(reader->report, vy_reader_location(reader, field), "%s", text);
    vy_reader_mark_invalid(reader, field);
}

// --- single values

static void report_number(vy_reader *r, const vy_schema_row *row, const char *unit, vy_number_result result,
                          const vy_node *node)
{
    vy_text text = {0};
    if (result == VY_NUMBER_NOT_FINITE) {
        vy_text_printf(&text, "%s must be a finite number, got ", row->key);
    } else if (result == VY_NUMBER_WRONG_UNIT) {
        vy_text_printf(&text, "%s: expected %s", row->key, *unit == '\0' ? "" : "a number in ");
        if (*unit == '\0')
            vy_text_puts(&text, "a number without a unit");
        else
            vy_unit_print(&text, unit);
        vy_text_puts(&text, ", got ");
    } else {
        vy_text_printf(&text, "%s: expected a number", row->key);
        if (*unit != '\0') {
            vy_text_puts(&text, " in ");
            vy_unit_print(&text, unit);
        }
        if (row->keyword != NULL) vy_text_printf(&text, " or %s", row->keyword);
        vy_text_puts(&text, ", got ");
    }
    print_actual(&text, node);
    report_text(r, node, &text);
}

// A number without a unit is in radians: more than a turn of them is most likely meant in degrees.
static void warn_of_degrees(vy_reader *r, const vy_schema_row *row, const char *unit, const vy_node *node,
                            double value)
{
    const char last_character = node->size > 0 ? node->text[node->size - 1] : '\0';
    const int has_no_unit = (last_character >= '0' && last_character <= '9') || last_character == '.';
    if (!has_no_unit || !vy_looks_like_degrees(unit, value)) return;
    vy_report_warning(
        r->report, node,
        "%s: %s is in radians, more than a turn; write %s deg for degrees, %s rad if it is meant", row->key,
        node->text, node->text, node->text);
}

// One number, also of a vector. @return 0 after a mistake
static int read_number(vy_reader *r, const vy_schema_row *row, const char *unit, const vy_node *node,
                       double *out)
{
    double value = 0.0;
    vy_number_result result = VY_NUMBER_BAD;
    node = vy_node_resolve(node);
    if (node->kind == VY_NODE_SCALAR) {
        if (row->keyword != NULL && strcmp(node->text, row->keyword) == 0) {
            *out = row->keyword_value;
            return 1;
        }
        result = vy_number_read(node->text, node->size, unit, &value);
    }
    if (result != VY_NUMBER_OK) {
        report_number(r, row, unit, result, node);
        return 0;
    }
    const vy_range range = vy_row_range(row, unit);
    const int is_keyword = row->keyword != NULL && value == row->keyword_value; // or what stands for it
    if (!is_keyword &&
        (value < range.min || value > range.max || (range.exclusive_min && value == range.min))) {
        vy_text text = {0};
        vy_text_printf(&text, "%s must be ", row->key);
        vy_range_print(&text, range);
        const int has_unit = *unit != '\0' && *unit != '1'; // "at least 0 1/s" would be hard to read
        vy_text_printf(&text, "%s%s, got ", has_unit ? " " : "", has_unit ? unit : "");
        vy_number_print(&text, value);
        report_of_kind(r, node, "range", &text);
        return 0;
    }
    warn_of_degrees(r, row, unit, node, value);
    *out = value;
    return 1;
}

// A list of exactly (or, for VY_ROW_VARIABLE_SIZE, at most) `size` numbers.
static int read_numbers(vy_reader *r, const vy_schema_row *row, const char *unit, const vy_node *node,
                        int size, double *out)
{
    const int fits = node->kind == VY_NODE_LIST &&
                     (row->flags & VY_ROW_VARIABLE_SIZE ? node->count <= size : node->count == size);
    if (!fits) {
        vy_text expected = {0};
        vy_text_printf(&expected, "[%s%d numbers%s%s]", row->flags & VY_ROW_VARIABLE_SIZE ? "up to " : "",
                       size, *unit != '\0' ? " in " : "", unit);
        char *text = vy_text_take(&expected);
        if (text == NULL)
            r->no_memory = 1;
        else
            report_expected(r, row->key, text, node);
        free(text);
        return 0;
    }
    int is_valid = 1, i = 0;
    double values[16] = {0.0};
    VY_ASSERT(size > 0 && (size_t)size <= sizeof values / sizeof values[0]);
    for (const vy_node *n = node->first; n != NULL; n = n->next)
        is_valid &= read_number(r, row, unit, n, &values[i++]);
    if (is_valid) memcpy(out, values, (size_t)size * sizeof *out);
    return is_valid;
}

static void read_vector(vy_reader *r, const vy_schema_row *row, const char *unit, const vy_node *node,
                        int size, double *out)
{
    if (row->size_of != NULL && size == 1)
        (void)read_number(r, row, unit, node, out);
    else
        (void)read_numbers(r, row, unit, node, size, out);
}

static void read_integer(vy_reader *r, const vy_schema_row *row, const vy_node *node, void *field)
{
    uint64_t value = 0;
    const int is_count = row->type == VY_TYPE_COUNT;
    if (node->kind != VY_NODE_SCALAR || !vy_uint_read(node->text, node->size, &value)) {
        report_expected(r, row->key, is_count ? "a whole number" : "a whole number from 0 to 2^64 - 1", node);
        return;
    }
    if (!is_count) {
        memcpy(field, &value, sizeof value);
        return;
    }
    const double as_double = (double)value;
    if (as_double < row->range.min || as_double > row->range.max) {
        vy_text text = {0};
        vy_text_printf(&text, "%s must be ", row->key);
        vy_range_print(&text, row->range);
        vy_text_puts(&text, ", got ");
        print_actual(&text, node);
        report_of_kind(r, node, "range", &text);
        return;
    }
    const int count = (int)value;
    memcpy(field, &count, sizeof count);
}

int vy_is_identifier(const char *text, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        const char c = text[i];
        const int is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && (i == 0 || !((c >= '0' && c <= '9') || c == '-' || c == '_'))) return 0;
    }
    return size > 0;
}

static void read_text(vy_reader *r, const vy_schema_row *row, const vy_node *node, char *field)
{
    const int is_name = (row->flags & VY_ROW_IDENTIFIER) != 0;
    VY_ASSERT(row->size > 1); // room for a text and its end
    if (row->keyword != NULL && node->kind == VY_NODE_SCALAR && node->size == strlen(row->keyword) &&
        memcmp(node->text, row->keyword, node->size) == 0) { // it stands for no text at all
        memset(field, 0, row->size);
        return;
    }
    if (node->kind != VY_NODE_SCALAR || node->size == 0 ||
        (is_name && !vy_is_identifier(node->text, node->size))) {
        report_expected(r, row->key, is_name ? "a name (a letter, then letters, digits, - and _)" : "a text",
                        node);
        return;
    }
    if (node->size >= row->size) {
        vy_report_error(r->report, node, "%s must have at most %zu bytes, got %zu", row->key, row->size - 1,
                        node->size);
        return;
    }
    for (size_t i = 0;
         i < node->size;) { // an escape in quotes may have brought in what the file itself may not hold
        const size_t character_size = vy_character_size(node->text + i, node->size - i);
        if (character_size == 0 || node->text[i] == '\n' || node->text[i] == '\r') {
            vy_report_error(r->report, node, "%s must be one line without control characters", row->key);
            return;
        }
        i += character_size;
    }
    memset(field, 0, row->size);
    memcpy(field, node->text, node->size);
}

static void read_choice(vy_reader *r, const vy_schema_row *row, const vy_node *node, void *field)
{
    const char *names[NAME_CAP];
    const int count = row->choice_count < NAME_CAP ? row->choice_count : NAME_CAP;
    VY_ASSERT(row->choice_count > 0 && row->choice_count <= NAME_CAP);
    for (int i = 0; i < count; ++i) {
        names[i] = row->choices[i].name;
        const char *bool_word = vy_bool_word(names[i]);
        if (node->kind == VY_NODE_SCALAR && (strcmp(node->text, names[i]) == 0 ||
                                             (bool_word != NULL && strcmp(node->text, bool_word) == 0))) {
            memcpy(field, &row->choices[i].value, sizeof(int));
            return;
        }
    }
    vy_text text = {0};
    vy_text_printf(&text, "%s cannot be ", row->key);
    print_actual(&text, node);
    print_names(&text, node->text, node->size, names, count);
    report_text(r, node, &text);
}

static void read_drone(vy_reader *r, const vy_schema_row *row, const vy_node *node, int *field)
{
    const vy_scenario *s = r->scenario;
    const char *no_drone_word =
        row->keyword != NULL ? row->keyword : "all"; // what stands for no drone in particular
    if (node->kind != VY_NODE_SCALAR || node->size == 0) {
        report_expected(r, row->key,
                        row->keyword != NULL ? "the name of a drone or body, or world"
                                             : "the name of a drone or all",
                        node);
        return;
    }
    *field = VY_EVERY_DRONE;
    if (strcmp(node->text, no_drone_word) == 0 || s->drone_count == 0) return;
    const char *names[NAME_CAP];
    int count = 0;
    for (int i = 0; i < s->drone_count + s->body_count; ++i) {
        const char *name = vy_scenario_name_of(s, i);
        if (strcmp(node->text, name) == 0) {
            *field = i;
            return;
        }
        if (count < NAME_CAP) names[count++] = name;
    }
    vy_text text = {0};
    vy_text_puts(&text, "no drone is called ");
    print_actual(&text, node);
    print_names(&text, node->text, node->size, names, count);
    report_text(r, node, &text);
}

static void read_joint(vy_reader *r, const vy_schema_row *row, const vy_node *node, int *field)
{
    const vy_scenario *s = r->scenario;
    if (node->kind != VY_NODE_SCALAR || node->size == 0) {
        report_expected(r, row->key, "the name of a joint or all", node);
        return;
    }
    *field = VY_EVERY_JOINT;
    if (strcmp(node->text, "all") == 0) return;
    const char *names[NAME_CAP];
    int count = 0;
    for (int i = 0; i < s->joint_count; ++i) {
        if (strcmp(node->text, s->joints[i].name) == 0) {
            *field = i;
            return;
        }
        if (count < NAME_CAP) names[count++] = s->joints[i].name;
    }
    vy_text text = {0};
    vy_text_puts(&text, "no joint is called ");
    print_actual(&text, node);
    print_names(&text, node->text, node->size, names, count);
    report_text(r, node, &text);
}

static void read_rotation(vy_reader *r, const vy_schema_row *row, const vy_node *node, vy_quat *field)
{
    if (node->kind == VY_NODE_MAP) {
        const int calls_before = r->report->error_calls;
        vy_angles angles = {0.0, 0.0, 0.0};
        vy_read_object(r, &vy_angles_table, node, &angles);
        if (r->report->error_calls != calls_before) return;
        const quat yaw = quat_make(math_cos(0.5 * angles.yaw), 0.0, 0.0, math_sin(0.5 * angles.yaw));
        const quat pitch = quat_make(math_cos(0.5 * angles.pitch), 0.0, math_sin(0.5 * angles.pitch), 0.0);
        const quat roll = quat_make(math_cos(0.5 * angles.roll), math_sin(0.5 * angles.roll), 0.0, 0.0);
        *field = quat_mul(yaw, quat_mul(pitch, roll));
        return;
    }
    double q[4];
    if (node->kind != VY_NODE_LIST) {
        report_expected(r, row->key, "[w, x, y, z] or {roll, pitch, yaw}", node);
    } else if (read_numbers(r, row, "", node, 4, q)) {
        const double norm_squared = (q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]);
        if (!(norm_squared > 0.0 && real_is_finite(norm_squared))) {
            vy_report_error(r->report, node, "%s must have a length above 0", row->key);
            return;
        }
        *field = quat_make(q[0], q[1], q[2], q[3]);
    }
}

static void read_inertia(vy_reader *r, const vy_schema_row *row, const vy_node *node, vy_mat3 *field)
{
    double diagonal[3];
    const vy_node *first_node =
        node->kind == VY_NODE_LIST && node->count > 0 ? vy_node_resolve(node->first) : node;
    if (node->kind != VY_NODE_LIST || node->count != 3 || (first_node->kind == VY_NODE_SCALAR)) {
        if (node->kind != VY_NODE_LIST || node->count != 3) {
            report_expected(r, row->key, "[x, y, z] or three rows of three numbers in kg m^2", node);
        } else if (read_numbers(r, row, row->unit, node, 3, diagonal)) {
            *field = mat3_diag(diagonal[0], diagonal[1], diagonal[2]);
        }
        return;
    }
    vy_mat3 m;
    int is_valid = 1, i = 0;
    for (const vy_node *n = node->first; n != NULL; n = n->next) {
        is_valid &= read_numbers(r, row, row->unit, vy_node_resolve(n), 3, m.m[i++]);
    }
    if (is_valid) *field = m;
}

// --- lists and objects

static void read_list(vy_reader *r, const vy_schema_row *row, const vy_node *node, void *object)
{
    const vy_schema_table *table = row->table;
    const int maximum = (int)row->size, minimum = (int)row->range.min;
    VY_ASSERT(table != NULL && table->size > 0 && table->init != NULL && minimum <= maximum);
    if (node->kind != VY_NODE_LIST) {
        report_expected(r, row->key, "a list (of lines that begin with -)", node);
        return;
    }
    if (node->count > maximum || node->count < minimum) {
        vy_report_error(r->report, node, "%s: %s %d can be given, got %d", row->key,
                        node->count > maximum ? "at most" : "at least",
                        node->count > maximum ? maximum : minimum, node->count);
        return;
    }
    char *elements = (char *)object + row->offset;
    if (row->flags & VY_ROW_ALLOCATED) {
        void *memory = node->count == 0 ? NULL : calloc((size_t)node->count, table->size);
        if (memory == NULL && node->count > 0) {
            r->no_memory = 1;
            return;
        }
        memcpy(elements, &memory, sizeof memory);
        elements = memory;
    } else {
        memset(elements, 0, row->size * table->size);
    }
    memcpy((char *)object + row->count_offset, &node->count, sizeof node->count);
    int i = 0;
    for (const vy_node *n = node->first; n != NULL; n = n->next, ++i) {
        table->init(elements + (size_t)i * table->size, i);
    }
    i = 0;
    for (const vy_node *n = node->first; n != NULL; n = n->next, ++i) {
        const int is_single_value = table->row_count == 1 && vy_node_resolve(n)->kind == VY_NODE_SCALAR;
        if (is_single_value) // the one thing that it has
            read_value(r, &table->rows[0], n, elements + (size_t)i * table->size);
        else
            vy_read_object(r, table, n, elements + (size_t)i * table->size);
    }
}

// Rows of numbers, all of one length.
static void read_table(vy_reader *r, const vy_schema_row *row, const vy_node *node, vy_numbers *field)
{
    const vy_node *first_node =
        node->kind == VY_NODE_LIST && node->count > 0 ? vy_node_resolve(node->first) : node;
    const int columns = row->size > 0                      ? (int)row->size
                        : first_node->kind == VY_NODE_LIST ? first_node->count
                                                           : 0;
    if (node->kind != VY_NODE_LIST || (columns == 0 && node->count > 0)) {
        report_expected(r, row->key, "a list of rows of numbers", node);
        return;
    }
    if ((double)node->count * columns > TABLE_CAP) {
        vy_report_error(r->report, node, "%s: at most %d numbers can be given", row->key, TABLE_CAP);
        return;
    }
    const size_t count = (size_t)node->count * (size_t)columns;
    double *values = count > 0 ? malloc(count * sizeof *values) : NULL;
    if (values == NULL && count > 0) {
        r->no_memory = 1;
        return;
    }
    int is_valid = 1;
    double *out = values;
    for (const vy_node *n = node->first; n != NULL; n = n->next, out += columns) {
        const vy_node *row_node = vy_node_resolve(n);
        if (row_node->kind != VY_NODE_LIST || row_node->count != columns) {
            vy_report_error(r->report, row_node, "%s: expected a row of %d numbers", row->key, columns);
            is_valid = 0;
            continue;
        }
        int k = 0;
        for (const vy_node *number_node = row_node->first; number_node != NULL;
             number_node = number_node->next)
            is_valid &= read_number(r, row, row->unit != NULL ? row->unit : "", number_node, &out[k++]);
    }
    if (!is_valid) {
        free(values);
        return;
    }
    free(field->values);
    *field = (vy_numbers){values, node->count, node->count > 0 ? columns : 0}; // none is none: one hash
}

// Bytes of a row's value in its struct.
static size_t value_size(const vy_schema_row *row)
{
    switch (row->type) {
    case VY_TYPE_NUMBER: return sizeof(double);
    case VY_TYPE_INTEGER: return sizeof(uint64_t);
    case VY_TYPE_TEXT: return row->size;
    case VY_TYPE_VECTOR: return row->size * sizeof(double);
    case VY_TYPE_ROTATION: return sizeof(vy_quat);
    case VY_TYPE_INERTIA: return sizeof(vy_mat3);
    case VY_TYPE_OBJECT: return row->table->size;
    case VY_TYPE_LIST: return row->flags & VY_ROW_ALLOCATED ? sizeof(void *) : row->size * row->table->size;
    case VY_TYPE_NAMED: return row->size * sizeof(vy_parameter);
    case VY_TYPE_TABLE: return sizeof(vy_numbers);
    case VY_TYPE_COUNT:
    case VY_TYPE_CHOICE:
    case VY_TYPE_DRONE:
    case VY_TYPE_JOINT: break;
    }
    return sizeof(int);
}

static void read_value(vy_reader *r, const vy_schema_row *row, const vy_node *node, void *object)
{
    void *field = (char *)object + row->offset;
    const char *unit = vy_row_unit(row, object);
    const int calls_before = r->report->error_calls;
    node = vy_node_resolve(node);
    switch (row->type) {
    case VY_TYPE_NUMBER: (void)read_number(r, row, unit, node, field); break;
    case VY_TYPE_INTEGER:
    case VY_TYPE_COUNT: read_integer(r, row, node, field); break;
    case VY_TYPE_TEXT: read_text(r, row, node, field); break;
    case VY_TYPE_CHOICE: read_choice(r, row, node, field); break;
    case VY_TYPE_VECTOR: read_vector(r, row, unit, node, vy_row_number_count(row, object), field); break;
    case VY_TYPE_ROTATION: read_rotation(r, row, node, field); break;
    case VY_TYPE_INERTIA: read_inertia(r, row, node, field); break;
    case VY_TYPE_DRONE: read_drone(r, row, node, field); break;
    case VY_TYPE_JOINT: read_joint(r, row, node, field); break;
    case VY_TYPE_LIST: read_list(r, row, node, object); break;
    case VY_TYPE_NAMED: vy_read_parameters(r, row, node, object); break;
    case VY_TYPE_TABLE: read_table(r, row, node, field); break;
    case VY_TYPE_OBJECT: // records its own origin and those of its parts
        if (row->flags & VY_ROW_FILE)
            vy_read_file_object(r, row->table, node, field);
        else
            vy_read_object(r, row->table, node, field);
        return;
    }
    // The elements of a list record their own errors.
    const int is_invalid =
        r->report->error_calls != calls_before && (row->type != VY_TYPE_LIST || node->kind != VY_NODE_LIST);
    record_location(r, field, value_size(row), node, is_invalid);
}

static void report_unknown(vy_reader *r, const vy_schema_table *table, const vy_node *key, const void *object)
{
    if (!vy_report_has_room(r->report)) {
        vy_report_error_of_kind(r->report, "unknown_key", key, "unknown key");
        return;
    }
    const vy_schema_row *row = vy_table_find(table, key->text);
    vy_text text = {0};
    if (row != NULL) {
        int value;
        memcpy(&value, (const char *)object + table->rows[0].offset, sizeof value);
        const vy_choice *choice = vy_choice_of(&table->rows[0], value);
        vy_text_printf(&text, "%s does not apply to %s %s", key->text, table->rows[0].key,
                       choice != NULL ? choice->name : "this");
    } else {
        const char *names[NAME_CAP];
        int count = 0;
        for (int i = 0; i < table->row_count && count < NAME_CAP; ++i) {
            if (vy_row_applies(table, &table->rows[i], object)) names[count++] = table->rows[i].key;
        }
        vy_text_puts(&text, "unknown key ");
        print_actual(&text, key);
        print_names(&text, key->text, key->size, names, count);
    }
    report_of_kind(r, key, "unknown_key", &text);
}

// Keys that no row has read: unknown, given twice, or not for this kind of thing.
static void check_keys(vy_reader *r, const vy_schema_table *table, const vy_node *map, const void *object,
                       int is_kind_known, int has_base)
{
    for (const vy_node *n = map->first; n != NULL; n = n->next) {
        const char *key = n->key->text;
        int is_known = has_base && strcmp(key, "base") == 0;
        for (int i = 0; i < table->row_count && !is_known; ++i) {
            const vy_schema_row *row = &table->rows[i];
            is_known = strcmp(row->key, key) == 0 && (!is_kind_known || vy_row_applies(table, row, object));
        }
        const vy_node *first_value = vy_node_find(map, key);
        if (!is_known) {
            report_unknown(r, table, n->key, object);
        } else if (first_value != n) {
            vy_report_error_of_kind(r->report, "repeated_key", n->key, "%s is given twice: first in line %d",
                                    key, first_value->key->line);
        }
    }
}

static void read_rows(vy_reader *r, const vy_schema_table *table, const vy_node *node, void *object,
                      int has_base)
{
    if (node->kind != VY_NODE_MAP) {
        vy_text text = {0};
        vy_text_puts(&text, "expected a mapping (lines of `key: value`), got ");
        print_actual(&text, node);
        report_text(r, node, &text);
        return;
    }
    if (node->count > KEY_CAP) {
        vy_report_error(r->report, node, "more than %d keys", KEY_CAP);
        return;
    }
    if (table->size > 0) record_location(r, object, table->size, node, 0);
    VY_ASSERT(table->row_count > 0 && object != NULL);
    int is_kind_known = 1; // 0: the first value, on which keys and units may depend, is not known
    for (int i = 0; i < table->row_count; ++i) {
        const vy_schema_row *row = &table->rows[i];
        const vy_node *value = vy_node_find(node, row->key);
        if (!is_kind_known && (row->when != 0 || row->unit_of != NULL)) continue;
        if (!vy_row_applies(table, row, object)) continue;
        const int calls_before = r->report->error_calls;
        if (value != NULL) {
            read_value(r, row, value, object);
        } else if ((row->flags & VY_ROW_REQUIRED) && !has_base) {
            vy_report_error_of_kind(r->report, "missing_key", node, "%s is missing", row->key);
            record_location(r, (const char *)object + row->offset, value_size(row), node, 1);
        }
        if (i == 0 && r->report->error_calls != calls_before) is_kind_known = 0;
    }
    check_keys(r, table, node, object, is_kind_known, has_base);
}

void vy_read_object(vy_reader *reader, const vy_schema_table *table, const vy_node *node, void *object)
{
    read_rows(reader, table, vy_node_resolve(node), object, 0);
}

// --- files

typedef struct vy_include {
    const char *name, *from; // as it is named, and the file that names it
    const vy_node *root;     // NULL: it could not be read
    vy_status status;
    struct vy_include *next;
} vy_include;

static const vy_include *include_file(vy_reader *r, const vy_node *name)
{
    // What --set names is looked for as if it stood in the scenario.
    const char *asking_file =
        name->source->is_override && r->root != NULL ? r->root->source->name : name->source->name;
    for (vy_include *i = r->includes; i != NULL; i = i->next) {
        if (strcmp(i->name, name->text) == 0 && strcmp(i->from, asking_file) == 0) return i;
    }
    vy_include *include = vy_yaml_alloc(r->tree, sizeof *include);
    if (include == NULL) return NULL;
    *include =
        (vy_include){.name = name->text, .from = asking_file, .status = VY_NOT_FOUND, .next = r->includes};
    r->includes = include;
    vy_source_text text = {0};
    if (r->load != NULL) include->status = r->load(r->self, name->text, asking_file, &text);
    if (include->status != VY_OK) return include;
    vy_source *source = vy_yaml_add_source(r->tree, text.name, text.text, text.size);
    if (source == NULL) return NULL;
    include->root = vy_yaml_read(r->tree, source, 0, r->report);
    return include;
}

static void read_by_name(vy_reader *r, const vy_schema_table *table, const vy_node *name, void *object)
{
    if (name->size == 0) {
        report_expected(r, table->title, "a name, a path ending in .yaml, or a mapping", name);
        return;
    }
    if (r->include_depth == INCLUDE_CAP) {
        vy_report_error(r->report, name, "%d files include each other here: does one include itself?",
                        INCLUDE_CAP);
        return;
    }
    const vy_include *file = include_file(r, name);
    if (file == NULL || file->status == VY_NO_MEMORY) {
        r->no_memory = 1;
    } else if (file->root != NULL) {
        ++r->include_depth;
        VY_ASSERT(r->include_depth <= INCLUDE_CAP);
        vy_read_file_object(r, table, file->root, object);
        --r->include_depth;
    } else if (file->status == VY_NOT_FOUND) {
        vy_error err;
        vy_text word = {0};
        vy_text_add_clean(&word, name->text, name->size, 60);
        char *clean_name = vy_text_take(&word);
        const size_t size = clean_name != NULL ? strlen(clean_name) : 0;
        if (clean_name == NULL)
            r->no_memory = 1;
        else if (size > 5 && strcmp(clean_name + size - 5, ".yaml") == 0)
            vy_report_error_of_kind(r->report, "file", name,
                                    "there is no file %s, seen from the folder of %s", clean_name,
                                    file->from);
        else if (table->preset(clean_name, object, &err) != VY_OK)
            vy_report_error(r->report, name, "%s", err.text);
        free(clean_name);
    } else if (file->status != VY_OK) {
        vy_report_error_of_kind(r->report, "file", name, "%s: %s", name->text, vy_status_text(file->status));
    } // else its errors are reported already
}

void vy_read_file_object(vy_reader *reader, const vy_schema_table *table, const vy_node *node, void *object)
{
    node = vy_node_resolve(node);
    if (node->kind == VY_NODE_SCALAR) {
        const int calls_before = reader->report->error_calls;
        read_by_name(reader, table, node, object);
        record_location(reader, object, table->size, node, reader->report->error_calls != calls_before);
        return;
    }
    const vy_node *base = node->kind == VY_NODE_MAP ? vy_node_find(node, "base") : NULL;
    const int calls_before = reader->report->error_calls;
    if (base == NULL) {
        table->init(object, 0);
    } else if (vy_node_resolve(base)->kind == VY_NODE_SCALAR) {
        read_by_name(reader, table, vy_node_resolve(base), object);
    } else {
        report_expected(reader, "base", "a name or a path ending in .yaml", vy_node_resolve(base));
    }
    if (reader->report->error_calls != calls_before) record_location(reader, object, table->size, node, 1);
    read_rows(reader, table, node, object, base != NULL);
}

void vy_reader_destroy(vy_reader *reader)
{
    free(reader->locations.items);
    free(reader->invalid.items);
}
