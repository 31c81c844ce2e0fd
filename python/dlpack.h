// dlpack.h - arrays handed to other libraries without a copy: https://dmlc.github.io/dlpack, versions 0
// and 1.0.
#pragma once
#include <stdatomic.h>
#include <stdint.h>

enum { DLPACK_AXES = 3 };

/// Something that arrays lie in. Whoever has one of them holds it; the last one destroys it.
typedef struct shared_handle {
    void *object;
    void (*destroy)(void *object);
    atomic_uint holders;
} shared_handle;

shared_handle *shared_handle_create(void *object,
                                    void (*destroy)(void *object)); ///< held once; NULL: no memory
void shared_handle_release(shared_handle *handle);                  ///< NULL is a no-op

/// An array as its address, its device (type and number, as DLPack counts them), the kind of its values (2:
/// real, 1: unsigned) with their bits, its shape and its strides [values].
typedef struct array_layout {
    void *data;
    int32_t device_type, device;
    uint8_t kind, bits;
    int32_t axes;
    int64_t shape[DLPACK_AXES], strides[DLPACK_AXES];
} array_layout;

/// What a capsule holds: a DLManagedTensor, or a DLManagedTensorVersioned where `versioned`. `owner` is held
/// as long as it is there; NULL: the caller sees to the memory. NULL: no memory.
void *dlpack_create(const array_layout *layout, int versioned, shared_handle *owner);

/// Python's PyCapsule_IsValid and PyCapsule_GetPointer, which dlpack_release needs.
void dlpack_set_capsule_functions(int (*is_valid)(void *, const char *), void *(*get)(void *, const char *));
/// Destructor of a capsule: nobody took what is in it.
void dlpack_release(void *capsule);
