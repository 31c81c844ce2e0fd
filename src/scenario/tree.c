// tree.c - YAML text as a tree, read from libfyaml's events.
#include "scenario/report.h"
#include "base/assert.h"
#include "scenario/text.h"
#include <errno.h>
#include <libfyaml.h>
#include <stdlib.h>

#define POOL_SIZE  65536u
#define ANCHOR_CAP 256

// Memory is taken in blocks and given back all at once.
typedef struct vy_node_pool {
    struct vy_node_pool *next;
    size_t used, capacity;
} vy_node_pool;

void *vy_yaml_alloc(vy_yaml *tree, size_t size)
{
    const size_t aligned_size = (size + 15u) & ~(size_t)15u;
    vy_node_pool *pool = tree->pools;
    const size_t header_size = (sizeof(vy_node_pool) + 15u) & ~(size_t)15u;
    if (pool == NULL || aligned_size > pool->capacity - pool->used) {
        const size_t capacity = header_size + (aligned_size > POOL_SIZE ? aligned_size : POOL_SIZE);
        pool = calloc(1, capacity);
        if (pool == NULL) {
            tree->no_memory = 1;
            return NULL;
        }
        pool->next = tree->pools;
        pool->used = header_size;
        pool->capacity = capacity;
        tree->pools = pool;
    }
    void *memory = (char *)pool + pool->used;
    pool->used += aligned_size;
    VY_ASSERT(pool->used <= pool->capacity && (uintptr_t)memory % 16 == 0);
    return memory;
}

void vy_yaml_destroy(vy_yaml *tree)
{
    for (vy_source *source = tree->sources; source != NULL; source = source->next) {
        free(source->name);
        free(source->text);
    }
    for (vy_node_pool *pool = tree->pools; pool != NULL;) { // the sources are in there as well
        vy_node_pool *next = pool->next;
        free(pool);
        pool = next;
    }
    memset(tree, 0, sizeof *tree);
}

vy_source *vy_yaml_add_source(vy_yaml *tree, char *name, char *text, size_t size)
{
    vy_source *source = name == NULL || text == NULL ? NULL : vy_yaml_alloc(tree, sizeof *source);
    if (source == NULL) {
        tree->no_memory = 1;
        free(name);
        free(text);
        return NULL;
    }
    source->name = name;
    source->text = text;
    source->size = size;
    source->next = tree->sources;
    tree->sources = source;
    return source;
}

vy_node *vy_yaml_add_node(vy_yaml *tree, vy_node_kind kind, const vy_source *source, int line, int column)
{
    vy_node *node = vy_yaml_alloc(tree, sizeof *node);
    if (node == NULL) return NULL;
    node->kind = kind;
    node->source = source;
    node->line = line;
    node->column = column;
    node->text = "";
    ++tree->node_count;
    return node;
}

void vy_node_append(vy_node *parent, vy_node *key, vy_node *value)
{
    VY_ASSERT(parent->kind != VY_NODE_SCALAR && value->next == NULL);
    VY_ASSERT((key != NULL) == (parent->kind == VY_NODE_MAP));
    value->key = key;
    if (parent->last != NULL)
        parent->last->next = value;
    else
        parent->first = value;
    parent->last = value;
    ++parent->count;
}

void vy_node_replace(vy_node *node, const vy_node *other)
{
    vy_node *key = node->key, *next = node->next;
    *node = *other;
    node->key = key;
    node->next = next;
}

const vy_node *vy_node_resolve(const vy_node *node) { return node->alias != NULL ? node->alias : node; }

vy_node *vy_node_find(const vy_node *map, const char *key)
{
    for (vy_node *value = map->first; value != NULL; value = value->next) {
        if (value->key != NULL && strcmp(value->key->text, key) == 0) return value;
    }
    return NULL;
}

// One text on its way to a tree.
typedef struct builder {
    vy_yaml *tree;
    const vy_source *source;
    vy_report *report;
    vy_node *root;
    int depth;
    vy_node *open_nodes[VY_TREE_DEPTH_CAP]; // lists and maps that have not ended
    vy_node *open_keys[VY_TREE_DEPTH_CAP];  // of a map: its key that has no value yet
    int anchor_count;
    struct {
        char *name;
        vy_node *node;
        int is_open; // its list or map has not ended: an alias to it would be a cycle
    } anchors[ANCHOR_CAP];
} builder;

static int refuse(builder *b, int line, int column, const char *sentence)
{
    vy_report_error_at(b->report, VY_BAD_SYNTAX, b->source, line, column, "%s", sentence);
    return 0;
}

static void event_position(struct fy_event *event, int *line, int *column)
{
    const struct fy_mark *mark = fy_event_start_mark(event);
    *line = mark == NULL ? 1 : mark->line + 1;
    *column = mark == NULL ? 1 : mark->column + 1;
}

