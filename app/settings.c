// settings.c - block YAML as the library prints it, line by line. It is not a general YAML reader.
#include "settings.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_CAP = 16, KEY_CAP = 256 };

// A key or list element that the following, deeper lines belong to.
typedef struct level {
    int column;
    int elements; // of a list, so far
    char path[KEY_CAP];
} level;

typedef struct reader {
    level levels[DEPTH_CAP];
    int depth;
    settings *out;
    int capacity;
} reader;

static char *copy_text(const char *text, size_t length)
{
    char *out = malloc(length + 1);
    if (out == NULL) return NULL;
    memcpy(out, text, length);
    out[length] = '\0';
    return out;
}

static int add_setting(reader *r, const char *path, const char *value, size_t length)
{
    settings *s = r->out;
    if (s->count == r->capacity) {
        const int capacity = r->capacity * 2 + 64;
        setting *items = realloc(s->items, (size_t)capacity * sizeof *items);
        if (items == NULL) return 0;
        s->items = items;
        r->capacity = capacity;
    }
    setting *item = &s->items[s->count++];
    *item = (setting){copy_text(path, strlen(path)), copy_text(value, length)};
    return item->key != NULL && item->value != NULL;
}

static void pop_levels(reader *r, int column)
{
    while (r->depth > 0 && r->levels[r->depth - 1].column >= column) --r->depth;
}

static void push_level(reader *r, int column, const char *path)
{
    if (r->depth == DEPTH_CAP) return;
    level *l = &r->levels[r->depth++];
    l->column = column;
    l->elements = 0;
    snprintf(l->path, sizeof l->path, "%s", path);
}

static int read_line(reader *r, const char *line, size_t length)
{
    char path[KEY_CAP];
    int column = (int)strspn(line, " ");
    if ((size_t)column >= length || line[column] == '#') return 1;
    if (line[column] == '-') {
        pop_levels(r, column);
        if (r->depth > 0) {
            level *list = &r->levels[r->depth - 1];
            snprintf(path, sizeof path, "%.200s[%d]", list->path, list->elements++);
            push_level(r, column, path);
        }
        column += 2;
    }
    pop_levels(r, column);
    const char *key = line + column, *end = line + length;
    const char *colon = memchr(key, ':', column < (int)length ? (size_t)(end - key) : 0);
    if (colon == NULL) return 1;
    const char *parent = r->depth > 0 ? r->levels[r->depth - 1].path : "";
    snprintf(path, sizeof path, "%.200s%s%.*s", parent, parent[0] != '\0' ? "." : "",
             colon - key < 50 ? (int)(colon - key) : 50, key);
    const char *value = colon + 1;
    while (value < end && *value == ' ') ++value;
    if (value < end) return add_setting(r, path, value, (size_t)(end - value));
    push_level(r, column, path);
    return 1;
}

int vy_settings_read(const char *text, settings *out)
{
    reader r = {.out = out};
    *out = (settings){.count = 0};
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        if (!read_line(&r, text, length)) {
            vy_settings_destroy(out);
            return 0;
        }
        text += length + (text[length] == '\n');
    }
    return 1;
}

void vy_settings_destroy(settings *s)
{
    for (int i = 0; i < s->count; ++i) {
        free(s->items[i].key);
        free(s->items[i].value);
    }
    free(s->items);
    *s = (settings){.count = 0};
}

// The value of `key`. Both lists are mostly in the same order, so the search begins where the last one ended.
static const char *find_value(const settings *s, const char *key, int *search_start)
{
    for (int i = 0; i < s->count; ++i) {
        const int index = (*search_start + i) % s->count;
        if (strcmp(s->items[index].key, key) != 0) continue;
        *search_start = index + 1;
        return s->items[index].value;
    }
    return NULL;
}

// Whether there are elements of the list `key`: of an empty one, "[]" stands in their place.
static int has_elements(const settings *s, const char *key)
{
    const size_t size = strlen(key);
    for (int i = 0; i < s->count; ++i) {
        if (strncmp(s->items[i].key, key, size) == 0 && s->items[i].key[size] == '[') return 1;
    }
    return 0;
}

int vy_settings_compare(const settings *a, const settings *b,
                        void (*report)(void *self, const char *key, const char *in_a, const char *in_b),
                        void *self)
{
    int count = 0, search_start = 0;
    for (int i = 0; i < a->count; ++i) {
        const char *other_value = find_value(b, a->items[i].key, &search_start);
        if (other_value != NULL && strcmp(other_value, a->items[i].value) == 0) continue;
        if (other_value == NULL && strcmp(a->items[i].value, "[]") == 0 && has_elements(b, a->items[i].key))
            continue;
        report(self, a->items[i].key, a->items[i].value, other_value);
        ++count;
    }
    search_start = 0;
    for (int i = 0; i < b->count; ++i) {
        if (find_value(a, b->items[i].key, &search_start) != NULL) continue;
        if (strcmp(b->items[i].value, "[]") == 0 && has_elements(a, b->items[i].key)) continue;
        report(self, b->items[i].key, NULL, b->items[i].value);
        ++count;
    }
    return count;
}
