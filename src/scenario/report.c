// report.c - collecting what is wrong with a text, and showing it with a caret.
#include "scenario/report.h"
#include "base/assert.h"
#include "scenario/text.h"
#include <stdio.h>
#include <stdlib.h>

#define SOURCE_CAP 160   // [bytes] of a source line that are shown
#define CALL_CAP   10000 // an alias can repeat one mistake any number of times

int vy_report_has_room(const vy_report *report)
{
    return report->diagnostics->count < VY_REPORT_CAP && report->error_calls < CALL_CAP;
}

// Line `line` of a source: where it begins and how long it is.
static const char *find_line(const vy_source *source, int line, size_t *size)
{
    const char *line_start = source->text;
    const char *end = source->text + source->size;
    VY_ASSERT(line_start != NULL && line > 0);
    for (int i = 1; i < line && line_start < end; ++i) {
        const char *next = memchr(line_start, '\n', (size_t)(end - line_start));
        line_start = next == NULL ? end : next + 1;
    }
    const char *line_end = memchr(line_start, '\n', (size_t)(end - line_start));
    if (line_end == NULL) line_end = end;
    if (line_end > line_start && line_end[-1] == '\r') --line_end;
    *size = (size_t)(line_end - line_start);
    VY_ASSERT(line_start >= source->text && line_start <= line_end && line_end <= end);
    return line_start;
}

static int is_listed(const vy_diagnostics *list, const char *file, int line, int column, const char *text)
{
    for (int i = 0; i < list->count; ++i) {
        const vy_diagnostic *d = &list->items[i];
        if (d->line == line && d->column == column && strcmp(d->text, text) == 0 &&
            strcmp(d->file, file) == 0) {
            return 1;
        }
    }
    return 0;
}

static int append_diagnostic(vy_diagnostics *list, vy_diagnostic item)
{
    if (list->items == NULL) list->items = calloc(VY_REPORT_CAP, sizeof *list->items);
    if (list->items == NULL || item.file == NULL || item.text == NULL || item.path == NULL ||
        (item.line > 0 && item.source == NULL)) {
        free(item.file);
        free(item.text);
        free(item.source);
        free(item.path);
        return 0;
    }
    list->items[list->count++] = item;
    VY_ASSERT(list->count <= VY_REPORT_CAP);
    return 1;
}

// The path from `node` down to `target`: a step is a child and its number. @return steps; -1: it is not there
typedef struct path_step {
    const vy_node *parent, *child;
    int index;
} path_step;

static int find_path(const vy_node *node, const vy_node *target, path_step *path, int depth)
{
    if (node == target) return depth;
    int index = 0;
    if (depth == VY_TREE_DEPTH_CAP) return -1;
    for (const vy_node *n = node->first; n != NULL; n = n->next, ++index) {
        path[depth] = (path_step){node, n, index};
        const int found_depth =
            n->key != NULL && n->key == target ? depth + 1 : find_path(n, target, path, depth + 1);
        if (found_depth >= 0) return found_depth;
    }
    return -1;
}

// What the mistake is about; an override names it itself.
static char *path_text(const vy_source *source, const vy_node *node)
{
    vy_text path = {0};
    const char *equal_sign = source->is_override && source->text != NULL ? strchr(source->text, '=') : NULL;
    if (equal_sign != NULL) vy_text_add_clean(&path, source->text, (size_t)(equal_sign - source->text), 200);
    path_step steps[VY_TREE_DEPTH_CAP];
    const int step_count = equal_sign == NULL && node != NULL && source->root != NULL
                               ? find_path(source->root, node, steps, 0)
                               : 0;
    for (int i = 0; i < step_count; ++i) {
        if (steps[i].parent->kind == VY_NODE_MAP)
            vy_text_printf(&path, "%s%s", i > 0 ? "." : "", steps[i].child->key->text);
        else
            vy_text_printf(&path, "[%d]", steps[i].index);
    }
    return vy_text_take(&path);
}

