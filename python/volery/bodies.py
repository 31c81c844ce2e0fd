"""Rigid bodies without drones: shapes, joints and contacts, with the bits that the same calls give in C."""

from __future__ import annotations

import ctypes
import enum
import io
import math
import threading
import warnings
import zlib
from typing import Any, Iterator, Mapping, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _binding as b, joints
from .joints import JointState, Motor
from .queries import Queries
from .shapes import Shape
from .world import BodyState

Vector = NDArray[np.float64]

BODY_KINDS = {"static": 0, "kinematic": 1, "dynamic": 2}
FRAMES = {"world": 0, "body": 1}
SOLVERS = {"soft": 0, "impulse": 1}
POTENTIALS: dict[str, tuple[int, dict[str, int]]] = {  # what each is given, and of how many numbers
    "uniform": (1, {"gravity": 3}),
    "central": (2, {"mu": 1, "centre": 3}),
    "spring": (3, {"stiffness": 1, "length": 1, "anchor": 3, "point": 3}),
    "magnetic": (4, {"dipole": 3, "field": 3}),
}
_PARTS = {"position": (1, 3), "velocity": (2, 3), "attitude": (4, 4), "rate": (8, 3)}  # bit and length of each in a state
_DEFAULTS = ("dt", "gravity", "joint_step", "closing_speed", "open_limit", "substep", "slop", "push_speed", "correction",
             "restitution_speed", "sleep", "sleep_speed", "baumgarte")


class BodiesEvent(enum.IntFlag):
    """What `Bodies.step` returns: `volery.BodiesEvent(bodies.step())`."""

    NOT_FINITE = 1
    REDUNDANT = 2  # joints have redundant rows, which were left out: a loop that holds itself
    CONFLICT = 4
    NO_MEMORY = 8
    TIME_DROPPED = 32
    CRUSHED = 64
    JOINT_BROKEN = 128  # joints broke: see `JointState.broken`


_ENDING_EVENTS = int(BodiesEvent.NOT_FINITE | BodiesEvent.NO_MEMORY)
_WARNINGS = {
    BodiesEvent.CONFLICT: "joints contradict each other: an error stayed after projection",
    BodiesEvent.TIME_DROPPED: "too many impacts in one step, or too many bodies in them: some bodies stood still for the rest of it",
    BodiesEvent.CRUSHED: "a kinematic body presses another one against an immovable one",
}


CONTACT = np.dtype([
    ("a", np.uint32), ("b", np.uint32),  # slots: rows of the arrays, a below b
    ("phase", np.int32),  # a Phase
    ("points", np.int32),  # that carried impulse
    ("normal", np.float64, 3),  # unit, from a to b
    ("point", np.float64, 3),  # [m] world: where the impulses act, weighted by them
    ("impulse", np.float64, 3),  # [N s] on b, over the step
    ("speed", np.float64),  # [m/s] at which the deepest point closed before the step
])


class Energy(NamedTuple):
    """[J] of all dynamic bodies."""

    kinetic: float
    potential: float  # of gravity, other potentials and springs of joints
    closing: float  # that joints which were added open have put in so far


class Impacts(NamedTuple):
    """Statistics of continuous collision since the set was made; no state."""

    impacts: int  # times that bodies were stopped at an impact, to continue from there
    dropped: int  # steps in which some stood still in the end
    dropped_time: float  # [s]
    scaled: int  # sub-steps in which contacts would have added energy: their impulses were scaled
    limited: int  # times that bodies on joints had more energy after a step: velocities were scaled


class _SetMemory:
    """The memory of a set, and the shapes that its bodies refer to. Arrays and handles keep it."""

    def __init__(self, pointer: int) -> None:
        self.pointer = pointer
        self.shapes: dict[int, Shape] = {}

    def __del__(self) -> None:
        b.lib.bodies_destroy(self.pointer)


class _Handle:
    """Something of a set, by its id. Two of the same thing are equal; one of something removed raises `volery.Error`."""

    __slots__ = ("bodies", "id")

    def __init__(self, bodies: Bodies, number: int) -> None:
        self.bodies = bodies
        self.id = number  # unique in its set: never used again

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, _Handle) and (
            other.bodies is self.bodies and other.id == self.id)

    def __hash__(self) -> int:
        return hash((type(self), id(self.bodies), self.id))

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} can be neither copied nor pickled")

    @property
    def _pointer(self) -> int:
        return self.bodies._set.pointer


