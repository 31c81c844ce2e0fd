// text.c - text and bytes that grow while they are written.
#include "scenario/text.h"
#include "base/assert.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int reserve(vy_text *text, size_t extra)
{
    if (text->failed) return 0;
    const size_t needed = text->size + extra + 1;
    if (needed <= text->capacity) return 1;
    size_t capacity = text->capacity < 256 ? 256 : text->capacity;
    while (capacity < needed) capacity *= 2;
    char *data = realloc(text->data, capacity);
    if (data == NULL) {
        text->failed = 1;
        return 0;
    }
    text->data = data;
    text->capacity = capacity;
    VY_ASSERT(text->size < text->capacity);
    return 1;
}

void vy_text_add(vy_text *text, const void *bytes, size_t size)
{
    VY_ASSERT(bytes != NULL || size == 0);
    if (!reserve(text, size)) return;
    if (size > 0) memcpy(text->data + text->size, bytes, size);
    text->size += size;
    text->data[text->size] = '\0';
}

void vy_text_puts(vy_text *text, const char *string) { vy_text_add(text, string, strlen(string)); }

void vy_text_printf(vy_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (size < 0 || !reserve(text, (size_t)size)) return;
    va_start(args, format);
    vsnprintf(text->data + text->size, (size_t)size + 1, format, args);
    va_end(args);
    text->size += (size_t)size;
}

char *vy_text_take(vy_text *text)
{
    vy_text_add(text, "", 0); // an empty text is a text too
    char *data = text->data;
    if (text->failed) {
        free(data);
        data = NULL;
    }
    memset(text, 0, sizeof *text);
    return data;
}

size_t vy_character_size(const char *text, size_t available)
{
    const unsigned char *bytes = (const unsigned char *)text;
    static const struct {
        unsigned char mask, lead;
        uint32_t min; // smaller ones have a shorter form
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t size = 1; size <= 4 && size <= available; ++size) {
        if ((bytes[0] & forms[size - 1].mask) != forms[size - 1].lead) continue;
        uint32_t code = bytes[0] & (unsigned char)~forms[size - 1].mask;
        for (size_t i = 1; i < size; ++i) {
            if ((bytes[i] & 0xc0u) != 0x80u) return 0;
            code = (code << 6) | (bytes[i] & 0x3fu);
        }
        const int is_control =
            (code < 0x20 && code != '\t' && code != '\n' && code != '\r') || (code >= 0x7f && code < 0xa0);
        const int is_surrogate = code >= 0xd800 && code < 0xe000;
        return code < forms[size - 1].min || code > 0x10ffff || is_control || is_surrogate ? 0 : size;
    }
    return 0;
}

void vy_text_add_clean(vy_text *text, const char *string, size_t size, size_t maximum)
{
    size_t position = 0, clean_start = 0; // from there on good and not added yet
    while (position < size && position < maximum) {
        const unsigned char c = (unsigned char)string[position];
        const size_t character_size =
            c >= 0x20 && c < 0x7f ? 1 : vy_character_size(string + position, size - position);
        VY_ASSERT(character_size <= size - position);
        if (character_size == 0) {
            vy_text_add(text, string + clean_start, position - clean_start);
            vy_text_puts(text, "?");
            clean_start = position + 1;
        }
        position += character_size == 0 ? 1 : character_size;
    }
    vy_text_add(text, string + clean_start, position - clean_start);
    if (position < size) vy_text_puts(text, "...");
}

char *vy_text_copy(const char *string, size_t size)
{
    char *copy = malloc(size + 1);
    if (copy == NULL) return NULL;
    if (size > 0) memcpy(copy, string, size);
    copy[size] = '\0';
    return copy;
}
