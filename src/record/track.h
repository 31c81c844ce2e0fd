// track.h - the path of a drone or body over a planet, as files for maps.
#pragma once
#include "record/table.h"

/// The columns of a path. VY_NOT_FOUND when the run had no planet.
vy_status vy_track_open(vy_log *log, uint32_t body, log_table *out, vy_error *err);

/// Write it as KML or GPX.
vy_status vy_track_write(log_table *table, const vy_export_def *def, FILE *out, vy_error *err);
