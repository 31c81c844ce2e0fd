// plugin.c - a shared library as a controller: loaded into a namespace of its own, called under guard.
#define _GNU_SOURCE // dlmopen
#include "base/fail.h"
#include "base/real.h"
#include "host/guard.h"
#include "host/host.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct vy_plugin_host {
    void *library;
    const vy_plugin *plugin;
    void *self;
    vy_guard *guard;
    int dead; // it crashed or hung: nothing of it is called again
    int32_t detail;
    vy_verdict verdict;
};

// Plug-ins share a namespace of the loader that is not ours: they have a C library, and so a heap and locks,
// of their own. A plug-in that dies inside malloc leaves our malloc alone; the next one gets a new namespace.
static pthread_mutex_t space_lock = PTHREAD_MUTEX_INITIALIZER;
static Lmid_t space;
static int space_users; // libraries in it

static Lmid_t space_of(void *library)
{
    Lmid_t found = LM_ID_BASE;
    (void)dlinfo(library, RTLD_DI_LMID, &found);
    return found;
}

static void *open_apart(const char *path)
{
    pthread_mutex_lock(&space_lock);
    void *library = dlmopen(space_users > 0 ? space : LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) library = dlopen(path, RTLD_NOW | RTLD_LOCAL); // out of namespaces: among us, then
    if (library != NULL && space_of(library) != LM_ID_BASE) {
        space = space_of(library);
        ++space_users;
    }
    pthread_mutex_unlock(&space_lock);
    return library;
}

// A dead plug-in may have taken its namespace's heap with it. Its code stays: a thread may still run in it.
static void leave_dead(void *library)
{
    pthread_mutex_lock(&space_lock);
    if (space_of(library) == space) space_users = 0;
    pthread_mutex_unlock(&space_lock);
}

vy_status vy_plugin_load(const char *path, void **library, const vy_plugin **out, vy_error *err)
{
    void *handle = open_apart(path);
    if (handle == NULL) {
        const char *why = dlerror();
        return vy_fail(err, VY_NOT_FOUND, "plug-in: %.180s", why != NULL ? why : path);
    }
    const vy_plugin *plugin = dlsym(handle, VY_PLUGIN_ENTRY);
    vy_status status = VY_OK;
    if (plugin == NULL) {
        status = vy_fail(err, VY_BAD_VALUE, "plug-in %.120s: it has no VY_PLUGIN(init, step, done)", path);
    } else if (plugin->version != VY_PLUGIN_VERSION || plugin->start_size > sizeof(vy_plugin_start) ||
               plugin->samples_size > sizeof(vy_samples) || plugin->intent_size > sizeof(vy_intent)) {
        status = vy_fail(
            err, VY_OTHER_VERSION,
            "plug-in %.100s: built for version %u of volery/plugin.h or a newer Volery; this one has %d",
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

void vy_plugin_unload(void *library)
{
    pthread_mutex_lock(&space_lock);
    if (space_users > 0 && space_of(library) == space) --space_users;
    dlclose(library);
    pthread_mutex_unlock(&space_lock);
}

// The arguments of one call, as vy_guard_call hands them over.
typedef struct init_call {
    const vy_plugin *plugin;
    const vy_plugin_start *start;
    char why[120];
    void *self;
} init_call;

static void call_init(void *self)
{
    init_call *c = self;
    c->self = c->plugin->init(c->start, c->why, sizeof c->why);
}

typedef struct step_call {
    const vy_plugin_host *host;
    const vy_samples *samples;
    vy_intent *intent;
} step_call;

static void call_step(void *self)
{
    const step_call *c = self;
    c->host->plugin->step(c->host->self, c->samples, c->intent);
}

static void call_done(void *self)
{
    const vy_plugin_host *h = self;
    // What the plug-in printed is in the buffers of its own C library.
    int (*flush)(FILE *) = NULL;
    void *symbol = dlsym(h->library, "fflush");
    memcpy(&flush, &symbol, sizeof flush);
    if (h->plugin->done != NULL) h->plugin->done(h->self);
    if (flush != NULL) (void)flush(NULL);
}

static vy_status start(const vy_host_job *job, vy_plugin_host *h, vy_error *err)
{
    init_call c = {.plugin = h->plugin, .start = &job->start};
    int32_t signal = 0;
    const vy_verdict verdict = vy_guard_call(h->guard, call_init, &c, &signal);
    (void)fpu_enter();
    if (verdict != VY_VERDICT_REPLIED) {
        h->dead = 1;
        return vy_fail(err, VY_BAD_VALUE, "plug-in %.100s: its init %s (%d)", job->def->program,
                       vy_verdict_text(verdict), (int)signal);
    }
    c.why[sizeof c.why - 1] = '\0';
    if (c.self == NULL)
        return vy_fail(err, VY_BAD_VALUE, "plug-in %.80s refuses: %.100s", job->def->program,
                       c.why[0] != '\0' ? c.why : "its init gave NULL");
    h->self = c.self;
    return VY_OK;
}

vy_status vy_plugin_host_open(const vy_host_job *job, vy_plugin_host **out, vy_error *err)
{
    const vy_controller_def *def = job->def;
    char path[sizeof def->folder + sizeof def->program + 2];
    const int absolute = def->program[0] == '/';
    const char *folder = absolute ? "" : def->folder[0] != '\0' ? def->folder : ".";
    snprintf(path, sizeof path, "%s%s%s", folder, absolute ? "" : "/", def->program);
    vy_plugin_host *h = calloc(1, sizeof *h);
    if (h == NULL) return vy_fail(err, VY_NO_MEMORY, "plug-in: out of memory");
    vy_status status = vy_plugin_load(path, &h->library, &h->plugin, err);
    if (status == VY_OK) status = vy_guard_open(def->deadline, &h->guard, err);
    const uint64_t found = fpu_enter();
    if (status == VY_OK) status = start(job, h, err);
    fpu_leave(found);
    if (status != VY_OK) {
        h->dead = 1; // there is nothing to be done with
        vy_plugin_host_close(h);
        return status;
    }
    *out = h;
    return VY_OK;
}

void vy_plugin_host_close(vy_plugin_host *h)
{
    if (h == NULL) return;
    int32_t signal;
    if (!h->dead) h->dead = vy_guard_call(h->guard, call_done, h, &signal) != VY_VERDICT_REPLIED;
    vy_guard_close(h->guard);
    if (h->library != NULL && h->dead) leave_dead(h->library);
    if (h->library != NULL && !h->dead) vy_plugin_unload(h->library);
    free(h);
}

void vy_plugin_host_call(void *host, const vy_samples *samples, vy_intent *intent)
{
    vy_plugin_host *h = host;
    if (!h->dead) {
        step_call c = {h, samples, intent};
        h->verdict = vy_guard_call(h->guard, call_step, &c, &h->detail);
        h->dead = h->verdict != VY_VERDICT_REPLIED;
    }
    if (h->dead) memset(intent, 0, sizeof *intent); // half an answer is none
    intent->verdict = h->verdict;
    intent->detail = h->detail;
}
