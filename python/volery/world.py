"""One world: step it, read it, save and restore it, record and replay it."""

from __future__ import annotations

import ctypes
import enum
import json
import operator
import os
import subprocess
import sys
import threading
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _binding as b
from .campaign import CampaignError, _find_command
from .joints import STATE_SIZE, JointState
from .scenario import RUNGS, Scenario

INTERRUPT_STEPS = 20_000  # steps between two chances for an interrupt
STRIDE = 10  # steps that a viewer's *step* makes
FREE_TIME = 0.02  # [s] for which viewers need not be asked where they want it as fast as it goes

Vector = NDArray[np.float64]


class DroneState(NamedTuple):
    """A drone at one moment: the truth, then what its estimator believes. World axes east, north, up; SI units."""

    position: Vector
    velocity: Vector
    attitude: Vector  # w, x, y, z: body to world
    rate: Vector  # body axes
    estimated_position: Vector
    estimated_velocity: Vector
    estimated_attitude: Vector
    estimated_rate: Vector
    rotor_speed: Vector
    motor_command: Vector


_reply_words = b.lib.reply_fields().decode().split()
_REPLY_FIELDS = dict(zip(_reply_words[::2], map(int, _reply_words[1::2])))  # of any rung, how many values; 0: flags, -1: a word
STATUSES = {"armed": 0, "disarmed": 1, "stale": 3}  # of a reply; one that is not ready does not act


def _pack_fields(fields: dict[str, Any]) -> Vector:
    """The fields that go with any rung, one after the other; what is not given is zero."""
    for name in fields:
        if name not in _REPLY_FIELDS:
            raise b.Error(f"act: no field {name}; a reply has {', '.join(_REPLY_FIELDS)}")
    parts = []
    for name, size in _REPLY_FIELDS.items():
        if size < 0:
            parts.append(np.array([float(b.lookup(name, fields.get(name, "armed"), STATUSES))]))
            continue
        values = list(fields.get(name, ()))
        if size == 0:
            bits = {b.check_integer(name, number, maximum=31) for number in values}
            parts.append(np.array([sum(1 << bit for bit in bits)], dtype=np.float64))
            continue
        if len(values) > size:
            raise b.Error(f"act: {name} has {size} values at most, got {len(values)}")
        parts.append(np.array([*values, *[0.0] * (size - len(values))], dtype=np.float64))
    return np.concatenate(parts)


class BodyState(NamedTuple):
    """A body that is no drone at one moment. World axes east, north, up; SI units."""

    position: Vector
    velocity: Vector
    attitude: Vector  # w, x, y, z: body to world
    rate: Vector  # body axes


class Event(enum.IntFlag):
    """What `World.step` returns: `volery.Event(world.step())`."""

    CLAMPED = 1  # a motor command was outside 0 to 1
    FAILED = 2  # the world has ended: see `failure`
    SINK = 4  # a log could not be written
    DIVERGED = 8  # a replay differs
    REDUNDANT = 16  # joints have redundant rows, which were left out
    CONFLICT = 32  # joints contradict each other: an error stayed
    CONTACT = 64  # a contact began or ended: see `contacts`
    CRASH = 128  # an impact was beyond the limits of what it hit
    TIME_DROPPED = 512  # too many impacts in one step: some bodies stood still for the rest of it
    TRIGGER = 1024  # a drone or body entered a trigger or left it
    JOINT_BROKEN = 2048  # joints broke: see `joint`


WORLD_CONTACT = np.dtype([
    ("body", np.int32),  # number of the drone or body, drones first
    ("other", np.int32),  # of the other one; -1: an obstacle
    ("obstacle", np.int32),  # its number; -1: a drone or body
    ("phase", np.int32),  # a Phase
    ("points", np.int32),  # with an impulse
    ("point", np.float64, 3),  # [m] world: where the impulses act, weighted by them
    ("normal", np.float64, 3),  # unit, towards the body
    ("impulse", np.float64, 3),  # [N s] on the body, over the step, world
    ("speed", np.float64),  # [m/s] at which the deepest point closed
    ("severity", np.float64),  # largest share of a crash limit of either; 1 and more is a crash
], align=True)

