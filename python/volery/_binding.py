"""The C library behind the package: declared once, called through ctypes, which lets other threads run meanwhile."""

from __future__ import annotations

import ctypes as c
import math
import operator
import os
from pathlib import Path
from typing import Any, Mapping, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray


Value = TypeVar("Value")


class Error(ValueError):
    """What the library has to say about a mistake."""


def _load_library() -> c.CDLL:
    path = os.environ.get("VOLERY_LIBRARY", str(Path(__file__).parent / "libvolery_python.so"))
    return c.CDLL(path)


lib: Any = _load_library()

_P, _S, _I, _U32, _U64, _Z, _D = (
    c.c_void_p, c.c_char_p, c.c_int, c.c_uint32, c.c_uint64, c.c_size_t, c.c_double)

_SIGNATURES = {
    "binding_error": (_S, ()),
    "binding_version": (_S, ()),
    "binding_free": (None, (_P,)),
    "scenario_load": (_P, (_S, _P, _I)),
    "scenario_parse": (_P, (_S, _Z, _S, _P, _I)),
    "scenario_destroy": (None, (_P,)),
    "scenario_print": (_P, (_P,)),
    "scenario_seed": (_U64, (_P,)),
    "scenario_set_seed": (None, (_P, _U64)),
    "scenario_step": (_D, (_P,)),
    "scenario_steps": (_U64, (_P,)),
    "scenario_drone_count": (_I, (_P,)),
    "scenario_drone_name": (_S, (_P, _I)),
    "scenario_body_count": (_I, (_P,)),
    "scenario_body_name": (_S, (_P, _I)),
    "scenario_rotor_count": (_I, (_P, _I)),
    "scenario_mass_and_thrust": (None, (_P, _I, _P)),
    "scenario_set_limits": (None, (_P, _D, _D, _D, _D)),
    "world_create": (_P, (_P, _I, _U64)),
    "world_reset": (_I, (_P, _P, _I, _U64)),
    "world_destroy": (None, (_P,)),
    "reply_fields": (_S, ()),
    "world_act": (None, (_P, _U32, _I, _P, _P)),
    "world_step": (_U32, (_P, _U64)),
    "world_flush": (None, (_P,)),
    "world_tick": (_U64, (_P,)),
    "world_hash": (_U64, (_P,)),
    "world_state_hash": (_U64, (_P,)),
    "world_save": (_Z, (_P, _P, _Z)),
    "world_restore": (_I, (_P, _P, _Z)),
    "world_integrator": (_S, (_P,)),
    "world_set_integrator": (_I, (_P, _S)),
    "world_read_drone": (None, (_P, _U32, _P)),
    "world_set_drone": (_I, (_P, _U32, _P)),
    "world_read_body": (None, (_P, _U32, _P)),
    "world_failure": (_S, (_P,)),
    "world_is_hosted": (_I, (_P,)),
    "world_is_recording": (_I, (_P,)),
    "world_record": (_I, (_P, _S)),
    "world_inject": (_I, (_P, _S, _S)),
    "world_record_end": (_I, (_P, _I)),
    "log_replay": (_I, (_S, _I, _I)),
    "batch_variable_name": (_S, (_I,)),
    "batch_create": (_P, (_P, _P, _P, _I, _P, _I)),
    "batch_destroy": (None, (_P,)),
    "batch_view": (None, (_P, _P)),
    "batch_step": (None, (_P, _U64)),
    "batch_reset": (None, (_P, _P, _P)),
    "batch_hash": (_U64, (_P, _U32)),
    "batch_state_hash": (_U64, (_P, _U32)),
    "batch_state_size": (_Z, (_P, _U32)),
    "batch_save": (None, (_P, _U32, _P)),
    "batch_restore": (_I, (_P, _U32, _P, _Z)),
    "batch_scenario": (_P, (_P, _U32)),
    "batch_cells": (_I, (_P, _U32, _S, _P)),
    "batch_kernel": (_S, (_P,)),
    "batch_threads": (_U32, (_P,)),
    "task_reward_name": (_S, (_I,)),
    "task_observed_name": (_S, (_I,)),
    "task_create": (_P, (_P, _P, _P, _P, _I, _P, _I, _P, _I, _P, _P)),
    "task_destroy": (None, (_P,)),
    "task_batch": (_P, (_P,)),
    "task_view": (None, (_P, _P)),
    "task_step": (_I, (_P,)),
    "task_reset": (None, (_P, _P, _P)),
    "task_observe": (None, (_P,)),
    "world_faces": (c.c_int64, (_P, _I, _P)),
    "scenario_hubs": (_I, (_P, _I, _P, _P)),
    "body_faces": (c.c_int64, (_P, _U64, _P)),
    "shape_destroy": (None, (_P,)),
    "shape_sphere": (_P, (_D,)),
    "shape_capsule": (_P, (_D, _D)),
    "shape_cylinder": (_P, (_D, _D)),
    "shape_box": (_P, (_P,)),
    "shape_plane": (_P, (_P, _D)),
    "shape_hull": (_P, (_P, _I, _D)),
    "shape_height_field": (_P, (_I, _I, _D, _P)),
    "shape_mass": (_I, (_P, _P)),
    "bodies_default_numbers": (None, (_P,)),
    "bodies_create": (_P, (_P, _S, _I, _I, _U32)),
    "bodies_destroy": (None, (_P,)),
    "bodies_integrator": (_S, (_P,)),
    "bodies_set_integrator": (_I, (_P, _S)),
    "bodies_step": (_U64, (_P, _U64, _P)),
    "bodies_tick": (_U64, (_P,)),
    "bodies_time": (_D, (_P,)),
    "bodies_hash": (_U64, (_P,)),
    "bodies_save": (_Z, (_P, _P, _Z)),
    "bodies_restore": (_I, (_P, _P, _Z)),
    "bodies_states": (_U32, (_P, _P)),
    "bodies_ids": (None, (_P, _P, _U32)),
    "bodies_sleeping": (None, (_P, _P, _U32)),
    "bodies_set_states": (_I, (_P, _P, _I, _U32)),
    "bodies_contacts": (_U32, (_P, _P, _U32)),
    "bodies_impacts": (None, (_P, _P)),
    "bodies_totals": (None, (_P, _P)),
    "bodies_add_potential": (_I, (_P, _I, _P, _U64)),
    "bodies_add": (_I, (_P, _I, _P, _P, _I, _P)),
    "bodies_remove": (_I, (_P, _U64)),
    "bodies_has": (_I, (_P, _U64)),
    "body_read": (_I, (_P, _U64, _P)),
    "body_set_state": (_I, (_P, _U64, _P, _I)),
    "body_read_properties": (_I, (_P, _U64, _P)),
    "body_apply": (_I, (_P, _U64, _I, _P, _I, _P, _I)),
    "body_clear_forces": (_I, (_P, _U64)),
    "body_stop": (_I, (_P, _U64)),
    "body_wake": (_I, (_P, _U64)),
    "bodies_query": (_I, (_P, _I, _P, _P, _U64, _P)),
    "bodies_query_all": (c.c_int64, (_P, _I, _P, _P, _U64, _P)),
    "bodies_cast_rays": (_I, (_P, _P, _Z, _U64, _P)),
    "body_set_kind": (_I, (_P, _U64, _I)),
    "body_set_mass": (_I, (_P, _U64, _D, _P)),
    "body_set_material": (_I, (_P, _U64, _P)),
    "body_set_shape": (_I, (_P, _U64, _P)),
    "joint_set_limits": (_I, (_P, _U64, _I, _D, _D)),
    "joint_set_spring": (_I, (_P, _U64, _D, _D, _D)),
    "joint_kinds": (_S, ()),
    "bodies_join": (_I, (_P, _I, _U64, _U64, _P, _I, _P)),
    "bodies_remove_joint": (_I, (_P, _U64)),
    "joint_read": (_I, (_P, _U64, _P)),
    "joint_set_motor": (_I, (_P, _U64, _D, _D, _D)),
    "joint_set_break": (_I, (_P, _U64, _D, _D)),
    "joint_set_cone": (_I, (_P, _U64, _D)),
    "joint_set_target": (_I, (_P, _U64, _D)),
    "scenario_joint_count": (_I, (_P,)),
    "scenario_joint_name": (_S, (_P, _I)),
    "scenario_obstacle_count": (_I, (_P,)),
    "scenario_obstacle_name": (_S, (_P, _I)),
    "sample_fields": (_S, ()),
    "world_samples": (None, (_P, _U32, _P)),
    "world_contacts": (_U32, (_P, _P, _U32)),
    "world_read_joint": (_I, (_P, _U32, _P)),
    "gpu_create": (_P, (_P,)),
    "gpu_release": (None, (_P,)),
    "gpu_device": (_I, (_P,)),
    "gpu_view": (None, (_P, _P)),
    "gpu_cells": (_I, (_P, _S, _P)),
    "gpu_step": (_I, (_P, _U64)),
    "gpu_upload": (_I, (_P,)),
    "gpu_upload_actions": (_I, (_P,)),
    "gpu_download": (_I, (_P,)),
    "gpu_download_observations": (_I, (_P,)),
    "array_export": (_P, (_P, _I, _P)),
    "dlpack_set_capsule_functions": (None, (_P, _P)),
    "world_steps_seconds": (_D, (_P, _U64)),
    "batch_step_seconds": (_D, (_P, _U64)),
}
for _name, (_result, _arguments) in _SIGNATURES.items():
    _function = getattr(lib, _name)
    _function.restype = _result
    _function.argtypes = _arguments


