"""Gymnasium environments over `volery.Task`: any scenario as an environment, single and vectorised.

    env = gymnasium.make("volery/Scenario-v0", scenario="my.yaml", rung="rates", observe=[...], reward=[...], episode=10.0)
    envs = gymnasium.make_vec("volery/Scenario-v0", num_envs=1024, vector_kwargs={"scenario": "my.yaml"})

Options are those of `volery.Task`. An action is numbers of [-1, 1] per drone; what its rung makes of them is there, too. An
observation is float32, the drones' one after the other.
"""

from __future__ import annotations

import os
from typing import Any, Sequence

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from . import tasks
from .render import Picture
from .scenario import Scenario
from .task import Task
from .world import Recording, World

Array = NDArray[np.float32]

RENDER_MODES = ["rgb_array"]


def _spaces(task: Task, clip: float) -> tuple[gym.spaces.Box, gym.spaces.Box]:
    """Of an observation and of an action."""
    bound = np.float32(clip) if clip > 0.0 else np.float32(np.inf)
    return (gym.spaces.Box(-bound, bound, (task.observations[0].size,), np.float32),
            gym.spaces.Box(-1.0, 1.0, (task.actions[0].size,), np.float32))


def _check_render_mode(mode: str | None) -> None:
    if mode is not None and mode not in RENDER_MODES:
        raise ValueError(f"render_mode {mode!r}: volery environments have {', '.join(RENDER_MODES)}")


class ScenarioEnv(gym.Env[Array, NDArray[Any]]):
    """One world of a scenario as an environment.

    `render_mode="rgb_array"` draws the world as it is, with obstacles, targets and the way flown, without a display (it needs
    Pillow). `record(path)` logs the next episode.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 50}

    def __init__(self, scenario: Scenario | str | os.PathLike[str] = "hover", render_mode: str | None = None,
                 width: int = 640, height: int = 480, **options: Any) -> None:
        _check_render_mode(render_mode)
        self.render_mode = render_mode
        self.task = Task(scenario, 1, threads=1, **options)
        self.metadata = {**self.metadata, "render_fps": round(1.0 / (self.task.steps * self.task.scenario.step))}
        self.observation_space, self.action_space = _spaces(self.task, options.get("clip", 20.0))
        self._size = (width, height)
        self._picture: Picture | None = None
        self._log_path: str | os.PathLike[str] | None = None
        self._recording: tuple[World, Recording] | None = None
        self._has_reset = False
        self._use_arrays()

    def _use_arrays(self) -> None:
        """Rows of the task's memory, found once: a step has no time for it."""
        self._actions = self.task.actions.reshape(-1)
        self._observations = self.task.observations.reshape(-1)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is None and not self._has_reset:
            seed = int(self.np_random.integers(2**63))
        self._has_reset = True
        self._end_recording()
        self.task.reset(None, None if seed is None else np.array([seed], dtype=np.uint64))
        if self._log_path is not None:
            world = World(self.task.world_scenario(0), rung=self.task.rung)
            self._recording = (world, world.record(self._log_path))
            self._recording[1].__enter__()
            self._log_path = None
        if self._picture is not None:
            self._picture.begin()
        return self._observations.copy(), {}

    def step(self, action: NDArray[Any]) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        task = self.task
        try:
            self._actions[:] = action
        except ValueError:
            raise ValueError(f"step: {self._actions.size} values, got an action of shape {np.shape(action)}") from None
        task.step()
        if self._recording is not None:
            self._step_recording()
        if self._picture is not None:
            self._picture.follow(task.save(0))
        return self._observations.copy(), float(task.rewards[0]), bool(task.terminated[0]), bool(task.truncated[0]), {}

    def render(self) -> NDArray[np.uint8] | None:  # type: ignore[override]
        """The world as it is now: (height, width, 3), 8 bits each."""
        if self.render_mode is None:
            return None
        if self._picture is None:
            self._picture = Picture(self.task.world_scenario(0), *self._size)
            self._picture.follow(self.task.save(0))
        return self._picture.draw(self.task)

    def record(self, path: str | os.PathLike[str]) -> None:
        """Log the episode that the next `reset` begins, until it ends or the environment is closed: `volery replay` flies the
        log again to the bit, `volery view` shows it."""
        self._log_path = path

    def _step_recording(self) -> None:
        """A world of its own takes the same actions and writes the log; it has the same bits."""
        assert self._recording is not None
        world, task = self._recording[0], self.task
        for drone, intent in enumerate(task.intents(0)):
            world.act(intent, drone)
        world.step(task.steps)
        if world.state_hash != task.state_hash(0):
            raise AssertionError("the recorded world is not the environment's")  # a fault of ours: say it loudly
        if task.terminated[0] or task.truncated[0]:
            self._end_recording()

    def _end_recording(self) -> None:
        if self._recording is not None:
            recording = self._recording[1]
            self._recording = None
            recording.__exit__(None, None, None)

    def close(self) -> None:
        self._end_recording()
        self.task.close()


