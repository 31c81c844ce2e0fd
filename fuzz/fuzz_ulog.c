// fuzz_ulog.c - any bytes as a ULog file. Two oracles: the sanitizers, and the reader's own promises: time
// rises, values are finite or missing, commands are 0 to 1.
#include "base/real.h"
#include "fit/ulog.h"
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int promise)
{
    if (!promise) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    vy_flight *f = NULL;
    vy_error err;
    const vy_status status = vy_ulog_parse(data, size, "fuzz", &f, &err);
    check((status == VY_OK) == (f != NULL));
    if (f == NULL) {
        check(err.text[0] != '\0');
        return 0;
    }
    for (size_t i = 0; i < f->rows; ++i) {
        check(i == 0 || f->values[VY_FLIGHT_TIME][i] > f->values[VY_FLIGHT_TIME][i - 1]);
        for (int k = 0; k < 8; ++k) {
            const double *u = f->values[VY_FLIGHT_MOTOR + k];
            check(u == NULL || (u[i] >= 0.0 && u[i] <= 1.001));
        }
    }
    vy_flight_free(f);
    return 0;
}
