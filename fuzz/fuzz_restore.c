// fuzz_restore.c - a state with any words changed. The first byte picks a scene, then each ten bytes are a
// place and a word to put there. Oracles: the sanitizers; a state that is refused is refused with a sentence
// and changes nothing; one that is taken may be flown on from, and its failure names a drone there is;
// whatever was flown from, the state as it was brings back the world as it was.
#include "mutate.h"
#include "scenes/scenes.h"
#include "volery/assert.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    STEPS_BEFORE = 50,
    STEPS_AFTER = 3,
    CHANGE_BYTES = 10,
    CHANGES_MAX = 16,
    SCENES_MAX = 64,
    DRONES_MAX = 16,
    ADVANCE_ONE_IN = 256,         // inputs: a forged rate may take thousands of sub-steps,
    ADVANCE_JOINTED_ONE_IN = 8192 // and a forged place pulls joints far apart
};

// A scene some steps after its start. Building it takes a hundred times as long as restoring it.
typedef struct started_scene {
    vy_world *world; // NULL: not built yet, or too slow
    int is_known;
    unsigned char *block, *changed; // its state, and a copy with words that are changed
    size_t size;
    uint64_t hash;
} started_scene;

static void check(int condition)
{
    if (!condition) abort();
}

// Assertions are about states that a world reaches. A forged one may be taken and break them: only that
// nothing worse happens is tested here.
static void ignore_assertion(const char *condition, const char *file, int line)
{
    (void)condition;
    (void)file;
    (void)line;
}

static started_scene *find_scene(uint8_t selector)
{
    static started_scene scenes[SCENES_MAX];
    check(vy_scene_count <= SCENES_MAX);
    started_scene *scene = &scenes[selector % (unsigned)vy_scene_count];
    if (scene->is_known) return scene;
    scene->is_known = 1;
    check(vy_scenes[selector % (unsigned)vy_scene_count].build(1, &scene->world, NULL) == VY_OK);
    if (vy_world_drone_count(scene->world) > DRONES_MAX) { // slow, and nothing that few do not have
        vy_world_destroy(scene->world);
        scene->world = NULL;
        return scene;
    }
    (void)vy_world_advance(scene->world, STEPS_BEFORE);
    scene->size = vy_world_state_size(scene->world);
    scene->block = malloc(scene->size);
    scene->changed = malloc(scene->size);
    check(scene->block != NULL && scene->changed != NULL);
    vy_world_save(scene->world, scene->block);
    scene->hash = vy_world_state_hash(scene->world);
    return scene;
}

static int is_jointed(const vy_world *world) { return vy_world_joint_count(world) > 0; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    vy_set_assert_hook(ignore_assertion);
    const started_scene *scene = find_scene(data[0]);
    if (scene->world == NULL) return 0;
    memcpy(scene->changed, scene->block, scene->size);
    int change_count = 0;
    for (size_t at = 1; at + CHANGE_BYTES <= size && change_count < CHANGES_MAX;
         at += CHANGE_BYTES, ++change_count) {
        const size_t cell = (size_t)(data[at] | data[at + 1] << 8) % (scene->size / 8);
        memcpy(scene->changed + 8 * cell, data + at + 2, 8);
    }
    vy_error err = {.status = VY_OK};
    if (vy_world_restore(scene->world, scene->changed, scene->size, &err) != VY_OK) {
        check(change_count > 0 && err.text[0] != '\0' && vy_world_state_hash(scene->world) == scene->hash);
        return 0;
    }
    if (is_one_in(is_jointed(scene->world) ? ADVANCE_JOINTED_ONE_IN : ADVANCE_ONE_IN, data, size))
        (void)vy_world_advance(scene->world, STEPS_AFTER);
    const vy_failure failure = vy_world_failure(scene->world);
    char text[256];
    check(failure.reason == VY_FAILURE_NONE || failure.body < vy_world_body_count(scene->world));
    vy_failure_print(&failure, "it", text, sizeof text);
    check(vy_world_restore(scene->world, scene->block, scene->size, &err) == VY_OK);
    check(vy_world_state_hash(scene->world) == scene->hash);
    return 0;
}
