// fuzz_restore.c - a state with any words changed. The first byte picks a scene, then each ten bytes are a
// place and a word to put there. Oracles: the sanitizers; a state that is refused is refused with a sentence
// and changes nothing; one that is taken is flown on from, and its failure names a drone there is.
#include "scenes/scenes.h"
#include "volery/assert.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BEFORE = 50, AFTER = 20, CHANGE = 10, CHANGES_MAX = 16 };

static void check(int good)
{
    if (!good) abort();
}

// Assertions are about states that a world reaches. A forged one may be taken and break them: only that
// nothing worse happens is tested here.
static void pass_over(const char *condition, const char *file, int line)
{
    (void)condition;
    (void)file;
    (void)line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    vy_set_assert_hook(pass_over);
    vy_world *world = NULL;
    const vy_scene *scene = &vy_scenes[data[0] % (unsigned)vy_scene_count];
    if (scene->build(1, &world, NULL) != VY_OK) abort();
    if (vy_world_drone_count(world) > 16) { // slow, and nothing that few do not have
        vy_world_destroy(world);
        return 0;
    }
    (void)vy_world_advance(world, BEFORE);
    const size_t room = vy_world_state_size(world);
    unsigned char *block = malloc(room);
    if (block == NULL) abort();
    vy_world_save(world, block);
    int changes = 0;
    for (size_t at = 1; at + CHANGE <= size && changes < CHANGES_MAX; at += CHANGE, ++changes) {
        const size_t place = (size_t)(data[at] | data[at + 1] << 8) % (room / 8);
        memcpy(block + 8 * place, data + at + 2, 8);
    }
    vy_error err = {.status = VY_OK};
    const uint64_t before = vy_world_state_hash(world);
    if (vy_world_restore(world, block, room, &err) == VY_OK) {
        (void)vy_world_advance(world, AFTER);
        const vy_failure failure = vy_world_failure(world);
        char text[256];
        check(failure.reason == VY_FAILURE_NONE || failure.body < vy_world_body_count(world));
        vy_failure_print(&failure, "it", text, sizeof text);
    } else {
        check(changes > 0 && err.text[0] != '\0' && vy_world_state_hash(world) == before);
    }
    free(block);
    vy_world_destroy(world);
    return 0;
}
