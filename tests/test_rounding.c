// test_rounding.c - whatever rounding and flushing of denormals the caller has set, every public function
// gives the bits it gives without, and leaves the caller's setting as it was.
#define _POSIX_C_SOURCE 200809L
#include "base/real.h"
#include "scenario_text.h"
#include "volery/batch.h"
#include "volery/bodies.h"
#include "volery/environment.h"
#include "volery/hull.h"
#include "volery/mass.h"
#include "volery/record.h"
#include "volery/shape.h"
#include <fenv.h>
#include <unistd.h>

enum { RESULT_CAP = 512 };

typedef struct results {
    struct {
        const char *name;
        uint64_t value;
    } items[RESULT_CAP];
    int count;
} results;

// Nothing here computes: the caller's mode is set while it runs.
static void add(results *r, const char *name, uint64_t value)
{
    if (r->count < RESULT_CAP) r->items[r->count++].value = value;
    r->items[r->count - 1].name = name;
}

static void add_bytes(results *r, const char *name, const void *bytes, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; ++i) hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    add(r, name, hash);
}

static void add_text(results *r, const char *name, char *text)
{
    if (text != NULL) add_bytes(r, name, text, strlen(text));
    free(text);
}

static void add_real(results *r, const char *name, double value) { add_bytes(r, name, &value, sizeof value); }

static void take_log(results *r, const vy_scenario *s, const char *path)
{
    vy_world *world = NULL;
    vy_recorder *recorder = NULL;
    vy_log *log = NULL;
    if (vy_scenario_build(s, &world, NULL) != VY_OK) return;
    if (vy_scenario_record(s, world, path, NULL, &recorder, NULL) == VY_OK) {
        vy_world_set_sink(world, vy_recorder_sink(recorder));
        for (int i = 0; i < 40; ++i) (void)vy_world_step(world);
        add(r, "close", (uint64_t)vy_recorder_close(recorder, world, "completed", NULL));
        add(r, "open", (uint64_t)vy_log_open(path, &log, NULL));
    }
    const vy_export_def def = vy_default_export_def();
    FILE *file = tmpfile();
    if (log != NULL && file != NULL && vy_log_export(log, &def, file, NULL) == VY_OK) {
        static char block[1 << 20];
        rewind(file);
        add_bytes(r, "export", block, fread(block, 1, sizeof block, file));
    }
    if (file != NULL) fclose(file);
    vy_log_close(log);
    vy_world_destroy(world);
    (void)unlink(path);
}

static void take_scenario(results *r, const char *path, const char *log)
{
    static const char *const overrides[] = {"step=0.0011", "drones[0].vehicle.mass=0.0317", "duration=0.33"};
    for (int changed = 0; changed < 2; ++changed) {
        const vy_scenario_options options = {.overrides = overrides, .override_count = changed ? 3 : 0};
        vy_scenario *s = NULL, *copy = NULL;
        vy_diagnostics told;
        add(r, path, (uint64_t)vy_scenario_load(path, &options, &s, &told));
        add_text(r, "diagnostics", vy_diagnostics_print(&told));
        vy_diagnostics_destroy(&told);
        if (s == NULL) continue;
        add(r, "config_hash", vy_scenario_hash(s));
        add_text(r, "print", vy_scenario_print(s));
        add(r, "steps", vy_scenario_steps(s));
        if (vy_scenario_copy(s, &copy, NULL) == VY_OK) add(r, "copy", vy_scenario_hash(copy));
        vy_world *world = NULL;
        if (vy_scenario_build(s, &world, NULL) == VY_OK) {
            vy_expect_result expected[32];
            add(r, "built", vy_world_hash(world));
            if (s->expect_count <= 32) vy_expect_begin(s, expected);
            for (int i = 0; i < 60; ++i) {
                (void)vy_world_step(world);
                if (s->expect_count <= 32) vy_expect_feed(s, world, expected);
            }
            for (int i = 0; i < s->expect_count && s->expect_count <= 32; ++i)
                add_text(r, "expect", vy_expect_print(s, i, &expected[i]));
            add(r, "flown", vy_world_hash(world));
            add_real(r, "time", vy_world_time(world));
            const vy_failure failure = vy_world_failure(world);
            char why[300];
            vy_failure_print(&failure, "a", why, sizeof why);
            add_bytes(r, "failure", why, strlen(why));
        }
        vy_world_destroy(world);
        if (changed && log != NULL) take_log(r, s, log);
        vy_scenario_destroy(copy);
        vy_scenario_destroy(s);
    }
}

static void take_batch(results *r)
{
    vy_scenario *s = NULL;
    vy_batch *batch = NULL;
    if (vy_scenario_load("scenarios/hover.yaml", NULL, &s, NULL) != VY_OK) return;
    vy_batch_def def = vy_default_batch_def();
    def.scenario = s;
    def.world_count = 5;
    def.threads = 2;
    def.chain = 1;
    def.randomisation_count = 2;
    def.randomisation[0] =
        (vy_randomisation){VY_VARIABLE_MASS, VY_DISTRIBUTION_UNIFORM, 0.9, 1.1, VY_EVERY_DRONE};
    def.randomisation[1] =
        (vy_randomisation){VY_VARIABLE_THRUST, VY_DISTRIBUTION_NORMAL, 1.0, 0.03, VY_EVERY_DRONE};
    add(r, "batch", (uint64_t)vy_batch_create(&def, &batch, NULL));
    if (batch != NULL) vy_batch_step(batch, 40);
    for (uint32_t i = 0; batch != NULL && i < 5; ++i) add(r, "batch world", vy_batch_hash(batch, i));
    vy_batch_destroy(batch);
    vy_scenario_destroy(s);
}

