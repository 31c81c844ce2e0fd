// plan.c - reading and checking a plan. Read vy_plan_load() first.
#define _POSIX_C_SOURCE 200809L // strtok_r
#include "campaign/plan.h"
#include "base/assert.h"
#include "base/decimal.h"
#include "base/hash.h"
#include "base/read_file.h"
#include "base/real.h"
#include "campaign/plan_schema.h"
#include "campaign/sample.h"
#include "scenario/number.h"
#include "scenario/read.h"
#include "volery/version.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FAILURES_MAX 10000.0 // that a stop rule counts with

// Repetitions share the values of their point; without anything drawn all cases are one.
int vy_plan_is_independent(const vy_plan *plan)
{
    return plan->sample == VY_SAMPLE_RANDOM && plan->repeat == 1 &&
           (plan->vary_count > 0 || plan->seeds == VY_SEEDS_EACH);
}

// --- what the rows cannot say

// "28 g" as 28 and "g", which is the unit of all numbers of the variable.
static int read_bound(vy_reader *r, vy_plan_variable *v, const char *name, const char *text, double *out)
{
    const size_t size = strlen(text), digits = vy_decimal_read(text, size, 0, out);
    const char *unit = text + digits;
    while (*unit == ' ') ++unit;
    if (digits == 0 || !real_is_finite(*out) || strlen(unit) >= sizeof v->unit) {
        vy_reader_refuse(r, text, "%s: expected a number, with or without a unit, got \"%s\"", name, text);
        return 0;
    }
    if (v->unit[0] == '\0' && v->unit[1] == 0) snprintf(v->unit, sizeof v->unit, "%s", unit);
    if (strcmp(v->unit, unit) != 0) {
        vy_reader_refuse(r, text, "%s: write all numbers of one variable in the same unit, here %s", name,
                         v->unit[0] != '\0' ? v->unit : "none");
        return 0;
    }
    return 1;
}

static void check_range(vy_reader *r, vy_plan_variable *v)
{
    const int is_normal = v->distribution == VY_PLAN_NORMAL;
    v->low = -HUGE_VAL;
    v->high = HUGE_VAL;
    if (!is_normal && (v->from[0] == '\0' || v->to[0] == '\0')) {
        vy_reader_refuse(r, v->key, "%s needs `from` and `to`", v->key);
        return;
    }
    if (v->from[0] != '\0' && !read_bound(r, v, "from", v->from, &v->low)) return;
    if (v->to[0] != '\0' && !read_bound(r, v, "to", v->to, &v->high)) return;
    if (!(v->low < v->high)) vy_reader_refuse(r, v->to, "to must be above from");
    if (v->distribution == VY_PLAN_LOG_UNIFORM && !(v->low > 0.0))
        vy_reader_refuse(r, v->from, "from must be above 0: it is drawn in the logarithm");
    if (is_normal && (v->mean[0] == '\0' || v->deviation[0] == '\0')) {
        vy_reader_refuse(r, v->key, "%s needs `mean` and `deviation`", v->key);
    } else if (is_normal) {
        if (!read_bound(r, v, "mean", v->mean, &v->centre)) return;
        if (!read_bound(r, v, "deviation", v->deviation, &v->sigma)) return;
        if (!(v->sigma > 0.0)) vy_reader_refuse(r, v->deviation, "deviation must be above 0");
        const double low = v->low > -HUGE_VAL ? (v->low - v->centre) / v->sigma : -HUGE_VAL;
        const double high = v->high < HUGE_VAL ? (v->high - v->centre) / v->sigma : HUGE_VAL;
        if (low > 6.0 || high < -6.0)
            vy_reader_refuse(r, v->mean, "from and to leave nothing of this normal distribution");
    }
    if (v->distribution == VY_PLAN_TRIANGULAR) {
        if (v->mode[0] == '\0') {
            vy_reader_refuse(r, v->key, "%s needs a `mode`", v->key);
        } else if (read_bound(r, v, "mode", v->mode, &v->centre) &&
                   !(v->centre >= v->low && v->centre <= v->high)) {
            vy_reader_refuse(r, v->mode, "mode must be between from and to");
        }
    }
}

