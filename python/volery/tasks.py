"""What the environments ask of a drone: observations, rewards and ends, over all worlds of a batch at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .batch import Batch

Array = NDArray[np.float64]

SCENARIO = """volery: 1
name: task
duration: 60 s
drones:
{drones}"""

# Where a drone starts and how it differs from its kind.
START = {"x": ("uniform", -0.5, 0.5), "y": ("uniform", -0.5, 0.5), "z": ("uniform", -0.3, 0.3),
         "roll": ("uniform", -0.2, 0.2), "pitch": ("uniform", -0.2, 0.2), "yaw": ("uniform", -0.3, 0.3),
         "vx": ("normal", 0.0, 0.2), "vy": ("normal", 0.0, 0.2), "vz": ("normal", 0.0, 0.2)}
KIND = {"mass": ("uniform", 0.9, 1.1), "thrust_coef": ("uniform", 0.95, 1.05), "motor_lag": ("uniform", 0.8, 1.2)}


def uniforms(seeds: NDArray[np.uint64], count: int) -> Array:
    """`count` numbers of [0, 1) for each seed (SplitMix64): they depend on nothing but the seed."""
    step = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        z = seeds[:, None] ^ np.uint64(0x5DEECE66D) + np.arange(1, count + 1, dtype=np.uint64)[None, :] * step
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    out: Array = (z >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return out


class Task:
    """One task. Arrays have a row per world; `extra` numbers are added to the observation of each drone."""

    drones = 1
    extra = 0
    seconds = 10.0

    def scenario(self) -> str:
        return SCENARIO.format(drones="".join(
            f"  - name: drone{i}\n    vehicle: crazyflie2x-physical\n    start: {{position: {self.place(i)}}}\n"
            for i in range(self.drones)))

    def place(self, drone: int) -> list[float]:
        """Where a drone starts [m]."""
        return [0.0, 0.0, 1.0]

    def begin(self, batch: Batch, rows: NDArray[np.bool_]) -> None:
        """The episodes of these rows have just been reset."""

    def target(self, time: Array) -> Array:
        """Where each drone should be [m]: (worlds, drones, 3)."""
        raise NotImplementedError

    def more(self, position: Array, time: Array) -> Array | None:
        """The extra numbers: (worlds, drones, extra)."""
        return None

    def judge(self, position: Array, velocity: Array, rate: Array, action: Array, time: Array) -> tuple[Array, NDArray[np.bool_]]:
        """Reward, and whether the task itself is over."""
        distance = np.linalg.norm(self.target(time) - position, axis=-1)
        effort = 0.05 * np.square(rate / 10.0).sum(-1) + 0.02 * np.square(action[..., 1:]).sum(-1)
        reward = (1.0 / (1.0 + 4.0 * distance * distance) - effort).mean(-1)
        return reward, np.zeros(len(reward), dtype=bool)


class Hover(Task):
    """Stay at (0, 0, 1), wherever the flight begins."""

    def target(self, time: Array) -> Array:
        return np.broadcast_to(np.array([0.0, 0.0, 1.0]), (len(time), 1, 3))


class Waypoints(Task):
    """Pass four random places in order."""

    count = 4
    near = 0.2
    extra = 4

    def begin(self, batch: Batch, rows: NDArray[np.bool_]) -> None:
        worlds = len(batch)
        if not hasattr(self, "goals"):
            self.goals = np.zeros((worlds, self.count, 3))
            self.at = np.zeros(worlds, dtype=np.int64)
        u = uniforms(batch.seeds[rows], 3 * self.count).reshape(-1, self.count, 3)
        self.goals[rows] = (u - 0.5) * np.array([3.0, 3.0, 1.0]) + np.array([0.0, 0.0, 1.2])
        self.at[rows] = 0

    def _goal(self, ahead: int) -> Array:
        index = np.minimum(self.at + ahead, self.count - 1)
        goal: Array = self.goals[np.arange(len(index)), index][:, None, :]
        return goal

    def target(self, time: Array) -> Array:
        return self._goal(0)

    def more(self, position: Array, time: Array) -> Array:
        left = (self.count - self.at)[:, None, None] / self.count
        return np.concatenate([self._goal(1) - position, left], axis=-1)

    def judge(self, position: Array, velocity: Array, rate: Array, action: Array, time: Array) -> tuple[Array, NDArray[np.bool_]]:
        reward, _ = super().judge(position, velocity, rate, action, time)
        reached = np.linalg.norm(self._goal(0) - position, axis=-1)[:, 0] < self.near
        self.at += reached
        return reward + 5.0 * reached, self.at >= self.count


class Track(Task):
    """Follow a figure of eight whose size, speed and phase are the world's own."""

    extra = 3

    def begin(self, batch: Batch, rows: NDArray[np.bool_]) -> None:
        if not hasattr(self, "figure"):
            self.figure = np.zeros((len(batch), 3))
        u = uniforms(batch.seeds[rows], 3)
        self.figure[rows] = np.stack([0.5 + u[:, 0], 0.5 + u[:, 1], 2.0 * np.pi * u[:, 2]], axis=1)

    def _angle(self, time: Array) -> Array:
        return self.figure[:, 1] * time + self.figure[:, 2]

    def target(self, time: Array) -> Array:
        a, size = self._angle(time), self.figure[:, 0]
        return np.stack([size * np.sin(a), 0.5 * size * np.sin(2.0 * a), np.ones_like(a)], axis=-1)[:, None, :]

    def more(self, position: Array, time: Array) -> Array:
        a, size, speed = self._angle(time), self.figure[:, 0], self.figure[:, 1]
        return np.stack([size * speed * np.cos(a), size * speed * np.cos(2.0 * a), np.zeros_like(a)], axis=-1)[:, None, :]


