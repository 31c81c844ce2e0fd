// fuzz_flight_csv.c - any bytes as a recorded flight and its mapping, split at the first zero byte. Two
// oracles: the sanitizers, and the reader's own promises: time rises, values are finite or missing, commands
// are 0 to 1, speeds are not negative, and a bad value has a line and a column.
#include "base/real.h"
#include "scenario/flight_csv.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition)
{
    if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *separator = size > 0 ? memchr(data, 0, size) : NULL;
    const char *table = separator == NULL ? (const char *)data : (const char *)separator + 1;
    const size_t table_size = separator == NULL ? size : size - (size_t)(separator + 1 - data);
    vy_flight_mapping mapping;
    vy_error err;
    if (separator != NULL && vy_flight_mapping_parse((const char *)data, (size_t)(separator - data),
                                                     "mapping", &mapping, &err) != VY_OK) {
        check(err.text[0] != '\0');
        return 0;
    }
    vy_flight *flight = NULL;
    const vy_status status =
        vy_flight_parse(table, table_size, separator == NULL ? NULL : &mapping, "fuzz", &flight, &err);
    check((status == VY_OK) == (flight != NULL));
    if (flight == NULL) {
        check(err.text[0] != '\0');
        check(status != VY_BAD_VALUE || (err.line > 0 && err.column > 0));
        return 0;
    }
    check(flight->rows >= 2 && flight->values[VY_FLIGHT_TIME][0] == 0.0);
    for (int quantity = 0; quantity < VY_FLIGHT_QUANTITY_COUNT; ++quantity) {
        for (size_t i = 0; flight->values[quantity] != NULL && i < flight->rows; ++i) {
            const double v = flight->values[quantity][i];
            check(real_is_finite(v) || v != v);
            if (quantity == VY_FLIGHT_TIME && i > 0) check(v > flight->values[quantity][i - 1]);
            if (quantity >= VY_FLIGHT_MOTOR && quantity < VY_FLIGHT_ROTOR) check(v > -0.01 && v < 1.01);
            if (quantity >= VY_FLIGHT_ROTOR && quantity < VY_FLIGHT_VOLTAGE) check(v >= -1.0);
        }
    }
    vy_flight_free(flight);
    return 0;
}
