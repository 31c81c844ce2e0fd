// cmd_bench.c - volery bench: the benchmarks.
#include "bench/bench.h"
#include "bench/calling.h"
#include "command.h"
#include "message.h"
#include <stdio.h>
#include <string.h>

COMMAND(bench)
{
    if (vy_has_option(args, "echo")) return vy_bench_echo();
    const char *name = args->operand_count > 0 ? args->operands[0] : NULL;
    int is_known = name == NULL;
    for (int i = 0; !is_known && i < vy_bench_count; ++i)
        is_known = vy_bench_matches_name(&vy_benches[i], name);
    if (is_known) return vy_bench_main(name, vy_has_option(args, "json"), vy_has_option(args, "once"));
    vy_print_error("bench", EXIT_USAGE, "there is no benchmark %s; there are:", name);
    for (int i = 0; i < vy_bench_count; ++i)
        fprintf(stderr, "  %-18s%s\n", vy_benches[i].name, vy_benches[i].text);
    return EXIT_USAGE;
}
