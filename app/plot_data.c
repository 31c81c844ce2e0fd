// plot_data.c - fills a figure with the values of a log.
#include "plot_data.h"
#include "base/fail.h"
#include "fields.h"
#include "record/table.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 64 };
static const double degrees_per_radian = 57.29577951308232; // per radian

// The default panels, one each.
static const char *const default_panels[] = {"position", "error", "angles", "control.motors"};

// Panels that are derived, and what they need.
static const struct {
    const char *name, *title, *unit;
    const char *needed_fields[2];
} derived[] = {
    {"error", "position error", "m", {"body.position", "reference.position"}},
    {"angles", "attitude", "deg", {"body.attitude", NULL}},
    {"position", "position", "m", {"body.position", "reference.position"}},
};
enum { DERIVED_NONE = -1, DERIVED_ERROR, DERIVED_ANGLES, DERIVED_POSITION, DERIVED_COUNT };

// One requested panel.
typedef struct panel_request {
    fields names;
    int kind; // of the derived ones, or DERIVED_NONE
} panel_request;

typedef struct plot {
    figure *figure;
    panel_request requests[FIGURE_PANELS];
    log_table table;
    const char *fields[NAMES_MAX]; // fields to read
    int needed_count;
} plot;

static int kind_of(const fields *names)
{
    for (int k = 0; k < DERIVED_COUNT; ++k) {
        if (names->count == 1 && strcmp(names->items[0], derived[k].name) == 0) return k;
    }
    return DERIVED_NONE;
}

static void need_field(plot *p, const char *name)
{
    for (int i = 0; i < p->needed_count; ++i) {
        if (strcmp(p->fields[i], name) == 0) return;
    }
    if (p->needed_count < NAMES_MAX) p->fields[p->needed_count++] = name;
}

static vy_status add_request(plot *p, const char *list, vy_error *err)
{
    if (p->figure->panel_count == FIGURE_PANELS)
        return vy_fail(err, VY_FULL, "at most %d panels fit a figure", FIGURE_PANELS);
    panel_request *request = &p->requests[p->figure->panel_count++];
    if (vy_parse_fields("plot", list, &request->names) != 0)
        return vy_fail(err, VY_NO_MEMORY, "out of memory");
    request->kind = kind_of(&request->names);
    for (int i = 0; i < request->names.count && request->kind == DERIVED_NONE; ++i)
        need_field(p, request->names.items[i]);
    for (int i = 0; i < 2 && request->kind != DERIVED_NONE; ++i) {
        if (derived[request->kind].needed_fields[i] != NULL)
            need_field(p, derived[request->kind].needed_fields[i]);
    }
    return VY_OK;
}

static vy_status has_field(vy_log *log, uint32_t drone, const char *name, plot *p, int *is_in_log,
                           vy_error *err)
{
    const vy_status status = vy_table_open(log, drone, &name, 1, &p->table, err);
    vy_table_close(&p->table);
    *is_in_log = status == VY_OK;
    return status == VY_NOT_FOUND ? VY_OK : status;
}

// Default panels that the log cannot fill are left out: without references there is no error to show, and a
// body has no motors.
static vy_status add_default_panels(vy_log *log, uint32_t drone, plot *p, vy_error *err)
{
    int has_references = 0, has_motors = 0;
    vy_status status = has_field(log, drone, "reference.position", p, &has_references, err);
    if (status == VY_OK) status = has_field(log, drone, "control.motors", p, &has_motors, err);
    for (size_t i = 0; i < sizeof default_panels / sizeof default_panels[0] && status == VY_OK; ++i) {
        if (!has_references && strcmp(default_panels[i], "error") == 0) continue;
        if (!has_motors && strcmp(default_panels[i], "control.motors") == 0) continue;
        status = add_request(p, !has_references && i == 0 ? "body.position" : default_panels[i], err);
    }
    return status;
}

// Does column `name` belong to the field: is it the field itself, or one of its components?
static const char *component_of(const char *name, const char *field)
{
    const size_t size = strlen(field);
    if (strncmp(name, field, size) != 0) return NULL;
    return name[size] == '\0' || name[size] == '.' || name[size] == '[' ? name + size : NULL;
}

