// fit_page.c - the page of a fit: parameters with their intervals, errors, and plots of the held-out part.
#include "figure.h"
#include "files.h"
#include "fit_report.h"
#include "message.h"
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 4000, CHANNELS = 6 };

#define PLOT_DURATION 6.0 // [s] of the flight in the plots

static const char page_head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<title>volery fit</title>\n"
    "<style>body{font:15px system-ui,sans-serif;margin:2em auto;max-width:60em;padding:0 1em}\n"
    "h1{overflow-wrap:anywhere}\n"
    "table{border-collapse:collapse;margin:1em 0;display:block;overflow-x:auto;white-space:nowrap}\n"
    "td,th{padding:.2em .8em;border-bottom:1px solid #ccc;text-align:right}\n"
    "td:first-child,th:first-child{text-align:left}svg{max-width:100%;height:auto}</style></head><body>\n";

static void put_text(FILE *out, const char *text)
{
    for (; *text != '\0'; ++text) {
        switch (*text) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc(*text, out);
        }
    }
}

static void put_parameters(const vy_fit_result *r, FILE *out)
{
    fputs("<h2>Found</h2>\n<table><tr><th>parameter</th><th>value</th><th>95 % "
          "interval</th><th>base</th><th>unit</th>"
          "</tr>\n",
          out);
    for (int i = 0; i < r->parameter_count; ++i) {
        const vy_fit_parameter *p = &r->parameters[i];
        if (p->status != VY_FIT_FOUND) continue;
        fputs("<tr><td>", out);
        put_text(out, p->name);
        if (p->is_relative_to_izz) fputs(", for this inertia z", out);
        fprintf(out, "</td><td>%.4g</td><td>%.4g to %.4g</td><td>%.4g</td><td>%s</td></tr>\n", p->value,
                p->low, p->high, p->base, p->unit);
    }
    fputs("</table>\n<h2>Not told</h2>\n<ul>\n", out);
    for (int i = 0; i < r->combination_count; ++i) {
        fputs("<li>", out);
        put_text(out, r->combinations[i]);
        fputs("</li>\n", out);
    }
    for (int i = 0; i < r->parameter_count; ++i) {
        if (r->parameters[i].status != VY_FIT_NO_DATA) continue;
        fputs("<li>nothing was recorded that could tell ", out);
        put_text(out, r->parameters[i].name);
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
}

static void put_errors(const vy_fit_result *r, FILE *out)
{
    static const char *const titles[] = {"rate, rad/s", "attitude, deg", "specific force, m/s^2",
                                         "velocity, m/s", "position, m"};
    static const char *const names[] = {"fitted", "base", "hold", "constant velocity and rate"};
    const vy_fit_errors *const predictors[] = {&r->fitted, &r->unfitted, &r->hold, &r->constant_rate};
    if (!r->has_held_out) return;
    fprintf(out, "<h2>Held out: %.4g to %.4g s</h2>\n<p>Root mean square errors of %d predictions.</p>\n",
            r->def.to, r->duration, r->fitted.count);
    for (int k = 0; k < 5; ++k) {
        const double *const first_errors[] = {predictors[0]->rate, predictors[0]->attitude,
                                              predictors[0]->accel, predictors[0]->velocity,
                                              predictors[0]->position};
        if (!(first_errors[k][0] == first_errors[k][0])) continue;
        fprintf(out, "<table><tr><th>%s</th>", titles[k]);
        for (int h = 0; h < VY_FIT_HORIZON_COUNT; ++h) fprintf(out, "<th>%g s</th>", vy_fit_horizons[h]);
        fputs("</tr>\n", out);
        for (int i = 0; i < 4; ++i) {
            const double *const predictor_errors[] = {predictors[i]->rate, predictors[i]->attitude,
                                                      predictors[i]->accel, predictors[i]->velocity,
                                                      predictors[i]->position};
            fprintf(out, "<tr><td>%s</td>", names[i]);
            for (int h = 0; h < VY_FIT_HORIZON_COUNT; ++h)
                fprintf(out, "<td>%.3g</td>", (k == 1 ? 57.29577951308232 : 1.0) * predictor_errors[k][h]);
            fputs("</tr>\n", out);
        }
        fputs("</table>\n", out);
    }
}

static void put_residuals(const vy_fit_result *r, FILE *out)
{
    fputs("<h2>What is left</h2>\n<p>", out);
    put_text(out, r->missing);
    fputs(".</p>\n<table><tr><th>channel</th><th>error</th><th>there to predict</th><th>unit</th></tr>\n",
          out);
    for (int c = 0; c < VY_FIT_CHANNEL_COUNT; ++c) {
        const vy_fit_channel *k = &r->channels[c];
        if (k->present)
            fprintf(out, "<tr><td>%s</td><td>%.3g</td><td>%.3g</td><td>%s</td></tr>\n", k->name, k->rms,
                    k->signal, k->unit);
    }
    fputs("</table>\n", out);
}

// The panels: what was seen and what was predicted, of each channel that was recorded.
static int fill_figure(const vy_fit_result *r, const vy_flight *flight, double *plot_values, figure *f)
{
    vy_error error = {.status = VY_OK};
    f->from = r->has_held_out ? r->def.to : r->def.from;
    f->to = f->from + PLOT_DURATION < r->duration ? f->from + PLOT_DURATION : r->duration;
    f->width = 760.0;
    f->panel_height = 90.0;
    snprintf(f->title, sizeof f->title, "seen and predicted, from measured states over %g s each",
             r->def.horizon);
    for (int c = 0; c < CHANNELS; ++c) {
        double *time = plot_values + 3 * ROWS_MAX * c, *measured = time + ROWS_MAX,
               *predicted = measured + ROWS_MAX;
        size_t count = 0;
        const vy_status status =
            vy_fit_series(flight, r, c, f->from, f->to, time, measured, predicted, ROWS_MAX, &count, &error);
        if (status != VY_OK) return vy_print_status("fit", status, &error);
        if (count == 0) continue;
        figure_panel *panel = &f->panels[f->panel_count++];
        snprintf(panel->title, sizeof panel->title, "%s", r->channels[c].name);
        snprintf(panel->unit, sizeof panel->unit, "%s", r->channels[c].unit);
        panel->line_count = 2;
        panel->lines[0] =
            (figure_line){.label = "seen", .time = time, .values = measured, .count = count, .color = 0};
        panel->lines[1] = (figure_line){
            .label = "predicted", .time = time, .values = predicted, .count = count, .color = 1};
    }
    return 0;
}

int vy_fit_report_page(const vy_fit_result *r, const vy_flight *flight, const char *log, const char *path)
{
    output out;
    figure *f = calloc(1, sizeof *f);
    double *plot_values = calloc(3 * ROWS_MAX * CHANNELS, sizeof *plot_values);
    int status =
        f == NULL || plot_values == NULL ? vy_print_no_memory("fit") : fill_figure(r, flight, plot_values, f);
    if (status == 0) status = vy_output_open("fit", path, &out);
    if (status == 0) {
        fputs(page_head, out.file);
        fputs("<h1>Fit of ", out.file);
        const char *slash = strrchr(log, '/'); // of its place a page that is sent on says nothing
        put_text(out.file, slash != NULL ? slash + 1 : log);
        fprintf(out.file, "</h1>\n<p>Fitted on %.4g to %.4g s, from %s, mass %.4g kg.</p>\n", r->def.from,
                r->def.to, r->vehicle.name, r->def.mass);
        put_parameters(r, out.file);
        put_errors(r, out.file);
        put_residuals(r, out.file);
        canvas *c = vy_canvas_svg(out.file, f->width);
        const int is_drawn = c != NULL && vy_figure_draw(f, c);
        if (c != NULL && vy_canvas_close(c) != CANVAS_DONE) status = vy_print_no_memory("fit");
        if (!is_drawn && status == 0) status = vy_print_no_memory("fit");
        fputs("</body></html>\n", out.file);
        if (status == 0) {
            status = vy_output_commit("fit", &out);
        } else {
            vy_output_discard(&out);
        }
    }
    free(plot_values);
    free(f);
    return status;
}