def last_error() -> Error:
    """The last failure of this thread, to be raised."""
    return Error(lib.binding_error().decode())


def check_created(pointer: int | None) -> int:
    """The pointer, unless making it failed."""
    if not pointer:
        raise last_error()
    return pointer


def check_integer(label: str, value: Any, minimum: int = 0, maximum: int = 2**64 - 1) -> int:
    """A whole number within bounds, or an error that tells them."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{label}: a whole number, got {value!r}") from None
    if not minimum <= number <= maximum:
        bounds = (f"from {minimum} to {maximum}" if maximum < 2**64 - 1
                  else f"of at least {minimum}" if minimum else "from 0 to 2^64 - 1")
        raise Error(f"{label}: a whole number {bounds}, got {number}")
    return number


def check_index(label: str, value: Any, count: int) -> int:
    """A number of one of `count` things."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"a {label} is meant by its number, got {value!r}") from None
    if not 0 <= number < count:
        raise IndexError(f"there is no {label} {number}")
    return number


def check_number(label: str, value: Any) -> float:
    """A finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{label}: a number, got {value!r}") from None
    if not math.isfinite(number):
        raise Error(f"{label}: a finite number, got {number}")
    return number


def check_array(label: str, value: Any, size: int) -> NDArray[np.float64]:
    """So many finite numbers."""
    try:
        numbers = np.array(value, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise TypeError(f"{label}: {size} numbers, got {value!r}") from None
    if numbers.size != size:
        raise Error(f"{label} has {size} values, got {numbers.size}")
    if not np.isfinite(numbers).all():
        raise Error(f"{label}: finite numbers, got {value!r}")
    return numbers


def check_bytes(label: str, value: Any) -> bytes:
    """The bytes of a saved state."""
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"{label}: bytes as `save` gives them, got {type(value).__name__}")
    return bytes(value)


class NotCopyable:
    """Something of the library's that this object alone holds: a second object would free it a second time."""

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} can be neither copied nor pickled")