// Whether one key is the other, or lies within it.
static int is_within(const char *key, const char *other)
{
    const size_t size = strlen(other);
    return strncmp(key, other, size) == 0 && (key[size] == '\0' || key[size] == '.' || key[size] == '[');
}

static void check_key(vy_reader *r, const vy_plan *p, int index)
{
    const vy_plan_variable *v = &p->vary[index];
    if (strchr(v->key, '=') != NULL || v->key[0] == '\0')
        vy_reader_refuse(r, v->key, "key: expected a path like drones.alpha.vehicle.mass, got \"%s\"",
                         v->key);
    if (is_within(v->key, "expect"))
        vy_reader_refuse(r, v->key, "key: what is expected must be the same in all cases");
    if (is_within(v->key, "seed") && p->seeds == VY_SEEDS_EACH)
        vy_reader_refuse(r, v->key, "key: every case has a seed of its own; `seeds: same` leaves it to you");
    for (int i = 0; i < p->vary_count; ++i) {
        const char *other = p->vary[i].key;
        if (i == index || other[0] == '\0' || !is_within(v->key, other)) continue;
        if (strcmp(v->key, other) == 0 && i > index) continue;
        vy_reader_refuse(r, v->key, "key: %s varies already", other);
        return;
    }
}

static int is_listed(const vy_plan *p) { return p->sample == VY_SAMPLE_GRID || p->sample == VY_SAMPLE_LIST; }

// How many values a variable has in a grid or list.
static int value_count(const vy_plan_variable *v)
{
    return v->distribution == VY_PLAN_VALUES ? v->value_count : v->steps;
}

static void check_variables(vy_reader *r, vy_plan *p)
{
    for (int i = 0; i < p->vary_count; ++i) {
        vy_plan_variable *v = &p->vary[i];
        if (!vy_reader_is_valid(r, v, sizeof *v)) continue;
        check_key(r, p, i);
        if (v->distribution != VY_PLAN_VALUES) check_range(r, v);
        if (v->distribution == VY_PLAN_VALUES && v->value_count == 0)
            vy_reader_refuse(r, v->key, "%s needs `values`", v->key);
        if (is_listed(p) && value_count(v) == 0 && v->distribution != VY_PLAN_VALUES)
            vy_reader_refuse(r, v->key, "in a grid or list %s needs `values`, or `steps` from `from` to `to`",
                             v->key);
        if (!is_listed(p) && v->steps != 0)
            vy_reader_refuse(r, &v->steps, "steps are for `sample: grid` and `sample: list`");
    }
}

static void report_case_error(vy_reader *r, const vy_plan *p, const char *sentence)
{
    vy_reader_refuse(r, &p->cases, "cases: %s", sentence);
}

static void count_listed(vy_reader *r, vy_plan *p)
{
    double points = p->vary_count > 0 ? value_count(&p->vary[0]) : 1;
    for (int i = 1; i < p->vary_count; ++i) {
        const int count = value_count(&p->vary[i]);
        if (p->sample == VY_SAMPLE_GRID) points *= count;
        if (p->sample == VY_SAMPLE_LIST && count != value_count(&p->vary[0]))
            vy_reader_refuse(r, p->vary[i].key,
                             "in a list all variables have as many values; %s has %d and not %d",
                             p->vary[i].key, count, value_count(&p->vary[0]));
    }
    char text[120];
    if (points * p->repeat > VY_PLAN_CASE_MAX) {
        snprintf(text, sizeof text, "the grid has %.0f, more than %d", points * p->repeat, VY_PLAN_CASE_MAX);
        vy_reader_refuse(r, &p->sample, "%s", text);
        return;
    }
    p->points = (int)points;
    if (p->cases != 0 && p->cases != p->points * p->repeat) {
        snprintf(text, sizeof text, "the %s has %d; leave the key out",
                 p->sample == VY_SAMPLE_GRID ? "grid" : "list", p->points * p->repeat);
        report_case_error(r, p, text);
    }
    p->cases = p->points * p->repeat;
}

