"""A scenario as a task to learn: actions of [-1, 1] in, observations and rewards out, many worlds at once."""

from __future__ import annotations

import ctypes
import os
import threading
from typing import Any, Callable, Mapping, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _binding as b
from .batch import randomisation_rows
from .scenario import RUNGS, Scenario

TARGETS = {"reference": 0, "goals": 1, "gates": 2}
ROTOR_CAP = 8

Reward = Union[Mapping[str, Any], Sequence[Any]]
Goals = Union[Sequence[Any], NDArray[np.float64], Callable[[NDArray[np.uint64]], NDArray[np.float64]]]


def _list_names(name_at: Any) -> list[str]:
    names: list[str] = []
    while (name := name_at(len(names))) is not None:
        names.append(name.decode())
    return names


def reward_terms() -> list[str]:
    """What a reward may be made of (volery/task.h says what each of them is)."""
    return _list_names(b.lib.task_reward_name)


def observed() -> list[str]:
    """What may be observed beside fields of the state (volery/task.h)."""
    return _list_names(b.lib.task_observed_name)


def _reward_rows(reward: Reward) -> list[float]:
    """Kind, weight and scale of each term: {"alive": 1.0, "rate": (-0.05, 10.0)}, or the same as a list of tuples."""
    known_terms = reward_terms()
    pairs = list(reward.items()) if isinstance(reward, Mapping) else [
        (term, 1.0) if isinstance(term, str) else (term[0], tuple(term[1:])) for term in reward]
    rows: list[float] = []
    for name, weight_and_scale in pairs:
        if name not in known_terms:
            raise b.Error(f"reward {name!r}: choose from {', '.join(known_terms)}")
        if not isinstance(weight_and_scale, (tuple, list)):
            weight_and_scale = (weight_and_scale,)
        if not 1 <= len(weight_and_scale) <= 2:
            raise b.Error(f"reward {name!r}: a weight, or a weight and a scale, got {weight_and_scale!r}")
        rows += [float(known_terms.index(name)), float(weight_and_scale[0]),
                 float(weight_and_scale[1]) if len(weight_and_scale) > 1 else 1.0]
    if len(rows) > 3 * len(known_terms):
        raise b.Error(f"reward: at most {len(known_terms)} terms, got {len(rows) // 3}")
    return rows


