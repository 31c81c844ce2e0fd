// summary.c - prints the outcome of a flight as a short text or one JSON object.
#include "summary.h"
#include "controllers.h"
#include "files.h"
#include "json.h"
#include "message.h"
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const double degrees_per_radian = 57.29577951308232; // per radian

static double rms(const drone_track *t) { return t->count > 0 ? sqrt(t->error_sum / (double)t->count) : 0.0; }

// The mean motor command as a share of full thrust.
static double effort(const drone_track *t) { return t->count > 0 ? t->effort / (double)t->count : 0.0; }

static uint64_t steps_flown(const flight *f) { return vy_world_tick(f->def.world) - f->first; }

static double realtime_factor(const flight *f)
{
    return f->wall > 0.0 ? (double)steps_flown(f) * f->def.scenario->step / f->wall : 0.0;
}

static void print_drones(const flight *f)
{
    const vy_scenario *s = f->def.scenario;
    const palette p = vy_palette(stdout);
    const int count = s->drone_count + s->body_count;
    int width = 5;
    for (int i = 0; i < count; ++i) {
        const int length = (int)strlen(vy_scenario_name_of(s, i));
        if (length > width) width = length;
    }
    printf("\n  %s%-*s %11s %10s %12s %11s %11s %9s %7s   %s%s\n", p.dim, width,
           s->body_count > 0 ? "body" : "drone", "flown", "tilt", "speed", "error rms", "error max",
           "settled", "effort", "ends at", p.plain);
    for (int i = 0; i < count; ++i) {
        const drone_track *t = &f->tracks[i];
        printf("  %-*s %9.2f m %6.1f deg %8.2f m/s", width, vy_scenario_name_of(s, i), t->distance,
               t->tilt_max * degrees_per_radian, t->speed_max);
        if (t->has_error) printf(" %9.4f m %9.4f m", rms(t), t->error_max);
        if (!t->has_error) printf(" %11s %11s", "-", "-");
        if (t->has_error && !t->is_outside) printf(" %7.2f s", t->settling_time);
        if (!t->has_error || t->is_outside) printf(" %9s", t->has_error ? "never" : "-");
        if (i < s->drone_count) printf(" %5.1f %%", 100.0 * effort(t));
        if (i >= s->drone_count) printf(" %7s", "-");
        const vy_vec3 position = t->state.position;
        const int is_far = fabs(position.x) + fabs(position.y) + fabs(position.z) >=
                           1e9; // farther than from any planet's middle
        printf(is_far ? "   (%.6g, %.6g, %.6g) m\n" : "   (%.3f, %.3f, %.3f) m\n", position.x, position.y,
               position.z);
    }
}

// On a planet also over which place they end.
static void print_places(const flight *f)
{
    const vy_scenario *s = f->def.scenario;
    if (!(s->environment.planet.radius > 0.0)) return;
    for (int i = 0; i < s->drone_count + s->body_count; ++i) {
        vy_ground_state g;
        if (vy_world_read_ground(f->def.world, (uint32_t)i, &g) != VY_OK) continue;
        printf("%s  over        %s: latitude %.7f deg, longitude %.7f deg, altitude %.2f m, height %.2f m\n",
               i == 0 ? "\n" : "", vy_scenario_name_of(s, i), g.latitude * degrees_per_radian,
               g.longitude * degrees_per_radian, g.altitude, g.height);
    }
}

// A controller fed with ground truth flies better than any sensor allows, so say it.
static void print_truth(const flight *f)
{
    const vy_scenario *s = f->def.scenario;
    int printed_count = 0;
    for (int i = 0; i < s->drone_count; ++i) {
        if (!s->drones[i].def.truth) continue;
        printf("%s%s", printed_count++ ? ", " : "\n  fed with ground truth instead of an estimate: ",
               s->drones[i].name);
    }
    if (printed_count) putchar('\n');
}