static int is_power_of_two(int n) { return n > 0 && (n & (n - 1)) == 0; }

static void count_cases(vy_reader *r, vy_plan *p)
{
    char text[200];
    if (is_listed(p)) {
        count_listed(r, p);
        return;
    }
    if (p->cases == 0) {
        vy_report_error_of_kind(r->report, "missing_key", r->root,
                                "cases is missing: how many cases there are");
        return;
    }
    if (p->cases % p->repeat != 0) report_case_error(r, p, "must be a multiple of `repeat`");
    p->points = p->cases / p->repeat;
    p->replicate_size = p->points;
    const int d = p->vary_count;
    const int dimensions = p->sample == VY_SAMPLE_SALTELLI ? 2 * d : p->sample == VY_SAMPLE_SOBOL ? d : 0;
    if (dimensions > VY_SOBOL_DIMENSIONS)
        vy_reader_refuse(r, &p->sample, "sample: there are Sobol points of %d dimensions, not of %d",
                         VY_SOBOL_DIMENSIONS, dimensions);
    if (p->sample == VY_SAMPLE_LATIN || p->sample == VY_SAMPLE_SOBOL) {
        if (p->points % p->replicates != 0) {
            snprintf(text, sizeof text, "%d points do not make %d replicates of one size", p->points,
                     p->replicates);
            report_case_error(r, p, text);
        }
        p->replicate_size = p->points / p->replicates;
        if (p->sample == VY_SAMPLE_SOBOL && !is_power_of_two(p->replicate_size)) {
            snprintf(text, sizeof text,
                     "%d points in each of %d replicates: Sobol points need a power of two",
                     p->replicate_size, p->replicates);
            report_case_error(r, p, text);
        }
    }
    if (p->sample == VY_SAMPLE_SALTELLI) {
        p->replicate_size = p->points / (d + 2);
        if (p->points % (d + 2) != 0 || !is_power_of_two(p->replicate_size)) {
            int n = 1;
            while ((n * 2) * (double)(d + 2) <= p->points) n *= 2;
            snprintf(text, sizeof text,
                     "Saltelli's sample of %d variables has %d n, n a power of two: %d or %d", d, d + 2,
                     n * (d + 2) * p->repeat, 2 * n * (d + 2) * p->repeat);
            report_case_error(r, p, text);
        }
    }
}

static void check_stop(vy_reader *r, vy_plan *p)
{
    vy_plan_stop *s = &p->stop;
    if (s->limit == 0.0 || !vy_reader_is_valid(r, s, sizeof *s)) return;
    if (!vy_plan_is_independent(p))
        vy_reader_refuse(
            r, s, "stop: only independent cases (`sample: random`, not repeated) can be stopped early");
    while (s->look_count < VY_PLAN_LOOK_CAP && s->looks[s->look_count] != 0.0) ++s->look_count;
    for (int i = 0; i < s->look_count; ++i) {
        if (s->looks[i] != floor(s->looks[i]) || (i > 0 && s->looks[i] <= s->looks[i - 1])) {
            vy_reader_refuse(r, s->looks, "looks: whole numbers of cases, each larger than the one before");
            return;
        }
    }
    if (s->look_count > 0 && s->limit * s->looks[s->look_count - 1] > FAILURES_MAX)
        vy_reader_refuse(r, s->looks, "looks: with this limit at most %.0f cases", FAILURES_MAX / s->limit);
    if (s->look_count == 0 || (int)s->looks[s->look_count - 1] > p->cases)
        vy_reader_refuse(r, s->looks, "looks: one at least, and the last at most the number of cases, %d",
                         p->cases);
}

