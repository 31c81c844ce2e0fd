"""Gymnasium environments over a batch: one drone task each, single and vectorised.

An action is four numbers of [-1, 1] per drone: collective thrust from none to full, and body rates. It is held for 10 ms
(ten steps of the world). An observation, per drone, is the way to the target, velocity, attitude (a rotation matrix,
row by row), body rate, and what the task adds; all clipped to [-20, 20].
"""

from __future__ import annotations

from typing import Any, Sequence

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from . import tasks
from .batch import Batch
from .scenario import Scenario
from .tasks import Array, Task

STEPS = 10  # of the world per step of an environment
RATES = np.array([8.0, 8.0, 4.0])  # [rad/s] at full deflection
BOUND = 20.0
CORE = 18


class _Flight:
    """The worlds of an environment: what single and vector form share."""

    def __init__(self, task: Task, worlds: int, threads: int, randomise: bool) -> None:
        scenario = Scenario(task.scenario())
        scenario.limit(tilt=1.3, distance=6.0, low=0.05, high=6.0)
        randomisation = {**tasks.START, **(tasks.KIND if randomise else {})}
        self.task = task
        self.batch = Batch(scenario, worlds, rung="rates", randomisation=randomisation, threads=threads)
        self.full = scenario.vehicle()[1]
        self.steps = np.zeros(worlds, dtype=np.int64)
        self.limit = int(round(task.seconds / (STEPS * scenario.step)))
        self.period = STEPS * scenario.step
        size = task.drones * (CORE + task.extra)
        self.observation_space = gym.spaces.Box(-BOUND, BOUND, (size,), np.float64)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (4 * task.drones,), np.float32)

    def start(self, rows: NDArray[np.bool_], seeds: NDArray[np.uint64] | None) -> None:
        self.batch.reset(rows, seeds)
        self.steps[rows] = 0
        self.task.begin(self.batch, rows)

    def time(self) -> Array:
        """[s] into the episode of each world."""
        return np.asarray(self.steps * self.period, dtype=np.float64)

    def observe(self) -> Array:
        o = self.batch.observations
        q = o[..., 6:10]
        w, x, y, z = (q[..., i] for i in range(4))
        turn = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
                         2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                         2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1)
        time = self.time()
        parts = [self.task.target(time) - o[..., 0:3], o[..., 3:6], turn, o[..., 10:13]]
        more = self.task.more(o[..., 0:3], time)
        if more is not None:
            parts.append(more)
        return np.clip(np.concatenate(parts, axis=-1), -BOUND, BOUND).reshape(len(self.steps), -1)

    def step(self, actions: NDArray[Any]) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
        batch = self.batch
        given = np.asarray(actions, dtype=np.float64)
        if given.size != batch.actions.size:
            raise ValueError(f"step: {len(batch)} x {4 * self.task.drones} actions, got an array of shape {given.shape}")
        told = np.clip(given.reshape(batch.actions.shape), -1.0, 1.0)
        batch.actions[..., 0] = (0.5 * self.full) * (told[..., 0] + 1.0)
        batch.actions[..., 1:] = told[..., 1:] * RATES
        batch.step(STEPS)
        self.steps += 1
        o = batch.observations
        reward, over = self.task.judge(o[..., 0:3], o[..., 3:6], o[..., 10:13], told, self.time())
        terminated = batch.terminated | over
        return reward, terminated, ~terminated & (self.steps >= self.limit)


class DroneEnv(gym.Env[Array, NDArray[Any]]):
    """One world as an environment. `randomise` draws mass, thrust and motor lag of every episode."""

    metadata: dict[str, Any] = {"render_modes": []}
    task: type[Task] = tasks.Hover

    def __init__(self, render_mode: str | None = None, randomise: bool = True) -> None:
        if render_mode is not None:
            raise ValueError("volery environments do not render: record a world and open it with `volery view`")
        self.render_mode = None
        self.flight = _Flight(self.task(), 1, 1, randomise)
        self.observation_space = self.flight.observation_space
        self.action_space = self.flight.action_space
        self._begun = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is None and not self._begun:
            seed = int(self.np_random.integers(2**63))
        self._begun = True
        self.flight.start(np.ones(1, dtype=bool), None if seed is None else np.array([seed], dtype=np.uint64))
        return self.flight.observe()[0], {}

    def step(self, action: NDArray[Any]) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        reward, terminated, truncated = self.flight.step(action)
        return self.flight.observe()[0], float(reward[0]), bool(terminated[0]), bool(truncated[0]), {}

    def close(self) -> None:
        self.flight.batch.close()


