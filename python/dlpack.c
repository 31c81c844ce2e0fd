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
    shared_handle *handle = malloc(sizeof *handle);
    if (handle == NULL) return NULL;
    handle->object = object;
    handle->destroy = destroy;
    atomic_init(&handle->holders, 1);
    return handle;
}

void shared_handle_release(shared_handle *handle)
{
    if (handle == NULL || atomic_fetch_sub(&handle->holders, 1) != 1) return;
    handle->destroy(handle->object);
    free(handle);
}

static void release(exported_tensor *exported)
{
    shared_handle_release(exported->owner);
    free(exported);
}

static void delete_unversioned(DLManagedTensor *self) { release(self->manager_ctx); }
static void delete_versioned(DLManagedTensorVersioned *self) { release(self->manager_ctx); }

void *dlpack_create(const array_layout *layout, int versioned, shared_handle *owner)
{
    exported_tensor *exported = calloc(1, sizeof *exported);
    if (exported == NULL) return NULL;
    DLTensor *tensor =
        versioned ? &exported->tensor.versioned.dl_tensor : &exported->tensor.unversioned.dl_tensor;
    for (int i = 0; i < layout->axes; ++i) {
        exported->shape[i] = layout->shape[i];
        exported->strides[i] = layout->strides[i];
    }
    tensor->data = layout->data;
    tensor->device.device_type = layout->device_type;
    tensor->device.device_id = layout->device;
    tensor->ndim = layout->axes;
    tensor->dtype.code = layout->kind;
    tensor->dtype.bits = layout->bits;
    tensor->dtype.lanes = 1;
    tensor->shape = exported->shape;
    tensor->strides = exported->strides;
    if (versioned) {
        exported->tensor.versioned.version.major = 1;
        exported->tensor.versioned.manager_ctx = exported;
        exported->tensor.versioned.deleter = delete_versioned;
    } else {
        exported->tensor.unversioned.manager_ctx = exported;
        exported->tensor.unversioned.deleter = delete_unversioned;
    }
    exported->owner = owner;
    if (owner != NULL) atomic_fetch_add(&owner->holders, 1);
    return exported;
}

static int (*capsule_is_valid)(void *, const char *);
static void *(*capsule_get)(void *, const char *);

void dlpack_set_capsule_functions(int (*capsule_is_valid_function)(void *, const char *),
                                  void *(*capsule_get_function)(void *, const char *))
{
    capsule_is_valid = capsule_is_valid_function;
    capsule_get = capsule_get_function;
}

void dlpack_release(void *capsule)
{
    static const char *const names[] = {"dltensor", "dltensor_versioned"};
    for (int i = 0; i < 2; ++i) { // whoever takes a tensor renames its capsule
        if (capsule_is_valid(capsule, names[i])) release(capsule_get(capsule, names[i]));
    }
}
