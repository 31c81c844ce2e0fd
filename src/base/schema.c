// schema.c - ranges of rows, and objects in C against them.
#include "base/schema.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/limits.h"
#include <float.h>
#include <stdio.h>
#include <string.h>

const vy_choice vy_on_off[2] = {{.name = "off", .help = "it does not"},
                                {.name = "on", .value = 1, .help = "it does"}};

vy_range vy_row_range(const vy_schema_row *row, const char *unit)
{
    const vy_limits limits = vy_limits_of(unit);
    vy_range range = row->range;
    if (range.max == DBL_MAX) {
        range.max = limits.max;
        if (range.exclusive_min && range.min == 0.0) range = (vy_range){limits.min, range.max, 0};
    }
    if (range.min == -DBL_MAX) range.min = -limits.max;
    VY_ASSERT(range.min <= range.max);
    return range;
}

static vy_status check_number(const vy_schema_row *row, const char *where, double value, vy_error *err)
{
    const vy_range range = vy_row_range(row, row->unit);
    const char *unit = row->unit != NULL ? row->unit : "", *unit_separator = row->unit != NULL ? " " : "";
    if (row->keyword != NULL && value == row->keyword_value) return VY_OK;
    if (value >= range.min && value <= range.max && !(range.exclusive_min && value == range.min))
        return VY_OK;
    const char *zero_prefix =
        row->keyword != NULL && row->keyword_value == 0.0 && range.min > 0.0 ? "0 or " : "";
    return vy_fail(err, VY_BAD_VALUE, "%s.%s must be %s%s %g and %s%g%s%s, got %g", where, row->key,
                   zero_prefix, range.exclusive_min ? "above" : "between", range.min,
                   range.exclusive_min ? "at most " : "", range.max, unit_separator, unit, value);
}

int vy_row_applies(const vy_schema_table *table, const vy_schema_row *row, const void *object)
{
    if (row->when == 0) return 1;
    VY_ASSERT(table->rows[0].type == VY_TYPE_CHOICE); // what it depends on is an int
    int value;
    memcpy(&value, (const char *)object + table->rows[0].offset, sizeof value);
    return value >= 0 && value < 32 && (row->when >> value & 1u) != 0;
}

// A choice by its value; the names of all of them in a message otherwise.
static vy_status check_choice(const vy_schema_row *row, const char *where, int value, vy_error *err)
{
    char names[120] = "";
    for (int i = 0; i < row->choice_count; ++i) {
        const size_t length = strlen(names);
        if (row->choices[i].value == value) return VY_OK;
        snprintf(names + length, sizeof names - length, "%s%s",
                 i == 0                       ? ""
                 : i + 1 == row->choice_count ? " or "
                                              : ", ",
                 row->choices[i].name);
    }
    return vy_fail(err, VY_BAD_VALUE, "%s.%s must be %s, got %d", where, row->key, names, value);
}

static vy_status check_numbers(const vy_schema_row *row, const char *where, const char *numbers, size_t count,
                               vy_error *err)
{
    vy_status status = VY_OK;
    for (size_t k = 0; k < count && status == VY_OK; ++k) {
        double value;
        memcpy(&value, numbers + k * sizeof value, sizeof value);
        status = check_number(row, where, value, err);
    }
    return status;
}

vy_status vy_check_rows(const vy_schema_table *table, const char *where, const void *object, vy_error *err)
{
    vy_status status = VY_OK;
    for (int i = 0; i < table->row_count && status == VY_OK; ++i) {
        const vy_schema_row *row = &table->rows[i];
        const char *member = (const char *)object + row->offset;
        int integer;
        VY_ASSERT(table->size == 0 || row->offset < table->size);
        if (!vy_row_applies(table, row, object)) continue;
        switch (row->type) {
        case VY_TYPE_NUMBER: status = check_numbers(row, where, member, 1, err); break;
        case VY_TYPE_VECTOR: status = check_numbers(row, where, member, row->size, err); break;
        case VY_TYPE_COUNT:
            memcpy(&integer, member, sizeof integer);
            status = check_number(row, where, integer, err);
            break;
        case VY_TYPE_CHOICE:
            memcpy(&integer, member, sizeof integer);
            status = check_choice(row, where, integer, err);
            break;
        default: break; // texts, objects and lists are checked by who has them
        }
    }
    return status;
}
