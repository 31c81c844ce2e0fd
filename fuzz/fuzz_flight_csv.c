// fuzz_flight_csv.c - any bytes as a recorded flight and its mapping, split at the first zero byte. Two
// oracles: the sanitizers, and the reader's own promises: time rises, values are finite or missing, commands
// are 0 to 1, speeds are not negative, and a bad value has a line and a column.
#include "base/real.h"
#include "scenario/flight_csv.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int promise)
{
    if (!promise) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *cut = size > 0 ? memchr(data, 0, size) : NULL;
    const char *table = cut == NULL ? (const char *)data : (const char *)cut + 1;
    const size_t rest = cut == NULL ? size : size - (size_t)(cut + 1 - data);
    vy_flight_mapping mapping;
    vy_error err;
    if (cut != NULL && vy_flight_mapping_parse((const char *)data, (size_t)(cut - data), "mapping", &mapping,
                                               &err) != VY_OK) {
        check(err.text[0] != '\0');
        return 0;
    }
    vy_flight *f = NULL;
    const vy_status status = vy_flight_parse(table, rest, cut == NULL ? NULL : &mapping, "fuzz", &f, &err);
    check((status == VY_OK) == (f != NULL));
    if (f == NULL) {
        check(err.text[0] != '\0');
        check(status != VY_BAD_VALUE || (err.line > 0 && err.column > 0));
        return 0;
    }
    check(f->rows >= 2 && f->values[VY_FLIGHT_TIME][0] == 0.0);
    for (int q = 0; q < VY_FLIGHT_QUANTITY_COUNT; ++q) {
        for (size_t i = 0; f->values[q] != NULL && i < f->rows; ++i) {
            const double v = f->values[q][i];
            check(real_is_finite(v) || v != v);
            if (q == VY_FLIGHT_TIME && i > 0) check(v > f->values[q][i - 1]);
            if (q >= VY_FLIGHT_MOTOR && q < VY_FLIGHT_ROTOR) check(v > -0.01 && v < 1.01);
            if (q >= VY_FLIGHT_ROTOR && q < VY_FLIGHT_VOLTAGE) check(v >= -1.0);
        }
    }
    vy_flight_free(f);
    return 0;
}
