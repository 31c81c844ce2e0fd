"""Many worlds of one scenario at once, on vector registers and threads, as NumPy arrays that are never copied."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from typing import Any, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _binding as b
from .gpu import Gpu
from .scenario import RUNGS, Scenario

AUTORESETS = {"disabled": 0, "next_step": 1, "same_step": 2}
PRECISIONS = {"float64": 0, "float32": 1}
_DISTRIBUTIONS = {"uniform": 0, "normal": 1, "log": 2}
_INTERRUPT_PERIOD = 0.2  # [s] between two chances for an interrupt


def variables() -> list[str]:
    """What may be drawn for each world: the keys of `randomisation`."""
    names: list[str] = []
    while (name := b.lib.batch_variable_name(len(names))) is not None:
        names.append(name.decode())
    return names


def randomisation_rows(randomisation: Mapping[str, tuple[str, float, float]] | None) -> list[float]:
    """What is drawn for each world, as the library takes it: five numbers a variable."""
    known_variables = variables()
    rows: list[float] = []
    for name, spec in (randomisation or {}).items():
        if len(spec) != 3:
            raise b.Error(f"randomisation {name!r}: a distribution and two numbers, as ('uniform', 0.8, 1.2), got {spec!r}")
        distribution, low, high = spec
        if name not in known_variables or distribution not in _DISTRIBUTIONS:
            raise b.Error(f"randomisation {name!r} {distribution!r}: choose from {known_variables} and {list(_DISTRIBUTIONS)}")
        rows += [known_variables.index(name), _DISTRIBUTIONS[distribution], low, high, -1]
    return rows


class _Worlds:
    """The worlds' memory, and whose turn it is. Arrays, and a call under way, keep it after `close`."""

    def __init__(self, pointer: int) -> None:
        self.pointer = pointer
        self.lock = threading.Lock()

    def __del__(self) -> None:
        b.lib.batch_destroy(self.pointer)