static const char *failsafe_name(vy_failsafe failsafe)
{
    static const char *const names[] = {"none", "hold", "land", "cut"};
    return names[failsafe];
}

// How often each fault began.
static void print_faults(const flight *f, int drone)
{
    enum { FAULTS_LISTED = 6 };
    const vy_scenario *s = f->def.scenario;
    const drone_track *t = &f->tracks[drone];
    printf("  faults      %s: %" PRIu64 " %s (", s->drones[drone].name, t->faults,
           t->faults == 1 ? "time" : "times");
    int count = 0;
    for (int k = 0; k < s->fault_count; ++k) {
        const vy_fault_def *def = &s->faults[k].def;
        const vy_drone_id id = vy_world_drone(f->def.world, (uint32_t)drone);
        if (vy_world_fault_begun(f->def.world, id, (uint32_t)k) == 0 || count++ >= FAULTS_LISTED) continue;
        printf("%s%s", count > 1 ? ", " : "", vy_fault_name(def->kind));
        if (def->kind >= VY_FAULT_SENSOR_BIAS && def->kind <= VY_FAULT_SENSOR_DELAY)
            printf(" of %s", vy_channel_name(def->channel));
    }
    puts(count > FAULTS_LISTED ? ", ...)" : ")");
}

// How good the estimate of a Kalman filter was: normalised, 1 for one as good as it says.
static void print_estimate(const flight *f, int drone)
{
    const drone_track *t = &f->tracks[drone];
    if (t->nees_count == 0) return;
    printf("  estimate    %s: worst error %.3f m, NEES %.2f of 9\n", f->def.scenario->drones[drone].name,
           t->estimate_max, t->nees_sum / (double)t->nees_count);
}

// Samples that a Kalman filter rejected.
static void print_rejected(const flight *f, int drone)
{
    vy_gate_state g;
    if (vy_world_read_gate(f->def.world, vy_world_drone(f->def.world, (uint32_t)drone), &g) != VY_OK) return;
    int rejected_sources = 0;
    for (int k = 0; k < VY_AID_SOURCE_COUNT; ++k) {
        if (g.rejected[k] == 0) continue;
        if (!rejected_sources++) printf("  rejected    %s:", f->def.scenario->drones[drone].name);
        printf("%s %" PRIu64 " of %s", rejected_sources > 1 ? "," : "", g.rejected[k],
               vy_aid_source_name((vy_aid_source)k));
    }
    if (rejected_sources) puts(" (samples)");
}

// Faults, limits of the drive, and handovers to the failsafe.
static void print_incidents(const flight *f)
{
    for (int i = 0; i < f->def.scenario->drone_count; ++i) {
        const char *name = f->def.scenario->drones[i].name;
        const drone_track *t = &f->tracks[i];
        const vy_drive_state *d = &t->drive;
        if (t->faults > 0) print_faults(f, i);
        for (int k = 0, printed_count = 0; k <= VY_DRIVE_LIMIT_COUNT; ++k) {
            if (k == VY_DRIVE_LIMIT_COUNT && printed_count) putchar('\n');
            if (k == VY_DRIVE_LIMIT_COUNT || d->acted[k] == 0) continue;
            if (!printed_count++) printf("  limits      %s:", name);
            printf("%s %s %" PRIu64 " times", printed_count > 1 ? "," : "",
                   vy_drive_limit_name((vy_drive_limit)k), d->acted[k]);
        }
        print_estimate(f, i);
        print_rejected(f, i);
        if (d->handovers > 0)
            printf("  failsafe    %s: took over %" PRIu64 " %s, last at %.3f s; %s\n", name, d->handovers,
                   d->handovers == 1 ? "time" : "times", d->since,
                   d->failsafe == VY_FAILSAFE_NONE ? "handed back" : failsafe_name(d->failsafe));
    }
}

