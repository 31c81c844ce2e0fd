// dlpack.c - what DLPack's capsules hold. Nothing here needs Python to be alive: other libraries let go of a
// tensor whenever and on whatever thread they like.
#include "dlpack.h"
#include <stddef.h>
#include <stdlib.h>

// ---- the structures of DLPack 1.0, by their own names

typedef struct DLTensor {
    void *data;
    struct {
        int32_t device_type, device_id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
    struct {
        uint32_t major, minor;
    } version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

// ----

typedef struct exported_tensor {
    union {
        DLManagedTensor unversioned;
        DLManagedTensorVersioned versioned;
    } tensor;
    int64_t shape[DLPACK_AXES], strides[DLPACK_AXES];
    shared_handle *owner;
} exported_tensor;

shared_handle *shared_handle_create(void *object, void (*destroy)(void *object))
{
    shared_handle *k = malloc(sizeof *k);
    if (k == NULL) return NULL;
    k->object = object;
    k->destroy = destroy;
    atomic_init(&k->holders, 1);
    return k;
}

void shared_handle_release(shared_handle *k)
{
    if (k == NULL || atomic_fetch_sub(&k->holders, 1) != 1) return;
    k->destroy(k->object);
    free(k);
}

static void release(exported_tensor *h)
{
    shared_handle_release(h->owner);
    free(h);
}

static void delete_unversioned(DLManagedTensor *self) { release(self->manager_ctx); }
static void delete_versioned(DLManagedTensorVersioned *self) { release(self->manager_ctx); }

void *dlpack_create(const array_layout *layout, int versioned, shared_handle *owner)
{
    exported_tensor *h = calloc(1, sizeof *h);
    if (h == NULL) return NULL;
    DLTensor *t = versioned ? &h->tensor.versioned.dl_tensor : &h->tensor.unversioned.dl_tensor;
    for (int i = 0; i < layout->axes; ++i) {
        h->shape[i] = layout->shape[i];
        h->strides[i] = layout->strides[i];
    }
    t->data = layout->data;
    t->device.device_type = layout->device_type;
    t->device.device_id = layout->device;
    t->ndim = layout->axes;
    t->dtype.code = layout->kind;
    t->dtype.bits = layout->bits;
    t->dtype.lanes = 1;
    t->shape = h->shape;
    t->strides = h->strides;
    if (versioned) {
        h->tensor.versioned.version.major = 1;
        h->tensor.versioned.manager_ctx = h;
        h->tensor.versioned.deleter = delete_versioned;
    } else {
        h->tensor.unversioned.manager_ctx = h;
        h->tensor.unversioned.deleter = delete_unversioned;
    }
    h->owner = owner;
    if (owner != NULL) atomic_fetch_add(&owner->holders, 1);
    return h;
}

static int (*capsule_is_valid)(void *, const char *);
static void *(*capsule_get)(void *, const char *);

void dlpack_use(int (*is_valid)(void *, const char *), void *(*get)(void *, const char *))
{
    capsule_is_valid = is_valid;
    capsule_get = get;
}

void dlpack_release(void *capsule)
{
    static const char *const names[] = {"dltensor", "dltensor_versioned"};
    for (int i = 0; i < 2; ++i) { // whoever takes a tensor renames its capsule
        if (capsule_is_valid(capsule, names[i])) release(capsule_get(capsule, names[i]));
    }
}
