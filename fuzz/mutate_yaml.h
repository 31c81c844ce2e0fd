// mutate_yaml.h - changes a YAML text by its entries, `key: value`: takes one out, repeats or moves it, gives
// it another key or a value such as its row of the schema may have. So most changes get past the reader of
// YAML, and some past the checks behind it. Every fourth change is libFuzzer's own.
#pragma once
#include "base/schema.h"
#include "mutate.h"
#include <stdio.h>

enum { YAML_ROWS = 4096, YAML_TABLES = 512, YAML_ENTRIES = 512, YAML_VALUE = 400, YAML_DEPTH = 3 };

typedef struct yaml_rows {
    const vy_schema_table *tables[YAML_TABLES];
    const vy_schema_row *rows[YAML_ROWS];
    const vy_schema_table *owners[YAML_ROWS]; // of each row
    int table_count, row_count;
} yaml_rows;

// All rows of a table and of those below it, each once.
NOT_COVERED static inline void yaml_collect(yaml_rows *all, const vy_schema_table *table)
{
    for (int i = 0; i < all->table_count; ++i) {
        if (all->tables[i] == table) return;
    }
    if (all->table_count == YAML_TABLES) return;
    all->tables[all->table_count++] = table;
    for (int i = 0; i < table->row_count && all->row_count < YAML_ROWS; ++i) {
        all->owners[all->row_count] = table;
        all->rows[all->row_count++] = &table->rows[i];
        if (table->rows[i].table != NULL) yaml_collect(all, table->rows[i].table);
    }
}

// --- values

NOT_COVERED static inline void yaml_number(draw *d, const vy_schema_row *row, char *out)
{
    static const char *const odd[] = {"0",    "-0.0", "1",   "-1",  "1e-320",     "1e308", "9007199254740993",
                                      ".nan", ".inf", "0x7", "1e5", "-1e-9",      "1_000", "5 deg",
                                      "3 ms", "~",    "''",  "-",   "4294967296", "1e400"};
    const size_t how = draw_below(d, 8);
    const vy_range range = row->range;
    if (how == 0)
        snprintf(out, 40, "%s", odd[draw_below(d, sizeof odd / sizeof *odd)]);
    else if (how == 1 && row->keyword != NULL)
        snprintf(out, 40, "%.30s", row->keyword);
    else if (how == 2)
        snprintf(out, 40, "%.17g", range.min);
    else if (how == 3)
        snprintf(out, 40, "%.17g", range.max);
    else if (how == 4 || row->type == VY_TYPE_INTEGER || row->type == VY_TYPE_COUNT)
        snprintf(out, 40, "%zu", draw_below(d, how == 4 ? 4 : 40));
    else
        snprintf(out, 40, "%.3g", (double)draw_below(d, 1000) / (how == 5 ? 10.0 : how == 6 ? 1e3 : 1e6));
}

NOT_COVERED static inline void yaml_append(char *out, const char *text)
{
    const size_t have = strlen(out);
    snprintf(out + have, YAML_VALUE - have, "%s", text);
}

// [value, value] or [[value, value], ...]
NOT_COVERED static inline void yaml_numbers(draw *d, const vy_schema_row *row, size_t count, char *out)
{
    char one[48];
    yaml_append(out, "[");
    for (size_t i = 0; i < count; ++i) {
        yaml_number(d, row, one);
        yaml_append(out, i > 0 ? ", " : "");
        yaml_append(out, one);
    }
    yaml_append(out, "]");
}

NOT_COVERED static inline void yaml_value(draw *d, const vy_schema_row *row, int depth, char *out);

// {key: value} of a table.
NOT_COVERED static inline void yaml_object(draw *d, const vy_schema_table *table, int depth, char *out)
{
    yaml_append(out, "{");
    for (size_t left = depth < YAML_DEPTH && table->row_count > 0 ? draw_below(d, 3) : 0; left > 0; --left) {
        const vy_schema_row *row = &table->rows[draw_below(d, (size_t)table->row_count)];
        yaml_append(out, row->key);
        yaml_append(out, ": ");
        yaml_value(d, row, depth + 1, out);
        yaml_append(out, left > 1 ? ", " : "");
    }
    yaml_append(out, "}");
}