// Contacts of each drone: how many and how hard.
static void print_contacts(const flight *f)
{
    const vy_scenario *s = f->def.scenario;
    for (int i = 0; i < s->drone_count + s->body_count; ++i) {
        const vy_drone_state *d = &f->tracks[i].state;
        if (d->contacts == 0) continue;
        printf("  touched     %s: %" PRIu64 " contact%s, at most %.3g m/s and %.3g N s",
               vy_scenario_name_of(s, i), d->contacts, d->contacts == 1 ? "" : "s", d->contact_speed,
               d->contact_impulse_max);
        if (d->crashes > 0) printf(", %" PRIu64 " crash%s", d->crashes, d->crashes == 1 ? "" : "es");
        putchar('\n');
    }
}

static void print_expectations(const flight *f)
{
    const vy_scenario *s = f->def.scenario;
    const palette p = vy_palette(stdout);
    if (s->expect_count > 0) putchar('\n');
    for (int i = 0; i < s->expect_count; ++i) {
        const vy_expect_result *r = &f->results[i];
        char *text = vy_expect_print(s, i, r);
        if (text == NULL) vy_note_no_memory();
        const char *colour = r->met ? p.good : r->skipped ? p.plain : p.bad;
        printf("  %s%-12s%s%s", colour,
               r->met       ? "ok"
               : r->skipped ? "skipped"
                            : "FAILED",
               p.plain, text != NULL ? text : "");
        if (r->measured && !r->skipped) {
            double scale;
            const char *unit = vy_expect_display_unit(s, i, &scale);
            printf(", %.4g%s%s %s", fabs(r->margin) * scale, unit[0] != '\0' ? " " : "", unit,
                   r->margin < 0.0 ? "beyond" : "to spare");
        }
        putchar('\n');
        free(text);
    }
}

// One line: what was neglected, and its bound. The certificate in full is in --json.
static void print_nap(const flight *f)
{
    const vy_scenario *s = f->def.scenario;
    double impulse = 0.0, angular_impulse = 0.0, position = 0.0, horizon = 0.0;
    int is_bounded = 1;
    for (int i = 0; i < s->drone_count + s->body_count; ++i) {
        vy_certificate c;
        if (vy_world_certificate(f->def.world, vy_world_body(f->def.world, (uint32_t)i), &c) != VY_OK)
            continue;
        impulse = fmax(impulse, c.total_impulse);
        angular_impulse = fmax(angular_impulse, c.total_angular_impulse);
        position = fmax(position, c.position);
        is_bounded = is_bounded && c.bounded;
        horizon = c.horizon;
    }
    printf("  neglected   ");
    if (s->environment.nap.strict || (impulse == 0.0 && angular_impulse == 0.0)) {
        printf("nothing\n");
        return;
    }
    printf("at most %.2g N s and %.2g N m s", impulse, angular_impulse);
    if (is_bounded) printf(", %.2g m within %g s", position, horizon);
    putchar('\n');
}

// One line: how the budget stands, of whoever has spent the largest part of it.
static void print_budget(const flight *f)
{
    const vy_scenario *s = f->def.scenario;
    const vy_budget_def *budget = &s->environment.nap.budget;
    double position = 0.0, angle = 0.0, exceeded_time = HUGE_VAL;
    int no_bound = 0;
    if (budget->duration == 0.0) return;
    for (int i = 0; i < s->drone_count + s->body_count; ++i) {
        vy_certificate c;
        if (vy_world_certificate(f->def.world, vy_world_body(f->def.world, (uint32_t)i), &c) != VY_OK)
            continue;
        position = fmax(position, c.position);
        angle = fmax(angle, c.angle);
        no_bound += c.budget.standing == VY_BUDGET_NO_BOUND;
        if (c.budget.standing == VY_BUDGET_EXCEEDED)
            exceeded_time = fmin(exceeded_time, c.budget.exceeded_time);
    }
    printf("  budget      ");
    if (exceeded_time < HUGE_VAL) {
        printf("broken at %.3f s\n", exceeded_time);
        return;
    }
    const char *separator = "";
    if (budget->position != VY_BUDGET_ANY) {
        printf("%.2g of %.2g m", position, budget->position);
        separator = " and ";
    }
    if (budget->attitude != VY_BUDGET_ANY) printf("%s%.2g of %.2g rad", separator, angle, budget->attitude);
    printf(" spent over %g s", budget->duration);
    if (no_bound > 0)
        printf("; no bound for %d of %d, which neglect nothing", no_bound, s->drone_count + s->body_count);
    putchar('\n');
}

