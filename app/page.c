// page.c - unpacks the page.
#include "page.h"
#include "command.h"
#include "message.h"
#include <stdlib.h>
#include <string.h>

int vy_page_load(const char *name, char **out)
{
    *out = NULL;
    if (vy_page_size == 0) {
        return vy_print_error(
            name, EXIT_SYSTEM,
            "this program was built without the page: its packages could not be fetched then; "
            "build it again with a network");
    }
    static const packed page = PACKED(vy_page);
    char *text;
    const int status = vy_packed_load(name, "the page", &page, &text);
    if (status != 0) return status;
    if (strstr(text, PAGE_DATA_MARK) == NULL) {
        free(text);
        return vy_print_error(name, EXIT_SYSTEM, "the page in this program has no place for data");
    }
    *out = text;
    return 0;
}