class Task(b.NotCopyable):
    """`worlds` worlds of a scenario that learn; world i is a world of seed + i, with the bits that it has alone.

    rung          what actions speak: motors, wrench, rates, attitude (thrust, roll, pitch, yaw), velocity or pilot
    period        [s] an action is held for; whole steps of the world
    episode       [s] after which an episode is cut off; 0 is never
    observe       names of `observed()`, or fields of the state as in `Batch`: "body.velocity", "imu.gyro", "baro.pressure"
    reward        terms of `reward_terms()` with weight and scale: {"proximity": (1.0, 0.5), "rate": (-0.05, 10.0), "alive": 0.1}
    target        "reference": the scenario's setpoints or path, or where a drone starts; "goals" or "gates" in order
    goals         [m] (drones, n, 3), or (n, 3) for all drones; or a function of the seeds of the episodes that begin, for goals of
                  each episode: (episodes, drones, n, 3)
    goal_radius   [m] within which a goal is reached, or of a gate's disc
    repeat        after the last goal comes the first;  ends  the episode ends when all are reached
    separation    [m] two drones nearer than this end the episode
    action_range  (low, high), values of the rung that -1 and 1 stand for; None: from the vehicle (volery/task.h)
    clip          largest observation; 0 leaves them as they are

    The arrays are the task's own memory and change in place: actions (worlds, drones, n), observations (float32), rewards,
    terminated, truncated, seeds, episode_steps, goals, goal_index. Each exports DLPack, as every NumPy array does.
    """

    def __init__(self, scenario: Scenario | str | os.PathLike[str], worlds: int = 1, *, seed: int = 1, rung: str = "rates",
                 period: float = 0.01, episode: float = 10.0,
                 observe: Sequence[str] = ("target", "body.velocity", "rotation", "body.rate"),
                 reward: Reward = (("proximity", 1.0, 0.5), ("rate", -0.05, 10.0), ("action", -0.02)),
                 target: str | None = None, goals: Goals | None = None, goal_radius: float = 0.2, repeat: bool = False,
                 ends: bool = False, separation: float = 0.0,
                 action_range: tuple[Sequence[float], Sequence[float]] | None = None,
                 randomisation: Mapping[str, tuple[str, float, float]] | None = None, clip: float = 20.0,
                 threads: int = 0) -> None:
        self.scenario = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
        self.steps = self._step_count("period", period, 1)
        episode_steps = self._step_count("episode", episode, 0)
        if episode_steps % self.steps != 0:
            raise b.Error(f"episode: {episode:g} s must be a multiple of the period, {period:g} s")
        self._draw_goals = goals if callable(goals) else None
        drones = len(self.scenario.drones)
        goals_array = self._goals_array(goals, drones)
        goal_count = 0 if goals_array is None else goals_array.shape[1]
        if target is None:
            target = "reference" if goals is None else "goals"
        reward_numbers, drawn_numbers = _reward_rows(reward), randomisation_rows(randomisation)
        observed_names = [observe] if isinstance(observe, str) else list(observe)
        numbers = (ctypes.c_uint64 * 10)(
            b.check_integer("worlds", worlds), b.check_integer("seed", seed), b.check_integer("threads", threads, 0, 1024),
            b.lookup("rung", rung, RUNGS), self.steps, episode_steps // self.steps, b.lookup("target", target, TARGETS), goal_count,
            int(repeat), int(ends))
        real_numbers = (ctypes.c_double * 3)(clip, goal_radius, separation)
        pointer = b.check_created(b.lib.task_create(
            self.scenario._pointer, numbers, real_numbers, _doubles(drawn_numbers), len(drawn_numbers) // 5,
            b.c_strings(observed_names), len(observed_names), _doubles(reward_numbers), len(reward_numbers) // 3,
            _action_bounds(action_range), None if goals_array is None else goals_array.ctypes.data))
        self._owner = _TaskMemory(pointer)
        self._lock = threading.Lock()  # each call has the task for itself
        self._pointer: int | None = pointer
        self.rung, self.target, self.goal_radius = rung, target, goal_radius
        self._step_function = b.lib.task_step
        self._map_arrays(goal_count)
        if self._draw_goals is not None:
            self._begin_episodes(np.ones(len(self), dtype=bool))

    def _step_count(self, label: str, seconds: float, minimum: int) -> int:
        steps = float(seconds) / self.scenario.step
        rounded = round(steps)
        if not rounded >= minimum or abs(steps - rounded) > 1e-6 * max(1.0, steps):
            raise b.Error(f"{label}: whole steps of {self.scenario.step:g} s, at least {minimum}, got {seconds:g} s")
        return rounded

    def _goals_array(self, goals: Goals | None, drones: int) -> NDArray[np.float64] | None:
        """(drones, n, 3), those of the def; of a function only the shape counts."""
        if goals is None:
            return None
        positions = np.asarray(goals(np.zeros(1, dtype=np.uint64))[0] if callable(goals) else goals, dtype=np.float64)
        if positions.ndim == 2:
            positions = np.broadcast_to(positions, (drones, *positions.shape))
        if positions.ndim != 3 or positions.shape[0] != drones or positions.shape[2] != 3 or positions.shape[1] == 0:
            raise b.Error(f"goals: an array of shape ({drones}, n, 3) or (n, 3), got {positions.shape}")
        if not np.isfinite(positions).all():
            raise b.Error("goals: every coordinate must be finite")
        return np.ascontiguousarray(positions)

    def _map_arrays(self, goal_count: int) -> None:
        out = (ctypes.c_uint64 * 13)()
        b.lib.task_view(self._pointer, out)
        worlds, drones, action_size, observation_size = (int(out[i]) for i in range(4))

        def array(slot: int, value_type: Any, *shape: int) -> NDArray[Any]:
            size = int(np.prod(shape)) * np.dtype(value_type).itemsize
            memory = b.memory_at(int(out[slot]), size, self._owner) if size else bytearray(0)  # it outlives its views
            return np.frombuffer(memory, dtype=value_type).reshape(shape)

        self.actions: NDArray[np.float64] = array(4, np.float64, worlds, drones, action_size)
        self.observations: NDArray[np.float32] = array(5, np.float32, worlds, drones, observation_size)
        self.rewards: NDArray[np.float64] = array(6, np.float64, worlds)
        self.terminated: NDArray[np.bool_] = array(7, np.bool_, worlds)
        self.truncated: NDArray[np.bool_] = array(8, np.bool_, worlds)
        self.seeds: NDArray[np.uint64] = array(9, np.uint64, worlds)
        self.episode_steps: NDArray[np.uint64] = array(10, np.uint64, worlds)
        self.goal_index: NDArray[np.uint32] = array(12, np.uint32, worlds, drones)
        self.goals: NDArray[np.float64] = array(11, np.float64, worlds, drones, goal_count, 3)

    def __len__(self) -> int:
        return len(self.rewards)

    def step(self) -> None:
        """Take `actions` in every world. Raises ValueError, and moves nothing, where one of them is not finite."""
        with self._lock:
            if self._step_function(self._check_open()) != 0:
                raise ValueError(str(b.last_error()))

    def reset(self, mask: NDArray[np.bool_] | None = None, seeds: Sequence[int] | NDArray[np.uint64] | None = None) -> None:
        """Start the next episode of the worlds in `mask` (all of them: None). With seeds, that of a fresh world each."""
        selected = np.ascontiguousarray(mask, dtype=np.uint8) if mask is not None else None
        episode_seeds = np.ascontiguousarray(seeds, dtype=np.uint64) if seeds is not None else None
        for array in (selected, episode_seeds):
            if array is not None and array.shape != (len(self),):
                raise b.Error(f"reset: {len(self)} worlds, but a shape of {array.shape}")
        with self._lock:
            b.lib.task_reset(self._check_open(), selected.ctypes.data if selected is not None else None,
                             episode_seeds.ctypes.data if episode_seeds is not None else None)
            if self._draw_goals is not None:
                self._begin_episodes(np.ones(len(self), dtype=bool) if mask is None else np.asarray(mask, dtype=bool))

    def _begin_episodes(self, rows: NDArray[np.bool_]) -> None:
        assert self._draw_goals is not None
        self.goals[rows] = self._draw_goals(self.seeds[rows])
        b.lib.task_observe(self._check_open())

    def world_scenario(self, world: int) -> Scenario:
        """The scenario of one world's episode, with its seed and all that was drawn for it."""
        return Scenario._from_pointer(b.lib.batch_scenario(self._batch(), self._index(world)), self.scenario._path)

    def state_hash(self, world: int) -> int:
        """`World.state_hash` of one world."""
        return int(b.lib.batch_state_hash(self._batch(), self._index(world)))

    def save(self, world: int) -> bytes:
        """The state of one world, as `World.save`."""
        with self._lock:
            index = self._index(world)
            block = ctypes.create_string_buffer(b.lib.batch_state_size(self._batch(), index))
            b.lib.batch_save(self._batch(), index, block)
        return block.raw

    def intents(self, world: int) -> NDArray[np.float64]:
        """What the last actions of a world were on its rung, as `World.act` takes it: (drones, n)."""
        out = (ctypes.c_uint64 * 11)()
        b.lib.batch_view(self._batch(), out)
        drones, size = int(out[1]), int(out[2])
        memory = b.memory_at(int(out[4]), len(self) * drones * size * 8, self._owner)
        rows: NDArray[np.float64] = np.frombuffer(memory, dtype=np.float64).reshape(len(self), drones, size)[self._index(world)]
        return rows

    def close(self) -> None:
        """Give the memory back, as soon as nobody has an array of it."""
        with self._lock:
            self._pointer = None
        for name in ("actions", "observations", "rewards", "terminated", "truncated", "seeds", "episode_steps", "goals", "goal_index"):
            setattr(self, name, np.zeros(0))
        self._owner = None  # type: ignore[assignment]

    def _batch(self) -> int:
        return int(b.lib.task_batch(self._check_open()))

    def _index(self, world: int) -> int:
        if not 0 <= world < len(self):
            raise IndexError(f"there is no world {world}")
        return world

    def _check_open(self) -> int:
        if self._pointer is None:
            raise b.Error("the task is closed")
        return self._pointer


class _TaskMemory:
    """The task's memory: arrays keep it after `close`."""

    def __init__(self, pointer: int) -> None:
        self.pointer = pointer

    def __del__(self) -> None:
        b.lib.task_destroy(self.pointer)


def _doubles(values: Sequence[float]) -> Any:
    return (ctypes.c_double * max(len(values), 1))(*values)


def _action_bounds(bounds: tuple[Sequence[float], Sequence[float]] | None) -> Any:
    """action_min, then action_max, as the library takes them."""
    if bounds is None:
        return None
    out = (ctypes.c_double * (2 * ROTOR_CAP))()
    low, high = (np.asarray(values, dtype=np.float64).ravel() for values in bounds)
    if len(low) != len(high) or not 1 <= len(low) <= ROTOR_CAP:
        raise b.Error(f"action_range: as many lowest values as highest, at most {ROTOR_CAP}, got {len(low)} and {len(high)}")
    for k, (lowest, highest) in enumerate(zip(low, high)):
        out[k], out[ROTOR_CAP + k] = lowest, highest
    return out