static figure_line *add_line(figure_panel *panel, const char *label, int color, line_dash dash)
{
    if (panel->line_count == FIGURE_LINES) return NULL;
    figure_line *line = &panel->lines[panel->line_count++];
    snprintf(line->label, sizeof line->label, "%s", label);
    line->color = color;
    line->dash = dash;
    return line;
}

// Lines of a panel of plain fields, in the order in which add_fields() fills them.
static void plan_fields(const plot *p, const panel_request *request, figure_panel *panel)
{
    int mixes_units = 0;
    for (int i = 0; i < request->names.count; ++i) {
        int component_index = 0;
        for (int c = 0; c < p->table.count; ++c) {
            const table_column *column = &p->table.columns[c];
            const char *component = component_of(column->name, request->names.items[i]);
            if (component == NULL) continue;
            char label[64];
            const char *name = request->names.count == 1 && component[0] != '\0'
                                   ? component + (component[0] == '.')
                                   : column->name;
            snprintf(label, sizeof label, "%s", name);
            const int is_scalar = component[0] == '\0';
            if (add_line(panel, label, is_scalar ? i : component_index++,
                         is_scalar ? DASH_SOLID : (line_dash)(i % 3)) == NULL)
                return;
            mixes_units |= panel->line_count > 1 && strcmp(panel->unit, column->unit) != 0;
            snprintf(panel->unit, sizeof panel->unit, "%s", column->unit);
        }
        const size_t used = strlen(panel->title);
        snprintf(panel->title + used, sizeof panel->title - used, "%s%s", i > 0 ? ", " : "",
                 request->names.items[i]);
    }
    if (mixes_units) snprintf(panel->unit, sizeof panel->unit, "SI");
}

static void plan_panel(const plot *p, const panel_request *request, figure_panel *panel)
{
    if (request->kind == DERIVED_NONE) {
        plan_fields(p, request, panel);
        return;
    }
    static const char *const labels[DERIVED_COUNT][6] = {
        {"x", "y", "z", "length", NULL, NULL},
        {"roll", "pitch", "heading", NULL, NULL, NULL},
        {"x", "y", "z", "desired x", "desired y", "desired z"},
    };
    snprintf(panel->title, sizeof panel->title, "%s", derived[request->kind].title);
    snprintf(panel->unit, sizeof panel->unit, "%s", derived[request->kind].unit);
    for (int i = 0; i < 6 && labels[request->kind][i] != NULL; ++i) {
        const int color = request->kind == DERIVED_ERROR && i == 3 ? 6 : i % 3;
        add_line(panel, labels[request->kind][i], color,
                 request->kind == DERIVED_POSITION && i >= 3 ? DASH_DASHED : DASH_SOLID);
    }
}

static void add_point(figure_line *line, double time, double value)
{
    line->time[line->count] = time;
    line->values[line->count++] = value;
}

static int count_row(void *self, double time, const double *row)
{
    (void)time;
    (void)row;
    *(size_t *)self += 1;
    return 0;
}

// Values of all columns of `field`. Returns 1 when all of them were recorded at this time.
static int column_values(const plot *p, const double *row, const char *field, double *out, int count)
{
    int n = 0;
    for (int c = 0; c < p->table.count && n < count; ++c) {
        if (component_of(p->table.columns[c].name, field) == NULL) continue;
        if (!vy_table_is_current(&p->table, c)) return 0;
        out[n++] = row[c];
    }
    return n == count;
}

static void add_error(const plot *p, double time, const double *row, figure_panel *panel)
{
    double actual[3], desired[3], square_sum = 0.0;
    if (!column_values(p, row, "body.position", actual, 3) ||
        !column_values(p, row, "reference.position", desired, 3))
        return;
    for (int k = 0; k < 3; ++k) {
        add_point(&panel->lines[k], time, actual[k] - desired[k]);
        square_sum += (actual[k] - desired[k]) * (actual[k] - desired[k]);
    }
    add_point(&panel->lines[3], time, sqrt(square_sum));
}

static void add_position(const plot *p, double time, const double *row, figure_panel *panel)
{
    double actual[3];
    for (int k = 0; k < 3 && column_values(p, row, "body.position", actual, 3); ++k)
        add_point(&panel->lines[k], time, actual[k]);
    for (int k = 0; k < 3 && column_values(p, row, "reference.position", actual, 3); ++k)
        add_point(&panel->lines[3 + k], time, actual[k]);
}

