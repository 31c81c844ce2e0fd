// page_data.h - the records of a log that a page shows, as a small MCAP file packed by gzip.
#pragma once
#include "volery/record.h"
#include <stddef.h>

/// What went into a page. Release with vy_page_data_destroy().
typedef struct page_data {
    unsigned char *bytes;    ///< an MCAP file, gzip
    size_t size;             ///< [bytes]
    uint64_t truth_stride;   ///< every n-th record of where drones are is in it; 1: all of them
    uint64_t other_stride;   ///< the same for all other streams
    uint64_t records, total; ///< records in it, and in the log
    uint64_t events_dropped; ///< events left out, beyond the first EVENT_CAP
} page_data;

/// Copy the streams of drones and the events, every record unchanged. When they would take more than `limit`
/// bytes of a page (in base64), whole records are left out at an even stride.
vy_status vy_page_data_make(vy_log *log, size_t limit, page_data *out, vy_error *err);
void vy_page_data_destroy(page_data *data);