static void print_size(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return;
    const double size = (double)info.st_size;
    if (size >= 1e6) printf(", %.1f MB", size * 1e-6);
    if (size < 1e6) printf(", %.0f kB", ceil(size * 1e-3));
}

// Numbers of drones and bodies.
static void print_counts(const vy_scenario *s)
{
    const int drones = s->drone_count, bodies = s->body_count;
    printf(", %d %s", drones, drones == 1 ? "drone" : "drones");
    if (bodies > 0) printf(", %d %s", bodies, bodies == 1 ? "body" : "bodies");
    puts("\n");
}

static void print_summary(const flight *f)
{
    const vy_scenario *s = f->def.scenario;
    const palette p = vy_palette(stdout);
    const uint64_t steps = steps_flown(f);
    printf("%s%s%s, seed %" PRIu64, p.bold, s->name[0] != '\0' ? s->name : f->def.file, p.plain, s->seed);
    print_counts(s);
    printf("  flew        %.3f s in %" PRIu64 " steps of %g ms", (double)steps * s->step, steps,
           s->step * 1e3);
    if (f->first > 0) printf(", from %.3f s on", (double)f->first * s->step);
    printf("\n  took        %.3f s, %.0f times real time\n", f->wall, realtime_factor(f));
    print_drones(f);
    print_places(f);
    print_truth(f);
    print_expectations(f);
    char reason[400];
    vy_flight_describe_failure(f, reason, sizeof reason);
    const int is_completed = strcmp(f->status, "completed") == 0;
    printf("\n  %s%-12s%shash %016" PRIx64 "\n", is_completed ? p.good : p.bad, f->status, p.plain,
           vy_world_hash(f->def.world));
    if (f->failure.reason != VY_FAILURE_NONE) printf("  because     %s\n", reason);
    print_incidents(f);
    print_contacts(f);
    print_nap(f);
    print_budget(f);
    if (f->def.log == NULL) return;
    if (vy_file_is_stream(f->def.log)) return;
    printf("  log         %s", f->def.log);
    print_size(f->def.log);
    printf("\n  again       volery replay %s\n", f->def.log);
}

static void json_failure(const flight *f, json *j)
{
    const vy_scenario *s = f->def.scenario;
    const char *reason = vy_flight_reason(f);
    if (reason == NULL) {
        vy_json_null(j, "failure");
        return;
    }
    char sentence[400];
    vy_flight_describe_failure(f, sentence, sizeof sentence);
    const int is_safety = f->failure.reason != VY_FAILURE_NONE;
    const vy_expect_result *r = is_safety ? NULL : &f->results[f->failed_expectation];
    vy_json_object(j, "failure");
    vy_json_text(j, "reason", reason);
    vy_json_number(j, "time_s", is_safety ? f->failure.time : r->time);
    vy_json_text(j, "vehicle",
                 is_safety || r->measured
                     ? vy_scenario_name_of(s, (int)(is_safety ? f->failure.body : r->drone))
                     : NULL);
    if (is_safety) {
        vy_json_text(j, "what", f->failure.what);
        vy_json_number(j, "value", f->failure.value);
        vy_json_number(j, "limit", f->failure.limit);
    }
    vy_json_text(j, "text", sentence);
    vy_json_close(j);
}