static void check_plan(vy_reader *r, vy_plan *p)
{
    check_variables(r, p);
    if (p->sample == VY_SAMPLE_SALTELLI && p->vary_count == 0)
        vy_reader_refuse(r, &p->sample, "sample: sensitivity needs something that varies");
    if (r->report->status != VY_OK) return;
    count_cases(r, p);
    check_stop(r, p);
    for (int i = 0; i < p->set_count; ++i) {
        if (strchr(p->set[i].text, '=') == NULL || p->set[i].text[0] == '=')
            vy_reader_refuse(r, p->set[i].text, "set: expected \"key=value\", got \"%s\"", p->set[i].text);
    }
}

// Direction numbers of every replicate, scrambled each.
static void build_directions(vy_reader *r, vy_plan *p)
{
    const int is_saltelli = p->sample == VY_SAMPLE_SALTELLI;
    if (p->sample != VY_SAMPLE_SOBOL && !is_saltelli) return;
    const int dimensions = is_saltelli ? 2 * p->vary_count : p->vary_count,
              replicate_count = is_saltelli ? 1 : p->replicates;
    p->directions = calloc((size_t)replicate_count * (size_t)dimensions * 32 + 1, sizeof *p->directions);
    if (p->directions == NULL) {
        r->no_memory = 1;
        return;
    }
    for (int i = 0; i < replicate_count; ++i) {
        for (int k = 0; k < dimensions; ++k) {
            uint32_t *v = p->directions + ((size_t)i * (size_t)dimensions + (size_t)k) * 32;
            vy_sobol_directions(k, v);
            vy_sobol_scramble(p->seed, (uint32_t)(i * VY_SOBOL_DIMENSIONS + k), v);
        }
    }
}

// --- the scenario

// The mistakes of a scenario made by the plan, each at the line of the plan that made it.
static void report_scenario_errors(vy_reader *r, const vy_plan *p, const void *plan_field,
                                   const vy_diagnostics *diagnostics)
{
    for (int i = 0; i < diagnostics->count; ++i) {
        const vy_diagnostic *d = &diagnostics->items[i];
        if (d->warning) continue;
        const void *culprit = plan_field;
        for (int k = 0; k < p->vary_count && strncmp(d->file, "--set ", 6) == 0; ++k) {
            const size_t size = strlen(p->vary[k].key);
            const int names_key = plan_field == p || strcmp(d->kind, "unknown_key") == 0;
            if (names_key && strncmp(d->file + 6, p->vary[k].key, size) == 0 && d->file[6 + size] == '=')
                culprit = p->vary[k].key;
        }
        for (int k = 0; k < p->set_count && strncmp(d->file, "--set ", 6) == 0; ++k) {
            if (strcmp(d->file + 6, p->set[k].text) == 0) culprit = p->set[k].text;
        }
        vy_reader_refuse(r, culprit, "%s", d->text);
        return; // the others follow from it
    }
}

static void merge_diagnostics(vy_reader *r, const vy_plan *p, const vy_diagnostics *diagnostics)
{
    for (int i = 0; i < diagnostics->count; ++i) {
        const vy_diagnostic *d = &diagnostics->items[i];
        if (d->warning) continue;
        if (strncmp(d->file, "--set ", 6) == 0)
            report_scenario_errors(r, p, p->set, &(vy_diagnostics){.items = (vy_diagnostic *)d, .count = 1});
        else if (d->line > 0)
            vy_reader_refuse(r, p->scenario, "scenario: %s:%d:%d: %s", d->file, d->line, d->column, d->text);
        else
            vy_reader_refuse(r, p->scenario, "scenario: %s: %s", d->file, d->text);
    }
}