def lookup(label: str, name: str, choices: Mapping[str, Value]) -> Value:
    """What has a name, or an error that tells the names there are."""
    if name not in choices:
        raise Error(f"{label} {name!r}: choose from {', '.join(choices)}")
    return choices[name]


def memory_at(address: int, size: int, owner: object) -> Any:
    """`size` bytes at an address, as something NumPy reads and writes; `owner` lives as long as it."""
    memory: Any = (c.c_char * size).from_address(address)
    memory._owner = owner
    return memory


def c_strings(texts: list[str]) -> c.Array[c.c_char_p]:
    """An array of C strings."""
    return (c.c_char_p * max(len(texts), 1))(*[t.encode() for t in texts])


_python_api = c.pythonapi
_python_api.PyCapsule_New.restype = c.py_object
_python_api.PyCapsule_New.argtypes = (_P, _S, _P)
_CAPSULE_NAMES = (b"dltensor", b"dltensor_versioned")  # a capsule keeps the address of its name
lib.dlpack_set_capsule_functions(c.cast(_python_api.PyCapsule_IsValid, _P), c.cast(_python_api.PyCapsule_GetPointer, _P))
_release_capsule = c.cast(lib.dlpack_release, _P)


def capsule(tensor: int, versioned: bool) -> object:
    """A DLPack capsule of what array_export made; it lets go of it if nobody takes it."""
    return _python_api.PyCapsule_New(tensor, _CAPSULE_NAMES[versioned], _release_capsule)
