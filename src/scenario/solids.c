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
static vy_status read_mesh(const vy_source_text *text, vy_collider_def *s, vy_error *err)
{
    vy_mesh_points mesh = {NULL, 0};
    vy_hull *hull = NULL;
    vy_status status = vy_mesh_read(text->text, text->size, s->scale, NULL, &mesh, err);
    if (status == VY_OK) status = vy_hull_create(mesh.points, mesh.count, VY_HULL_TOLERANCE, &hull, err);
    vy_mesh_points_free(&mesh);
    if (status != VY_OK) return status;
    const size_t size = (size_t)hull->vertex_count * sizeof *hull->vertices;
    s->points = (vy_numbers){malloc(size), hull->vertex_count, 3};
    if (s->points.values != NULL) memcpy(s->points.values, hull->vertices, size);
    vy_hull_destroy(hull);
    return s->points.values != NULL ? VY_OK : VY_NO_MEMORY;
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
    for (const char *at = text; at <= end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma != NULL ? comma : end;
        const char *first = at, *last = stop;
        double value;
        while (first < last && (*first == ' ' || *first == '\t')) ++first;
        while (last > first && (last[-1] == ' ' || last[-1] == '\t' || last[-1] == '\r')) --last;
        if (vy_number_read(first, (size_t)(last - first), "m", &value) != VY_NUMBER_OK ||
            !(value >= -1e9 && value <= 1e9))
            return fail_heights(err, line, (int)(first - text) + 1, "expected a height in m");
        vy_text_add(out, (const char *)&value, sizeof value);
        *count += 1;
        at = stop + 1;
    }
    return VY_OK;
}

vy_status vy_heights_read(const vy_source_text *text, vy_collider_def *solid, vy_error *err)
{
    vy_text values = {0};
    int line = 0, rows = 0, columns = 0;
    vy_status status = VY_OK;
    const char *const last = text->text + text->size;
    for (const char *at = text->text; at < last && status == VY_OK;) {
        const char *newline = memchr(at, '\n', (size_t)(last - at)), *end = newline != NULL ? newline : last;
        int count = 0, blank = 1;
        ++line;
        for (const char *c = at; c < end; ++c) blank &= *c == ' ' || *c == '\t' || *c == '\r';
        if (!blank) {
            status = read_heights_line(at, end, line, &values, &count, err);
            if (status == VY_OK && rows > 0 && count != columns)
                status = fail_heights(err, line, 1, "a line has another number of heights than the first");
            if (status == VY_OK && values.size > HEIGHTS_MAX * sizeof(double))
                status = fail_heights(err, line, 1, "more than 1048576 heights");
            columns = count;
            ++rows;
        }
        at = end + 1;
    }
    if (status == VY_OK && values.failed) status = VY_NO_MEMORY;
    if (status == VY_OK && rows == 0) status = fail_heights(err, 1, 1, "no heights");
    if (status == VY_OK)
        solid->heights = (vy_numbers){(double *)(void *)values.data, rows, columns};
    else
        free(values.data);
    return status;
}

static void load_solid(vy_reader *r, const char *from, vy_collider_def *s)
{
    const int hull = s->kind == VY_COLLIDER_HULL;
    vy_numbers *table = hull ? &s->points : &s->heights;
    if ((!hull && s->kind != VY_COLLIDER_HEIGHT_FIELD) || s->file[0] == '\0') return;
    const vy_node *place = vy_reader_location(r, s->file);
    if (table->rows > 0) {
        vy_reader_refuse(r, s->file, "give %s or file, not both", hull ? "points" : "heights");
        return;
    }
    vy_source_text text = {0};
    vy_error err = {0};
    vy_status status = r->load != NULL ? r->load(r->self, s->file, from, &text) : VY_NOT_FOUND;
    if (status == VY_OK && text.size > VY_TREE_TEXT_CAP) {
        vy_reader_refuse(r, s->file, "file: %s is larger than %u MiB", s->file, VY_TREE_TEXT_CAP >> 20);
    } else if (status == VY_OK) {
        status = hull ? read_mesh(&text, s, &err) : vy_heights_read(&text, s, &err);
        char where[32] = "";
        if (err.line > 0) snprintf(where, sizeof where, ":%d:%d", err.line, err.column > 0 ? err.column : 1);
        if (status != VY_OK && status != VY_NO_MEMORY)
            vy_reader_refuse(r, s->file, "file: %s%s: %s", s->file, where, err.text);
    } else if (status != VY_NO_MEMORY) {
        vy_report_error_of_kind(r->report, "file", place, "file: %s cannot be read", s->file);
        vy_reader_mark_invalid(r, s->file);
    }
    if (status == VY_NO_MEMORY) r->no_memory = 1;
    if (status == VY_OK) memset(s->file, 0, sizeof s->file);
    s->scale = 1.0;
    free(text.name);
    free(text.text);
}

