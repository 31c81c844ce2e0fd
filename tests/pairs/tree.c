// tree.c - a scenario as a tree of keys: built, cut, printed.
#include "pairs.h"
#include <stdlib.h>
#include <string.h>

node *node_add(node *parent, const char *key, const char *text)
{
    node *n = calloc(1, sizeof *n);
    assert_non_null(n);
    snprintf(n->key, sizeof n->key, "%s", key);
    if (text != NULL) n->text = strdup(text);
    n->option = -1;
    node **end = &parent->first;
    while (*end != NULL) end = &(*end)->next;
    *end = n;
    return n;
}

node *node_copy(const node *tree)
{
    node *n = malloc(sizeof *n);
    assert_non_null(n);
    *n = *tree;
    n->next = NULL;
    if (tree->text != NULL) n->text = strdup(tree->text);
    node **end = &n->first;
    for (const node *c = tree->first; c != NULL; c = c->next) {
        *end = node_copy(c);
        end = &(*end)->next;
    }
    *end = NULL;
    return n;
}

void node_free(node *tree)
{
    while (tree != NULL && tree->first != NULL) {
        node *c = tree->first;
        tree->first = c->next;
        node_free(c);
    }
    if (tree != NULL) free(tree->text);
    free(tree);
}

node *node_find(const node *parent, const char *key)
{
    for (node *c = parent->first; c != NULL; c = c->next) {
        if (strcmp(c->key, key) == 0) return c;
    }
    return NULL;
}

static node *element(const node *list, long index)
{
    node *c = list->first;
    while (c != NULL && index-- > 0) c = c->next;
    return c;
}

node *node_at(node *tree, const char *path)
{
    node *at = NULL, *below = tree;
    while (*path != '\0') {
        char key[64];
        const size_t size = strcspn(path, ".[");
        snprintf(key, sizeof key, "%.*s", (int)size, path);
        node *next = size > 0 ? node_find(below, key) : below;
        path += size;
        if (next != NULL && *path == '[') {
            char *end;
            node *inside = element(next, strtol(path + 1, &end, 10));
            if (next->is_list && inside != NULL) {
                next = inside;
                path = *end == ']' ? end + 1 : end;
            } else
                path += strlen(path);
        }
        if (next == NULL) break;
        at = below = next;
        if (*path == '.') ++path;
    }
    return at;
}

int node_remove(node *tree, const node *leaf)
{
    for (node **at = &tree->first; *at != NULL; at = &(*at)->next) {
        if (*at == leaf) {
            node *gone = *at;
            *at = gone->next;
            node_free(gone);
            return 1;
        }
        if (node_remove(*at, leaf)) return 1;
    }
    return 0;
}

int node_count(const node *tree)
{
    int count = 0;
    for (const node *c = tree->first; c != NULL; c = c->next) count += 1 + node_count(c);
    return count;
}

node *node_number(node *tree, int number)
{
    for (node *c = tree->first; c != NULL; c = c->next) {
        if (number == 0) return c;
        const int inside = node_count(c);
        if (number <= inside) return node_number(c, number - 1);
        number -= inside + 1;
    }
    return NULL;
}

int node_path(const node *tree, const node *leaf, char *out, size_t size)
{
    int index = 0;
    for (const node *c = tree->first; c != NULL; c = c->next, ++index) {
        char rest[300];
        const int here = c == leaf;
        if (!here && !node_path(c, leaf, rest, sizeof rest)) continue;
        if (here) rest[0] = '\0';
        char own[48];
        if (tree->is_list)
            snprintf(own, sizeof own, "[%d]", index);
        else
            snprintf(own, sizeof own, "%s", c->key);
        snprintf(out, size, "%s%s%s", own, rest[0] == '\0' || rest[0] == '[' ? "" : ".", rest);
        return 1;
    }
    return 0;
}

static void print_flow(const node *n, FILE *out)
{
    if (n->text != NULL) {
        fputs(n->text, out);
        return;
    }
    fputs(n->is_list ? "[" : "{", out);
    for (const node *c = n->first; c != NULL; c = c->next) {
        if (!n->is_list) fprintf(out, "%s: ", c->key);
        print_flow(c, out);
        if (c->next != NULL) fputs(", ", out);
    }
    fputs(n->is_list ? "]" : "}", out);
}

// One key a line down to the elements of lists and what they have in them.
static void print_block(const node *n, int depth, FILE *out)
{
    for (const node *c = n->first; c != NULL; c = c->next) {
        fprintf(out, "%*s", 2 * depth, "");
        if (n->is_list)
            fputs("-", out);
        else
            fprintf(out, "%s:", c->key);
        if (c->text == NULL && c->first != NULL && depth < 3) {
            fputs("\n", out);
            print_block(c, depth + 1, out);
        } else {
            fputs(" ", out);
            print_flow(c, out);
            fputs("\n", out);
        }
    }
}

char *node_print(const node *tree)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    print_block(tree, 0, out);
    fclose(out);
    return text;
}
