// page.h - the page that volery view fills with flights. It is built from web/ and packed into the program.
#pragma once
#include <stddef.h>

/// What web/page.html has where the data goes.
#define PAGE_DATA_MARK "<!-- data -->"

/// Packed by tools/embed.c; of size 0 when the program was built without the page.
extern const unsigned char vy_page_packed[];
extern const size_t vy_page_packed_size; ///< [bytes]
extern const size_t vy_page_size;        ///< [bytes] once unpacked

/// The page as text to free(), ended by a zero.
/// @return 0, or the exit status after a sentence
int vy_page_load(const char *name, char **out);