void vy_load_solids(vy_reader *reader, const char *from, vy_scenario *scenario)
{
    vy_collider_def *s;
    for (int i = 0; (s = vy_scenario_solid(scenario, i)) != NULL; ++i) load_solid(reader, from, s);
}

// What is missing where a body has no shape to compute its mass from.
static void check_body_mass(vy_reader *r, const vy_scenario_body *body)
{
    const vy_world_body_def *v = &body->def;
    if (body->density > 0.0)
        vy_reader_refuse(r, &body->density, "density needs a shape with a volume");
    else if (v->mass == 0.0)
        vy_reader_refuse(r, body, "mass is missing: give it, or a shape and a density");
    if (!vy_reader_has_value(r, &v->inertia, sizeof v->inertia))
        vy_reader_refuse(r, body, "inertia is missing: give it, or a shape to take it from");
}

static void move_points(vy_numbers *points, vy_vec3 by)
{
    for (int i = 0; i < points->rows; ++i) {
        points->values[3 * i] -= by.x;
        points->values[3 * i + 1] -= by.y;
        points->values[3 * i + 2] -= by.z;
    }
}

static void compute_body_mass(vy_reader *r, vy_scenario_body *body)
{
    vy_world_body_def *v = &body->def;
    vy_collider_def *solid = &body->def.solid;
    const int uses_shape_inertia = !vy_reader_has_value(r, &v->inertia, sizeof v->inertia);
    if (!vy_reader_is_valid(r, body, sizeof *body) || solid->file[0] != '\0' ||
        (v->mass > 0.0 && body->density == 0.0 && !uses_shape_inertia))
        return;
    if (v->mass > 0.0 && body->density > 0.0) {
        vy_reader_refuse(r, &body->density, "give mass or density, not both");
        return;
    }
    if (solid->kind <= VY_COLLIDER_NONE) {
        check_body_mass(r, body);
        return;
    }
    if (v->mass == 0.0 && body->density == 0.0) {
        vy_reader_refuse(r, body, "mass is missing: give it, or a density");
        return;
    }
    vy_shape shape;
    solid_memory memory = {NULL, NULL};
    vy_mass_properties m = {0};
    vy_error err;
    vy_status status = vy_solid_build(solid, NULL, &shape, &memory, &err);
    if (status == VY_OK) status = vy_shape_mass(&shape, v->mass > 0.0 ? v->mass : 1.0, &m, &err);
    if (status == VY_OK && body->density > 0.0)
        status = vy_shape_mass(&shape, body->density * m.volume, &m, &err);
    vy_solid_free(&memory);
    if (status == VY_NO_MEMORY) r->no_memory = 1;
    if (status != VY_OK) {
        vy_reader_refuse(r, &solid->kind, "%s", err.text);
        return;
    }
    v->mass = m.mass;
    body->density = 0.0; // resolved
    if (!uses_shape_inertia) return;
    v->inertia = m.inertia;
    move_points(&solid->points, m.centroid); // the other shapes lie about their centroids
}

void vy_compute_body_masses(vy_reader *reader, vy_scenario *scenario)
{
    const uint64_t found = fpu_enter();
    for (int i = 0; i < scenario->body_count; ++i) compute_body_mass(reader, &scenario->bodies[i]);
    fpu_leave(found);
}
