"""What a call from Python costs beside the same call from C, in one run: `python -m volery.bench [--json]`.

Both sides fly the same worlds, in turns, and each time counts the fastest of many rounds. The hashes must be the same,
or the exit status is 1. Others on the machine disturb: these are wall-clock times.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from typing import Callable

import numpy as np

from . import _binding as b
from .batch import Batch
from .task import Task
from .world import World

HOVER = "volery: 1\nduration: 1 s\ndrones:\n  - name: a\n    vehicle: crazyflie2x\n"
# A plain flight: gravity, drag, motors, nothing sensed.
PLAIN = HOVER + "    controller: {kind: none}\n    sensors: {imu: {period: 0}, mocap: {period: 0}}\n"


def fastest(sides: list[Callable[[], float]], rounds: int) -> list[float]:
    """The shortest time of each, taken in turns."""
    best = [float("inf")] * len(sides)
    for _ in range(rounds):
        best = [min(fastest, side()) for fastest, side in zip(best, sides)]
    return best


def world_step(rounds: int = 40, calls: int = 5000) -> tuple[float, float, int, int]:
    """Seconds of one `World.step()` and of one vy_world_step(), and the hashes of both worlds."""
    python_world, c_world = World(HOVER), World(HOVER)

    def python() -> float:
        start = time.perf_counter()
        for _ in range(calls):
            python_world.step()
        return (time.perf_counter() - start) / calls

    def c() -> float:
        return float(b.lib.world_steps_seconds(c_world._pointer, calls)) / calls

    python_s, c_s = fastest([python, c], rounds)
    return python_s, c_s, python_world.hash, c_world.hash


def batch_step(worlds: int, threads: int, rounds: int = 160, calls: int = 10) -> tuple[float, float, int, int]:
    """Seconds of one `Batch.step()` and of one vy_batch_step(), under new actions each time, and hashes of both."""
    python_batch, c_batch = (Batch(PLAIN, worlds, rung="motors", threads=threads) for _ in range(2))
    phase = np.arange(worlds) % 17

    def write_actions(batch: Batch, call: int) -> None:
        batch.actions[:, 0, :] = 0.6176
        batch.actions[:, 0, ::2] += 1e-4 * ((phase + call) % 17)[:, None]

    def python() -> float:
        elapsed = 0.0
        for call in range(calls):
            write_actions(python_batch, call)
            start = time.perf_counter()
            python_batch.step()
            elapsed += time.perf_counter() - start
        return elapsed / calls

    def c() -> float:
        elapsed = 0.0
        for call in range(calls):
            write_actions(c_batch, call)
            elapsed += float(b.lib.batch_step_seconds(c_batch._check_open().pointer, 1))
        return elapsed / calls

    python_s, c_s = fastest([python, c], rounds)
    return python_s, c_s, _hash_of(python_batch), _hash_of(c_batch)


def task_step(rounds: int = 40, calls: int = 200) -> tuple[float, float, int, int]:
    """Seconds of one `Task.step()` of ten steps of one world, and of ten vy_world_step() under the same intents, and hashes."""
    task = Task(HOVER, 1, threads=1, episode=0.0)
    world = World(task.world_scenario(0), rung="rates")

    def python() -> float:
        start = time.perf_counter()
        for _ in range(calls):
            task.step()
        return (time.perf_counter() - start) / calls

    def c() -> float:
        world.act(task.intents(0)[0])
        return float(b.lib.world_steps_seconds(world._pointer, calls * task.steps)) / calls

    task.actions[...] = -0.2
    python_s, c_s = fastest([python, c], rounds)
    return python_s, c_s, task.state_hash(0), world.state_hash


def _machine() -> str:
    """The CPU's name as the kernel tells it."""
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.machine()


def _hash_of(batch: Batch) -> int:
    """Of the states of all worlds."""
    out = 0
    for i in range(len(batch)):
        out = (out * 0x9E3779B97F4A7C15 + batch.state_hash(i)) % 2**64
    return out


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m volery.bench", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--json", action="store_true", help="one object a line")
    parser.add_argument("--worlds", type=int, default=4096, help="of the batch (4096)")
    parser.add_argument("--threads", type=int, default=1, help="of the batch (1); 0 is one per core")
    options = parser.parse_args(arguments)
    status = 0
    benchmarks: list[tuple[str, int, str, Callable[[], tuple[float, float, int, int]]]] = [
            ("world-step", 1, "World.step() of one drone", world_step),
            ("batch-step", options.worlds, f"Batch.step() of {options.worlds} drones",
             lambda: batch_step(options.worlds, options.threads)),
            ("task-step", 1, "Task.step() of one drone, ten steps: actions, observation and reward", task_step)]
    for name, drones, text, measure in benchmarks:
        python_s, c_s, python_hash, c_hash = measure()
        status |= python_hash != c_hash
        if options.json:
            print(json.dumps({"name": name, "drones": drones, "python_s": python_s, "c_s": c_s, "ratio": python_s / c_s,
                              "overhead_s": python_s - c_s, "hash": f"{python_hash:016x}",
                              "same": python_hash == c_hash,
                              "version": b.lib.binding_version().decode(), "python": platform.python_version(),
                              "machine": _machine()}))
        else:
            print(f"{name:<12} {1e6 * python_s:9.3f} us, in C {1e6 * c_s:9.3f} us: {1e6 * (python_s - c_s):6.3f} us more, "
                  f"{python_s / c_s:6.3f} times  {python_hash:016x}  {text}")
        if python_hash != c_hash:
            print(f"{name}: hash {python_hash:016x} from Python, {c_hash:016x} from C", file=sys.stderr)
        sys.stdout.flush()
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
