"""fuzz_arguments.py CALLS [SEED] - every function of the package with arguments at random: of the wrong type, shape, size or range, or right ones. Oracle: an
answer or an exception of those that Python's users expect, never a crash; and after all of it a flight has the hash that it had before. Run by
tests/python_test.sh; with a sanitizer's library (VOLERY_LIBRARY) it is a fuzz target."""

from __future__ import annotations

import os
import random
import sys
import tempfile
from typing import Any, Callable

import numpy as np
import volery

HOVER = "volery: 1\nduration: 1 s\ndrones: [{name: a, vehicle: crazyflie2x}, {name: b, start: {position: [5, 0, 1]}}]\nbodies: [{name: box, mass: 1, inertia: [1, 1, 1]}]\n"
EXPECTED = (volery.Error, TypeError, ValueError, IndexError, KeyError, AttributeError, OverflowError, OSError)
draw = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)  # what is recorded under a name at random stays here


def number() -> Any:
    return draw.choice((0, 1, 2, 3, -1, 0.0, 0.5, -0.0, 1e308, -1e308, 5e-324, float("nan"), float("inf"), 2**31, 2**32, 2**63, 2**64 - 1, 2**64, -2**63, 10**30,
                        True, np.int64(2), np.float32(0.5), np.uint8(255)))


def steps() -> Any:  # a large one would be flown
    return draw.choice((0, 1, 2, 7, -1, 2**64, 10**30, 1.5, "1", None, True, np.int32(3), np.float64(1.0), [1], float("nan")))


def text() -> Any:
    return draw.choice(("a", "b", "box", "", "rates", "motors", "velocity", "rk4", "euler", "\0", "a\0b", "é" * 100, "x" * 10000, "body.position", "../..", "/dev/null",
                        "/nowhere/x.mcap", b"a", HOVER, HOVER[:60], folder.name + "/log.mcap", "\ud800"))


def array() -> Any:
    shape = draw.choice(((), (0,), (1,), (3,), (4,), (19,), (2, 4), (3, 2, 4), (3,) * 5))
    kind = draw.choice((np.float64, np.float32, np.int64, np.uint8, np.bool_, np.complex128, object, "U3"))
    made = np.zeros(shape, dtype=kind)
    if made.dtype.kind == "f" and made.size > 0:
        made.flat[draw.randrange(made.size)] = float(number())
    return draw.choice((made, made[..., ::-1] if made.ndim > 0 else made, made.T, made.tolist(), np.asfortranarray(made)))


def anything() -> Any:
    return draw.choice((number, text, array, lambda: None, lambda: {}, lambda: [number(), number(), number(), number()], lambda: object(), lambda: {text(): number()},
                        lambda: bytes(draw.randrange(2000)), lambda: {"drones.a.vehicle": text()}))()


def words(*names: str) -> dict[str, Any]:
    return {name: anything() for name in names if draw.random() < 0.3}


def calls(world: volery.World, batch: volery.Batch, scenario: volery.Scenario) -> list[Callable[[], Any]]:
    kept = world.save()
    spoilt = bytearray(kept)
    for _ in range(draw.randrange(4)):
        spoilt[draw.randrange(len(spoilt))] = draw.randrange(256)
    return [
        lambda: world.step(steps()), lambda: world.act(anything(), anything(), **words("drop", "status", "estimate", "other")), lambda: world.state(anything()),
        lambda: world.body(anything()), lambda: world.reset(anything()), lambda: setattr(world, "integrator", anything()),
        lambda: world.restore(draw.choice((bytes(spoilt), kept, anything()))), lambda: world.hash, lambda: world.failure,
        lambda: world.record(anything()), lambda: volery.World(anything(), **words("seed", "rung", "settings")), lambda: volery.World(HOVER, **words("seed", "rung", "settings")),
        lambda: volery.Scenario(anything(), anything()), lambda: volery.Scenario(HOVER, {text() if draw.random() < 0.5 else "drones.a.start.position": anything()}),
        lambda: setattr(scenario, "seed", anything()), lambda: scenario.rotors(anything()), lambda: scenario.vehicle(anything()),
        lambda: scenario.limit(**words("tilt", "distance", "low", "high")), lambda: str(scenario), lambda: batch.step(steps()),
        lambda: batch.reset(anything(), anything()), lambda: batch.cells(anything(), anything()), lambda: batch.hash(anything()), lambda: batch.save(anything()),
        lambda: batch.restore(anything(), draw.choice((bytes(spoilt), anything()))), lambda: batch.world_scenario(anything()), lambda: setattr(batch, "actions", anything()),
        lambda: volery.Batch(HOVER, draw.choice((0, 1, 3, -1, 1.5, None, "2", 2**64)), **words("seed", "rung", "randomisation", "observe", "chain")),
        lambda: volery.replay(anything(), **words("live", "folder")),
    ]