_sample_words = b.lib.sample_fields().decode().split()
_SAMPLE_FIELDS = list(zip(_sample_words[::3], map(int, _sample_words[1::3]), map(int, _sample_words[2::3])))  # name, values, whole?
_SAMPLE_SIZE = sum(size for _, size, _ in _SAMPLE_FIELDS)

_DroneNumbers = ctypes.c_double * 42
_STATE_SPLITS = [3, 6, 10, 13, 16, 19, 23, 26, 34]


class World:
    """A world built from a scenario.

    seed       instead of the scenario's
    rung       None: the scenario's own controllers steer; else the name of a rung (`volery.RUNGS`): the drones obey `act`
    settings   values of the scenario by their dotted path, as `{"duration": "5 s"}`

    Drones are meant by their number or their name. A copy (`copy.copy`, `pickle`) goes on from the same state with the same
    bits; what is being recorded is not. Worlds that plug-ins or processes steer cannot be copied.

    Threads may share a world: each call has it for itself, and others wait.
    """

    def __init__(self, scenario: Scenario | str | os.PathLike[str], *, seed: int | None = None,
                 rung: str | None = None, settings: dict[str, Any] | None = None) -> None:
        if isinstance(scenario, Scenario) and settings:
            raise b.Error("settings are for a path or a text: give them to the Scenario")
        self.scenario = scenario if isinstance(scenario, Scenario) else Scenario(scenario, settings)
        self._rung_name = rung
        self._rung = b.lookup("rung", rung, RUNGS) if rung is not None else 0
        self._seed = self.scenario.seed
        self._pointer = 0
        self._step = b.lib.world_step
        self.reset(seed)

    def reset(self, seed: int | None = None) -> None:
        """Start again at the scenario's beginning, with another seed if one is given. A recording must have ended."""
        if self._pointer and b.lib.world_is_recording(self._pointer):
            raise b.Error("reset: the world is being recorded")
        if seed is not None:
            self._seed = b.check_integer("seed", seed)
        takes_actions = int(self._rung_name is not None)
        if not self._pointer:
            self._pointer = b.check_created(b.lib.world_create(self.scenario._pointer, takes_actions, self._seed))
        elif b.lib.world_reset(self._pointer, self.scenario._pointer, takes_actions, self._seed) != 0:
            raise b.last_error()
        self._last_actions: dict[int, tuple[Vector, Vector]] = {}

    @classmethod
    def _unpickle(cls, scenario: Scenario, seed: int, rung: str | None, last_actions: dict[int, tuple[Vector, Vector]],
               block: bytes) -> World:
        world = cls(scenario, seed=seed, rung=rung)
        world.restore(block)
        for drone, (values, common_values) in last_actions.items():
            world._act(drone, values, common_values)
        return world

    def __reduce__(self) -> tuple[Any, ...]:
        if b.lib.world_is_hosted(self._pointer):
            raise TypeError("a World that a plug-in or process steers can be neither copied nor pickled")
        return World._unpickle, (self.scenario, self._seed, self._rung_name, self._last_actions, self.save())

    def __repr__(self) -> str:
        return f"<World of {', '.join(self.scenario.drones)} at {self.time:.6g} s>"

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            b.lib.world_destroy(self._pointer)
            self._pointer = 0

    def step(self, steps: int = 1) -> int:
        """Advance; stops early when the world ends. Returns the events (`volery.Event`), 0 for none. Ctrl-C is heard meanwhile."""
        try:
            if 0 <= steps <= INTERRUPT_STEPS:
                return self._step(self._pointer, steps)  # type: ignore[no-any-return]
        except (TypeError, ctypes.ArgumentError):
            pass
        steps = b.check_integer("step", steps)
        events = 0
        while steps > 0 and self.failure is None:
            events |= self._step(self._pointer, min(steps, INTERRUPT_STEPS))
            steps -= INTERRUPT_STEPS
        return events

    def act(self, action: Any, drone: int | str = 0, **fields: Any) -> None:
        """Set what the drone obeys from the end of the next step on: the values of the world's rung, thrust first.

        motors: one of [0, 1] each; wrench: N, then N m; rates: N, then rad/s; attitude: N, then w, x, y, z; velocity: m/s,
        then rad/s of yaw; pilot: throttle, strafe, vertical, yaw. `fields` are what a reply of any rung may have (docs/log.md,
        Replies): `drop=[0]` are numbers of the drone's payloads, in the scenario's order, that it lets go then; they need
        `release: on`. `status="disarmed"` keeps the motors off, `status="stale"` leaves the last intent in force.
        """
        if self._rung == 0:
            raise b.Error("act: the scenario's controllers steer this world; make it with a rung")
        index = self.scenario._index(drone)
        values = np.array(action, dtype=np.float64).ravel()
        size = {1: self.scenario.rotors(index), 4: 5}.get(self._rung, 4)
        if values.size != size:
            raise b.Error(f"act: {size} values of this rung, got {values.size}")
        self._act(index, values, _pack_fields(fields))

    def _act(self, index: int, values: Vector, common_values: Vector) -> None:
        b.lib.world_act(self._pointer, index, self._rung, values.ctypes.data, common_values.ctypes.data)
        self._last_actions[index] = (values, common_values)

    def state(self, drone: int | str = 0) -> DroneState:
        """A copy of a drone's state."""
        numbers: Any = _DroneNumbers()
        b.lib.world_read_drone(self._pointer, self.scenario._index(drone), numbers)
        return DroneState(*np.split(np.frombuffer(numbers), _STATE_SPLITS))

    def set_state(self, drone: int | str = 0, *, position: Any = None, velocity: Any = None, attitude: Any = None,
                  rate: Any = None, rotor_speed: Any = None) -> None:
        """Put a drone elsewhere between two steps; what is not given stays as it is.

        attitude     w, x, y, z: body to world, of any length above 0
        rotor_speed  one number for all rotors, or one for each

        Samples, estimate and controller stay as they are, but an estimate that is the truth follows at once. Refused while
        the world is recorded, in worlds with payloads or bodies that sleep, and of drones on joints.
        """
        index = self.scenario._index(drone)
        current = self.state(index)
        rotors = np.zeros(8)
        count = self.scenario.rotors(index)
        rotors[:count] = current.rotor_speed[:count]
        if rotor_speed is not None:
            speeds = np.atleast_1d(np.array(rotor_speed, dtype=np.float64)).ravel()
            if speeds.size not in (1, count):
                raise b.Error(f"set_state: rotor_speed has {count} values or one, got {speeds.size}")
            rotors[:count] = speeds
        parts = []
        for name, value, size in (("position", position, 3), ("velocity", velocity, 3), ("attitude", attitude, 4),
                                  ("rate", rate, 3)):
            part = np.array(getattr(current, name) if value is None else value, dtype=np.float64).ravel()
            if part.size != size:
                raise b.Error(f"set_state: {name} has {size} values, got {part.size}")
            parts.append(part)
        values = np.concatenate([*parts, rotors])
        if b.lib.world_set_drone(self._pointer, index, values.ctypes.data) != 0:
            raise b.last_error()

    def body(self, body: int | str) -> BodyState:
        """A copy of the state of a body, by its number among the scenario's `bodies` or its name."""
        numbers: Any = (ctypes.c_double * 13)()
        b.lib.world_read_body(self._pointer, _index_of("body", body, self.scenario.bodies), numbers)
        return BodyState(*np.split(np.frombuffer(numbers), (3, 6, 10)))

    def joint(self, joint: int | str) -> JointState:
        """What a joint reads, by its number among the scenario's `joints` or its name."""
        out = np.empty(STATE_SIZE)
        if b.lib.world_read_joint(self._pointer, _index_of("joint", joint, self.scenario.joints), out.ctypes.data) != 0:
            raise b.last_error()
        return JointState.of(out)

    def samples(self, drone: int | str = 0) -> dict[str, Any]:
        """What a drone's controller sees now, noise and all, by name: `samples()["imu.gyro"]`. Vectors are arrays, ticks whole
        numbers. A sensor is there from its first sample on; what it says holds until the next one, whose `tick` tells when."""
        values = np.empty(_SAMPLE_SIZE)
        b.lib.world_samples(self._pointer, self.scenario._index(drone), values.ctypes.data)
        out: dict[str, Any] = {}
        start = 0
        for name, size, is_integer in _SAMPLE_FIELDS:
            out[name] = values[start : start + size] if size > 1 else int(values[start]) if is_integer else float(values[start])
            start += size
        missing_sensors = tuple(name[: -len("tick")] for name, value in out.items() if name.endswith(".tick") and not value)
        return {name: value for name, value in out.items() if not name.startswith(missing_sensors)} if missing_sensors else out

    def contacts(self) -> NDArray[Any]:
        """Contacts of the last step: those with an impulse, and the ends of those with one in the step before. Ordered by what
        touches: drones, bodies, obstacles. A copy, with the fields of `volery.WORLD_CONTACT`; numbers are those of
        `scenario.drones + scenario.bodies` and of `scenario.obstacles`."""
        out = np.zeros(0, dtype=WORLD_CONTACT)
        while True:  # another thread may step meanwhile
            count = b.lib.world_contacts(self._pointer, out.ctypes.data, len(out))
            if count <= len(out):
                return out[:count]
            out = np.zeros(count, dtype=WORLD_CONTACT)

    @property
    def tick(self) -> int:
        """Steps done."""
        return int(b.lib.world_tick(self._pointer))

    @property
    def time(self) -> float:
        """[s]"""
        return self.tick * self.scenario.step

    @property
    def hash(self) -> int:
        """Of the last step, chained to all before it: equal hashes, equal runs."""
        return int(b.lib.world_hash(self._pointer))

    @property
    def state_hash(self) -> int:
        """Of the state as it is."""
        return int(b.lib.world_state_hash(self._pointer))

    @property
    def failure(self) -> str | None:
        """Why the world ended; None while it runs."""
        text = b.lib.world_failure(self._pointer)
        return str(text.decode()) if text is not None else None

    @property
    def integrator(self) -> str:
        """How steps advance time: `euler`, `semi-implicit`, `rk4` or `lie-midpoint`. May be set between steps; it is
        part of the state."""
        return str(b.lib.world_integrator(self._pointer).decode())

    @integrator.setter
    def integrator(self, name: str) -> None:
        if b.lib.world_set_integrator(self._pointer, name.encode()) != 0:
            raise b.last_error()

    def save(self) -> bytes:
        """The whole state."""
        size = b.lib.world_save(self._pointer, None, 0)
        while True:  # another thread may step meanwhile, and contacts come and go
            block = ctypes.create_string_buffer(size)
            needed = b.lib.world_save(self._pointer, block, size)
            if needed <= size:
                return block.raw[:needed]
            size = needed

    def restore(self, block: bytes) -> None:
        """Go back to a saved state; further steps give the same bits as they did from there. A recording must have ended."""
        saved = b.check_bytes("restore", block)
        if b.lib.world_restore(self._pointer, saved, len(saved)) != 0:
            raise b.last_error()

    def inject(self, kind: str, /, **keys: Any) -> None:
        """Do something to the flight, from the next step on: `world.inject("push", drone="alpha", force=[0, 2, 0], duration=0.5)`.

        kind   `push`, `gust` or `fault`
        keys   those that a scenario has for `disturbances`, `wind.gusts` and `faults`, but for `start`

        It is part of the state: `save`, a recording and its replay have it.
        """
        if b.lib.world_inject(self._pointer, kind.encode(), json.dumps(keys).encode()) != 0:
            raise b.last_error()

    def record(self, path: str | os.PathLike[str], *, watch: bool = False) -> Recording:
        """Log what follows: `with world.record("run.mcap"): world.step(1000)`.

        watch   show it as it flies: the command `volery watch` is started, and prints the address of a page, which is also
                the recording's `address`. From there the flight is paused, stepped, slowed and disturbed: `step` waits
        """
        if b.lib.world_record(self._pointer, os.fspath(path).encode()) != 0:
            raise b.last_error()
        recording = Recording(self)
        if watch:
            recording._watch(os.fspath(path))
        return recording


