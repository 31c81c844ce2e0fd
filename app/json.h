// json.h - writing JSON: objects and lists, members in order, any text made valid.
#pragma once
#include "volery/scenario.h"
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH = 16 };

/// A writer. Names are NULL inside a list.
typedef struct json {
    FILE *out;
    int depth;
    int has_member[JSON_DEPTH]; ///< a member was written at this depth
    char closing[JSON_DEPTH];   ///< what ends this depth
} json;

/// Begin an object; vy_json_end() writes its end and a newline.
json vy_json_begin(FILE *out);
void vy_json_end(json *j);

void vy_json_object(json *j, const char *name); ///< until vy_json_close()
void vy_json_list(json *j, const char *name);   ///< until vy_json_close()
void vy_json_close(json *j);

void vy_json_text(json *j, const char *name,
                  const char *text); ///< NULL is null; bytes that are no UTF-8 become U+FFFD
void vy_json_number(json *j, const char *name, double value); ///< all digits; null when not finite
void vy_json_uint(json *j, const char *name, uint64_t value);
void vy_json_bool(json *j, const char *name, int value);
void vy_json_null(json *j, const char *name);
void vy_json_hash(json *j, const char *name, uint64_t hash); ///< 16 hex digits, as text

/// The lists `errors` and `warnings`: each with file, line, column, path, kind and text.
void vy_json_diagnostics(json *j, const vy_diagnostics *diagnostics);
