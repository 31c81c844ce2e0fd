// mutate_yaml.h - changes a YAML text by its entries, `key: value`: takes one out, repeats or moves it, gives
// it another key or a value such as its row of the schema may have. So most changes get past the reader of
// YAML, and some past the checks behind it. Every fourth change is libFuzzer's own.
#pragma once
#include "base/schema.h"
#include "mutate.h"
#include <stdio.h>

enum {
    YAML_ROWS_MAX = 4096,
    YAML_TABLES_MAX = 512,
    YAML_ENTRIES_MAX = 512,
    YAML_VALUE_CAP = 400,
    YAML_DEPTH_MAX = 3
};

typedef struct yaml_rows {
    const vy_schema_table *tables[YAML_TABLES_MAX];
    const vy_schema_row *rows[YAML_ROWS_MAX];
    const vy_schema_table *owners[YAML_ROWS_MAX]; // of each row
    int table_count, row_count;
} yaml_rows;

// All rows of a table and of those below it, each once.
NOT_COVERED static inline void yaml_collect_rows(yaml_rows *schema_rows, const vy_schema_table *table)
{
    for (int i = 0; i < schema_rows->table_count; ++i) {
        if (schema_rows->tables[i] == table) return;
    }
    if (schema_rows->table_count == YAML_TABLES_MAX) return;
    schema_rows->tables[schema_rows->table_count++] = table;
    for (int i = 0; i < table->row_count && schema_rows->row_count < YAML_ROWS_MAX; ++i) {
        schema_rows->owners[schema_rows->row_count] = table;
        schema_rows->rows[schema_rows->row_count++] = &table->rows[i];
        if (table->rows[i].table != NULL) yaml_collect_rows(schema_rows, table->rows[i].table);
    }
}

// --- values

NOT_COVERED static inline void yaml_draw_number(random_draws *d, const vy_schema_row *row, char *out)
{
    static const char *const odd_numbers[] = {
        "0",    "-0.0", "1",   "-1",  "1e-320",     "1e308", "9007199254740993",
        ".nan", ".inf", "0x7", "1e5", "-1e-9",      "1_000", "5 deg",
        "3 ms", "~",    "''",  "-",   "4294967296", "1e400"};
    const size_t choice = draw_below(d, 8);
    const vy_range range = row->range;
    if (choice == 0)
        snprintf(out, 40, "%s", odd_numbers[draw_below(d, sizeof odd_numbers / sizeof *odd_numbers)]);
    else if (choice == 1 && row->keyword != NULL)
        snprintf(out, 40, "%.30s", row->keyword);
    else if (choice == 2)
        snprintf(out, 40, "%.17g", range.min);
    else if (choice == 3)
        snprintf(out, 40, "%.17g", range.max);
    else if (choice == 4 || row->type == VY_TYPE_INTEGER || row->type == VY_TYPE_COUNT)
        snprintf(out, 40, "%zu", draw_below(d, choice == 4 ? 4 : 40));
    else
        snprintf(out, 40, "%.3g",
                 (double)draw_below(d, 1000) / (choice == 5   ? 10.0
                                                : choice == 6 ? 1e3
                                                              : 1e6));
}

NOT_COVERED static inline void yaml_append(char *out, const char *text)
{
    const size_t length = strlen(out);
    snprintf(out + length, YAML_VALUE_CAP - length, "%s", text);
}

// [value, value] or [[value, value], ...]
NOT_COVERED static inline void yaml_draw_numbers(random_draws *d, const vy_schema_row *row, size_t count,
                                                 char *out)
{
    char number[48];
    yaml_append(out, "[");
    for (size_t i = 0; i < count; ++i) {
        yaml_draw_number(d, row, number);
        yaml_append(out, i > 0 ? ", " : "");
        yaml_append(out, number);
    }
    yaml_append(out, "]");
}

NOT_COVERED static inline void yaml_draw_value(random_draws *d, const vy_schema_row *row, int depth,
                                               char *out);

// {key: value} of a table.
NOT_COVERED static inline void yaml_draw_object(random_draws *d, const vy_schema_table *table, int depth,
                                                char *out)
{
    yaml_append(out, "{");
    for (size_t remaining = depth < YAML_DEPTH_MAX && table->row_count > 0 ? draw_below(d, 3) : 0;
         remaining > 0; --remaining) {
        const vy_schema_row *row = &table->rows[draw_below(d, (size_t)table->row_count)];
        yaml_append(out, row->key);
        yaml_append(out, ": ");
        yaml_draw_value(d, row, depth + 1, out);
        yaml_append(out, remaining > 1 ? ", " : "");
    }
    yaml_append(out, "}");
}