static void json_vec3(json *j, const char *name, vy_vec3 v)
{
    vy_json_list(j, name);
    vy_json_number(j, NULL, v.x);
    vy_json_number(j, NULL, v.y);
    vy_json_number(j, NULL, v.z);
    vy_json_close(j);
}

static void json_budget(const vy_budget_report *b, const vy_budget_def *def, const vy_certificate *c, json *j)
{
    static const char *const standings[] = {"none", "kept", "broken", "no bound"};
    vy_json_object(j, "budget");
    vy_json_text(j, "standing", standings[b->standing]);
    vy_json_number(j, "over_s", def->duration);
    if (def->position != VY_BUDGET_ANY) {
        vy_json_number(j, "position_m", def->position);
        vy_json_number(j, "position_spent_m", c->position);
        vy_json_number(j, "position_left_m", b->position_left);
    }
    if (def->attitude != VY_BUDGET_ANY) {
        vy_json_number(j, "attitude_rad", def->attitude);
        vy_json_number(j, "attitude_spent_rad", c->angle);
        vy_json_number(j, "attitude_left_rad", b->angle_left);
    }
    if (b->standing == VY_BUDGET_EXCEEDED) vy_json_number(j, "broken_s", b->exceeded_time);
    vy_json_close(j);
}

static void json_certificate(const vy_certificate *c, json *j)
{
    vy_json_uint(j, "changes", c->changes);
    vy_json_number(j, "impulse_N_s", c->total_impulse);
    vy_json_number(j, "angular_impulse_N_m_s", c->total_angular_impulse);
    vy_json_list(j, "effects");
    for (int k = 0; k < vy_effect_count(); ++k) {
        vy_json_object(j, NULL);
        vy_json_text(j, "name", vy_effect_name(k));
        vy_json_bool(j, "computed", (c->effects >> k & 1) != 0);
        vy_json_number(j, "impulse_N_s", c->impulse[k]);
        vy_json_number(j, "angular_impulse_N_m_s", c->angular_impulse[k]);
        vy_json_close(j);
    }
    vy_json_close(j);
    if (!c->bounded) {
        vy_json_null(j, "deviation");
        return;
    }
    vy_json_object(j, "deviation");
    vy_json_number(j, "horizon_s", c->horizon);
    vy_json_number(j, "rate_rad_s", c->rate);
    vy_json_number(j, "angle_rad", c->angle);
    vy_json_number(j, "velocity_m_s", c->velocity);
    vy_json_number(j, "position_m", c->position);
    vy_json_close(j);
}

// Of drones or bodies [first, last).
static void json_certificates(const flight *f, const char *name, int first, int last, json *j)
{
    vy_json_list(j, name);
    for (int i = first; i < last; ++i) {
        vy_certificate c;
        if (vy_world_certificate(f->def.world, vy_world_body(f->def.world, (uint32_t)i), &c) != VY_OK)
            continue;
        vy_json_object(j, NULL);
        vy_json_text(j, "name", vy_scenario_name_of(f->def.scenario, i));
        if (c.budget.standing != VY_BUDGET_NONE)
            json_budget(&c.budget, &f->def.scenario->environment.nap.budget, &c, j);
        json_certificate(&c, j);
        vy_json_close(j);
    }
    vy_json_close(j);
}

// What was neglected, and a bound of its effect.
static void json_nap(const flight *f, json *j)
{
    const vy_scenario *s = f->def.scenario;
    vy_json_object(j, "nap");
    vy_json_text(j, "policy", s->environment.nap.strict ? "strict" : "neglect");
    json_certificates(f, "drones", 0, s->drone_count, j);
    if (s->body_count > 0) json_certificates(f, "bodies", s->drone_count, s->drone_count + s->body_count, j);
    vy_json_close(j);
}

