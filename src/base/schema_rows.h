// schema_rows.h - how tables write their rows.
#pragma once
#include "base/schema.h"
#include <float.h>

// clang-format off
// Ranges. The first three end where base/limits.h has it for the row's unit. WITHIN has both ends, ABOVE_TO
// all above `min_` up to `max_`.
#define ANY                  {-DBL_MAX, DBL_MAX, 0}
#define POSITIVE             {0.0, DBL_MAX, 1}
#define AT_LEAST_0           {0.0, DBL_MAX, 0}
#define WITHIN(min_, max_)   {min_, max_, 0}
#define ABOVE_TO(min_, max_) {min_, max_, 1}

// A row of struct `type_`. `field_` may reach into structs inside it.
#define ROW(key_, kind_, type_, field_, ...) \
    {.key = key_, .type = VY_TYPE_##kind_, .offset = offsetof(type_, field_), __VA_ARGS__}
// Keys of the same struct under one heading.
#define GROUP(key_, table_, ...) {.key = key_, .type = VY_TYPE_OBJECT, .table = table_, __VA_ARGS__}
#define CHOICE(name_, value_, help_) {.name = name_, .value = value_, .help = help_}
#define ROWS(list) .rows = list, .row_count = (int)(sizeof list / sizeof list[0])
#define CHOICES(list) .choices = list, .choice_count = (int)(sizeof list / sizeof list[0])
// Off or on.
#define SWITCH .choices = vy_on_off, .choice_count = 2
// clang-format on