NOT_COVERED static inline void yaml_draw_value(random_draws *d, const vy_schema_row *row, int depth,
                                               char *out)
{
    static const char *const names[] = {"a", "b", "all", "x500", "drone0", "~", "''", "\"\\u0000\"", "é"};
    char number[48];
    switch (row->type) {
    case VY_TYPE_NUMBER:
    case VY_TYPE_INTEGER:
    case VY_TYPE_COUNT:
        yaml_draw_number(d, row, number);
        yaml_append(out, number);
        break;
    case VY_TYPE_CHOICE: yaml_append(out, row->choices[draw_below(d, (size_t)row->choice_count)].name); break;
    case VY_TYPE_VECTOR: yaml_draw_numbers(d, row, row->size + draw_below(d, 8) / 7, out); break;
    case VY_TYPE_ROTATION: yaml_draw_numbers(d, row, 4, out); break;
    case VY_TYPE_INERTIA: yaml_draw_numbers(d, row, 3, out); break;
    case VY_TYPE_OBJECT:
        if ((row->flags & VY_ROW_FILE) != 0 && draw_below(d, 4) == 0)
            yaml_append(out, names[draw_below(d, sizeof names / sizeof *names)]);
        else
            yaml_draw_object(d, row->table, depth, out);
        break;
    case VY_TYPE_LIST:
        yaml_append(out, "[");
        for (size_t remaining = draw_below(d, 3); remaining > 0; --remaining) {
            yaml_draw_object(d, row->table, depth + 1, out);
            yaml_append(out, remaining > 1 ? ", " : "");
        }
        yaml_append(out, "]");
        break;
    case VY_TYPE_NAMED: yaml_append(out, draw_below(d, 2) ? "{p: 1, q: [1, x]}" : "{p: {q: ~}}"); break;
    case VY_TYPE_TABLE:
        yaml_append(out, draw_below(d, 2) ? "[[0, 1], [2, 3]]" : "[[0, 1, 2, 3], [1, 1, 1]]");
        break;
    case VY_TYPE_TEXT:
    case VY_TYPE_DRONE:
    case VY_TYPE_JOINT: yaml_append(out, names[draw_below(d, sizeof names / sizeof *names)]); break;
    }
}

// --- entries of a text

typedef struct yaml_entry {
    size_t key, key_end, value, end; // where key and value begin and end; the value may be empty
    int flow;                        // 1: inside brackets, as JSON has it
} yaml_entry;

