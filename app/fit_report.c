// fit_report.c - a fit for people and programs: the table on a terminal, the JSON object.
#include "fit_report.h"
#include "json.h"

static const char *const horizon_names[VY_FIT_HORIZON_COUNT] = {"0.1", "0.25", "0.5", "1"};

static void print_errors(const char *title, double factor, const double *fitted, const double *base,
                         const double *hold, const double *constant_rate, FILE *out)
{
    if (!(fitted[0] == fitted[0])) return;
    const struct {
        const char *name;
        const double *errors;
    } rows[] = {
        {"fitted", fitted}, {"base", base}, {"hold", hold}, {"constant velocity and rate", constant_rate}};
    fprintf(out, "%s\n", title);
    for (int i = 0; i < 4; ++i) {
        fprintf(out, "  %-28s", rows[i].name);
        for (int h = 0; h < VY_FIT_HORIZON_COUNT; ++h) fprintf(out, " %9.3g", factor * rows[i].errors[h]);
        fputs("\n", out);
    }
}

void vy_fit_report_text(const vy_fit_result *r, const char *path, FILE *out)
{
    fprintf(out, "fitted on %.4g to %.4g s; 95 %% intervals\n", r->def.from, r->def.to);
    for (int i = 0; i < r->parameter_count; ++i) {
        const vy_fit_parameter *p = &r->parameters[i];
        if (p->status != VY_FIT_FOUND) continue;
        fprintf(out, "  %-20s %11.4g %-8s %11.4g to %-11.4g base %.4g%s\n", p->name, p->value, p->unit,
                p->low, p->high, p->base, p->is_relative_to_izz ? ", over inertia z" : "");
    }
    for (int i = 0; i < r->combination_count; ++i) fprintf(out, "not told: %s\n", r->combinations[i]);
    const char *separator = "no data: ";
    for (int i = 0; i < r->parameter_count; ++i) {
        if (r->parameters[i].status != VY_FIT_NO_DATA) continue;
        fprintf(out, "%s%s", separator, r->parameters[i].name);
        separator = ", ";
    }
    if (separator[0] == ',') fputs("\n", out);
    if (r->has_held_out) {
        fprintf(out, "held out, %.4g to %.4g s: root mean square errors after 0.1, 0.25, 0.5 and 1 s\n",
                r->def.to, r->duration);
        print_errors("rate, rad/s", 1.0, r->fitted.rate, r->unfitted.rate, r->hold.rate,
                     r->constant_rate.rate, out);
        print_errors("attitude, deg", 57.29577951308232, r->fitted.attitude, r->unfitted.attitude,
                     r->hold.attitude, r->constant_rate.attitude, out);
        print_errors("specific force, m/s^2", 1.0, r->fitted.accel, r->unfitted.accel, r->hold.accel,
                     r->constant_rate.accel, out);
        print_errors("velocity, m/s", 1.0, r->fitted.velocity, r->unfitted.velocity, r->hold.velocity,
                     r->constant_rate.velocity, out);
        print_errors("position, m", 1.0, r->fitted.position, r->unfitted.position, r->hold.position,
                     r->constant_rate.position, out);
    }
    fprintf(out, "%s\n%s\n", r->missing, path);
}

static void put_errors(json *j, const char *name, const vy_fit_errors *e)
{
    const struct {
        const char *name;
        const double *errors;
    } kinds[] = {{"rate", e->rate},
                 {"attitude", e->attitude},
                 {"specific_force", e->accel},
                 {"velocity", e->velocity},
                 {"position", e->position}};
    vy_json_object(j, name);
    for (int k = 0; k < 5; ++k) {
        vy_json_object(j, kinds[k].name);
        for (int h = 0; h < VY_FIT_HORIZON_COUNT; ++h)
            vy_json_number(j, horizon_names[h], kinds[k].errors[h]);
        vy_json_close(j);
    }
    vy_json_close(j);
}

void vy_fit_report_json(const vy_fit_result *r, const char *path, FILE *out)
{
    static const char *const status_words[] = {"found", "kept", "no data"};
    json j = vy_json_begin(out);
    vy_json_text(&j, "status", "completed");
    vy_json_text(&j, "vehicle", path);
    vy_json_text(&j, "base", r->base);
    vy_json_number(&j, "from_s", r->def.from);
    vy_json_number(&j, "to_s", r->def.to);
    vy_json_list(&j, "parameters");
    for (int i = 0; i < r->parameter_count; ++i) {
        const vy_fit_parameter *p = &r->parameters[i];
        vy_json_object(&j, NULL);
        vy_json_text(&j, "name", p->name);
        vy_json_text(&j, "unit", p->unit);
        vy_json_text(&j, "status", status_words[p->status]);
        vy_json_number(&j, "value", p->value);
        vy_json_number(&j, "base", p->base);
        if (p->status == VY_FIT_FOUND) {
            vy_json_number(&j, "low", p->low);
            vy_json_number(&j, "high", p->high);
            vy_json_bool(&j, "over_inertia_z", p->is_relative_to_izz);
        }
        vy_json_close(&j);
    }
    vy_json_close(&j);
    vy_json_list(&j, "not_told");
    for (int i = 0; i < r->combination_count; ++i) vy_json_text(&j, NULL, r->combinations[i]);
    vy_json_close(&j);
    if (r->has_held_out) {
        vy_json_object(&j, "held_out");
        put_errors(&j, "fitted", &r->fitted);
        put_errors(&j, "base", &r->unfitted);
        put_errors(&j, "hold", &r->hold);
        put_errors(&j, "constant", &r->constant_rate);
        vy_json_close(&j);
    }
    vy_json_text(&j, "missing", r->missing);
    vy_json_end(&j);
}
