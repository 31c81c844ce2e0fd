// tree.h - YAML text as a tree in which every node has its line and column. The one file that uses libfyaml
// is tree.c.
//
// Input is untrusted: size, depth and number of nodes are bounded, and an alias is a pointer to a
// finished node, so a tree has no cycles and takes memory in proportion to its text.
#pragma once
#include "volery/scenario.h"

#define VY_TREE_TEXT_CAP  (16u << 20) // [bytes] of one text
#define VY_TREE_NODE_CAP  1000000u    // nodes of all texts together
#define VY_TREE_DEPTH_CAP 32

/// A text that was read, kept for the diagnostics that quote it.
typedef struct vy_source {
    char *name;
    char *text;
    size_t size;
    int is_override;            ///< "--set key=value" on the command line: it has no lines
    const struct vy_node *root; ///< of its tree; NULL before it is read
    struct vy_source *next;
} vy_source;

typedef enum vy_node_kind { VY_NODE_SCALAR, VY_NODE_LIST, VY_NODE_MAP } vy_node_kind;

typedef struct vy_node {
    vy_node_kind kind;
    const vy_source *source;
    int line, column;             ///< 1-based
    int plain;                    ///< a scalar without quotes
    const char *text;             ///< of a scalar, '\0' at its end
    size_t size;                  ///< [bytes] of text
    struct vy_node *first, *last; ///< elements of a list, values of a map
    int count;                    ///< of those
    struct vy_node *key;          ///< of a value in a map
    struct vy_node *next;         ///< the element after this one
    struct vy_node *alias;        ///< what an alias stands for; NULL for a node of its own
} vy_node;

/// Owns all nodes and sources made with it. Start from zero.
typedef struct vy_yaml {
    struct vy_node_pool *pools;
    vy_source *sources;
    size_t node_count;
    int no_memory;
} vy_yaml;

void vy_yaml_destroy(vy_yaml *tree);

/// The node an alias stands for, or the node itself.
const vy_node *vy_node_resolve(const vy_node *node);

/// The value of `key` in a map (the first, if given twice); NULL when it has none.
vy_node *vy_node_find(const vy_node *map, const char *key);

/// Zeroed memory that lives as long as the tree; NULL (and tree->no_memory) when memory is out.
void *vy_yaml_alloc(vy_yaml *tree, size_t size);

/// A source of the tree, taking ownership of `name` and `text`, which may be NULL (memory was out). NULL on
/// failure.
vy_source *vy_yaml_add_source(vy_yaml *tree, char *name, char *text, size_t size);

/// An empty node; NULL when memory is out or the tree is full.
vy_node *vy_yaml_add_node(vy_yaml *tree, vy_node_kind kind, const vy_source *source, int line, int column);

/// Put `value` at the end of a list, or with `key` into a map.
void vy_node_append(vy_node *parent, vy_node *key, vy_node *value);

/// Give `node` the content of `other`, but leave it where it is.
void vy_node_replace(vy_node *node, const vy_node *other);

struct vy_report;

/// The tree of a source's text from byte `offset` on. NULL after a mistake, which is in `report` then, or
/// when memory is out.
vy_node *vy_yaml_read(vy_yaml *tree, vy_source *source, size_t offset, struct vy_report *report);
