// case.c - from a plan and a number to the values and the seed of a case.
#include "campaign/plan.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/math.h"
#include "base/rng.h"
#include "campaign/sample.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEED_INDEX = 0x40000000, JITTER_INDEX = 0x20000000 }; // far from any variable

#define BELOW_ONE 0x1.fffffffffffffp-1

static double clamp_unit(double u) { return u < 0x1p-53 ? 0x1p-53 : u > BELOW_ONE ? BELOW_ONE : u; }

// Where variable `k` of a point is in (0, 1).
static double unit_coordinate(const vy_plan *p, uint64_t point, int k)
{
    const uint64_t replicate_size = (uint64_t)p->replicate_size;
    const double jitter = vy_sample_uniform(p->seed, (uint32_t)k, point);
    if (p->sample == VY_SAMPLE_LATIN) {
        const uint64_t replicate = point / replicate_size;
        const uint32_t key = (uint32_t)(replicate * VY_PLAN_VARY_CAP + (uint64_t)k);
        return clamp_unit(
            ((double)vy_sample_permute(p->seed, key, replicate_size, point % replicate_size) + jitter) /
            (double)replicate_size);
    }
    if (p->sample == VY_SAMPLE_SOBOL || p->sample == VY_SAMPLE_SALTELLI) {
        const int is_saltelli = p->sample == VY_SAMPLE_SALTELLI, d = p->vary_count;
        const int dimensions = is_saltelli ? 2 * d : d;
        uint64_t replicate = point / replicate_size, index_in_replicate = point % replicate_size;
        int column = k;
        if (is_saltelli) { // blocks A, B, and A with column j of B for j = 0 ... d - 1
            if (replicate == 1 || (int)replicate - 2 == k) column = d + k;
            replicate = 0;
        }
        const size_t direction_row = (size_t)replicate * (size_t)dimensions + (size_t)column;
        uint64_t words[4];
        rng_words(p->seed, RNG_STREAM_CAMPAIGN, JITTER_INDEX + direction_row, 0, 3, words); // a digital shift
        const uint32_t x = vy_sobol_point(p->directions + direction_row * 32, (uint32_t)index_in_replicate) ^
                           (uint32_t)words[0];
        const double low_fraction =
            vy_sample_uniform(p->seed, (uint32_t)(JITTER_INDEX + direction_row), index_in_replicate + 1);
        return clamp_unit(((double)x + low_fraction) * 0x1p-32);
    }
    return jitter; // a draw of its own
}

static double quantile(const vy_plan_variable *v, double u)
{
    switch (v->distribution) {
    case VY_PLAN_UNIFORM: return v->low + u * (v->high - v->low);
    case VY_PLAN_LOG_UNIFORM: return v->low * math_exp(u * math_log(v->high / v->low));
    case VY_PLAN_NORMAL: {
        const double low = v->low > -HUGE_VAL ? vy_normal_cdf((v->low - v->centre) / v->sigma) : 0.0;
        const double high = v->high < HUGE_VAL ? vy_normal_cdf((v->high - v->centre) / v->sigma) : 1.0;
        return v->centre + v->sigma * vy_normal_quantile(clamp_unit(low + u * (high - low)));
    }
    case VY_PLAN_TRIANGULAR: {
        const double mode_fraction = (v->centre - v->low) / (v->high - v->low);
        if (u < mode_fraction) return v->low + real_sqrt(u * (v->high - v->low) * (v->centre - v->low));
        return v->high - real_sqrt((1.0 - u) * (v->high - v->low) * (v->high - v->centre));
    }
    case VY_PLAN_VALUES: break;
    }
    return floor(u * v->value_count);
}

// Rounding may lead beyond a bound by a bit; the bound itself is allowed.
static double clamp_to_range(const vy_plan_variable *v, double x)
{
    return x < v->low ? v->low : x > v->high ? v->high : x;
}