static void take_shapes(results *r, const vy_vec3 *points, int count)
{
    vy_hull *hull = NULL;
    vy_mass_properties mass;
    add(r, "hull", (uint64_t)vy_hull_create(points, count, VY_HULL_TOLERANCE, &hull, NULL));
    if (hull != NULL) {
        const double figures[] = {hull->volume,     hull->area,       hull->radius,      hull->inner_radius,
                                  hull->centroid.x, hull->centroid.y, hull->bounds.low.x};
        add_bytes(r, "hull figures", figures, sizeof figures);
        for (int i = 0; i < hull->face_count; ++i)
            add_bytes(r, "plane", &hull->faces[i].normal, sizeof hull->faces[i].normal);
        if (vy_hull_mass(hull, 0.3, &mass, NULL) == VY_OK) {
            add_bytes(r, "hull mass", &mass, sizeof mass);
            const vy_principal_axes axes = vy_mass_principal_axes(&mass.inertia);
            add_bytes(r, "axes", &axes, sizeof axes);
        }
        add_real(r, "distance", vy_hull_signed_distance(hull, (vy_vec3){2.3, 0.7, 0.1}));
    }
    vy_hull_destroy(hull);
    vy_shape shapes[4];
    if (vy_shape_sphere(0.1, &shapes[0], NULL) != VY_OK ||
        vy_shape_capsule(0.1, 0.3, &shapes[1], NULL) != VY_OK ||
        vy_shape_cylinder(0.1, 0.3, &shapes[2], NULL) != VY_OK ||
        vy_shape_box((vy_vec3){0.1, 0.2, 0.3}, &shapes[3], NULL) != VY_OK)
        return;
    for (int i = 0; i < 4; ++i)
        if (vy_shape_mass(&shapes[i], 0.3, &mass, NULL) == VY_OK) add_bytes(r, "mass", &mass, sizeof mass);
    vy_vehicle_def vehicle = vy_default_vehicle_def();
    vehicle.mass = 0.0313;
    add_real(r, "hover", vy_vehicle_hover_speed(&vehicle, 9.81));
    vy_imu_def imu;
    if (vy_imu_preset("bmi088", &imu, NULL) == VY_OK) add_bytes(r, "imu", &imu, sizeof imu);
}

static void take_all(results *r, const vy_vec3 *points, int count, const char *log)
{
    static const char *const files[] = {"canyon",    "minimum-snap", "warehouse", "slung-load",
                                        "satellite", "sensors",      "battery",   "tilted-pad"};
    r->count = 0;
    take_scenario(r, "scenarios/first-flight.yaml", log);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i) {
        char path[100] = "scenarios/";
        strcat(strcat(path, files[i]), ".yaml");
        take_scenario(r, path, NULL);
        r->items[r->count - 1].name = files[i];
    }
    add_text(r, "schema", vy_scenario_print_schema());
    add_text(r, "reference", vy_scenario_print_reference());
    take_batch(r);
    take_shapes(r, points, count);
}

static void rounding_of_the_caller_changes_no_result(void **unused)
{
    (void)unused;
    static results plain, r;
    char log[64];
    snprintf(log, sizeof log, "/tmp/volery-rounding-%ld.mcap", (long)getpid());
    vy_vec3 points[60];
    random_source random = {3};
    for (int i = 0; i < 60; ++i) points[i] = random_vec(&random, 1.0);
    take_all(&plain, points, 60, log);
    assert_true(plain.count > 100 && plain.count < RESULT_CAP);
    const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int i = 0; i < 8; ++i) {
        assert_int_equal(fesetround(modes[i % 4]), 0);
#if defined(__x86_64__)
        if (i >= 4) fpu_set_mode(fpu_mode() | 0x8040u); // denormals are zero, coming and going
#endif
        const uint64_t before = fpu_mode() & FPU_MODE_BITS, before_text = fpu_x87_mode();
        take_all(&r, points, 60, log);
        const uint64_t after = fpu_mode() & FPU_MODE_BITS, after_text = fpu_x87_mode();
        (void)fesetround(FE_TONEAREST);
        fpu_set_mode(FPU_MODE_WANTED);
        assert_true(before == after && before_text == after_text);
        assert_int_equal(r.count, plain.count);
        int different = 0;
        for (int k = 0; k < r.count; ++k) {
            if (r.items[k].value == plain.items[k].value) continue;
            print_error("mode %d: %s, result %d\n", i, plain.items[k].name, k);
            ++different;
        }
        assert_int_equal(different, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rounding_of_the_caller_changes_no_result)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