// Programs of controllers are what they were: the digest of every file among their words.
static uint64_t digest_programs(vy_reader *r, const vy_scenario *s, uint64_t hash)
{
    for (int i = 0; i < s->drone_count; ++i) {
        const vy_controller_def *c = &s->drones[i].def.controller;
        char text[sizeof c->program], path[sizeof c->folder + sizeof c->program + 2], *tokenizer_state = NULL;
        if (!vy_controller_is_external(c->kind)) continue;
        snprintf(text, sizeof text, "%s", c->program);
        for (char *word = strtok_r(text, " \t\"'", &tokenizer_state); word != NULL;
             word = strtok_r(NULL, " \t\"'", &tokenizer_state)) {
            uint64_t digest = 0;
            snprintf(path, sizeof path, "%s%s%s", word[0] == '/' ? "" : c->folder, word[0] == '/' ? "" : "/",
                     word);
            const vy_status status = vy_file_digest(path, &digest);
            if (status == VY_NO_MEMORY) r->no_memory = 1;
            if (status == VY_OK) hash = vy_hash_chain(hash, &digest, sizeof digest);
        }
    }
    return hash;
}

// One variable at one of its values, all others at their first.
static void try_value(vy_reader *r, vy_plan *p, int index, const char *text, const void *plan_field,
                      uint64_t *hash)
{
    const char *values[VY_PLAN_VARY_CAP + 1];
    char first_texts[VY_PLAN_VARY_CAP + 1][VY_PLAN_TEXT_CAP];
    vy_case c;
    vy_plan_case(p, 0, &c);
    for (int i = 0; i <= p->vary_count; ++i) {
        memcpy(first_texts[i], c.texts[i], sizeof first_texts[i]);
        values[i] = i == index ? text : first_texts[i];
    }
    vy_scenario *scenario = NULL;
    vy_diagnostics diagnostics;
    const vy_status status = vy_template_make(p->scenario_template, values, &scenario, &diagnostics);
    if (status == VY_NO_MEMORY)
        r->no_memory = 1;
    else if (status != VY_OK)
        report_scenario_errors(r, p, plan_field, &diagnostics);
    else if (p->vary[index].distribution == VY_PLAN_VALUES) {
        const uint64_t value_hash = vy_scenario_hash(scenario);
        if (value_hash == 0) r->no_memory = 1;
        *hash = digest_programs(r, scenario, vy_hash_chain(*hash, &value_hash, sizeof value_hash));
    }
    vy_diagnostics_destroy(&diagnostics);
    vy_scenario_destroy(scenario);
}

// Every bound and every listed value gives a scenario.
static void try_values(vy_reader *r, vy_plan *p, uint64_t *hash)
{
    for (int i = 0; i < p->vary_count; ++i) {
        const vy_plan_variable *v = &p->vary[i];
        const int calls_before = r->report->error_calls;
        for (int k = 0; k < v->value_count; ++k)
            try_value(r, p, i, v->values[k].text, v->values[k].text, hash);
        const char *const bounds[] = {v->from, v->to, v->mean};
        for (int k = 0; k < 3 && v->distribution != VY_PLAN_VALUES; ++k) { // one mistake is enough
            if (bounds[k][0] != '\0' && r->report->error_calls == calls_before)
                try_value(r, p, i, bounds[k], bounds[k], hash);
        }
    }
}

// Everything that decides over values, seeds and results.
static uint64_t identity_of(const vy_plan *p, uint64_t hash)
{
    const uint64_t header[] = {p->seed,
                               (uint64_t)p->sample,
                               (uint64_t)p->cases,
                               (uint64_t)p->replicates,
                               (uint64_t)p->repeat,
                               (uint64_t)p->seeds,
                               VY_PHYSICS_REVISION,
                               (uint64_t)p->vary_count};
    hash = vy_hash_chain(hash, header, sizeof header);
    hash = vy_hash_chain(hash, VY_VERSION, sizeof VY_VERSION);
    for (int i = 0; i < p->vary_count; ++i) {
        const vy_plan_variable *v = &p->vary[i];
        const double numbers[] = {(double)v->distribution, v->low, v->high, v->centre, v->sigma,
                                  (double)v->steps};
        hash = vy_hash_chain(hash, v->key, strlen(v->key));
        hash = vy_hash_chain(hash, v->unit, strlen(v->unit));
        hash = vy_hash_chain(hash, numbers, sizeof numbers);
        for (int k = 0; k < v->value_count; ++k)
            hash = vy_hash_chain(hash, v->values[k].text, strlen(v->values[k].text));
    }
    return hash;
}

