// plot_data.h - signals of a log as the lines of a figure.
#pragma once
#include "figure.h"
#include "volery/record.h"

/// Add a panel for each of `panels`: a list of fields separated by commas (docs/log.md has their names), or
/// "error", or "angles". With a count of 0 the usual ones. Release with vy_plot_release(), also after a
/// failure.
vy_status vy_plot_fill(vy_log *log, uint32_t drone, const char *const *panels, int count, figure *out,
                       vy_error *err);
void vy_plot_release(figure *f);