class Batch(b.NotCopyable):
    """`worlds` worlds of a scenario; world i is a world of seed + i, with the bits that it has alone.

    rung         None: the scenario's controllers steer; else the name of a rung that `actions` speaks
    randomisation         {"mass": ("uniform", 0.8, 1.2)}: drawn anew for every episode of every world; see `variables()`
    observe      names of drone fields that make up an observation
    episode      steps after which an episode is cut off; 0 is never
    autoreset    "disabled", "next_step" or "same_step"
    precision    "float64": the bits of a world alone; "float32": the same equations within tolerances (docs/performance.md)
    threads      0 is one per core;  lanes  0 is the widest this CPU has;  chain  keep each world's chain of hashes

    The arrays are the batch's own memory, valid as long as they or the batch are referenced; they change in place:
    actions, observations, final_observations (worlds, drones, n); terminated, truncated (worlds,) bool; ticks, seeds.
    They export DLPack as every NumPy array does: `torch.from_dlpack(batch.observations)`.

    Threads may share a batch: each call has it for itself, and others wait. What is in the arrays is theirs to agree on.
    """

    def __init__(self, scenario: Scenario | str | os.PathLike[str], worlds: int, *, seed: int = 1,
                 rung: str | None = None,
                 randomisation: Mapping[str, tuple[str, float, float]] | None = None,
                 observe: Sequence[str] = ("body.position", "body.velocity", "body.attitude", "body.rate"),
                 episode: int = 0, autoreset: str = "disabled", threads: int = 0, lanes: int = 0,
                 chain: bool = False, precision: str = "float64") -> None:
        self.scenario = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
        drawn_numbers = randomisation_rows(randomisation)
        if isinstance(observe, str):
            observe = (observe,)
        numbers = (ctypes.c_uint64 * 9)(
            b.check_integer("worlds", worlds), b.check_integer("seed", seed), b.check_integer("threads", threads, 0, 1024),
            b.check_integer("lanes", lanes, 0, 64), int(chain), b.lookup("rung", rung or "none", RUNGS),
            b.check_integer("episode", episode), b.lookup("autoreset", autoreset, AUTORESETS),
            b.lookup("precision", precision, PRECISIONS))
        self._worlds: _Worlds | None = _Worlds(b.check_created(b.lib.batch_create(
            self.scenario._pointer, numbers, (ctypes.c_double * max(len(drawn_numbers), 1))(*drawn_numbers),
            len(drawn_numbers) // 5,
            b.c_strings(list(observe)), len(observe))))
        self._map_arrays(self._worlds)
        self._is_indivisible = autoreset != "disabled"
        self._steps_per_call = 1  # steps that take about _INTERRUPT_PERIOD

    def _map_arrays(self, worlds: _Worlds) -> None:
        out = (ctypes.c_uint64 * 11)()
        b.lib.batch_view(worlds.pointer, out)
        count, drones, actions, observations = (int(out[i]) for i in range(4))

        def array(slot: int, value_type: Any, *shape: int) -> NDArray[Any]:
            size = int(np.prod(shape)) * np.dtype(value_type).itemsize
            memory = b.memory_at(int(out[slot]), size, worlds) if size else bytearray(0)  # it outlives its views
            return np.frombuffer(memory, dtype=value_type).reshape(shape)

        self._count = count
        self._views = {
            "actions": array(4, np.float64, count, drones, actions),
            "observations": array(5, np.float64, count, drones, observations),
            "final_observations": array(6, np.float64, count, drones, observations),
            "terminated": array(7, np.bool_, count),
            "truncated": array(8, np.bool_, count),
            "ticks": array(9, np.uint64, count),
            "seeds": array(10, np.uint64, count),
        }

    def _view(self, name: str) -> NDArray[Any]:
        view = self._views.get(name)
        if view is None:
            raise b.Error("the batch is closed")
        return view

    @property
    def actions(self) -> NDArray[np.float64]:
        """(worlds, drones, n): what the drones are told, on the batch's rung. Assigning copies into it."""
        return self._view("actions")

    @actions.setter
    def actions(self, values: Any) -> None:
        actions = self._view("actions")
        if values is not actions:  # as it is after `batch.actions += 1`
            actions[...] = values

    @property
    def observations(self) -> NDArray[np.float64]:
        """(worlds, drones, n): the fields of `observe`, one after the other, as they are now."""
        return self._view("observations")

    @property
    def final_observations(self) -> NDArray[np.float64]:
        """(worlds, drones, n): with an autoreset, those of the end of each world's last episode."""
        return self._view("final_observations")

    @property
    def terminated(self) -> NDArray[np.bool_]:
        """(worlds,): a limit or a failure ended the episode."""
        return self._view("terminated")

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """(worlds,): the episode was cut off after `episode` steps."""
        return self._view("truncated")

    @property
    def ticks(self) -> NDArray[np.uint64]:
        """(worlds,): steps into the episode."""
        return self._view("ticks")

    @property
    def seeds(self) -> NDArray[np.uint64]:
        """(worlds,): of the episode's random streams."""
        return self._view("seeds")

    def close(self) -> None:
        """Give the memory back, as soon as nobody has an array of it and no other thread is in a call."""
        self._views = {}
        self._worlds = None

    def __len__(self) -> int:
        self._check_open()
        return self._count

    def __repr__(self) -> str:
        return f"<Batch of {len(self)} worlds, {self.machine}, threads {self.threads}>" if self._worlds else "<Batch, closed>"

    def step(self, steps: int = 1) -> None:
        """Advance every world that has not ended, under `actions` as they are. Ctrl-C is heard meanwhile.

        With an autoreset a long call must not be cut in two: it is made whole.
        """
        worlds = self._check_open()
        steps = b.check_integer("step", steps)
        if steps <= self._steps_per_call or self._is_indivisible:
            with worlds.lock:
                b.lib.batch_step(worlds.pointer, steps)
            return
        while steps > 0:
            chunk = min(steps, self._steps_per_call)
            with worlds.lock:
                start = time.perf_counter()
                b.lib.batch_step(worlds.pointer, chunk)
                elapsed = time.perf_counter() - start
            steps -= chunk
            if elapsed < 0.5 * _INTERRUPT_PERIOD and chunk == self._steps_per_call:
                self._steps_per_call *= 2

    def reset(self, mask: NDArray[np.bool_] | None = None, seeds: Sequence[int] | NDArray[np.uint64] | None = None) -> None:
        """Start the next episode of the worlds in `mask` (all of them: None). With seeds, that of a fresh world each."""
        selected = np.ascontiguousarray(mask, dtype=np.uint8) if mask is not None else None
        episode_seeds = np.ascontiguousarray(seeds, dtype=np.uint64) if seeds is not None else None
        for array in (selected, episode_seeds):
            if array is not None and array.shape != (len(self),):
                raise b.Error(f"reset: {len(self)} worlds, but a shape of {array.shape}")
        worlds = self._check_open()
        with worlds.lock:
            b.lib.batch_reset(worlds.pointer, selected.ctypes.data if selected is not None else None,
                              episode_seeds.ctypes.data if episode_seeds is not None else None)

    def cells(self, field: str, drone: int = 0) -> NDArray[np.float64]:
        """A field of the state itself, in place: (blocks, values, lanes); world w is [w // lanes, :, w % lanes]."""
        out = (ctypes.c_uint64 * 4)()
        worlds = self._check_open()
        index = b.check_index("drone", drone, len(self.scenario.drones))
        if b.lib.batch_cells(worlds.pointer, index, field.encode(), out) != 0:
            raise b.last_error()
        address, count, lanes, block = (int(v) for v in out)
        blocks = -(-self._count // lanes)
        size = ((blocks - 1) * block + count * lanes) * 8
        flat = np.frombuffer(b.memory_at(address, size, worlds), dtype=np.float64)
        return np.lib.stride_tricks.as_strided(flat, (blocks, count, lanes), (block * 8, lanes * 8, 8))

    def hash(self, world: int) -> int:
        """`World.hash` of one world; 0 unless the batch keeps the chain."""
        worlds = self._check_open()
        with worlds.lock:
            return int(b.lib.batch_hash(worlds.pointer, self._index(world)))

    def state_hash(self, world: int) -> int:
        """`World.state_hash` of one world."""
        worlds = self._check_open()
        with worlds.lock:
            return int(b.lib.batch_state_hash(worlds.pointer, self._index(world)))

    def save(self, world: int) -> bytes:
        """The state of one world, as `World.save`: a `World(batch.world_scenario(i))` can go on from it."""
        worlds = self._check_open()
        with worlds.lock:
            index = self._index(world)
            block = ctypes.create_string_buffer(b.lib.batch_state_size(worlds.pointer, index))
            b.lib.batch_save(worlds.pointer, index, block)
        return block.raw

    def restore(self, world: int, block: bytes) -> None:
        """Put one world back to a saved state."""
        worlds = self._check_open()
        saved = b.check_bytes("restore", block)
        with worlds.lock:
            if b.lib.batch_restore(worlds.pointer, self._index(world), saved, len(saved)) != 0:
                raise b.last_error()

    def world_scenario(self, world: int) -> Scenario:
        """The scenario of one world's episode, with its seed and all that was drawn for it."""
        worlds = self._check_open()
        with worlds.lock:
            return Scenario._from_pointer(b.lib.batch_scenario(worlds.pointer, self._index(world)), self.scenario._path)

    def to_gpu(self) -> Gpu:
        """Put the worlds on the GPU as they are now; raises `volery.Error` where there is none.

        For worlds of one drone without autoreset, chain or anything that lanes cannot fly.
        """
        self._check_open()
        return Gpu(self)

    @property
    def machine(self) -> str:
        """What runs it: avx512, avx2, lanes2 or scalar; worlds, one by one, where lanes cannot."""
        return str(b.lib.batch_kernel(self._check_open().pointer).decode())

    @property
    def threads(self) -> int:
        """Threads that share the work."""
        return int(b.lib.batch_threads(self._check_open().pointer))

    def _index(self, world: int) -> int:
        return b.check_index("world", world, self._count)

    def _check_open(self) -> _Worlds:
        worlds = self._worlds
        if worlds is None:
            raise b.Error("the batch is closed")
        return worlds