static void load_template(vy_reader *r, vy_plan *p)
{
    const char *keys[VY_PLAN_VARY_CAP + 1], *first_texts[VY_PLAN_VARY_CAP + 1], **overrides;
    vy_case c;
    vy_plan_case(p, 0, &c);
    int count = 0;
    for (; count < p->vary_count; ++count) {
        keys[count] = p->vary[count].key;
        first_texts[count] = c.texts[count];
    }
    if (p->seeds == VY_SEEDS_EACH) {
        keys[count] = "seed";
        first_texts[count] = c.texts[count];
        ++count;
    }
    overrides = calloc((size_t)p->set_count + 1, sizeof *overrides);
    if (overrides == NULL) {
        r->no_memory = 1;
        return;
    }
    for (int i = 0; i < p->set_count; ++i) overrides[i] = p->set[i].text;
    const vy_scenario_options options = {
        .overrides = overrides, .override_count = p->set_count, .find_programs = 1};
    vy_diagnostics diagnostics = {.count = 0};
    vy_scenario *scenario = NULL;
    vy_status status = vy_scenario_load(p->path, &options, &scenario, &diagnostics);
    if (status != VY_OK && status != VY_NO_MEMORY) merge_diagnostics(r, p, &diagnostics);
    if (status == VY_OK) {
        vy_diagnostics_destroy(&diagnostics);
        status = vy_template_load(p->path, &options, keys, first_texts, count, &p->scenario_template,
                                  &diagnostics);
        if (status != VY_OK && status != VY_NO_MEMORY) report_scenario_errors(r, p, p, &diagnostics);
    }
    if (status == VY_NO_MEMORY) r->no_memory = 1;
    vy_diagnostics_destroy(&diagnostics);
    vy_scenario_destroy(scenario);
    free(overrides);
}

// What lanes side by side need not share.
static int is_lane_key(const char *key)
{
    return is_within(key, "drones") || strncmp(key, "drones[", 7) == 0 ||
           is_within(key, "world.wind.constant") || is_within(key, "seed");
}

static void resolve_scenario(vy_reader *r, vy_plan *p)
{
    load_template(r, p);
    if (r->no_memory || p->scenario_template == NULL) {
        if (r->report->status == VY_OK && !r->no_memory)
            vy_reader_refuse(r, p->scenario, "scenario: cannot be read");
        return;
    }
    vy_error err;
    vy_case c;
    uint64_t hash = 0;
    vy_plan_case(p, 0, &c);
    try_values(r, p, &hash);
    if (r->report->status != VY_OK || r->no_memory) return;
    const vy_status status = vy_plan_scenario(p, &c, &p->base, &err);
    if (status == VY_NO_MEMORY) {
        r->no_memory = 1;
        return;
    }
    if (status != VY_OK) {
        vy_reader_refuse(r, p->vary_count > 0 ? (const void *)p->vary[0].key : p->scenario, "case 0: %s",
                         err.text);
        return;
    }
    if (p->base->expect_count > 32)
        vy_reader_refuse(r, p->scenario, "scenario: at most 32 expectations, here %d", p->base->expect_count);
    char *text = vy_scenario_print(p->base);
    if (text == NULL) r->no_memory = 1;
    if (text != NULL) hash = vy_hash_chain(hash, text, strlen(text));
    free(text);
    p->identity = identity_of(p, digest_programs(r, p->base, hash));
    p->shares_environment = 1;
    for (int i = 0; i < p->base->expect_count; ++i) p->needs_every_step |= p->base->expect[i].at != VY_AT_END;
    for (int i = 0; i < p->vary_count; ++i) p->shares_environment &= is_lane_key(p->vary[i].key);
}

// --- reading

