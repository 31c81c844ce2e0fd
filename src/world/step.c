// step.c - steps with the best instructions this processor has. What a step is stands in stages.inl.
#include "world/step.h"
#include "base/real.h"
#include "base/cpu.h"

uint32_t vy_steps_baseline(vy_world *world, uint64_t count) { return steps(world, count); }

uint32_t vy_world_step(vy_world *world) { return vy_world_advance(world, 1); }

uint32_t vy_world_advance(vy_world *world, uint64_t count)
{
    FPU_SCOPE;
    uint32_t events;
    switch (vy_cpu()) { // the same bits whichever it is
    case VY_CPU_AVX512: events = vy_steps_avx512(world, count); break;
    case VY_CPU_AVX2: events = vy_steps_avx2(world, count); break;
    default: events = vy_steps_baseline(world, count); break;
    }
    return events;
}
