"""What a ray, a moving shape, a shape or a point meets among the bodies of a set."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _binding as b
from .shapes import Shape

if TYPE_CHECKING:
    from .bodies import Body

Vector = NDArray[np.float64]

HIT = np.dtype([
    ("body", np.int64),  # its slot; -1: nothing was hit
    ("t", np.float64),  # as Hit.t
    ("point", np.float64, 3),  # [m] on the body
    ("normal", np.float64, 3),  # unit, out of the body
])
_RAY, _SHAPE, _OVERLAP, _POINT, _NEAR_SHAPE = range(5)
_UPRIGHT = (1.0, 0.0, 0.0, 0.0)


class Hit(NamedTuple):
    """What a query has found."""

    body: Body
    t: float  # of a ray in units of its direction; of a moving shape 0 to 1; else [m] the distance, below 0 a depth
    point: Vector  # [m] on the body
    normal: Vector  # unit, out of the body; zero where there is overlap at the start


class Queries:
    """Queries of a set as it stands now: they change nothing. Hits come by t, of equal ones by slot. `ignore`: a body that is
    not seen. Those that end in `_all` give an array with the fields of `volery.HIT`: body (slot), t, point, normal."""

    if TYPE_CHECKING:  # what a set has
        _set: Any

        def _id_of(self, body: Body | None) -> int: ...

        def body(self, key: int | str) -> Body: ...

    def _query_first(self, kind: int, shape: Shape | None, packed_query: Vector, ignore: Body | None) -> Hit | None:
        """`packed_query`: the numbers of a query of `kind`, as _ray() and its like pack them."""
        out = np.empty(1, dtype=HIT)
        if b.lib.bodies_query(self._set.pointer, kind, shape._pointer if shape is not None else None, packed_query.ctypes.data,
                              self._id_of(ignore), out.ctypes.data) != 0:
            raise b.last_error()
        hit = out[0]
        return Hit(self.body(int(hit["body"])), float(hit["t"]), hit["point"], hit["normal"]) if hit["body"] >= 0 else None

    def _query_all(self, kind: int, shape: Shape | None, packed_query: Vector, ignore: Body | None) -> NDArray[Any]:
        out = ctypes.c_void_p()
        try:
            count = b.lib.bodies_query_all(self._set.pointer, kind, shape._pointer if shape is not None else None,
                                           packed_query.ctypes.data, self._id_of(ignore), ctypes.byref(out))
            if count < 0:
                raise b.last_error()
            return np.frombuffer(ctypes.string_at(out.value or 0, count * HIT.itemsize), dtype=HIT) if count else np.empty(0, HIT)
        finally:
            b.lib.binding_free(out)

    def cast_ray(self, origin: Any, direction: Any, t_max: float = np.inf, *, ignore: Body | None = None) -> Hit | None:
        """The first body on the way from `origin` to origin + t_max direction; `t` counts in directions."""
        return self._query_first(_RAY, None, _ray(origin, direction, t_max), ignore)

    def cast_ray_all(self, origin: Any, direction: Any, t_max: float = np.inf, *, ignore: Body | None = None) -> NDArray[Any]:
        """Every body on the way."""
        return self._query_all(_RAY, None, _ray(origin, direction, t_max), ignore)

    def cast_rays(self, origins: Any, directions: Any, t_max: Any = np.inf, *,
                  ignore: Body | None = None) -> NDArray[Any]:
        """The first hit of each of many rays, (n, 3) both or one of them (3,); body -1 where there is none."""
        try:
            start_points, direction_rows, limits = np.broadcast_arrays(
                np.asarray(origins, dtype=np.float64), np.asarray(directions, dtype=np.float64),
                np.asarray(t_max, dtype=np.float64)[..., None])
        except TypeError:
            raise TypeError("cast_rays: numbers, in rows of three") from None
        if start_points.ndim != 2 or start_points.shape[1] != 3:
            raise b.Error(f"cast_rays: rows of three numbers, got a shape of {start_points.shape}")
        rays = np.concatenate([start_points, direction_rows, limits[:, :1]], axis=1)
        out = np.empty(len(rays), dtype=HIT)
        if b.lib.bodies_cast_rays(self._set.pointer, rays.ctypes.data, len(rays), self._id_of(ignore), out.ctypes.data) != 0:
            raise b.last_error()
        return out

    def cast_shape(self, shape: Shape, motion: Any, position: Any = (0.0, 0.0, 0.0), attitude: Any = _UPRIGHT, *,
                   ignore: Body | None = None) -> Hit | None:
        """The first body that a shape touches which moves by `motion` [m] without turning."""
        return self._query_first(_SHAPE, _check_shape(shape), _pose_and_motion(position, attitude, motion), ignore)

    def cast_shape_all(self, shape: Shape, motion: Any, position: Any = (0.0, 0.0, 0.0), attitude: Any = _UPRIGHT, *,
                       ignore: Body | None = None) -> NDArray[Any]:
        """Every body that it touches."""
        return self._query_all(_SHAPE, _check_shape(shape), _pose_and_motion(position, attitude, motion), ignore)

    def overlap(self, shape: Shape, position: Any = (0.0, 0.0, 0.0), attitude: Any = _UPRIGHT, *,
                ignore: Body | None = None) -> NDArray[Any]:
        """The bodies that a shape overlaps or touches, the deepest first. Moving it by -t normal ends the overlap with one."""
        return self._query_all(_OVERLAP, _check_shape(shape), _pose_and_motion(position, attitude, (0.0, 0.0, 0.0)), ignore)

    def closest(self, to: Any, reach: float = np.inf, *, attitude: Any = _UPRIGHT, shape: Shape | None = None,
                ignore: Body | None = None) -> Hit | None:
        """The body nearest to a point, or to a shape whose frame stands there, up to `reach` [m] away."""
        return self._query_first(*_distance_query(to, reach, attitude, shape), ignore)

    def closest_all(self, to: Any, reach: float = np.inf, *, attitude: Any = _UPRIGHT, shape: Shape | None = None,
                    ignore: Body | None = None) -> NDArray[Any]:
        """Every body up to `reach` [m] away."""
        return self._query_all(*_distance_query(to, reach, attitude, shape), ignore)


def _check_reach(label: str, value: Any) -> list[float]:
    return [np.inf] if isinstance(value, float) and value == np.inf else [b.check_number(label, value)]


def _ray(origin: Any, direction: Any, t_max: Any) -> Vector:
    return np.concatenate([b.check_array("origin", origin, 3), b.check_array("direction", direction, 3), _check_reach("t_max", t_max)])


def _check_shape(shape: Any) -> Shape:
    if not isinstance(shape, Shape):
        raise TypeError(f"a shape as volery.sphere() makes, got {type(shape).__name__}")
    return shape


def _pose_and_motion(position: Any, attitude: Any, motion: Any) -> Vector:
    quaternion = b.check_array("attitude", attitude, 4)
    length = float(np.linalg.norm(quaternion))
    if not 0.0 < length < np.inf:
        raise b.Error("attitude must be longer than zero")
    return np.concatenate([b.check_array("position", position, 3), quaternion / length, b.check_array("motion", motion, 3)])


def _distance_query(to: Any, reach: Any, attitude: Any, shape: Shape | None) -> tuple[int, Shape | None, Vector]:
    if shape is None:
        return _POINT, None, np.concatenate([b.check_array("to", to, 3), _check_reach("reach", reach)])
    pose = _pose_and_motion(to, attitude, (0.0, 0.0, 0.0))[:7]
    return _NEAR_SHAPE, _check_shape(shape), np.concatenate([pose, _check_reach("reach", reach)])