// Value `index` of those that a grid or list has.
static double listed_value(const vy_plan_variable *v, uint64_t index)
{
    if (v->distribution == VY_PLAN_VALUES) return (double)index;
    const double u = (double)index / (double)(v->steps - 1);
    if (index == 0) return v->low;
    if (index == (uint64_t)v->steps - 1) return v->high;
    return clamp_to_range(v, quantile(v, u));
}

static void print_value(const vy_plan_variable *v, double number, char *out, size_t size)
{
    if (v->distribution == VY_PLAN_VALUES)
        snprintf(out, size, "%s", v->values[(int)number].text);
    else
        snprintf(out, size, "%.17g%s%s", number, v->unit[0] != '\0' ? " " : "", v->unit);
}

static void finish_case(const vy_plan *p, uint64_t index, vy_case *out)
{
    uint64_t words[4];
    out->index = index;
    rng_words(p->seed, RNG_STREAM_CAMPAIGN, SEED_INDEX, index, 0, words);
    out->seed = (words[0] << 32 | words[1]) >> 11; // 53 bits: a number of any table
    for (int k = 0; k < p->vary_count; ++k)
        print_value(&p->vary[k], out->numbers[k], out->texts[k], sizeof out->texts[k]);
    snprintf(out->texts[p->vary_count], sizeof out->texts[0], "%llu", (unsigned long long)out->seed);
}

void vy_plan_case(const vy_plan *p, uint64_t index, vy_case *out)
{
    VY_ASSERT(index < (uint64_t)p->cases && p->vary_count <= VY_PLAN_VARY_CAP);
    const uint64_t point = index / (uint64_t)p->repeat;
    uint64_t remaining = point;
    for (int k = p->vary_count - 1; k >= 0; --k) { // the last one changes fastest
        const vy_plan_variable *v = &p->vary[k];
        const uint64_t count = (uint64_t)(v->distribution == VY_PLAN_VALUES ? v->value_count : v->steps);
        if (p->sample == VY_SAMPLE_GRID) {
            out->numbers[k] = listed_value(v, remaining % count);
            remaining /= count;
        } else if (p->sample == VY_SAMPLE_LIST) {
            out->numbers[k] = listed_value(v, point);
        } else {
            const double x = quantile(v, unit_coordinate(p, point, k));
            out->numbers[k] = v->distribution == VY_PLAN_VALUES ? x : clamp_to_range(v, x);
        }
    }
    finish_case(p, index, out);
}

void vy_plan_case_from_unit(const vy_plan *p, uint64_t index, const double *unit, vy_case *out)
{
    for (int k = 0; k < p->vary_count; ++k) {
        const vy_plan_variable *v = &p->vary[k];
        const double x = quantile(v, clamp_unit(unit[k]));
        out->numbers[k] = v->distribution == VY_PLAN_VALUES ? x : clamp_to_range(v, x);
    }
    finish_case(p, index, out);
}

void vy_plan_case_from_values(const vy_plan *p, uint64_t index, const double *numbers, vy_case *out)
{
    memcpy(out->numbers, numbers, (size_t)p->vary_count * sizeof *numbers);
    finish_case(p, index, out);
}

vy_status vy_plan_scenario(vy_plan *plan, const vy_case *c, vy_scenario **out, vy_error *err)
{
    const char *values[VY_PLAN_VARY_CAP + 1];
    vy_diagnostics diagnostics;
    for (int i = 0; i <= plan->vary_count; ++i) values[i] = c->texts[i];
    const vy_status status = vy_template_make(plan->scenario_template, values, out, &diagnostics);
    const char *text = vy_status_text(status);
    for (int i = 0; status != VY_OK && i < diagnostics.count; ++i) {
        if (diagnostics.items[i].warning) continue;
        text = diagnostics.items[i].text;
        break;
    }
    if (status != VY_OK) (void)vy_fail(err, status, "%.180s", text);
    vy_diagnostics_destroy(&diagnostics);
    return status;
}
