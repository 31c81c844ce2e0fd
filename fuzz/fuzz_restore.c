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
    FLOWN = 64,          // one in so many is flown: a forged rate may take thousands of sub-steps,
    JOINTED_FLOWN = 1024 // and a forged place pulls joints far apart
};

// A scene some steps after its start. Building it takes a hundred times as long as restoring it.
typedef struct started_scene {
    vy_world *world; // NULL: not built yet, or too slow
    int is_known;
    unsigned char *block, *changed;
    size_t size;
    uint64_t hash;
} started_scene;

static void check(int good)
{
    if (!good) abort();
}

// Assertions are about states that a world reaches. A forged one may be taken and break them: only that
// nothing worse happens is tested here.
static void ignore_assertion(const char *condition, const char *file, int line)
{
    (void)condition;
    (void)file;
    (void)line;
}

static started_scene *find_scene(uint8_t pick)
{
    static started_scene all[SCENES_MAX];
    check(vy_scene_count <= SCENES_MAX);
    started_scene *s = &all[pick % (unsigned)vy_scene_count];
    if (s->is_known) return s;
    s->is_known = 1;
    check(vy_scenes[pick % (unsigned)vy_scene_count].build(1, &s->world, NULL) == VY_OK);
    if (vy_world_drone_count(s->world) > DRONES_MAX) { // slow, and nothing that few do not have
        vy_world_destroy(s->world);
        s->world = NULL;
        return s;
    }
    (void)vy_world_advance(s->world, STEPS_BEFORE);
    s->size = vy_world_state_size(s->world);
    s->block = malloc(s->size);
    s->changed = malloc(s->size);
    check(s->block != NULL && s->changed != NULL);
    vy_world_save(s->world, s->block);
    s->hash = vy_world_state_hash(s->world);
    return s;
}

static int is_jointed(const vy_world *world) { return vy_world_joint_count(world) > 0; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    vy_set_assert_hook(ignore_assertion);
    const started_scene *s = find_scene(data[0]);
    if (s->world == NULL) return 0;
    memcpy(s->changed, s->block, s->size);
    int changes = 0;
    for (size_t at = 1; at + CHANGE_BYTES <= size && changes < CHANGES_MAX; at += CHANGE_BYTES, ++changes) {
        const size_t place = (size_t)(data[at] | data[at + 1] << 8) % (s->size / 8);
        memcpy(s->changed + 8 * place, data + at + 2, 8);
    }
    vy_error err = {.status = VY_OK};
    if (vy_world_restore(s->world, s->changed, s->size, &err) != VY_OK) {
        check(changes > 0 && err.text[0] != '\0' && vy_world_state_hash(s->world) == s->hash);
        return 0;
    }
    if (is_one_in(is_jointed(s->world) ? JOINTED_FLOWN : FLOWN, data, size))
        (void)vy_world_advance(s->world, STEPS_AFTER);
    const vy_failure failure = vy_world_failure(s->world);
    char text[256];
    check(failure.reason == VY_FAILURE_NONE || failure.body < vy_world_body_count(s->world));
    vy_failure_print(&failure, "it", text, sizeof text);
    check(vy_world_restore(s->world, s->block, s->size, &err) == VY_OK);
    check(vy_world_state_hash(s->world) == s->hash);
    return 0;
}
