// solids.c - points and heights from files, into the scenario that names them.
#include "scenario/solids.h"
#include "scenario/number.h"
#include "base/real.h"
#include "volery/hull.h"
#include "volery/mass.h"
#include "volery/mesh.h"
#include "world/solid.h"
#include <stdio.h>
#include <stdlib.h>

enum { HEIGHTS_MAX = 1 << 20 };

vy_collider_def *vy_scenario_solid(vy_scenario *s, int index)
{
    if (index < s->drone_count) return &s->drones[index].def.solid;
    index -= s->drone_count;
    if (index < s->body_count) return &s->bodies[index].def.solid;
    index -= s->body_count;
    if (index < s->obstacle_count) return &s->obstacles[index].def.solid;
    return index == s->obstacle_count ? &s->terrain.solid : NULL;
}

// The corners of a mesh's hull: points inside are not needed.
static vy_status read_mesh(const vy_source_text *text, vy_collider_def *solid, vy_error *err)
{
    vy_mesh_points mesh = {NULL, 0};
    vy_hull *hull = NULL;
    vy_status status = vy_mesh_read(text->text, text->size, solid->scale, NULL, &mesh, err);
    if (status == VY_OK) status = vy_hull_create(mesh.points, mesh.count, VY_HULL_TOLERANCE, &hull, err);
    vy_mesh_points_free(&mesh);
    if (status != VY_OK) return status;
    const size_t size = (size_t)hull->vertex_count * sizeof *hull->vertices;
    solid->points = (vy_numbers){malloc(size), hull->vertex_count, 3};
    if (solid->points.values != NULL) memcpy(solid->points.values, hull->vertices, size);
    vy_hull_destroy(hull);
    return solid->points.values != NULL ? VY_OK : VY_NO_MEMORY;
}

static vy_status fail_heights(vy_error *err, int line, int column, const char *sentence)
{
    *err = (vy_error){.status = VY_BAD_SYNTAX, .line = line, .column = column};
    snprintf(err->text, sizeof err->text, "%s", sentence);
    return VY_BAD_SYNTAX;
}

// One line of numbers separated by commas, added to `out`. The line has an end: a newline or the text's 0.
static vy_status read_heights_line(const char *text, const char *end, int line, vy_text *out, int *count,
                                   vy_error *err)
{
    *count = 0;
    for (const char *number_text = text; number_text <= end;) {
        const char *comma = memchr(number_text, ',', (size_t)(end - number_text)),
                   *number_end = comma != NULL ? comma : end;
        const char *trimmed_start = number_text, *trimmed_end = number_end;
        double value;
        while (trimmed_start < trimmed_end && (*trimmed_start == ' ' || *trimmed_start == '\t'))
            ++trimmed_start;
        while (trimmed_end > trimmed_start &&
               (trimmed_end[-1] == ' ' || trimmed_end[-1] == '\t' || trimmed_end[-1] == '\r'))
            --trimmed_end;
        if (vy_number_read(trimmed_start, (size_t)(trimmed_end - trimmed_start), "m", &value) !=
                VY_NUMBER_OK ||
            !(value >= -1e9 && value <= 1e9))
            return fail_heights(err, line, (int)(trimmed_start - text) + 1, "expected a height in m");
        vy_text_add(out, (const char *)&value, sizeof value);
        *count += 1;
        number_text = number_end + 1;
    }
    return VY_OK;
}

vy_status vy_heights_read(const vy_source_text *text, vy_collider_def *solid, vy_error *err)
{
    vy_text values = {0};
    int line = 0, rows = 0, columns = 0;
    vy_status status = VY_OK;
    const char *const text_end = text->text + text->size;
    for (const char *line_start = text->text; line_start < text_end && status == VY_OK;) {
        const char *newline = memchr(line_start, '\n', (size_t)(text_end - line_start)),
                   *end = newline != NULL ? newline : text_end;
        int count = 0, is_blank = 1;
        ++line;
        for (const char *c = line_start; c < end; ++c) is_blank &= *c == ' ' || *c == '\t' || *c == '\r';
        if (!is_blank) {
            status = read_heights_line(line_start, end, line, &values, &count, err);
            if (status == VY_OK && rows > 0 && count != columns)
                status = fail_heights(err, line, 1, "a line has another number of heights than the first");
            if (status == VY_OK && values.size > HEIGHTS_MAX * sizeof(double))
                status = fail_heights(err, line, 1, "more than 1048576 heights");
            columns = count;
            ++rows;
        }
        line_start = end + 1;
    }
    if (status == VY_OK && values.failed) status = VY_NO_MEMORY;
    if (status == VY_OK && rows == 0) status = fail_heights(err, 1, 1, "no heights");
    if (status == VY_OK)
        solid->heights = (vy_numbers){(double *)(void *)values.data, rows, columns};
    else
        free(values.data);
    return status;
}