def shape() -> Any:
    return draw.choice((None, anything(), volery.sphere(0.2), volery.box((0.2, 0.3, 0.4)), volery.capsule(0.1, 0.3), volery.cylinder(0.1, 0.3), volery.plane(),
                        volery.hull([[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]]), volery.height_field(np.zeros((3, 4)), 1.0)))


def vector() -> Any:
    return draw.choice(((0, 0, 0), (1, 0, 0), (0, 0, 1e-300), (1e9, -1e9, 1e300), (0.1, -0.2, 0.3), anything()))


def new_bodies() -> tuple[volery.Bodies, list[Any]]:
    bodies = volery.Bodies(dt=1 / 60, sleep=0.2, threads=draw.choice((1, 2)))
    bodies.add(volery.plane(), kind="static")
    held: list[Any] = [bodies.add(volery.box(0.5), position=(0, 0.6 * k, 0.25)) for k in range(4)]
    held += [bodies.join("ball", held[0], held[1], point=(0, 0.3, 0.25)),
             bodies.join("hinge", None, held[2], point=(0, 1.2, 0.25), axis=(0, 0, 1), limits=(-1, 1), motor=(1, 1, 1))]
    return bodies, held


def body_calls(bodies: volery.Bodies, held: list[Any]) -> list[Callable[[], Any]]:
    thing, kept = draw.choice(held), bodies.save()
    spoilt = bytearray(kept)
    for _ in range(draw.randrange(4)):
        spoilt[draw.randrange(len(spoilt))] = draw.randrange(256)
    if draw.random() < 0.5:
        held[draw.randrange(len(held))] = draw.choice(list(bodies) or held)
    place = lambda: words("position", "attitude", "velocity", "rate")  # noqa: E731
    joint = lambda: {**words("axis", "axis_b", "length", "stiffness", "limits", "motor", "far_open", "break_force", "servo", "cone", "wheels", "ratio", "point_b"), **({"point": vector()} if draw.random() < 0.7 else {})}  # noqa: E731
    kind = lambda: draw.choice((*volery.joints.KINDS, text()))  # noqa: E731
    return [
        lambda: bodies.step(steps()), lambda: bodies.step(draw.randrange(5)), lambda: bodies.restore(draw.choice((kept, bytes(spoilt), kept[:-8], anything()))),
        lambda: held.append(bodies.add(shape(), **place(), **words("mass", "density", "inertia", "kind", "friction", "restitution", "rolling", "name", "may_sleep"))),
        lambda: held.append(bodies.add(shape(), position=vector(), velocity=vector(), mass=number())), lambda: bodies.remove(draw.choice((thing, anything()))),
        lambda: held.append(bodies.join(kind(), draw.choice((None, thing, anything())), draw.choice(held), **joint())),
        lambda: held.append(bodies.join(draw.choice(("hinge", "slider", "universal", "cylindrical")), None, thing, point=vector(), axis=vector())),
        lambda: thing.set_state(**place()), lambda: thing.state(), lambda: setattr(thing, draw.choice(("position", "velocity", "attitude", "rate")), vector()),
        lambda: thing.apply_force(vector(), anything(), **words("frame", "point_frame")), lambda: thing.apply_force(vector()), lambda: thing.apply_torque(vector()),
        lambda: thing.apply_impulse(vector(), draw.choice((None, vector()))), lambda: thing.apply_angular_impulse(vector(), **words("frame")), lambda: thing.wake(),
        lambda: thing.set_motor(number(), number(), number()), lambda: (thing.mass, thing.inertia, thing.acceleration, thing.asleep, repr(thing), thing.kinetic_energy),
        lambda: setattr(bodies, draw.choice(("positions", "velocities", "attitudes", "rates", "integrator")), anything()), lambda: bodies.body(anything()),
        lambda: (bodies.contacts(), bodies.energy, bodies.momentum, bodies.asleep, bodies.hash, bodies.impacts, repr(bodies), list(bodies)),
        lambda: bodies.add_potential(draw.choice(("uniform", "spring", "central", "magnetic", text())), draw.choice((None, thing)), **words("gravity", "mu", "stiffness", "anchor", "dipole")),
        lambda: volery.Bodies(**words("dt", "gravity", "contacts", "threads", "sleep", "integrator", "solver", "substep", "slop", "joint_step", "sleep_speed")),
        lambda: draw.choice((volery.sphere, volery.box, volery.hull, volery.plane))(anything()), lambda: draw.choice((volery.capsule, volery.cylinder, volery.height_field))(anything(), number()),
        lambda: bodies.cast_ray(vector(), vector(), draw.choice((1.0, float("inf"), number())), ignore=draw.choice((None, thing))), lambda: bodies.cast_ray_all(vector(), vector()),
        lambda: bodies.cast_rays(array(), vector(), number()), lambda: bodies.cast_rays(np.zeros((20, 3)), vector()), lambda: bodies.cast_shape(shape(), vector(), vector(), anything()),
        lambda: bodies.cast_shape_all(shape(), vector(), vector()), lambda: bodies.overlap(shape(), vector()), lambda: bodies.closest(vector(), **words("reach", "attitude", "shape")),
        lambda: bodies.closest_all(vector(), draw.choice((2.0, float("inf"), number())), shape=shape()), lambda: thing.set_kind(draw.choice(("static", "kinematic", "dynamic", text()))),
        lambda: thing.set_mass(number(), draw.choice((None, vector()))), lambda: thing.set_material(**words("friction", "restitution", "rolling", "spinning")), lambda: thing.set_shape(shape()),
        lambda: thing.set_limits(draw.choice((None, (-1, 1), anything()))), lambda: thing.set_spring(number(), number(), number()),
        lambda: bodies.render(draw.choice((8, anything())), draw.choice((8, anything())), **words("eye", "at", "colours")),
    ]


def flight() -> int:
    world = volery.World(HOVER)
    world.step(50)
    return world.hash


def main() -> int:
    before, count, answered, found = flight(), int(sys.argv[1]), 0, 0
    world, batch, scenario = volery.World(HOVER, rung="rates"), volery.Batch(HOVER, 3, rung="rates", threads=2), volery.Scenario(HOVER)
    bodies, held = new_bodies()
    for number_of in range(count):
        if number_of % 500 == 499:
            world, batch, scenario = volery.World(HOVER, rung="rates"), volery.Batch(HOVER, 3, rung="rates", threads=2), volery.Scenario(HOVER)
        if number_of % 100 == 99:
            bodies, held = new_bodies()
        try:
            draw.choice(calls(world, batch, scenario) if draw.random() < 0.5 else body_calls(bodies, held))()
            answered += 1
        except EXPECTED:
            pass
        except Exception as e:  # none that a user expects
            found += 1
            print(f"call {number_of}: {type(e).__name__}: {e}")
    if flight() != before:
        found += 1
        print("a flight has another hash than before")
    print(f"arguments: {count} calls, {answered} answered, {found} findings")
    return found != 0


sys.exit(main())
