// stages.h - which stages of stages.inl a world has, and which machines can step it. Over `real`.
#pragma once
#include "world/model.h"

/// What only some worlds have, one bit each.
enum step_option {
#define OPTION(name, present, text) OPTION_##name,
#include "world/stages.inl"
    OPTION_COUNT
};

/// Options with a stage that lanes lack. A GPU and single precision lack those of all options.
enum {
    OPTIONS_OF_WORLDS = 0
#define STAGE_WORLD(option, ...) | 1 << OPTION_##option
#include "world/stages.inl"
};

/// The options of a world: none in a basic one.
VY_FN unsigned step_options(const vy_model *m)
{
    unsigned options = 0;
#define OPTION(name, present, text) \
    if (present) options |= 1u << OPTION_##name;
#include "world/stages.inl"
    return options;
}

/// The first of `options`, in words; there must be one.
VY_FN const char *step_option_text(unsigned options)
{
    VY_ASSERT(options != 0 && options < 1u << OPTION_COUNT);
#define OPTION(name, present, text) \
    if ((options & 1u << OPTION_##name) != 0) return text;
#include "world/stages.inl"
    return "";
}
