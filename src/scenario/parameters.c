// parameters.c - values of any type for a controller of one's own: read, printed, hashed.
#include "scenario/parameters.h"
#include "base/assert.h"
#include "base/read_file.h"
#include "scenario/check.h"
#include "scenario/number.h"
#include <stdlib.h>

#define DEPTH_CAP 16         // of lists and mappings in each other
#define TEXT_CAP  (1u << 16) // [bytes] of one value

void vy_text_add_json(vy_text *out, const char *text, size_t size)
{
    vy_text_puts(out, "\"");
    for (size_t i = 0; i < size; ++i) {
        const unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            vy_text_printf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            vy_text_printf(out, "\\u%04x", c);
        else
            vy_text_add(out, text + i, 1);
    }
    vy_text_puts(out, "\"");
}

// --- reading

static int is_word(const vy_node *node, const char *word)
{
    return node->plain && strcmp(node->text, word) == 0;
}

// Whether a scalar is a text that can be handed on; 0 after a mistake.
static int check_text(vy_reader *r, const char *name, const vy_node *node)
{
    if ((node->size == 0 && node->plain) || is_word(node, "null") || is_word(node, "~")) {
        vy_report_error(r->report, node, "%s: expected a value, got nothing", name);
        return 0;
    }
    if (node->size > TEXT_CAP) {
        vy_report_error(r->report, node, "%s: a value has at most %u bytes", name, TEXT_CAP);
        return 0;
    }
    for (size_t i = 0; i < node->size;) {
        const size_t character_size = vy_character_size(node->text + i, node->size - i);
        if (character_size == 0) {
            vy_report_error(r->report, node, "%s must not have control characters", name);
            return 0;
        }
        i += character_size;
    }
    return 1;
}

// A scalar as a number or boolean: 1; as a text: 0; -1 after a mistake.
static int read_scalar(vy_reader *r, const char *name, const vy_node *node, vy_parameter *out)
{
    if (!check_text(r, name, node)) return -1;
    *out = (vy_parameter){.type = VY_PARAMETER_TEXT};
    if (!node->plain) return 0;
    if (is_word(node, "true") || is_word(node, "false")) {
        out->type = VY_PARAMETER_BOOLEAN;
        out->value = is_word(node, "true");
        return 1;
    }
    const vy_number_result result = vy_number_read(node->text, node->size, "", &out->value);
    if (result == VY_NUMBER_NOT_FINITE) {
        vy_report_error(r->report, node, "%s must be a finite number, got \"%s\"", name, node->text);
        return -1;
    }
    if (result != VY_NUMBER_OK) return 0;
    out->type = VY_PARAMETER_NUMBER;
    return 1;
}

// A list or mapping of any depth as JSON; 0 after a mistake.
static int print_node(vy_reader *r, const char *name, const vy_node *node, int depth, vy_text *out)
{
    node = vy_node_resolve(node);
    if (depth > DEPTH_CAP || out->size > TEXT_CAP) {
        vy_report_error(r->report, node, "%s: a value has at most %d levels and %u bytes", name, DEPTH_CAP,
                        TEXT_CAP);
        return 0;
    }
    if (node->kind == VY_NODE_SCALAR) {
        vy_parameter p;
        const int result = read_scalar(r, name, node, &p);
        if (result == 1) vy_parameter_print(out, &p, 1);
        if (result == 0) vy_text_add_json(out, node->text, node->size);
        return result >= 0;
    }
    const int is_map = node->kind == VY_NODE_MAP;
    int ok = 1;
    vy_text_puts(out, is_map ? "{" : "[");
    for (const vy_node *n = node->first; n != NULL && ok; n = n->next) {
        if (n != node->first) vy_text_puts(out, ", ");
        if (is_map) {
            ok = check_text(r, name, n->key);
            vy_text_add_json(out, n->key->text, n->key->size);
            vy_text_puts(out, ": ");
        }
        if (ok) ok = print_node(r, name, n, depth + 1, out);
    }
    vy_text_puts(out, is_map ? "}" : "]");
    return ok;
}

static int read_digest(const char *text, uint64_t *out)
{
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16) return 0;
    *out = strtoull(text, NULL, 16);
    return *out != 0;
}

// {file: PATH}, and in a log {file: PATH, digest: ...}.
static int read_file(vy_reader *r, const char *name, const vy_node *node, vy_parameter *out)
{
    const vy_node *file = vy_node_resolve(vy_node_find(node, "file")), *digest = vy_node_find(node, "digest");
    if (node->count > 1 + (digest != NULL)) {
        vy_report_error(r->report, node, "%s: a file has the keys file and digest alone", name);
        return 0;
    }
    if (file->kind != VY_NODE_SCALAR || file->size == 0 || file->size >= VY_PATH_CAP ||
        !check_text(r, name, file) || strlen(file->text) != file->size) {
        vy_report_error(r->report, file, "%s: expected the path of a file, of at most %d bytes", name,
                        VY_PATH_CAP - 1);
        return 0;
    }
    if (digest != NULL) {
        digest = vy_node_resolve(digest);
        if (digest->kind != VY_NODE_SCALAR || !read_digest(digest->text, &out->digest)) {
            vy_report_error(r->report, digest,
                            "%s: a digest is 16 hexadecimal digits, as `volery check` prints it", name);
            return 0;
        }
    }
    out->type = VY_PARAMETER_FILE;
    out->text = vy_text_copy(file->text, file->size);
    if (out->text == NULL) r->no_memory = 1;
    return out->text != NULL;
}