// Put a node where the text has it: as root, as element, as key or as value.
static int place_node(builder *b, vy_node *node)
{
    if (b->depth == 0) {
        b->root = node;
        return 1;
    }
    vy_node *parent = b->open_nodes[b->depth - 1];
    VY_ASSERT(b->depth > 0 && b->depth <= VY_TREE_DEPTH_CAP && parent != NULL);
    vy_node **key = &b->open_keys[b->depth - 1];
    if (parent->kind == VY_NODE_MAP && *key == NULL) {
        if (node->kind != VY_NODE_SCALAR || node->alias != NULL) {
            return refuse(b, node->line, node->column, "a key must be a plain word");
        }
        *key = node;
        return 1;
    }
    vy_node_append(parent, *key, node);
    *key = NULL;
    return 1;
}

static char *copy_token(builder *b, struct fy_token *token, size_t *size)
{
    const char *text = fy_token_get_text(token, size);
    char *copy = text == NULL ? NULL : vy_yaml_alloc(b->tree, *size + 1);
    if (copy == NULL) {
        b->tree->no_memory = 1;
        return NULL;
    }
    memcpy(copy, text, *size); // the '\0' is there: memory of a tree is zeroed
    return copy;
}

static int add_anchor(builder *b, struct fy_event *event, vy_node *node)
{
    struct fy_token *token = fy_event_get_anchor_token(event);
    if (token == NULL) return 1;
    if (b->anchor_count == ANCHOR_CAP) return refuse(b, node->line, node->column, "more than 256 anchors");
    size_t size;
    char *name = copy_token(b, token, &size);
    if (name == NULL) return 0;
    b->anchors[b->anchor_count].name = name;
    b->anchors[b->anchor_count].node = node;
    b->anchors[b->anchor_count].is_open = node->kind != VY_NODE_SCALAR;
    ++b->anchor_count;
    return 1;
}

static int on_alias(builder *b, struct fy_event *event, vy_node *node)
{
    size_t size;
    const char *name = copy_token(b, event->alias.anchor, &size);
    if (name == NULL) return 0;
    --node->column;                                  // libfyaml points behind the star
    for (int i = b->anchor_count - 1; i >= 0; --i) { // the latest of a name counts
        if (strcmp(b->anchors[i].name, name) != 0) continue;
        if (b->anchors[i].is_open)
            return refuse(b, node->line, node->column, "an alias may not stand inside its anchor");
        node->alias = b->anchors[i].node;
        return place_node(b, node);
    }
    return refuse(b, node->line, node->column, "no anchor of this name stands before this alias");
}

// An empty value has no place of its own: it is at its key, or at the list it is in.
static void place_empty_value(const builder *b, vy_node *node)
{
    if (b->depth == 0) return;
    const vy_node *key = b->open_keys[b->depth - 1];
    const vy_node *owner = key != NULL ? key : b->open_nodes[b->depth - 1];
    node->line = owner->line;
    node->column = owner->column;
}

static int on_scalar(builder *b, struct fy_event *event, vy_node *node)
{
    node->text = copy_token(b, event->scalar.value, &node->size);
    if (node->text == NULL) return 0;
    const enum fy_scalar_style style = fy_token_scalar_style(event->scalar.value);
    node->plain = style == FYSS_PLAIN;
    if (node->plain && node->size == 0) place_empty_value(b, node);
    if (style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED)
        --node->column; // libfyaml points behind the quote
    if (memchr(node->text, '\0', node->size) != NULL) {
        return refuse(b, node->line, node->column, "the character \\0 has no place in a text");
    }
    return add_anchor(b, event, node) && place_node(b, node);
}

static int on_collection_start(builder *b, struct fy_event *event, vy_node *node)
{
    if (b->depth == VY_TREE_DEPTH_CAP) return refuse(b, node->line, node->column, "nested too deeply");
    if (!add_anchor(b, event, node) || !place_node(b, node)) return 0;
    b->open_nodes[b->depth] = node;
    b->open_keys[b->depth] = NULL;
    ++b->depth;
    return 1;
}

static int on_collection_end(builder *b)
{
    VY_ASSERT(b->depth > 0 && b->open_keys[b->depth - 1] == NULL);
    const vy_node *node = b->open_nodes[--b->depth];
    for (int i = 0; i < b->anchor_count; ++i) {
        if (b->anchors[i].node == node) b->anchors[i].is_open = 0;
    }
    return 1;
}

