// base64.h - bytes as text.
#pragma once
#include <stddef.h>
#include <stdio.h>

/// The next up to three of `bytes_left` bytes as four digits.
void vy_base64_group(const unsigned char *bytes, size_t bytes_left, char digits[4]);

void vy_put_base64(FILE *out, const void *bytes, size_t size);