static void load_solid(vy_reader *r, const char *scenario_path, vy_collider_def *solid)
{
    const int is_hull = solid->kind == VY_COLLIDER_HULL;
    vy_numbers *table = is_hull ? &solid->points : &solid->heights;
    if ((!is_hull && solid->kind != VY_COLLIDER_HEIGHT_FIELD) || solid->file[0] == '\0') return;
    const vy_node *file_node = vy_reader_location(r, solid->file);
    if (table->rows > 0) {
        vy_reader_refuse(r, solid->file, "give %s or file, not both", is_hull ? "points" : "heights");
        return;
    }
    vy_source_text text = {0};
    vy_error err = {0};
    vy_status status = r->load != NULL ? r->load(r->self, solid->file, scenario_path, &text) : VY_NOT_FOUND;
    if (status == VY_OK && text.size > VY_TREE_TEXT_CAP) {
        vy_reader_refuse(r, solid->file, "file: %s is larger than %u MiB", solid->file,
                         VY_TREE_TEXT_CAP >> 20);
    } else if (status == VY_OK) {
        status = is_hull ? read_mesh(&text, solid, &err) : vy_heights_read(&text, solid, &err);
        char location[32] = "";
        if (err.line > 0)
            snprintf(location, sizeof location, ":%d:%d", err.line, err.column > 0 ? err.column : 1);
        if (status != VY_OK && status != VY_NO_MEMORY)
            vy_reader_refuse(r, solid->file, "file: %s%s: %s", solid->file, location, err.text);
    } else if (status != VY_NO_MEMORY) {
        vy_report_error_of_kind(r->report, "file", file_node, "file: %s cannot be read", solid->file);
        vy_reader_mark_invalid(r, solid->file);
    }
    if (status == VY_NO_MEMORY) r->no_memory = 1;
    if (status == VY_OK) memset(solid->file, 0, sizeof solid->file);
    solid->scale = 1.0;
    free(text.name);
    free(text.text);
}

void vy_load_solids(vy_reader *reader, const char *scenario_path, vy_scenario *scenario)
{
    vy_collider_def *solid;
    for (int i = 0; (solid = vy_scenario_solid(scenario, i)) != NULL; ++i)
        load_solid(reader, scenario_path, solid);
}

// What is missing where a body has no shape to compute its mass from.
static void check_body_mass(vy_reader *r, const vy_scenario_body *body)
{
    const vy_world_body_def *def = &body->def;
    if (body->density > 0.0)
        vy_reader_refuse(r, &body->density, "density needs a shape with a volume");
    else if (def->mass == 0.0)
        vy_reader_refuse(r, body, "mass is missing: give it, or a shape and a density");
    if (!vy_reader_has_value(r, &def->inertia, sizeof def->inertia))
        vy_reader_refuse(r, body, "inertia is missing: give it, or a shape to take it from");
}

static void move_points(vy_numbers *points, vy_vec3 offset)
{
    for (int i = 0; i < points->rows; ++i) {
        points->values[3 * i] -= offset.x;
        points->values[3 * i + 1] -= offset.y;
        points->values[3 * i + 2] -= offset.z;
    }
}

static void compute_body_mass(vy_reader *r, vy_scenario_body *body)
{
    vy_world_body_def *def = &body->def;
    vy_collider_def *solid = &body->def.solid;
    const int uses_shape_inertia = !vy_reader_has_value(r, &def->inertia, sizeof def->inertia);
    if (!vy_reader_is_valid(r, body, sizeof *body) || solid->file[0] != '\0' ||
        (def->mass > 0.0 && body->density == 0.0 && !uses_shape_inertia))
        return;
    if (def->mass > 0.0 && body->density > 0.0) {
        vy_reader_refuse(r, &body->density, "give mass or density, not both");
        return;
    }
    if (solid->kind <= VY_COLLIDER_NONE) {
        check_body_mass(r, body);
        return;
    }
    if (def->mass == 0.0 && body->density == 0.0) {
        vy_reader_refuse(r, body, "mass is missing: give it, or a density");
        return;
    }
    vy_shape shape;
    solid_memory memory = {NULL, NULL};
    vy_mass_properties properties = {0};
    vy_error err;
    vy_status status = vy_solid_build(solid, NULL, &shape, &memory, &err);
    if (status == VY_OK) status = vy_shape_mass(&shape, def->mass > 0.0 ? def->mass : 1.0, &properties, &err);
    if (status == VY_OK && body->density > 0.0)
        status = vy_shape_mass(&shape, body->density * properties.volume, &properties, &err);
    vy_solid_free(&memory);
    if (status == VY_NO_MEMORY) r->no_memory = 1;
    if (status != VY_OK) {
        vy_reader_refuse(r, &solid->kind, "%s", err.text);
        return;
    }
    def->mass = properties.mass;
    body->density = 0.0; // resolved
    if (!uses_shape_inertia) return;
    def->inertia = properties.inertia;
    move_points(&solid->points, properties.centroid); // the other shapes lie about their centroids
}

void vy_compute_body_masses(vy_reader *reader, vy_scenario *scenario)
{
    const uint64_t fpu_state = fpu_enter();
    for (int i = 0; i < scenario->body_count; ++i) compute_body_mass(reader, &scenario->bodies[i]);
    fpu_leave(fpu_state);
}