// Where it ended, and its contacts.
static void json_end_of(const drone_track *t, json *j)
{
    json_vec3(j, "position_m", t->state.position);
    if (t->state.contacts == 0) return;
    vy_json_object(j, "contacts");
    vy_json_uint(j, "count", t->state.contacts);
    vy_json_number(j, "speed_m_s", t->state.contact_speed);
    vy_json_number(j, "impulse_N_s", t->state.contact_impulse_max);
    vy_json_uint(j, "crashes", t->state.crashes);
    vy_json_close(j);
}

// Over the ground: everywhere, with latitude and longitude on a planet.
static void json_ground(const flight *f, int body_number, json *j)
{
    vy_ground_state g;
    if (vy_world_read_ground(f->def.world, (uint32_t)body_number, &g) != VY_OK) return;
    vy_json_object(j, "over_ground");
    if (f->def.scenario->environment.planet.radius > 0.0) {
        vy_json_number(j, "latitude_rad", g.latitude);
        vy_json_number(j, "longitude_rad", g.longitude);
    }
    vy_json_number(j, "altitude_m", g.altitude);
    vy_json_number(j, "height_m", g.height);
    vy_json_number(j, "ground_speed_m_s", g.ground_speed);
    vy_json_number(j, "air_speed_m_s", g.air_speed);
    vy_json_number(j, "climb_m_s", g.climb);
    if (g.ground_speed > 0.0) vy_json_number(j, "track_rad", g.track);
    if (!(g.ground_speed > 0.0)) vy_json_null(j, "track_rad"); // at rest it has no direction
    vy_json_close(j);
}

// Of a Kalman filter: NEES is 9 on average for one as good as it says, innovations are 1.
static void json_filter(const flight *f, int drone, json *j)
{
    vy_filter_state s;
    vy_gate_state g = {0};
    const drone_track *t = &f->tracks[drone];
    const vy_drone_id id = vy_world_drone(f->def.world, (uint32_t)drone);
    if (vy_world_read_filter(f->def.world, id, &s) != VY_OK) return;
    (void)vy_world_read_gate(f->def.world, id, &g);
    vy_json_object(j, "filter");
    vy_json_bool(j, "started", s.started);
    vy_json_number(j, "nees_mean", t->nees_count > 0 ? t->nees_sum / (double)t->nees_count : HUGE_VAL);
    vy_json_number(j, "error_m", s.error);
    vy_json_number(j, "deviation_m", s.deviation);
    vy_json_number(j, "tilt_error_rad", s.tilt);
    vy_json_number(j, "yaw_error_rad", s.yaw);
    vy_json_list(j, "sensors");
    for (int k = 0; k < VY_AID_SOURCE_COUNT; ++k) {
        if (s.mean_nis[k] == 0.0 && g.rejected[k] == 0) continue;
        vy_json_object(j, NULL);
        vy_json_text(j, "sensor", vy_aid_source_name((vy_aid_source)k));
        vy_json_number(j, "innovations_mean", s.mean_nis[k]);
        vy_json_uint(j, "rejected", g.rejected[k]);
        vy_json_close(j);
    }
    vy_json_close(j);
    vy_json_close(j);
}

