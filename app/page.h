// page.h - the page that volery view fills with flights. It is built from web/ and packed into the program.
#pragma once
#include "packed.h"

/// What web/page.html has where the data goes.
#define PAGE_DATA_MARK "<!-- data -->"

/// Of size 0 when the program was built without the page.
PACKED_NAMED(vy_page);

/// The page as text to free(), ended by a zero.
/// @return 0, or the exit status after a sentence
int vy_page_load(const char *name, char **out);
