// page.c - unpacks the page.
#include "page.h"
#include "command.h"
#include "message.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int vy_page_load(const char *name, char **out)
{
    *out = NULL;
    if (vy_page_size == 0) {
        return vy_print_error(
            name, EXIT_SYSTEM,
            "this program was built without the page: its packages could not be fetched then; "
            "build it again with a network");
    }
    char *text = malloc(vy_page_size + 1);
    if (text == NULL) return vy_print_no_memory(name);
    uLongf size = (uLongf)vy_page_size;
    if (uncompress((Bytef *)text, &size, vy_page_packed, (uLong)vy_page_packed_size) != Z_OK ||
        size != vy_page_size) {
        free(text);
        return vy_print_error(name, EXIT_SYSTEM, "the page in this program is damaged");
    }
    text[size] = '\0';
    if (strstr(text, PAGE_DATA_MARK) == NULL) {
        free(text);
        return vy_print_error(name, EXIT_SYSTEM, "the page in this program has no place for data");
    }
    *out = text;
    return 0;
}