static void json_drones(const flight *f, json *j)
{
    const vy_scenario *s = f->def.scenario;
    vy_json_list(j, "drones");
    for (int i = 0; i < s->drone_count; ++i) {
        const drone_track *t = &f->tracks[i];
        vy_json_object(j, NULL);
        vy_json_text(j, "name", f->def.scenario->drones[i].name);
        vy_json_number(j, "distance_m", t->distance);
        vy_json_number(j, "tilt_max_rad", t->tilt_max);
        vy_json_number(j, "speed_max_m_s", t->speed_max);
        vy_json_number(j, "error_rms_m", t->has_error ? rms(t) : HUGE_VAL);
        vy_json_number(j, "error_max_m", t->has_error ? t->error_max : HUGE_VAL);
        vy_json_number(j, "settled_s", t->has_error && !t->is_outside ? t->settling_time : HUGE_VAL);
        vy_json_number(j, "effort", effort(t));
        vy_json_number(j, "estimate_error_max_m", t->estimate_max);
        json_filter(f, i, j);
        vy_json_bool(j, "truth", f->def.scenario->drones[i].def.truth);
        json_end_of(t, j);
        json_ground(f, i, j);
        vy_json_close(j);
    }
    vy_json_close(j);
    if (s->body_count == 0) return;
    vy_json_list(j, "bodies");
    for (int i = 0; i < s->body_count; ++i) {
        const drone_track *t = &f->tracks[s->drone_count + i];
        vy_json_object(j, NULL);
        vy_json_text(j, "name", s->bodies[i].name);
        vy_json_number(j, "distance_m", t->distance);
        vy_json_number(j, "tilt_max_rad", t->tilt_max);
        vy_json_number(j, "speed_max_m_s", t->speed_max);
        json_end_of(t, j);
        json_ground(f, s->drone_count + i, j);
        vy_json_close(j);
    }
    vy_json_close(j);
}

static void json_event(json *j, const char *kind, const char *vehicle, uint64_t count)
{
    if (count == 0) return;
    vy_json_object(j, NULL);
    vy_json_text(j, "kind", kind);
    vy_json_text(j, "vehicle", vehicle);
    vy_json_uint(j, "count", count);
    vy_json_close(j);
}

static void json_events(const flight *f, json *j)
{
    vy_json_list(j, "events");
    for (int i = 0; i < f->def.scenario->drone_count; ++i) {
        const char *name = f->def.scenario->drones[i].name;
        const drone_track *t = &f->tracks[i];
        json_event(j, "clamped", name, t->state.clamps);
        json_event(j, "fault", name, t->faults);
        for (int k = 0; k < VY_DRIVE_LIMIT_COUNT; ++k) {
            char kind[32];
            snprintf(kind, sizeof kind, "limit_%s", vy_drive_limit_name((vy_drive_limit)k));
            json_event(j, kind, name, t->drive.acted[k]);
        }
        vy_gate_state g = {0};
        (void)vy_world_read_gate(f->def.world, vy_world_drone(f->def.world, (uint32_t)i), &g);
        for (int k = 0; k < VY_AID_SOURCE_COUNT; ++k) {
            char kind[32];
            snprintf(kind, sizeof kind, "rejected_%s", vy_aid_source_name((vy_aid_source)k));
            json_event(j, kind, name, g.rejected[k]);
        }
        json_event(j, "failsafe", name, t->drive.handovers);
        uint64_t lost_count = 0;
        for (int k = 0; k < VY_ROTOR_CAP; ++k) lost_count += t->drive.lost >> k & 1;
        json_event(j, "rotor_lost", name, lost_count);
    }
    vy_json_close(j);
}

static void json_bound(json *j, const char *name, double bound)
{
    vy_json_number(j, name, fabs(bound) < DBL_MAX ? bound : HUGE_VAL); // none is null
}

