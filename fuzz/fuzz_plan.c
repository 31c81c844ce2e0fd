// fuzz_plan.c - any bytes as a campaign's plan. Two oracles: nothing crashes, leaks or hangs; and every case
// of whatever is accepted lies within its bounds.
#include "campaign/plan_schema.h"
#include "mutate_yaml.h"
#include <stdlib.h>

// libfyaml 0.7.12 loses a kilobyte over some unfinished quoted texts; what we lose ourselves still counts.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfyaml\n"; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    return yaml_mutate(data, size, max_size, seed, &vy_plan_table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    vy_plan *plan = NULL;
    vy_diagnostics diagnostics;
    const vy_status status = vy_plan_parse((const char *)data, size, "fuzz", &plan, &diagnostics);
    if ((status == VY_OK) != (diagnostics.errors == 0) || (status == VY_OK) != (plan != NULL)) abort();
    vy_diagnostics_destroy(&diagnostics);
    if (plan == NULL) return 0;
    const uint64_t last = (uint64_t)plan->cases - 1, cases[] = {0, last / 3, last};
    for (int i = 0; i < 3; ++i) {
        vy_case plan_case;
        vy_plan_case(plan, cases[i], &plan_case);
        for (int k = 0; k < plan->vary_count; ++k) {
            const vy_plan_variable *variable = &plan->vary[k];
            const int is_listed = variable->distribution == VY_PLAN_VALUES;
            const double low = is_listed ? 0.0 : variable->low,
                         high = is_listed ? variable->value_count - 1 : variable->high;
            if (!(plan_case.numbers[k] >= low && plan_case.numbers[k] <= high)) abort();
        }
    }
    vy_plan_destroy(plan);
    return 0;
}
