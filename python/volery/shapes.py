"""Collision shapes: small values that bodies are made with. Metres, in a frame of their own."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _binding as b

Array = NDArray[np.float64]


class Shape(b.NotCopyable):
    """What `sphere`, `box`, `capsule`, `cylinder`, `hull`, `plane` and `height_field` make. It never changes; any number of
    bodies may have it."""

    def __init__(self, pointer: int | None, description: str) -> None:
        self._pointer = b.check_created(pointer)
        self._description = description
        self._mass: Array | None = None

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            b.lib.shape_destroy(self._pointer)
            self._pointer = 0

    def __repr__(self) -> str:
        return f"<Shape: {self._description}>"

    def _mass_properties(self) -> Array:
        if self._mass is None:
            out = (ctypes.c_double * 13)()
            if b.lib.shape_mass(self._pointer, out) != 0:
                raise b.last_error()
            self._mass = np.array(out)
        return self._mass

    @property
    def volume(self) -> float:
        """[m^3]; a plane and a height field have none, and raise."""
        return float(self._mass_properties()[0])

    @property
    def centroid(self) -> Array:
        """[m] of the volume, in the shape's frame: there a body's position is."""
        return self._mass_properties()[1:4].copy()

    def inertia(self, mass: float) -> Array:
        """[kg m^2] (3, 3) of a solid of even density about its centroid."""
        return b.check_number("mass", mass) * self._mass_properties()[4:13].reshape(3, 3)


def sphere(radius: float) -> Shape:
    """About the origin."""
    return Shape(b.lib.shape_sphere(b.check_number("radius", radius)), f"sphere of radius {radius:g} m")


def box(size: Any) -> Shape:
    """About the origin, along the axes. `size`: the three sides, or one number for a cube."""
    sides = b.check_array("size", size, 1 if np.ndim(size) == 0 else 3) * np.ones(3)
    return Shape(b.lib.shape_box((0.5 * sides).ctypes.data), f"box of {sides[0]:g} x {sides[1]:g} x {sides[2]:g} m")


def capsule(radius: float, length: float) -> Shape:
    """Along z, its middle at the origin; `length` is without the caps."""
    pointer = b.lib.shape_capsule(0.5 * b.check_number("length", length), b.check_number("radius", radius))
    return Shape(pointer, f"capsule of radius {radius:g} m, {length:g} m without its caps")


def cylinder(radius: float, length: float) -> Shape:
    """Along z, its middle at the origin."""
    pointer = b.lib.shape_cylinder(0.5 * b.check_number("length", length), b.check_number("radius", radius))
    return Shape(pointer, f"cylinder of radius {radius:g} m, {length:g} m long")


def hull(points: Any, tolerance: float = 1e-12) -> Shape:
    """The convex hull of points, (n, 3); what is inside is left out. `tolerance`: relative, what counts as flat."""
    rows = _float_array("points", points)
    if rows.shape[1:] != (3,) or len(rows) >= 2**31:
        raise b.Error(f"points: a table of three columns, got a shape of {rows.shape}")
    pointer = b.lib.shape_hull(rows.ctypes.data, len(rows), b.check_number("tolerance", tolerance))
    return Shape(pointer, f"hull of {len(rows)} points")


def plane(normal: Any = (0.0, 0.0, 1.0), offset: float = 0.0) -> Shape:
    """Solid below it, without bounds: dot(normal, p) <= offset. For bodies that are static or kinematic."""
    direction = b.check_array("normal", normal, 3)
    return Shape(b.lib.shape_plane(direction.ctypes.data, b.check_number("offset", offset)), "plane")


def height_field(heights: Any, spacing: float) -> Shape:
    """Ground over a grid: heights[j, i] stands at x = i spacing, y = j spacing. Solid below, nothing outside. For bodies that
    are static or kinematic."""
    rows = _float_array("heights", heights)
    if rows.ndim != 2 or max(rows.shape) >= 2**31:
        raise b.Error(f"heights: a table of rows along y, got a shape of {rows.shape}")
    pointer = b.lib.shape_height_field(rows.shape[1], rows.shape[0], b.check_number("spacing", spacing), rows.ctypes.data)
    return Shape(pointer, f"height field of {rows.shape[1]} x {rows.shape[0]} samples")


def _float_array(label: str, value: Any) -> Array:
    try:
        return np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise TypeError(f"{label}: numbers in rows, got {type(value).__name__}") from None