static int read_parameter(vy_reader *r, const vy_node *key, const vy_node *node, vy_parameter *out)
{
    const char *name = key->text;
    int ok;
    if (node->kind == VY_NODE_MAP && vy_node_find(node, "file") != NULL) {
        ok = read_file(r, name, node, out);
    } else if (node->kind == VY_NODE_SCALAR) {
        const int result = read_scalar(r, name, node, out);
        if (result == 0) out->text = vy_text_copy(node->text, node->size);
        if (result == 0 && out->text == NULL) r->no_memory = 1;
        ok = result >= 0;
    } else {
        vy_text json = {0};
        ok = print_node(r, name, node, 1, &json);
        out->type = VY_PARAMETER_JSON;
        out->text = vy_text_take(&json);
        if (out->text == NULL) r->no_memory = 1;
        if (!ok) {
            free((void *)out->text);
            out->text = NULL;
        }
    }
    memcpy(out->name, key->text, key->size);
    return ok && !r->no_memory;
}

void vy_read_parameters(vy_reader *reader, const vy_schema_row *row, const vy_node *node, void *object)
{
    vy_parameter *out = (vy_parameter *)(void *)((char *)object + row->offset);
    if (node->kind != VY_NODE_MAP) {
        vy_report_error(reader->report, node, "%s: expected a mapping (of a name to a value)", row->key);
        return;
    }
    if (node->count > (int)row->size) {
        vy_report_error(reader->report, node, "%s: at most %zu can be given, got %d", row->key, row->size,
                        node->count);
        return;
    }
    memset(out, 0, row->size * sizeof *out);
    int count = 0;
    for (const vy_node *n = node->first; n != NULL; n = n->next) {
        const vy_node *key = n->key;
        if (!vy_is_identifier(key->text, key->size) || key->size >= VY_NAME_CAP) {
            vy_report_error(reader->report, key,
                            "%s: expected names (a letter, then letters, digits, - and _, at most 31)",
                            row->key);
        } else if (vy_node_find(node, key->text) != n) {
            vy_report_error_of_kind(reader->report, "repeated_key", key, "%s is given twice", key->text);
        } else if (read_parameter(reader, key, vy_node_resolve(n), &out[count])) {
            vy_reader_add_location(reader, &out[count], sizeof out[count], vy_node_resolve(n));
            ++count;
        } else {
            memset(&out[count], 0, sizeof out[count]);
        }
    }
    memcpy((char *)object + row->count_offset, &count, sizeof count);
}

// --- files

void vy_compute_parameter_digests(vy_reader *reader, const char *scenario_path, int may_read,
                                  vy_scenario *scenario)
{
    for (int i = 0; i < scenario->drone_count; ++i) {
        vy_controller_def *c = &scenario->drones[i].def.controller;
        for (int k = 0; k < c->parameter_count; ++k) {
            vy_parameter *p = &c->parameters[k];
            if (p->type != VY_PARAMETER_FILE || p->digest != 0) continue;
            char *path = may_read ? vy_program_path(c, scenario_path, p->text) : NULL;
            const vy_status status = path != NULL ? vy_file_digest(path, &p->digest) : VY_IO;
            if (status == VY_NO_MEMORY || (may_read && path == NULL))
                reader->no_memory = 1;
            else if (status != VY_OK)
                vy_report_error_of_kind(reader->report, "file", vy_reader_location(reader, p), "%s: %s %s",
                                        p->name, status == VY_NOT_FOUND ? "there is no" : "cannot read",
                                        path != NULL ? path : p->text);
            free(path);
        }
    }
}

// --- printing

void vy_parameter_print(vy_text *out, const vy_parameter *p, int plain)
{
    switch (p->type) {
    case VY_PARAMETER_NUMBER: vy_number_print(out, p->value); return;
    case VY_PARAMETER_BOOLEAN: vy_text_puts(out, p->value != 0.0 ? "true" : "false"); return;
    case VY_PARAMETER_JSON: vy_text_puts(out, p->text); return;
    case VY_PARAMETER_TEXT: vy_text_add_json(out, p->text, strlen(p->text)); return;
    case VY_PARAMETER_FILE: break;
    }
    if (!plain) vy_text_puts(out, "{file: ");
    vy_text_add_json(out, p->text, strlen(p->text));
    if (!plain) vy_text_printf(out, ", digest: \"%016llx\"}", (unsigned long long)p->digest);
}

void vy_parameter_hash_bytes(vy_text *out, const vy_parameter *p)
{
    VY_ASSERT(p->type == VY_PARAMETER_NUMBER || p->type == VY_PARAMETER_BOOLEAN || p->text != NULL);
    vy_text_add(out, p->name, strlen(p->name) + 1);
    if (p->type != VY_PARAMETER_NUMBER) { // no number has these bits: they are none
        const uint64_t tag = 0x7ff8000000000000u + (uint64_t)p->type;
        vy_text_add(out, &tag, sizeof tag);
    }
    if (p->type == VY_PARAMETER_FILE)
        vy_text_add(out, &p->digest, sizeof p->digest);
    else if (p->text != NULL)
        vy_text_add(out, p->text, strlen(p->text) + 1);
    else
        vy_text_add(out, &p->value, sizeof p->value);
}
