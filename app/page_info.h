// page_info.h - data of a page about a run besides its records.
#pragma once
#include "json.h"
#include "page_data.h"
#include "volery/scenario.h"

/// Members of a JSON object. `path` is the log's file; `data` says what was left out of the page.
/// An exit status, 0 unless the log could not be read.
int vy_page_info(json *j, const char *path, vy_log *log, const page_data *data);
