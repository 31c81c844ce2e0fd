// event_words.h - an event of a log as one line of text.
#pragma once
#include "record/protobuf.h"
#include "record/streams.h"
#include <stdio.h>

enum { EVENT_WORDS_CAP = 512 };

/// "KIND DRONE: TEXT" of a message of /events; empty where it is none.
static inline void event_words(const void *data, size_t size, char out[EVENT_WORDS_CAP])
{
    vy_pb_reader reader = vy_pb_reader_on(data, size);
    vy_pb_item item, words[3] = {{0}};
    while (vy_pb_next(&reader, &item)) {
        if (item.number >= EVENT_KIND && item.number <= EVENT_TEXT) words[item.number - EVENT_KIND] = item;
    }
    out[0] = '\0';
    if (reader.bad) return;
    snprintf(out, EVENT_WORDS_CAP, "%.*s %.*s: %.*s", (int)words[0].size, (const char *)words[0].data,
             (int)words[1].size, (const char *)words[1].data, (int)words[2].size,
             (const char *)words[2].data);
}
