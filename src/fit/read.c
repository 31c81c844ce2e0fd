// read.c - a recorded flight from a file: a table of text, a ULog or a log of Volery.
#include "base/fail.h"
#include "base/read_file.h"
#include "fit/flight_log.h"
#include "fit/ulog.h"
#include "scenario/flight_csv.h"
#include "volery/fit.h"
#include <stdlib.h>
#include <string.h>

static const unsigned char mcap_magic[] = {0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};

vy_status vy_fit_read(const char *path, const char *mapping, const char *drone, vy_flight **out,
                      vy_error *err)
{
    FPU_SCOPE;
    char *data = NULL;
    size_t size = 0;
    vy_flight_mapping columns;
    *out = NULL;
    vy_status status = vy_read_file_or_fail(path, VY_FLIGHT_BYTES_MAX, &data, &size, err);
    if (status != VY_OK) return status;
    const int is_log = size >= sizeof mcap_magic && memcmp(data, mcap_magic, sizeof mcap_magic) == 0;
    const int is_ulog = !is_log && vy_ulog_is(data, size);
    if (size > VY_FLIGHT_BYTES_MAX) {
        status =
            vy_fail(err, VY_FULL, "%s: a recorded flight has up to %zu MiB", path, VY_FLIGHT_BYTES_MAX >> 20);
    } else if (mapping != NULL && (is_log || is_ulog)) {
        status = vy_fail(err, VY_BAD_VALUE, "a mapping is for a table of text, and this is a log of %s",
                         is_log ? "Volery" : "PX4");
    } else if (drone != NULL && !is_log) {
        status = vy_fail(err, VY_BAD_VALUE, "a drone is chosen of a log of Volery, and this is %s",
                         is_ulog ? "a log of PX4" : "a table of text");
    } else if (is_log) {
        status = vy_flight_from_log(path, drone, out, err);
    } else if (is_ulog) {
        status = vy_ulog_parse(data, size, path, out, err);
    } else {
        if (mapping != NULL)
            status = vy_flight_mapping_parse(mapping, strlen(mapping), "mapping", &columns, err);
        if (status == VY_OK)
            status = vy_flight_parse(data, size, mapping != NULL ? &columns : NULL, path, out, err);
    }
    free(data);
    return status;
}