NOT_COVERED static inline void yaml_value(draw *d, const vy_schema_row *row, int depth, char *out)
{
    static const char *const names[] = {"a", "b", "all", "x500", "drone0", "~", "''", "\"\\u0000\"", "é"};
    char one[48];
    switch (row->type) {
    case VY_TYPE_NUMBER:
    case VY_TYPE_INTEGER:
    case VY_TYPE_COUNT:
        yaml_number(d, row, one);
        yaml_append(out, one);
        break;
    case VY_TYPE_CHOICE: yaml_append(out, row->choices[draw_below(d, (size_t)row->choice_count)].name); break;
    case VY_TYPE_VECTOR: yaml_numbers(d, row, row->size + draw_below(d, 8) / 7, out); break;
    case VY_TYPE_ROTATION: yaml_numbers(d, row, 4, out); break;
    case VY_TYPE_INERTIA: yaml_numbers(d, row, 3, out); break;
    case VY_TYPE_OBJECT:
        if ((row->flags & VY_ROW_FILE) != 0 && draw_below(d, 4) == 0)
            yaml_append(out, names[draw_below(d, sizeof names / sizeof *names)]);
        else
            yaml_object(d, row->table, depth, out);
        break;
    case VY_TYPE_LIST:
        yaml_append(out, "[");
        for (size_t left = draw_below(d, 3); left > 0; --left) {
            yaml_object(d, row->table, depth + 1, out);
            yaml_append(out, left > 1 ? ", " : "");
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
    size_t key, key_end, value, end; // the value may be empty
    int flow;                        // 1: inside brackets
} yaml_entry;

NOT_COVERED static inline int yaml_is_word(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

NOT_COVERED static inline size_t yaml_column(const paste *p, size_t at)
{
    size_t column = 0;
    while (at > column && p->data[at - column - 1] != '\n') ++column;
    return column;
}

// Where the value that begins at `at` ends: a bracket's partner, else the next comma or bracket that closes;
// outside brackets it goes to the last line that stands further in.
NOT_COVERED static inline size_t yaml_value_end(const paste *p, size_t at, size_t column, int flow)
{
    int depth = 0;
    if (flow || (at < p->size && (p->data[at] == '[' || p->data[at] == '{'))) {
        for (; at < p->size; ++at) {
            const uint8_t c = p->data[at];
            if (depth == 0 && (c == ',' || c == ']' || c == '}' || c == '\n')) return at;
            depth += (c == '[' || c == '{') - (c == ']' || c == '}');
            if (depth == 0 && (c == ']' || c == '}')) return at + 1;
        }
        return at;
    }
    while (at < p->size) {
        while (at < p->size && p->data[at] != '\n') ++at;
        size_t in = 0;
        while (at + 1 + in < p->size && p->data[at + 1 + in] == ' ') ++in;
        if (at + 1 + in >= p->size || in <= column) return at;
        ++at;
    }
    return at;
}

NOT_COVERED static inline size_t yaml_entries(const paste *p, yaml_entry *out)
{
    size_t count = 0;
    int depth = 0;
    for (size_t at = 0; at < p->size && count < YAML_ENTRIES; ++at) {
        const uint8_t c = p->data[at];
        if (c == '\0') break; // an override follows
        depth += (c == '[' || c == '{') - (c == ']' || c == '}');
        const size_t quote = at > 1 && p->data[at - 1] == '"'; // as in JSON
        if (c != ':' || at == 0 || !yaml_is_word(p->data[at - 1 - quote])) continue;
        yaml_entry e = {.key = at - quote, .key_end = at - quote, .value = at + 1, .flow = depth > 0};
        while (e.key > 0 && yaml_is_word(p->data[e.key - 1])) --e.key;
        while (e.value < p->size && p->data[e.value] == ' ') ++e.value;
        e.end = yaml_value_end(p, e.value, yaml_column(p, e.key), e.flow);
        out[count++] = e;
    }
    return count;
}

// The number of the row of the entry's key, one of several by chance; any row where there is none.
NOT_COVERED static inline size_t yaml_row(draw *d, const yaml_rows *all, const paste *p, const yaml_entry *e)
{
    const size_t length = e->key_end - e->key, first = draw_below(d, (size_t)all->row_count);
    for (size_t k = 0; k < (size_t)all->row_count; ++k) {
        const size_t i = (first + k) % (size_t)all->row_count;
        if (strlen(all->rows[i]->key) == length && memcmp(all->rows[i]->key, p->data + e->key, length) == 0)
            return i;
    }
    return first;
}

// `key: value` behind an entry, in its style.
NOT_COVERED static inline int yaml_insert(paste *p, const yaml_entry *e, const char *text)
{
    char line[YAML_VALUE + 200] = "";
    const size_t column = yaml_column(p, e->key);
    if (e->flow)
        snprintf(line, sizeof line, ", %s", text);
    else
        snprintf(line, sizeof line, "\n%*s%s", (int)(column < 60 ? column : 60), "", text);
    return paste_over(p, e->end, 0, line, strlen(line));
}

NOT_COVERED static inline int yaml_change(draw *d, const yaml_rows *all, paste *p)
{
    static yaml_entry entries[YAML_ENTRIES];
    char text[YAML_VALUE] = "", copy[YAML_VALUE];
    const size_t count = yaml_entries(p, entries);
    if (count == 0) return 0;
    const yaml_entry e = entries[draw_below(d, count)], other = entries[draw_below(d, count)];
    const size_t number = yaml_row(d, all, p, &e);
    const vy_schema_row *row = all->rows[number];
    const vy_schema_table *beside =
        all->owners[draw_below(d, 4) > 0 ? number : draw_below(d, (size_t)all->row_count)];
    const vy_schema_row *any = &beside->rows[draw_below(d, (size_t)beside->row_count)];
    size_t length;
    switch (draw_below(d, 8)) {
    case 0: // another value that it may have
    case 1: yaml_value(d, row, 0, text); return paste_over(p, e.value, e.end - e.value, text, strlen(text));
    case 2: // a new key beside it
    case 3: // among those of its own object, if it is one
        if (row->table != NULL && row->table->row_count > 0 && e.value < p->size && p->data[e.value] == '{') {
            any = &row->table->rows[draw_below(d, (size_t)row->table->row_count)];
            snprintf(text, sizeof text, "%s: ", any->key);
            yaml_value(d, any, 1, text);
            yaml_append(text, p->data[e.value + 1] == '}' ? "" : ", ");
            return paste_over(p, e.value + 1, 0, text, strlen(text));
        }
        snprintf(text, sizeof text, "%s: ", any->key);
        yaml_value(d, any, 0, text);
        return yaml_insert(p, &e, text);
    case 4: // another key
        return paste_over(p, e.key, e.key_end - e.key, any->key, strlen(any->key));
    case 5: // away with it
        return paste_over(p, e.key, e.end - e.key, "", 0);
    case 6: // the value of another
        length = other.end - other.value;
        if (length >= sizeof copy) return 0;
        memcpy(copy, p->data + other.value, length);
        return paste_over(p, e.value, e.end - e.value, copy, length);
    default: // once more
        length = other.end - other.key;
        if (length >= sizeof copy) return 0;
        memcpy(copy, p->data + other.key, length);
        copy[length] = '\0';
        return yaml_insert(p, &e, copy);
    }
}

// For LLVMFuzzerCustomMutator().
NOT_COVERED static inline size_t yaml_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed,
                                             const vy_schema_table *table)
{
    static yaml_rows all;
    draw d = draw_from(seed);
    paste p = {data, size, max_size};
    if (all.row_count == 0) yaml_collect(&all, table);
    if (draw_below(&d, 4) == 0) return LLVMFuzzerMutate(data, size, max_size);
    for (size_t left = 1 + draw_below(&d, 3); left > 0; --left) {
        if (!yaml_change(&d, &all, &p)) return LLVMFuzzerMutate(data, p.size, max_size);
    }
    return p.size;
}
