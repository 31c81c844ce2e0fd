// watch_follow.c - a log that another program writes: what is new in it, for viewers.
#include "record/log.h"
#include "watch_impl.h"

vy_status vy_watch_read_log(watch *w, const char *path, watch_cursor *cursor, vy_log_info *info,
                            vy_error *err)
{
    vy_log *log = NULL;
    vy_mcap_cursor *messages = NULL;
    vy_mcap_message m;
    const vy_mcap_query query = {.start_time = cursor->time, .by_time = true};
    vy_status status = vy_log_open(path, &log, err);
    if (status == VY_OK) status = vy_mcap_cursor_open(log->reader, &query, &messages, err);
    uint64_t same_time_count = 0; // messages of that time come in the file's order: those taken first
    while (status == VY_OK && vy_mcap_cursor_next(messages, &m)) {
        if (m.log_time == cursor->time && same_time_count++ < cursor->count) continue;
        cursor->count = m.log_time == cursor->time ? cursor->count + 1 : 1;
        cursor->time = m.log_time;
        vy_watch_message(w, m.channel, m.log_time, m.data, m.size);
    }
    if (status == VY_OK) {
        status = vy_mcap_cursor_status(messages, err);
        *info = vy_log_get_info(log);
    }
    vy_mcap_cursor_close(messages);
    vy_log_close(log);
    return status;
}
