"""Scenarios: what a world is made of, as a YAML file or text."""

from __future__ import annotations

import ctypes
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from . import _binding as b

RUNGS = {"none": 0, "motors": 1, "wrench": 2, "rates": 3, "attitude": 4, "velocity": 5, "pilot": 6}


class Scenario:
    """A checked scenario. `source` is a path, the name of a scenario that came along (`"hover"`), or YAML text (anything
    with a line break).

    `settings` override values by their dotted path: `Scenario("hover.yaml", {"seed": 7})`. Numbers, texts, lists and
    NumPy arrays are fine. Raises `volery.Error` with file, line and column of every mistake.

    May be copied and pickled; files it names are looked for again where they were.
    """

    def __init__(self, source: str | os.PathLike[str], settings: dict[str, Any] | None = None) -> None:
        assignments = [f"{key}={_yaml_text(value)}" for key, value in (settings or {}).items()]
        overrides, count = b.c_strings(assignments), len(assignments)
        self._path: bytes | None = None  # beside which the files it names lie
        if isinstance(source, str) and "\n" in source:
            text = source.encode()
            pointer = b.lib.scenario_parse(text, len(text), None, overrides, count)
        else:
            if not os.fspath(source):
                raise b.Error("a scenario is a path or YAML text, got nothing")
            path = _find_packaged(Path(source))
            self._path = os.path.abspath(path).encode()
            pointer = b.lib.scenario_load(os.fspath(path).encode(), overrides, count)
        if not pointer:
            raise b.Error(re.sub("^--set ", "settings: ", str(b.last_error()), flags=re.MULTILINE))
        self._pointer: int = pointer

    @classmethod
    def _from_pointer(cls, pointer: int | None, path: bytes | None) -> Scenario:
        scenario = cls.__new__(cls)
        scenario._pointer = b.check_created(pointer)
        scenario._path = path
        return scenario

    @classmethod
    def _unpickle(cls, text: bytes, path: bytes | None) -> Scenario:
        return cls._from_pointer(b.lib.scenario_parse(text, len(text), path, b.c_strings([]), 0), path)

    def __reduce__(self) -> tuple[Any, ...]:
        return Scenario._unpickle, (str(self).encode(), self._path)

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            b.lib.scenario_destroy(self._pointer)
            self._pointer = 0

    def __repr__(self) -> str:
        return f"<Scenario of {', '.join(self.drones)}>"

    def __str__(self) -> str:
        """The resolved scenario as YAML; read again, it gives the same scenario to the bit."""
        text = b.check_created(b.lib.scenario_print(self._pointer))
        try:
            return ctypes.string_at(text).decode()
        finally:
            b.lib.binding_free(text)

    @property
    def seed(self) -> int:
        """Of every random stream."""
        return int(b.lib.scenario_seed(self._pointer))

    @seed.setter
    def seed(self, value: int) -> None:
        b.lib.scenario_set_seed(self._pointer, b.check_integer("seed", value))

    @property
    def step(self) -> float:
        """[s] of one step of the world."""
        return float(b.lib.scenario_step(self._pointer))

    @property
    def steps(self) -> int:
        """Steps of the whole run."""
        return int(b.lib.scenario_steps(self._pointer))

    @property
    def drones(self) -> list[str]:
        """Their names."""
        count = b.lib.scenario_drone_count(self._pointer)
        return [b.lib.scenario_drone_name(self._pointer, i).decode() for i in range(count)]

    @property
    def bodies(self) -> list[str]:
        """Names of what moves and is no drone."""
        count = b.lib.scenario_body_count(self._pointer)
        return [b.lib.scenario_body_name(self._pointer, i).decode() for i in range(count)]

    @property
    def joints(self) -> list[str]:
        """Names of what joins drones and bodies."""
        count = b.lib.scenario_joint_count(self._pointer)
        return [b.lib.scenario_joint_name(self._pointer, i).decode() for i in range(count)]

    @property
    def obstacles(self) -> list[str]:
        """Names of what stands still."""
        count = b.lib.scenario_obstacle_count(self._pointer)
        return [b.lib.scenario_obstacle_name(self._pointer, i).decode() for i in range(count)]

    def rotors(self, drone: int | str = 0) -> int:
        """Rotors of a drone."""
        return int(b.lib.scenario_rotor_count(self._pointer, self._index(drone)))

    def vehicle(self, drone: int | str = 0) -> tuple[float, float]:
        """Mass [kg] of a drone, and the thrust [N] of all its rotors at full speed."""
        out = (ctypes.c_double * 2)()
        b.lib.scenario_mass_and_thrust(self._pointer, self._index(drone), out)
        return out[0], out[1]

    def limit(self, *, tilt: float = 0.0, distance: float = 0.0, low: float = 0.0, high: float = 0.0) -> None:
        """Limits that end a run, for every drone: tilt [rad], horizontal distance [m], heights [m]. 0 is none."""
        b.lib.scenario_set_limits(self._pointer, b.check_number("tilt", tilt), b.check_number("distance", distance),
                             b.check_number("low", low), b.check_number("high", high))

    def _index(self, drone: int | str) -> int:
        """Of a drone by its number or its name."""
        if isinstance(drone, str):
            names = self.drones
            if drone not in names:
                raise IndexError(f"there is no drone {drone}; there are {', '.join(names)}")
            return names.index(drone)
        return b.check_index("drone", drone, b.lib.scenario_drone_count(self._pointer))


def _find_packaged(path: Path) -> Path:
    """The scenario of that name which came with the package, unless there is such a file here."""
    packaged = Path(__file__).parent / "scenarios" / f"{path.name.removesuffix('.yaml')}.yaml"
    return path if path.exists() or path.name != str(path) or not packaged.exists() else packaged


def _yaml_text(value: Any, is_nested: bool = False) -> str:
    """A value as YAML; a text is taken as it is written, but quoted within a list or mapping."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_yaml_text(item, True)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_yaml_text(item, True) for item in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if is_nested else value
    return str(value).lower() if isinstance(value, bool) else str(value)
