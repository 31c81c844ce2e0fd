// field_list.c - the names of the fields a log has. Apart from fields.c: the world's headers use the word
// command.
#include "fields.h"
#include "record/table.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void vy_fields_list(vy_log *log, uint32_t drone)
{
    log_table *table = calloc(1, sizeof *table);
    if (table == NULL) return;
    const char *last_name = "";
    size_t column = 0, last_size = 0;
    if (vy_table_open(log, drone, NULL, 0, table, NULL) == VY_OK) {
        fprintf(stderr, "fields of %s:", vy_log_name(log, drone));
        for (int i = 0; i < table->count; ++i) {
            const char *name = table->columns[i].name;
            const size_t size = table->columns[i].field_size;
            if (size == last_size && strncmp(name, last_name, size) == 0) continue;
            const int starts_line = i == 0 || column + size > 100;
            column = starts_line ? size + 2 : column + size + 1;
            fprintf(stderr, "%s%.*s", starts_line ? "\n  " : " ", (int)size, name);
            last_name = name;
            last_size = size;
        }
        fputc('\n', stderr);
    }
    vy_table_close(table);
    free(table);
}
