"""A batch on a GPU: the same worlds with the same bits, and arrays that other libraries take without a copy."""

from __future__ import annotations

import ctypes
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _binding as b

if TYPE_CHECKING:
    from .batch import Batch

_CPU, _CUDA = 1, 2  # as DLPack counts devices
_DLPACK_KINDS = {"f": 2, "u": 1}  # and kinds of numbers
_INTERRUPT_PERIOD = 0.2  # [s] between two chances for an interrupt


class _GpuHandle:
    """Holds the worlds' memory on the device; every array there has it."""

    def __init__(self, pointer: int) -> None:
        self.pointer = pointer

    def __del__(self) -> None:
        b.lib.gpu_release(self.pointer)  # tensors that others have taken hold it themselves


class DeviceArray(b.NotCopyable):
    """An array in a device's memory, to be handed to a library that works there.

        torch.from_dlpack(gpu.observations)     cupy.from_dlpack(...)     jax.dlpack.from_dlpack(...)

    Nothing is copied: what is written there is written here. The memory lives as long as anyone has it. Nothing of
    Volery's is under way on any stream when a call has returned, so no stream has to wait.
    """

    def __init__(self, address: int, shape: tuple[int, ...], dtype: Any, *, strides: tuple[int, ...] | None = None,
                 device: tuple[int, int] = (_CPU, 0), owner: _GpuHandle | None = None) -> None:
        self.address = address
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self.strides = strides if strides is not None else tuple(
            int(np.prod(shape[i + 1:], dtype=np.int64)) for i in range(len(shape)))  # [values]
        self.device = device
        self._owner = owner

    def __repr__(self) -> str:
        return f"<DeviceArray {self.shape} {self.dtype} on {'cpu' if self.device[0] == _CPU else 'cuda'}:{self.device[1]}>"

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        if dl_device is not None and tuple(dl_device) != self.device:
            raise BufferError(f"the array is on device {self.device}, not {tuple(dl_device)}: copy it there yourself")
        if copy:
            raise BufferError("Volery gives its own memory and no copies: copy it on your side")
        versioned = max_version is not None and max_version[0] >= 1
        numbers = [self.address, *self.device, _DLPACK_KINDS[self.dtype.kind], 8 * self.dtype.itemsize, len(self.shape),
                   *self.shape, *self.strides]
        owner = self._owner.pointer if self._owner is not None else None
        tensor = b.lib.array_export((ctypes.c_int64 * len(numbers))(*numbers), int(versioned), owner)
        if not tensor:
            raise MemoryError("no memory for a tensor")
        return b.capsule(tensor, versioned)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.device[0] != _CUDA:
            raise AttributeError("not on a CUDA device")
        size = self.dtype.itemsize
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False), "version": 3,
                "strides": tuple(size * s for s in self.strides), "stream": None}


class Gpu(b.NotCopyable):
    """The worlds of a batch on a GPU, made by `Batch.to_gpu()`: stepped there, many steps a launch.

    actions        (worlds, 1, n) float64: written by you before `step`
    observations   (worlds, 1, n) float64, terminated, truncated (worlds,) uint8: as after the last step

    All four are `DeviceArray`s. The batch keeps its own copy of the worlds until `download`.
    """

    actions: DeviceArray
    observations: DeviceArray
    terminated: DeviceArray
    truncated: DeviceArray

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self._worlds = worlds = batch._check_open()  # must outlive the worlds there
        with worlds.lock:
            self._handle = _GpuHandle(b.check_created(b.lib.gpu_create(worlds.pointer)))
        self._steps_per_call = 1
        self.device = (_CUDA, int(b.lib.gpu_device(self._handle.pointer)))
        out = (ctypes.c_uint64 * 4)()
        b.lib.gpu_view(self._handle.pointer, out)
        count = len(batch)
        self.actions = self._array(out[0], batch.actions.shape, np.float64)
        self.observations = self._array(out[1], batch.observations.shape, np.float64)
        self.terminated = self._array(out[2], (count,), np.uint8)
        self.truncated = self._array(out[3], (count,), np.uint8)

    def _array(self, address: int, shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...] | None = None) -> DeviceArray:
        return DeviceArray(int(address), shape, dtype, strides=strides, device=self.device, owner=self._handle)

    def __len__(self) -> int:
        return len(self.batch)

    def step(self, steps: int = 1) -> None:
        """Advance every world that has not ended under `actions` as they are, and wait. Ctrl-C is heard meanwhile."""
        steps = b.check_integer("step", steps)
        while steps > 0:
            chunk = min(steps, self._steps_per_call)
            start = time.perf_counter()
            self._call(b.lib.gpu_step, chunk)
            steps -= chunk
            if chunk == self._steps_per_call and time.perf_counter() - start < 0.5 * _INTERRUPT_PERIOD:
                self._steps_per_call *= 2

    def cells(self, field: str) -> DeviceArray:
        """A field of the state itself, in place: (blocks, values, lanes); world w is [w // lanes, :, w % lanes]."""
        out = (ctypes.c_uint64 * 4)()
        self._call(b.lib.gpu_cells, field.encode(), out)
        first, count, lanes, block = (int(v) for v in out)
        return self._array(first, (-(-len(self) // lanes), count, lanes), np.float64, (block, lanes, 1))

    def upload_actions(self) -> None:
        """Copy the batch's own `actions` there."""
        self._call(b.lib.gpu_upload_actions)

    def download_observations(self) -> None:
        """Copy the observations into the batch's own."""
        self._call(b.lib.gpu_download_observations)

    def download(self) -> None:
        """Bring the worlds back: the batch's hashes, snapshots and arrays are then those of the GPU."""
        self._call(b.lib.gpu_download)

    def upload(self) -> None:
        """Put the batch's worlds there, as they are after `Batch.reset` or `Batch.restore`."""
        self._call(b.lib.gpu_upload)

    def _call(self, function: Any, *arguments: Any) -> None:
        worlds = self.batch._check_open()  # closed, it is no place to copy from or to
        with worlds.lock:
            if function(self._handle.pointer, *arguments) != 0:
                raise b.last_error()
