"""Volery: a deterministic drone-flight world, alone or by the thousand.

    world = volery.World("hover")  # or a path, or YAML text
    world.step(1000)
    print(world.state().position, hex(world.hash))

    batch = volery.Batch("scenarios/hover.yaml", 4096, rung="rates")
    batch.actions[...] = ...
    batch.step(10)

    bodies = volery.Bodies(dt=1 / 240)  # rigid bodies without drones
    ball = bodies.add(volery.sphere(0.1), mass=2, position=(0, 0, 1))
    bodies.step(240)

    volery.campaign.run("wind.yaml", concurrent.futures.ThreadPoolExecutor(8))  # many flights, docs/campaigns.md

With Gymnasium installed any scenario is an environment: `gymnasium.make("volery/Scenario-v0", scenario="my.yaml")`; Hover,
Waypoints, Track, Race and Swarm come along, and their `make_vec`.
"""

from . import campaign
from ._binding import Error, lib as _lib
from .batch import Batch, variables
from .bodies import CONTACT, Bodies, BodiesEvent, Body, Energy, Impacts, Joint
from .gpu import DeviceArray, Gpu
from .joints import JointState, Motor, Phase
from .queries import HIT, Hit
from .scenario import RUNGS, Scenario
from .shapes import Shape, box, capsule, cylinder, height_field, hull, plane, sphere
from .task import Task, observed, reward_terms
from .world import WORLD_CONTACT, BodyState, DroneState, Event, Recording, World, replay

__version__: str = _lib.binding_version().decode()
__all__ = ["Batch", "Bodies", "BodiesEvent", "Body", "BodyState", "CONTACT", "DeviceArray", "DroneState", "Energy", "Error",
           "Event", "Gpu", "HIT", "Hit", "Impacts", "Joint", "JointState", "Motor", "Phase", "RUNGS", "Recording", "Scenario",
           "Shape", "Task", "WORLD_CONTACT", "World", "box", "campaign", "capsule", "cylinder", "height_field", "hull",
           "observed", "plane", "replay", "reward_terms", "sphere", "variables"]

try:
    import gymnasium as _gymnasium
except ImportError:  # the environments need it, the rest does not
    pass
else:
    for _task in ("Scenario", "Hover", "Waypoints", "Track", "Race", "Swarm"):
        if f"volery/{_task}-v0" not in _gymnasium.registry:
            _gymnasium.register(
                id=f"volery/{_task}-v0",
                entry_point=f"volery.envs:{_task}Env",
                vector_entry_point=f"volery.envs:{_task}VectorEnv",
            )