static void json_expectations(const flight *f, json *j)
{
    const vy_scenario *s = f->def.scenario;
    int quantity_count = 0;
    const vy_quantity *quantities = vy_quantities(&quantity_count);
    vy_json_list(j, "expectations");
    for (int i = 0; i < s->expect_count; ++i) {
        const vy_expect_def *e = &s->expect[i];
        const vy_expect_result *r = &f->results[i];
        const vy_quantity *q = &quantities[e->quantity];
        char *text = vy_expect_print(s, i, r);
        if (text == NULL) vy_note_no_memory();
        vy_json_object(j, NULL);
        vy_json_text(j, "quantity", q->name);
        static const char *const kind_names[] = {"end",     "throughout", "rms",     "settled",
                                                 "reached", "overshoot",  "integral"};
        vy_json_text(j, "unit", vy_expect_unit(s, i));
        vy_json_text(j, "at", kind_names[e->at]);
        vy_json_number(j, "within_s", e->within > 0.0 ? e->within : HUGE_VAL);
        vy_json_number(j, "after_s", e->after);
        json_bound(j, "min", e->min);
        json_bound(j, "max", e->max);
        if (r->skipped)
            vy_json_null(j, "met");
        else
            vy_json_bool(j, "met", r->met);
        vy_json_bool(j, "skipped", r->skipped);
        vy_json_number(j, "value", r->measured ? r->worst : HUGE_VAL);
        vy_json_number(j, "margin", r->measured ? r->margin : HUGE_VAL);
        vy_json_number(j, "time_s", r->measured ? r->time : HUGE_VAL);
        const char *subject =
            q->of_joint != NULL ? s->joints[r->drone].name : vy_scenario_name_of(s, (int)r->drone);
        vy_json_text(j, "vehicle", r->measured ? subject : NULL);
        vy_json_text(j, "text", text);
        vy_json_close(j);
        free(text);
    }
    vy_json_close(j);
}

// Would the same run again give these bits? Firmware has threads and a clock of its own: tier 1.
static uint64_t tier_of(const vy_scenario *s)
{
    for (int i = 0; i < s->drone_count; ++i) {
        if (vy_controller_is_firmware(s->drones[i].def.controller.kind)) return 1;
    }
    return 0;
}

// Where programs fly: how many, how many of them are confined, and what the kernel lacks for that.
static void json_programs(const vy_scenario *s, json *j)
{
    char missing_features[VY_LACKS_CAP];
    uint64_t count = 0;
    for (int i = 0; i < s->drone_count; ++i)
        count += (uint64_t)vy_controller_is_program(&s->drones[i].def.controller);
    if (count == 0) return;
    vy_json_object(j, "programs");
    vy_json_uint(j, "count", count);
    vy_json_uint(j, "confined", (uint64_t)vy_controllers_confined(s));
    if (vy_host_lacks(missing_features))
        vy_json_text(j, "kernel_lacks", missing_features);
    else
        vy_json_null(j, "kernel_lacks");
    vy_json_close(j);
}

static void json_summary(const flight *f)
{
    const vy_scenario *s = f->def.scenario;
    const uint64_t hash = vy_scenario_hash(s);
    if (hash == 0) vy_note_no_memory();
    json j = vy_json_begin(stdout);
    vy_json_text(&j, "status", f->status);
    vy_json_text(&j, "scenario", s->name);
    vy_json_text(&j, "file", f->def.file);
    vy_json_uint(&j, "seed", s->seed);
    vy_json_uint(&j, "tier", tier_of(s));
    vy_json_uint(&j, "first_step", f->first);
    vy_json_uint(&j, "steps", steps_flown(f));
    vy_json_number(&j, "sim_time_s", (double)steps_flown(f) * s->step);
    vy_json_number(&j, "wall_s", f->wall);
    vy_json_number(&j, "realtime_factor", realtime_factor(f));
    vy_json_hash(&j, "config_hash", hash);
    vy_json_hash(&j, "final_hash", vy_world_hash(f->def.world));
    json_failure(f, &j);
    json_drones(f, &j);
    json_events(f, &j);
    json_nap(f, &j);
    json_expectations(f, &j);
    vy_json_text(&j, "log", f->def.log);
    json_programs(s, &j);
    vy_json_end(&j);
}

int vy_summary_print(const flight *f, int as_json, int quiet)
{
    const int status = vy_flight_exit(f);
    char reason[400];
    vy_flight_describe_failure(f, reason, sizeof reason);
    if (as_json) {
        json_summary(f);
    } else if (!quiet) {
        print_summary(f);
    } else if (f->signal != 0) {
        vy_print_error(f->def.command, status, "interrupted at %.3f s", vy_world_time(f->def.world));
    } else if (reason[0] != '\0') {
        vy_print_error(f->def.command, status, "%s", reason);
    }
    return status;
}