class DroneVectorEnv(gym.vector.VectorEnv[Array, NDArray[Any], NDArray[Any]]):
    """Many worlds as one vector environment: row i after `reset(seed=s)` is the single environment of seed s + i."""

    task: type[Task] = tasks.Hover

    def __init__(self, num_envs: int = 1, autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
                 threads: int = 0, randomise: bool = True, render_mode: str | None = None) -> None:
        if render_mode is not None:
            raise ValueError("volery environments do not render: record a world and open it with `volery view`")
        self.num_envs = num_envs
        self.mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.mode}
        self.flight = _Flight(self.task(), num_envs, threads, randomise)
        self.single_observation_space = self.flight.observation_space
        self.single_action_space = self.flight.action_space
        self.observation_space = gym.vector.utils.batch_space(self.single_observation_space, num_envs)
        self.action_space = gym.vector.utils.batch_space(self.single_action_space, num_envs)
        self._done = np.zeros(num_envs, dtype=bool)
        self._begun = False

    def reset(self, *, seed: int | Sequence[int | None] | None = None,
              options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Start new episodes: of all rows, or of those in `options={"reset_mask": ...}`.

        With one seed row i has seed + i; with a list each row its own, None among them lets a row draw its next one.
        """
        rows = np.ones(self.num_envs, dtype=bool)
        if options is not None and "reset_mask" in options:
            rows = np.asarray(options["reset_mask"], dtype=bool)
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))  # np_random
        elif seed is None and not self._begun:
            seed = int(self.np_random.integers(2**62))
        self._begun = True
        seeds: Sequence[int | None] = [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            seeds = [int(seed) + i for i in range(self.num_envs)]
        elif seed is not None:
            seeds = seed
        if len(seeds) != self.num_envs:
            raise ValueError(f"reset: {self.num_envs} seeds, got {len(seeds)}")
        drawn = np.array([s is None for s in seeds])
        if (rows & drawn).any():
            self.flight.start(rows & drawn, None)
        if (rows & ~drawn).any():
            self.flight.start(rows & ~drawn, np.array([s or 0 for s in seeds], dtype=np.uint64))
        self._done[rows] = False
        return self.flight.observe(), {}

    def step(self, actions: NDArray[Any]) -> tuple[Array, Array, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        waiting = self._done.copy()
        reward, terminated, truncated = self.flight.step(actions)
        info: dict[str, Any] = {}
        if self.mode == AutoresetMode.NEXT_STEP and waiting.any():
            self.flight.start(waiting, None)
            reward[waiting] = 0.0
            terminated[waiting] = truncated[waiting] = False
        self._done = terminated | truncated
        observation = self.flight.observe()
        if self.mode == AutoresetMode.SAME_STEP and self._done.any():
            done = self._done
            info = {"final_obs": _objects(observation, done), "_final_obs": done.copy(),
                    "final_info": {}, "_final_info": done.copy()}
            self.flight.start(done, None)
            observation = self.flight.observe()
            self._done = np.zeros_like(done)
        return observation, reward, terminated, truncated, info

    def close_extras(self, **_: Any) -> None:
        self.flight.batch.close()


def _objects(rows: Array, which: NDArray[np.bool_]) -> NDArray[np.object_]:
    out = np.full(len(rows), None, dtype=object)
    for i in np.flatnonzero(which):
        out[i] = rows[i].copy()
    return out


class HoverEnv(DroneEnv):
    """Stay at (0, 0, 1), wherever the flight begins."""


class HoverVectorEnv(DroneVectorEnv):
    """Stay at (0, 0, 1), wherever the flight begins."""


class WaypointsEnv(DroneEnv):
    """Pass four random places in order."""

    task = tasks.Waypoints


class WaypointsVectorEnv(DroneVectorEnv):
    """Pass four random places in order."""

    task = tasks.Waypoints


class TrackEnv(DroneEnv):
    """Follow a figure of eight."""

    task = tasks.Track


class TrackVectorEnv(DroneVectorEnv):
    """Follow a figure of eight."""

    task = tasks.Track


class RaceEnv(DroneEnv):
    """Fly through gates on a ring."""

    task = tasks.Race


class RaceVectorEnv(DroneVectorEnv):
    """Fly through gates on a ring."""

    task = tasks.Race


class SwarmEnv(DroneEnv):
    """Three drones take their places and keep clear of each other."""

    task = tasks.Swarm


class SwarmVectorEnv(DroneVectorEnv):
    """Three drones take their places and keep clear of each other."""

    task = tasks.Swarm
