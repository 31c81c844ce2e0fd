// fuzz_passive.c - any bytes as a scene in which nothing is driven: the draws of tests/passive_scenes.h, with
// joints and height fields. Oracles: the sanitizers; assertions; a scene goes on, and its energy does not
// grow by as much as there was. The law itself, which is stricter, is counted in tests/test_passive.c: not
// all scenes keep it.
#include "../tests/passive_scenes.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 40, SLOW_STEPS = 15, BODIES_MAX = 5 };

static void check(int condition)
{
    if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static passive_scene scene;
    passive_bytes = data;
    passive_byte_count = size < 1024 ? size : 1024;
    passive_create(&scene, 1);
    const double first_energy = passive_energy(&scene);
    // Joints, height fields and many bodies are slow under the sanitizers.
    const int steps = scene.count > BODIES_MAX                        ? 0
                      : scene.joints > 0 || scene.ground_heights == 2 ? SLOW_STEPS
                                                                      : STEPS;
    for (int k = 0; k < steps; ++k) {
        check((vy_bodies_step(scene.b) & VY_BODIES_NOT_FINITE) == 0);
        check(scene.is_euler || passive_energy(&scene) < 2.0 * first_energy);
    }
    passive_destroy(&scene);
    return 0;
}
