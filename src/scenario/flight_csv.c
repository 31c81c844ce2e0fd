// flight_csv.c - a recorded flight from a table of text, whose columns a mapping names.
#include "scenario/flight_csv.h"
#include "base/assert.h"
#include "base/decimal.h"
#include "base/fail.h"
#include "base/read_file.h"
#include "scenario/text.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI               3.14159265358979323846
#define STANDARD_GRAVITY 9.80665

const char *vy_flight_quantity_name(int quantity)
{
    static const char *const names[VY_FLIGHT_QUANTITY_COUNT] = {
        "time",       "position.x", "position.y", "position.z", "velocity.x", "velocity.y", "velocity.z",
        "attitude.w", "attitude.x", "attitude.y", "attitude.z", "rate.x",     "rate.y",     "rate.z",
        "accel.x",    "accel.y",    "accel.z",    "motor.0",    "motor.1",    "motor.2",    "motor.3",
        "motor.4",    "motor.5",    "motor.6",    "motor.7",    "rotor.0",    "rotor.1",    "rotor.2",
        "rotor.3",    "rotor.4",    "rotor.5",    "rotor.6",    "rotor.7",    "voltage",
    };
    VY_ASSERT(quantity >= 0 && quantity < VY_FLIGHT_QUANTITY_COUNT && names[quantity] != NULL);
    return names[quantity];
}

// A unit that a column may be in, of quantities [first, last].
typedef struct column_unit {
    const char *name;
    int first, last;
    double factor;
} column_unit;
static const column_unit units[] = {
    {"s", VY_FLIGHT_TIME, VY_FLIGHT_TIME, 1.0},
    {"ms", VY_FLIGHT_TIME, VY_FLIGHT_TIME, 1e-3},
    {"us", VY_FLIGHT_TIME, VY_FLIGHT_TIME, 1e-6},
    {"ns", VY_FLIGHT_TIME, VY_FLIGHT_TIME, 1e-9},
    {"m", VY_FLIGHT_POSITION, VY_FLIGHT_POSITION + 2, 1.0},
    {"cm", VY_FLIGHT_POSITION, VY_FLIGHT_POSITION + 2, 1e-2},
    {"mm", VY_FLIGHT_POSITION, VY_FLIGHT_POSITION + 2, 1e-3},
    {"m/s", VY_FLIGHT_VELOCITY, VY_FLIGHT_VELOCITY + 2, 1.0},
    {"cm/s", VY_FLIGHT_VELOCITY, VY_FLIGHT_VELOCITY + 2, 1e-2},
    {"mm/s", VY_FLIGHT_VELOCITY, VY_FLIGHT_VELOCITY + 2, 1e-3},
    {"rad/s", VY_FLIGHT_RATE, VY_FLIGHT_RATE + 2, 1.0},
    {"mrad/s", VY_FLIGHT_RATE, VY_FLIGHT_RATE + 2, 1e-3},
    {"deg/s", VY_FLIGHT_RATE, VY_FLIGHT_RATE + 2, PI / 180.0},
    {"m/s^2", VY_FLIGHT_ACCEL, VY_FLIGHT_ACCEL + 2, 1.0},
    {"g", VY_FLIGHT_ACCEL, VY_FLIGHT_ACCEL + 2, STANDARD_GRAVITY},
    {"mg", VY_FLIGHT_ACCEL, VY_FLIGHT_ACCEL + 2, 1e-3 * STANDARD_GRAVITY},
    {"%", VY_FLIGHT_MOTOR, VY_FLIGHT_MOTOR + 7, 1e-2},
    {"rad/s", VY_FLIGHT_ROTOR, VY_FLIGHT_ROTOR + 7, 1.0},
    {"rpm", VY_FLIGHT_ROTOR, VY_FLIGHT_ROTOR + 7, PI / 30.0},
    {"V", VY_FLIGHT_VOLTAGE, VY_FLIGHT_VOLTAGE, 1.0},
    {"mV", VY_FLIGHT_VOLTAGE, VY_FLIGHT_VOLTAGE, 1e-3},
};
enum { UNIT_COUNT = sizeof units / sizeof units[0] };

