"""Joints and contacts as worlds and sets of bodies know them."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _binding as b

Vector = NDArray[np.float64]

_kind_words = b.lib.joint_kinds().decode().split()
KINDS: dict[str, int] = dict(zip(_kind_words[::3], map(int, _kind_words[1::3])))  # by name
_KIND_FLAGS = dict(zip(_kind_words[::3], map(int, _kind_words[2::3])))
HAS_LENGTH, HAS_AXIS, TURNS, SLIDES, HAS_SPRING, HAS_CONE, HAS_WHEELS, GEARED = 1, 2, 8, 16, 64, 256, 512, 1024  # bits of a kind, as in joint.h


def has(kind: str, flags: int) -> bool:
    """Has a kind of joint any of `flags`?"""
    return bool(_KIND_FLAGS[kind] & flags)


class Phase(enum.IntEnum):
    """Of a contact: whether it began, persisted or ended in the last step."""

    BEGIN = 0
    PERSIST = 1
    END = 2


class Motor(NamedTuple):
    """A torque of gain (speed - rate), at most `torque`: a force along the axis where a joint slides."""

    speed: float  # [rad/s] or [m/s]
    gain: float  # [N m s/rad] or [N s/m]
    torque: float  # [N m] or [N]

    @classmethod
    def checked(cls, values: Any) -> Motor:
        """Of three finite numbers."""
        return cls(*(float(v) for v in b.check_array("motor (speed, gain, torque)", values, 3)))


class JointState(NamedTuple):
    """A joint now. Force and torque are those with which the last part of the last step began."""

    value: Vector  # of its up to six equations; zero where it holds
    gap: float  # [m] between the anchors
    angle: float  # [rad] of one that turns; [m] of a slider
    length: float  # [m] between the anchors of one with a length; the way of one that slides
    rate: float  # [rad/s] or [m/s] of the angle
    active: bool  # False: a slack cable, or a limit that is not reached
    force: Vector  # [N] on body b at its anchor, world
    torque: Vector  # [N m] on body b about its anchor, world
    tension: float  # [N] of one with a length: positive when it pulls
    closing_time: float  # [s] until one that was added open is closed
    broken: bool  # it has broken and acts no more
    mean_force: float  # [N] of one that can break: its impulse in the last step, or in that in which it broke, over the step
    mean_torque: float  # [N m] likewise, about the anchor of b
    swing: float  # [rad] of one with a cone: between its axes; `angle` is its twist
    turned: Vector  # [rad] of a gear: how far a and b have turned since they were joined, all turns counted

    @classmethod
    def of(cls, numbers: Vector) -> JointState:
        gap, angle, length, rate, active = (float(v) for v in numbers[6:11])
        return cls(numbers[:6], gap, angle, length, rate, active != 0.0, numbers[11:14], numbers[14:17], float(numbers[17]),
                   float(numbers[18]), numbers[19] != 0.0, float(numbers[20]), float(numbers[21]),
                   float(numbers[22]), numbers[23:25])


STATE_SIZE = 25  # of a JointState
