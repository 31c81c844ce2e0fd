"""The five tasks that come along, as options of `volery.Task`: a scenario, what is seen, what is paid, goals by the seed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .scenario import Scenario

Array = NDArray[np.float64]

SCENARIO = """volery: 1
name: {name}
duration: 60 s
drones:
{drones}"""
DRONE = "  - name: drone{i}\n    vehicle: crazyflie2x-physical\n    start: {{position: {position}}}\n{extra_yaml}"

# Where a drone starts and how it differs from its kind.
START_VARIATION = {"x": ("uniform", -0.5, 0.5), "y": ("uniform", -0.5, 0.5), "z": ("uniform", -0.3, 0.3),
         "roll": ("uniform", -0.2, 0.2), "pitch": ("uniform", -0.2, 0.2), "yaw": ("uniform", -0.3, 0.3),
         "vx": ("normal", 0.0, 0.2), "vy": ("normal", 0.0, 0.2), "vz": ("normal", 0.0, 0.2)}
VEHICLE_VARIATION = {"mass": ("uniform", 0.9, 1.1), "thrust_coef": ("uniform", 0.95, 1.05), "motor_lag": ("uniform", 0.8, 1.2)}

OBSERVED = ("target", "body.velocity", "rotation", "body.rate")
EFFORT_REWARD = [("rate", -0.05, 10.0), ("action", -0.02)]
STAY_REWARD = [("proximity", 1.0, 0.5), *EFFORT_REWARD]

GATES = 6


def scenario(name: str, positions: list[list[float]], extra_yaml: str = "") -> Scenario:
    """Drones at these positions, within the limits that end an episode."""
    result = Scenario(SCENARIO.format(name=name, drones="".join(
        DRONE.format(i=i, position=position, extra_yaml=extra_yaml) for i, position in enumerate(positions))))
    result.limit(tilt=1.3, distance=6.0, low=0.05, high=6.0)
    return result


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


def random_waypoints(seeds: NDArray[np.uint64]) -> Array:
    """Four places within 1.5 m, of each episode."""
    random_numbers = uniforms(seeds, 12).reshape(-1, 1, 4, 3)
    out: Array = (random_numbers - 0.5) * np.array([3.0, 3.0, 1.0]) + np.array([0.0, 0.0, 1.2])
    return out


def gate_ring(seeds: NDArray[np.uint64]) -> Array:
    """Gates on a ring through the start, the first one a sixth of a turn ahead."""
    angle = 2.0 * np.pi * (1.0 + np.arange(GATES)) / GATES
    random_numbers = uniforms(seeds, 2 * GATES).reshape(-1, GATES, 2)
    radius = 1.5 + 0.4 * (random_numbers[..., 0] - 0.5)
    height = 1.0 + 0.6 * (random_numbers[..., 1] - 0.5)
    return np.stack([radius * np.sin(angle), 1.5 - radius * np.cos(angle), height], axis=-1)[:, None]


def swarm_places(seeds: NDArray[np.uint64]) -> Array:
    """A place for each of three drones, a third of a turn apart."""
    random_numbers = uniforms(seeds, 2)
    angle = 2.0 * np.pi * (random_numbers[:, :1] + np.arange(3)[None, :] / 3.0)
    radius = 0.7 + 0.5 * random_numbers[:, 1:]
    return np.stack([radius * np.sin(angle), radius * np.cos(angle), np.ones_like(angle)], axis=-1)[:, :, None]


def options(name: str) -> dict[str, Any]:
    """Of one task, by its name: what `volery.Task` takes."""
    one_start = [[0.0, 0.0, 1.0]]
    if name == "hover":
        return {"scenario": scenario(name, one_start), "observe": OBSERVED, "reward": STAY_REWARD}
    if name == "waypoints":
        return {"scenario": scenario(name, one_start), "observe": (*OBSERVED, "next_target", "goals_left"),
                "reward": [*STAY_REWARD, ("arrival", 5.0)], "goals": random_waypoints, "goal_radius": 0.2, "ends": True}
    if name == "track":
        path = "    controller: {path: {kind: figure_eight, radius: 1 m, speed: 1 m/s, ramp: 1 s, laps: 8, centre: [0, 0, 1]}}\n"
        return {"scenario": scenario(name, one_start, path), "observe": (*OBSERVED, "target_velocity"), "reward": STAY_REWARD}
    if name == "race":
        return {"scenario": scenario(name, one_start), "observe": (*OBSERVED, "next_target", "gate"),
                "reward": [("progress", 1.0), ("arrival", 2.0), ("rate", -0.02, 10.0)],
                "goals": gate_ring, "target": "gates", "goal_radius": 0.4, "repeat": True}
    if name == "swarm":
        return {"scenario": scenario(name, [[0.0, y, 1.0] for y in (-1.5, 0.0, 1.5)]), "observe": (*OBSERVED, "others"),
                "reward": [*STAY_REWARD, ("clearance", -0.8, 0.4)], "goals": swarm_places, "separation": 0.12}
    raise KeyError(name)