typedef struct report_place {
    const vy_source *source;
    const vy_node *node; // NULL: none
    int line, column;
} report_place;

static void add_diagnostic(vy_report *report, vy_status status, const char *kind, report_place place,
                           const char *format, va_list args)
{
    vy_diagnostics *list = report->diagnostics;
    const int is_warning = status == VY_OK;
    if (!is_warning && report->status == VY_OK) report->status = status;
    if (!is_warning) ++report->error_calls;
    if (place.source->is_override) place.line = place.column = 0;
    char text[512];
    vsnprintf(text, sizeof text, format, args);
    if (is_listed(list, place.source->name, place.line, place.column, text)) return;
    ++*(is_warning ? &list->warnings : &list->errors);
    if (!vy_report_has_room(report)) return;
    vy_diagnostic item = {.warning = is_warning, .line = place.line, .column = place.column, .kind = kind};
    item.file = vy_text_copy(place.source->name, strlen(place.source->name));
    item.text = vy_text_copy(text, strlen(text));
    item.path = path_text(place.source, place.node);
    if (place.line > 0) {
        size_t size;
        const char *line_text = find_line(place.source, place.line, &size);
        vy_text clean_text = {0};
        vy_text_add_clean(&clean_text, line_text, size, size);
        item.source = vy_text_take(&clean_text);
    }
    if (!append_diagnostic(list, item)) report->no_memory = 1;
}

static report_place place_of_node(const vy_node *node)
{
    return (report_place){node->source, node, node->line, node->column};
}

void vy_report_error(vy_report *report, const vy_node *node, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_diagnostic(report, VY_BAD_VALUE, "value", place_of_node(node), format, args);
    va_end(args);
}

void vy_report_error_of_kind(vy_report *report, const char *kind, const vy_node *node, const char *format,
                             ...)
{
    va_list args;
    va_start(args, format);
    add_diagnostic(report, VY_BAD_VALUE, kind, place_of_node(node), format, args);
    va_end(args);
}

void vy_report_warning(vy_report *report, const vy_node *node, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_diagnostic(report, VY_OK, "value", place_of_node(node), format, args);
    va_end(args);
}

void vy_report_error_at(vy_report *report, vy_status status, const vy_source *source, int line, int column,
                        const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *kind = status == VY_BAD_SYNTAX ? "syntax" : status == VY_IO ? "file" : "value";
    add_diagnostic(report, status, kind, (report_place){source, NULL, line, column}, format, args);
    va_end(args);
}

// The place of an item in the list of files, by the first item of the same file.
static int file_rank(const vy_diagnostics *list, const char *file)
{
    int rank = 0;
    while (strcmp(list->items[rank].file, file) != 0) ++rank;
    return rank;
}

void vy_report_sort(vy_report *report)
{
    vy_diagnostics *list = report->diagnostics;
    int rank[VY_REPORT_CAP];
    for (int i = 0; i < list->count; ++i) rank[i] = file_rank(list, list->items[i].file);
    for (int i = 1; i < list->count; ++i) { // by insertion: stable, and the list is short
        const vy_diagnostic item = list->items[i];
        const int item_rank = rank[i];
        int j = i;
        for (; j > 0; --j) {
            const vy_diagnostic *previous = &list->items[j - 1];
            const int order = rank[j - 1] != item_rank      ? rank[j - 1] - item_rank
                              : previous->line != item.line ? previous->line - item.line
                                                            : previous->column - item.column;
            if (order <= 0) break;
            list->items[j] = *previous;
            rank[j] = rank[j - 1];
        }
        list->items[j] = item;
        rank[j] = item_rank;
    }
}