static vy_status fail_at(vy_error *err, const char *name, int line, int column, vy_status status,
                         const char *format, ...) VY_PRINTF(6, 7);
static vy_status fail_at(vy_error *err, const char *name, int line, int column, vy_status status,
                         const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vy_fail_at(err, name, line, line > 0 && column == 0 ? 1 : column, status, format, args);
    va_end(args);
    return status;
}

static int is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

enum { PRINTABLE_BYTES = 40 }; // of what a file holds, in a sentence

// What a file holds, for a sentence: bytes that are no text are question marks.
static const char *make_printable(const char *text, size_t size, char out[PRINTABLE_BYTES + 1])
{
    size_t position = 0, out_size = 0;
    while (position < size) {
        const size_t character_size = vy_character_size(text + position, size - position);
        if (out_size + (character_size == 0 ? 1 : character_size) > PRINTABLE_BYTES) break;
        if (character_size == 0) out[out_size] = '?';
        memcpy(out + out_size, text + position, character_size);
        out_size += character_size == 0 ? 1 : character_size;
        position += character_size == 0 ? 1 : character_size;
    }
    out[out_size] = '\0';
    return out;
}

// Behind the mark that some programs put before a text in UTF-8.
static size_t byte_order_mark_size(const char *data, size_t size)
{
    return size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static int is_vector(int quantity, vy_flight_quantity first, int count)
{
    return quantity >= (int)first && quantity < (int)first + count;
}

static int find_quantity(const char *name, size_t size)
{
    for (int q = 0; q < VY_FLIGHT_QUANTITY_COUNT; ++q) {
        const char *known_name = vy_flight_quantity_name(q);
        if (strlen(known_name) == size && memcmp(known_name, name, size) == 0) return q;
    }
    return -1;
}

// One word behind a column's name: a unit, "*2", "/65535" or "1000..2000".
static vy_status read_word(int quantity, const char *word, size_t size, double *scale, double *offset,
                           vy_error *err)
{
    double a, b;
    const char *name = vy_flight_quantity_name(quantity);
    if ((*word == '*' || *word == '/') && vy_decimal_parse(word + 1, size - 1, &a)) {
        if (a == 0.0 || !real_is_finite(a) || !real_is_finite(1.0 / a))
            return vy_fail(err, VY_BAD_VALUE, "%s: a column cannot be counted by %.20s", name, word);
        *scale = *word == '*' ? *scale * a : *scale / a;
        *offset = *word == '*' ? *offset * a : *offset / a;
        return VY_OK;
    }
    size_t range_mark = 0;
    while (range_mark + 1 < size && !(word[range_mark] == '.' && word[range_mark + 1] == '.')) ++range_mark;
    if (range_mark + 1 < size && vy_decimal_parse(word, range_mark, &a) &&
        vy_decimal_parse(word + range_mark + 2, size - range_mark - 2, &b)) {
        if (a == b || !real_is_finite(1.0 / (b - a)))
            return vy_fail(err, VY_BAD_VALUE, "%s: %.*s is no range", name, (int)(size < 40 ? size : 40),
                           word);
        *offset = (*offset - a) / (b - a);
        *scale = *scale / (b - a);
        return VY_OK;
    }
    int is_known = 0;
    for (int i = 0; i < UNIT_COUNT; ++i) {
        if (strlen(units[i].name) != size || memcmp(units[i].name, word, size) != 0) continue;
        is_known = 1;
        if (quantity < units[i].first || quantity > units[i].last) continue;
        *scale *= units[i].factor;
        *offset *= units[i].factor;
        return VY_OK;
    }
    const int shown_size = (int)(size < 40 ? size : 40);
    if (is_known) return vy_fail(err, VY_BAD_VALUE, "%s cannot be in %.*s", name, shown_size, word);
    return vy_fail(err, VY_BAD_SYNTAX,
                   "%s: \"%.*s\" is no unit, factor (*2), divisor (/65535) or range (1000..2000)", name,
                   shown_size, word);
}

// "column unit *2" for a quantity.
static vy_status map_text(vy_flight_mapping *m, int quantity, const char *text, size_t size, vy_error *err)
{
    const char *name = vy_flight_quantity_name(quantity);
    size_t position = 0, name_start, name_end;
    while (position < size && is_space(text[position])) ++position;
    if (position < size && text[position] == '"') {
        name_start = ++position;
        while (position < size && text[position] != '"') ++position;
        name_end = position;
        if (position == size) return vy_fail(err, VY_BAD_SYNTAX, "%s: the column's name has no end", name);
        ++position;
    } else {
        name_start = position;
        while (position < size && !is_space(text[position])) ++position;
        name_end = position;
    }
    if (name_end == name_start) return vy_fail(err, VY_BAD_SYNTAX, "%s: which column?", name);
    if (name_end - name_start >= VY_FLIGHT_NAME_CAP)
        return vy_fail(err, VY_FULL, "%s: a column's name has up to %d bytes", name, VY_FLIGHT_NAME_CAP - 1);
    double scale = 1.0, offset = 0.0;
    while (position < size) {
        while (position < size && is_space(text[position])) ++position;
        const size_t word_start = position;
        while (position < size && !is_space(text[position])) ++position;
        if (position == word_start) break;
        const vy_status status =
            read_word(quantity, text + word_start, position - word_start, &scale, &offset, err);
        if (status != VY_OK) return status;
    }
    memset(m->column[quantity], 0, sizeof m->column[quantity]);
    memcpy(m->column[quantity], text + name_start, name_end - name_start);
    m->scale[quantity] = scale;
    m->offset[quantity] = offset;
    return VY_OK;
}

vy_status vy_flight_mapping_set(vy_flight_mapping *m, const char *quantity, const char *text, vy_error *err)
{
    const int q = find_quantity(quantity, strlen(quantity));
    if (q < 0)
        return vy_fail(err, VY_NOT_FOUND,
                       "a flight has no \"%.40s\"; it may have time, position.x, velocity.x, attitude.w, "
                       "rate.x, accel.x, motor.0, rotor.0, voltage",
                       quantity);
    return map_text(m, q, text, strlen(text), err);
}

// One entry "quantity: text", from `line` of `size` bytes; `name_mark` is what ends the name.
static vy_status map_entry(vy_flight_mapping *m, const char *line, size_t size, char name_mark, vy_error *err)
{
    char name[VY_FLIGHT_NAME_CAP] = "";
    while (size > 0 && is_space(*line)) ++line, --size;
    const char *end = memchr(line, name_mark, size);
    if (end == NULL)
        return vy_fail(err, VY_BAD_SYNTAX,
                       "a mapping is \"quantity%c column unit\", like \"rate.x%c gyro_x "
                       "deg/s\"",
                       name_mark, name_mark);
    size_t length = (size_t)(end - line);
    while (length > 0 && is_space(line[length - 1])) --length;
    if (length >= sizeof name) length = sizeof name - 1;
    memcpy(name, line, length);
    const int index = find_quantity(name, length);
    if (index >= 0 && m->column[index][0] != '\0')
        return vy_fail(err, VY_BAD_VALUE, "%s is mapped twice", name);
    if (index < 0) return vy_flight_mapping_set(m, name, "", err);
    return map_text(m, index, end + 1, size - (size_t)(end + 1 - line), err);
}

vy_status vy_flight_mapping_parse(const char *data, size_t size, const char *name, vy_flight_mapping *out,
                                  vy_error *err)
{
    vy_flight_mapping m;
    vy_error entry_error;
    memset(&m, 0, sizeof m);
    // "a=b, c=d" in one line, or lines "a: b".
    const int is_inline = memchr(data, '\n', size) == NULL && memchr(data, ':', size) == NULL &&
                          memchr(data, '=', size) != NULL;
    const char separator = is_inline ? ',' : '\n', name_mark = is_inline ? '=' : ':';
    int line = 1, has_entries = 0;
    for (size_t position = byte_order_mark_size(data, size); position < size; ++line) {
        const char *end = memchr(data + position, separator, size - position);
        const size_t next_entry = end == NULL ? size : (size_t)(end - data) + 1;
        size_t entry_end = end == NULL ? size : next_entry - 1;
        const char *remark = memchr(data + position, '#', entry_end - position);
        if (remark != NULL) entry_end = (size_t)(remark - data);
        size_t entry_start = position;
        while (entry_start < entry_end && is_space(data[entry_start])) ++entry_start;
        position = next_entry;
        if (entry_start == entry_end) continue;
        has_entries = 1;
        if (map_entry(&m, data + entry_start, entry_end - entry_start, name_mark, &entry_error) != VY_OK)
            return fail_at(err, name, is_inline ? 0 : line, 0, entry_error.status, "%s", entry_error.text);
    }
    if (!has_entries) return fail_at(err, name, 0, 0, VY_BAD_VALUE, "the mapping is empty");
    *out = m;
    return VY_OK;
}

vy_flight *vy_flight_create(size_t rows, unsigned long long quantity_bits)
{
    vy_flight *f = calloc(1, sizeof *f);
    if (f == NULL) return NULL;
    f->rows = rows;
    for (int q = 0; q < VY_FLIGHT_QUANTITY_COUNT; ++q) {
        if ((quantity_bits >> q & 1u) == 0) continue;
        f->values[q] = calloc(rows > 0 ? rows : 1, sizeof(double));
        if (f->values[q] == NULL) {
            vy_flight_free(f);
            return NULL;
        }
    }
    return f;
}

void vy_flight_free(vy_flight *f)
{
    if (f == NULL) return;
    for (int q = 0; q < VY_FLIGHT_QUANTITY_COUNT; ++q) free(f->values[q]);
    free(f);
}

// Where the text is read from, and which quantity each of its columns is.
typedef struct csv_table {
    const char *data, *name;
    size_t size, position;
    int line; // of what is read next
    int column_count;
    int quantity_of[VY_FLIGHT_COLUMNS_MAX]; // -1: not asked for
    vy_flight_mapping mapping;
} csv_table;

// The next line that is neither empty nor a remark; 0 at the end.
static int next_line(csv_table *t, const char **line, size_t *size)
{
    while (t->position < t->size) {
        const char *line_start = t->data + t->position,
                   *end = memchr(line_start, '\n', t->size - t->position);
        size_t length = end == NULL ? t->size - t->position : (size_t)(end - line_start);
        t->position += length + (end != NULL);
        ++t->line;
        while (length > 0 && is_space(line_start[length - 1])) --length;
        if (length == 0 || *line_start == '#') continue;
        *line = line_start;
        *size = length;
        return 1;
    }
    return 0;
}

// The next cell of a line, without spaces and quotes around it; 0 behind the last.
static int next_cell(const char *line, size_t size, size_t *position, const char **cell, size_t *length)
{
    if (*position > size) return 0;
    const char *const line_end = line + size, *cell_start = line + *position;
    while (cell_start < line_end && is_space(*cell_start)) ++cell_start;
    const char *const closing_quote = // a comma within quotes is of the cell
        cell_start < line_end && *cell_start == '"'
            ? memchr(cell_start + 1, '"', (size_t)(line_end - cell_start - 1))
            : NULL;
    const char *const search_start = closing_quote != NULL ? closing_quote : cell_start;
    const char *const end =
        search_start < line_end ? memchr(search_start, ',', (size_t)(line_end - search_start)) : NULL;
    size_t cell_size = (size_t)((end != NULL ? end : line_end) - cell_start);
    *position = (size_t)(cell_start - line) + cell_size + 1;
    while (cell_size > 0 && is_space(cell_start[cell_size - 1])) --cell_size;
    if (cell_size >= 2 && *cell_start == '"' && cell_start[cell_size - 1] == '"')
        ++cell_start, cell_size -= 2;
    *cell = cell_start;
    *length = cell_size;
    return 1;
}

static vy_status read_header(csv_table *t, const vy_flight_mapping *mapping, vy_error *err)
{
    const char *line, *cell;
    size_t size, length, position = 0;
    char text[PRINTABLE_BYTES + 1];
    int found_count[VY_FLIGHT_QUANTITY_COUNT] = {0};
    if (!next_line(t, &line, &size))
        return fail_at(err, t->name, 0, 0, VY_BAD_SYNTAX,
                       "the file has no header line with the columns' names");
    if (mapping != NULL) t->mapping = *mapping;
    while (next_cell(line, size, &position, &cell, &length)) {
        if (t->column_count == VY_FLIGHT_COLUMNS_MAX)
            return fail_at(err, t->name, t->line, 0, VY_FULL, "a table has up to %d columns",
                           VY_FLIGHT_COLUMNS_MAX);
        int q = -1;
        if (mapping == NULL) {
            q = find_quantity(cell, length);
            if (q >= 0) t->mapping.scale[q] = 1.0;
        } else {
            for (int k = 0; k < VY_FLIGHT_QUANTITY_COUNT && q < 0; ++k) {
                const char *name = mapping->column[k];
                if (*name != '\0' && strlen(name) == length && memcmp(name, cell, length) == 0) q = k;
            }
        }
        if (q >= 0 && found_count[q]++)
            return fail_at(err, t->name, t->line, t->column_count + 1, VY_BAD_VALUE,
                           "column \"%s\" is there twice", make_printable(cell, length, text));
        t->quantity_of[t->column_count++] = q;
    }
    if (t->column_count == 1 && (memchr(line, ';', size) != NULL || memchr(line, '\t', size) != NULL))
        return fail_at(err, t->name, t->line, 0, VY_BAD_SYNTAX, "columns are separated by commas, not by %s",
                       memchr(line, ';', size) != NULL ? "semicolons" : "tabs");
    for (int q = 0; q < VY_FLIGHT_QUANTITY_COUNT; ++q) {
        if (mapping != NULL && mapping->column[q][0] != '\0' && !found_count[q])
            return fail_at(err, t->name, t->line, 0, VY_NOT_FOUND, "no column \"%s\", which %s is mapped to",
                           mapping->column[q], vy_flight_quantity_name(q));
    }
    if (!found_count[VY_FLIGHT_TIME])
        return fail_at(err, t->name, t->line, 0, VY_NOT_FOUND,
                       "no column is the time; map one, like \"time: t_ms ms\"");
    return VY_OK;
}

static vy_status read_cell(csv_table *t, vy_flight *f, size_t row, int column, const char *cell,
                           size_t length, vy_error *err)
{
    const int q = t->quantity_of[column];
    if (q < 0) return VY_OK;
    double *out = &f->values[q][row], value;
    char text[PRINTABLE_BYTES + 1];
    if (length == 0) {
        const int is_held = is_vector(q, VY_FLIGHT_MOTOR, 16);
        if (q == VY_FLIGHT_TIME || (is_held && row == 0))
            return fail_at(err, t->name, t->line, column + 1, VY_BAD_SYNTAX, "%s is missing",
                           vy_flight_quantity_name(q));
        *out = is_held ? out[-1] : real_of(UINT64_C(0x7ff8000000000000));
        return VY_OK;
    }
    if (!vy_decimal_parse(cell, length, &value) || !real_is_finite(value))
        return fail_at(err, t->name, t->line, column + 1, VY_BAD_SYNTAX, "\"%s\" is not a number",
                       make_printable(cell, length, text));
    *out = value * t->mapping.scale[q] + t->mapping.offset[q];
    if (!real_is_finite(*out))
        return fail_at(err, t->name, t->line, column + 1, VY_BAD_VALUE, "%s is too large",
                       vy_flight_quantity_name(q));
    return VY_OK;
}

static vy_status fail_cell_count(const csv_table *t, int column, vy_error *err)
{
    return fail_at(err, t->name, t->line, column, VY_BAD_SYNTAX, "a row has %d cells, as the header does",
                   t->column_count);
}

static vy_status read_rows(csv_table *t, vy_flight *f, vy_error *err)
{
    const char *line, *cell;
    size_t size, length, row = 0;
    for (; next_line(t, &line, &size); ++row) {
        size_t position = 0;
        int column = 0;
        VY_ASSERT(row < f->rows);
        for (; next_cell(line, size, &position, &cell, &length); ++column) {
            if (column == t->column_count) return fail_cell_count(t, column + 1, err);
            const vy_status status = read_cell(t, f, row, column, cell, length, err);
            if (status != VY_OK) return status;
        }
        if (column < t->column_count) return fail_cell_count(t, column, err);
    }
    VY_ASSERT(row == f->rows);
    return VY_OK;
}

// A byte that no text has.
static vy_status check_text(const char *data, size_t size, const char *name, vy_error *err)
{
    int line = 1;
    for (size_t i = 0; i < size; ++i) {
        const unsigned char c = (unsigned char)data[i];
        line += c == '\n';
        if (c >= ' ' || c == '\n' || is_space((char)c)) continue;
        return fail_at(err, name, line, 0, VY_BAD_SYNTAX, "this is no table of text: it has a byte 0x%02x",
                       (unsigned)c);
    }
    return VY_OK;
}

// The line and column of what is refused; what is about a column as a whole is in the header.
static void locate_error(csv_table *t, int header_line, size_t rows_start, vy_flight_place place,
                         vy_error *err)
{
    const char *line;
    size_t size;
    if (err == NULL) return;
    t->position = rows_start;
    t->line = header_line;
    for (size_t row = 0; row < place.row && next_line(t, &line, &size);) ++row;
    err->line = t->line;
    for (int c = t->column_count - 1; c >= 0; --c) {
        if (t->quantity_of[c] == place.quantity) err->column = c + 1;
    }
}

static vy_status read_table(csv_table *t, const vy_flight_mapping *mapping, vy_flight **out, vy_error *err)
{
    size_t rows = 0, size;
    unsigned long long quantity_bits = 0;
    const char *line;
    vy_status status = check_text(t->data, t->size, t->name, err);
    if (status == VY_OK) status = read_header(t, mapping, err);
    if (status != VY_OK) return status;
    const size_t rows_start = t->position;
    const int header_line = t->line;
    while (next_line(t, &line, &size)) ++rows;
    for (int c = 0; c < t->column_count; ++c) {
        if (t->quantity_of[c] >= 0) quantity_bits |= 1ull << t->quantity_of[c];
    }
    if (rows > VY_FLIGHT_ROWS_MAX)
        return fail_at(err, t->name, 0, 0, VY_FULL, "a flight has up to %zu rows", VY_FLIGHT_ROWS_MAX);
    t->position = rows_start;
    t->line = header_line;
    vy_flight *f = *out = vy_flight_create(rows, quantity_bits);
    if (f == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for a recorded flight");
    status = read_rows(t, f, err);
    if (status != VY_OK) return status;
    double *time = f->values[VY_FLIGHT_TIME];
    f->start = rows > 0 ? time[0] : 0.0;
    for (size_t i = 0; i < rows; ++i) time[i] -= f->start;
    vy_flight_place place;
    status = vy_flight_check(f, t->name, &place, err);
    if (status == VY_BAD_VALUE) locate_error(t, header_line, rows_start, place, err);
    return status;
}

vy_status vy_flight_parse(const char *data, size_t size, const vy_flight_mapping *mapping, const char *name,
                          vy_flight **out, vy_error *err)
{
    csv_table *t = calloc(1, sizeof *t);
    vy_flight *f = NULL;
    *out = NULL;
    if (t == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for a recorded flight");
    t->data = data;
    t->size = size;
    t->position = byte_order_mark_size(data, size);
    t->name = name;
    const vy_status status = read_table(t, mapping, &f, err);
    free(t);
    if (status != VY_OK) {
        vy_flight_free(f);
        return status;
    }
    *out = f;
    return VY_OK;
}

vy_status vy_flight_load(const char *path, const vy_flight_mapping *mapping, vy_flight **out, vy_error *err)
{
    char *data = NULL;
    size_t size = 0;
    *out = NULL;
    vy_status status = vy_read_file_or_fail(path, VY_FLIGHT_BYTES_MAX, &data, &size, err);
    if (status != VY_OK) return status;
    if (size > VY_FLIGHT_BYTES_MAX) {
        status = fail_at(err, path, 0, 0, VY_FULL, "a recorded flight has up to %zu MiB",
                         VY_FLIGHT_BYTES_MAX >> 20);
    } else {
        status = vy_flight_parse(data, size, mapping, path, out, err);
    }
    free(data);
    return status;
}
