// override.c - "key=value" from the command line, put into a tree before it is read.
#include "scenario/override.h"
#include "base/assert.h"
#include "scenario/number.h"
#include "scenario/text.h"

// One override on its way down the tree.
typedef struct override_walk {
    vy_yaml *tree;
    vy_report *report;
    vy_source *source;
    const char *at, *end;     // what is left of the path
    const vy_schema_row *row; // the row of the node reached; NULL: no row, which is reported when it is read
    const vy_schema_table *table;
} override_walk;

// Report a mistake; the format prints `word` of `size` bytes as %.*s. @return 0
static int refuse(override_walk *s, const char *format, const char *word, size_t size)
{
    vy_report_error_at(s->report, VY_BAD_VALUE, s->source, 0, 0, format, (int)size, word);
    return 0;
}

static vy_node *add_node(override_walk *s, vy_node_kind kind)
{
    return vy_yaml_add_node(s->tree, kind, s->source, 1, 1);
}

static vy_node *add_scalar(override_walk *s, const char *text, size_t size)
{
    vy_node *node = add_node(s, VY_NODE_SCALAR);
    char *copy = node == NULL ? NULL : vy_yaml_alloc(s->tree, size + 1);
    if (copy == NULL) return NULL;
    memcpy(copy, text, size);
    node->text = copy;
    node->size = size;
    node->plain = 1;
    return node;
}

static vy_node *copy_node(override_walk *s, const vy_node *node)
{
    vy_node *copy = vy_yaml_add_node(s->tree, node->kind, node->source, node->line, node->column);
    if (copy == NULL) return NULL;
    copy->text = node->text;
    copy->size = node->size;
    copy->plain = node->plain;
    copy->alias = node->alias;
    for (const vy_node *n = node->first; n != NULL; n = n->next) {
        vy_node *child = copy_node(s, n);
        if (child == NULL) return NULL;
        vy_node_append(copy, n->key, child);
    }
    return copy;
}

// Prepare a node for changes below it: an alias gets a copy of its own, the name of a file becomes a mapping
// based on it, an empty value becomes an empty mapping.
static int make_editable(override_walk *s, vy_node *node)
{
    if (node->alias != NULL) {
        const vy_node *copy = copy_node(s, node->alias);
        if (copy == NULL) return 0;
        vy_node_replace(node, copy);
    }
    if (node->kind != VY_NODE_SCALAR) return 1;
    vy_node *map = add_node(s, VY_NODE_MAP);
    if (map == NULL) return 0;
    if (node->size > 0) {
        vy_node *key = add_scalar(s, "base", 4), *base = copy_node(s, node);
        if (key == NULL || base == NULL) return 0;
        vy_node_append(map, key, base);
    }
    vy_node_replace(node, map);
    return 1;
}

// The value of a key, made when it is not there.
static vy_node *step_into_map(override_walk *s, vy_node *map, const char *word, size_t size)
{
    vy_node *key = add_scalar(s, word, size);
    if (key == NULL) return NULL;
    s->row = s->table != NULL ? vy_table_find(s->table, key->text) : NULL;
    s->table = s->row != NULL ? s->row->table : NULL;
    vy_node *value_found = vy_node_find(map, key->text);
    if (value_found != NULL) return value_found;
    const int is_file = s->row != NULL && (s->row->flags & VY_ROW_FILE) != 0;
    // The default of a missing vehicle; a sensor has no file by default, just the values of its struct.
    const char *text = is_file && s->row->default_text != NULL ? s->row->default_text : "";
    vy_node *value = add_scalar(s, text, strlen(text));
    if (value == NULL) return NULL;
    vy_node_append(map, key, value);
    return value;
}

// The element of a list with this name.
static vy_node *step_into_list(override_walk *s, vy_node *list, const char *word, size_t size)
{
    for (vy_node *n = list->first; n != NULL; n = n->next) {
        const vy_node *map = vy_node_resolve(n);
        const vy_node *name = map->kind == VY_NODE_MAP ? vy_node_find(map, "name") : NULL;
        if (name != NULL) name = vy_node_resolve(name);
        if (name != NULL && name->size == size && memcmp(name->text, word, size) == 0) return n;
    }
    refuse(s, "nothing in the list is called %.*s", word, size);
    return NULL;
}

// [3]: the element with this index.
static vy_node *step_to_index(override_walk *s, vy_node *node)
{
    const char *digits = s->at + 1;
    VY_ASSERT(s->at < s->end && *s->at == '[');
    const char *closing_bracket = memchr(digits, ']', (size_t)(s->end - digits));
    const size_t size = closing_bracket == NULL ? 0 : (size_t)(closing_bracket - digits);
    uint64_t index;
    if (!vy_uint_read(digits, size, &index)) {
        refuse(s, "expected a number between brackets: %.*s", s->at, (size_t)(s->end - s->at));
        return NULL;
    }
    vy_node *n = node->kind == VY_NODE_LIST ? node->first : NULL;
    for (; n != NULL && index > 0; --index) n = n->next;
    if (n == NULL) refuse(s, "there is no element %.*s", digits, size);
    s->at = closing_bracket + 1;
    return n;
}

// Follow the path to its last node. NULL after a mistake.
static vy_node *follow_path(override_walk *s, vy_node *node)
{
    while (node != NULL && s->at < s->end) {
        VY_ASSERT(s->at >= s->source->text && s->end <= s->source->text + s->source->size);
        if (!make_editable(s, node)) return NULL;
        if (*s->at == '[') {
            node = step_to_index(s, node);
            if (node != NULL && s->at < s->end && *s->at == '.') ++s->at;
            continue;
        }
        size_t size = 0;
        while (s->at + size < s->end && s->at[size] != '.' && s->at[size] != '[') ++size;
        if (size == 0) {
            refuse(s, "expected a key before %.*s", s->at, (size_t)(s->end - s->at));
            return NULL;
        }
        const char *word = s->at;
        s->at += size;
        if (s->at < s->end && *s->at == '.') ++s->at;
        node = node->kind == VY_NODE_LIST ? step_into_list(s, node, word, size)
                                          : step_into_map(s, node, word, size);
    }
    return node;
}

vy_node *vy_override_apply(vy_yaml *tree, vy_report *report, const vy_schema_table *table, vy_node *root,
                           const char *override)
{
    const size_t size = strlen(override);
    vy_text name = {0};
    vy_text_puts(&name, "--set ");
    vy_text_add_clean(&name, override, size, 100);
    vy_source *source = vy_yaml_add_source(tree, vy_text_take(&name), vy_text_copy(override, size), size);
    if (source == NULL) return NULL;
    source->is_override = 1;
    const char *equal_sign = memchr(source->text, '=', size);
    if (equal_sign == NULL || equal_sign == source->text) {
        vy_report_error_at(report, VY_BAD_VALUE, source, 0, 0, "expected key=value");
        return NULL;
    }
    override_walk walk = {.tree = tree,
                          .report = report,
                          .source = source,
                          .at = source->text,
                          .end = equal_sign,
                          .table = table};
    const vy_node *value = vy_yaml_read(tree, source, (size_t)(equal_sign + 1 - source->text), report);
    if (value == NULL) return NULL;
    vy_node *node = follow_path(&walk, root);
    if (node != NULL) vy_node_replace(node, value);
    return node;
}