class Race(Task):
    """Fly through gates on a ring, in order, as often as the time allows."""

    gates = 6
    radius = 0.4
    extra = 6

    def begin(self, batch: Batch, rows: NDArray[np.bool_]) -> None:
        worlds = len(batch)
        if not hasattr(self, "centres"):
            self.centres = np.zeros((worlds, self.gates, 3))
            self.at = np.zeros(worlds, dtype=np.int64)
            self.before = np.zeros((worlds, 3))
            self.fresh = np.ones(worlds, dtype=bool)
        turn = 2.0 * np.pi * np.arange(self.gates) / self.gates
        u = uniforms(batch.seeds[rows], 2 * self.gates).reshape(-1, self.gates, 2)
        ring = 1.5 + 0.4 * (u[..., 0] - 0.5)
        self.centres[rows] = np.stack(
            [ring * np.sin(turn), 1.5 - ring * np.cos(turn), 1.0 + 0.6 * (u[..., 1] - 0.5)], axis=-1)
        self.at[rows] = 1
        self.fresh[rows] = True

    def _gate(self, ahead: int) -> Array:
        index = (self.at + ahead) % self.gates
        gate: Array = self.centres[np.arange(len(index)), index]
        return gate

    def _gate_normal(self) -> Array:
        normal = self._gate(1) - self._gate(-1)
        through: Array = normal / np.linalg.norm(normal, axis=-1, keepdims=True)
        return through

    def target(self, time: Array) -> Array:
        return self._gate(0)[:, None, :]

    def more(self, position: Array, time: Array) -> Array:
        return np.concatenate([self._gate(1)[:, None, :] - position, self._gate_normal()[:, None, :]], axis=-1)

    def judge(self, position: Array, velocity: Array, rate: Array, action: Array, time: Array) -> tuple[Array, NDArray[np.bool_]]:
        now = position[:, 0]
        self.before[self.fresh] = now[self.fresh]
        self.fresh[:] = False
        gate, normal = self._gate(0), self._gate_normal()
        side = ((self.before - gate) * normal).sum(-1), ((now - gate) * normal).sum(-1)
        crossed = (side[0] < 0.0) & (side[1] >= 0.0)
        share = np.where(crossed, side[0] / np.minimum(side[0] - side[1], -1e-12), 0.0)[:, None]
        at = self.before + share * (now - self.before)
        passed = crossed & (np.linalg.norm(at - gate, axis=-1) < self.radius)
        progress = np.linalg.norm(self.before - gate, axis=-1) - np.linalg.norm(now - gate, axis=-1)
        effort = 0.02 * np.square(rate[:, 0] / 10.0).sum(-1)
        self.before[:] = now
        self.at += passed
        return progress + 2.0 * passed - effort, np.zeros(len(now), dtype=bool)


class Swarm(Task):
    """Three drones take their places in a triangle and keep clear of each other."""

    drones = 3
    extra = 6

    def place(self, drone: int) -> list[float]:
        return [0.0, [-1.5, 0.0, 1.5][drone], 1.0]

    def begin(self, batch: Batch, rows: NDArray[np.bool_]) -> None:
        if not hasattr(self, "goals"):
            self.goals = np.zeros((len(batch), 3, 3))
        u = uniforms(batch.seeds[rows], 2)
        turn = 2.0 * np.pi * (u[:, :1] + np.arange(3)[None, :] / 3.0)
        size = 0.7 + 0.5 * u[:, 1:]
        self.goals[rows] = np.stack([size * np.sin(turn), size * np.cos(turn), np.ones_like(turn)], axis=-1)

    def target(self, time: Array) -> Array:
        return self.goals

    def more(self, position: Array, time: Array) -> Array:
        return np.concatenate([np.roll(position, -k, axis=1) - position for k in (1, 2)], axis=-1)

    def judge(self, position: Array, velocity: Array, rate: Array, action: Array, time: Array) -> tuple[Array, NDArray[np.bool_]]:
        reward, _ = super().judge(position, velocity, rate, action, time)
        gap = np.linalg.norm(np.roll(position, -1, axis=1) - position, axis=-1).min(-1)
        return reward - 2.0 * np.maximum(0.0, 0.4 - gap), gap < 0.12