// @return 0 to stop
static int on_event(builder *b, struct fy_event *event)
{
    int line, column;
    event_position(event, &line, &column);
    vy_node_kind kind = VY_NODE_SCALAR;
    switch (event->type) {
    case FYET_DOCUMENT_START:
        return b->root == NULL ? 1 : refuse(b, line, column, "a second document: a file holds one");
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END: return on_collection_end(b);
    case FYET_MAPPING_START: kind = VY_NODE_MAP; break;
    case FYET_SEQUENCE_START: kind = VY_NODE_LIST; break;
    case FYET_SCALAR:
    case FYET_ALIAS: break;
    default: return 1;
    }
    if (fy_event_get_tag_token(event) != NULL)
        return refuse(b, line, column, "tags (!name) have no meaning here");
    if (b->tree->node_count >= VY_TREE_NODE_CAP) return refuse(b, line, column, "more than a million values");
    vy_node *node = vy_yaml_add_node(b->tree, kind, b->source, line, column);
    if (node == NULL) return 0;
    if (event->type == FYET_SCALAR) return on_scalar(b, event, node);
    return event->type == FYET_ALIAS ? on_alias(b, event, node) : on_collection_start(b, event, node);
}

// libfyaml accepts some broken characters silently.
static int check_characters(const vy_source *source, vy_report *report)
{
    const unsigned char *text = (const unsigned char *)source->text;
    int line = 1, column = 1;
    for (size_t i = 0; i < source->size;) {
        const size_t size = vy_character_size(source->text + i, source->size - i);
        VY_ASSERT(size <= source->size - i);
        if (size == 0) {
            vy_report_error_at(report, VY_BAD_SYNTAX, source, line, column,
                               "byte 0x%02x: not a character of UTF-8 text", text[i]);
            return 0;
        }
        if (text[i] == '\n') {
            ++line;
            column = 0;
        }
        ++column;
        i += size;
    }
    return 1;
}

// The error of libfyaml; at least one sentence.
static void report_errors(builder *b, struct fy_diag *diag)
{
    void *iterator = NULL;
    int count = 0;
    for (const struct fy_diag_error *error; (error = fy_diag_errors_iterate(diag, &iterator)) != NULL;
         ++count) {
        vy_report_error_at(b->report, VY_BAD_SYNTAX, b->source, error->line > 0 ? error->line : 1,
                           error->column > 0 ? error->column : 1, "%s",
                           error->msg != NULL ? error->msg : "not YAML");
    }
    if (count == 0) vy_report_error_at(b->report, VY_BAD_SYNTAX, b->source, 1, 1, "not YAML");
}

// @return 1 when the whole text was read
static int parse_events(builder *b, struct fy_parser *parser, struct fy_diag *diag, const char *text,
                        size_t size)
{
    if (fy_parser_set_string(parser, text, size) != 0) {
        b->tree->no_memory = 1;
        return 0;
    }
    for (;;) {
        struct fy_event *event = fy_parser_parse(parser);
        if (event == NULL) {
            report_errors(b, diag);
            return 0;
        }
        const int is_last = event->type == FYET_STREAM_END;
        const int continues = is_last || on_event(b, event);
        fy_parser_event_free(parser, event);
        if (is_last) return 1;
        if (!continues) return 0;
    }
}

vy_node *vy_yaml_read(vy_yaml *tree, vy_source *source, size_t offset, vy_report *report)
{
    if (source->size > VY_TREE_TEXT_CAP) {
        vy_report_error_at(report, VY_BAD_SYNTAX, source, 0, 0, "longer than %u bytes", VY_TREE_TEXT_CAP);
        return NULL;
    }
    if (!check_characters(source, report)) return NULL;
    builder b = {.tree = tree, .source = source, .report = report};
    VY_ASSERT(offset <= source->size);
    struct fy_diag_cfg diag_cfg;
    fy_diag_cfg_default(&diag_cfg);
    diag_cfg.fp = NULL;
    diag_cfg.colorize = false;
    struct fy_diag *diag = fy_diag_create(&diag_cfg);
    struct fy_parser *parser = NULL;
    if (diag != NULL) {
        fy_diag_set_collect_errors(diag, true);
        const struct fy_parse_cfg cfg = {.flags = FYPCF_QUIET | FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE,
                                         .diag = diag};
        parser = fy_parser_create(&cfg);
    }
    int is_whole = 0;
    errno = 0;
    if (parser == NULL)
        tree->no_memory = 1;
    else
        is_whole = parse_events(&b, parser, diag, source->text + offset, source->size - offset);
    // Where memory is out libfyaml calls the text wrong, or leaves out a value.
    if (errno == ENOMEM) tree->no_memory = 1;
    if (parser != NULL) fy_parser_destroy(parser);
    if (diag != NULL) fy_diag_destroy(diag);
    if (!is_whole || tree->no_memory) return NULL;
    if (b.root == NULL) { // nothing but comments: an empty value
        b.root = vy_yaml_add_node(tree, VY_NODE_SCALAR, source, 1, 1);
        if (b.root != NULL) b.root->plain = 1;
    }
    source->root = b.root;
    return b.root;
}
