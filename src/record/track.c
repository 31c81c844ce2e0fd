// track.c - a path over a planet as KML 2.2 (OGC 07-147r2) or GPX 1.1 (topografix.com/GPX/1/1).
//
// Heights are those above the ellipsoid; what programs call sea level differs from it by up to 100 m.
#include "record/track.h"
#include "base/fail.h"
#include "base/real.h"
#include <inttypes.h>
#include <math.h>

#define DEGREES_PER_RADIAN 57.295779513082323

enum { LATITUDE, LONGITUDE, ALTITUDE, COLUMN_COUNT };

vy_status vy_track_open(vy_log *log, uint32_t body, log_table *out, vy_error *err)
{
    static const char *const fields[COLUMN_COUNT] = {"geodetic.latitude", "geodetic.longitude",
                                                     "geodetic.altitude"};
    const vy_status status = vy_table_open(log, body, fields, COLUMN_COUNT, out, err);
    if (status != VY_NOT_FOUND || body >= log->info.body_count) return status;
    return vy_fail(err, VY_NOT_FOUND, "the run had no planet: there is no path over one");
}

typedef struct track_writer {
    FILE *out;
    vy_export_format format;
    int64_t start_time; // [ms] since 1970; of a path with times
    int has_times;
} track_writer;

// Days since 1970 to year, month, day (H. Hinnant, chrono-compatible low-level date algorithms).
static void civil_from_days(int64_t days, int64_t *year, int *month, int *day)
{
    const int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, doe = z - era * 146097;
    const int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    const int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    *day = (int)(doy - (153 * mp + 2) / 5 + 1);
    *month = (int)(mp < 10 ? mp + 3 : mp - 9);
    *year = yoe + era * 400 + (*month <= 2);
}

// Days from 1970 to the first of January.
static int64_t days_before_year(int64_t year)
{
    const int64_t y = year - 1; // the first of January, from the rule of leap years
    return 365 * (year - 1970) + (y / 4 - y / 100 + y / 400) - (1969 / 4 - 1969 / 100 + 1969 / 400);
}

// [ms] since 1970 of a decimal year.
static int64_t unix_ms_of(double date)
{
    const int64_t year = (int64_t)date, first_day = days_before_year(year),
                  day_count = days_before_year(year + 1) - first_day;
    return first_day * 86400000 + (int64_t)((date - (double)year) * (double)day_count * 86400.0) * 1000;
}

static void write_time(const track_writer *t, double time)
{
    const int64_t time_ms = t->start_time + (int64_t)(time * 1e3 + 0.5), day_ms = 86400000;
    int64_t year;
    int month, day;
    civil_from_days(time_ms / day_ms, &year, &month, &day);
    const int64_t ms_of_day = time_ms % day_ms;
    fprintf(t->out,
            "<time>%04" PRId64 "-%02d-%02dT%02" PRId64 ":%02" PRId64 ":%02" PRId64 ".%03" PRId64 "Z</time>",
            year, month, day, ms_of_day / 3600000, ms_of_day / 60000 % 60, ms_of_day / 1000 % 60,
            ms_of_day % 1000);
}

static int write_point(void *self, double time, const double *row)
{
    const track_writer *t = self;
    const double latitude = row[LATITUDE] * DEGREES_PER_RADIAN,
                 longitude = row[LONGITUDE] * DEGREES_PER_RADIAN;
    if (isnan(latitude)) return 0;
    if (t->format == VY_EXPORT_KML) {
        fprintf(t->out, "          %.9f,%.9f,%.3f\n", longitude, latitude, row[ALTITUDE]);
    } else {
        // A longitude of GPX is below 180 degrees.
        fprintf(t->out, "      <trkpt lat=\"%.9f\" lon=\"%.9f\"><ele>%.3f</ele>", latitude,
                longitude >= 180.0 - 5e-10 ? -180.0 : longitude, row[ALTITUDE]);
        if (t->has_times) write_time(t, time);
        fputs("</trkpt>\n", t->out);
    }
    return ferror(t->out);
}

vy_status vy_track_write(log_table *table, const vy_export_def *def, FILE *out, vy_error *err)
{
    track_writer t = {out, def->format, 0, def->date >= 1970.0 && def->date < 9999.0};
    if (t.has_times) t.start_time = unix_ms_of(def->date);
    const char *name = table->log->names[table->drone]; // letters, digits, - and _: nothing to escape
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
    if (def->format == VY_EXPORT_KML) {
        fprintf(out,
                "<kml xmlns=\"http://www.opengis.net/kml/2.2\">\n  <Document>\n    <name>%s</name>\n"
                "    <Placemark>\n      <name>%s</name>\n      <LineString>\n"
                "        <altitudeMode>absolute</altitudeMode>\n        <coordinates>\n",
                name, name);
    } else {
        fprintf(out,
                "<gpx xmlns=\"http://www.topografix.com/GPX/1/1\" version=\"1.1\" creator=\"Volery\">\n"
                "  <trk>\n    <name>%s</name>\n    <trkseg>\n",
                name);
    }
    const vy_status status = vy_table_rows(table, def->rate, write_point, &t, err);
    fputs(def->format == VY_EXPORT_KML
              ? "        </coordinates>\n      </LineString>\n    </Placemark>\n  </Document>\n</kml>\n"
              : "    </trkseg>\n  </trk>\n</gpx>\n",
          out);
    return status == VY_OK && ferror(out) ? vy_fail(err, VY_IO, "the path could not be written") : status;
}
