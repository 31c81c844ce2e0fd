// fields.c - drones and fields by the names a user gives.
#include "fields.h"
#include "command.h"
#include "message.h"
#include <stdlib.h>
#include <string.h>

int vy_parse_drone(const arguments *args, const vy_log *log, uint32_t *index)
{
    const char *command_name = args->command->name, *name = vy_option_value(args, "drone");
    const uint32_t count = vy_log_get_info(log).body_count;
    char names[400] = "";
    size_t used = 0;
    uint32_t listed = 0; // as many as there is room for
    for (uint32_t i = 0; i < count; ++i) {
        const char *body_name = vy_log_name(log, i);
        if (name != NULL && strcmp(body_name, name) == 0) {
            *index = i;
            return 0;
        }
        if (listed < i || used + strlen(body_name) + sizeof ", and 4294967295 more" > sizeof names) continue;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", body_name);
        listed += 1;
    }
    if (listed < count)
        snprintf(names + used, sizeof names - used, " and %u more", (unsigned)(count - listed));
    *index = 0;
    if (name == NULL && count == 1) return 0;
    if (name == NULL)
        return vy_print_error(command_name, EXIT_USAGE, "which drone or body? Give --drone with one of: %s",
                              names);
    return vy_print_error(command_name, EXIT_USAGE, "the log holds no drone or body %s; it holds: %s", name,
                          names);
}

int vy_parse_fields(const char *name, const char *list, fields *out)
{
    *out = (fields){.count = 0};
    if (list == NULL) return 0;
    out->text = strdup(list);
    out->items = calloc(strlen(list) + 1, sizeof *out->items);
    if (out->text == NULL || out->items == NULL) {
        vy_fields_destroy(out);
        return vy_print_no_memory(name);
    }
    for (char *item = out->text; item != NULL;) {
        char *comma = strchr(item, ',');
        if (comma != NULL) *comma++ = '\0';
        out->items[out->count++] = item;
        item = comma;
    }
    return 0;
}

void vy_fields_destroy(fields *f)
{
    free(f->items);
    free(f->text);
    *f = (fields){.count = 0};
}