static int has_version(vy_report *report, const vy_node *root)
{
    if (root->kind == VY_NODE_MAP && vy_node_find(root, "volery") != NULL) return 1;
    vy_report_error(report, root, "a plan has the line `volery: 1`, the version of the format");
    return 0;
}

// Takes ownership of `text`.
static vy_status parse_plan(char *text, size_t size, const char *name, vy_find_scenario_fn *find_scenario,
                            vy_plan **out, vy_diagnostics *diagnostics)
{
    vy_yaml tree = {0};
    vy_report report = {.diagnostics = diagnostics};
    vy_reader reader = {.tree = &tree, .report = &report};
    const vy_locale locale = vy_locale_enter();
    vy_plan *plan = calloc(1, sizeof *plan);
    vy_source *source = vy_yaml_add_source(&tree, vy_text_copy(name, strlen(name)), text, size);
    const vy_node *root = source != NULL && plan != NULL ? vy_yaml_read(&tree, source, 0, &report) : NULL;
    if (root != NULL && has_version(&report, root)) {
        reader.root = root;
        vy_plan_table.init(plan, 0);
        vy_read_object(&reader, &vy_plan_table, root, plan);
        if (!reader.no_memory) check_plan(&reader, plan);
        if (report.status == VY_OK && !reader.no_memory) build_directions(&reader, plan);
        if (report.status == VY_OK && !reader.no_memory && find_scenario != NULL) {
            errno = 0;
            plan->path = find_scenario(plan->scenario, name);
            if (plan->path == NULL && errno == ENOMEM)
                reader.no_memory = 1;
            else if (plan->path == NULL)
                vy_reader_refuse(&reader, plan->scenario,
                                 "scenario: there is no file %s, seen from the folder of %s", plan->scenario,
                                 name);
            else
                resolve_scenario(&reader, plan);
        }
    }
    vy_report_sort(&report);
    const int no_memory = plan == NULL || tree.no_memory || reader.no_memory || report.no_memory;
    const vy_status status = no_memory ? VY_NO_MEMORY : report.status;
    vy_reader_destroy(&reader);
    vy_yaml_destroy(&tree);
    vy_locale_leave(locale);
    if (status != VY_OK) {
        vy_plan_destroy(plan);
        return status;
    }
    *out = plan;
    return VY_OK;
}

vy_status vy_plan_parse(const char *text, size_t size, const char *name, vy_plan **out,
                        vy_diagnostics *diagnostics)
{
    *diagnostics = (vy_diagnostics){.count = 0};
    *out = NULL;
    return parse_plan(vy_text_copy(text, size), size, name, NULL, out, diagnostics);
}

vy_status vy_plan_load(const char *path, vy_find_scenario_fn *find_scenario, vy_plan **out,
                       vy_diagnostics *diagnostics)
{
    char *text = NULL;
    size_t size = 0;
    *diagnostics = (vy_diagnostics){.count = 0};
    *out = NULL;
    errno = 0;
    const vy_status status = vy_read_file(path, VY_TREE_TEXT_CAP, &text, &size);
    if (status == VY_OK) return parse_plan(text, size, path, find_scenario, out, diagnostics);
    vy_report report = {.diagnostics = diagnostics};
    vy_source source = {.name = vy_text_copy(path, strlen(path)), .is_override = 1};
    if (status == VY_NO_MEMORY || source.name == NULL) return VY_NO_MEMORY;
    vy_report_error_at(&report, VY_IO, &source, 0, 0, "cannot be read: %s", strerror(errno));
    free(source.name);
    return VY_IO;
}

void vy_plan_destroy(vy_plan *plan)
{
    if (plan == NULL) return;
    for (int i = 0; i < plan->vary_count && plan->vary != NULL; ++i) free(plan->vary[i].values);
    free(plan->vary);
    free(plan->set);
    free(plan->directions);
    free(plan->path);
    vy_template_destroy(plan->scenario_template);
    vy_scenario_destroy(plan->base);
    free(plan);
}