NOT_COVERED static inline int yaml_is_word(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

NOT_COVERED static inline size_t yaml_column(const edit_buffer *edit, size_t at)
{
    size_t column = 0;
    while (at > column && edit->data[at - column - 1] != '\n') ++column;
    return column;
}

// Where the value that begins at `at` ends: a bracket's partner, else the next comma or bracket that closes;
// outside brackets it goes to the last line that stands further in.
NOT_COVERED static inline size_t yaml_value_end(const edit_buffer *edit, size_t at, size_t column, int flow)
{
    int depth = 0;
    if (flow || (at < edit->size && (edit->data[at] == '[' || edit->data[at] == '{'))) {
        for (; at < edit->size; ++at) {
            const uint8_t c = edit->data[at];
            if (depth == 0 && (c == ',' || c == ']' || c == '}' || c == '\n')) return at;
            depth += (c == '[' || c == '{') - (c == ']' || c == '}');
            if (depth == 0 && (c == ']' || c == '}')) return at + 1;
        }
        return at;
    }
    while (at < edit->size) {
        while (at < edit->size && edit->data[at] != '\n') ++at;
        size_t indent = 0;
        while (at + 1 + indent < edit->size && edit->data[at + 1 + indent] == ' ') ++indent;
        if (at + 1 + indent >= edit->size || indent <= column) return at;
        ++at;
    }
    return at;
}

NOT_COVERED static inline size_t yaml_find_entries(const edit_buffer *edit, yaml_entry *out)
{
    size_t count = 0;
    int depth = 0;
    for (size_t at = 0; at < edit->size && count < YAML_ENTRIES_MAX; ++at) {
        const uint8_t c = edit->data[at];
        if (c == '\0') break; // an override follows
        depth += (c == '[' || c == '{') - (c == ']' || c == '}');
        const size_t has_quote = at > 1 && edit->data[at - 1] == '"'; // as in JSON
        if (c != ':' || at == 0 || !yaml_is_word(edit->data[at - 1 - has_quote])) continue;
        yaml_entry entry = {
            .key = at - has_quote, .key_end = at - has_quote, .value = at + 1, .flow = depth > 0};
        while (entry.key > 0 && yaml_is_word(edit->data[entry.key - 1])) --entry.key;
        while (entry.value < edit->size && edit->data[entry.value] == ' ') ++entry.value;
        entry.end = yaml_value_end(edit, entry.value, yaml_column(edit, entry.key), entry.flow);
        out[count++] = entry;
    }
    return count;
}

// The number of the row of the entry's key, one of several by chance; any row where there is none.
NOT_COVERED static inline size_t yaml_find_row(random_draws *d, const yaml_rows *schema_rows,
                                               const edit_buffer *edit, const yaml_entry *entry)
{
    const size_t length = entry->key_end - entry->key, first = draw_below(d, (size_t)schema_rows->row_count);
    for (size_t offset = 0; offset < (size_t)schema_rows->row_count; ++offset) {
        const size_t i = (first + offset) % (size_t)schema_rows->row_count;
        if (strlen(schema_rows->rows[i]->key) == length &&
            memcmp(schema_rows->rows[i]->key, edit->data + entry->key, length) == 0)
            return i;
    }
    return first;
}

// `key: value` behind an entry, in its style.
NOT_COVERED static inline int yaml_insert(edit_buffer *edit, const yaml_entry *entry, const char *text)
{
    char line[YAML_VALUE_CAP + 200] = "";
    const size_t column = yaml_column(edit, entry->key);
    if (entry->flow)
        snprintf(line, sizeof line, ", %s", text);
    else
        snprintf(line, sizeof line, "\n%*s%s", (int)(column < 60 ? column : 60), "", text);
    return edit_replace(edit, entry->end, 0, line, strlen(line));
}

NOT_COVERED static inline int yaml_change(random_draws *d, const yaml_rows *schema_rows, edit_buffer *edit)
{
    static yaml_entry entries[YAML_ENTRIES_MAX];
    char text[YAML_VALUE_CAP] = "", copy[YAML_VALUE_CAP];
    const size_t count = yaml_find_entries(edit, entries);
    if (count == 0) return 0;
    const yaml_entry entry = entries[draw_below(d, count)], other = entries[draw_below(d, count)];
    const size_t row_number = yaml_find_row(d, schema_rows, edit, &entry);
    const vy_schema_row *row = schema_rows->rows[row_number];
    const vy_schema_table *other_table =
        schema_rows
            ->owners[draw_below(d, 4) > 0 ? row_number : draw_below(d, (size_t)schema_rows->row_count)];
    const vy_schema_row *other_row = &other_table->rows[draw_below(d, (size_t)other_table->row_count)];
    size_t length;
    switch (draw_below(d, 8)) {
    case 0: // another value that it may have
    case 1:
        yaml_draw_value(d, row, 0, text);
        return edit_replace(edit, entry.value, entry.end - entry.value, text, strlen(text));
    case 2: // a new key beside it
    case 3: // among those of its own object, if it is one
        if (row->table != NULL && row->table->row_count > 0 && entry.value < edit->size &&
            edit->data[entry.value] == '{') {
            other_row = &row->table->rows[draw_below(d, (size_t)row->table->row_count)];
            snprintf(text, sizeof text, "%s: ", other_row->key);
            yaml_draw_value(d, other_row, 1, text);
            yaml_append(text, edit->data[entry.value + 1] == '}' ? "" : ", ");
            return edit_replace(edit, entry.value + 1, 0, text, strlen(text));
        }
        snprintf(text, sizeof text, "%s: ", other_row->key);
        yaml_draw_value(d, other_row, 0, text);
        return yaml_insert(edit, &entry, text);
    case 4: // another key
        return edit_replace(edit, entry.key, entry.key_end - entry.key, other_row->key,
                            strlen(other_row->key));
    case 5: // away with it
        return edit_replace(edit, entry.key, entry.end - entry.key, "", 0);
    case 6: // the value of another
        length = other.end - other.value;
        if (length >= sizeof copy) return 0;
        memcpy(copy, edit->data + other.value, length);
        return edit_replace(edit, entry.value, entry.end - entry.value, copy, length);
    default: // once more
        length = other.end - other.key;
        if (length >= sizeof copy) return 0;
        memcpy(copy, edit->data + other.key, length);
        copy[length] = '\0';
        return yaml_insert(edit, &entry, copy);
    }
}

// For LLVMFuzzerCustomMutator().
NOT_COVERED static inline size_t yaml_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed,
                                             const vy_schema_table *table)
{
    static yaml_rows schema_rows;
    random_draws d = draws_from_seed(seed);
    edit_buffer edit = {data, size, max_size};
    if (schema_rows.row_count == 0) yaml_collect_rows(&schema_rows, table);
    if (draw_below(&d, 4) == 0) return LLVMFuzzerMutate(data, size, max_size);
    for (size_t remaining = 1 + draw_below(&d, 3); remaining > 0; --remaining) {
        if (!yaml_change(&d, &schema_rows, &edit)) return LLVMFuzzerMutate(data, edit.size, max_size);
    }
    return edit.size;
}
