// fuzz_ulog.c - any bytes as a ULog file. Two oracles: the sanitizers, and the reader's own promises: time
// rises, values are finite or missing, commands are 0 to 1.
#include "base/real.h"
#include "fit/ulog.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition)
{
    if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    vy_flight *flight = NULL;
    vy_error err;
    const vy_status status = vy_ulog_parse(data, size, "fuzz", &flight, &err);
    check((status == VY_OK) == (flight != NULL));
    if (flight == NULL) {
        check(err.text[0] != '\0');
        return 0;
    }
    for (size_t i = 0; i < flight->rows; ++i) {
        check(i == 0 || flight->values[VY_FLIGHT_TIME][i] > flight->values[VY_FLIGHT_TIME][i - 1]);
        for (int motor = 0; motor < 8; ++motor) {
            const double *commands = flight->values[VY_FLIGHT_MOTOR + motor];
            check(commands == NULL || (commands[i] >= 0.0 && commands[i] <= 1.001));
        }
    }
    vy_flight_free(flight);
    return 0;
}
