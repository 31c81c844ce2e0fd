// packed.c - unpacks a file that is a part of the program.
#include "packed.h"
#include "command.h"
#include "message.h"
#include <stdlib.h>
#include <zlib.h>

int vy_packed_load(const char *name, const char *what, const packed *file, char **out)
{
    uLongf size = (uLongf)*file->size;
    char *text = *out = malloc(*file->size + 1);
    if (text == NULL) return vy_print_no_memory(name);
    const int zlib_status = uncompress((Bytef *)text, &size, file->bytes, (uLong)*file->bytes_size);
    if (zlib_status != Z_OK || size != *file->size) {
        free(text);
        *out = NULL;
        if (zlib_status == Z_MEM_ERROR) return vy_print_no_memory(name);
        return vy_print_error(name, EXIT_SYSTEM, "%s in this program is damaged", what);
    }
    text[size] = '\0';
    return 0;
}
