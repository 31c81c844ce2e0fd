// test_delay_line.c - delay lines: what is put arrives so many samples later, once, and nothing else does.
#include "check.h"
#include "world/delay_line.h"

enum { SAMPLES = 200, NUMBERS = 4096 };

// The value of a sample, as told by its tick.
static double value_of(uint64_t tick, uint32_t i) { return 1000.0 * (double)tick + i; }

static void check_line(random_source *r, delay_line_block *numbers, const delay_line *line)
{
    int put[SAMPLES] = {0};
    for (uint64_t n = 1; n < SAMPLES; ++n) {
        const uint64_t tick = n * line->period, since = random_bits(r) % (2 * tick);
        const int sent = random_bits(r) % 4 != 0;
        double in[DELAY_LINE_WIDTH], out[DELAY_LINE_WIDTH] = {-1.0};
        for (uint32_t i = 0; i < line->width; ++i) in[i] = value_of(tick, i);
        const uint64_t from = n > line->delay ? n - line->delay : 0;
        const int arrives = from > 0 && put[from] && from * line->period >= since;
        assert_int_equal(vy_delay_line_take(line, numbers, tick, since, out), arrives);
        for (uint32_t i = 0; i < line->width && arrives; ++i)
            assert_true(out[i] == value_of(from * line->period, i));
        if (!arrives) assert_true(out[0] == -1.0);
        if (sent) vy_delay_line_put(line, numbers, tick, in);
        put[n] = sent;
    }
}

// Against a list of all that was ever put.
static void samples_arrive_late_and_once(void **unused)
{
    (void)unused;
    random_source r = {11};
    for (int round = 0; round < 300; ++round) {
        static delay_line_block numbers[NUMBERS];
        const delay_line line = {1 + random_bits(&r) % 9, 1 + random_bits(&r) % 7, 1 + random_bits(&r) % 20,
                                 1 + (uint32_t)(random_bits(&r) % DELAY_LINE_WIDTH)};
        const uint64_t end = line.first + delay_line_size(line.delay, line.width);
        assert_true(end < NUMBERS);
        memset(numbers, 0, sizeof numbers);
        numbers[line.first - 1].value = numbers[end].value = 7.0; // its neighbours'
        check_line(&r, numbers, &line);
        assert_true(numbers[line.first - 1].value == 7.0 && numbers[end].value == 7.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(samples_arrive_late_and_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