def _index_of(label: str, key: int | str, names: list[str]) -> int:
    """Of one of a scenario's things, by its number or its name."""
    if isinstance(key, str):
        if key not in names:
            raise IndexError(f"there is no {label} {key}; there are {', '.join(names) or 'none'}")
        return names.index(key)
    return b.check_index(label, key, len(names))


class Recording(b.NotCopyable):
    """A log being written; ends with its `with` block. What the block throws marks the log as interrupted."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.address: str | None = None  # of the page that shows it
        self._server: subprocess.Popen[str] | None = None

    def _watch(self, path: str) -> None:
        pipe = subprocess.PIPE
        try:
            self._server = subprocess.Popen([_find_command(None), "watch", "--paced", path], stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        except (CampaignError, OSError) as error:
            self.__exit__(None)
            raise b.Error(f"record: {error}") from None
        assert self._server.stderr is not None
        line = self._server.stderr.readline().strip()
        self.address = line.removeprefix("watch it at ")
        if self.address == line:
            self.__exit__(None)
            raise b.Error(f"record: {line}")
        print(line, file=sys.stderr)
        self._world._step = _Pacer(self._world, self._server).step

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, exception_type: object, *_: object) -> None:
        self._world._step = b.lib.world_step
        if b.lib.world_record_end(self._world._pointer, int(exception_type is None)) != 0:
            raise b.last_error()


class _Pacer:
    """Asks `volery watch` before each stride whether it may be flown, and injects what viewers want (docs/view.md)."""

    def __init__(self, world: World, server: subprocess.Popen[str]) -> None:
        self._world = world
        self._server = server
        self._is_waiting = False  # there is no answer yet
        self._free_until = 0.0  # [s]
        self._lock = threading.Lock()

    def step(self, pointer: int, steps: int) -> int:
        """What the library's own step does, in strides."""
        steps = operator.index(steps)
        events = 0
        tick = b.lib.world_tick(pointer)
        while steps > 0:
            if tick % STRIDE == 0:
                self._ask_permission()
            count = min(steps, STRIDE - tick % STRIDE)
            events |= b.lib.world_step(pointer, count)
            previous_tick, tick = tick, b.lib.world_tick(pointer)
            if tick < previous_tick + count:
                break  # the world has ended
            steps -= count
        return events

    def _ask_permission(self) -> None:
        if time.monotonic() < self._free_until:
            return
        with self._lock:
            try:
                if not self._is_waiting:
                    self._send_line(repr(self._world.time))
                self._is_waiting = True
                self._receive()
                self._is_waiting = False
            except (OSError, ValueError):  # there is nobody to ask: the flight goes on by itself
                self._free_until = float("inf")

    def _send_line(self, line: str) -> None:
        assert self._server.stdin is not None
        self._server.stdin.write(line.replace("\n", " ") + "\n")
        self._server.stdin.flush()

    def _receive(self) -> None:
        assert self._server.stdout is not None
        for line in self._server.stdout:
            word, _, arguments = line.strip().partition(" ")
            if word == "go":
                return
            if word == "free":
                self._free_until = time.monotonic() + FREE_TIME
                return
            if word == "wait":
                b.lib.world_flush(self._world._pointer)  # so that viewers see all there is
            if word == "inject":
                kind, _, keys = arguments.partition(" ")
                if b.lib.world_inject(self._world._pointer, kind.encode(), keys.encode()) != 0:
                    self._send_line(f"refused {b.last_error()}")
        raise OSError("it has ended")


def replay(path: str | os.PathLike[str], *, live: bool = False, allow_programs: bool = False,
           unconfined: bool = False) -> str | None:
    """Fly a log again from itself alone. None when every bit is the same, else a sentence on the first difference.

    A log that was cut off is compared as far as it goes, with a RuntimeWarning that says how far. One that is damaged, or
    lacks what its own result asks for, is an Error that names the step.

    live             ask the controllers again and compare their replies with the log's
    allow_programs   start the processes and plug-ins that the log names. Whoever wrote the log chose them: trust it first.
                     Without it a log that names some cannot be replayed live
    unconfined       let them write anywhere and use the network; else they may write only to a fresh folder
    """
    program_permission = (2 if unconfined else 1) if live and allow_programs else 0
    result = b.lib.log_replay(os.fspath(path).encode(), int(live), program_permission)
    if result < 0:
        raise b.last_error()
    if result == 2:
        warnings.warn(str(b.last_error()), RuntimeWarning, stacklevel=2)
    return str(b.last_error()) if result == 1 else None