class Body(_Handle):
    """One body: what `Bodies.add` returns. Positions are those of centres of mass; SI units."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Body {self.name or self.slot}>" if self.exists else f"<Body, removed from slot {self.slot}>"

    @property
    def slot(self) -> int:
        """Its row in the arrays of the set."""
        return (self.id & 0xFFFFFFFF) - 1

    @property
    def name(self) -> str | None:
        """What `add` was told."""
        return self.bodies._names_by_id.get(self.id)

    @property
    def exists(self) -> bool:
        """Until it is removed."""
        return bool(b.lib.bodies_has(self._pointer, self.id))

    def state(self) -> BodyState:
        """A copy of pose and velocities."""
        out = np.empty(13)
        if b.lib.body_read(self._pointer, self.id, out.ctypes.data) != 0:
            raise b.last_error()
        return BodyState(out[:3], out[3:6], out[6:10], out[10:])

    def set_state(self, *, position: Any = None, velocity: Any = None, attitude: Any = None, rate: Any = None) -> None:
        """Put it elsewhere; what is not given stays. Wakes it with its island. An attitude may have any length above 0."""
        values, parts, start = np.zeros(13), 0, 0
        for (name, (bit, size)), value in zip(_PARTS.items(), (position, velocity, attitude, rate)):
            if value is not None:
                values[start : start + size] = b.check_array(name, value, size)
                parts |= bit
            start += size
        if b.lib.body_set_state(self._pointer, self.id, values.ctypes.data, parts) != 0:
            raise b.last_error()

    @property
    def position(self) -> Vector:
        """[m] of the centre of mass, world; a copy. May be set."""
        return self.state().position

    @position.setter
    def position(self, value: Any) -> None:
        self.set_state(position=value)

    @property
    def velocity(self) -> Vector:
        """[m/s] world; a copy. May be set."""
        return self.state().velocity

    @velocity.setter
    def velocity(self, value: Any) -> None:
        self.set_state(velocity=value)

    @property
    def attitude(self) -> Vector:
        """w, x, y, z: body to world; a copy. May be set."""
        return self.state().attitude

    @attitude.setter
    def attitude(self, value: Any) -> None:
        self.set_state(attitude=value)

    @property
    def rate(self) -> Vector:
        """[rad/s] body axes; a copy. May be set."""
        return self.state().rate

    @rate.setter
    def rate(self, value: Any) -> None:
        self.set_state(rate=value)

    def _properties(self) -> Vector:
        out = np.empty(19)
        if b.lib.body_read_properties(self._pointer, self.id, out.ctypes.data) != 0:
            raise b.last_error()
        return out

    @property
    def mass(self) -> float:
        """[kg]; infinite unless it is dynamic."""
        return float(self._properties()[0]) or math.inf

    @property
    def inertia(self) -> Vector:
        """[kg m^2] (3, 3) about the centre of mass, body axes; zero unless it is dynamic."""
        return self._properties()[1:10].reshape(3, 3)

    @property
    def kinetic_energy(self) -> float:
        """[J] of motion and rotation; 0 unless it is dynamic."""
        return float(self._properties()[10:12].sum())

    @property
    def acceleration(self) -> Vector:
        """[m/s^2] world: velocity gained in the last step over its length."""
        return self._properties()[12:15]

    @property
    def angular_acceleration(self) -> Vector:
        """[rad/s^2] body axes, likewise."""
        return self._properties()[15:18]

    @property
    def asleep(self) -> bool:
        """At rest for so long that steps leave it out."""
        return bool(self._properties()[18])

    @property
    def shape(self) -> Shape | None:
        """Its surface, if it has one."""
        return self.bodies._set.shapes.get(self.id)

    def _apply(self, kind: int, name: str, vector: Any, frame: str, point: Any = None, point_frame: str = "world") -> None:
        vector_values = b.check_array(name, vector, 3)
        point_values = b.check_array("point", point, 3) if point is not None else None
        if b.lib.body_apply(self._pointer, self.id, kind, vector_values.ctypes.data, b.lookup("frame", frame, FRAMES),
                            point_values.ctypes.data if point_values is not None else None,
                            b.lookup("point_frame", point_frame, FRAMES)) != 0:
            raise b.last_error()

    def apply_force(self, force: Any, point: Any = None, *, frame: str = "world", point_frame: str = "world") -> None:
        """[N] over the next step alone, at the centre of mass or a point [m]. `frame`, `point_frame`: `world` or `body`; a
        body point counts from the centre of mass, and a force in body axes turns with it. Calls add up."""
        self._apply(0, "force", force, frame, point, point_frame)

    def apply_torque(self, torque: Any, *, frame: str = "world") -> None:
        """[N m] over the next step alone."""
        self._apply(1, "torque", torque, frame)

    def apply_impulse(self, impulse: Any, point: Any = None, *, frame: str = "world", point_frame: str = "world") -> None:
        """[N s]: velocities change at once. No effect unless it is dynamic."""
        self._apply(2, "impulse", impulse, frame, point, point_frame)

    def apply_angular_impulse(self, impulse: Any, *, frame: str = "world") -> None:
        """[N m s], likewise."""
        self._apply(3, "impulse", impulse, frame)

    def clear_forces(self) -> None:
        """Forget the forces and torques applied for the next step."""
        if b.lib.body_clear_forces(self._pointer, self.id) != 0:
            raise b.last_error()

    def set_kind(self, kind: str) -> None:
        """"static", "kinematic" or "dynamic". One that is made dynamic has the mass that it was added with, or given since; one
        that is made static stops."""
        if b.lib.body_set_kind(self._pointer, self.id, b.lookup("kind", kind, BODY_KINDS)) != 0:
            raise b.last_error()

    def set_mass(self, mass: float, inertia: Any = None) -> None:
        """[kg], and [kg m^2] as in `Bodies.add`; None: of the shape. Velocities stay."""
        tensor = _inertia_numbers(inertia)
        if b.lib.body_set_mass(self._pointer, self.id, b.check_number("mass", mass),
                               tensor.ctypes.data if inertia is not None else None) != 0:
            raise b.last_error()

    def set_material(self, friction: float = 0.5, restitution: float = 0.0, rolling: float = 0.0, spinning: float = 0.0) -> None:
        """Another surface: all four numbers, as in `Bodies.add`."""
        numbers = np.array([b.check_number("friction", friction), b.check_number("restitution", restitution),
                            b.check_number("rolling", rolling), b.check_number("spinning", spinning)])
        if b.lib.body_set_material(self._pointer, self.id, numbers.ctypes.data) != 0:
            raise b.last_error()

    def set_shape(self, shape: Shape | None) -> None:
        """The centre of mass stays where it is, the mass what it is; an inertia that was not given is that of the new shape."""
        if shape is not None and not isinstance(shape, Shape):
            raise TypeError(f"set_shape: a shape as volery.sphere() makes, got {type(shape).__name__}")
        with self.bodies._lock:
            if b.lib.body_set_shape(self._pointer, self.id, shape._pointer if shape is not None else None) != 0:
                raise b.last_error()
            self.bodies._set.shapes.pop(self.id, None)
            if shape is not None:
                self.bodies._set.shapes[self.id] = shape

    def stop(self) -> None:
        """No velocity, no force: it stays where it is."""
        if b.lib.body_stop(self._pointer, self.id) != 0:
            raise b.last_error()

    def wake(self) -> None:
        """With its island. One that is awake restarts its time to sleep."""
        if b.lib.body_wake(self._pointer, self.id) != 0:
            raise b.last_error()


class Joint(_Handle):
    """One joint: what `Bodies.join` returns."""

    __slots__ = ("kind",)

    def __init__(self, bodies: Bodies, number: int, kind: str) -> None:
        super().__init__(bodies, number)
        self.kind = kind

    def __repr__(self) -> str:
        return f"<Joint of kind {self.kind}>"

    def state(self) -> JointState:
        """What it reads now."""
        out = np.empty(joints.STATE_SIZE)
        if b.lib.joint_read(self._pointer, self.id, out.ctypes.data) != 0:
            raise b.last_error()
        return JointState.of(out)

    def set_motor(self, speed: float, gain: float, torque: float) -> None:
        """A torque of gain (speed - rate), at most `torque`; a force where it slides. A torque of 0 is no motor. State."""
        self._check_motor()
        if b.lib.joint_set_motor(self._pointer, self.id, b.check_number("speed", speed), b.check_number("gain", gain),
                                 b.check_number("torque", torque)) != 0:
            raise b.last_error()

    def set_limits(self, limits: Any) -> None:
        """(low, high) [rad] or [m], or None: free. Where it is beyond them it closes as one that is added open."""
        low, high = b.check_array("limits (low, high)", limits, 2) if limits is not None else (0.0, 0.0)
        if b.lib.joint_set_limits(self._pointer, self.id, int(limits is not None), low, high) != 0:
            raise b.last_error()

    def set_spring(self, stiffness: float, damping: float, rest: float) -> None:
        """Of one that turns or slides, along its angle or way; of a spring, whose length at rest it is."""
        if b.lib.joint_set_spring(self._pointer, self.id, b.check_number("stiffness", stiffness), b.check_number("damping", damping),
                                  b.check_number("rest", rest)) != 0:
            raise b.last_error()

    def set_cone(self, cone: float) -> None:
        """[rad] of a ball that has one, 0: none. An axis out of it comes in as one that is added so."""
        if b.lib.joint_set_cone(self._pointer, self.id, b.check_number("cone", cone)) != 0:
            raise b.last_error()

    def set_target(self, target: float) -> None:
        """[rad] or [m] where its servo is to be, from the pose in which it was joined. State."""
        if b.lib.joint_set_target(self._pointer, self.id, b.check_number("target", target)) != 0:
            raise b.last_error()

    def set_break(self, force: float, torque: float) -> None:
        """[N], [N m] at which it breaks; 0: never. One that is broken stays so."""
        if b.lib.joint_set_break(self._pointer, self.id, b.check_number("force", force), b.check_number("torque", torque)) != 0:
            raise b.last_error()

    def _check_motor(self) -> None:
        if not joints.has(self.kind, joints.TURNS | joints.SLIDES):
            raise b.Error(f"a {self.kind} joint has no motor")


class Bodies(Queries, b.NotCopyable):
    """A set of rigid bodies, empty at first.

    dt, gravity  [s] of one step, [m/s^2]
    contacts     bodies with shapes collide; `solver`: "soft" or "impulse"
    threads      that share a step where it is long enough; 0: one per core. The bits are the same for any number
    sleep        [s] bodies that touch or are jointed and have been slower than `sleep_speed` for so long sleep; 0: never
    integrator   "rk4", "euler", "semi-implicit" or "lie-midpoint"

    The rest is as in volery/bodies.h and contacts.h; None is its default.

    `positions`, `velocities`, `attitudes` and `rates` are views of the set's own memory, a row for each slot, and change with
    every step; they are read-only, and assigning to the attribute sets all bodies. Once a body or joint was added, ask for
    them again: an older view keeps the states of that moment. They and all handles keep the set's memory.

    Threads may share a set: each call has it for itself, and others wait.
    """

    def __init__(self, dt: float = 1 / 240, gravity: Any = (0.0, 0.0, -9.80665), *, contacts: bool = True, threads: int = 1,
                 sleep: float = 0.0, sleep_speed: float | None = None, integrator: str = "rk4", solver: str = "soft",
                 substep: float | None = None, slop: float | None = None, push_speed: float | None = None,
                 correction: float | None = None, restitution_speed: float | None = None, joint_step: float | None = None,
                 closing_speed: float | None = None, open_limit: float | None = None, baumgarte: bool = False) -> None:
        numbers = np.empty(15)
        b.lib.bodies_default_numbers(numbers.ctypes.data)
        options = {"dt": dt, "gravity": gravity, "joint_step": joint_step, "closing_speed": closing_speed,
                 "open_limit": open_limit, "substep": substep, "slop": slop, "push_speed": push_speed,
                 "correction": correction, "restitution_speed": restitution_speed, "sleep": sleep,
                 "sleep_speed": sleep_speed, "baumgarte": bool(baumgarte)}
        start = 0
        for name in _DEFAULTS:
            size = 3 if name == "gravity" else 1
            if options[name] is not None:
                numbers[start : start + size] = b.check_array(name, options[name], size)
            start += size
        self._set: _SetMemory = _SetMemory(0)
        self._set.pointer = b.check_created(b.lib.bodies_create(
            numbers.ctypes.data, str(integrator).encode("utf-8", "replace"), int(bool(contacts)),
            b.lookup("solver", solver, SOLVERS), b.check_integer("threads", threads, 0, 1024)))
        self.dt = float(numbers[0])
        self._lock = threading.Lock()  # while bodies and joints come and go
        self._states: Vector | None = None
        self._names_by_id: dict[int, str] = {}
        self._ids_by_name: dict[str, int] = {}

    def __len__(self) -> int:
        return int(np.count_nonzero(self.ids))

    def __iter__(self) -> Iterator[Body]:
        return (Body(self, int(number)) for number in self.ids if number)

    def __repr__(self) -> str:
        return f"<Bodies: {len(self)} at {self.time:.6g} s>"

    def _repr_png_(self) -> bytes | None:
        """What a notebook shows."""
        try:
            from PIL import Image
        except ImportError:
            return None
        out = io.BytesIO()
        Image.fromarray(self.render()).save(out, "PNG")
        return out.getvalue()

    # ---- what is in it

    def add(self, shape: Shape | None = None, *, mass: float | None = None, density: float | None = None,
            inertia: Any = None, position: Any = (0.0, 0.0, 0.0), attitude: Any = (1.0, 0.0, 0.0, 0.0),
            velocity: Any = (0.0, 0.0, 0.0), rate: Any = (0.0, 0.0, 0.0), kind: str = "dynamic", friction: float = 0.5,
            restitution: float = 0.0, rolling: float = 0.0, spinning: float = 0.0, may_sleep: bool = True,
            name: str | None = None) -> Body:
        """Add a body.

        shape      of `volery.sphere`, `box`, ...; None: without a surface, and then a dynamic body needs an inertia
        mass       [kg] of a dynamic body, or `density` [kg/m^3]; one kilogram if neither is given
        inertia    [kg m^2] 3 principal moments or (3, 3); None: of the shape, filled evenly
        position   [m] of the centre of mass: the shape's centroid, where it has a volume
        attitude   w, x, y, z: body to world, of any length above 0
        velocity, rate   [m/s] world, [rad/s] body axes
        kind       "dynamic"; "static": never moves; "kinematic": moves with its velocity whatever pushes it
        friction   Coulomb's coefficient; restitution 0 to 1; rolling, spinning [m]. Of two bodies: the geometric mean
        """
        if shape is not None and not isinstance(shape, Shape):
            raise TypeError(f"add: a shape as volery.sphere() makes, got {type(shape).__name__}")
        if mass is not None and density is not None:
            raise b.Error("add: either mass or density")
        if density is not None:
            if shape is None:
                raise b.Error("add: a density needs a shape")
            mass = b.check_number("density", density) * shape.volume
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name: a text, got {name!r}")
        numbers = np.concatenate([
            [b.check_number("mass", 1.0 if mass is None else mass)], _inertia_numbers(inertia),
            b.check_array("position", position, 3), b.check_array("velocity", velocity, 3),
            b.check_array("attitude", attitude, 4), b.check_array("rate", rate, 3),
            [b.check_number("friction", friction), b.check_number("restitution", restitution),
             b.check_number("rolling", rolling), b.check_number("spinning", spinning)]])
        out = ctypes.c_uint64()
        kind_number = b.lookup("kind", kind, BODY_KINDS)
        with self._lock:
            if name in self._ids_by_name:
                raise b.Error(f"add: there is a body {name} already")
            if b.lib.bodies_add(self._set.pointer, kind_number, shape._pointer if shape is not None else None, numbers.ctypes.data,
                                int(not may_sleep), ctypes.byref(out)) != 0:
                raise b.last_error()
            self._states = None
            if shape is not None:
                self._set.shapes[out.value] = shape
            if name is not None:
                self._names_by_id[out.value], self._ids_by_name[name] = name, out.value
        return Body(self, out.value)

    def join(self, kind: str, body_a: Body | None, body_b: Body | None, *, point: Any = None, point_b: Any = None,
             axis: Any = None, axis_b: Any = None, length: float | None = None, stiffness: float = 0.0, damping: float = 0.0,
             rest: float = 0.0, limits: Any = None, motor: Any = None, far_open: bool = False, break_force: float = 0.0,
             break_torque: float = 0.0, servo: Any = None, cone: float = 0.0, wheels: Any = None, ratio: float = 1.0) -> Joint:
        """Join two bodies, or one and the world (None), in their present poses. Points and axes are those of the world.

        kind       "distance", "ball", "hinge", "slider", "fixed", "universal", "cable", "spring", "cylindrical", "pulley", "gear"
        point      [m] its anchor in both; `point_b`: another one in b, so that it is open, and closes. Of a distance, cable or
                   spring `point` is that of a and `point_b` that of b; None: the centre of the body
        axis       of a hinge or of what slides; `axis_b`: another one in b
        length     [m] of a distance, cable or spring; None: between its anchors now
        stiffness, damping, rest   of a spring, or of what turns or slides, along its angle or way
        limits     (low, high) [rad] or [m], counted from the present pose
        motor      (speed, gain, torque): see `Joint.set_motor`
        servo      (target, stiffness, gain, torque) in place of a motor: a torque of stiffness (target - angle) - gain rate, at
                   most `torque`; a force where it slides. `Joint.set_target` changes the target
        cone       [rad] of a ball: its axes stay within this angle; it has an `axis` then, and `limits` are of its twist
        wheels     [m] two points of the world: where the cable of a pulley leaves its wheels to a and to b. Its `length` is the part to
                   a and `ratio` times that to b; None: as it is now
        ratio      of a gear: teeth of b over teeth of a, below 0 where both turn the same way. `point` and `axis` are those of a,
                   `point_b` and `axis_b` those of b; what carries both has a hinge with each
        far_open   it may be open by more than `open_limit`
        break_force, break_torque   [N], [N m] it breaks at the end of a step in which its mean force or torque was greater; 0: never
        """
        kind_number = b.lookup("joint", kind, joints.KINDS)
        has_coordinate, has_length, needs_axis = (
            joints.has(kind, flags) for flags in (joints.TURNS | joints.SLIDES, joints.HAS_LENGTH, joints.HAS_AXIS))
        if not has_coordinate and (motor is not None or servo is not None):
            raise b.Error(f"a {kind} joint has no motor")
        if not has_coordinate and not joints.has(kind, joints.HAS_SPRING) and (stiffness, damping, rest) != (0.0, 0.0, 0.0):
            raise b.Error(f"a {kind} joint has no spring")
        if motor is not None and servo is not None:
            raise b.Error("a joint has a motor or a servo")
        if length is not None and not has_length:
            raise b.Error(f"a {kind} joint has no length")
        cone_angle = b.check_number("cone", cone)
        if cone_angle != 0.0 and joints.has(kind, joints.HAS_CONE):
            needs_axis = True
        if needs_axis != (axis is not None):
            raise b.Error(f"a {kind} joint needs an axis" if needs_axis else f"a {kind} joint has no axis")
        if joints.has(kind, joints.HAS_WHEELS) != (wheels is not None):
            raise b.Error(f"a {kind} joint has no wheels" if wheels is not None else f"a {kind} joint needs two wheels")
        ids = [self._id_of(body) for body in (body_a, body_b)]
        anchor_a = self._anchor("point", point, body_a if has_length else body_a or body_b, kind)
        anchor_b = self._anchor("point_b", point_b, body_b, kind) if has_length or point_b is not None else anchor_a
        axis_vector_a = _axis("axis", axis if axis is not None else (0.0, 0.0, 1.0))
        axis_vector_b = _axis("axis_b", axis_b) if axis_b is not None else axis_vector_a
        low, high = b.check_array("limits (low, high)", limits, 2) if limits is not None else (0.0, 0.0)
        target, servo_stiffness, gain, servo_torque = (
            b.check_array("servo (target, stiffness, gain, torque)", servo, 4) if servo is not None else (0.0,) * 4)
        motor_numbers = Motor.checked(motor) if motor is not None else Motor(0.0, float(gain), float(servo_torque))
        wheel_points = np.zeros(6) if wheels is None else _two_points("wheels", wheels)
        cable_ratio = b.check_number("ratio", ratio)
        present_length = np.linalg.norm(anchor_b - anchor_a) if wheels is None else (
            np.linalg.norm(anchor_a - wheel_points[:3]) + cable_ratio * np.linalg.norm(anchor_b - wheel_points[3:]))
        distance = b.check_number("length", length) if length is not None else float(present_length)
        numbers = np.concatenate([anchor_a, anchor_b, axis_vector_a, axis_vector_b, [
            distance, b.check_number("stiffness", stiffness), b.check_number("damping", damping), b.check_number("rest", rest),
            low, high, *motor_numbers, b.check_number("break_force", break_force),
            b.check_number("break_torque", break_torque), servo_stiffness, target, cone_angle, *wheel_points, cable_ratio]])
        flags = int(limits is not None) + 2 * int(bool(far_open)) + 4 * int(axis_b is not None)
        out = ctypes.c_uint64()
        with self._lock:
            if b.lib.bodies_join(self._set.pointer, kind_number, *ids, numbers.ctypes.data, flags, ctypes.byref(out)) != 0:
                raise b.last_error()
            self._states = None
        return Joint(self, out.value, kind)

    def _id_of(self, body: Body | None) -> int:
        if body is None:
            return 0
        if not isinstance(body, Body):
            raise TypeError(f"a body as `add` returns it or None, got {type(body).__name__}")
        if body.bodies is not self:
            raise b.Error("this body is of another set")
        return body.id

    def _anchor(self, label: str, point: Any, body: Body | None, kind: str) -> Vector:
        if point is not None:
            return b.check_array(label, point, 3)
        if body is None or not (kind == "fixed" or joints.has(kind, joints.SLIDES | joints.HAS_LENGTH)):
            raise b.Error(f"a {kind} joint needs a {label}")
        return body.state().position

    def remove(self, handle: Body | Joint) -> None:
        """Take a body, with its joints, or a joint out. Its handles go stale; its slot may be used again."""
        if not isinstance(handle, (Body, Joint)):
            raise TypeError(f"remove: a Body or a Joint, got {type(handle).__name__}")
        if handle.bodies is not self:
            raise b.Error(f"this {type(handle).__name__.lower()} is of another set")
        remove_function = b.lib.bodies_remove if isinstance(handle, Body) else b.lib.bodies_remove_joint
        with self._lock:
            if remove_function(self._set.pointer, handle.id) != 0:
                raise b.last_error()
            if isinstance(handle, Body):
                self._set.shapes.pop(handle.id, None)
                self._ids_by_name.pop(self._names_by_id.pop(handle.id, ""), None)

    def body(self, key: int | str) -> Body:
        """By its slot or its name."""
        if isinstance(key, str):
            if key not in self._ids_by_name:
                raise IndexError(f"there is no body {key}; there are {', '.join(self._ids_by_name) or 'none with a name'}")
            return Body(self, self._ids_by_name[key])
        ids = self.ids
        slot = b.check_index("slot", key, len(ids))
        if not ids[slot]:
            raise IndexError(f"slot {slot} is empty")
        return Body(self, int(ids[slot]))

    def add_potential(self, kind: str, body: Body | None = None, **figures: Any) -> None:
        """A field of force with an energy, on one body or on every dynamic one; gravity is there already.

        uniform   gravity [m/s^2]
        central   mu [m^3/s^2], centre [m]
        spring    stiffness [N/m], length [m] at rest, anchor [m] world, point [m] body, from the centre of mass
        magnetic  dipole [A m^2] body, field [T] world
        """
        kind_number, sizes = b.lookup("potential", kind, POTENTIALS)
        for name in figures:
            if name not in sizes:
                raise b.Error(f"a {kind} potential has {', '.join(sizes)}, and no {name}")
        values = [b.check_array(name, figures.get(name, np.zeros(size)), size) for name, size in sizes.items()]
        numbers = np.concatenate([*values, np.zeros(8)])
        if b.lib.bodies_add_potential(self._set.pointer, kind_number, numbers.ctypes.data, self._id_of(body)) != 0:
            raise b.last_error()

    # ---- time

    def step(self, steps: int = 1) -> int:
        """Advance; other threads run meanwhile, and Ctrl-C is heard. Returns what was reported (`BodiesEvent`), 0 for nothing.

        Raises `volery.Error` when a body's motion became infinite; a RuntimeWarning says what else went wrong.
        """
        steps_left = b.check_integer("step", steps)
        flags = ctypes.c_uint32()
        while steps_left > 0 and not flags.value & _ENDING_EVENTS:
            steps_left -= b.lib.bodies_step(self._set.pointer, steps_left, ctypes.byref(flags))
        if flags.value:
            self._report(flags.value)
        return flags.value

    def _report(self, flags: int) -> None:
        if flags & BodiesEvent.NO_MEMORY:
            raise MemoryError("step: no memory for joints or contacts; restore a saved state")
        if flags & BodiesEvent.NOT_FINITE:
            raise b.Error(f"step: a body's motion became infinite; the set has ended at {self.time:.6g} s, until a saved state is "
                          "restored")
        for event, sentence in _WARNINGS.items():
            if flags & event:
                warnings.warn(f"step: {sentence}", RuntimeWarning, stacklevel=3)

    @property
    def tick(self) -> int:
        """Steps done."""
        return int(b.lib.bodies_tick(self._set.pointer))

    @property
    def time(self) -> float:
        """[s]"""
        return float(b.lib.bodies_time(self._set.pointer))

    @property
    def hash(self) -> int:
        """Of all state: equal hashes, equal bits, on every machine."""
        return int(b.lib.bodies_hash(self._set.pointer))

    @property
    def integrator(self) -> str:
        """How steps advance time. May be set between steps; it is part of the state."""
        return str(b.lib.bodies_integrator(self._set.pointer).decode())

    @integrator.setter
    def integrator(self, name: str) -> None:
        if b.lib.bodies_set_integrator(self._set.pointer, str(name).encode("utf-8", "replace")) != 0:
            raise b.last_error()

    def save(self) -> bytes:
        """The whole state, contacts and motors included. What the bodies are (mass, shape) is no state, but `restore` knows it."""
        size = b.lib.bodies_save(self._set.pointer, None, 0)
        while True:  # another thread may step meanwhile, and contacts come and go
            block = ctypes.create_string_buffer(size)
            needed = b.lib.bodies_save(self._set.pointer, block, size)
            if needed <= size:
                saved = block.raw[:needed]
                return saved + zlib.crc32(saved).to_bytes(4, "little")
            size = needed

    def restore(self, block: bytes) -> None:
        """Go back to a saved state; further steps give the same bits. A state of other bodies or joints is refused: it takes a set
        that was built by the same calls. So are bytes that were damaged."""
        saved, checksum = b.check_bytes("restore", block)[:-4], bytes(block[-4:])
        if zlib.crc32(saved).to_bytes(4, "little") != checksum:
            raise b.Error("restore: this is no snapshot of a set, or it is damaged")
        if b.lib.bodies_restore(self._set.pointer, saved, len(saved)) != 0:
            raise b.last_error()

    # ---- all of them

    @property
    def states(self) -> Vector:
        """(slots, 13), a view: position, velocity, attitude and rate of each body; zero in an empty slot."""
        view = self._states
        if view is not None:
            return view
        with self._lock:
            if self._states is None:
                address = ctypes.c_uint64()
                slots = b.lib.bodies_states(self._set.pointer, ctypes.byref(address))
                memory = memoryview(b.memory_at(address.value, slots * 13 * 8, self._set)).cast("B").toreadonly()
                self._states = np.frombuffer(memory).reshape(slots, 13) if slots else np.zeros((0, 13))
            return self._states

    def _set_parts(self, name: str, first: int, values: Any) -> None:
        bit, size = _PARTS[name]
        rows = np.zeros((len(self.states), 13))
        try:
            rows[:, first : first + size] = values
        except TypeError:
            raise TypeError(f"{name}: numbers, got {type(values).__name__}") from None
        if not np.isfinite(rows).all():
            raise b.Error(f"{name}: finite numbers in every row")
        if b.lib.bodies_set_states(self._set.pointer, rows.ctypes.data, bit, len(rows)) != 0:
            raise b.last_error()

    @property
    def positions(self) -> Vector:
        """(slots, 3) [m], a view. Assigning sets all bodies; those that are moved wake."""
        return self.states[:, 0:3]

    @positions.setter
    def positions(self, values: Any) -> None:
        self._set_parts("position", 0, values)

    @property
    def velocities(self) -> Vector:
        """(slots, 3) [m/s] world, a view. May be assigned."""
        return self.states[:, 3:6]

    @velocities.setter
    def velocities(self, values: Any) -> None:
        self._set_parts("velocity", 3, values)

    @property
    def attitudes(self) -> Vector:
        """(slots, 4): w, x, y, z, body to world, a view. May be assigned."""
        return self.states[:, 6:10]

    @attitudes.setter
    def attitudes(self, values: Any) -> None:
        self._set_parts("attitude", 6, values)

    @property
    def rates(self) -> Vector:
        """(slots, 3) [rad/s] body axes, a view. May be assigned."""
        return self.states[:, 10:13]

    @rates.setter
    def rates(self, values: Any) -> None:
        self._set_parts("rate", 10, values)

    @property
    def ids(self) -> NDArray[np.uint64]:
        """(slots,): the id of the body in each slot, 0 where it is empty. A copy."""
        out = np.empty(len(self.states), dtype=np.uint64)
        b.lib.bodies_ids(self._set.pointer, out.ctypes.data, len(out))
        return out

    @property
    def asleep(self) -> NDArray[np.bool_]:
        """(slots,): which bodies sleep. A copy."""
        out = np.empty(len(self.states), dtype=np.bool_)
        b.lib.bodies_sleeping(self._set.pointer, out.ctypes.data, len(out))
        return out

    def contacts(self) -> NDArray[Any]:
        """Contacts of the last step, ordered by the slots of their bodies: those with an impulse, and the ends of those with an
        impulse in the step before. A copy, with the fields of `volery.CONTACT`: a, b (slots), phase, points, normal, point,
        impulse, speed."""
        out = np.empty(0, dtype=CONTACT)
        while True:  # another thread may step meanwhile
            count = b.lib.bodies_contacts(self._set.pointer, out.ctypes.data, len(out))
            if count <= len(out):
                return out[:count]
            out = np.empty(count, dtype=CONTACT)

    def _read_totals(self) -> Vector:
        out = np.empty(9)
        b.lib.bodies_totals(self._set.pointer, out.ctypes.data)
        return out

    @property
    def energy(self) -> Energy:
        """Of all dynamic bodies, now."""
        return Energy(*(float(v) for v in self._read_totals()[:3]))

    @property
    def momentum(self) -> Vector:
        """[kg m/s] of all dynamic bodies."""
        return self._read_totals()[3:6]

    @property
    def angular_momentum(self) -> Vector:
        """[kg m^2/s] of all dynamic bodies about the world's origin."""
        return self._read_totals()[6:9]

    @property
    def impacts(self) -> Impacts:
        """Statistics since the set was made."""
        out = np.empty(5)
        b.lib.bodies_impacts(self._set.pointer, out.ctypes.data)
        return Impacts(int(out[0]), int(out[1]), float(out[2]), int(out[3]), int(out[4]))

    def render(self, width: int = 640, height: int = 480, *, eye: Any = None, at: Any = None,
               colours: Mapping[Body, tuple[int, int, int]] | None = None) -> NDArray[np.uint8]:
        """A picture, (height, width, 3), drawn with Pillow and without a display.

        eye, at   [m] where the camera is and what it looks at; None: so that all bodies but planes are seen
        colours   of some bodies: red, green, blue from 0 to 255
        """
        from .render import BodiesPicture

        size = b.check_integer("width", width, 1, 16384), b.check_integer("height", height, 1, 16384)
        return BodiesPicture(self, *size, eye, at).draw(colours or {})


def _inertia_numbers(inertia: Any) -> Vector:
    """Nine numbers, row by row, of three principal moments or a table; zero for None."""
    if inertia is None:
        return np.zeros(9)
    values = b.check_array("inertia", inertia, 3 if np.size(inertia) == 3 else 9)
    return np.diag(values).ravel() if values.size == 3 else values


def _two_points(label: str, value: Any) -> Vector:
    try:
        first, second = value
    except (TypeError, ValueError):
        raise b.Error(f"{label}: two points") from None
    return np.concatenate([b.check_array(label, first, 3), b.check_array(label, second, 3)])


def _axis(label: str, value: Any) -> Vector:
    vector = b.check_array(label, value, 3)
    largest = float(np.abs(vector).max())
    if largest == 0.0:
        raise b.Error(f"{label} must be longer than zero")
    return vector if 1e-100 < largest < 1e100 else vector / largest  # its square is finite, and above zero
