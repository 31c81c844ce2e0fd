// json.c - a small JSON writer.
#include "json.h"
#include "base/utf8.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static void put_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *s = (const unsigned char *)text; *s != '\0';) {
        const int length = utf8_length(s);
        if (length == 0) {
            fputs("\\ufffd", out);
        } else if (*s == '"' || *s == '\\') {
            fprintf(out, "\\%c", *s);
        } else if (*s == '\n') {
            fputs("\\n", out);
        } else if (*s < 0x20 || *s == 0x7f || *s == '<') { // so that no text can end a script of a page
            fprintf(out, "\\u%04x", *s);
        } else {
            fwrite(s, 1, (size_t)length, out);
        }
        s += length > 0 ? length : 1;
    }
    fputc('"', out);
}

static void begin_member(json *j, const char *name)
{
    fputs(j->has_member[j->depth] ? ", " : "", j->out);
    j->has_member[j->depth] = 1;
    if (name == NULL) return;
    put_text(j->out, name);
    fputs(": ", j->out);
}

static void begin_nested(json *j, const char *name, char opening, char closing)
{
    begin_member(j, name);
    fputc(opening, j->out);
    assert(j->depth + 1 < JSON_DEPTH);
    j->depth += 1;
    j->has_member[j->depth] = 0;
    j->closing[j->depth] = closing;
}

json vy_json_begin(FILE *out)
{
    fputc('{', out);
    return (json){.out = out, .closing = "}"};
}

void vy_json_end(json *j)
{
    assert(j->depth == 0);
    fputs("}\n", j->out);
}

void vy_json_object(json *j, const char *name) { begin_nested(j, name, '{', '}'); }
void vy_json_list(json *j, const char *name) { begin_nested(j, name, '[', ']'); }

void vy_json_close(json *j)
{
    assert(j->depth > 0);
    fputc(j->closing[j->depth], j->out);
    j->depth -= 1;
}

void vy_json_text(json *j, const char *name, const char *text)
{
    begin_member(j, name);
    if (text != NULL) put_text(j->out, text);
    if (text == NULL) fputs("null", j->out);
}

void vy_json_number(json *j, const char *name, double value)
{
    begin_member(j, name);
    if (!isfinite(value)) {
        fputs("null", j->out);
        return;
    }
    fprintf(j->out, "%.17g", value);
}

void vy_json_uint(json *j, const char *name, uint64_t value)
{
    begin_member(j, name);
    fprintf(j->out, "%" PRIu64, value);
}

void vy_json_bool(json *j, const char *name, int value)
{
    begin_member(j, name);
    fputs(value ? "true" : "false", j->out);
}

void vy_json_null(json *j, const char *name)
{
    begin_member(j, name);
    fputs("null", j->out);
}

void vy_json_hash(json *j, const char *name, uint64_t hash)
{
    begin_member(j, name);
    fprintf(j->out, "\"%016" PRIx64 "\"", hash);
}

static void put_diagnostics(json *j, const char *name, const vy_diagnostics *diagnostics, int warnings)
{
    vy_json_list(j, name);
    for (int i = 0; i < diagnostics->count; ++i) {
        const vy_diagnostic *d = &diagnostics->items[i];
        if (d->warning != warnings) continue;
        vy_json_object(j, NULL);
        vy_json_text(j, "file", d->file);
        vy_json_uint(j, "line", (uint64_t)d->line);
        vy_json_uint(j, "column", (uint64_t)d->column);
        vy_json_text(j, "path", d->path);
        vy_json_text(j, "kind", d->kind);
        vy_json_text(j, "text", d->text);
        vy_json_close(j);
    }
    vy_json_close(j);
}

void vy_json_diagnostics(json *j, const vy_diagnostics *diagnostics)
{
    put_diagnostics(j, "errors", diagnostics, 0);
    put_diagnostics(j, "warnings", diagnostics, 1);
}
