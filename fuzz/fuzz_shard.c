// fuzz_shard.c - any bytes as a shard of results. Nothing crashes, and nothing is taken that the checksum
// does not fit.
#include "base/hash.h"
#include "campaign/shard.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    vy_scenario base = {.expect_count = 1};
    vy_plan_variable variable = {.distribution = VY_PLAN_VALUES, .value_count = 3};
    vy_plan plan = {.cases = 5, .vary = &variable, .vary_count = 1, .base = &base, .identity = 7};
    const double *rows = NULL;
    vy_error err;
    uint8_t *copy = calloc(1, size + 16);
    if (copy == NULL) return 0;
    if (size > 0) memcpy(copy, data, size);
    (void)vy_shard_parse(copy, size, &plan, 1, 2, &rows, &err);
    if (size >=
        sizeof(vy_shard_header) + 8) { // with a checksum that fits, so that what is behind it is reached
        const size_t body = size - sizeof(vy_shard_header) - 8;
        const uint64_t checksum =
            vy_hash_chain(vy_hash64(copy, sizeof(vy_shard_header)), copy + sizeof(vy_shard_header), body);
        memcpy(copy + size - 8, &checksum, sizeof checksum);
        const vy_status status = vy_shard_parse(copy, size, &plan, 1, 2, &rows, &err);
        uint64_t first, last;
        vy_shard_range(&plan, 1, 2, &first, &last);
        for (uint64_t i = 0; status == VY_OK && i < last - first; ++i) {
            vy_result result;
            memcpy(&result, rows + i * vy_row_cells(&plan), sizeof result);
            if (result.index != first + i) abort();
        }
    }
    free(copy);
    return 0;
}
