// text.h - text and bytes that grow while they are written.
#pragma once
#include "base/real.h"
#include <stddef.h>

/// Start from zero. When memory is out, `failed` is set and further writes do nothing, so callers check once,
/// at the end.
typedef struct vy_text {
    char *data; // with a final '\0' once anything was written
    size_t size, capacity;
    int failed;
} vy_text;

void vy_text_add(vy_text *text, const void *bytes, size_t size);
void vy_text_puts(vy_text *text, const char *string);
void vy_text_printf(vy_text *text, const char *format, ...) VY_PRINTF(2, 3);

/// The text, to be released with free(), and `text` is empty again. NULL when memory was out.
char *vy_text_take(vy_text *text);

/// Bytes of the character at `text`, of which `available` bytes can be read; 0 when it is not UTF-8 or a
/// control character other than tab and line ends.
size_t vy_character_size(const char *text, size_t available);

/// Text of unknown origin: bad characters become '?', and it is cut after about `maximum` bytes.
void vy_text_add_clean(vy_text *text, const char *string, size_t size, size_t maximum);

/// A copy to be released with free(); NULL when memory is out.
char *vy_text_copy(const char *string, size_t size);
