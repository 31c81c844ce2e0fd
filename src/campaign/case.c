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
    const uint64_t block = (uint64_t)p->replicate_size;
    const double jitter = vy_sample_uniform(p->seed, (uint32_t)k, point);
    if (p->sample == VY_SAMPLE_LATIN) {
        const uint64_t replicate = point / block;
        const uint32_t key = (uint32_t)(replicate * VY_PLAN_VARY_CAP + (uint64_t)k);
        return clamp_unit(((double)vy_sample_permute(p->seed, key, block, point % block) + jitter) /
                          (double)block);
    }
    if (p->sample == VY_SAMPLE_SOBOL || p->sample == VY_SAMPLE_SALTELLI) {
        const int saltelli = p->sample == VY_SAMPLE_SALTELLI, d = p->vary_count;
        const int all = saltelli ? 2 * d : d;
        uint64_t replicate = point / block, at = point % block;
        int column = k;
        if (saltelli) { // blocks A, B, and A with column j of B for j = 0 ... d - 1
            if (replicate == 1 || (int)replicate - 2 == k) column = d + k;
            replicate = 0;
        }
        const size_t row = (size_t)replicate * (size_t)all + (size_t)column;
        uint64_t word[4];
        rng_words(p->seed, RNG_STREAM_CAMPAIGN, JITTER_INDEX + row, 0, 3, word); // a digital shift
        const uint32_t x = vy_sobol_point(p->directions + row * 32, (uint32_t)at) ^ (uint32_t)word[0];
        const double within = vy_sample_uniform(p->seed, (uint32_t)(JITTER_INDEX + row), at + 1);
        return clamp_unit(((double)x + within) * 0x1p-32);
    }
    return jitter; // a draw of its own
}

static double quantile(const vy_plan_variable *v, double u)
{
    switch (v->distribution) {
    case VY_PLAN_UNIFORM: return v->a + u * (v->b - v->a);
    case VY_PLAN_LOG_UNIFORM: return v->a * math_exp(u * math_log(v->b / v->a));
    case VY_PLAN_NORMAL: {
        const double low = v->a > -HUGE_VAL ? vy_normal_cdf((v->a - v->c) / v->d) : 0.0;
        const double high = v->b < HUGE_VAL ? vy_normal_cdf((v->b - v->c) / v->d) : 1.0;
        return v->c + v->d * vy_normal_quantile(clamp_unit(low + u * (high - low)));
    }
    case VY_PLAN_TRIANGULAR: {
        const double left = (v->c - v->a) / (v->b - v->a);
        if (u < left) return v->a + real_sqrt(u * (v->b - v->a) * (v->c - v->a));
        return v->b - real_sqrt((1.0 - u) * (v->b - v->a) * (v->b - v->c));
    }
    case VY_PLAN_VALUES: break;
    }
    return floor(u * v->value_count);
}

// Rounding may lead beyond a bound by a bit; the bound itself is allowed.
static double within(const vy_plan_variable *v, double x) { return x < v->a ? v->a : x > v->b ? v->b : x; }

// Value `at` of those that a grid or list has.
static double listed_value(const vy_plan_variable *v, uint64_t at)
{
    if (v->distribution == VY_PLAN_VALUES) return (double)at;
    const double u = (double)at / (double)(v->steps - 1);
    if (at == 0) return v->a;
    if (at == (uint64_t)v->steps - 1) return v->b;
    return within(v, quantile(v, u));
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
    uint64_t word[4];
    out->index = index;
    rng_words(p->seed, RNG_STREAM_CAMPAIGN, SEED_INDEX, index, 0, word);
    out->seed = (word[0] << 32 | word[1]) >> 11; // 53 bits: a number of any table
    for (int k = 0; k < p->vary_count; ++k)
        print_value(&p->vary[k], out->numbers[k], out->texts[k], sizeof out->texts[k]);
    snprintf(out->texts[p->vary_count], sizeof out->texts[0], "%llu", (unsigned long long)out->seed);
}

void vy_plan_case(const vy_plan *p, uint64_t index, vy_case *out)
{
    VY_ASSERT(index < (uint64_t)p->cases && p->vary_count <= VY_PLAN_VARY_CAP);
    const uint64_t point = index / (uint64_t)p->repeat;
    uint64_t rest = point;
    for (int k = p->vary_count - 1; k >= 0; --k) { // the last one changes fastest
        const vy_plan_variable *v = &p->vary[k];
        const uint64_t count = (uint64_t)(v->distribution == VY_PLAN_VALUES ? v->value_count : v->steps);
        if (p->sample == VY_SAMPLE_GRID) {
            out->numbers[k] = listed_value(v, rest % count);
            rest /= count;
        } else if (p->sample == VY_SAMPLE_LIST) {
            out->numbers[k] = listed_value(v, point);
        } else {
            const double x = quantile(v, unit_coordinate(p, point, k));
            out->numbers[k] = v->distribution == VY_PLAN_VALUES ? x : within(v, x);
        }
    }
    finish_case(p, index, out);
}

void vy_plan_case_from_unit(const vy_plan *p, uint64_t index, const double *unit, vy_case *out)
{
    for (int k = 0; k < p->vary_count; ++k) {
        const vy_plan_variable *v = &p->vary[k];
        const double x = quantile(v, clamp_unit(unit[k]));
        out->numbers[k] = v->distribution == VY_PLAN_VALUES ? x : within(v, x);
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
    vy_diagnostics found;
    for (int i = 0; i <= plan->vary_count; ++i) values[i] = c->texts[i];
    const vy_status status = vy_template_make(plan->scenario_template, values, out, &found);
    const char *text = vy_status_text(status);
    for (int i = 0; status != VY_OK && i < found.count; ++i) {
        if (found.items[i].warning) continue;
        text = found.items[i].text;
        break;
    }
    if (status != VY_OK) (void)vy_fail(err, status, "%.180s", text);
    vy_diagnostics_destroy(&found);
    return status;
}