class ScenarioVectorEnv(gym.vector.VectorEnv[Array, NDArray[Any], NDArray[Any]]):
    """Many worlds as one vector environment: row i after `reset(seed=s)` is the single environment of seed s + i."""

    def __init__(self, scenario: Scenario | str | os.PathLike[str] = "hover", num_envs: int = 1,
                 autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP, render_mode: str | None = None,
                 **options: Any) -> None:
        _check_render_mode(render_mode)
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": RENDER_MODES, "autoreset_mode": self.mode}
        self.task = Task(scenario, num_envs, **options)
        self.single_observation_space, self.single_action_space = _spaces(self.task, options.get("clip", 20.0))
        self.observation_space = gym.vector.utils.batch_space(self.single_observation_space, num_envs)
        self.action_space = gym.vector.utils.batch_space(self.single_action_space, num_envs)
        self._done = np.zeros(num_envs, dtype=bool)
        self._has_reset = False

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
        elif seed is None and not self._has_reset:
            seed = int(self.np_random.integers(2**62))
        self._has_reset = True
        seeds: Sequence[int | None] = [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            seeds = [int(seed) + i for i in range(self.num_envs)]
        elif seed is not None:
            seeds = seed
        if len(seeds) != self.num_envs:
            raise ValueError(f"reset: {self.num_envs} seeds, got {len(seeds)}")
        draws_seed = np.array([s is None for s in seeds])
        if (rows & draws_seed).any():
            self.task.reset(rows & draws_seed)
        if (rows & ~draws_seed).any():
            self.task.reset(rows & ~draws_seed, np.array([s or 0 for s in seeds], dtype=np.uint64))
        self._done[rows] = False
        return self._observe(), {}

    def step(self, actions: NDArray[Any]) -> tuple[Array, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        task = self.task
        action_array = np.asarray(actions)
        if action_array.size != task.actions.size:
            raise ValueError(f"step: {self.num_envs} x {task.actions[0].size} actions, got an array of shape {action_array.shape}")
        task.actions[...] = action_array.reshape(task.actions.shape)
        needs_reset = self._done
        task.step()
        if self.mode == AutoresetMode.NEXT_STEP and needs_reset.any():
            task.reset(needs_reset)  # reward 0, neither terminated nor truncated
        reward, terminated, truncated = task.rewards.copy(), task.terminated.copy(), task.truncated.copy()
        self._done = terminated | truncated
        observation = self._observe()
        info: dict[str, Any] = {}
        if self.mode == AutoresetMode.SAME_STEP and self._done.any():
            done = self._done
            info = {"final_obs": _object_rows(observation, done), "_final_obs": done.copy(),
                    "final_info": {}, "_final_info": done.copy()}
            task.reset(done)
            observation = self._observe()
            self._done = np.zeros_like(done)
        return observation, reward, terminated, truncated, info

    def _observe(self) -> Array:
        return self.task.observations.reshape(self.num_envs, -1).copy()

    def render(self) -> tuple[Any, ...] | None:
        """A picture of each row, or None where `render_mode` is."""
        if self.render_mode is None:
            return None
        out = []
        for row in range(self.num_envs):
            picture = Picture(self.task.world_scenario(row), 320, 240)
            picture.follow(self.task.save(row))
            out.append(picture.draw(self.task, row))
        return tuple(out)

    def close_extras(self, **_: Any) -> None:
        self.task.close()


def _object_rows(rows: Array, selected: NDArray[np.bool_]) -> NDArray[np.object_]:
    out = np.full(len(rows), None, dtype=object)
    for i in np.flatnonzero(selected):
        out[i] = rows[i].copy()
    return out


class _BuiltInTask:
    """What a task that comes along adds to an environment: its options. `randomise` draws mass, thrust and motor lag of every
    episode."""

    name = "hover"

    def __init__(self, *, randomise: bool = True, **options: Any) -> None:
        randomisation = {**tasks.START_VARIATION, **(tasks.VEHICLE_VARIATION if randomise else {})}
        super().__init__(**{**tasks.options(self.name), "randomisation": randomisation, **options})


class HoverEnv(_BuiltInTask, ScenarioEnv):
    """Stay at (0, 0, 1), wherever the flight begins."""


class HoverVectorEnv(_BuiltInTask, ScenarioVectorEnv):
    """Stay at (0, 0, 1), wherever the flight begins."""


class WaypointsEnv(_BuiltInTask, ScenarioEnv):
    """Pass four random places in order."""

    name = "waypoints"


class WaypointsVectorEnv(_BuiltInTask, ScenarioVectorEnv):
    """Pass four random places in order."""

    name = "waypoints"


class TrackEnv(_BuiltInTask, ScenarioEnv):
    """Follow a figure of eight."""

    name = "track"


class TrackVectorEnv(_BuiltInTask, ScenarioVectorEnv):
    """Follow a figure of eight."""

    name = "track"


class RaceEnv(_BuiltInTask, ScenarioEnv):
    """Fly through gates on a ring."""

    name = "race"


class RaceVectorEnv(_BuiltInTask, ScenarioVectorEnv):
    """Fly through gates on a ring."""

    name = "race"


class SwarmEnv(_BuiltInTask, ScenarioEnv):
    """Three drones take their places and keep clear of each other."""

    name = "swarm"


class SwarmVectorEnv(_BuiltInTask, ScenarioVectorEnv):
    """Three drones take their places and keep clear of each other."""

    name = "swarm"