// As pilots read them; world x is east, y is north.
static void add_angles(const plot *p, double time, const double *row, figure_panel *panel)
{
    double q[4];
    if (!column_values(p, row, "body.attitude", q, 4)) return;
    const double nose_down = 2.0 * (q[0] * q[2] - q[3] * q[1]);
    const double angles[3] = {
        atan2(2.0 * (q[0] * q[1] + q[2] * q[3]), 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2])) *
            degrees_per_radian,
        -asin(fmin(fmax(nose_down, -1.0), 1.0)) * degrees_per_radian,
        90.0 - atan2(2.0 * (q[0] * q[3] + q[1] * q[2]), 1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3])) *
                   degrees_per_radian,
    };
    for (int k = 0; k < 3; ++k) {
        figure_line *line = &panel->lines[k];
        const double angle_before = line->count > 0 ? line->values[line->count - 1] : angles[k];
        add_point(line, time,
                  angles[k] - 360.0 * floor((angles[k] - angle_before) / 360.0 + 0.5)); // no jumps
    }
}

static void add_fields(const plot *p, const panel_request *request, double time, const double *row,
                       figure_panel *panel)
{
    int line_index = 0;
    for (int i = 0; i < request->names.count; ++i) {
        for (int c = 0; c < p->table.count && line_index < panel->line_count; ++c) {
            if (component_of(p->table.columns[c].name, request->names.items[i]) == NULL) continue;
            if (vy_table_is_current(&p->table, c)) add_point(&panel->lines[line_index], time, row[c]);
            line_index += 1;
        }
    }
}

static int on_row(void *self, double time, const double *row)
{
    plot *p = self;
    for (int i = 0; i < p->figure->panel_count; ++i) {
        figure_panel *panel = &p->figure->panels[i];
        if (p->requests[i].kind == DERIVED_NONE) add_fields(p, &p->requests[i], time, row, panel);
        if (p->requests[i].kind == DERIVED_ERROR) add_error(p, time, row, panel);
        if (p->requests[i].kind == DERIVED_ANGLES) add_angles(p, time, row, panel);
        if (p->requests[i].kind == DERIVED_POSITION) add_position(p, time, row, panel);
    }
    return 0;
}

static vy_status read_values(plot *p, vy_error *err)
{
    size_t rows = 0;
    vy_status status = vy_table_rows(&p->table, 0.0, count_row, &rows, err);
    for (int i = 0; i < p->figure->panel_count && status == VY_OK; ++i) {
        figure_panel *panel = &p->figure->panels[i];
        plan_panel(p, &p->requests[i], panel);
        for (int k = 0; k < panel->line_count; ++k) {
            panel->lines[k].time = calloc(rows + 1, sizeof(double));
            panel->lines[k].values = calloc(rows + 1, sizeof(double));
            if (panel->lines[k].time == NULL || panel->lines[k].values == NULL)
                return vy_fail(err, VY_NO_MEMORY, "out of memory");
        }
    }
    return status == VY_OK ? vy_table_rows(&p->table, 0.0, on_row, p, err) : status;
}

vy_status vy_plot_fill(vy_log *log, uint32_t drone, const char *const *panels, int count, figure *out,
                       vy_error *err)
{
    plot *p = calloc(1, sizeof *p);
    if (p == NULL) return vy_fail(err, VY_NO_MEMORY, "out of memory");
    p->figure = out;
    vy_status status = VY_OK;
    for (int i = 0; i < count && status == VY_OK; ++i) status = add_request(p, panels[i], err);
    if (count == 0) status = add_default_panels(log, drone, p, err);
    if (status == VY_OK) status = vy_table_open(log, drone, p->fields, p->needed_count, &p->table, err);
    if (status == VY_OK) status = read_values(p, err);
    vy_table_close(&p->table);
    for (int i = 0; i < FIGURE_PANELS; ++i) vy_fields_destroy(&p->requests[i].names);
    free(p);
    return status;
}

void vy_plot_release(figure *f)
{
    for (int i = 0; i < f->panel_count; ++i) {
        for (int k = 0; k < f->panels[i].line_count; ++k) {
            free(f->panels[i].lines[k].time);
            free(f->panels[i].lines[k].values);
        }
    }
    f->panel_count = 0;
}
