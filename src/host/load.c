// load.c - a plug-in's library: loaded, and checked to fit this Volery.
#include "base/fail.h"
#include "volery/host.h"
#include <dlfcn.h>

vy_status vy_plugin_load(const char *path, void **library, const vy_plugin **out, vy_error *err)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        const char *reason = dlerror();
        return vy_fail(err, VY_NOT_FOUND, "plug-in: %.180s", reason != NULL ? reason : path);
    }
    const vy_plugin *plugin = dlsym(handle, VY_PLUGIN_ENTRY);
    vy_status status = VY_OK;
    if (plugin == NULL) {
        status = vy_fail(err, VY_BAD_VALUE, "plug-in %.120s: it has no VY_PLUGIN(init, step, done)", path);
    } else if (plugin->version != VY_PLUGIN_VERSION || plugin->start_size > sizeof(vy_plugin_start) ||
               plugin->samples_size > sizeof(vy_samples) || plugin->intent_size > sizeof(vy_intent) ||
               plugin->vehicle_size != sizeof(vy_vehicle_def) ||
               plugin->sensors_size != sizeof(vy_sensor_suite_def)) {
        status = vy_fail(err, VY_OTHER_VERSION,
                         "plug-in %.100s: built for version %u of volery/plugin.h or another Volery; this "
                         "one has %d: build it again",
                         path, plugin->version, VY_PLUGIN_VERSION);
    } else if (plugin->init == NULL || plugin->step == NULL) {
        status = vy_fail(err, VY_BAD_VALUE, "plug-in %.120s: init or step is missing", path);
    }
    if (status != VY_OK) {
        vy_plugin_unload(handle);
        return status;
    }
    *library = handle;
    *out = plugin;
    return VY_OK;
}

void vy_plugin_unload(void *library) { (void)dlclose(library); }