// The source line and a caret below character `column` (1-based). A long line is shown from nearby.
static void print_source(vy_text *out, const char *line, int number, int column)
{
    const size_t size = strlen(line);
    size_t column_offset = 0; // byte of the column
    for (int c = 1; c < column && column_offset < size; ++c) {
        ++column_offset;
        while (column_offset < size && ((unsigned char)line[column_offset] & 0xc0u) == 0x80u) ++column_offset;
    }
    size_t first_byte = 0;
    if (size > SOURCE_CAP && column_offset > SOURCE_CAP / 2) first_byte = column_offset - SOURCE_CAP / 2;
    while (first_byte < column_offset && ((unsigned char)line[first_byte] & 0xc0u) == 0x80u) ++first_byte;

    vy_text_printf(out, "%5d | ", number);
    vy_text_add_clean(out, line + first_byte, size - first_byte, SOURCE_CAP);
    vy_text_puts(out, "\n      | ");
    for (size_t i = first_byte; i < column_offset; ++i) {
        if (((unsigned char)line[i] & 0xc0u) != 0x80u) vy_text_puts(out, line[i] == '\t' ? "\t" : " ");
    }
    vy_text_puts(out, "^\n");
}

char *vy_diagnostics_print(const vy_diagnostics *diagnostics)
{
    vy_text out = {0};
    for (int i = 0; i < diagnostics->count; ++i) {
        const vy_diagnostic *d = &diagnostics->items[i];
        vy_text_puts(&out, d->file);
        if (d->line > 0) vy_text_printf(&out, ":%d:%d", d->line, d->column);
        vy_text_printf(&out, ": %s%s\n", d->warning ? "warning: " : "", d->text);
        if (d->source != NULL) print_source(&out, d->source, d->line, d->column);
    }
    const int unlisted_count = diagnostics->errors + diagnostics->warnings - diagnostics->count;
    if (unlisted_count > 0) vy_text_printf(&out, "and %d more\n", unlisted_count);
    return vy_text_take(&out);
}

void vy_diagnostics_destroy(vy_diagnostics *diagnostics)
{
    if (diagnostics == NULL) return;
    for (int i = 0; i < diagnostics->count; ++i) {
        free(diagnostics->items[i].file);
        free(diagnostics->items[i].text);
        free(diagnostics->items[i].source);
        free(diagnostics->items[i].path);
    }
    free(diagnostics->items);
    memset(diagnostics, 0, sizeof *diagnostics);
}

static char to_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }

static int min_int(int a, int b) { return a < b ? a : b; }

// Optimal string alignment distance: changes, insertions, deletions and swaps of neighbours.
static int edit_distance(const char *a, size_t size_a, const char *b, size_t size_b)
{
    enum { LENGTH_MAX = 40 };
    if (size_a > LENGTH_MAX || size_b > LENGTH_MAX) return LENGTH_MAX;
    int d[LENGTH_MAX + 1][LENGTH_MAX + 1];
    for (size_t i = 0; i <= size_a; ++i) d[i][0] = (int)i;
    for (size_t j = 0; j <= size_b; ++j) d[0][j] = (int)j;
    for (size_t i = 1; i <= size_a; ++i) {
        for (size_t j = 1; j <= size_b; ++j) {
            const int substitution_distance = d[i - 1][j - 1] + (to_lower(a[i - 1]) != to_lower(b[j - 1]));
            d[i][j] = min_int(substitution_distance, min_int(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && to_lower(a[i - 1]) == to_lower(b[j - 2]) &&
                to_lower(a[i - 2]) == to_lower(b[j - 1])) {
                d[i][j] = min_int(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[size_a][size_b];
}

const char *vy_closest_name(const char *word, size_t size, const char *const *names, int count)
{
    const char *closest = NULL;
    int best_distance = size < 4 ? 2 : size < 8 ? 3 : 4; // must be nearer than this
    for (int i = 0; i < count; ++i) {
        int candidate_distance = edit_distance(word, size, names[i], strlen(names[i]));
        if (size >= 3 && strncmp(word, names[i], size) == 0)
            candidate_distance = min_int(candidate_distance, 2); // its beginning
        if (candidate_distance < best_distance) {
            best_distance = candidate_distance;
            closest = names[i];
        }
    }
    return closest;
}
