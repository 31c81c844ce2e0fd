// difference.c - the first differing step, the field and both values.
#include "difference.h"
#include "message.h"
#include <inttypes.h>
#include <string.h>

static void value_text(const vy_difference *d, int is_second, char *out, size_t size)
{
    if (d->real) snprintf(out, size, "%.17g", is_second ? d->b : d->a);
    if (!d->real) snprintf(out, size, "%" PRIu64, is_second ? d->integer_b : d->integer_a);
}

// A message of a log that is not what the flight gives.
static void print_message(const vy_difference *d, double dt, const char *a, const char *b)
{
    const palette p = vy_palette(stdout);
    printf("%sdiffers%s first at step %" PRIu64 " (%.6g s): the same states, but %s ", p.bad, p.plain,
           d->tick, (double)d->tick * dt, d->field);
    if (d->has_values) {
        char text_a[40], text_b[40];
        value_text(d, 0, text_a, sizeof text_a);
        value_text(d, 1, text_b, sizeof text_b);
        printf("is\n    %s in %s\n    %s in %s\n", text_a, a, text_b, b);
    } else if (d->text_b[0] != '\0') {
        printf("is\n    %s in %s\n    %s in %s\n", d->text_a, a, d->text_b, b);
    } else {
        printf("is %s in %s\n", d->text_a[0] != '\0' ? d->text_a : "another", a);
    }
}

void vy_difference_print(const vy_difference *d, double dt, const char *a, const char *b)
{
    if (d->message) {
        print_message(d, dt, a, b);
        return;
    }
    const palette p = vy_palette(stdout);
    if (d->reply && strstr(d->field, ".reply.check") != NULL) {
        printf("%sdiffers%s first at step %" PRIu64
               " (%.6g s): %.*s was changed after the flight: its check is\n"
               "    %016" PRIx64 " in %s\n    %016" PRIx64 " by its values\n",
               p.bad, p.plain, d->tick, (double)d->tick * dt, (int)(strlen(d->field) - strlen(".check")),
               d->field, d->integer_a, a, d->integer_b);
        return;
    }
    if (d->reply) {
        char text_a[40], text_b[40];
        value_text(d, 0, text_a, sizeof text_a);
        value_text(d, 1, text_b, sizeof text_b);
        printf("%sanswers differently%s first at step %" PRIu64
               " (%.6g s): %s is\n    %s in %s\n    %s in %s\n",
               p.bad, p.plain, d->tick, (double)d->tick * dt, d->field, text_a, a, text_b, b);
        return;
    }
    if (d->hash_b == 0 && d->last_tick < d->tick) {
        printf("%sdiffers%s in length: %s ended at step %" PRIu64 ", %s goes on\n", p.bad, p.plain, b,
               d->last_tick, a);
        return;
    }
    char text_a[40], text_b[40];
    value_text(d, 0, text_a, sizeof text_a);
    value_text(d, 1, text_b, sizeof text_b);
    printf("%sdiffers%s first at step %" PRIu64 " (%.6g s): ", p.bad, p.plain, d->tick, (double)d->tick * dt);
    if (d->hash_a == d->hash_b)
        printf("the same hash, but another full state in %s\n", a);
    else
        printf("hash %016" PRIx64 " in %s, %016" PRIx64 " in %s\n", d->hash_a, a, d->hash_b, b);
    if (d->field[0] == '\0') {
        printf("  no full states can be compared at or after that step, so that no value is named\n");
        return;
    }
    printf("  at step %" PRIu64 " %s is\n    %s in %s\n    %s in %s\n", d->field_tick, d->field, text_a, a,
           text_b, b);
    if (d->field_tick > d->tick) {
        printf(
            "  that is the first full state after it; run with --log-state every to see the step itself\n");
    }
}

void vy_difference_json(const vy_difference *d, double dt, json *j)
{
    vy_json_uint(j, "last_step", d->last_tick);
    if (!d->found) return;
    vy_json_object(j, "difference");
    vy_json_uint(j, "step", d->tick);
    vy_json_number(j, "time_s", (double)d->tick * dt);
    vy_json_bool(j, "reply", d->reply);
    vy_json_bool(j, "message", d->message);
    if (!d->message) {
        vy_json_hash(j, "hash_a", d->hash_a);
        vy_json_hash(j, "hash_b", d->hash_b);
    }
    vy_json_text(j, "field", d->field[0] != '\0' ? d->field : NULL);
    if (d->field[0] != '\0') {
        vy_json_uint(j, "field_step", d->field_tick);
        const int has_text = d->message && !d->has_values;
        if (has_text) vy_json_text(j, "a", d->text_a), vy_json_text(j, "b", d->text_b);
        if (!has_text && d->real) vy_json_number(j, "a", d->a), vy_json_number(j, "b", d->b);
        if (!has_text && !d->real) vy_json_uint(j, "a", d->integer_a), vy_json_uint(j, "b", d->integer_b);
    }
    vy_json_close(j);
}
